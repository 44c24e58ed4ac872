// Solution of one contact constraint with all others held fixed [E5]. Twin: src/cpu/sweep.rs.

// Impulse of a contact after its solution, and the velocities of its bodies.
struct Solution {
    impulse: Impulse,
    a: Velocity,
    b: Velocity,
}

// Inverse effective masses D of the normal, friction and rolling constraints [E5]. A multiple of the identity bounds the
// friction block; for spheres it is exact.
fn diagonal(constraint: Constraint, a: Velocity, b: Velocity, locked: vec2u) -> vec3f {
    var lever_a = cross(constraint.arm_a, constraint.normal);
    var lever_b = cross(constraint.arm_b, constraint.normal);
    var push_a = constraint.normal;
    var push_b = constraint.normal;
    if HAS_LOCKS {
        lever_a *= free_rotation(locked.x);
        lever_b *= free_rotation(locked.y);
        push_a *= free_translation(locked.x);
        push_b *= free_translation(locked.y);
    }
    return vec3f(
        a.inverse_mass * dot(push_a, push_a) + b.inverse_mass * dot(push_b, push_b)
            + a.inverse_inertia * dot(lever_a, lever_a) + b.inverse_inertia * dot(lever_b, lever_b)
            + constraint.compliance,
        a.inverse_mass + b.inverse_mass + a.inverse_inertia * dot(constraint.arm_a, constraint.arm_a)
            + b.inverse_inertia * dot(constraint.arm_b, constraint.arm_b),
        a.inverse_inertia + b.inverse_inertia);
}

// Box cone [E3]: limits each component of a friction or rolling impulse by itself, instead of the length of the vector.
override HAS_BOX_CONE: bool = false;

// Projects a friction or rolling impulse on its cone at a contact with this normal: the nearest vector within `bound` [E3], [E4].
fn limit(vector: vec3f, bound: f32, normal: vec3f) -> vec3f {
    if HAS_BOX_CONE {
        return limit_components(vector, bound, normal);
    }
    let length_squared = dot(vector, vector);
    if length_squared <= bound * bound {
        return vector;
    }
    return vector * (bound / sqrt(length_squared));
}

// Vertical component of a normal from which the first tangent is x × n instead of z × n.
const STEEP_NORMAL = 0.9;

// Limits the components of a vector along the normal n and two tangents: t₁ = z × n (x × n for a steep normal), normalised, and
// t₂ = n × t₁.
fn limit_components(vector: vec3f, bound: f32, normal: vec3f) -> vec3f {
    let across = cross(select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(normal.z) < STEEP_NORMAL), normal);
    // Contacts that take no part have a normal of zero length.
    let first = across * inverseSqrt(max(dot(across, across), 1e-30));
    let axes = mat3x3f(normal, first, cross(normal, first));
    let parts = vector * axes;
    if all(abs(parts) <= vec3f(bound)) {
        return vector;
    }
    return axes * clamp(parts, vec3f(-bound), vec3f(bound));
}

// Solves a contact of bodies without inertia tensors: normal, friction, rolling. `relaxation` is ω [E12].
fn solve_contact(constraint: Constraint, old: Impulse, a: Velocity, b: Velocity, locked: vec2u, relaxation: f32) -> Solution {
    let u = contact_velocity(constraint, a, b);
    let u_n = dot(u, constraint.normal);
    let d = diagonal(constraint, a, b, locked);
    let old_normal = dot(old.linear, constraint.normal);
    let old_tangent = old.linear - old_normal * constraint.normal;

    let overshot = relaxation * (u_n + constraint.compliance * old_normal - constraint.bias_velocity);
    let normal = max(0.0, old_normal - safe_ratio(overshot, d.x));
    let slip = u - u_n * constraint.normal;
    let trial = old_tangent - slip * safe_ratio(relaxation, d.y);
    let tangent = limit(trial, constraint.friction * normal, constraint.normal);

    var solution: Solution;
    solution.impulse.linear = normal * constraint.normal + tangent;
    let linear = solution.impulse.linear - old.linear;
    solution.a = push(a, linear, constraint.arm_a, locked.x);
    solution.b = push(b, -linear, constraint.arm_b, locked.y);

    solution.impulse.rolling = vec3f(0.0);
    if constraint.rolling_arm > 0.0 {
        let spin = solution.a.angular - solution.b.angular;
        let rolling_trial = old.rolling - spin * safe_ratio(relaxation, d.z);
        solution.impulse.rolling = limit(rolling_trial, constraint.rolling_arm * normal, constraint.normal);
        let rolling = solution.impulse.rolling - old.rolling;
        solution.a = twist(solution.a, rolling, locked.x);
        solution.b = twist(solution.b, -rolling, locked.y);
    }
    return solution;
}

// Quotient, or 0 where the denominator (an inverse effective mass) is 0: nothing can move.
fn safe_ratio(numerator: f32, denominator: f32) -> f32 {
    return select(0.0, numerator / denominator, denominator > 0.0);
}

// Velocity after an impulse [N s] at `arm` from the centre.
fn push(body: Velocity, impulse: vec3f, arm: vec3f, locked: u32) -> Velocity {
    var linear = body.inverse_mass * impulse;
    var angular = body.inverse_inertia * cross(arm, impulse);
    if HAS_LOCKS {
        linear *= free_translation(locked);
        angular *= free_rotation(locked);
    }
    return Velocity(body.linear + linear, body.inverse_mass, body.angular + angular, body.inverse_inertia);
}

// Velocity after an angular impulse [N m s].
fn twist(body: Velocity, impulse: vec3f, locked: u32) -> Velocity {
    var angular = body.inverse_inertia * impulse;
    if HAS_LOCKS {
        angular *= free_rotation(locked);
    }
    return Velocity(body.linear, body.inverse_mass, body.angular + angular, body.inverse_inertia);
}
