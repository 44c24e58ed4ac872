// Rows of the contacts in solving order, put together from their streams. Each shader declares these itself:
// `row_targets` and `row_arms`, as some only read them.

fn load_row(place: u32) -> Row {
    let aim = row_targets[place];
    let arms = row_arms[place];
    return Row(aim.normal, aim.target_velocity, arms.arm_a, aim.sigma_n, arms.arm_b, aim.friction, aim.bodies,
        arms.rolling_arm, arms.law);
}
