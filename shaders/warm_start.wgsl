// Warm start: v ← v + M⁻¹ Gᵀ λ⁰, cohesion included, colour by colour, then the overflow contacts [E7]. Twin: src/cpu/warm_start.rs.

// Whether the first impulses λ⁰ of the contacts act on the velocities.
override STARTS_WARM: bool = true;

// Impulse of a contact that acts on its bodies before the first sweep: λ⁰ with cohesion, or cohesion alone.
fn start_of(place: u32, normal: vec3f) -> Impulse {
    let given = given_impulse(place, normal);
    if STARTS_WARM {
        return given;
    }
    return Impulse(given.linear - load_impulse(place).linear, vec3f(0.0));
}

@compute @workgroup_size(LANES)
fn apply_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    for (var own_colour = 0u; own_colour < COLOURS; own_colour++) {
        let places = places_of(group, own_colour);
        for (var place = places.x + lane; place < places.y; place += LANES) {
            let end = end_of_pair(place, places);
            for (var row = place; row < end; row++) {
                give(row, start_of(row, constraint_heads[row].normal));
            }
        }
        storageBarrier();
    }
}

// Applies the changes of impulses by a solver; `impulses` holds the changes [E15].
@compute @workgroup_size(LANES)
fn give_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    for (var own_colour = 0u; own_colour < COLOURS; own_colour++) {
        let places = places_of(group, own_colour);
        for (var place = places.x + lane; place < places.y; place += LANES) {
            let end = end_of_pair(place, places);
            for (var row = place; row < end; row++) {
                give(row, load_impulse(row));
            }
        }
        storageBarrier();
    }
}

fn give(place: u32, impulse: Impulse) {
    if is_zero(impulse) {
        return;
    }
    let constraint = load_constraint(place);
    if is_general(constraint) {
        push_rigid(constraint.bodies.x, share_of_a(constraint, impulse));
        push_rigid(constraint.bodies.y, share_of_b(constraint, impulse));
        return;
    }
    let locked = locks(constraint.bodies);
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    let pushed_a = push(a, impulse.linear, constraint.arm_a, locked.x);
    velocities[constraint.bodies.x] = twist(pushed_a, impulse.rolling, locked.x);
    if b.inverse_mass > 0.0 {
        let pushed_b = push(b, -impulse.linear, constraint.arm_b, locked.y);
        velocities[constraint.bodies.y] = twist(pushed_b, -impulse.rolling, locked.y);
    }
}

fn push_rigid(index: u32, share: Share) {
    let body = velocities[index];
    if body.inverse_mass > 0.0 {
        velocities[index] = moved(body, change_of(index, body, share));
    }
}

// Stores the changes of bodies by the overflow contacts, for gather.wgsl.
@compute @workgroup_size(64)
fn apply_overflow(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let contact = flat(invocation);
    var impulse = Impulse();
    if contact < status.overflow {
        let place = status.coloured + contact;
        impulse = start_of(place, constraint_heads[place].normal);
    }
    put_aside(contact, lane, impulse);
}

@compute @workgroup_size(64)
fn give_overflow(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let contact = flat(invocation);
    var impulse = Impulse();
    if contact < status.overflow {
        impulse = load_impulse(status.coloured + contact);
    }
    put_aside(contact, lane, impulse);
}

// Stores the changes of its bodies by an overflow contact. All invocations of a workgroup call it.
fn put_aside(contact: u32, lane: u32, impulse: Impulse) {
    var a = no_side();
    var b = no_side();
    if contact < status.overflow {
        let constraint = load_constraint(status.coloured + contact);
        a = side_a(overflow[contact], constraint, velocities[constraint.bodies.x], impulse);
        b = side_b(overflow[contact], constraint, velocities[constraint.bodies.y], impulse);
    }
    hand_over(lane, a, b);
}

// Changes of velocities [E1]. A sweep adds to a velocity what it adds to an impulse, and below half a unit in the last place nothing is
// left of it: the velocities drift away from v + h M⁻¹ f + M⁻¹ Gᵀ λ, with accelerated sweeps by as much in each. So after the sweeps the
// velocities are found anew. `start_changes` puts h M⁻¹ f in their place, a pass adds M⁻¹ Gᵀ λ to these small numbers, and `finish_changes`
// adds the sum to the velocities before.

@group(0) @binding(8) var<storage, read> velocities_before: array<Velocity>;   // after the impacts, before forces act
@group(0) @binding(9) var<storage, read> poses: array<Pose>;

// Speed over g h up to which a body keeps the velocity that sweeps gave it [-]. So slow, sweeps lose less than a ten-thousandth of g h, and
// a body at rest is held by impulses that cancel each other but for rounding, which their sum would have and the swept velocity has not.
const SLOW = 16.0;

// Whether a body keeps the velocity that sweeps gave it: a slow one, and one that joints may hold, whose impulses are no impulses of
// contacts.
fn keeps_swept(body: u32) -> bool {
    if HAS_SPRINGS {
        return false;
    }
    let is_slow = length(velocities_before[body].linear) <= SLOW * params.h * length(params.gravity);
    return is_slow || (HAS_JOINTS && body < params.boundaries);
}

@compute @workgroup_size(64)
fn start_changes(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || is_halted() || velocities[body].inverse_mass == 0.0 {
        return;
    }
    if keeps_swept(body) {
        velocities[body].inverse_mass = 0.0;  // the pass leaves it alone
        velocities[body].inverse_inertia = 0.0;
        return;
    }
    var angular = vec3f(0.0);
    if HAS_FORCES && body < params.rigids {
        angular = params.h * twisted(body);
    }
    velocities[body].linear = params.h * pulled(body);
    velocities[body].angular = angular;
}

@compute @workgroup_size(64)
fn finish_changes(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || is_halted() || velocities_before[body].inverse_mass == 0.0 {
        return;
    }
    let before = velocities_before[body];
    let change = velocities[body];
    if keeps_swept(body) {
        velocities[body].inverse_mass = before.inverse_mass;
        velocities[body].inverse_inertia = before.inverse_inertia;
        return;
    }
    let place = bitcast<vec3u>(abs(poses[body].offset));
    velocities[body].linear = sum_at_random(before.linear, change.linear, place);
    velocities[body].angular = sum_at_random(before.angular, change.angular, place);
}

const EXPONENT = 0x7f800000u;
const MANTISSA_BITS = 23u;
// Least exponent at which a unit in the last place and its inverse are normal numbers.
const LEAST_EXPONENT = 24u << MANTISSA_BITS;

// Sum of a velocity and its change, rounded up or down at random: it is right in the mean. Rounded to the nearest number, the changes of a
// body that is pushed evenly would all be rounded alike, and the error grow as the number of substeps. The change is counted in units in
// the last place of the velocity, as compilers rearrange sums.
fn sum_at_random(velocity: vec3f, change: vec3f, place: vec3u) -> vec3f {
    let exponent = bitcast<vec3u>(velocity) & vec3u(EXPONENT);
    let is_small = (exponent > vec3u(LEAST_EXPONENT)) & (abs(change) < abs(velocity));
    let safe = select(vec3u(127u << MANTISSA_BITS), exponent, is_small);
    let unit = bitcast<vec3f>(safe - vec3u(MANTISSA_BITS << MANTISSA_BITS));
    let inverse = bitcast<vec3f>(vec3u((254u + MANTISSA_BITS) << MANTISSA_BITS) - safe);
    let units = floor(abs(change) * inverse + random(velocity, change, place));
    return velocity + select(change, sign(change) * units * unit, is_small);
}

// Numbers from 0 to 1, 1 left out, that follow from the sizes of both numbers and from the place of the body, which is another in each
// substep: mirrored velocities have mirrored sums.
fn random(velocity: vec3f, change: vec3f, place: vec3u) -> vec3f {
    var bits = bitcast<vec3u>(abs(velocity)) * 0x9e3779b9u + bitcast<vec3u>(abs(change));
    bits ^= place * 0x85ebca6bu;
    bits = (bits ^ (bits >> vec3u(16u))) * 0x7feb352du;
    bits = (bits ^ (bits >> vec3u(15u))) * 0x846ca68bu;
    bits ^= bits >> vec3u(16u);
    return vec3f(bits >> vec3u(8u)) * 5.9604645e-8;  // 2⁻²⁴
}
