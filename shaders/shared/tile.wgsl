// Tiles of bodies, as the colouring sees them: of each of the two tilings, see tiles.wgsl.

// Three words per body: bits of the colours in use, its tile in the first tiling, its tile in the second.
@group(0) @binding(6) var<storage, read_write> used: array<atomic<u32>>;

fn tile_of(body: u32, tiling: u32) -> u32 {
    return atomicLoad(&used[3u * body + 1u + tiling]);
}
