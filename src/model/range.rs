//! Range of the numbers of a world: whatever way they come in, by a file, by code or from Python, they are checked here.

use glam::DVec3;

use super::{Boundary, Course, Drive, Form, Grain, Kinds, Surface, World};
use crate::error::Error;

/// Largest coordinate \[m\], component of a velocity \[m/s\], of an angular velocity \[rad/s\] and of gravity \[m/s²\].
pub const FAR: f64 = 1e9;
/// Smallest and largest radius of a grain \[m\]. Outside of this range, 1/inertia leaves the range of single precision.
pub const RADII: std::ops::RangeInclusive<f64> = 1e-7..=1e6;

/// Range of a coordinate or a component in words.
pub const WITHIN_FAR: &str = "a finite number (at most 1e9)";
/// Range of a radius in words.
pub const WITHIN_RADII: &str = "a positive radius in metres (1e-7 to 1e6)";

/// Whether a coordinate or a component is within [`FAR`]; not so if it is no number.
pub fn is_within(number: f64) -> bool {
    number.abs() <= FAR
}

/// Refuses a vector with a component that is not within [`FAR`]; `of` names what has it.
///
/// # Errors
/// [`Error::OutOfRange`].
pub fn check_vector(of: impl FnOnce() -> String, what: &'static str, vector: DVec3) -> Result<(), Error> {
    let found = vector.to_array().into_iter().find(|component| !is_within(*component));
    refuse(found, of, what, WITHIN_FAR)
}

fn refuse(
    found: Option<f64>,
    of: impl FnOnce() -> String,
    what: &'static str,
    expected: &'static str,
) -> Result<(), Error> {
    found.map_or(Ok(()), |found| Err(Error::OutOfRange { of: of(), what, found, expected }))
}

/// Checks a factor on friction \[-\].
///
/// # Errors
/// [`Error::OutOfRange`] for one that is negative, or not within [`FAR`].
pub fn check_factor(factor: f64) -> Result<(), Error> {
    let wrong = Some(factor).filter(|factor| !(0.0..=FAR).contains(factor));
    refuse(wrong, || "the scene".to_owned(), "friction factor [-]", "0 to 1e9")
}

/// Checks the numbers of a drive.
///
/// # Errors
/// [`Error::OutOfRange`] for one that is not finite.
pub fn check_drive(joint: &str, drive: &Drive) -> Result<(), Error> {
    let (limits, of) = (limits_of(drive), || format!("the drive of joint \"{joint}\""));
    refuse(
        limits.into_iter().find(|limit| limit.is_nan() || *limit <= 0.0),
        of,
        "force limit [N, N m] or response time [s]",
        "a positive number",
    )?;
    let (course, what) = match drive {
        Drive::Force(course) => (course, "force [N, N m]"),
        Drive::Pressure(course) => (course, "pressure [Pa]"),
        Drive::Motor { velocity, .. } => (velocity, "velocity [m/s, rad/s]"),
        Drive::Servo { position, .. } => (position, "position [m, rad]"),
    };
    let found = match course {
        Course::Constant(value) => Some(*value).filter(|value| !value.is_finite()),
        Course::Table { times, values } => times.iter().chain(values).copied().find(|x| !x.is_finite()),
    };
    refuse(found, of, what, "a finite number")
}

/// Largest force of a drive, which may be infinite, and its response time.
fn limits_of(drive: &Drive) -> Vec<f64> {
    match drive {
        Drive::Force(_) | Drive::Pressure(_) => Vec::new(),
        Drive::Motor { force_limit, .. } => vec![*force_limit],
        Drive::Servo { response_time, force_limit, .. } => vec![*force_limit, *response_time],
    }
}

impl World {
    /// Checks that positions, velocities, sizes and masses of all bodies are numbers that an engine can compute with.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], with the name of the first body that is not right and the value.
    pub fn check(&self) -> Result<(), Error> {
        check_vector(|| "the scene".to_owned(), "gravity [m/s²]", self.gravity)?;
        for (body, boundary) in self.boundaries.iter().enumerate() {
            self.check_boundary(body, boundary)?;
        }
        self.surfaces.iter().try_for_each(|surface| self.check_surface(surface))?;
        let bodies = &self.bodies;
        for grain in 0..self.grain_count() {
            let (body, name) = (self.grain_body(grain), || format!("grain {}", self.ids[grain]));
            check_vector(name, "position [m]", bodies.position[body])?;
            check_vector(name, "velocity [m/s]", bodies.velocity[body])?;
            check_vector(name, "angular velocity [rad/s]", bodies.angular_velocity[body])?;
            check_radius(name, self.grain_radius(grain))?;
            check_mass(name, self.grain_mass(grain))?;
        }
        for applied in &self.forces {
            let name = || self.name_of(applied.body as usize);
            check_force(name, applied.force, applied.torque)?;
        }
        Ok(())
    }

    fn check_boundary(&self, body: usize, boundary: &Boundary) -> Result<(), Error> {
        let name = || format!("boundary \"{}\"", boundary.name);
        check_vector(name, "position [m]", boundary.position)?;
        check_vector(name, "position [m]", self.bodies.position[body])?;
        check_vector(name, "velocity [m/s]", self.bodies.velocity[body])?;
        check_vector(name, "angular velocity [rad/s]", self.bodies.angular_velocity[body])
    }

    /// Checks the farthest point of a surface, as far as it has one.
    fn check_surface(&self, surface: &Surface) -> Result<(), Error> {
        let boundary = &self.boundaries[surface.body as usize];
        let reach = match surface.form {
            Form::Patch { mesh, .. } => self.meshes.list().get(mesh as usize).map_or(0.0, |mesh| mesh.reach),
            _ => 0.0,
        };
        let far = surface.position.abs() + boundary.position.abs() + DVec3::splat(reach);
        check_vector(|| format!("boundary \"{}\"", boundary.name), "coordinate [m]", far)
    }

    /// Name of a body in messages.
    fn name_of(&self, body: usize) -> String {
        match self.grain_of_body(body) {
            Some(grain) => format!("grain {}", self.ids[grain]),
            None => format!("boundary \"{}\"", self.boundaries[body].name),
        }
    }
}

impl Kinds<'_> {
    /// Checks grains that are to be added; the first of them gets the id `first`.
    ///
    /// # Errors
    /// As [`World::check`], and for a grain of a material or clump that is not there.
    pub fn check(&self, grains: &[Grain], first: usize) -> Result<(), Error> {
        grains.iter().enumerate().try_for_each(|(i, grain)| {
            let name = || format!("grain {}", first + i);
            check_vector(name, "position [m]", grain.position)?;
            check_vector(name, "velocity [m/s]", grain.velocity)?;
            check_vector(name, "angular velocity [rad/s]", grain.angular_velocity)?;
            let turn = grain.orientation.length();
            let wrong = (!grain.orientation.is_normalized()).then_some(turn);
            refuse(wrong, name, "length of its orientation [-]", "a quaternion of length 1")?;
            check_radius(name, grain.radius)?;
            match self.mass_of(grain) {
                Some(mass) => check_mass(name, mass),
                None => {
                    let index = grain.clump.unwrap_or(grain.material).max(grain.material);
                    refuse(Some(f64::from(index)), name, "material or clump [index]", "one that is there")
                }
            }
        })
    }
}

/// Checks an applied force \[N\] and torque \[N m\].
///
/// # Errors
/// [`Error::OutOfRange`] for one that is not finite.
pub fn check_force(of: impl Fn() -> String, force: DVec3, torque: DVec3) -> Result<(), Error> {
    let wrong = |vector: DVec3| vector.to_array().into_iter().find(|component| !component.is_finite());
    refuse(wrong(force), &of, "force [N]", "a finite number")?;
    refuse(wrong(torque), &of, "torque [N m]", "a finite number")
}

fn check_radius(of: impl FnOnce() -> String, radius: f64) -> Result<(), Error> {
    refuse(Some(radius).filter(|radius| !RADII.contains(radius)), of, "radius [m]", WITHIN_RADII)
}

fn check_mass(of: impl FnOnce() -> String, mass: f64) -> Result<(), Error> {
    let is_wrong = |mass: &f64| !(*mass > 0.0 && mass.is_normal() && mass.recip().is_normal());
    refuse(Some(mass).filter(is_wrong), of, "mass [kg]", "a positive mass whose inverse is a number as well")
}
