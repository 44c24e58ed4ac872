//! Gates and residences: `[[observe.gates]]`, and `residence` of `[[observe.regions]]`.

use super::NamedElement;
use super::materials::material_id;
use super::read::{AXES, DURATION, LENGTH, Table, direction, number, text, vector};
use super::sinks::bounds;
use crate::model::{Gate, MaterialId, Materials, World};

/// Largest component of a unit vector along an axis that it is perpendicular to, by rounding \[-\].
const PERPENDICULAR: f64 = 1e-9;

/// Reads one of `[[observe.gates]]`; `index` is its place in the list, from 0.
pub fn gate(table: &mut Table<'_>, index: usize, world: &World) -> Option<NamedElement<Gate>> {
    let name = table.or("name", format!("gate-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    let surface = table.get("surface", |node| {
        node.table(|table| {
            let is_disc = table.kind(&["plane", "disc"])? == "disc";
            let (point, normal) = (table.get("point", vector), table.get("normal", direction));
            let radius = if is_disc { table.get("radius", number(LENGTH)).map(Some) } else { Some(None) };
            let (point, normal, radius) = (point?, normal?, radius?);
            let gate = Gate { name: name.clone(), point, normal, radius, material: None };
            fits_period(table, &gate, world).then_some(gate)
        })
    });
    let material = observed_material(table, &world.materials);
    let value = surface.zip(material).map(|(gate, material)| Gate { material, ..gate });
    Some(NamedElement { name, name_span, value })
}

/// Whether a gate is the same in all periods; reports one that is not.
fn fits_period(table: &Table<'_>, gate: &Gate, world: &World) -> bool {
    let mut fits = true;
    for axis in (0..3).filter(|&axis| world.periodic.length[axis] > 0.0) {
        let (along, length) = (gate.normal[axis].abs(), world.periodic.length[axis]);
        let reach = gate.radius.map(|radius| radius * (1.0 - along * along).max(0.0).sqrt());
        let is_oblique = reach.is_none() && (PERPENDICULAR..1.0 - PERPENDICULAR).contains(&along);
        let name = AXES[axis];
        if is_oblique {
            table.problem(
                format!(
                    "the plane of `{}` is oblique to {name}, which is periodic: its images are others",
                    table.name()
                ),
                format!("turn `normal` along {name} or perpendicular to it, or take a disc"),
            );
        } else if reach.is_some_and(|reach| 2.0 * reach > length) {
            table.problem(
                format!("the disc of `{}` is wider along {name} than the period of {length} m", table.name()),
                format!("at most {} m, or kind = \"plane\"", 0.5 * length),
            );
        } else {
            continue;
        }
        fits = false;
    }
    fits
}

/// Reads `material` of what is observed: `None` where it is faulty, and without the key all materials.
pub fn observed_material(table: &mut Table<'_>, materials: &Materials) -> Option<Option<MaterialId>> {
    match table.node("material") {
        Some(node) => material_id(materials)(node).map(Some),
        None => Some(None),
    }
}

/// Reads `residence`: the bounds of the classes of residence times \[s\], none for the mean alone. `None` without the key.
pub fn residence_bounds(table: &mut Table<'_>) -> Option<Vec<f64>> {
    table.maybe("residence", |node| {
        node.table(|table| {
            let read = |node| bounds(node, number(DURATION), "times", "[0.5, 1.0, 2.0]");
            Some(table.maybe("bins", read).unwrap_or_default())
        })
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use glam::DVec3;

    use crate::model::{Gate, Residence};
    use crate::scenario::Scenario;

    /// Reads these tables in a scenario that is periodic along x; the error is what is told.
    fn read(more: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = 1.0\n[periodic]\nx = [0.0, 1.0]\n[materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\n\
             poisson_ratio = 0.2\nrestitution = 0.5\nfriction = 0.3\n[[grains]]\nmaterial = \"glass\"\n\
             radius = {{ kind = \"constant\", value = 0.01 }}\npacking = {{ kind = \"list\", positions = [[0, 0, 0.05]] }}\n{more}"
        );
        Scenario::parse("case", &text, Path::new("."), &[]).map_err(|problems| problems.to_string())
    }

    fn gate(surface: &str) -> Result<Scenario, String> {
        read(&format!("[[observe.gates]]\nname = \"throat\"\nsurface = {surface}\nmaterial = \"glass\"\n"))
    }

    #[test]
    fn gates_and_residences_are_read_with_their_names_and_quantities() {
        let disc = "{ kind = \"disc\", point = [0.5, 0, 0], normal = [0, 0, -2], radius = 0.4 }";
        let scenario = gate(disc).expect("a gate");
        let (point, normal) = (DVec3::new(0.5, 0.0, 0.0), DVec3::NEG_Z);
        let expected = Gate { name: "throat".into(), point, normal, radius: Some(0.4), material: Some(0) };
        assert_eq!(scenario.world.gates, [expected]);
        let region =
            "[[observe.regions]]\nregion = { kind = \"sphere\", centre = [0, 0, 0], radius = 0.2 }\n";
        let scenario =
            read(&format!("{region}residence = {{ bins = [0.5, 2.0] }}\n{region}residence = {{}}\n{region}"))
                .expect("regions");
        let bounds = |residence: &Residence| (residence.name.clone(), residence.bounds.clone());
        let found: Vec<_> = scenario.world.residences.iter().map(bounds).collect();
        assert_eq!(found, [("region-0".into(), vec![0.5, 2.0]), ("region-1".into(), vec![])]);
        assert_eq!((scenario.world.counted.len(), scenario.world.arrivals.len()), (4 + 3 + 4, 2));
        let expected = "residence = {{}}\n[expect]\n\"{of}\" = {{ at_least = 0 }}\n";
        let judged = |of: &str| {
            read(&format!("{region}{}", expected.replace("{{", "{").replace("}}", "}").replace("{of}", of)))
        };
        assert!(judged("mean_residence_time:region-0").is_ok());
        let error = judged("residence_grains:region-0:0").expect_err("no bins");
        assert!(error.contains("there is no class of residence times"), "{error}");
    }

    #[test]
    fn a_gate_that_is_not_the_same_in_all_periods_and_bins_out_of_order_are_refused() {
        let plane =
            |normal: &str| gate(&format!("{{ kind = \"plane\", point = [0, 0, 0], normal = {normal} }}"));
        assert!(plane("[1, 0, 0]").is_ok() && plane("[0, 1, 1]").is_ok());
        let error = plane("[1, 0, 1]").expect_err("oblique");
        assert!(error.contains("is oblique to x, which is periodic"), "{error}");
        let disc = |radius: f64| {
            gate(&format!("{{ kind = \"disc\", point = [0, 0, 0], normal = [0, 0, 1], radius = {radius} }}"))
        };
        assert!(disc(0.5).is_ok());
        let error = disc(0.51).expect_err("wide");
        assert!(
            error.contains("wider along x than the period of 1 m") && error.contains("at most 0.5 m"),
            "{error}"
        );
        let region =
            "[[observe.regions]]\nregion = { kind = \"sphere\", centre = [0, 0, 0], radius = 0.2 }\n";
        let error = read(&format!("{region}residence = {{ bins = [2.0, 0.5] }}")).expect_err("descending");
        assert!(error.contains("`observe.regions.0.residence.bins` are no ascending times"), "{error}");
    }
}
