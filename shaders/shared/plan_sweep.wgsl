// Dispatch sizes of one sweep: each colour, the overflow contacts, the bodies that take the sum of their slots. Run by 64 invocations.

// Number of bodies or overflow contacts, whichever is larger.
fn swept() -> u32 {
    return max(status.overflow, bodies());
}

// Plans the dispatches of a sweep from place `first` of `arguments` on, and resets the counters of sweeps.
fn plan_colours(first: u32, lane: u32, runs: bool) {
    if lane == 0u && !is_halted() {
        status.sweeps = 0u;
        status.converged = 0u;
        atomicStore(&status.change, 0u);
    }
    if lane > COLOURS + 1u {
        return;
    }
    // In an accelerated solve the dispatch over bodies also extrapolates them all, unless a tolerance or joints come between sweeps.
    var count = select(0u, bodies(), status.sides > 0u);
    if HAS_MOMENTUM && !HAS_TOLERANCE && !HAS_JOINTS && first == ARGUMENTS_SWEEP {
        count = max(count, swept());
    }
    if lane <= COLOURS {
        count = status.colour_starts[lane + 1u] - status.colour_starts[lane];
    }
    plan(first + lane, select(0u, count, runs));
}
