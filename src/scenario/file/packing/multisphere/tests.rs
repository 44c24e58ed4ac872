use super::*;
use crate::model::{Random, random::Stream};

/// Four spheres whose mirror image is another shape.
const SHAPE: [(DVec3, f64); 4] = [
    (DVec3::ZERO, 0.010),
    (DVec3::new(0.012, 0.0, 0.0), 0.008),
    (DVec3::new(0.0, 0.009, 0.0), 0.008),
    (DVec3::new(0.0, 0.0, 0.007), 0.008),
];

/// Motion of the bodies that are drawn.
#[derive(Clone, Copy)]
struct Place {
    position: DVec3,
    turn: DQuat,
    velocity: DVec3,
    spin: DVec3,
}

/// Rows of a body of these spheres, listed from the sphere `first` on.
fn rows(id: u64, spheres: &[(DVec3, f64)], place: &Place, first: usize) -> Vec<GrainRow> {
    let row = |&(centre, radius): &(DVec3, f64)| {
        let arm = place.turn * centre;
        let velocity = Some(place.velocity + place.spin.cross(arm));
        GrainRow {
            position: place.position + arm,
            radius: Some(radius),
            motion: InitialMotion { velocity, angular_velocity: None },
            weight: Weight::OfMaterial,
            orientation: None,
            temperature: None,
            material: None,
            body: Body::Part(id),
        }
    };
    let mut rows: Vec<GrainRow> = spheres.iter().map(row).collect();
    rows.rotate_left(first);
    rows
}

fn gathered(rows: Vec<GrainRow>) -> Result<Gathered, String> {
    gather(rows, "d.dump", &|apart| apart)
}

fn places(count: usize) -> Vec<Place> {
    let mut random = Random::new(1, Stream::Grains(0));
    let mut vector = || DVec3::from_array([0; 3].map(|_| random.normal()));
    (0..count)
        .map(|_| Place {
            position: vector(),
            turn: DQuat::from_scaled_axis(2.0 * vector()),
            velocity: vector(),
            spin: 10.0 * vector(),
        })
        .collect()
}

/// Spheres of a clump in the place of a row.
fn spheres_of(found: &Gathered, row: &GrainRow) -> Vec<(DVec3, f64)> {
    let Body::Clump(clump) = row.body else { panic!("{row:?}") };
    let clump = &found.clumps[clump as usize];
    let turn = row.orientation.expect("an orientation") * clump.axes;
    clump.spheres.iter().map(|&(centre, radius)| (row.position + turn * centre, radius)).collect()
}

/// Bodies that differ by a motion and by the order of their spheres share one clump, whose spheres lie where those of the file lie, and
/// move as they do, to rounding; a mirror image is another shape.
#[test]
fn bodies_of_one_shape_share_a_clump_and_keep_their_spheres_and_velocities() {
    let places = places(12);
    let mirrored = SHAPE.map(|(centre, radius)| (centre * DVec3::new(1.0, 1.0, -1.0), radius));
    let bodies = places.iter().enumerate().map(|(i, place)| {
        let shape = if i == 11 { &mirrored } else { &SHAPE };
        rows(i as u64 + 1, shape, place, i % 4)
    });
    let bodies: Vec<Vec<GrainRow>> = bodies.collect();
    let found = gathered(bodies.concat()).expect("bodies");
    assert_eq!((found.rows.len(), found.clumps.len()), (12, 2));
    assert_eq!(found.told, "; 48 spheres are 12 bodies of 2 shapes, by id_multisphere");
    for (i, (row, place)) in found.rows.iter().zip(&places).enumerate() {
        assert_eq!(row.body, Body::Clump(u32::from(i == 11)));
        let spheres = spheres_of(&found, row);
        for given in &bodies[i] {
            let is_it = |(centre, radius): &(DVec3, f64)| {
                centre.distance(given.position) < 1e-12 && Some(*radius) == given.radius
            };
            assert!(spheres.iter().any(is_it), "body {i}");
        }
        let [velocity, spin] =
            [row.motion.velocity, row.motion.angular_velocity].map(Option::unwrap_or_default);
        // The weight of no turn takes a millionth of the angular velocity at most, times the spread over the least moment.
        assert!(spin.distance(place.spin) < 1e-5 * place.spin.length(), "{spin} {}", place.spin);
        let expected = place.velocity + place.spin.cross(row.position - place.position);
        assert!(velocity.distance(expected) < 1e-7 * place.spin.length(), "{velocity} {expected}");
    }
}

/// In a file of six digits places are off by 5e-6 of the coordinates, here a hundredth of a radius at most.
#[test]
fn six_digits_are_enough_to_know_a_shape() {
    let round = |number: f64| format!("{number:.5e}").parse::<f64>().expect("a number");
    let mut all: Vec<GrainRow> =
        places(40).iter().enumerate().flat_map(|(i, place)| rows(i as u64 + 1, &SHAPE, place, 0)).collect();
    for row in &mut all {
        row.position = DVec3::from_array(row.position.to_array().map(round));
        row.motion.velocity =
            row.motion.velocity.map(|velocity| DVec3::from_array(velocity.to_array().map(round)));
    }
    assert_eq!(gathered(all).expect("bodies").clumps.len(), 1);
}

/// What velocities say nothing about, the spin of a line of spheres about itself, is 0, or what the file says.
#[test]
fn a_line_of_spheres_spins_about_itself_as_the_file_says() {
    let line = [(DVec3::ZERO, 0.01), (DVec3::X * 0.015, 0.01)];
    let place =
        Place { turn: DQuat::IDENTITY, position: DVec3::ONE, velocity: DVec3::Y, spin: DVec3::Z * 3.0 };
    let silent = rows(7, &line, &place, 0);
    let mut told = silent.clone();
    for row in &mut told {
        row.motion.angular_velocity = Some(DVec3::new(5.0, 0.0, 3.0));
    }
    for (rows, expected) in [(silent, DVec3::Z * 3.0), (told, DVec3::new(5.0, 0.0, 3.0))] {
        let found = gathered(rows).expect("a body");
        let spin = found.rows[0].motion.angular_velocity.expect("a spin");
        assert!(spin.distance(expected) < 1e-5, "{spin}");
        // Two equal spheres: the centre of mass is half-way.
        let velocity = found.rows[0].motion.velocity.expect("a velocity");
        assert!(velocity.distance(DVec3::Y * (1.0 + 3.0 * 0.0075)) < 1e-6, "{velocity}");
        assert!(found.rows[0].position.distance(DVec3::ONE + DVec3::X * 0.0075) < 1e-9);
    }
}

#[test]
fn spheres_alone_stay_spheres_and_what_is_no_body_is_refused_with_its_id() {
    let place = places(1)[0];
    let good = rows(3, &SHAPE, &place, 0);
    let single = GrainRow { body: Body::Sphere, ..good[0] };
    let lone = GrainRow { body: Body::Part(9), ..good[1] };
    let found = gathered(vec![single, lone]).expect("spheres");
    assert_eq!((found.rows, found.clumps.len()), (vec![single, GrainRow { body: Body::Sphere, ..lone }], 0));
    let wrong = |change: &dyn Fn(&mut GrainRow)| {
        let mut rows = good.clone();
        change(&mut rows[2]);
        gathered(rows).map(|found| found.told).expect_err("no body")
    };
    for (change, cause) in [
        (&(|row: &mut GrainRow| row.material = Some(1)) as &dyn Fn(&mut GrainRow), "are of several types"),
        (&|row| row.radius = None, "have no column `radius`"),
        (&|row| row.weight = Weight::Mass(2.0), "have a mass of 0 and 2"),
        (&|row| row.motion.velocity = Some(DVec3::X * 100.0), "expected a body that moves as one"),
    ] {
        let wrong = wrong(change);
        assert!(wrong.contains("the spheres of id_multisphere 3 ") && wrong.contains(cause), "{wrong}");
    }
    // LIGGGHTS writes the mass of the body with each of its spheres.
    let heavy: Vec<GrainRow> =
        good.iter().map(|row| GrainRow { weight: Weight::Mass(2.0), ..*row }).collect();
    let found = gathered(heavy).expect("a body");
    assert_eq!(found.rows[0].weight, Weight::Mass(2.0));
    assert!(found.told.ends_with("the mass of each sphere being that of its whole body"), "{}", found.told);
}
