// Integration: bodies move with their new velocities [E1]. Twin: src/cpu/integrate.rs.

@group(0) @binding(2) var<storage, read_write> poses: array<Pose>;
@group(0) @binding(3) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(4) var<storage, read> schedule: array<BoundaryState>;
@group(0) @binding(5) var<storage, read_write> travel: array<f32>;   // path since the last search, per boundary, then per sphere [m]
@group(0) @binding(6) var<storage, read> spheres: array<Sphere>;

// Sets the velocities of prescribed bodies for the substep, and the inertia tensors of bodies at their present
// orientation.
@compute @workgroup_size(64)
fn aim_bodies(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || is_halted() {
        return;
    }
    if is_rigid(body) {
        if is_undisturbed(body) && rigids[body].is_ahead == 0u {
            // A step that is done again finds the body in the middle already.
            poses[body] = pose_after(poses[body], velocities[body].linear, 0.5 * params.h);
            poses[body].orientation = turned_freely(body, poses[body].orientation, 0.5 * params.h);
            rigids[body].is_ahead = 1u;
        }
        set_inertia(body);
    } else if body < params.boundaries {
        let state = schedule[status.substep * params.boundaries + body];
        velocities[body].linear = state.linear;
        velocities[body].angular = state.angular;
    }
}

// Largest distance of a body from the origin [cells]: cell indices and their differences then fit an integer.
const FAREST = 1073741824f;

// Checks the velocities before bodies move: each is a number, contacts added no more than the limit to a speed, and no body leaves the
// range of the cells. A body that falls or was thrown may have any speed.
@compute @workgroup_size(64)
fn judge(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || (body < params.boundaries && !is_rigid(body)) {
        return;
    }
    if is_halted_beyond(HALT_NOT_A_NUMBER | HALT_EXPLODED | HALT_FAR) {
        return;  // these velocities do not count, or were judged before
    }
    let velocity = velocities[body];
    let pose = poses[body];
    let speed = length(velocity.linear);
    let place = vec3f(pose.cell) + params.h * velocity.linear / params.cell_size;
    if !(is_number(speed) && is_number(length(velocity.angular))) {
        atomicOr(&status.halted, HALT_NOT_A_NUMBER);
    } else if speed - pose.free_speed > params.speed_limit {
        atomicOr(&status.halted, HALT_EXPLODED);
    } else if any(abs(place) > vec3f(FAREST)) {
        atomicOr(&status.halted, HALT_FAR);
    } else {
        return;
    }
    if body < params.boundaries {
        atomicMin(&status.bad_boundary, body);
    } else {
        atomicMin(&status.bad_grain, body - params.boundaries);
    }
}

// Whether x is finite, by its bits: compilers may assume that comparisons never see a NaN.
fn is_number(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}

@compute @workgroup_size(64)
fn move_bodies(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || is_halted() {
        return;
    }
    let velocity = velocities[body];
    if body < params.boundaries {
        note_path(body, velocity);
        if !is_rigid(body) {
            poses[body] = schedule[status.substep * params.boundaries + body].pose;
            return;
        }
    }
    if velocity.inverse_mass == 0.0 {
        return;  // a sink removed it
    }
    let h = select(params.h, 0.5 * params.h, is_undisturbed(body));
    var pose = pose_after(poses[body], velocity.linear, h);
    if is_rigid(body) {
        pose.orientation = turned_freely(body, pose.orientation, h);
        rigids[body].is_ahead = 0u;
    } else {
        pose.orientation = normalize(compose(turn(params.h * velocity.angular), pose.orientation));
    }
    pose.free_speed = length(velocity.linear + params.h * pulled(body));
    poses[body] = pose;
}

// Adds to the path of a boundary since the last search, and requests a search in the next step if some point of the boundary may have
// moved by half the skin of the smallest grain at the end of that step. Half of the free fall of a grain in a step is included; spheres
// count the other half.
fn note_path(boundary: u32, velocity: Velocity) {
    let now = status.substep * params.boundaries + boundary;
    var path = schedule[now].path;
    var ahead = schedule[now].ahead;
    if is_rigid(boundary) {
        let reach = schedule[now].reach;
        let speed = speed_within(reach, velocity.linear, velocity.angular);
        ahead = params.step_time * (speed + params.step_time * pushed(boundary, velocity, reach)) + path;
        path = params.h * speed;
    }
    travel[boundary] += path;
    let moved = travel[boundary] + ahead;
    let falls = 0.5 * length(params.gravity) * params.step_time * params.step_time;
    if moved > 0.0 && moved + falls > params.boundary_skin {
        atomicStore(&status.search, 1u);
    }
}

// Upper bound on the speed of the points of a body within `reach` of its centre [m/s].
fn speed_within(reach: f32, linear: vec3f, angular: vec3f) -> f32 {
    return length(linear) + length(angular) * reach;
}

// Upper bound on the acceleration of these points by applied force and torque [m/s²].
fn pushed(body: u32, velocity: Velocity, reach: f32) -> f32 {
    if !HAS_FORCES || body >= params.rigids {
        return 0.0;
    }
    let twist = velocity.inverse_inertia * length(rigids[body].torque);
    return velocity.inverse_mass * length(rigids[body].force) + twist * reach;
}

// Adds to the path of a sphere since the last search, and requests a search in the next step if the sphere may have moved by half the
// skin at the end of that step. Half of its free fall in a step and all of the effect of applied forces are included.
@compute @workgroup_size(64)
fn note_travel(@builtin(global_invocation_id) invocation: vec3u) {
    let i = flat(invocation);
    if i >= params.spheres || is_halted() {
        return;
    }
    let sphere = spheres[params.vertices + i];
    let velocity = velocities[sphere.body];
    if velocity.inverse_mass == 0.0 {
        return;  // a sink removed it
    }
    var reach = 0.0;
    if HAS_RIGID {
        // Corners of a polyhedron move as it turns.
        reach = select(length(place_on_body(params.vertices + i).centre), sphere.radius, is_hull(sphere));
    }
    let speed = speed_within(reach, velocity.linear, velocity.angular);
    let gained = 0.5 * length(params.gravity) + pushed(sphere.body, velocity, reach);
    travel[params.boundaries + i] += params.h * speed;
    let ahead = params.step_time * (speed + params.step_time * gained);
    if travel[params.boundaries + i] + ahead > params.skin * sphere.radius {
        atomicStore(&status.search, 1u);
    }
}

// Quaternion of the rotation by a vector: its direction is the axis, its length the angle [rad].
fn turn(angle: vec3f) -> vec4f {
    let size = length(angle);
    if size < 1e-4 {
        return vec4f(0.5 * angle, 1.0 - 0.125 * size * size);
    }
    return vec4f(sin(0.5 * size) / size * angle, cos(0.5 * size));
}

// Orientation of a body with an inertia tensor after a time h. It keeps its angular momentum L while it turns:
// dq/dt = ω(q) q / 2 with ω(q) = I(q)⁻¹ L, by the Runge-Kutta method of fourth order [E1]. L is stored from substep to substep, and only
// the change by contacts and forces is added: the rounding errors of an L computed anew from ω would add up. Twin: RigidBody::turn.
fn turned_freely(body: u32, q: vec4f, h: f32) -> vec4f {
    let angular = velocities[body].angular;
    if all(angular == vec3f(0.0)) {
        return q;
    }
    let free = free_rotation(locked_axes(body));
    let held = angular * (1.0 - free);
    let moments = rigids[body].moments;
    let gained = (angular - rigids[body].spin) * free;
    let momentum = rigids[body].momentum + free * rotate(q, moments * rotate(conjugate(q), gained));
    let k1 = turning(q, moments, free, momentum, held);
    let k2 = turning(q + 0.5 * h * k1, moments, free, momentum, held);
    let k3 = turning(q + 0.5 * h * k2, moments, free, momentum, held);
    let k4 = turning(q + h * k3, moments, free, momentum, held);
    let turned = normalize(q + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4));
    let spin = inverse_inertia(turned, moments, free) * momentum + held;
    velocities[body].angular = spin;
    rigids[body].momentum = momentum;
    rigids[body].spin = spin;
    return turned;
}

// Rate dq/dt of the orientation [1/s].
fn turning(q: vec4f, moments: vec3f, free: vec3f, momentum: vec3f, held: vec3f) -> vec4f {
    let spin = inverse_inertia(normalize(q), moments, free) * momentum + held;
    return compose(vec4f(0.5 * spin, 0.0), q);
}

// Inverse inertia tensor in the world frame, zero about locked axes [1/(kg m²)]. Twin: RigidBody::inverse_inertia.
fn inverse_inertia(q: vec4f, moments: vec3f, free: vec3f) -> mat3x3f {
    let frame = mat3x3f(rotate(q, vec3f(1.0, 0.0, 0.0)), rotate(q, vec3f(0.0, 1.0, 0.0)),
        rotate(q, vec3f(0.0, 0.0, 1.0)));
    if all(free == vec3f(1.0)) {
        return frame * diagonal_matrix(1.0 / moments) * transpose(frame);
    }
    // Inertia with the locked axes decoupled; the part of the inverse that belongs to them is then left out.
    let unit = max(moments.x, max(moments.y, moments.z));
    let mask = diagonal_matrix(free);
    let inertia = frame * diagonal_matrix(moments / unit) * transpose(frame);
    let k = mask * inertia * mask + diagonal_matrix(1.0 - free);
    let cofactors = mat3x3f(cross(k[1], k[2]), cross(k[2], k[0]), cross(k[0], k[1]));
    return mask * cofactors * mask * (1.0 / (unit * dot(k[0], cross(k[1], k[2]))));
}

fn set_inertia(body: u32) {
    let free = free_rotation(locked_axes(body));
    let inverse = inverse_inertia(poses[body].orientation, rigids[body].moments, free);
    rigids[body].diagonal = vec3f(inverse[0].x, inverse[1].y, inverse[2].z);
    rigids[body].off_diagonal = vec3f(inverse[1].z, inverse[0].z, inverse[0].y);
}

// Counts a substep whose impacts ran out of sweeps: contacts bounce still, or the last round has not settled [E6].
fn note_impacts() {
    let fastest = bitcast<f32>(atomicLoad(&status.fastest));
    if fastest == 0.0 {
        return;
    }
    let residual = bitcast<f32>(atomicLoad(&status.impact_residual));
    status.unsettled++;
    status.unsettled_residual = max(status.unsettled_residual, residual);
    status.unsettled_fraction = max(status.unsettled_fraction, residual / fastest);
}

@compute @workgroup_size(1)
fn finish_substep() {
    if !is_halted() {
        note_impacts();
        status.careful = 0u;
        status.substep++;
    }
}
