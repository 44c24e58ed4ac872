// Prediction: bias velocities and first impulses of the contacts [E2], [E7], and the velocities under the external
// forces alone [E1]. Twins: src/cpu/{narrowphase,warm_start,predict}.rs.

@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read> laws: array<Law>;
@group(0) @binding(6) var<storage, read_write> arguments: array<u32>;

@compute @workgroup_size(64)
fn plan_sweep(@builtin(local_invocation_index) lane: u32) {
    plan_pass(ARGUMENTS_SWEEP, lane, !is_halted());
    if lane == 0u {
        plan_groups(ARGUMENTS_BOOKED, blocks_of_contacts(status.contacts));
    }
}

// Plans the pass after the sweeps again, as check_change may have emptied it.
@compute @workgroup_size(64)
fn plan_sums(@builtin(local_invocation_index) lane: u32) {
    if lane == 0u {
        plan_dispatches(ARGUMENTS_SWEEP, !is_halted());
    }
}

// Completes q_n from the velocities after the impact stage, and sets λ⁰ inside the cone of this substep [E2], [E7].
@compute @workgroup_size(64)
fn prepare_constraints(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let constraint = load_constraint(place);
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    let u = contact_velocity(constraint, a, b);
    store_impulse(place, into_cone(constraint, guess(place, constraint, load_impulse(place), u, a.angular - b.angular)));
    // In a substep that is solved again q_n is complete already.
    if is_elastic(constraint) && status.careful == 0u {
        constraint_heads[place].bias_velocity += laws[constraint.law].upsilon * dot(u, constraint.normal);
    }
    if status.careful == 2u {
        constraint_heads[place].friction = 0.0;
        store_rolling_arm(place, 0.0);
    }
}

// Whether a contact overlaps under an elastic law. The bias velocity of an open contact is not positive: it closes the gap.
fn is_elastic(constraint: Constraint) -> bool {
    return constraint.compliance > 0.0 && constraint.bias_velocity > 0.0;
}

// First impulse of a contact before its projection on the cone [E7].
fn guess(place: u32, constraint: Constraint, carried: Impulse, u: vec3f, spin: vec3f) -> Parts {
    var fraction = 0.0;
    switch start() {
        case WARM_HISTORY: { fraction = params.fraction; }
        case WARM_ADAPTIVE: { fraction = adaptive_fraction(length(u)); }
        case WARM_MODEL: { return model(constraint, u, spin); }
        case WARM_NORMALS: {
            let normal = normal_share(place, params.fraction, dot(carried.linear, constraint.normal));
            return Parts(normal, vec3f(0.0), vec3f(0.0));
        }
        default: {}
    }
    let linear = fraction * carried.linear;
    var normal = dot(linear, constraint.normal);
    if HAS_COHESION && start() != WARM_COLD {
        normal = normal_share(place, fraction, dot(carried.linear, constraint.normal));
    }
    return Parts(normal, linear, fraction * carried.rolling);
}

// Share of a normal impulse that a contact starts from. The part that balances cohesion is kept in full, as cohesion acts in full.
fn normal_share(place: u32, fraction: f32, normal: f32) -> f32 {
    if !HAS_COHESION {
        return fraction * normal;
    }
    let held = min(cohesion(place), normal);
    return held + fraction * (normal - held);
}

// Warm start of this substep, WARM_*: cold if the substep is solved again.
fn start() -> u32 {
    return select(params.warm_start, WARM_COLD, status.careful != 0u);
}

// Share of the adaptive warm start, β_c = 1 - (1 - β) min(1, |u| / moving): 1 at rest, β when moving [E7].
fn adaptive_fraction(speed: f32) -> f32 {
    if speed < params.moving {
        return 1.0 - (1.0 - params.fraction) * (speed / params.moving);
    }
    return select(1.0, params.fraction, speed > 0.0);
}

// Impulse of the warm start from the model, from overlap and contact velocity: Σ_n λ_n = q_n, as at rest [E7].
fn model(constraint: Constraint, u: vec3f, spin: vec3f) -> Parts {
    var normal = 0.0;
    if is_elastic(constraint) {
        normal = constraint.bias_velocity / constraint.compliance;
    }
    return Parts(normal, -params.model_gain * u, -params.model_gain * spin);
}

// Projects an impulse on its cone, at the given normal impulse.
fn into_cone(constraint: Constraint, start: Parts) -> Impulse {
    if start.normal <= 0.0 {
        return Impulse(vec3f(0.0), vec3f(0.0));
    }
    let in_plane = start.tangent - dot(start.tangent, constraint.normal) * constraint.normal;
    let tangent = limit(in_plane, constraint.friction * start.normal, constraint.normal);
    let rolling = limit(start.rolling, constraint.rolling_arm * start.normal, constraint.normal);
    return Impulse(start.normal * constraint.normal + tangent, rolling);
}

// Applies gravity, forces and torques to the velocities [E1].
@compute @workgroup_size(64)
fn apply_forces(@builtin(global_invocation_id) invocation: vec3u) {
    let body = flat(invocation);
    if body >= bodies() || is_halted() {
        return;
    }
    let velocity = velocities[body];
    if velocity.inverse_mass > 0.0 {
        velocities[body].linear = velocity.linear + params.h * pulled(body);
        if HAS_FORCES && body < params.rigids {
            velocities[body].angular += params.h * twisted(body);
        }
    }
}
