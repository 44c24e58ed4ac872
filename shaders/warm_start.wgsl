// Warm start: v ← v + M⁻¹ Gᵀ λ⁰, colour by colour [E7]. Twin: src/reference/warm_start.rs.

@compute @workgroup_size(64)
fn apply_colour(@builtin(global_invocation_id) invocation: vec3u) {
    let place = colour_starts[colour.index] + flat(invocation);
    if place < colour_starts[colour.index + 1u] {
        apply_impulse(place, colour.index);
    }
}

@compute @workgroup_size(256)
fn apply_rest(@builtin(local_invocation_index) lane: u32) {
    for (var c = DISPATCHED_COLOURS; c < COLOURS; c++) {
        if colour_starts[c] == colour_starts[c + 1u] {
            continue;
        }
        for (var place = colour_starts[c] + lane; place < colour_starts[c + 1u]; place += 256u) {
            apply_impulse(place, c);
        }
        storageBarrier();
        if HAS_FREE_BOUNDARIES {
            gather(0u, 1u, c, lane);
            storageBarrier();
        }
    }
    if lane == 0u {
        for (var place = colour_starts[COLOURS]; place < colour_starts[COLOURS + 1u]; place++) {
            apply_impulse(place, COLOURS);
        }
    }
}

// What a contact puts aside for the free boundaries that it shares: all of its impulse.
fn share_of(place: u32) -> Impulse {
    return load_impulse(place);
}

fn apply_impulse(place: u32, c: u32) {
    let impulse = load_impulse(place);
    if is_zero(impulse) {
        return;
    }
    let row = load_row(place);
    let locked = locks(row.bodies);
    if is_shared(row) {
        apply_shared(row.bodies.x, row.arm_a, impulse, locked.x, c);
        let reverse = Impulse(-impulse.linear, -impulse.rolling);
        apply_shared(row.bodies.y, row.arm_b, reverse, locked.y, c);
        return;
    }
    let a = velocities[row.bodies.x];
    let b = velocities[row.bodies.y];
    let pushed_a = push(a, impulse.linear, row.arm_a, locked.x);
    velocities[row.bodies.x] = twist(pushed_a, impulse.rolling, locked.x);
    if b.inverse_mass > 0.0 {
        let pushed_b = push(b, -impulse.linear, row.arm_b, locked.y);
        velocities[row.bodies.y] = twist(pushed_b, -impulse.rolling, locked.y);
    }
}

// Free boundaries wait for `gather`, but for those of the tail.
fn apply_shared(body: u32, arm: vec3f, impulse: Impulse, locked: u32, c: u32) {
    let velocity = velocities[body];
    if velocity.inverse_mass == 0.0 || (c < COLOURS && is_free_boundary(body)) {
        return;
    }
    let pushed = push_heavy(heavy(body, velocity, locked, 1.0), impulse.linear, arm);
    velocities[body].linear = pushed.linear;
    velocities[body].angular = twist_heavy(pushed, impulse.rolling).angular;
}
