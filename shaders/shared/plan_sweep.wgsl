// Dispatch sizes of one sweep: each colour, the contacts without one, the bodies that take what those do. Run by 64 invocations.

// Bodies or contacts without a colour, whichever are more.
fn swept() -> u32 {
    return max(status.overflow, bodies());
}

fn plan_colours(first: u32, lane: u32, runs: bool) {
    if lane == 0u {
        status.sweeps = 0u;
        status.converged = 0u;
        atomicStore(&status.change, 0u);
    }
    if lane > COLOURS + 1u {
        return;
    }
    // In an accelerated solve all bodies go on where sides are taken, but where something comes between the sweeps.
    var count = select(0u, bodies(), status.sides > 0u);
    if HAS_MOMENTUM && !HAS_TOLERANCE && !HAS_JOINTS && first == ARGUMENTS_SWEEP {
        count = max(count, swept());
    }
    if lane <= COLOURS {
        count = status.colour_starts[lane + 1u] - status.colour_starts[lane];
    }
    plan(first + lane, select(0u, count, runs));
}
