//! Results of ranks: what each finds of its part adds up to the quantities, tables and frames of the whole state.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use super::threads_as_ranks::on_ranks;
use crate::common::{assert_same, files_of_run};
use crate::restart::scene;
use crate::restart::scenes::{EMITTER_AND_SINK, SCENES};
use esker::contact::{Impulse, Key};
use esker::engine::{Engine, Identity, Occupied, Snapshot, StepReport};
use esker::error::Error;
use esker::model::{Grain, World};
use esker::output::collection::read_series;
use esker::output::vtp::PolyData;
use esker::ranks::engine::RankedEngine;
use esker::scenario::Scenario;
use esker::simulation::{self, Resumption, RunOptions};

/// Engine of ranks whose state is gathered at every output.
struct Gathered<'a>(&'a mut RankedEngine);

impl Engine for Gathered<'_> {
    fn identity(&self) -> Identity {
        self.0.identity()
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        self.0.advance(steps)
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        self.0.snapshot()
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        self.0.occupied()
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        self.0.add_grains(grains)
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        self.0.change(change)
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        self.0.seed(impulses)
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.0.set_iterations(iterations);
    }

    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.0.save(out)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.0.restore(state)
    }

    fn memory(&self) -> u64 {
        self.0.memory()
    }
}

/// The emitter and the sink with all that can be observed of them. Small grains on the floor are outside of the domain.
const EVERYTHING: &str = r#"
[observe]
grains = [0, 7, 25]
boundaries = ["floor"]
contacts = [[0, "floor"], [3, 7], [12, 25]]
grain_stress = true
[observe.surface]
min = [0, 0]
max = [0.06, 0.06]
cells = [6, 5]
floor = 0.0
[observe.fabric]
plane = "xz"
bins = 6
[observe.layers]
region = { kind = "box", min = [0, 0, 0], max = [0.06, 0.06, 0.05] }
count = 5
[[observe.regions]]
name = "half"
region = { kind = "box", min = [0.03, 0, 0], max = [0.06, 0.06, 0.05] }
[domain]
min = [-inf, -inf, 0.0045]
"#;

/// Runs a scene on three ranks into a folder.
fn run(scene: &Scenario, is_gathered: bool, folder: &Path) {
    run_until(scene, None, None, is_gathered, folder);
}

/// Runs a scene on three ranks from its start or from a checkpoint.
fn run_until(
    scene: &Scenario,
    until: Option<f64>,
    resume: Option<Resumption>,
    is_gathered: bool,
    folder: &Path,
) {
    on_ranks(3, &scene.world, &scene.settings, |engine| {
        engine.seed(&scene.seeds).unwrap();
        let never = AtomicBool::new(false);
        let options = RunOptions { until, resume, ..RunOptions::new(folder, &never) };
        let engine: &mut dyn Engine = if is_gathered { &mut Gathered(engine) } else { engine };
        simulation::run(scene, engine, options, &mut |_| ()).unwrap();
    });
}

/// Numbers of a table by column; other words count as no number.
fn columns(folder: &Path, name: &str) -> BTreeMap<String, Vec<f64>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let mut rows = text.lines().map(|line| line.split(','));
    let mut columns: Vec<(String, Vec<f64>)> =
        rows.next().unwrap().map(|name| (name.to_owned(), Vec::new())).collect();
    for row in rows {
        columns.iter_mut().zip(row).for_each(|((_, values), word)| values.push(word.parse().unwrap()));
    }
    columns.into_iter().collect()
}

/// Checks that two tables agree but for rounding, which is relative to the largest value of a column.
fn check_tables(of: &str, [a, b]: [&Path; 2], name: &str) -> usize {
    let (a, b) = (columns(a, name), columns(b, name));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{of}: {name}");
    for (column, values) in &a {
        let others = &b[column];
        assert_eq!(values.len(), others.len(), "{of}: {name}");
        let largest = values
            .iter()
            .filter(|value| value.is_finite())
            .fold(0.0, |most: f64, value| most.max(value.abs()));
        for (row, (value, other)) in values.iter().zip(others).enumerate() {
            let is_same = value == other || value.is_nan() && other.is_nan();
            assert!(
                is_same || (value - other).abs() < 1e-9 * largest + 1e-13,
                "{of}: {name}: {column} in row {row}: {value:e} for {other:e}"
            );
        }
    }
    a.values().flatten().filter(|value| value.is_finite() && **value != 0.0).count()
}

/// Points, cells and data of a frame, row by row in an order of their own.
fn rows(frame: &PolyData) -> Vec<Vec<f64>> {
    let per_cell = frame.cells.points_per_cell();
    let arrays = if per_cell == 1 { &frame.point_data } else { &frame.cell_data };
    let row = |(item, points): (usize, &[[f64; 3]])| {
        let data = arrays.iter().flat_map(|array| array.components_of(item));
        points.as_flattened().iter().copied().chain(data).collect()
    };
    let mut rows: Vec<Vec<f64>> = frame.points.chunks_exact(per_cell).enumerate().map(row).collect();
    rows.sort_by(|a, b| a.partial_cmp(b).unwrap());
    rows
}

/// Checks that the frames of two folders show the same; returns the number of frames that have one piece in each, and that of all.
fn check_frames(of: &str, folders: [&Path; 2], kind: &str) -> [usize; 3] {
    let series = folders.map(|folder| read_series(folder, kind).unwrap());
    assert_eq!(series[0].len(), series[1].len(), "{of}: {kind}");
    let mut whole = [0; 2];
    for ((a, time), (b, other)) in series[0].iter().zip(&series[1]) {
        assert_eq!(time, other, "{of}: {kind}");
        let is_whole = |path| fs::read_to_string(path).unwrap().matches("<Piece").count() == 1;
        whole = [whole[0] + usize::from(is_whole(a)), whole[1] + usize::from(is_whole(b))];
        let [a, b] = [a, b].map(|path| PolyData::read(path).unwrap());
        assert_eq!((&a.field_data, a.time), (&b.field_data, b.time), "{of}: {kind}");
        let (a, b) = (rows(&a), rows(&b));
        assert_eq!(a.len(), b.len(), "{of}: {kind} at {time} s");
        for (a, b) in a.into_iter().flatten().zip(b.into_iter().flatten()) {
            // Sums of contact forces are in single precision.
            assert!((a - b).abs() <= 2e-6 * a.abs() + 1e-9, "{of}: {kind} at {time} s: {a} for {b}");
        }
    }
    [whole[0], whole[1], series[0].len()]
}

#[test]
fn what_ranks_find_of_their_parts_adds_up_to_the_whole() {
    let everything = format!("{EMITTER_AND_SINK}{EVERYTHING}");
    let bins = r#"sinks.0.bins=[0.005]"#;
    let profile = r#"sinks.0.profile={ axis = "y", from = 0.0, until = 0.06, bins = 3 }"#;
    // Outputs come with waves of the emitter, and between them.
    let all = scene(&everything, &[bins, profile, "output.every=0.015"]);
    let others = SCENES.into_iter().skip(1).map(|(of, body)| (of, scene(body, &[])));
    let mut filled = 0;
    for (of, scene) in std::iter::once(("everything", all)).chain(others) {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let folders = [folders[0].path(), folders[1].path()];
        run(&scene, false, folders[0]);
        run(&scene, true, folders[1]);
        filled += check_tables(of, folders, "timeseries.csv");
        for kind in ["grains", "contacts"] {
            // The first state is not divided yet.
            let [divided, gathered, all] = check_frames(of, folders, kind);
            assert_eq!((divided, gathered), (1, all), "{of}: {kind}");
        }
        if of == "everything" {
            check_frames(of, folders, "surface");
            for name in ["fabric.csv", "force_distribution.csv", "layers.csv"] {
                filled += check_tables(of, folders, name);
            }
            let summary = |folder: &Path| -> serde_json::Value {
                serde_json::from_str(&fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap()
            };
            let [divided, gathered] = folders.map(summary);
            for part in ["counts", "lost"] {
                assert_eq!(divided[part], gathered[part], "{of}: {part}");
            }
            let number = |name: &str| divided["observables"][name].as_f64().unwrap();
            assert!(number("removed:hole") > 10.0 && number("grains_lost") > 0.0, "{divided:#}");
        }
    }
    assert!(filled > 3000, "{filled} numbers that are not 0");
}

#[test]
fn a_run_that_resumes_from_a_checkpoint_writes_the_files_of_one_that_went_on() {
    // At the checkpoint an output is due, which the run that resumes from it writes once more.
    let scene = scene(EMITTER_AND_SINK, &["output.every=0.05", "checkpoint.every_simulated=0.1"]);
    let [whole, parts] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    run(&scene, false, whole.path());
    run_until(&scene, Some(0.1), None, false, parts.path());
    let resume = Resumption::of(parts.path()).unwrap();
    assert!(resume.checkpoint.is_some());
    run_until(&scene, None, Some(resume), false, parts.path());
    // The first rank has other room left over.
    let without_memory =
        |summary: &mut serde_json::Value| drop(summary.as_object_mut().unwrap().remove("memory"));
    let [found, expected] = [&parts, &whole].map(|folder| files_of_run(folder.path(), &without_memory));
    assert_same(&found, &expected, "ranks");
    let pieces = |frame: usize| {
        let name = format!("grains_{frame:06}.vtp");
        String::from_utf8(found[&name].clone()).unwrap().matches("<Piece").count()
    };
    assert_eq!([0, 1, 2, 3].map(pieces), [1, 3, 1, 3], "the state is gathered where it is saved");
}
