// Touches of a solid with the triangles of a surface, and the points chosen among them. Twin: of_touches in src/shape/manifold.rs.

// Difference of gaps up to which touches of separate surfaces carry a solid together, over its radius [-].
const LEVEL = 1e-3;
// Least cosine of the angle between the normals of touches on one side of a solid, and largest square of their distance on one flat face:
// that of the twin's cosine 1 - 1e-6, which would be lost in the digits of single precision.
const SAME_SIDE = 0.9;
const SAME_FACE = 2e-6;

// Touches of a solid with triangles, of which those are kept that lie farthest along the directions. Of touches on one side of the solid
// those that are as deep as the deepest come first: what stands on a curved wall does not stand on its sides, however far out these are.
struct Touches {
    size: f32,                 // radius of the solid [m]
    plane: mat3x3f,            // axes of the plane of contact in the frame of the solid
    deepest: Point,            // the deepest touch
    is_deepest_known: bool,    // whether all triangles were seen once
    sees_sides: bool,          // whether normals differ, so that all triangles have to be seen again once the deepest touch is known
    scores: array<f32, MOST_POINTS>,
    points: array<Point, MOST_POINTS>,
    lower_scores: array<f32, MOST_POINTS>,
    lower: array<Point, MOST_POINTS>,
}

fn no_touches(size: f32) -> Touches {
    var touches: Touches;
    touches.size = size;
    touches.deepest = Point(false, 0.0, vec3f(0.0, 0.0, 1.0), vec3f(0.0));
    return touches;
}

// Sets the plane in which touches are chosen. Like those of the twin its axes depend on the normal in world axes.
fn look_along(normal: vec3f, turn: vec4f, touches: ptr<function, Touches>) {
    let view = view_along(rotate(turn, normal));
    (*touches).is_deepest_known = (*touches).deepest.is_some;
    (*touches).plane = mat3x3f(rotate(conjugate(turn), view[0]), rotate(conjugate(turn), view[1]), normal);
    for (var i = 0u; i < MOST_POINTS; i++) {
        (*touches).scores[i] = FAR;
        (*touches).points[i].is_some = false;
        (*touches).lower_scores[i] = FAR;
        (*touches).lower[i].is_some = false;
    }
}

// Whether two normals are those of one flat face.
fn are_of_a_face(one: vec3f, other: vec3f) -> bool {
    let apart = one - other;
    return dot(apart, apart) <= SAME_FACE;
}

// Whether a touch is on the same side of the solid as the deepest one, but lower and not on its face.
fn is_beneath(touches: ptr<function, Touches>, point: Point) -> bool {
    let normal = (*touches).deepest.normal;
    let is_lower = point.gap > (*touches).deepest.gap + LEVEL * (*touches).size;
    return is_lower && dot(point.normal, normal) >= SAME_SIDE && !are_of_a_face(point.normal, normal);
}

// Lets a touch be that of all directions along which it lies farthest, for a solid with axes of this turn.
fn offer(point: Point, turn: vec4f, touches: ptr<function, Touches>) {
    if !(*touches).is_deepest_known {
        if !(*touches).deepest.is_some {
            look_along(point.normal, turn, touches);
        }
        (*touches).sees_sides = (*touches).sees_sides || !are_of_a_face(point.normal, (*touches).plane[2]);
        if !(*touches).deepest.is_some || point.gap < (*touches).deepest.gap {
            (*touches).deepest = point;
        }
    }
    let is_lower = (*touches).is_deepest_known && is_beneath(touches, point);
    let place = (point.place * (*touches).plane).xy;
    for (var i = 0u; i < MOST_POINTS; i++) {
        let score = dot(around(i * (RIM_SIDES / MOST_POINTS)), place) - DEPTH_WEIGHT * point.gap;
        if is_lower && score > (*touches).lower_scores[i] {
            (*touches).lower_scores[i] = score;
            (*touches).lower[i] = point;
        }
        if !is_lower && score > (*touches).scores[i] {
            (*touches).scores[i] = score;
            (*touches).points[i] = point;
        }
    }
}

// Drops touches that were chosen twice, and puts lower ones in their places.
fn join(touches: ptr<function, Touches>) {
    let same = SAME * (*touches).size;
    for (var i = MOST_POINTS; i > 0u; i--) {
        for (var j = 0u; j < i - 1u; j++) {
            let point = (*touches).points[j];
            let is_same = point.is_some && distance(point.place, (*touches).points[i - 1u].place) <= same;
            (*touches).points[i - 1u].is_some = (*touches).points[i - 1u].is_some && !is_same;
        }
    }
    for (var i = 0u; i < MOST_POINTS; i++) {
        var is_new = (*touches).lower[i].is_some && !(*touches).points[i].is_some;
        for (var j = 0u; j < MOST_POINTS; j++) {
            let point = (*touches).points[j];
            is_new = is_new && !(point.is_some && distance(point.place, (*touches).lower[i].place) <= same);
        }
        if is_new {
            (*touches).points[i] = (*touches).lower[i];
        }
    }
}
