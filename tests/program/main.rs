//! The program and its files: command line, scenarios and their mistakes, results, pictures, studies, validation.
#![allow(missing_docs, reason = "tests say by their names what they claim")]

mod bench;
mod command_line;
#[path = "../common/mod.rs"]
mod common;
mod exports;
mod foreign_files;
mod fuzz;
mod fuzz_documents;
mod fuzz_results;
mod grain_sizes;
mod helps;
mod imports;
mod local;
mod moved;
mod other_files;
mod output_files;
mod place;
mod range;
mod ranks;
mod render;
mod restart;
mod scenario_errors;
mod scenario_properties;
mod study;
mod validation;
mod view;
mod warnings;
