// Sinks: remove grains whose centre came into one on its path in the substep. Twins: src/cpu/sinks.rs, src/model/passage.rs.

@group(0) @binding(2) var<storage, read> poses: array<Pose>;
@group(0) @binding(3) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(4) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> sinks: array<Sink>;

const SAME_ENTRY = 1e-3;       // difference of the shares of a path up to which two sinks count as entered at once [-]
const LEAST_PASSAGE = 1e-6;    // least path inside a form that counts as passed, over the size of the form [-]
const LEAST_PATH = 1e-20;      // least component of a path along an axis, in place of zero [m]
const INFINITE = 1e30;
const BEHIND_FACE = 2.0;       // entry into the space behind a face of the domain, after that into any sink [-]
const NO_ENTRY = 3.0;
const NO_PART = vec2f(1.0, 0.0);

// Removes a grain with the sink that its centre entered first; of sinks that it entered at once, with the first of the list. Each sphere of
// the grain has an invocation, so all of them are marked.
@compute @workgroup_size(64)
fn drain(@builtin(global_invocation_id) invocation: vec3u) {
    let sphere = params.vertices + flat(invocation);
    // A grain outside halts the run, but not the search for the first one.
    if sphere >= balls() || is_halted_beyond(HALT_OUTSIDE) || is_removed(spheres[sphere]) {
        return;
    }
    let body = spheres[sphere].body;
    let pose = poses[body];
    let path = params.h * velocities[body].linear;
    var taken_by = NONE;
    var earliest = NO_ENTRY;
    for (var i = 0u; i < params.sinks; i++) {
        let entry = entry_into(sinks[i], pose, path);
        if entry < earliest - SAME_ENTRY {
            earliest = entry;
            taken_by = i;
        }
    }
    if taken_by == NONE {
        return;
    }
    if sinks[taken_by].ends_run != 0u {
        atomicOr(&status.halted, HALT_OUTSIDE);
        atomicMin(&status.bad_grain, body - params.boundaries);
        return;
    }
    spheres[sphere].tag = sinks[taken_by].tag;
    velocities[body].inverse_mass = 0.0;
    velocities[body].inverse_inertia = 0.0;
}

// Share of the path to a pose after which it enters a sink, or NO_ENTRY.
fn entry_into(sink: Sink, pose: Pose, path: vec3f) -> f32 {
    let turn = conjugate(sink.pose.orientation);
    let along = rotate(turn, path);
    var entry = entry_at(sink, rotate(turn, between(sink.pose, pose)), along);
    if HAS_PERIOD {
        // The nearest image of the start may be another than that of the end.
        var start = pose;
        start.offset -= path;
        entry = min(entry, entry_at(sink, rotate(turn, between(sink.pose, start)) + along, along));
    }
    return entry;
}

// Share of a path to `end` after which it enters a sink, in the frame of the sink, or NO_ENTRY.
fn entry_at(sink: Sink, end: vec3f, along: vec3f) -> f32 {
    let is_inside = distance_to_surface(sink.form, sink.size, end, 0.0).length < 0.0;
    if sink.is_face != 0u {
        return select(NO_ENTRY, BEHIND_FACE, is_inside);
    }
    let inside = passage(sink.form, sink.size, end - along, along);
    // A path that leaves a plane was behind it before. One that starts on a surface may seem to start inside, by rounding.
    let is_passed = sink.form != FORM_PLANE
        && (inside.y - inside.x) * length(along) > LEAST_PASSAGE * size_of(sink.form, sink.size);
    if !(is_inside || is_passed) {
        return NO_ENTRY;
    }
    return select(1.0, inside.x, inside.x < inside.y);
}

fn size_of(form: u32, size: vec4f) -> f32 {
    switch form {
        case FORM_BOX: { return max(size.x, max(size.y, size.z)); }
        case FORM_SPHERE: { return size.x; }
        default: { return max(max(size.x, size.y), 0.5 * size.z); }
    }
}

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
