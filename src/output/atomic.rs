//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::Error;

/// Whether two paths lead to one file, so that writing the one would replace the other.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Writes a file under a temporary name in its folder and then renames it.
///
/// # Errors
/// When the file cannot be written; an earlier file of that name is then unchanged.
pub fn write(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Error> {
    create(path, content).map(drop)
}

/// As [`write()`], and returns the file open at its end.
///
/// # Errors
/// When the file cannot be written; an earlier file of that name is then unchanged.
pub fn create(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<File, Error> {
    persist(path, content).map_err(Error::file(path))
}

/// As [`write()`], and returns only when the file is on the disk and would survive a loss of power.
///
/// # Errors
/// When the file cannot be written; an earlier file of that name is then unchanged.
pub fn write_durably(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> Result<(), Error> {
    let synced = |out: &mut BufWriter<&mut File>| {
        content(out)?;
        out.flush()?;
        out.get_ref().sync_all()
    };
    create(path, synced)?;
    // Also syncs the name, where the file system can do that: some network file systems cannot, and only Unix opens folders.
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Waits until a file is on the disk.
///
/// # Errors
/// When the file cannot be opened or brought there.
pub fn sync(path: &Path) -> Result<(), Error> {
    // Windows syncs only files that are open for writing.
    let file = File::options().read(true).write(true).open(path);
    file.and_then(|file| file.sync_all()).map_err(Error::file(path))
}

/// Creates a temporary file in the folder of a file, for writers that need a path; the caller persists it there.
///
/// # Errors
/// When the temporary file cannot be made.
pub fn temporary_for(path: &Path) -> Result<tempfile::TempPath, Error> {
    let temporary = builder().tempfile_in(folder_of(path)).map_err(Error::file(path))?;
    Ok(temporary.into_temp_path())
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn persist(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
) -> io::Result<File> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("there is no folder {}", folder.display()),
        ));
    }
    if path.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a folder, expected the name of a file",
        ));
    }
    let mut file = builder().tempfile_in(folder)?;
    let mut buffer = BufWriter::with_capacity(1 << 16, file.as_file_mut());
    content(&mut buffer)?;
    buffer.flush()?;
    drop(buffer);
    Ok(file.persist(path)?)
}

/// Start and end of the names of temporary files; between them stand [`DRAWN`] random letters and digits.
const PREFIX: &str = ".esker-";
const SUFFIX: &str = ".part";
const DRAWN: usize = 6;

/// Removes the temporary files that killed runs left in a folder into which nobody else writes.
///
/// # Errors
/// When the folder cannot be read, or a file not be removed.
pub fn sweep(folder: &Path) -> Result<(), Error> {
    remove_files(folder, is_temporary)
}

/// Removes the files whose name `is_ours` accepts, and no folders. Of a link only the link is removed.
///
/// # Errors
/// When the folder cannot be read, or a file not be removed.
pub fn remove_files(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder && entry.file_name().to_str().is_some_and(&is_ours) {
            fs::remove_file(entry.path()).map_err(Error::file(entry.path()))?;
        }
    }
    Ok(())
}

pub(super) fn is_temporary(name: &str) -> bool {
    let drawn = name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX));
    drawn.is_some_and(|drawn| drawn.len() == DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Builder of temporary files under names that [`sweep`] recognises. By default they would be private; results are as readable as any other
/// new file.
pub fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(DRAWN);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
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
        assert_eq!(fs::read_to_string(&path).expect("readable"), "first");
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), 1);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named_in_the_error() {
        let failure = write(Path::new("/nonexistent/x.txt"), |_| Ok(())).expect_err("a failure");
        assert!(failure.to_string().contains("/nonexistent/x.txt"), "{failure}");
    }

    #[test]
    fn a_sweep_takes_temporary_files_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let left =
            builder().tempfile_in(folder.path()).expect("a file").into_temp_path().keep().expect("kept");
        assert!(left.exists());
        let others = [".esker-notes", ".esker-abcdef.mp4", ".esker-ab/def.part", ".eskerrc", "a.part"];
        let others = others.map(|name| folder.path().join(name.replace('/', "-")));
        others.iter().for_each(|path| fs::write(path, "mine").expect("written"));
        sweep(folder.path()).expect("swept");
        assert!(!left.exists() && others.iter().all(|path| path.exists()));
    }

    #[cfg(unix)]
    #[test]
    fn results_are_as_readable_as_any_other_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |name: &str| fs::metadata(folder.path().join(name)).expect("a file").permissions().mode();
        write(&folder.path().join("result"), |_| Ok(())).expect("written");
        File::create(folder.path().join("plain")).expect("created");
        assert_eq!(mode("result"), mode("plain"));
    }
}
