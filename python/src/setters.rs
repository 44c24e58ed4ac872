//! Changes between two steps: gravity, walls, forces, drives, grains that come and go.

use esker::model::drive::Course;
use esker::model::range::RADII;
use esker::model::{Drive, Grain, World};
use esker::simulation::Target;
use glam::DVec3;
use numpy::PyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::{UnknownNameError, refused};
use crate::grains::position;
use crate::handle::Simulation;
use crate::values::{any_number, grain_id, grain_ids, number, numbers, rows, vector};

pub fn gravity(own: &Simulation, py: Python<'_>, gravity: &Bound<'_, PyAny>) -> PyResult<()> {
    let gravity = vector(gravity, "gravity [m/s²]")?;
    own.with(py, |engine| engine.set_gravity(gravity))
}

pub fn velocity(own: &Simulation, py: Python<'_>, name: &str, velocity: &Bound<'_, PyAny>) -> PyResult<()> {
    let velocity = vector(velocity, "velocity [m/s]")?;
    own.with(py, |engine| engine.set_velocity(name, velocity))
}

pub fn angular_velocity(
    own: &Simulation,
    py: Python<'_>,
    name: &str,
    velocity: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let velocity = vector(velocity, "angular_velocity [rad/s]")?;
    own.with(py, |engine| engine.set_angular_velocity(name, velocity))
}

pub fn force(
    own: &Simulation,
    py: Python<'_>,
    body: &Bound<'_, PyAny>,
    force: Option<&Bound<'_, PyAny>>,
    torque: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let force = force.map_or(Ok(DVec3::ZERO), |force| vector(force, "force [N]"))?;
    let torque = torque.map_or(Ok(DVec3::ZERO), |torque| vector(torque, "torque [N m]"))?;
    if let Ok(name) = body.extract::<String>() {
        return own.with(py, |engine| engine.set_force(name.as_str(), force, torque));
    }
    let place = places(own, py, &[grain_id(body)?])?[0];
    own.with(py, |engine| engine.set_force(Target::Grain(place), force, torque))
}

/// Sets forces \[N\] and torques \[N m\] of grains.
pub fn forces(
    own: &Simulation,
    py: Python<'_>,
    forces: &Bound<'_, PyAny>,
    torques: Option<&Bound<'_, PyAny>>,
    ids: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let places = all_or_some(own, py, ids)?;
    let forces = one_each(forces, &places, "forces [N]")?;
    let torques = torques.map(|torques| one_each(torques, &places, "torques [N m]")).transpose()?;
    let torque = |i: usize| torques.as_ref().map_or(DVec3::ZERO, |torques| torques[i]);
    let all: Vec<_> =
        places.iter().zip(forces).enumerate().map(|(i, (&place, force))| (place, force, torque(i))).collect();
    own.with(py, |engine| engine.set_forces(&all))
}

/// Sets velocities \[m/s\] and angular velocities \[rad/s\] of grains.
pub fn velocities(
    own: &Simulation,
    py: Python<'_>,
    velocities: Option<&Bound<'_, PyAny>>,
    angular_velocities: Option<&Bound<'_, PyAny>>,
    ids: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let places = all_or_some(own, py, ids)?;
    let read = |given: Option<&Bound<'_, PyAny>>, what: &str| {
        given.map(|given| one_each(given, &places, what)).transpose()
    };
    let linear = read(velocities, "velocities [m/s]")?;
    let angular = read(angular_velocities, "angular_velocities [rad/s]")?;
    let of = |all: &Option<Vec<DVec3>>, i: usize| all.as_ref().map(|all| all[i]);
    let all: Vec<_> =
        places.iter().enumerate().map(|(i, &place)| (place, of(&linear, i), of(&angular, i))).collect();
    own.with(py, |engine| engine.set_velocities(&all))
}

/// Indices of the grains with these ids; without ids of all that are there.
fn all_or_some(own: &Simulation, py: Python<'_>, ids: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<usize>> {
    match ids {
        Some(ids) => places(own, py, &grain_ids(ids)?),
        None => own.with(py, |engine| engine.look(|world| world.present_grains().collect())),
    }
}

/// Reads one vector for each of these grains.
fn one_each(object: &Bound<'_, PyAny>, places: &[usize], what: &str) -> PyResult<Vec<DVec3>> {
    let found: Vec<DVec3> = rows::<3>(object, what)?.into_iter().map(DVec3::from_array).collect();
    match found.len() == places.len() {
        true => Ok(found),
        false => {
            let (rows, grains) = (found.len(), places.len());
            Err(refused(format!("{what}: expected one row for each of {grains} grains, found {rows} rows")))
        }
    }
}

/// Indices of the grains with these ids.
fn places(own: &Simulation, py: Python<'_>, ids: &[i64]) -> PyResult<Vec<usize>> {
    let place = |world: &World, id: i64| {
        let place = usize::try_from(id).ok().and_then(|id| world.grain_of_id(id));
        place.ok_or(id)
    };
    let found = own.with(py, |engine| {
        engine.look(|world| ids.iter().map(|&id| place(world, id)).collect::<Result<Vec<usize>, i64>>())
    })?;
    found.map_err(|id| {
        UnknownNameError::new_err(format!("there is no grain of id {id}: `ids()` lists those that are there"))
    })
}

/// Time within which a servo removes its error, unless another is given \[s\].
const RESPONSE_TIME: f64 = 0.05;

/// Arguments of Python for the drive of a joint.
pub struct Given<'a, 'py> {
    pub force: Option<&'a Bound<'py, PyAny>>,
    pub pressure: Option<&'a Bound<'py, PyAny>>,
    pub velocity: Option<&'a Bound<'py, PyAny>>,
    pub position: Option<&'a Bound<'py, PyAny>>,
    pub force_limit: Option<&'a Bound<'py, PyAny>>,
    pub response_time: Option<&'a Bound<'py, PyAny>>,
}

impl Given<'_, '_> {
    fn drive(&self) -> PyResult<Option<Drive>> {
        // Without a limit is a limit as well: infinity.
        let force_limit =
            self.force_limit.map_or(Ok(f64::INFINITY), |limit| any_number(limit, "force_limit [N, N m]"))?;
        if force_limit.is_nan() || force_limit <= 0.0 {
            let message = format!("force_limit [N, N m]: expected a positive number, found {force_limit}");
            return Err(refused(message));
        }
        let response_time =
            self.response_time.map_or(Ok(RESPONSE_TIME), |time| any_number(time, "response_time [s]"))?;
        if !(response_time.is_finite() && response_time > 0.0) {
            let message = format!("response_time [s]: expected a positive time, found {response_time}");
            return Err(refused(message));
        }
        match (self.force, self.pressure, self.velocity, self.position) {
            (None, None, None, None) => Ok(None),
            (Some(force), None, None, None) => Ok(Some(Drive::Force(course(force, "force [N, N m]")?))),
            (None, Some(pressure), None, None) => {
                Ok(Some(Drive::Pressure(course(pressure, "pressure [Pa]")?)))
            }
            (None, None, Some(velocity), None) => {
                let velocity = course(velocity, "velocity [m/s, rad/s]")?;
                Ok(Some(Drive::Motor { velocity, force_limit }))
            }
            (None, None, None, Some(position)) => {
                let position = course(position, "position [m, rad]")?;
                Ok(Some(Drive::Servo { position, response_time, force_limit }))
            }
            _ => Err(PyTypeError::new_err("expected one of force, pressure, velocity and position, or none")),
        }
    }
}

pub fn drive(own: &Simulation, py: Python<'_>, joint: &str, given: &Given<'_, '_>) -> PyResult<()> {
    let drive = given.drive()?;
    own.with(py, |engine| engine.set_drive(joint, drive))
}

/// Reads a number, or a course over time.
fn course(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Course> {
    let Ok((times, values)) = object.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() else {
        return number(object, what).map(Course::Constant);
    };
    let list = |object: &Bound<'_, PyAny>, what: &str| numbers(object, object.len()?, what);
    let (times, values) = (list(&times, "times [s]")?, list(&values, what)?);
    let ascends = times.windows(2).all(|pair| pair[0] < pair[1]);
    if times.len() != values.len() || times.is_empty() || !ascends {
        let (times, values) = (times.len(), values.len());
        return Err(refused(format!(
            "{what}: expected ascending times and as many values, found {times} times and {values} values"
        )));
    }
    Ok(Course::Table { times, values })
}

/// Arguments of Python for grains that are added.
pub struct Batch<'a, 'py> {
    pub positions: &'a Bound<'py, PyAny>,
    pub radius: &'a Bound<'py, PyAny>,
    pub material: &'a str,
    pub velocities: Option<&'a Bound<'py, PyAny>>,
    pub angular_velocities: Option<&'a Bound<'py, PyAny>>,
    pub clump: Option<&'a str>,
}

impl Batch<'_, '_> {
    fn grains(&self, world: &World) -> PyResult<Vec<Grain>> {
        let positions = rows::<3>(self.positions, "positions [m]")?;
        let radii = numbers(self.radius, positions.len(), "radius [m]")?;
        if let Some(radius) = radii.iter().find(|radius| !RADII.contains(radius)) {
            return Err(refused(format!(
                "radius [m]: expected a positive radius (1e-7 to 1e6), found {radius}"
            )));
        }
        let vectors = |given: Option<&Bound<'_, PyAny>>, what: &str| match given {
            None => Ok(vec![[0.0; 3]; positions.len()]),
            Some(given) => match rows::<3>(given, what)? {
                found if found.len() == positions.len() => Ok(found),
                found => {
                    let (wanted, found) = (positions.len(), found.len());
                    let message = format!("{what}: expected {wanted} rows, one per position, found {found}");
                    Err(refused(message))
                }
            },
        };
        let velocities = vectors(self.velocities, "velocities [m/s]")?;
        let spins = vectors(self.angular_velocities, "angular_velocities [rad/s]")?;
        let materials = world.materials.list.iter().map(|material| material.name.as_str());
        let material = position(self.material, materials, "material")? as u32;
        let clumps = world.clumps.iter().map(|clump| clump.name.as_str());
        let clump = self.clump.map(|name| position(name, clumps, "clump")).transpose()?;
        let grain = |i: usize| Grain {
            velocity: velocities[i].into(),
            angular_velocity: spins[i].into(),
            clump: clump.map(|clump| clump as u32),
            ..Grain::at(positions[i].into(), radii[i], material)
        };
        Ok((0..positions.len()).map(grain).collect())
    }
}

pub fn add_grains<'py>(
    own: &Simulation,
    py: Python<'py>,
    batch: &Batch<'_, '_>,
    allow_overlap: bool,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let grains = batch.grains(&own.scenario.world)?;
    let first = own.with(py, |engine| {
        let first = engine.grains_so_far();
        match allow_overlap {
            true => engine.add_overlapping_grains(&grains)?,
            false => engine.add_grains(&grains)?,
        }
        Ok(first as i64)
    })?;
    Ok(PyArray1::from_iter(py, first..first + grains.len() as i64))
}

pub fn remove_grains(own: &Simulation, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
    let wanted = grain_ids(ids)?;
    let places = places(own, py, &wanted)?;
    own.with(py, |engine| engine.remove_grains(&places))
}
