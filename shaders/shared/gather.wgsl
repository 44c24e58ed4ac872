// Gathering after the overflow contacts: each body takes the sum of the impulses in its slots. In an accelerated solve without a
// tolerance and joints, bodies and overflow contacts are then extrapolated for the next sweep [E12].

@group(0) @binding(20) var<storage, read> side_ends: array<u32>;

var<workgroup> least_long: atomic<u32>;
var<workgroup> long_list: u32;
var<workgroup> sums: array<Share, 64>;

// Gives each body the sum over its slots. A list of slots longer than a workgroup is summed by the whole workgroup of its body.
@compute @workgroup_size(64)
fn gather_sides(@builtin(global_invocation_id) invocation: vec3u, @builtin(local_invocation_index) lane: u32) {
    let body = flat(invocation);
    var first = 0u;
    var count = 0u;
    if body < bodies() {
        first = first_side(body);
        count = side_ends[body] - first;
    }
    let is_long = HAS_HUBS && count > GROUP;
    if body < bodies() && !is_long {
        if count > 0u {
            take(body, sum_of(first, first + count, 1u));
        }
        end_sweep(body);
    }
    if goes_on() {
        extrapolate_overflow(body);
    }
    if HAS_HUBS {
        gather_long_lists(select(NONE, body, is_long), lane);
    }
}

fn end_sweep(body: u32) {
    if goes_on() {
        extrapolate_body(body);
    }
}

// Whether this dispatch extrapolates for the next sweep: nothing comes between the sweeps, and `colour` is the turn of the next one.
fn goes_on() -> bool {
    return HAS_MOMENTUM && !HAS_TOLERANCE && !HAS_JOINTS && colour.follows != 0u;
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

// Sums the long lists of the bodies of a workgroup, one after the other. `body` is the body of the invocation if its list is long,
// else NONE.
fn gather_long_lists(body: u32, lane: u32) {
    var pending = body;
    loop {
        if lane == 0u {
            atomicStore(&least_long, NONE);
        }
        workgroupBarrier();
        if pending != NONE {
            atomicMin(&least_long, pending);
        }
        workgroupBarrier();
        if lane == 0u {
            long_list = atomicLoad(&least_long);
        }
        let long = workgroupUniformLoad(&long_list);
        if long == NONE {
            break;
        }
        gather_long_list(long, lane);
        pending = select(pending, NONE, pending == long);
    }
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
