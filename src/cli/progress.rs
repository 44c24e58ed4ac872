//! Progress of a run: a bar on a terminal, plain lines elsewhere, or nothing.

use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::error::printable;
use crate::simulation::Progress;

use super::terminal::note;

/// Time between plain lines.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Shows how far a run has come, on stderr.
pub(super) enum Display {
    /// Nothing.
    Silent,
    /// A bar that is redrawn.
    Bar(ProgressBar),
    /// A line every few seconds.
    Lines {
        /// Time of the last line, or of the start of the run.
        last: Instant,
    },
}

impl Display {
    /// Display for stderr: a bar on a terminal, else lines.
    pub(super) fn new() -> Display {
        if stderr().is_terminal() { Display::Bar(bar()) } else { Display::Lines { last: Instant::now() } }
    }

    /// Shows `progress`.
    pub(super) fn show(&mut self, progress: &Progress) {
        match self {
            Display::Silent => {}
            Display::Bar(bar) => {
                bar.set_length(progress.steps);
                bar.set_position(progress.step);
                bar.set_message(describe(progress));
            }
            Display::Lines { last } if last.elapsed() >= LINE_EVERY => {
                note!("{:5.1} %  {}", percent(progress), describe(progress));
                *last = Instant::now();
            }
            Display::Lines { .. } => {}
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&mut self) {
        if let Display::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {percent:>3} %  {wide_msg}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(1).with_style(style)
}

/// Shows how far a study has come, on stderr: all its runs as one, with the time that is left.
pub(super) struct StudyDisplay {
    /// Bar, if stderr is a terminal.
    bar: Option<ProgressBar>,
    begun: Instant,
    /// Time of the last plain line.
    last: Instant,
}

/// Length of the bar of a study: parts of the whole work.
const STUDY_PARTS: u64 = 10_000;

impl StudyDisplay {
    /// Display for stderr: a bar on a terminal, else lines.
    pub(super) fn new() -> StudyDisplay {
        let bar = stderr().is_terminal().then(|| {
            let bar = bar();
            bar.set_length(STUDY_PARTS);
            bar
        });
        StudyDisplay { bar, begun: Instant::now(), last: Instant::now() }
    }

    /// Shows the share of the work that is done.
    pub(super) fn advance(&mut self, share: f64, words: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position((share * STUDY_PARTS as f64) as u64);
            bar.set_message(words.to_owned());
        } else if self.last.elapsed() >= LINE_EVERY {
            let left = self.begun.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-6);
            note!("{:5.1} %  {words}, about {left:.0} s left", 100.0 * share);
            self.last = Instant::now();
        }
    }

    /// Prints a line above the bar.
    pub(super) fn tell(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.println(printable(line)),
            None => note!("{line}"),
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn describe(progress: &Progress) -> String {
    let Progress { time, end, grains, lost, contacts, residual, steps_per_second, .. } = progress;
    let lost = if *lost > 0 { format!(" ({lost} lost)") } else { String::new() };
    let warnings = match progress.warnings {
        0 => String::new(),
        1 => ", 1 warning".to_owned(),
        more => format!(", {more} warnings"),
    };
    let unsaved = if progress.is_unsaved { ", last checkpoint not saved" } else { "" };
    format!(
        "t = {time:.4} of {end} s, {grains} grains{lost}, {contacts} contacts, \
         residual {residual:.1e} m/s, {steps_per_second:.0} steps/s{warnings}{unsaved}"
    )
}

fn percent(progress: &Progress) -> f64 {
    100.0 * progress.step as f64 / progress.steps.max(1) as f64
}
