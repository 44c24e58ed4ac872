// Scan: exclusive prefix sum of an array of counts, in place. It takes two kernels (sums of blocks, prefix sums within a block from
// the sum of the blocks before it), so no workgroup ever waits for another.

const WIDTH = 256u;                  // invocations per workgroup
const ITEMS = SCAN_BLOCK / WIDTH;    // values per invocation
const PART = 16u;

@group(0) @binding(2) var<storage, read_write> scan_values: array<u32>;
@group(0) @binding(3) var<storage, read_write> scan_sums: array<u32>;   // one per block

var<workgroup> shared_sums: array<u32, WIDTH>;

// Inclusive prefix sum over the workgroup of one value per invocation: within parts of sixteen, then over the sums of the
// parts before, as barriers are expensive.
fn sum_before(lane: u32, value: u32) -> u32 {
    shared_sums[lane] = value;
    workgroupBarrier();
    if lane < WIDTH / PART {
        for (var next = PART * lane + 1u; next < PART * (lane + 1u); next++) {
            shared_sums[next] += shared_sums[next - 1u];
        }
    }
    workgroupBarrier();
    return sum_of_parts(lane) + shared_sums[lane];
}

// Sum of the parts that end before a lane.
fn sum_of_parts(lane: u32) -> u32 {
    var sum = 0u;
    for (var end = PART; end <= lane; end += PART) {
        sum += shared_sums[end - 1u];
    }
    return sum;
}

fn value_at(index: u32) -> u32 {
    if index < arrayLength(&scan_values) {
        return scan_values[index];
    }
    return 0u;
}

fn block_of(group: vec3u) -> u32 {
    return group.x + group.y * GROUPS_PER_ROW;
}

@compute @workgroup_size(256)
fn sum_blocks(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let first = block_of(group) * SCAN_BLOCK + lane * ITEMS;
    var sum = 0u;
    for (var i = 0u; i < ITEMS; i++) {
        sum += value_at(first + i);
    }
    let total = sum_before(lane, sum);
    if lane == WIDTH - 1u && block_of(group) < arrayLength(&scan_sums) {
        scan_sums[block_of(group)] = total;
    }
}

// Sum of the blocks before a block. Every workgroup finds it for itself: a thousandth of the values at most, in place of a dispatch.
fn sum_of_blocks(end: u32, lane: u32) -> u32 {
    var sum = 0u;
    for (var block = lane; block < min(end, arrayLength(&scan_sums)); block += WIDTH) {
        sum += scan_sums[block];
    }
    sum_before(lane, sum);
    let total = sum_of_parts(WIDTH);
    workgroupBarrier();
    return total;
}

@compute @workgroup_size(256)
fn scan_blocks(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
    let block = block_of(group);
    let blocks_before = sum_of_blocks(block, lane);
    let first = block * SCAN_BLOCK + lane * ITEMS;
    var sum = 0u;
    for (var i = 0u; i < ITEMS; i++) {
        sum += value_at(first + i);
    }
    var before = blocks_before + sum_before(lane, sum) - sum;
    for (var i = 0u; i < ITEMS; i++) {
        let value = value_at(first + i);
        if first + i < arrayLength(&scan_values) {
            scan_values[first + i] = before;
        }
        before += value;
    }
}
