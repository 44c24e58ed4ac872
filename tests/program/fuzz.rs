//! Fuzzing of scenarios and command lines: whatever the input, the program answers and does not panic.
//!
//! Each test runs for a quarter of a minute in the test suite, from one seed; `ESKER_FUZZ_SECONDS=7200 cargo test --release --test program fuzz`
//! runs for two hours, from another seed. Inputs that fail are left in `target/fuzz`; their names say how to reproduce the failure.
#![allow(clippy::expect_used, reason = "a failed expectation fails the test")]
#![allow(clippy::print_stdout, reason = "how much was tried is what a long run is for")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant, SystemTime};

use esker::model::Random;
use esker::model::random::Stream;
use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};

use crate::place::Place;

/// Replacements of numbers. None lies between those that are refused at once and those that make a small scene: a scene of ten million
/// grains is no mistake.
const NUMBERS: [&str; 24] = [
    "0",
    "-1",
    "1",
    "2",
    "7",
    "0.5",
    "-0.5",
    "3.0",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "1e-7",
    "1e9",
    "-0.0",
    "99999999999999999999",
    "20000001",
    "1e400",
    "true",
    "1979-05-27",
    "[]",
    "\"x\"",
];

/// Pieces that are put between other characters; no digits, or they would make large numbers of small ones.
const PIECES: [&str; 16] =
    ["\n", " ", "=", ".", ",", "[", "]", "{", "}", "\"", "'", "#", "µ", "\u{0}", "\u{feff}", "\r\n"];

/// Largest number of grains, and of sweeps per step, with which a scene is run.
const FEW: usize = 400;

/// Duration of a test, and its seed.
pub fn plan() -> (Duration, u64) {
    match std::env::var("ESKER_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()) {
        Some(seconds) => {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970");
            (Duration::from_secs(seconds), now.as_secs())
        }
        None => (Duration::from_secs(15), 1),
    }
}

/// Scenarios of the repository that are small enough to be read a thousand times.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("validation")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("scenarios").flatten())
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    let text = |path: PathBuf| {
        let text = fs::read_to_string(path).expect("a scenario");
        let scenario = Scenario::parse("case", &text, &root, &[]).ok()?;
        (scenario.max_grains() <= FEW).then_some(text)
    };
    let texts: Vec<String> = files.into_iter().filter_map(text).collect();
    assert!(texts.len() > 15, "{} scenarios to start from", texts.len());
    texts
}

/// Draws from lists and numbers.
pub struct Dice(pub Random);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound.max(1) as u64) as usize
    }

    pub fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}

/// The text with one random change.
pub fn change(text: &str, others: &[String], dice: &mut Dice) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let line = dice.below(lines.len());
    match dice.below(7) {
        0 => drop(lines.remove(line.min(lines.len().saturating_sub(1)))),
        1 => lines.insert(line, lines[line]),
        2 => {
            let other = dice.below(lines.len());
            lines.swap(line, other);
        }
        3 => {
            let other: Vec<&str> = others[dice.below(others.len())].lines().collect();
            let start = dice.below(other.len());
            let end = (start + 1 + dice.below(8)).min(other.len());
            lines.splice(line..line, other[start..end].iter().copied());
        }
        4 | 5 => return with_number(text, dice.one(&NUMBERS), dice),
        _ => return with_piece(text, dice),
    }
    lines.join("\n")
}

/// The text with another number in the place of one.
pub fn with_number(text: &str, number: &str, dice: &mut Dice) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    let starts: Vec<usize> = text
        .char_indices()
        .filter(|&(i, c)| (c.is_ascii_digit() || c == '-') && !text[..i].ends_with(is_part))
        .map(|(i, _)| i)
        .collect();
    let Some(&start) = starts.get(dice.below(starts.len())) else { return text.to_owned() };
    let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
    format!("{}{number}{}", &text[..start], &text[end..])
}

/// The text with one of the pieces put in, or with one in place of a few characters.
pub fn with_piece(text: &str, dice: &mut Dice) -> String {
    let places: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
    let Some(&place) = places.get(dice.below(places.len())) else { return text.to_owned() };
    let rest = &text[place..];
    let cut = match dice.below(2) {
        0 => rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()).min(dice.below(6)),
        _ => 0,
    };
    let cut = (cut..=rest.len()).find(|&i| rest.is_char_boundary(i)).unwrap_or(rest.len());
    format!("{}{}{}", &text[..place], dice.one(&PIECES), &rest[cut..])
}

/// Reads a text as a scenario; a valid scenario is written out, read again and, if it is small, run for a few steps. Returns how far it
/// came: 0 for refused, 1 for read, 2 for run.
fn try_scenario(text: &str) -> usize {
    let Ok(scenario) = Scenario::parse("case", text, Path::new(""), &[]).map_err(|problems| {
        assert!(!problems.list().is_empty() && !esker::cli::drawing(&problems).is_empty());
    }) else {
        return 0;
    };
    let again = Scenario::parse("case", &scenario.resolved, Path::new(""), &[]);
    let again = again.unwrap_or_else(|found| panic!("{found}\nresolved:\n{}", scenario.resolved));
    assert!(again.resolved == scenario.resolved, "{}", again.resolved);
    let sweeps = u64::from(scenario.settings.iterations.max(scenario.settings.impact_iterations))
        * u64::from(scenario.settings.substeps);
    if scenario.max_grains() > FEW || sweeps > FEW as u64 {
        return 1;
    }
    let Ok(mut simulation) = Simulation::new(&scenario, Device::Cpu) else { return 1 };
    let names: Vec<String> =
        simulation.observer().columns().iter().map(|column| column.name.clone()).collect();
    for _ in 0..3 {
        if simulation.step(2).is_err() {
            return 2;
        }
        for name in &names {
            simulation.quantity(name).expect("a quantity");
        }
    }
    2
}

/// Writes an input that failed to `target/fuzz`; returns its path.
pub fn leave(name: &str, content: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    path
}

#[test]
fn fuzz_scenarios() {
    let (time, seed) = plan();
    let corpus = corpus();
    let mut dice = Dice(Random::new(seed, Stream::Grains(0)));
    let (start, mut counts) = (Instant::now(), [0; 3]);
    while start.elapsed() < time {
        let mut text = corpus[dice.below(corpus.len())].clone();
        for _ in 0..=dice.below(3) {
            text = change(&text, &corpus, &mut dice);
        }
        let begun = Instant::now();
        let Ok(came) = catch_unwind(AssertUnwindSafe(|| try_scenario(&text))) else {
            let path = leave(&format!("panics-{seed}.toml"), &text);
            panic!("esker check {} panics", path.display());
        };
        if begun.elapsed() > Duration::from_secs(20) {
            leave(&format!("slow-{seed}-{}.toml", counts[came]), &text);
        }
        counts[came] += 1;
    }
    let [refused, read, run] = counts;
    println!("{refused} refused, {read} read, {run} read and run, seed {seed}, in {:?}", start.elapsed());
    assert!(refused > 20 && run > 20, "{refused} refused, {read} read, {run} run");
}

/// Words of command lines, right and wrong.
const WORDS: [&str; 60] = [
    "run",
    "check",
    "render",
    "validate",
    "study",
    "bench",
    "devices",
    "help",
    "--help",
    "--version",
    "--device",
    "cpu",
    "auto",
    "gpu",
    "--out",
    "out",
    "a",
    ".",
    "/",
    "/dev/null",
    "--set",
    "duration=0.01",
    "solver.iterations=2",
    "grains.0.packing.count=3",
    "=",
    "a=b",
    "--until",
    "0",
    "0.005",
    "-1",
    "nan",
    "1e300",
    "--resume",
    "--quiet",
    "--profile",
    "--list",
    "--case",
    "head_on",
    "--long",
    "--full",
    "--shard",
    "1/2",
    "0/0",
    "--report",
    "--grains",
    "10",
    "--steps",
    "1",
    "--iterations",
    "--at",
    "--fps",
    "--size",
    "64x48",
    "0x0",
    "--fit",
    "--cut",
    "scene.toml",
    "missing.toml",
    "out/grains_000000.vtp",
    "",
];

const SCENE: &str = "duration = 0.02\n[solver]\ntime_step = 1e-3\n[materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\n\
    poisson_ratio = 0.25\nrestitution = 0.2\nfriction = 0.4\n[[boundaries]]\nmaterial = \"glass\"\n\
    shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }\n[[grains]]\nmaterial = \"glass\"\n\
    radius = { kind = \"constant\", value = 0.005 }\npacking = { kind = \"column\", count = 4, base = [0, 0, 0] }\n\
    [checkpoint]\nevery_simulated = 0.004\n";

/// Waits for a process until it ends, or for `most` and then kills it.
pub fn wait(child: &mut Child, most: Duration) -> Option<std::process::ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < most {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("a child");
    None
}

#[test]
fn fuzz_command_lines() {
    let (time, seed) = plan();
    let mut dice = Dice(Random::new(seed, Stream::Grains(1)));
    let (start, mut lines, mut codes) = (Instant::now(), 0, [0; 4]);
    let mut place = Place::with("scene.toml", SCENE);
    while start.elapsed() < time {
        // Most lines start well, or they all end at the first word.
        let mut line = match dice.below(4) {
            0 => Vec::new(),
            1 => vec![dice.one(&["check", "render", "study"]), dice.one(&["scene.toml", "out"])],
            _ => vec!["run", "scene.toml", "--device", "cpu", "--out", "out"],
        };
        line.extend((0..dice.below(5)).map(|_| dice.one(&WORDS)).collect::<Vec<&str>>());
        // These commands take long on purpose.
        if line.iter().any(|word| ["bench", "validate", "/"].contains(word)) && !line.contains(&"--list") {
            continue;
        }
        let mut child = place
            .command(&line)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let status = wait(&mut child, Duration::from_secs(60));
        let code = status.and_then(|status| status.code()).and_then(|code| usize::try_from(code).ok());
        let Some(code) = code.filter(|&code| code < codes.len()) else {
            let path = leave(&format!("line-{seed}-{lines}.txt"), &format!("{line:?}\n{SCENE}"));
            panic!("esker {line:?} ends with {status:?}: see {}", path.display());
        };
        codes[code] += 1;
        lines += 1;
        if lines % 50 == 0 {
            place = Place::with("scene.toml", SCENE);
        }
    }
    println!("{lines} command lines, by exit code {codes:?}, seed {seed}, in {:?}", start.elapsed());
    assert!(codes[0] > 5 && codes[2] > 5, "exit codes {codes:?}");
}
