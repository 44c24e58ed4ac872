// Broadphase: neighbour list of the pairs of shapes with a gap within the reach, by a grid of cells for each size of grains.
// Twin: src/cpu/broadphase.rs.
//
// Spheres of grains are sorted by size into levels (src/model/levels.rs): each sphere is in a cell about as wide as itself,
// and looks only for partners as large or larger, in its own level and those above. A cell of level l is 2^l cells
// of level 0 wide. Positions are anchored to the cells of level 0.
//
// Cells are hashed row by row into buckets, so the grid needs no bounds: a compact scene maps without
// collisions, a scattered one wraps around, and a sphere is paired only if its cell is the one looked
// for. Along a periodic axis a whole number of cells of every level makes up the period, and the last
// is a neighbour of the first. A counting sort fills the buckets, in an order that depends on the atomics. Vertices
// stand before the spheres of grains and own their contacts with surfaces. Each sphere owns its contacts with surfaces and
// with those spheres of other grains that it comes before. Contacts are found once, counted and remembered; then they are stored
// in ascending order at places from a prefix sum. (A second search in place of the memory took twice as long as the first.)

@group(0) @binding(2) var<storage, read> poses: array<Pose>;
@group(0) @binding(3) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(4) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(5) var<storage, read_write> bucket_ends: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> entries: array<Entry>;        // spheres, bucket by bucket
@group(0) @binding(7) var<storage, read_write> contact_starts: array<u32>;  // per vertex and sphere, then the total
@group(0) @binding(8) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(9) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(10) var<storage, read_write> travel: array<f32>;         // per boundary, then per sphere, since the last search [m]
@group(0) @binding(11) var<storage, read_write> found: array<u32>;          // first partners of each owner, as shapes

// Sphere in its bucket of the grid, with the data that the search reads. Entries of a bucket stand side by side.
struct Entry {
    cell: vec3i,               // grid cell of level 0
    sphere: u32,               // index of the sphere
    offset: vec3f,             // position of the centre, from the centre of the cell [m]
    radius: f32,               // radius [m]
}

// Number of partners of an owner that are remembered from counting to storing, at most. An owner with more searches again. (Polyhedra have
// up to four times the contacts of spheres.)
const REMEMBERED = 16u;
const REMEMBERED_OF_HULLS = 64u;

// Largest number of triangles of a mesh of which it is asked whether a polyhedron is near them.
const MOST_TESTED = 128u;

// Whether the scene has grains of different sizes. Without them there is one level.
override HAS_SIZES: bool = true;

// Distance of the levels in the hash table: an odd number without a pattern.
const LEVEL_STRIDE = 0x9e3779b9u;

// Lowest level in use whose cells are wide enough for a sphere. The result is exact: a number twice as large has an
// exponent larger by one.
fn level_of(radius: f32) -> u32 {
    if !HAS_SIZES {
        return 0u;
    }
    let above = max(bitcast<i32>(radius) - bitcast<i32>(params.level_radius), 0);
    return countTrailingZeros(levels_from((u32(above) + 0x7fffffu) >> 23u));
}

// Bits of the levels that hold grains, from `level` on.
fn levels_from(level: u32) -> u32 {
    if !HAS_SIZES {
        return 1u;
    }
    return (params.levels >> level) << level;
}

// Cell of a level that contains a cell of level 0.
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

// Ball with its position anchored to the cell whose centre is nearest.
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

// Sorts the spheres into the buckets. After the scan `bucket_ends` holds the start of each bucket; filling moves it to the end.
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

// Largest gap of the contacts of a ball with surfaces [m].
fn margin_of(owner: u32, ball: Ball) -> f32 {
    return 2.0 * params.reach * select(ball.radius, ball.contact_radius, is_vertex(owner));
}

fn is_near_surface(owner: u32, ball: Ball, surface: Surface) -> bool {
    let touch = touch_surface(surface, poses[surface.body], ball.pose, ball.contact_radius);
    return touch.near && touch.length - ball.radius < margin_of(owner, ball);
}

// Run of cells of a level that follow each other along x. Their buckets follow each other, too.
struct Run {
    first: vec3i,
    count: u32,
    level: u32,
}

// Whether an entry stands in one of the cells of a run and makes a contact that `owner` owns. Most entries are too far away, so the
// distance is checked first.
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
        && bitcast<u32>(from_first.x) < run.count && all(from_first.yz == vec2i(0))
        && are_hulls_near(owner, ball, other, apart);
}

// Number of points of the contact of two spheres of grains; 0 where it is no manifold. Twin: World::manifold_points in src/model/solids.rs.
fn points_of(a: u32, b: u32) -> u32 {
    let hulls = vec2<bool>(is_hull(spheres[a]), is_hull(spheres[b]));
    return select(select(0u, 1u, any(hulls)), MOST_POINTS, all(hulls));
}

// Whether a polyhedron among two grains may be near enough to the other; the spheres around them are. `apart` is the vector from the entry
// to the ball. Twin: World::hulls_are_near in src/model/solids.rs.
fn are_hulls_near(owner: u32, ball: Ball, other: Entry, apart: vec3f) -> bool {
    if !HAS_HULLS || points_of(owner, other.sphere) == 0u {
        return true;
    }
    let reach = params.reach * (ball.radius + other.radius);
    let pair = pair_of(solid_of_ball(owner, ball), solid_of_ball(other.sphere, ball_at(other.sphere)), -apart);
    return may_be_near(pair, reach);
}

// Vector from the centre of an entry to a pose [m].
fn between_places(entry: Entry, pose: Pose) -> vec3f {
    var from_pose: Pose;
    from_pose.cell = entry.cell;
    from_pose.offset = entry.offset;
    return between(from_pose, pose);
}

// Whether a sphere owns its contact with another: the smaller one does, at equal radii the one of smaller index.
fn comes_first(sphere: u32, radius: f32, other: u32, other_radius: f32) -> bool {
    return radius < other_radius || (radius == other_radius && sphere < other);
}

fn is_of_another_body(sphere: u32, other: u32) -> bool {
    return !HAS_RIGID || spheres[sphere].body != spheres[other].body;
}

// Number of spheres in the buckets: all but those that were removed.
fn sorted_spheres() -> u32 {
    if HAS_SINKS {
        return atomicLoad(&bucket_ends[params.bucket_mask]);
    }
    return params.spheres;
}

// Range of the places in `entries` of the spheres in a run of cells. A run that wraps around the table goes on at the beginning of
// the table, so the range may pass the number of sorted spheres once.
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

// Entry at a place of such a range.
fn entry_at(place: u32) -> Entry {
    let count = sorted_spheres();
    return entries[select(place, place - count, place >= count)];
}

// Block of cells of a level around a ball, as rows along x, in which its partners may stand.
struct Block {
    low: vec3i,                // lowest cell
    rows: vec2i,               // number of rows along y and z
    level: u32,
    centre: vec3i,             // cell of level 0 of the ball
    place: vec3f,              // position of the ball in that cell [cells of level 0]
    reach: vec3f,              // reach of the contacts [cells of level 0]
}

// Slack that exceeds all roundings [cells of level 0].
const CELL_SLACK = 0.01;
const ANYWHERE = 1e9;

fn cells_around(ball: Ball, level: u32) -> Block {
    let place = ball.pose.offset / params.cell_size;
    // The share of a partner, (1 + reach) times its radius, is at most half a cell of its level.
    let reach = (1.0 + params.reach) * ball.radius / params.cell_size + 0.5 * f32(1u << level) + CELL_SLACK;
    let low = first_cell(ball.pose.cell, place - reach, level);
    let rows = (last_cell(ball.pose.cell, place + reach, level) - low).yz + 1;
    return block_of(Block(low, rows, level, ball.pose.cell, place, reach));
}

// Cuts a block to the length of a short period, so that no cell comes twice. Then any row may be within reach.
fn block_of(block: Block) -> Block {
    if !HAS_PERIOD {
        return block;
    }
    let periods = periods_of_level(block.level).yz;
    let is_cut = (block.rows > periods) & is_periodic().yz;
    return Block(block.low, select(block.rows, periods, is_cut), block.level, block.centre, block.place,
        vec3f(block.reach.x, select(block.reach.yz, vec2f(ANYWHERE), is_cut)));
}

// Cell of a level that contains the point at `place` from the centre of the cell `centre` of level 0. Of two cells that share the point
// `first_cell` returns the lower one, `last_cell` the upper one.
fn first_cell(centre: vec3i, place: vec3f, level: u32) -> vec3i {
    return cell_of_level(centre + vec3i(ceil(place - 0.5)), level);
}

fn last_cell(centre: vec3i, place: vec3f, level: u32) -> vec3i {
    return cell_of_level(centre + vec3i(floor(place + 0.5)), level);
}

fn periods_of_level(level: u32) -> vec3i {
    return cell_of_level(params.periods, level);
}

// Run of cells in a row of a block. If the end of a period cuts the row: the part up to it, or the part `beyond`.
fn run_at(block: Block, row: vec2i, beyond: bool) -> Run {
    let half = half_of_row(block, row);
    if half < 0.0 {
        return Run(vec3i(0), 0u, block.level);
    }
    let low = first_cell(block.centre, block.place - half, block.level).x;
    let cells = last_cell(block.centre, block.place + half, block.level).x - low + 1;
    return part_of_row(vec3i(low, row), u32(cells), block.level, beyond);
}

// Half length of the part of a row that is within reach [cells of level 0]; negative: none of it is.
fn half_of_row(block: Block, row: vec2i) -> f32 {
    let width = f32(1u << block.level);
    let ahead = vec2f((row << vec2u(block.level)) - block.centre.yz) - 0.5 - block.place.yz;
    let beside = max(max(ahead, -width - ahead), vec2f(0.0)) / block.reach.yz;
    let left = 1.0 - dot(beside, beside);
    return select(block.reach.x * sqrt(max(left, 0.0)), -1.0, left < 0.0);
}

// Run of the cells of a row up to the end of a period, or of those beyond it.
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

// Owner of contacts at an index: vertices, then spheres in the order of the buckets. So the spheres of a workgroup are of one level and
// look at the same others.
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

// Counts the partners of each owner and remembers the first ones. Like `store_pairs` it is planned only in a step that has not
// halted, so it does not check that.
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

// Destination of the partners of an owner, from `first` on: the list of contacts, in ascending order, or the memory `found`.
struct Shelf {
    owner: u32,
    is_list: bool,
    first: u32,
    room: u32,
}

// Part of the memory `found` for an owner.
fn memory_of(owner: u32, index: u32) -> Shelf {
    let room = min(select(REMEMBERED, REMEMBERED_OF_HULLS, HAS_HULLS), arrayLength(&found) / balls());
    return Shelf(owner, false, index * room, room);
}

fn put(shelf: Shelf, count: u32, partner: u32) {
    if shelf.is_list {
        insert(shelf.first, shelf.first + count, params.surfaces + shelf.owner, partner);
    } else if count < shelf.room {
        found[shelf.first + count] = partner;
    }
}

// Puts the contacts of an owner with a shape on its shelf, after `count` others; returns the new number. There is one at each point of a
// manifold, and one where it has none.
fn put_contacts(shelf: Shelf, count: u32, shape: u32, points: u32) -> u32 {
    if points == 0u {
        put(shelf, count, shape);
        return count + 1u;
    }
    for (var point = 0u; point < MOST_POINTS; point++) {
        // (With a number of turns that differs, and so many loops around it, lavapipe lost some.)
        if point < points {
            put(shelf, count + point, shape | ((point + 1u) << SHAPE_BITS));
        }
    }
    return count + points;
}

// Number of points of the contacts of an owner with surfaces.
fn points_on_surfaces(owner: u32) -> u32 {
    return select(0u, MOST_POINTS, stands_for_solid(owner));
}

// Puts the partners of an owner on its shelf, and returns their number.
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
        if meets(owner, surface) && is_near_surface(owner, ball, surface) {
            count = put_contacts(shelf, count, index, points_on_surfaces(owner));
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
                            count = put_contacts(shelf, count, params.surfaces + other.sphere, points_of(owner, other.sphere));
                        }
                    }
                }
            }
        }
    }
    return count;
}

// Puts the patches of a mesh that are within reach of a ball on a shelf, after `found_before` partners; returns the new number of
// partners. `patch_index` is a patch of the mesh. One triangle within reach is enough for a patch. To a solid a mesh is one solid, for
// which its first patch stands.
fn find_patches(shelf: Shelf, found_before: u32, ball: Ball, patch_index: u32) -> u32 {
    let surface = surface_at(patch_index);
    let first = patch_at(patch_index).surfaces.x;
    if !meets(shelf.owner, surface) {
        return found_before;
    }
    let point = in_frame_of(surface, poses[surface.body], ball.pose);
    // A vertex inside of a solid is held up to its contact radius.
    let deeper = select(0.0, max(ball.contact_radius - ball.radius, 0.0), is_solid(patch_index));
    let reach = ball.radius + deeper + margin_of(shelf.owner, ball);
    var count = found_before;
    var tested = 0u;
    var node = surfaces[surface.head].x;
    let end = surfaces[surface.head].y;
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
                if stands_for_solid(shelf.owner) && !is_facet(patch_index) {
                    return put_contacts(shelf, found_before, first, MOST_POINTS);
                }
                // After many that are not, a triangle counts as near: lavapipe ends long loops.
                if is_facet(patch_index) && tested < MOST_TESTED {
                    tested++;
                    if !is_near_facet(shelf.owner, ball, surface, point, block) {
                        continue;
                    }
                }
                let index = first + surfaces[block].w;
                count = put_contacts(shelf, count, index, points_on_surfaces(shelf.owner));
                node = patch_at(index).boxes.y;
                break;
            }
        }
    }
    return count;
}

// Whether a ball, at a point in the frame of a mesh, may be near enough to a triangle if it is around a convex solid. Twin:
// World::is_near_facets in src/model/solids/facets.rs.
fn is_near_facet(owner: u32, ball: Ball, surface: Surface, point: vec3f, block: u32) -> bool {
    if !stands_for_solid(owner) || is_patch_part(owner) {
        return true;
    }
    let own = solid_of_ball(owner, ball);
    let corners = triangle_at(block);
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    // The blocks of a triangle begin with its corners.
    let triangle = Convex(vec2u(block, block + 3u), vec2u(0u), vec2u(0u), false, 0.0, 0.0, 0.0, 0.0, middle, 0.0, 1.0);
    let frame = axes_of(compose(conjugate(own.turn), compose(poses[surface.body].orientation, surface.orientation)));
    let to_origin = rotate(conjugate(own.turn), own.lever - ball.lever);
    return may_be_near(Pair(convex_at(own.block, own.scale), triangle, frame, -(frame * point) - to_origin), margin_of(owner, ball));
}

// Number of parts of a row of cells: the end of a period may cut it.
fn parts_of_rows() -> u32 {
    if HAS_PERIOD {
        return select(1u, 2u, params.periods.x > 0);
    }
    return 1u;
}

// Plans the dispatches over the contacts, or halts if there is no room for them. The last list has been remembered by now.
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
    var of_parts = 0u;
    if !is_halted() {
        count = contact_starts[balls()];
        of_parts = contact_starts[params.vertices];
        status.contacts = count;
        if count > params.contact_capacity {
            atomicOr(&status.halted, HALT_CONTACTS);
            count = 0u;
            of_parts = 0u;
        }
    }
    plan(ARGUMENTS_CONTACTS, count);
    plan_groups(ARGUMENTS_PARTS, of_parts);
    plan(ARGUMENTS_FOUND, count);
    plan(ARGUMENTS_STORED, select(0u, balls(), count > 0u));
}

// Stores the contacts of each owner in ascending order. It is planned only if there is room for all, so it does not check for a halt.
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
