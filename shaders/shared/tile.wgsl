// Marks of bodies for the colouring, and their tiles in each of the two tilings, see tiles.wgsl.

struct Mark {
    used: atomic<u32>,                // colours in use, as bits
    tiles: array<u32, 2>,             // tile in the first and in the second tiling
    best: array<atomic<u32>, 4>,      // highest priority at the body: in each tiling, for alternate rounds of the colouring
}
@group(0) @binding(6) var<storage, read_write> marks: array<Mark>;

fn tile_of(body: u32, tiling: u32) -> u32 {
    return marks[body].tiles[tiling];
}
