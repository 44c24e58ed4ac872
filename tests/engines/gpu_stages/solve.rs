//! GPU stages that solve velocities and move bodies.

mod after;

use super::*;

#[test]
fn narrowphase_makes_the_constraints_of_its_twin() {
    for law in [NormalLaw::Hertz, NormalLaw::Hooke, NormalLaw::Rigid] {
        let settings = Settings { normal_law: law, ..Settings::default() };
        let scenes = [
            mixed_sizes_in_a_drum(),
            box_of(300),
            coincident_centres(),
            periodic("xyz"),
            periodic("x"),
            dynamic_boundaries_among_grains(),
        ];
        for (scenario, steps) in scenes.iter().zip([25, 120, 0, 3, 3, 30]) {
            check_constraints(Case::new("constraints", scenario, settings, steps));
        }
    }
}

pub(super) fn check_constraints(mut case: Case) {
    let pairs: Vec<_> =
        constraints_beside_twin(&mut case).into_iter().flat_map(|(_, numbers)| numbers).collect();
    assert!(pairs.len() > 10, "{} numbers", pairs.len());
    holds_and_can_fail(case.name, "constraint", pairs);
}

/// A contact, with the numbers of its constraint, those of the twin, and bounds on their difference.
pub(super) type NumbersOfContact = (Key, Vec<(f64, f64, f64)>);

/// The constraints of all contacts beside those of the twin.
pub(super) fn constraints_beside_twin(case: &mut Case) -> Vec<NumbersOfContact> {
    case.run(&SEARCH);
    for stream in ["constraint_heads", "constraint_arms"] {
        case.gpu.fill_words(stream, 0x7fc0_0000);
    }
    case.run(&["narrowphase"]);
    let (law, constraints, carried) =
        (case.law(), case.gpu.constraints().unwrap(), case.gpu.impulses().unwrap());
    let of_contact = |contact: layout::Contact| {
        let mut pairs = Vec::new();
        let key = Key { a: contact.a, b: contact.b };
        let place = contact.place as usize;
        let (found, arms) = &constraints[place];
        let (expected, onset) = make_constraint_at(
            &case.world,
            &law,
            key,
            case.world.touch(key.a, key.b),
            layout::impulse(found, &carried[place]),
        );
        assert_eq!(found.bodies, expected.bodies);
        let bound = gap_bound(&case.world, key);
        // Directions are differences over distances; a contact within rounding of an edge may differ.
        let turn = bound / (0.2 * D);
        pairs.extend(components(vector(found.normal), expected.normal, turn));
        let lever = turn * (expected.arm_a.length() + expected.arm_b.length());
        pairs.extend(components(vector(arms.arm_a), expected.arm_a, lever));
        let along = expected.arm_b.dot(expected.normal) * expected.normal;
        let arm_b = if layout::has_arms(&case.world) { expected.arm_b } else { along };
        pairs.extend(components(vector(arms.arm_b), arm_b, lever));
        pairs.push((f64::from(found.friction), expected.friction, ROUNDING));
        pairs.push((f64::from(arms.rolling_arm), expected.rolling_arm, 4.0 * ROUNDING * D));
        if onset.gap.abs() > bound {
            let slope = 1.0 / law.h; // every law turns a gap into a target with at most this slope
            let target = bound * slope + 8.0 * ROUNDING * onset.position_target.abs();
            pairs.push((f64::from(found.bias_velocity), onset.position_target, target));
            let relative = 0.5 * bound / onset.gap.abs() + 16.0 * ROUNDING;
            pairs.push((f64::from(found.compliance), expected.compliance, relative * expected.compliance));
        }
        (key, pairs)
    };
    case.gpu.contacts().unwrap().into_iter().map(of_contact).collect()
}

/// The forces and stretches of springs agree with the twin's, from the geometry, velocities and springs of the device.
#[test]
fn springs_are_stretched_as_by_its_twin() {
    let smooth = Settings { method: Method::Smooth, time_step: 1e-4, ..Settings::default() };
    let hooke = Settings { normal_law: NormalLaw::Hooke, cone: Cone::Box, ..smooth };
    let viscous = Settings { damping: Damping::Viscoelastic, rolling_arm: RollingArm::Radius, ..smooth };
    let scenes = [
        ("a bed", box_of(200), smooth),
        ("clumps", clumps_among_spheres(""), hooke),
        ("a drum", mixed_sizes_in_a_drum(), viscous),
    ];
    for (name, scenario, settings) in scenes {
        // The start is the state that the nonsmooth method reaches in half a second or more.
        let mut settled = cpu(&scenario.world, &Settings::default());
        settled.advance(120).unwrap();
        let world = settled.snapshot().unwrap().world;
        check_springs(Case::of_world(name, &world, settings, 200));
    }
}

fn check_springs(mut case: Case) {
    case.run(&SEARCH);
    case.run(&["narrowphase"]);
    let (keys, colouring) = (case.gpu.keys().unwrap(), case.gpu.colouring().unwrap());
    let (rows, values) = (case.gpu.constraints().unwrap(), case.gpu.impulses().unwrap());
    let springs = |values: &[f32]| {
        let [tangent, rolling] = [[6, 7, 8], [10, 11, 12]].map(|at| vector(at.map(|at| values[at])));
        Impulse { normal: f64::from(values[9]), tangent, rolling }
    };
    let law = case.law();
    let row = |place: usize| {
        let key = keys[colouring.order[place] as usize];
        let (head, arms) = &rows[place];
        let (pair, radius) = (case.world.law(key.a, key.b), f64::from(arms.rolling_arm));
        let hertz = 4.0 / 3.0 * pair.effective_modulus * radius.abs().sqrt();
        let factor = if law.normal == NormalLaw::Hertz { 1.0 } else { (HOOKE_OVERLAP * radius.abs()).sqrt() };
        let constraint = Constraint {
            friction: pair.friction,
            rolling_arm: (pair.rolling_resistance * law.rolling_arm * radius).max(0.0),
            last_impulse: springs(&values[place]),
            ..twin_constraint(&case, &(*head, *arms), &values[place])
        };
        let gap = f64::from(head.bias_velocity);
        let inverse_mass: f64 =
            head.bodies.iter().map(|&body| case.world.bodies.inverse_mass[body as usize]).sum();
        let root_of_mass = if law.damping == Damping::Restitution { inverse_mass.powf(-0.5) } else { 1.0 };
        let damping = root_of_mass * spring_damping(law.normal, law.damping, pair);
        let spring = Spring {
            stiffness: factor * hertz,
            damping,
            root_of_tangent: pair.tangential_stiffness.sqrt(),
            radius: radius.abs(),
            radii: None,
            pull_off: 0.0,
        };
        (constraint, (gap, spring))
    };
    let (mut constraints, placed): (Vec<_>, Vec<_>) = (0..keys.len()).map(row).unzip();
    let velocities = case.twin_velocities();
    for (constraint, (gap, spring)) in constraints.iter_mut().zip(&placed) {
        let bodies = constraint.bodies.map(|body| &velocities[body as usize]);
        esker::cpu::springs::stretch(&case.settings, constraint, spring, -gap, bodies);
    }
    case.run(&["springs"]);

    let (mut pairs, mut held) = (Vec::new(), 0);
    for ((constraint, found), (head, _)) in constraints.iter().zip(case.gpu.impulses().unwrap()).zip(&rows) {
        // A force is the sum of a spring and a damper, each with some 20 roundings of the largest value it may have.
        let scale = constraint.impulse.normal.abs().max(law.h * constraint.last_impulse.tangent.length());
        let bound = 64.0 * ROUNDING * scale + 1e-12;
        let impulse = layout::impulse(head, &found);
        let now = springs(&found);
        pairs.push((impulse.normal, constraint.impulse.normal, bound));
        pairs.extend(components(impulse.tangent, constraint.impulse.tangent, bound));
        pairs.extend(components(impulse.rolling, constraint.impulse.rolling, bound * D));
        let force = bound / law.h;
        pairs.extend(components(now.tangent, constraint.last_impulse.tangent, force));
        pairs.extend(components(now.rolling, constraint.last_impulse.rolling, force * D));
        pairs.push((now.normal, constraint.last_impulse.normal, force * D));
        held += u32::from(now.tangent != DVec3::ZERO);
    }
    assert!(held > 20, "{}: springs of {held} contacts", case.name);
    holds_and_can_fail(case.name, "force of a spring", pairs);
}

/// Rounding error of a velocity \[m/s\] after `sweeps` sweeps, each of which visits at most 14 contacts of a body, with 8 roundings a
/// visit.
fn velocity_bound(sweeps: u32, velocities: &[Velocity]) -> f64 {
    let fastest = velocities.iter().map(|velocity| velocity.linear.length()).fold(0.01, f64::max);
    f64::from(sweeps) * 14.0 * 8.0 * ROUNDING * fastest
}

fn velocity_pairs(found: &[Velocity], expected: &[Velocity], bound: f64) -> Vec<(f64, f64, f64)> {
    // The surface of the smallest grain (3 mm) moves at the spin times its radius.
    let spin = bound / 0.003;
    found
        .iter()
        .zip(expected)
        .flat_map(|(found, expected)| {
            let linear = components(found.linear, expected.linear, bound);
            linear.into_iter().chain(components(found.angular, expected.angular, spin))
        })
        .collect()
}

#[test]
fn impact_bounces_as_its_twin_does() {
    let mut bounced = 0;
    for mut case in cases() {
        case.run(&SEARCH);
        case.run(&["narrowphase"]);
        let before = case.twin_velocities();
        let colouring = case.gpu.colouring().unwrap();
        let law = case.law();
        let keys = case.gpu.keys().unwrap();
        let mut split = case.split(&colouring);
        let mut constraints = case.twin_constraints();
        let onset_of = |(constraint, &k): (&Constraint, &u32)| {
            let (_, exact) = make_constraint(&case.world, &law, keys[k as usize], Impulse::default());
            Onset { gap: if constraint.bias > 0.0 { -exact.gap.abs() } else { exact.gap.abs() }, ..exact }
        };
        let mut onsets: Vec<Onset> = constraints.iter().zip(&colouring.order).map(onset_of).collect();
        let mut expected = before.clone();
        let contacts = impact::Contacts {
            colouring: &colouring,
            split: &mut split,
            constraints: &mut constraints,
            onsets: &mut onsets,
            cell: None,
            coupling: &mut Alone,
            wake: &mut |_, _, _| (),
        };
        impact::solve(&case.settings, &case.world, contacts, &mut expected, |_| ());
        case.run(&["impact"]);
        let found = case.twin_velocities();
        bounced += u32::from(expected != before);
        let bound = 4.0 * velocity_bound(case.settings.iterations, &before);
        holds_and_can_fail(case.name, "velocity", velocity_pairs(&found, &expected, bound));
    }
    // One grain and the layer on the floor start with an overlap and close faster than the threshold.
    assert!(bounced >= 2, "only {bounced} cases had an impact");
}

/// The case of a box on its corner covers the limit of restitution, on which the twins agree: the box returns with 0.3 to 0.9 of its speed
/// instead of 0.98.
#[test]
fn a_box_on_a_corner_returns_with_less_than_its_restitution() {
    let settings = Settings::default();
    let mut case = Case::new("corner", &box_on_a_corner(), settings, 0);
    case.run(&SEARCH);
    case.run(&["narrowphase"]);
    let (constraints, before) = (case.twin_constraints(), case.twin_velocities());
    case.run(&["impact"]);
    let after = case.twin_velocities();
    let bounces = constraints.iter().filter_map(|constraint| {
        let [a, b] = constraint.bodies.map(|body| body as usize);
        let speed = |of: &[Velocity]| constraint.contact_velocity(&of[a], &of[b]).dot(constraint.normal);
        let returned = -speed(&after) / speed(&before);
        (speed(&before) < -1.0 && speed(&after) > 0.1).then_some(returned)
    });
    let bounces: Vec<f64> = bounces.collect();
    assert!(
        !bounces.is_empty() && bounces.iter().all(|&e| e > 0.3 && e < 0.9),
        "returned {bounces:?} of 0.98"
    );
}

#[test]
fn predict_aims_and_seeds_as_its_twin_does_for_every_warm_start() {
    let starts = [
        WarmStart::Cold,
        WarmStart::HISTORY,
        WarmStart::ADAPTIVE,
        WarmStart::Model,
        WarmStart::NORMALS_ONLY,
        WarmStart::NO_VELOCITY_UPDATE,
    ];
    for warm_start in starts {
        let settings = Settings { warm_start, iterations: 10, ..Settings::default() };
        check_predict(Case::new("seeds", &mixed_sizes_in_a_drum(), settings, 40));
    }
}

fn check_predict(mut case: Case) {
    case.run(&SEARCH);
    case.run(&["narrowphase", "impact"]);
    let law = case.law();
    let before = case.twin_velocities();
    let keys = case.gpu.keys().unwrap();
    let order = case.gpu.colouring().unwrap().order;
    let mut constraints = case.twin_constraints();
    let onset_of = |(constraint, &k): (&Constraint, &u32)| {
        // The sign of a vanishing gap is a matter of rounding, so the twin starts from the overlap of the GPU.
        let key = keys[k as usize];
        let (_, exact) = make_constraint(&case.world, &law, key, Impulse::default());
        let onset = Onset { gap: exact.gap, position_target: constraint.bias, ..Onset::default() };
        if constraint.bias <= 0.0 {
            return onset;
        }
        let upsilon = 1.0 / (1.0 + 4.0 * DAMPING_STEPS);
        let gap = -constraint.bias * law.h * 1.25 / (4.0 * upsilon);
        let pair = case.world.law(key.a, key.b);
        let radius = case.world.effective_radius(key.a, key.b);
        let stiffness = 4.0 / 3.0 * pair.effective_modulus * radius.sqrt();
        Onset { gap, upsilon, stiffness, ..onset }
    };
    let onsets: Vec<Onset> = constraints.iter().zip(&order).map(onset_of).collect();
    esker::cpu::narrowphase::set_targets(&mut constraints, &onsets, Flow::default(), &before);
    warm_start::seed(&law, &case.settings, &case.world, &mut constraints, &onsets, &before);
    case.run(&["predict"]);

    let (found_constraints, impulses) = (case.gpu.constraints().unwrap(), case.gpu.impulses().unwrap());
    let mut pairs = Vec::new();
    for ((expected, (found, _)), values) in constraints.iter().zip(&found_constraints).zip(&impulses) {
        let slack = 16.0 * ROUNDING * (expected.bias.abs() + 1.0);
        pairs.push((f64::from(found.bias_velocity), expected.bias, slack));
        let impulse = layout::impulse(found, values);
        // The friction of the model start points against the slip, and is as exact as that direction.
        let size = expected.impulse.normal + expected.impulse.tangent.length();
        let [a, b] = expected.bodies.map(|body| &before[body as usize]);
        let velocity = expected.contact_velocity(a, b);
        let slip = velocity - velocity.dot(expected.normal) * expected.normal;
        let turn = velocity_bound(1, &before) / slip.length().max(1e-12);
        let bound = (64.0 * ROUNDING + turn.min(1.0)) * size;
        pairs.push((impulse.normal, expected.impulse.normal, bound + 1e-12));
        pairs.extend(components(impulse.tangent, expected.impulse.tangent, 2.0 * bound + 1e-12));
        pairs.extend(components(impulse.rolling, expected.impulse.rolling, 2.0 * bound * D + 1e-14));
    }
    holds_and_can_fail(case.name, "seed", pairs);

    let mut expected = before;
    esker::cpu::predict::apply_forces(&case.world, law.h, &mut expected);
    let bound = velocity_bound(1, &expected);
    holds_and_can_fail(case.name, "velocity", velocity_pairs(&case.twin_velocities(), &expected, bound));
}

#[test]
fn the_velocities_receive_every_start_but_the_one_that_says_they_do_not() {
    for (warm_start, receives) in [(WarmStart::HISTORY, true), (WarmStart::NO_VELOCITY_UPDATE, false)] {
        let settings = Settings { warm_start, iterations: 10, ..Settings::default() };
        let mut case = Case::new("start", &mixed_sizes_in_a_drum(), settings, 40);
        case.run(&SEARCH);
        case.run(&["narrowphase", "impact", "predict"]);
        let before = case.twin_velocities();
        assert!(
            case.twin_constraints().iter().any(|constraint| constraint.impulse.normal > 0.0),
            "something is carried"
        );
        case.run(&["warm_start"]);
        assert_eq!(case.twin_velocities() != before, receives, "{warm_start}");
    }
}

#[test]
fn warm_start_and_sweep_leave_the_velocities_and_impulses_of_their_twins() {
    for mut case in cases() {
        case.run(&SEARCH);
        case.run(&["narrowphase", "impact"]);
        let mut joints = case.joints(&case.twin_velocities());
        case.run(&["predict"]);
        let one_pass = 4.0 * velocity_bound(1, &case.twin_velocities());
        let (expected, answer) = warmed_up(&case, &mut joints);
        // The inverse matrix of a machine has pivots of at least 1e-4 of the diagonal, so its solution is off by 1e4 roundings.
        let one_pass = one_pass + 1e4 * ROUNDING * answer;
        case.run(&["warm_start"]);
        holds_and_can_fail(
            case.name,
            "warm velocity",
            velocity_pairs(&case.twin_velocities(), &expected, one_pass),
        );

        sweeps_as_its_twin(&mut case, joints);
    }
}

/// Velocities at which the twin starts its sweeps from the state of the GPU, after the warm start of the contacts and the solution of the
/// joints; and the largest change of a velocity by the joints \[m/s\].
fn warmed_up(case: &Case, joints: &mut Joints) -> (Vec<Velocity>, f64) {
    let colouring = case.gpu.colouring().unwrap();
    let (mut constraints, mut velocities) = (case.twin_constraints(), case.twin_velocities());
    let mut split = case.split(&colouring);
    let mut problem = ContactProblem::new(&colouring, &mut split, &mut constraints, &mut velocities, joints);
    warm_start::apply(WarmStart::HISTORY, &mut problem);
    let before = velocities.clone();
    joints.solve(&mut velocities);
    let changes = before.iter().zip(&velocities).map(|(before, after)| before.linear.distance(after.linear));
    let largest = changes.fold(0.0, f64::max);
    (velocities, largest)
}

/// Accelerated sweeps agree with the twin's. Tolerance: the momentum m extrapolates rounding errors, too, which makes the error of a sweep
/// 1/(1 - m) times as large.
#[test]
fn accelerated_sweeps_leave_the_velocities_and_impulses_of_their_twins() {
    let settings = Settings { iterations: 12, acceleration: Acceleration::Nesterov, ..Settings::default() };
    for case in [
        Case::new("a bed lands", &box_of(400), settings, 40),
        Case::new("a box falls on a bed", &box_on_a_bed(), settings, 8),
        Case::new("periodic in x", &periodic("x"), settings, 30),
        Case::new("sliders that press", &cell_of_sliders(), settings, 60),
        Case::of_world("a digger", &digger(), settings, 30),
    ] {
        let plain = Settings { acceleration: Acceleration::None, ..settings };
        solves_as_its_twin_and_not_as(case, &plain);
    }
}

/// Projected gradient descent agrees with the twin's. The engines would part if one accepted a step length that the other rejects, but a
/// curvature is as close to its bound as rounding only by chance.
#[test]
fn projected_gradients_leave_the_velocities_and_impulses_of_their_twins() {
    let settings = Settings { iterations: 12, algorithm: Algorithm::Apgd, ..Settings::default() };
    for case in [
        Case::new("no grains", &no_grains(), settings, 2),
        Case::new("a bed lands", &box_of(400), settings, 40),
        Case::new("a bed at rest", &box_of(400), settings, 160),
        Case::new("a box falls on a bed", &box_on_a_bed(), settings, 8),
        Case::new("clumps fall", &clumps_among_spheres(""), settings, 20),
        Case::new("locked axes", &flat(), settings, 5),
        Case::new("sliders that press", &cell_of_sliders(), settings, 60),
        Case::of_world("a digger", &digger(), settings, 30),
        Case::of_world("sizes 1:10", &crowd(&sizes_up_to(10.0), "xy"), settings, 3),
    ] {
        let sweeps = Settings { algorithm: Algorithm::Pgs, ..settings };
        solves_as_its_twin_and_not_as(case, &sweeps);
    }
}

/// Compares the solver of a case with its twin. Control: with the settings `other` the twin comes to other velocities, unless there are no
/// grains.
fn solves_as_its_twin_and_not_as(mut case: Case, other: &Settings) {
    case.run(&SEARCH);
    case.run(&["narrowphase", "impact"]);
    let mut joints = case.joints(&case.twin_velocities());
    case.run(&["predict"]);
    warmed_up(&case, &mut joints);
    case.run(&["warm_start"]);
    let [own, others] =
        [&case.settings, other].map(|settings| sweeps_of_twin(&case, settings, &mut joints.clone()).1);
    let apart = velocity_pairs(&others, &own, swept_bound(&case));
    assert!(
        case.world.grain_count() == 0 || apart.iter().any(|(a, b, bound)| (a - b).abs() > *bound),
        "{}: they are told from each other",
        case.name
    );
    sweeps_as_its_twin(&mut case, joints);
}

/// Constraints and velocities that the twin solves from the state of the GPU.
fn sweeps_of_twin(case: &Case, settings: &Settings, joints: &mut Joints) -> (Vec<Constraint>, Vec<Velocity>) {
    let colouring = case.gpu.colouring().unwrap();
    let (mut constraints, mut velocities) = (case.twin_constraints(), case.twin_velocities());
    let mut split = case.split(&colouring);
    let mut problem = ContactProblem::new(&colouring, &mut split, &mut constraints, &mut velocities, joints);
    let limits = Limits::sweeps(case.settings.iterations);
    solvers::solve(&mut ProjectedGaussSeidel::new(settings), settings, &mut problem, limits, None);
    (constraints, velocities)
}

fn swept_bound(case: &Case) -> f64 {
    let gain = match case.settings.acceleration {
        Acceleration::None => 1.0,
        Acceleration::Nesterov => 1.0 / (1.0 - LARGEST_MOMENTUM),
    };
    4.0 * gain * velocity_bound(case.settings.iterations, &case.twin_velocities())
}

fn sweeps_as_its_twin(case: &mut Case, mut joints: Joints) {
    let bound = swept_bound(case);
    let (constraints, expected) = sweeps_of_twin(case, &case.settings, &mut joints);
    case.run(&["sweep"]);
    let found = case.twin_velocities();
    holds_and_can_fail(case.name, "swept velocity", velocity_pairs(&found, &expected, bound));

    let inverse_mass = &case.world.bodies.inverse_mass;
    let solved = case.twin_constraints();
    let pairs = solved.iter().zip(&constraints).flat_map(|(found, expected)| {
        // An impulse is as exact as the velocity of the lighter body times its mass.
        let [a, b] = found.bodies.map(|body| inverse_mass[body as usize]);
        let slack = 4.0 * bound / a.max(b);
        let (found, expected) = (&found.impulse, &expected.impulse);
        let tangent = components(found.tangent, expected.tangent, slack);
        let rolling = components(found.rolling, expected.rolling, slack * D);
        [(found.normal, expected.normal, slack)].into_iter().chain(tangent).chain(rolling)
    });
    let pairs: Vec<_> = pairs.collect();
    holds_and_can_fail(case.name, "impulse", pairs);
}

/// Largest difference between the velocities of the GPU and those of the twin's sweeps in the colouring `order`, in bounds \[-\].
fn bounds_apart(
    case: &Case,
    found: &[Velocity],
    start: (&[Constraint], &[Velocity]),
    order: &Colouring,
) -> f64 {
    let (mut constraints, mut expected) = (start.0.to_vec(), start.1.to_vec());
    let by_place = case.gpu.colouring().unwrap().order;
    let mut by_key = constraints.clone();
    by_place.iter().zip(&constraints).for_each(|(&k, constraint)| by_key[k as usize] = *constraint);
    order.order.iter().zip(&mut constraints).for_each(|(&k, constraint)| *constraint = by_key[k as usize]);
    let sweeps = case.settings.iterations;
    let (split, joints) = (&mut case.split(order), &mut Joints::default());
    let mut problem = ContactProblem::new(order, split, &mut constraints, &mut expected, joints);
    let limits = Limits::sweeps(sweeps);
    ProjectedGaussSeidel::plain(&case.settings).solve(&mut problem, limits, None);
    let bound = 4.0 * velocity_bound(sweeps, start.1);
    let pairs = velocity_pairs(found, &expected, bound);
    pairs.iter().map(|(found, expected, bound)| (found - expected).abs() / bound).fold(0.0, f64::max)
}

/// Mass splitting of a box on a bed agrees with the twin's: the velocity of the box is the mean of its copies, each with 1/n of its mass.
/// Solved one after the other, the same constraints come to other velocities within a few sweeps.
#[test]
fn a_box_on_a_bed_is_split_as_its_twin_splits_it() {
    let settings = Settings { iterations: 4, acceleration: Acceleration::None, ..Settings::default() };
    let mut case = Case::new("split", &box_on_a_bed(), settings, 20);
    case.run(&SEARCH);
    case.run(&["narrowphase", "impact", "predict", "warm_start"]);
    let (constraints, before) = (case.twin_constraints(), case.twin_velocities());
    let colouring = case.gpu.colouring().unwrap();
    let on_box = |constraint: &&Constraint| constraint.bodies[1] == 1;
    let copies = constraints[colouring.overflow_start()..].iter().filter(on_box).count();
    assert!(copies > 20, "only {copies} contacts of the box without a colour");
    case.run(&["sweep"]);
    let found = case.twin_velocities();
    let apart = |order: &Colouring| bounds_apart(&case, &found, (&constraints, &before), order);
    assert!(apart(&colouring) < 1.0, "{} bounds from its twin", apart(&colouring));
    let one_by_one = Colouring { overflow: Overflow::OneByOne, ..colouring.clone() };
    assert!(apart(&one_by_one) > 10.0, "without splitting only {} bounds apart", apart(&one_by_one));
}
