//! What the watch over a run has to tell, and its words.

use crate::engine::ImpactStages;
use crate::model::World;
use crate::model::flush::FlushJoint;
use crate::model::nested::CommonSpace;

use super::{Concern, DEEP_OVERLAP, Deepest, LARGE_RESIDUAL, Made, Partner, Unsolved, Warning};

/// Number of flush joints that are told with names and place.
const NAMED: usize = 4;

/// Something that passed its limit, with the time of its worst value \[s\].
#[derive(Debug, Clone, Copy)]
pub(super) enum Told<'a> {
    Deep(&'a (f64, Deepest)),
    Common(&'a (f64, CommonSpace)),
    Swing(&'a (f64, String)),
    Flush(&'a [FlushJoint]),
    /// Energy made by a kind of row, which is named, with its limit.
    Made(&'a Made, (&'a str, f64)),
    Unsolved(&'a Unsolved),
    Impacts(&'a ImpactStages, f64),
}

impl Told<'_> {
    /// Puts it into words.
    pub(super) fn in_words(self, world: &World) -> Warning {
        match self {
            Told::Deep((time, deepest)) => deep(deepest, *time, world),
            Told::Common((time, common)) => solids_overlap(common, *time, world),
            Told::Swing((time, words)) => Warning::of_joints(words, *time),
            Told::Flush(joints) => flush_joints(joints, world),
            Told::Made(made, row) => energy_made(made, row),
            Told::Unsolved(found) => unsolved(found),
            Told::Impacts(stages, time) => Warning::of_impacts(stages, time),
        }
    }
}

/// Warning about boundaries that meet flush at the start; `joints` is not empty.
pub fn flush_joints(joints: &[FlushJoint], world: &World) -> Warning {
    let name = |body: usize| Partner::Boundary(body as u32).name(world);
    let told = |joint: &FlushJoint| {
        let [one, other] = joint.bodies;
        let place = joint.place;
        let who = match one == other {
            true => format!("two surfaces of {}", name(one)),
            false => format!("{} and {}", name(one), name(other)),
        };
        format!("{who} at ({:.4}, {:.4}, {:.4}) m", place.x, place.y, place.z)
    };
    let named: Vec<String> = joints.iter().take(NAMED).map(told).collect();
    let more = match joints.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let mut bodies: Vec<String> = joints.iter().flat_map(|joint| joint.bodies).map(name).collect();
    let mut seen = std::collections::BTreeSet::new();
    bodies.retain(|body| seen.insert(body.clone()));
    Warning {
        kind: Concern::FlushJoints,
        message: format!(
            "surfaces meet flush: {}{more}. A grain that slides or rolls over such a joint touches the edge of the next surface before it \
             is over it, and hops, the more the deeper it overlaps",
            named.join("; ")
        ),
        value: joints.len() as f64,
        limit: 0.0,
        time: 0.0,
        place: joints.first().map(|joint| joint.place.to_array()),
        bodies,
        advice: "make one larger shape or one mesh of the two, in which edges between flush faces are not felt, or raise \
                 youngs_modulus, so that grains overlap less"
            .to_owned(),
    }
}

fn solids_overlap(common: &CommonSpace, time: f64, world: &World) -> Warning {
    let &CommonSpace { bodies, radius, fraction, place } = common;
    let [a, b] = bodies.map(|body| Partner::Boundary(body as u32).name(world));
    let at = format!("({:.4}, {:.4}, {:.4})", place.x, place.y, place.z);
    Warning {
        kind: Concern::SolidsOverlap,
        message: format!(
            "{a} and {b} were inside each other: a ball of {radius:.2e} m fitted into both, {fraction:.2} of the largest in the smaller \
             one, at {at} m, t = {time:.4} s"
        ),
        value: fraction,
        limit: DEEP_OVERLAP,
        time,
        place: Some(place.to_array()),
        bodies: vec![a, b],
        advice: "boundaries that are not dynamic are touched by the vertices of dynamic ones alone: see the table of shapes that touch \
                 each other in the reference of the scenario file"
            .to_owned(),
    }
}

fn unsolved(found: &Unsolved) -> Warning {
    let &Unsolved { outputs, large, largest, time } = found;
    Warning {
        kind: Concern::Residual,
        message: format!(
            "sweeps ended too early: the mean residual of the normal rows was above {LARGE_RESIDUAL} g h at {large} of {outputs} outputs, \
             {largest:.2} g h at t = {time:.4} s"
        ),
        value: largest,
        limit: LARGE_RESIDUAL,
        time,
        place: None,
        bodies: Vec::new(),
        advice: "raise solver.iterations, or take solver.warm_start = \"history\"".to_owned(),
    }
}

fn deep(deepest: &Deepest, time: f64, world: &World) -> Warning {
    let &Deepest { overlap, depth, place, .. } = deepest;
    let [a, b] = deepest.bodies(world);
    Warning {
        kind: Concern::Overlap,
        message: format!(
            "{a} and {b} overlapped by {overlap:.2} of a radius ({depth:.2e} m) at ({:.4}, {:.4}, {:.4}) m, t = {time:.4} s",
            place.x, place.y, place.z
        ),
        value: overlap,
        limit: DEEP_OVERLAP,
        time,
        place: Some(place.to_array()),
        bodies: vec![a, b],
        advice: "shorten solver.time_step or raise solver.iterations; if the two were put into each other at the start, move them apart"
            .to_owned(),
    }
}

fn energy_made(made: &Made, (row, limit): (&str, f64)) -> Warning {
    let &Made { share, energy, time, .. } = made;
    Warning {
        kind: Concern::EnergyMade,
        message: format!(
            "{row} made {energy:.2e} J out of nothing, {share:.2e} of the energy turned over, by t = {time:.4} s"
        ),
        value: share,
        limit,
        time,
        place: None,
        bodies: Vec::new(),
        advice: "raise solver.iterations, shorten solver.time_step, or start sweeps from solver.warm_start = \"history\"".to_owned(),
    }
}
