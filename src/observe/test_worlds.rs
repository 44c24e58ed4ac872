//! Hand-made states whose quantities are computed by hand.

use std::f64::consts::PI;

use glam::{DQuat, DVec3};

use crate::contact::{Impulse, Key};
use crate::engine::{Residuals, Snapshot, Spread, StepReport};
use crate::law::bridge::{BridgeForce, BridgeLaw, BridgeRupture};
use crate::law::pair::Material;
use crate::model::{
    Boundary, BridgeVolume, Form, Grain, Liquid, Materials, Meter, MeterSums, Motion, Sink, Surface, World,
    outer,
};

use super::Base;

/// A material in which a grain of radius 1 m weighs 16 kg, one of 0.5 m 2 kg.
fn material() -> Material {
    Material {
        name: "stone".into(),
        density: 12.0 / PI,
        youngs_modulus: 1e6,
        poisson_ratio: 0.25,
        restitution: 0.5,
        friction: 0.5,
        rolling_resistance: 0.1,
        damping: 0.0,
        pull_off_force: 0.0,
        work_of_adhesion: 0.0,
        conductivity: 0.0,
        heat_capacity: 0.0,
    }
}

/// Liquid of 1 N/m in bridges of 0.01 m³ between the first grain of a world and its floor, and the first two grains.
pub fn water(world: &World) -> Liquid {
    let law = BridgeLaw {
        surface_tension: 1.0,
        contact_angle: 0.0,
        viscosity: 0.0,
        smallest_gap: 0.01,
        force: BridgeForce::Willett,
        rupture: BridgeRupture::Lian,
    };
    let first = world.first_grain_shape();
    let wets = vec![true; world.materials.list.len()];
    let bridges = vec![[first, 0], [first, first + 1]];
    Liquid {
        bridges,
        formed: 5,
        broken: 3,
        removed_energy: -0.25,
        ..Liquid::new(law, BridgeVolume::Fixed(0.01), wets)
    }
}

fn world(gravity: DVec3) -> World {
    World::new(gravity, Materials::new(vec![material()]))
}

fn report() -> StepReport {
    let spread = |mean, max| Spread { mean, max };
    StepReport {
        step: 50,
        time: 0.25,
        contacts: 2,
        sweeps: 20,
        residuals: Residuals {
            normal: spread(1.0, 2.0),
            friction: spread(3.0, 4.0),
            rolling: spread(5.0, 6.0),
        },
        ..StepReport::default()
    }
}

/// A grain of 16 kg on one of 2 kg on a floor at z = 0 whose body is at x = -0.7 m, both at x = 0.3 m with an
/// overlap of 0.05 m; gravity 10 m/s². The floor carries their weight, and its contact slides.
pub(crate) fn stack() -> Snapshot {
    let mut world = world(DVec3::new(0.0, 0.0, -10.0));
    let floor = Boundary { position: DVec3::new(-0.7, 0.0, 0.0), ..Boundary::floor() };
    world.add_boundary(floor, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    world.add_grains([
        Grain {
            velocity: DVec3::new(3.0, 0.0, 0.0),
            angular_velocity: DVec3::new(0.0, 4.0, 0.0),
            ..Grain::at(DVec3::new(0.3, 0.0, 0.45), 0.5, 0)
        },
        Grain { velocity: DVec3::new(0.0, 0.0, -0.5), ..Grain::at(DVec3::new(0.3, 0.0, 1.9), 1.0, 0) },
    ]);
    let on_floor =
        Impulse { normal: 0.9, tangent: DVec3::new(0.45, 0.0, 0.0), rolling: DVec3::new(0.0, 0.01, 0.0) };
    let between = Impulse { normal: 0.8, tangent: DVec3::new(0.1, 0.0, 0.0), rolling: DVec3::ZERO };
    let impulses = vec![(Key { a: 1, b: 0 }, on_floor), (Key { a: 1, b: 2 }, between)];
    Snapshot::new(world, impulses, 0.005, report())
}

/// The stack with a boundary of this form at the origin in place of the floor, and both grains of radius 0.5 m.
pub(crate) fn with_boundary(form: Form) -> Snapshot {
    let mut world = stack().world;
    world.surfaces[0].form = form;
    world.bodies.position[0] = DVec3::ZERO;
    world.spheres[1].radius = 0.5;
    Snapshot::new(world, Vec::new(), 0.005, report())
}

/// The stack after the second of two sinks has removed the upper grain.
pub(crate) fn drained_stack() -> Snapshot {
    let Snapshot { mut world, contacts, substep, report, .. } = stack();
    let sink = |name: &str, height: f64| Sink {
        name: name.into(),
        bins: Vec::new(),
        form: Form::Plane,
        position: height * DVec3::Z,
        orientation: DQuat::IDENTITY,
    };
    world.sinks = vec![sink("outlet", -1.0), sink("spill", -2.0)];
    world.remove_grain(1, 1);
    let impulses = contacts.into_iter().map(|contact| (contact.key, contact.impulse)).collect();
    Snapshot::new(world, impulses, substep, report)
}

/// Two grains side by side with a gap of 0.1 m and a contact that carries nothing; no boundary.
pub(crate) fn beside() -> Snapshot {
    let mut world = world(DVec3::new(0.0, 0.0, -10.0));
    world.add_grains([Grain::at(DVec3::ZERO, 0.5, 0), Grain::at(DVec3::new(1.1, 0.0, 0.0), 0.5, 0)]);
    Snapshot::new(world, vec![(Key { a: 0, b: 1 }, Impulse::default())], 0.005, report())
}

/// The stack without gravity.
pub(crate) fn weightless() -> Snapshot {
    let mut snapshot = stack();
    snapshot.world.gravity = DVec3::ZERO;
    snapshot
}

/// Grains of radius 0.5 and 1 m at x = 3 and 1 m, with gravity along -x.
pub(crate) fn sideways() -> Snapshot {
    let mut world = world(DVec3::new(-2.0, 0.0, 0.0));
    world.add_grains([Grain::at(DVec3::new(3.0, 0.0, 9.0), 0.5, 0), Grain::at(DVec3::X, 1.0, 0)]);
    Snapshot::new(world, Vec::new(), 0.005, report())
}

/// A drum that turns at `rate` about an axis through (5, 0, 7) m, with two grains at rest at the origin.
pub(crate) fn drum(rate: DVec3) -> Snapshot {
    let mut world = world(DVec3::new(0.0, 0.0, -10.0));
    let point = DVec3::new(5.0, 0.0, 7.0);
    let drum = Boundary {
        name: "drum".into(),
        position: point,
        orientation: DQuat::IDENTITY,
        motion: Motion::rotation(point, rate),
    };
    world.add_boundary(drum, []);
    world.add_grains([Grain::at(DVec3::ZERO, 0.1, 0), Grain::at(DVec3::ZERO, 0.1, 0)]);
    Snapshot::new(world, Vec::new(), 0.005, report())
}

/// Equal grains at these places, without a floor; gravity 10 m/s² along -z.
pub(crate) fn heap(centres: impl IntoIterator<Item = DVec3>) -> Snapshot {
    let mut world = world(DVec3::new(0.0, 0.0, -10.0));
    world.add_grains(centres.into_iter().map(|centre| Grain::at(centre, 0.5, 0)));
    Snapshot::new(world, Vec::new(), 0.005, report())
}

/// A world with gravity, without grains and without boundaries.
pub(crate) fn empty() -> Snapshot {
    Snapshot::new(world(DVec3::new(0.0, 0.0, -10.0)), Vec::new(), 0.005, StepReport::default())
}

/// The state with these meters, in which the impulses of its contacts acted over the last substep and its grains moved as they do, and the
/// base at its beginning.
pub(crate) fn measured(mut state: Snapshot, meters: Vec<Meter>) -> (Snapshot, Base) {
    let bins = meters.iter().map(Meter::bins).sum();
    let base = Base {
        time: state.report.time - state.substep,
        stresses: vec![MeterSums::ZERO; bins],
        ..Base::default()
    };
    state.stresses = vec![MeterSums::ZERO; bins];
    let mut all = Vec::new();
    for contact in &state.contacts {
        let impulse = contact.impulse.linear(contact.normal);
        for (body, impulse) in contact.bodies.into_iter().zip([-impulse, impulse]) {
            if state.world.grain_of_body(body as usize).is_none() {
                continue;
            }
            let arm = contact.point - state.world.bodies.position[body as usize];
            all.push((body as usize, arm, MeterSums { contacts: outer(arm, impulse), ..MeterSums::ZERO }));
        }
    }
    for grain in 0..state.world.grain_count() {
        let body = state.world.grain_body(grain);
        let velocity = state.world.bodies.velocity[body];
        let sums = MeterSums::of_motion(state.world.grain_mass(grain), velocity, state.substep);
        all.push((body, state.substep * velocity, sums));
    }
    for (body, arm, sums) in all {
        let (centre, mut first) = (state.world.bodies.position[body], 0);
        for meter in &meters {
            meter.divide(&state.world.periodic, centre, arm, |bin, share| {
                state.stresses[first + bin] += sums.share(share);
            });
            first += meter.bins();
        }
    }
    state.world.meters = meters;
    (state, base)
}
