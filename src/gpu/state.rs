//! Read-back of the state on the device: world, contacts and residuals of a snapshot.

use glam::{DMat3, DVec3};
use pollster::block_on;

use crate::contact::joints::instant::note_forces;
use crate::contact::{Impulse, Key};
use crate::engine::{Residuals, Snapshot, Spread};
use crate::error::Error;
use crate::settings::{Bookkeeping, Method};

use super::GpuEngine;
use super::layout::{self, ConstraintHead, LoadScale, Pose, Status};
use super::step;

/// Contacts of the last step, by key.
#[derive(Default)]
struct Solved {
    /// Contacts with their impulses.
    impulses: Vec<(Key, Impulse)>,
    /// Contacts with their impulses of cohesion \[N s\].
    cohesion: Vec<(Key, f64)>,
    /// Contacts with force \[N\] and moment \[N m\] of their springs, under the smooth method.
    springs: Vec<(Key, [DVec3; 2])>,
    /// Contacts with patches of meshes, with the side of the sheet: 1 front, -1 back, 0 neither.
    sides: Vec<(Key, i8)>,
}

/// Returns the residuals of `count` contacts from the sums and maxima of their blocks, in order.
pub(super) fn summed(blocks: &[[f32; 8]], count: usize) -> Residuals {
    let blocks = &blocks[..count.div_ceil(64)];
    let spread = |kind: usize| Spread {
        mean: blocks.iter().map(|block| f64::from(block[kind])).sum::<f64>() / count.max(1) as f64,
        max: blocks.iter().map(|block| f64::from(block[4 + kind])).fold(0.0, f64::max),
    };
    Residuals { normal: spread(0), friction: spread(1), rolling: spread(2) }
}

/// Whether a quaternion is one of a rotation, to within the rounding of a long run.
fn is_turn(orientation: [f32; 4]) -> bool {
    let square: f32 = orientation.iter().map(|part| part * part).sum();
    (square - 1.0).abs() < 1e-3
}

impl GpuEngine {
    /// Reads poses, velocities, joint states and removed grains back into `world`.
    pub(super) async fn pull_world(&mut self) -> Result<(), Error> {
        let poses: Vec<Pose> = self.read_list("poses", self.world.bodies.len()).await?;
        // A device that does nothing returns zeros, or what was in its memory before.
        if let Some(body) = poses.iter().position(|pose| !is_turn(pose.orientation)) {
            return Err(self.idle(format!("body {body} came back without an orientation")));
        }
        let velocities: Vec<layout::Velocity> = self.read_list("velocities", self.world.bodies.len()).await?;
        layout::pull(&mut self.world, &self.anchors, &poses, &velocities);
        if !self.world.joints.is_empty() {
            let joints: Vec<layout::Joint> = self.read_list("joints", self.world.joints.len()).await?;
            let count = self.slot.capacity().joint_rows as usize;
            let rows: Vec<layout::JointRow> = self.read_list("joint_rows", count).await?;
            layout::pull_joints(&mut self.world, &joints, &rows, self.settings.substep());
        }
        if self.world.has_drains() {
            let spheres: Vec<layout::Sphere> =
                self.read_list("spheres", self.world.vertices.len() + self.world.spheres.len()).await?;
            self.balance.removed_energy += layout::pull_removed(&mut self.world, &spheres);
        }
        Ok(())
    }

    /// Returns the residuals of the last substep, measured on the device and summed here in order.
    ///
    /// # Errors
    /// When the device is lost.
    pub fn measure_residuals(&self) -> Result<Residuals, Error> {
        block_on(self.residuals())
    }

    pub(super) async fn residuals(&self) -> Result<Residuals, Error> {
        self.slot.submit_alone(self.features, |kernels, pass, buffers| {
            kernels.encode(pass, &step::RESIDUAL, &self.settings, buffers);
        });
        let count = self.contact_count().await?;
        Ok(summed(&self.read_list("residuals", count.div_ceil(64)).await?, count))
    }

    pub(super) async fn take_snapshot(&mut self) -> Result<Snapshot, Error> {
        self.pull_world().await?;
        let Solved { impulses, cohesion, springs, sides } = match self.report.step {
            0 => Solved { impulses: self.find_initial_contacts().await?, ..Solved::default() },
            _ => self.solved_contacts().await?,
        };
        let balance = (self.settings.bookkeeping == Bookkeeping::On).then_some(self.balance);
        let (mut world, report) = (self.world.clone(), self.report.clone());
        note_forces(&mut world, &self.settings, &self.world.undisturbed());
        let mut snapshot = Snapshot::of_solved(world, impulses, &sides, &self.settings, report);
        snapshot.note_cohesion(cohesion.into_iter());
        snapshot.note_springs(&self.settings, springs.into_iter());
        let (impulses, stresses) = (self.loads.totals(), self.loads.stresses());
        let grain_stresses = self.read_grain_stresses().await?;
        Ok(Snapshot { impulses, stresses, grain_stresses, balance, ..snapshot })
    }

    /// Reads the sums of impulse times arm of every grain since it came; none unless the world measures them.
    pub(super) async fn read_grain_stresses(&self) -> Result<Vec<DMat3>, Error> {
        if self.grain_stresses.is_empty() {
            return Ok(Vec::new());
        }
        let words =
            self.read_list::<u32>("grain_loads", layout::STRESS_WORDS * self.grain_stresses.len()).await?;
        let since = layout::grain_stresses(&words, LoadScale::of(&self.world, &self.anchors));
        Ok(self.grain_stresses.iter().zip(since).map(|(before, since)| *before + since).collect())
    }

    /// Returns the contacts with patches of meshes, each with the side of the sheet to which its sphere belongs.
    fn sides(&self, contacts: &[layout::Contact]) -> Vec<(Key, i8)> {
        if self.world.meshes.is_empty() {
            return Vec::new();
        }
        let side = |contact: &layout::Contact| {
            self.world.patches_with(contact.b)?;
            let side = match contact.previous >> layout::SIDE_SHIFT {
                layout::SIDE_FRONT => 1,
                layout::SIDE_BACK => -1,
                _ => 0,
            };
            Some((Key { a: contact.a, b: contact.b }, side))
        };
        contacts.iter().filter_map(side).collect()
    }

    /// Reads the contacts of the last step.
    async fn solved_contacts(&self) -> Result<Solved, Error> {
        let count = self.contact_count().await?;
        let contacts: Vec<layout::Contact> = self.read_list("contacts", count).await?;
        let targets: Vec<ConstraintHead> = self.read_list("constraint_heads", count).await?;
        let numbers = self.numbers_per_impulse();
        let values: Vec<f32> = self.read_list("impulses", numbers * count).await?;
        let values: Vec<&[f32]> = values.chunks_exact(numbers).collect();
        let key = |contact: &layout::Contact| Key { a: contact.a, b: contact.b };
        let with_impulse = |contact: &layout::Contact| {
            let place = contact.place as usize;
            (key(contact), layout::impulse(&targets[place], values[place]))
        };
        let impulses = self.newcomers.without_theirs(&self.world, contacts.iter().map(with_impulse), count);
        let springs = match self.settings.method {
            Method::Nonsmooth => Vec::new(),
            Method::Smooth => {
                let held = |contact: &layout::Contact| {
                    let place = contact.place as usize;
                    let held = layout::springs(&targets[place], &values[place][layout::IMPULSE..]);
                    (key(contact), [held.tangent, held.rolling])
                };
                contacts.iter().map(held).collect()
            }
        };
        let cohesion = match self.world.materials.are_cohesive() {
            false => Vec::new(),
            // The impulse of cohesion is the last number of each contact.
            true => {
                let of = |contact: &layout::Contact| f64::from(values[contact.place as usize][numbers - 1]);
                contacts.iter().map(|contact| (key(contact), of(contact))).collect()
            }
        };
        Ok(Solved { impulses, cohesion, springs, sides: self.sides(&contacts) })
    }

    /// Returns the count of numbers per contact in `impulses`, springs and cohesion included.
    pub(super) fn numbers_per_impulse(&self) -> usize {
        2 * self.features.impulse_pairs() as usize
    }

    /// Finds the contacts before the first step. Their impulses are those of the seeds, or zero.
    async fn find_initial_contacts(&mut self) -> Result<Vec<(Key, Impulse)>, Error> {
        let mut status = self.read_status().await?;
        loop {
            self.open_search(status);
            ["search", "broadphase"].iter().try_for_each(|stage| self.submit_stage(stage))?;
            status = self.read_status().await?;
            if status.halted & layout::HALT_CONTACTS == 0 {
                break;
            }
            self.make_room_for(status.contacts)?;
        }
        let contacts: Vec<layout::Contact> = self.read_list("contacts", status.contacts as usize).await?;
        self.upload_seeds()?;
        let seed = |key: Key| {
            let found = self.seeds.binary_search_by_key(&key, |&(key, _)| key);
            found.map_or_else(|_| Impulse::default(), |place| self.seeds[place].1)
        };
        let with_impulse = |contact: &layout::Contact| {
            let key = Key { a: contact.a, b: contact.b };
            (key, seed(key))
        };
        Ok(contacts.iter().map(with_impulse).collect())
    }

    /// Uploads the seeds, the contacts from which the first step starts, to where its search looks for the previous contacts.
    pub(super) fn upload_seeds(&mut self) -> Result<(), Error> {
        if self.seeds.is_empty() {
            return Ok(());
        }
        let count = self.seeds.len() as u32;
        if count > self.slot.capacity().contacts {
            self.make_room_for(count)?;
        }
        let (first, balls) =
            (self.world.surfaces.len(), self.world.vertices.len() + self.world.spheres.len());
        let start =
            |owner: usize| self.seeds.partition_point(|(key, _)| (key.a as usize) < first + owner) as u32;
        let starts: Vec<u32> = (0..=balls).map(start).collect();
        let listed = (0..).zip(&self.seeds);
        let contact = |(place, (key, _)): (u32, &(Key, Impulse))| layout::Contact {
            a: key.a,
            b: key.b,
            place,
            previous: layout::NONE,
        };
        let contacts: Vec<layout::Contact> = listed.map(contact).collect();
        let mut values: Vec<f32> = Vec::with_capacity(self.numbers_per_impulse() * self.seeds.len());
        for (key, impulse) in &self.seeds {
            let normal = self.world.touch(key.a, key.b).map_or(DVec3::ZERO, |touch| touch.normal);
            values.extend(layout::values(normal, impulse));
            if self.settings.method == Method::Smooth {
                values.extend(layout::spring_values(normal, impulse, self.settings.substep()));
            } else {
                // The step computes the cohesion.
                values.resize(values.len() + self.numbers_per_impulse() - layout::IMPULSE, 0.0);
            }
        }
        let write = |name, bytes: &[u8]| self.slot.write(name, bytes);
        write("contact_starts", bytemuck::cast_slice(&starts));
        write("contacts", bytemuck::cast_slice(&contacts));
        write("impulses", bytemuck::cast_slice(&values));
        // All of them count as contacts without a colour.
        let listed = balls as u32;
        self.status = Status { search: 1, contacts: count, listed, ..Status::default() };
        self.write_status(&self.status);
        Ok(())
    }

    /// Reads the status of the last submission.
    pub(super) async fn read_status(&self) -> Result<Status, Error> {
        Ok(self.read_list::<Status>("status", 1).await?[0])
    }
}
