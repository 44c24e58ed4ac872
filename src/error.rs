//! One error for the whole crate: a message names the two things that disagree and what to change.

use std::borrow::Cow;
use std::path::PathBuf;

/// What can go wrong outside of reading a scenario (whose problems are
/// [diagnostics](crate::scenario::Problems)).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is outside of its range.
    #[error("{name} = {found}: expected {expected}")]
    InvalidSetting {
        /// The setting as written in the scenario file.
        name: &'static str,
        /// What was given.
        found: f64,
        /// The accepted range in words.
        expected: &'static str,
    },
    /// The smooth method with the rigid law, which has no springs.
    #[error(
        "the smooth method needs the force of an overlap, and `normal_law = \"rigid\"` has none: use \"hertz\" or \"hooke\""
    )]
    RigidSprings,
    /// A setting that only the CPU engine has.
    #[error("the GPU engine has no `{setting}`: leave it out or run on the CPU engine (`--device cpu`)")]
    NotOnGpu {
        /// The setting as written in the scenario file.
        setting: &'static str,
    },
    /// A setting that means nothing beside another.
    #[error("`{setting}` means nothing with `solver.{key} = \"{value}\"`: leave out one of them")]
    Clash {
        /// The setting as written in the scenario file.
        setting: &'static str,
        /// Key of the other in `[solver]`, and what it is.
        key: &'static str,
        /// Its value.
        value: &'static str,
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
    /// Contacts drove a grain further in a step than contact detection can follow.
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
        /// Its speed \[m/s\].
        speed: f64,
        /// Distance covered in that step, in diameters of the largest grain \[-\].
        diameters: f64,
        /// Step in use \[s\].
        time_step: f64,
    },
    /// A name that nothing in the scene has.
    #[error("there is no {what} \"{name}\"{advice}")]
    Unknown {
        /// What it was to be the name of.
        what: &'static str,
        /// The name.
        name: String,
        /// The nearest one, or nothing.
        advice: String,
    },
    /// A joint that has no position cannot be driven along it.
    #[error("joint \"{name}\" is a {kind}, which has no position: drive a hinge, a slider or an actuator")]
    NotDriven {
        /// Name of the joint.
        name: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A body that contacts move cannot be told how to.
    #[error(
        "boundary \"{name}\" is dynamic, which contacts move: give a velocity to one that is fixed or prescribed"
    )]
    NotPrescribed {
        /// Name of the boundary.
        name: String,
    },
    /// A boundary without an axis cannot turn at another rate.
    #[error(
        "boundary \"{name}\" has no axis to turn about: give it `motion = {{ kind = \"rotation\", axis = [...], rate = ... }}`, \
         where the rate may be 0"
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
    /// Contacts drove a dynamic boundary further in a step than contact detection can follow.
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
        /// Its speed \[m/s\].
        speed: f64,
        /// Distance covered in that step, in diameters of the largest grain \[-\].
        diameters: f64,
        /// Step in use \[s\].
        time_step: f64,
    },
    /// A grain left the domain, which was to end the run.
    #[error(
        "grain {grain} left the domain at t = {time:.6} s, at ({x:.4}, {y:.4}, {z:.4}) m; close the boundary there, enlarge the \
         domain, or let it go on with domain.outside = \"remove\" or \"keep\""
    )]
    LeftDomain {
        /// Id of the first such grain.
        grain: u32,
        /// Simulated time \[s\].
        time: f64,
        /// Its centre \[m\].
        x: f64,
        /// Its centre \[m\].
        y: f64,
        /// Its centre \[m\].
        z: f64,
    },
    /// A body beyond what the cells of the GPU engine can address.
    #[error(
        "a body at ({x:.3e}, {y:.3e}, {z:.3e}) m is too far away for cells of {cell:.3e} m: the GPU engine \
         reaches {limit:.3e} m from the origin; take out what leaves the scene (a [domain], a sink), move the scene closer, or use \
         --device cpu"
    )]
    TooFar {
        /// Where it is \[m\].
        x: f64,
        /// Where it is \[m\].
        y: f64,
        /// Where it is \[m\].
        z: f64,
        /// Width of a cell \[m\].
        cell: f64,
        /// Reach of the cells \[m\].
        limit: f64,
    },
    /// A number that single precision does not hold.
    #[error(
        "{what} is {found:e}: the GPU engine computes in single precision, which holds 1.2e-38 to 3.4e38; change \
         densities, moduli or radii, or use --device cpu"
    )]
    BeyondSingle {
        /// What it is, with its unit.
        what: String,
        /// The number in double precision.
        found: f64,
    },
    /// A machine with more rows than the GPU engine solves.
    #[error(
        "a machine has {rows} rows of joints, drives and ranges, and the GPU engine solves at most {limit} together; \
         leave out joints, or use --device cpu"
    )]
    MachineTooLarge {
        /// Rows of the machine.
        rows: u32,
        /// How many there may be.
        limit: u32,
    },
    /// Grains too small for positions in cells that suit the largest.
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
    /// A grain could meet two images of another.
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
    /// A place that no grain has.
    #[error("there is no grain {place}: the scene has {grains} places, counted from 0")]
    NoGrain {
        /// The place that was asked for.
        place: usize,
        /// Places there are.
        grains: usize,
    },
    /// A force on a body that contacts do not move.
    #[error("\"{name}\" is fixed, moves as prescribed, or was removed: a force does nothing to it")]
    NotDynamic {
        /// Name of the body.
        name: String,
    },
    /// Something that this library was built without.
    #[error("{what} is not in this build of esker; build it with the Cargo feature \"{feature}\"")]
    NotBuilt {
        /// What was asked for.
        what: &'static str,
        /// The feature that it needs.
        feature: &'static str,
    },
    /// No adapter of the wanted kind.
    #[error("no {wanted} adapter found (looked for Vulkan, Metal and DX12); {advice}")]
    NoAdapter {
        /// What was asked for.
        wanted: &'static str,
        /// What to do about it.
        advice: &'static str,
    },
    /// The adapter refused a device.
    #[error("adapter {adapter} gave no device: {reason}; try --device cpu")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// The driver's words.
        reason: String,
    },
    /// The device went away during a run.
    #[error(
        "the device was lost at t = {time:.6} s ({reason}); results up to the last output are on disk. \
         Run again with --device cpu, or with fewer grains if the card ran out of memory or time"
    )]
    DeviceLost {
        /// The driver's words.
        reason: String,
        /// Simulated time of the last good state \[s\].
        time: f64,
    },
    /// An engine that failed before is asked for its state.
    #[error("the engine has no good state to show after its failure: {reason}")]
    NoState {
        /// The failure.
        reason: String,
    },
    /// The driver refused a command (a defect of this program, not of the input).
    #[error("the driver refused a command, which is a defect of esker, please report it: {reason}")]
    Refused {
        /// The driver's words.
        reason: String,
    },
    /// A buffer would not fit the device.
    #[error(
        "{grains} grains need {} in buffer {buffer}, and the adapter binds at most {}: there is room for about \
         {fitting}; use fewer grains or another device",
        in_words(*needed), in_words(*limit)
    )]
    BufferTooLarge {
        /// Its name.
        buffer: &'static str,
        /// Bytes needed.
        needed: u64,
        /// Bytes the adapter can bind.
        limit: u64,
        /// Grains planned for.
        grains: u64,
        /// Grains whose largest buffer fits.
        fitting: u64,
    },
    /// The driver found no room for a buffer.
    #[error("the device is out of memory: {reason}; use fewer grains or another device")]
    DeviceFull {
        /// The driver's words.
        reason: String,
    },
    /// All buffers together do not fit the device.
    #[error(
        "{grains} grains need {} on the device, and it has not as much free: {reason}; \
         use fewer grains or another device", in_words(*needed)
    )]
    DeviceTooSmall {
        /// Grains planned for.
        grains: u64,
        /// Bytes needed.
        needed: u64,
        /// The driver's words.
        reason: String,
    },
    /// The machine has less free memory than a run needs.
    #[error(
        "{grains} grains need {} of memory on {engine}, and {} are free: there is room for about {fitting}; \
         use fewer grains or another machine", in_words(*needed), in_words(*free)
    )]
    MachineTooSmall {
        /// What would run.
        engine: &'static str,
        /// Grains planned for.
        grains: u64,
        /// Bytes needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Grains that fit.
        fitting: u64,
    },
    /// A shader is wrong (a defect of this program, not of the input).
    #[error("shader {shader}: {reason}")]
    Shader {
        /// Name of the stage.
        shader: String,
        /// What the validator says.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// The system's words.
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
        /// Who holds it, in words.
        holder: String,
    },
    /// A link where a run would write or clear up.
    #[error(
        "{path} is a symbolic link, and what it leads to may be someone else's: remove it, or choose another \
         folder with --out", path = path.display()
    )]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// A run would write over, or clear away, a file that it reads.
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
        /// The difference found.
        found: f64,
        /// The bound.
        allowed: f64,
    },
    /// A file, or a word on the command line, that is not what it is to be: results to draw, a checkpoint.
    #[error("{origin}: {found}; {advice}")]
    Unusable {
        /// Where it stands: a path or an option.
        origin: String,
        /// What is wrong with it.
        found: String,
        /// What was expected, and what to change.
        advice: String,
    },
    /// A scenario that is not the one that a checkpoint was saved of.
    #[error("{path}: the scenario is another one: {problems}", path = path.display())]
    Changed {
        /// The checkpoint.
        path: PathBuf,
        /// What differs.
        problems: String,
    },
    /// Runs of one study on both engines: their numbers do not compare.
    #[error(
        "finished runs in {folder} are of the {there} engine, and this one is {here}; \
         choose the other with --device, or another folder with --out", folder = folder.display()
    )]
    MixedEngines {
        /// Folder of the study.
        folder: PathBuf,
        /// The engine of the finished runs.
        there: String,
        /// The engine that was chosen.
        here: &'static str,
    },
}

/// Bytes in words, in decimal units: `1.28 GB`.
pub fn in_words(bytes: u64) -> String {
    let units = [(1_000_000_000_u64, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.into_iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{:.2} {name}", bytes as f64 / unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// The text without characters that steer a terminal. Ends of lines and tabs stay, and so does the number of bytes.
pub fn printable(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let shown = |c: char| match (steers(c), c.len_utf8()) {
        (false, _) => c,
        (true, _) if c == '\r' => ' ',
        (true, 1) => '?',
        (true, _) => '·',
    };
    Cow::Owned(text.chars().map(shown).collect())
}

impl Error {
    /// Says what was planned where the device had no room for it: this many bytes for so many grains.
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

    /// Attaches a path to a system error; for `map_err`.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.into();
        move |source| Error::File { path, source }
    }
}

/// The known name nearest to a misspelt one, if any is near.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 2).clamp(1, 4);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&name.to_lowercase(), candidate), candidate))
        .filter(|&(distance, _)| distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Advice for a name that is not among the known ones.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    if let Some(candidate) = nearest(name, known.clone()) {
        return format!("did you mean `{candidate}`?");
    }
    let all: Vec<String> = known.into_iter().map(|candidate| format!("`{candidate}`")).collect();
    if all.is_empty() { "there are none".to_owned() } else { format!("known: {}", all.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_taken_out_of_a_text_byte_by_byte() {
        assert_eq!(printable("a µ-line\n\tof text"), "a µ-line\n\tof text");
        let sent = "\u{1b}[2J\u{7}red\r\u{9b}1m";
        assert_eq!((printable(sent).as_ref(), printable(sent).len()), ("?[2J?red ·1m", sent.len()));
    }

    #[test]
    fn the_nearest_name_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("raduis", ["radius", "packing"]), Some("radius"));
        assert_eq!(nearest("colour", ["radius", "packing"]), None);
        assert_eq!(suggest("colour", ["radius", "packing"]), "known: `radius`, `packing`");
    }
}
