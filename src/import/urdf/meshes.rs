//! Files of meshes that a robot names: `package://NAME/...`, `file://...`, or a path from the folder of the robot.

use std::path::{Path, PathBuf};

/// Folders in which meshes are looked for.
pub struct MeshFolders<'a> {
    /// Folder of the robot file.
    pub folder: &'a Path,
    /// Folders of packages, by name.
    pub packages: &'a [(String, PathBuf)],
}

impl MeshFolders<'_> {
    /// Finds a file of triangles.
    ///
    /// # Errors
    /// What was found and what to change, in two sentences.
    pub fn find(&self, name: &str) -> Result<PathBuf, [String; 2]> {
        let kind =
            Path::new(name).extension().map_or(String::new(), |kind| kind.to_string_lossy().to_lowercase());
        if !["stl", "obj"].contains(&kind.as_str()) {
            let what = if kind == "dae" { "a COLLADA file" } else { "no STL or OBJ file" };
            let message = format!("mesh `{name}` is {what}, expected STL or OBJ");
            let help = "convert it, and name the new file; or replace it by a <box>, <cylinder>, <sphere> or <capsule>";
            return Err([message, help.to_owned()]);
        }
        let places = self.places(name);
        if let Some(place) = places.iter().find(|place| place.is_file()) {
            return Ok(place.clone());
        }
        let shown: Vec<String> = places.iter().take(3).map(|place| place.display().to_string()).collect();
        let help = match package_of(name) {
            Some((package, _)) => format!("tell where the package is: --package {package}=FOLDER"),
            None => "paths start at the folder of the robot file".to_owned(),
        };
        Err([format!("there is no mesh `{name}`, looked for in {}", shown.join(", ")), help])
    }

    /// Places where a file may be. A package that is not told is a folder of its name above the robot file or beside one, or, under another
    /// name, a folder above it.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        if let Some(path) = name.strip_prefix("file://") {
            return vec![PathBuf::from(path)];
        }
        let Some((package, rest)) = package_of(name) else { return vec![self.folder.join(name)] };
        if let Some((_, folder)) = self.packages.iter().find(|(known, _)| known == package) {
            return vec![folder.join(rest)];
        }
        let whole = std::path::absolute(self.folder).unwrap_or_else(|_| self.folder.to_owned());
        let named = whole.ancestors().map(|folder| match folder.file_name() {
            Some(name) if name == package => folder.join(rest),
            _ => folder.join(package).join(rest),
        });
        let others = whole.ancestors().map(|folder| folder.join(rest));
        named.chain(others).collect()
    }
}

/// Package and path in it, of a name that has one.
fn package_of(name: &str) -> Option<(&str, &str)> {
    let path = ["package://", "model://"].into_iter().find_map(|scheme| name.strip_prefix(scheme))?;
    // Some files have a slash too many.
    path.trim_start_matches('/').split_once('/')
}
