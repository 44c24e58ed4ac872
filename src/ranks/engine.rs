//! Engine of several ranks: rank 0 takes all calls, and the others do what it asks for.
//!
//! Rank 0 keeps the whole scene beside its own part. Quantities and frames of a run come from the parts: every rank answers the same
//! questions about its own, and they join what they find ([`crate::engine::share`]). A state is gathered on rank 0 when something needs the
//! whole of it (checkpoints, pictures, changes of the scene), and a scene that was changed is divided anew before the next step. The whole
//! takes 230 bytes per grain on rank 0, and while a state is gathered as much as an engine of one process.

use std::io::Write;

use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

use crate::contact::carried::{Carried, KnownSide};
use crate::contact::disjoint::BodySet;
use crate::contact::{Impulse, Key};
use crate::cpu::search::Travel;
use crate::cpu::{CpuEngine, colouring};
use crate::engine::share::Share;
use crate::engine::{
    Answer, EnergyBalance, Engine, Identity, Occupied, Parts, Snapshot, StepReport, TotalImpulse,
};
use crate::error::Error;
use crate::model::{Grain, GrainState, MeterSums, World};
use crate::settings::{Algorithm, Method, Order, Settings};

use super::communicator::{Communicator, Shared};
use super::handover::{Cargo, Held};
use super::partition::Partition;
use super::{Links, RankExtent, links, newcomers};

/// Engine of rank 0, which stands for those of all ranks.
pub struct RankedEngine {
    /// The whole scene: its world and contacts as of the last time that they were gathered or changed.
    whole: CpuEngine,
    own: Rank,
    ranks: usize,
    /// Whether `whole` is at the state of the ranks, and whether these are at the state of `whole`.
    is_gathered: bool,
    is_scattered: bool,
}

/// Engine of any other rank.
pub struct Worker(Rank);

/// The part of a scene that a rank has.
struct Rank {
    part: CpuEngine,
    /// The present state of the part, once it was asked about.
    shown: Option<Snapshot>,
    answer: Answer,
}

/// Engine of a rank.
pub enum Ranked {
    /// Rank 0, which steps and observes the scene.
    Root(Box<RankedEngine>),
    /// Another rank, which works for it.
    Worker(Box<Worker>),
}

/// What rank 0 asks for.
#[derive(Serialize, Deserialize)]
enum RankCommand {
    Advance(u64),
    Scatter,
    Gather,
    CollectSpheres,
    TellRemoved,
    TakeIn,
    Answer(Vec<u8>),
    SetIterations(u32),
    Measure,
    End,
}

/// State that all ranks have in common.
#[derive(Serialize, Deserialize)]
struct CommonState {
    /// World without grains.
    world: World,
    partition: Partition,
    largest_reach: f64,
    largest_diameter: f64,
    is_guarded: bool,
    balance: EnergyBalance,
    substeps_done: u64,
    start_time: f64,
    report: StepReport,
}

/// State of a part.
#[derive(Serialize, Deserialize)]
struct Haul {
    grains: Vec<GrainState>,
    contacts: Vec<GatheredContact>,
    totals: Vec<TotalImpulse>,
    stresses: Vec<MeterSums>,
    counted: Vec<f64>,
    /// Sums of impulse times arm of the own grains, by place in the whole world.
    grain_stresses: Vec<(u32, DMat3)>,
}

/// State of a contact, with its key in the whole world.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct GatheredContact {
    key: Key,
    impulse: Impulse,
    cohesion: f64,
    springs: Impulse,
    normal: DVec3,
    known: Option<KnownSide>,
}

/// Opens the engine of a rank. The world and the settings are the same on all ranks; each keeps the grains of its region. `answer` answers
/// questions about its part.
///
/// # Errors
/// [`Error::NotOnRanks`] for settings that only an engine alone knows.
pub fn open(
    communicator: Box<dyn Communicator>,
    world: World,
    settings: Settings,
    answer: Answer,
) -> Result<Ranked, Error> {
    check(&settings, &world)?;
    let communicator = Shared::new(communicator);
    let (rank, ranks) = (communicator.rank(), communicator.ranks());
    let mut part = CpuEngine::new(world.without_grains(), settings);
    part.coupling = Box::new(Links {
        communicator,
        counted: BodySet::none(world.boundaries.len()),
        own: Vec::new(),
        ghosts: Vec::new(),
        out: Vec::new(),
        into: Vec::new(),
        dynamic: Vec::new(),
        touch_each_other: false,
        largest_diameter: 0.0,
        foreign: 0,
        held: Held::default(),
    });
    let own = Rank { part, shown: None, answer };
    if rank > 0 {
        return Ok(Ranked::Worker(Box::new(Worker(own))));
    }
    let whole = CpuEngine::new(world, settings);
    let engine = RankedEngine { whole, own, ranks, is_gathered: true, is_scattered: false };
    Ok(Ranked::Root(Box::new(engine)))
}

/// Refuses settings and scenes that need all contacts, bonds or bridges at one place.
fn check(settings: &Settings, world: &World) -> Result<(), Error> {
    let refuse = |what, advice| Err(Error::NotOnRanks { what, advice });
    match settings {
        _ if !world.bonds.is_empty() => refuse("bonds", "leave out [[bonds]], or run on one process"),
        // Ghosts do not know the temperatures of the grains that they are copies of.
        _ if world.heat.is_some() => refuse("a scene with heat", "leave out [heat], or run on one process"),
        _ if world.liquid.is_some() => refuse("liquid bridges", "leave out [liquid], or run on one process"),
        _ if world.deformation.is_some() => {
            refuse("a cell that deforms", "leave out [[periodic.stages]], or run on one process")
        }
        _ if settings.method == Method::Smooth => Ok(()),
        Settings { algorithm: Algorithm::Apgd, .. } => {
            refuse("the algorithm \"apgd\"", "set solver.algorithm = \"pgs\"")
        }
        Settings { coarse_corrections, .. } if *coarse_corrections > 0 => {
            refuse("coarse corrections", "set solver.coarse_corrections = 0")
        }
        Settings { order, .. } if *order != Order::Coloured => {
            refuse("an order of contacts other than by colours", "set solver.order = \"coloured\"")
        }
        _ => Ok(()),
    }
}

impl Worker {
    /// Does what rank 0 asks for, until its engine is dropped.
    pub fn serve(self) {
        let Worker(mut own) = self;
        loop {
            match links(&mut *own.part.coupling).broadcast::<RankCommand>(None) {
                // All ranks have agreed on the error, and rank 0 returns it.
                RankCommand::Advance(steps) => drop(own.advance(steps)),
                RankCommand::Scatter => own.scatter(None),
                RankCommand::Gather => own.gather(None),
                RankCommand::CollectSpheres => drop(newcomers::collect_spheres(&mut own.part)),
                RankCommand::TellRemoved => newcomers::tell_removed(&mut own.part, None),
                RankCommand::TakeIn => own.take_in(None),
                // Rank 0 alone writes files, which may fail.
                RankCommand::Answer(question) => drop(own.answer(&question)),
                RankCommand::SetIterations(iterations) => own.part.set_iterations(iterations),
                RankCommand::Measure => drop(measure(&mut own.part)),
                RankCommand::End => return,
            }
        }
    }
}

impl Rank {
    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        self.shown = None;
        self.part.advance(steps)
    }

    /// Takes its part of the whole scene, which rank 0 has.
    fn scatter(&mut self, whole: Option<&CpuEngine>) {
        self.shown = None;
        scatter(&mut self.part, whole);
    }

    /// Gives its state to the engine of the whole scene, on rank 0.
    fn gather(&mut self, whole: Option<&mut CpuEngine>) {
        self.shown = None;
        gather(&mut self.part, whole);
    }

    /// Takes its newcomers; rank 0 has the whole with their places in it.
    fn take_in(&mut self, whole: Option<(&CpuEngine, &[usize])>) {
        self.shown = None;
        newcomers::take_in(&mut self.part, whole);
    }

    /// Answers a question about the present state.
    fn answer(&mut self, question: &[u8]) -> Result<Vec<u8>, Error> {
        let shown = match self.shown.take() {
            Some(shown) => shown,
            None => show(&mut self.part)?,
        };
        (self.answer)(question, self.shown.insert(shown))
    }
}

/// State of a part, with what its rank counts of it.
fn show(part: &mut CpuEngine) -> Result<Snapshot, Error> {
    let mut shown = part.snapshot()?;
    let links = links(&mut *part.coupling);
    let rank = links.communicator.rank();
    let owned = links.held.owners.iter().map(|&owner| owner as usize == rank).collect();
    shown.share = Share::of_rank(owned, Box::new(links.communicator.clone()));
    for total in &mut shown.impulses {
        (total.linear, total.angular) = (shown.share.sum(total.linear), shown.share.sum(total.angular));
    }
    for total in &mut shown.stresses {
        *total = MeterSums::from_array(&shown.share.sum(total.to_array()));
    }
    shown.share.sum_each(&mut shown.world.counted);
    Ok(shown)
}

/// Divides the whole scene, which rank 0 has, among the ranks.
fn scatter(part: &mut CpuEngine, whole: Option<&CpuEngine>) {
    let links = links(&mut *part.coupling);
    let ranks = links.communicator.ranks();
    let common = links.broadcast(whole.map(|whole| CommonState::of(whole, ranks)));
    let cargos = whole.map(|whole| cargos(whole, &common.partition, ranks));
    let cargos = cargos.into_iter().flatten().enumerate().collect();
    let cargo = links.deliver::<Cargo>(cargos).pop().expect("rank 0 sends to all").1;
    let meshes = std::mem::replace(&mut part.world, common.world).meshes;
    assert!(part.world.meshes.take_from(meshes), "all ranks have read the same meshes");
    part.world.find_solids();
    let links = self::links(&mut *part.coupling);
    (links.held.partition, links.held.largest_reach) = (common.partition, common.largest_reach);
    links.largest_diameter = common.largest_diameter;
    part.grain_stresses = links.take(&mut part.world, cargo);
    part.travel = Travel::default();
    part.hold_contacts(Vec::new(), colouring::one_after_the_other(0), &[]);
    part.is_guarded = common.is_guarded;
    part.balance = common.balance;
    (part.substeps_done, part.start_time, part.report) =
        (common.substeps_done, common.start_time, common.report);
    // The totals so far are counted on one rank.
    part.impulses = whole.map_or_else(
        || vec![TotalImpulse::default(); part.world.boundaries.len()],
        |whole| whole.impulses.clone(),
    );
    part.stresses =
        whole.map_or_else(|| vec![MeterSums::ZERO; part.world.meter_bins()], |whole| whole.stresses.clone());
    if let Some(whole) = whole {
        part.world.counted.clone_from(&whole.world.counted);
    }
    part.world.replaced = whole.map_or_else(Vec::new, |whole| whole.world.all_removed());
}

/// Collects the state of all ranks in the engine of the whole scene on rank 0.
fn gather(part: &mut CpuEngine, whole: Option<&mut CpuEngine>) {
    part.note_objective();
    let haul = Haul::of(part);
    let hauls = links(&mut *part.coupling).deliver(vec![(0, haul)]);
    if let Some(whole) = whole {
        whole.take_over(part, hauls.into_iter().map(|(_, haul)| haul).collect());
    }
}

/// Sizes of the parts of all ranks, on rank 0.
fn measure(part: &mut CpuEngine) -> Vec<RankExtent> {
    let own = links(&mut *part.coupling).extent(&part.world, part.keys.len());
    links(&mut *part.coupling).deliver(vec![(0, own)]).into_iter().map(|(_, extent)| extent).collect()
}

impl CommonState {
    fn of(whole: &CpuEngine, ranks: usize) -> CommonState {
        let world = &whole.world;
        let present = world.present_grains();
        let positions = present.clone().map(|grain| world.bodies.position[world.grain_body(grain)]).collect();
        CommonState {
            world: world.without_grains(),
            partition: Partition::new(positions, ranks),
            largest_reach: present.map(|grain| world.grain_reach(grain)).fold(0.0, f64::max),
            largest_diameter: world.largest_diameter(),
            is_guarded: whole.is_guarded,
            balance: whole.balance,
            substeps_done: whole.substeps_done,
            start_time: whole.start_time,
            report: whole.report.clone(),
        }
    }
}

/// Grains and contacts of the whole scene, rank by rank; a contact goes to the ranks of both its grains.
fn cargos(whole: &CpuEngine, partition: &Partition, ranks: usize) -> Vec<Cargo> {
    let world = &whole.world;
    let mut cargos: Vec<Cargo> = (0..ranks).map(|_| Cargo::default()).collect();
    let owner = |grain: usize| partition.owner(world.bodies.position[world.grain_body(grain)]);
    for grain in world.present_grains() {
        let cargo = &mut cargos[owner(grain)];
        cargo.grains.push(world.grain_state(grain));
        cargo.stresses.extend(whole.grain_stresses.get(grain).map(|sum| (grain as u32, *sum)));
    }
    let goal = |shape: u32| world.grain_of_shape(shape).map(owner);
    for (&contact, constraint) in whole.colouring.order.iter().zip(&whole.constraints) {
        let key = whole.keys[contact as usize];
        let carried = Carried {
            key,
            impulse: *constraint.carried(whole.settings.method),
            known: whole.patches.known_of(&key),
        };
        let (a, b) = (goal(key.a), goal(key.b));
        // Contacts between boundaries are those of rank 0.
        let goals = a.or(b).or(Some(0)).into_iter().chain(b.filter(|_| a.is_some() && a != b));
        goals.for_each(|rank| cargos[rank].contacts.push(carried));
    }
    cargos.iter_mut().for_each(|cargo| cargo.contacts.sort_unstable_by_key(|contact| contact.key));
    cargos
}

impl Haul {
    fn of(part: &mut CpuEngine) -> Haul {
        let CpuEngine { world, keys, colouring, constraints, patches, impulses, coupling, .. } = part;
        let (stresses, grain_stresses) = (&part.stresses, &part.grain_stresses);
        let counted = coupling.counted(constraints.len());
        let links = links(&mut **coupling);
        let grains = links.own_states(world);
        let grain_stresses = links.own_stresses(grain_stresses);
        let state = |(&contact, constraint): (&u32, &crate::contact::constraint::Constraint)| {
            let key = keys[contact as usize];
            GatheredContact {
                key: links.held.in_whole(world, key),
                impulse: constraint.impulse,
                cohesion: constraint.cohesion,
                springs: constraint.last_impulse,
                normal: constraint.normal,
                known: patches.known_of(&key),
            }
        };
        let contacts = colouring.order.iter().zip(&*constraints).take(counted).map(state).collect();
        let (totals, stresses, counted) = (impulses.clone(), stresses.clone(), world.counted.clone());
        Haul { contacts, totals, stresses, counted, grain_stresses, grains }
    }
}

impl CpuEngine {
    /// Takes over the state of all ranks; `part` is that of rank 0, which has all boundaries.
    fn take_over(&mut self, part: &CpuEngine, hauls: Vec<Haul>) {
        let world = &mut self.world;
        (0..world.boundaries.len())
            .for_each(|body| world.bodies.set_state(body, &part.world.bodies.state(body)));
        (world.joints, world.joint_states) = (part.world.joints.clone(), part.world.joint_states.clone());
        world.time = part.world.time;
        self.impulses.fill(TotalImpulse::default());
        self.stresses.fill(MeterSums::ZERO);
        world.counted.fill(0.0);
        self.grain_stresses.fill(DMat3::ZERO);
        let mut contacts = Vec::new();
        for haul in hauls {
            haul.grains.iter().for_each(|state| world.set_grain_state(state.place as usize, state));
            self.impulses.iter_mut().zip(haul.totals).for_each(|(total, of_rank)| *total += of_rank);
            self.stresses.iter_mut().zip(haul.stresses).for_each(|(total, of_rank)| *total += of_rank);
            world.counted.iter_mut().zip(haul.counted).for_each(|(total, of_rank)| *total += of_rank);
            let of_grains = haul.grain_stresses.into_iter();
            of_grains.for_each(|(place, sum)| self.grain_stresses[place as usize] = sum);
            contacts.extend(haul.contacts);
        }
        contacts.sort_unstable_by_key(|contact| contact.key);
        self.hold_gathered(&contacts);
        self.travel.forget();
        (self.is_guarded, self.balance) = (part.is_guarded, part.balance);
        (self.substeps_done, self.start_time, self.report) =
            (part.substeps_done, part.start_time, part.report.clone());
    }

    /// Takes these contacts, sorted by key, as the present ones.
    fn hold_gathered(&mut self, contacts: &[GatheredContact]) {
        let keys = contacts.iter().map(|contact| contact.key).collect();
        let carried: Vec<Impulse> = match self.settings.method {
            Method::Nonsmooth => contacts.iter().map(|contact| contact.impulse).collect(),
            Method::Smooth => contacts.iter().map(|contact| contact.springs).collect(),
        };
        self.hold_contacts(keys, colouring::one_after_the_other(contacts.len()), &carried);
        for (constraint, contact) in self.constraints.iter_mut().zip(contacts) {
            (constraint.impulse, constraint.cohesion) = (contact.impulse, contact.cohesion);
            constraint.normal = contact.normal;
        }
        let known = contacts.iter().filter_map(|contact| contact.known).collect();
        assert!(self.patches.set_known(known), "every contact with a patch comes with its side");
    }
}

impl RankedEngine {
    /// Sizes of the parts of all ranks, and of what these exchange in a sweep.
    pub fn extents(&mut self) -> Vec<RankExtent> {
        self.command(RankCommand::Measure);
        measure(&mut self.own.part)
    }

    fn command(&mut self, command: RankCommand) {
        links(&mut *self.own.part.coupling).broadcast(Some(command));
    }

    /// The whole scene at its present state.
    fn gathered(&mut self) -> &mut CpuEngine {
        if !self.is_gathered {
            self.command(RankCommand::Gather);
            self.own.gather(Some(&mut self.whole));
            self.is_gathered = true;
        }
        &mut self.whole
    }

    /// As [`RankedEngine::gathered`], to be changed: it is divided anew before the next step.
    fn changed(&mut self) -> &mut CpuEngine {
        self.gathered();
        self.is_scattered = false;
        &mut self.whole
    }
}

impl Drop for RankedEngine {
    fn drop(&mut self) {
        // After a panic the other ranks may be anywhere, and end with this one.
        if !std::thread::panicking() {
            self.command(RankCommand::End);
        }
    }
}

impl Engine for RankedEngine {
    fn identity(&self) -> Identity {
        let driver = format!("{} ranks, {} threads each", self.ranks, rayon::current_num_threads());
        Identity { driver, ..self.own.part.identity() }
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        if !self.is_scattered {
            self.command(RankCommand::Scatter);
            self.own.scatter(Some(&self.whole));
            self.is_scattered = true;
        }
        if steps > 0 {
            self.whole.newcomers.clear();
            self.whole.release_contacts();
            self.is_gathered = false;
        }
        self.command(RankCommand::Advance(steps));
        self.own.advance(steps)
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        self.gathered().snapshot()
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        if self.is_gathered {
            return self.whole.occupied();
        }
        self.command(RankCommand::CollectSpheres);
        let spheres = newcomers::collect_spheres(&mut self.own.part);
        // Every rank has all boundaries.
        Ok(Occupied { spheres, boundaries: &self.own.part.world })
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        if !self.is_scattered {
            return self.whole.add_grains(grains);
        }
        self.command(RankCommand::TellRemoved);
        newcomers::tell_removed(&mut self.own.part, Some(&mut self.whole));
        let places = self.whole.put_grains(grains)?;
        self.command(RankCommand::TakeIn);
        self.own.take_in(Some((&self.whole, &places)));
        Ok(())
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        self.changed().change(change)
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        self.changed().seed(impulses)
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.command(RankCommand::SetIterations(iterations));
        self.whole.set_iterations(iterations);
        self.own.part.set_iterations(iterations);
    }

    /// Saves the whole scene. The scene is divided anew after that, as it is after [`Engine::restore`]: a run that was interrupted after a
    /// checkpoint and resumed has the same bits as one that went on.
    fn save(&mut self, out: &mut dyn Write) -> Result<(), Error> {
        self.changed().save(out)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.whole.restore(state)?;
        (self.is_gathered, self.is_scattered) = (true, false);
        Ok(())
    }

    fn parts(&mut self) -> Option<&mut dyn Parts> {
        if self.is_gathered { None } else { Some(self) }
    }

    /// Bytes that rank 0 holds.
    fn memory(&self) -> u64 {
        self.whole.memory() + self.own.part.memory()
    }
}

impl Parts for RankedEngine {
    fn ask(&mut self, question: Vec<u8>) -> Result<Vec<u8>, Error> {
        self.command(RankCommand::Answer(question.clone()));
        self.own.answer(&question)
    }
}
