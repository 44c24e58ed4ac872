//! State of the bodies as a structure of arrays: mass, moments of inertia, pose and velocity.

use glam::{DQuat, DVec3};

use super::{BodyHeat, Pull, RigidBody};

/// A set of axes: translation along and rotation about x, y, z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Axes(u8);

impl Axes {
    /// No axis.
    pub const NONE: Axes = Axes(0);
    /// Translation along x, y, z.
    pub const TRANSLATION: [Axes; 3] = [Axes(1), Axes(2), Axes(4)];
    /// Rotation about x, y, z.
    pub const ROTATION: [Axes; 3] = [Axes(8), Axes(16), Axes(32)];

    /// Union of both sets.
    #[must_use]
    pub fn and(self, other: Axes) -> Axes {
        Axes(self.0 | other.0)
    }

    /// The set as six bits: translation x, y, z, rotation x, y, z.
    pub fn bits(self) -> u32 {
        u32::from(self.0)
    }

    /// Mask of translation: 1 for a free and 0 for a locked axis.
    #[inline]
    pub fn free_translation(self) -> DVec3 {
        self.mask(0)
    }

    /// Mask of rotation: 1 for a free and 0 for a locked axis.
    #[inline]
    pub fn free_rotation(self) -> DVec3 {
        self.mask(3)
    }

    #[inline]
    fn mask(self, shift: u8) -> DVec3 {
        // Most bodies have no locked axis.
        if self == Axes::NONE {
            return DVec3::ONE;
        }
        let free = |axis: u8| f64::from(1 - ((self.0 >> (shift + axis)) & 1));
        DVec3::new(free(0), free(1), free(2))
    }
}

/// Acceleration by gravity and applied forces of a body of this inverse mass \[1/kg\] with these locked axes \[m/s²\].
#[inline(always)]
pub fn pulled(pull: &Pull<'_>, body: usize, inverse_mass: f64, locked: Axes) -> DVec3 {
    if inverse_mass == 0.0 {
        return DVec3::ZERO;
    }
    let alone = match pull.forces().is_empty() {
        true => pull.gravity,
        false => pull.gravity + inverse_mass * pull.force_on(body),
    };
    // Most bodies have no locked axis, and making a mask of the bits takes longer than all else here.
    if locked == Axes::NONE { alone } else { alone * locked.free_translation() }
}

/// Kind of a body: whether and how contacts move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Kind {
    /// Fixed body, or one whose motion is prescribed: contacts do not move it.
    Prescribed,
    /// Sphere about its centre of mass: its inertia is a number, and contacts act along its radii.
    Sphere,
    /// Any other rigid body: its inertia is a tensor.
    Rigid,
}

/// State and inertia of all bodies, one entry per body in each list.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Bodies {
    /// Kind of each body.
    pub kind: Vec<Kind>,
    /// Centre of mass \[m\].
    pub position: Vec<DVec3>,
    /// Orientation (body to world); the axes of a rigid body are its principal ones.
    pub orientation: Vec<DQuat>,
    /// Velocity \[m/s\].
    pub velocity: Vec<DVec3>,
    /// Angular velocity, world frame \[rad/s\].
    pub angular_velocity: Vec<DVec3>,
    /// 1/mass \[1/kg\]; 0 for a prescribed body, or a grain that was removed.
    pub inverse_mass: Vec<f64>,
    /// 1/moment of inertia \[1/(kg m²)\]: of a sphere about any axis, of a rigid body the largest about its axes; 0 for a
    /// prescribed or removed body, and for a rigid body that cannot rotate.
    pub inverse_inertia: Vec<f64>,
    /// Principal moments of inertia \[kg m²\]; 0 for a prescribed body.
    pub moments: Vec<DVec3>,
    /// World axes of a dynamic body along which its translation, or about which its rotation, is locked.
    pub locked: Vec<Axes>,
    /// Temperature and heat capacity, in a scene with heat.
    pub heat: Vec<BodyHeat>,
}

/// State of one body.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct BodyState {
    /// Kind of the body.
    pub kind: Kind,
    /// Centre of mass \[m\].
    pub position: DVec3,
    orientation: DQuat,
    velocity: DVec3,
    angular_velocity: DVec3,
    inverse_mass: f64,
    inverse_inertia: f64,
    moments: DVec3,
    locked: Axes,
    heat: BodyHeat,
}

impl Bodies {
    /// State of a body.
    pub fn state(&self, body: usize) -> BodyState {
        BodyState {
            kind: self.kind[body],
            position: self.position[body],
            orientation: self.orientation[body],
            velocity: self.velocity[body],
            angular_velocity: self.angular_velocity[body],
            inverse_mass: self.inverse_mass[body],
            inverse_inertia: self.inverse_inertia[body],
            moments: self.moments[body],
            locked: self.locked[body],
            heat: self.heat[body],
        }
    }

    /// Sets the state of a body.
    pub fn set_state(&mut self, body: usize, state: &BodyState) {
        self.kind[body] = state.kind;
        self.position[body] = state.position;
        self.orientation[body] = state.orientation;
        self.velocity[body] = state.velocity;
        self.angular_velocity[body] = state.angular_velocity;
        self.inverse_mass[body] = state.inverse_mass;
        self.inverse_inertia[body] = state.inverse_inertia;
        self.moments[body] = state.moments;
        self.locked[body] = state.locked;
        self.heat[body] = state.heat;
    }

    /// Adds a body with this state.
    pub(super) fn push_state(&mut self, state: &BodyState) {
        self.kind.push(state.kind);
        self.position.push(state.position);
        self.orientation.push(state.orientation);
        self.velocity.push(state.velocity);
        self.angular_velocity.push(state.angular_velocity);
        self.inverse_mass.push(state.inverse_mass);
        self.inverse_inertia.push(state.inverse_inertia);
        self.moments.push(state.moments);
        self.locked.push(state.locked);
        self.heat.push(state.heat);
    }

    /// Takes all bodies away, and keeps the room for them.
    #[cfg(feature = "scenario")]
    pub(super) fn clear(&mut self) {
        self.kind.clear();
        self.position.clear();
        self.orientation.clear();
        self.velocity.clear();
        self.angular_velocity.clear();
        self.inverse_mass.clear();
        self.inverse_inertia.clear();
        self.moments.clear();
        self.locked.clear();
        self.heat.clear();
    }
}

impl Bodies {
    /// Bytes per body.
    pub(super) const BYTES_PER_BODY: u64 = (4 * size_of::<DVec3>()
        + size_of::<DQuat>()
        + 2 * size_of::<f64>()
        + size_of::<Axes>()
        + size_of::<Kind>()
        + size_of::<BodyHeat>()) as u64;

    /// Reserves room for `more` bodies.
    pub(super) fn reserve(&mut self, more: usize) {
        self.kind.reserve_exact(more);
        self.position.reserve_exact(more);
        self.orientation.reserve_exact(more);
        self.velocity.reserve_exact(more);
        self.angular_velocity.reserve_exact(more);
        self.inverse_mass.reserve_exact(more);
        self.inverse_inertia.reserve_exact(more);
        self.moments.reserve_exact(more);
        self.locked.reserve_exact(more);
        self.heat.reserve_exact(more);
    }

    /// Releases room that is not in use.
    #[cfg(feature = "scenario")]
    pub(super) fn shrink(&mut self) {
        self.kind.shrink_to_fit();
        self.position.shrink_to_fit();
        self.orientation.shrink_to_fit();
        self.velocity.shrink_to_fit();
        self.angular_velocity.shrink_to_fit();
        self.inverse_mass.shrink_to_fit();
        self.inverse_inertia.shrink_to_fit();
        self.moments.shrink_to_fit();
        self.locked.shrink_to_fit();
        self.heat.shrink_to_fit();
    }

    /// Bytes of the room that is reserved. All lists grow alike.
    pub(super) fn bytes(&self) -> u64 {
        self.position.capacity() as u64 * Bodies::BYTES_PER_BODY
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Whether a body is dynamic, or was before it was removed.
    pub fn is_dynamic(&self, body: usize) -> bool {
        self.kind[body] != Kind::Prescribed
    }

    /// Mass, moments of inertia and present velocities of a body whose inertia is a tensor; `None` for a sphere, or a body that is
    /// prescribed or was removed.
    pub fn rigid(&self, body: usize) -> Option<RigidBody> {
        let is_rigid = self.kind[body] == Kind::Rigid && self.inverse_mass[body] > 0.0;
        is_rigid.then(|| RigidBody {
            mass: 1.0 / self.inverse_mass[body],
            moments: self.moments[body],
            velocity: self.velocity[body],
            angular_velocity: self.angular_velocity[body],
            locked: self.locked[body],
        })
    }

    /// Kinetic energy of a body, translation and rotation \[J\]; 0 if it is prescribed or was removed.
    pub fn kinetic_energy(&self, body: usize) -> f64 {
        if self.inverse_mass[body] == 0.0 {
            return 0.0;
        }
        0.5 * self.velocity[body].length_squared() / self.inverse_mass[body] + self.rotational_energy(body)
    }

    /// Kinetic energy of the rotation of a body \[J\]; 0 if it is prescribed or was removed.
    pub fn rotational_energy(&self, body: usize) -> f64 {
        match self.rigid(body) {
            Some(rigid) => rigid.rotational_energy(self.orientation[body], self.angular_velocity[body]),
            None if self.inverse_inertia[body] > 0.0 => {
                0.5 * self.angular_velocity[body].length_squared() / self.inverse_inertia[body]
            }
            None => 0.0,
        }
    }

    /// Angular momentum of a body about its centre of mass \[N m s\]; 0 if it is prescribed or was removed.
    pub fn angular_momentum(&self, body: usize) -> DVec3 {
        match self.rigid(body) {
            Some(rigid) => rigid.angular_momentum(self.orientation[body], self.angular_velocity[body]),
            None if self.inverse_inertia[body] > 0.0 => {
                self.angular_velocity[body] / self.inverse_inertia[body]
            }
            None => DVec3::ZERO,
        }
    }

    /// Adds a fixed or prescribed body; returns its index.
    pub(super) fn push_prescribed(&mut self, position: DVec3, orientation: DQuat) -> u32 {
        self.push_state(&BodyState {
            kind: Kind::Prescribed,
            position,
            orientation,
            velocity: DVec3::ZERO,
            angular_velocity: DVec3::ZERO,
            inverse_mass: 0.0,
            inverse_inertia: 0.0,
            moments: DVec3::ZERO,
            locked: Axes::NONE,
            heat: BodyHeat::default(),
        });
        (self.len() - 1) as u32
    }

    /// Adds a dynamic body; returns its index.
    pub(super) fn push_dynamic(
        &mut self,
        kind: Kind,
        position: DVec3,
        orientation: DQuat,
        rigid: &RigidBody,
    ) -> u32 {
        let body = self.push_prescribed(position, orientation);
        self.set_dynamic(body as usize, kind, position, orientation, rigid);
        body
    }

    /// Sets all properties of a dynamic body.
    pub(super) fn set_dynamic(
        &mut self,
        body: usize,
        kind: Kind,
        position: DVec3,
        orientation: DQuat,
        rigid: &RigidBody,
    ) {
        self.kind[body] = kind;
        self.position[body] = position;
        self.orientation[body] = orientation;
        self.velocity[body] = rigid.velocity;
        self.angular_velocity[body] = rigid.angular_velocity;
        self.inverse_mass[body] = 1.0 / rigid.mass;
        self.inverse_inertia[body] = match kind {
            Kind::Rigid => rigid.largest_inverse_moment(),
            _ => 1.0 / rigid.moments.x,
        };
        self.moments[body] = rigid.moments;
        self.locked[body] = rigid.locked;
    }
}
