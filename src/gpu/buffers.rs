//! Buffers on the device, by name, and their sizes.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Error;

use super::capacity::SMALLEST;
use super::device::Device;
use super::launcher::Launcher;
use super::pipelines::OfMany;
use super::{Capacity, room_of};

/// All buffers of the worlds that are launched together. Each buffer holds a part of the same size for every world.
pub struct Buffers {
    capacity: Capacity,
    /// Power of two of the number of worlds for which there is room.
    bits: u32,
    buffers: BTreeMap<&'static str, wgpu::Buffer>,
    /// Numbers of bytes of which the parts are multiples, see [`OfMany`]; empty for one world.
    units: BTreeMap<String, u64>,
    /// Launcher of many worlds; `None` for one.
    launcher: Option<Launcher>,
}

/// Part of a buffer that belongs to a world.
#[derive(Clone)]
pub(super) struct WorldPart {
    pub(super) buffer: wgpu::Buffer,
    /// First byte.
    pub(super) start: u64,
    /// Number of bytes.
    pub(super) bytes: u64,
}

impl Buffers {
    /// Creates the buffers of 2^`bits` worlds, each with this capacity.
    pub(super) fn new(
        device: &Device,
        capacity: &Capacity,
        bits: u32,
        of_many: Option<&OfMany>,
    ) -> Result<Buffers, Error> {
        let units = of_many.map(|of| of.units.clone()).unwrap_or_default();
        let mut buffers =
            Buffers { capacity: *capacity, bits, buffers: BTreeMap::new(), units, launcher: None };
        buffers.grow(device, capacity)?;
        buffers.launcher =
            of_many.map(|of| Launcher::new(device, bits, buffers.get("arguments"), Arc::clone(&of.sizing)));
        Ok(buffers)
    }

    /// Resizes the parts of the worlds; their old contents stay at their beginnings.
    pub(super) fn grow(&mut self, device: &Device, capacity: &Capacity) -> Result<(), Error> {
        capacity.check(device.largest_binding() >> self.bits)?;
        let mut encoder = device.encoder();
        for (name, bytes) in capacity.sizes() {
            let bytes = bytes.max(SMALLEST).next_multiple_of(self.units.get(name).copied().unwrap_or(1));
            let old = self.buffers.get(name);
            if old.is_some_and(|buffer| buffer.size() >> self.bits == bytes) {
                continue;
            }
            let buffer = create(device, name, bytes << self.bits);
            if let Some(old) = old {
                let before = old.size() >> self.bits;
                for slot in 0..1 << self.bits {
                    encoder.copy_buffer_to_buffer(
                        old,
                        slot * before,
                        &buffer,
                        slot * bytes,
                        before.min(bytes),
                    );
                }
            }
            self.buffers.insert(name, buffer);
        }
        device.submit(encoder);
        self.capacity = *capacity;
        let needed = self.bytes() << self.bits;
        device.check().map_err(|error| error.on_growing_to(needed, u64::from(capacity.grains) << self.bits))
    }

    /// Sets the part of a world to zero in every buffer.
    pub(super) fn clear(&self, device: &Device, slot: u32) {
        let mut encoder = device.encoder();
        for name in self.names() {
            let WorldPart { buffer, start, bytes } = self.part(name, slot);
            encoder.clear_buffer(&buffer, start, Some(bytes));
        }
        device.submit(encoder);
    }

    /// Returns the part of a buffer that belongs to the world in this slot.
    pub(super) fn part(&self, name: &str, slot: u32) -> WorldPart {
        let buffer = self.get(name).clone();
        let bytes = buffer.size() >> self.bits;
        WorldPart { buffer, start: u64::from(slot) * bytes, bytes }
    }

    pub(super) fn launcher(&self) -> Option<&Launcher> {
        self.launcher.as_ref()
    }

    pub(super) fn launcher_mut(&mut self) -> Option<&mut Launcher> {
        self.launcher.as_mut()
    }

    pub(super) fn get(&self, name: &str) -> &wgpu::Buffer {
        self.find(name).expect("buffers are named in one table, and the shader tests look them all up")
    }

    /// Returns the buffer of this name, or the buffer that holds the content of this name ([`LODGERS`]).
    pub(super) fn find(&self, name: &str) -> Option<&wgpu::Buffer> {
        self.buffers.get(room_of(name))
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.buffers.keys().copied()
    }

    pub(super) fn capacity(&self) -> &Capacity {
        &self.capacity
    }

    /// Returns the number of bytes that belong to one world.
    pub(super) fn bytes(&self) -> u64 {
        self.buffers.values().map(|buffer| buffer.size() >> self.bits).sum()
    }
}

fn create(device: &Device, name: &'static str, bytes: u64) -> wgpu::Buffer {
    let role = match name {
        // A uniform for one world, a list for many.
        "params" => wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE,
        "arguments" => wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::INDIRECT,
        _ => wgpu::BufferUsages::STORAGE,
    };
    device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some(name),
        size: bytes,
        usage: role | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    })
}
