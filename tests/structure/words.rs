//! Size and words: functions that fit on a page, comments that fit on a line, and names of types that mean one thing.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::{behind, first_word, sources_below, without_unit_tests};

/// Lines of a function, at most.
const LONGEST_FUNCTION: usize = 100;
/// Characters of a line of comment, at most.
const LONGEST_COMMENT: usize = 140;

/// All sources of the library, with their paths.
fn sources() -> Vec<(String, String)> {
    sources_below(&["src", "shaders", "python/src", "web/engine/src"], &["rs", "wgsl"])
}

/// Functions that are too long. A function ends at the first brace that stands as far to the left as its beginning, as it is formatted.
fn long_functions(file: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) =
            behind(line, "fn ").next().map(first_word).filter(|_| !line.trim_start().starts_with("//"))
        else {
            continue;
        };
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let length = lines[at..].iter().position(|line| *line == end).map_or(1, |length| length + 1);
        let has_body = !line.ends_with('}') && !line.ends_with(';');
        if has_body && length > LONGEST_FUNCTION {
            found.push(format!("{file}: `{name}` has {length} lines"));
        }
    }
    found
}

fn long_comments(file: &str, text: &str) -> Vec<String> {
    let comment = |line: &str| {
        line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!', ' ']).to_owned())
    };
    // A row of a table cannot be wrapped.
    let is_long = |line: &str| {
        line.chars().count() > LONGEST_COMMENT && comment(line).is_some_and(|text| !text.starts_with('|'))
    };
    let lines = text.lines().enumerate().filter(|(_, line)| is_long(line));
    lines.map(|(at, line)| format!("{file}:{}: {} characters", at + 1, line.chars().count())).collect()
}

#[test]
fn functions_fit_on_a_page_and_comments_on_a_line() {
    let sources = sources();
    assert!(sources.len() > 300, "found only {} sources", sources.len());
    let found: Vec<String> = sources
        .iter()
        .flat_map(|(file, text)| long_functions(file, text).into_iter().chain(long_comments(file, text)))
        .collect();
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn what_is_too_long_is_noticed() {
    let function = |lines: usize| {
        format!("impl A {{\n    fn of() {{\n{}    }}\n}}\n", "        f();\n".repeat(lines - 2))
    };
    assert_eq!(long_functions("a.rs", &function(LONGEST_FUNCTION)), [""; 0]);
    assert_eq!(long_functions("a.rs", &function(LONGEST_FUNCTION + 1)), ["a.rs: `of` has 101 lines"]);
    assert_eq!(long_comments("a.rs", &format!("// {}\n", "x".repeat(LONGEST_COMMENT - 3))), [""; 0]);
    assert_eq!(
        long_comments("a.rs", &format!("\n// {}\n", "x".repeat(LONGEST_COMMENT - 2))),
        ["a.rs:2: 141 characters"]
    );
}

/// Names of types that stand in two files, with the reason. Twins on the device have the name of what they are the twins of.
const TWICE: [(&str, &str); 20] = [
    ("Arguments", "of one command of the program each"),
    ("BoundaryState", "twin"),
    ("Device", "of the engine, and what a simulation is asked to run on"),
    ("DeviceChoice", "of the program, and of the engine"),
    ("Entry", "of the grid, on either engine"),
    ("Joint", "twin"),
    ("JointRow", "twin"),
    ("Machine", "twin"),
    ("Meter", "twin"),
    ("Method", "of the settings, and its stages on the device"),
    ("Open", "opens an engine, for a study and for a suite"),
    ("Overflow", "twin of the data, and how overflow contacts are solved"),
    ("Sink", "twin"),
    ("Sphere", "twin"),
    ("Surface", "twin"),
    ("Taken", "by a sink, and from a state"),
    ("Turn", "of a kernel, and of a run"),
    ("Velocity", "twin"),
    ("Wanted", "of a launch, and of a dump"),
    ("Work", "of a step, and of a stage"),
];

/// Files of each type, by its name; types within functions and in tests have no name outside.
fn homes(sources: &[(String, String)]) -> BTreeMap<String, BTreeSet<&str>> {
    let mut homes = BTreeMap::<String, BTreeSet<&str>>::new();
    for (file, text) in
        sources.iter().filter(|(file, _)| file.starts_with("src/") && !file.contains("/tests"))
    {
        let code = without_unit_tests(text);
        for line in code.lines().filter(|line| !line.starts_with("        ")) {
            let words: Vec<&str> = line
                .split_whitespace()
                .skip_while(|word| word.starts_with("pub") || word.ends_with(')'))
                .collect();
            let kinds: &[&str] = if line.starts_with(' ') {
                &["struct", "enum", "trait"]
            } else {
                &["struct", "enum", "trait", "type"]
            };
            if let [kind, name, ..] = words[..]
                && kinds.contains(&kind)
            {
                homes.entry(first_word(name)).or_default().insert(file);
            }
        }
    }
    homes
}

/// Names of types with more than one home that are not listed, and with more than two homes.
fn homonyms(sources: &[(String, String)]) -> Vec<String> {
    let is_listed = |name: &str| TWICE.iter().any(|(listed, _)| *listed == name);
    let homes = homes(sources);
    let many = homes.iter().filter(|(name, files)| match files.len() {
        0 | 1 => false,
        2 => !is_listed(name),
        _ => name.as_str() != "Arguments",
    });
    many.map(|(name, files)| format!("{name}: {files:?}")).collect()
}

#[test]
fn the_name_of_a_type_means_one_thing() {
    let sources = sources();
    assert_eq!(homonyms(&sources), [""; 0]);
    let homes = homes(&sources);
    let stale: Vec<&str> = TWICE
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| homes.get(*name).is_none_or(|files| files.len() < 2))
        .collect();
    assert_eq!(stale, [""; 0], "listed, and in one file only");
}

#[test]
fn a_name_for_two_things_is_noticed() {
    let of = |files: &[(&str, &str)]| {
        homonyms(
            &files.iter().map(|(file, text)| (format!("src/{file}"), (*text).to_owned())).collect::<Vec<_>>(),
        )
    };
    assert_eq!(of(&[("a.rs", "pub struct Place;"), ("b.rs", "enum Place {")]).len(), 1);
    assert_eq!(
        of(&[("a.rs", "pub struct Sphere {"), ("b.rs", "struct Sphere;"), ("c.rs", "type Sphere = f64;")])
            .len(),
        1,
        "three"
    );
    assert_eq!(
        of(&[("a.rs", "struct Place;"), ("b.rs", "#[cfg(test)]\nmod tests {\n    struct Place;\n}")]),
        [""; 0]
    );
}
