// Joints and their rows [E11]. Rust twins: src/gpu/layout/joints.rs.

// A joint between two bodies, or a body and the ground.
struct Joint {
    place_a: vec3f,            // on its first body, of the ground from the centre of `cell` [m]
    body_a: u32,               // NONE: the ground
    place_b: vec3f,
    body_b: u32,
    turn_a: vec4f,             // from its axes to those of its first body
    turn_b: vec4f,
    cell: vec3i,               // that the place on the ground is in
    kind: u32,                 // JOINT_*
    walls: vec4u,              // bodies whose distances make the area of a pressure: low and high, twice; or NONE
    wall_axes: vec2u,          // along which they are apart: 0, 1, 2
    first_row: u32,
    rows: u32,
    low: f32,                  // ends of its range [m, rad]
    high: f32,
    position: f32,             // at the start of the substep [m, rad]
    length: f32,               // that a rod has [m]
    compliance: f32,           // Σ of rows that hold a place [1/kg]
    angular_compliance: f32,   // Σ of rows that hold a turn [1/(kg m²)]
    upsilon: f32,              // Υ
    is_limited: u32,           // 1: it has a range
}

// What drives a joint in a substep.
struct JointDrive {
    kind: u32,                 // DRIVE_*
    value: f32,                // impulse [N s], impulse per area [Pa s], or velocity [m/s, rad/s]
    aim: f32,                  // position that it goes for [m, rad]
    rate: f32,                 // how fast [1/s]
    limit: f32,                // largest impulse [N s, N m s]
    spare: u32,
    spare_too: u32,
    spare_also: u32,
}

// A velocity between two bodies that an impulse brings to a value.
struct JointRow {
    direction: vec3f,          // of the impulse on the second body; 0 for a turn
    role: u32,                 // ROW_*
    lever_a: vec3f,            // arm × direction on each body, of a turn its axis
    place: u32,                // PLACE_*: where the impulse stands
    lever_b: vec3f,
    softness: f32,             // Σ and a little for rows that follow from others [1/kg]
    linear_a: vec3f,           // what the impulse does to the velocities of both bodies
    impulse: f32,              // λ [N s]
    linear_b: vec3f,
    last: f32,                 // λ after the last sweep
    angular_a: vec3f,          // and to the angular velocities
    low: f32,
    angular_b: vec3f,
    high: f32,
    body_a: u32,
    body_b: u32,
    aim: f32,                  // q but for what it takes over from the velocities [m/s]
    follow: f32,               // Υ, where it takes that over
    bias: f32,                 // q
    strike: f32,               // λ in a round of impacts
    held: f32,                 // u that impacts leave as it is
    diagonal: f32,             // D [1/kg]
}

// Rows that hang together.
struct Machine {
    first_row: u32,
    rows: u32,
    matrix: u32,               // place of G M⁻¹ Gᵀ + Σ; its pivoted form comes after it
    first_body: u32,           // its bodies in `machine_bodies`
    bodies: u32,
    spare: u32,
    spare_too: u32,
    spare_also: u32,
}

// u = G v.
fn row_speed(row: JointRow, a: Velocity, b: Velocity) -> f32 {
    var speed = 0.0;
    if row.body_a != NONE {
        speed -= dot(row.direction, a.linear) + dot(row.lever_a, a.angular);
    }
    if row.body_b != NONE {
        speed += dot(row.direction, b.linear) + dot(row.lever_b, b.angular);
    }
    return speed;
}
