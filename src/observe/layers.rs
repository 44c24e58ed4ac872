//! Layers of a bed: solid fraction, velocity and stress of the grains as profiles along an axis.

use glam::{DMat3, DVec3};

use super::contacts::coordination;
use super::regions::place_near;
use super::stress::mean_stresses;
use super::{Base, grains};
use crate::engine::Snapshot;
use crate::model::plane::grain_volume;
use crate::model::{self, Meter, Plane, Region, outer};

/// Layers of equal thickness that a box or a cylinder is cut into.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct LayerPlan {
    /// Box or cylinder. A grain counts if its centre is within the cross section of the region, wherever it is along the axis.
    pub region: Region,
    /// Unit vector across the layers; for a cylinder its axis.
    pub axis: DVec3,
    /// Number of layers.
    pub count: usize,
}

/// Averages of one layer. A grain counts in each layer that it reaches into, by the share of its volume there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Layer {
    /// Solid fraction: volume of the grains over the volume of the layer \[-\].
    pub solid_fraction: f64,
    /// Mean velocity, weighted by mass \[m/s\]; not a number without grains.
    pub velocity: DVec3,
    /// Mean angular velocity, weighted by mass \[rad/s\].
    pub angular_velocity: DVec3,
    /// Granular temperature: mean square of the velocity less the mean velocity, over 3, for discs over 2 \[m²/s²\].
    pub temperature: f64,
    /// Mean number of touching contacts per grain, weighted by mass \[-\].
    pub coordination: f64,
    /// Stress \[E17\] \[Pa\], positive under pressure: mean over the time since the base, with each arm of a contact and each way of a
    /// grain counting by its length in the layer; without a base the part of the velocities of grains whose centre is in the layer.
    pub stress: DMat3,
    /// Mass \[kg\].
    mass: f64,
}

impl Layer {
    const EMPTY: Layer = Layer {
        solid_fraction: 0.0,
        velocity: DVec3::ZERO,
        angular_velocity: DVec3::ZERO,
        temperature: 0.0,
        coordination: 0.0,
        stress: DMat3::ZERO,
        mass: 0.0,
    };
}

/// Part of a grain that lies in one layer.
struct LayerPart {
    layer: usize,
    grain: usize,
    body: usize,
    volume: f64,
    mass: f64,
}

impl LayerPlan {
    /// Lower and upper bound of a layer along the axis, measured from the origin of the coordinates \[m\].
    pub fn bounds(&self, layer: usize) -> [f64; 2] {
        let (first, length) = self.extent();
        [layer, layer + 1].map(|edge| first + length * edge as f64 / self.count as f64)
    }

    /// Start of the first layer along the axis, and length of all layers together \[m\].
    fn extent(&self) -> (f64, f64) {
        match self.region {
            Region::Cylinder { base, axis, length, .. } => (base.dot(axis), length),
            _ => {
                let (min, max) = self.region.bounds();
                (min.dot(self.axis), (max - min).dot(self.axis))
            }
        }
    }

    /// Meter of the stress in the layers.
    pub fn meter(&self) -> Meter {
        let layers = model::Layers { axis: self.axis, count: self.count };
        Meter { region: self.region.clone(), material: None, layers: Some(layers) }
    }

    /// Whether a centre is within the cross section of the region, wherever it is along the axis.
    fn reaches(&self, centre: DVec3) -> bool {
        let middle = self.region.centre();
        self.region.contains(centre + self.axis * self.axis.dot(middle - centre), 0.0, 0.0)
    }

    /// Computes the layers of a state. The stress is the mean since the base; without one it has no part of contacts.
    pub fn layers(&self, snapshot: &Snapshot, base: Option<&Base>) -> Vec<Layer> {
        let world = &snapshot.world;
        let parts = self.parts(snapshot);
        let coordination = coordination(snapshot);
        let volume = self.region.volume_in(world.plane) / self.count as f64;
        let (velocity, spin) = (&world.bodies.velocity, &world.bodies.angular_velocity);
        let mut layers = vec![Layer::EMPTY; self.count];
        for part in &parts {
            let layer = &mut layers[part.layer];
            layer.mass += part.mass;
            layer.velocity += part.mass * velocity[part.body];
            layer.angular_velocity += part.mass * spin[part.body];
            layer.coordination += part.mass * f64::from(coordination[part.grain]);
            layer.solid_fraction += part.volume / volume;
        }
        let share = &snapshot.share;
        for layer in &mut layers {
            layer.mass = share.sum(layer.mass);
            layer.velocity = share.sum(layer.velocity);
            layer.angular_velocity = share.sum(layer.angular_velocity);
            layer.coordination = share.sum(layer.coordination);
            layer.solid_fraction = share.sum(layer.solid_fraction);
            layer.velocity /= layer.mass;
            layer.angular_velocity /= layer.mass;
            layer.coordination /= layer.mass;
        }
        let ways = if world.plane.is_some() { 2.0 } else { 3.0 };
        for part in &parts {
            let layer = &mut layers[part.layer];
            let apart = velocity[part.body] - layer.velocity;
            layer.temperature += part.mass * apart.length_squared() / (ways * layer.mass);
        }
        for layer in &mut layers {
            layer.temperature = share.sum(layer.temperature);
        }
        let stresses = mean_stresses(snapshot, &self.meter(), base)
            .unwrap_or_else(|| self.momentum_fluxes(snapshot, &layers));
        for (layer, stress) in layers.iter_mut().zip(stresses) {
            layer.stress = stress * volume.recip();
        }
        layers.iter_mut().filter(|layer| layer.mass == 0.0).for_each(|layer| layer.temperature = f64::NAN);
        layers
    }

    /// Momentum flux in each layer of the grains whose centre is there, about the mean velocity of the layer, times its volume \[N m\].
    fn momentum_fluxes(&self, snapshot: &Snapshot, layers: &[Layer]) -> Vec<DMat3> {
        let mut fluxes = vec![DMat3::ZERO; layers.len()];
        for grain in grains(snapshot) {
            let place = place_near(&self.region, &snapshot.world, grain.body);
            let Some(layer) = self.layer_of(place) else { continue };
            let apart = snapshot.world.bodies.velocity[grain.body] - layers[layer].velocity;
            fluxes[layer] += grain.mass * outer(apart, apart);
        }
        fluxes.into_iter().map(|flux| snapshot.share.sum(flux)).collect()
    }

    /// Layer that a centre is in, if it is within the cross section.
    fn layer_of(&self, centre: DVec3) -> Option<usize> {
        let (first, length) = self.extent();
        let layer = ((centre.dot(self.axis) - first) / length * self.count as f64).floor();
        let is_one = self.reaches(centre) && layer >= 0.0 && layer < self.count as f64;
        is_one.then_some(layer as usize)
    }

    /// Parts of all grains in the layers that they reach into.
    fn parts(&self, snapshot: &Snapshot) -> Vec<LayerPart> {
        let world = &snapshot.world;
        let (first, length) = self.extent();
        let scale = self.count as f64 / length;
        let below = if world.plane.is_some() { disc_below } else { ball_below };
        let mut parts = Vec::new();
        for grain in grains(snapshot).filter(|grain| self.reaches(world.bodies.position[grain.body])) {
            let spheres = &world.spheres[world.grains[grain.id].spheres()];
            // Volume and mass of a clump are divided among its spheres in proportion to their volumes.
            let size = |radius: f64| grain_volume(world.plane, radius);
            let whole: f64 = spheres.iter().map(|sphere| size(sphere.radius)).sum();
            for sphere in spheres {
                // Lengths in units of the thickness of a layer.
                let centre = (world.sphere_centre(sphere).dot(self.axis) - first) * scale;
                let radius = sphere.radius * scale;
                let reach = (centre - radius).floor().max(0.0) as usize;
                let end = ((centre + radius).ceil().max(0.0) as usize).min(self.count);
                for layer in reach..end {
                    let [low, high] = [layer, layer + 1].map(|edge| below((edge as f64 - centre) / radius));
                    let share = (high - low) * size(sphere.radius) / whole;
                    let (volume, mass) = (share * size(grain.radius), share * grain.mass);
                    let part = LayerPart { layer, grain: grain.id, body: grain.body, volume, mass };
                    parts.extend((share > 0.0).then_some(part));
                }
            }
        }
        parts
    }
}

/// Share of a ball of radius 1 about the origin that lies below a height.
fn ball_below(height: f64) -> f64 {
    let h = height.clamp(-1.0, 1.0);
    0.25 * (2.0 + 3.0 * h - h * h * h)
}

/// Share of a disc of radius 1 about the origin that lies below a height.
fn disc_below(height: f64) -> f64 {
    let h = height.clamp(-1.0, 1.0);
    0.5 + (h.asin() + h * (1.0 - h * h).sqrt()) / std::f64::consts::PI
}

/// Usual axis of layers (0, 1, 2 for x, y, z): the axis with the largest component of gravity, z if they are equal; in a plane only the
/// axes of the plane count.
pub fn usual_axis(gravity: DVec3, plane: Option<Plane>) -> usize {
    let axes = plane.map_or(vec![2, 1, 0], |plane| plane.axes().into_iter().rev().collect());
    axes.into_iter()
        .reduce(|best, axis| if gravity[axis].abs() > gravity[best].abs() { axis } else { best })
        .unwrap_or(2)
}

#[cfg(test)]
mod tests {
    use super::super::regions::{RegionPlan, bulk_stress};
    use super::super::test_worlds::{empty, measured, stack};
    use super::*;

    fn plan(count: usize) -> LayerPlan {
        let region = Region::Box { min: DVec3::new(-1.0, -1.0, -0.4), max: DVec3::new(1.0, 1.0, 3.6) };
        LayerPlan { region, axis: DVec3::Z, count }
    }

    #[test]
    fn shares_of_balls_and_discs_are_those_of_many_slices() {
        for (below, width) in [
            (ball_below as fn(f64) -> f64, (|z: f64| 0.75 * (1.0 - z * z)) as fn(f64) -> f64),
            (disc_below, |z| (1.0 - z * z).sqrt() * 2.0 / std::f64::consts::PI),
        ] {
            assert_eq!([below(-3.0), below(0.0), below(9.0)], [0.0, 0.5, 1.0]);
            let slices = |to: f64| (0..10_000).map(move |i| (f64::from(i) + 0.5) / 1e4 * (to + 1.0) - 1.0);
            for to in [-0.7, 0.2, 0.9] {
                let sum: f64 = slices(to).map(|z| width(z) * (to + 1.0) / 1e4).sum();
                assert!((below(to) - sum).abs() < 1e-6, "{} of {sum}", below(to));
            }
        }
    }

    #[test]
    fn layers_hold_together_what_the_region_holds() {
        let region = RegionPlan { name: "all".into(), region: plan(1).region, material: None };
        let counts = [1, 7, 40];
        let meters = [region.meter()].into_iter().chain(counts.map(|count| plan(count).meter()));
        let (state, base) = measured(stack(), meters.collect());
        let whole = bulk_stress(&state, &region, Some(&base));
        for count in counts {
            let layers = plan(count).layers(&state, Some(&base));
            let mean = |of: &dyn Fn(&Layer) -> f64| layers.iter().map(of).sum::<f64>() / count as f64;
            let mass: f64 = layers.iter().map(|layer| layer.mass).sum();
            assert!((mass - 18.0).abs() < 1e-12);
            // 18 kg at 12/π kg/m³ in 16 m³.
            let solid = 18.0 / (12.0 / std::f64::consts::PI) / 16.0;
            assert!((mean(&|layer| layer.solid_fraction) - solid).abs() < 1e-12);
            let momentum = layers.iter().filter(|layer| layer.mass > 0.0);
            let momentum: f64 = momentum.map(|layer| layer.mass * layer.velocity.x).sum();
            let bodies = &state.world.bodies;
            let expected = 2.0 * bodies.velocity[1].x + 16.0 * bodies.velocity[2].x;
            assert!((momentum - expected).abs() < 1e-12, "{momentum} for {expected}");
            // The mean velocity, and so the flux about it, depends on the number of layers; along y nothing moves.
            let stress = mean(&|layer| layer.stress.col(1)[1]);
            assert!((stress - whole.col(1)[1]).abs() < 1e-9, "{stress}");
        }
        let one = plan(1).layers(&state, Some(&base))[0];
        assert!((one.stress - whole).abs_diff_eq(DMat3::ZERO, 1e-9), "{:?}, {whole:?}", one.stress);
    }

    #[test]
    fn every_layer_of_a_column_carries_the_weight_above_it() {
        // Layers of 0.1 m: 180 N below the centre at 0.45 m, 160 N between the centres, nothing above that at 1.9 m, on 4 m².
        let mut still = stack();
        still.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::ZERO);
        let (state, base) = measured(still, vec![plan(40).meter()]);
        // The contact with the floor is 0.025 m below it, so the lowest layer of the arm, from -0.1 m on, has a quarter of it.
        for (i, layer) in plan(40).layers(&state, Some(&base)).iter().enumerate() {
            let middle = -0.35 + 0.1 * i as f64;
            let force = match middle {
                z if z < -0.1 => 0.0,
                z if z < 0.0 => 0.25 * 180.0,
                z if z < 0.4 => 180.0,
                z if z < 0.5 => 0.5 * (180.0 + 160.0),
                z if z < 1.9 => 160.0,
                _ => 0.0,
            };
            let found = layer.stress.col(2)[2] * 4.0;
            assert!((found - force).abs() < 1e-9, "{found} N at {middle} m, expected {force}");
        }
    }

    #[test]
    fn a_grain_counts_where_it_is_and_empty_layers_have_no_velocity() {
        // The grain of 2 kg spans z = -0.05 m to 0.95 m, the other 0.9 m to 2.9 m.
        let layers = plan(8).layers(&stack(), None);
        assert!(layers[6].mass > 0.0 && layers[7].mass == 0.0);
        assert!(layers[7].velocity.is_nan() && layers[7].temperature.is_nan());
        assert!((layers[1].velocity - layers[5].velocity).length() > 0.1, "of one grain each");
        assert!(plan(8).layers(&empty(), None).iter().all(|layer| layer.solid_fraction == 0.0));
        // Grains with a centre outside of the cross section do not count.
        let region = Region::Box { min: DVec3::new(0.4, -1.0, 0.0), max: DVec3::new(1.0, 1.0, 3.0) };
        let beside = LayerPlan { region, ..plan(3) };
        assert!(beside.layers(&stack(), None).iter().all(|layer| layer.mass == 0.0));
    }
}
