//! Clumps: grains made of several spheres, which may overlap.
//!
//! Mass, centre and moments of inertia are those of the union of the spheres, in which no part counts twice. Spheres that do not
//! overlap are summed up in closed form. Otherwise lines along x are cut exactly and integrated over y and z by Gauss' rule, piece by
//! piece between the kinks of the outline. With [`ORDER`] points per piece the error is below 1e-8 of the volume for two spheres, and
//! below 1e-5 for more, because kinks at points where three spheres meet are ignored.

use std::sync::LazyLock;

use glam::{DMat3, DQuat, DVec2, DVec3};

use super::rigid::principal;
use super::{Grain, Solid, sphere_volume};
use crate::shape::Convex;

/// Number of points of Gauss' rule per piece, along y and along z.
pub const ORDER: usize = 24;

/// A kind of grain made of several spheres. Its grains may be scaled to other sizes than the listed one.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Clump {
    /// Name in the scenario file.
    pub name: String,
    /// Centre \[m\] and radius \[m\] of each sphere, about the centre of mass and along the principal axes.
    pub spheres: Vec<(DVec3, f64)>,
    /// Volume of the union \[m³\].
    pub volume: f64,
    /// Principal moments of inertia of the union, of density 1 \[m⁵\].
    pub moments: DVec3,
    /// Mass \[kg\] and principal moments \[kg m²\] of the listed size, if they were given instead of a density.
    pub given: Option<(f64, DVec3)>,
    /// Rotation from the principal axes into the axes in which the spheres were listed.
    pub axes: DQuat,
    /// The convex polyhedron that the grains are instead of a sphere, about the centre of mass and along the principal axes. The one sphere
    /// of such a clump is that around the polyhedron.
    pub hull: Option<Convex>,
}

/// Integrals over a solid of density 1: volume, ∫ x, and the six ∫ x_i x_j.
#[derive(Debug, Clone, Copy, Default)]
struct Integrals {
    volume: f64,
    first: DVec3,
    /// Components xx, yy, zz.
    square: DVec3,
    /// Components yz, xz, xy.
    mixed: DVec3,
}

impl Clump {
    /// Makes a clump of these spheres (centre \[m\], radius \[m\]), listed in any axes.
    ///
    /// # Panics
    /// Without spheres.
    pub fn of_spheres(name: &str, spheres: &[(DVec3, f64)]) -> Clump {
        let solid = Integrals::of_union(spheres);
        let centre = solid.first / solid.volume;
        let (moments, axes) = principal(solid.inertia_about(centre));
        let place = |&(sphere, radius): &(DVec3, f64)| (axes.conjugate() * (sphere - centre), radius);
        Clump {
            name: name.to_owned(),
            spheres: spheres.iter().map(place).collect(),
            volume: solid.volume,
            moments,
            given: None,
            axes,
            hull: None,
        }
    }

    /// Makes a kind of grain that is this convex polyhedron, in any axes.
    pub fn of_hull(name: &str, hull: &Convex) -> Clump {
        let solid = Solid::of_hull(hull);
        let (moments, axes) = principal(solid.inertia);
        let hull = hull.placed_about(solid.centre, axes);
        Clump {
            name: name.to_owned(),
            spheres: vec![(DVec3::ZERO, hull.radius)],
            volume: solid.volume,
            moments,
            given: None,
            axes,
            hull: Some(hull),
        }
    }

    /// Makes a clump of this mass \[kg\] and these moments of inertia \[kg m²\], with spheres listed about its centre of mass and along
    /// its principal axes.
    ///
    /// # Panics
    /// Without spheres.
    pub fn with_mass(name: &str, spheres: &[(DVec3, f64)], mass: f64, moments: DVec3) -> Clump {
        Clump {
            spheres: spheres.to_vec(),
            given: Some((mass, moments)),
            axes: DQuat::IDENTITY,
            ..Clump::of_spheres(name, spheres)
        }
    }

    /// A cube, for the tests of other modules.
    #[cfg(test)]
    pub(crate) fn cube(half: f64) -> Clump {
        Clump::of_hull("cube", &Convex::cuboid(DVec3::splat(half)))
    }

    /// Radius of a sphere of the same volume \[m\].
    pub fn equivalent_radius(&self) -> f64 {
        (self.volume / sphere_volume(1.0)).cbrt()
    }

    /// Radius of a ball about the centre of mass that holds all spheres \[m\].
    pub fn bounding_radius(&self) -> f64 {
        self.spheres.iter().map(|(centre, radius)| centre.length() + radius).fold(0.0, f64::max)
    }

    /// Radius of the largest sphere \[m\].
    pub fn largest_radius(&self) -> f64 {
        self.spheres.iter().map(|(_, radius)| *radius).fold(0.0, f64::max)
    }

    /// Ratio of the size of a grain of this equivalent radius \[m\] to the listed size \[-\].
    pub fn scale(&self, radius: f64) -> f64 {
        radius / self.equivalent_radius()
    }

    /// Mass \[kg\] of a grain of this equivalent radius \[m\] and density \[kg/m³\].
    pub fn mass(&self, radius: f64, density: f64) -> f64 {
        let mass = self.given.map_or(density * self.volume, |(mass, _)| mass);
        mass * self.scale(radius).powi(3)
    }

    /// Principal moments of inertia \[kg m²\] of a grain of this equivalent radius \[m\] and density \[kg/m³\].
    pub fn moments(&self, radius: f64, density: f64) -> DVec3 {
        let moments = self.given.map_or(density * self.moments, |(_, moments)| moments);
        moments * self.scale(radius).powi(5)
    }
}

/// Centres \[m\] and radii \[m\] of the spheres of a grain to be added, which is one of these clumps or a sphere.
pub fn spheres_of(clumps: &[Clump], grain: &Grain) -> Vec<(DVec3, f64)> {
    let Some(clump) = grain.clump.map(|clump| &clumps[clump as usize]) else {
        return vec![(grain.position, grain.radius)];
    };
    let (scale, turn) = (clump.scale(grain.radius), grain.orientation * clump.axes);
    let place = |&(centre, radius): &(DVec3, f64)| (grain.position + turn * (scale * centre), scale * radius);
    clump.spheres.iter().map(place).collect()
}

impl Integrals {
    fn of_union(spheres: &[(DVec3, f64)]) -> Integrals {
        assert!(!spheres.is_empty(), "a clump has spheres");
        let disjoint = |i: usize| {
            let (centre, radius) = spheres[i];
            spheres[..i].iter().all(|(other, size)| centre.distance(*other) >= radius + size)
        };
        if (0..spheres.len()).all(disjoint) {
            return spheres
                .iter()
                .map(|&(centre, radius)| Integrals::of_sphere(centre, radius))
                .fold(Integrals::default(), |sum, sphere| sum.plus(&sphere, 1.0));
        }
        integrate_pieces(kinks_along_z(spheres), |z| Integrals::of_slice(spheres, z))
    }

    fn of_sphere(centre: DVec3, radius: f64) -> Integrals {
        let volume = sphere_volume(radius);
        let mixed = DVec3::new(centre.y * centre.z, centre.x * centre.z, centre.x * centre.y);
        Integrals {
            volume,
            first: volume * centre,
            square: volume * (centre * centre + DVec3::splat(radius * radius / 5.0)),
            mixed: volume * mixed,
        }
    }

    /// Integrals over the discs in which the plane at `z` cuts the spheres, per length along z.
    fn of_slice(spheres: &[(DVec3, f64)], z: f64) -> Integrals {
        let disc = |&(centre, radius): &(DVec3, f64)| {
            let square = radius * radius - (z - centre.z).powi(2);
            (square > 0.0).then(|| (DVec2::new(centre.x, centre.y), square.sqrt()))
        };
        let discs: Vec<(DVec2, f64)> = spheres.iter().filter_map(disc).collect();
        integrate_pieces(kinks_along_y(&discs), |y| Integrals::of_line(&discs, y, z))
    }

    /// Integrals over the parts of the line at `y` and `z` inside the union of the discs, per area across the line.
    fn of_line(discs: &[(DVec2, f64)], y: f64, z: f64) -> Integrals {
        let chord = |&(centre, radius): &(DVec2, f64)| {
            let square = radius * radius - (y - centre.y).powi(2);
            (square > 0.0).then(|| [centre.x - square.sqrt(), centre.x + square.sqrt()])
        };
        let mut chords: Vec<[f64; 2]> = discs.iter().filter_map(chord).collect();
        chords.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut sum = Integrals::default();
        let mut covered = f64::NEG_INFINITY;
        for [from, to] in chords {
            let from = from.max(covered);
            if to > from {
                sum = sum.plus(&Integrals::of_segment(from, to, y, z), 1.0);
                covered = to;
            }
        }
        sum
    }

    fn of_segment(from: f64, to: f64, y: f64, z: f64) -> Integrals {
        let power = |n: i32| (to.powi(n) - from.powi(n)) / f64::from(n);
        let (length, x, xx) = (power(1), power(2), power(3));
        Integrals {
            volume: length,
            first: DVec3::new(x, length * y, length * z),
            square: DVec3::new(xx, length * y * y, length * z * z),
            mixed: DVec3::new(length * y * z, x * z, x * y),
        }
    }

    fn plus(self, other: &Integrals, weight: f64) -> Integrals {
        Integrals {
            volume: self.volume + weight * other.volume,
            first: self.first + weight * other.first,
            square: self.square + weight * other.square,
            mixed: self.mixed + weight * other.mixed,
        }
    }

    /// Inertia tensor about `centre`, of density 1 \[m⁵\].
    fn inertia_about(&self, centre: DVec3) -> DMat3 {
        let shifted = |sum: f64, i: usize, j: usize| sum - self.volume * centre[i] * centre[j];
        let [xx, yy, zz] = [0, 1, 2].map(|axis| shifted(self.square[axis], axis, axis));
        let (yz, xz, xy) =
            (shifted(self.mixed.x, 1, 2), shifted(self.mixed.y, 0, 2), shifted(self.mixed.z, 0, 1));
        DMat3::from_cols(
            DVec3::new(yy + zz, -xy, -xz),
            DVec3::new(-xy, xx + zz, -yz),
            DVec3::new(-xz, -yz, xx + yy),
        )
    }
}

/// Kinks along z of the integrals of the slices: the ends of the spheres, and of the circles in which two of them meet.
fn kinks_along_z(spheres: &[(DVec3, f64)]) -> Vec<f64> {
    let ends = spheres.iter().flat_map(|(centre, radius)| [centre.z - radius, centre.z + radius]);
    let pairs = spheres.iter().enumerate().flat_map(|(i, a)| spheres[..i].iter().map(move |b| (a, b)));
    let circles = pairs.filter_map(|(&(a, size_a), &(b, size_b))| {
        let distance = a.distance(b);
        let along = (b - a) / distance;
        let from_a = (distance * distance + size_a * size_a - size_b * size_b) / (2.0 * distance);
        let square = size_a * size_a - from_a * from_a;
        let reach = (square * (1.0 - along.z * along.z)).max(0.0).sqrt();
        let middle = (a + from_a * along).z;
        (distance > 0.0 && square > 0.0).then_some([middle - reach, middle + reach])
    });
    ends.chain(circles.flatten()).collect()
}

/// Kinks along y of the integrals of the lines of a slice: the ends of the discs, and the points where two outlines cross.
fn kinks_along_y(discs: &[(DVec2, f64)]) -> Vec<f64> {
    let ends = discs.iter().flat_map(|(centre, radius)| [centre.y - radius, centre.y + radius]);
    let pairs = discs.iter().enumerate().flat_map(|(i, a)| discs[..i].iter().map(move |b| (a, b)));
    let crossings = pairs.filter_map(|(&(a, size_a), &(b, size_b))| {
        let distance = a.distance(b);
        let along = (b - a) / distance;
        let from_a = (distance * distance + size_a * size_a - size_b * size_b) / (2.0 * distance);
        let square = size_a * size_a - from_a * from_a;
        let middle = (a + from_a * along).y;
        let reach = square.max(0.0).sqrt() * along.x;
        (distance > 0.0 && square > 0.0).then_some([middle - reach, middle + reach])
    });
    ends.chain(crossings.flatten()).collect()
}

/// Integrates over all pieces between `places`. With x = middle + half · sin(t), a square root at an end of a piece becomes smooth.
fn integrate_pieces(mut places: Vec<f64>, at: impl Fn(f64) -> Integrals) -> Integrals {
    places.sort_by(f64::total_cmp);
    let mut sum = Integrals::default();
    for piece in places.windows(2).filter(|piece| piece[1] > piece[0]) {
        let (middle, half) = (0.5 * (piece[0] + piece[1]), 0.5 * (piece[1] - piece[0]));
        for (point, weight) in *GAUSS_LEGENDRE {
            let angle = std::f64::consts::FRAC_PI_2 * point;
            let weight = std::f64::consts::FRAC_PI_2 * weight * half * angle.cos();
            sum = sum.plus(&at(middle + half * angle.sin()), weight);
        }
    }
    sum
}

/// Points and weights of Gauss' rule on -1 to 1, computed once.
static GAUSS_LEGENDRE: LazyLock<[(f64, f64); ORDER]> = LazyLock::new(gauss_legendre);

/// Computes points and weights of Gauss' rule on -1 to 1, by Newton's method on the Legendre polynomial.
fn gauss_legendre() -> [(f64, f64); ORDER] {
    std::array::from_fn(|i| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (ORDER as f64 + 0.5)).cos();
        let mut slope = 1.0;
        for _ in 0..20 {
            let (mut value, mut before) = (1.0, 0.0);
            for n in 1..=ORDER {
                let n = n as f64;
                (value, before) = (((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n, value);
            }
            slope = ORDER as f64 * (x * value - before) / (x * x - 1.0);
            x -= value / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(found: f64, expected: f64) -> f64 {
        (found / expected - 1.0).abs()
    }

    #[test]
    fn spheres_apart_are_summed_in_closed_form() {
        let spheres = [(DVec3::X, 0.5), (DVec3::NEG_X, 0.5)];
        let clump = Clump::of_spheres("dumbbell", &spheres);
        let mass = sphere_volume(0.5);
        assert!(relative(clump.volume, 2.0 * mass) < 1e-15);
        let (along, across) = (2.0 * mass * 0.4 * 0.25, 2.0 * mass * (0.4 * 0.25 + 1.0));
        assert!((clump.moments - DVec3::new(along, across, across)).length() < 1e-14 * across);
        assert_eq!((clump.axes, clump.spheres[0]), (DQuat::IDENTITY, (DVec3::X, 0.5)));
    }

    /// Checks volume and moments of the union, spheres of radius r at ±d/2 with d < 2 r, against closed forms of two spherical caps,
    /// integrated along the line of centres.
    #[test]
    fn two_spheres_that_overlap_have_the_volume_and_moments_of_their_caps() {
        let (r, d) = (1.0f64, 1.2f64);
        let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -0.9, 0.3));
        let place = |x: f64| DVec3::new(3.0, -2.0, 1.0) + turn * (DVec3::X * x);
        let clump = Clump::of_spheres("peanut", &[(place(0.5 * d), r), (place(-0.5 * d), r)]);
        // One half: a sphere about d/2, cut off at 0, of discs with area π (r² - u²), u = x - d/2, from -d/2 to r.
        let pi = std::f64::consts::PI;
        let (low, high) = (-0.5 * d, r);
        let integral = |f: &dyn Fn(f64) -> f64| {
            GAUSS_LEGENDRE
                .iter()
                .map(|(x, w)| 0.5 * (high - low) * w * f(0.5 * (low + high) + 0.5 * (high - low) * x))
                .sum::<f64>()
        };
        let area = |u: f64| pi * (r * r - u * u);
        let volume = 2.0 * integral(&area);
        let along = 2.0 * integral(&|u| 0.5 * area(u) * area(u) / pi);
        let across = 0.5 * along + 2.0 * integral(&|u| area(u) * (u + 0.5 * d).powi(2));
        assert!(relative(clump.volume, volume) < 1e-8, "{:e}", relative(clump.volume, volume));
        let mut moments = clump.moments.to_array();
        moments.sort_by(f64::total_cmp);
        for (found, expected) in moments.into_iter().zip([along, across, across]) {
            assert!(relative(found, expected) < 1e-7, "{found} instead of {expected}");
        }
        // The spheres keep their places, given about the centre and along the principal axes.
        let back = place(0.0) + clump.axes * clump.spheres[0].0;
        assert!((back - place(0.5 * d)).length() < 1e-9, "{back}");
    }

    /// Checks the three overlapping spheres of `triangular_flat.csv` of DEM-Engine against many random points.
    #[test]
    fn three_spheres_agree_with_what_random_points_say() {
        let spheres = [
            (DVec3::new(0.0, -0.41, 0.0), 0.8),
            (DVec3::new(-0.33, 0.19, 0.0), 0.8),
            (DVec3::new(0.29, 0.19, 0.0), 0.8),
        ];
        let solid = Integrals::of_union(&spheres);
        // An additive lattice: points of low discrepancy in a box that holds all spheres.
        let (low, size) = (DVec3::new(-1.2, -1.3, -0.8), DVec3::new(2.4, 2.4, 1.6));
        let count = 400_000u32;
        let mut sum = Integrals::default();
        for i in 0..count {
            let place = (f64::from(i) * DVec3::new(0.819_172_5, 0.671_043_6, 0.549_700_5)).fract();
            let point = low + place * size;
            if spheres.iter().any(|(centre, radius)| point.distance(*centre) < *radius) {
                let cell = size.element_product() / f64::from(count);
                let mixed = DVec3::new(point.y * point.z, point.x * point.z, point.x * point.y);
                let square = point * point;
                sum = sum.plus(&Integrals { volume: 1.0, first: point, square, mixed }, cell);
            }
        }
        assert!(relative(solid.volume, sum.volume) < 1e-3, "{} {}", solid.volume, sum.volume);
        assert!((solid.square - sum.square).length() < 2e-3 * sum.square.length());
        assert!((solid.mixed - sum.mixed).length() < 2e-3 * sum.square.length());
        let twice_seen: f64 = spheres.iter().map(|(_, radius)| sphere_volume(*radius)).sum();
        assert!(solid.volume < 0.7 * twice_seen, "what overlaps counts once");
    }

    #[test]
    fn the_error_of_three_spheres_is_what_the_head_of_this_file_says() {
        let spheres =
            [(DVec3::ZERO, 1.0), (DVec3::new(0.7, 0.3, 0.2), 0.8), (DVec3::new(0.1, 0.8, -0.3), 0.6)];
        let volume = |turn: DQuat| {
            let turned = spheres.map(|(centre, radius)| (turn * centre, radius));
            Integrals::of_union(&turned).volume
        };
        let volumes: Vec<f64> = (0..8)
            .map(|i| volume(DQuat::from_scaled_axis(DVec3::new(0.3, 0.5, 0.7) * f64::from(i))))
            .collect();
        for found in &volumes {
            assert!(relative(*found, volumes[0]) < 1e-5, "{volumes:?}");
        }
    }

    #[test]
    fn size_and_density_scale_mass_and_moments() {
        let clump = Clump::of_spheres("pair", &[(DVec3::ZERO, 1.0), (DVec3::Z, 0.5)]);
        let radius = 0.3 * clump.equivalent_radius();
        assert!(relative(clump.mass(radius, 2000.0), 2000.0 * 0.027 * clump.volume) < 1e-12);
        let moments = clump.moments(radius, 2000.0);
        assert!((moments / clump.moments / 2000.0 / 0.3f64.powi(5) - DVec3::ONE).length() < 1e-12);
        let given = Clump::with_mass("heavy", &[(DVec3::ZERO, 1.0), (DVec3::Z, 0.5)], 7.0, DVec3::ONE);
        assert!(relative(given.mass(given.equivalent_radius(), 1.0), 7.0) < 1e-12);
        assert_eq!(given.spheres[1], (DVec3::Z, 0.5));
    }
}
