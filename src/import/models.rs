//! Contact models: `pair_style`, `pair_coeff`, and the same words in `fix wall/gran`.

use super::command::ScriptCommand;
use super::scene::{ContactModel, ContactStiffness, GranularLaw, NormalLoss, ScriptScene};
use crate::scenario::Problem;

const TWISTING: &str = "twisting about the normal is free here; rolling resistance of esker binds it, too";
const TANGENTIAL_DAMPER: &str = "the tangential damper of the script stands outside of Coulomb's limit; friction of esker never \
    exceeds its cone";
const MOVING_ROLLING: &str = "rolling friction at a moving mesh opposes the grain's own spin here; esker opposes the relative spin, \
    which is right";

/// Reads `pair_style`.
pub fn pair_style(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let style = command.word("a style: gran, granular, gran/hooke/history ...")?;
    scene.granular.clear();
    scene.pair = Some(match style {
        "gran" => liggghts_model(command)?,
        "granular" => {
            if command.next().is_some() {
                command.differs("a cutoff of `pair_style granular` has no counterpart");
                command.rest();
            }
            ContactModel::PerPair
        }
        style if style.starts_with("gran/") => {
            let kind = &style["gran/".len()..];
            ContactModel::Coefficients(old_style(command, kind)?)
        }
        other => {
            return Err(command.wrong(
                format!("pair_style `{other}`, expected gran, granular or gran/..."),
                "only contacts of grains can be imported",
            ));
        }
    });
    command.end()
}

/// Reads the words of a contact model of LIGGGHTS, behind `gran` or `wall/gran`, up to a word that is none of them.
pub fn liggghts_model(command: &mut ScriptCommand<'_>) -> Result<ContactModel, Problem> {
    command.exactly("model")?;
    let normal = command.word("a normal model: hertz, hooke")?;
    let is_hertz = normal.starts_with("hertz");
    match normal {
        "hertz" => {}
        "hooke" => command.differs(
            "`hooke` takes its stiffness from characteristicVelocity; normal_law = \"hooke\" is as stiff as Hertz at an overlap of 1 % of R*",
        ),
        other if is_hertz || other.starts_with("hooke") => {
            command.differs(format!("normal model `{other}` becomes {}", if is_hertz { "hertz" } else { "hooke" }));
        }
        other => {
            return Err(command.wrong(
                format!("normal model `{other}`, expected hertz or hooke"),
                "esker has no law like it; change the model in a copy of the script",
            ));
        }
    }
    let (mut has_friction, mut has_rolling) = (false, false);
    while let Some(word) = command.peek() {
        match word {
            "tangential" => {
                command.next();
                has_friction = tangential(command)?;
            }
            "rolling_friction" => {
                command.next();
                has_rolling = rolling(command)?;
            }
            "cohesion" => {
                command.next();
                cohesion(command)?;
            }
            "surface" => {
                command.next();
                if command.word("a surface model")? != "default" {
                    command.differs("surface models have no counterpart");
                }
            }
            "limitForce"
            | "absolute_damping"
            | "viscous"
            | "tangential_damping"
            | "torsionTorque"
            | "computeDissipatedEnergy"
            | "computeElasticPotential"
            | "rolling_damping"
            | "tangential_reduce"
            | "heating_normal_hertz" => {
                command.next();
                option(command, word)?;
            }
            _ => break,
        }
    }
    Ok(ContactModel::OfMaterials { is_hertz, has_friction, has_rolling })
}

/// Reads a tangential model; returns whether there is friction.
fn tangential(command: &mut ScriptCommand<'_>) -> Result<bool, Problem> {
    match command.one_of(&["history", "no_history", "off"])? {
        "off" => Ok(false),
        "no_history" => {
            command.differs("`tangential no_history` is a damper up to Coulomb's limit, on which heaps creep; esker's friction holds");
            Ok(true)
        }
        _ => {
            command.differs(TANGENTIAL_DAMPER);
            Ok(true)
        }
    }
}

/// Reads a model of rolling friction; returns whether there is any.
fn rolling(command: &mut ScriptCommand<'_>) -> Result<bool, Problem> {
    let model = command.one_of(&["off", "cdt", "epsd", "epsd2", "epsd3", "luding"])?;
    match model {
        "off" => return Ok(false),
        "cdt" => command.differs("`cdt` is a constant torque, with which a grain at rest creeps; rolling resistance of esker holds it"),
        "epsd2" => {}
        _ => command.differs(format!(
            "`{model}` becomes rolling resistance with the limit rolling_resistance R* F_n; its damper and its stiffness have no counterpart"
        )),
    }
    command.differs(TWISTING);
    command.differs(MOVING_ROLLING);
    Ok(true)
}

fn cohesion(command: &mut ScriptCommand<'_>) -> Result<(), Problem> {
    let model = command.word("a cohesion model")?;
    if model != "off" {
        command.not_taken(format!(
            "cohesion `{model}`, whose force grows with the overlap; esker has pull_off_force [N] and work_of_adhesion [J/m²] of a material"
        ));
    }
    Ok(())
}

fn option(command: &mut ScriptCommand<'_>, name: &str) -> Result<(), Problem> {
    let value = command.word("on or off")?;
    match (name, value) {
        ("torsionTorque", "on") => {}
        ("limitForce", "on") => {
            command.differs("`limitForce on`: normal forces of esker never pull without adhesion")
        }
        (_, "off") => {}
        _ => command.not_taken(format!("`{name} {value}` of the contact model")),
    }
    Ok(())
}

/// Reads `Kn Kt gamma_n gamma_t xmu dampflag` of `gran/hooke`, `gran/hooke/history` or `gran/hertz/history`.
pub fn old_style(command: &mut ScriptCommand<'_>, kind: &str) -> Result<GranularLaw, Problem> {
    let is_hertz = match kind {
        "hertz/history" => true,
        "hooke" | "hooke/history" => false,
        other => {
            return Err(command.wrong(
                format!("gran style `{other}`, expected hooke, hooke/history or hertz/history"),
                "write `pair_style gran model hertz tangential history` for LIGGGHTS, or one of these for LAMMPS",
            ));
        }
    };
    let units = command.units;
    let normal = command.positive("the normal stiffness Kn")?;
    if command.next() != Some("NULL") {
        command.differs(
            "the tangential stiffness Kt has no counterpart: friction sticks and slips by Coulomb's law",
        );
    }
    let damper = command.number("the normal damper gamma_n")?;
    if command.next().is_none() {
        return Err(
            command.wrong("the style ends, expected gamma_t", "give Kn Kt gamma_n gamma_t xmu dampflag")
        );
    }
    let friction = command.number("the coefficient of friction xmu")?;
    let _dampflag = command.count("dampflag, 0 or 1")?;
    if command.skip("limit_damping") {
        command.differs("`limit_damping`: normal forces of esker never pull without adhesion");
    }
    let (stiffness, loss) = match is_hertz {
        true => (
            ContactStiffness::Hertz(normal * units.pressure()),
            NormalLoss::PerMassAndRadius(damper / (units.length * units.time)),
        ),
        false => {
            (ContactStiffness::Hooke(normal * units.stiffness()), NormalLoss::PerMass(damper / units.time))
        }
    };
    Ok(GranularLaw { stiffness, loss, friction, rolling: 0.0, adhesion: 0.0 })
}

/// Reads `pair_coeff`.
pub fn pair_coeff(command: &mut ScriptCommand<'_>, scene: &mut ScriptScene) -> Result<(), Problem> {
    let types = scene.types;
    if types == 0 {
        return Err(command.wrong("`pair_coeff` before the box is made", "move it behind create_box"));
    }
    let [first, second] = [type_range(command, types)?, type_range(command, types)?];
    if scene.pair != Some(ContactModel::PerPair) {
        return command.end();
    }
    let law = granular(command)?;
    for a in first.0..=first.1 {
        for b in second.0.max(a)..=second.1 {
            scene.granular.insert((a, b), law);
        }
    }
    command.end()
}

/// Reads types as `2`, `*`, `2*`, `*3` or `2*3`.
fn type_range(command: &mut ScriptCommand<'_>, types: usize) -> Result<(usize, usize), Problem> {
    let word = command.word("types of atoms such as 1 or *")?;
    let bound = |text: &str, other: usize| if text.is_empty() { Some(other) } else { text.parse().ok() };
    let (low, high) = word.split_once('*').unwrap_or((word, word));
    let range = bound(low, 1)
        .zip(bound(high, types))
        .filter(|(low, high)| 1 <= *low && low <= high && *high <= types);
    range.ok_or_else(|| {
        command.wrong(format!("found `{word}`, expected types from 1 to {types}"), "such as 1, * or 1*2")
    })
}

/// Reads the words of `pair_style granular`, of a pair or of a wall, up to a word that is none of them.
pub fn granular(command: &mut ScriptCommand<'_>) -> Result<GranularLaw, Problem> {
    let units = command.units;
    let model = command.one_of(&["hooke", "hertz", "hertz/material", "dmt", "jkr"])?;
    let value = command.positive("the stiffness or modulus")?;
    let damper = command.number("the damping coefficient")?;
    let mut adhesion = 0.0;
    let mut stiffness = match model {
        "hooke" => ContactStiffness::Hooke(value * units.stiffness()),
        "hertz" => ContactStiffness::Hertz(value * units.pressure()),
        _ => ContactStiffness::Material(value * units.pressure(), command.number("Poisson's ratio")?),
    };
    if let "dmt" | "jkr" = model {
        // Pull-off forces of LAMMPS: 4 π γ R* (dmt) and 3 π γ R* (jkr), with its γ.
        let energy = command.number("the surface energy")? * units.stiffness();
        adhesion = if model == "dmt" { 8.0 / 3.0 * energy } else { 2.0 * energy };
        command.differs(format!("`{model}` becomes the pull-off force 3/2 π R* work_of_adhesion, without the area that it adds to a contact"));
    }
    let (mut friction, mut rolling, mut damping) = (0.0, 0.0, "viscoelastic");
    while let Some(word) = command.peek() {
        match word {
            "tangential" => {
                command.next();
                friction = granular_friction(command)?;
            }
            "rolling" => {
                command.next();
                if command.one_of(&["none", "sds"])? == "sds" {
                    let _ = [command.number("the rolling stiffness")?, command.number("the rolling damper")?];
                    rolling = command.number("the coefficient of rolling friction")?;
                    command.differs("`rolling sds` becomes rolling resistance with the same limit; its spring and damper have no counterpart");
                }
            }
            "twisting" => {
                command.next();
                twisting(command)?;
            }
            "damping" => {
                command.next();
                damping = command.one_of(&[
                    "velocity",
                    "mass_velocity",
                    "viscoelastic",
                    "tsuji",
                    "coeff_restitution",
                ])?;
            }
            "heat" => {
                command.next();
                if command.one_of(&["none", "area", "radius"])? != "none" {
                    command.number("the coefficient of heat conduction")?;
                    command.not_taken("heat conduction");
                }
            }
            "limit_damping" => {
                command.next();
            }
            "cutoff" => {
                command.next();
                command.number("the cutoff")?;
            }
            _ => break,
        }
    }
    let loss = match damping {
        "tsuji" | "coeff_restitution" => NormalLoss::Restitution(damper.clamp(0.0, 1.0)),
        "velocity" => NormalLoss::Plain(damper * units.mass / units.time),
        "mass_velocity" => NormalLoss::PerMass(damper / units.time),
        _ if model == "hooke" => NormalLoss::PerMass(damper / units.time),
        _ => NormalLoss::PerMassAndRadius(damper / (units.length * units.time)),
    };
    if let (ContactStiffness::Material(modulus, _), true) = (stiffness, damping == "tsuji" && damper > 1.0) {
        command.differs(format!("a restitution of {damper} is above 1: taken as 1 (modulus {modulus:e} Pa)"));
    }
    if let ContactStiffness::Material(modulus, poisson) = stiffness
        && !(-1.0..=0.5).contains(&poisson)
    {
        stiffness = ContactStiffness::Material(modulus, 0.3);
        command.differs(format!("a Poisson's ratio of {poisson}, which no material has: taken as 0.3"));
    }
    if damper < 0.0 {
        return Err(command.wrong(
            format!("a damping coefficient of {damper}, expected none below zero"),
            "correct the number",
        ));
    }
    Ok(GranularLaw { stiffness, loss, friction, rolling, adhesion })
}

fn granular_friction(command: &mut ScriptCommand<'_>) -> Result<f64, Problem> {
    let model = command.word("a tangential model")?;
    match model {
        "none" => return Ok(0.0),
        "linear_nohistory" => {}
        "linear_history" | "mindlin" | "mindlin_rescale" | "mindlin/force" | "mindlin_rescale/force" => {
            if !command.skip("NULL") {
                command.number("the tangential stiffness")?;
            }
        }
        other => {
            return Err(command.wrong(
                format!(
                    "tangential model `{other}`, expected none, linear_nohistory, linear_history or mindlin"
                ),
                "correct the word",
            ));
        }
    }
    command.number("the tangential damper")?;
    command.differs(format!(
        "`tangential {model}`: friction of esker sticks and slips by Coulomb's law, without spring and damper"
    ));
    command.number("the coefficient of friction")
}

fn twisting(command: &mut ScriptCommand<'_>) -> Result<(), Problem> {
    match command.one_of(&["none", "sds", "marshall"])? {
        "none" => return Ok(()),
        "sds" => {
            for what in ["the twisting stiffness", "the twisting damper", "the coefficient of twisting"] {
                command.number(what)?;
            }
        }
        _ => {}
    }
    command.not_taken("twisting friction: rolling resistance of esker binds twisting by its own limit, without it twisting is free");
    Ok(())
}
