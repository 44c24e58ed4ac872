//! The vocabulary both engines share: keys, impulses, contacts and their colouring.

use glam::DVec3;

/// Persistent identity of a pair of shapes; what warm starting looks up. `a` is a sphere of a grain,
/// `b` a surface or a larger sphere of another grain; of two spheres of the same radius `a` is the one with the smaller
/// id. Or `a` is a vertex of a dynamic boundary and `b` a surface of another.
///
/// Contacts are grouped by `a`. A sphere has few neighbours that are as large as itself or larger, so every group is
/// short, though thousands of small ones may touch a large one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    /// Shape a.
    pub a: u32,
    /// Shape b.
    pub b: u32,
}

/// Impulse of one contact in one substep, acting on `a` (and reversed on `b`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Impulse {
    /// λ_n ≥ 0 \[N s\].
    pub normal: f64,
    /// λ_t, in the tangent plane \[N s\].
    pub tangent: DVec3,
    /// λ_r, rolling and twisting \[N m s\].
    pub rolling: DVec3,
}

impl Impulse {
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

    /// The impulse gone on by a share of what it changed since `before`; it may leave its cone.
    #[must_use]
    pub fn beyond(&self, before: &Impulse, share: f64) -> Impulse {
        Impulse {
            normal: self.normal + share * (self.normal - before.normal),
            tangent: self.tangent + share * (self.tangent - before.tangent),
            rolling: self.rolling + share * (self.rolling - before.rolling),
        }
    }
}

/// A contact as found in a state, with the impulse of the last substep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContactState {
    /// Which shapes.
    pub key: Key,
    /// Body of shape a and of shape b.
    pub bodies: [u32; 2],
    /// Gap at the committed positions \[m\].
    pub gap: f64,
    /// From b to a, at the committed positions.
    pub normal: DVec3,
    /// Contact point \[m\].
    pub point: DVec3,
    /// Impulse of the last substep.
    pub impulse: Impulse,
    /// Friction μ of the pair \[-\].
    pub friction: f64,
}

impl ContactState {
    /// Whether the friction impulse has reached its bound \[E3\], to within 0.1 %.
    pub fn is_sliding(&self) -> bool {
        self.impulse.normal > 0.0
            && self.impulse.tangent.length() >= 0.999 * self.friction * self.impulse.normal
    }

    /// Whether it carries a force.
    pub fn is_active(&self) -> bool {
        self.impulse.normal > 0.0
    }
}

/// An order of contacts in which runs share no grain: within a colour, contacts can be solved at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Colouring {
    /// Contact indices, colour by colour, overflow contacts last.
    pub order: Vec<u32>,
    /// Where each colour starts in `order`, and where the last one ends.
    pub starts: Vec<u32>,
    /// How the contacts without a colour are solved.
    pub overflow: Overflow,
}

/// How contacts without a colour are solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Overflow {
    /// All at once, each on copies of its bodies that share their mass \[E5\].
    #[default]
    Split,
    /// One after the other on whole bodies.
    OneByOne,
}

impl Colouring {
    /// Number of colours, overflow contacts not counted.
    pub fn colours(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Contacts of colour `i`.
    pub fn colour(&self, i: usize) -> &[u32] {
        &self.order[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Place of the first contact without a colour.
    pub fn overflow_start(&self) -> usize {
        self.starts.last().map_or(0, |&end| end as usize)
    }

    /// Contacts without a colour.
    pub fn overflow(&self) -> &[u32] {
        &self.order[self.overflow_start()..]
    }
}
