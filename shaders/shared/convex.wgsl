// Convex solids in their own frames: corners, faces, edges, and the farthest point along a direction. Twin: src/shape/convex.rs.
//
// A solid is a row of blocks of four words in `surfaces`, behind the meshes: numbers of corners, faces and edges, and whether it is round;
// radii of its rims, half its length and its rounding; middle and radius. Then one block per corner; two per face: normal and offset, first
// word and number of its corners; one per edge: blocks of its two corners and of its two faces, which are NONE for the line of a capsule;
// and the words of the faces, which are blocks of corners. Each shader declares `surfaces` itself.

// A convex solid: the hull of its corners or a truncated cone, with a ball of radius `rounding` swept over it.
struct Convex {
    corners: vec2u,            // first block of the corners, and the block after the last; of a truncated cone points on its rims
    faces: vec2u,              // the same of its faces; none for a line or a point
    edges: vec2u,              // the same of its edges
    is_round: bool,            // whether the corners stand for a truncated cone about z
    bottom_radius: f32,        // radius at z = -half_length [m]
    top_radius: f32,           // radius at z = half_length [m]
    half_length: f32,          // half the length along z [m]
    rounding: f32,             // radius of the ball that is swept over the solid [m]
    middle: vec3f,             // middle [m]
    radius: f32,               // distance of the farthest point from the middle [m]
    scale: f32,                // its size over that in the blocks [-]
}

// The solid that begins at a block, in another size than there. All lengths of a `Convex` are in this size; corners and planes are scaled
// when they are read.
fn convex_at(block: u32, scale: f32) -> Convex {
    let counts = surfaces[block];
    let sizes = scale * bitcast<vec4f>(surfaces[block + 1u]);
    let around = scale * bitcast<vec4f>(surfaces[block + 2u]);
    let corners = block + 3u;
    let faces = corners + counts.x;
    let edges = faces + 2u * counts.y;
    return Convex(vec2u(corners, faces), vec2u(faces, edges), vec2u(edges, edges + counts.z), counts.w != 0u,
        sizes.x, sizes.y, sizes.z, sizes.w, around.xyz, around.w, scale);
}

fn has_faces(solid: Convex) -> bool {
    return solid.faces.x < solid.faces.y;
}

// Vector in a block: a normal, or a corner before it is scaled.
fn vector_at(block: u32) -> vec3f {
    return bitcast<vec3f>(surfaces[block].xyz);
}

// Corner in a block [m].
fn corner_at(solid: Convex, block: u32) -> vec3f {
    return solid.scale * vector_at(block);
}

// Height of a point over the plane of a face [m].
fn height_over(solid: Convex, face: u32, point: vec3f) -> f32 {
    let plane = bitcast<vec4f>(surfaces[face]);
    return dot(plane.xyz, point) - solid.scale * plane.w;
}

fn corners_of_face(face: u32) -> u32 {
    return surfaces[face + 1u].y;
}

// Corner of a face before it is scaled; after the last comes the first again.
fn corner_of_face(face: u32, corner: u32) -> vec3f {
    let words = surfaces[face + 1u].xy;
    let word = words.x + select(corner, corner - words.y, corner >= words.y);
    return vector_at(surfaces[word >> 2u][word & 3u]);
}

// Unit vector along v, or `other` where v has no length.
fn unit_or(v: vec3f, other: vec3f) -> vec3f {
    let size = length(v);
    return select(other, v / max(size, 1e-30), size > 0.0);
}

fn flat_unit_or(v: vec2f, other: vec2f) -> vec2f {
    let size = length(v);
    return select(other, v / max(size, 1e-30), size > 0.0);
}

// Point farthest along a direction, without the rounding [m].
fn farthest(solid: Convex, along: vec3f) -> vec3f {
    if solid.is_round {
        let across = length(along.xy);
        let top = solid.top_radius * across + solid.half_length * along.z;
        let bottom = solid.bottom_radius * across - solid.half_length * along.z;
        let outward = flat_unit_or(along.xy, vec2f(1.0, 0.0));
        let is_top = top >= bottom;
        return vec3f(select(solid.bottom_radius, solid.top_radius, is_top) * outward,
            select(-solid.half_length, solid.half_length, is_top));
    }
    var best = vec3f(0.0);
    var most = FAR;
    // Four corners a turn; after the last one it comes again.
    let last = solid.corners.y - 1u;
    for (var block = solid.corners.x; block <= last; block += 4u) {
        for (var i = 0u; i < 4u; i++) {
            let corner = vector_at(min(block + i, last));
            let height = dot(corner, along);
            best = select(best, corner, height > most);
            most = max(most, height);
        }
    }
    return solid.scale * best;
}

// Extent from the origin along a unit direction, with the rounding [m].
fn extent(solid: Convex, along: vec3f) -> f32 {
    return dot(farthest(solid, along), along) + solid.rounding;
}

// Normal of the side of a truncated cone at an outward direction in the plane of its rims.
fn side_normal(solid: Convex, outward: vec2f) -> vec3f {
    return normalize(vec3f(2.0 * solid.half_length * outward, solid.bottom_radius - solid.top_radius));
}
