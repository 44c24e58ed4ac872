//! Bodies of several spheres in the files of other programs: each becomes a clump.

use super::*;

use glam::{DQuat, DVec3};

/// Centres of two spheres of a body, about the middle between them.
const HALF: DVec3 = DVec3::new(0.004, 0.003, 0.0);
const RADIUS: f64 = 0.01;
const SPIN: DVec3 = DVec3::new(0.0, 0.0, 20.0);

/// A dump of two bodies of two spheres, the second turned by a quarter about z and spinning, and of a sphere of its own between them.
fn bodies_of(multisphere: &str) -> String {
    let turned = DVec3::new(-HALF.y, HALF.x, 0.0);
    let first = DVec3::new(0.1, 0.2, 0.3);
    let second = DVec3::new(0.2, 0.2, 0.3);
    let rim = SPIN.cross(turned);
    let rows = [
        (4, first + HALF, DVec3::ZERO),
        (-1, DVec3::new(0.15, 0.2, 0.3), DVec3::X),
        (9, second + turned, DVec3::Y + rim),
        (4, first - HALF, DVec3::ZERO),
        (9, second - turned, DVec3::Y - rim),
    ];
    let line = |(i, (id, place, velocity)): (usize, (i32, DVec3, DVec3))| {
        let [DVec3 { x, y, z }, DVec3 { x: u, y: v, z: w }] = [place, velocity];
        format!("{} 1 {x} {y} {z} {u} {v} {w} {RADIUS} 1200 {id}\n", i + 1)
    };
    let lines: String = rows.into_iter().enumerate().map(line).collect();
    format!(
        "ITEM: TIMESTEP\n100\nITEM: NUMBER OF ATOMS\n5\nITEM: BOX BOUNDS ff ff ff\n0 1\n0 1\n0 1\n\
         ITEM: ATOMS id type x y z vx vy vz radius density {multisphere}\n{lines}"
    )
}

/// The bodies of a dump against the same made by hand, a clump of two spheres in a list of two places.
#[test]
fn bodies_of_a_dump_are_clumps_of_their_union() {
    let found = grains("d.dump", &bodies_of("id_multisphere"), "", GLASS).expect("bodies");
    assert!(
        found.notes[0].contains("3 grains of step 100")
            && found.notes[0].contains("4 spheres are 2 bodies of 1 shapes"),
        "{}",
        found.notes[0]
    );
    let sphere = |place: DVec3| format!("{{ position = {}, radius = {RADIUS} }}", place);
    let by_hand = format!(
        "[clumps.pair]\nspheres = [{}, {}]\n[[grains]]\nmaterial = \"glass\"\nclump = \"pair\"\npacking = {{ kind = \"list\", positions = [[0.1, 0.2, 0.3]] }}\n",
        sphere(HALF),
        sphere(-HALF)
    );
    let by_hand = read("a", "", &by_hand).expect("a clump");
    let (world, other) = (&found.world, &by_hand.world);
    let ratio = 1200.0 / 2500.0;
    assert_eq!((world.grain_count(), world.clumps.len()), (3, 1));
    for grain in [0, 2] {
        let body = world.grain_body(grain);
        assert!((world.grain_mass(grain) / (ratio * other.grain_mass(0)) - 1.0).abs() < ROUNDING);
        // The same quadrature of the same union, listed about another point: 1e-12 of each moment are a hundred roundings.
        let (mut here, mut there) =
            (world.bodies.moments[body], ratio * other.bodies.moments[other.grain_body(0)]);
        (here, there) = (sorted(here), sorted(there));
        assert!((here / there - DVec3::ONE).abs().max_element() < 1e-7, "{here} {there}");
    }
    let middle = |grain: usize| world.bodies.position[world.grain_body(grain)];
    assert!(middle(0).distance(DVec3::new(0.1, 0.2, 0.3)) < 1e-9);
    assert!(middle(2).distance(DVec3::new(0.2, 0.2, 0.3)) < 1e-9);
    let body = world.grain_body(2);
    let (velocity, spin) = (world.bodies.velocity[body], world.bodies.angular_velocity[body]);
    assert!(velocity.distance(DVec3::Y) < 1e-6 && spin.distance(SPIN) < 1e-4, "{velocity} {spin}");
    // The quarter turn from the first body to the second.
    let [one, two] = [0, 2].map(|grain| world.bodies.orientation[world.grain_body(grain)]);
    let turned = two * one.conjugate() * HALF;
    let along = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2) * HALF;
    assert!(turned.distance(along).min(turned.distance(-along)) < 1e-9, "{turned}");
    // Without the column the spheres are grains of their own, each half inside another.
    let loose = grains("d.dump", &bodies_of("c_body"), "", &format!("{GLASS}\nallow_overlap = true"));
    assert_eq!(loose.expect("spheres").world.grain_count(), 5);
}

fn sorted(vector: DVec3) -> DVec3 {
    let mut numbers = vector.to_array();
    numbers.sort_by(f64::total_cmp);
    DVec3::from_array(numbers)
}

/// A body in free flight keeps the distance of its spheres and its momentum, on both engines; loose spheres would push each other out.
#[test]
fn bodies_of_a_dump_stay_whole_on_both_engines() {
    let mut scenario = grains("d.dump", &bodies_of("id_multisphere"), "", GLASS).expect("bodies");
    scenario.world.gravity = DVec3::ZERO;
    for engine in &mut both(&scenario.world, &scenario.settings) {
        engine.advance(10).expect("steps");
        let world = engine.snapshot().expect("a state").world;
        let spheres = world.grains[2].spheres();
        let [a, b] = [spheres.start, spheres.start + 1].map(|i| world.sphere_centre(&world.spheres[i]));
        // Offsets in single precision: 1e-7 of the 0.01 m to the centre, and a turn that is off by as much.
        assert!((a.distance(b) - 2.0 * HALF.length()).abs() < 1e-7, "{a} {b}");
        let velocity = world.bodies.velocity[world.grain_body(2)];
        assert!(velocity.distance(DVec3::Y) < 1e-6, "{velocity}");
    }
}

#[test]
fn bodies_have_no_place_in_a_block_of_clumps_or_in_a_plane() {
    let clump = "[clumps.pair]\nspheres = [{ position = [0, 0, 0], radius = 0.01 }]\n";
    let block = "[[grains]]\nmaterial = \"glass\"\npacking = { kind = \"dump\", file = \"d.dump\" }\n";
    let dump = bodies_of("id_multisphere");
    let wrong = mistake(read("d.dump", &dump, &format!("{clump}{block}clump = \"pair\"\n")));
    assert!(wrong.contains("its file has bodies of several spheres"), "{wrong}");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("d.dump"), &dump).expect("written");
    let wrong =
        mistake(Scenario::parse("case", &format!("plane = \"xz\"\n{HEAD}{block}"), folder.path(), &[]));
    assert!(wrong.contains("the scene is in a plane"), "{wrong}");
}
