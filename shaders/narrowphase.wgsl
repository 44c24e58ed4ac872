// Narrowphase: the constraints of the contact problem, from positions [E2]-[E4].
// Twin: src/cpu/narrowphase.rs. Rows stand in solving order.

@group(0) @binding(8) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<Surface>;
@group(0) @binding(6) var<storage, read> laws: array<Law>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<ConstraintArms>;

// Where each contact is: normal and arms. Until the laws are applied a constraint has its gap where its target is to be, and its
// effective radius, negative for a point that does not roll, in place of the rolling arm.
@compute @workgroup_size(64)
fn find_geometry(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let contact = contacts[k];
    let a = contact.a - params.surfaces;
    if contact.b < params.surfaces {
        store_constraint(contact.place, constraint_with_surface(a, surfaces[contact.b]));
    } else {
        store_constraint(contact.place, constraint_with_sphere(a, contact.b - params.surfaces));
    }
}

fn store_constraint(place: u32, constraint: Constraint) {
    constraint_heads[place] = ConstraintHead(constraint.normal, constraint.bias_velocity, constraint.bodies, constraint.compliance, constraint.friction);
    constraint_arms[place] = ConstraintArms(constraint.arm_a, constraint.rolling_arm, constraint.arm_b, constraint.law);
}

fn constraint_with_sphere(index_a: u32, index_b: u32) -> Constraint {
    let a = spheres[index_a];
    let b = spheres[index_b];
    let ball_a = ball_at(index_a);
    let ball_b = ball_at(index_b);
    let apart = between(ball_b.pose, ball_a.pose);
    let distance = length(apart);
    var constraint: Constraint;
    constraint.bodies = vec2u(a.body, b.body);
    if is_removed(a) || is_removed(b) {
        constraint.bias_velocity = -FAR;
        return constraint;
    }
    constraint.normal = direction_or(apart, distance, vec3f(0.0, 0.0, 1.0));
    let gap = distance - a.radius - b.radius;
    constraint.bias_velocity = gap;
    constraint.arm_a = -(a.radius + 0.5 * gap) * constraint.normal + ball_a.lever;
    constraint.arm_b = (b.radius + 0.5 * gap) * constraint.normal + ball_b.lever;
    constraint.law = a.material * params.materials + b.material;
    constraint.rolling_arm = a.radius * b.radius / (a.radius + b.radius);
    return constraint;
}

fn constraint_with_surface(index: u32, surface: Surface) -> Constraint {
    let a = spheres[index];
    let ball = ball_at(index);
    let touch = touch_surface(surface, poses[surface.body], ball.pose, ball.contact_radius);
    var constraint: Constraint;
    constraint.bodies = vec2u(a.body, surface.body);
    if !touch.near || (!is_vertex(index) && is_removed(a)) {
        constraint.bias_velocity = -FAR;
        return constraint;
    }
    constraint.normal = touch.normal;
    let gap = touch.length - ball.radius;
    constraint.bias_velocity = gap;
    let arm = -(ball.radius + 0.5 * gap) * constraint.normal;
    constraint.arm_a = arm + ball.lever;
    constraint.arm_b = between(poses[surface.body], ball.pose) + arm;
    constraint.law = a.material * params.materials + surface.material;
    constraint.rolling_arm = ball.contact_radius;
    if surface.form == FORM_SPHERE {
        constraint.rolling_arm = ball.contact_radius * surface.size.x / (ball.contact_radius + surface.size.x);
    }
    if ball.radius == 0.0 {
        constraint.rolling_arm = -constraint.rolling_arm;
    }
    return constraint;
}

// The coefficients of the laws [E2]-[E4], from the gaps.
@compute @workgroup_size(64)
fn apply_laws(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    var constraint = load_constraint(place);
    let gap = constraint.bias_velocity;
    if gap == -FAR {
        constraint_heads[place].bias_velocity = FAR;
        return;
    }
    let law = laws[constraint.law];
    let radius = abs(constraint_arms[place].rolling_arm);
    let rolls = constraint_arms[place].rolling_arm > 0.0;
    constraint_arms[place].rolling_arm = select(0.0, law.rolling_resistance * radius, rolls);
    let overlap = -gap;
    if overlap <= 0.0 {
        constraint.bias_velocity = overlap / params.h;
        constraint.compliance = landing_compliance(law, radius, dot(load_impulse(place).linear, constraint.normal));
    } else {
        switch params.normal_law {
            case LAW_HERTZ: {
                constraint.compliance = law.sigma_factor / sqrt(radius * overlap);
                constraint.bias_velocity = law.target_factor * overlap;
            }
            case LAW_HOOKE: {
                constraint.compliance = law.sigma_factor / radius;
                constraint.bias_velocity = law.target_factor * overlap;
            }
            default: {
                constraint.bias_velocity = min(params.rigid_share * overlap, params.rigid_limit * radius) / params.h;
            }
        }
    }
    constraint_heads[place] = ConstraintHead(constraint.normal, constraint.bias_velocity, constraint.bodies, constraint.compliance, law.friction);
}

// Σ_n of a contact that does not touch yet but carried an impulse λ in the last substep: it may sink to
// the overlap δ at which the elastic law carries λ, so Σ_n = δ / (h λ) [E2]. Rigid, it would hold its
// load at a gap of zero for ever and never come under the elastic law.
fn landing_compliance(law: Law, radius: f32, carried: f32) -> f32 {
    let work = params.h * carried;
    if work < 1e-30 || params.normal_law == LAW_RIGID {
        return 0.0;  // nothing carried, or too little to divide by
    }
    // At rest λ = q_n / Σ_n: with the factors of the law, compliance · λ = factor · √R* δ^(3/2), or R* δ (Hooke).
    let load = carried * law.sigma_factor / law.target_factor;
    var overlap = load / radius;
    if params.normal_law == LAW_HERTZ {
        overlap = pow(load / sqrt(radius), 2.0 / 3.0);
    }
    return overlap / work;
}
