//! Solids inside each other: bodies that share solid space, wherever their vertices are.

use glam::DVec3;

use super::{Form, Solid, SurfaceBox, World};

/// Number of steps of the search for the middle of the common space.
const STEPS: usize = 300;
/// Length of a step of this search over that of the step before \[-\].
const SHORTER: f64 = 0.96;

/// Solid space that two bodies have in common.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct CommonSpace {
    /// The two bodies; the first is dynamic.
    pub bodies: [usize; 2],
    /// Radius of the largest ball that fits into both \[m\].
    pub radius: f64,
    /// That radius over the radius of the largest ball that fits into the smaller one \[-\].
    pub fraction: f64,
    /// Centre of that ball \[m\].
    pub place: DVec3,
}

impl World {
    /// Finds, for each dynamic boundary, a boundary with which it has solid space in common: a ball fits into both whose radius is more
    /// than this fraction of that of the largest ball in the smaller one. Bodies of one machine are left out. Of two dynamic boundaries the
    /// later one is listed.
    pub fn common_spaces(&self, fraction: f64) -> Vec<CommonSpace> {
        if self.dynamic_boundaries().next().is_none() {
            return Vec::new();
        }
        let solids: Vec<SurfaceBox> =
            self.surface_boxes().into_iter().filter(|around| is_solid(self, around)).collect();
        let of_body =
            |body: usize| {
                let own = solids.iter().filter(move |around| around.body() == body);
                let mut pairs = own.flat_map(|own| solids.iter().map(move |other| (own, other)));
                let may_meet = |own: &SurfaceBox, other: &SurfaceBox| {
                    let is_first = self.bodies.is_dynamic(other.body()) && other.body() > body;
                    self.machines[other.body()] != self.machines[body]
                        && !is_first
                        && own.may_reach(self, other.corners(self))
                };
                pairs.find_map(|(own, other)| {
                    if may_meet(own, other) { common_space(self, own, other, fraction) } else { None }
                })
            };
        self.dynamic_boundaries().filter_map(|(body, _)| of_body(body)).collect()
    }
}

/// Whether all behind a surface is solid. A closed mesh that is declared a sheet may be a vessel.
fn is_solid(world: &World, around: &SurfaceBox) -> bool {
    match world.surfaces[around.first()].form {
        Form::Plane => true,
        Form::Patch { mesh, .. } => world.meshes[mesh].is_solid,
        form => Solid::of(form).is_some(),
    }
}

/// Space that two solids have in common; `None` if it is too small to count. The ball is found exactly, but for the length of the last
/// steps, where both solids are convex, as then the depth in both is concave.
fn common_space(world: &World, one: &SurfaceBox, other: &SurfaceBox, fraction: f64) -> Option<CommonSpace> {
    let depth = |point: DVec3| {
        let [a, b] = [one, other].map(|around| depth_in(world, around, point));
        if a.0 < b.0 { a } else { b }
    };
    // Planes are everywhere, so the box that the two have in common is that of the other.
    let [low, high] = [one.corners(world), other.corners(world)]
        .into_iter()
        .reduce(|a, b| [a[0].max(b[0]), a[1].min(b[1])])
        .unwrap_or_default();
    let inner =
        [one, other].map(|around| inner_radius(world, around)).into_iter().fold(f64::INFINITY, f64::min);
    let enough = fraction * inner;
    if largest_possible(world, [one, other], [low, high]) <= enough {
        return None;
    }
    let starts = [low.midpoint(high), middle_of(world, one), middle_of(world, other)];
    let deepest = |start: DVec3| {
        let (mut point, mut step, mut most) =
            (start, 0.25 * (high - low).length(), (f64::NEG_INFINITY, start));
        for _ in 0..STEPS {
            let (here, inwards) = depth(point);
            if here > most.0 {
                most = (here, point);
            }
            point += step * inwards;
            step *= SHORTER;
        }
        most
    };
    let found = starts.into_iter().filter(|start| start.is_finite()).map(deepest);
    let (radius, place) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let bodies = [one.body(), other.body()];
    (radius > enough).then_some(CommonSpace { bodies, radius, fraction: radius / inner, place })
}

/// Bound on the radius of a ball in the box that two solids have in common: half its least edge and, where one of them is a plane, half
/// the depth of its deepest corner \[m\].
fn largest_possible(world: &World, both: [&SurfaceBox; 2], [low, high]: [DVec3; 2]) -> f64 {
    let of_box = 0.5 * (high - low).min_element();
    let corner = |i: u32| DVec3::select(glam::BVec3::new(i & 1 > 0, i & 2 > 0, i & 4 > 0), low, high);
    let behind = |around: &SurfaceBox| {
        let depths = (0..8).map(|i| depth_in(world, around, corner(i)).0);
        0.5 * depths.fold(f64::NEG_INFINITY, f64::max)
    };
    let planes = both.into_iter().filter(|around| world.surfaces[around.first()].form == Form::Plane);
    planes.map(behind).fold(of_box, f64::min)
}

/// Middle of the box around a solid \[m\]; not finite for a plane.
fn middle_of(world: &World, around: &SurfaceBox) -> DVec3 {
    let [low, high] = around.corners(world);
    low.midpoint(high)
}

/// Depth of the middle of a solid \[m\]; infinite for a plane.
fn inner_radius(world: &World, around: &SurfaceBox) -> f64 {
    let middle = middle_of(world, around);
    if middle.is_finite() { depth_in(world, around, middle).0.abs() } else { f64::INFINITY }
}

/// Depth of a point in a solid \[m\], negative outside, and the direction in which it grows.
pub fn depth_in(world: &World, around: &SurfaceBox, point: DVec3) -> (f64, DVec3) {
    let first = &world.surfaces[around.first()];
    let Form::Patch { .. } = first.form else {
        let touch = world.touch_surface(first, point, 0.0);
        return touch.map_or((f64::NEG_INFINITY, DVec3::ZERO), |touch| (-touch.gap, -touch.normal));
    };
    let patches = world.surfaces[around.first()..].iter().take(around.count());
    let touches = patches.filter_map(|patch| world.touch_surface(patch, point, 0.0));
    let nearest = touches.reduce(|a, b| if b.gap < a.gap { b } else { a });
    let away = nearest.map_or((f64::INFINITY, DVec3::ZERO), |touch| (touch.gap, touch.normal));
    if world.is_inside(first, point) { away } else { (-away.0, -away.1) }
}
