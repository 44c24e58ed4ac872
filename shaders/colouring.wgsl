// Colouring: contacts of one colour share no free body, so a colour is solved in parallel.
// Twin: src/cpu/colouring.rs (its colouring may differ: any valid one will do).
//
// A contact keeps the colour that it had in the last list: that colouring was valid, and still is for the contacts that
// stayed. New contacts compete in rounds: each names its priority at both its bodies, and a contact with the highest
// priority at both takes a colour that is free at both: the lowest for two grains, the highest for a boundary, so
// that boundaries are solved late. Priorities come from the place in the sorted list, so the result does
// not depend on which invocation ran first. Fixed and prescribed bodies are never written and never conflict.
// There are COLOURS colours for each of two tilings (tiles.wgsl). A contact within a tile of the first can only have the colours of that
// one, a contact that it cuts those of the second. (A body with contacts in the colours of both would take more than COLOURS contacts one
// after the other, which accelerated sweeps overshoot.) So new contacts compete within their tile only, and one workgroup colours those of
// a tile. Contacts that find no colour are overflow contacts, and so are all contacts of grains with surfaces of dynamic bodies: see
// split.wgsl. Contacts of the vertices of a box take colours, as they are few.
//
// The contacts at the points of the manifold of a polyhedral grain have the colour of its first one, so that two polyhedra take one colour,
// as two spheres do. One invocation solves them one after the other, see colour.wgsl. (Solids of dynamic boundaries are few, and have a
// colour for each point: stacks of them converge faster so.)

@group(0) @binding(2) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read_write> colours: array<u32>;
@group(0) @binding(4) var<storage, read> old_contacts: array<vec2u>;  // shape b; colour, and in the bits above it the side of a sheet
@group(0) @binding(8) var<storage, read_write> pending: array<u32>;                // contacts without a colour, tile by tile
@group(0) @binding(9) var<storage, read_write> pending_ends: array<atomic<u32>>;   // end of those of each tile of both tilings
@group(0) @binding(12) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(13) var<storage, read> surfaces: array<Surface>;

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
    let shape = shape_b(contact);
    return HAS_RIGID && shape < params.surfaces && (surfaces[shape].flags & 1u) != 0u;
}

// Dynamic bodies of a contact, which its solution writes; NONE for a fixed or prescribed one.
fn free_bodies(contact: Contact) -> vec2u {
    let a = spheres[contact.a - params.surfaces].body;
    let shape = shape_b(contact);
    if shape >= params.surfaces {
        return vec2u(a, spheres[shape - params.surfaces].body);
    }
    return vec2u(a, select(NONE, surfaces[shape].body, meets_dynamic_surface(contact)));
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

// Tiling in whose colours a contact may be; not used for one that both cut.
fn tiling_of(allowed: u32) -> u32 {
    return select(1u, 0u, allowed == COLOURS_OF_TILING);
}

// Index of the tile of a contact among the tiles of both tilings.
fn tile_of_contact(bodies: vec2u) -> u32 {
    let tiling = tiling_of(allowed_colours(bodies));
    return tiling * tiles() + tile_of(bodies.x, tiling);
}

// Lets contacts of the last list keep their colours, and counts the others by tile.
@compute @workgroup_size(64)
fn seed_colours(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    let allowed = allowed_colours(bodies);
    if allowed == 0u || follows(contacts[k]) || (meets_dynamic_surface(contacts[k]) && !is_of_vertex(contacts[k])) {
        colours[k] = SPLIT;
        return;
    }
    let colour = old_colour(contacts[k].previous);
    if ((allowed >> colour) & 1u) != 0u {
        colours[k] = colour;
        mark_used(bodies.x, colour);
        mark_used(bodies.y, colour);
        return;
    }
    colours[k] = UNCOLOURED;
    atomicAdd(&pending_ends[tile_of_contact(bodies)], 1u);
}

// Lists the contacts without a colour by tile. After the scan `pending_ends` holds the start of each tile; filling moves it to the end.
@compute @workgroup_size(64)
fn list_pending(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k < status.contacts && !is_halted() && colours[k] == UNCOLOURED {
        pending[atomicAdd(&pending_ends[tile_of_contact(free_bodies(contacts[k]))], 1u)] = k;
    }
}

// Priority of a contact, a one-to-one scramble of its index: so neighbours in the list do not all wait for each other. Never 0.
fn priority(k: u32) -> u32 {
    return (k + 1u) * 2654435761u;
}

// Enters the priority of a contact at both its bodies. A contact that finds no free colour becomes an overflow contact.
fn propose(k: u32, word: u32) {
    if colours[k] != UNCOLOURED {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    if free_colours(bodies) == 0u {
        colours[k] = SPLIT;
        return;
    }
    atomicMax(&marks[bodies.x].best[word], priority(k));
    if bodies.y != NONE {
        atomicMax(&marks[bodies.y].best[word], priority(k));
    }
}

// Gives a contact a colour if it wins at both bodies. Every contact clears the words of the next round.
fn commit(k: u32, word: u32, next_word: u32) {
    if colours[k] != UNCOLOURED {
        return;
    }
    let bodies = free_bodies(contacts[k]);
    let wins_a = atomicLoad(&marks[bodies.x].best[word]) == priority(k);
    atomicStore(&marks[bodies.x].best[next_word], 0u);
    var wins_b = true;
    if bodies.y != NONE {
        wins_b = atomicLoad(&marks[bodies.y].best[word]) == priority(k);
        atomicStore(&marks[bodies.y].best[next_word], 0u);
    }
    if wins_a && wins_b {
        let free = free_colours(bodies);
        let colour = select(firstTrailingBit(free), firstLeadingBit(free), shape_b(contacts[k]) < params.surfaces);
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

var<workgroup> left: atomic<u32>;
var<workgroup> left_before: u32;
var<workgroup> places: vec2u;

// Colours the contacts of a tile that need a colour, in rounds. Each round colours at least one contact, and a contact that finds
// no free colour becomes an overflow contact, so the loop ends.
@compute @workgroup_size(LANES)
fn colour_tiles(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let tile = group.x + group.y * GROUPS_PER_ROW;
    if lane == 0u {
        places = vec2u(0u);
        if tile < 2u * tiles() && !is_halted() {
            places.x = select(0u, atomicLoad(&pending_ends[max(tile, 1u) - 1u]), tile > 0u);
            places.y = atomicLoad(&pending_ends[tile]);
        }
        atomicStore(&left, places.y - places.x);
    }
    let range = workgroupUniformLoad(&places);
    // The words of the two tilings are apart, as a body may have contacts of both; those of rounds take turns.
    var word = select(0u, 2u, tile >= tiles());
    loop {
        if lane == 0u {
            left_before = atomicLoad(&left);
            atomicStore(&left, 0u);
        }
        if workgroupUniformLoad(&left_before) == 0u {
            break;
        }
        for (var i = range.x + lane; i < range.y; i += LANES) {
            propose(pending[i], word);
        }
        storageBarrier();
        workgroupBarrier();
        for (var i = range.x + lane; i < range.y; i += LANES) {
            commit(pending[i], word, word ^ 1u);
            if colours[pending[i]] == UNCOLOURED {
                atomicAdd(&left, 1u);
            }
        }
        storageBarrier();
        workgroupBarrier();
        word ^= 1u;
    }
}
