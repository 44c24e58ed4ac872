//! The `[materials]` table, the `[[pairs]]` that deviate from the mixing rule, and factors on friction over time.

use crate::error::suggest;
use crate::law::pair::{Material, PairLaw};
use crate::model::{MaterialId, Materials};

use super::read::{NOT_NEGATIVE, Need, Node, POSITIVE, SHARE, TIME, Table, by_start, number, text};

/// Mass of a body \[kg\].
pub const MASS: Need = Need::new(|x| (1e-9..=1e12).contains(&x), "a positive mass in kg (1e-9 to 1e12)");
/// Density \[kg/m³\].
pub const DENSITY: Need = Need::new(|x| x > 0.0, "a positive density in kg/m³");
/// Young's modulus \[Pa\].
pub const MODULUS: Need = Need::new(|x| x > 0.0, "a positive modulus in Pa");
/// Poisson's ratio \[-\].
pub const POISSON: Need = Need::new(|x| x > -1.0 && x <= 0.5, "a number above -1 and at most 0.5");

/// Largest number of materials: every two of them have a law of their own.
const MOST: usize = 1000;

/// Reads all materials. A faulty material keeps its name, so that references to it are not reported as mistakes.
pub fn materials(table: &mut Table<'_>) -> Materials {
    let read = |(name, _, node): (String, _, Node<'_>)| {
        let read = node.table(|table| material(&name, table));
        read.unwrap_or_else(|| placeholder(&name))
    };
    let named = table.named();
    if named.len() > MOST {
        let message = format!("{} materials, at most {MOST} are possible", named.len());
        table.problem(message, "join those that are alike");
    }
    let mut list: Vec<Material> = named.into_iter().map(read).collect();
    list.truncate(MOST);
    Materials::new(list)
}

fn material(name: &str, table: &mut Table<'_>) -> Option<Material> {
    let density = table.get("density", number(DENSITY));
    let youngs_modulus = table.get("youngs_modulus", number(MODULUS));
    let poisson_ratio = table.get("poisson_ratio", number(POISSON));
    let restitution = table.get("restitution", number(SHARE));
    let friction = table.get("friction", number(NOT_NEGATIVE));
    Some(Material {
        name: name.to_owned(),
        rolling_resistance: table.or("rolling_resistance", 0.0, number(NOT_NEGATIVE)),
        damping: table.or("damping", 0.0, number(NOT_NEGATIVE)),
        pull_off_force: table.or("pull_off_force", 0.0, number(NOT_NEGATIVE)),
        work_of_adhesion: table.or("work_of_adhesion", 0.0, number(NOT_NEGATIVE)),
        conductivity: table.or("conductivity", 0.0, number(NOT_NEGATIVE)),
        heat_capacity: table.or("heat_capacity", 0.0, number(NOT_NEGATIVE)),
        density: density?,
        youngs_modulus: youngs_modulus?,
        poisson_ratio: poisson_ratio?,
        restitution: restitution?,
        friction: friction?,
    })
}

fn placeholder(name: &str) -> Material {
    Material {
        name: name.to_owned(),
        density: 1000.0,
        youngs_modulus: 1e6,
        poisson_ratio: 0.25,
        restitution: 0.5,
        friction: 0.5,
        rolling_resistance: 0.0,
        damping: 0.0,
        pull_off_force: 0.0,
        work_of_adhesion: 0.0,
        conductivity: 0.0,
        heat_capacity: 0.0,
    }
}

/// Reads the name of a material.
pub fn material_id(materials: &Materials) -> impl Fn(Node<'_>) -> Option<MaterialId> {
    move |node| {
        let name = text(node.clone())?;
        let id = materials.find(&name);
        if id.is_none() {
            let known = materials.list.iter().map(|material| material.name.as_str());
            let advice = match materials.list.is_empty() {
                true => format!("add a table [materials.{name}]"),
                false => suggest(&name, known),
            };
            let message = format!("`{}` is \"{name}\", which is not a material", node.name());
            node.problem_of(format!("material {name}"), message, advice);
        }
        id
    }
}

/// Reads the names of two materials.
pub fn material_pair(materials: &Materials) -> impl Fn(Node<'_>) -> Option<[MaterialId; 2]> {
    move |node| {
        let ids = node.clone().list(material_id(materials))?;
        let pair = <[MaterialId; 2]>::try_from(ids);
        if pair.is_err() {
            node.problem(
                format!("`{}` must name two materials", node.name()),
                "for example [\"glass\", \"steel\"]",
            );
        }
        pair.ok()
    }
}

/// Reads one of `[[pairs]]` and sets the law of the pair.
pub fn pair(
    table: &mut Table<'_>,
    materials: &mut Materials,
    given: &mut Vec<[MaterialId; 2]>,
) -> Option<()> {
    let names = table.get("materials", material_pair(materials));
    let restitution = table.maybe("restitution", number(SHARE));
    let friction = table.maybe("friction", number(NOT_NEGATIVE));
    let rolling_resistance = table.maybe("rolling_resistance", number(NOT_NEGATIVE));
    let damping = table.maybe("damping", number(NOT_NEGATIVE));
    let tangential_stiffness = table.maybe("tangential_stiffness", number(POSITIVE));
    let pull_off_force = table.maybe("pull_off_force", number(NOT_NEGATIVE));
    let work_of_adhesion = table.maybe("work_of_adhesion", number(NOT_NEGATIVE));
    let conductivity = table.maybe("conductivity", number(NOT_NEGATIVE));
    let [a, b] = names?;
    let law = *materials.law(a, b);
    let law = PairLaw {
        restitution: restitution.unwrap_or(law.restitution),
        friction: friction.unwrap_or(law.friction),
        rolling_resistance: rolling_resistance.unwrap_or(law.rolling_resistance),
        damping: damping.unwrap_or(law.damping),
        tangential_stiffness: tangential_stiffness.unwrap_or(law.tangential_stiffness),
        pull_off_force: pull_off_force.unwrap_or(law.pull_off_force),
        work_of_adhesion: work_of_adhesion.unwrap_or(law.work_of_adhesion),
        conductivity: conductivity.unwrap_or(law.conductivity),
        ..law
    };
    let pair = [a.min(b), a.max(b)];
    if given.contains(&pair) {
        table.problem("these two materials have a pair already", "join the two tables");
        return None;
    }
    given.push(pair);
    materials.set_law(a, b, law);
    Some(())
}

/// Reads `friction_factor`: start times \[s\] and the factors \[-\] on friction and rolling resistance of all pairs from then on.
pub fn friction_factors(root: &mut Table<'_>) -> Vec<(f64, f64)> {
    let one = |table: &mut Table<'_>| {
        let start = table.or("start", 0.0, number(TIME));
        Some((start, table.get("value", number(NOT_NEGATIVE))?))
    };
    root.maybe("friction_factor", |node| by_start(node, "values", one)).unwrap_or_default()
}
