// Facets: the contacts of polyhedral grains with meshes that are no convex solids, triangle by triangle, at the points of manifolds.
// Twins: src/shape/facet.rs and src/model/solids/facets.rs.
//
// The axis along which the solid and a triangle overlap the least is one of the mesh only if the mesh has its farthest point there: at the
// face itself, at an edge where it is convex and the axis lies between the normals of both triangles, or at a vertex all of whose
// neighbours are lower. At other edges and vertices, which are flat or concave, the axis turns to the normal of the triangle. An axis along
// the normal of a neighbour is left to that neighbour.
//
// What is around a triangle takes two blocks: blocks of the corners beyond its edges (NONE where the mesh ends or branches), words of the
// lists of its corners. Such a list is a number of vertices, and their blocks.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

// Height between two surfaces that stand flush, over the contact radius of what touches them [-].
const FLUSH = 1e-3;
// Cosine of the angle between the normals of one point that two patches of a mesh share [-].
const SAME_NORMAL = 0.999;

// Largest number of turns of the loops of one invocation, by a count that is rather too large. The device decides: lavapipe ends all loops
// of an invocation after 65 535 turns without a word, and no graphics card is to be busy for long.
override MOST_TURNS: u32 = 60000u;
// Turns of the loops for a triangle that is too far away, and for the points of one, beside those over corners, edges and faces.
const TURNS_OF_TRIANGLE = 8u;
const TURNS_OF_POINTS = 60u;
// Turns per corner of the face of the solid in the loops that choose points: over three sides of the triangle, and over five directions.
const TURNS_PER_CORNER = 31u;

// Turns so far.
var<private> turns: u32;

// How a solid meets a triangle: the two are apart, or its neighbours are what the solid touches; the solid overlaps a triangle of the
// surface of a solid more from behind than from in front; the points of the contact are chosen.
const MEETING_NONE = 0u;
const MEETING_BEHIND = 1u;
const MEETING_TOUCHES = 2u;

struct FacetMeeting {
    kind: u32,                 // MEETING_NONE, MEETING_BEHIND or MEETING_TOUCHES
    view: mat3x3f,             // axes of the plane of contact
}

@compute @workgroup_size(64)
fn meet_facets(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || (contacts[k].b >> SHAPE_BITS) != 1u || !is_facet(shape_b(contacts[k])) {
        return;
    }
    let contact = contacts[k];
    let index = contact.a - params.surfaces;
    let ball = ball_at(index);
    let a = solid_of_ball(index, ball);
    var touches = no_touches(ball.radius);
    if a.block != 0u {
        touches = touches_of(a, ball.pose, ball.contact_radius, shape_b(contact));
    }
    if turns > MOST_TURNS {
        atomicOr(&status.halted, HALT_TRIANGLES);
        atomicMin(&status.bad_grain, spheres[index].body - params.boundaries);
    }
    let met = met_by(ball, shape_b(contact));
    var number = 0u;
    for (var next = k; next < status.contacts && number < MOST_POINTS && contacts[next].a == contact.a; next++) {
        if contacts[next].b != contact.b + (number << SHAPE_BITS) {
            continue;
        }
        store_point(contacts[next].place, index, ball.contact_radius, a.lever, met, touches.points[number]);
        number++;
    }
}

// Touches of a polyhedron at a pose with a patch, from its middle in world axes. One whose middle is behind the surface of a closed mesh is
// pushed out of the patch nearest to it.
fn touches_of(own: PlacedSolid, origin: Pose, reach: f32, index: u32) -> Touches {
    let sheet = patch_near(index, origin, own.turn, reach);
    let a = convex_at(own.block, own.scale);
    var touches = no_touches(a.radius);
    let is_behind = visit(a, sheet, own.turn, &touches);
    if touches.sees_sides {
        look_along(touches.deepest.normal, own.turn, &touches);
        visit(a, sheet, own.turn, &touches);
    }
    join(&touches);
    if is_behind {
        push_out(a, sheet, index - patch_at(index).surfaces.x, &touches);
    }
    for (var i = 0u; i < MOST_POINTS; i++) {
        touches.points[i].normal = rotate(own.turn, touches.points[i].normal);
        touches.points[i].place = rotate(own.turn, touches.points[i].place);
    }
    return touches;
}

// Meets the triangles of a patch that are near a solid with axes of this turn. Returns whether the solid is behind a triangle.
fn visit(a: Convex, sheet: FacetPatch, turn: vec4f, touches: ptr<function, Touches>) -> bool {
    let reach = sheet.reach;
    let middle = sheet.point + a.middle * sheet.turn;
    let most = (a.radius + reach) * (a.radius + reach);
    var is_behind = false;
    var node = sheet.boxes.x;
    while node < sheet.boxes.y && turns <= MOST_TURNS {
        turns++;
        if distance_to_box_squared(node, middle) > most {
            node = surfaces[node].w;
            continue;
        }
        let leaf = leaf_at(node);
        node += 2u;
        for (var i = 0u; i < leaf.y; i++) {
            turns += TURNS_OF_TRIANGLE;
            var choice = no_choice(reach);
            let meeting = meet_facet(a, facet_at(sheet, leaf.x + 4u * i), sheet, &choice);
            is_behind = is_behind || meeting.kind == MEETING_BEHIND;
            if meeting.kind != MEETING_TOUCHES {
                continue;
            }
            for (var number = 0u; number < MOST_POINTS; number++) {
                let point = point_of(&choice, number, meeting.view);
                if point.is_some {
                    offer(point, turn, touches);
                }
            }
        }
    }
    return is_behind;
}

// Has a solid touch the plane of the triangle nearest to its middle, if that is inside of the mesh and the triangle part of the patch of
// this number. Twin: Mesh::way_out in src/model/mesh/facets.rs.
fn push_out(a: Convex, sheet: FacetPatch, number: u32, touches: ptr<function, Touches>) {
    let middle = sheet.point + a.middle * sheet.turn;
    let nearest = nearest_on_patch(surfaces[sheet.head].xy, middle, a.radius + sheet.reach);
    if nearest.distance < 0.0 || !nearest.is_inside || surfaces[nearest.triangle].w != number {
        return;
    }
    let normal = sheet.turn * nearest.face;
    var choice = no_choice(sheet.reach);
    let view = meet_half_space(a, normal, dot(a.middle, normal) - nearest.height, &choice);
    for (var i = 0u; i < MOST_POINTS; i++) {
        (*touches).points[i] = point_of(&choice, i, view);
    }
}

// Meets a polyhedron with a triangle of a mesh, and chooses their points.
fn meet_facet(a: Convex, facet: Facet, sheet: FacetPatch, choice: ptr<function, Choice>) -> FacetMeeting {
    var meeting = FacetMeeting(MEETING_NONE, mat3x3f());
    let reach = sheet.reach;
    let axis = facet_axis(a, facet, reach);
    if axis.separation > reach {
        return meeting;
    }
    let is_farthest = farthest_corners(facet, axis.normal);
    let role = role_of(facet, sheet, axis.normal, is_farthest);
    let leans = dot(axis.normal, facet.normal);
    let is_front = select(dot(a.middle - facet.corners[0], facet.normal), leans, role == ROLE_FACE) > 0.0;
    if role == ROLE_NEIGHBOURS {
        return meeting;
    }
    if sheet.is_solid && role != ROLE_CONVEX && !is_front {
        meeting.kind = MEETING_BEHIND;
        return meeting;
    }
    // Of the triangles at a convex edge or vertex of a solid one at least looks along the axis.
    if sheet.is_solid && role == ROLE_CONVEX && leans <= 0.0 {
        return meeting;
    }
    // Corners of the triangle that are seen along the axis, and the first of them.
    var normal = axis.normal;
    var seen = vec2u(0u, 3u);
    if role != ROLE_CONVEX {
        normal = select(-facet.normal, facet.normal, is_front);
    } else if abs(leans) <= SIDEWAYS {
        seen = first_and_number(is_farthest);
    }
    // A solid that is far behind the plane beyond an inner edge touches something else.
    if role == ROLE_INNER && along_facet(a, facet, normal) < -reach {
        return meeting;
    }
    meeting.view = view_along(normal);
    let b = seen_of_facet(facet, meeting.view, seen);
    var middle = facet.middle;
    var radius = facet.radius;
    if seen.y < 3u {
        let first = corner_of_facet(facet, seen.x);
        let last = corner_of_facet(facet, seen.x + seen.y - 1u);
        middle = 0.5 * (first + last);
        radius = 0.5 * distance(first, last);
    }
    let own = seen_before(a, meeting.view, b.slope, a.middle - middle, radius, choice);
    turns += TURNS_OF_POINTS + TURNS_PER_CORNER * own.count + (a.faces.y - a.faces.x) + 4u * (a.edges.y - a.edges.x);
    consider_overlap(own, b, WIDTH * (a.radius + radius), choice);
    if (*choice).scores[0] != FAR {
        meeting.kind = MEETING_TOUCHES;
    }
    return meeting;
}

// Distance of a polyhedron and a triangle along a unit vector from the latter to the former [m].
fn along_facet(a: Convex, facet: Facet, normal: vec3f) -> f32 {
    let heights = heights_of(facet, normal);
    return -extent(a, -normal) - max(heights.x, max(heights.y, heights.z));
}

fn better_of_facet(best: Axis, a: Convex, facet: Facet, normal: vec3f) -> Axis {
    let separation = along_facet(a, facet, normal);
    if separation > best.separation {
        return Axis(normal, separation);
    }
    return best;
}

// The axis from a triangle to a polyhedron with the largest separation, or one with a separation beyond `reach` [m].
fn facet_axis(a: Convex, facet: Facet, reach: f32) -> Axis {
    let far = distance(a.middle, facet.middle) - a.radius - facet.radius;
    var best = Axis(facet.normal, FAR);
    if far > reach {
        return Axis(facet.normal, far);
    }
    turns += (a.faces.y - a.faces.x) / 2u;
    for (var face = a.faces.x; face < a.faces.y && best.separation <= reach; face += 2u) {
        let plane = bitcast<vec4f>(surfaces[face]);
        let heights = heights_of(facet, plane.xyz);
        let separation = min(heights.x, min(heights.y, heights.z)) - a.scale * plane.w;
        if separation > best.separation {
            best = Axis(-plane.xyz, separation);
        }
    }
    if best.separation <= reach {
        best = better_of_facet(best, a, facet, facet.normal);
        best = better_of_facet(best, a, facet, -facet.normal);
    }
    if best.separation > reach {
        return best;
    }
    turns += 4u * (a.edges.y - a.edges.x) + 6u * (a.corners.y - a.corners.x);
    let across = across_facet_edges(a, facet);
    let bar = EDGE_SHARE * abs(best.separation) + EDGE_SIZE * min(a.radius, facet.radius);
    if across.separation > best.separation + bar {
        return across;
    }
    return best;
}

// The best axis across an edge of each.
fn across_facet_edges(a: Convex, facet: Facet) -> Axis {
    var best = Axis(facet.normal, FAR);
    for (var edge = a.edges.x; edge < a.edges.y; edge++) {
        let own = side_at(a, edge);
        for (var i = 0u; i < 3u; i++) {
            let start = corner_of_facet(facet, i);
            let side = Side(facet.normal, -facet.normal, start, corner_of_facet(facet, i + 1u) - start, false);
            let across = cross(own.along, side.along);
            let size = length(across);
            if !meet_on_sphere(own, side) || size < PARALLEL * length(own.along) * length(side.along) {
                continue;
            }
            let normal = select(across, -across, dot(across, facet.middle - start) > 0.0) / size;
            // No distance along an axis is larger than that of two points.
            if dot(own.start - start, normal) > best.separation {
                best = better_of_facet(best, a, facet, normal);
            }
        }
    }
    return best;
}

// Drops the points at which a solid touches a mesh with several patches: those at an edge between two of them. The invocation of the
// first contact of a solid handles all of them. Twin: World::drop_repeated in src/model/solids.rs.
@compute @workgroup_size(64)
fn drop_repeated(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || (k > 0u && contacts[k - 1u].a == contacts[k].a) {
        return;
    }
    let a = contacts[k].a;
    let index = a - params.surfaces;
    if !is_hull(spheres[index]) {
        return;
    }
    let same = FLUSH * ball_at(index).contact_radius;
    var end = k;
    while end < status.contacts && contacts[end].a == a {
        end++;
    }
    // The points that others are compared with must not change before all have been.
    for (var i = k; i < end; i++) {
        if is_point_of_facet(i) && is_repeated(i, k, end, same) {
            constraint_heads[contacts[i].place].friction = REPEATED;
        }
    }
    for (var i = k; i < end; i++) {
        if is_facet(shape_b(contacts[i])) && constraint_heads[contacts[i].place].friction == REPEATED {
            let bodies = constraint_heads[contacts[i].place].bodies;
            constraint_heads[contacts[i].place] = ConstraintHead(vec3f(0.0), -FAR, bodies, 0.0, 0.0);
        }
    }
}

// Mark of a point that another patch has, too, kept in `friction` until all points of a solid are known.
const REPEATED = -1.0;

// Whether a contact takes part at a point of a solid and a patch.
fn is_point_of_facet(contact: u32) -> bool {
    return is_facet(shape_b(contacts[contact])) && constraint_heads[contacts[contact].place].bias_velocity != -FAR;
}

// Whether one of the contacts from `start` up to `end` with a patch of the same mesh, before that of contact i, has the same point.
fn is_repeated(i: u32, start: u32, end: u32, same: f32) -> bool {
    let shape = shape_b(contacts[i]);
    let first = patch_at(shape).surfaces.x;
    let place = contacts[i].place;
    let normal = constraint_heads[place].normal;
    let arm = load_constraint(place).arm_a;
    var is_known = false;
    for (var other = start; other < end; other++) {
        let before = shape_b(contacts[other]);
        if before >= first && before < shape && is_point_of_facet(other) {
            let known = load_constraint(contacts[other].place);
            is_known = is_known || (distance(known.arm_a, arm) <= same && dot(known.normal, normal) > SAME_NORMAL);
        }
    }
    return is_known;
}
