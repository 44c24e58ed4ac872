// Search: whether the contacts found last are still all that can touch in this step. If they are, the
// dispatches of the stages that find, match and colour contacts are empty. Twin: src/cpu/search.rs.
//
// A rebuild of the neighbour list lists all pairs closer than the skin. Since then each sphere has moved by `travel` at most; while
// for none of them that and what this step adds at its present speed comes to half the skin, no pair outside of
// the list can touch. Half of what a grain may fall in this step counts: the two of a pair fall alike, or one falls and
// the other is held. (A grain that is struck within the step may go further: the step after finds what it came to.) A surface
// may move by the other half, that of the smallest grain, and half of what a grain may fall counts there.
// `integrate` judges that when it moves the bodies.

@group(0) @binding(2) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(3) var<storage, read_write> travel: array<f32>;  // per boundary, then per sphere, since the last search [m]

const SCAN_BLOCK = 1024u;      // as in scan.wgsl

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
    let blocks = (params.contact_capacity + 255u) / 256u;
    plan(ARGUMENTS_BALLS, once * (balls() + 1u));
    plan(ARGUMENTS_BODIES, once * bodies());
    plan(ARGUMENTS_BUCKETS, once * (params.bucket_mask + 1u));
    plan_groups(ARGUMENTS_BLOCKS, once * blocks);
    plan_scan(ARGUMENTS_SCAN_BUCKETS, once * (params.bucket_mask + 1u));
    plan_scan(ARGUMENTS_SCAN_STARTS, once * (balls() + 1u));
    plan_scan(ARGUMENTS_SCAN_COLOURS, once * (COLOURS + 1u) * blocks);
    plan_scan(ARGUMENTS_SCAN_SIDES, once * bodies());
    // Planned by the search as it goes on: nothing yet.
    plan(ARGUMENTS_FOUND, 0u);
    plan(ARGUMENTS_STORED, 0u);
    plan(ARGUMENTS_PENDING, 0u);
    plan(ARGUMENTS_OVERFLOW, 0u);
}

fn plan_scan(place: u32, values: u32) {
    plan_groups(place, (values + SCAN_BLOCK - 1u) / SCAN_BLOCK);
}

// The list is complete: the next steps may go on with it.
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
