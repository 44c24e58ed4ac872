//! Words of a scenario file: numbers, vectors, strings and comments.

use glam::{DQuat, DVec3};

use super::forms::{RegionForm, across};
use crate::scenario::Problem;

/// Longest line of a comment.
const WIDTH: usize = 140;

/// A number, to eleven digits: rounding of products of a script does not show.
pub fn number(value: f64) -> String {
    let value: f64 = format!("{value:.10e}").parse().unwrap_or(value);
    match value.abs() {
        0.0 => "0.0".to_owned(),
        size if (1e-3..1e5).contains(&size) => format!("{value:?}"),
        _ => format!("{value:e}"),
    }
}

/// A vector; parts that are rounding beside the largest are 0.
pub fn vector(value: DVec3) -> String {
    let least = 1e-13 * value.abs().max_element();
    let part = |part: f64| number(if part.abs() <= least { 0.0 } else { part });
    format!("[{}, {}, {}]", part(value.x), part(value.y), part(value.z))
}

/// A string in quotes.
pub fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string().trim().to_owned()
}

/// A line with a remark behind it.
pub fn remarked(line: &str, remark: &str) -> String {
    format!("{line:<32}# {remark}\n")
}

/// Lines of a comment.
pub fn comment(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() + 3 > WIDTH {
            lines.push_str(&format!("# {line}\n"));
            line = "  ".to_owned();
        }
        let gap = if line.is_empty() || line == "  " { "" } else { " " };
        line.push_str(gap);
        line.push_str(word);
    }
    lines + &format!("# {line}\n")
}

/// `turned = { ... }` of a mesh, behind a comma; nothing for no rotation.
pub fn turned(turn: DQuat) -> String {
    let (axis, angle) = turn.to_axis_angle();
    if angle.abs() < 1e-12 {
        return String::new();
    }
    format!(", turned = {{ axis = {}, angle_deg = {} }}", vector(axis), number(angle.to_degrees()))
}

/// A region between two corners.
pub fn box_region(min: DVec3, max: DVec3) -> String {
    format!("{{ kind = \"box\", min = {}, max = {} }}", vector(min), vector(max))
}

/// A region in a cylinder from a base along an axis.
pub fn cylinder_region(base: DVec3, axis: DVec3, length: f64, radius: f64) -> String {
    let (base, axis, length, radius) = (vector(base), vector(axis), number(length), number(radius));
    format!("{{ kind = \"cylinder\", base = {base}, axis = {axis}, length = {length}, radius = {radius} }}")
}

/// A region of a scenario.
///
/// # Errors
/// When the form is none that a scenario has.
pub fn region(form: &RegionForm, place: &str) -> Result<String, Problem> {
    let open = || {
        Problem::of(place, "the region has no end along some axis, expected a bounded one")
            .help("give it bounds")
    };
    match form {
        RegionForm::Block { min, max } if min.is_finite() && max.is_finite() => Ok(box_region(*min, *max)),
        RegionForm::Sphere { centre, radius } => {
            Ok(format!("{{ kind = \"sphere\", centre = {}, radius = {} }}", vector(*centre), number(*radius)))
        }
        RegionForm::Cylinder { axis, centre, radii, ends } if ends.iter().all(|end| end.is_finite()) => {
            let base = on_axis(*axis, *centre, ends[0]);
            Ok(cylinder_region(base, DVec3::AXES[*axis], ends[1] - ends[0], radii[0].max(radii[1])))
        }
        RegionForm::Plane { .. } | RegionForm::Other(_) => Err(Problem::of(
            place,
            "grains in a region that is not taken, expected a block, cylinder or sphere",
        )
        .help("change the region")),
        _ => Err(open()),
    }
}

/// Point on the axis of a cylinder \[m\].
pub fn on_axis(axis: usize, centre: [f64; 2], along: f64) -> DVec3 {
    let [u, v] = across(axis);
    let mut point = DVec3::ZERO;
    point[axis] = along;
    point[u] = centre[0];
    point[v] = centre[1];
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lose_their_rounding_and_stay_numbers_of_toml() {
        let written = [0.1 + 0.2, 5e6, 1.0, 1e-5, 0.0, -2500.0, 2e-3].map(number);
        assert_eq!(written, ["0.3", "5e6", "1.0", "1e-5", "0.0", "-2500.0", "0.002"]);
        assert_eq!(vector(DVec3::new(1.0, 1e-17, -9.81)), "[1.0, 0.0, -9.81]");
    }

    #[test]
    fn comments_are_wrapped() {
        let text = comment(&"word ".repeat(60));
        assert!(
            text.lines().count() == 3
                && text.lines().all(|line| line.starts_with("# ") && line.len() <= WIDTH),
            "{text}"
        );
    }
}
