//! The meshes of a world, and the search for surfaces near a sphere.

use std::ops::Range;
use std::sync::Arc;

use glam::{DMat3, DQuat, DVec3};

use super::mesh::{JoinedTouch, Mesh, NO_SEAM, Nearest, PatchTouch, SolidTouch, join, join_solid};
use super::{Form, MaterialId, Shape, Sphere, Surface, Touch, World};

/// The meshes of the surfaces that are patches. Only a fingerprint of each is saved.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Meshes {
    fingerprints: Vec<u64>,
    #[cfg_attr(feature = "scenario", serde(skip))]
    list: Vec<Arc<Mesh>>,
}

impl Meshes {
    /// Adds a mesh, unless the same one is known already; returns its index.
    pub fn add(&mut self, mesh: Arc<Mesh>) -> u32 {
        let fingerprint = mesh.fingerprint();
        if let Some(known) = self.fingerprints.iter().position(|&known| known == fingerprint) {
            return known as u32;
        }
        self.fingerprints.push(fingerprint);
        self.list.push(mesh);
        self.list.len() as u32 - 1
    }

    /// All meshes, by index.
    pub fn list(&self) -> &[Arc<Mesh>] {
        &self.list
    }

    /// Whether there are no meshes.
    pub fn is_empty(&self) -> bool {
        self.fingerprints.is_empty()
    }

    /// Whether `others` are the same meshes.
    #[cfg(feature = "scenario")]
    pub(crate) fn are(&self, others: &Meshes) -> bool {
        self.fingerprints == others.fingerprints
    }

    /// Whether the geometry is known, which is not saved.
    #[cfg(all(feature = "gpu", feature = "scenario"))]
    pub(crate) fn are_known(&self) -> bool {
        self.list.len() == self.fingerprints.len()
    }

    /// Takes over the geometry from the meshes `other`; returns whether these are the same.
    #[cfg(feature = "scenario")]
    pub(crate) fn take_from(&mut self, other: Meshes) -> bool {
        let are_same = self.are(&other);
        self.list = other.list;
        are_same
    }
}

/// Bounding box of a surface, or of all patches of a mesh, along the axes of the world.
#[derive(Debug, Clone)]
pub struct SurfaceBox {
    surfaces: Range<u32>,
    body: u32,
    /// Centre of the box, from the centre of the body \[m\].
    centre: DVec3,
    /// Half the edges of the box \[m\], infinite for a plane.
    half: DVec3,
}

impl SurfaceBox {
    /// Distance of the farthest corner of the box from an axis through `point` \[m\], as long as the boundaries have not moved since the
    /// box was made; infinite for a plane.
    pub fn reach_from(&self, world: &World, point: DVec3, axis: DVec3) -> f64 {
        if !self.half.is_finite() {
            return f64::INFINITY;
        }
        let centre = world.bodies.position[self.body as usize] + self.centre - point;
        let sign = |corner: u32, axis: u32| f64::from(2 * (corner >> axis & 1)) - 1.0;
        let corner = |i: u32| centre + self.half * DVec3::new(sign(i, 0), sign(i, 1), sign(i, 2));
        (0..8).map(|i| corner(i).cross(axis).length()).fold(0.0, f64::max)
    }

    /// Body of the surface in the box.
    pub fn body(&self) -> usize {
        self.body as usize
    }

    /// Index of the first surface in the box.
    pub fn first(&self) -> usize {
        self.surfaces.start as usize
    }

    /// Number of surfaces in the box: patches of a mesh, or one.
    pub fn count(&self) -> usize {
        self.surfaces.len()
    }

    /// Corners of the box at the present place of its body \[m\]; infinite for a plane.
    pub fn corners(&self, world: &World) -> [DVec3; 2] {
        let centre = world.bodies.position[self.body as usize] + self.centre;
        [centre - self.half, centre + self.half]
    }

    /// Whether the box may reach into another one with these corners \[m\]; always along periodic axes.
    pub fn may_reach(&self, world: &World, [low, high]: [DVec3; 2]) -> bool {
        let [own_low, own_high] = self.corners(world);
        let meets = own_low.cmple(high) & own_high.cmpge(low);
        (meets | world.periodic.length.cmpgt(DVec3::ZERO)).all()
    }
}

/// Slack of a box over its size, larger than the rounding errors in its edges \[-\].
const BOX_SLACK: f64 = 1e-9;

impl std::ops::Index<u32> for Meshes {
    type Output = Mesh;

    fn index(&self, mesh: u32) -> &Mesh {
        &self.list[mesh as usize]
    }
}

impl World {
    /// Makes the surfaces of a mesh, with its origin at `position` on its body \[m\], one per patch in order. They must stay consecutive.
    pub fn mesh_surfaces(
        &mut self,
        mesh: Arc<Mesh>,
        position: DVec3,
        orientation: DQuat,
        material: MaterialId,
    ) -> Vec<Surface> {
        let patches = 0..mesh.patches.len() as u32;
        let mesh = self.meshes.add(mesh);
        let form = |patch| Form::Patch { mesh, patch };
        patches.map(|patch| Surface::new(position, orientation, form(patch), material)).collect()
    }

    /// Index of the mesh that a surface is a patch of, and the surfaces of all its patches; `None` if it is of another form.
    pub fn patches_with(&self, surface: u32) -> Option<(u32, Range<u32>)> {
        match self.surfaces.get(surface as usize)?.form {
            Form::Patch { mesh, patch } => {
                let first = surface - patch;
                Some((mesh, first..first + self.meshes[mesh].patches.len() as u32))
            }
            _ => None,
        }
    }

    /// Groups of surfaces: all patches of a mesh together, every other surface alone.
    pub fn surface_groups(&self) -> impl Iterator<Item = Range<u32>> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            let first = next;
            next = match self.patches_with(first) {
                Some((_, patches)) => patches.end,
                None => first + 1,
            };
            (first < self.surfaces.len() as u32).then_some(first..next)
        })
    }

    /// Boxes around all groups of surfaces at their present poses, with which a sphere skips surfaces that are far away.
    pub fn surface_boxes(&self) -> Vec<SurfaceBox> {
        self.surface_groups().map(|surfaces| self.box_around(surfaces)).collect()
    }

    fn box_around(&self, surfaces: Range<u32>) -> SurfaceBox {
        let Surface { body, orientation, .. } = self.surfaces[surfaces.start as usize];
        let (centre, half) = self.extent_on_body(surfaces.start);
        let turned = self.bodies.orientation[body as usize];
        let axes = DMat3::from_quat(turned * orientation).abs();
        // The box of a plane is infinite, and turning it would give NaN.
        let half = if half.is_finite() { axes * half } else { half };
        SurfaceBox { surfaces, body, centre: turned * centre, half }
    }

    /// Centre on its body and half edges in its frame \[m\] of the box around a surface, or around the mesh of a first patch.
    fn extent_on_body(&self, surface: u32) -> (DVec3, DVec3) {
        let Surface { position, orientation, form, .. } = self.surfaces[surface as usize];
        match form {
            Form::Patch { mesh, .. } => {
                let root = &self.meshes[mesh].nodes[0];
                (position + orientation * (0.5 * (root.low + root.high)), 0.5 * (root.high - root.low))
            }
            _ => (position, form.half_extent()),
        }
    }

    /// Per boundary: bound on the distance of its points from its centre \[m\]; infinite if it has a plane.
    pub fn boundary_reaches(&self) -> Vec<f64> {
        let mut reaches = vec![0.0; self.boundaries.len()];
        for surfaces in self.surface_groups() {
            let (centre, half) = self.extent_on_body(surfaces.start);
            let reach = &mut reaches[self.surfaces[surfaces.start as usize].body as usize];
            *reach = f64::max(*reach, centre.length() + half.length());
        }
        reaches
    }

    /// Gap \[m\], negative, to the boundary that a sphere overlaps most, and the index of that boundary; `None` without an overlap. `boxes`
    /// as in [`World::for_each_surface_near`].
    pub fn deepest_boundary(
        &self,
        boxes: &[SurfaceBox],
        centre: DVec3,
        ball: &Sphere,
    ) -> Option<(f64, usize)> {
        let mut deepest: Option<(f64, usize)> = None;
        self.for_each_surface_near(boxes, centre, ball, 0.0, |surface, touch| {
            if deepest.is_none_or(|(gap, _)| touch.gap < gap) {
                deepest = Some((touch.gap, self.surfaces[surface as usize].body as usize));
            }
        });
        deepest
    }

    /// Calls `visit` with every surface that a sphere feels and whose gap to it is less than `gap` \[m\], in ascending order, and with the
    /// touch; for the vertex of a body, which may be inside of a solid mesh, with all patches up to its contact radius further away.
    /// `boxes` come from [`World::surface_boxes`] after the last motion of any boundary: with older ones contacts are missed.
    pub fn for_each_surface_near(
        &self,
        boxes: &[SurfaceBox],
        centre: DVec3,
        ball: &Sphere,
        gap: f64,
        mut visit: impl FnMut(u32, &Touch),
    ) {
        let reach = ball.radius + gap;
        let visit_if_near = |index: u32, visit: &mut dyn FnMut(u32, &Touch)| {
            let touch = self.touch_within(&self.surfaces[index as usize], centre, ball, reach);
            if let Some(touch) = touch.filter(|touch| touch.gap < gap) {
                visit(index, &touch);
            }
        };
        // Behind a thin wall, and inside a solid of triangles, a sphere keeps its contact up to its contact radius.
        let farthest = ball.radius.max(ball.contact_radius) + gap;
        for near in boxes.iter().filter(|around| self.is_within(around, centre, farthest)) {
            let first = near.surfaces.start;
            let surface = &self.surfaces[first as usize];
            if !surface.is_felt_by(ball.material) {
                continue;
            }
            let Form::Patch { mesh, .. } = surface.form else {
                visit_if_near(first, &mut visit);
                continue;
            };
            let local = self.in_frame_of(surface, centre);
            let mut patches = Vec::new();
            let is_solid = self.meshes[mesh].is_solid && farthest > reach;
            let reach = if is_solid { farthest } else { reach };
            self.meshes[mesh].for_each_near(local, reach, |patch| patches.push(first + patch));
            patches.sort_unstable();
            if is_solid {
                for surface in patches {
                    let touch = self.touch_within(&self.surfaces[surface as usize], centre, ball, reach);
                    touch.iter().for_each(|touch| visit(surface, touch));
                }
            } else {
                patches.into_iter().for_each(|surface| visit_if_near(surface, &mut visit));
            }
        }
    }

    /// Boxes without those of the machine of a dynamic boundary, whose parts do not touch each other: the vertices of a fine mesh would
    /// each look at all patches around them.
    pub fn boxes_of_others(&self, boxes: &[SurfaceBox], body: u32) -> Vec<SurfaceBox> {
        let machine = |body: u32| self.machines[body as usize];
        boxes.iter().filter(|around| machine(around.body) != machine(body)).cloned().collect()
    }

    /// Whether a point is within `reach` of a box \[m\], with a slack for rounding.
    #[inline]
    fn is_within(&self, around: &SurfaceBox, point: DVec3, reach: f64) -> bool {
        let body = self.periodic.image(self.bodies.position[around.body as usize], point);
        let apart = (point - body - around.centre).abs();
        apart.cmple((around.half + reach) * (1.0 + BOX_SLACK)).all()
    }

    /// Touch of a sphere with a surface; for a patch, `reach` is the largest distance of its centre from the patch \[m\].
    pub fn touch_within(&self, surface: &Surface, centre: DVec3, ball: &Sphere, reach: f64) -> Option<Touch> {
        if let Form::Patch { .. } = surface.form {
            let nearest = self.nearest_on_patch(surface, centre, reach)?;
            return Some(Touch::at(centre, ball.radius, nearest.distance, nearest.normal));
        }
        let body = surface.body as usize;
        let position = self.periodic.image(self.bodies.position[body], centre);
        surface.touch_within(
            position,
            self.bodies.orientation[body],
            centre,
            ball.radius,
            ball.contact_radius,
        )
    }

    /// Nearest point of a patch to `point`, with the normal in world axes; `None` if it is further than `reach` \[m\].
    fn nearest_on_patch(&self, surface: &Surface, point: DVec3, reach: f64) -> Option<Nearest> {
        let Form::Patch { mesh, patch } = surface.form else { return None };
        let nearest = self.meshes[mesh].nearest(patch as usize, self.in_frame_of(surface, point), reach)?;
        let frame = self.bodies.orientation[surface.body as usize] * surface.orientation;
        Some(Nearest { normal: frame * nearest.normal, face: frame * nearest.face, ..nearest })
    }

    /// Origin of the frame of a surface at the present pose of its boundary \[m\].
    pub fn origin_of(&self, surface: &Surface) -> DVec3 {
        let body = surface.body as usize;
        self.bodies.position[body] + self.bodies.orientation[body] * surface.position
    }

    /// A point in the frame of a surface, of the periodic image of its body that is nearest to the point \[m\].
    pub(super) fn in_frame_of(&self, surface: &Surface, point: DVec3) -> DVec3 {
        let body = surface.body as usize;
        let orientation = self.bodies.orientation[body];
        let origin = self.periodic.image(self.bodies.position[body], point) + orientation * surface.position;
        (orientation * surface.orientation).conjugate() * (point - origin)
    }

    /// Touches of a sphere (shape `a`) with patches of one mesh (shapes), each at most `reach` from its centre \[m\]. The sphere is taken
    /// to belong to the side on which its centre is.
    pub fn touch_patches(&self, a: u32, patches: impl Iterator<Item = u32>, reach: f64) -> Vec<PatchTouch> {
        let Shape::Sphere(ball) = self.shape(a) else { return Vec::new() };
        let centre = self.sphere_centre(ball);
        let touch = |surface: u32| {
            let surface = &self.surfaces[surface as usize];
            let Form::Patch { patch, .. } = surface.form else { return None };
            let nearest = self.nearest_on_patch(surface, centre, reach);
            Some(PatchTouch { patch, nearest, is_behind: false })
        };
        patches.filter_map(touch).collect()
    }

    /// Whether the nearest point of a patch lies on a rim of the mesh, around which a sphere may come to the other side.
    pub fn is_at_rim(&self, mesh: u32, nearest: &Nearest) -> bool {
        nearest.seam != NO_SEAM && self.meshes[mesh].seams[nearest.seam as usize].is_rim
    }

    /// Velocity of the centre of a sphere relative to a body at that point \[m/s\].
    pub fn velocity_from(&self, ball: &Sphere, body: u32) -> DVec3 {
        let (bodies, own, body) = (&self.bodies, ball.body as usize, body as usize);
        let centre = self.sphere_centre(ball);
        let arm = centre - self.periodic.image(bodies.position[body], centre);
        bodies.velocity[own] + bodies.angular_velocity[own].cross(self.sphere_lever(ball))
            - bodies.velocity[body]
            - bodies.angular_velocity[body].cross(arm)
    }

    /// Touches of spheres with patches after [`join`], from contacts sorted by sphere: per contact its index and its touch, `None` if
    /// another touch stands for it. Other contacts are left out. `side` gives the side of a patch that the sphere belongs to, 0 if unknown.
    pub fn joined_touches(
        &self,
        pairs: &[(u32, u32)],
        side: impl Fn((u32, u32)) -> i8,
    ) -> Vec<(usize, Option<Touch>)> {
        let mut found = Vec::new();
        let mut first = 0;
        for group in pairs.chunk_by(|one, other| self.is_of_group(*one, *other)) {
            let (a, b) = group[0];
            if let (Some((mesh, _)), Some(ball)) = (self.patches_with(b), self.ball(a)) {
                let centre = self.sphere_centre(ball);
                let mut touches = self.touch_patches(a, group.iter().map(|pair| pair.1), f64::INFINITY);
                let mesh = &self.meshes[mesh];
                let joined: Vec<JoinedTouch> = if mesh.is_solid {
                    let known = group.iter().map(|&pair| SolidTouch { side: side(pair), crossed: None });
                    let joined = join_solid(mesh, &touches, &known.collect::<Vec<_>>(), ball.contact_radius);
                    joined.into_iter().map(|(joined, _)| joined).collect()
                } else {
                    for (touch, &pair) in touches.iter_mut().zip(group) {
                        touch.is_behind = touch.nearest.is_some_and(|nearest| {
                            f64::from(side(pair)) * nearest.height < 0.0
                                && nearest.distance < ball.contact_radius
                        });
                    }
                    (0..touches.len()).map(|i| join(mesh, &touches, i)).collect()
                };
                let touch = |(i, joined): (usize, JoinedTouch)| {
                    let at = |(distance, normal)| Touch::at(centre, ball.radius, distance, normal);
                    (first + i, joined.part.map(at))
                };
                found.extend(joined.into_iter().enumerate().map(touch));
            }
            first += group.len();
        }
        found
    }

    /// Whether two contacts, as pairs of shapes, belong to the same sphere and to patches of the same mesh.
    pub fn is_of_group(&self, (a, b): (u32, u32), (other_a, other_b): (u32, u32)) -> bool {
        let patches = self.patches_with(b).map(|(_, patches)| patches);
        a == other_a && patches.is_some_and(|patches| patches.contains(&other_b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::mesh::samples::sheet;
    use crate::model::{Boundary, Materials, Motion, Side};

    /// A turned boundary with every form, far from the origin of its body, in a world that is periodic along x.
    fn world() -> World {
        let mut world = World::new(DVec3::ZERO, Materials::new(Vec::new()));
        world.periodic.length = DVec3::new(4.0, 0.0, 0.0);
        let (radius, length) = (0.3, 0.8);
        let wall = |side| Form::Wall { bottom_radius: 0.2, top_radius: 0.5, length, side };
        let forms = [
            Form::Plane,
            Form::Disc { radius },
            wall(Side::Inside),
            wall(Side::Outside),
            Form::Solid { bottom_radius: 0.1, top_radius: 0.4, length },
            Form::Capsule { radius, length },
            Form::Box { half: DVec3::new(0.1, 0.2, 0.6) },
            Form::Sphere { radius },
        ];
        let turned = DQuat::from_scaled_axis(DVec3::new(0.3, -0.8, 0.5));
        let place = DVec3::new(1.8, 0.3, -0.2);
        let mut surfaces: Vec<Surface> =
            forms.iter().map(|&form| Surface::new(place, turned, form, 0)).collect();
        surfaces.extend(world.mesh_surfaces(Arc::new(sheet(0.7, 2)), place, turned, 0));
        let orientation = DQuat::from_rotation_z(0.4);
        let boundary =
            Boundary { name: "all".into(), position: DVec3::X, orientation, motion: Motion::Fixed };
        world.add_boundary(boundary, surfaces);
        world
    }

    /// Surfaces found near copies of a ball at points of a lattice in a cube, with these boxes.
    fn found(world: &World, boxes: &[SurfaceBox], ball: &Sphere) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        for i in 0..20_usize.pow(3) {
            let place = 0.2 * DVec3::new((i % 20) as f64, (i / 20 % 20) as f64, (i / 400) as f64) - 2.0;
            world.for_each_surface_near(boxes, place, ball, 0.02, |surface, _| found.push((i, surface)));
        }
        found
    }

    #[test]
    fn boxes_around_surfaces_hide_none_that_is_near() {
        let world = world();
        let with = |change: fn(SurfaceBox) -> SurfaceBox, ball: &Sphere| {
            found(&world, &world.surface_boxes().into_iter().map(change).collect::<Vec<_>>(), ball)
        };
        // A grain, and the vertex of a box, which a thin wall holds from behind up to the contact radius.
        let vertex = Sphere { radius: 0.0, contact_radius: 0.3, ..Sphere::alone(0.0) };
        for ball in [Sphere::alone(0.12), vertex] {
            let all = with(|around| SurfaceBox { half: DVec3::INFINITY, ..around }, &ball);
            let is_found = |surface: u32| all.iter().any(|(_, near)| *near == surface);
            // For the vertex the disc and the two walls are enough: only there its contact radius counts.
            let surfaces = if ball.radius > 0.0 { 0..world.surfaces.len() as u32 } else { 1..4 };
            assert!(surfaces.into_iter().all(is_found));
            assert_eq!(with(|around| around, &ball), all);
            // Counter-check: boxes that are too small are noticed.
            assert!(with(|around| SurfaceBox { half: 0.2 * around.half, ..around }, &ball).len() < all.len());
        }
    }
}
