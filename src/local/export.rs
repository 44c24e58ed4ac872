//! The contact problem of a substep of a scene, as a local problem.
//!
//! ```text
//! W = H M⁻¹ Hᵀ + Σ      H: normal and tangents of each contact, over the bodies that move; Σ: compliances, on the diagonal of the normals
//! q = H v - b           v: velocities under gravity, applied forces and cohesion, after impacts; b: bias velocities of the normals
//! ```
//!
//! Contacts that are listed and still apart are among them: their bias lets them close. Cohesion is an impulse that is given, so it counts
//! in v. What the form cannot tell is refused: joints and bonds, whose impulses have no cone; cells that deform; rolling resistance, which
//! resists twisting as well, and twisting has no component; the box in place of Coulomb's cone; and the smooth method, which has no contact
//! problem.

use glam::{DMat3, DVec3};

use crate::contact::Key;
use crate::contact::constraint::Constraint;
use crate::contact::velocity::InverseMass;
use crate::cpu::convergence::{UnsolvedSubstep, next_substep};
use crate::engine::Snapshot;
use crate::error::Error;
use crate::law::cone::{Cone, axes};
use crate::model::World;
use crate::settings::{Method, Settings};

use super::LocalProblem;
use super::matrix::{BlockMatrix, MatrixEntry};

/// Most numbers that a matrix is made of: 4 GB of them.
const MOST_ENTRIES: usize = 1 << 28;

/// A substep as a local problem.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedStep {
    /// The problem; its contacts are in the order of their keys.
    pub problem: LocalProblem,
    /// Key of each contact.
    pub keys: Vec<Key>,
    /// Axes of each contact in the world, the normal first; in the plane the last one has no component.
    pub axes: Vec<DMat3>,
}

/// Makes the problem of the substep that follows a state.
///
/// # Errors
/// [`Error::Unusable`] for what the form cannot tell, and for a state without contacts.
pub fn next_problem(snapshot: &Snapshot, settings: &Settings) -> Result<ExportedStep, Error> {
    if settings.method == Method::Smooth {
        return Err(untold(
            "the smooth method",
            "it has springs and no contact problem: use solver.method = \"nonsmooth\"",
        ));
    }
    if !snapshot.world.joints.is_empty() {
        return Err(untold("joints", "their impulses have no cone: export a scene without them"));
    }
    if !snapshot.world.bonds.is_empty() {
        return Err(untold("bonds", "their impulses have no cone: export a scene without them"));
    }
    if snapshot.world.deformation.is_some() {
        let advice = "its strain rates follow the impulses: export a scene without stages of its cell";
        return Err(untold("a cell that deforms", advice));
    }
    if settings.cone == Cone::Box {
        return Err(untold("solver.cone = \"box\"", "the form has Coulomb's cone alone: use \"disc\""));
    }
    let UnsolvedSubstep { world, contacts, velocities } = next_substep(snapshot, settings);
    let takes_part = |constraint: &Constraint| constraint.has_touch() && constraint.effective_mass[0] > 0.0;
    let contacts: Vec<(Key, Constraint)> =
        contacts.into_iter().filter(|(_, constraint)| takes_part(constraint)).collect();
    if contacts.is_empty() {
        return Err(untold(
            "a state without contacts",
            "there is no problem to solve: export it at another time",
        ));
    }
    if contacts.iter().any(|(_, constraint)| constraint.rolling_arm > 0.0) {
        let advice = "esker's resists twisting as well, and the form has two rolling components: set rolling_resistance = 0";
        return Err(untold("rolling resistance", advice));
    }
    let across = world.plane.map(|plane| [DVec3::X, DVec3::Y, DVec3::Z][plane.across()]);
    let frame = |constraint: &Constraint| match across {
        Some(across) => DMat3::from_cols(constraint.normal, across.cross(constraint.normal), across),
        None => axes(constraint.normal),
    };
    let (keys, constraints): (Vec<Key>, Vec<Constraint>) = contacts.into_iter().unzip();
    let axes: Vec<DMat3> = constraints.iter().map(frame).collect();
    let dimension = if across.is_some() { 2 } else { 3 };
    let mut q = Vec::new();
    for (constraint, axes) in constraints.iter().zip(&axes) {
        let [a, b] = constraint.bodies.map(|body| &velocities[body as usize]);
        let along = axes.transpose() * constraint.contact_velocity(a, b);
        q.push(along.x - constraint.bias);
        q.extend(&along.to_array()[1..dimension]);
    }
    let inverse_mass = |body: u32| {
        let velocity = &velocities[body as usize];
        velocity.is_free().then(|| InverseMass::of(&world, body as usize, velocity))
    };
    let entries = entries(&world, &constraints, &axes, dimension, inverse_mass)?;
    let matrix = BlockMatrix::from_entries(dimension, constraints.len(), entries)
        .map_err(|found| untold("a matrix", &found))?;
    let friction = constraints.iter().map(|constraint| constraint.friction).collect();
    let problem = LocalProblem { matrix, q, friction, rolling: vec![0.0; constraints.len()] };
    Ok(ExportedStep { problem, keys, axes })
}

fn untold(what: &str, advice: &str) -> Error {
    Error::Unusable {
        origin: "--problem".into(),
        found: format!("a local problem cannot tell {what}"),
        advice: advice.to_owned(),
    }
}

/// A contact seen from one of its bodies.
struct ContactSide {
    contact: usize,
    /// 1 for the first body, -1 for the second.
    sign: f64,
    arm: DVec3,
}

/// Numbers of W: bodies in turn add what two of their contacts have to do with each other.
fn entries(
    world: &World,
    constraints: &[Constraint],
    axes: &[DMat3],
    dimension: usize,
    inverse_mass: impl Fn(u32) -> Option<InverseMass>,
) -> Result<Vec<MatrixEntry>, Error> {
    let mut sides: Vec<Vec<ContactSide>> = Vec::new();
    sides.resize_with(world.bodies.len(), Vec::new);
    for (contact, constraint) in constraints.iter().enumerate() {
        let of = [(1.0, constraint.arm_a), (-1.0, constraint.arm_b)];
        for (body, (sign, arm)) in constraint.bodies.into_iter().zip(of) {
            sides[body as usize].push(ContactSide { contact, sign, arm });
        }
    }
    let is_free = |body: usize| world.bodies.inverse_mass[body] > 0.0;
    let count: usize =
        sides.iter().enumerate().filter(|(body, _)| is_free(*body)).map(|(_, of)| of.len() * of.len()).sum();
    if count * dimension * dimension > MOST_ENTRIES {
        return Err(untold(
            "so many contacts of one body",
            "W would be dense in them: export a smaller scene",
        ));
    }
    let mut entries = Vec::with_capacity((count + constraints.len()) * dimension * dimension);
    for (body, sides) in sides.iter().enumerate() {
        let Some(inverse) = inverse_mass(body as u32) else { continue };
        for other in sides {
            let of_other = axes[other.contact];
            for (j, axis) in
                [of_other.x_axis, of_other.y_axis, of_other.z_axis][..dimension].iter().enumerate()
            {
                let linear = inverse.linear * *axis;
                let angular = inverse.angular * other.arm.cross(*axis);
                for side in sides {
                    let along = axes[side.contact].transpose() * (linear + angular.cross(side.arm));
                    let column = (other.contact * dimension + j) as u32;
                    let rows = along.to_array().into_iter().take(dimension).enumerate();
                    entries.extend(rows.map(|(i, value)| {
                        ((side.contact * dimension + i) as u32, column, side.sign * other.sign * value)
                    }));
                }
            }
        }
    }
    let compliance = |(contact, constraint): (usize, &Constraint)| {
        let row = (contact * dimension) as u32;
        (row, row, constraint.compliance)
    };
    entries.extend(constraints.iter().enumerate().map(compliance));
    Ok(entries)
}
