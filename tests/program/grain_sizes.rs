//! What goes in: sizes by number or by mass as the file states them, and as many kilograms as it asks for.

use std::path::Path;

use esker::model::World;
use esker::scenario::Scenario;
use esker::simulation::Simulation;

use crate::common::cpu;

const STONE: &str = r#"
duration = 0.3
gravity = [0, 0, 0]
[solver]
time_step = 1e-2
iterations = 2
[materials.stone]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.0
friction = 0.5
[materials.lead]
density = 11000.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.0
friction = 0.5
"#;

fn scenario(text: &str) -> Scenario {
    let text = format!("{STONE}{text}");
    Scenario::parse("test", &text, Path::new("."), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"))
}

/// Radius \[m\] and mass \[kg\] of every grain.
fn weighed(world: &World) -> Vec<(f64, f64)> {
    (0..world.grain_count()).map(|grain| (world.grain_radius(grain), world.grain_mass(grain))).collect()
}

/// Grains of a lattice of 8 000 sites whose sizes are stated so.
fn lattice(size: &str, head: &str) -> Vec<(f64, f64)> {
    let counts = if head.is_empty() { "[20, 20, 20]" } else { "[100, 1, 80]" };
    let text = format!(
        "[[grains]]\nmaterial = \"stone\"\n{size}\npacking = {{ kind = \"lattice\", corner = [0, 0, 0], counts = {counts} }}\n"
    );
    let text = format!("{head}{STONE}{text}");
    let found =
        Scenario::parse("test", &text, Path::new("."), &[]).unwrap_or_else(|found| panic!("{found}\n{text}"));
    weighed(&found.world)
}

/// Largest distance between the mass below a radius and a law, and the distance that chance allows it.
///
/// Of N independent grains of masses m the mass below a radius has a standard deviation of at most ½ √(Σ m²) / Σ m, that of N' equal
/// grains with N' = (Σ m)² / Σ m². By the inequality of Dvoretzky, Kiefer and Wolfowitz the largest distance exceeds 2 / √N' with a
/// probability of 2 exp(-8) < 0.1 %; grains whose numbers are dealt out by classes stay closer.
fn distance(grains: &[(f64, f64)], law: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let mut sorted = grains.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = sorted.iter().map(|grain| grain.1).sum();
    let squares: f64 = sorted.iter().map(|grain| grain.1 * grain.1).sum();
    let (mut below, mut farthest) = (0.0, 0.0f64);
    for (radius, mass) in sorted {
        let expected = law(radius);
        farthest = farthest.max((expected - below / all).abs());
        below += mass;
        farthest = farthest.max((expected - below / all).abs());
    }
    (farthest, 2.0 * squares.sqrt() / all)
}

/// Normal distribution below x, by Simpson's rule on its density.
fn normal(x: f64) -> f64 {
    let (low, parts) = (-8.0, 200);
    let step = (x - low) / f64::from(parts);
    let density = |x: f64| (-0.5 * x * x).exp() / std::f64::consts::TAU.sqrt();
    let weight = |i: i32| match i {
        0 => 1.0,
        i if i == parts => 1.0,
        i => f64::from(2 + 2 * (i % 2)),
    };
    (0..=parts).map(|i| weight(i) * density(low + f64::from(i) * step)).sum::<f64>() * step / 3.0
}

/// A law cut off at two radii.
fn cut(law: impl Fn(f64) -> f64, min: f64, max: f64) -> impl Fn(f64) -> f64 {
    let ends = [law(min), law(max)];
    move |radius| ((law(radius) - ends[0]) / (ends[1] - ends[0])).clamp(0.0, 1.0)
}

/// Fraction below a radius.
type Law = Box<dyn Fn(f64) -> f64>;

/// Distributions in the words of a file, with their laws by the radius in mm.
fn laws() -> Vec<(&'static str, Law)> {
    let moments = |mean: f64, deviation: f64| {
        let variance = (1.0 + (deviation / mean).powi(2)).ln();
        (mean.ln() - 0.5 * variance, variance.sqrt())
    };
    let (location, scale) = moments(2.0, 1.0);
    let sieve = |radius: f64| match 2.0 * radius {
        d if d < 2.0 => 0.2 * (d - 1.0),
        d if d < 4.0 => 0.2 + 0.3 * (d - 2.0),
        d => 0.8 + 0.05 * (d - 4.0),
    };
    let logarithmic = |radius: f64| match radius {
        r if r < 2.0 => 0.5 * r.log2(),
        r => 0.5 + 0.5 * (r / 2.0).ln() / 3f64.ln(),
    };
    vec![
        (
            "diameter = { kind = \"sieve\", sizes = [1e-3, 2e-3, 4e-3, 8e-3], passing = [0, 0.2, 0.8, 1] ",
            Box::new(sieve),
        ),
        (
            "radius = { kind = \"sieve\", sizes = [1e-3, 2e-3, 6e-3], passing = [0, 0.5, 1], between = \"logarithmic\" ",
            Box::new(logarithmic),
        ),
        (
            "diameter = { kind = \"rosin_rammler\", size = 4e-3, exponent = 1.5, min = 1e-3, max = 10e-3 ",
            Box::new(cut(|radius| 1.0 - (-(radius / 2.0).powf(1.5)).exp(), 0.5, 5.0)),
        ),
        (
            "radius = { kind = \"weibull\", scale = 2e-3, shape = 3, min = 0.5e-3, max = 3e-3, by = \"mass\" ",
            Box::new(cut(|radius| 1.0 - (-(radius / 2.0).powi(3)).exp(), 0.5, 3.0)),
        ),
        (
            "radius = { kind = \"normal\", mean = 2e-3, deviation = 0.5e-3, by = \"mass\" ",
            Box::new(cut(|radius| normal((radius - 2.0) / 0.5), 0.5, 3.5)),
        ),
        (
            "radius = { kind = \"log_normal\", mean = 2e-3, deviation = 1e-3, min = 0.6e-3, max = 4e-3, by = \"mass\" ",
            Box::new(cut(move |radius| normal((radius.ln() - location) / scale), 0.6, 4.0)),
        ),
        (
            "radius = { kind = \"uniform\", min = 1e-3, max = 3e-3, by = \"mass\" ",
            Box::new(|radius| 0.5 * (radius - 1.0)),
        ),
    ]
}

#[test]
fn grains_have_the_mass_curve_that_the_file_states_in_space_and_in_a_plane_and_not_that_by_number() {
    for (words, law) in laws() {
        let law = |radius: f64| law(1e3 * radius);
        for head in ["", "plane = \"xz\"\n"] {
            let (found, bound) = distance(&lattice(&format!("{words}}}"), head), &law);
            assert!(found < bound, "{head}{words}: {found:.4} from the law, at most {bound:.4}");
        }
        let by_number = format!("{}, by = \"number\" }}", words.replace(", by = \"mass\"", ""));
        let (found, bound) = distance(&lattice(&by_number, ""), &law);
        assert!(found > 5.0 * bound, "{by_number}: {found:.4}, which is to be seen beside {bound:.4}");
        // By number the numbers of the grains follow the law.
        let alike: Vec<_> = lattice(&by_number, "").into_iter().map(|(radius, _)| (radius, 1.0)).collect();
        let (found, bound) = distance(&alike, &law);
        assert!(found < bound, "{by_number}: {found:.4} from the law, at most {bound:.4}");
    }
}

#[test]
fn shares_of_a_mixture_by_mass_are_those_of_its_mass() {
    let grains = lattice(
        "diameter = { kind = \"mixture\", diameters = [2e-3, 4e-3], shares = [0.4, 0.6], by = \"mass\" }",
        "",
    );
    let mass =
        |radius: f64| -> f64 { grains.iter().filter(|grain| grain.0 == radius).map(|grain| grain.1).sum() };
    let share = mass(1e-3) / (mass(1e-3) + mass(2e-3));
    // Numbers are whole: a coarse grain is 8 of 8 000 · 8 / (0.4 · 8 + 0.6) fine ones.
    assert!((share - 0.4).abs() < 1e-3, "{share}");
}

/// Total mass of the grains of a world, and the largest of them \[kg\].
fn total(world: &World) -> (f64, f64) {
    weighed(world).into_iter().fold((0.0, 0.0), |(sum, most), (_, mass)| (sum + mass, mass.max(most)))
}

/// Deepest overlap of all pairs of grains, over the smaller radius \[-\].
fn deepest(world: &World) -> f64 {
    let balls = world.present_spheres();
    let pairs = (0..balls.len()).flat_map(|a| (0..a).map(move |b| [a, b]));
    let overlap = |[a, b]: [usize; 2]| {
        let ((one, r), (other, s)) = (balls[a], balls[b]);
        (r + s - world.separation(one, other).length()) / r.min(s)
    };
    pairs.map(overlap).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn a_dense_packing_has_its_porosity_its_sizes_and_hardly_an_overlap() {
    let dense = |head: &str, size: &str, amount: &str| {
        let text = format!(
            "{head}{STONE}[[grains]]\nmaterial = \"stone\"\n{size}\npacking = {{ kind = \"dense\", {amount}, {REGION} }}\n"
        );
        Scenario::parse("test", &text, Path::new("."), &[])
    };
    let periodic = "periodic = { x = [0, 0.2], y = [0, 0.2], z = [0, 0.2] }\n";
    let fine = "radius = { kind = \"uniform\", min = 0.015, max = 0.03, by = \"mass\" }";
    for (head, amount, solid) in
        [(periodic, "porosity = 0.42", 0.58), ("", "solid_fraction = 0.45", 0.45), ("", "mass = 8.0", 0.4)]
    {
        let scenario = dense(head, fine, amount).unwrap_or_else(|found| panic!("{found}"));
        let (mass, largest) = total(&scenario.world);
        let apart = (mass - solid * 0.008 * 2500.0).abs();
        assert!(apart <= 0.5 * largest, "{amount}: {mass} kg");
        let overlap = deepest(&scenario.world);
        assert!((0.0..=1e-3).contains(&overlap), "{amount}: overlaps of {overlap:e} of a radius");
    }
    // Packing many more takes minutes in which nothing is said.
    let refused = dense(periodic, "radius = { kind = \"constant\", value = 0.001 }", "porosity = 0.42")
        .expect_err("a million grains");
    let line = refused.list()[0].line();
    assert!(line.contains("grains are to be packed densely, at most 50000 are possible"), "{line}");
    // Random addition has no room for so many.
    let text = format!(
        "[[grains]]\nmaterial = \"stone\"\n{fine}\npacking = {{ kind = \"random\", porosity = 0.5, {REGION} }}\n"
    );
    assert!(Scenario::parse("test", &format!("{periodic}{STONE}{text}"), Path::new("."), &[]).is_err());
}

/// Distributions of which kilograms are asked for.
const SIZES: [&str; 5] = [
    "radius = { kind = \"constant\", value = 0.004 }",
    "radius = { kind = \"uniform\", min = 0.002, max = 0.006 }",
    "diameter = { kind = \"rosin_rammler\", size = 0.008, exponent = 2, min = 0.004, max = 0.016 }",
    "radius = { kind = \"mixture\", radii = [0.002, 0.007], shares = [0.8, 0.2] }",
    "radius = { kind = \"log_normal\", mean = 0.004, deviation = 0.001 }",
];

const REGION: &str = "region = { kind = \"box\", min = [0, 0, 0], max = [0.2, 0.2, 0.2] }";

#[test]
fn a_packing_weighs_what_it_is_to_weigh_to_within_half_a_grain() {
    for size in SIZES {
        let packed = |materials: &str, amount: &str| {
            let text = format!(
                "[[grains]]\nmaterial = {materials}\n{size}\npacking = {{ kind = \"random\", {amount}, {REGION} }}\n"
            );
            total(&scenario(&text).world)
        };
        for (amount, expected) in [
            ("mass = 2.0", 2.0),
            ("solid_fraction = 0.1", 0.1 * 0.008 * 2500.0),
            ("porosity = 0.9", 0.1 * 0.008 * 2500.0),
        ] {
            let (mass, largest) = packed("\"stone\"", amount);
            let apart = (mass - expected).abs();
            assert!(apart <= 0.5 * largest, "{size}, {amount}: {mass} kg, expected {expected} kg");
        }
        // Dealt to two materials in turn, the largest first: the sums of both differ by one grain at most.
        let (mass, largest) = packed("[\"stone\", \"lead\"]", "mass = 4.0");
        assert!((mass - 4.0).abs() <= largest, "{size}: {mass} kg of two materials");
    }
}

/// Radii are drawn one by one there, so the number is that of the mean volume, (4π/3) (b⁴ - a⁴) / (4 (b - a)) of radii from a to b.
#[test]
fn fill_gives_the_number_of_grains_that_have_the_solid_fraction_on_the_mean() {
    let text = format!(
        "[[grains]]\nmaterial = \"stone\"\n{}\npacking = {{ kind = \"random\", fill = 0.1, {REGION} }}\n",
        SIZES[1]
    );
    let (a, b) = (0.002f64, 0.006f64);
    let mean = std::f64::consts::PI / 3.0 * (b.powi(4) - a.powi(4)) / (b - a);
    assert_eq!(scenario(&text).max_grains(), (0.1 * 0.008 / mean).round() as usize);
}

#[test]
fn the_mass_of_clumps_counts_and_not_that_of_their_spheres() {
    let text = format!(
        "[clumps.pair]\nspheres = [{{ position = [0, 0, 0], radius = 0.004 }}, {{ position = [0.004, 0, 0], radius = 0.004 }}]\n\
         [[grains]]\nmaterial = \"stone\"\nclump = \"pair\"\npacking = {{ kind = \"random\", mass = 0.5, {REGION} }}\n"
    );
    let (mass, largest) = total(&scenario(&text).world);
    assert!((mass - 0.5).abs() <= 0.5 * largest, "{mass} kg");
    let sphere = 2500.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.004f64.powi(3);
    assert!(largest < 1.9 * sphere, "the spheres of a clump have a part in common");
}

#[test]
fn an_emitter_of_a_total_mass_brings_it_to_within_half_a_grain_and_at_its_rate() {
    for size in SIZES {
        for pace in ["", "mass_rate = 10.0\nevery = 0.01\n"] {
            let text =
                format!("[[emitters]]\nmaterial = \"stone\"\n{size}\n{REGION}\ntotal_mass = 1.5\n{pace}");
            let scenario = scenario(&text);
            let engine = Box::new(cpu(&scenario.world, &scenario.settings));
            let mut simulation = Simulation::on(&scenario, engine).expect("a simulation");
            simulation.step(8).expect("steps");
            let (early, _) = total(&simulation.state().expect("a state").world);
            let (due, slack) = if pace.is_empty() { (1.5, 0.01) } else { (0.8, 0.1) };
            assert!((early - due).abs() < slack, "{size} {pace}: {early} kg after 0.08 s");
            simulation.step(22).expect("steps");
            let (mass, largest) = total(&simulation.state().expect("a state").world);
            assert!((mass - 1.5).abs() <= 0.5 * largest, "{size} {pace}: {mass} kg");
        }
    }
}
