//! Names of files, and the way from one folder to another.

use std::path::{Component, Path, PathBuf};

/// Name of a file without its folder.
pub fn name_of(file: &Path) -> String {
    file.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// Name of a file without its folder and ending.
pub fn stem(file: &Path) -> String {
    file.file_stem().map_or(String::new(), |name| name.to_string_lossy().into_owned())
}

/// Relative path from one folder to another; an absolute one where there is no other.
pub fn way(from: &Path, to: &Path) -> PathBuf {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let empty_is_here =
        |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let (from, to) = (normal(&whole(&empty_is_here(from))), normal(&whole(&empty_is_here(to))));
    let same = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    if same == 0 {
        return to.iter().collect();
    }
    let up = from[same..].iter().map(|_| Component::ParentDir.as_os_str().to_owned());
    let down = to[same..].iter().map(|part| part.to_owned());
    up.chain(down).collect()
}

/// Parts of a path, without `.` and `..`.
fn normal(path: &Path) -> Vec<std::ffi::OsString> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop();
            }
            part => parts.push(part.as_os_str().to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_from_the_scenario() {
        assert_eq!(way(Path::new("a/b"), Path::new("a/c/d")), Path::new("../c/d"));
        assert_eq!(way(Path::new(""), Path::new("x")), Path::new("x"));
        assert_eq!(way(Path::new("x"), Path::new("x")), Path::new(""));
    }
}
