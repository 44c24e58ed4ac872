//! esker
pub mod cli;
pub mod contact;
pub mod engine;
pub mod error;
pub mod gpu;
pub mod observe;
pub mod output;
pub mod reference;
pub mod scenario;
pub mod settings;
pub mod simulation;
pub mod world;
