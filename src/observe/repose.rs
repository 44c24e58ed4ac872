//! Angle of repose of a heap on level ground: slope of its flank.
//!
//! The surface is seen from above on a fine grid, and its height in each ring about the axis is the median over the ring. Grains that touch
//! nothing, as they still fall, are no part of the heap. A few stray grains do not count: where most of a ring is bare its height is zero.
//! Top and toe are left out, and the slope of what is left, the flank, is the median of the slopes between its rings (Theil 1950, Sen
//! 1968). A ridge has strips in place of rings, and the mean of its flanks: a heap against a wall has one, others two.
//!
//! A heap has one angle as far as its flank is straight. A stream of grains that falls on it makes it round: its slope is then that of the
//! steep part below the cap, and the [cone](super::packing::cone_angle_deg) of the same mean height is flatter.

use glam::{DVec2, DVec3};

use super::contacts::coordination;
use super::packing::percentile;
use super::surface::{self, SurfacePlan};
use super::{GrainView, grains};
use crate::engine::Snapshot;
use crate::model::{Plane, World};

/// Heights between which a flank is measured, over the height of the heap \[-\].
const FLANK: [f64; 2] = [0.2, 0.8];
/// Least height of a flank \[mean diameters\]: below lie single grains that rolled away.
const TOE: f64 = 1.5;
/// Width of a ring, and edge of a cell of the grid \[mean radii\].
const RING: f64 = 1.0;
const CELL: f64 = 0.5;
/// Least number of rings of a flank.
const LEAST_RINGS: usize = 4;
/// Largest number of cells along the grid: larger heaps have coarser ones.
const MOST_CELLS: f64 = 1024.0;
/// Parts of the grains below the lowest of which the ground lies, and within whose distance from the axis a heap ends \[-\]. The others may
/// be anywhere.
const GROUND: f64 = 0.01;
const WIDTH: f64 = 0.99;

/// Shape of a heap seen from above.
enum Heap {
    /// About a vertical axis through this point.
    Cone(DVec2),
    /// Along x (0) or y (1), with this median of the other coordinate \[m\].
    Ridge(usize, f64),
}

/// Angle of repose of a heap on level ground: slope of its flank \[deg\]. A heap is a cone about the medians of x and y, or a ridge along
/// the one axis that is periodic or normal to a plane of discs. It is not a number without a flank of two diameters, and where gravity is
/// not along -z.
pub fn repose_angle_deg(snapshot: &Snapshot) -> f64 {
    let grains = heaped(snapshot);
    let Some(heap) = Heap::of(snapshot, &grains) else { return f64::NAN };
    let radii: f64 = grains.iter().map(|grain| grain.radius).sum();
    let [radius, count] = snapshot.share.sum([radii, grains.len() as f64]);
    let profile = heap.profile(snapshot, &grains, radius / count);
    let ways: [Vec<[f64; 2]>; 2] = [profile.clone(), profile.into_iter().rev().collect()];
    let ways = ways.iter().take(if matches!(heap, Heap::Cone(_)) { 1 } else { 2 });
    let slopes: Vec<f64> = ways.filter_map(|way| slope(&flank(way, 2.0 * radius / count))).collect();
    // Without a flank this is 0/0.
    let angles = slopes.iter().map(|slope| slope.atan().to_degrees());
    angles.sum::<f64>() / slopes.len() as f64
}

/// Grains of a heap, that is, those that touch something; all of them in a state without contacts.
fn heaped(snapshot: &Snapshot) -> Vec<GrainView> {
    let touching = coordination(snapshot);
    let counts = |grain: &GrainView| touching[grain.id] > 0;
    let has_contacts = snapshot.share.total(grains(snapshot).filter(counts).count()) > 0;
    grains(snapshot).filter(|grain| !has_contacts || counts(grain)).collect()
}

impl Heap {
    /// Shape of the heap of these grains; none where there are no grains, and where they lie in a bed without end.
    fn of(snapshot: &Snapshot, grains: &[GrainView]) -> Option<Heap> {
        let World { gravity, periodic, plane, .. } = &snapshot.world;
        let position = &snapshot.world.bodies.position;
        let middle = |axis: usize| {
            percentile(&snapshot.share, grains.iter().map(|grain| position[grain.body][axis]).collect(), 0.5)
        };
        let is_level = gravity.truncate() == DVec2::ZERO && gravity.z < 0.0 && periodic.length.z == 0.0;
        let repeats = [periodic.length.x > 0.0, periodic.length.y > 0.0];
        let heap = match (plane, repeats) {
            (None, [false, false]) => Heap::Cone(DVec2::new(middle(0), middle(1))),
            (None, [true, false]) | (Some(Plane::Yz), [_, false]) => Heap::Ridge(0, middle(1)),
            (None, [false, true]) | (Some(Plane::Xz), [false, _]) => Heap::Ridge(1, middle(0)),
            _ => return None,
        };
        let has_grains = snapshot.share.total(grains.len()) > 0;
        (is_level && has_grains).then_some(heap)
    }

    /// Distance of a place from the axis, or from the middle of a ridge, where it has a sign \[m\].
    fn distance(&self, place: DVec2) -> f64 {
        match *self {
            Heap::Cone(axis) => (place - axis).length(),
            Heap::Ridge(along, middle) => place[1 - along] - middle,
        }
    }

    /// Heights of the surface above the ground in the rings about the axis, with the distances of their middles \[m\].
    fn profile(&self, snapshot: &Snapshot, grains: &[GrainView], radius: f64) -> Vec<[f64; 2]> {
        let position = &snapshot.world.bodies.position;
        let of_grains = |value: &dyn Fn(DVec3, f64) -> f64| -> Vec<f64> {
            grains.iter().map(|grain| value(position[grain.body], grain.radius)).collect()
        };
        let floor = percentile(&snapshot.share, of_grains(&|centre, radius| centre.z - radius), GROUND);
        let width = percentile(
            &snapshot.share,
            of_grains(&|centre, _| self.distance(centre.truncate()).abs()),
            WIDTH,
        );
        let width = width + 2.0 * radius;
        let cell = (CELL * radius).max(2.0 * width / MOST_CELLS);
        let plan = self.grid(&snapshot.world, width, cell, floor);
        let heights = surface::heights_of(snapshot, grains.iter().map(|grain| grain.id), &plan);
        let ring = (RING * radius).max(2.0 * cell);
        let first = if matches!(self, Heap::Cone(_)) { 0.0 } else { -width };
        let mut rings = vec![Vec::new(); ((width - first) / ring) as usize];
        for (place, height) in heights.iter().enumerate() {
            let middle = plan.middle(place % plan.cells[0], place / plan.cells[0]);
            if let Some(heights) = rings.get_mut(((self.distance(middle) - first) / ring) as usize) {
                heights.push(height - floor);
            }
        }
        let rings = rings.into_iter().enumerate();
        rings.filter_map(|(i, heights)| Some([first + (i as f64 + 0.5) * ring, median(heights)?])).collect()
    }

    /// Grid over a heap that reaches `width` \[m\] from its axis.
    fn grid(&self, world: &World, width: f64, cell: f64, floor: f64) -> SurfacePlan {
        let (min, max) = match *self {
            Heap::Cone(axis) => (axis - width, axis + width),
            Heap::Ridge(along, middle) => {
                let mut ends = [DVec2::splat(middle - width), DVec2::splat(middle + width)];
                let (from, length) = (world.periodic.min[along], world.periodic.length[along]);
                // Discs lie in the plane through the origin, over which the grid has one line of cells.
                let [from, to] = if length > 0.0 { [from, from + length] } else { [-0.5 * cell, 0.5 * cell] };
                [ends[0][along], ends[1][along]] = [from, to];
                (ends[0], ends[1])
            }
        };
        let cells = ((max - min) / cell).round().max(DVec2::ONE).to_array().map(|cells| cells as usize);
        SurfacePlan { min, max, cells, floor, from: 0.0 }
    }
}

/// The flank in a profile: rings from the last that belongs to the top outwards, without the toe.
fn flank(profile: &[[f64; 2]], diameter: f64) -> Vec<[f64; 2]> {
    let top = profile.iter().map(|[_, height]| *height).fold(0.0, f64::max);
    let [low, high] = [(FLANK[0] * top).max(TOE * diameter), FLANK[1] * top];
    let first = profile.iter().rposition(|[_, height]| *height > high).map_or(0, |last| last + 1);
    profile[first..].iter().take_while(|[_, height]| *height >= low).copied().collect()
}

/// Median of the slopes down between the rings of a flank \[-\]; none if it has too few.
fn slope(flank: &[[f64; 2]]) -> Option<f64> {
    let pairs = flank.iter().enumerate().flat_map(|(i, a)| flank[i + 1..].iter().map(move |b| (a, b)));
    let slopes = pairs.map(|([at, height], [then, lower])| (height - lower) / (then - at).abs());
    median(slopes.collect()).filter(|_| flank.len() >= LEAST_RINGS)
}

/// Median; none without values.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (above, below) = (values.get(values.len() / 2)?, values.get((values.len() - 1) / 2)?);
    Some(0.5 * (above + below))
}

#[cfg(test)]
mod tests {
    use super::super::packing::cone_angle_deg;
    use super::super::test_worlds::{empty, heap};
    use super::*;
    use crate::contact::{Impulse, Key};
    use crate::engine::StepReport;
    use crate::model::random::Stream;
    use crate::model::{Periodic, Random};
    use std::collections::HashMap;

    /// Columns of grains of diameter 1 m whose tops are at these heights over a distance from (3, -5) m; `along`: factor of the distance
    /// along y.
    fn pile(height: impl Fn(f64) -> f64, along: f64, rows: i32) -> Vec<DVec3> {
        let places =
            (-40..=40).flat_map(|i| (-rows..=rows).map(move |j| DVec2::new(f64::from(i), f64::from(j))));
        let column = |place: DVec2| {
            let top = height((place * DVec2::new(1.0, along)).length()) - 0.5;
            let layers = (top + 0.5).max(0.0) as i32;
            (0..layers).map(move |layer| (place + DVec2::new(3.0, -5.0)).extend(7.0 + top - f64::from(layer)))
        };
        places.flat_map(column).collect()
    }

    fn cone(angle: f64, top: f64) -> impl Fn(f64) -> f64 {
        move |distance| top - angle.to_radians().tan() * distance
    }

    /// One grain in fifty, far away on the ground, up in the air and deep below the ground.
    fn strays(grains: usize) -> impl Iterator<Item = DVec3> {
        (0..grains / 50).map(|i| {
            let (turned, height) = (f64::from(i as u32), [0.5, 0.5, 30.0, 0.5, -4.0][i % 5]);
            DVec3::new(3.0 + 38.0 * turned.cos(), -5.0 + 38.0 * turned.sin(), 7.0 + height)
        })
    }

    /// Tops of the columns lie on the cone, and the surface between them is lower by the same everywhere: what is left is how columns fall
    /// into rings, below 0.2°.
    #[test]
    fn the_flank_of_a_cone_has_the_angle_of_the_cone_with_strays_and_without() {
        for angle in [20.0, 32.0, 45.0] {
            let mut grains = pile(cone(angle, 13.0), 1.0, 40);
            approx::assert_abs_diff_eq!(repose_angle_deg(&heap(grains.clone())), angle, epsilon = 0.5);
            grains.extend(strays(grains.len()));
            approx::assert_abs_diff_eq!(repose_angle_deg(&heap(grains.clone())), angle, epsilon = 0.5);
            // The cone of the same mean height and distance counts every stray.
            let other = cone_angle_deg(&heap(grains));
            assert!((other - angle).abs() > 4.0, "{other}° without a sign of the strays");
        }
    }

    /// Grains of diameter 1 m, placed at random where they overlap no other by more than a tenth, below a cone.
    fn random_fill(angle: f64, top: f64, random: &mut Random) -> Vec<DVec3> {
        let slope = angle.to_radians().tan();
        let reach = top / slope;
        let mut cells: HashMap<[i32; 3], Vec<DVec3>> = HashMap::new();
        let place = |random: &mut Random| {
            let [x, y] = [(); 2].map(|()| random.between(-reach, reach));
            DVec3::new(x, y, random.between(0.5, top))
        };
        let mut all = Vec::new();
        for _ in 0..(400.0 * reach * reach * top) as usize {
            let centre = place(random);
            if centre.z + 0.5 > top - slope * centre.truncate().length() {
                continue;
            }
            let cell = centre.floor().as_ivec3();
            let near = (0..27).map(|i| [cell.x + i % 3 - 1, cell.y + i / 3 % 3 - 1, cell.z + i / 9 - 1]);
            let mut others = near.filter_map(|cell| cells.get(&cell)).flatten();
            if others.all(|other| other.distance(centre) > 0.9) {
                cells.entry(cell.to_array()).or_default().push(centre);
                all.push(centre + DVec3::new(3.0, -5.0, 7.0));
            }
        }
        all
    }

    /// A heap of some 2 000 grains lies loosely below an exact cone; a fiftieth of them has rolled away. Gaps in the surface are as
    /// frequent everywhere.
    #[test]
    fn a_random_heap_has_the_angle_of_its_cone_within_a_degree() {
        let mut random = Random::new(5, Stream::Grains(0));
        for (angle, top) in [(25.0, 9.0), (38.0, 11.0)] {
            let mut grains = random_fill(angle, top, &mut random);
            approx::assert_abs_diff_eq!(repose_angle_deg(&heap(grains.clone())), angle, epsilon = 1.0);
            grains.extend(strays(grains.len()));
            approx::assert_abs_diff_eq!(repose_angle_deg(&heap(grains)), angle, epsilon = 1.0);
        }
    }

    /// A stream that still falls on the top is no part of the heap: its grains touch nothing.
    #[test]
    fn grains_that_fall_onto_a_heap_are_no_part_of_it() {
        let on_ground = pile(cone(32.0, 13.0), 1.0, 40);
        let falling: Vec<DVec3> = (0..60)
            .map(|i| {
                DVec3::new(3.0 + f64::from(i % 3), -5.0 + f64::from(i / 3 % 2), 22.0 + 1.5 * f64::from(i / 6))
            })
            .collect();
        let all = || heap(on_ground.iter().chain(&falling).copied());
        let mut state = all();
        let touching = |grain: u32| Key { a: grain - 1, b: grain };
        state = Snapshot::new(
            state.world,
            (1..on_ground.len() as u32)
                .map(|grain| (touching(grain), Impulse { normal: 1.0, ..Impulse::default() }))
                .collect(),
            0.005,
            StepReport::default(),
        );
        let found = repose_angle_deg(&state);
        approx::assert_abs_diff_eq!(found, repose_angle_deg(&heap(on_ground.iter().copied())), epsilon = 0.1);
        let with_stream = repose_angle_deg(&all());
        assert!(
            with_stream.is_nan() || (with_stream - found).abs() > 3.0,
            "{with_stream}° with the stream for {found}°"
        );
    }

    /// A round cap over the top fifth, a cut at six tenths of the height, a skirt of one layer: the flank between is that of the cone.
    #[test]
    fn top_and_toe_are_left_out() {
        let plain = cone(32.0, 14.0);
        let slope = 32.0f64.to_radians().tan();
        let reach = 14.0 * 0.3 / slope;
        let cap = |at: f64| plain(0.5 * reach) - 0.5 * slope * at * at / reach;
        let round = pile(|at| if at < reach { cap(at) } else { plain(at) }, 1.0, 40);
        let cut = pile(|at| plain(at).min(8.4), 1.0, 40);
        let skirt = pile(|at| if at < 32.0 { plain(at).max(1.0) } else { plain(at) }, 1.0, 40);
        for (name, grains, cone_differs) in
            [("round", round, false), ("cut", cut, true), ("skirt", skirt, true)]
        {
            let found = repose_angle_deg(&heap(grains.clone()));
            assert!((found - 32.0).abs() < 0.5, "{name}: {found}°");
            let other = cone_angle_deg(&heap(grains));
            assert_eq!((other - 32.0).abs() > 4.0, cone_differs, "{name}: the cone alone has {other}°");
        }
    }

    #[test]
    fn a_ridge_on_a_periodic_axis_and_a_triangle_of_discs_have_the_angle_of_their_flanks() {
        let mut ridge = heap(pile(cone(30.0, 12.0), 0.0, 2));
        ridge.world.periodic =
            Periodic { min: DVec3::new(0.0, -7.5, 0.0), length: DVec3::new(0.0, 5.0, 0.0), ..Periodic::NONE };
        approx::assert_abs_diff_eq!(repose_angle_deg(&ridge), 30.0, epsilon = 1.0);
        // A heap against a wall, of which the crest is at the edge.
        let half = ridge.world.bodies.position.iter().filter(|centre| centre.x >= 3.0);
        let mut against = heap(half.copied());
        against.world.periodic = ridge.world.periodic;
        approx::assert_abs_diff_eq!(repose_angle_deg(&against), 30.0, epsilon = 1.0);
        let in_plane = |centre: DVec3| DVec3::new(centre.x, 0.0, centre.z);
        let mut discs = heap(pile(cone(30.0, 12.0), 0.0, 0).into_iter().map(in_plane));
        discs.world.plane = Some(Plane::Xz);
        approx::assert_abs_diff_eq!(repose_angle_deg(&discs), 30.0, epsilon = 1.0);
        discs.world.plane = Some(Plane::Xy);
        assert!(repose_angle_deg(&discs).is_nan(), "seen from above a plane has no heights");
    }

    #[test]
    fn without_a_flank_there_is_no_angle() {
        assert!(repose_angle_deg(&empty()).is_nan());
        assert!(repose_angle_deg(&heap(pile(|_| 1.0, 1.0, 10))).is_nan(), "one layer");
        assert!(repose_angle_deg(&heap(pile(cone(30.0, 2.0), 1.0, 10))).is_nan(), "two layers");
        let mut bed = heap(pile(cone(30.0, 12.0), 1.0, 40));
        bed.world.periodic =
            Periodic { min: DVec3::splat(-40.0), length: DVec3::new(80.0, 80.0, 0.0), ..Periodic::NONE };
        assert!(repose_angle_deg(&bed).is_nan(), "a bed without end");
        let mut tilted = heap(pile(cone(30.0, 12.0), 1.0, 40));
        tilted.world.gravity.x = 1.0;
        assert!(repose_angle_deg(&tilted).is_nan(), "on a slope");
    }
}
