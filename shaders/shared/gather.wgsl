// After a colour: each free boundary takes the sum of the impulses that its contacts put aside, `share_of` each
// place. The order of the sum is that of the places, so its bits are the same from run to run.

var<workgroup> linear_sums: array<vec3f, 256>;
var<workgroup> angular_sums: array<vec3f, 256>;
var<workgroup> sharing: u32;

// For a colour that is dispatched as so many workgroups; each takes its boundaries in turn.
@compute @workgroup_size(256)
fn gather_colour(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    gather(group.x + group.y * groups.x, groups.x * groups.y, colour.index, lane);
}

// Run by 256 invocations.
fn gather(first: u32, stride: u32, c: u32, lane: u32) {
    for (var boundary = first; boundary < params.boundaries; boundary += stride) {
        if lane == 0u {
            sharing = atomicLoad(&free_boundaries[boundary].counts[c]);
        }
        if workgroupUniformLoad(&sharing) > 0u {
            gather_boundary(boundary, c, lane);
        }
    }
}

fn gather_boundary(boundary: u32, c: u32, lane: u32) {
    var linear = vec3f(0.0);
    var angular = vec3f(0.0);
    for (var place = colour_starts[c] + lane; place < colour_starts[c + 1u]; place += 256u) {
        let bodies = row_targets[place].bodies;
        if bodies.x == boundary {
            let share = share_of(place);
            linear += share.linear;
            angular += cross(row_arms[place].arm_a, share.linear) + share.rolling;
        }
        if bodies.y == boundary {
            let share = share_of(place);
            linear -= share.linear;
            angular -= cross(row_arms[place].arm_b, share.linear) + share.rolling;
        }
    }
    linear_sums[lane] = linear;
    angular_sums[lane] = angular;
    workgroupBarrier();
    for (var reach = 128u; reach > 0u; reach /= 2u) {
        if lane < reach {
            linear_sums[lane] += linear_sums[lane + reach];
            angular_sums[lane] += angular_sums[lane + reach];
        }
        workgroupBarrier();
    }
    if lane == 0u {
        let locked = locks(vec2u(boundary)).x;
        let body = velocities[boundary];
        velocities[boundary].linear =
            body.linear + body.inverse_mass * free_translation(locked) * linear_sums[0];
        velocities[boundary].angular = body.angular + inverse_inertia_of(boundary) * angular_sums[0];
    }
}
