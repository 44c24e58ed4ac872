//! The structure of the code: which module imports which, and what shaders and Rust share.
#![allow(missing_docs, reason = "tests say by their names what they claim")]

mod architecture;
mod long;
mod shaders;
mod siblings;
mod words;
