// Joints and their rows [E11]. Rust twins: src/gpu/layout/joints.rs.

// Joint between two bodies, or a body and the ground.
struct Joint {
    place_a: vec3f,            // place in the frame of the first body; of the ground: from the centre of `cell` [m]
    body_a: u32,               // first body; NONE: the ground
    place_b: vec3f,            // place in the frame of the second body [m]
    body_b: u32,               // second body; NONE: the ground
    turn_a: vec4f,             // turn from the axes of the joint to those of the first body, a quaternion
    turn_b: vec4f,             // turn from the axes of the joint to those of the second body
    cell: vec3i,               // grid cell of the place on the ground
    kind: u32,                 // kind, JOINT_*
    walls: vec4u,              // bodies whose distances span the area of a pressure: low and high, twice; or NONE
    wall_axes: vec2u,          // axes along which these bodies are apart: 0, 1, 2
    first_row: u32,            // first row in `joint_rows`
    rows: u32,                 // number of rows
    low: f32,                  // lower end of the range [m, rad]
    high: f32,                 // upper end of the range [m, rad]
    position: f32,             // position at the start of the substep [m, rad]
    length: f32,               // distance that a rod keeps [m]
    compliance: f32,           // Σ of rows that hold a place [1/kg]
    angular_compliance: f32,   // Σ of rows that hold a turn [1/(kg m²)]
    upsilon: f32,              // damping factor Υ [-]
    is_limited: u32,           // 1: the joint has a range
    restitution: f32,          // restitution of the ends of the range [-]
    slack: f32,                // distance beyond an end that counts as rounding [m, rad]
    spare: u32,
    spare_too: u32,
}

// Drive of a joint in a substep.
struct JointDrive {
    kind: u32,                 // kind, DRIVE_*
    value: f32,                // impulse [N s], impulse per area [Pa s], or velocity [m/s, rad/s]
    aim: f32,                  // position that a servo aims at [m, rad]
    rate: f32,                 // rate at which the servo approaches it [1/s]
    limit: f32,                // largest impulse of a motor [N s, N m s]
    spare: u32,
    spare_too: u32,
    spare_also: u32,
}

// Row of a joint: a velocity between two bodies that an impulse brings to a value.
struct JointRow {
    direction: vec3f,          // direction of the impulse on the second body; 0 for a turn
    role: u32,                 // role, ROW_*
    lever_a: vec3f,            // arm × direction on the first body [m]; of a turn its axis
    place: u32,                // PLACE_*: impulse between its bounds, or at one of them
    lever_b: vec3f,            // the same on the second body
    softness: f32,             // compliance: Σ and a little for rows that follow from others [1/kg]
    linear_a: vec3f,           // change of the velocity of the first body per impulse [1/kg]
    impulse: f32,              // impulse λ [N s]
    linear_b: vec3f,           // change of the velocity of the second body per impulse [1/kg]
    last: f32,                 // λ after the last sweep [N s]
    angular_a: vec3f,          // change of the angular velocity of the first body per impulse [1/(kg m)]
    low: f32,                  // lower bound of λ [N s]
    angular_b: vec3f,          // the same of the second body
    high: f32,                 // upper bound of λ [N s]
    body_a: u32,               // first body; NONE: the ground
    body_b: u32,               // second body; NONE: the ground
    aim: f32,                  // bias velocity without its part Υ u; of limits the least speed that the lower end allows [m/s]
    follow: f32,               // Υ, or 0 for a row without that part; of limits their restitution [-]
    bias: f32,                 // bias velocity q [m/s]
    strike: f32,               // λ in the present round of impacts [N s]
    held: f32,                 // u before the impacts, which they keep [m/s]
    diagonal: f32,             // D, without the compliance [1/kg]
    most: f32,                 // of limits: largest speed that the upper end allows [m/s]
    spare: u32,
    spare_too: u32,
    spare_also: u32,
}

// Machine: the rows of joints that are connected through bodies.
struct Machine {
    first_row: u32,            // first row
    rows: u32,                 // number of rows
    matrix: u32,               // place of G M⁻¹ Gᵀ + Σ in `machine_matrix`; its pivoted form comes after it
    first_body: u32,           // first of its bodies in `machine_bodies`
    bodies: u32,               // number of its bodies
    spare: u32,
    spare_too: u32,
    spare_also: u32,
}

// Velocity of a row, u = G v [m/s, rad/s].
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
