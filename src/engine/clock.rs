//! The clock that wall times are read from: that of the system, or of the browser, where the system's cannot be read.

#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub use web_time::Instant;
