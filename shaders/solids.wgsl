// Solids: the contacts of dynamic convex solids and of polyhedral grains with half spaces, convex solids and spheres of grains, and of
// polyhedra with thin walls, at the points of manifolds.
// Twins: src/cpu/manifolds.rs and src/shape/manifold.rs.
//
// Each solid shows the other the face (or line, or point) that looks at it. Seen along the normal these two outlines overlap; of the
// corners of the overlap those are kept that lie farthest along MOST_POINTS directions, deep ones before others. Where corners are left
// out, the nearest direction turns to the deepest of them, or to the side to which the first solid hangs over. A pair of solids has as many
// contacts in the list as directions; the one with number 1 finds the manifold and stores the constraints of all. Those whose point is that
// of another, or is too far away, take no part. Tolerances are those of the twin, but for the digits of single precision.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

// Weight of the depth of a point beside its distance along a direction [-].
const DEPTH_WEIGHT = 5.0;
// Distance of two corners that count as one, over the smaller of the two solids [-].
const SAME = 1e-3;
// Width of the sides of an outline, over the radii of both solids [-]: corners on a side lie within.
const WIDTH = 1e-6;
// Width of a line over its length [-]: two lines side by side within it lie on each other.
const LINE_WIDTH = 1e-4;
// Smallest sine of the angle of two sides that cross [-].
const CROSSING = 1e-4;
// Height up to which corners are the farthest ones, over the radius of the solid [-].
const FARTHEST = 1e-5;
// Slopes between which a direction turns to the deepest point of a face [-].
const TILT = vec2f(1e-5, 1e-4);
// Distances by which a face is beside another between which a direction turns there, over the smaller solid [-].
const OVERHANG = vec2f(1e-3, 1e-2);
// First direction, 0.58 rad from the first axis of the plane of contact: no symmetry of a rectangle.
const FIRST_DIRECTION = vec2f(0.83646265f, 0.54802394f);
// Number of corners of the polygon that stands for a circle, and as many directions around.
const RIM_SIDES = 16u;
const RIM = array<vec2f, RIM_SIDES>(vec2f(1.0, 0.0), vec2f(0.92387953, 0.38268343), vec2f(0.70710678, 0.70710678),
    vec2f(0.38268343, 0.92387953), vec2f(0.0, 1.0), vec2f(-0.38268343, 0.92387953), vec2f(-0.70710678, 0.70710678),
    vec2f(-0.92387953, 0.38268343), vec2f(-1.0, 0.0), vec2f(-0.92387953, -0.38268343), vec2f(-0.70710678, -0.70710678),
    vec2f(-0.38268343, -0.92387953), vec2f(0.0, -1.0), vec2f(0.38268343, -0.92387953), vec2f(0.70710678, -0.70710678),
    vec2f(0.92387953, -0.38268343));

// Cosine of half the angle between two of them.
const HALF_SIDE = 0.98078528;

// Corners of an outline: those of a face; all of a solid that is a line or a point; the rim of a cap; the two ends of a line on a side.
const OF_FACE = 0u;
const OF_ALL = 1u;
const OF_RIM = 2u;
const OF_SIDE = 3u;

// What a solid shows to another along a direction, seen along the normal: the coordinates of the first solid turned into those of the plane
// of contact, and the height over it.
struct Seen {
    turn: mat3x3f,             // axes of the solid in coordinates of the plane
    shift: vec3f,              // origin of the solid, moved by its rounding [m]
    corners: u32,              // OF_*
    first: u32,                // face, or first corner, as a block
    count: u32,                // number of corners
    middle: vec3f,             // middle of a rim, or first end of a line [m]
    along: vec3f,              // from there to the other end of the line [m]
    radius: f32,               // radius of the rim [m]
    tipping: Tipping,          // way to which the nearest corner of the rim turns
    slope: vec2f,              // change of the height along both axes of the plane; 0 for a line or a point [-]
    sense: f32,                // sign of the sense in which the corners run
    scale: f32,                // size of the solid over that in its blocks [-]
}

// Way in the plane of contact to which the nearest direction turns, and by which share of the angle.
struct Tipping {
    way: vec2f,                // unit vector
    share: f32,                // 0: none turns [-]
}

// Points that lie farthest along the directions so far: place in the plane, height of a and height of b [m]. The last one is that of the
// direction that turns, which takes the place of number `nearest` if corners are left out.
struct Choice {
    tipping: Tipping,
    nearest: u32,              // number of the direction that turns, NONE: none does
    reach: f32,                // largest gap of a point [m]
    same: f32,                 // distance of corners that count as one [m]
    is_check: bool,            // whether corners are compared with those chosen, and not chosen
    leaves_out: bool,          // whether corners are left out
    scores: array<f32, MOST_POINTS + 1u>,
    best: array<vec4f, MOST_POINTS + 1u>,
}

// A point of a manifold, or none.
struct Point {
    is_some: bool,
    gap: f32,                  // gap between the surfaces along the normal, negative where they overlap [m]
    normal: vec3f,             // normal, towards the first solid
    place: vec3f,              // middle of the gap or overlap, from the origin of the first solid [m]
}

// Shape b of a contact at a point, with the place of its body.
struct Met {
    body: u32,
    material: u32,
    apart: vec3f,              // centre of its body, from the centre of the body of a [m]
    solid: PlacedSolid,        // its convex solid; none for a half space, a thin wall and a grain that was removed
    is_plane: bool,            // whether it is a half space
    is_wall: bool,             // whether it is a thin wall
    radius: f32,               // its contact radius, 0 for a surface that is no sphere [m]
}

fn met_by(ball: Ball, shape: u32) -> Met {
    if HAS_HULLS && shape >= params.surfaces {
        let index = shape - params.surfaces;
        let sphere = spheres[index];
        let other = ball_at(index);
        let apart = ball.lever + between(ball.pose, other.pose) - other.lever;
        return Met(sphere.body, sphere.material, apart, solid_of_ball(index, other), false, false, other.contact_radius);
    }
    let surface = surface_at(shape);
    let apart = ball.lever + between(ball.pose, poses[surface.body]);
    let solid = solid_of_surface(surface, poses[surface.body].orientation);
    let is_plane = surface.form == FORM_PLANE;
    let radius = select(0.0, surface.size.x, surface.form == FORM_SPHERE);
    return Met(surface.body, surface.material, apart, solid, is_plane, HAS_HULLS && !is_plane && solid.block == 0u, radius);
}

@compute @workgroup_size(64)
fn find_manifolds(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || (contacts[k].b >> SHAPE_BITS) != 1u {
        return;
    }
    let contact = contacts[k];
    let index = contact.a - params.surfaces;
    let ball = ball_at(index);
    let a = solid_of_ball(index, ball);
    let met = met_by(ball, shape_b(contact));
    let to_b = met.apart + met.solid.lever - a.lever;
    var view: mat3x3f;
    var choice: Choice;
    choice.reach = ball.contact_radius;
    for (var i = 0u; i <= MOST_POINTS; i++) {
        choice.scores[i] = FAR;
    }
    if a.block != 0u && met.is_plane {
        // The origin of a half space may be far away: the height is found in world axes, in which most have no tilt.
        let normal = rotate(met.solid.turn, vec3f(0.0, 0.0, 1.0));
        view = meet_half_space(convex_at(a.block, a.scale), rotate(conjugate(a.turn), normal), dot(to_b, normal), &choice);
    } else if a.block != 0u && met.is_wall {
        view = meet_wall(a, ball, surface_at(shape_b(contact)), &choice);
    } else if a.block != 0u && met.solid.block != 0u {
        view = meet(pair_of(a, met.solid, to_b), &choice);
    }
    var radius = ball.contact_radius;
    if met.radius > 0.0 {
        radius = radius * met.radius / (radius + met.radius);
    }
    var constraint: Constraint;
    constraint.bodies = vec2u(spheres[index].body, met.body);
    constraint.law = spheres[index].material * params.materials + met.material;
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
        if point.is_some {
            constraint.normal = point.normal;
            constraint.bias_velocity = point.gap;
            constraint.arm_a = a.lever + point.place;
            constraint.arm_b = constraint.arm_a - met.apart;
            constraint.rolling_arm = select(-radius, radius, rolls_on_hulls(index));
        } else {
            constraint.normal = vec3f(0.0);
            constraint.bias_velocity = -FAR;
            constraint.arm_a = vec3f(0.0);
            constraint.arm_b = vec3f(0.0);
            constraint.rolling_arm = 0.0;
        }
        let place = contacts[next].place;
        constraint_heads[place] = ConstraintHead(constraint.normal, constraint.bias_velocity, constraint.bodies, 0.0, 0.0);
        store_arms(place, constraint);
        number++;
    }
}

// Whether a ball is a sphere of a grain, which may resist rolling on a polyhedron.
fn rolls_on_hulls(index: u32) -> bool {
    return HAS_HULLS && !is_vertex(index) && !is_hull(spheres[index]);
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

// Place and heights of the point with this number.
fn best_of(choice: ptr<function, Choice>, number: u32) -> vec4f {
    return (*choice).best[select(number, MOST_POINTS, (*choice).leaves_out && number == (*choice).nearest)];
}

// Point of a manifold with this number, in the frame of the first solid; there is none if a point before it is at the same place.
fn point_of(choice: ptr<function, Choice>, number: u32, view: mat3x3f) -> Point {
    let best = best_of(choice, number);
    var is_first = true;
    for (var i = 0u; i < MOST_POINTS; i++) {
        let is_apart = distance(best_of(choice, i).xy, best.xy) > (*choice).same;
        is_first = is_first && (i >= number || is_apart);
    }
    let place = view * vec3f(best.xy, 0.5 * (best.z + best.w));
    return Point(is_first && (*choice).scores[number] != FAR, best.z - best.w, view[2], place);
}

// Considers a place of the plane at which the surfaces have these heights [m].
fn consider(choice: ptr<function, Choice>, place: vec2f, height_a: f32, height_b: f32) {
    let gap = height_a - height_b;
    if gap > (*choice).reach {
        return;
    }
    if (*choice).is_check {
        var is_kept = false;
        for (var i = 0u; i < MOST_POINTS; i++) {
            is_kept = is_kept || distance((*choice).best[i].xy, place) <= (*choice).same;
        }
        (*choice).leaves_out = (*choice).leaves_out || !is_kept;
        return;
    }
    choose(choice, vec4f(place, height_a, height_b), gap);
}

// Lets a point be that of all directions along which it lies farthest, if it has this gap [m].
fn choose(choice: ptr<function, Choice>, point: vec4f, gap: f32) {
    for (var i = 0u; i <= MOST_POINTS; i++) {
        var direction = around(i * (RIM_SIDES / MOST_POINTS));
        if i == MOST_POINTS {
            direction = tipped(around((*choice).nearest * (RIM_SIDES / MOST_POINTS)), (*choice).tipping);
        }
        let score = dot(direction, point.xy) - DEPTH_WEIGHT * gap;
        if score > (*choice).scores[i] {
            (*choice).scores[i] = score;
            (*choice).best[i] = point;
        }
    }
}

// Direction fixed to the first solid, of RIM_SIDES around.
fn around(number: u32) -> vec2f {
    return turned(FIRST_DIRECTION, RIM[number & (RIM_SIDES - 1u)]);
}

// Direction turned to a way by a share. (The twin takes the share of the angle; this is a share of the chord, the same at both ends.)
fn tipped(direction: vec2f, tipping: Tipping) -> vec2f {
    return normalize(mix(direction, tipping.way, tipping.share));
}

// Sets the way to which a direction turns: to the deepest points, if the gap changes along the plane with this slope, else to the side to
// which the first solid hangs over.
fn tip(choice: ptr<function, Choice>, slope: vec2f, overhang: vec2f) {
    let of_tilt = clamp((length(slope) - TILT.x) / (TILT.y - TILT.x), 0.0, 1.0);
    let of_overhang = clamp((length(overhang) - OVERHANG.x) / (OVERHANG.y - OVERHANG.x), 0.0, 1.0);
    (*choice).tipping = Tipping(vec2f(1.0, 0.0), 0.0);
    (*choice).nearest = NONE;
    if of_tilt > 0.0 && of_tilt >= of_overhang {
        (*choice).tipping = Tipping(-normalize(slope), of_tilt);
    } else if of_overhang > 0.0 {
        (*choice).tipping = Tipping(normalize(overhang), of_overhang);
    } else {
        return;
    }
    var most = FAR;
    for (var i = 0u; i < MOST_POINTS; i++) {
        let towards = dot(around(i * (RIM_SIDES / MOST_POINTS)), (*choice).tipping.way);
        if towards > most {
            most = towards;
            (*choice).nearest = i;
        }
    }
}

// Vector turned by the angle of a unit vector.
fn turned(v: vec2f, by: vec2f) -> vec2f {
    return vec2f(v.x * by.x - v.y * by.y, v.x * by.y + v.y * by.x);
}

fn crossed(u: vec2f, v: vec2f) -> f32 {
    return u.x * v.y - u.y * v.x;
}

// Axes of the plane of contact across a normal, and the normal.
fn view_along(normal: vec3f) -> mat3x3f {
    let first = first_across(normal);
    return mat3x3f(first, cross(normal, first), normal);
}

// Chooses the points of a solid and a half space with this outward normal, whose surface is at `height` along the normal [m]. Returns the
// axes of the plane of contact.
fn meet_half_space(a: Convex, normal: vec3f, height: f32, choice: ptr<function, Choice>) -> mat3x3f {
    let view = view_along(normal);
    if -extent(a, -normal) - height > (*choice).reach {
        return view;
    }
    (*choice).same = SAME * a.radius;
    let of_plane = transpose(view);
    tip(choice, slope_of(of_plane * facing(a, -normal)), vec2f(0.0));
    let seen = seen_of(a, -normal, of_plane, vec3f(0.0, 0.0, -a.rounding), (*choice).tipping);
    // Once to choose, and once to see whether corners are left out.
    for (var turn = 0u; turn < 2u; turn++) {
        (*choice).is_check = turn == 1u;
        for (var i = 0u; i < seen.count; i++) {
            let corner = corner_of(seen, i);
            consider(choice, corner.xy, corner.z, height);
        }
    }
    return view;
}

// Chooses the points of two solids. Returns the axes of the plane of contact, in the frame of a.
fn meet(pair: Pair, choice: ptr<function, Choice>) -> mat3x3f {
    let axis = separating_axis(pair, (*choice).reach);
    let view = view_along(axis.normal);
    if axis.separation > (*choice).reach {
        return view;
    }
    let back = axis.normal * pair.frame;
    let of_plane = transpose(view);
    let of_b = of_plane * pair.frame;
    let size = min(pair.a.radius, pair.b.radius);
    (*choice).same = SAME * size;
    let apart = pair.a.middle - pair.origin - pair.frame * pair.b.middle;
    let steepest = slope_of(of_plane * facing(pair.a, -axis.normal)) - slope_of(of_b * facing(pair.b, back));
    tip(choice, steepest, (of_plane * apart).xy / size);
    let a = seen_of(pair.a, -axis.normal, of_plane, vec3f(0.0, 0.0, -pair.a.rounding), (*choice).tipping);
    let b = seen_of(pair.b, back, of_b, of_plane * pair.origin + vec3f(0.0, 0.0, pair.b.rounding), (*choice).tipping);
    let width = WIDTH * (pair.a.radius + pair.b.radius);
    // Once to choose, and once to see whether corners are left out.
    for (var turn = 0u; turn < 2u; turn++) {
        (*choice).is_check = turn == 1u;
        consider_corners(a, b, width, 1.0, choice);
        consider_corners(b, a, width, -1.0, choice);
        consider_crossings(a, b, width, choice);
    }
    if (*choice).scores[0] == FAR {
        let on_a = point_of_a(pair, axis.normal);
        let on_b = point_of_b(pair, axis.normal);
        let place = of_plane * (0.5 * (on_a + on_b));
        (*choice).is_check = false;
        consider(choice, place.xy, dot(on_a, axis.normal) - pair.a.rounding, dot(on_b, axis.normal) + pair.b.rounding);
    }
    return view;
}

// Change of the height of a face along both axes of the plane, from its normal in coordinates of the plane.
fn slope_of(normal: vec3f) -> vec2f {
    return -normal.xy / normal.z;
}

// Normal of the face that looks along a direction; the direction itself for a line or a point.
fn facing(solid: Convex, along: vec3f) -> vec3f {
    if solid.is_round {
        let outward = flat_unit_or(along.xy, vec2f(1.0, 0.0));
        if shows_cap(solid, along, outward) {
            return vec3f(0.0, 0.0, sign(along.z));
        }
        return side_normal(solid, outward);
    }
    if !has_faces(solid) {
        return along;
    }
    return vector_at(facing_face(solid, along));
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
fn seen_of(solid: Convex, along: vec3f, turn: mat3x3f, shift: vec3f, tipping: Tipping) -> Seen {
    var seen: Seen;
    seen.turn = turn;
    seen.shift = shift;
    seen.tipping = tipping;
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

// Considers the corners of one outline that lie within the other. `side` is 1 if the first one is that of a, -1 if it is that of b.
fn consider_corners(own: Seen, other: Seen, width: f32, side: f32, choice: ptr<function, Choice>) {
    for (var i = 0u; i < own.count; i++) {
        let corner = corner_of(own, i);
        let height = height_within(other, corner.xy, width);
        if height == FAR {
            continue;
        }
        consider(choice, corner.xy, select(height, corner.z, side > 0.0), select(corner.z, height, side > 0.0));
    }
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

// Considers the places at which the sides of two outlines cross.
fn consider_crossings(a: Seen, b: Seen, width: f32, choice: ptr<function, Choice>) {
    let sides_a = sides_of(a);
    let sides_b = sides_of(b);
    for (var i = 0u; i < sides_a; i++) {
        let start_a = corner_of(a, i);
        let along_a = next_corner_of(a, i) - start_a;
        var start_b = corner_of(b, 0u);
        for (var j = 0u; j < sides_b; j++) {
            let end_b = next_corner_of(b, j);
            let along_b = end_b - start_b;
            let across = crossed(along_a.xy, along_b.xy);
            let lengths = vec2f(length(along_a.xy), length(along_b.xy));
            let apart = start_b.xy - start_a.xy;
            let shares = vec2f(crossed(apart, along_b.xy), crossed(apart, along_a.xy)) / across;
            // Sides end where others begin: what rounding moves over an end still crosses there.
            let beyond = width / lengths;
            if abs(across) > CROSSING * lengths.x * lengths.y && all(shares >= -beyond) && all(shares <= 1.0 + beyond) {
                consider(choice, start_a.xy + shares.x * along_a.xy, start_a.z + shares.x * along_a.z, start_b.z + shares.y * along_b.z);
            }
            start_b = end_b;
        }
    }
}
