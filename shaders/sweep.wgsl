// Sweep: one projected Gauss-Seidel pass over the contacts of one colour [E5].
// Twin: src/reference/sweep.rs. On exit every impulse is in its cone.

@group(0) @binding(7) var<storage, read_write> arguments: array<u32>;

@compute @workgroup_size(64)
fn sweep_colour(@builtin(global_invocation_id) invocation: vec3u) {
    let place = colour_starts[colour.index] + flat(invocation);
    if place < colour_starts[colour.index + 1u] {
        solve_place(place);
    }
}

// The colours after the dispatched ones, thin as they are, in one workgroup with a barrier between
// two; then the tail, one contact after the other.
@compute @workgroup_size(256)
fn sweep_rest(@builtin(local_invocation_index) lane: u32) {
    for (var c = DISPATCHED_COLOURS; c < COLOURS; c++) {
        if colour_starts[c] == colour_starts[c + 1u] {
            continue;
        }
        for (var place = colour_starts[c] + lane; place < colour_starts[c + 1u]; place += 256u) {
            solve_place(place);
        }
        storageBarrier();
    }
    if lane == 0u {
        for (var place = colour_starts[COLOURS]; place < colour_starts[COLOURS + 1u]; place++) {
            solve_place(place);
        }
    }
}

// Contacts solved at the same time share no free body, so these loads and stores cannot race. Many
// may share a boundary: it is only ever `b`, has inverse mass 0, and is never written.
fn solve_place(place: u32) {
    let row = rows[place];
    let a = velocities[row.bodies.x];
    let b = velocities[row.bodies.y];
    let old = load_impulse(place);
    let solution = solve_contact(row, old, a, b, locks(row.bodies));
    if is_zero(old) && is_zero(solution.impulse) {
        return;
    }
    store_impulse(place, solution.impulse);
    velocities[row.bodies.x] = solution.a;
    if b.inverse_mass > 0.0 {
        velocities[row.bodies.y] = solution.b;
    }
    if params.tolerance > 0.0 {
        atomicMax(&status.change, bitcast<u32>(solution.change));  // ordered like the positive floats
    }
}

// After a sweep, where a tolerance is set: once nothing changed by more, empty the sweeps to come.
@compute @workgroup_size(64)
fn check_change(@builtin(local_invocation_index) lane: u32) {
    let converged = bitcast<f32>(atomicLoad(&status.change)) < params.tolerance;
    if lane <= DISPATCHED_COLOURS && converged {
        arguments[3u * (ARGUMENTS_SWEEP + lane)] = 0u;
        arguments[3u * (ARGUMENTS_IMPACT_SWEEP + lane)] = 0u;
    }
    workgroupBarrier();
    if lane == 0u {
        if status.converged == 0u {
            status.sweeps++;
        }
        status.converged = select(0u, 1u, converged);
        atomicStore(&status.change, 0u);
    }
}
