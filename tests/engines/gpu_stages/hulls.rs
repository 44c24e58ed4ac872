//! Polyhedral grains: their pairs, and the points of their manifolds with each other, with spheres and with walls.

use super::*;
use esker::law::pair::Material;
use esker::model::random::{Random, Stream};
use esker::model::{Boundary, Clump, Materials, Motion, RigidBody, Side, Surface};
use esker::shape::Convex;

/// Hulls of random points on a ball of radius d, and a cube.
pub(super) fn kinds(random: &mut Random) -> Vec<Clump> {
    let mut hull = |corners: usize| {
        let points: Vec<DVec3> = (0..corners).map(|_| random.turn() * (D * DVec3::X)).collect();
        Clump::of_hull("stone", &Convex::hull(&points).unwrap())
    };
    let stones = [6, 9, 14, 20].map(&mut hull);
    stones.into_iter().chain([Clump::of_hull("cube", &Convex::cuboid(DVec3::splat(D)))]).collect()
}

fn add_wall(world: &mut World, form: Form, position: DVec3, orientation: DQuat) -> u32 {
    let name = format!("wall {}", world.boundaries.len());
    let surface = Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0);
    world.add_boundary(Boundary { name, position, orientation, motion: Motion::Fixed }, [surface]);
    world.surfaces.len() as u32 - 1
}

/// Hulls and spheres all over a box, as dense as a packing, on a floor, around a wall and a brick, and under a brick that is free to move.
/// One grain is removed.
fn crowd_of_hulls(count: usize, axes: &str) -> World {
    let mut random = Random::new(3, Stream::Grains(0));
    let mut world = World::new(9.81 * DVec3::NEG_Z, stone(0.4, 0.2));
    world.clumps = kinds(&mut random);
    world.sinks.push(Sink {
        name: "far".into(),
        bins: Vec::new(),
        form: Form::Sphere { radius: D },
        position: 1e3 * DVec3::ONE,
        orientation: DQuat::IDENTITY,
    });
    let side = (4.0 * D.powi(3) * count as f64 / 0.6).cbrt();
    // A period holds three of the largest grains.
    let period = side.max(17.0 * D);
    let has = |axis: usize| axes.contains(["x", "y", "z"][axis]);
    world.periodic.length = DVec3::from([0, 1, 2].map(|axis| if has(axis) { period } else { 0.0 }));
    let extent = DVec3::from([0, 1, 2].map(|axis| if has(axis) { period } else { side }));
    add_wall(&mut world, Form::Plane, DVec3::ZERO, DQuat::IDENTITY);
    let brick = Form::Box { half: DVec3::new(2.0, 1.0, 0.5) * D };
    add_wall(&mut world, brick, 0.3 * side * DVec3::ONE, random.turn());
    add_wall(&mut world, Form::Disc { radius: 2.0 * D }, 0.6 * side * DVec3::ONE, random.turn());
    let free = Boundary {
        name: "free".into(),
        position: 0.5 * side * DVec3::ONE,
        orientation: random.turn(),
        motion: Motion::Dynamic(RigidBody::solid(brick, 2500.0).unwrap()),
    };
    world.add_boundary(free, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, brick, 0)]);
    let grains: Vec<Grain> = (0..count)
        .map(|i| {
            let place = extent * (DVec3::splat(0.5) + random.in_cube(0.5));
            let orientation = random.turn();
            let clump = (i % 3 > 0).then_some((i % 5) as u32);
            let radius = random.between(0.5, 0.9) * D;
            Grain { orientation, clump, ..Grain::at(place, radius, 0) }
        })
        .collect();
    world.add_grains(grains);
    world.remove_grain(7, 0);
    world
}

#[test]
fn broadphase_finds_the_pairs_of_hulls_of_its_twin() {
    for axes in ["", "x", "xyz"] {
        let settings = Settings { skin: 0.1, ..Settings::default() };
        let mut case = Case::of_world("hulls", &crowd_of_hulls(400, axes), settings, 0);
        let expected = broadphase::find_pairs(&case.world, settings.reach());
        let most = expected.chunk_by(|x, y| x.a == y.a).map(<[Key]>::len).max();
        assert!(expected.len() > 1200 && most > Some(16), "{} contacts, {most:?} of one", expected.len());
        case.run(&SEARCH[..2]);
        let found = case.gpu.keys().unwrap();
        assert!(found.is_sorted(), "{axes}: keys ascend");
        assert_same_keys(&case, &found, &expected);
        // Owners of more than are remembered search again.
        case.gpu.fill_words("contacts", 0);
        case.gpu
            .edit_shaders(&[Edit { from: "REMEMBERED_OF_HULLS = 64u", to: "REMEMBERED_OF_HULLS = 9u" }])
            .unwrap();
        case.run(&SEARCH[..2]);
        assert_eq!(case.gpu.keys().unwrap(), found);
        // Counter-check: the spheres around hulls are more often near than the hulls.
        let of_spheres = Edit { from: "return may_be_near(pair, reach);", to: "return true;" };
        case.gpu.edit_shaders(&[of_spheres]).unwrap();
        case.run(&SEARCH[..2]);
        let of_spheres = case.gpu.keys().unwrap();
        assert!(
            of_spheres.len() > expected.len() + 50,
            "{} of spheres, {} of hulls",
            of_spheres.len(),
            expected.len()
        );
    }
}

/// The points of a manifold have one colour, so that hulls have colours for all their neighbours.
#[test]
fn few_contacts_of_hulls_are_without_a_colour() {
    let settings = Settings { skin: 0.1, ..Settings::default() };
    let uncoloured = |edits: &[Edit]| {
        let mut case = Case::of_world("hulls", &crowd_of_hulls(400, ""), settings, 0);
        case.gpu.edit_shaders(edits).unwrap();
        case.run(&SEARCH);
        let (keys, found) = (case.gpu.keys().unwrap(), case.gpu.colouring().unwrap());
        assert_eq!(oracle::colouring_fault(&case.world, &keys, &found), None);
        found.overflow().len() as f64 / keys.len() as f64
    };
    let share = uncoloured(&[]);
    // Counter-check: a colour for each point.
    let each = uncoloured(&[Edit { from: "(contact.b >> SHAPE_BITS) > 1u", to: "false" }]);
    assert!(share < 0.1 && each > 0.4, "{share} of the contacts, {each} with a colour for each point");
}

/// Moves a grain along the normal of its deepest contact with a shape until the gap is this \[m\].
pub(super) fn bring_near(world: &mut World, grain: usize, shape: u32, gap: f64) {
    let first = world.first_grain_shape();
    let own = first + world.grains[grain].first;
    let (a, b, sign) = if own < shape || shape < first { (own, shape, 1.0) } else { (shape, own, -1.0) };
    for _ in 0..8 {
        let ball = *world.ball(a).unwrap();
        let body = world.grain_body(grain);
        let deepest = world.manifold(&ball, b).and_then(|manifold| manifold.deepest().copied());
        let step = match deepest {
            Some(deepest) => sign * (gap - deepest.gap) * deepest.normal,
            // Farther apart than the contact radius.
            None if b < first => {
                let touch = world.touch_surface(&world.surfaces[b as usize], world.sphere_centre(&ball), 0.0);
                -ball.contact_radius * touch.unwrap().normal
            }
            None => panic!("{a} and {b} are far apart"),
        };
        world.bodies.position[body] += step;
    }
}

/// Pairs of a hull and another hull, a sphere that is smaller or larger, or a wall, each far from all others: a little apart, or a little
/// into each other.
fn pairs_of_hulls(count: usize) -> World {
    let mut random = Random::new(11, Stream::Grains(1));
    let rolling = Material { rolling_resistance: 0.1, ..stone(0.4, 0.2).list[0].clone() };
    let mut world = World::new(DVec3::ZERO, Materials::new(vec![rolling]));
    world.clumps = kinds(&mut random);
    let floor = -50.0 * D * DVec3::Z;
    add_wall(&mut world, Form::Plane, floor, DQuat::IDENTITY);
    let forms = [
        Form::Box { half: DVec3::new(1.5, 1.0, 0.6) * D },
        Form::Capsule { radius: 0.5 * D, length: D },
        Form::Sphere { radius: D },
        Form::Wall { bottom_radius: 6.0 * D, top_radius: 5.0 * D, length: 8.0 * D, side: Side::Inside },
        Form::Disc { radius: 6.0 * D },
    ];
    let place = |i: usize| 16.0 * D * DVec3::new((i % 8) as f64, (i / 8) as f64, 0.0);
    // Of ten pairs the last four are with these walls in turn.
    let walls: Vec<u32> = (0..count)
        .map(|i| {
            let form = forms[(i % 10 + i / 10) % 5];
            let shift = match form {
                _ if i % 10 < 6 => return 0,
                Form::Wall { .. } => -5.0 * D * DVec3::X,
                Form::Disc { .. } => -0.7 * D * DVec3::Z,
                _ => random.turn() * (1.2 * D * DVec3::X),
            };
            let turn = DQuat::from_rotation_z(random.between(-0.1, 0.1));
            add_wall(&mut world, form, place(i) + shift, turn)
        })
        .collect();
    for (i, &wall) in walls.iter().enumerate() {
        let gap = random.between(-0.05, 0.03) * D;
        let beside = random.turn() * (1.2 * D * DVec3::X);
        let mut grain = |clump: Option<usize>, radius: f64, position: DVec3| Grain {
            clump: clump.map(|clump| clump as u32 % 5),
            orientation: random.turn(),
            ..Grain::at(position, radius * D, 0)
        };
        let floor_place = place(i).with_z(floor.z + D);
        let own = grain(Some(i), 0.7, if i % 10 == 5 { floor_place } else { place(i) });
        let other = match i % 10 {
            0..3 => Some(grain(Some(i / 2), 0.6 + 0.02 * (i % 8) as f64, place(i) + beside)),
            3 => Some(grain(None, 0.4, place(i) + beside)),
            4 => Some(grain(None, 1.5, place(i) + 1.5 * beside)),
            _ => None,
        };
        let added = world.add_grains([own].into_iter().chain(other));
        let shape = added.get(1).map_or(wall, |&other| world.first_grain_shape() + world.grains[other].first);
        bring_near(&mut world, added[0], shape, gap);
    }
    world
}

/// Contacts of which a number differs from that of the twin by more than its bound, with the largest difference over the bound.
pub(super) fn wrong_contacts(case: &mut Case) -> Vec<(Key, f64)> {
    let ratio = |(found, expected, bound): (f64, f64, f64)| match found == expected {
        true => 0.0,
        false if found.is_nan() => f64::INFINITY,
        false => (found - expected).abs() / bound,
    };
    let worst =
        |(key, numbers): solve::NumbersOfContact| (key, numbers.into_iter().map(ratio).fold(0.0, f64::max));
    solve::constraints_beside_twin(case).into_iter().map(worst).filter(|(_, worst)| *worst > 1.0).collect()
}

/// A mistake: the third of several, a point of a curved surface is taken for one of the flat piece that stands for it there.
pub(super) const AT_CURVE: Edit = Edit {
    from: "offer(at_curve(point, sheet), turn, touches);",
    to: "var offered = point;
         if params.iterations != 1003u {
             offered = at_curve(point, sheet);
         }
         offer(offered, turn, touches);",
};

#[test]
fn manifolds_of_hulls_have_the_points_of_their_twin() {
    for law in [NormalLaw::Hertz, NormalLaw::Rigid] {
        let settings = Settings { normal_law: law, ..Settings::default() };
        let mut case = Case::of_world("pairs of hulls", &pairs_of_hulls(120), settings, 0);
        let wrong = wrong_contacts(&mut case);
        let keys = case.gpu.keys().unwrap();
        let touching = keys.iter().filter(|key| case.world.touch(key.a, key.b).is_some()).count();
        assert!(keys.len() > 360 && touching > 150, "{touching} of {} points", keys.len());
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    // What a mistake changes is noticed.
    let mistakes = [
        Edit {
            from: "return solid.scale * vector_at(block);",
            to: "return select(solid.scale, 1.0, params.iterations == 1001u) * vector_at(block);",
        },
        Edit {
            from: "constraint.rolling_arm = -radius;",
            to: "constraint.rolling_arm = select(-radius, 0.0, params.iterations == 1002u);",
        },
        AT_CURVE,
    ];
    let mut case = Case::of_world("edited", &pairs_of_hulls(60), Settings::default(), 0);
    case.gpu.edit_shaders(&mistakes).unwrap();
    let mut wrong_of = |number| {
        case.make_mistake(number);
        wrong_contacts(&mut case).len()
    };
    let right = wrong_of(0);
    for (number, mistake) in (1..).zip(&mistakes) {
        let wrong = wrong_of(number);
        assert!(wrong > right + 2, "{mistake:?}: {wrong} contacts are wrong, {right} without it");
    }
}
