// Dispatch sizes of one sweep: the tiles of both tilings, the overflow contacts, the bodies that take the sum of their slots.
// Run by 64 invocations.

// Number of bodies or overflow contacts, whichever is larger.
fn swept() -> u32 {
    return max(status.overflow, bodies());
}

// Plans the dispatches of a sweep from place `first` of `arguments` on, and resets the counters of sweeps.
fn plan_pass(first: u32, lane: u32, runs: bool) {
    if lane == 0u && !is_halted() {
        status.sweeps = 0u;
        status.converged = 0u;
        atomicStore(&status.change, 0u);
    }
    if lane == 0u {
        plan_groups(first, select(0u, status.tiles, runs && status.tiled > 0u));
        plan_groups(first + 1u, select(0u, status.tiles, runs && status.coloured > status.tiled));
        plan(first + 2u, select(0u, status.overflow, runs));
    }
    if lane == 1u {
        // In an accelerated solve the dispatch over bodies also extrapolates them all, unless a tolerance or joints come between sweeps.
        var count = select(0u, bodies(), status.sides > 0u);
        if HAS_MOMENTUM && !HAS_TOLERANCE && !HAS_JOINTS && first == ARGUMENTS_SWEEP {
            count = max(count, swept());
        }
        plan(first + 3u, select(0u, count, runs));
    }
}
