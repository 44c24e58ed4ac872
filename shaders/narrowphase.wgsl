// Narrowphase: computes the contact constraints from positions [E2]-[E4].
// Twin: src/cpu/narrowphase.rs. Constraints stand in solving order.

@group(0) @binding(8) var<storage, read_write> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(6) var<storage, read> laws: array<Law>;
@group(0) @binding(7) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

// Finds normal and arms of each contact. Until the laws are applied, `bias_velocity` holds the gap [m], and `rolling_arm` the effective
// radius [m], negative at a point of a manifold. Contacts at points of manifolds are left to `find_manifolds`.
@compute @workgroup_size(64)
fn find_geometry(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let contact = contacts[k];
    if is_at_point(contact) {
        return;
    }
    let a = contact.a - params.surfaces;
    if is_patch(contact.b) {
        let nearest = nearest_to(a, contact.b);
        if is_solid(contact.b) {
            contacts[k].previous = seam_and_side(nearest.seam, contact.previous >> SIDE_SHIFT);
            var touch = constraint_with_patch(a, surface_at(contact.b), nearest, false);
            touch.compliance = mark_of_solid(a, contact, nearest);
            store_constraint(contact.place, touch);
            return;
        }
        let side = side_of(a, contact, nearest);
        contacts[k].previous = seam_and_side(nearest.seam, side);
        let is_behind = side != 0u && side != side_there(nearest);
        store_constraint(contact.place, constraint_with_patch(a, surface_at(contact.b), nearest, is_behind));
    } else if contact.b < params.surfaces {
        store_constraint(contact.place, constraint_with_surface(a, surface_at(contact.b)));
    } else {
        store_constraint(contact.place, constraint_with_sphere(a, contact.b - params.surfaces));
    }
}

fn store_constraint(place: u32, constraint: Constraint) {
    constraint_heads[place] = ConstraintHead(constraint.normal, constraint.bias_velocity, constraint.bodies, constraint.compliance, constraint.friction);
    store_arms(place, constraint);
}

fn constraint_with_sphere(index_a: u32, index_b: u32) -> Constraint {
    let a = spheres[index_a];
    let b = spheres[index_b];
    let ball_a = ball_at(index_a);
    let ball_b = ball_at(index_b);
    let apart = between(ball_b.pose, ball_a.pose);
    let distance = length(apart);
    var constraint: Constraint;
    constraint.bodies = vec2u(a.body, b.body);
    if is_removed(a) || is_removed(b) {
        constraint.bias_velocity = -FAR;
        return constraint;
    }
    constraint.normal = direction_or(apart, distance, vec3f(0.0, 0.0, 1.0));
    let gap = distance - a.radius - b.radius;
    constraint.bias_velocity = gap;
    constraint.arm_a = -(a.radius + 0.5 * gap) * constraint.normal + ball_a.lever;
    constraint.arm_b = (b.radius + 0.5 * gap) * constraint.normal + ball_b.lever;
    constraint.law = a.material * params.materials + b.material;
    constraint.rolling_arm = a.radius * b.radius / (a.radius + b.radius);
    return constraint;
}

fn constraint_with_surface(index: u32, surface: Surface) -> Constraint {
    let ball = ball_at(index);
    return constraint_at(index, ball, surface, touch_surface(surface, poses[surface.body], ball.pose, ball.contact_radius));
}

// Point of a patch nearest to a ball, with the normal in world axes. The reach is a gap twice as large as that up to which contacts
// are listed; a vertex inside of a solid is held up to its contact radius.
fn nearest_to(index: u32, surface_index: u32) -> Nearest {
    let surface = surface_at(surface_index);
    let pose = poses[surface.body];
    let ball = ball_at(index);
    let deeper = select(0.0, ball.contact_radius - ball.radius, is_solid(surface_index));
    let reach = ball.radius + deeper + 4.0 * params.reach * ball.contact_radius;
    var nearest = nearest_on_patch(patch_at(surface_index).boxes, in_frame_of(surface, pose, ball.pose), reach);
    let frame = compose(pose.orientation, surface.orientation);
    nearest.normal = rotate(frame, nearest.normal);
    nearest.face = rotate(frame, nearest.face);
    return nearest;
}

// Word that holds the seam at which a contact touches a patch, or NONE, and in the bits above it the side of the sheet of the sphere.
fn seam_and_side(seam: u32, side: u32) -> u32 {
    return (seam & BELOW_SIDE) | (side << SIDE_SHIFT);
}

fn seam_at(contact: u32) -> u32 {
    let seam = contacts[contact].previous & BELOW_SIDE;
    return select(seam, NONE, seam == BELOW_SIDE);
}

// Side of a sheet on which a point is.
fn side_there(nearest: Nearest) -> u32 {
    return select(SIDE_FRONT, SIDE_BACK, nearest.height < 0.0);
}

// Side of a sheet to which a ball belongs; 0: it may come around the end of the sheet, or is out of reach. It is the side on which the
// ball was when the contact was listed, or the other one if the ball came through the sheet just before.
fn side_of(index: u32, contact: Contact, nearest: Nearest) -> u32 {
    if nearest.distance < 0.0 || is_rim(nearest.seam) {
        return 0u;
    }
    let there = side_there(nearest);
    if nearest.distance >= ball_at(index).contact_radius {
        return there;
    }
    let known = contact.previous >> SIDE_SHIFT;
    if known == SIDE_FRONT || known == SIDE_BACK {
        return known;
    }
    return select(there, (SIDE_FRONT + SIDE_BACK) - there, has_come_through(index, contact.b, nearest));
}

// Whether the centre of a ball came through a patch in the last substep, from the other side.
fn has_come_through(index: u32, surface_index: u32, nearest: Nearest) -> bool {
    return params.h * speed_from(index, surface_index, nearest) > nearest.distance;
}

// Mark of a touch with a patch of a solid until its group is joined: 0 if the ball is outside, seen from the patch; else negative: the
// substeps since the centre came through the patch if that was in the last one, negative, or NOT_CROSSED.
fn mark_of_solid(index: u32, contact: Contact, nearest: Nearest) -> f32 {
    let moved = params.h * speed_from(index, contact.b, nearest);
    let has_crossed = contact.previous >> SIDE_SHIFT == 0u && moved > nearest.distance;
    let crossed = select(NOT_CROSSED, min(-nearest.distance / moved, -LEAST_CROSSED), has_crossed);
    return select(0.0, crossed, nearest.is_inside && nearest.distance >= 0.0);
}

const NOT_CROSSED = -2.0;
const LEAST_CROSSED = 1e-20;

// Speed of the centre of a ball away from the nearest point of a patch [m/s].
fn speed_from(index: u32, surface_index: u32, nearest: Nearest) -> f32 {
    let ball = ball_at(index);
    let body = surface_at(surface_index).body;
    let own = velocities[spheres[index].body];
    let other = velocities[body];
    let velocity = own.linear + cross(own.angular, ball.lever) - other.linear - cross(other.angular, between(poses[body], ball.pose));
    return dot(velocity, nearest.normal);
}

fn constraint_with_patch(index: u32, surface: Surface, nearest: Nearest, is_behind: bool) -> Constraint {
    let side = select(1.0, -1.0, is_behind);
    return constraint_at(index, ball_at(index), surface, Distance(side * nearest.normal, side * nearest.distance, nearest.distance >= 0.0));
}

fn constraint_at(index: u32, ball: Ball, surface: Surface, touch: Distance) -> Constraint {
    let a = spheres[index];
    var constraint: Constraint;
    constraint.bodies = vec2u(a.body, surface.body);
    if !touch.near || (!is_vertex(index) && is_removed(a)) {
        constraint.bias_velocity = -FAR;
        return constraint;
    }
    constraint.normal = touch.normal;
    let gap = touch.length - ball.radius;
    constraint.bias_velocity = gap;
    let arm = -(ball.radius + 0.5 * gap) * constraint.normal;
    constraint.arm_a = arm + ball.lever;
    constraint.arm_b = between(poses[surface.body], ball.pose) + arm;
    constraint.law = a.material * params.materials + surface.material;
    constraint.rolling_arm = ball.contact_radius;
    if surface.form == FORM_SPHERE {
        constraint.rolling_arm = ball.contact_radius * surface.size.x / (ball.contact_radius + surface.size.x);
    }
    return constraint;
}

// Joins the contacts of a sphere with the patches of a mesh; the invocation of the first contact handles all of them. A sphere over one
// patch is also near to the seams of the patches beside it. A contact at such a seam takes no part, or, where the mesh is concave, takes
// part with the plane beyond the seam. The impulse of a contact that takes no part goes to the contact over whose patch the sphere is
// now, so it is not lost on the way from patch to patch. Twin: src/cpu/patches.rs.
@compute @workgroup_size(64)
fn join_patches(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || !is_patch(contacts[k].b) {
        return;
    }
    let first = contacts[k];
    let mesh = patch_at(first.b).surfaces;
    if k > 0u && contacts[k - 1u].a == first.a && contacts[k - 1u].b >= mesh.x {
        return;
    }
    var end = k + 1u;
    while end < status.contacts && contacts[end].a == first.a && contacts[end].b < mesh.y {
        end++;
    }
    if is_solid(first.b) {
        mark_solid(k, end, mesh.x);
    } else {
        mark_sheet(k, end, mesh.x);
    }
    for (var i = k; i < end; i++) {
        let place = contacts[i].place;
        let mark = constraint_heads[place].friction;
        constraint_heads[place].friction = 0.0;
        constraint_heads[place].compliance = mark;
        if mark < 0.0 {
            set_part(i, mark);
        }
    }
}

// What becomes of the contacts of a group, kept in `friction` until all of them are known; those with 0 stay as they are.
const TAKES_NO_PART = -1.0;
const TAKES_PART_BEYOND = -2.0;
const PUSHED_OUT = -3.0;

// Marks the contacts of a sphere with the patches of a sheet. The data that `root_of` reads must not change before all roots have been
// found.
fn mark_sheet(start: u32, end: u32, first_patch: u32) {
    for (var i = start; i < end; i++) {
        let root = root_of(i, start, end, first_patch);
        var mark = 0.0;
        if root != i {
            let is_hollow = is_hollow_at(contacts[i], contacts[root].place);
            if !is_hollow {
                hand_impulse_over(contacts[i].place, contacts[root].place);
            }
            mark = select(TAKES_NO_PART, TAKES_PART_BEYOND, is_hollow);
            // The sphere is over another patch and may come to this one from either side.
            contacts[i].previous = seam_and_side(seam_at(i), 0u);
        }
        constraint_heads[contacts[i].place].friction = mark;
    }
}

// Whether the plane beyond the seam of a contact is further away than the nearest point, that of the contact at `root`: as in a valley.
fn is_hollow_at(contact: Contact, root: u32) -> bool {
    let index = contact.a - params.surfaces;
    let own = nearest_to(index, contact.b);
    let head = constraint_heads[root];
    let height = own.height * select(1.0, -1.0, dot(own.face, head.normal) < 0.0);
    let distance = head.bias_velocity + spheres[index].radius;
    return own.distance >= 0.0 && distance >= 0.0 && height > distance;
}

// Computes contact k anew, as its mark says: with the plane beyond the seam, as that of a sphere whose centre is inside of a solid, or as a
// contact that takes no part.
fn set_part(k: u32, mark: f32) {
    let contact = contacts[k];
    let index = contact.a - params.surfaces;
    var touch = Distance(vec3f(0.0), 0.0, false);
    if mark == TAKES_PART_BEYOND {
        let own = nearest_to(index, contact.b);
        touch = Distance(select(own.face, -own.face, own.height < 0.0), abs(own.height), true);
    } else if mark == PUSHED_OUT {
        touch = Distance(-constraint_heads[contact.place].normal, -distance_of(k), true);
    }
    store_constraint(contact.place, constraint_at(index, ball_at(index), surface_at(contact.b), touch));
}

// Marks the contacts of a sphere with the patches of a solid, which pushes outwards. Twin: src/model/mesh/solid.rs.
fn mark_solid(start: u32, end: u32, first_patch: u32) {
    let nearest = nearest_of(start, end);
    var pushed = NONE;
    if nearest != NONE {
        pushed = pressed_through(start, end, first_patch, is_inside(nearest));
        if pushed == NONE {
            pushed = last_crossed(start, end, first_patch);
        }
        if pushed == NONE && is_inside(nearest) {
            pushed = nearest;
        }
    }
    // The data that `root_of` and `is_inside` read must not change before all contacts have been decided on.
    for (var i = start; i < end; i++) {
        let root = root_of(i, start, end, first_patch);
        let was_in_front = contacts[i].previous >> SIDE_SHIFT == SIDE_FRONT;
        var side = SIDE_FRONT;
        var mark = 0.0;
        var to = i;
        if i == pushed {
            mark = PUSHED_OUT;
        } else if pushed != NONE {
            if !was_in_front || root != i || is_inside(i) {
                mark = TAKES_NO_PART;
                to = pushed;
                side = select(SIDE_BACK, SIDE_FRONT, was_in_front && is_inside(i));
            }
        } else if nearest == NONE {
            mark = TAKES_NO_PART;
            side = contacts[i].previous >> SIDE_SHIFT;
        } else if is_inside(root) || !is_within_reach(i) {
            mark = TAKES_NO_PART;
            to = nearest;
            side = SIDE_BACK;
        } else if root != i {
            side = SIDE_BACK;
            mark = TAKES_PART_BEYOND;
            let own = nearest_to(contacts[i].a - params.surfaces, contacts[i].b);
            if own.height <= distance_of(root) {
                mark = TAKES_NO_PART;
                to = root;
            }
        }
        if to != i {
            hand_impulse_over(contacts[i].place, contacts[to].place);
        }
        constraint_heads[contacts[i].place].friction = mark;
        contacts[i].previous = seam_and_side(seam_at(i), side);
    }
}

// Whether the sphere of a contact with a solid is inside, seen from the patch, as long as its group is not joined.
fn is_inside(contact: u32) -> bool {
    return constraint_heads[contacts[contact].place].compliance < 0.0;
}

fn is_within_reach(contact: u32) -> bool {
    return constraint_heads[contacts[contact].place].bias_velocity != -FAR;
}

// Distance of the centre of a sphere from the patch of a contact whose group is not joined [m].
fn distance_of(contact: u32) -> f32 {
    return constraint_heads[contacts[contact].place].bias_velocity + spheres[contacts[contact].a - params.surfaces].radius;
}

// The contact of a group whose patch is nearest, or NONE.
fn nearest_of(start: u32, end: u32) -> u32 {
    var best = NONE;
    var least = -FAR;
    for (var i = start; i < end; i++) {
        let distance = distance_of(i);
        if is_within_reach(i) && distance < least {
            best = i;
            least = distance;
        }
    }
    return best;
}

// The nearest of the patches that a sphere was in front of, or of those beside them that it is over now, if its centre is behind; else
// NONE.
fn pressed_through(start: u32, end: u32, first_patch: u32, is_in_solid: bool) -> u32 {
    let radius = ball_at(contacts[start].a - params.surfaces).contact_radius;
    var best = NONE;
    var least = -FAR;
    for (var i = start; i < end; i++) {
        if contacts[i].previous >> SIDE_SHIFT == SIDE_FRONT {
            let root = root_of(i, start, end, first_patch);
            let distance = distance_of(root);
            if is_inside(root) && (is_in_solid || distance < radius) && distance < least {
                best = root;
                least = distance;
            }
        }
    }
    return best;
}

// The last patch that the centre of a sphere came through in flight, or NONE.
fn last_crossed(start: u32, end: u32, first_patch: u32) -> u32 {
    var best = NONE;
    var last = NOT_CROSSED;
    for (var i = start; i < end; i++) {
        let mark = constraint_heads[contacts[i].place].compliance;
        if mark < 0.0 && mark > last && root_of(i, start, end, first_patch) == i {
            best = i;
            last = mark;
        }
    }
    return best;
}

// Contact over whose patch the sphere of contact i is, among those from `start` up to `end`: contact i, or a nearer one that is reached
// from seam to seam.
fn root_of(i: u32, start: u32, end: u32, first_patch: u32) -> u32 {
    var at = i;
    var before = NONE;
    while before != at {
        before = at;
        at = covering(before, start, end, first_patch);
    }
    return at;
}

// Nearest of the contacts with patches that meet at the seam of a contact, or that contact itself.
fn covering(i: u32, start: u32, end: u32, first_patch: u32) -> u32 {
    let seam = seam_at(i);
    var best = i;
    if seam == NONE {
        return best;
    }
    var least = constraint_heads[contacts[i].place].bias_velocity;
    for (var other = start; other < end; other++) {
        let gap = constraint_heads[contacts[other].place].bias_velocity;
        if (gap < least || (gap == least && other < best)) && meets_at(seam, contacts[other].b - first_patch) {
            best = other;
            least = gap;
        }
    }
    return best;
}

// Merges the contacts of a sphere with surfaces that meet flush and never move against each other; the invocation of the first contact
// handles all of them. An edge in the plane of a face that the sphere touches is no edge, and two contacts in the same point are one. The
// impulse of a contact that takes no part goes to the one that stands for it. Twin: src/model/flush.rs.
@compute @workgroup_size(64)
fn merge_flush(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() {
        return;
    }
    let first = contacts[k];
    let radius = spheres[first.a - params.surfaces].radius;
    if first.b >= params.surfaces || radius == 0.0 || (k > 0u && contacts[k - 1u].a == first.a) {
        return;
    }
    var end = k + 1u;
    while end < status.contacts && contacts[end].a == first.a && contacts[end].b < params.surfaces {
        end++;
    }
    if end == k + 1u {
        return;
    }
    for (var i = k; i < end; i++) {
        constraint_heads[contacts[i].place].friction = select(0.0, 1.0, is_within_reach(i) && is_edge_contact(contacts[i]));
    }
    for (var i = k; i < end; i++) {
        let root = flush_root(i, k, end, FLUSH_LEVEL * radius);
        if root != i {
            hand_impulse_over(contacts[i].place, contacts[root].place);
            constraint_heads[contacts[i].place].compliance = TAKES_NO_PART;
        }
    }
    for (var i = k; i < end; i++) {
        let place = contacts[i].place;
        constraint_heads[place].friction = 0.0;
        if constraint_heads[place].compliance == TAKES_NO_PART {
            var none: Constraint;
            none.bodies = constraint_heads[place].bodies;
            none.bias_velocity = -FAR;
            store_constraint(place, none);
        }
    }
}

// Contact that stands for contact i among those from `start` up to `end`: itself if it takes part.
fn flush_root(i: u32, start: u32, end: u32, level: f32) -> u32 {
    var at = i;
    var before = NONE;
    while before != at {
        before = at;
        at = standing_for(before, start, end, level);
    }
    return at;
}

// The face contact in whose plane the nearest point of edge contact i lies, or an earlier contact of its kind in the same point, or i.
fn standing_for(i: u32, start: u32, end: u32, level: f32) -> u32 {
    if !is_within_reach(i) {
        return i;
    }
    let own = constraint_heads[contacts[i].place];
    let moves = class_of(contacts[i].b);
    let distance = distance_of(i);
    var face = i;
    var same = i;
    for (var j = end; j > start; j--) {
        let other = j - 1u;
        if other != i && is_within_reach(other) && class_of(contacts[other].b) == moves {
            let head = constraint_heads[contacts[other].place];
            let along = dot(own.normal, head.normal);
            let apart = distance * own.normal - distance_of(other) * head.normal;
            // `friction` is 1 at an edge.
            let covers = own.friction > head.friction && along > 0.0 && abs(distance_of(other) - distance * along) <= level;
            let is_same = own.friction == head.friction && other < i && along >= FLUSH_COSINE && length(apart) <= level;
            face = select(face, other, covers);
            same = select(same, other, is_same);
        }
    }
    return select(face, same, face == i);
}

// Whether a contact with a surface is with an edge of it: its normal is that of no face there.
fn is_edge_contact(contact: Contact) -> bool {
    let index = contact.a - params.surfaces;
    let surface = surface_at(contact.b);
    let normal = constraint_heads[contact.place].normal;
    if surface.form == FORM_PATCH {
        if (contact.previous & BELOW_SIDE) == BELOW_SIDE {
            return false;
        }
        let across = cross(normal, nearest_to(index, contact.b).face);
        return dot(across, across) > SQUARE_OFF_FACE;
    }
    let frame = compose(poses[surface.body].orientation, surface.orientation);
    return is_edge_of(surface.form, surface.size, rotate(conjugate(frame), normal));
}

// Largest height of an edge over the plane of a face in which it lies, over the radius, and cosine of the angle of a patch.
const FLUSH_LEVEL = 1e-3;
const FLUSH_COSINE = 0.9961947;

// Moves the impulse or the springs of a contact to another contact.
fn hand_impulse_over(place: u32, to: u32) {
    if HAS_SPRINGS {
        let own = load_springs(place);
        let others = load_springs(to);
        store_springs(to, Springs(others.tangent + own.tangent, others.twisting + own.twisting, others.rolling + own.rolling));
        store_springs(place, Springs(vec3f(0.0), 0.0, vec3f(0.0)));
        return;
    }
    let own = load_impulse(place);
    if is_zero(own) {
        return;
    }
    let others = load_impulse(to);
    store_impulse(to, Impulse(others.linear + own.linear, others.rolling + own.rolling));
    store_impulse(place, Impulse(vec3f(0.0), vec3f(0.0)));
}

// Computes the coefficients of the laws [E2]-[E4] from the gaps.
@compute @workgroup_size(64)
fn apply_laws(@builtin(global_invocation_id) invocation: vec3u) {
    let place = flat(invocation);
    if place >= status.contacts || is_halted() {
        return;
    }
    var constraint = load_constraint(place);
    let gap = constraint.bias_velocity;
    if gap == -FAR {
        constraint_heads[place].bias_velocity = FAR;
        store_cohesion(place, 0.0);
        return;
    }
    let law = laws[constraint.law];
    let radius = abs(rolling_arm_of(place));
    let holding = holding_points(place, constraint.friction);
    store_rolling_arm(place, law.rolling_resistance * radius);
    store_cohesion(place, select(0.0, params.h * pull_off(law, radius) / holding, gap <= params.cohesion_range * radius));
    let overlap = -gap;
    if overlap <= 0.0 {
        constraint.bias_velocity = overlap / params.h;
        constraint.compliance = landing_compliance(law, radius, dot(load_impulse(place).linear, constraint.normal));
    } else {
        switch params.normal_law {
            case LAW_HERTZ: {
                constraint.compliance = law.sigma_factor / sqrt(radius * overlap);
                constraint.bias_velocity = law.target_factor * overlap;
            }
            case LAW_HOOKE: {
                constraint.compliance = law.sigma_factor / radius;
                constraint.bias_velocity = law.target_factor * overlap;
            }
            default: {
                constraint.bias_velocity = min(params.rigid_share * overlap, params.rigid_limit * radius) / params.h;
            }
        }
    }
    constraint_heads[place] = ConstraintHead(constraint.normal, constraint.bias_velocity, constraint.bodies, constraint.compliance, law.friction);
}

// Compliance Σ_n of a contact that does not touch yet but carried an impulse λ in the last substep: it may sink to
// the overlap δ at which the elastic law carries λ, so Σ_n = δ / (h λ) [E2]. With Σ_n = 0 it would hold its
// load at a gap of zero for ever and never come under the elastic law.
fn landing_compliance(law: Law, radius: f32, carried: f32) -> f32 {
    let work = params.h * carried;
    if work < 1e-30 || params.normal_law == LAW_RIGID {
        return 0.0;  // nothing carried, or too little to divide by
    }
    // At rest λ = q_n / Σ_n: with the factors of the law, compliance · λ = factor · √R* δ^(3/2), or R* δ (Hooke).
    let load = carried * law.sigma_factor / law.target_factor;
    var overlap = load / radius;
    if params.normal_law == LAW_HERTZ {
        overlap = pow(load / sqrt(radius), 2.0 / 3.0);
    }
    return overlap / work;
}
