//! Reading of a script from its first line to its last: variables, other files, and runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ImportOptions;
use super::command::ScriptCommand;
use super::commands::{is_harmless, take};
use super::lines::{PlacedChar, ScriptWord, logical_lines, words};
use super::remarks::Remarks;
use super::scene::{ScriptRun, ScriptScene};
use super::variables::{Defined, Variables};
use crate::files::{LARGEST_TEXT, read_text};
use crate::scenario::{Problem, Problems, SourceText, Units};

/// Depth of files that include files, at most.
const DEEPEST: usize = 20;

/// What was read of a script.
pub struct ScriptRead {
    /// Runs in their order.
    pub runs: Vec<ScriptRun>,
    /// What is to be told.
    pub remarks: Remarks,
}

/// A script that is being read.
struct Reading {
    folder: PathBuf,
    variables: Variables,
    /// Units that are told beside the script.
    units: Option<Units>,
    scene: ScriptScene,
    runs: Vec<ScriptRun>,
    remarks: Remarks,
    problems: Vec<Problem>,
    /// Why the next run cannot go on in the same file, if so.
    breaks: Option<String>,
    has_units: bool,
    is_over: bool,
}

/// Reads a script.
pub fn read(script: &Path, options: &ImportOptions) -> Result<ScriptRead, Problems> {
    let shown = script.display().to_string();
    let units = match options.units.as_deref() {
        None => None,
        Some(name) => Some(Units::named(name).map_err(|wrong| {
            let problem = Problem::of("--units", wrong);
            Problems::new("--units", vec![problem.help("such as --units si")])
        })?),
    };
    let mut reading = Reading {
        folder: script.parent().unwrap_or(Path::new("")).to_owned(),
        variables: Variables::given(&options.variables),
        units,
        scene: ScriptScene { units: units.unwrap_or(Units::SI), ..ScriptScene::default() },
        runs: Vec::new(),
        remarks: Remarks::default(),
        problems: Vec::new(),
        breaks: None,
        has_units: false,
        is_over: false,
    };
    if let Err(error) = reading.file(script, 0) {
        return Err(Problems::new(&shown, vec![Problem::of(&shown, error)]));
    }
    if !reading.has_said_units() {
        let problem = Problem::of(
            &shown,
            "the script has no `units`, which then are lj, expected si, cgs, micro or nano",
        );
        reading.problems.push(
            problem.help("numbers without units: `--units si` takes them as metres, kilograms and seconds"),
        );
    }
    if reading.runs.is_empty() && reading.problems.is_empty() {
        let problem = Problem::of(&shown, "the script has no `run` of at least one step, expected one");
        reading.problems.push(problem.help("a scenario needs its duration: add `run N`"));
    }
    if !reading.problems.is_empty() {
        return Err(Problems::new(&shown, reading.problems));
    }
    Ok(ScriptRead { runs: reading.runs, remarks: reading.remarks })
}

impl Reading {
    fn has_said_units(&self) -> bool {
        self.units.is_some() || self.has_units
    }

    /// Reads a file; returns why it cannot be read.
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), String> {
        let text = read_text(path, LARGEST_TEXT)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let source = SourceText::new(&path.display().to_string(), &text);
        for line in logical_lines(&source.text) {
            if self.is_over {
                break;
            }
            if let Err(problem) = self.line(&source, &line, depth) {
                self.problems.push(problem);
            }
        }
        Ok(())
    }

    fn line(&mut self, source: &Arc<SourceText>, line: &[PlacedChar], depth: usize) -> Result<(), Problem> {
        let name: String = line
            .iter()
            .map(|(c, _)| *c)
            .skip_while(|c| c.is_whitespace())
            .take_while(|c| !c.is_whitespace())
            .collect();
        if is_harmless(&name) {
            return Ok(());
        }
        let expanded = self.variables.expand(line).map_err(|(at, wrong)| {
            Problem::at(source, at..at + 1, wrong)
                .help("define the variable before, or give it by --var NAME=VALUE")
        })?;
        let words = words(&expanded)
            .map_err(|span| Problem::at(source, span, "a quote that is not closed").help("close it"))?;
        match name.as_str() {
            "variable" => self.variable(source, &words),
            "include" => self.include(source, &words, depth),
            "quit" => {
                self.is_over = true;
                Ok(())
            }
            "run" => self.run(source, &words),
            "minimize" => {
                self.breaks = Some("atoms are moved by `minimize`".to_owned());
                self.take(source, &words)
            }
            "units" if self.units.is_some() => {
                let text = "`units` is overridden by --units".to_owned();
                self.with(source, &words, |command, _| {
                    command.differs(text);
                    Ok(())
                })
            }
            "read_data" | "read_restart" => {
                self.is_over = true;
                let message = format!(
                    "`{name}` brings the box and its atoms from a file that cannot be read, expected create_box"
                );
                let help = "write the atoms as a dump, which a scenario takes as packing = { kind = \"dump\", file = \"...\" }, \
                            and give the box by create_box";
                Err(Problem::at(source, words[0].span.clone(), message).help(help))
            }
            "if" | "jump" | "next" | "python" | "shell" | "clear" => {
                self.with(source, &words, |command, _| {
                    let rest = command.rest();
                    command.not_taken(format!("`{name} {rest}`: a script is read once from top to bottom"));
                    Ok(())
                })
            }
            _ => self.take(source, &words),
        }
    }

    /// Reads a command that changes the scene.
    fn take(&mut self, source: &Arc<SourceText>, words: &[ScriptWord]) -> Result<(), Problem> {
        self.has_units |= words[0].text == "units";
        let before = self.scene.atoms.len();
        let result = self.with(source, words, take);
        if self.scene.atoms.len() > before && self.scene.time > 0.0 {
            self.breaks = Some("atoms are created between two runs".to_owned());
        }
        result
    }

    fn with(
        &mut self,
        source: &Arc<SourceText>,
        words: &[ScriptWord],
        read: impl FnOnce(&mut ScriptCommand<'_>, &mut ScriptScene) -> Result<(), Problem>,
    ) -> Result<(), Problem> {
        let mut command =
            ScriptCommand::new(source, words, &self.variables, self.scene.units, &mut self.remarks);
        read(&mut command, &mut self.scene)
    }

    fn variable(&mut self, source: &Arc<SourceText>, words: &[ScriptWord]) -> Result<(), Problem> {
        let mut command =
            ScriptCommand::new(source, words, &self.variables, self.scene.units, &mut self.remarks);
        let name = command.word("the name of the variable")?;
        let style = command.word("a style: equal, index, string")?;
        let rest: Vec<&str> = words[3..].iter().map(|word| word.text.as_str()).collect();
        let mut variables = self.variables.clone();
        match variables.define(name, style, &rest) {
            Ok(Defined::Taken) => {}
            Ok(Defined::InPart(text)) => command.not_taken(text),
            Err(wrong) => {
                return Err(command.wrong(format!("variable `{name}`: {wrong}"), "correct the definition"));
            }
        }
        self.variables = variables;
        Ok(())
    }

    fn include(
        &mut self,
        source: &Arc<SourceText>,
        words: &[ScriptWord],
        depth: usize,
    ) -> Result<(), Problem> {
        let mut name = String::new();
        self.with(source, words, |command, _| {
            name = command.word("a file")?.to_owned();
            command.end()
        })?;
        let path = self.folder.join(&name);
        let wrong = |text: String| Problem::at(source, words[1].span.clone(), text);
        if depth >= DEEPEST {
            return Err(wrong(format!("{name} is included within itself")).help("break the circle"));
        }
        self.file(&path, depth + 1)
            .map_err(|error| wrong(error).help("paths start at the folder of the script"))
    }

    /// Reads `run`: keeps the scene for its duration, and moves what moves.
    fn run(&mut self, source: &Arc<SourceText>, words: &[ScriptWord]) -> Result<(), Problem> {
        let mut steps = 0;
        let mut place = String::new();
        self.with(source, words, |command, scene| {
            steps = command.count("the number of steps")?;
            place = command.place();
            if command.skip("upto") {
                steps = steps.saturating_sub(scene.steps);
            }
            match command.rest().as_str() {
                "" => {}
                rest if ["pre", "post", "start", "stop"].iter().any(|word| rest.starts_with(word))
                    && !rest.contains("every") => {}
                rest => command.not_taken(format!("`{rest}` of the run")),
            }
            if scene.time_step.is_none() {
                return Err(command.wrong("a run before `timestep`", "add `timestep` before it"));
            }
            if scene.bounds.is_none() {
                return Err(command.wrong("a run before the box is made", "add `create_box` before it"));
            }
            Ok(())
        })?;
        let step = self.scene.time_step.unwrap_or_default();
        let (start, end) = (self.scene.time, self.scene.time + steps as f64 * step);
        if steps > 0 {
            self.runs.push(ScriptRun {
                place,
                scene: self.scene.clone(),
                start,
                end,
                breaks: self.breaks.take(),
            });
        }
        self.scene.steps += steps;
        self.scene.time = end;
        Ok(())
    }
}
