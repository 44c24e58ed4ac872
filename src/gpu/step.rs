//! One time step as a list of stages that one can read aloud. The list is the algorithm.

use Over::*;
use Work::*;

/// When a stage runs within a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Once, before the substeps.
    Search,
    /// In each substep.
    Solve,
    /// Once, after the substeps.
    Close,
}

/// A stage: its name is that of its shader, its twin, its timer and its test.
pub struct Stage {
    /// Name.
    pub name: &'static str,
    /// When it runs.
    pub phase: Phase,
    /// What it does, in order.
    pub work: &'static [Work],
}

/// What a kernel runs over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// One workgroup.
    Once,
    /// All corners and grains, and one more.
    Grains,
    /// All grains if there are sinks.
    GrainsNearSinks,
    /// All bodies.
    Bodies,
    /// All boundaries.
    Boundaries,
    /// All buckets of the grid.
    Buckets,
    /// All room for contacts, in blocks of 256.
    ContactBlocks,
    /// All contacts of this step.
    Contacts,
    /// Contacts that still need a colour, if they are many.
    Pending,
    /// All contacts if something bounces.
    ImpactContacts,
}

/// Variables of a shader that stand for a buffer of another name.
pub type Aliases = &'static [(&'static str, &'static str)];

/// A dispatch, or a row of them.
pub enum Work {
    /// One kernel.
    Run(Kernel),
    /// One kernel, where the ledger is kept.
    Book(Kernel),
    /// One kernel, where there are free boundaries to share.
    Share(Kernel),
    /// Exclusive prefix sum: which buffer is `scan_values`, and which takes the block sums.
    Scan(Aliases),
    /// Kernels in turn, `times` times, told the round.
    Rounds(&'static [Kernel], u32),
    /// A pass over all contacts, colour by colour.
    Colours(Pass),
    /// As many passes as there are iterations, fewer when the tolerance is met.
    Sweeps(Pass),
}

/// A kernel and how it is bound.
pub struct Kernel {
    /// Shader.
    pub shader: &'static str,
    /// Entry point.
    pub entry: &'static str,
    /// What it runs over.
    pub over: Over,
    /// Variables that stand for a buffer of another name.
    pub aliases: Aliases,
}

/// Kernels of a pass over all contacts: one per colour, with what free boundaries take from it, and one for
/// the rest.
pub struct Pass {
    /// Solves one colour.
    pub colour: Kernel,
    /// After each colour: free boundaries take the impulses of their contacts.
    pub gather: Kernel,
    /// Solves the colours that have no dispatch of their own, and the tail.
    pub rest: Kernel,
    /// Where its dispatch sizes stand in `arguments`.
    pub arguments: u32,
}

/// Colours with a dispatch of their own (`DISPATCHED_COLOURS` in WGSL).
pub const DISPATCHED_COLOURS: u32 = 16;
/// Rounds of colouring that are dispatched while many contacts need a colour.
const ROUNDS: u32 = 12;
/// Places of the dispatch sizes, as in `shaders/shared/types.wgsl`.
const ARGUMENTS_SWEEP: u32 = 3;
const ARGUMENTS_IMPACT_SWEEP: u32 = 20;

/// The step.
pub const STEP: &[Stage] = &[
    Stage {
        name: "broadphase",
        phase: Phase::Search,
        work: &[
            run("broadphase", "clear_buckets", Buckets),
            run("broadphase", "count_cells", Grains),
            Scan(&[("scan_values", "bucket_ends"), ("scan_sums", "bucket_sums")]),
            run("broadphase", "fill_cells", Grains),
            run("broadphase", "sort_cells", Buckets),
            run("broadphase", "count_pairs", Grains),
            Scan(&[("scan_values", "contact_starts"), ("scan_sums", "contact_sums")]),
            run("broadphase", "plan_contacts", Once),
            run("broadphase", "store_pairs", Grains),
        ],
    },
    Stage { name: "matching", phase: Phase::Search, work: &[run("matching", "match_previous", Contacts)] },
    Stage {
        name: "colouring",
        phase: Phase::Search,
        work: &[
            pending("clear_colours", Bodies),
            pending("seed_colours", Contacts),
            run("colouring", "plan_rounds", Once),
            Rounds(&[pending_kernel("propose", Pending), pending_kernel("commit", Pending)], ROUNDS),
            pending("list_late", Pending),
            pending("finish_colouring", Once),
            run("colouring", "count_colours", ContactBlocks),
            Scan(&[("scan_values", "colour_counts"), ("scan_sums", "colour_sums")]),
            run("colouring", "place_contacts", ContactBlocks),
            run("colouring", "find_starts", Once),
            Share(kernel("colouring", "clear_shares", Boundaries)),
            Share(kernel("colouring", "count_shares", Contacts)),
            run("matching", "carry_impulses", Contacts),
        ],
    },
    Stage {
        name: "narrowphase",
        phase: Phase::Solve,
        work: &[run("integrate", "aim_boundaries", Boundaries), run("narrowphase", "fill_rows", Contacts)],
    },
    Stage {
        name: "impact",
        phase: Phase::Solve,
        work: &[
            run("impact", "begin_impact", Once),
            run("impact", "find_impacts", Contacts),
            run("impact", "plan_impact", Once),
            book("keep_velocities", Bodies),
            Run(Kernel { aliases: THROWN_AWAY, ..kernel("impact", "prepare_impact", ImpactContacts) }),
            Sweeps(Pass {
                colour: Kernel { aliases: THROWN_AWAY, ..kernel("sweep", "sweep_colour", Once) },
                gather: kernel("sweep", "gather_colour", Once),
                rest: Kernel { aliases: THROWN_AWAY, ..kernel("sweep", "sweep_rest", Once) },
                arguments: ARGUMENTS_IMPACT_SWEEP,
            }),
            Book(Kernel { aliases: THROWN_AWAY, ..kernel("ledger", "book_impacts", ImpactContacts) }),
            run("narrowphase", "fill_rows", ImpactContacts),
        ],
    },
    Stage {
        name: "predict",
        phase: Phase::Solve,
        work: &[
            book("keep_velocities", Bodies),
            run("predict", "plan_sweep", Once),
            run("predict", "prepare_rows", Contacts),
            run("predict", "apply_gravity", Bodies),
        ],
    },
    Stage {
        name: "warm_start",
        phase: Phase::Solve,
        work: &[Colours(Pass {
            colour: kernel("warm_start", "apply_colour", Once),
            gather: kernel("warm_start", "gather_colour", Once),
            rest: kernel("warm_start", "apply_rest", Once),
            arguments: ARGUMENTS_SWEEP,
        })],
    },
    Stage {
        name: "sweep",
        phase: Phase::Solve,
        work: &[Sweeps(Pass {
            colour: kernel("sweep", "sweep_colour", Once),
            gather: kernel("sweep", "gather_colour", Once),
            rest: kernel("sweep", "sweep_rest", Once),
            arguments: ARGUMENTS_SWEEP,
        })],
    },
    Stage {
        name: "ledger",
        phase: Phase::Solve,
        work: &[book("book_contacts", Contacts), book("book_gravity", Bodies), book("close", Once)],
    },
    Stage {
        name: "integrate",
        phase: Phase::Solve,
        work: &[
            run("integrate", "judge", Bodies),
            run("integrate", "move_grains", Grains),
            run("integrate", "move_boundaries", Boundaries),
            run("sinks", "drain", GrainsNearSinks),
            run("integrate", "finish_substep", Once),
        ],
    },
    Stage {
        name: "remember",
        phase: Phase::Close,
        work: &[
            run("matching", "remember_contacts", Contacts),
            run("matching", "remember_owners", Grains),
            run("matching", "finish_step", Once),
        ],
    },
];

/// After each sweep, where a tolerance is set.
pub const CHECK: Kernel = kernel("sweep", "check_change", Once);

/// Measured only when asked for.
pub const RESIDUAL: Stage =
    Stage { name: "residual", phase: Phase::Close, work: &[run("residual", "measure", Contacts)] };

/// Impulses of the impact stage go where last step's stood: those have been carried over by then.
const THROWN_AWAY: Aliases = &[("impulses", "old_impulses")];
/// What is kept while contacts are given colours uses the room of the rows, which are made later.
const PENDING: Aliases = &[("pending", "row_arms"), ("best", "row_targets")];

const fn kernel(shader: &'static str, entry: &'static str, over: Over) -> Kernel {
    Kernel { shader, entry, over, aliases: &[] }
}

const fn run(shader: &'static str, entry: &'static str, over: Over) -> Work {
    Run(kernel(shader, entry, over))
}

const fn book(entry: &'static str, over: Over) -> Work {
    Book(kernel("ledger", entry, over))
}

const fn pending_kernel(entry: &'static str, over: Over) -> Kernel {
    Kernel { shader: "colouring", entry, over, aliases: PENDING }
}

const fn pending(entry: &'static str, over: Over) -> Work {
    Run(pending_kernel(entry, over))
}

/// Visits the stages of a step in order.
pub fn for_each_stage(substeps: u32, mut visit: impl FnMut(&'static Stage)) {
    let mut visit_phase = |phase| STEP.iter().filter(|stage| stage.phase == phase).for_each(&mut visit);
    visit_phase(Phase::Search);
    for _ in 0..substeps {
        visit_phase(Phase::Solve);
    }
    visit_phase(Phase::Close);
}
