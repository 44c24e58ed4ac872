// Anchored positions, rotations, and the velocity of bodies at a contact.

// Vector from `from` to `to`: exact in the cells, so it does not lose digits far from the origin [m].
fn between(from_pose: Pose, to_pose: Pose) -> vec3f {
    return vec3f(to_pose.cell - from_pose.cell) * params.cell_size + (to_pose.offset - from_pose.offset);
}

fn rotate(q: vec4f, v: vec3f) -> vec3f {
    let t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

fn conjugate(q: vec4f) -> vec4f {
    return vec4f(-q.xyz, q.w);
}

fn compose(p: vec4f, q: vec4f) -> vec4f {
    return vec4f(p.w * q.xyz + q.w * p.xyz + cross(p.xyz, q.xyz), p.w * q.w - dot(p.xyz, q.xyz));
}

// Contact velocity u = v_a + ω_a × d_a - v_b - ω_b × d_b [m/s].
fn contact_velocity(row: Row, a: Velocity, b: Velocity) -> vec3f {
    return a.linear + cross(a.angular, row.arm_a) - b.linear - cross(b.angular, row.arm_b);
}

fn free_translation(locked: u32) -> vec3f {
    return vec3f(vec3u(~locked, ~(locked >> 1u), ~(locked >> 2u)) & vec3u(1u));
}

fn free_rotation(locked: u32) -> vec3f {
    return free_translation(locked >> 3u);
}
