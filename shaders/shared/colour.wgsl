// What the kernels that go colour by colour share.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<ConstraintArms>;
@group(0) @binding(4) var<storage, read_write> velocities: array<Velocity>;

struct Turn {
    index: u32,
    relaxation: f32,  // how far constraints go, in what would bring them to rest [E12]
    share: f32,       // of what the last sweep changed, that this one is given [E12]
    follows: u32,     // 1 in a sweep that goes on from the one before, else 0
}
@group(1) @binding(0) var<uniform> colour: Turn;

fn locks(bodies: vec2u) -> vec2u {
    if HAS_LOCKS {
        return vec2u(locked_axes(bodies.x), locked_axes(bodies.y));
    }
    return vec2u(0u);
}
