//! `esker solve` and `esker export --problem`: contact problems in local form.

use std::fmt::Write as _;
use std::path::Path;

use esker::engine::Snapshot;
use esker::local::export::{ExportedStep, next_problem};
use esker::local::matrix::BlockMatrix;
use esker::local::order::ContactOrder;
use esker::local::residual::{lift, natural_map};
use esker::local::solve::{LocalAlgorithm, LocalLimits, LocalReport, solve};
use esker::local::{LocalProblem, fclib, text};
use esker::scenario::Scenario;
use esker::simulation::{Device, Simulation};

use super::place::{Place, code, error_text, text as printed};

/// A problem of independent blocks, one per contact.
fn blocks(dimension: usize, contacts: &[(&[f64], &[f64], f64, f64)]) -> LocalProblem {
    let entries = contacts.iter().enumerate().flat_map(|(contact, (diagonal, ..))| {
        let at = (contact * dimension) as u32;
        diagonal
            .iter()
            .enumerate()
            .map(move |(i, &value)| (at + i as u32, at + i as u32, value))
            .collect::<Vec<_>>()
    });
    LocalProblem {
        matrix: BlockMatrix::from_entries(dimension, contacts.len(), entries.collect()).expect("places in W"),
        q: contacts.iter().flat_map(|contact| contact.1.to_vec()).collect(),
        friction: contacts.iter().map(|contact| contact.2).collect(),
        rolling: contacts.iter().map(|contact| contact.3).collect(),
    }
}

/// Solves a problem by every algorithm and order.
fn all_reports(problem: &LocalProblem, tolerance: f64) -> Vec<(LocalAlgorithm, ContactOrder, LocalReport)> {
    let limits = LocalLimits { tolerance, iterations: 100_000 };
    let start = vec![0.0; problem.q.len()];
    let both = |algorithm| ContactOrder::ALL.map(|order| (algorithm, order));
    let choices = LocalAlgorithm::ALL.into_iter().flat_map(both);
    choices
        .map(|(algorithm, order)| (algorithm, order, solve(problem, algorithm, order, limits, &start)))
        .collect()
}

/// Checks that every algorithm finds these velocities.
fn assert_velocities(problem: &LocalProblem, expected: &[f64], tolerance: f64) {
    for (algorithm, order, report) in all_reports(problem, 1e-10) {
        assert!(report.solved, "{algorithm:?}, {order:?}: {:?}", report.end());
        let found = &report.solution.velocities;
        let off =
            found.iter().zip(expected).map(|(found, expected)| (found - expected).abs()).fold(0.0, f64::max);
        assert!(off < tolerance, "{algorithm:?}, {order:?}: {found:?} for {expected:?}");
    }
}

#[test]
fn bodies_on_a_floor_keep_what_friction_leaves_them() {
    // Three of mass 2: one slides at 1 and keeps 1 - μ g h, one sticks, one flies; g h = 0.1.
    let contact = |slip: f64, normal: f64| vec![normal, slip];
    let plane = blocks(
        2,
        &[
            (&[0.5, 0.5], &contact(1.0, -0.1), 0.3, 0.0),
            (&[0.5, 0.5], &contact(0.02, -0.1), 0.3, 0.0),
            (&[0.5, 0.5], &contact(1.0, 0.2), 0.3, 0.0),
        ],
    );
    assert_velocities(&plane, &[0.0, 0.97, 0.0, 0.0, 0.2, 1.0], 1e-8);
    let space = blocks(3, &[(&[0.5, 0.5, 0.5], &[-0.1, 0.6, 0.8], 0.3, 0.0)]);
    assert_velocities(&space, &[0.0, 0.6 * 0.97, 0.8 * 0.97], 1e-8);
    // With rolling, r_N = 0.2: friction takes 0.06/2 from the slip, and 0.1 r_N · 50 from the spin of 3.
    let rolling = blocks(5, &[(&[0.5, 0.5, 0.5, 50.0, 50.0], &[-0.1, 0.6, 0.8, 0.0, 3.0], 0.3, 0.1)]);
    assert_velocities(&rolling, &[0.0, 0.6 * 0.97, 0.8 * 0.97, 0.0, 2.0], 1e-7);
}

/// W of the box of 4 kg on its four corners of `hyperstatic_box`: H M⁻¹ Hᵀ.
fn hyperstatic_box() -> LocalProblem {
    // Half sizes 1, 1 and 0.5 m; moments m (b² + c²)/3. Corners at z = -0.5, normal z, tangents x and y.
    let (mass, moments) = (4.0, [5.0 / 3.0, 5.0 / 3.0, 8.0 / 3.0]);
    let corners = [[-1.0, -1.0, -0.5], [1.0, -1.0, -0.5], [1.0, 1.0, -0.5], [-1.0, 1.0, -0.5f64]];
    let axes = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0f64]];
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let mut entries = Vec::new();
    let rows: Vec<([f64; 3], [f64; 3])> =
        corners.iter().flat_map(|&arm| axes.map(|axis| (axis, cross(arm, axis)))).collect();
    for (i, (axis, lever)) in rows.iter().enumerate() {
        for (j, (other, of_other)) in rows.iter().enumerate() {
            let turned = std::array::from_fn(|k| of_other[k] / moments[k]);
            entries.push((i as u32, j as u32, dot(*axis, *other) / mass + dot(*lever, turned)));
        }
    }
    // It moves at 0.3 along x and turns at 0.05 about z; g h = 0.0981.
    let velocity = |arm: [f64; 3]| [-0.0981, 0.3 - 0.05 * arm[1], 0.05 * arm[0]];
    LocalProblem {
        matrix: BlockMatrix::from_entries(3, 4, entries).expect("places in W"),
        q: corners.iter().flat_map(|&arm| velocity(arm)).collect(),
        friction: vec![0.5; 4],
        rolling: vec![0.0; 4],
    }
}

#[test]
fn a_box_on_four_corners_is_carried_whatever_shares_the_corners_have() {
    let problem = hyperstatic_box();
    for (algorithm, order, report) in all_reports(&problem, 1e-9) {
        assert!(report.solved, "{algorithm:?}, {order:?}: {:?}", report.end());
        let carried: f64 = report.solution.impulses.iter().step_by(3).sum();
        assert!((carried - 4.0 * 0.0981).abs() < 1e-7, "{algorithm:?}, {order:?}: {carried} N s for m g h");
        let lifted = report.solution.velocities.iter().step_by(3).fold(0.0f64, |most, u| most.max(u.abs()));
        assert!(lifted < 1e-7, "{algorithm:?}, {order:?}: {lifted} m/s, and no corner opens");
    }
}

#[test]
fn the_residual_tells_a_solution_from_what_is_none() {
    let problem = hyperstatic_box();
    let limits = LocalLimits { tolerance: 1e-9, iterations: 1000 };
    let report = solve(&problem, LocalAlgorithm::Ngs, ContactOrder::Stored, limits, &[0.0; 12]);
    let solution = &report.solution.impulses;
    assert!(residual_of(&problem, solution) < 1e-8);
    let doubled: Vec<f64> = solution.iter().map(|r| 2.0 * r).collect();
    let slippery = LocalProblem { friction: vec![0.4; 4], ..problem.clone() };
    assert!(residual_of(&problem, &doubled) > 1e-2 && residual_of(&slippery, solution) > 1e-3);
}

/// Natural map over |q| of some impulses in space.
fn residual_of(problem: &LocalProblem, impulses: &[f64]) -> f64 {
    let (rows, impulses) = (problem.matrix.rows::<3>(), impulses.as_chunks::<3>().0);
    let square = |row: usize| {
        let u = rows.velocity(row, &problem.q.as_chunks::<3>().0[row], impulses);
        let coefficients = [problem.friction[row], 0.0];
        natural_map(&impulses[row], &u, lift(&u, coefficients), coefficients)
    };
    (0..problem.contacts()).map(square).sum::<f64>().sqrt() / problem.size()
}

/// The box in every storage of the text of Siconos.
fn texts(problem: &LocalProblem) -> Vec<(&'static str, String)> {
    let entries = problem.matrix.entries();
    let words = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:e} ")).collect::<String>();
    let tail = format!("{}\n{}\n", words(&problem.q), words(&problem.friction));
    let value = |row: u32, column: u32| {
        entries.iter().find(|entry| (entry.0, entry.1) == (row, column)).map_or(0.0, |entry| entry.2)
    };
    let columns: String = (0..12)
        .map(|column| words(&(0..12).map(|row| value(row, column)).collect::<Vec<_>>()) + "\n")
        .collect();
    let dense = format!("3\n4\n0\n12\n12\n12\t12\n{columns}{tail}");
    let head = "CSparse Version 3.1.9, May 4, 2016.  Copyright (c) Timothy A. Davis, 2006-2016";
    let lines = |by_rows: bool| {
        let mut text = String::new();
        for line in 0..12u32 {
            let _ = writeln!(text, "    {} {line} : locations 0 to 0", if by_rows { "row" } else { "col" });
            for at in 0..12u32 {
                let number = if by_rows { value(line, at) } else { value(at, line) };
                if number != 0.0 {
                    let _ = writeln!(text, "      {at} : {number:e}");
                }
            }
        }
        text
    };
    let size = |word: &str| format!("{word}12-by-12, nzmax: {0} nnz: {0}, 1-norm: 1", entries.len());
    let triplets: String =
        entries.iter().map(|(row, column, value)| format!("    {row} {column} : {value:e}\n")).collect();
    vec![
        ("dense", dense),
        ("columns", format!("3\n4\n2\n12\n12\n1\n{head}\n{}\n{}{tail}", size(""), lines(false))),
        ("rows", format!("3\n4\n2\n12\n12\n2\n{head}\n{}\n{}{tail}", size("csr: "), lines(true))),
        ("triplets", format!("3\n4\n2\n12\n12\n0\n{head}\n{}\n{triplets}{tail}1\n", size("triplet: "))),
    ]
}

#[test]
fn a_problem_is_the_same_in_every_storage_and_after_it_is_written() {
    let problem = hyperstatic_box();
    for (storage, written) in texts(&problem) {
        let read = text::parse(&written, storage).unwrap_or_else(|error| panic!("{storage}: {error}"));
        assert_eq!(read, problem, "{storage}");
    }
    let place = Place::with("unrelated.toml", "");
    let (as_text, as_hdf5) = (place.path("box.dat"), place.path("box.hdf5"));
    text::write(&as_text, &problem).expect("a text");
    assert_eq!(text::read(&as_text).expect("a problem"), problem);
    fclib::write(&as_hdf5, &problem, None).expect("an HDF5 file");
    let read = fclib::read(&as_hdf5).expect("a problem");
    assert_eq!((read.problem, read.guesses.len()), (problem, 0));
    let rolling = blocks(5, &[(&[0.5, 0.5, 0.5, 50.0, 50.0], &[-0.1, 0.6, 0.8, 0.0, 3.0], 0.3, 0.1)]);
    text::write(&as_text, &rolling).expect("a text");
    assert_eq!(text::read(&as_text).expect("a problem"), rolling);
    assert!(fclib::write(&as_hdf5, &rolling, None).is_err(), "the layout has no rolling components");
}

#[test]
fn a_mistake_in_a_text_is_told_with_its_line_and_what_is_expected() {
    let texts = texts(&hyperstatic_box());
    let (dense, columns) = (&texts[0].1, &texts[1].1);
    let changed = |text: &str, line: usize, to: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[line - 1] = to;
        lines.join("\n")
    };
    let cases = [
        (changed(dense, 1, "4"), "f:1: contacts of 4 components; expected 2 in the plane"),
        (changed(dense, 2, "four"), "f:2: \"four\"; expected the number of contacts"),
        (changed(dense, 3, "7"), "f:5: storage 7; expected 0 dense, 1 sparse blocks, or 2 sparse"),
        (changed(dense, 4, "13"), "f:4: 13; expected the number of rows of W, dimension times contacts, 12"),
        (changed(dense, 9, "0 nan"), "f:9: NaN; expected W in row 1, column 2, a finite number"),
        (
            changed(dense, 20, "-0.5 1 1 1"),
            "f:20: -0.5; expected the coefficient of friction of contact 0, not negative",
        ),
        (
            dense.lines().take(19).collect::<Vec<_>>().join("\n"),
            "f:19: the file ends here; expected the coefficient of friction of contact 0",
        ),
        (changed(dense, 7, "-1 0 0 0 0 0 0 0 0 0 0 0"), "f: the diagonal of W is -1e0 in row 0"),
        (format!("{dense}\n1\n2.5\n"), "f:23: \"2.5\" behind the coefficients; expected the end of the file"),
        (
            changed(columns, 8, "11-by-12, nzmax: 3 nnz: 3"),
            "f:8: \"11-by-12, nzmax: 3 nnz: 3\"; expected a matrix of 12-by-12",
        ),
        (
            changed(columns, 10, "      44 : 1.0"),
            "row 44, column 0, and the matrix has 12 of each, from 0; expected a place within W",
        ),
        (
            changed(columns, 10, "      4 ; 1.0"),
            "f:10: \"      4 ; 1.0\"; expected an entry of W, \"index : value\"",
        ),
    ];
    for (text, expected) in cases {
        let found = text::parse(&text, "f").expect_err(expected).to_string();
        assert!(found.contains(expected), "{found}\nfor {expected}");
    }
}

#[test]
fn the_program_solves_tells_and_writes() {
    let place = Place::with("unrelated.toml", "");
    let problem = hyperstatic_box();
    fclib::write(&place.path("box.hdf5"), &problem, None).expect("an HDF5 file");
    let output = place.esker(&["solve", "box.hdf5", "--out", "out"]);
    assert_eq!(code(&output), 0, "{}", error_text(&output));
    assert_eq!(printed(&output).matches(" solved").count(), 5, "{}", printed(&output));
    let course = std::fs::read_to_string(place.path("out/course.csv")).expect("a course");
    assert!(course.starts_with("algorithm,order,iterations,seconds,residual\nngs,stored,0,"), "{course}");
    let solution = std::fs::read_to_string(place.path("out/solution.csv")).expect("a solution");
    assert!(solution.starts_with("contact,r_n,r_t1,r_t2,u_n,u_t1,u_t2\n0,"), "{solution}");
    assert_eq!(solution.lines().count(), 5);
    let written = rust_hdf5::H5File::open(place.path("out/solution.hdf5")).expect("an HDF5 file");
    let r: Vec<f64> = written.dataset("solution/r").and_then(|data| data.read_raw()).expect("impulses");
    assert!(residual_of(&problem, &r) < 1e-5);
    let svg = std::fs::read_to_string(place.path("out/course.svg")).expect("a picture");
    assert!(svg.contains("ngs, stored"), "a curve of every solve");

    let output = place.esker(&[
        "solve",
        "box.hdf5",
        "--algorithm",
        "ngs",
        "--iterations",
        "1",
        "--tolerance",
        "1e-12",
    ]);
    assert_eq!(code(&output), 3, "{}", printed(&output));
    assert!(error_text(&output).contains("not solved: the least residual is"), "{}", error_text(&output));
    let output = place.esker(&["solve", "box.hdf5", "--guess", "2"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("there is no guess 2"), "{}", error_text(&output));
    let output = place.esker(&["solve", "unrelated.toml"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("the file ends here"), "{}", error_text(&output));
    assert_eq!(code(&place.esker(&["solve", "nowhere.dat"])), 2);
}

#[test]
fn a_wedge_that_nothing_holds_open_is_not_said_to_be_solved() {
    // Two walls close at once on a body that cannot get away: u_N = -1 whatever the impulses.
    let problem = blocks(2, &[(&[0.0, 0.0], &[-1.0, 0.0], 0.5, 0.0)]);
    let limits = LocalLimits { tolerance: 1e-5, iterations: 200 };
    for algorithm in LocalAlgorithm::ALL {
        let report = solve(&problem, algorithm, ContactOrder::Stored, limits, &[0.0; 2]);
        assert!(!report.solved && report.end().residual > 0.1, "{algorithm:?}: {:?}", report.end());
    }
}

/// Four grains on a floor, one of them on the others, pushed sideways.
const PYRAMID: &str = r#"
duration = 0.1

[solver]
time_step = 1e-3
iterations = 20000
acceleration = "none"
warm_start = "cold"
order = "sequential"

[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.2
restitution = 0.2
friction = 0.3

[[boundaries]]
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }

[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "list", positions = [[0, 0, 0.01], [0.02, 0, 0.01], [0.01, 0.01732, 0.01], [0.01, 0.005774, 0.02633]] }
velocity = [0.1, 0.02, 0]
"#;

fn scenario(text: &str, changes: &[&str]) -> Scenario {
    let changes: Vec<String> = changes.iter().map(|&change| change.to_owned()).collect();
    Scenario::parse("pyramid", text, Path::new("."), &changes).unwrap_or_else(|error| panic!("{error}"))
}

/// State at a time, and the state a step later.
fn two_states(scenario: &Scenario, time: f64) -> [Snapshot; 2] {
    let mut simulation = Simulation::new(scenario, Device::Cpu).expect("the CPU engine");
    simulation.run_until(time).expect("a run");
    let before = simulation.state().expect("a state").clone();
    simulation.step(1).expect("a step");
    [before, simulation.state().expect("a state").clone()]
}

/// Impulses of a step in the axes of an exported problem.
fn impulses_of(after: &Snapshot, exported: &ExportedStep) -> Vec<f64> {
    let of = |(key, axes): (_, &glam::DMat3)| {
        let contact = after.contacts.iter().find(|contact| contact.key == key).expect("the same contacts");
        let impulse = contact.carried();
        (axes.transpose() * (impulse.normal * axes.x_axis + impulse.tangent)).to_array()
    };
    exported.keys.iter().copied().zip(&exported.axes).flat_map(of).collect()
}

#[test]
fn the_impulses_of_a_step_solve_the_problem_that_is_exported_before_it() {
    let scenario = scenario(PYRAMID, &[]);
    let [before, after] = two_states(&scenario, 0.02);
    let exported = next_problem(&before, &scenario.settings).expect("a problem");
    let (problem, impulses) = (&exported.problem, impulses_of(&after, &exported));
    assert!(problem.contacts() >= 6, "{} contacts", problem.contacts());
    let found = residual_of(problem, &impulses);
    assert!(found < 1e-6, "residual {found:e} of the step's own impulses");
    let wrong: Vec<f64> = impulses.iter().map(|r| 1.01 * r).collect();
    assert!(residual_of(problem, &wrong) > 1e-4, "one per cent more would show");
    let limits = LocalLimits { tolerance: 1e-11, iterations: 100_000 };
    let report =
        solve(problem, LocalAlgorithm::Ngs, ContactOrder::Coloured, limits, &vec![0.0; impulses.len()]);
    assert!(report.solved, "{:?}", report.end());
    let (rows, r) = (problem.matrix.rows::<3>(), impulses.as_chunks::<3>().0);
    for (row, expected) in report.solution.velocities.as_chunks::<3>().0.iter().enumerate() {
        let u = rows.velocity(row, &problem.q.as_chunks::<3>().0[row], r);
        let off = u.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6 * problem.size(), "contact {row}: {u:?} in the step, {expected:?} here");
    }
}

#[test]
fn a_scenario_is_exported_to_either_form_and_what_cannot_be_told_is_refused() {
    let place = Place::with("pyramid.toml", PYRAMID);
    for name in ["step.dat", "step.hdf5"] {
        let output = place.esker(&["export", "pyramid.toml", "--problem", name, "--at", "0.01"]);
        assert_eq!(code(&output), 0, "{}", error_text(&output));
        let output = place.esker(&["solve", name, "--algorithm", "ngs"]);
        assert_eq!(code(&output), 0, "{}{}", printed(&output), error_text(&output));
    }
    let both = (text::read(&place.path("step.dat")), fclib::read(&place.path("step.hdf5")));
    assert_eq!(both.0.expect("a text"), both.1.expect("an HDF5 file").problem);
    for (change, expected) in [
        ("materials.glass.rolling_resistance=0.1", "cannot tell rolling resistance"),
        ("solver.cone=\"box\"", "cannot tell solver.cone"),
        ("grains.0.packing.positions=[[0, 0, 0.5]]", "cannot tell a state without contacts"),
    ] {
        let output = place.esker(&["export", "pyramid.toml", "--problem", "step.dat", "--set", change]);
        assert_eq!(code(&output), 2, "{change}: {}", error_text(&output));
        assert!(error_text(&output).contains(expected), "{change}: {}", error_text(&output));
    }
    let cell = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/shear_cell.toml");
    let output = place.esker(&["export", cell, "--problem", "step.dat"]);
    assert_eq!(code(&output), 2, "{}", error_text(&output));
    assert!(error_text(&output).contains("cannot tell a cell that deforms"), "{}", error_text(&output));
    let output = place.esker(&["export", "pyramid.toml", "--problem", "pyramid.toml"]);
    assert_eq!(code(&output), 2);
    assert!(error_text(&output).contains("the problem would replace it"), "{}", error_text(&output));
}

#[test]
fn discs_in_a_plane_are_exported_in_two_components() {
    let changes = [
        "plane=\"xz\"",
        "grains.0.packing.positions=[[0, 0, 0.01], [0.02, 0, 0.01], [0.01, 0, 0.02732]]",
        "grains.0.velocity=[0.1, 0, 0]",
    ];
    let scenario = scenario(PYRAMID, &changes);
    let [before, _] = two_states(&scenario, 0.01);
    let exported = next_problem(&before, &scenario.settings).expect("a problem");
    assert_eq!(exported.problem.dimension(), 2);
    let report = &all_reports(&exported.problem, 1e-8)[0].2;
    assert!(report.solved && report.solution.impulses.iter().step_by(2).all(|&normal| normal >= 0.0));
}
