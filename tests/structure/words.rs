//! Size and words: functions that fit on a page, comments that fit on a line, and names of types that mean one thing.

use std::fs;

use crate::architecture::{behind, files_below, first_word, shown};

/// Lines of a function, at most.
const LONGEST_FUNCTION: usize = 100;
/// Characters of a line of comment, at most.
const LONGEST_COMMENT: usize = 140;

/// All sources of the library, with their paths.
fn sources() -> Vec<(String, String)> {
    let all = ["src", "shaders", "python/src", "web/engine/src"].into_iter().flat_map(files_below);
    let code = all.filter(|path| path.extension().is_some_and(|kind| kind == "rs" || kind == "wgsl"));
    code.map(|path| (shown(&path), fs::read_to_string(&path).expect("a source file"))).collect()
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
