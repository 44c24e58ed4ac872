//! Tests of the reader of `[expect]`.

use std::path::Path;

use super::{BASIS, GRAIN, with};
use crate::observe::Expectation;
use crate::observe::bounds::Bounds;
use crate::observe::take::Take;
use crate::scenario::Scenario;

/// The only expectation of a file with a grain and a floor, which is observed with the grain.
fn expectation(words: &str) -> Expectation {
    let observe = "[observe]\ngrains = [0]\nboundaries = [\"floor\"]\ncontacts = [[0, \"floor\"]]";
    let floor = "[[boundaries]]\nname = \"floor\"\nmaterial = \"glass\"\nshape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }";
    let scenario = with(&format!("{GRAIN}{floor}\n{observe}\n[expect]\n{words}\n"));
    let again = Scenario::parse("again", &scenario.resolved, Path::new("/nowhere"), &[])
        .unwrap_or_else(|problems| panic!("{problems}\n{}", scenario.resolved));
    assert_eq!(again.expectations, scenario.expectations, "{words}\n{}", scenario.resolved);
    scenario.expectations[0].clone()
}

#[test]
fn the_way_of_taking_follows_from_what_is_given() {
    let take = |words: &str| expectation(&format!("height = {{ {words} }}")).take;
    assert_eq!(take("at_least = 0"), Take::Final);
    assert_eq!(take("at_least = 0, from = 0.5"), Take::Mean);
    assert_eq!(take("at_least = 0, at = 0.5"), Take::At(0.5));
    assert_eq!(take("at_least = 0, take = \"rate\", from = 0.5"), Take::Rate);
    assert_eq!(take("at_least = 0, take = \"mean\""), Take::Mean);
    let settled = take("at_most = 1, take = \"settled_after\", within = 0.1");
    assert_eq!(settled, Take::SettledAfter { value: 0.0, within: 0.1 });
}

#[test]
fn a_tolerance_may_be_a_share_and_single_precision_may_have_its_own() {
    let tolerance = |words: &str| {
        let bounds = expectation(&format!("height = {{ value = -4.0, {words} }}")).bounds;
        bounds.tolerance.map(|tolerance| (tolerance.double, tolerance.single))
    };
    assert_eq!(tolerance("tolerance = 0.5"), Some((0.5, 0.5)));
    assert_eq!(tolerance("tolerance_share = 0.5"), Some((2.0, 2.0)));
    assert_eq!(tolerance("tolerance = 0.5, single_share = 0.25"), Some((0.5, 1.0)));
    assert_eq!(tolerance("tolerance_share = 0.5, single = 3"), Some((2.0, 3.0)));
    assert_eq!(tolerance("shown_only = true"), None);
}

#[test]
fn steps_against_a_direction_are_judged_by_the_slack_and_deviations_by_the_tolerance() {
    let rises = expectation("up = { of = \"height\", take = \"rises\", slack = 0.1 }");
    assert_eq!((rises.label.as_str(), rises.quantity.as_str()), ("up", "height"));
    assert_eq!(rises.bounds, Bounds { at_most: Some(0.1), ..Bounds::default() });
    let minima = expectation("height = { take = \"times_of_minima\", values = [0.5, 1], tolerance = 0.01 }");
    assert_eq!(minima.take, Take::TimesOfMinima(vec![0.5, 1.0]));
    assert_eq!(minima.bounds.value, Some(0.0));
}

#[test]
fn what_is_tracked_can_be_expected() {
    let ratio = expectation(
        "mu = { of = \"friction_force:0-floor\", over = \"normal_force:0-floor\", at_most = 0.3 }",
    );
    assert_eq!(ratio.over.as_deref(), Some("normal_force:0-floor"));
    for quantity in ["position_z:grain-0", "spin_x:floor", "overlap:0-floor"] {
        assert_eq!(expectation(&format!("\"{quantity}\" = {{ at_least = 0 }}")).quantity, quantity);
    }
}

#[test]
fn a_curve_is_read_from_beside_the_scenario_and_only_within_the_window() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("c.csv"), "t,z\n0,1\n0.5,2\n1.0,3\n9.0,4\n").expect("written");
    let curve_placed = |place: &str, more: &str| {
        let curve = format!("{{ file = \"c.csv\", column = \"z\"{place} }}");
        let words = format!("height = {{ curve = {curve}, tolerance = 1{more} }}");
        let text = format!("{BASIS}{GRAIN}[expect]\n{words}\n");
        let scenario = Scenario::parse("case", &text, folder.path(), &[]).expect("a valid file");
        let again =
            Scenario::parse("case", &scenario.resolved, Path::new("/nowhere"), &[]).expect("resolved");
        assert_eq!(again.expectations, scenario.expectations);
        match scenario.expectations[0].take.clone() {
            Take::Curve(curve) => curve.points,
            other => panic!("{other:?}"),
        }
    };
    let curve = |more| curve_placed("", more);
    assert_eq!(curve(""), [(0.0, 1.0), (0.5, 2.0), (1.0, 3.0)], "the run ends at 2 s");
    assert_eq!(curve(", from = 0.4, until = 0.9"), [(0.5, 2.0)]);
    let late = curve_placed(", start = 1.2, offset = -1", ", from = 1.2");
    assert_eq!(late, [(1.2, 0.0), (1.7, 1.0)], "times and values are moved, then the window is applied");
}
