//! Layout of the data on the device: every struct shared with WGSL, and every conversion f64 → f32 and back.
//! `tests/structure/shaders.rs` joins the structs with their WGSL twins.

mod anchors;
mod facets;
mod joints;
mod loads;
mod meshes;
mod range;
mod solids;
mod twins;

use bytemuck::Zeroable;
use encase::UniformBuffer;
use glam::{DQuat, DVec3, Vec3};

use crate::contact::Impulse;
use crate::engine::{EnergyBalance, largest_gain_at_once, model_gain, most_impact_sweeps, speed_limit};
use crate::law::cohesion::{COHESION_RANGE, JKR_PULL_OFF};
use crate::law::damping::spring_damping;
use crate::law::normal::{DAMPING_STEPS, HOOKE_OVERLAP, NormalLaw, RIGID_CORRECTION_LIMIT};
use crate::law::restitution::{IMPACT_TOLERANCE, TOUCH_TOLERANCE};
use crate::model::{Boundary, Form, Kind, Levels, Outside, Side, World};
use crate::settings::{Settings, WarmStart};

pub use super::constants::*;
pub use anchors::Anchors;
pub use joints::{Joint, JointDrive, JointRow, Machine};
pub(super) use joints::{Machines, joint_drives, pull_joints};
pub(super) use loads::{BIN_WORDS, LOAD_WORDS, LoadScale, Loads, STRESS_WORDS, grain_stresses};
use meshes::solids_behind_meshes;
pub(super) use meshes::{mesh_blocks, surfaces_and_meshes};
pub use range::check_single;
pub use twins::*;

fn single(v: DVec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

fn double(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

fn quaternion(q: DQuat) -> [f32; 4] {
    q.to_array().map(|x| x as f32)
}

/// Room for contacts and for the search that finds them, as kernels know it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ContactRoom {
    /// Contacts.
    pub contacts: u32,
    /// Overflow contacts.
    pub overflow: u32,
    /// Buckets of the grid, a power of two.
    pub buckets: u32,
}

impl Params {
    pub(super) fn new(world: &World, settings: &Settings, anchors: &Anchors, room: ContactRoom) -> Params {
        let h = settings.substep();
        let (warm_start, fraction, motion) = match settings.warm_start {
            WarmStart::Cold => (WARM_COLD, 0.0, 1.0),
            // Whether the velocities are updated is a feature of the kernels: see `Features::starts_warm`.
            WarmStart::History { fraction } | WarmStart::NoVelocityUpdate { fraction } => {
                (WARM_HISTORY, fraction, 1.0)
            }
            WarmStart::Adaptive { fraction, motion } => (WARM_ADAPTIVE, fraction, motion),
            WarmStart::Model => (WARM_MODEL, 0.0, 1.0),
            WarmStart::NormalsOnly { fraction } => (WARM_NORMALS, fraction, 1.0),
        };
        let [stride_y, stride_z] = anchors.strides(world, room.buckets);
        let loads = LoadScale::of(world, anchors);
        let machines = Machines::of(world);
        // Sweeps over the impacts come in pairs.
        let impact_iterations = settings.impact_iterations.next_multiple_of(2);
        let in_pairs = Settings { impact_iterations, ..*settings };
        Params {
            gravity: Vec3::from(single(world.gravity)),
            h: h as f32,
            reach: settings.reach() as f32,
            skin: settings.skin as f32,
            boundary_skin: (settings.skin * world.smallest_contact_radius()).min(FAR_AWAY) as f32,
            impact_threshold: settings.impact_threshold as f32,
            tolerance: settings.tolerance as f32,
            warm_start,
            fraction: fraction as f32,
            moving: (motion * world.gravity.length() * h) as f32,
            normal_law: match settings.normal_law {
                NormalLaw::Hertz => LAW_HERTZ,
                NormalLaw::Hooke => LAW_HOOKE,
                NormalLaw::Rigid => LAW_RIGID,
            },
            grains: world.grain_count() as u32,
            boundaries: world.boundaries.len() as u32,
            surfaces: world.surfaces.len() as u32,
            materials: world.materials.list.len() as u32,
            bucket_mask: room.buckets - 1,
            stride_y,
            stride_z,
            contact_capacity: room.contacts,
            model_gain: model_gain(settings, world) as f32,
            touch_tolerance: TOUCH_TOLERANCE as f32,
            cohesion_range: COHESION_RANGE as f32,
            speed_limit: (speed_limit(world.largest_diameter(), h) as f32).min(f32::MAX),
            rigid_share: settings.rigid_correction as f32,
            rigid_limit: RIGID_CORRECTION_LIMIT as f32,
            sinks: world.drains().len() as u32,
            cell_size: Vec3::from(single(anchors.cell_size)),
            periods: anchors.periods.as_ivec3(),
            vertices: world.vertices.len() as u32,
            overflow_capacity: room.overflow,
            step_time: settings.time_step as f32,
            level_radius: anchors.levels.radius as f32,
            levels: occupied_levels(world, &anchors.levels),
            impact_tolerance: IMPACT_TOLERANCE as f32,
            load_scale: loads.linear as f32,
            torque_scale: loads.angular as f32,
            gain_at_once: largest_gain_at_once(settings, world).min(f64::from(f32::MAX)) as f32,
            spheres: world.spheres.len() as u32,
            rigids: rigid_count(world) as u32,
            joints: world.joints.len() as u32,
            joint_rows: machines.rows,
            machines: machines.list.len() as u32,
            iterations: settings.iterations,
            meters: world.meters.len() as u32,
            impact_block: in_pairs.impact_iterations,
            most_impact_sweeps: most_impact_sweeps(&in_pairs, world),
        }
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut buffer = UniformBuffer::new(Vec::new());
        buffer.write(&self).expect("a vector takes any number of bytes");
        buffer.into_inner()
    }
}

/// Returns the bits of the levels that hold grains, by the radii in single precision: rounding may put a grain one level lower.
fn occupied_levels(world: &World, levels: &Levels) -> u32 {
    let known = |x: f64| f64::from(x as f32);
    let levels = Levels { radius: known(levels.radius), ..*levels };
    world.spheres.iter().fold(0, |held, sphere| held | 1 << levels.of(known(sphere.radius)))
}

/// Returns the poses of all bodies before a substep of `h` \[s\].
pub(super) fn poses(world: &World, anchors: &Anchors, h: f64) -> Vec<Pose> {
    let bodies = &world.bodies;
    let pose = |i: usize| Pose {
        free_speed: world.free_speed(i, h) as f32,
        machine: world.machines.get(i).copied().unwrap_or(NONE),
        ..anchors.pose(bodies.position[i], bodies.orientation[i])
    };
    let mut poses: Vec<Pose> = (0..bodies.len()).map(pose).collect();
    // The last half cell of a period is the first half of cell 0.
    for (_, pose) in poses.iter_mut().enumerate().filter(|(body, _)| is_wrapped(world, *body)) {
        pose.cell = anchors.wrap(pose.cell);
    }
    poses
}

pub(super) fn velocities(world: &World) -> Vec<Velocity> {
    let bodies = &world.bodies;
    (0..bodies.len())
        .map(|i| Velocity {
            linear: single(bodies.velocity[i]),
            inverse_mass: bodies.inverse_mass[i] as f32,
            angular: single(bodies.angular_velocity[i]),
            inverse_inertia: bodies.inverse_inertia[i] as f32,
        })
        .collect()
}

/// Returns the tags of the spheres of all grains, as if none was removed.
#[cfg(feature = "scenario")]
pub(super) fn tags_of_grains(world: &World) -> Vec<u32> {
    let solids = solids_behind_meshes(world);
    world.spheres.iter().map(|sphere| solids.tag_of(sphere.part)).collect()
}

/// Returns the vertices of dynamic boundaries, then the spheres of the grains. In worlds with rigid bodies that are no spheres, the
/// position of each vertex and sphere on its body follows, as `place_on_body` reads it.
pub(super) fn spheres(world: &World) -> Vec<Sphere> {
    let sink = |body: u32| world.grain_of_body(body as usize).and_then(|grain| world.removed[grain]);
    let solids = solids_behind_meshes(world);
    let sphere = |sphere: &crate::model::Sphere| Sphere {
        radius: sphere.radius as f32,
        material: sphere.material,
        body: sphere.body,
        tag: sink(sphere.body).unwrap_or_else(|| solids.tag_of(sphere.part)),
    };
    let place = |sphere: &crate::model::Sphere| {
        let [x, y, z] = single(sphere.centre);
        let words = [y, z, sphere.contact_radius as f32].map(f32::to_bits);
        Sphere { radius: x, material: words[0], body: words[1], tag: words[2] }
    };
    let all = || world.vertices.iter().chain(&world.spheres);
    let has_places = world.bodies.kind.contains(&Kind::Rigid);
    let places = all().filter(|_| has_places).map(place);
    all().map(sphere).chain(places).collect()
}

pub(super) fn sinks(world: &World, anchors: &Anchors) -> Vec<Sink> {
    let sink = |(i, sink): (usize, &crate::model::Sink)| {
        let (form, size) = form(sink.form);
        let pose = anchors.pose(sink.position, sink.orientation);
        let is_face = i >= world.sinks.len();
        let ends_run = is_face && world.domain.as_ref().is_some_and(|domain| domain.outside == Outside::Stop);
        Sink {
            pose,
            size,
            form,
            tag: i.min(world.sinks.len()) as u32,
            ends_run: u32::from(ends_run),
            is_face: u32::from(is_face),
        }
    };
    world.drains().iter().enumerate().map(sink).collect()
}

/// Returns the meters of the stress of the contacts.
pub(super) fn meters(world: &World, anchors: &Anchors) -> Vec<Meter> {
    let mut first = 0;
    let meter = |meter: &crate::model::Meter| {
        let (position, orientation, solid) = meter.region.solid();
        let (form, size) = form(solid);
        let place = first;
        first += meter.bins() as u32;
        let layers = meter.layers.as_ref();
        Meter {
            pose: anchors.pose(position, orientation),
            size,
            form,
            material: meter.material.unwrap_or(NONE),
            layers: layers.map_or(0, |layers| layers.count as u32),
            first: place,
            axis: layers.map_or([0.0; 3], |layers| single(layers.axis)),
            thickness: layers.map_or(1.0, |layers| meter.thickness(layers) as f32),
            period: layers.and_then(|layers| meter.period(layers, &world.periodic)).unwrap_or(0.0) as f32,
            ..Zeroable::zeroed()
        }
    };
    world.meters.iter().map(meter).collect()
}

/// Returns whether the arms of contacts are stored as vectors: some body is no sphere about its centre and may turn. Otherwise arms lie
/// along the normals, or have no effect on velocities.
pub fn has_arms(world: &World) -> bool {
    world.bodies.kind.contains(&Kind::Rigid)
        || !world.clumps.is_empty()
        || world.dynamic_boundaries().next().is_some()
        || world.boundaries.iter().any(Boundary::changes_orientation)
}

/// Returns the number of bodies up to the last that is rigid and no sphere, has locked axes, or is under an applied force.
pub(super) fn rigid_count(world: &World) -> usize {
    let bodies = &world.bodies;
    let has_entry = |body: &usize| bodies.kind[*body] == Kind::Rigid || bodies.locked[*body].bits() != 0;
    let forced = world.forces.last().map_or(0, |applied| applied.body as usize + 1);
    (0..bodies.len()).rev().find(has_entry).map_or(0, |last| last + 1).max(forced)
}

/// Returns the entries of `rigids`: moments of inertia, locked axes and applied forces. The device computes the other fields; from a
/// momentum and spin of zero, it takes the angular momentum from the velocities.
pub(super) fn rigids(world: &World) -> Vec<Rigid> {
    let bodies = &world.bodies;
    let undisturbed = world.undisturbed();
    let rigid = |body: usize| {
        let is_rigid = bodies.kind[body] == Kind::Rigid;
        let is_undisturbed = undisturbed.binary_search(&(body as u32)).is_ok();
        let of = |flag: u32, is_set: bool| if is_set { flag } else { 0 };
        Rigid {
            flags: bodies.locked[body].bits() | of(RIGID, is_rigid) | of(UNDISTURBED, is_undisturbed),
            moments: single(bodies.moments[body]),
            ..Zeroable::zeroed()
        }
    };
    let mut rigids: Vec<Rigid> = (0..rigid_count(world)).map(rigid).collect();
    for applied in &world.forces {
        let rigid = &mut rigids[applied.body as usize];
        (rigid.force, rigid.torque) = (single(applied.force), single(applied.torque));
    }
    rigids
}

/// Returns number and sizes of a form, as in `shaders/shared/surface.wgsl`.
pub fn form(form: Form) -> (u32, [f32; 4]) {
    let sizes = |x: f64, y: f64, z: f64| [x as f32, y as f32, z as f32, 0.0];
    match form {
        Form::Plane => (FORM_PLANE, sizes(0.0, 0.0, 0.0)),
        Form::Disc { radius } => (FORM_DISC, sizes(radius, 0.0, 0.0)),
        Form::Wall { bottom_radius, top_radius, length, side: Side::Inside } => {
            (FORM_WALL_INSIDE, sizes(bottom_radius, top_radius, length))
        }
        Form::Wall { bottom_radius, top_radius, length, side: Side::Outside } => {
            (FORM_WALL_OUTSIDE, sizes(bottom_radius, top_radius, length))
        }
        Form::Solid { bottom_radius, top_radius, length } => {
            (FORM_SOLID, sizes(bottom_radius, top_radius, length))
        }
        Form::Box { half } => (FORM_BOX, sizes(half.x, half.y, half.z)),
        Form::Capsule { radius, length } => (FORM_CAPSULE, sizes(radius, length, 0.0)),
        Form::Sphere { radius } => (FORM_SPHERE, sizes(radius, 0.0, 0.0)),
        // The places of its boxes and surfaces stand here in place of sizes.
        Form::Patch { .. } => (FORM_PATCH, [0.0; 4]),
    }
}

/// Returns the contact laws of all pairs of materials, with the factors of \[E2\] that do not depend on the contact.
pub(super) fn laws(world: &World, settings: &Settings) -> Vec<Law> {
    let h = settings.substep();
    let law = |pair: &crate::law::pair::PairLaw| {
        let exponent = if settings.normal_law == NormalLaw::Hertz { 1.25 } else { 1.0 };
        let damping_time = (DAMPING_STEPS * h).max(pair.damping / exponent);
        let upsilon = 1.0 / (1.0 + 4.0 * damping_time / h);
        // Stiffness per √R* (Hertz) or per R* (Hooke); slope s = e_H δ^(e_H - 1).
        let hertz = 4.0 / 3.0 * pair.effective_modulus;
        let stiffness =
            if settings.normal_law == NormalLaw::Hertz { hertz } else { hertz * HOOKE_OVERLAP.sqrt() };
        Law {
            friction: pair.friction as f32,
            rolling_resistance: (settings.rolling_arm.in_effective_radii() * pair.rolling_resistance) as f32,
            restitution: pair.restitution as f32,
            upsilon: upsilon as f32,
            sigma_factor: (4.0 * upsilon * exponent / stiffness / (h * h * exponent * exponent)) as f32,
            target_factor: (4.0 * upsilon / (h * exponent)) as f32,
            stiffness: stiffness as f32,
            tangential_stiffness: pair.tangential_stiffness as f32,
            damping: spring_damping(settings.normal_law, settings.damping, pair) as f32,
            pull_off: pair.pull_off_force as f32,
            adhesion: (JKR_PULL_OFF * pair.work_of_adhesion) as f32,
            spare: 0,
        }
    };
    world.materials.laws().iter().map(law).collect()
}

/// A distance that stands for an infinite one \[m\].
const FAR_AWAY: f64 = 1e30;

/// Returns the states of all boundaries at each of the `ends` \[s\] of substeps of length `h` \[s\], without those of the last step (the
/// last `substeps` ends): that step only serves for the paths `ahead` in the step before it.
pub(super) fn schedule(
    world: &World,
    anchors: &Anchors,
    ends: impl Iterator<Item = f64>,
    h: f64,
    substeps: usize,
) -> Vec<BoundaryState> {
    let reaches = world.boundary_reaches().into_iter().enumerate();
    let known: Vec<_> = reaches.map(|(body, reach)| (reach, world.is_driven(body))).collect();
    let boundaries = || world.boundaries.iter().zip(&known);
    let state = |(boundary, &(reach, is_driven)): (&Boundary, &(f64, bool)), end: f64| {
        let state = boundary.state_at(end, h);
        // A boundary whose machine has a drive may go anywhere.
        let speed = if is_driven { FAR_AWAY } else { state.top_speed(reach) };
        BoundaryState {
            pose: anchors.pose(state.position, state.orientation),
            linear: single(state.velocity),
            path: if boundary.changes_place() { (h * speed).min(FAR_AWAY) as f32 } else { 0.0 },
            angular: single(state.angular_velocity),
            reach: reach.min(FAR_AWAY) as f32,
            ..Zeroable::zeroed()
        }
    };
    let states = ends.flat_map(|end| boundaries().map(move |boundary| state(boundary, end)));
    let mut states: Vec<BoundaryState> = states.collect();
    let step = substeps * world.boundaries.len();
    let rest = states.len().saturating_sub(step);
    for i in 0..rest {
        let next = states[i + 1..=i + step].iter().skip(world.boundaries.len() - 1);
        states[i].ahead = next.step_by(world.boundaries.len()).map(|state| state.path).sum();
    }
    states.truncate(rest);
    states
}

/// Whether a body stays inside the periodic cell: dynamic bodies do, prescribed boundaries follow their motion.
fn is_wrapped(world: &World, body: usize) -> bool {
    world.bodies.is_dynamic(body)
}

/// Copies poses and velocities of all bodies back into the world.
pub(super) fn pull(world: &mut World, anchors: &Anchors, poses: &[Pose], velocities: &[Velocity]) {
    for (body, (pose, velocity)) in poses.iter().zip(velocities).enumerate() {
        let position = anchors.position(pose.cell, pose.offset);
        let position = if is_wrapped(world, body) { world.wrap(position) } else { position };
        let bodies = &mut world.bodies;
        bodies.position[body] = position;
        bodies.orientation[body] = DQuat::from_array(pose.orientation.map(f64::from));
        bodies.velocity[body] = double(velocity.linear);
        bodies.angular_velocity[body] = double(velocity.angular);
    }
}

/// Removes the grains that sinks took on the device; returns the kinetic energy they had \[J\].
pub(super) fn pull_removed(world: &mut World, spheres: &[Sphere]) -> f64 {
    let taken = spheres.iter().skip(world.vertices.len()).filter(|sphere| sphere.tag < OF_BALL);
    let grains = taken.filter_map(|sphere| Some((world.grain_of_body(sphere.body as usize)?, sphere.tag)));
    let mut grains: Vec<(usize, u32)> = grains.collect();
    grains.dedup();
    grains.into_iter().map(|(grain, sink)| world.remove_grain(grain, sink)).sum()
}

/// Returns the works of a substep as an energy balance \[J\].
pub fn entry(works: &Works) -> EnergyBalance {
    EnergyBalance {
        gravity_work: f64::from(works.gravity),
        boundary_work: f64::from(works.boundary),
        normal_work: f64::from(works.normal),
        friction_work: f64::from(works.friction),
        rolling_work: f64::from(works.rolling),
        bond_work: 0.0,
        bridge_work: 0.0,
        impact_work: f64::from(works.impact),
        impact_friction_work: f64::from(works.impact_friction),
        impact_rolling_work: f64::from(works.impact_rolling),
        ..EnergyBalance::default()
    }
}

/// Returns the impulse of a contact from its numbers on the device, which stores λ_n n + λ_t as one vector.
pub fn impulse(constraint: &ConstraintHead, values: &[f32]) -> Impulse {
    let linear = double([values[0], values[1], values[2]]);
    let along = double(constraint.normal);
    let normal = linear.dot(along);
    Impulse { normal, tangent: linear - normal * along, rolling: double([values[3], values[4], values[5]]) }
}

/// Count of numbers of an impulse: three linear, three rolling.
pub(super) const IMPULSE: usize = 6;

/// Returns force \[N\] and moment \[N m\] of the springs of a contact, from the numbers behind its impulse.
pub(super) fn springs(constraint: &ConstraintHead, values: &[f32]) -> Impulse {
    let vector = |at: usize| double([values[at], values[at + 1], values[at + 2]]);
    let twisting = f64::from(values[3]) * double(constraint.normal);
    Impulse { normal: 0.0, tangent: vector(0), rolling: vector(4) + twisting }
}

/// Returns the numbers on the device of springs that give this impulse over a substep of `h` \[s\]: force \[N\] and moment \[N m\].
pub(super) fn spring_values(normal: DVec3, impulse: &Impulse, h: f64) -> [f32; 8] {
    let force = impulse.scaled(1.0 / h);
    let twisting = force.rolling.dot(normal);
    let ([x, y, z], [about_x, about_y, about_z]) =
        (single(force.tangent), single(force.rolling - twisting * normal));
    [x, y, z, twisting as f32, about_x, about_y, about_z, 0.0]
}

/// Returns the numbers on the device of an impulse, for a contact with this normal.
pub(super) fn values(normal: DVec3, impulse: &Impulse) -> [f32; 6] {
    let ([x, y, z], [about_x, about_y, about_z]) = (single(impulse.linear(normal)), single(impulse.rolling));
    [x, y, z, about_x, about_y, about_z]
}
