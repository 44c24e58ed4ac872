//! Error type of the whole crate: a message names the two things that disagree and what to change.

mod words;

use std::path::PathBuf;

#[cfg(feature = "scenario")]
pub(crate) use words::nearest;
pub(crate) use words::suggest;
pub use words::{in_words, printable};

/// Errors other than mistakes in a scenario (which are [diagnostics](crate::scenario::Problems)).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is outside of its range.
    #[error("{name} = {found}: expected {expected}")]
    InvalidSetting {
        /// The setting as written in the scenario file.
        name: &'static str,
        /// Value that was given.
        found: f64,
        /// The accepted range in words.
        expected: &'static str,
    },
    /// The smooth method is combined with the rigid law, which has no springs.
    #[error(
        "the smooth method needs the force of an overlap, and `normal_law = \"rigid\"` has none: use \"hertz\" or \"hooke\""
    )]
    RigidSprings,
    /// A setting exists only on the CPU engine.
    #[error("the GPU engine has no `{setting}`: leave it out or run on the CPU engine (`--device cpu`)")]
    NotOnGpu {
        /// The setting as written in the scenario file.
        setting: &'static str,
    },
    /// A setting has no meaning together with another one.
    #[error("`{setting}` means nothing with `solver.{key} = \"{value}\"`: leave out one of them")]
    Clash {
        /// The setting as written in the scenario file.
        setting: &'static str,
        /// Key of the other setting in `[solver]`.
        key: &'static str,
        /// Value of the other setting.
        value: &'static str,
    },
    /// A number of a body is outside of the range of a world.
    #[error("{of} has a {what} of {found:e}: expected {expected}")]
    OutOfRange {
        /// Name of the body.
        of: String,
        /// Name of the number, with its unit.
        what: &'static str,
        /// Value that was given.
        found: f64,
        /// The accepted range in words.
        expected: &'static str,
    },
    /// A velocity or position stopped being a number.
    #[error(
        "grain {grain} has a velocity that is not a number at t = {time:.6} s; \
         check its initial state and material, or reduce solver.time_step (now {time_step} s)"
    )]
    NotANumber {
        /// Id of the first such grain.
        grain: u32,
        /// Simulated time \[s\].
        time: f64,
        /// Step in use \[s\].
        time_step: f64,
    },
    /// Contacts moved a grain further in a step than contact detection can follow.
    #[error(
        "grain {grain} exploded at t = {time:.6} s: its contacts drove it to {speed:.3e} m/s, {diameters:.1} largest \
         diameters in one step or substep of {time_step} s; reduce solver.time_step, raise solver.iterations, \
         or remove the overlap it started with"
    )]
    Exploded {
        /// Id of the first such grain.
        grain: u32,
        /// Simulated time \[s\].
        time: f64,
        /// Speed of the grain \[m/s\].
        speed: f64,
        /// Distance covered in that step, in diameters of the largest grain \[-\].
        diameters: f64,
        /// Step in use \[s\].
        time_step: f64,
    },
    /// The joints of a machine moved one of its parts further in a step than contact detection can follow.
    #[error(
        "boundary \"{name}\" exploded at t = {time:.6} s: the joints of its machine drove it to {speed:.3e} m/s, {diameters:.1} largest \
         diameters in one step or substep of {time_step} s; {cause}"
    )]
    JointsExploded {
        /// Name of the boundary.
        name: String,
        /// Simulated time \[s\].
        time: f64,
        /// Speed of the boundary \[m/s\].
        speed: f64,
        /// Distance covered in that step, in diameters of the largest grain \[-\].
        diameters: f64,
        /// Step in use \[s\].
        time_step: f64,
        /// What the joints have to do with it, and what to change.
        cause: String,
    },
    /// The device ends what it is given without doing it.
    #[error(
        "adapter {adapter} ({driver}) computes nothing: {seen}; update its driver, look with `esker devices` for another adapter, or \
         use --device cpu"
    )]
    Idle {
        /// Name of the adapter.
        adapter: String,
        /// Its driver.
        driver: String,
        /// What was seen of it.
        seen: String,
    },
    /// No element of the scene has this name.
    #[error("there is no {what} \"{name}\"{advice}")]
    Unknown {
        /// Kind of element that was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// Suggestion of a similar name; may be empty.
        advice: String,
    },
    /// A joint without a position cannot be driven.
    #[error(
        "joint \"{name}\" is a {kind}, which has no position: drive a hinge, a slider, a cylindrical joint or an actuator"
    )]
    NotDriven {
        /// Name of the joint.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
    /// The velocity of a dynamic boundary cannot be prescribed.
    #[error(
        "boundary \"{name}\" is dynamic, which contacts move: give a velocity to one that is fixed or prescribed"
    )]
    NotPrescribed {
        /// Name of the boundary.
        name: String,
    },
    /// A boundary without an axis of rotation cannot be given another rate.
    #[error(
        "boundary \"{name}\" has no axis to turn about: give it `motion = {{ kind = \"rotation\", axis = [...], rate = ... }}`, \
         the last of several, where the rate may be 0"
    )]
    NotRotating {
        /// Name of the boundary.
        name: String,
    },
    /// The velocity of a dynamic boundary stopped being a number.
    #[error(
        "boundary \"{name}\" has a velocity that is not a number at t = {time:.6} s; \
         check its initial state and material, or reduce solver.time_step (now {time_step} s)"
    )]
    BoundaryNotANumber {
        /// Name of the boundary.
        name: String,
        /// Simulated time \[s\].
        time: f64,
        /// Step in use \[s\].
        time_step: f64,
    },
    /// Contacts moved a dynamic boundary further in a step than contact detection can follow.
    #[error(
        "boundary \"{name}\" exploded at t = {time:.6} s: its contacts drove it to {speed:.3e} m/s, {diameters:.1} largest \
         diameters in one step or substep of {time_step} s; reduce solver.time_step, raise solver.iterations, \
         or remove the overlap it started with"
    )]
    BoundaryExploded {
        /// Name of the boundary.
        name: String,
        /// Simulated time \[s\].
        time: f64,
        /// Speed of the boundary \[m/s\].
        speed: f64,
        /// Distance covered in that step, in diameters of the largest grain \[-\].
        diameters: f64,
        /// Step in use \[s\].
        time_step: f64,
    },
    /// The run gave a warning, and `run.on_warning = "stop"` ends it.
    #[error("{warning}; the run ends here, as run.on_warning is \"stop\"")]
    Warned {
        /// The warning.
        warning: String,
    },
    /// A grain left the domain, and `outside = "stop"` ends the run.
    #[error(
        "grain {grain} left the domain at t = {time:.6} s, at ({x:.4}, {y:.4}, {z:.4}) m; close the boundary there, enlarge the \
         domain, or let it go on with domain.outside = \"remove\" or \"keep\""
    )]
    LeftDomain {
        /// Id of the first such grain.
        grain: u32,
        /// Simulated time \[s\].
        time: f64,
        /// Centre, x \[m\].
        x: f64,
        /// Centre, y \[m\].
        y: f64,
        /// Centre, z \[m\].
        z: f64,
    },
    /// More triangles of a patch of a mesh are near a solid than the GPU engine meets.
    #[error(
        "more triangles of a mesh, or sides of a curved wall, are near {body} at t = {time:.6} s than the GPU engine meets: give the mesh \
         fewer, larger triangles, the solid fewer corners, or use --device cpu"
    )]
    TooManyTriangles {
        /// The grain or boundary.
        body: String,
        /// Simulated time \[s\].
        time: f64,
    },
    /// A body is further away than the cells of the GPU engine can address.
    #[error(
        "a body at ({x:.3e}, {y:.3e}, {z:.3e}) m is too far away for cells of {cell:.3e} m: the GPU engine \
         reaches {limit:.3e} m from the origin; take out what leaves the scene (a [domain], a sink), move the scene closer, or use \
         --device cpu"
    )]
    TooFar {
        /// Position, x \[m\].
        x: f64,
        /// Position, y \[m\].
        y: f64,
        /// Position, z \[m\].
        z: f64,
        /// Width of a cell \[m\].
        cell: f64,
        /// Reach of the cells \[m\].
        limit: f64,
    },
    /// A number is outside of the range of single precision.
    #[error(
        "{what} is {found:e}: the GPU engine computes in single precision, which holds 1.2e-38 to 3.4e38; change \
         densities, moduli or radii, or use --device cpu"
    )]
    BeyondSingle {
        /// Name of the number, with its unit.
        what: String,
        /// Value in double precision.
        found: f64,
    },
    /// A machine (bodies connected by joints) has more scalar rows than the GPU engine solves.
    #[error(
        "a machine has {rows} rows of joints, drives and ranges, and the GPU engine solves at most {limit} together; \
         leave out joints, or use --device cpu"
    )]
    MachineTooLarge {
        /// Rows of the machine.
        rows: u32,
        /// Largest number of rows.
        limit: u32,
    },
    /// The smallest grains are too small for positions in cells that suit the largest.
    #[error(
        "the smallest grains have a radius of {radius:e} m, and in the cells of {cell:e} m that the largest need \
         the GPU engine rounds positions to {rounding:.1e} m; leave out the largest or smallest, or use --device cpu"
    )]
    TooSmall {
        /// Radius of the smallest \[m\].
        radius: f64,
        /// Width of a cell \[m\].
        cell: f64,
        /// Rounding of a position \[m\].
        rounding: f64,
    },
    /// A period is so short that a grain could touch two images of another grain.
    #[error(
        "the period of {length} m along {axis} is too short for the largest grain and its skin: \
         at least {least} m are needed; lengthen periodic.{axis}, or use smaller grains"
    )]
    ShortPeriod {
        /// Name of the axis.
        axis: &'static str,
        /// Length of the period \[m\].
        length: f64,
        /// Length needed \[m\].
        least: f64,
    },
    /// No grain has this place.
    #[error("there is no grain {place}: the scene has {grains} places, counted from 0")]
    NoGrain {
        /// The place that was asked for.
        place: usize,
        /// Number of places.
        grains: usize,
    },
    /// A force is applied to a body that is not dynamic.
    #[error("\"{name}\" is fixed, moves as prescribed, or was removed: a force does nothing to it")]
    NotDynamic {
        /// Name of the body.
        name: String,
    },
    /// The library was built without a required feature.
    #[error("{what} is not in this build of esker; build it with the Cargo feature \"{feature}\"")]
    NotBuilt {
        /// What was asked for.
        what: &'static str,
        /// Cargo feature that it needs.
        feature: &'static str,
    },
    /// Several ranks cannot run a scene with these settings.
    #[error("several ranks cannot run {what}: {advice}, or run it as one process")]
    NotOnRanks {
        /// What only one process can run.
        what: &'static str,
        /// What to change.
        advice: &'static str,
    },
    /// Several processes were started together for what one does.
    #[error(
        "{processes} processes were started together, and each would do the same: start one, or `esker run` of a build with the Cargo feature \"mpi\""
    )]
    ManyProcesses {
        /// Their number.
        processes: usize,
    },
    /// Some processes of a run cannot read the scenario, or read another.
    #[error(
        "{} is not the same on all ranks: put it and the files that it names where every machine finds them", file.display()
    )]
    NotOnAllRanks {
        /// Its file.
        file: PathBuf,
    },
    /// Some processes of a run were started with another option.
    #[error("{option} is not the same on all ranks: start all of them with the same options")]
    OptionNotOnAllRanks {
        /// The option.
        option: &'static str,
    },
    /// MPI, which connects the processes of a run, cannot be used.
    #[error("MPI cannot be used: {why}")]
    NoMpi {
        /// Why.
        why: String,
    },
    /// No adapter of the wanted kind was found.
    #[error("no {wanted} adapter found (looked for Vulkan, Metal and DX12); {advice}")]
    NoAdapter {
        /// What was asked for.
        wanted: &'static str,
        /// Advice.
        advice: &'static str,
    },
    /// The adapter refused a device.
    #[error("adapter {adapter} gave no device: {reason}; try --device cpu")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// Message of the driver.
        reason: String,
    },
    /// The device cannot launch many worlds at once.
    #[error(
        "the device lets a kernel bind {there} storage buffers, and a launch of many worlds needs {needed}: run the worlds one by one"
    )]
    FewStorageBuffers {
        /// Number of storage buffers that a kernel needs.
        needed: u32,
        /// Number of storage buffers that the device grants.
        there: u32,
    },
    /// All slots of an ensemble are taken.
    #[error(
        "the ensemble has room for {worlds} worlds, and all are taken: drop an engine, or make an ensemble with more room"
    )]
    EnsembleFull {
        /// Number of worlds for which there is room.
        worlds: usize,
    },
    /// The device was lost during a run.
    #[error(
        "the device was lost at t = {time:.6} s ({reason}); results up to the last output are on disk. \
         Run again with --device cpu, or with fewer grains if the card ran out of memory or time"
    )]
    DeviceLost {
        /// Message of the driver.
        reason: String,
        /// Simulated time of the last good state \[s\].
        time: f64,
    },
    /// An engine is asked for its state after a failure.
    #[error("the engine has no good state to show after its failure: {reason}")]
    NoState {
        /// Message of that failure.
        reason: String,
    },
    /// The driver refused a command (a defect of this program, not of the input).
    #[error("the driver refused a command, which is a defect of esker, please report it: {reason}")]
    Refused {
        /// Message of the driver.
        reason: String,
    },
    /// A buffer does not fit the device.
    #[error(
        "{grains} grains need {} in buffer {buffer}, and the adapter binds at most {}: there is room for about \
         {fitting}; use fewer grains or another device",
        in_words(*needed), in_words(*limit)
    )]
    BufferTooLarge {
        /// Name of the buffer.
        buffer: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Largest number of bytes that the adapter can bind.
        limit: u64,
        /// Number of grains planned for.
        grains: u64,
        /// Number of grains whose largest buffer fits.
        fitting: u64,
    },
    /// The driver has no memory for a buffer.
    #[error("the device is out of memory: {reason}; use fewer grains or another device")]
    DeviceFull {
        /// Message of the driver.
        reason: String,
    },
    /// All buffers together do not fit the device.
    #[error(
        "{grains} grains need {} on the device, and it has not as much free: {reason}; \
         use fewer grains or another device", in_words(*needed)
    )]
    DeviceTooSmall {
        /// Number of grains planned for.
        grains: u64,
        /// Bytes needed.
        needed: u64,
        /// Message of the driver.
        reason: String,
    },
    /// The computer has less free memory than a run needs.
    #[error(
        "{grains} grains need {} of memory on {engine}, and {} are free: there is room for about {fitting}; \
         use fewer grains or another machine", in_words(*needed), in_words(*free)
    )]
    MachineTooSmall {
        /// Engine that would run.
        engine: &'static str,
        /// Number of grains planned for.
        grains: u64,
        /// Bytes needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Number of grains that fit.
        fitting: u64,
    },
    /// A grain that is to be added overlaps something.
    #[error(
        "grain {grain} of those to be added overlaps {other} by {depth:.3e} m, {percent:.1} % of the smaller radius; none was \
         added: move it, or allow the overlap (`allow_overlap` in Python, `add_overlapping_grains` in Rust)"
    )]
    NoRoom {
        /// Index of the grain among those to be added.
        grain: usize,
        /// What it overlaps, in words.
        other: String,
        /// Depth of the overlap \[m\].
        depth: f64,
        /// Depth over the smaller radius \[%\].
        percent: f64,
    },
    /// A shader is wrong (a defect of this program, not of the input).
    #[error("shader {shader}: {reason}")]
    Shader {
        /// Name of the stage.
        shader: String,
        /// Message of the validator.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Message of the system.
        source: std::io::Error,
    },
    /// Another run writes into the folder.
    #[error(
        "{folder}: {holder} writes its results there; wait for its end, or choose another folder with --out",
        folder = folder.display()
    )]
    FolderInUse {
        /// The folder.
        folder: PathBuf,
        /// Holder of the folder, in words.
        holder: String,
    },
    /// The folder of the results is no longer at its path.
    #[error(
        "{folder}: the folder of the results was removed, renamed or replaced during the run: leave it in its place while a run goes \
         on, and run again; what it held until then can be continued by --resume if it is put back and holds a checkpoint",
        folder = folder.display()
    )]
    FolderGone {
        /// The folder.
        folder: PathBuf,
    },
    /// A symbolic link is at a place where a run would write or delete files.
    #[error(
        "{path} is a symbolic link, and what it leads to may be someone else's: remove it, or choose another \
         folder with --out", path = path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A run would overwrite or delete a file that it reads.
    #[error(
        "{file} is read by this run, whose results in {folder} would replace it: choose another folder with \
         --out, or rename the file", file = file.display(), folder = folder.display()
    )]
    InputAtRisk {
        /// The file.
        file: PathBuf,
        /// The folder of the results.
        folder: PathBuf,
    },
    /// The two engines disagree on the self-test.
    #[error("self-test on {adapter}: {what} differs by {found:.3e}, at most {allowed:.3e} is rounding")]
    SelfTest {
        /// Name of the adapter.
        adapter: String,
        /// The quantity compared.
        what: &'static str,
        /// Difference found.
        found: f64,
        /// Largest permitted difference.
        allowed: f64,
    },
    /// A file or a word on the command line is not of the expected kind, such as results to draw or a checkpoint.
    #[error("{origin}: {found}; {advice}")]
    Unusable {
        /// Origin of the file or word: a path or an option.
        origin: String,
        /// Description of what is wrong.
        found: String,
        /// Advice: what was expected, and what to change.
        advice: String,
    },
    /// A scenario differs from the one of which a checkpoint was saved.
    #[error("{path}: the scenario is another one: {problems}", path = path.display())]
    Changed {
        /// The checkpoint.
        path: PathBuf,
        /// Differences between the two scenarios.
        problems: String,
    },
    /// Runs of one study are on both engines, so that their numbers cannot be compared.
    #[error(
        "finished runs in {folder} are of the {there} engine, and this one is {here}; \
         choose the other with --device, or another folder with --out", folder = folder.display()
    )]
    MixedEngines {
        /// Folder of the study.
        folder: PathBuf,
        /// Engine of the finished runs.
        there: String,
        /// Engine that was chosen.
        here: &'static str,
    },
}

impl Error {
    /// Adds the planned size to an error of a full device: the number of bytes, and the number of grains that they are for.
    #[must_use]
    pub fn on_growing_to(self, needed: u64, grains: u64) -> Error {
        match self {
            Error::DeviceFull { reason } => Error::DeviceTooSmall { grains, needed, reason },
            other => other,
        }
    }

    /// Adds the simulated time \[s\] to the loss of a device.
    #[must_use]
    pub fn at_time(self, time: f64) -> Error {
        match self {
            Error::DeviceLost { reason, .. } => Error::DeviceLost { reason, time },
            other => other,
        }
    }

    /// Returns a function that attaches a path to a system error, for `map_err`.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { path, source }
    }
}
