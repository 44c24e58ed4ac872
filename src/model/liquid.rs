//! Liquid of a scene \[E22\]: which materials it wets, how much of it a bridge takes, and which pairs of shapes have a bridge.

use super::solids::shape_id;
use super::{SpherePart, World};
use crate::law::bridge::{BridgeLaw, Meniscus};

/// Volume of liquid in a bridge.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum BridgeVolume {
    /// The same in every bridge \[m³\].
    Fixed(f64),
    /// Over the cube of the radius of the smaller sphere, or of the sphere at a wall \[-\].
    OfSphere(f64),
}

/// Liquid that makes bridges between bodies that touch, and the bridges that there are.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Liquid {
    /// Coefficients of all bridges.
    pub law: BridgeLaw,
    /// Volume of a bridge.
    pub volume: BridgeVolume,
    /// Per material: whether the liquid wets it. A bridge joins two bodies of such materials.
    pub wets: Vec<bool>,
    /// Pairs of shapes with a bridge, as in keys of contacts; ascending.
    pub bridges: Vec<[u32; 2]>,
    /// Bridges that formed since the start.
    pub formed: u64,
    /// Bridges that broke since the start, those of removed grains not counted.
    pub broken: u64,
    /// Energy of the bridges of grains when these were removed, summed since the start \[J\]; not positive.
    pub removed_energy: f64,
}

impl BridgeVolume {
    /// Volume between a sphere of this radius \[m\] and one as large or larger, or a wall \[m³\].
    pub fn at(self, radius: f64) -> f64 {
        match self {
            BridgeVolume::Fixed(volume) => volume,
            BridgeVolume::OfSphere(ratio) => ratio * radius.powi(3),
        }
    }
}

impl Liquid {
    /// Liquid that wets these materials, without bridges so far.
    pub fn new(law: BridgeLaw, volume: BridgeVolume, wets: Vec<bool>) -> Liquid {
        Liquid { law, volume, wets, bridges: Vec::new(), formed: 0, broken: 0, removed_energy: 0.0 }
    }

    /// Whether two shapes have a bridge, in the order of a key.
    pub fn joins(&self, a: u32, b: u32) -> bool {
        self.bridges.binary_search(&[a, b]).is_ok()
    }
}

impl World {
    /// Whether some contact may pull its bodies together.
    pub fn is_cohesive(&self) -> bool {
        self.liquid.is_some() || self.materials.are_cohesive()
    }

    /// Bridge that two shapes have once they have touched; `None` where the liquid makes none. Shape `a` is the sphere of a grain, `b` a
    /// surface or a sphere as large or larger.
    pub fn meniscus(&self, a: u32, b: u32) -> Option<Meniscus> {
        let liquid = self.liquid.as_ref()?;
        let wets = |shape: u32| liquid.wets[self.shape_material(shape) as usize];
        let sphere = self.sphere_of(a)?;
        let is_ball = sphere.part == SpherePart::Ball && b == shape_id(b) && !self.is_vertex(b);
        (is_ball && wets(a) && wets(b))
            .then(|| liquid.law.meniscus(self.effective_radius(a, b), liquid.volume.at(sphere.radius)))
    }

    /// Bridges of the liquid, each with its pair of shapes and its present gap \[m\].
    pub fn menisci(&self) -> impl Iterator<Item = ([u32; 2], Meniscus, f64)> + '_ {
        let bridges = self.liquid.iter().flat_map(|liquid| &liquid.bridges);
        bridges.filter_map(|&[a, b]| Some(([a, b], self.meniscus(a, b)?, self.touch(a, b)?.gap)))
    }

    /// Ends the bridges of a body that is removed.
    pub(super) fn release_bridges(&mut self, body: u32) {
        let is_of_body =
            |world: &World, pair: &[u32; 2]| pair.iter().any(|&shape| world.shape_body(shape) == body);
        let own = self.menisci().filter(|(pair, ..)| is_of_body(self, pair));
        let energy: f64 = own.map(|(_, bridge, gap)| bridge.energy(gap)).sum();
        let Some(mut liquid) = self.liquid.take() else { return };
        liquid.bridges.retain(|pair| !is_of_body(self, pair));
        liquid.removed_energy += energy;
        self.liquid = Some(liquid);
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use glam::{DQuat, DVec3};

    use super::*;
    use crate::law::bridge::{BridgeForce, BridgeRupture};
    use crate::law::pair::Material;
    use crate::model::{Boundary, Form, Grain, Materials, Periodic, Surface};

    const LAW: BridgeLaw = BridgeLaw {
        surface_tension: 0.05,
        contact_angle: 0.0,
        viscosity: 0.0,
        smallest_gap: 0.01,
        force: BridgeForce::Willett,
        rupture: BridgeRupture::Lian,
    };

    /// A dry floor, a wet wall, and two wet grains of 10 and 20 mm.
    fn world() -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass(), Material::glass()]));
        world.periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(0.0, 1.0, 0.0), ..Periodic::NONE };
        for (material, normal) in [(1, DVec3::Z), (0, DVec3::X)] {
            let orientation = DQuat::from_rotation_arc(DVec3::Z, normal);
            let boundary = Boundary { name: format!("wall {material}"), ..Boundary::floor() };
            world.add_boundary(boundary, [Surface::new(DVec3::ZERO, orientation, Form::Plane, material)]);
        }
        world.add_grains([
            Grain::at(DVec3::new(0.01, 0.99, 0.0), 0.01, 0),
            Grain::at(DVec3::new(0.02, 0.02, 0.0), 0.02, 0),
        ]);
        world.liquid = Some(Liquid::new(LAW, BridgeVolume::OfSphere(0.01), vec![true, false]));
        world
    }

    #[test]
    fn bridges_join_what_the_liquid_wets() {
        let world = world();
        assert!(world.meniscus(2, 0).is_none(), "the floor is dry");
        // F = 4 π γ R* at contact, with R* = 20/3 mm of the pair and 10 mm at the wall.
        let force = |a, b| world.meniscus(a, b).map(|bridge| bridge.force(0.0) / (4.0 * PI * 0.05));
        approx::assert_relative_eq!(force(2, 3).expect("grains"), 0.02 / 3.0, max_relative = 1e-12);
        approx::assert_relative_eq!(force(2, 1).expect("a wall"), 0.01, max_relative = 1e-12);
        let rupture = world.meniscus(2, 3).expect("grains").rupture();
        approx::assert_relative_eq!(rupture, 0.01f64.cbrt() * 0.01, max_relative = 1e-12);
        assert_eq!((BridgeVolume::Fixed(3e-9).at(1.0), BridgeVolume::OfSphere(0.5).at(2.0)), (3e-9, 4.0));
    }

    #[test]
    fn bridges_go_with_their_grain_and_reach_through_periodic_faces() {
        let mut world = world();
        let liquid = world.liquid.as_mut().expect("liquid");
        liquid.bridges = vec![[2, 1], [2, 3], [3, 1]];
        let gaps: Vec<f64> = world.menisci().map(|(.., gap)| gap).collect();
        let expected = DVec3::new(0.01, 0.03, 0.0).length() - 0.03;
        assert!((gaps[1] - expected).abs() < 1e-15 && gaps[0].abs() < 1e-15, "{gaps:?}");
        let energies: Vec<f64> = world.menisci().map(|(_, bridge, gap)| bridge.energy(gap)).collect();
        world.take_out(0);
        let liquid = world.liquid.as_ref().expect("liquid");
        assert_eq!(liquid.bridges, [[3, 1]]);
        assert!(energies[0] < 0.0);
        assert_eq!(liquid.removed_energy, energies[0] + energies[1]);
    }
}
