// Rows of the contacts in solving order, put together from their streams. Each shader declares these itself:
// `row_targets` and `row_arms`, as some only read them.

// Whether some pair of materials resists rolling; otherwise no arm is ever read.
override HAS_ROLLING: bool = true;

fn load_row(place: u32) -> Row {
    let aim = row_targets[place];
    let arms = row_arms[place];
    var rolling_arm = 0.0;
    if HAS_ROLLING {
        rolling_arm = arms.rolling_arm;
    }
    return Row(aim.normal, aim.target_velocity, arms.arm_a, aim.sigma_n, arms.arm_b, aim.friction, aim.bodies,
        rolling_arm, arms.law);
}
