// Acceleration of a body without contacts [m/s²]: gravity and applied force, 0 along locked axes and for a body that is not dynamic.
// Each shader declares `velocities` itself. Twin: Velocity::pulled in src/cpu/velocity.rs.
fn pulled(body: u32) -> vec3f {
    let inverse_mass = velocities[body].inverse_mass;
    var alone = params.gravity;
    if HAS_FORCES && body < params.rigids {
        alone += inverse_mass * rigids[body].force;
    }
    return select(vec3f(0.0), alone * free_translation(locked_axes(body)), inverse_mass > 0.0);
}

// Angular acceleration of a body by applied torque, in a scene with HAS_FORCES and for a body with an entry in `rigids` [rad/s²].
fn twisted(body: u32) -> vec3f {
    return inverse_mass_of(body, velocities[body], locked_axes(body), 1.0).angular * rigids[body].torque;
}
