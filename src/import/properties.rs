//! `fix property/global`.

use super::command::ScriptCommand;
use super::scene::{FixKind, PropertyValues, ScriptScene};
use crate::scenario::Problem;

/// Properties of types that become keys of materials, and of pairs of types that become keys of pairs.
const OF_TYPES: [&str; 2] = ["youngsModulus", "poissonsRatio"];
const OF_PAIRS: [&str; 3] = ["coefficientRestitution", "coefficientFriction", "coefficientRollingFriction"];

/// Reads the words behind `fix ID GROUP property/global`.
pub fn property(command: &mut ScriptCommand<'_>, scene: &ScriptScene) -> Result<FixKind, Problem> {
    let name = command.word("the name of a property")?.to_owned();
    let style = command.one_of(&[
        "scalar",
        "vector",
        "peratomtype",
        "peratomtypepair",
        "matrix",
        "atomtype",
        "atomtypepair",
    ])?;
    let values = match style {
        "scalar" => PropertyValues::Scalar(command.number("the value")?),
        "vector" => {
            let mut values = Vec::new();
            while command.peek().is_some() {
                values.push(command.number("a value")?);
            }
            PropertyValues::PerType(values)
        }
        "peratomtype" | "atomtype" => per_type(command, scene.types)?,
        _ => per_pair(command, scene.types)?,
    };
    command.end()?;
    let is_of_types = OF_TYPES.contains(&name.as_str());
    let is_of_pairs = OF_PAIRS.contains(&name.as_str());
    match (&values, is_of_types, is_of_pairs) {
        (PropertyValues::PerType(_), true, _) | (PropertyValues::PerPair(..), _, true) => {}
        (_, false, false) => command.not_taken(format!("property `{name}`: esker has no key for it")),
        _ => {
            let expected = if is_of_types { "peratomtype" } else { "peratomtypepair" };
            return Err(command
                .wrong(format!("`{name}` is given as {style}, expected {expected}"), "correct the style"));
        }
    }
    let mut values = values;
    if let ("youngsModulus", PropertyValues::PerType(list)) = (name.as_str(), &mut values) {
        list.iter_mut().for_each(|modulus| *modulus *= command.units.pressure());
    }
    Ok(FixKind::Property(name, values))
}

fn per_type(command: &mut ScriptCommand<'_>, types: usize) -> Result<PropertyValues, Problem> {
    let mut values = Vec::new();
    while command.peek().is_some() {
        values.push(command.number("the value of a type")?);
    }
    let expected = if types == 0 { values.len().max(1) } else { types };
    if values.len() != expected {
        let message =
            format!("found {} numbers, expected {expected}: one for each type of create_box", values.len());
        return Err(command.wrong(message, "give as many numbers as there are types"));
    }
    Ok(PropertyValues::PerType(values))
}

fn per_pair(command: &mut ScriptCommand<'_>, types: usize) -> Result<PropertyValues, Problem> {
    let count = command.count("the number of types")? as usize;
    if count == 0 || (types > 0 && count != types) {
        let message = format!("found {count} types, expected {types}, as in create_box");
        return Err(command.wrong(message, "correct the number, and give its square of values"));
    }
    let mut values = Vec::new();
    while command.peek().is_some() {
        values.push(command.number("the value of a pair of types")?);
    }
    if values.len() != count * count {
        let message =
            format!("found {} numbers, expected {count} x {count}: one for each pair of types", values.len());
        return Err(command.wrong(message, "give the whole matrix, row by row"));
    }
    for row in 0..count {
        for column in 0..row {
            let [a, b] = [values[row * count + column], values[column * count + row]];
            if a != b {
                let message = format!(
                    "types {} and {} have {b}, and in the other order {a}, expected the same",
                    column + 1,
                    row + 1
                );
                return Err(command.wrong(message, "make the matrix symmetric"));
            }
        }
    }
    Ok(PropertyValues::PerPair(count, values))
}
