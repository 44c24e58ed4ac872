//! Lock of a folder of results: only one run at a time writes into it.
//!
//! The operating system locks the file `.esker.lock`, so the lock ends with the process that holds it, however that process ends. The file
//! contains the id of that process, for the message to a second one. On Unix the file is removed when the lock is released; a file that a
//! killed process left is taken over.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;

use super::atomic;

/// Name of the lock file.
pub(super) const NAME: &str = ".esker.lock";
/// How often, and how long each time, a folder is waited for of which a file has vanished.
const REMOVAL_WAITS: u32 = 20;
const REMOVAL_WAIT: Duration = Duration::from_millis(50);
/// Longest process id that is read \[bytes\].
const LONGEST_ID: u64 = 20;

/// The right to write the results in a folder, held until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    file: File,
    /// The folder, held open: another folder that takes its place is then another file to the system. Only Unix opens folders.
    place: Option<File>,
}

/// Whether others may write into the folder at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody else may.
    Alone,
    /// Other holders that share it may: parts of a study, each in folders of its own below this one.
    WithParts,
}

impl FolderLock {
    /// Makes the folder and takes its lock. A holder that has it alone also removes the temporary files that killed runs left there.
    ///
    /// # Errors
    /// [`Error::FolderInUse`] when another process, or another run of this process, holds the lock; [`Error::File`] when the folder cannot
    /// be written.
    pub fn take(folder: &Path, sharing: Sharing) -> Result<FolderLock, Error> {
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        let path = folder.join(NAME);
        refuse_link(&path)?;
        let lock = loop {
            let file = open(&path).map_err(Error::file(&path))?;
            let place = if cfg!(unix) { File::open(folder).ok() } else { None };
            let mut lock = FolderLock { path: path.clone(), file, place };
            lock.acquire(folder, sharing)?;
            // The previous holder may have removed the file between the opening and the locking.
            if lock.is_in_place() {
                lock.sign().map_err(Error::file(&path))?;
                break lock;
            }
        };
        if sharing == Sharing::Alone {
            atomic::sweep(folder)?;
        }
        Ok(lock)
    }

    /// Folder that is locked.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Refuses to go on where the folder is no longer at its path.
    ///
    /// # Errors
    /// [`Error::FolderGone`] when it was removed, renamed or replaced.
    pub fn check_place(&self) -> Result<(), Error> {
        use io::ErrorKind::{NotADirectory, NotFound};
        let folder = self.folder();
        let is_there = match fs::metadata(folder) {
            Ok(there) => self
                .place
                .as_ref()
                .and_then(|place| place.metadata().ok())
                .is_none_or(|here| is_same(&here, &there)),
            // A disk that does not answer for a moment has lost nothing.
            Err(error) => !matches!(error.kind(), NotFound | NotADirectory),
        };
        if is_there { Ok(()) } else { Err(Error::FolderGone { folder: folder.to_owned() }) }
    }

    /// Cause of an error: a file that could not be written may be one of a folder that has gone, or that is being removed. Files go
    /// before their folder, which is therefore waited for where a file has vanished.
    pub fn cause_of(&self, error: Error) -> Error {
        let Error::File { source, .. } = &error else { return error };
        let waits = if source.kind() == io::ErrorKind::NotFound { REMOVAL_WAITS } else { 0 };
        for wait in 0..=waits {
            if let Err(gone) = self.check_place() {
                return gone;
            }
            if wait < waits {
                std::thread::sleep(REMOVAL_WAIT);
            }
        }
        error
    }

    fn acquire(&mut self, folder: &Path, sharing: Sharing) -> Result<(), Error> {
        let locked = match sharing {
            Sharing::Alone => self.file.try_lock(),
            Sharing::WithParts => self.file.try_lock_shared(),
        };
        match locked {
            Ok(()) => Ok(()),
            Err(TryLockError::WouldBlock) => {
                Err(Error::FolderInUse { folder: folder.to_owned(), holder: self.holder() })
            }
            // Some network file systems have no locks: the run goes on as if it were alone.
            Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Holder of the lock, in words.
    fn holder(&mut self) -> String {
        let mut id = String::new();
        let read = (&self.file).take(LONGEST_ID).read_to_string(&mut id);
        match (read, id.trim().parse::<u32>()) {
            (Ok(_), Ok(id)) => format!("process {id}"),
            _ => "another process".to_owned(),
        }
    }

    fn sign(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        writeln!(self.file, "{}", std::process::id())
    }

    /// Whether the locked file is still the one at its path.
    fn is_in_place(&self) -> bool {
        is_in_place(&self.file, &self.path)
    }
}

/// Whether an open file still is the one at its path. On systems other than Unix a file that is open stays there.
pub(super) fn is_in_place(file: &File, path: &Path) -> bool {
    !cfg!(unix)
        || file.metadata().is_ok_and(|here| fs::metadata(path).is_ok_and(|there| is_same(&here, &there)))
}

/// Whether two descriptions are of the same file, where the system can tell.
#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(_: &fs::Metadata, there: &fs::Metadata) -> bool {
    there.is_dir()
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // The last of several holders removes the file. A file that stays behind is taken over by the next run.
        if cfg!(unix) && self.file.try_lock().is_ok() && self.is_in_place() {
            let _ = fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Refuses a link at a path where a run would write into the target of the link, or clear the target up.
///
/// # Errors
/// [`Error::Link`] when the path is a link.
pub fn refuse_link(path: &Path) -> Result<(), Error> {
    match path.is_symlink() {
        true => Err(Error::Link { path: path.to_owned() }),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn a_folder_is_locked_until_its_holder_lets_go_and_then_nothing_is_left() {
        let folder = folder();
        let first = FolderLock::take(folder.path(), Sharing::Alone).expect("free");
        let second = FolderLock::take(folder.path(), Sharing::Alone).expect_err("taken").to_string();
        assert!(second.contains(&format!("process {}", std::process::id())), "{second}");
        drop(first);
        drop(FolderLock::take(folder.path(), Sharing::Alone).expect("free again"));
        assert_eq!(fs::read_dir(folder.path()).expect("readable").count(), usize::from(cfg!(windows)));
    }

    #[test]
    fn parts_share_a_folder_that_a_whole_run_then_cannot_have() {
        let folder = folder();
        let parts = [(); 2].map(|()| FolderLock::take(folder.path(), Sharing::WithParts).expect("shared"));
        let [first, second] = parts;
        drop(first);
        assert!(FolderLock::take(folder.path(), Sharing::Alone).is_err(), "one part still runs");
        drop(second);
        FolderLock::take(folder.path(), Sharing::Alone).expect("free");
    }

    #[test]
    fn a_lock_that_a_killed_process_left_is_taken_over() {
        let folder = folder();
        fs::write(folder.path().join(NAME), "1\n").expect("written");
        FolderLock::take(folder.path(), Sharing::Alone).expect("nobody holds it");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_removed_renamed_or_replaced_is_told() {
        let folder = folder();
        let (results, aside) = (folder.path().join("out"), folder.path().join("aside"));
        let lock = FolderLock::take(&results, Sharing::Alone).expect("free");
        lock.check_place().expect("in its place");
        fs::rename(&results, &aside).expect("renamed");
        let gone = || lock.check_place().expect_err("gone").to_string();
        assert!(gone().contains("out: ") && gone().contains("during the run"), "{}", gone());
        fs::create_dir(&results).expect("another one");
        assert!(gone().contains("replaced"));
        fs::remove_dir(&results).expect("removed");
        fs::rename(&aside, &results).expect("put back");
        lock.check_place().expect("in its place again");
        fs::remove_file(results.join(NAME)).expect("removed");
        lock.check_place().expect("somebody cleared up, and the results are still there");
    }

    /// A remover deletes the files of a folder first, so that the folder is still there when a file has vanished.
    #[cfg(unix)]
    #[test]
    fn a_file_that_vanished_is_told_as_the_folder_that_is_being_removed() {
        let folder = folder();
        let results = folder.path().join("out");
        let lock = FolderLock::take(&results, Sharing::Alone).expect("free");
        let failed = |kind: io::ErrorKind| Error::file(&results.join("grains.pvd"))(kind.into());
        let told = lock.cause_of(failed(io::ErrorKind::PermissionDenied)).to_string();
        assert!(told.contains("grains.pvd"), "the folder is there: {told}");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(REMOVAL_WAIT);
                fs::remove_dir_all(&results).expect("removed");
            });
            let told = lock.cause_of(failed(io::ErrorKind::NotFound)).to_string();
            assert!(told.contains("removed, renamed or replaced during the run"), "{told}");
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_lock_that_is_a_link_is_refused_and_the_file_behind_it_stays() {
        let folder = folder();
        let other = folder.path().join("notes.txt");
        fs::write(&other, "mine").expect("written");
        std::os::unix::fs::symlink(&other, folder.path().join(NAME)).expect("linked");
        assert!(FolderLock::take(folder.path(), Sharing::Alone).is_err());
        assert_eq!(fs::read_to_string(other).expect("readable"), "mine");
    }
}
