//! Selection of the touches of a sphere with the patches of a mesh that are contacts.

use glam::DVec3;

use super::{Mesh, NO_SEAM, Nearest};

/// Touch of a sphere with a patch: the point of the patch nearest to its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatchTouch {
    /// The patch.
    pub patch: u32,
    /// The nearest point; `None` where the patch is out of reach.
    pub nearest: Option<Nearest>,
    /// Whether the centre of the sphere has come through the patch: the sphere belongs to the other side.
    pub is_behind: bool,
}

impl PatchTouch {
    /// Distance of the centre from the nearest point, negative behind the patch \[m\], and the normal towards the side of the sphere.
    fn signed(&self) -> Option<(f64, DVec3)> {
        let side = if self.is_behind { -1.0 } else { 1.0 };
        self.nearest.map(|nearest| (side * nearest.distance, side * nearest.normal))
    }
}

/// Result of [`join`] for one touch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JoinedTouch {
    /// The touch that stands for it: itself, or one whose patch is nearer to the sphere.
    pub root: usize,
    /// Distance \[m\] and normal of its contact; `None` if it makes none.
    pub part: Option<(f64, DVec3)>,
}

/// Decides whether touch `i` of a sphere is a contact. If the nearest point of its patch lies on a seam and another patch at that seam
/// is nearer, the sphere is over the other patch, and the seam is no edge for it. Where the mesh is concave there, as in a valley, the
/// sphere may still reach the face beyond the seam: the touch is a contact with the plane of that face. Where it is convex, it is none.
///
/// Twin: `join_patches` in `shaders/narrowphase.wgsl`.
pub fn join(mesh: &Mesh, touches: &[PatchTouch], i: usize) -> JoinedTouch {
    let root = root_of(i, |i| covering(mesh, touches, i));
    let part = match (touches[i].nearest, touches[root].signed()) {
        (Some(own), Some(nearest)) if root != i => beyond_the_seam(&own, nearest),
        _ => touches[i].signed(),
    };
    JoinedTouch { root, part }
}

/// The last of a chain of touches, each covered by the next.
pub(super) fn root_of(i: usize, covering: impl Fn(usize) -> Option<usize>) -> usize {
    let mut root = i;
    while let Some(nearer) = covering(root) {
        root = nearer;
    }
    root
}

/// Height over the plane of the face at a seam, and its normal, if the height is larger than the distance of the nearest patch.
fn beyond_the_seam(own: &Nearest, (distance, normal): (f64, DVec3)) -> Option<(f64, DVec3)> {
    let side = if own.face.dot(normal) < 0.0 { -1.0 } else { 1.0 };
    let height = side * own.height;
    (distance >= 0.0 && height > distance).then_some((height, side * own.face))
}

/// The nearest of the touches with patches that meet at the seam of touch `i`, if it is nearer than touch `i`; at equal distances
/// the touch with the smaller index counts as nearer.
pub(super) fn covering(mesh: &Mesh, touches: &[PatchTouch], i: usize) -> Option<usize> {
    let seam = touches[i].nearest.map_or(NO_SEAM, |nearest| nearest.seam);
    if seam == NO_SEAM {
        return None;
    }
    let meeting = &mesh.seams[seam as usize].patches;
    let distance = |other: usize| {
        let (distance, _) = touches[other].signed()?;
        meeting.contains(&touches[other].patch).then_some((distance, other))
    };
    let own = touches[i].signed().map_or(f64::INFINITY, |(distance, _)| distance);
    let nearest = (0..touches.len()).filter_map(distance).fold((own, i), |best, other| {
        if other.0 < best.0 || (other.0 == best.0 && other.1 < best.1) { other } else { best }
    });
    (nearest.1 != i).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use super::super::samples::{cube, tube};
    use super::*;

    /// Number of patches that stand for themselves in [`join`], and number of patches within reach of a point.
    fn contacts(mesh: &Mesh, point: DVec3, reach: f64) -> (usize, usize) {
        let touches: Vec<PatchTouch> = (0..mesh.patches.len() as u32)
            .map(|patch| PatchTouch {
                patch,
                nearest: mesh.nearest(patch as usize, point, reach),
                is_behind: false,
            })
            .filter(|touch| touch.nearest.is_some())
            .collect();
        let roots = (0..touches.len()).filter(|&i| join(mesh, &touches, i).root == i).count();
        (roots, touches.len())
    }

    #[test]
    fn outside_of_a_cube_there_is_one_contact_and_in_its_corners_three() {
        let cube = cube();
        for (point, reach, found) in [
            (DVec3::new(0.95, 0.0, 1.1), 0.2, (1, 2)),
            (DVec3::new(1.1, 0.0, 1.1), 0.2, (1, 2)),
            (DVec3::new(1.1, 1.1, 1.1), 0.2, (1, 3)),
            (DVec3::new(1.1, 1.05, 0.9), 0.2, (1, 3)),
            // Inside: the seams of a concave corner are no edges, the faces are contacts.
            (DVec3::new(0.9, 0.9, 0.9), 0.2, (3, 3)),
            (DVec3::new(0.9, 0.85, 0.0), 0.2, (2, 2)),
        ] {
            assert_eq!(contacts(&cube, point, reach), found, "{point}");
        }
    }

    #[test]
    fn in_a_valley_the_face_beyond_the_seam_takes_part_and_on_a_ridge_it_does_not() {
        let fold = |rise: f64| {
            let [far, near] = [-1.0, 1.0].map(|y| [DVec3::new(-1.0, y, rise), DVec3::new(0.0, y, 0.0)]);
            let [other_far, other_near] = [-1.0, 1.0].map(|y| DVec3::new(1.0, y, rise));
            let triangles = [
                [far[0], far[1], near[1]],
                [far[0], near[1], near[0]],
                [far[1], other_far, other_near],
                [far[1], other_near, near[1]],
            ];
            Mesh::new("fold", &triangles).expect("a mesh")
        };
        let touches = |mesh: &Mesh| {
            let touch = |patch| {
                let nearest = mesh.nearest(patch as usize, DVec3::new(-0.3, 0.1, 0.3), 2.0);
                PatchTouch { patch, nearest, is_behind: false }
            };
            [0, 1].map(touch)
        };
        let (valley, ridge) = (fold(0.1), fold(-0.1));
        let joined = join(&valley, &touches(&valley), 1);
        let normal = DVec3::new(-0.1, 0.0, 1.0).normalize();
        let (height, found) = joined.part.expect("the plane beyond the seam");
        assert_eq!(joined.root, 0);
        assert!(
            (height - normal.dot(DVec3::new(-0.3, 0.1, 0.3))).abs() < 1e-15 && found.distance(normal) < 1e-15
        );
        assert_eq!(join(&ridge, &touches(&ridge), 1), JoinedTouch { root: 0, part: None });
    }

    #[test]
    fn around_a_cylinder_there_is_one_contact_everywhere() {
        let tube = Mesh::new("tube", &tube(1.0, 2.0, 48, 3)).expect("a mesh");
        assert!(tube.patches.len() > 20);
        for i in 0..400 {
            let (sine, cosine) = (0.017 * f64::from(i)).sin_cos();
            let point = DVec3::new(1.05 * cosine, 1.05 * sine, 1.0 + 0.002 * f64::from(i));
            assert_eq!(contacts(&tube, point, 0.2).0, 1, "{point}");
        }
    }
}
