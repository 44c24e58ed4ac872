// Dispatch sizes of one sweep: a group count for each of the first colours, and one workgroup for the
// rest if there is any. Run by 64 invocations.

fn plan_colour_arguments(first: u32, lane: u32, runs: bool) {
    if lane == 0u {
        status.sweeps = 0u;
        status.converged = 0u;
        atomicStore(&status.change, 0u);
    }
    if lane > DISPATCHED_COLOURS {
        return;
    }
    var groups = 0u;
    if runs && lane < DISPATCHED_COLOURS {
        groups = (colour_starts[lane + 1u] - colour_starts[lane] + GROUP - 1u) / GROUP;
    }
    if runs && lane == DISPATCHED_COLOURS {
        groups = select(0u, 1u, status.contacts > colour_starts[DISPATCHED_COLOURS]);
    }
    let at = 3u * (first + lane);
    arguments[at] = min(groups, GROUPS_PER_ROW);
    arguments[at + 1u] = (groups + GROUPS_PER_ROW - 1u) / GROUPS_PER_ROW;
    arguments[at + 2u] = 1u;
}
