//! Check for solids inside each other: of dynamic boundaries with other boundaries, wherever their vertices are.

use std::ops::Range;

use glam::DVec3;

use super::read::Report;
use crate::model::{Form, Solid, SurfaceBox, World};

/// Largest accepted radius of a ball that fits into two solids, over that of one that fits into the smaller of them \[-\].
const ACCEPTED: f64 = 0.01;
/// Steps of the search for the middle of the common space.
const STEPS: usize = 300;
/// Length of a step of this search over that of the step before \[-\].
const SHORTER: f64 = 0.96;

/// Reports, per dynamic boundary, another boundary that it has solid space in common with. `spans` are the places of the names of the
/// boundaries in the file; boundaries in `told` are left out.
pub fn check(world: &World, spans: &[Range<usize>], told: &[usize], report: &Report) {
    let solids: Vec<SurfaceBox> =
        world.surface_boxes().into_iter().filter(|around| is_solid(world, around)).collect();
    for (body, _) in world.dynamic_boundaries().filter(|(body, _)| !told.contains(body)) {
        let own = solids.iter().filter(|around| around.body() == body);
        let pairs = own.flat_map(|own| solids.iter().map(move |other| (own, other)));
        let may_meet = |(own, other): &(&SurfaceBox, &SurfaceBox)| {
            // Of two dynamic boundaries the later one is reported.
            let is_first = world.bodies.is_dynamic(other.body()) && other.body() > body;
            world.machines[other.body()] != world.machines[body]
                && !is_first
                && own.may_reach(world, other.corners(world))
        };
        let found = pairs.filter(may_meet).find_map(|(own, other)| {
            let radius = common_radius(world, own, other)?;
            Some((radius, other.body()))
        });
        let Some((radius, other)) = found else { continue };
        let name = |body: usize| &world.boundaries[body].name;
        report.problem(
            &spans[body],
            format!(
                "boundary \"{}\" is dynamic and overlaps boundary \"{}\": a ball of radius {radius:.3e} m fits into both",
                name(body),
                name(other)
            ),
            "move, turn or shrink one of the two",
        );
    }
}

/// Whether all behind a surface is solid. A closed mesh that is not dynamic may be a vessel.
fn is_solid(world: &World, around: &SurfaceBox) -> bool {
    match world.surfaces[around.first()].form {
        Form::Plane => true,
        Form::Patch { .. } => world.bodies.is_dynamic(around.body()),
        form => Solid::of(form).is_some(),
    }
}

/// Radius of the largest ball that fits into two solids \[m\]; `None` if it is too small to count. It is found exactly, but for the
/// length of the last steps, where both are convex, as then the depth in both is concave.
fn common_radius(world: &World, one: &SurfaceBox, other: &SurfaceBox) -> Option<f64> {
    let depth = |point: DVec3| {
        let [a, b] = [one, other].map(|around| depth_in(world, around, point));
        if a.0 < b.0 { a } else { b }
    };
    let [low, high] = [one.corners(world), other.corners(world)]
        .into_iter()
        .reduce(|a, b| [a[0].max(b[0]), a[1].min(b[1])])
        .unwrap_or_default();
    // Planes are everywhere, so the box that the two have in common is that of the other.
    let size = (high - low).length();
    let enough = ACCEPTED
        * [one, other].map(|around| inner_radius(world, around)).into_iter().fold(f64::INFINITY, f64::min);
    let starts = [low.midpoint(high), middle_of(world, one), middle_of(world, other)];
    let deepest = |start: DVec3| {
        let (mut point, mut step, mut most) = (start, 0.25 * size, f64::NEG_INFINITY);
        for _ in 0..STEPS {
            let (here, inwards) = depth(point);
            most = most.max(here);
            point += step * inwards;
            step *= SHORTER;
        }
        most
    };
    let starts = starts.into_iter().filter(|start| start.is_finite());
    let most = starts.map(deepest).fold(f64::NEG_INFINITY, f64::max);
    (most > enough).then_some(most)
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Scenario;

    const BASE: &str = "duration = 1.0\n[materials.m]\ndensity = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.25\nrestitution = 0.0\n\
                        friction = 0.5\n";

    fn solid_box(min: [f64; 3], max: [f64; 3]) -> String {
        format!("{{ kind = \"box\", min = {min:?}, max = {max:?}, side = \"outside\" }}")
    }

    fn cylinder(base: [f64; 3], radius: f64) -> String {
        format!(
            "{{ kind = \"cylinder\", base = {base:?}, axis = [0, 0, 1], length = 1.0, radius = {radius}, side = \"outside\" }}"
        )
    }

    /// What is told of a fixed boundary of one shape and a dynamic one of another.
    fn told(fixed: &str, dynamic: &str) -> Option<String> {
        let text = format!(
            "{BASE}[[boundaries]]\nname = \"base\"\nmaterial = \"m\"\nshape = {fixed}\n\
             [[boundaries]]\nname = \"body\"\nmaterial = \"m\"\nshape = {dynamic}\nmotion = {{ kind = \"dynamic\" }}\n"
        );
        Scenario::parse("nested", &text, Path::new(""), &[]).err().map(|problems| problems.to_string())
    }

    #[test]
    fn a_body_inside_another_is_refused_wherever_its_vertices_are() {
        let cube = solid_box([0.0; 3], [1.0; 3]);
        let post = cylinder([0.0; 3], 0.5);
        let beams = [[-1.0, 0.0, 0.0], [1.0, 0.1, 0.1], [0.0, -1.0, 0.0], [0.1, 1.0, 0.1]];
        let plane = r#"{ kind = "plane", point = [0, 0, 0.2], normal = [0, 0, 1] }"#;
        for (fixed, dynamic, radius) in [
            (&cube, &cube, 0.5),
            (&cube, &solid_box([0.4; 3], [0.6; 3]), 0.1),
            (&solid_box([0.4; 3], [0.6; 3]), &cube, 0.1),
            (&post, &post, 0.5),
            (&post, &cylinder([0.0, 0.0, 0.9], 0.5), 0.05),
            (&solid_box(beams[0], beams[1]), &solid_box(beams[2], beams[3]), 0.05),
            (&plane.to_owned(), &post, 0.1),
        ] {
            let message = told(fixed, dynamic).expect("refused");
            assert!(
                message.contains("boundary \"body\" is dynamic and overlaps boundary \"base\""),
                "{message}"
            );
            let found = message.split("a ball of radius ").nth(1).and_then(|rest| rest.split(' ').next());
            let Some(found) = found else { continue };
            let found: f64 = found.parse().expect("a radius");
            assert!((found - radius).abs() < 0.02 * radius, "{fixed} {dynamic}: {found}");
        }
    }

    #[test]
    fn bodies_on_and_beside_each_other_are_taken() {
        let cube = solid_box([0.0; 3], [1.0; 3]);
        let vessel = r#"{ kind = "box", min = [-1, -1, 0], max = [2, 2, 5] }"#;
        let tube =
            r#"{ kind = "cylinder", base = [0, 0, -1], axis = [0, 0, 1], length = 3.0, radius = 2.0 }"#;
        for (fixed, dynamic) in [
            (cube.as_str(), solid_box([0.0, 0.0, 1.0], [1.0, 1.0, 2.0])),
            (&cube, solid_box([0.99, 0.99, 0.999], [2.0, 2.0, 2.0])),
            (&cube, cylinder([0.5, 0.5, 1.0], 0.5)),
            (vessel, cube.clone()),
            (tube, cube.clone()),
        ] {
            assert_eq!(told(fixed, &dynamic), None);
        }
    }
}
