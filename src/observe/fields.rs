//! Fields of a bed on a grid: solid fraction, velocity, granular temperature and stresses, coarse-grained with a kernel of a stated width.
//!
//! After Goldhirsch (2010), *Stress, stress asymmetry and couple stress: from discrete particles to continuous fields*, Granular Matter 12,
//! 239, with the forces of walls after Weinhart, Thornton, Luding & Bokhove (2012), *From discrete particles to continuum fields near a
//! boundary*, Granular Matter 14, 289. With a kernel W whose integral is 1, for grains of mass mᵢ, velocity vᵢ and centre rᵢ:
//!
//! ```text
//! ρ(r)   = Σᵢ mᵢ W(r - rᵢ)                       density; the solid fraction with volumes in place of masses
//! u(r)   = Σᵢ mᵢ vᵢ W(r - rᵢ) / ρ                velocity
//! σᵏ(r)  = Σᵢ mᵢ vᵢ vᵢᵀ W(r - rᵢ) - ρ u uᵀ       kinetic stress; the granular temperature is its trace over 3 ρ, of discs over 2 ρ
//! σᶜ(r)  = -Σᵢ Σ꜀ ∫₀¹ W(r - rᵢ - s a) ds a fᵀ    contact stress: f on grain i in contact c, a from its centre to the contact
//! t(r)   = Σ f W(r - c)                          force of walls and other boundaries on grains, at the contact point c
//! ```
//!
//! Stresses are positive under pressure. The balance of momentum is ρ Du/Dt = ρ g - ∇·(σᵏ + σᶜ) + t, at walls too. Every cell holds the
//! mean of the field over its volume: shares of the kernel are computed exactly for grains, and along an arm by the midpoint rule. So
//! sums over the cells are those over grains and contacts, as far as the kernels lie in the grid. Forces are of the last substep, without
//! bounces.

use glam::{DMat3, DVec3};

use super::grains;
use crate::engine::Snapshot;
use crate::model::plane::grain_volume;
use crate::model::{Periodic, World, outer};

/// Plan by which fields are computed on a grid.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct FieldPlan {
    /// Corner with the least coordinates \[m\].
    pub min: DVec3,
    /// Corner with the largest coordinates \[m\].
    pub max: DVec3,
    /// Number of cells along each axis.
    pub cells: [usize; 3],
    /// Kernel.
    pub kernel: FieldKernel,
    /// Width of the kernel \[m\].
    pub width: f64,
}

/// Kernel of the fields, a product of the same function along each axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum FieldKernel {
    /// Gaussian whose standard deviation is the width, cut off at three of them and scaled to an integral of 1.
    Gaussian,
    /// The same value within a width along each axis.
    Box,
}

/// Fields in one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CellFields {
    /// Density \[kg/m³\].
    pub density: f64,
    /// Volume of grains over volume \[-\].
    pub solid_fraction: f64,
    /// Velocity \[m/s\]; not a number without grains.
    pub velocity: DVec3,
    /// Granular temperature: the mean variance of the velocity along an axis, of two axes in a plane scene \[m²/s²\]; not a number without
    /// grains.
    pub temperature: f64,
    /// Kinetic stress \[Pa\].
    pub kinetic_stress: DMat3,
    /// Contact stress \[Pa\], with the direction of the force in the second place.
    pub contact_stress: DMat3,
    /// Force of boundaries on grains over volume \[N/m³\].
    pub boundary_force: DVec3,
}

/// Sums of a cell: mass, volume, momentum, its flux, arm times force, force of boundaries.
const NUMBERS: usize = 26;
/// Places of these in the sums.
const MOMENTUM: usize = 2;
const FLUX: usize = 5;
const CONTACTS: usize = 14;
const BOUNDARIES: usize = 23;

/// Parts of an arm per width of the kernel and per edge of a cell, whichever is shorter.
const PARTS: f64 = 4.0;
/// Most parts of an arm.
const MOST_PARTS: f64 = 256.0;

impl FieldKernel {
    /// Distance from its centre at which it ends \[widths\].
    pub fn reach(self) -> f64 {
        match self {
            FieldKernel::Gaussian => 3.0,
            FieldKernel::Box => 1.0,
        }
    }

    /// Integral along an axis up to this distance from its centre \[widths\].
    fn below(self, distance: f64) -> f64 {
        let distance = distance.clamp(-self.reach(), self.reach());
        match self {
            FieldKernel::Gaussian => {
                let of = |distance: f64| libm::erf(distance * std::f64::consts::FRAC_1_SQRT_2);
                0.5 + 0.5 * of(distance) / of(self.reach())
            }
            FieldKernel::Box => 0.5 + 0.5 * distance,
        }
    }
}

/// Shares of a kernel in the cells along an axis, from the first cell on.
struct Shares {
    first: usize,
    shares: Vec<f64>,
}

/// Sums in the cells of a grid.
struct FieldGrid<'a> {
    plan: &'a FieldPlan,
    /// Axis across a plane scene, whose cells are one metre deep.
    across: Option<usize>,
    periodic: Periodic,
    sums: Vec<[f64; NUMBERS]>,
}

impl FieldGrid<'_> {
    fn along(&self, axis: usize, place: f64) -> Shares {
        if self.across == Some(axis) {
            return Shares { first: 0, shares: vec![1.0] };
        }
        let FieldPlan { min, cells, kernel, width, .. } = *self.plan;
        let (edge, reach) = (self.plan.edges()[axis], kernel.reach() * width);
        let at = |place: f64| ((place - min[axis]) / edge).clamp(0.0, cells[axis] as f64);
        let (first, end) = (at(place - reach).floor() as usize, at(place + reach).ceil() as usize);
        let below = |cell: usize| kernel.below((min[axis] + cell as f64 * edge - place) / width);
        Shares { first, shares: (first..end).map(|cell| below(cell + 1) - below(cell)).collect() }
    }

    /// Adds amounts that belong to a point to the cells by their shares of the kernel about it, from a place in the sums on.
    fn add<const N: usize>(&mut self, point: DVec3, first: usize, amounts: [f64; N]) {
        let reach = self.plan.kernel.reach() * self.plan.width;
        let (periodic, [columns, rows, _]) = (self.periodic, self.plan.cells);
        for image in periodic.images(point, reach) {
            let [x, y, z] = [0, 1, 2].map(|axis| self.along(axis, image[axis]));
            for (k, of_z) in (z.first..).zip(&z.shares) {
                for (j, of_y) in (y.first..).zip(&y.shares) {
                    for (i, of_x) in (x.first..).zip(&x.shares) {
                        let sums = &mut self.sums[(k * rows + j) * columns + i][first..];
                        let share = of_x * of_y * of_z;
                        sums.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += share * amount);
                    }
                }
            }
        }
    }

    /// Adds a moment, arm times force, to the cells along the arm from a point.
    fn add_along(&mut self, start: DVec3, arm: DVec3, moment: DMat3) {
        let finest = self.plan.width.min(self.plan.edges().min_element());
        let parts = (PARTS * arm.length() / finest).ceil().clamp(PARTS, MOST_PARTS);
        let part = (moment * parts.recip()).to_cols_array();
        for i in 0..parts as usize {
            self.add(start + (i as f64 + 0.5) / parts * arm, CONTACTS, part);
        }
    }
}

impl FieldPlan {
    /// Edges of a cell \[m\].
    pub fn edges(&self) -> DVec3 {
        (self.max - self.min) / DVec3::from(self.cells.map(|cells| cells as f64))
    }

    /// Volume of a cell \[m³\]; in a plane scene of one metre of depth.
    fn cell_volume(&self, world: &World) -> f64 {
        let edges = self.edges();
        match world.plane {
            Some(plane) => edges.element_product() / edges[plane.across()],
            None => edges.element_product(),
        }
    }

    /// The fields of a state in all cells, x fastest, then y. Of several ranks each gets those of the whole state.
    pub fn fields(&self, snapshot: &Snapshot) -> Vec<CellFields> {
        let world = &snapshot.world;
        let mut grid = FieldGrid {
            plan: self,
            across: world.plane.map(|plane| plane.across()),
            periodic: world.periodic,
            sums: vec![[0.0; NUMBERS]; self.cells.iter().product()],
        };
        for grain in grains(snapshot) {
            let (mass, velocity) = (grain.mass, world.bodies.velocity[grain.body]);
            let volume = grain_volume(world.plane, grain.radius);
            let mut amounts = [0.0; CONTACTS];
            amounts[..MOMENTUM].copy_from_slice(&[mass, volume]);
            amounts[MOMENTUM..FLUX].copy_from_slice(&(mass * velocity).to_array());
            amounts[FLUX..].copy_from_slice(&(mass * outer(velocity, velocity)).to_cols_array());
            grid.add(world.bodies.position[grain.body], 0, amounts);
        }
        for contact in snapshot.counted_contacts().filter(|contact| contact.is_active()) {
            let force = contact.impulse.linear(contact.normal) / snapshot.substep;
            for (body, force) in contact.bodies.into_iter().zip([force, -force]) {
                let body = body as usize;
                if world.grain_of_body(body).is_none() {
                    grid.add(contact.point, BOUNDARIES, (-force).to_array());
                    continue;
                }
                let centre = world.periodic.image(world.bodies.position[body], contact.point);
                let arm = contact.point - centre;
                grid.add_along(centre, arm, outer(arm, -force));
            }
        }
        snapshot.share.sum_each(bytemuck::cast_slice_mut(&mut grid.sums));
        let volume = self.cell_volume(world);
        let ways = if world.plane.is_some() { 2.0 } else { 3.0 };
        grid.sums.iter().map(|sums| fields_of(sums, volume, ways)).collect()
    }
}

/// Fields of a cell of this volume \[m³\] from its sums; grains move along as many axes as there are `ways`.
fn fields_of(sums: &[f64; NUMBERS], volume: f64, ways: f64) -> CellFields {
    let (mass, momentum) = (sums[0], DVec3::from_slice(&sums[MOMENTUM..]));
    let velocity = momentum / mass;
    let of_mean = if mass > 0.0 { outer(momentum, velocity) } else { DMat3::ZERO };
    let kinetic = DMat3::from_cols_slice(&sums[FLUX..CONTACTS]) - of_mean;
    let trace: f64 = (0..3).map(|axis| kinetic.col(axis)[axis]).sum();
    CellFields {
        density: mass / volume,
        solid_fraction: sums[1] / volume,
        velocity,
        temperature: trace / (ways * mass),
        kinetic_stress: kinetic * volume.recip(),
        contact_stress: DMat3::from_cols_slice(&sums[CONTACTS..BOUNDARIES]) * volume.recip(),
        boundary_force: DVec3::from_slice(&sums[BOUNDARIES..]) / volume,
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::{heap, stack};
    use super::*;
    use crate::contact::{Impulse, Key};
    use crate::engine::StepReport;

    /// A grid about the hand-made states with cells of 0.1 m, in which all their kernels lie.
    fn plan(kernel: FieldKernel) -> FieldPlan {
        let (min, max) = (DVec3::new(-2.0, -2.0, -2.0), DVec3::new(2.0, 2.0, 4.0));
        FieldPlan { min, max, cells: [20, 20, 60], kernel, width: 0.15 }
    }

    const VOLUME: f64 = 0.2 * 0.2 * 0.1;

    fn sum<T: std::iter::Sum>(fields: &[CellFields], of: impl Fn(&CellFields) -> T) -> T {
        fields.iter().map(of).sum()
    }

    /// Sum of what cells hold that have a velocity.
    fn momentum(fields: &[CellFields]) -> DVec3 {
        let moving = fields.iter().filter(|cell| cell.density > 0.0);
        moving.map(|cell| VOLUME * cell.density * cell.velocity).sum()
    }

    #[test]
    fn the_grid_holds_the_mass_volume_momentum_and_energy_of_the_grains() {
        for kernel in [FieldKernel::Gaussian, FieldKernel::Box] {
            let mut state = stack();
            state.world.bodies.velocity[1] = DVec3::new(1.0, -2.0, 0.5);
            state.world.bodies.velocity[2] = DVec3::new(-3.0, 0.0, 1.0);
            let fields = plan(kernel).fields(&state);
            // Grains of 2 kg and 16 kg, of which one cubic metre weighs 12 / π kg.
            approx::assert_relative_eq!(
                sum(&fields, |cell| VOLUME * cell.density),
                18.0,
                max_relative = 1e-12
            );
            let volume = 18.0 / (12.0 / std::f64::consts::PI);
            approx::assert_relative_eq!(
                sum(&fields, |cell| VOLUME * cell.solid_fraction),
                volume,
                max_relative = 1e-12
            );
            let expected = 2.0 * DVec3::new(1.0, -2.0, 0.5) + 16.0 * DVec3::new(-3.0, 0.0, 1.0);
            assert!((momentum(&fields) - expected).length() < 1e-11, "{}", momentum(&fields));
            // Energy of the mean velocities and of the fluctuations: 1/2 (2 · 5.25 + 16 · 10) J.
            let moving = fields.iter().filter(|cell| cell.density > 0.0);
            let energy: f64 = moving
                .map(|cell| {
                    0.5 * VOLUME * cell.density * (cell.velocity.length_squared() + 3.0 * cell.temperature)
                })
                .sum();
            approx::assert_relative_eq!(energy, 85.25, max_relative = 1e-11);
            assert!(fields[0].velocity.is_nan() && fields[0].density == 0.0, "an empty cell");
        }
    }

    /// Mass of the layers from one height to another per area, times the area: 4 m by 4 m.
    fn through_layer(fields: &[CellFields], layer: usize, of: impl Fn(&CellFields) -> f64) -> f64 {
        0.04 * fields[layer * 400..(layer + 1) * 400].iter().map(of).sum::<f64>()
    }

    /// The floor carries 180 N, the lower grain 160 N: halfway between the centres of both grains, at 0.45 m and 1.9 m, the force through
    /// the layer is 160 N, and above the upper grain 0. Where the kernel has no end of an arm within reach, only the cut of the Gaussian at
    /// three widths, where it has 0.011 of its height, disturbs the sum along the arm.
    #[test]
    fn a_column_at_rest_carries_the_weight_above_each_level() {
        for kernel in [FieldKernel::Gaussian, FieldKernel::Box] {
            let mut state = stack();
            state.world.bodies.velocity.iter_mut().for_each(|velocity| *velocity = DVec3::ZERO);
            let fields = plan(kernel).fields(&state);
            let carried = |layer: usize| through_layer(&fields, layer, |cell| cell.contact_stress.col(2)[2]);
            // Layer k is from -2 m + k / 10 m on.
            assert!((carried(31) - 160.0).abs() < 1.0, "{kernel:?}: {}", carried(31));
            assert_eq!(carried(45), 0.0, "above the centre of the upper grain");
            // In all: 180 N over an arm of 0.475 m, and 160 N over 1.45 m.
            let expected = 180.0 * 0.475 + 160.0 * 1.45;
            let found = sum(&fields, |cell| VOLUME * cell.contact_stress.col(2)[2]);
            approx::assert_relative_eq!(found, expected, max_relative = 1e-12);
            let floor: DVec3 = sum(&fields, |cell| VOLUME * cell.boundary_force);
            assert!((floor - DVec3::new(90.0, 0.0, 180.0)).length() < 1e-9, "with its friction: {floor}");
        }
    }

    /// Two grains that touch along an oblique line, pressed together by 10 N, with a tangential force of 3 N.
    fn pair(tangential: f64) -> Vec<CellFields> {
        let apart = DVec3::new(0.36, 0.48, 0.8);
        let world = heap([DVec3::ZERO, 0.99 * apart]).world;
        let substep = 0.005;
        let tangent = tangential * substep * DVec3::new(0.8, -0.6, 0.0);
        let impulse = Impulse { normal: 10.0 * substep, tangent, ..Impulse::default() };
        let state = Snapshot::new(world, vec![(Key { a: 0, b: 1 }, impulse)], substep, StepReport::default());
        plan(FieldKernel::Gaussian).fields(&state)
    }

    #[test]
    fn the_stress_of_one_contact_is_symmetric_unless_a_tangential_force_turns_it() {
        let skew = |fields: &[CellFields]| {
            let of = |stress: DMat3| {
                (stress - stress.transpose())
                    .to_cols_array()
                    .into_iter()
                    .fold(0.0, |a: f64, b| a.max(b.abs()))
            };
            fields.iter().map(|cell| of(cell.contact_stress)).fold(0.0, f64::max)
        };
        let (plain, sheared) = (pair(0.0), pair(3.0));
        assert!(skew(&plain) < 1e-12 && skew(&sheared) > 0.1, "{} {}", skew(&plain), skew(&sheared));
        // Trace of the whole: force times distance of the centres.
        let trace =
            sum(&plain, |cell| VOLUME * (0..3).map(|axis| cell.contact_stress.col(axis)[axis]).sum::<f64>());
        approx::assert_relative_eq!(trace, 9.9, max_relative = 1e-12);
    }

    #[test]
    fn a_kernel_across_a_periodic_face_comes_in_at_the_other() {
        let mut state = heap([DVec3::new(-1.99, 0.3, 1.0)]);
        let mass = state.world.grain_mass(0);
        let held =
            |state: &Snapshot| sum(&plan(FieldKernel::Gaussian).fields(state), |cell| VOLUME * cell.density);
        assert!(held(&state) < 0.6 * mass, "almost half of it is outside");
        state.world.periodic =
            Periodic { min: DVec3::new(-2.0, 0.0, 0.0), length: DVec3::new(4.0, 0.0, 0.0), ..Periodic::NONE };
        approx::assert_relative_eq!(held(&state), mass, max_relative = 1e-12);
    }
}
