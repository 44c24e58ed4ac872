//! Reader of scenario files.

mod belt;
mod bodies;
mod bonds;
mod boundaries;
mod changes;
mod checks;
mod clumps;
mod columns;
mod convergence;
mod deformation;
mod document;
mod domain;
mod emitter;
pub mod expect;
mod fields;
mod gates;
mod grains;
mod heat;
mod joints;
mod keys;
mod liquid;
mod materials;
mod mesh;
mod mixing;
mod motion;
mod nested;
mod no_text;
mod observed;
mod overlap;
mod overrides;
mod packing;
mod periodic;
mod pictures;
mod plan;
mod polyhedra;
mod portable;
mod problems;
mod radii;
mod range;
mod read;
mod region;
mod resolved;
pub mod schema;
mod shape;
mod sinks;
mod solver;
mod start;
pub mod study;
pub mod suite;
mod track;

use std::collections::HashSet;
use std::path::Path;

use glam::DVec3;

use crate::contact::{Impulse, Key};
use crate::model::{Axes, Clump, Grain, Materials, Plane, World};
use crate::observe::sinks::{class_names, profile_names};
use crate::output::outline::{DrawnRoom, boundaries_move};
use crate::output::{Formats, ScenarioRecord, Walls};
use crate::render::{Look, Show};
use crate::settings::{Bookkeeping, Settings};
use crate::sources::Emitter;

use self::checks::{check_steps, check_total, locked_axes, read_materials};
use self::document::{FileKind, parse_document, parse_tree, read_file, read_text};
use self::keys::Step;
use self::read::asked::Trace;
use self::read::{DURATION, ReadReport, Table, number, text, vector, whole, word};
use super::{CheckpointPlan, CompatiblePlan, ConvergencePlan, Inputs, OutputPlan, Portable, Scenario};

pub use self::changes::{Change, MAY_CHANGE, changes};
pub use self::checks::check_step_count;
#[cfg(feature = "cli")]
pub(crate) use self::mesh::mesh_triangles;
#[cfg(feature = "cli")]
pub(crate) use self::packing::Units;
pub use self::problems::{Problem, Problems, SourceText};

/// Largest number of grains of a scenario, emitted grains included.
pub const MAX_GRAINS: u64 = 20_000_000;
/// Largest number of steps of a run.
const MAX_STEPS: f64 = 1e12;

impl Scenario {
    /// Reads a scenario file with overrides such as `solver.iterations=100`.
    ///
    /// # Errors
    /// All mistakes in the file and the overrides.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Scenario, Problems> {
        let shown = path.display().to_string();
        let text = read_text(path, &shown).map_err(|problem| Problems::new(&shown, vec![problem]))?;
        let name = path.file_stem().map_or_else(|| shown.clone(), |stem| stem.to_string_lossy().into_owned());
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut scenario = read(&name, &changed(&shown, overrides), &text, folder, overrides)?;
        scenario.inputs.0.insert(0, path.to_owned());
        Ok(scenario)
    }

    /// Reads a scenario from a text. `name` is used in messages and for results; paths of other files
    /// start at `folder`.
    ///
    /// # Errors
    /// All mistakes in the text and the overrides.
    pub fn parse(name: &str, text: &str, folder: &Path, overrides: &[String]) -> Result<Scenario, Problems> {
        read(name, &changed(name, overrides), text, folder, overrides)
    }

    /// Reads the part of a scenario file that surrounds the grains of its results (gravity, periodic axes, materials, boundaries), their
    /// shapes, and the look of its pictures. Grain tables are not read: the scenario file in a folder of results may name files that are
    /// not beside it.
    ///
    /// # Errors
    /// All mistakes in that part of the file.
    pub fn load_surroundings(path: &Path) -> Result<(World, Look), Problems> {
        let folder = path.parent().unwrap_or(Path::new(""));
        read_file(path, FileKind::Scenario, |mut root, _| {
            let (mut world, _, _) = surroundings(&mut root, folder);
            world.clumps = kinds_of_grains(&mut root, folder);
            let pictures = root.node("output").and_then(|output| output.child("pictures"));
            let plan = pictures.and_then(|node| pictures::pictures(node, &world, 1.0));
            let look = plan.map_or_else(|| Look::of_scene(&world), |plan| plan.look);
            Some((world, look))
        })
    }

    /// Returns the parts of the scenario that are kept in the folder of its results.
    pub fn record(&self) -> ScenarioRecord<'_> {
        ScenarioRecord {
            inputs: &self.inputs,
            resolved: self.portable.text.as_deref().unwrap_or(&self.resolved),
            files: &self.portable.files,
            copies: None,
            formats: self.output.formats,
            walls: (!self.world.boundaries.is_empty()).then(|| self.walls()),
            surface: self.surface.as_ref(),
            fields: self.fields.as_ref(),
            has_polyhedra: self.world.has_polyhedra(),
            has_bonds: !self.world.bonds.is_empty(),
            fabric: self.fabric.as_ref(),
            layers: self.layers.as_ref(),
        }
    }

    fn walls(&self) -> Walls {
        let sources = self.emitters.iter().map(Emitter::bounds);
        Walls { room: DrawnRoom::of_run(&self.world, sources), move_about: boundaries_move(&self.world) }
    }
}

/// Name of a text in messages; overrides add "with changes", because its lines then differ from those of the file.
fn changed(shown: &str, overrides: &[String]) -> String {
    if overrides.is_empty() { shown.to_owned() } else { format!("{shown} with changes") }
}

fn read(
    name: &str,
    shown: &str,
    text: &str,
    folder: &Path,
    overrides: &[String],
) -> Result<Scenario, Problems> {
    let fail = |problems| Problems::new(shown, problems);
    let document = parse_document(shown, text, overrides).map_err(fail)?;
    if solver::asks_for_a_time_step(&document) {
        // The time step follows from all other values: a first reading with a draft step provides them.
        let draft =
            read(name, shown, text, folder, &[overrides, &[solver::draft_of_time_step(&document)]].concat())?;
        let step = solver::time_step_for(&draft);
        return read(name, shown, text, folder, &[overrides, &[step]].concat());
    }
    let text = if overrides.is_empty() { text.to_owned() } else { document.to_string() };
    let source = SourceText::new(shown, &text);
    let tree = parse_tree(&source, &text).map_err(fail)?;
    FileKind::Scenario.check(&source, tree.get_ref()).map_err(fail)?;
    let report = ReadReport::new(source);
    let root = Table::new(&report, 0..0, Vec::new(), tree.get_ref());
    let scenario = root.read(|root| Some(scenario(root, name, folder)));
    let (inputs, notes) = (report.inputs(), report.notes());
    let (problems, filled) = report.finish();
    match scenario {
        Some(scenario) if problems.is_empty() => Ok(Scenario {
            portable: portable::portable(document.clone(), &filled, &inputs),
            resolved: resolved::resolve(document, &filled),
            inputs: Inputs(inputs.into_iter().map(|(_, file)| file).collect()),
            notes,
            ..scenario
        }),
        _ => Err(fail(problems)),
    }
}

/// Returns the requests that the readers of a text that is valid TOML make for the value at a path, and the mistakes that they find in the
/// text.
fn trace(text: &str, folder: &Path, path: &[Step]) -> Trace {
    let source = SourceText::new("schema", text);
    let tree = parse_tree(&source, text);
    let report = ReadReport::listening(source, path);
    if let Ok(tree) = tree {
        Table::new(&report, 0..0, Vec::new(), tree.get_ref())
            .read(|root| Some(scenario(root, "schema", folder)));
    }
    report.heard()
}

/// Reads the whole scenario; the result is valid only if the report has no mistakes.
fn scenario(root: &mut Table<'_>, name: &str, folder: &Path) -> Scenario {
    let report = root.report;
    let title = root.or("title", name.to_owned(), text);
    let duration = root.get("duration", number(DURATION)).unwrap_or(1.0);
    let seed = root.or("seed", 1, whole(0, i64::MAX as u64));
    let friction_factors = materials::friction_factors(root);
    let (mut world, cell, Named { names, spans: boundary_spans }) = surroundings(root, folder);
    let locked = world.plane.map_or(Axes::NONE, Plane::locked).and(locked_axes(root));
    let settings = root.section("solver", |table| Some(solver::settings(table, world.gravity)));
    let settings = settings.unwrap_or_default();
    check_steps(root, duration, &settings);

    let (sink_names, sinks) = unique("sinks", each(root, "sinks", |i, table| sinks::sink(table, i)), report);
    world.sinks = sinks;
    world.domain = root.maybe("domain", |node| node.table(|table| domain::domain(table, &cell.periodic)));

    let output = root.section("output", |table| Some(plan::output(table, duration, &world)));
    let output = output.unwrap_or(OutputPlan { every: duration, formats: Formats::USUAL, pictures: None });
    let checkpoint = root.maybe("checkpoint", |node| node.table(plan::checkpoint)).unwrap_or_default();
    let common = Common { folder, duration, seed, locked, substep: settings.substep() };
    let Populated { emitters, seeds, bridges } = populate(root, &mut world, &common, &boundary_spans);
    liquid::liquid(root, &mut world, &emitters, &settings, bridges);
    let on_warning = root.section("run", |table| Some(plan::on_warning(table))).unwrap_or_default();
    let grains = world.grain_count() as u64 + emitters.iter().map(Emitter::total).sum::<u64>();
    deformation::check(root, &world, &emitters, &settings);
    check_world(root, &world, &emitters, &settings);

    let mut observed = observed::observe(root, &world, &names, grains);
    let subjects = expect::Subjects {
        boundaries: &names,
        sinks: &sink_names,
        size_classes: &class_names(&world.sinks, true),
        profile_bins: &class_names(&world.sinks, false),
        profiles: &profile_names(&world.sinks),
        regions: &observed.region_names,
        gates: &observed.gate_names,
        mixing: &observed.mixing_names,
        residences: &observed.residences,
        joints: &world.joints.iter().map(|joint| joint.name.clone()).collect::<Vec<_>>(),
        has_cell: root.node("observe").is_some_and(|node| node.child("cell").is_some()),
        has_surface: root.node("observe").is_some_and(|node| node.child("surface").is_some()),
        has_fabric: root.node("observe").is_some_and(|node| node.child("fabric").is_some()),
        has_compatible: root.node("forces").is_some_and(|node| node.child("compatible").is_some()),
        has_balance: observed.bookkeeping == Bookkeeping::On,
        has_bonds: root.has("bonds"),
        has_heat: world.heat.is_some(),
        has_liquid: world.liquid.is_some(),
        deforms: root.node("periodic").is_some_and(|node| node.child("stages").is_some()),
        has_drum: root.node("observe").is_some_and(|node| node.child("drum").is_some()),
        tracked: &observed.tracked,
        duration,
        folder,
    };
    let compatible = compatible_forces(root, &world.materials, &output);
    let expectations =
        root.maybe("expect", |node| node.table(|table| Some(expect::expectations(table, &subjects))));
    let expectations = expectations.unwrap_or_default();
    let convergence =
        root.maybe("convergence", |node| node.table(|table| convergence::plan(table, duration, &settings)));
    let scenario = Scenario {
        name: name.to_owned(),
        title,
        duration,
        settings: Settings { bookkeeping: observed.bookkeeping, ..settings },
        world: observed.measured(world),
        friction_factors,
        seeds,
        emitters,
        output,
        checkpoint,
        on_warning,
        drum: observed.drum,
        cell: observed.cell,
        surface: observed.surface,
        fabric: observed.fabric,
        fields: observed.fields,
        layers: observed.layers,
        regions: observed.regions,
        mixing: observed.mixing,
        tracked: observed.tracked,
        expectations,
        convergence,
        compatible,
        notes: Vec::new(),
        inputs: Inputs::default(),
        portable: Portable::default(),
        resolved: String::new(),
    };
    cell.check_lengths(scenario.largest_radius(), settings.reach(), report);
    scenario
}

/// Reports numbers that no engine can compute with, and a world that is not consistent.
fn check_world(root: &mut Table<'_>, world: &World, emitters: &[Emitter], settings: &Settings) {
    let report = root.report;
    if report.is_clean() {
        range::check(root, world, emitters, settings);
    }
    if report.is_clean()
        && let Err(error) = world.check()
    {
        report.problem(
            &(0..0),
            error.to_string(),
            "change what says so, in this file or in one that it names",
        );
    }
}

/// Reads the compatible forces that the scenario asks for; reports pictures that show them where it does not.
fn compatible_forces(
    root: &mut Table<'_>,
    materials: &Materials,
    output: &OutputPlan,
) -> Option<CompatiblePlan> {
    let compatible = root
        .maybe("forces", |node| {
            node.table(|table| {
                Some(table.maybe("compatible", |node| node.table(|table| plan::compatible(table, materials))))
            })
        })
        .flatten();
    let shown = output.pictures.as_ref().map(|pictures| pictures.look.show);
    if shown == Some(Show::CompatibleForces)
        && compatible.is_none()
        && let Some(node) = root.node("output").and_then(|node| node.child("pictures")?.child("show"))
    {
        node.problem(
            "the scenario does not ask for compatible forces",
            "add `[forces]` with `compatible = { law = \"hertz\" }`",
        );
    }
    compatible
}

/// Distance from the plane of a plane scene beyond which a grain is off the plane \[radius\].
const OFF_PLANE: f64 = 1e-9;

/// Parameters that all grains of a scenario share.
struct Common<'a> {
    /// Folder that relative paths start at.
    folder: &'a Path,
    /// Simulated time \[s\].
    duration: f64,
    seed: u64,
    /// Axes that are locked for all grains.
    locked: Axes,
    /// Length of a substep \[s\].
    substep: f64,
}

/// Reads the clumps and the polyhedra that grains may be.
fn kinds_of_grains(root: &mut Table<'_>, folder: &Path) -> Vec<Clump> {
    let clumps = root.maybe("clumps", |node| node.table(|table| Some(clumps::clumps(table, folder))));
    let shapes = root.maybe("shapes", |node| node.table(|table| Some(polyhedra::shapes(table, folder))));
    clumps.unwrap_or_default().into_iter().chain(shapes.unwrap_or_default()).collect()
}

/// What comes with the grains of a scenario.
struct Populated {
    emitters: Vec<Emitter>,
    /// Warm-start impulses of contacts of grains from a checkpoint.
    seeds: Vec<(Key, Impulse)>,
    /// Pairs of shapes that liquid bridges join in a checkpoint.
    bridges: Vec<[u32; 2]>,
}

/// Reads clumps, grains and emitters, and places the grains in the world.
fn populate(
    root: &mut Table<'_>,
    world: &mut World,
    common: &Common<'_>,
    boundary_spans: &[std::ops::Range<usize>],
) -> Populated {
    let (report, &Common { folder, duration, seed, locked, substep }) = (root.report, common);
    world.clumps = kinds_of_grains(root, folder);
    let mut blocks = each(root, "grains", |i, table| grains::block(table, i, world, folder));
    blocks.iter_mut().for_each(|block| block.hand_over_clumps(world));
    let periodic = world.periodic;
    let (materials, clumps) = (&world.materials, world.clumps.as_slice());
    let plane = world.plane;
    let shared = emitter::EmitterCommon { materials, clumps, duration, seed, locked, periodic, plane };
    let emitters = each(root, "emitters", |i, table| emitter::emitter(table, i, &shared));
    let start = root.maybe("start", |node| node.table(|table| start::read(table, world, folder, locked)));
    let has_grains = root.has("grains") || root.has("emitters") || root.has("start");
    // A boundary that cannot be read may be dynamic.
    let all = root.node("boundaries").and_then(|node| node.elements()).map_or(0, |all| all.len());
    let may_move = world.dynamic_boundaries().next().is_some() || all > world.boundaries.len();
    if !(has_grains || may_move) {
        root.problem(
            "nothing to simulate: no grains, no emitters and no dynamic boundary",
            "add [[grains]], [[emitters]] or [start]",
        );
    }
    let start = start.unwrap_or_default();
    let placement = grains::place(start.grains, &blocks, world, seed, locked, report);
    let start_span = root.node("start").map_or(0..0, |node| node.span);
    overlap::check(&placement, &blocks, world, &start_span, report);
    let told = overlap::check_dynamic_boundaries(world, boundary_spans, report);
    nested::check(world, boundary_spans, &told, report);
    if let Some(domain) = &world.domain {
        let span = root.node("domain").map_or(0..0, |node| node.span);
        domain::check(domain, &span, &placement, &emitters, report);
    }
    check_plane(root, world, &placement);
    check_total(root, &placement, &emitters);
    world.add_grains(placement.grains);
    cement(root, world, seed);
    let scaled = |(key, old): (Key, start::Seed)| (key, old.impulse.scaled(substep / old.substep));
    let seeds = start.seeds.into_iter().map(scaled).collect();
    Populated { emitters, seeds, bridges: start.bridges }
}

/// Reads `[[bonds]]`, and makes them one after the other: of several between two bodies the first counts.
fn cement(root: &mut Table<'_>, world: &mut World, seed: u64) {
    let nodes = root.node("bonds").and_then(|node| node.elements()).unwrap_or_default();
    for (i, node) in nodes.into_iter().enumerate() {
        node.table(|table| bonds::bonds(table, i, world, seed));
    }
}

/// Reports a grain of a plane scene that does not start in its plane.
fn check_plane(root: &mut Table<'_>, world: &World, placement: &grains::Placement) {
    let Some(plane) = world.plane else { return };
    let is_off = |grain: &Grain| grain.position[plane.across()].abs() > OFF_PLANE * grain.radius;
    let Some(grain) = placement.grains.iter().position(is_off) else { return };
    let off = placement.grains[grain].position[plane.across()];
    let axis = read::AXES[plane.across()];
    let span = root.node("plane").map_or(0..0, |node| node.span);
    let message =
        format!("the scene is in a plane through the origin, and grain {grain} starts at {axis} = {off:e} m");
    root.report.problem(&span, message, format!("put it at {axis} = 0"));
}

/// Names of all boundaries in the file, faulty ones included, and the places in the file of the names of the valid ones.
struct Named {
    names: Vec<String>,
    spans: Vec<std::ops::Range<usize>>,
}

/// Reads the surroundings of the grains: gravity, periodic axes, materials and boundaries.
fn surroundings(root: &mut Table<'_>, folder: &Path) -> (World, periodic::PeriodicCell, Named) {
    let gravity = root.or("gravity", DVec3::new(0.0, 0.0, -9.81), vector);
    let mut world = World::new(gravity, read_materials(root));
    world.plane = root.maybe("plane", word(Plane::WORDS)).and_then(Plane::of);
    let cell = root.maybe("periodic", |node| node.table(periodic::cell)).unwrap_or_default();
    (world.periodic, world.deformation) = (cell.periodic, cell.deformation.clone());
    let boundary =
        |i, table: &mut Table<'_>| boundaries::boundary(table, i, &world.materials, &cell.periodic, folder);
    let entries = each(root, "boundaries", boundary);
    let right = entries.iter().filter(|entry| entry.value.is_some());
    let spans: Vec<_> = right.map(|entry| entry.name_span.clone()).collect();
    let (names, boundaries) = unique("boundaries", entries, root.report);
    let heats = boundaries.into_iter().map(|walls| walls.add_to(&mut world)).collect();
    heat::heat(root, &mut world, heats);
    joints::areas(root, &mut world, &names);
    read_joints(root, &mut world, &names);
    (world, cell, Named { names, spans })
}

/// Reads the joints. No two joints may have the same name, the joints of rails (sliding boundaries) included.
fn read_joints(root: &mut Table<'_>, world: &mut World, names: &[String]) {
    let rails = world.joints.len();
    let entries = each(root, "joints", |i, table| joints::joint(table, i, world, names));
    for entry in &entries {
        if world.joints.iter().any(|rail| rail.name == entry.name) {
            let message = format!("the boundary \"{}\" slides, and a joint has its name", entry.name);
            root.report.problem(
                &entry.name_span,
                message,
                "its slider is called so already: choose another name",
            );
        }
    }
    let right = entries.iter().filter(|entry| entry.value.is_some());
    let spans: Vec<_> = right.map(|entry| entry.name_span.clone()).collect();
    let (_, joints) = unique("joints", entries, root.report);
    joints.into_iter().for_each(|joint| world.add_joint(joint));
    joints::check_drives(world, &spans, rails, root.report);
}

/// Element of a list whose elements have names.
struct NamedElement<T> {
    /// Name of the element, kept when the rest is wrong, so that references to it are not reported as mistakes.
    name: String,
    /// Place of the name in the file.
    name_span: std::ops::Range<usize>,
    /// Value of the element, if it is valid.
    value: Option<T>,
}

/// Returns the names of all entries and the valid values; reports names that occur twice.
fn unique<T>(kind: &str, entries: Vec<NamedElement<T>>, report: &ReadReport) -> (Vec<String>, Vec<T>) {
    let (mut names, mut values) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    for NamedElement { name, name_span, value } in entries {
        if !known.insert(name.clone()) {
            let message = format!("two {kind} are named \"{name}\"");
            report.problem(&name_span, message, "give each a name of its own");
        }
        names.push(name);
        values.extend(value);
    }
    (names, values)
}

/// Reads every table of a list and leaves out the faulty ones.
fn each<T>(
    root: &mut Table<'_>,
    key: &'static str,
    read: impl Fn(usize, &mut Table<'_>) -> Option<T>,
) -> Vec<T> {
    let nodes = root.node(key).and_then(|node| node.elements()).unwrap_or_default();
    nodes.into_iter().enumerate().filter_map(|(i, node)| node.table(|table| read(i, table))).collect()
}

#[cfg(test)]
mod tests;
