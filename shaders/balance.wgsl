// Energy balance: work of gravity, boundaries, contacts and joints on the bodies [E10].
// Twin: src/cpu/balance.rs.
//
// The work of both solves of a substep, that of the impacts and the one after it, is found alike: the velocities before
// the solve are kept, and the work of an impulse is its product with the mean of the velocities before and after the solve.
//
//     keep_velocities ─► solve ─► book_* : a sum per workgroup ─► close: one entry per substep
//
// All sums go in solving order, so their bits are the same from run to run. An invocation adds up several contacts before
// its workgroup does, as barriers are expensive. The host adds up the entries in double precision. Dispatches may have
// groups beyond the last block: they write nothing.
//
// In scenes in which friction and rolling may make energy, `close` detects a gain, and halts [E12].

const LARGEST_GAIN = 1e-4f;    // energy that friction and rolling may make since the start of the run, as a share of the turnover [-]

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read_write> velocities_before: array<Velocity>; // before the solve; without a guard: means after `book_bodies`
@group(0) @binding(7) var<storage, read_write> work_sums: array<Works>;       // contacts, their impacts, joints, their impacts, bodies
@group(0) @binding(8) var<storage, read_write> balance: array<Works>;          // entry per substep
@group(0) @binding(9) var<storage, read_write> totals: Totals;
@group(0) @binding(10) var<storage, read> joint_rows: array<JointRow>;
@group(0) @binding(11) var<storage, read> arguments: array<u32>;

// Work done on the bodies, by cause [J].
struct Works {
    gravity: f32,              // of gravity and of applied forces and torques
    boundary: f32,             // of boundaries, joints and locked axes
    normal: f32,               // of normal impulses, impacts excepted
    friction: f32,             // of friction impulses, impacts included
    rolling: f32,              // of rolling impulses, impacts included
    impact: f32,               // of the normal impulses of impacts
    impact_friction: f32,      // part of `friction` from impacts
    impact_rolling: f32,       // part of `rolling` from impacts
    kinetic: f32,              // no work: kinetic energy after the solve, plus that of a fall from rest; scale of the guard
}

// Energy balance since the start of the run, for the guard [E12]. It is summed on the device, substep by substep: with sums that
// depended on the number of steps per submission, the decisions of the guard would depend on it.
struct Totals {
    works: Works,              // work since the start of the run [J]
    initial_kinetic: f32,      // kinetic energy at the start of the run [J]
}

fn add(x: Works, y: Works) -> Works {
    return Works(x.gravity + y.gravity, x.boundary + y.boundary, x.normal + y.normal,
        x.friction + y.friction, x.rolling + y.rolling, x.impact + y.impact, x.impact_friction + y.impact_friction,
        x.impact_rolling + y.impact_rolling, x.kinetic + y.kinetic);
}

// Keeps the velocities before a solve.
@compute @workgroup_size(64)
fn keep_velocities(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body < bodies() && !is_halted() {
        velocities_before[body] = velocities[body];
    }
}

// Adds the work of the contacts in a round of impacts to that of the rounds before. `impulses` holds the impulses of the round. The
// work of normal impulses goes to `impact`; a part of it, λ_n h a_n/2, belongs to gravity, as impacts happen half a substep on [E10].
@compute @workgroup_size(64)
fn book_impacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_of(group);
    var works = Works();
    for (var place = first_of_block(block) + lane; place < end_of_block(block); place += GROUP) {
        let bodies = constraint_heads[place].bodies;
        let strike = load_impulse(place);
        works = add(works, work_of(place, strike, mean_velocity(bodies.x), mean_velocity(bodies.y)));
        let normal = dot(strike.linear, constraint_heads[place].normal) * constraint_heads[place].normal;
        works.gravity -= 0.5 * params.h * dot(normal, pulled(bodies.x) - pulled(bodies.y));
    }
    works.impact = works.normal - works.gravity;
    works.normal = 0.0;
    works.impact_friction = works.friction;
    works.impact_rolling = works.rolling;
    var sum = sum_of_group(works, lane, GROUP);
    if lane == 0u && block < blocks_of_contacts(status.contacts) && !is_halted() {
        let place = first_of_impacts() + block;
        if status.rounds > 0u {
            sum = add(sum, work_sums[place]);
        }
        work_sums[place] = sum;
    }
}

// Sums the work of the contacts in the sweeps, a block per workgroup.
@compute @workgroup_size(64)
fn book_contacts(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_of(group);
    var works = Works();
    for (var place = first_of_block(block) + lane; place < end_of_block(block); place += GROUP) {
        let bodies = constraint_heads[place].bodies;
        let impulse = given_impulse(place, constraint_heads[place].normal);
        works = add(works, work_of(place, impulse, kept_mean(bodies.x), kept_mean(bodies.y)));
    }
    let sum = sum_of_group(works, lane, GROUP);
    if lane == 0u && block < blocks_of_contacts(status.contacts) && !is_halted() {
        work_sums[block] = sum;
    }
}

// Work of the joints and their drives, in the sweeps or in a round of impacts, a part of it per invocation [J].
fn work_of_joints(lane: u32, is_strike: bool) -> Works {
    var works = Works();
    for (var i = lane; i < params.joint_rows; i += GROUP) {
        let row = joint_rows[i];
        let a = given_velocity(row.body_a);
        let b = given_velocity(row.body_b);
        works.boundary += select(row.impulse, row.strike, is_strike) * row_speed(row, a, b);
    }
    return works;
}

// Mean velocity of a body, only the components that impulses can change; 0 for the ground and bodies that are not dynamic.
fn given_velocity(body: u32) -> Velocity {
    if body == NONE || velocities[body].inverse_mass == 0.0 {
        return Velocity();
    }
    var mean = mean_velocity(body);
    mean.linear *= free_translation(locked_axes(body));
    mean.angular *= free_rotation(locked_axes(body));
    return mean;
}

// Sums the work of the joints in the sweeps, while the velocities before the solve are still there.
@compute @workgroup_size(64)
fn book_joints(@builtin(local_invocation_index) lane: u32) {
    let sum = sum_of_group(work_of_joints(lane, false), lane, GROUP);
    if lane == 0u && !is_halted() {
        work_sums[first_of_joints()] = sum;
    }
}

// Adds the work of the joints in a round of impacts that is over to that of the rounds before.
@compute @workgroup_size(64)
fn book_joint_impacts(@builtin(local_invocation_index) lane: u32) {
    book_strikes(lane, arguments[3u * ARGUMENTS_IMPACT_ROUND] > 0u);
}

// The same after the last round, over or not.
@compute @workgroup_size(64)
fn book_last_joint_impacts(@builtin(local_invocation_index) lane: u32) {
    book_strikes(lane, atomicLoad(&status.impacts) == 1u);
}

fn book_strikes(lane: u32, is_over: bool) {
    var sum = sum_of_group(work_of_joints(lane, true), lane, GROUP);
    if !is_over || is_halted() {
        return;
    }
    if lane == 0u {
        if status.rounds > 0u {
            sum = add(sum, work_sums[first_of_joints() + 1u]);
        }
        work_sums[first_of_joints() + 1u] = sum;
    }
}

// Sums the work of gravity and applied forces. Without a guard it stores the mean velocities for `book_contacts`, as each body has
// many contacts.
@compute @workgroup_size(64)
fn book_bodies(
    @builtin(global_invocation_id) invocation: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    var works = Works();
    let body = flat(invocation);
    if body < bodies() && !is_halted() {
        let mean = mean_velocity(body);
        if HAS_GUARD {
            works.kinetic = kinetic_scale(body);
        } else {
            velocities_before[body] = mean;
        }
        if mean.inverse_mass > 0.0 {
            let way = params.h * mean.linear * free_translation(locked_axes(body));
            works.gravity = dot(params.gravity, way) / mean.inverse_mass;
            if HAS_FORCES && body < params.rigids {
                let turn = params.h * mean.angular * free_rotation(locked_axes(body));
                works.gravity += dot(rigids[body].force, way) + dot(rigids[body].torque, turn);
            }
        }
    }
    let sum = sum_of_group(works, lane, GROUP);
    if lane == 0u && block_of(group) < blocks_of(bodies()) && !is_halted() {
        work_sums[first_of_bodies() + block_of(group)] = sum;
    }
}

// Writes the entry of the substep from the sums of all workgroups; the guard halts if the substep is to be solved again.
@compute @workgroup_size(256)
fn close(@builtin(local_invocation_index) lane: u32) {
    var works = Works();
    if !is_halted() {
        for (var block = lane; block < blocks_of_contacts(status.contacts); block += 256u) {
            works = add(works, work_sums[block]);
            if atomicLoad(&status.impacts) == 1u {
                works = add(works, work_sums[first_of_impacts() + block]);
            }
        }
        for (var block = lane; block < blocks_of(bodies()); block += 256u) {
            works = add(works, work_sums[first_of_bodies() + block]);
        }
        if HAS_JOINTS && lane == 0u {
            works = add(works, work_sums[first_of_joints()]);
            if atomicLoad(&status.impacts) == 1u {
                works = add(works, work_sums[first_of_joints() + 1u]);
            }
        }
    }
    let sum = sum_of_group(works, lane, 256u);
    if lane == 0u && !is_halted() {
        if HAS_GUARD {
            guard(sum);
        }
        balance[status.substep] = sum;
    }
}

// Halts if friction and rolling made energy in this substep, or since the start of the run; the substep then does not count [E12].
fn guard(works: Works) {
    let so_far = add(totals.works, works);
    let is_over_all = made(so_far) > LARGEST_GAIN * turnover(so_far);
    let is_at_once = status.careful == 0u && made(works) > params.gain_at_once * works.kinetic;
    if made(works) > 0.0 && status.careful < 2u && (is_over_all || is_at_once) {
        atomicOr(&status.halted, HALT_GAIN);
    } else {
        totals.works = so_far;
    }
}

// Energy made by friction and rolling, impacts excepted [J].
fn made(works: Works) -> f32 {
    return works.friction + works.rolling - (works.impact_friction + works.impact_rolling);
}

// Energy turned over since the start of the run [J]. The energy of grains that came later or left is not in it, so it is less than the
// turnover in the results.
fn turnover(so_far: Works) -> f32 {
    return max(totals.initial_kinetic, abs(so_far.gravity) + abs(so_far.boundary) + abs(so_far.normal)
        + abs(so_far.friction) + abs(so_far.rolling) + abs(so_far.impact));
}

// Kinetic energy of a dynamic body, plus that of a fall from rest over a substep [J]. So the contacts of a body at rest may do a little
// work without halting the run.
fn kinetic_scale(body: u32) -> f32 {
    let velocity = velocities[body];
    if velocity.inverse_mass == 0.0 {
        return 0.0;
    }
    let fall = params.h * pulled(body);
    return 0.5 * ((dot(velocity.linear, velocity.linear) + dot(fall, fall)) / velocity.inverse_mass
        + dot(velocity.angular, velocity.angular) / velocity.inverse_inertia);
}

// Restores the velocities after the impacts, before a substep is solved again.
@compute @workgroup_size(64)
fn restore_velocities(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body < bodies() {
        velocities[body] = velocities_before[body];
    }
}

// First places in `work_sums` of the sums of impacts, of joints and of bodies.
fn first_of_impacts() -> u32 {
    return blocks_of_contacts(params.contact_capacity);
}

fn first_of_joints() -> u32 {
    return 2u * blocks_of_contacts(params.contact_capacity);
}

fn first_of_bodies() -> u32 {
    return first_of_joints() + 2u;
}

fn blocks_of(count: u32) -> u32 {
    return (count + GROUP - 1u) / GROUP;
}

var<workgroup> parts: array<Works, 256>;
var<workgroup> eighths: array<Works, 8>;

// Sum over a workgroup of `size` invocations, valid in the first of them alone. It takes two steps, as barriers are expensive.
fn sum_of_group(works: Works, lane: u32, size: u32) -> Works {
    parts[lane] = works;
    workgroupBarrier();
    if lane < 8u {
        var sum = parts[lane];
        for (var part = lane + 8u; part < size; part += 8u) {
            sum = add(sum, parts[part]);
        }
        eighths[lane] = sum;
    }
    workgroupBarrier();
    var sum = eighths[0];
    if lane == 0u {
        for (var part = 1u; part < 8u; part++) {
            sum = add(sum, eighths[part]);
        }
    }
    return sum;
}

// Mean velocity of a body in the solve: that stored by `book_bodies`, or, with a guard, computed anew, as the guard needs the
// velocities before the solve.
fn kept_mean(body: u32) -> Velocity {
    if HAS_GUARD {
        return mean_velocity(body);
    }
    return velocities_before[body];
}

fn mean_velocity(body: u32) -> Velocity {
    let before = velocities_before[body];
    let after = velocities[body];
    return Velocity(0.5 * (before.linear + after.linear), after.inverse_mass,
        0.5 * (before.angular + after.angular), after.inverse_inertia);
}

// Work of the impulse of one contact at the mean velocities of its bodies a and b [J].
fn work_of(place: u32, impulse: Impulse, a: Velocity, b: Velocity) -> Works {
    if is_zero(impulse) {
        return Works();
    }
    let constraint = load_constraint(place);
    let u = contact_velocity(constraint, a, b);
    let normal = dot(impulse.linear, constraint.normal);
    var works = Works();
    works.normal = normal * dot(u, constraint.normal);
    works.friction = dot(impulse.linear - normal * constraint.normal, u);
    works.rolling = dot(impulse.rolling, a.angular - b.angular);
    // Work W_b on velocities that no impulse changes: boundaries supply it, it is no loss [E10].
    let held_a = held(a, constraint.bodies.x);
    let held_b = held(b, constraint.bodies.y);
    works.boundary = -dot(impulse.linear, contact_velocity(constraint, held_a, held_b))
        - dot(impulse.rolling, held_a.angular - held_b.angular);
    return works;
}

// Part of a velocity that no impulse changes: all of it if the body is not dynamic, else the components along
// locked axes.
fn held(velocity: Velocity, body: u32) -> Velocity {
    if velocity.inverse_mass == 0.0 {
        return velocity;
    }
    var part = Velocity(vec3f(0.0), velocity.inverse_mass, vec3f(0.0), velocity.inverse_inertia);
    if HAS_LOCKS {
        let locked = locked_axes(body);
        part.linear = velocity.linear * (1.0 - free_translation(locked));
        part.angular = velocity.angular * (1.0 - free_rotation(locked));
    }
    return part;
}
