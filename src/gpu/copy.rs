//! Copy rate of a device, with which the memory throughput of its kernels is compared.

use crate::engine::clock::Instant;
use crate::error::Error;

use super::device::Device;

/// Size of each of the two buffers, where they fit \[bytes\]: more than the caches of a card hold.
const BYTES: u64 = 256 << 20;
/// Duration that the copies of a submission reach together \[s\], so that the submission itself costs next to nothing.
const LONG: f64 = 0.02;
/// Largest number of copies in one submission.
const COPIES: u32 = 1 << 12;

/// Returns the bytes per second that a device reads and writes when it copies a large buffer to another; the best of three.
///
/// # Errors
/// When there is no memory for the buffers, or the device is lost.
pub fn rate(device: &Device) -> Result<f64, Error> {
    let bytes = BYTES.min(device.largest_binding());
    let [from, to] = ["from", "to"].map(|label| {
        device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes,
            usage: wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    });
    device.check()?;
    // The first copy clears the buffers; it does not count.
    copy(device, &from, &to, 1)?;
    let mut copies = 1;
    while copies < COPIES && copy(device, &from, &to, copies)? < LONG {
        copies *= 2;
    }
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = best.min(copy(device, &from, &to, copies)?);
    }
    Ok(2.0 * bytes as f64 * f64::from(copies) / best)
}

/// Returns the duration of `copies` copies \[s\].
fn copy(device: &Device, from: &wgpu::Buffer, to: &wgpu::Buffer, copies: u32) -> Result<f64, Error> {
    let mut encoder = device.encoder();
    for _ in 0..copies {
        encoder.copy_buffer_to_buffer(from, 0, to, 0, from.size());
    }
    let start = Instant::now();
    device.submit(encoder);
    device.wait()?;
    Ok(start.elapsed().as_secs_f64())
}
