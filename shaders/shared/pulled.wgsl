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
