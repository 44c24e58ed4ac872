// Facet by facet: the points at which a convex solid touches the triangles of a mesh that is no convex solid, or of the sheet that stands
// for a thin wall. Twin: meet_facet in src/shape/facet.rs.
//
// The axis along which the solid and a triangle overlap the least is one of the mesh only if the mesh has its farthest point there: at the
// face itself, at an edge where it is convex and the axis lies between the normals of both triangles, or at a vertex all of whose
// neighbours are lower. At other edges and vertices, which are flat or concave, the axis turns to the normal of the triangle. An axis along
// the normal of a neighbour is left to that neighbour.
//
// What is around a triangle takes two blocks: blocks of the corners beyond its edges (NONE where the mesh ends or branches), words of the
// lists of its corners. Such a list is a number of vertices, and their blocks.
//
// Each shader declares HAS_RIMS: whether the solid may have rims or be rounded. Polyhedra have none.

// Largest number of turns of the loops of one invocation, by a count that is rather too large. The device decides: lavapipe ends all loops
// of an invocation after 65 535 turns without a word, and no graphics card is to be busy for long.
override MOST_TURNS: u32 = 60000u;
// Turns of the loops for a triangle that is too far away, and for the points of one, beside those over corners, edges and faces.
const TURNS_OF_TRIANGLE = 8u;
const TURNS_OF_POINTS = 64u;
// Turns per corner of the face of the solid in the loops that choose points: over three sides of the triangle, and over five directions.
const TURNS_PER_CORNER = 31u;
// Turns before an axis at a rim is improved.
const TURNS_OF_START = 32u;
// Turns for a search of the nearest triangle.
const TURNS_OF_NEAREST = 64u;

// How far behind a thin wall the middle of a solid is at most that came from in front, over what the solid reaches there [-].
const PRESSED_IN = 0.5;

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

// Whether a contact is the first one of a pair that meets facet by facet.
fn is_first_by_facets(k: u32) -> bool {
    return !is_halted() && (contacts[k].b >> SHAPE_BITS) == 1u && is_by_facets(contacts[k]);
}

// Stores the points of a pair, of which contact k is the first, at `lever` from the body of the ball.
fn store(k: u32, ball: Ball, lever: vec3f, met: Met, touches: ptr<function, Touches>) {
    let contact = contacts[k];
    let index = contact.a - params.surfaces;
    var number = 0u;
    for (var next = k; next < status.contacts && number < MOST_POINTS && contacts[next].a == contact.a; next++) {
        if contacts[next].b != contact.b + (number << SHAPE_BITS) {
            continue;
        }
        store_point(contacts[next].place, index, ball.contact_radius, lever, met, (*touches).points[number]);
        number++;
    }
}

// Touches of a solid, its origin at a pose, with a surface that bounds no convex solid, from its origin in world axes. A solid whose middle
// is just behind a thin wall, or behind the surface of a closed mesh, is pushed out of what is nearest to it.
fn touches_of(own: PlacedSolid, origin: Pose, reach: f32, index: u32) -> Touches {
    let sheet = patch_near(index, origin, own.turn, reach);
    let a = convex_at(own.block, own.scale);
    let middle = sheet.point + a.middle * sheet.turn;
    let surface = surface_at(index);
    var touches = no_touches(a.radius);
    var is_behind = false;
    var way_out = Axis(vec3f(0.0, 0.0, 1.0), 0.0);
    if is_thin(surface.form) {
        let of_middle = distance_to_surface(surface.form, surface.size, middle, a.radius + reach);
        if !of_middle.near {
            return touches;
        }
        way_out = Axis(sheet.turn * of_middle.normal, of_middle.length);
        let from_middle = extent(a, way_out.normal) - dot(a.middle, way_out.normal);
        is_behind = of_middle.length < 0.0 && -of_middle.length < PRESSED_IN * from_middle;
    }
    if !is_behind {
        for (var round = 0u; round < 2u; round++) {
            is_behind = visit(a, sheet, own.turn, &touches);
            if round == 1u || !touches.sees_sides {
                break;
            }
            look_along(touches.deepest.normal, own.turn, &touches);
        }
        join(&touches);
        if is_behind {
            turns += TURNS_OF_NEAREST;
            let nearest = nearest_on_patch(surfaces[sheet.head].xy, middle, a.radius + reach);
            let is_of_patch = surfaces[nearest.triangle].w == index - patch_at(index).surfaces.x;
            is_behind = nearest.distance >= 0.0 && nearest.is_inside && is_of_patch;
            way_out = Axis(sheet.turn * nearest.face, nearest.height);
        }
    }
    if is_behind {
        var choice = no_choice(reach);
        let view = meet_half_space(a, way_out.normal, dot(a.middle, way_out.normal) - way_out.separation, &choice);
        for (var i = 0u; i < MOST_POINTS; i++) {
            touches.points[i] = point_of(&choice, i, view);
        }
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
                    offer(at_curve(point, sheet), turn, touches);
                }
            }
        }
    }
    return is_behind;
}

// A touch with a curved wall itself where a facet of it is touched: polygons have corners at which motion is lost.
fn at_curve(touch: Point, sheet: FacetPatch) -> Point {
    let surface = surface_at(sheet.surface);
    if !is_thin(surface.form) {
        return touch;
    }
    let place = touch.place + 0.5 * touch.gap * touch.normal;
    let of_curve = distance_to_surface(surface.form, surface.size, sheet.point + place * sheet.turn, NOWHERE);
    // The back of a wall is touched, too.
    let side = select(-1.0, 1.0, dot(sheet.turn * of_curve.normal, touch.normal) > 0.0);
    let normal = side * (sheet.turn * of_curve.normal);
    let gap = side * of_curve.length;
    if is_edge_of(surface.form, surface.size, of_curve.normal) || dot(normal, touch.normal) <= SAME_NORMAL {
        return touch;
    }
    return Point(true, gap, normal, place - 0.5 * gap * normal);
}

// Meets a convex solid with a triangle of a mesh, and chooses their points.
fn meet_facet(a: Convex, facet: Facet, sheet: FacetPatch, choice: ptr<function, Choice>) -> FacetMeeting {
    var meeting = FacetMeeting(MEETING_NONE, mat3x3f());
    let reach = sheet.reach;
    let axis = facet_axis(a, facet, sheet);
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

// Distance of a convex solid and a triangle along a unit vector from the latter to the former [m].
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

// The axis from a triangle to a convex solid with the largest separation, or one with a separation beyond the reach of a patch.
fn facet_axis(a: Convex, facet: Facet, sheet: FacetPatch) -> Axis {
    let reach = sheet.reach;
    let far = distance(a.middle, facet.middle) - a.radius - facet.radius;
    var best = Axis(facet.normal, FAR);
    if far > reach {
        return Axis(facet.normal, far);
    }
    if HAS_RIMS && a.rounding > 0.0 {
        let between = from_facet(a, facet, sheet);
        if length(between) > TOUCHING * (a.radius + facet.radius) {
            best = better_of_facet(best, a, facet, normalize(between));
        }
    }
    turns += (a.faces.y - a.faces.x) / 2u;
    for (var face = a.faces.x; face < a.faces.y && best.separation <= reach; face += 2u) {
        let plane = bitcast<vec4f>(surfaces[face]);
        let heights = heights_of(facet, plane.xyz);
        let separation = min(heights.x, min(heights.y, heights.z)) - a.scale * plane.w - a.rounding;
        if separation > best.separation {
            best = Axis(-plane.xyz, separation);
        }
    }
    for (var side = 0u; side < 2u && best.separation <= reach; side++) {
        best = better_of_facet(best, a, facet, select(-facet.normal, facet.normal, side == 0u));
    }
    if best.separation > reach {
        return best;
    }
    turns += 4u * (a.edges.y - a.edges.x) + 6u * (a.corners.y - a.corners.x);
    let across = across_facet_edges(a, facet);
    let bar = EDGE_SHARE * abs(best.separation) + EDGE_SIZE * min(a.radius, facet.radius);
    if across.separation > best.separation + bar && (a.rounding == 0.0 || best.separation <= 0.0) {
        best = across;
    }
    if HAS_RIMS && a.is_round {
        // The blocks of a triangle begin with its corners.
        let middle = (sheet.point + facet.middle * sheet.turn);
        let triangle = Convex(vec2u(facet.block, facet.block + 3u), vec2u(0u), vec2u(0u), false, 0.0, 0.0, 0.0, 0.0, middle,
            facet.radius, 1.0);
        let pair = Pair(a, triangle, sheet.turn, -(sheet.turn * sheet.point));
        turns += 3u * STEPS;
        if !may_be_near(pair, reach) {
            return Axis(best.normal, NOWHERE);
        }
        best = across_rims(best, pair, reach);
        turns += TURNS_OF_START + turns_of_axes;
        turns_of_axes = 0u;
    }
    return best;
}

// From the nearest point of a triangle to that of a solid without its rounding, which is the line of a capsule [m]; 0 if they cross.
fn from_facet(a: Convex, facet: Facet, sheet: FacetPatch) -> vec3f {
    var best = vec3f(NOWHERE, 0.0, 0.0);
    for (var i = a.corners.x; i < a.corners.y; i++) {
        let corner = corner_at(a, i);
        best = shorter(best, corner - nearest_on_triangle(corner, facet.corners).point);
    }
    for (var edge = a.edges.x; edge < a.edges.y; edge++) {
        let own = side_at(a, edge);
        for (var i = 0u; i < 3u; i++) {
            let start = corner_of_facet(facet, i);
            best = shorter(best, between_lines(own.start, own.along, start, corner_of_facet(facet, i + 1u) - start));
            best = shorter(best, to_line(start, own.start, own.along));
        }
        let heights = vec2f(dot(own.start - facet.corners[0], facet.normal), dot(own.start + own.along - facet.corners[0], facet.normal));
        if heights.x * heights.y < 0.0 {
            let crossing = own.start + heights.x / (heights.x - heights.y) * own.along;
            let apart = crossing - nearest_on_triangle(crossing, facet.corners).point;
            best = shorter(best, apart);
        }
    }
    return best;
}

// From a point to the nearest point of a line [m].
fn to_line(point: vec3f, start: vec3f, along: vec3f) -> vec3f {
    return start + clamp(dot(point - start, along) / dot(along, along), 0.0, 1.0) * along - point;
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
            if dot(own.start - start, normal) - a.rounding > best.separation {
                best = better_of_facet(best, a, facet, normal);
            }
        }
    }
    return best;
}
