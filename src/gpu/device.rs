//! Adapters and the device: how one is found, how it is opened, and how its loss is noticed.

use std::sync::{Arc, Mutex};

use pollster::block_on;

use crate::engine::{Identity, Precision};
use crate::error::Error;

use super::features::Features;
use super::pipelines::{Cache, OF_CARDS, OF_SOFTWARE, Pipelines, Worlds};
use super::shader::Edit;

/// Largest number of storage buffers that a kernel may bind, which WebGPU grants everywhere.
pub const STORAGE_BUFFERS: u32 = 8;

/// Number of storage buffers that a kernel binds in a launch of many worlds: their constants and the list of the launch as well.
pub const STORAGE_BUFFERS_OF_MANY: u32 = STORAGE_BUFFERS + 2;

/// Choice of the adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceChoice {
    /// A graphics card.
    Hardware,
    /// An adapter that runs on the processor, such as lavapipe.
    Software,
    /// A graphics card if there is one, else a software adapter.
    Any,
}

/// An open device with its queue. Clones are the same device.
#[derive(Clone)]
pub struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    trouble: Arc<Mutex<Option<Trouble>>>,
    pipelines: Cache,
}

/// Error that the driver reported.
#[derive(Debug, Clone)]
enum Trouble {
    Lost(String),
    Full(String),
    Refused(String),
}

/// Description of an adapter.
#[derive(Debug, Clone)]
pub struct AdapterReport {
    /// Name and kind.
    pub info: wgpu::AdapterInfo,
    /// Limits of the adapter.
    pub limits: wgpu::Limits,
    /// Whether the adapter has timestamps, with which stages are timed.
    pub timestamps: bool,
}

impl AdapterReport {
    /// Whether the adapter runs on the processor.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }
}

/// Graphics interfaces on which adapters are searched for. GL is left out, as it prints noise on machines without a display.
const BACKENDS: wgpu::Backends = match cfg!(target_arch = "wasm32") {
    true => wgpu::Backends::BROWSER_WEBGPU,
    false => wgpu::Backends::VULKAN.union(wgpu::Backends::METAL).union(wgpu::Backends::DX12),
};

fn instance() -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = BACKENDS;
    // Indirect arguments are written by our own kernels and stay in bounds (shared/plan.wgsl); checking
    // them would add a dispatch to every one of ours.
    descriptor.flags.remove(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL);
    // Builds with debug assertions would look up the line of every instruction, for debuggers of shaders, whenever an engine
    // starts.
    descriptor.flags.remove(wgpu::InstanceFlags::DEBUG);
    wgpu::Instance::new(descriptor)
}

async fn adapters() -> Vec<wgpu::Adapter> {
    instance().enumerate_adapters(wgpu::Backends::all()).await
}

fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

fn report(adapter: &wgpu::Adapter) -> AdapterReport {
    AdapterReport {
        info: adapter.get_info(),
        limits: adapter.limits(),
        timestamps: adapter.features().contains(wgpu::Features::TIMESTAMP_QUERY),
    }
}

impl Device {
    /// Opens an adapter of the wanted kind, graphics cards first.
    ///
    /// # Errors
    /// When there is no such adapter, or it refuses.
    pub fn open(choice: DeviceChoice) -> Result<Device, Error> {
        block_on(Device::open_async(choice))
    }

    /// Opens an adapter like [`Device::open`], without waiting for the driver. A browser has one adapter and does not tell its kind.
    ///
    /// # Errors
    /// As [`Device::open`].
    pub async fn open_async(choice: DeviceChoice) -> Result<Device, Error> {
        let mut found = adapters().await;
        found.sort_by_key(|adapter| (is_software(adapter), kind_rank(adapter.get_info().device_type)));
        let fits = |adapter: &wgpu::Adapter| match choice {
            DeviceChoice::Hardware => !is_software(adapter),
            DeviceChoice::Software => is_software(adapter),
            DeviceChoice::Any => true,
        };
        let adapter = found.into_iter().find(fits).ok_or_else(|| no_adapter(choice))?;
        Device::from_adapter(&adapter).await
    }

    /// Opens every adapter in turn; for the self-test.
    pub fn open_all() -> Vec<(AdapterReport, Result<Device, Error>)> {
        let opened = |adapter: &wgpu::Adapter| (report(adapter), block_on(Device::from_adapter(adapter)));
        block_on(adapters()).iter().map(opened).collect()
    }

    async fn from_adapter(adapter: &wgpu::Adapter) -> Result<Device, Error> {
        let info = adapter.get_info();
        // The limits that WebGPU grants everywhere, but for buffers: these may be as large as the adapter has room for.
        let offered = adapter.limits();
        let limits = wgpu::Limits {
            max_storage_buffer_binding_size: offered.max_storage_buffer_binding_size,
            max_buffer_size: offered.max_buffer_size,
            // Launches of many worlds need two more.
            max_storage_buffers_per_shader_stage: offered
                .max_storage_buffers_per_shader_stage
                .clamp(STORAGE_BUFFERS, STORAGE_BUFFERS_OF_MANY),
            ..wgpu::Limits::default()
        };
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("esker"),
            required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
            required_limits: limits,
            ..Default::default()
        });
        let (device, queue) = request
            .await
            .map_err(|error| Error::NoDevice { adapter: info.name.clone(), reason: error.to_string() })?;
        let trouble = Arc::new(Mutex::new(None));
        watch(&device, &trouble);
        Ok(Device { device, queue, info, trouble, pipelines: Cache::default() })
    }

    /// Returns engine, device, driver, interface and precision.
    pub fn identity(&self) -> Identity {
        Identity {
            engine: "gpu",
            device: self.info.name.clone(),
            driver: format!("{} {}", self.info.driver, self.info.driver_info),
            backend: self.info.backend.to_string(),
            precision: Precision::Single,
        }
    }

    /// Error of a device that computes nothing; `seen` is how that was noticed.
    pub(super) fn idle(&self, seen: String) -> Error {
        let Identity { device: adapter, driver, .. } = self.identity();
        Error::Idle { adapter, driver, seen }
    }

    /// Checks whether the device still works.
    ///
    /// # Errors
    /// When the driver reported that it is lost, out of memory, or refused what it was given.
    pub fn check(&self) -> Result<(), Error> {
        let trouble = self.trouble.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match &*trouble {
            Some(Trouble::Lost(reason)) => Err(Error::DeviceLost { reason: reason.clone(), time: f64::NAN }),
            Some(Trouble::Full(reason)) => Err(Error::DeviceFull { reason: reason.clone() }),
            Some(Trouble::Refused(reason)) => Err(Error::Refused { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// Whether kernels can bind the buffers that a launch of many worlds needs. In a browser, where a thread may not wait for others, no
    /// device launches many.
    pub fn launches_many(&self) -> bool {
        cfg!(not(target_arch = "wasm32")) && self.storage_buffers() >= STORAGE_BUFFERS_OF_MANY
    }

    /// Returns the number of storage buffers that a kernel can bind.
    pub(super) fn storage_buffers(&self) -> u32 {
        self.device.limits().max_storage_buffers_per_shader_stage
    }

    /// Returns all kernels for the features of a scene, with `edits` applied to their sources.
    pub(super) fn pipelines(
        &self,
        features: Features,
        edits: &[Edit],
        worlds: Worlds,
    ) -> Result<Pipelines, Error> {
        let of_device = if self.is_software() { OF_SOFTWARE } else { OF_CARDS };
        self.pipelines.get(&self.device, of_device, features, edits, worlds)
    }

    /// Destroys the device, as a driver does that resets it.
    pub fn destroy(&self) {
        self.device.destroy();
    }

    pub(super) fn raw(&self) -> &wgpu::Device {
        &self.device
    }

    pub(super) fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    pub(super) fn encoder(&self) -> wgpu::CommandEncoder {
        self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default())
    }

    pub(super) fn submit(&self, encoder: wgpu::CommandEncoder) {
        self.queue.submit([encoder.finish()]);
    }

    /// Whether the device is the processor, with the memory of the machine.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    /// Waits until all that was submitted is done.
    pub(super) fn wait(&self) -> Result<(), Error> {
        let polled = self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: None });
        self.check()?;
        polled.map(drop).map_err(|error| Error::DeviceLost { reason: error.to_string(), time: f64::NAN })
    }

    /// Returns the largest size of one binding \[bytes\].
    pub fn largest_binding(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    pub(super) fn has_timestamps(&self) -> bool {
        self.device.features().contains(wgpu::Features::TIMESTAMP_QUERY)
    }
}

/// Keeps the first error that the driver reports; the loss of the device replaces it.
fn watch(device: &wgpu::Device, trouble: &Arc<Mutex<Option<Trouble>>>) {
    let note = |trouble: &Mutex<Option<Trouble>>, first: Trouble| {
        let mut trouble = trouble.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A device that is lost refuses everything afterwards, and may say so before it says why.
        if trouble.is_none() || matches!(first, Trouble::Lost(_)) {
            *trouble = Some(first);
        }
    };
    let lost = Arc::clone(trouble);
    device.set_device_lost_callback(move |reason, message| {
        note(&lost, Trouble::Lost(format!("{reason:?}: {message}")));
    });
    let failed = Arc::clone(trouble);
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        note(
            &failed,
            match &error {
                wgpu::Error::OutOfMemory { .. } => Trouble::Full(error.to_string()),
                _ => Trouble::Refused(error.to_string()),
            },
        );
    }));
}

fn kind_rank(kind: wgpu::DeviceType) -> u8 {
    match kind {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Other => 3,
        wgpu::DeviceType::Cpu => 4,
    }
}

fn no_adapter(choice: DeviceChoice) -> Error {
    match choice {
        DeviceChoice::Hardware => {
            Error::NoAdapter { wanted: "graphics", advice: "install the card's driver, or use --device cpu" }
        }
        DeviceChoice::Software => Error::NoAdapter {
            wanted: "software",
            advice: "install lavapipe (Debian, Ubuntu: mesa-vulkan-drivers), or use --device cpu",
        },
        DeviceChoice::Any => Error::NoAdapter {
            wanted: "graphics or software",
            advice: "install lavapipe (Debian, Ubuntu: mesa-vulkan-drivers), or use --device cpu",
        },
    }
}
