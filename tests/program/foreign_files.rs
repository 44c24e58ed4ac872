//! Files of other programs: what they mean is what a scene gets, or they are refused with the cause.

mod bodies;
mod fuzz;

use std::fs;
use std::path::Path;

use esker::model::{Materials, World};
use esker::scenario::{Problems, Scenario};

use crate::common::both;
use crate::place::{Place, code, error_text, text};

/// A scenario up to its bodies, with two materials.
pub const HEAD: &str = "duration = 0.01\n[solver]\ntime_step = 1e-3\niterations = 5\n\
    [materials.glass]\ndensity = 2500.0\nyoungs_modulus = 1e8\npoisson_ratio = 0.25\nrestitution = 0.0\nfriction = 0.5\n\
    [materials.steel]\ndensity = 7800.0\nyoungs_modulus = 2e8\npoisson_ratio = 0.3\nrestitution = 0.0\nfriction = 0.3\n";

/// Writes a file beside a scenario of `HEAD` and `rest`, and reads the scenario.
fn read(file: &str, content: impl AsRef<[u8]>, rest: &str) -> Result<Scenario, Problems> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(file), content).expect("written");
    Scenario::parse("case", &format!("{HEAD}{rest}"), folder.path(), &[])
}

fn grains(file: &str, content: &str, packing: &str, block: &str) -> Result<Scenario, Problems> {
    let kind = if file.ends_with("csv") { "csv" } else { "dump" };
    let rest =
        format!("[[grains]]\n{block}\npacking = {{ kind = \"{kind}\", file = \"{file}\"{packing} }}\n");
    read(file, content, &rest)
}

/// The only mistake of a scenario.
fn mistake(found: Result<Scenario, Problems>) -> String {
    let problems = found.map(|scenario| scenario.notes).expect_err("a mistake");
    let lines: Vec<String> = problems.list().iter().map(|problem| problem.line()).collect();
    assert_eq!(lines.len(), 1, "{lines:#?}");
    lines[0].clone()
}

fn masses(world: &World) -> Vec<f64> {
    (0..world.grain_count()).map(|grain| world.grain_mass(grain)).collect()
}

/// A dump of two grains with these columns after `id type x y z radius`.
fn dump(head: &str, columns: &str, rest: [&str; 2]) -> String {
    format!(
        "{head}ITEM: TIMESTEP\n100\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp ff\n0 1\n0 1\n0 1\n\
         ITEM: ATOMS id type x y z radius{columns} \n1 1 0.1 0.2 0.3 0.01{}\n2 1 0.15 0.2 0.3 0.01{}\n",
        rest[0], rest[1]
    )
}

const GLASS: &str = "material = \"glass\"";

/// Bound on the relative rounding of a mass: a density, a volume and a product each way.
const ROUNDING: f64 = 1e-14;

#[test]
fn grains_of_a_dump_have_the_mass_or_density_that_it_says() {
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 1e-6;
    for (columns, rest, expected) in [
        (" density", [" 1000", " 5000"], [1000.0 * volume, 5000.0 * volume]),
        (" mass", [" 1.0", " 0.25"], [1.0, 0.25]),
        // A mass says all; the density beside it is that of a grain of another shape.
        (" density mass", [" 1000 1.0", " 1000 0.25"], [1.0, 0.25]),
        ("", ["", ""], [2500.0 * volume; 2]),
    ] {
        let scenario = grains("d.dump", &dump("", columns, rest), "", GLASS).expect(columns);
        let world = &scenario.world;
        for (grain, (found, expected)) in masses(world).into_iter().zip(expected).enumerate() {
            assert!((found / expected - 1.0).abs() < ROUNDING, "{columns}: {found} instead of {expected}");
            let body = world.grain_body(grain);
            assert!((world.bodies.inverse_mass[body] * expected - 1.0).abs() < ROUNDING);
            // 1/I of a sphere: 5/(2 m r²).
            let inertia = 0.4 * expected * 1e-4;
            assert!((world.bodies.inverse_inertia[body] * inertia - 1.0).abs() < ROUNDING);
        }
    }
    let wrong = mistake(grains("d.dump", &dump("", " mass", [" 1", " -1"]), "", GLASS));
    assert!(wrong.contains("d.dump:11: mass is \"-1\", expected a positive mass"), "{wrong}");
}

#[test]
fn temperatures_of_a_file_are_told_where_the_scene_has_no_heat() {
    let told = |title: &str| {
        let text = format!("x,y,z,radius,{title}\n0,0,1,0.01,300\n");
        let notes = grains("g.csv", &text, "", GLASS).expect("read").notes;
        notes.iter().any(|note| note.contains("`grains.0`: the temperatures of its file are left out"))
    };
    assert!(told("temperature") && !told("colour"));
}

/// A grain of 1 kg at 1 m/s hits one of 3 kg at rest: without a loss they part at (1 - 3)/(1 + 3) = -0.5 and 2/(1 + 3) = 0.5 m/s. Grains of the
/// density of the material, which are equal, would exchange their velocities.
#[test]
fn grains_of_a_dump_collide_as_their_masses_say() {
    let text = dump("", " mass vx", [" 1 1", " 3 0"]).replace("0.15", "0.125");
    let block = "material = \"glass\"\nlocked_axes = [\"y\", \"z\"]";
    let mut scenario = grains("d.dump", &text, "", block).expect("a dump");
    scenario.world.materials.list[0].restitution = 1.0;
    scenario.world.materials = Materials::new(scenario.world.materials.list.clone());
    for engine in &mut both(&scenario.world, &scenario.settings) {
        engine.advance(10).expect("steps");
        let velocity = engine.snapshot().expect("a state").world.bodies.velocity;
        // One contact is solved to rounding, in single precision to some 1e-7.
        let name = engine.identity().engine;
        assert!(
            (velocity[0].x + 0.5).abs() < 1e-5 && (velocity[1].x - 0.5).abs() < 1e-5,
            "{name}: {velocity:?}"
        );
    }
}

#[test]
fn types_of_a_dump_get_their_materials_or_are_refused() {
    let mixed = dump("", "", ["", ""]).replace("\n2 1 0.15", "\n2 2 0.15");
    let wrong = mistake(grains("d.dump", &mixed, "", GLASS));
    assert!(wrong.contains("holds grains of 2 types (1, 2)") && wrong.contains("materials = {"), "{wrong}");
    let named = ", materials = { 1 = \"steel\", 2 = \"glass\" }";
    let scenario = grains("d.dump", &mixed, named, "").expect("two materials");
    let materials: Vec<u32> = (0..2).map(|grain| scenario.world.grain_material(grain)).collect();
    assert_eq!(materials, [1, 0]);
    let lone = grains("d.dump", &mixed, ", type = 2", GLASS).expect("one type");
    assert_eq!(lone.world.grain_count(), 1);
    let wrong = mistake(grains("d.dump", &mixed, ", materials = { 1 = \"steel\" }", ""));
    assert!(wrong.contains("no material is given for \"2\" in column `type`"), "{wrong}");
    let again = Scenario::parse("case", &scenario.resolved, Path::new("/nowhere"), &[]);
    assert!(again.is_err(), "the file is gone");
}

#[test]
fn units_and_times_of_lammps_are_read() {
    let plain = grains("d.dump", &dump("", "", ["", ""]), "", GLASS).expect("a dump");
    let head = "ITEM: UNITS\nsi\nITEM: TIME\n0.5\n";
    let told = grains("d.dump", &dump(head, "", ["", ""]), "", GLASS).expect("a dump");
    assert_eq!(told.world, plain.world);
    let two =
        format!("{}{}", dump("ITEM: TIME\n0.0\n", "", ["", ""]), dump("ITEM: TIME\n0.5\n", "", ["", ""]));
    assert_eq!(
        grains("d.dump", &two.replacen("100", "50", 1), "", GLASS).expect("two frames").world,
        plain.world
    );
    let wrong = mistake(grains("d.dump", &dump("ITEM: UNITS\nlj\n", "", ["", ""]), "", GLASS));
    assert!(wrong.contains("d.dump:2: units `lj`"), "{wrong}");
}

#[test]
fn tables_of_any_separator_are_read_and_a_broken_one_tells_its_cause_alone() {
    let expected =
        grains("t.csv", "x,y,z,r\n0.1,0.2,0.3,0.01\n0.15,0.2,0.3,0.01\n", "", GLASS).expect("a table");
    for table in [
        "#format x_y_z_r\n0.1\t0.2\t0.3\t0.01\n0.15\t0.2\t0.3\t0.01\n",
        "x y z radius\n0.1 0.2 0.3 0.01\n0.15 0.2 0.3 0.01\n",
        "x;y;z;radius\n0,1;0,2;0,3;0,01\n0,15;0,2;0,3;0,01\n",
    ] {
        assert_eq!(grains("t.csv", table, "", GLASS).expect(table).world, expected.world, "{table}");
    }
    let table =
        "x,y,z,radius,density,material,note\n0.1,0.2,0.3,0.01,1000,steel,a\n0.15,0.2,0.3,0.01,5000,glass,b\n";
    let found = grains("t.csv", table, "", "").expect("densities");
    let volume = 4.0 / 3.0 * std::f64::consts::PI * 1e-6;
    assert!((masses(&found.world)[1] / (5000.0 * volume) - 1.0).abs() < ROUNDING);
    assert_eq!((found.world.grain_material(0), found.world.grain_material(1)), (1, 0));
    assert_eq!(
        found.notes,
        ["t.csv: 2 grains, columns between commas, with x y z radius density material; left out: note"]
    );
    // A file that cannot be read, or used, says nothing about radii.
    for (table, cause) in [
        ("x|y|z|radius\n", "found x|y|z|radius between blanks"),
        ("x,y,z,x\n", "two columns are called `x`"),
        ("x,y,z,radius\n1,2,3\n", "t.csv:2: 3 columns between commas"),
        ("x,y,z,r,material\n0,0,0,1,stel\n", "no material is called \"stel\" in column `material`"),
    ] {
        let wrong = mistake(grains("t.csv", table, "", ""));
        assert!(wrong.contains(cause), "{wrong}");
    }
    let wrong = mistake(read(
        "a.csv",
        "",
        "[[grains]]\nmaterial = \"glass\"\npacking = { kind = \"csv\", file = \"b.csv\" }\n",
    ));
    assert!(wrong.contains("b.csv cannot be read"), "{wrong}");
}

/// One cause has one message: a misspelt key is not missing as well, and a name that is used often is unknown once.
#[test]
fn one_cause_is_told_once() {
    let walls: String = (0..15)
        .map(|i| {
            format!(
                "[[boundaries]]\nname = \"w{i}\"\nmaterial = \"oak\"\nshape = {{ kind = \"plane\", point = [0, 0, -{i}], normal = [0, 0, 1] }}\n"
            )
        })
        .collect();
    let grain = "[[grains]]\nmaterial = \"glass\"\nradius = { kind = \"constant\", value = 0.01 }\npacking = { kind = \"list\", positions = [[0, 0, 1]] }\n";
    let wrong = mistake(read("a", "", &format!("{walls}{grain}")));
    assert!(wrong.contains("\"oak\", which is not a material; also in lines 23, 27"), "{wrong}");
    assert!(wrong.contains("and 9 more"), "{wrong}");
    for (rest, cause) in [
        (grain.replace("material", "materal"), "unknown key `materal`"),
        (
            format!("{grain}[expect]\na = {{ of = \"height\", vaule = 1, tolerance = 1 }}\n"),
            "unknown key `vaule`",
        ),
        (
            format!("{grain}[expect]\na = {{ of = \"height\", tolerance = 1 }}\n"),
            "has `tolerance` but no `value`",
        ),
        (
            format!("{grain}[expect]\na = {{ of = \"height\", value = 1, tolernce = 1 }}\n"),
            "unknown key `tolernce`",
        ),
        (
            format!(
                "{grain}[expect]\nheigth = {{ at_least = 1 }}\nb = {{ of = \"heigth\", at_least = 1 }}\n"
            ),
            "also in line",
        ),
    ] {
        let wrong = mistake(read("a", "", &rest));
        assert!(wrong.contains(cause), "{wrong}");
    }
}

const WALL: &str = "[[boundaries]]\nname = \"part\"\nmaterial = \"glass\"\n";
const GRAIN: &str = "[[grains]]\nmaterial = \"glass\"\nradius = { kind = \"constant\", value = 0.02 }\npacking = { kind = \"list\", positions = ";

/// A tetrahedron as an STL text; its normals are no numbers.
fn tetrahedron() -> String {
    let corners = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]];
    let facet = |face: [usize; 3]| {
        let vertices: String = face
            .iter()
            .map(|&i| format!("vertex {} {} {}\n", corners[i][0], corners[i][1], corners[i][2]))
            .collect();
        format!("facet normal nan nan nan\nouter loop\n{vertices}end loop\nend facet\n")
    };
    let facets: String = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(facet).concat();
    format!("solid a\n; by hand\n# note\n{facets}end solid a\n")
}

#[test]
fn an_stl_of_another_program_is_a_body_and_a_broken_one_tells_its_line() {
    let rest =
        format!("{WALL}shape = {{ kind = \"mesh\", file = \"t.stl\" }}\nmotion = {{ kind = \"dynamic\" }}\n");
    let scenario = read("t.stl", tetrahedron(), &rest).expect("a body");
    let body = scenario.world.dynamic_boundary(0).expect("dynamic");
    // A tetrahedron of edge 1 at a corner of a cube: V = 1/6, and glass.
    assert!((body.mass / (2500.0 / 6.0) - 1.0).abs() < 1e-12, "{}", body.mass);
    assert_eq!(scenario.notes, ["t.stl: 4 triangles of an STL text; left out: normals"]);
    let wrong = mistake(read("t.stl", tetrahedron().replacen("vertex 0 1 0", "vertex 0 1", 1), &rest));
    assert!(wrong.contains("t.stl:8: \"vertex\", expected a finite number"), "{wrong}");
    let far = format!(
        "{WALL}shape = {{ kind = \"mesh\", file = \"t.stl\", scale = 1e9 }}\n{GRAIN}[[5, 5, 5]] }}\n"
    );
    let wrong = mistake(read("t.stl", tetrahedron().replace("vertex 1 0 0", "vertex 2 0 0"), &far));
    assert!(wrong.contains("t.stl has a vertex at [2000000000, 0, 0] m"), "{wrong}");
}

/// Runs a scene of a mesh and two grains that fall, and returns the height of each at the end \[m\].
fn heights(obj: &str, starts: &str) -> [f64; 2] {
    let rest = format!("{WALL}shape = {{ kind = \"mesh\", file = \"m.obj\" }}\n{GRAIN}{starts} }}\n");
    let scenario = read("m.obj", obj, &rest).expect("a scene");
    let mut simulation =
        esker::simulation::Simulation::new(&scenario, esker::simulation::Device::Cpu).expect("an engine");
    simulation.step(400).expect("steps");
    let places = simulation.positions().expect("positions");
    [places[0].z, places[1].z]
}

/// In 0.4 s a grain falls by 0.78 m, from 0.5 m to below the mesh, unless something carries it at its radius.
#[test]
fn lines_carry_nothing_and_the_notch_of_a_concave_face_is_open() {
    let square =
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0.2 0.2 0.3\nv 0.8 0.2 0.3\nv 0.5 0.8 0.3\nf 1 2 3 4\n";
    let [under_line, beside] = heights(&format!("{square}l 5 6 7\n"), "[[0.5, 0.4, 0.5], [2.0, 0.5, 0.5]]");
    assert!((under_line - 0.02).abs() < 1e-3 && beside < -0.2, "{under_line} {beside}");
    // The same triangle as a face carries the grain.
    let [on_face, _] = heights(&format!("{square}f 5 6 7\n"), "[[0.5, 0.4, 0.5], [2.0, 0.5, 0.5]]");
    assert!((on_face - 0.32).abs() < 1e-3, "{on_face}");
    let notch = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 0.5 0\nv 0 2 0\nf 1 2 3 4 5\n";
    let [on_sheet, in_notch] = heights(notch, "[[0.5, 0.4, 0.5], [1.2, 1.0, 0.5]]");
    assert!((on_sheet - 0.02).abs() < 1e-3 && in_notch < -0.2, "{on_sheet} {in_notch}");
}

#[test]
fn the_program_tells_in_a_line_what_it_took_of_each_file() {
    let place = Place::with("t.csv", "x,y,z,r,note\n0,0,0,0.01,a\n");
    let scene =
        format!("{HEAD}[[grains]]\nmaterial = \"glass\"\npacking = {{ kind = \"csv\", file = \"t.csv\" }}\n");
    fs::write(place.path("s.toml"), scene).expect("written");
    let told = "t.csv: 1 grains, columns between commas, with x y z r; left out: note";
    let checked = place.esker(&["check", "s.toml"]);
    assert!(text(&checked).contains(told), "{}", text(&checked));
    let run = place.esker(&["run", "s.toml", "--device", "cpu"]);
    assert_eq!(code(&run), 0, "{}", error_text(&run));
    assert!(error_text(&run).contains(told), "{}", error_text(&run));
}
