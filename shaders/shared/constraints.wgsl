// Contact constraints in solving order, read from their two streams. Each shader declares the streams `constraint_heads` and
// `constraint_arms` itself, as some shaders only read them.

// Whether some pair of materials resists rolling. Without one the rolling arm is never read.
override HAS_ROLLING: bool = true;

fn load_constraint(place: u32) -> Constraint {
    let aim = constraint_heads[place];
    let arms = constraint_arms[place];
    var rolling_arm = 0.0;
    if HAS_ROLLING {
        rolling_arm = arms.rolling_arm;
    }
    return Constraint(aim.normal, aim.bias_velocity, arms.arm_a, aim.compliance, arms.arm_b, aim.friction, aim.bodies,
        rolling_arm, arms.law);
}
