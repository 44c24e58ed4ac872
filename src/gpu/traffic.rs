//! Bytes that a step must move: the least memory traffic of its kernels, if caches keep nothing from one kernel to the next, but
//! within a kernel everything that is read twice.
//!
//! The table here goes with the [step list](super::step): a kernel that runs over grains, bodies, buckets or contacts has an entry.
//! Kernels that run once, over boundaries or on impacts move next to nothing in a scene at rest. The additional traffic of sinks and
//! dynamic boundaries is not counted.

use crate::engine::{Snapshot, StepReport};
use crate::settings::{Acceleration, Bookkeeping, Settings};

use super::capacity::cubes_for;
use super::constants::Planned;
use super::layout::{ConstraintHead, Contact, Entry, Overflow, Pose, Sphere, Velocity, Works, has_arms};
use super::step::{self, Kernel, Over, Pass, Stage, Work};

/// Numbers of grains and contacts on which the bytes of a step depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Number of grains.
    pub grains: u64,
    /// Number of contacts.
    pub contacts: u64,
    /// Number of contacts that carry an impulse: a sweep writes nothing for the others.
    pub loaded: u64,
    /// Number of overflow contacts.
    pub overflow: u64,
    /// Whether the arms of contacts are stored as vectors.
    pub arms: bool,
}

impl Sizes {
    /// Returns the numbers of grains and contacts of a state.
    pub fn of(state: &Snapshot) -> Sizes {
        let loaded = state.contacts.iter().filter(|contact| contact.is_active()).count() as u64;
        let StepReport { contacts, overflow, .. } = state.report;
        let (grains, arms) = (state.world.grain_count() as u64, has_arms(&state.world));
        Sizes { grains, contacts, loaded, overflow, arms }
    }

    /// Returns the bytes of a contact constraint.
    fn row(&self) -> u64 {
        size_of::<ConstraintHead>() as u64 + if self.arms { 32 } else { 16 }
    }

    /// Returns the number of cubes of cells of both tilings.
    fn cubes(&self) -> u64 {
        2 * cubes_for(self.grains)
    }
}

/// Memory traffic of a kernel \[bytes\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Traffic {
    /// Per grain.
    grain: u64,
    /// Per contact.
    contact: u64,
    /// Per contact that carries an impulse, in addition to `contact`.
    loaded: u64,
    /// Per overflow contact, in addition to `contact`.
    overflow: u64,
    /// Per cube of cells by which bodies are sorted into tiles, for both tilings.
    cube: u64,
}

impl Traffic {
    fn bytes(self, sizes: &Sizes) -> u64 {
        self.grain * sizes.grains
            + self.contact * sizes.contacts
            + self.loaded * sizes.loaded
            + self.overflow * sizes.overflow
            + self.cube * sizes.cubes()
    }
}

const WORD: u64 = 4;
const CONTACT: u64 = size_of::<Contact>() as u64;
const POSE: u64 = size_of::<Pose>() as u64;
const OVERFLOW: u64 = size_of::<Overflow>() as u64;
/// Sphere in its bucket of the grid, as the search reads it.
const ENTRY: u64 = size_of::<Entry>() as u64;
const SPHERE: u64 = size_of::<Sphere>() as u64;
const VELOCITY: u64 = size_of::<Velocity>() as u64;
/// Velocity and angular velocity before a sweep, without mass and inertia.
const LAST_VELOCITY: u64 = 6 * WORD;
/// Body of a tile, with its slots.
const MEMBER: u64 = 3 * WORD;
/// Linear and rolling impulse.
const IMPULSE: u64 = 6 * WORD;
/// Share of one invocation in the sum of works that a workgroup of 64 writes.
const SHARE_OF_WORKS: u64 = size_of::<Works>() as u64 / 64;
/// Tiles of a body and the colours that its contacts have taken.
const USED: u64 = 3 * WORD;
/// Words per body in which contacts without a colour compete for one.
const BEST: u64 = 4 * WORD;

const NOTHING: Traffic = Traffic { grain: 0, contact: 0, loaded: 0, overflow: 0, cube: 0 };

const fn grain(grain: u64) -> Traffic {
    Traffic { grain, ..NOTHING }
}

const fn contact(contact: u64) -> Traffic {
    Traffic { contact, ..NOTHING }
}

const fn both(grain: u64, contact: u64) -> Traffic {
    Traffic { grain, contact, ..NOTHING }
}

/// Returns the traffic of a pass over the contacts, tile by tile: each body is read and written once for each of the two tilings. A contact
/// without an impulse is read, but not written.
const fn pass(read: u64, loaded: u64) -> Traffic {
    Traffic { grain: 4 * VELOCITY, contact: read, loaded, ..NOTHING }
}

const fn overflow(overflow: u64) -> Traffic {
    Traffic { overflow, ..NOTHING }
}

/// Returns shader, kernel and traffic of each kernel; `row` is the size of a contact constraint \[bytes\]. The number of buckets is taken
/// as that of the grains. The search for pairs reads each grain once, as its neighbours come from the cache.
fn table(row: u64) -> Vec<(&'static str, &'static str, Traffic)> {
    vec![
        ("broadphase", "clear_buckets", grain(WORD)),
        ("broadphase", "count_cells", grain(POSE + SPHERE + 2 * WORD)),
        ("broadphase", "fill_cells", grain(POSE + SPHERE + 2 * WORD + ENTRY)),
        ("broadphase", "count_pairs", both(POSE + SPHERE + 3 * WORD + ENTRY, WORD)),
        ("broadphase", "store_pairs", both(3 * WORD, WORD + CONTACT)),
        ("matching", "match_previous", both(WORD, CONTACT + 2 * WORD)),
        ("matching", "match_impulses", contact(CONTACT + 2 * IMPULSE)),
        ("matching", "remember_contacts", contact(CONTACT + 3 * WORD + 2 * IMPULSE)),
        ("matching", "remember_owners", grain(2 * WORD)),
        ("tiles", "clear_cubes", Traffic { cube: WORD, ..NOTHING }),
        ("tiles", "count_cubes", grain(POSE + 4 * WORD)),
        ("tiles", "assign_tiles", grain(POSE + 2 * WORD + USED + BEST + WORD)),
        ("colouring", "seed_colours", both(2 * USED, CONTACT + 2 * WORD)),
        ("colouring", "list_pending", contact(WORD)),
        ("overflow", "clear_sides", grain(2 * WORD)),
        ("overflow", "count_copies", both(0, CONTACT)),
        ("overflow", "count_sides", overflow(6 * WORD)),
        ("overflow", "fill_sides", overflow(8 * WORD)),
        (
            "overflow",
            "order_sides",
            Traffic { grain: 2 * WORD + MEMBER, overflow: 10 * WORD + OVERFLOW, ..NOTHING },
        ),
        ("tiles", "count_bins", both(USED + SPHERE, CONTACT + WORD)),
        ("tiles", "fill_bins", both(USED + SPHERE, CONTACT + 2 * WORD)),
        ("tiles", "order_bins", both(USED + SPHERE, CONTACT + 2 * WORD)),
        ("narrowphase", "find_geometry", both(POSE + SPHERE, CONTACT + row)),
        // Most contacts are with no patch of a mesh, and are only read. The work on contacts with patches is not counted.
        ("narrowphase", "join_patches", contact(CONTACT)),
        ("narrowphase", "merge_flush", contact(CONTACT)),
        // The same holds for contacts of solids.
        ("solids", "find_manifolds", contact(CONTACT)),
        ("solids", "merge_solids", contact(CONTACT)),
        ("solids", "share_pull", contact(CONTACT)),
        ("facets", "meet_facets", contact(CONTACT)),
        ("facets", "drop_repeated", contact(CONTACT)),
        ("narrowphase", "apply_laws", contact(2 * row + IMPULSE)),
        ("response", "find_responses", overflow(row + 2 * (VELOCITY + WORD) + OVERFLOW)),
        ("impact", "find_impacts", both(VELOCITY, row)),
        ("balance", "keep_velocities", grain(2 * VELOCITY)),
        ("balance", "book_bodies", grain(3 * VELOCITY + SHARE_OF_WORKS)),
        ("balance", "book_contacts", Traffic { contact: IMPULSE, loaded: row + 2 * VELOCITY, ..NOTHING }),
        // Few contacts are with a boundary; of the others the kernel reads the bodies only.
        ("loads", "add_loads", contact(size_of::<ConstraintHead>() as u64)),
        // In scenes with meters only.
        ("stress", "add_stress", Traffic { contact: IMPULSE, loaded: row + 2 * POSE, ..NOTHING }),
        ("stress", "add_motion", grain(POSE + SPHERE + VELOCITY)),
        ("stress", "add_grain_stress", Traffic { contact: IMPULSE, loaded: row + 2 * 18 * WORD, ..NOTHING }),
        ("predict", "prepare_constraints", both(VELOCITY, row + 2 * IMPULSE)),
        ("predict", "apply_forces", grain(2 * VELOCITY)),
        ("warm_start", "apply_contacts", pass(IMPULSE, row)),
        ("warm_start", "start_changes", grain(2 * VELOCITY)),
        ("warm_start", "finish_changes", grain(3 * VELOCITY)),
        // Includes the gathering of what the sweep before left in slots. The bodies that take it are counted with the pass.
        (
            "sweep",
            "sweep_contacts",
            Traffic { grain: 4 * VELOCITY + MEMBER, overflow: VELOCITY, ..pass(row + IMPULSE, IMPULSE) },
        ),
        // Projected gradient descent: changes on the bodies, and per contact two impulses and three slopes.
        ("warm_start", "give_contacts", pass(IMPULSE, row)),
        ("gradient", "find_slopes", contact(row + IMPULSE + 2 * VELOCITY + 3 * IMPULSE)),
        ("gradient", "aim", contact(row + 2 * VELOCITY + (1 + 3 + 4 + 2) * IMPULSE)),
        ("gradient", "arrive", contact(row + 2 * VELOCITY + (1 + 4 + 1) * IMPULSE)),
        ("warm_start", "give_overflow", overflow(OVERFLOW + 2 * VELOCITY + VELOCITY)),
        // In addition to the traffic of a contact with a colour. As a rule one body of an overflow contact has no other such contact, and
        // takes its impulse at once.
        ("warm_start", "apply_overflow", overflow(OVERFLOW + 2 * VELOCITY + VELOCITY)),
        ("sweep", "sweep_overflow", overflow(OVERFLOW + 2 * VELOCITY + VELOCITY)),
        ("sweep", "gather_sides", Traffic { grain: MEMBER, overflow: VELOCITY + 2 * VELOCITY, ..NOTHING }),
        ("integrate", "judge", grain(VELOCITY)),
        ("integrate", "move_bodies", grain(VELOCITY + 2 * POSE)),
        ("integrate", "note_travel", grain(VELOCITY + SPHERE + 2 * WORD)),
    ]
}

/// Additional traffic of a sweep that is carried on from the one before: its impulses and velocities, read and written.
const CARRIED_ON: Traffic = Traffic { grain: 2 * LAST_VELOCITY, contact: 2 * IMPULSE, ..NOTHING };

/// Returns the traffic of a kernel with constraints of `row` bytes; zero if it has no entry in the table.
fn of_kernel(kernel: &Kernel, row: u64) -> Traffic {
    let table = table(row);
    let row = table.iter().find(|(shader, entry, _)| (*shader, *entry) == (kernel.shader, kernel.entry));
    row.map_or(Traffic::default(), |&(_, _, traffic)| traffic)
}

/// Whether a kernel moves so much in a scene at rest that it needs an entry in the table.
fn needs_a_row(kernel: &Kernel) -> bool {
    !matches!(
        kernel.over,
        Over::Once
            | Over::SpheresNearSinks
            | Over::Aimed
            | Over::Joints
            | Over::Machines
            | Over::At(Planned::Parts)
            | Over::At(Planned::ImpactParts)
            | Over::At(Planned::ImpactContacts)
            | Over::At(Planned::ImpactGather)
            | Over::At(Planned::ImpactRound)
            | Over::At(Planned::ImpactAim)
            | Over::At(Planned::Search)
            | Over::At(Planned::Tiles)
    )
}

/// Returns the bytes of one work of a stage that runs.
fn of_work(work: &Work, sizes: &Sizes, settings: &Settings) -> u64 {
    let bytes =
        |kernel: &Kernel| if needs_a_row(kernel) { of_kernel(kernel, sizes.row()).bytes(sizes) } else { 0 };
    match work {
        Work::Run(kernel) | Work::Weigh(kernel) => bytes(kernel),
        Work::Book(kernel) if settings.bookkeeping == Bookkeeping::On => bytes(kernel),
        // These run in scenes with meshes, flush surfaces, joints or meters of stress only.
        Work::Join(_) | Work::Meet(_) | Work::Merge(_) | Work::Hold(_) | Work::BookJoints(_) => 0,
        Work::Measure(_) => 0,
        Work::Book(_) | Work::Pause(_) | Work::Impacts(..) => 0,
        Work::Scan(_, aliases) => scanned(aliases, sizes),
        Work::Visit(pass) => of_visit(pass, sizes),
        Work::Sum(works) if settings.warm_start.updates_velocities() => {
            works.iter().map(|work| of_work(work, sizes, settings)).sum()
        }
        Work::Sum(_) => 0,
        // Failed tries are not counted.
        Work::Descend { aim, give, arrive, .. } => {
            let pass = of_visit(give, sizes) + bytes(&give.gather);
            u64::from(settings.iterations) * (bytes(aim) + pass + bytes(arrive))
        }
        Work::Sweeps(pass) => {
            let is_accelerated = settings.acceleration == Acceleration::Nesterov;
            let carried_on = if is_accelerated { CARRIED_ON.bytes(sizes) } else { 0 };
            let sweeps = u64::from(settings.iterations);
            of_visit(pass, sizes) * sweeps + carried_on * sweeps.saturating_sub(1) + bytes(&pass.gather)
        }
    }
}

fn of_visit(pass: &Pass, sizes: &Sizes) -> u64 {
    [&pass.contacts, &pass.overflow].map(|kernel| of_kernel(kernel, sizes.row()).bytes(sizes)).iter().sum()
}

/// Returns the bytes of a prefix sum, which reads its array twice and writes it once.
fn scanned(aliases: step::Aliases, sizes: &Sizes) -> u64 {
    // There are fewer tiles and bins than grains, and several times as many cubes of cells.
    let is_of_cubes = aliases.iter().any(|(_, buffer)| *buffer == "cube_ends");
    3 * WORD * if is_of_cubes { sizes.cubes() } else { sizes.grains }
}

/// Returns the bytes that a stage must move in one step of a scene at rest, all substeps together. For stages of the search, the
/// step is one with a rebuild of the neighbour list.
pub fn of_stage(stage: &Stage, sizes: &Sizes, settings: &Settings) -> u64 {
    let times = match stage.phase {
        step::Phase::Solve => u64::from(settings.substeps),
        step::Phase::Bounce | step::Phase::Strike => 0,
        step::Phase::Open | step::Phase::Search | step::Phase::Close => 1,
    };
    times * stage.work.iter().map(|work| of_work(work, sizes, settings)).sum::<u64>()
}

/// Returns the bytes that one sweep must move, per contact with or without an impulse. The value is the mean over the sweeps of a
/// solve.
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

    const SIZES: Sizes = Sizes { grains: 100, contacts: 400, loaded: 300, overflow: 20, arms: true };

    #[test]
    fn every_kernel_that_moves_much_has_a_row_and_every_row_a_kernel() {
        let all: Vec<&Kernel> = DESCENDING
            .stages()
            .chain(NONSMOOTH.stages())
            .flat_map(|stage| stage.work)
            .flat_map(Work::kernels)
            .collect();
        for kernel in all.iter().filter(|kernel| needs_a_row(kernel)) {
            assert!(
                of_kernel(kernel, 64) != Traffic::default(),
                "{}.{} has no row",
                kernel.shader,
                kernel.entry
            );
        }
        for (shader, entry, _) in table(64) {
            let is_in_use = all.iter().any(|kernel| (kernel.shader, kernel.entry) == (shader, entry));
            assert!(is_in_use, "no stage runs {shader}.{entry}");
        }
    }

    #[test]
    fn a_sweep_moves_constraints_impulses_and_the_velocities_of_all_bodies_and_writes_back_what_it_changed() {
        let settings = Settings { iterations: 20, acceleration: Acceleration::None, ..Settings::default() };
        let sweep = NONSMOOTH.stages().find(|stage| stage.name == "sweep").expect("a stage of that name");
        let (read, written) = (64 + 24, 24);
        // Data of the overflow contact and of its bodies, and the change of a body, stored in a slot and gathered.
        let overflow = 32 + 2 * 32 + 32 + 32;
        let sweeping = 100 * (4 * 32 + 12) + 400 * read + 300 * written + 20 * overflow;
        // The bodies that take the changes of the last sweep.
        let gathering = 100 * 12 + 20 * 3 * 32;
        // The velocities found anew: one pass that reads impulses, and the constraints of those that are not zero.
        let applied = 100 * 4 * 32 + 400 * 24 + 300 * 64 + 20 * (32 + 3 * 32);
        let summing = 100 * 2 * 32 + applied + gathering + 100 * 3 * 32;
        assert_eq!(of_stage(sweep, &SIZES, &settings), 20 * sweeping + gathering + summing);
        let mean = sweeping as f64 + (gathering + summing) as f64 / 20.0;
        assert_eq!(per_contact_sweep(&SIZES, &settings), mean / 400.0);
        let of_spheres = Sizes { arms: false, ..SIZES };
        let summing_spheres = summing - 300 * 16;
        let swept = 20 * (sweeping - 400 * 16) + gathering;
        assert_eq!(of_stage(sweep, &of_spheres, &settings), swept + summing_spheres);
        let two = Settings { substeps: 2, ..settings };
        assert_eq!(of_stage(sweep, &SIZES, &two), 2 * of_stage(sweep, &SIZES, &settings));
    }

    #[test]
    fn a_sweep_that_another_follows_moves_what_it_is_carried_on_by_as_well() {
        let plain = Settings { iterations: 20, acceleration: Acceleration::None, ..Settings::default() };
        let carried = Settings { acceleration: Acceleration::Nesterov, ..plain };
        // Velocities and impulses before, read and written, in 19 of the 20 sweeps.
        let more = 19.0 / 20.0 * f64::from(100 * 2 * 24 + 400 * 2 * 24) / 400.0;
        let found = per_contact_sweep(&SIZES, &carried) - per_contact_sweep(&SIZES, &plain);
        assert!((found - more).abs() < 1e-9, "{found} bytes and not {more}");
    }

    #[test]
    fn every_stage_moves_something_and_works_cost_nothing_when_not_kept() {
        let off = Settings { bookkeeping: Bookkeeping::Off, ..Settings::default() };
        for stage in NONSMOOTH.stages().filter(|stage| !matches!(stage.phase, Phase::Open | Phase::Close)) {
            let moves = of_stage(stage, &SIZES, &Settings::default()) > 0;
            assert_eq!(moves, !matches!(stage.phase, Phase::Bounce | Phase::Strike), "{}", stage.name);
        }
        let balance = NONSMOOTH.stages().find(|stage| stage.name == "balance").expect("a stage of that name");
        assert_eq!(of_stage(balance, &SIZES, &off), 0);
    }
}
