// Warm start: v ← v + M⁻¹ Gᵀ λ⁰, colour by colour [E7]. Twin: src/reference/warm_start.rs.

@compute @workgroup_size(64)
fn apply_colour(@builtin(global_invocation_id) invocation: vec3u) {
    let place = colour_starts[colour.index] + flat(invocation);
    if place < colour_starts[colour.index + 1u] {
        apply_impulse(place);
    }
}

@compute @workgroup_size(256)
fn apply_rest(@builtin(local_invocation_index) lane: u32) {
    for (var c = DISPATCHED_COLOURS; c < COLOURS; c++) {
        if colour_starts[c] == colour_starts[c + 1u] {
            continue;
        }
        for (var place = colour_starts[c] + lane; place < colour_starts[c + 1u]; place += 256u) {
            apply_impulse(place);
        }
        storageBarrier();
    }
    if lane == 0u {
        for (var place = colour_starts[COLOURS]; place < colour_starts[COLOURS + 1u]; place++) {
            apply_impulse(place);
        }
    }
}

fn apply_impulse(place: u32) {
    let impulse = load_impulse(place);
    if is_zero(impulse) {
        return;
    }
    let row = rows[place];
    let locked = locks(row.bodies);
    let a = velocities[row.bodies.x];
    let b = velocities[row.bodies.y];
    let pushed_a = push(a, impulse.linear, row.arm_a, locked.x);
    velocities[row.bodies.x] = twist(pushed_a, impulse.rolling, locked.x);
    if b.inverse_mass > 0.0 {
        let pushed_b = push(b, -impulse.linear, row.arm_b, locked.y);
        velocities[row.bodies.y] = twist(pushed_b, -impulse.rolling, locked.y);
    }
}
