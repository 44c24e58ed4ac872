// Loads: impulses of contacts on boundaries, summed over the substeps of a submission. Twin: src/cpu/loads.rs.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(5) var<storage, read> poses: array<Pose>;

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
        add_to(LOAD_WORDS * boundary + 2u * i, linear[i] * params.load_scale);
        add_to(LOAD_WORDS * boundary + 2u * i + 6u, angular[i] * params.torque_scale);
    }
}
