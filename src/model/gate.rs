//! Gates: planes and discs through which grains are counted, both ways, and residences: regions in which grains are timed. What an engine
//! finds in every substep are sums, one list for the whole world ([`World::counted`]): four numbers per gate, then those of each residence.

use std::ops::Range;

use glam::DVec3;

use super::{MaterialId, Periodic, Region, World};

/// A plane, or a disc of it, through which grains are counted both ways.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Gate {
    /// Name, for results and messages.
    pub name: String,
    /// Point of the plane; centre of the disc \[m\].
    pub point: DVec3,
    /// Unit normal: forwards.
    pub normal: DVec3,
    /// Radius of the disc \[m\]; `None`: the whole plane.
    pub radius: Option<f64>,
    /// Material whose grains count; `None`: all grains count.
    pub material: Option<MaterialId>,
}

/// Way through a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passage {
    /// Along the normal.
    Forwards,
    /// Against the normal.
    Backwards,
}

/// Grains that went through a gate since the start, as often as they did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossed {
    /// Number along the normal, and against it \[-\].
    pub grains: [f64; 2],
    /// Mass along the normal, and against it \[kg\].
    pub mass: [f64; 2],
}

/// A region in which every grain is timed, from when it comes in until it leaves.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Residence {
    /// Name, for results and messages.
    pub name: String,
    /// Region. A grain is in it where its centre is.
    pub region: Region,
    /// Material whose grains count; `None`: all grains count.
    pub material: Option<MaterialId>,
    /// Bounds of the classes of residence times \[s\], ascending; each class begins at a bound, which belongs to it.
    pub bounds: Vec<f64>,
}

/// Grains that left a residence since the start, as often as they did.
#[derive(Debug, Clone, PartialEq)]
pub struct Left<'a> {
    /// Number \[-\].
    pub grains: f64,
    /// Mass \[kg\].
    pub mass: f64,
    /// Sum of their residence times \[s\].
    pub time: f64,
    /// Sum of the squares of their residence times \[s²\].
    pub time_squared: f64,
    /// Number in each class of residence times \[-\].
    pub classes: &'a [f64],
}

/// Straight way of a grain in a substep.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// Centre where it begins \[m\].
    pub centre: DVec3,
    /// Displacement \[m\].
    pub way: DVec3,
    /// Time at which it begins \[s\].
    pub begins: f64,
    /// Time that it takes \[s\].
    pub takes: f64,
}

/// Time of arrival of a grain that is not in a residence \[s\].
pub const OUTSIDE: f64 = f64::INFINITY;
/// Sums of a gate: number and mass forwards, number and mass backwards.
const OF_GATE: usize = 4;
/// Sums of a residence before its classes: number, mass, time, square of the time.
const OF_RESIDENCE: usize = 4;

impl Way {
    /// Images of both ends that are nearest to a point, of which each may be that of another period.
    fn ends_near(&self, periodic: &Periodic, point: DVec3) -> [DVec3; 2] {
        // Computed as the positions of grains are, so that it is where the next substep begins.
        let end = periodic.wrap(self.centre + self.way);
        [periodic.image(self.centre, point), periodic.image(end, point)]
    }
}

impl Gate {
    /// How a grain goes through on a straight way in a substep; `None` if it does not. It goes through where the two ends of its way lie on
    /// different sides, the plane itself being part of the side in front, and through a disc if it meets the plane within the radius.
    pub fn passage(&self, periodic: &Periodic, moved: &Way) -> Option<Passage> {
        let [start, end] = moved.ends_near(periodic, self.point);
        let apart = end - start - moved.way;
        if periodic.shortest(apart) == apart {
            return self.between(start, end);
        }
        // The images of the two ends are of different periods.
        self.between(start, start + moved.way).or_else(|| self.between(end - moved.way, end))
    }

    fn between(&self, start: DVec3, end: DVec3) -> Option<Passage> {
        let [before, after] = [start, end].map(|place| (place - self.point).dot(self.normal));
        let passage = match [before >= 0.0, after >= 0.0] {
            [false, true] => Passage::Forwards,
            [true, false] => Passage::Backwards,
            _ => return None,
        };
        let meets = start + before / (before - after) * (end - start);
        let is_within = |radius: f64| meets.distance_squared(self.point) <= radius * radius;
        self.radius.is_none_or(is_within).then_some(passage)
    }

    /// Adds a grain of this mass \[kg\] that went through to the sums of the gate.
    pub fn add(passage: Passage, mass: f64, sums: &mut [f64]) {
        let first = if passage == Passage::Forwards { 0 } else { 2 };
        sums[first] += 1.0;
        sums[first + 1] += mass;
    }
}

impl Residence {
    /// Number of classes of residence times: below the first bound, between bounds, and from the last bound on; none without bounds.
    pub fn classes(&self) -> usize {
        if self.bounds.is_empty() { 0 } else { self.bounds.len() + 1 }
    }

    /// Follows a grain on its way in a substep: it `came` at a time \[s\] or is [`OUTSIDE`]. Returns when it came if it is inside at the
    /// end of the way, else [`OUTSIDE`]; and its residence time \[s\] if it left, or led through. A grain that begins inside without
    /// having come was placed or emitted there, and is timed from the beginning of this way on.
    pub fn follow(&self, periodic: &Periodic, moved: &Way, came: f64) -> (f64, Option<f64>) {
        let [start, end] = moved.ends_near(periodic, self.region.centre());
        let is_inside = |place: DVec3| self.region.contains(place, 0.0, 0.0);
        let at = |share: f64| moved.begins + share.clamp(0.0, 1.0) * moved.takes;
        let was_inside = came < OUTSIDE || is_inside(start);
        let came = if came < OUTSIDE { came } else { moved.begins };
        match (was_inside, is_inside(end)) {
            (true, true) => (came, None),
            (true, false) => {
                let leaves = self.inside(start, moved.way).map_or(0.0, |[_, until]| until);
                (OUTSIDE, Some(at(leaves) - came))
            }
            (false, true) => (
                self.inside(end - moved.way, moved.way)
                    .map_or(moved.begins + moved.takes, |[from, _]| at(from)),
                None,
            ),
            (false, false) => {
                let is_passed = |[from, until]: &[f64; 2]| *from > 0.0 && *until < 1.0;
                let of = |start: DVec3| self.inside(start, moved.way).filter(is_passed);
                let passed = of(start).or_else(|| of(end - moved.way));
                (OUTSIDE, passed.map(|[from, until]| (until - from) * moved.takes))
            }
        }
    }

    /// Part of a straight way inside the region, as shares of the way from 0 to 1.
    fn inside(&self, start: DVec3, way: DVec3) -> Option<[f64; 2]> {
        let (origin, orientation, form) = self.region.solid();
        let turn = orientation.conjugate();
        form.passage(turn * (start - origin), turn * way)
    }

    /// Adds a grain of this mass \[kg\] that left after a residence time \[s\] to the sums of the residence.
    pub fn add(&self, time: f64, mass: f64, sums: &mut [f64]) {
        for (sum, more) in sums.iter_mut().zip([1.0, mass, time, time * time]) {
            *sum += more;
        }
        if !self.bounds.is_empty() {
            sums[OF_RESIDENCE + self.bounds.partition_point(|&bound| bound <= time)] += 1.0;
        }
    }
}

impl World {
    /// Number of all sums of gates and residences.
    pub fn counted_numbers(&self) -> usize {
        OF_GATE * self.gates.len()
            + self.residences.iter().map(|residence| OF_RESIDENCE + residence.classes()).sum::<usize>()
    }

    /// Places of the sums of a gate among all.
    pub fn sums_of_gate(&self, gate: usize) -> Range<usize> {
        OF_GATE * gate..OF_GATE * (gate + 1)
    }

    /// Places of the sums of a residence among all.
    pub fn sums_of_residence(&self, residence: usize) -> Range<usize> {
        let before =
            self.residences[..residence].iter().map(|other| OF_RESIDENCE + other.classes()).sum::<usize>();
        let first = OF_GATE * self.gates.len() + before;
        first..first + OF_RESIDENCE + self.residences[residence].classes()
    }

    /// Makes room for the sums of the gates and residences, and for the arrivals of the grains, if there is none yet.
    pub fn prepare_counts(&mut self) {
        self.counted.resize(self.counted_numbers(), 0.0);
        self.arrivals.resize(self.residences.len() * self.grain_count(), OUTSIDE);
    }

    /// Grains that went through a gate.
    pub fn passed(&self, gate: usize) -> Crossed {
        match self.counted.get(self.sums_of_gate(gate)) {
            Some(&[forwards, mass_forwards, backwards, mass_backwards]) => {
                Crossed { grains: [forwards, backwards], mass: [mass_forwards, mass_backwards] }
            }
            _ => Crossed { grains: [f64::NAN; 2], mass: [f64::NAN; 2] },
        }
    }

    /// Grains that left a residence.
    pub fn left(&self, residence: usize) -> Left<'_> {
        match self.counted.get(self.sums_of_residence(residence)) {
            Some([grains, mass, time, time_squared, classes @ ..]) => {
                Left { grains: *grains, mass: *mass, time: *time, time_squared: *time_squared, classes }
            }
            _ => Left {
                grains: f64::NAN,
                mass: f64::NAN,
                time: f64::NAN,
                time_squared: f64::NAN,
                classes: &[],
            },
        }
    }

    /// When a grain came into each residence \[s\]; [`OUTSIDE`] where it is not inside.
    pub fn arrivals_of(&self, grain: usize) -> &[f64] {
        let count = self.residences.len();
        self.arrivals.get(count * grain..count * (grain + 1)).unwrap_or(&[])
    }

    /// Ends the stay of a grain in all residences at a time \[s\]: it was removed. Its stays count where `counts` says.
    pub fn end_stays(&mut self, grain: usize, time: f64, counts: bool) {
        let mass = self.grain_mass(grain);
        for residence in 0..self.arrivals_of(grain).len() {
            let place = self.residences.len() * grain + residence;
            let came = std::mem::replace(&mut self.arrivals[place], OUTSIDE);
            if came < OUTSIDE && counts {
                let sums = self.sums_of_residence(residence);
                self.residences[residence].add(time - came, mass, &mut self.counted[sums]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(radius: Option<f64>) -> Gate {
        Gate { name: "throat".into(), point: DVec3::ZERO, normal: DVec3::Z, radius, material: None }
    }

    fn way(from: [f64; 3], to: [f64; 3]) -> Way {
        let [centre, end] = [from, to].map(DVec3::from);
        Way { centre, way: end - centre, begins: 2.0, takes: 0.5 }
    }

    #[test]
    fn a_way_passes_where_its_ends_lie_on_two_sides_and_the_plane_belongs_to_the_front() {
        let alone = Periodic::default();
        let of = |from: f64, to: f64| gate(None).passage(&alone, &way([5.0, 0.0, from], [6.0, 1.0, to]));
        assert_eq!([of(-1.0, 1.0), of(1.0, -1.0)], [Some(Passage::Forwards), Some(Passage::Backwards)]);
        assert_eq!([of(-1.0, 0.0), of(0.0, -1.0)], [Some(Passage::Forwards), Some(Passage::Backwards)]);
        assert_eq!([of(0.0, 1.0), of(1.0, 0.0), of(-1.0, -1e-9), of(0.0, 0.0)], [None; 4]);
    }

    #[test]
    fn a_disc_is_passed_where_the_way_meets_its_plane_within_the_radius() {
        let alone = Periodic::default();
        let of = |x: f64| gate(Some(0.5)).passage(&alone, &way([x - 1.0, 0.0, -1.0], [x + 3.0, 0.0, 3.0]));
        // The way meets the plane at x, a quarter of it from its beginning.
        assert_eq!([of(0.49), of(-0.49)], [Some(Passage::Forwards); 2]);
        assert_eq!([of(0.51), of(-0.51)], [None; 2]);
    }

    #[test]
    fn a_plane_at_a_periodic_face_is_passed_once_per_round() {
        let periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(0.0, 0.0, 1.0), ..Periodic::NONE };
        let of = |at: f64, from: f64, to: f64| {
            let gate = Gate { point: at * DVec3::Z, ..gate(None) };
            gate.passage(&periodic, &way([0.0, 0.0, from], [0.0, 0.0, to]))
        };
        assert_eq!([of(0.0, 0.9, 1.1), of(1.0, 0.9, 1.1)], [Some(Passage::Forwards); 2]);
        assert_eq!([of(0.0, 0.1, -0.1), of(1.0, 0.1, -0.1)], [Some(Passage::Backwards); 2]);
        assert_eq!(
            [of(0.5, 0.9, 1.1), of(0.0, 0.4, 0.6), of(0.0, 0.9, 0.95)],
            [None; 3],
            "half a period away"
        );
        assert_eq!(
            of(0.2, 0.6, 1.3),
            Some(Passage::Forwards),
            "the nearest images of both ends are of two periods"
        );
    }

    fn tube(bounds: &[f64]) -> Residence {
        let region = Region::Box { min: DVec3::new(-1.0, -1.0, 0.0), max: DVec3::new(1.0, 1.0, 1.0) };
        Residence { name: "tube".into(), region, material: None, bounds: bounds.to_vec() }
    }

    #[test]
    fn a_stay_lasts_from_the_face_where_a_grain_comes_in_to_that_where_it_leaves() {
        let alone = Periodic::default();
        let follow = |from: f64, to: f64, came: f64| {
            tube(&[]).follow(&alone, &way([0.0, 0.0, from], [0.0, 0.0, to]), came)
        };
        // The way takes half a second from 2 s on.
        assert_eq!(follow(-1.0, 1.0 / 3.0, OUTSIDE), (2.375, None), "three quarters of the way are outside");
        assert_eq!(follow(0.25, 0.75, 1.5), (1.5, None), "it stays");
        assert_eq!(follow(0.25, 0.75, OUTSIDE), (2.0, None), "it was placed there");
        assert_eq!(follow(0.5, 2.5, 1.5), (OUTSIDE, Some(0.625)), "a quarter of the way is inside");
        assert_eq!(follow(-1.0, 3.0, OUTSIDE), (OUTSIDE, Some(0.125)), "a quarter of the way leads through");
        assert_eq!(follow(-1.0, -0.5, OUTSIDE), (OUTSIDE, None));
        assert_eq!(follow(1.5, 2.0, OUTSIDE), (OUTSIDE, None));
    }

    #[test]
    fn stays_are_summed_and_sorted_into_classes_that_begin_at_their_bounds() {
        let mut world = World {
            gates: vec![gate(None)],
            residences: vec![tube(&[]), tube(&[1.0, 2.0])],
            ..World::default()
        };
        world.prepare_counts();
        assert_eq!((world.counted.len(), world.sums_of_residence(1)), (4 + 4 + 7, 8..15));
        for time in [0.5, 1.0, 1.5, 2.0, 7.0] {
            let sums = world.sums_of_residence(1);
            tube(&[1.0, 2.0]).add(time, 3.0, &mut world.counted[sums]);
        }
        let left = world.left(1);
        assert_eq!((left.grains, left.mass, left.time, left.time_squared), (5.0, 15.0, 12.0, 56.5));
        assert_eq!(left.classes, [1.0, 2.0, 2.0]);
        assert_eq!(world.left(0).grains, 0.0, "the other has none");
        let sums = world.sums_of_gate(0);
        Gate::add(Passage::Backwards, 3.0, &mut world.counted[sums]);
        assert_eq!(world.passed(0), Crossed { grains: [0.0, 1.0], mass: [0.0, 3.0] });
        world.counted.clear();
        assert!(world.passed(0).grains[0].is_nan() && world.left(1).mass.is_nan());
    }
}
