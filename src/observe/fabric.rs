//! Fabric of a packing: directions of the contacts, by number and by normal force, and distribution of the normal forces.

use glam::DMat3;

use crate::contact::ContactState;
use crate::engine::Snapshot;
use crate::engine::share::Share;
use crate::model::{Plane, outer};

/// Plan by which the fabric is observed.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct FabricPlan {
    /// Plane in which directions are counted, and whose anisotropy is computed.
    pub plane: Plane,
    /// Number of classes of directions between 0° and 180° \[-\].
    pub bins: usize,
}

/// Number of classes of normal forces, and the upper end of the last \[mean normal force\]; larger forces count in the last class.
pub const FORCE_BINS: (usize, f64) = (80, 8.0);

/// Fabric of a state, over the contacts that carry a force.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Fabric {
    /// Fabric tensor ⟨n nᵀ⟩, every contact counting alike \[-\]; not a number without contacts.
    pub by_number: DMat3,
    /// Fabric tensor with every contact weighted by its normal force \[-\].
    pub by_force: DMat3,
    /// Sixfold order: mean of cos 6θ over the contacts, θ from the first axis of the plane \[-\]. It is 1 where all normals point at 0°,
    /// 60° or 120°, as in a triangular lattice on a floor, -1 halfway between, and 0 where all directions are equally frequent.
    pub sixfold: f64,
    /// Number of contacts in each class of directions.
    pub contacts: Vec<u64>,
    /// Share of the sum of the normal forces in each class of directions \[-\].
    pub forces: Vec<f64>,
    /// Number of contacts in each class of normal forces.
    pub sizes: Vec<u64>,
}

impl Fabric {
    /// Computes the fabric of a state.
    pub fn of(snapshot: &Snapshot, plan: &FabricPlan) -> Fabric {
        let (share, carrying) =
            (&snapshot.share, snapshot.counted_contacts().filter(|contact| contact.is_active()));
        let count = share.total(carrying.clone().count()) as f64;
        // Cohesion makes some normal forces negative: their magnitude counts.
        let total = share.sum(carrying.clone().map(|contact| contact.impulse.normal.abs()).sum::<f64>());
        let (bins, most) = FORCE_BINS;
        let mut fabric = Fabric {
            by_number: DMat3::ZERO,
            by_force: DMat3::ZERO,
            sixfold: 0.0,
            contacts: vec![0; plan.bins],
            forces: vec![0.0; plan.bins],
            sizes: vec![0; bins],
        };
        for contact in carrying {
            let part = contact.impulse.normal.abs() / total;
            let tensor = outer(contact.normal, contact.normal);
            fabric.by_number += tensor / count;
            fabric.by_force += part * tensor;
            let class = (part * count / most * bins as f64) as usize;
            fabric.sizes[class.min(bins - 1)] += 1;
            if let Some(angle) = plan.angle(contact) {
                let bin = plan.bin(angle);
                fabric.contacts[bin] += 1;
                fabric.forces[bin] += part;
                fabric.sixfold += (6.0 * angle).cos();
            }
        }
        fabric.join(share);
        fabric.sixfold /= fabric.contacts.iter().sum::<u64>() as f64;
        if count == 0.0 {
            (fabric.by_number, fabric.by_force) = (DMat3::NAN, DMat3::NAN);
        }
        fabric
    }

    /// Sums what each rank found.
    fn join(&mut self, share: &Share) {
        (self.by_number, self.by_force) = (share.sum(self.by_number), share.sum(self.by_force));
        self.sixfold = share.sum(self.sixfold);
        share.sum_each(&mut self.forces);
        for counts in [&mut self.contacts, &mut self.sizes] {
            let mut numbers: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
            share.sum_each(&mut numbers);
            *counts = numbers.into_iter().map(|number| number as u64).collect();
        }
    }

    /// Anisotropy 2 (F₁ - F₂), with F₁ and F₂ the principal values of the part of a tensor that lies in a plane \[-\]: 0 where all
    /// directions are alike, 2 where all normals have one direction.
    pub fn anisotropy(tensor: &DMat3, plane: Plane) -> f64 {
        let [i, j] = plane.axes();
        let (along, across, mixed) = (tensor.col(i)[i], tensor.col(j)[j], tensor.col(i)[j]);
        2.0 * ((along - across) * (along - across) + 4.0 * mixed * mixed).sqrt()
    }
}

impl FabricPlan {
    /// Lower and upper bound of a class of directions \[deg\]. The first class is centred at 0°, a common direction of wall normals.
    pub fn bounds(&self, bin: usize) -> [f64; 2] {
        [-0.5, 0.5].map(|edge| 180.0 * (bin as f64 + edge) / self.bins as f64)
    }

    /// Angle from the first axis of the plane to the normal of a contact \[rad\]; `None` for a normal across the plane.
    fn angle(&self, contact: &ContactState) -> Option<f64> {
        let [i, j] = self.plane.axes();
        let (x, y) = (contact.normal[i], contact.normal[j]);
        (x.hypot(y) > 1e-9).then(|| y.atan2(x))
    }

    /// Class of an angle \[rad\]. A normal and its reverse are one direction.
    fn bin(&self, angle: f64) -> usize {
        let share = angle.to_degrees().rem_euclid(180.0) / 180.0;
        (share * self.bins as f64 + 0.5) as usize % self.bins
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::test_worlds::{empty, stack};
    use super::*;

    const PLAN: FabricPlan = FabricPlan { plane: Plane::Xz, bins: 36 };

    /// A state whose contacts have normals at these angles \[deg\] in the plane x, z, and carry these normal impulses.
    fn state(contacts: &[(f64, f64)]) -> Snapshot {
        let mut state = stack();
        let first = state.contacts[0];
        state.contacts.clear();
        for (angle, normal) in contacts {
            let (sin, cos) = angle.to_radians().sin_cos();
            let mut contact = ContactState { normal: DVec3::new(cos, 0.0, sin), ..first };
            contact.impulse.normal = *normal;
            state.contacts.push(contact);
        }
        state
    }

    #[test]
    fn directions_count_by_number_and_by_force() {
        let fabric = Fabric::of(&state(&[(2.0, 1.0), (178.0, 1.0), (91.0, 2.0), (40.0, 0.0)]), &PLAN);
        assert_eq!((fabric.contacts[0], fabric.contacts[18], fabric.contacts.iter().sum::<u64>()), (2, 1, 3));
        assert_eq!((fabric.forces[0], fabric.forces[18]), (0.5, 0.5));
        assert!((fabric.by_number.col(0)[0] + fabric.by_number.col(2)[2] - 1.0).abs() < 1e-15);
        // Two of three contacts are horizontal, one is vertical; each direction carries half of the force.
        let [number, force] =
            [&fabric.by_number, &fabric.by_force].map(|tensor| Fabric::anisotropy(tensor, Plane::Xz));
        assert!((number - 2.0 / 3.0).abs() < 0.01 && force < 0.05, "{number}, {force}");
        assert_eq!((fabric.sizes[7], fabric.sizes[15]), (2, 1), "0.75 and 1.5 mean forces");
    }

    #[test]
    fn one_direction_is_as_uneven_as_can_be_and_all_are_not() {
        let of = |contacts: &[(f64, f64)]| {
            Fabric::anisotropy(&Fabric::of(&state(contacts), &PLAN).by_number, Plane::Xz)
        };
        assert!((of(&[(30.0, 1.0), (210.0, 3.0)]) - 2.0).abs() < 1e-12);
        assert!(of(&[(0.0, 1.0), (60.0, 1.0), (120.0, 1.0)]) < 1e-12);
    }

    #[test]
    fn a_triangular_lattice_has_an_order_of_six() {
        let of = |angles: &[f64]| {
            let contacts: Vec<_> = angles.iter().map(|angle| (*angle, 1.0)).collect();
            Fabric::of(&state(&contacts), &PLAN).sixfold
        };
        assert!((of(&[0.0, 60.0, 120.0, 180.0]) - 1.0).abs() < 1e-12);
        assert!((of(&[30.0, 90.0, 150.0]) + 1.0).abs() < 1e-12);
        let all: Vec<f64> = (0..180).map(f64::from).collect();
        assert!(of(&all).abs() < 1e-12);
    }

    #[test]
    fn without_contacts_there_is_no_fabric() {
        let fabric = Fabric::of(&empty(), &PLAN);
        assert!(
            fabric.by_number.is_nan()
                && fabric.sixfold.is_nan()
                && fabric.contacts.iter().all(|count| *count == 0)
        );
    }
}
