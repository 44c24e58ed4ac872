// Joints [E11]: rows between two bodies, solved together, machine by machine, with all contacts held fixed. Twin:
// src/cpu/joints.rs, which factors the matrix, while this shader inverts it.
//
//     place_joints ─► couple_rows ─► impacts (strike_joints) ─► aim_joints ─► solve_joints, at the start and after every sweep
//
// A workgroup solves a machine. A pivoted form of its matrix S stands beside the matrix: a pivot on a row (Goodnight's sweep operator)
// moves its impulse between the free ones and those at a bound, so the pivoted form of S with the rows F free and B at a bound holds
// -S_FF⁻¹, S_FF⁻¹ S_FB and the Schur complement. Rows in the wrong set are pivoted until none is left.

@group(0) @binding(2) var<storage, read_write> joint_rows: array<JointRow>;
@group(0) @binding(3) var<storage, read> machines: array<Machine>;
@group(0) @binding(5) var<storage, read_write> machine_matrix: array<f32>;
@group(0) @binding(6) var<storage, read_write> joints: array<Joint>;
@group(0) @binding(7) var<storage, read> joint_drives: array<JointDrive>;
@group(0) @binding(8) var<storage, read> poses: array<Pose>;
@group(0) @binding(9) var<storage, read> machine_bodies: array<u32>;
@group(0) @binding(10) var<storage, read> arguments: array<u32>;

// Bound of an impulse without a bound.
const INFINITE = 3.4e38f;
// Added compliance of a row, as a share of its diagonal [-]. Drives have none. Twin: JOINT_SOFTNESS.
const SOFTNESS = 1e-6f;
// A pivot below the first share of its diagonal is rounding; it is then raised by the second share.
const LEAST_PIVOT = 1e-4f;
const RAISED = 1e-2f;
// A diagonal below this share of its value without locked axes counts as 0. Twin: JOINT_ROUNDING.
const ROUNDING = 1e-9f;
// Share of an impulse or residual that rounding may leave beyond a bound.
const SLACK = 1e-6f;
// Largest number of rounds of pivots, and number of rounds of block pivots without progress after which rows are pivoted one by one.
const ROUNDS = 64u;
const PATIENCE = 5u;

// Finds the rows of every joint at the poses of its bodies. Their bias velocities are completed after the impacts.
@compute @workgroup_size(64)
fn place_joints(@builtin(global_invocation_id) invocation: vec3u) {
    let index = flat(invocation);
    if index >= params.joints || is_halted() {
        return;
    }
    let joint = joints[index];
    let p = placed(joint);
    joints[index].position = position_of(joint, p);
    if joint.rows == 0u {
        return;  // no impulse can move its bodies
    }
    let next = add_held(joint, p, joint.first_row);
    add_along(index, p, next);
}

// Adds the held rows of a joint, from row `at` on; returns the row after them.
fn add_held(joint: Joint, p: Placed, at: u32) -> u32 {
    let axis = rotate(p.turn_a, vec3f(0.0, 0.0, 1.0));
    if joint.kind == JOINT_DISTANCE {
        let line = direction_or(p.gap, axis);
        keep(at, joint, row_along(joint, line, p.arm_a, p.arm_b), length(p.gap) - joint.length);
        return at + 1u;
    }
    var counts = vec2u(0u);
    switch joint.kind {
        case JOINT_HINGE: { counts = vec2u(3u, 2u); }
        case JOINT_SLIDER: { counts = vec2u(2u, 3u); }
        case JOINT_BALL: { counts = vec2u(3u, 0u); }
        case JOINT_LOCK: { counts = vec2u(3u, 3u); }
        case JOINT_CYLINDRICAL: { counts = vec2u(2u, 2u); }
        case JOINT_UNIVERSAL: { counts = vec2u(3u, 0u); }
        default: {}
    }
    var tilt = turn_between(p);
    if joint.kind == JOINT_HINGE || joint.kind == JOINT_CYLINDRICAL {
        tilt = cross(axis, rotate(p.turn_b, vec3f(0.0, 0.0, 1.0)));
    }
    for (var k = 0u; k < counts.x; k++) {
        let direction = rotate(p.turn_a, unit(k));
        // The impulse acts at the place on the second body, on both bodies alike.
        keep(at + k, joint, row_along(joint, direction, p.arm_a + p.gap, p.arm_b), dot(p.gap, direction));
    }
    for (var k = 0u; k < counts.y; k++) {
        let direction = rotate(p.turn_a, unit(k));
        keep(at + counts.x + k, joint, row_about(joint, direction), dot(tilt, direction));
    }
    if joint.kind == JOINT_UNIVERSAL {
        let second = rotate(p.turn_b, vec3f(1.0, 0.0, 0.0));
        keep(at + 3u, joint, row_about(joint, cross(axis, second)), -dot(axis, second));
        return at + 4u;
    }
    return at + counts.x + counts.y;
}

// Adds the row of the nearer end of the range and that of the drive, from row `at` on.
fn add_along(index: u32, p: Placed, at: u32) {
    let joint = joints[index];
    let end = joint.first_row + joint.rows;
    if at >= end {
        return;
    }
    let axis = rotate(p.turn_a, vec3f(0.0, 0.0, 1.0));
    var row: JointRow;
    switch joint.kind {
        case JOINT_HINGE: { row = row_about(joint, axis); }
        case JOINT_SLIDER, JOINT_CYLINDRICAL: { row = row_along(joint, axis, p.arm_a + p.gap, p.arm_b); }
        default: { row = row_along(joint, direction_or(p.gap, axis), p.arm_a, p.arm_b); }
    }
    var next = at;
    if joint.is_limited != 0u {
        add_limit(index, row, next);
        next++;
    }
    if next < end {
        add_drive(index, row, next);
    }
}

// Adds the row of the limits with the speeds that both ends allow; `aim_joints` chooses the end that the joint meets first.
fn add_limit(index: u32, along: JointRow, at: u32) {
    let joint = joints[index];
    var row = along;
    row.low = 0.0;
    row.high = 0.0;
    row.aim = allowed_speed(joint, joint.position - joint.low);
    row.most = -allowed_speed(joint, joint.high - joint.position);
    row.follow = select(joint.restitution, 0.0, is_held(joint_drives[status.substep * params.joints + index]));
    put(at, row, ROW_LIMIT);
}

// Least speed away from an end of the range, from the room before that end [m/s, rad/s]: the joint may come as far as the end, and a
// position that is beyond the end by more than rounding is corrected.
fn allowed_speed(joint: Joint, room: f32) -> f32 {
    return select(4.0 * joint.upsilon * max(-room - joint.slack, 0.0), -room, room > 0.0) / params.h;
}

// Whether a drive is a motor or servo without a force limit.
fn is_held(drive: JointDrive) -> bool {
    return drive.kind == DRIVE_HOLD && drive.limit >= INFINITE;
}

// Sets bounds and bias velocity of the row of the end that a joint meets first at its present speed. A joint that closes to an end with
// restitution is thrown back, at most to the other end.
fn meet_end(at: u32) {
    let row = joint_rows[at];
    let speed = speed_of(row);
    let is_low = 2.0 * speed < row.aim + row.most;
    let side = select(-1.0, 1.0, is_low);
    let least = select(-row.most, row.aim, is_low);
    let closes = row.follow > 0.0 && side * speed < min(least, 0.0);
    let rebound = min(-row.follow * side * speed, select(-row.aim, row.most, is_low));
    joint_rows[at].bias = side * select(least, max(least, rebound), closes);
    joint_rows[at].low = select(-INFINITE, 0.0, is_low);
    joint_rows[at].high = select(0.0, INFINITE, is_low);
    if row.place != PLACE_FREE {
        joint_rows[at].place = select(PLACE_HIGH, PLACE_LOW, is_low);
    }
}

fn add_drive(index: u32, along: JointRow, at: u32) {
    let joint = joints[index];
    let drive = joint_drives[status.substep * params.joints + index];
    var row = along;
    row.low = drive.value;
    row.high = drive.value;
    switch drive.kind {
        case DRIVE_PUSH: {}
        case DRIVE_PRESS: {
            row.low = drive.value * area_of(joint);
            row.high = row.low;
        }
        case DRIVE_HOLD: {
            row.low = -drive.limit;
            row.high = drive.limit;
            row.aim = drive.value + drive.rate * (drive.aim - joint.position);
            // A motor without a force limit would go through the end of its range.
            if joint.is_limited != 0u && is_held(drive) {
                row.aim = clamp(row.aim, (joint.low - joint.position) / params.h, (joint.high - joint.position) / params.h);
            }
        }
        default: {
            row.low = 0.0;
            row.high = 0.0;
        }
    }
    put(at, row, ROW_DRIVE);
}

// Row along a direction, or about an axis, without bounds.
fn row_along(joint: Joint, direction: vec3f, arm_a: vec3f, arm_b: vec3f) -> JointRow {
    return row_of(joint, direction, cross(arm_a, direction), cross(arm_b, direction), joint.compliance);
}

fn row_about(joint: Joint, axis: vec3f) -> JointRow {
    return row_of(joint, vec3f(0.0), axis, axis, joint.angular_compliance);
}

fn row_of(joint: Joint, direction: vec3f, lever_a: vec3f, lever_b: vec3f, compliance: f32) -> JointRow {
    var row: JointRow;
    row.direction = direction;
    row.lever_a = lever_a;
    row.lever_b = lever_b;
    row.body_a = joint.body_a;
    row.body_b = joint.body_b;
    row.low = -INFINITE;
    row.high = INFINITE;
    row.softness = compliance;
    if joint.body_a != NONE {
        let mass = inverse_mass_of(joint.body_a, velocities[joint.body_a], locked_axes(joint.body_a), 1.0);
        row.linear_a = mass.linear * direction;
        row.angular_a = mass.angular * lever_a;
    }
    if joint.body_b != NONE {
        let mass = inverse_mass_of(joint.body_b, velocities[joint.body_b], locked_axes(joint.body_b), 1.0);
        row.linear_b = mass.linear * direction;
        row.angular_b = mass.angular * lever_b;
    }
    let whole = size_of(joint.body_a, direction, lever_a) + size_of(joint.body_b, direction, lever_b);
    let diagonal = dot(direction, row.linear_a + row.linear_b) + dot(lever_a, row.angular_a) + dot(lever_b, row.angular_b);
    // A diagonal that rounding leaves of locked axes counts as 0.
    row.diagonal = select(0.0, diagonal, diagonal > ROUNDING * whole);
    return row;
}

// Upper bound of the diagonal of a row at one body, without locked axes [1/kg].
fn size_of(body: u32, direction: vec3f, lever: vec3f) -> f32 {
    if body == NONE {
        return 0.0;
    }
    return velocities[body].inverse_mass * dot(direction, direction) + velocities[body].inverse_inertia * dot(lever, lever);
}

// Stores a held row that brings a deviation `off` back to zero [m, rad].
fn keep(at: u32, joint: Joint, free: JointRow, off: f32) {
    var row = free;
    row.aim = -4.0 * joint.upsilon / params.h * off;
    row.follow = joint.upsilon;
    put(at, row, ROW_HELD);
}

// Stores a row with its role, compliance and first place.
fn put(at: u32, free: JointRow, role: u32) {
    var row = free;
    let holds = role == ROW_HELD;
    row.softness = select(0.0, row.softness, holds) + select(SOFTNESS * row.diagonal, 0.0, role == ROW_DRIVE);
    row.role = select(ROW_OFF, role, row.diagonal > 0.0);
    row.place = select(PLACE_LOW, PLACE_FREE, holds && row.diagonal > 0.0);
    joint_rows[at] = row;
}

// Coupling of two rows, G M⁻¹ G'ᵀ [1/kg].
fn coupling(x: JointRow, y: JointRow) -> f32 {
    var sum = 0.0;
    if x.body_a != NONE && x.body_a == y.body_a {
        sum += dot(x.direction, y.linear_a) + dot(x.lever_a, y.angular_a);
    }
    if x.body_b != NONE && x.body_b == y.body_b {
        sum += dot(x.direction, y.linear_b) + dot(x.lever_b, y.angular_b);
    }
    if x.body_a != NONE && x.body_a == y.body_b {
        sum -= dot(x.direction, y.linear_b) + dot(x.lever_a, y.angular_b);
    }
    if x.body_b != NONE && x.body_b == y.body_a {
        sum -= dot(x.direction, y.linear_a) + dot(x.lever_b, y.angular_a);
    }
    return sum;
}

var<workgroup> column: array<f32, MOST_ROWS>;
var<workgroup> residual: array<f32, MOST_ROWS>;
var<workgroup> change: array<f32, MOST_ROWS>;
var<workgroup> wanted: array<u32, MOST_ROWS>;
var<workgroup> size: u32;
var<workgroup> is_pivot: u32;
var<workgroup> misplaced: atomic<u32>;
var<workgroup> last_misplaced: atomic<u32>;
var<workgroup> fewest: u32;
var<workgroup> patience: u32;

// Machine of this workgroup, with 0 rows if there is nothing to do, so that all invocations take the same branches.
fn machine_of_group(group: vec3u, lane: u32, runs: bool) -> Machine {
    let index = group.x + group.y * GROUPS_PER_ROW;
    var machine = Machine();
    if index < params.machines {
        machine = machines[index];
    }
    if lane == 0u {
        size = select(0u, machine.rows, runs);
    }
    machine.rows = workgroupUniformLoad(&size);
    return machine;
}

fn velocity_of(body: u32) -> Velocity {
    if body == NONE {
        return Velocity();
    }
    return velocities[body];
}

fn speed_of(row: JointRow) -> f32 {
    return row_speed(row, velocity_of(row.body_a), velocity_of(row.body_b));
}

// Computes the matrix of a machine and its pivoted form with all held rows free, as impacts need it, and the velocities that impacts keep.
@compute @workgroup_size(64)
fn couple_rows(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let machine = machine_of_group(group, lane, !is_halted());
    let rows = machine.rows;
    for (var i = lane; i < rows; i += GROUP) {
        let own = joint_rows[machine.first_row + i];
        for (var j = 0u; j < rows; j++) {
            let other = joint_rows[machine.first_row + j];
            var entry = 0.0;
            if own.role != ROW_OFF && other.role != ROW_OFF {
                entry = select(coupling(own, other), own.diagonal + own.softness, i == j);
            }
            machine_matrix[machine.matrix + j * rows + i] = entry;
            machine_matrix[machine.matrix + (rows + j) * rows + i] = entry;
        }
        joint_rows[machine.first_row + i].held = speed_of(own);
    }
    storageBarrier();
    for (var k = 0u; k < rows; k++) {
        pivot_if(joint_rows[machine.first_row + k].role == ROW_HELD, machine, k, true, lane);
    }
}

// Pivots on row k if that is wanted: the row becomes free, or leaves the free rows.
fn pivot_if(is_wanted: bool, machine: Machine, k: u32, goes_free: bool, lane: u32) {
    if lane == 0u {
        is_pivot = select(0u, 1u, is_wanted);
    }
    if workgroupUniformLoad(&is_pivot) == 0u {
        return;
    }
    let rows = machine.rows;
    let first = machine.matrix + rows * rows;
    for (var i = lane; i < rows; i += GROUP) {
        column[i] = machine_matrix[first + k * rows + i];
    }
    workgroupBarrier();
    var diagonal = column[k];
    // The pivot of a row that follows from others is rounding. Such a row is softened, as it would spoil the others and answer rounded
    // places with large forces. The other rows hold the same motion.
    let whole = machine_matrix[machine.matrix + k * rows + k];
    if goes_free && diagonal < LEAST_PIVOT * whole {
        diagonal = max(diagonal, 0.0) + RAISED * whole;
    }
    let sign = select(-1.0, 1.0, goes_free);
    for (var i = lane; i < rows; i += GROUP) {
        for (var j = 0u; j < rows; j++) {
            let at = first + j * rows + i;
            if i == k && j == k {
                machine_matrix[at] = -1.0 / diagonal;
            } else if i == k {
                machine_matrix[at] = sign * column[j] / diagonal;
            } else if j == k {
                machine_matrix[at] = sign * column[i] / diagonal;
            } else {
                machine_matrix[at] -= column[i] * column[j] / diagonal;
            }
        }
    }
    storageBarrier();
}

// Completes the bias velocities of the rows from the velocities after the impacts. Rows of motors and servos become free.
@compute @workgroup_size(64)
fn aim_joints(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let machine = machine_of_group(group, lane, !is_halted());
    let rows = machine.rows;
    for (var i = lane; i < rows; i += GROUP) {
        let row = joint_rows[machine.first_row + i];
        if row.role == ROW_LIMIT {
            meet_end(machine.first_row + i);
        } else {
            joint_rows[machine.first_row + i].bias = row.aim + row.follow * speed_of(row);
        }
        joint_rows[machine.first_row + i].impulse = 0.0;
        joint_rows[machine.first_row + i].last = 0.0;
    }
    for (var k = 0u; k < rows; k++) {
        let row = joint_rows[machine.first_row + k];
        let goes_free = row.role == ROW_DRIVE && row.low < row.high && row.place != PLACE_FREE;
        pivot_if(goes_free, machine, k, true, lane);
        if lane == 0u && goes_free {
            joint_rows[machine.first_row + k].place = PLACE_FREE;
        }
        storageBarrier();
    }
}

// Solves the machines with all contacts held fixed.
@compute @workgroup_size(64)
fn solve_joints(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let machine = machine_of_group(group, lane, !is_halted() && status.converged == 0u);
    let rows = machine.rows;
    if lane == 0u {
        fewest = NONE;
        patience = PATIENCE;
    }
    for (var i = lane; i < rows; i += GROUP) {
        extrapolate_row(machine.first_row + i);
        let row = joint_rows[machine.first_row + i];
        // The softness of a limit only makes its system solvable: repeated solves bring it to its bias velocity.
        residual[i] = speed_of(row) + select(row.softness * row.impulse, 0.0, row.role == ROW_LIMIT) - row.bias;
        change[i] = bound_of(row) - row.impulse;
    }
    for (var round = 0u; round < ROUNDS; round++) {
        if lane == 0u {
            atomicStore(&misplaced, 0u);
            atomicStore(&last_misplaced, 0u);
        }
        workgroupBarrier();
        for (var i = lane; i < rows; i += GROUP) {
            wanted[i] = judge(machine, i);
            if wanted[i] != joint_rows[machine.first_row + i].place {
                atomicAdd(&misplaced, 1u);
                atomicMax(&last_misplaced, i);
            }
        }
        workgroupBarrier();
        if lane == 0u {
            size = atomicLoad(&misplaced);
        }
        let wrong = workgroupUniformLoad(&size);
        if wrong == 0u {
            break;
        }
        move_rows(machine, wrong, lane);
    }
    workgroupBarrier();
    // Changes of the impulses: of free rows from the pivoted matrix, of others up to their bounds.
    for (var i = lane; i < rows; i += GROUP) {
        let row = joint_rows[machine.first_row + i];
        if row.place == PLACE_FREE {
            column[i] = clamp(row.impulse + answer(machine, i), row.low, row.high) - row.impulse;
        } else {
            column[i] = select(change[i], 0.0, row.role == ROW_OFF);
        }
    }
    workgroupBarrier();
    give(machine, rows, lane);
    for (var i = lane; i < rows; i += GROUP) {
        joint_rows[machine.first_row + i].impulse += column[i];
        if HAS_TOLERANCE {
            // Residual of the row before the solve; at a bound any residual is allowed.
            let is_free = joint_rows[machine.first_row + i].place == PLACE_FREE;
            atomicMax(&status.change, bitcast<u32>(select(0.0, abs(residual[i]), is_free)));
        }
    }
}

// Extrapolates the impulse of a row between two accelerated sweeps, like the velocities [E12].
fn extrapolate_row(at: u32) {
    if !HAS_MOMENTUM || colour.follows == 0u {
        return;
    }
    let row = joint_rows[at];
    if colour.share > 0.0 {
        joint_rows[at].impulse = row.impulse + colour.share * (row.impulse - row.last);
    }
    joint_rows[at].last = row.impulse;
}

// Bound at which the impulse of a row stands; the impulse itself for a free row.
fn bound_of(row: JointRow) -> f32 {
    switch row.place {
        case PLACE_LOW: { return row.low; }
        case PLACE_HIGH: { return row.high; }
        default: { return row.impulse; }
    }
}

// Row i of the pivoted matrix times the residuals of the free rows and the negative changes of the others. For a free row this is the
// change of its impulse, for a row at a bound it is subtracted from its residual.
fn answer(machine: Machine, i: u32) -> f32 {
    let first = machine.matrix + machine.rows * machine.rows;
    var sum = 0.0;
    for (var j = 0u; j < machine.rows; j++) {
        let entry = machine_matrix[first + j * machine.rows + i];
        let other = joint_rows[machine.first_row + j];
        if other.role != ROW_OFF {
            sum += entry * select(-change[j], residual[j], other.place == PLACE_FREE);
        }
    }
    return sum;
}

// Place at which the impulse of row i belongs, PLACE_*.
fn judge(machine: Machine, i: u32) -> u32 {
    let row = joint_rows[machine.first_row + i];
    if row.role == ROW_OFF || row.role == ROW_HELD || row.low == row.high {
        return row.place;
    }
    let found = answer(machine, i);
    if row.place == PLACE_FREE {
        let impulse = row.impulse + found;
        let slack = SLACK * abs(impulse);
        return select(select(PLACE_FREE, PLACE_HIGH, impulse > row.high + slack), PLACE_LOW, impulse < row.low - slack);
    }
    let left = residual[i] - found;
    let noise = SLACK * (abs(residual[i]) + abs(found));
    let leaves = (row.place == PLACE_LOW && left < -noise) || (row.place == PLACE_HIGH && left > noise);
    return select(row.place, PLACE_FREE, leaves);
}

// Pivots all misplaced rows, or only the last of them once block pivots make no progress.
fn move_rows(machine: Machine, wrong: u32, lane: u32) {
    if lane == 0u {
        if wrong < fewest {
            fewest = wrong;
            patience = PATIENCE;
        } else if patience > 0u {
            patience--;
        }
        size = patience;
    }
    let moves_all = workgroupUniformLoad(&size) > 0u;
    let last = atomicLoad(&last_misplaced);
    for (var k = 0u; k < machine.rows; k++) {
        let at = machine.first_row + k;
        let is_moved = wanted[k] != joint_rows[at].place && (moves_all || k == last);
        let goes_free = wanted[k] == PLACE_FREE;
        pivot_if(is_moved, machine, k, goes_free, lane);
        if lane == 0u && is_moved {
            joint_rows[at].place = wanted[k];
            change[k] = bound_of(joint_rows[at]) - joint_rows[at].impulse;
        }
        storageBarrier();
        workgroupBarrier();
    }
}

// Applies the changes of the impulses, in `column`, to the bodies of a machine, in the order of the rows.
fn give(machine: Machine, rows: u32, lane: u32) {
    for (var k = lane; k < select(0u, machine.bodies, rows > 0u); k += GROUP) {
        let body = machine_bodies[machine.first_body + k];
        var velocity = velocities[body];
        for (var i = 0u; i < rows; i++) {
            let row = joint_rows[machine.first_row + i];
            if row.body_a == body {
                velocity.linear -= column[i] * row.linear_a;
                velocity.angular -= column[i] * row.angular_a;
            }
            if row.body_b == body {
                velocity.linear += column[i] * row.linear_b;
                velocity.angular += column[i] * row.angular_b;
            }
        }
        velocities[body] = velocity;
    }
}

// Solves the held rows while contacts bounce: they keep the velocities from before the impacts.
@compute @workgroup_size(64)
fn strike_joints(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    strike(group, lane, false);
}

// The same, and enters the largest residual into `status.change`.
@compute @workgroup_size(64)
fn strike_joints_and_note(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    strike(group, lane, true);
}

fn strike(group: vec3u, lane: u32, is_noted: bool) {
    let machine = machine_of_group(group, lane, !is_halted() && !strikes_nothing());
    let rows = machine.rows;
    for (var i = lane; i < rows; i += GROUP) {
        let row = joint_rows[machine.first_row + i];
        residual[i] = speed_of(row) + row.softness * row.strike - row.held;
        change[i] = 0.0;
    }
    workgroupBarrier();
    for (var i = lane; i < rows; i += GROUP) {
        column[i] = select(0.0, answer(machine, i), joint_rows[machine.first_row + i].role == ROW_HELD);
    }
    workgroupBarrier();
    give(machine, rows, lane);
    for (var i = lane; i < rows; i += GROUP) {
        joint_rows[machine.first_row + i].strike += column[i];
        if is_noted && joint_rows[machine.first_row + i].role == ROW_HELD {
            atomicMax(&status.change, bitcast<u32>(abs(residual[i])));
        }
    }
}

// Sets the impulses of rows to zero after a round of impacts, for the next round.
@compute @workgroup_size(64)
fn end_round(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let machine = machine_of_group(group, lane, arguments[3u * ARGUMENTS_IMPACT_ROUND] > 0u);
    for (var i = lane; i < machine.rows; i += GROUP) {
        joint_rows[machine.first_row + i].strike = 0.0;
    }
}
