// Gathering after the overflow contacts: each body takes the sum of the changes of its velocity in its slots. The workgroup that owns a
// body, that of its tile in the first tiling, does this as it begins the next pass, or in a dispatch of its own where other kernels come
// between.

// Number of partial sums of a long list of slots. The same on all devices, so that the bits are, whatever LANES is.
const PARTS = 64u;

var<workgroup> least_long: atomic<u32>;
var<workgroup> long_list: u32;
var<workgroup> sums: array<Velocity, PARTS>;

@compute @workgroup_size(LANES)
fn gather_sides(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    gather_tile(group, lane, true);
}

// Gives each body of a tile the sum over its slots, if `is_wanted`. A long list of slots is summed by the whole workgroup.
fn gather_tile(group: vec3u, lane: u32, is_wanted: bool) {
    let members = select(vec2u(0u), members_of(group), is_wanted);
    for (var i = members.x + lane; i < members.y; i += LANES) {
        let member = member_at(i);
        if member.first < member.end && !is_long(member) {
            take(member.body, sum_of(member.first, member.end, 1u));
        }
    }
    if HAS_HUBS {
        gather_long_lists(members, lane);
    }
    storageBarrier();
}

fn is_long(member: Member) -> bool {
    return HAS_HUBS && member.end - member.first > PARTS;
}

fn sum_of(first: u32, end: u32, stride: u32) -> Velocity {
    var sum = unchanged();
    for (var slot = first; slot < end; slot += stride) {
        sum = plus(sum, velocities[bodies() + slot]);
    }
    return sum;
}

// Sums the long lists of the members of a tile, one after the other.
fn gather_long_lists(members: vec2u, lane: u32) {
    var next = members.x + lane;
    loop {
        while next < members.y && !is_long(member_at(next)) {
            next += LANES;
        }
        if lane == 0u {
            atomicStore(&least_long, NONE);
        }
        workgroupBarrier();
        if next < members.y {
            atomicMin(&least_long, next);
        }
        workgroupBarrier();
        if lane == 0u {
            long_list = atomicLoad(&least_long);
        }
        let long = workgroupUniformLoad(&long_list);
        if long == NONE {
            break;
        }
        gather_long_list(member_at(long), lane);
        next += select(0u, LANES, next == long);
    }
}

fn gather_long_list(member: Member, lane: u32) {
    for (var part = lane; part < PARTS; part += LANES) {
        sums[part] = sum_of(member.first + part, member.end, PARTS);
    }
    workgroupBarrier();
    for (var reach = PARTS / 2u; reach > 0u; reach /= 2u) {
        for (var part = lane; part < reach; part += LANES) {
            sums[part] = plus(sums[part], sums[part + reach]);
        }
        workgroupBarrier();
    }
    if lane == 0u {
        take(member.body, sums[0]);
    }
}

// Applies the change of its velocity by contacts to a body.
fn take(body: u32, change: Velocity) {
    velocities[body] = moved(velocities[body], change);
}
