//! Changes of a simulation from outside, between two steps.

use glam::DVec3;
use pollster::block_on;

use super::{Simulation, unknown};
use crate::error::Error;
use crate::model::range::{check_drive, check_factor, check_force, check_vector};
use crate::model::{AppliedForce, Drive, World};
use crate::settings::Settings;

/// Body to which a change is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'a> {
    /// A grain, by its place.
    Grain(usize),
    /// A boundary, by its name.
    Boundary(&'a str),
}

impl From<usize> for Target<'_> {
    fn from(place: usize) -> Self {
        Target::Grain(place)
    }
}

impl<'a> From<&'a str> for Target<'a> {
    fn from(name: &'a str) -> Self {
        Target::Boundary(name)
    }
}

impl Simulation<'_> {
    /// Sets gravity \[m/s²\].
    ///
    /// # Errors
    /// When it is out of range, or as [`Simulation::state`].
    pub fn set_gravity(&mut self, gravity: DVec3) -> Result<(), Error> {
        check_vector(|| "the scene".to_owned(), "gravity [m/s²]", gravity)?;
        self.apply(&mut |world| world.gravity = gravity)
    }

    /// Gives a boundary that is fixed or prescribed a constant velocity \[m/s\] from its present pose on.
    ///
    /// # Errors
    /// When there is no such boundary, it is dynamic, the velocity is out of range, or as [`Simulation::state`].
    pub fn set_velocity(&mut self, boundary: &str, velocity: DVec3) -> Result<(), Error> {
        check_vector(|| format!("boundary \"{boundary}\""), "velocity [m/s]", velocity)?;
        let world = &self.state()?.world;
        let body = boundary_named(world, boundary)?;
        if world.bodies.is_dynamic(body) {
            return Err(Error::NotPrescribed { name: boundary.to_owned() });
        }
        self.apply(&mut |world| {
            world.set_boundary_velocity(body, velocity);
        })
    }

    /// Gives a rotating boundary another angular velocity \[rad/s\] from its present pose on, about the same point of its axis.
    ///
    /// # Errors
    /// When there is no such boundary, it does not rotate, the velocity is out of range, or as [`Simulation::state`].
    pub fn set_angular_velocity(&mut self, boundary: &str, angular_velocity: DVec3) -> Result<(), Error> {
        check_vector(|| format!("boundary \"{boundary}\""), "angular velocity [rad/s]", angular_velocity)?;
        let world = &self.state()?.world;
        let body = boundary_named(world, boundary)?;
        if !world.boundaries[body].turns() {
            return Err(Error::NotRotating { name: boundary.to_owned() });
        }
        self.apply(&mut |world| {
            world.set_boundary_rotation(body, angular_velocity);
        })
    }

    /// Applies a force \[N\] at the centre of mass and a torque \[N m\] to a grain, by its place, or to a dynamic boundary, by its name,
    /// until they are set again; zero removes them. They do not act along locked axes.
    ///
    /// # Errors
    /// When there is no such body, it is not dynamic, force or torque are no finite numbers, or as [`Simulation::state`].
    pub fn set_force<'b>(
        &mut self,
        body: impl Into<Target<'b>>,
        force: DVec3,
        torque: DVec3,
    ) -> Result<(), Error> {
        let target = body.into();
        let name = || match target {
            Target::Grain(place) => format!("grain {place}"),
            Target::Boundary(name) => format!("boundary \"{name}\""),
        };
        check_force(name, force, torque)?;
        let body = self.body(target)? as u32;
        self.state = None;
        self.engine.set_forces(&[AppliedForce { body, force, torque }])
    }

    /// Applies forces \[N\] at the centres of mass and torques \[N m\] to many grains, each by its place, until they are set again; zero
    /// removes them. Of several for one grain the last counts.
    ///
    /// # Errors
    /// When there is no such grain, a force or torque is no finite number, or as [`Simulation::state`].
    pub fn set_forces(&mut self, forces: &[(usize, DVec3, DVec3)]) -> Result<(), Error> {
        for &(place, force, torque) in forces {
            check_force(|| format!("grain {place}"), force, torque)?;
        }
        let bodies = self.grain_bodies(forces.iter().map(|(place, ..)| *place))?;
        let applied = |(&body, &(_, force, torque)): (&u32, &(usize, DVec3, DVec3))| AppliedForce {
            body,
            force,
            torque,
        };
        let mut applied: Vec<AppliedForce> = bodies.iter().zip(forces).rev().map(applied).collect();
        applied.sort_by_key(|applied| applied.body);
        applied.dedup_by_key(|applied| applied.body);
        self.state = None;
        self.engine.set_forces(&applied)
    }

    /// Sets the velocities \[m/s\] and angular velocities \[rad/s\] of many grains, each by its place; those that are not given stay.
    ///
    /// # Errors
    /// When there is no such grain, a velocity is out of range, or as [`Simulation::state`].
    pub fn set_velocities(
        &mut self,
        velocities: &[(usize, Option<DVec3>, Option<DVec3>)],
    ) -> Result<(), Error> {
        for &(place, linear, angular) in velocities {
            let of = || format!("grain {place}");
            linear.map_or(Ok(()), |linear| check_vector(of, "velocity [m/s]", linear))?;
            angular.map_or(Ok(()), |angular| check_vector(of, "angular velocity [rad/s]", angular))?;
        }
        let bodies = self.grain_bodies(velocities.iter().map(|(place, ..)| *place))?;
        self.apply(&mut |world| {
            for (&body, &(_, linear, angular)) in bodies.iter().zip(velocities) {
                let (body, all) = (body as usize, &mut world.bodies);
                all.velocity[body] = linear.unwrap_or(all.velocity[body]);
                all.angular_velocity[body] = angular.unwrap_or(all.angular_velocity[body]);
            }
        })
    }

    /// Sets the drive of a joint from now on, in place of the drives of the scenario; `None` releases the joint.
    ///
    /// # Errors
    /// When there is no such joint, it has no position to be driven along, a number is out of range, or as [`Simulation::state`].
    pub fn set_drive(&mut self, joint: &str, drive: Option<Drive>) -> Result<(), Error> {
        drive.iter().try_for_each(|drive| check_drive(joint, drive))?;
        let world = &self.state()?.world;
        let place = world.joints.iter().position(|known| known.name == joint).ok_or_else(|| {
            let names: Vec<&str> = world.joints.iter().map(|joint| joint.name.as_str()).collect();
            unknown("joint", joint, &names)
        })?;
        let kind = world.joints[place].kind;
        if !kind.has_position() {
            return Err(Error::NotDriven { name: joint.to_owned(), kind: kind.name() });
        }
        let drives: Vec<(f64, Drive)> = drive.into_iter().map(|drive| (f64::NEG_INFINITY, drive)).collect();
        self.apply(&mut |world| world.joints[place].drives.clone_from(&drives))
    }

    /// Sets the largest number of sweeps of the following steps \[-\].
    ///
    /// # Errors
    /// When the number is 0, or larger than [`MOST_ITERATIONS`](crate::settings::MOST_ITERATIONS).
    pub fn set_iterations(&mut self, iterations: u32) -> Result<(), Error> {
        let settings = Settings { iterations, ..self.settings };
        if let Some(error) = settings.validate().err().into_iter().flatten().next() {
            return Err(error);
        }
        self.settings = settings;
        self.engine.set_iterations(iterations);
        Ok(())
    }

    /// Multiplies friction and rolling resistance of all pairs, as the scenario has them, by a factor \[-\], until the next time at which
    /// the scenario itself sets a factor.
    ///
    /// # Errors
    /// When the factor is negative or out of range, or as [`Simulation::state`].
    pub fn scale_friction(&mut self, factor: f64) -> Result<(), Error> {
        block_on(self.scale_friction_async(factor))
    }

    /// As [`Simulation::scale_friction`], without waiting for the device.
    ///
    /// # Errors
    /// As [`Simulation::scale_friction`].
    pub async fn scale_friction_async(&mut self, factor: f64) -> Result<(), Error> {
        check_factor(factor)?;
        let materials = self.frictions.materials.clone();
        self.apply_async(&mut |world| world.materials.scale_friction(&materials, factor)).await
    }

    /// Index of a dynamic body.
    fn body(&mut self, target: Target<'_>) -> Result<usize, Error> {
        self.look(|world| {
            let (body, name) = match target {
                Target::Boundary(name) => (boundary_named(world, name)?, name.to_owned()),
                Target::Grain(place) if place < world.grain_count() => {
                    (world.grain_body(place), format!("grain {place}"))
                }
                Target::Grain(place) => return Err(Error::NoGrain { place, grains: world.grain_count() }),
            };
            match world.bodies.inverse_mass[body] > 0.0 {
                true => Ok(body),
                false => Err(Error::NotDynamic { name }),
            }
        })?
    }

    /// Bodies of the grains at these places.
    fn grain_bodies(&mut self, places: impl Iterator<Item = usize>) -> Result<Vec<u32>, Error> {
        self.look(|world| {
            let body = |place: usize| match place < world.grain_count() && world.is_present(place) {
                true => Ok(world.grain_body(place) as u32),
                false => Err(Error::NoGrain { place, grains: world.grain_count() }),
            };
            places.map(body).collect()
        })?
    }

    /// Removes grains by hand, by their places.
    ///
    /// # Errors
    /// As [`Simulation::state`].
    pub fn remove_grains(&mut self, places: &[usize]) -> Result<(), Error> {
        self.apply(&mut |world| {
            let there = |&&place: &&usize| place < world.grain_count() && world.is_present(place);
            let found: Vec<usize> = places.iter().filter(there).copied().collect();
            found.into_iter().for_each(|place| {
                world.take_out(place);
            });
        })
    }

    /// Changes the world between two steps by `change`, as [`Engine::change`](crate::engine::Engine::change) says. A change after which a
    /// number is out of range is taken back; for this the world is copied before.
    ///
    /// # Errors
    /// When a number is out of range ([`World::check`]), or as [`Simulation::state`].
    pub fn change(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        block_on(self.change_async(change))
    }

    /// As [`Simulation::change`], without waiting for the device.
    ///
    /// # Errors
    /// As [`Simulation::change`].
    pub async fn change_async(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        let mut found = Ok(());
        self.apply_async(&mut |world| {
            let before = world.clone();
            change(world);
            found = world.check();
            if found.is_err() {
                *world = before;
            }
        })
        .await?;
        found
    }

    /// Changes the world by what is known to be in range.
    fn apply(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        block_on(self.apply_async(change))
    }

    async fn apply_async(&mut self, change: &mut dyn FnMut(&mut World)) -> Result<(), Error> {
        self.state = None;
        self.engine.change_async(change).await
    }
}

/// Index of the boundary with this name.
fn boundary_named(world: &World, name: &str) -> Result<usize, Error> {
    world.boundaries.iter().position(|boundary| boundary.name == name).ok_or_else(|| {
        let names: Vec<&str> = world.boundaries.iter().map(|boundary| boundary.name.as_str()).collect();
        unknown("boundary", name, &names)
    })
}
