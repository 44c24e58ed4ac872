//! Frictional contact problems in local form \[E18\]: contacts, and a matrix W in place of bodies.
//!
//! A local problem asks for impulses r in Coulomb's cones with u = W r + q, where u + (μ |u_T| + μ_r |u_R|) n is in the dual cones and at
//! right angles to r. It has no bodies, shapes or time step: it is what a substep leaves once W = H M⁻¹ Hᵀ is multiplied out, and what
//! collections of contact problems hold. Problems are read and written in the text of Siconos ([`text`]) and in FCLIB's layout of HDF5
//! ([`fclib`]), and [`export`] makes one of a substep of a scene.
//!
//! The components of a contact are its normal, its tangents (one in the plane, two in space) and its two rolling components, if it has any.
//! In a constraint of [`contact`](crate::contact) they are the impulse of a contact with normal x and tangents y and z: so the formulas of
//! a sweep \[E5\] and of projected gradient descent \[E15\] are those of the engine, with rows of W in place of two bodies.

pub mod block;
pub mod descent;
pub mod export;
pub mod fclib;
pub mod frame;
pub mod gauss_seidel;
pub mod matrix;
pub mod order;
pub mod record;
pub mod residual;
pub mod solve;
pub mod sweeps;
pub mod text;

use matrix::BlockMatrix;
use residual::{lift, natural_map, relative};

/// Frictional contact problem in local form.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalProblem {
    /// Matrix W, one row of blocks per contact \[1/kg\].
    pub matrix: BlockMatrix,
    /// Velocities q without impulses, contact by contact \[m/s\].
    pub q: Vec<f64>,
    /// Coefficient of friction μ of each contact \[-\].
    pub friction: Vec<f64>,
    /// Coefficient of rolling μ_r of each contact \[m\]; 0 without rolling components.
    pub rolling: Vec<f64>,
}

impl LocalProblem {
    /// Number of components of a contact: 2 in the plane, 3 in space, 5 in space with rolling.
    pub fn dimension(&self) -> usize {
        self.matrix.dimension()
    }

    /// Number of contacts.
    pub fn contacts(&self) -> usize {
        self.friction.len()
    }

    /// Coefficients of friction and rolling of a contact.
    #[inline(always)]
    fn coefficients(&self, contact: usize) -> [f64; 2] {
        [self.friction[contact], self.rolling[contact]]
    }

    /// Velocity u = W r + q of each contact under these impulses.
    fn velocities<const D: usize>(&self, impulses: &[[f64; D]]) -> impl Iterator<Item = [f64; D]> {
        let (rows, q) = (self.matrix.rows::<D>(), self.q.as_chunks::<D>().0);
        q.iter().enumerate().map(move |(row, q)| rows.velocity(row, q, impulses))
    }

    /// Natural map of these impulses relative to |q|, which is the `size` \[-\].
    fn residual<const D: usize>(&self, impulses: &[[f64; D]], size: f64) -> f64 {
        let of_contact = |(row, (velocity, impulse)): (usize, ([f64; D], &[f64; D]))| {
            let coefficients = self.coefficients(row);
            natural_map(impulse, &velocity, lift(&velocity, coefficients), coefficients)
        };
        let contacts = self.velocities(impulses).zip(impulses).enumerate();
        relative(contacts.map(of_contact).sum(), size)
    }

    /// These impulses with their velocities.
    fn solution<const D: usize>(&self, impulses: &[[f64; D]]) -> LocalSolution {
        let velocities = self.velocities(impulses).flatten().collect();
        LocalSolution { impulses: impulses.as_flattened().to_vec(), velocities }
    }

    /// |q|, by which residuals are divided \[m/s\].
    pub fn size(&self) -> f64 {
        self.q.iter().map(|q| q * q).sum::<f64>().sqrt()
    }
}

/// Solution of a local problem, contact by contact.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalSolution {
    /// Impulses r \[N s\].
    pub impulses: Vec<f64>,
    /// Velocities u = W r + q \[m/s\].
    pub velocities: Vec<f64>,
}

/// A solve in progress.
trait Iteration {
    /// Does a sweep or an iteration, and returns the size of the change of the impulses, |Δr| \[N s\].
    fn advance(&mut self) -> f64;
    /// Natural map relative to |q| \[-\].
    fn residual(&mut self) -> f64;
    /// Present impulses and their velocities.
    fn solution(&self) -> LocalSolution;
}
