//! Room for new grains: places at which nothing solid is.

use glam::{DQuat, DVec3};

use crate::model::{Form, Region, Sphere, SurfaceBox, World};

/// Number of horizontal lines along which walls on both sides are looked for.
const LINES: usize = 8;

/// Overlap that rounding may leave where a grain just fits, over its radius \[-\].
const ROUNDING: f64 = 1e-9;

/// Room among the boundaries of a world, at their present places, for grains that appear in a region.
///
/// A place is taken if a sphere there overlaps a boundary, or lies inside a solid one: behind a plane, in a box, cylinder, capsule or
/// sphere, or in a closed mesh. A closed mesh that is declared a sheet is an obstacle or a vessel: grains appear on the side of it on
/// which most of the region is. Open meshes and thin walls may have grains on both sides. If walls surround the centre of the
/// region, they also bound it: where they stand on both sides of the centre along some horizontal line, a place needs walls on both
/// sides along one of these lines, too.
pub struct FreeRoom<'a> {
    world: &'a World,
    /// Boxes around the surfaces that reach into the region.
    near: Vec<SurfaceBox>,
    /// Boxes around the surfaces that horizontal lines through the region may meet.
    walls: Vec<SurfaceBox>,
    /// Upwards.
    up: DVec3,
    /// First surfaces of the closed meshes near the region, and whether grains appear inside of them.
    closed: Vec<(usize, bool)>,
    /// Horizontal lines along which walls stand on both sides of the centre of the region, as vectors longer than the scene \[m\].
    lines: Vec<DVec3>,
}

impl<'a> FreeRoom<'a> {
    /// The room in a region for spheres of up to `radius` \[m\].
    pub fn within(world: &'a World, region: &Region, radius: f64) -> FreeRoom<'a> {
        let (low, high) = region.bounds();
        let corners = [low - radius, high + radius];
        let all = world.surface_boxes();
        let near: Vec<SurfaceBox> =
            all.iter().filter(|around| around.may_reach(world, corners)).cloned().collect();
        let closed =
            near.iter().filter_map(|around| Some((around.first(), has_room_inside(world, around, region)?)));
        let closed = closed.collect();
        let up = (-world.gravity).try_normalize().unwrap_or(DVec3::Z);
        let mut walls = all;
        walls.retain(|around| is_level_with(around.corners(world), corners, up) || !world.periodic.is_none());
        let mut room = FreeRoom { world, near, walls, up, closed, lines: Vec::new() };
        room.lines = room.lines_around(region);
        room
    }

    /// Whether a sphere \[m\] has no room.
    pub fn is_taken(&self, centre: DVec3, radius: f64) -> bool {
        self.overlaps(centre, radius)
            || self.closed.iter().any(|&(surface, has_room_inside)| {
                self.world.is_inside(&self.world.surfaces[surface], centre) != has_room_inside
            })
            || self.is_beyond_walls(centre)
    }

    fn overlaps(&self, centre: DVec3, radius: f64) -> bool {
        let mut overlaps = false;
        let (ball, gap) = (Sphere::alone(radius), -ROUNDING * radius);
        self.world.for_each_surface_near(&self.near, centre, &ball, gap, |_, _| overlaps = true);
        overlaps
    }

    /// Box around a solid mesh with a point \[m\] inside; `boxes` are those around surfaces near the point. Closed meshes that are declared
    /// sheets may be vessels.
    pub fn mesh_around<'b>(world: &World, boxes: &'b [SurfaceBox], point: DVec3) -> Option<&'b SurfaceBox> {
        let is_inside = |around: &&SurfaceBox| {
            let surface = &world.surfaces[around.first()];
            world.is_solid_mesh(surface) && world.is_inside(surface, point)
        };
        boxes.iter().find(is_inside)
    }

    fn is_beyond_walls(&self, point: DVec3) -> bool {
        !self.lines.is_empty() && !self.lines.iter().any(|&line| self.has_walls_along(line, point))
    }

    /// Whether walls stand on both sides of a point along a line.
    fn has_walls_along(&self, line: DVec3, point: DVec3) -> bool {
        let has_wall = |path: DVec3| {
            self.walls.iter().any(|around| {
                let surface = &self.world.surfaces[around.first()];
                self.world.meets(surface, point, path)
            })
        };
        has_wall(line) && has_wall(-line)
    }

    /// The lines along which walls stand on both sides of the centre of a region; none if it is inside a solid.
    fn lines_around(&self, region: &Region) -> Vec<DVec3> {
        let (world, centre) = (self.world, region.centre());
        let is_solid = |around: &SurfaceBox| world.is_inside(&world.surfaces[around.first()], centre);
        if self.near.iter().any(is_solid) {
            return Vec::new();
        }
        let level = DQuat::from_rotation_arc(DVec3::Z, self.up);
        let reach = self.reach_from(region);
        let line = |i: usize| {
            // Half a part aside of the axes, along which edges of meshes often lie.
            let angle = std::f64::consts::PI * (i as f64 + 0.5) / LINES as f64;
            reach * (level * DVec3::new(angle.cos(), angle.sin(), 0.0))
        };
        (0..LINES).map(line).filter(|&line| self.has_walls_along(line, centre)).collect()
    }

    /// Length beyond which no wall stands as seen from any point of a region \[m\]; of planes, their points count.
    fn reach_from(&self, region: &Region) -> f64 {
        let (low, high) = region.bounds();
        let around = |[low, high]: [DVec3; 2], around: &SurfaceBox| {
            let point = self.world.origin_of(&self.world.surfaces[around.first()]);
            let [from, to] = around.corners(self.world).map(|it| if it.is_finite() { it } else { point });
            [low.min(from), high.max(to)]
        };
        let [low, high] = self.walls.iter().fold([low, high], around);
        2.0 * (high - low).length()
    }
}

/// Whether two boxes have heights in common; always of an infinite one.
fn is_level_with(one: [DVec3; 2], other: [DVec3; 2], up: DVec3) -> bool {
    let [(middle, half), (other_middle, other_half)] =
        [one, other].map(|[low, high]| (low.midpoint(high), 0.5 * (high - low)));
    !half.is_finite() || (middle - other_middle).dot(up).abs() <= (half + other_half).dot(up.abs())
}

/// Whether grains that appear in a region appear inside the closed mesh of this box; `None` for another form.
fn has_room_inside(world: &World, around: &SurfaceBox, region: &Region) -> Option<bool> {
    /// Places looked at along each axis.
    const PLACES: u32 = 5;
    let surface = &world.surfaces[around.first()];
    let Form::Patch { mesh, .. } = surface.form else { return None };
    if !world.meshes[mesh].defects.is_closed() {
        return None;
    }
    let (low, high) = region.bounds();
    let share = |i: u32| (f64::from(i) + 0.5) / f64::from(PLACES);
    let place = |i: u32| {
        let shares = DVec3::new(share(i % PLACES), share(i / PLACES % PLACES), share(i / PLACES / PLACES));
        low + (high - low) * shares
    };
    let places = (0..PLACES.pow(3)).map(place).filter(|&place| region.contains(place, 0.0, 0.0));
    let (inside, outside): (Vec<DVec3>, Vec<DVec3>) =
        places.partition(|&place| world.is_inside(surface, place));
    Some(!world.meshes[mesh].is_solid && inside.len() > outside.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::law::pair::Material;
    use crate::model::{Boundary, Materials, Mesh, Motion, Side, Surface};

    fn world_of(forms: &[(Form, DVec3)]) -> World {
        let stone = Material {
            name: "stone".into(),
            density: 2500.0,
            youngs_modulus: 1e7,
            poisson_ratio: 0.25,
            restitution: 0.0,
            friction: 0.5,
            rolling_resistance: 0.0,
            damping: 0.0,
            pull_off_force: 0.0,
            work_of_adhesion: 0.0,
            conductivity: 0.0,
            heat_capacity: 0.0,
        };
        let mut world = World::new(-9.81 * DVec3::Z, Materials::new(vec![stone]));
        for (i, &(form, position)) in forms.iter().enumerate() {
            let boundary = Boundary {
                name: format!("wall-{i}"),
                position,
                orientation: DQuat::IDENTITY,
                motion: Motion::Fixed,
            };
            world.add_boundary(boundary, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)]);
        }
        world
    }

    fn box_of(min: [f64; 3], max: [f64; 3]) -> Region {
        Region::Box { min: min.into(), max: max.into() }
    }

    const BIN: Form = Form::Wall { bottom_radius: 1.0, top_radius: 1.0, length: 2.0, side: Side::Inside };

    #[test]
    fn walls_around_the_centre_of_a_region_bound_it() {
        let floor = (Form::Plane, -DVec3::Z);
        let world = world_of(&[(BIN, DVec3::ZERO), floor]);
        let room = FreeRoom::within(&world, &box_of([-1.0, -1.0, -0.5], [1.0, 1.0, 0.5]), 0.1);
        let is_free = |x: f64, y: f64| !room.is_taken(DVec3::new(x, y, 0.2), 0.05);
        assert!(is_free(0.0, 0.0) && is_free(0.6, 0.6) && is_free(-0.9, 0.0));
        // 0.95² + 0.95² is beyond the radius by more than the sphere.
        assert!(!is_free(0.95, 0.95) && !is_free(-0.95, 0.95) && !is_free(0.97, 0.0));
        // A baffle leaves room on both sides of it, and the walls bound both.
        let baffle = (Form::Box { half: DVec3::new(0.01, 1.0, 1.0) }, DVec3::ZERO);
        let world = world_of(&[(BIN, DVec3::ZERO), floor, baffle]);
        let room = FreeRoom::within(&world, &box_of([-1.0, -1.0, -0.5], [1.2, 1.0, 0.5]), 0.1);
        let is_free = |x: f64| !room.is_taken(DVec3::new(x, 0.0, 0.2), 0.05);
        assert!(is_free(-0.5) && is_free(0.5) && !is_free(1.15));
    }

    #[test]
    fn a_closed_sheet_is_a_vessel_or_an_obstacle_by_where_most_of_the_region_is_and_a_solid_never_a_vessel() {
        let cube = || Mesh::new("cube", &cube_of(0.5)).expect("a mesh");
        assert_eq!(room_of_mesh(cube().into_sheet()), ([true, false], [false, true]));
        assert_eq!(room_of_mesh(cube()), ([false, true], [false, true]));
    }

    /// Whether there is room inside and outside of a cube of triangles, for a region that is hardly larger and for a large one.
    fn room_of_mesh(cube: Mesh) -> ([bool; 2], [bool; 2]) {
        let mut world = world_of(&[]);
        let cube = Arc::new(cube);
        let patches = world.mesh_surfaces(cube, DVec3::ZERO, DQuat::IDENTITY, 0);
        let boundary = Boundary {
            name: "cube".into(),
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            motion: Motion::Fixed,
        };
        world.add_boundary(boundary, patches);
        let (inside, outside) = (DVec3::new(0.1, 0.2, 0.0), DVec3::new(0.6, 0.6, 0.0));
        let is_free = |half: f64| {
            let room = FreeRoom::within(&world, &box_of([-half; 3], [half; 3]), 0.05);
            [inside, outside].map(|place| !room.is_taken(place, 0.05))
        };
        (is_free(0.55), is_free(1.0))
    }

    /// Triangles of a cube of this half edge about the origin.
    fn cube_of(half: f64) -> Vec<[DVec3; 3]> {
        let face = |axis: usize, end: f64| {
            let corner = |a: f64, b: f64| {
                let mut place = DVec3::ZERO;
                (place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]) = (end, a * end, b);
                half * place
            };
            let [a, b, c, d] = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
            [[a, b, c], [a, c, d]]
        };
        (0..3).flat_map(|axis| [face(axis, -1.0), face(axis, 1.0)]).flatten().collect()
    }

    #[test]
    fn a_region_over_the_rim_or_about_a_solid_is_not_bounded() {
        let world = world_of(&[(BIN, DVec3::ZERO)]);
        let room = FreeRoom::within(&world, &box_of([-2.0, -2.0, 1.5], [2.0, 2.0, 2.0]), 0.1);
        assert!(!room.is_taken(DVec3::new(1.8, 1.8, 1.7), 0.1));
        let block = (Form::Box { half: DVec3::splat(0.5) }, DVec3::ZERO);
        let world = world_of(&[block]);
        let room = FreeRoom::within(&world, &box_of([-1.0; 3], [1.0; 3]), 0.1);
        assert!(room.is_taken(DVec3::ZERO, 0.1) && room.is_taken(DVec3::new(0.55, 0.0, 0.0), 0.1));
        assert!(!room.is_taken(DVec3::new(0.8, 0.8, 0.8), 0.1));
    }
}
