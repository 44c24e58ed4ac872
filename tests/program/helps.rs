//! Help for beginners: examples to start from, completions, pages of the manual, the schema for editors.

use std::fs;

use super::place::{Place, code, error_text, text};

fn empty() -> Place {
    Place::with("unrelated.toml", "")
}

#[test]
fn a_new_scenario_is_the_example_under_its_own_name_and_passes_the_check() {
    let place = empty();
    let output = place.esker(&["new", "mine", "--from", "hopper"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let written = fs::read_to_string(place.path("mine.toml")).expect("the scenario");
    assert!(written.contains("esker run mine.toml") && written.contains("[[sinks]]"), "{written}");
    let output = place.esker(&["check", "mine.toml"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
}

#[test]
fn a_new_scenario_replaces_no_file_and_an_unknown_example_is_named() {
    let place = Place::with("mine.toml", "precious");
    let output = place.esker(&["new", "mine.toml"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("there is such a file"), "{}", error_text(&output));
    assert_eq!(fs::read_to_string(place.path("mine.toml")).expect("a file"), "precious");
    let output = place.esker(&["new", "other", "--from", "hoper"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("did you mean `hopper`?"), "{}", error_text(&output));
    assert!(!place.path("other.toml").exists());
}

#[test]
fn the_examples_are_listed_with_their_titles() {
    let output = empty().esker(&["new", "--list"]);
    assert_eq!(code(&output), 0);
    assert!(text(&output).lines().any(|line| line.starts_with("pile ") && line.contains("3 363 pellets")));
}

#[test]
fn shells_complete_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = empty().esker(&["completions", shell]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        for word in ["run", "validate", "render", "schema"] {
            assert!(text(&output).contains(word), "{shell} does not know {word}");
        }
    }
    assert_eq!(code(&empty().esker(&["completions", "command.com"])), 2);
}

#[test]
fn the_manual_has_a_page_of_every_command() {
    let program = text(&empty().esker(&["man"]));
    assert!(program.starts_with(".") && program.contains(".TH esker"), "{program}");
    let page = text(&empty().esker(&["man", "run"]));
    assert!(page.contains("esker\\-run") && page.contains("resume"), "{page}");
    let output = empty().esker(&["man", "runn"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("did you mean `run`?"), "{}", error_text(&output));
}

#[test]
fn the_schema_is_printed_as_json() {
    let output = empty().esker(&["schema"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    let schema: serde_json::Value = serde_json::from_str(&text(&output)).expect("JSON");
    assert_eq!(schema["properties"]["solver"]["properties"]["iterations"]["default"], 20);
    let friction = &schema["properties"]["materials"]["additionalProperties"]["properties"]["friction"];
    assert_eq!((&friction["type"], &friction["minimum"]), (&"number".into(), &0.into()), "{friction}");
}

/// The commands of the first steps of the guide, in their order.
fn first_steps() -> Vec<Vec<String>> {
    let guide = include_str!("../../src/guide/first_steps.md");
    let blocks = guide.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let command = |line: &str| {
        line.split('#').next().and_then(|code| code.trim().strip_prefix("esker ").map(str::to_owned))
    };
    let words = |command: String| command.split_whitespace().map(str::to_owned).collect();
    blocks.flat_map(|block| block.lines().filter_map(command)).map(words).collect()
}

#[test]
fn the_first_steps_of_the_guide_work_as_they_stand() {
    let (place, commands) = (empty(), first_steps());
    assert!(commands.len() >= 9, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let output = place.esker(&words);
        assert_eq!(code(&output), 0, "esker {}: {}", words.join(" "), error_text(&output));
    }
    for file in ["silo.toml", "silo.png", "out/silo/grains.vtkhdf", "out/slippery/summary.json"] {
        assert!(place.path(file).exists(), "{file} is missing");
    }
}

#[test]
fn the_first_steps_name_quantities_that_there_are() {
    let guide = include_str!("../../src/guide/first_steps.md");
    let table =
        guide.split("| Quantity |").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a table");
    let names: Vec<&str> = table.split('`').skip(1).step_by(2).collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        assert!(esker::observe::quantity::find(name).is_some(), "there is no quantity {name}");
    }
}
