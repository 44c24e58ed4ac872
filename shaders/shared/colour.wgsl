// Bindings of the kernels that visit contacts colour by colour, and the contacts that they visit.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(19) var<storage, read> tile_lists: array<u32>;  // see tiles.wgsl

// Position of a dispatch in its pass over the contacts, and the acceleration of the sweep.
struct Turn {
    index: u32,                // 0, 1: tiles of the first and second tiling; 2: overflow contacts
    relaxation: f32,           // relaxation factor ω of the contact constraints [-] [E12]
    share: f32,                // extrapolation factor of impulses and velocities [-] [E12]; 0: no extrapolation
    follows: u32,              // 1 in an accelerated sweep that follows another, else 0
}
@group(1) @binding(0) var<uniform> colour: Turn;

// First place in solving order, and the end, of the contacts of a colour in the tile of a workgroup. They share no dynamic body, so their
// loads and stores cannot race, and neither can those of two tiles. Many may share a prescribed body: it is always `b`, has inverse mass 0,
// and is never written.
fn places_of(group: vec3u, own_colour: u32) -> vec2u {
    let tile = group.x + group.y * GROUPS_PER_ROW;
    if tile >= status.tiles {
        return vec2u(0u);
    }
    let bin = (colour.index * status.tiles + tile) * COLOURS + own_colour;
    var first = 0u;
    if bin > 0u {
        first = tile_lists[bin - 1u];
    }
    return vec2u(first, tile_lists[bin]);
}

// Place after the contacts that the invocation of a place solves one after the other: its own, and where it is the first of a polyhedral
// grain with another shape those at the other points of their manifold, which follow; `place` itself for one of these. In a colour only
// contacts of the same pair have the same bodies.
fn end_of_pair(place: u32, places: vec2u) -> u32 {
    var end = place + 1u;
    if !HAS_HULLS {
        return end;
    }
    let bodies = constraint_heads[place].bodies;
    if place > places.x && all(constraint_heads[place - 1u].bodies == bodies) {
        return place;
    }
    while end < places.y && all(constraint_heads[end].bodies == bodies) {
        end++;
    }
    return end;
}

// Body of a tile of the first tiling, with its slots, see Overflow.
struct Member {
    body: u32,                 // index of the body
    first: u32,                // first slot
    end: u32,                  // slot after the last
}

// First of the bodies of the tile of a workgroup in the list of members, and their end.
fn members_of(group: vec3u) -> vec2u {
    let tile = group.x + group.y * GROUPS_PER_ROW;
    if tile >= status.tiles {
        return vec2u(0u);
    }
    let at = place_of_tile(status.tiles, tile);
    return vec2u(tile_lists[at], tile_lists[at] + tile_lists[at + 1u]);
}

fn member_at(member: u32) -> Member {
    let at = place_of_member(status.tiles, member);
    return Member(tile_lists[at], tile_lists[at + 1u], tile_lists[at + 2u]);
}

fn locks(bodies: vec2u) -> vec2u {
    if HAS_LOCKS {
        return vec2u(locked_axes(bodies.x), locked_axes(bodies.y));
    }
    return vec2u(0u);
}
