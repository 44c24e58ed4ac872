// Facets: the contacts of polyhedral grains with thin walls and with meshes that are no convex solids, triangle by triangle, at the points
// of manifolds.
// Twin: src/model/solids/facets.rs.

@group(0) @binding(2) var<storage, read> contacts: array<Contact>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> spheres: array<Sphere>;
@group(0) @binding(5) var<storage, read> surfaces: array<vec4u>;
@group(0) @binding(16) var<storage, read_write> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read_write> constraint_arms: array<vec4u>;

// Height between two surfaces that stand flush, over the contact radius of what touches them [-].
const FLUSH = 1e-3;
// Cosine of the angle between the normals of one point that two patches of a mesh share [-].
const SAME_NORMAL = 0.999;

const HAS_RIMS = false;

// Finds the contacts of polyhedral grains.
@compute @workgroup_size(64)
fn meet_facets(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || !is_first_by_facets(k) || is_of_vertex(contacts[k]) {
        return;
    }
    let index = contacts[k].a - params.surfaces;
    let ball = ball_at(index);
    let a = solid_of_ball(index, ball);
    var touches = no_touches(ball.radius);
    if a.block != 0u {
        touches = touches_of(a, ball.pose, ball.contact_radius, shape_b(contacts[k]));
    }
    if turns > MOST_TURNS {
        atomicOr(&status.halted, HALT_TRIANGLES);
        atomicMin(&status.bad_grain, spheres[index].body - params.boundaries);
    }
    store(k, ball, a.lever, met_by(ball, shape_b(contacts[k])), &touches);
}

// Drops the points at which a solid touches a mesh with several patches: those at an edge between two of them. The invocation of the
// first contact of a solid handles all of them. Twin: World::drop_repeated in src/model/solids.rs.
@compute @workgroup_size(64)
fn drop_repeated(@builtin(global_invocation_id) invocation: vec3u) {
    let k = flat(invocation);
    if k >= status.contacts || is_halted() || (k > 0u && contacts[k - 1u].a == contacts[k].a) {
        return;
    }
    let a = contacts[k].a;
    let index = a - params.surfaces;
    if !stands_for_solid(index) {
        return;
    }
    let same = FLUSH * ball_at(index).contact_radius;
    var end = k;
    while end < status.contacts && contacts[end].a == a {
        end++;
    }
    // The points that others are compared with must not change before all have been.
    for (var i = k; i < end; i++) {
        if is_point_of_facet(i) && is_repeated(i, k, end, same) {
            constraint_heads[contacts[i].place].friction = REPEATED;
        }
    }
    for (var i = k; i < end; i++) {
        if is_patch(shape_b(contacts[i])) && constraint_heads[contacts[i].place].friction == REPEATED {
            let bodies = constraint_heads[contacts[i].place].bodies;
            constraint_heads[contacts[i].place] = ConstraintHead(vec3f(0.0), -FAR, bodies, 0.0, 0.0);
        }
    }
}

// Mark of a point that another patch has, too, kept in `friction` until all points of a solid are known.
const REPEATED = -1.0;

// Whether a contact takes part at a point of a solid and a patch.
fn is_point_of_facet(contact: u32) -> bool {
    return is_patch(shape_b(contacts[contact])) && constraint_heads[contacts[contact].place].bias_velocity != -FAR;
}

// Whether one of the contacts from `start` up to `end` with a patch of the same mesh, before that of contact i, has the same point.
fn is_repeated(i: u32, start: u32, end: u32, same: f32) -> bool {
    let shape = shape_b(contacts[i]);
    let first = patch_at(shape).surfaces.x;
    let place = contacts[i].place;
    let normal = constraint_heads[place].normal;
    let arm = load_constraint(place).arm_a;
    var is_known = false;
    for (var other = start; other < end; other++) {
        let before = shape_b(contacts[other]);
        if before >= first && before < shape && is_point_of_facet(other) {
            let known = load_constraint(contacts[other].place);
            is_known = is_known || (distance(known.arm_a, arm) <= same && dot(known.normal, normal) > SAME_NORMAL);
        }
    }
    return is_known;
}
