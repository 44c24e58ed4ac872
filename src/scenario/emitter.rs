//! Emitters: grains that appear in a region while the run goes on.

use glam::DVec3;

use super::MAX_GRAINS;
use super::clumps::{Make, make};
use super::grid::SphereGrid;
use super::materials::material_id;
use super::radii::RadiusDraw;
use super::random::{Random, Stream};
use super::read::{DURATION, Need, TIME, Table, number, text, vector, whole};
use super::region::{Region, region};
use crate::model::{Axes, Clump, Grain, MaterialId, Materials, Periodic};

/// Tries to place one grain in a wave before the region counts as full.
const TRIES: usize = 500;

/// A source of grains during the run.
///
/// It works in waves: at [`Emitter::next_time`] the run calls [`Emitter::emit`], which places what is
/// due by then (rate × time since the start) at random free places of the region. What finds none
/// stays due. Nothing is dropped in silence: compare [`Emitter::requested`] with [`Emitter::placed`].
#[derive(Debug, Clone, PartialEq)]
pub struct Emitter {
    /// Name, for results and messages.
    pub name: String,
    material: MaterialId,
    make: Make,
    sizes: RadiusDraw,
    /// Radius of the smallest grains \[m\].
    smallest: f64,
    region: Region,
    velocity: DVec3,
    locked: Axes,
    periodic: Periodic,
    schedule: Schedule,
    placed: u64,
    /// Waves that have been, the next one is number `waves`.
    waves: u64,
    /// Radius that found no place in the last wave \[m\]; it goes first, or small grains would win.
    waiting: Option<f64>,
    random: Random,
}

/// When an emitter wants to place how much.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Schedule {
    /// Grains per second \[1/s\]; `None`: all at once.
    rate: Option<f64>,
    /// First and last time \[s\].
    start: f64,
    stop: f64,
    /// Time between waves \[s\].
    interval: f64,
    /// Grains in all.
    total: u64,
}

/// What all emitters of a scenario share.
pub struct Shared<'a> {
    /// The materials.
    pub materials: &'a Materials,
    /// The clumps.
    pub clumps: &'a [Clump],
    /// Simulated time \[s\].
    pub duration: f64,
    /// Seed of the scenario.
    pub seed: u64,
    /// Axes that all grains are locked on.
    pub locked: Axes,
    /// The periodic cell.
    pub periodic: Periodic,
}

/// Reads one of `[[emitters]]`; `index` is its place in the list, from 0.
pub fn emitter(table: &mut Table<'_>, index: usize, shared: &Shared<'_>) -> Option<Emitter> {
    let name = table.or("name", format!("emitter-{index}"), text);
    let material = table.get("material", material_id(shared.materials));
    let make = make(table, shared.clumps);
    let radii = make.as_ref().and_then(|make| make.radii(table));
    if !table.has("radius") && !make.as_ref().is_none_or(Make::has_size) {
        table.missing("radius", "for example radius = { kind = \"constant\", value = 0.005 }");
    }
    let place = table.node("region");
    let region = table.get("region", region);
    let velocity = table.or("velocity", DVec3::ZERO, vector);
    let schedule = schedule(table, shared.duration);
    let (region, radii, make) = (region?, radii?, make?);
    let ball = make.reach() * radii.largest();
    let has_room = region.through_faces(&shared.periodic, ball).has_room_for(ball);
    if let Some(place) = place.filter(|_| !has_room) {
        place.problem(
            format!("no grain of radius {ball} m fits into the region of `{}`", table.name()),
            "enlarge the region or reduce the radius",
        );
        return None;
    }
    let schedule = schedule?;
    Some(Emitter {
        name,
        material: material?,
        make,
        smallest: radii.smallest(),
        sizes: RadiusDraw::new(radii, schedule.total),
        region,
        velocity,
        locked: shared.locked,
        periodic: shared.periodic,
        schedule,
        placed: 0,
        waves: 0,
        waiting: None,
        random: Random::new(shared.seed, Stream::Emitter(index)),
    })
}

fn schedule(table: &mut Table<'_>, duration: f64) -> Option<Schedule> {
    const RATE: Need = Need::new(|x| x > 0.0 && x <= 1e12, "a positive number of grains per second");
    let start = table.or("start", 0.0, number(TIME));
    let interval = table.or("every", 0.05, number(DURATION));
    let rate = table.maybe("rate", number(RATE));
    let given = table.maybe("total", whole(1, MAX_GRAINS));
    let stop = stop(table, start, duration);
    if !table.has("rate") && !table.has("total") {
        table.missing("rate", "give `rate` [1/s], `total`, or both");
        return None;
    }
    let stop = stop?;
    let total = match (rate, given) {
        (_, Some(total)) => total,
        (Some(rate), None) => due(rate, stop - start),
        (None, None) => return None,
    };
    if total > MAX_GRAINS {
        table.problem(
            format!("`{}` would emit {total} grains, at most {MAX_GRAINS} are possible", table.name()),
            "reduce `rate`, or set `total` or `stop`",
        );
        return None;
    }
    if total == 0 && start < duration {
        table.problem(format!("`{}` emits no grain until {stop} s", table.name()), "raise `rate`");
        return None;
    }
    Some(Schedule { rate, start, stop, interval, total })
}

/// Reads when to stop: at the end of the run, or never when there is a total.
fn stop(table: &mut Table<'_>, start: f64, duration: f64) -> Option<f64> {
    let stop = if table.has("total") {
        table.maybe("stop", number(TIME)).unwrap_or(f64::INFINITY)
    } else {
        table.or("stop", duration.max(start), number(TIME))
    };
    if stop < start {
        table.problem(
            format!("`{}` stops at {stop} s, before it starts at {start} s", table.name()),
            "change `start` or `stop`",
        );
        return None;
    }
    Some(stop)
}

/// Grains that a rate \[1/s\] owes after some time \[s\]; a whole number is not lost to rounding.
fn due(rate: f64, elapsed: f64) -> u64 {
    (rate * elapsed + 1e-6).floor() as u64
}

impl Emitter {
    /// Time of the next wave \[s\]; `None` when there is none.
    pub fn next_time(&self) -> Option<f64> {
        // A rate owes nothing at the start itself.
        let first = if self.schedule.rate.is_some() { 1 } else { 0 };
        let time = self.schedule.start + (self.waves + first) as f64 * self.schedule.interval;
        (!self.is_done(time)).then_some(time)
    }

    /// Places what is due at `time` \[s\] and free of the `existing` spheres (centre and radius \[m\];
    /// those far from the region may be left out). Call it at or after [`Emitter::next_time`].
    pub fn emit(&mut self, time: f64, existing: impl IntoIterator<Item = (DVec3, f64)>) -> Vec<Grain> {
        self.waves = self.waves_until(time);
        let due = if self.is_done(time) { 0 } else { self.requested(time) - self.placed };
        if due == 0 {
            return Vec::new();
        }
        let mut grid = SphereGrid::new(self.periodic);
        existing
            .into_iter()
            .filter(|&(centre, radius)| self.is_near(centre, radius))
            .for_each(|(centre, radius)| grid.insert(centre, radius));
        let mut grains = Vec::new();
        for _ in 0..due {
            let Some(grain) = self.place_one(&grid) else { break };
            grid.insert(grain.position, self.make.reach() * grain.radius);
            grains.push(grain);
        }
        self.placed += grains.len() as u64;
        grains
    }

    /// Number of the first wave after `time`.
    fn waves_until(&self, time: f64) -> u64 {
        let elapsed = ((time - self.schedule.start) / self.schedule.interval + 1e-9).floor().max(0.0) as u64;
        let first = if self.schedule.rate.is_some() { 0 } else { 1 };
        (elapsed + first).max(self.waves)
    }

    fn place_one(&mut self, grid: &SphereGrid) -> Option<Grain> {
        let radius = match self.waiting.take() {
            Some(radius) => radius,
            None => self.sizes.next(&mut self.random),
        };
        let ball = self.make.reach() * radius;
        let free = |&centre: &DVec3| !grid.is_blocked(centre, ball);
        let region = self.region.through_faces(&self.periodic, ball);
        let Some(position) = (0..TRIES).map(|_| region.place(ball, &mut self.random)).find(free) else {
            self.waiting = Some(radius);
            return None;
        };
        Some(Grain {
            velocity: self.velocity,
            locked: self.locked,
            ..self.make.grain(position, radius, self.material, &mut self.random)
        })
    }

    fn is_near(&self, centre: DVec3, radius: f64) -> bool {
        let (min, max) = self.region.bounds();
        // Across a face it may be near wherever it is.
        let near = centre.cmpge(min - radius) & centre.cmple(max + radius);
        (near | self.periodic.length.cmpgt(DVec3::ZERO)).all()
    }

    /// Grains that should have been placed by `time` \[s\].
    pub fn requested(&self, time: f64) -> u64 {
        let elapsed = time.min(self.schedule.stop) - self.schedule.start;
        if elapsed < 0.0 {
            return 0;
        }
        let due = self.schedule.rate.map_or(self.schedule.total, |rate| due(rate, elapsed));
        due.min(self.schedule.total).max(self.placed)
    }

    /// Grains placed so far.
    pub fn placed(&self) -> u64 {
        self.placed
    }

    /// Grains it will place at most, over the whole run.
    pub fn total(&self) -> u64 {
        self.schedule.total
    }

    /// Whether nothing more will come at or after `time` \[s\].
    pub fn is_done(&self, time: f64) -> bool {
        self.placed >= self.schedule.total || time > self.schedule.stop + 1e-9 * self.schedule.interval
    }

    /// Largest radius of a sphere of its grains \[m\].
    pub fn largest_radius(&self) -> f64 {
        self.make.largest() * self.sizes.largest()
    }

    /// Smallest radius of a sphere of its grains \[m\].
    pub fn smallest_radius(&self) -> f64 {
        self.make.smallest() * self.smallest
    }

    /// Velocity that its grains come with \[m/s\].
    pub fn velocity(&self) -> DVec3 {
        self.velocity
    }

    /// Material of its grains.
    pub fn material(&self) -> MaterialId {
        self.material
    }

    /// Corners of the box around its region \[m\].
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.region.bounds()
    }
}

#[cfg(test)]
mod tests {
    use super::super::radii::Radii;
    use super::*;

    fn emitter(rate: Option<f64>, total: u64, stop: f64) -> Emitter {
        let sizes = RadiusDraw::new(Radii::Mixture { radii: vec![0.05, 0.1], shares: vec![0.5, 0.5] }, total);
        Emitter {
            name: "source".into(),
            material: 0,
            make: Make::default(),
            sizes,
            smallest: 0.05,
            region: Region::Box { min: DVec3::ZERO, max: DVec3::ONE },
            velocity: DVec3::NEG_Z,
            locked: Axes::NONE,
            periodic: Periodic::default(),
            schedule: Schedule { rate, start: 1.0, stop, interval: 0.1, total },
            placed: 0,
            waves: 0,
            waiting: None,
            random: Random::new(1, Stream::Emitter(0)),
        }
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
