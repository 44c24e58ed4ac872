// Blocks of contacts, each of which a workgroup sums up.

// Range of the places of a block of contacts; empty after a halt.
fn first_of_block(block: u32) -> u32 {
    return block * BOOKED;
}

fn end_of_block(block: u32) -> u32 {
    return select(min(status.contacts, first_of_block(block + 1u)), 0u, is_halted());
}

fn block_of(group: vec3u) -> u32 {
    return group.x + group.y * GROUPS_PER_ROW;
}
