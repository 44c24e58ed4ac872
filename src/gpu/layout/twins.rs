//! Every struct and constant that is shared with WGSL; `tests/shaders.rs` joins them with their twins.

use bytemuck::{Pod, Zeroable};
use encase::ShaderType;
use glam::{IVec3, Vec3};

use crate::model::slider::Command;
use crate::settings::{OVER_RELAXATION, momentum};

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
    pub(super) fn driven(self, command: Command, h: f64) -> BoundaryState {
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
    pub(in crate::gpu) fn moves(&self) -> bool {
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
    pub(in crate::gpu) fn opened_with(initial_kinetic: f64) -> Totals {
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
    pub force: [f32; 3],
    pub spare: u32,
    pub torque: [f32; 3],
    pub spare_too: u32,
}

/// Flag of a body whose inertia is a tensor; WGSL `RIGID`. Its locked axes are the six bits below.
pub const RIGID: u32 = 64;
