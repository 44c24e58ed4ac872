// Solids: the contacts of dynamic convex solids and of polyhedral grains with half spaces, convex solids and spheres of grains, and of
// polyhedra with thin walls, at the points of manifolds.
// Twins: src/cpu/manifolds.rs and src/shape/manifold.rs.
//
// A pair of solids has as many contacts in the list as a manifold has directions; the one with number 1 finds the manifold and stores the
// constraints of all. Those whose point is that of another, or is too far away, take no part.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

@compute @workgroup_size(64)
fn find_manifolds(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || (contacts[k].b >> SHAPE_BITS) != 1u || is_facet(shape_b(contacts[k])) {
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
    } else if a.block != 0u && met.is_wall {
        view = meet_wall(a, ball, surface_at(shape_b(contact)), &choice);
    } else if a.block != 0u && met.solid.block != 0u {
        view = meet(pair_of(a, met.solid, to_b), &choice);
    }
    // The contacts of a pair follow each other, with those of other shapes between them.
    var number = 0u;
    for (var next = k; next < status.contacts && number < MOST_POINTS && contacts[next].a == contact.a; next++) {
        if contacts[next].b != contact.b + (number << SHAPE_BITS) {
            continue;
        }
        var point: Point;
        if met.is_wall {
            point = corner_point(&choice, number, a, ball, surface_at(shape_b(contact)));
        } else {
            point = point_of(&choice, number, view);
            point.normal = rotate(a.turn, point.normal);
            point.place = rotate(a.turn, point.place);
        }
        store_point(contacts[next].place, index, ball.contact_radius, a.lever, met, point);
        number++;
    }
}

// Chooses the corners of a polyhedron that touch a thin wall; in `best` the third number is that of a corner. Returns the axes of the plane
// of contact, which is that of the deepest corner, in world axes. Twin: World::corners_on in src/model/solids.rs.
fn meet_wall(a: PlacedSolid, ball: Ball, surface: Surface, choice: ptr<function, Choice>) -> mat3x3f {
    let solid = convex_at(a.block, a.scale);
    let count = solid.corners.y - solid.corners.x;
    (*choice).same = SAME * solid.radius;
    var normal = vec3f(0.0, 0.0, 1.0);
    var least = (*choice).reach;
    for (var i = 0u; i < count; i++) {
        let touch = touch_of_corner(i, a, ball, surface);
        if touch.near && touch.length < least {
            least = touch.length;
            normal = touch.normal;
        }
    }
    let view = view_along(normal);
    for (var i = 0u; i < count; i++) {
        let touch = touch_of_corner(i, a, ball, surface);
        if touch.near && touch.length <= (*choice).reach {
            let place = (place_of_corner(i, a) - 0.5 * touch.length * touch.normal) * view;
            choose(choice, vec4f(place.xy, f32(i), 0.0), touch.length);
        }
    }
    return view;
}

// Corner of a polyhedron from the origin of its frame, in world axes [m].
fn place_of_corner(corner: u32, a: PlacedSolid) -> vec3f {
    return rotate(a.turn, a.scale * vector_at(convex_at(a.block, a.scale).corners.x + corner));
}

fn touch_of_corner(corner: u32, a: PlacedSolid, ball: Ball, surface: Surface) -> Distance {
    var pose = ball.pose;
    pose.offset += place_of_corner(corner, a);
    return touch_surface(surface, poses[surface.body], pose, ball.contact_radius);
}

// Point with this number of a polyhedron and a thin wall.
fn corner_point(choice: ptr<function, Choice>, number: u32, a: PlacedSolid, ball: Ball, surface: Surface) -> Point {
    let corner = u32((*choice).best[number].z);
    let place = place_of_corner(corner, a);
    var is_first = true;
    for (var i = 0u; i < MOST_POINTS; i++) {
        let is_apart = distance(place_of_corner(u32((*choice).best[i].z), a), place) > (*choice).same;
        is_first = is_first && (i >= number || is_apart);
    }
    let touch = touch_of_corner(corner, a, ball, surface);
    return Point(is_first && (*choice).scores[number] != FAR, touch.length, touch.normal, place - 0.5 * touch.length * touch.normal);
}
