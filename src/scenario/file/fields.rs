//! Fields of a bed on a grid: `[observe.fields]`.

use glam::DVec3;

use super::read::{AXES, LENGTH, Node, Table, number, whole, word};
use super::region::corners;
use crate::model::World;
use crate::observe::fields::{FieldKernel, FieldPlan};

/// Largest number of cells of a grid along an axis, and in all.
const MOST_ALONG: u64 = 10_000;
const MOST_CELLS: u64 = 20_000_000;

/// Reads the grid and the kernel of the fields.
pub fn fields(table: &mut Table<'_>, world: &World) -> Option<FieldPlan> {
    let corners = corners(table);
    let cells = table.get("cells", |node| cells(node, world));
    let width = table.get("width", number(LENGTH));
    let kernel = match table.or("kernel", "gaussian", word(&["gaussian", "box"])) {
        "box" => FieldKernel::Box,
        _ => FieldKernel::Gaussian,
    };
    let ((min, max), cells, width) = (corners?, cells?, width?);
    let plan = FieldPlan { min, max, cells, kernel, width };
    fits_period(table, &plan, world).then_some(plan)
}

/// Reads the number of cells along each axis.
fn cells(node: Node<'_>, world: &World) -> Option<[usize; 3]> {
    let counts = node.clone().list(whole(1, MOST_ALONG))?;
    let Ok(cells) = <[u64; 3]>::try_from(counts) else {
        node.problem(
            format!("`{}` must be three numbers of cells, along x, y and z", node.name()),
            "for example [20, 20, 30]",
        );
        return None;
    };
    let all: u64 = cells.iter().product();
    if all > MOST_CELLS {
        node.problem(
            format!("`{}` are {all} cells, at most {MOST_CELLS}", node.name()),
            "take fewer cells: two per width of the kernel show all that the fields have",
        );
        return None;
    }
    if let Some(axis) = world.plane.map(|plane| plane.across()).filter(|&axis| cells[axis] != 1) {
        node.problem(
            format!("`{}` cuts a plane scene along {}, where it is one metre deep", node.name(), AXES[axis]),
            format!("set the number of cells along {} to 1", AXES[axis]),
        );
        return None;
    }
    Some(cells.map(|count| count as usize))
}

/// Whether the grid and the kernel fit into the periodic cell; reports those that do not.
fn fits_period(table: &Table<'_>, plan: &FieldPlan, world: &World) -> bool {
    let (cell, slack) = (&world.periodic, 1e-9 * (plan.max - plan.min));
    let is_periodic = cell.length.cmpgt(DVec3::ZERO);
    let is_beyond = plan.min.cmplt(cell.min - slack) | plan.max.cmpgt(cell.min + cell.length + slack);
    let is_wide = DVec3::splat(2.0 * plan.kernel.reach() * plan.width).cmpgt(cell.length);
    let found = |what: glam::BVec3| (0..3).find(|&axis| (is_periodic & what).test(axis));
    if let Some(axis) = found(is_beyond) {
        let end = cell.min[axis] + cell.length[axis];
        table.problem(
            format!("the grid of `{}` reaches beyond the periodic cell along {}", table.name(), AXES[axis]),
            format!("keep `min` and `max` between {} m and {end} m there", cell.min[axis]),
        );
        return false;
    }
    if let Some(axis) = found(is_wide) {
        table.problem(
            format!("the kernel of `{}` is wider than the period along {}", table.name(), AXES[axis]),
            format!("`width` is at most {} m", 0.5 * cell.length[axis] / plan.kernel.reach()),
        );
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::observe::fields::FieldKernel;
    use crate::scenario::Scenario;

    /// Reads a grid of these corners, cells and width in a scenario that is periodic along x; the error is what is told.
    fn read(max: &str, cells: &str, more: &str) -> Result<Scenario, String> {
        let text = format!(
            "duration = 1.0\n[periodic]\nx = [0.0, 1.0]\n[materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\n\
             poisson_ratio = 0.2\nrestitution = 0.5\nfriction = 0.3\n[[grains]]\nmaterial = \"glass\"\n\
             radius = {{ kind = \"constant\", value = 0.01 }}\npacking = {{ kind = \"list\", positions = [[0, 0, 0.05]] }}\n\
             [observe.fields]\nmin = [0, 0, 0]\nmax = {max}\ncells = {cells}\n{more}\n"
        );
        Scenario::parse("case", &text, Path::new("."), &[]).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_grid_has_a_gaussian_unless_the_file_says_otherwise() {
        let plan =
            |more: &str| read("[1, 1, 2]", "[10, 10, 20]", more).expect("a grid").fields.expect("fields");
        let gaussian = plan("width = 0.02");
        assert_eq!((gaussian.kernel, gaussian.width), (FieldKernel::Gaussian, 0.02));
        assert_eq!(gaussian.edges().to_array(), [0.1; 3]);
        assert_eq!(plan("width = 0.02\nkernel = \"box\"").kernel, FieldKernel::Box);
    }

    #[test]
    fn a_grid_beyond_the_periodic_cell_a_wide_kernel_and_too_many_cells_are_refused() {
        let error = |max, cells, more| read(max, cells, more).err().unwrap_or_default();
        let beyond = error("[1.1, 1, 2]", "[10, 10, 20]", "width = 0.02");
        assert!(beyond.contains("reaches beyond the periodic cell along x"), "{beyond}");
        let wide = error("[1, 1, 2]", "[10, 10, 20]", "width = 0.2");
        assert!(wide.contains("wider than the period along x") && wide.contains("at most 0.16"), "{wide}");
        assert_eq!(error("[1, 1, 2]", "[10, 10, 20]", "width = 0.16"), "", "as wide as it may be");
        let many = error("[1, 1, 2]", "[1000, 1000, 1000]", "width = 0.02");
        assert!(many.contains("are 1000000000 cells, at most 20000000"), "{many}");
        let two = error("[1, 1, 2]", "[10, 10]", "width = 0.02");
        assert!(two.contains("must be three numbers of cells"), "{two}");
    }
}
