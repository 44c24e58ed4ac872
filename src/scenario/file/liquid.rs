//! The `[liquid]` table: bridges between bodies that have touched.

use super::materials::material_id;
use super::read::{NOT_NEGATIVE, Need, POSITIVE, Table, number, word};
use crate::law::bridge::{BridgeForce, BridgeLaw, BridgeRupture};
use crate::model::{BridgeVolume, Liquid, MaterialId, World};
use crate::scenario::pace::kinds;
use crate::settings::Settings;
use crate::sources::Emitter;

const TENSION: Need = Need::new(|x| x > 0.0 && x <= 10.0, "a positive surface tension in N/m, at most 10");
const ANGLE: Need = Need::new(|x| (0.0..90.0).contains(&x), "a contact angle from 0 to below 90 degrees");
const RATIO: Need = Need::new(|x| x > 0.0 && x <= MOST_RATIO, "a positive number, at most 0.1");
const SMALLEST_GAP: Need = Need::new(|x| (1e-6..=1.0).contains(&x), "a number from 1e-6 to 1");
const FORCES: &[&str] = &["willett", "willett_fit", "rabinovich"];
const RUPTURES: &[&str] = &["lian", "willett"];

/// Largest volume of a bridge over the cube of the radius of its smaller sphere: up to there the formulas were found \[-\].
const MOST_RATIO: f64 = 0.1;
/// Largest contact angle of the fit of Willett et al. \[°\].
const MOST_FITTED_ANGLE: f64 = 50.0;

/// Reads the table, and gives the world, which has all grains of the start, its liquid, with the bridges that its shapes had in a
/// checkpoint.
pub fn liquid(
    root: &mut Table<'_>,
    world: &mut World,
    emitters: &[Emitter],
    settings: &Settings,
    bridges: Vec<[u32; 2]>,
) {
    let Some(liquid) = root.maybe("liquid", |node| node.table(|table| read(table, world))) else { return };
    let span = root.node("liquid").map_or(0..0, |node| node.span);
    world.liquid = Some(liquid.clone());
    let bridges = bridges.into_iter().filter(|&[a, b]| world.meniscus(a, b).is_some()).collect();
    world.liquid = Some(Liquid { bridges, ..liquid });
    if root.report.is_clean()
        && let Some((message, advice)) = misfit(world, emitters, settings)
    {
        root.report.problem(&span, message, advice);
    }
}

fn read(table: &mut Table<'_>, world: &World) -> Option<Liquid> {
    let surface_tension = table.get("surface_tension", number(TENSION));
    let contact_angle = table.or("contact_angle_deg", 0.0, number(ANGLE));
    let fixed = table.maybe("bridge_volume", number(POSITIVE));
    let ratio = table.maybe("bridge_volume_ratio", number(RATIO));
    let viscosity = table.or("viscosity", 0.0, number(NOT_NEGATIVE));
    let smallest_gap = table.or("smallest_gap", 0.01, number(SMALLEST_GAP));
    let force = match table.or("bridge_force", "willett", word(FORCES)) {
        "willett_fit" => BridgeForce::WillettFit,
        "rabinovich" => BridgeForce::Rabinovich,
        _ => BridgeForce::Willett,
    };
    let rupture = match table.or("rupture", "lian", word(RUPTURES)) {
        "willett" => BridgeRupture::Willett,
        _ => BridgeRupture::Lian,
    };
    let wets = wet_materials(table, world);
    if force == BridgeForce::WillettFit && contact_angle > MOST_FITTED_ANGLE {
        table.problem(
            format!("`bridge_force` is \"willett_fit\", and the contact angle is {contact_angle}°"),
            "the fit holds up to 50°: choose \"willett\", or a smaller angle",
        );
    }
    let volume = match (fixed, ratio) {
        (Some(volume), None) => BridgeVolume::Fixed(volume),
        (None, Some(ratio)) => BridgeVolume::OfSphere(ratio),
        _ => {
            table.problem(
                format!("`{}` needs one of `bridge_volume` and `bridge_volume_ratio`", table.name()),
                "for example bridge_volume_ratio = 0.01 # of the cube of the radius of the smaller grain",
            );
            return None;
        }
    };
    let contact_angle = contact_angle.to_radians();
    let law = BridgeLaw {
        surface_tension: surface_tension?,
        contact_angle,
        viscosity,
        smallest_gap,
        force,
        rupture,
    };
    Some(Liquid::new(law, volume, wets))
}

/// Per material, whether the liquid wets it: all of them, or those that `materials` names.
fn wet_materials(table: &mut Table<'_>, world: &World) -> Vec<bool> {
    let named: Option<Vec<MaterialId>> =
        table.maybe("materials", |node| node.list(material_id(&world.materials)));
    let wets = |material: usize| named.as_ref().is_none_or(|named| named.contains(&(material as MaterialId)));
    (0..world.materials.list.len()).map(wets).collect()
}

/// Why a scene cannot have the bridges of its liquid, and what to change.
fn misfit(world: &World, emitters: &[Emitter], settings: &Settings) -> Option<(String, String)> {
    let liquid = world.liquid.as_ref()?;
    if world.plane.is_some() {
        let message = "the grains of a plane scene are discs, and a liquid bridge joins spheres";
        return Some((
            message.into(),
            "leave out [liquid], or make a layer of spheres with locked_axes".into(),
        ));
    }
    if world.clumps.iter().any(|clump| clump.hull.is_some()) {
        let message = "some grains are polyhedra, and a liquid bridge joins spheres";
        return Some((
            message.into(),
            "leave out [liquid], or make these grains of spheres ([clumps.NAME])".into(),
        ));
    }
    let wet = kinds(world, emitters).into_iter().filter(|kind| liquid.wets[kind.material as usize]);
    let least = wet.map(|kind| kind.least).min_by(f64::total_cmp)?;
    let volume = liquid.volume.at(least);
    if volume > MOST_RATIO * least.powi(3) * (1.0 + 1e-9) {
        return Some((
            format!("a bridge of {volume:e} m³ is too large for a grain of radius {least:e} m"),
            format!(
                "the formulas hold up to a tenth of the cube of the radius: a `bridge_volume` of at most {:.3e}, or \
                 `bridge_volume_ratio`",
                MOST_RATIO * least.powi(3)
            ),
        ));
    }
    // Beyond twice the reach of the search a patch of a mesh has no touch.
    let reach = 4.0 * settings.reach();
    let rupture = liquid.law.meniscus(least, volume).rupture() / least;
    (!world.meshes.is_empty() && rupture > reach).then(|| {
        (
            format!(
                "bridges break at {rupture:.3} radii, and those at walls of meshes reach {reach:.3} radii"
            ),
            format!("set `solver.skin` to at least {:.3}, or make bridges smaller", 0.25 * rupture),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::law::bridge::{BridgeForce, BridgeRupture};
    use crate::model::BridgeVolume;
    use crate::scenario::Scenario;

    /// A grain of glass on a floor of steel, with this `[liquid]` and more at the head of the file.
    fn read(head: &str, liquid: &str) -> Result<Scenario, String> {
        let material =
            "density = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.2\nrestitution = 0.5\nfriction = 0.3";
        let text = format!(
            "duration = 1.0\n{head}[materials.glass]\n{material}\n[materials.steel]\n{material}\n\
             [[boundaries]]\nname = \"floor\"\nmaterial = \"steel\"\nshape = {{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }}\n\
             [[grains]]\nmaterial = \"glass\"\nradius = {{ kind = \"constant\", value = 0.001 }}\n\
             packing = {{ kind = \"list\", positions = [[0, 0, 0.001]] }}\n[liquid]\n{liquid}"
        );
        Scenario::parse("case", &text, Path::new("."), &[]).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_liquid_is_read_with_its_defaults() {
        let scenario = read("", "surface_tension = 0.07\nbridge_volume_ratio = 0.02\n").expect("a scenario");
        let liquid = scenario.world.liquid.expect("liquid");
        assert_eq!((liquid.volume, liquid.wets), (BridgeVolume::OfSphere(0.02), vec![true, true]));
        assert_eq!(
            (liquid.law.contact_angle, liquid.law.viscosity, liquid.law.smallest_gap),
            (0.0, 0.0, 0.01)
        );
        assert_eq!((liquid.law.force, liquid.law.rupture), (BridgeForce::Willett, BridgeRupture::Lian));
        let all = "surface_tension = 0.07\nbridge_volume = 1e-11\ncontact_angle_deg = 30\nviscosity = 1.0\nsmallest_gap = 0.001\n\
                   bridge_force = \"rabinovich\"\nrupture = \"willett\"\nmaterials = [\"glass\"]\n";
        let liquid = read("", all).expect("a scenario").world.liquid.expect("liquid");
        assert_eq!((liquid.volume, liquid.wets), (BridgeVolume::Fixed(1e-11), vec![true, false]));
        assert_eq!((liquid.law.force, liquid.law.rupture), (BridgeForce::Rabinovich, BridgeRupture::Willett));
        assert!((liquid.law.contact_angle - 30f64.to_radians()).abs() < 1e-15);
    }

    #[test]
    fn what_makes_no_bridges_is_refused_with_what_to_change() {
        let tension = "surface_tension = 0.07\n";
        let refused = |head: &str, more: &str, expected: &str| {
            let error = read(head, &format!("{tension}{more}")).expect_err(expected);
            assert!(error.contains(expected), "{error}");
        };
        refused("", "", "`liquid` needs one of `bridge_volume` and `bridge_volume_ratio`");
        refused("", "bridge_volume = 1e-12\nbridge_volume_ratio = 0.01\n", "needs one of");
        refused("", "bridge_volume_ratio = 0.2\n", "a positive number, at most 0.1");
        refused(
            "",
            "bridge_volume = 1e-9\n",
            "a bridge of 1e-9 m³ is too large for a grain of radius 1e-3 m",
        );
        refused("", "bridge_volume = 1e-9\n", "at most 1.000e-10");
        refused("", "bridge_volume_ratio = 0.01\nmaterials = [\"gold\"]\n", "which is not a material");
        let fit = "bridge_volume_ratio = 0.01\nbridge_force = \"willett_fit\"\ncontact_angle_deg = 60\n";
        refused("", fit, "the fit holds up to 50°");
        refused("plane = \"xz\"\n", "bridge_volume_ratio = 0.01\n", "the grains of a plane scene are discs");
        let error = read("", "surface_tension = -1.0\nbridge_volume_ratio = 0.01\nviscous = 1.0")
            .expect_err("two mistakes");
        assert!(error.contains("a positive surface tension") && error.contains("viscous"), "{error}");
    }
}
