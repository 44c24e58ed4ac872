// Separation of two convex solids: the axis along which they are farthest apart or overlap the least. Twins: src/shape/separation.rs,
// src/shape/nearest.rs and src/shape/gilbert.rs.
//
// The twin takes the distance along an axis across two edges from the edges. Here it is the distance of the solids: of two edges that are
// nearly parallel the axis is known to few digits, and the distance along an axis that is a little off is at least no larger than the right
// one.

// Share by which an axis across two edges must be better than one across a face to be taken [-].
const EDGE_SHARE = 0.005;
// The same over the radius of the smaller solid [-].
const EDGE_SIZE = 1e-5;
// Smallest sine of the angle between two edges that have an axis across both [-].
const PARALLEL = 1e-3;
// Rounds in which an axis at a rim is improved, and the differences of points that are kept for it.
const ROUNDS = 12u;
const MOST_KNOWN = 8u;
// Tangent of the angle by which the first axes lean around the start.
const LEAN = 0.05;
// Smallest cosine of the angle between an improved axis and its start.
const NEAR = 0.7;
// Improvement below which an axis is left as it is, over the radii of both solids: some roundings [-].
const CLOSE = 1e-6;
// Distance of lines or faces that counts as none, over the radii of both solids [-].
const TOUCHING = 1e-6;
// Distance longer than any of two solids [m].
const NOWHERE = 1e15;

// Two solids, the second one in the frame of the first.
struct Pair {
    a: Convex,
    b: Convex,
    frame: mat3x3f,            // axes of b
    origin: vec3f,             // origin of b [m]
}

// Axis along which two solids are apart or overlap, in the frame of a.
struct Axis {
    normal: vec3f,             // unit vector from b to a
    separation: f32,           // distance along it, negative where they overlap [m]
}

// Points of both solids, without their roundings, that are nearest along a normal from b to a, each in the frame of its own [m].
struct NearestPoints {
    of_a: vec3f,
    of_b: vec3f,
}

// A loop over both solids: compilers copy a function to each place that calls it, and kernels with a copy for each solid take several times
// as long to compile, and are longer than what a card keeps of them at hand.
fn nearest_along(pair: Pair, normal: vec3f) -> NearestPoints {
    var nearest: NearestPoints;
    for (var i = 0u; i < 2u; i++) {
        var solid = pair.b;
        var along = normal * pair.frame;
        if i == 0u {
            solid = pair.a;
            along = -normal;
        }
        // That of a comes first, and moves on.
        nearest.of_a = nearest.of_b;
        nearest.of_b = farthest(solid, along);
    }
    return nearest;
}

// Distance of the solids along a unit vector from b to a [m].
fn distance_along(pair: Pair, normal: vec3f) -> f32 {
    let nearest = nearest_along(pair, normal);
    return dot(nearest.of_a, normal) - pair.a.rounding - dot(pair.origin, normal)
        - (dot(nearest.of_b, normal * pair.frame) + pair.b.rounding);
}

// Steps of Gilbert's algorithm, after which solids of which neither is known count as near.
const STEPS = 8u;

// Whether two solids may be nearer to each other than `reach`. Twin: src/shape/gilbert.rs, which tells how.
fn may_be_near(pair: Pair, reach: f32) -> bool {
    let most = reach + pair.a.rounding + pair.b.rounding;
    var nearest = pair.a.middle - pair.origin - pair.frame * pair.b.middle;
    var is_far = false;
    for (var step = 0u; step < STEPS; step++) {
        let length = length(nearest);
        if length <= most || is_far {
            break;
        }
        let normal = nearest / length;
        let farthest = difference(pair, normal);
        is_far = dot(farthest, normal) > most;
        let side = farthest - nearest;
        nearest += clamp(-dot(nearest, side) / max(dot(side, side), 1e-30), 0.0, 1.0) * side;
    }
    return !is_far;
}

// The better of an axis and one along this normal.
fn better(best: Axis, pair: Pair, normal: vec3f) -> Axis {
    let separation = distance_along(pair, normal);
    if separation > best.separation {
        return Axis(normal, separation);
    }
    return best;
}

// The axis with the largest separation, or one with a separation beyond `reach` [m].
fn separating_axis(pair: Pair, reach: f32) -> Axis {
    let apart = pair.a.middle - pair.origin - pair.frame * pair.b.middle;
    let up = vec3f(0.0, 0.0, 1.0);
    let towards = unit_or(apart, up);
    let far = length(apart) - pair.a.radius - pair.b.radius;
    if far > reach {
        return Axis(towards, far);
    }
    var best = Axis(up, FAR);
    let roundings = pair.a.rounding + pair.b.rounding;
    let sizes = pair.a.radius + pair.b.radius;
    if roundings > 0.0 {
        let between = between_nearest(pair);
        if length(between) > TOUCHING * sizes {
            best = better(best, pair, normalize(between));
        }
    }
    best = across_faces(best, pair, reach);
    if best.separation > reach {
        return best;
    }
    if roundings == 0.0 || best.separation <= 0.0 {
        let of_edges = across_edges(pair);
        let bar = EDGE_SHARE * abs(best.separation) + EDGE_SIZE * min(pair.a.radius, pair.b.radius);
        if of_edges.separation > best.separation + bar {
            best = of_edges;
        }
    }
    if pair.a.is_round || pair.b.is_round {
        best = across_rims(best, pair, NOWHERE);
    }
    if best.separation == FAR {
        best = better(best, pair, towards);
    }
    return best;
}

// The best axis among the normals of all faces of both, up to the first one out of reach.
fn across_faces(start: Axis, pair: Pair, reach: f32) -> Axis {
    var best = start;
    let of_a = pair.a.faces.y - pair.a.faces.x;
    let all = of_a + pair.b.faces.y - pair.b.faces.x;
    for (var i = 0u; i < all && best.separation <= reach; i += 2u) {
        let outward = vector_at(select(pair.b.faces.x + (i - of_a), pair.a.faces.x + i, i < of_a));
        best = better(best, pair, select(pair.frame * outward, -outward, i < of_a));
    }
    return best;
}

// Edge of a solid.
struct Side {
    first: vec3f,              // normal of its first face
    second: vec3f,             // normal of its second face
    start: vec3f,              // corner at which it starts [m]
    along: vec3f,              // from there to its other corner [m]
    is_line: bool,             // whether it is the line of a capsule, which has no faces
}

fn side_at(solid: Convex, edge: u32) -> Side {
    let words = surfaces[edge];
    let start = corner_at(solid, words.x);
    let is_line = words.z == NONE;
    // The normals of a line are not read; its corners stand in for blocks of faces.
    return Side(vector_at(select(words.z, words.x, is_line)), vector_at(select(words.w, words.x, is_line)), start,
        corner_at(solid, words.y) - start, is_line);
}

// The best axis across an edge of each.
fn across_edges(pair: Pair) -> Axis {
    var best = Axis(vec3f(0.0, 0.0, 1.0), FAR);
    let has_faces_a = has_faces(pair.a);
    let has_faces_b = has_faces(pair.b);
    let middle_of_a = (pair.a.middle - pair.origin) * pair.frame;
    let roundings = pair.a.rounding + pair.b.rounding;
    for (var edge_a = pair.a.edges.x; edge_a < pair.a.edges.y; edge_a++) {
        // In the frame of b, for all edges of b.
        var a = side_at(pair.a, edge_a);
        a.first = a.first * pair.frame;
        a.second = a.second * pair.frame;
        a.along = a.along * pair.frame;
        a.start = (a.start - pair.origin) * pair.frame;
        for (var edge_b = pair.b.edges.x; edge_b < pair.b.edges.y; edge_b++) {
            let b = side_at(pair.b, edge_b);
            let across = cross(a.along, b.along);
            let size = length(across);
            if !meet_on_sphere(a, b) || size < PARALLEL * length(a.along) * length(b.along) {
                continue;
            }
            // From b to a: out of b, or into a where b is a line.
            var inwards = pair.b.middle - b.start;
            if !has_faces_b {
                inwards = select(pair.b.middle - middle_of_a, a.start - middle_of_a, has_faces_a);
            }
            let normal = select(across, -across, dot(across, inwards) > 0.0) / size;
            // No distance along an axis is larger than that of two points.
            if dot(a.start - b.start, normal) - roundings > best.separation {
                best = better(best, pair, pair.frame * normal);
            }
        }
    }
    return best;
}

// Whether the arcs of normals of an edge of a and of the turned-round edge of b cross, so that the axis across both may separate.
fn meet_on_sphere(a: Side, b: Side) -> bool {
    let cba = -dot(b.first, a.along);
    let dba = -dot(b.second, a.along);
    let adc = dot(a.first, b.along);
    let bdc = dot(a.second, b.along);
    // A line has all normals across it. Each edge runs along the cross product of the normals of its faces, so the arcs of two edges have
    // to lie on the same half of the sphere.
    return (b.is_line || cba * dba < 0.0) && (a.is_line || adc * bdc < 0.0) && (a.is_line || b.is_line || cba * bdc > 0.0);
}

// Tries the axis between two axes of revolution and the normals of sides, and improves the best axis by cutting planes until it parts the
// two by more than `enough` [m].
fn across_rims(start: Axis, pair: Pair, enough: f32) -> Axis {
    var best = start;
    if is_revolved(pair.a) && is_revolved(pair.b) {
        let between = between_axes(pair);
        for (var i = 0u; i < 2u && dot(between, between) > 0.0; i++) {
            best = better(best, pair, select(-between, between, i == 0u));
        }
    }
    let nearest = nearest_along(pair, best.normal);
    let on_b = (pair.origin + pair.frame * nearest.of_b).xy;
    let in_b = ((nearest.of_a - pair.origin) * pair.frame).xy;
    for (var i = 0u; i < 2u; i++) {
        if i == 0u && pair.a.is_round && length(on_b) > 0.0 {
            best = better(best, pair, -side_normal(pair.a, normalize(on_b)));
        } else if i == 1u && pair.b.is_round && length(in_b) > 0.0 {
            best = better(best, pair, pair.frame * side_normal(pair.b, normalize(in_b)));
        }
    }
    return improved(best, pair, enough);
}

fn is_revolved(solid: Convex) -> bool {
    return solid.is_round || (solid.rounding > 0.0 && !has_faces(solid));
}

// Direction across the axes of two solids of revolution, from the nearest point of one axis to that of the other; 0 if there is none.
fn between_axes(pair: Pair) -> vec3f {
    let axis = pair.frame[2];
    let across = cross(vec3f(0.0, 0.0, 1.0), axis);
    let size = length(across);
    if size > PARALLEL {
        return across / select(size, -size, dot(across, pair.origin) > 0.0);
    }
    return unit_or(dot(pair.origin, axis) * axis - pair.origin, vec3f(0.0));
}

// Turns of the loops so far in which axes were improved.
var<private> turns_of_axes: u32;

// Improves an axis by cutting planes. The separation along n is the least of n·w over all differences w of a point of a and a point of b.
// From a few of these differences the best axis for them is found exactly; the farthest points along it give another difference, and so on,
// until it is no better than what is known. Differences are over the radii of both solids.
fn improved(begin: Axis, pair: Pair, enough: f32) -> Axis {
    var best = begin;
    let start = begin.normal;
    let sizes = pair.a.radius + pair.b.radius;
    let roundings = (pair.a.rounding + pair.b.rounding) / sizes;
    let first = first_across(start);
    let second = cross(start, first);
    var known: array<vec3f, MOST_KNOWN>;
    for (var i = 0u; i < 5u; i++) {
        // Along the start, and leaning to four sides.
        let aside = select(second, first, i < 3u) * select(-LEAN, LEAN, (i & 1u) == 1u);
        known[i] = difference(pair, normalize(start + select(aside, vec3f(0.0), i == 0u))) / sizes;
    }
    var count = 5u;
    for (var round = 0u; round < ROUNDS && best.separation <= enough; round++) {
        turns_of_axes += count * (count * count + 5u) / 6u + MOST_KNOWN + 4u;
        let bound = best_for(&known, count, start);
        if bound.separation - roundings <= best.separation / sizes + CLOSE {
            break;
        }
        let farthest = difference(pair, bound.normal);
        let separation = dot(farthest, bound.normal) - roundings * sizes;
        if separation > best.separation + CLOSE * sizes {
            best = Axis(bound.normal, separation);
        }
        let newest = farthest / sizes;
        var place = count;
        if count == MOST_KNOWN {
            place = 0u;
            for (var i = 1u; i < MOST_KNOWN; i++) {
                if dot(known[i], bound.normal) > dot(known[place], bound.normal) {
                    place = i;
                }
            }
        }
        known[place] = newest;
        count = min(count + 1u, MOST_KNOWN);
    }
    return best;
}

fn difference(pair: Pair, normal: vec3f) -> vec3f {
    let nearest = nearest_along(pair, normal);
    return nearest.of_a - (pair.origin + pair.frame * nearest.of_b);
}

// Unit vector across a unit vector.
fn first_across(normal: vec3f) -> vec3f {
    let start = select(vec3f(0.0, 1.0, 0.0), vec3f(1.0, 0.0, 0.0), abs(normal.x) < 0.9);
    return normalize(start - dot(start, normal) * normal);
}

// Unit vector n near `start` with the largest least n·w over these differences w, and that value: across a side or a triangle of three of
// them, or towards one.
fn best_for(known: ptr<function, array<vec3f, MOST_KNOWN>>, count: u32, start: vec3f) -> Axis {
    var best = Axis(start, FAR);
    // One loop over all i <= j <= k has fewer turns than three. Where j is i, it is towards one of them, and where k is j, across a side.
    var j = 0u;
    var k = 0u;
    for (var i = 0u; i < count;) {
        let first = (*known)[i];
        let side = (*known)[j] - first;
        var direction = first;
        if k > j {
            direction = cross(side, (*known)[k] - first);
        } else if j > i {
            direction = first - dot(first, side) / max(dot(side, side), 1e-30) * side;
        }
        best = better_for(best, known, count, start, direction);
        k++;
        if j == i || k == count {
            j++;
            k = j;
        }
        if j == count {
            i++;
            j = i;
            k = i;
        }
    }
    return best;
}

fn better_for(best: Axis, known: ptr<function, array<vec3f, MOST_KNOWN>>, count: u32, start: vec3f, direction: vec3f) -> Axis {
    let size = length(direction);
    if size < 1e-15 {
        return best;
    }
    let towards = direction / size;
    let normal = select(towards, -towards, dot(towards, start) < 0.0);
    if dot(normal, start) < NEAR {
        return best;
    }
    let least = least_along(known, count - 1u, normal);
    if least > best.separation {
        return Axis(normal, least);
    }
    return best;
}

// Least of n·w over the differences w up to the last. Without a loop, as this is the innermost place of four.
fn least_along(known: ptr<function, array<vec3f, MOST_KNOWN>>, last: u32, normal: vec3f) -> f32 {
    var least = dot((*known)[0], normal);
    least = min(least, dot((*known)[min(1u, last)], normal));
    least = min(least, dot((*known)[min(2u, last)], normal));
    least = min(least, dot((*known)[min(3u, last)], normal));
    least = min(least, dot((*known)[min(4u, last)], normal));
    least = min(least, dot((*known)[min(5u, last)], normal));
    least = min(least, dot((*known)[min(6u, last)], normal));
    return min(least, dot((*known)[min(7u, last)], normal));
}

// From the nearest point of b to that of a, both without their roundings, by trying all edges of both and all corners over faces [m]; 0 if
// the solids overlap.
fn between_nearest(pair: Pair) -> vec3f {
    var best = vec3f(NOWHERE, 0.0, 0.0);
    let of_a = pair.a.corners.y - pair.a.corners.x;
    let all = of_a + pair.b.corners.y - pair.b.corners.x;
    for (var i = 0u; i < all; i++) {
        // A corner of one in the frame of the other.
        var other = pair.a;
        var corner = pair.origin + pair.frame * corner_at(pair.b, pair.b.corners.x + (i - of_a));
        if i < of_a {
            other = pair.b;
            corner = (corner_at(pair.a, pair.a.corners.x + i) - pair.origin) * pair.frame;
        }
        if is_inside(other, corner) {
            return vec3f(0.0);
        }
        let between = from_nearest(other, corner);
        best = shorter(best, select(-between, pair.frame * between, i < of_a));
    }
    for (var edge_a = pair.a.edges.x; edge_a < pair.a.edges.y; edge_a++) {
        let a = side_at(pair.a, edge_a);
        for (var edge_b = pair.b.edges.x; edge_b < pair.b.edges.y; edge_b++) {
            let b = side_at(pair.b, edge_b);
            best = shorter(best, between_lines(a.start, a.along, pair.origin + pair.frame * b.start, pair.frame * b.along));
        }
    }
    return best;
}

fn shorter(one: vec3f, other: vec3f) -> vec3f {
    return select(one, other, dot(other, other) < dot(one, one));
}

fn is_inside(solid: Convex, point: vec3f) -> bool {
    var highest = FAR;
    for (var face = solid.faces.x; face < solid.faces.y; face += 2u) {
        highest = max(highest, height_over(solid, face, point));
    }
    return has_faces(solid) && highest < 0.0;
}

// To a point from the nearest point of a solid among its corners, those of its edges, and the foot on a face right below [m].
fn from_nearest(solid: Convex, point: vec3f) -> vec3f {
    var best = vec3f(NOWHERE, 0.0, 0.0);
    for (var i = solid.corners.x; i < solid.corners.y; i++) {
        best = shorter(best, point - corner_at(solid, i));
    }
    for (var edge = solid.edges.x; edge < solid.edges.y; edge++) {
        let side = side_at(solid, edge);
        let from_start = point - side.start;
        let share = clamp(dot(from_start, side.along) / max(dot(side.along, side.along), 1e-30), 0.0, 1.0);
        best = shorter(best, from_start - share * side.along);
    }
    for (var face = solid.faces.x; face < solid.faces.y; face += 2u) {
        let above = height_over(solid, face, point);
        let up = above * vector_at(face);
        if above >= 0.0 && is_over_face(solid, face, point - up) {
            best = shorter(best, up);
        }
    }
    return best;
}

// Whether a point in the plane of a face lies within its corners.
fn is_over_face(solid: Convex, face: u32, foot: vec3f) -> bool {
    let normal = vector_at(face);
    var is_within = true;
    let count = corners_of_face(face);
    for (var i = 0u; i < count; i++) {
        let corner = solid.scale * corner_of_face(face, i);
        let side = solid.scale * corner_of_face(face, i + 1u) - corner;
        is_within = is_within && dot(cross(side, foot - corner), normal) >= 0.0;
    }
    return is_within;
}

// From the nearest point of a segment b to that of a segment a where both lie between their ends [m], else one that is longer than
// any. Parallel segments are nearest at an end.
fn between_lines(start_a: vec3f, along_a: vec3f, start_b: vec3f, along_b: vec3f) -> vec3f {
    let across = cross(along_a, along_b);
    let square = dot(across, across);
    let none = vec3f(NOWHERE, 0.0, 0.0);
    if square <= PARALLEL * PARALLEL * dot(along_a, along_a) * dot(along_b, along_b) {
        return none;
    }
    let apart = start_b - start_a;
    let s = dot(cross(apart, along_b), across) / square;
    let t = dot(cross(apart, along_a), across) / square;
    let between = s * along_a - t * along_b - apart;
    return select(none, between, s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0);
}
