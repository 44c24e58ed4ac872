//! A folder in which the program is run, and the output of the program.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder with a scenario file.
pub struct Place(tempfile::TempDir);

impl Place {
    /// A folder with this file.
    pub fn with(name: &str, text: &str) -> Place {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(name), text).expect("written");
        Place(folder)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    pub fn esker(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program starts")
    }
}

pub fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or_else(|| panic!("no exit code: {}", error_text(output)))
}

pub fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn error_text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
