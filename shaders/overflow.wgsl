// Overflow: lists the sides of the overflow contacts (contacts without a colour) by body, for mass splitting [E5].
// Twin: Split::new in src/cpu/split.rs.
//
// A side of a contact is the change of the velocity of one of its bodies. The sides of a body stand together and in the order
// of their contacts, so that their sum has the same bits in every run. The only side of a grain is not listed: no
// other overflow contact moves that grain. A body of very many sides is a hub: the sides b of a hub in the contacts
// of one workgroup are summed there, and only the first of them, which leads, is listed. (A hub has few sides a: its
// contacts with larger bodies.) In scenes with hubs all other sides b are listed, so that the kernels have one case
// less.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read> surfaces: array<Surface>;
@group(0) @binding(7) var<storage, read_write> copies: array<atomic<u32>>;       // number of copies, by body
@group(0) @binding(8) var<storage, read_write> side_ends: array<atomic<u32>>;    // end of the sides, by body
@group(0) @binding(9) var<storage, read_write> overflow_bodies: array<vec2u>;        // NONE: a body that is never written
@group(0) @binding(10) var<storage, read_write> unordered: array<u32>;           // sides: 2 · overflow contact + side
@group(0) @binding(12) var<storage, read_write> overflow: array<Overflow>;
@group(0) @binding(19) var<storage, read_write> tile_lists: array<u32>;          // see tiles.wgsl

@compute @workgroup_size(64)
fn clear_sides(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body < bodies() {
        atomicStore(&copies[body], 0u);
        atomicStore(&side_ends[body], 0u);
    }
}

// Counts the overflow contacts of each body: its copies.
@compute @workgroup_size(64)
fn count_copies(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || contacts[k].place < status.coloured {
        return;
    }
    let contact = contacts[k];
    var bodies = vec2u(spheres[contact.a - params.surfaces].body, NONE);
    let shape = shape_b(contact);
    if shape >= params.surfaces {
        bodies.y = spheres[shape - params.surfaces].body;
    } else if HAS_RIGID && (surfaces[shape].flags & 1u) != 0u {
        bodies.y = surfaces[shape].body;
    }
    overflow_bodies[contact.place - status.coloured] = bodies;
    atomicAdd(&copies[bodies.x], 1u);
    if bodies.y != NONE {
        atomicAdd(&copies[bodies.y], 1u);
    }
}

// Whether a side is listed: it then has a slot.
fn leads(contact: u32, side: u32) -> bool {
    let body = overflow_bodies[contact][side];
    if body == NONE {
        return false;
    }
    let copies_of_body = atomicLoad(&copies[body]);
    if side == 0u || !HAS_HUBS {
        return body < params.boundaries || copies_of_body > 1u;
    }
    if copies_of_body <= HUB {
        return true;
    }
    for (var before = contact - contact % GROUP; before < contact; before++) {
        if overflow_bodies[before].y == body {
            return false;
        }
    }
    return true;
}

@compute @workgroup_size(64)
fn count_sides(@builtin(global_invocation_id) invocation: vec3u) {
    let contact = flat(invocation);
    if contact >= status.overflow || is_halted() {
        return;
    }
    for (var side = 0u; side < 2u; side++) {
        let body = overflow_bodies[contact][side];
        if leads(contact, side) {
            atomicAdd(&side_ends[body], 1u);
        }
    }
}

// Lists the sides by body. After the scan `side_ends` holds the start of the sides of each body; filling moves it to their end.
@compute @workgroup_size(64)
fn fill_sides(@builtin(global_invocation_id) invocation: vec3u) {
    let contact = flat(invocation);
    if contact >= status.overflow || is_halted() {
        return;
    }
    for (var side = 0u; side < 2u; side++) {
        let body = overflow_bodies[contact][side];
        if leads(contact, side) {
            unordered[atomicAdd(&side_ends[body], 1u)] = 2u * contact + side;
        }
    }
}

// Gives each listed side its slot: after the sides of its body from earlier contacts, whatever order the atomics left. Members of tiles
// learn the slots of their bodies.
@compute @workgroup_size(64)
fn order_sides(@builtin(global_invocation_id) invocation: vec3u) {
    let i = flat(invocation);
    if i < bodies() && !is_halted() {
        tell_member(i);
    }
    if i < status.overflow && !is_halted() {
        order_sides_of(i);
    }
}

fn order_sides_of(contact: u32) {
    var entry = Overflow(vec2u(NONE), vec2u(1u), vec3f(0.0), 0.0);
    for (var side = 0u; side < 2u; side++) {
        let body = overflow_bodies[contact][side];
        if body == NONE {
            continue;
        }
        entry.copies[side] = atomicLoad(&copies[body]);
        if leads(contact, side) {
            entry.slots[side] = slot_of(2u * contact + side, body);
        }
    }
    overflow[contact] = entry;
    if contact == 0u {
        status.sides = atomicLoad(&side_ends[bodies() - 1u]);
    }
}

fn tell_member(member: u32) {
    let at = place_of_member(status.tiles, member);
    let body = tile_lists[at];
    tile_lists[at + 1u] = first_side(body);
    tile_lists[at + 2u] = atomicLoad(&side_ends[body]);
}

fn first_side(body: u32) -> u32 {
    if body == 0u {
        return 0u;
    }
    return atomicLoad(&side_ends[body - 1u]);
}

fn slot_of(side: u32, body: u32) -> u32 {
    let start = first_side(body);
    var slot = start;
    for (var other = start; other < atomicLoad(&side_ends[body]); other++) {
        slot += select(0u, 1u, unordered[other] < side);
    }
    return slot;
}
