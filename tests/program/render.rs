//! Pictures as a user makes them with `esker render`, and the fields and looks that they are made of.

use std::fs;
use std::path::Path;
use std::process::Output;

use esker::cpu::CpuEngine;
use esker::engine::Engine;
use esker::model::{Heat, WallHeat, World};
use esker::render::{FIELDS, Look, Show};
use esker::render::{Picture, Survey, frame_of};
use esker::scenario::Scenario;
use glam::DVec3;

use super::place::{Place, code, error_text};

/// Three grains on each other in a cup that moves aside, with a free box beside them.
const SCENE: &str = r#"
title = "Three grains and a box"
duration = 0.2
[solver]
time_step = 0.005
[output]
every = 0.05
formats = ["vtp"]
[materials.steel]
density = 7800.0
youngs_modulus = 1e7
poisson_ratio = 0.3
restitution = 0.2
friction = 0.5
[[boundaries]]
name = "cup"
material = "steel"
shape = { kind = "cylinder", base = [0, 0, 0], axis = [0, 0, 1], length = 0.1, radius = 0.03, caps = true }
motion = { kind = "velocity", velocity = [0.1, 0, 0] }
[[boundaries]]
name = "box"
material = "steel"
shape = { kind = "box", min = [0.1, 0, 0.1], max = [0.14, 0.04, 0.14], side = "outside" }
motion = { kind = "dynamic" }
[[grains]]
material = "steel"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "column", count = 3, base = [0, 0, 0] }
"#;

impl Place {
    fn with_scene() -> Place {
        Place::with("scene.toml", SCENE)
    }

    /// A place where the scenario was run, with results in `out/scene`.
    fn with_results(more: &[&str]) -> Place {
        let place = Place::with_scene();
        let run = place.esker(&[&["run", "scene.toml", "--device", "cpu", "--quiet"], more].concat());
        assert_eq!(code(&run), 0, "{}", error_text(&run));
        place
    }

    /// `esker render out/scene` with small pictures.
    fn render(&self, more: &[&str]) -> Output {
        self.esker(&[&["render", "out/scene", "--size", "160x120"], more].concat())
    }

    /// Calls `render` and asserts that it succeeds.
    fn draws(&self, more: &[&str]) {
        let output = self.render(more);
        assert_eq!(code(&output), 0, "{more:?}: {}", error_text(&output));
    }
}

/// Size, frames and first pixels of a PNG.
fn read_png(path: &Path) -> (u32, u32, u32, Vec<u8>) {
    let file = fs::File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
    let frames = reader.info().animation_control().map_or(1, |control| control.num_frames);
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("pixels");
    (info.width, info.height, frames, pixels)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_of_results_becomes_a_picture_per_frame_or_an_animation_or_one_picture() {
    let place = Place::with_results(&[]);
    place.draws(&[]);
    let numbers = 0..5;
    let expected: Vec<String> = numbers.map(|i| format!("picture_{i:06}.png")).collect();
    assert_eq!(names_in(&place.path("out/scene/pictures")), expected);
    let (width, height, _, first) = read_png(&place.path("out/scene/pictures/picture_000000.png"));
    assert_eq!((width, height), (160, 120));
    assert_ne!(first, read_png(&place.path("out/scene/pictures/picture_000004.png")).3, "they move");

    place.draws(&["--out", "film.apng"]);
    assert_eq!(read_png(&place.path("film.apng")).2, 5);
    place.draws(&["--out", "film.gif", "--fps", "10"]);
    assert!(fs::read(place.path("film.gif")).expect("a file").starts_with(b"GIF89a"));

    place.draws(&["--at", "0.1"]);
    let of_folder = fs::read(place.path("out/scene/pictures/picture_000002.png")).expect("a file");
    assert_eq!(fs::read(place.path("out/scene/picture.png")).expect("a file"), of_folder);
}

#[test]
fn compatible_forces_are_drawn_of_a_run_that_has_them() {
    let has_them = Place::with_results(&["--set", "forces={ compatible = { law = \"hertz\" } }"]);
    let drawn = |show: &str| {
        has_them.draws(&["--out", "a.png", "--at", "0.2", "--show", show]);
        read_png(&has_them.path("a.png"))
    };
    assert_ne!(drawn("compatible_forces"), drawn("grains"));
    assert_ne!(drawn("compatible_forces"), drawn("forces"), "the legend names them");
    let has_none = Place::with_results(&[]);
    let refused = has_none.esker(&["render", "out/scene", "--show", "compatible_forces"]);
    assert_ne!(code(&refused), 0);
    assert!(error_text(&refused).contains("ask for `compatible` in `[forces]`"), "{}", error_text(&refused));
}

#[test]
fn every_option_of_the_look_changes_the_picture() {
    let place = Place::with_results(&[]);
    let drawn = |more: &[&str]| {
        place.draws(&[&["--out", "a.png", "--at", "0.1"], more].concat());
        read_png(&place.path("a.png"))
    };
    let plain = drawn(&[]);
    let options: [&[&str]; 15] = [
        &["--azimuth", "-40"],
        &["--elevation", "80"],
        &["--projection", "perspective"],
        &["--zoom", "2"],
        &["--fit", "-0.05,-0.05,0:0.05,0.05,0.1"],
        &["--cut", "y=0"],
        &["--cut", "0,0,0:1,1,0"],
        &["--show", "forces"],
        &["--show", "forces", "--rose"],
        &["--trails", "0.05"],
        &["--trails", "0.1"],
        &["--colour-by", "height"],
        &["--range", "-1,0.5"],
        &["--boundaries", "edges"],
        &["--boundaries", "hidden"],
    ];
    for option in options {
        assert_ne!(drawn(option), plain, "{option:?}");
    }
    let forces = drawn(&["--show", "forces"]);
    assert_ne!(drawn(&["--show", "forces", "--rose"]), forces, "a rose beside them");
    assert_ne!(drawn(&["--trails", "0.05"]), drawn(&["--trails", "0.04"]), "not by whole frames alone");
    assert_ne!(drawn(&["--trails", "0.05"]), drawn(&["--trails", "0.1"]), "a longer trail is longer");
    assert_eq!(drawn(&["--trails", "0.1"]), drawn(&["--trails", "9"]), "nothing was before the start");
    assert_eq!(drawn(&[]), plain, "without options it is as before");
}

#[test]
fn a_scenario_is_drawn_in_its_initial_state() {
    let place = Place::with_scene();
    let output =
        place.esker(&["render", "scene.toml", "--size", "160x120", "--set", "grains.0.packing.count=2"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert_eq!(read_png(&place.path("scene.png")).2, 1);
}

#[test]
fn a_run_draws_as_it_goes_what_render_draws_afterwards() {
    // With the range and the fitted region given, as a run does not know what is to come.
    let pictures = "output.pictures={ every = 0.1, size = [160, 120], range = [0.0, 0.5], \
                    fit = { min = [-0.04, -0.04, 0.0], max = [0.15, 0.05, 0.15] } }";
    let place = Place::with_results(&["--set", pictures]);
    let folder = place.path("out/scene/pictures");
    assert_eq!(names_in(&folder), ["picture_000000.png", "picture_000001.png", "picture_000002.png"]);
    // Every second frame is one of these pictures, with the look of the scenario.
    for (picture, time) in
        [("picture_000000.png", "0"), ("picture_000001.png", "0.1"), ("picture_000002.png", "0.2")]
    {
        let output = place.esker(&["render", "out/scene", "--at", time]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let afterwards = fs::read(place.path("out/scene/picture.png")).expect("a file");
        assert!(fs::read(folder.join(picture)).expect("a file") == afterwards, "{picture} differs");
    }
    let again = place.esker(&["run", "scene.toml", "--device", "cpu", "--quiet"]);
    assert_eq!(code(&again), 0, "{}", error_text(&again));
    assert!(names_in(&folder).is_empty(), "pictures of the run before are removed with its other results");
}

#[test]
fn what_cannot_be_drawn_exits_2_and_says_what_to_change() {
    let place = Place::with_results(&[]);
    fs::create_dir(place.path("empty")).expect("created");
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = place.esker(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}: {}", error_text(&output));
        // Messages are wrapped to the width of a terminal.
        let text =
            error_text(&output).split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        words.iter().for_each(|word| assert!(text.contains(word), "no `{word}` in {text}"));
    };
    let results = "out/scene";
    refused(&["render", "empty"], &["holds no frames", "esker run"]);
    refused(&["render", "nothing"], &["nothing"]);
    refused(&["render", results, "--colour-by", "velocty"], &["velocty", "did you mean `velocity`"]);
    refused(
        &["render", results, "--colour-by", "temperature"],
        &["known:", "`coordination_number`", "`velocity_z`"],
    );
    refused(&["render", results, "--out", "a.avi"], &[".avi", ".apng", ".mp4"]);
    refused(&["render", results, "--out", "a.gif", "--at", "0.1"], &["--at"]);
    refused(&["render", results, "--set", "duration=1"], &["--set", "folder of results"]);
    refused(&["render", results, "--show", "forces", "--colour-by", "id"], &["--colour-by", "leave out"]);
    refused(&["render", results, "--rose"], &["--rose", "add `--show forces`"]);
    refused(&["render", results, "--show", "forces", "--trails", "1"], &["--trails", "--show grains"]);
    refused(&["render", "scene.toml", "--trails", "1"], &["initial state", "run the scenario"]);
    refused(&["render", results, "--size", "10x10"], &["64", "8192"]);
    refused(&["render", results, "--cut", "w=1"], &["y=0.1"]);
    refused(&["render", results, "--range", "2,1"], &["ascend"]);
    refused(&["render", "scene.toml", "--at", "0.1"], &["initial state"]);
    refused(&["render", "scene.toml", "--out", "a.gif"], &["initial state", ".png"]);

    let frame = place.path("out/scene/grains_000002.vtp");
    let text = fs::read_to_string(&frame).expect("a frame");
    fs::write(&frame, &text[..text.len() / 2]).expect("written");
    refused(&["render", results, "--out", "a.apng"], &["grains_000002.vtp", "not whole"]);
    assert!(!place.path("a.apng").exists() && !place.path("a.gif").exists(), "nothing half made");
}

#[test]
#[cfg(unix)]
fn mp4_goes_through_ffmpeg_and_says_so_when_there_is_none() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_results(&[]);
    let mut arguments = vec!["render", "out/scene", "--size", "160x120", "--out", "film.mp4"];
    let programs = place.path("programs");
    fs::create_dir(&programs).expect("created");
    let output = place.command(&arguments).env("PATH", &programs).output().expect("the program starts");
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("ffmpeg") && error_text(&output).contains(".gif"));
    assert!(!place.path("film.mp4").exists());

    // A program `ffmpeg` that keeps its input.
    let ffmpeg = programs.join("ffmpeg");
    fs::write(&ffmpeg, "#!/bin/sh\nfor last; do :; done\n/bin/cat > \"$last\"\n").expect("written");
    fs::set_permissions(&ffmpeg, fs::Permissions::from_mode(0o755)).expect("made a program");
    let output = place.command(&arguments).env("PATH", &programs).output().expect("the program starts");
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let frames = fs::metadata(place.path("film.mp4")).expect("a film").len() / (160 * 120 * 3);
    assert_eq!(frames, 5);

    fs::write(&ffmpeg, "#!/bin/sh\n/bin/cat > /dev/null\necho no such codec >&2\nexit 1\n").expect("written");
    arguments[5] = "other.mp4";
    let output = place.command(&arguments).env("PATH", &programs).output().expect("the program starts");
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("no such codec"), "{}", error_text(&output));
    assert!(!place.path("other.mp4").exists());
}

/// The scene with the cup at rest.
fn scene() -> Scenario {
    scene_in_a_cup("{ kind = \"fixed\" }")
}

/// The scene with a cup that turns about its own axis.
fn turning_scene() -> Scenario {
    scene_in_a_cup("{ kind = \"rotation\", rate = 2.0, start = 0.1 }")
}

/// The scene with a cup that moves like this.
fn scene_in_a_cup(motion: &str) -> Scenario {
    let text = SCENE.replace("{ kind = \"velocity\", velocity = [0.1, 0, 0] }", motion);
    Scenario::parse("scene", &text, Path::new("."), &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

fn drawn(look: &Look, scenario: &Scenario) -> Picture {
    let mut engine = CpuEngine::new(scenario.world.clone(), scenario.settings);
    engine.advance(100).expect("steps");
    let frame = frame_of(&engine.snapshot().expect("a state"), look.show).expect("a frame");
    let mut survey = Survey::new(look, &scenario.world);
    survey.add(&frame).expect("the field is there");
    survey.painter().expect("a font").draw(&frame).expect("a picture")
}

#[test]
fn every_field_that_a_scenario_may_name_can_be_drawn() {
    let mut scenario = turning_scene();
    let world = &mut scenario.world;
    world.materials.list.iter_mut().for_each(|material| material.heat_capacity = 800.0);
    world.set_heat(Heat::new(300.0, vec![WallHeat::Insulated; world.boundaries.len()]));
    for field in FIELDS {
        let look = Look { colour_by: (*field).to_owned(), size: [64, 64], ..Look::of_scene(&scenario.world) };
        drawn(&look, &scenario);
    }
}

/// Relative velocity of a grain beside the axis of the cup, before the cup turns and while it turns; a scene where nothing turns has no
/// such field.
#[test]
fn relative_velocities_are_those_beside_what_turns() {
    let mut scenario = turning_scene();
    let grain = scenario.world.boundaries.len();
    scenario.world.bodies.position[grain] = DVec3::new(0.02, 0.0, 0.01);
    scenario.world.bodies.velocity[grain] = DVec3::new(0.0, 0.01, 0.0);
    let relative = |world: &World, time: f64| -> Option<Vec<f64>> {
        let mut engine = CpuEngine::new(world.clone(), scenario.settings);
        let mut snapshot = engine.snapshot().expect("a state");
        snapshot.report.time = time;
        let frame = frame_of(&snapshot, Show::Grains).expect("a frame");
        let field = frame.fields.iter().find(|field| field.name == "relative_velocity")?;
        Some(field.components_of(0).collect())
    };
    let near = |found: Option<Vec<f64>>, expected: [f64; 3]| {
        let found = found.expect("the field");
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-8), "{found:?}, not {expected:?}");
    };
    near(relative(&scenario.world, 0.0), [0.0, 0.01, 0.0]);
    near(relative(&scenario.world, 0.2), [0.0, 0.01 - 2.0 * 0.02, 0.0]);
    assert_eq!(relative(&scene().world, 0.2), None);
}

/// Force lines are as wide as their forces are large: the contact below the lowest of three stacked grains carries three weights, the
/// middle one two, the upper one one.
#[test]
fn lines_of_forces_are_as_wide_as_the_forces_are_large() {
    let scenario = scene();
    let look = Look {
        show: Show::Forces,
        size: [400, 400],
        azimuth_deg: 0.0,
        elevation_deg: 0.0,
        fit: Some([DVec3::new(-0.02, -0.03, 0.0), DVec3::new(0.06, 0.03, 0.06)]),
        boundaries: esker::render::BoundaryStyle::Hidden,
        ..Look::of_scene(&scenario.world)
    };
    let picture = drawn(&look, &scenario);
    // Grains are faint and grey, lines have colours: count coloured pixels of rows through the column.
    let is_coloured =
        |pixel: &&[u8; 3]| pixel.iter().max().unwrap_or(&0) - pixel.iter().min().unwrap_or(&0) > 25;
    let bar = 300;
    let widths: Vec<usize> = (0..400)
        .map(|row| picture.pixels[row * 400..row * 400 + bar].iter().filter(is_coloured).count())
        .filter(|&width| width > 0)
        .collect();
    let mut levels = widths.clone();
    levels.sort_unstable();
    let at = |share: f64| levels[(share * (levels.len() - 1) as f64) as usize] as f64;
    // Rows: half a diameter carries three weights, a diameter two, a diameter one. Widths are whole pixels.
    let (one, two, three) = (at(0.2), at(0.6), at(0.95));
    assert!(one >= 5.0, "wide enough to be measured: {widths:?}");
    assert!(
        (two - 2.0 * one).abs() <= 2.0 && (three - 3.0 * one).abs() <= 3.0,
        "{one}, {two}, {three}: {widths:?}"
    );
}
