//! Fuzzing of dumps and tables that are right: what the generator means is the world that is read, or the mistake that it put in is told
//! with file and line.
//!
//! `ESKER_FUZZ_SECONDS=3600 cargo test --release --test program fuzz` runs for an hour, from another seed.

use std::fmt::Write as _;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use esker::model::{Random, random::Stream};
use esker::scenario::Scenario;
use glam::DVec3;

use super::HEAD;
use crate::fuzz::{Dice, leave, plan, with_piece};

/// Number of files of a test, unless the environment asks for a time.
const ROUNDS: usize = 250;

/// Largest relative difference of a number that is written in other units and read again \[-\].
const ROUNDING: f64 = 1e-12;

/// A grain that is written, in SI units.
#[derive(Clone, Copy)]
struct Grain {
    position: DVec3,
    radius: f64,
    velocity: DVec3,
    spin: DVec3,
    density: f64,
    kind: usize,
}

/// What a file is to say.
struct Meant {
    grains: Vec<Grain>,
    has_velocity: bool,
    has_spin: bool,
    weight: Option<&'static str>,
    has_types: bool,
}

impl Dice {
    fn is(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
}

fn meant(dice: &mut Dice) -> Meant {
    let count = 1 + dice.below(5);
    let grain = |dice: &mut Dice| {
        let random = &mut dice.0;
        Grain {
            position: random.in_cube(2.0),
            radius: random.between(0.001, 0.1),
            velocity: random.in_cube(3.0),
            spin: random.in_cube(9.0),
            density: random.between(500.0, 9000.0),
            kind: random.below(2) as usize,
        }
    };
    Meant {
        grains: (0..count).map(|_| grain(dice)).collect(),
        has_velocity: dice.is(2),
        has_spin: dice.is(3),
        weight: [None, Some("density"), Some("mass")][dice.below(3)],
        has_types: dice.is(2),
    }
}

/// Names of units of LAMMPS, and their length \[m\], mass \[kg\] and time \[s\].
const UNITS: [(&str, [f64; 3]); 4] =
    [("", [1.0; 3]), ("si", [1.0; 3]), ("cgs", [1e-2, 1e-3, 1.0]), ("micro", [1e-6, 1e-15, 1e-6])];

/// Columns of a file: titles, and how a grain fills them.
type Column = (String, Fill);
type Fill = Box<dyn Fn(usize, &Grain) -> String>;

fn number(value: f64) -> String {
    format!("{value:e}")
}

/// Columns for what is meant, in any order, between others that mean nothing.
fn columns(meant: &Meant, units: [f64; 3], names: &Names, dice: &mut Dice) -> Vec<Column> {
    let [length, mass, time] = units;
    let mut all: Vec<Column> = Vec::new();
    let mut add = |title: &str, fill: Fill| all.push((title.to_owned(), fill));
    for axis in 0..3 {
        let (place, velocity, spin) = (names.place, names.velocity, names.spin);
        add(
            place[axis],
            Box::new({
                let shares = names.shares;
                move |_, grain| {
                    number(
                        shares.map_or(grain.position / length, |tilted| tilted.shares(grain.position))[axis],
                    )
                }
            }),
        );
        if meant.has_velocity {
            add(velocity[axis], Box::new(move |_, grain| number(grain.velocity[axis] / length * time)));
        }
        if meant.has_spin {
            add(spin[axis], Box::new(move |_, grain| number(grain.spin[axis] * time)));
        }
    }
    let half = if names.radius.starts_with('d') { 2.0 } else { 1.0 };
    add(names.radius, Box::new(move |_, grain| number(half * grain.radius / length)));
    match meant.weight {
        Some("density") => {
            add("density", Box::new(move |_, grain| number(grain.density / mass * length.powi(3))))
        }
        Some(_) => add("mass", Box::new(move |_, grain| number(mass_of(grain) / mass))),
        None => {}
    }
    if meant.has_types {
        let words = names.kinds;
        add(names.kind, Box::new(move |_, grain| words[grain.kind].to_owned()));
    }
    add("id", Box::new(|i, _| (7 * i + 3).to_string()));
    for other in ["fx", "ix", "c_p[1]"] {
        if dice.is(2) {
            add(other, Box::new(|i, _| i.to_string()));
        }
    }
    for i in (1..all.len()).rev() {
        all.swap(i, dice.below(i + 1));
    }
    all
}

/// Names of columns of a kind of file.
struct Names {
    place: [&'static str; 3],
    velocity: [&'static str; 3],
    spin: [&'static str; 3],
    radius: &'static str,
    kind: &'static str,
    kinds: [&'static str; 2],
    shares: Option<Tilted>,
}

/// Box that positions are scaled by: its low corner, its edges along the axes and its tilts xy, xz and yz \[m\].
#[derive(Clone, Copy)]
struct Tilted {
    low: DVec3,
    size: DVec3,
    tilt: [f64; 3],
}

impl Tilted {
    /// Solves low + xs (lx, 0, 0) + ys (xy, ly, 0) + zs (xz, yz, lz) = position, from the last to the first.
    fn shares(&self, position: DVec3) -> DVec3 {
        let (place, [xy, xz, yz]) = (position - self.low, self.tilt);
        let z = place.z / self.size.z;
        let y = (place.y - yz * z) / self.size.y;
        DVec3::new((place.x - xy * y - xz * z) / self.size.x, y, z)
    }
}

fn mass_of(grain: &Grain) -> f64 {
    grain.density * 4.0 / 3.0 * std::f64::consts::PI * grain.radius.powi(3)
}

/// A dump with what is meant in its last frame, and whether its coordinates are scaled.
fn dump(meant: &Meant, dice: &mut Dice) -> (String, bool) {
    let (name, units) = UNITS[dice.below(UNITS.len())];
    let length = units[0];
    let is_tilted = dice.is(2);
    let tilt =
        if is_tilted { [0.7, -1.1, 0.4].map(|tilt| tilt * dice.0.between(-1.0, 1.0)) } else { [0.0; 3] };
    let tilted = Tilted { low: DVec3::splat(-2.5), size: DVec3::new(5.0, 6.0, 7.0), tilt };
    let places = [["x", "y", "z"], ["xu", "yu", "zu"], ["xs", "ys", "zs"], ["xsu", "ysu", "zsu"]];
    let place = dice.below(4);
    let names = Names {
        place: places[place],
        velocity: ["vx", "vy", "vz"],
        spin: ["omegax", "omegay", "omegaz"],
        radius: if dice.is(2) { "radius" } else { "diameter" },
        kind: "type",
        kinds: ["1", "2"],
        shares: (place > 1).then_some(tilted),
    };
    let columns = columns(meant, units, &names, dice);
    let mut text = String::new();
    if !name.is_empty() {
        let _ = writeln!(text, "ITEM: UNITS\n{name}");
    }
    let frames = 1 + dice.below(3);
    for frame in 0..frames {
        if dice.is(2) {
            let _ = writeln!(text, "ITEM: TIME\n{}", 0.1 * frame as f64);
        }
        let count = meant.grains.len();
        let _ = writeln!(text, "ITEM: TIMESTEP\n{}\nITEM: NUMBER OF ATOMS\n{count}", 100 * frame);
        bounds(&mut text, &tilted, length, is_tilted, dice.is(2));
        text += "ITEM: ATOMS";
        columns.iter().for_each(|(title, _)| text = format!("{text} {title}"));
        text += "\n";
        // Earlier frames hold the grains in another order.
        for line in 0..count {
            let i = if frame + 1 < frames { count - 1 - line } else { line };
            let words: Vec<String> = columns.iter().map(|(_, fill)| fill(i, &meant.grains[i])).collect();
            let _ = writeln!(text, "{} ", words.join(" "));
        }
    }
    (text, place > 1)
}

fn bounds(text: &mut String, tilted: &Tilted, length: f64, is_tilted: bool, is_periodic: bool) {
    let flags = if is_periodic { "pp pp ff" } else { "ff ff ff" };
    let [xy, xz, yz] = tilted.tilt;
    let high = tilted.low + tilted.size;
    let least = DVec3::new([0.0, xy, xz, xy + xz].into_iter().fold(0.0, f64::min), yz.min(0.0), 0.0);
    let most = DVec3::new([0.0, xy, xz, xy + xz].into_iter().fold(0.0, f64::max), yz.max(0.0), 0.0);
    let _ = writeln!(text, "ITEM: BOX BOUNDS {}{flags}", if is_tilted { "xy xz yz " } else { "" });
    for axis in 0..3 {
        let ends = [tilted.low[axis] + least[axis], high[axis] + most[axis]].map(|end| number(end / length));
        let tilt = if is_tilted { format!(" {}", number(tilted.tilt[axis] / length)) } else { String::new() };
        let _ = writeln!(text, "{} {}{tilt}", ends[0], ends[1]);
    }
}

/// A table with what is meant.
fn table(meant: &Meant, dice: &mut Dice) -> String {
    let names = Names {
        place: ["x", "y", "z"],
        velocity: ["vx", "vy", "vz"],
        spin: if dice.is(2) { ["wx", "wy", "wz"] } else { ["omegax", "omegay", "omegaz"] },
        radius: dice.one(&["radius", "r", "diameter", "d"]),
        kind: "material",
        kinds: ["glass", "steel"],
        shares: None,
    };
    let columns = columns(meant, [1.0; 3], &names, dice);
    let separator = dice.one(&[",", ", ", ";", "\t", " ", "   "]);
    let has_commas = [";", "\t", " "].contains(&separator) && dice.is(2);
    let titles: Vec<&str> = columns.iter().map(|(title, _)| title.as_str()).collect();
    let mut text = titles.join(separator) + "\n";
    for (i, grain) in meant.grains.iter().enumerate() {
        let words: Vec<String> = columns.iter().map(|(_, fill)| fill(i, grain)).collect();
        let line = words.join(separator);
        text += &if has_commas { line.replace('.', ",") } else { line };
        text += "\n";
    }
    text
}

fn parse(folder: &Path, name: &str, content: &str, meant: &Meant) -> Result<Scenario, Vec<String>> {
    fs::write(folder.join(name), content).expect("written");
    let (kind, materials) = match name.ends_with("csv") {
        true => ("csv", ""),
        false => ("dump", ", materials = { 1 = \"glass\", 2 = \"steel\" }"),
    };
    let (block, materials) = match (meant.has_types, kind) {
        (true, _) => ("", materials),
        (false, _) => ("material = \"glass\"\n", ""),
    };
    let text =
        format!("{HEAD}[[grains]]\n{block}packing = {{ kind = \"{kind}\", file = \"{name}\"{materials} }}\n");
    Scenario::parse("case", &text, folder, &[])
        .map_err(|problems| problems.list().iter().map(|problem| problem.message().to_owned()).collect())
}

/// Whether a scenario holds the grains that were meant; else what differs.
fn differs(scenario: &Scenario, meant: &Meant) -> Option<String> {
    let world = &scenario.world;
    let near = |a: DVec3, b: DVec3| a.distance(b) <= ROUNDING * (10.0 + b.length());
    let is_near = |a: f64, b: f64| (a - b).abs() <= ROUNDING * b.abs();
    if world.grain_count() != meant.grains.len() {
        return Some(format!("{} grains", world.grain_count()));
    }
    meant.grains.iter().enumerate().find_map(|(i, grain)| {
        let body = world.grain_body(i);
        let density = match (meant.weight, meant.has_types && grain.kind == 1) {
            (Some(_), _) => grain.density,
            (None, true) => 7800.0,
            (None, false) => 2500.0,
        };
        let velocity = if meant.has_velocity { grain.velocity } else { DVec3::ZERO };
        let spin = if meant.has_spin { grain.spin } else { DVec3::ZERO };
        let kind = if meant.has_types { grain.kind as u32 } else { 0 };
        let checks = [
            ("position", near(world.bodies.position[body], grain.position)),
            ("velocity", near(world.bodies.velocity[body], velocity)),
            ("angular velocity", near(world.bodies.angular_velocity[body], spin)),
            ("radius", is_near(world.grain_radius(i), grain.radius)),
            ("mass", is_near(world.grain_mass(i), mass_of(&Grain { density, ..*grain }))),
            ("material", world.grain_material(i) == kind),
        ];
        checks.into_iter().find(|(_, is_right)| !is_right).map(|(what, _)| format!("{what} of grain {i}"))
    })
}

/// A change that means nothing.
fn harmless(text: &str, is_dump: bool, dice: &mut Dice) -> String {
    match dice.below(4) {
        0 => text.replace('\n', "\r\n"),
        1 if is_dump => {
            let spread = |line: &str| {
                if line.starts_with("ITEM") { line.to_owned() } else { line.replace(' ', " \t") }
            };
            text.lines().map(spread).collect::<Vec<_>>().join("\n") + "\n"
        }
        2 if is_dump => text.replace("ITEM: TIMESTEP", "\nITEM: TIMESTEP"),
        3 => format!("{text}\n\n"),
        _ => text.to_owned(),
    }
}

/// A dump with a mistake in its last frame.
fn broken(text: &str, is_scaled: bool, dice: &mut Dice) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let atoms = lines.iter().rposition(|line| line.starts_with("ITEM: ATOMS")).expect("a frame");
    let mut lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    let last = lines.len() - 1;
    match dice.below(8) {
        0 => drop(lines.remove(last)),
        1 => lines[last] = lines[last].split_whitespace().skip(1).collect::<Vec<_>>().join(" "),
        2 => lines[last] = format!("{} 1", lines[last]),
        3 => lines[atoms] = format!("{} id", lines[atoms]),
        4 => lines.insert(atoms, "ITEM: NUMBER OF ATOMS".to_owned()),
        5 => lines.push("1 2 3".to_owned()),
        6 if is_scaled => lines[atoms - 1] = "1 1 0".to_owned(),
        6 => lines[atoms - 1] = "0 nan".to_owned(),
        _ => {
            let titles: Vec<&str> = lines[atoms].split_whitespace().skip(2).collect();
            let at =
                titles.iter().position(|title| ["x", "xu", "xs", "xsu"].contains(title)).expect("a column");
            let mut words: Vec<String> = lines[last].split_whitespace().map(str::to_owned).collect();
            words[at] = dice.one(&["nan", "inf", "1e300", "x", "-1e30"]).to_owned();
            lines[last] = words.join(" ");
        }
    }
    lines.join("\n") + "\n"
}

/// Whether a message names a line of the file.
fn names_a_line(message: &str, name: &str) -> bool {
    let rest = message.find(&format!("{name}:")).map(|at| &message[at + name.len() + 1..]);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Runs `each` a number of times, or as long as the environment asks for.
fn rounds(stream: u32, mut each: impl FnMut(&mut Dice, usize)) {
    let (time, seed) = plan();
    let mut dice = Dice(Random::new(seed, Stream::Grains(stream as usize)));
    let is_long = std::env::var_os("ESKER_FUZZ_SECONDS").is_some();
    let (start, mut round) = (Instant::now(), 0);
    while round < ROUNDS || (is_long && start.elapsed() < time) {
        each(&mut dice, round);
        round += 1;
    }
}

/// Reads a file, which must not panic.
fn attempt(folder: &Path, name: &str, content: &str, meant: &Meant) -> Result<Scenario, Vec<String>> {
    catch_unwind(AssertUnwindSafe(|| parse(folder, name, content, meant))).unwrap_or_else(|_| {
        let path = leave(&format!("panics-{name}"), content);
        panic!("reading {} panics", path.display());
    })
}

#[test]
fn fuzz_dumps() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut right, mut refused) = (0, 0);
    rounds(2, |dice, round| {
        let meant = meant(dice);
        let (text, is_scaled) = dump(&meant, dice);
        let (content, expectation) = match round % 4 {
            0 | 1 => (harmless(&text, true, dice), Some(true)),
            2 => (broken(&text, is_scaled, dice), Some(false)),
            _ => (with_piece(&text, dice), None),
        };
        match (attempt(folder.path(), "d.dump", &content, &meant), expectation) {
            (Ok(_), Some(false)) => panic!("accepted:\n{content}"),
            (Ok(scenario), Some(true)) => {
                right += 1;
                let wrong = differs(&scenario, &meant);
                assert!(wrong.is_none(), "{} of:\n{content}", wrong.unwrap_or_default());
            }
            (Ok(scenario), None) => scenario.world.check().expect("numbers in range"),
            (Err(messages), Some(true)) => panic!("{messages:?}:\n{content}"),
            (Err(messages), Some(false)) => {
                refused += 1;
                assert!(
                    messages.iter().all(|message| names_a_line(message, "d.dump")),
                    "{messages:?}:\n{content}"
                );
            }
            (Err(messages), None) => assert!(messages.len() == 1, "{messages:?}:\n{content}"),
        }
    });
    assert!(right > ROUNDS / 3 && refused > ROUNDS / 5, "{right} right, {refused} refused");
}

#[test]
fn fuzz_tables() {
    let folder = tempfile::tempdir().expect("a folder");
    rounds(3, |dice, round| {
        let meant = meant(dice);
        let text = table(&meant, dice);
        if round % 3 == 2 {
            if let Ok(scenario) = attempt(folder.path(), "t.csv", &with_piece(&text, dice), &meant) {
                scenario.world.check().expect("numbers in range");
            }
            return;
        }
        let content = harmless(&text, false, dice);
        match attempt(folder.path(), "t.csv", &content, &meant) {
            Ok(scenario) => {
                let wrong = differs(&scenario, &meant);
                assert!(wrong.is_none(), "{} of:\n{content}", wrong.unwrap_or_default());
            }
            Err(messages) => panic!("{messages:?}:\n{content}"),
        }
    });
}
