//! Copies of the files that a scenario names, in the folder of its results: meshes, tables of grains, curves, checkpoints.

use std::fs;
use std::path::{Path, PathBuf};

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

/// Copies files into the folder of the copies, each under its name. A file that is the copy already stays.
///
/// # Errors
/// When a file cannot be read or its copy not be written.
pub(super) fn keep(folder: &Path, files: &[(PathBuf, String)]) -> Result<(), Error> {
    if files.is_empty() {
        return Ok(());
    }
    let place = folder.join(FILES);
    fs::create_dir_all(&place).map_err(Error::file(&place))?;
    // What a killed run left half copied.
    atomic::sweep(&place)?;
    for (file, name) in files {
        let copy = place.join(name);
        if !is_same(file, &copy) {
            let temporary = atomic::temporary_for(&copy)?;
            // Where the file system can, the copy takes no room until one of the two changes.
            fs::copy(file, &temporary).map_err(Error::file(file))?;
            temporary.persist(&copy).map_err(|error| Error::file(&copy)(error.error))?;
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
        keep(&results, &files).expect("copied");
        let copy = results.join(FILES).join("a.stl");
        assert_eq!(fs::read_to_string(&copy).expect("a copy"), "mesh");

        let itself = [(copy.clone(), "a.stl".to_owned())];
        check(&results, &itself, std::slice::from_ref(&copy)).expect("the copy is the input");
        keep(&results, &itself).expect("nothing to do");
        assert_eq!(fs::read_to_string(&copy).expect("a copy"), "mesh");
        assert_eq!(fs::read_dir(results.join(FILES)).expect("a folder").count(), 2, "nothing half copied");

        let refused = check(&results, &[(mesh, "a.stl".to_owned())], &[copy]).expect_err("another input");
        assert!(refused.to_string().contains("a.stl is read by this run"), "{refused}");
    }
}
