//! Launch of many worlds at once: the list of the worlds, and the sizes of their dispatches.

use std::sync::Arc;

use super::constants::{NONE, Planned};
use super::counted::CountedPass;
use super::device::Device;
use super::many_worlds::{LAUNCH_GROUP, PLACE_BYTES};
use super::pipelines::{Pipeline, launch_layout};

/// Distance of two entries in the buffer of places \[bytes\]: an alignment of dynamic offsets that every device accepts.
const PLACE_STRIDE: u32 = 256;
/// List of the launched worlds, and the dispatch sizes of the launch; see `shaders/launch.wgsl`.
pub(super) struct Launcher {
    /// Number of worlds in the list.
    count: u32,
    launched: wgpu::Buffer,
    launches: wgpu::Buffer,
    /// Bind group of the place of a dispatch.
    place_group: wgpu::BindGroup,
    /// Kernel that finds the sizes.
    sizing: Arc<Pipeline>,
    sizing_group: wgpu::BindGroup,
}

impl Launcher {
    /// Creates the launcher of up to 2^`bits` worlds, whose planned dispatch sizes are in `arguments`; `sizing` is the kernel of
    /// `shaders/launch.wgsl`.
    pub(super) fn new(
        device: &Device,
        bits: u32,
        arguments: &wgpu::Buffer,
        sizing: Arc<Pipeline>,
    ) -> Launcher {
        let create = |label, size, usage| {
            device.raw().create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        let words = 1 + (1u64 << bits) * (1 + u64::from(Planned::count()));
        let launched = create("launched", 4 * words, wgpu::BufferUsages::STORAGE);
        let sized = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT;
        let launches = create("launches", Planned::bytes(), sized);
        let places: Vec<u32> = (0..Planned::count()).chain([NONE]).collect();
        let mut bytes = vec![0u8; places.len() * PLACE_STRIDE as usize];
        for (place, room) in places.iter().zip(bytes.chunks_exact_mut(PLACE_STRIDE as usize)) {
            room[..PLACE_BYTES as usize].copy_from_slice(bytemuck::cast_slice(&[*place, bits]));
        }
        let uniform = create("places", bytes.len() as u64, wgpu::BufferUsages::UNIFORM);
        device.queue().write_buffer(&uniform, 0, &bytes);
        let place = |offset| {
            let size = wgpu::BufferSize::new(PLACE_BYTES);
            wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &uniform, offset, size })
        };
        let group = |layout: &wgpu::BindGroupLayout, entries: &[wgpu::BindingResource<'_>]| {
            let entries: Vec<_> = (0..)
                .zip(entries)
                .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
                .collect();
            device.raw().create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("launch"),
                layout,
                entries: &entries,
            })
        };
        let place_group = group(&launch_layout(device.raw()), &[place(0), launched.as_entire_binding()]);
        let sizing_group = group(
            &sizing.layout,
            &[
                place(0),
                arguments.as_entire_binding(),
                launches.as_entire_binding(),
                launched.as_entire_binding(),
            ],
        );
        Launcher { count: 0, launched, launches, place_group, sizing, sizing_group }
    }

    /// Chooses the worlds of the next launch by their slots.
    pub(super) fn choose(&mut self, device: &Device, slots: &[u32]) {
        self.count = slots.len() as u32;
        let words: Vec<u32> = [self.count].into_iter().chain(slots.iter().copied()).collect();
        device.queue().write_buffer(&self.launched, 0, bytemuck::cast_slice(&words));
    }

    /// Returns the number of worlds in the launch.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the buffer of the dispatch sizes, laid out like `arguments` of one world.
    pub(super) fn launches(&self) -> &wgpu::Buffer {
        &self.launches
    }

    /// Binds the place of a dispatch in `arguments`; `None`: its size is known to the host.
    pub(super) fn bind(&self, pass: &mut CountedPass<'_>, place: Option<u32>) {
        let entry = place.unwrap_or(Planned::count());
        pass.set_bind_group(LAUNCH_GROUP, &self.place_group, &[entry * PLACE_STRIDE]);
    }

    /// Finds the sizes of the launch, after the worlds have planned theirs.
    pub(super) fn find_sizes(&self, pass: &mut CountedPass<'_>) {
        pass.set_pipeline(&self.sizing.pipeline);
        pass.set_bind_group(0, &self.sizing_group, &[]);
        pass.dispatch_workgroups(Planned::count(), 1, 1);
    }
}
