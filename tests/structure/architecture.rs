//! Architecture: which module may import which, and which paths a file may name.
//!
//! ```text
//! main → cli → validation, study → simulation → scenario → render → output → observe ─┐
//!         │                                      └─ checkpoint ─┐                     │
//!         └──→ cpu | gpu ◄──────────────────────────────────────┘ ────────────────────┴→ engine → contact → settings, model → law, shape
//! ```
//!
//! `cpu` and `gpu` never import each other, the modules that observe and write import neither, and only `gpu`
//! knows of the graphics interface. `bench`, between `cli` and `scenario`, imports both and compares them. `ranks`, an engine over `cpu`, is
//! named by `cli` alone.
#![allow(clippy::expect_used, reason = "a failed expectation fails the test")]

use std::fs;
use std::path::{Component, Path, PathBuf};

/// A module of the crate, the modules it may name, and nothing else.
const MAY_NAME: [(&str, &[&str]); 29] = [
    ("error", &[]),
    ("files", &["error"]),
    // What a formula of the contact law depends on is given to it.
    ("law", &[]),
    ("shape", &[]),
    ("model", &["shape", "law", "error"]),
    ("contact", &["settings", "model", "law", "error"]),
    ("settings", &["law", "error"]),
    ("sources", &["model", "law", "error"]),
    ("oracle", &["model", "law", "contact"]),
    ("engine", &["settings", "contact", "model", "shape", "law", "error"]),
    // Its unit tests ask the oracle.
    ("cpu", &["oracle", "engine", "settings", "contact", "model", "shape", "law", "error"]),
    ("ranks", &["cpu", "engine", "settings", "contact", "model", "shape", "law", "error"]),
    // A local problem is made of a substep of `cpu`, and solved with its formulas.
    ("local", &["output", "cpu", "engine", "settings", "contact", "model", "law", "error"]),
    ("gpu", &["engine", "settings", "contact", "model", "shape", "law", "error"]),
    ("observe", &["engine", "settings", "contact", "model", "shape", "law", "error"]),
    ("output", &["observe", "engine", "settings", "contact", "model", "law", "files", "error"]),
    ("render", &["output", "observe", "engine", "settings", "contact", "model", "law", "files", "error"]),
    // A state is read as the engine that saved it wrote it.
    (
        "checkpoint",
        &["output", "cpu", "gpu", "engine", "settings", "contact", "model", "law", "files", "error"],
    ),
    (
        "scenario",
        &[
            "checkpoint",
            "render",
            "output",
            "observe",
            "engine",
            "sources",
            "settings",
            "contact",
            "model",
            "shape",
            "law",
            "files",
            "error",
        ],
    ),
    (
        "simulation",
        &[
            "scenario",
            "checkpoint",
            "render",
            "output",
            "observe",
            "cpu",
            "gpu",
            "engine",
            "sources",
            "settings",
            "contact",
            "model",
            "law",
            "files",
            "error",
        ],
    ),
    (
        "validation",
        &[
            "simulation",
            "scenario",
            "output",
            "observe",
            "engine",
            "settings",
            "contact",
            "model",
            "law",
            "files",
            "error",
        ],
    ),
    (
        "study",
        &[
            "simulation",
            "scenario",
            "output",
            "observe",
            "engine",
            "settings",
            "contact",
            "model",
            "law",
            "files",
            "error",
        ],
    ),
    (
        "bench",
        &[
            "scenario", "output", "observe", "cpu", "gpu", "engine", "settings", "contact", "model", "law",
            "files", "error",
        ],
    ),
    ("import", &["scenario", "model", "law", "files", "error"]),
    (
        "cli",
        &[
            "bench",
            "import",
            "study",
            "validation",
            "simulation",
            "scenario",
            "checkpoint",
            "render",
            "output",
            "observe",
            "local",
            "ranks",
            "cpu",
            "gpu",
            "engine",
            "sources",
            "settings",
            "contact",
            "model",
            "law",
            "files",
            "error",
        ],
    ),
    ("theory", &[]),
    ("guide", &["engine"]),
    ("lib", &[]),
    ("main", &["cli"]),
];

/// External crates that few modules may use.
const KEPT: [(&str, &[&str]); 19] = [
    ("postcard", &["engine"]),
    ("wgpu", &["gpu"]),
    ("naga", &["gpu"]),
    ("encase", &["gpu"]),
    ("exmex", &["import"]),
    ("clap", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("indicatif", &["cli"]),
    ("etcetera", &["cli"]),
    ("http_body_util", &["cli"]),
    ("hyper", &["cli"]),
    ("hyper_util", &["cli"]),
    ("tokio", &["cli"]),
    ("gif", &["render"]),
    ("ab_glyph", &["render"]),
    ("colorous", &["render"]),
    ("roxmltree", &["output", "import"]),
    ("plotters", &["study"]),
];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a folder of the repository, in order.
pub fn files_below(folder: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the repository").flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

/// Texts of the sources of these kinds below the folders, each with its path from the root.
pub fn sources_below(folders: &[&str], kinds: &[&str]) -> Vec<(String, String)> {
    let is_one =
        |path: &PathBuf| path.extension().is_some_and(|kind| kinds.iter().any(|known| kind == *known));
    let paths = folders.iter().copied().flat_map(files_below).filter(is_one);
    paths.map(|path| (shown(&path), fs::read_to_string(&path).expect("a source file"))).collect()
}

/// The text of a source file before its unit tests.
pub fn without_unit_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// Path from the root of the repository, with slashes.
pub fn shown(path: &Path) -> String {
    let parts = path.strip_prefix(root()).expect("a file of the repository").components();
    parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// Top-level module that a source file belongs to: `gpu` for `src/gpu/layout.rs`.
fn module_of(file: &str) -> &str {
    let inside = file.strip_prefix("src/").unwrap_or(file);
    inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs")
}

/// The text without its comments; documentation may link to anything.
pub fn code(text: &str) -> String {
    let uncommented = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
    text.lines().map(uncommented).collect::<Vec<_>>().join("\n")
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Text behind each `prefix` that is not the end of a longer word.
pub fn behind<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let starts_word = |&(at, _): &(usize, &str)| !text[..at].ends_with(is_word);
    text.match_indices(prefix).filter(starts_word).map(move |(at, _)| &text[at + prefix.len()..])
}

pub fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|&character| is_word(character)).collect()
}

/// Modules named behind `crate::`: one, or all those of a list in braces.
fn named_modules(code: &str, crate_name: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in behind(code, crate_name) {
        let Some(list) = rest.strip_prefix('{') else {
            names.push(first_word(rest));
            continue;
        };
        let (mut depth, mut starts) = (1, vec![0]);
        for (at, character) in list.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 1 => starts.push(at + 1),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        names.extend(
            starts.into_iter().map(|start| first_word(&list[start..])).filter(|name| !name.is_empty()),
        );
    }
    names
}

/// Lines of a file, at most: beyond that it holds more than one thing.
const MOST_LINES: usize = 600;

/// Those of the files that are too long.
fn too_long(files: impl IntoIterator<Item = (String, String)>) -> Vec<String> {
    let lengths = files.into_iter().map(|(file, text)| (file, text.lines().count()));
    lengths
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(file, lines)| format!("{file}: {lines} lines"))
        .collect()
}

#[test]
fn no_file_has_over_600_lines() {
    assert_eq!(too_long(sources_below(&["src", "shaders"], &["rs", "wgsl"])), [""; 0]);
    let long = ("long.rs".to_owned(), "\n".repeat(MOST_LINES + 1));
    assert_eq!(too_long([long]), ["long.rs: 601 lines"], "the check can fail");
}

/// Modules and crates that a source file names but must not.
fn faults(file: &str, text: &str) -> Vec<String> {
    let module = module_of(file);
    let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == module) else {
        return vec![format!("{file}: module `{module}` has no place in the order of imports")];
    };
    let code = code(text);
    let mut named = named_modules(&code, "crate::");
    named.extend(named_modules(&code, "esker::"));
    // `super::` of a file right below src/ is the crate; inner test modules are indented.
    if !file.trim_start_matches("src/").contains('/') {
        let outer: Vec<&str> = code.lines().filter(|line| !line.starts_with(' ')).collect();
        named.extend(named_modules(&outer.join("\n"), "super::"));
    }
    let is_wrong = |name: &String| name != module && !allowed.contains(&name.as_str());
    let mut faults: Vec<String> = named
        .into_iter()
        .filter(is_wrong)
        .map(|name| format!("{file}: `{module}` must not name `{name}`"))
        .collect();
    for (kept, owners) in KEPT.into_iter().filter(|(_, owners)| !owners.contains(&module)) {
        let paths = behind(&code, kept).filter(|rest| rest.starts_with("::") || rest.starts_with(';'));
        faults.extend(paths.map(|_| format!("{file}: only `{}` knows of {kept}", owners.join("` and `"))));
    }
    faults
}

/// Paths in a text that lead out of the repository, or to a folder `shared` that is not that of the
/// shaders. `file` is the path of the text from the root.
fn stray_paths(file: &str, text: &str) -> Vec<String> {
    let is_path = |character: char| is_word(character) || "./-".contains(character);
    let paths = text.split(|character: char| !is_path(character)).filter(|path| path.contains('/'));
    let leads_out = |path: &&str| {
        let depth = file.matches('/').count() as i32;
        let step = |depth: i32, part: Component<'_>| match part {
            Component::ParentDir => depth - 1,
            Component::Normal(_) => depth + 1,
            _ => depth,
        };
        let mut lowest = depth;
        Path::new(path).components().fold(depth, |depth, part| {
            lowest = lowest.min(step(depth, part));
            step(depth, part)
        });
        lowest < 0
    };
    let is_other_shared = |path: &&str| {
        let parts: Vec<&str> = path.split('/').collect();
        let Some(at) = parts.iter().position(|&part| part == "shared") else { return false };
        let of_shaders = match at.checked_sub(1) {
            Some(before) => parts[before] == "shaders",
            None => root().join("shaders").join(path).exists(),
        };
        !of_shaders
    };
    paths
        .filter(|path| leads_out(path) || is_other_shared(path))
        .map(|path| format!("{file}: {path}"))
        .collect()
}

/// Every text of the repository, with its path.
fn all_texts() -> Vec<(String, String)> {
    let folders = [
        "src",
        "shaders",
        "scenarios",
        "tests",
        "findings",
        ".ci",
        ".github",
        "web/bindgen",
        "web/engine",
        "web/page",
    ]
    .into_iter()
    .flat_map(files_below);
    let optional =
        ["benches", "examples", "python"].into_iter().filter(|folder| root().join(folder).is_dir());
    let single = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "Cargo.toml"]
        .map(|name| root().join(name));
    folders
        .chain(optional.flat_map(files_below))
        .chain(single)
        .filter_map(|path| Some((shown(&path), fs::read_to_string(&path).ok()?)))
        .collect()
}

#[test]
fn modules_name_only_those_below_them() {
    let sources = sources_below(&["src"], &["rs"]);
    assert!(sources.len() > 50, "found only {} source files", sources.len());
    let faults: Vec<String> = sources.iter().flat_map(|(file, text)| faults(file, text)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_module_has_its_place_in_the_order() {
    let lib = fs::read_to_string(root().join("src/lib.rs")).expect("the library");
    let declared: Vec<String> = behind(&code(&lib), "pub mod ").map(first_word).collect();
    assert!(declared.contains(&"gpu".to_owned()), "{declared:?}");
    for module in &declared {
        assert!(MAY_NAME.iter().any(|(name, _)| name == module), "`{module}` is not in the order of imports");
    }
}

#[test]
fn a_made_up_import_against_the_order_is_refused() {
    let refused = [
        ("src/cpu/sweep.rs", "use crate::gpu::GpuEngine;"),
        ("src/cpu.rs", "use crate::{error::{self, Error}, gpu::layout};"),
        ("src/gpu/step.rs", "    let twin = crate::cpu::sweep::project;"),
        ("src/gpu.rs", "use super::cpu;"),
        ("src/observe/flow.rs", "use crate::gpu::device;"),
        ("src/output.rs", "pub(crate) use crate::cpu::CpuEngine;"),
        ("src/cpu/sweep.rs", "fn upload(device: &wgpu::Device) {}"),
        ("src/model/shape.rs", "use crate::engine::Snapshot;"),
        ("src/main.rs", "use esker::gpu::GpuEngine;"),
        ("src/sorting.rs", "// a module that nobody placed"),
    ];
    for (file, line) in refused {
        assert_eq!(faults(file, line).len(), 1, "{file}: {line}");
    }
    let accepted = [
        ("src/cpu/sweep.rs", "use crate::{contact::{Colouring, Key}, model::World};"),
        ("src/cpu.rs", "/// As [`crate::gpu`] does.\nuse std::time::Instant; // crate::gpu"),
        ("src/gpu/step.rs", "use super::layout;\nlet not_a_path = my_crate::cpu;"),
        ("src/observe.rs", "mod tests {\n    use super::*;\n}"),
    ];
    for (file, line) in accepted {
        assert_eq!(faults(file, line), Vec::<String>::new(), "{file}: {line}");
    }
}

#[test]
fn no_file_points_out_of_the_repository() {
    let texts = all_texts();
    assert!(texts.iter().any(|(file, _)| file == "README.md"), "the README is among the texts");
    let stray: Vec<String> = texts.iter().flat_map(|(file, text)| stray_paths(file, text)).collect();
    assert!(stray.is_empty(), "\n{}", stray.join("\n"));
}

#[test]
fn a_made_up_path_out_of_the_repository_is_refused() {
    let [up, folder] = ["..", "shared"];
    let notes = format!("see {up}/{folder}/notes.md");
    assert_eq!(stray_paths("README.md", &notes).len(), 1);
    assert_eq!(stray_paths("src/theory.rs", &notes).len(), 1, "no such folder beside src/");
    assert_eq!(stray_paths("src/theory.rs", &format!("{up}/{folder}")).len(), 1);
    assert_eq!(stray_paths("src/theory.rs", &format!("{up}/{up}/notes.md")).len(), 1);
    assert_eq!(stray_paths("src/theory.rs", &format!("/work/{folder}/notes.md")).len(), 1);
    let fine = format!("{up}/{up}/shaders/{folder}/types.wgsl, {folder}/plan.wgsl, {up}/scenarios/pile.toml");
    assert_eq!(stray_paths("src/gpu/shader.rs", &fine), Vec::<String>::new());
}
