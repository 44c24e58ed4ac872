//! Long checks: those of `tests/long.sh`, each of which names the checks of every run that notice the same mistakes.

use std::collections::BTreeMap;

use crate::architecture::{behind, first_word, sources_below};

/// Begin of the reason why a test is left out of every run.
const LONG: &str = "#[ignore = \"long; in short: ";

/// Tests of a file, each with the names of the short ones that stand for it, where it is long.
fn tests(module: &str, text: &str) -> Vec<(String, Option<Vec<String>>)> {
    let mut found = Vec::new();
    for of_test in text.split("#[test]\n").skip(1) {
        let head = of_test.split_once("fn ").map_or("", |(head, _)| head);
        let name = behind(of_test, "fn ").next().map(first_word).unwrap_or_default();
        let short = head.contains("#[ignore").then(|| {
            let names = head.split(LONG).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
            names.split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect()
        });
        found.push((format!("{module}{name}"), short));
    }
    found
}

/// What is wrong with the long tests among these.
fn faults(tests: &BTreeMap<String, Option<Vec<String>>>) -> Vec<String> {
    let is_short = |name: &String| tests.get(name).is_some_and(Option::is_none);
    let long = tests.iter().filter_map(|(name, short)| Some((name, short.as_ref()?)));
    let fault = |(name, short): (&String, &Vec<String>)| match short.iter().find(|name| !is_short(name)) {
        _ if short.is_empty() => {
            Some(format!("`{name}` is ignored, and names no test that stands for it in every run"))
        }
        Some(other) => Some(format!("`{name}` names `{other}`, which is no test of every run")),
        None => None,
    };
    long.filter_map(fault).collect()
}

/// Name of the module of a file of tests, as test names begin with it: `gpu_stages::`.
fn module_of(file: &str) -> String {
    let inside = file.strip_prefix("tests/engines/").unwrap_or(file).trim_end_matches(".rs");
    format!("{}::", inside.replace('/', "::"))
}

#[test]
fn every_long_check_names_short_ones_that_notice_the_same() {
    let files = sources_below(&["tests/engines"], &["rs"]);
    let all: BTreeMap<String, Option<Vec<String>>> =
        files.iter().flat_map(|(file, text)| tests(&module_of(file), text)).collect();
    assert!(all.len() > 300 && all.values().any(Option::is_some), "{} tests found", all.len());
    assert_eq!(faults(&all), [""; 0]);
}

#[test]
fn a_long_check_without_a_short_one_is_noticed() {
    let of = |text: &str| faults(&tests("a::", text).into_iter().collect());
    let long = |names: &str| {
        format!(
            "#[test]\n#[ignore = \"long; in short: {names}\"]\nfn long() {{}}\n#[test]\nfn short() {{}}\n"
        )
    };
    assert_eq!(of(&long("a::short")), [""; 0]);
    assert_eq!(of(&long("a::gone")), ["`a::long` names `a::gone`, which is no test of every run"]);
    assert_eq!(of(&long("a::short, a::long")).len(), 1, "a long one stands for nothing");
    assert_eq!(of("#[test]\n#[ignore]\nfn f() {}\n").len(), 1);
}
