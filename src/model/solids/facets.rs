//! Manifolds of solids with surfaces that bound no convex solid, facet by facet: thin walls, discs, and patches of meshes.

use glam::DVec3;

use super::{Placed, SAME_NORMAL};
use crate::model::{Form, Mesh, Sphere, Touch, World, thin};
use crate::shape::{
    Convex, FacetMeeting, Manifold, ManifoldBounds, SolidPose, may_be_near, meet_facet, meet_half_space,
    of_touches,
};

impl World {
    /// Manifold of a solid with a surface that bounds no convex solid. A solid whose middle is behind the surface of a closed mesh, or
    /// behind a thin wall, is pushed out of what is nearest to it.
    pub(super) fn facets_met(
        &self,
        own: &Placed<'_>,
        shape: u32,
        wanted: ManifoldBounds,
    ) -> Option<Manifold> {
        let near = self.facets_near(own, shape, wanted.reach)?;
        let pushed_out = |(height, face): (f64, DVec3)| {
            let (normal, middle) = (near.at.orientation * face, own.middle());
            meet_half_space(own.solid, &own.at, normal, middle.dot(normal) - height, wanted)
        };
        let form = self.surfaces[shape as usize].form;
        let is_patch = matches!(form, Form::Patch { .. });
        if !is_patch {
            let of_middle = form.distance(near.middle, near.reach)?;
            if of_middle.0 < 0.0 {
                return pushed_out(of_middle);
            }
        }
        let (mut touches, mut is_behind) = (Vec::new(), false);
        for triangle in near.triangles() {
            match meet_facet(own.solid, &own.at, &near.mesh.facet(triangle), &near.at, wanted) {
                FacetMeeting::Touching(manifold) => touches.extend(manifold.points.into_iter().flatten()),
                FacetMeeting::Behind => is_behind = true,
                FacetMeeting::None => {}
            }
        }
        if is_behind && let Some(way_out) = near.mesh.way_out(near.patch, near.middle, near.reach) {
            return pushed_out(way_out);
        }
        let of_curve = |touch: Touch| if is_patch { touch } else { near.at_curve(form, &touch) };
        of_touches(touches.into_iter().map(of_curve), own.at.scale * own.solid.radius, wanted)
    }

    /// The facets of a surface near a solid, up to `gap` \[m\]; `None` for one that has none.
    fn facets_near(&self, own: &Placed<'_>, shape: u32, gap: f64) -> Option<NearFacets<'_>> {
        let surface = &self.surfaces[shape as usize];
        let (mesh, patch) = match surface.form {
            Form::Patch { mesh, patch } => (&self.meshes[mesh], patch as usize),
            _ => (self.solids.sheets.get_or_init(|| thin::sheets(self)).get(shape as usize)?.as_deref()?, 0),
        };
        let middle = own.middle();
        let body = self.periodic.image(self.bodies.position[surface.body as usize], middle);
        let at = self.placement(surface, body);
        Some(NearFacets {
            mesh,
            patch,
            middle: at.orientation.conjugate() * (middle - at.position),
            reach: own.at.scale * own.solid.radius + gap,
            at,
        })
    }

    /// Whether a polyhedron may be nearer to a surface than `gap` \[m\], if it is a patch of a mesh that is no convex solid; the sphere
    /// around it is near every surface that is asked for.
    pub fn is_near_facets(&self, ball: &Sphere, surface: u32, gap: f64) -> bool {
        let is_patch = matches!(self.surfaces[surface as usize].form, Form::Patch { .. });
        let is_met = is_patch && self.solids.is_other(surface);
        let own = self.solid_of(ball, self.sphere_centre(ball)).filter(|_| is_met);
        let Some(own) = own else { return true };
        let Some(near) = self.facets_near(&own, surface, gap) else { return true };
        near.triangles().into_iter().any(|triangle| {
            let triangle = Convex::triangle(near.mesh.corners(triangle));
            may_be_near(own.solid, &own.at, &triangle, &near.at, gap)
        })
    }
}

/// A patch of a mesh, or a thin wall, at its present place, near a solid.
struct NearFacets<'a> {
    mesh: &'a Mesh,
    patch: usize,
    at: SolidPose,
    /// Middle of the solid in the frame of the mesh \[m\].
    middle: DVec3,
    /// Distance from there of the farthest triangles that count \[m\].
    reach: f64,
}

impl NearFacets<'_> {
    fn triangles(&self) -> Vec<usize> {
        self.mesh.triangles_near(self.patch, self.middle, self.reach)
    }

    /// A touch with the curved wall itself where the solid touches one of its facets: polygons have corners at which motion is lost.
    fn at_curve(&self, form: Form, touch: &Touch) -> Touch {
        let point = touch.point + 0.5 * touch.gap * touch.normal;
        let local = self.at.orientation.conjugate() * (point - self.at.position);
        let of_curve = form.distance(local, f64::INFINITY).filter(|(_, normal)| !form.is_edge(*normal));
        let of_curve = of_curve.map(|(gap, normal)| Touch::at(point, 0.0, gap, self.at.orientation * normal));
        of_curve.filter(|exact| exact.normal.dot(touch.normal) > SAME_NORMAL).unwrap_or(*touch)
    }
}
