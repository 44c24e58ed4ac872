// Dispatch sizes of one sweep: the tiles of both tilings, the overflow contacts; then the tiles of the first tiling, whose bodies take the
// sum of their slots.

// Plans the dispatches of a sweep and of the gathering from place `first` of `arguments` on, and resets the counters of sweeps.
fn plan_pass(first: u32, lane: u32, runs: bool) {
    if lane == 0u && !is_halted() {
        status.sweeps = 0u;
        status.converged = 0u;
        atomicStore(&status.change, 0u);
    }
    if lane == 0u {
        plan_dispatches(first, runs);
    }
}

fn plan_dispatches(first: u32, runs: bool) {
    // Accelerated sweeps also extrapolate bodies that only joints move.
    plan_groups(first, select(0u, status.tiles, runs && (HAS_JOINTS || status.contacts > 0u)));
    plan_groups(first + 1u, select(0u, status.tiles, runs && status.coloured > status.tiled));
    plan(first + 2u, select(0u, status.overflow, runs));
    plan_groups(first + PASS, select(0u, status.tiles, runs && status.sides > 0u));
}
