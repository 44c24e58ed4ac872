// After the rest: each body takes the sum of what was put aside for it; then motors are solved. Where nobody asks whether
// the sweep was the last, bodies and contacts without a colour then go on to the next [E12].

@group(0) @binding(19) var<storage, read> side_bodies: array<u32>;
@group(0) @binding(20) var<storage, read> side_ends: array<u32>;

var<workgroup> long_list: u32;
var<workgroup> sums: array<Share, 64>;

// The first side of a body sums them all; a list longer than a workgroup is summed by the workgroup in which
// it starts, and no more than one does.
@compute @workgroup_size(64)
fn gather_sides(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let side = flat(invocation);
    var body = NONE;
    if side < status.sides && first_side(side_bodies[side]) == side {
        body = side_bodies[side];
    }
    var count = 0u;
    if body != NONE {
        count = side_ends[body] - side;
    }
    if body != NONE && (!HAS_HUBS || count <= GROUP) {
        take(body, sum_of(side, side + count, 1u));
        end_sweep(body);
    }
    // Those of a body without sides are the work of the invocation of its number.
    if is_body(side) && first_side(side) == side_ends[side] {
        end_sweep(side);
    }
    if goes_on() {
        carry_rest_on(side);
    }
    if HAS_HUBS {
        if lane == 0u {
            long_list = NONE;
        }
        workgroupBarrier();
        if count > GROUP {
            long_list = body;
        }
        let long = workgroupUniformLoad(&long_list);
        if long != NONE {
            gather_long_list(long, lane);
        }
    }
}

// Whether there are sides, motors or sweeps to go on to for a body of this number.
fn is_body(index: u32) -> bool {
    if HAS_MOMENTUM {
        return index < params.boundaries + params.grains;
    }
    return has_motor(index);
}

fn end_sweep(body: u32) {
    if has_motor(body) {
        solve_motor(body);
    }
    if goes_on() {
        carry_body_on(body);
    }
}

// Without a tolerance this dispatch is told the turn of the next sweep.
fn goes_on() -> bool {
    return HAS_MOMENTUM && !HAS_TOLERANCE && colour.follows != 0u;
}

fn first_side(body: u32) -> u32 {
    if body == 0u {
        return 0u;
    }
    return side_ends[body - 1u];
}

fn sum_of(first: u32, end: u32, stride: u32) -> Share {
    var sum = Share(vec3f(0.0), vec3f(0.0));
    for (var side = first; side < end; side += stride) {
        sum = plus(sum, load_share(side));
    }
    return sum;
}

fn gather_long_list(body: u32, lane: u32) {
    sums[lane] = sum_of(first_side(body) + lane, side_ends[body], GROUP);
    workgroupBarrier();
    for (var reach = GROUP / 2u; reach > 0u; reach /= 2u) {
        if lane < reach {
            sums[lane] = plus(sums[lane], sums[lane + reach]);
        }
        workgroupBarrier();
    }
    if lane == 0u {
        take(body, sums[0]);
        end_sweep(body);
    }
}
