//! Rigid bodies, which move under contacts.
//!
//! A grain touches the surfaces of a dynamic body like those of any other boundary. The body itself touches half spaces and convex solids
//! with its faces, edges and vertices ([`solids`](super::solids)), and other surfaces (thin walls, meshes that are no convex solids) with
//! its vertices: the eight corners of a box, points on the rims of a cylinder, the vertices of a mesh, the balls of a sphere or a capsule.

use glam::{DMat3, DQuat, DVec3};

use super::{Axes, Form, Mesh, Sphere, SpherePart, World};

/// Mass, moments of inertia and velocities of a rigid body. Its axes are the principal ones.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct RigidBody {
    /// Mass \[kg\].
    pub mass: f64,
    /// Moments of inertia about the principal axes \[kg m²\].
    pub moments: DVec3,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity, world frame \[rad/s\].
    pub angular_velocity: DVec3,
    /// World axes along which its translation, or about which its rotation, is locked.
    pub locked: Axes,
}

impl RigidBody {
    /// A body of this mass \[kg\] and these moments of inertia \[kg m²\] that is at rest and free.
    pub fn at_rest(mass: f64, moments: DVec3) -> RigidBody {
        let (velocity, angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        RigidBody { mass, moments, velocity, angular_velocity, locked: Axes::NONE }
    }

    /// Mass \[kg\] and moments of inertia \[kg m²\].
    pub fn inertia(&self) -> [f64; 4] {
        [self.mass, self.moments.x, self.moments.y, self.moments.z]
    }

    /// A homogeneous solid of this form and density \[kg/m³\] at rest; `None` for forms other than a box and a sphere.
    pub fn solid(form: Form, density: f64) -> Option<RigidBody> {
        let (mass, moments) = match form {
            Form::Box { half } => {
                let mass = 8.0 * density * half.element_product();
                let square = half * half;
                (mass, mass / 3.0 * (DVec3::splat(square.element_sum()) - square))
            }
            Form::Sphere { radius } => {
                let mass = density * super::sphere_volume(radius);
                (mass, DVec3::splat(0.4 * mass * radius * radius))
            }
            _ => return None,
        };
        Some(RigidBody::at_rest(mass, moments))
    }

    /// Returns the homogeneous solid inside a closed mesh, at rest; the place of its centre in the frame of the mesh \[m\]; and the
    /// rotation from its principal axes into that frame.
    pub fn inside(mesh: &Mesh, density: f64) -> (RigidBody, DVec3, DQuat) {
        let solid = mesh.solid();
        let (body, axes) = solid.body(density);
        (body, solid.centre, axes)
    }

    /// Largest of the inverse moments of inertia \[1/(kg m²)\]: an upper bound for every direction; 0 if all rotations are locked.
    pub fn largest_inverse_moment(&self) -> f64 {
        if self.locked.free_rotation() == DVec3::ZERO { 0.0 } else { 1.0 / self.moments.min_element() }
    }

    /// Inverse inertia tensor in the world frame \[1/(kg m²)\]; zero about locked axes.
    pub fn inverse_inertia(&self, orientation: DQuat) -> DMat3 {
        let frame = DMat3::from_quat(orientation);
        let free = self.locked.free_rotation();
        if free == DVec3::ONE {
            return frame * DMat3::from_diagonal(self.moments.recip()) * frame.transpose();
        }
        // Invert the inertia with the locked axes decoupled, then leave out their part of the inverse.
        let unit = self.moments.max_element();
        let mask = DMat3::from_diagonal(free);
        let inertia = frame * DMat3::from_diagonal(self.moments / unit) * frame.transpose();
        let decoupled = mask * inertia * mask + DMat3::from_diagonal(DVec3::ONE - free);
        mask * decoupled.inverse() * mask * (1.0 / unit)
    }

    /// Angular momentum about the centre, without its components about locked axes \[N m s\].
    pub fn angular_momentum(&self, orientation: DQuat, angular_velocity: DVec3) -> DVec3 {
        let in_body = self.moments * (orientation.conjugate() * angular_velocity);
        (orientation * in_body) * self.locked.free_rotation()
    }

    /// Kinetic energy of rotation \[J\].
    pub fn rotational_energy(&self, orientation: DQuat, angular_velocity: DVec3) -> f64 {
        let in_body = orientation.conjugate() * angular_velocity;
        0.5 * (self.moments * in_body * in_body).element_sum()
    }

    /// Orientation and angular velocity after a time `h` \[s\] without torque \[E1\]. The angular momentum L (and the rate about a locked
    /// axis) is constant; the orientation follows dq/dt = ω(q) q / 2 with ω(q) = I(q)⁻¹ L, integrated by the Runge-Kutta method of fourth
    /// order.
    pub fn turn(&self, orientation: DQuat, angular_velocity: DVec3, h: f64) -> (DQuat, DVec3) {
        if angular_velocity == DVec3::ZERO {
            return (orientation, angular_velocity);
        }
        let free = self.locked.free_rotation();
        let held = angular_velocity * (DVec3::ONE - free);
        let momentum = self.angular_momentum(orientation, angular_velocity * free);
        let rate = |q: DQuat| {
            let spin = self.inverse_inertia(q.normalize()) * momentum + held;
            DQuat::from_vec4((0.5 * spin).extend(0.0)) * q
        };
        let k1 = rate(orientation);
        let k2 = rate(orientation + k1 * (0.5 * h));
        let k3 = rate(orientation + k2 * (0.5 * h));
        let k4 = rate(orientation + k3 * h);
        let turned = (orientation + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0)).normalize();
        (turned, self.inverse_inertia(turned) * momentum + held)
    }
}

/// The sphere around what a surface of a dynamic boundary touches other bodies with: a ball, a convex solid, or a patch of another mesh;
/// `None` for forms that cannot be dynamic, and for all but the first patch of a convex mesh. The `contact_radius` of a solid is half its
/// smallest edge (of the box around a mesh), or its radius.
pub(super) fn vertex_of(world: &World, index: u32) -> Option<Sphere> {
    let surface = &world.surfaces[index as usize];
    let vertex = |middle, radius, contact_radius, part| Sphere {
        body: surface.body,
        centre: surface.position + surface.orientation * middle,
        radius,
        contact_radius,
        material: surface.material,
        part,
    };
    let solid = |contact_radius| {
        let solid = world.solids.of(index)?;
        Some(vertex(solid.middle, solid.radius, contact_radius, SpherePart::Solid(index)))
    };
    match surface.form {
        Form::Box { half } => solid(half.min_element()),
        Form::Sphere { radius } => Some(vertex(DVec3::ZERO, radius, radius, SpherePart::Ball)),
        Form::Capsule { radius, .. } => solid(radius),
        Form::Solid { bottom_radius, top_radius, length } => {
            solid(bottom_radius.max(top_radius).min(0.5 * length))
        }
        Form::Patch { mesh, patch } => {
            let mesh = &world.meshes[mesh];
            let [low, high] = mesh.bounds();
            let contact_radius = 0.5 * (high - low).min_element();
            solid(contact_radius).or_else(|| {
                let is_alone = world.solids.is_other(index);
                let (middle, radius) = mesh.around_patch(patch as usize);
                is_alone.then(|| vertex(middle, radius, contact_radius, SpherePart::Patch(index)))
            })
        }
        Form::Plane | Form::Disc { .. } | Form::Wall { .. } => None,
    }
}

/// Principal moments of a tensor, and the rotation from its principal axes to the axes it is given in, by Jacobi's method. A tensor that
/// is diagonal already keeps its axes.
pub fn principal(tensor: DMat3) -> (DVec3, DQuat) {
    const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];
    let mut axes = DQuat::IDENTITY;
    let turned = |axes: DQuat| {
        let frame = DMat3::from_quat(axes);
        frame.transpose() * tensor * frame
    };
    let scale = tensor.x_axis.x + tensor.y_axis.y + tensor.z_axis.z;
    for _ in 0..50 {
        let now = turned(axes);
        let entry = |(i, j): (usize, usize)| now.col(j)[i];
        let largest = PAIRS.into_iter().max_by(|&a, &b| entry(a).abs().total_cmp(&entry(b).abs()));
        let Some((i, j)) = largest.filter(|&pair| entry(pair).abs() > 1e-14 * scale) else { break };
        let apart = now.col(i)[i] - now.col(j)[j];
        // Two rotations make the entry zero: take the smaller one.
        let angle = 0.5 * (2.0 * entry((i, j)) * 1f64.copysign(apart)).atan2(apart.abs());
        let axis = DVec3::AXES[i].cross(DVec3::AXES[j]);
        axes = (axes * DQuat::from_axis_angle(axis, angle)).normalize();
    }
    let now = turned(axes);
    (DVec3::new(now.x_axis.x, now.y_axis.y, now.z_axis.z), axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brick() -> RigidBody {
        let form = Form::Box { half: DVec3::new(0.1, 0.2, 0.35) };
        RigidBody::solid(form, 1000.0).expect("a box can be free")
    }

    #[test]
    fn a_brick_has_the_mass_and_moments_of_the_textbook() {
        // 0.2 · 0.4 · 0.7 m³ of 1000 kg/m³; m (b² + c²)/12 about a.
        let body = brick();
        approx::assert_relative_eq!(body.mass, 56.0, max_relative = 1e-12);
        let expected = 56.0 / 12.0 * DVec3::new(0.16 + 0.49, 0.04 + 0.49, 0.04 + 0.16);
        assert!((body.moments - expected).length() < 1e-12, "{}", body.moments);
    }

    #[test]
    fn inverse_inertia_undoes_inertia_in_any_orientation() {
        let body = brick();
        let orientation = DQuat::from_scaled_axis(DVec3::new(0.3, -1.1, 2.0));
        let spin = DVec3::new(1.0, -2.0, 0.5);
        let back = body.inverse_inertia(orientation) * body.angular_momentum(orientation, spin);
        assert!((back - spin).length() < 1e-12, "{back}");
    }

    #[test]
    fn a_locked_axis_takes_no_turn_and_leaves_that_about_the_others_to_their_own_inertia() {
        let locked = Axes::ROTATION[0].and(Axes::ROTATION[1]);
        let body = RigidBody { locked, ..brick() };
        let orientation = DQuat::from_scaled_axis(DVec3::new(0.3, -1.1, 2.0));
        let inverse = body.inverse_inertia(orientation);
        let about_z = 2.0 * body.rotational_energy(orientation, DVec3::Z);
        assert!((inverse - DMat3::from_diagonal(DVec3::Z / about_z)).abs_diff_eq(DMat3::ZERO, 1e-12));
    }

    /// A brick in free flight, thrown so that it tumbles: N17 of the usual lists of rigid-body tests.
    #[test]
    fn a_tumbling_brick_keeps_its_angular_momentum_and_energy() {
        let body = brick();
        let (mut orientation, mut spin) = (DQuat::IDENTITY, DVec3::new(0.1, 3.0, 0.2));
        let (momentum, energy) =
            (body.angular_momentum(orientation, spin), body.rotational_energy(orientation, spin));
        let mut flipped = false;
        for _ in 0..10_000 {
            (orientation, spin) = body.turn(orientation, spin, 1e-3);
            flipped |= (orientation.conjugate() * spin).y < 0.0;
        }
        assert!(flipped, "about the middle axis it turns over");
        let drift = (body.angular_momentum(orientation, spin) - momentum).length() / momentum.length();
        assert!(drift < 1e-11, "angular momentum drifts by {drift:e}");
        let drift = (body.rotational_energy(orientation, spin) / energy - 1.0).abs();
        assert!(drift < 1e-10, "energy drifts by {drift:e}");
    }
}
