//! Fuzzing of studies, suites and frames of results: whatever is in them, they are read or refused, and nothing panics.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use esker::model::{Random, random::Stream};
use esker::output::vtp::PolyData;
use esker::scenario::Scenario;
use esker::scenario::study::{Size, Study};
use esker::scenario::suite::Suite;

use crate::foreign_files::HEAD;
use crate::fuzz::{Dice, change, leave, plan, with_piece};
use crate::range::frame;

/// Number of documents of a test, unless the environment asks for a time.
const ROUNDS: usize = 60;

/// Changes a text and calls `read` with it, again and again; returns how often it was read and refused.
fn rounds(stream: usize, name: &str, texts: &[String], mut read: impl FnMut(&str) -> bool) -> [usize; 2] {
    let (time, seed) = plan();
    let is_long = std::env::var_os("ESKER_FUZZ_SECONDS").is_some();
    let mut dice = Dice(Random::new(seed, Stream::Grains(stream)));
    let (start, mut counts) = (Instant::now(), [0; 2]);
    while counts[0] + counts[1] < ROUNDS || (is_long && start.elapsed() < time) {
        let mut text = texts[dice.below(texts.len())].clone();
        for _ in 0..dice.below(3) {
            text = if name.ends_with("vtp") {
                with_piece(&text, &mut dice)
            } else {
                change(&text, texts, &mut dice)
            };
        }
        let is_right = catch_unwind(AssertUnwindSafe(|| read(&text))).unwrap_or_else(|_| {
            let path = leave(&format!("panics-{seed}-{name}"), &text);
            panic!("reading {} panics", path.display());
        });
        counts[usize::from(!is_right)] += 1;
    }
    counts
}

/// Text of a file of the repository, in which these words before a path lead to this folder of scenarios.
fn shipped(path: &str, before: &str, words: &str, folder: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join(path)).expect("a file");
    text.replace(before, &format!("{words}{}/", root.join(folder).display()))
}

#[test]
fn fuzz_studies_and_suites() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("document.toml");
    let study = shipped("scenarios/studies/convergence_column.toml", "\"../", "\"", "scenarios");
    let [read, refused] = rounds(4, "study.toml", &[study], |text| {
        fs::write(&file, text).expect("written");
        let found = Study::load(&file, Size::Quick);
        found.map_err(|problems| assert!(!problems.list().is_empty())).is_ok()
    });
    assert!(read > ROUNDS / 10 && refused > ROUNDS / 10, "{read} studies read, {refused} refused");
    // The first cases of the suite, each of which reads a scenario.
    let suite = shipped("scenarios/validation/suite.toml", "file = \"", "file = \"", "scenarios/validation");
    let start = suite.match_indices("[[case]]").nth(4).map_or(suite.len(), |(at, _)| at);
    let [read, refused] = rounds(5, "suite.toml", &[suite[..start].to_owned()], |text| {
        fs::write(&file, text).expect("written");
        let found = Suite::load(&file)
            .and_then(|suite| suite.cases.iter().try_for_each(|case| case.scenarios().map(drop)));
        found.map_err(|problems| assert!(!problems.list().is_empty())).is_ok()
    });
    assert!(read > ROUNDS / 10 && refused > ROUNDS / 10, "{read} suites read, {refused} refused");
}

#[test]
fn fuzz_frames() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("f.vtp");
    let text = String::from_utf8(frame(1.0)).expect("text");
    let scene = format!(
        "{HEAD}[[grains]]\nmaterial = \"glass\"\npacking = {{ kind = \"frame\", file = \"f.vtp\" }}\n"
    );
    let [read, refused] = rounds(6, "f.vtp", &[text], |text| {
        fs::write(&file, text).expect("written");
        let is_frame = PolyData::read(&file).is_ok();
        let found = Scenario::parse("case", &scene, folder.path(), &[]);
        if let Ok(scenario) = &found {
            scenario.world.check().expect("numbers in range");
        }
        assert!(is_frame || found.is_err());
        found.is_ok()
    });
    assert!(read > ROUNDS / 10 && refused > ROUNDS / 10, "{read} frames read, {refused} refused");
}
