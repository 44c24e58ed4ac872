// Colouring: contacts of one colour share no free body, so a colour is solved in parallel.
// Twin: src/cpu/colouring.rs (its colouring may differ: any valid one will do).
//
// A contact keeps the colour that it had in the last list: that colouring was valid, and still is for the contacts that
// stayed. New contacts compete in rounds: each names its priority at both its bodies, and a contact with the highest
// priority at both takes a colour that is free at both: the lowest for two grains, the highest for a boundary, so
// that boundaries are solved late. Priorities come from the place in the sorted list, so the result does
// not depend on which invocation ran first. Fixed and prescribed bodies are never written and never conflict.
// Contacts that find no colour are overflow contacts, and so are all contacts of grains with surfaces of dynamic bodies: see split.wgsl.
// Contacts of the vertices of a box take colours, as they are few.
//
// Large numbers of new contacts are dispatched round by round; the last few are finished inside one
// workgroup without going back to the queue.

@group(0) @binding(2) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read_write> colours: array<u32>;
@group(0) @binding(4) var<storage, read> old_contacts: array<vec2u>;  // shape b; colour, and in the bits above it the side of a sheet
@group(0) @binding(6) var<storage, read_write> used: array<atomic<u32>>;    // bits of the colours in use, by body
@group(0) @binding(7) var<storage, read_write> best: array<atomic<u32>>;    // highest priority at a body: two words per body, for alternate rounds
@group(0) @binding(8) var<storage, read_write> pending: array<u32>;
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(10) var<storage, read_write> colour_counts: array<u32>;  // per colour and block
@group(0) @binding(12) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(13) var<storage, read> surfaces: array<Surface>;

struct Round { index: u32 }
@group(1) @binding(0) var<uniform> round: Round;

// Number of pending contacts up to which one workgroup colours them alone.
const FEW = 1024u;
const FINISH = 256u;
const ALL_COLOURS = (1u << COLOURS) - 1u;

// Colour of a contact in the last list; COLOURS: it had none.
fn old_colour(previous: u32) -> u32 {
    if previous == NONE {
        return COLOURS;
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

@compute @workgroup_size(64)
fn clear_colours(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body == 0u {
        atomicStore(&status.pending, 0u);
        atomicStore(&status.late, 0u);
    }
    if body >= bodies() || is_halted() {
        return;
    }
    atomicStore(&used[body], 0u);
    atomicStore(&best[2u * body], 0u);
    atomicStore(&best[2u * body + 1u], 0u);
}

fn mark_used(body: u32, colour: u32) {
    if body != NONE {
        atomicOr(&used[body], 1u << colour);
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
        colours[k] = COLOURS;
        return;
    }
    let previous = contacts[k].previous;
    let colour = old_colour(previous);
    if colour < COLOURS {
        colours[k] = colour;
        let bodies = free_bodies(contacts[k]);
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
        colours[k] = COLOURS;
        return;
    }
    atomicMax(&best[2u * bodies.x + turn], priority(k));
    if bodies.y != NONE {
        atomicMax(&best[2u * bodies.y + turn], priority(k));
    }
}

// Gives a contact a colour if it wins at both bodies. Every contact clears the words for the next round.
fn commit_contact(k: u32, turn: u32) {
    if colours[k] != UNCOLOURED {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    let wins_a = atomicLoad(&best[2u * bodies.x + turn]) == priority(k);
    atomicStore(&best[2u * bodies.x + 1u - turn], 0u);
    var wins_b = true;
    if bodies.y != NONE {
        wins_b = atomicLoad(&best[2u * bodies.y + turn]) == priority(k);
        atomicStore(&best[2u * bodies.y + 1u - turn], 0u);
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
    var free = ALL_COLOURS & ~atomicLoad(&used[bodies.x]);
    if bodies.y != NONE {
        free &= ~atomicLoad(&used[bodies.y]);
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

var<workgroup> block_counts: array<atomic<u32>, 9>;
var<workgroup> members: array<atomic<u32>, 72>;  // members of a block: a bit per contact, eight words per colour

fn block_index(group: vec3u) -> u32 {
    return group.x + group.y * GROUPS_PER_ROW;
}

fn blocks() -> u32 {
    return (params.contact_capacity + 255u) / 256u;
}

// Counts the contacts of each colour in each block of 256. The counts stand colour by colour, so that a scan gives places.
@compute @workgroup_size(256)
fn count_colours(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_index(group);
    let k = block * 256u + lane;
    if lane <= COLOURS {
        atomicStore(&block_counts[lane], 0u);
    }
    workgroupBarrier();
    if k < status.contacts && !is_halted() {
        atomicAdd(&block_counts[colours[k]], 1u);
    }
    workgroupBarrier();
    if lane <= COLOURS && block < blocks() {
        colour_counts[lane * blocks() + block] = atomicLoad(&block_counts[lane]);
    }
}

// Finds the place of each contact in solving order: by colour, then by key.
@compute @workgroup_size(256)
fn place_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_index(group);
    let k = block * 256u + lane;
    if lane < 72u {
        atomicStore(&members[lane], 0u);
    }
    workgroupBarrier();
    let takes_part = k < status.contacts && !is_halted();
    var first_word = 0u;
    if takes_part {
        first_word = 8u * colours[k];
        atomicOr(&members[first_word + lane / 32u], 1u << (lane % 32u));
    }
    workgroupBarrier();
    if takes_part {
        var place = colour_counts[colours[k] * blocks() + block];
        for (var word = 0u; word < lane / 32u; word++) {
            place += countOneBits(atomicLoad(&members[first_word + word]));
        }
        let before = (1u << (lane % 32u)) - 1u;
        contacts[k].place = place + countOneBits(atomicLoad(&members[first_word + lane / 32u]) & before);
    }
}

// Finds the first place of each colour and of the overflow contacts, the number of colours and of overflow contacts.
@compute @workgroup_size(1)
fn find_starts() {
    if is_halted() || !searches() {
        return;
    }
    for (var colour = 0u; colour <= COLOURS; colour++) {
        status.colour_starts[colour] = colour_counts[colour * blocks()];
    }
    status.colour_starts[COLOURS + 1u] = status.contacts;
    status.colours = 0u;
    for (var colour = 0u; colour < COLOURS; colour++) {
        if status.colour_starts[colour + 1u] > status.colour_starts[colour] {
            status.colours++;
        }
    }
    status.overflow = status.contacts - status.colour_starts[COLOURS];
    status.sides = 0u;
    if status.overflow > params.overflow_capacity {
        atomicOr(&status.halted, HALT_OVERFLOW);
    } else {
        plan(ARGUMENTS_OVERFLOW, status.overflow);
        plan(ARGUMENTS_UNCOLOURED, status.overflow);
    }
}
