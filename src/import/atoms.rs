//! Atoms that a script makes and changes one by one: `create_atoms`, `set`, `velocity`, `group`, `delete_atoms`.

use glam::DVec3;

use super::command::ScriptCommand;
use super::forms::RegionForm;
use super::scene::{AtomGroup, FixKind, ScriptAtom, ScriptScene};
use super::walls::atom_type;
use crate::scenario::Problem;

/// Most atoms of a lattice.
const MOST: usize = 100_000;

/// Reads `create_atoms`.
pub fn create_atoms(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    if scene.bounds.is_none() {
        return Err(command.wrong("atoms before the box is made", "move create_atoms behind create_box"));
    }
    let material = atom_type(command, scene)?;
    let style = command.word("single, box or region")?;
    let form = match style {
        "single" => {
            let place = command.vector("x y z")? * command.units.length;
            options(command)?;
            scene.atoms.push(atom(scene, material, place));
            return Ok(());
        }
        "box" => RegionForm::Block { min: DVec3::NEG_INFINITY, max: DVec3::INFINITY },
        "region" => {
            let name = command.name_among("region", scene.regions.keys().map(String::as_str))?;
            scene.regions.get(name).cloned().unwrap_or(RegionForm::Other(String::new()))
        }
        other => {
            let rest = command.rest();
            command.not_taken(format!(
                "create_atoms {material} {other} {rest}: atoms at random or of molecules"
            ));
            return Ok(());
        }
    };
    options(command)?;
    let (Some(spacing), false) = (scene.lattice, matches!(form, RegionForm::Other(_))) else {
        command.not_taken("atoms on a lattice or in a region that is not taken");
        return Ok(());
    };
    fill(command, scene, material, (&form, spacing))
}

/// Makes an atom on every site of a simple cubic lattice in a form.
fn fill(
    command: &mut ScriptCommand<'_>,
    scene: &mut ScriptScene,
    material: usize,
    (form, spacing): (&RegionForm, f64),
) -> Result<(), Problem> {
    let [low, high] = scene.bounds.unwrap_or_default();
    let first = (low / spacing - 1e-9).ceil();
    let counts = ((high / spacing + 1e-9).floor() - first + 1.0).max(DVec3::ZERO);
    let counts = if scene.is_flat { DVec3::new(counts.x, counts.y, 1.0) } else { counts };
    if counts.element_product() > MOST as f64 {
        let message = format!(
            "the lattice has {} sites in the box, at most {MOST} are taken",
            counts.element_product()
        );
        return Err(command.wrong(message, "use a coarser lattice, or a random packing in the scenario"));
    }
    let base = if scene.is_flat { DVec3::new(first.x, first.y, 0.0) } else { first };
    for k in 0..counts.z as usize {
        for j in 0..counts.y as usize {
            for i in 0..counts.x as usize {
                let place = spacing * (base + DVec3::new(i as f64, j as f64, k as f64));
                // The upper face of a periodic box is its lower one.
                let is_new = place.cmplt(high - 1e-9 * spacing).all() || scene.is_flat;
                if is_new && form.contains(place) {
                    scene.atoms.push(atom(scene, material, place));
                }
            }
        }
    }
    Ok(())
}

/// Reads `units box` and the like.
fn options(command: &mut ScriptCommand<'_>) -> Result<(), Problem> {
    while let Some(word) = command.next() {
        match word {
            "units" => {
                command.one_of(&["box", "lattice"])?;
            }
            "remap" => {
                command.switch()?;
            }
            other => {
                let rest = command.rest();
                command.not_taken(format!("`{other} {rest}` of create_atoms"));
            }
        }
    }
    Ok(())
}

/// Atom of a unit diameter and density, as scripts make them.
fn atom(scene: &ScriptScene, material: usize, position: DVec3) -> ScriptAtom {
    ScriptAtom {
        material,
        position,
        diameter: scene.units.length,
        density: scene.units.density(),
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        since: scene.time,
    }
}

/// Reads `group`.
pub fn group(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let name = command.word("the name of the group")?.to_owned();
    let style = command.word("type, id, region or another style")?;
    let group = match style {
        "type" => AtomGroup::Types(numbers(command, "a type")?),
        "id" | "molecule" => AtomGroup::Ids(numbers(command, "an id")?),
        "region" => {
            let region = command.name_among("region", scene.regions.keys().map(String::as_str))?;
            AtomGroup::Region(scene.regions.get(region).cloned().unwrap_or(RegionForm::Other(String::new())))
        }
        other => {
            let rest = command.rest();
            AtomGroup::Other(format!("{other} {rest}"))
        }
    };
    command.end()?;
    scene.groups.insert(name, group);
    Ok(())
}

/// Reads numbers and ranges such as `2:5` up to the end.
fn numbers(command: &mut ScriptCommand<'_>, what: &str) -> Result<Vec<usize>, Problem> {
    let mut all = Vec::new();
    while let Some(word) = command.next() {
        let bounds: Option<Vec<usize>> = word.split(':').map(|part| part.parse().ok()).collect();
        match bounds.as_deref() {
            Some(&[one]) => all.push(one),
            Some(&[from, to]) if to - from.min(to) < 1_000_000 => all.extend(from..=to),
            _ => {
                return Err(command.wrong(
                    format!("found `{word}`, expected {what} or a range such as 2:5"),
                    "correct the word",
                ));
            }
        }
    }
    if all.is_empty() {
        return Err(command.wrong(format!("the group ends, expected {what}"), "add one"));
    }
    Ok(all)
}

/// Reads which atoms `set` or `velocity` change; remarks those that are not known before a run.
fn chosen(command: &mut ScriptCommand<'_>, scene: &ScriptScene, group: &str) -> Vec<usize> {
    let places = 0..scene.atoms.len();
    let comes_later =
        scene.time > 0.0 || scene.ids(|kind| matches!(kind, FixKind::Insertion(_))).next().is_some();
    if comes_later {
        command.not_taken(format!(
            "atoms of `{group}` that insertions or runs have made or moved: they are not known before the run"
        ));
    }
    if let Some(AtomGroup::Other(style)) = scene.groups.get(group) {
        command.not_taken(format!("atoms of group `{group}` ({style})"));
    }
    if scene.time > 0.0 { Vec::new() } else { places.filter(|&place| scene.is_in(group, place)).collect() }
}

/// Reads `set`.
pub fn set(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let chosen = match command.one_of(&["group", "atom", "type", "region"])? {
        "group" => {
            let group = command.name_among("group", scene.groups.keys().map(String::as_str))?.to_owned();
            chosen(command, scene, &group)
        }
        "region" => {
            let name = command.name_among("region", scene.regions.keys().map(String::as_str))?;
            let form = scene.regions.get(name).cloned().unwrap_or(RegionForm::Other(String::new()));
            (0..scene.atoms.len()).filter(|&i| form.contains(scene.atoms[i].position)).collect()
        }
        by => {
            let number = command.count("a number")? as usize;
            let is_one =
                |i: usize| if by == "atom" { i + 1 == number } else { scene.atoms[i].material == number };
            (0..scene.atoms.len()).filter(|&i| is_one(i)).collect()
        }
    };
    while let Some(key) = command.next() {
        change(command, scene, key, &chosen)?;
    }
    Ok(())
}

/// Reads a value of `set` and gives it to the chosen atoms.
fn change(
    command: &mut ScriptCommand<'_>,
    scene: &mut ScriptScene,
    key: &str,
    chosen: &[usize],
) -> Result<(), Problem> {
    let units = command.units;
    let axis = |key: &str| ["x", "y", "z"].iter().position(|name| key.ends_with(name)).unwrap_or_default();
    let apply = |scene: &mut ScriptScene, of: &dyn Fn(&mut ScriptAtom)| {
        chosen.iter().for_each(|&i| of(&mut scene.atoms[i]));
    };
    match key {
        "diameter" => {
            let value = command.positive("the diameter")? * units.length;
            apply(scene, &|atom| atom.diameter = value);
        }
        "density" => {
            let value = command.positive("the density")? * units.density();
            apply(scene, &|atom| atom.density = value);
        }
        "type" => {
            let value = atom_type(command, scene)?;
            apply(scene, &|atom| atom.material = value);
        }
        "x" | "y" | "z" => {
            let value = command.length("a coordinate")?;
            apply(scene, &|atom| atom.position[axis(key)] = value);
        }
        "vx" | "vy" | "vz" => {
            let value = command.number("a velocity")? * units.velocity();
            apply(scene, &|atom| atom.velocity[axis(key)] = value);
        }
        "omegax" | "omegay" | "omegaz" => {
            let value = command.number("an angular velocity")? / units.time;
            apply(scene, &|atom| atom.spin[axis(key)] = value);
        }
        "omega" => {
            let value = command.vector("the angular velocity")? / units.time;
            apply(scene, &|atom| atom.spin = value);
        }
        "type/fraction" => {
            let rest = command.rest();
            command.not_taken(format!("`set type/fraction {rest}`: types at random"));
        }
        other => {
            let rest = command.rest();
            command.not_taken(format!("`set {other} {rest}`"));
        }
    }
    Ok(())
}

/// Reads `velocity`.
pub fn velocity(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let group = command.name_among("group", scene.groups.keys().map(String::as_str))?.to_owned();
    let style = command.word("set, zero or another style")?;
    match style {
        "set" => {
            let mut values = [None; 3];
            for value in &mut values {
                if !command.skip("NULL") {
                    *value = Some(command.number("a velocity")? * command.units.velocity());
                }
            }
            command.rest();
            for i in chosen(command, scene, &group) {
                for (axis, value) in values.iter().enumerate() {
                    if let Some(value) = value {
                        scene.atoms[i].velocity[axis] = *value;
                    }
                }
            }
        }
        other => {
            let rest = command.rest();
            command.not_taken(format!("`velocity {group} {other} {rest}`"));
        }
    }
    Ok(())
}
