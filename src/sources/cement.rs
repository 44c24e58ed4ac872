//! Cement: the pairs of grains, and of grains and walls, between which bonds \[E20\] are made.

use glam::DVec3;

use super::grid::SphereGrid;
use crate::law::bond::{BondLaw, weibull_strength};
use crate::model::bond::sorted;
use crate::model::{Bond, MaterialId, Random, World};

/// Share of the radius of a sphere below which a gap counts as rounding \[-\]: grains that are placed in touch are to be cemented with a
/// gap of 0.
const ROUNDING: f64 = 1e-9;

/// Where and of what bonds are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cement {
    /// Materials of the two bodies of a bond.
    pub materials: [MaterialId; 2],
    /// Largest gap between their surfaces \[m\].
    pub gap: f64,
    /// Coefficients of the bonds.
    pub law: BondLaw,
    /// Weibull modulus of their strengths \[-\]; `None`: all have the mean strength.
    pub weibull_modulus: Option<f64>,
}

/// Two bodies whose surfaces are near each other; the first is a grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cemented {
    /// The bodies.
    pub bodies: [u32; 2],
    /// Gap of their surfaces \[m\]; negative where they overlap.
    pub gap: f64,
    /// Ends of the beam: the centre of the first, and the centre of the second or the nearest point of the wall \[m\].
    ends: [DVec3; 2],
}

impl Cement {
    /// Finds the pairs of bodies to be cemented that have no bond yet, each once, ascending.
    pub fn find(&self, world: &World) -> Vec<Cemented> {
        let mut found = self.pairs_of_grains(world);
        found.extend(self.pairs_with_walls(world));
        let has_bond = world.bonds.pairs();
        found.retain(|pair| has_bond.binary_search(&sorted(pair.bodies)).is_err());
        // Of the several shapes of two bodies the nearest count.
        found.sort_by(|a, b| sorted(a.bodies).cmp(&sorted(b.bodies)).then(a.gap.total_cmp(&b.gap)));
        found.dedup_by_key(|pair| sorted(pair.bodies));
        found
    }

    /// Makes the bonds between these pairs, in their order.
    pub fn bond(&self, world: &mut World, pairs: &[Cemented], random: &mut Random) {
        let law = world.bonds.laws.len() as u32;
        world.bonds.laws.push(self.law);
        for &Cemented { bodies, ends, .. } in pairs {
            let radii =
                bodies.map(|body| world.grain_of_body(body as usize).map(|grain| world.grain_radius(grain)));
            let least = radii.into_iter().flatten().fold(f64::INFINITY, f64::min);
            let bond = world.bond_between(law, bodies, ends, self.law.radius_factor * least);
            let strength =
                self.weibull_modulus.map_or(1.0, |modulus| weibull_strength(modulus, random.unit()));
            world.add_bond(Bond { strength, ..bond });
        }
    }

    fn joins(&self, a: MaterialId, b: MaterialId) -> bool {
        self.materials == [a, b] || self.materials == [b, a]
    }

    fn pairs_of_grains(&self, world: &World) -> Vec<Cemented> {
        let mut grid = SphereGrid::new(world.periodic);
        // Grown by half the gap, spheres that are to be cemented overlap.
        let grown = |radius: f64| radius + 0.5 * self.gap + ROUNDING * radius;
        for sphere in &world.spheres {
            grid.insert(world.sphere_centre(sphere), grown(sphere.radius));
        }
        let first = world.first_grain_shape();
        let mut found = Vec::new();
        for one in 0..world.spheres.len() {
            grid.visit_pairs(one as u32, |other| {
                let other = other as usize;
                let [a, b] = if world.comes_first(one, other) { [one, other] } else { [other, one] };
                let spheres = [a, b].map(|sphere| &world.spheres[sphere]);
                let [body_a, body_b] = spheres.map(|sphere| sphere.body);
                if body_a != body_b && self.joins(spheres[0].material, spheres[1].material) {
                    let touch = world.touch(first + a as u32, first + b as u32);
                    let slack = ROUNDING * spheres[0].radius;
                    if let Some(touch) = touch.filter(|touch| touch.gap <= self.gap + slack) {
                        let bodies = sorted([body_a, body_b]);
                        let ends = bodies.map(|body| world.bodies.position[body as usize]);
                        found.push(Cemented { bodies, gap: touch.gap, ends });
                    }
                }
                true
            });
        }
        found
    }

    fn pairs_with_walls(&self, world: &World) -> Vec<Cemented> {
        let boxes = world.surface_boxes();
        let first = world.first_grain_shape();
        let mut found = Vec::new();
        for (sphere, a) in world.spheres.iter().zip(first..) {
            let slack = ROUNDING * sphere.radius;
            world.for_each_met_near(&boxes, sphere, self.gap + 2.0 * slack, |b| {
                if !self.joins(sphere.material, world.shape_material(b)) {
                    return;
                }
                if let Some(touch) = world.touch(a, b).filter(|touch| touch.gap <= self.gap + slack) {
                    let foot = touch.point - 0.5 * touch.gap * touch.normal;
                    let ends = [world.bodies.position[sphere.body as usize], foot];
                    found.push(Cemented { bodies: [sphere.body, world.shape_body(b)], gap: touch.gap, ends });
                }
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::law::pair::Material;
    use crate::model::random::Stream;
    use crate::model::{Boundary, Form, Grain, Materials, Surface};

    const CEMENT: Cement = Cement {
        materials: [0, 0],
        gap: 0.01,
        law: BondLaw {
            youngs_modulus: 1e7,
            poisson_ratio: 0.2,
            radius_factor: 0.5,
            tensile_strength: 1e5,
            cohesion: 1e5,
            friction: 0.0,
            damping_ratio: 0.0,
        },
        weibull_modulus: Some(8.0),
    };

    /// Grains in a row, 5 mm above a floor, with gaps of 0, 9 and 11 mm between them.
    fn row() -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass(), Material::glass()]));
        world.add_boundary(Boundary::floor(), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
        world.add_grains([0.0, 0.2, 0.409, 0.62].map(|x| Grain::at(DVec3::new(x, 0.0, 0.105), 0.1, 0)));
        world
    }

    #[test]
    fn what_is_near_is_cemented_once_and_nothing_else() {
        let mut world = row();
        let found = CEMENT.find(&world);
        let bodies: Vec<[u32; 2]> = found.iter().map(|pair| pair.bodies).collect();
        assert_eq!(bodies, [[1, 0], [2, 0], [3, 0], [4, 0], [1, 2], [2, 3]]);
        let mut random = Random::new(1, Stream::Bonds(0));
        CEMENT.bond(&mut world, &found, &mut random);
        let beam = |bond: usize| world.bonds.list[bond].beam;
        assert!((beam(0).length - 0.105).abs() < 1e-12 && (beam(4).length - 0.2).abs() < 1e-12);
        assert!((0..6).all(|bond| beam(bond).radius == 0.05 && world.bond_energy(bond) < 1e-20));
        let strengths: Vec<f64> = world.bonds.list.iter().map(|bond| bond.strength).collect();
        assert!(strengths.windows(2).all(|pair| pair[0] != pair[1]), "{strengths:?}");
        assert!(CEMENT.find(&world).is_empty(), "no pair gets a second bond");
    }

    #[test]
    fn other_materials_are_not_cemented() {
        assert!(Cement { materials: [0, 1], ..CEMENT }.find(&row()).is_empty());
        assert_eq!(Cement { gap: 0.0, ..CEMENT }.find(&row()).len(), 1, "those in touch");
    }
}
