// Facets: triangles of meshes in the frame of a solid, and what an axis is to them. Twin: src/shape/facet.rs.

// Sine of the angle up to which an edge lies across an axis, and an axis along the normal of a face [-].
const ACROSS = 1e-3;
// Sine of the angle between an axis and the normal of a triangle up to which the axis is that normal [-].
const ALONG = 3.0 * ACROSS;
// Cosine of the angle between an axis and a face beyond which the face is seen from its side [-]: its edge stands for it.
const SIDEWAYS = 0.2;
// What an axis is to a triangle in its mesh: its normal; an axis at an edge or vertex that is convex; at one that is flat or concave; the
// normal of a neighbour.
const ROLE_FACE = 0u;
const ROLE_CONVEX = 1u;
const ROLE_INNER = 2u;
const ROLE_NEIGHBOURS = 3u;

// Patch of a mesh, or the mesh of a thin wall, seen from a solid.
struct FacetPatch {
    boxes: vec2u,              // range of the blocks of its boxes
    head: u32,                 // head of its mesh
    surface: u32,              // its surface
    is_solid: bool,            // whether the mesh is the surface of a solid
    turn: mat3x3f,             // axes of the mesh in the frame of the solid
    point: vec3f,              // origin of the solid in the frame of the mesh [m]
    reach: f32,                // largest gap of a touch [m]
}

// Triangle of a mesh in the frame of a solid. Lengths count from the origin of the solid, so that few digits are lost in a large mesh.
struct Facet {
    corners: mat3x3f,          // corners, counter-clockwise seen from where its normal points [m]
    normal: vec3f,
    middle: vec3f,             // mean of the corners [m]
    radius: f32,               // distance of the farthest corner from there [m]
    block: u32,                // its block
}

// A surface that has facets, seen from a solid with its origin at a pose and with axes of this turn.
fn patch_near(index: u32, origin: Pose, turn: vec4f, reach: f32) -> FacetPatch {
    let surface = surface_at(index);
    let pose = poses[surface.body];
    let frame = compose(conjugate(turn), compose(pose.orientation, surface.orientation));
    var boxes = patch_at(index).boxes;
    if is_thin(surface.form) {
        boxes = surfaces[surface.head].xy;
    }
    return FacetPatch(boxes, surface.head, index, is_solid(index), axes_of(frame), in_frame_of(surface, pose, origin), reach);
}

fn facet_at(sheet: FacetPatch, block: u32) -> Facet {
    let places = triangle_at(block);
    let corners = mat3x3f(in_solid(sheet, places[0]), in_solid(sheet, places[1]), in_solid(sheet, places[2]));
    let normal = normalize(cross(corners[1] - corners[0], corners[2] - corners[0]));
    let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
    let radius = max(distance(corners[0], middle), max(distance(corners[1], middle), distance(corners[2], middle)));
    return Facet(corners, normal, middle, radius, block);
}

// A point of a mesh in the frame of the solid [m].
fn in_solid(sheet: FacetPatch, point: vec3f) -> vec3f {
    return sheet.turn * (point - sheet.point);
}

// Corner with this number; after the last comes the first again.
fn corner_of_facet(facet: Facet, corner: u32) -> vec3f {
    return facet.corners * axis_of(corner % 3u);
}

// Heights of the corners of a facet along a direction [m].
fn heights_of(facet: Facet, along: vec3f) -> vec3f {
    return along * facet.corners;
}

// First corner in a row, and their number, of one or two corners.
fn first_and_number(corners: vec3<bool>) -> vec2u {
    let number = select(1u, 2u, (corners.x && corners.y) || (corners.y && corners.z) || (corners.z && corners.x));
    let after = select(select(2u, 1u, corners.y), 0u, corners.x);
    return vec2u(select(after, 2u, number == 2u && corners.z && corners.x), number);
}

// What a triangle shows in a plane of contact, `corners` being the first corner and their number.
fn seen_of_facet(facet: Facet, view: mat3x3f, corners: vec2u) -> Seen {
    var seen: Seen;
    let of_plane = transpose(view);
    let normal = of_plane * facet.normal;
    seen.turn = of_plane * facet.corners;
    seen.corners = OF_COLUMNS;
    seen.first = corners.x;
    seen.count = corners.y;
    if corners.y == 3u {
        seen.slope = slope_of(normal);
    }
    seen.sense = sign(normal.z);
    return seen;
}

// Corners that are farthest along a unit vector.
fn farthest_corners(facet: Facet, along: vec3f) -> vec3<bool> {
    let heights = heights_of(facet, along);
    let most = max(heights.x, max(heights.y, heights.z));
    var top = facet.corners[2];
    top = select(top, facet.corners[1], heights.y == most);
    top = select(top, facet.corners[0], heights.x == most);
    let lengths = vec3f(distance(facet.corners[0], top), distance(facet.corners[1], top), distance(facet.corners[2], top));
    return vec3f(most) - heights <= ACROSS * lengths;
}

fn role_of(facet: Facet, sheet: FacetPatch, axis: vec3f, is_farthest: vec3<bool>) -> u32 {
    if all(is_farthest) || length(cross(axis, facet.normal)) <= ALONG {
        return ROLE_FACE;
    }
    // What is around the triangle.
    let around_it = (surfaces[sheet.head].z >> 1u) + (facet.block - surfaces[sheet.head].y) / 2u;
    let corners = first_and_number(is_farthest);
    let corner = corner_of_facet(facet, corners.x);
    var steepest = -1.0;
    if corners.y == 1u {
        let list = seam_word(4u * around_it + 3u + corners.x);
        let number = seam_word(list);
        for (var i = 1u; i <= number; i++) {
            let side = in_solid(sheet, vector_at(seam_word(list + i))) - corner;
            steepest = max(steepest, dot(side, axis) / length(side));
        }
    } else {
        let beyond = seam_word(4u * around_it + corners.x);
        if beyond != NONE {
            let edge = corner_of_facet(facet, corners.x + 1u) - corner;
            let side = in_solid(sheet, vector_at(beyond)) - corner;
            let apart = side - dot(side, edge) / dot(edge, edge) * edge;
            steepest = dot(apart, axis) / length(apart);
        }
    }
    if steepest > ACROSS {
        return ROLE_INNER;
    }
    return select(ROLE_CONVEX, ROLE_NEIGHBOURS, steepest >= -ACROSS);
}
