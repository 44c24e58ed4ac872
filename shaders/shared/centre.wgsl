// Position of a sphere or vertex on its body, from the second half of `spheres`; each shader declares `spheres` itself.

struct Place {
    centre: vec3f,             // centre of the ball in the frame of its body [m]
    contact_radius: f32,       // radius that stands for R* in the laws and scales the margin [m]
}

fn place_on_body(index: u32) -> Place {
    if !HAS_RIGID {
        return Place(vec3f(0.0), spheres[index].radius);
    }
    let words = spheres[balls() + index];
    return Place(vec3f(words.radius, bitcast<f32>(words.material), bitcast<f32>(words.body)),
        bitcast<f32>(words.tag));
}
