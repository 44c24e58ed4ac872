// Broadphase: contacts = pairs of shapes closer than the skin, by a grid of cells for each size of grains.
// Twin: src/cpu/broadphase.rs.
//
// Spheres of grains are sorted by size into levels (src/model/levels.rs): each is in a cell about as wide as itself,
// and looks only for partners as large or larger, in its own level and those above. A cell of level l is 2^l cells
// of level 0 wide, which are those that positions are anchored to.
//
// Cells are hashed row by row into buckets, so the grid needs no bounds: a compact scene maps without
// collisions, a scattered one wraps around, and a sphere is paired only when its cell is the one looked
// for. Along a periodic axis a whole number of cells of every level makes up the period, and the last
// is a neighbour of the first. A counting sort fills the buckets in whatever order its atomics leave. Vertices
// stand before the spheres of grains and own their contacts with surfaces. Each sphere owns its contacts with surfaces and
// with those spheres of other grains that it comes before. They are found once, counted and remembered; then they are stored in ascending order at
// a place that a prefix sum gives. (To look for them a second time took twice as long as the first.)

@group(0) @binding(2) var<storage, read> poses: array<Pose>;
@group(0) @binding(3) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> bucket_ends: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> entries: array<Entry>;        // spheres, bucket by bucket
@group(0) @binding(7) var<storage, read_write> contact_starts: array<u32>;  // per vertex and sphere, then the total
@group(0) @binding(8) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(10) var<storage, read_write> travel: array<f32>;         // per boundary, then per sphere, since the last search [m]
@group(0) @binding(11) var<storage, read_write> found: array<u32>;          // the first partners of each owner, as shapes

// What the search needs of a sphere, side by side for those of a bucket.
struct Entry {
    cell: vec3i,
    sphere: u32,
    offset: vec3f,
    radius: f32,
}

// Partners that are remembered from counting to storing, where there is room; an owner with more looks for them again.
const REMEMBERED = 16u;

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

// A ball with its place in the cell that it is nearest to the centre of.
fn anchored_ball(index: u32) -> Ball {
    var ball = ball_at(index);
    if HAS_RIGID {
        let cells = round(ball.pose.offset / params.cell_size);
        ball.pose.cell = wrap_cell(ball.pose.cell + vec3i(cells));
        ball.pose.offset -= cells * params.cell_size;
    }
    return ball;
}

fn bucket_of_ball(ball: Ball) -> u32 {
    let level = level_of(ball.radius);
    return bucket_of(cell_of_level(ball.pose.cell, level), level);
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
    let sphere = params.vertices + flat(invocation);
    if sphere >= balls() || is_halted() {
        return;
    }
    if is_removed(spheres[sphere]) {
        contact_starts[sphere] = 0u;
        return;
    }
    atomicAdd(&bucket_ends[bucket_of_ball(anchored_ball(sphere))], 1u);
    travel[params.boundaries + sphere - params.vertices] = 0.0;
}

// After the scan `bucket_ends` holds where each bucket starts; filling moves it to where it ends.
@compute @workgroup_size(64)
fn fill_cells(@builtin(global_invocation_id) invocation: vec3u) {
    let sphere = params.vertices + flat(invocation);
    if sphere >= balls() || is_halted() || is_removed(spheres[sphere]) {
        return;
    }
    let ball = anchored_ball(sphere);
    let slot = atomicAdd(&bucket_ends[bucket_of_ball(ball)], 1u);
    entries[slot] = Entry(ball.pose.cell, sphere, ball.pose.offset, ball.radius);
}

fn bucket_start(bucket: u32) -> u32 {
    if bucket == 0u {
        return 0u;
    }
    return atomicLoad(&bucket_ends[bucket - 1u]);
}

fn is_near_surface(ball: Ball, surface: Surface) -> bool {
    let touch = touch_surface(surface, poses[surface.body], ball.pose, ball.contact_radius);
    return touch.near && touch.length - ball.radius < 2.0 * params.reach * ball.contact_radius;
}

// Cells of a level that follow each other along x, and so do their buckets.
struct Run {
    first: vec3i,
    count: u32,
    level: u32,
}

// Whether an entry is a partner that `owner` owns and stands in one of the cells of a run. Most are too far away: that
// comes first.
fn is_partner(owner: u32, ball: Ball, other: Entry, run: Run) -> bool {
    let apart = between_places(other, ball.pose);
    let reach = (ball.radius + other.radius) * (1.0 + params.reach);
    if dot(apart, apart) >= reach * reach {
        return false;
    }
    if HAS_SIZES && level_of(other.radius) != run.level {
        return false;
    }
    let from_first = cell_of_level(other.cell, run.level) - run.first;
    return comes_first(owner, ball.radius, other.sphere, other.radius) && is_of_another_body(owner, other.sphere)
        && bitcast<u32>(from_first.x) < run.count && all(from_first.yz == vec2i(0));
}

fn between_places(entry: Entry, pose: Pose) -> vec3f {
    var from_pose: Pose;
    from_pose.cell = entry.cell;
    from_pose.offset = entry.offset;
    return between(from_pose, pose);
}

// The smaller one of two spheres owns their contact, of two of the same radius that with the smaller index.
fn comes_first(sphere: u32, radius: f32, other: u32, other_radius: f32) -> bool {
    return radius < other_radius || (radius == other_radius && sphere < other);
}

fn is_of_another_body(sphere: u32, other: u32) -> bool {
    return !HAS_RIGID || spheres[sphere].body != spheres[other].body;
}

// Spheres in the buckets: all but those that were removed.
fn sorted_spheres() -> u32 {
    if HAS_SINKS {
        return atomicLoad(&bucket_ends[params.bucket_mask]);
    }
    return params.spheres;
}

// Spheres in a run of cells, as a range of places in `entries`. A run that wraps around the table
// is read to its end and goes on at the beginning, so the range may pass the number of grains once.
fn places_of_run(run: Run) -> vec2u {
    if run.count == 0u {
        return vec2u(0u);
    }
    let first = bucket_of(run.first, run.level);
    let last = (first + run.count - 1u) & params.bucket_mask;
    let start = bucket_start(first);
    let end = atomicLoad(&bucket_ends[last]);
    return vec2u(start, select(end, end + sorted_spheres(), last < first));
}

// The entry at a place of such a range.
fn entry_at(place: u32) -> Entry {
    let count = sorted_spheres();
    return entries[select(place, place - count, place >= count)];
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
    let reach = (1.0 + params.reach) * ball.radius / params.cell_size + 0.5 * f32(1u << level) + CELL_SLACK;
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

// A row of a block, or where the end of a period cuts it, one of its two parts.
fn run_at(block: Block, row: vec2i, beyond: bool) -> Run {
    let half = half_of_row(block, row);
    if half < 0.0 {
        return Run(vec3i(0), 0u, block.level);
    }
    let low = first_cell(block.centre, block.place - half, block.level).x;
    let cells = last_cell(block.centre, block.place + half, block.level).x - low + 1;
    return part_of_row(vec3i(low, row), u32(cells), block.level, beyond);
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

// Vertices, then spheres in the order of the buckets: those of a workgroup are of one level and look at the same others.
fn owner_at(index: u32) -> u32 {
    if is_vertex(index) {
        return index;
    }
    let place = index - params.vertices;
    if place >= sorted_spheres() {
        return NONE;
    }
    return entries[place].sphere;
}

// Like `store_pairs` planned only in a step that goes on, so neither asks whether it has halted.
@compute @workgroup_size(64)
fn count_pairs(@builtin(global_invocation_id) invocation: vec3u) {
    let index = flat(invocation);
    if index == 0u {
        contact_starts[balls()] = 0u;
    }
    let owner = owner_at(index);
    if owner != NONE {
        contact_starts[owner] = find_partners(memory_of(owner, index));
    }
}

// Where what an owner finds is put: from `first` on in the list of contacts, in ascending order, or remembered.
struct Shelf {
    owner: u32,
    is_list: bool,
    first: u32,
    room: u32,
}

fn memory_of(owner: u32, index: u32) -> Shelf {
    let room = min(REMEMBERED, arrayLength(&found) / balls());
    return Shelf(owner, false, index * room, room);
}

fn put(shelf: Shelf, count: u32, partner: u32) {
    if shelf.is_list {
        insert(shelf.first, shelf.first + count, params.surfaces + shelf.owner, partner);
    } else if count < shelf.room {
        found[shelf.first + count] = partner;
    }
}

// Puts the partners of an owner on a shelf, and returns how many they are.
fn find_partners(shelf: Shelf) -> u32 {
    let owner = shelf.owner;
    let ball = anchored_ball(owner);
    var count = 0u;
    for (var index = 0u; index < params.surfaces; index++) {
        if is_patch(index) {
            count = find_patches(shelf, count, ball, index);
            index = patch_at(index).surfaces.y - 1u;
            continue;
        }
        let surface = surface_at(index);
        if meets(owner, surface) && is_near_surface(ball, surface) {
            put(shelf, count, index);
            count++;
        }
    }
    if is_vertex(owner) {
        return count;
    }
    for (var levels = levels_from(level_of(ball.radius)); levels != 0u; levels &= levels - 1u) {
        let block = cells_around(ball, countTrailingZeros(levels));
        let end = block.low.yz + block.rows;
        for (var z = block.low.z; z < end.y; z++) {
            for (var y = block.low.y; y < end.x; y++) {
                for (var part = 0u; part < parts_of_rows(); part++) {
                    let run = run_at(block, vec2i(y, z), part == 1u);
                    let places = places_of_run(run);
                    for (var place = places.x; place < places.y; place++) {
                        let other = entry_at(place);
                        if is_partner(owner, ball, other, run) {
                            put(shelf, count, params.surfaces + other.sphere);
                            count++;
                        }
                    }
                }
            }
        }
    }
    return count;
}

// Puts those patches of a mesh on a shelf that a ball is near to, after `found_before` partners; returns how many there are then.
// `patch_index` is one of these. Of the triangles of a patch the first one within reach decides.
fn find_patches(shelf: Shelf, found_before: u32, ball: Ball, patch_index: u32) -> u32 {
    let surface = surface_at(patch_index);
    let first = patch_at(patch_index).surfaces.x;
    if !meets(shelf.owner, surface) {
        return found_before;
    }
    let point = in_frame_of(surface, poses[surface.body], ball.pose);
    let reach = ball.radius + 2.0 * params.reach * ball.contact_radius;
    var count = found_before;
    var node = surfaces[surface.spare].x;
    let end = surfaces[surface.spare].y;
    while node < end {
        if distance_to_box_squared(node, point) >= reach * reach {
            node = surfaces[node].w;
            continue;
        }
        let leaf = leaf_at(node);
        node += 2u;
        for (var i = 0u; i < leaf.y; i++) {
            let block = leaf.x + 4u * i;
            let apart = point - nearest_on_triangle(point, triangle_at(block)).point;
            if dot(apart, apart) < reach * reach {
                let index = first + surfaces[block].w;
                put(shelf, count, index);
                count++;
                node = patch_at(index).boxes.y;
                break;
            }
        }
    }
    return count;
}

// Parts that a row of cells may be in: the end of a period may cut it.
fn parts_of_rows() -> u32 {
    if HAS_PERIOD {
        return select(1u, 2u, params.periods.x > 0);
    }
    return 1u;
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
    plan(ARGUMENTS_STORED, select(0u, balls(), count > 0u));
}

// Planned only where there is room for all, so it does not ask whether the step has halted.
@compute @workgroup_size(64)
fn store_pairs(@builtin(global_invocation_id) invocation: vec3u) {
    let index = flat(invocation);
    let owner = owner_at(index);
    if owner == NONE {
        return;
    }
    let first = contact_starts[owner];
    let count = contact_starts[owner + 1u] - first;
    let memory = memory_of(owner, index);
    if count > memory.room {
        find_partners(Shelf(owner, true, first, count));
        return;
    }
    for (var i = 0u; i < count; i++) {
        let partner = found[memory.first + i];
        var place = first;
        for (var other = 0u; other < count; other++) {
            place += select(0u, 1u, found[memory.first + other] < partner);
        }
        contacts[place] = Contact(params.surfaces + owner, partner, NONE, NONE);
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
