//! Dynamic solids on surfaces that bound no convex solid, and dynamic meshes that are none on whatever is there, where edges and faces
//! carry and no vertex is over anything.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::f64::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use crate::common::*;
use crate::polyhedra_on_meshes::{floor, trough};
use crate::solids::{add, on_floor};
use esker::engine::Engine;
use esker::model::{Boundary, Form, Mesh, Motion, RigidBody, Side, Surface, World};
use esker::observe::loads;
use esker::settings::Settings;
use glam::{DQuat, DVec3};

const UPRIGHT: DQuat = DQuat::IDENTITY;
/// Depth by which these bodies sink into each other at rest, at most \[m\].
const ELASTIC: f64 = 2e-5;
/// Distance between the places where bodies stand \[m\].
const APART: f64 = 0.8;

/// Bodies at places of their own over one floor, far below which nothing is.
struct Yard {
    world: World,
    /// The present place, on the floor \[m\].
    at: DVec3,
    /// Names, bodies, and places at which their centres are to stay \[m\].
    placed: Vec<(String, usize, DVec3)>,
}

impl Yard {
    fn new(friction: f64) -> Yard {
        Yard { world: on_floor(1e9, friction), at: DVec3::ZERO, placed: Vec::new() }
    }

    /// Goes on to the next place.
    fn next(&mut self) {
        self.at.x += APART;
    }

    fn add_mesh(&mut self, mesh: Mesh, position: DVec3) {
        let surfaces = self.world.mesh_surfaces(Arc::new(mesh), DVec3::ZERO, UPRIGHT, 0);
        self.world.add_boundary(Boundary { position: self.at + position, ..fixed("mesh") }, surfaces);
    }

    fn add_fixed(&mut self, form: Form, position: DVec3) {
        let surface = Surface::new(DVec3::ZERO, UPRIGHT, form, 0);
        self.world.add_boundary(Boundary { position: self.at + position, ..fixed("form") }, [surface]);
    }

    fn add_solid(&mut self, what: &str, form: Form, position: DVec3, orientation: DQuat) {
        let place = self.at + position;
        add(&mut self.world, form, place, orientation);
        self.placed.push((what.into(), self.world.boundaries.len() - 1, place));
    }

    /// Adds a body of a mesh, the origin of which is at a place.
    fn add_dynamic_mesh(&mut self, what: &str, mesh: Mesh, position: DVec3, orientation: DQuat) {
        let (body, middle, axes) = RigidBody::inside(&mesh, 2500.0);
        let (back, mesh) = (axes.conjugate(), Arc::new(mesh));
        let surfaces = self.world.mesh_surfaces(mesh, -(back * middle), back, 0);
        let place = self.at + position + orientation * middle;
        let boundary = Boundary {
            name: what.into(),
            position: place,
            orientation: orientation * axes,
            motion: Motion::Dynamic(body),
        };
        self.world.add_boundary(boundary, surfaces);
        self.placed.push((what.into(), self.world.boundaries.len() - 1, place));
    }

    /// Asserts that all bodies stay where they are on both engines, and that their weight is carried.
    fn stays(&self, steps: u64) {
        for mut engine in both(&self.world, &settings()) {
            engine.advance(steps).unwrap();
            let (name, state) = (engine.identity().engine, engine.snapshot().unwrap());
            for (what, body, place) in &self.placed {
                let found = state.world.bodies.position[*body];
                assert!(found.distance(*place) < ELASTIC, "{what}, {name}: {found} instead of {place}");
            }
            let carried = loads::weight_supported(&state);
            assert!((carried - 1.0).abs() < 1e-3, "{name}: {carried} of the weight");
        }
    }
}

fn settings() -> Settings {
    Settings { time_step: 1e-3, iterations: 60, ..Settings::default() }
}

#[test]
fn convex_solids_lie_across_the_walls_of_a_trough_and_the_rim_of_a_pipe() {
    let lying = DQuat::from_rotation_y(FRAC_PI_2);
    let mut yard = Yard::new(0.5);
    for (what, form, turn, height) in [
        ("box", Form::Box { half: DVec3::new(0.08, 0.02, 0.01) }, UPRIGHT, 0.01),
        ("cylinder", Form::Solid { bottom_radius: 0.01, top_radius: 0.01, length: 0.16 }, lying, 0.01),
        ("capsule", Form::Capsule { radius: 0.01, length: 0.14 }, lying, 0.01),
        ("large box", Form::Box { half: DVec3::splat(0.06) }, DQuat::from_rotation_x(FRAC_PI_2), 0.06),
    ] {
        yard.next();
        yard.add_mesh(trough(), DVec3::Z);
        yard.add_solid(what, form, DVec3::new(0.003, 0.002, 1.05 + height), turn);
    }
    // Counter-check: a box that fits lies between the walls on the bottom.
    yard.next();
    yard.add_mesh(trough(), DVec3::Z);
    yard.add_solid("small box", Form::Box { half: DVec3::new(0.02, 0.02, 0.01) }, 1.02 * DVec3::Z, UPRIGHT);
    let pipe = Form::Wall { bottom_radius: 0.1, top_radius: 0.1, length: 0.2, side: Side::Inside };
    for (what, form, turn) in [
        ("box on a rim", Form::Box { half: DVec3::new(0.13, 0.03, 0.01) }, UPRIGHT),
        ("rod on a rim", Form::Solid { bottom_radius: 0.01, top_radius: 0.01, length: 0.26 }, lying),
    ] {
        yard.next();
        yard.add_fixed(pipe, 0.9 * DVec3::Z);
        yard.add_solid(what, form, DVec3::new(0.003, -0.002, 1.01), turn);
    }
    yard.stays(200);
}

#[test]
fn a_trough_stands_on_what_is_below_its_faces_and_edges() {
    let over = DQuat::from_rotation_x(PI);
    let mut yard = Yard::new(0.5);
    // The inner side of the bottom, which is 10 mm from the origin of the trough, lies on a post.
    for (what, form) in [
        ("over a post", Form::Box { half: DVec3::new(0.02, 0.03, 0.05) }),
        ("over a pillar", Form::Solid { bottom_radius: 0.02, top_radius: 0.02, length: 0.1 }),
    ] {
        yard.next();
        yard.add_fixed(form, DVec3::Z);
        yard.add_dynamic_mesh(what, trough(), 1.06 * DVec3::Z, over);
    }
    let across = DQuat::from_rotation_z(FRAC_PI_2);
    for (what, height, turn) in [("across another", 1.05, across), ("walls on walls", 1.1, across * over)] {
        yard.next();
        yard.add_mesh(trough(), DVec3::Z);
        yard.add_dynamic_mesh(what, trough(), height * DVec3::Z, turn);
    }
    yard.next();
    yard.add_fixed(
        Form::Wall { bottom_radius: 0.04, top_radius: 0.04, length: 0.2, side: Side::Inside },
        0.9 * DVec3::Z,
    );
    yard.add_dynamic_mesh("on a pipe", trough(), DVec3::Z, UPRIGHT);
    yard.next();
    yard.add_mesh(floor(7, |_| 0.0), DVec3::Z);
    yard.add_dynamic_mesh("on triangles", trough(), DVec3::Z, UPRIGHT);
    yard.next();
    yard.add_dynamic_mesh("on a plane", trough(), DVec3::ZERO, UPRIGHT);
    let plank = Form::Box { half: DVec3::new(0.08, 0.02, 0.01) };
    yard.add_solid("plank on a trough", plank, DVec3::new(0.003, 0.002, 0.06), UPRIGHT);
    yard.stays(200);
}

/// Paths over a floor of a box that slides, a cylinder that rolls, and a trough that slides: their places every 20 steps.
fn paths(of: impl Fn() -> Mesh, is_on_gpu: bool) -> [Vec<DVec3>; 3] {
    let mut yard = Yard::new(0.3);
    let floors = |yard: &mut Yard| {
        yard.next();
        yard.add_mesh(of(), DVec3::Z);
    };
    floors(&mut yard);
    yard.add_solid("box", Form::Box { half: DVec3::splat(0.02) }, DVec3::new(-0.12, 0.003, 1.02), UPRIGHT);
    floors(&mut yard);
    let roller = Form::Solid { bottom_radius: 0.03, top_radius: 0.03, length: 0.05 };
    yard.add_solid("roller", roller, DVec3::new(-0.12, 0.003, 1.03), DQuat::from_rotation_x(FRAC_PI_2));
    floors(&mut yard);
    yard.add_dynamic_mesh("trough", trough(), DVec3::new(-0.12, 0.003, 1.0), UPRIGHT);
    let Yard { mut world, placed, .. } = yard;
    let [slider, roller, trough] = [0, 1, 2].map(|i| placed[i].1);
    world.bodies.velocity[slider] = DVec3::new(1.0, 0.2, 0.0);
    world.bodies.velocity[roller] = DVec3::X;
    world.bodies.angular_velocity[roller] = 1.0 / 0.03 * DVec3::Y;
    world.bodies.velocity[trough] = DVec3::new(1.0, 0.2, 0.0);
    let mut engine: Box<dyn Engine> =
        if is_on_gpu { Box::new(gpu(&world, &settings())) } else { Box::new(cpu(&world, &settings())) };
    let mut found: [Vec<DVec3>; 3] = std::array::from_fn(|_| Vec::new());
    for _ in 0..10 {
        engine.advance(20).unwrap();
        let places = engine.snapshot().unwrap().world.bodies.position;
        for (path, (_, body, _)) in found.iter_mut().zip(&placed) {
            path.push(places[*body]);
        }
    }
    found
}

/// Largest distance of two paths \[m\].
fn apart(one: &[DVec3], other: &[DVec3]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// A face that is cut into triangles is felt as one face. Of the corners of a trough that lie on the floor, those that are chosen may change
/// with the triangles, by differences of their depths.
#[test]
fn solids_slide_and_roll_over_triangles_as_over_one_square() {
    let flat = |squares: u32| move || floor(squares, |_| 0.0);
    let of_one = paths(flat(1), false);
    let checks = [(paths(flat(23), false), 2e-6), (paths(flat(23), true), 1e-5)];
    for (i, what) in ["box", "roller", "trough"].into_iter().enumerate() {
        let way = of_one[i][9].distance(of_one[i][0]);
        assert!(way > 0.1, "{what}: {way} m");
        for (of_many, bound) in &checks {
            let far = apart(&of_one[i], &of_many[i]);
            assert!(far < *bound, "{what}: {far} m apart, bound {bound} m");
        }
    }
    // Counter-check: a ramp of 0.1 mm is noticed.
    let ramp = paths(|| floor(23, |x| 1e-4 * ((x + 0.05) / 0.02).clamp(0.0, 1.0)), false);
    for (one, other) in of_one.iter().zip(&ramp) {
        assert!(apart(one, other) > 5e-5, "{} m", apart(one, other));
    }
}
