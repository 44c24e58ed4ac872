//! Emitters: sources of grains that appear in a region during a run.

use glam::DVec3;

use super::grid::SphereGrid;
use super::make::Make;
use super::radii::{Radii, RadiusDraw};
use crate::model::{Axes, Grain, MaterialId, Periodic, Plane, Random, Region};

/// Tolerance for the rounding of times, over the interval of the waves \[-\].
const ROUNDING: f64 = 1e-9;

/// Number of attempts to place a grain in a wave before the region counts as full.
const TRIES: usize = 500;

/// Properties of an emitter: kind of its grains, place and times.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct EmitterSource {
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
    /// Temperature of the grains \[K\]; `None` for that of the scene.
    pub temperature: Option<f64>,
    /// Locked axes of the grains.
    pub locked: Axes,
    /// Plane of the grains, in a plane scene.
    pub plane: Option<Plane>,
    /// The periodic cell.
    pub periodic: Periodic,
    /// Times at which grains appear.
    pub schedule: Schedule,
}

impl EmitterSource {
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
/// It works in waves: at [`Emitter::next_time`] the run calls [`Emitter::emit`], which places the grains that are due by then (rate ×
/// time since the start) at random free places of the region. Another wave comes at the stop time, and one at the end of the run, so
/// that all that is due comes even if they are no multiples of the interval. A grain without a free place stays due. Nothing is dropped
/// in silence: compare [`Emitter::requested`] with [`Emitter::placed`].
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Emitter {
    source: EmitterSource,
    sizes: RadiusDraw,
    placed: u64,
    /// Number of waves so far; the next one is number `waves`.
    waves: u64,
    /// Radius of the grain that found no place in the last wave \[m\]. It is placed first, or small grains would be preferred.
    waiting: Option<f64>,
    random: Random,
    /// Random numbers of the sizes alone, where the number of grains follows from their total volume.
    size_random: Option<Random>,
}

/// Number of grains due at a rate \[1/s\] after some time \[s\], with a tolerance so that rounding loses no grain.
pub fn due(rate: f64, elapsed: f64) -> u64 {
    (rate * elapsed + 1e-6).floor() as u64
}

impl Emitter {
    /// Makes an emitter before its first wave, with its own random numbers.
    pub fn new(source: EmitterSource, random: Random) -> Emitter {
        let sizes = RadiusDraw::new(source.radii.clone(), source.schedule.total);
        Emitter { source, sizes, placed: 0, waves: 0, waiting: None, random, size_random: None }
    }

    /// Makes an emitter of as many grains as have this volume together \[m³\], to within half of the last one; of discs, per metre of
    /// depth. The sizes of its grains are known before any of them has a place, and so is their number, the total of the schedule.
    pub fn of_volume(mut source: EmitterSource, volume: f64, random: Random, size_random: Random) -> Emitter {
        let sizes = RadiusDraw::of_volume(source.radii.clone(), volume, source.plane);
        let all = sizes.clone().up_to(volume, source.plane, &mut size_random.clone()).count();
        source.schedule.total = all as u64;
        Emitter { sizes, size_random: Some(size_random), ..Emitter::new(source, random) }
    }

    /// Whether this is a later state of an emitter before its first wave; for states that come from files.
    #[cfg(feature = "scenario")]
    pub(crate) fn goes_on_from(&self, first: &Emitter) -> bool {
        let is_counted = self.placed <= self.source.schedule.total && self.waves < 1 << 53;
        let is_radius = self.waiting.is_none_or(|radius| radius.is_finite() && radius > 0.0);
        self.source == first.source && self.sizes.goes_on_from(&first.sizes) && is_counted && is_radius
    }

    /// Name, for results and messages.
    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// Time of the next wave \[s\]; `None` when there is none. The waves follow each other at the interval, and the last one is at the
    /// stop time.
    pub fn next_time(&self) -> Option<f64> {
        let Schedule { start, stop, interval, total, .. } = self.source.schedule;
        let intervals = self.first_wave() + self.waves;
        let before = start + (intervals as f64 - 1.0) * interval;
        let is_over = self.placed >= total || before >= stop - ROUNDING * interval;
        (!is_over).then(|| (start + intervals as f64 * interval).min(stop))
    }

    /// Intervals from the start to the first wave: with a rate, no grain is due at the start itself.
    fn first_wave(&self) -> u64 {
        u64::from(self.source.schedule.rate.is_some())
    }

    /// Places the grains that are due at `time` \[s\] where they do not overlap the `existing` spheres (centre and radius \[m\]; those
    /// far from the region may be left out), nor a sphere that `is_taken` refuses. To be called at or after [`Emitter::next_time`], and
    /// at the end of the run for the last grains.
    pub fn emit(
        &mut self,
        time: f64,
        existing: impl IntoIterator<Item = (DVec3, f64)>,
        is_taken: &dyn Fn(DVec3, f64) -> bool,
    ) -> Vec<Grain> {
        let Schedule { start, interval, .. } = self.source.schedule;
        if self.next_time().is_none() || time < start - ROUNDING * interval {
            return Vec::new();
        }
        self.waves = self.waves_until(time);
        let due = self.requested(time) - self.placed;
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
            let is_blocked = |centre, radius| grid.is_blocked(centre, radius) || is_taken(centre, radius);
            let Some(grain) = self.place_one(&is_blocked) else { break };
            grid.insert(grain.position, self.source.make.reach() * grain.radius);
            grains.push(grain);
        }
        self.placed += grains.len() as u64;
        grains
    }

    /// Number of the first wave after `time`.
    fn waves_until(&self, time: f64) -> u64 {
        let Schedule { start, stop, interval, .. } = self.source.schedule;
        let intervals = |time: f64| ((time - start) / interval).max(0.0);
        let number = match time >= stop - ROUNDING * interval {
            // The wave at the stop time is one more, unless it is at the interval anyway.
            true => (intervals(stop) - ROUNDING).ceil() as u64,
            false => (intervals(time) + ROUNDING).floor() as u64,
        };
        (number + 1).saturating_sub(self.first_wave()).max(self.waves)
    }

    fn place_one(&mut self, is_blocked: &dyn Fn(DVec3, f64) -> bool) -> Option<Grain> {
        let radius = match self.waiting.take() {
            Some(radius) => radius,
            None => self.sizes.next(self.size_random.as_mut().unwrap_or(&mut self.random)),
        };
        let ball = self.source.make.reach() * radius;
        let free = |&centre: &DVec3| !is_blocked(centre, ball);
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
            temperature: self.source.temperature,
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

    /// Region in which its grains appear.
    pub fn region(&self) -> &Region {
        &self.source.region
    }

    /// Radius of a ball that holds its largest grain \[m\].
    pub fn largest_ball(&self) -> f64 {
        self.source.make.reach() * self.sizes.largest()
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
        let source = EmitterSource {
            name: "source".into(),
            material: 0,
            make: Make::default(),
            radii: Radii::Mixture { radii: vec![0.05, 0.1], shares: vec![0.5, 0.5] },
            region: Region::Box { min: DVec3::ZERO, max: DVec3::ONE },
            velocity: DVec3::NEG_Z,
            temperature: None,
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
            waves.push((time, emitter.emit(time, [], &|_, _| false).len()));
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
    fn the_last_wave_is_at_the_stop_and_nothing_comes_after_it() {
        let mut emitter = emitter(Some(100.0), 1000, 1.35);
        let waves = run(&mut emitter);
        let times: Vec<f64> = waves.iter().map(|wave| (1e6 * wave.0).round() / 1e6).collect();
        assert_eq!(times, [1.1, 1.2, 1.3, 1.35]);
        assert_eq!((emitter.placed(), emitter.requested(5.0)), (35, 35));
        assert_eq!(emitter.next_time(), None);
        assert!(emitter.emit(5.0, [], &|_, _| false).is_empty());
    }

    #[test]
    fn a_stop_at_the_interval_is_one_wave_and_a_late_call_still_brings_what_is_due() {
        let mut at_the_interval = emitter(Some(100.0), 1000, 1.3);
        assert_eq!(run(&mut at_the_interval).len(), 3);
        assert_eq!(at_the_interval.placed(), 30);
        // A step may end a little after the stop time.
        let mut late = emitter(Some(100.0), 1000, 1.35);
        assert_eq!(late.emit(1.3504, [], &|_, _| false).len(), 35);
        assert_eq!(late.next_time(), None);
        // Before the first wave is over, the end of the run asks for what is due by then.
        let mut early = emitter(Some(100.0), 1000, 1.35);
        assert_eq!(early.emit(1.07, [], &|_, _| false).len(), 7);
        assert_eq!(early.next_time(), Some(1.1));
        let mut at_once = emitter(None, 5, 2.0);
        assert!(at_once.emit(0.9, [], &|_, _| false).is_empty());
        assert_eq!(at_once.next_time(), Some(1.0), "not begun");
    }

    #[test]
    fn a_place_that_is_taken_gets_no_grain() {
        let mut emitter = emitter(None, 40, f64::INFINITY);
        let grains = emitter.emit(1.0, [], &|centre, radius| centre.z < 0.5 + radius);
        assert!(grains.len() > 20 && grains.iter().all(|grain| grain.position.z >= 0.5 + grain.radius));
    }

    #[test]
    fn what_finds_no_place_stays_due() {
        let mut emitter = emitter(None, 40, f64::INFINITY);
        assert_eq!(emitter.next_time(), Some(1.0));
        let plug = (DVec3::splat(0.5), 2.0);
        assert!(emitter.emit(1.0, [plug], &|_, _| false).is_empty());
        assert_eq!(emitter.requested(1.0), 40);
        let later = emitter.next_time().expect("more is due");
        let grains = emitter.emit(later, [], &|_, _| false);
        assert!(grains.len() > 20, "{}", grains.len());
        let small = grains.iter().filter(|grain| grain.radius == 0.05).count();
        assert!(small <= 20, "of 40 grains 20 are small, {small} came");
    }

    #[test]
    fn emitted_grains_overlap_nothing() {
        let mut emitter = emitter(None, 60, f64::INFINITY);
        let existing = [(DVec3::splat(0.2), 0.15), (DVec3::new(0.8, 0.5, 0.5), 0.2)];
        let grains = emitter.emit(1.0, existing, &|_, _| false);
        let mut spheres: Vec<(DVec3, f64)> = existing.to_vec();
        for grain in grains {
            assert!(spheres.iter().all(|s| s.0.distance(grain.position) >= s.1 + grain.radius));
            spheres.push((grain.position, grain.radius));
        }
    }
}
