// Balls: spheres of grains and vertices of dynamic boundaries at their present positions; vertices come first.
// Twin: World::touch in src/model.rs.

struct Ball {
    pose: Pose,                // pose: position of its centre, orientation of its body
    radius: f32,               // radius; 0 for the vertex of a box [m]
    contact_radius: f32,       // radius that stands for R* in the laws and scales the margin [m]
    lever: vec3f,              // centre of the ball, from the centre of its body [m]
}

fn is_vertex(ball: u32) -> bool {
    return HAS_RIGID && ball < params.vertices;
}

fn ball_at(index: u32) -> Ball {
    let sphere = spheres[index];
    let place = place_on_body(index);
    var ball = Ball(poses[sphere.body], sphere.radius, place.contact_radius, vec3f(0.0));
    if HAS_RIGID {
        ball.lever = rotate(ball.pose.orientation, place.centre);
        ball.pose.offset += ball.lever;
    }
    return ball;
}

// Whether a ball is around a part of a dynamic boundary, or a polyhedron, that touches at the points of manifolds. The tag of a vertex is
// the surface of such a part; NONE for a dynamic sphere.
fn stands_for_solid(ball: u32) -> bool {
    return HAS_SOLIDS && select(is_hull(spheres[ball]), spheres[ball].tag != NONE, is_vertex(ball));
}

// Whether a ball is around a patch of a dynamic mesh that is no convex solid.
fn is_patch_part(ball: u32) -> bool {
    return HAS_MESHES && HAS_SOLIDS && is_vertex(ball) && is_facet(spheres[ball].tag);
}

// Whether a contact is met facet by facet.
fn is_by_facets(contact: Contact) -> bool {
    let index = contact.a - params.surfaces;
    return is_facet(shape_b(contact)) || is_patch_part(index) || (is_at_point(contact) && is_thin_wall(shape_b(contact)));
}

// Whether a ball may touch a surface. A sphere of a grain may touch any surface that its material feels (scenes with more materials than
// bits have none that is not felt), a part of a dynamic boundary none of its own body or machine. Of two dynamic solids the one of the body
// with the smaller index touches the surface of the other; a convex solid touches the patches of a dynamic mesh that is none; a dynamic
// sphere touches all others with its ball. Twin: World::vertex_meets in src/model/solids.rs.
fn meets(ball: u32, surface: Surface) -> bool {
    let is_felt = ((surface.flags >> (1u + min(spheres[ball].material, 30u))) & 1u) == 0u;
    if !is_vertex(ball) || !is_felt {
        return is_felt;
    }
    let body = spheres[ball].body;
    let is_dynamic = (surface.flags & 1u) != 0u;
    if body == surface.body || (HAS_JOINTS && is_dynamic && poses[body].machine == poses[surface.body].machine) {
        return false;
    }
    if !is_dynamic {
        return true;
    }
    let is_first = body < surface.body;
    let is_sphere = surface.form == FORM_SPHERE;
    if !stands_for_solid(ball) {
        return !is_sphere || is_first;
    }
    let is_other = solid_of(surface) == 0u;
    return !is_sphere && select(is_other || is_first, is_other && is_first, is_patch_part(ball));
}
