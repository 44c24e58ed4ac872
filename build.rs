//! Notes what the program was built from: the commit, where there is a repository, and the version of wgpu.

use std::path::Path;
use std::process::Command;

fn main() {
    let commit = commit().unwrap_or_else(|| "unknown".to_owned());
    let wgpu = version_of("wgpu").unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=ESKER_COMMIT={commit}");
    println!("cargo:rustc-env=ESKER_WGPU={wgpu}");
    println!("cargo:rerun-if-changed=Cargo.lock");
}

/// The commit of this folder, with `-dirty` when it was built from something else. A package unpacked inside the
/// repository of another project has none. Neither has a debug build: every commit would build all tests anew.
fn commit() -> Option<String> {
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !is_release || !Path::new(".git").exists() {
        return None;
    }
    for path in [git(&["rev-parse", "--git-path", "HEAD"])?, git(&["rev-parse", "--git-path", "logs/HEAD"])?]
    {
        println!("cargo:rerun-if-changed={path}");
    }
    ["src", "shaders", "Cargo.toml"].iter().for_each(|path| println!("cargo:rerun-if-changed={path}"));
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--", "src", "shaders", "Cargo.toml", "Cargo.lock"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}-dirty") })
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Version of a package as the lock file has it.
fn version_of(package: &str) -> Option<String> {
    let lock = std::fs::read_to_string("Cargo.lock").ok()?;
    let (_, entry) = lock.split_once(&format!("name = \"{package}\"\n"))?;
    let version = entry.lines().next()?.strip_prefix("version = \"")?;
    Some(version.trim_end_matches('"').to_owned())
}
