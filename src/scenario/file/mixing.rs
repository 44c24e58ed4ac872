//! Mixtures of grains of two kinds: `[[observe.mixing]]`.

use super::NamedElement;
use super::materials::material_id;
use super::read::{LENGTH, Node, Table, number, text, whole};
use super::region::region;
use crate::model::World;
use crate::observe::MixingPlan;
use crate::observe::mixing::Tracer;

/// Largest number of cells of a grid.
const MOST_CELLS: f64 = 1e7;

/// Reads one of `[[observe.mixing]]`; `index` is its place in the list, from 0.
pub fn mixture(table: &mut Table<'_>, index: usize, world: &World) -> Option<NamedElement<MixingPlan>> {
    let name = table.or("name", format!("mixing-{index}"), text);
    let name_span = table.node("name").map_or(table.span.clone(), |node| node.span);
    let (region, cell) = (table.get("region", region), table.get("cell", number(LENGTH)));
    let least_grains = table.get("least_grains", whole(1, u64::from(u32::MAX)));
    let tracer = table.get("tracer", |node| tracer(node, world));
    let plan = || {
        let (name, region) = (name.clone(), region?);
        Some(MixingPlan { name, region, cell: cell?, least_grains: least_grains?, tracer: tracer? })
    };
    let value = plan().filter(|plan| are_few(table, plan));
    Some(NamedElement { name, name_span, value })
}

/// Whether the grid has as many cells as can be held; reports one that has more.
fn are_few(table: &Table<'_>, plan: &MixingPlan) -> bool {
    let (min, max) = plan.region.bounds();
    let cells = ((max - min) / plan.cell).ceil().element_product();
    if cells > MOST_CELLS {
        table.problem(
            format!("the grid of `{}` has {cells:.1e} cells, at most {MOST_CELLS:.0e}", table.name()),
            "enlarge `cell`, or make `region` smaller",
        );
    }
    cells <= MOST_CELLS
}

/// Reads the kind of grains that is traced.
fn tracer(node: Node<'_>, world: &World) -> Option<Tracer> {
    node.table(|table| match table.kind(&["material", "size", "start"])? {
        "material" => table.get("material", material_id(&world.materials)).map(Tracer::Material),
        "size" => table.get("below", number(LENGTH)).map(Tracer::Below),
        _ => {
            let tracer = Tracer::in_region(world, &table.get("region", region)?);
            if matches!(&tracer, Tracer::Ids(ids) if ids.is_empty()) {
                table.problem(
                    format!("no grain is in the region of `{}` at the start", table.name()),
                    "make `region` a part of the packing; grains that are emitted later are never traced by their start",
                );
            }
            Some(tracer)
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::observe::mixing::Tracer;
    use crate::scenario::Scenario;

    /// Reads a mixture of ten grains in a column; the error is what is told.
    fn read(cell: f64, tracer: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = 1.0\n[materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\n\
             poisson_ratio = 0.2\nrestitution = 0.5\nfriction = 0.3\n[[grains]]\nmaterial = \"glass\"\n\
             radius = {{ kind = \"constant\", value = 0.01 }}\npacking = {{ kind = \"column\", count = 10, base = [0, 0, 0] }}\n\
             [[observe.mixing]]\nname = \"bed\"\nregion = {{ kind = \"box\", min = [-1, -1, 0], max = [1, 1, 1] }}\ncell = {cell}\n\
             least_grains = 2\ntracer = {tracer}\n[expect]\n\"lacey_index:bed\" = {{ at_most = 2 }}\n"
        );
        Scenario::parse("case", &text, Path::new("."), &[]).map_err(|problems| problems.to_string())
    }

    #[test]
    fn the_tracer_is_a_material_a_size_or_a_part_of_the_start() {
        let tracer = |text: &str| read(0.1, text).expect("a mixture").mixing[0].tracer.clone();
        assert_eq!(tracer("{ kind = \"material\", material = \"glass\" }"), Tracer::Material(0));
        assert_eq!(tracer("{ kind = \"size\", below = 0.004 }"), Tracer::Below(0.004));
        let lower =
            "{ kind = \"start\", region = { kind = \"box\", min = [-1, -1, 0], max = [1, 1, 0.06] } }";
        assert_eq!(tracer(lower), Tracer::Ids(vec![0, 1, 2]));
    }

    #[test]
    fn a_start_without_grains_and_a_grid_of_too_many_cells_are_refused() {
        let none = "{ kind = \"start\", region = { kind = \"sphere\", centre = [5, 5, 5], radius = 1 } }";
        let error = read(0.1, none).expect_err("nothing there");
        assert!(
            error.contains("no grain is in the region of `observe.mixing.0.tracer` at the start"),
            "{error}"
        );
        let error = read(0.001, "{ kind = \"size\", below = 0.004 }").expect_err("too many");
        assert!(error.contains("has 4.0e9 cells, at most 1e7"), "{error}");
    }
}
