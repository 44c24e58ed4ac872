// Colouring: contacts of one colour share no free body, so a colour is solved in parallel.
// Twin: src/cpu/colouring.rs (its colouring may differ: any valid one will do).
//
// A contact keeps the colour that it had in the last list: that colouring was valid, and still is for the contacts that
// stayed. New contacts compete in rounds: each names its priority at both its bodies, and a contact with the highest
// priority at both takes a colour that is free at both: the lowest for two grains, the highest for a boundary, so
// that boundaries are solved late. Priorities come from the place in the sorted list, so the result does
// not depend on which invocation ran first. Fixed and prescribed bodies are never written and never conflict.
// There are COLOURS colours for each of two tilings (tiles.wgsl). A contact within a tile of the first can only have the colours of that one,
// a contact that it cuts those of the second. (A body with contacts in the colours of both would take more than COLOURS contacts one after
// the other, which accelerated sweeps overshoot.)
// Contacts that find no colour are overflow contacts, and so are all contacts of grains with surfaces of dynamic bodies: see split.wgsl.
// Contacts of the vertices of a box take colours, as they are few.
//
// Large numbers of new contacts are dispatched round by round; the last few are finished inside one
// workgroup without going back to the queue.

@group(0) @binding(2) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read_write> colours: array<u32>;
@group(0) @binding(4) var<storage, read> old_contacts: array<vec2u>;  // shape b; colour, and in the bits above it the side of a sheet
@group(0) @binding(8) var<storage, read_write> pending: array<u32>;
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(12) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(13) var<storage, read> surfaces: array<Surface>;

struct Round { index: u32 }
@group(1) @binding(0) var<uniform> round: Round;

// Number of pending contacts up to which one workgroup colours them alone.
const FEW = 1024u;
const FINISH = 256u;
const COLOURS_OF_TILING = (1u << COLOURS) - 1u;

// Colour of a contact in the last list; SPLIT: it had none.
fn old_colour(previous: u32) -> u32 {
    if previous == NONE {
        return SPLIT;
    }
    return old_contacts[previous].y & BELOW_SIDE;
}

// Whether a contact is with a surface of a dynamic body.
fn meets_dynamic_surface(contact: Contact) -> bool {
    return HAS_RIGID && contact.b < params.surfaces && surfaces[contact.b].is_dynamic != 0u;
}

fn is_of_vertex(contact: Contact) -> bool {
    return contact.a - params.surfaces < params.vertices;
}

// Dynamic bodies of a contact, which its solution writes; NONE for a fixed or prescribed one.
fn free_bodies(contact: Contact) -> vec2u {
    let a = spheres[contact.a - params.surfaces].body;
    if contact.b >= params.surfaces {
        return vec2u(a, spheres[contact.b - params.surfaces].body);
    }
    return vec2u(a, select(NONE, surfaces[contact.b].body, meets_dynamic_surface(contact)));
}

// Colours that a contact of these bodies may have, as bits.
fn allowed_colours(bodies: vec2u) -> u32 {
    if bodies.y == NONE || tile_of(bodies.x, 0u) == tile_of(bodies.y, 0u) {
        return COLOURS_OF_TILING;
    }
    return select(0u, COLOURS_OF_TILING << COLOURS, tile_of(bodies.x, 1u) == tile_of(bodies.y, 1u));
}

fn mark_used(body: u32, colour: u32) {
    if body != NONE {
        atomicOr(&marks[body].used, 1u << colour);
    }
}

// Lets contacts of the last list keep their colours, and lists the others as pending.
@compute @workgroup_size(64)
fn seed_colours(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    if meets_dynamic_surface(contacts[k]) && !is_of_vertex(contacts[k]) {
        colours[k] = SPLIT;
        return;
    }
    let bodies = free_bodies(contacts[k]);
    let colour = old_colour(contacts[k].previous);
    if ((allowed_colours(bodies) >> colour) & 1u) != 0u {
        colours[k] = colour;
        mark_used(bodies.x, colour);
        mark_used(bodies.y, colour);
        return;
    }
    colours[k] = UNCOLOURED;
    pending[atomicAdd(&status.pending, 1u)] = k;
}

@compute @workgroup_size(1)
fn plan_rounds() {
    if !searches() {
        return;
    }
    let count = atomicLoad(&status.pending);
    plan(ARGUMENTS_PENDING, select(0u, count, count > FEW && !is_halted()));
}

// Priority of a contact, a one-to-one scramble of its index: so neighbours in the list do not all wait for each other. Never 0.
fn priority(k: u32) -> u32 {
    return (k + 1u) * 2654435761u;
}

// Names the priority of a contact at both its bodies. A contact that finds no free colour becomes an overflow contact.
fn propose_contact(k: u32, turn: u32) {
    if colours[k] != UNCOLOURED {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    if free_colours(bodies) == 0u {
        colours[k] = SPLIT;
        return;
    }
    atomicMax(&marks[bodies.x].best[turn], priority(k));
    if bodies.y != NONE {
        atomicMax(&marks[bodies.y].best[turn], priority(k));
    }
}

// Gives a contact a colour if it wins at both bodies. Every contact clears the words for the next round.
fn commit_contact(k: u32, turn: u32) {
    if colours[k] != UNCOLOURED {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    let wins_a = atomicLoad(&marks[bodies.x].best[turn]) == priority(k);
    atomicStore(&marks[bodies.x].best[1u - turn], 0u);
    var wins_b = true;
    if bodies.y != NONE {
        wins_b = atomicLoad(&marks[bodies.y].best[turn]) == priority(k);
        atomicStore(&marks[bodies.y].best[1u - turn], 0u);
    }
    if wins_a && wins_b {
        let free = free_colours(bodies);
        let colour = select(firstTrailingBit(free), firstLeadingBit(free), contacts[k].b < params.surfaces);
        colours[k] = colour;
        mark_used(bodies.x, colour);
        mark_used(bodies.y, colour);
    }
}

fn free_colours(bodies: vec2u) -> u32 {
    var free = allowed_colours(bodies) & ~atomicLoad(&marks[bodies.x].used);
    if bodies.y != NONE {
        free &= ~atomicLoad(&marks[bodies.y].used);
    }
    return free;
}

@compute @workgroup_size(64)
fn propose(@builtin(global_invocation_id) invocation: vec3u) {
    let i = flat(invocation);
    if i < atomicLoad(&status.pending) {
        propose_contact(pending[i], round.index % 2u);
    }
}

@compute @workgroup_size(64)
fn commit(@builtin(global_invocation_id) invocation: vec3u) {
    let i = flat(invocation);
    if i < atomicLoad(&status.pending) {
        commit_contact(pending[i], round.index % 2u);
    }
}

// Lists the contacts without a colour after the dispatched rounds, in the upper half of `pending`. A pass over all that
// were pending would keep the one workgroup that finishes busy for long; on lavapipe loops end after 65 535 turns.
@compute @workgroup_size(64)
fn list_late(@builtin(global_invocation_id) invocation: vec3u) {
    let i = flat(invocation);
    if i < atomicLoad(&status.pending) && colours[pending[i]] == UNCOLOURED {
        pending[upper_half() + atomicAdd(&status.late, 1u)] = pending[i];
    }
}

fn upper_half() -> u32 {
    return arrayLength(&pending) / 2u;
}

var<workgroup> left: atomic<u32>;
var<workgroup> left_before: u32;
var<workgroup> first_left: u32;

// Colours the last pending contacts in rounds, inside one workgroup. Each round colours at least one contact, and a contact that finds
// no free colour becomes an overflow contact, so the loop ends.
@compute @workgroup_size(256)
fn finish_colouring(@builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        let were_rounds = atomicLoad(&status.pending) > FEW;
        first_left = select(0u, upper_half(), were_rounds);
        left_before = select(atomicLoad(&status.pending), atomicLoad(&status.late), were_rounds);
        if is_halted() {
            left_before = 0u;
        }
    }
    let first = workgroupUniformLoad(&first_left);
    let count = workgroupUniformLoad(&left_before);
    var turn = 0u;
    loop {
        if lane == 0u {
            atomicStore(&left, 0u);
        }
        for (var i = lane; i < count; i += FINISH) {
            propose_contact(pending[first + i], turn);
        }
        storageBarrier();
        workgroupBarrier();
        for (var i = lane; i < count; i += FINISH) {
            commit_contact(pending[first + i], turn);
            if colours[pending[first + i]] == UNCOLOURED {
                atomicAdd(&left, 1u);
            }
        }
        storageBarrier();
        workgroupBarrier();
        if lane == 0u {
            left_before = atomicLoad(&left);
        }
        if workgroupUniformLoad(&left_before) == 0u {
            break;
        }
        turn = 1u - turn;
    }
}
