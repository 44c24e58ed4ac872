//! The one door between double precision and the device: every struct shared with WGSL, and every
//! conversion f64 → f32 and back. `tests/shaders.rs` joins the structs with their WGSL twins.

use bytemuck::{Pod, Zeroable};
use encase::{ShaderType, UniformBuffer};
use glam::{DQuat, DVec3, I64Vec3, IVec3, Vec3};

use crate::contact::Impulse;
use crate::engine::{Ledger, TotalImpulse, largest_gain_at_once, model_gain};
use crate::error::Error;
use crate::settings::{
    DAMPING_STEPS, HOOKE_OVERLAP, IMPACT_TOLERANCE, NormalLaw, OVER_RELAXATION, RIGID_CORRECTION,
    RIGID_CORRECTION_LIMIT, Settings, TOUCH_TOLERANCE, TRAVEL_LIMIT, WarmStart, momentum,
};
use crate::world::slider::{Area, Command, Slider};
use crate::world::{
    Form, Kind, Levels, Material, MaterialId, Outside, Side, World, contact_reach, sphere_volume,
};

use super::buffers::Capacity;

/// Cells that a body may be away from the origin: their indices fit an integer, and so do their differences; WGSL `FAREST`.
pub const FAREST: f64 = (1 << 30) as f64;
/// No index; WGSL `NONE`.
pub const NONE: u32 = u32::MAX;
/// More contacts than room.
pub const HALT_CONTACTS: u32 = 1;
/// A velocity is not a number.
pub const HALT_NOT_A_NUMBER: u32 = 2;
/// Contacts drove a body too fast.
pub const HALT_EXPLODED: u32 = 4;
/// More contacts without a colour than room.
pub const HALT_REST: u32 = 8;
/// A calm step has to search for contacts, or something bounces in it.
pub const HALT_BUSY: u32 = 16;
/// A body is beyond what cells can address.
pub const HALT_FAR: u32 = 32;
/// A grain has left the domain, which ends the run.
pub const HALT_OUTSIDE: u32 = 64;
/// Friction and rolling made energy in a substep, which is to be solved again.
pub const HALT_GAIN: u32 = 128;
/// What a run cannot go on from.
pub const HALT_FAILED: u32 = HALT_NOT_A_NUMBER | HALT_EXPLODED | HALT_FAR | HALT_OUTSIDE;

/// Constants of a run; WGSL `Params`.
#[derive(Debug, Clone, Copy, ShaderType)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Params {
    pub gravity: Vec3,
    pub h: f32,
    pub reach: f32,
    pub skin: f32,
    pub impact_threshold: f32,
    pub tolerance: f32,
    pub warm_start: u32,
    pub fraction: f32,
    pub moving: f32,
    pub normal_law: u32,
    pub grains: u32,
    pub boundaries: u32,
    pub surfaces: u32,
    pub materials: u32,
    pub bucket_mask: u32,
    pub stride_y: i32,
    pub stride_z: i32,
    pub contact_capacity: u32,
    pub model_gain: f32,
    pub touch_tolerance: f32,
    pub speed_limit: f32,
    pub rigid_share: f32,
    pub rigid_limit: f32,
    pub sinks: u32,
    pub cell_size: Vec3,
    pub periods: IVec3,
    pub vertices: u32,
    pub rest_capacity: u32,
    pub step_time: f32,
    pub level_radius: f32,
    pub levels: u32,
    pub impact_tolerance: f32,
    pub load_scale: f32,
    pub torque_scale: f32,
    pub gain_at_once: f32,
    pub spheres: u32,
    pub rigids: u32,
}

/// What a dispatch is told; WGSL `Turn`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/colour.wgsl")]
pub struct Turn {
    pub index: u32,
    pub relaxation: f32,
    pub share: f32,
    pub follows: u32,
}

impl Turn {
    /// Turn `index` of a row of dispatches, in a sweep that goes on from so many, whose rows overshoot or do not \[E12\].
    pub fn new(index: u32, sweeps_before: u32, overshoots: bool) -> Turn {
        Turn {
            index,
            relaxation: if overshoots { OVER_RELAXATION as f32 } else { 1.0 },
            share: if sweeps_before > 0 { momentum(sweeps_before) as f32 } else { 0.0 },
            follows: u32::from(sweeps_before > 0),
        }
    }
}

/// State of the submission; WGSL `Status`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Status {
    pub halted: u32,
    pub step: u32,
    pub substep: u32,
    pub remembered: u32,
    pub contacts: u32,
    pub pending: u32,
    pub impacts: u32,
    pub change: u32,
    pub sweeps: u32,
    pub bad_grain: u32,
    pub colours: u32,
    pub rest: u32,
    pub converged: u32,
    pub bad_boundary: u32,
    pub search: u32,
    pub always: u32,
    pub listed: u32,
    pub sides: u32,
    pub searches: u32,
    pub calm: u32,
    pub bounces: u32,
    pub late: u32,
    pub fastest: u32,
    pub striking: u32,
    pub rounds: u32,
    pub noise: f32,
    pub impact_sweeps: u32,
    pub impact_residual: f32,
    pub careful: u32,
    pub colour_starts: [u32; 10],
}

impl Default for Status {
    fn default() -> Self {
        Status { bad_grain: u32::MAX, bad_boundary: u32::MAX, ..Zeroable::zeroed() }
    }
}

/// Pose of a body; WGSL `Pose`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Pose {
    pub cell: [i32; 3],
    pub spare: u32,
    pub offset: [f32; 3],
    pub free_speed: f32,
    pub orientation: [f32; 4],
}

/// Velocity of a body; WGSL `Velocity`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Velocity {
    pub linear: [f32; 3],
    pub inverse_mass: f32,
    pub angular: [f32; 3],
    pub inverse_inertia: f32,
}

/// Sphere of a grain, or vertex of a dynamic boundary; WGSL `Sphere`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Sphere {
    pub radius: f32,
    pub material: u32,
    pub body: u32,
    pub tag: u32,
}

/// A sink; WGSL `Sink`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Sink {
    pub pose: Pose,
    pub size: [f32; 4],
    pub form: u32,
    pub tag: u32,
    pub ends_run: u32,
    pub spare: u32,
}

/// Surface of a boundary; WGSL `Surface`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Surface {
    pub position: [f32; 3],
    pub body: u32,
    pub orientation: [f32; 4],
    pub size: [f32; 4],
    pub form: u32,
    pub material: u32,
    pub is_dynamic: u32,
    pub spare: u32,
}

/// Law of a pair of materials; WGSL `Law`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Law {
    pub friction: f32,
    pub rolling_resistance: f32,
    pub restitution: f32,
    pub upsilon: f32,
    pub sigma_factor: f32,
    pub target_factor: f32,
    pub spare: [u32; 2],
}

/// A contact; WGSL `Contact`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Contact {
    pub a: u32,
    pub b: u32,
    pub previous: u32,
    pub place: u32,
}

/// What a row aims at, and for whom; WGSL `RowTarget`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct RowTarget {
    pub normal: [f32; 3],
    pub target_velocity: f32,
    pub bodies: [u32; 2],
    pub sigma_n: f32,
    pub friction: f32,
}

/// Where a row acts; WGSL `RowArms`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct RowArms {
    pub arm_a: [f32; 3],
    pub rolling_arm: f32,
    pub arm_b: [f32; 3],
    pub law: u32,
}

/// State of a boundary at the end of a substep, and what drives a slider in it; WGSL `BoundaryState`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct BoundaryState {
    pub pose: Pose,
    pub linear: [f32; 3],
    pub force: f32,
    pub angular: [f32; 3],
    pub pressure: f32,
    pub target_velocity: f32,
    pub force_limit: f32,
    pub spare: [u32; 2],
}

impl BoundaryState {
    /// With what drives a slider \[E11\] in a substep of `h` \[s\].
    fn driven(self, command: Command, h: f64) -> BoundaryState {
        match command {
            Command::Push(force) => BoundaryState { force: force as f32, ..self },
            Command::Press(pressure) => BoundaryState { pressure: pressure as f32, ..self },
            Command::Hold { velocity, force_limit } => BoundaryState {
                target_velocity: velocity as f32,
                force_limit: (h * force_limit).min(f64::from(f32::MAX)) as f32,
                ..self
            },
        }
    }

    /// Whether the boundary moves in this substep.
    pub(super) fn moves(&self) -> bool {
        self.linear != [0.0; 3] || self.angular != [0.0; 3]
    }
}

/// Work of a substep, or of a part of it \[J\]; WGSL `Works`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/ledger.wgsl")]
pub struct Works {
    pub gravity: f32,
    pub boundary: f32,
    pub normal: f32,
    pub friction: f32,
    pub rolling: f32,
    pub impact: f32,
    pub impact_friction: f32,
    pub impact_rolling: f32,
    pub kinetic: f32,
}

/// Works since the start of the run; WGSL `Totals`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/ledger.wgsl")]
pub struct Totals {
    pub works: Works,
    pub initial_kinetic: f32,
}

impl Totals {
    /// Those of a run that starts with so much kinetic energy \[J\].
    pub(super) fn opened_with(initial_kinetic: f64) -> Totals {
        Totals { initial_kinetic: initial_kinetic as f32, ..Zeroable::zeroed() }
    }
}

/// A contact without a colour; WGSL `Rest`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Rest {
    pub slots: [u32; 2],
    pub copies: [u32; 2],
    pub response: [f32; 3],
    pub tangent_d: f32,
}

/// A sphere in its cell, as the search sees it; WGSL `Entry`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/broadphase.wgsl")]
pub struct Entry {
    pub cell: [i32; 3],
    pub sphere: u32,
    pub offset: [f32; 3],
    pub radius: f32,
}

/// What a body has beside its velocity: inertia as a tensor, locked axes, the drive of a slider; WGSL `Rigid`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs, reason = "documented in shaders/shared/types.wgsl")]
pub struct Rigid {
    pub diagonal: [f32; 3],
    pub flags: u32,
    pub off_diagonal: [f32; 3],
    pub limit: f32,
    pub moments: [f32; 3],
    pub target_velocity: f32,
    pub momentum: [f32; 3],
    pub impulse: f32,
    pub spin: [f32; 3],
    pub last_impulse: f32,
    pub walls: [u32; 4],
}

/// Flag of a body whose inertia is a tensor; WGSL `RIGID`. Its locked axes are the six bits below.
pub const RIGID: u32 = 64;

/// The grid that positions are anchored to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchors {
    /// Middle of cell 0 \[m\]: the least coordinate of a periodic axis, else 0.
    pub origin: DVec3,
    /// Edges of a cell \[m\]: that of the largest grain of level 0 with its margin, rounded up to five bits, so
    /// that whole numbers of cells are exact in single and double precision; along a periodic axis a
    /// whole part of the period, exact to one rounding.
    pub cell_size: DVec3,
    /// Cells per period along each axis, 0 where it is not periodic.
    pub periods: I64Vec3,
    /// Levels of the contact search; those above 0 join 2, 4, 8 ... of these cells.
    pub levels: Levels,
}

impl Anchors {
    /// Cells for the sizes of the grains of a world.
    pub fn for_world(world: &World, settings: &Settings) -> Anchors {
        let corners_alone = Levels { radius: 0.5 * world.largest_diameter(), used: 1 };
        let levels = Levels::for_world(world).unwrap_or(corners_alone);
        let reach = if levels.radius > 0.0 { contact_reach(levels.radius, settings.reach()) } else { 1.0 };
        let unit = (reach.log2().floor() - 4.0).exp2();
        let rounded = DVec3::splat((reach / unit).ceil() * unit);
        let periodic = &world.periodic;
        // Before the first grain even a short period is a cell.
        let periods = periodic
            .cells_of_levels(reach, levels.count())
            .max(periodic.select(DVec3::ONE, DVec3::ZERO).as_i64vec3());
        Anchors {
            origin: periodic.select(periodic.min, DVec3::ZERO),
            cell_size: periodic.select(periodic.length / periods.as_dvec3(), rounded),
            periods,
            levels,
        }
    }

    /// Strides of the cell hash along y and z: the present extent of the grains, so that they map to buckets
    /// without collisions; not less than that of a cube of all buckets, as grains may spread.
    fn strides(&self, world: &World, buckets: u32) -> [i32; 2] {
        let centres = world.present_grains().map(|grain| world.bodies.position[world.grain_body(grain)]);
        let (low, high) =
            centres.fold((DVec3::MAX, DVec3::MIN), |(low, high), centre| (low.min(centre), high.max(centre)));
        let cube = f64::from(buckets).cbrt().ceil();
        let [x, y, _] = ((high - low) / self.cell_size)
            .to_array()
            .map(|cells| (cells.ceil() + 3.0).clamp(cube, f64::from(buckets).max(cube)) as i32);
        [x, x.wrapping_mul(y)]
    }

    /// Refuses a position whose cell does not fit an integer, with room to move on.
    pub(super) fn check_reach(&self, position: DVec3) -> Result<(), Error> {
        let cells = ((position - self.origin) / self.cell_size).abs().max_element();
        if cells <= FAREST { Ok(()) } else { Err(self.too_far(position)) }
    }

    /// The error of a position beyond the cells.
    pub(super) fn too_far(&self, position: DVec3) -> Error {
        let cell = self.cell_size.min_element();
        Error::TooFar { x: position.x, y: position.y, z: position.z, cell, limit: FAREST * cell }
    }

    /// Cell whose centre is nearest, and the offset from it \[m\].
    pub fn anchor(&self, position: DVec3) -> ([i32; 3], [f32; 3]) {
        let from_origin = position - self.origin;
        let cell = (from_origin / self.cell_size).round();
        let offset = from_origin - cell * self.cell_size;
        (cell.to_array().map(|x| x as i32), single(offset))
    }

    /// Position of an anchored point \[m\].
    pub fn position(&self, cell: [i32; 3], offset: [f32; 3]) -> DVec3 {
        self.origin + (DVec3::from(cell.map(f64::from)) * self.cell_size + double(offset))
    }

    /// The cell in whose place another stands, periods away.
    fn wrap(&self, cell: [i32; 3]) -> [i32; 3] {
        let periods = self.periods.as_ivec3();
        [0, 1, 2]
            .map(|axis| if periods[axis] > 0 { cell[axis].rem_euclid(periods[axis]) } else { cell[axis] })
    }

    fn pose(&self, position: DVec3, orientation: DQuat) -> Pose {
        let (cell, offset) = self.anchor(position);
        Pose { cell, spare: 0, offset, free_speed: 0.0, orientation: quaternion(orientation) }
    }
}

fn single(v: DVec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

fn double(v: [f32; 3]) -> DVec3 {
    DVec3::from(v.map(f64::from))
}

fn quaternion(q: DQuat) -> [f32; 4] {
    q.to_array().map(|x| x as f32)
}

impl Params {
    pub(super) fn new(world: &World, settings: &Settings, anchors: &Anchors, capacity: &Capacity) -> Params {
        let h = settings.substep();
        let (warm_start, fraction, motion) = match settings.warm_start {
            WarmStart::Cold => (0, 0.0, 1.0),
            // The velocity update is a stage of its own: see `Kernels::encode`.
            WarmStart::History { fraction } | WarmStart::NoVelocityUpdate { fraction } => (1, fraction, 1.0),
            WarmStart::Adaptive { fraction, motion } => (2, fraction, motion),
            WarmStart::Model => (3, 0.0, 1.0),
            WarmStart::NormalsOnly { fraction } => (4, fraction, 1.0),
        };
        let [stride_y, stride_z] = anchors.strides(world, capacity.buckets);
        let loads = LoadScale::of(world, anchors);
        Params {
            gravity: Vec3::from(single(world.gravity)),
            h: h as f32,
            reach: settings.reach() as f32,
            skin: settings.contact_margin as f32,
            impact_threshold: settings.impact_threshold as f32,
            tolerance: settings.tolerance as f32,
            warm_start,
            fraction: fraction as f32,
            moving: (motion * world.gravity.length() * h) as f32,
            normal_law: match settings.normal_law {
                NormalLaw::Hertz => 0,
                NormalLaw::Hooke => 1,
                NormalLaw::Rigid => 2,
            },
            grains: world.grain_count() as u32,
            boundaries: world.boundaries.len() as u32,
            surfaces: world.surfaces.len() as u32,
            materials: world.materials.list.len() as u32,
            bucket_mask: capacity.buckets - 1,
            stride_y,
            stride_z,
            contact_capacity: capacity.contacts,
            model_gain: model_gain(settings, world) as f32,
            touch_tolerance: TOUCH_TOLERANCE as f32,
            speed_limit: speed_limit(world, h),
            rigid_share: RIGID_CORRECTION as f32,
            rigid_limit: RIGID_CORRECTION_LIMIT as f32,
            sinks: world.drains().len() as u32,
            cell_size: Vec3::from(single(anchors.cell_size)),
            periods: anchors.periods.as_ivec3(),
            vertices: world.vertices.len() as u32,
            rest_capacity: capacity.rest,
            step_time: settings.time_step as f32,
            level_radius: anchors.levels.radius as f32,
            levels: occupied_levels(world, &anchors.levels),
            impact_tolerance: IMPACT_TOLERANCE as f32,
            load_scale: loads.linear as f32,
            torque_scale: loads.angular as f32,
            gain_at_once: largest_gain_at_once(settings, world).min(f64::from(f32::MAX)) as f32,
            spheres: world.spheres.len() as u32,
            rigids: rigid_count(world) as u32,
        }
    }

    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut buffer = UniformBuffer::new(Vec::new());
        buffer.write(&self).expect("a vector takes any number of bytes");
        buffer.into_inner()
    }
}

/// What contacts may add to the speed of a body in a substep \[m/s\]. Without grains there is nothing that a plate could miss.
fn speed_limit(world: &World, h: f64) -> f32 {
    let diameter = world.largest_diameter();
    if diameter > 0.0 { (TRAVEL_LIMIT * diameter / h) as f32 } else { f32::MAX }
}

/// Bits of the levels that hold grains, by the radii that the device knows: rounding may put a grain one level lower.
fn occupied_levels(world: &World, levels: &Levels) -> u32 {
    let known = |x: f64| f64::from(x as f32);
    let levels = Levels { radius: known(levels.radius), ..*levels };
    world.spheres.iter().fold(0, |held, sphere| held | 1 << levels.of(known(sphere.radius)))
}

/// Poses of all bodies before a substep of `h` \[s\].
pub(super) fn poses(world: &World, anchors: &Anchors, h: f64) -> Vec<Pose> {
    let bodies = &world.bodies;
    let pose = |i: usize| Pose {
        free_speed: world.free_speed(i, h) as f32,
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

/// Vertices of dynamic boundaries, then the spheres of the grains; where there are rigid bodies that are no spheres, then the places
/// of all of them on their bodies, as `place_on_body` reads them.
pub(super) fn spheres(world: &World) -> Vec<Sphere> {
    let sphere = |sphere: &crate::world::Sphere| Sphere {
        radius: sphere.radius as f32,
        material: sphere.material,
        body: sphere.body,
        tag: world.grain_of_body(sphere.body as usize).and_then(|grain| world.removed[grain]).unwrap_or(NONE),
    };
    let place = |sphere: &crate::world::Sphere| {
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
    let sink = |(i, sink): (usize, &crate::world::Sink)| {
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
            spare: 0,
        }
    };
    world.drains().iter().enumerate().map(sink).collect()
}

pub(super) fn surfaces(world: &World) -> Vec<Surface> {
    let surface = |surface: &crate::world::Surface| {
        let (form, size) = form(surface.form);
        Surface {
            position: single(surface.position),
            body: surface.body,
            orientation: quaternion(surface.orientation),
            size,
            form,
            material: surface.material,
            is_dynamic: u32::from(world.bodies.is_dynamic(surface.body as usize)),
            spare: 0,
        }
    };
    world.surfaces.iter().map(surface).collect()
}

/// Bodies up to the last that is rigid and no sphere, or has locked axes.
pub(super) fn rigid_count(world: &World) -> usize {
    let bodies = &world.bodies;
    let has_entry = |body: &usize| bodies.kind[*body] == Kind::Rigid || bodies.locked[*body].bits() != 0;
    (0..bodies.len()).rev().find(has_entry).map_or(0, |last| last + 1)
}

/// Moments of inertia, locked axes, what drives gave in the last substep, of `h` \[s\], and the walls of their areas; the rest is
/// made on the device. (Without a momentum to start from it comes from the velocities.)
pub(super) fn rigids(world: &World, h: f64) -> Vec<Rigid> {
    let bodies = &world.bodies;
    let rigid = |body: usize| {
        let is_rigid = bodies.kind[body] == Kind::Rigid;
        let force = world.drive_forces.get(body).copied().unwrap_or_default();
        let slider = world.boundaries.get(body).and_then(|boundary| boundary.slider());
        Rigid {
            flags: bodies.locked[body].bits() | if is_rigid { RIGID } else { 0 },
            moments: single(bodies.moments[body]),
            impulse: (h * force) as f32,
            walls: slider.map_or([NONE; 4], walls),
            ..Zeroable::zeroed()
        }
    };
    (0..rigid_count(world)).map(rigid).collect()
}

/// Bodies of the walls around a slider, in the order of the axes that they are apart along.
fn walls(slider: &Slider) -> [u32; 4] {
    let Some(Area::Between([one, other])) = slider.area else { return [NONE; 4] };
    let [first, second] = if one.axis < other.axis { [one, other] } else { [other, one] };
    [first.low, first.high, second.low, second.high].map(|body| body as u32)
}

/// Forces of the drives in the last substep, of `h` \[s\].
pub(super) fn pull_drives(world: &mut World, rigids: &[Rigid], h: f64) {
    for (force, rigid) in world.drive_forces.iter_mut().zip(rigids) {
        *force = f64::from(rigid.impulse) / h;
    }
}

/// Number and sizes of a form, as in `shaders/shared/surface.wgsl`.
pub fn form(form: Form) -> (u32, [f32; 4]) {
    let sizes = |x: f64, y: f64, z: f64| [x as f32, y as f32, z as f32, 0.0];
    match form {
        Form::Plane => (0, sizes(0.0, 0.0, 0.0)),
        Form::Disc { radius } => (1, sizes(radius, 0.0, 0.0)),
        Form::Wall { bottom_radius, top_radius, length, side: Side::Inside } => {
            (2, sizes(bottom_radius, top_radius, length))
        }
        Form::Wall { bottom_radius, top_radius, length, side: Side::Outside } => {
            (3, sizes(bottom_radius, top_radius, length))
        }
        Form::Solid { bottom_radius, top_radius, length } => (4, sizes(bottom_radius, top_radius, length)),
        Form::Box { half } => (5, sizes(half.x, half.y, half.z)),
        Form::Sphere { radius } => (6, sizes(radius, 0.0, 0.0)),
    }
}

/// The laws of all pairs, with the factors of \[E2\] that do not depend on the contact.
pub(super) fn laws(world: &World, settings: &Settings) -> Vec<Law> {
    let h = settings.substep();
    let law = |pair: &crate::world::PairLaw| {
        let exponent = if settings.normal_law == NormalLaw::Hertz { 1.25 } else { 1.0 };
        let damping_time = (DAMPING_STEPS * h).max(pair.damping / exponent);
        let upsilon = 1.0 / (1.0 + 4.0 * damping_time / h);
        // Stiffness per √R* (Hertz) or per R* (Hooke); slope s = e_H δ^(e_H - 1).
        let hertz = 4.0 / 3.0 * pair.effective_modulus;
        let stiffness =
            if settings.normal_law == NormalLaw::Hertz { hertz } else { hertz * HOOKE_OVERLAP.sqrt() };
        Law {
            friction: pair.friction as f32,
            rolling_resistance: pair.rolling_resistance as f32,
            restitution: pair.restitution as f32,
            upsilon: upsilon as f32,
            sigma_factor: (4.0 * upsilon * exponent / stiffness / (h * h * exponent * exponent)) as f32,
            target_factor: (4.0 * upsilon / (h * exponent)) as f32,
            spare: [0; 2],
        }
    };
    world.materials.laws().iter().map(law).collect()
}

/// Share of the radius of a grain that the rounding of its position may be \[-\]: contacts overlap by more.
const ROUNDING_SHARE: f64 = 1e-3;

/// Refuses grains of these materials and radii \[m\] whose mass, moment of inertia or compliance leaves the range of single
/// precision, or whose places the cells of the world are too wide for.
///
/// # Errors
/// [`Error::BeyondSingle`] and [`Error::TooSmall`], with the numbers.
pub fn check_single(
    world: &World,
    settings: &Settings,
    grains: impl Iterator<Item = (MaterialId, f64)>,
) -> Result<(), Error> {
    let cell = Anchors::for_world(world, settings).cell_size.max_element();
    let rounding = 0.5 * cell * f64::from(f32::EPSILON);
    let mut extremes: Vec<Option<[f64; 2]>> = vec![None; world.materials.list.len()];
    for (material, radius) in grains {
        let known = &mut extremes[material as usize];
        *known = Some(known.map_or([radius; 2], |[least, most]| [least.min(radius), most.max(radius)]));
    }
    for (body, rigid) in (0..world.bodies.len()).filter_map(|body| Some((body, world.bodies.rigid(body)?))) {
        if let Some(found) = rigid.inertia().into_iter().find(|number| !(number.recip() as f32).is_normal()) {
            let name = match world.grain_of_body(body) {
                Some(grain) => format!("grain {}", world.ids[grain]),
                None => format!("boundary \"{}\"", world.boundaries[body].name),
            };
            let what = format!("a mass [kg] or moment of inertia [kg m²] of {name}");
            return Err(Error::BeyondSingle { what, found });
        }
    }
    let laws = laws(world, settings);
    for (material, radii) in extremes.iter().enumerate() {
        for radius in radii.iter().flatten().copied() {
            if rounding > ROUNDING_SHARE * radius {
                return Err(Error::TooSmall { radius, cell, rounding });
            }
            check_inverses(&world.materials.list[material], radius)?;
            if settings.normal_law != NormalLaw::Rigid {
                let of_material = &laws[material * extremes.len()..][..extremes.len()];
                of_material.iter().try_for_each(|law| check_compliance(law, radius, settings.normal_law))?;
            }
        }
    }
    Ok(())
}

fn check_inverses(material: &Material, radius: f64) -> Result<(), Error> {
    let mass = material.density * sphere_volume(radius);
    let of_grain = format!("of a grain of \"{}\" of radius {radius:e} m", material.name);
    let inverses = [("mass [1/kg]", 1.0 / mass), ("inertia [1/(kg m²)]", 2.5 / (mass * radius * radius))];
    match inverses.into_iter().find(|(_, found)| !(*found as f32).is_normal()) {
        Some((what, found)) => {
            Err(Error::BeyondSingle { what: format!("the inverse {what} {of_grain}"), found })
        }
        None => Ok(()),
    }
}

/// Looks at Σ of a contact that overlaps by as much as it is rounded to, and by all of the radius.
fn check_compliance(law: &Law, radius: f64, normal_law: NormalLaw) -> Result<(), Error> {
    let factor = f64::from(law.sigma_factor);
    let compliances = [ROUNDING_SHARE * f64::from(f32::EPSILON), 1.0].map(|overlap| match normal_law {
        NormalLaw::Hertz => factor / (radius * radius * overlap).sqrt(),
        _ => factor / radius,
    });
    let found = [factor, compliances[0], compliances[1]];
    match found.into_iter().find(|found| !(*found as f32).is_normal()) {
        Some(found) => {
            let what = format!("the compliance Σ [1/kg] of a contact of a grain of radius {radius:e} m");
            Err(Error::BeyondSingle { what, found })
        }
        None => Ok(()),
    }
}

/// States of all boundaries at each of the `ends` \[s\] of substeps of length `h` \[s\].
pub(super) fn schedule(
    world: &World,
    anchors: &Anchors,
    ends: impl Iterator<Item = f64>,
    h: f64,
) -> Vec<BoundaryState> {
    ends.flat_map(|end| {
        world.boundaries.iter().map(move |boundary| {
            let state = boundary.state_at(end, h);
            let moved = BoundaryState {
                pose: anchors.pose(state.position, state.orientation),
                linear: single(state.velocity),
                angular: single(state.angular_velocity),
                ..Zeroable::zeroed()
            };
            match boundary.slider() {
                Some(slider) => moved.driven(slider.command_at(end - 0.5 * h), h),
                None => moved,
            }
        })
    })
    .collect()
}

/// Whether a body stays inside the periodic cell: prescribed boundaries go where they are told.
fn is_wrapped(world: &World, body: usize) -> bool {
    world.bodies.is_dynamic(body)
}

/// Brings poses and velocities of all bodies back.
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

/// Removes the grains that sinks took on the device; gives the kinetic energy they had \[J\].
pub(super) fn pull_removed(world: &mut World, spheres: &[Sphere]) -> f64 {
    let taken = spheres.iter().skip(world.vertices.len()).filter(|sphere| sphere.tag != NONE);
    let grains = taken.map(|sphere| (sphere.body as usize - world.boundaries.len(), sphere.tag));
    let mut grains: Vec<(usize, u32)> = grains.collect();
    grains.dedup();
    grains.into_iter().map(|(grain, sink)| world.remove_grain(grain, sink)).sum()
}

/// Units in which the device sums up what contacts give the boundaries, per N s and per N m s: powers of two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoadScale {
    linear: f64,
    angular: f64,
}

impl LoadScale {
    /// Speed that a submission may bring all grains to at a wall, before their sum overflows \[m/s\].
    const FASTEST: f64 = 1e6;

    /// Such that the sums of a submission fit 63 bits, and a torque has as many as a force at an arm of a cell.
    pub(super) fn of(world: &World, anchors: &Anchors) -> LoadScale {
        let grains = (0..world.grain_count()).map(|grain| world.grain_mass(grain)).sum::<f64>();
        let mass = grains + world.dynamic_boundaries().map(|(_, free)| free.mass).sum::<f64>();
        let power = |x: f64| if x > 0.0 { x.log2().ceil().exp2() } else { 1.0 };
        // Powers of two that single precision holds.
        let linear = (62f64.exp2() / power(mass * LoadScale::FASTEST)).clamp(1e-37, 1e37);
        let linear = linear.log2().round().exp2();
        LoadScale { linear, angular: linear / power(anchors.cell_size.max_element()) }
    }

    /// What a boundary was given, from its twelve words.
    fn total(&self, words: &[u32]) -> TotalImpulse {
        let number =
            |i: usize| (i64::from(words[2 * i + 1] as i32) * (1 << 32) + i64::from(words[2 * i])) as f64;
        let vector = |first: usize| DVec3::new(number(first), number(first + 1), number(first + 2));
        TotalImpulse { linear: vector(0) / self.linear, angular: vector(3) / self.angular }
    }

    /// What each boundary was given.
    pub(super) fn totals(&self, words: &[u32]) -> Vec<TotalImpulse> {
        words.chunks_exact(LOAD_WORDS).map(|words| self.total(words)).collect()
    }
}

/// Words of the load of a boundary.
pub(super) const LOAD_WORDS: usize = 12;

/// An entry of the ledger.
pub fn entry(works: &Works) -> Ledger {
    Ledger {
        gravity_work: f64::from(works.gravity),
        boundary_work: f64::from(works.boundary),
        normal_work: f64::from(works.normal),
        friction_work: f64::from(works.friction),
        rolling_work: f64::from(works.rolling),
        impact_work: f64::from(works.impact),
        impact_friction_work: f64::from(works.impact_friction),
        impact_rolling_work: f64::from(works.impact_rolling),
        ..Ledger::default()
    }
}

/// The impulse of a contact: the device keeps λ_n n + λ_t as one vector.
pub fn impulse(row: &RowTarget, values: &[f32; 6]) -> Impulse {
    let linear = double([values[0], values[1], values[2]]);
    let along = double(row.normal);
    let normal = linear.dot(along);
    Impulse { normal, tangent: linear - normal * along, rolling: double([values[3], values[4], values[5]]) }
}
