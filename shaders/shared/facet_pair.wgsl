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
    let ahead = better_along(start, Axis(normal, along_pair(a, b, normal)), a, b, are_solids, bar);
    return better_along(ahead, Axis(-normal, along_pair(a, b, -normal)), a, b, are_solids, bar);
}

fn better_along(best: Axis, axis: Axis, a: Facet, b: Facet, are_solids: vec2<bool>, bar: f32) -> Axis {
    let least = best.separation + select(bar * (abs(best.separation) + min(a.radius, b.radius)), 0.0, best.separation == FAR);
    if may_part(axis.normal, a, b, are_solids) && axis.separation > least {
        return axis;
    }
    return best;
}

fn pair_axis(a: Facet, b: Facet, are_solids: vec2<bool>) -> Axis {
    var best = Axis(b.normal, FAR);
    for (var number = 0u; number < 17u; number++) {
        let across = direction_of_pair(a, b, number);
        if dot(across, across) > 0.0 {
            best = better_of_pair(best, a, b, are_solids, across, select(EDGE_BAR, 0.0, number < 2u));
        }
    }
    return best;
}

// Directions of axes that may part two triangles: 0 and 1 along their normals, 2 to 10 across a side of each, 11 to 13 from the sides of a
// in its plane, 14 to 16 from those of b; 0 for sides that are parallel.
fn direction_of_pair(a: Facet, b: Facet, number: u32) -> vec3f {
    if number < 2u {
        return select(-a.normal, b.normal, number == 0u);
    }
    let i = select(number - 11u, (number - 2u) / 3u, number < 11u);
    let side_a = corner_of_facet(a, i + 1u) - corner_of_facet(a, i);
    let side_b = corner_of_facet(b, number - 1u) - corner_of_facet(b, number - 2u);
    if number < 11u {
        let across = cross(side_a, side_b);
        return select(vec3f(0.0), across, length(across) > ACROSS * length(side_a) * length(side_b));
    }
    return select(cross(side_b, b.normal), cross(side_a, a.normal), number < 14u);
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
    var leads = true;
    for (var i = 0u; i < 2u && leads; i++) {
        var mesh = own;
        var along = -view[2];
        if i == 1u {
            mesh = there;
            along = view[2];
        }
        leads = leads_out(mesh, middle - 0.5 * depth * along, along, 2.0 * depth);
    }
    return leads;
}

// Whether a point is inside of a closed mesh, and the way to the nearest point of the surface leads along a direction; true for a sheet.
fn leads_out(mesh: FacetPatch, place: vec3f, along: vec3f, reach: f32) -> bool {
    if !mesh.is_solid {
        return true;
    }
    let nearest = nearest_on_patch(surfaces[mesh.head].xy, mesh.point + place * mesh.turn, reach);
    return nearest.distance >= 0.0 && nearest.is_inside && dot(mesh.turn * nearest.normal, along) < 0.0;
}
