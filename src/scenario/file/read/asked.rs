//! Requests of the readers for the values of a file; the schema of the scenario is made from them.

use std::cell::RefCell;
use std::sync::Arc;

use crate::scenario::file::keys::Step;
use crate::scenario::file::problems::{Problem, SourceText};

use super::{Filled, Need, ReadReport};

/// Request of a reader for the value at a path.
#[derive(Clone, Copy)]
pub enum Asked {
    /// The value must be a table.
    Table,
    /// The value must be a table; the value of one of its keys is requested.
    Key(&'static str),
    /// A required key is missing in the table.
    Missing(&'static str),
    /// All entries of a table, under the user's own names.
    Named,
    /// The `kind` of a tagged table, one of these words.
    Kind(&'static [&'static str]),
    /// The value must be a list.
    List,
    /// The value must be a list of three numbers.
    Vector,
    /// The value must be a number.
    Number(Need),
    /// The value must be a whole number between two bounds, both included.
    Whole {
        /// Lower bound.
        least: u64,
        /// Upper bound.
        most: u64,
    },
    /// The value must be a string.
    Text,
    /// The value must be one of these words.
    Word(&'static [&'static str]),
    /// The value must be true or false.
    Boolean,
}

/// Recorder of the requests for one value.
pub struct Listener {
    path: Vec<Step>,
    asked: RefCell<Vec<Asked>>,
}

impl Listener {
    /// Records a request if it is for the value.
    pub fn hear(&self, path: &[Step], asked: Asked) {
        if path == self.path {
            self.asked.borrow_mut().push(asked);
        }
    }
}

/// Results of one reading of a text.
pub struct Trace {
    /// Requests of the readers for the value that was listened to, in their order.
    pub asked: Vec<Asked>,
    /// Mistakes in the text.
    pub problems: Vec<Problem>,
    /// Defaults that were taken.
    pub filled: Vec<Filled>,
}

impl ReadReport {
    /// Creates a report about a text that records the requests of the readers for the value at a path.
    pub fn listening(source: Arc<SourceText>, path: &[Step]) -> ReadReport {
        let listener = Listener { path: path.to_vec(), asked: RefCell::default() };
        ReadReport { listener: Some(listener), ..ReadReport::new(source) }
    }

    /// Returns all that the report recorded.
    pub fn heard(mut self) -> Trace {
        let asked = self.listener.take().map(|listener| listener.asked.into_inner()).unwrap_or_default();
        let (problems, filled) = self.finish();
        Trace { asked, problems, filled }
    }
}
