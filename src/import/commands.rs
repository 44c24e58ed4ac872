//! Commands of a script by name.

use super::atoms;
use super::command::ScriptCommand;
use super::fixes;
use super::models;
use super::regions;
use super::scene::ScriptScene;
use crate::scenario::{Problem, Units};

/// Commands that change nothing of what is simulated: how a run is computed, printed and stored.
pub const HARMLESS: [&str; 35] = [
    "atom_modify",
    "communicate",
    "comm_modify",
    "comm_style",
    "newton",
    "neighbor",
    "neigh_modify",
    "processors",
    "package",
    "suffix",
    "thermo",
    "thermo_style",
    "thermo_modify",
    "echo",
    "log",
    "print",
    "info",
    "timer",
    "balance",
    "partition",
    "restart",
    "write_restart",
    "write_data",
    "write_dump",
    "dump_modify",
    "compute",
    "uncompute",
    "compute_modify",
    "fix_modify",
    "soft_particles",
    "hard_particles",
    "run_style",
    "modify_timing",
    "label",
    "mass",
];

/// Whether a command changes nothing, by its name.
pub fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name)
}

/// Reads a command into the scene. Commands that steer the reading itself (`variable`, `include`, `run`, ...) are read elsewhere.
pub fn take(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let name = command.words[0].text.as_str();
    match name {
        "units" => units(command, scene),
        "dimension" => dimension(command, scene),
        "atom_style" => atom_style(command),
        "boundary" => regions::boundary(command, scene),
        "change_box" => regions::change_box(command, scene),
        "region" => regions::region(command, scene),
        "create_box" => regions::create_box(command, scene),
        "lattice" => regions::lattice(command, scene),
        "pair_style" => models::pair_style(command, scene),
        "pair_coeff" => models::pair_coeff(command, scene),
        "fix" => fixes::fix(command, scene),
        "unfix" => fixes::unfix(command, scene),
        "group" => atoms::group(command, scene),
        "create_atoms" => atoms::create_atoms(command, scene),
        "set" => atoms::set(command, scene),
        "velocity" => atoms::velocity(command, scene),
        "timestep" => {
            scene.time_step = Some(command.positive("the time step")? * command.units.time);
            command.end()
        }
        "reset_timestep" => {
            scene.steps = command.count("a step")?;
            command.rest();
            Ok(())
        }
        "dump" => dump(command, scene),
        "undump" => {
            let id = command.name_among("dump", scene.dumps.keys().map(String::as_str))?;
            scene.dumps.remove(id);
            command.end()
        }
        "delete_atoms" => {
            let rest = command.rest();
            match scene.time > 0.0 || scene.atoms.is_empty() {
                true => command.not_taken(format!("delete_atoms {rest}: a sink removes grains during a run")),
                false => command.not_taken(format!("delete_atoms {rest}: all atoms stay")),
            }
            Ok(())
        }
        _ => {
            let rest = command.rest();
            command.not_taken(format!("{name} {rest}"));
            Ok(())
        }
    }
}

fn units(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let name = command.word("a system of units")?;
    let units = Units::named(name).map_err(|wrong| {
        let help = match name {
            "lj" => "numbers of such a script have no units; `--units si` takes them as metres, kilograms and seconds",
            _ => "`--units si` takes the numbers as they are",
        };
        command.wrong(wrong, help)
    })?;
    scene.units = units;
    command.end()
}

fn dimension(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    match command.count("2 or 3")? {
        3 => scene.is_flat = false,
        2 => {
            scene.is_flat = true;
            command.differs("`dimension 2`: grains are spheres whose motion is in the plane of x and y");
        }
        found => {
            return Err(command.wrong(format!("dimension {found}, expected 2 or 3"), "correct the number"));
        }
    }
    command.end()
}

fn atom_style(command: &mut ScriptCommand<'_>) -> Result<(), Problem> {
    let style = command.word("granular or sphere")?;
    match style {
        "granular" | "sphere" => {
            command.rest();
            Ok(())
        }
        other => Err(command.wrong(
            format!("atom_style `{other}`, expected granular or sphere"),
            "other atoms cannot be imported; convex forms are [shapes] of esker",
        )),
    }
}

/// Reads `dump`: the interval of frames of atoms.
fn dump(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let id = command.word("the id of the dump")?.to_owned();
    command.word("a group")?;
    let style = command.word("a style")?.to_owned();
    let steps = command.count("the steps between frames")?;
    command.rest();
    if steps == 0 {
        return Err(command.wrong("a dump every 0 steps, expected at least 1", "correct the number"));
    }
    // Walls are in the frames of esker, whatever a script writes of them.
    scene.dumps.insert(id, (!style.starts_with("mesh")).then_some(steps));
    Ok(())
}
