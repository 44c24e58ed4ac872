// Narrowphase: the rows of the contact problem, from positions [E2]-[E4].
// Twin: src/cpu/narrowphase.rs. Rows stand in solving order.

@group(0) @binding(8) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<Surface>;
@group(0) @binding(6) var<storage, read> laws: array<Law>;
@group(0) @binding(16) var<storage, read_write> row_targets: array<RowTarget>;
@group(0) @binding(17) var<storage, read_write> row_arms: array<RowArms>;

// Where each contact is: normal and arms. Until the laws are applied a row has its gap where its target is to be, and its
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
        store_row(contact.place, row_with_surface(a, surfaces[contact.b]));
    } else {
        store_row(contact.place, row_with_sphere(a, contact.b - params.surfaces));
    }
}

fn store_row(place: u32, row: Row) {
    row_targets[place] = RowTarget(row.normal, row.target_velocity, row.bodies, row.sigma_n, row.friction);
    row_arms[place] = RowArms(row.arm_a, row.rolling_arm, row.arm_b, row.law);
}

fn row_with_sphere(index_a: u32, index_b: u32) -> Row {
    let a = spheres[index_a];
    let b = spheres[index_b];
    let ball_a = ball_at(index_a);
    let ball_b = ball_at(index_b);
    let apart = between(ball_b.pose, ball_a.pose);
    let distance = length(apart);
    var row: Row;
    row.bodies = vec2u(a.body, b.body);
    if is_removed(a) || is_removed(b) {
        row.target_velocity = -FAR;
        return row;
    }
    row.normal = direction_or(apart, distance, vec3f(0.0, 0.0, 1.0));
    let gap = distance - a.radius - b.radius;
    row.target_velocity = gap;
    row.arm_a = -(a.radius + 0.5 * gap) * row.normal + ball_a.lever;
    row.arm_b = (b.radius + 0.5 * gap) * row.normal + ball_b.lever;
    row.law = a.material * params.materials + b.material;
    row.rolling_arm = a.radius * b.radius / (a.radius + b.radius);
    return row;
}

fn row_with_surface(index: u32, surface: Surface) -> Row {
    let a = spheres[index];
    let ball = ball_at(index);
    let touch = touch_surface(surface, poses[surface.body], ball.pose, ball.contact_radius);
    var row: Row;
    row.bodies = vec2u(a.body, surface.body);
    if !touch.near || (!is_vertex(index) && is_removed(a)) {
        row.target_velocity = -FAR;
        return row;
    }
    row.normal = touch.normal;
    let gap = touch.length - ball.radius;
    row.target_velocity = gap;
    let arm = -(ball.radius + 0.5 * gap) * row.normal;
    row.arm_a = arm + ball.lever;
    row.arm_b = between(poses[surface.body], ball.pose) + arm;
    row.law = a.material * params.materials + surface.material;
    row.rolling_arm = ball.contact_radius;
    if surface.form == FORM_SPHERE {
        row.rolling_arm = ball.contact_radius * surface.size.x / (ball.contact_radius + surface.size.x);
    }
    if ball.radius == 0.0 {
        row.rolling_arm = -row.rolling_arm;
    }
    return row;
}

// The coefficients of the laws [E2]-[E4], from the gaps.
@compute @workgroup_size(64)
fn apply_laws(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    var row = load_row(place);
    let gap = row.target_velocity;
    if gap == -FAR {
        row_targets[place].target_velocity = FAR;
        return;
    }
    let law = laws[row.law];
    let radius = abs(row_arms[place].rolling_arm);
    let rolls = row_arms[place].rolling_arm > 0.0;
    row_arms[place].rolling_arm = select(0.0, law.rolling_resistance * radius, rolls);
    let overlap = -gap;
    if overlap <= 0.0 {
        row.target_velocity = overlap / params.h;
        row.sigma_n = landing_compliance(law, radius, dot(load_impulse(place).linear, row.normal));
    } else {
        switch params.normal_law {
            case LAW_HERTZ: {
                row.sigma_n = law.sigma_factor / sqrt(radius * overlap);
                row.target_velocity = law.target_factor * overlap;
            }
            case LAW_HOOKE: {
                row.sigma_n = law.sigma_factor / radius;
                row.target_velocity = law.target_factor * overlap;
            }
            default: {
                row.target_velocity = min(params.rigid_share * overlap, params.rigid_limit * radius) / params.h;
            }
        }
    }
    row_targets[place] = RowTarget(row.normal, row.target_velocity, row.bodies, row.sigma_n, law.friction);
}

// Σ_n of a contact that does not touch yet but carried an impulse λ in the last substep: it may sink to
// the overlap δ at which the elastic law carries λ, so Σ_n = δ / (h λ) [E2]. Rigid, it would hold its
// load at a gap of zero for ever and never come under the elastic law.
fn landing_compliance(law: Law, radius: f32, carried: f32) -> f32 {
    let work = params.h * carried;
    if work < 1e-30 || params.normal_law == LAW_RIGID {
        return 0.0;  // nothing carried, or too little to divide by
    }
    // At rest λ = q_n / Σ_n: with the factors of the law, λ sigma = target √R* δ^(3/2), or R* δ (Hooke).
    let load = carried * law.sigma_factor / law.target_factor;
    var overlap = load / radius;
    if params.normal_law == LAW_HERTZ {
        overlap = pow(load / sqrt(radius), 2.0 / 3.0);
    }
    return overlap / work;
}
