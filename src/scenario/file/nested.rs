//! Check for solids inside each other: of dynamic boundaries with other boundaries, wherever their vertices are.

use std::ops::Range;

use super::read::ReadReport;
use crate::model::World;
use crate::model::nested::CommonSpace;

/// Largest accepted radius of a ball that fits into two solids, over that of one that fits into the smaller of them \[-\].
const ACCEPTED: f64 = 0.01;

/// Reports, per dynamic boundary, another boundary that it has solid space in common with. `spans` are the places of the names of the
/// boundaries in the file; boundaries in `told` are left out.
pub fn check(world: &World, spans: &[Range<usize>], told: &[usize], report: &ReadReport) {
    let name = |body: usize| &world.boundaries[body].name;
    for CommonSpace { bodies: [body, other], radius, .. } in world.common_spaces(ACCEPTED) {
        if told.contains(&body) {
            continue;
        }
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
