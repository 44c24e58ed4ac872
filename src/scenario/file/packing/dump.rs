//! Grains from a dump of LAMMPS or LIGGGHTS: its last frame, or the frame of a given step.

mod bounds;

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::super::MAX_GRAINS;
use super::super::no_text;
use super::super::read::{Table, open_named, text, whole, without_folder};
use super::multisphere::{Gathered, gather};
use super::rows::{Body, Fields, GrainRow, Layout, Note, Rows, Words};
use super::units::Units;
use crate::model::Clump;
use bounds::DumpBounds;

const HELP: &str = "expected a text dump with the columns x y z (or xu yu zu, xs ys zs, xsu ysu zsu) and if wanted radius or diameter, vx vy vz, \
                    omegax omegay omegaz, density or mass, type, as `dump custom` writes it; paths start at the scenario's folder";

/// Number of first bytes of a binary dump among which zeros are: those of its step.
const HEAD: usize = 64;
const BINARY: &str = "is binary, expected text; a binary dump of LAMMPS becomes text by its tool `binary2txt`, or is written anew by `dump custom` \
                      to a name that does not end in .bin";

/// Reads `file`, and optionally `timestep` and `type` to take only the grains of one step and one type.
pub fn read(table: &mut Table<'_>, folder: &Path) -> Option<Rows> {
    let node = table.node("file");
    let name = table.get("file", text);
    let step = table.maybe("timestep", whole(0, i64::MAX as u64));
    let kind = table.maybe("type", whole(1, u64::from(u32::MAX)));
    let (node, name) = (node?, name?);
    let rows = open_named(&node, folder, &name)
        .map_err(|mistakes| mistakes.join("; "))
        .and_then(|file| rows(file, &name, &Wanted { step, kind }));
    rows.map_err(|mistake| node.problem(mistake, HELP)).ok()
}

/// Selection of the grains that are taken.
struct Wanted {
    /// Number of the step; `None` for the last step.
    step: Option<u64>,
    /// Type of the grains; `None` for all types.
    kind: Option<u64>,
}

/// Lines of a dump, with their numbers.
struct DumpLines<'a, R> {
    lines: std::io::Lines<BufReader<R>>,
    number: usize,
    /// Name of the file.
    file: &'a str,
}

impl<R: Read> DumpLines<'_, R> {
    fn next(&mut self) -> Result<Option<String>, String> {
        self.number += 1;
        self.lines.next().transpose().map_err(|error| self.says(&error.to_string()))
    }

    /// Returns the next line, which must exist.
    fn expect(&mut self, what: &str) -> Result<String, String> {
        let line = self.next()?;
        line.ok_or_else(|| self.says(&format!("the file ends here, expected {what}")))
    }

    fn mistake(&self, found: &str, expected: &str) -> String {
        let shown: String = found.chars().take(100).collect();
        self.says(&format!("\"{shown}\", expected {expected}"))
    }

    fn says(&self, what: &str) -> String {
        format!("{}:{}: {what}", self.file, self.number)
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, String> {
        let line = self.expect(what)?;
        line.trim().parse().map_err(|_| self.mistake(line.trim(), what))
    }
}

/// What the lines of a frame have said so far.
#[derive(Default)]
struct Head {
    step: Option<u64>,
    count: Option<u64>,
    bounds: Option<DumpBounds>,
}

/// Grains of a frame that was wanted.
struct DumpFrame {
    step: u64,
    rows: Vec<GrainRow>,
    clumps: Vec<Clump>,
    /// What was made of the bodies of several spheres, for the user.
    bodies: String,
    kinds: Words,
    layout: Layout,
    bounds: Option<DumpBounds>,
}

/// Reads the selected grains.
fn rows(input: impl Read, file: &str, wanted: &Wanted) -> Result<Rows, String> {
    let mut input = BufReader::new(input);
    let first = input.fill_buf().map_err(|error| format!("{file}: {error}"))?;
    if let Some(told) = no_text::told(first) {
        return Err(format!("{file} {told}"));
    }
    if first.iter().take(HEAD).any(|byte| *byte == 0) {
        return Err(format!("{file} {BINARY}"));
    }
    let mut lines = DumpLines { lines: input.lines(), number: 0, file };
    let (mut found, mut steps, mut units) = (None, Vec::new(), None);
    let mut head = Head::default();
    while let Some(line) = lines.next()? {
        let item = line.trim();
        if let Some(titles) = item.strip_prefix("ITEM: ATOMS") {
            let Head { step, count, bounds } = std::mem::take(&mut head);
            let step = step.ok_or_else(|| lines.mistake(item, "ITEM: TIMESTEP before it"))?;
            let count = count.ok_or_else(|| lines.mistake(item, "ITEM: NUMBER OF ATOMS before it"))?;
            steps.push(step);
            if wanted.step.is_some_and(|wanted| wanted != step) {
                skip(&mut lines, count)?;
                continue;
            }
            let (of_file, titles) = (units.as_ref().map_or(Units::SI, |(_, units)| *units), words(titles));
            found = Some(atoms(&mut lines, (step, count), &titles, (of_file, bounds), wanted.kind)?);
        } else {
            read_item(&mut lines, item, &mut head, &mut units)?;
        }
    }
    if head.step.is_some() {
        return Err(lines.says("the file ends here, expected ITEM: ATOMS"));
    }
    let frame = found.ok_or_else(|| match (steps.first(), steps.last(), wanted.step) {
        (Some(first), Some(last), Some(step)) => {
            format!("{file}: has no step {step}: it has {} from {first} to {last}", steps.len())
        }
        _ => format!("{file}: holds no frame"),
    })?;
    if frame.rows.is_empty() {
        let such = if wanted.kind.is_some() { "such " } else { "" };
        return Err(format!("{file}: holds no {such}grains in step {}", frame.step));
    }
    Ok(frame.told(file, steps.len(), units.map(|(name, _)| name)))
}

/// Reads an item other than the grains.
fn read_item(
    lines: &mut DumpLines<'_, impl Read>,
    item: &str,
    head: &mut Head,
    units: &mut Option<(String, Units)>,
) -> Result<(), String> {
    match item {
        "" => {}
        "ITEM: UNITS" => {
            let name = lines.expect("the name of units")?.trim().to_owned();
            let known = Units::named(&name).map_err(|mistake| lines.says(&mistake))?;
            *units = Some((name, known));
        }
        // Its value is not needed.
        "ITEM: TIME" => {
            lines.number::<f64>("a time")?;
        }
        "ITEM: TIMESTEP" if head.step.is_some() => {
            return Err(lines.mistake(item, "ITEM: ATOMS of the step before it"));
        }
        "ITEM: TIMESTEP" => head.step = Some(lines.number("the number of a step")?),
        "ITEM: NUMBER OF ATOMS" => {
            let count = lines.number("the number of atoms")?;
            if count > MAX_GRAINS {
                return Err(lines.says(&format!("{count} grains, at most {MAX_GRAINS} are possible")));
            }
            head.count = Some(count);
        }
        item if item.starts_with("ITEM: BOX BOUNDS") => {
            let unit = units.as_ref().map_or(1.0, |(_, units)| units.length);
            head.bounds = Some(DumpBounds::read(lines, item, unit)?);
        }
        _ => {
            let expected = match head.step {
                None => "ITEM: TIMESTEP",
                Some(_) => "ITEM: NUMBER OF ATOMS, ITEM: BOX BOUNDS or ITEM: ATOMS",
            };
            return Err(lines.mistake(item, expected));
        }
    }
    Ok(())
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn skip(lines: &mut DumpLines<'_, impl Read>, count: u64) -> Result<(), String> {
    (0..count).try_for_each(|_| lines.expect("a grain").map(drop))
}

/// Reads the grains of a frame, of one type or all.
fn atoms(
    lines: &mut DumpLines<'_, impl Read>,
    (step, count): (u64, u64),
    titles: &[String],
    (units, bounds): (Units, Option<DumpBounds>),
    kind: Option<u64>,
) -> Result<DumpFrame, String> {
    let at = lines.number;
    let layout = Layout::of(titles, units).map_err(|mistake| lines.says(&mistake))?;
    if layout.is_scaled && bounds.is_none() {
        return Err(
            lines.says("scaled coordinates, and no ITEM: BOX BOUNDS before them says how long the box is")
        );
    }
    if kind.is_some() && layout.kind().is_none() {
        return Err(lines.says("no column `type`, and grains of one type are wanted"));
    }
    let (mut rows, mut kinds, mut ids, mut others) =
        (Vec::new(), Words::default(), Vec::new(), HashSet::new());
    for _ in 0..count {
        let line = lines.expect("a grain")?;
        let fields = DumpLine(line.split_whitespace().collect());
        let row = atom(&fields, &layout, bounds.as_ref(), &mut kinds, kind);
        let row = row.map_err(|mistake| lines.says(&format!("{mistake} in \"{}\"", shortened(&line))))?;
        match row {
            Some(row) => rows.push(row),
            None => {
                let of = layout.body(&fields).map_err(|mistake| lines.says(&mistake))?;
                others.insert(of);
            }
        }
        ids.extend(layout.id().map(|at| fields.text(at).to_owned()).and_then(|id| id.parse::<u64>().ok()));
    }
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!(
            "{}:{at}: the id {} is there twice in the {count} lines from here",
            lines.file, pair[0]
        ));
    }
    let torn = rows.iter().find(|row| row.body != Body::Sphere && others.contains(&row.body));
    if let Some(GrainRow { body: Body::Part(id), .. }) = torn {
        return Err(format!(
            "{}:{at}: the spheres of id_multisphere {id} are of several types, and one type is wanted",
            lines.file
        ));
    }
    let apart = |apart| {
        bounds.as_ref().filter(|_| !layout.is_unwrapped).map_or(apart, |bounds| bounds.nearest(apart))
    };
    let gathered = gather(rows, &without_folder(lines.file), &apart);
    let Gathered { rows, clumps, told: bodies } =
        gathered.map_err(|mistake| format!("{}:{at}: {mistake}", lines.file))?;
    Ok(DumpFrame { step, rows, clumps, bodies, kinds, layout, bounds })
}

fn shortened(line: &str) -> String {
    line.trim().chars().take(100).collect()
}

/// Reads a grain; `None` if it is of another type than wanted.
fn atom(
    fields: &DumpLine<'_>,
    layout: &Layout,
    bounds: Option<&DumpBounds>,
    kinds: &mut Words,
    wanted: Option<u64>,
) -> Result<Option<GrainRow>, String> {
    let columns = layout.count();
    if fields.0.len() != columns {
        return Err(format!("{} values, expected {columns} as in ITEM: ATOMS,", fields.0.len()));
    }
    let word = layout.kind().map(|(at, _)| fields.text(at));
    if wanted.is_some_and(|wanted| word.and_then(|word| word.parse().ok()) != Some(wanted)) {
        return Ok(None);
    }
    let kind = word.map(|word| kinds.number(word));
    let mut row = layout.row(fields, kind)?;
    if layout.is_scaled
        && let Some(bounds) = bounds
    {
        row.position = bounds.place(row.position)?;
    }
    Ok(Some(row))
}

/// Words of a line.
struct DumpLine<'a>(Vec<&'a str>);

impl Fields for DumpLine<'_> {
    fn number(&self, column: usize, what: &str) -> Result<f64, String> {
        let word = self.text(column);
        let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("{what} is \"{word}\", expected a finite number"))
    }

    fn text(&self, column: usize) -> &str {
        self.0.get(column).copied().unwrap_or("")
    }
}

impl DumpFrame {
    /// Returns the grains, with a note about the file.
    fn told(self, file: &str, frames: usize, units: Option<String>) -> Rows {
        let units = match units.as_deref() {
            None => "in SI units, as none are named,".to_owned(),
            Some("si") => "in SI units".to_owned(),
            Some(name) => format!("from units {name}"),
        };
        let of_frames = if frames == 1 { String::new() } else { format!(" of {frames} frames") };
        let head = format!(
            "{}: {} grains of step {}{of_frames} {units}",
            without_folder(file),
            self.rows.len(),
            self.step
        );
        let [taken, left_out] = self.layout.taken();
        let periods = match self.bounds.map(|bounds| bounds.periodic_axes()).unwrap_or_default() {
            axes if axes.is_empty() => String::new(),
            axes => format!("; its box is periodic along {axes}, which only [periodic] makes of the scene"),
        };
        let note = Note { head, taken, left_out, tail: self.bodies + &periods };
        let kind_title = self.layout.kind().map_or_else(String::new, |(_, title)| title.to_owned());
        Rows { rows: self.rows, clumps: self.clumps, kinds: self.kinds.0, kind_title, note }
    }
}

#[cfg(test)]
mod tests;
