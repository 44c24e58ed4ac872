// Mass splitting [E5]: solution of the overflow contacts at the same time. Twin:
// src/cpu/split.rs. Each of the n overflow contacts of a body works on a copy of it with 1/n of its mass and inertia.
// Then the body takes the mean of the copies, which is the sum of the changes on the whole body, in a fixed order. A
// grain with a single overflow contact takes its change at once, unless its side has a slot (overflow.wgsl). Slots
// come after the bodies in `velocities`; they hold changes of velocities, and no masses.

@group(0) @binding(18) var<storage, read> overflow: array<Overflow>;

// Impulse and angular impulse of a contact on one of its bodies.
struct Share {
    linear: vec3f,             // impulse [N s]
    angular: vec3f,            // angular impulse about the centre [N m s]
}

// Side of a contact: one of its bodies, the number of copies of that body, and the change of its velocity.
struct Side {
    body: u32,                 // index of the body; NONE: there is no side
    copies: u32,               // number of copies
    slot: u32,                 // slot, see Overflow
    velocity: Velocity,        // velocity of the body
    change: Velocity,          // change of this velocity by the contact; no masses
}

fn no_side() -> Side {
    return Side(NONE, 0u, NONE, unchanged(), unchanged());
}

fn side_a(entry: Overflow, constraint: Constraint, a: Velocity, impulse: Impulse) -> Side {
    return Side(constraint.bodies.x, entry.copies.x, entry.slots.x, a,
        change_of(constraint.bodies.x, a, share_of_a(constraint, impulse)));
}

fn side_b(entry: Overflow, constraint: Constraint, b: Velocity, impulse: Impulse) -> Side {
    return Side(constraint.bodies.y, entry.copies.y, entry.slots.y, b,
        change_of(constraint.bodies.y, b, share_of_b(constraint, impulse)));
}

fn share_of_a(constraint: Constraint, impulse: Impulse) -> Share {
    return Share(impulse.linear, cross(constraint.arm_a, impulse.linear) + impulse.rolling);
}

fn share_of_b(constraint: Constraint, impulse: Impulse) -> Share {
    return Share(-impulse.linear, -cross(constraint.arm_b, impulse.linear) - impulse.rolling);
}

var<workgroup> hubs: array<u32, 64>;
var<workgroup> changes_of_hubs: array<Velocity, 64>;

// Stores the changes of both sides of a contact, or applies them at once. All 64 invocations of a workgroup call it.
fn hand_over(lane: u32, a: Side, b: Side) {
    hand_side_over(a);
    if HAS_HUBS {
        sum_hubs(lane, b);
    } else {
        hand_side_over(b);
    }
}

// Stores the change of a side in its slot. Without a slot a body of one copy takes the change at once.
fn hand_side_over(side: Side) {
    if side.slot != NONE {
        velocities[bodies() + side.slot] = side.change;
    } else if side.copies == 1u && side.velocity.inverse_mass > 0.0 {
        velocities[side.body] = moved(side.velocity, side.change);
    }
}

// Stores the changes of sides b in scenes with hubs. Those of a hub are summed over the workgroup and stored in one slot.
fn sum_hubs(lane: u32, b: Side) {
    let is_of_hub = b.copies > HUB;
    hubs[lane] = select(NONE, b.body, is_of_hub);
    changes_of_hubs[lane] = b.change;
    workgroupBarrier();
    if b.slot != NONE {
        var change = b.change;
        if is_of_hub {
            change = sum_over_group(b.body);
        }
        velocities[bodies() + b.slot] = change;
    }
}

fn sum_over_group(hub: u32) -> Velocity {
    var sum = unchanged();
    for (var lane = 0u; lane < GROUP; lane++) {
        if hubs[lane] == hub {
            sum = plus(sum, changes_of_hubs[lane]);
        }
    }
    return sum;
}

fn unchanged() -> Velocity {
    return Velocity(vec3f(0.0), 0.0, vec3f(0.0), 0.0);
}

fn plus(x: Velocity, y: Velocity) -> Velocity {
    return Velocity(x.linear + y.linear, 0.0, x.angular + y.angular, 0.0);
}

// Change of the velocity of a body by the impulse of a contact.
fn change_of(index: u32, body: Velocity, share: Share) -> Velocity {
    if body.inverse_mass == 0.0 {
        return unchanged();
    }
    var linear = body.inverse_mass * share.linear;
    if HAS_LOCKS {
        linear *= free_translation(locked_axes(index));
    }
    return Velocity(linear, 0.0, turned(index, body, share.angular), 0.0);
}

fn moved(body: Velocity, change: Velocity) -> Velocity {
    return Velocity(body.linear + change.linear, body.inverse_mass, body.angular + change.angular, body.inverse_inertia);
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
