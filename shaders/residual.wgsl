// Natural-map residual of the contact problem [E8]. Twin: src/cpu/residual.rs.
// Each workgroup writes its sums and maxima; the host combines them in order.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<vec4u>;
@group(0) @binding(4) var<storage, read> velocities: array<Velocity>;
@group(0) @binding(5) var<storage, read> contacts: array<Contact>;
@group(0) @binding(7) var<storage, read_write> residuals: array<vec4f>;  // per block: sums, maxima

var<workgroup> sums: array<vec3f, 64>;
var<workgroup> maxima: array<vec3f, 64>;

@compute @workgroup_size(64)
fn measure(
    @builtin(global_invocation_id) invocation: vec3u,
    @builtin(workgroup_id) group: vec3u,
    @builtin(local_invocation_index) lane: u32,
) {
    let k = flat(invocation);
    var value = vec3f(0.0);
    if k < status.contacts && !is_halted_beyond(HALT_DONE) {
        value = residual_of(contacts[k].place);
    }
    sums[lane] = value;
    maxima[lane] = value;
    workgroupBarrier();
    for (var reach = 32u; reach > 0u; reach /= 2u) {
        if lane < reach {
            sums[lane] += sums[lane + reach];
            maxima[lane] = max(maxima[lane], maxima[lane + reach]);
        }
        workgroupBarrier();
    }
    let block = group.x + group.y * GROUPS_PER_ROW;
    if lane == 0u && 2u * block + 1u < arrayLength(&residuals) {
        residuals[2u * block] = vec4f(sums[0], 0.0);
        residuals[2u * block + 1u] = vec4f(maxima[0], 0.0);
    }
}

// Residual of a contact: normal [m/s], friction [m/s], rolling [rad/s].
fn residual_of(place: u32) -> vec3f {
    let constraint = load_constraint(place);
    let a = velocities[constraint.bodies.x];
    let b = velocities[constraint.bodies.y];
    let impulse = load_impulse(place);
    let d = whole_diagonal(constraint, a, b);
    let slope = slope_of(constraint, impulse, a, b);
    let now = parts_of(impulse, constraint.normal);
    let friction_trial = now.tangent - slope.tangent * safe_ratio(1.0, d.y);
    let rolling_trial = now.rolling - slope.rolling * safe_ratio(1.0, d.z);
    return vec3f(
        abs(now.normal - max(0.0, now.normal - safe_ratio(slope.normal, d.x))) * d.x,
        length(now.tangent - limit(friction_trial, constraint.friction * now.normal, constraint.normal)) * d.y,
        length(now.rolling - limit(rolling_trial, constraint.rolling_arm * now.normal, constraint.normal)) * d.z);
}
