//! The table of methods and solvers in the guide says what the engines accept.

use esker::gpu::GpuEngine;
use esker::ranks::communicator::threads;
use esker::ranks::engine::open;
use esker::scenario::Scenario;
use esker::simulation::answer;

use crate::common::*;

/// A row of the table: method, algorithm, another key of the solver, and whether each engine accepts it.
type Row = ([String; 3], [bool; 3]);

fn rows() -> Vec<Row> {
    let text = include_str!("../../src/guide/method.md");
    let cells =
        |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("| `method` |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells = cells(line);
        let words = [0, 1, 2].map(|i| cells[i].trim_matches('`').to_owned());
        (words, [3, 4, 5].map(|i| cells[i] == "yes"))
    };
    lines.map(row).collect()
}

const FLOOR: &str = "[[boundaries]]\nname = \"floor\"\nmaterial = \"glass\"\nshape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }\n";

/// A grain over a floor, or in a cell, solved as a row says; `None` where the file is refused.
fn scene([method, algorithm, beside]: &[String; 3]) -> Option<Scenario> {
    // A liquid needs more than its table, and a cell that deforms has no walls.
    let more = match beside.as_str() {
        "[liquid]" => "surface_tension = 0.07\nbridge_volume_ratio = 0.01\n",
        "[[periodic.stages]]" => "shear = { along = \"x\", across = \"y\", rate = 1.0 }\n",
        _ => "",
    };
    let (head, walls) = match beside.as_str() {
        "[[periodic.stages]]" => {
            ("gravity = [0, 0, 0]\n[periodic]\nx = [0, 0.1]\ny = [0, 0.1]\nz = [0, 0.1]\n", "")
        }
        _ => ("", FLOOR),
    };
    let law = if method == "smooth" { "time_step = 1e-5" } else { "time_step = 1e-3" };
    let text = format!(
        "duration = 1.0\n{head}[solver]\n{law}\nmethod = \"{method}\"\nalgorithm = \"{algorithm}\"\n{beside}\n{more}\
         [materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e7\npoisson_ratio = 0.2\nrestitution = 0.5\nfriction = 0.3\n\
         conductivity = 1.0\nheat_capacity = 800.0\n\
         {walls}[[grains]]\nmaterial = \"glass\"\nradius = {{ kind = \"constant\", value = 0.01 }}\n\
         packing = {{ kind = \"list\", positions = [[0, 0, 0.01]] }}\n"
    );
    Scenario::parse("row", &text, std::path::Path::new("."), &[]).ok()
}

#[test]
fn the_guide_says_what_runs_where() {
    let rows = rows();
    assert!(rows.len() > 10, "{} rows", rows.len());
    for (words, told) in rows {
        let found = scene(&words).map_or([false; 3], |scene| {
            let (world, settings) = (&scene.world, &scene.settings);
            let communicator = threads(1).remove(0);
            [
                settings.validate().is_ok(),
                GpuEngine::new(device(), world.clone(), *settings).is_ok(),
                open(Box::new(communicator), world.clone(), *settings, answer).is_ok(),
            ]
        });
        assert_eq!(found, told, "{words:?}: cpu, gpu, ranks");
    }
}
