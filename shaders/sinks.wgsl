// Sinks: remove grains whose centre came into one on its path in the substep. Twin: src/cpu/sinks.rs.

@group(0) @binding(2) var<storage, read> poses: array<Pose>;
@group(0) @binding(3) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(4) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> sinks: array<Sink>;

const SAME_ENTRY = 1e-3;       // difference of the shares of a path up to which two sinks count as entered at once [-]
const LEAST_PASSAGE = 1e-6;    // least path inside a form that counts as passed, over the size of the form [-]
const BEHIND_FACE = 2.0;       // entry into the space behind a face of the domain, after that into any sink [-]
const NO_ENTRY = 3.0;

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
