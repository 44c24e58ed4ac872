// Sinks: remove grains whose centre is inside, at the end of a substep.
// Twin: src/cpu/sinks.rs.

@group(0) @binding(2) var<storage, read> poses: array<Pose>;
@group(0) @binding(3) var<storage, read_write> velocities: array<Velocity>;
@group(0) @binding(4) var<storage, read_write> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> sinks: array<Sink>;

// Removes a grain with the first sink of the list that holds its centre. Each sphere of the grain has an invocation, so all of them are
// marked.
@compute @workgroup_size(64)
fn drain(@builtin(global_invocation_id) invocation: vec3u) {
    let sphere = params.vertices + flat(invocation);
    // A grain outside halts the run, but not the search for the first one.
    if sphere >= balls() || is_halted_beyond(HALT_OUTSIDE) || is_removed(spheres[sphere]) {
        return;
    }
    let body = spheres[sphere].body;
    let pose = poses[body];
    for (var i = 0u; i < params.sinks; i++) {
        if contains(sinks[i], pose) {
            if sinks[i].ends_run != 0u {
                atomicOr(&status.halted, HALT_OUTSIDE);
                atomicMin(&status.bad_grain, body - params.boundaries);
                return;
            }
            spheres[sphere].tag = sinks[i].tag;
            velocities[body].inverse_mass = 0.0;
            velocities[body].inverse_inertia = 0.0;
            return;
        }
    }
}

fn contains(sink: Sink, pose: Pose) -> bool {
    let point = rotate(conjugate(sink.pose.orientation), between(sink.pose, pose));
    return distance_to_surface(sink.form, sink.size, point, 0.0).length < 0.0;
}
