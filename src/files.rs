//! Reading of files with a size limit: a file without end (`/dev/zero`, a pipe that never closes) is then reported as a mistake in the
//! input and does not fill the memory of the computer.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::error::in_words;

/// Largest scenario, study or suite, and largest file of any kind whose length is not known beforehand \[bytes\].
pub(crate) const LARGEST_TEXT: u64 = 64 << 20;
/// Largest table of grains: the largest number of grains with ten numbers each \[bytes\].
pub(crate) const LARGEST_TABLE: u64 = 8 << 30;
/// Longest line of a table \[bytes\].
const LONGEST_LINE: usize = 1 << 16;

/// Reads the text of a file of at most `most` bytes, or of at most [`LARGEST_TEXT`] if it is no plain file.
///
/// # Errors
/// When the file cannot be read, is larger or is not UTF-8.
pub(crate) fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let bytes = read_bytes(path, most)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// Reads the bytes of a file of at most `most` bytes, or of at most [`LARGEST_TEXT`] if it is no plain file.
///
/// # Errors
/// When the file cannot be read or is larger.
pub(crate) fn read_bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let most = largest(&file, most)?;
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads the text of a file of at most `most` bytes that a run has written. Anything but a plain file is refused unopened: to open a pipe
/// waits for somebody who writes into it.
///
/// # Errors
/// As [`read_text`]; and when the path is a folder, a pipe or a device, or a link to one.
pub(crate) fn read_result(path: &Path, most: u64) -> io::Result<String> {
    check_plain(path)?;
    read_text(path, most)
}

/// Refuses a path to anything but a plain file, or a link to one.
///
/// # Errors
/// When the path is a folder, a pipe or a device, or there is nothing.
pub(crate) fn check_plain(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is no plain file, and a run writes nothing else")),
    }
}

/// Opens a table, with limits on its size and the length of its lines.
///
/// # Errors
/// When the file cannot be opened.
pub(crate) fn open_table(path: &Path) -> io::Result<Bounded<File>> {
    let file = open(path)?;
    let most = largest(&file, LARGEST_TABLE)?;
    Ok(Bounded { inner: file, most, left: most, line: 0 })
}

fn open(path: &Path) -> io::Result<File> {
    if cfg!(target_arch = "wasm32") {
        let words = "a page in a browser reads no other files: run this scenario with the program";
        return Err(io::Error::new(io::ErrorKind::Unsupported, words));
    }
    let file = File::open(path)?;
    match file.metadata()?.is_dir() {
        true => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, expected a file")),
        false => Ok(file),
    }
}

/// Largest size to read \[bytes\]: `most` for a plain file, whose length is known, and at most [`LARGEST_TEXT`] otherwise.
fn largest(file: &File, most: u64) -> io::Result<u64> {
    Ok(if file.metadata()?.is_file() { most } else { most.min(LARGEST_TEXT) })
}

fn too_large(most: u64) -> io::Error {
    io::Error::other(format!("it is larger than {}, the most that is read of such a file", in_words(most)))
}

/// Reader that fails if its input is too large or has a line that is too long.
#[derive(Debug)]
pub(crate) struct Bounded<R> {
    inner: R,
    most: u64,
    left: u64,
    /// Number of bytes since the last end of a line.
    line: usize,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| too_large(self.most))?;
        for line in buffer[..count].split_inclusive(|&byte| byte == b'\n') {
            self.line += line.len();
            if self.line > LONGEST_LINE {
                let message = format!("a line is longer than {LONGEST_LINE} bytes, so it is no table");
                return Err(io::Error::other(message));
            }
            if line.ends_with(b"\n") {
                self.line = 0;
            }
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(text: &str, most: u64) -> io::Result<String> {
        let mut read = String::new();
        let mut bounded = Bounded { inner: text.as_bytes(), most, left: most, line: 0 };
        bounded.read_to_string(&mut read).map(|_| read)
    }

    #[test]
    fn a_table_is_read_whole_or_refused_with_its_limit() {
        let lines = "1,2,3\n".repeat(50_000);
        assert_eq!(bounded(&lines, lines.len() as u64).expect("it fits"), lines);
        let failure = |text: &str, most| bounded(text, most).expect_err("too much").to_string();
        assert!(failure(&lines, 299_999).contains("larger than 300.00 kB"), "{}", failure(&lines, 299_999));
        assert!(failure(&"0".repeat(70_000), 1 << 20).contains("longer than 65536 bytes"));
    }
}
