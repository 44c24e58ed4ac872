//! esker
pub mod contact;
pub mod engine;
pub mod error;
pub mod scenario;
pub mod settings;
pub mod world;
