//! Errors of what goes in: sizes of grains, and how much of them.

use super::refuses;

/// Size of the grains of the good file.
const SIZE: &str = "radius = { kind = \"constant\", value = 0.01 }";
/// Their packing.
const COLUMN: &str = "{ kind = \"column\", count = 3, base = [0, 0, 0] }";

/// Asserts that grains of this size are refused at `marked` within it, with these words.
fn refuses_size(size: &str, marked: &str, words: &[&str]) {
    refuses("[[grains]]", SIZE, size, marked, words);
}

/// As [`refuses_size`], for the keys of a sieve curve.
fn refuses_sieve(keys: &str, marked: &str, words: &[&str]) {
    refuses_size(&format!("radius = {{ kind = \"sieve\", {keys} }}"), marked, words);
}

#[test]
fn a_sieve_curve_rises_from_nothing_to_all_or_says_what_is_left_out() {
    refuses_sieve("sizes = [0.01], passing = [1]", "{", &["has 1 sizes and 1 fractions", "at least two"]);
    refuses_sieve("sizes = [0.01, 0.02], passing = [0, 0.5, 1]", "{", &["2 sizes and 3 fractions"]);
    refuses_sieve(
        "sizes = [0.02, 0.01], passing = [0, 1]",
        "{",
        &["0.02 m is followed by 0.01 m", "finest sieve first"],
    );
    refuses_sieve(
        "sizes = [0.01, 0.02, 0.03], passing = [0, 0.6, 0.4]",
        "{",
        &["falls from 0.6 to 0.4", "cumulative"],
    );
    refuses_sieve(
        "sizes = [0.01, 0.02], passing = [0, 100]",
        "100",
        &["is 100, expected a fraction from 0 to 1"],
    );
    refuses_sieve(
        "sizes = [0.01, 0.02], passing = [0.1, 1]",
        "{",
        &["0.1 of `grains.0.radius` passes the finest sieve", "min = 0.01"],
    );
    refuses_sieve(
        "sizes = [0.01, 0.02], passing = [0, 0.75]",
        "{",
        &["0.25 of `grains.0.radius` stays on the coarsest sieve", "max = 0.02"],
    );
    refuses_sieve("sizes = [0.01, 0.02], passing = [0, 1], min = 0.005", "{", &["beyond its sieves"]);
    refuses_sieve(
        "sizes = [0.01, 0.02], passing = [0, 1], by = \"volume\"",
        "\"volume\"",
        &["known: `number`, `mass`"],
    );
}

#[test]
fn sizes_are_stated_once_and_by_laws_that_leave_grains() {
    let both = format!("{SIZE}\ndiameter = {{ kind = \"constant\", value = 0.02 }}");
    refuses("[[grains]]", SIZE, &both, "", &["has a radius and a diameter", "leave out one"]);
    refuses_size(
        "diameter = { kind = \"constant\", value = 3e6 }",
        "3e6",
        &["expected a positive diameter in metres (2e-7 to 2e6)"],
    );
    refuses_size(
        "diameter = { kind = \"rosin_rammler\", size = 0.02, exponent = 1.2 }",
        "{",
        &["missing key `min`"],
    );
    refuses_size(
        "radius = { kind = \"weibull\", scale = 0.001, shape = 3, min = 0.01, max = 0.02 }",
        "{",
        &["a fraction of", "of its grains between 0.01 m and 0.02 m", "move the bounds"],
    );
    refuses_size("radius = { kind = \"weibul\", scale = 1 }", "\"weibul\"", &["did you mean `weibull`?"]);
}

#[test]
fn a_dense_packing_that_cannot_be_tells_the_porosity_that_was_reached() {
    let dense = |keys: &str| format!("{{ kind = \"dense\", {keys} }}");
    let region = "region = { kind = \"box\", min = [0, 0, 1], max = [0.1, 0.1, 1.1] }";
    let refuses = |keys: &str, marked: &str, words: &[&str]| {
        refuses("packing", COLUMN, &dense(keys), marked, words);
    };
    refuses(
        &format!("porosity = 0.2, {region}"),
        "{",
        &["grains reach a porosity of 0.", "one of 0.2", "equal spheres end near 0.37"],
    );
    refuses(
        "porosity = 0.4, region = { kind = \"sphere\", centre = [0, 0, 1], radius = 0.1 }",
        "\"sphere\"",
        &["box"],
    );
    refuses(
        "count = 1, region = { kind = \"box\", min = [0, 0, 1], max = [0.1, 0.01, 1.1] }",
        "{",
        &["radius 0.01 m is wider than the box"],
    );
    refuses(&format!("count = 1, overlap = 0.5, {region}"), "0.5", &["from 1e-6 to 0.01"]);
}

#[test]
fn how_much_comes_is_said_in_one_way_and_can_come() {
    let random = |amount: &str| {
        format!(
            "{{ kind = \"random\", {amount}region = {{ kind = \"sphere\", centre = [0, 0, 1], radius = 0.2 }} }}"
        )
    };
    let refuses = |amount: &str, marked: &str, words: &[&str]| {
        refuses("packing", COLUMN, &random(amount), marked, words);
    };
    refuses("", "{", &["how much comes by nothing", "count, mass [kg], solid_fraction, porosity"]);
    refuses("mass = 1, porosity = 0.8, ", "{", &["by mass and porosity"]);
    refuses("fill = 0.2, solid_fraction = 0.2, ", "{", &["by solid_fraction and fill"]);
    refuses("mass = 1e-9, ", "{", &["would hold 0e0 grains"]);
    refuses("porosity = 0.3, ", "0.3", &["expected a porosity of at least 0.5 and below 1"]);
    super::refuses(
        "[[emitters]]",
        "rate = 10.0",
        "total = 10\ntotal_mass = 1.0",
        "",
        &["has a `total` and a `total_mass`"],
    );
    super::refuses(
        "[[emitters]]",
        "rate = 10.0",
        "total_mass = 1e-6",
        "",
        &["emits no grain", "raise `total_mass`"],
    );
    super::refuses(
        "[[emitters]]",
        "rate = 10.0",
        "total_mass = -1",
        "-1",
        &["expected a positive mass in kg"],
    );
}
