// Loads: impulses of contacts on boundaries, summed over the substeps of a submission. Twin: src/cpu/loads.rs.
//
// Sums are integers of 64 bits, in units that the host sets. The order in which invocations add does not matter, so the bits
// are the same from run to run.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(5) var<storage, read> poses: array<Pose>;
// Per boundary six numbers, the low word before the high one: impulse, then angular impulse about its position.
@group(0) @binding(4) var<storage, read_write> loads: array<atomic<u32>>;

@compute @workgroup_size(64)
fn add_loads(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let bodies = constraint_heads[place].bodies;
    if min(bodies.x, bodies.y) >= params.boundaries {
        return;
    }
    let impulse = given_impulse(place, constraint_heads[place].normal);
    if is_zero(impulse) {
        return;
    }
    let arm_a = load_constraint(place).arm_a;
    if bodies.x < params.boundaries {
        give(bodies.x, impulse.linear, cross(arm_a, impulse.linear) + impulse.rolling);
    }
    if bodies.y < params.boundaries {
        // The arm of a boundary is stored only where one may turn.
        let arm_b = between(poses[bodies.y], poses[bodies.x]) + arm_a;
        give(bodies.y, -impulse.linear, -cross(arm_b, impulse.linear) - impulse.rolling);
    }
}

fn give(boundary: u32, linear: vec3f, angular: vec3f) {
    for (var i = 0u; i < 3u; i++) {
        add_to(12u * boundary + 2u * i, linear[i] * params.load_scale);
        add_to(12u * boundary + 2u * i + 6u, angular[i] * params.torque_scale);
    }
}

// Adds a number, rounded to an integer, to the 64 bits at `place`. The scales are powers of two, like 2³², so no other step
// rounds.
fn add_to(place: u32, value: f32) {
    let size = abs(round(value));
    var high = u32(size / 4294967296.0);
    var low = u32(size - f32(high) * 4294967296.0);
    if value < 0.0 {
        low = ~low + 1u;
        high = ~high + select(0u, 1u, low == 0u);
    }
    let before = atomicAdd(&loads[place], low);
    high += select(0u, 1u, before + low < low);
    if high != 0u {
        atomicAdd(&loads[place + 1u], high);
    }
}
