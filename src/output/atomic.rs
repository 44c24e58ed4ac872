//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::Error;

/// Writes a file next to its place and then renames it; returns it open at its end.
///
/// # Errors
/// When it cannot be written; an earlier file of that name is then unchanged.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Error> {
    create(path, content).map(drop)
}

/// As [`write()`], and returns the file open at its end.
///
/// # Errors
/// When it cannot be written; an earlier file of that name is then unchanged.
pub fn create(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<File, Error> {
    persist(path, content).map_err(Error::file(path))
}

fn persist(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<File> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let mut file = builder().tempfile_in(folder.unwrap_or(Path::new(".")))?;
    let mut buffer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    content(&mut buffer)?;
    buffer.flush()?;
    drop(buffer);
    Ok(file.persist(path)?)
}

/// Temporary files are private by default; results are as readable as any other new file.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".esker-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_the_earlier_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.txt");
        write(&path, |out| out.write_all(b"first")).expect("written");
        let failure = write(&path, |out| {
            out.write_all(b"second")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failure.expect_err("a failure").to_string().contains("the disk is full"));
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), "first");
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named_in_the_error() {
        let failure = write(Path::new("/nonexistent/x.txt"), |_| Ok(())).expect_err("a failure");
        assert!(failure.to_string().contains("/nonexistent/x.txt"), "{failure}");
    }

    #[cfg(unix)]
    #[test]
    fn results_are_as_readable_as_any_other_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mode =
            |name: &str| std::fs::metadata(folder.path().join(name)).expect("a file").permissions().mode();
        write(&folder.path().join("result"), |_| Ok(())).expect("written");
        File::create(folder.path().join("plain")).expect("created");
        assert_eq!(mode("result"), mode("plain"));
    }
}
