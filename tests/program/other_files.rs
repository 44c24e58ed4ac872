//! Files of another kind than a command takes, and options that it cannot use: one message that says what was given and what is wanted.

use std::fs;

use crate::place::{Place, code, error_text};

const SCENE: &str = "duration = 0.02\n[solver]\ntime_step = 1e-3\n\
    [materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.25\nrestitution = 0.2\nfriction = 0.4\n\
    [[grains]]\nmaterial = \"glass\"\nradius = { kind = \"constant\", value = 0.005 }\n\
    packing = { kind = \"column\", count = 2, base = [0, 0, 0] }\n";
const STUDY: &str = "title = \"t\"\nabout = \"a\"\nscenario = \"scene.toml\"\n[axes]\n\"materials.glass.friction\" = [0.1, 0.2]\n\
    [keep]\nheight = { of = \"height\", take = \"final\" }\n";
const SUITE: &str = "title = \"s\"\n[[case]]\nfile = \"scene.toml\"\ntitle = \"c\"\nsource = \"x\"\n";

fn place() -> Place {
    let place = Place::with("scene.toml", SCENE);
    for (name, text) in [
        ("study.toml", STUDY),
        ("suite.toml", SUITE),
        ("table.csv", "x,y,z,r\n0,0,1,0.005\n0,0,2,0.005\n0,0,3,0.005\n"),
        ("summary.json", "{\n  \"esker\": \"0.1.0\",\n  \"a\": [1, 2]\n}\n"),
        ("frame.vtp", "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\">\n</VTKFile>\n"),
        ("mesh.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendsolid a\n"),
    ] {
        fs::write(place.path(name), text).expect("written");
    }
    place
}

/// Message of a command that refuses its input for one reason.
fn refusal(place: &Place, line: &[&str]) -> String {
    let output = place.esker(line);
    let text = error_text(&output);
    assert_eq!(code(&output), 2, "{line:?}: {text}");
    assert!(text.contains(": 1 problem\n"), "{line:?}: {text}");
    text
}

#[test]
fn a_file_of_another_kind_is_refused_once_with_what_takes_it() {
    let place = place();
    fs::create_dir(place.path("results")).expect("made");
    fs::write(place.path("results/scenario.toml"), SCENE).expect("written");
    let no_toml = "not a TOML file: this is its first line";
    for (line, cause) in [
        (["check", "study.toml"], "study.toml is a study, expected a scenario"),
        (["check", "suite.toml"], "suite.toml is a suite of cases, expected a scenario"),
        (["study", "scene.toml"], "scene.toml is a scenario, expected a study"),
        (["study", "suite.toml"], "suite.toml is a suite of cases, expected a study"),
        (["validate", "scene.toml"], "scene.toml is a scenario, expected a suite of cases"),
        (["validate", "study.toml"], "`esker study` takes it"),
        (["run", "table.csv"], no_toml),
        (["render", "summary.json"], no_toml),
        (["check", "frame.vtp"], no_toml),
        (["study", "mesh.stl"], no_toml),
        (["run", "results"], "it is a folder, expected a file"),
        (["check", "results"], "its scenario is results/scenario.toml"),
    ] {
        let text = refusal(&place, &line);
        assert!(text.contains(cause), "{line:?}: {text}");
    }
    // A scenario with a syntax mistake in its first line is a scenario: all of its mistakes are told.
    fs::write(place.path("scene.toml"), SCENE.replacen("0.02", "0.02 s", 1).replace("count = 2", "count ="))
        .expect("written");
    let text = error_text(&place.esker(&["check", "scene.toml"]));
    assert!(
        text.find("scene.toml:1:12") < text.find("scene.toml:13:") && text.contains("scene.toml:1:12"),
        "{text}"
    );
}

#[test]
fn an_option_with_a_negative_number_says_what_it_takes() {
    let place = place();
    for (line, cause) in [
        (["run", "scene.toml", "--until", "-1"], "expected a time in seconds, from 0 to"),
        (["render", "scene.toml", "--zoom", "-2"], "invalid value '-2' for '--zoom"),
        (["render", "scene.toml", "--fps", "-2"], "invalid value '-2' for '--fps"),
        (["render", "scene.toml", "--trails", "-1"], "invalid value '-1' for '--trails"),
    ] {
        let output = place.esker(&line);
        let text = error_text(&output);
        assert!(code(&output) == 2 && text.contains(cause), "{line:?}: {text}");
    }
}

#[test]
fn what_follows_from_a_mistake_is_not_told_again() {
    let place = place();
    // The keys of a table that is there twice are there twice as well.
    fs::write(place.path("scene.toml"), format!("{SCENE}[solver]\ntime_step = 2e-3\niterations = 9\n"))
        .expect("written");
    let text = refusal(&place, &["check", "scene.toml"]);
    assert!(text.contains("duplicate key: `solver` is there twice"), "{text}");
    // After it, another mistake is told.
    fs::write(
        place.path("scene.toml"),
        format!("{SCENE}[solver]\ntime_step = 2e-3\n[observe]\ngrain_stress = true\ngrain_stress = true\n"),
    )
    .expect("written");
    let text = error_text(&place.esker(&["check", "scene.toml"]));
    assert!(text.contains("2 problems") && text.contains("`grain_stress` is there twice"), "{text}");
    // A setting that the scenario does not have is unknown for every value of an axis.
    fs::write(place.path("scene.toml"), SCENE).expect("written");
    fs::write(place.path("study.toml"), STUDY.replace("glass.friction", "glass.fricton")).expect("written");
    let text = refusal(&place, &["study", "study.toml"]);
    assert!(text.contains("unknown key `fricton`") && !text.contains("also in line"), "{text}");
}

#[test]
fn an_emitter_that_starts_after_the_end_is_told() {
    let place = place();
    let emitter = |start: f64| {
        format!(
            "{SCENE}[[emitters]]\nmaterial = \"glass\"\nradius = {{ kind = \"constant\", value = 0.005 }}\n\
             region = {{ kind = \"box\", min = [0, 0, 1], max = [0.1, 0.1, 1.1] }}\nrate = 1000\nstart = {start}\nstop = 9\n"
        )
    };
    for (start, is_told) in [(1.0, true), (0.01, false)] {
        fs::write(place.path("scene.toml"), emitter(start)).expect("written");
        let text = crate::place::text(&place.esker(&["check", "scene.toml"]));
        let told =
            text.contains("emitters.0 starts at 1 s, and the run ends at 0.02 s: no grain of it comes");
        assert_eq!(told, is_told, "{text}");
    }
}

#[test]
fn an_index_of_frames_that_leads_out_of_its_folder_is_refused() {
    let place = place();
    let run = place.esker(&["run", "scene.toml", "--device", "cpu", "--out", "out", "--quiet"]);
    assert_eq!(code(&run), 0, "{}", error_text(&run));
    let index = place.path("out/grains.vtp.series");
    let text = fs::read_to_string(&index).expect("an index");
    for name in ["../frame.vtp", "/etc/hostname", ".."] {
        fs::write(&index, text.replacen("grains_000000.vtp", name, 1)).expect("written");
        let output = place.esker(&["export", "out", "--out", "exported"]);
        let text = error_text(&output);
        assert!(code(&output) > 0 && text.contains("which is no file of this folder"), "{text}");
    }
}
