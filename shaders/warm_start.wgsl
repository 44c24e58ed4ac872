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
            give(place, start_of(place, constraint_heads[place].normal));
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
            give(place, load_impulse(place));
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
