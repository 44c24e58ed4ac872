//! `region`, `boundary`, `create_box` and the other commands about space.

use glam::DVec3;

use super::command::ScriptCommand;
use super::forms::RegionForm;
use super::scene::{BoxFace, ScriptScene};
use crate::scenario::Problem;

/// Reads `boundary`: two letters per axis, or one for both faces.
pub fn boundary(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    for axis in 0..3 {
        let word = command.word("faces of the box such as `f f f` or `p p fs`")?;
        let face = |letter: char| match letter {
            'p' => Some(BoxFace::Periodic),
            'f' => Some(BoxFace::Fixed),
            's' | 'm' => Some(BoxFace::Open),
            _ => None,
        };
        let faces: Option<Vec<BoxFace>> = word.chars().map(face).collect();
        scene.faces[axis] = match faces.as_deref() {
            Some(&[both]) => [both; 2],
            Some(&[low, high]) if (low == BoxFace::Periodic) == (high == BoxFace::Periodic) => [low, high],
            _ => {
                return Err(command.wrong(
                    format!("found `{word}`, expected p, f, s or m, or two of f, s, m"),
                    "such as `boundary f f f`",
                ));
            }
        };
    }
    command.end()
}

/// Reads `change_box ... boundary`.
pub fn change_box(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    command.word("a group")?;
    if command.skip("boundary") {
        return boundary(command, scene);
    }
    let rest = command.rest();
    command.not_taken(format!("a box that changes: change_box {rest}"));
    Ok(())
}

/// Reads `region`.
pub fn region(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let name = command.word("the name of the region")?.to_owned();
    let style = command.word("a form: block, cylinder, sphere, cone, plane")?;
    let form = match style {
        "block" => block(command)?,
        "cylinder" => round(command, false)?,
        "cone" => round(command, true)?,
        "sphere" => {
            RegionForm::Sphere { centre: place(command)?, radius: positive_length(command, "the radius")? }
        }
        "plane" => RegionForm::Plane { point: place(command)?, normal: command.direction("the normal")? },
        "delete" => {
            scene.regions.remove(&name);
            return command.end();
        }
        other => {
            command.rest();
            command.not_taken(format!("region `{name}` of the form `{other}`"));
            RegionForm::Other(other.to_owned())
        }
    };
    let form = options(command, form)?;
    scene.regions.insert(name, form);
    command.end()
}

fn place(command: &mut ScriptCommand<'_>) -> Result<DVec3, Problem> {
    Ok(command.vector("a point x y z")? * command.units.length)
}

fn positive_length(command: &mut ScriptCommand<'_>, what: &str) -> Result<f64, Problem> {
    Ok(command.positive(what)? * command.units.length)
}

fn block(command: &mut ScriptCommand<'_>) -> Result<RegionForm, Problem> {
    let (mut min, mut max) = (DVec3::ZERO, DVec3::ZERO);
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        min[axis] = command.bound(f64::NEG_INFINITY, &format!("the low end along {name}"))?;
        max[axis] = command.bound(f64::INFINITY, &format!("the high end along {name}"))?;
        if min[axis] >= max[axis] {
            return Err(command.wrong(
                format!(
                    "the block goes from {} to {} along {name}, expected the low end first",
                    min[axis], max[axis]
                ),
                "swap the two numbers",
            ));
        }
    }
    Ok(RegionForm::Block { min, max })
}

/// Reads the axis of a cylinder or cone, its centre, one or two radii, and its ends.
fn round(command: &mut ScriptCommand<'_>, is_cone: bool) -> Result<RegionForm, Problem> {
    let axis = axis(command)?;
    let centre = [command.length("the centre")?, command.length("the centre")?];
    let radii = match is_cone {
        false => [positive_length(command, "the radius")?; 2],
        true => [command.length("the radius at the low end")?, command.length("the radius at the high end")?],
    };
    let low = command.bound(f64::NEG_INFINITY, "the low end along the axis")?;
    let high = command.bound(f64::INFINITY, "the high end along the axis")?;
    if low >= high {
        return Err(command.wrong(
            format!("it goes from {low} to {high}, expected the low end first"),
            "swap the two numbers",
        ));
    }
    Ok(RegionForm::Cylinder { axis, centre, radii, ends: [low, high] })
}

/// Reads x, y or z.
pub fn axis(command: &mut ScriptCommand<'_>) -> Result<usize, Problem> {
    let names = ["x", "y", "z"];
    let word = command.one_of(&names)?;
    Ok(names.iter().position(|name| *name == word).unwrap_or_default())
}

/// Reads what may stand behind a form: `units box`, `side in` and so on.
fn options(command: &mut ScriptCommand<'_>, form: RegionForm) -> Result<RegionForm, Problem> {
    let mut form = form;
    while let Some(word) = command.next() {
        match word {
            "units" => {
                if command.one_of(&["box", "lattice"])? == "lattice" {
                    command.differs("`units lattice`: lengths are taken as they are");
                }
            }
            "side" => {
                if command.one_of(&["in", "out"])? == "out" {
                    command.not_taken("`side out`: the region is what is outside of the form");
                    form = RegionForm::Other("side out".to_owned());
                }
            }
            "move" | "rotate" | "open" | "seed" | "volume_limit" | "meshtol" => {
                let rest = command.rest();
                if word != "seed" {
                    command.not_taken(format!("`{word} {rest}` of the region"));
                }
            }
            other => {
                return Err(command.wrong(
                    format!("`{other}`, expected units, side, move, rotate or open"),
                    "correct the word",
                ));
            }
        }
    }
    Ok(form)
}

/// Reads `create_box`.
pub fn create_box(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let types = command.count("the number of types of atoms")?;
    if types == 0 || types > 1000 {
        return Err(command.wrong(format!("found {types} types, expected 1 to 1000"), "correct the number"));
    }
    let name = command.name_among("region", scene.regions.keys().map(String::as_str))?;
    let bounds = match scene.regions.get(name) {
        Some(RegionForm::Block { min, max }) if min.is_finite() && max.is_finite() => [*min, *max],
        _ => {
            return Err(command
                .wrong(format!("region `{name}` is no bounded block"), "give a region of the form block"));
        }
    };
    scene.types = types as usize;
    scene.bounds = Some(bounds);
    command.rest();
    Ok(())
}

/// Reads `lattice`: simple cubic or square, with a spacing.
pub fn lattice(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let style = command.word("a style of lattice")?;
    scene.lattice = None;
    match style {
        "none" => {
            command.rest();
        }
        "sc" | "sq" => {
            scene.lattice = Some(positive_length(command, "the spacing")?);
            if command.peek().is_some() {
                let rest = command.rest();
                command.not_taken(format!("`{rest}` of the lattice"));
            }
        }
        other => {
            command.rest();
            command.not_taken(format!("lattice `{other}`; sc and sq are taken"));
        }
    }
    Ok(())
}
