//! Rose of a picture: the distribution of the directions of the shown forces, by number and by force.

use super::Force;
use super::camera::Camera;
use super::picture::{INK, Picture};

/// Number of classes of directions between 0° and 180° \[-\]; the first class is around 0°.
const CLASSES: usize = 36;
/// Empty margin at each side of a rose, over the side of its square \[-\].
const MARGIN: f64 = 0.06;
/// Samples of a pixel along each axis.
const SAMPLES: usize = 3;
/// Colours of the distribution by number and of that by force.
const COLOURS: [[u8; 3]; 2] = [[120, 170, 210], [213, 94, 0]];

/// Distribution of the forces over their directions in the plane of a picture, by number and by size \[-\]. A direction and its
/// reverse count as one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Rose {
    shares: [[f64; CLASSES]; 2],
}

impl Rose {
    /// Distribution of some forces; `None` when none of them has a direction in the plane.
    fn of<'a>(forces: impl IntoIterator<Item = &'a Force>, camera: &Camera) -> Option<Rose> {
        let mut shares = [[0.0; CLASSES]; 2];
        for force in forces {
            let along = camera.turn(force.ends[1] - force.ends[0]);
            if along.x.hypot(along.y) > 1e-9 * along.length() {
                let class = class_of(along.x, along.y);
                shares[0][class] += 1.0;
                shares[1][class] += force.size;
            }
        }
        let sums = shares.map(|shares| shares.iter().sum::<f64>());
        for (shares, sum) in shares.iter_mut().zip(sums) {
            shares.iter_mut().for_each(|share| *share /= sum);
        }
        (sums[0] > 0.0).then_some(Rose { shares })
    }

    fn largest(&self) -> f64 {
        self.shares.as_flattened().iter().fold(0.0, |most, share| most.max(*share))
    }

    /// Whether a point lies within the rose by number, and within the rose by force. The unit of `x` and `y` is the largest share.
    fn holds(&self, x: f64, y: f64) -> [bool; 2] {
        let distance = x.hypot(y) * self.largest();
        self.shares.map(|shares| distance < shares[class_of(x, y)])
    }
}

/// Class of a direction, x to the right and y up.
fn class_of(x: f64, y: f64) -> usize {
    let share = y.atan2(x).to_degrees().rem_euclid(180.0) / 180.0;
    (share * CLASSES as f64 + 0.5) as usize % CLASSES
}

/// Draws the rose of some forces into a square of `side` pixels in the lower right corner of a picture: by number filled, by force as
/// an outline.
pub fn draw<'a>(
    picture: &mut Picture,
    side: usize,
    forces: impl IntoIterator<Item = &'a Force>,
    camera: &Camera,
) {
    let Some(rose) = Rose::of(forces, camera) else { return };
    let (left, top) = (picture.width.saturating_sub(side), picture.height.saturating_sub(side));
    let half = 0.5 * (side * SAMPLES) as f64;
    let at = |step: usize| ((step as f64 + 0.5) / half - 1.0) / (1.0 - 2.0 * MARGIN);
    let holds = |x: usize, y: usize| rose.holds(at(x), -at(y));
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
        let inside = |i: usize, x: usize, y: usize| {
            let samples = (0..SAMPLES).flat_map(|i| (0..SAMPLES).map(move |j| (i, j)));
            samples.filter(|(dx, dy)| holds(x * SAMPLES + dx, y * SAMPLES + dy)[i]).count() as f32
                / (SAMPLES * SAMPLES) as f32
        };
        let place = [(left + x) as i64, (top + y) as i64];
        picture.blend(place, COLOURS[0], inside(0, x, y));
        // The outline is where a pixel is partly inside, or differs from a neighbour.
        let around = [(x, y), (x + 1, y), (x, y + 1)].map(|(x, y)| inside(1, x, y));
        let spread = around.iter().fold(0.0f32, |most, one| most.max((one - around[0]).abs()));
        let partly = 4.0 * around[0] * (1.0 - around[0]);
        picture.blend(place, COLOURS[1], spread.max(partly));
    }
    let middle = side / 2;
    picture.fill([left + middle, top + middle], [1; 2], INK);
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::model::World;
    use crate::output::outline::Extent;
    use crate::render::Look;

    fn some(forces: &[([f64; 3], f64)]) -> Vec<Force> {
        let force = |(end, size): &([f64; 3], f64)| Force {
            ends: [DVec3::ZERO, DVec3::from_array(*end)],
            size: *size,
        };
        forces.iter().map(force).collect()
    }

    fn camera() -> Camera {
        let look = Look { azimuth_deg: 0.0, elevation_deg: 0.0, ..Look::of_scene(&World::default()) };
        Camera::new(&look, Extent::NOTHING.with(DVec3::ZERO, 1.0), 400.0, 400.0)
    }

    #[test]
    fn directions_count_by_number_and_by_force_and_those_along_the_view_do_not() {
        let forces =
            [([1.0, 0.0, 0.0], 1.0), ([-1.0, 0.2, 0.0], 1.0), ([0.0, 0.0, 1.0], 6.0), ([0.0, 1.0, 0.0], 5.0)];
        let rose = Rose::of(&some(&forces), &camera()).expect("a rose");
        let [number, size] = rose.shares.map(|shares| [shares[0], shares[CLASSES / 2]]);
        assert!((number[0] - 2.0 / 3.0).abs() < 1e-12 && (number[1] - 1.0 / 3.0).abs() < 1e-12, "{number:?}");
        assert!((size[0] - 0.25).abs() < 1e-12 && (size[1] - 0.75).abs() < 1e-12, "{size:?}");
        assert_eq!(Rose::of(&some(&[([0.0, 1.0, 0.0], 5.0)]), &camera()), None);
    }

    #[test]
    fn a_rose_has_petals_where_forces_point_and_none_across() {
        let mut picture = Picture { width: 400, height: 400, pixels: vec![[9; 3]; 400 * 400] };
        draw(&mut picture, 120, &some(&[([0.0, 0.0, 1.0], 1.0)]), &camera());
        let row = |y: usize| (280 + y) * 400 + 280;
        let drawn =
            |y: usize| picture.pixels[row(y)..row(y) + 120].iter().filter(|pixel| **pixel != [9; 3]).count();
        // One class is 5° wide: 3.5 pixels at 40 pixels from the middle, and its outline.
        for y in [20, 99] {
            assert!((3..8).contains(&drawn(y)), "{} pixels at {} from the top", drawn(y), y);
            assert_ne!(picture.pixels[row(y) + 60], [9; 3], "above or below the middle");
        }
        assert_eq!(picture.pixels[row(60) + 20], [9; 3], "to the side");
        assert_eq!(picture.pixels[0], [9; 3], "the rest of the picture is as it was");
    }
}
