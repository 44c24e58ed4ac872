//! Result files of a run, read back by other libraries.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use esker::cpu::CpuEngine;
use esker::engine::{Snapshot, StepReport};
use esker::model::World;
use esker::observe::Observer;
use esker::output::summary::Summary;
use esker::output::vtp::PolyData;
use esker::output::{Averages, ResultFolder};
use esker::scenario::Scenario;
use esker::settings::{Order, Settings};
use esker::simulation::{RunOptions, run};
use glam::DVec3;
use vtkio::model::{Attribute, DataSet, IOBuffer, Piece, PolyDataPiece, VertexNumbers};

/// Two grains of different size on a floor, and a third high above.
const SCENE: &str = r#"
title = "Three grains"
duration = 0.1
[solver]
time_step = 0.001
[output]
every = 0.05
formats = ["vtp", "csv"]
[materials.steel]
density = 7800.0
youngs_modulus = 1e7
poisson_ratio = 0.3
restitution = 0.5
friction = 0.5
[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.5
friction = 0.5
[[boundaries]]
name = "floor, of steel"
material = "steel"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "glass"
packing = { kind = "list", positions = [[0, 0, 0.01], [0.05, 0, 0.02], [0, 0, 5]], radii = [0.01, 0.02, 0.01] }
velocity = [0, 0.25, 0]
[expect]
"force_z:floor, of steel" = { at_most = 0.0 }
"#;

fn scene(changes: &[&str]) -> Scenario {
    let changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    Scenario::parse("three", SCENE, Path::new(""), &changes).unwrap_or_else(|problems| panic!("{problems}"))
}

fn run_into(folder: &Path, scenario: &Scenario) -> Summary {
    let mut engine =
        CpuEngine::new(scenario.world.clone(), Settings { order: Order::Sequential, ..scenario.settings });
    let never = AtomicBool::new(false);
    let options = RunOptions::new(folder, &never);
    run(scenario, &mut engine, options, &mut |_| {}).expect("a run that does not fail")
}

fn temporary_folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

fn read_vtp(path: &Path) -> PolyDataPiece {
    let vtk = vtkio::Vtk::import(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let DataSet::PolyData { pieces, .. } = vtk.data else { panic!("not PolyData") };
    match <[_; 1]>::try_from(pieces) {
        Ok([Piece::Inline(piece)]) => *piece,
        other => panic!("expected one inline piece, found {other:?}"),
    }
}

/// Values of a named array, and the number of components per point or cell.
fn array(attributes: &[Attribute], name: &str) -> (Vec<f64>, u32) {
    let found = attributes.iter().find_map(|attribute| match attribute {
        Attribute::DataArray(array) if array.name == name => Some(array),
        _ => None,
    });
    let array = found.unwrap_or_else(|| panic!("no array {name}"));
    (numbers(&array.data), array.elem.num_comp())
}

fn numbers(buffer: &IOBuffer) -> Vec<f64> {
    buffer.cast_into::<f64>().expect("numbers")
}

fn cells(numbers: Option<VertexNumbers>) -> (Vec<u64>, Vec<u64>) {
    match numbers {
        Some(VertexNumbers::XML { connectivity, offsets }) => (connectivity, offsets),
        other => panic!("cells of another form: {other:?}"),
    }
}

#[test]
fn a_run_leaves_its_files_and_no_temporary_ones() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&[]));
    let expected = [
        "columns.csv",
        "contacts.pvd",
        "contacts.vtp.series",
        "contacts_000000.vtp",
        "contacts_000001.vtp",
        "contacts_000002.vtp",
        "grains.pvd",
        "grains.vtp.series",
        "grains_000000.vtp",
        "grains_000001.vtp",
        "grains_000002.vtp",
        "scenario.toml",
        "summary.json",
        "timeseries.csv",
        "walls.pvd",
        "walls.vtp.series",
        "walls_000000.vtp",
    ];
    assert_eq!(names_in(folder.path()), expected);
}

#[test]
fn formats_that_are_not_asked_for_are_not_written() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&["output.formats=[]"]));
    assert_eq!(names_in(folder.path()), ["scenario.toml", "summary.json"]);
}

#[test]
fn the_results_of_an_earlier_run_are_replaced_and_other_files_are_kept() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&["output.every=0.01"]));
    assert!(folder.path().join("grains_000010.vtp").exists());
    fs::write(folder.path().join("notes.txt"), "mine").expect("written");
    run_into(folder.path(), &scene(&["output.formats=[\"csv\"]"]));
    let expected = ["columns.csv", "notes.txt", "scenario.toml", "summary.json", "timeseries.csv"];
    assert_eq!(names_in(folder.path()), expected);
}

#[test]
fn grains_come_back_from_their_frame() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&[]));
    let piece = read_vtp(&folder.path().join("grains_000000.vtp"));
    assert_eq!(numbers(&piece.points), [0.0, 0.0, 0.01, 0.05, 0.0, 0.02, 0.0, 0.0, 5.0]);
    assert_eq!(cells(piece.verts), (vec![0, 1, 2], vec![1, 2, 3]));

    let point = &piece.data.point;
    let single = |x: f64| f64::from(x as f32);
    assert_eq!(array(point, "radius"), (vec![single(0.01), single(0.02), single(0.01)], 1));
    assert_eq!(array(point, "velocity"), ([[0.0, 0.25, 0.0]; 3].concat(), 3));
    assert_eq!(array(point, "angular_velocity"), (vec![0.0; 9], 3));
    assert_eq!(array(point, "orientation"), ([[0.0, 0.0, 0.0, 1.0]; 3].concat(), 4), "x, y, z, w");
    assert_eq!(array(point, "id"), (vec![0.0, 1.0, 2.0], 1));
    let glass = scene(&[]).world.materials.find("glass").expect("glass");
    assert_eq!(array(point, "material").0, [f64::from(glass); 3]);
    let last = read_vtp(&folder.path().join("grains_000002.vtp"));
    assert_eq!(array(&last.data.point, "coordination_number"), (vec![1.0, 1.0, 0.0], 1));
    let (forces, pressures) =
        (array(&last.data.point, "contact_force"), array(&last.data.point, "pressure").0);
    assert!(forces.0[2] > 0.0 && forces.0[5] > 0.0 && forces.0[6..] == [0.0; 3], "{forces:?}");
    assert!(pressures[0] > 0.0 && pressures[2] == 0.0, "{pressures:?}");
}

#[test]
fn the_surface_of_a_bed_comes_back_as_a_grid() {
    let folder = temporary_folder();
    let grid = "observe.surface={ min = [0.02, -0.03], max = [0.08, 0.02], cells = [6, 5], floor = -0.5 }";
    run_into(folder.path(), &scene(&[grid]));
    let names = names_in(folder.path());
    assert!(
        ["surface.pvd", "surface.vtp.series", "surface_000002.vtp"]
            .iter()
            .all(|name| names.contains(&(*name).into()))
    );
    let piece = read_vtp(&folder.path().join("surface_000000.vtp"));
    let points = numbers(&piece.points);
    assert_eq!(points.len(), 3 * 6 * 5, "the middles of the cells");
    let (corners, ends) = cells(piece.polys);
    assert_eq!((ends.len(), &corners[..4]), ((6 - 1) * (5 - 1), &[0, 1, 7, 6][..]), "quadrangles of four");
    // The grain of 20 mm at (50, 0) mm reaches the middles that are 20 mm away at most, at the height of a sphere there.
    for point in points.chunks(3) {
        let square = 4e-4 - (point[0] - 0.05).powi(2) - (point[1] - 0.0).powi(2);
        let expected = if square > 0.0 { 0.02 + square.sqrt() } else { -0.5 };
        assert!((point[2] - expected).abs() < 1e-7, "{point:?}: expected {expected}");
    }
    let heights: Vec<f64> = points.chunks(3).map(|point| f64::from(point[2] as f32)).collect();
    assert_eq!(array(&piece.data.point, "height"), (heights, 1));
}

#[test]
fn contacts_come_back_as_lines_with_their_forces() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&["grains.0.velocity=[0, 0, 0]"]));
    let piece = read_vtp(&folder.path().join("contacts_000002.vtp"));
    let points = numbers(&piece.points);
    assert_eq!(cells(piece.lines), (vec![0, 1, 2, 3], vec![2, 4]));
    // The line leads from the centre of the small grain down to the floor.
    assert!((points[2] - 0.01).abs() < 1e-4 && points[5].abs() < 1e-4, "{points:?}");

    let cell = &piece.data.cell;
    let (forces, _) = array(cell, "normal_force");
    for (force, radius) in forces.iter().zip([0.01f64, 0.02]) {
        let weight = 9.81 * 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        assert!((force / weight - 1.0).abs() < 0.02, "{force} N for a weight of {weight} N");
    }
    assert!(array(cell, "tangential_force").0.iter().all(|force| force.abs() < 1e-3));
    assert!(array(cell, "gap").0.iter().all(|gap| gap.abs() < 1e-4), "at rest on the floor");
    assert_eq!(array(cell, "sliding"), (vec![0.0, 0.0], 1));
    assert_eq!(array(cell, "bodies"), (vec![0.0, -1.0, 1.0, -1.0], 2), "two grains on the first boundary");
}

/// Per boundary in a frame of walls: area of its triangles \[m²\], and their mean velocity weighted by area \[m/s\].
fn areas_and_velocities(piece: &PolyDataPiece) -> Vec<(f64, DVec3)> {
    let points: Vec<DVec3> = numbers(&piece.points).chunks(3).map(DVec3::from_slice).collect();
    let (boundaries, _) = array(&piece.data.cell, "boundary");
    let (velocities, _) = array(&piece.data.cell, "velocity");
    let mut sums = vec![(0.0, DVec3::ZERO); 2];
    for ((corners, boundary), velocity) in points.chunks(3).zip(boundaries).zip(velocities.chunks(3)) {
        let area = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).length();
        let sum = &mut sums[boundary as usize];
        *sum = (sum.0 + area, sum.1 + area * DVec3::from_slice(velocity));
    }
    sums.into_iter().map(|(area, velocity)| (area, velocity / area)).collect()
}

#[test]
fn walls_come_back_as_triangles_where_they_are() {
    let folder = temporary_folder();
    let plate = r#"boundaries=[
        { name = "floor, of steel", material = "steel", shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] } },
        { name = "plate", material = "glass", shape = { kind = "box", min = [-0.05, -0.1, 7.85], max = [0.05, 0.1, 8.15], side = "outside" },
          motion = { kind = "velocity", velocity = [0, 0, 2] } },
    ]"#;
    run_into(folder.path(), &scene(&[plate]));
    for (number, height) in [(0, 8.0), (1, 8.1), (2, 8.2)] {
        let piece = read_vtp(&folder.path().join(format!("walls_{number:06}.vtp")));
        let found = areas_and_velocities(&piece);
        // Areas: the surface of the box, and the part of the floor under the initial scene, 120 mm by 200 mm, widened to each side by about
        // the height of the scene.
        let box_area = 2.0 * (0.1 * 0.2 + 0.2 * 0.3 + 0.3 * 0.1);
        assert!((found[1].0 - box_area).abs() < 1e-12, "{found:?}");
        let around = 8.15 * (2.0 + 6.0 * 0.03);
        let floor_area = (around + 0.12) * (around + 0.2);
        assert!((found[0].0 / floor_area - 1.0).abs() < 1e-9, "{found:?}, expected {floor_area}");
        assert!(found[0].1 == DVec3::ZERO && (found[1].1 - 2.0 * DVec3::Z).length() < 1e-6, "{found:?}");
        let top = numbers(&piece.points).chunks(3).map(|point| point[2]).fold(f64::MIN, f64::max);
        assert!((top - height - 0.15).abs() < 1e-9, "{top} m");
    }
    let materials = array(&read_vtp(&folder.path().join("walls_000000.vtp")).data.cell, "material").0;
    let glass = materials.iter().filter(|material| **material == 1.0).count();
    assert_eq!((materials.len() - glass, glass), (2, 12), "materials in the order of the file");
}

#[test]
fn frames_without_grains_or_contacts_are_valid() {
    let folder = temporary_folder();
    let scenario = scene(&[]);
    let world = World::new(scenario.world.gravity, scenario.world.materials.clone());
    let observer = Observer::new(&world, None);
    let snapshot = Snapshot::new(world, Vec::new(), 0.001, StepReport::default());
    let mut results = ResultFolder::create(folder.path(), &scenario.record(), observer.columns(), None)
        .expect("a result folder");
    let observation = observer.observe(&snapshot);
    let nothing = Averages::default();
    results.record(&observation, &nothing, &mut |shot| shot.take(&snapshot, None)).expect("recorded");
    for name in ["grains_000000.vtp", "contacts_000000.vtp", "walls_000000.vtp"] {
        let piece = read_vtp(&folder.path().join(name));
        assert_eq!(piece.points.len(), 0, "{name}");
    }
    let table = fs::read_to_string(folder.path().join("timeseries.csv")).expect("a time series");
    assert!(table.lines().nth(1).expect("a row").contains("NaN"), "the height of no grains");
}

#[test]
fn both_indices_name_every_frame_with_its_time() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&[]));
    for kind in ["grains", "contacts"] {
        let text = fs::read_to_string(folder.path().join(format!("{kind}.vtp.series"))).expect("a series");
        let series: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
        assert_eq!(series["file-series-version"], "1.0");
        let pvd = fs::read_to_string(folder.path().join(format!("{kind}.pvd"))).expect("a collection");
        for (i, time) in [0.0, 0.05, 0.1].into_iter().enumerate() {
            let name = format!("{kind}_{i:06}.vtp");
            assert_eq!(series["files"][i], serde_json::json!({ "name": name, "time": time }));
            let entry = format!(r#"<DataSet timestep="{time}" part="0" file="{name}"/>"#);
            assert!(pvd.contains(&entry), "{pvd}");
            assert!(folder.path().join(&name).exists(), "{name}");
        }
    }
}

#[test]
fn a_frame_carries_its_time() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&[]));
    let text = fs::read_to_string(folder.path().join("grains_000001.vtp")).expect("a frame");
    assert!(text.contains(r#"Name="TimeValue" NumberOfTuples="1" format="ascii">0.05</DataArray>"#));
}

#[test]
fn the_time_series_names_its_columns_with_units_and_has_a_row_per_output() {
    let folder = temporary_folder();
    let summary = run_into(folder.path(), &scene(&[]));
    let mut table = csv::Reader::from_path(folder.path().join("timeseries.csv")).expect("a time series");
    let header = table.headers().expect("a header").clone();
    assert_eq!((&header[0], &header[1]), ("time [s]", "step [-]"));
    let height = header.iter().position(|name| name == "height [m]").expect("a height");
    assert!(header.iter().any(|name| name == "force_z:floor, of steel [N]"), "{header:?}");

    let rows: Vec<csv::StringRecord> = table.records().map(|row| row.expect("a whole row")).collect();
    let value = |row: usize, column: usize| rows[row][column].parse::<f64>().expect("a number");
    assert_eq!([value(0, 0), value(1, 0), value(2, 0)], [0.0, 0.05, 0.1]);
    assert_eq!([value(0, 1), value(1, 1), value(2, 1)], [0.0, 50.0, 100.0]);
    assert_eq!(value(0, height), 5.01);
    assert_eq!(Some(value(2, height)), summary.observables.get("height"), "to the last digit");
}

#[test]
fn the_summary_tells_what_ran_and_what_came_out() {
    let folder = temporary_folder();
    let summary = run_into(folder.path(), &scene(&["solver.iterations=30"]));
    let text = fs::read_to_string(folder.path().join("summary.json")).expect("a summary");
    let json: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(json["status"], "completed");
    assert_eq!(json["message"], serde_json::Value::Null);
    assert_eq!(json["esker"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["scenario"]["title"], "Three grains");
    assert_eq!(json["engine"]["engine"], "cpu");
    assert_eq!(json["settings"]["iterations"], 30);
    assert_eq!(json["settings"]["normal_law"], "hertz");
    assert_eq!(json["settings"]["warm_start"]["kind"], "adaptive");
    assert_eq!(json["counts"]["grains"], 3);
    assert_eq!(json["steps"], 100);
    assert_eq!(json["simulated_seconds"], 0.1);
    assert_eq!(json["observables"]["grains"], 3.0);
    assert_eq!(json["units"]["height"], "m");
    assert_eq!(json["energies"]["potential_energy"], json["observables"]["potential_energy"]);
    assert_eq!(json["expectations"][0]["quantity"], "force_z:floor, of steel");
    assert_eq!(json["expectations"][0]["verdict"], "met");
    assert!(json["wall_seconds_by_stage"]["sweep"].as_f64().expect("seconds") > 0.0);
    assert!(json["memory"]["bytes_per_grain"].as_f64().expect("bytes") > 0.0);
    assert_eq!(json["overlap"]["max"].as_f64(), summary.observables.get("max_overlap"));
}

#[test]
fn the_resolved_scenario_runs_to_the_same_end() {
    let folder = temporary_folder();
    let first = run_into(folder.path(), &scene(&["solver.iterations=30"]));
    let again = Scenario::load(&folder.path().join("scenario.toml"), &[]).expect("a valid scenario");
    assert_eq!(again.settings.iterations, 30);
    let second = run_into(temporary_folder().path(), &again);
    // In words, as NaN is not equal to itself.
    assert_eq!(format!("{:?}", first.observables), format!("{:?}", second.observables));
}

/// `fabric.csv` has a row per class of directions and output; the last output is drawn.
#[test]
fn the_fabric_is_written_with_every_output() {
    let folder = tempfile::tempdir().expect("a folder");
    run_into(folder.path(), &scene(&["observe.fabric={ plane = \"xz\", bins = 18 }"]));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
    let outputs = read("timeseries.csv").lines().count() - 1;
    let fabric = read("fabric.csv");
    assert_eq!(fabric.lines().count(), 1 + 18 * outputs);
    let counted = |line: &str| line.split(',').nth(3).and_then(|count| count.parse::<u64>().ok());
    let contacts: u64 = fabric.lines().rev().take(18).filter_map(counted).sum();
    assert!(contacts > 0, "the last state has contacts");
    assert_eq!(read("force_distribution.csv").lines().count(), 1 + 80 * outputs);
    let rose = read("rose.svg");
    assert!(rose.contains("<polygon") && rose.contains(&format!("{contacts} contacts:")), "{rose}");
}

/// `layers.csv` has a row per layer and output; all layers together hold all grains.
#[test]
fn layers_are_written_with_every_output() {
    let folder = tempfile::tempdir().expect("a folder");
    let layers =
        "observe.layers={ region = { kind = \"box\", min = [-1, -1, -1], max = [1, 1, 9] }, count = 400 }";
    run_into(folder.path(), &scene(&[layers]));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
    let (table, outputs) = (read("layers.csv"), read("timeseries.csv").lines().count() - 1);
    assert_eq!(table.lines().count(), 1 + 400 * outputs);
    let header: Vec<&str> = table.lines().next().expect("a header").split(',').collect();
    let column = |name: &str| -> Vec<f64> {
        let place = header.iter().position(|column| column.starts_with(name)).expect("a column");
        let last = table.lines().skip(1 + 400 * (outputs - 1));
        last.map(|row| row.split(',').nth(place).and_then(|cell| cell.parse().ok()).expect("a number"))
            .collect()
    };
    // Balls with radii of 10, 20 and 10 mm, in layers of 4 m² and 25 mm.
    let volume: f64 = column("solid_fraction").iter().sum::<f64>() * 0.1;
    let expected = 4.0 / 3.0 * std::f64::consts::PI * 1e-6 * (1.0 + 8.0 + 1.0);
    assert!((volume / expected - 1.0).abs() < 1e-12, "{volume} for {expected}");
    assert_eq!(
        column("velocity_x").iter().filter(|velocity| !velocity.is_nan()).count(),
        5,
        "the rest is empty"
    );
    assert!(column("stress_zz").iter().sum::<f64>() > 0.0, "two grains lie on the floor");
    assert!(read("layers.svg").contains("<polyline"));
}

/// Numbers of a dataset of a VTKHDF file.
fn stored<T: rust_hdf5::H5Type>(file: &rust_hdf5::H5File, name: &str) -> Vec<T> {
    let dataset = file.dataset(&format!("VTKHDF/{name}")).unwrap_or_else(|error| panic!("{name}: {error}"));
    dataset.read_raw().unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn one_file_holds_the_frames_of_all_times_where_it_is_asked_for() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&["output.formats=[\"vtp\", \"vtkhdf\"]"]));
    let open = |kind: &str| rust_hdf5::H5File::open(folder.path().join(kind)).expect("an HDF5 file");
    let (file, contacts) = (open("grains.vtkhdf"), open("contacts.vtkhdf"));
    assert_eq!(stored::<f64>(&file, "Steps/Values"), [0.0, 0.05, 0.1]);
    assert_eq!(stored::<i64>(&file, "Steps/PointOffsets"), [0, 3, 6]);
    let points = stored::<f64>(&file, "Points");
    let frame = PolyData::read(&folder.path().join("grains_000002.vtp")).expect("a frame");
    assert_eq!(&points[18..], frame.points.as_flattened(), "the last frame stands at its offset");
    assert_ne!(&points[..9], &points[18..], "which is not the first");
    let lines = stored::<i64>(&contacts, "Lines/NumberOfCells");
    let forces = stored::<f32>(&contacts, "CellData/normal_force");
    assert_eq!(lines.iter().sum::<i64>() as usize, forces.len());
    assert!(forces.iter().any(|&force| force > 0.0), "grains rest on the floor: {forces:?}");
}

#[test]
fn a_run_writes_no_such_file_unasked() {
    let folder = temporary_folder();
    run_into(folder.path(), &scene(&[]));
    assert!(!folder.path().join("grains.vtkhdf").exists());
}
