// Types, constants and the two bindings that every stage shares.
// Rust twins: src/gpu/layout.rs, joined by a test through reflection.

// Constants of a run. SI units.
struct Params {
    gravity: vec3f,            // [m/s²]
    h: f32,                    // substep [s]
    reach: f32,                // largest gap of a contact that is listed, in mean diameters [-]
    skin: f32,                 // of the search, in mean diameters [-]
    boundary_skin: f32,        // path of a boundary up to which no search is needed [m]
    impact_threshold: f32,     // [m/s]
    tolerance: f32,            // [m/s], 0: sweep as often as told
    warm_start: u32,           // WARM_*
    fraction: f32,             // β [-]
    moving: f32,               // contact speed from which β applies [m/s]
    normal_law: u32,           // LAW_*
    grains: u32,
    boundaries: u32,
    surfaces: u32,
    materials: u32,
    bucket_mask: u32,          // number of buckets - 1
    stride_y: i32,             // of the cell hash
    stride_z: i32,
    contact_capacity: u32,
    model_gain: f32,           // h/γ
    touch_tolerance: f32,      // largest gap that counts as touching in an impact, in arms [-]
    cohesion_range: f32,       // largest gap up to which a cohesive contact holds, in effective radii [-]
    speed_limit: f32,          // a body to which contacts add more in a substep has exploded [m/s]
    rigid_share: f32,          // share of a rigid overlap removed per substep [-]
    rigid_limit: f32,          // at most this many effective radii of it [-]
    sinks: u32,
    cell_size: vec3f,          // [m]
    periods: vec3i,            // cells per period along each axis, 0: not periodic
    vertices: u32,             // of dynamic boundaries; they stand before those of grains in `spheres`
    overflow_capacity: u32,
    step_time: f32,            // all substeps [s]
    level_radius: f32,         // largest radius in level 0 of the contact search [m]
    levels: u32,               // bits of the levels that hold grains
    impact_tolerance: f32,     // sweeps of impacts end at this share of the fastest closing speed [-]
    load_scale: f32,           // units of a load per impulse [1/(N s)], a power of two
    torque_scale: f32,         // and per angular impulse [1/(N m s)]
    gain_at_once: f32,         // share of the kinetic energy that friction and rolling may make in a substep [-]
    spheres: u32,              // of grains
    rigids: u32,               // bodies up to the last that has an entry in `rigids`
    joints: u32,
    joint_rows: u32,
    machines: u32,             // joints that hang together
    iterations: u32,           // sweeps of a substep at most
}

// What the steps of one submission tell each other and the host.
struct Status {
    halted: atomic<u32>,       // HALT_*: the step that set it and all after it do nothing
    step: u32,                 // steps done in this submission
    substep: u32,              // substeps done in this submission
    remembered: u32,           // vertices and spheres that the last step's contacts know of
    contacts: u32,             // contacts of this step
    pending: atomic<u32>,      // contacts that still need a colour
    impacts: atomic<u32>,      // 1: a contact bounces
    change: atomic<u32>,       // bits of the largest change in this sweep [m/s]
    sweeps: u32,               // sweeps done in this substep
    bad_grain: atomic<u32>,    // smallest index of a grain that halted it
    colours: u32,              // colours in use
    overflow: u32,                 // contacts without a colour
    converged: u32,            // 1: no contact changed by more than the tolerance
    bad_boundary: atomic<u32>, // smallest index of a dynamic boundary that did
    search: atomic<u32>,       // not 0: the next step searches for contacts
    listed: u32,               // vertices and spheres that the present list of contacts knows of, 0 without one
    sides: u32,                // sides of the overflow contacts, see Overflow
    searches: u32,             // searches in this submission
    calm: u32,                 // 1: no step of this submission may search or bounce; one that has to halts
    bounces: u32,              // substeps of this submission in which something bounced
    late: atomic<u32>,         // contacts that still need a colour after the dispatched rounds
    fastest: atomic<u32>,      // bits of the largest closing speed of a contact that bounces, 0: none does [m/s]
    striking: u32,             // 1: a round of impacts is being swept
    rounds: u32,               // rounds of impacts done in this substep
    noise: f32,                // closing speed that the sweeps of impacts may leave undone [m/s]
    impact_sweeps: u32,        // sweeps over the impacts in this substep
    impact_residual: f32,      // what the last of them changed at most, or what still closes [m/s]
    careful: u32,              // 1: this substep is solved again, from nothing; 2: without friction and rolling, too
    steepness: f32,            // of the objective, in units of D [-] [E15]
    theta: f32,                // of Nesterov's sequence [-]
    share: f32,                // of the last change that an iteration begins beyond [-]
    goes_on: u32,              // 1: the last try of an iteration counts; 0: it is made again, steeper
    colour_starts: array<u32, 10>,  // in solving order: of 8 colours, of the contacts without one, and the end
}

struct Pose {
    cell: vec3i,
    machine: u32,              // smallest index of a body that hangs together with a boundary by joints; such do not touch
    offset: vec3f,             // from the centre of the cell [m]
    free_speed: f32,           // of a free body at the end of the coming substep if nothing touches it [m/s]
    orientation: vec4f,
}

struct Velocity {
    linear: vec3f,             // [m/s]
    inverse_mass: f32,         // [1/kg], 0: never written
    angular: vec3f,            // [rad/s]
    inverse_inertia: f32,      // [1/(kg m²)]
}

// A sphere of a grain, or before those of the grains a vertex of a dynamic boundary. Where some are not about the centre of their
// body, as many records follow with the place of each on its body, see centre.wgsl.
struct Sphere {
    radius: f32,               // 0 for the vertex of a box [m]
    material: u32,
    body: u32,
    tag: u32,                  // the sink that removed the grain (their number: it left the domain), or NONE
}

// What a body has beside its velocity: its inertia as a tensor if it is rigid and no sphere, its locked axes, and the force that is
// applied to it. By body, up to the last that has any of these.
struct Rigid {
    diagonal: vec3f,           // xx, yy, zz of the inverse inertia, world frame [1/(kg m²)]
    flags: u32,                // six bits of locked axes: translation x y z, rotation x y z; then RIGID
    off_diagonal: vec3f,       // yz, xz, xy
    spare_first: u32,
    moments: vec3f,            // of inertia about its axes [kg m²]
    spare: u32,
    momentum: vec3f,           // angular, at the end of the last substep [N m s]
    spare_too: u32,
    spin: vec3f,               // angular velocity that belongs to it [rad/s]
    spare_also: u32,
    force: vec3f,              // that is applied to it [N]
    spare_then: u32,
    torque: vec3f,             // [N m]
    spare_last: u32,
}

// Where a boundary is at the end of a substep, and the velocity that carries it there. A belt stands still and has a velocity.
struct BoundaryState {
    pose: Pose,
    linear: vec3f,
    path: f32,                 // that its points go in the substep, at most, if it is prescribed or driven [m]
    angular: vec3f,
    ahead: f32,                // and in the whole step after that [m]
    reach: f32,                // of its points from its centre, at most [m]
    spare_x: u32,
    spare_y: u32,
    spare_z: u32,
}

// Whether the scene has sinks; otherwise no grain is ever removed.
override HAS_SINKS: bool = true;

fn is_removed(sphere: Sphere) -> bool {
    return HAS_SINKS && sphere.tag != NONE;
}

// Whether the scene has dynamic bodies that are no spheres; otherwise no inertia is a tensor, every sphere of a grain is about the
// centre of its body, and nothing has vertices.
override HAS_RIGID: bool = true;

// Whether joints hold some of them together.
override HAS_JOINTS: bool = true;

// Whether forces are applied to some bodies.
override HAS_FORCES: bool = true;

// Whether sweeps are accelerated [E12].
override HAS_MOMENTUM: bool = true;

// Whether substeps in which friction and rolling make energy are found out [E12].
override HAS_GUARD: bool = true;

// Whether a tolerance is set; otherwise nobody asks by how much a sweep changed anything.
override HAS_TOLERANCE: bool = true;

// A solid that removes the grains whose centre comes into it: a sink, or what lies behind a face of the domain.
struct Sink {
    pose: Pose,
    size: vec4f,               // meaning by form, see surface.wgsl [m]
    form: u32,
    tag: u32,                  // that its grains get
    ends_run: u32,             // 1: a grain in it ends the run
    spare: u32,
}

struct Surface {
    position: vec3f,           // on its body [m]
    body: u32,
    orientation: vec4f,
    size: vec4f,               // meaning by form, see surface.wgsl [m]
    form: u32,
    material: u32,
    is_dynamic: u32,           // 1: contacts move its body
    spare: u32,
}

// The law of a pair of materials, with the factors of [E2] that do not depend on the contact.
struct Law {
    friction: f32,
    rolling_resistance: f32,   // μ_r times the lever arm over R*
    restitution: f32,
    upsilon: f32,              // Υ
    sigma_factor: f32,         // Σ_n without the overlap and the radius
    target_factor: f32,        // q_n per overlap [1/s]
    stiffness: f32,            // k_n over √R* (Hertz) or over R* (Hooke)
    tangential_stiffness: f32, // κ
    damping: f32,              // η_n over √(m* S), or over S where it is viscoelastic [s]
    pull_off: f32,             // pull-off force [N]
    adhesion: f32,             // and per effective radius [N/m]
    spare: u32,
}

// Force that it takes to pull two bodies apart with the effective radius R* [E2] [N].
fn pull_off(law: Law, radius: f32) -> f32 {
    return law.pull_off + law.adhesion * radius;
}

// A pair of shapes that takes part in this step.
struct Contact {
    a: u32,                    // shape: a sphere of a grain, or a vertex
    b: u32,                    // shape: a surface, or a larger sphere
    previous: u32,             // place in the last step's list, or NONE; after the search, of one with a patch, seam and side: see narrowphase.wgsl
    place: u32,                // place in solving order
}

// All that a sweep needs of a contact, as kernels work with it. In memory it is two streams, so that neither
// outgrows a binding; each holds 32 bytes per contact, the sector in which cards read memory.
struct Constraint {
    normal: vec3f,             // from b to a
    bias_velocity: f32,        // q_n [m/s]
    arm_a: vec3f,              // contact point from the centre of a [m]
    compliance: f32,
    arm_b: vec3f,
    friction: f32,
    bodies: vec2u,
    rolling_arm: f32,          // μ_r times the lever arm [m]
    law: u32,
}

// What a constraint aims at, and for whom.
struct ConstraintHead {
    normal: vec3f,
    bias_velocity: f32,
    bodies: vec2u,
    compliance: f32,
    friction: f32,
}

// Where a constraint acts.
struct ConstraintArms {
    arm_a: vec3f,
    rolling_arm: f32,
    arm_b: vec3f,
    law: u32,
}

// A contact without a colour: each body takes part in it as one of several copies, see split.wgsl. What
// it does to its bodies is put aside, side by side, body by body; what is not listed a grain takes at once.
struct Overflow {
    slots: vec2u,              // places of its sides among those put aside, NONE for none
    copies: vec2u,             // of its bodies, 1 where nothing moves them
    response: vec3f,           // contact velocity per normal impulse, on these copies [1/kg]
    tangent_d: f32,            // D of the friction constraint, on them [1/kg]
}

const FAR = -1e30;             // target of a contact that takes no part

// NONE, HALT_*, WARM_*, LAW_*, FORM_*, COLOURS, GROUP and other numbers that the host knows, too, and the places of dispatch sizes
// in `arguments`, ARGUMENTS_*, are declared by src/gpu/constants.rs, whose text every shader begins with.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> status: Status;

fn is_halted() -> bool {
    return atomicLoad(&status.halted) != 0u;
}

// Vertices, then spheres of grains: the indices of `spheres`.
fn balls() -> u32 {
    return params.vertices + params.spheres;
}

fn bodies() -> u32 {
    return params.boundaries + params.grains;
}

// Index of an invocation in a folded dispatch.
fn flat(invocation: vec3u) -> u32 {
    return invocation.x + invocation.y * (GROUPS_PER_ROW * GROUP);
}

// Blocks in which the balance sums up so many contacts.
fn blocks_of_contacts(count: u32) -> u32 {
    return (count + BOOKED - 1u) / BOOKED;
}
