//! Folders of results that are moved, that vanish, or are asked for what they do not hold; and the script that builds the page.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::place::{Place, code, error_text};

/// A block from a mesh and a table of grains, each named from the folder of the scenario, and the mesh by two boundaries.
const SCENE: &str = r#"
duration = 0.02
[solver]
time_step = 1e-3
[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.2
friction = 0.4
[[boundaries]]
name = "left"
material = "glass"
shape = { kind = "mesh", file = "parts/block.stl" }
[[boundaries]]
name = "right"
material = "glass"
shape = { kind = "mesh", file = "parts/block.stl", position = [1, 0, 0] }
[[boundaries]]
name = "other"
material = "glass"
shape = { kind = "mesh", file = "other/block.stl", position = [0, 1, 0] }
[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "csv", file = "grains.csv" }
[output]
every = 0.01
"#;

const WEDGE: &str = "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n";

fn scene() -> Place {
    let place = Place::with("scene.toml", SCENE);
    for (name, text) in [("parts/block.stl", WEDGE), ("other/block.stl", &WEDGE.replace("1 0 0", "2 0 0"))] {
        fs::create_dir_all(place.path(name).parent().expect("a folder")).expect("made");
        fs::write(place.path(name), text).expect("written");
    }
    fs::write(place.path("grains.csv"), "x,y,z\n0.2,0.2,0.05\n0.3,0.2,0.05\n").expect("written");
    place
}

fn succeeds(place: &Place, arguments: &[&str]) -> String {
    let output = place.esker(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
    error_text(&output)
}

fn bytes(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn results_that_are_moved_without_the_files_of_their_scenario_are_drawn_continued_and_run_again() {
    let place = scene();
    succeeds(&place, &["run", "scene.toml", "--device", "cpu", "--out", "here", "--until", "0.01"]);
    succeeds(&place, &["run", "scene.toml", "--device", "cpu", "--out", "whole"]);
    let kept = fs::read_to_string(place.path("here/scenario.toml")).expect("a text");
    let root = place.path("").display().to_string();
    assert!(!kept.contains(&root) && kept.contains("\"scenario_files/block-2.stl\""), "{kept}");
    assert_eq!(fs::read_dir(place.path("here/scenario_files")).expect("a folder").count(), 3, "{kept}");

    // Another machine: the results are elsewhere, and nothing else is there.
    fs::rename(place.path("here"), place.path("there")).expect("moved");
    for gone in ["scene.toml", "grains.csv"] {
        fs::remove_file(place.path(gone)).expect("removed");
    }
    for gone in ["parts", "other"] {
        fs::remove_dir_all(place.path(gone)).expect("removed");
    }
    succeeds(&place, &["render", "there", "--at", "0", "--out", "a.png", "--size", "96x72"]);
    succeeds(&place, &["view", "there", "--export", "a.html"]);
    succeeds(&place, &["run", "there/scenario.toml", "--device", "cpu", "--out", "again"]);
    assert_eq!(bytes(&place.path("again/timeseries.csv")), bytes(&place.path("whole/timeseries.csv")));
    let told =
        succeeds(&place, &["run", "there/scenario.toml", "--device", "cpu", "--out", "there", "--resume"]);
    assert!(told.contains("going on from checkpoint_"), "{told}");
    let summary: serde_json::Value =
        serde_json::from_slice(&bytes(&place.path("there/summary.json"))).expect("JSON");
    assert_eq!(
        summary["changed_on_resume"],
        serde_json::json!([]),
        "the files are the same, wherever they are"
    );
    assert_eq!(bytes(&place.path("there/grains_000002.vtp")), bytes(&place.path("whole/grains_000002.vtp")));
    let told =
        succeeds(&place, &["run", "there/scenario.toml", "--device", "cpu", "--out", "there", "--resume"]);
    assert!(told.contains("nothing is left to do"), "{told}");

    // Without --resume, the scenario would be replaced before it is through.
    let refused = place.esker(&["run", "there/scenario.toml", "--device", "cpu", "--out", "there"]);
    assert!(
        code(&refused) == 2 && error_text(&refused).contains("would replace it"),
        "{}",
        error_text(&refused)
    );
}

/// On Windows a folder cannot be removed while a file in it is open.
#[cfg(unix)]
#[test]
fn a_run_whose_folder_vanishes_or_is_replaced_ends_and_says_so() {
    let place =
        Place::with("scene.toml", &SCENE.replace("0.02", "1e6").replace("every = 0.01", "every = 1e3"));
    for (name, text) in [("parts/block.stl", WEDGE), ("other/block.stl", WEDGE)] {
        fs::create_dir_all(place.path(name).parent().expect("a folder")).expect("made");
        fs::write(place.path(name), text).expect("written");
    }
    fs::write(place.path("grains.csv"), "x,y,z\n0.2,0.2,0.05\n").expect("written");
    for is_replaced in [false, true] {
        let mut command =
            place.command(&["run", "scene.toml", "--device", "cpu", "--out", "out/a", "--quiet"]);
        let mut run = command.stderr(Stdio::piped()).spawn().expect("it starts");
        // A folder that is replaced while the first output is written may get some of it, one that is removed may not.
        wait_for(&place.path(if is_replaced { "out/a/walls.pvd" } else { "out/a/grains.pvd" }));
        // The run may still write its first files, so that a folder that was just emptied is not empty.
        let begun = Instant::now();
        while fs::remove_dir_all(place.path("out")).is_err_and(|_| place.path("out").exists()) {
            assert!(begun.elapsed() < Duration::from_secs(10), "the folder cannot be removed");
        }
        if is_replaced {
            fs::create_dir_all(place.path("out/a")).expect("made");
        }
        let begun = Instant::now();
        while run.try_wait().expect("a child").is_none() {
            if begun.elapsed() > Duration::from_secs(10) {
                run.kill().expect("killed");
                panic!("the run goes on without its folder");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = run.wait_with_output().expect("it ends");
        let told = error_text(&output);
        assert!(code(&output) == 1 && told.contains("removed, renamed or replaced during the run"), "{told}");
        let left = fs::read_dir(place.path("out/a")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "nothing is written into the folder of somebody else");
    }
}

#[cfg(unix)]
fn wait_for(path: &Path) {
    let begun = Instant::now();
    while !path.exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} does not appear", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_export_makes_its_folder_and_a_time_beyond_the_end_is_told() {
    let place = scene();
    succeeds(&place, &["run", "scene.toml", "--device", "cpu", "--out", "out", "--quiet"]);
    succeeds(&place, &["export", "out", "--out", "new/folder"]);
    assert!(place.path("new/folder/grains.vtkhdf").is_file());
    let refused = place.esker(&["export", "out", "--out", "scene.toml/folder"]);
    assert!(error_text(&refused).contains("is a file, expected a folder"), "{}", error_text(&refused));
    let draw =
        |at: &str| succeeds(&place, &["render", "out", "--at", at, "--out", "a.png", "--size", "96x72"]);
    assert!(
        draw("5").contains("the results end at t = 0.02 s: the last frame is drawn in place of one at 5 s")
    );
    assert_eq!(draw("0.012"), "", "the nearest frame is what was asked for");
    assert_eq!(draw("0.02"), "");
}

/// The script runs with programs that only note how they are called.
#[cfg(unix)]
#[test]
fn the_page_is_built_from_where_cargo_puts_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/web/build.sh");
    let place = Place::with("notes", "");
    for folder in ["web/page", "scenarios", "bin", "sys/lib/rustlib/wasm32-unknown-unknown"] {
        fs::create_dir_all(place.path(folder)).expect("made");
    }
    fs::copy(script, place.path("web/build.sh")).expect("copied");
    fs::write(place.path("web/page/index.html"), "").expect("written");
    fs::write(place.path("web/examples.json"), "[]").expect("written");
    let cargo = "#!/bin/sh\necho \"$@\" >> notes\n\
        if [ \"$1\" = metadata ]; then echo '{\"packages\":[],\"target_directory\":\"/else where\",\"version\":1}'; fi\n";
    let rustc = format!("#!/bin/sh\necho '{}'\n", place.path("sys").display());
    for (name, text) in [("bin/cargo", cargo), ("bin/rustc", rustc.as_str())] {
        fs::write(place.path(name), text).expect("written");
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(0o755)).expect("allowed");
    }
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap_or_default());
    let built = std::process::Command::new("bash").arg(place.path("web/build.sh")).env("PATH", path).output();
    let built = built.expect("bash is there");
    // Without examples, the search for their names finds nothing.
    let notes = fs::read_to_string(place.path("notes")).expect("notes");
    let wanted = "-- /else where/wasm32-unknown-unknown/web/esker_web.wasm web/dist";
    assert!(notes.contains(wanted), "{notes}{}", error_text(&built));
}
