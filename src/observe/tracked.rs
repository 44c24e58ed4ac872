//! Bodies and contacts that are observed one by one.

use glam::{DVec3, DVec4};

use crate::engine::Snapshot;
use crate::model::World;

/// Body that is observed on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum TrackedBody {
    /// A grain, by its id.
    Grain(usize),
    /// A boundary.
    Boundary {
        /// Index of its body.
        body: usize,
        /// Name of the boundary.
        name: String,
    },
}

/// Bodies and contacts that are observed one by one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Tracked {
    /// Bodies, of which position, orientation, velocity and spin are observed.
    pub bodies: Vec<TrackedBody>,
    /// Pairs of bodies, of which contact forces and overlap are observed.
    pub contacts: Vec<[TrackedBody; 2]>,
}

impl TrackedBody {
    /// Index of the body; `None` for a grain that is not there yet, or any more.
    pub fn index(&self, world: &World) -> Option<usize> {
        match self {
            TrackedBody::Grain(id) => world.grain_of_id(*id).map(|grain| world.grain_body(grain)),
            TrackedBody::Boundary { body, .. } => Some(*body),
        }
    }

    /// Name of the body in the column of a body.
    pub(super) fn name(&self) -> String {
        match self {
            TrackedBody::Grain(grain) => format!("grain-{grain}"),
            TrackedBody::Boundary { name, .. } => name.clone(),
        }
    }

    /// Name of the body in the column of a contact.
    pub(super) fn name_in_contact(&self) -> String {
        match self {
            TrackedBody::Grain(grain) => grain.to_string(),
            TrackedBody::Boundary { name, .. } => name.clone(),
        }
    }
}

impl Tracked {
    /// Names of the contacts: `0-1`, `0-floor`.
    pub fn pair_names(&self) -> Vec<String> {
        let name = |[a, b]: &[TrackedBody; 2]| format!("{}-{}", a.name_in_contact(), b.name_in_contact());
        self.contacts.iter().map(name).collect()
    }

    /// Names of the bodies: `grain-0`, `floor`.
    pub fn body_names(&self) -> Vec<String> {
        self.bodies.iter().map(TrackedBody::name).collect()
    }
}

/// Index of the body, if it is a boundary or a grain that this process counts.
fn counted(snapshot: &Snapshot, body: &TrackedBody) -> Option<usize> {
    let is_counted =
        |&index: &usize| snapshot.world.grain_of_body(index).is_none_or(|grain| snapshot.share.counts(grain));
    body.index(&snapshot.world).filter(is_counted)
}

/// Pose and velocities of a body; not a number for a grain that is not there yet, or any more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BodyMotion {
    /// Position \[m\].
    pub(super) position: DVec3,
    /// Velocity \[m/s\].
    pub(super) velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub(super) spin: DVec3,
    /// Orientation (x, y, z, w).
    pub(super) orientation: DVec4,
}

/// Pose and velocities of a body.
pub(super) fn motion(snapshot: &Snapshot, body: &TrackedBody) -> BodyMotion {
    let bodies = &snapshot.world.bodies;
    let mut numbers = [f64::NAN; 13];
    // Ranks that do not have the grain know no numbers.
    if let Some(i) = counted(snapshot, body) {
        let vectors = [bodies.position[i], bodies.velocity[i], bodies.angular_velocity[i]];
        numbers[..9].copy_from_slice(vectors.map(|vector| vector.to_array()).as_flattened());
        numbers[9..].copy_from_slice(&bodies.orientation[i].to_array());
    }
    snapshot.share.largest_each(&mut numbers);
    let vector = |first: usize| DVec3::from_slice(&numbers[first..]);
    BodyMotion {
        position: vector(0),
        velocity: vector(3),
        spin: vector(6),
        orientation: DVec4::from_slice(&numbers[9..]),
    }
}

/// Contact forces between two bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairForce {
    /// Sum of the normal forces \[N\].
    pub(super) normal: f64,
    /// Sum of the compatible normal forces \[N\]; not a number where the state has none.
    pub(super) compatible: f64,
    /// Magnitude of the sum of the friction forces \[N\].
    pub(super) friction: f64,
    /// Largest overlap \[m\].
    pub(super) overlap: f64,
}

/// Sums the contact forces between two bodies; zero where they do not touch, not a number where one of them is not there.
pub(super) fn pair_force(snapshot: &Snapshot, [a, b]: &[TrackedBody; 2]) -> PairForce {
    let share = &snapshot.share;
    let is_there = |body: &TrackedBody| share.total(usize::from(counted(snapshot, body).is_some())) > 0;
    if [a, b].map(is_there).contains(&false) {
        return PairForce { normal: f64::NAN, compatible: f64::NAN, friction: f64::NAN, overlap: f64::NAN };
    }
    let [a, b] = [a, b].map(|body| body.index(&snapshot.world).map(|i| i as u32));
    let (mut normal, mut friction, mut overlap) = (0.0, DVec3::ZERO, 0.0);
    let forces = snapshot.compatible().map(|compatible| &compatible.normal);
    let mut compatible = forces.map_or(f64::NAN, |_| 0.0);
    for (i, contact) in snapshot.counted_contacts().enumerate() {
        // The impulse acts on the first body of the contact.
        let side = match contact.bodies.map(Some) {
            bodies if bodies == [a, b] => 1.0,
            bodies if bodies == [b, a] => -1.0,
            _ => continue,
        };
        normal += contact.impulse.normal;
        compatible += forces.map_or(0.0, |forces| forces[i]);
        friction += side * contact.impulse.tangent;
        overlap = f64::max(overlap, -contact.gap);
    }
    let (normal, friction, overlap) = (share.sum(normal), share.sum(friction), share.largest(overlap));
    let [normal, friction] = [normal, friction.length()].map(|impulse| impulse / snapshot.substep);
    PairForce { normal, compatible, friction, overlap }
}

#[cfg(test)]
mod tests {
    use super::super::Observer;
    use super::super::test_worlds::{beside, stack};
    use super::*;

    fn floor() -> TrackedBody {
        TrackedBody::Boundary { body: 0, name: "floor".into() }
    }

    fn value(snapshot: &Snapshot, tracked: &Tracked, column: &str) -> f64 {
        let observer = Observer::new(&snapshot.world, None).with_tracked(tracked);
        observer.observe(snapshot).values[observer.find(column).expect("a column")]
    }

    #[test]
    fn position_velocity_and_spin_of_a_body_stand_under_its_name() {
        let tracked = Tracked { bodies: vec![TrackedBody::Grain(0), floor()], contacts: Vec::new() };
        let found = ["position_x:grain-0", "velocity_x:grain-0", "spin_y:grain-0", "position_x:floor"];
        assert_eq!(found.map(|column| value(&stack(), &tracked, column)), [0.3, 3.0, 4.0, -0.7]);
    }

    #[test]
    fn forces_of_a_contact_are_its_impulses_over_the_substep() {
        // Impulses on the grain: 0.9 N s normal, 0.45 N s tangential, in 0.005 s; overlap 0.05 m.
        let pair = [TrackedBody::Grain(0), floor()];
        let tracked = Tracked {
            bodies: Vec::new(),
            contacts: vec![pair, [TrackedBody::Grain(1), TrackedBody::Grain(0)]],
        };
        let of = |column: &str| value(&stack(), &tracked, column);
        approx::assert_relative_eq!(of("normal_force:0-floor"), 180.0, max_relative = 1e-12);
        approx::assert_relative_eq!(of("friction_force:0-floor"), 90.0, max_relative = 1e-12);
        approx::assert_relative_eq!(of("overlap:0-floor"), 0.05, max_relative = 1e-9);
        approx::assert_relative_eq!(of("normal_force:1-0"), 160.0, max_relative = 1e-12);
    }

    #[test]
    fn a_contact_that_is_not_there_carries_nothing_and_a_grain_that_is_not_there_has_no_value() {
        let grains = |a, b| [TrackedBody::Grain(a), TrackedBody::Grain(b)];
        let tracked =
            Tracked { bodies: vec![TrackedBody::Grain(2)], contacts: vec![grains(0, 1), grains(1, 2)] };
        let mut snapshot = beside();
        assert_eq!(value(&snapshot, &tracked, "overlap:0-1"), 0.0, "a gap is no overlap");
        snapshot.contacts.clear();
        assert_eq!(value(&snapshot, &tracked, "normal_force:0-1"), 0.0);
        assert!(value(&snapshot, &tracked, "normal_force:1-2").is_nan());
        assert!(value(&snapshot, &tracked, "position_x:grain-2").is_nan());
    }
}
