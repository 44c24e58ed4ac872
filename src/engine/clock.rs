//! Clock for wall times: the system's, or the browser's where the system's cannot be read.

#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub use web_time::Instant;
