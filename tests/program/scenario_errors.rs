//! Errors of scenarios: a wrong scenario is refused with the place of every mistake and what to do about it.

mod of_grains;
mod of_machines;
mod of_motions;
mod of_the_whole;

use std::path::Path;

use esker::scenario::{Problems, Scenario};

/// A valid file; the tests break it in one place.
const GOOD: &str = r#"title = "Good"
duration = 1.0
gravity = [0.0, 0.0, -9.81]

[solver]
time_step = 5e-3
iterations = 20
warm_start = { kind = "history", fraction = 0.85 }

[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.2
restitution = 0.6
friction = 0.3

[[boundaries]]
name = "floor"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }

[[boundaries]]
name = "drum"
material = "glass"
shape = { kind = "cylinder", base = [0, 5, 2], axis = [0, 1, 0], length = 1, radius = 1 }
motion = { kind = "rotation", rate = 0.5 }

[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.01 }
packing = { kind = "column", count = 3, base = [0, 0, 0] }

[[emitters]]
material = "glass"
radius = { kind = "uniform", min = 0.01, max = 0.02 }
region = { kind = "box", min = [1, 1, 1], max = [2, 2, 2] }
rate = 10.0

[output]
every = 0.1
formats = ["csv"]

[observe.drum]
boundary = "drum"

[expect]
height = { value = 0.06, tolerance = 0.001 }
"force_z:floor" = { at_most = 0.0, from = 0.5 }

[[sinks]]
name = "outlet"
region = { kind = "plane", point = [0, 0, -1], normal = [0, 0, 1] }

[[observe.regions]]
name = "zone"
region = { kind = "sphere", centre = [0, 0, 0], radius = 1 }
material = "glass"
"#;

fn problems(text: &str, overrides: &[&str]) -> Problems {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    match Scenario::parse("case.toml", text, Path::new("nowhere"), &overrides) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(problems) => problems,
    }
}

/// Breaks the good file at the first `old` after `anchor` and asserts that the only complaint points at
/// `marked` within the replacement (at the anchor, if that is empty) and contains all of `words`.
fn refuses(anchor: &str, old: &str, new: &str, marked: &str, words: &[&str]) {
    let head = GOOD.find(anchor).expect(anchor);
    let start = head + GOOD[head..].find(old).expect(old);
    let text = format!("{}{new}{}", &GOOD[..start], &GOOD[start + old.len()..]);
    let place = if marked.is_empty() { head } else { start + new.find(marked).expect(marked) };
    let (line, column) = position(&text, place);
    let found = problems(&text, &[]).to_string();
    let lines: Vec<&str> = found.lines().skip(1).collect();
    assert_eq!(lines.len(), 1, "one mistake was made, but:\n{found}");
    let head = format!("case.toml:{line}:{column}: ");
    assert!(lines[0].starts_with(&head), "expected {head}\nfound {found}");
    for word in words {
        assert!(lines[0].contains(word), "no \"{word}\" in\n{found}");
    }
}

fn position(text: &str, place: usize) -> (usize, usize) {
    let before = &text[..place];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

#[test]
fn the_file_that_the_others_break_is_good() {
    let scenario =
        Scenario::parse("case", GOOD, Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((scenario.world.grain_count(), scenario.max_grains()), (3, 13));
    let again = Scenario::parse("case", &scenario.resolved, Path::new(""), &[]).expect("resolved");
    assert_eq!(format!("{again:?}"), format!("{scenario:?}"));
}

#[test]
fn an_unknown_key_is_shown_with_the_nearest_one() {
    refuses("title", "gravity", "gravty", "gravty", &["unknown key `gravty`", "did you mean `gravity`?"]);
    refuses(
        "[solver]",
        "iterations",
        "iteratons",
        "iteratons",
        &["in `solver`", "did you mean `iterations`?"],
    );
    refuses("[[grains]]", "base", "colour = 1, base", "colour", &["in `grains.0.packing`", "known: `kind`"]);
    refuses("[materials", "friction = 0.3", "friction = 0.3\nfricton = 1", "fricton", &["`friction`?"]);
    refuses("formats", "formats", "formts", "formts", &["in `output`", "`formats`?"]);
}

#[test]
fn a_wrong_type_is_named_with_the_type_wanted() {
    refuses("duration", "1.0", "\"1.0\"", "\"1.0\"", &["the string \"1.0\"", "remove the quotes"]);
    refuses("iterations", "20", "20.5", "20.5", &["20.5", "expected a whole number"]);
    refuses("gravity", "-9.81]", "\"down\"]", "\"down\"", &["`gravity.2`", "the string \"down\""]);
    refuses("title", "\"Good\"", "7", "7", &["expected a string in quotes"]);
    refuses("[output]", "[\"csv\"]", "\"csv\"", "\"csv\"", &["expected a list"]);
    refuses("[[grains]]", "{ kind = \"constant\", value = 0.01 }", "0.01", "0.01", &["expected a table"]);
    refuses("title", "[0.0, 0.0, -9.81]", "[0.0, -9.81]", "[0.0", &["has 2 numbers, expected three"]);
}

#[test]
fn a_missing_key_is_named_with_its_table() {
    refuses("[materials", "density = 2500.0\n", "", "", &["missing key `density`"]);
    refuses("{ kind = \"column\"", "count = 3, ", "", "", &["missing key `count` in `grains.0.packing`"]);
    refuses(
        "[[grains]]",
        "radius = { kind = \"constant\", value = 0.01 }\n",
        "",
        "",
        &["missing key `radius`"],
    );
    refuses(
        "{ kind = \"plane\"",
        "kind = \"plane\", ",
        "",
        "",
        &["missing key `kind`", "one of: plane, box"],
    );
    refuses("[[emitters]]", "rate = 10.0\n", "", "", &["missing key `rate`", "`total_mass` [kg], or both"]);
    refuses("[[emitters]]", "rate = 10.0\n", "stop = 0.5\n", "", &["missing key `rate`"]);
    refuses("{ value = 0.06", ", tolerance = 0.001", "", "", &["missing key `tolerance` in `expect.height`"]);
}

#[test]
fn a_number_out_of_range_is_shown_with_the_range() {
    refuses("[[grains]]", "0.01", "-0.01", "-0.01", &["is -0.01, expected a positive radius in metres"]);
    refuses("[solver]", "5e-3", "0.0", "0.0", &["`solver.time_step` is 0", "a positive number of seconds"]);
    refuses("[solver]", "20", "0", "0", &["`solver.iterations` is 0", "1 to 100000"]);
    refuses("[solver]", "20", "-4", "-4", &["`solver.iterations` is -4", "a whole number"]);
    refuses("[solver]", "0.85", "1.5", "1.5", &["`solver.warm_start.fraction` is 1.5", "0 to 1"]);
    refuses("duration", "1.0", "-1.0", "-1.0", &["expected a positive time in seconds"]);
    refuses("[materials", "0.2", "0.6", "0.6", &["`materials.glass.poisson_ratio` is 0.6", "at most 0.5"]);
    refuses("[materials", "0.6", "1.1", "1.1", &["a number from 0 to 1"]);
    refuses("[[grains]]", "count = 3", "count = 0", "0", &["a whole number from 1 to 20000000"]);
    refuses("[[grains]]", "count = 3", "count = 99999999999", "99999999999", &["from 1 to 20000000"]);
    refuses("[[emitters]]", "10.0", "0.1", "", &["`emitters.0` emits no grain until 1 s"]);
    refuses("[[emitters]]", "10.0", "1e10", "", &["would emit 10000000000 grains"]);
    refuses(
        "[[emitters]]",
        "10.0",
        "10.0\nstart = 2\nstop = 1",
        "",
        &["stops at 1 s, before it starts at 2 s"],
    );
    refuses("[output]", "every = 0.1", "every = 1e-30", "1e-30", &["at most a million", "enlarge `every`"]);
}

#[test]
fn numbers_that_are_not_finite_are_refused() {
    refuses("duration", "1.0", "inf", "inf", &["is inf"]);
    refuses("[[grains]]", "0.01", "nan", "nan", &["`grains.0.radius.value` is NaN"]);
    refuses("gravity", "-9.81", "-inf", "-inf", &["`gravity.2` is -inf", "a finite number"]);
    refuses("[solver]", "5e-3", "nan", "nan", &["a finite number"]);
    refuses("[[grains]]", "0.01", "1e999", "1e999", &["floating-point number overflowed"]);
}

#[test]
fn a_missing_material_is_shown_with_the_nearest_one() {
    refuses(
        "[[boundaries]]",
        "\"glass\"",
        "\"glas\"",
        "\"glas\"",
        &["not a material", "did you mean `glass`?"],
    );
    let text = GOOD.replace("[materials.glass]", "[materials.steel]");
    let found = problems(&text, &[]).to_string();
    // The name is used five times, and unknown once.
    assert_eq!(found.matches("which is not a material").count(), 1, "{found}");
    let told = "is \"glass\", which is not a material; also in lines 24, 29, 34, 57 (known: `steel`)";
    assert!(found.contains(told), "{found}");
}

#[test]
fn an_unknown_kind_is_shown_with_the_nearest_one_and_hides_no_other_mistake() {
    refuses("[[grains]]", "\"column\"", "\"colum\"", "\"colum\"", &["did you mean `column`?"]);
    refuses("shape", "\"plane\"", "\"disc\"", "\"disc\"", &["known: `plane`, `box`"]);
    refuses("[solver]", "{ kind = \"history\", fraction = 0.85 }", "\"hot\"", "\"hot\"", &["known: `cold`"]);
}

#[test]
fn zero_vectors_and_empty_boxes_are_refused() {
    refuses("shape", "[0, 0, 1]", "[0, 0, 0]", "[0, 0, 0]", &["zero vector, expected a direction"]);
    refuses(
        "{ kind = \"box\"",
        "max = [2, 2, 2]",
        "max = [2, 1, 2]",
        "",
        &["box `emitters.0.region` is empty"],
    );
    refuses(
        "{ kind = \"box\"",
        "max = [2, 2, 2]",
        "max = [2, 2, 1.03]",
        "",
        &["no grain of radius 0.02 m fits"],
    );
}

#[test]
fn empty_lists_are_refused_where_something_must_be_in_them() {
    let list = "{ kind = \"list\", positions = [] }";
    refuses(
        "packing",
        "{ kind = \"column\", count = 3, base = [0, 0, 0] }",
        list,
        "{",
        &["has no positions"],
    );
    let mixture = "{ kind = \"mixture\", radii = [], shares = [] }";
    refuses(
        "[[grains]]",
        "{ kind = \"constant\", value = 0.01 }",
        mixture,
        "{",
        &["has 0 radii and 0 shares"],
    );
    let table = "{ kind = \"table\", times = [1, 1], displacements = [[0, 0, 0], [1, 0, 0]] }";
    let drum = "motion = { kind = \"rotation\", rate = 0.5 }";
    let text =
        GOOD.replace(drum, &format!("motion = {table}")).replace("[observe.drum]\nboundary = \"drum\"", "");
    let found = problems(&text, &[]).to_string();
    assert!(found.contains("do not ascend: 1 is followed by 1"), "{found}");
}

#[test]
fn overlapping_grains_are_named_with_their_packing() {
    let column = "{ kind = \"column\", count = 3, base = [0, 0, 0] }";
    let list = "{ kind = \"list\", positions = [[0, 0, 1], [0, 0, 2], [0.015, 0, 2]] }";
    refuses(
        "packing",
        column,
        list,
        "{",
        &[
            "grain 2 of grains.0 overlaps grain 1 by 5.000e-3 m, 50.0 % of the smaller radius",
            "allow_overlap",
        ],
    );
    let low = "{ kind = \"column\", count = 3, base = [0, 0, -0.004] }";
    refuses("packing", column, low, "{", &["grain 0 of grains.0 overlaps boundary \"floor\" by 4.000e-3 m"]);
    let dense = "{ kind = \"lattice\", corner = [0, 0, 1], counts = [9, 9, 9], spacing = 0.01 }";
    refuses("packing", column, dense, "{", &["; 727 more grains overlap grains or walls"]);
}

#[test]
fn a_grain_inside_one_of_another_block_is_named_with_both() {
    let more = "\n[[grains]]\nmaterial = \"glass\"\npacking = { kind = \"list\", positions = [[0, 0, 0.01]], radii = [0.005] }\n";
    let found = problems(&format!("{GOOD}{more}"), &[]).to_string();
    assert!(found.contains("grain 3 of grains.1 overlaps grain 0 of grains.0"), "{found}");
    let allowed = format!("{GOOD}{more}")
        .replace("radius = { kind = \"con", "allow_overlap = true\nradius = { kind = \"con");
    assert!(problems(&allowed, &[]).to_string().contains("grain 3"), "one of the two blocks still minds");
    let text = format!("{allowed}allow_overlap = true\n");
    assert!(Scenario::parse("case", &text, Path::new(""), &[]).is_ok());
}

#[test]
fn packings_that_do_not_fit_say_how_many_would() {
    let column = "{ kind = \"column\", count = 3, base = [0, 0, 0] }";
    let random = "{ kind = \"random\", count = 500, region = { kind = \"box\", min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }";
    refuses("packing", column, random, "{", &["500 grains fill 209 % of the region"]);
    let lattice = "{ kind = \"lattice\", min = [0, 0, 0], max = [0.1, 0.1, 0.1], count = 200 }";
    refuses("packing", column, lattice, "{", &["room for 125 of 200 grains"]);
    let huge = "{ kind = \"lattice\", corner = [0, 0, 1], counts = [20000, 20000, 20000] }";
    refuses("packing", column, huge, "{", &["more than 20000000 grains"]);
    let fine = "{ kind = \"lattice\", min = [0, 0, 0], max = [1e6, 1e6, 1e6] }";
    refuses("packing", column, fine, "{", &["sites", "enlarge `spacing`"]);
    let neither = "{ kind = \"lattice\", spacing = 1 }";
    refuses("packing", column, neither, "{", &["must say how far it goes", "`within`"]);
}

#[test]
fn expectations_and_observations_must_refer_to_what_is_there() {
    refuses(
        "[expect]",
        "height",
        "heigth",
        "heigth",
        &["unknown quantity `heigth`", "did you mean `height`?"],
    );
    refuses(
        "[expect]",
        "\"force_z:floor",
        "\"force_z:flor",
        "\"force_z",
        &["no boundary \"flor\"", "`floor`?"],
    );
    refuses("[expect]", "\"force_z:floor", "\"force_q:floor", "\"force_q", &["unknown quantity", "`force_"]);
    refuses("[expect]", "height", "energy_eror", "energy_eror", &["did you mean `energy_error`?"]);
    let found =
        problems(&GOOD.replace("height = {", "energy_error = {"), &["observe.energy=false"]).to_string();
    assert!(found.contains("`energy_error` needs the energy balance"), "{found}");
    refuses("{ at_most", "from = 0.5", "from = 2.0", "", &["taken from 2 s until 1 s"]);
    refuses(
        "[observe",
        "\"drum\"",
        "\"drun\"",
        "\"drun\"",
        &["no boundary \"drun\"", "did you mean `drum`?"],
    );
    refuses("[observe", "\"drum\"", "\"floor\"", "\"floor\"", &["\"floor\" is not a drum"]);
    let found = problems(&GOOD.replace("height =", "bed ="), &[]).to_string();
    assert!(found.contains("add `of = \"...\"` or use a quantity as the label"), "{found}");
    let found = problems(&GOOD.replace("floor", "drum"), &[]).to_string();
    assert!(found.contains("case.toml:23:8: two boundaries are named \"drum\""), "{found}");
}

#[test]
fn a_domain_is_refused_with_what_is_wrong_about_it() {
    let with = |domain: &str| problems(&format!("{GOOD}\n[domain]\n{domain}\n"), &[]).to_string();
    let low = "min = [-10, -10, -10]\n";
    assert!(with("outside = \"keep\"").contains("the domain has no face"));
    assert!(with("min = [0, 0]").contains("`domain.min` is [0, 0], expected three coordinates"));
    assert!(with("min = [0, nan, 0]").contains("expected three coordinates"));
    assert!(
        with(&format!("{low}max = [5, 5, -11]")).contains("empty along z: min = -10 is not below max = -11")
    );
    assert!(with(&format!("{low}outside = \"remov\"")).contains("did you mean `remove`?"));
    let emitted = with("max = [1.5, inf, inf]");
    assert!(emitted.contains("the region of emitter \"emitter-0\" reaches out of the domain"), "{emitted}");
    let started = with("min = [100, -inf, -inf]");
    assert!(started.contains("starts outside of the domain"), "{started}");
    let periodic = format!("{GOOD}\n[periodic]\ny = [-10, 10]\n[domain]\nmin = [-inf, -9, -inf]\n");
    assert!(problems(&periodic, &[]).to_string().contains("the domain ends within the period along y"));
}

#[test]
fn sinks_and_regions_are_refused_with_what_is_wrong_about_them() {
    refuses("[[sinks]]", "\"plane\"", "\"plain\"", "\"plain\"", &["did you mean `plane`?"]);
    refuses("[[sinks]]", "normal = [0, 0, 1]", "normal = [0, 0, 0]", "[0, 0, 0]", &["a zero vector"]);
    refuses(
        "{ kind = \"plane\", point = [0, 0, -1]",
        ", point = [0, 0, -1]",
        "",
        "",
        &["missing key `point`"],
    );
    let line = "region = { kind = \"plane\", point = [0, 0, -1], normal = [0, 0, 1] }\n";
    refuses("[[sinks]]", line, "", "", &["missing key `region` in `sinks.0`"]);
    refuses(
        "[[sinks]]",
        "name",
        "nmae",
        "nmae",
        &["unknown key `nmae` in `sinks.0`", "did you mean `name`?"],
    );
    refuses("[[observe.regions]]", "\"sphere\"", "\"plane\"", "\"plane\"", &["known: `box`"]);
    refuses("[[observe.regions]]", "\"glass\"", "\"glas\"", "\"glas\"", &["not a material"]);

    let again = |table: &str, name: &str| {
        let region = "region = { kind = \"sphere\", centre = [0, 0, 0], radius = 1 }";
        problems(&format!("{GOOD}\n[[{table}]]\nname = \"{name}\"\n{region}\n"), &[]).to_string()
    };
    assert!(again("sinks", "outlet").contains("two sinks are named \"outlet\""));
    assert!(again("observe.regions", "zone").contains("two regions are named \"zone\""));

    let height = "height = { value = 0.06, tolerance = 0.001 }";
    for (quantity, words) in [
        ("removed:outlt", "there is no sink \"outlt\" (did you mean `outlet`?)"),
        ("mass_flow:floor", "there is no sink \"floor\""),
        ("count:outlet", "there is no region \"outlet\""),
        ("removd:outlet", "did you mean `removed:`?"),
    ] {
        let text = GOOD.replace(height, &format!("\"{quantity}\" = {{ at_least = 0 }}"));
        let found = problems(&text, &[]).to_string();
        assert!(found.contains(words), "no \"{words}\" in\n{found}");
    }
}

#[test]
fn lists_of_one_value_per_grain_must_be_as_long_as_the_list_of_grains() {
    let column = "{ kind = \"column\", count = 3, base = [0, 0, 0] }";
    let list = |more: &str| format!("{{ kind = \"list\", positions = [[0, 0, 1], [0, 0, 2]], {more} }}");
    let words = |found: &'static str| ["`grains.0.packing` has 2 positions and", found, "equally long"];
    refuses("packing", column, &list("radii = [0.01]"), "{", &words("1 radii"));
    refuses("packing", column, &list("velocities = [[0, 0, 1]]"), "{", &words("1 velocities"));
    refuses("packing", column, &list("angular_velocities = []"), "{", &words("0 angular_velocities"));
    refuses(
        "packing",
        column,
        &list("velocities = [[0, 0, 1], [0, 0]]"),
        "[0, 0]]",
        &["`grains.0.packing.velocities.1` has 2 numbers"],
    );
    refuses(
        "[[grains]]",
        "packing",
        "random_velocity = -1.0\npacking",
        "-1.0",
        &["zero or a positive speed"],
    );
    refuses("[[grains]]", "packing", "locked_axes = [\"w\"]\npacking", "\"w\"", &["did you mean `x`?"]);
}

/// A mesh that cannot be read or used is refused with its file and what is wrong with it.
#[test]
fn a_bad_mesh_is_refused() {
    let of_mesh = |rest: &str| format!("{{ kind = \"mesh\", {rest} }}");
    let plane = "{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let is_refused = |rest: &str, marked: &str, words: &[&str]| {
        refuses("name = \"floor\"", plane, &of_mesh(rest), marked, words);
    };
    is_refused("file = \"lost.stl\"", "\"lost.stl\"", &["lost.stl cannot be read", "scenario's folder"]);
    is_refused(
        "file = \"drum.step\"",
        "\"drum.step\"",
        &["neither an STL nor an OBJ", ".stl (binary or text)"],
    );
    let there = concat!("file = \"", env!("CARGO_MANIFEST_DIR"), "/scenarios/meshes/mill.stl\", scale = -1");
    is_refused(there, "-1", &["`boundaries.0.shape.scale`", "millimetres"]);
    is_refused("scale = 1.0", "{", &["missing key `file`"]);

    let folder = tempfile::tempdir().expect("a folder");
    let with = |name: &str, bytes: &[u8], motion: &str| {
        std::fs::write(folder.path().join(name), bytes).expect("written");
        let boundary = format!("{{ kind = \"mesh\", file = \"{name}\" }}{motion}");
        let text = GOOD.replacen(plane, &boundary, 1);
        let found = Scenario::parse("case.toml", &text, folder.path(), &[]);
        found.map_or_else(|problems| problems.to_string(), |_| "fine".to_owned())
    };
    let dynamic = "\nmotion = { kind = \"dynamic\" }";
    let sheet = b"v 0 5 0\nv 1 5 0\nv 0 6 0\nf 1 2 3\n";
    assert_eq!(with("sheet.obj", sheet, ""), "fine");
    let open = with("sheet.obj", sheet, dynamic);
    assert!(open.contains("not the surface of a solid: 3 edges belong to one triangle alone"), "{open}");
    let tetrahedron = "v 0 5 0\nv 1 5 0\nv 0 6 0\nv 0 5 1\n";
    let outwards = format!("{tetrahedron}f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    assert_eq!(with("solid.obj", outwards.as_bytes(), dynamic), "fine");
    let inwards = format!("{tetrahedron}f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n");
    assert_eq!(with("inside_out.obj", inwards.as_bytes(), dynamic), "fine", "it is turned around");
    let turned = outwards.replace("f 1 3 2", "f 1 2 3");
    let found = with("turned.obj", turned.as_bytes(), dynamic);
    assert!(found.contains("3 edges have triangles that face opposite sides"), "{found}");
    assert!(with("empty.obj", b"", "").contains("no triangle with an area"));
    assert!(
        with("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "")
            .contains("nan.obj:1: a vertex has \"nan\"")
    );
    assert!(with("text.stl", b"not a mesh", "").contains("too few for an STL file"));
    let periodic = GOOD.replacen(plane, "{ kind = \"mesh\", file = \"solid.obj\" }", 1);
    let periodic = format!("{periodic}\n[periodic]\nx = [0.0, 0.5]\n");
    let problems =
        Scenario::parse("case.toml", &periodic, folder.path(), &[]).expect_err("too long").to_string();
    assert!(problems.contains("is a mesh and 1 m long along x, the period is 0.5 m"), "{problems}");
    let huge = std::fs::File::create(folder.path().join("huge.stl")).expect("made");
    huge.set_len(3 << 30).expect("a file with a hole");
    drop(huge);
    let text = GOOD.replacen(plane, "{ kind = \"mesh\", file = \"huge.stl\" }", 1);
    let problems =
        Scenario::parse("case.toml", &text, folder.path(), &[]).expect_err("too large").to_string();
    assert!(problems.contains("is larger than 536.87 MB"), "{problems}");
}

/// A belt moves within its own surface and has no other motion.
#[test]
fn a_belt_that_leads_out_of_its_surface_is_refused() {
    let plane = "normal = [0, 0, 1] }";
    let belt = |velocity: &str| format!("{plane}\nsurface_velocity = {velocity}");
    refuses("name = \"floor\"", plane, &belt("[1, 0, 0.1]"), "[1, 0, 0.1]", &["leads out of its surface"]);
    let drum = "motion = { kind = \"rotation\", rate = 0.5 }";
    let both = format!("{drum}\nsurface_velocity = [0, 1, 0]");
    refuses("name = \"drum\"", drum, &both, "[0, 1, 0]", &["a `surface_velocity` and a `motion`"]);
    let text = GOOD.replacen(plane, &belt("[1, 2, 0]"), 1);
    assert!(Scenario::parse("case.toml", &text, Path::new(""), &[]).is_ok());
}

/// The bins of a sink ascend, and an emitter has one rate.
#[test]
fn bad_bins_and_two_rates_are_refused() {
    let plane = "region = { kind = \"plane\", point = [0, 0, -1], normal = [0, 0, 1] }";
    let with = |rest: &str| format!("{plane}\n{rest}");
    refuses("[[sinks]]", plane, &with("bins = [0.02, 0.01]"), "[0.02", &["no ascending radii"]);
    refuses("[[sinks]]", plane, &with("bins = []"), "[]", &["no ascending radii"]);
    let backwards = "profile = { axis = \"y\", from = 1, until = 0, bins = 4 }";
    refuses("[[sinks]]", plane, &with(backwards), "{ axis", &["goes from 1 m to 0 m"]);
    let rates = "rate = 10.0\nmass_rate = 1.0";
    refuses("[[emitters]]", "rate = 10.0", rates, "", &["has a `rate` and a `mass_rate`"]);
    let text = GOOD.replacen(plane, &with("bins = [0.01]"), 1);
    let known = "\"size_mass:outlet:1\" = { at_least = 0.0 }\n\n[[sinks]]";
    let text = text.replacen("\n[[sinks]]", known, 1);
    assert!(Scenario::parse("case.toml", &text, Path::new(""), &[]).is_ok());
    let problems = problems(&text.replace("outlet:1", "outlet:2"), &[]).to_string();
    assert!(problems.contains("there is no class of radii of a sink \"outlet:2\""), "{problems}");
}

#[test]
fn layers_are_cut_from_what_has_them() {
    let layers = |layers: &str| problems(&format!("{GOOD}\n[observe.layers]\n{layers}\n"), &[]).to_string();
    let cylinder =
        "region = { kind = \"cylinder\", base = [0, 0, 0], axis = [0, 0, 1], length = 1, radius = 1 }";
    let ball = "region = { kind = \"sphere\", centre = [0, 0, 0], radius = 1 }";
    assert!(layers(&format!("{cylinder}\naxis = \"z\"")).contains("cut across its own axis"));
    let of_ball = layers(ball);
    assert!(of_ball.contains("`observe.layers.region` has no layers of equal volume"), "{of_ball}");
    assert!(of_ball.contains("make it a box or a cylinder"), "{of_ball}");
    let unknown = layers("region = { kind = \"box\", min = [0, 0, 0], max = [1, 1, 1] }\naxis = \"w\"");
    assert!(unknown.contains("\"w\""), "{unknown}");
}

#[test]
fn settings_that_mean_nothing_beside_others_are_refused() {
    for (changes, setting, other) in [
        (["method=smooth", "algorithm=apgd"], "solver.algorithm = \"apgd\"", "method = \"smooth\""),
        (["method=smooth", "order=sequential"], "solver.order", "method = \"smooth\""),
        (["method=smooth", "coarse_corrections=1"], "solver.coarse_corrections", "method = \"smooth\""),
        (["algorithm=apgd", "cone=box"], "solver.cone = \"box\"", "algorithm = \"apgd\""),
    ] {
        let changes = changes.map(|change| format!("solver.{change}"));
        let found = problems(GOOD, &changes.each_ref().map(String::as_str)).to_string();
        assert!(found.contains(&format!("`{setting}` means nothing with `solver.{other}`")), "{found}");
    }
}
