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
