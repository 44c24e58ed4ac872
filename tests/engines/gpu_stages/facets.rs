//! Polyhedral grains beside meshes that are no convex solids: their pairs, and the points of their manifolds, triangle by triangle.

use std::sync::Arc;

use super::hulls::{AT_CURVE, bring_near, kinds, wrong_contacts};
use super::solids::{mass_of, wrong_points};
use super::*;
use crate::polyhedra_on_meshes::trough;
use esker::error::Error;
use esker::model::random::{Random, Stream};
use esker::model::{Boundary, Clump, Mesh, Motion, RigidBody, Side, Surface};
use esker::shape::Convex;

/// Squares of two triangles each around the origin, 6 D wide, with heights up to this: ridges and valleys, tops and hollows.
fn rough(random: &mut Random, height: f64) -> Mesh {
    let heights: Vec<f64> = (0..25).map(|_| random.between(0.0, height)).collect();
    let at = |i: usize, j: usize| {
        DVec3::new(1.5 * D * i as f64 - 3.0 * D, 1.5 * D * j as f64 - 3.0 * D, heights[5 * i + j])
    };
    let square = |k: usize| {
        let (i, j) = (k / 4, k % 4);
        let corners = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[corners[0], corners[1], corners[2]], [corners[0], corners[2], corners[3]]]
    };
    Mesh::new("rough", &(0..16).flat_map(square).collect::<Vec<_>>()).unwrap()
}

/// Hulls, each at a random triangle of a mesh of its own: a little apart from it, or a little into it. Some are in the middle of a solid.
fn hulls_on_meshes(count: usize) -> World {
    let mut random = Random::new(5, Stream::Grains(0));
    let mut world = World::new(DVec3::ZERO, stone(0.4, 0.2));
    world.clumps = kinds(&mut random);
    let meshes = [rough(&mut random, 0.0), rough(&mut random, 0.8 * D), trough(), trough().into_sheet()];
    let meshes = meshes.map(Arc::new);
    let mut grains = Vec::new();
    for i in 0..count {
        let mesh = &meshes[i % 4];
        let position = 20.0 * D * DVec3::new((i % 8) as f64, (i / 8) as f64, 0.0);
        let orientation = random.turn();
        let first = world.surfaces.len() as u32;
        let surfaces = world.mesh_surfaces(mesh.clone(), DVec3::ZERO, DQuat::IDENTITY, 0);
        world.add_boundary(Boundary { position, orientation, ..fixed(&format!("mesh {i}")) }, surfaces);
        let triangle = random.below(mesh.triangles.len() as u64) as usize;
        let [a, b, c] = mesh.corners(triangle);
        let (s, t) = (random.between(0.0, 0.5), random.between(0.0, 0.5));
        let normal = (b - a).cross(c - a).normalize();
        let is_inside = i % 8 == 6;
        let height = if is_inside { -0.3 } else { 0.5 };
        let place = a + s * (b - a) + t * (c - a) + height * D * normal;
        let grain = Grain {
            clump: Some((i / 4 % 5) as u32),
            orientation: random.turn(),
            ..Grain::at(position + orientation * place, 0.5 * D, 0)
        };
        grains.push((grain, (!is_inside).then(|| first + mesh.triangles[triangle].patch)));
    }
    let added = world.add_grains(grains.iter().map(|(grain, _)| *grain));
    for (grain, shape) in added.into_iter().zip(grains.iter().map(|(_, shape)| shape)) {
        if let Some(shape) = shape {
            bring_near(&mut world, grain, *shape, random.between(-0.05, 0.03) * D);
        }
    }
    world
}

const COUNT: usize = 96;

#[test]
fn broadphase_finds_the_patches_near_hulls_of_its_twin() {
    let settings = Settings { skin: 0.1, ..Settings::default() };
    let mut case = Case::of_world("hulls on meshes", &hulls_on_meshes(COUNT), settings, 0);
    let expected = broadphase::find_pairs(&case.world, settings.reach());
    assert!(expected.len() > 7 * COUNT, "{} contacts", expected.len());
    case.run(&SEARCH[..2]);
    let found = case.gpu.keys().unwrap();
    assert!(found.is_sorted(), "keys ascend");
    assert_same_keys(&case, &found, &expected);
    // Counter-check: the spheres around hulls are more often near than the hulls.
    let of_spheres = Edit { from: "return may_be_near(Pair(", to: "return true || may_be_near(Pair(" };
    case.gpu.edit_shaders(&[of_spheres]).unwrap();
    case.run(&SEARCH[..2]);
    let of_spheres = case.gpu.keys().unwrap().len();
    assert!(of_spheres > expected.len() + 20, "{of_spheres} of spheres, {} of hulls", expected.len());
}

/// Keeps the points at edges between patches, which belong to no pair alone.
const KEEPS: Edit = Edit { from: "is_point_of_facet(i) && is_repeated(i, k, end, same)", to: "false" };

/// Mistakes in what a hull and a triangle touch at.
const MISTAKES: [Edit; 3] = [
    Edit { from: "if steepest > ACROSS {", to: "if steepest > ACROSS && params.iterations != 1001u {" },
    Edit { from: "if is_behind {", to: "if is_behind && params.iterations != 1002u {" },
    Edit {
        from: "if across.separation > best.separation + bar &&",
        to: "if params.iterations != 1003u && across.separation > best.separation + bar &&",
    },
];

#[test]
fn hulls_touch_triangles_at_the_points_of_their_twin() {
    for law in [NormalLaw::Hertz, NormalLaw::Rigid] {
        let settings = Settings { normal_law: law, ..Settings::default() };
        let mut case = Case::of_world("hulls on meshes", &hulls_on_meshes(COUNT), settings, 0);
        let [steepest, behind, across] = MISTAKES;
        case.gpu.edit_shaders(&[KEEPS, steepest, behind, across]).unwrap();
        let wrong = wrong_contacts(&mut case);
        let keys = case.gpu.keys().unwrap();
        let touching = keys.iter().filter(|key| case.world.touch(key.a, key.b).is_some()).count();
        assert!(keys.len() > 4 * COUNT && touching > 2 * COUNT, "{touching} of {} points", keys.len());
        assert!(wrong.is_empty(), "{wrong:?}");
        // What a mistake changes is noticed.
        for (number, mistake) in (1..).zip(&MISTAKES) {
            case.make_mistake(number);
            assert!(!wrong_contacts(&mut case).is_empty(), "{mistake:?}");
        }
    }
}

#[test]
fn points_at_an_edge_between_two_patches_count_once() {
    let of = |edits: &[Edit]| {
        let mut case = Case::of_world("edges", &hulls_on_meshes(COUNT), Settings::default(), 0);
        case.gpu.edit_shaders(edits).unwrap();
        wrong_points(&mut case)
    };
    assert_eq!(of(&[]), []);
    let kept = of(&[KEEPS]);
    assert!(kept.len() > 5, "counter-check: {kept:?}");
}

/// Parts of machines, each at a surface of its own that has facets, or, if it has facets itself, at any: a little apart, or a little into it.
fn machines(count: usize) -> World {
    let mut random = Random::new(7, Stream::Grains(0));
    let mut world = World::new(DVec3::ZERO, stone(0.4, 0.2));
    let trough = Arc::new(trough());
    let small: Vec<[DVec3; 3]> =
        (0..trough.triangles.len()).map(|i| trough.corners(i).map(|at| 0.7 * at)).collect();
    let small = Arc::new(Mesh::new("small", &small).unwrap());
    let rough = Arc::new(rough(&mut random, 0.8 * D));
    let wall = |side| Form::Wall { bottom_radius: 4.0 * D, top_radius: 3.0 * D, length: 5.0 * D, side };
    let block = Form::Box { half: DVec3::new(1.2, 1.0, 0.8) * D };
    let parts = [block, Form::Capsule { radius: 0.6 * D, length: 2.0 * D }];
    for i in 0..count {
        let position = 40.0 * D * DVec3::new((i % 8) as f64, (i / 8) as f64, 0.0);
        let orientation = random.turn();
        let (has_facets, kind) = (i % 2 == 1, i / 2 % 5);
        let first = world.surfaces.len();
        let boundary = Boundary { position, orientation, ..fixed(&format!("host {i}")) };
        let of_form = |form| vec![Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)];
        let mut of_mesh =
            |mesh: &Arc<Mesh>| world.mesh_surfaces(mesh.clone(), DVec3::ZERO, DQuat::IDENTITY, 0);
        let surfaces = match (kind, has_facets) {
            (0, _) => of_mesh(&trough),
            (1, _) => of_mesh(&rough),
            (2, false) => of_form(wall(Side::Inside)),
            (3, false) => of_form(wall(Side::Outside)),
            (_, false) => of_form(Form::Disc { radius: 4.0 * D }),
            (_, true) => of_form(Form::Box { half: DVec3::new(3.0, 2.0, 1.0) * D }),
        };
        world.add_boundary(boundary, surfaces);
        let hosts = first as u32..world.surfaces.len() as u32;
        let turn = random.turn();
        let at = position + random.turn() * (3.0 * D * DVec3::X);
        let vertices = world.vertices.len();
        let (body, surfaces) = if has_facets {
            let (body, middle, axes) = RigidBody::inside(&small, 2500.0);
            (body, world.mesh_surfaces(small.clone(), -(axes.conjugate() * middle), axes.conjugate(), 0))
        } else {
            let form = parts[i / 2 % 2];
            (mass_of(form), vec![Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0)])
        };
        let boundary = Boundary {
            name: format!("part {i}"),
            position: at,
            orientation: turn,
            motion: Motion::Dynamic(body),
        };
        world.add_boundary(boundary, surfaces);
        let shapes = vertices..world.vertices.len();
        push_near(&mut world, shapes, hosts, random.between(-0.05, 0.05) * D);
    }
    world
}

/// Moves the last boundary until its deepest point with some surfaces has a gap \[m\].
fn push_near(world: &mut World, vertices: std::ops::Range<usize>, hosts: std::ops::Range<u32>, gap: f64) {
    let body = world.boundaries.len() - 1;
    let host = world.bodies.position[body - 1];
    for _ in 0..60 {
        let balls = world.vertices[vertices.clone()].to_vec();
        let met = balls
            .iter()
            .flat_map(|ball| hosts.clone().filter_map(|host| world.manifold(ball, host)?.deepest().copied()));
        let deepest = met.min_by(|a, b| a.gap.total_cmp(&b.gap));
        let step = match deepest {
            Some(deepest) => (gap - deepest.gap) * deepest.normal,
            None => 0.2 * D * (host - world.bodies.position[body]).normalize_or_zero(),
        };
        world.bodies.position[body] += step;
    }
}

#[test]
fn parts_of_machines_touch_facets_at_the_points_of_their_twin() {
    let world = machines(30);
    // In a step of its own the engine finds the room that the contacts need.
    let mut case = Case::of_world("machines", &world, Settings::default(), 1);
    let expected = broadphase::find_pairs(&case.world, Settings::default().reach());
    let wrong = wrong_points(&mut case);
    assert_same_keys(&case, &case.gpu.keys().unwrap(), &expected);
    let touching = expected.iter().filter(|key| case.world.touch(key.a, key.b).is_some()).count();
    assert!(touching > 75, "{touching} of {} points", expected.len());
    // Of points that lie equally far out rounding takes one or the other.
    assert!(wrong.len() < touching / 50, "{} of {touching}: {wrong:?}", wrong.len());
    // What a mistake changes is noticed.
    let mistakes = [
        Edit {
            from: "if is_way_out(&choice, view, own, there, facet.radius + own.reach) {",
            to: "if params.iterations == 1001u || is_way_out(&choice, view, own, there, facet.radius + own.reach) {",
        },
        Edit {
            from: "touches.points[i].normal = -touches.points[i].normal;",
            to: "touches.points[i].normal *= select(-1.0, 1.0, params.iterations == 1002u);",
        },
        AT_CURVE,
    ];
    case.gpu.edit_shaders(&mistakes).unwrap();
    for (number, mistake) in (1..).zip(&mistakes) {
        case.make_mistake(number);
        assert!(wrong_points(&mut case).len() >= touching / 50, "{mistake:?}");
    }
    case.make_mistake(0);
    assert!(wrong_points(&mut case).len() < touching / 50, "none of the mistakes is made");
}

/// A cube that lies on a floor of squares with this side \[m\], turned and tilted a little.
fn cube_on_squares(side: f64) -> World {
    let mut world = World::new(-9.81 * DVec3::Z, stone(0.4, 0.2));
    let half = (3.5 * D / side).ceil() as i32;
    let at = |i: i32, j: i32| side * DVec3::new(f64::from(i) + 0.3, f64::from(j) + 0.4, 0.0);
    let squares = (-half..half).flat_map(|i| (-half..half).map(move |j| (i, j)));
    let triangles = squares.flat_map(|(i, j)| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
        [[a, b, c], [a, c, d]]
    });
    let mesh = Mesh::new("squares", &triangles.collect::<Vec<_>>()).unwrap();
    let surfaces = world.mesh_surfaces(Arc::new(mesh), DVec3::ZERO, DQuat::IDENTITY, 0);
    world.add_boundary(fixed("floor"), surfaces);
    let clump = Clump::of_hull("cube", &Convex::cuboid(DVec3::splat(D)));
    let radius = clump.equivalent_radius();
    world.clumps = vec![clump];
    let orientation = DQuat::from_rotation_z(0.3) * DQuat::from_rotation_x(3e-4);
    let grain = Grain { clump: Some(0), orientation, ..Grain::at(0.9999 * D * DVec3::Z, radius, 0) };
    world.add_grains([grain]);
    world
}

/// lavapipe ends long loops without a word: up to there each triangle is met, and finer meshes are refused.
#[test]
fn a_hull_meets_all_triangles_near_it_or_the_engine_refuses_them() {
    let settings = Settings { time_step: 1e-5, ..Settings::default() };
    let is_met = |side: f64| {
        let world = cube_on_squares(side);
        let mut engine = gpu(&world, &settings);
        match engine.advance(1) {
            Ok(_) => {
                let mut case = Case::of_world("squares", &world, settings, 0);
                let wrong = wrong_points(&mut case);
                assert!(wrong.is_empty(), "squares of {side} m: {wrong:?}");
                true
            }
            Err(Error::TooManyTriangles { body, .. }) if body == "the polyhedron 0" => false,
            Err(error) => panic!("{error}"),
        }
    };
    // Sides over the half edge of the cube.
    let are_met = [0.7, 0.6, 0.5, 0.4, 0.3, 0.1].map(|side| is_met(side * D));
    assert!(are_met[0] && !are_met[5], "{are_met:?}");
}
