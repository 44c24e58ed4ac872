// Outlines: what a convex solid shows to another along a direction, seen in the plane of contact. Twin: src/shape/outline.rs.

// Width of a line over its length [-]: two lines side by side within it lie on each other.
const LINE_WIDTH = 1e-4;
// Height up to which corners are the farthest ones, over the radius of the solid [-].
const FARTHEST = 1e-5;

// Corners of an outline: those of a face; all of a solid that is a line or a point; the rim of a cap; the two ends of a line on a side;
// corners that are the columns of a matrix.
const OF_FACE = 0u;
const OF_ALL = 1u;
const OF_RIM = 2u;
const OF_SIDE = 3u;
const OF_COLUMNS = 4u;

// What a solid shows to another along a direction, seen along the normal: the coordinates of the first solid turned into those of the plane
// of contact, and the height over it.
struct Seen {
    turn: mat3x3f,             // axes of the solid in coordinates of the plane; or the corners themselves
    shift: vec3f,              // origin of the solid, moved by its rounding [m]
    corners: u32,              // OF_*
    first: u32,                // face, or first corner, as a block; or number of the first column
    count: u32,                // number of corners
    middle: vec3f,             // middle of a rim, or first end of a line [m]
    along: vec3f,              // from there to the other end of the line [m]
    radius: f32,               // radius of the rim [m]
    tipping: Tipping,          // way to which the nearest corner of the rim turns
    slope: vec2f,              // change of the height along both axes of the plane, of the side on which a line lies; 0 for a point [-]
    sense: f32,                // sign of the sense in which the corners run
    scale: f32,                // size of the solid over that in its blocks [-]
}

// Change of the height of a face along both axes of the plane, from its normal in coordinates of the plane.
fn slope_of(normal: vec3f) -> vec2f {
    return -normal.xy / normal.z;
}

// Face of a solid with flat faces that looks along a direction: of the faces with the most of the farthest corners the one that looks most
// that way.
fn facing_face(solid: Convex, along: vec3f) -> u32 {
    let least = extent(solid, along) - solid.rounding - FARTHEST * solid.radius;
    var best = solid.faces.x;
    var most = 0u;
    var nearest = FAR;
    for (var face = solid.faces.x; face < solid.faces.y; face += 2u) {
        var count = 0u;
        let corners = corners_of_face(face);
        for (var i = 0u; i < corners; i++) {
            count += select(0u, 1u, dot(solid.scale * corner_of_face(face, i), along) >= least);
        }
        let towards = dot(vector_at(face), along);
        if count > most || (count == most && towards > nearest) {
            best = face;
            most = count;
            nearest = towards;
        }
    }
    return best;
}

// Whether a truncated cone shows a cap along a direction.
fn shows_cap(solid: Convex, along: vec3f, outward: vec2f) -> bool {
    let radius = select(solid.bottom_radius, solid.top_radius, along.z > 0.0);
    return radius > 0.0 && abs(along.z) >= dot(side_normal(solid, outward), along);
}

// What a solid shows along a direction in its frame. `turn` and `shift` lead from there to the coordinates of the plane.
fn seen_of(solid: Convex, along: vec3f, turn: mat3x3f, shift: vec3f) -> Seen {
    var seen: Seen;
    seen.turn = turn;
    seen.shift = shift;
    seen.sense = 1.0;
    seen.scale = solid.scale;
    let outward = flat_unit_or(along.xy, vec2f(1.0, 0.0));
    if solid.is_round && shows_cap(solid, along, outward) {
        let up = sign(along.z);
        seen.corners = OF_RIM;
        seen.count = RIM_SIDES;
        seen.middle = vec3f(0.0, 0.0, up * solid.half_length);
        seen.radius = select(solid.bottom_radius, solid.top_radius, up > 0.0);
        // Its corners run counter-clockwise around the normal of contact.
        seen.slope = slope_of(turn * vec3f(0.0, 0.0, up));
    } else if solid.is_round {
        seen.corners = OF_SIDE;
        seen.count = 2u;
        seen.middle = vec3f(solid.bottom_radius * outward, -solid.half_length);
        seen.along = vec3f((solid.top_radius - solid.bottom_radius) * outward, 2.0 * solid.half_length);
        seen.slope = slope_of(turn * side_normal(solid, outward));
    } else if has_faces(solid) {
        seen.corners = OF_FACE;
        seen.first = facing_face(solid, along);
        seen.count = corners_of_face(seen.first);
        let normal = turn * vector_at(seen.first);
        seen.slope = slope_of(normal);
        seen.sense = sign(normal.z);
    } else {
        seen.corners = OF_ALL;
        seen.first = solid.corners.x;
        seen.count = solid.corners.y - solid.corners.x;
    }
    return seen;
}

// Corner of an outline in the plane, and its height.
fn corner_of(seen: Seen, corner: u32) -> vec3f {
    var place: vec3f;
    switch seen.corners {
        case OF_FACE: { place = seen.scale * corner_of_face(seen.first, corner); }
        case OF_ALL: { place = seen.scale * vector_at(seen.first + corner); }
        case OF_RIM: {
            var direction = around(corner);
            if seen.tipping.share > 0.0 && dot(direction, seen.tipping.way) >= HALF_SIDE {
                direction = tipped(direction, seen.tipping);
            }
            let outward = flat_unit_or((vec3f(direction, 0.0) * seen.turn).xy, vec2f(1.0, 0.0));
            place = seen.middle + vec3f(seen.radius * outward, 0.0);
        }
        case OF_COLUMNS: { place = axis_of((seen.first + corner) % 3u); }
        default: { place = seen.middle + f32(corner) * seen.along; }
    }
    return seen.turn * place + seen.shift;
}

// Corner after the one of this number; after the last comes the first again.
fn next_corner_of(seen: Seen, corner: u32) -> vec3f {
    return corner_of(seen, select(corner + 1u, 0u, corner + 1u >= seen.count));
}

// Number of sides: a line has one.
fn sides_of(seen: Seen) -> u32 {
    return select(seen.count, seen.count / 2u, seen.count < 3u);
}

// Unit vector along the axis of this number.
fn axis_of(number: u32) -> vec3f {
    return vec3f(select(vec3u(0u), vec3u(1u), vec3u(0u, 1u, 2u) == vec3u(number)));
}

// Height of an outline at a place that lies within it, with sides of this width [m]; FAR elsewhere.
fn height_within(seen: Seen, place: vec2f, width: f32) -> f32 {
    if seen.count < 2u {
        return FAR;
    }
    let start = corner_of(seen, 0u);
    if seen.count == 2u {
        let line = corner_of(seen, 1u) - start;
        let square = dot(line.xy, line.xy);
        let share = dot(place - start.xy, line.xy) / square;
        let is_on = share >= 0.0 && share <= 1.0 && abs(crossed(place - start.xy, line.xy)) <= LINE_WIDTH * square;
        return select(FAR, start.z + share * line.z, is_on);
    }
    var is_within = true;
    var corner = start;
    for (var i = 0u; i < seen.count; i++) {
        let next = next_corner_of(seen, i);
        let along = next.xy - corner.xy;
        is_within = is_within && seen.sense * crossed(along, place - corner.xy) >= -width * length(along);
        corner = next;
    }
    return select(FAR, start.z + dot(seen.slope, place - start.xy), is_within);
}

fn crossed(u: vec2f, v: vec2f) -> f32 {
    return u.x * v.y - u.y * v.x;
}
