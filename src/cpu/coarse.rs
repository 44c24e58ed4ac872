//! Coarse correction \[E14\]: scales the impulses of whole regions at once.
//!
//! Sweeps carry changes from contact to contact, so in a deep bed an error over many layers decays slowly. A coarse correction multiplies
//! the impulse of every contact by 1 + μ, with μ linear between the nodes of a coarse grid. The values of μ at the nodes are those that
//! leave the least error.

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use crate::contact::constraint::Constraint;
use crate::contact::pass::{Give, Push};
use crate::contact::problem::ContactProblem;
use crate::contact::velocity::Velocity;
use crate::law::cone::Cone;
use crate::model::{Periodic, World, outer};

use super::residual;

/// Edge of a coarse cell, in mean distances between bodies in contact \[-\].
const CELL: f64 = 4.0;
/// Sweeps before the first correction, and from the first to the second \[-\]; each further interval is one sweep longer than the one
/// before it.
const SWEEPS_BEFORE: [u32; 2] = [3, 2];
/// Least μ \[-\]: no impulse changes its sign.
const LEAST_CHANGE: f64 = -1.0;
/// Largest μ \[-\]. Where no body gives way, the coarse problem does not bound μ.
const LARGEST_CHANGE: f64 = 100.0;
/// Residual at which the coarse problem counts as solved, over its residual at the start \[-\].
const TOLERANCE: f64 = 1e-2;
/// Largest number of conjugate-gradient steps for the coarse problem \[-\].
const MOST_STEPS: u32 = 200;

/// Coarse correction of impulses \[E14\].
#[derive(Debug, Clone, Copy, Default)]
pub struct Coarse {
    /// Largest number of corrections in a solve.
    pub planned: u32,
}

/// Sums over the contacts of a body, from which the coarse problem is made.
#[derive(Debug, Clone, Copy)]
struct NodeLoad {
    /// Sum of the linear impulses on the body \[N s\].
    force: DVec3,
    /// Sum of impulse ⊗ half the vector to the other body \[N s m\].
    moment: DMat3,
    /// Share of the body in λ · residual, summed over its contacts \[J\].
    slope: f64,
    /// Share of the body in the compliance term Σ_n λ_n², summed over its contacts \[J\].
    give: f64,
}

impl NodeLoad {
    const NONE: NodeLoad = NodeLoad { force: DVec3::ZERO, moment: DMat3::ZERO, slope: 0.0, give: 0.0 };
}

/// Effect of a correction of full length on a body.
#[derive(Debug, Clone, Copy, Default)]
struct BodyEffect {
    /// Impulse \[N s\].
    linear: DVec3,
    /// Angular impulse \[N m s\].
    angular: DVec3,
    /// Share of the body in the compliance term Σ_n Δλ_n², summed over its contacts \[J\].
    give: f64,
}

impl Coarse {
    /// Bytes allocated for the time of a correction, for this many bodies.
    pub fn passing_bytes(bodies: u64) -> u64 {
        let per_body =
            size_of::<NodeLoad>() + size_of::<BodyEffect>() + size_of::<f64>() + size_of::<(u64, u32)>();
        bodies * (per_body + size_of::<Element>() / 8) as u64
    }

    /// Whether a correction follows this many sweeps.
    pub fn follows(&self, sweeps: u32) -> bool {
        let [first, gap] = SWEEPS_BEFORE;
        (0..self.planned).map(|i| first + i * gap + i * i.saturating_sub(1) / 2).any(|after| after == sweeps)
    }

    /// Corrects the impulses of the contacts, and the velocities with them.
    pub fn correct(&self, cone: Cone, problem: &mut ContactProblem<'_>) {
        let bodies = problem.velocities().len();
        let Some(spacing) = mean_distance(problem.constraints(), problem.velocities()) else { return };
        let Some(world) = problem.world() else { return };
        let mut loads = vec![NodeLoad::NONE; bodies];
        problem.gather(&mut loads, |constraint, velocities, loads| load(cone, constraint, velocities, loads));
        let changes = Level { world, velocities: problem.velocities(), loads: &loads }.solve(CELL * spacing);
        let mut answers = vec![BodyEffect::default(); bodies];
        problem.gather(&mut answers, |constraint, _, answers| answer(&changes, constraint, answers));
        let length = step_length(problem.velocities(), &changes, &loads, &answers);
        if length > 0.0 {
            problem
                .visit(&Give(|constraint: &mut Constraint| multiply_impulse(&changes, length, constraint)));
        }
    }
}

/// The coarse problem.
struct Level<'a> {
    world: &'a World,
    velocities: &'a [Velocity],
    loads: &'a [NodeLoad],
}

impl Level<'_> {
    /// Finds μ of every body on cells of about this edge \[m\]; NaN for bodies that are not free.
    fn solve(&self, edge: f64) -> Vec<f64> {
        let Level { world, velocities, .. } = *self;
        let centres = &world.bodies.position;
        let grid = CoarseGrid::around(centres, velocities, &world.periodic, edge);
        let free = (0..velocities.len()).filter(|&body| velocities[body].is_free());
        let mut bodies: Vec<(u64, u32)> =
            free.map(|body| (grid.node(grid.locate(centres[body]).0, 0), body as u32)).collect();
        bodies.par_sort_unstable();
        let cells: Vec<&[(u64, u32)]> = bodies.chunk_by(|a, b| a.0 == b.0).collect();
        let corners = |bodies: &[(u64, u32)]| grid.nodes(grid.locate(centres[bodies[0].1 as usize]).0);
        let mut nodes: Vec<u64> = cells.iter().flat_map(|bodies| corners(bodies)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let element = |bodies: &&[(u64, u32)]| self.element(&grid, &nodes, corners(bodies), bodies);
        let elements: Vec<Element> = cells.par_iter().map(element).collect();
        let at_nodes = solve_by_conjugate_gradients(&elements, nodes.len());
        let mut changes = vec![f64::NAN; velocities.len()];
        for (element, bodies) in elements.iter().zip(cells) {
            let at_corners = element.nodes.map(|node| at_nodes[node]);
            for &(_, body) in bodies {
                let weights = grid.shapes(grid.locate(centres[body as usize]).1).weights;
                changes[body as usize] = dot(&weights, &at_corners).clamp(LEAST_CHANGE, LARGEST_CHANGE);
            }
        }
        changes
    }

    /// Contribution of the bodies in the cell with these corners to the coarse problem.
    fn element(&self, grid: &CoarseGrid, nodes: &[u64], corners: [u64; 8], bodies: &[(u64, u32)]) -> Element {
        let place = |node| nodes.partition_point(|&known| known < node);
        let mut element = Element { nodes: corners.map(place), matrix: [[0.0; 8]; 8], slope: [0.0; 8] };
        for &(_, body) in bodies {
            let body = body as usize;
            let (load, velocity) = (&self.loads[body], &self.velocities[body]);
            let Shapes { weights, slopes } = grid.shapes(grid.locate(self.world.bodies.position[body]).1);
            let inverse_mass = velocity.inverse_mass * velocity.locked.free_translation();
            (0..8).for_each(|corner| element.slope[corner] += weights[corner] * load.slope);
            element.add(&weights, load.give);
            for axis in 0..3 {
                let along = load.moment.row(axis);
                let push = std::array::from_fn(|corner| {
                    let spread = along.x * slopes[0][corner]
                        + along.y * slopes[1][corner]
                        + along.z * slopes[2][corner];
                    weights[corner] * load.force[axis] + spread
                });
                element.add(&push, inverse_mass[axis]);
            }
        }
        element
    }
}

/// Length α of the correction \[-\] that leaves the least error: 1 where the coarse problem describes the whole effect, and never above 1,
/// so that no impulse leaves its cone.
fn step_length(velocities: &[Velocity], changes: &[f64], loads: &[NodeLoad], answers: &[BodyEffect]) -> f64 {
    let of_body = |body: usize| {
        let (velocity, answer) = (&velocities[body], &answers[body]);
        if !velocity.is_free() {
            return [0.0; 2];
        }
        let moved = velocity.inverse_mass * answer.linear * velocity.locked.free_translation();
        let turned = velocity.inverse_inertia * answer.angular * velocity.locked.free_rotation();
        let curvature = moved.dot(answer.linear) + turned.dot(answer.angular) + answer.give;
        [-changes[body] * loads[body].slope, curvature]
    };
    let [slope, curvature] = (0..velocities.len())
        .map(of_body)
        .fold([0.0; 2], |[slope, curvature], [a, b]| [slope + a, curvature + b]);
    if curvature > 0.0 { (slope / curvature).clamp(0.0, 1.0) } else { 0.0 }
}

/// Mean distance between the centres of free bodies that press on each other \[m\], over a sample of contacts from all over the list. At a
/// wall twice the distance of the body from it counts.
fn mean_distance(constraints: &[Constraint], velocities: &[Velocity]) -> Option<f64> {
    let [mut sum, mut count] = [0.0; 2];
    let some = constraints.iter().step_by(constraints.len() / SAMPLE + 1);
    for constraint in some.filter(|constraint| constraint.impulse.normal > 0.0) {
        for (body, arm) in constraint.bodies.into_iter().zip([constraint.arm_a, constraint.arm_b]) {
            if velocities[body as usize].is_free() {
                sum += 2.0 * arm.length();
                count += 1.0;
            }
        }
    }
    (count > 0.0 && sum > 0.0).then(|| sum / count)
}

/// Approximate number of contacts in the sample for the mean distance.
const SAMPLE: usize = 2000;

/// Adds the contribution of a contact to the loads of its bodies.
fn load(cone: Cone, constraint: &Constraint, [a, b]: [&Velocity; 2], loads: [Option<&mut NodeLoad>; 2]) {
    let impulse = &constraint.impulse;
    if impulse.normal <= 0.0 {
        return;
    }
    let rest = residual::natural_map(cone, constraint, a, b);
    let share = if loads.iter().all(Option::is_some) { 0.5 } else { 1.0 };
    let slope =
        impulse.normal * rest.normal + impulse.tangent.dot(rest.tangent) + impulse.rolling.dot(rest.rolling);
    // Half the vector from a to b. A wall has no μ of its own, as if it were at the centre of the other body: the vector is then zero.
    let half_way = if share < 1.0 { 0.5 * (constraint.arm_a - constraint.arm_b) } else { DVec3::ZERO };
    let linear = impulse.linear(constraint.normal);
    for (load, sign) in loads.into_iter().zip([1.0, -1.0]) {
        let Some(load) = load else { continue };
        load.force += sign * linear;
        // The signs of the impulse and of the vector cancel.
        load.moment += outer(linear, half_way);
        load.slope += share * slope;
        load.give += share * constraint.compliance * impulse.normal * impulse.normal;
    }
}

/// Mean of μ over the free bodies of a contact \[-\].
fn change_of(changes: &[f64], constraint: &Constraint) -> f64 {
    let [a, b] = constraint.bodies.map(|body| changes[body as usize]);
    match (a.is_nan(), b.is_nan()) {
        (false, false) => 0.5 * (a + b),
        (false, true) => a,
        (true, false) => b,
        (true, true) => 0.0,
    }
}

/// Adds the effect of a correction of full length of a contact to the answers of its bodies.
fn answer(changes: &[f64], constraint: &Constraint, answers: [Option<&mut BodyEffect>; 2]) {
    if constraint.impulse.normal <= 0.0 {
        return;
    }
    let step = constraint.impulse.scaled(change_of(changes, constraint));
    let linear = step.linear(constraint.normal);
    let share = if answers.iter().all(Option::is_some) { 0.5 } else { 1.0 };
    let sides = [(1.0, constraint.arm_a), (-1.0, constraint.arm_b)];
    for (answer, (sign, arm)) in answers.into_iter().zip(sides) {
        let Some(answer) = answer else { continue };
        answer.linear += sign * linear;
        answer.angular += sign * (arm.cross(linear) + step.rolling);
        answer.give += share * constraint.compliance * step.normal * step.normal;
    }
}

/// Multiplies the impulse of a contact by 1 + `length` μ; returns the change of the impulse, for the bodies.
#[inline(always)]
fn multiply_impulse(changes: &[f64], length: f64, constraint: &mut Constraint) -> Option<Push> {
    let before = constraint.impulse;
    if before.normal <= 0.0 {
        return None;
    }
    let share = length * change_of(changes, constraint);
    constraint.impulse = before.scaled(1.0 + share);
    Some(Push::of(&before.scaled(share), constraint.normal))
}

/// Grid of cubic cells around bodies, whose nodes carry μ.
#[derive(Debug)]
struct CoarseGrid {
    /// Corner with the least coordinates \[m\].
    corner: DVec3,
    /// Edges of a cell \[m\].
    edge: DVec3,
    /// Cells along each axis.
    cells: DVec3,
    /// Nodes along each axis: one more than cells, or as many as cells on a periodic axis.
    nodes: [u64; 3],
    periodic: Periodic,
}

/// Largest number of cells along an axis, so that the number of a node fits 64 bits. Only cells with bodies cost anything.
const MOST_CELLS: f64 = 1e6;

impl CoarseGrid {
    /// Grid around the free bodies among those with these centres, with cells of about this edge \[m\].
    fn around(centres: &[DVec3], velocities: &[Velocity], periodic: &Periodic, edge: f64) -> CoarseGrid {
        let free = centres.iter().zip(velocities).filter(|(_, velocity)| velocity.is_free());
        let [least, most] = free
            .fold([DVec3::INFINITY, DVec3::NEG_INFINITY], |[least, most], (centre, _)| {
                [least.min(*centre), most.max(*centre)]
            });
        let extent = periodic.select(periodic.length, (most - least).max(DVec3::ZERO));
        let fitting = periodic.select((extent / edge).floor(), (extent / edge).ceil());
        let cells = fitting.clamp(DVec3::ONE, DVec3::splat(MOST_CELLS));
        // Along an axis that is not periodic the cells may extend beyond the bodies.
        let edge = periodic.select(extent / cells, (extent / cells).max(DVec3::splat(edge)));
        let corner = periodic.select(periodic.min, 0.5 * (least + most) - 0.5 * cells * edge);
        let more = periodic.select(DVec3::ZERO, DVec3::ONE);
        let nodes = (cells + more).to_array().map(|nodes| nodes as u64);
        CoarseGrid { corner, edge, cells, nodes, periodic: *periodic }
    }

    /// Cell of a point, and the position of the point in the cell, 0 to 1 along each axis.
    fn locate(&self, point: DVec3) -> ([u32; 3], DVec3) {
        let inside = (self.periodic.wrap(point) - self.corner) / self.edge;
        let cell = inside.floor().clamp(DVec3::ZERO, self.cells - 1.0);
        (cell.to_array().map(|cell| cell as u32), (inside - cell).clamp(DVec3::ZERO, DVec3::ONE))
    }

    /// Nodes at the corners of a cell.
    fn nodes(&self, cell: [u32; 3]) -> [u64; 8] {
        std::array::from_fn(|corner| self.node(cell, corner))
    }

    /// Node at a corner of a cell.
    fn node(&self, cell: [u32; 3], corner: usize) -> u64 {
        let far = |axis: usize| u64::from(corner >> axis & 1 == 1);
        let [x, y, z] = [0, 1, 2].map(|axis| (u64::from(cell[axis]) + far(axis)) % self.nodes[axis]);
        x + self.nodes[0] * (y + self.nodes[1] * z)
    }

    /// Weight and gradient of each corner of a cell at a position in it.
    fn shapes(&self, place: DVec3) -> Shapes {
        let is_far = |corner: usize, axis: usize| corner >> axis & 1 == 1;
        let along = |corner, axis| if is_far(corner, axis) { place[axis] } else { 1.0 - place[axis] };
        let rise = |corner, axis| if is_far(corner, axis) { 1.0 } else { -1.0 } / self.edge[axis];
        Shapes {
            weights: std::array::from_fn(|corner| [0, 1, 2].map(|axis| along(corner, axis)).iter().product()),
            slopes: std::array::from_fn(|axis| {
                std::array::from_fn(|corner| {
                    rise(corner, axis) * along(corner, (axis + 1) % 3) * along(corner, (axis + 2) % 3)
                })
            }),
        }
    }
}

/// Shape functions of the corners of a cell, at a point in it.
struct Shapes {
    /// Weight of each corner \[-\].
    weights: [f64; 8],
    /// Slope of the weights along each axis \[1/m\].
    slopes: [[f64; 8]; 3],
}

/// Contribution of a cell to the coarse problem.
#[derive(Debug)]
struct Element {
    nodes: [usize; 8],
    matrix: [[f64; 8]; 8],
    slope: [f64; 8],
}

impl Element {
    /// Adds `factor` a aᵀ to the matrix.
    #[inline(always)]
    fn add(&mut self, a: &[f64; 8], factor: f64) {
        for (row, &value) in self.matrix.iter_mut().zip(a) {
            let scaled = factor * value;
            row.iter_mut().zip(a).for_each(|(entry, &other)| *entry += scaled * other);
        }
    }
}

/// Solves A μ = -s, A and s the sums over the elements, by conjugate gradients with the diagonal as preconditioner.
fn solve_by_conjugate_gradients(elements: &[Element], nodes: usize) -> Vec<f64> {
    let (mut diagonal, mut residual) = (vec![0.0; nodes], vec![0.0; nodes]);
    for element in elements {
        for (i, &node) in element.nodes.iter().enumerate() {
            diagonal[node] += element.matrix[i][i];
            residual[node] -= element.slope[i];
        }
    }
    let precondition = |residual: &[f64]| -> Vec<f64> {
        let over = |(value, diagonal): (&f64, &f64)| if *diagonal > 0.0 { value / diagonal } else { 0.0 };
        residual.iter().zip(&diagonal).map(over).collect()
    };
    let mut solution = vec![0.0; nodes];
    let mut direction = precondition(&residual);
    let mut left = dot(&residual, &direction);
    let enough = TOLERANCE * TOLERANCE * left;
    for _ in 0..MOST_STEPS {
        if left <= enough {
            break;
        }
        let image = multiply(elements, &direction);
        let curvature = dot(&direction, &image);
        if curvature <= 0.0 {
            break;
        }
        let length = left / curvature;
        for node in 0..nodes {
            solution[node] += length * direction[node];
            residual[node] -= length * image[node];
        }
        let preconditioned = precondition(&residual);
        let before = std::mem::replace(&mut left, dot(&residual, &preconditioned));
        let share = left / before;
        direction
            .iter_mut()
            .zip(preconditioned)
            .for_each(|(direction, new)| *direction = new + share * *direction);
    }
    solution
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Product of A with a vector of values at the nodes.
fn multiply(elements: &[Element], vector: &[f64]) -> Vec<f64> {
    let mut image = vec![0.0; vector.len()];
    for element in elements {
        let at_nodes = element.nodes.map(|node| vector[node]);
        for (row, &node) in element.matrix.iter().zip(&element.nodes) {
            image[node] += dot(row, &at_nodes);
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Axes;

    const FREE: Velocity = Velocity {
        linear: DVec3::ZERO,
        inverse_mass: 1.0,
        angular: DVec3::ZERO,
        inverse_inertia: 1.0,
        locked: Axes::NONE,
    };

    /// A function that is linear in each coordinate, taken from the nodes of the cells of a grid, with its gradient.
    fn interpolated(grid: &CoarseGrid, at_node: impl Fn(DVec3) -> f64, point: DVec3) -> (f64, DVec3) {
        let (cell, place) = grid.locate(point);
        let [x, y, z] = cell.map(f64::from);
        let node = |corner: usize| {
            let far = [0, 1, 2].map(|axis| (corner >> axis & 1) as f64);
            grid.corner + grid.edge * (DVec3::new(x, y, z) + DVec3::from_array(far))
        };
        let shapes = grid.shapes(place);
        (0..8).fold((0.0, DVec3::ZERO), |(value, slope), corner| {
            let at_node = at_node(node(corner));
            let rise = DVec3::from_array(shapes.slopes.map(|slopes| slopes[corner]));
            (value + shapes.weights[corner] * at_node, slope + rise * at_node)
        })
    }

    #[test]
    fn between_nodes_changes_are_linear() {
        let centres = [DVec3::ZERO, DVec3::new(1.0, 0.3, 0.0), DVec3::new(0.4, -0.2, 2.0)];
        let grid = CoarseGrid::around(&centres, &[FREE; 3], &Periodic::default(), 0.25);
        let gradient = DVec3::new(1.0, -2.0, 0.5);
        for point in centres.into_iter().chain([DVec3::new(0.31, 0.1, 1.7)]) {
            let (value, slope) = interpolated(&grid, |node| 3.0 + gradient.dot(node), point);
            assert!((value - 3.0 - gradient.dot(point)).abs() < 1e-12, "{point}: {value}");
            assert!((slope - gradient).length() < 1e-12, "{point}: {slope}");
        }
    }

    #[test]
    fn on_a_periodic_axis_the_last_cell_ends_where_the_first_begins() {
        let periodic =
            Periodic { min: DVec3::splat(-0.1), length: DVec3::new(1.0, 0.0, 0.0), ..Periodic::NONE };
        let centres = [DVec3::ZERO, DVec3::new(0.8, 0.0, 0.5)];
        let grid = CoarseGrid::around(&centres, &[FREE; 2], &periodic, 0.3);
        assert_eq!(grid.cells.x, 3.0, "the period has room for three");
        let nodes = |x: f64| grid.nodes(grid.locate(DVec3::new(x, 0.0, 0.1)).0);
        let [first, last] = [nodes(-0.09), nodes(0.89)];
        assert_eq!([last[1], last[3], last[5], last[7]], [first[0], first[2], first[4], first[6]]);
        assert_eq!(nodes(0.91), first, "a period on");
        let along_z = |z: f64| grid.nodes(grid.locate(DVec3::new(0.0, 0.0, z)).0);
        assert_ne!(along_z(0.49)[4], along_z(0.01)[0], "this axis ends");
    }

    #[test]
    fn a_body_far_away_costs_no_more_than_one_near() {
        let centres = [DVec3::ZERO, DVec3::splat(1e9)];
        let grid = CoarseGrid::around(&centres, &[FREE; 2], &Periodic::default(), 0.05);
        let [near, far] = centres.map(|centre| grid.nodes(grid.locate(centre).0));
        assert!(near.iter().all(|node| !far.contains(node)), "{near:?}, {far:?}");
    }

    #[test]
    fn conjugate_gradients_solve_what_elements_add_up_to() {
        let mut spring = Element { nodes: [0; 8], matrix: [[0.0; 8]; 8], slope: [0.0; 8] };
        (spring.matrix[0][0], spring.matrix[1][1]) = (2.0, 2.0);
        (spring.matrix[0][1], spring.matrix[1][0]) = (-1.0, -1.0);
        spring.slope[0] = -1.0;
        let at = |a: usize, b: usize| {
            let nodes = std::array::from_fn(|corner| if corner == 1 { b } else { a });
            Element { nodes, matrix: spring.matrix, slope: spring.slope }
        };
        let elements = [at(0, 1), at(1, 2), at(2, 3)];
        let found = solve_by_conjugate_gradients(&elements, 4);
        let left: Vec<f64> =
            multiply(&elements, &found).iter().zip([1.0, 1.0, 1.0, 0.0]).map(|(a, b)| a - b).collect();
        assert!(dot(&left, &left).sqrt() < 0.05, "{found:?} leaves {left:?}");
    }
}
