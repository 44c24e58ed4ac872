// Viridis: its steps look equal and it survives a grey print. Colours between are linear in the nearest two.
const VIRIDIS = [
    [68, 1, 84], [72, 26, 108], [71, 47, 125], [65, 68, 135], [57, 86, 140], [49, 104, 142], [42, 120, 142], [35, 136, 142],
    [31, 152, 139], [34, 168, 132], [53, 183, 121], [84, 197, 104], [122, 209, 81], [165, 219, 54], [210, 226, 27], [253, 231, 37],
];

export const STEPS = 256;

// Texels of a texture of one row.
export function texels() {
    const bytes = new Uint8Array(4 * STEPS);
    for (let i = 0; i < STEPS; i++) {
        bytes.set([...colour(i / (STEPS - 1)), 255], 4 * i);
    }
    return bytes;
}

// Colour of a share of the range, 0 to 1.
export function colour(share) {
    const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
    const low = Math.min(Math.floor(place), VIRIDIS.length - 2);
    return VIRIDIS[low].map((value, i) => Math.round(value + (place - low) * (VIRIDIS[low + 1][i] - value)));
}

// For the bar of a legend, from below.
export function gradient() {
    return `linear-gradient(to top, ${VIRIDIS.map((rgb) => `rgb(${rgb})`).join(", ")})`;
}

// Lines in plots, one per simulation.
export const LINES = ["#2c6e8f", "#c8622c", "#6b4f9e"];
