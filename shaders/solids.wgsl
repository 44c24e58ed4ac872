// Solids: the contacts of dynamic convex solids and of polyhedral grains with half spaces, convex solids and spheres of grains, at the
// points of manifolds.
// Twins: src/cpu/manifolds.rs and src/shape/manifold.rs.
//
// A pair of solids has as many contacts in the list as a manifold has directions; the one with number 1 finds the manifold and stores the
// constraints of all. Those whose point is that of another, or is too far away, take no part. Where surfaces stand flush, another kernel
// then finds the points with those anew whose sides are inside.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

@compute @workgroup_size(64)
fn find_manifolds(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || (contacts[k].b >> SHAPE_BITS) != 1u || is_by_facets(contacts[k]) {
        return;
    }
    let contact = contacts[k];
    let index = contact.a - params.surfaces;
    let ball = ball_at(index);
    let a = solid_of_ball(index, ball);
    let met = met_by(ball, shape_b(contact));
    let to_b = met.apart + met.solid.lever - a.lever;
    var view: mat3x3f;
    var choice = no_choice(ball.contact_radius);
    if a.block != 0u && met.is_plane {
        // The origin of a half space may be far away: the height is found in world axes, in which most have no tilt.
        let normal = rotate(met.solid.turn, vec3f(0.0, 0.0, 1.0));
        view = meet_half_space(convex_at(a.block, a.scale), rotate(conjugate(a.turn), normal), dot(to_b, normal), &choice);
    } else if a.block != 0u && met.solid.block != 0u {
        view = meet(pair_of(a, met.solid, to_b), &choice);
    }
    // The contacts of a pair follow each other, with those of other shapes between them.
    var number = 0u;
    for (var next = k; next < status.contacts && number < MOST_POINTS && contacts[next].a == contact.a; next++) {
        if contacts[next].b != contact.b + (number << SHAPE_BITS) {
            continue;
        }
        var point = point_of(&choice, number, view);
        point.normal = rotate(a.turn, point.normal);
        point.place = rotate(a.turn, point.place);
        store_point(contacts[next].place, index, ball.contact_radius, a.lever, met, point);
        number++;
    }
}

// Height between two surfaces that stand flush, over the contact radius of what touches them [-].
const FLUSH = 1e-3;

// A solid with its contacts with surfaces, which come first among those of each number.
struct Owner {
    a: PlacedSolid,
    ball: Ball,
    index: u32,                // index of the ball
    pairs: u32,                // number of surfaces
    first: array<u32, MOST_POINTS>, // first contact of each number
}

// Where solids that move alike stand flush, their sides that face each other are inside: what touches such a side touches the surface of
// both instead. The invocation of the first contact of a solid handles all of them. Twin: World::manifolds in src/model/solids.rs.
@compute @workgroup_size(64)
fn merge_solids(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || !is_at_point(contacts[k]) || (k > 0u && contacts[k - 1u].a == contacts[k].a) {
        return;
    }
    let index = contacts[k].a - params.surfaces;
    let ball = ball_at(index);
    var owner = Owner(solid_of_ball(index, ball), ball, index, 0u, array<u32, MOST_POINTS>());
    for (var next = k; next < status.contacts && contacts[next].a == contacts[k].a; next++) {
        let number = (contacts[next].b >> SHAPE_BITS) - 1u;
        if next == k || (contacts[next - 1u].b >> SHAPE_BITS) != number + 1u {
            owner.first[number] = next;
        }
        owner.pairs += select(0u, 1u, number == 0u && shape_b(contacts[next]) < params.surfaces);
    }
    if owner.a.block == 0u || owner.pairs < 2u {
        return;
    }
    // `friction` holds the number of the cover, from 1 on, until all are known.
    for (var i = 0u; i < owner.pairs; i++) {
        constraint_heads[contacts[owner.first[0] + i].place].friction = f32(cover_of(&owner, i));
    }
    for (var i = 0u; i < owner.pairs; i++) {
        let cover = cover_at(&owner, i);
        if cover != 0u {
            meet_beside(&owner, i, cover - 1u);
            constraint_heads[contacts[owner.first[0] + i].place].friction = f32(cover);
        }
    }
    for (var i = 0u; i < owner.pairs; i++) {
        constraint_heads[contacts[owner.first[0] + i].place].friction = 0.0;
    }
}

// Least cosine of the angle between the normals of points that are one contact: that of the angle of a patch [-].
const ONE_CONTACT = 0.98480775f;

// Counts the points among which the pull-off force of each point is shared [E2]. `friction` holds the count until the laws are applied.
// Twin: World::shares_of_pull in src/model/solids.rs.
@compute @workgroup_size(64)
fn share_pull(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || !is_at_point(contacts[k]) {
        return;
    }
    var first = k;
    while first > 0u && contacts[first - 1u].a == contacts[k].a {
        first--;
    }
    let normal = constraint_heads[contacts[k].place].normal;
    var count = 0u;
    for (var next = first; next < status.contacts && contacts[next].a == contacts[k].a; next++) {
        let are_one = dot(normal, constraint_heads[contacts[next].place].normal) >= ONE_CONTACT && move_alike(contacts[k], contacts[next]);
        count += select(0u, 1u, holds_at_point(contacts[next]) && are_one);
    }
    constraint_heads[contacts[k].place].friction = f32(count);
}

// Whether a contact is at a point of a manifold that is near enough for cohesion.
fn holds_at_point(contact: Contact) -> bool {
    let gap = constraint_heads[contact.place].bias_velocity;
    return is_at_point(contact) && gap != -FAR && gap <= params.cohesion_range * abs(rolling_arm_of(contact.place));
}

// Whether the shapes b of two contacts are of one body, or of boundaries that move alike.
fn move_alike(one: Contact, other: Contact) -> bool {
    let bodies = vec2u(constraint_heads[one.place].bodies.y, constraint_heads[other.place].bodies.y);
    let are_surfaces = shape_b(one) < params.surfaces && shape_b(other) < params.surfaces;
    return bodies.x == bodies.y || (are_surfaces && class_of(shape_b(one)) == class_of(shape_b(other)));
}

// Number of the surface that covers surface i, from 1 on, or 0, once it is known.
fn cover_at(owner: ptr<function, Owner>, i: u32) -> u32 {
    return u32(constraint_heads[contacts[(*owner).first[0] + i].place].friction);
}

// Number of the first surface that covers the side of surface i at which a solid touches it, and stands flush with it, from 1 on; 0: none.
fn cover_of(owner: ptr<function, Owner>, i: u32) -> u32 {
    var cover = 0u;
    if deepest_of(owner, i).is_some {
        for (var j = (*owner).pairs; j > 0u; j--) {
            if j - 1u != i && covers(owner, j - 1u, i) && is_flush(owner, j - 1u, i) {
                cover = j;
            }
        }
    }
    return cover;
}

fn shape_of(owner: ptr<function, Owner>, i: u32) -> u32 {
    return shape_b(contacts[(*owner).first[0] + i]);
}

// Point of this number with surface i, from the origin of the solid in world axes.
fn known_point(owner: ptr<function, Owner>, i: u32, number: u32) -> Point {
    let place = contacts[(*owner).first[number] + i].place;
    let head = constraint_heads[place];
    return Point(head.bias_velocity != -FAR, head.bias_velocity, head.normal, load_constraint(place).arm_a - (*owner).a.lever);
}

fn deepest_of(owner: ptr<function, Owner>, i: u32) -> Point {
    var deepest = Point(false, 0.0, vec3f(0.0), vec3f(0.0));
    for (var number = 0u; number < MOST_POINTS; number++) {
        let point = known_point(owner, i, number);
        if point.is_some && (!deepest.is_some || point.gap < deepest.gap) {
            deepest = point;
        }
    }
    return deepest;
}

// Whether a solid or half space covers that side of another one, moving alike, at which a solid has its points with the latter.
fn covers(owner: ptr<function, Owner>, cover: u32, i: u32) -> bool {
    let met = met_by((*owner).ball, shape_of(owner, cover));
    if class_of(shape_of(owner, cover)) != class_of(shape_of(owner, i)) || (!met.is_plane && met.solid.block == 0u) {
        return false;
    }
    let size = (*owner).ball.contact_radius;
    var is_covered = true;
    for (var number = 0u; number < MOST_POINTS; number++) {
        let point = known_point(owner, i, number);
        let on_surface = point.place + (2.0 * FLUSH * size - 0.5 * point.gap) * point.normal;
        if point.is_some && height_over_met(owner, met, on_surface) >= FLUSH * size {
            is_covered = false;
        }
    }
    return is_covered;
}

// Origin of a surface, from that of the solid, in world axes [m].
fn origin_of(owner: ptr<function, Owner>, met: Met) -> vec3f {
    return met.apart + met.solid.lever - (*owner).a.lever;
}

// Height of a point over the faces of a solid, or over a half space [m].
fn height_over_met(owner: ptr<function, Owner>, met: Met, point: vec3f) -> f32 {
    let local = rotate(conjugate(met.solid.turn), point - origin_of(owner, met));
    if met.is_plane {
        return local.z;
    }
    let solid = convex_at(met.solid.block, met.solid.scale);
    var highest = FAR;
    for (var face = solid.faces.x; face < solid.faces.y; face += 2u) {
        highest = max(highest, height_over(solid, face, local));
    }
    return highest - solid.rounding;
}

// Whether a solid does not stand out over the one that covers a side of it, seen along the normal of the deepest point with the latter.
fn is_flush(owner: ptr<function, Owner>, cover: u32, i: u32) -> bool {
    let deepest = deepest_of(owner, cover);
    var is_known = deepest.is_some;
    var over_cover = 0.0;
    for (var n = 0u; n < 2u && is_known; n++) {
        let height = height_along(owner, shape_of(owner, select(i, cover, n == 0u)), deepest.normal);
        is_known = height != FAR;
        over_cover = height - over_cover;
    }
    return is_known && over_cover < FLUSH * (*owner).ball.contact_radius;
}

// Height of a surface along a direction, from the origin of the solid [m]; FAR where it has none.
fn height_along(owner: ptr<function, Owner>, shape: u32, normal: vec3f) -> f32 {
    let met = met_by((*owner).ball, shape);
    let height = dot(origin_of(owner, met), normal);
    if met.is_plane {
        return select(FAR, height, dot(rotate(met.solid.turn, vec3f(0.0, 0.0, 1.0)), normal) > 1.0 - FLUSH);
    }
    if met.solid.block == 0u {
        return FAR;
    }
    return height + extent(convex_at(met.solid.block, met.solid.scale), rotate(conjugate(met.solid.turn), normal));
}

// Finds the points with surface i anew, along the normal with its cover; there are none if the cover is covered itself.
fn meet_beside(owner: ptr<function, Owner>, i: u32, cover: u32) {
    let a = (*owner).a;
    let ball = (*owner).ball;
    let met = met_by(ball, shape_of(owner, i));
    var choice = no_choice(ball.contact_radius);
    var view: mat3x3f;
    if cover_at(owner, cover) == 0u && met.solid.block != 0u {
        let normal = rotate(conjugate(a.turn), deepest_of(owner, cover).normal);
        view = meet_along(pair_of(a, met.solid, origin_of(owner, met)), normal, &choice);
    }
    for (var number = 0u; number < MOST_POINTS; number++) {
        var point = point_of(&choice, number, view);
        point.normal = rotate(a.turn, point.normal);
        point.place = rotate(a.turn, point.place);
        store_point(contacts[(*owner).first[number] + i].place, (*owner).index, ball.contact_radius, a.lever, met, point);
    }
}
