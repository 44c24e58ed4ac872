//! Ensembles: worlds on one device that are launched together, so that many small scenes fill a graphics card.
//!
//! ```text
//! engine ─► slot ─┐
//! engine ─► slot ─┼─► launch: waits until every engine of the ensemble asks for steps ─► one submission ─► answers
//! engine ─► slot ─┘
//! ```
//!
//! Every buffer holds a part of the same size for each world (`shaders.rs`), and each world has its own engine, time, results and failures.
//! Engines of an ensemble step from threads of their own: a launch begins when all of them ask for steps. It does not wait for ever: an
//! engine that has something else to do is left out until it asks again. An engine that shares its device with no other is the only member
//! of an ensemble for one world, whose kernels know nothing of parts.

mod request;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::engine::Dispatches;
use crate::engine::clock::Instant;
use crate::error::Error;

use super::buffers::{Buffers, WorldPart};
use super::capacity::Capacity;
use super::counted::{CountedPass, DispatchTally};
use super::device::{Device, STORAGE_BUFFERS_OF_MANY};
use super::features::Features;
use super::kernel::Kernels;
use super::layout::Status;
use super::pipelines::Worlds;
use super::probe;
use super::readback;
use super::shader::Edit;
use super::step::{self, Pace};
use super::timing::Timer;

pub(super) use request::{LaunchAnswer, LaunchResults, Request, Wanted};

/// Least time for which a launch waits for members that are late.
const PATIENCE: Duration = Duration::from_millis(50);

/// Worlds on one device that are launched together.
pub struct Ensemble {
    device: Device,
    /// Power of two of the number of slots.
    bits: u32,
    shared: Mutex<EnsembleShared>,
    /// Signal to members that wait: another has made a launch, or leaves.
    changed: Condvar,
}

/// What the members of an ensemble share.
struct EnsembleShared {
    /// Buffers and kernels; `None` before the first world has come.
    data: Option<Data>,
    /// Edits of the shaders, for tests.
    edits: Vec<Edit>,
    slots: Vec<SlotState>,
    /// Members that wait for a launch, with what they ask for.
    waiting: Vec<(u32, Request)>,
    /// Answers that members have not taken yet; `None` where the launch failed.
    answers: BTreeMap<u32, Option<Box<LaunchAnswer>>>,
    /// Whether a launch is under way.
    is_launching: bool,
    /// Duration of the last launch, and so the time for which the next one waits for members that are late.
    last_launch: Duration,
    /// Timer of the stages, for an ensemble of one world.
    timer: Option<Timer>,
}

struct Data {
    buffers: Buffers,
    /// Kernels for each set of features that some world has or had.
    kernels: Vec<Kernels>,
}

/// State of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotState {
    /// No world has it.
    Free,
    /// Its world is expected to take part in the next launch.
    Expected,
    /// The last launch went without its world, which did not ask for steps in time.
    Absent,
}

impl Ensemble {
    /// Creates an ensemble with room for this number of worlds, which is rounded up to a power of two.
    ///
    /// # Errors
    /// When kernels of the device cannot bind the buffers that a launch of many worlds needs, and when the device does nothing.
    pub fn new(device: Device, worlds: usize) -> Result<Arc<Ensemble>, Error> {
        let bits = worlds.max(1).next_power_of_two().trailing_zeros();
        if bits > 0 && !device.launches_many() {
            let (needed, there) = (STORAGE_BUFFERS_OF_MANY, device.storage_buffers());
            return Err(Error::FewStorageBuffers { needed, there });
        }
        probe::check(&device)?;
        let shared = EnsembleShared {
            data: None,
            edits: Vec::new(),
            slots: vec![SlotState::Free; 1 << bits],
            waiting: Vec::new(),
            answers: BTreeMap::new(),
            is_launching: false,
            last_launch: Duration::ZERO,
            timer: None,
        };
        Ok(Arc::new(Ensemble { device, bits, shared: Mutex::new(shared), changed: Condvar::new() }))
    }

    /// Returns the number of worlds for which there is room.
    pub fn room(&self) -> usize {
        1 << self.bits
    }

    /// Returns the device of all worlds.
    pub fn device(&self) -> &Device {
        &self.device
    }

    fn lock(&self) -> MutexGuard<'_, EnsembleShared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a slot to a world with these features that needs this capacity.
    pub(super) fn join(self: &Arc<Self>, features: Features, capacity: &Capacity) -> Result<Slot, Error> {
        let mut shared = self.lock();
        let index = shared.slots.iter().position(|slot| *slot == SlotState::Free);
        let index = index.ok_or(Error::EnsembleFull { worlds: self.room() })?;
        shared.prepare(self, features, capacity)?;
        shared.data().buffers.clear(&self.device, index as u32);
        shared.slots[index] = SlotState::Expected;
        drop(shared);
        Ok(Slot { ensemble: Arc::clone(self), index: index as u32 })
    }
}

impl EnsembleShared {
    fn data(&self) -> &Data {
        self.data.as_ref().expect("a member has joined, and the first one brings the data")
    }

    /// Prepares kernels and buffers for a world with these features that needs this capacity.
    fn prepare(&mut self, ensemble: &Ensemble, features: Features, capacity: &Capacity) -> Result<(), Error> {
        let device = &ensemble.device;
        let worlds = if ensemble.bits == 0 { Worlds::One } else { Worlds::Many };
        let is_known = |data: &Data| data.kernels.iter().any(|kernels| kernels.features() == features);
        if !self.data.as_ref().is_some_and(is_known) {
            let pipelines = device.pipelines(features, &self.edits, worlds)?;
            if let Some(Data { buffers, kernels }) = &mut self.data {
                let made = Kernels::new(device, buffers, pipelines)?;
                // A scene that has changed its features seldom changes them back.
                if worlds == Worlds::One {
                    kernels.clear();
                }
                kernels.push(made);
            } else {
                let buffers = Buffers::new(device, capacity, ensemble.bits, pipelines.of_many.as_ref())?;
                let kernels = vec![Kernels::new(device, &buffers, pipelines)?];
                self.data = Some(Data { buffers, kernels });
            }
        }
        self.grow(device, capacity)
    }

    /// Gives every world room for this capacity.
    fn grow(&mut self, device: &Device, capacity: &Capacity) -> Result<(), Error> {
        let Some(Data { buffers, kernels }) = &mut self.data else { return Ok(()) };
        let capacity = buffers.capacity().union(capacity);
        if capacity == *buffers.capacity() {
            return Ok(());
        }
        buffers.grow(device, &capacity)?;
        for kernels in kernels {
            kernels.bind(device, buffers)?;
        }
        device.check()
    }

    fn write(&self, device: &Device, slot: u32, buffer: &str, offset: u64, bytes: &[u8]) {
        let WorldPart { buffer, start, .. } = self.data().buffers.part(buffer, slot);
        device.queue().write_buffer(&buffer, start + offset, bytes);
    }

    fn kernels(&self, features: Features) -> &Kernels {
        let known = self.data().kernels.iter().find(|kernels| kernels.features() == features);
        known.expect("kernels are made when a world joins or changes its features")
    }

    /// Chooses the worlds of the next submission.
    fn choose(&mut self, device: &Device, slots: &[u32]) {
        let launcher = self.data.as_mut().and_then(|data| data.buffers.launcher_mut());
        launcher.into_iter().for_each(|launcher| launcher.choose(device, slots));
    }

    /// Submits the steps of worlds that run the same kernels. Returns the dispatches of a step, and the names of the timed stages.
    fn submit(&mut self, device: &Device, class: &[&(u32, Request)]) -> (Dispatches, Vec<&'static str>) {
        let first = &class[0].1;
        let steps = class.iter().map(|(_, request)| request.steps).max().unwrap_or_default();
        let is_calm = class.iter().all(|(_, request)| request.pace == Pace::Calm);
        let pace = if is_calm { Pace::Calm } else { Pace::Full };
        for (slot, request) in class {
            let status = Status { calm: u32::from(is_calm), wanted: request.steps as u32, ..request.status };
            self.write_status(device, *slot, &status, request.wanted.loads);
        }
        self.choose(device, &class.iter().map(|(slot, _)| *slot).collect::<Vec<_>>());
        let mut encoder = device.encoder();
        let mut tally = DispatchTally::default();
        let launch = PendingLaunch {
            kernels: self.kernels(first.features),
            buffers: &self.data().buffers,
            request: first,
        };
        let timed = match &self.timer {
            Some(timer) => launch.encode_timed_step(&mut encoder, pace, timer, &mut tally),
            None => Vec::new(),
        };
        {
            let mut pass = CountedPass::begin(&mut encoder);
            for _ in 0..steps - u64::from(!timed.is_empty()) {
                first.method.for_each_stage(first.settings.substeps, pace, |stage| {
                    launch.encode_stage(&mut pass, stage, &mut tally);
                });
            }
            if class.iter().any(|(_, request)| request.measures) {
                launch.kernels.encode(&mut pass, &step::RESIDUAL, &first.settings, launch.buffers);
            }
        }
        device.submit(encoder);
        (tally.of_one_step(steps, &first.settings), timed)
    }

    /// Writes the status with which a submission begins, and sets the sums of the loads on boundaries to zero.
    fn write_status(&self, device: &Device, slot: u32, status: &Status, loads: u64) {
        self.write(device, slot, "status", 0, bytemuck::bytes_of(status));
        self.write(device, slot, "loads", 0, &vec![0; loads as usize]);
    }

    /// Whether every member that is expected asks for steps.
    fn is_complete(&self) -> bool {
        self.waiting.len() >= self.slots.iter().filter(|slot| **slot == SlotState::Expected).count()
    }

    /// Begins a launch of those who wait. Members that have not asked for steps are no longer expected.
    fn begin_launch(&mut self) -> Vec<(u32, Request)> {
        let requests = std::mem::take(&mut self.waiting);
        let is_here = |slot: usize| requests.iter().any(|(here, _)| *here as usize == slot);
        for (slot, state) in self.slots.iter_mut().enumerate() {
            if *state == SlotState::Expected && !is_here(slot) {
                *state = SlotState::Absent;
            }
        }
        self.is_launching = true;
        requests
    }
}

/// Kernels, buffers and settings of the worlds of a launch.
struct PendingLaunch<'a> {
    kernels: &'a Kernels,
    buffers: &'a Buffers,
    request: &'a Request,
}

impl PendingLaunch<'_> {
    /// Encodes one step with a compute pass per stage, so that each stage can be timed. Returns the names of the stages.
    fn encode_timed_step(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        pace: Pace,
        timer: &Timer,
        tally: &mut DispatchTally,
    ) -> Vec<&'static str> {
        let mut names = Vec::new();
        self.request.method.for_each_stage(self.request.settings.substeps, pace, |stage| {
            let mut pass = CountedPass::new(timer.begin(encoder, stage.name, names.len() as u32));
            self.encode_stage(&mut pass, stage, tally);
            names.push(stage.name);
        });
        timer.resolve(encoder, names.len() as u32);
        names
    }

    fn encode_stage(&self, pass: &mut CountedPass<'_>, stage: &step::Stage, tally: &mut DispatchTally) {
        let before = pass.dispatches();
        self.kernels.encode(pass, stage, &self.request.settings, self.buffers);
        tally.add(stage.name, pass.dispatches() - before);
    }
}

/// Place of a world in an ensemble: its parts of the buffers. The world leaves the ensemble when the slot is dropped.
pub(super) struct Slot {
    ensemble: Arc<Ensemble>,
    index: u32,
}

/// Turn of a member that waits.
enum WaitTurn {
    /// Launch for these members, itself among them.
    Launch(Vec<(u32, Request)>),
    /// Take the answer of a launch by another member.
    Take(Option<Box<LaunchAnswer>>),
}

impl Slot {
    pub(super) fn device(&self) -> &Device {
        &self.ensemble.device
    }

    /// Returns the capacity of each world.
    pub(super) fn capacity(&self) -> Capacity {
        *self.ensemble.lock().data().buffers.capacity()
    }

    /// Returns the largest size of a buffer of this world \[bytes\].
    pub(super) fn largest_buffer(&self) -> u64 {
        self.device().largest_binding() >> self.ensemble.bits
    }

    /// Returns the number of bytes that belong to this world.
    pub(super) fn bytes(&self) -> u64 {
        self.ensemble.lock().data().buffers.bytes()
    }

    pub(super) fn buffer_names(&self) -> Vec<&'static str> {
        self.ensemble.lock().data().buffers.names().collect()
    }

    /// Returns the part of a buffer that belongs to this world.
    pub(super) fn part(&self, buffer: &str) -> WorldPart {
        self.ensemble.lock().data().buffers.part(buffer, self.index)
    }

    /// Writes bytes into a buffer, from byte `offset` of the part of this world on.
    pub(super) fn write_at(&self, buffer: &str, offset: u64, bytes: &[u8]) {
        self.ensemble.lock().write(self.device(), self.index, buffer, offset, bytes);
    }

    /// Writes bytes to the beginning of a buffer.
    pub(super) fn write(&self, buffer: &str, bytes: &[u8]) {
        self.write_at(buffer, 0, bytes);
    }

    /// Writes the status with which a submission begins, and sets the sums of the loads on boundaries to zero.
    pub(super) fn write_status(&self, status: &Status, loads: u64) {
        self.ensemble.lock().write_status(self.device(), self.index, status, loads);
    }

    /// Reads the first bytes of several buffers, one after the other, in one wait.
    pub(super) async fn read(&self, parts: &[(&str, u64)]) -> Result<Vec<u8>, Error> {
        let parts: Vec<WorldPart> =
            parts.iter().map(|&(buffer, bytes)| WorldPart { bytes, ..self.part(buffer) }).collect();
        readback::read_all(self.device(), &parts).await
    }

    /// Reads the results of a submission.
    pub(super) async fn read_results(&self, wanted: Wanted) -> Result<LaunchResults, Error> {
        Ok(wanted.take(&mut self.read(&wanted.parts()).await?.as_slice()))
    }

    /// Gives every world of the ensemble room for this capacity. The others use the new room when they ask for more themselves, between
    /// the same steps as alone: until then their constants tell the old one.
    pub(super) fn grow(&self, capacity: &Capacity) -> Result<(), Error> {
        self.ensemble.lock().grow(self.device(), capacity)
    }

    /// Prepares kernels and buffers for other features and a larger capacity of this world.
    pub(super) fn prepare(&self, features: Features, capacity: &Capacity) -> Result<(), Error> {
        self.ensemble.lock().prepare(&self.ensemble, features, capacity)
    }

    /// Compiles the kernels of all members anew, from edited sources.
    pub(super) fn edit(&self, edits: &[Edit]) -> Result<(), Error> {
        let mut shared = self.ensemble.lock();
        shared.edits = edits.to_vec();
        let made = shared.data.as_mut().map(|data| std::mem::take(&mut data.kernels)).unwrap_or_default();
        let capacity = *shared.data().buffers.capacity();
        made.iter().try_for_each(|kernels| shared.prepare(&self.ensemble, kernels.features(), &capacity))
    }

    /// Sets the timer of the stages, which an ensemble of several worlds has not.
    pub(super) fn set_timer(&self, timer: Option<Timer>) {
        self.ensemble.lock().timer = timer.filter(|_| self.ensemble.bits == 0);
    }

    /// Submits commands for this world alone.
    pub(super) fn submit_alone(
        &self,
        features: Features,
        encode: impl FnOnce(&Kernels, &mut CountedPass<'_>, &Buffers),
    ) {
        let device = self.device();
        let mut shared = self.ensemble.lock();
        shared.choose(device, &[self.index]);
        let mut encoder = device.encoder();
        {
            let mut pass = CountedPass::begin(&mut encoder);
            // The sizes are still those of the worlds of the last submission.
            shared.data().buffers.launcher().into_iter().for_each(|launcher| launcher.find_sizes(&mut pass));
            encode(shared.kernels(features), &mut pass, &shared.data().buffers);
        }
        device.submit(encoder);
    }

    /// Waits until all members of the ensemble ask for steps, launches them, and returns what they left of this world.
    pub(super) async fn launch(&self, request: Request) -> Result<LaunchAnswer, Error> {
        match self.wait_for_turn(request) {
            WaitTurn::Take(Some(answer)) => Ok(*answer),
            WaitTurn::Take(None) => {
                self.device().check()?;
                Err(Error::DeviceLost { reason: "a launch of several worlds failed".into(), time: f64::NAN })
            }
            WaitTurn::Launch(requests) => self.launch_all(&requests).await,
        }
    }

    /// Waits until this member has to launch, or another has launched its steps. The only member of an ensemble never waits.
    fn wait_for_turn(&self, request: Request) -> WaitTurn {
        let Ensemble { changed, .. } = &*self.ensemble;
        let mut shared = self.ensemble.lock();
        shared.waiting.push((self.index, request));
        shared.slots[self.index as usize] = SlotState::Expected;
        let mut since = Instant::now();
        loop {
            if let Some(answer) = shared.answers.remove(&self.index) {
                return WaitTurn::Take(answer);
            }
            if shared.is_launching {
                since = Instant::now();
                shared = changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let patience = shared.last_launch.max(PATIENCE).saturating_sub(since.elapsed());
            if shared.is_complete() || patience.is_zero() {
                return WaitTurn::Launch(shared.begin_launch());
            }
            let waited = changed.wait_timeout(shared, patience);
            shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Launches the steps of all members and hands out their answers; returns that of this world.
    async fn launch_all(&self, requests: &[(u32, Request)]) -> Result<LaunchAnswer, Error> {
        let mut handing = Handing {
            slot: self,
            open: requests.iter().map(|(slot, _)| *slot).collect(),
            since: Instant::now(),
        };
        let mut launched: Vec<(&(u32, Request), Dispatches)> = Vec::new();
        let mut timed = Vec::new();
        let mut parts = Vec::new();
        {
            let mut shared = self.ensemble.lock();
            for class in classes(requests) {
                let (dispatches, stages) = shared.submit(self.device(), &class);
                launched.extend(class.into_iter().map(|member| (member, dispatches.clone())));
                timed = stages;
            }
            let buffers = &shared.data().buffers;
            for ((slot, request), _) in &launched {
                let of_world = request.wanted.parts().into_iter();
                parts.extend(of_world.map(|(name, bytes)| WorldPart { bytes, ..buffers.part(name, *slot) }));
            }
        }
        let bytes = readback::read_all(self.device(), &parts).await?;
        // Only an ensemble of one world has a timer.
        let stages = self.read_timer(&timed).await?;
        let mut rest = bytes.as_slice();
        let mut own = None;
        for ((slot, request), dispatches) in launched {
            let results = request.wanted.take(&mut rest);
            let answer = LaunchAnswer { results, dispatches, stages: stages.clone() };
            if *slot == self.index {
                own = Some(answer);
            } else {
                handing.give(*slot, answer);
            }
        }
        handing.open.retain(|slot| *slot != self.index);
        own.ok_or_else(|| Error::Refused { reason: "a launch left out a world that had asked for it".into() })
    }

    /// Reads the wall times of the timed stages \[s\].
    async fn read_timer(&self, timed: &[&'static str]) -> Result<Vec<(&'static str, f64)>, Error> {
        let Some(timer) = self.ensemble.lock().timer.take() else { return Ok(Vec::new()) };
        let stages = timer.read(self.device(), timed).await;
        self.ensemble.lock().timer = Some(timer);
        stages
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut shared = self.ensemble.lock();
        shared.slots[self.index as usize] = SlotState::Free;
        shared.answers.remove(&self.index);
        shared.waiting.retain(|(slot, _)| *slot != self.index);
        // The others may all be waiting now.
        self.ensemble.changed.notify_all();
    }
}

/// Sorts requests into those that can be launched together.
fn classes(requests: &[(u32, Request)]) -> Vec<Vec<&(u32, Request)>> {
    let mut classes: Vec<Vec<&(u32, Request)>> = Vec::new();
    for member in requests {
        match classes.iter_mut().find(|class| class[0].1.goes_with(&member.1)) {
            Some(class) => class.push(member),
            None => classes.push(vec![member]),
        }
    }
    classes
}

/// Answers that a launch still has to hand out. Members that get none learn of the failure.
struct Handing<'a> {
    slot: &'a Slot,
    open: Vec<u32>,
    /// Start of the launch.
    since: Instant,
}

impl Handing<'_> {
    fn give(&mut self, slot: u32, answer: LaunchAnswer) {
        self.open.retain(|open| *open != slot);
        self.slot.ensemble.lock().answers.insert(slot, Some(Box::new(answer)));
    }
}

impl Drop for Handing<'_> {
    fn drop(&mut self) {
        let mut shared = self.slot.ensemble.lock();
        for slot in self.open.iter().filter(|slot| **slot != self.slot.index) {
            shared.answers.insert(*slot, None);
        }
        shared.is_launching = false;
        shared.last_launch = self.since.elapsed();
        self.slot.ensemble.changed.notify_all();
    }
}
