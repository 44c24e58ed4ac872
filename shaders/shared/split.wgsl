// Mass splitting [E5]: how the many contacts of a free boundary are solved at the same time.
// Twin: src/reference/split.rs. In a colour each of its n contacts works on a copy of the boundary with 1/n of
// its mass and inertia; then the boundary takes the sum of the impulses, in a fixed order.

// What a shared contact does to its bodies, and D of its rows.
struct SharedSolution {
    impulse: Impulse,
    a: Heavy,
    b: Heavy,
    d: vec3f,
    change: f32,               // [m/s], where a tolerance is set
}

// Copies of a body in a colour: 1 for what is not shared, and in the tail.
fn copies_of(body: u32, colour: u32) -> f32 {
    if colour < COLOURS && is_free_boundary(body) {
        return f32(atomicLoad(&free_boundaries[body].counts[colour]));
    }
    return 1.0;
}

// A normal impulse changes the slip here, so friction follows from the velocities after it.
fn solve_shared(row: Row, old: Impulse, a: Heavy, b: Heavy) -> SharedSolution {
    var solution = SharedSolution(Impulse(vec3f(0.0), vec3f(0.0)), a, b, shared_diagonal(row, a, b), 0.0);
    let d = solution.d;
    let old_normal = dot(old.linear, row.normal);
    let old_tangent = old.linear - old_normal * row.normal;
    let u_n = dot(shared_velocity(row, a, b), row.normal);
    let normal = max(0.0, old_normal - safe_ratio(u_n + row.sigma_n * old_normal - row.target_velocity, d.x));
    solution.a = push_heavy(solution.a, (normal - old_normal) * row.normal, row.arm_a);
    solution.b = push_heavy(solution.b, (old_normal - normal) * row.normal, row.arm_b);

    let u = shared_velocity(row, solution.a, solution.b);
    let slip = u - dot(u, row.normal) * row.normal;
    let tangent = limit(old_tangent - slip * safe_ratio(1.0, d.y), row.friction * normal);
    solution.a = push_heavy(solution.a, tangent - old_tangent, row.arm_a);
    solution.b = push_heavy(solution.b, old_tangent - tangent, row.arm_b);
    solution.impulse.linear = normal * row.normal + tangent;

    let spin = solution.a.angular - solution.b.angular;
    let rolling = limit(old.rolling - spin * safe_ratio(1.0, d.z), row.rolling_arm * normal);
    solution.a = twist_heavy(solution.a, rolling - old.rolling);
    solution.b = twist_heavy(solution.b, old.rolling - rolling);
    solution.impulse.rolling = rolling;
    if params.tolerance > 0.0 {
        solution.change = max(abs(normal - old_normal) * d.x, length(tangent - old_tangent) * d.y);
    }
    return solution;
}
