//! Read-back of buffers, the one thing that a step waits for.
//!
//! Native builds wait for the device here. A browser does not let its thread wait: there the future is woken when the bytes have come.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytemuck::{AnyBitPattern, NoUninit};

use crate::error::Error;

use super::buffers::WorldPart;
use super::device::Device;

/// Reads a whole buffer, as a list.
pub(super) async fn read<T: AnyBitPattern + NoUninit>(
    device: &Device,
    buffer: &wgpu::Buffer,
) -> Result<Vec<T>, Error> {
    let whole = WorldPart { buffer: buffer.clone(), start: 0, bytes: buffer.size() };
    Ok(bytemuck::pod_collect_to_vec(&read_all(device, &[whole]).await?))
}

/// Reads parts of buffers, one after the other, in one wait.
pub(super) async fn read_all(device: &Device, parts: &[WorldPart]) -> Result<Vec<u8>, Error> {
    let bytes = parts.iter().map(|part| part.bytes).sum();
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let staging = device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: Some("readback"),
        size: bytes,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.encoder();
    let mut at = 0;
    for WorldPart { buffer, start, bytes } in parts.iter().filter(|part| part.bytes > 0) {
        encoder.copy_buffer_to_buffer(buffer, *start, &staging, at, *bytes);
        at += bytes;
    }
    device.submit(encoder);
    let mapped = Mapped::default();
    let sender = mapped.clone();
    staging.slice(..).map_async(wgpu::MapMode::Read, move |result| sender.send(result));
    if cfg!(not(target_arch = "wasm32")) {
        device.wait()?;
    }
    let lost = |reason: String| Error::DeviceLost { reason, time: f64::NAN };
    let mapped = mapped.await;
    // A browser reports refused commands no earlier than here.
    device.check()?;
    mapped.map_err(|error| lost(error.to_string()))?;
    let view = staging.slice(..).get_mapped_range().map_err(|error| lost(error.to_string()))?;
    Ok(view.to_vec())
}

/// Future of the end of a buffer mapping, which the device reports.
#[derive(Default, Clone)]
struct Mapped(Arc<Mutex<Message>>);

#[derive(Default)]
struct Message {
    result: Option<Result<(), wgpu::BufferAsyncError>>,
    /// Waker of the task that waits for the result.
    waker: Option<Waker>,
}

impl Mapped {
    fn send(&self, result: Result<(), wgpu::BufferAsyncError>) {
        let mut message = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        message.result = Some(result);
        message.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl Future for Mapped {
    type Output = Result<(), wgpu::BufferAsyncError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut message = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match message.result.take() {
            Some(result) => Poll::Ready(result),
            None => {
                message.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}
