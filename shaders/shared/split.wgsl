// Mass splitting [E5]: how the contacts without a colour are solved at the same time. Twin:
// src/cpu/split.rs. Each of the n contacts of a body works on a copy of it with 1/n of its mass and inertia;
// then the body takes the mean of the copies, which is the sum of the impulses on the whole, in a fixed order. A
// grain that no other of these contacts moves takes its impulse at once, unless its side is listed (overflow.wgsl).

@group(0) @binding(15) var<storage, read_write> shares: array<vec2f>;      // by side: three each, linear then angular
@group(0) @binding(18) var<storage, read> overflow: array<Overflow>;

// What a contact does to one of its bodies.
struct Share {
    linear: vec3f,             // [N s]
    angular: vec3f,            // [N m s]
}

// A side of a contact: what it does to one of its bodies, and how many copies of that there are.
struct Side {
    body: u32,                 // NONE: there is none
    copies: u32,
    slot: u32,                 // see Overflow
    velocity: Velocity,        // of the body
    share: Share,
}

fn no_side() -> Side {
    return Side(NONE, 0u, NONE, Velocity(vec3f(0.0), 0.0, vec3f(0.0), 0.0), Share(vec3f(0.0), vec3f(0.0)));
}

fn side_a(entry: Overflow, constraint: Constraint, a: Velocity, impulse: Impulse) -> Side {
    return Side(constraint.bodies.x, entry.copies.x, entry.slots.x, a, share_of_a(constraint, impulse));
}

fn side_b(entry: Overflow, constraint: Constraint, b: Velocity, impulse: Impulse) -> Side {
    return Side(constraint.bodies.y, entry.copies.y, entry.slots.y, b, share_of_b(constraint, impulse));
}

fn share_of_a(constraint: Constraint, impulse: Impulse) -> Share {
    return Share(impulse.linear, cross(constraint.arm_a, impulse.linear) + impulse.rolling);
}

fn share_of_b(constraint: Constraint, impulse: Impulse) -> Share {
    return Share(-impulse.linear, -cross(constraint.arm_b, impulse.linear) - impulse.rolling);
}

var<workgroup> hubs: array<u32, 64>;
var<workgroup> shares_of_hubs: array<Share, 64>;

// Hands the sides of the contacts of a workgroup over; called by all 64 invocations.
fn hand_over(lane: u32, a: Side, b: Side) {
    hand_side_over(a);
    if HAS_HUBS {
        sum_hubs(lane, b);
    } else {
        hand_side_over(b);
    }
}

// A side that is listed is put aside; a grain without others takes its own at once.
fn hand_side_over(side: Side) {
    if side.slot != NONE {
        store_share(side.slot, side.share);
    } else if side.copies == 1u && side.velocity.inverse_mass > 0.0 {
        velocities[side.body] = given(side.body, side.velocity, side.share);
    }
}

// Where there may be hubs, sides b are put aside: those of a hub as their sum over the workgroup, by the one that leads.
fn sum_hubs(lane: u32, b: Side) {
    let is_of_hub = b.copies > HUB;
    hubs[lane] = select(NONE, b.body, is_of_hub);
    shares_of_hubs[lane] = b.share;
    workgroupBarrier();
    if b.slot != NONE {
        var share = shares_of_hubs[lane];
        if is_of_hub {
            share = sum_over_group(b.body);
        }
        store_share(b.slot, share);
    }
}

fn sum_over_group(hub: u32) -> Share {
    var sum = Share(vec3f(0.0), vec3f(0.0));
    for (var lane = 0u; lane < GROUP; lane++) {
        if hubs[lane] == hub {
            sum = plus(sum, shares_of_hubs[lane]);
        }
    }
    return sum;
}

fn plus(x: Share, y: Share) -> Share {
    return Share(x.linear + y.linear, x.angular + y.angular);
}

fn store_share(slot: u32, share: Share) {
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
    if body.inverse_mass > 0.0 {
        velocities[index] = given(index, body, share);
    }
}

// Velocity of a body after what contacts do to it.
fn given(index: u32, body: Velocity, share: Share) -> Velocity {
    var linear = body.inverse_mass * share.linear;
    if HAS_LOCKS {
        linear *= free_translation(locked_axes(index));
    }
    return Velocity(body.linear + linear, body.inverse_mass, body.angular + turned(index, body, share.angular),
        body.inverse_inertia);
}

// Angular velocity that an angular impulse brings about [rad/s].
fn turned(index: u32, body: Velocity, impulse: vec3f) -> vec3f {
    if is_rigid(index) {
        return inverse_inertia_of(index) * impulse;
    }
    var angular = body.inverse_inertia * impulse;
    if HAS_LOCKS {
        angular *= free_rotation(locked_axes(index));
    }
    return angular;
}

// How the contact velocity answers to impulses, and how many copies there are of its bodies.
struct Response {
    normal: vec3f,             // per normal impulse [1/kg]
    tangent_d: f32,            // D of the friction constraint [1/kg]
    copies: vec2f,
}

// A normal impulse may change the slip here, so friction follows from the velocities after it.
fn solve_general(constraint: Constraint, old: Impulse, a: Velocity, b: Velocity, response: Response, relaxation: f32)
    -> Impulse {
    let old_normal = dot(old.linear, constraint.normal);
    let old_tangent = old.linear - old_normal * constraint.normal;
    let u = contact_velocity(constraint, a, b);
    let overshot = relaxation * (dot(u, constraint.normal) + constraint.compliance * old_normal - constraint.bias_velocity);
    let normal = max(0.0, old_normal - safe_ratio(overshot, dot(response.normal, constraint.normal) + constraint.compliance));

    let pushed = u + (normal - old_normal) * response.normal;
    let slip = pushed - dot(pushed, constraint.normal) * constraint.normal;
    let tangent = limit(old_tangent - slip * safe_ratio(relaxation, response.tangent_d), constraint.friction * normal,
        constraint.normal);
    let linear = normal * constraint.normal + tangent;
    if constraint.rolling_arm == 0.0 {
        return Impulse(linear, vec3f(0.0));
    }
    let spun = response.copies.x * turned(constraint.bodies.x, a, cross(constraint.arm_a, linear - old.linear))
        + response.copies.y * turned(constraint.bodies.y, b, cross(constraint.arm_b, linear - old.linear));
    let d = dot(response.copies, vec2f(a.inverse_inertia, b.inverse_inertia));
    let spin = a.angular - b.angular + spun;
    return Impulse(linear, limit(old.rolling - spin * safe_ratio(relaxation, d), constraint.rolling_arm * normal,
        constraint.normal));
}
