//! The door of the world: numbers that no engine can compute with are refused with the body and the value, whichever way they come in.

use std::fs;

use esker::error::Error;
use esker::model::drive::Course;
use esker::model::{Drive, Grain, World};
use esker::output::vtp::{Array, PolyData, VtpCells};
use esker::scenario::Scenario;
use esker::settings::Settings;
use esker::simulation::{Device, Simulation};
use glam::DVec3;

use crate::common::{stone, with_floor};
use crate::foreign_files::HEAD;

/// A grain at rest above a floor.
fn world() -> World {
    let mut world = with_floor(DVec3::NEG_Z, stone(0.5, 0.0));
    world.add_grains([grain()]);
    world
}

fn grain() -> Grain {
    Grain::at(DVec3::Z, 0.1, 0)
}

fn motor(force_limit: f64) -> Drive {
    Drive::Motor { velocity: Course::Constant(1.0), force_limit }
}

/// Body, number and value of a refusal.
fn refused<T>(found: Result<T, Error>) -> (String, &'static str, f64) {
    match found.err() {
        Some(Error::OutOfRange { of, what, found, .. }) => (of, what, found),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_world_is_refused_with_the_body_and_the_value() {
    let open = |change: &dyn Fn(&mut World)| {
        let mut world = world();
        change(&mut world);
        Simulation::of_world(world, Settings::default(), Device::Cpu)
    };
    assert!(open(&|_| {}).is_ok());
    let of = |change: &dyn Fn(&mut World)| refused(open(change));
    assert_eq!(of(&|world| world.bodies.position[1].x = 2e9), ("grain 0".to_owned(), "position [m]", 2e9));
    let (body, what, found) = of(&|world| world.bodies.velocity[1].y = f64::NAN);
    assert!(body == "grain 0" && what == "velocity [m/s]" && found.is_nan());
    let (body, ..) = of(&|world| world.boundaries[0].position.z = -1e300);
    assert_eq!(body, "boundary \"floor\"");
    assert_eq!(of(&|world| world.gravity.z = f64::NEG_INFINITY).1, "gravity [m/s²]");
    // The largest numbers that a scenario file may have are in range.
    assert!(open(&|world| world.bodies.position[1].x = 1e9).is_ok());
}

#[test]
fn a_change_of_a_simulation_out_of_range_is_refused_and_changes_nothing() {
    let mut simulation = Simulation::of_world(world(), Settings::default(), Device::Cpu).expect("opened");
    simulation.step(1).expect("a step");
    let before = simulation.state().expect("a state").world.clone();
    let refusals = [
        refused(simulation.set_gravity(DVec3::NAN)).1,
        refused(simulation.set_velocity("floor", DVec3::X * 1e10)).1,
        refused(simulation.set_force(0, DVec3::X * f64::INFINITY, DVec3::ZERO)).1,
        refused(simulation.add_grains(&[grain(), Grain { velocity: DVec3::Y * 1e300, ..grain() }])).1,
        refused(simulation.add_grains(&[Grain { radius: 0.0, ..grain() }])).1,
        refused(simulation.add_grains(&[Grain { material: 7, ..grain() }])).1,
        refused(simulation.add_grains(&[Grain { density: Some(-1.0), ..grain() }])).1,
        refused(simulation.change(&mut |world| world.bodies.velocity[1].x = f64::INFINITY)).1,
        refused(simulation.scale_friction(f64::NAN)).1,
        refused(simulation.scale_friction(-1.0)).1,
        refused(simulation.set_drive("none", Some(motor(f64::NAN)))).1,
    ];
    assert_eq!(
        refusals,
        [
            "gravity [m/s²]",
            "velocity [m/s]",
            "force [N]",
            "velocity [m/s]",
            "radius [m]",
            "material or clump [index]",
            "mass [kg]",
            "velocity [m/s]",
            "friction factor [-]",
            "friction factor [-]",
            "force limit [N, N m] or response time [s]"
        ]
    );
    let second = refused(simulation.add_grains(&[grain(), Grain { position: DVec3::Y * -1e12, ..grain() }]));
    assert_eq!((second.0.as_str(), second.2), ("grain 2", -1e12));
    assert_eq!(simulation.state().expect("a state").world, before);
    assert_eq!(simulation.grains_so_far(), 1);
    simulation.step(1).expect("a step");
}

/// A frame of a grain of this speed \[m/s\] and a density of its own, as a run writes it.
pub fn frame(speed: f64) -> Vec<u8> {
    let frame = PolyData {
        time: 0.0,
        points: vec![[0.0, 0.0, 1.0]],
        cells: VtpCells::Vertices,
        point_data: vec![
            Array::scalars("radius", [0.01].into_iter()),
            Array::vectors("velocity", [[speed, 0.0, 0.0]].into_iter()),
            Array::vectors("angular_velocity", [[0.0; 3]].into_iter()),
            Array::integers("material", [0].into_iter()),
            Array::precise_vectors("density", [[1234.0]].into_iter()),
        ],
        cell_data: Vec::new(),
        field_data: Vec::new(),
    };
    let mut bytes = Vec::new();
    frame.begin(&mut bytes).and_then(|()| frame.write_piece(&mut bytes)).expect("written");
    PolyData::end(&mut bytes).expect("written");
    bytes
}

#[test]
fn a_frame_with_a_velocity_out_of_range_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |speed: f64| {
        fs::write(folder.path().join("f.vtp"), frame(speed)).expect("written");
        let text = format!(
            "{HEAD}[[grains]]\nmaterial = \"glass\"\npacking = {{ kind = \"frame\", file = \"f.vtp\" }}\n"
        );
        Scenario::parse("case", &text, folder.path(), &[])
    };
    let wrong = read(1e30).map(|scenario| scenario.notes).expect_err("too fast").to_string();
    assert!(wrong.contains("f.vtp: grain 0 of the frame has a velocity with a component of 1"), "{wrong}");
    // A density of its own, which a frame has where a grain has, is taken.
    let scenario = read(1.0).expect("a frame");
    assert_eq!(scenario.world.grain_density(0), 1234.0);
}
