//! Meters: parts of a scene in which engines sum the stress of the contacts.

use glam::DVec3;

use super::{MaterialId, Periodic, Region, World};

/// Meter of the stress in a region, as a whole or cut into layers \[E17\].
///
/// An engine adds up impulse times arm of every contact of the grains of the meter, in each of its substeps and rounds of impacts. A meter
/// has one sum, or one per layer: its bins.
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
    /// grain to the contact, and belongs to every layer by its length there.
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
        let periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(0.0, 0.0, 4.0) };
        assert_eq!(shares(&meter(4), &periodic, 3.5, 1.0), [(3, 0.5), (0, 0.5)]);
        assert_eq!(shares(&meter(4), &periodic, 0.5, -1.0), [(0, 0.5), (3, 0.5)]);
    }

    #[test]
    fn a_meter_is_found_by_what_it_measures() {
        let mut world = World { meters: vec![meter(4), meter(7), meter(2)], ..World::default() };
        assert_eq!((world.meter_bins(), world.first_bin(&meter(2))), (13, Some(11)));
        world.meters.pop();
        assert_eq!(world.first_bin(&meter(2)), None);
    }
}
