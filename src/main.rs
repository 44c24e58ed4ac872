//! The `esker` program; see [`esker::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    esker::cli::main()
}
