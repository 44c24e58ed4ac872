// Distance of a point from a surface. Twin: src/model/shape.rs.

// Signed distance of a point from a surface, and the normal away from the surface. `near` is false if the point is more
// than `reach` behind a thin wall.
struct Distance {
    normal: vec3f,
    length: f32,
    near: bool,
}

// Signed distance from a surface of revolution, in the half plane through its axis: coordinates (distance from the axis, z).
struct FlatDistance {
    normal: vec2f,
    length: f32,
    near: bool,
}

fn distance_to_surface(form: u32, size: vec4f, point: vec3f, reach: f32) -> Distance {
    switch form {
        case FORM_PLANE: { return Distance(vec3f(0.0, 0.0, 1.0), point.z, true); }
        case FORM_BOX: { return distance_to_box(point, size.xyz); }
        case FORM_SPHERE: {
            let length = length(point);
            return Distance(direction_or(point, length, vec3f(0.0, 0.0, 1.0)), length - size.x, true);
        }
        case FORM_CAPSULE: {
            let apart = point - vec3f(0.0, 0.0, clamp(point.z, -0.5 * size.y, 0.5 * size.y));
            let length = length(apart);
            return Distance(direction_or(apart, length, vec3f(1.0, 0.0, 0.0)), length - size.x, true);
        }
        default: { return distance_to_revolved(form, size, point, reach); }
    }
}

fn distance_to_revolved(form: u32, size: vec4f, point: vec3f, reach: f32) -> Distance {
    let from_axis = length(point.xy);
    let outward = direction_or(vec3f(point.xy, 0.0), from_axis, vec3f(1.0, 0.0, 0.0));
    let flat_point = vec2f(from_axis, point.z);
    let bottom = vec2f(size.x, -0.5 * size.z);
    let top = vec2f(size.y, 0.5 * size.z);
    var flat: FlatDistance;
    switch form {
        case FORM_DISC: { flat = thin_segment(flat_point, vec2f(0.0), vec2f(size.x, 0.0), reach); }
        case FORM_WALL_INSIDE: { flat = thin_segment(flat_point, bottom, top, reach); }
        case FORM_WALL_OUTSIDE: { flat = thin_segment(flat_point, top, bottom, reach); }
        default: { flat = distance_to_solid(flat_point, bottom, top); }
    }
    let normal = flat.normal.x * outward + vec3f(0.0, 0.0, flat.normal.y);
    return Distance(normal, flat.length, flat.near);
}

fn direction_or(vector: vec3f, length: f32, fallback: vec3f) -> vec3f {
    if length > 0.0 {
        return vector / length;
    }
    return fallback;
}

// Distance from a one-sided segment. Grains are on its left, seen from `start` to `end`.
fn thin_segment(point: vec2f, start: vec2f, end: vec2f, reach: f32) -> FlatDistance {
    let edge = end - start;
    let length = length(edge);
    let along = edge / length;
    let normal = vec2f(-along.y, along.x);
    let offset = point - start;
    let travelled = dot(offset, along);
    if travelled >= 0.0 && travelled <= length {
        let distance = dot(offset, normal);
        return FlatDistance(normal, distance, distance >= -reach);
    }
    return away_from(point, select(end, start, travelled < 0.0), normal);
}

// Distance from a solid of revolution with the side from `bottom` to `top` and flat caps.
fn distance_to_solid(point: vec2f, bottom: vec2f, top: vec2f) -> FlatDistance {
    let along = normalize(top - bottom);
    let side = vec2f(along.y, -along.x);
    var deepest = FlatDistance(side, dot(point - bottom, side), true);
    if bottom.y - point.y > deepest.length {
        deepest = FlatDistance(vec2f(0.0, -1.0), bottom.y - point.y, true);
    }
    if point.y - top.y > deepest.length {
        deepest = FlatDistance(vec2f(0.0, 1.0), point.y - top.y, true);
    }
    if deepest.length <= 0.0 {
        return deepest;
    }
    let on_side = nearest_on_segment(point, bottom, top);
    let on_bottom = nearest_on_segment(point, vec2f(0.0, bottom.y), bottom);
    let on_top = nearest_on_segment(point, vec2f(0.0, top.y), top);
    var closest = on_side;
    if distance(point, on_bottom) < distance(point, closest) {
        closest = on_bottom;
    }
    if distance(point, on_top) < distance(point, closest) {
        closest = on_top;
    }
    return away_from(point, closest, deepest.normal);
}

fn nearest_on_segment(point: vec2f, start: vec2f, end: vec2f) -> vec2f {
    let edge = end - start;
    let length_squared = dot(edge, edge);
    if length_squared == 0.0 {
        return start;
    }
    return start + edge * clamp(dot(point - start, edge) / length_squared, 0.0, 1.0);
}

fn away_from(point: vec2f, origin: vec2f, fallback: vec2f) -> FlatDistance {
    let apart = point - origin;
    let distance = length(apart);
    if distance > 0.0 {
        return FlatDistance(apart / distance, distance, true);
    }
    return FlatDistance(fallback, 0.0, true);
}

fn distance_to_box(point: vec3f, half: vec3f) -> Distance {
    let apart = point - clamp(point, -half, half);
    let distance = length(apart);
    if distance > 0.0 {
        return Distance(apart / distance, distance, true);
    }
    let depth = half - abs(point);
    let sides = select(vec3f(1.0), vec3f(-1.0), point < vec3f(0.0));
    if depth.x <= depth.y && depth.x <= depth.z {
        return Distance(vec3f(sides.x, 0.0, 0.0), -depth.x, true);
    }
    if depth.y <= depth.z {
        return Distance(vec3f(0.0, sides.y, 0.0), -depth.y, true);
    }
    return Distance(vec3f(0.0, 0.0, sides.z), -depth.z, true);
}

// Signed distance of the centre of the sphere at `pose` from a surface of the body at `body_pose`, and the normal in world axes.
fn touch_surface(surface: Surface, body_pose: Pose, pose: Pose, radius: f32) -> Distance {
    let frame = compose(body_pose.orientation, surface.orientation);
    let origin = rotate(body_pose.orientation, surface.position);
    let point = rotate(conjugate(frame), between(body_pose, pose) - origin);
    var distance = distance_to_surface(surface.form, surface.size, point, radius);
    distance.normal = rotate(frame, distance.normal);
    return distance;
}

// Square of the sine of the angle up to which the normal of a contact is that of a face. Twin: ON_FACE in src/model/flush.rs.
const SQUARE_OFF_FACE = 8e-7;

// Whether a contact with this normal, in the frame of a surface that is no patch, is with an edge of it.
fn is_edge_of(form: u32, size: vec4f, normal: vec3f) -> bool {
    let squares = normal * normal;
    let across = squares.x + squares.y;
    let mantle = vec2f(size.y - size.x, size.z);
    let radial = select(sqrt(across), -sqrt(across), form == FORM_WALL_INSIDE);
    let along = radial * mantle.x + normal.z * mantle.y;
    let leans = along * along > SQUARE_OFF_FACE * dot(mantle, mantle);
    switch form {
        case FORM_BOX: { return squares.x + squares.y + squares.z - max(squares.x, max(squares.y, squares.z)) > SQUARE_OFF_FACE; }
        case FORM_DISC: { return across > SQUARE_OFF_FACE; }
        case FORM_WALL_INSIDE, FORM_WALL_OUTSIDE: { return leans; }
        case FORM_SOLID: { return across > SQUARE_OFF_FACE && leans; }
        default: { return false; }
    }
}
