//! The contact problem: keys and impulses of contacts, their constraints, the order in which they are solved, and the seams of the solvers
//! that solve them and of the parts of a scene that are solved together.

pub mod bonds;
pub mod carried;
pub mod constants;
pub mod constraint;
pub mod coupling;
pub(crate) mod disjoint;
pub mod flow;
pub mod joints;
pub mod pass;
pub mod problem;
pub mod range;
pub mod solver;
pub mod split;
pub(crate) mod tasks;
pub mod tensors;
pub mod velocity;

use glam::DVec3;

use crate::law::cone::Cone;
use crate::model::solids::shape_id;

/// Persistent identity of a pair of shapes, by which a warm start finds the impulse of the last substep. Shape `a` is a sphere of a grain,
/// and `b` a surface or a larger sphere of another grain; of two spheres of the same radius `a` is the one with the smaller id. Or `a` is a
/// vertex of a dynamic boundary and `b` a surface of another.
///
/// Contacts are grouped by `a`. A sphere has few neighbours that are as large as itself or larger, so every group is short, though
/// thousands of small spheres may touch a large one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Shape a.
    pub a: u32,
    /// Shape b; at a contact of a solid with the number of a point in the bits above it ([`solids`](crate::model::solids)).
    pub b: u32,
}

impl Key {
    /// Key of the same contact where shapes have other ids; `None` if one of them has none.
    pub fn renamed(&self, id: impl Fn(u32) -> Option<u32>) -> Option<Key> {
        let shape = shape_id(self.b);
        Some(Key { a: id(self.a)?, b: id(shape)? | (self.b ^ shape) })
    }
}

/// Impulse of one contact in one substep, acting on `a` (and reversed on `b`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
#[repr(C)]
pub struct Impulse {
    /// Normal impulse λ_n ≥ 0 \[N s\]; under the smooth method also negative, where a damper pulls at the end of a contact.
    pub normal: f64,
    /// Friction impulse λ_t, in the tangent plane \[N s\].
    pub tangent: DVec3,
    /// Rolling and twisting impulse λ_r \[N m s\].
    pub rolling: DVec3,
}

impl Impulse {
    /// Whether all parts are zero. One comparison in place of seven, each of which is a branch that may go either way.
    #[inline(always)]
    pub fn is_zero(&self) -> bool {
        let Impulse { normal, tangent, rolling } = *self;
        let parts = [normal, tangent.x, tangent.y, tangent.z, rolling.x, rolling.y, rolling.z];
        let bits = parts.into_iter().fold(0, |bits, part| bits | part.to_bits());
        bits << 1 == 0 // but for the signs
    }

    /// Linear impulse on `a` \[N s\].
    pub fn linear(&self, normal: DVec3) -> DVec3 {
        self.normal * normal + self.tangent
    }

    /// The impulse scaled by `factor`.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Impulse {
        Impulse {
            normal: factor * self.normal,
            tangent: factor * self.tangent,
            rolling: factor * self.rolling,
        }
    }

    /// Sum of two impulses, part by part.
    #[must_use]
    pub fn and(&self, other: &Impulse) -> Impulse {
        Impulse {
            normal: self.normal + other.normal,
            tangent: self.tangent + other.tangent,
            rolling: self.rolling + other.rolling,
        }
    }

    /// Difference of two impulses, part by part.
    #[must_use]
    pub fn less(&self, other: &Impulse) -> Impulse {
        self.and(&other.scaled(-1.0))
    }

    /// Scalar product of two impulses, over all parts.
    pub fn dot(&self, other: &Impulse) -> f64 {
        self.normal * other.normal + self.tangent.dot(other.tangent) + self.rolling.dot(other.rolling)
    }

    /// Extrapolated impulse λ + `share` (λ - `before`) \[E12\]. It may lie outside its cone.
    #[must_use]
    pub fn beyond(&self, before: &Impulse, share: f64) -> Impulse {
        Impulse {
            normal: self.normal + share * (self.normal - before.normal),
            tangent: self.tangent + share * (self.tangent - before.tangent),
            rolling: self.rolling + share * (self.rolling - before.rolling),
        }
    }
}

/// Contact in a snapshot of the state, with the impulse of the last substep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactState {
    /// Pair of shapes.
    pub key: Key,
    /// Body of shape a and of shape b.
    pub bodies: [u32; 2],
    /// Gap at the committed positions \[m\].
    pub gap: f64,
    /// Normal from b to a, at the committed positions.
    pub normal: DVec3,
    /// Contact point \[m\].
    pub point: DVec3,
    /// Impulse of the last substep, cohesion included: its normal part is negative where the bodies are pulled.
    pub impulse: Impulse,
    /// Impulse of cohesion, the part of `impulse` that pulls the bodies together \[E2\] \[N s\].
    pub cohesion: f64,
    /// Friction μ of the pair \[-\].
    pub friction: f64,
    /// Set of friction impulses that the contact may carry.
    pub cone: Cone,
    /// Energy that the tangential spring and the rolling spring hold, under the smooth method \[E13\] \[J\].
    pub spring_energy: [f64; 2],
}

impl ContactState {
    /// Whether the friction impulse has reached its bound \[E3\], to within 0.1 %.
    pub fn is_sliding(&self) -> bool {
        let pressed = self.carried().normal;
        pressed > 0.0 && self.cone.size(self.impulse.tangent, self.normal) >= 0.999 * self.friction * pressed
    }

    /// Whether the bodies press on each other, even if only by cohesion.
    pub fn is_active(&self) -> bool {
        self.carried().normal > 0.0
    }

    /// Impulse without cohesion, from which the next substep starts and by which friction is bounded.
    pub fn carried(&self) -> Impulse {
        Impulse { normal: self.impulse.normal + self.cohesion, ..self.impulse }
    }
}

/// Order of the contacts for solving many at once: contacts of a colour share no grain, and two tiles share no grain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Colouring {
    /// Contact indices, tile by tile, then colour by colour, overflow contacts last.
    pub order: Vec<u32>,
    /// Start of each tile in `order`, and the end of the last one; empty without tiles. Tiles are solved at once, as none shares a grain
    /// with another; within a tile the contacts are solved one after the other.
    pub tiles: Vec<u32>,
    /// Start of each colour in `order`, and the end of the last one.
    pub starts: Vec<u32>,
    /// Solution of the overflow contacts, those without a colour.
    pub overflow: Overflow,
}

/// Solution of the overflow contacts, those without a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Overflow {
    /// Mass splitting: all at once, each on copies of its bodies that share their mass \[E5\].
    #[default]
    Split,
    /// One after the other on whole bodies.
    OneByOne,
}

impl Colouring {
    /// Place of each contact in `order`.
    pub fn places(&self) -> Vec<u32> {
        let mut places = vec![0; self.order.len()];
        for (place, &contact) in self.order.iter().enumerate() {
            places[contact as usize] = place as u32;
        }
        places
    }

    /// Number of colours, overflow contacts not counted.
    pub fn colours(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Contacts of each tile.
    pub fn tiles(&self) -> impl Iterator<Item = &[u32]> {
        self.tiles.windows(2).map(|bounds| &self.order[bounds[0] as usize..bounds[1] as usize])
    }

    /// Contacts of colour `i`.
    pub fn colour(&self, i: usize) -> &[u32] {
        &self.order[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Index in `order` of the first overflow contact, which has no colour.
    pub fn overflow_start(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// Overflow contacts, those without a colour.
    pub fn overflow(&self) -> &[u32] {
        &self.order[self.overflow_start()..]
    }
}
