// Integrate: bodies move with their new velocities [E1]. Twin: src/reference/integrate.rs.

@group(0) @binding(2) var<storage, read_write> poses: array<Pose>;
@group(0) @binding(3) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(4) var<storage, read> schedule: array<BoundaryState>;

// Where a boundary is at the end of a substep, and the velocity that carries it there.
struct BoundaryState {
    pose: Pose,
    linear: vec3f,
    spare_a: u32,
    angular: vec3f,
    spare_b: u32,
}

// At the start of a substep boundaries take the velocity that carries them through it.
@compute @workgroup_size(64)
fn aim_boundaries(@builtin(global_invocation_id) invocation: vec3u) {
    let boundary = flat(invocation);
    if boundary >= params.boundaries || is_halted() {
        return;
    }
    let state = schedule[status.substep * params.boundaries + boundary];
    velocities[boundary].linear = state.linear;
    velocities[boundary].angular = state.angular;
}

// Before anything moves: no velocity may be beyond what contact detection can follow.
@compute @workgroup_size(64)
fn judge(@builtin(global_invocation_id) invocation: vec3u) {
    let grain = flat(invocation);
    if grain >= params.grains {
        return;
    }
    let velocity = velocities[params.boundaries + grain];
    let speed = length(velocity.linear);
    if !(is_number(speed) && is_number(length(velocity.angular))) {
        atomicOr(&status.halted, HALT_NOT_A_NUMBER);
        atomicMin(&status.bad_grain, grain);
    } else if speed > params.speed_limit {
        atomicOr(&status.halted, HALT_EXPLODED);
        atomicMin(&status.bad_grain, grain);
    }
}

// By its bits: compilers may assume that comparisons never see a NaN.
fn is_number(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

@compute @workgroup_size(64)
fn move_grains(@builtin(global_invocation_id) invocation: vec3u) {
    let grain = flat(invocation);
    if grain >= params.grains || is_halted() {
        return;
    }
    let body = params.boundaries + grain;
    let velocity = velocities[body];
    if velocity.inverse_mass == 0.0 {
        return;  // a sink removed it
    }
    var pose = poses[body];
    pose.offset += params.h * velocity.linear;
    let cells = round(pose.offset / params.cell_size);
    pose.cell += vec3i(cells);
    pose.offset -= cells * params.cell_size;
    pose.orientation = normalize(compose(turn(params.h * velocity.angular), pose.orientation));
    poses[body] = pose;
}

// Rotation by a vector: its direction the axis, its length the angle.
fn turn(angle: vec3f) -> vec4f {
    let size = length(angle);
    if size < 1e-4 {
        return vec4f(0.5 * angle, 1.0 - 0.125 * size * size);
    }
    return vec4f(sin(0.5 * size) / size * angle, cos(0.5 * size));
}

@compute @workgroup_size(64)
fn move_boundaries(@builtin(global_invocation_id) invocation: vec3u) {
    let boundary = flat(invocation);
    if boundary < params.boundaries && !is_halted() {
        poses[boundary] = schedule[status.substep * params.boundaries + boundary].pose;
    }
}

@compute @workgroup_size(1)
fn finish_substep() {
    if !is_halted() {
        status.substep++;
    }
}
