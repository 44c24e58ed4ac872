//! Validation suite: scenarios with known answers, run one after the other by `esker validate`.
//!
//! ```toml
//! title = "Contact laws"
//!
//! [[case]]
//! file = "n7_incline.toml"        # beside the suite; its [expect] table holds the answers
//! name = "incline"                # default: the name of the file; a folder of this name takes the results
//! title = "Sphere on an incline"
//! source = "closed form"          # where the answers come from
//! class = "short"                 # or "long": run with --long, or by name
//! engines = "both"                # or "cpu"
//! limit = "..."                   # a known difference, in a sentence; default none
//! vary = { "materials.stone.friction" = [0.1, 0.5], "expect.speed.value" = [2.7, 2.5] }
//!
//! [[case.across]]
//! of = "speed"                    # label of an expectation, or a quantity at the end of the run
//! take = "falls"
//! ```
//!
//! `vary` runs the scenario once per value; its keys are those of `--set`, and the lists of several keys are varied in parallel. The values
//! of the first key are the varied numbers. `[[case.across]]` judges how a number changes from run to run:
//!
//! | `take` | The number | judged by |
//! |---|---|---|
//! | `"rises"`, `"falls"` | largest step against the direction | `slack`, default 0 |
//! | `"exponent"` | least-squares slope of its logarithm over that of the varied number less `offset` (default 0) | bounds |
//! | `"spread"` | largest minus smallest | bounds |
//! | `"ratio"` | last over first | bounds |
//! | `"mean"` | mean over the runs | bounds |
//!
//! Bounds are written as in an [expectation](super::expect): `value` with a tolerance, `at_least`, `at_most`, `shown_only`.

use std::path::{Path, PathBuf};

use super::document::FileKind;
use super::expect::{bounds, slack};
use super::problems::{Problem, Problems};
use super::read::{FILE_NAME_ADVICE, FINITE, Node, Table, file_name, is_file_name, number, text, word};
use super::{Scenario, each, read_file};
use crate::error::suggest;
use crate::observe::bounds::Bounds;

/// Suite of scenarios with known answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Title line.
    pub title: String,
    /// Cases in the order in which they are run.
    pub cases: Vec<SuiteCase>,
    /// File that the suite was read from.
    pub file: PathBuf,
}

/// Case of a suite: one scenario, or several variations of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SuiteCase {
    /// Name, unique within the suite.
    pub name: String,
    /// File of the scenario.
    pub file: PathBuf,
    /// Title line: what the case shows.
    pub title: String,
    /// Source of the known answers.
    pub source: String,
    /// Duration class of the case.
    pub class: CaseClass,
    /// Engines that run the case.
    pub engines: Engines,
    /// Known difference from the answers, in a sentence, if there is one.
    pub limit: Option<String>,
    /// Variations, each one run; a single one without changes if nothing is varied.
    pub variations: Vec<Variation>,
    /// Judgements across the runs.
    pub across: Vec<Across>,
}

/// Duration class of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseClass {
    /// Seconds.
    Short,
    /// Minutes and more.
    Long,
}

/// Engines that run a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engines {
    /// Both engines.
    Both,
    /// The CPU engine.
    Cpu,
}

/// Variation of a case: one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Variation {
    /// Label that distinguishes the run, such as `friction = 0.1`; empty if there is only one run.
    pub label: String,
    /// Value of the varied key, if it is a number.
    pub number: Option<f64>,
    /// Overrides of the scenario, as `--set` takes them.
    pub overrides: Vec<String>,
}

/// Judgement across the runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Across {
    /// Label of an expectation, or a quantity at the end of the run.
    pub of: String,
    /// Reduction of the values of all runs to one number.
    pub take: TakeAcross,
    /// Bounds of that number.
    pub bounds: Bounds,
}

/// Reduction of the values of several runs to one number; see the [module](self).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TakeAcross {
    /// Largest decrease from run to run.
    Rises,
    /// Largest increase from run to run.
    Falls,
    /// Least-squares slope of the logarithm of the value over the logarithm of the varied number less `offset`.
    Exponent {
        /// Number that is subtracted from the varied number.
        offset: f64,
    },
    /// Largest value minus smallest.
    Spread,
    /// Last value over the first.
    Ratio,
    /// Mean over the runs.
    Mean,
}

impl TakeAcross {
    /// Returns the word for the reduction in a suite file.
    pub fn word(self) -> &'static str {
        match self {
            TakeAcross::Rises => "rises",
            TakeAcross::Falls => "falls",
            TakeAcross::Exponent { .. } => "exponent",
            TakeAcross::Spread => "spread",
            TakeAcross::Ratio => "ratio",
            TakeAcross::Mean => "mean",
        }
    }
}

impl Suite {
    /// Reads a suite.
    ///
    /// # Errors
    /// All mistakes in the suite file; mistakes in its scenarios are found by [`SuiteCase::scenarios`].
    pub fn load(path: &Path) -> Result<Suite, Problems> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let suite = read_file(path, FileKind::Suite, |root, _| root.read(|root| Some(suite(root, folder))))?;
        Ok(Suite { file: path.to_owned(), ..suite })
    }

    /// Returns the cases with these names; without names all short cases, and also the long ones if `with_long` is set.
    ///
    /// # Errors
    /// Names that no case has.
    pub fn select(&self, names: &[String], with_long: bool) -> Result<Vec<&SuiteCase>, Problems> {
        let known = self.cases.iter().map(|case| case.name.as_str());
        let is_unknown = |name: &&String| !known.clone().any(|known| known == *name);
        let complain = |name: &String| {
            Problem::of(format!("--case {name}"), "there is no such case").help(suggest(name, known.clone()))
        };
        let problems: Vec<Problem> = names.iter().filter(is_unknown).map(complain).collect();
        if !problems.is_empty() {
            return Err(Problems::new(&self.title, problems));
        }
        let is_wanted = |case: &&SuiteCase| match names {
            [] => with_long || case.class == CaseClass::Short,
            names => names.contains(&case.name),
        };
        Ok(self.cases.iter().filter(is_wanted).collect())
    }
}

impl SuiteCase {
    /// Reads the scenario of every variation. The time series is the only output that is kept.
    ///
    /// # Errors
    /// All mistakes in the first scenario that is wrong.
    pub fn scenarios(&self) -> Result<Vec<Scenario>, Problems> {
        let load = |variation: &Variation| {
            let output = "output.formats=[\"csv\"]".to_owned();
            Scenario::load(&self.file, &[&variation.overrides[..], &[output]].concat())
        };
        self.variations.iter().map(load).collect()
    }
}

fn suite(root: &mut Table<'_>, folder: &Path) -> Suite {
    let title = root.get("title", text).unwrap_or_default();
    let cases = each(root, "case", |_, table| case(table, folder));
    if !root.has("case") {
        root.problem("a suite without cases", "add [[case]]");
    }
    for (i, case) in cases.iter().enumerate() {
        if cases[..i].iter().any(|other| other.name == case.name) {
            let message = format!("two cases are named \"{}\"", case.name);
            root.problem(message, "give one of them another `name`");
        }
    }
    Suite { title, cases, file: PathBuf::new() }
}

fn case(table: &mut Table<'_>, folder: &Path) -> Option<SuiteCase> {
    let file = table.get("file", text).map(|name| folder.join(name));
    let stem = file.as_ref().and_then(|path| path.file_stem()).unwrap_or_default();
    // The results go to a folder of this name.
    let name = table.or("name", stem.to_string_lossy().into_owned(), file_name);
    let is_given = table.has("name");
    if !is_given && file.is_some() && !is_file_name(&name) {
        let message = format!("\"{name}\", the name of the file, is no name of a case");
        table.problem(message, format!("add `name`: {FILE_NAME_ADVICE}"));
    }
    let (title, source) = (table.get("title", text), table.get("source", text));
    let class = match table.or("class", "short", word(&["short", "long"])) {
        "long" => CaseClass::Long,
        _ => CaseClass::Short,
    };
    let engines = match table.or("engines", "both", word(&["both", "cpu"])) {
        "cpu" => Engines::Cpu,
        _ => Engines::Both,
    };
    let limit = table.maybe("limit", text);
    let variations = match table.has("vary") {
        true => table.maybe("vary", |node| node.table(variations)),
        false => Some(vec![Variation::default()]),
    };
    if table.has("across") && !table.has("vary") {
        table.problem("`across` judges several runs, and there is one", "add `vary`");
    }
    let numbers: Option<Vec<f64>> = variations.iter().flatten().map(|variation| variation.number).collect();
    let across = each(table, "across", |_, table| across(table, numbers.as_deref()));
    Some(SuiteCase {
        name,
        file: file?,
        title: title?,
        source: source?,
        class,
        engines,
        limit,
        variations: variations?,
        across,
    })
}

/// Reads `vary`: a table of lists of equal length.
fn variations(table: &mut Table<'_>) -> Option<Vec<Variation>> {
    let mut variations: Vec<Variation> = Vec::new();
    for (i, (key, span, node)) in table.named().into_iter().enumerate() {
        let values = node.elements()?;
        if i == 0 {
            variations = values.iter().map(|value| first_change(&key, value)).collect();
        }
        if values.len() < 2 || values.len() != variations.len() {
            table.report.problem(
                &span,
                format!("`{key}` has {} values, the first key of `vary` {}", values.len(), variations.len()),
                "give every key the same number of values, two at least",
            );
            return None;
        }
        for (variation, value) in variations.iter_mut().zip(&values) {
            variation.overrides.push(format!("{key}={}", value.written()));
        }
    }
    if variations.is_empty() {
        table.problem(
            format!("`{}` varies nothing", table.name()),
            "for example vary = { \"solver.iterations\" = [20, 50] }",
        );
        return None;
    }
    Some(variations)
}

/// Variation that is labelled by the value of the first key.
fn first_change(key: &str, value: &Node<'_>) -> Variation {
    let label = format!("{} = {}", short_name(key), value.written());
    Variation { label, number: value.as_number(), overrides: Vec::new() }
}

/// Short form of a key: its last word and the indices after it, such as `friction` or `velocity.0`.
pub(super) fn short_name(key: &str) -> &str {
    let is_word = |part: &&str| part.parse::<usize>().is_err();
    let start = key.rsplit('.').find(is_word).and_then(|word| key.rfind(word)).unwrap_or_default();
    &key[start..]
}

/// Reads one table of `across`. `numbers` are the values of the varied key, if they are numbers.
fn across(table: &mut Table<'_>, numbers: Option<&[f64]>) -> Option<Across> {
    const TAKES: &[&str] = &["rises", "falls", "exponent", "spread", "ratio", "mean"];
    let of = table.get("of", text);
    let Some(take) = table.get("take", word(TAKES)) else {
        table.leave_keys_unjudged();
        return None;
    };
    let take = match take {
        "rises" => TakeAcross::Rises,
        "falls" => TakeAcross::Falls,
        "spread" => TakeAcross::Spread,
        "ratio" => TakeAcross::Ratio,
        "mean" => TakeAcross::Mean,
        _ => exponent(table, numbers)?,
    };
    let bounds = match take {
        TakeAcross::Rises | TakeAcross::Falls => Some(slack(table)),
        _ => bounds(table),
    };
    Some(Across { of: of?, take, bounds: bounds? })
}

fn exponent(table: &mut Table<'_>, numbers: Option<&[f64]>) -> Option<TakeAcross> {
    let offset = table.or("offset", 0.0, number(FINITE));
    if numbers.is_none_or(|numbers| numbers.iter().any(|number| *number <= offset)) {
        table.problem(
            format!("`{}` takes the logarithm of what is no positive number", table.name()),
            "the first key of `vary` must have numbers above `offset`",
        );
        table.leave_keys_unjudged();
        return None;
    }
    Some(TakeAcross::Exponent { offset })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
title = "Laws"
[[case]]
file = "incline.toml"
title = "Incline"
source = "closed form"
vary = { "materials.stone.friction" = [0.1, 0.5], "expect.speed.value" = [2.7, 2.5] }
[[case.across]]
of = "speed"
take = "exponent"
at_least = -1.0
[[case]]
name = "settle"
file = "bed.toml"
title = "Bed"
source = "another code"
class = "long"
engines = "cpu"
"#;

    fn load(text: &str) -> Result<Suite, Problems> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("suite.toml");
        std::fs::write(&file, text).expect("written");
        Suite::load(&file)
    }

    fn names(cases: &[&SuiteCase]) -> Vec<String> {
        cases.iter().map(|case| case.name.clone()).collect()
    }

    #[test]
    fn lists_that_are_varied_go_in_parallel() {
        let suite = load(GOOD).expect("good");
        let case = &suite.cases[0];
        assert_eq!(
            (case.name.as_str(), case.class, case.engines),
            ("incline", CaseClass::Short, Engines::Both)
        );
        let second = &case.variations[1];
        assert_eq!((second.label.as_str(), second.number), ("friction = 0.5", Some(0.5)));
        assert_eq!(second.overrides, ["materials.stone.friction=0.5", "expect.speed.value=2.5"]);
        assert_eq!(case.across[0].take, TakeAcross::Exponent { offset: 0.0 });
        assert_eq!(suite.cases[1].variations, [Variation::default()]);
        assert_eq!(suite.cases[1].engines, Engines::Cpu);
    }

    #[test]
    fn a_variation_is_named_by_the_end_of_its_key() {
        let text = GOOD.replace("materials.stone.friction", "grains.0.velocity.0");
        let suite = load(&text).expect("good");
        assert_eq!(suite.cases[0].variations[0].label, "velocity.0 = 0.1");
    }

    #[test]
    fn long_cases_are_run_when_they_are_asked_for() {
        let suite = load(GOOD).expect("good");
        let select = |wanted: &[&str], with_long| {
            let wanted: Vec<String> = wanted.iter().map(|&name| name.to_owned()).collect();
            suite.select(&wanted, with_long).map(|cases| names(&cases))
        };
        assert_eq!(select(&[], false).expect("short"), ["incline"]);
        assert_eq!(select(&[], true).expect("all"), ["incline", "settle"]);
        assert_eq!(select(&["settle"], false).expect("named"), ["settle"]);
        let unknown = select(&["setle"], false).expect_err("no such case").to_string();
        assert!(
            unknown.contains("--case setle: there is no such case (did you mean `settle`?)"),
            "{unknown}"
        );
    }

    #[test]
    fn mistakes_in_a_suite_are_told() {
        for (old, new, words) in [
            ("[2.7, 2.5]", "[2.7]", "`expect.speed.value` has 1 values, the first key of `vary` 2"),
            ("\"exponent\"", "\"exponant\"", "did you mean `exponent`?"),
            ("[0.1, 0.5]", "[0.0, 0.5]", "takes the logarithm of what is no positive number"),
            ("at_least = -1.0", "", "`case.0.across.0` expects nothing"),
            ("name = \"settle\"", "name = \"incline\"", "two cases are named \"incline\""),
            ("\"long\"", "\"slow\"", "which is unknown"),
            ("class =", "clas =", "did you mean `class`?"),
            ("source = \"closed form\"\n", "", "missing key `source` in `case.0`"),
            ("file = \"bed.toml\"\n", "", "missing key `file` in `case.1`"),
        ] {
            assert!(GOOD.contains(old), "{old}");
            let found = load(&GOOD.replacen(old, new, 1)).expect_err(words).to_string();
            assert!(found.contains(words), "no \"{words}\" in\n{found}");
        }
    }
}
