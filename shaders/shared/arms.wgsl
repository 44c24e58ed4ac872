// Writing of the second stream of the contact constraints, see constraints.wgsl.

fn store_arms(place: u32, constraint: Constraint) {
    let rolling_arm = bitcast<u32>(constraint.rolling_arm);
    if HAS_ARMS {
        constraint_arms[2u * place] = vec4u(bitcast<vec3u>(constraint.arm_a), rolling_arm);
        constraint_arms[2u * place + 1u] = vec4u(bitcast<vec3u>(constraint.arm_b), constraint.law);
    } else {
        let distances = vec2f(-dot(constraint.arm_a, constraint.normal), dot(constraint.arm_b, constraint.normal));
        constraint_arms[place] = vec4u(bitcast<vec2u>(distances), rolling_arm, constraint.law);
    }
}

fn store_rolling_arm(place: u32, rolling_arm: f32) {
    if HAS_ARMS {
        constraint_arms[2u * place].w = bitcast<u32>(rolling_arm);
    } else {
        constraint_arms[place].z = bitcast<u32>(rolling_arm);
    }
}
