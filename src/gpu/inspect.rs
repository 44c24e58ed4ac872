//! Access to the data on the device between two stages, for stage tests and for the reports of the engine.

use bytemuck::Pod;
use glam::Vec3;
use pollster::block_on;

use crate::contact::{Colouring, Key, Overflow};
use crate::engine::{TotalImpulse, most_impact_sweeps};
use crate::error::Error;
use crate::model::MeterSums;
use crate::settings::Settings;

use super::constants::{self, Planned};
use super::layout::{self, ConstraintArms, ConstraintHead, LoadScale, Loads, Status, Works};
use super::step;
use super::{GpuEngine, kept};

/// Sweeps over the impacts that a single stage holds where the settings ask for fewer \[-\].
const SWEEPS_OF_STAGE: u32 = 200;

impl GpuEngine {
    /// Runs one stage of the step list; for stage tests. The search takes over settings that have changed since the last step.
    ///
    /// # Errors
    /// When the device is lost.
    ///
    /// # Panics
    /// When there is no such stage.
    pub fn run_stage(&mut self, name: &str) -> Result<(), Error> {
        if name == self.method.search[0].name {
            self.upload_params();
            let before = self.status()?;
            self.open_search(before);
        }
        self.submit_stage(name)
    }

    /// Prepares the device for a rebuild of the neighbour list, after a submission that left the status `before`.
    pub(super) fn open_search(&mut self, before: Status) {
        self.status = Status { search: 1, ..before };
        self.upload_schedule(1);
        self.write_status(&Status { search: 1, ..kept(&before) });
    }

    /// Submits one stage of the step list.
    pub(super) fn submit_stage(&self, name: &str) -> Result<(), Error> {
        let stages = self.method.stages().chain([&step::RESIDUAL]);
        let stages: Vec<_> = stages.into_iter().filter(|stage| stage.name == name).collect();
        assert!(!stages.is_empty(), "no stage of the step list is called {name}");
        // Nobody lets the impacts of a single stage go on, so it holds many more sweeps than they need, as a rule.
        let most = most_impact_sweeps(&self.settings, &self.world);
        let impact_iterations = self.settings.impact_iterations.max(most.min(SWEEPS_OF_STAGE));
        let settings = Settings { impact_iterations, ..self.settings };
        self.slot.submit_alone(self.features, |kernels, pass, buffers| {
            stages.into_iter().for_each(|stage| kernels.encode(pass, stage, &settings, buffers));
        });
        self.device().check()
    }

    /// Returns the names of all buffers; for stage tests.
    pub fn buffer_names(&self) -> Vec<&'static str> {
        self.slot.buffer_names()
    }

    /// Fills a buffer with one 32-bit word; for stage tests.
    pub fn fill_words(&self, buffer: &'static str, word: u32) {
        let words = vec![word; self.slot.part(buffer).bytes as usize / 4];
        self.slot.write(buffer, bytemuck::cast_slice(&words));
    }

    /// Reads the keys of the present contacts in ascending order.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn keys(&self) -> Result<Vec<Key>, Error> {
        Ok(self.contacts()?.iter().map(|contact| Key { a: contact.a, b: contact.b }).collect())
    }

    /// Reads the present contacts, in the order of their keys.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn contacts(&self) -> Result<Vec<layout::Contact>, Error> {
        self.read_now("contacts", block_on(self.contact_count())?)
    }

    /// Reads the present contact constraints, in solving order.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn constraints(&self) -> Result<Vec<(ConstraintHead, ConstraintArms)>, Error> {
        let count = block_on(self.contact_count())?;
        let heads: Vec<ConstraintHead> = self.read_now("constraint_heads", count)?;
        let per_contact = self.features.arm_blocks() as usize;
        let blocks: Vec<[u32; 4]> = self.read_now("constraint_arms", per_contact * count)?;
        let arms = heads.iter().zip(blocks.chunks_exact(per_contact));
        Ok(arms.map(|(head, blocks)| (*head, ConstraintArms::of(head, blocks))).collect())
    }

    /// Reads the impulses in solving order: linear, rolling, and under the smooth method the loads of the springs: tangential, twisting,
    /// rolling, 0. For cohesive materials the last number is the impulse of cohesion.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn impulses(&self) -> Result<Vec<Vec<f32>>, Error> {
        let numbers = self.numbers_per_impulse();
        let values: Vec<f32> = self.read_now("impulses", numbers * block_on(self.contact_count())?)?;
        Ok(values.chunks_exact(numbers).map(<[f32]>::to_vec).collect())
    }

    /// Reads the velocities of all bodies.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn velocities(&self) -> Result<Vec<layout::Velocity>, Error> {
        self.read_now("velocities", self.world.bodies.len())
    }

    /// Reads the velocities of all bodies after the warm start, with what it has left in slots for the first sweep; for stage tests.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn velocities_of_warm_start(&self) -> Result<Vec<layout::Velocity>, Error> {
        let mut velocities = self.velocities()?;
        if self.features.joints || self.features.descends || self.features.springs {
            return Ok(velocities);
        }
        let (count, status) = (velocities.len(), self.status()?);
        let slots: Vec<layout::Velocity> = self.read_now("velocities", count + status.sides as usize)?;
        let bins = (constants::BINS * status.tiles).next_multiple_of(constants::SCAN_BLOCK);
        let first = (bins + 2 * status.tiles) as usize;
        let lists: Vec<u32> = self.read_now("tile_lists", first + 3 * count)?;
        for member in lists[first..].as_chunks().0 {
            let [body, first, end] = member.map(|index| index as usize);
            for slot in &slots[count + first..count + end] {
                velocities[body].linear =
                    (Vec3::from(velocities[body].linear) + Vec3::from(slot.linear)).into();
                velocities[body].angular =
                    (Vec3::from(velocities[body].angular) + Vec3::from(slot.angular)).into();
            }
        }
        Ok(velocities)
    }

    /// Reads the colouring of the last step, over contacts in the order of their keys. Every colour of every tile counts as one. Contacts
    /// at further points of a manifold, which are solved after the one before them, begin another.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn colouring(&self) -> Result<Colouring, Error> {
        let contacts = self.contacts()?;
        let mut order = vec![0; contacts.len()];
        for (k, contact) in contacts.iter().enumerate() {
            if let Some(slot) = order.get_mut(contact.place as usize) {
                *slot = k as u32;
            }
        }
        let mut starts = self.starts()?;
        let coloured = *starts.last().unwrap_or(&0);
        let followers = contacts.iter().filter(|contact| contact.b >> constants::SHAPE_BITS > 1);
        starts.extend(followers.map(|contact| contact.place).filter(|place| *place < coloured));
        starts.sort_unstable();
        Ok(Colouring { order, tiles: Vec::new(), starts, overflow: Overflow::Split })
    }

    /// Reads the first place of each colour of each tile, those of the first tiling first, and of the overflow contacts.
    fn starts(&self) -> Result<Vec<u32>, Error> {
        let bins = (2 * constants::COLOURS * self.status()?.tiles) as usize;
        let ends: Vec<u32> = self.read_now("tile_lists", bins)?;
        Ok([0].into_iter().chain(ends).collect())
    }

    /// Reads the first place of each tile and the end of the last one, for both tilings.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn tilings(&self) -> Result<[Vec<u32>; 2], Error> {
        let count = self.status()?.tiles as usize;
        let starts: Vec<u32> = self.starts()?.into_iter().step_by(constants::COLOURS as usize).collect();
        Ok([starts[..=count].to_vec(), starts[count..].to_vec()])
    }

    /// Reads the number of workgroups that the device planned for each dispatch of a sweep: tiles of both tilings, overflow contacts, and
    /// the tiles in which bodies take the sums of their slots.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn planned_sweep(&self) -> Result<Vec<u32>, Error> {
        let first = Planned::Sweep.place() as usize;
        let end = first + constants::PASS as usize + 1;
        let words: Vec<[u32; 3]> = self.read_now("arguments", end)?;
        Ok(words[first..end].iter().map(|size| size.iter().product()).collect())
    }

    /// Reads the status of the last submission.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn status(&self) -> Result<Status, Error> {
        block_on(self.read_status())
    }

    /// Reads the works of the first substep of this submission; for stage tests.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn balance_entry(&self) -> Result<Works, Error> {
        Ok(self.read_now::<Works>("balance", 1)?[0])
    }

    /// Reads the impulses that contacts gave the boundaries in this submission; for stage tests.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn loads(&self) -> Result<Vec<TotalImpulse>, Error> {
        Ok(self.loads_of_submission()?.totals())
    }

    /// Reads the sums of the meters in this submission; for stage tests.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn stresses(&self) -> Result<Vec<MeterSums>, Error> {
        Ok(self.loads_of_submission()?.stresses())
    }

    fn loads_of_submission(&self) -> Result<Loads, Error> {
        let mut loads =
            Loads::none(LoadScale::of(&self.world, &self.anchors), &self.world, self.settings.substep());
        loads.add(&self.read_now::<u32>("loads", loads.bytes() as usize / 4)?);
        Ok(loads)
    }

    fn read_now<T: Pod>(&self, buffer: &str, count: usize) -> Result<Vec<T>, Error> {
        block_on(self.read_list(buffer, count))
    }
}
