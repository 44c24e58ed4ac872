// Launch of many worlds at once: the size of a dispatch is the largest that any of its worlds has planned. Workgroups beyond the
// size that their own world has planned do nothing.

@group(0) @binding(0) var<uniform> launch: Launch;
@group(0) @binding(1) var<storage, read> arguments: array<u32>;         // by world: sizes that its kernels have planned
@group(0) @binding(2) var<storage, read_write> launches: array<u32>;    // sizes of the launch, like `arguments` of one world
@group(0) @binding(3) var<storage, read_write> launched: array<u32>;    // see Launch

// Place of a dispatch in a launch of many worlds. `launched` holds the number of worlds in the launch, then their slots (room for
// 2^bits), then by slot the number of workgroups that the world has planned at each place of `arguments`.
struct Launch {
    place: u32,                // place of the dispatch in `arguments`; NONE: a size that the host knows
    bits: u32,                 // power of two of the number of slots
}

var<workgroup> most: array<atomic<u32>, 2>;

// Finds the size of a dispatch, one workgroup each.
@compute @workgroup_size(64)
fn size_launch(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let part = arrayLength(&arguments) >> launch.bits;
    if lane < 2u {
        atomicStore(&most[lane], 0u);
    }
    workgroupBarrier();
    for (var i = lane; i < launched[0]; i += 64u) {
        let slot = launched[1u + i];
        let width = arguments[slot * part + 3u * group.x];
        let height = arguments[slot * part + 3u * group.x + 1u];
        launched[1u + (1u << launch.bits) + slot * PLACES + group.x] = width * height;
        atomicMax(&most[0], width);
        atomicMax(&most[1], height);
    }
    workgroupBarrier();
    if lane == 0u {
        launches[3u * group.x] = atomicLoad(&most[0]);
        launches[3u * group.x + 1u] = atomicLoad(&most[1]);
        launches[3u * group.x + 2u] = launched[0];
    }
}
