//! `esker completions` and `esker man`: completions for a shell, and pages of the manual.

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;

use crate::error::{Error, suggest};
use crate::scenario::{Problem, Problems};

use super::terminal::say;
use super::{ExitOutcome, Failure};

/// Arguments of `esker completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionArguments {
    /// Shell that completes.
    shell: Shell,
}

/// Arguments of `esker man`.
#[derive(Debug, clap::Args)]
pub(super) struct ManualArguments {
    /// Command whose page is printed, such as run; default: that of the program.
    command: Option<String>,
}

/// Prints a script that lets a shell complete commands and options.
pub(super) fn completions(arguments: &CompletionArguments) -> Result<ExitOutcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::Arguments::command(), "esker", &mut script);
    say!("{}", String::from_utf8_lossy(&script));
    Ok(ExitOutcome::Done)
}

/// Prints a page of the manual, in roff.
pub(super) fn manual(arguments: &ManualArguments) -> Result<ExitOutcome, Failure> {
    let mut program = super::Arguments::command();
    // `build` gives the subcommands their full names.
    program.build();
    let page = match &arguments.command {
        Some(name) => of_command(&program, name)?,
        None => program,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).map_err(Error::file("manual"))?;
    say!("{}", String::from_utf8_lossy(&text));
    Ok(ExitOutcome::Done)
}

/// The command of this name.
fn of_command(program: &Command, name: &str) -> Result<Command, Problems> {
    program.find_subcommand(name).cloned().ok_or_else(|| {
        let known: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let help = suggest(name, known);
        let problem = Problem::of("man", format!("there is no command \"{name}\"")).help(help);
        Problems::new("man", vec![problem])
    })
}
