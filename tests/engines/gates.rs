//! Thin sinks: a grain is taken by what its path in a substep passes, on both engines, and not only by where the path ends.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::path::Path;

use crate::common::*;
use esker::model::{Domain, Outside};
use esker::scenario::Scenario;
use glam::DVec3;

/// Grains that fall at 10 m/s, 50 mm per step, from heights that are no multiples of that, with these sinks and keys; without gravity and
/// contacts. The last three pass beside the sinks, which end 1 m from the axis.
fn falling(sinks: &str, keys: &str, velocity: [f64; 3]) -> Scenario {
    let place = |i: usize| {
        let x = if i < 40 { -0.4 + 0.02 * i as f64 } else { 1.1 + 0.02 * (i - 40) as f64 };
        format!("[{x}, 0, {}]", 0.3 + 0.013 * i as f64)
    };
    let places: Vec<String> = (0..43).map(place).collect();
    let text = format!(
        "duration = 1.0\ngravity = [0, 0, 0]\n[solver]\ntime_step = 0.005\niterations = 1\n{keys}\n[materials.m]\ndensity = 2500.0\n\
         youngs_modulus = 1e8\npoisson_ratio = 0.25\nrestitution = 0.0\nfriction = 0.5\n{sinks}\n[[grains]]\nmaterial = \"m\"\n\
         radius = {{ kind = \"constant\", value = 0.005 }}\nvelocity = {velocity:?}\n\
         packing = {{ kind = \"list\", positions = [{}] }}\n",
        places.join(", ")
    );
    Scenario::parse("gates", &text, Path::new("."), &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

fn sink(name: &str, region: &str) -> String {
    format!("[[sinks]]\nname = \"{name}\"\nregion = {region}\n")
}

/// Number of grains that each sink, and then the domain, has removed on both engines after all have passed.
fn taken(scenario: &Scenario) -> [Vec<usize>; 2] {
    both(&scenario.world, &scenario.settings).map(|mut engine| {
        engine.advance(30).unwrap();
        let world = engine.snapshot().unwrap().world;
        let by = |sink: usize| world.removed.iter().filter(|by| **by == Some(sink as u32)).count();
        (0..=world.sinks.len()).map(by).collect()
    })
}

const DOWN: [f64; 3] = [0.0, 0.0, -10.0];

#[test]
fn a_sink_of_any_form_that_is_thinner_than_the_travel_of_a_step_takes_all_that_passes_it() {
    for gate in [
        r#"{ kind = "box", min = [-1, -1, 0], max = [1, 1, 0.02] }"#,
        r#"{ kind = "cylinder", base = [0, 0, 0], axis = [0, 0, 1], length = 0.02, radius = 1.0 }"#,
        r#"{ kind = "cylinder", base = [0, 0, -0.3], axis = [0.2, 0.1, 1], length = 0.01, radius = 1.0 }"#,
        r#"{ kind = "cylinder", base = [-1, 0, 0], axis = [1, 0, 0], length = 2.0, radius = 0.01 }"#,
    ] {
        assert_eq!(taken(&falling(&sink("gate", gate), "", DOWN)), [vec![40, 0], vec![40, 0]], "{gate}");
    }
    // Balls between the grains, 20 mm apart, and on their ways.
    let ball = |x: f64| format!("{{ kind = \"sphere\", centre = [{x}, 0, 0.01], radius = 0.008 }}");
    let balls = sink("beside", &ball(0.01)) + &sink("in the way", &ball(0.1));
    assert_eq!(taken(&falling(&balls, "", DOWN)), [vec![0, 1, 0], vec![0, 1, 0]]);
}

#[test]
fn of_two_sinks_passed_in_one_step_the_first_on_the_way_takes_the_grain() {
    let gate = |z: f64| format!("{{ kind = \"box\", min = [-1, -1, {z}], max = [1, 1, {}] }}", z + 0.005);
    let two = sink("lower", &gate(0.0)) + &sink("upper", &gate(0.01));
    assert_eq!(taken(&falling(&two, "", DOWN)), [vec![0, 40, 0], vec![0, 40, 0]]);
    // Both begin at the same height: the first of the list takes the grain.
    let shared = r#"{ kind = "plane", point = [0, 0, 0.02], normal = [0, 0, 1] }"#;
    let within = r#"{ kind = "box", min = [-1, -1, -0.5], max = [1, 1, 0.02] }"#;
    let nested = sink("within", within) + &sink("all", shared);
    assert_eq!(taken(&falling(&nested, "", DOWN)), [vec![40, 3, 0], vec![40, 3, 0]]);
    let up = falling(&two, "", [0.0, 0.0, 10.0]);
    assert_eq!(taken(&up), [vec![0; 3], vec![0; 3]], "they fly away");
    // One that is left beyond the face of a domain is of the sink, not of the domain.
    let domain = two + "[domain]\nmin = [-5, -5, 0.015]\n";
    assert_eq!(taken(&falling(&domain, "", DOWN)), [vec![0, 40, 3], vec![0, 40, 3]]);
}

#[test]
fn a_sink_that_spans_a_period_takes_what_passes_it_across_the_face() {
    let gate = sink("gate", r#"{ kind = "box", min = [-0.5, -1, 0], max = [0.5, 1, 0.02] }"#);
    let period = "[periodic]\nx = [-0.5, 0.5]\n";
    let askew = [8.0, 0.0, -10.0];
    assert_eq!(taken(&falling(&gate, period, askew)), [vec![43, 0], vec![43, 0]]);
}

#[test]
fn a_domain_thinner_than_the_travel_of_a_step_takes_what_leaves_it() {
    let mut scenario = falling("", "", DOWN);
    let (min, max) = (DVec3::new(-5.0, -5.0, 0.29), DVec3::new(5.0, 5.0, 0.31));
    scenario.world.domain = Some(Domain { min, max, outside: Outside::Remove });
    assert_eq!(taken(&scenario), [vec![43], vec![43]], "those that began outside, too");
}
