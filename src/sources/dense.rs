//! Dense random packings: balls that grow in a box, and are moved apart wherever they overlap.
//!
//! All balls begin small at random places and grow together, step by step, as in the scheme of Lubachevsky and Stillinger (1990), but
//! without collisions: after every step the energy Σ ½ overlap² is minimised (FIRE, Bitzek et al. 2006) until no overlap is left that
//! counts. A step at which this does not come to an end is taken back and halved. Equal balls without walls reach a solid fraction of 0.63,
//! close to random close packing; balls of several sizes are denser, and along walls they are looser.

use glam::{BVec3, DVec3};

use super::grid::SphereGrid;
use crate::model::{Periodic, Plane, Random};

/// Solid fraction at which balls begin to grow \[-\].
const FIRST: f64 = 0.25;
/// First growth of all radii in a step, and the least one, at which growth ends \[-\].
const GROWTH: [f64; 2] = [0.02, 1e-3];
/// Moves of all balls in a step, after which it is taken back.
const MOVES: usize = 1500;
/// Distance up to which pairs are listed, over the sum of their radii, less 1 \[-\].
const SKIN: f64 = 0.15;

/// Box that is filled, in a scene that may be periodic or plane.
#[derive(Debug, Clone, Copy)]
pub struct Vessel {
    /// Corner with the least coordinates \[m\].
    pub min: DVec3,
    /// Corner with the largest coordinates \[m\].
    pub max: DVec3,
    /// The periodic cell. Where the box spans a period, balls go through its faces.
    pub periodic: Periodic,
    /// Plane of the centres in a plane scene.
    pub plane: Option<Plane>,
}

/// Balls that were packed.
#[derive(Debug, Clone)]
pub struct DensePacking {
    /// Centres \[m\].
    pub centres: Vec<DVec3>,
    /// Radii that the balls reached, over those that they should have \[-\]; 1 if they have their size.
    pub growth: f64,
}

impl Vessel {
    /// Packs balls of these radii \[m\], which fill the part `solid` of the box, with overlaps of at most the part `overlap` of the smaller
    /// of two radii.
    pub fn pack(&self, balls: &[f64], solid: f64, overlap: f64, random: &mut Random) -> DensePacking {
        let dimensions = if self.plane.is_some() { 2.0 } else { 3.0 };
        let (mut growth, mut step) = ((FIRST / solid).powf(1.0 / dimensions).min(1.0), GROWTH[0]);
        let middle = self.min.midpoint(self.max);
        let place = |radius: &f64| {
            self.inside(middle + 0.5 * (self.max - self.min) * random.in_cube(1.0), growth * radius)
        };
        let start: Vec<DVec3> = balls.iter().map(place).collect();
        let Some(mut centres) = self.relaxed(&start, balls, growth, overlap) else {
            return DensePacking { centres: start, growth: 0.0 };
        };
        while growth < 1.0 && step >= GROWTH[1] {
            let next = (growth * (1.0 + step)).min(1.0);
            match self.relaxed(&centres, balls, next, overlap) {
                Some(moved) => (centres, growth) = (moved, next),
                None => step *= 0.5,
            }
        }
        let centres = centres.into_iter().map(|centre| self.periodic.wrap(centre)).collect();
        DensePacking { centres, growth }
    }

    /// Centres of balls that have grown and were moved apart \[m\]; `None` if overlaps are left.
    fn relaxed(&self, centres: &[DVec3], balls: &[f64], growth: f64, overlap: f64) -> Option<Vec<DVec3>> {
        let radii: Vec<f64> = balls.iter().map(|ball| growth * ball).collect();
        let mut centres = centres.to_vec();
        let mut list = PairList::new(&centres, &radii, self.periodic);
        let mut relaxation = Relaxation::new(balls.len());
        for _ in 0..MOVES {
            if list.is_old(&centres) {
                list = PairList::new(&centres, &radii, self.periodic);
            }
            let (pushes, deepest) = self.pushes(&list.pairs, &radii, &centres);
            if deepest <= overlap {
                return Some(centres);
            }
            relaxation.turn(&pushes);
            for ((centre, velocity), (push, &radius)) in
                centres.iter_mut().zip(&mut relaxation.velocities).zip(pushes.iter().zip(&radii))
            {
                *velocity += relaxation.step * *push;
                let to = *centre + relaxation.step * *velocity;
                *centre = self.inside(to, radius);
                // What a wall stops has no speed against it.
                *velocity = DVec3::select(centre.cmpne(to), DVec3::ZERO, *velocity);
            }
        }
        None
    }

    /// Sum of the overlaps of every ball, each along its normal \[m\], and the deepest overlap over the smaller radius \[-\].
    fn pushes(&self, pairs: &[[u32; 2]], radii: &[f64], centres: &[DVec3]) -> (Vec<DVec3>, f64) {
        let (mut pushes, mut deepest) = (vec![DVec3::ZERO; centres.len()], 0.0f64);
        for pair in pairs {
            let [a, b] = pair.map(|id| id as usize);
            let apart = self.periodic.separation(centres[b], centres[a]);
            let (reach, squared) = (radii[a] + radii[b], apart.length_squared());
            if squared >= reach * reach {
                continue;
            }
            let depth = reach - squared.sqrt();
            deepest = deepest.max(depth / radii[a].min(radii[b]));
            let push = depth * apart.try_normalize().unwrap_or(DVec3::X);
            pushes[a] += push;
            pushes[b] -= push;
        }
        (pushes, deepest)
    }

    /// Whether a ball of this radius \[m\] has room between the walls.
    pub fn holds(&self, radius: f64) -> bool {
        let has_room = (self.max - self.min).cmpge(DVec3::splat(2.0 * radius)) | self.is_open();
        (0..3).all(|axis| has_room.test(axis) || self.plane.is_some_and(|plane| plane.across() == axis))
    }

    /// Axes along which the box spans a period.
    fn is_open(&self) -> BVec3 {
        let period = self.periodic.length;
        period.cmpgt(DVec3::ZERO) & (self.max - self.min).cmpge(period * (1.0 - 1e-9))
    }

    /// Place of a ball within the box that is nearest to a place \[m\]; periodic faces are open.
    fn inside(&self, place: DVec3, radius: f64) -> DVec3 {
        let middle = self.min.midpoint(self.max);
        let clamped = place.clamp((self.min + radius).min(middle), (self.max - radius).max(middle));
        let place = DVec3::select(self.is_open(), place, clamped);
        self.plane.map_or(place, |plane| plane.onto(place))
    }
}

/// Relaxation by FIRE, with masses and stiffnesses of 1: velocities are turned towards the forces, and stopped where they go uphill.
struct Relaxation {
    /// Velocities \[m\].
    velocities: Vec<DVec3>,
    /// Time step \[-\].
    step: f64,
    /// Part of the velocities that is turned in a step \[-\].
    turned: f64,
    /// Steps downhill since the last one uphill.
    downhill: u32,
}

impl Relaxation {
    /// First and largest step, and the first part that is turned.
    const STEPS: [f64; 2] = [0.3, 0.6];
    const TURNED: f64 = 0.1;

    fn new(count: usize) -> Relaxation {
        let velocities = vec![DVec3::ZERO; count];
        Relaxation { velocities, step: Relaxation::STEPS[0], turned: Relaxation::TURNED, downhill: 0 }
    }

    /// Turns the velocities towards the forces, or stops all.
    fn turn(&mut self, forces: &[DVec3]) {
        let pairs = || forces.iter().zip(&self.velocities);
        let power: f64 = pairs().map(|(force, velocity)| force.dot(*velocity)).sum();
        if power <= 0.0 {
            let step = 0.5 * self.step;
            *self = Relaxation { step, ..Relaxation::new(forces.len()) };
            return;
        }
        let squares = pairs().fold([0.0, 0.0], |[forces, velocities], (force, velocity)| {
            [forces + force.length_squared(), velocities + velocity.length_squared()]
        });
        let along = self.turned * (squares[1] / squares[0]).sqrt();
        let kept = 1.0 - self.turned;
        for (velocity, force) in self.velocities.iter_mut().zip(forces) {
            *velocity = kept * *velocity + along * *force;
        }
        self.downhill += 1;
        if self.downhill > 5 {
            self.step = (1.1 * self.step).min(Relaxation::STEPS[1]);
            self.turned *= 0.99;
        }
    }
}

/// Pairs of balls that are near each other.
struct PairList {
    pairs: Vec<[u32; 2]>,
    /// Centres when they were listed \[m\].
    centres: Vec<DVec3>,
    /// Way of a ball after which the list is old \[m\].
    way: f64,
}

impl PairList {
    fn new(centres: &[DVec3], radii: &[f64], periodic: Periodic) -> PairList {
        let mut grid = SphereGrid::new(periodic);
        centres.iter().zip(radii).for_each(|(&centre, &radius)| grid.insert(centre, (1.0 + SKIN) * radius));
        let mut pairs = Vec::new();
        for a in 0..centres.len() as u32 {
            grid.visit_pairs(a, |b| {
                let [one, other] = [a, b].map(|id| id as usize);
                let apart = periodic.separation(centres[one], centres[other]).length();
                pairs.extend((apart < (1.0 + SKIN) * (radii[one] + radii[other])).then_some([a, b]));
                true
            });
        }
        let least = radii.iter().copied().fold(f64::INFINITY, f64::min);
        PairList { pairs, centres: centres.to_vec(), way: SKIN * least }
    }

    fn is_old(&self, centres: &[DVec3]) -> bool {
        centres.iter().zip(&self.centres).any(|(now, then)| now.distance(*then) > self.way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plane::grain_volume;
    use crate::model::random::Stream;

    /// Packs `count` balls, the largest `ratio` times the smallest, in a unit box at a solid fraction; returns their radii, too.
    fn packed(vessel: &Vessel, count: u32, ratio: f64, solid: f64) -> (DensePacking, Vec<f64>) {
        let mut random = Random::new(1, Stream::Grains(0));
        let sizes: Vec<f64> = (0..count).map(|_| random.between(1.0, ratio)).collect();
        let volume: f64 = sizes.iter().map(|&size| grain_volume(vessel.plane, size)).sum();
        let dimensions = if vessel.plane.is_some() { 2.0 } else { 3.0 };
        let factor = (solid / volume).powf(1.0 / dimensions);
        let balls: Vec<f64> = sizes.iter().map(|size| factor * size).collect();
        (vessel.pack(&balls, solid, 1e-3, &mut random), balls)
    }

    /// Deepest overlap of all pairs, over the smaller radius.
    fn deepest(vessel: &Vessel, centres: &[DVec3], balls: &[f64]) -> f64 {
        let pairs = (0..balls.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let share = |(a, b): (usize, usize)| {
            let distance = vessel.periodic.separation(centres[a], centres[b]).length();
            (balls[a] + balls[b] - distance) / balls[a].min(balls[b])
        };
        pairs.map(share).fold(f64::NEG_INFINITY, f64::max)
    }

    const CELL: Periodic = Periodic { min: DVec3::ZERO, length: DVec3::ONE, ..Periodic::NONE };
    const OPEN: Periodic = Periodic::NONE;

    #[test]
    fn balls_fill_a_box_with_walls_or_periodic_faces_as_densely_as_asked_and_hardly_overlap() {
        let plane = Some(Plane::Xy);
        for (periodic, plane, ratio, solid) in [
            (CELL, None, 1.0, 0.58),
            (CELL, None, 2.0, 0.6),
            (OPEN, None, 1.0, 0.48),
            (OPEN, plane, 1.5, 0.76),
        ] {
            let vessel = Vessel { min: DVec3::ZERO, max: DVec3::ONE, periodic, plane };
            let (packing, balls) = packed(&vessel, 150, ratio, solid);
            assert_eq!(packing.growth, 1.0, "{periodic:?} {plane:?} {solid}");
            let overlap = deepest(&vessel, &packing.centres, &balls);
            // Some touch, or nothing was packed.
            assert!((0.0..=1e-3).contains(&overlap), "{overlap:e} of the smaller radius");
            let is_within = |(centre, radius): (&DVec3, &f64)| {
                let inside = centre.cmpge(DVec3::splat(*radius)) & centre.cmple(DVec3::splat(1.0 - radius));
                (0..3).all(|axis| inside.test(axis) || !periodic.is_none() || plane.is_some() && axis == 2)
            };
            assert!(packing.centres.iter().zip(&balls).all(is_within), "beyond a wall");
            assert!(plane.is_none() || packing.centres.iter().all(|centre| centre.z == 0.0));
        }
    }

    #[test]
    fn what_is_denser_than_any_packing_is_not_reached_and_what_was_reached_is_told() {
        let vessel = Vessel { min: DVec3::ZERO, max: DVec3::ONE, periodic: CELL, plane: None };
        let (packing, balls) = packed(&vessel, 60, 1.0, 0.8);
        // The densest lattice has π/√18.
        assert!(packing.growth < 1.0);
        let reached = 0.8 * packing.growth.powi(3);
        assert!((0.55..0.7405).contains(&reached), "{reached}");
        let grown: Vec<f64> = balls.iter().map(|ball| packing.growth * ball).collect();
        assert!(deepest(&vessel, &packing.centres, &grown) <= 1e-3, "the packing that was reached is one");
        assert!(deepest(&vessel, &packing.centres, &balls) > 0.01, "at full size it is none");
    }
}
