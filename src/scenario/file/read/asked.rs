//! What readers ask of the values of a file: from it the schema of the scenario is made.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Filled, Need, Report, Step};
use crate::scenario::file::problems::{Problem, Source};

/// What a reader asks of the value at a path.
#[derive(Clone, Copy)]
pub enum Asked {
    /// That it is a table.
    Table,
    /// That it is a table; the value of a key of it.
    Key(&'static str),
    /// The value of a key that is not there and should be.
    Missing(&'static str),
    /// All entries, under the user's own names.
    Named,
    /// The `kind` of a tagged table, one of these words.
    Kind(&'static [&'static str]),
    /// That it is a list.
    List,
    /// That it is a list of three numbers.
    Vector,
    /// That it is a number.
    Number(Need),
    /// That it is a whole number between two bounds, both included.
    Whole {
        /// The smallest.
        least: u64,
        /// The largest.
        most: u64,
    },
    /// That it is a string.
    Text,
    /// That it is one of these words.
    Word(&'static [&'static str]),
    /// That it is true or false.
    Boolean,
}

/// What readers asked, one by one, and of which value.
pub type Heard = Vec<(Vec<Step>, Asked)>;

/// What one reading of a text came to.
pub struct Trace {
    /// What was asked, and of which value.
    pub asked: Heard,
    /// Mistakes in the text.
    pub problems: Vec<Problem>,
    /// Defaults that were taken.
    pub filled: Vec<Filled>,
}

impl Trace {
    /// What was asked of the value at a path.
    pub fn of(&self, path: &[Step]) -> impl Iterator<Item = Asked> {
        self.asked.iter().filter(move |(at, _)| at == path).map(|&(_, asked)| asked)
    }
}

impl Report {
    /// A report about a text that keeps what the readers ask for.
    pub fn listening(source: Arc<Source>) -> Report {
        Report { asked: Some(RefCell::default()), ..Report::new(source) }
    }

    /// All that it heard.
    pub fn heard(mut self) -> Trace {
        let asked = self.asked.take().unwrap_or_default().into_inner();
        let (problems, filled) = self.finish();
        Trace { asked, problems, filled }
    }
}
