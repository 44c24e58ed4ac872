//! `esker import` as a user starts it: files, exit codes, and runs one after the other.

use std::fs;

use super::{HEAD, MODEL, SQUARE};
use crate::place::{Place, code, error_text, text};

/// A grain that lies on a plug, which is taken away, and then falls through a gate.
fn plugged() -> Place {
    let script = format!(
        "{HEAD}{MODEL}fix plug all mesh/surface file square.stl type 2 scale 0.1\n\
         fix walls all wall/gran model hertz tangential history mesh n_meshes 1 meshes plug\n\
         create_atoms 1 single 0 0 0.01\nset group all diameter 0.02 density 2500\ndump d all custom 1000 f id x\nrun 5000\n\
         unfix walls\nunfix plug\nfix gate all mesh/surface/planar file square.stl type 1 scale 0.1 move 0 0 -0.05\n\
         fix out all massflow/mesh mesh gate vec_side 0 0 -1 delete_atoms yes\nrun 20000\n"
    );
    let place = Place::with("in.plug", &script);
    fs::write(place.path("square.stl"), SQUARE).expect("written");
    place
}

#[test]
fn a_script_whose_walls_change_becomes_scenarios_that_run_one_after_the_other() {
    let place = plugged();
    let output = place.esker(&["import", "in.plug"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(
        text(&output).contains("wrote plug.toml") && text(&output).contains("wrote plug-2.toml"),
        "{}",
        text(&output)
    );
    assert!(error_text(&output).contains("in.plug:26: differs: walls change"), "{}", error_text(&output));
    for file in ["plug.toml", "plug-2.toml"] {
        let run = place.esker(&["run", file, "--device", "cpu"]);
        assert_eq!(code(&run), 0, "{file}: {}", error_text(&run));
    }
    let grains = |folder: &str| {
        let summary = fs::read_to_string(place.path(folder).join("summary.json")).expect("a summary");
        serde_json::from_str::<serde_json::Value>(&summary).expect("JSON")["observables"].clone()
    };
    assert_eq!(grains("out/plug")["grains"], 1.0, "it lies on the plug");
    assert_eq!(
        (&grains("out/plug-2")["grains"], &grains("out/plug-2")["removed:out"]),
        (&0.0.into(), &1.0.into())
    );
}

#[test]
fn files_are_not_replaced_unasked_and_meshes_are_found_from_where_the_scenario_is() {
    let place = plugged();
    fs::create_dir(place.path("to")).expect("a folder");
    let arguments = ["import", "in.plug", "--out", "to/mine.toml"];
    assert_eq!(code(&place.esker(&arguments)), 0);
    let written = fs::read_to_string(place.path("to/mine.toml")).expect("written");
    assert!(written.contains("file = \"../square.stl\""), "{written}");
    let again = place.esker(&arguments);
    assert_eq!(code(&again), 2);
    assert!(
        error_text(&again).contains("there is such a file") && error_text(&again).contains("--replace"),
        "{}",
        error_text(&again)
    );
    assert_eq!(code(&place.esker(&[&arguments[..], &["--replace"]].concat())), 0);
}

#[test]
fn a_scenario_that_is_not_valid_is_written_and_told() {
    let place = plugged();
    fs::remove_file(place.path("square.stl")).expect("removed");
    let script = fs::read_to_string(place.path("in.plug")).expect("the script");
    let first = script.split("unfix walls").next().expect("the first run");
    fs::write(place.path("in.plug"), first).expect("written");
    let output = place.esker(&["import", "in.plug"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("square.stl cannot be read"), "{}", error_text(&output));
    assert!(place.path("plug.toml").exists());
    let wrong = place.esker(&["import", "in.plug", "--var", "speed"]);
    assert!(
        code(&wrong) == 2 && error_text(&wrong).contains("expected NAME=VALUE"),
        "{}",
        error_text(&wrong)
    );
}
