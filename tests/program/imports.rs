//! Scripts of other programs, and robots: what they say is what a scenario gets, and what it does not get is told with its line.

mod complaints;
mod files;
mod movers;
mod robots;

use std::fs;

use esker::import::{ImportOptions, Imported, import};
use esker::scenario::{Problems, Scenario};
use esker::simulation::{Device, Simulation};
use glam::DVec3;

/// Head of a script: a box of a metre with two types, without walls and grains.
pub const HEAD: &str = "units si\natom_style granular\nboundary f f f\nregion all block -0.5 0.5 -0.5 0.5 -0.1 0.9 units box\ncreate_box 2 all\n\
    fix e all property/global youngsModulus peratomtype 1.e7 2.e7\nfix n all property/global poissonsRatio peratomtype 0.25 0.3\n\
    fix r all property/global coefficientRestitution peratomtypepair 2 0.5 0.4 0.4 0.3\n\
    fix f all property/global coefficientFriction peratomtypepair 2 0.5 0.3 0.3 0.2\n\
    fix s all property/global coefficientRollingFriction peratomtypepair 2 0.05 0.0 0.0 0.0\n";
/// Contact model, step and gravity.
pub const MODEL: &str = "pair_style gran model hertz tangential history\npair_coeff * *\ntimestep 1e-5\n\
    fix down all gravity 9.81 vector 0 0 -2\nfix move all nve/sphere\n";
/// A floor of the first type.
pub const FLOOR: &str =
    "fix floor all wall/gran model hertz tangential history primitive type 1 zplane 0.0\n";
/// A square of side 2 in the plane of x and y, about the origin.
pub const SQUARE: &str = "solid s\nfacet normal 0 0 1\nouter loop\nvertex -1 -1 0\nvertex 1 -1 0\nvertex 1 1 0\nendloop\nendfacet\n\
    facet normal 0 0 1\nouter loop\nvertex -1 -1 0\nvertex 1 1 0\nvertex -1 1 0\nendloop\nendfacet\nendsolid s\n";

/// Imports a script in a folder with a square, and returns what came of it.
pub fn imported(script: &str, options: &ImportOptions) -> Result<(tempfile::TempDir, Imported), Problems> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("in.case"), script).expect("written");
    fs::write(folder.path().join("square.stl"), SQUARE).expect("written");
    let out = folder.path().join("case.toml");
    let imported = import(&folder.path().join("in.case"), &out, options)?;
    Ok((folder, imported))
}

/// The first scenario of a script, which has no mistakes.
pub fn scenario(script: &str) -> Scenario {
    scenario_of(script, &ImportOptions::default())
}

fn scenario_of(script: &str, options: &ImportOptions) -> Scenario {
    let (folder, imported) = imported(script, options).unwrap_or_else(|problems| panic!("{problems}"));
    assert!(imported.faults.is_empty(), "{}\n{}", imported.faults[0], imported.files[0].1);
    Scenario::parse("case", &imported.files[0].1, folder.path(), &[])
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// One grain of radius 10 mm on the floor, whose velocity and spin follow.
fn one_grain(model: &str, motion: &str) -> String {
    format!(
        "{HEAD}{}create_atoms 1 single 0 0 ${{z}}\nset group all diameter 0.02 density 2500\n{motion}run 30000\n",
        MODEL.to_owned() + &FLOOR.replace("tangential history", model)
    )
}

/// Velocity \[m/s\] and position \[m\] of the first grain at the end of its run.
fn end_of(script: &str, z: &str) -> (DVec3, DVec3) {
    let options =
        ImportOptions { variables: vec![("z".to_owned(), z.to_owned())], ..ImportOptions::default() };
    let scenario = scenario_of(script, &options);
    let mut simulation = Simulation::new(&scenario, Device::Cpu).expect("a simulation");
    simulation.run_until(scenario.duration).expect("a run");
    let velocity = simulation.velocities().expect("a state")[0];
    (velocity, simulation.positions().expect("a state")[0])
}

/// A ball that slides on a rough floor loses 2/7 of its speed until it rolls. The floor gives way by 28 µm, so the arm of friction is
/// shorter than the radius by 0.3 %, which changes the speed by less than a tenth of that.
#[test]
fn a_ball_that_slides_rolls_at_five_sevenths_of_its_speed() {
    let slides = |model: &str| end_of(&one_grain(model, "velocity all set 0.5 0. 0.\n"), "0.00997246785").0.x;
    let found = slides("tangential history");
    assert!((found - 5.0 / 7.0 * 0.5).abs() < 1e-3 * 0.5, "{found} m/s");
    let free = slides("tangential off");
    assert!((free - 0.5).abs() < 1e-9, "a wall without friction takes nothing: {free} m/s");
    let silent = slides("");
    assert!((silent - 0.5).abs() < 1e-9, "a model that says nothing of friction has none: {silent} m/s");
}

#[test]
fn a_ball_bounces_with_the_restitution_of_its_pair() {
    let script = one_grain("tangential history", "velocity all set 0. 0. -0.1\nunfix down\n")
        .replace("30000", "10000");
    let (velocity, _) = end_of(&script, "0.010001");
    assert!((velocity.z - 0.05).abs() < 1e-9, "{} m/s", velocity.z);
}

/// With rolling resistance μ a ball that rolls slows down by 5/7 μ g/2: the arm is R* = R at a wall, its torque μ R F over 7/5 m R.
#[test]
fn rolling_friction_stops_a_ball() {
    let model = "tangential history rolling_friction cdt";
    let script = one_grain(model, "velocity all set 0.1 0. 0.\nset atom 1 omegay 10.\n")
        .replace("run 30000", "run 10000");
    let (velocity, _) = end_of(&script, "0.00997246785");
    let expected = 0.1 - 5.0 / 7.0 * 0.05 * 9.81 * 0.1;
    assert!((velocity.x - expected).abs() < 0.01 * 0.1, "{} m/s, expected {expected}", velocity.x);
}

#[test]
fn matrices_become_pairs_and_gravity_is_a_unit_vector_times_its_strength() {
    let script = format!(
        "{HEAD}{MODEL}{FLOOR}create_atoms 1 single 0 0 0.1\ncreate_atoms 2 single 0 0 0.2\nset group all diameter 0.02 density 2500\nrun 1000\n"
    );
    let scenario = scenario(&script);
    assert_eq!(scenario.world.gravity, DVec3::new(0.0, 0.0, -9.81));
    let materials = &scenario.world.materials;
    let of = |a: &str, b: &str| {
        let law = materials.law(materials.find(a).expect(a), materials.find(b).expect(b));
        (law.restitution, law.friction, law.rolling_resistance)
    };
    // The pair style says nothing of rolling friction, so its matrix has no effect.
    assert_eq!(of("type-1", "type-1"), (0.5, 0.5, 0.0));
    assert_eq!(of("type-1", "type-2"), (0.4, 0.3, 0.0));
    assert_eq!(of("type-2", "type-2"), (0.3, 0.2, 0.0));
}

/// Grains of an insertion: a number for each radius.
fn inserted(distribution: &str) -> [usize; 2] {
    let script = format!(
        "{HEAD}{MODEL}{FLOOR}fix a all particletemplate/sphere 15485863 atom_type 1 density constant 2500 radius constant 0.002\n\
         fix b all particletemplate/sphere 15485867 atom_type 1 density constant 2500 radius constant 0.0025\n\
         fix d all {distribution} 32452843 2 a 0.5 b 0.5\nregion bin block 0 0.1 0 0.1 0.05 0.15 units box\n\
         fix i all insert/pack seed 32452867 distributiontemplate d insert_every once all_in yes vel constant 0 0 -0.1 region bin \
         particles_in_region 300\nrun 1000\n"
    );
    let world = scenario(&script).world;
    [0.002, 0.0025].map(|radius| world.spheres.iter().filter(|sphere| sphere.radius == radius).count())
}

#[test]
fn shares_are_by_mass_or_by_number_as_the_script_says() {
    // By mass: numbers are as 1/2³ to 1/2.5³.
    let small = 300.0 / (1.0 + 8.0 / 15.625);
    assert_eq!(inserted("particledistribution/discrete"), [198, 102], "expected {small}");
    assert_eq!(inserted("particledistribution/discrete/numberbased"), [150, 150]);
}

/// Place of the only mesh of a script \[m\], and the size of its scenario's box around it.
fn mesh_place(keys: &str) -> DVec3 {
    let script = format!(
        "{HEAD}{MODEL}fix m all mesh/surface file square.stl type 2 {keys}\n\
         fix w all wall/gran model hertz mesh n_meshes 1 meshes m\ncreate_atoms 1 single 0 0 0.5\nset group all diameter 0.02\nrun 1000\n"
    );
    scenario(&script).world.boundaries[0].position
}

#[test]
fn keywords_of_meshes_act_in_the_order_in_which_they_stand() {
    let close = |found: DVec3, expected: DVec3| {
        assert!(found.distance(expected) < 1e-12, "{found}, expected {expected}")
    };
    close(mesh_place("scale 0.1 move 1 0 0"), DVec3::new(1.0, 0.0, 0.0));
    close(mesh_place("move 1 0 0 scale 0.1"), DVec3::new(0.1, 0.0, 0.0));
    close(mesh_place("scale 0.1 move 1 0 0 rotate axis 0 0 1 angle 90"), DVec3::new(0.0, 1.0, 0.0));
    close(mesh_place("scale 0.1 rotate axis 0 0 1 angle 90. move 1 0 0"), DVec3::new(1.0, 0.0, 0.0));
}

#[test]
fn cgs_numbers_become_si_and_numbers_without_units_are_refused_or_taken_as_told() {
    let script = |units: &str| {
        format!(
            "{units}atom_style sphere\nboundary f f f\nregion all block -50 50 -50 50 -10 90\ncreate_box 1 all\npair_style granular\n\
             pair_coeff * * hertz/material 1e8 0.5 0.3 tangential mindlin NULL 1.0 0.4 damping tsuji\ntimestep 1e-5\n\
             fix 1 all gravity 981 chute 0\nfix 2 all nve/sphere\nfix 3 all wall/gran hertz/history 1e8 NULL 0 NULL 0.2 0 zplane 0 NULL\n\
             create_atoms 1 single 0 0 10\nset group all diameter 2 density 2.5\nrun 10000\n"
        )
    };
    let cgs = scenario(&script("units cgs\n")).world;
    assert!(cgs.gravity.distance(DVec3::new(0.0, 0.0, -9.81)) < 1e-12, "{}", cgs.gravity);
    assert_eq!((cgs.spheres[0].radius, cgs.bodies.position[cgs.grain_body(0)].z), (0.01, 0.1));
    assert_eq!(cgs.materials.list[0].youngs_modulus, 1e7);
    assert_eq!(cgs.materials.law(0, 0).restitution, 0.5);
    let wall = cgs.materials.law(0, 1);
    assert!(
        (wall.effective_modulus / (0.75 * 1e7) - 1.0).abs() < 1e-9,
        "E* {} Pa of the wall",
        wall.effective_modulus
    );
    assert!(wall.friction == 0.2 && (wall.restitution - 1.0).abs() < 0.01, "{wall:?}");
    for units in ["units lj\n", ""] {
        let refused = imported(&script(units), &ImportOptions::default())
            .map(|_| ())
            .expect_err("no units")
            .to_string();
        assert!(
            refused.contains("expected si, cgs, micro or nano") && refused.contains("--units si"),
            "{refused}"
        );
        let told = ImportOptions { units: Some("si".to_owned()), ..ImportOptions::default() };
        assert_eq!(scenario_of(&script(units), &told).world.spheres[0].radius, 1.0);
    }
}

#[test]
fn a_mesh_that_begins_to_turn_in_a_later_run_does_so_in_one_file() {
    let script = format!(
        "{HEAD}{MODEL}fix m all mesh/surface file square.stl type 2 scale 0.1\n\
         fix w all wall/gran model hertz mesh n_meshes 1 meshes m\ncreate_atoms 1 single 0 0 0.5\nset group all diameter 0.02\nrun 1000\n\
         fix t all move/mesh mesh m rotate origin 0 0 0 axis 0 2 0 period 2.0\nrun 2000\n"
    );
    let (_, one) = imported(&script, &ImportOptions::default()).expect("a script");
    assert_eq!(one.files.len(), 1, "{:?}", one.remarks);
    let text = &one.files[0].1;
    assert!(text.contains("duration = 0.03"), "{text}");
    assert!(
        text.contains("rate = 3.1415926536, start = 0.01 }"),
        "a turn in 2 s from the end of the first run on:\n{text}"
    );
    // What turned and then moves does so in the same file, from where it stands.
    let more = script.clone() + "unfix t\nfix t all move/mesh mesh m linear 0 0 0.1\nrun 1000\n";
    let (_, one) = imported(&more, &ImportOptions::default()).expect("a script");
    let text = &one.files[0].1;
    assert!(one.files.len() == 1 && text.contains("start = 0.01, stop = 0.03 },"), "{text}");
    assert!(text.contains("{ kind = \"velocity\", velocity = [0.0, 0.0, 0.1], start = 0.03 },"), "{text}");
    // Where something else changes, too, it goes on in a second file, from where it stood: a quarter of a turn further.
    let more = script.replace("period 2.0", "period 0.08")
        + "unfix t\nfix t all move/mesh mesh m linear 0 0 0.1\nfix h all gravity 1.62 vector 0 0 -1\nrun 1000\n";
    let (folder, two) = imported(&more, &ImportOptions::default()).expect("a script");
    assert_eq!(two.files.len(), 2);
    assert!(
        two.files[1].1.contains("turned = { axis = [0.0, 1.0, 0.0], angle_deg = 90.0 }"),
        "{}",
        two.files[1].1
    );
    assert!(
        two.files[1].1.contains("checkpoint = \"out/case\"")
            && two.files[0].1.contains("every_simulated = 0.03")
    );
    drop(folder);
}
