//! Straight paths through solid forms, and past surfaces and meshes. Twin for the GPU, of solid forms: `shaders/shared/passage.wgsl`.

use glam::DVec3;

use super::mesh::Mesh;
use super::{Form, Surface, World};

/// Least component of a path along an axis, in place of zero \[m\].
const LEAST: f64 = 1e-20;

/// Part of a straight path, as shares of it from 0 to 1 \[-\]: where the part begins, and where it ends.
pub type Part = [f64; 2];

/// The whole path.
const WHOLE: Part = [0.0, 1.0];

/// Common part of two parts of a path; `None` if they have no length in common.
fn common(one: Part, other: Part) -> Option<Part> {
    let both = [one[0].max(other[0]), one[1].min(other[1])];
    (both[0] < both[1]).then_some(both)
}

/// Part of a path on which a coordinate that goes from `start` by `along` \[m\] lies between -`half` and `half`.
fn between_faces(start: f64, along: f64, half: f64) -> Part {
    let along = if along.abs() < LEAST { LEAST } else { along };
    let (one, other) = ((-half - start) / along, (half - start) / along);
    [one.min(other), one.max(other)]
}

/// A quadratic function a s² + 2 b s + c of the share s of a path.
#[derive(Clone, Copy)]
struct Quadratic {
    a: f64,
    b: f64,
    c: f64,
}

impl Quadratic {
    /// Roots in ascending order; `None` without two of them. Of a linear function one is infinite.
    fn roots(&self) -> Option<Part> {
        let Quadratic { a, b, c } = *self;
        let discriminant = b * b - a * c;
        if discriminant <= 0.0 {
            return None;
        }
        let q = -(b + discriminant.sqrt().copysign(b));
        let (one, other) = (q / a, c / q);
        Some([one.min(other), one.max(other)])
    }

    /// The part of `within` on which the function is negative, where that is one part.
    fn negative(&self, within: Part) -> Option<Part> {
        let Some([low, high]) = self.roots() else {
            let is_negative = self.a < 0.0 || (self.a == 0.0 && self.c < 0.0);
            return is_negative.then_some(within);
        };
        if self.a >= 0.0 {
            return common(within, [low, high]);
        }
        common(within, [f64::NEG_INFINITY, low]).or_else(|| common(within, [high, f64::INFINITY]))
    }
}

/// Square of the distance from the axis less the square of the radius of a cone there \[m²\], along a path.
fn beyond_cone(start: DVec3, path: DVec3, bottom: f64, top: f64, length: f64) -> Quadratic {
    let slope = (top - bottom) / length;
    let (radius, growth) = (bottom + slope * (start.z + 0.5 * length), slope * path.z);
    let (flat, along) = (start.truncate(), path.truncate());
    Quadratic {
        a: along.length_squared() - growth * growth,
        b: flat.dot(along) - radius * growth,
        c: flat.length_squared() - radius * radius,
    }
}

impl Form {
    /// The part of a straight path from `start` by `path` \[m\] that lies inside this form, in its frame; `None` if none does, or the
    /// form is not solid. A path that only touches the surface is not inside.
    pub fn passage(&self, start: DVec3, path: DVec3) -> Option<Part> {
        let about = |centre: DVec3, radius: f64| {
            let from = start - centre;
            let (a, b) = (path.length_squared(), from.dot(path));
            Quadratic { a, b, c: from.length_squared() - radius * radius }.negative(WHOLE)
        };
        match *self {
            Form::Plane => Quadratic { a: 0.0, b: 0.5 * path.z, c: start.z }.negative(WHOLE),
            Form::Sphere { radius } => about(DVec3::ZERO, radius),
            Form::Box { half } => (0..3).try_fold(WHOLE, |part, axis| {
                common(part, between_faces(start[axis], path[axis], half[axis]))
            }),
            Form::Solid { bottom_radius, top_radius, length } => {
                let within = common(WHOLE, between_faces(start.z, path.z, 0.5 * length))?;
                beyond_cone(start, path, bottom_radius, top_radius, length).negative(within)
            }
            Form::Capsule { radius, length } => {
                let tube = Form::Solid { bottom_radius: radius, top_radius: radius, length };
                let ends = [-0.5, 0.5].map(|end| about(end * length * DVec3::Z, radius));
                let parts = ends.into_iter().chain([tube.passage(start, path)]).flatten();
                parts.reduce(|one, other| [one[0].min(other[0]), one[1].max(other[1])])
            }
            Form::Disc { .. } | Form::Wall { .. } | Form::Patch { .. } => None,
        }
    }

    /// Whether a straight path from `start` by `path` \[m\] meets the surface of this form, or lies inside of it, in its frame; never a
    /// patch.
    fn is_met(&self, start: DVec3, path: DVec3) -> bool {
        match *self {
            Form::Disc { radius } => {
                let along = -start.z / path.z;
                (0.0..=1.0).contains(&along) && (start + along * path).truncate().length() <= radius
            }
            Form::Wall { bottom_radius, top_radius, length, .. } => {
                let within = common(WHOLE, between_faces(start.z, path.z, 0.5 * length));
                let roots = beyond_cone(start, path, bottom_radius, top_radius, length).roots();
                let is_within = |[from, until]: Part, root: f64| from <= root && root <= until;
                within.zip(roots).is_some_and(|(within, roots)| roots.iter().any(|&s| is_within(within, s)))
            }
            _ => self.passage(start, path).is_some(),
        }
    }
}

impl Mesh {
    /// Number of triangles that a straight path from `start` by `path` \[m\] crosses.
    pub fn crossings(&self, start: DVec3, path: DVec3) -> usize {
        let (mut node, mut count) = (0, 0);
        while let Some(here) = self.nodes.get(node) {
            let (centre, half) = (here.low.midpoint(here.high), 0.5 * (here.high - here.low));
            // Flat boxes get some depth: the triangles in them are closed.
            let half = half + 1e-9 * (half.max_element() + centre.abs().max_element());
            if (Form::Box { half }).passage(start - centre, path).is_none() {
                node = here.escape as usize;
                continue;
            }
            let triangles = here.first as usize..(here.first + here.count) as usize;
            count += triangles.filter(|&triangle| is_crossed(self.corners(triangle), start, path)).count();
            node += 1;
        }
        count
    }

    /// Whether a point is inside a closed mesh.
    pub fn encloses(&self, point: DVec3) -> bool {
        // No edge of a usual mesh lies in this direction.
        const ASKEW: DVec3 = DVec3::new(0.532_781, 0.310_257, 0.787_333);
        let [low, high] = self.bounds();
        let is_near = point.cmpge(low).all() && point.cmple(high).all();
        is_near && self.crossings(point, 2.0 * (high - low).length() * ASKEW) % 2 == 1
    }
}

/// Whether a straight path crosses a triangle (Möller & Trumbore, J. Graphics Tools 2, 21 (1997)).
fn is_crossed([a, b, c]: [DVec3; 3], start: DVec3, path: DVec3) -> bool {
    let (one, other) = (b - a, c - a);
    let across = path.cross(other);
    let volume = one.dot(across);
    if volume == 0.0 {
        return false;
    }
    let from = start - a;
    let u = from.dot(across) / volume;
    let turned = from.cross(one);
    let (v, along) = (path.dot(turned) / volume, other.dot(turned) / volume);
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&along)
}

impl World {
    /// Whether a straight path from `start` by `path` \[m\] meets this surface, or the mesh that it is the first patch of, at the
    /// present pose of its boundary, in the periodic image that is nearest to the start.
    pub fn meets(&self, surface: &Surface, start: DVec3, path: DVec3) -> bool {
        let local = self.in_frame_of(surface, start);
        let turned = self.bodies.orientation[surface.body as usize] * surface.orientation;
        let along = turned.conjugate() * path;
        match surface.form {
            Form::Patch { mesh, .. } => self.meshes[mesh].crossings(local, along) > 0,
            form => form.is_met(local, along),
        }
    }

    /// Whether a surface is a patch of a solid mesh, which pushes outwards.
    pub fn is_solid_mesh(&self, surface: &Surface) -> bool {
        matches!(surface.form, Form::Patch { mesh, .. } if self.meshes[mesh].is_solid)
    }

    /// Whether a point \[m\] is inside the solid that this surface, or the mesh that it is the first patch of, is the surface of.
    pub fn is_inside(&self, surface: &Surface, point: DVec3) -> bool {
        let local = self.in_frame_of(surface, point);
        match surface.form {
            Form::Patch { mesh, .. } => {
                let mesh = &self.meshes[mesh];
                mesh.defects.is_closed() && mesh.encloses(local)
            }
            Form::Disc { .. } | Form::Wall { .. } => false,
            form => form.distance(local, 0.0).is_some_and(|(distance, _)| distance < 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mesh::samples::{cube, tube};
    use super::super::random::{Random, Stream};
    use super::*;

    /// Solid forms of all kinds, about 1 m large.
    fn solids() -> [Form; 7] {
        [
            Form::Plane,
            Form::Sphere { radius: 0.7 },
            Form::Box { half: DVec3::new(0.6, 0.02, 0.9) },
            Form::Solid { bottom_radius: 0.5, top_radius: 0.5, length: 1.2 },
            Form::Solid { bottom_radius: 0.9, top_radius: 0.0, length: 1.0 },
            Form::Solid { bottom_radius: 0.1, top_radius: 0.8, length: 0.3 },
            Form::Capsule { radius: 0.3, length: 0.9 },
        ]
    }

    /// Lines of three kinds: askew, along an axis and in a plane with one.
    fn paths(random: &mut Random) -> [(DVec3, DVec3); 3] {
        let mut draw = || random.in_cube(1.0);
        let [start, askew] = [draw(), draw()];
        [(start, askew), (start, DVec3::new(0.0, 0.0, askew.z)), (start, DVec3::new(askew.x, 0.0, askew.z))]
    }

    #[test]
    fn a_path_is_inside_a_form_where_its_points_are() {
        let mut random = Random::new(5, Stream::Grains(0));
        for form in solids() {
            let mut met = 0;
            for (start, path) in (0..300).flat_map(|_| paths(&mut random)) {
                let part = form.passage(start, path);
                met += usize::from(part.is_some());
                for i in 0..=50 {
                    let s = f64::from(i) / 50.0;
                    let depth = form.distance(start + s * path, 0.0).map_or(0.0, |(distance, _)| -distance);
                    let is_in = part.is_some_and(|[from, until]| from <= s && s <= until);
                    // Nearer to the surface than this, rounding may tell either.
                    assert!(depth.abs() < 1e-9 || is_in == (depth > 0.0), "{form:?} {start} {path} {s}");
                }
            }
            assert!((20..880).contains(&met), "{form:?}: {met} of 900 paths meet it");
        }
    }

    #[test]
    fn a_thin_plate_is_passed_by_a_long_path_and_not_by_one_beside_it() {
        let plate = Form::Box { half: DVec3::new(1.0, 1.0, 0.01) };
        let fall = DVec3::new(0.0, 0.0, -0.05);
        let [from, until] = plate.passage(DVec3::new(0.0, 0.0, 0.03), fall).expect("passed");
        assert!((from - 0.4).abs() < 1e-12 && (until - 0.8).abs() < 1e-12);
        for start in [DVec3::new(1.0, 0.0, 0.03), DVec3::new(0.0, 0.0, 0.0601), DVec3::new(0.0, 0.0, -0.01)] {
            assert_eq!(plate.passage(start, fall), None, "{start}");
        }
    }

    #[test]
    fn a_path_crosses_the_triangles_that_stand_in_its_way() {
        let cube = cube();
        let through = DVec3::new(0.0, 0.1, 4.0);
        assert_eq!(cube.crossings(DVec3::new(0.3, 0.1, -2.0), through), 2);
        assert_eq!(cube.crossings(DVec3::new(0.3, 0.1, 0.0), through), 1);
        assert_eq!(cube.crossings(DVec3::new(1.3, 0.1, -2.0), through), 0);
        assert!(cube.encloses(DVec3::splat(0.9)) && !cube.encloses(DVec3::new(0.0, 0.0, 1.1)));
        let tube = Mesh::new("tube", &tube(1.0, 1.5, 90, 4)).expect("a mesh");
        assert_eq!(tube.crossings(DVec3::new(0.1, 0.2, 0.7), 3.0 * DVec3::X), 1);
        assert_eq!(tube.crossings(DVec3::new(0.1, 0.2, 0.7), 3.0 * DVec3::Z), 0);
    }

    #[test]
    fn a_wall_and_a_disc_are_met_where_they_are_and_not_beyond_their_ends() {
        let wall =
            Form::Wall { bottom_radius: 1.0, top_radius: 0.5, length: 2.0, side: super::super::Side::Inside };
        assert!(wall.is_met(DVec3::ZERO, DVec3::X) && !wall.is_met(DVec3::ZERO, 0.7 * DVec3::X));
        assert!(!wall.is_met(DVec3::new(0.0, 0.0, 1.1), 5.0 * DVec3::X), "above its end");
        let disc = Form::Disc { radius: 0.5 };
        let fall = DVec3::new(0.2, 0.0, -2.0);
        assert!(disc.is_met(DVec3::Z, fall) && !disc.is_met(DVec3::new(0.5, 0.0, 1.0), fall));
    }
}
