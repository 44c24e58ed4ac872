//! `fix wall/gran` and `fix wall/gran/region`.

use glam::DVec3;

use super::command::ScriptCommand;
use super::forms::RegionForm;
use super::models::{granular, liggghts_model, old_style};
use super::regions::axis;
use super::scene::{ContactModel, ContactStiffness, FixKind, GranularLaw, ScriptScene, ScriptWall, WallForm};
use crate::scenario::Problem;

/// What primitive walls differ in.
const ONE_SIDE: &str = "primitive walls act on both sides in the script, and on one here: planes on the side of the middle of the box, \
    cylinders inside";

/// Reads the words behind `fix ID GROUP wall/gran`.
pub fn wall(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    let wall = match command.peek() {
        Some("model") => {
            let model = liggghts_model(command)?;
            liggghts_wall(command, scene, model)?
        }
        _ => {
            let model = ContactModel::Coefficients(lammps_model(command, scene)?);
            lammps_wall(command, scene, model)?
        }
    };
    command.end()?;
    Ok(FixKind::Wall(wall))
}

/// Reads the contact model of a wall of LAMMPS. Older scripts give numbers alone, for the style of the pairs.
fn lammps_model(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<GranularLaw, Problem> {
    if command.peek().is_some_and(|word| word.parse::<f64>().is_ok()) {
        let is_hooke = matches!(&scene.pair, Some(ContactModel::Coefficients(law)) if matches!(law.stiffness, ContactStiffness::Hooke(_)));
        return old_style(command, if is_hooke { "hooke/history" } else { "hertz/history" });
    }
    let style = command.word(
        "a contact model: model (LIGGGHTS), granular, hooke, hooke/history or hertz/history (LAMMPS)",
    )?;
    if style == "granular" { granular(command) } else { old_style(command, style) }
}

fn liggghts_wall(
    command: &mut ScriptCommand<'_>,
    scene: &ScriptScene,
    model: ContactModel,
) -> Result<ScriptWall, Problem> {
    match command.one_of(&["primitive", "mesh"])? {
        "mesh" => {
            command.exactly("n_meshes")?;
            let count = command.count("the number of meshes")? as usize;
            command.exactly("meshes")?;
            let known = scene.ids(|kind| matches!(kind, FixKind::Mesh(_) | FixKind::Nothing));
            let mut forms = Vec::new();
            for _ in 0..count {
                let name = command.name_among("mesh", known.clone())?;
                forms.push(WallForm::Mesh(name.to_owned()));
            }
            while let Some(word) = command.next() {
                let value = command.next().unwrap_or_default().to_owned();
                if !word.starts_with("store_force") {
                    command.not_taken(format!("`{word} {value}` of the wall"));
                }
            }
            Ok(ScriptWall { material: None, model, forms })
        }
        _ => {
            command.exactly("type")?;
            let material = atom_type(command, scene)?;
            command.differs(ONE_SIDE);
            let form = primitive(command)?;
            Ok(ScriptWall { material: Some(material), model, forms: vec![form] })
        }
    }
}

/// Reads a type of atom.
pub fn atom_type(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<usize, Problem> {
    let found = command.count("a type of atom")? as usize;
    let most = if scene.types == 0 { usize::MAX } else { scene.types };
    if (1..=most).contains(&found) {
        return Ok(found);
    }
    Err(command
        .wrong(format!("found type {found}, expected 1 to {most}, as in create_box"), "correct the number"))
}

/// Reads a plane or a cylinder of LIGGGHTS, and its motion.
fn primitive(command: &mut ScriptCommand<'_>) -> Result<WallForm, Problem> {
    let kinds = ["xplane", "yplane", "zplane", "xcylinder", "ycylinder", "zcylinder"];
    let kind = command.one_of(&kinds)?;
    let axis = kinds.iter().position(|known| *known == kind).unwrap_or_default() % 3;
    if kind.ends_with("plane") {
        let at = command.length("the place of the plane")?;
        return plane_motion(command, (axis, at, None));
    }
    let radius = command.positive("the radius")? * command.units.length;
    let centre = [command.length("the centre")?, command.length("the centre")?];
    let rate = cylinder_motion(command, axis, None)?;
    Ok(WallForm::Cylinder { axis, centre, radius, rate })
}

/// Reads what may stand behind a plane: `shear` or `wiggle`.
fn plane_motion(
    command: &mut ScriptCommand<'_>,
    (axis_of, at, grains_above): (usize, f64, Option<bool>),
) -> Result<WallForm, Problem> {
    let (mut belt, mut wiggle) = (None, None);
    if command.skip("shear") {
        let along = axis(command)?;
        let speed = command.number("the speed")? * command.units.velocity();
        belt = Some(DVec3::AXES[along] * speed);
    } else if command.skip("wiggle") {
        let along = axis(command)?;
        let amplitude = command.length("the amplitude")?;
        let period = command.positive("the period")? * command.units.time;
        // LAMMPS and LIGGGHTS: A (1 - cos(2π t / T)), which begins at rest.
        wiggle = Some((DVec3::AXES[along] * amplitude, period));
    }
    if command.skip("contacts") {
        // An output of forces.
    }
    Ok(WallForm::Plane { axis: axis_of, at, grains_above, belt, wiggle })
}

/// Reads what may stand behind a cylinder; returns the rate of its rotation \[rad/s\]. `shear` is a rate about the axis of the cylinder in
/// LIGGGHTS (`radius` is `None`), and in LAMMPS the speed of the shell, clockwise, where its axis is named by another one.
fn cylinder_motion(
    command: &mut ScriptCommand<'_>,
    axis_of: usize,
    radius: Option<f64>,
) -> Result<f64, Problem> {
    let mut rate = 0.0;
    if command.skip("shear") {
        let along = axis(command)?;
        let value = command.number("the speed")?;
        match radius {
            None if along == axis_of => rate = value / command.units.time,
            Some(radius) if along != axis_of => rate = -value * command.units.velocity() / radius,
            _ => command.not_taken("`shear` of a cylinder that does not turn it about its axis"),
        }
    } else if command.skip("wiggle") {
        let rest = command.rest();
        command.not_taken(format!("`wiggle {rest}` of a cylinder"));
    }
    command.skip("contacts");
    Ok(rate)
}

/// Reads a wall of LAMMPS: planes at a low and a high place, or a cylinder along z about the origin.
fn lammps_wall(
    command: &mut ScriptCommand<'_>,
    scene: &ScriptScene,
    model: ContactModel,
) -> Result<ScriptWall, Problem> {
    let kind = command.one_of(&["xplane", "yplane", "zplane", "zcylinder", "region"])?;
    let mut forms = Vec::new();
    match kind {
        "region" => {
            let form = region_form(command, scene)?;
            return Ok(ScriptWall { material: None, model, forms: vec![form] });
        }
        "zcylinder" => {
            let radius = command.positive("the radius")? * command.units.length;
            let rate = cylinder_motion(command, 2, Some(radius))?;
            forms.push(WallForm::Cylinder { axis: 2, centre: [0.0; 2], radius, rate });
        }
        _ => {
            let axis =
                ["xplane", "yplane", "zplane"].iter().position(|known| *known == kind).unwrap_or_default();
            let low = command.bound(f64::NEG_INFINITY, "the low place, or NULL")?;
            let high = command.bound(f64::INFINITY, "the high place, or NULL")?;
            let motion = plane_motion(command, (axis, low, None))?;
            for (at, above) in [(low, true), (high, false)].into_iter().filter(|(at, _)| at.is_finite()) {
                if let WallForm::Plane { belt, wiggle, .. } = motion.clone() {
                    forms.push(WallForm::Plane { axis, at, grains_above: Some(above), belt, wiggle });
                }
            }
            if forms.is_empty() {
                return Err(command
                    .wrong("both places of the wall are NULL, expected at least one", "give a coordinate"));
            }
        }
    }
    Ok(ScriptWall { material: None, model, forms })
}

fn region_form(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<WallForm, Problem> {
    let name = command.name_among("region", scene.regions.keys().map(String::as_str))?;
    let form = scene.regions.get(name).cloned().unwrap_or(RegionForm::Other(String::new()));
    if let RegionForm::Other(style) = &form {
        command.not_taken(format!("a wall around region `{name}` ({style})"));
    }
    Ok(WallForm::Region(name.to_owned(), form))
}

/// Reads the words behind `fix ID GROUP wall/gran/region`: the contact model, and `region NAME`.
pub fn region_wall(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    let model = ContactModel::Coefficients(lammps_model(command, scene)?);
    command.exactly("region")?;
    let form = region_form(command, scene)?;
    while let Some(word) = command.next() {
        if word != "contacts" {
            let rest = command.rest();
            command.not_taken(format!("`{word} {rest}` of the wall"));
        }
    }
    Ok(FixKind::Wall(ScriptWall { material: None, model, forms: vec![form] }))
}
