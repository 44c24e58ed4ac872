//! Touches of a sphere with the patches of a solid, which pushes outwards: from which side the sphere came, and which touches are contacts.
//!
//! The centre of a sphere is outside of a solid, or it was pressed through the patches in front of which it was known to be, or came
//! through one in flight. Outside, a patch that faces away takes no part, however near it is: this is how a part thinner than a grain
//! holds the grain from one side alone. Pressed through, the nearest of the patches that it came through pushes it back, and nothing holds
//! it inside. Twin: `join_solid` in `shaders/narrowphase.wgsl`.

use glam::DVec3;

use super::join::{covering, root_of};
use super::{JoinedTouch, Mesh, Nearest, PatchTouch};

/// What is known of a touch with a patch of a solid beside its place.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolidTouch {
    /// Side of the patch: 1 if the sphere was in front of it, -1 if it was not, 0 for a contact new to the list.
    pub side: i8,
    /// Substeps since the centre came through the patch, if that was in the last one; of contacts new to the list alone.
    pub crossed: Option<f64>,
}

/// Decides which touches of a sphere with patches of a solid are contacts, and the side of each, as in [`SolidTouch`]. Of touches at seams
/// the same holds as in [`super::join`]. `contact_radius` is that of the sphere \[m\].
pub fn join_solid(
    mesh: &Mesh,
    touches: &[PatchTouch],
    known: &[SolidTouch],
    contact_radius: f64,
) -> Vec<(JoinedTouch, i8)> {
    let solid = SolidTouches::new(mesh, touches);
    let Some(nearest) = solid.nearest else {
        return (0..touches.len()).map(|root| (JoinedTouch { root, part: None }, known[root].side)).collect();
    };
    let pushed = solid.pressed_through(known, contact_radius).or_else(|| solid.crossed(known));
    let pushed = pushed.or_else(|| solid.is_inside(nearest).then_some(nearest));
    let decide = |i: usize| match pushed {
        Some(patch) => solid.beside(i, patch, known[i].side),
        None => solid.outside(i, nearest),
    };
    (0..touches.len()).map(decide).collect()
}

/// Touches of a sphere with a solid, each with the touch that is nearest from seam to seam.
struct SolidTouches<'a> {
    touches: &'a [PatchTouch],
    roots: Vec<usize>,
    /// The touch whose patch is nearest of all.
    nearest: Option<usize>,
}

impl SolidTouches<'_> {
    fn new<'a>(mesh: &Mesh, touches: &'a [PatchTouch]) -> SolidTouches<'a> {
        let listed = touches.iter().enumerate().filter_map(|(i, touch)| Some((touch.nearest?.distance, i)));
        let nearest = listed.reduce(|best, other| if other.0 < best.0 { other } else { best });
        let roots = (0..touches.len()).map(|i| root_of(i, |i| covering(mesh, touches, i))).collect();
        SolidTouches { touches, roots, nearest: nearest.map(|(_, i)| i) }
    }

    fn at(&self, i: usize) -> Option<&Nearest> {
        self.touches[i].nearest.as_ref()
    }

    fn distance(&self, i: usize) -> f64 {
        self.at(i).map_or(f64::INFINITY, |nearest| nearest.distance)
    }

    /// Whether the centre is inside, seen from the patch of this touch.
    fn is_inside(&self, i: usize) -> bool {
        self.at(i).is_some_and(|nearest| nearest.is_inside)
    }

    /// The nearest of the patches that the sphere was in front of, or of those beside them that it is over now, if its centre is behind.
    fn pressed_through(&self, known: &[SolidTouch], contact_radius: f64) -> Option<usize> {
        let is_inside = self.nearest.is_some_and(|nearest| self.is_inside(nearest));
        let behind = |(i, known): (usize, &SolidTouch)| {
            let root = self.roots[i];
            let is_behind =
                known.side > 0 && self.is_inside(root) && (is_inside || self.distance(root) < contact_radius);
            is_behind.then_some(root)
        };
        let all = known.iter().enumerate().filter_map(behind);
        all.reduce(|best, other| if self.distance(other) < self.distance(best) { other } else { best })
    }

    /// The last patch that the centre came through in flight.
    fn crossed(&self, known: &[SolidTouch]) -> Option<usize> {
        let through = |(i, known): (usize, &SolidTouch)| {
            let crossed = known.crossed.filter(|_| self.roots[i] == i && self.is_inside(i))?;
            Some((crossed, i))
        };
        let all = known.iter().enumerate().filter_map(through);
        all.reduce(|last, other| if other.0 < last.0 { other } else { last }).map(|(_, i)| i)
    }

    /// Touch `i` of a sphere that the patch of touch `pushed` pushes outwards: only patches that it was in front of, and still is, count.
    fn beside(&self, i: usize, pushed: usize, side: i8) -> (JoinedTouch, i8) {
        if i == pushed {
            let part = self.at(i).map(|nearest| (-nearest.distance, -nearest.normal));
            return (JoinedTouch { root: i, part }, 1);
        }
        let root = self.roots[i];
        if side > 0 && root == i && !self.is_inside(i) {
            return (JoinedTouch { root, part: self.in_front(i) }, 1);
        }
        let stays = side > 0 && self.is_inside(i);
        (JoinedTouch { root: pushed, part: None }, if stays { 1 } else { -1 })
    }

    /// Touch `i` of a sphere whose centre is outside.
    fn outside(&self, i: usize, nearest: usize) -> (JoinedTouch, i8) {
        let root = self.roots[i];
        if self.is_inside(root) || self.at(i).is_none() {
            return (JoinedTouch { root: nearest, part: None }, -1);
        }
        if root == i {
            return (JoinedTouch { root, part: self.in_front(i) }, 1);
        }
        let beyond = self.at(i).filter(|own| own.height > self.distance(root));
        (JoinedTouch { root, part: beyond.map(|own| (own.height, own.face)) }, -1)
    }

    fn in_front(&self, i: usize) -> Option<(f64, DVec3)> {
        self.at(i).map(|nearest| (nearest.distance, nearest.normal))
    }
}
