//! Dispatches of more workgroups than a device takes in a row (65 535) are folded into rows. Scenes that large are slow to test; with two
//! groups to a row small scenes are folded alike, and must come to the same bits.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use crate::common::*;
use esker::engine::Engine;
use esker::gpu::shader::Edit;
use esker::scenario::Scenario;
use esker::settings::Settings;

const TWO_TO_A_ROW: Edit = Edit { from: "const GROUPS_PER_ROW = 32768u;", to: "const GROUPS_PER_ROW = 2u;" };

/// Scenes that between them have more than two groups in every kernel but those over boundaries.
fn scenes() -> Vec<(&'static str, Scenario)> {
    let sink = r#"sinks.0.region.point=[0, 0, 0.04]"#;
    vec![
        ("a layer on the floor", many_on_one_boundary()),
        ("a bed with sinks", scenario("hopper.toml", &[sink])),
        ("a box on a bed", box_on_a_bed()),
    ]
}

/// Results of a few steps as text, exact to the last digit: those that do not depend on the order of the contacts of a colour, which is
/// left to chance.
fn outcome(scene: &Scenario, steps: u64, edits: &[Edit]) -> String {
    let settings = Settings { iterations: 6, ..scene.settings };
    let mut engine = gpu(&scene.world, &settings);
    if !edits.is_empty() {
        engine.edit_shaders(edits).unwrap();
    }
    let contacts = engine.advance(steps).map(|report| report.contacts);
    let lists = (engine.keys(), engine.velocities(), engine.measure_residuals());
    format!("{contacts:?} {lists:?} {:?}", engine.balance_entry())
}

#[test]
fn a_folded_dispatch_comes_to_the_same_bits() {
    for (name, scene) in scenes() {
        let (plain, folded) = (outcome(&scene, 4, &[]), outcome(&scene, 4, &[TWO_TO_A_ROW]));
        assert!(plain == outcome(&scene, 4, &[]), "{name}: what is compared depends on chance");
        assert!(plain == folded, "{name}: a kernel forgets rows");
    }
}

/// Control: a kernel that ignores the rows of a dispatch is noticed. After one step only, as the wrong state may keep the next step from
/// ending.
#[test]
fn a_kernel_that_forgets_the_rows_is_noticed() {
    let (name, scene) = scenes().swap_remove(0);
    let plain = outcome(&scene, 1, &[]);
    for (shader, from, to) in [
        ("invocations", "invocation.x + invocation.y * (GROUPS_PER_ROW * GROUP)", "invocation.x"),
        ("tiles", "let tile = group.x + group.y * GROUPS_PER_ROW;", "let tile = group.x;"),
        (
            "scan and balance",
            "fn block_of(group: vec3u) -> u32 {\n    return group.x + group.y * GROUPS_PER_ROW;",
            "fn block_of(group: vec3u) -> u32 {\n    return group.x;",
        ),
        ("residual", "let block = group.x + group.y * GROUPS_PER_ROW;", "let block = group.x;"),
        ("indirect", "(groups + GROUPS_PER_ROW - 1u) / GROUPS_PER_ROW", "1u"),
    ] {
        let mutated = outcome(&scene, 1, &[Edit { from, to }, TWO_TO_A_ROW]);
        assert!(plain != mutated, "{name}: {shader} forgets rows, and nothing comes of it");
    }
}

/// The workgroup that solves a tile has as many invocations as suits the device. Control: one that skips contacts.
#[test]
fn the_size_of_the_workgroups_of_tiles_changes_no_bit() {
    let wide = Edit { from: "override LANES: u32 = 128u;", to: "const LANES = 128u;" };
    let skipping = Edit { from: "place += LANES", to: "place += 2u * LANES" };
    for (name, scene) in scenes() {
        let plain = outcome(&scene, 4, &[]);
        assert!(plain == outcome(&scene, 4, &[wide]), "{name}: 128 invocations come to other bits");
        let notices = name == "a layer on the floor";
        assert!(
            !notices || plain != outcome(&scene, 4, &[skipping]),
            "{name}: contacts are skipped, and nothing comes of it"
        );
    }
}
