//! Fuzzing of folders of results: whatever file of a folder is damaged, and however, the commands that read the folder end with results or
//! with a message, and a run that goes on from it comes to the series of the undisturbed run, or is refused.
//!
//! `ESKER_FUZZ_SECONDS=3600 cargo test --release --test program fuzz_results` runs for an hour, from another seed.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use esker::model::{Random, random::Stream};

use crate::fuzz::{Dice, leave, plan, wait, with_number, with_piece};
use crate::place::Place;

/// Number of damaged folders of a test, unless the environment asks for a time.
const ROUNDS: usize = 12;

/// Grains that fall on a mesh, with everything that a run writes into its folder.
const SCENE: &str = "duration = 0.02\n[solver]\ntime_step = 1e-3\niterations = 5\n\
    [materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.25\nrestitution = 0.2\nfriction = 0.4\n\
    [[boundaries]]\nname = \"floor\"\nmaterial = \"glass\"\nshape = { kind = \"mesh\", file = \"floor.obj\" }\n\
    [[grains]]\nmaterial = \"glass\"\npacking = { kind = \"csv\", file = \"grains.csv\" }\n\
    [observe]\ngrain_stress = true\n[forces]\ncompatible = { law = \"hertz\" }\n[expect]\nheight = { at_least = 0.0 }\n\
    [output]\nevery = 0.004\nformats = [\"vtp\", \"csv\"]\n[checkpoint]\nevery_simulated = 0.004\n";
const FLOOR: &str = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n";
const GRAINS: &str = "x,y,z,r\n0,0,0.005,0.005\n0.1,0,0.006,0.005\n0,0.1,0.02,0.004\n";

/// Commands that read a folder of results.
const COMMANDS: [&[&str]; 4] = [
    &["render", "out", "--out", "p.png", "--at", "0.008", "--size", "64x48"],
    &["view", "out", "--export", "p.html"],
    &["export", "out", "--out", "exported"],
    &["run", "scene.toml", "--device", "cpu", "--out", "out", "--resume"],
];

/// All files below a folder, in order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()).collect();
    found.sort();
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    found.into_iter().flat_map(below).collect()
}

/// A folder with the results of a run that was ended early.
fn prepared() -> Place {
    let place = Place::with("scene.toml", SCENE);
    fs::write(place.path("floor.obj"), FLOOR).expect("written");
    fs::write(place.path("grains.csv"), GRAINS).expect("written");
    let run =
        place.esker(&["run", "scene.toml", "--device", "cpu", "--out", "out", "--until", "0.012", "--quiet"]);
    assert!(run.status.success(), "{}", crate::place::error_text(&run));
    place
}

/// Copies all files of a folder into an empty one.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    for file in files_below(from) {
        let target = to.join(file.strip_prefix(from).expect("below"));
        fs::create_dir_all(target.parent().expect("a folder")).expect("made");
        fs::copy(&file, target).expect("copied");
    }
}

/// Damages one file; returns what was done.
fn damage(files: &[PathBuf], dice: &mut Dice) -> String {
    let file = &files[dice.below(files.len())];
    let bytes = fs::read(file).expect("a file");
    let text = String::from_utf8(bytes.clone()).ok().filter(|text| !text.is_empty());
    let kind = dice.below(9);
    let damaged = match (kind, text) {
        (0, _) => bytes[..dice.below(bytes.len())].to_vec(),
        (1, _) => Vec::new(),
        (2, _) => {
            fs::remove_file(file).expect("removed");
            return format!("{} removed", file.display());
        }
        (3, _) => {
            fs::remove_file(file).and_then(|()| fs::create_dir(file)).expect("a folder");
            return format!("{} a folder", file.display());
        }
        (4, _) => fs::read(&files[dice.below(files.len())]).expect("a file"),
        (5 | 6, Some(text)) => {
            with_number(&text, dice.one(&["-1", "nan", "1e308", "99999999999999999999", "0"]), dice)
                .into_bytes()
        }
        (7, Some(text)) => with_piece(&text, dice).into_bytes(),
        _ => {
            let mut bytes = bytes;
            let length = bytes.len();
            if let Some(byte) = bytes.get_mut(dice.below(length)) {
                *byte ^= 1 << dice.below(8);
            }
            bytes
        }
    };
    fs::write(file, damaged).expect("written");
    format!("{} damaged in way {kind}", file.display())
}

/// Runs a command; returns its exit code and its messages.
fn try_command(place: &Place, line: &[&str]) -> (Option<i32>, String) {
    let messages = place.path("messages.txt");
    let file = fs::File::create(&messages).expect("a file");
    let null = std::process::Stdio::null;
    let mut child =
        place.command(line).stdin(null()).stdout(null()).stderr(file).spawn().expect("the program starts");
    let status = wait(&mut child, Duration::from_secs(60));
    let text = String::from_utf8_lossy(&fs::read(&messages).expect("messages")).into_owned();
    (status.and_then(|status| status.code()), text)
}

#[test]
fn fuzz_results() {
    let (time, seed) = plan();
    let is_long = std::env::var_os("ESKER_FUZZ_SECONDS").is_some();
    let mut dice = Dice(Random::new(seed, Stream::Grains(7)));
    let place = prepared();
    let (out, kept) = (place.path("out"), place.path("kept"));
    copy(&out, &kept);
    // The undisturbed run to its end.
    assert_eq!(try_command(&place, COMMANDS[3]).0, Some(0));
    let series = fs::read(out.join("timeseries.csv")).expect("a series");
    let (start, mut round, mut codes) = (Instant::now(), 0, [0; 4]);
    while round < ROUNDS || (is_long && start.elapsed() < time) {
        copy(&kept, &out);
        let _ = fs::remove_dir_all(place.path("exported"));
        let done = damage(&files_below(&out), &mut dice);
        let line = COMMANDS[round % COMMANDS.len()];
        let (code, messages) = try_command(&place, line);
        let fails = |why: &str| -> ! {
            let path =
                leave(&format!("results-{seed}-{round}.txt"), &format!("{line:?}\n{done}\n{messages}"));
            panic!("{line:?} after {done}: {why}: see {}\n{messages}", path.display())
        };
        match code.and_then(|code| usize::try_from(code).ok()) {
            Some(code) if code < 3 => codes[code] += 1,
            _ => fails(&format!("ends with {code:?}")),
        }
        if code != Some(0) && !messages.contains("error") {
            fails("no message");
        }
        if messages.contains("panicked") {
            fails("panics");
        }
        // A summary that says so is believed.
        let goes_on = line[0] == "run" && !messages.contains("has come to its end");
        if code == Some(0) && goes_on && fs::read(out.join("timeseries.csv")).ok().as_ref() != Some(&series) {
            fails("other results");
        }
        round += 1;
    }
    assert!(codes[0] > 2 && codes[1] + codes[2] > 2, "exit codes {codes:?}");
}
