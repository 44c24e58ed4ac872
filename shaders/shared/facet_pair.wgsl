// Two triangles of meshes: the axis along which they part, and the points at which they touch. Twin: meet_facets in src/shape/facet.rs.

// Cosine of the angle between an axis and the plane of a triangle up to which the axis lies in it [-].
const IN_PLANE = 1e-5;
// By how much an axis across edges must be better than one across a face, over the separation and over the size of a triangle [-].
const EDGE_BAR = 1e-4;
// Overlap of two triangles beyond which it is asked whether the meshes have nearer sides, over the size of the larger one [-].
const DEEP = 1e-3;

// Whether a unit vector from b to a leads out of b and into a, or across their planes. A triangle has no thickness, but there is a solid
// behind it: along all other directions the two count as overlapping however far they have passed each other.
fn may_part(normal: vec3f, a: Facet, b: Facet, are_solids: vec2<bool>) -> bool {
    return (!are_solids.x || -dot(normal, a.normal) >= -IN_PLANE) && (!are_solids.y || dot(normal, b.normal) >= -IN_PLANE);
}

// Distance of two triangles along a unit vector from b to a [m].
fn along_pair(a: Facet, b: Facet, normal: vec3f) -> f32 {
    let of_a = heights_of(a, normal);
    let of_b = heights_of(b, normal);
    return min(of_a.x, min(of_a.y, of_a.z)) - max(of_b.x, max(of_b.y, of_b.z));
}

// The better of an axis and the two along a direction, which have to be better by a bar over the separation and the size.
fn better_of_pair(start: Axis, a: Facet, b: Facet, are_solids: vec2<bool>, across: vec3f, bar: f32) -> Axis {
    let normal = normalize(across);
    return better_along(better_along(start, a, b, are_solids, normal, bar), a, b, are_solids, -normal, bar);
}

fn better_along(best: Axis, a: Facet, b: Facet, are_solids: vec2<bool>, normal: vec3f, bar: f32) -> Axis {
    let separation = along_pair(a, b, normal);
    let least = best.separation + select(bar * (abs(best.separation) + min(a.radius, b.radius)), 0.0, best.separation == FAR);
    if may_part(normal, a, b, are_solids) && separation > least {
        return Axis(normal, separation);
    }
    return best;
}

fn pair_axis(a: Facet, b: Facet, are_solids: vec2<bool>) -> Axis {
    var best = Axis(b.normal, FAR);
    best = better_of_pair(best, a, b, are_solids, b.normal, 0.0);
    best = better_of_pair(best, a, b, are_solids, -a.normal, 0.0);
    for (var i = 0u; i < 3u; i++) {
        let side_a = corner_of_facet(a, i + 1u) - corner_of_facet(a, i);
        for (var j = 0u; j < 3u; j++) {
            let side_b = corner_of_facet(b, j + 1u) - corner_of_facet(b, j);
            let across = cross(side_a, side_b);
            if length(across) > ACROSS * length(side_a) * length(side_b) {
                best = better_of_pair(best, a, b, are_solids, across, EDGE_BAR);
            }
        }
    }
    for (var i = 0u; i < 3u; i++) {
        best = better_of_pair(best, a, b, are_solids, cross(corner_of_facet(a, i + 1u) - corner_of_facet(a, i), a.normal), EDGE_BAR);
    }
    for (var i = 0u; i < 3u; i++) {
        best = better_of_pair(best, a, b, are_solids, cross(corner_of_facet(b, i + 1u) - corner_of_facet(b, i), b.normal), EDGE_BAR);
    }
    return best;
}

// Meets two triangles, and chooses their points; none if they are apart or have passed each other, or if their neighbours are what touches.
// Returns the axes of the plane of contact.
fn meet_pair(a: Facet, b: Facet, own: FacetPatch, there: FacetPatch, choice: ptr<function, Choice>) -> mat3x3f {
    let reach = own.reach;
    let are_solids = vec2<bool>(own.is_solid, there.is_solid);
    let none = mat3x3f();
    if distance(a.middle, b.middle) > a.radius + b.radius + reach {
        return none;
    }
    turns += TURNS_OF_PAIR;
    let axis = pair_axis(a, b, are_solids);
    if axis.separation > reach || axis.separation == FAR {
        return none;
    }
    let farthest_a = farthest_corners(a, -axis.normal);
    let farthest_b = farthest_corners(b, axis.normal);
    let roles = vec2u(role_of(a, own, -axis.normal, farthest_a), role_of(b, there, axis.normal, farthest_b));
    let leans = vec2f(-dot(axis.normal, a.normal), dot(axis.normal, b.normal));
    // Of the triangles at a convex edge or vertex of a solid one at least looks along the axis.
    let faces_away = are_solids & (roles == vec2u(ROLE_CONVEX)) & (leans <= vec2f(0.0));
    if any(roles == vec2u(ROLE_NEIGHBOURS)) || any(faces_away) {
        return none;
    }
    var normal = axis.normal;
    // A sheet is touched from both sides, a solid from outside: an axis in the plane of its face leads to neither by rounding.
    let is_back = (leans < vec2f(0.0)) & !are_solids;
    if roles.y != ROLE_CONVEX {
        normal = select(b.normal, -b.normal, is_back.y);
    } else if roles.x != ROLE_CONVEX {
        normal = select(-a.normal, a.normal, is_back.x);
    }
    let separation = along_pair(a, b, normal);
    // What is far behind the plane beyond an inner edge touches something else.
    let is_turned = any(roles == vec2u(ROLE_INNER));
    if separation > reach || (is_turned && separation < -reach) {
        return none;
    }
    let view = view_along(normal);
    let seen_a = seen_of_facet(a, view, shown_of(roles.x, leans.x, farthest_a));
    let seen_b = seen_of_facet(b, view, shown_of(roles.y, leans.y, farthest_b));
    (*choice).same = SAME * min(a.radius, b.radius);
    (*choice).nearest = NONE;
    consider_overlap(seen_a, seen_b, WIDTH * (a.radius + b.radius), choice);
    return view;
}

// First corner and number of the corners that a triangle shows along an axis.
fn shown_of(role: u32, lean: f32, farthest: vec3<bool>) -> vec2u {
    if role == ROLE_CONVEX && abs(lean) <= SIDEWAYS {
        return first_and_number(farthest);
    }
    return vec2u(0u, 3u);
}

// Whether two meshes that overlap deeply, here at these points, come apart along their normal: each has no side there that is nearer.
// `size` is that of the larger triangle [m].
fn is_way_out(choice: ptr<function, Choice>, view: mat3x3f, own: FacetPatch, there: FacetPatch, size: f32) -> bool {
    var count = 0.0;
    var sum = vec3f(0.0);
    var depth = 0.0;
    for (var number = 0u; number < MOST_POINTS; number++) {
        let point = point_of(choice, number, view);
        if point.is_some {
            count += 1.0;
            sum += point.place;
            depth = max(depth, -point.gap);
        }
    }
    if depth <= DEEP * size {
        return true;
    }
    turns += 2u * TURNS_OF_NEAREST;
    let middle = sum / count;
    return leads_out(own, middle + 0.5 * depth * view[2], -view[2], 2.0 * depth)
        && leads_out(there, middle - 0.5 * depth * view[2], view[2], 2.0 * depth);
}

// Whether a point is inside of a closed mesh, and the way to the nearest point of the surface leads along a direction; true for a sheet.
fn leads_out(mesh: FacetPatch, place: vec3f, along: vec3f, reach: f32) -> bool {
    if !mesh.is_solid {
        return true;
    }
    let nearest = nearest_on_patch(surfaces[mesh.head].xy, mesh.point + place * mesh.turn, reach);
    return nearest.distance >= 0.0 && nearest.is_inside && dot(mesh.turn * nearest.normal, along) < 0.0;
}
