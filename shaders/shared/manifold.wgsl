// Manifolds: the points at which a convex solid touches another one or a half space, chosen among the corners of the overlap of their
// outlines. Twin: src/shape/manifold.rs. Each shader declares `poses`, `spheres`, `surfaces` and the streams of the constraints itself.
//
// Each solid shows the other the face (or line, or point) that looks at it. Seen along the normal these two outlines overlap; of the
// corners of the overlap those are kept that lie farthest along MOST_POINTS directions, deep ones before others. Where corners are left
// out, the nearest direction turns to the deepest of them, or to the side to which the first solid hangs over. Tolerances are those of the
// twin, but for the digits of single precision.

// Weight of the depth of a point beside its distance along a direction [-].
const DEPTH_WEIGHT = 5.0;
// Distance of two corners that count as one, over the smaller of the two solids [-].
const SAME = 1e-3;
// Width of the sides of an outline, over the radii of both solids [-]: corners on a side lie within.
const WIDTH = 1e-6;
// Smallest sine of the angle of two sides that cross [-].
const CROSSING = 1e-4;
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

// No points yet, and none with a larger gap than `reach` [m].
fn no_choice(reach: f32) -> Choice {
    var choice: Choice;
    choice.reach = reach;
    for (var i = 0u; i <= MOST_POINTS; i++) {
        choice.scores[i] = FAR;
    }
    return choice;
}

// Shape b of a contact at a point, with the place of its body.
struct Met {
    body: u32,
    material: u32,
    apart: vec3f,              // centre of its body, from the centre of the body of a [m]
    solid: PlacedSolid,        // its convex solid; none for a half space, a thin wall and a grain that was removed
    is_plane: bool,            // whether it is a half space
    radius: f32,               // its contact radius, 0 for a surface that is no sphere [m]
}

fn met_by(ball: Ball, shape: u32) -> Met {
    if HAS_HULLS && shape >= params.surfaces {
        let index = shape - params.surfaces;
        let sphere = spheres[index];
        let other = ball_at(index);
        let apart = ball.lever + between(ball.pose, other.pose) - other.lever;
        return Met(sphere.body, sphere.material, apart, solid_of_ball(index, other), false, other.contact_radius);
    }
    let surface = surface_at(shape);
    let apart = ball.lever + between(ball.pose, poses[surface.body]);
    let solid = solid_of_surface(surface, poses[surface.body].orientation);
    let is_plane = surface.form == FORM_PLANE;
    let radius = select(0.0, surface.size.x, surface.form == FORM_SPHERE);
    return Met(surface.body, surface.material, apart, solid, is_plane, radius);
}

// Stores the constraint of a contact at a place in solving order: that of a ball of this contact radius [m] whose solid has its origin at
// `lever` from the centre of its body, at a point in world axes. Without a point it takes no part.
fn store_point(place: u32, index: u32, contact_radius: f32, lever: vec3f, met: Met, point: Point) {
    var radius = contact_radius;
    if met.radius > 0.0 {
        radius = radius * met.radius / (radius + met.radius);
    }
    var constraint: Constraint;
    constraint.bodies = vec2u(spheres[index].body, met.body);
    constraint.law = spheres[index].material * params.materials + met.material;
    constraint.bias_velocity = -FAR;
    if point.is_some {
        constraint.normal = point.normal;
        constraint.bias_velocity = point.gap;
        constraint.arm_a = lever + point.place;
        constraint.arm_b = constraint.arm_a - met.apart;
        constraint.rolling_arm = -radius;
    }
    constraint_heads[place] = ConstraintHead(constraint.normal, constraint.bias_velocity, constraint.bodies, 0.0, 0.0);
    store_arms(place, constraint);
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
    var seen = seen_of(a, -normal, transpose(view), vec3f(0.0, 0.0, -a.rounding));
    tip(choice, seen.slope, vec2f(0.0));
    seen.tipping = (*choice).tipping;
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
    if axis.separation > (*choice).reach {
        return view_along(axis.normal);
    }
    let view = meet_along(pair, axis.normal, choice);
    if (*choice).scores[0] == FAR {
        let nearest = nearest_along(pair, axis.normal);
        let on_a = nearest.of_a;
        let on_b = pair.origin + pair.frame * nearest.of_b;
        let place = transpose(view) * (0.5 * (on_a + on_b));
        (*choice).is_check = false;
        consider(choice, place.xy, dot(on_a, axis.normal) - pair.a.rounding, dot(on_b, axis.normal) + pair.b.rounding);
    }
    return view;
}

// Chooses the points of two solids along a given normal from b to a; none if nothing of a is over b. Returns the axes of the plane.
fn meet_along(pair: Pair, normal: vec3f, choice: ptr<function, Choice>) -> mat3x3f {
    let view = view_along(normal);
    let back = normal * pair.frame;
    let of_plane = transpose(view);
    let of_b = of_plane * pair.frame;
    let apart = pair.a.middle - pair.origin - pair.frame * pair.b.middle;
    var b = seen_of(pair.b, back, of_b, of_plane * pair.origin + vec3f(0.0, 0.0, pair.b.rounding));
    let a = seen_before(pair.a, view, b.slope, apart, pair.b.radius, choice);
    b.tipping = (*choice).tipping;
    // Once to choose, and once to see whether corners are left out.
    for (var turn = 0u; turn < 2u; turn++) {
        (*choice).is_check = turn == 1u;
        consider_overlap(a, b, WIDTH * (pair.a.radius + pair.b.radius), choice);
    }
    return view;
}

// What a shows in a plane of contact to something of this radius whose height changes by `slope`, with the way to which a direction turns.
// `apart` leads from the middle of the latter to that of a [m].
fn seen_before(a: Convex, view: mat3x3f, slope: vec2f, apart: vec3f, radius: f32, choice: ptr<function, Choice>) -> Seen {
    let of_plane = transpose(view);
    let size = min(a.radius, radius);
    (*choice).same = SAME * size;
    var seen = seen_of(a, -view[2], of_plane, vec3f(0.0, 0.0, -a.rounding));
    tip(choice, seen.slope - slope, (of_plane * apart).xy / size);
    seen.tipping = (*choice).tipping;
    return seen;
}

// Considers the corners of the overlap of two outlines with sides of this width [m].
fn consider_overlap(a: Seen, b: Seen, width: f32, choice: ptr<function, Choice>) {
    consider_corners(a, b, width, 1.0, choice);
    consider_corners(b, a, width, -1.0, choice);
    consider_crossings(a, b, width, choice);
}

// Considers the corners of one outline that lie within the other. `side` is 1 if the first one is that of a, -1 if it is that of b. (Not a
// loop over both outlines, which takes a quarter more registers.)
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
