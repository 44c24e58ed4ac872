// Impulses of the contacts in solving order: three pairs of numbers each, linear then rolling.

struct Impulse {
    linear: vec3f,             // λ_n n + λ_t [N s]
    rolling: vec3f,            // λ_r [N m s]
}

@group(0) @binding(2) var<storage, read_write> impulses: array<vec2f>;

fn load_impulse(place: u32) -> Impulse {
    let x = impulses[3u * place];
    let y = impulses[3u * place + 1u];
    let z = impulses[3u * place + 2u];
    return Impulse(vec3f(x, y.x), vec3f(y.y, z));
}

fn store_impulse(place: u32, impulse: Impulse) {
    impulses[3u * place] = impulse.linear.xy;
    impulses[3u * place + 1u] = vec2f(impulse.linear.z, impulse.rolling.x);
    impulses[3u * place + 2u] = impulse.rolling.yz;
}

fn is_zero(impulse: Impulse) -> bool {
    return all(impulse.linear == vec3f(0.0)) && all(impulse.rolling == vec3f(0.0));
}
