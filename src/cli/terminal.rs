//! Lines for the user. A closed pipe or a full device, to which nothing can be printed, does not end a simulation.
//!
//! `say!` prints a line of results to stdout, `note!` a line of progress, warnings and errors to stderr. Neither passes on characters
//! that would steer a terminal, whatever the names in a file contain.

use std::fmt;
use std::io::{self, Write as _, stderr, stdout};
use std::sync::OnceLock;

use crate::error::printable;

/// Error of stdout, after which nothing more is printed to it.
static FAILURE: OnceLock<io::Error> = OnceLock::new();

/// Prints a line to stdout, like `println!`.
macro_rules! say {
    ($($words:tt)*) => { $crate::cli::terminal::print(format_args!("{}\n", format_args!($($words)*))) };
}

/// Prints a line to stderr, like `eprintln!`.
macro_rules! note {
    ($($words:tt)*) => { $crate::cli::terminal::print_note(format_args!($($words)*)) };
}

pub(super) use {note, say};

/// Prints text to stdout. After a failure it prints no more.
pub(super) fn print(text: fmt::Arguments<'_>) {
    if FAILURE.get().is_some() {
        return;
    }
    let text = text.to_string();
    if let Err(error) = stdout().lock().write_all(printable(&text).as_bytes()) {
        // Another thread may have stored its error first, which serves as well.
        let _ = FAILURE.set(error);
    }
}

/// Prints a line to stderr. A failure is ignored: there is nowhere else to report it.
pub(super) fn print_note(text: fmt::Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{}", printable(&text.to_string()));
}

/// Prints a report with colours to stderr. The colours are removed if stderr is no terminal; the text of the report must be printable.
pub(super) fn print_report(report: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{report}");
}

/// Error because of which not all results were printed; `None` also if the reader closed the pipe.
pub(super) fn failure() -> Option<&'static io::Error> {
    if let Err(error) = stdout().lock().flush() {
        let _ = FAILURE.set(error);
    }
    FAILURE.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}
