//! The tree of boxes around the triangles of a mesh.
//!
//! Nodes are stored in depth-first order; each knows the node to continue with if its box is too far away. So a traversal is a loop
//! without a stack, on the GPU as on the CPU. The triangles of a patch form a subtree, whose nodes are consecutive.

use glam::DVec3;

use super::{Mesh, Patch, bounds_of};

/// Largest number of triangles in a leaf.
const LEAF: usize = 2;

/// A node of the tree: a box, and the triangles in it if it is a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeNode {
    /// Corner of the box with the smallest coordinates \[m\].
    pub low: DVec3,
    /// Corner of the box with the largest coordinates \[m\].
    pub high: DVec3,
    /// Node to continue with if the box is too far away.
    pub escape: u32,
    /// First triangle of a leaf.
    pub first: u32,
    /// Number of triangles of a leaf; 0 for a node that is no leaf.
    pub count: u32,
}

impl TreeNode {
    /// Square of the distance of a point from the box \[m²\].
    pub fn distance_squared(&self, point: DVec3) -> f64 {
        (point - point.clamp(self.low, self.high)).length_squared()
    }
}

/// Sorts the triangles of a mesh by patch and place, and builds its tree.
pub fn grow(mesh: &mut Mesh) {
    let mut of_patch: Vec<Vec<usize>> = vec![Vec::new(); mesh.patches.len()];
    for (triangle, of) in mesh.triangles.iter().enumerate() {
        of_patch[of.patch as usize].push(triangle);
    }
    let mut tree = Growing { mesh, nodes: Vec::new(), sorted: Vec::new(), patches: Vec::new() };
    tree.patches = vec![Patch { first_node: 0, end_node: 0 }; of_patch.len()];
    let mut groups: Vec<(DVec3, usize)> =
        of_patch.iter().enumerate().map(|(patch, triangles)| (tree.middle(triangles), patch)).collect();
    tree.add_patches(&mut groups, &mut of_patch);
    let Growing { nodes, sorted, patches, .. } = tree;
    mesh.triangles = sorted.iter().map(|&triangle| mesh.triangles[triangle]).collect();
    (mesh.nodes, mesh.patches) = (nodes, patches);
}

struct Growing<'a> {
    mesh: &'a Mesh,
    nodes: Vec<TreeNode>,
    /// Triangles in the order of the leaves.
    sorted: Vec<usize>,
    patches: Vec<Patch>,
}

impl Growing<'_> {
    /// Middle of the box around triangles \[m\].
    fn middle(&self, triangles: &[usize]) -> DVec3 {
        let [low, high] = self.bounds(triangles);
        low.midpoint(high)
    }

    fn bounds(&self, triangles: &[usize]) -> [DVec3; 2] {
        let corners = triangles.iter().flat_map(|&triangle| self.mesh.corners(triangle));
        bounds_of(corners)
    }

    /// Adds a node; [`Growing::close`] sets its box and its escape once all nodes below it exist.
    fn open(&mut self) -> usize {
        let (low, high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        self.nodes.push(TreeNode { low, high, escape: 0, first: 0, count: 0 });
        self.nodes.len() - 1
    }

    fn close(&mut self, node: usize) {
        let end = self.nodes.len();
        let mut child = node + 1;
        while child < end {
            let TreeNode { low, high, escape, .. } = self.nodes[child];
            let parent = &mut self.nodes[node];
            (parent.low, parent.high) = (parent.low.min(low), parent.high.max(high));
            child = escape as usize;
        }
        self.nodes[node].escape = end as u32;
    }

    fn add_patches(&mut self, groups: &mut [(DVec3, usize)], of_patch: &mut [Vec<usize>]) {
        if let [(_, patch)] = *groups {
            let first_node = self.nodes.len() as u32;
            self.add_triangles(&mut of_patch[patch]);
            self.patches[patch] = Patch { first_node, end_node: self.nodes.len() as u32 };
            return;
        }
        let node = self.open();
        let axis = longest_axis(groups.iter().map(|(middle, _)| *middle));
        groups.sort_unstable_by(|a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
        let (low, high) = groups.split_at_mut(groups.len() / 2);
        self.add_patches(low, of_patch);
        self.add_patches(high, of_patch);
        self.close(node);
    }

    fn add_triangles(&mut self, triangles: &mut [usize]) {
        let node = self.open();
        if triangles.len() <= LEAF {
            let first = self.sorted.len() as u32;
            let [low, high] = self.bounds(triangles);
            let (escape, count) = (self.nodes.len() as u32, triangles.len() as u32);
            self.nodes[node] = TreeNode { low, high, escape, first, count };
            self.sorted.extend_from_slice(triangles);
            return;
        }
        let mesh = self.mesh;
        let middle = |triangle: usize| mesh.corners(triangle).iter().sum::<DVec3>() / 3.0;
        let axis = longest_axis(triangles.iter().map(|&triangle| middle(triangle)));
        triangles.sort_unstable_by(|&a, &b| middle(a)[axis].total_cmp(&middle(b)[axis]).then(a.cmp(&b)));
        let (low, high) = triangles.split_at_mut(triangles.len() / 2);
        self.add_triangles(low);
        self.add_triangles(high);
        self.close(node);
    }
}

/// Axis along which the points extend furthest.
fn longest_axis(points: impl Iterator<Item = DVec3>) -> usize {
    let [low, high] = bounds_of(points);
    (high - low).max_position()
}

#[cfg(test)]
mod tests {
    use super::super::samples::{sheet, tube};
    use super::*;

    #[test]
    fn every_triangle_is_in_one_leaf_of_its_patch_and_in_all_boxes_above() {
        let tube = Mesh::new("tube", &tube(1.0, 1.0, 100, 5)).expect("a mesh");
        let mut seen = vec![0; tube.triangles.len()];
        for (index, patch) in tube.patches.iter().enumerate() {
            for node in &tube.nodes[patch.first_node as usize..patch.end_node as usize] {
                for triangle in node.first..node.first + node.count {
                    seen[triangle as usize] += 1;
                    assert_eq!(tube.triangles[triangle as usize].patch as usize, index);
                }
            }
        }
        assert!(seen.iter().all(|&count| count == 1));
        for (index, node) in tube.nodes.iter().enumerate() {
            assert!(node.escape as usize > index && node.escape as usize <= tube.nodes.len());
            for below in &tube.nodes[index + 1..(node.escape as usize).max(index + 1)] {
                assert!(node.low.cmple(below.low).all() && node.high.cmpge(below.high).all());
            }
        }
    }

    #[test]
    fn the_tree_of_a_large_sheet_is_shallow() {
        let sheet = sheet(1.0, 100);
        // Count the boxes that a traversal to one point enters or tests.
        let (point, mut node, mut visited) = (DVec3::new(0.333, 0.777, 0.0), 0, 0);
        while node < sheet.nodes.len() {
            visited += 1;
            let is_far = sheet.nodes[node].distance_squared(point) > 1e-6;
            node = if is_far { sheet.nodes[node].escape as usize } else { node + 1 };
        }
        assert!(visited < 60, "{visited} of {}", sheet.nodes.len());
    }
}
