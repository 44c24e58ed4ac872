// Impact [E6]: contacts that close in this substep, faster than the threshold, bounce before the solve.
// Twin: src/cpu/impact.rs. If no contact bounces, the dispatches of this stage are empty.
//
//     find_impacts ─► plan_impact ─► prepare_impact ─► two sweeps ─► check_impacts ─► book_* ─► aim_round
//                                                          ▲                                        │
//                                                          └────────────────────────────────────────┘
//
// A bounce may drive a grain against the next one within the same substep, so the stage goes in rounds: when the sweeps of a
// round have settled, its work enters the energy balance, and contacts that would still close bounce in the next round. The
// constraints are modified for the impacts (rigid, with their own bias velocities, and the gap in place of the compliance); the
// narrowphase then computes them anew.

@group(0) @binding(2) var<storage, read_write> impulses: array<vec2f>;   // impulses of the present round, without cohesion
override IMPULSE_PAIRS: u32 = 3u;  // number of pairs per contact, as in impulses.wgsl
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read> laws: array<Law>;
@group(0) @binding(6) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(7) var<storage, read_write> velocities_before: array<Velocity>;   // before the round

// Gap of a constraint of the narrowphase [m], 0 where the shapes overlap. The bias velocity of overlapping contacts is positive or
// zero, that of open ones is -gap/h.
fn gap_of(constraint: Constraint) -> f32 {
    return max(0.0, -params.h * constraint.bias_velocity);
}

// Gap up to which a contact counts as touching [m].
fn reach_of(constraint: Constraint) -> f32 {
    return params.touch_tolerance * length(constraint.arm_a);
}

// Normal contact velocity u_n [m/s], negative where the contact closes.
fn closing(constraint: Constraint) -> f32 {
    return dot(contact_velocity(constraint, velocities[constraint.bodies.x], velocities[constraint.bodies.y]), constraint.normal);
}

// Change of u_n in the substep by gravity and applied forces alone, h a_n [m/s] [E6].
fn gained(constraint: Constraint) -> f32 {
    return params.h * dot(constraint.normal, pulled(constraint.bodies.x) - pulled(constraint.bodies.y));
}

// Whether a contact bounces: it closes faster than the threshold, and its gap closes within the substep [E6].
fn bounces(constraint: Constraint, gap: f32, before: f32, gain: f32, threshold: f32) -> bool {
    return before < -threshold && gap + params.h * min(0.0, before + gain) <= reach_of(constraint);
}

// Bias velocity of a contact of this gap in an impact: the least speed at which it parts, FAR if it takes no part [E6]. If it bounces,
// its closing speed enters `status.fastest`, and the residual until a sweep finds another.
fn aim(constraint: Constraint, gap: f32) -> f32 {
    let before = closing(constraint);
    let gain = gained(constraint);
    // Half of the gain h a_n comes before the impact, the other half after it [E6].
    let rebound = -restitution_of(constraint) * (before + 0.5 * gain) - 0.5 * gain;
    if bounces(constraint, gap, before, gain, max(params.impact_threshold, status.noise)) {
        let speed = bitcast<u32>(-before);  // ordered like the positive floats
        atomicMax(&status.fastest, speed);
        atomicMax(&status.impact_residual, speed);
        return rebound;
    }
    if gap <= reach_of(constraint) {
        return select(0.0, rebound, before + gain > 0.0);
    }
    return FAR;
}

// Value of `status.impacts` when a contact bounces that `plan_impact` has not seen yet.
const FOUND = 2u;

// Finds out whether any contact bounces.
@compute @workgroup_size(64)
fn find_impacts(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let constraint = load_constraint(place);
    let before = closing(constraint);
    if before < -params.impact_threshold && bounces(constraint, gap_of(constraint), before, gained(constraint), params.impact_threshold) {
        atomicStore(&status.impacts, FOUND);
    }
}

// Plans the dispatches of this stage: like those of a sweep if a contact bounces, empty otherwise.
@compute @workgroup_size(64)
fn plan_impact(@builtin(local_invocation_index) lane: u32) {
    let bounce = atomicLoad(&status.impacts) == FOUND;
    let was_halted = is_halted();
    let runs = bounce && !was_halted && status.calm == 0u;
    workgroupBarrier();
    if lane == 0u && !was_halted {
        begin(runs);
        if bounce && !runs {
            atomicOr(&status.halted, HALT_BUSY);
        }
    }
    plan_impacts(lane, runs);
}

fn plan_impacts(lane: u32, runs: bool) {
    if lane < 3u {
        arguments[3u * ARGUMENTS_IMPACT_CONTACTS + lane] =
            select(0u, arguments[3u * ARGUMENTS_CONTACTS + lane], runs);
        arguments[3u * ARGUMENTS_IMPACT_PARTS + lane] = select(0u, arguments[3u * ARGUMENTS_PARTS + lane], runs);
        arguments[3u * ARGUMENTS_IMPACT_ROUND + lane] = 0u;
        arguments[3u * ARGUMENTS_IMPACT_AIM + lane] = 0u;
    }
    plan_pass(ARGUMENTS_IMPACT_SWEEP, lane, runs);
}

// Halts if the impacts have neither settled nor ended when the sweeps of this submission are done. Nothing of the substep that comes
// after the sweeps has happened by then, so the host lets them go on in another submission.
@compute @workgroup_size(1)
fn pause_impacts() {
    if !strikes_nothing() && status.impact_end > 0u && !is_halted() {
        atomicOr(&status.halted, HALT_IMPACTS);
    }
}

// Plans the dispatches of the impacts of a halted substep again: the steps after it have planned empty ones.
@compute @workgroup_size(64)
fn resume_impacts(@builtin(local_invocation_index) lane: u32) {
    plan_impacts(lane, true);
}

fn begin(runs: bool) {
    let flag = select(0u, 1u, runs);
    atomicStore(&status.impacts, flag);
    atomicStore(&status.fastest, 0u);
    atomicStore(&status.impact_residual, 0u);
    status.bounces += flag;
    status.rounds = 0u;
    status.noise = 0.0;
    status.impact_sweeps = 0u;
    status.impact_end = params.impact_block;
    status.block_residual = -FAR;
}

// Prepares the constraints of the first round, from those of the narrowphase.
@compute @workgroup_size(64)
fn prepare_impact(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place < status.contacts && !is_halted() {
        let constraint = load_constraint(place);
        begin_constraint(place, constraint, gap_of(constraint));
    }
}

// Prepares the constraints of the next round, from the velocities after the last one, and keeps these for the energy balance.
@compute @workgroup_size(64)
fn aim_round(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place < bodies() {
        velocities_before[place] = velocities[place];
    }
    if place >= status.contacts {
        return;
    }
    let constraint = load_constraint(place);
    begin_constraint(place, constraint, constraint.compliance);
    if place == 0u {
        status.rounds++;
    }
}

fn begin_constraint(place: u32, constraint: Constraint, gap: f32) {
    constraint_heads[place].bias_velocity = aim(constraint, gap);
    constraint_heads[place].compliance = gap;
    for (var i = 0u; i < IMPULSE_PAIRS; i++) {
        impulses[IMPULSE_PAIRS * place + i] = vec2f(0.0);
    }
}

// Largest residual at the end of a block of sweeps over that of the block before, with which another block follows [-].
const IMPACT_GAIN = 0.5f;

// Ends the round if the last sweep changed little enough, and the stage if no contact bounces in this round, which then was not swept,
// or if it is the last sweep of a block that brought the residual down by too little, or of the last block. Runs after every second sweep.
@compute @workgroup_size(64)
fn check_impacts(@builtin(local_invocation_index) lane: u32) {
    let is_swept = !strikes_nothing() && !is_halted() && status.impact_end > 0u;
    let sweeps = status.impact_sweeps + 2u;
    let end = status.impact_end;
    let fastest = bitcast<f32>(atomicLoad(&status.fastest));
    let change = bitcast<f32>(atomicLoad(&status.change));
    let is_over = is_swept && change < params.impact_tolerance * fastest;
    let ends_block = is_swept && sweeps >= end;
    let settles = is_over || change <= IMPACT_GAIN * status.block_residual;
    let is_last = ends_block && !(settles && end < params.most_impact_sweeps);
    workgroupBarrier();
    if lane <= PASS && (!is_swept || is_last) {
        arguments[3u * (ARGUMENTS_IMPACT_SWEEP + lane)] = 0u;
    }
    if lane < 3u {
        arguments[3u * ARGUMENTS_IMPACT_ROUND + lane] =
            select(0u, arguments[3u * ARGUMENTS_IMPACT_CONTACTS + lane], is_over);
    }
    if lane == 0u {
        plan(ARGUMENTS_IMPACT_AIM, select(0u, max(bodies(), status.contacts), is_over));
        if is_swept {
            status.impact_sweeps = sweeps;
            status.most_sweeps = max(status.most_sweeps, sweeps);
            atomicStore(&status.impact_residual, bitcast<u32>(change));
        }
        if ends_block {
            status.impact_end = select(end + params.impact_block, 0u, is_last);
            status.block_residual = change;
        }
        if is_over {
            // The closing speeds that the sweeps left must not bounce again.
            status.noise = max(status.noise, 2.0 * params.impact_tolerance * fastest);
            status.block_residual = -FAR;
            atomicStore(&status.fastest, 0u);
        }
        atomicStore(&status.change, 0u);
    }
}

// Mobility added to all directions, as a share of its trace, so that K can be inverted with locked axes [-].
const LOCKED_GIVE = 1e-6;

// Restitution e of a contact [E6]: that of the materials; with friction and an inertia tensor at most 1/√((n·K n)(n·K⁻¹ n)), so that
// the impact gains no energy.
fn restitution_of(constraint: Constraint) -> f32 {
    let restitution = laws[constraint.law].restitution;
    if constraint.friction == 0.0 || !is_general(constraint) {
        return restitution;
    }
    let a = inverse_mass_of(constraint.bodies.x, velocities[constraint.bodies.x], locked_axes(constraint.bodies.x), 1.0);
    let b = inverse_mass_of(constraint.bodies.y, velocities[constraint.bodies.y], locked_axes(constraint.bodies.y), 1.0);
    var k = mobility(constraint, a, b);
    let scale = k[0].x + k[1].y + k[2].z;
    if scale <= 0.0 {
        return restitution;
    }
    k = k * (1.0 / scale) + diagonal_matrix(vec3f(LOCKED_GIVE));
    // n·K⁻¹ n from the cofactors of the symmetric K.
    let solved = vec3f(dot(cross(k[1], k[2]), constraint.normal), dot(cross(k[2], k[0]), constraint.normal),
        dot(cross(k[0], k[1]), constraint.normal));
    let product = dot(constraint.normal, k * constraint.normal) * dot(constraint.normal, solved) / dot(k[0], cross(k[1], k[2]));
    return min(restitution, 1.0 / sqrt(max(product, 1.0)));
}
