//! Meters: parts of a scene in which engines sum the stress of the contacts, and count the grains that come in.

use std::ops::{AddAssign, Sub};

use glam::{DMat3, DVec3};

use super::{MaterialId, Periodic, Region, World, outer};

/// Meter of a region, as a whole or cut into layers: of the stress in it \[E17\], and of the grains that come into the whole.
///
/// An engine adds up impulse times arm of every contact of the grains of the meter, in each of its substeps and rounds of impacts, and
/// what the grains carry as they move. A meter has [sums](MeterSums) of the whole region, or of every layer: its bins.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Meter {
    /// Region. A grain counts if its centre is inside; in layers if its centre is within the cross section of the region, wherever it is
    /// along the axis.
    pub region: Region,
    /// Material whose grains count; `None`: all grains count.
    pub material: Option<MaterialId>,
    /// Layers that the region is cut into; `None`: it is one whole.
    pub layers: Option<Layers>,
}

/// Sums of a bin of a meter since the start \[E17\].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct MeterSums {
    /// Arm times impulse of the contacts, impacts included \[N m s\].
    pub contacts: DMat3,
    /// Momentum of the grains times the way on which they carry it: the momentum flux, summed over time \[N m s\].
    pub flux: DMat3,
    /// Momentum of the grains, summed over time \[kg m\].
    pub momentum: DVec3,
    /// Mass of the grains, summed over time \[kg s\].
    pub mass: f64,
    /// Number of times that a grain came into the region \[-\]; 0 of a layer.
    pub entries: f64,
    /// Mass of the grains that came in, as often as they did \[kg\]; 0 of a layer.
    pub entered_mass: f64,
}

impl MeterSums {
    /// Number of real numbers in the sums.
    pub const NUMBERS: usize = 24;
    /// No contact, and no grain.
    pub const ZERO: MeterSums = MeterSums {
        contacts: DMat3::ZERO,
        flux: DMat3::ZERO,
        momentum: DVec3::ZERO,
        mass: 0.0,
        entries: 0.0,
        entered_mass: 0.0,
    };

    /// What a grain of this mass \[kg\] adds as it moves at a velocity \[m/s\] for a time \[s\].
    pub fn of_motion(mass: f64, velocity: DVec3, time: f64) -> MeterSums {
        let way = time * velocity;
        let momentum = mass * velocity;
        MeterSums {
            flux: outer(way, momentum),
            momentum: time * momentum,
            mass: time * mass,
            ..MeterSums::ZERO
        }
    }

    /// What a grain of this mass \[kg\] adds as it comes into a region.
    pub fn of_entry(mass: f64) -> MeterSums {
        MeterSums { entries: 1.0, entered_mass: mass, ..MeterSums::ZERO }
    }

    /// Stress times volume times time \[N m s\]: the part of the contacts, and the momentum flux less that of the mean velocity.
    pub fn stress(&self) -> DMat3 {
        if self.mass == 0.0 {
            return self.contacts;
        }
        let of_mean = outer(self.momentum, self.momentum / self.mass);
        self.contacts + (self.flux - of_mean)
    }

    /// This share of the sums.
    #[must_use]
    pub fn share(&self, share: f64) -> MeterSums {
        MeterSums {
            contacts: share * self.contacts,
            flux: share * self.flux,
            momentum: share * self.momentum,
            mass: share * self.mass,
            entries: share * self.entries,
            entered_mass: share * self.entered_mass,
        }
    }

    /// All numbers, one after the other.
    pub fn to_array(&self) -> [f64; MeterSums::NUMBERS] {
        let tensors = self.contacts.to_cols_array().into_iter().chain(self.flux.to_cols_array());
        let mut numbers =
            tensors.chain(self.momentum.to_array()).chain([self.mass, self.entries, self.entered_mass]);
        [(); MeterSums::NUMBERS].map(|()| numbers.next().unwrap_or_default())
    }

    /// The sums of these numbers.
    pub fn from_array(numbers: &[f64; MeterSums::NUMBERS]) -> MeterSums {
        MeterSums {
            contacts: DMat3::from_cols_slice(&numbers[..9]),
            flux: DMat3::from_cols_slice(&numbers[9..18]),
            momentum: DVec3::from_slice(&numbers[18..21]),
            mass: numbers[21],
            entries: numbers[22],
            entered_mass: numbers[23],
        }
    }
}

impl AddAssign for MeterSums {
    fn add_assign(&mut self, other: MeterSums) {
        self.contacts += other.contacts;
        self.flux += other.flux;
        self.momentum += other.momentum;
        self.mass += other.mass;
        self.entries += other.entries;
        self.entered_mass += other.entered_mass;
    }
}

impl Sub for MeterSums {
    type Output = MeterSums;

    fn sub(self, other: MeterSums) -> MeterSums {
        MeterSums {
            contacts: self.contacts - other.contacts,
            flux: self.flux - other.flux,
            momentum: self.momentum - other.momentum,
            mass: self.mass - other.mass,
            entries: self.entries - other.entries,
            entered_mass: self.entered_mass - other.entered_mass,
        }
    }
}

/// Layers of equal thickness across an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Layers {
    /// Unit vector across the layers; of a cylinder its axis.
    pub axis: DVec3,
    /// Number of layers.
    pub count: usize,
}

/// Length along the axis below which an arm belongs to one layer as a whole \[layers\]. A shorter one would be divided by rounding errors.
pub const SHORTEST: f64 = 1e-5;

impl Meter {
    /// Number of sums of this meter.
    pub fn bins(&self) -> usize {
        self.layers.map_or(1, |layers| layers.count)
    }

    /// Thickness of a layer \[m\].
    pub fn thickness(&self, layers: &Layers) -> f64 {
        let length = match self.region {
            Region::Cylinder { length, .. } => length,
            _ => {
                let (min, max) = self.region.bounds();
                (max - min).dot(layers.axis.abs())
            }
        };
        length / layers.count as f64
    }

    /// Period along the axis of the layers \[layers\]; `None` if they do not lie across a periodic axis.
    pub fn period(&self, layers: &Layers, periodic: &Periodic) -> Option<f64> {
        let is_along = layers.axis.abs().max_element() > 1.0 - 1e-9;
        let length = periodic.length.dot(layers.axis.abs());
        (is_along && length > 0.0).then(|| length / self.thickness(layers))
    }

    /// Calls `give` with each bin that the arm of a contact lies in, and the share of the arm in it. The arm leads from the centre of the
    /// grain to the contact, and belongs to every layer by its length there. So does the way of a grain in a substep.
    pub fn divide(&self, periodic: &Periodic, centre: DVec3, arm: DVec3, mut give: impl FnMut(usize, f64)) {
        let middle = self.region.centre();
        let place = periodic.image(centre, middle);
        let Some(layers) = &self.layers else {
            if self.region.contains(place, 0.0, 0.0) {
                give(0, 1.0);
            }
            return;
        };
        let along = (place - middle).dot(layers.axis);
        if !self.region.contains(place - along * layers.axis, 0.0, 0.0) {
            return;
        }
        let thickness = self.thickness(layers);
        let start = along / thickness + 0.5 * layers.count as f64;
        let end = start + arm.dot(layers.axis) / thickness;
        layers.cut([start.min(end), start.max(end)], &mut give);
        // What leads out of one face of a period comes in at the other.
        for shift in self.period(layers, periodic).into_iter().flat_map(|period| [-period, period]) {
            layers.cut([start.min(end) + shift, start.max(end) + shift], &mut give);
        }
    }
}

impl Meter {
    /// Whether a centre comes into the region, as a whole, on its straight `way` \[m\] in a substep: it begins outside, and ends inside
    /// or leads through. The end is computed as the positions of grains are, so that it is where the next substep begins. Nothing comes
    /// into layers.
    pub fn is_entered(&self, periodic: &Periodic, centre: DVec3, way: DVec3) -> bool {
        let middle = self.region.centre();
        let (start, end) =
            (periodic.image(centre, middle), periodic.image(periodic.wrap(centre + way), middle));
        let is_inside = |place: DVec3| self.region.contains(place, 0.0, 0.0);
        if self.layers.is_some() || is_inside(start) {
            return false;
        }
        // The nearest image of the start may be another than that of the end.
        is_inside(end)
            || self.region.is_passed(start, way)
            || (!periodic.is_none() && self.region.is_passed(end - way, way))
    }
}

impl Region {
    /// Whether a straight path from `start` by `path` \[m\] comes in and leaves again.
    fn is_passed(&self, start: DVec3, path: DVec3) -> bool {
        let ((min, max), end) = (self.bounds(), start + path);
        if start.max(end).cmplt(min).any() || start.min(end).cmpgt(max).any() {
            return false;
        }
        let (origin, orientation, form) = self.solid();
        let turn = orientation.conjugate();
        let inside = form.passage(turn * (start - origin), turn * path);
        inside.is_some_and(|[from, until]| from > 0.0 && until < 1.0)
    }
}

impl Layers {
    /// Calls `give` with each layer that a length from `low` to `high` lies in \[layers\], and the share of the length in it.
    fn cut(&self, [low, high]: [f64; 2], give: &mut impl FnMut(usize, f64)) {
        if high - low < SHORTEST {
            let layer = (0.5 * (low + high)).floor();
            if layer >= 0.0 && layer < self.count as f64 {
                give(layer as usize, 1.0);
            }
            return;
        }
        let end = (high.ceil().max(0.0) as usize).min(self.count);
        for layer in low.floor().max(0.0) as usize..end {
            let share = (high.min(layer as f64 + 1.0) - low.max(layer as f64)) / (high - low);
            give(layer, share.max(0.0));
        }
    }
}

impl World {
    /// Number of sums of all meters.
    pub fn meter_bins(&self) -> usize {
        self.meters.iter().map(Meter::bins).sum()
    }

    /// First of the sums of this meter among those of all meters; `None` if the world has no such meter.
    pub fn first_bin(&self, meter: &Meter) -> Option<usize> {
        let place = self.meters.iter().position(|known| known == meter)?;
        Some(self.meters[..place].iter().map(Meter::bins).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(count: usize) -> Meter {
        let region = Region::Box { min: DVec3::ZERO, max: DVec3::new(1.0, 1.0, 4.0) };
        Meter { region, material: None, layers: Some(Layers { axis: DVec3::Z, count }) }
    }

    fn shares(meter: &Meter, periodic: &Periodic, height: f64, arm: f64) -> Vec<(usize, f64)> {
        let mut found = Vec::new();
        let centre = DVec3::new(0.5, 0.5, height);
        meter.divide(periodic, centre, arm * DVec3::Z, |bin, share| found.push((bin, share)));
        found
    }

    #[test]
    fn an_arm_belongs_to_each_layer_by_its_length_there() {
        let alone = Periodic::default();
        assert_eq!(shares(&meter(4), &alone, 0.5, 2.0), [(0, 0.25), (1, 0.5), (2, 0.25)]);
        assert_eq!(shares(&meter(4), &alone, 2.5, -2.0), [(0, 0.25), (1, 0.5), (2, 0.25)]);
        assert_eq!(shares(&meter(4), &alone, 2.5, 0.0), [(2, 1.0)], "a level arm");
        assert_eq!(shares(&meter(4), &alone, 3.5, 1.0), [(3, 0.5)], "half of it is above the region");
        assert!(shares(&meter(4), &alone, -0.5, 0.0).is_empty());
        let outside = DVec3::new(2.0, 0.5, 0.5);
        meter(4).divide(&alone, outside, DVec3::Z, |_, _| panic!("it is not within the cross section"));
    }

    #[test]
    fn an_arm_across_a_periodic_face_comes_in_at_the_other() {
        let periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(0.0, 0.0, 4.0), ..Periodic::NONE };
        assert_eq!(shares(&meter(4), &periodic, 3.5, 1.0), [(3, 0.5), (0, 0.5)]);
        assert_eq!(shares(&meter(4), &periodic, 0.5, -1.0), [(0, 0.5), (3, 0.5)]);
    }

    /// Two grains of 1 and 3 kg that pass each other at 4 and -2 m/s for half a second: their mean velocity is -0.5 m/s, and the momentum
    /// flux about it is 1 · 4.5² + 3 · 1.5² = 27 kg m²/s².
    #[test]
    fn the_stress_of_grains_in_flight_is_their_momentum_flux_about_the_mean_velocity() {
        let mut sums = MeterSums::of_motion(1.0, 4.0 * DVec3::Y, 0.5);
        sums += MeterSums::of_motion(3.0, -2.0 * DVec3::Y, 0.5);
        let flux = sums.stress();
        assert!((flux.y_axis.y - 0.5 * 27.0).abs() < 1e-12, "{flux}");
        // All of them faster by the same: nothing changes.
        let wind = DVec3::new(7.0, -1.0, 3.0);
        let mut faster = MeterSums::of_motion(1.0, wind + 4.0 * DVec3::Y, 0.5);
        faster += MeterSums::of_motion(3.0, wind - 2.0 * DVec3::Y, 0.5);
        assert!(
            (faster.stress() - flux).to_cols_array().iter().all(|x| x.abs() < 1e-12),
            "{}",
            faster.stress()
        );
        faster += MeterSums::of_entry(3.0);
        assert_eq!(MeterSums::from_array(&faster.to_array()), faster);
        assert_eq!(MeterSums::ZERO.stress(), DMat3::ZERO, "no grain, no stress");
    }

    /// Whether a centre that goes from one point to another comes into a region.
    fn comes(region: &Region, periodic: &Periodic, [from, to]: [DVec3; 2]) -> bool {
        let meter = Meter { region: region.clone(), material: None, layers: None };
        meter.is_entered(periodic, from, to - from)
    }

    #[test]
    fn a_centre_comes_into_a_region_from_outside_to_its_inside_or_through_it() {
        let (alone, centre, axis) =
            (Periodic::default(), DVec3::new(0.5, 0.5, 2.0), DVec3::new(0.0, 0.6, 0.8));
        let regions = [
            Region::Box { min: centre - 0.001, max: centre + 0.001 },
            Region::Sphere { centre, radius: 0.001 },
            Region::Cylinder { base: centre - 0.001 * axis, axis, length: 0.002, radius: 0.0015 },
        ];
        for region in &regions {
            for way in [DVec3::Z, DVec3::new(-0.3, 0.4, 0.8), DVec3::new(0.7, -0.2, -0.1)] {
                let (from, to) = (centre - way, centre + way);
                assert!(comes(region, &alone, [from, to]), "through {region:?} along {way}");
                assert!(comes(region, &alone, [from, centre]), "to its inside");
                assert!(!comes(region, &alone, [centre, to]), "out of it");
                assert!(!comes(region, &alone, [centre, centre]), "at rest inside");
                assert!(!comes(region, &alone, [from, centre - 0.01 * way]), "it ends before");
                assert!(!comes(region, &alone, [centre + 0.01 * way, to]), "it begins behind");
                let beside = 0.005 * way.any_orthonormal_vector();
                assert!(!comes(region, &alone, [from + beside, to + beside]), "beside it");
            }
        }
    }

    #[test]
    fn a_path_along_a_face_or_to_an_edge_only_touches() {
        let region = Region::Box { min: DVec3::ZERO, max: DVec3::ONE };
        let alone = Periodic::default();
        let touching = |from: [f64; 3], to: [f64; 3]| comes(&region, &alone, [from.into(), to.into()]);
        assert!(!touching([-1.0, 0.5, 1.0], [2.0, 0.5, 1.0]), "along its top");
        assert!(!touching([-0.5, 0.5, 0.5], [0.5, 0.5, 1.5]), "over an edge");
        assert!(touching([-0.5, 0.5, 0.5], [0.5, 0.5, 1.499]), "a little of it is inside");
    }

    #[test]
    fn a_centre_comes_in_across_a_periodic_face() {
        let periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(0.0, 0.0, 4.0), ..Periodic::NONE };
        let at = |z: f64| DVec3::new(0.5, 0.5, z);
        let plate = |low: f64, high: f64| {
            let region = Region::Box { min: DVec3::new(0.0, 0.0, low), max: DVec3::new(1.0, 1.0, high) };
            move |from: f64, to: f64| comes(&region, &periodic, [at(from), at(to)])
        };
        // From 3.9 m to 0.1 m in the next cell: into a region there, and through one about the face.
        let lower = plate(0.01, 1.0);
        assert!(lower(3.9, 4.1) && !lower(3.9, 3.95));
        let about = plate(-0.01, 0.01);
        assert!(about(3.9, 4.1) && about(0.1, -0.1) && !about(0.02, 0.1));
        // A long way: the nearest image of the start is another than that of the end.
        assert!(plate(2.9, 3.0)(0.5, 3.5) && plate(2.9, 3.0)(3.5, 0.5));
        // A region that spans the cell is never left, and so never entered.
        assert!(!plate(0.0, 4.0)(3.9, 4.1));
    }

    #[test]
    fn a_meter_is_found_by_what_it_measures() {
        let mut world = World { meters: vec![meter(4), meter(7), meter(2)], ..World::default() };
        assert_eq!((world.meter_bins(), world.first_bin(&meter(2))), (13, Some(11)));
        world.meters.pop();
        assert_eq!(world.first_bin(&meter(2)), None);
    }
}
