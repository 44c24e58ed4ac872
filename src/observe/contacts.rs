//! Quantities of the contact network: overlaps, touching and sliding contacts, coordination numbers.

use crate::contact::ContactState;
use crate::engine::{Snapshot, Spread};
use crate::model::plane::grain_volume;
use crate::model::solids::shape_id;

/// Mean and largest overlap over the mean radius of the pair, over all contacts that overlap \[-\]; 0 without any. Against a boundary the
/// radius is the grain's own, or that of a vertex.
pub fn overlap(snapshot: &Snapshot) -> Spread {
    let overlaps = snapshot.counted_contacts().filter(|contact| contact.gap < 0.0);
    let relative = overlaps.map(|contact| -contact.gap / mean_radius(snapshot, contact));
    let (count, sum, max) = relative.fold((0.0, 0.0, 0.0), |(count, sum, max), overlap| {
        (count + 1.0, sum + overlap, f64::max(max, overlap))
    });
    let [count, sum] = snapshot.share.sum([count, sum]);
    Spread { mean: sum / count.max(1.0), max: snapshot.share.largest(max) }
}

/// Volume that pairs of grains have in common over the volume of all grains \[-\]; 0 without grains. Spheres of one grain count as often as
/// they overlap spheres of another.
pub fn overlap_volume(snapshot: &Snapshot) -> f64 {
    let world = &snapshot.world;
    let of_grains = |contact: &ContactState| {
        let [a, b] = [contact.key.a, shape_id(contact.key.b)];
        let both = world.sphere_of(a).zip(world.sphere_of(b));
        both.map(|_| ((a, b), -contact.gap))
    };
    let overlapping = snapshot.counted_contacts().filter(|contact| contact.gap < 0.0);
    // A pair of polyhedra has several contacts: the deepest ones come first.
    let mut pairs: Vec<((u32, u32), f64)> = overlapping.filter_map(of_grains).collect();
    pairs.sort_unstable_by(|one, other| one.0.cmp(&other.0).then(other.1.total_cmp(&one.1)));
    pairs.dedup_by_key(|(pair, _)| *pair);
    let volume = |((a, b), depth): ((u32, u32), f64)| {
        let both = world.sphere_of(a).zip(world.sphere_of(b));
        both.map_or(0.0, |(a, b)| world.common_volume(a, b, depth))
    };
    let common: f64 = pairs.into_iter().map(volume).sum();
    let grains = snapshot.present_grains().map(|grain| grain_volume(world.plane, world.grain_radius(grain)));
    let [common, all] = snapshot.share.sum([common, grains.sum::<f64>()]);
    if all > 0.0 { common / all } else { 0.0 }
}

/// Number of contacts, touching or not.
pub fn count(snapshot: &Snapshot) -> f64 {
    snapshot.share.total(snapshot.counted_contacts().count()) as f64
}

/// Number of contacts that touch: contacts that overlap or carry a force. The gap alone would not do: a contact that the solver closes
/// within a step ends at a gap of zero give or take a rounding error.
pub fn touching(snapshot: &Snapshot) -> f64 {
    snapshot.share.total(snapshot.counted_contacts().filter(|contact| touches(contact)).count()) as f64
}

/// Sliding share: of the contacts that carry a force, the share whose friction is at its bound \[-\]; 0 without any.
pub fn sliding_share(snapshot: &Snapshot) -> f64 {
    let active = snapshot.counted_contacts().filter(|contact| contact.is_active());
    let sliding = active.clone().filter(|contact| contact.is_sliding());
    share_of(snapshot, sliding.count(), active.count())
}

/// Coordination number: mean number of touching contacts per grain, contacts with boundaries included \[-\]; 0 without grains.
pub fn coordination_number(snapshot: &Snapshot) -> f64 {
    mean(snapshot, of_present(snapshot))
}

/// Mechanical coordination number of Thornton 2000: the mean over grains with two touching contacts or more \[-\]; 0 when there are none.
pub fn coordination_number_without_rattlers(snapshot: &Snapshot) -> f64 {
    mean(snapshot, of_present(snapshot).filter(|&contacts| contacts >= 2))
}

/// Number of touching contacts of every present grain that this process counts.
fn of_present(snapshot: &Snapshot) -> impl Iterator<Item = u32> + '_ {
    let counts = coordination(snapshot);
    snapshot.present_grains().map(move |grain| counts[grain])
}

/// Number of grains and surfaces that each grain touches. Several contacts of a clump with one partner count once; a removed grain has
/// none.
pub fn coordination(snapshot: &Snapshot) -> Vec<u32> {
    let world = &snapshot.world;
    let mut counts = vec![0; world.grain_count()];
    let touching = snapshot.contacts.iter().filter(|contact| touches(contact));
    // Surfaces of one body are different partners; spheres of one clump are the same partner.
    let partner = |shape: u32| match world.grain_of_shape(shape) {
        Some(grain) => (true, grain as u32),
        None => (false, shape_id(shape)),
    };
    let mut pairs: Vec<_> = touching.map(|contact| [contact.key.a, contact.key.b].map(partner)).collect();
    if !world.clumps.is_empty() {
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
        pairs.dedup();
    }
    for (_, grain) in pairs.into_iter().flatten().filter(|(is_grain, _)| *is_grain) {
        counts[grain as usize] += 1;
    }
    counts
}

fn touches(contact: &ContactState) -> bool {
    contact.gap <= 0.0 || contact.is_active()
}

fn mean_radius(snapshot: &Snapshot, contact: &ContactState) -> f64 {
    let radius = |shape| snapshot.world.sphere_of(shape).map(|sphere| sphere.radius);
    let a = snapshot.world.contact_radius(contact.key.a);
    0.5 * (a + radius(contact.key.b).unwrap_or(a))
}

/// Radius of the smaller of the two partners of a contact \[m\], to which overlaps are compared: against a boundary that of the grain or
/// vertex.
pub(super) fn smaller_radius(snapshot: &Snapshot, contact: &ContactState) -> f64 {
    let [a, b] = [contact.key.a, shape_id(contact.key.b)].map(|shape| snapshot.world.contact_radius(shape));
    if b > 0.0 { a.min(b) } else { a }
}

/// Volume that the two grains of a contact have in common, over that of the smaller one \[-\]; `None` for other contacts.
pub(super) fn common_share(snapshot: &Snapshot, contact: &ContactState) -> Option<f64> {
    let world = &snapshot.world;
    let shapes = [contact.key.a, shape_id(contact.key.b)];
    let [a, b] = [world.sphere_of(shapes[0])?, world.sphere_of(shapes[1])?];
    let volume = |shape: u32| {
        let grain = world.grain_of_shape(shape)?;
        Some(grain_volume(world.plane, world.grain_radius(grain)))
    };
    Some(world.common_volume(a, b, -contact.gap) / volume(shapes[0])?.min(volume(shapes[1])?))
}

fn mean(snapshot: &Snapshot, counts: impl Iterator<Item = u32>) -> f64 {
    let (grains, contacts) =
        counts.fold((0, 0), |(grains, contacts), count| (grains + 1, contacts + count as usize));
    share_of(snapshot, contacts, grains)
}

/// Ratio of two counts over all ranks; 0 where both are.
fn share_of(snapshot: &Snapshot, part: usize, all: usize) -> f64 {
    let [part, all] = snapshot.share.sum([part, all].map(|count| count as f64));
    part / all.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{beside, empty, stack};
    use super::*;

    #[test]
    fn overlap_is_relative_to_the_grain_at_a_wall_and_to_the_mean_radius_of_a_pair() {
        // Floor: 0.05 m over 0.5 m. Pair: 0.05 m over 0.75 m.
        let overlap = overlap(&stack());
        approx::assert_relative_eq!(overlap.mean, 0.5 * (0.1 + 0.05 / 0.75), max_relative = 1e-9);
        approx::assert_relative_eq!(overlap.max, 0.1, max_relative = 1e-9);
    }

    #[test]
    fn a_gap_is_no_overlap() {
        assert_eq!(overlap(&beside()), Spread::default());
        assert_eq!(touching(&beside()), 0.0);
        assert_eq!(coordination_number(&beside()), 0.0);
        assert_eq!(beside().contacts.len(), 1, "yet it is listed");
    }

    #[test]
    fn a_contact_that_carries_a_force_touches_whatever_rounding_left_of_its_gap() {
        let mut snapshot = beside();
        snapshot.contacts[0].gap = 1e-17;
        assert_eq!(touching(&snapshot), 0.0);
        snapshot.contacts[0].impulse.normal = 0.1;
        assert_eq!(touching(&snapshot), 1.0);
    }

    #[test]
    fn a_contact_of_two_grains_counts_for_both() {
        // The lower grain touches the floor and the upper grain, the upper one only the lower.
        assert_eq!(coordination(&stack()), [2, 1]);
        assert_eq!(touching(&stack()), 2.0);
        assert_eq!(coordination_number(&stack()), 1.5);
    }

    #[test]
    fn a_grain_with_one_contact_is_a_rattler() {
        assert_eq!(coordination_number_without_rattlers(&stack()), 2.0);
        assert_eq!(coordination_number_without_rattlers(&beside()), 0.0);
    }

    #[test]
    fn sliding_is_counted_among_the_contacts_that_carry_a_force() {
        // The floor contact is at its bound, the other is not.
        assert_eq!(sliding_share(&stack()), 0.5);
        assert_eq!(sliding_share(&beside()), 0.0);
    }

    #[test]
    fn no_grains_have_no_contacts() {
        assert_eq!((coordination_number(&empty()), sliding_share(&empty())), (0.0, 0.0));
    }
}
