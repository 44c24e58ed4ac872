//! Studies that are right, and every way to be wrong.

use std::path::{Path, PathBuf};

use super::*;

const SCENARIO: &str = r#"
duration = 1.0
[materials.stone]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.5
friction = 0.3
[[boundaries]]
name = "floor"
material = "stone"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "stone"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "column", count = 2, base = [0, 0, 0] }
"#;

const GOOD: &str = r#"title = "Good"
scenario = "case.toml"
[changes]
output.every = 0.5
[choices.start]
cold = { solver.warm_start = "cold" }
"kept twice" = { solver.warm_start = { kind = "history", fraction = 1.0 }, solver.substeps = 2 }
[axes]
grains.0.packing.count = [2, 3]
solver.iterations = [5, 10, 20]
[references.fine]
per = ["count"]
settings = { solver.time_step = 1e-3, solver.iterations = 50 }
[keep]
height = {}
speed = { of = "rms_speed", from = 0.5, until = 1.0 }
[numbers.given]
table = { by = "count", values = [[2, 0.04], [3, 0.06]] }
[numbers.error]
of = "height"
error_from = "fine:height"
[numbers.needed]
of = "error"
take = "needed"
below = 0.01
along = "iterations"
[numbers.gain]
of = { of = "needed", where = { start = "cold" } }
over = { of = "needed", where = { start = "kept twice" } }
take = "mean"
[numbers.work]
of = { of = "error", where = { start = "cold" } }
take = "needed"
below = 0.01
along = "iterations"
measured_in = "sweeps"
[numbers.finest]
of = "error"
where = { start = "cold", iterations = "last" }
[[finding]]
statement = "It helps."
number = "gain"
at_least = 2.0
[[plot]]
file = "error"
title = "Error"
x = "sweeps_per_second"
along = "iterations"
y = ["error", "speed"]
log = ["x"]
where = { count = 3 }
[[plot]]
file = "residual"
title = "Residual"
from = "convergence.csv"
x = "sweep"
y = "residual"
[labels]
error = "height error [-]"
[full.axes]
solver.iterations = [5, 500]
"#;

fn load(text: &str, size: Size) -> Result<Study, Problems> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("case.toml"), SCENARIO).expect("written");
    let file = folder.path().join("good.toml");
    std::fs::write(&file, text).expect("written");
    Study::load(&file, size)
}

fn good(size: Size) -> Study {
    load(GOOD, size).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn axes_stand_in_the_order_of_the_file_with_names_from_their_keys() {
    let study = good(Size::Quick);
    let names: Vec<&str> = study.axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["start", "count", "iterations"]);
    assert_eq!(study.changes, ["output.every=0.5"]);
    let kept_twice = &study.axes[0].values[1];
    assert_eq!(kept_twice.label, "kept twice");
    let settings = ["solver.warm_start={ kind = \"history\", fraction = 1.0 }", "solver.substeps=2"];
    assert_eq!(kept_twice.overrides, settings);
    assert_eq!(study.axes[2].numbers(), Some(vec![5.0, 10.0, 20.0]));
    assert_eq!(study.references[0].axes, [1]);
    assert_eq!(study.label("error"), "height error [-]");
}

#[test]
fn a_number_depends_on_the_axes_that_are_left() {
    let study = good(Size::Quick);
    let axes: Vec<&[usize]> = study.numbers.iter().map(|number| number.axes.as_slice()).collect();
    assert_eq!(axes, [&[1][..], &[0, 1, 2], &[0, 1], &[], &[1], &[1]]);
    let NumberKind::Made { of, .. } = &study.numbers[5].kind else { panic!("{:?}", study.numbers[5]) };
    assert_eq!(of.fixed, [(0, 0), (2, 2)]);
    let NumberKind::Made { take: Some(take), .. } = &study.numbers[4].kind else { panic!("no work") };
    let measure = take.measured_in.as_ref().map(|measure| (&measure.fixed[..], &measure.axes[..]));
    assert_eq!(measure, Some((&[(0, 0)][..], &[1, 2][..])), "fixed as the number is");
    let Curves::Numbers { y, along, x } = &study.plots[0].curves else { panic!("{:?}", study.plots[0]) };
    assert_eq!((y.len(), *along, x.as_ref().map(|x| x.axes.clone())), (2, 2, Some(vec![0, 2])));
}

#[test]
fn the_full_study_has_other_values() {
    assert_eq!(good(Size::Full).axes[2].numbers(), Some(vec![5.0, 500.0]));
    assert_eq!(good(Size::Full).axes[1], good(Size::Quick).axes[1]);
}

/// Line and column of the first `marked` at or behind `anchor`.
fn position(text: &str, anchor: &str, marked: &str) -> (usize, usize) {
    let head = text.find(anchor).expect(anchor);
    let place = head + text[head..].find(marked).expect(marked);
    let before = &text[..place];
    (before.matches('\n').count() + 1, place - before.rfind('\n').map_or(0, |i| i + 1) + 1)
}

/// Replaces the first `old` in the good study; the only complaint must point at `marked` in or behind `new`.
fn refuses(old: &str, new: &str, marked: &str, words: &[&str]) {
    assert!(GOOD.contains(old), "{old}");
    let text = GOOD.replacen(old, new, 1);
    let problems = load(&text, Size::Quick).expect_err(new);
    let found = problems.to_string();
    assert_eq!(problems.list().len(), 1, "one mistake was made, but:\n{found}");
    let place = if marked.is_empty() { None } else { Some(position(&text, new, marked)) };
    assert!(place.is_none() || problems.list()[0].position() == place, "expected {place:?}\nfound {found}");
    for word in words {
        assert!(found.contains(word), "no \"{word}\" in\n{found}");
    }
}

#[test]
fn mistakes_are_shown_with_their_place() {
    refuses("error_from = \"fine:height\"", "over = 0.0", "0.0", &["a finite number other than 0"]);
    refuses("error_from = \"fine:height\"", "minus = nan", "nan", &["a finite number"]);
    refuses("title", "titel", "titel", &["unknown key `titel`", "did you mean `title`?"]);
    refuses("scenario = \"case.toml\"", "", "", &["missing key `scenario`"]);
    refuses("\"case.toml\"", "\"cases.toml\"", "", &["cases.toml", "cannot be read"]);
    refuses("output.every", "output.evry", "", &["unknown key `evry`", "`every`?"]);
    refuses("[5, 10, 20]", "[5, 0]", "0]", &["does not take solver.iterations=0", "expected 1 to 100000"]);
    refuses("[5, 10, 20]", "[5, 10, 20, 5]", "[5", &["`iterations` has the value 5 twice"]);
    refuses("[5, 10, 20]", "10", "10", &["is 10, expected a list"]);
    refuses("solver.substeps = 2", "solver.substps = 2", "", &["unknown key `substps`", "`substeps`?"]);
    refuses("per = [\"count\"]", "per = [\"cuont\"]", "\"cuont\"", &["no axis `cuont`", "`count`?"]);
    refuses("time_step = 1e-3", "time_step = -1", "", &["does not take solver.time_step=-1"]);
    refuses("of = \"rms_speed\"", "of = \"rms_sped\"", "\"rms_sped\"", &["unknown quantity", "`rms_speed`?"]);
    refuses("until = 1.0", "until = 2.0", "", &["until 2 s of a run of 1 s"]);
    refuses("height = {}", "height = {}\nsteps = { of = \"contacts\" }", "steps", &["is what every run has"]);
    refuses("height = {}", "height = { value = 1 }", "value", &["unknown key `value`"]);
    refuses("[3, 0.06]", "[4, 0.06]", "", &["has no value at count = 3"]);
    refuses(
        "\"fine:height\"",
        "\"fien:height\"",
        "\"fien:height\"",
        &["no number `fien:height`", "`fine:height`?"],
    );
    refuses("take = \"needed\"", "take = \"neded\"", "\"neded\"", &["did you mean `needed`?"]);
    refuses("below = 0.01", "below = 0.0", "0.0", &["expected a positive number"]);
    refuses("along = \"iterations\"", "along = \"start\"", "", &["needs one axis of numbers"]);
    let wrong = &["`start` has no value clod", "`cold`?"];
    refuses("where = { start = \"cold\" }", "where = { start = \"clod\" }", "\"clod\"", wrong);
    refuses("where = { start = \"kept twice\" }", "where = {}", "", &["depends on `start`", "fix it"]);
    refuses(
        "number = \"gain\"",
        "number = \"needed\"",
        "\"needed\"",
        &["more than one number", "start, count"],
    );
    refuses("at_least = 2.0", "", "", &["expects nothing"]);
    refuses("file = \"error\"", "file = \"a/b\"", "\"a/b\"", &["no name of a plot"]);
    refuses("file = \"residual\"", "file = \"error\"", "", &["two plots are written to `error`"]);
    refuses("log = [\"x\"]", "log = [\"z\"]", "\"z\"", &["is \"z\", which is unknown"]);
    let over_work = "x = \"sweeps_per_second\"\nalong = \"iterations\"";
    refuses(over_work, "x = \"start\"", "", &["`start` has words as values"]);
    refuses(
        "error = \"height error",
        "eror = \"height error",
        "eror",
        &["no axis and no number `eror`", "`error`?"],
    );
    refuses("[full.axes]\nsolver.iterations", "[full.axes]\nsolver.substeps", "", &["no axis `substeps`"]);
}

#[test]
fn a_mistake_in_the_scenario_is_told_as_such() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("case.toml"), SCENARIO.replace("friction", "fricton"))
        .expect("written");
    let file = folder.path().join("good.toml");
    std::fs::write(&file, GOOD).expect("written");
    let found = Study::load(&file, Size::Quick).expect_err("a mistake").to_string();
    assert!(found.contains("case.toml") && found.contains("did you mean `friction`?"), "{found}");
}

/// The studies of the repository.
fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/studies");
    let entries = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect()
}

#[test]
fn the_studies_of_the_repository_are_good() {
    let files = shipped();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        for size in [Size::Quick, Size::Full] {
            let study = Study::load(&file, size).unwrap_or_else(|problems| panic!("{problems}"));
            assert!(!study.findings.is_empty() && !study.plots.is_empty(), "{}", file.display());
        }
    }
}
