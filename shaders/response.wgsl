// Response of the contact velocity of overflow contacts to impulses on copies of their bodies [E5]. It depends on
// positions alone, so it is computed before the sweeps. Twin: Split::prepare in src/cpu/split.rs.

@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(18) var<storage, read_write> overflow: array<Overflow>;

@compute @workgroup_size(64)
fn find_responses(@builtin(global_invocation_id) invocation: vec3u) {
    let contact = flat(invocation);
    if contact >= status.overflow || is_halted() {
        return;
    }
    let constraint = load_constraint(status.coloured + contact);
    let copies = vec2f(overflow[contact].copies);
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    let locked = vec2u(locked_axes(constraint.bodies.x), locked_axes(constraint.bodies.y));
    let mass_a = inverse_mass_of(constraint.bodies.x, a, locked.x, copies.x);
    let mass_b = inverse_mass_of(constraint.bodies.y, b, locked.y, copies.y);
    if is_general(constraint) {
        let k = mobility(constraint, mass_a, mass_b);
        overflow[contact].response = k * constraint.normal;
        overflow[contact].tangent_d = tangent_bound(k, constraint.normal);
        return;
    }
    overflow[contact].response = response(mass_a, constraint.arm_a, constraint.normal) + response(mass_b, constraint.arm_b, constraint.normal);
    overflow[contact].tangent_d = diagonal(constraint, copy_of(a, copies.x), copy_of(b, copies.y), locked).y;
}

// One of `copies` copies of a body, which share its mass and inertia.
fn copy_of(body: Velocity, copies: f32) -> Velocity {
    return Velocity(body.linear, copies * body.inverse_mass, body.angular, copies * body.inverse_inertia);
}
