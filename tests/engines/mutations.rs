//! Mutations: the validation suite catches a solver that is broken on purpose, which proves that its cases look at what they claim to look
//! at. The shaders are edited in ways in which solvers have been written; each edit must make a case miss an expectation, and the same case
//! must meet it without the edit.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::collections::BTreeSet;

use crate::common::*;
use esker::engine::Engine;
use esker::error::Error;
use esker::gpu::shader::Edit;
use esker::observe::expectation::Judgement;
use esker::scenario::Scenario;
use esker::scenario::suite::Suite;
use esker::validation::{self, CaseReport};

/// A mistake, and the expectation that notices it.
struct Mutation {
    /// What is wrong.
    mistake: &'static str,
    edits: &'static [Edit],
    /// Case of the suite and label of the expectation that is missed.
    caught_by: (&'static str, &'static str),
}

const fn edit(from: &'static str, to: &'static str) -> Edit {
    Edit { from, to }
}

const MUTATIONS: &[Mutation] = &[
    Mutation {
        mistake: "friction is bounded by the change of the normal impulse, not by what was accumulated",
        edits: &[edit(
            "let tangent = limit(trial, constraint.friction * normal, constraint.normal);",
            "let tangent = limit(trial, constraint.friction * max(0.0, normal - old_normal), constraint.normal);",
        )],
        caught_by: ("slide_to_roll", "coulomb"),
    },
    Mutation {
        mistake: "friction is bounded component by component: a box instead of a disc",
        edits: &[edit(
            "let tangent = limit(trial, constraint.friction * normal, constraint.normal);",
            "let tangent = clamp(trial, vec3f(-constraint.friction * normal), vec3f(constraint.friction * normal));",
        )],
        caught_by: ("slide_to_roll", "diagonal_coulomb"),
    },
    Mutation {
        mistake: "the warm start fills in impulses and leaves the velocities as they were",
        edits: &[
            edit("velocities[constraint.bodies.x] = twist(pushed_a, impulse.rolling, locked.x);", ""),
            edit("velocities[constraint.bodies.y] = twist(pushed_b, -impulse.rolling, locked.y);", ""),
        ],
        caught_by: ("slide_to_roll", "weight"),
    },
    Mutation {
        mistake: "the arm has the wrong sign in the contact velocity",
        edits: &[edit(
            "a.linear + cross(a.angular, constraint.arm_a)",
            "a.linear - cross(a.angular, constraint.arm_a)",
        )],
        caught_by: ("oblique", "spin"),
    },
    Mutation {
        mistake: "the torque of an impulse has the wrong sign",
        edits: &[edit("cross(arm, impulse)", "cross(impulse, arm)")],
        caught_by: ("oblique", "spin"),
    },
    Mutation {
        mistake: "friction acts on one body of a contact and not on the other",
        edits: &[edit(
            "solution.b = push(b, -linear, constraint.arm_b, locked.y);",
            "solution.b = push(b, (old_normal - normal) * constraint.normal, constraint.arm_b, locked.y);",
        )],
        caught_by: ("oblique_pair", "momentum_y"),
    },
    Mutation {
        mistake: "restitution has the wrong sign",
        edits: &[edit("-restitution_of(constraint) * (before", "restitution_of(constraint) * (before")],
        caught_by: ("head_on", "light"),
    },
    Mutation {
        mistake: "an impact is as soft as a contact at rest",
        edits: &[edit("constraint.compliance = 0.0;", "constraint.compliance = 1000.0;")],
        caught_by: ("oblique_pair", "away_left"),
    },
    Mutation {
        mistake: "an impact reverses the velocity of the step before, and not the one that it meets with",
        edits: &[edit("(before + 0.5 * gain) - 0.5 * gain", "before")],
        caught_by: ("elastic_drop", "kept"),
    },
    Mutation {
        mistake: "what is hit stops at the next grain in its way",
        edits: &[edit("begin_constraint(place, constraint, constraint.compliance);", "")],
        caught_by: ("elastic_drop", "kept"),
    },
    Mutation {
        mistake: "a gap is taken for an overlap",
        edits: &[edit(
            "let gap = distance - a.radius - b.radius;",
            "let gap = a.radius + b.radius - distance;",
        )],
        caught_by: ("head_on", "light"),
    },
    Mutation {
        mistake: "the change of a normal impulse is clamped, not the impulse",
        edits: &[edit(
            "let normal = max(0.0, old_normal - safe_ratio(overshot, d.x));",
            "let normal = old_normal + max(0.0, -safe_ratio(overshot, d.x));",
        )],
        caught_by: ("column_forces", "one"),
    },
    Mutation {
        mistake: "the bound of rolling resistance lacks the radius",
        edits: &[edit("law.rolling_resistance * radius", "law.rolling_resistance")],
        caught_by: ("twisting", "spin"),
    },
    Mutation {
        mistake: "rolling resistance acts on one body of a contact and not on the other",
        edits: &[edit("solution.b = twist(solution.b, -rolling, locked.y);", "")],
        caught_by: ("oblique_pair", "twisting_right"),
    },
    Mutation {
        mistake: "a contact of a clump acts at the centre of its sphere's body, without the lever of the sphere",
        edits: &[edit("constraint.arm_a = arm + ball.lever;", "constraint.arm_a = arm;")],
        caught_by: ("rod", "spin"),
    },
    Mutation {
        mistake: "the spheres of a clump do not turn with it",
        edits: &[edit(
            "ball.lever = rotate(ball.pose.orientation, place.centre);",
            "ball.lever = place.centre;",
        )],
        caught_by: ("compound_pendulum", "spin"),
    },
    Mutation {
        mistake: "the inertia of a clump is taken for a ball's, the largest of its inverse moments",
        edits: &[edit(
            "return inverse_inertia_of(index) * impulse;",
            "return body.inverse_inertia * impulse;",
        )],
        caught_by: ("rod", "spin"),
    },
    Mutation {
        mistake: "the effective radius is its reciprocal",
        edits: &[edit(
            "a.radius * b.radius / (a.radius + b.radius)",
            "(a.radius + b.radius) / (a.radius * b.radius)",
        )],
        caught_by: ("column_forces", "overlap_one"),
    },
];

/// Runs cases of the suite on edited shaders.
fn validate(cases: &[&str], edits: &[Edit]) -> Vec<CaseReport> {
    let folder = tempfile::tempdir().unwrap();
    let suite = Suite::load(&validation::unpack(folder.path()).unwrap());
    let suite = suite.unwrap_or_else(|problems| panic!("{problems}"));
    let names: Vec<String> = cases.iter().map(|&name| name.into()).collect();
    let cases = suite.select(&names, false).unwrap();
    let plan = validation::plan(&cases).unwrap_or_else(|problems| panic!("{problems}"));
    let open = |scenario: &Scenario| -> Result<Box<dyn Engine>, Error> {
        let mut engine = gpu(&scenario.world, &scenario.settings);
        if !edits.is_empty() {
            engine.edit_shaders(edits)?;
        }
        Ok(Box::new(engine))
    };
    validation::run(&suite.title, &plan, &open, folder.path(), &mut |_| ()).unwrap().cases
}

/// Labels of the expectations that a case missed; "failed" for a run that broke off.
fn missed(case: &CaseReport) -> BTreeSet<&str> {
    let failures = case.runs.iter().filter(|run| run.failure.is_some()).map(|_| "failed");
    let verdicts = case.runs.iter().flat_map(|run| &run.expectations).chain(&case.across);
    let missed = verdicts.filter(|verdict| verdict.verdict == Judgement::Missed);
    failures.chain(missed.map(|verdict| verdict.label.as_str())).collect()
}

#[test]
fn every_mistake_is_caught_by_its_case() {
    for Mutation { mistake, edits, caught_by: (case, label) } in MUTATIONS {
        let report = &validate(&[case], edits)[0];
        let missed = missed(report);
        assert!(missed.contains(label), "{mistake}: {case} missed {missed:?} and not {label}");
    }
}

/// Control: the cases miss their expectations because of the mistakes, not for another reason.
#[test]
fn the_same_cases_are_met_without_mistakes() {
    let cases: BTreeSet<&str> = MUTATIONS.iter().map(|mutation| mutation.caught_by.0).collect();
    for report in validate(&Vec::from_iter(cases), &[]) {
        let missed = missed(&report);
        assert!(missed.is_empty(), "{} missed {missed:?}", report.name);
    }
}

/// Control: an edit that changes nothing is not caught, so editing the shaders is not why a case misses.
#[test]
fn an_edit_that_changes_nothing_is_not_caught() {
    let same = edit("constraint.friction * normal", "normal * constraint.friction");
    let reports = validate(&["slide_to_roll"], &[same]);
    assert!(missed(&reports[0]).is_empty(), "missed {:?}", missed(&reports[0]));
}
