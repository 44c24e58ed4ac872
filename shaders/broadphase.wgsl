// Broadphase: contacts = pairs of shapes closer than the margin, by a grid of cells as wide as the
// largest grain. Twin: src/reference/broadphase.rs.
//
// Cells are hashed row by row into buckets, so the grid needs no bounds: a compact scene maps without
// collisions, a scattered one wraps around, and a grain is paired only when its cell is the one looked
// for. Along a periodic axis a whole number of cells, three or more, makes up the period, and the last
// is a neighbour of the first. A counting sort fills the buckets; whatever order its atomics leave is undone by
// sorting each bucket by id. Corners of free boundaries stand before the grains and own their contacts with
// surfaces. Each grain owns its contacts with surfaces and with grains of a larger id, stored in
// ascending order at a place that a prefix sum gives.

@group(0) @binding(2) var<storage, read> poses: array<Pose>;
@group(0) @binding(3) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read> surfaces: array<Surface>;
@group(0) @binding(5) var<storage, read_write> bucket_ends: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> bucket_grains: array<u32>;
@group(0) @binding(7) var<storage, read_write> contact_starts: array<u32>;  // per corner and grain, then the total
@group(0) @binding(8) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(10) var<storage, read_write> travel: array<f32>;         // per grain, since the last search [m]

fn bucket_of(cell: vec3i) -> u32 {
    return bitcast<u32>(cell.x + cell.y * params.stride_y + cell.z * params.stride_z) & params.bucket_mask;
}

@compute @workgroup_size(64)
fn clear_buckets(@builtin(global_invocation_id) invocation: vec3u) {
    let bucket = flat(invocation);
    if bucket <= params.bucket_mask {
        atomicStore(&bucket_ends[bucket], 0u);
    }
}

@compute @workgroup_size(64)
fn count_cells(@builtin(global_invocation_id) invocation: vec3u) {
    let grain = params.corners + flat(invocation);
    if grain >= balls() || is_halted() || is_removed(spheres[grain]) {
        return;
    }
    atomicAdd(&bucket_ends[bucket_of(poses[spheres[grain].body].cell)], 1u);
    travel[grain - params.corners] = 0.0;
}

// After the scan `bucket_ends` holds where each bucket starts; filling moves it to where it ends.
@compute @workgroup_size(64)
fn fill_cells(@builtin(global_invocation_id) invocation: vec3u) {
    let grain = params.corners + flat(invocation);
    if grain >= balls() || is_halted() || is_removed(spheres[grain]) {
        return;
    }
    let slot = atomicAdd(&bucket_ends[bucket_of(poses[spheres[grain].body].cell)], 1u);
    bucket_grains[slot] = grain;
}

fn bucket_start(bucket: u32) -> u32 {
    if bucket == 0u {
        return 0u;
    }
    return atomicLoad(&bucket_ends[bucket - 1u]);
}

// Insertion sort of each bucket by id.
@compute @workgroup_size(64)
fn sort_cells(@builtin(global_invocation_id) invocation: vec3u) {
    let bucket = flat(invocation);
    if bucket > params.bucket_mask || is_halted() {
        return;
    }
    let start = bucket_start(bucket);
    let end = atomicLoad(&bucket_ends[bucket]);
    for (var i = start + 1u; i < end; i++) {
        let grain = bucket_grains[i];
        var j = i;
        while j > start && bucket_grains[j - 1u] > grain {
            bucket_grains[j] = bucket_grains[j - 1u];
            j--;
        }
        bucket_grains[j] = grain;
    }
}

fn is_near_surface(ball: Ball, surface: Surface) -> bool {
    let touch = touch_surface(surface, poses[surface.body], ball.pose, ball.contact_radius);
    return touch.near && touch.length - ball.radius < 2.0 * params.margin * ball.contact_radius;
}

// Cells that follow each other along x, and so do their buckets.
struct Run {
    first: vec3i,
    count: u32,
}

// Whether `other` is a partner that `grain` owns and stands in one of the cells of a run.
fn is_near_grain(grain: u32, pose: Pose, radius: f32, other: u32, run: Run) -> bool {
    if other <= grain {
        return false;
    }
    let sphere = spheres[other];
    let from_first = poses[sphere.body].cell - run.first;
    if bitcast<u32>(from_first.x) >= run.count || any(from_first.yz != vec2i(0)) {
        return false;
    }
    let apart = between(poses[sphere.body], pose);
    let reach = (radius + sphere.radius) * (1.0 + params.margin);
    return dot(apart, apart) < reach * reach;
}

// Grains in the buckets: all but those that were removed.
fn sorted_grains() -> u32 {
    if HAS_SINKS {
        return atomicLoad(&bucket_ends[params.bucket_mask]);
    }
    return params.grains;
}

// Grains in a run of cells, as a range of places in `bucket_grains`. A run that wraps around the table
// is read to its end and goes on at the beginning, so the range may pass the number of grains once.
fn places_of_run(run: Run) -> vec2u {
    if run.count == 0u {
        return vec2u(0u);
    }
    let first = bucket_of(run.first);
    let last = (first + run.count - 1u) & params.bucket_mask;
    let start = bucket_start(first);
    let end = atomicLoad(&bucket_ends[last]);
    return vec2u(start, select(end, end + sorted_grains(), last < first));
}

fn grain_at(place: u32) -> u32 {
    let count = sorted_grains();
    return bucket_grains[select(place, place - count, place >= count)];
}

// Runs that make up a cell and the 26 around it: nine rows of three cells, in two parts each where the
// end of a period along x may cut them.
fn run_count() -> u32 {
    if HAS_PERIOD {
        return select(9u, 18u, params.periods.x > 0);
    }
    return 9u;
}

fn run_around(cell: vec3i, index: u32) -> Run {
    let row = index % 9u;
    let first = wrap_cell(cell + vec3i(0, i32(row % 3u) - 1, i32(row / 3u) - 1)) - vec3i(1, 0, 0);
    if HAS_PERIOD && params.periods.x > 0 {
        return part_of_row(first, index / 9u);
    }
    return Run(first, 3u);
}

// The longer part of a row of three cells, or what the end of the period along x cuts off.
fn part_of_row(first: vec3i, part: u32) -> Run {
    let last_x = params.periods.x - 1;
    if first.x < 0 {
        return select_run(part, Run(vec3i(0, first.yz), 2u), Run(vec3i(last_x, first.yz), 1u));
    }
    if first.x + 2 > last_x {
        return select_run(part, Run(first, 2u), Run(vec3i(0, first.yz), 1u));
    }
    return select_run(part, Run(first, 3u), Run(first, 0u));
}

fn select_run(part: u32, longer: Run, rest: Run) -> Run {
    if part == 0u {
        return longer;
    }
    return rest;
}

@compute @workgroup_size(64)
fn count_pairs(@builtin(global_invocation_id) invocation: vec3u) {
    let owner = flat(invocation);
    if owner > balls() || is_halted() {
        return;
    }
    if owner == balls() || (!is_corner(owner) && is_removed(spheres[owner])) {
        contact_starts[owner] = 0u;
        return;
    }
    let ball = ball_at(owner);
    var count = 0u;
    for (var surface = 0u; surface < params.surfaces; surface++) {
        if meets(owner, surfaces[surface]) && is_near_surface(ball, surfaces[surface]) {
            count++;
        }
    }
    if is_corner(owner) {
        contact_starts[owner] = count;
        return;
    }
    for (var i = 0u; i < run_count(); i++) {
        let run = run_around(ball.pose.cell, i);
        let places = places_of_run(run);
        for (var place = places.x; place < places.y; place++) {
            if is_near_grain(owner, ball.pose, ball.radius, grain_at(place), run) {
                count++;
            }
        }
    }
    contact_starts[owner] = count;
}

// Announces the number of contacts, or that there is no room for them. The last list has been remembered.
@compute @workgroup_size(1)
fn plan_contacts() {
    if !searches() {
        return;
    }
    if status.listed > 0u {
        status.remembered = status.listed;
        status.listed = 0u;
    }
    var count = 0u;
    if !is_halted() {
        count = contact_starts[balls()];
        status.contacts = count;
        if count > params.contact_capacity {
            atomicOr(&status.halted, HALT_CONTACTS);
            count = 0u;
        }
    }
    plan(ARGUMENTS_CONTACTS, count);
    plan(ARGUMENTS_FOUND, count);
}

@compute @workgroup_size(64)
fn store_pairs(@builtin(global_invocation_id) invocation: vec3u) {
    let owner = flat(invocation);
    if owner >= balls() || is_halted() || (!is_corner(owner) && is_removed(spheres[owner])) {
        return;
    }
    let ball = ball_at(owner);
    let shape = params.surfaces + owner;
    var next = contact_starts[owner];
    for (var surface = 0u; surface < params.surfaces; surface++) {
        if meets(owner, surfaces[surface]) && is_near_surface(ball, surfaces[surface]) {
            contacts[next] = Contact(shape, surface, NONE, NONE);
            next++;
        }
    }
    if is_corner(owner) {
        return;
    }
    let first = next;
    for (var i = 0u; i < run_count(); i++) {
        let run = run_around(ball.pose.cell, i);
        let places = places_of_run(run);
        for (var place = places.x; place < places.y; place++) {
            let other = grain_at(place);
            if is_near_grain(owner, ball.pose, ball.radius, other, run) {
                insert(first, next, shape, params.surfaces + other);
                next++;
            }
        }
    }
}

// Puts a contact into the ascending run from `first` up to `next`.
fn insert(first: u32, next: u32, a: u32, b: u32) {
    var i = next;
    while i > first && contacts[i - 1u].b > b {
        contacts[i] = contacts[i - 1u];
        i--;
    }
    contacts[i] = Contact(a, b, NONE, NONE);
}
