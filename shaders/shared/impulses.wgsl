// Impulses of the contacts in solving order: three pairs of numbers per contact, linear then rolling. Under the smooth method four
// more pairs hold the forces and moments of its springs [E13]. With cohesion the last number of a contact is its cohesive impulse [E2],
// in a fourth pair if it has no springs.
override IMPULSE_PAIRS: u32 = 3u;

// Whether some contacts are cohesive.
override HAS_COHESION: bool = false;

// Impulse of a contact on body a.
struct Impulse {
    linear: vec3f,             // normal and friction impulse, λ_n n + λ_t [N s]
    rolling: vec3f,            // rolling and twisting impulse λ_r [N m s]
}

@group(0) @binding(2) var<storage, read_write> impulses: array<vec2f>;

fn load_impulse(place: u32) -> Impulse {
    let x = impulses[IMPULSE_PAIRS * place];
    let y = impulses[IMPULSE_PAIRS * place + 1u];
    let z = impulses[IMPULSE_PAIRS * place + 2u];
    return Impulse(vec3f(x, y.x), vec3f(y.y, z));
}

fn store_impulse(place: u32, impulse: Impulse) {
    impulses[IMPULSE_PAIRS * place] = impulse.linear.xy;
    impulses[IMPULSE_PAIRS * place + 1u] = vec2f(impulse.linear.z, impulse.rolling.x);
    impulses[IMPULSE_PAIRS * place + 2u] = impulse.rolling.yz;
}

// Impulse of a contact with that of cohesion.
fn given_impulse(place: u32, normal: vec3f) -> Impulse {
    let impulse = load_impulse(place);
    if !HAS_COHESION {
        return impulse;
    }
    return Impulse(impulse.linear - cohesion(place) * normal, impulse.rolling);
}

// Impulse with which cohesion pulls the bodies together [N s].
fn cohesion(place: u32) -> f32 {
    return impulses[IMPULSE_PAIRS * (place + 1u) - 1u].y;
}

fn store_cohesion(place: u32, cohesion: f32) {
    if HAS_COHESION {
        impulses[IMPULSE_PAIRS * (place + 1u) - 1u].y = cohesion;
    }
}

// Whether contacts have springs: the smooth method.
override HAS_SPRINGS: bool = false;

// Force and moments that the springs of a contact hold [E13].
struct Springs {
    tangent: vec3f,            // force in the tangent plane [N]
    twisting: f32,             // moment about the normal [N m]
    rolling: vec3f,            // moment in the tangent plane [N m]
}

fn load_springs(place: u32) -> Springs {
    let at = IMPULSE_PAIRS * place + 3u;
    let y = impulses[at + 1u];
    return Springs(vec3f(impulses[at], y.x), y.y, vec3f(impulses[at + 2u], impulses[at + 3u].x));
}

fn store_springs(place: u32, springs: Springs) {
    let at = IMPULSE_PAIRS * place + 3u;
    impulses[at] = springs.tangent.xy;
    impulses[at + 1u] = vec2f(springs.tangent.z, springs.twisting);
    impulses[at + 2u] = springs.rolling.xy;
    impulses[at + 3u] = vec2f(springs.rolling.z, 0.0);
}

fn is_zero(impulse: Impulse) -> bool {
    return all(impulse.linear == vec3f(0.0)) && all(impulse.rolling == vec3f(0.0));
}
