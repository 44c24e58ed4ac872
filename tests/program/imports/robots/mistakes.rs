//! What is refused in a robot, and what is told of it, with the line.

use std::fs;

use esker::import::{RobotDrive, RobotOptions};

use super::{remarks, robot, scenario_of, text_of};
use crate::place::{Place, code, error_text, text};

/// Mass of a link, on a line.
const MASS: &str = "<inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial>";

/// A robot of two links; what follows stands from line 5 on.
fn two(rest: &str) -> String {
    format!(
        "<robot name=\"two\">\n<link name=\"one\">{MASS}</link>\n<link name=\"two\">{MASS}</link>\n\
         <joint name=\"knee\" type=\"continuous\"><parent link=\"one\"/><child link=\"two\"/></joint>\n{rest}</robot>\n"
    )
}

fn joint(name: &str, kind: &str, parent: &str, child: &str, more: &str) -> String {
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/><child link=\"{child}\"/>{more}</joint>\n"
    )
}

fn mistakes(urdf: &str, options: &RobotOptions) -> Vec<String> {
    let problems = robot(urdf, options).map(|_| ()).expect_err(urdf);
    let line =
        |line: String| line.split_once("robot.urdf:").map_or(line.clone(), |(_, rest)| rest.to_owned());
    problems.list().iter().map(|problem| line(problem.line())).collect()
}

#[test]
fn what_is_no_tree_of_links_is_refused_with_its_line() {
    let third = format!("<link name=\"three\">{MASS}</link>\n");
    for (rest, expected) in [
        (
            joint("ankle", "fixed", "two", "foot", ""),
            ["5:67: there is no link `foot`", "known: `one`, `two`"],
        ),
        (joint("ankle", "fixed", "too", "one", ""), ["5:48: there is no link `too`", "did you mean `two`?"]),
        (
            third.clone()
                + &joint("ankle", "fixed", "one", "three", "")
                + &joint("rod", "fixed", "two", "three", ""),
            [
                "7:65: link `three` is the child of joint `ankle`, too (line 6), expected one parent",
                "leave out a joint",
            ],
        ),
        (joint("rod", "fixed", "two", "one", ""), ["2:1: every link has a parent", "one link, the root"]),
        (
            third.clone()
                + &format!("<link name=\"four\">{MASS}</link>\n")
                + &joint("a", "fixed", "three", "four", "")
                + &joint("b", "fixed", "four", "three", ""),
            ["5:1: links `three`, `four` are on a loop, expected a tree", "closed loops are `[[joints]]`"],
        ),
        (third.clone(), ["5:1: links `one` and `three` have no parent, expected one root", "floating"]),
        (format!("<link name=\"two\">{MASS}</link>\n"), ["5:1: there is a second link `two`", "rename"]),
        (
            third + &joint("knee", "fixed", "two", "three", ""),
            ["6:1: there is a second joint `knee`", "rename"],
        ),
    ] {
        let found = mistakes(&two(&rest), &RobotOptions::default());
        let tells = |line: &String| line.starts_with(expected[0]) && line.contains(expected[1]);
        assert!(found.len() == 1 && tells(&found[0]), "{rest}: expected {expected:?}, found {found:#?}");
    }
}

#[test]
fn what_is_malformed_is_refused_with_its_line_and_what_was_expected() {
    let link = |inside: &str| {
        format!("<link name=\"three\">{inside}</link>\n") + &joint("a", "fixed", "two", "three", "")
    };
    let shape = |form: &str| link(&format!("<collision><geometry>{form}</geometry></collision>"));
    let moving = |more: &str| {
        format!("<link name=\"three\">{MASS}</link>\n") + &joint("a", "revolute", "two", "three", more)
    };
    let on =
        |kind: &str| format!("<link name=\"three\">{MASS}</link>\n") + &joint("a", kind, "two", "three", "");
    for (rest, line, expected) in [
        (shape("<box size=\"1 2\"/>"), 5, "`size` of <box> is \"1 2\", expected 3 numbers"),
        (shape("<box size=\"1 2 -3\"/>"), 5, "`size` of <box> is -3 m, expected a positive length"),
        (shape("<sphere radius=\"big\"/>"), 5, "`radius` of <sphere> is \"big\", expected a number"),
        (shape("<sphere radius=\"${r}\"/>"), 5, "xacro robot.urdf.xacro > robot.urdf"),
        (shape("<cylinder radius=\"1\"/>"), 5, "<cylinder> has no `length`, expected one"),
        (shape("<cone/>"), 5, "<cone>, expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>"),
        (shape("<mesh filename=\"a.stl\"/>"), 5, "there is no mesh `a.stl`, looked for in"),
        (link("<inertial><mass value=\"1\"/></inertial>"), 5, "<inertial> of link `three` has no <inertia>"),
        (link(&MASS.replace("value=\"1\"", "value=\"-1\"")), 5, "has a mass of -1 kg, expected 0 or more"),
        (
            moving("").replace(MASS, &MASS.replace("izz=\"1\"", "izz=\"3\"")),
            5,
            "principal moments of inertia of [1.0, 1.0, 3.0] kg m²",
        ),
        (moving("").replace(MASS, ""), 5, "link `three` has no mass and moves, expected <inertial>"),
        (moving("<axis xyz=\"0 0 0\"/>"), 6, "the axis of joint `a` is [0, 0, 0], expected a direction"),
        (moving("<limit lower=\"1\" upper=\"-1\"/>"), 6, "has limits from 1 to -1, expected ascending ones"),
        (
            moving("<limit lower=\"-1\" upper=\"1\"/><mimic joint=\"b\"/>"),
            6,
            "joint `a` follows `b`, expected a joint that",
        ),
        (moving("<origin xyz=\"0 0\"/>"), 6, "`xyz` of <origin> is \"0 0\", expected 3 numbers"),
        (
            on("hinge"),
            6,
            "joint `a` is \"hinge\", expected revolute, continuous, prismatic, fixed, floating, planar",
        ),
        (on("planar"), 6, "planar joint `a`, expected one that stands on a fixed base"),
    ] {
        // A link without mass at the end of a robot is dropped: this one bears another.
        let below =
            format!("<link name=\"four\">{MASS}</link>\n") + &joint("z", "continuous", "three", "four", "");
        let found = mistakes(&two(&(rest.clone() + &below)), &RobotOptions::default());
        let tells = |text: &String| text.starts_with(&format!("{line}:")) && text.contains(expected);
        assert!(found.iter().any(tells), "{rest}: expected {line}: {expected:?}, found {found:#?}");
    }
}

#[test]
fn what_is_no_robot_is_refused_with_what_to_do() {
    for (text, expected) in [
        ("<mujoco model=\"a\"/>", "1:1: the file begins with <mujoco>, expected <robot> (MJCF is not read"),
        ("<sdf version=\"1.7\"/>", "1:1: the file begins with <sdf>, expected <robot> (SDF is not read"),
        ("<robot name=\"a\">\n<link name=\"b\">\n</robot>", "3:1: the file is not whole XML"),
        ("<robot name=\"a\"/>", "1:1: the robot has no link, expected at least one"),
        (
            "<robot xmlns:xacro=\"http://www.ros.org/wiki/xacro\">\n<xacro:include filename=\"b\"/>\n</robot>",
            "2:1: <xacro:include> is a macro, expected plain URDF",
        ),
    ] {
        let found = mistakes(text, &RobotOptions::default());
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text}: found {found:#?}");
    }
    for (at, expected) in [
        (("nee", 0.0), "--at: there is no joint `nee` that moves (did you mean `knee`?)"),
        (("hip", 2.0), "--at: `hip` at 2, expected -1 to 1, its limits (correct it)"),
    ] {
        let urdf = two(&(format!("<link name=\"three\">{MASS}</link>\n")
            + &joint("hip", "revolute", "two", "three", "<limit lower=\"-1\" upper=\"1\"/>")));
        let options = RobotOptions { at: vec![(at.0.to_owned(), at.1)], ..RobotOptions::default() };
        assert_eq!(mistakes(&urdf, &options), [expected]);
    }
}

#[test]
fn what_is_not_in_the_scenario_is_told_with_its_line() {
    let tip = |kind: &str, more: &str| {
        format!("<link name=\"tip\">{MASS}</link>\n") + &joint("wrist", kind, "two", "tip", more)
    };
    let bare = "<link name=\"tool\"/>\n".to_owned() + &joint("wrist", "continuous", "two", "tool", "");
    for (rest, expected) in [
        ("<transmission name=\"t\"/>\n".to_owned(), "5: not taken: <transmission> of the robot"),
        ("\n<gazebo reference=\"one\"/>\n".to_owned(), "6: not taken: <gazebo> of the robot"),
        (
            tip("continuous", "<safety_controller k_velocity=\"1\"/>"),
            "6: not taken: <safety_controller> of joint `wrist`",
        ),
        (
            tip("continuous", "<dynamics damping=\"0.7\"/>"),
            "6: not taken: damping of joint `wrist`, 0.7 N m s/rad",
        ),
        (
            tip("prismatic", "<dynamics friction=\"3\"/>"),
            "6: differs: friction of joint `wrist` is its drive",
        ),
        (tip("prismatic", ""), "6: differs: joint `wrist` has no <limit> and moves freely"),
        (
            tip("revolute", "<limit effort=\"1\" velocity=\"1\"/>"),
            "6: differs: the limits of joint `wrist` have no `lower`",
        ),
        (
            tip("revolute", "<limit lower=\"0.5\" upper=\"0.5\"/>"),
            "6: differs: both limits of joint `wrist` are 0.5: it is fixed",
        ),
        (
            tip("revolute", "<limit lower=\"0.5\" upper=\"1\"/>"),
            "6: differs: the limits of joint `wrist` leave out 0: it starts at 0.5",
        ),
        (tip("revolute", "<limit lower=\"-1\" upper=\"1\"/>"), "6: differs: limits stop joints"),
        (
            tip("continuous", "<limit lower=\"-1\" upper=\"1\"/>"),
            "6: not taken: limits of joint `wrist`: it is continuous",
        ),
        (
            tip("continuous", "<axis xyz=\"0 0 2\"/>"),
            "6: differs: the axis of joint `wrist` has the length 2.0000",
        ),
        (
            tip("continuous", "<mimic joint=\"knee\" multiplier=\"-2\" offset=\"0.1\"/>"),
            "6: not taken: joint `wrist` follows `knee`: a servo",
        ),
        (tip("floating", ""), "6: differs: floating joint `wrist`: its links are a machine of their own"),
        (
            bare,
            "5: not taken: link `tool` and joint `wrist`: without mass and collision geometry nothing acts on it",
        ),
        (
            "<link name=\"shell\"><visual/></link>\n".to_owned()
                + &joint("glue", "fixed", "two", "shell", ""),
            "5: not taken: <visual> of link `shell`, which has no <collision>",
        ),
        (
            "<link name=\"fist\"><collision><geometry><sphere radius=\"1\"/></geometry></collision></link>\n"
                .to_owned()
                + &joint("wrist", "continuous", "two", "fist", ""),
            "5: differs: link `fist` has no mass: it follows from its shapes",
        ),
        (
            format!("<link name=\"ground\">{MASS}</link>\n")
                + &joint("wrist", "continuous", "two", "ground", ""),
            "5: differs: link `ground` is called `link-ground`",
        ),
        (String::new(), "2: differs: the root `one` moves freely"),
    ] {
        let found = remarks(&two(&rest), &RobotOptions::default());
        assert!(
            found.iter().any(|line| line.starts_with(expected)),
            "{rest}: expected {expected:?} among {found:#?}"
        );
    }
    let plain = remarks(&two("<material name=\"red\"/>\n"), &RobotOptions::default());
    assert_eq!(plain.len(), 2, "the base, and that links do not collide: {plain:#?}");
}

#[test]
fn drives_are_as_told_and_bounded_by_the_effort() {
    let urdf = two(&(format!("<link name=\"tip\">{MASS}</link>\n")
        + &joint(
            "wrist",
            "prismatic",
            "two",
            "tip",
            "<limit lower=\"0\" upper=\"1\" effort=\"30\"/><dynamics friction=\"3\"/>",
        )));
    for (drive, expected) in [
        (RobotDrive::Torque, ["drive = { torque = 0.0 }\n", "drive = { velocity = 0.0, force_limit = 3.0 }"]),
        (
            RobotDrive::Velocity,
            ["drive = { velocity = 0.0 }\n", "drive = { velocity = 0.0, force_limit = 30.0 }"],
        ),
        (
            RobotDrive::Position,
            ["drive = { position_deg = 0.0 }\n", "drive = { position = 0.0, force_limit = 30.0 }"],
        ),
    ] {
        let text = text_of(&urdf, &RobotOptions { drive, ..RobotOptions::default() });
        assert!(expected.iter().all(|line| text.contains(line)), "{drive:?}: {expected:?} in\n{text}");
    }
    // A joint that follows another one starts where it belongs.
    let follows = two(&(format!("<link name=\"tip\">{MASS}</link>\n")
        + &joint(
            "wrist",
            "continuous",
            "two",
            "tip",
            "<mimic joint=\"knee\" multiplier=\"-2\" offset=\"0.1\"/>",
        )));
    let at = vec![("knee".to_owned(), 0.2)];
    let world = scenario_of(&follows, &RobotOptions { at, ..RobotOptions::default() }, &[]).world;
    let positions: Vec<f64> = world.joint_states.iter().map(|state| state.position).collect();
    assert!((positions[0] - 0.2).abs() < 1e-9 && (positions[1] + 0.3).abs() < 1e-9, "{positions:?}");
}

#[test]
fn a_planar_joint_on_the_ground_locks_the_axes_across() {
    let urdf = format!("<robot name=\"sled\"><link name=\"world\"/><link name=\"sled\">{MASS}</link>")
        + &joint("plane", "planar", "world", "sled", "<axis xyz=\"0 0 1\"/>")
        + "</robot>";
    let text = text_of(&urdf, &RobotOptions::default());
    assert!(text.contains("locked_axes = [\"z\", \"rx\", \"ry\"]"), "{text}");
}

#[test]
fn the_program_writes_a_scenario_that_it_checks_and_runs() {
    let urdf =
        two(&(format!("<link name=\"tip\">{MASS}</link>\n")
            + &joint("wrist", "continuous", "two", "tip", "")));
    let place = Place::with("robot.urdf", &urdf);
    let output = place.esker(&[
        "import",
        "robot.urdf",
        "--base",
        "fixed",
        "--at",
        "knee=-0.5",
        "--position",
        "0,0,-1.5",
    ]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert!(text(&output).contains("wrote robot.toml"), "{}", text(&output));
    assert!(
        error_text(&output).contains("robot.urdf:2: differs: the root `one` is fixed"),
        "{}",
        error_text(&output)
    );
    let check = place.esker(&["check", "robot.toml"]);
    assert_eq!(code(&check), 0, "{}", error_text(&check));
    let run = place.esker(&["run", "robot.toml", "--device", "cpu", "--until", "0.1"]);
    assert_eq!(code(&run), 0, "{}", error_text(&run));
    for (arguments, expected) in [
        (vec!["robot.urdf", "--var", "a=1"], "--var: robot.urdf is a robot, and the option is of a script"),
        (
            vec!["in.case", "--drive", "position"],
            "--drive: in.case is a script, and the option is of a robot",
        ),
        (vec!["robot.urdf", "--at", "knee"], "found \"knee\", expected JOINT=VALUE"),
        (vec!["robot.urdf", "--at", "knee=far"], "found \"knee=far\", expected a number behind `=`"),
        (vec!["robot.urdf", "--position", "1,2"], "found \"1,2\", expected three numbers"),
        (vec!["robot.urdf", "--package", "mine"], "found \"mine\", expected NAME=FOLDER"),
    ] {
        fs::write(place.path("in.case"), "units si\n").expect("written");
        let wrong = place.esker(&[vec!["import"], arguments.clone()].concat());
        assert_eq!(code(&wrong), 2, "{arguments:?}");
        assert!(error_text(&wrong).contains(expected), "{arguments:?}: {}", error_text(&wrong));
    }
}

/// The scenarios beside the robots of the examples are what the import writes of them.
#[test]
fn the_examples_are_as_the_import_writes_them() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("python/examples/machines");
    for name in ["wheel", "leg", "loader"] {
        let [urdf, expected] = ["urdf", "toml"].map(|ending| {
            fs::read_to_string(folder.join(format!("{name}.{ending}"))).expect("a file of the examples")
        });
        let place = Place::with(&format!("{name}.urdf"), &urdf);
        let output = place.esker(&["import", &format!("{name}.urdf")]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let written = fs::read_to_string(place.path(&format!("{name}.toml"))).expect("written");
        assert!(written == expected, "{name}: import it anew\n{written}");
    }
}

/// A file that is cut off is refused, and one with any number in the place of another is refused or read; neither ends the program.
#[test]
fn a_robot_that_is_cut_off_or_has_other_numbers_does_no_harm() {
    let (whole, options) = super::poses::chain();
    for end in (1..whole.len()).step_by(23) {
        let found = mistakes(&whole[..end], &options);
        assert!(!found.is_empty(), "cut off after {end} bytes");
    }
    let places: Vec<usize> = whole.match_indices("=\"").map(|(at, _)| at + 2).collect();
    let mut refused = 0;
    for (i, start) in places.into_iter().enumerate() {
        let end = start + whole[start..].find('"').expect("a quote");
        let other = ["1e308", "-1e308 0 1e308", "nan", "", "0 0 0", "1e-320"][i % 6];
        let changed = format!("{}{other}{}", &whole[..start], &whole[end..]);
        refused += usize::from(robot(&changed, &options).is_err());
    }
    assert!(refused > 60, "{refused} refused");
}
