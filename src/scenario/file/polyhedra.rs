//! The `[shapes]` table: named grains that are convex polyhedra, by their points, a file, or a rule.

use std::f64::consts::FRAC_1_SQRT_2;
use std::path::Path;

use glam::DVec3;

use super::mesh;
use super::read::{LENGTH, Need, Table, number, vector, whole};
use crate::model::mesh::bounds_of;
use crate::model::random::Stream;
use crate::model::{Clump, Random};
use crate::shape::{Convex, MOST_HULL_POINTS};

/// Largest volume of the hull of a mesh over that of the mesh \[-\].
const MOST_FILLED: f64 = 1.05;
const RATIO: Need = Need::new(|x| (0.05..=1.0).contains(&x), "a ratio from 0.05 to 1");
const EXPONENT: Need = Need::new(|x| (2.0..=20.0).contains(&x), "an exponent from 2 (round) to 20 (a box)");
/// Rings and sectors of the points of a superquadric.
const RINGS: u32 = 6;
const SECTORS: u32 = 12;

/// Reads all shapes. A faulty one keeps its name, so that references to it are not reported as mistakes.
pub fn shapes(table: &mut Table<'_>, folder: &Path) -> Vec<Clump> {
    let read = |(name, _, node): (String, _, super::read::Node<'_>)| {
        let hull = node.table(|table| shape(table, folder));
        Clump::of_hull(&name, &hull.unwrap_or_else(|| Convex::cuboid(DVec3::ONE)))
    };
    table.named().into_iter().map(read).collect()
}

fn shape(table: &mut Table<'_>, folder: &Path) -> Option<Convex> {
    // Beside a `kind`, `points` and `file` are unknown keys.
    let without_kind = !table.has("kind");
    if without_kind && table.has("points") {
        let points = table.get("points", |node| node.list(vector))?;
        return hull_of(table, &points, "points");
    }
    if without_kind && table.has("file") {
        return of_file(table, folder);
    }
    match table.kind(&["box", "tetrahedron", "superquadric", "random", "ballast", "gravel"])? {
        "box" => {
            let size = table.get("size", vector)?;
            if size.min_element() <= 0.0 {
                table.problem(format!("`{}.size` is {size}", table.name()), "give three positive edges in m");
                return None;
            }
            Some(Convex::cuboid(0.5 * size))
        }
        "tetrahedron" => {
            let edge = table.get("edge", number(LENGTH))?;
            // A regular one: four corners of a cube.
            let half = edge / 8f64.sqrt();
            let points = [
                DVec3::ONE,
                DVec3::new(1.0, -1.0, -1.0),
                DVec3::new(-1.0, 1.0, -1.0),
                DVec3::new(-1.0, -1.0, 1.0),
            ];
            hull_of(table, &points.map(|point| half * point), "corners")
        }
        "superquadric" => superquadric(table),
        "ballast" => stone(table, &BALLAST),
        "gravel" => stone(table, &GRAVEL),
        _ => stone(table, &ROUND),
    }
}

/// The hull of points; reports why they have none.
fn hull_of(table: &Table<'_>, points: &[DVec3], what: &str) -> Option<Convex> {
    if points.len() < 4 || points.len() > MOST_HULL_POINTS {
        table.problem(
            format!("`{}` has {} {what}", table.name(), points.len()),
            format!("a convex polyhedron is made of 4 to {MOST_HULL_POINTS} {what}"),
        );
        return None;
    }
    match Convex::hull(points) {
        Ok(hull) => Some(hull),
        Err(error) => {
            table.problem(
                format!("the {what} of `{}` bound no solid: {error}", table.name()),
                "give at least four points that are not in one plane",
            );
            None
        }
    }
}

/// The hull of the vertices of a mesh, which is to be nearly convex itself.
fn of_file(table: &mut Table<'_>, folder: &Path) -> Option<Convex> {
    let placed = mesh::mesh(table, folder)?;
    let hull = hull_of(table, &placed.mesh.vertices, "vertices")?;
    let (filled, own) = (Clump::of_hull("", &hull).volume, placed.mesh.solid().volume);
    if own <= 0.0 || filled > MOST_FILLED * own {
        table.problem(
            format!(
                "`{}`: the convex hull of {} has {filled:.3e} m³, and the mesh encloses {own:.3e} m³",
                table.name(),
                placed.mesh.name
            ),
            "grains of a shape are convex: close the mesh, have its triangles face outwards, or build a clump of spheres",
        );
        return None;
    }
    Some(hull)
}

/// A superquadric |x/a|^n₂ + |y/b|^n₂ to the power n₁/n₂, plus |z/c|^n₁ = 1 (Barr 1981), as the hull of points on it.
fn superquadric(table: &mut Table<'_>) -> Option<Convex> {
    let half = table.get("half_axes", vector);
    let exponents = table.get("blockiness", |node| node.list(number(EXPONENT)));
    let (half, exponents) = (half?, exponents?);
    let [along, around] = exponents[..] else {
        let message = format!("`{}.blockiness` has {} numbers", table.name(), exponents.len());
        table.problem(message, "give two exponents, along z and around it; [2, 2] is an ellipsoid");
        return None;
    };
    if half.min_element() <= 0.0 {
        table.problem(format!("`{}.half_axes` is {half}", table.name()), "give three positive lengths in m");
        return None;
    }
    let power = |value: f64, exponent: f64| value.signum() * value.abs().powf(2.0 / exponent);
    let point = |ring: u32, sector: u32| {
        let (height, level) = (std::f64::consts::PI * (f64::from(ring) / f64::from(RINGS) - 0.5)).sin_cos();
        let (sin, cos) = (std::f64::consts::TAU * f64::from(sector) / f64::from(SECTORS)).sin_cos();
        let level = power(level, along);
        half * DVec3::new(level * power(cos, around), level * power(sin, around), power(height, along))
    };
    let poles = [DVec3::new(0.0, 0.0, half.z), DVec3::new(0.0, 0.0, -half.z)];
    let rings = (1..RINGS).flat_map(|ring| (0..SECTORS).map(move |sector| (ring, sector)));
    let points: Vec<DVec3> =
        poles.into_iter().chain(rings.map(|(ring, sector)| point(ring, sector))).collect();
    hull_of(table, &points, "points")
}

/// Form of a random stone, as far as a file does not tell it.
struct Stone {
    /// Number of corners; a file has to tell it where there is none.
    corners: Option<u64>,
    /// Intermediate diameter over the longest one \[-\].
    elongation: f64,
    /// Shortest diameter over the intermediate one \[-\].
    flatness: f64,
}

/// A stone that is as long as wide and high.
const ROUND: Stone = Stone { corners: None, elongation: 1.0, flatness: 1.0 };

/// Crushed rock. The diameters of fragments of rock are in the mean as 2 : √2 : 1 (Fujiwara, Kamimoto & Tsukamoto, Nature 272, 602 (1978);
/// 12 700 fragments of basalt: Michikami et al., Icarus 264, 316 (2016)). The number of corners is esker's own.
const BALLAST: Stone = Stone { corners: Some(12), elongation: FRAC_1_SQRT_2, flatness: FRAC_1_SQRT_2 };

/// Gravel from a beach. The diameters of 200 pebbles tended towards 7 : 6 : 3 (Wald, Nature 345, 211 (1990)). The number of corners is
/// esker's own: there are so many that none is sharp.
const GRAVEL: Stone = Stone { corners: Some(32), elongation: 6.0 / 7.0, flatness: 0.5 };

/// The hull of random points on an ellipsoid with the longest diameter `size`, the intermediate one `elongation` times as long, and the
/// shortest `flatness` times the intermediate one (Zingg 1935).
fn stone(table: &mut Table<'_>, usual: &Stone) -> Option<Convex> {
    let size = table.get("size", number(LENGTH));
    let of_corners = whole(4, MOST_HULL_POINTS as u64);
    let corners = match usual.corners {
        Some(corners) => Some(table.or("corners", corners, of_corners)),
        None => table.get("corners", of_corners),
    };
    let elongation = table.or("elongation", usual.elongation, number(RATIO));
    let flatness = table.or("flatness", usual.flatness, number(RATIO));
    let seed = table.or("seed", 1, whole(0, u64::from(u32::MAX)));
    let (size, corners) = (size?, corners?);
    let mut random = Random::new(seed, Stream::Shape);
    let points: Vec<DVec3> = (0..corners).map(|_| random.turn() * DVec3::Z).collect();
    let diameters = size * DVec3::new(1.0, elongation, elongation * flatness);
    // The box around the points gets the diameters, whatever was drawn.
    let [low, high] = bounds_of(points.iter().copied());
    let stretched = points.into_iter().map(|point| (point - low.midpoint(high)) / (high - low) * diameters);
    hull_of(table, &stretched.collect::<Vec<_>>(), "corners")
}
