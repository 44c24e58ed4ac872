//! Checks before a world goes to the device: values that single precision cannot hold, and settings that the GPU engine lacks.

use crate::error::Error;
use crate::law::normal::NormalLaw;
use crate::law::pair::Material;
use crate::model::{MaterialId, World, plane};
use crate::settings::{Order, Settings, ToleranceKind};
use crate::shape::Convex;

use super::{Anchors, Law, Machines, laws};

/// Largest number of corners of a polyhedron. Two of them have 35 000 pairs of edges, which one invocation tries; with some 65 000 turns of
/// all its loops lavapipe ends them without a word.
const MOST_CORNERS: usize = 64;
/// Largest rounding of the position of a grain, as a share of its radius \[-\]: contacts overlap by more.
const ROUNDING_SHARE: f64 = 1e-3;

/// Refuses grains of these materials and radii \[m\] whose mass, moment of inertia or compliance leaves the range of single precision,
/// or that are too small for the cells of the world. Also refuses machines of more rows than a workgroup solves, and settings that
/// only the CPU engine has.
///
/// # Errors
/// [`Error::BeyondSingle`], [`Error::TooSmall`] and [`Error::MachineTooLarge`], with the numbers; [`Error::NotOnGpu`].
pub fn check_single(
    world: &World,
    settings: &Settings,
    grains: impl Iterator<Item = (MaterialId, f64)>,
) -> Result<(), Error> {
    if !world.bonds.is_empty() {
        return Err(Error::NotOnGpu { setting: "bonds" });
    }
    check_polyhedra(world)?;
    Machines::of(world).check()?;
    check_settings(settings)?;
    if world.heat.is_some() {
        return Err(Error::NotOnGpu { setting: "heat" });
    }
    if world.liquid.is_some() {
        return Err(Error::NotOnGpu { setting: "liquid" });
    }
    if world.deformation.is_some() {
        return Err(Error::NotOnGpu { setting: "periodic.stages" });
    }
    let cell = Anchors::for_world(world, settings).cell_size.max_element();
    let rounding = 0.5 * cell * f64::from(f32::EPSILON);
    let mut extremes: Vec<Option<[f64; 2]>> = vec![None; world.materials.list.len()];
    for (material, radius) in grains {
        let known = &mut extremes[material as usize];
        *known = Some(known.map_or([radius; 2], |[least, most]| [least.min(radius), most.max(radius)]));
    }
    for (body, rigid) in (0..world.bodies.len()).filter_map(|body| Some((body, world.bodies.rigid(body)?))) {
        if let Some(found) = rigid.inertia().into_iter().find(|number| !(number.recip() as f32).is_normal()) {
            let name = match world.grain_of_body(body) {
                Some(grain) => format!("grain {}", world.ids[grain]),
                None => format!("boundary \"{}\"", world.boundaries[body].name),
            };
            let what = format!("a mass [kg] or moment of inertia [kg m²] of {name}");
            return Err(Error::BeyondSingle { what, found });
        }
    }
    world.present_grains().try_for_each(|grain| check_own_density(world, grain))?;
    let laws = laws(world, settings);
    for (material, radii) in extremes.iter().enumerate() {
        for radius in radii.iter().flatten().copied() {
            if rounding > ROUNDING_SHARE * radius {
                return Err(Error::TooSmall { radius, cell, rounding });
            }
            check_inverses(world, &world.materials.list[material], radius)?;
            if settings.normal_law != NormalLaw::Rigid {
                let of_material = &laws[material * extremes.len()..][..extremes.len()];
                of_material.iter().try_for_each(|law| check_compliance(law, radius, settings.normal_law))?;
            }
        }
    }
    Ok(())
}

/// Refuses polyhedra with more corners than one invocation tries.
fn check_polyhedra(world: &World) -> Result<(), Error> {
    let is_large = |hull: &Convex| hull.corners.len() > MOST_CORNERS;
    match world.clumps.iter().filter_map(|clump| clump.hull.as_ref()).any(is_large) {
        true => Err(Error::NotOnGpu { setting: "shapes of more than 64 corners" }),
        false => Ok(()),
    }
}

/// Refuses settings that only the CPU engine has.
fn check_settings(settings: &Settings) -> Result<(), Error> {
    let only_on_cpu = [
        (settings.coarse_corrections > 0, "solver.coarse_corrections"),
        (settings.order != Order::Coloured, "solver.order"),
        (settings.tolerance_kind != ToleranceKind::Velocity, "solver.tolerance_kind = \"impulses\""),
    ];
    let found = only_on_cpu.into_iter().find(|(is_asked_for, _)| *is_asked_for);
    found.map_or(Ok(()), |(_, setting)| Err(Error::NotOnGpu { setting }))
}

/// Checks mass and inertia of a sphere with a density of its own; those of other grains follow from their material.
fn check_own_density(world: &World, grain: usize) -> Result<(), Error> {
    if world.grains[grain].density.is_none() {
        return Ok(());
    }
    let (body, bodies) = (world.grain_body(grain), &world.bodies);
    let inverses = [("mass [1/kg]", &bodies.inverse_mass), ("inertia [1/(kg m²)]", &bodies.inverse_inertia)];
    let wrong = inverses.into_iter().find(|(_, values)| !(values[body] as f32).is_normal());
    wrong.map_or(Ok(()), |(what, values)| {
        let what = format!("the inverse {what} of grain {}", world.ids[grain]);
        Err(Error::BeyondSingle { what, found: values[body] })
    })
}

fn check_inverses(world: &World, material: &Material, radius: f64) -> Result<(), Error> {
    let mass = material.density * plane::grain_volume(world.plane, radius);
    let inertia = plane::gyration(world.plane) * mass * radius * radius;
    let of_grain = format!("of a grain of \"{}\" of radius {radius:e} m", material.name);
    let inverses = [("mass [1/kg]", 1.0 / mass), ("inertia [1/(kg m²)]", 1.0 / inertia)];
    match inverses.into_iter().find(|(_, found)| !(*found as f32).is_normal()) {
        Some((what, found)) => {
            Err(Error::BeyondSingle { what: format!("the inverse {what} {of_grain}"), found })
        }
        None => Ok(()),
    }
}

/// Checks the compliance Σ of a contact at a small overlap, of the order of its rounding, and at an overlap of the whole radius.
fn check_compliance(law: &Law, radius: f64, normal_law: NormalLaw) -> Result<(), Error> {
    let factor = f64::from(law.sigma_factor);
    let compliances = [ROUNDING_SHARE * f64::from(f32::EPSILON), 1.0].map(|overlap| match normal_law {
        NormalLaw::Hertz => factor / (radius * radius * overlap).sqrt(),
        _ => factor / radius,
    });
    let found = [factor, compliances[0], compliances[1]];
    match found.into_iter().find(|found| !(*found as f32).is_normal()) {
        Some(found) => {
            let what = format!("the compliance Σ [1/kg] of a contact of a grain of radius {radius:e} m");
            Err(Error::BeyondSingle { what, found })
        }
        None => Ok(()),
    }
}
