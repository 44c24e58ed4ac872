//! Mistakes in observations and pictures, in other files, and in a scenario as a whole.

use super::*;

#[test]
fn an_expectation_that_contradicts_itself_is_refused() {
    let refuses = |new: &str, marked: &str, words: &[&str]| {
        refuses("[expect]", "{ value = 0.06, tolerance = 0.001 }", new, marked, words);
    };
    refuses(
        "{ value = 0.06, tolerence = 0.001, tolerance = 1 }",
        "tolerence",
        &["did you mean `tolerance`?"],
    );
    refuses(
        "{ value = 0.06, tolerance = 1, at = 0.5, take = \"mean\" }",
        "{",
        &["takes its number in two ways"],
    );
    refuses("{ value = 0.06, tolerance = 1, at = 1.5 }", "{", &["is taken at 1.5 s of a run of 1 s"]);
    refuses("{ value = 0.06, tolerance = 1, at = 0.5, from = 0 }", "{", &["has `at` and a window"]);
    refuses(
        "{ value = 1, tolerance = 1, take = \"final\", from = 0 }",
        "{",
        &["takes the final value and has"],
    );
    refuses("{ value = 0.06, tolerance = 1, take = \"maxium\" }", "\"maxium", &["did you mean `maximum`?"]);
    refuses("{ take = \"rise\", slack = 1 }", "\"rise", &["did you mean `rises`?"]);
    refuses("{ take = \"rises\", value = 1 }", "{", &["has `value`", "judged by `slack`"]);
    refuses("{ at_most = 1, slack = 1 }", "{", &["has `slack`", "take = \"rises\" or \"falls\""]);
    refuses("{ at_most = 1, take = \"settled_after\" }", "{", &["missing key `within`"]);
    refuses("{ take = \"times_of_minima\", values = [], tolerance = 1 }", "[", &["is empty"]);
    refuses("{ take = \"times_of_minima\", values = [0.1] }", "{", &["missing key `tolerance`"]);
    refuses("{ at_most = 1, take = \"linearity\", over = \"contacts\" }", "{", &["`over` goes with final"]);
    refuses("{ at_most = 1, over = \"contcts\" }", "\"contcts", &["did you mean `contacts`?"]);
    refuses("{ of = \"hight\", at_most = 1 }", "\"hight", &["did you mean `height`?"]);
    refuses("{ at_most = 1, tolerance = 1 }", "{", &["has `tolerance` but no `value`"]);
    refuses(
        "{ value = 1, tolerance = 1, tolerance_share = 1 }",
        "{",
        &["both `tolerance` and `tolerance_share`"],
    );
    refuses("{ value = 0, tolerance_share = 1 }", "{", &["of a value of zero"]);
    refuses("{ value = 1, single = 1 }", "{", &["missing key `tolerance`"]);
    refuses("{ at_least = 2, at_most = 1 }", "{", &["at least 2 and at most 1"]);
    refuses("{ value = 1, tolerance = -1 }", "-1", &["zero or a positive number"]);
}

#[test]
fn what_is_tracked_must_be_there() {
    let refuses = |new: &str, marked: &str, words: &[&str]| {
        refuses(
            "[observe.drum]",
            "[observe.drum]\n",
            &format!("[observe]\n{new}\n[observe.drum]\n"),
            marked,
            words,
        );
    };
    refuses("grains = [0, 13]", "13", &["there is no grain 13", "there are 13"]);
    refuses("grains = [0, 12, 0]", "[0, 12", &["`observe.grains.2` is in the list already"]);
    refuses("boundaries = [\"flor\"]", "\"flor\"", &["no boundary \"flor\"", "`floor`?"]);
    refuses("contacts = [[0, 0]]", "[0, 0]", &["must be two bodies"]);
    refuses("contacts = [[0, 1, 2]]", "[0, 1, 2]", &["must be two bodies"]);
    refuses("contacts = [[0, \"wall\"]]", "\"wall\"", &["no boundary \"wall\""]);
    refuses("contcts = [[0, 1]]", "contcts", &["did you mean `contacts`?"]);
    let text = GOOD.replace("height =", "\"position_x:grain-1\" =");
    let found = problems(&text, &[]).to_string();
    assert!(
        found.contains("`position_x:grain-1` is not observed (add it to `grains` or `boundaries`"),
        "{found}"
    );
    let turned = "[observe]\ncontacts = [[0, \"floor\"]]\n[observe.drum]";
    let text = GOOD.replace("height =", "\"overlap:floor-0\" =").replace("[observe.drum]", turned);
    let found = problems(&text, &[]).to_string();
    assert!(found.contains("the other way round: `overlap:0-floor`"), "{found}");
}

#[test]
fn a_boundary_that_is_named_like_a_grain_is_refused() {
    for name in ["\"grain-7\"", "\"7\""] {
        let found =
            problems(&GOOD.replace("\"floor\"", name).replace("force_z:floor", "max_speed"), &[]).to_string();
        let place = format!("case.toml:18:8: `boundaries.0.name` is {name}, as grains are called");
        assert!(found.contains(&place), "{found}");
    }
    for name in ["grain-", "grain-7b", "x7", "boundary-7"] {
        let read = Scenario::parse("case", &GOOD.replace("floor", name), Path::new(""), &[]);
        read.unwrap_or_else(|found| panic!("{name}\n{found}"));
    }
}

#[test]
fn an_output_after_the_end_is_refused() {
    refuses("[output]", "0.1", "1.5", "1.5", &["`output.every` is 1.5 s in a run of 1 s"]);
}

#[test]
fn pictures_are_checked_as_they_are_read() {
    let refused = |pictures: &str, marked: &str, words: &[&str]| {
        refuses("[output]", "every", &format!("pictures = {{ {pictures} }}\nevery"), marked, words);
    };
    refused("size = [960]", "[960]", &["`output.pictures.size` has 1 numbers, expected two"]);
    refused("size = [960, 10]", "10", &["`output.pictures.size.1` is 10", "from 64 to 8192"]);
    refused("colour_by = \"heigth\"", "\"heigth\"", &["no field of a grain", "did you mean `height`"]);
    refused("range = [1.0, 1.0]", "[1.0", &["expected two numbers that ascend"]);
    refused("show = \"force\"", "\"force\"", &["`output.pictures.show`", "did you mean `forces`"]);
    refused("boundaries = \"wires\"", "\"wires\"", &["known: `glass`, `edges`, `hidden`"]);
    refused("elevation_deg = 100", "100", &["an angle from -90 to 90 degrees"]);
    refused("zoom = 0", "0", &["`output.pictures.zoom` is 0"]);
    refused("cut = { point = [0, 0, 0], normal = [0, 0, 0.0] }", "[0, 0, 0.0]", &["is a zero vector"]);
    refused("fit = { min = [0, 0, 0], max = [1, 0, 1] }", "{ min", &["is empty"]);
    refused("every = 0", "0", &["`output.pictures.every` is 0"]);
    refused("every = 1e-9", "{ every", &["more than a million pictures"]);
    refused("colour = \"id\"", "colour", &["unknown key `colour`", "did you mean `colour_by`"]);
    refused("show = \"forces\", colour_by = \"id\"", "colour_by", &["unknown key `colour_by`"]);
}

#[test]
fn a_velocity_relative_to_what_turns_needs_something_that_does() {
    let asking = GOOD.replace("every = 0.1", "every = 0.1\npictures = { colour_by = \"relative_velocity\" }");
    assert!(Scenario::parse("case", &asking, Path::new(""), &[]).is_ok());
    let found =
        problems(&asking.replace("kind = \"rotation\", rate = 0.5", "kind = \"fixed\""), &[]).to_string();
    assert!(
        found.contains("`output.pictures.colour_by` is \"relative_velocity\", but no boundary turns"),
        "{found}"
    );
}

/// The good file with one more boundary, dynamic, of this shape.
fn with_free(shape: &str) -> String {
    format!(
        "{GOOD}\n[[boundaries]]\nname = \"lid\"\nmaterial = \"glass\"\nshape = {{ {shape} }}\nmotion = {{ kind = \"dynamic\" }}\n"
    )
}

#[test]
fn a_dynamic_boundary_that_starts_inside_another_is_named_with_it() {
    let text = |low: f64| {
        with_free(&format!("kind = \"box\", min = [4, 0, {low}], max = [5, 1, 3], side = \"outside\""))
    };
    let found = problems(&text(-0.25), &[]).to_string();
    assert!(
        found.contains("boundary \"lid\" is dynamic and overlaps boundary \"floor\" by 2.500e-1 m"),
        "{found}"
    );
    let ball = with_free("kind = \"sphere\", centre = [4, 0, 0.75], radius = 1");
    let found = problems(&ball, &[]).to_string();
    assert!(
        found.contains("boundary \"lid\" is dynamic and overlaps boundary \"floor\" by 2.500e-1 m"),
        "{found}"
    );
    // Half the smallest edge stands for the radius: 1 % of 0.5 m is accepted.
    for low in [0.1, 0.0, -0.004] {
        Scenario::parse("case", &text(low), Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
    }
}

#[test]
fn a_dynamic_boundary_longer_than_the_period_is_refused() {
    let text = |length: f64| {
        let lid =
            format!("kind = \"box\", min = [4, 0, 5], max = [{}, 1, 6], side = \"outside\"", 4.0 + length);
        with_free(&lid).replacen("[solver]", "[periodic]\nx = [0, 9]\n\n[solver]", 1)
    };
    let found = problems(&text(10.0), &[]).to_string();
    assert!(
        found.contains("`boundaries.2.shape` is dynamic and 10 m long along x, the period is 9 m"),
        "{found}"
    );
    Scenario::parse("case", &text(9.0), Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn a_reference_curve_is_refused_with_its_own_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("curve.csv"), "t,z\n0,0.06\n0.5,high\n").expect("written");
    let curve = |column: &str| {
        let curve = format!("{{ curve = {{ file = \"curve.csv\", column = \"{column}\" }}, tolerance = 1 }}");
        GOOD.replace("{ value = 0.06, tolerance = 0.001 }", &curve)
    };
    let file = folder.path().join("case.toml");
    let found = |column: &str| {
        std::fs::write(&file, curve(column)).expect("written");
        Scenario::load(&file, &[]).expect_err("bad curve").to_string()
    };
    assert!(found("z").contains("curve.csv:3: z is \"high\", expected a finite number"), "{}", found("z"));
    assert!(found("y").contains("curve.csv:1: there is no column `y`"), "{}", found("y"));
    let missing = problems(&curve("z"), &[]).to_string();
    assert!(missing.contains("nowhere/curve.csv cannot be read"), "{missing}");
    std::fs::write(folder.path().join("curve.csv"), "t,z\n5,0.06\n").expect("written");
    assert!(found("z").contains("no value of `z` from 0 s until 1 s"), "{}", found("z"));
}

#[test]
fn all_mistakes_come_at_once_in_the_order_of_the_file() {
    let text =
        GOOD.replace("duration = 1.0", "duratoin = 1.0").replace("0.85", "8.5").replace("\"floor\"", "7");
    let found = problems(&text, &[]);
    let lines: Vec<usize> =
        found.list().iter().filter_map(|problem| problem.position()).map(|p| p.0).collect();
    assert!(lines.len() >= 4, "{found}");
    assert!(lines.is_sorted(), "{found}");
    let text = esker::cli::drawing(&found);
    assert!(text.contains("duratoin = 1.0") && text.contains("did you mean"), "{text}");
}

#[test]
fn syntax_errors_have_their_place() {
    let found = problems("duration = 1.0\ngravity = [0, 0\n[solver]\n", &[]);
    let line = found.list()[0].line();
    assert!(line.starts_with("case.toml:3:") || line.starts_with("case.toml:2:"), "{line}");
    assert!(line.contains("not valid TOML"), "{line}");
    let found = problems("This is a letter.\nIt has two lines.\n", &[]).to_string();
    assert!(found.contains("case.toml:1:6: not valid TOML"), "{found}");
    let found = problems("duration = 1.0\nduration = 2.0\n", &[]).to_string();
    assert!(found.contains("case.toml:2:1: not valid TOML: duplicate key"), "{found}");
    let found = problems("", &[]).to_string();
    assert!(found.contains("case.toml:1:1: missing key `duration`"), "{found}");
    assert!(found.contains("case.toml:1:1: nothing to simulate"), "{found}");
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("none.toml");
    let found = Scenario::load(&missing, &[]).expect_err("missing").to_string();
    assert!(found.contains("none.toml: cannot be read") && found.contains("check the path"), "{found}");

    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, b"ab = 1\n\x89PNG\x00").expect("written");
    let found = Scenario::load(&binary, &[]).expect_err("binary").to_string();
    assert!(found.contains("binary.toml:2:1: not a text file: byte 0x89"), "{found}");

    let found = Scenario::load(folder.path(), &[]).expect_err("a folder").to_string();
    assert!(found.contains("cannot be read"), "{found}");
}

#[test]
fn a_table_of_grains_is_refused_with_its_own_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("heap.csv"), "x,y,z,radius\n0,0,1,0.1\n0,0,two,0.1\n")
        .expect("written");
    let column = "{ kind = \"column\", count = 3, base = [0, 0, 0] }";
    let text = GOOD.replace(column, "{ kind = \"csv\", file = \"heap.csv\" }");
    let file = folder.path().join("heap.toml");
    std::fs::write(&file, &text).expect("written");
    let found = Scenario::load(&file, &[]).expect_err("bad table").to_string();
    assert!(found.contains("heap.toml:31:34: heap.csv:3: z is \"two\", expected a finite number"), "{found}");
    let found = problems(&text, &[]).to_string();
    assert!(found.contains("case.toml:31:34: nowhere/heap.csv cannot be read"), "{found}");
}

#[test]
fn overrides_are_refused_with_their_own_words() {
    for (change, words) in [
        ("grains.4.material=glass", "--set grains.4.material=glass: index 4 is out of range: the list has 1"),
        ("duration.length=1", "a float has no `length`"),
        ("iterations", "expected path=value"),
        ("solver.iterations=many", "`solver.iterations` is the string \"many\", expected a whole number"),
        ("solver.iteratons=10", "unknown key `iteratons` in `solver` (did you mean `iterations`?)"),
        ("solvr.iterations=10", "unknown key `solvr` (did you mean `solver`?)"),
        ("grains.0.packing.count=-1", "`grains.0.packing.count` is -1"),
        ("duration=nan", "`duration` is NaN"),
    ] {
        let found = problems(GOOD, &[change]).to_string();
        assert!(found.contains(words), "--set {change}: no \"{words}\" in\n{found}");
    }
}

/// Breaks the good file by a table `[periodic]` before `[solver]`.
fn refuses_period(table: &str, marked: &str, words: &[&str]) {
    refuses("[solver]", "[solver]", &format!("[periodic]\n{table}\n\n[solver]"), marked, words);
}

#[test]
fn a_period_needs_two_ascending_numbers() {
    refuses_period(
        "x = [1, 0]",
        "[1, 0]",
        &["`periodic.x` is empty", "min = 1 is not below max = 0", "swap"],
    );
    refuses_period("y = [1, 1]", "[1, 1]", &["`periodic.y` is empty"]);
    refuses_period("x = [0, 1, 2]", "[0, 1, 2]", &["`periodic.x` has 3 numbers", "[min, max]"]);
    refuses_period("x = [0, nan]", "nan", &["`periodic.x.1`", "a coordinate in metres"]);
    refuses_period("x = 1.0", "1.0", &["`periodic.x` is 1, expected a list"]);
    refuses_period("length = 1", "length", &["unknown key `length` in `periodic`", "known: `x`, `y`, `z`"]);
}

#[test]
fn a_period_too_short_for_the_largest_grain_says_what_would_do() {
    // Emitted grains of radius 0.02 m count: 3 · 1.1 · 0.04 m.
    let words = ["`periodic.x` is 0.1 m long", "at least 0.132 m", "radius 0.02 m", "max to min + 0.132"];
    refuses_period("x = [-0.05, 0.05]", "[-0.05, 0.05]", &words);
    let good = GOOD.replacen("[solver]", "[periodic]\nx = [0, 0.132]\n\n[solver]", 1);
    assert!(Scenario::parse("case", &good, Path::new(""), &[]).is_ok(), "what the message says does do");
}

#[test]
fn a_plane_across_a_periodic_axis_is_refused() {
    let words = ["`boundaries.0.shape`", "along z, which is periodic", "open = [\"-z\", \"+z\"]"];
    let place = GOOD.find("{ kind = \"plane\"").expect("a plane");
    let text = GOOD.replacen("[solver]", "[periodic]\nz = [0, 9]\n\n[solver]", 1);
    let found = problems(&text, &[]).to_string();
    let (line, column) = position(GOOD, place);
    assert!(found.contains(&format!("case.toml:{}:{column}: ", line + 3)), "{found}");
    words.iter().for_each(|word| assert!(found.contains(word), "no \"{word}\" in\n{found}"));

    // With x periodic: a tilted plane, a box with all its walls, a plane that turns about y.
    let tilted = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0.1, 0, 1] }";
    let walls = "shape = { kind = \"box\", min = [-4, -9, 0], max = [5, 9, 9] }";
    let level = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let turning = format!("{level}\nmotion = {{ kind = \"rotation\", axis = [0, 1, 0], rate = 1 }}");
    let rolling = format!("{level}\nmotion = {{ kind = \"rotation\", axis = [1, 0, 0], rate = 1 }}");
    let open = walls.replace("9] }", "9], open = [\"-x\", \"+x\"] }");
    let text = |shape: &str| {
        GOOD.replacen("[solver]", "[periodic]\nx = [0, 9]\n\n[solver]", 1).replacen(level, shape, 1)
    };
    for shape in [tilted, walls, &turning] {
        let found = problems(&text(shape), &[]).to_string();
        assert!(found.contains("along x, which is periodic"), "{shape}\n{found}");
        assert_eq!(found.lines().count(), 2, "{found}");
    }
    for shape in [level, &rolling, &open] {
        let read = Scenario::parse("case", &text(shape), Path::new(""), &[]);
        read.unwrap_or_else(|found| panic!("{shape}\n{found}"));
    }
}

#[test]
fn an_overlap_across_a_periodic_face_is_found() {
    // The column stands on x = 0; a grain at the other face touches the column's image.
    let list = "[[grains]]\nmaterial = \"glass\"\nradius = { kind = \"constant\", value = 0.01 }\n\
                packing = { kind = \"list\", positions = [[0.285, 0, 0.01]] }\n\n[[emitters]]";
    let text = GOOD.replacen("[[emitters]]", list, 1);
    assert!(Scenario::parse("case", &text, Path::new(""), &[]).is_ok(), "they are apart without a period");
    let text = text.replacen("[solver]", "[periodic]\nx = [0, 0.3]\n\n[solver]", 1);
    let found = problems(&text, &[]).to_string();
    assert!(found.contains("grain 3 of grains.1 overlaps grain 0 of grains.0 by 5.000e-3 m"), "{found}");
}

#[test]
fn a_look_at_convergence_that_makes_no_sense_is_refused() {
    let refuses_table = |table: &str, marked: &str, words: &[&str]| {
        let table = format!("[convergence]\n{table}\n[output]");
        refuses("[output]", "[output]", &table, marked, words);
    };
    refuses_table("sweeps = 5", "[convergence]", &["missing key `times` in `convergence`"]);
    refuses_table("times = []", "[]", &["`convergence.times` is empty", "at least one time"]);
    refuses_table(
        "times = [0.5, 2.0]",
        "2.0",
        &["`convergence.times.1` is 2 s in a run of 1 s", "up to the"],
    );
    refuses_table("times = [0.5]\nsweeps = 0", "0\n[", &["from 1 to 100000"]);
    refuses_table(
        "times = [0.5]\nreference = 50",
        "[convergence]",
        &["reference of 50 sweeps is no better than the 100", "more than `convergence.sweeps`"],
    );
    refuses_table(
        "times = [0.5]\nstarts = [\"cold\", \"histroy\"]",
        "\"histroy\"",
        &["`convergence.starts.1` is \"histroy\"", "history"],
    );
    refuses_table(
        "times = [0.5]\nstarts = [{ kind = \"history\", fraction = 2.0 }]",
        "2.0",
        &["`convergence.starts.0.fraction` is 2, expected a number from 0 to 1"],
    );
    refuses_table("times = [0.5]\nstarts = []", "[]\n", &["`convergence.starts` is empty"]);
}

#[test]
fn automatic_iterations_need_gravity_or_a_tolerance() {
    refuses(
        "[solver]",
        "20",
        "\"aut\"",
        "\"aut\"",
        &["`solver.iterations` is the string \"aut\"", "or \"auto\""],
    );
    refuses("[solver]", "20", "\"20\"", "\"20\"", &["expected a whole number"]);
    let weightless = ["gravity=[0, 0, 0]", "solver.iterations=auto"].map(str::to_owned);
    assert!(Scenario::parse("case.toml", GOOD, Path::new("nowhere"), &weightless).is_ok());
}

#[test]
fn a_step_longer_than_the_run_is_refused_with_both() {
    refuses(
        "[solver]",
        "5e-3",
        "1e7",
        "1e7",
        &["a step of 10000000 s", "the run of 1 s", "would do nothing"],
    );
    let whole = ["solver.time_step=1.0", "duration=1.0"].map(str::to_owned);
    assert!(Scenario::parse("case.toml", GOOD, Path::new(""), &whole).is_ok(), "one step is a run");
}

/// Reads the good file with overrides, such as another density or modulus of glass.
fn with_glass(overrides: &[&str]) -> Result<Scenario, Problems> {
    let overrides: Vec<String> = overrides.iter().map(|&change| change.to_owned()).collect();
    Scenario::parse("case.toml", GOOD, Path::new(""), &overrides)
}

#[test]
fn a_mass_or_stiffness_that_rounds_to_nothing_is_refused_with_the_number() {
    for (old, new, words) in [
        ("2500.0", "5e-324", ["has a mass of 0e0 kg", "no number in double precision"]),
        ("2500.0", "1e-302", ["kg and a moment of inertia of ", "no number in double precision"]),
        ("1e7", "1e-300", ["an effective modulus of 5.2", "a compliance Σ of "]),
    ] {
        refuses("[materials", old, new, new, &words);
    }
    // Chung and Ooi's eighth test scales masses by a thousand.
    for unusual in [
        "materials.glass.density=2.7e6",
        "materials.glass.density=1e-3",
        "materials.glass.youngs_modulus=1e16",
    ] {
        with_glass(&[unusual]).unwrap_or_else(|found| panic!("{unusual}: {found}"));
    }
}

#[test]
fn a_sphere_has_its_grains_outside() {
    let plane = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let ball = |side: &str| {
        format!("shape = {{ kind = \"sphere\", centre = [0, 0, -3], radius = 1, side = \"{side}\" }}")
    };
    refuses("[[boundaries]]", plane, &ball("inside"), "\"inside\"", &["a sphere is solid", "caps = true"]);
    let text = GOOD.replace(plane, &ball("outside"));
    Scenario::parse("case.toml", &text, Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
}

#[test]
fn a_grain_on_the_wrong_side_of_a_boundary_is_named_with_both() {
    let column = "{ kind = \"column\", count = 3, base = [0, 0, 0] }";
    let list = |height: f64| format!("{{ kind = \"list\", positions = [[0, 0, 0.5], [0.1, 0, {height}]] }}");
    let words =
        ["grain 1 of grains.0 at (0.1, 0, -0.5) m", "wrong side of boundary \"floor\"", "5.000e-1 m from"];
    refuses("packing", column, &list(-0.5), "{", &words);
    let allowed = |height: f64| format!("{}\nallow_overlap = true", list(height));
    refuses("packing", column, &allowed(-0.5), "{", &words);
    let sunken = GOOD.replace(column, &allowed(0.001));
    Scenario::parse("case.toml", &sunken, Path::new(""), &[]).expect("an overlap may be meant");

    let plane = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    for solid in [
        "kind = \"box\", min = [-1, -1, -1], max = [1, 1, 1], side = \"outside\"",
        "kind = \"cylinder\", base = [0, 0, -1], axis = [0, 0, 1], length = 2, radius = 1, side = \"outside\"",
        "kind = \"sphere\", centre = [0, 0, 0], radius = 1",
        "kind = \"box\", min = [2, 2, 2], max = [3, 3, 3], open = [\"+z\"]",
    ] {
        let text = GOOD.replace(plane, &format!("shape = {{ {solid} }}")).replace(column, &allowed(0.2));
        let found = problems(&text, &[]).to_string();
        assert!(found.contains("is on the wrong side of boundary \"floor\""), "{solid}: {found}");
    }
    // A hopper has grains below its outlet, and a tube others around it.
    let tube = "kind = \"cylinder\", base = [0, 0, 0], axis = [0, 0, 1], length = 2, radius = 0.05";
    let text = GOOD.replace(plane, &format!("shape = {{ {tube} }}")).replace(column, &allowed(-0.5));
    Scenario::parse("case.toml", &text, Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
}

/// Problems of the good file with these clumps, and with these lines in its block of grains.
fn of_clumps(clumps: &str, block: &str) -> String {
    let text = GOOD.replace(
        "[[grains]]\nmaterial = \"glass\"\n",
        &format!("[[grains]]\nmaterial = \"glass\"\n{block}\n"),
    );
    problems(&format!("{text}\n{clumps}"), &[]).to_string()
}

#[test]
fn wrong_clumps_are_named_with_what_is_wrong_with_them() {
    const PAIR: &str = "[clumps.pair]\nspheres = [{ position = [0, 0, 0], radius = 0.01 }, { position = [0.01, 0, 0], radius = 0.01 }]\n";
    for (clumps, block, words) in [
        (PAIR, "clump = \"pear\"", "which is not a clump (did you mean `pair`?)"),
        ("", "clump = \"pair\"", "add a table [clumps.pair]"),
        (PAIR, "turned = \"random\"", "is turned and names neither a clump nor a shape"),
        (PAIR, "clump = \"pair\"\nturned = \"upright\"", "expected \"random\", or { axis"),
        ("[clumps.none]\n", "", "has neither `spheres` nor `file`"),
        ("[clumps.none]\nspheres = []\n", "", "has 0 spheres"),
        ("[clumps.lost]\nfile = \"lost.csv\"\n", "", "lost.csv"),
        ("[clumps.one]\nspheres = [{ position = [0, 0, 0] }]\n", "", "missing key `radius`"),
        (&format!("{PAIR}mass = 1.0\n"), "", "has only one of `mass` and `moments`"),
        (
            &format!("{PAIR}mass = 1.0\nmoments = [1, 1, 3]\n"),
            "",
            "no body has the moments of inertia 1, 1 and 3",
        ),
    ] {
        let found = of_clumps(clumps, block);
        assert!(found.contains(words), "no \"{words}\" in\n{found}");
    }
}

/// A word of an earlier version is refused, and the message names the word of today.
#[test]
fn an_earlier_word_is_refused_with_that_of_today() {
    let changed = |from: &str, to: &str| problems(&GOOD.replacen(from, to, 1), &[]).to_string();
    let found = changed("iterations = 20", "iterations = 20\ncontact_margin = 0.1");
    assert!(found.contains("unknown key `contact_margin`") && found.contains("called `skin` now"), "{found}");
    let found = changed("kind = \"rotation\", rate = 0.5", "kind = \"free\"");
    assert!(found.contains("it is called \"dynamic\" now"), "{found}");
    let found = changed("height = { value = 0.06, tolerance = 0.001 }", "rest = { at_most = 3 }");
    assert!(found.contains("unknown quantity `rest`") && found.contains("called `overflow` now"), "{found}");
}
