// Surfaces, and the meshes whose patches some surfaces are. Twin: src/model/mesh/nearest.rs.
//
// `surfaces` consists of blocks of four words: four blocks per surface, then the meshes, then the convex solids (convex.wgsl). A mesh has a
// head, with the begin and the end of its tree of boxes, whether it is solid and the block of its convex solid (0: it is none), two blocks
// per box of the tree and four per triangle, then the lists of patches that meet at seams, with the pseudonormals there. A mesh that
// solids meet triangle by triangle ends with what is around each triangle (facets.wgsl); the head holds the first block of that in the
// upper bits of the word that tells whether it is solid. Among solids a thin wall has such a mesh, too: a polygon in place of its
// circle. Boxes stand in the order in which the tree is traversed; each holds the box to go on with if it is too far away itself. The
// boxes of a patch follow each other. Each shader declares `surfaces` itself.

// Whether the scene has meshes.
override HAS_MESHES: bool = true;

fn surface_at(index: u32) -> Surface {
    let place = surfaces[4u * index];
    let kind = surfaces[4u * index + 3u];
    return Surface(bitcast<vec3f>(place.xyz), place.w, bitcast<vec4f>(surfaces[4u * index + 1u]),
        bitcast<vec4f>(surfaces[4u * index + 2u]), kind.x & BELOW_CLASS, kind.y, kind.z, kind.w);
}

// Patch of a mesh: the range of the blocks of its boxes and the range of the surfaces of its mesh, each from the first to the one after
// the last.
struct Patch {
    boxes: vec2u,
    surfaces: vec2u,
}

fn patch_at(surface: u32) -> Patch {
    let words = surfaces[4u * surface + 2u];
    return Patch(words.xy, words.zw);
}

fn is_patch(surface: u32) -> bool {
    return HAS_MESHES && surface < params.surfaces && (surfaces[4u * surface + 3u].x & BELOW_CLASS) == FORM_PATCH;
}

fn is_thin(form: u32) -> bool {
    return form == FORM_DISC || form == FORM_WALL_INSIDE || form == FORM_WALL_OUTSIDE;
}

// Whether a surface is a patch of a mesh that is no convex solid: solids meet it triangle by triangle.
fn is_facet(surface: u32) -> bool {
    return HAS_SOLIDS && is_patch(surface) && surfaces[surfaces[4u * surface + 3u].w].w == 0u;
}

// Whether a shape is a thin wall.
fn is_thin_wall(shape: u32) -> bool {
    return HAS_SOLIDS && shape < params.surfaces && is_thin(surfaces[4u * shape + 3u].x & BELOW_CLASS);
}

// Class of the motion of a surface: surfaces of one class never move against each other.
fn class_of(surface: u32) -> u32 {
    return surfaces[4u * surface + 3u].x >> CLASS_SHIFT;
}

// Block of the convex solid that a surface bounds, 0 if it bounds none. All patches of a mesh bound the same one.
fn solid_of(surface: Surface) -> u32 {
    if surface.form == FORM_PATCH {
        return surfaces[surface.head].w;
    }
    return select(surface.head, 0u, is_thin(surface.form));
}

// A point in the frame of a surface.
fn in_frame_of(surface: Surface, body_pose: Pose, pose: Pose) -> vec3f {
    let origin = rotate(body_pose.orientation, surface.position);
    return rotate(conjugate(compose(body_pose.orientation, surface.orientation)), between(body_pose, pose) - origin);
}

fn distance_to_box_squared(node: u32, point: vec3f) -> f32 {
    let apart = point - clamp(point, bitcast<vec3f>(surfaces[node].xyz), bitcast<vec3f>(surfaces[node + 1u].xyz));
    return dot(apart, apart);
}

// Block of the first triangle of a leaf, and its number of triangles, 0 where the box is no leaf.
fn leaf_at(node: u32) -> vec2u {
    let leaf = surfaces[node + 1u].w;
    return vec2u(leaf >> 2u, leaf & 3u);
}

// Corners of a triangle, as columns.
fn triangle_at(block: u32) -> mat3x3f {
    return mat3x3f(bitcast<vec3f>(surfaces[block].xyz), bitcast<vec3f>(surfaces[block + 1u].xyz),
        bitcast<vec3f>(surfaces[block + 2u].xyz));
}

// Seam at an edge (feature 0 to 2) or a corner (3 to 5) of a triangle; NONE for an edge or corner inside a patch, and for the face (6).
fn seam_of(block: u32, feature: u32) -> u32 {
    switch feature {
        case 0u: { return surfaces[block + 1u].w; }
        case 1u: { return surfaces[block + 2u].w; }
        case 6u: { return NONE; }
        default: { return surfaces[block + 3u][feature - 2u]; }
    }
}

const FACE = 6u;

// Nearest point of a triangle, and the feature that it lies on: edge, corner or face.
struct Closest {
    point: vec3f,
    feature: u32,
}

// Nearest point of a triangle (Ericson, Real-Time Collision Detection, 2005, section 5.1.5).
fn nearest_on_triangle(point: vec3f, corners: mat3x3f) -> Closest {
    let a = corners[0];
    let b = corners[1];
    let c = corners[2];
    let ab = b - a;
    let ac = c - a;
    let d1 = dot(ab, point - a);
    let d2 = dot(ac, point - a);
    if d1 <= 0.0 && d2 <= 0.0 {
        return Closest(a, 3u);
    }
    let d3 = dot(ab, point - b);
    let d4 = dot(ac, point - b);
    if d3 >= 0.0 && d4 <= d3 {
        return Closest(b, 4u);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return Closest(a + d1 / (d1 - d3) * ab, 0u);
    }
    let d5 = dot(ab, point - c);
    let d6 = dot(ac, point - c);
    if d6 >= 0.0 && d5 <= d6 {
        return Closest(c, 5u);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return Closest(a + d2 / (d2 - d6) * ac, 2u);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return Closest(b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (c - b), 1u);
    }
    let scale = 1.0 / (va + vb + vc);
    return Closest(a + vb * scale * ab + vc * scale * ac, FACE);
}

// Point of a patch that is nearest to a given point.
struct Nearest {
    normal: vec3f,             // unit vector from the patch to the given point
    distance: f32,             // distance of the two points; negative: the patch is out of reach [m]
    seam: u32,                 // seam on which the nearest point lies, or NONE
    face: vec3f,               // normal of the triangle on which it lies, on either side
    height: f32,               // height of the given point over the plane of that triangle, along `face` [m]
    is_inside: bool,           // whether the given point is inside of a closed mesh, if no other of its points is nearer
    triangle: u32,             // block of the triangle on which it lies
}

// Point nearest to a given one of the triangles in a range of boxes, those of a patch or of a whole mesh, up to `reach` [m].
fn nearest_on_patch(boxes: vec2u, point: vec3f, reach: f32) -> Nearest {
    var limit = reach * reach;
    var best = NONE;
    var place: Closest;
    var node = boxes.x;
    while node < boxes.y {
        if distance_to_box_squared(node, point) > limit {
            node = surfaces[node].w;
            continue;
        }
        let leaf = leaf_at(node);
        for (var i = 0u; i < leaf.y; i++) {
            let block = leaf.x + 4u * i;
            let nearest = nearest_on_triangle(point, triangle_at(block));
            let apart = point - nearest.point;
            let squared = dot(apart, apart);
            if squared < limit || (best == NONE && squared <= limit) {
                limit = squared;
                best = block;
                place = nearest;
            }
        }
        node += 2u;
    }
    if best == NONE {
        return Nearest(vec3f(0.0), -1.0, NONE, vec3f(0.0), 0.0, false, NONE);
    }
    let seam = seam_of(best, place.feature);
    let apart = point - place.point;
    let distance = length(apart);
    let corners = triangle_at(best);
    let face = normalize(cross(corners[1] - corners[0], corners[2] - corners[0]));
    let height = dot(face, point - corners[0]);
    // Over a face the normal is that of the triangle: where the mesh is flat it is the same for the neighbours, to the last digit.
    if place.feature != FACE && distance > 0.0 {
        return Nearest(apart / distance, distance, seam, face, height, is_inside_at(seam, apart, height), best);
    }
    return Nearest(select(face, -face, height < 0.0), abs(height), seam, face, height, height < 0.0, best);
}

// Whether a point is inside of a closed mesh whose nearest point, `apart` from it, is on a seam, or is no seam and this height is that
// over its triangle. The words after the patches of a seam are its pseudonormal.
fn is_inside_at(seam: u32, apart: vec3f, height: f32) -> bool {
    if seam == NONE {
        return height < 0.0;
    }
    let first = seam + 1u + (seam_word(seam) >> 1u);
    return dot(apart, bitcast<vec3f>(vec3u(seam_word(first), seam_word(first + 1u), seam_word(first + 2u)))) < 0.0;
}

// Whether the mesh of a patch is a solid, which pushes outwards.
fn is_solid(surface: u32) -> bool {
    return (surfaces[surfaces[4u * surface + 3u].w].z & 1u) == 1u;
}

// Whether a patch is among those that meet at a seam. The first word of a seam holds the number of patches, shifted by a bit that
// marks the end of the mesh; the words after it are the patches.
fn meets_at(seam: u32, patch_index: u32) -> bool {
    for (var word = seam + 1u; word <= seam + (seam_word(seam) >> 1u); word++) {
        if seam_word(word) == patch_index {
            return true;
        }
    }
    return false;
}

// Whether a seam is at the end of the mesh, so that a sphere may come around it.
fn is_rim(seam: u32) -> bool {
    return seam != NONE && (seam_word(seam) & 1u) == 1u;
}

fn seam_word(word: u32) -> u32 {
    return surfaces[word >> 2u][word & 3u];
}
