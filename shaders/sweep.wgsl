// Sweep: one projected Gauss-Seidel pass over the contacts [E5]. Twin: src/cpu/sweep.rs. On exit every
// impulse is in its cone. Motors are solved in `gather_sides`.

@group(0) @binding(7) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(8) var<storage, read_write> last_impulses: array<vec2f>;
@group(0) @binding(9) var<storage, read_write> last_velocities: array<Velocity>;

// Contacts solved at the same time share no dynamic body, so these loads and stores cannot race. Many may share a
// prescribed one: it is only ever `b`, has inverse mass 0, and is never written.
@compute @workgroup_size(64)
fn sweep_colour(@builtin(global_invocation_id) invocation: vec3u) {
    let place = status.colour_starts[colour.index] + flat(invocation);
    if place < status.colour_starts[colour.index + 1u] {
        solve_place(place, load_row(place), carried_on(place, load_impulse(place)), HAS_TOLERANCE);
    }
}

// The same for impacts, whose sweeps are plain; every other one notes what it changed.
@compute @workgroup_size(64)
fn strike_colour(@builtin(global_invocation_id) invocation: vec3u) {
    let place = status.colour_starts[colour.index] + flat(invocation);
    if place < status.colour_starts[colour.index + 1u] {
        solve_place(place, load_impact(place), load_impulse(place), false);
    }
}

@compute @workgroup_size(64)
fn strike_colour_and_note(@builtin(global_invocation_id) invocation: vec3u) {
    let place = status.colour_starts[colour.index] + flat(invocation);
    if place < status.colour_starts[colour.index + 1u] {
        solve_place(place, load_impact(place), load_impulse(place), true);
    }
}

// Impacts are rigid: where a row has its compliance, theirs have the gap.
fn load_impact(place: u32) -> Row {
    var row = load_row(place);
    row.sigma_n = 0.0;
    return row;
}

fn solve_place(place: u32, row: Row, old: Impulse, is_noted: bool) {
    let a = velocities[row.bodies.x];
    let b = velocities[row.bodies.y];
    var solution: Solution;
    if is_general(row) {
        solution = solve_rigid(row, old, a, b, locks(row.bodies));
    } else {
        solution = solve_contact(row, old, a, b, locks(row.bodies), colour.relaxation);
    }
    if is_zero(old) && is_zero(solution.impulse) {
        return;
    }
    store_impulse(place, solution.impulse);
    velocities[row.bodies.x] = solution.a;
    if b.inverse_mass > 0.0 {
        velocities[row.bodies.y] = solution.b;
    }
    if is_noted {
        note_change(row, a, b, old, solution.impulse);
    }
}

// Where a sweep starts from that follows another: beyond where that left the impulse, by a share of what it made of
// it [E12]. The velocities are there already.
fn carried_on(place: u32, now: Impulse) -> Impulse {
    if !HAS_MOMENTUM || colour.follows == 0u {
        return now;
    }
    let last = load_last(place);
    store_last(place, now);
    if colour.share == 0.0 {
        return now;  // nothing is known of a sweep before
    }
    return Impulse(now.linear + colour.share * (now.linear - last.linear),
        now.rolling + colour.share * (now.rolling - last.rolling));
}

fn load_last(place: u32) -> Impulse {
    let x = last_impulses[3u * place];
    let y = last_impulses[3u * place + 1u];
    let z = last_impulses[3u * place + 2u];
    return Impulse(vec3f(x, y.x), vec3f(y.y, z));
}

fn store_last(place: u32, impulse: Impulse) {
    last_impulses[3u * place] = impulse.linear.xy;
    last_impulses[3u * place + 1u] = vec2f(impulse.linear.z, impulse.rolling.x);
    last_impulses[3u * place + 2u] = impulse.rolling.yz;
}

// A contact with a rigid body that is no sphere.
fn solve_rigid(row: Row, old: Impulse, a: Velocity, b: Velocity, locked: vec2u) -> Solution {
    let mass_a = inverse_mass_of(row.bodies.x, a, locked.x, 1.0);
    let mass_b = inverse_mass_of(row.bodies.y, b, locked.y, 1.0);
    let k = mobility(row, mass_a, mass_b);
    let response = Response(k * row.normal, tangent_bound(k, row.normal), vec2f(1.0));
    let impulse = solve_general(row, old, a, b, response, colour.relaxation);
    let change = Impulse(impulse.linear - old.linear, impulse.rolling - old.rolling);
    return Solution(impulse, given(row.bodies.x, a, share_of_a(row, change)),
        given(row.bodies.y, b, share_of_b(row, change)));
}

// The contacts without a colour, all at once, on copies of their bodies. What becomes of those is put aside for
// `gather_sides`.
@compute @workgroup_size(64)
fn sweep_rest(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let contact = flat(invocation);
    var a = no_side();
    var b = no_side();
    if contact < status.colour_starts[COLOURS + 1u] - status.colour_starts[COLOURS] {
        solve_copies(contact, load_row(status.colour_starts[COLOURS] + contact), HAS_TOLERANCE, &a, &b);
    }
    hand_over(lane, a, b);
}

@compute @workgroup_size(64)
fn strike_rest(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let contact = flat(invocation);
    var a = no_side();
    var b = no_side();
    if contact < status.colour_starts[COLOURS + 1u] - status.colour_starts[COLOURS] {
        solve_copies(contact, load_impact(status.colour_starts[COLOURS] + contact), false, &a, &b);
    }
    hand_over(lane, a, b);
}

@compute @workgroup_size(64)
fn strike_rest_and_note(
    @builtin(global_invocation_id) invocation: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let contact = flat(invocation);
    var a = no_side();
    var b = no_side();
    if contact < status.colour_starts[COLOURS + 1u] - status.colour_starts[COLOURS] {
        solve_copies(contact, load_impact(status.colour_starts[COLOURS] + contact), true, &a, &b);
    }
    hand_over(lane, a, b);
}

fn solve_copies(
    contact: u32,
    row: Row,
    is_noted: bool,
    side_of_a: ptr<function, Side>,
    side_of_b: ptr<function, Side>,
) {
    let place = status.colour_starts[COLOURS] + contact;
    let old = load_impulse(place);
    let entry = rest[contact];
    let a = velocities[row.bodies.x];
    let b = velocities[row.bodies.y];
    let response = Response(entry.response, entry.tangent_d, vec2f(entry.copies));
    let impulse = solve_general(row, old, a, b, response, colour.relaxation);
    store_impulse(place, impulse);
    if is_noted {
        note_change(row, a, b, old, impulse);
    }
    let change = Impulse(impulse.linear - old.linear, impulse.rolling - old.rolling);
    *side_of_a = side_a(entry, row, a, change);
    *side_of_b = side_b(entry, row, b, change);
}

// How much contact velocity the normal and friction rows changed, D |Δλ|, on whole bodies.
fn note_change(row: Row, a: Velocity, b: Velocity, old: Impulse, found: Impulse) {
    let locked = locks(row.bodies);
    var d = diagonal(row, a, b, locked);
    if is_general(row) {
        d = general_diagonal(row, inverse_mass_of(row.bodies.x, a, locked.x, 1.0),
            inverse_mass_of(row.bodies.y, b, locked.y, 1.0));
    }
    let change = found.linear - old.linear;
    let normal = dot(change, row.normal);
    let most = max(abs(normal) * d.x, length(change - normal * row.normal) * d.y);
    atomicMax(&status.change, bitcast<u32>(most));  // ordered like the positive floats
}

// Before a sweep that goes on from the one before, where a tolerance is set; otherwise `gather_sides` does this.
@compute @workgroup_size(64)
fn carry_on(@builtin(global_invocation_id) invocation: vec3u) {
    if status.converged != 0u {
        return;
    }
    carry_rest_on(flat(invocation));
    if flat(invocation) < bodies() {
        carry_body_on(flat(invocation));
    }
}

// The velocities go on by a share of what the last sweep made of them, as they are linear in the impulses [E12].
fn carry_body_on(body: u32) {
    let now = velocities[body];
    let last = last_velocities[body];
    if colour.share > 0.0 && now.inverse_mass > 0.0 {
        velocities[body].linear = now.linear + colour.share * (now.linear - last.linear);
        velocities[body].angular = now.angular + colour.share * (now.angular - last.angular);
    }
    last_velocities[body] = now;
    if has_motor(body) {
        carry_motor_on(body, colour.share);
    }
}

// The contacts without a colour, whose own kernel has no binding to spare.
fn carry_rest_on(contact: u32) {
    if contact < status.rest {
        let place = status.contacts - status.rest + contact;
        store_impulse(place, carried_on(place, load_impulse(place)));
    }
}

// After a sweep, where a tolerance is set: once nothing changed by more, empty the sweeps to come.
@compute @workgroup_size(64)
fn check_change(@builtin(local_invocation_index) lane: u32) {
    let converged = bitcast<f32>(atomicLoad(&status.change)) < params.tolerance;
    if lane <= COLOURS + 1u && converged {
        arguments[3u * (ARGUMENTS_SWEEP + lane)] = 0u;
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
