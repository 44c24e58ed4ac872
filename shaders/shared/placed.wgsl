// Geometry of joints at the poses of their bodies: both places of a joint, and its position along or about its axis.
// Twin: src/model/joint.rs.

// Full turn [rad].
const TURN = 6.2831853f;

// Joint at the poses of its two bodies.
struct Placed {
    pose_a: Pose,              // pose of the first body
    pose_b: Pose,              // pose of the second body
    arm_a: vec3f,              // from the centre of the first body to the joint's place on it [m]
    arm_b: vec3f,              // the same of the second body [m]
    turn_a: vec4f,             // turn from the axes of the joint on the first body to the world
    turn_b: vec4f,             // the same of the second body
    gap: vec3f,                // from the first place to the second [m]
}

fn pose_of(body: u32, cell: vec3i) -> Pose {
    if body == NONE {
        return Pose(cell, 0u, vec3f(0.0), 0.0, vec4f(0.0, 0.0, 0.0, 1.0));
    }
    return poses[body];
}

fn placed(joint: Joint) -> Placed {
    var p: Placed;
    p.pose_a = pose_of(joint.body_a, joint.cell);
    p.pose_b = pose_of(joint.body_b, joint.cell);
    p.arm_a = rotate(p.pose_a.orientation, joint.place_a);
    p.arm_b = rotate(p.pose_b.orientation, joint.place_b);
    p.turn_a = compose(p.pose_a.orientation, joint.turn_a);
    p.turn_b = compose(p.pose_b.orientation, joint.turn_b);
    p.gap = between(p.pose_a, p.pose_b) + (p.arm_b - p.arm_a);
    if HAS_PERIOD {
        let period = vec3f(params.periods) * params.cell_size;
        p.gap -= select(vec3f(0.0), period * round(p.gap / max(period, vec3f(1e-30))), is_periodic());
    }
    return p;
}

// Unit vector along v, or `other` where v has no length.
fn direction_or(v: vec3f, other: vec3f) -> vec3f {
    let size = length(v);
    return select(other, v / max(size, 1e-30), size > 0.0);
}

// Rotation vector of the second body relative to the first, in world axes [rad].
fn turn_between(p: Placed) -> vec3f {
    let q = compose(p.turn_b, conjugate(p.turn_a));
    let near = select(q, -q, q.w < 0.0);
    let sine = length(near.xyz);
    let angle = 2.0 * atan2(sine, near.w);
    return near.xyz * select(2.0, angle / max(sine, 1e-30), sine > 1e-6);
}

// Position of a joint [m, rad]. Of all values of an angle it is the one closest to the last position.
fn position_of(joint: Joint, p: Placed) -> f32 {
    switch joint.kind {
        case JOINT_HINGE: {
            let q = compose(conjugate(p.turn_a), p.turn_b);
            let more = 2.0 * atan2(q.z, q.w) - joint.position;
            return joint.position + (more - TURN * round(more / TURN));
        }
        case JOINT_SLIDER, JOINT_CYLINDRICAL: { return dot(p.gap, rotate(p.turn_a, vec3f(0.0, 0.0, 1.0))); }
        case JOINT_BALL, JOINT_LOCK, JOINT_UNIVERSAL: { return 0.0; }
        default: { return length(p.gap); }
    }
}

// Area on which a pressure acts [m²]: product of two distances of walls; 0 without walls.
fn area_of(joint: Joint) -> f32 {
    let walls = joint.walls;
    if walls.x == NONE {
        return 0.0;
    }
    return dot(between(poses[walls.x], poses[walls.y]), unit(joint.wall_axes.x))
        * dot(between(poses[walls.z], poses[walls.w]), unit(joint.wall_axes.y));
}

// Unit vector along an axis.
fn unit(axis: u32) -> vec3f {
    return select(vec3f(0.0), vec3f(1.0), vec3u(0u, 1u, 2u) == vec3u(axis));
}
