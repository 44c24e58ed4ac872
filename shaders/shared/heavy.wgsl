// Bodies of contacts with free boundaries: inertia is a tensor, and arms are not parallel to the normal [E5].
// Twin: Heavy in src/reference/velocity.rs.

@group(0) @binding(14) var<storage, read_write> free_boundaries: array<FreeBoundary>;

// A body of a contact with a free boundary: its inertia is a tensor.
struct Heavy {
    linear: vec3f,             // [m/s]
    angular: vec3f,            // [rad/s]
    inverse_mass: vec3f,       // along each axis, 0 where it does not move [1/kg]
    inverse_inertia: mat3x3f,  // world frame [1/(kg m²)]
    inertia_bound: f32,        // above all eigenvalues of it
}

fn is_free_boundary(body: u32) -> bool {
    return HAS_FREE_BOUNDARIES && body < params.boundaries && free_boundaries[body].moments.x > 0.0;
}

fn is_shared(row: Row) -> bool {
    return is_free_boundary(row.bodies.x) || is_free_boundary(row.bodies.y);
}

fn inverse_inertia_of(boundary: u32) -> mat3x3f {
    let d = free_boundaries[boundary].diagonal;
    let o = free_boundaries[boundary].off_diagonal;
    return mat3x3f(d.x, o.z, o.y, o.z, d.y, o.x, o.y, o.x, d.z);
}

fn diagonal_matrix(d: vec3f) -> mat3x3f {
    return mat3x3f(d.x, 0.0, 0.0, 0.0, d.y, 0.0, 0.0, 0.0, d.z);
}

fn heavy(index: u32, body: Velocity, locked: u32, copies: f32) -> Heavy {
    let inverse_mass = copies * body.inverse_mass * free_translation(locked);
    if is_free_boundary(index) {
        return Heavy(body.linear, body.angular, inverse_mass, copies * inverse_inertia_of(index),
            copies * body.inverse_inertia);
    }
    let inverse_inertia = copies * body.inverse_inertia;
    return Heavy(body.linear, body.angular, inverse_mass, diagonal_matrix(inverse_inertia * free_rotation(locked)),
        inverse_inertia);
}

fn push_heavy(body: Heavy, impulse: vec3f, arm: vec3f) -> Heavy {
    var pushed = body;
    pushed.linear += body.inverse_mass * impulse;
    pushed.angular += body.inverse_inertia * cross(arm, impulse);
    return pushed;
}

fn twist_heavy(body: Heavy, impulse: vec3f) -> Heavy {
    var twisted = body;
    twisted.angular += body.inverse_inertia * impulse;
    return twisted;
}

fn response(body: Heavy, arm: vec3f, axis: vec3f) -> vec3f {
    return body.inverse_mass * axis + cross(body.inverse_inertia * cross(arm, axis), arm);
}

// Contact velocity that an impulse brings about, per impulse [1/kg]; symmetric.
fn mobility(row: Row, a: Heavy, b: Heavy) -> mat3x3f {
    let x = vec3f(1.0, 0.0, 0.0);
    let y = vec3f(0.0, 1.0, 0.0);
    let z = vec3f(0.0, 0.0, 1.0);
    return mat3x3f(
        response(a, row.arm_a, x) + response(b, row.arm_b, x),
        response(a, row.arm_a, y) + response(b, row.arm_b, y),
        response(a, row.arm_a, z) + response(b, row.arm_b, z));
}

// Largest eigenvalue of P K P, with P the projection on the tangent plane.
fn tangent_bound(k: mat3x3f, normal: vec3f) -> f32 {
    let pushed = k * normal;
    let along = dot(normal, pushed);
    let trace = k[0].x + k[1].y + k[2].z - along;
    let squares = dot(k[0], k[0]) + dot(k[1], k[1]) + dot(k[2], k[2]) - 2.0 * dot(pushed, pushed) + along * along;
    return 0.5 * trace + sqrt(max(0.0, 0.5 * squares - 0.25 * trace * trace));
}

// D of the normal, friction and rolling rows.
fn shared_diagonal(row: Row, a: Heavy, b: Heavy) -> vec3f {
    let k = mobility(row, a, b);
    return vec3f(dot(row.normal, k * row.normal) + row.sigma_n, tangent_bound(k, row.normal),
        a.inertia_bound + b.inertia_bound);
}

fn shared_velocity(row: Row, a: Heavy, b: Heavy) -> vec3f {
    return a.linear + cross(a.angular, row.arm_a) - b.linear - cross(b.angular, row.arm_b);
}
