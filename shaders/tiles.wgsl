// Tiles: sets of about TILE bodies that lie close together, each solved by one workgroup. Twin: src/cpu/tiles.rs, whose tiles differ
// (any partition will do).
//
// Space is divided into cubes of 4 × 4 × 4 cells of level 0 of the grid. A counting sort of the bodies by cube, along a curve that visits
// near cubes soon after each other (Morton order), numbers them; every TILE numbers begin a tile, and a cube is never cut. The numbers
// depend on the positions relative to the first body alone, not on the room in the buffers or on the atomics.
//
// There are two such tilings, with cubes that are shifted by three cells. A sweep first solves contacts within tiles of the first
// tiling, then contacts within tiles of the second one: most of those that the first one cuts, as the borders of the two cross along
// lines only. What both cut is left to the overflow contacts.
//
// Contacts then take their places in solving order: tiling by tiling, tile by tile, colour by colour; last the overflow contacts. Contacts
// of a tile with the same colour make a bin, and so do the overflow contacts whose body a is in the same tile of the first tiling.
// A counting sort fills the bins, in an order that depends on the atomics; then each contact takes its place in its bin by its key.
//
// The buffer `tile_lists` holds the end of each bin; further on, for each tile of the first tiling, the place of its first body in the list
// of members and the number of its bodies; then that list: a body, its first slot and the end of its slots, see overflow.wgsl. The order of
// the members of a tile depends on the atomics, and nothing depends on it.

@group(0) @binding(2) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read_write> colours: array<u32>;
@group(0) @binding(4) var<storage, read> poses: array<Pose>;
@group(0) @binding(5) var<storage, read_write> cube_ends: array<atomic<u32>>;  // bodies per cube, of both tilings
@group(0) @binding(7) var<storage, read_write> pending_ends: array<atomic<u32>>; // contacts per tile that need a colour
@group(0) @binding(8) var<storage, read_write> binned: array<u32>;             // contacts, bin by bin
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(10) var<storage, read_write> tile_lists: array<atomic<u32>>;
@group(0) @binding(12) var<storage, read> spheres: array<Sphere>;

// Edge of a cube, as a power of two of cells.
const CUBE_SHIFT = 2u;
// Distance of the cubes of the second tiling from those of the first along each axis [cells].
const TILING_SHIFT = 3;

// Number of bits of a cube index along an axis: cubes that are further apart may share an index.
fn cube_bits() -> u32 {
    return countTrailingZeros(cubes()) / 3u;
}

// Cube of a body in a tiling: its indices along the axes, bit by bit in turn.
fn cube_of(body: u32, tiling: u32) -> u32 {
    let cell = poses[body].cell - poses[0].cell + TILING_SHIFT * i32(tiling);
    let cube = bitcast<vec3u>(cell >> vec3u(CUBE_SHIFT));
    var index = 0u;
    for (var bit = 0u; bit < cube_bits(); bit++) {
        let bits = (cube >> vec3u(bit)) & vec3u(1u);
        index |= (bits.x | (bits.y << 1u) | (bits.z << 2u)) << (3u * bit);
    }
    return tiling * cubes() + index;
}

@compute @workgroup_size(64)
fn clear_cubes(@builtin(global_invocation_id) invocation: vec3u) {
    let i = flat(invocation);
    if is_halted() {
        return;
    }
    if i < 2u * cubes() {
        atomicStore(&cube_ends[i], 0u);
    }
    if i < BINS * tiles() {
        atomicStore(&tile_lists[i], 0u);
    }
    if i < 2u * tiles() {
        atomicStore(&tile_lists[place_of_tile(tiles(), 0u) + i], 0u);
        atomicStore(&pending_ends[i], 0u);
    }
    if i == 0u {
        atomicStore(&status.colours, 0u);
    }
}

@compute @workgroup_size(64)
fn count_cubes(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body < bodies() && !is_halted() {
        atomicAdd(&cube_ends[cube_of(body, 0u)], 1u);
        atomicAdd(&cube_ends[cube_of(body, 1u)], 1u);
    }
}

// Gives each body its tiles, with all colours free. After the scan `cube_ends` holds the number of bodies before each cube; those of the
// first tiling come before those of the second.
@compute @workgroup_size(64)
fn assign_tiles(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || is_halted() {
        return;
    }
    atomicStore(&marks[body].used, 0u);
    for (var tiling = 0u; tiling < 2u; tiling++) {
        let before = atomicLoad(&cube_ends[cube_of(body, tiling)]) - tiling * bodies();
        marks[body].tiles[tiling] = before / TILE;
        atomicStore(&marks[body].best[2u * tiling], 0u);
        atomicStore(&marks[body].best[2u * tiling + 1u], 0u);
    }
    join_tile(body, marks[body].tiles[0]);
}

// Adds a body to the members of its tile of the first tiling.
fn join_tile(body: u32, tile: u32) {
    let start = bodies_before(tile, cube_of(body, 0u));
    let at = place_of_tile(tiles(), tile);
    let member = start + atomicAdd(&tile_lists[at + 1u], 1u);
    atomicStore(&tile_lists[at], start);
    atomicStore(&tile_lists[place_of_member(tiles(), member)], body);
}

// Number of bodies in the tiles before this one: those before its first cube. `cube` is one of its cubes.
fn bodies_before(tile: u32, cube: u32) -> u32 {
    var low = 0u;
    var high = cube;
    while low < high {
        let middle = (low + high) / 2u;
        if atomicLoad(&cube_ends[middle]) >= TILE * tile {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return atomicLoad(&cube_ends[low]);
}

// Bin of a contact.
fn bin_of(k: u32) -> u32 {
    let body = spheres[contacts[k].a - params.surfaces].body;
    if colours[k] == SPLIT {
        return SPLIT * tiles() + tile_of(body, 0u);
    }
    let tiling = colours[k] / COLOURS;
    return (tiling * tiles() + tile_of(body, tiling)) * COLOURS + colours[k] % COLOURS;
}

@compute @workgroup_size(64)
fn count_bins(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k < status.contacts && !is_halted() {
        if follows(contacts[k]) {
            colours[k] = colours[first_of_pair(k)];
        }
        atomicAdd(&tile_lists[bin_of(k)], 1u);
    }
}

// Contact at the first point of the manifold of a contact. It comes before the others.
fn first_of_pair(k: u32) -> u32 {
    let first = shape_b(contacts[k]) | (1u << SHAPE_BITS);
    var other = k;
    while contacts[other].b != first {
        other--;
    }
    return other;
}

// Whether a contact comes before another one in their bin: by key, but with a colour all contacts of a pair one after the other.
fn comes_before(one: u32, other: u32) -> bool {
    if !HAS_HULLS || colours[other] == SPLIT || contacts[one].a != contacts[other].a {
        return one < other;
    }
    let shapes = vec2u(shape_b(contacts[one]), shape_b(contacts[other]));
    return select(shapes.x < shapes.y, one < other, shapes.x == shapes.y);
}

// Lists the contacts by bin. After the scan `tile_lists` holds the start of each bin; filling moves it to the end.
@compute @workgroup_size(64)
fn fill_bins(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k < status.contacts && !is_halted() {
        binned[atomicAdd(&tile_lists[bin_of(k)], 1u)] = k;
    }
}

fn end_of_bin(bin: u32) -> u32 {
    return atomicLoad(&tile_lists[bin]);
}

fn start_of_bin(bin: u32) -> u32 {
    if bin == 0u {
        return 0u;
    }
    return end_of_bin(bin - 1u);
}

// Gives each contact its place: in its bin after those that come before it. The first of a bin notes its colour.
@compute @workgroup_size(64)
fn order_bins(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let bin = bin_of(k);
    let start = start_of_bin(bin);
    var place = start;
    for (var other = start; other < end_of_bin(bin); other++) {
        place += select(0u, 1u, comes_before(binned[other], k));
    }
    contacts[k].place = place;
    if place == start && colours[k] != SPLIT {
        atomicOr(&status.colours, 1u << colours[k]);
    }
}

// Finds the numbers of contacts with colours of the first tiling and of both.
@compute @workgroup_size(1)
fn find_starts() {
    if is_halted() || !searches() {
        return;
    }
    status.tiles = tiles();
    status.tiled = start_of_bin(tiles() * COLOURS);
    status.coloured = start_of_bin(tiles() * SPLIT);
    status.overflow = status.contacts - status.coloured;
    status.sides = 0u;
    if status.overflow > params.overflow_capacity {
        atomicOr(&status.halted, HALT_OVERFLOW);
    } else {
        plan(ARGUMENTS_OVERFLOW, status.overflow);
        plan(ARGUMENTS_SIDES, max(bodies(), status.overflow));
        plan(ARGUMENTS_UNCOLOURED, status.overflow);
    }
}
