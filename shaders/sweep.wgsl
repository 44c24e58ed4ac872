// Sweep: one projected Gauss-Seidel pass over the contacts of one colour [E5].
// Twin: src/reference/sweep.rs. On exit every impulse is in its cone.

@group(0) @binding(7) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(15) var<storage, read_write> shares: array<vec2f>;      // as the impulses

@compute @workgroup_size(64)
fn sweep_colour(@builtin(global_invocation_id) invocation: vec3u) {
    let place = colour_starts[colour.index] + flat(invocation);
    if place < colour_starts[colour.index + 1u] {
        solve_place(place, colour.index);
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
            solve_place(place, c);
        }
        storageBarrier();
        if HAS_FREE_BOUNDARIES {
            gather(0u, 1u, c, lane);
            storageBarrier();
        }
    }
    if lane == 0u {
        for (var place = colour_starts[COLOURS]; place < colour_starts[COLOURS + 1u]; place++) {
            solve_place(place, COLOURS);
        }
    }
}

// Contacts solved at the same time share no grain, so these loads and stores cannot race. Many may share a
// boundary: one that is not free is only ever `b`, has inverse mass 0, and is never written.
fn solve_place(place: u32, c: u32) {
    let row = load_row(place);
    if is_shared(row) {
        solve_shared_place(place, row, c);
        return;
    }
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

// A free boundary is only read; what becomes of it is put aside for `gather`. In the tail it is written at once.
fn solve_shared_place(place: u32, row: Row, c: u32) {
    let locked = locks(row.bodies);
    let a = heavy(row.bodies.x, velocities[row.bodies.x], locked.x, copies_of(row.bodies.x, c));
    let b = heavy(row.bodies.y, velocities[row.bodies.y], locked.y, copies_of(row.bodies.y, c));
    let old = load_impulse(place);
    let solution = solve_shared(row, old, a, b);
    store_impulse(place, solution.impulse);
    store_share(place, Impulse(solution.impulse.linear - old.linear, solution.impulse.rolling - old.rolling));
    store_velocity(row.bodies.x, solution.a, c);
    store_velocity(row.bodies.y, solution.b, c);
    if params.tolerance > 0.0 {
        atomicMax(&status.change, bitcast<u32>(solution.change));
    }
}

fn store_velocity(body: u32, after: Heavy, c: u32) {
    let is_written = velocities[body].inverse_mass > 0.0 && (c == COLOURS || !is_free_boundary(body));
    if is_written {
        velocities[body].linear = after.linear;
        velocities[body].angular = after.angular;
    }
}

fn store_share(place: u32, share: Impulse) {
    shares[3u * place] = share.linear.xy;
    shares[3u * place + 1u] = vec2f(share.linear.z, share.rolling.x);
    shares[3u * place + 2u] = share.rolling.yz;
}

fn share_of(place: u32) -> Impulse {
    let x = shares[3u * place];
    let y = shares[3u * place + 1u];
    let z = shares[3u * place + 2u];
    return Impulse(vec3f(x, y.x), vec3f(y.y, z));
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
