// Bodies with an inertia tensor, whose arms are not parallel to the normal [E5].
// Twins: InverseMass in src/cpu/velocity.rs, src/cpu/tensors.rs.

@group(0) @binding(14) var<storage, read_write> rigids: array<Rigid>;

// Inverse mass and inertia tensor of a body, or of a copy of it.
struct InverseMass {
    linear: vec3f,             // 1/mass along each axis, 0 along locked axes [1/kg]
    angular: mat3x3f,          // inverse inertia, world frame [1/(kg m²)]
    angular_bound: f32,        // upper bound of the eigenvalues of `angular` [1/(kg m²)]
}

fn is_rigid(body: u32) -> bool {
    return HAS_RIGID && body < params.rigids && (rigids[body].flags & RIGID) != 0u;
}

// Whether nothing but gravity, applied forces and its joints ever moves a body with an inertia tensor. Twin: World::undisturbed.
fn is_undisturbed(body: u32) -> bool {
    return HAS_RIGID && body < params.rigids && (rigids[body].flags & UNDISTURBED) != 0u;
}

// Six bits of locked axes of a body: translation x y z, rotation x y z.
fn locked_axes(body: u32) -> u32 {
    if HAS_LOCKS && body < params.rigids {
        return rigids[body].flags & LOCKED;
    }
    return 0u;
}

// Whether one of the bodies of a contact has an inertia tensor.
fn is_general(constraint: Constraint) -> bool {
    return is_rigid(constraint.bodies.x) || is_rigid(constraint.bodies.y);
}

fn inverse_inertia_of(body: u32) -> mat3x3f {
    let d = rigids[body].diagonal;
    let o = rigids[body].off_diagonal;
    return mat3x3f(d.x, o.z, o.y, o.z, d.y, o.x, o.y, o.x, d.z);
}

fn diagonal_matrix(d: vec3f) -> mat3x3f {
    return mat3x3f(d.x, 0.0, 0.0, 0.0, d.y, 0.0, 0.0, 0.0, d.z);
}

// Inverse mass and inertia of one of `copies` copies of a body.
fn inverse_mass_of(index: u32, body: Velocity, locked: u32, copies: f32) -> InverseMass {
    let linear = copies * body.inverse_mass * free_translation(locked);
    let bound = copies * body.inverse_inertia;
    if is_rigid(index) {
        return InverseMass(linear, copies * inverse_inertia_of(index), bound);
    }
    return InverseMass(linear, diagonal_matrix(bound * free_rotation(locked)), bound);
}

// Change of the velocity at `arm` per impulse along `axis` [1/kg].
fn response(body: InverseMass, arm: vec3f, axis: vec3f) -> vec3f {
    return body.linear * axis + cross(body.angular * cross(arm, axis), arm);
}

// Mobility K: change of the contact velocity per impulse [1/kg], a symmetric matrix [E5].
fn mobility(constraint: Constraint, a: InverseMass, b: InverseMass) -> mat3x3f {
    let x = vec3f(1.0, 0.0, 0.0);
    let y = vec3f(0.0, 1.0, 0.0);
    let z = vec3f(0.0, 0.0, 1.0);
    return mat3x3f(
        response(a, constraint.arm_a, x) + response(b, constraint.arm_b, x),
        response(a, constraint.arm_a, y) + response(b, constraint.arm_b, y),
        response(a, constraint.arm_a, z) + response(b, constraint.arm_b, z));
}

// D of friction: largest eigenvalue of P K P [1/kg], with P the projection on the tangent plane [E5].
fn tangent_bound(k: mat3x3f, normal: vec3f) -> f32 {
    let pushed = k * normal;
    let along = dot(normal, pushed);
    let trace = k[0].x + k[1].y + k[2].z - along;
    let squares = dot(k[0], k[0]) + dot(k[1], k[1]) + dot(k[2], k[2]) - 2.0 * dot(pushed, pushed) + along * along;
    return 0.5 * trace + sqrt(max(0.0, 0.5 * squares - 0.25 * trace * trace));
}

// Inverse effective masses D of the normal, friction and rolling constraints, from the mobility [E5].
fn general_diagonal(constraint: Constraint, a: InverseMass, b: InverseMass) -> vec3f {
    let k = mobility(constraint, a, b);
    return vec3f(dot(constraint.normal, k * constraint.normal) + constraint.compliance, tangent_bound(k, constraint.normal),
        a.angular_bound + b.angular_bound);
}
