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

// Whether a ball is around a dynamic convex solid or a polyhedron and stands for it as a whole. The tag of a vertex is the surface of such
// a solid; CORNER for a corner of one; NONE for a ball or a vertex of what is no solid.
fn stands_for_solid(ball: u32) -> bool {
    return HAS_SOLIDS && select(is_hull(spheres[ball]), spheres[ball].tag < CORNER, is_vertex(ball));
}

// Whether a ball may touch a surface. A sphere of a grain may touch any surface that its material feels (scenes with more materials than
// bits have none that is not felt), a vertex none of its own body or machine. Of two dynamic
// spheres (or a sphere and a box) only one touches the other. A solid touches half spaces and other solids, of two dynamic ones that of the
// body with the smaller index, and what is no solid with its corners. Twin: World::vertex_meets in src/model/solids.rs.
fn meets(ball: u32, surface: Surface) -> bool {
    let is_felt = ((surface.flags >> (1u + min(spheres[ball].material, 30u))) & 1u) == 0u;
    if !is_vertex(ball) || !is_felt {
        return is_felt;
    }
    let body = spheres[ball].body;
    let is_dynamic = (surface.flags & 1u) != 0u;
    let is_dynamic_sphere = surface.form == FORM_SPHERE && is_dynamic;
    if HAS_JOINTS && is_dynamic && poses[body].machine == poses[surface.body].machine {
        return false;
    }
    if HAS_SOLIDS && spheres[ball].tag != NONE {
        let is_plane = surface.form == FORM_PLANE;
        let is_other_solid = solid_of(surface) != 0u;
        let is_met_by_solid = is_plane || (is_other_solid && !is_dynamic_sphere && (!is_dynamic || body < surface.body));
        return body != surface.body && select(!is_plane && !is_other_solid, is_met_by_solid, spheres[ball].tag < CORNER);
    }
    return body != surface.body && (!is_dynamic_sphere || (body < surface.body && spheres[ball].radius > 0.0));
}
