// Broadphase: contacts = pairs of shapes closer than the margin, by a grid of cells for each size of grains.
// Twin: src/reference/broadphase.rs.
//
// Grains are sorted by size into levels (src/world/levels.rs): a grain is in a cell about as wide as itself,
// and looks only for partners as large or larger, in its own level and those above. A cell of level l is 2^l cells
// of level 0 wide, which are those that positions are anchored to.
//
// Cells are hashed row by row into buckets, so the grid needs no bounds: a compact scene maps without
// collisions, a scattered one wraps around, and a grain is paired only when its cell is the one looked
// for. Along a periodic axis a whole number of cells of every level makes up the period, and the last
// is a neighbour of the first. A counting sort fills the buckets; whatever order its atomics leave is undone by
// sorting each bucket by id. Corners of free boundaries stand before the grains and own their contacts with
// surfaces. Each grain owns its contacts with surfaces and with grains that it comes before, stored in
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

// Whether the scene has grains of different sizes; otherwise they make one level.
override HAS_SIZES: bool = true;

// Keeps the levels apart in the table: an odd number without a pattern.
const LEVEL_STRIDE = 0x9e3779b9u;

// The lowest level in use that is wide enough for a grain. Exact: the bits of a number twice as large are one
// exponent further.
fn level_of(radius: f32) -> u32 {
    if !HAS_SIZES {
        return 0u;
    }
    let above = max(bitcast<i32>(radius) - bitcast<i32>(params.level_radius), 0);
    return countTrailingZeros(levels_from((u32(above) + 0x7fffffu) >> 23u));
}

// Levels that hold grains, from one on, as bits.
fn levels_from(level: u32) -> u32 {
    if !HAS_SIZES {
        return 1u;
    }
    return (params.levels >> level) << level;
}

// The cell of a level in which a cell of level 0 is.
fn cell_of_level(cell: vec3i, level: u32) -> vec3i {
    if !HAS_SIZES {
        return cell;
    }
    return cell >> vec3u(level);
}

fn bucket_of(cell: vec3i, level: u32) -> u32 {
    let hash = bitcast<u32>(cell.x + cell.y * params.stride_y + cell.z * params.stride_z);
    return (hash + level * LEVEL_STRIDE) & params.bucket_mask;
}

fn bucket_of_grain(grain: u32) -> u32 {
    let level = level_of(spheres[grain].radius);
    return bucket_of(cell_of_level(poses[spheres[grain].body].cell, level), level);
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
    if grain >= balls() || is_halted() {
        return;
    }
    if is_removed(spheres[grain]) {
        contact_starts[grain] = 0u;
        return;
    }
    atomicAdd(&bucket_ends[bucket_of_grain(grain)], 1u);
    travel[grain - params.corners] = 0.0;
}

// After the scan `bucket_ends` holds where each bucket starts; filling moves it to where it ends.
@compute @workgroup_size(64)
fn fill_cells(@builtin(global_invocation_id) invocation: vec3u) {
    let grain = params.corners + flat(invocation);
    if grain >= balls() || is_halted() || is_removed(spheres[grain]) {
        return;
    }
    let slot = atomicAdd(&bucket_ends[bucket_of_grain(grain)], 1u);
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

// Cells of a level that follow each other along x, and so do their buckets.
struct Run {
    first: vec3i,
    count: u32,
    level: u32,
}

// Whether `other` is a partner that `grain` owns and stands in one of the cells of a run. Most are too far away: that
// comes first.
fn is_near_grain(grain: u32, pose: Pose, radius: f32, other: u32, run: Run) -> bool {
    if other == grain || (!HAS_SIZES && other < grain) {
        return false;
    }
    let sphere = spheres[other];
    let other_pose = poses[sphere.body];
    let apart = between(other_pose, pose);
    let reach = (radius + sphere.radius) * (1.0 + params.margin);
    if dot(apart, apart) >= reach * reach {
        return false;
    }
    if HAS_SIZES && (level_of(sphere.radius) != run.level || !comes_first(grain, radius, other, sphere.radius)) {
        return false;
    }
    let from_first = cell_of_level(other_pose.cell, run.level) - run.first;
    return bitcast<u32>(from_first.x) < run.count && all(from_first.yz == vec2i(0));
}

// The smaller one of two grains owns their contact, of two of the same radius that with the smaller id.
fn comes_first(grain: u32, radius: f32, other: u32, other_radius: f32) -> bool {
    return radius < other_radius || (radius == other_radius && grain < other);
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
    let first = bucket_of(run.first, run.level);
    let last = (first + run.count - 1u) & params.bucket_mask;
    let start = bucket_start(first);
    let end = atomicLoad(&bucket_ends[last]);
    return vec2u(start, select(end, end + sorted_grains(), last < first));
}

fn grain_at(place: u32) -> u32 {
    let count = sorted_grains();
    return bucket_grains[select(place, place - count, place >= count)];
}

// Cells of a level around a ball, as rows along x: those that partners of a grain may stand in.
struct Block {
    low: vec3i,
    rows: vec2i,               // along y and z
    level: u32,
    centre: vec3i,             // cell of level 0,
    place: vec3f,              // and the place in it [cells of level 0]
    reach: vec3f,              // of the contacts [cells of level 0]
}

// More than all roundings [cells of level 0].
const CELL_SLACK = 0.01;
const ANYWHERE = 1e9;

fn cells_around(ball: Ball, level: u32) -> Block {
    let place = ball.pose.offset / params.cell_size;
    // That of the others is half a cell at most.
    let reach = (1.0 + params.margin) * ball.radius / params.cell_size + 0.5 * f32(1u << level) + CELL_SLACK;
    let low = first_cell(ball.pose.cell, place - reach, level);
    let rows = (last_cell(ball.pose.cell, place + reach, level) - low).yz + 1;
    return block_of(Block(low, rows, level, ball.pose.cell, place, reach));
}

// No cell twice: around a short period the block is cut to its length, and any row may be within reach.
fn block_of(block: Block) -> Block {
    if !HAS_PERIOD {
        return block;
    }
    let periods = periods_of_level(block.level).yz;
    let is_cut = (block.rows > periods) & is_periodic().yz;
    return Block(block.low, select(block.rows, periods, is_cut), block.level, block.centre, block.place,
        vec3f(block.reach.x, select(block.reach.yz, vec2f(ANYWHERE), is_cut)));
}

// Cells of a level that hold points beside the centre of a cell of level 0, where a line comes in and goes out.
fn first_cell(centre: vec3i, place: vec3f, level: u32) -> vec3i {
    return cell_of_level(centre + vec3i(ceil(place - 0.5)), level);
}

fn last_cell(centre: vec3i, place: vec3f, level: u32) -> vec3i {
    return cell_of_level(centre + vec3i(floor(place + 0.5)), level);
}

fn periods_of_level(level: u32) -> vec3i {
    return cell_of_level(params.periods, level);
}

// Runs that make up a block: its rows along x, in two parts each where the end of a period may cut them.
fn run_count(block: Block) -> u32 {
    let rows = u32(block.rows.x * block.rows.y);
    if HAS_PERIOD {
        return select(rows, 2u * rows, params.periods.x > 0);
    }
    return rows;
}

fn run_at(block: Block, index: u32) -> Run {
    let rows = block.rows;
    let row = block.low.yz + vec2i(i32(index) % rows.x, i32(index) / rows.x % rows.y);
    let half = half_of_row(block, row);
    if half < 0.0 {
        return Run(vec3i(0), 0u, block.level);
    }
    let low = first_cell(block.centre, block.place - half, block.level).x;
    let cells = last_cell(block.centre, block.place + half, block.level).x - low + 1;
    return part_of_row(vec3i(low, row), u32(cells), block.level, index >= u32(rows.x * rows.y));
}

// Half the length of a row that is within reach [cells of level 0], negative for none.
fn half_of_row(block: Block, row: vec2i) -> f32 {
    let width = f32(1u << block.level);
    let ahead = vec2f((row << vec2u(block.level)) - block.centre.yz) - 0.5 - block.place.yz;
    let beside = max(max(ahead, -width - ahead), vec2f(0.0)) / block.reach.yz;
    let left = 1.0 - dot(beside, beside);
    return select(block.reach.x * sqrt(max(left, 0.0)), -1.0, left < 0.0);
}

// Cells of a row: up to the end of a period, or those beyond it.
fn part_of_row(low: vec3i, cells: u32, level: u32, beyond: bool) -> Run {
    if !HAS_PERIOD {
        return Run(low, cells, level);
    }
    let periods = periods_of_level(level);
    let first = wrap_into(low, periods);
    if periods.x == 0 {
        return Run(first, cells, level);
    }
    let count = min(cells, u32(periods.x));
    let uncut = min(count, u32(periods.x - first.x));
    if beyond {
        return Run(vec3i(0, first.yz), count - uncut, level);
    }
    return Run(first, uncut, level);
}

// Corners, then grains in the order of the buckets: those of a workgroup are of one level and look at the same others.
fn owner_at(index: u32) -> u32 {
    if is_corner(index) {
        return index;
    }
    let place = index - params.corners;
    if place >= sorted_grains() {
        return NONE;
    }
    return bucket_grains[place];
}

@compute @workgroup_size(64)
fn count_pairs(@builtin(global_invocation_id) invocation: vec3u) {
    if is_halted() {
        return;
    }
    if flat(invocation) == 0u {
        contact_starts[balls()] = 0u;
    }
    let owner = owner_at(flat(invocation));
    if owner == NONE {
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
    for (var levels = levels_from(level_of(ball.radius)); levels != 0u; levels &= levels - 1u) {
        let block = cells_around(ball, countTrailingZeros(levels));
        for (var i = 0u; i < run_count(block); i++) {
            let run = run_at(block, i);
            let places = places_of_run(run);
            for (var place = places.x; place < places.y; place++) {
                if is_near_grain(owner, ball.pose, ball.radius, grain_at(place), run) {
                    count++;
                }
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
    let owner = owner_at(flat(invocation));
    if owner == NONE || is_halted() {
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
    for (var levels = levels_from(level_of(ball.radius)); levels != 0u; levels &= levels - 1u) {
        let block = cells_around(ball, countTrailingZeros(levels));
        for (var i = 0u; i < run_count(block); i++) {
            let run = run_at(block, i);
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
