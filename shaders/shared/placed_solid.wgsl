// Convex solids at the present places of their bodies: those of surfaces, polyhedral grains, and spheres that meet polyhedra. Twin:
// World::solid_of in src/model/solids.rs.

// A convex solid with the place of its frame.
struct PlacedSolid {
    block: u32,                // its first block; 0: there is none
    scale: f32,                // its size over that in the blocks [-]
    turn: vec4f,               // orientation of its frame
    lever: vec3f,              // origin of its frame, from the centre of its body [m]
}

fn solid_of_surface(surface: Surface, orientation: vec4f) -> PlacedSolid {
    return PlacedSolid(solid_of(surface), 1.0, compose(orientation, surface.orientation), rotate(orientation, surface.position));
}

// The solid for which a ball stands as a whole: that of a dynamic boundary, or that of a grain, which is around the centre of the ball; a
// sphere is a ball of radius 1 in its size. A grain that was removed has none.
fn solid_of_ball(index: u32, ball: Ball) -> PlacedSolid {
    let tag = spheres[index].tag;
    if !HAS_HULLS || is_vertex(index) {
        return solid_of_surface(surface_at(tag), ball.pose.orientation);
    }
    let block = select(0u, tag & BELOW_PART, tag >= OF_BALL);
    let scale = ball.radius / bitcast<f32>(surfaces[block + 2u].w);
    return PlacedSolid(block, scale, ball.pose.orientation, ball.lever);
}

// Axes of a frame with this orientation.
fn axes_of(turn: vec4f) -> mat3x3f {
    return mat3x3f(rotate(turn, vec3f(1.0, 0.0, 0.0)), rotate(turn, vec3f(0.0, 1.0, 0.0)), rotate(turn, vec3f(0.0, 0.0, 1.0)));
}

// Two solids, the second one at `to_b` from the first, in world axes [m].
fn pair_of(a: PlacedSolid, b: PlacedSolid, to_b: vec3f) -> Pair {
    let back = conjugate(a.turn);
    return Pair(convex_at(a.block, a.scale), convex_at(b.block, b.scale), axes_of(compose(back, b.turn)), rotate(back, to_b));
}
