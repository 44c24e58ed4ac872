// Frames as the library packs them (esker::render::packed).

// The arrays of a frame, as views of its bytes. Boundaries that are as before are `null`.
export function unpack(buffer) {
    const bytes = buffer instanceof Uint8Array ? buffer : new Uint8Array(buffer);
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    // The bytes may start anywhere; floats start at multiples of four.
    const numbers = new Float32Array(bytes.slice(4 + length).buffer);
    let at = 0;
    const take = (count) => numbers.subarray(at, (at += count));
    const count = header.grains;
    const frame = { time: header.time, count, centres: take(3 * count), radii: take(count), fields: new Map() };
    for (const { name, components } of header.fields) {
        frame.fields.set(name, { components, values: take(components * count) });
    }
    frame.forces = { ends: take(6 * header.forces), sizes: take(header.forces) };
    frame.walls = header.triangles === null
        ? null
        : { triangles: take(9 * header.triangles), edges: take(6 * header.edges) };
    const polyhedra = take(6 * header.polyhedra);
    frame.shapes = header.shapes.map((triangles) => ({ corners: take(9 * triangles), grains: [], turns: [] }));
    for (let i = 0; i < polyhedra.length; i += 6) {
        const shape = frame.shapes[polyhedra[i + 1]];
        shape.grains.push(polyhedra[i]);
        shape.turns.push(...polyhedra.subarray(i + 2, i + 6));
    }
    return frame;
}

// What grains can be coloured by: a scalar of the frame, the length of a vector, the radius or the height.
const LABELS = {
    speed: ["speed", "m/s"],
    height: ["height", "m"],
    radius: ["radius", "m"],
    spin: ["angular speed", "rad/s"],
    relative_speed: ["speed relative to the drum", "m/s"],
    coordination_number: ["contacts per grain", ""],
    pressure: ["pressure", "Pa"],
    temperature: ["temperature", "K"],
    contact_force: ["sum of contact forces", "N"],
    material: ["material", ""],
    clump: ["clump", ""],
};
const SOURCES = { speed: "velocity", spin: "angular_velocity", relative_speed: "relative_velocity" };

export function label(name) {
    const [text, unit] = LABELS[name] ?? [name, ""];
    return unit ? `${text} [${unit}]` : text;
}

// Names of the colourings that a frame has.
export function colourings(frame) {
    return Object.keys(LABELS).filter((name) =>
        name === "height" || name === "radius" || frame.fields.has(SOURCES[name] ?? name));
}

// One value per grain. Heights are along z.
export function valuesOf(frame, name) {
    if (name === "radius") return frame.radii;
    if (name === "height") return Float32Array.from({ length: frame.count }, (_, i) => frame.centres[3 * i + 2]);
    const field = frame.fields.get(SOURCES[name] ?? name);
    if (!field) return new Float32Array(frame.count);
    if (field.components === 1) return field.values;
    const { values, components } = field;
    return Float32Array.from({ length: frame.count }, (_, i) => Math.hypot(...values.subarray(components * i, components * (i + 1))));
}

// Least and greatest of some values.
export function rangeOf(values) {
    let [least, greatest] = [Infinity, -Infinity];
    for (const value of values) {
        if (value < least) least = value;
        if (value > greatest) greatest = value;
    }
    return least <= greatest ? [least, greatest] : [0, 1];
}

// Corners of the box around the grains of a frame and its walls.
export function boxOf(frame) {
    const [min, max] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    const see = (at, place, radius) => {
        for (let axis = 0; axis < 3; axis++) {
            min[axis] = Math.min(min[axis], place[at + axis] - radius);
            max[axis] = Math.max(max[axis], place[at + axis] + radius);
        }
    };
    for (let i = 0; i < frame.count; i++) see(3 * i, frame.centres, frame.radii[i]);
    const corners = frame.walls?.triangles ?? [];
    for (let i = 0; i < corners.length; i += 3) see(i, corners, 0);
    return min[0] <= max[0] ? [min, max] : [[-1, -1, -1], [1, 1, 1]];
}
