//! The text of a scenario, with what is to be known at its head, and its time step.

use std::path::{Path, PathBuf};

use super::Imported;
use super::blocks::GrainWriter;
use super::boundaries::WallWriter;
use super::materials::{MaterialList, TypicalGrain};
use super::parts::{ScriptPart, parts};
use super::paths::{name_of, stem, way};
use super::reader::ScriptRead;
use super::remarks::{Remark, Remarks, listed};
use super::scene::{BoxFace, FixKind, ScriptRun, ScriptScene};
use super::text::{comment, number, quoted, remarked, vector};
use crate::model::sphere_volume;
use crate::scenario::pace::{fastest, smallest_radius};
use crate::scenario::{Problem, Problems, Scenario};

/// Time step for slow grains of 10 mm \[s\]; for others in proportion to the root of their diameter.
const SLOW_STEP: f64 = 5e-3;
/// Part of its radius that the fastest grain goes in a step, at most \[-\].
const TRAVEL: f64 = 0.5;
/// Steps of a run, at least: a shorter run looks into single collisions, which the smooth method resolves.
const LEAST_STEPS: f64 = 20.0;

/// Writes the scenarios of a script.
///
/// # Errors
/// What the script lacks: properties, files, or places of grains.
pub fn write(script: &Path, out: &Path, read: ScriptRead, is_smooth: bool) -> Result<Imported, Problems> {
    let ScriptRead { runs, mut remarks } = read;
    let shown = script.display().to_string();
    let fail = |problem: Problem| Problems::new(&shown, vec![problem]);
    let parts = parts(&runs);
    told_before(&mut remarks, &parts);
    let bodies = parts.iter().enumerate().map(|(index, part)| body(script, out, (index, part), &mut remarks));
    let bodies = bodies.collect::<Result<Vec<PartText>, Problem>>().map_err(fail)?;
    let folder = out.parent().unwrap_or(Path::new(""));
    let pace = pace_of(&bodies[0], folder, is_smooth);
    remarks.list.sort_by_key(|remark| remark.stand);
    let mut imported = Imported { files: Vec::new(), remarks: remarks.list, faults: Vec::new() };
    for (index, body) in bodies.iter().enumerate() {
        let (file, before) = (file_of(out, index), index.checked_sub(1).map(|before| file_of(out, before)));
        let start = before.map_or(String::new(), |before| {
            format!(
                "
{}checkpoint = {}
",
                remarked("[start]", &format!("from the end of {}", name_of(&before))),
                quoted(&format!("out/{}", stem(&before)))
            )
        });
        let top = head(&shown, (out, bodies.len(), index), &parts[index], &imported.remarks);
        let solver = pace.solver(&parts[index]);
        let text = |start: &str| format!("{top}{}{start}{solver}{}", body.before_solver, body.behind_solver);
        // The checkpoint of the part before does not exist yet, so a later part is checked without it.
        imported.faults.extend(faults(&file, &text(""), index));
        imported.files.push((file, text(&start)));
    }
    Ok(imported)
}

/// Mistakes of a scenario. A later part has no grains of its own before the part before it has run.
fn faults(file: &Path, text: &str, index: usize) -> Option<Problems> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let found = Scenario::parse(&file.display().to_string(), text, folder, &[]).err()?;
    let is_empty = |problem: &Problem| index > 0 && problem.message().starts_with("nothing to simulate");
    if found.list().iter().all(is_empty) { None } else { Some(found) }
}

/// Remarks on how the parts are divided, and on grains that nothing moves.
fn told_before(remarks: &mut Remarks, parts: &[ScriptPart<'_>]) {
    for part in parts.iter().filter(|part| !part.reason.is_empty()) {
        let place = &part.runs[0].place;
        remarks.differs(
            place,
            format!(
                "{}, which a scenario cannot do over time: this run goes on in a file of its own",
                part.reason
            ),
        );
    }
    for part in parts.iter().skip(1) {
        for fix in part.scene().fixes.iter().filter(|fix| fix.kind == FixKind::Freeze) {
            if !parts[0].scene().fixes.iter().any(|known| known == fix) {
                remarks.not_taken(
                    &fix.place,
                    format!(
                        "group `{}` is frozen after a run: grains of a checkpoint cannot be chosen",
                        fix.group
                    ),
                );
            }
        }
    }
    for fix in parts[0].scene().fixes.iter().filter(|fix| fix.kind == FixKind::Freeze) {
        if parts[0].scene().fixes.iter().any(|other| matches!(other.kind, FixKind::Insertion(_))) {
            remarks.not_taken(&fix.place, "inserted grains that are frozen: only atoms of create_atoms are");
        }
    }
}

/// Text of a part without its head and solver.
struct PartText {
    before_solver: String,
    behind_solver: String,
    duration: f64,
}

fn body(
    script: &Path,
    out: &Path,
    (index, part): (usize, &ScriptPart<'_>),
    remarks: &mut Remarks,
) -> Result<PartText, Problem> {
    let scene = part.scene();
    let folder = script.parent().unwrap_or(Path::new(""));
    let there = way(out.parent().unwrap_or(Path::new("")), folder);
    let place = part.runs[0].place.clone();
    let mut materials = MaterialList::new(part.last(), &place, typical(part));
    // Later parts go on with the materials of the first, so all kinds of grain are named in their order.
    for (kind, density) in kinds(part.before.iter().chain(part.runs)) {
        materials.of_grains(kind, density)?;
    }
    let mut grains = GrainWriter::new(part, &mut materials, remarks, folder);
    for run in part.before {
        grains.name_clumps(&run.scene);
    }
    grains.write()?;
    let counters = grains.counters()?;
    let (clumps, blocks) = (grains.clumps, grains.text);
    let walls = WallWriter { part, materials: &mut materials, remarks, folder, there: &there }.write()?;
    let law = materials.normal_law(remarks);
    let duration = part.end() - part.start();
    let before_solver = format!(
        "title = {}\ngravity = {}\nduration = {}\nseed = 1\n{}{}",
        quoted(&title(script, index)),
        vector(scene.gravity()),
        number(duration),
        if scene.is_flat { "locked_axes = [\"z\", \"rx\", \"ry\"]\n" } else { "" },
        periodic(scene),
    );
    let law = if law == "hertz" { String::new() } else { format!("normal_law = {}\n", quoted(law)) };
    let behind_solver = [
        law,
        materials.write()?,
        walls,
        clumps,
        blocks,
        counters,
        domain(scene, remarks, &place),
        output(part),
        if part.is_last {
            String::new()
        } else {
            format!("\n[checkpoint]\nevery_simulated = {}\n", number(duration))
        },
    ]
    .concat();
    Ok(PartText { before_solver, behind_solver, duration })
}

fn title(script: &Path, index: usize) -> String {
    let name = script.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    if index == 0 { format!("Import of {name}") } else { format!("Import of {name}, part {}", index + 1) }
}

/// Types and densities of all grains, in the order of the script.
fn kinds<'a>(runs: impl Iterator<Item = &'a ScriptRun>) -> Vec<(usize, f64)> {
    let mut kinds = Vec::new();
    for run in runs {
        let atoms = run.scene.atoms.iter().map(|atom| (atom.material, atom.density));
        let inserted = run.scene.fixes.iter().filter_map(|fix| match &fix.kind {
            FixKind::Insertion(insertion) => {
                Some(insertion.kinds.iter().map(|(kind, _)| (kind.material, kind.density)))
            }
            _ => None,
        });
        kinds.extend(atoms.chain(inserted.flatten()));
    }
    let mut once: Vec<(usize, f64)> = Vec::new();
    kinds.into_iter().for_each(|kind| {
        if !once.contains(&kind) {
            once.push(kind)
        }
    });
    once
}

/// Grain on which laws are judged that depend on a size: the first atom, or the first kind of the first insertion.
fn typical(part: &ScriptPart<'_>) -> TypicalGrain {
    let scene = part.last();
    let atom = scene.atoms.first().map(|atom| (0.5 * atom.diameter, atom.density));
    let inserted = part.before.iter().chain(part.runs).flat_map(|run| &run.scene.fixes).find_map(|fix| {
        match &fix.kind {
            FixKind::Insertion(insertion) => insertion
                .kinds
                .first()
                .map(|(kind, _)| ((kind.mean_volume() / sphere_volume(1.0)).cbrt(), kind.density)),
            _ => None,
        }
    });
    let (radius, density) = atom.or(inserted).unwrap_or((1e-3, 1000.0));
    TypicalGrain { radius, mass: density * sphere_volume(radius) }
}

fn periodic(scene: &ScriptScene) -> String {
    let Some([low, high]) = scene.bounds else { return String::new() };
    let axes = ["x", "y", "z"]
        .into_iter()
        .enumerate()
        .filter(|(axis, _)| scene.faces[*axis][0] == BoxFace::Periodic);
    // Along z a plane scene has no extent.
    let axes = axes.filter(|(axis, _)| !(scene.is_flat && *axis == 2));
    let lines: String = axes
        .map(|(axis, name)| format!("{name} = [{}, {}]\n", number(low[axis]), number(high[axis])))
        .collect();
    if lines.is_empty() { lines } else { format!("\n[periodic]\n{lines}") }
}

/// The box of the script, whose fixed faces lose grains.
fn domain(scene: &ScriptScene, remarks: &mut Remarks, place: &str) -> String {
    let Some([low, high]) = scene.bounds else { return String::new() };
    let face = |side: usize, axis: usize| match (scene.faces[axis][side], side) {
        (BoxFace::Fixed, 0) => number(low[axis]),
        (BoxFace::Fixed, _) => number(high[axis]),
        (_, 0) => "-inf".to_owned(),
        _ => "inf".to_owned(),
    };
    if !scene.faces.iter().flatten().any(|face| *face == BoxFace::Fixed) {
        return String::new();
    }
    remarks.differs(place, "grains that leave the box through its fixed faces are removed and counted");
    let corner = |side: usize| [0, 1, 2].map(|axis| face(side, axis)).join(", ");
    format!("\n[domain]\nmin = [{}]\nmax = [{}]\noutside = \"remove\"\n", corner(0), corner(1))
}

/// Interval of the most frequent dump.
fn output(part: &ScriptPart<'_>) -> String {
    let every = |run: &ScriptRun| {
        let steps = run.scene.dumps.values().flatten().min()?;
        Some(*steps as f64 * run.scene.time_step?)
    };
    let every = part.runs.iter().filter_map(every).fold(f64::INFINITY, f64::min);
    if every.is_infinite() {
        return String::new();
    }
    let every = format!("every = {}", number(every.min(part.end() - part.start())));
    format!(
        "
[output]
{}",
        remarked(&every, "s, as the dump")
    )
}

/// Time step and method.
struct ScenarioPace {
    step: Option<f64>,
}

impl ScenarioPace {
    fn solver(&self, part: &ScriptPart<'_>) -> String {
        let told = format!("the script has {} s", number(part.scene().time_step.unwrap_or_default()));
        let lines = match self.step {
            Some(step) => [
                remarked(
                    &format!("time_step = {}", number(step)),
                    &format!("s; {told}. `esker check` has advice"),
                ),
                remarked("iterations = \"auto\"", "sweeps until they have converged"),
            ],
            None => [
                remarked(
                    "method = \"smooth\"",
                    "springs and dampers: the run is as short as a few collisions, or it was asked for",
                ),
                remarked("time_step = \"auto\"", &told),
            ],
        };
        format!("\n[solver]\n{}", lines.concat())
    }
}

/// The step with which no grain goes farther than half a radius, and which suits grains that move slowly.
fn pace_of(body: &PartText, folder: &Path, is_smooth: bool) -> ScenarioPace {
    if is_smooth {
        return ScenarioPace { step: None };
    }
    let draft = format!("{}\n[solver]\ntime_step = 1e-4\n{}", body.before_solver, body.behind_solver);
    let draft = Scenario::parse("draft", &draft, folder, &[]).ok();
    let step = draft.as_ref().and_then(|scenario| {
        let radius = smallest_radius(scenario)?;
        let (speed, _) = fastest(scenario);
        let slow = SLOW_STEP * (2.0 * radius / 0.01).sqrt();
        Some(slow.min(TRAVEL * radius / speed.max(1e-9)))
    });
    let step = round_down(step.unwrap_or(1e-4));
    ScenarioPace { step: (body.duration >= LEAST_STEPS * step).then_some(step) }
}

/// The next of 1, 2 and 5 times a power of ten below a number.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit =
        [5.0, 2.0, 1.0].into_iter().find(|digit| digit * power <= value * (1.0 + 1e-9)).unwrap_or(1.0);
    digit * power
}

/// Comments at the head of a file.
fn head(
    script: &str,
    (out, count, index): (&Path, usize, usize),
    part: &ScriptPart<'_>,
    remarks: &[Remark],
) -> String {
    let mut text = comment(&format!("Import of {script} by esker {}.", env!("CARGO_PKG_VERSION")));
    let runs: Vec<&str> = part.runs.iter().map(|run| run.place.as_str()).collect();
    text.push_str(&comment(&format!("Runs: {}.", runs.join(", "))));
    let commands: Vec<String> =
        (0..count).map(|i| format!("esker run {}", name_of(&file_of(out, i)))).collect();
    text.push_str("#\n");
    if count > 1 {
        text.push_str(&comment(&format!(
            "Part {} of {count}. To be run in this folder, one after the other:",
            index + 1
        )));
    }
    commands.iter().for_each(|command| text.push_str(&format!("#     {command}\n")));
    text + &listed(remarks, "script") + "\n"
}

/// File of a part: `hopper.toml`, `hopper-2.toml` and so on.
pub fn file_of(out: &Path, index: usize) -> PathBuf {
    match index {
        0 => out.to_owned(),
        _ => out.with_file_name(format!("{}-{}.toml", stem(out), index + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        let found = [7.3e-4, 5e-4, 1e-3, 1.99e-5].map(round_down);
        for (found, expected) in found.into_iter().zip([5e-4, 5e-4, 1e-3, 1e-5]) {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
        }
    }
}
