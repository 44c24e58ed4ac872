// Sizes of dispatches, worked out on the device. Declared by each shader: `arguments`.

fn plan_groups(place: u32, groups: u32) {
    arguments[3u * place] = min(groups, GROUPS_PER_ROW);
    arguments[3u * place + 1u] = (groups + GROUPS_PER_ROW - 1u) / GROUPS_PER_ROW;
    arguments[3u * place + 2u] = 1u;
}

// So many invocations, in workgroups of 64.
fn plan(place: u32, invocations: u32) {
    plan_groups(place, (invocations + GROUP - 1u) / GROUP);
}

// Whether this step searches for contacts: for kernels that plan, since those cannot be planned themselves.
fn searches() -> bool {
    return arguments[3u * ARGUMENTS_SEARCH] != 0u;
}
