//! Study file: one scenario run with all combinations of some settings, by `esker study`.
//!
//! ```toml
//! title = "Columns of 5 to 100 pellets"
//! about = "..."                         # a paragraph at the head of the report; default none
//! scenario = "../column.toml"           # beside the study
//!
//! [changes]                             # to every run; keys are those of `--set`
//! output.every = 0.1
//!
//! [axes]                                # every combination is run
//! grains.0.packing.count = [5, 10, 25]
//! solver.iterations = [5, 10, 20, 50]
//!
//! [choices.start]                       # an axis whose values are words for several settings at once
//! cold = { solver.warm_start = "cold" }
//! "history, 5 substeps" = { solver.warm_start = "history", solver.substeps = 5 }
//!
//! [references.fine]                     # one more run for every value of these axes, with these settings
//! per = ["count"]
//! settings = { solver.time_step = 2e-4, solver.iterations = 500 }
//!
//! [keep]                                # as in [expect], without bounds
//! height = {}
//! angle = { of = "dynamic_angle_deg", from = 8.0, until = 10.0 }
//!
//! [numbers.error]                       # |height / reference - 1| of every run
//! of = "height"
//! error_from = "fine:height"
//!
//! [numbers.needed]                      # iterations at which the error falls below 1 % for good
//! of = "error"
//! take = "needed"
//! below = 0.01
//! along = "iterations"
//!
//! [numbers.gain]
//! of = { of = "needed", where = { start = "cold" } }
//! over = { of = "needed", where = { start = "history, 5 substeps" } }
//! take = "mean"                         # over the values of all axes that are left; or `along` some
//!
//! [[finding]]
//! statement = "History needs a third of the iterations on average."
//! number = "gain"
//! at_least = 3.0
//! note = "..."                          # said below the verdict; default none
//!
//! [[plot]]
//! file = "error"                        # error.svg and error.png
//! title = "Height error over iterations"
//! x = "iterations"                      # an axis, or a number with `along` the axis that its points follow
//! y = "error"                           # or a list
//! log = ["x", "y"]                      # default none
//! where = { count = 25 }                # default: a curve for every value of every other axis
//!
//! [[plot]]
//! file = "residual"
//! title = "Residual over the sweeps"
//! from = "convergence.csv"              # a file that each run leaves; x and y are its columns
//! x = "sweep"
//! y = "residual"
//! rows = { start = "cold" }             # those of its rows with this word in this column; default all
//!
//! [labels]                              # of axes and numbers in plots and tables
//! error = "height error [-]"
//!
//! [full.axes]                           # with --full, in place of the lists of the same name; also
//! grains.0.packing.count = [5, 50, 100] # [full.choices.NAME], [full.references.NAME] and [full.changes]
//! ```
//!
//! The name of an axis is the last word of its key: `count`, `iterations`. Lists of settings may contain words, numbers or tables.
//!
//! A number starts with `of`: a kept quantity, another number defined above it, a quantity of a reference run (`fine:height`), or a
//! quantity that every run has: `wall_seconds`, `step_seconds` (wall time of stepping alone), `steps`, `sweeps`, `sweeps_per_second` (of
//! simulated time), `contact_sweeps`. `where` fixes axes to a value, which may be called `"last"`. Then it is combined with another number,
//! if one of these keys is given:
//!
//! | Key | The number |
//! |---|---|
//! | `over` | divided by the other |
//! | `minus` | minus the other |
//! | `error_from` | \|number / other - 1\| |
//! | `or_larger` | the larger of the two |
//!
//! The other may be a plain number, `minus = 0.5`. Last, `take` reduces the values `along` one or several axes, by default all, to one
//! number:
//!
//! | `take` | The number |
//! |---|---|
//! | `"mean"`, `"maximum"`, `"minimum"`, `"spread"` | mean, largest, smallest, largest minus smallest |
//! | `"exponent"` | least-squares slope of its logarithm over that of the axis |
//! | `"linearity"` | share of the variance that the least-squares line explains, R² \[-\] |
//! | `"at_minimum"` | value of the axis at which it is smallest: the setting that fits best |
//! | `"needed"` | value of the axis from which on the number's size stays `below` a bound, interpolated in logarithms |
//!
//! With `measured_in = "sweeps_per_second"`, or another number, the last four reductions use that number in place of the values of the
//! axis: `needed` then gives the work that is needed.
//!
//! A number that does not exist (a run failed; the bound is never met, or is met from the first value on) is left out of reductions, and
//! the report says so. Instead of `of`, `table = { by = "count", values = [[5, 0.06], [10, 0.13]] }` gives numbers by hand. A finding is
//! judged like an [expectation](super::expect): `value` with a tolerance, `at_least`, `at_most`, `shown_only`.

mod axes;
mod numbers;
mod plots;

use std::path::{Path, PathBuf};

pub use self::axes::{Axis, AxisValue, Reference};
pub use self::numbers::{Compare, Number, NumberKind, NumberSource, Operand, Reduce, TakeAlong};
pub use self::plots::{AxisScale, Curves, Finding, Plot};
use super::document::FileKind;
use super::expect::{self, Subjects};
use super::problems::{Problem, Problems};
use super::read::{Node, Table, text};
use super::{Scenario, each, read_file};
use crate::observe::Expectation;
use crate::observe::sinks::{class_names, profile_names};
use crate::settings::Bookkeeping;

/// Quantities that every run has beside the kept ones.
pub const WORK: [&str; 6] =
    ["wall_seconds", "step_seconds", "steps", "sweeps", "sweeps_per_second", "contact_sweeps"];

/// Study: a scenario, the settings to vary, and the numbers, findings and plots to derive; see the [module](self).
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// Name of the file without its extension; results go to `out/studies/<name>/`.
    pub name: String,
    /// Title line.
    pub title: String,
    /// Paragraph at the head of the report.
    pub about: Option<String>,
    /// File of the scenario.
    pub scenario: PathBuf,
    /// Changes to every run, as `--set` takes them.
    pub changes: Vec<String>,
    /// Axes that are varied; the last varies fastest.
    pub axes: Vec<Axis>,
    /// Reference runs, to compare with.
    pub references: Vec<Reference>,
    /// Numbers computed from every run; not judged.
    pub keep: Vec<Expectation>,
    /// Numbers derived from the kept ones; each uses only those before it.
    pub numbers: Vec<Number>,
    /// Statements to be judged.
    pub findings: Vec<Finding>,
    /// Plots to be drawn.
    pub plots: Vec<Plot>,
    /// Display names of axes and numbers.
    pub labels: Vec<(String, String)>,
    /// Files that the study was read from: the study, the scenario, tables of grains, curves.
    pub inputs: Vec<PathBuf>,
}

/// Size of a study: which lists of values are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Values of `[axes]` and `[choices]`.
    Quick,
    /// Values of `[full]`, where there are any.
    Full,
}

impl Study {
    /// Reads a study and its scenario.
    ///
    /// # Errors
    /// All mistakes in the study, values of axes that the scenario does not take, and mistakes in the scenario.
    pub fn load(path: &Path, size: Size) -> Result<Study, Problems> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut study = read_file(path, FileKind::Study, |root, of_scenario| {
            root.read(|root| study(root, name, folder, size, of_scenario))
        })?;
        study.inputs.push(path.to_owned());
        Ok(study)
    }

    /// Returns the display name of an axis or a number.
    pub fn label<'a>(&'a self, name: &'a str) -> &'a str {
        self.labels.iter().find(|(known, _)| known == name).map_or(name, |(_, label)| label)
    }
}

/// Reads the scenario with changes. The time series is the only output that is kept, unless the changes say otherwise.
///
/// # Errors
/// All mistakes in the scenario.
pub fn scenario(file: &Path, changes: &[String]) -> Result<Scenario, Problems> {
    let output = "output.formats=[\"csv\"]".to_owned();
    Scenario::load(file, &[&[output], changes].concat())
}

fn study(
    root: &mut Table<'_>,
    name: String,
    folder: &Path,
    size: Size,
    of_scenario: &mut Vec<Problem>,
) -> Option<Study> {
    let title = root.or("title", name.clone(), text);
    let about = root.maybe("about", text);
    let file = root.get("scenario", text).map(|file| folder.join(file));
    let changes = axes::changes(root, size);
    let base = file.as_ref().and_then(|file| match scenario(file, &changes) {
        Ok(base) => Some(base),
        Err(problems) => {
            of_scenario.extend(problems.list().iter().cloned());
            None
        }
    });
    let takes = |overrides: &[String]| match (&base, &file) {
        (Some(_), Some(file)) => scenario(file, &[&changes, overrides].concat()).map(drop),
        _ => Ok(()),
    };
    let axes = axes::axes(root, size, &takes);
    let references = axes::references(root, size, &axes, &takes);
    let (labels_of_kept, keep) = keep(root, base.as_ref(), folder);
    let mut known = numbers::KnownNames::new(&axes, &references, labels_of_kept);
    known.refuse_doubles(root);
    let numbers = numbers::numbers(root, &mut known);
    let findings = each(root, "finding", |_, table| plots::finding(table, &known));
    let plots = each(root, "plot", |_, table| plots::plot(table, &known));
    plots::refuse_same_files(root, &plots);
    let labels =
        root.maybe("labels", |node| node.table(|table| Some(labels(table, &known)))).unwrap_or_default();
    let scenario = file?;
    let references = known.references.to_vec();
    let of_base = base.map_or_else(Vec::new, |base| base.inputs.0);
    let own = root.report.inputs().into_iter().map(|(_, file)| file);
    let inputs = of_base.into_iter().chain(own).collect();
    Some(Study {
        name,
        title,
        about,
        scenario,
        changes,
        axes: known.axes.to_vec(),
        references,
        keep,
        numbers,
        findings,
        plots,
        labels,
        inputs,
    })
}

/// Reads the quantities that are kept of every run; returns the names of all entries, faulty ones included, and the valid entries.
fn keep(root: &mut Table<'_>, base: Option<&Scenario>, folder: &Path) -> (Vec<String>, Vec<Expectation>) {
    let Some(node) = root.node("keep") else {
        root.missing("keep", "add [keep] with the quantities of every run, such as height = {}");
        return Default::default();
    };
    let mut names = Vec::new();
    let kept = node.table(|table| {
        for (label, span, _) in table.named() {
            if WORK.contains(&label.as_str()) {
                table.report.problem(
                    &span,
                    format!("`{label}` is what every run has"),
                    "give it another name",
                );
                continue;
            }
            names.push(label);
        }
        base.map(|base| kept(table, base, folder))
    });
    (names, kept.unwrap_or_default())
}

/// Reads the quantities that are kept of a run of this scenario.
fn kept(table: &mut Table<'_>, base: &Scenario, folder: &Path) -> Vec<Expectation> {
    let names = |list: Vec<&String>| list.into_iter().cloned().collect::<Vec<_>>();
    let subjects = Subjects {
        boundaries: &names(base.world.boundaries.iter().map(|boundary| &boundary.name).collect()),
        sinks: &names(base.world.sinks.iter().map(|sink| &sink.name).collect()),
        size_classes: &class_names(&base.world.sinks, true),
        profile_bins: &class_names(&base.world.sinks, false),
        profiles: &profile_names(&base.world.sinks),
        regions: &names(base.regions.iter().map(|region| &region.name).collect()),
        gates: &names(base.world.gates.iter().map(|gate| &gate.name).collect()),
        mixing: &names(base.mixing.iter().map(|plan| &plan.name).collect()),
        residences: &base.world.residences,
        joints: &names(base.world.joints.iter().map(|joint| &joint.name).collect()),
        has_bonds: !base.world.bonds.is_empty(),
        has_drum: base.drum.is_some(),
        has_cell: base.cell.is_some(),
        has_surface: base.surface.is_some(),
        tracked: &base.tracked,
        has_fabric: base.fabric.is_some(),
        has_compatible: base.compatible.is_some(),
        has_balance: base.settings.bookkeeping == Bookkeeping::On,
        has_heat: base.world.heat.is_some(),
        has_liquid: base.world.liquid.is_some(),
        deforms: base.world.deformation.is_some(),
        duration: base.duration,
        folder,
    };
    expect::kept(table, &subjects)
}

/// Reads the display names.
fn labels(table: &mut Table<'_>, known: &numbers::KnownNames<'_>) -> Vec<(String, String)> {
    let read = |(name, span, node): (String, std::ops::Range<usize>, Node<'_>)| {
        known.check_name(&name, &span, node.report);
        text(node).map(|label| (name, label))
    };
    table.named().into_iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests;
