// Sums over the substeps of a submission: integers of 64 bits, in units that the host sets. The order in which invocations add does not
// matter, so the bits are the same from run to run.

// Number of words of a boundary: six numbers, the low word of each before the high one: impulse, then angular impulse about its position.
const LOAD_WORDS = 12u;

// The boundaries, then the bins of the meters: arm times impulse of the contacts, row by row, then the momentum flux (xx, xy, xz, yy, yz,
// zz, each in units and in parts of a unit), momentum and mass of the grains, and number and mass of those that came in.
@group(0) @binding(4) var<storage, read_write> loads: array<atomic<u32>>;

// Adds a number, rounded to an integer, to the 64 bits at `place`. The scales are powers of two, like 2³², so no other step
// rounds.
fn add_to(place: u32, value: f32) {
    let size = abs(round(value));
    var high = u32(size / 4294967296.0);
    var low = u32(size - f32(high) * 4294967296.0);
    if value < 0.0 {
        low = ~low + 1u;
        high = ~high + select(0u, 1u, low == 0u);
    }
    let before = atomicAdd(&loads[place], low);
    high += select(0u, 1u, before + low < low);
    if high != 0u {
        atomicAdd(&loads[place + 1u], high);
    }
}
