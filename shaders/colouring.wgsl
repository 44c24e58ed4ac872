// Colouring: contacts of one colour share no grain, so a colour is solved in parallel.
// Twin: src/reference/colouring.rs (any valid colouring will do: judged by the oracle).
//
// A contact keeps the colour it had in the last step; that was valid, and still is among those that
// stayed. New contacts compete in rounds: each names its priority at both its bodies, and one that is
// the highest at both takes a colour free at both: the lowest for two grains; for a boundary the highest
// that has a dispatch of its own, so that boundaries are solved last. Priorities come from the place in the
// sorted list, so the result does not depend on which invocation ran first. Fixed and prescribed
// bodies are never written and never conflict; of free boundaries each contact of a colour has a copy of its
// own, and the corners of a box have colours of their own, one below the other. What finds no colour goes to the tail (colour 64).
//
// Large numbers of new contacts are dispatched round by round; the last few, and in a settled bed all,
// are finished inside one workgroup without going back to the queue.

@group(0) @binding(2) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read_write> colours: array<u32>;
@group(0) @binding(4) var<storage, read> old_colours: array<u32>;
@group(0) @binding(6) var<storage, read_write> used: array<atomic<u32>>;    // two words per body
@group(0) @binding(7) var<storage, read_write> best: array<atomic<u32>>;    // two per body, taken in turn
@group(0) @binding(8) var<storage, read_write> pending: array<u32>;
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(10) var<storage, read_write> colour_counts: array<u32>;  // per colour and block
@group(0) @binding(11) var<storage, read_write> colour_starts: array<u32>;
@group(0) @binding(12) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(13) var<storage, read> surfaces: array<Surface>;
@group(0) @binding(14) var<storage, read_write> free_boundaries: array<FreeBoundary>;

struct Round { index: u32 }
@group(1) @binding(0) var<uniform> round: Round;

// Fewer pending contacts than this are left to one workgroup.
const FEW = 1024u;
const FINISH = 256u;
// Colours that the corners of a box take, from the last dispatched one downwards.
const CORNER_COLOURS = 8u;

// Grains of a contact; NONE for a boundary. Contacts of corners have none, and are never pending.
fn is_of_corner(contact: Contact) -> bool {
    return HAS_FREE_BOUNDARIES && contact.a - params.surfaces < params.corners;
}

fn free_bodies(contact: Contact) -> vec2u {
    let a = spheres[contact.a - params.surfaces].body;
    if contact.b < params.surfaces {
        return vec2u(a, NONE);
    }
    return vec2u(a, spheres[contact.b - params.surfaces].body);
}

@compute @workgroup_size(64)
fn clear_colours(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body == 0u {
        atomicStore(&status.pending, 0u);
        atomicStore(&status.late, 0u);
    }
    if body >= params.grains + params.boundaries || is_halted() {
        return;
    }
    atomicStore(&used[2u * body], 0u);
    atomicStore(&used[2u * body + 1u], 0u);
    atomicStore(&best[2u * body], 0u);
    atomicStore(&best[2u * body + 1u], 0u);
}

fn mark_used(body: u32, colour: u32) {
    if body != NONE {
        atomicOr(&used[2u * body + colour / 32u], 1u << (colour % 32u));
    }
}

@compute @workgroup_size(64)
fn seed_colours(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    if is_of_corner(contacts[k]) {
        colours[k] = DISPATCHED_COLOURS - 1u - (contacts[k].a - params.surfaces) % CORNER_COLOURS;
        return;
    }
    let previous = contacts[k].previous;
    if previous != NONE && old_colours[previous] < COLOURS {
        let colour = old_colours[previous];
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
    let count = atomicLoad(&status.pending);
    var groups = (count + GROUP - 1u) / GROUP;
    if count <= FEW || is_halted() {
        groups = 0u;
    }
    arguments[3u * ARGUMENTS_PENDING] = min(groups, GROUPS_PER_ROW);
    arguments[3u * ARGUMENTS_PENDING + 1u] = (groups + GROUPS_PER_ROW - 1u) / GROUPS_PER_ROW;
    arguments[3u * ARGUMENTS_PENDING + 2u] = 1u;
}

// A one-to-one scramble of the index: neighbours in the list do not all wait for each other. Never 0.
fn priority(k: u32) -> u32 {
    return (k + 1u) * 2654435761u;
}

fn propose_contact(k: u32, turn: u32) {
    if colours[k] != UNCOLOURED {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    atomicMax(&best[2u * bodies.x + turn], priority(k));
    if bodies.y != NONE {
        atomicMax(&best[2u * bodies.y + turn], priority(k));
    }
}

// A winner takes a colour; everyone clears the words that the next round will use.
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
        let colour = free_colour(bodies);
        colours[k] = colour;
        if colour < COLOURS {
            mark_used(bodies.x, colour);
            mark_used(bodies.y, colour);
        }
    }
}

fn taken_word(bodies: vec2u, word: u32) -> u32 {
    var taken = atomicLoad(&used[2u * bodies.x + word]);
    if bodies.y != NONE {
        taken |= atomicLoad(&used[2u * bodies.y + word]);
    }
    return taken;
}

fn free_colour(bodies: vec2u) -> u32 {
    let taken = taken_word(bodies, 0u);
    let free_below = ~taken & ((1u << DISPATCHED_COLOURS) - 1u);
    if bodies.y == NONE && free_below != 0u {
        return firstLeadingBit(free_below);
    }
    if taken != 0xffffffffu {
        return firstTrailingBit(~taken);
    }
    let taken_above = taken_word(bodies, 1u);
    return select(COLOURS, 32u + firstTrailingBit(~taken_above), taken_above != 0xffffffffu);
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

// After the dispatched rounds: what is still pending, listed in the upper half of the room. To look through all that
// was pending would keep the one workgroup that finishes busy for long; on lavapipe loops end after 65 535 turns.
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

// Rounds until every pending contact has a colour. Each round colours at least one, and a contact
// that finds none of the 64 free goes to the tail, so this ends.
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

var<workgroup> block_counts: array<atomic<u32>, 65>;
var<workgroup> block_colours: array<u32, 256>;

fn block_index(group: vec3u) -> u32 {
    return group.x + group.y * GROUPS_PER_ROW;
}

fn blocks() -> u32 {
    return arrayLength(&colour_counts) / (COLOURS + 1u);
}

// Contacts of each colour in each block of 256; colour by colour, so that a scan gives places.
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

// Place of each contact in solving order. Inside a block, the contacts of one colour may stand in any
// order: they share no body, so no bit depends on it. The tail is solved one by one, and what a colour does
// to a free boundary is summed: there the order counts.
@compute @workgroup_size(256)
fn place_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_index(group);
    let k = block * 256u + lane;
    var colour = UNCOLOURED;
    if k < status.contacts && !is_halted() {
        colour = colours[k];
    }
    block_colours[lane] = colour;
    if lane <= COLOURS && block < blocks() {
        atomicStore(&block_counts[lane], colour_counts[lane * blocks() + block]);
    }
    workgroupBarrier();
    if colour < COLOURS && !HAS_FREE_BOUNDARIES {
        contacts[k].place = atomicAdd(&block_counts[colour], 1u);
    } else if colour <= COLOURS {
        var place = atomicLoad(&block_counts[colour]);
        for (var other = 0u; other < lane; other++) {
            place += select(0u, 1u, block_colours[other] == colour);
        }
        contacts[k].place = place;
    }
}

// Where each colour starts, where the tail starts, and the number of contacts.
@compute @workgroup_size(1)
fn find_starts() {
    if is_halted() {
        return;
    }
    status.colours = 0u;
    for (var colour = 0u; colour <= COLOURS; colour++) {
        colour_starts[colour] = colour_counts[colour * blocks()];
    }
    colour_starts[COLOURS + 1u] = status.contacts;
    for (var colour = 0u; colour < COLOURS; colour++) {
        if colour_starts[colour + 1u] > colour_starts[colour] {
            status.colours++;
        }
    }
    status.tail = status.contacts - colour_starts[COLOURS];
}

@compute @workgroup_size(64)
fn clear_shares(@builtin(global_invocation_id) invocation: vec3u) {
    let boundary = flat(invocation);
    if boundary < params.boundaries && !is_halted() {
        for (var colour = 0u; colour < COLOURS; colour++) {
            atomicStore(&free_boundaries[boundary].counts[colour], 0u);
        }
    }
}

// How many contacts of each colour share a free boundary.
@compute @workgroup_size(64)
fn count_shares(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || colours[k] >= COLOURS {
        return;
    }
    let contact = contacts[k];
    if is_of_corner(contact) {
        count_share(spheres[contact.a - params.surfaces].body, colours[k]);
    }
    if contact.b < params.surfaces {
        count_share(surfaces[contact.b].body, colours[k]);
    }
}

fn count_share(boundary: u32, colour: u32) {
    if free_boundaries[boundary].moments.x > 0.0 {
        atomicAdd(&free_boundaries[boundary].counts[colour], 1u);
    }
}
