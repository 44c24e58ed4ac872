//! Stages of the impacts \[E6\].

use super::Over::{At, Bodies, Machines, Once};
use super::Planned::{ImpactAim, ImpactContacts, ImpactGather, ImpactParts, ImpactRound, ImpactSweep};
use super::Work::{Book, BookJoints, Hold, Impacts, Join, Meet, Merge, Pause, Run, Weigh};
use super::{
    GATHER, Kernel, Over, Pass, Phase, Stage, THROWN_AWAY, THROWN_ON_GRAINS, Work, book, kernel, measure, run,
};

/// Prepares the first round.
pub(super) const BEGIN: Stage = Stage {
    name: "impact",
    phase: Phase::Bounce,
    work: &[
        book("keep_velocities", Bodies),
        Run(Kernel { aliases: THROWN_AWAY, ..kernel("impact", "prepare_impact", At(ImpactContacts)) }),
    ],
};

/// Solves the impacts in rounds, and makes the constraints anew.
pub(super) const SOLVE: Stage = Stage {
    name: "impact",
    phase: Phase::Strike,
    work: with_geometry!(
        (ImpactContacts, ImpactParts),
        [
            Impacts(
                &[
                    strike("strike_contacts", "strike_overflow", "strike_joints"),
                    strike("strike_contacts_and_note", "strike_overflow_and_note", "strike_joints_and_note"),
                ],
                &[
                    run("impact", "check_impacts", Once),
                    weigh_impacts(At(ImpactRound)),
                    measure("add_stress", THROWN_AWAY, At(ImpactRound)),
                    measure("add_grain_stress", THROWN_ON_GRAINS, At(ImpactRound)),
                    book_impacts(At(ImpactRound)),
                    BookJoints(kernel("balance", "book_joint_impacts", Once)),
                    Hold(kernel("joints", "end_round", Machines)),
                    Run(Kernel { aliases: THROWN_AWAY, ..kernel("impact", "aim_round", At(ImpactAim)) }),
                ],
            ),
            Pause(kernel("impact", "pause_impacts", Once)),
            weigh_impacts(At(ImpactContacts)),
            measure("add_stress", THROWN_AWAY, At(ImpactContacts)),
            measure("add_grain_stress", THROWN_ON_GRAINS, At(ImpactContacts)),
            book_impacts(At(ImpactContacts)),
            BookJoints(kernel("balance", "book_last_joint_impacts", Once)),
        ],
        [run("narrowphase", "apply_laws", At(ImpactContacts))]
    ),
};

/// Stage before the impacts of a halted substep go on: plans their dispatches again.
pub const RESUME: Stage =
    Stage { name: "impact", phase: Phase::Strike, work: &[Pause(kernel("impact", "resume_impacts", Once))] };

/// Returns the work that adds the impulses of a round of impacts to the loads on boundaries.
const fn weigh_impacts(over: Over) -> Work {
    Weigh(Kernel { aliases: THROWN_AWAY, ..kernel("loads", "add_loads", over) })
}

/// Returns the stage work that sums the mechanical work of a round of impacts for the energy balance.
const fn book_impacts(over: Over) -> Work {
    Book(Kernel { aliases: THROWN_AWAY, ..kernel("balance", "book_impacts", over) })
}

/// Returns a pass over the impacts with these kernels.
const fn strike(contacts: &'static str, overflow: &'static str, joints: &'static str) -> Pass {
    Pass {
        contacts: Kernel { aliases: THROWN_AWAY, ..kernel("sweep", contacts, Once) },
        overflow: Kernel { aliases: THROWN_AWAY, ..kernel("sweep", overflow, Once) },
        gather: Kernel { over: At(ImpactGather), ..GATHER },
        joints: Some(kernel("joints", joints, Machines)),
        arguments: ImpactSweep,
    }
}
