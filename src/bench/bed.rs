//! Settled bed with any number of grains: it is always 17 layers deep, so that the cost per grain can be compared.
//!
//! The scenario is `scenarios/settle.toml` with a base that grows with the number of grains. The CPU engine settles it for
//! 1.5 s. For 10⁶ grains that would take a quarter of an hour and more. A bed of more than 10⁵ grains is therefore put
//! together from k × k tiles, each a mirror image of its neighbours:
//!
//! ```text
//!    ┌─────┬─────┐     A tile is settled between its own walls. These are smooth: a wall pushes a grain along
//!    │ b d │ d b │     its normal, and so does the mirror image of the grain once the wall is gone. What is left
//!    ├─────┼─────┤     is that a grain gives way a little where a wall does not.
//!    │ p q │ q p │     The whole then moves for another 0.1 s on the CPU engine. Grains are numbered as in
//!    └─────┴─────┘     the lattice of the whole.
//! ```

use std::path::{Path, PathBuf};
use std::time::Instant;

use glam::{DQuat, DVec3};

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::error::Error;
use crate::model::World;
use crate::scenario::{Problem, Problems, Scenario};
use crate::settings::Settings;

use super::cache::{self, CacheKey, CachedGrain};
use super::report::{BenchStart, Origin};

const SCENARIO: &str = include_str!("../../scenarios/settle.toml");
/// Largest number of grains that are settled as one bed.
const LARGEST_TILE: u32 = 100_000;
/// Layers of the bed: its number of grains over the square of the number along a side.
const LAYERS: f64 = 17.36;
/// Spacing of the lattice that the bed falls from, and width of the base per grain along a side \[m\].
const SPACING: f64 = 0.01365;
const WIDTH: f64 = 26.0 / 24.0 * 0.013;
/// Time in which a bed settles, and time in which tiles relax after they are put together \[s\].
const SETTLING_TIME: f64 = 1.5;
const RELAXING_TIME: f64 = 0.1;

/// Bed, and the tiles that it is made from.
pub struct Bed {
    /// Scenario of the whole bed, before it falls.
    pub scenario: Scenario,
    /// Settings that the bed settles with, whatever it is measured with.
    settling: Settings,
    /// Tiles of a large bed; `None`: the bed is settled as one.
    tiles: Option<BedTiles>,
}

/// k × k tiles, each a bed of its own.
struct BedTiles {
    scenario: Scenario,
    /// Number of tiles along a side, k.
    per_side: u32,
    /// Grains of a tile along a side.
    grains: u32,
}

impl Bed {
    /// A bed of this number of grains. A bed of tiles gets the nearest number that its k² tiles can share equally.
    ///
    /// # Errors
    /// When an override does not fit the scenario, or the tiles.
    pub fn new(grains: u32, overrides: &[String]) -> Result<Bed, Problems> {
        Bed::of_tiles(grains, LARGEST_TILE, overrides)
    }

    /// As [`Bed::new`], with at most `largest` grains in a tile.
    fn of_tiles(grains: u32, largest: u32, overrides: &[String]) -> Result<Bed, Problems> {
        let k = (f64::from(grains) / f64::from(largest)).sqrt().ceil().max(1.0) as u32;
        let in_tile = (f64::from(grains) / f64::from(k * k)).round() as u32;
        let side = (f64::from(in_tile) / LAYERS).sqrt().round().max(1.0) as u32;
        let scenario = widened(k * k * in_tile, k * side, overrides)?;
        let tiles = match k {
            1 => None,
            _ => Some(BedTiles { scenario: widened(in_tile, side, overrides)?, per_side: k, grains: side }),
        };
        let bed = Bed { settling: scenario.settings, scenario, tiles };
        bed.check()?;
        Ok(bed)
    }

    /// Checks that all grains are equal and that the tiles together have the grains of the whole: only then are tiles alike.
    fn check(&self) -> Result<(), Problems> {
        let Some(tiles) = &self.tiles else { return Ok(()) };
        let (whole, tile) = (&self.scenario.world, &tiles.scenario.world);
        let copies = (tiles.per_side * tiles.per_side) as usize;
        let radius = tile.largest_radius();
        let are_equal = whole.spheres.iter().chain(&tile.spheres).all(|sphere| sphere.radius == radius);
        if are_equal && copies * tile.grain_count() == whole.grain_count() {
            return Ok(());
        }
        let problem =
            Problem::of("--set", "a bed of more than 100 000 grains is made of equal tiles of equal grains")
                .help("change neither radii nor numbers of grains, or measure a smaller bed");
        Err(Problems::new("--set", vec![problem]))
    }

    /// Returns the bed at rest, from the cache if it has the bed.
    ///
    /// # Errors
    /// When the bed cannot be settled.
    pub fn settled(
        &self,
        cache: Option<&Path>,
        note: &mut dyn FnMut(String),
    ) -> Result<(World, BenchStart), Error> {
        let start = Instant::now();
        let key = self.key();
        let file = cache.map(|folder| folder.join(self.file_name(&key)));
        let cached = file.as_deref().and_then(|file| self.cached(file, &key, note));
        let (world, origin) = match cached {
            Some(world) => (world, Origin::Cache),
            None => (self.build(file.as_deref(), &key, note)?, Origin::Built),
        };
        Ok((world, BenchStart { origin, seconds: start.elapsed().as_secs_f64() }))
    }

    fn key(&self) -> CacheKey {
        let tile = self.tiles.as_ref().map_or("", |tiles| &tiles.scenario.resolved);
        let recipe = format!("esker {} {SETTLING_TIME} {RELAXING_TIME}", env!("CARGO_PKG_VERSION"));
        cache::key(&[&recipe, &self.scenario.resolved, tile])
    }

    fn file_name(&self, key: &CacheKey) -> PathBuf {
        let number: String = key[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("bed-{}-{number}.bin", self.scenario.world.grain_count()).into()
    }

    fn cached(&self, file: &Path, key: &CacheKey, note: &mut dyn FnMut(String)) -> Option<World> {
        match cache::load(file, key, self.scenario.world.grain_count()) {
            Ok(None) => None,
            Ok(Some(states)) => {
                note(format!("settled bed from {}", file.display()));
                Some(with_states(&self.scenario.world, &states))
            }
            Err(reason) => {
                note(format!("{}: {reason}; the bed is built anew", file.display()));
                None
            }
        }
    }

    fn build(
        &self,
        file: Option<&Path>,
        key: &CacheKey,
        note: &mut dyn FnMut(String),
    ) -> Result<World, Error> {
        let world = match &self.tiles {
            None => {
                note(format!("settling a bed of {} grains", self.scenario.world.grain_count()));
                settle(&self.scenario.world, self.settling, SETTLING_TIME)?
            }
            Some(tiles) => {
                let (k, count) = (tiles.per_side, tiles.scenario.world.grain_count());
                note(format!("settling a tile of {count} grains"));
                let tile = settle(&tiles.scenario.world, self.settling, SETTLING_TIME)?;
                note(format!("putting {k} x {k} tiles together"));
                let whole = with_states(&self.scenario.world, &tiles.together(&states(&tile)));
                settle(&whole, self.settling, RELAXING_TIME)?
            }
        };
        let world = with_states(&self.scenario.world, &states(&world));
        if let Some(file) = file
            && let Err(error) = cache::store(file, key, &states(&world))
        {
            note(format!("the bed cannot be kept for the next time: {error}"));
        }
        Ok(world)
    }
}

impl BedTiles {
    /// States of the grains of the whole bed, in the order of its lattice.
    fn together(&self, tile: &[CachedGrain]) -> Vec<CachedGrain> {
        let (k, n) = (self.per_side, self.grains);
        let width = f64::from(n) * WIDTH;
        let middle = f64::from(k - 1) / 2.0;
        let sites = (0..k * k).flat_map(|t| (0..tile.len() as u32).map(move |grain| (t % k, t / k, grain)));
        let mut placed: Vec<_> = sites
            .map(|(tile_x, tile_y, grain)| {
                let centre = DVec3::new(f64::from(tile_x) - middle, f64::from(tile_y) - middle, 0.0) * width;
                let is_odd = [tile_x % 2 == 1, tile_y % 2 == 1];
                let [x, y] = [grain % n, grain / n % n];
                let x = tile_x * n + if is_odd[0] { n - 1 - x } else { x };
                let y = tile_y * n + if is_odd[1] { n - 1 - y } else { y };
                ([grain / (n * n), y, x], moved(mirrored(&tile[grain as usize], is_odd), centre))
            })
            .collect();
        placed.sort_by_key(|(site, _)| *site);
        placed.into_iter().map(|(_, state)| state).collect()
    }
}

/// Mirror image of a grain state, in the planes across x and across y that `is_odd` names. Angular velocity is a
/// pseudovector: a mirror keeps its component along the normal of the plane and reverses the others. The orientation of a
/// sphere does not matter and stays.
fn mirrored(state: &CachedGrain, is_odd: [bool; 2]) -> CachedGrain {
    let [x, y] = is_odd.map(|is_odd| if is_odd { -1.0 } else { 1.0 });
    let signs = [x, y, 1.0, 1.0, 1.0, 1.0, 1.0, x, y, 1.0, y, x, x * y];
    std::array::from_fn(|i| signs[i] * state[i])
}

fn moved(mut state: CachedGrain, by: DVec3) -> CachedGrain {
    (0..3).for_each(|axis| state[axis] += by[axis]);
    state
}

/// The scenario with a base for `side` grains along a side.
fn widened(grains: u32, side: u32, overrides: &[String]) -> Result<Scenario, Problems> {
    let half = f64::from(side) * WIDTH / 2.0;
    let corner = -f64::from(side - 1) / 2.0 * SPACING;
    let base = [
        format!("grains.0.packing.count={grains}"),
        format!("grains.0.packing.counts=[{side}, {side}]"),
        format!("grains.0.packing.corner=[{corner}, {corner}, 0.00676]"),
        format!("boundaries.0.shape.min=[-{half}, -{half}, 0.0]"),
        format!("boundaries.0.shape.max=[{half}, {half}, 1.0]"),
        "title=\"Settled bed, 17 layers deep\"".to_owned(),
    ];
    let overrides: Vec<String> = base.into_iter().chain(overrides.iter().cloned()).collect();
    Scenario::parse("settle", SCENARIO, Path::new(""), &overrides)
}

/// State after a time \[s\] on the CPU engine.
fn settle(world: &World, settings: Settings, time: f64) -> Result<World, Error> {
    let mut engine = CpuEngine::new(world.clone(), settings);
    engine.advance((time / settings.time_step).round() as u64)?;
    Ok(engine.snapshot()?.world)
}

fn states(world: &World) -> Vec<CachedGrain> {
    let bodies = &world.bodies;
    let state = |grain| {
        let body = world.grain_body(grain);
        let mut state = [0.0; 13];
        state[..3].copy_from_slice(&bodies.position[body].to_array());
        state[3..7].copy_from_slice(&bodies.orientation[body].to_array());
        state[7..10].copy_from_slice(&bodies.velocity[body].to_array());
        state[10..].copy_from_slice(&bodies.angular_velocity[body].to_array());
        state
    };
    (0..world.grain_count()).map(state).collect()
}

fn with_states(world: &World, states: &[CachedGrain]) -> World {
    let mut world = world.clone();
    for (grain, state) in states.iter().enumerate() {
        let body = world.grain_body(grain);
        let bodies = &mut world.bodies;
        bodies.position[body] = DVec3::from_slice(&state[..3]);
        bodies.orientation[body] = DQuat::from_slice(&state[3..7]);
        bodies.velocity[body] = DVec3::from_slice(&state[7..10]);
        bodies.angular_velocity[body] = DVec3::from_slice(&state[10..]);
    }
    world
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::contacts::overlap;

    fn positions(world: &World) -> Vec<DVec3> {
        states(world).iter().map(|state| DVec3::from_slice(&state[..3])).collect()
    }

    #[test]
    fn beds_have_the_grains_asked_for_and_the_same_depth() {
        for (grains, found) in [(1, 1), (300, 300), (3_001, 3_001), (200_000, 200_000)] {
            let bed = Bed::new(grains, &[]).expect("a bed");
            assert_eq!(bed.scenario.world.grain_count(), found);
        }
        let side = |bed: &Bed| bed.scenario.world.surfaces[0].position.x.abs() / WIDTH * 2.0;
        assert!(
            (side(&Bed::new(10_000, &[]).expect("a bed")) - 24.0).abs() < 1e-9,
            "that of the scenario file"
        );
    }

    /// Before they fall, mirrored tiles put together form the lattice of the whole bed, in the same order.
    #[test]
    fn tiles_put_together_are_numbered_as_the_whole() {
        let bed = Bed::of_tiles(1600, 200, &[]).expect("a bed");
        let tiles = bed.tiles.as_ref().expect("tiles");
        assert_eq!((tiles.per_side, tiles.scenario.world.grain_count()), (3, 178));
        let together = tiles.together(&states(&tiles.scenario.world));
        let whole = positions(&bed.scenario.world);
        assert_eq!(together.len(), whole.len());
        // Tiles stand as far apart as their walls, 26/24 · 13 mm per grain; the spacing of the lattice is 13.65 mm. Both are jittered.
        let (rows, jitter) = (f64::from(3 * tiles.grains), 0.00026);
        let allowed = rows / 2.0 * (WIDTH - SPACING).abs() + 2.0 * jitter;
        let offset = |(state, site): (&CachedGrain, &DVec3)| {
            (DVec3::from_slice(&state[..3]) - *site).abs().max_element()
        };
        // The last layer is not full: each tile fills it from its own corner.
        let full = whole.len() / 81 * 81;
        let largest = together.iter().zip(&whole).take(full).map(offset).fold(0.0, f64::max);
        assert!(allowed < SPACING / 2.0, "the bound tells neighbours apart");
        assert!(largest < allowed, "{largest} m off, at most {allowed} m");
    }

    /// Without the walls between its tiles, a bed stays at rest and its overlaps stay small.
    #[test]
    fn a_bed_of_tiles_is_at_rest() {
        let bed = Bed::of_tiles(1200, 300, &[]).expect("a bed");
        let (world, start) = bed.settled(None, &mut |_| ()).expect("settled");
        assert_eq!(start.origin, Origin::Built);
        let mut engine = CpuEngine::new(world, bed.scenario.settings);
        let top = |world: &World| positions(world).iter().map(|p| p.z).fold(0.0, f64::max);
        let before = top(&engine.snapshot().expect("a state").world);
        engine.advance(20).expect("steps");
        let after = engine.snapshot().expect("a state");
        assert_eq!(after.world.grain_count(), 1200);
        let speed = crate::observe::flow::rms_speed(&after);
        assert!(speed < 0.02, "{speed} m/s: a grain that falls for 0.1 s has 1 m/s");
        assert!(
            (top(&after.world) - before).abs() < 0.1 * 0.013,
            "the top moves by less than a tenth of a grain"
        );
        assert!(overlap(&after).max < 0.2, "{}", overlap(&after).max);
    }

    #[test]
    fn a_mirror_image_turns_the_other_way_and_two_images_give_the_grain() {
        let state: CachedGrain = std::array::from_fn(|i| i as f64 + 1.0);
        for is_odd in [[true, false], [false, true], [true, true]] {
            assert_eq!(mirrored(&mirrored(&state, is_odd), is_odd), state);
        }
        let across_x = mirrored(&state, [true, false]);
        // A grain that rolls along x spins about y: its image rolls back and spins back.
        assert_eq!((across_x[7], across_x[11]), (-state[7], -state[11]));
        assert_eq!(
            (across_x[8], across_x[10]),
            (state[8], state[10]),
            "along y nothing changes, about x neither"
        );
    }

    #[test]
    fn tiles_of_unequal_grains_are_refused() {
        let sizes = "grains.0.radius={ kind = \"uniform\", min = 0.006, max = 0.0065 }".to_owned();
        assert!(Bed::of_tiles(100, 100, std::slice::from_ref(&sizes)).is_ok(), "one bed may have any");
        let refused = Bed::of_tiles(400, 100, &[sizes]).map(|_| ()).expect_err("refused");
        assert!(refused.to_string().contains("equal grains"), "{refused}");
    }
}
