// Springs: contact forces of the smooth method, as impulses over the substep [E13]. Twin: src/cpu/springs.rs.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read> laws: array<Law>;

// Viscoelastic damping: in proportion to the rate of the elastic force [E13].
override IS_VISCOELASTIC: bool = false;

// Stiffness and damping of a contact at its present overlap [E13].
struct Stiffness {
    force: f32,                // force of the normal spring [N]
    damping: f32,              // normal damping η_n [kg/s]
    tangent: f32,              // tangential stiffness k_t [N/m]
    tangent_damping: f32,      // tangential damping η_t [kg/s]
    released: f32,             // r: k_t over that of the last substep, at most 1 [-]
}

// Force or moment of a spring with its damper, and the part that the spring holds.
struct Stretched {
    force: vec3f,
    held: vec3f,
}

// Computes the contact forces [E13]. `bias_velocity` of a constraint holds the gap, `rolling_arm` the effective radius: see
// `find_geometry`.
@compute @workgroup_size(64)
fn stretch(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    let constraint = load_constraint(place);
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    let overlap = -constraint.bias_velocity;
    let inverse_mass = a.inverse_mass + b.inverse_mass;
    if overlap <= 0.0 || inverse_mass == 0.0 {
        store_impulse(place, Impulse(vec3f(0.0), vec3f(0.0)));
        store_springs(place, Springs(vec3f(0.0), 0.0, vec3f(0.0)));
        return;
    }
    let normal = constraint.normal;
    let law = laws[constraint.law];
    let u = contact_velocity(constraint, a, b);
    let closing = -dot(u, normal);
    let radius = abs(rolling_arm_of(place));
    let stiffness = stiffness_of(law, radius, overlap, closing, inverse_mass);
    let along = stiffness.force + stiffness.damping * closing;
    // Friction is zero where the damper pulls the bodies together.
    let pressed = max(along, 0.0);
    let springs = load_springs(place);
    let about = 0.5 * params.h * dot(normal, a.angular + b.angular);

    let slip = u + closing * normal;
    let tangent = stretched(stiffness.released * turned_with(springs.tangent, normal, about),
        params.h * stiffness.tangent * slip, stiffness.tangent_damping * slip, law.friction * pressed, normal);

    var roll = Stretched(vec3f(0.0), vec3f(0.0));
    let resistance = law.rolling_resistance * radius;
    if resistance > 0.0 {
        let lever = radius * radius;
        let spin = a.angular - b.angular;
        let held = turned_with(springs.rolling, normal, about) + springs.twisting * normal;
        roll = stretched(stiffness.released * held, params.h * lever * stiffness.tangent * spin,
            lever * stiffness.tangent_damping * spin, resistance * pressed, normal);
    }
    store_impulse(place, Impulse(params.h * (along * normal + tangent.force), params.h * roll.force));
    let twisting = dot(roll.held, normal);
    store_springs(place, Springs(tangent.held, twisting, roll.held - twisting * normal));
    store_cohesion(place, params.h * pull_off(law, radius) / holding_points(place, constraint.friction));
}

fn stiffness_of(law: Law, radius: f32, overlap: f32, closing: f32, inverse_mass: f32) -> Stiffness {
    var force = law.stiffness * radius * overlap;
    var slope = law.stiffness * radius;
    var released = 1.0;
    if params.normal_law == LAW_HERTZ {
        let stiffness = law.stiffness * sqrt(radius);
        let before = overlap - params.h * closing;
        force = stiffness * overlap * sqrt(overlap);
        slope = 1.5 * stiffness * sqrt(overlap);
        if before > overlap {
            released = sqrt(overlap / before);
        }
    }
    var damping = law.damping * sqrt(slope / inverse_mass);
    if IS_VISCOELASTIC {
        damping = law.damping * slope;
    }
    return Stiffness(force, damping, law.tangential_stiffness * slope, sqrt(law.tangential_stiffness) * damping, released);
}

// Force of a spring in the tangent plane, turned with the contact since the last substep; its length stays.
fn turned_with(held: vec3f, normal: vec3f, about: f32) -> vec3f {
    let in_plane = held - dot(held, normal) * normal;
    let turned = in_plane + about * cross(normal, in_plane);
    let length_squared = dot(turned, turned);
    if length_squared == 0.0 {
        return vec3f(0.0);
    }
    return turned * sqrt(dot(held, held) / length_squared);
}

// Force of a spring and the damper beside it, limited by `bound`. At the limit the spring slips and the damper has no effect.
fn stretched(before: vec3f, stretch: vec3f, drag: vec3f, bound: f32, normal: vec3f) -> Stretched {
    let spring = before - stretch;
    let held = limit(spring, bound, normal);
    if all(held == spring) {
        return Stretched(limit(spring - drag, bound, normal), held);
    }
    return Stretched(held, held);
}
