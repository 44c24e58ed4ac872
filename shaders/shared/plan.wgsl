// Sizes of dispatches, computed on the device. Each shader declares `arguments` itself.

// Plans a dispatch of `groups` workgroups, folded into rows.
fn plan_groups(place: u32, groups: u32) {
    arguments[3u * place] = min(groups, GROUPS_PER_ROW);
    arguments[3u * place + 1u] = (groups + GROUPS_PER_ROW - 1u) / GROUPS_PER_ROW;
    arguments[3u * place + 2u] = 1u;
}

// Plans a dispatch of at least `invocations` invocations, in workgroups of 64.
fn plan(place: u32, invocations: u32) {
    plan_groups(place, (invocations + GROUP - 1u) / GROUP);
}

// Whether this step rebuilds the neighbour list. Kernels that plan dispatches ask, as they always run.
fn searches() -> bool {
    return arguments[3u * ARGUMENTS_SEARCH] != 0u;
}
