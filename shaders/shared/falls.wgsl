// What gravity does to a body alone [m/s²]. Declared by each shader: `velocities`.
// Twin: Velocity::falls in src/cpu/velocity.rs.
fn falls(body: u32) -> vec3f {
    let is_free = velocities[body].inverse_mass > 0.0;
    return select(vec3f(0.0), params.gravity * free_translation(locked_axes(body)), is_free);
}
