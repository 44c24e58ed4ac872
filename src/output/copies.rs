//! Copies of the files that a scenario names, in the folder of its results: meshes, tables of grains, curves, checkpoints.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::{atomic, lock};
use crate::error::Error;

/// Name of the folder of the copies, within the folder of the results.
pub const FILES: &str = "scenario_files";

/// Refuses copies that would replace another file that the run reads.
///
/// # Errors
/// [`Error::InputAtRisk`] with the first such file; [`Error::Link`] when the folder of the copies is a link.
pub(super) fn check(folder: &Path, files: &[(PathBuf, String)], inputs: &[PathBuf]) -> Result<(), Error> {
    let place = folder.join(FILES);
    lock::refuse_link(&place)?;
    for (file, name) in files {
        let copy = place.join(name);
        if let Some(input) = inputs.iter().find(|input| is_same(input, &copy) && !is_same(input, file)) {
            return Err(Error::InputAtRisk { file: input.clone(), folder: place });
        }
    }
    Ok(())
}

/// Copies that the runs of a study have made: each file is copied once, and the folders of later runs have further names (hard links) for
/// the same copy, so that every folder has all files of its scenario.
#[derive(Debug, Default)]
pub struct Copies(Mutex<HashMap<PathBuf, KnownCopy>>);

/// Copy of a file as it was at this time, with this length \[bytes\].
#[derive(Debug)]
struct KnownCopy {
    copy: PathBuf,
    changed: SystemTime,
    length: u64,
}

impl Copies {
    /// Gives the copy of a file a further name; returns whether there was one of the file as it is now, on the same file system.
    fn link(known: &HashMap<PathBuf, KnownCopy>, file: &Path, copy: &Path) -> bool {
        known.get(file).is_some_and(|found| {
            let is_as_then = |(changed, length)| changed == found.changed && length == found.length;
            stamp(file).is_some_and(is_as_then) && fs::hard_link(&found.copy, copy).is_ok()
        })
    }
}

/// Time of the last change of a file, and its length \[bytes\].
fn stamp(file: &Path) -> Option<(SystemTime, u64)> {
    let found = file.metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}

/// Copies files into the folder of the copies, each under its name. A file that is the copy already stays; of one in `copies` the same copy
/// gets a further name.
///
/// # Errors
/// When a file cannot be read or its copy not be written.
pub(super) fn keep(folder: &Path, files: &[(PathBuf, String)], copies: Option<&Copies>) -> Result<(), Error> {
    if files.is_empty() {
        return Ok(());
    }
    let place = folder.join(FILES);
    fs::create_dir_all(&place).map_err(Error::file(&place))?;
    // What a killed run left half copied.
    atomic::sweep(&place)?;
    // Other runs wait, so that each file is copied once.
    let mut known = copies.map(|copies| copies.0.lock().unwrap_or_else(PoisonError::into_inner));
    for (file, name) in files {
        let copy = place.join(name);
        if is_same(file, &copy) || known.as_ref().is_some_and(|known| Copies::link(known, file, &copy)) {
            continue;
        }
        let before = stamp(file);
        let temporary = atomic::temporary_for(&copy)?;
        // Where the file system can, the copy takes no room until one of the two changes.
        fs::copy(file, &temporary).map_err(Error::file(file))?;
        temporary.persist(&copy).map_err(|error| Error::file(&copy)(error.error))?;
        if let (Some(known), Some((changed, length))) = (&mut known, before) {
            known.insert(file.clone(), KnownCopy { copy, changed, length });
        }
    }
    Ok(())
}

fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path).ok();
    real(a).zip(real(b)).is_some_and(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_copied_once_and_a_copy_is_never_written_over_another_input() {
        let folder = tempfile::tempdir().expect("a folder");
        let results = folder.path().join("out");
        let (mesh, table) = (folder.path().join("a.stl"), folder.path().join("b.csv"));
        fs::write(&mesh, "mesh").expect("written");
        fs::write(&table, "table").expect("written");
        let files = [(mesh.clone(), "a.stl".to_owned()), (table, "b.csv".to_owned())];
        check(&results, &files, std::slice::from_ref(&mesh)).expect("nothing is there");
        keep(&results, &files, None).expect("copied");
        let copy = results.join(FILES).join("a.stl");
        assert_eq!(fs::read_to_string(&copy).expect("a copy"), "mesh");

        let itself = [(copy.clone(), "a.stl".to_owned())];
        check(&results, &itself, std::slice::from_ref(&copy)).expect("the copy is the input");
        keep(&results, &itself, None).expect("nothing to do");
        assert_eq!(fs::read_to_string(&copy).expect("a copy"), "mesh");
        assert_eq!(fs::read_dir(results.join(FILES)).expect("a folder").count(), 2, "nothing half copied");

        let refused = check(&results, &[(mesh, "a.stl".to_owned())], &[copy]).expect_err("another input");
        assert!(refused.to_string().contains("a.stl is read by this run"), "{refused}");
    }

    /// Three folders have one copy between them; a file that changed in between is copied anew, and the earlier copies stay as they are.
    #[test]
    fn runs_of_a_study_share_a_copy_as_long_as_the_file_is_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let mesh = folder.path().join("a.stl");
        let (files, copies) = ([(mesh.clone(), "a.stl".to_owned())], Copies::default());
        let copy_of = |run: &str| {
            keep(&folder.path().join(run), &files, Some(&copies)).expect("kept");
            folder.path().join(run).join(FILES).join("a.stl")
        };
        fs::write(&mesh, "mesh").expect("written");
        let first = ["one", "two", "three"].map(copy_of);
        fs::write(&mesh, "another mesh").expect("written");
        let later = copy_of("four");
        let read = |copy: &Path| fs::read_to_string(copy).expect("a copy");
        assert!(first.iter().all(|copy| read(copy) == "mesh") && read(&later) == "another mesh");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let links = |copy: &Path| copy.metadata().expect("a copy").nlink();
            assert_eq!((links(&first[0]), links(&later), links(&mesh)), (3, 1, 1));
        }
    }
}
