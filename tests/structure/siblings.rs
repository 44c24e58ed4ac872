//! Siblings: files and folders that lie beside each other name each other in one direction only. Where two of them named each other, none
//! could be understood, tested or replaced without the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::{behind, code, sources_below, without_unit_tests};

/// Path of a module from the root of a crate: `["gpu", "layout"]`.
type Module = Vec<String>;

/// Which siblings name which: two modules of one folder, and an example of a file that names the other.
type Arrows = BTreeMap<Module, BTreeMap<Module, String>>;

/// Modules of the files in a folder of sources, with their code but for their unit tests.
fn modules_below(folder: &str) -> BTreeMap<Module, String> {
    modules(folder, sources_below(&[folder], &["rs"]))
}

fn modules(folder: &str, texts: impl IntoIterator<Item = (String, String)>) -> BTreeMap<Module, String> {
    let module = |file: &str| -> Option<Module> {
        let inside = file.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
        let parts: Module = inside.split('/').map(str::to_owned).collect();
        let is_of_tests = parts.iter().any(|part| part == "tests");
        (!is_of_tests && inside != "lib" && inside != "main").then_some(parts)
    };
    texts
        .into_iter()
        .filter_map(|(file, text)| Some((module(&file)?, code(without_unit_tests(&text)))))
        .collect()
}

/// Paths that begin a text, as in `use`: one, or all those of a list in braces.
fn paths(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    read_paths(text, &Vec::new(), &mut found);
    found
}

/// Reads a path with its lists, and returns what follows it.
fn read_paths<'a>(text: &'a str, so_far: &Module, found: &mut Vec<Module>) -> &'a str {
    let mut path = so_far.clone();
    let mut rest = text.trim_start();
    loop {
        if let Some(list) = rest.strip_prefix('{') {
            rest = list.trim_start();
            while !rest.is_empty() && !rest.starts_with('}') {
                let after = read_paths(rest, &path, found)
                    .trim_start_matches(|next: char| next != ',' && next != '}');
                rest = after.strip_prefix(',').unwrap_or(after).trim_start();
            }
            return rest.strip_prefix('}').unwrap_or(rest);
        }
        let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(rest.len());
        path.push(rest[..end].to_owned());
        rest = &rest[end..];
        match rest.strip_prefix("::") {
            Some(inner) => rest = inner,
            None => break,
        }
    }
    found.push(path);
    rest
}

/// All paths in the code of a module, from the root of the crate.
fn named(module: &Module, code: &str) -> Vec<Module> {
    let from = |prefix: &'static str, base: Module| {
        let join = move |path: Module| base.iter().cloned().chain(path).collect::<Module>();
        behind(code, prefix).flat_map(paths).map(join).collect::<Vec<Module>>()
    };
    let parent = module[..module.len() - 1].to_vec();
    // `super` at the begin of a path stays in it, and leads one folder further up.
    let up = |mut path: Module| {
        while let Some(at) = path.iter().position(|part| part == "super") {
            path.drain(at.saturating_sub(1)..=at);
        }
        path
    };
    let all = from("crate::", Vec::new())
        .into_iter()
        .chain(from("super::", parent))
        .chain(from("self::", module.clone()));
    all.map(up).collect()
}

/// The arrows between siblings.
fn arrows(modules: &BTreeMap<Module, String>) -> Arrows {
    let mut arrows = Arrows::new();
    for (module, code) in modules {
        for path in named(module, code) {
            let Some(to) =
                (1..=path.len()).rev().map(|length| &path[..length]).find(|to| modules.contains_key(*to))
            else {
                continue;
            };
            let common = module.iter().zip(to).take_while(|(a, b)| a == b).count();
            if common < module.len() && common < to.len() {
                let [from, to] = [&module[..=common], &to[..=common]].map(<[String]>::to_vec);
                arrows
                    .entry(from)
                    .or_default()
                    .entry(to)
                    .or_insert_with(|| format!("{} names {}", module.join("/"), path.join("::")));
            }
        }
    }
    arrows
}

/// All modules that a module leads to.
fn reached<'a>(from: &'a Module, arrows: &'a Arrows) -> BTreeSet<&'a Module> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        let next = arrows.get(module).into_iter().flat_map(BTreeMap::keys);
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    seen
}

/// Arrows that lie on a circle, each in words.
fn circles(modules: &BTreeMap<Module, String>) -> Vec<String> {
    let arrows = arrows(modules);
    let on_circle = |from: &Module, to: &Module| reached(to, &arrows).contains(from);
    let all = arrows.iter().flat_map(|(from, to)| to.iter().map(move |(to, why)| (from, to, why)));
    all.filter(|(from, to, _)| on_circle(from, to))
        .map(|(from, to, why)| format!("{} and {} name each other: {why}", from.join("/"), to.join("/")))
        .collect()
}

#[test]
fn no_siblings_name_each_other() {
    for folder in ["src", "python/src"] {
        let modules = modules_below(folder);
        assert!(!modules.is_empty(), "{folder} has sources");
        let circles = circles(&modules);
        assert!(circles.is_empty(), "\n{}", circles.join("\n"));
    }
}

#[test]
fn siblings_that_name_each_other_are_noticed() {
    let of = |texts: &[(&str, &str)]| {
        circles(&modules("src", texts.iter().map(|(file, text)| (format!("src/{file}"), (*text).to_owned()))))
    };
    let there = ("cpu/sweep.rs", "use super::{problem::{self, Problem}, split};");
    assert_eq!(of(&[there, ("cpu/problem.rs", "use crate::cpu::sweep::Visit;")]).len(), 2, "a circle of two");
    let around = [
        there,
        ("cpu/problem.rs", "use super::split::Split;"),
        ("cpu/split.rs", "fn f() { super::sweep::g(); }"),
    ];
    assert_eq!(of(&around).len(), 4, "a circle of three, and one of two");
    let folders = [
        ("cpu/ranks/mpi.rs", "use super::super::sweep::CHUNK;"),
        ("cpu/ranks.rs", ""),
        ("cpu/sweep.rs", "use super::ranks::mpi;"),
    ];
    assert_eq!(of(&folders).len(), 2, "a folder counts as one");
    assert!(of(&[there, ("cpu/problem.rs", "// crate::cpu::sweep\n")]).is_empty(), "a comment names nothing");
    assert!(
        of(&[there, ("cpu.rs", "use sweep::A;"), ("cpu/problem.rs", "use super::Engine;")]).is_empty(),
        "parents are no siblings"
    );
    let in_tests = "fn f() {}\n#[cfg(test)]\nmod tests { use crate::cpu::sweep; }";
    assert!(of(&[there, ("cpu/problem.rs", in_tests)]).is_empty(), "unit tests may name all");
}
