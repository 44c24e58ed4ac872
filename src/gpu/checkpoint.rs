//! Checkpoints of the GPU engine: saving and restoring its state.
//!
//! A checkpoint holds the data on the device between two steps, unchanged: cells and offsets, not the world positions that they round
//! to; the contacts with their places and colours, from which the next rebuild starts; and the dispatch sizes that the last rebuild
//! planned.

use std::borrow::Cow;
use std::io::Write;

use bytemuck::Pod;
use glam::DMat3;
use serde::{Deserialize, Serialize};

use crate::contact::{Impulse, Key};
use crate::engine::consistent::check_keys;
use crate::engine::saved::{self, MOST_STEPS};
use crate::engine::{EnergyBalance, Newcomers, StepReport};
use crate::error::Error;
use crate::model::World;
use crate::model::consistent::{Fault, claim, claim_length};

use super::GpuEngine;
use super::capacity::Capacity;
use super::consistent::{Lists, SavedGpu, list};
use super::features::Features;
use super::layout::{
    self, Anchors, ConstraintHead, Contact, Loads, Overflow, Pose, Status, Totals, Velocity,
};

/// Number of bytes that are sent to the device at once.
const PORTION: usize = 64 << 20;

/// Largest room for grains over their number: beyond it a state was not saved by this program.
const MOST_SPARE: usize = 1 << 10;

/// State of the host in a checkpoint; the contents of the buffers in [`STATE`] come after it.
#[derive(Serialize, Deserialize)]
struct SavedHost<'a> {
    world: Cow<'a, World>,
    /// Number of grains for which the world has room.
    room_for_grains: usize,
    anchors: Anchors,
    capacity: Capacity,
    features: Features,
    status: Vec<u8>,
    newcomers: Cow<'a, Newcomers>,
    seeds: Cow<'a, [(Key, Impulse)]>,
    substeps_done: u64,
    start_time: f64,
    report: Cow<'a, StepReport>,
    balance: EnergyBalance,
    loads: Cow<'a, Loads>,
    grain_stresses: Cow<'a, [DMat3]>,
    /// Size of each buffer of [`STATE`], in their order \[bytes\].
    buffers: Vec<u64>,
}

/// Buffers whose content the next step reads before it writes them. All others are used within a step only, or follow from the world.
pub const STATE: [&str; 17] = [
    "status",
    "arguments",
    "totals",
    "poses",
    "velocities",
    "spheres",
    "rigids",
    "travel",
    "contacts",
    "contact_starts",
    "constraint_heads",
    "impulses",
    "overflow",
    "tile_lists",
    "joints",
    "joint_rows",
    "grain_loads",
];

/// Returns the size of a list of `count` elements \[bytes\].
fn bytes_of<T: Pod>(count: usize) -> u64 {
    (count * size_of::<T>()) as u64
}

/// Returns the size of the used part of a buffer of the state \[bytes\], with this count of numbers per impulse.
fn in_use(buffer: &str, world: &World, status: &Status, capacity: &Capacity, numbers: usize) -> u64 {
    let (contacts, room) = (status.contacts.min(capacity.contacts) as usize, capacity.size_of(buffer));
    let bodies = world.bodies.len();
    match buffer {
        "status" => bytes_of::<Status>(1),
        "totals" => bytes_of::<Totals>(1),
        "poses" => bytes_of::<Pose>(bodies),
        "velocities" => bytes_of::<Velocity>(bodies),
        "rigids" => bytes_of::<layout::Rigid>(layout::rigid_count(world)),
        "travel" => bytes_of::<f32>(world.boundaries.len() + world.spheres.len()),
        "contacts" => bytes_of::<Contact>(contacts),
        "contact_starts" => bytes_of::<u32>(world.vertices.len() + world.spheres.len() + 1),
        "constraint_heads" => bytes_of::<ConstraintHead>(contacts),
        "impulses" => bytes_of::<f32>(numbers * contacts),
        "overflow" => bytes_of::<Overflow>(status.overflow as usize),
        "joints" => bytes_of::<layout::Joint>(world.joints.len()),
        "joint_rows" => bytes_of::<layout::JointRow>(capacity.joint_rows as usize),
        // Other buffers are no larger than needed, or hardly.
        _ => room,
    }
    .min(room)
}

impl SavedHost<'_> {
    /// Takes the contents of the buffers from the bytes behind the state.
    fn lists<'a>(&self, bytes: &mut &'a [u8]) -> Result<Lists<'a>, Error> {
        let mut lists = Lists::new();
        for (name, count) in STATE.into_iter().zip(&self.buffers) {
            lists.insert(name, saved::take(bytes, *count)?);
        }
        Ok(lists)
    }

    fn status(&self) -> Result<Status, Error> {
        bytemuck::try_pod_read_unaligned(&self.status).map_err(|error| saved::foreign(&error.to_string()))
    }

    /// Checks that the state holds together, whoever wrote it; the meshes may still be to come.
    fn check(&self, status: &Status, lists: &Lists<'_>, features: Features) -> Fault {
        let (world, capacity) = (&*self.world, &self.capacity);
        world.check_consistency()?;
        self.newcomers.check(world)?;
        self.report.check()?;
        claim(self.start_time.is_finite() && self.substeps_done < MOST_STEPS, || {
            "a time that is none".into()
        })?;
        check_keys(world, self.seeds.iter().map(|(key, _)| *key))?;
        claim(self.room_for_grains <= MOST_SPARE.saturating_mul(1024 + world.grain_count()), || {
            "more room than there is".into()
        })?;
        self.loads.check(world.boundaries.len())?;
        let saved = SavedGpu { world, anchors: &self.anchors, capacity, status, lists };
        saved.check_counts()?;
        let numbers = 2 * features.impulse_pairs() as usize;
        for (name, &found) in STATE.into_iter().zip(&self.buffers) {
            let needed = in_use(name, world, status, capacity, numbers);
            claim(found == needed, || format!("{found} bytes of {name}, and {needed} are in use"))?;
        }
        claim_length(self.buffers.len(), STATE.len(), "buffers for")?;
        saved.check_contents()
    }
}

impl GpuEngine {
    pub(super) async fn write_state(&self, out: &mut dyn Write) -> Result<(), Error> {
        let numbers = self.numbers_per_impulse();
        let sizes = STATE.map(|name| in_use(name, &self.world, &self.status, &self.slot.capacity(), numbers));
        let state = SavedHost {
            world: Cow::Borrowed(&self.world),
            room_for_grains: self.world.grains.capacity(),
            anchors: self.anchors,
            capacity: self.slot.capacity(),
            features: self.features,
            status: bytemuck::bytes_of(&self.status).to_vec(),
            newcomers: Cow::Borrowed(&self.newcomers),
            seeds: Cow::Borrowed(&self.seeds),
            substeps_done: self.substeps_done,
            start_time: self.start_time,
            report: Cow::Borrowed(&self.report),
            balance: self.balance,
            loads: Cow::Borrowed(&self.loads),
            grain_stresses: Cow::Borrowed(&self.grain_stresses),
            buffers: sizes.to_vec(),
        };
        saved::write(out, &state)?;
        for (name, bytes) in STATE.into_iter().zip(sizes) {
            let content = self.slot.read(&[(name, bytes)]).await?;
            out.write_all(&content).map_err(Error::file("checkpoint"))?;
        }
        Ok(())
    }

    /// Returns the world in a state that an engine of this kind saved, and the impulses of the contacts by key.
    ///
    /// # Errors
    /// [`Error::Unusable`] when the state is of another kind.
    pub fn saved_state(mut bytes: &[u8]) -> Result<(World, Vec<(Key, Impulse)>), Error> {
        let state: SavedHost<'static> = saved::read(&mut bytes)?;
        let (lists, status) = (state.lists(&mut bytes)?, state.status()?);
        state.check(&status, &lists, state.features).map_err(|fault| saved::foreign(&fault))?;
        let mut world = state.world.into_owned();
        let poses: Vec<Pose> = list(&lists, "poses");
        layout::pull(&mut world, &state.anchors, &poses, &list::<Velocity>(&lists, "velocities"));
        // The positions of the spheres on their bodies stand behind the spheres.
        let mut spheres: Vec<layout::Sphere> = list(&lists, "spheres");
        spheres.truncate(world.vertices.len() + world.spheres.len());
        layout::pull_removed(&mut world, &spheres);
        if state.report.step == 0 {
            // No step has been solved yet, so the impulses are those of the seeds.
            return Ok((world, state.seeds.into_owned()));
        }
        let (heads, values): (Vec<ConstraintHead>, Vec<f32>) =
            (list(&lists, "constraint_heads"), list(&lists, "impulses"));
        let numbers = 2 * state.features.impulse_pairs() as usize;
        let with_impulse = |contact: Contact| {
            let place = contact.place as usize;
            let impulse =
                layout::impulse(heads.get(place)?, values.get(numbers * place..numbers * (place + 1))?);
            Some((Key { a: contact.a, b: contact.b }, impulse))
        };
        let all = list::<Contact>(&lists, "contacts").into_iter().filter_map(with_impulse);
        let impulses = state.newcomers.without_theirs(&world, all, heads.len());
        Ok((world, impulses))
    }

    pub(super) fn read_state(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        let mut state: SavedHost<'static> = saved::read(&mut bytes)?;
        let (lists, status) = (state.lists(&mut bytes)?, state.status()?);
        state.world.check_scene(&self.world).map_err(|fault| saved::foreign(&fault))?;
        // Meshes are not saved. With them the patches of surfaces are known, and where the device has its solids.
        let world = state.world.to_mut();
        if !world.meshes.take_from(self.world.meshes.clone()) {
            return Err(saved::other_meshes());
        }
        world.check_consistency().map_err(|fault| saved::foreign(&fault))?;
        world.find_solids();
        let fits = state.check(&status, &lists, state.features);
        fits.map_err(|fault| saved::foreign(&fault))?;
        self.world = state.world.into_owned();
        let room = SavedGpu {
            world: &self.world,
            anchors: &state.anchors,
            capacity: &state.capacity,
            status: &status,
            lists: &lists,
        };
        room.check_room(&self.settings).map_err(|fault| saved::foreign(&fault))?;
        self.world.set_room(state.room_for_grains);
        self.anchors = state.anchors;
        self.status = status;
        self.newcomers = state.newcomers.into_owned();
        self.seeds = state.seeds.into_owned();
        self.substeps_done = state.substeps_done;
        self.start_time = state.start_time;
        self.report = state.report.into_owned();
        self.balance = state.balance;
        self.loads = state.loads.into_owned();
        self.grain_stresses = state.grain_stresses.into_owned();
        let measured = if self.world.measures_grains { self.world.grain_count() } else { 0 };
        if !self.loads.fit(&self.world) || self.grain_stresses.len() != measured {
            return Err(saved::foreign("loads of other boundaries, meters or grains"));
        }
        let own = Features::of(&self.world, &self.settings);
        if state.features.springs != own.springs {
            return Err(saved::foreign("contacts of the other method"));
        }
        let features = state.features.under(own, &self.settings);
        let capacity = state.capacity.under(&self.slot.capacity(), features);
        self.features = features;
        self.slot.prepare(features, &capacity)?;
        self.upload_world()?;
        for (name, content) in lists {
            self.upload(name, content)?;
        }
        self.device().check()
    }

    fn upload(&self, name: &str, content: &[u8]) -> Result<(), Error> {
        if content.len() as u64 > self.slot.part(name).bytes {
            return Err(saved::foreign("a buffer larger than its room"));
        }
        for (i, portion) in content.chunks(PORTION).enumerate() {
            self.slot.write_at(name, (i * PORTION) as u64, portion);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::super::Room;
    use super::super::layout::LoadScale;
    use super::*;
    use crate::law::pair::Material;
    use crate::model::{Grain, Materials};
    use crate::settings::Settings;

    /// What the host saves of a world of one grain, with buffers of one and two bytes.
    fn host() -> SavedHost<'static> {
        let stone =
            Material { name: "stone".into(), poisson_ratio: 0.25, friction: 0.4, ..Material::glass() };
        let mut world = World::new(DVec3::NEG_Z, Materials::new(vec![stone]));
        world.add_grains([Grain::at(DVec3::Z, 0.5, 0)]);
        let settings = Settings::default();
        let anchors = Anchors::for_world(&world, &settings);
        let loads = Loads::none(LoadScale::of(&world, &anchors), &world, settings.substep());
        SavedHost {
            room_for_grains: 1,
            anchors,
            capacity: Capacity::for_world(&world, &settings, Room::Contacts(7)),
            features: Features::of(&world, &settings),
            status: bytemuck::bytes_of(&Status::default()).to_vec(),
            newcomers: Cow::Owned(Newcomers::default()),
            seeds: Cow::Owned(Vec::new()),
            substeps_done: 3,
            start_time: 0.5,
            report: Cow::Owned(StepReport::default()),
            balance: EnergyBalance::default(),
            loads: Cow::Owned(loads),
            grain_stresses: Cow::Owned(Vec::new()),
            buffers: vec![1, 2],
            world: Cow::Owned(world),
        }
    }

    /// When this fails, checkpoints have changed: raise `FORMAT` in `src/checkpoint.rs`, and then this number.
    #[test]
    fn what_the_host_saves_has_the_bytes_that_belong_to_its_format() {
        let mut bytes = Vec::new();
        saved::write(&mut bytes, &host()).expect("saved");
        assert_eq!(crc32fast::hash(&bytes), 2_572_074_087);
    }

    /// The counter-check is refused for what comes after the world: the buffers.
    #[test]
    fn a_world_that_does_not_hold_together_starts_no_other_scene() {
        let refusal = |state: SavedHost<'_>| {
            let mut bytes = Vec::new();
            saved::write(&mut bytes, &state).expect("saved");
            bytes.extend([0; 3]);
            GpuEngine::saved_state(&bytes).expect_err("it has too few buffers").to_string()
        };
        let mut torn = host();
        torn.world.to_mut().ids.clear();
        assert!(refusal(torn).contains("0 ids for grains for 1"));
        assert!(!refusal(host()).contains("ids"));
    }
}
