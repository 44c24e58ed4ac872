// Sweep: one projected Gauss-Seidel pass over the contacts [E5]. Twin: src/cpu/sweep.rs. After a sweep every
// impulse is in its cone.

@group(0) @binding(7) var<storage, read_write> arguments: array<u32>;

// Impulses of the contacts before the last sweep, in solving order, then the velocities of the bodies: three pairs each, linear, then
// rolling or angular.
@group(0) @binding(8) var<storage, read_write> last_values: array<vec2f>;

// Solves the contacts of a tile, colour by colour. First the bodies take what the overflow contacts of the sweep before left in their
// slots, and are extrapolated.
@compute @workgroup_size(LANES)
fn sweep_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    if colour.index == 0u {
        gather_tile(group, lane, has_sides());
        extrapolate_tile(group, lane);
    }
    for (var own_colour = 0u; own_colour < COLOURS; own_colour++) {
        let places = places_of(group, own_colour);
        for (var place = places.x + lane; place < places.y; place += LANES) {
            let end = end_of_pair(place, places);
            for (var row = place; row < end; row++) {
                solve_place(row, load_constraint(row), extrapolation(row, load_impulse(row)), HAS_TOLERANCE);
            }
        }
        storageBarrier();
    }
}

// Whether the pass before has left changes in slots. With joints between the passes `gather_sides` runs before the joints.
fn has_sides() -> bool {
    return !HAS_JOINTS && status.sides > 0u;
}

// Solves the same contacts in impacts, by plain sweeps in pairs, the second of which notes the largest change.
@compute @workgroup_size(LANES)
fn strike_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    strike_tile(group, lane, false);
}

@compute @workgroup_size(LANES)
fn strike_contacts_and_note(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    if colour.index == 0u {
        gather_tile(group, lane, has_sides());
    }
    strike_tile(group, lane, true);
}

fn strike_tile(group: vec3u, lane: u32, is_noted: bool) {
    let is_idle = strikes_nothing();
    for (var own_colour = 0u; own_colour < COLOURS; own_colour++) {
        let places = select(places_of(group, own_colour), vec2u(0u), is_idle);
        for (var place = places.x + lane; place < places.y; place += LANES) {
            let end = end_of_pair(place, places);
            for (var row = place; row < end; row++) {
                solve_place(row, load_impact(row), load_impulse(row), is_noted);
            }
        }
        storageBarrier();
    }
}

// Constraint of a contact in an impact: rigid, as `compliance` holds the gap in impacts.
fn load_impact(place: u32) -> Constraint {
    var constraint = load_constraint(place);
    constraint.compliance = 0.0;
    return constraint;
}

fn solve_place(place: u32, constraint: Constraint, old: Impulse, is_noted: bool) {
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    var solution: Solution;
    if is_general(constraint) {
        solution = solve_rigid(constraint, old, a, b, locks(constraint.bodies));
    } else {
        solution = solve_contact(constraint, old, a, b, locks(constraint.bodies), colour.relaxation);
    }
    if is_zero(old) && is_zero(solution.impulse) {
        return;
    }
    store_impulse(place, solution.impulse);
    velocities[constraint.bodies.x] = solution.a;
    if b.inverse_mass > 0.0 {
        velocities[constraint.bodies.y] = solution.b;
    }
    if is_noted {
        note_change(constraint, a, b, old, solution.impulse);
    }
}

// Extrapolated impulse λ + share (λ - λ_last) from which an accelerated sweep that follows another starts [E12]. The velocities have
// been extrapolated already, see `extrapolate_tile`.
fn extrapolation(place: u32, now: Impulse) -> Impulse {
    if !HAS_MOMENTUM || colour.follows == 0u {
        return now;
    }
    let last = load_last(place);
    store_last(place, now);
    if colour.share == 0.0 {
        return now;  // there is no impulse of an earlier sweep
    }
    return Impulse(now.linear + colour.share * (now.linear - last.linear),
        now.rolling + colour.share * (now.rolling - last.rolling));
}

fn load_last(place: u32) -> Impulse {
    let x = last_values[3u * place];
    let y = last_values[3u * place + 1u];
    let z = last_values[3u * place + 2u];
    return Impulse(vec3f(x, y.x), vec3f(y.y, z));
}

fn store_last(place: u32, impulse: Impulse) {
    last_values[3u * place] = impulse.linear.xy;
    last_values[3u * place + 1u] = vec2f(impulse.linear.z, impulse.rolling.x);
    last_values[3u * place + 2u] = impulse.rolling.yz;
}

// Extrapolates the velocities of the bodies of a tile by the same factor as the impulses, as they are linear in the impulses [E12].
fn extrapolate_tile(group: vec3u, lane: u32) {
    if !HAS_MOMENTUM || colour.follows == 0u {
        return;
    }
    let members = members_of(group);
    for (var i = members.x + lane; i < members.y; i += LANES) {
        extrapolate_body(member_at(i).body);
    }
    storageBarrier();
}

fn extrapolate_body(body: u32) {
    let now = velocities[body];
    let place = status.contacts + body;
    if colour.share > 0.0 && now.inverse_mass > 0.0 {
        let last = load_last(place);
        velocities[body].linear = now.linear + colour.share * (now.linear - last.linear);
        velocities[body].angular = now.angular + colour.share * (now.angular - last.rolling);
    }
    store_last(place, Impulse(now.linear, now.angular));
}

// Solves a contact with an inertia tensor.
fn solve_rigid(constraint: Constraint, old: Impulse, a: Velocity, b: Velocity, locked: vec2u) -> Solution {
    let mass_a = inverse_mass_of(constraint.bodies.x, a, locked.x, 1.0);
    let mass_b = inverse_mass_of(constraint.bodies.y, b, locked.y, 1.0);
    let k = mobility(constraint, mass_a, mass_b);
    let response = Response(k * constraint.normal, tangent_bound(k, constraint.normal), vec2f(1.0));
    let impulse = solve_general(constraint, old, a, b, response, colour.relaxation);
    let change = Impulse(impulse.linear - old.linear, impulse.rolling - old.rolling);
    return Solution(impulse, moved(a, change_of(constraint.bodies.x, a, share_of_a(constraint, change))),
        moved(b, change_of(constraint.bodies.y, b, share_of_b(constraint, change))));
}

// Solves the overflow contacts, all at once, on copies of their bodies. The changes of the copies are stored for
// gather.wgsl.
@compute @workgroup_size(64)
fn sweep_overflow(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let contact = flat(invocation);
    var a = no_side();
    var b = no_side();
    if contact < status.overflow {
        let place = status.coloured + contact;
        solve_copies(contact, load_constraint(place), extrapolation(place, load_impulse(place)), HAS_TOLERANCE, false, &a, &b);
    }
    hand_over(lane, a, b);
}

@compute @workgroup_size(64)
fn strike_overflow(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let contact = flat(invocation);
    var a = no_side();
    var b = no_side();
    if contact < status.overflow {
        let place = status.coloured + contact;
        solve_copies(contact, load_impact(place), load_impulse(place), false, strikes_nothing(), &a, &b);
    }
    hand_over(lane, a, b);
}

@compute @workgroup_size(64)
fn strike_overflow_and_note(
    @builtin(global_invocation_id) invocation: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let contact = flat(invocation);
    var a = no_side();
    var b = no_side();
    if contact < status.overflow {
        let place = status.coloured + contact;
        solve_copies(contact, load_impact(place), load_impulse(place), true, strikes_nothing(), &a, &b);
    }
    hand_over(lane, a, b);
}

// Solves an overflow contact. An idle one keeps its impulse: the sides that it hands over are zero.
fn solve_copies(
    contact: u32,
    constraint: Constraint,
    old: Impulse,
    is_noted: bool,
    is_idle: bool,
    side_of_a: ptr<function, Side>,
    side_of_b: ptr<function, Side>,
) {
    let entry = overflow[contact];
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    let response = Response(entry.response, entry.tangent_d, vec2f(entry.copies));
    var impulse = old;
    if !is_idle {
        impulse = solve_general(constraint, old, a, b, response, colour.relaxation);
    }
    store_impulse(status.coloured + contact, impulse);
    if is_noted {
        note_change(constraint, a, b, old, impulse);
    }
    let change = Impulse(impulse.linear - old.linear, impulse.rolling - old.rolling);
    *side_of_a = side_a(entry, constraint, a, change);
    *side_of_b = side_b(entry, constraint, b, change);
}

// Enters the change of a contact velocity, D |Δλ| of the normal and friction constraints on whole bodies, into `status.change` [m/s].
fn note_change(constraint: Constraint, a: Velocity, b: Velocity, old: Impulse, found: Impulse) {
    let d = whole_diagonal(constraint, a, b);
    let change = found.linear - old.linear;
    let normal = dot(change, constraint.normal);
    let most = max(abs(normal) * d.x, length(change - normal * constraint.normal) * d.y);
    atomicMax(&status.change, bitcast<u32>(most));  // ordered like the positive floats
}

// Empties the sweeps to come once no contact changed by more than the tolerance. Runs after each sweep if a tolerance is set.
@compute @workgroup_size(64)
fn check_change(@builtin(local_invocation_index) lane: u32) {
    let converged = bitcast<f32>(atomicLoad(&status.change)) < params.tolerance;
    // Without joints the changes in slots remain to be gathered after the last sweep.
    if lane < PASS + u32(HAS_JOINTS) && converged {
        arguments[3u * (ARGUMENTS_SWEEP + lane)] = 0u;
    }
    workgroupBarrier();
    if lane == 0u && !is_halted() {
        if status.converged == 0u {
            status.sweeps++;
        }
        status.converged = select(0u, 1u, converged);
        atomicStore(&status.change, 0u);
    }
}
