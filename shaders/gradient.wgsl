// Gradient: accelerated projected gradient descent over all contacts at once [E15]. Twin: src/cpu/gradient.rs.
//
//     find_slopes ─► aim ─► give_* (warm_start.wgsl) ─► arrive : sums per workgroup ─► judge_step ─┐
//                     ▲                                                                            │
//                     └──── again with a larger L, or next iteration ──────────────────────────────┘
//
// A try with too small an L does not count as an iteration: its impulses stay, and the next try starts at the same point with a larger L.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(7) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(8) var<storage, read_write> changes: array<vec2f>;      // per contact, like `impulses`: changes that bodies are given
@group(0) @binding(9) var<storage, read_write> descent: array<vec2f>;      // per contact: FIELDS impulses or slopes, three pairs each
@group(0) @binding(10) var<storage, read_write> step_sums: array<vec4f>;   // sums of Course, two vectors per workgroup

const FIRST_STEEPNESS = 1.0f;  // first L [E15], in units of D [-]
const STEEPER = 2.0f;          // factor of L after a try in which the objective curves more than L
const FLATTER = 0.9f;          // factor of L after every iteration
const STEEPEST = 3072.0f;      // largest L: 1024 contacts of a body, three rows each

// Fields of a contact in `descent`: impulses and slopes [E15].
const FIELDS = 5u;
const HERE = 0u;               // impulse λ_k after the last iteration
const BEFORE = 1u;             // impulse λ_(k-1), an iteration before
const SLOPE_HERE = 2u;         // slope at HERE
const SLOPE_BEFORE = 3u;       // slope at BEFORE
const SLOPE = 4u;              // slope at the impulses of the present try

@compute @workgroup_size(64)
fn begin_descent(@builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        plan(ARGUMENTS_DESCENT, select(status.contacts, 0u, is_halted()));
        status.steepness = FIRST_STEEPNESS;
        gain_momentum(true);
        status.goes_on = 1u;
    }
}

// Stores the impulses at the start, and the slopes there.
@compute @workgroup_size(64)
fn find_slopes(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place < status.contacts {
        let constraint = load_constraint(place);
        let impulse = load_impulse(place);
        let slope = slope_here(constraint, impulse);
        store_field(place, HERE, impulse);
        store_field(place, SLOPE_HERE, slope);
        store_field(place, SLOPE, slope);
    }
}

// Try of an iteration: a step from the extrapolated point y down the slope, of length D⁻¹/L, projected on the cone [E15].
@compute @workgroup_size(64)
fn aim(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts {
        return;
    }
    let constraint = load_constraint(place);
    let impulse = load_impulse(place);
    if status.goes_on != 0u {
        store_field(place, BEFORE, load_field(place, HERE));
        store_field(place, HERE, impulse);
        store_field(place, SLOPE_BEFORE, load_field(place, SLOPE_HERE));
        store_field(place, SLOPE_HERE, load_field(place, SLOPE));
    }
    let d = whole_diagonal(constraint, velocities[constraint.bodies.x], velocities[constraint.bodies.y]);
    let step = vec3f(safe_ratio(1.0, d.x), safe_ratio(1.0, d.y), safe_ratio(1.0, d.z)) / status.steepness;
    let point = parts_of(beyond(place, HERE, BEFORE), constraint.normal);
    let slope = parts_of(beyond(place, SLOPE_HERE, SLOPE_BEFORE), constraint.normal);
    let found = into_whole_cone(constraint, d, Parts(point.normal - step.x * slope.normal,
        point.tangent - step.y * slope.tangent, point.rolling - step.z * slope.rolling));
    store_impulse(place, found);
    store_change(place, less(found, impulse));
}

// Stores the slope of each contact after a try, and sums up the course of the try.
@compute @workgroup_size(64)
fn arrive(
    @builtin(global_invocation_id) invocation: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let place = flat(invocation);
    var course = Course();
    if place < status.contacts {
        course = course_of(place);
    }
    courses[lane] = course;
    let sum = sum_of_courses(lane, GROUP);
    let block = group.x + group.y * GROUPS_PER_ROW;
    if lane == 0u && 2u * block + 1u < arrayLength(&step_sums) {
        step_sums[2u * block] = vec4f(sum.curvature, sum.length, sum.rise, sum.largest);
    }
}

// Course of a try, summed over contacts [E15]: d = λ_(k+1) - y.
struct Course {
    curvature: f32,            // d·(s_(k+1) - s): curvature of the objective along d
    length: f32,               // d·D d: square of the length of d in units of D
    rise: f32,                 // s·(λ_(k+1) - λ_k), with the slope s at y
    largest: f32,              // largest change of a contact, D |Δλ| [m/s]
}

fn course_of(place: u32) -> Course {
    let constraint = load_constraint(place);
    let impulse = load_impulse(place);
    let slope = slope_here(constraint, impulse);
    store_field(place, SLOPE, slope);
    let d = whole_diagonal(constraint, velocities[constraint.bodies.x], velocities[constraint.bodies.y]);
    let slope_at_point = beyond(place, SLOPE_HERE, SLOPE_BEFORE);
    let way = less(impulse, beyond(place, HERE, BEFORE));
    let change = less(impulse, load_field(place, HERE));
    let along = parts_of(way, constraint.normal);
    let changed = parts_of(change, constraint.normal);
    return Course(product(way, less(slope, slope_at_point)),
        d.x * along.normal * along.normal + d.y * dot(along.tangent, along.tangent) + d.z * dot(along.rolling, along.rolling),
        product(slope_at_point, change),
        max(d.x * abs(changed.normal), d.y * length(changed.tangent)));
}

var<workgroup> courses: array<Course, 256>;

// Sum over a workgroup of `size` invocations, valid in the first of them alone.
fn sum_of_courses(lane: u32, size: u32) -> Course {
    workgroupBarrier();
    for (var reach = size / 2u; reach > 0u; reach /= 2u) {
        if lane < reach {
            courses[lane] = joined(courses[lane], courses[lane + reach]);
        }
        workgroupBarrier();
    }
    return courses[0];
}

fn joined(x: Course, y: Course) -> Course {
    return Course(x.curvature + y.curvature, x.length + y.length, x.rise + y.rise, max(x.largest, y.largest));
}

// Decides whether the try counts as an iteration, and sets L and β of the next one. Empties the tries to come once the solve is over.
@compute @workgroup_size(256)
fn judge_step(@builtin(local_invocation_index) lane: u32) {
    var course = Course();
    for (var block = lane; block < (status.contacts + GROUP - 1u) / GROUP; block += 256u) {
        let sums = step_sums[2u * block];
        course = joined(course, Course(sums.x, sums.y, sums.z, sums.w));
    }
    courses[lane] = course;
    let sum = sum_of_courses(lane, 256u);
    if lane != 0u || status.converged != 0u || is_halted() {
        return;
    }
    let of_joints = bitcast<f32>(atomicExchange(&status.change, 0u));
    if sum.curvature > status.steepness * sum.length && status.steepness < STEEPEST {
        status.steepness *= STEEPER;
        status.goes_on = 0u;
        return;
    }
    status.steepness *= FLATTER;
    status.goes_on = 1u;
    gain_momentum(sum.rise > 0.0);
    status.sweeps++;
    if status.sweeps >= params.iterations || max(sum.largest, of_joints) < params.tolerance {
        end_descent();
    }
}

// Next θ and β of Nesterov's sequence [E15]; the first ones if the objective rose.
fn gain_momentum(starts_anew: bool) {
    if starts_anew {
        status.theta = 1.0;
        status.share = 0.0;
        return;
    }
    let theta = status.theta;
    let square = theta * theta;
    status.theta = 0.5 * (theta * sqrt(square + 4.0) - square);
    status.share = theta * (1.0 - theta) / (square + status.theta);
}

fn end_descent() {
    status.converged = 1u;
    arguments[3u * ARGUMENTS_DESCENT] = 0u;
    for (var size = 0u; size <= PASS; size++) {
        arguments[3u * (ARGUMENTS_SWEEP + size)] = 0u;
    }
}

// Projects an impulse on the cone of its contact: the nearest impulse in units of D. Normal, friction and rolling part are projected
// together, while sweeps take the normal impulse as given.
fn into_whole_cone(constraint: Constraint, d: vec3f, trial: Parts) -> Impulse {
    if d.x == 0.0 {
        return Impulse(vec3f(0.0), vec3f(0.0));
    }
    // Per part: slope of its bound, length, weight. A part within its bound has no effect on the normal impulse.
    let of_friction = vec3f(constraint.friction, length(trial.tangent), d.y);
    let of_rolling = vec3f(constraint.rolling_arm, length(trial.rolling), d.z);
    let is_friction_first = reached_at(of_friction) >= reached_at(of_rolling);
    var weights = vec2f(d.x * trial.normal, d.x);
    let first = select(of_rolling, of_friction, is_friction_first);
    if weights.x < weights.y * reached_at(first) {
        weights += first.z * first.x * vec2f(first.y, first.x);
        let second = select(of_friction, of_rolling, is_friction_first);
        if weights.x < weights.y * reached_at(second) {
            weights += second.z * second.x * vec2f(second.y, second.x);
        }
    }
    let normal = max(weights.x / weights.y, 0.0);
    return Impulse(normal * constraint.normal + limit(trial.tangent, constraint.friction * normal, constraint.normal),
        limit(trial.rolling, constraint.rolling_arm * normal, constraint.normal));
}

// Normal impulse from which on a part is within its bound.
fn reached_at(part: vec3f) -> f32 {
    return safe_ratio(part.y, part.x);
}

// Slope at a contact, as it is stored: the normal part as a vector along the normal.
fn slope_here(constraint: Constraint, impulse: Impulse) -> Impulse {
    let slope = slope_of(constraint, impulse, velocities[constraint.bodies.x], velocities[constraint.bodies.y]);
    return Impulse(slope.normal * constraint.normal + slope.tangent, slope.rolling);
}

// Extrapolated field x + β (x - x_last).
fn beyond(place: u32, now: u32, last: u32) -> Impulse {
    let here = load_field(place, now);
    let change = less(here, load_field(place, last));
    return Impulse(here.linear + status.share * change.linear, here.rolling + status.share * change.rolling);
}

fn less(x: Impulse, y: Impulse) -> Impulse {
    return Impulse(x.linear - y.linear, x.rolling - y.rolling);
}

fn product(x: Impulse, y: Impulse) -> f32 {
    return dot(x.linear, y.linear) + dot(x.rolling, y.rolling);
}

fn load_field(place: u32, field: u32) -> Impulse {
    let at = 3u * (FIELDS * place + field);
    return Impulse(vec3f(descent[at], descent[at + 1u].x), vec3f(descent[at + 1u].y, descent[at + 2u]));
}

fn store_field(place: u32, field: u32, value: Impulse) {
    let at = 3u * (FIELDS * place + field);
    descent[at] = value.linear.xy;
    descent[at + 1u] = vec2f(value.linear.z, value.rolling.x);
    descent[at + 2u] = value.rolling.yz;
}

fn store_change(place: u32, change: Impulse) {
    changes[IMPULSE_PAIRS * place] = change.linear.xy;
    changes[IMPULSE_PAIRS * place + 1u] = vec2f(change.linear.z, change.rolling.x);
    changes[IMPULSE_PAIRS * place + 2u] = change.rolling.yz;
}
