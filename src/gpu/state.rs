//! The state of the device, brought back into the world and the contacts of a snapshot.

use crate::contact::{Impulse, Key};
use crate::engine::{Residuals, Snapshot, Spread};
use crate::error::Error;
use crate::settings::Bookkeeping;

use super::GpuEngine;
use super::counted::CountedPass;
use super::layout::{self, RowTarget};
use super::step;

impl GpuEngine {
    /// Brings positions and velocities back into `world`, and which grains were removed.
    pub(super) fn pull_world(&mut self) -> Result<(), Error> {
        let poses = self.read_list("poses", self.world.bodies.len())?;
        let velocities = self.velocities()?;
        layout::pull(&mut self.world, &self.anchors, &poses, &velocities);
        if self.world.sliders().next().is_some() {
            let count = layout::rigid_count(&self.world).min(self.world.boundaries.len());
            let rigids: Vec<layout::Rigid> = self.read_list("rigids", count)?;
            layout::pull_drives(&mut self.world, &rigids, self.settings.substep());
        }
        if self.world.has_drains() {
            let spheres: Vec<layout::Sphere> =
                self.read_list("spheres", self.world.vertices.len() + self.world.spheres.len())?;
            self.ledger.removed_energy += layout::pull_removed(&mut self.world, &spheres);
        }
        Ok(())
    }

    /// Residuals of the last substep, measured on the device, summed here in order.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn measure_residuals(&self) -> Result<Residuals, Error> {
        let mut encoder = self.device.encoder();
        {
            let mut pass = CountedPass::begin(&mut encoder);
            self.kernels.encode(&mut pass, &step::RESIDUAL, &self.settings, &self.buffers);
        }
        self.device.submit(encoder);
        let count = self.contact_count()?;
        let blocks: Vec<[f32; 8]> = self.read_list("residuals", count.div_ceil(64))?;
        let spread = |row: usize| Spread {
            mean: blocks.iter().map(|block| f64::from(block[row])).sum::<f64>() / count.max(1) as f64,
            max: blocks.iter().map(|block| f64::from(block[4 + row])).fold(0.0, f64::max),
        };
        Ok(Residuals { normal: spread(0), friction: spread(1), rolling: spread(2) })
    }

    pub(super) fn take_snapshot(&mut self) -> Result<Snapshot, Error> {
        self.pull_world()?;
        let impulses = match self.report.step {
            0 => self.find_initial_contacts()?,
            _ => self.solved_contacts()?,
        };
        let substep = self.settings.substep();
        let ledger = (self.settings.bookkeeping == Bookkeeping::On).then_some(self.ledger);
        let snapshot = Snapshot::new(self.world.clone(), impulses, substep, self.report.clone());
        Ok(Snapshot { impulses: self.impulses.clone(), ledger, ..snapshot })
    }

    /// Contacts of the last step with their impulses.
    fn solved_contacts(&self) -> Result<Vec<(Key, Impulse)>, Error> {
        let count = self.contact_count()?;
        let contacts: Vec<layout::Contact> = self.read_list("contacts", count)?;
        let targets: Vec<RowTarget> = self.read_list("row_targets", count)?;
        let values: Vec<[f32; 6]> = self.read_list("impulses", count)?;
        let with_impulse = |contact: &layout::Contact| {
            let place = contact.place as usize;
            (Key { a: contact.a, b: contact.b }, layout::impulse(&targets[place], &values[place]))
        };
        Ok(self.newcomers.without_theirs(&self.world, contacts.iter().map(with_impulse), count))
    }

    /// Contacts before the first step: they carry nothing yet.
    fn find_initial_contacts(&mut self) -> Result<Vec<(Key, Impulse)>, Error> {
        for stage in ["search", "broadphase"] {
            self.run_stage(stage)?;
        }
        let status = self.status()?;
        if status.halted & layout::HALT_CONTACTS != 0 {
            self.make_room_for(status.contacts)?;
            return self.find_initial_contacts();
        }
        Ok(self.keys()?.into_iter().map(|key| (key, Impulse::default())).collect())
    }
}
