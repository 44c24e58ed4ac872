// Bindings of the kernels that visit contacts colour by colour.

@group(0) @binding(16) var<storage, read> constraint_heads: array<ConstraintHead>;
@group(0) @binding(17) var<storage, read> constraint_arms: array<ConstraintArms>;
@group(0) @binding(4) var<storage, read_write> velocities: array<Velocity>;

// Position of a dispatch in its pass over the contacts, and the acceleration of the sweep.
struct Turn {
    index: u32,                // colour, or COLOURS for the overflow contacts, or the bodies after that
    relaxation: f32,           // relaxation factor ω of the contact constraints [-] [E12]
    share: f32,                // extrapolation factor of impulses and velocities [-] [E12]; 0: no extrapolation
    follows: u32,              // 1 in an accelerated sweep that follows another, else 0
}
@group(1) @binding(0) var<uniform> colour: Turn;

fn locks(bodies: vec2u) -> vec2u {
    if HAS_LOCKS {
        return vec2u(locked_axes(bodies.x), locked_axes(bodies.y));
    }
    return vec2u(0u);
}
