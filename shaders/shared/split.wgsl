// Mass splitting [E5]: how the contacts without a colour are solved at the same time. Twin:
// src/reference/split.rs. Each of the n contacts of a body works on a copy of it with 1/n of its mass and inertia;
// then the body takes the mean of the copies, which is the sum of the impulses on the whole, in a fixed order.

@group(0) @binding(15) var<storage, read_write> shares: array<vec2f>;      // by side: three each, linear then angular
@group(0) @binding(18) var<storage, read> rest: array<Rest>;

// What a contact does to one of its bodies.
struct Share {
    linear: vec3f,             // [N s]
    angular: vec3f,            // [N m s]
}

// The two sides of a contact; a body of NONE is none.
struct Sides {
    bodies: vec2u,
    rest: Rest,
    a: Share,
    b: Share,
}

fn no_sides() -> Sides {
    let none = Share(vec3f(0.0), vec3f(0.0));
    return Sides(vec2u(NONE), Rest(vec2u(NONE), vec2u(1u)), none, none);
}

fn sides_of(contact: u32, row: Row, impulse: Impulse) -> Sides {
    return Sides(row.bodies, rest[contact], share_of_a(row, impulse), share_of_b(row, impulse));
}

fn share_of_a(row: Row, impulse: Impulse) -> Share {
    return Share(impulse.linear, cross(row.arm_a, impulse.linear) + impulse.rolling);
}

fn share_of_b(row: Row, impulse: Impulse) -> Share {
    return Share(-impulse.linear, -cross(row.arm_b, impulse.linear) - impulse.rolling);
}

var<workgroup> side_owners: array<vec2u, 64>;
var<workgroup> shares_a: array<Share, 64>;
var<workgroup> shares_b: array<Share, 64>;

// Puts the sides of the contacts of a workgroup aside; called by all 64 invocations.
fn put_aside(lane: u32, sides: Sides) {
    var a = sides.a;
    var b = sides.b;
    if HAS_HUBS {
        side_owners[lane] = sides.bodies;
        shares_a[lane] = sides.a;
        shares_b[lane] = sides.b;
        workgroupBarrier();
        if sides.rest.slots.x != NONE && sides.rest.copies.x > HUB {
            a = sum_over_group(sides.bodies.x);
        }
        if sides.rest.slots.y != NONE && sides.rest.copies.y > HUB {
            b = sum_over_group(sides.bodies.y);
        }
    }
    store_share(sides.rest.slots.x, a);
    store_share(sides.rest.slots.y, b);
}

fn sum_over_group(body: u32) -> Share {
    var sum = Share(vec3f(0.0), vec3f(0.0));
    for (var lane = 0u; lane < GROUP; lane++) {
        if side_owners[lane].x == body {
            sum = plus(sum, shares_a[lane]);
        }
        if side_owners[lane].y == body {
            sum = plus(sum, shares_b[lane]);
        }
    }
    return sum;
}

fn plus(x: Share, y: Share) -> Share {
    return Share(x.linear + y.linear, x.angular + y.angular);
}

fn store_share(slot: u32, share: Share) {
    if slot == NONE {
        return;
    }
    shares[3u * slot] = share.linear.xy;
    shares[3u * slot + 1u] = vec2f(share.linear.z, share.angular.x);
    shares[3u * slot + 2u] = share.angular.yz;
}

fn load_share(slot: u32) -> Share {
    let x = shares[3u * slot];
    let y = shares[3u * slot + 1u];
    let z = shares[3u * slot + 2u];
    return Share(vec3f(x, y.x), vec3f(y.y, z));
}

// A body takes what contacts do to it.
fn take(index: u32, share: Share) {
    let body = velocities[index];
    if body.inverse_mass == 0.0 {
        return;
    }
    let locked = locks(vec2u(index)).x;
    var linear = body.inverse_mass * share.linear;
    var angular = body.inverse_inertia * share.angular;
    if is_free_boundary(index) {
        angular = inverse_inertia_of(index) * share.angular;
    } else if HAS_LOCKS {
        angular *= free_rotation(locked);
    }
    if HAS_LOCKS {
        linear *= free_translation(locked);
    }
    velocities[index].linear = body.linear + linear;
    velocities[index].angular = body.angular + angular;
}

// A normal impulse changes the slip here, so friction follows from the velocities after it.
fn solve_shared(row: Row, old: Impulse, body_a: Heavy, body_b: Heavy, relaxation: f32) -> Impulse {
    let d = shared_diagonal(row, body_a, body_b);
    let old_normal = dot(old.linear, row.normal);
    let old_tangent = old.linear - old_normal * row.normal;
    let u_n = dot(shared_velocity(row, body_a, body_b), row.normal);
    let overshot = relaxation * (u_n + row.sigma_n * old_normal - row.target_velocity);
    let normal = max(0.0, old_normal - safe_ratio(overshot, d.x));
    var a = push_heavy(body_a, (normal - old_normal) * row.normal, row.arm_a);
    var b = push_heavy(body_b, (old_normal - normal) * row.normal, row.arm_b);

    let u = shared_velocity(row, a, b);
    let slip = u - dot(u, row.normal) * row.normal;
    let tangent = limit(old_tangent - slip * safe_ratio(relaxation, d.y), row.friction * normal);
    a = push_heavy(a, tangent - old_tangent, row.arm_a);
    b = push_heavy(b, old_tangent - tangent, row.arm_b);

    let spin = a.angular - b.angular;
    let rolling = limit(old.rolling - spin * safe_ratio(relaxation, d.z), row.rolling_arm * normal);
    return Impulse(normal * row.normal + tangent, rolling);
}
