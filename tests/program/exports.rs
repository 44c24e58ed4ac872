//! `esker export --format`: frames as dumps of LAMMPS, which esker reads back, and as tables.

use std::fs;

use esker::output::collection::read_series;
use esker::output::vtp::PolyData;
use esker::scenario::Scenario;

use crate::foreign_files::HEAD;
use crate::place::{Place, code, error_text};

/// Two spheres of two materials that fly through a periodic cell and touch.
const GRAINS: &str = "[periodic]\nx = [-0.5, 0.5]\n\
    [[grains]]\nmaterial = \"glass\"\nradius = { kind = \"constant\", value = 0.01 }\nvelocity = [0.1, 0, 0]\n\
    packing = { kind = \"list\", positions = [[0.123456789012345678, 0.2, 0.3]] }\n\
    [[grains]]\nmaterial = \"steel\"\nradius = { kind = \"constant\", value = 0.02 }\nvelocity = [-0.3, 0, 1e-9]\n\
    packing = { kind = \"list\", positions = [[0.1537, 0.2, 0.3]] }\n";
/// A rod of two spheres, far from these.
const ROD: &str = "[clumps.rod]\nspheres = [{ position = [-0.006, 0, 0], radius = 0.01 }, { position = [0.006, 0, 0], radius = 0.01 }]\n\
    [[grains]]\nmaterial = \"glass\"\nclump = \"rod\"\nradius = { kind = \"constant\", value = 0.012 }\n\
    turned = { axis = [0, 0, 1], angle_deg = 30 }\npacking = { kind = \"list\", positions = [[0, 0, 0]] }\n";

fn ran(grains: &str) -> Place {
    let place = Place::with("scene.toml", &format!("{HEAD}{grains}[output]\nevery = 0.005\n"));
    succeeds(&place, &["run", "scene.toml", "--device", "cpu", "--out", "out", "--quiet"]);
    place
}

fn succeeds(place: &Place, arguments: &[&str]) {
    let output = place.esker(arguments);
    assert_eq!(code(&output), 0, "{arguments:?}: {}", error_text(&output));
}

fn last_frame(place: &Place, kind: &str) -> PolyData {
    let series = read_series(&place.path("out"), kind).expect("frames");
    PolyData::read(&series.last().expect("a frame").0).expect("a frame")
}

/// The scenario that starts with what a dump says.
fn read_back(place: &Place, packing: &str) -> Scenario {
    let text = format!(
        "{HEAD}[periodic]\nx = [-0.5, 0.5]\n[[grains]]\n\
         packing = {{ kind = \"dump\", file = \"out/grains.dump\", materials = {{ \"1\" = \"glass\", \"2\" = \"steel\" }}{packing} }}\n"
    );
    Scenario::parse("back", &text, &place.path("."), &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn a_dump_reads_back_to_the_places_velocities_and_materials_of_each_frame() {
    let place = ran(GRAINS);
    succeeds(&place, &["export", "out", "--format", "dump"]);
    let text = fs::read_to_string(place.path("out/grains.dump")).expect("a dump");
    let times: Vec<&str> =
        text.split("ITEM: TIME\n").skip(1).filter_map(|rest| rest.lines().next()).collect();
    assert_eq!(times, ["0", "0.005", "0.01"]);
    assert_eq!(text.matches("ITEM: UNITS\nsi\n").count(), 1, "once, as by LAMMPS");
    assert!(
        text.contains("ITEM: TIMESTEP\n5\n") && text.contains("ITEM: BOX BOUNDS pp ss ss\n-0.5 0.5\n"),
        "{text}"
    );
    let titles = "ITEM: ATOMS id type x y z radius vx vy vz omegax omegay omegaz quati quatj quatk quatw coordination_number fx fy fz pressure";
    assert!(text.contains(titles), "{text}");
    let frame = last_frame(&place, "grains");
    let world = read_back(&place, "").world;
    let bodies = &world.bodies;
    let found: Vec<[f64; 3]> = bodies.position.iter().map(|place| place.to_array()).collect();
    assert_eq!(found, frame.points, "to the last bit");
    assert_eq!(bodies.velocity[0].x as f32, frame.point_data[1].component(0, 0) as f32);
    assert_eq!([0, 1].map(|grain: usize| world.grain_material(grain)), [0, 1]);
    // Another frame is another state.
    let before = read_back(&place, ", timestep = 5").world;
    assert!((before.bodies.position[0].x - found[0][0]).abs() > 1e-5);
}

#[test]
fn spheres_of_a_clump_stay_one_body_in_a_dump() {
    let place = ran(&format!("{GRAINS}{ROD}"));
    succeeds(&place, &["export", "out", "--format", "dump"]);
    let text = fs::read_to_string(place.path("out/grains.dump")).expect("a dump");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with("ITEM: ATOMS"))
        .skip(1)
        .take(4)
        .map(|line| line.split(' ').take(3).collect())
        .collect();
    assert_eq!(rows, [["1", "1", "-1"], ["2", "2", "-1"], ["3", "1", "3"], ["4", "1", "3"]]);
}

#[test]
fn tables_have_a_row_per_sphere_or_contact_and_frame() {
    let place = ran(GRAINS);
    succeeds(&place, &["export", "out", "--format", "csv", "--out", "tables"]);
    let read = |kind: &str| {
        let mut rows = csv::Reader::from_path(place.path(&format!("tables/{kind}.csv"))).expect("a table");
        let titles: Vec<String> = rows.headers().expect("titles").iter().map(str::to_owned).collect();
        let rows: Vec<Vec<f64>> = rows.deserialize().map(|row| row.expect("numbers")).collect();
        (titles, rows)
    };
    let (titles, rows) = read("grains");
    assert_eq!(titles[..7], ["time", "x", "y", "z", "radius", "velocity_x", "velocity_y"]);
    assert_eq!((rows.len(), rows[4][0], rows[4].len()), (6, 0.01, titles.len()));
    assert_eq!(rows[4][1..4], last_frame(&place, "grains").points[0]);
    let (titles, rows) = read("contacts");
    let frame = last_frame(&place, "contacts");
    assert_eq!(titles[..8], ["time", "x_a", "y_a", "z_a", "x_b", "y_b", "z_b", "normal_force"]);
    assert_eq!(titles[titles.len() - 2..], ["bodies_a", "bodies_b"]);
    let last = rows.last().expect("a contact");
    assert_eq!(last[1..7], *frame.points[frame.points.len() - 2..].concat());
}

#[test]
fn a_folder_without_frames_or_with_a_torn_one_leaves_no_table() {
    let place = ran(GRAINS);
    fs::write(place.path("out/grains_000001.vtp"), "torn").expect("written");
    for format in ["dump", "csv"] {
        let output = place.esker(&["export", "out", "--format", format]);
        assert!(
            code(&output) == 2 && error_text(&output).contains("grains_000001.vtp"),
            "{}",
            error_text(&output)
        );
        assert!(!place.path(&format!("out/grains.{format}")).exists());
    }
}
