// Response: how the contacts without a colour answer to impulses on copies of their bodies [E5]. It stays while
// positions do, so it is found before the sweeps. Twin: Split::prepare in src/cpu/split.rs.

@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(16) var<storage, read> row_targets: array<RowTarget>;
@group(0) @binding(17) var<storage, read> row_arms: array<RowArms>;
@group(0) @binding(18) var<storage, read_write> rest: array<Rest>;

@compute @workgroup_size(64)
fn find_responses(@builtin(global_invocation_id) invocation: vec3u) {
    let contact = flat(invocation);
    if contact >= status.rest || is_halted() {
        return;
    }
    let row = load_row(status.colour_starts[COLOURS] + contact);
    let copies = vec2f(rest[contact].copies);
    let a = velocities[row.bodies.x];
    let b = velocities[row.bodies.y];
    let locked = vec2u(locked_axes(row.bodies.x), locked_axes(row.bodies.y));
    let mass_a = inverse_mass_of(row.bodies.x, a, locked.x, copies.x);
    let mass_b = inverse_mass_of(row.bodies.y, b, locked.y, copies.y);
    if is_general(row) {
        let k = mobility(row, mass_a, mass_b);
        rest[contact].response = k * row.normal;
        rest[contact].tangent_d = tangent_bound(k, row.normal);
        return;
    }
    rest[contact].response = response(mass_a, row.arm_a, row.normal) + response(mass_b, row.arm_b, row.normal);
    rest[contact].tangent_d = diagonal(row, copy_of(a, copies.x), copy_of(b, copies.y), locked).y;
}

// A body that shares its mass and inertia with so many copies of it.
fn copy_of(body: Velocity, copies: f32) -> Velocity {
    return Velocity(body.linear, copies * body.inverse_mass, body.angular, copies * body.inverse_inertia);
}
