//! Mistakes in dynamic bodies, joints, sliders and cells.

use super::*;

#[test]
fn what_cannot_be_free_says_what_can() {
    let plane = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let free = |shape: &str, motion: &str| {
        format!("shape = {{ {shape} }}\nmotion = {{ kind = \"dynamic\"{motion} }}")
    };
    let marked = "{ kind = \"dynamic\"";
    for shape in [
        "kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1]",
        "kind = \"box\", min = [0, 0, -2], max = [1, 1, -1]",
        "kind = \"cylinder\", base = [0, 0, -9], axis = [0, 0, 1], length = 1, radius = 1",
    ] {
        let words = ["its shape is not solid", "side = \"outside\""];
        refuses("[[boundaries]]", plane, &free(shape, ""), marked, &words);
    }
    let ball = "kind = \"sphere\", centre = [9, 9, -9], radius = 1";
    refuses("[[boundaries]]", plane, &free(ball, ", density = 0.0"), "0.0 }", &["a positive density"]);
    let light = ["has a mass of 2", "e-323 kg", "no engine can compute"];
    refuses("[[boundaries]]", plane, &free(ball, ", density = 5e-324"), marked, &light);
    refuses("[[boundaries]]", plane, &free(ball, ", locked_axes = [\"w\"]"), "\"w\"", &["\"w\"", "unknown"]);
}

/// Asserts that a bare file with these boundaries and joints has one mistake, whose message contains all of these words.
fn refuses_machine(boundaries: &str, joints: &str, words: &[&str]) {
    let head = "duration = 1.0\n[materials.steel]\ndensity = 7800.0\nyoungs_modulus = 1e8\npoisson_ratio = 0.3\n\
                restitution = 0.4\nfriction = 0.5\n";
    let found = problems(&format!("{head}{boundaries}{joints}"), &[]).to_string();
    assert_eq!(found.lines().count(), 2, "one mistake was made, but:\n{found}");
    for word in words {
        assert!(found.contains(word), "no \"{word}\" in\n{found}");
    }
}

/// A box of half edges of 0.1 m around this place, on which joints are to act.
fn bar(name: &str, [x, y, z]: [f64; 3], more: &str) -> String {
    let corner = |end: f64| format!("[{}, {}, {}]", x + end, y + end, z + end);
    let (min, max) = (corner(-0.1), corner(0.1));
    format!(
        "[[boundaries]]\nname = \"{name}\"\nmaterial = \"steel\"\n\
         shape = {{ kind = \"box\", min = {min}, max = {max}, side = \"outside\" }}\n{more}\n"
    )
}

#[test]
fn a_joint_that_is_wrong_says_what_it_needs() {
    let dynamic = "motion = { kind = \"dynamic\" }";
    let bodies = bar("arm", [0.0; 3], dynamic)
        + &bar("leg", [1.0, 0.0, 0.0], dynamic)
        + &bar("post", [2.0, 0.0, 0.0], "")
        + &bar("wall", [3.0, 0.0, 0.0], "");
    let refuses =
        |joint: &str, words: &[&str]| refuses_machine(&bodies, &format!("[[joints]]\n{joint}\n"), words);
    let hinge = |bodies: &str, more: &str| {
        format!("kind = \"hinge\"\nbodies = {bodies}\npoint = [0, 0, 0]\naxis = [0, 1, 0]\n{more}")
    };
    let pair = "[\"arm\", \"leg\"]";
    refuses(&hinge("[\"arm\", \"lag\"]", ""), &["there is no boundary \"lag\"", "did you mean `leg`?"]);
    refuses(&hinge("[\"arm\"]", ""), &["must be two names of boundaries", "\"ground\""]);
    refuses(&hinge("[\"arm\", \"arm\"]", ""), &["joins \"arm\" to itself"]);
    refuses(&hinge("[\"post\", \"wall\"]", ""), &["neither \"post\" nor \"wall\" is dynamic"]);
    refuses(&hinge("[\"ground\", \"post\"]", ""), &["neither \"ground\" nor \"post\" is dynamic"]);
    refuses(&hinge(pair, "range_deg = [10, 40]"), &["stands at 0° at the start", "10 to 40"]);
    refuses(&hinge(pair, "range_deg = [40, 10]"), &["a lower and a higher end"]);
    refuses(
        &hinge(pair, "range_deg = [-40, 10]\nrestitution = 1.5"),
        &["restitution", "a number from 0 to 1"],
    );
    refuses(&hinge(pair, "restitution = 0.5"), &["a restitution and no range", "`range_deg = [...]`"]);
    refuses(&hinge(pair, "range = [0, 1]"), &["unknown key `range`", "`range_deg`"]);
    refuses(&hinge(pair, "drive = { force = 1 }"), &["one of `torque`, `velocity` and `position_deg`"]);
    refuses(&hinge(pair, "drive = { torque = 1, torque_limit = 2 }"), &["unknown key `torque_limit`"]);
    refuses("kind = \"weld\"\nbodies = [\"arm\", \"leg\"]", &["\"weld\"", "actuator"]);
    let press = format!(
        "kind = \"actuator\"\nbodies = {pair}\npoints = [[0, 0, 0], [1, 0, 0]]\ndrive = {{ pressure = 1.0 }}\n"
    );
    refuses(&press, &["missing key `area`"]);
    refuses(&format!("{press}area = {{ between = [] }}"), &["`joints.0.area` is a table"]);
    refuses(&hinge(pair, "area = 1.0"), &["unknown key `area`"]);
    let apart = format!("kind = \"ball\"\nbodies = {pair}\npoints = [[0, 0, 0], [0.2, 0, 0]]");
    refuses(&apart, &["lie 2.000e-1 m apart", "starts where it belongs"]);
    let cross = |axes: &str| format!("kind = \"universal\"\nbodies = {pair}\npoint = [0, 0, 0]\n{axes}");
    refuses(&cross(""), &["missing key `axes`"]);
    refuses(&cross("axis = [0, 1, 0]"), &["unknown key `axis`", "did you mean `axes`"]);
    refuses(&cross("axes = [[0, 1, 0], [0, 1, 1]]"), &["two axes that are perpendicular", "[0, 1, 0]]"]);
    refuses(&cross("axes = [[0, 1, 0]]"), &["two axes that are perpendicular"]);
    let pipe = format!(
        "kind = \"cylindrical\"\nbodies = {pair}\npoint = [0, 0, 0]\naxis = [0, 1, 0]\nrange = [0.1, 1]"
    );
    refuses(&pipe, &["stands at 0 m at the start", "0.1 to 1 m"]);
    let nowhere = format!("kind = \"actuator\"\nbodies = {pair}\npoints = [[1, 0, 0], [1, 0, 0]]");
    refuses(&nowhere, &["coincide", "line between"]);
}

#[test]
fn two_motors_on_one_axis_and_one_in_a_loop_that_cannot_move_are_told() {
    let dynamic = "motion = { kind = \"dynamic\" }";
    let hinge = |name: &str, bodies: &str, point: &str, axis: &str, drive: &str| {
        format!(
            "[[joints]]\nname = \"{name}\"\nkind = \"hinge\"\nbodies = {bodies}\npoint = {point}\naxis = {axis}\n{drive}\n"
        )
    };
    let motor = "drive = { velocity = 1.0, torque_limit = 10.0 }";
    let arm = bar("arm", [0.0; 3], dynamic);
    let ground = "[\"ground\", \"arm\"]";
    let both = hinge("one", ground, "[0, 0, 0]", "[0, 1, 0]", motor)
        + &hinge("other", ground, "[0, 0.5, 0]", "[0, 1, 0]", motor);
    refuses_machine(&arm, &both, &["the drive of \"other\" cannot move it", "two drives on one axis"]);
    let rigid = hinge("one", ground, "[0, 0, 0]", "[0, 1, 0]", motor)
        + &hinge("other", ground, "[1, 0, 0]", "[0, 1, 0]", "");
    refuses_machine(&arm, &rigid, &["the drive of \"one\" cannot move it", "a loop of joints that is rigid"]);
}

#[test]
fn a_body_that_is_put_together_wrong_says_what_it_needs() {
    let body = |shapes: &str, motion: &str| {
        // Something to simulate, whatever happens to the body.
        bar("other", [9.0; 3], "motion = { kind = \"dynamic\" }")
            + &format!(
                "[[boundaries]]\nname = \"body\"\nmaterial = \"steel\"\n{shapes}\nmotion = {{ kind = \"dynamic\"{motion} }}\n"
            )
    };
    let ball = "{ kind = \"sphere\", centre = [0, 0, 0], radius = 0.1 }";
    let refuses =
        |shapes: &str, motion: &str, words: &[&str]| refuses_machine(&body(shapes, motion), "", words);
    refuses("shapes = []", "", &["is dynamic and has no shape", "`inertia`"]);
    let plane = "{ kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    refuses(&format!("shapes = [{ball}, {plane}]"), "", &["its shape is not solid"]);
    refuses(&format!("shapes = [{ball}]\nshape = {ball}"), "", &["has `shape` and `shapes`"]);
    refuses(&format!("shape = {ball}"), ", mass = 1, inertia = [1, 1, 3]", &["which no body has"]);
    // Moments that a body may have, and products with which it would have none about some axis between x and y.
    refuses(
        &format!("shape = {ball}"),
        ", mass = 1, inertia = [1, 1, 1], products_of_inertia = [1.5, 0, 0]",
        &["which no body has", "principal axes", "elements xy, xz and yz"],
    );
    refuses(&format!("shape = {ball}"), ", products_of_inertia = [0, 0, 0.1]", &["and no `inertia`"]);
    refuses(&format!("shape = {ball}"), ", inertia = [1, 1, 1]", &["missing key `mass`"]);
    refuses(&format!("shape = {ball}"), ", centre_of_mass = [1, 1, 1]", &["and no `inertia`"]);
    let point = "{ kind = \"capsule\", from = [0, 0, 0], to = [0, 0, 0], radius = 0.1 }";
    refuses(&format!("shape = {point}"), "", &["the ends of capsule", "coincide"]);
    let slider = bar("other", [9.0; 3], "motion = { kind = \"dynamic\" }")
        + "[[boundaries]]\nname = \"lid\"\nmaterial = \"steel\"\nshapes = []\nmotion = { kind = \"slider\", mass = 1, axis = [0, 0, 1] }\n";
    refuses_machine(&slider, "", &["neither a plane nor a solid box or sphere"]);
}

#[test]
fn a_slider_that_is_wrong_says_what_it_needs() {
    let plane = "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let slider = |rest: &str| format!("{plane}\nmotion = {{ kind = \"slider\", {rest} }}");
    let refuses = |rest: &str, marked: &str, words: &[&str]| {
        refuses("[[boundaries]]", plane, &slider(rest), marked, words);
    };
    let table = "{ kind = \"slider\"";
    refuses("axis = [0, 0, 1]", table, &["missing key `mass`"]);
    refuses("mass = 0", "0 }", &["a positive mass in kg"]);
    refuses("mass = 1, axis = [1, 0, 1]", table, &["expected x, y or z"]);
    refuses("mass = 1, weight = 2", "weight", &["unknown key `weight`"]);
    refuses(
        "mass = 1, drive = {}",
        "{}",
        &["must have one of `force`, `pressure`, `velocity` and `position`"],
    );
    let both = "{ force = 1, velocity = 2 }";
    refuses(
        &format!("mass = 1, drive = {both}"),
        both,
        &["must have one of `force`, `pressure`, `velocity` and `position`"],
    );
    refuses(
        "mass = 1, drive = { force = 1, force_limit = 2 }",
        "force_limit",
        &["unknown key `force_limit`"],
    );
    refuses("mass = 1, drive = { velocity = 1, force_limit = 0 }", "0 } }", &["a positive number"]);
    let twice = "[{ force = 1 }, { force = 2 }]";
    refuses(&format!("mass = 1, drive = {twice}"), twice, &["do not ascend"]);
    let course = "{ times = [0, 1], values = [1] }";
    refuses(&format!("mass = 1, drive = {{ force = {course} }}"), course, &["has 2 times and 1 values"]);
    refuses("mass = 1, drive = { pressure = 1 }", table, &["missing key `area`"]);
    refuses("mass = 1, area = 0", "0 }", &["a positive area in m²"]);
    let pressed =
        |between: &str| format!("mass = 1, drive = {{ pressure = 1 }}, area = {{ between = {between} }}");
    let round = "[\"floor\", \"drum\"]";
    refuses(&pressed(&format!("[{round}]")), round, &["two planes that face each other along x, y or z"]);
    let sliding = |shape: &str| {
        GOOD.replacen(
            plane,
            &format!("shape = {{ {shape} }}\nmotion = {table}, mass = 1, axis = [0, 0, 1] }}"),
            1,
        )
    };
    let found = problems(&sliding("kind = \"box\", min = [0, 0, -2], max = [1, 1, -1]"), &[]).to_string();
    assert!(found.contains("neither a plane nor a solid box or sphere"), "{found}");
}

/// The good file with three pairs of walls and the quantities observed of them.
fn with_walls(cell: &str) -> String {
    let wall = |name: &str, point: &str, normal: &str| {
        format!(
            "[[boundaries]]\nname = \"{name}\"\nmaterial = \"glass\"\n\
             shape = {{ kind = \"plane\", point = {point}, normal = {normal} }}\n"
        )
    };
    let walls = [
        wall("left", "[-99, 0, 0]", "[1, 0, 0]"),
        wall("right", "[99, 0, 0]", "[-1, 0, 0]"),
        wall("front", "[0, -99, 0]", "[0, 1, 0]"),
        wall("back", "[0, 99, 0]", "[0, -1, 0]"),
        wall("bottom", "[0, 0, -99]", "[0, 0, 1]"),
        wall("top", "[0, 0, 99]", "[0, 0, -1]"),
    ];
    format!("{GOOD}\n{}\n[observe.cell]\n{cell}\n", walls.concat())
}

#[test]
fn a_cell_needs_three_pairs_of_walls_that_face_each_other() {
    let cell = |x: &str, more: &str| {
        with_walls(&format!("x = {x}\ny = [\"front\", \"back\"]\nz = [\"bottom\", \"top\"]\n{more}"))
    };
    let walls = "[\"left\", \"right\"]";
    let good = cell(walls, "axial = \"x\"");
    let scenario =
        Scenario::parse("case", &good, Path::new(""), &[]).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(scenario.cell.map(|cell| cell.axial), Some(0));
    for (text, words) in [
        (cell("[\"left\", \"left\"]", ""), "two planes that face each other"),
        (cell("[\"left\", \"drum\"]", ""), "two planes that face each other"),
        (cell("[\"front\", \"back\"]", ""), "`observe.cell.x` are walls along y"),
        (cell("[\"left\", \"rigt\"]", ""), "there is no boundary \"rigt\""),
        (cell(walls, "axial = \"w\""), "\"w\", which is unknown"),
        (cell(walls, "from = 1"), "unknown key `from`"),
        (GOOD.replace("height = {", "stress_x = {"), "`stress_x` needs a cell"),
        (GOOD.replace("force_z:floor", "drive_force:floor"), "there is no joint \"floor\""),
    ] {
        let found = problems(&text, &[]).to_string();
        assert!(found.contains(words), "no \"{words}\" in\n{found}");
    }
}
