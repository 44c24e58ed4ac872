//! Outlines of boundaries at a time: facets and edges.
//!
//! Planes are infinite: they are drawn as far as the room of the scene, and up to the other planes of the same boundary, so that a box of
//! half spaces looks like a box.

mod extent;

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

pub use extent::Extent;

use crate::model::{Boundary, Form, Mesh, Motion, Surface, World};

/// Margin by which planes are drawn beyond the extent of the scene, over its largest edge \[-\].
pub const ROOM: f64 = 0.03;
/// Margin where only the first state of a run is known, over the largest edge \[-\]: its grains will spread.
pub const ROOM_TO_COME: f64 = 1.0;

/// Number of sides of the polygon that stands for a circle.
const SIDES: usize = 96;
/// Number of straight lines along the wall of a cylinder: they show how it turns.
const RIBS: usize = 8;
/// Largest and smallest number of rings of facets from pole to pole of a sphere.
const RINGS: [usize; 2] = [32, 6];
/// Largest number of facets of all spheres together, as long as the smallest number of rings allows it.
const SPHERE_FACETS: usize = 100_000;

/// Facets and edges of boundaries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outline {
    /// Convex flat polygons \[m\].
    pub facets: Vec<Vec<DVec3>>,
    /// Index of the surface of each facet; for a mesh that of its first patch.
    pub surfaces: Vec<usize>,
    /// Ends of lines \[m\].
    pub edges: Vec<[DVec3; 2]>,
}

/// Half space: all places with `normal · place <= offset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HalfSpace {
    /// Normal, pointing out of the half space.
    pub normal: DVec3,
    /// Distance of the face from the origin along the normal \[m\].
    pub offset: f64,
}

impl HalfSpace {
    /// Distance of a place outside of the half space \[m\]; negative inside.
    pub fn outside(&self, place: DVec3) -> f64 {
        self.normal.dot(place) - self.offset
    }

    /// Part of a convex polygon that lies in the half space; empty when none does.
    pub fn clip(&self, polygon: &[DVec3]) -> Vec<DVec3> {
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (i, &corner) in polygon.iter().enumerate() {
            let next = polygon[(i + 1) % polygon.len()];
            let (here, there) = (self.outside(corner), self.outside(next));
            if here <= 0.0 {
                kept.push(corner);
            }
            if (here < 0.0 && there > 0.0) || (here > 0.0 && there < 0.0) {
                kept.push(corner.lerp(next, here / (here - there)));
            }
        }
        if kept.len() < 3 { Vec::new() } else { kept }
    }

    /// Part of a line that lies in the half space; `None` when none does.
    pub fn clip_line(&self, [from, to]: [DVec3; 2]) -> Option<[DVec3; 2]> {
        let (here, there) = (self.outside(from), self.outside(to));
        let crossing = || from.lerp(to, here / (here - there));
        match (here <= 0.0, there <= 0.0) {
            (true, true) => Some([from, to]),
            (true, false) => Some([from, crossing()]),
            (false, true) => Some([crossing(), to]),
            (false, false) => None,
        }
    }
}

/// Room of a scene: the box as far as which its planes are drawn.
#[derive(Debug, Clone, Copy, serde::Serialize, serde::Deserialize)]
pub struct DrawnRoom(Extent);

impl DrawnRoom {
    /// Room of a scene of which nothing has been seen.
    pub const EMPTY: DrawnRoom = DrawnRoom(Extent::NOTHING);

    /// Room of a run that starts from `world`, with the grains that will come from the boxes `sources` (corners \[m\]). The room does not
    /// change while the run goes on.
    pub fn of_run(world: &World, sources: impl IntoIterator<Item = (DVec3, DVec3)>) -> DrawnRoom {
        let poses: Vec<_> = world.boundaries.iter().map(|boundary| boundary.pose_at(0.0)).collect();
        let grains = world.spheres.iter().map(|sphere| (world.sphere_centre(sphere), sphere.radius));
        let room = DrawnRoom::EMPTY.with_balls(grains).with_boundaries(world, &poses);
        let room = sources.into_iter().fold(room, |room, (min, max)| room.with_source(min, max, world));
        DrawnRoom(room.seen().grown(ROOM_TO_COME))
    }

    /// Enlarges the room by balls of these centres and radii \[m\].
    #[must_use]
    pub fn with_balls(self, balls: impl IntoIterator<Item = (DVec3, f64)>) -> DrawnRoom {
        DrawnRoom(balls.into_iter().fold(self.0, |room, (place, radius)| room.with(place, radius)))
    }

    /// Enlarges the room by the finite boundaries in these poses.
    #[must_use]
    pub fn with_boundaries(self, world: &World, poses: &[(DVec3, DQuat)]) -> DrawnRoom {
        let corners = bounded(world, poses).facets.into_iter().flatten();
        self.with_balls(corners.map(|corner| (corner, 0.0)))
    }

    /// Enlarges the room by a box in which grains will appear \[m\], and by the ground that they may fall on.
    #[must_use]
    pub fn with_source(self, min: DVec3, max: DVec3, world: &World) -> DrawnRoom {
        self.with_balls(around_source(world, Extent { min, max }).into_iter().map(|place| (place, 0.0)))
    }

    /// Outline of the boundaries in these poses; planes are drawn a little beyond the room.
    pub fn outline(&self, world: &World, poses: &[(DVec3, DQuat)]) -> Outline {
        outline(world, poses, &self.seen().grown(ROOM))
    }

    /// Extent of the room; a box around the origin where nothing has been seen.
    fn seen(&self) -> Extent {
        if self.0.is_nothing() { Extent::NOTHING.with(DVec3::ZERO, 1.0) } else { self.0 }
    }

    /// Least and greatest coordinates of the room \[m\].
    pub fn corners(&self) -> [DVec3; 2] {
        [self.0.min, self.0.max]
    }
}

/// Whether some boundaries change their place with time.
pub fn boundaries_move(world: &World) -> bool {
    let moves = |boundary: &Boundary| !matches!(boundary.motion, Motion::Fixed | Motion::Belt(_));
    world.boundaries.iter().any(moves)
}

/// Surface of a boundary with its pose in the scene.
#[derive(Clone, Copy)]
struct PlacedSurface<'a> {
    index: usize,
    surface: &'a Surface,
    origin: DVec3,
    frame: DQuat,
}

impl PlacedSurface<'_> {
    fn place(&self, local: DVec3) -> DVec3 {
        self.origin + self.frame * local
    }

    /// Half space on the side of a plane where its grains are.
    fn open_side(&self) -> HalfSpace {
        let normal = -(self.frame * DVec3::Z);
        HalfSpace { normal, offset: normal.dot(self.origin) }
    }
}

fn placed<'a>(world: &'a World, poses: &'a [(DVec3, DQuat)]) -> impl Iterator<Item = PlacedSurface<'a>> {
    world.surfaces.iter().enumerate().map(|(index, surface)| {
        let (position, orientation) = poses[surface.body as usize];
        PlacedSurface {
            index,
            surface,
            origin: position + orientation * surface.position,
            frame: orientation * surface.orientation,
        }
    })
}

/// Outline of all boundaries in these poses; planes are drawn as far as `room`.
pub fn outline(world: &World, poses: &[(DVec3, DQuat)], room: &Extent) -> Outline {
    let mut outline = bounded(world, poses);
    let surfaces: Vec<PlacedSurface<'_>> = placed(world, poses).collect();
    let planes = || surfaces.iter().filter(|placed| placed.surface.form == Form::Plane);
    for plane in planes() {
        let is_neighbour = |other: &&PlacedSurface<'_>| {
            other.surface.body == plane.surface.body && !std::ptr::eq(other.surface, plane.surface)
        };
        let neighbours = planes().filter(is_neighbour).map(PlacedSurface::open_side);
        let polygon = walls(room)
            .into_iter()
            .chain(neighbours)
            .fold(square(plane, room), |polygon, half| half.clip(&polygon));
        outline.add_facet(polygon);
        outline.finish_surface(plane.index);
    }
    outline
}

/// Outline of all boundaries except planes, in these poses.
pub fn bounded(world: &World, poses: &[(DVec3, DQuat)]) -> Outline {
    let mut outline = Outline::default();
    let rings = rings(world);
    for surface in placed(world, poses) {
        match surface.surface.form {
            Form::Plane => {}
            Form::Disc { radius } => outline.add_disc(&surface, radius, 0.0),
            Form::Wall { bottom_radius, top_radius, length, .. } => {
                outline.add_wall(&surface, bottom_radius, top_radius, length);
            }
            Form::Solid { bottom_radius, top_radius, length } => {
                outline.add_wall(&surface, bottom_radius, top_radius, length);
                outline.add_disc(&surface, bottom_radius, -0.5 * length);
                outline.add_disc(&surface, top_radius, 0.5 * length);
            }
            Form::Capsule { radius, length } => {
                outline.add_wall(&surface, radius, radius, length);
                for end in [-0.5, 0.5] {
                    let end = PlacedSurface { origin: surface.place(end * length * DVec3::Z), ..surface };
                    outline.add_sphere(&end, radius, rings);
                }
            }
            Form::Box { half } => outline.add_box(&surface, half),
            Form::Sphere { radius } => outline.add_sphere(&surface, radius, rings),
            // The first patch of a mesh stands for the whole mesh.
            Form::Patch { mesh, patch: 0 } => outline.add_mesh(&surface, &world.meshes[mesh]),
            Form::Patch { .. } => {}
        }
        outline.finish_surface(surface.index);
    }
    outline
}

/// Number of rings of each sphere: fewer where there are many spheres, as in a wall that is made of spheres.
fn rings(world: &World) -> usize {
    let balls = |surface: &Surface| match surface.form {
        Form::Sphere { .. } => 1,
        Form::Capsule { .. } => 2,
        _ => 0,
    };
    let count: usize = world.surfaces.iter().map(balls).sum();
    let [most, fewest] = RINGS;
    // Each ring has three times as many facets as the sphere has rings.
    ((SPHERE_FACETS / (3 * count.max(1))).isqrt()).clamp(fewest, most)
}

/// Corners of a box in which grains will appear, and places on the ground around the feet of these corners as far as the grains may spread:
/// half as far as they fall \[m\].
pub fn around_source(world: &World, source: Extent) -> Vec<DVec3> {
    let mut places: Vec<DVec3> = source.corners().collect();
    for corner in source.corners() {
        for surface in world.surfaces.iter().filter(|surface| surface.form == Form::Plane) {
            let Some(touch) = world.touch_surface(surface, corner, 0.0) else { continue };
            let (fall, normal) = (touch.gap.max(0.0), touch.normal);
            let (foot, aside) = (corner - fall * normal, normal.any_orthonormal_vector());
            let ways = [aside, -aside, normal.cross(aside), -normal.cross(aside)];
            places.extend(ways.map(|way| foot + 0.5 * fall * way));
        }
    }
    places
}

/// Half spaces whose common part is the room.
fn walls(room: &Extent) -> [HalfSpace; 6] {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    std::array::from_fn(|i| match i < 3 {
        true => HalfSpace { normal: axes[i], offset: room.max[i] },
        false => HalfSpace { normal: -axes[i - 3], offset: -room.min[i - 3] },
    })
}

/// Square in a plane that reaches beyond the room.
fn square(plane: &PlacedSurface<'_>, room: &Extent) -> Vec<DVec3> {
    let reach = (room.max - room.min).length();
    let centre = plane.frame.conjugate() * (0.5 * (room.min + room.max) - plane.origin);
    let corner = |x: f64, y: f64| plane.place(DVec3::new(centre.x + x * reach, centre.y + y * reach, 0.0));
    vec![corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)]
}

fn circle(radius: f64, z: f64, side: usize) -> DVec3 {
    circle_of(SIDES, radius, z, side)
}

fn circle_of(sides: usize, radius: f64, z: f64, side: usize) -> DVec3 {
    let (sin, cos) = (TAU * (side % sides) as f64 / sides as f64).sin_cos();
    DVec3::new(radius * cos, radius * sin, z)
}

impl Outline {
    /// Corners of the triangles that the facets are made of, and index of the surface of each triangle.
    pub fn triangles(&self) -> impl Iterator<Item = ([DVec3; 3], usize)> + '_ {
        self.facets.iter().zip(&self.surfaces).flat_map(|(facet, &surface)| {
            facet.windows(2).skip(1).map(move |pair| ([facet[0], pair[0], pair[1]], surface))
        })
    }

    /// Assigns the facets that have been added since the previous surface to this surface.
    fn finish_surface(&mut self, index: usize) {
        self.surfaces.resize(self.facets.len(), index);
    }

    /// Adds a facet and the edges around it.
    fn add_facet(&mut self, polygon: Vec<DVec3>) {
        let edges = (0..polygon.len()).map(|i| [polygon[i], polygon[(i + 1) % polygon.len()]]);
        self.edges.extend(edges);
        if !polygon.is_empty() {
            self.facets.push(polygon);
        }
    }

    fn add_disc(&mut self, surface: &PlacedSurface<'_>, radius: f64, z: f64) {
        if radius > 0.0 {
            self.add_facet((0..SIDES).map(|side| surface.place(circle(radius, z, side))).collect());
        }
    }

    fn add_wall(&mut self, surface: &PlacedSurface<'_>, bottom_radius: f64, top_radius: f64, length: f64) {
        let bottom = |side| surface.place(circle(bottom_radius, -0.5 * length, side));
        let top = |side| surface.place(circle(top_radius, 0.5 * length, side));
        for side in 0..SIDES {
            self.facets.push(vec![bottom(side), bottom(side + 1), top(side + 1), top(side)]);
            self.edges.push([bottom(side), bottom(side + 1)]);
            self.edges.push([top(side), top(side + 1)]);
        }
        let ribs = (0..RIBS).map(|rib| rib * SIDES / RIBS);
        self.edges.extend(ribs.map(|side| [bottom(side), top(side)]));
    }

    fn add_box(&mut self, surface: &PlacedSurface<'_>, half: DVec3) {
        for axis in 0..3 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            for end in [-1.0, 1.0] {
                let corner = |a: f64, b: f64| {
                    let mut local = DVec3::ZERO;
                    (local[axis], local[u], local[v]) = (end * half[axis], a * half[u], b * half[v]);
                    surface.place(local)
                };
                let [a, b, c, d] =
                    [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
                self.facets.push(vec![a, b, c, d]);
                self.edges.extend([[a, b], [c, d]]);
            }
        }
    }

    fn add_mesh(&mut self, surface: &PlacedSurface<'_>, mesh: &Mesh) {
        let corners = |triangle| mesh.corners(triangle).map(|corner| surface.place(corner)).to_vec();
        self.facets.extend((0..mesh.triangles.len()).map(corners));
        let ends = |edge: &[u32; 2]| edge.map(|vertex| surface.place(mesh.vertices[vertex as usize]));
        self.edges.extend(mesh.sharp_edges.iter().map(ends));
    }

    fn add_sphere(&mut self, surface: &PlacedSurface<'_>, radius: f64, rings: usize) {
        let sides = 3 * rings;
        let point = |ring: usize, side: usize| {
            let (sin, cos) = (0.5 * TAU * ring as f64 / rings as f64).sin_cos();
            surface.place(circle_of(sides, radius * sin, -radius * cos, side))
        };
        for ring in 0..rings {
            for side in 0..sides {
                let corners = [(ring, side), (ring, side + 1), (ring + 1, side + 1), (ring + 1, side)];
                self.facets.push(corners.map(|(ring, side)| point(ring, side)).to_vec());
            }
        }
        for side in 0..sides {
            self.edges.push([point(rings / 2, side), point(rings / 2, side + 1)]);
        }
        for ring in 0..rings {
            for side in (0..4).map(|quarter| quarter * sides / 4) {
                self.edges.push([point(ring, side), point(ring + 1, side)]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Boundary, Motion, Side};

    fn world(surfaces: impl IntoIterator<Item = Surface>) -> (World, Vec<(DVec3, DQuat)>) {
        let mut world = World::default();
        let (name, position, orientation) = ("wall".to_owned(), DVec3::ZERO, DQuat::IDENTITY);
        world.add_boundary(Boundary { name, position, orientation, motion: Motion::Fixed }, surfaces);
        let poses = world.boundaries.iter().map(|boundary| boundary.pose_at(0.0)).collect();
        (world, poses)
    }

    fn area(polygon: &[DVec3]) -> f64 {
        let fan = polygon.windows(2).map(|pair| (pair[0] - polygon[0]).cross(pair[1] - polygon[0]));
        0.5 * fan.sum::<DVec3>().length()
    }

    #[test]
    fn a_box_of_half_spaces_looks_like_a_box() {
        let axes = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z];
        let wall =
            |axis: DVec3| Surface::new(-0.5 * axis, DQuat::from_rotation_arc(DVec3::Z, axis), Form::Plane, 0);
        let (world, poses) = world(axes.map(wall));
        let room = Extent { min: DVec3::splat(-2.0), max: DVec3::splat(2.0) };
        let outline = outline(&world, &poses, &room);
        let areas: Vec<f64> = outline.facets.iter().map(|facet| area(facet)).collect();
        // Four walls that go on to the top of the room, and the floor.
        for (found, expected) in areas.iter().zip([2.5, 2.5, 2.5, 2.5, 1.0]) {
            assert!((found - expected).abs() < 1e-12, "{areas:?}");
        }
    }

    #[test]
    fn the_facets_of_round_bodies_have_their_area() {
        let (bottom_radius, top_radius) = (0.5, 0.5);
        let wall = Form::Wall { bottom_radius, top_radius, length: 2.0, side: Side::Inside };
        let (world, poses) = world([
            Surface::new(DVec3::ZERO, DQuat::IDENTITY, wall, 0),
            Surface::new(DVec3::X, DQuat::IDENTITY, Form::Sphere { radius: 0.5 }, 0),
        ]);
        let outline = bounded(&world, &poses);
        let total: f64 = outline.facets.iter().map(|facet| area(facet)).sum();
        let expected = TAU * 0.5 * 2.0 + 2.0 * TAU * 0.25;
        // A polygon of n sides has the share 1 - (2π/n)²/6 of the circle; 1/n² twice for rings and sides.
        assert!((total / expected - 1.0).abs() < 4.0 / (RINGS[0] * RINGS[0]) as f64, "{total} of {expected}");
    }

    #[test]
    fn clipping_keeps_what_lies_behind_the_face() {
        let half = HalfSpace { normal: DVec3::X, offset: 0.25 };
        let square = [DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        assert!((area(&half.clip(&square)) - 0.25).abs() < 1e-15);
        assert_eq!(half.clip_line([DVec3::ZERO, DVec3::X]), Some([DVec3::ZERO, 0.25 * DVec3::X]));
        assert_eq!(half.clip_line([DVec3::X, 2.0 * DVec3::X]), None);
    }
}
