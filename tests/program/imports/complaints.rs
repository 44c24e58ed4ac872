//! What an import refuses, and what it tells of what it leaves out: always with the line.

use esker::import::ImportOptions;

use super::{FLOOR, HEAD, MODEL, imported};

/// Lines of `HEAD` and `MODEL`, and those with a floor and a grain behind them.
const BEFORE: usize = 15;
const WITH_GRAIN: usize = 18;

/// Remarks on lines that stand behind a script with a grain, each as `LINE: text`, counted from the first of these lines.
fn remarks(lines: &str) -> Vec<String> {
    let script = format!(
        "{HEAD}{MODEL}{FLOOR}create_atoms 1 single 0 0 0.1
set group all diameter 0.02
{lines}
run 1000
"
    );
    let (_, found) =
        imported(&script, &ImportOptions::default()).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(found.faults.is_empty(), "{}", found.faults[0]);
    let own = |place: &str| {
        place.rsplit(':').next().and_then(|line| line.parse::<usize>().ok()).unwrap_or_default()
    };
    let of_lines = |line: usize| (WITH_GRAIN + 1..=WITH_GRAIN + lines.lines().count()).contains(&line);
    let told = found.remarks.iter().filter(|remark| of_lines(own(&remark.place)));
    let all: Vec<String> =
        told.map(|remark| format!("{}: {}", own(&remark.place) - WITH_GRAIN, remark.text)).collect();
    for remark in &found.remarks {
        let head: String =
            found.files[0].1.lines().take_while(|line| line.starts_with('#')).collect::<Vec<_>>().join(" ");
        let words = head.replace("#   ", "");
        assert!(
            words.contains(remark.text.split_whitespace().next().unwrap_or_default()),
            "the head of the file tells it, too"
        );
    }
    all
}

/// The mistakes of a script, a line each.
fn mistakes(script: &str) -> Vec<String> {
    let problems = imported(script, &ImportOptions::default()).map(|_| ()).expect_err(script);
    problems.list().iter().map(|problem| problem.line()).collect()
}

#[test]
fn what_is_not_taken_is_told_with_its_line() {
    for (lines, expected) in [
        ("thermo 100\nfix heat all heat/gran initial_temperature 300.", "2: fix `heat` of style `heat/gran`"),
        ("frobnicate a b", "1: frobnicate a b"),
        ("fix k all property/global k_finnie peratomtypepair 2 1 1 1 1", "1: property `k_finnie`"),
        ("\npair_style gran model hertz tangential history cohesion sjkr", "2: cohesion `sjkr`"),
        (
            "pair_style gran model hertz/stiffness tangential history",
            "1: normal model `hertz/stiffness` becomes hertz",
        ),
        ("pair_style gran model hertz tangential history tangential_reduce on", "1: `tangential_reduce on`"),
        ("region r mesh/tet file a.vtk", "1: region `r` of the form `mesh/tet`"),
        ("region r block 0 1 0 1 0 1 side out", "1: `side out`"),
        ("if \"1 > 0\" then \"run 5\"", "1: `if 1 > 0 then run 5`"),
        ("variable i loop 5\njump SELF top", "1: variable `i` stays at its first value"),
        ("fix m all mesh/surface file square.stl type 1 wear finnie", "1: `wear finnie` of a mesh"),
        (
            "fix m all mesh/surface file square.stl type 1\nfix v all move/mesh mesh m file path.txt",
            "2: motion `file path.txt`",
        ),
        ("fix l all nve/limit 0.1", "1: `nve/limit 0.1`"),
        ("velocity all create 300 4711", "1: `velocity all create 300 4711`"),
        ("fix g2 all gravity 1 vector 0 0 -1 multi", "1: `multi` of gravity"),
        ("run 100 every 10 \"print a\"", "1: `every 10 print a` of the run"),
    ] {
        let found = remarks(lines);
        assert!(
            found.iter().any(|line| line.starts_with(expected)),
            "{lines}: expected {expected:?} among {found:#?}"
        );
    }
    let harmless = "thermo_style custom step\nneighbor 0.01 bin\nprocessors * * 1\ncompute a all ke\nfix c all check/timestep/gran 1 0.1 0.1";
    assert_eq!(remarks(harmless), [""; 0], "what changes nothing is not told");
}

#[test]
fn what_is_malformed_is_refused_with_its_line_and_what_was_expected() {
    let tail = format!("{FLOOR}create_atoms 1 single 0 0 0.1\nrun 1000\n");
    for (line, expected) in [
        ("unfix wall", "there is no fix `wall`"),
        ("fix w all wall/gran model hertz mesh n_meshes 1 meshes cad", "there is no mesh `cad`"),
        ("fix v all move/mesh mesh cad linear 0 0 1", "there is no mesh `cad`"),
        (
            "fix m all mesh/surface file square.stl type 1\nfix v all move/mesh mesh m viblin axis 0 0 1 order 0",
            "a vibration of 0 terms, expected 1 to 30",
        ),
        (
            "fix m all mesh/surface file square.stl type 1\n\
             fix v all move/mesh mesh m vibrot origin 0 0 0 axis 0 0 1 order 2 amplitude 1 2 phase 0 period 1 1",
            "found `period`, expected a number: a phase in radians",
        ),
        (
            "fix i all insert/pack seed 1 distributiontemplate d insert_every once region all particles_in_region 5",
            "there is no distribution `d`",
        ),
        ("fix p all particledistribution/discrete 1 1 a 1.0", "there is no template `a`"),
        ("fix g all gravity 9.81 vector 0 0", "`fix` ends, expected a number"),
        ("fix g all gravity 9.81 vector 0 0 down", "found `down`, expected a number"),
        ("fix g all gravity 9.81 vector 0 0 0", "the direction of gravity is zero"),
        ("fix g some gravity 9.81 vector 0 0 -1", "there is no group `some`"),
        ("fix e all property/global youngsModulus peratomtype 1.e7", "found 1 numbers, expected 2"),
        (
            "fix f all property/global coefficientFriction peratomtypepair 2 0.5 0.5 0.5",
            "found 3 numbers, expected 2 x 2",
        ),
        (
            "fix f all property/global coefficientFriction peratomtypepair 2 0.5 0.4 0.3 0.5",
            "in the other order 0.3, expected the same",
        ),
        ("fix e all property/global youngsModulus scalar 1.e7", "is given as scalar, expected peratomtype"),
        ("timestep ${dt}", "variable `dt` is not defined"),
        ("variable a equal 2*step\ntimestep $a", "`step` in `2*step` is known only during a run"),
        ("timestep -1e-5", "found -0.00001, expected the time step above zero"),
        (
            "pair_style gran model edinburgh tangential history",
            "normal model `edinburgh`, expected hertz or hooke",
        ),
        ("pair_style gran model hertz tangential rough", "found `rough`, expected history, no_history, off"),
        ("pair_style lj/cut 2.5", "pair_style `lj/cut`, expected gran"),
        ("atom_style superquadric", "atom_style `superquadric`, expected granular or sphere"),
        ("units metal", "units `metal` are those of molecules, expected si, cgs, micro or nano"),
        ("fix w all wall/gran model hertz primitive type 3 zplane 0", "found type 3, expected 1 to 2"),
        ("fix w all wall/gran model hertz primitive type 1 wplane 0", "found `wplane`, expected xplane"),
        ("fix w all wall/gran model hertz primitive type 1 zplane 0 0", "`0` is too much for this `fix`"),
        ("region r block 1 0 0 1 0 1", "the block goes from 1 to 0 along x"),
        (
            "fix m all mesh/surface file square.stl type 1 rotate axis 0 0 1 angle",
            "expected a number: the angle in degrees",
        ),
        ("fix m all mesh/surface file square.stl typ 1", "`typ`, expected type, scale"),
        ("include other", "other cannot be read"),
        ("read_restart a", "`read_restart` brings the box and its atoms from a file"),
        ("print \"a\nvariable x string \"b", "a quote that is not closed"),
    ] {
        let found = mistakes(&format!("{HEAD}{MODEL}{line}\n{tail}"));
        let number = BEFORE + line.lines().count();
        let place = format!("in.case:{number}:");
        let is_it = |text: &String| text.contains(&place) && text.contains(expected);
        assert!(found.iter().any(is_it), "{line}: expected {place} ... {expected:?} among {found:#?}");
    }
}

#[test]
fn one_cause_is_told_once() {
    let script = format!(
        "{HEAD}{MODEL}fix a all particletemplate/sphere 1 atom_type 1 density constant x radius constant 0.01\n\
         fix d all particledistribution/discrete 1 1 a 1.0\nregion bin block 0 1 0 1 0 1\n\
         fix i all insert/pack seed 1 distributiontemplate d insert_every once region bin particles_in_region 5\nrun 1000\n"
    );
    let found = mistakes(&script);
    assert!(found.len() == 1 && found[0].contains("found `x`, expected a number"), "{found:#?}");
}

#[test]
fn what_a_script_lacks_is_told() {
    let no_run = mistakes(&format!("{HEAD}{MODEL}"));
    assert!(no_run[0].contains("no `run` of at least one step"), "{no_run:?}");
    let no_step = mistakes(&format!("{HEAD}{}run 1000\n", MODEL.replace("timestep 1e-5\n", "")));
    assert!(
        no_step[0].contains("in.case:15:") && no_step[0].contains("a run before `timestep`"),
        "{no_step:?}"
    );
    let no_friction = HEAD.replace("coefficientFriction", "coefficientFrickion");
    let lacks = mistakes(&format!(
        "{no_friction}{MODEL}create_atoms 1 single 0 0 0.1\nset group all diameter 0.02\nrun 1000\n"
    ));
    assert!(lacks[0].contains("there is no property `coefficientFriction`"), "{lacks:?}");
}

/// Every prefix of a script is imported or refused, and none takes the program down.
#[test]
fn a_script_that_is_cut_off_anywhere_is_read_or_refused() {
    let script = format!(
        "{HEAD}{MODEL}{FLOOR}variable v equal (2+3)*$(1+1)\nfix m all mesh/surface file square.stl type 2 scale 0.1 &\n move ${{v}} 0 0\n\
         fix t all move/mesh mesh m wiggle amplitude 0 0 0.1 period 1\n\
         fix a all particletemplate/sphere 1 atom_type 1 density constant 2500 radius constant 0.01\n\
         fix d all particledistribution/discrete 1 1 a 1.0\ncreate_atoms 1 single 0 0 0.1\nset group all diameter 0.02\nrun 1000\n"
    );
    let mut taken = 0;
    for end in (0..=script.len()).rev().step_by(13) {
        taken += usize::from(imported(&script[..end], &ImportOptions::default()).is_ok());
    }
    assert!(taken >= 1, "the whole script is taken");
}
