//! What the watch over a run has to tell, and its words.

use crate::engine::ImpactStages;
use crate::model::World;
use crate::model::nested::CommonSpace;

use super::{Concern, DEEP_OVERLAP, Deepest, LARGE_RESIDUAL, Made, Partner, Unsolved, Warning};

/// Something that passed its limit, with the time of its worst value \[s\].
#[derive(Debug, Clone, Copy)]
pub(super) enum Told<'a> {
    Deep(&'a (f64, Deepest)),
    Common(&'a (f64, CommonSpace)),
    Swing(&'a (f64, String)),
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
            Told::Made(made, row) => energy_made(made, row),
            Told::Unsolved(found) => unsolved(found),
            Told::Impacts(stages, time) => Warning::of_impacts(stages, time),
        }
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
        advice: "one may have been pressed into the other, or have come through a thin part of it: take a smaller time step or more \
                 iterations, or make the part thicker"
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
    let &Deepest { overlap, depth, place, common, .. } = deepest;
    let [a, b] = deepest.bodies(world);
    let common = common.map_or(String::new(), |common| format!(" and {:.1} % of a volume", 100.0 * common));
    Warning {
        kind: Concern::Overlap,
        message: format!(
            "{a} and {b} overlapped by {overlap:.2} of a radius ({depth:.2e} m){common} at ({:.4}, {:.4}, {:.4}) m, t = {time:.4} s",
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
