// What accelerates a body where nothing touches it: gravity, and the force that is applied to it [m/s²]. Declared by each shader:
// `velocities`. Twin: Velocity::pulled in src/cpu/velocity.rs.
fn pulled(body: u32) -> vec3f {
    let inverse_mass = velocities[body].inverse_mass;
    var alone = params.gravity;
    if HAS_FORCES && body < params.rigids {
        alone += inverse_mass * rigids[body].force;
    }
    return select(vec3f(0.0), alone * free_translation(locked_axes(body)), inverse_mass > 0.0);
}
