// Mass splitting [E5]: solution of the overflow contacts at the same time. Twin:
// src/cpu/split.rs. Each of the n overflow contacts of a body works on a copy of it with 1/n of its mass and inertia.
// Then the body takes the mean of the copies, which is the sum of the impulses on the whole body, in a fixed order. A
// grain with a single overflow contact takes its impulse at once, unless its side has a slot (overflow.wgsl).

@group(0) @binding(15) var<storage, read_write> shares: array<vec2f>;      // by slot: three pairs each, linear then angular
@group(0) @binding(18) var<storage, read> overflow: array<Overflow>;

// Impulse and angular impulse of a contact on one of its bodies.
struct Share {
    linear: vec3f,             // impulse [N s]
    angular: vec3f,            // angular impulse about the centre [N m s]
}

// Side of a contact: one of its bodies, the number of copies of that body, and the impulse on it.
struct Side {
    body: u32,                 // index of the body; NONE: there is no side
    copies: u32,               // number of copies
    slot: u32,                 // slot, see Overflow
    velocity: Velocity,        // velocity of the body
    share: Share,              // impulse on the body
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

// Stores the impulses of both sides of a contact, or applies them at once. All 64 invocations of a workgroup call it.
fn hand_over(lane: u32, a: Side, b: Side) {
    hand_side_over(a);
    if HAS_HUBS {
        sum_hubs(lane, b);
    } else {
        hand_side_over(b);
    }
}

// Stores the impulse of a side in its slot. Without a slot a body of one copy takes the impulse at once.
fn hand_side_over(side: Side) {
    if side.slot != NONE {
        store_share(side.slot, side.share);
    } else if side.copies == 1u && side.velocity.inverse_mass > 0.0 {
        velocities[side.body] = given(side.body, side.velocity, side.share);
    }
}

// Stores the impulses on sides b in scenes with hubs. The impulses on a hub are summed over the workgroup and stored in one slot.
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

// Applies the impulse of contacts to a body.
fn take(index: u32, share: Share) {
    let body = velocities[index];
    if body.inverse_mass > 0.0 {
        velocities[index] = given(index, body, share);
    }
}

// Velocity of a body after the impulse of contacts.
fn given(index: u32, body: Velocity, share: Share) -> Velocity {
    var linear = body.inverse_mass * share.linear;
    if HAS_LOCKS {
        linear *= free_translation(locked_axes(index));
    }
    return Velocity(body.linear + linear, body.inverse_mass, body.angular + turned(index, body, share.angular),
        body.inverse_inertia);
}

// Change of the angular velocity of a body by an angular impulse [rad/s].
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

// Response of the contact velocity to impulses, and the numbers of copies of both bodies.
struct Response {
    normal: vec3f,             // change of the contact velocity per normal impulse [1/kg]
    tangent_d: f32,            // D of the friction constraint [1/kg]
    copies: vec2f,             // numbers of copies of a and b
}

// Solves a contact with tensors or copies. A normal impulse may change the slip here, so friction is computed from the velocities after it.
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
