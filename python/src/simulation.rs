//! Interface of the class `Simulation`: its constructors, getters and methods, whose work is in the other files.

use std::path::PathBuf;
use std::sync::Arc;

use esker::scenario::Scenario;
use numpy::{PyArray1, PyArray2};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::boundary::{Boundary, boundary};
use crate::contacts::{Contacts, contacts};
use crate::device::{Word, word};
use crate::errors::raised;
use crate::fork;
use crate::handle::{Calls, Engine, Simulation};
use crate::values::whole;
use crate::{grains, runs, scenario, setters, stepping};

#[pymethods]
impl Simulation {
    /// The simulation of a scenario file at its start.
    ///
    /// `device` is "auto" (a graphics card if there is one, else the processor), "gpu", "software" or "cpu", or an `Ensemble`. `set`
    /// changes values of the file, as in `{"solver.iterations": 100}`. Raises `ScenarioError` with line and column of all mistakes in the
    /// file.
    #[staticmethod]
    #[pyo3(signature = (path, device = Word::auto(), set = None))]
    #[pyo3(text_signature = "(path, device='auto', set=None)")]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        #[pyo3(from_py_with = word)] device: Word,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Simulation> {
        let scenario = scenario::of_file(py, &path, set)?;
        start(py, scenario, &device)
    }

    /// The simulation of a scenario in a dictionary, with the keys of a scenario file.
    ///
    /// Values may be numbers and arrays of numpy. `name` is the name of the scenario; paths of other files start at `folder`. Raises
    /// `ScenarioError` with the keys of all mistakes.
    #[staticmethod]
    #[pyo3(signature = (scenario, device = Word::auto(), set = None, *, name = "scenario", folder = PathBuf::new()))]
    #[pyo3(text_signature = "(scenario, device='auto', set=None, *, name='scenario', folder='')")]
    fn from_dict(
        py: Python<'_>,
        scenario: &Bound<'_, PyDict>,
        #[pyo3(from_py_with = word)] device: Word,
        set: Option<&Bound<'_, PyDict>>,
        name: &str,
        folder: PathBuf,
    ) -> PyResult<Simulation> {
        let scenario = scenario::of_dictionary(scenario, name, &folder, set)?;
        start(py, scenario, &device)
    }

    /// The simulation that goes on from a checkpoint, or from the last one in a folder of results, bit for bit as if it had not stopped.
    ///
    /// It runs on a device of the kind that saved it; `set` may change what does not concern the state, such as
    /// `{"solver.iterations": 100}`. Callbacks are to be given again.
    #[staticmethod]
    #[pyo3(signature = (path, device = Word::auto(), set = None))]
    #[pyo3(text_signature = "(path, device='auto', set=None)")]
    fn resume(
        py: Python<'_>,
        path: PathBuf,
        #[pyo3(from_py_with = word)] device: Word,
        set: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Simulation> {
        let checkpoint = scenario::checkpoint(py, &path)?;
        let scenario = scenario::of_checkpoint(py, &checkpoint, set)?;
        let opened = device.open(py, &scenario, Some(&checkpoint))?;
        let engine = fork::detached(py, || Engine::restore_on(&scenario, opened, &checkpoint.path))?;
        let engine = engine.map_err(|error| raised(&error))?;
        Simulation::new(py, scenario, engine, &device.text)
    }

    /// Simulated time [s].
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.time_now(py)
    }

    /// Number of time steps done.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |engine| Ok(engine.steps()))
    }

    /// Length of a time step [s].
    #[getter]
    fn time_step(&self) -> f64 {
        self.scenario.settings.time_step
    }

    /// Duration of the scenario [s], at which `run` ends unless told otherwise.
    #[getter]
    fn duration(&self) -> f64 {
        self.scenario.duration
    }

    /// What was taken of each file that the scenario names, and what was left out: a line for each.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.scenario.notes.clone()
    }

    /// Title of the scenario.
    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    /// Memory that the engine holds for the scene [bytes].
    #[getter]
    fn memory(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |engine| Ok(engine.memory()))
    }

    /// Names of the boundaries, in the order of the scenario.
    #[getter]
    fn boundaries(&self) -> Vec<String> {
        self.scenario.world.boundaries.iter().map(|boundary| boundary.name.clone()).collect()
    }

    /// Names of the joints.
    #[getter]
    fn joints(&self) -> Vec<String> {
        self.scenario.world.joints.iter().map(|joint| joint.name.clone()).collect()
    }

    /// Names of the materials.
    #[getter]
    fn materials(&self) -> Vec<String> {
        self.scenario.world.materials.list.iter().map(|material| material.name.clone()).collect()
    }

    /// Names of all quantities of this scene, each with its unit ("-" for none).
    #[getter]
    fn quantities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = self.with(py, |engine| Ok(engine.observer().columns().to_vec()))?;
        let dictionary = PyDict::new(py);
        columns.iter().try_for_each(|column| dictionary.set_item(&column.name, column.unit))?;
        Ok(dictionary)
    }

    /// How the last steps went: "contacts", "colours", "overflow" [-], "sweeps" of the last substep [-], "searches" for contacts [-], mean
    /// and largest residual of the normal velocities "residual_mean", "residual_max" [m/s], and "stages", the wall time of each stage [s].
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        stepping::report(self, py)
    }

    /// The value of a quantity now, in its unit; `quantities` has the names. Rates and means are over the time since the last state of
    /// which a quantity was asked for.
    fn quantity(&self, py: Python<'_>, name: &str) -> PyResult<f64> {
        self.with(py, |engine| engine.quantity(name))
    }

    /// Ids of the grains that are there, array of shape (n,): numbers in the order in which grains came, counted from 0.
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        grains::ids(self, py)
    }

    /// Positions of the centres of mass, array of shape (n, 3) [m].
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        grains::vectors(self, py, |world| &world.bodies.position)
    }

    /// Velocities of the centres of mass, array of shape (n, 3) [m/s].
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        grains::vectors(self, py, |world| &world.bodies.velocity)
    }

    /// Angular velocities in the frame of the scene, array of shape (n, 3) [rad/s].
    fn angular_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        grains::vectors(self, py, |world| &world.bodies.angular_velocity)
    }

    /// Orientations as quaternions (x, y, z, w), from the frame of the grain to that of the scene, array of shape (n, 4) [-]. The order is
    /// that of `scipy.spatial.transform.Rotation.from_quat`.
    fn orientations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        grains::orientations(self, py)
    }

    /// Radii, of a clump that of the sphere of the same volume, array of shape (n,) [m].
    fn radii<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        grains::scalars(self, py, |world, grain| world.grain_radius(grain))
    }

    /// Temperatures, array of shape (n,) [K]; 0 in a scene without heat.
    fn temperatures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        grains::scalars(self, py, |world, grain| world.grain_temperature(grain))
    }

    /// Names of the clumps or polyhedra that the grains are, a list of length n; "" for a sphere.
    fn clumps(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        grains::clumps(self, py)
    }

    /// The polyhedra of the scenario by their names: each its corners, array of shape (k, 3), and per face the indices of its corners,
    /// counterclockwise seen from outside. Corners are about the centre of mass, in the axes to which `orientations` refers, for a grain
    /// of radius 1: those of grain i are `positions()[i] + radii()[i] * R.from_quat(orientations()[i]).apply(corners)`.
    #[getter]
    fn polyhedra<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<std::collections::HashMap<String, grains::Corners<'py>>> {
        grains::polyhedra(self, py)
    }

    /// Masses, array of shape (n,) [kg].
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        grains::scalars(self, py, |world, grain| world.grain_mass(grain))
    }

    /// The contacts of the last step, with their forces.
    fn contacts(&self, py: Python<'_>) -> PyResult<Contacts> {
        contacts(self, py)
    }

    /// Where a boundary is now, and how it moves.
    fn boundary(&self, py: Python<'_>, name: &str) -> PyResult<Boundary> {
        boundary(self, py, name)
    }

    /// Advances by a number of time steps. Callbacks are called when they are due. Ctrl-C ends it after the present batch of steps.
    fn step(slf: &Bound<'_, Self>, #[pyo3(from_py_with = whole)] steps: u64) -> PyResult<()> {
        let own = slf.get();
        let end = own.with(slf.py(), |engine| Ok(engine.steps()))?.saturating_add(steps);
        stepping::step_until(slf, end, None)
    }

    /// Advances to a time, by default the end of the scenario.
    ///
    /// `until` is simulated time [s]. `progress` is True for a line on the standard error, or a function that is called with a `Progress`
    /// after every batch of steps. With `out`, a folder, the results go there as those of `esker run` do, and come back as `Results`; those
    /// of an earlier run in that folder are replaced. Ctrl-C and errors of callbacks end the run: a checkpoint and the results until then
    /// are in the folder.
    #[pyo3(signature = (until = None, progress = None, *, out = None))]
    fn run<'py>(
        slf: &Bound<'py, Self>,
        until: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
        out: Option<PathBuf>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        runs::run_simulation(slf, until, progress, out)
    }

    /// Calls `do(simulation)` at every multiple of `every` seconds of simulated time from now on, at the end of the step that reaches it.
    ///
    /// The function may look at the simulation and change it, but not step it. An exception in it ends `step` or `run` and comes out of
    /// it unchanged; the state is that of the end of the step.
    #[pyo3(signature = (*, every, r#do))]
    fn on(&self, py: Python<'_>, every: &Bound<'_, PyAny>, r#do: Py<PyAny>) -> PyResult<()> {
        stepping::call(self, py, every, r#do)
    }

    /// Saves the state into a file, from which `Simulation.resume` goes on bit for bit.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.with(py, |engine| engine.save(path))
    }

    /// Sets gravity, three numbers [m/s²].
    fn set_gravity(&self, py: Python<'_>, gravity: &Bound<'_, PyAny>) -> PyResult<()> {
        setters::gravity(self, py, gravity)
    }

    /// Has a boundary that is fixed or moves as prescribed go on from where it is at a constant velocity, three numbers [m/s].
    fn set_velocity(&self, py: Python<'_>, boundary: &str, velocity: &Bound<'_, PyAny>) -> PyResult<()> {
        setters::velocity(self, py, boundary, velocity)
    }

    /// Has a boundary that rotates go on from where it is at another angular velocity, three numbers [rad/s], about the same axis point.
    fn set_angular_velocity(
        &self,
        py: Python<'_>,
        boundary: &str,
        angular_velocity: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        setters::angular_velocity(self, py, boundary, angular_velocity)
    }

    /// Has a force [N] at the centre of mass and a torque [N m] act on a body until they are set again.
    ///
    /// `body` is the id of a grain, or the name of a boundary that contacts move. Zero takes them away.
    #[pyo3(signature = (body, force = None, torque = None))]
    fn set_force(
        &self,
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        force: Option<&Bound<'_, PyAny>>,
        torque: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        setters::force(self, py, body, force, torque)
    }

    /// Has forces [N] at the centres of mass and torques [N m] act on many grains until they are set again.
    ///
    /// `forces` and `torques` are arrays of shape (n, 3), one row for each grain in the order of `ids()`, or of `ids` where it is given.
    #[pyo3(signature = (forces, torques = None, *, ids = None))]
    fn set_forces(
        &self,
        py: Python<'_>,
        forces: &Bound<'_, PyAny>,
        torques: Option<&Bound<'_, PyAny>>,
        ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        setters::forces(self, py, forces, torques, ids)
    }

    /// Gives many grains other velocities [m/s] and angular velocities [rad/s]; those that are not given stay as they are.
    ///
    /// Both are arrays of shape (n, 3), one row for each grain in the order of `ids()`, or of `ids` where it is given.
    #[pyo3(signature = (velocities = None, angular_velocities = None, *, ids = None))]
    fn set_velocities(
        &self,
        py: Python<'_>,
        velocities: Option<&Bound<'_, PyAny>>,
        angular_velocities: Option<&Bound<'_, PyAny>>,
        ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        setters::velocities(self, py, velocities, angular_velocities, ids)
    }

    /// Sets what drives a joint, in the place of what the scenario says.
    ///
    /// One of `force` [N] (of a hinge a torque [N m]), `pressure` [Pa], `velocity` [m/s] (of a hinge [rad/s]) or `position` [m] (of a hinge
    /// [rad]); none of them lets the joint go. Each is a number, or times [s] and values `(times, values)`, linear in between.
    /// `force_limit` [N] (of a hinge [N m]) is the largest force that holds a velocity or a position, by default without limit; what a
    /// position is off by goes away within `response_time` [s].
    #[pyo3(signature = (joint, *, force = None, pressure = None, velocity = None, position = None, force_limit = None, response_time = None))]
    #[pyo3(
        text_signature = "($self, joint, *, force=None, pressure=None, velocity=None, position=None, force_limit=None, response_time=0.05)"
    )]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn set_drive(
        &self,
        py: Python<'_>,
        joint: &str,
        force: Option<&Bound<'_, PyAny>>,
        pressure: Option<&Bound<'_, PyAny>>,
        velocity: Option<&Bound<'_, PyAny>>,
        position: Option<&Bound<'_, PyAny>>,
        force_limit: Option<&Bound<'_, PyAny>>,
        response_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let given = setters::Given { force, pressure, velocity, position, force_limit, response_time };
        setters::drive(self, py, joint, &given)
    }

    /// Adds grains and returns their ids, array of shape (n,).
    ///
    /// `positions` is an array of shape (n, 3) [m]; `radius` a number or an array of shape (n,) [m], of a clump that of the sphere of the
    /// same volume; `velocities` [m/s] and `angular_velocities` [rad/s] are arrays of shape (n, 3), by default zero; `clump` is the name of
    /// a clump or polyhedron of the scenario. A grain that overlaps another one or a boundary by more than 1 % of the smaller radius, or is
    /// inside a solid, is an error, and none is added; with `allow_overlap` all are, and pushed apart hard.
    #[pyo3(signature = (
        positions, radius, material, *, velocities = None, angular_velocities = None, clump = None, allow_overlap = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
    fn add_grains<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'_, PyAny>,
        radius: &Bound<'_, PyAny>,
        material: &str,
        velocities: Option<&Bound<'_, PyAny>>,
        angular_velocities: Option<&Bound<'_, PyAny>>,
        clump: Option<&str>,
        allow_overlap: bool,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let batch = setters::Batch { positions, radius, material, velocities, angular_velocities, clump };
        setters::add_grains(self, py, &batch, allow_overlap)
    }

    /// Takes grains out, by their ids.
    fn remove_grains(&self, py: Python<'_>, ids: &Bound<'_, PyAny>) -> PyResult<()> {
        setters::remove_grains(self, py, ids)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (title, device) = (&self.scenario.title, &self.device.get().choice);
        let (time, grains) =
            self.with(py, |engine| Ok((engine.time(), engine.state()?.world.present_count())))?;
        Ok(format!("<Simulation \"{title}\" at {time} s on {device}, {grains} grains>"))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.calls.try_lock() {
            Ok(calls) => calls.functions().try_for_each(|function| visit.call(function)),
            Err(_) => Ok(()),
        }
    }

    fn __clear__(&self) {
        if let Ok(mut calls) = self.calls.try_lock() {
            *calls = Calls::default();
        }
    }
}

/// Opens a scenario at its start, on a device.
fn start(py: Python<'_>, scenario: Arc<Scenario>, word: &Word) -> PyResult<Simulation> {
    let opened = word.open(py, &scenario, None)?;
    let engine = fork::detached(py, || Engine::on(&scenario, opened))?.map_err(|error| raised(&error))?;
    Simulation::new(py, scenario, engine, &word.text)
}
