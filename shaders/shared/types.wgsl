// Types, constants and two bindings (`params`, `status`) that all stages share.
// Rust twins: src/gpu/layout.rs; a test compares them through reflection.

// Constants of a run, in SI units.
struct Params {
    gravity: vec3f,            // gravity [m/s²]
    h: f32,                    // duration of a substep [s]
    reach: f32,                // largest gap of a contact in the neighbour list, in mean diameters [-]
    skin: f32,                 // skin of the neighbour list, in mean diameters [-]
    boundary_skin: f32,        // path of a boundary up to which no rebuild is needed [m]
    impact_threshold: f32,     // closing speed above which a contact bounces [m/s]
    tolerance: f32,            // change of a contact velocity at which sweeps end [m/s]; 0: fixed number of sweeps
    warm_start: u32,           // warm start, WARM_*
    fraction: f32,             // share β of the last impulse that a moving contact starts from [-] [E7]
    moving: f32,               // contact speed from which β applies in the adaptive warm start [m/s]
    normal_law: u32,           // normal law, LAW_*
    grains: u32,               // number of grains
    boundaries: u32,           // number of boundaries; as bodies they come before the grains
    surfaces: u32,             // number of surfaces
    materials: u32,            // number of materials
    bucket_mask: u32,          // number of buckets of the cell hash, less 1
    stride_y: i32,             // factor of the y index in the cell hash
    stride_z: i32,             // factor of the z index
    contact_capacity: u32,     // room for contacts
    model_gain: f32,           // impulse per slip speed in the warm start from the model, h/γ [kg] [E7]
    touch_tolerance: f32,      // largest gap at which shapes touch in an impact, as a share of the arm of a [-]
    cohesion_range: f32,       // largest gap up to which a cohesive contact holds, in effective radii [-]
    speed_limit: f32,          // speed that contacts may add to a body in a substep; above it the run fails [m/s]
    rigid_share: f32,          // share of an overlap that the rigid law removes per substep [-]
    rigid_limit: f32,          // largest overlap that the rigid law removes per substep, in effective radii [-]
    sinks: u32,                // number of sinks, with the faces of the domain that remove grains
    cell_size: vec3f,          // edges of a grid cell of level 0 [m]
    periods: vec3i,            // cells of level 0 per period along each axis; 0: not periodic
    vertices: u32,             // number of vertices of dynamic boundaries; they come before the spheres of grains in `spheres`
    overflow_capacity: u32,    // room for overflow contacts
    step_time: f32,            // duration of a step, all substeps [s]
    level_radius: f32,         // largest radius in level 0 of the grid [m]
    levels: u32,               // levels of the grid that hold spheres: bit l for level l
    impact_tolerance: f32,     // change at which sweeps of impacts end, as a share of the fastest closing speed [-]
    load_scale: f32,           // integer units per impulse in the sums of loads, a power of two [1/(N s)]
    torque_scale: f32,         // integer units per angular impulse, a power of two [1/(N m s)]
    gain_at_once: f32,         // energy that friction and rolling may make in a substep, as a share of the kinetic energy [-] [E12]
    spheres: u32,              // number of spheres of grains
    rigids: u32,               // number of entries of `rigids`
    joints: u32,               // number of joints
    joint_rows: u32,           // number of rows of all joints
    machines: u32,             // number of machines: sets of bodies connected by joints
    iterations: u32,           // largest number of sweeps in a substep
    meters: u32,               // number of meters of stress
    impact_block: u32,         // sweeps of a block of an impact stage, an even number
    most_impact_sweeps: u32,   // largest number of sweeps of an impact stage
}

// Progress of a submission: its steps write it for the steps that follow and for the host.
struct Status {
    halted: atomic<u32>,       // reasons of a halt, HALT_*; the step that sets one and all steps after it do nothing
    step: u32,                 // steps done in this submission
    substep: u32,              // substeps done in this submission
    remembered: u32,           // vertices and spheres in the previous neighbour list
    contacts: u32,             // contacts in the neighbour list
    impacts: atomic<u32>,      // 1: a contact bounces in this substep
    change: atomic<u32>,       // bits of the largest change of a contact velocity in this sweep [m/s]
    sweeps: u32,               // sweeps (with a tolerance) or iterations of gradient descent done in this substep
    bad_grain: atomic<u32>,    // smallest index of a grain that caused the halt
    colours: atomic<u32>,      // colours in use, as bits
    overflow: u32,             // overflow contacts
    converged: u32,            // 1: no contact changed by more than the tolerance, or the descent is over
    bad_boundary: atomic<u32>, // smallest index of a dynamic boundary that caused the halt
    search: atomic<u32>,       // not 0: the next step rebuilds the neighbour list
    listed: u32,               // vertices and spheres in the present neighbour list; 0: there is no complete list
    sides: u32,                // slots of the overflow contacts on their bodies, see Overflow
    searches: u32,             // rebuilds of the neighbour list in this submission
    calm: u32,                 // 1: no step of this submission may rebuild or bounce; a step that has to halts
    bounces: u32,              // substeps of this submission in which a contact bounced
    fastest: atomic<u32>,      // bits of the largest closing speed of a contact that bounces [m/s]; 0: none bounces
    rounds: u32,               // rounds of impacts done in this substep
    noise: f32,                // closing speed that the sweeps of impacts may leave; slower contacts do not bounce in later rounds [m/s]
    impact_sweeps: u32,        // sweeps over the impacts in this substep
    impact_residual: atomic<u32>, // bits of the largest change in the last of these sweeps, or of the fastest closing speed left after it [m/s]
    careful: u32,              // 0: first solution of the substep; 1: second, from zero impulses; 2: third, also without friction and rolling
    steepness: f32,            // curvature L of the objective that gradient descent assumes, in units of D [-] [E15]
    theta: f32,                // member θ of Nesterov's sequence [-]
    share: f32,                // extrapolation factor β of an iteration [-] [E15]
    goes_on: u32,              // 1: the last try counts as an iteration; 0: the next try starts at the same point with a larger L
    wanted: u32,               // steps that the host wants of this submission; 0: as many as it holds
    tiles: u32,                // tiles of each tiling, see tiles.wgsl
    tiled: u32,                // contacts with a colour of the first tiling; in solving order those of the second come next
    coloured: u32,             // contacts with a colour; in solving order the overflow contacts come next
    unsettled: u32,            // substeps of this submission whose impacts ran out of sweeps before they had settled
    unsettled_residual: f32,   // largest residual of these impact stages [m/s]
    unsettled_fraction: f32,   // the same over the fastest closing speed of the last round [-]
    impact_end: u32,           // sweeps over the impacts at the end of the present block; 0: there are no more
    block_residual: f32,       // residual of the impacts at the end of the block before [m/s]; -FAR in the first that ends in a round
    most_sweeps: u32,          // largest number of sweeps over the impacts in a substep of this submission
}

// Pose of a body. Cell and offset together give the position, with the same precision far from the origin.
struct Pose {
    cell: vec3i,               // grid cell of level 0
    machine: u32,              // smallest index of a boundary that is connected with this one by joints; boundaries of a machine do not touch
    offset: vec3f,             // position of the centre, from the centre of the cell [m]
    free_speed: f32,           // speed of a dynamic body at the end of the coming substep without contacts [m/s]
    orientation: vec4f,        // unit quaternion x, y, z, w
}

// Velocity of a body, with its inverse mass and inertia.
struct Velocity {
    linear: vec3f,             // velocity of the centre of mass [m/s]
    inverse_mass: f32,         // inverse mass [1/kg]; 0: velocity that contacts never write
    angular: vec3f,            // angular velocity [rad/s]
    inverse_inertia: f32,      // inverse moment of inertia; the largest one of a tensor [1/(kg m²)]
}

// Sphere of a grain, or vertex of a dynamic boundary; vertices come first. In scenes with HAS_RIGID the list has a second half:
// the position of each sphere and vertex on its body, see centre.wgsl.
struct Sphere {
    radius: f32,               // radius; 0 for the vertex of a box [m]
    material: u32,             // index of the material
    body: u32,                 // index of the body
    tag: u32,                  // sink that removed the grain (number of sinks: it left the domain), or NONE; among polyhedra OF_* and the block
                               // of its solid; of a vertex its part: see ball.wgsl
}

// State of a body beyond its velocity: inertia tensor if it is rigid and no sphere, locked axes, applied force. The list is by body
// and ends with the last body that has any of these.
struct Rigid {
    diagonal: vec3f,           // xx, yy, zz of the inverse inertia, world frame [1/(kg m²)]
    flags: u32,                // six bits of locked axes: translation x y z, rotation x y z; then RIGID, UNDISTURBED
    off_diagonal: vec3f,       // yz, xz, xy of the inverse inertia, world frame [1/(kg m²)]
    is_ahead: u32,             // 1: an undisturbed body that stands in the middle of the substep
    moments: vec3f,            // principal moments of inertia [kg m²]
    spare: u32,
    momentum: vec3f,           // angular momentum at the end of the last substep [N m s]
    spare_too: u32,
    spin: vec3f,               // angular velocity that belongs to `momentum` [rad/s]
    spare_also: u32,
    force: vec3f,              // applied force [N]
    spare_then: u32,
    torque: vec3f,             // applied torque [N m]
    spare_last: u32,
}

// Pose of a boundary at the end of a substep, and the velocity that moves it there. A belt stands still but has a velocity.
struct BoundaryState {
    pose: Pose,                // pose at the end of the substep
    linear: vec3f,             // velocity [m/s]
    path: f32,                 // longest path of its points in the substep, if it is prescribed or driven [m]
    angular: vec3f,            // angular velocity [rad/s]
    ahead: f32,                // longest path of its points in the step after the substep [m]
    reach: f32,                // largest distance of its points from its centre [m]
    spare_x: u32,
    spare_y: u32,
    spare_z: u32,
}

// Whether the scene has sinks; otherwise no grain is ever removed.
override HAS_SINKS: bool = true;

fn is_removed(sphere: Sphere) -> bool {
    return HAS_SINKS && sphere.tag < OF_BALL;
}

// Whether some grains are convex polyhedra.
override HAS_HULLS: bool = true;

// Whether a grain is a convex polyhedron, around which its sphere is.
fn is_hull(sphere: Sphere) -> bool {
    return HAS_HULLS && sphere.tag >= OF_HULL && sphere.tag <= OF_HULL + BELOW_PART;
}

// Whether the scene has dynamic bodies that are no spheres. Without them no inertia is a tensor, every sphere of a grain has its
// centre in the centre of its body, and there are no vertices.
override HAS_RIGID: bool = true;

// Whether the scene has joints.
override HAS_JOINTS: bool = true;

// Whether forces are applied to some bodies.
override HAS_FORCES: bool = true;

// Whether sweeps are accelerated [E12].
override HAS_MOMENTUM: bool = true;

// Whether the guard detects substeps in which friction and rolling make energy [E12].
override HAS_GUARD: bool = true;

// Number of invocations of a workgroup that colours or solves a tile. The device decides, and no result depends on it.
override LANES: u32 = 128u;

// Whether a tolerance is set. Without one the change in a sweep is not measured.
override HAS_TOLERANCE: bool = true;

// Solid region that removes grains whose centre enters it: a sink, or the space behind a face of the domain.
struct Sink {
    pose: Pose,                // pose of the region
    size: vec4f,               // dimensions, meaning by form, see surface.wgsl [m]
    form: u32,                 // form, FORM_*
    tag: u32,                  // `Sphere.tag` of the grains that it removes
    ends_run: u32,             // 1: a grain in it ends the run
    is_face: u32,              // 1: the space behind a face of the domain, which takes what no sink takes
}

// Meter of the stress of the contacts: a region, as a whole or cut into layers [E17].
struct Meter {
    pose: Pose,                // pose of the centre of the region
    size: vec4f,               // dimensions, meaning by form, see surface.wgsl [m]
    form: u32,                 // form, FORM_*
    material: u32,             // index of the material whose grains count, or NONE for all
    layers: u32,               // number of layers; 0: the region is one whole
    first: u32,                // index of the first bin
    axis: vec3f,               // unit vector across the layers
    thickness: f32,            // thickness of a layer [m]
    period: f32,               // period along the axis, 0 if it has none [layers]
    spare_x: u32,
    spare_y: u32,
    spare_z: u32,
}

// Surface of a boundary.
struct Surface {
    position: vec3f,           // position in the frame of its body [m]
    body: u32,                 // index of the body
    orientation: vec4f,        // orientation in the frame of its body
    size: vec4f,               // dimensions, meaning by form, see surface.wgsl [m]
    form: u32,                 // form, FORM_*; in memory with the class of its motion in the bits from CLASS_SHIFT on
    material: u32,             // index of the material
    flags: u32,                // bit 0: contacts move its body; from bit 1 on: materials of shapes that do not feel it
    head: u32,                 // block of the head of its mesh, or of its convex solid; 0: none, see mesh.wgsl
}

// Contact law of a pair of materials, with the factors of [E2] that do not depend on the contact.
struct Law {
    friction: f32,             // coefficient of friction μ [-]
    rolling_resistance: f32,   // μ_r times the lever arm over R* [-]
    restitution: f32,          // coefficient of restitution e [-]
    upsilon: f32,              // damping factor Υ [-]
    sigma_factor: f32,         // Σ_n times √(R* δ) (Hertz) or R* (Hooke) [m/kg]
    target_factor: f32,        // q_n per overlap, without Υ u_n [1/s]
    stiffness: f32,            // k_n over √R* (Hertz) or over R* (Hooke)
    tangential_stiffness: f32, // κ = k_t over the slope of the normal force [-] [E13]
    damping: f32,              // η_n over √(m* S) [-], or over S if viscoelastic [s] [E13]
    pull_off: f32,             // pull-off force that does not depend on size [N]
    adhesion: f32,             // pull-off force per effective radius [N/m]
    spare: u32,
}

// Pull-off force F_c of a contact with the effective radius R* [E2] [N].
fn pull_off(law: Law, radius: f32) -> f32 {
    return law.pull_off + law.adhesion * radius;
}

// Contact in the neighbour list: a pair of shapes. Shapes are numbered: surfaces, then vertices, then spheres.
struct Contact {
    a: u32,                    // shape a: a sphere of a grain, or a vertex
    b: u32,                    // shape b: a surface, or a larger sphere; in the bits from SHAPE_BITS on the number of a point, see solids.wgsl
    previous: u32,             // index in the last list, or NONE; after the search, of a contact with a patch: seam and side, see narrowphase.wgsl
    place: u32,                // place in solving order
}

// Whether some dynamic bodies are convex solids or polyhedra, whose contacts with others are at the points of manifolds.
override HAS_SOLIDS: bool = true;

// Shape b of a contact, without the number of a point.
fn shape_b(contact: Contact) -> u32 {
    return select(contact.b, contact.b & SHAPE_MASK, HAS_SOLIDS);
}

// Whether a contact is at a point of a manifold.
fn is_at_point(contact: Contact) -> bool {
    return HAS_SOLIDS && contact.b > SHAPE_MASK;
}

// Whether shape a of a contact is a vertex of a dynamic boundary.
fn is_of_vertex(contact: Contact) -> bool {
    return contact.a - params.surfaces < params.vertices;
}

// Whether a contact of a polyhedral grain is at another point of its manifold than the first.
fn follows(contact: Contact) -> bool {
    return HAS_HULLS && (contact.b >> SHAPE_BITS) > 1u && !is_of_vertex(contact);
}

// Contact constraint, with all data that a sweep needs. In memory it is two streams, so that neither outgrows a
// binding: `ConstraintHead`, 32 bytes per contact, the sector in which cards read memory, and the arms, see constraints.wgsl.
struct Constraint {
    normal: vec3f,             // unit normal, from b to a
    bias_velocity: f32,        // bias velocity q_n [m/s]
    arm_a: vec3f,              // contact point from the centre of a [m]
    compliance: f32,           // compliance Σ_n [1/kg]
    arm_b: vec3f,              // contact point from the centre of b [m]
    friction: f32,             // coefficient of friction μ [-]
    bodies: vec2u,             // indices of a and b
    rolling_arm: f32,          // μ_r times the lever arm [m]
    law: u32,                  // index of the contact law
}

// First half of a contact constraint (32 bytes): normal, bias velocity, bodies, compliance, coefficient of friction.
struct ConstraintHead {
    normal: vec3f,
    bias_velocity: f32,
    bodies: vec2u,
    compliance: f32,
    friction: f32,
}

// Mass splitting of an overflow contact (a contact without a colour): each body takes part as one of several copies, see
// split.wgsl. The changes of copies are stored in slots, body by body. A grain without a slot takes its change at once.
struct Overflow {
    slots: vec2u,              // slots of the changes of a and b; NONE: no slot
    copies: vec2u,             // numbers of copies of a and b; 1 for a body that no impulse moves
    response: vec3f,           // change of the contact velocity per normal impulse, on these copies [1/kg]
    tangent_d: f32,            // D of the friction constraint, on these copies [1/kg]
}

const FAR = -1e30;             // bias velocity of a contact that takes no part [m/s]

// Constants that the host shares (NONE, HALT_*, WARM_*, LAW_*, FORM_*, COLOURS, GROUP and others) and the places of dispatch sizes in
// `arguments` (ARGUMENTS_*) are declared by src/gpu/constants.rs; its text comes first in every shader.

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> status: Status;

fn is_halted() -> bool {
    return is_halted_beyond(0u);
}

// Whether nothing bounces in this round of impacts. The sweeps of the round then change nothing; `check_impacts` empties those after them.
fn strikes_nothing() -> bool {
    return atomicLoad(&status.fastest) == 0u;
}

// Whether there is a halt for any reason but these.
fn is_halted_beyond(reasons: u32) -> bool {
    return (atomicLoad(&status.halted) & ~reasons) != 0u;
}

// Number of vertices and spheres of grains: the indices of `spheres`, vertices first.
fn balls() -> u32 {
    return params.vertices + params.spheres;
}

fn bodies() -> u32 {
    return params.boundaries + params.grains;
}

// Number of tiles of a tiling of the present bodies, see tiles.wgsl.
fn tiles() -> u32 {
    return (bodies() + TILE - 1u) / TILE;
}

// Place in `tile_lists` of what belongs to a tile of the first tiling, if there are `count` tiles: after the bins, and after all that
// the prefix sum over the bins changes. See tiles.wgsl.
fn place_of_tile(count: u32, tile: u32) -> u32 {
    return (BINS * count + SCAN_BLOCK - 1u) / SCAN_BLOCK * SCAN_BLOCK + 2u * tile;
}

// Place in `tile_lists` of a member of a tile.
fn place_of_member(count: u32, member: u32) -> u32 {
    return place_of_tile(count, count) + 3u * member;
}

// Number of cubes by which the bodies are sorted into the tiles of a tiling: a power of eight, at least twice the number of bodies.
fn cubes() -> u32 {
    let bits = 32u - countLeadingZeros(2u * bodies());
    return 1u << (3u * min((bits + 2u) / 3u, MOST_CUBE_BITS));
}

// Index of an invocation in a folded dispatch.
fn flat(invocation: vec3u) -> u32 {
    return invocation.x + invocation.y * (GROUPS_PER_ROW * GROUP);
}

// Number of blocks in which the energy balance sums up `count` contacts.
fn blocks_of_contacts(count: u32) -> u32 {
    return (count + BOOKED - 1u) / BOOKED;
}
