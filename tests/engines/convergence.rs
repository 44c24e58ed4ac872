//! Convergence of the solver: a step solved aside has the residuals of the real step and does not change the run, and its course shows the
//! gain of warm starts. With a tolerance, sweeps end by themselves.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use crate::common::*;
use esker::cpu::convergence::solve_aside;
use esker::engine::convergence::{Convergence, Point, Question, SolveCourse};
use esker::engine::{Engine, Residuals, Snapshot};
use esker::model::sphere_volume;
use esker::observe::packing::height;
use esker::scenario::Scenario;
use esker::settings::{AUTO_ITERATIONS, AUTO_TOLERANCE, Acceleration, Settings, WarmStart};
use esker::simulation::{self, RunOptions};

/// A pyramid of 204 pellets in touch: it stands by friction and rolling resistance alone.
fn pyramid(more: &str) -> Scenario {
    pellets(&format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "pyramid", base = [0, 0, 0], rows = 8 }}
{more}
"#
    ))
}

/// Height of a column at rest under Hertz's law \[m\]: contact k carries the k grains above it, and overlaps by (F/k_n)^(2/3).
fn hertz_height(count: u32) -> f64 {
    let weight = 3700.0 * sphere_volume(D / 2.0) * 9.81;
    let modulus = 6e6 / (2.0 * (1.0 - 0.25 * 0.25));
    let overlap = |above: u32| {
        let radius = if above == count { D / 2.0 } else { D / 4.0 };
        (f64::from(above) * weight / (4.0 / 3.0 * modulus * f64::sqrt(radius))).powf(2.0 / 3.0)
    };
    f64::from(count) * D - (1..=count).map(overlap).sum::<f64>()
}

/// Settings with plain sweeps, as in Wang, Servin & Berglund 2016.
fn with(warm_start: WarmStart, iterations: u32) -> Settings {
    Settings { warm_start, iterations, acceleration: Acceleration::None, ..Settings::default() }
}

fn question(starts: &[WarmStart], sweeps: u32) -> Question {
    Question { starts: starts.to_vec(), sweeps, reference: 20 * sweeps }
}

fn run_into(folder: &Path, scenario: &Scenario, engine: &mut dyn Engine) {
    let never = AtomicBool::new(false);
    let options = RunOptions::new(folder, &never);
    simulation::run(scenario, engine, options, &mut |_| ()).unwrap();
}

fn means(residuals: &Residuals) -> [f64; 3] {
    [residuals.normal.mean, residuals.friction.mean, residuals.rolling.mean]
}

/// A step solved aside has the contact constraints, impacts, bias velocities, start and sweeps of the real step. After as many sweeps its
/// residuals are therefore the same, up to rounding.
#[test]
fn the_course_of_the_own_start_ends_where_the_step_does() {
    let cases = [
        ("column", column(8, 0.0)),
        ("falling", box_of(300)),
        ("drum", mixed_sizes_in_a_drum()),
        ("dynamic boundaries", dynamic_boundaries_among_grains()),
    ];
    for (name, scenario) in cases {
        for warm_start in [WarmStart::Cold, WarmStart::ADAPTIVE, WarmStart::NO_VELOCITY_UPDATE] {
            let settings = with(warm_start, 7);
            let mut engine = cpu(&scenario.world, &settings);
            for steps in [0, 1, 59] {
                if steps > 0 {
                    engine.advance(steps).unwrap();
                }
                let before = engine.snapshot().unwrap();
                let other = with(WarmStart::NORMALS_ONLY, 7).warm_start;
                let found = solve_aside(&before, &settings, &question(&[warm_start, other], 7));
                let step = engine.advance(1).unwrap().residuals;
                let off = |course: &SolveCourse| {
                    let course = means(&course.points[7].residuals);
                    let pairs = course.into_iter().zip(means(&step));
                    pairs
                        .map(|(found, expected)| (found - expected).abs() / expected.max(1e-12))
                        .fold(0.0, f64::max)
                };
                let [own, other] = [0, 1].map(|i| off(&found.courses[i]));
                assert!(own < 1e-9, "{name}, {warm_start}, after {steps} steps: off by the share {own}");
                if steps == 59 && warm_start != WarmStart::Cold {
                    assert!(other > 1e-6, "{name}, {warm_start}: another start ends there too, {other}");
                }
            }
        }
    }
}

#[test]
fn a_scene_without_contacts_converges_at_once() {
    let (scenario, settings) = (no_grains(), Settings::default());
    let state = cpu(&scenario.world, &settings).snapshot().unwrap();
    let found = solve_aside(&state, &settings, &question(&[WarmStart::ADAPTIVE], 2));
    for point in &found.courses[0].points {
        assert_eq!((point.residuals, point.error), Default::default(), "after {} sweeps", point.sweep);
    }
}

/// Last state of the engine after a run, without its report, which holds wall times.
fn state_after(scenario: &Scenario, engine_index: usize) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    let engine = &mut both(&scenario.world, &scenario.settings)[engine_index];
    run_into(folder.path(), scenario, engine.as_mut());
    Snapshot { report: Default::default(), ..engine.snapshot().unwrap() }
}

#[test]
fn looking_inside_steps_changes_no_bit_of_a_run() {
    let plain = pyramid("[output]\nevery = 0.1\n");
    let looked = pyramid("[output]\nevery = 0.1\n[convergence]\ntimes = [0, 0.015, 0.1]\nsweeps = 2\n");
    let short = |scenario: &Scenario| Scenario { duration: 0.15, ..scenario.clone() };
    for engine in [0, 1] {
        let expected = state_after(&short(&plain), engine);
        assert_eq!(state_after(&short(&looked), engine), expected, "engine {engine}");
        let mut other = short(&plain);
        other.settings.iterations += 1;
        assert_ne!(state_after(&other, engine), expected, "engine {engine} does not notice a sweep");
    }
}

/// Rows of a CSV file by the names of the columns, without units.
fn rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let mut rows = csv::Reader::from_path(path).unwrap();
    let names: Vec<String> =
        rows.headers().unwrap().iter().map(|name| name.split(" [").next().unwrap().to_owned()).collect();
    let entries = |row: csv::StringRecord| names.iter().cloned().zip(row.iter().map(str::to_owned)).collect();
    rows.records().map(|row| entries(row.unwrap())).collect()
}

#[test]
fn both_engines_write_the_courses_and_the_histograms_of_the_steps_asked_for() {
    let scenario = pyramid(
        r#"
[convergence]
times = [0.1, 0.05]
sweeps = 3
starts = ["cold", { kind = "history", fraction = 0.5 }]
"#,
    );
    let settings = Settings { acceleration: Acceleration::None, ..scenario.settings };
    let scenario = Scenario { duration: 0.1, settings, ..scenario };
    let mut errors = Vec::new();
    for engine in &mut both(&scenario.world, &scenario.settings) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("convergence.csv"), "of an earlier run").unwrap();
        run_into(folder.path(), &scenario, engine.as_mut());

        let courses = rows(&folder.path().join("convergence.csv"));
        let label = |row: &BTreeMap<String, String>| {
            [&row["time"], &row["start"], &row["sweep"]].map(String::as_str).join(" ")
        };
        let of = |time: &str, start: &str| {
            ["0", "1", "2", "3", "60"].map(|sweep| format!("{time} {start} {sweep}"))
        };
        let times: [f64; 2] = [courses[0]["time"].parse().unwrap(), courses[10]["time"].parse().unwrap()];
        assert!((times[0] - 0.05).abs() < 1e-6 && (times[1] - 0.1).abs() < 1e-6, "{times:?}");
        let expected = times.iter().flat_map(|time| {
            let time = format!("{time:?}");
            [of(&time, "cold"), of(&time, "history 0.5")].concat()
        });
        assert!(
            courses.iter().map(label).eq(expected),
            "{:?}",
            courses.iter().map(label).collect::<Vec<_>>()
        );
        let error = |row: usize| courses[row]["impulse_error"].parse::<f64>().unwrap();
        assert_eq!((error(0), error(4)), (1.0, 0.0), "from nothing to the solution");
        errors.push(error(7));

        let bins = rows(&folder.path().join("residual_histogram.csv"));
        let contacts = engine.snapshot().unwrap().contacts.len() as u64;
        for kind in ["normal", "friction", "rolling"] {
            let of_kind = bins.iter().filter(|bin| bin["row"] == kind && bin["start"] == "cold");
            let count: u64 = of_kind.map(|bin| bin["contacts"].parse::<u64>().unwrap()).sum();
            assert_eq!(count, 2 * contacts, "{kind}: every contact once at each of two times");
        }
    }
    let [cpu, gpu] = errors[..] else { panic!("two engines") };
    assert!(
        (cpu / gpu - 1.0).abs() < 0.05,
        "history is off by {cpu} in a state of the CPU, {gpu} of the GPU"
    );
}

fn point(found: &Convergence, start: usize, sweep: usize) -> &Point {
    &found.courses[start].points[sweep]
}

/// Wang, Servin & Berglund 2016, figures 7 and 8: in a pile at rest history is about five times nearer to the solution
/// than a cold start at any number of sweeps, in every kind of constraint.
#[test]
fn history_is_several_times_nearer_to_the_solution_than_cold_at_every_sweep() {
    let scenario = pyramid("");
    let settings = with(WarmStart::HISTORY, 50);
    let mut engine = cpu(&scenario.world, &settings);
    engine.advance(200).unwrap();
    let starts = [WarmStart::Cold, WarmStart::HISTORY, WarmStart::ADAPTIVE];
    let found = solve_aside(&engine.snapshot().unwrap(), &settings, &question(&starts, 50));
    for sweep in [0, 10, 20, 30] {
        let [cold, history, adaptive] = [0, 1, 2].map(|start| point(&found, start, sweep));
        let gain = cold.error.norm / history.error.norm;
        assert!((4.0..10.0).contains(&gain), "λ_n after {sweep} sweeps: cold is {gain} times as far");
        assert!(adaptive.error.norm < history.error.norm, "after {sweep} sweeps");
        let residuals = means(&cold.residuals).into_iter().zip(means(&history.residuals));
        for (kind, (cold, history)) in ["normal", "friction", "rolling"].into_iter().zip(residuals) {
            // A cold start has no impulses yet, so friction and rolling have no residual.
            let expected = if sweep == 0 && kind != "normal" { cold == 0.0 } else { cold > 4.0 * history };
            assert!(expected, "{kind} rows after {sweep} sweeps: {cold} cold, {history} with history");
        }
    }
}

/// A column has one solution, to which every start converges.
#[test]
fn every_start_converges_to_the_impulses_of_a_column() {
    let scenario = column(8, 0.0);
    let settings = with(WarmStart::HISTORY, 50);
    let mut engine = cpu(&scenario.world, &settings);
    engine.advance(200).unwrap();
    let starts = [WarmStart::Cold, WarmStart::HISTORY, WarmStart::Model, WarmStart::NORMALS_ONLY];
    let found = solve_aside(&engine.snapshot().unwrap(), &settings, &question(&starts, 100));
    for course in &found.courses {
        let [first, last] = [1, 100].map(|sweep| course.points[sweep]);
        let solution = course.points.last().unwrap();
        assert_eq!((solution.sweep, solution.error.norm), (2000, 0.0));
        assert!(means(&solution.residuals).iter().all(|&residual| residual < 1e-15), "{}", course.start);
        assert!(last.error.norm < 2e-3 * first.error.norm, "{}: {}", course.start, last.error.norm);
    }
}

/// The pile experiment of Wang, Servin & Berglund 2016 (figure 6): a start of the normal impulses alone gains a part of what a start of all
/// impulses gains, and a start without the velocity update is worse than none.
#[test]
fn a_start_without_its_velocity_update_is_worse_than_none_and_one_of_normals_alone_gains_a_part() {
    let scenario = pyramid("");
    let starts =
        [WarmStart::NO_VELOCITY_UPDATE, WarmStart::Cold, WarmStart::NORMALS_ONLY, WarmStart::HISTORY];
    for engine in [0, 1] {
        let heights = starts.map(|start| {
            let engine = &mut both(&scenario.world, &with(start, 10))[engine];
            engine.advance(80).unwrap();
            height(&engine.snapshot().unwrap())
        });
        let margin = 0.02 * D;
        let in_order = heights.windows(2).all(|pair| pair[1] > pair[0] + margin);
        assert!(in_order, "engine {engine}: heights {heights:?} m of {starts:?}");
    }
}

/// Settings that sweep until a sweep changes the contacts by less than `tolerance` times |gravity| h.
fn tolerant(tolerance: f64, iterations: u32) -> Settings {
    let usual = Settings::default();
    Settings { iterations, tolerance: tolerance * 9.81 * usual.substep(), ..usual }
}

#[test]
fn automatic_iterations_hold_the_height_of_columns_of_any_depth_within_a_thousandth() {
    // Mean error of the height from 3.5 to 4 s, and mean sweeps.
    let measure = |count: u32, tolerance: f64| {
        let mut engine = cpu(&column(count, 0.0).world, &tolerant(tolerance, AUTO_ITERATIONS));
        engine.advance(700).unwrap();
        let (mut error, mut sweeps) = (0.0, 0.0);
        for _ in 0..100 {
            sweeps += f64::from(engine.advance(1).unwrap().sweeps) / 100.0;
            error += (height(&engine.snapshot().unwrap()) / hertz_height(count) - 1.0).abs() / 100.0;
        }
        (error, sweeps)
    };
    for count in [5, 25, 50, 100] {
        let (error, sweeps) = measure(count, AUTO_TOLERANCE);
        assert!(error < 1e-3, "{count} grains: off by the share {error}");
        assert!(sweeps < 0.5 * f64::from(AUTO_ITERATIONS), "{count} grains: {sweeps} sweeps");
        let (coarse, _) = measure(count, 10.0 * AUTO_TOLERANCE);
        assert!(
            coarse > 2.0 * error,
            "{count} grains: {coarse} with ten times the tolerance, {error} without"
        );
    }
}

/// The GPU engine stops sweeping at the tolerance like its CPU twin, decided on the device without the host. From the same state the
/// numbers of sweeps differ by 5 at most.
#[test]
fn a_gpu_stops_sweeping_at_the_tolerance_as_its_twin_does() {
    let scenario = pyramid("");
    let [cpu, gpu] = [0, 1].map(|engine| {
        let engine = &mut both(&scenario.world, &tolerant(AUTO_TOLERANCE, 60))[engine];
        let sweeps = (0..20).map(|_| engine.advance(1).unwrap().sweeps);
        sweeps.collect::<Vec<u32>>()
    });
    assert!(cpu[0].abs_diff(gpu[0]) <= 5, "from the same state: {} and {}", cpu[0], gpu[0]);
    for sweeps in [&cpu, &gpu] {
        assert!(sweeps.iter().max() == Some(&60) && sweeps[19] <= 5, "it lands, then rests: {sweeps:?}");
    }
}
