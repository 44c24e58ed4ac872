//! First question to a device, before kernels are compiled for it: whether it does anything at all.

use pollster::block_on;

use crate::error::Error;

use super::device::Device;
use super::readback::read;

/// Numbers that a device copies, none of which is what untouched memory holds.
const NUMBERS: [u32; 4] = [0x6573_6b65, 0x8000_0001, 0x7fff_fffe, 0x0123_4567];

/// Has the device copy a few numbers and reads them. A device that ends every submission at once and does nothing would be found at the
/// first step otherwise, after seconds of compiling.
///
/// # Errors
/// [`Error::Idle`] when they come back as others, or [`Error::DeviceLost`].
pub fn check(device: &Device) -> Result<(), Error> {
    // A browser has tried its device, and a thread of it may not wait for an answer.
    if cfg!(target_arch = "wasm32") {
        return Ok(());
    }
    let buffer = device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some("probe"),
        size: size_of_val(&NUMBERS) as u64,
        usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    device.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(&NUMBERS));
    let back: Vec<u32> = block_on(read(device, &buffer))?;
    judge(&back).map_err(|seen| device.idle(seen))
}

/// Whether the numbers came back; else what was seen.
fn judge(back: &[u32]) -> Result<(), String> {
    match NUMBERS.iter().zip(back).filter(|(sent, back)| sent == back).count() {
        all if all == NUMBERS.len() => Ok(()),
        some => Err(format!("of {} numbers that it was to copy, {some} came back", NUMBERS.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that does nothing leaves zeros, or what was there before.
    #[test]
    fn a_device_that_copies_nothing_is_told_from_one_that_works() {
        assert_eq!(judge(&NUMBERS), Ok(()));
        for back in [&[0; 4][..], &[u32::MAX; 4], &[], &[NUMBERS[0], 0, NUMBERS[2], NUMBERS[3]]] {
            let seen = judge(back).expect_err("a device that does not work");
            assert!(seen.starts_with("of 4 numbers that it was to copy, "), "{seen}");
        }
    }
}
