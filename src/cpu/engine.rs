//! What the CPU engine does for its callers.

use glam::DMat3;

use crate::contact::flow::{CellMotion, Flow};
use crate::contact::joints::instant::note_forces;
use crate::contact::{Impulse, Key};
use crate::engine::{Engine, Identity, Occupied, Precision, Snapshot, StepReport, is_guarded};
use crate::error::Error;
use crate::model::{AppliedForce, Grain, World, contact_reach};
use crate::settings::{Bookkeeping, Method};

use super::{CpuEngine, residual, springs};

impl CpuEngine {
    /// Adds grains and returns their places in the list.
    ///
    /// # Errors
    /// When a period is too short for them.
    pub(crate) fn put_grains(&mut self, grains: &[Grain]) -> Result<Vec<usize>, Error> {
        let largest = grains.iter().map(|grain| grain.radius).fold(0.0, f64::max);
        self.world.periodic.check(contact_reach(largest, self.settings.reach()))?;
        let places = self.world.add_grains(grains.iter().copied());
        self.travel.forget();
        self.is_guarded = is_guarded(&self.settings, &self.world);
        self.balance.emitted_energy += self.world.kinetic_energy_of(&places);
        if self.world.measures_grains {
            self.grain_stresses.resize(self.world.grain_count(), DMat3::ZERO);
            places.iter().for_each(|&place| self.grain_stresses[place] = DMat3::ZERO);
        }
        self.newcomers.add(places.clone());
        Ok(places)
    }

    /// Notes the objective of the convex problem of the last substep: a pass over contacts and bodies, so only snapshots and saved states
    /// ask for it.
    pub(crate) fn note_objective(&mut self) {
        let flow = self.flow();
        let Self { world, settings, constraints, velocities, coupling, report, .. } = self;
        // A restored state has no working velocities before its first step.
        let is_new = report.step == 0 || velocities.is_empty();
        if report.objective.is_none() && !coupling.any(is_new) && settings.method == Method::Nonsmooth {
            report.objective =
                Some(residual::objective(world, flow, constraints, velocities, &mut **coupling));
        }
    }

    /// Flow of the deforming cell in the last substep.
    pub(super) fn flow(&self) -> Flow {
        self.cell.as_ref().map_or(Flow::default(), CellMotion::flow)
    }
}

impl Engine for CpuEngine {
    fn identity(&self) -> Identity {
        Identity {
            engine: "cpu",
            device: "CPU engine, double precision".into(),
            driver: format!("{} threads", rayon::current_num_threads()),
            backend: "rayon".into(),
            precision: Precision::Double,
        }
    }

    fn advance(&mut self, steps: u64) -> Result<StepReport, Error> {
        self.stages.0.clear();
        self.report.searches = 0;
        if steps > 0 {
            self.newcomers.clear();
        }
        self.undisturbed = self.world.undisturbed();
        // Inside a scope the work stays in the thread pool. From outside, every colour would wake the pool anew.
        rayon::scope(|_| (0..steps).try_for_each(|_| self.step()))?;
        if steps > 0 && self.settings.method == Method::Nonsmooth {
            let counted = &self.constraints[..self.coupling.counted(self.constraints.len())];
            let residuals = residual::measure(self.settings.cone, self.flow(), counted, &self.velocities);
            self.report.residuals = residual::joined(residuals, counted.len(), &mut *self.coupling);
            self.report.objective = None;
        }
        Ok(StepReport { stages: self.stages.0.clone(), ..self.report.clone() })
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        if self.report.step == 0 {
            self.find_contacts();
        }
        let constraints = self.colouring.order.iter().zip(&self.constraints);
        let with_impulse =
            constraints.map(|(&contact, constraint)| (self.keys[contact as usize], constraint.impulse));
        let impulses = self.newcomers.without_theirs(&self.world, with_impulse, self.constraints.len());
        self.note_objective();
        let report = self.report.clone();
        let balance = (self.settings.bookkeeping == Bookkeeping::On).then_some(self.balance);
        let (mut world, sides) = (self.world.clone(), self.patches.sides());
        note_forces(&mut world, &self.settings, &self.world.undisturbed());
        let mut snapshot = Snapshot::of_solved(world, impulses, &sides, &self.settings, report);
        let contacts = self.colouring.order.iter().map(|&contact| self.keys[contact as usize]);
        let cohesion = self.constraints.iter().map(|constraint| constraint.cohesion);
        snapshot.note_cohesion(contacts.clone().zip(cohesion));
        if self.settings.method == Method::Smooth {
            let held = self.constraints.iter().map(springs::held);
            snapshot.note_springs(&self.settings, contacts.zip(held));
        }
        let (impulses, stresses) = (self.impulses.clone(), self.stresses.clone());
        let grain_stresses = self.grain_stresses.clone();
        Ok(Snapshot { impulses, stresses, grain_stresses, balance, ..snapshot })
    }

    fn occupied(&mut self) -> Result<Occupied<'_>, Error> {
        Ok(Occupied::of(&self.world))
    }

    fn add_grains(&mut self, grains: &[Grain]) -> Result<(), Error> {
        self.put_grains(grains).map(drop)
    }

    fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        let before = self.world.kinetic_energy();
        change(&mut self.world);
        self.world.update_joints();
        self.world.solids.forget_sheets();
        self.balance.note_change(self.world.kinetic_energy() - before);
        self.travel.forget();
        self.is_guarded = is_guarded(&self.settings, &self.world);
        Ok(())
    }

    fn look(&mut self, look: &mut dyn FnMut(&World)) -> Result<(), Error> {
        look(&self.world);
        Ok(())
    }

    // The search takes the forces into account at each step, and nothing else depends on them.
    fn set_forces(&mut self, forces: &[AppliedForce]) -> Result<(), Error> {
        self.world.set_forces(forces);
        Ok(())
    }

    fn seed(&mut self, impulses: &[(Key, Impulse)]) -> Result<(), Error> {
        self.hold_seeds(impulses);
        Ok(())
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.settings.iterations = iterations;
    }

    #[cfg(feature = "scenario")]
    fn save(&mut self, out: &mut dyn std::io::Write) -> Result<(), Error> {
        self.note_objective();
        self.write_state(out)
    }

    #[cfg(feature = "scenario")]
    fn restore(&mut self, state: &[u8]) -> Result<(), Error> {
        self.read_state(state)
    }

    fn memory(&self) -> u64 {
        self.held_bytes()
    }
}
