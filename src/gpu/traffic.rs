//! Bytes that a step must move: what its kernels cannot do without, if no cache holds anything from one kernel to
//! the next and within a kernel everything that is looked up twice.
//!
//! Beside the [step list](super::step): a kernel that runs over grains, bodies, buckets or contacts has a row here. Kernels that
//! run once, over boundaries or on impacts move next to nothing in a scene at rest; what sinks and dynamic boundaries take on top
//! is not counted.

use crate::engine::{Snapshot, StepReport};
use crate::settings::{Bookkeeping, Settings};

use super::constants::Planned;
use super::layout::{
    ConstraintArms, ConstraintHead, Contact, Entry, Overflow, Pose, Sphere, Velocity, Works,
};
use super::step::{self, Kernel, Over, Pass, Stage, Work};

/// Sizes that the bytes of a step depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Grains.
    pub grains: u64,
    /// Contacts.
    pub contacts: u64,
    /// Those of them that carry an impulse: a sweep writes nothing for the others.
    pub loaded: u64,
    /// Contacts without a colour.
    pub overflow: u64,
}

impl Sizes {
    /// Those of a state.
    pub fn of(state: &Snapshot) -> Sizes {
        let loaded = state.contacts.iter().filter(|contact| contact.is_active()).count() as u64;
        let StepReport { contacts, overflow, .. } = state.report;
        Sizes { grains: state.world.grain_count() as u64, contacts, loaded, overflow }
    }
}

/// What a kernel moves \[bytes\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Traffic {
    /// Per grain.
    grain: u64,
    /// Per contact.
    contact: u64,
    /// Per contact that carries an impulse, on top of that.
    loaded: u64,
    /// Per contact without a colour, on top of that.
    overflow: u64,
}

impl Traffic {
    fn bytes(self, sizes: &Sizes) -> u64 {
        self.grain * sizes.grains
            + self.contact * sizes.contacts
            + self.loaded * sizes.loaded
            + self.overflow * sizes.overflow
    }
}

const WORD: u64 = 4;
const CONTACT: u64 = size_of::<Contact>() as u64;
const POSE: u64 = size_of::<Pose>() as u64;
const ROW: u64 = (size_of::<ConstraintHead>() + size_of::<ConstraintArms>()) as u64;
const OVERFLOW: u64 = size_of::<Overflow>() as u64;
/// What a contact does to one of its bodies.
const SHARE: u64 = 6 * WORD;
/// A grain in its cell, as the search sees it.
const ENTRY: u64 = size_of::<Entry>() as u64;
const SPHERE: u64 = size_of::<Sphere>() as u64;
const VELOCITY: u64 = size_of::<Velocity>() as u64;
/// Linear and rolling impulse.
const IMPULSE: u64 = 6 * WORD;
/// A sum of works per workgroup of 64.
const SHARE_OF_WORKS: u64 = size_of::<Works>() as u64 / 64;
/// A count per colour and block of 256 contacts.
const SHARE_OF_COUNTS: u64 = 9 * WORD / 256;
/// Colours taken and the two words of the contest, per body.
const USED: u64 = WORD;
const BEST: u64 = 2 * WORD;

const fn grain(grain: u64) -> Traffic {
    Traffic { grain, contact: 0, loaded: 0, overflow: 0 }
}

const fn contact(contact: u64) -> Traffic {
    Traffic { grain: 0, contact, loaded: 0, overflow: 0 }
}

const fn both(grain: u64, contact: u64) -> Traffic {
    Traffic { grain, contact, loaded: 0, overflow: 0 }
}

/// A pass over the contacts: no grain twice in a colour, so the velocities of both bodies go with each contact. One
/// that carries nothing is read and left as it is.
const fn pass(read: u64, read_if_loaded: u64, written: u64) -> Traffic {
    Traffic { grain: 0, contact: read, loaded: read_if_loaded + written, overflow: 0 }
}

const fn overflow(overflow: u64) -> Traffic {
    Traffic { grain: 0, contact: 0, loaded: 0, overflow }
}

/// Shader, kernel, bytes; buckets are as many as grains. Finding pairs reads each grain once: its neighbours come from
/// the cache.
const TRAFFIC: &[(&str, &str, Traffic)] = &[
    ("broadphase", "clear_buckets", grain(WORD)),
    ("broadphase", "count_cells", grain(POSE + SPHERE + 2 * WORD)),
    ("broadphase", "fill_cells", grain(POSE + SPHERE + 2 * WORD + ENTRY)),
    ("broadphase", "count_pairs", both(POSE + SPHERE + 3 * WORD + ENTRY, WORD)),
    ("broadphase", "store_pairs", both(3 * WORD, WORD + CONTACT)),
    ("matching", "match_previous", both(WORD, CONTACT + 2 * WORD)),
    ("matching", "match_impulses", contact(CONTACT + 2 * IMPULSE)),
    ("matching", "remember_contacts", contact(CONTACT + 3 * WORD + 2 * IMPULSE)),
    ("matching", "remember_owners", grain(2 * WORD)),
    ("colouring", "clear_colours", grain(USED + BEST)),
    ("colouring", "seed_colours", both(2 * USED, CONTACT + 2 * WORD)),
    ("overflow", "clear_sides", grain(2 * WORD)),
    ("overflow", "count_copies", both(0, CONTACT)),
    ("overflow", "count_sides", overflow(6 * WORD)),
    ("overflow", "fill_sides", overflow(8 * WORD)),
    ("overflow", "order_sides", overflow(10 * WORD + OVERFLOW)),
    ("colouring", "count_colours", contact(WORD + SHARE_OF_COUNTS)),
    ("colouring", "place_contacts", contact(2 * WORD + SHARE_OF_COUNTS)),
    ("narrowphase", "find_geometry", both(POSE + SPHERE, CONTACT + ROW)),
    // Of most contacts it only sees that they are with no patch. What it does with those that are is not counted.
    ("narrowphase", "join_patches", contact(CONTACT)),
    ("narrowphase", "apply_laws", contact(2 * ROW + IMPULSE)),
    ("response", "find_responses", overflow(ROW + 2 * (VELOCITY + WORD) + OVERFLOW)),
    ("impact", "find_impacts", both(VELOCITY, ROW)),
    ("balance", "keep_velocities", grain(2 * VELOCITY)),
    ("balance", "book_bodies", grain(3 * VELOCITY + SHARE_OF_WORKS)),
    ("balance", "book_contacts", pass(IMPULSE, ROW + 2 * VELOCITY, 0)),
    // Few contacts are with a boundary; of the others only the bodies are looked at.
    ("loads", "add_loads", contact(size_of::<ConstraintHead>() as u64)),
    ("predict", "prepare_constraints", both(VELOCITY, ROW + 2 * IMPULSE)),
    ("predict", "apply_forces", grain(2 * VELOCITY)),
    ("warm_start", "apply_colour", pass(IMPULSE, ROW + 2 * VELOCITY, 2 * VELOCITY)),
    ("sweep", "sweep_colour", pass(ROW + IMPULSE + 2 * VELOCITY, 0, IMPULSE + 2 * VELOCITY)),
    // What bodies are given, and of an iteration what it knows of a contact: two impulses and three slopes.
    ("warm_start", "give_colour", pass(IMPULSE, ROW + 2 * VELOCITY, 2 * VELOCITY)),
    ("gradient", "find_slopes", contact(ROW + IMPULSE + 2 * VELOCITY + 3 * IMPULSE)),
    ("gradient", "aim", contact(ROW + 2 * VELOCITY + (1 + 3 + 4 + 2) * IMPULSE)),
    ("gradient", "arrive", contact(ROW + 2 * VELOCITY + (1 + 4 + 1) * IMPULSE)),
    ("warm_start", "give_overflow", overflow(OVERFLOW + SHARE)),
    // Beyond what a contact with a colour moves. As a rule one of its bodies has no other contact without a colour, and
    // takes its share at once.
    ("warm_start", "apply_overflow", overflow(OVERFLOW + SHARE)),
    ("sweep", "sweep_overflow", overflow(OVERFLOW + SHARE)),
    // With what the sweep after it moves more: the impulses of the sweep before, read and written.
    (
        "sweep",
        "extrapolate",
        Traffic { grain: 4 * VELOCITY, contact: 2 * IMPULSE, loaded: 0, overflow: 2 * IMPULSE },
    ),
    ("sweep", "gather_sides", overflow(2 * WORD + SHARE + 2 * VELOCITY)),
    ("integrate", "judge", grain(VELOCITY)),
    ("integrate", "move_bodies", grain(VELOCITY + 2 * POSE)),
    ("integrate", "note_travel", grain(VELOCITY + SPHERE + 2 * WORD)),
];

/// What a kernel moves; nothing where it has no row.
fn of_kernel(kernel: &Kernel) -> Traffic {
    let row = TRAFFIC.iter().find(|(shader, entry, _)| (*shader, *entry) == (kernel.shader, kernel.entry));
    row.map_or(Traffic::default(), |&(_, _, traffic)| traffic)
}

/// Whether a kernel runs over so many things, in a scene at rest, that it needs a row.
fn needs_a_row(kernel: &Kernel) -> bool {
    !matches!(
        kernel.over,
        Over::Once
            | Over::SpheresNearSinks
            | Over::Aimed
            | Over::Joints
            | Over::Machines
            | Over::At(Planned::ImpactContacts)
            | Over::At(Planned::ImpactRound)
            | Over::At(Planned::ImpactBodies)
            | Over::At(Planned::Search)
            | Over::At(Planned::Pending)
    )
}

/// Bytes of one piece of work of a stage that runs.
fn of_work(work: &Work, sizes: &Sizes, settings: &Settings) -> u64 {
    let bytes = |kernel: &Kernel| if needs_a_row(kernel) { of_kernel(kernel).bytes(sizes) } else { 0 };
    match work {
        Work::Run(kernel) | Work::Weigh(kernel) => bytes(kernel),
        Work::Book(kernel) if settings.bookkeeping == Bookkeeping::On => bytes(kernel),
        // Only where there are meshes, or joints.
        Work::Join(_) | Work::Hold(_) | Work::BookJoints(_) => 0,
        Work::Book(_) | Work::Rounds(..) | Work::Impacts(..) => 0,
        Work::Scan(_, aliases) => scanned(aliases, sizes),
        Work::Colours(pass) => of_pass(pass, sizes),
        // Tries that fail come on top.
        Work::Descend { aim, give, arrive, .. } => {
            u64::from(settings.iterations) * (bytes(aim) + of_pass(give, sizes) + bytes(arrive))
        }
        Work::Sweeps(pass) => {
            let extrapolation =
                pass.extrapolation(settings).map_or(0, |kernel| of_kernel(kernel).bytes(sizes));
            let sweeps = u64::from(settings.iterations);
            of_pass(pass, sizes) * sweeps + extrapolation * sweeps.saturating_sub(1)
        }
    }
}

fn of_pass(pass: &Pass, sizes: &Sizes) -> u64 {
    [&pass.colour, &pass.overflow, &pass.gather].map(|kernel| of_kernel(kernel).bytes(sizes)).iter().sum()
}

/// A prefix sum reads its array twice and writes it once.
fn scanned(aliases: step::Aliases, sizes: &Sizes) -> u64 {
    let is_of_colours = aliases.iter().any(|(_, buffer)| *buffer == "colour_counts");
    3 * if is_of_colours { SHARE_OF_COUNTS * sizes.contacts } else { WORD * sizes.grains }
}

/// Bytes that a stage must move in one step of a scene at rest, all its substeps together. Stages of the search move them
/// in a step that searches.
pub fn of_stage(stage: &Stage, sizes: &Sizes, settings: &Settings) -> u64 {
    let times = match stage.phase {
        step::Phase::Solve => u64::from(settings.substeps),
        step::Phase::Bounce => 0,
        step::Phase::Open | step::Phase::Search | step::Phase::Close => 1,
    };
    times * stage.work.iter().map(|work| of_work(work, sizes, settings)).sum::<u64>()
}

/// Bytes that one sweep must move per contact, whether it carries an impulse or not; in the mean over a solve, where sweeps
/// are accelerated.
pub fn per_contact_sweep(sizes: &Sizes, settings: &Settings) -> f64 {
    let sweep =
        step::NONSMOOTH.stages().filter(|stage| stage.name == step::SWEEP).flat_map(|stage| stage.work);
    let bytes = sweep.map(|work| of_work(work, sizes, settings)).sum::<u64>();
    bytes as f64 / f64::from(settings.iterations.max(1)) / sizes.contacts.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::step::{DESCENDING, NONSMOOTH, Phase};
    use crate::settings::Acceleration;

    const SIZES: Sizes = Sizes { grains: 100, contacts: 400, loaded: 300, overflow: 20 };

    #[test]
    fn every_kernel_that_moves_much_has_a_row_and_every_row_a_kernel() {
        let all: Vec<&Kernel> = DESCENDING
            .stages()
            .chain(NONSMOOTH.stages())
            .flat_map(|stage| stage.work)
            .flat_map(Work::kernels)
            .collect();
        for kernel in all.iter().filter(|kernel| needs_a_row(kernel)) {
            assert!(of_kernel(kernel) != Traffic::default(), "{}.{} has no row", kernel.shader, kernel.entry);
        }
        for (shader, entry, _) in TRAFFIC {
            let is_in_use = all.iter().any(|kernel| (kernel.shader, kernel.entry) == (*shader, *entry));
            assert!(is_in_use, "no stage runs {shader}.{entry}");
        }
    }

    #[test]
    fn a_sweep_moves_constraint_impulse_and_two_velocities_and_writes_back_what_it_changed() {
        let settings = Settings { iterations: 20, acceleration: Acceleration::None, ..Settings::default() };
        let sweep = NONSMOOTH.stages().find(|stage| stage.name == "sweep").expect("a stage of that name");
        let read = 64 + 24 + 2 * 32;
        let written = 24 + 2 * 32;
        // Copies, slots and response, a share put aside and gathered, and the body that takes it.
        let overflow = 32 + 24 + (8 + 24 + 2 * 32);
        let sweeping = 400 * read + 300 * written + 20 * overflow;
        assert_eq!(of_stage(sweep, &SIZES, &settings), 20 * sweeping);
        assert_eq!(per_contact_sweep(&SIZES, &settings), sweeping as f64 / 400.0);
        let two = Settings { substeps: 2, ..settings };
        assert_eq!(of_stage(sweep, &SIZES, &two), 2 * of_stage(sweep, &SIZES, &settings));
    }

    #[test]
    fn a_sweep_that_another_follows_moves_what_it_is_carried_on_by_as_well() {
        let plain = Settings { iterations: 20, acceleration: Acceleration::None, ..Settings::default() };
        let carried = Settings { acceleration: Acceleration::Nesterov, ..plain };
        // Velocities now and before, read and written; impulses before, likewise, in 19 of the 20. Those of the contacts without a
        // colour are read and written once more.
        let more = 19.0 / 20.0 * f64::from(100 * 4 * 32 + (400 + 20) * 2 * 24) / 400.0;
        let found = per_contact_sweep(&SIZES, &carried) - per_contact_sweep(&SIZES, &plain);
        assert!((found - more).abs() < 1e-9, "{found} bytes and not {more}");
    }

    #[test]
    fn every_stage_moves_something_and_works_cost_nothing_when_not_kept() {
        let off = Settings { bookkeeping: Bookkeeping::Off, ..Settings::default() };
        for stage in NONSMOOTH.stages().filter(|stage| !matches!(stage.phase, Phase::Open | Phase::Close)) {
            let moves = of_stage(stage, &SIZES, &Settings::default()) > 0;
            assert_eq!(moves, stage.phase != Phase::Bounce, "{}", stage.name);
        }
        let balance = NONSMOOTH.stages().find(|stage| stage.name == "balance").expect("a stage of that name");
        assert_eq!(of_stage(balance, &SIZES, &off), 0);
    }
}
