//! Manifolds facet by facet: of solids with surfaces that bound no convex solid (thin walls, discs, and patches of meshes), and of the
//! patches of a dynamic mesh with whatever is there.

use glam::DVec3;

use super::{Met, Placed, SAME_NORMAL};
use crate::model::{Form, Mesh, Sphere, SpherePart, Touch, World, thin};
use crate::shape::{
    Convex, FacetMeeting, Manifold, ManifoldBounds, SolidPose, may_be_near, meet_facet, meet_facets,
    meet_half_space, of_touches,
};

/// Overlap of two triangles beyond which it is asked whether the meshes have nearer sides, over the size of the larger one \[-\].
const DEEP: f64 = 1e-3;
/// How far behind a thin wall the middle of a solid is at most that came from in front, over what the solid reaches there \[-\]. What is
/// farther behind touches the back of the wall.
const PRESSED_IN: f64 = 0.5;

impl World {
    /// Manifold of a solid with a surface that bounds no convex solid. A solid whose middle is just behind a thin wall is pushed out of it.
    pub(super) fn facets_met(
        &self,
        own: &Placed<'_>,
        shape: u32,
        wanted: ManifoldBounds,
    ) -> Option<Manifold> {
        let near = self.facets_near(shape, &own.around(wanted.reach))?;
        match near.curve {
            Some((_, of_middle)) if near.is_pressed_in(own, of_middle) => {
                near.pushed_out(own, of_middle, wanted)
            }
            _ => near.met_by(own, wanted),
        }
    }

    /// Manifold of a patch of a dynamic mesh, which is this surface with this sphere around it, with another surface.
    pub(super) fn patch_met(
        &self,
        own: u32,
        ball: &Sphere,
        shape: u32,
        wanted: ManifoldBounds,
    ) -> Option<Manifold> {
        let centre = self.sphere_centre(ball);
        let around = Vicinity { middle: centre, radius: ball.radius + wanted.reach };
        match self.solid_at(ball, shape) {
            Some(Met::HalfSpace { normal, height }) => {
                let near = self.facets_near(own, &around)?;
                of_touches(near.corners_over(normal, height), ball.radius, wanted)
            }
            Some(Met::Solid(there)) => {
                let near = self.facets_near(own, &there.around(wanted.reach))?;
                near.met_by(&there, wanted).map(Manifold::reversed)
            }
            None => {
                let there = self.facets_near(shape, &around)?;
                let touches = there.triangles().into_iter().flat_map(|triangle| {
                    let near = self.facets_near(own, &there.around(triangle, wanted.reach));
                    let met = near.map(|near| near.met_by_facet(triangle, &there, wanted));
                    met.into_iter().flatten().map(|touch| there.at_curve(&touch))
                });
                of_touches(touches, ball.radius, wanted)
            }
        }
    }

    /// The facets of a surface near a solid; `None` for a surface that has none.
    fn facets_near(&self, shape: u32, solid: &Vicinity) -> Option<NearFacets<'_>> {
        let surface = &self.surfaces[shape as usize];
        let body = self.periodic.image(self.bodies.position[surface.body as usize], solid.middle);
        let at = self.placement(surface, body);
        let middle = at.orientation.conjugate() * (solid.middle - at.position);
        let (mesh, patch, curve) = match surface.form {
            Form::Patch { mesh, patch } => (&self.meshes[mesh], patch as usize, None),
            // Sheets are made once something is near a wall.
            form => {
                let of_middle = form.distance(middle, solid.radius);
                let of_middle = of_middle.filter(|(distance, _)| *distance <= solid.radius)?;
                let sheets = self.solids.sheets.get_or_init(|| thin::sheets(self));
                (sheets.get(shape as usize)?.as_deref()?, 0, Some((form, of_middle)))
            }
        };
        Some(NearFacets { mesh, patch, curve, middle, reach: solid.radius, at })
    }

    /// Whether a solid or a patch may be nearer to a surface than `gap` \[m\], if that is a patch of a mesh that is no convex solid; the
    /// sphere around it is near every surface that is asked for.
    pub fn is_near_facets(&self, ball: &Sphere, surface: u32, gap: f64) -> bool {
        let is_patch = matches!(self.surfaces[surface as usize].form, Form::Patch { .. });
        let is_met = is_patch && self.solids.is_other(surface);
        let own = self.solid_of(ball, self.sphere_centre(ball)).filter(|_| is_met);
        let Some(own) = own.filter(|_| ball.part != SpherePart::Ball) else { return true };
        let Some(near) = self.facets_near(surface, &own.around(gap)) else { return true };
        near.triangles().into_iter().any(|triangle| {
            let triangle = Convex::triangle(near.mesh.corners(triangle));
            may_be_near(own.solid, &own.at, &triangle, &near.at, gap)
        })
    }
}

/// A ball in the world within which something is.
struct Vicinity {
    middle: DVec3,
    radius: f64,
}

impl Placed<'_> {
    /// The ball around a solid, larger by `gap` \[m\].
    fn around(&self, gap: f64) -> Vicinity {
        Vicinity { middle: self.middle(), radius: self.at.scale * self.solid.radius + gap }
    }
}

/// A patch of a mesh, or the sheet of a thin wall, at its present place, near something.
struct NearFacets<'a> {
    mesh: &'a Mesh,
    patch: usize,
    /// The thin wall that the mesh stands for, and the height of the middle over it \[m\] with the direction away from it.
    curve: Option<(Form, (f64, DVec3))>,
    at: SolidPose,
    /// Middle of what is near, in the frame of the mesh \[m\].
    middle: DVec3,
    /// Distance from there of the farthest triangles that count \[m\].
    reach: f64,
}

impl NearFacets<'_> {
    fn triangles(&self) -> Vec<usize> {
        self.mesh.triangles_near(self.patch, self.middle, self.reach)
    }

    /// The ball around a triangle, larger by `gap` \[m\].
    fn around(&self, triangle: usize, gap: f64) -> Vicinity {
        let corners = self.mesh.corners(triangle);
        let middle = corners.iter().sum::<DVec3>() / 3.0;
        let radius = corners.iter().map(|corner| corner.distance(middle)).fold(0.0, f64::max);
        Vicinity { middle: self.at.position + self.at.orientation * middle, radius: radius + gap }
    }

    /// Manifold with a solid. One whose middle is behind the surface of a closed mesh is pushed out of what is nearest to it.
    fn met_by(&self, own: &Placed<'_>, wanted: ManifoldBounds) -> Option<Manifold> {
        let (mut touches, mut is_behind) = (Vec::new(), false);
        for triangle in self.triangles() {
            match meet_facet(own.solid, &own.at, &self.mesh.facet(triangle), &self.at, wanted) {
                FacetMeeting::Touching(manifold) => touches.extend(manifold.points.into_iter().flatten()),
                FacetMeeting::Behind => is_behind = true,
                FacetMeeting::None => {}
            }
        }
        if is_behind && let Some(way_out) = self.mesh.way_out(self.patch, self.middle, self.reach) {
            return self.pushed_out(own, way_out, wanted);
        }
        let touches = touches.into_iter().map(|touch| self.at_curve(&touch));
        of_touches(touches, own.at.scale * own.solid.radius, wanted)
    }

    /// Whether the middle of a solid, at this height over a thin wall \[m\], is just behind the wall.
    fn is_pressed_in(&self, own: &Placed<'_>, (height, face): (f64, DVec3)) -> bool {
        let normal = own.at.orientation.conjugate() * (self.at.orientation * face);
        let from_middle = own.at.scale * (own.solid.extent(normal) - own.solid.middle.dot(normal));
        height < 0.0 && -height < PRESSED_IN * from_middle
    }

    /// Manifold of a solid with the plane of a face at this height \[m\] below its middle.
    fn pushed_out(
        &self,
        own: &Placed<'_>,
        (height, face): (f64, DVec3),
        wanted: ManifoldBounds,
    ) -> Option<Manifold> {
        let (normal, middle) = (self.at.orientation * face, own.middle());
        meet_half_space(own.solid, &own.at, normal, middle.dot(normal) - height, wanted)
    }

    /// Touches with a triangle of another mesh.
    fn met_by_facet(&self, other: usize, there: &NearFacets<'_>, wanted: ManifoldBounds) -> Vec<Touch> {
        let facet = there.mesh.facet(other);
        let meet = |own: usize| meet_facets(&self.mesh.facet(own), &self.at, &facet, &there.at, wanted);
        let met = self.triangles().into_iter().filter_map(meet);
        let met = met.map(|manifold| manifold.points.into_iter().flatten().collect::<Vec<Touch>>());
        met.filter(|touches| self.is_way_out(touches, there)).flatten().collect()
    }

    /// Whether two meshes that overlap deeply, here at these touches, come apart along their normal: each has no side there that is nearer.
    fn is_way_out(&self, touches: &[Touch], there: &NearFacets<'_>) -> bool {
        let depth = touches.iter().map(|touch| -touch.gap).fold(0.0, f64::max);
        let Some(normal) = touches.first().map(|touch| touch.normal).filter(|_| depth > DEEP * self.reach)
        else {
            return true;
        };
        let middle = touches.iter().map(|touch| touch.point).sum::<DVec3>() / touches.len() as f64;
        let leads_out = |of: &NearFacets<'_>, place: DVec3, along: DVec3| {
            let [place, along] =
                [place - of.at.position, along].map(|vector| of.at.orientation.conjugate() * vector);
            !of.mesh.is_solid || of.mesh.leads_out(place, along, 2.0 * depth)
        };
        leads_out(self, middle + 0.5 * depth * normal, -normal)
            && leads_out(there, middle - 0.5 * depth * normal, normal)
    }

    /// Touches of the corners with all space below `height` along `normal` \[m\].
    fn corners_over(&self, normal: DVec3, height: f64) -> impl Iterator<Item = Touch> {
        let corners = self.triangles().into_iter().flat_map(|triangle| self.mesh.corners(triangle));
        corners.map(move |corner| {
            let point = self.at.position + self.at.orientation * corner;
            Touch::at(point, 0.0, point.dot(normal) - height, normal)
        })
    }

    /// A touch with the curved wall itself where a facet of it is touched: polygons have corners at which motion is lost.
    fn at_curve(&self, touch: &Touch) -> Touch {
        let Some((form, _)) = self.curve else { return *touch };
        let point = touch.point + 0.5 * touch.gap * touch.normal;
        let local = self.at.orientation.conjugate() * (point - self.at.position);
        let of_curve = form.distance(local, f64::INFINITY).filter(|(_, normal)| !form.is_edge(*normal));
        let of_curve = of_curve.map(|(gap, normal)| {
            let normal = self.at.orientation * normal;
            // The back of a wall is touched, too.
            let side = normal.dot(touch.normal).signum();
            Touch::at(point, 0.0, side * gap, side * normal)
        });
        of_curve.filter(|exact| exact.normal.dot(touch.normal) > SAME_NORMAL).unwrap_or(*touch)
    }
}
