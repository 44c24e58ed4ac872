// Positions anchored to cells, rotations, contact velocity.

// Vector from one position to another [m], along periodic axes to the nearest image. Cells are subtracted exactly, so no digits are
// lost far from the origin.
fn between(from_pose: Pose, to_pose: Pose) -> vec3f {
    let offset = to_pose.offset - from_pose.offset;
    if HAS_PERIOD {
        let apart = vec3f(shortest(to_pose.cell - from_pose.cell)) * params.cell_size + offset;
        // Half a period apart in cells can be more than that in metres.
        let period = vec3f(params.periods) * params.cell_size;
        let is_over = (abs(apart) > 0.5 * period) & is_periodic();
        return select(apart, apart - sign(apart) * period, is_over);
    }
    return vec3f(to_pose.cell - from_pose.cell) * params.cell_size + offset;
}

// Whether the scene has periodic axes.
override HAS_PERIOD: bool = true;

fn is_periodic() -> vec3<bool> {
    return params.periods > vec3i(0);
}

// Cell inside the periodic domain that is the image of a cell.
fn wrap_cell(cell: vec3i) -> vec3i {
    return wrap_into(cell, params.periods);
}

// Cell inside a periodic domain of `periods` cells along each axis that is the image of a cell.
fn wrap_into(cell: vec3i, periods: vec3i) -> vec3i {
    if !HAS_PERIOD {
        return cell;
    }
    let rest = cell % max(periods, vec3i(1));
    return select(cell, select(rest, rest + periods, rest < vec3i(0)), is_periodic());
}

// Difference of cells `apart` to the nearest image.
fn shortest(apart: vec3i) -> vec3i {
    let ahead = wrap_cell(apart);
    return select(ahead, ahead - params.periods, is_periodic() & (2 * ahead > params.periods));
}

// Pose after a time h at the velocity `linear`, anchored to the nearest cell.
fn pose_after(from_pose: Pose, linear: vec3f, h: f32) -> Pose {
    var pose = from_pose;
    pose.offset += h * linear;
    let cells = round(pose.offset / params.cell_size);
    pose.cell = wrap_cell(pose.cell + vec3i(cells));
    pose.offset -= cells * params.cell_size;
    return pose;
}

// Vector v rotated by the unit quaternion q.
fn rotate(q: vec4f, v: vec3f) -> vec3f {
    let t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

fn conjugate(q: vec4f) -> vec4f {
    return vec4f(-q.xyz, q.w);
}

fn compose(p: vec4f, q: vec4f) -> vec4f {
    return vec4f(p.w * q.xyz + q.w * p.xyz + cross(p.xyz, q.xyz), p.w * q.w - dot(p.xyz, q.xyz));
}

// Contact velocity u = v_a + ω_a × d_a - v_b - ω_b × d_b [m/s].
fn contact_velocity(constraint: Constraint, a: Velocity, b: Velocity) -> vec3f {
    return a.linear + cross(a.angular, constraint.arm_a) - b.linear - cross(b.angular, constraint.arm_b);
}

// 1 along each axis on which a body may move, 0 along locked ones.
fn free_translation(locked: u32) -> vec3f {
    return vec3f(vec3u(~locked, ~(locked >> 1u), ~(locked >> 2u)) & vec3u(1u));
}

// The same for rotations.
fn free_rotation(locked: u32) -> vec3f {
    return free_translation(locked >> 3u);
}

// Whether the scene has bodies with locked axes. Without them the bits of locked axes are never read.
override HAS_LOCKS: bool = true;
