// The motor of a slider [E11]: one constraint, solved with all contacts held fixed. Twin: src/cpu/drive.rs.
// Whoever gives a slider what its contacts do to it solves its motor as well; no other contact moves it later in the
// sweep.

fn has_motor(body: u32) -> bool {
    return HAS_SLIDERS && body < params.boundaries && rigids[body].limit > 0.0;
}

fn solve_motor(body: u32) {
    let motor = rigids[body];
    let axis = free_translation(locked_axes(body));
    let velocity = velocities[body];
    let off = dot(velocity.linear, axis) - motor.target_velocity;
    let impulse = clamp(motor.impulse - off / velocity.inverse_mass, -motor.limit, motor.limit);
    let change = velocity.inverse_mass * (impulse - motor.impulse);
    velocities[body].linear = velocity.linear + change * axis;
    rigids[body].impulse = impulse;
    if HAS_TOLERANCE {
        atomicMax(&status.change, bitcast<u32>(abs(change)));
    }
}

// Between two accelerated sweeps [E12].
fn extrapolate_motor(body: u32, share: f32) {
    let motor = rigids[body];
    if share > 0.0 {
        rigids[body].impulse = motor.impulse + share * (motor.impulse - motor.last_impulse);
    }
    rigids[body].last_impulse = motor.impulse;
}
