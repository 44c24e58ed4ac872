//! Volume that two convex solids have in common.
//!
//! Its surface is what each solid has of its faces within the other one. Their pyramids over a common point, (area × height) / 3, are the
//! volume.

use glam::DVec3;

use super::convex::Convex;
use super::pair::{Pair, SolidPose};

/// Distance by which faces of the one count as within the other, and those of the other as outside of the one, over the smaller of both
/// \[-\]: a face that both share counts once.
const SHARED: f64 = 1e-9;

/// Volume that two convex solids have in common \[m³\]; of round solids that of the polyhedra that stand for them, without roundings.
pub fn common_volume(a: &Convex, at_a: &SolidPose, b: &Convex, at_b: &SolidPose) -> f64 {
    let pair = Pair::new(a, at_a, b, at_b);
    let margin = SHARED * pair.size();
    let planes_a: Vec<(DVec3, f64)> = a.faces.iter().map(|face| (face.normal, face.offset)).collect();
    let plane_of_b = |normal: DVec3, offset: f64| {
        let normal = pair.frame * normal;
        (normal, pair.scale * offset + normal.dot(pair.origin))
    };
    let planes_b: Vec<(DVec3, f64)> =
        b.faces.iter().map(|face| plane_of_b(face.normal, face.offset)).collect();
    let apex = pair.point_in_a(b.middle).midpoint(a.middle);
    let pyramid =
        |corners: Vec<DVec3>, &(normal, offset): &(DVec3, f64), cuts: &[(DVec3, f64)], margin: f64| {
            let within = cuts
                .iter()
                .fold(corners, |polygon, (normal, offset)| cut(&polygon, *normal, offset + margin));
            area(&within, normal) * (offset - normal.dot(apex)) / 3.0
        };
    let of_a = a
        .faces
        .iter()
        .zip(&planes_a)
        .map(|(face, plane)| pyramid(a.face_corners(face).collect(), plane, &planes_b, margin));
    let of_b = b.faces.iter().zip(&planes_b).map(|(face, plane)| {
        pyramid(
            b.face_corners(face).map(|corner| pair.point_in_a(corner)).collect(),
            plane,
            &planes_a,
            -margin,
        )
    });
    (of_a.sum::<f64>() + of_b.sum::<f64>()).max(0.0) * at_a.scale.powi(3)
}

/// Part of a convex polygon with heights along a normal up to a bound.
fn cut(polygon: &[DVec3], normal: DVec3, bound: f64) -> Vec<DVec3> {
    let height = |corner: DVec3| normal.dot(corner) - bound;
    let next = polygon.iter().cycle().skip(1);
    let side = |(&from, &to): (&DVec3, &DVec3)| {
        let [below, above] = [height(from), height(to)];
        let crossing = (below < 0.0) != (above < 0.0);
        let kept = (below < 0.0).then_some(from);
        kept.into_iter().chain(crossing.then(|| from.lerp(to, below / (below - above))))
    };
    polygon.iter().zip(next).flat_map(side).collect()
}

/// Area of a convex polygon whose corners run counter-clockwise seen against its normal.
fn area(polygon: &[DVec3], normal: DVec3) -> f64 {
    let Some((&first, rest)) = polygon.split_first() else { return 0.0 };
    let triangle = |side: &[DVec3]| (side[0] - first).cross(side[1] - first).dot(normal);
    0.5 * rest.windows(2).map(triangle).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;

    fn at(position: DVec3, orientation: DQuat, scale: f64) -> SolidPose {
        SolidPose { position, orientation, scale }
    }

    fn of(a: &Convex, at_a: &SolidPose, b: &Convex, at_b: &SolidPose) -> f64 {
        let [one, other] = [common_volume(a, at_a, b, at_b), common_volume(b, at_b, a, at_a)];
        assert!((one - other).abs() < 1e-7, "{one} and {other}, in turn");
        one
    }

    #[test]
    fn boxes_have_the_box_in_common_in_which_they_overlap() {
        let cube = Convex::cuboid(DVec3::ONE);
        let here = at(DVec3::ZERO, DQuat::IDENTITY, 1.0);
        for (shift, expected) in [
            (DVec3::new(0.5, -0.25, 1.5), 1.5 * 1.75 * 0.5),
            (DVec3::ZERO, 8.0),
            (DVec3::new(0.0, 1.0, 0.0), 4.0),
            (DVec3::new(2.0, 0.0, 0.0), 0.0),
            (DVec3::new(0.0, 2.5, 0.0), 0.0),
        ] {
            let found = of(&cube, &here, &cube, &at(shift, DQuat::IDENTITY, 1.0));
            assert!((found - expected).abs() < 1e-7, "{shift}: {found} for {expected}");
        }
    }

    #[test]
    fn a_cube_turned_by_an_eighth_has_an_octagon_in_common_with_the_other() {
        let cube = Convex::cuboid(DVec3::ONE);
        let turned = at(DVec3::ZERO, DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4), 1.0);
        let found = of(&cube, &at(DVec3::ZERO, DQuat::IDENTITY, 1.0), &cube, &turned);
        // A regular octagon of inradius 1 has the area 8 tan(π/8).
        let expected = 2.0 * 8.0 * (2f64.sqrt() - 1.0);
        assert!((found - expected).abs() < 1e-7, "{found} for {expected}");
    }

    #[test]
    fn a_small_solid_inside_of_a_larger_one_is_all_of_what_they_share() {
        let cube = Convex::cuboid(DVec3::ONE);
        let turn = DQuat::from_scaled_axis(DVec3::new(0.3, 1.0, -0.4));
        let small = at(DVec3::new(5.0, 5.1, 4.9), turn, 0.2);
        let found = of(&cube, &small, &cube, &at(DVec3::splat(5.0), DQuat::IDENTITY, 1.0));
        assert!((found - 8.0 * 0.2f64.powi(3)).abs() < 1e-7, "{found}");
    }

    /// Points spread evenly over the one are counted in the other.
    #[test]
    fn tetrahedra_share_what_counting_points_tells() {
        let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
        let solid = Convex::hull(&corners.map(DVec3::from)).expect("a solid");
        let there = at(DVec3::new(0.3, 0.2, -0.1), DQuat::from_scaled_axis(DVec3::new(0.5, 0.7, 0.2)), 1.0);
        let count = 120;
        let place = |i: i32| (f64::from(i) + 0.5) / f64::from(count) * 2.0 - 1.0;
        let mut inside = 0;
        for (i, j, k) in
            (0..count).flat_map(|i| (0..count).flat_map(move |j| (0..count).map(move |k| (i, j, k))))
        {
            let point = DVec3::new(place(i), place(j), place(k));
            let seen = there.orientation.conjugate() * (point - there.position);
            inside += i32::from(solid.height_over_faces(point) < 0.0 && solid.height_over_faces(seen) < 0.0);
        }
        let counted = f64::from(inside) * (2.0 / f64::from(count)).powi(3);
        let found = of(&solid, &at(DVec3::ZERO, DQuat::IDENTITY, 1.0), &solid, &there);
        assert!((found / counted - 1.0).abs() < 5e-3, "{found} for {counted}");
    }
}
