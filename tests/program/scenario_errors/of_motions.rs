//! Errors of motions: kinematic walls with one or several motions.

use std::fs;
use std::path::Path;

use esker::scenario::Scenario;

use super::{GOOD, problems, refuses};

/// Motion of the drum of the good file.
const DRUM: &str = "{ kind = \"rotation\", rate = 0.5 }";

/// Asserts that the drum with this motion is refused at `marked` within it (at the motion, if that is empty), with these words.
fn refuses_motion(motion: &str, marked: &str, words: &[&str]) {
    refuses("motion = {", DRUM, motion, if marked.is_empty() { motion } else { marked }, words);
}

/// Refuses tables, for which the drum is no drum any more: its observation goes.
fn refuses_table(keys: &str, words: &[&str]) {
    let drum = "\n[observe.drum]\nboundary = \"drum\"\n";
    let text = GOOD.replace(DRUM, &format!("{{ kind = \"table\", {keys} }}")).replace(drum, "");
    let found = problems(&text, &[]).to_string();
    assert_eq!(found.lines().count(), 2, "one mistake was made, but:\n{found}");
    words.iter().for_each(|word| assert!(found.contains(word), "no \"{word}\" in\n{found}"));
}

#[test]
fn a_motion_ends_after_it_begins_with_room_for_its_ramps() {
    let with = |more: &str| DRUM.replace(" }", &format!(", {more} }}"));
    refuses_motion(&with("start = 2, stop = 1"), "", &["stops at 1 s, and starts at 2 s", "after `start`"]);
    refuses_motion(&with("stop = 1, start = 1"), "", &["stops at 1 s, and starts at 1 s"]);
    refuses_motion(
        &with("stop = 1, ramp = 0.6"),
        "",
        &["rises for 0.6 s and falls for 0.6 s, and has 1 s from start to stop", "at most 0.5"],
    );
    refuses_motion(
        &with("ramp = -1"),
        "-1",
        &["`boundaries.1.motion.ramp` is -1", "zero or a positive time"],
    );
    refuses_motion(&with("stop = 0"), "0 }", &["a positive time"]);
}

#[test]
fn a_list_of_motions_has_kinematic_ones_each_with_its_mistakes() {
    refuses_motion(
        &format!("[{{ kind = \"oscillation\", amplitude = [0, 0, 0.1] }}, {DRUM}]"),
        "{ kind = \"osc",
        &["missing key `frequency` in `boundaries.1.motion.0`"],
    );
    refuses_motion(
        &format!("[{{ kind = \"slider\" }}, {DRUM}]"),
        "\"slider\"",
        &["`boundaries.1.motion.0.kind` is \"slider\"", "rocking"],
    );
    refuses_motion(
        &format!("[{{ kind = \"rocking\", amplitude_deg = 5, frequency = 1, period = 1 }}, {DRUM}]"),
        "{ kind = \"rocking",
        &["has `frequency` and `period`", "leave out one of the two"],
    );
    refuses_motion(
        &format!("[{{ kind = \"rocking\", amplitude = 5, frequency = 1, amplitude_deg = 5 }}, {DRUM}]"),
        "amplitude =",
        &["unknown key `amplitude` in `boundaries.1.motion.0`", "did you mean `amplitude_deg`?"],
    );
    let empty = GOOD.replace(DRUM, "[]");
    let found = problems(&empty, &[]).to_string();
    assert!(found.contains("`boundaries.1.motion` is an empty list"), "{found}");
    // What does not turn last is no drum.
    let shaken = format!("[{DRUM}, {{ kind = \"velocity\", velocity = [0, 0, 1] }}]");
    let found = problems(&GOOD.replace(DRUM, &shaken), &[]).to_string();
    assert!(found.contains("boundary \"drum\" is not a drum"), "{found}");
    let rocked =
        format!("[{{ kind = \"rocking\", axis = [1, 0, 0], amplitude_deg = 5, period = 2 }}, {DRUM}]");
    let read = Scenario::parse("case", &GOOD.replace(DRUM, &rocked), Path::new(""), &[]);
    let again = read.unwrap_or_else(|found| panic!("{found}")).resolved;
    Scenario::parse("case", &again, Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn rotations_of_a_table_are_rotations_and_lead_one_way_round() {
    let two = |rotations: &str| format!("times = [0, 1], rotations = {rotations}");
    refuses_table(
        &two("[[0, 0, 0, 1], [0, 0, 0, 0]]"),
        &["`boundaries.1.motion.rotations.1`", "length zero"],
    );
    refuses_table(&two("[[0, 0, 0, 1], [0, 0, 1]]"), &["has 3 numbers, expected a quaternion of four"]);
    refuses_table(&two("[[0, 0, 0, 1]]"), &["has 2 times and 1 rotations"]);
    refuses_table(
        &two("[{ axis = [0, 0, 1], angle_deg = 0 }, { axis = [0, 0, 1], angle_deg = 360 }]"),
        &["half a turn or more from 0 s to 1 s", "add rows in between"],
    );
    refuses_table(&two("[[0, 0, 0, 1], [1, 0, 0, 0]]"), &["half a turn or more from 0 s to 1 s"]);
    refuses_table("times = [0, 1], displacements = [[0, 0, 0]]", &["has 2 times and 1 displacements"]);
    refuses_table(
        "times = [0, 1], displacements = [[0, 0, 0]], rotations = [[0, 0, 0, 1], [0, 0, 1, 1]]",
        &["has 2 times and 1 displacements"],
    );
    refuses_table("times = [0], displacements = [[0, 0, 0]], ramp = 1", &["unknown key `ramp`"]);
}

/// A plane that a motion tilts over the end of a period is refused, whichever of several motions does it.
#[test]
fn a_plane_that_rocks_across_a_period_is_refused() {
    let rocks = |axis: &str, period: &str| {
        let motion = format!(
            "motion = [{{ kind = \"velocity\", velocity = [0, 0, 1] }}, {{ kind = \"rocking\", axis = {axis}, amplitude_deg = 5, period = 2 }}]"
        );
        let level = "normal = [0, 0, 1] }";
        let text = GOOD.replacen(level, &format!("{level}\n{motion}"), 1);
        let text = text.replacen("[solver]", &format!("[periodic]\n{period} = [-9, 9]\n\n[solver]"), 1);
        Scenario::parse("case", &text, Path::new(""), &[]).err().map(|found| found.to_string())
    };
    let found = rocks("[0, 1, 0]", "x").expect("its normal leans towards x");
    assert!(found.contains("along x, which is periodic"), "{found}");
    assert_eq!(rocks("[1, 0, 0]", "x"), None);
}

#[test]
fn a_file_of_poses_is_refused_with_its_own_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |rows: &str, more: &str| {
        fs::write(folder.path().join("path.csv"), rows).expect("written");
        let drum = "\n[observe.drum]\nboundary = \"drum\"\n";
        let motion = format!("{{ kind = \"table\", file = \"path.csv\"{more} }}");
        let text = GOOD.replace(DRUM, &motion).replace(drum, "");
        Scenario::parse("case.toml", &text, folder.path(), &[])
    };
    let mistakes = |rows: &str, more: &str| read(rows, more).expect_err("a mistake").to_string();
    for (rows, word) in [
        ("t,x,y,z\n0,0,0,0\n0,1,0,0\n", "path.csv:3: the time 0 does not come after 0"),
        ("x,y,z\n0,0,0\n", "path.csv:1: the columns are x,y,z, expected one of times, t"),
        ("t,x,y\n0,0,0\n", "path.csv:1: the columns are t,x,y, expected x,y,z or those of rotations"),
        ("t,qx,qy,qz,qw\n0,0,0,0,1\n1,0,0,0,0\n", "path.csv:3: a quaternion of length zero"),
        ("t,axis_x,axis_y,axis_z,angle_deg\n0,0,0,0,0\n1,0,0,0,9\n", "path.csv:3: an axis of length zero"),
        ("t,x,y,z\n-1,0,0,0\n", "path.csv:2: t is -1, expected zero or a positive time"),
        ("t,x,y,z\n0,0,high,0\n", "path.csv:2: y is \"high\", expected a finite number"),
        ("t,x,y,z\n", "path.csv holds no"),
        ("t [s],x [mm],y [mm],z [mm]\n0,0,0,0\n", "path.csv:1: column `x [mm]` is not in m"),
    ] {
        let found = mistakes(rows, "");
        assert!(found.contains(word), "no \"{word}\" in\n{found}");
    }
    let found = mistakes("t,x,y,z\n0,0,0,0\n", ", times = [0]");
    assert!(found.contains("has a `file` and times, displacements or rotations"), "{found}");
    let table = "time [s];x (m);y (m);z (m);qx;qy;qz;qw;force\n0;0;0;0;0;0;0;1;5\n2;0;0;1,5;0;0;1;1;5\n";
    let scenario = read(table, ", point = [0, 5, 2]").unwrap_or_else(|found| panic!("{found}"));
    let (position, turn) = scenario.world.boundaries[1].pose_at(1.0);
    assert!(
        position.distance(glam::DVec3::new(0.0, 5.0, 2.75) + turn * glam::DVec3::new(0.0, 0.5, 0.0)) < 1e-12,
        "{position}"
    );
    assert!((turn.to_scaled_axis().z - std::f64::consts::FRAC_PI_4).abs() < 1e-12, "{turn}");
}
