// Stress: sums of impulse times arm of the contacts over the substeps of a submission, in the meters [E17]. Twin: src/cpu/stress.rs.
//
// An impulse meets the arms of the positions at which its substep began, as those of the constraint are. Of a contact each grain counts
// with its own arm, boundaries do not.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(5) var<storage, read> poses: array<Pose>;
@group(0) @binding(6) var<storage, read> meters: array<Meter>;

// Number of words of a bin.
const STRESS_WORDS = 18u;
// Length along the axis below which an arm belongs to one layer as a whole [layers].
const SHORTEST = 1e-5f;
// Distance from a face of a region within which a centre counts as inside, as a share of its size: rounding of the position.
const ON_FACE = 1e-6f;

// Adds up the contacts of a block, meter by meter.
@compute @workgroup_size(64)
fn add_stress(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_of(group);
    for (var m = 0u; m < params.meters; m++) {
        var sum = mat3x3f();
        for (var place = first_of_block(block) + lane; place < end_of_block(block); place += GROUP) {
            let impulse = given_impulse(place, constraint_heads[place].normal).linear;
            if all(impulse == vec3f(0.0)) {
                continue;
            }
            // The impulse acts on a, its reverse on b; pressure counts as positive.
            let constraint = load_constraint(place);
            sum += measure(m, constraint.bodies.x, constraint.law / params.materials, constraint.arm_a, -impulse);
            sum += measure(m, constraint.bodies.y, constraint.law % params.materials, constraint.arm_b, impulse);
        }
        if meters[m].layers == 0u {
            add_moment(place_of_bin(meters[m].first), sum);
        }
    }
}

// Adds a contact to the sums of its grains.
@compute @workgroup_size(64)
fn add_grain_stress(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let impulse = given_impulse(place, constraint_heads[place].normal).linear;
    if all(impulse == vec3f(0.0)) {
        return;
    }
    let constraint = load_constraint(place);
    add_to_grain(constraint.bodies.x, constraint.arm_a, -impulse);
    add_to_grain(constraint.bodies.y, constraint.arm_b, impulse);
}

fn add_to_grain(body: u32, arm: vec3f, impulse: vec3f) {
    if body >= params.boundaries {
        add_moment(STRESS_WORDS * (body - params.boundaries), moment_of(arm, impulse));
    }
}

// Product of an arm and an impulse, arm impulseᵀ.
fn moment_of(arm: vec3f, impulse: vec3f) -> mat3x3f {
    return mat3x3f(arm * impulse.x, arm * impulse.y, arm * impulse.z);
}

// Place of the first word of a bin.
fn place_of_bin(bin: u32) -> u32 {
    return LOAD_WORDS * params.boundaries + STRESS_WORDS * bin;
}

// Arm times impulse of one body of a contact, if a region counts it; layers add it to their sums at once, and zero is returned.
fn measure(m: u32, body: u32, material: u32, arm: vec3f, impulse: vec3f) -> mat3x3f {
    let meter = meters[m];
    if body < params.boundaries || (meter.material != NONE && meter.material != material) {
        return mat3x3f();
    }
    let moment = moment_of(arm, impulse);
    let apart = between(meter.pose, poses[body]);
    if meter.layers == 0u {
        if is_inside(meter, apart) {
            return moment;
        }
        return mat3x3f();
    }
    let along = dot(apart, meter.axis);
    if is_inside(meter, apart - along * meter.axis) {
        let start = along / meter.thickness + 0.5 * f32(meter.layers);
        let end = start + dot(arm, meter.axis) / meter.thickness;
        let low = min(start, end);
        let high = max(start, end);
        cut(meter, low, high, moment);
        if meter.period > 0.0 {
            // What leads out of one face of a period comes in at the other.
            cut(meter, low - meter.period, high - meter.period, moment);
            cut(meter, low + meter.period, high + meter.period, moment);
        }
    }
    return mat3x3f();
}

// Whether a point, given from the centre of the region, is inside.
fn is_inside(meter: Meter, apart: vec3f) -> bool {
    let point = rotate(conjugate(meter.pose.orientation), apart);
    let slack = ON_FACE * max(meter.size.x, max(meter.size.y, meter.size.z));
    return distance_to_surface(meter.form, meter.size, point, 0.0).length <= slack;
}

// Divides a moment among the layers between two heights, in units of the thickness of a layer.
fn cut(meter: Meter, low: f32, high: f32, moment: mat3x3f) {
    let count = f32(meter.layers);
    if high <= 0.0 || low >= count {
        return;
    }
    if high - low < SHORTEST {
        add_moment(place_of_bin(meter.first + u32(clamp(floor(0.5 * (low + high)), 0.0, count - 1.0))), moment);
        return;
    }
    let end = u32(min(ceil(high), count));
    for (var layer = u32(max(floor(low), 0.0)); layer < end; layer++) {
        let share = (min(high, f32(layer) + 1.0) - max(low, f32(layer))) / (high - low);
        add_moment(place_of_bin(meter.first + layer), max(share, 0.0) * moment);
    }
}

// Adds a moment to the nine sums from a word on, row by row.
fn add_moment(first: u32, moment: mat3x3f) {
    add_row(first, vec3f(moment[0].x, moment[1].x, moment[2].x));
    add_row(first + 6u, vec3f(moment[0].y, moment[1].y, moment[2].y));
    add_row(first + 12u, vec3f(moment[0].z, moment[1].z, moment[2].z));
}

fn add_row(first: u32, row: vec3f) {
    for (var i = 0u; i < 3u; i++) {
        if row[i] != 0.0 {
            add_to(first + 2u * i, row[i] * params.torque_scale);
        }
    }
}
