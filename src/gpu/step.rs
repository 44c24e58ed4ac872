//! One time step as lists of stages, which come from a method and its solver.

/// Works that find what the contacts touch, with some before them and some after. After impacts the same is found again.
macro_rules! with_geometry {
    (($contacts:ident, $parts:ident), [$($before:expr),* $(,)?], [$($after:expr),* $(,)?]) => {
        &[
            $($before,)*
            run("narrowphase", "find_geometry", At($contacts)),
            Meet(kernel("solids", "find_manifolds", At($contacts))),
            Meet(kernel("facets", "meet_facets", At($contacts))),
            Meet(kernel("parts", "meet_parts", At($parts))),
            Meet(kernel("facets", "drop_repeated", At($contacts))),
            Meet(kernel("solids", "merge_solids", At($contacts))),
            Meet(kernel("solids", "share_pull", At($contacts))),
            Join(kernel("narrowphase", "join_patches", At($contacts))),
            Merge(kernel("narrowphase", "merge_flush", At($contacts))),
            $($after,)*
        ]
    };
}

mod impacts;

use Over::{Aimed, At, Bodies, Joints, Machines, Once, Spheres, SpheresNearSinks};
use Work::{
    Book, BookJoints, Descend, Hold, Join, Measure, Meet, Merge, Pause, Run, Scan, Sum, Sweeps, Visit, Weigh,
};
pub use impacts::RESUME;

use crate::settings::{self, Algorithm, Settings};

use super::constants::Planned::{
    self, Balls, BinScan, Booked, BucketScan, Buckets, Contacts, CubeScan, Cubes, Descent, Found, Gather,
    OldContacts, OldOwners, Overflow, Parts, PendingScan, Search, SearchBodies, SideScan, Sides, StartScan,
    Stored, Sweep, Tiles, Uncoloured,
};
use super::features::Features;

/// Phase of a step in which a stage runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Once, before all others.
    Open,
    /// Once, before the substeps, if the neighbour list has to be rebuilt.
    Search,
    /// In each substep.
    Solve,
    /// In each substep in which a contact bounces: before its impacts are solved.
    Bounce,
    /// In each substep in which a contact bounces: solves the impacts.
    Strike,
    /// Once, after the substeps.
    Close,
}

/// Pace of a submission: the part of each step that is encoded. Stages that a step does not need cost little, but they are half of all
/// dispatches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// All stages; those that are not needed are empty.
    Full,
    /// Stages without those of rebuilds and impacts: a step that needs one of them halts before it changes anything.
    Calm,
}

/// Stage of a step. As a rule its shader, its twin, its timer and its test have the same name.
pub struct Stage {
    /// Name.
    pub name: &'static str,
    /// Phase in which the stage runs.
    pub phase: Phase,
    /// Works of the stage, in order.
    pub work: &'static [Work],
}

/// Elements that a kernel runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// One workgroup.
    Once,
    /// All spheres of grains.
    Spheres,
    /// All spheres of grains if there are sinks.
    SpheresNearSinks,
    /// All bodies.
    Bodies,
    /// Boundaries, and bodies up to the last with an entry in `rigids`.
    Aimed,
    /// All joints.
    Joints,
    /// A workgroup per machine.
    Machines,
    /// As many workgroups as the device computes.
    At(Planned),
}

/// Variables of a shader that stand for a buffer of another name, as pairs of variable and buffer.
pub type Aliases = &'static [(&'static str, &'static str)];

/// Work of a stage: a dispatch, or several.
pub enum Work {
    /// One kernel.
    Run(Kernel),
    /// One kernel, where the energy balance is kept.
    Book(Kernel),
    /// One kernel, where impact stages go on for as long as they settle.
    Pause(Kernel),
    /// One kernel, where there are boundaries.
    Weigh(Kernel),
    /// One kernel, where the stress is measured that it sums.
    Measure(Kernel),
    /// One kernel, where there are meshes.
    Join(Kernel),
    /// One kernel, where surfaces may meet flush.
    Merge(Kernel),
    /// One kernel, where there are dynamic convex solids of the kind that it is for.
    Meet(Kernel),
    /// One kernel, where there are joints.
    Hold(Kernel),
    /// One kernel, where there are joints and the energy balance is kept.
    BookJoints(Kernel),
    /// Exclusive prefix sum over blocks of values; the aliases name the buffers of the values (`scan_values`) and of the block sums.
    Scan(Over, Aliases),
    /// Pass over all contacts that applies their impulses to the bodies. What it leaves in slots is gathered by the work after it.
    Visit(Pass),
    /// Passes over all contacts, one per iteration, fewer when the tolerance is met. Each begins with what the one before left in slots.
    Sweeps(Pass),
    /// Tries of projected gradient descent, as many as the iterations may take; those that are not needed are empty.
    Descend {
        /// Finds the impulses of a try, all at once.
        aim: Kernel,
        /// Applies the changes of the impulses to the bodies.
        give: Pass,
        /// Finds the slopes at the new impulses, and sums how the try went.
        arrive: Kernel,
        /// Decides whether the try counts, and how the next one goes.
        judge: Kernel,
    },
    /// Passes over the impacts in pairs, the second of which notes its largest change. Each pair is followed by works that decide whether
    /// the round is over. There are as many passes as the settings of the submission tell; those that are not needed are empty.
    Impacts(&'static [Pass; 2], &'static [Work]),
    /// Works that find the velocities anew from the impulses, where the velocities have all impulses in them.
    Sum(&'static [Work]),
}

impl Work {
    /// Returns the kernels of this work, without those of a prefix sum, which are not in the step list.
    pub fn kernels(&self) -> Vec<&Kernel> {
        match self {
            Run(kernel) | Book(kernel) | Pause(kernel) | Weigh(kernel) => vec![kernel],
            Measure(kernel) | Join(kernel) | Meet(kernel) | Merge(kernel) => vec![kernel],
            Hold(kernel) | BookJoints(kernel) => vec![kernel],
            Visit(pass) | Sweeps(pass) => pass.kernels().collect(),
            Descend { aim, give, arrive, judge } => {
                [aim].into_iter().chain(give.kernels()).chain([arrive, judge]).collect()
            }
            Work::Impacts(passes, between) => {
                let between = between.iter().flat_map(Work::kernels);
                passes.iter().flat_map(Pass::kernels).chain(between).collect()
            }
            Sum(works) => works.iter().flat_map(Work::kernels).collect(),
            Scan(..) => Vec::new(),
        }
    }
}

/// Kernel, with its dispatch and its bindings.
pub struct Kernel {
    /// Shader.
    pub shader: &'static str,
    /// Entry point.
    pub entry: &'static str,
    /// Elements that the kernel runs over.
    pub over: Over,
    /// Variables that stand for a buffer of another name.
    pub aliases: Aliases,
}

/// Kernels of a pass over all contacts, in order; the first runs twice, over the tiles of one tiling and of the other.
pub struct Pass {
    /// Solves the contacts of a tile.
    pub contacts: Kernel,
    /// Solves the overflow contacts on copies of their bodies.
    pub overflow: Kernel,
    /// Bodies take the mean of their copies. Left out where a pass follows that does so at its beginning, and no joints are solved before.
    pub gather: Kernel,
    /// Solves the joints, where there are some; comes last.
    pub joints: Option<Kernel>,
    /// Dispatch sizes of the pass.
    pub arguments: Planned,
}

impl Pass {
    /// Returns all kernels of the pass.
    pub fn kernels(&self) -> impl Iterator<Item = &Kernel> {
        [&self.contacts, &self.overflow, &self.gather].into_iter().chain(&self.joints)
    }
}

/// Solver of the contact problem on the device, as a list of stages: its warm start and its passes.
pub struct SolverStages {
    /// The stages, in order.
    pub stages: &'static [Stage],
}

/// Method of a step: the stages before and after the solve, in order, and the solver.
pub struct Method {
    /// Stages that find contacts.
    pub search: &'static [Stage],
    /// Stages before the solve.
    pub before: &'static [Stage],
    /// Solver of the contact problem.
    pub solver: &'static SolverStages,
    /// Stages after the solve.
    pub after: &'static [Stage],
}

/// Contact dynamics: implicit steps, with impulses and impacts that take no time. The lists of its stages are the algorithm.
pub const NONSMOOTH: Method =
    Method { search: FIND, before: PREPARE, solver: &GAUSS_SEIDEL, after: BOOK_AND_MOVE };

/// Contact dynamics whose contacts are solved by projected gradient descent \[E15\].
pub const DESCENDING: Method = Method { solver: &PROJECTED_GRADIENT, ..NONSMOOTH };

/// Smooth discrete elements \[E13\]: explicit steps under spring forces, which are applied like the impulses of a warm start.
pub const SMOOTH: Method = Method { search: FIND, before: STRETCH, solver: &APPLY, after: BOOK_AND_MOVE };

/// Projected Gauss-Seidel, plain or accelerated \[E5\], \[E12\].
pub const GAUSS_SEIDEL: SolverStages = SolverStages { stages: SWEEP_COLOURS };

/// Accelerated projected gradient descent \[E15\].
pub const PROJECTED_GRADIENT: SolverStages = SolverStages { stages: DESCEND };

/// Solver of the smooth method, which solves nothing: bodies take the impulses of the spring forces.
const APPLY: SolverStages = SolverStages {
    stages: &[Stage {
        work: &[APPLY_IMPULSES, Run(GATHER), FINISH_CHANGES, Hold(SOLVE_JOINTS)],
        ..WARM_START
    }],
};

/// Stages that find contacts.
const FIND: &[Stage] = &[
    Stage { name: "search", phase: Phase::Open, work: &[run("search", "plan_search", Once)] },
    Stage {
        name: "search",
        phase: Phase::Search,
        work: &[
            run("matching", "remember_contacts", At(OldContacts)),
            run("matching", "remember_owners", At(OldOwners)),
        ],
    },
    Stage {
        name: "broadphase",
        phase: Phase::Search,
        work: &[
            run("broadphase", "clear_buckets", At(Buckets)),
            run("broadphase", "count_cells", At(Balls)),
            Scan(At(BucketScan), &[("scan_values", "bucket_ends"), ("scan_sums", "bucket_sums")]),
            run("broadphase", "fill_cells", At(Balls)),
            run("broadphase", "count_pairs", At(Balls)),
            Scan(At(StartScan), &[("scan_values", "contact_starts"), ("scan_sums", "contact_sums")]),
            run("broadphase", "plan_contacts", Once),
            run("broadphase", "store_pairs", At(Stored)),
        ],
    },
    Stage { name: "matching", phase: Phase::Search, work: &[run("matching", "match_previous", At(Found))] },
    Stage {
        name: "colouring",
        phase: Phase::Search,
        work: &[
            run("tiles", "clear_cubes", At(Cubes)),
            run("tiles", "count_cubes", At(SearchBodies)),
            Scan(At(CubeScan), &[("scan_values", "cube_ends"), ("scan_sums", "cube_sums")]),
            run("tiles", "assign_tiles", At(SearchBodies)),
            run("colouring", "seed_colours", At(Found)),
            Scan(At(PendingScan), &[("scan_values", "pending_ends"), ("scan_sums", "pending_sums")]),
            run("colouring", "list_pending", At(Found)),
            run("colouring", "colour_tiles", At(Tiles)),
            run("tiles", "count_bins", At(Found)),
            Scan(At(BinScan), &[("scan_values", "tile_lists"), ("scan_sums", "bin_sums")]),
            run("tiles", "fill_bins", At(Found)),
            run("tiles", "order_bins", At(Found)),
            run("tiles", "find_starts", Once),
            run("overflow", "clear_sides", At(SearchBodies)),
            run("overflow", "count_copies", At(Found)),
            run("overflow", "count_sides", At(Overflow)),
            Scan(At(SideScan), &[("scan_values", "side_ends"), ("scan_sums", "side_sums")]),
            run("overflow", "fill_sides", At(Overflow)),
            run("overflow", "order_sides", At(Sides)),
            run("matching", "match_impulses", At(Found)),
            run("search", "finish_search", At(Search)),
        ],
    },
];

/// Stages that compute the spring forces and predict the velocities.
const STRETCH: &[Stage] = &[
    Stage {
        name: "narrowphase",
        phase: Phase::Solve,
        work: with_geometry!(
            (Contacts, Parts),
            [run("integrate", "aim_bodies", Aimed)],
            [
                run("response", "find_responses", At(Uncoloured)),
                Hold(kernel("joints", "place_joints", Joints)),
                Hold(kernel("joints", "couple_rows", Machines)),
            ]
        ),
    },
    Stage { name: "springs", phase: Phase::Solve, work: &[run("springs", "stretch", At(Contacts))] },
    Stage {
        name: "predict",
        phase: Phase::Solve,
        work: &[
            run("balance", "keep_velocities", Bodies),
            run("predict", "plan_sweep", Once),
            Hold(kernel("joints", "aim_joints", Machines)),
            run("warm_start", "start_changes", Bodies),
        ],
    },
];

/// Stages that make the contact constraints, solve the impacts of fast contacts, and predict the velocities.
const PREPARE: &[Stage] = &[
    Stage {
        name: "narrowphase",
        phase: Phase::Solve,
        work: with_geometry!(
            (Contacts, Parts),
            [run("integrate", "aim_bodies", Aimed)],
            [
                run("narrowphase", "apply_laws", At(Contacts)),
                run("response", "find_responses", At(Uncoloured)),
                Hold(kernel("joints", "place_joints", Joints)),
                Hold(kernel("joints", "couple_rows", Machines)),
            ]
        ),
    },
    Stage {
        name: "impact",
        phase: Phase::Solve,
        work: &[run("impact", "find_impacts", At(Contacts)), run("impact", "plan_impact", Once)],
    },
    impacts::BEGIN,
    impacts::SOLVE,
    Stage {
        name: "predict",
        phase: Phase::Solve,
        work: &[
            run("balance", "keep_velocities", Bodies),
            run("predict", "plan_sweep", Once),
            run("predict", "prepare_constraints", At(Contacts)),
            Hold(kernel("joints", "aim_joints", Machines)),
            run("predict", "apply_forces", Bodies),
        ],
    },
];

/// Pass in which bodies take the impulses of the warm start.
const APPLY_IMPULSES: Work = Visit(Pass {
    contacts: kernel("warm_start", "apply_contacts", Once),
    overflow: kernel("warm_start", "apply_overflow", Once),
    gather: GATHER,
    joints: None,
    arguments: Sweep,
});

/// Kernel that adds the changes in a substep, from forces and impulses, to the velocities before.
const FINISH_CHANGES: Work = run("warm_start", "finish_changes", Bodies);

/// Warm start of a solver whose first pass does not begin with what the warm start left in slots.
const WARM_START: Stage = Stage {
    name: "warm_start",
    phase: Phase::Solve,
    work: &[APPLY_IMPULSES, Run(GATHER), Hold(SOLVE_JOINTS)],
};

/// Stages of the Gauss-Seidel solver: warm start, then sweeps.
const SWEEP_COLOURS: &[Stage] = &[
    Stage { work: &[APPLY_IMPULSES, Hold(GATHER), Hold(SOLVE_JOINTS)], ..WARM_START },
    Stage {
        name: "sweep",
        phase: Phase::Solve,
        work: &[
            Sweeps(Pass {
                contacts: kernel("sweep", "sweep_contacts", Once),
                overflow: kernel("sweep", "sweep_overflow", Once),
                gather: GATHER,
                joints: Some(SOLVE_JOINTS),
                arguments: Sweep,
            }),
            Sum(&[
                run("predict", "plan_sums", Once),
                run("warm_start", "start_changes", Bodies),
                APPLY_IMPULSES,
                Run(GATHER),
                FINISH_CHANGES,
            ]),
        ],
    },
];

/// Stages of projected gradient descent: warm start, then steps down the slope of the objective.
const DESCEND: &[Stage] = &[
    WARM_START,
    Stage {
        name: "sweep",
        phase: Phase::Solve,
        work: &[
            run("gradient", "begin_descent", Once),
            run("gradient", "find_slopes", At(Descent)),
            Descend {
                aim: kernel("gradient", "aim", At(Descent)),
                give: Pass {
                    contacts: Kernel { aliases: CHANGES, ..kernel("warm_start", "give_contacts", Once) },
                    overflow: Kernel { aliases: CHANGES, ..kernel("warm_start", "give_overflow", Once) },
                    gather: GATHER,
                    joints: Some(SOLVE_JOINTS),
                    arguments: Sweep,
                },
                arrive: kernel("gradient", "arrive", At(Descent)),
                judge: kernel("gradient", "judge_step", Once),
            },
        ],
    },
];

/// Stages that sum works, loads and stresses, and move the bodies.
const BOOK_AND_MOVE: &[Stage] = &[
    Stage {
        name: "balance",
        phase: Phase::Solve,
        work: &[
            BookJoints(kernel("balance", "book_joints", Once)),
            book("book_bodies", Bodies),
            book("book_contacts", At(Booked)),
            book("close", Once),
        ],
    },
    // A substep that the guard wants to be solved again has halted by now, and counts when it is.
    Stage {
        name: "loads",
        phase: Phase::Solve,
        work: &[
            Weigh(kernel("loads", "add_loads", At(Contacts))),
            measure("add_stress", &[], At(Booked)),
            measure("add_grain_stress", GRAIN_LOADS, At(Contacts)),
            measure("add_motion", &[], Spheres),
        ],
    },
    Stage {
        name: "integrate",
        phase: Phase::Solve,
        work: &[
            run("integrate", "judge", Bodies),
            run("integrate", "move_bodies", Bodies),
            run("integrate", "note_travel", Spheres),
            run("sinks", "drain", SpheresNearSinks),
            run("integrate", "finish_substep", Once),
        ],
    },
    Stage { name: "close", phase: Phase::Close, work: &[run("matching", "finish_step", Once)] },
];

/// Name of the stage that sweeps over the contacts.
pub const SWEEP: &str = "sweep";

/// Kernel that solves the machines for the present impulses of the contacts.
const SOLVE_JOINTS: Kernel = kernel("joints", "solve_joints", Machines);

/// Kernel in which bodies take the changes that overflow contacts left in their slots.
const GATHER: Kernel = kernel("sweep", "gather_sides", At(Gather));
/// Kernel that compares the change of each sweep with the tolerance, where one is set.
pub const CHECK: Kernel = kernel("sweep", "check_change", Once);

/// Stage before a substep is solved again: restores the velocities that the impacts left.
pub const AGAIN: Stage =
    Stage { name: "balance", phase: Phase::Solve, work: &[run("balance", "restore_velocities", Bodies)] };

/// Stage that measures the residuals; runs on request only.
pub const RESIDUAL: Stage =
    Stage { name: "residual", phase: Phase::Close, work: &[run("residual", "measure", At(Contacts))] };

/// Alias for the impulses of a round of impacts: they take the room of the old impulses, which have been carried over by then.
const THROWN_AWAY: Aliases = &[("impulses", "old_impulses")];

/// Aliases for the sums of the grains, of the impulses after the sweeps and of those of a round of impacts.
const GRAIN_LOADS: Aliases = &[("loads", "grain_loads")];
const THROWN_ON_GRAINS: Aliases = &[("impulses", "old_impulses"), ("loads", "grain_loads")];

/// Alias for the changes of the impulses, which the bodies take in projected gradient descent.
const CHANGES: Aliases = &[("impulses", "changes")];

const fn kernel(shader: &'static str, entry: &'static str, over: Over) -> Kernel {
    Kernel { shader, entry, over, aliases: &[] }
}

const fn run(shader: &'static str, entry: &'static str, over: Over) -> Work {
    Run(kernel(shader, entry, over))
}

const fn book(entry: &'static str, over: Over) -> Work {
    Book(kernel("balance", entry, over))
}

/// Returns the work that adds impulses to the sums of stress.
const fn measure(entry: &'static str, aliases: Aliases, over: Over) -> Work {
    Measure(Kernel { aliases, ..kernel("stress", entry, over) })
}

/// Returns the method of a step with these settings.
pub fn method_of(settings: &Settings) -> &'static Method {
    match (settings.method, settings.algorithm) {
        (settings::Method::Smooth, _) => &SMOOTH,
        (settings::Method::Nonsmooth, Algorithm::Pgs) => &NONSMOOTH,
        (settings::Method::Nonsmooth, Algorithm::Apgd) => &DESCENDING,
    }
}

/// Returns the methods of a scene with these features. A substep of projected gradient descent that made energy is solved again by
/// sweeps \[E12\].
pub fn methods_of(features: Features) -> Vec<&'static Method> {
    match (features.springs, features.descends) {
        (true, _) => vec![&SMOOTH],
        (false, true) => vec![&NONSMOOTH, &DESCENDING],
        (false, false) => vec![&NONSMOOTH],
    }
}

impl Method {
    /// Returns all stages, in order.
    pub fn stages(&self) -> impl Iterator<Item = &'static Stage> + Clone + use<> {
        self.search.iter().chain(self.before).chain(self.solver.stages).chain(self.after)
    }

    /// Visits the stages of a step in order.
    pub fn for_each_stage(&self, substeps: u32, pace: Pace, mut visit: impl FnMut(&'static Stage)) {
        match pace {
            Pace::Full => self.visit_phases(&[Phase::Open, Phase::Search], &mut visit),
            Pace::Calm => self.visit_phases(&[Phase::Open], &mut visit),
        }
        self.for_each_stage_to_the_end(substeps, pace, visit);
    }

    /// Visits the stages of the last `substeps` of a step, and those that close it.
    pub fn for_each_stage_to_the_end(
        &self,
        substeps: u32,
        pace: Pace,
        mut visit: impl FnMut(&'static Stage),
    ) {
        for _ in 0..substeps {
            match pace {
                Pace::Full => self.visit_phases(&[Phase::Solve, Phase::Bounce, Phase::Strike], &mut visit),
                Pace::Calm => self.visit_phases(&[Phase::Solve], &mut visit),
            }
        }
        self.visit_phases(&[Phase::Close], visit);
    }

    /// Visits the stages in which a substep is solved again: those after the impacts.
    pub fn for_each_stage_again(&self, visit: impl FnMut(&'static Stage)) {
        let solve = self.stages().filter(|stage| stage.phase == Phase::Solve);
        [&AGAIN].into_iter().chain(solve.skip_while(|stage| stage.name != "predict")).for_each(visit);
    }

    /// Visits the stages of a substep that halted in its impacts, from these on.
    pub fn for_each_stage_from_impacts(&self, visit: impl FnMut(&'static Stage)) {
        let rest = self.stages().skip_while(|stage| stage.phase != Phase::Strike);
        let of_substep = rest.filter(|stage| matches!(stage.phase, Phase::Strike | Phase::Solve));
        [&RESUME].into_iter().chain(of_substep).for_each(visit);
    }

    fn visit_phases(&self, phases: &[Phase], visit: impl FnMut(&'static Stage)) {
        self.stages().filter(|stage| phases.contains(&stage.phase)).for_each(visit);
    }
}

#[cfg(test)]
mod tests;
