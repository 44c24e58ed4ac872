//! Periodic boundaries: grains that leave the cell on one side enter it on the other.
//!
//! ```text
//!        min           min + length
//!  ·  ·  ·│·  ·  ·  ·  ·  ·│·  ·  ·
//!         │  a          b  │(a)         b meets the image of a across the face:
//!  ·  ·  ·│·  ·  ·  ·  ·  ·│·  ·  ·     separation(b, a) points to the right
//! ```
//!
//! Only separations count, so a periodic face has no effect on contacts near it. Grains are kept in the cell; boundaries stay where
//! they are and act through their nearest image.
//!
//! The images of a sheared cell lie on sliding bricks (Lees & Edwards 1972): those across one face are shifted along another axis, by the
//! tilt of the cell. The brick itself, in which grains are kept, stays rectangular, so that any strain is possible \[E23\].

use glam::{BVec3, DMat3, DVec3, I64Vec3};

use super::World;
use crate::error::Error;

/// Least number of cells of the contact search per period: with fewer, a grain would meet two images of another.
const LEAST_CELLS: f64 = 3.0;
/// Tolerance for rounding of a period that is a whole number of cells \[-\].
const SLACK: f64 = 1e-9;
/// Largest number of cells per period, which an integer of the GPU engine can hold.
const MOST_CELLS: f64 = (1 << 30) as f64;

/// Axes along which the world is periodic.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Periodic {
    /// Corner of the cell with the least coordinates \[m\]; without meaning on an axis that is not periodic.
    pub min: DVec3,
    /// Length of the cell \[m\]; 0 on an axis that is not periodic.
    pub length: DVec3,
    /// Shift of the images across a sheared face.
    pub tilt: Tilt,
}

/// Shift of the periodic images across one face along another axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Tilt {
    /// Shift of the next image across the upper face \[m\], from minus to plus half the period along its axis; 0 without shear.
    pub shift: f64,
    /// Axis of the shift: 0, 1 or 2 for x, y or z.
    pub along: u8,
    /// Axis across the sheared face.
    pub across: u8,
}

impl Tilt {
    /// No shift.
    pub const NONE: Tilt = Tilt { shift: 0.0, along: 0, across: 1 };

    /// Vector of the shift \[m\].
    #[inline]
    fn vector(&self) -> DVec3 {
        DVec3::AXES[self.along as usize] * self.shift
    }
}

impl Default for Tilt {
    fn default() -> Tilt {
        Tilt::NONE
    }
}

impl Periodic {
    /// No axis.
    pub const NONE: Periodic = Periodic { min: DVec3::ZERO, length: DVec3::ZERO, tilt: Tilt::NONE };

    /// Whether no axis is periodic.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.length == DVec3::ZERO
    }

    /// Shortest vector from a position to the images of another \[m\].
    #[inline]
    pub fn separation(&self, from: DVec3, to: DVec3) -> DVec3 {
        self.image(to, from) - from
    }

    /// Shortest of a vector between two positions and those between their images \[m\]; of the opposite vector exactly the opposite.
    #[inline]
    pub fn shortest(&self, apart: DVec3) -> DVec3 {
        self.image(apart, DVec3::ZERO)
    }

    /// Image of a position that is nearest to another \[m\].
    #[inline]
    pub fn image(&self, position: DVec3, near: DVec3) -> DVec3 {
        if self.is_none() {
            return position;
        }
        let apart = position - near;
        let is_far = self.is_periodic() & apart.abs().cmpgt(0.5 * self.length);
        // Most pairs are near each other and need no division.
        if !is_far.any() {
            return position;
        }
        if self.tilt.shift != 0.0 {
            return self.image_of_sheared(position, near);
        }
        let shift = (apart / self.length).round() * self.length;
        DVec3::select(is_far, position - shift, position)
    }

    /// Image in a sheared cell: the nearest layer of images first, then the nearest image in it. No other image is as near along each axis
    /// as half a period.
    fn image_of_sheared(&self, position: DVec3, near: DVec3) -> DVec3 {
        let across = self.tilt.across as usize;
        let layers = ((position[across] - near[across]) / self.length[across]).round();
        let moved = position - layers * self.tilt.vector();
        let apart = moved - near;
        let is_far = self.is_periodic() & apart.abs().cmpgt(0.5 * self.length);
        DVec3::select(is_far, moved - (apart / self.length).round() * self.length, moved)
    }

    /// Image of a position that lies in the cell, from `min` up to but not including the other end \[m\].
    #[inline]
    pub fn wrap(&self, position: DVec3) -> DVec3 {
        if self.is_none() { position } else { self.wrapped(position) }
    }

    fn wrapped(&self, position: DVec3) -> DVec3 {
        let end = self.min + self.length;
        let position = if self.tilt.shift == 0.0 {
            position
        } else {
            let across = self.tilt.across as usize;
            let layers = ((position[across] - self.min[across]) / self.length[across]).floor();
            position - layers * self.tilt.vector()
        };
        let is_inside = position.cmpge(self.min) & position.cmplt(end);
        let periods = ((position - self.min) / self.length).floor();
        let wrapped = position - periods * self.length;
        // Rounding may lead just past either end.
        let is_past = wrapped.cmplt(self.min) | wrapped.cmpge(end);
        let wrapped = DVec3::select(is_past, self.min, wrapped);
        self.select(DVec3::select(is_inside, position, wrapped), position)
    }

    /// Centre of the cell \[m\], which stays in place while the cell deforms.
    pub fn centre(&self) -> DVec3 {
        self.min + 0.5 * self.length
    }

    /// The cell after a time `h` \[s\] of a flow with this velocity gradient \[1/s\]: strain rates along the axes, and the shear rate of
    /// `tilt`. Every edge e of the lattice of images becomes e + h L e, and the centre stays.
    #[must_use]
    pub fn deformed(&self, gradient: &DMat3, h: f64) -> Periodic {
        let (along, across) = (self.tilt.along as usize, self.tilt.across as usize);
        let growth = |axis: usize| 1.0 + h * gradient.col(axis)[axis];
        let length = DVec3::from([0, 1, 2].map(|axis| growth(axis) * self.length[axis]));
        let sheared = growth(along) * self.tilt.shift + h * gradient.col(across)[along] * self.length[across];
        let period = length[along];
        let shift = if period > 0.0 { sheared - (sheared / period).round() * period } else { sheared };
        Periodic { min: self.centre() - 0.5 * length, length, tilt: Tilt { shift, ..self.tilt } }
    }

    /// Volume of the cell \[m³\]; the factor of an axis that is not periodic is 1 m, the depth of discs.
    pub fn volume(&self) -> f64 {
        self.select(self.length, DVec3::ONE).element_product()
    }

    /// Slope of the edge across a sheared face \[-\].
    pub fn slope(&self) -> f64 {
        match self.tilt.shift {
            0.0 => 0.0,
            shift => shift / self.length[self.tilt.across as usize],
        }
    }

    /// Images of a position that are within `reach` of the cell \[m\], including the one in the cell. The cell is not sheared.
    pub fn images(&self, position: DVec3, reach: f64) -> impl Iterator<Item = DVec3> {
        let inside = self.wrap(position);
        let steps = [0, 1, 2].map(|axis| {
            let (place, length) = (inside[axis], self.length[axis]);
            let has_below = length > 0.0 && place + reach >= self.min[axis] + length;
            let has_above = length > 0.0 && place - reach <= self.min[axis];
            (-i8::from(has_below)..=i8::from(has_above)).map(move |step| f64::from(step) * length)
        });
        let [x, y, z] = steps;
        x.flat_map(move |x| {
            let z = z.clone();
            y.clone().flat_map(move |y| z.clone().map(move |z| inside + DVec3::new(x, y, z)))
        })
    }

    /// Number of cells of the contact search along each axis, each at least `reach` wide \[m\]; 0 on an axis that is not periodic.
    pub fn cells(&self, reach: f64) -> I64Vec3 {
        let fitting = (self.length / reach * (1.0 + SLACK)).floor().min(DVec3::splat(MOST_CELLS));
        fitting.as_i64vec3()
    }

    /// Number of cells of the lowest of `levels` levels of the contact search along each axis, each at least `reach` wide \[m\]: a
    /// whole number of cells of every level, and so at least one of the widest. 0 on an axis that is not periodic.
    pub fn cells_of_levels(&self, reach: f64, levels: u32) -> I64Vec3 {
        let lowest_per_widest = 1 << (levels - 1);
        let widest = self.cells(reach * lowest_per_widest as f64);
        widest.min(I64Vec3::splat(MOST_CELLS as i64 / lowest_per_widest)) * lowest_per_widest
    }

    /// Least length of a period for contacts with the reach `reach` \[m\].
    pub fn least_length(reach: f64) -> f64 {
        LEAST_CELLS * reach
    }

    /// Axes whose period is too short for contacts with the reach `reach` \[m\].
    pub fn short_axes(&self, reach: f64) -> impl Iterator<Item = usize> {
        let cells = self.cells(reach);
        let is_short = move |axis: usize| self.length[axis] > 0.0 && (cells[axis] as f64) < LEAST_CELLS;
        (0..3).filter(move |&axis| is_short(axis))
    }

    /// Checks that no grain can meet two images of another, for contacts with the reach `reach` \[m\].
    ///
    /// # Errors
    /// When a period is shorter than three times the reach.
    pub fn check(&self, reach: f64) -> Result<(), Error> {
        match self.short_axes(reach).next() {
            Some(axis) => Err(Error::ShortPeriod {
                axis: ["x", "y", "z"][axis],
                length: self.length[axis],
                least: Periodic::least_length(reach),
            }),
            None => Ok(()),
        }
    }

    /// `periodic` on the periodic axes, `other` elsewhere.
    pub fn select(&self, periodic: DVec3, other: DVec3) -> DVec3 {
        DVec3::select(self.is_periodic(), periodic, other)
    }

    #[inline]
    fn is_periodic(&self) -> BVec3 {
        self.length.cmpgt(DVec3::ZERO)
    }
}

impl World {
    /// Shortest vector from a position to the images of another \[m\].
    #[inline]
    pub fn separation(&self, from: DVec3, to: DVec3) -> DVec3 {
        self.periodic.separation(from, to)
    }

    /// Image of a position that lies in the periodic cell \[m\].
    pub fn wrap(&self, position: DVec3) -> DVec3 {
        self.periodic.wrap(position)
    }
}

/// Largest distance of the centres of two grains of at most this radius \[m\] in a contact \[m\], with a margin in mean diameters.
pub fn contact_reach(radius: f64, margin: f64) -> f64 {
    2.0 * radius * (1.0 + margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Periodic =
        Periodic { min: DVec3::new(-1.0, 5.0, 2.0), length: DVec3::new(3.0, 0.0, 0.7), tilt: Tilt::NONE };

    #[test]
    fn the_nearest_image_in_a_sheared_cell_is_the_nearest_of_all() {
        let mut cell = Periodic { length: DVec3::new(3.0, 2.0, 0.7), ..CELL };
        for (along, across) in [(0, 1), (2, 0), (1, 2)] {
            for shift in [-0.5, -0.21, 0.003, 0.37] {
                cell.tilt = Tilt { shift: shift * cell.length[along as usize], along, across };
                for i in 0..300 {
                    let place = |k: f64| 9.0 * DVec3::new(0.37 * k, 0.71 * k, 0.13 * k).map(f64::sin);
                    let (a, b) = (place(f64::from(i)), place(0.7 + 1.9 * f64::from(i)));
                    let (a, b) = (cell.wrap(a), cell.wrap(b));
                    assert!(
                        (a - cell.min).cmpge(DVec3::ZERO).all() && (a - cell.min).cmplt(cell.length).all()
                    );
                    assert_eq!(cell.wrap(a), a, "once is enough");
                    let found = cell.separation(a, b);
                    // All images in three layers.
                    let steps = [-2.0, -1.0, 0.0, 1.0, 2.0];
                    let nearest = steps.into_iter().flat_map(|x| {
                        steps
                            .into_iter()
                            .flat_map(move |y| steps.into_iter().map(move |z| DVec3::new(x, y, z)))
                    });
                    let image = |n: DVec3| b + n * cell.length + n[across as usize] * cell.tilt.vector() - a;
                    let least =
                        nearest.map(image).min_by(|one, other| one.length().total_cmp(&other.length()));
                    let least = least.expect("images");
                    // Contacts are shorter than a third of each period.
                    if (least.abs() / cell.length).max_element() < 0.45 {
                        assert!((least - found).length() < 1e-13, "{least} and {found}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_cell_takes_its_images_with_it_as_it_deforms() {
        let mut cell = Periodic { length: DVec3::new(3.0, 2.0, 0.7), ..CELL };
        cell.tilt = Tilt { shift: 0.4, along: 0, across: 1 };
        let gradient = DMat3::from_cols(
            DVec3::new(-0.1, 0.0, 0.0),
            DVec3::new(7.0, 0.2, 0.0),
            DVec3::new(0.0, 0.0, 0.3),
        );
        let (h, mut place) = (0.01, DVec3::new(0.3, 5.1, 2.2));
        let mut image = place + DVec3::new(0.4, 2.0, 0.0) - DVec3::new(3.0, 0.0, 0.7);
        for _ in 0..500 {
            let moved = |x: DVec3| x + h * (gradient * (x - cell.centre()));
            let after = cell.deformed(&gradient, h);
            (place, image) = (moved(place), moved(image));
            let apart = after.separation(place, image);
            assert!(apart.length() < 1e-12, "{apart}");
            cell = after;
            assert!(cell.tilt.shift.abs() <= 0.5 * cell.length.x);
        }
        assert!((cell.volume() / 4.2 - (0.999f64 * 1.002 * 1.003).powi(500)).abs() < 1e-12 * cell.volume());
    }

    #[test]
    fn a_position_is_wrapped_into_the_cell_by_whole_periods() {
        assert_eq!(CELL.wrap(DVec3::new(2.5, 99.0, 1.5)), DVec3::new(-0.5, 99.0, 2.2));
        assert_eq!(CELL.wrap(DVec3::new(-1.0, -99.0, 2.0)), DVec3::new(-1.0, -99.0, 2.0));
        assert_eq!(CELL.wrap(DVec3::new(2.0, 0.0, 2.1)).x, -1.0, "the far end belongs to the next cell");
        for i in -2000..2000 {
            let far = DVec3::splat(f64::from(i) * 0.37);
            for place in [far, far.map(f64::next_down), -1e-18 * far + CELL.min] {
                let wrapped = CELL.wrap(place);
                assert!(wrapped.x >= -1.0 && wrapped.x < 2.0, "{place} to {wrapped}");
                assert!(wrapped.z >= 2.0 && wrapped.z < 2.7, "{place} to {wrapped}");
                assert_eq!(CELL.wrap(wrapped), wrapped, "once is enough");
            }
        }
    }

    #[test]
    fn a_separation_is_the_shortest_of_all_images() {
        let apart = CELL.separation(DVec3::new(1.9, 0.0, 2.05), DVec3::new(-0.9, 7.0, 2.65));
        assert!((apart - DVec3::new(0.2, 7.0, -0.1)).length() < 1e-15, "{apart}");
        let back = CELL.separation(DVec3::new(-0.9, 7.0, 2.65), DVec3::new(1.9, 0.0, 2.05));
        assert!((apart + back).length() < 1e-15);
        let far = CELL.separation(DVec3::ZERO, DVec3::new(3.0 * 7.0 + 0.25, 0.0, -0.7 * 4.0));
        assert!((far - DVec3::new(0.25, 0.0, 0.0)).length() < 1e-14, "{far}");
    }

    #[test]
    fn without_periodic_axes_nothing_changes_to_the_last_bit() {
        let (a, b) = (DVec3::new(0.1, 1e9, -3e-7), DVec3::new(1.0 / 3.0, -7.7, 1e-30));
        let none = Periodic::default();
        assert_eq!((none.wrap(a), none.separation(a, b)), (a, b - a));
        assert_eq!((none.image(a, b), none.images(a, 1e9).count()), (a, 1));
        assert_eq!(none.cells(0.1), I64Vec3::ZERO);
    }

    #[test]
    fn a_place_near_a_corner_has_four_images_near_the_cell_with_two_periodic_axes() {
        let corner = DVec3::new(-0.95, 0.0, 2.65);
        let images: Vec<DVec3> = CELL.images(corner, 0.1).collect();
        assert_eq!(images.len(), 4, "{images:?}");
        for image in &images {
            assert!(CELL.separation(corner, *image).length() < 1e-15);
        }
        assert_eq!(CELL.images(DVec3::new(0.0, 0.0, 2.3), 0.1).count(), 1);
    }

    #[test]
    fn a_period_of_exactly_three_cells_is_long_enough_whatever_the_rounding() {
        for i in 1..1000 {
            let reach = f64::from(i) * 0.0137;
            let cell = Periodic {
                min: DVec3::ZERO,
                length: DVec3::new(Periodic::least_length(reach), 0.0, 0.0),
                ..Periodic::NONE
            };
            assert!(cell.check(reach).is_ok() && cell.cells(reach) == I64Vec3::new(3, 0, 0));
            assert!(cell.check(1.000_001 * reach).is_err());
        }
    }
}
