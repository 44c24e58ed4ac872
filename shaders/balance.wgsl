// Energy balance: what gravity, boundaries and contacts do to the kinetic energy [E10].
// Twin: src/cpu/balance.rs.
//
// Both solves of a substep, that of the impacts and the one after it, are booked alike: the velocities are
// kept before the solve, and an impulse works on the mean of those and the velocities after it.
//
//     keep_velocities ─► solve ─► book_* : a sum per workgroup ─► close: one entry per substep
//
// All sums go in solving order, so their bits are the same from run to run. An invocation books several contacts before
// its workgroup sums up: barriers are dear. The host adds up the entries in double precision. Dispatches may have
// groups beyond the last block: they write nothing.
//
// Where friction and rolling may make energy, `close` finds that out, and halts [E12].

const LARGEST_GAIN = 1e-4f;    // share of the energy that friction and rolling may make [-]

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<ConstraintArms>;
@group(0) @binding(4) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read_write> velocities_before: array<Velocity>; // in the end the means, but with a guard
@group(0) @binding(7) var<storage, read_write> work_sums: array<Works>;       // of contacts, of their impacts, of joints, of their impacts, of bodies
@group(0) @binding(8) var<storage, read_write> balance: array<Works>;          // per substep
@group(0) @binding(9) var<storage, read_write> totals: Totals;
@group(0) @binding(10) var<storage, read> joint_rows: array<JointRow>;
@group(0) @binding(11) var<storage, read> arguments: array<u32>;

// Work done on the bodies [J].
struct Works {
    gravity: f32,
    boundary: f32,
    normal: f32,
    friction: f32,
    rolling: f32,
    impact: f32,
    impact_friction: f32,      // what impacts have in `friction`
    impact_rolling: f32,       // and in `rolling`
    kinetic: f32,              // no work: the energy after the solve, with that of a fall from rest
}

// Since the start of the run; for the guard, so kept on the device alone: sums that depended on how many steps are submitted
// at once would make decisions do so.
struct Totals {
    works: Works,
    initial_kinetic: f32,
}

fn add(x: Works, y: Works) -> Works {
    return Works(x.gravity + y.gravity, x.boundary + y.boundary, x.normal + y.normal,
        x.friction + y.friction, x.rolling + y.rolling, x.impact + y.impact, x.impact_friction + y.impact_friction,
        x.impact_rolling + y.impact_rolling, x.kinetic + y.kinetic);
}

@compute @workgroup_size(64)
fn keep_velocities(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body < bodies() && !is_halted() {
        velocities_before[body] = velocities[body];
    }
}

// After the sweeps of a round of impacts, on top of those before it; normal constraints are booked apart. Impulses: those of the
// round. At an impact the bodies are half a substep on, and gravity has done its work until then.
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

// After the sweeps.
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

// Work of the joints with these impulses, drives and all [J].
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

// The mean velocity of a body, as far as it gives way to impulses.
fn given_velocity(body: u32) -> Velocity {
    if body == NONE || velocities[body].inverse_mass == 0.0 {
        return Velocity();
    }
    var mean = mean_velocity(body);
    mean.linear *= free_translation(locked_axes(body));
    mean.angular *= free_rotation(locked_axes(body));
    return mean;
}

// After the sweeps, before the velocities before them are lost.
@compute @workgroup_size(64)
fn book_joints(@builtin(local_invocation_index) lane: u32) {
    let sum = sum_of_group(work_of_joints(lane, false), lane, GROUP);
    if lane == 0u && !is_halted() {
        work_sums[first_of_joints()] = sum;
    }
}

// After a round of impacts, on top of those before it.
@compute @workgroup_size(64)
fn book_joint_impacts(@builtin(local_invocation_index) lane: u32) {
    book_strikes(lane, arguments[3u * ARGUMENTS_IMPACT_ROUND] > 0u);
}

// After the last round, over or not.
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

// Gravity and applied forces. The contacts that are booked next need the mean velocities: each body has many.
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

// One entry for the substep from the sums of all workgroups, unless it is to be solved again.
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

// Halts before a substep counts in which friction and rolling made energy, or have by now since the start.
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

// What friction and rolling made, impacts apart.
fn made(works: Works) -> f32 {
    return works.friction + works.rolling - (works.impact_friction + works.impact_rolling);
}

// Without what grains brought that came later and took that left: less than that of the run.
fn turnover(so_far: Works) -> f32 {
    return max(totals.initial_kinetic, abs(so_far.gravity) + abs(so_far.boundary) + abs(so_far.normal)
        + abs(so_far.friction) + abs(so_far.rolling) + abs(so_far.impact));
}

// Kinetic energy of a free body with what a fall of a substep from rest gives on top: at rest a contact may book a little.
fn kinetic_scale(body: u32) -> f32 {
    let velocity = velocities[body];
    if velocity.inverse_mass == 0.0 {
        return 0.0;
    }
    let fall = params.h * pulled(body);
    return 0.5 * ((dot(velocity.linear, velocity.linear) + dot(fall, fall)) / velocity.inverse_mass
        + dot(velocity.angular, velocity.angular) / velocity.inverse_inertia);
}

// Before a substep is solved again: the velocities that the impacts left.
@compute @workgroup_size(64)
fn restore_velocities(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body < bodies() {
        velocities[body] = velocities_before[body];
    }
}

// Where the sums of impacts, of joints and of bodies begin.
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

// Places of a block of contacts.
fn first_of_block(block: u32) -> u32 {
    return block * BOOKED;
}

fn end_of_block(block: u32) -> u32 {
    return select(min(status.contacts, first_of_block(block + 1u)), 0u, is_halted());
}

fn block_of(group: vec3u) -> u32 {
    return group.x + group.y * GROUPS_PER_ROW;
}

var<workgroup> parts: array<Works, 256>;
var<workgroup> eighths: array<Works, 8>;

// The sum over a workgroup of `size`; only its first invocation may use it. In two steps: barriers are dear.
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

// What `book_bodies` made of a body that many contacts ask for; a guard needs what it was made of.
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

// Work of what one contact gives at the mean velocities of its bodies, a and b.
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
    // The impulse also works on what does not give way to it. That is no loss: the boundary puts it in.
    let held_a = held(a, constraint.bodies.x);
    let held_b = held(b, constraint.bodies.y);
    works.boundary = -dot(impulse.linear, contact_velocity(constraint, held_a, held_b))
        - dot(impulse.rolling, held_a.angular - held_b.angular);
    return works;
}

// The part of a velocity that no impulse changes: all of it for a body that is not free, else that along
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
