//! `esker new`: a scenario to start from, a copy of one of the examples.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, suggest};
use crate::scenario::{Problem, Problems};

use super::terminal::say;
use super::{ExitOutcome, Failure};

/// Examples by name. They need no other file.
const EXAMPLES: [(&str, &str); 13] = [
    ("pile", include_str!("../../scenarios/pile.toml")),
    ("drum", include_str!("../../scenarios/drum.toml")),
    ("hopper", include_str!("../../scenarios/hopper.toml")),
    ("settle", include_str!("../../scenarios/settle_1000.toml")),
    ("column", include_str!("../../scenarios/column.toml")),
    ("clumps", include_str!("../../scenarios/clumps.toml")),
    ("triaxial", include_str!("../../scenarios/triaxial.toml")),
    ("intruder", include_str!("../../scenarios/intruder.toml")),
    ("heated_drum", include_str!("../../scenarios/heated_drum.toml")),
    ("crush", include_str!("../../scenarios/crush.toml")),
    ("sandcastle", include_str!("../../scenarios/sandcastle.toml")),
    ("stone_pile", include_str!("../../scenarios/stone_pile.toml")),
    ("shear_cell", include_str!("../../scenarios/shear_cell.toml")),
];

/// Arguments of `esker new`.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// File to write; `.toml` is added where it has no extension.
    #[arg(required_unless_present = "list")]
    name: Option<PathBuf>,
    /// Example that it is a copy of.
    #[arg(long, value_name = "EXAMPLE", default_value = "pile")]
    from: String,
    /// List the examples instead.
    #[arg(long)]
    list: bool,
}

impl Arguments {
    /// Whether the examples are listed, and nothing is written.
    pub(super) fn only_lists(&self) -> bool {
        self.list
    }
}

/// Writes the scenario, or lists the examples.
pub(super) fn new(arguments: &Arguments) -> Result<ExitOutcome, Failure> {
    let Some(name) = arguments.name.as_ref().filter(|_| !arguments.list) else {
        EXAMPLES.iter().for_each(|(name, text)| say!("{name:12}{}", title(text)));
        return Ok(ExitOutcome::Done);
    };
    let file = if name.extension().is_some() { name.clone() } else { name.with_extension("toml") };
    let text = example(&arguments.from)?;
    write_new(&file, &for_file(text, &file)).map_err(|error| cannot_write(&file, error))?;
    say!("wrote {}: {}", file.display(), title(text));
    say!("  esker check {0}    what it amounts to\n  esker run {0}      run it", file.display());
    Ok(ExitOutcome::Done)
}

/// Text of an example.
fn example(name: &str) -> Result<&'static str, Problems> {
    let found = EXAMPLES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let advice = suggest(name, EXAMPLES.iter().map(|(name, _)| *name));
        let problem = Problem::of("--from", format!("there is no example \"{name}\"")).help(advice);
        Problems::new("--from", vec![problem])
    })
}

/// Title of a scenario.
fn title(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("title = "));
    line.map_or("", |title| title.trim_matches('"'))
}

/// Text of an example, with the name of the new file in the commands of its comments.
fn for_file(text: &str, file: &Path) -> String {
    let shown = file.display().to_string();
    let line = |line: &str| match line.split_once("esker run scenarios/") {
        Some((before, after)) => {
            let options = after.find(' ').map_or("", |end| &after[end..]);
            format!("{before}esker run {shown}{options}\n")
        }
        None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Writes a new file; fails if the file exists.
fn write_new(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}

fn cannot_write(file: &Path, error: io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Failure::Input(exists(file, "choose another name; nothing was written"));
    }
    Failure::Run(Error::file(file)(error))
}

/// Problem of a file that exists and is not to be replaced.
pub(super) fn exists(file: &Path, help: &str) -> Problems {
    let shown = file.display().to_string();
    Problems::new(&shown, vec![Problem::of(&shown, "there is such a file").help(help)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn every_example_is_a_scenario_that_names_its_file_and_no_other() {
        for (name, text) in EXAMPLES {
            let text = for_file(text, Path::new("mine.toml"));
            assert!(!text.contains("scenarios/"), "{name} speaks of another file");
            assert!(!title(&text).is_empty(), "{name} has no title");
            // The folder has no files that the scenario could read.
            Scenario::parse(name, &text, Path::new("/nowhere"), &[])
                .unwrap_or_else(|problems| panic!("{problems}"));
        }
    }
}
