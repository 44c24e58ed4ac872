//! Bodies: mass, pose, velocity; structure of arrays.

use glam::{DQuat, DVec3};

use super::{FreeBody, Grain};

/// A set of axes: translation along and rotation about x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Axes(u8);

impl Axes {
    /// No axis.
    pub const NONE: Axes = Axes(0);
    /// Translation along x, y, z.
    pub const TRANSLATION: [Axes; 3] = [Axes(1), Axes(2), Axes(4)];
    /// Rotation about x, y, z.
    pub const ROTATION: [Axes; 3] = [Axes(8), Axes(16), Axes(32)];

    /// Both sets together.
    #[must_use]
    pub fn and(self, other: Axes) -> Axes {
        Axes(self.0 | other.0)
    }

    /// The set as six bits: translation x, y, z, rotation x, y, z.
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// 1 for a free and 0 for a locked axis of translation.
    pub fn free_translation(self) -> DVec3 {
        self.mask(0)
    }

    /// 1 for a free and 0 for a locked axis of rotation.
    pub fn free_rotation(self) -> DVec3 {
        self.mask(3)
    }

    fn mask(self, shift: u8) -> DVec3 {
        let free = |axis: u8| f64::from(1 - ((self.0 >> (shift + axis)) & 1));
        DVec3::new(free(0), free(1), free(2))
    }
}

/// What gravity \[m/s²\] does alone to a body of this inverse mass \[1/kg\] with these axes locked \[m/s²\].
#[inline(always)]
pub fn falls(gravity: DVec3, inverse_mass: f64, locked: Axes) -> DVec3 {
    match inverse_mass > 0.0 {
        false => DVec3::ZERO,
        // Most bodies: making a mask of the bits takes longer than all else here.
        true if locked == Axes::NONE => gravity,
        true => gravity * locked.free_translation(),
    }
}

/// State and inertia of all bodies, one entry per body in each list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bodies {
    /// Centre of mass \[m\].
    pub position: Vec<DVec3>,
    /// Orientation (body to world).
    pub orientation: Vec<DQuat>,
    /// Velocity \[m/s\].
    pub velocity: Vec<DVec3>,
    /// Angular velocity, world frame \[rad/s\].
    pub angular_velocity: Vec<DVec3>,
    /// 1/mass \[1/kg\]; 0 for a body that is not free, or a grain that was removed.
    pub inverse_mass: Vec<f64>,
    /// 1/moment of inertia of a sphere \[1/(kg m²)\]; 0 for a body that is not free. Of a free boundary the
    /// largest about any axis; its [`FreeBody`] has all.
    pub inverse_inertia: Vec<f64>,
    /// Axes a free body cannot move along or turn about.
    pub locked: Vec<Axes>,
}

impl Bodies {
    /// Bytes of a body.
    pub(super) const BYTES_PER_BODY: u64 =
        (3 * size_of::<DVec3>() + size_of::<DQuat>() + 2 * size_of::<f64>() + size_of::<Axes>()) as u64;

    /// Makes room for this many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.position.reserve_exact(more);
        self.orientation.reserve_exact(more);
        self.velocity.reserve_exact(more);
        self.angular_velocity.reserve_exact(more);
        self.inverse_mass.reserve_exact(more);
        self.inverse_inertia.reserve_exact(more);
        self.locked.reserve_exact(more);
    }

    /// Bytes of what there is room for. All lists grow alike.
    pub(super) fn bytes(&self) -> u64 {
        self.position.capacity() as u64 * Bodies::BYTES_PER_BODY
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// What gravity \[m/s²\] does to a body alone \[m/s²\].
    pub fn falls(&self, body: usize, gravity: DVec3) -> DVec3 {
        falls(gravity, self.inverse_mass[body], self.locked[body])
    }

    /// Kinetic energy of a body, translation and rotation \[J\]; 0 for one that is not free.
    pub fn kinetic_energy(&self, body: usize) -> f64 {
        if self.inverse_mass[body] == 0.0 {
            return 0.0;
        }
        let translation = self.velocity[body].length_squared() / self.inverse_mass[body];
        let rotation = self.angular_velocity[body].length_squared() / self.inverse_inertia[body];
        0.5 * (translation + rotation)
    }

    pub(super) fn push_prescribed(&mut self, position: DVec3, orientation: DQuat) {
        self.push(position, orientation, DVec3::ZERO, DVec3::ZERO);
        self.inverse_mass.push(0.0);
        self.inverse_inertia.push(0.0);
        self.locked.push(Axes::NONE);
    }

    pub(super) fn push_free_boundary(&mut self, position: DVec3, orientation: DQuat, body: &FreeBody) {
        self.push(position, orientation, body.velocity, body.angular_velocity);
        self.inverse_mass.push(1.0 / body.mass);
        self.inverse_inertia.push(body.largest_inverse_moment());
        self.locked.push(body.locked);
    }

    pub(super) fn push_free(&mut self, grain: &Grain, mass: f64, inertia: f64) -> u32 {
        self.push(grain.position, DQuat::IDENTITY, grain.velocity, grain.angular_velocity);
        self.inverse_mass.push(1.0 / mass);
        self.inverse_inertia.push(1.0 / inertia);
        self.locked.push(grain.locked);
        (self.len() - 1) as u32
    }

    /// Makes a free body anew.
    pub(super) fn set_free(&mut self, body: usize, grain: &Grain, mass: f64, inertia: f64) {
        self.position[body] = grain.position;
        self.orientation[body] = DQuat::IDENTITY;
        self.velocity[body] = grain.velocity;
        self.angular_velocity[body] = grain.angular_velocity;
        self.inverse_mass[body] = 1.0 / mass;
        self.inverse_inertia[body] = 1.0 / inertia;
        self.locked[body] = grain.locked;
    }

    fn push(&mut self, position: DVec3, orientation: DQuat, velocity: DVec3, angular_velocity: DVec3) {
        self.position.push(position);
        self.orientation.push(orientation);
        self.velocity.push(velocity);
        self.angular_velocity.push(angular_velocity);
    }
}
