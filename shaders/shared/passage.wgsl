// Straight paths through solid forms. Twin: src/model/passage.rs.

const LEAST_PATH = 1e-20;      // least component of a path along an axis, in place of zero [m]
const INFINITE = 1e30;
const NO_PART = vec2f(1.0, 0.0);

// Part of a path from `start` by `along` that lies inside a solid form, as shares of the path; empty if the first is not the smaller one.
fn passage(form: u32, size: vec4f, start: vec3f, along: vec3f) -> vec2f {
    switch form {
        case FORM_PLANE: { return negative(vec3f(0.0, 0.5 * along.z, start.z), vec2f(0.0, 1.0)); }
        case FORM_SPHERE: {
            let c = dot(start, start) - size.x * size.x;
            return negative(vec3f(dot(along, along), dot(start, along), c), vec2f(0.0, 1.0));
        }
        case FORM_BOX: {
            let of_x = between_faces(start.x, along.x, size.x);
            let of_y = between_faces(start.y, along.y, size.y);
            let of_z = between_faces(start.z, along.z, size.z);
            return vec2f(max(max(0.0, of_x.x), max(of_y.x, of_z.x)), min(min(1.0, of_x.y), min(of_y.y, of_z.y)));
        }
        default: {
            let of_z = between_faces(start.z, along.z, 0.5 * size.z);
            let within = vec2f(max(0.0, of_z.x), min(1.0, of_z.y));
            let slope = (size.y - size.x) / size.z;
            let radius = size.x + slope * (start.z + 0.5 * size.z);
            let growth = slope * along.z;
            let a = dot(along.xy, along.xy) - growth * growth;
            let b = dot(start.xy, along.xy) - radius * growth;
            let c = dot(start.xy, start.xy) - radius * radius;
            if within.x >= within.y {
                return NO_PART;
            }
            return negative(vec3f(a, b, c), within);
        }
    }
}

// Part of a path on which a coordinate that goes from `start` by `along` lies between -half and half.
fn between_faces(start: f32, along: f32, half: f32) -> vec2f {
    let safe = select(along, LEAST_PATH, abs(along) < LEAST_PATH);
    let one = (-half - start) / safe;
    let other = (half - start) / safe;
    return vec2f(min(one, other), max(one, other));
}

// The part of `within` on which q.x s² + 2 q.y s + q.z is negative, where that is one part.
fn negative(q: vec3f, within: vec2f) -> vec2f {
    let discriminant = q.y * q.y - q.x * q.z;
    if discriminant <= 0.0 {
        return select(NO_PART, within, q.x < 0.0 || (q.x == 0.0 && q.z < 0.0));
    }
    let turn = -(q.y + select(-1.0, 1.0, q.y >= 0.0) * sqrt(discriminant));
    let one = select(turn / q.x, sign(turn) * INFINITE, q.x == 0.0);
    let other = q.z / turn;
    let low = min(one, other);
    let high = max(one, other);
    if q.x >= 0.0 {
        return vec2f(max(within.x, low), min(within.y, high));
    }
    let before = vec2f(within.x, min(within.y, low));
    return select(vec2f(max(within.x, high), within.y), before, before.x < before.y);
}
