// Matching: finds for each contact the same contact in the last neighbour list, by key.
// Twin: src/cpu/matching.rs. Both lists are grouped by owner, so a search goes through a
// handful of partners.

@group(0) @binding(3) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(4) var<storage, read> contact_starts: array<u32>;
@group(0) @binding(5) var<storage, read_write> old_starts: array<u32>;     // per vertex and sphere, then the total
@group(0) @binding(6) var<storage, read_write> old_contacts: array<vec2u>;  // shape b; colour, and in the bits above it the side of a sheet
@group(0) @binding(7) var<storage, read> tile_lists: array<u32>;            // see tiles.wgsl
@group(0) @binding(8) var<storage, read_write> old_impulses: array<vec2f>; // as many as in `impulses`

@compute @workgroup_size(64)
fn match_previous(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let owner = contacts[k].a - params.surfaces;
    if owner >= status.remembered {
        return;
    }
    for (var old = old_starts[owner]; old < old_starts[owner + 1u]; old++) {
        if old_contacts[old].x == contacts[k].b {
            contacts[k].previous = old;
            return;
        }
    }
}

// Copies the last impulses of the matched contacts, once the places in solving order are known. New contacts get zero.
@compute @workgroup_size(64)
fn match_impulses(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let to = IMPULSE_PAIRS * contacts[k].place;
    let source = contacts[k].previous;
    if HAS_MESHES {
        // Marks the contact as one without a seam, on the side that was known.
        var side = 0u;
        if source != NONE {
            side = old_contacts[source].y >> SIDE_SHIFT;
        }
        contacts[k].previous = (side << SIDE_SHIFT) | BELOW_SIDE;
    }
    for (var i = 0u; i < IMPULSE_PAIRS; i++) {
        if source == NONE {
            impulses[to + i] = vec2f(0.0);
        } else {
            impulses[to + i] = old_impulses[IMPULSE_PAIRS * source + i];
        }
    }
}

// Whether the scene has meshes.
override HAS_MESHES: bool = true;

// Keeps partners, colours and impulses of the old list at the start of a search, for the matching. With meshes the side of a sheet is in
// the bits above the colour.
@compute @workgroup_size(64)
fn remember_contacts(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts {
        return;
    }
    var colour = colour_of(contacts[k].place);
    if HAS_MESHES {
        colour |= (contacts[k].previous >> SIDE_SHIFT) << SIDE_SHIFT;
    }
    old_contacts[k] = vec2u(contacts[k].b, colour);
    let place = IMPULSE_PAIRS * contacts[k].place;
    for (var i = 0u; i < IMPULSE_PAIRS; i++) {
        old_impulses[IMPULSE_PAIRS * k + i] = impulses[place + i];
    }
}

// Colour of a place in solving order: that of the first bin that ends after it.
fn colour_of(place: u32) -> u32 {
    if place >= status.coloured {
        return SPLIT;
    }
    var low = 0u;
    var high = 2u * COLOURS * status.tiles;
    while low < high {
        let middle = (low + high) / 2u;
        if tile_lists[middle] > place {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low % COLOURS + select(0u, COLOURS, low >= COLOURS * status.tiles);
}

// Keeps the first contacts of the owners of the old list.
@compute @workgroup_size(64)
fn remember_owners(@builtin(global_invocation_id) invocation: vec3u) {
    let owner = flat(invocation);
    if owner <= status.listed {
        old_starts[owner] = contact_starts[owner];
    }
}

@compute @workgroup_size(1)
fn finish_step() {
    if !is_halted() {
        status.step++;
        if status.step == status.wanted {
            atomicOr(&status.halted, HALT_DONE);
        }
    }
}
