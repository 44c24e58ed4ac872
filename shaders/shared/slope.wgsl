// Inverse effective masses D and slope of the objective at one contact, on whole bodies [E8], [E15].
// Twins: slope in src/cpu/residual.rs, Constraint::set_inverse_d in src/cpu/narrowphase.rs.

// Impulse or slope of a contact, split into normal, friction and rolling part.
struct Parts {
    normal: f32,
    tangent: vec3f,
    rolling: vec3f,
}

// Inverse effective masses D of the normal, friction and rolling constraints, on whole bodies (no copies).
fn whole_diagonal(constraint: Constraint, a: Velocity, b: Velocity) -> vec3f {
    let locked = vec2u(locked_axes(constraint.bodies.x), locked_axes(constraint.bodies.y));
    if is_general(constraint) {
        return general_diagonal(constraint, inverse_mass_of(constraint.bodies.x, a, locked.x, 1.0),
            inverse_mass_of(constraint.bodies.y, b, locked.y, 1.0));
    }
    return diagonal(constraint, a, b, locked);
}

// Slope of the objective, G v + Σ λ - q: normal [m/s], friction [m/s], rolling [rad/s].
fn slope_of(constraint: Constraint, impulse: Impulse, a: Velocity, b: Velocity) -> Parts {
    let u = contact_velocity(constraint, a, b);
    let closing = dot(u, constraint.normal);
    let softness = constraint.compliance * dot(impulse.linear, constraint.normal);
    return Parts(closing + softness - constraint.bias_velocity, u - closing * constraint.normal, a.angular - b.angular);
}

fn parts_of(impulse: Impulse, normal: vec3f) -> Parts {
    let along = dot(impulse.linear, normal);
    return Parts(along, impulse.linear - along * normal, impulse.rolling);
}
