//! Lines for the user. Nobody may be listening: a pipe that was closed, or a full device, ends no simulation.
//!
//! `say!` prints a line of results to stdout, `note!` a line of progress, warnings and errors to stderr. Neither passes on what
//! would steer a terminal, whatever the names in a file hold.

use std::fmt;
use std::io::{self, Write as _, stderr, stdout};
use std::sync::OnceLock;

use crate::error::printable;

/// Why stdout took no more, if it did not.
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
        // Another thread may have failed before: its reason is as good.
        let _ = FAILURE.set(error);
    }
}

/// Prints a line to stderr. There is nobody to be told that it cannot be printed.
pub(super) fn print_note(text: fmt::Arguments<'_>) {
    let _ = writeln!(stderr().lock(), "{}", printable(&text.to_string()));
}

/// Prints a report that is drawn with colours, which a terminal shows and nothing else is given; the text in it is printable.
pub(super) fn print_report(report: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{report}");
}

/// Why not all of the results were printed, unless the reader wanted no more of them.
pub(super) fn failure() -> Option<&'static io::Error> {
    if let Err(error) = stdout().lock().flush() {
        let _ = FAILURE.set(error);
    }
    FAILURE.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}
