//! Bonds \[E20\]: cemented contacts between two grains, or a grain and a wall, that hold shifts and turns like a short beam until they
//! break.
//!
//! A bond acts in the middle of its beam. Each of its two bodies carries that place and the axes of the beam; how far the two copies are
//! apart, and turned against each other, is measured from the poses of the bodies, so it does not drift.

use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;

use crate::law::bond::{Beam, BeamLoad, BeamStiffness, BondFate, BondLaw};

use super::World;
use super::joint::Anchor;

/// A bond between two bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Bond {
    /// Index of its law in [`Bonds::laws`].
    pub law: u32,
    /// Its two bodies; the second may be a wall.
    pub bodies: [u32; 2],
    /// Middle and axes of the beam on each body; x is along the beam, from the first body to the second.
    pub anchors: [Anchor; 2],
    /// Radius and length.
    pub beam: Beam,
    /// Its strengths over the means of the law \[-\].
    pub strength: f64,
}

/// What changes of a bond.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct BondState {
    /// Mean load over the last substep, damping included.
    pub load: BeamLoad,
    /// Whether it holds, or what ended it.
    pub fate: BondFate,
}

/// All bonds of a world, those that are broken too.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Bonds {
    /// Laws.
    pub laws: Vec<BondLaw>,
    /// Bonds, as they were made.
    pub list: Vec<Bond>,
    /// State of each bond.
    pub states: Vec<BondState>,
    /// Elastic energy that bonds held when they broke or lost a grain, summed since the start \[J\].
    pub released_energy: f64,
}

/// Place of a bond in the world, and its deformation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BondPose {
    /// Axes of the beam, half-way between those that its bodies carry; x is along the beam.
    pub axes: DMat3,
    /// Arms: vectors from the centres of the bodies to the middle of the beam \[m\].
    pub arms: [DVec3; 2],
    /// Shift of the middle on the second body against that on the first, in the axes of the beam \[m\].
    pub shift: DVec3,
    /// Turn of the second body against the first, in the axes of the beam \[rad\].
    pub turn: DVec3,
}

/// Force \[N\] and moment about the middle \[N m\] of a bond on its second body, in world axes; on the first body their reverse. Or the
/// impulses of both \[N s, N m s\].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BondForce {
    /// Its bodies.
    pub bodies: [u32; 2],
    /// Arms: vectors from the centres of the bodies to the middle of the beam \[m\].
    pub arms: [DVec3; 2],
    /// Force.
    pub force: DVec3,
    /// Moment.
    pub moment: DVec3,
}

impl BondForce {
    /// Both bodies, each with its arm, the force and the moment about its centre that act on it.
    pub fn on_bodies(&self) -> [(usize, DVec3, DVec3, DVec3); 2] {
        [(0, -1.0), (1, 1.0)].map(|(side, sign)| {
            let (arm, force) = (self.arms[side], sign * self.force);
            (self.bodies[side] as usize, arm, force, arm.cross(force) + sign * self.moment)
        })
    }
}

/// End of a bond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fracture {
    /// Index of the bond.
    pub bond: usize,
    /// What ended it.
    pub fate: BondFate,
    /// Elastic energy that it held \[J\].
    pub energy: f64,
}

impl Bonds {
    /// Whether there are no bonds, not even broken ones.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Bonds that hold, ascending.
    pub fn intact(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.list.len()).filter(|&bond| self.states[bond].fate == BondFate::Intact)
    }

    /// Number of bonds with this fate.
    pub fn count(&self, fate: BondFate) -> usize {
        self.states.iter().filter(|state| state.fate == fate).count()
    }

    /// Law of a bond.
    pub fn law(&self, bond: &Bond) -> &BondLaw {
        &self.laws[bond.law as usize]
    }

    /// Stiffness of a bond.
    pub fn stiffness(&self, bond: &Bond) -> BeamStiffness {
        self.law(bond).stiffness(&bond.beam)
    }

    /// Pairs of bodies with a bond that holds, each with the smaller index first, ascending.
    pub fn pairs(&self) -> Vec<[u32; 2]> {
        let mut pairs: Vec<[u32; 2]> = self.intact().map(|bond| sorted(self.list[bond].bodies)).collect();
        pairs.sort_unstable();
        pairs
    }

    /// Ends bonds: they carry nothing any more, and their energy counts as released.
    pub fn end(&mut self, fractures: &[Fracture]) {
        for fracture in fractures {
            self.states[fracture.bond] = BondState { fate: fracture.fate, ..BondState::default() };
            self.released_energy += fracture.energy;
        }
    }
}

/// A pair of bodies with the smaller index first.
pub fn sorted([a, b]: [u32; 2]) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl World {
    /// Makes an undeformed bond between two bodies, whose beam ends at these places \[m\]; the second is taken in the periodic image
    /// nearest to the first.
    pub fn bond_between(&self, law: u32, bodies: [u32; 2], ends: [DVec3; 2], radius: f64) -> Bond {
        let along = self.periodic.separation(ends[0], ends[1]);
        let middle = ends[0] + 0.5 * along;
        let turn = DQuat::from_rotation_arc(DVec3::X, along.normalize());
        let anchor = |body: u32| {
            let back = self.bodies.orientation[body as usize].conjugate();
            let arm = self.periodic.separation(self.bodies.position[body as usize], middle);
            Anchor { place: back * arm, orientation: (back * turn).normalize() }
        };
        let beam = Beam { radius, length: along.length() };
        Bond { law, bodies, anchors: bodies.map(anchor), beam, strength: 1.0 }
    }

    /// Adds a bond.
    pub fn add_bond(&mut self, bond: Bond) {
        self.bonds.list.push(bond);
        self.bonds.states.push(BondState::default());
    }

    /// Places a bond in the world for the present poses of its bodies.
    pub fn placed_bond(&self, bond: &Bond) -> BondPose {
        let of = |side: usize| {
            let (body, anchor) = (bond.bodies[side] as usize, &bond.anchors[side]);
            let orientation = self.bodies.orientation[body];
            (orientation * anchor.place, orientation * anchor.orientation)
        };
        let [(arm_a, turn_a), (arm_b, turn_b)] = [0, 1].map(of);
        let [a, b] = bond.bodies.map(|body| self.bodies.position[body as usize]);
        let apart = self.periodic.separation(a, b);
        let middle = 0.5 * (arm_a + apart + arm_b);
        // q and -q are the same rotation: take the one with the smaller angle.
        let turn_b = if turn_a.dot(turn_b) < 0.0 { -turn_b } else { turn_b };
        let half_way = (turn_a + turn_b).normalize();
        let back = half_way.conjugate();
        BondPose {
            axes: DMat3::from_quat(half_way),
            arms: [middle, middle - apart],
            shift: back * (apart + arm_b - arm_a),
            turn: back * rotation_vector(turn_b * turn_a.conjugate()),
        }
    }

    /// Elastic energy of a bond in its present place \[J\].
    pub fn bond_energy(&self, bond: usize) -> f64 {
        let bond = &self.bonds.list[bond];
        let BondPose { shift, turn, .. } = self.placed_bond(bond);
        self.bonds.stiffness(bond).energy(shift, turn)
    }

    /// Mean forces of all bonds that hold over the last substep, at their present places.
    pub fn bond_forces(&self) -> impl Iterator<Item = BondForce> + '_ {
        self.bonds.intact().map(|index| {
            let (bond, load) = (&self.bonds.list[index], &self.bonds.states[index].load);
            let BondPose { axes, arms, .. } = self.placed_bond(bond);
            BondForce { bodies: bond.bodies, arms, force: axes * load.force, moment: axes * load.moment }
        })
    }

    /// Elastic stress of a bond in its present place over its strength, the larger of tension and shear \[-\]; not below 0.
    pub fn utilisation(&self, bond: usize) -> f64 {
        let bond = &self.bonds.list[bond];
        let (BondPose { shift, turn, .. }, law) = (self.placed_bond(bond), self.bonds.law(bond));
        let load = law.stiffness(&bond.beam).load(shift, turn);
        let [tension, shear] = law.utilisation(&bond.beam, &load, bond.strength);
        tension.max(shear).max(0.0)
    }

    /// Finds the bonds whose elastic stress at the present places reaches their strength.
    pub fn fractures(&self) -> Vec<Fracture> {
        let of = |(index, (bond, state)): (usize, (&Bond, &BondState))| {
            if state.fate != BondFate::Intact {
                return None;
            }
            let (BondPose { shift, turn, .. }, law) = (self.placed_bond(bond), self.bonds.law(bond));
            let stiffness = law.stiffness(&bond.beam);
            let fate = law.failure(&bond.beam, &stiffness.load(shift, turn), bond.strength)?;
            Some(Fracture { bond: index, fate, energy: stiffness.energy(shift, turn) })
        };
        let bonds = self.bonds.list.par_iter().zip(&self.bonds.states).enumerate();
        bonds.with_min_len(CHUNK).filter_map(of).collect()
    }

    /// Ends the bonds of a body that is removed.
    pub(super) fn release_bonds(&mut self, body: u32) {
        if self.bonds.is_empty() {
            return;
        }
        let of_body = |&bond: &usize| self.bonds.list[bond].bodies.contains(&body);
        let fracture = |bond| Fracture { bond, fate: BondFate::Removed, energy: self.bond_energy(bond) };
        let fractures: Vec<Fracture> = self.bonds.intact().filter(of_body).map(fracture).collect();
        self.bonds.end(&fractures);
    }
}

/// Bonds that one task looks at.
const CHUNK: usize = 256;

/// Rotation vector of a rotation by at most half a turn \[rad\], to rounding however small it is.
fn rotation_vector(turn: DQuat) -> DVec3 {
    let (axis, sine) = (turn.xyz(), turn.xyz().length());
    if sine == 0.0 { 2.0 * axis } else { 2.0 * sine.atan2(turn.w) / sine * axis }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Grain, Materials, Periodic};

    const LAW: BondLaw = BondLaw {
        youngs_modulus: 1e7,
        poisson_ratio: 0.2,
        radius_factor: 1.0,
        tensile_strength: 1e5,
        cohesion: 1e5,
        friction: 0.0,
        damping_ratio: 0.0,
    };

    /// Two grains that a bond joins across the face of a periodic cell.
    fn pair() -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(vec![Material::glass()]));
        world.periodic = Periodic { min: DVec3::ZERO, length: DVec3::new(1.0, 0.0, 0.0), ..Periodic::NONE };
        world.add_grains([0.95, 0.05].map(|x| Grain::at(DVec3::new(x, 0.0, 0.0), 0.05, 0)));
        world.bonds.laws.push(LAW);
        let bond = world.bond_between(0, [0, 1], [world.bodies.position[0], world.bodies.position[1]], 0.05);
        world.add_bond(bond);
        world
    }

    fn pose(world: &World) -> BondPose {
        world.placed_bond(&world.bonds.list[0])
    }

    #[test]
    fn a_bond_that_moves_as_one_with_its_grains_is_not_deformed() {
        let mut world = pair();
        assert!((world.bonds.list[0].beam.length - 0.1).abs() < 1e-15, "through the face");
        let turn = DQuat::from_scaled_axis(DVec3::new(2.0, -1.0, 0.4));
        let arm = turn * DVec3::new(0.05, 0.0, 0.0);
        for (body, arm) in [(0, -arm), (1, arm)] {
            world.bodies.position[body] = world.periodic.wrap(DVec3::new(0.3, 0.2, -0.1) + arm);
            world.bodies.orientation[body] = turn * world.bodies.orientation[body];
        }
        let BondPose { axes, arms, shift, turn: bent } = pose(&world);
        assert!(shift.length() < 1e-15 && bent.length() < 1e-15, "{shift}, {bent}");
        assert!((axes.x_axis - turn * DVec3::X).length() < 1e-15);
        assert!((arms[0] - arm).length() < 1e-15 && (arms[1] + arm).length() < 1e-15, "{arms:?}");
    }

    #[test]
    fn shift_and_turn_are_those_of_the_second_grain_against_the_first() {
        let mut world = pair();
        world.bodies.position[1].y += 1e-3;
        world.bodies.orientation[1] = DQuat::from_scaled_axis(DVec3::new(1e-9, 0.0, 2e-3));
        let BondPose { shift, turn, .. } = pose(&world);
        // The middle is 50 mm to the left of the second grain, whose turn takes it down by 0.1 mm and 0.1 µm to the right; axes are turned
        // by half of that turn, so 0.9 mm across them are 0.9 µm along.
        let expected = DVec3::new(1e-6, 9e-4, 0.0);
        assert!((shift - expected).length() < 1e-9, "{shift}");
        assert!((turn - DVec3::new(1e-9, 0.0, 2e-3)).length() < 3e-12, "{turn}");
    }

    #[test]
    fn bonds_end_with_their_grain_and_their_energy_is_counted() {
        let mut world = pair();
        world.bodies.position[1].x += 1e-4;
        let stiffness = LAW.stiffness(&world.bonds.list[0].beam).shift.x;
        assert!((world.bond_energy(0) - 0.5 * stiffness * 1e-8).abs() < 1e-9 * world.bond_energy(0));
        assert_eq!((world.fractures().len(), world.bonds.pairs()), (0, vec![[0, 1]]));
        world.take_out(1);
        assert_eq!(world.bonds.count(BondFate::Removed), 1);
        assert!((world.bonds.released_energy - 0.5 * stiffness * 1e-8).abs() < 1e-9 * stiffness * 1e-8);
        assert!(world.bonds.pairs().is_empty());
        world.bodies.position[0].x -= 0.01;
        assert!(world.fractures().is_empty(), "a bond ends once");
    }
}
