//! Convex solids: their pairs, the axes along which they are apart, and the points of their manifolds.

use std::f64::consts::PI;
use std::sync::Arc;

use super::*;
use esker::model::random::{Random, Stream};
use esker::model::solids::{point_number, shape_id};
use esker::model::{Boundary, Mesh, Motion, RigidBody, SpherePart, Surface};
use esker::shape::convex::RIM_SIDES;
use esker::shape::{Convex, SeparatingAxis, SolidPose, separation};

/// Half the edge of a cube \[m\].
const HALF: f64 = D;
/// Overlap of two solids that touch \[m\].
const OVERLAP: f64 = 1e-3 * D;

fn cube() -> Form {
    Form::Box { half: DVec3::splat(HALF) }
}

fn cylinder(radius: f64, length: f64) -> Form {
    Form::Solid { bottom_radius: radius, top_radius: radius, length }
}

/// A body of one form: a dynamic one, or one that stands still.
fn add(world: &mut World, form: Form, is_free: bool, position: DVec3, orientation: DQuat) {
    let motion = match is_free {
        true => Motion::Dynamic(mass_of(form)),
        false => Motion::Fixed,
    };
    let name = format!("body {}", world.boundaries.len());
    let surface = Surface::new(DVec3::ZERO, DQuat::IDENTITY, form, 0);
    world.add_boundary(Boundary { name, position, orientation, motion }, [surface]);
}

/// Mass and moments of a solid body; of a form that has none of its own those of a ball.
pub(super) fn mass_of(form: Form) -> RigidBody {
    let ball = || RigidBody::solid(Form::Sphere { radius: D }, 2500.0);
    RigidBody::solid(form, 2500.0).or_else(ball).expect("a ball has a mass")
}

/// A tetrahedron about its centre of mass, as a mesh.
fn tetrahedron(edge: f64) -> Mesh {
    let corners = [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]];
    let [a, b, c, d] = corners.map(|corner| edge / 8.0f64.sqrt() * DVec3::from(corner));
    Mesh::new("tetrahedron", &[[a, b, c], [a, d, b], [a, c, d], [b, d, c]]).unwrap()
}

fn add_mesh(world: &mut World, mesh: Mesh, position: DVec3, orientation: DQuat) {
    let body = mass_of(Form::Sphere { radius: mesh.vertices[0].length() });
    let name = format!("body {}", world.boundaries.len());
    let surfaces = world.mesh_surfaces(Arc::new(mesh), DVec3::ZERO, DQuat::IDENTITY, 0);
    world.add_boundary(Boundary { name, position, orientation, motion: Motion::Dynamic(body) }, surfaces);
}

/// Solids on a floor, on fixed bodies and on each other: flush, turned, shifted, on edges, on rims. The floor is at `at`.
pub fn scene(at: DVec3) -> World {
    let mut world = World::new(9.81 * DVec3::NEG_Z, stone(0.4, 0.2));
    let floor = Boundary { position: at, ..fixed("floor") };
    world.add_boundary(floor, [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    let (turn_x, turn_y, turn_z) = (DQuat::from_rotation_x, DQuat::from_rotation_y, DQuat::from_rotation_z);
    let none = DQuat::IDENTITY;
    let mut place = 0;
    // A body on another one, far from all others.
    let mut pair = |lower: (Form, bool, f64, DQuat), upper: (Form, DVec3, DQuat)| {
        place += 1;
        let column = at + 8.0 * D * DVec3::new(f64::from(place % 5), f64::from(place / 5), 0.0);
        let (form, is_free, height, turn) = lower;
        add(&mut world, form, is_free, column + (height - OVERLAP) * DVec3::Z, turn);
        let (form, offset, turn) = upper;
        add(&mut world, form, true, column + offset - 2.0 * OVERLAP * DVec3::Z, turn);
    };
    let on_cube = |x: f64, y: f64| DVec3::new(x, y, 3.0 * HALF);
    let (low, edge) = ((cube(), true, HALF, none), 2.0f64.sqrt() * HALF);
    pair(low, (cube(), on_cube(0.0, 0.0), none));
    pair(low, (cube(), on_cube(0.0, 0.0), turn_z(0.3)));
    pair((cube(), true, HALF, turn_z(1.0)), (cube(), on_cube(0.3 * HALF, -0.5 * HALF), none));
    pair((cube(), false, HALF, none), (cube(), on_cube(0.9 * HALF, 0.2 * HALF), turn_z(0.1)));
    // Edges that cross.
    pair(
        (cube(), true, edge, turn_y(PI / 4.0)),
        (cube(), DVec3::new(0.1 * D, 0.05 * D, 3.0 * edge), turn_x(PI / 4.0)),
    );
    let coin = cylinder(D, 0.3 * D);
    let lean = turn_y(1e-3);
    let on_coin = |x: f64, y: f64| DVec3::new(x, y, 0.45 * D);
    pair((coin, true, 0.15 * D, turn_x(1e-3)), (coin, on_coin(0.8 * D, 0.1 * D), lean));
    // Wider than the coin, so that the deepest point of the rim is the only one.
    let wide = Form::Box { half: DVec3::new(2.0 * D, 2.0 * D, HALF) };
    pair((wide, false, HALF, none), (coin, on_cube(0.4 * D, 0.0) + (0.15 * D - HALF) * DVec3::Z, lean));
    let cone = Form::Solid { bottom_radius: D, top_radius: 0.5 * D, length: D };
    pair((cone, true, 0.5 * D, turn_x(2e-3)), (cube(), DVec3::new(0.1 * D, 0.2 * D, 2.0 * D), turn_z(0.7)));
    // A wheel on its side, and capsules.
    pair(
        (cube(), false, HALF, none),
        (cylinder(D, 0.5 * D), on_cube(0.1 * D, 0.2 * D), turn_z(0.2) * turn_x(PI / 2.0)),
    );
    let capsule = Form::Capsule { radius: 0.5 * D, length: 2.0 * D };
    pair(
        (capsule, true, 0.5 * D, turn_x(PI / 2.0)),
        (capsule, DVec3::new(0.1 * D, 0.2 * D, 1.5 * D), turn_y(PI / 2.0)),
    );
    pair(low, (capsule, DVec3::new(0.5 * D, 0.1 * D, 2.5 * D), turn_z(0.4) * turn_y(PI / 2.0)));
    pair(
        (Form::Sphere { radius: D }, false, D, none),
        (capsule, DVec3::new(0.2 * D, 0.1 * D, 2.5 * D), turn_y(PI / 2.0)),
    );
    // Tetrahedra, on a face and on an edge.
    let size = 2.0 * D;
    let down = DQuat::from_rotation_arc(-DVec3::ONE.normalize(), DVec3::NEG_Z);
    let height = size / 24.0f64.sqrt() - OVERLAP;
    add_mesh(&mut world, tetrahedron(size), at + DVec3::new(0.0, -8.0 * D, height), turn_z(0.3) * down);
    let fixed_box = at + DVec3::new(8.0 * D, -8.0 * D, HALF);
    add(&mut world, cube(), false, fixed_box, none);
    let up = HALF + size / 8.0f64.sqrt() - OVERLAP;
    add_mesh(&mut world, tetrahedron(size), fixed_box + DVec3::new(0.1 * D, 0.2 * D, up), turn_z(0.2));
    world
}

/// Contacts at points of manifolds that take part, of all such contacts.
fn in_use(case: &Case) -> [usize; 2] {
    let keys = case.gpu.keys().unwrap();
    let at_points = || keys.iter().filter(|key| point_number(key.b).is_some());
    [at_points().filter(|key| case.world.touch(key.a, key.b).is_some()).count(), at_points().count()]
}

#[test]
fn manifolds_have_the_points_of_their_twin_near_and_far_from_the_origin() {
    for at in [DVec3::ZERO, DVec3::new(800.0, -300.0, 40.0)] {
        for law in [NormalLaw::Hertz, NormalLaw::Rigid] {
            let settings = Settings { normal_law: law, ..Settings::default() };
            let mut case = Case::of_world("manifolds", &scene(at), settings, 0);
            case.run(&SEARCH);
            let [used, all] = in_use(&case);
            assert!(used > 50 && all > 90, "{used} of {all} points");
            solve::check_constraints(case);
        }
    }
}

#[test]
fn a_manifold_without_one_of_its_steps_is_noticed() {
    let mistakes = [
        Edit {
            from: "consider_crossings(a, b, width, choice);",
            to: "if params.iterations != 1001u { consider_crossings(a, b, width, choice); }",
        },
        Edit {
            from: "consider_corners(b, a, width, -1.0, choice);",
            to: "if params.iterations != 1002u { consider_corners(b, a, width, -1.0, choice); }",
        },
        Edit {
            from: "return Point(is_first &&",
            to: "return Point((is_first || params.iterations == 1003u) &&",
        },
        Edit {
            from: "- DEPTH_WEIGHT * gap;",
            to: "- select(DEPTH_WEIGHT, 0.0, params.iterations == 1004u) * gap;",
        },
    ];
    let mut case = Case::of_world("edited", &scene(DVec3::ZERO), Settings::default(), 0);
    case.gpu.edit_shaders(&mistakes).unwrap();
    let mut compared = |number| {
        case.make_mistake(number);
        let numbers = solve::constraints_beside_twin(&mut case).into_iter().flat_map(|(_, numbers)| numbers);
        compare("constraint", numbers)
    };
    assert!(compared(0).unwrap() > 10);
    for (number, mistake) in (1..).zip(&mistakes) {
        assert!(compared(number).is_err(), "{mistake:?}");
    }
}

/// A solid with its place.
struct Placed {
    solid: Convex,
    at: SolidPose,
}

impl Placed {
    fn of(world: &World, body: usize) -> Placed {
        let own = world.vertices.iter().filter(|vertex| vertex.body as usize == body);
        let surface = own.map(|vertex| vertex.part).find_map(|part| match part {
            SpherePart::Solid(surface) => Some(surface),
            _ => None,
        });
        let (position, orientation) = (world.bodies.position[body], world.bodies.orientation[body]);
        let at = SolidPose { position, orientation, scale: 1.0 };
        Placed { solid: world.solids.of(surface.expect("a solid")).unwrap().clone(), at }
    }

    /// Extent along a direction from the origin of the world \[m\].
    fn extent(&self, along: DVec3) -> f64 {
        self.at.position.dot(along) + self.solid.extent(self.at.orientation.inverse() * along)
    }
}

fn axis_of(a: &Placed, b: &Placed) -> SeparatingAxis {
    separation(&a.solid, &a.at, &b.solid, &b.at, f64::INFINITY).expect("an axis")
}

/// Bodies 2 i and 2 i + 1 are solids in random places, a little apart or up to a tenth of their size into each other, and far from all
/// others.
fn random_pairs(count: usize) -> World {
    let mut world = World::new(DVec3::ZERO, stone(0.4, 0.2));
    let mut random = Random::new(7, Stream::Grains(0));
    let forms = [
        cube(),
        Form::Box { half: DVec3::new(1.5, 0.8, 0.4) * D },
        cylinder(D, 0.3 * D),
        cylinder(0.5 * D, 2.5 * D),
        Form::Solid { bottom_radius: D, top_radius: 0.4 * D, length: 1.2 * D },
        Form::Solid { bottom_radius: D, top_radius: 0.0, length: 1.5 * D },
        Form::Capsule { radius: 0.4 * D, length: 1.5 * D },
    ];
    for i in 0..count {
        let column = 12.0 * D * DVec3::new((i % 8) as f64, (i / 8) as f64, 0.0);
        // All pairs of forms and a tetrahedron in turn.
        for (body, form) in [i % 8, i / 8 % 8].into_iter().enumerate() {
            let offset = if body == 0 { DVec3::ZERO } else { random.turn() * (3.0 * D * DVec3::X) };
            match forms.get(form) {
                Some(&form) => add(&mut world, form, true, column + offset, random.turn()),
                None => add_mesh(&mut world, tetrahedron(2.5 * D), column + offset, random.turn()),
            }
        }
        let depth = random.between(-0.05, 0.1) * D;
        for _ in 0..4 {
            let [a, b] = [2 * i, 2 * i + 1].map(|body| Placed::of(&world, body));
            let axis = axis_of(&a, &b);
            world.bodies.position[2 * i + 1] += (axis.separation + depth) * axis.normal;
        }
    }
    world
}

/// By how much the solids of each pair are less far apart along the axis of the device than along that of the twin \[m\], in units of the
/// bound. A pair may have an axis of a face that is worse by a share than one of edges, and more than that by roundings: a distance is a
/// sum of three products of places within both solids, each with some 8 roundings. Of rims polygons choose the start from which an axis is
/// improved, so two starts count as equal up to the height of an arc over its chord.
fn losses(case: &mut Case) -> Vec<f64> {
    case.run(&SEARCH);
    case.run(&["narrowphase"]);
    let constraints = case.gpu.constraints().unwrap();
    let mut losses = BTreeMap::new();
    for contact in case.gpu.contacts().unwrap() {
        let (head, _) = constraints[contact.place as usize];
        let normal = vector(head.normal);
        if shape_id(contact.b) == contact.b || normal == DVec3::ZERO {
            continue;
        }
        let [a, b] = head.bodies.map(|body| Placed::of(&case.world, body as usize));
        let (normal, axis) = (normal.normalize(), axis_of(&a, &b));
        let found = -a.extent(-normal) - b.extent(normal);
        let sizes = a.solid.radius + b.solid.radius;
        let arc = |solid: &Convex| solid.round.map_or(0.0, |round| round.bottom_radius.max(round.top_radius));
        let of_rims = (1.0 - (PI / f64::from(RIM_SIDES)).cos()) * (arc(&a.solid) + arc(&b.solid));
        let bound = 0.005 * axis.separation.abs() + (1e-5 + 48.0 * ROUNDING) * sizes + of_rims;
        losses.insert(head.bodies, (axis.separation - found) / bound);
    }
    losses.into_values().collect()
}

#[test]
fn random_solids_have_the_axis_of_their_twin() {
    let world = random_pairs(64);
    let mut case = Case::of_world("random pairs", &world, Settings::default(), 0);
    let found = losses(&mut case);
    let most = |losses: &[f64]| losses.iter().copied().fold(0.0, f64::max);
    assert!(found.len() == 64, "{} pairs touch", found.len());
    assert!(most(&found) < 1.0, "{} times the bound", most(&found));
    let mistakes = [
        Edit {
            from: "if of_edges.separation > best.separation + bar {",
            to: "if of_edges.separation > best.separation + bar && params.iterations != 1001u {",
        },
        Edit {
            from: "if length(between) > TOUCHING * sizes {",
            to: "if length(between) > TOUCHING * sizes && params.iterations != 1002u {",
        },
    ];
    case.gpu.edit_shaders(&mistakes).unwrap();
    for (number, mistake) in (1..).zip(&mistakes) {
        case.make_mistake(number);
        let worst = most(&losses(&mut case));
        assert!(worst > 3.0, "{mistake:?}: {worst} times the bound");
    }
}

#[test]
fn a_stack_of_equal_cubes_stays_up() {
    let mut world = with_floor(9.81 * DVec3::NEG_Z, stone(0.5, 0.0));
    let height = |i: usize| (2 * i + 1) as f64 * HALF;
    (0..4).for_each(|i| add(&mut world, cube(), true, height(i) * DVec3::Z, DQuat::IDENTITY));
    // Enough sweeps that what they leave does not move the stack.
    let settings =
        Settings { time_step: 0.005, iterations: 100, normal_law: NormalLaw::Rigid, ..Settings::default() };
    for mut engine in both(&world, &settings) {
        let name = engine.identity().engine;
        engine.advance(200).unwrap();
        let state = engine.snapshot().unwrap();
        let bodies = &state.world.bodies;
        let apart = (bodies.position[4] - height(3) * DVec3::Z).length() / (2.0 * HALF);
        let speed = bodies.velocity[4].length();
        assert!(apart < 1e-4 && speed < 1e-5, "{name}: {apart:e} edges off, at {speed:e} m/s");
        let support = esker::observe::loads::weight_supported(&state);
        assert!((support - 1.0).abs() < 1e-3, "{name}: the floor carries {support}");
    }
}

/// Contacts whose point is not that of the twin, which knows all shapes that a solid touches.
pub(super) fn wrong_points(case: &mut Case) -> Vec<Key> {
    case.run(&SEARCH);
    case.run(&["narrowphase"]);
    let (contacts, constraints) = (case.gpu.contacts().unwrap(), case.gpu.constraints().unwrap());
    let mut wrong = Vec::new();
    for group in contacts.chunk_by(|one, other| one.a == other.a) {
        let ball = *case.world.ball(group[0].a).unwrap();
        let mut shapes: Vec<u32> = group.iter().map(|contact| shape_id(contact.b)).collect();
        shapes.sort_unstable();
        shapes.dedup();
        let manifolds = case.world.manifolds(&ball, &shapes);
        let centre = case.world.bodies.position[ball.body as usize];
        for contact in group {
            let Some(point) = point_number(contact.b) else { continue };
            let key = Key { a: contact.a, b: contact.b };
            let (head, arms) = &constraints[contact.place as usize];
            let (normal, arm) = (vector(head.normal), vector(arms.arm_a));
            let at = shapes.binary_search(&shape_id(contact.b)).unwrap();
            let expected = manifolds[at].and_then(|manifold| manifold.points[point]);
            // Directions are differences over distances.
            let turn = gap_bound(&case.world, key) / (0.2 * D);
            let lever = 2.0 * turn * (arm.length() + vector(arms.arm_b).length());
            let is_right = match expected {
                None => normal == DVec3::ZERO,
                Some(touch) => {
                    (normal - touch.normal).length() < 2.0 * turn
                        && arm.distance(touch.point - centre) < lever
                }
            };
            if !is_right {
                wrong.push(key);
            }
        }
    }
    wrong
}

/// Cubes that sink into pairs of flush blocks and reach over the joint by this share of D: less than they sink.
fn cubes_over_joints(beyond: &[f64]) -> World {
    let mut world = World::new(9.81 * DVec3::NEG_Z, stone(0.4, 0.2));
    let block = Form::Box { half: DVec3::new(2.0 * D, 2.0 * D, D) };
    for (i, beyond) in beyond.iter().enumerate() {
        let joint = 20.0 * D * DVec3::new((i % 4) as f64, (i / 4) as f64, 0.0);
        for side in [-2.0, 2.0] {
            add(&mut world, block, false, joint + D * DVec3::new(side, 0.0, -1.0), DQuat::IDENTITY);
        }
        let place = joint + DVec3::new(HALF - beyond * D, 0.1 * i as f64 * D, HALF - OVERLAP);
        add(&mut world, cube(), true, place, DQuat::IDENTITY);
    }
    world
}

#[test]
fn the_sides_of_flush_blocks_that_face_each_other_are_inside() {
    let wrong = |edits: &[Edit]| {
        let world = cubes_over_joints(&[2e-4, 3e-4, 5e-4, 0.3, -0.1]);
        let mut case = Case::of_world("joints", &world, Settings::default(), 0);
        case.gpu.edit_shaders(edits).unwrap();
        wrong_points(&mut case)
    };
    assert_eq!(wrong(&[]), []);
    let without = wrong(&[Edit { from: "if cover != 0u {", to: "if false {" }]);
    assert!(without.len() > 5, "counter-check: {without:?}");
}
