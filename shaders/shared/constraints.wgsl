// Contact constraints in solving order, read from their two streams. Each shader declares the streams `constraint_heads` and
// `constraint_arms` itself, as some shaders only read them.

// Whether some pair of materials resists rolling. Without one the rolling arm is never read.
override HAS_ROLLING: bool = true;

// Whether a body is no sphere about its centre and may turn. Otherwise the arms of a contact lie along its normal, or have no effect.
override HAS_ARMS: bool = true;

// The second stream holds bits, as an index is no number. With HAS_ARMS it has two entries per contact: arm of a and rolling arm, arm of b
// and contact law. Otherwise one: distances of the contact point from both centres, rolling arm, contact law.
fn load_constraint(place: u32) -> Constraint {
    let aim = constraint_heads[place];
    var arm_a: vec3f;
    var arm_b: vec3f;
    var law: u32;
    if HAS_ARMS {
        arm_a = bitcast<vec3f>(constraint_arms[2u * place].xyz);
        arm_b = bitcast<vec3f>(constraint_arms[2u * place + 1u].xyz);
        law = constraint_arms[2u * place + 1u].w;
    } else {
        let arms = constraint_arms[place];
        arm_a = -bitcast<f32>(arms.x) * aim.normal;
        arm_b = bitcast<f32>(arms.y) * aim.normal;
        law = arms.w;
    }
    var rolling_arm = 0.0;
    if HAS_ROLLING {
        rolling_arm = rolling_arm_of(place);
    }
    return Constraint(aim.normal, aim.bias_velocity, arm_a, aim.compliance, arm_b, aim.friction, aim.bodies, rolling_arm, law);
}

fn rolling_arm_of(place: u32) -> f32 {
    if HAS_ARMS {
        return bitcast<f32>(constraint_arms[2u * place].w);
    }
    return bitcast<f32>(constraint_arms[place].z);
}

// Count of points among which the pull-off force of a contact is shared, before the laws are applied: at a point of a manifold, whose
// effective radius is stored as negative, `friction` holds it.
fn holding_points(place: u32, friction: f32) -> f32 {
    return select(1.0, max(friction, 1.0), rolling_arm_of(place) < 0.0);
}
