//! GPU stages after the sweeps: residual, loads, energy balance, positions.

use super::*;
use esker::cpu::stress;
use esker::model::{Layers, Meter, MeterSums, Region};

#[test]
fn the_residual_is_that_of_its_twin() {
    for mut case in cases() {
        case.run(&SEARCH);
        case.run(&["narrowphase", "impact", "predict", "warm_start", "sweep"]);
        let expected = residual::measure(
            case.settings.cone,
            Flow::default(),
            &case.twin_constraints(),
            &case.twin_velocities(),
        );
        let found = case.gpu.measure_residuals().unwrap();
        let bound = 4.0 * velocity_bound(1, &case.twin_velocities());
        let spin = bound / 0.003;
        holds_and_can_fail(
            case.name,
            "residual",
            vec![
                (found.normal.mean, expected.normal.mean, bound),
                (found.normal.max, expected.normal.max, bound),
                (found.friction.mean, expected.friction.mean, bound),
                (found.friction.max, expected.friction.max, bound),
                (found.rolling.mean, expected.rolling.mean, spin),
                (found.rolling.max, expected.rolling.max, spin),
            ],
        );
    }
}

/// Kinetic energy of bodies with the masses that the device knows \[J\].
fn kinetic(world: &World, velocities: &[Velocity]) -> f64 {
    let rotational = |body: usize, v: &Velocity| match world.bodies.rigid(body) {
        Some(free) => free.rotational_energy(world.bodies.orientation[body], v.angular),
        None => 0.5 * v.angular.length_squared() / v.inverse_inertia,
    };
    let free = velocities.iter().enumerate().filter(|(_, velocity)| velocity.is_free());
    free.map(|(body, v)| 0.5 * v.linear.length_squared() / v.inverse_mass + rotational(body, v)).sum()
}

/// Error bound of works \[J\]. Works are impulses times velocities, and `velocity_bound` gives the error of both.
fn work_bound(constraints: &[Constraint], velocities: &[Velocity], sweeps: u32) -> f64 {
    let free = velocities.iter().filter(|velocity| velocity.is_free());
    let momentum: f64 = free.map(|velocity| velocity.linear.length() / velocity.inverse_mass).sum();
    let carried: f64 =
        constraints.iter().map(|constraint| constraint.impulse.linear(constraint.normal).length()).sum();
    8.0 * velocity_bound(sweeps, velocities) * (momentum + carried)
}

#[test]
fn loads_are_those_of_its_twin() {
    let mut loaded = 0;
    for mut case in cases() {
        case.run(&SEARCH);
        case.run(&["narrowphase", "impact", "predict", "warm_start", "sweep"]);
        case.gpu.fill_words("loads", 0);
        case.run(&["loads"]);
        let (found, constraints) = (case.gpu.loads().unwrap(), case.twin_constraints());
        let mut expected = vec![TotalImpulse::default(); case.world.boundaries.len()];
        loads::add(constraints.iter(), &mut expected);
        // The load of each contact is rounded to single precision, as is the product of arm and impulse, and then to a unit of the integer sums.
        let carried: f64 =
            constraints.iter().map(|constraint| constraint.impulse.linear(constraint.normal).length()).sum();
        let arm = constraints
            .iter()
            .map(|constraint| constraint.arm_b.length() + constraint.rolling_arm)
            .fold(0.0, f64::max);
        let grains: f64 = (0..case.world.grain_count()).map(|grain| case.world.grain_mass(grain)).sum();
        let unit = 1e-11 * constraints.len() as f64 * grains;
        let mut pairs = Vec::new();
        for (found, expected) in found.iter().zip(&expected) {
            loaded += usize::from(expected.linear != DVec3::ZERO);
            let (linear, angular) = (4.0 * ROUNDING * carried + unit, 16.0 * ROUNDING * carried * arm + unit);
            pairs.extend((0..3).map(|axis| (found.linear[axis], expected.linear[axis], linear)));
            pairs.extend((0..3).map(|axis| (found.angular[axis], expected.angular[axis], angular)));
        }
        holds_and_can_fail(case.name, "load", pairs);
    }
    assert!(loaded >= 8, "only {loaded} boundaries were loaded");
}

/// A meter of most of the grains of a world, and one that cuts it into layers across x.
fn meters_of(world: &World) -> Vec<Meter> {
    let centres = || world.present_grains().map(|grain| world.bodies.position[world.grain_body(grain)]);
    let (low, high) = (centres().reduce(DVec3::min).unwrap(), centres().reduce(DVec3::max).unwrap());
    let region = Region::Box { min: low + 0.07 * (high - low), max: high };
    let layers = Some(Layers { axis: DVec3::X, count: 5 });
    [None, layers].map(|layers| Meter { region: region.clone(), material: None, layers }).to_vec()
}

#[test]
fn stresses_are_those_of_their_twin() {
    let settings = Settings { iterations: 12, ..Settings::default() };
    for (name, mut world, steps) in [
        ("clumps in a periodic cell", clumps_among_spheres(PERIODIC).world, 40),
        ("sizes 1:4 among moving walls", mixed_sizes_in_a_drum().world, 30),
    ] {
        world.meters = meters_of(&world);
        let mut case = Case::of_world(name, &world, settings, steps);
        case.run(&SEARCH);
        case.run(&["narrowphase", "impact", "predict", "warm_start", "sweep"]);
        case.gpu.fill_words("loads", 0);
        case.run(&["loads"]);
        let (found, constraints) = (case.gpu.stresses().unwrap(), case.twin_constraints());
        let (mut expected, h) = (vec![MeterSums::ZERO; 6], case.settings.substep());
        let velocities = case.twin_velocities();
        stress::add(&case.world, &constraints, |_| true, &mut expected);
        stress::add_motion(&case.world, &velocities, h, |_| true, &mut expected);
        // Arms, products and shares are rounded; a share by the rounding of a place over the length of an arm.
        let carried = |constraint: &Constraint| {
            let arm = constraint.arm_a.length() + constraint.arm_b.length();
            arm * constraint.impulse.linear(constraint.normal).length()
        };
        let of_contacts = 256.0 * ROUNDING * constraints.iter().map(carried).sum::<f64>();
        // Of grains the share of a layer is rounded by that of their height over their way, which is short: some of them may be in the
        // layer above or below.
        let grains = case.world.present_grains().map(|grain| case.world.grain_mass(grain));
        let fastest = velocities.iter().map(|velocity| velocity.linear.length()).fold(0.0, f64::max);
        let mass = 64.0 * ROUNDING * h * grains.sum::<f64>();
        let bounds = [[of_contacts; 9], [mass * fastest * fastest; 9]].concat().into_iter();
        let bounds: Vec<f64> = bounds.chain([mass * fastest; 3]).chain([mass, 0.0, mass / h]).collect();
        let pairs = found.iter().zip(&expected).flat_map(|(found, expected)| {
            let pairs = found.to_array().into_iter().zip(expected.to_array()).zip(&bounds);
            pairs.map(|((found, expected), bound)| (found, expected, *bound))
        });
        holds_and_can_fail(name, "stress", pairs.collect());
        let size = expected[0].contacts.col(2)[2];
        assert!(size > 10.0 * of_contacts, "{name}: the region has nothing to measure: {size:e}");
    }
}

#[test]
fn the_ledger_closes_and_holds_the_works_of_its_twin() {
    let (mut bounced, mut tampered) = (0, 0);
    for mut case in cases() {
        case.run(&SEARCH);
        case.run(&["narrowphase"]);
        case.gpu.fill_words("work_sums", 0x7fc0_0000);
        case.gpu.fill_words("balance", 0x7fc0_0000);
        let start = case.twin_velocities();
        case.run(&["impact"]);
        let has_impact = case.twin_velocities() != start;
        bounced += u32::from(has_impact);
        let mut joints = case.joints(&case.twin_velocities());
        case.run(&["predict"]);
        warmed_up(&case, &mut joints);
        case.run(&["warm_start"]);
        sweeps_of_twin(&case, &case.settings, &mut joints);
        case.run(&["sweep", "balance"]);
        let (end, constraints) = (case.twin_velocities(), case.twin_constraints());
        let found = layout::entry(&case.gpu.balance_entry().unwrap());

        let change = kinetic(&case.world, &end) - kinetic(&case.world, &start);
        let sweeps = case.settings.iterations;
        let bound = work_bound(&constraints, &start, sweeps) + work_bound(&constraints, &end, sweeps);
        let mut pairs = vec![(found.error(change), 0.0, bound)];
        if !has_impact {
            let h = case.settings.substep();
            let expected = balance::book_contacts(Flow::default(), &constraints, &start, &end)
                + balance::book_gravity(&case.world, h, &start, &end, &Alone)
                + balance::book_joints(&joints, &start, &end);
            pairs.extend([
                (found.gravity_work, expected.gravity_work, bound),
                (found.boundary_work, expected.boundary_work, bound),
                (found.normal_work, expected.normal_work, bound),
                (found.friction_work, expected.friction_work, bound),
                (found.rolling_work, expected.rolling_work, bound),
                (found.impact_work, expected.impact_work, bound),
            ]);
        }
        holds_and_can_fail(case.name, "work", pairs);

        // Control: impulses that are counted but were not applied leave a closure error.
        if !constraints.is_empty() {
            case.gpu.fill_words("impulses", 0.01f32.to_bits());
            case.run(&["balance"]);
            let error = layout::entry(&case.gpu.balance_entry().unwrap()).error(change).abs();
            assert!(error > bound, "{}: tampering leaves an error of {error} J", case.name);
            tampered += 1;
        }
    }
    assert!(bounced >= 2, "only {bounced} cases had an impact");
    assert!(tampered >= 8, "only {tampered} cases had contacts");
}

#[test]
fn integrate_moves_bodies_as_its_twin_does() {
    for mut case in cases() {
        case.run(&SEARCH);
        case.run(&["narrowphase", "impact", "predict", "warm_start", "sweep"]);
        let velocities = case.twin_velocities();
        let mut expected = case.world.clone();
        let (end, h) = (case.end_of_substep(), case.settings.substep());
        let cause = integrate::Cause { constraints: &[], warning: None };
        integrate::judge(&expected, &velocities, &case.settings, &Alone, cause).unwrap();
        integrate::move_bodies(&mut expected, &velocities, end, h);
        case.run(&["integrate"]);
        let found = case.gpu.snapshot().unwrap().world;
        let mut pairs = Vec::new();
        for body in 0..found.bodies.len() {
            // Offsets are within a cell (two diameters of the largest grain), and turn by h ω.
            let position = 4.0 * ROUNDING * 4.0 * D;
            // A grain that stands on a periodic face to within rounding may be on either side of it.
            let place = found.bodies.position[body];
            let place = expected.periodic.image(place, expected.bodies.position[body]);
            pairs.extend(components(place, expected.bodies.position[body], position));
            let (a, b) = (found.bodies.orientation[body], expected.bodies.orientation[body]);
            pairs.push((angle_between(a, b), 0.0, 16.0 * ROUNDING));
        }
        holds_and_can_fail(case.name, "pose", pairs);
    }
}

/// Angle between two orientations \[rad\], exact for small ones.
fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let apart = a.normalize() * b.normalize().conjugate();
    2.0 * apart.xyz().length().atan2(apart.w.abs())
}
