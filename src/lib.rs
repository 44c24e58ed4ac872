//! esker
pub mod contact;
pub mod engine;
pub mod error;
pub mod gpu;
pub mod reference;
pub mod settings;
pub mod world;
