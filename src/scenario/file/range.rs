//! Check that masses, moments of inertia and compliances neither round to zero nor overflow in double precision.
//!
//! Merely unusual values pass. Values beyond single precision are refused when a scenario goes to the GPU
//! ([`Error::BeyondSingle`](crate::error::Error::BeyondSingle)).

use crate::law::normal::DAMPING_STEPS;
use crate::law::pair::PairLaw;
use crate::model::{MaterialId, World, plane};
use crate::scenario::pace::{GrainKind, kinds};
use crate::settings::Settings;
use crate::sources::Emitter;

use super::read::{Node, Table};

/// Smallest relative overlap (overlap over radius) at which a compliance must be a number \[-\]: grains at rest overlap by more.
const LEAST_OVERLAP: f64 = 1e-9;

/// Smallest and largest radius of the grains of a material \[m\].
type RadiusRange = (f64, f64);

/// Reports materials whose grains have a mass, moment of inertia or compliance that is no number.
pub fn check(root: &mut Table<'_>, world: &World, emitters: &[Emitter], settings: &Settings) {
    let Some(node) = root.node("materials") else { return };
    for GrainKind { material, least, largest, .. } in kinds(world, emitters) {
        let (material, radii) = (material as usize, (least, largest));
        check_mass(&node, world, material, radii);
        check_compliance(&node, world, settings, material, radii);
    }
}

/// Returns whether a mass or moment of inertia and its inverse are normal numbers in double precision.
pub fn is_sound(number: f64) -> bool {
    number.is_normal() && number.recip().is_normal()
}

fn check_mass(node: &Node<'_>, world: &World, material: usize, (least, largest): RadiusRange) {
    let material = &world.materials.list[material];
    let masses = |radius: f64| {
        let mass = material.density * plane::grain_volume(world.plane, radius);
        (mass, plane::gyration(world.plane) * mass * radius * radius)
    };
    let wrong = [least, largest].into_iter().map(|radius| (radius, masses(radius)));
    let wrong = wrong.into_iter().find(|(_, (mass, inertia))| !is_sound(*mass) || !is_sound(*inertia));
    if let Some((radius, (mass, inertia))) = wrong {
        property(node, &material.name, "density").problem(
            format!(
                "a grain of \"{}\" of radius {radius:e} m has a mass of {mass:e} kg and a moment of inertia of \
                 {inertia:e} kg m²: one of them or its inverse is no number in double precision",
                material.name
            ),
            "choose a density at which both are within 1e-300 to 1e300",
        );
    }
}

/// Checks the compliances of the contacts of a material with itself and with all others.
fn check_compliance(
    node: &Node<'_>,
    world: &World,
    settings: &Settings,
    material: usize,
    (least, largest): RadiusRange,
) {
    let materials = &world.materials;
    for (other, partner) in materials.list.iter().enumerate() {
        let law = materials.law(material as MaterialId, other as MaterialId);
        let cases = [(0.5 * least, LEAST_OVERLAP * least), (0.5 * least, least), (largest, largest)];
        let wrong =
            cases.into_iter().map(|(radius, overlap)| (overlap, compliance(law, radius, overlap, settings)));
        // The rigid law has no compliance.
        let is_wrong =
            |(_, compliance): &(f64, Option<f64>)| compliance.is_some_and(|number| !number.is_normal());
        if let Some((overlap, Some(compliance))) = wrong.into_iter().find(is_wrong) {
            let softer = if materials.list[material].youngs_modulus <= partner.youngs_modulus {
                material
            } else {
                other
            };
            let name = &materials.list[softer].name;
            property(node, name, "youngs_modulus").problem(
                format!(
                    "a contact of \"{}\" with \"{}\" that overlaps by {overlap:e} m has an effective modulus of {:e} Pa \
                     and a compliance Σ of {compliance:e} 1/kg: that is no number in double precision",
                    materials.list[material].name, partner.name, law.effective_modulus
                ),
                "choose a modulus between that of foam (1e3 Pa) and that of diamond (1e12 Pa)",
            );
            return;
        }
    }
}

/// Compliance Σ_n \[E2\] of a contact \[1/kg\]; `None` for the rigid law, which has none.
fn compliance(law: &PairLaw, radius: f64, overlap: f64, settings: &Settings) -> Option<f64> {
    let (exponent, stiffness) = settings.normal_law.elasticity(law.effective_modulus, radius)?;
    let h = settings.substep();
    let damping_time = (DAMPING_STEPS * h).max(law.damping / exponent);
    let slope: f64 = exponent * overlap.powf(exponent - 1.0);
    let upsilon = 1.0 / (1.0 + 4.0 * damping_time / h);
    Some(4.0 * (exponent / stiffness) * upsilon / (h * h * slope * slope))
}

/// Returns the node of a property of a material, or the table of the material if the property is left out.
fn property<'a>(materials: &Node<'a>, material: &str, property: &str) -> Node<'a> {
    let table = materials.child(material).unwrap_or_else(|| materials.clone());
    table.child(property).unwrap_or(table)
}
