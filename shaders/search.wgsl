// Search: decides whether the neighbour list still holds all pairs that can touch in this step. If it does, the
// dispatches of the stages that find, match and colour contacts are empty. Twin: src/cpu/search.rs.
//
// A rebuild of the neighbour list lists all pairs with a gap below the skin. Since then each sphere has moved by `travel` at most.
// As long as `travel` plus the path in this step at the present speed is below half the skin for all spheres, no pair outside
// the list can touch. Half of the free fall of a grain in this step is included: both grains of a pair fall alike, or one falls
// and the other is held. (A grain that is struck within the step may go further: the next step finds its new neighbours.) A
// surface may move by the other half of the skin, that of the smallest grain, with half of the free fall of a grain included.
// `integrate` decides this when it moves the bodies.

@group(0) @binding(2) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> travel: array<f32>;  // path since the last search, per boundary, then per sphere [m]

// Plans the dispatches of a search, or none.
@compute @workgroup_size(1)
fn plan_search() {
    var runs = !is_halted() && atomicLoad(&status.search) != 0u;
    if runs && status.calm == 1u {
        atomicOr(&status.halted, HALT_BUSY);
        runs = false;
    }
    if runs {
        status.searches++;
    }
    let once = select(0u, 1u, runs);
    plan_groups(ARGUMENTS_SEARCH, once);
    let remembers = once * min(status.listed, 1u);
    plan(ARGUMENTS_OLD_CONTACTS, remembers * status.contacts);
    plan(ARGUMENTS_OLD_OWNERS, remembers * (status.listed + 1u));
    plan(ARGUMENTS_BALLS, once * (balls() + 1u));
    plan(ARGUMENTS_BODIES, once * bodies());
    plan(ARGUMENTS_BUCKETS, once * (params.bucket_mask + 1u));
    plan(ARGUMENTS_CUBES, once * 2u * cubes());
    plan_scan(ARGUMENTS_SCAN_BUCKETS, once * (params.bucket_mask + 1u));
    plan_scan(ARGUMENTS_SCAN_STARTS, once * (balls() + 1u));
    plan_scan(ARGUMENTS_SCAN_CUBES, once * 2u * cubes());
    plan_groups(ARGUMENTS_TILES, once * 2u * tiles());
    plan_scan(ARGUMENTS_SCAN_PENDING, once * 2u * tiles());
    plan_scan(ARGUMENTS_SCAN_BINS, once * BINS * tiles());
    plan_scan(ARGUMENTS_SCAN_SIDES, once * bodies());
    // The search plans these dispatches later.
    plan(ARGUMENTS_FOUND, 0u);
    plan(ARGUMENTS_STORED, 0u);
    plan(ARGUMENTS_OVERFLOW, 0u);
    plan(ARGUMENTS_SIDES, 0u);
}

fn plan_scan(place: u32, values: u32) {
    plan_groups(place, (values + SCAN_BLOCK - 1u) / SCAN_BLOCK);
}

// Marks the neighbour list as complete, so that the next steps may use it.
@compute @workgroup_size(1)
fn finish_search() {
    if !is_halted() {
        status.listed = balls();
        atomicStore(&status.search, 0u);
        for (var boundary = 0u; boundary < params.boundaries; boundary++) {
            travel[boundary] = 0.0;
        }
    }
}
