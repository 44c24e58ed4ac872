//! The `[[bonds]]` tables: cement between grains, and between grains and walls.

use super::materials::{MODULUS, POISSON, material_pair};
use super::read::{LENGTH_OR_ZERO, Need, SHARE, Table, number};
use crate::law::bond::BondLaw;
use crate::model::random::Stream;
use crate::model::{Motion, Random, World};
use crate::sources::cement::{Cement, Cemented};

const STRENGTH: Need = Need::new(|x| x > 0.0, "a positive strength in Pa");
const ANGLE: Need = Need::new(|x| (0.0..90.0).contains(&x), "an angle from 0 to below 90 degrees");
/// Weibull modulus: below, some strengths are a hundred times as large as others.
const WEIBULL: Need = Need::new(|x| (1.0..=1000.0).contains(&x), "a Weibull modulus from 1 to 1000");
const RADIUS_FACTOR: Need = Need::new(|x| x > 0.0 && x <= 10.0, "a positive number, at most 10");

/// Reads one of `[[bonds]]`, the `index`-th from 0, and makes its bonds between the grains of the world, which are all that are there at
/// the start. `seed` is that of the scenario.
pub fn bonds(table: &mut Table<'_>, index: usize, world: &mut World, seed: u64) -> Option<()> {
    let cement = cement(table, world)?;
    if !table.report.is_clean() {
        return None; // grains or walls may be missing
    }
    let pairs = cement.find(world);
    if pairs.is_empty() {
        table.problem(
            format!("`{}` finds no two bodies of these materials with a gap of at most {} m", table.name(), cement.gap),
            "enlarge `gap`, or name the materials of grains that are there at the start, or of a wall next to them",
        );
        return None;
    }
    check_walls(table, world, &pairs)?;
    cement.bond(world, &pairs, &mut Random::new(seed, Stream::Bonds(index)));
    Some(())
}

fn cement(table: &mut Table<'_>, world: &World) -> Option<Cement> {
    let materials = table.get("materials", material_pair(&world.materials));
    let gap = table.get("gap", number(LENGTH_OR_ZERO));
    let youngs_modulus = table.get("youngs_modulus", number(MODULUS));
    let poisson_ratio = table.get("poisson_ratio", number(POISSON));
    let radius_factor = table.or("radius_factor", 1.0, number(RADIUS_FACTOR));
    let tensile_strength = table.maybe("tensile_strength", number(STRENGTH));
    let cohesion = table.maybe("cohesion", number(STRENGTH));
    let friction_angle = table.or("friction_angle_deg", 0.0, number(ANGLE));
    let damping_ratio = table.or("damping_ratio", 0.0, number(SHARE));
    let weibull_modulus = table.maybe("weibull_modulus", number(WEIBULL));
    let law = BondLaw {
        youngs_modulus: youngs_modulus?,
        poisson_ratio: poisson_ratio?,
        radius_factor,
        tensile_strength: tensile_strength.unwrap_or(f64::INFINITY),
        cohesion: cohesion.unwrap_or(f64::INFINITY),
        friction: friction_angle.to_radians().tan(),
        damping_ratio,
    };
    Some(Cement { materials: materials?, gap: gap?, law, weibull_modulus })
}

/// Reports a wall that bonds cannot hold on to: one that forces move, or a belt, whose surface moves while its body does not.
fn check_walls(table: &Table<'_>, world: &World, pairs: &[Cemented]) -> Option<()> {
    let wrong = pairs.iter().find_map(|pair| {
        let wall = world.boundaries.get(pair.bodies[1] as usize)?;
        match wall.motion {
            Motion::Dynamic(_) => Some((wall, "is dynamic")),
            Motion::Belt(_) => Some((wall, "is a belt")),
            _ => None,
        }
    });
    let Some((wall, why)) = wrong else { return Some(()) };
    table.problem(
        format!("`{}` would cement grains to \"{}\", which {why}", table.name(), wall.name),
        "bonds hold on to walls that stand or move as told: give this wall a material of its own, or another motion",
    );
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Scenario;

    /// Three grains in touch on a floor of their material, beside a wall of another, with this table of bonds.
    fn read(floor: &str, bonds: &str) -> Result<Scenario, String> {
        let material =
            "density = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.2\nrestitution = 0.5\nfriction = 0.3";
        let text = format!(
            "duration = 1.0\nseed = 4\n[solver]\ntime_step = 1e-3\n[materials.rock]\n{material}\n[materials.steel]\n{material}\n\
             [[boundaries]]\nname = \"floor\"\nmaterial = \"rock\"\nshape = {{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }}\n{floor}\n\
             [[boundaries]]\nname = \"side\"\nmaterial = \"steel\"\nshape = {{ kind = \"plane\", point = [-0.01, 0, 0], normal = [1, 0, 0] }}\n\
             [[grains]]\nmaterial = \"rock\"\nradius = {{ kind = \"constant\", value = 0.01 }}\n\
             packing = {{ kind = \"list\", positions = [[0, 0, 0.01], [0.02, 0, 0.01], [0.04, 0, 0.01]] }}\n\
             [[bonds]]\n{bonds}\n"
        );
        Scenario::parse("case", &text, Path::new("."), &[]).map_err(|problems| problems.to_string())
    }

    const ROCK: &str = "materials = [\"rock\", \"rock\"]\nyoungs_modulus = 1e8\npoisson_ratio = 0.25\n";

    #[test]
    fn bonds_are_made_between_what_is_near_and_differ_by_the_seed() {
        let bonds = format!(
            "{ROCK}gap = 1e-4\ntensile_strength = 1e6\nfriction_angle_deg = 45.0\nweibull_modulus = 6.0"
        );
        let world = read("", &bonds).expect("a scenario").world;
        let bodies: Vec<[u32; 2]> = world.bonds.list.iter().map(|bond| bond.bodies).collect();
        assert_eq!(bodies, [[2, 0], [3, 0], [4, 0], [2, 3], [3, 4]]);
        let law = world.bonds.laws[0];
        assert_eq!((law.tensile_strength, law.cohesion, law.damping_ratio), (1e6, f64::INFINITY, 0.0));
        assert!((law.friction - 1.0).abs() < 1e-15 && world.bonds.list[0].beam.radius == 0.01);
        let again = read("", &bonds).expect("a scenario").world;
        assert_eq!(world.bonds, again.bonds);
        assert_ne!(world.bonds.list[0].strength, world.bonds.list[1].strength);
    }

    #[test]
    fn bonds_that_join_nothing_or_hold_on_to_what_moves_freely_are_refused() {
        let error = read("", &format!("{}gap = 0.0", ROCK.replacen("rock", "steel", 2)))
            .expect_err("no grain of steel");
        assert!(
            error.contains("finds no two bodies of these materials with a gap of at most 0 m"),
            "{error}"
        );
        let belt = "surface_velocity = [1, 0, 0]";
        let error = read(belt, &format!("{ROCK}gap = 0.0")).expect_err("a belt");
        assert!(error.contains("would cement grains to \"floor\", which is a belt"), "{error}");
        let error = read("", &format!("{ROCK}gap = 0.0\nstrength = 1.0\npoisson_ratio = 0.7"))
            .expect_err("two mistakes");
        assert!(error.contains("poisson_ratio"), "{error}");
    }
}
