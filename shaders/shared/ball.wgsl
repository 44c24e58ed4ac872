// Round shapes where they are now: spheres of grains, and corners of free boundaries before them.
// Twin: src/world/free.rs and World::touch.

struct Ball {
    pose: Pose,                // of its centre
    radius: f32,               // 0 for the corner of a box [m]
    contact_radius: f32,       // stands for R* in the laws, and scales the margin [m]
}

// The octant of a corner that is the centre of a sphere; others are the corners of a box.
const CENTRE = 8u;

fn is_corner(ball: u32) -> bool {
    return HAS_FREE_BOUNDARIES && ball < params.corners;
}

fn ball_at(index: u32) -> Ball {
    let sphere = spheres[index];
    var ball = Ball(poses[sphere.body], sphere.radius, sphere.radius);
    if is_corner(index) {
        let octant = sphere.tag % 16u;
        ball.pose.offset += rotate(ball.pose.orientation, corner_on_body(surfaces[sphere.tag / 16u], octant));
        ball.radius = select(0.0, sphere.radius, octant == CENTRE);
    }
    return ball;
}

// Place of a corner on its body [m].
fn corner_on_body(surface: Surface, octant: u32) -> vec3f {
    if octant == CENTRE {
        return surface.position;
    }
    let is_positive = vec3u(octant, octant >> 1u, octant >> 2u) & vec3u(1u);
    let sides = select(vec3f(-1.0), vec3f(1.0), is_positive == vec3u(1u));
    return surface.position + rotate(surface.orientation, sides * surface.size.xyz);
}

// Whether a ball may touch a surface: a grain may touch any, a corner none of its own body, and of two spheres
// (or a sphere and a box) that are both free only one touches the other.
fn meets(ball: u32, surface: Surface) -> bool {
    if !is_corner(ball) {
        return true;
    }
    let body = spheres[ball].body;
    let is_centre = spheres[ball].tag % 16u == CENTRE;
    return body != surface.body && (surface.is_free_sphere == 0u || (body < surface.body && is_centre));
}
