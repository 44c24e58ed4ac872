//! Emitters: sources of grains that appear in a region during a run.

use glam::DVec3;

use super::grid::SphereGrid;
use super::make::Make;
use super::radii::{Radii, RadiusDraw};
use crate::model::{Axes, Grain, MaterialId, Periodic, Plane, Random, Region};

/// Number of attempts to place a grain in a wave before the region counts as full.
const TRIES: usize = 500;

/// Properties of an emitter: kind of its grains, place and times.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Source {
    /// Name, for results and messages.
    pub name: String,
    /// Material of the grains.
    pub material: MaterialId,
    /// Kind of grain.
    pub make: Make,
    /// Size distribution.
    pub radii: Radii,
    /// Region in which grains appear.
    pub region: Region,
    /// Initial velocity of the grains \[m/s\].
    pub velocity: DVec3,
    /// Locked axes of the grains.
    pub locked: Axes,
    /// Plane of the grains, in a plane scene.
    pub plane: Option<Plane>,
    /// The periodic cell.
    pub periodic: Periodic,
    /// Times at which grains appear.
    pub schedule: Schedule,
}

impl Source {
    /// Draws a place for a ball of this radius \[m\] in a region.
    fn place(&self, region: &Region, ball: f64, random: &mut Random) -> DVec3 {
        let place = region.place(ball, random);
        self.plane.map_or(place, |plane| plane.onto(place))
    }
}

/// Schedule of an emitter: times of its waves, and numbers of grains.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Schedule {
    /// Grains per second \[1/s\]; `None`: all at once.
    pub rate: Option<f64>,
    /// Start time \[s\].
    pub start: f64,
    /// End time \[s\].
    pub stop: f64,
    /// Time between waves \[s\].
    pub interval: f64,
    /// Total number of grains.
    pub total: u64,
}

/// A source of grains during the run.
///
/// It works in waves: at [`Emitter::next_time`] the run calls [`Emitter::emit`], which places the grains that are due by then
/// (rate × time since the start) at random free places of the region. A grain without a free place stays due. Nothing is dropped
/// in silence: compare [`Emitter::requested`] with [`Emitter::placed`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Emitter {
    source: Source,
    sizes: RadiusDraw,
    placed: u64,
    /// Number of waves so far; the next one is number `waves`.
    waves: u64,
    /// Radius of the grain that found no place in the last wave \[m\]. It is placed first, or small grains would be preferred.
    waiting: Option<f64>,
    random: Random,
}

/// Number of grains due at a rate \[1/s\] after some time \[s\], with a tolerance so that rounding loses no grain.
pub fn due(rate: f64, elapsed: f64) -> u64 {
    (rate * elapsed + 1e-6).floor() as u64
}

impl Emitter {
    /// Makes an emitter before its first wave, with its own random numbers.
    pub fn new(source: Source, random: Random) -> Emitter {
        let sizes = RadiusDraw::new(source.radii.clone(), source.schedule.total);
        Emitter { source, sizes, placed: 0, waves: 0, waiting: None, random }
    }

    /// Name, for results and messages.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Time of the next wave \[s\]; `None` when there is none.
    pub fn next_time(&self) -> Option<f64> {
        // With a rate, no grain is due at the start itself.
        let first = if self.source.schedule.rate.is_some() { 1 } else { 0 };
        let time = self.source.schedule.start + (self.waves + first) as f64 * self.source.schedule.interval;
        (!self.is_done(time)).then_some(time)
    }

    /// Places the grains that are due at `time` \[s\] where they do not overlap the `existing` spheres (centre and radius \[m\];
    /// those far from the region may be left out). To be called at or after [`Emitter::next_time`].
    pub fn emit(&mut self, time: f64, existing: impl IntoIterator<Item = (DVec3, f64)>) -> Vec<Grain> {
        self.waves = self.waves_until(time);
        let due = if self.is_done(time) { 0 } else { self.requested(time) - self.placed };
        if due == 0 {
            return Vec::new();
        }
        let mut grid = SphereGrid::new(self.source.periodic);
        existing
            .into_iter()
            .filter(|&(centre, radius)| self.is_near(centre, radius))
            .for_each(|(centre, radius)| grid.insert(centre, radius));
        let mut grains = Vec::new();
        for _ in 0..due {
            let Some(grain) = self.place_one(&grid) else { break };
            grid.insert(grain.position, self.source.make.reach() * grain.radius);
            grains.push(grain);
        }
        self.placed += grains.len() as u64;
        grains
    }

    /// Number of the first wave after `time`.
    fn waves_until(&self, time: f64) -> u64 {
        let elapsed = ((time - self.source.schedule.start) / self.source.schedule.interval + 1e-9)
            .floor()
            .max(0.0) as u64;
        let first = if self.source.schedule.rate.is_some() { 0 } else { 1 };
        (elapsed + first).max(self.waves)
    }

    fn place_one(&mut self, grid: &SphereGrid) -> Option<Grain> {
        let radius = match self.waiting.take() {
            Some(radius) => radius,
            None => self.sizes.next(&mut self.random),
        };
        let ball = self.source.make.reach() * radius;
        let free = |&centre: &DVec3| !grid.is_blocked(centre, ball);
        let region = self.source.region.through_faces(&self.source.periodic, ball);
        let Some(position) =
            (0..TRIES).map(|_| self.source.place(&region, ball, &mut self.random)).find(free)
        else {
            self.waiting = Some(radius);
            return None;
        };
        Some(Grain {
            velocity: self.source.velocity,
            locked: self.source.locked,
            ..self.source.make.grain(position, radius, self.source.material, None, &mut self.random)
        })
    }

    fn is_near(&self, centre: DVec3, radius: f64) -> bool {
        let (min, max) = self.source.region.bounds();
        // On a periodic axis a sphere may be near across a face, wherever it is.
        let near = centre.cmpge(min - radius) & centre.cmple(max + radius);
        (near | self.source.periodic.length.cmpgt(DVec3::ZERO)).all()
    }

    /// Number of grains that should have been placed by `time` \[s\].
    pub fn requested(&self, time: f64) -> u64 {
        let elapsed = time.min(self.source.schedule.stop) - self.source.schedule.start;
        if elapsed < 0.0 {
            return 0;
        }
        let due = self.source.schedule.rate.map_or(self.source.schedule.total, |rate| due(rate, elapsed));
        due.min(self.source.schedule.total).max(self.placed)
    }

    /// Number of grains placed so far.
    pub fn placed(&self) -> u64 {
        self.placed
    }

    /// Largest number of grains that it places over the whole run.
    pub fn total(&self) -> u64 {
        self.source.schedule.total
    }

    /// Whether no more grains come at or after `time` \[s\].
    pub fn is_done(&self, time: f64) -> bool {
        self.placed >= self.source.schedule.total
            || time > self.source.schedule.stop + 1e-9 * self.source.schedule.interval
    }

    /// Largest radius of a sphere of its grains \[m\].
    pub fn largest_radius(&self) -> f64 {
        self.source.make.largest() * self.sizes.largest()
    }

    /// Smallest radius of a sphere of its grains \[m\].
    pub fn smallest_radius(&self) -> f64 {
        self.source.make.smallest() * self.source.radii.smallest()
    }

    /// Initial velocity of its grains \[m/s\].
    pub fn velocity(&self) -> DVec3 {
        self.source.velocity
    }

    /// Material of its grains.
    pub fn material(&self) -> MaterialId {
        self.source.material
    }

    /// Corners of the box around its region \[m\].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.source.region.bounds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::Stream;

    fn emitter(rate: Option<f64>, total: u64, stop: f64) -> Emitter {
        let source = Source {
            name: "source".into(),
            material: 0,
            make: Make::default(),
            radii: Radii::Mixture { radii: vec![0.05, 0.1], shares: vec![0.5, 0.5] },
            region: Region::Box { min: DVec3::ZERO, max: DVec3::ONE },
            velocity: DVec3::NEG_Z,
            locked: Axes::NONE,
            plane: None,
            periodic: Periodic::default(),
            schedule: Schedule { rate, start: 1.0, stop, interval: 0.1, total },
        };
        Emitter::new(source, Random::new(1, Stream::Emitter(0)))
    }

    fn run(emitter: &mut Emitter) -> Vec<(f64, usize)> {
        let mut waves = Vec::new();
        while let Some(time) = emitter.next_time() {
            waves.push((time, emitter.emit(time, []).len()));
            assert!(waves.len() < 1000, "endless");
        }
        waves
    }

    #[test]
    fn a_rate_is_kept_wave_by_wave_until_the_total() {
        let mut emitter = emitter(Some(55.0), 22, f64::INFINITY);
        let waves = run(&mut emitter);
        let counts: Vec<usize> = waves.iter().map(|&(_, count)| count).collect();
        assert_eq!(counts, [5, 6, 5, 6]);
        assert!((waves[0].0 - 1.1).abs() < 1e-12);
        assert_eq!((emitter.placed(), emitter.requested(9.0)), (22, 22));
    }

    #[test]
    fn nothing_comes_after_the_stop() {
        let mut emitter = emitter(Some(100.0), 1000, 1.35);
        let waves = run(&mut emitter);
        assert_eq!(waves.len(), 3, "{waves:?}");
        assert_eq!((emitter.placed(), emitter.requested(5.0)), (30, 35));
        assert_eq!(emitter.next_time(), None);
    }

    #[test]
    fn what_finds_no_place_stays_due() {
        let mut emitter = emitter(None, 40, f64::INFINITY);
        assert_eq!(emitter.next_time(), Some(1.0));
        let plug = (DVec3::splat(0.5), 2.0);
        assert!(emitter.emit(1.0, [plug]).is_empty());
        assert_eq!(emitter.requested(1.0), 40);
        let later = emitter.next_time().expect("more is due");
        let grains = emitter.emit(later, []);
        assert!(grains.len() > 20, "{}", grains.len());
        let small = grains.iter().filter(|grain| grain.radius == 0.05).count();
        assert!(small <= 20, "of 40 grains 20 are small, {small} came");
    }

    #[test]
    fn emitted_grains_overlap_nothing() {
        let mut emitter = emitter(None, 60, f64::INFINITY);
        let existing = [(DVec3::splat(0.2), 0.15), (DVec3::new(0.8, 0.5, 0.5), 0.2)];
        let grains = emitter.emit(1.0, existing);
        let mut spheres: Vec<(DVec3, f64)> = existing.to_vec();
        for grain in grains {
            assert!(spheres.iter().all(|s| s.0.distance(grain.position) >= s.1 + grain.radius));
            spheres.push((grain.position, grain.radius));
        }
    }
}
