// Parts: the contacts of dynamic boundaries facet by facet. Convex solids meet thin walls and meshes that are no convex solids; patches of
// dynamic meshes that are none meet whatever is there. Twin: src/model/solids/facets.rs.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

const HAS_RIMS = true;
// Cosine of the angle between the normals of a facet and of the curved wall that it stands for.
const SAME_NORMAL = 0.999;
// Turns for the axis of two triangles.
const TURNS_OF_PAIR = 20u;
// Turn of the axes of the world.
const NO_TURN = vec4f(0.0, 0.0, 0.0, 1.0);

// Finds the contacts of the parts of dynamic boundaries: convex solids, and patches of meshes that are none. There are few, each with more
// work than others and in other branches, so each has a workgroup of its own. Twin: World::patch_met in src/model/solids/facets.rs.
@compute @workgroup_size(1)
fn meet_parts(@builtin(global_invocation_id) invocation: vec3u) {
    let k = invocation.x + invocation.y * GROUPS_PER_ROW;
    if k >= status.contacts || !is_first_by_facets(k) || !is_of_vertex(contacts[k]) {
        return;
    }
    let index = contacts[k].a - params.surfaces;
    let ball = ball_at(index);
    let met = met_by(ball, shape_b(contacts[k]));
    let is_patch = is_patch_part(index);
    var lever = ball.lever;
    var touches = no_touches(ball.radius);
    if is_patch && met.solid.block == 0u {
        touches = touches_of_patch(spheres[index].tag, ball, met, shape_b(contacts[k]));
    } else {
        // The solid of the part meets the facets of the surface, or that of the surface the facets of the part.
        var own = met.solid;
        var origin = poses[met.body];
        origin.offset += own.lever;
        if !is_patch {
            own = solid_of_ball(index, ball);
            origin = ball.pose;
            origin.offset += own.lever - ball.lever;
            lever = own.lever;
        }
        touches = touches_of(own, origin, ball.contact_radius, select(shape_b(contacts[k]), spheres[index].tag, is_patch));
        for (var i = 0u; i < MOST_POINTS && is_patch; i++) {
            touches.points[i].normal = -touches.points[i].normal;
            touches.points[i].place += met.apart + own.lever - ball.lever;
        }
    }
    if turns > MOST_TURNS {
        atomicOr(&status.halted, HALT_TRIANGLES);
        atomicMin(&status.bad_boundary, spheres[index].body);
    }
    store(k, ball, lever, met, &touches);
}

// Touches of a patch of a dynamic mesh with a surface that bounds no convex solid, from the middle of the ball around the patch in world
// axes. Of half spaces the corners of the patch are what they touch.
fn touches_of_patch(tag: u32, ball: Ball, met: Met, b: u32) -> Touches {
    var touches = no_touches(ball.radius);
    let own = patch_near(tag, ball.pose, NO_TURN, ball.contact_radius);
    if met.is_plane {
        let normal = rotate(met.solid.turn, vec3f(0.0, 0.0, 1.0));
        visit_corners(own, normal, dot(met.apart + met.solid.lever - ball.lever, normal), &touches);
    } else {
        let there = patch_near(b, ball.pose, NO_TURN, ball.contact_radius);
        for (var round = 0u; round < 2u; round++) {
            visit_pairs(own, there, ball.radius, &touches);
            if round == 1u || !touches.sees_sides {
                break;
            }
            look_along(touches.deepest.normal, NO_TURN, &touches);
        }
    }
    join(&touches);
    return touches;
}

// Meets the corners of a patch with all space below `height` along a normal [m].
fn visit_corners(own: FacetPatch, normal: vec3f, height: f32, touches: ptr<function, Touches>) {
    for (var node = own.boxes.x; node < own.boxes.y && turns <= MOST_TURNS; node += 2u) {
        turns++;
        let leaf = leaf_at(node);
        for (var i = 0u; i < leaf.y; i++) {
            turns += 5u * TURNS_OF_TRIANGLE;
            let facet = facet_at(own, leaf.x + 4u * i);
            for (var corner = 0u; corner < 3u; corner++) {
                let place = corner_of_facet(facet, corner);
                let gap = dot(place, normal) - height;
                if gap <= own.reach {
                    offer(Point(true, gap, normal, place - 0.5 * gap * normal), NO_TURN, touches);
                }
            }
        }
    }
}

// Meets the triangles of a patch, in a ball of this radius around the origin, with those of another one.
fn visit_pairs(own: FacetPatch, there: FacetPatch, radius: f32, touches: ptr<function, Touches>) {
    let most = (radius + own.reach) * (radius + own.reach);
    var node = there.boxes.x;
    while node < there.boxes.y && turns <= MOST_TURNS {
        turns++;
        if distance_to_box_squared(node, there.point) > most {
            node = surfaces[node].w;
            continue;
        }
        let leaf = leaf_at(node);
        node += 2u;
        for (var i = 0u; i < leaf.y; i++) {
            visit_beside(own, facet_at(there, leaf.x + 4u * i), there, touches);
        }
    }
}

// Meets the triangles of a patch that are near a triangle of another mesh.
fn visit_beside(own: FacetPatch, facet: Facet, there: FacetPatch, touches: ptr<function, Touches>) {
    let middle = own.point + facet.middle * own.turn;
    let most = (facet.radius + own.reach) * (facet.radius + own.reach);
    var node = own.boxes.x;
    while node < own.boxes.y && turns <= MOST_TURNS {
        turns++;
        if distance_to_box_squared(node, middle) > most {
            node = surfaces[node].w;
            continue;
        }
        let leaf = leaf_at(node);
        node += 2u;
        for (var i = 0u; i < leaf.y; i++) {
            turns++;
            var choice = no_choice(own.reach);
            let view = meet_pair(facet_at(own, leaf.x + 4u * i), facet, own, there, &choice);
            if choice.scores[0] == FAR {
                continue;
            }
            turns += TURNS_OF_POINTS + 3u * TURNS_PER_CORNER;
            if is_way_out(&choice, view, own, there, facet.radius + own.reach) {
                for (var number = 0u; number < MOST_POINTS; number++) {
                    let point = point_of(&choice, number, view);
                    if point.is_some {
                        offer(at_curve(point, there), NO_TURN, touches);
                    }
                }
            }
        }
    }
}
