//! Every struct that is shared with WGSL; `tests/structure/shaders.rs` joins them with their twins.

use bytemuck::{Pod, Zeroable};
use encase::ShaderType;
use glam::{IVec3, Vec3};

use crate::engine::{ImpactStages, Impacts};
use crate::settings::{OVER_RELAXATION, momentum};

/// Largest distance of a body from the origin, in cells \[-\]: cell indices and their differences fit an `i32`; WGSL `FAREST`.
pub const FAREST: f64 = (1 << 30) as f64;
/// Constants of a run; WGSL `Params`.
#[derive(Debug, Clone, Copy, ShaderType)]
pub struct Params {
    /// Gravity \[m/s²\].
    pub gravity: Vec3,
    /// Duration h of a substep \[s\].
    pub h: f32,
    /// Largest gap of a contact in the neighbour list, in mean diameters of the two grains \[-\].
    pub reach: f32,
    /// Skin of the neighbour list, in mean diameters of two grains \[-\].
    pub skin: f32,
    /// Path of a boundary up to which no search is needed \[m\].
    pub boundary_skin: f32,
    /// Closing speed above which a contact bounces \[m/s\].
    pub impact_threshold: f32,
    /// Largest change of a contact velocity after which sweeps end \[m/s\]; 0: the number of sweeps is fixed.
    pub tolerance: f32,
    /// Warm start (`WARM_*` in WGSL).
    pub warm_start: u32,
    /// Share β of the previous impulse that the warm start of a moving contact uses \[-\] \[E7\].
    pub fraction: f32,
    /// Contact speed from which a contact counts as moving in the adaptive warm start \[m/s\].
    pub moving: f32,
    /// Normal law (`LAW_*` in WGSL).
    pub normal_law: u32,
    /// Number of grains.
    pub grains: u32,
    /// Number of boundaries: fixed, kinematic and dynamic bodies that are no grains. They come before the grains.
    pub boundaries: u32,
    /// Number of surfaces.
    pub surfaces: u32,
    /// Number of materials.
    pub materials: u32,
    /// Number of buckets of the cell hash, less 1; the number is a power of two.
    pub bucket_mask: u32,
    /// Factor of the y index in the cell hash.
    pub stride_y: i32,
    /// Factor of the z index in the cell hash.
    pub stride_z: i32,
    /// Number of contacts for which there is room.
    pub contact_capacity: u32,
    /// Impulse per slip speed in the warm start from the model, h/γ \[kg\] \[E7\].
    pub model_gain: f32,
    /// Largest gap at which shapes touch in an impact, as a share of the arm of body a \[-\].
    pub touch_tolerance: f32,
    /// Largest gap up to which a cohesive contact holds, over its effective radius \[-\].
    pub cohesion_range: f32,
    /// Speed that contacts may add to a body in a substep \[m/s\]; the run fails above it.
    pub speed_limit: f32,
    /// Share of an overlap that the rigid law removes per substep \[-\].
    pub rigid_share: f32,
    /// Largest overlap that the rigid law removes per substep, in effective radii \[-\].
    pub rigid_limit: f32,
    /// Number of sinks, including the faces of the domain that remove grains.
    pub sinks: u32,
    /// Edges of a grid cell of level 0 \[m\].
    pub cell_size: Vec3,
    /// Grid cells of level 0 per period along each axis; 0: the axis is not periodic.
    pub periods: IVec3,
    /// Number of vertices of dynamic boundaries; they come before the spheres of grains in `spheres`.
    pub vertices: u32,
    /// Number of overflow contacts for which there is room.
    pub overflow_capacity: u32,
    /// Duration of a step, all substeps included \[s\].
    pub step_time: f32,
    /// Largest sphere radius in level 0 of the grid \[m\].
    pub level_radius: f32,
    /// Levels of the grid that hold spheres: bit l for level l.
    pub levels: u32,
    /// Change at which the sweeps of a round of impacts end, as a share of the fastest closing speed \[-\].
    pub impact_tolerance: f32,
    /// Integer units per impulse in the sums of loads on boundaries \[1/(N s)\], a power of two.
    pub load_scale: f32,
    /// Integer units per angular impulse in the sums of loads on boundaries \[1/(N m s)\], a power of two.
    pub torque_scale: f32,
    /// Energy that friction and rolling may make in a substep, as a share of the kinetic energy \[-\] \[E12\].
    pub gain_at_once: f32,
    /// Number of spheres of grains.
    pub spheres: u32,
    /// Number of entries of `rigids`: index of the last body with an entry, plus 1.
    pub rigids: u32,
    /// Number of joints.
    pub joints: u32,
    /// Number of rows of all joints.
    pub joint_rows: u32,
    /// Number of machines.
    pub machines: u32,
    /// Number of sweeps in a substep at most.
    pub iterations: u32,
    /// Number of meters of stress.
    pub meters: u32,
    /// Number of sweeps of a block of an impact stage, an even number.
    pub impact_block: u32,
    /// Largest number of sweeps of an impact stage.
    pub most_impact_sweeps: u32,
}

/// Position of a dispatch in its pass over the contacts, with the acceleration of the sweep; WGSL `Turn`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Turn {
    /// Index of the dispatch in its pass: 0 and 1 the tiles of the two tilings, 2 the overflow contacts.
    pub index: u32,
    /// Relaxation factor ω of the contact constraints \[-\]; above 1 in accelerated sweeps, the last excepted \[E12\].
    pub relaxation: f32,
    /// Extrapolation factor `share` in λ + `share` (λ − λ_before), likewise for velocities \[-\] \[E12\]; 0: no extrapolation.
    pub share: f32,
    /// Flag of an accelerated sweep that has one before it (1), so that impulses and velocities are extrapolated; else 0.
    pub follows: u32,
}

impl Turn {
    /// Turn of dispatch `index` in the sweep after `sweeps_before` others of an accelerated solve, with over-relaxation if it
    /// `overshoots` \[E12\]. Plain sweeps: 0, false.
    pub fn new(index: u32, sweeps_before: u32, overshoots: bool) -> Turn {
        Turn {
            index,
            relaxation: if overshoots { OVER_RELAXATION as f32 } else { 1.0 },
            share: if sweeps_before > 0 { momentum(sweeps_before) as f32 } else { 0.0 },
            follows: u32::from(sweeps_before > 0),
        }
    }
}

/// Progress of a submission: its steps write it for the steps that follow and for the host; WGSL `Status`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Status {
    /// Reasons of a halt, bits `HALT_*`; 0: none. The step that sets one and all steps after it do nothing.
    pub halted: u32,
    /// Number of steps done in this submission.
    pub step: u32,
    /// Number of substeps done in this submission.
    pub substep: u32,
    /// Number of vertices and spheres in the previous neighbour list, with which a rebuild matches the new contacts.
    pub remembered: u32,
    /// Number of contacts in the neighbour list.
    pub contacts: u32,
    /// Flag of a substep in which a contact bounces: 1, else 0.
    pub impacts: u32,
    /// Bits of the largest change of a contact velocity (f32) in this sweep \[m/s\].
    pub change: u32,
    /// Number of sweeps done in this substep; counted only if a tolerance is set.
    pub sweeps: u32,
    /// Smallest index of a grain that caused the halt; `u32::MAX`: none.
    pub bad_grain: u32,
    /// Colours in use, as bits.
    pub colours: u32,
    /// Number of overflow contacts.
    pub overflow: u32,
    /// Flag of a substep in which a sweep changed no contact velocity by more than the tolerance: 1, else 0.
    pub converged: u32,
    /// Smallest index of a dynamic boundary that caused the halt; `u32::MAX`: none.
    pub bad_boundary: u32,
    /// Flag of a rebuild of the neighbour list in the next step: not 0.
    pub search: u32,
    /// Number of vertices and spheres in the present neighbour list; 0: there is no complete list.
    pub listed: u32,
    /// Number of impulse slots of the overflow contacts on their bodies; see [`Overflow::slots`].
    pub sides: u32,
    /// Number of rebuilds of the neighbour list in this submission.
    pub searches: u32,
    /// Flag of a submission without rebuilds and impacts: 1, else 0. A step that needs one of them halts (`HALT_BUSY`).
    pub calm: u32,
    /// Number of substeps of this submission in which a contact bounced.
    pub bounces: u32,
    /// Bits of the largest closing speed (f32) of a contact that bounces in this round of impacts \[m/s\]; 0: none bounces.
    pub fastest: u32,
    /// Number of rounds of impacts done in this substep.
    pub rounds: u32,
    /// Closing speed that the sweeps of the impact rounds may leave \[m/s\]; slower contacts do not bounce in later rounds.
    pub noise: f32,
    /// Number of sweeps over the impacts in this substep.
    pub impact_sweeps: u32,
    /// Largest change of a contact velocity in the last of these sweeps, or fastest closing speed left after it \[m/s\].
    pub impact_residual: f32,
    /// Attempt at the substep \[E12\]. 0: first; 1: by plain sweeps from zero impulses; 2: also without friction and rolling.
    pub careful: u32,
    /// Steepness of the objective that projected gradient descent assumes, in units of D \[-\] \[E15\].
    pub steepness: f32,
    /// Member θ of Nesterov's sequence \[-\].
    pub theta: f32,
    /// Extrapolation factor of projected gradient descent: an iteration begins beyond the last point by this share of the last change
    /// \[-\].
    pub share: f32,
    /// Flag of the last try of projected gradient descent. 1: the try counts as an iteration; 0: the next try starts from the same point,
    /// with a larger steepness.
    pub goes_on: u32,
    /// Number of steps that the host wants of this submission; 0: as many as it holds.
    pub wanted: u32,
    /// Number of tiles of each of the two tilings.
    pub tiles: u32,
    /// Number of contacts with a colour of the first tiling. In solving order those with a colour of the second tiling come next.
    pub tiled: u32,
    /// Number of contacts with a colour. In solving order the overflow contacts come next.
    pub coloured: u32,
    /// Number of substeps of this submission whose impacts ran out of sweeps before they had settled.
    pub unsettled: u32,
    /// Largest residual of these impact stages \[m/s\].
    pub unsettled_residual: f32,
    /// Largest residual of these impact stages over the fastest closing speed of their last round \[-\].
    pub unsettled_fraction: f32,
    /// Number of sweeps over the impacts at the end of the present block; 0: there are no more.
    pub impact_end: u32,
    /// Residual of the impacts at the end of the block before \[m/s\]; 1e30 in the first that ends in a round.
    pub block_residual: f32,
    /// Largest number of sweeps over the impacts in a substep of this submission.
    pub most_sweeps: u32,
}

impl Status {
    /// Result of the impact stage of the last substep.
    pub fn impacts_of_last_substep(&self) -> Impacts {
        let (residual, fastest) = (f64::from(self.impact_residual), f32::from_bits(self.fastest));
        let fraction = if fastest > 0.0 { residual / f64::from(fastest) } else { 0.0 };
        Impacts { sweeps: self.impact_sweeps, residual, fraction }
    }

    /// Impact stages of this submission.
    pub fn impact_stages(&self) -> ImpactStages {
        ImpactStages {
            bounced: u64::from(self.bounces),
            unsettled: u64::from(self.unsettled),
            residual: f64::from(self.unsettled_residual),
            fraction: f64::from(self.unsettled_fraction),
        }
    }
}

impl Default for Status {
    fn default() -> Self {
        Status { bad_grain: u32::MAX, bad_boundary: u32::MAX, ..Zeroable::zeroed() }
    }
}

/// Pose of a body; WGSL `Pose`. Cell and offset together give the position, with the same precision far from the origin.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Pose {
    /// Index of the grid cell of level 0 along each axis.
    pub cell: [i32; 3],
    /// Machine of a boundary: smallest index of the boundaries that joints connect with it through dynamic bodies. Bodies of one machine
    /// do not touch.
    pub machine: u32,
    /// Offset of the centre of the body from the centre of the cell \[m\].
    pub offset: [f32; 3],
    /// Speed of a dynamic body at the end of the coming substep if it has no contacts \[m/s\].
    pub free_speed: f32,
    /// Orientation, a unit quaternion x, y, z, w \[-\].
    pub orientation: [f32; 4],
}

/// Velocity of a body, with its inverse mass and inverse inertia; WGSL `Velocity`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Velocity {
    /// Velocity of the centre of mass \[m/s\].
    pub linear: [f32; 3],
    /// Inverse mass \[1/kg\]; 0: a fixed or kinematic body or a removed grain, on which impulses have no effect.
    pub inverse_mass: f32,
    /// Angular velocity \[rad/s\].
    pub angular: [f32; 3],
    /// Inverse moment of inertia \[1/(kg m²)\]; the largest about any axis for a body with an inertia tensor.
    pub inverse_inertia: f32,
}

/// Sphere of a grain, or vertex of a dynamic boundary; WGSL `Sphere`. In scenes with inertia tensors the list has a second half:
/// the position of each sphere and vertex on its body (`shaders/shared/centre.wgsl`).
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Sphere {
    /// Radius \[m\]; 0 for a vertex of a box.
    pub radius: f32,
    /// Index of the material.
    pub material: u32,
    /// Index of the body.
    pub body: u32,
    /// Sink that removed the grain (number of sinks: it left the domain), or `NONE`; of a vertex its part: a surface, `CORNER` or `NONE`.
    pub tag: u32,
}

/// Meter of the stress of the contacts: a region, as a whole or cut into layers \[E17\]; WGSL `Meter`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Meter {
    /// Pose of the centre of the region.
    pub pose: Pose,
    /// Dimensions of the form \[m\].
    pub size: [f32; 4],
    /// Form (`FORM_*`).
    pub form: u32,
    /// Index of the material whose grains count; [`NONE`](super::NONE): all do.
    pub material: u32,
    /// Number of layers; 0: the region is one whole.
    pub layers: u32,
    /// Index of the first bin.
    pub first: u32,
    /// Unit vector across the layers.
    pub axis: [f32; 3],
    /// Thickness of a layer \[m\].
    pub thickness: f32,
    /// Period along the axis \[layers\]; 0: the axis is not periodic.
    pub period: f32,
    /// Padding.
    pub spare_x: u32,
    /// Padding.
    pub spare_y: u32,
    /// Padding.
    pub spare_z: u32,
}

/// Solid region that removes every grain whose centre enters it: a sink, or the space behind a face of the domain; WGSL `Sink`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Sink {
    /// Pose of the region.
    pub pose: Pose,
    /// Dimensions \[m\], with a meaning by form (`shaders/shared/surface.wgsl`).
    pub size: [f32; 4],
    /// Form (`FORM_*` in WGSL).
    pub form: u32,
    /// Value of [`Sphere::tag`] for the grains that the region removes.
    pub tag: u32,
    /// Flag of a region in which a grain ends the run: 1, else 0.
    pub ends_run: u32,
    /// Flag of the space behind a face of the domain, which takes what no sink takes: 1, else 0.
    pub is_face: u32,
}

/// Surface of a boundary; WGSL `Surface`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Surface {
    /// Position in the frame of the body \[m\].
    pub position: [f32; 3],
    /// Index of the body.
    pub body: u32,
    /// Orientation in the frame of the body, a unit quaternion x, y, z, w \[-\].
    pub orientation: [f32; 4],
    /// Dimensions \[m\], with a meaning by form (`shaders/shared/surface.wgsl`).
    pub size: [f32; 4],
    /// Form (`FORM_*` in WGSL).
    pub form: u32,
    /// Index of the material.
    pub material: u32,
    /// Bit 0: the surface is on a dynamic body. The others, from bit 1 on: materials of shapes that do not feel it.
    pub flags: u32,
    /// Block of the head of its mesh, or of its convex solid, behind the surfaces; 0: none.
    pub head: u32,
}

/// Contact law of a pair of materials, with the factors of \[E2\] that do not depend on the contact; WGSL `Law`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Law {
    /// Coefficient of friction μ \[-\].
    pub friction: f32,
    /// Coefficient of rolling resistance μ_r times its lever arm over R* \[-\].
    pub rolling_resistance: f32,
    /// Coefficient of restitution e \[-\].
    pub restitution: f32,
    /// Damping factor Υ of the normal law \[-\].
    pub upsilon: f32,
    /// Compliance Σ_n times √(R* δ) (Hertz) or R* (Hooke), with effective radius R* and overlap δ \[m/kg\].
    pub sigma_factor: f32,
    /// Bias velocity q_n per overlap, without its part Υ u_n \[1/s\].
    pub target_factor: f32,
    /// Normal stiffness k_n over √R* (Hertz) or over R* (Hooke) \[E13\].
    pub stiffness: f32,
    /// Tangential stiffness over the slope of the normal force, κ \[E13\] \[-\].
    pub tangential_stiffness: f32,
    /// Normal damping of the smooth method: see [`spring_damping`](crate::law::damping::spring_damping).
    pub damping: f32,
    /// Pull-off force that does not depend on the size \[N\].
    pub pull_off: f32,
    /// Pull-off force per effective radius \[N/m\].
    pub adhesion: f32,
    /// Padding.
    pub spare: u32,
}

/// Contact in the neighbour list: a pair of shapes; WGSL `Contact`. Shapes are numbered: surfaces, then vertices, then spheres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Contact {
    /// Shape a: a sphere of a grain, or a vertex.
    pub a: u32,
    /// Shape b: a surface, or a sphere (the larger one, or at equal radii the one of larger index); and the number of a point, as in a key.
    pub b: u32,
    /// Index of the same contact in the list before the last rebuild; `NONE`: the contact was new at the rebuild. After the rebuild, of
    /// a contact with a patch of a mesh: the seam at which they touch, and the side of the sheet (`shaders/narrowphase.wgsl`).
    pub previous: u32,
    /// Place in solving order.
    pub place: u32,
}

/// First half of a contact constraint (32 bytes): normal, bias velocity, bodies, compliance, friction; WGSL `ConstraintHead`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct ConstraintHead {
    /// Unit normal, from body b to body a \[-\].
    pub normal: [f32; 3],
    /// Bias velocity q_n \[m/s\]; −10³⁰: the contact takes no part. Until the laws apply, the field holds the gap \[m\].
    pub bias_velocity: f32,
    /// Indices of body a and body b.
    pub bodies: [u32; 2],
    /// Compliance Σ_n along the normal \[1/kg\]. In impacts, which are rigid, the field holds the gap \[m\].
    pub compliance: f32,
    /// Coefficient of friction μ \[-\].
    pub friction: f32,
}

/// Arms of a contact constraint, with its rolling arm and contact law, decoded from the two streams of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConstraintArms {
    /// Vector from the centre of body a to the contact point \[m\].
    pub arm_a: [f32; 3],
    /// Rolling arm μ_r R*, the largest rolling impulse per normal impulse \[m\]. Until the laws apply, the field holds the
    /// effective radius R* \[m\], negative for a vertex that does not roll.
    pub rolling_arm: f32,
    /// Vector from the centre of body b to the contact point \[m\]; without HAS_ARMS in WGSL only its part along the normal.
    pub arm_b: [f32; 3],
    /// Index of the contact law: material of a × number of materials + material of b.
    pub law: u32,
}

impl ConstraintArms {
    /// Arms in the blocks of a contact, see `shaders/shared/constraints.wgsl`.
    pub(in crate::gpu) fn of(head: &ConstraintHead, blocks: &[[u32; 4]]) -> ConstraintArms {
        let along = |length: f32| head.normal.map(|part| length * part);
        match *blocks {
            [[a, b, rolling, law]] => ConstraintArms {
                arm_a: along(-f32::from_bits(a)),
                arm_b: along(f32::from_bits(b)),
                rolling_arm: f32::from_bits(rolling),
                law,
            },
            _ => ConstraintArms {
                arm_a: [0, 1, 2].map(|axis| f32::from_bits(blocks[0][axis])),
                arm_b: [0, 1, 2].map(|axis| f32::from_bits(blocks[1][axis])),
                rolling_arm: f32::from_bits(blocks[0][3]),
                law: blocks[1][3],
            },
        }
    }
}

/// Prescribed state of a boundary at the end of a substep; WGSL `BoundaryState`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct BoundaryState {
    /// Pose at the end of the substep.
    pub pose: Pose,
    /// Velocity that moves the boundary to this pose within the substep \[m/s\].
    pub linear: [f32; 3],
    /// Longest path of a point of a prescribed boundary in the substep \[m\]; 0 for a belt, which stands still and has a velocity. The
    /// value is a large number for a boundary whose machine has a drive, and 0 for other dynamic boundaries.
    pub path: f32,
    /// Angular velocity that turns the boundary to this pose within the substep \[rad/s\].
    pub angular: [f32; 3],
    /// Longest path of a point of the boundary in the step after the substep \[m\].
    pub ahead: f32,
    /// Largest distance of a point of the boundary from its centre \[m\]; a large number if it has a plane.
    pub reach: f32,
    /// Padding.
    pub spare_x: u32,
    /// Padding.
    pub spare_y: u32,
    /// Padding.
    pub spare_z: u32,
}

/// Work done on the bodies in a substep, or in a part of it \[J\]; WGSL `Works`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Works {
    /// Work of gravity and of applied forces and torques \[J\].
    pub gravity: f32,
    /// Work of fixed and kinematic bodies, of actuators, and of the constraints on locked axes \[J\].
    pub boundary: f32,
    /// Work of normal impulses, those of impacts excepted \[J\].
    pub normal: f32,
    /// Work of friction impulses, those of impacts included \[J\].
    pub friction: f32,
    /// Work of rolling impulses, those of impacts included \[J\].
    pub rolling: f32,
    /// Work of the normal impulses of impacts \[J\].
    pub impact: f32,
    /// Work of the friction impulses of impacts, a part of `friction` \[J\].
    pub impact_friction: f32,
    /// Work of the rolling impulses of impacts, a part of `rolling` \[J\].
    pub impact_rolling: f32,
    /// Kinetic energy after the solve, plus that of a fall from rest over a substep \[J\]: no work, but the scale against which
    /// the guard \[E12\] holds the energy made by friction and rolling. Without a guard the field is 0.
    pub kinetic: f32,
}

/// Energy balance since the start of the run, kept on the device for the guard against energy made \[E12\]; WGSL `Totals`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Totals {
    /// Work since the start of the run \[J\].
    pub works: Works,
    /// Kinetic energy at the start of the run \[J\].
    pub initial_kinetic: f32,
}

impl Totals {
    /// Energy balance at the start of a run with kinetic energy `initial_kinetic` \[J\].
    pub(in crate::gpu) fn opened_with(initial_kinetic: f64) -> Totals {
        Totals { initial_kinetic: initial_kinetic as f32, ..Zeroable::zeroed() }
    }
}

/// Mass splitting of an overflow contact (a contact without a colour) \[E5\]; WGSL `Overflow`. Each body takes part as one of
/// several copies. The impulses on the copies are stored body by body and then summed.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Overflow {
    /// Slots of the impulses on body a and body b, numbered body by body. `NONE`: no slot, as the body is not dynamic, takes its
    /// impulse at once, or shares the slot of another contact in the workgroup.
    pub slots: [u32; 2],
    /// Number of copies of body a and of body b; 1 for a body that no impulse moves.
    pub copies: [u32; 2],
    /// Change of the contact velocity per normal impulse, on these copies \[1/kg\].
    pub response: [f32; 3],
    /// Inverse effective mass D_t of the friction constraint, on these copies \[1/kg\].
    pub tangent_d: f32,
}

/// Sphere in its bucket of the grid, with the data that a rebuild of the neighbour list reads; WGSL `Entry`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Entry {
    /// Index of the grid cell of level 0 along each axis.
    pub cell: [i32; 3],
    /// Index of the sphere.
    pub sphere: u32,
    /// Offset of the centre of the sphere from the centre of the cell \[m\].
    pub offset: [f32; 3],
    /// Radius of the sphere \[m\].
    pub radius: f32,
}

/// Marks of a body for the colouring, and its tiles; WGSL `Mark`.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Mark {
    /// Colours in use, as bits.
    pub used: u32,
    /// Tile in the first and in the second tiling.
    pub tiles: [u32; 2],
    /// Highest priority at the body: in each tiling, for alternate rounds of the colouring.
    pub best: [u32; 4],
}

/// State of a body beyond its velocity: inertia tensor, locked axes, applied force; WGSL `Rigid`.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Rigid {
    /// Diagonal xx, yy, zz of the inverse inertia tensor in the world frame \[1/(kg m²)\].
    pub diagonal: [f32; 3],
    /// Bits of locked axes (translation x, y, z, then rotation x, y, z), then `RIGID` and `UNDISTURBED`.
    pub flags: u32,
    /// Off-diagonal elements yz, xz, xy of the inverse inertia tensor in the world frame \[1/(kg m²)\].
    pub off_diagonal: [f32; 3],
    /// Flag of an undisturbed body that stands in the middle of the substep: 1, else 0.
    pub is_ahead: u32,
    /// Principal moments of inertia \[kg m²\].
    pub moments: [f32; 3],
    /// Padding.
    pub spare: u32,
    /// Angular momentum at the end of the last substep \[N m s\].
    pub momentum: [f32; 3],
    /// Padding.
    pub spare_too: u32,
    /// Angular velocity at the end of the last substep, which belongs to `momentum` \[rad/s\].
    pub spin: [f32; 3],
    /// Padding.
    pub spare_also: u32,
    /// Applied force \[N\].
    pub force: [f32; 3],
    /// Padding.
    pub spare_then: u32,
    /// Applied torque \[N m\].
    pub torque: [f32; 3],
    /// Padding.
    pub spare_last: u32,
}
