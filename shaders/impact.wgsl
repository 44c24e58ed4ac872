// Impact [E6]: contacts that close faster than the threshold, and in this substep, bounce first.
// Twin: src/reference/impact.rs. When nothing bounces, the dispatches of this stage are empty.
//
// The rows are made over for the impact problem (rigid, with its own targets), swept by the same
// kernel into impulses that are thrown away, and then filled anew by the narrowphase.

@group(0) @binding(2) var<storage, read_write> impulses: array<vec2f>;
@group(0) @binding(16) var<storage, read_write> row_targets: array<RowTarget>;
@group(0) @binding(17) var<storage, read> row_arms: array<RowArms>;
@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read> laws: array<Law>;
@group(0) @binding(6) var<storage, read_write> arguments: array<u32>;
@group(0) @binding(7) var<storage, read> colour_starts: array<u32>;
@group(0) @binding(8) var<storage, read> poses: array<Pose>;         // for locked axes

// Gap of a row [m], 0 where the shapes overlap: overlapping contacts aim to part, the others to close.
fn gap_of(row: Row) -> f32 {
    return max(0.0, -params.h * row.target_velocity);
}

// Gap up to which a contact counts as touching [m].
fn reach_of(row: Row) -> f32 {
    return params.touch_tolerance * length(row.arm_a);
}

fn bounces(row: Row, speed: f32) -> bool {
    return speed < -params.impact_threshold && gap_of(row) + params.h * speed <= reach_of(row);
}

fn closing(row: Row) -> f32 {
    return dot(contact_velocity(row, velocities[row.bodies.x], velocities[row.bodies.y]), row.normal);
}

@compute @workgroup_size(1)
fn begin_impact() {
    atomicStore(&status.impacts, 0u);
}

@compute @workgroup_size(64)
fn find_impacts(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let row = load_row(place);
    if bounces(row, closing(row)) {
        atomicStore(&status.impacts, 1u);
    }
}

// Arguments of this stage: as for the sweep when something bounces, empty otherwise.
@compute @workgroup_size(64)
fn plan_impact(@builtin(local_invocation_index) lane: u32) {
    var runs = atomicLoad(&status.impacts) == 1u && !is_halted();
    if runs && status.calm == 1u {
        runs = false;
        if lane == 0u {
            atomicOr(&status.halted, HALT_BUSY);
        }
    }
    if runs && lane == 0u {
        status.bounces++;
    }
    if lane < 3u {
        arguments[3u * ARGUMENTS_IMPACT_CONTACTS + lane] =
            select(0u, arguments[3u * ARGUMENTS_CONTACTS + lane], runs);
    }
    plan_colours(ARGUMENTS_IMPACT_SWEEP, lane, runs);
}

@compute @workgroup_size(64)
fn prepare_impact(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let row = load_row(place);
    let speed = closing(row);
    var target_velocity = FAR;
    if bounces(row, speed) {
        target_velocity = -restitution_of(row) * speed;
    } else if gap_of(row) <= reach_of(row) {
        target_velocity = -restitution_of(row) * max(0.0, speed);
    }
    row_targets[place].target_velocity = target_velocity;
    row_targets[place].sigma_n = 0.0;
    for (var i = 0u; i < 3u; i++) {
        impulses[3u * place + i] = vec2f(0.0);
    }
}

// Mobility given to locked directions, over the trace of the mobility [-].
const LOCKED_GIVE = 1e-6;

// That of the materials; with a free boundary and friction no more than gains no energy: 1/√((n·K n)(n·K⁻¹ n)).
fn restitution_of(row: Row) -> f32 {
    let restitution = laws[row.law].restitution;
    if row.friction == 0.0 || !is_shared(row) {
        return restitution;
    }
    let a = inverse_mass_of(row.bodies.x, velocities[row.bodies.x], poses[row.bodies.x].locked, 1.0);
    let b = inverse_mass_of(row.bodies.y, velocities[row.bodies.y], poses[row.bodies.y].locked, 1.0);
    var k = mobility(row, a, b);
    let scale = k[0].x + k[1].y + k[2].z;
    if scale <= 0.0 {
        return restitution;
    }
    k = k * (1.0 / scale) + diagonal_matrix(vec3f(LOCKED_GIVE));
    // n·K⁻¹ n from the cofactors of the symmetric K.
    let solved = vec3f(dot(cross(k[1], k[2]), row.normal), dot(cross(k[2], k[0]), row.normal),
        dot(cross(k[0], k[1]), row.normal));
    let product = dot(row.normal, k * row.normal) * dot(row.normal, solved) / dot(k[0], cross(k[1], k[2]));
    return min(restitution, 1.0 / sqrt(max(product, 1.0)));
}
