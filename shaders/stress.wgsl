// Stress: sums of impulse times arm of the contacts, and of what grains carry as they move, over the substeps of a submission, in the
// meters [E17], and the grains that come into a meter. Twins: src/cpu/stress.rs, src/model/meter.rs.
//
// An impulse meets the arms of the positions at which its substep began, as those of the constraint are. From there the grains move. Of a
// contact each grain counts with its own arm, boundaries do not.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(5) var<storage, read> poses: array<Pose>;
@group(0) @binding(6) var<storage, read> meters: array<Meter>;
@group(0) @binding(7) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(8) var<storage, read> velocities: array<Velocity>;

// Number of words of the stress of a grain, and of the part of the contacts in a bin.
const STRESS_WORDS = 18u;
// Number of words of a bin: those of the contacts, then of flux, momentum and mass, then of number and mass of the grains that came in.
const BIN_WORDS = 54u;
// Units of the fine part of a sum per unit of its coarse part.
const FINE = 4294967296.0;
// Length along the axis below which an arm belongs to one layer as a whole [layers].
const SHORTEST = 1e-5f;
// Distance from a face of a region within which a centre counts as inside, as a share of its size: rounding of the position.
const ON_FACE = 1e-6f;

// What belongs to a body along an arm, or along its way.
struct Carried {
    moment: mat3x3f,           // arm or way times impulse or momentum [N m s]
    momentum: vec3f,           // momentum, if the body moves [N s]
    mass: f32,                 // mass, if the body moves [kg]
}

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
            let constraint = load_constraint(place);
            for (var side = 0u; side < 2u; side++) {
                // The impulse acts on a, its reverse on b; pressure counts as positive.
                let is_a = side == 0u;
                let arm = select(constraint.arm_b, constraint.arm_a, is_a);
                let moment = moment_of(arm, select(impulse, -impulse, is_a));
                let body = select(constraint.bodies.y, constraint.bodies.x, is_a);
                let material = select(constraint.law % params.materials, constraint.law / params.materials, is_a);
                if measure(m, body, material, arm, Carried(moment, vec3f(), 0.0)) {
                    sum += moment;
                }
            }
        }
        if meters[m].layers == 0u {
            add_moment(place_of_bin(meters[m].first), sum);
        }
    }
}

var<workgroup> carried: array<Carried, GROUP>;

// Sum over the group, on its first invocation. A sum per invocation of a whole region would make all of them wait for each other.
fn sum_of_group(own: Carried, lane: u32) -> Carried {
    carried[lane] = own;
    workgroupBarrier();
    for (var half = GROUP / 2u; half > 0u; half /= 2u) {
        if lane < half {
            let x = carried[lane];
            let y = carried[lane + half];
            carried[lane] = Carried(x.moment + y.moment, x.momentum + y.momentum, x.mass + y.mass);
        }
        workgroupBarrier();
    }
    return carried[0];
}

// Adds what the grains carry on their way in this substep, from their present positions, and counts those that come into a region. A clump
// counts with its first sphere.
@compute @workgroup_size(64)
fn add_motion(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let i = params.vertices + flat(invocation);
    var own = Carried();
    var body = 0u;
    var material = NONE;
    var way = vec3f();
    if flat(invocation) < params.spheres && !is_halted() {
        body = spheres[i].body;
        material = spheres[i].material;
        let velocity = velocities[body];
        let is_first = flat(invocation) == 0u || spheres[i - 1u].body != body;
        // A grain without an inverse mass was removed.
        if is_first && velocity.inverse_mass > 0.0 {
            own.mass = 1.0 / velocity.inverse_mass;
            own.momentum = own.mass * velocity.linear;
            way = params.h * velocity.linear;
            own.moment = moment_of(way, own.momentum);
        }
    }
    for (var m = 0u; m < params.meters; m++) {
        var part = Carried();
        if own.mass > 0.0 && measure(m, body, material, way, own) {
            part = own;
        } else if own.mass > 0.0 && is_entered(m, body, material) {
            add_entry(meters[m].first, own.mass);
        }
        let sum = sum_of_group(part, lane);
        if lane == 0u && sum.mass > 0.0 {
            add_carried(meters[m].first, 1.0, sum);
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
    return LOAD_WORDS * params.boundaries + BIN_WORDS * bin;
}

// Whether a region counts what belongs to a body along an arm; layers add it to their sums at once.
fn measure(m: u32, body: u32, material: u32, arm: vec3f, what: Carried) -> bool {
    let meter = meters[m];
    if body < params.boundaries || (meter.material != NONE && meter.material != material) {
        return false;
    }
    let apart = between(meter.pose, poses[body]);
    if meter.layers == 0u {
        return is_inside(meter, apart);
    }
    let along = dot(apart, meter.axis);
    if is_inside(meter, apart - along * meter.axis) {
        let start = along / meter.thickness + 0.5 * f32(meter.layers);
        let end = start + dot(arm, meter.axis) / meter.thickness;
        let low = min(start, end);
        let high = max(start, end);
        // What leads out of one face of a period comes in at the other.
        let images = select(1u, 3u, meter.period > 0.0);
        for (var image = 0u; image < images; image++) {
            let shift = select(select(meter.period, -meter.period, image == 1u), 0.0, image == 0u);
            cut(meter, low + shift, high + shift, what);
        }
    }
    return false;
}

// Whether a point, given from the centre of the region, is inside.
fn is_inside(meter: Meter, apart: vec3f) -> bool {
    let point = rotate(conjugate(meter.pose.orientation), apart);
    let slack = ON_FACE * max(meter.size.x, max(meter.size.y, meter.size.z));
    return distance_to_surface(meter.form, meter.size, point, 0.0).length <= slack;
}

// Whether the centre of a body that is outside of a region, as a whole, comes in on its way in this substep: it ends inside or leads
// through.
fn is_entered(m: u32, body: u32, material: u32) -> bool {
    let meter = meters[m];
    if meter.layers != 0u || (meter.material != NONE && meter.material != material) {
        return false;
    }
    let linear = velocities[body].linear;
    let end = between(meter.pose, pose_after(poses[body], linear, params.h));
    let way = params.h * linear;
    // The nearest image of the start may be another than that of the end.
    return is_inside(meter, end)
        || is_passed(meter, between(meter.pose, poses[body]), way)
        || (HAS_PERIOD && is_passed(meter, end - way, way));
}

// Whether a straight path, given from the centre of the region, comes in and leaves again. A region may be thinner than the rounding of a
// share of the path.
fn is_passed(meter: Meter, start: vec3f, path: vec3f) -> bool {
    let turn = conjugate(meter.pose.orientation);
    let inside = passage(meter.form, meter.size, rotate(turn, start), rotate(turn, path));
    return 0.0 < inside.x && inside.x <= inside.y && inside.y < 1.0;
}

// Counts a grain of this mass that comes into a region.
fn add_entry(bin: u32, mass: f32) {
    let first = place_of_bin(bin) + 50u;
    add_to(first, 1.0);
    // As many units per kg as per N s.
    add_to(first + 2u, mass * params.load_scale);
}

// Divides what belongs to a body among the layers between two heights, in units of the thickness of a layer.
fn cut(meter: Meter, low: f32, high: f32, what: Carried) {
    let count = f32(meter.layers);
    if high <= 0.0 || low >= count {
        return;
    }
    let is_short = high - low < SHORTEST;
    let middle = u32(clamp(floor(0.5 * (low + high)), 0.0, count - 1.0));
    let end = select(u32(min(ceil(high), count)), middle + 1u, is_short);
    for (var layer = select(u32(max(floor(low), 0.0)), middle, is_short); layer < end; layer++) {
        let share = (min(high, f32(layer) + 1.0) - max(low, f32(layer))) / (high - low);
        add_carried(meter.first + layer, select(max(share, 0.0), 1.0, is_short), what);
    }
}

// Adds a share of what belongs to a body to the sums of a bin: of a contact if nothing moves, else of a grain.
fn add_carried(bin: u32, share: f32, what: Carried) {
    let first = place_of_bin(bin);
    if what.mass == 0.0 {
        add_moment(first, share * what.moment);
        return;
    }
    let flux = share * what.moment;
    add_finely(first + 18u, flux[0].x);
    add_finely(first + 22u, flux[1].x);
    add_finely(first + 26u, flux[2].x);
    add_finely(first + 30u, flux[1].y);
    add_finely(first + 34u, flux[2].y);
    add_finely(first + 38u, flux[2].z);
    for (var i = 0u; i < 3u; i++) {
        add_to(first + 42u + 2u * i, share * what.momentum[i] * params.load_scale);
    }
    // As many units per kg as per N s.
    add_to(first + 48u, share * what.mass * params.load_scale);
}

// Adds a number to two sums, one in units and one in parts of a unit: grains that hardly move carry less than a unit on their way.
fn add_finely(place: u32, value: f32) {
    let units = value * params.torque_scale;
    add_to(place, round(units));
    add_to(place + 2u, (units - round(units)) * FINE);
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
