//! Exceptions, and the mistakes of a scenario as Python objects.

use esker::scenario::Problems;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    esker,
    Error,
    PyException,
    "A simulation that cannot go on, or a request that cannot be met: the message says why and what to change."
);
create_exception!(
    esker,
    ScenarioError,
    Error,
    "A scenario with mistakes. The attribute `problems` lists all of them, each a `Problem`."
);

/// One mistake in a scenario.
#[pyclass(frozen, get_all, module = "esker")]
pub struct Problem {
    /// What is wrong.
    message: String,
    /// What to do about it, or None.
    help: Option<String>,
    /// Path of the value, as for `set`: "grains.0.packing.count"; None where there is none.
    key: Option<String>,
    /// Line in the file, counted from 1; None without a file.
    line: Option<usize>,
    /// Column in that line, counted from 1; None without a file.
    column: Option<usize>,
}

#[pymethods]
impl Problem {
    fn __str__(&self) -> String {
        let help = self.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
        format!("{}{}{help}", self.place(), self.message)
    }

    fn __repr__(&self) -> String {
        format!("<Problem {}>", self.__str__())
    }
}

/// Form in which a scenario was given.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A file, whose mistakes have lines and columns.
    File,
    /// A dictionary, whose mistakes have keys.
    Dictionary,
}

impl Problem {
    /// A mistake in a dictionary.
    pub fn at_key(key: &str, message: String, help: &str) -> Problem {
        let help = Some(help.to_owned());
        Problem { message, help, key: Some(key.to_owned()), line: None, column: None }
    }

    fn of(problem: &esker::scenario::Problem, origin: Origin) -> Problem {
        let position = problem.position().filter(|_| origin == Origin::File);
        let (line, column) = position.unzip();
        // The text of a mistake without a position names its origin: a word of `set`, or another file.
        let message = match problem.position() {
            Some(_) => problem.message().to_owned(),
            None => problem.to_string(),
        };
        let key = problem.key().filter(|key| !key.is_empty());
        Problem { message: in_python(&message), help: problem.advice().map(in_python), key, line, column }
    }

    /// Place of the mistake, unless the message names it: "3:7: " or "solver.iterations: ".
    fn place(&self) -> String {
        match (self.line, self.column, &self.key) {
            (Some(line), Some(column), _) => format!("{line}:{column}: "),
            (_, _, Some(key)) if !self.message.contains(&format!("`{key}`")) => format!("{key}: "),
            _ => String::new(),
        }
    }
}

/// Words of the command line, each with its counterpart in Python.
const IN_PYTHON: [(&str, &str); 7] = [
    ("--device gpu or software", "device=\"gpu\" or \"software\""),
    ("--device cpu", "device=\"cpu\""),
    ("--device", "device="),
    ("--out", "out="),
    ("--until ", "until="),
    ("--set ", "set "),
    ("--resume", "resume"),
];

/// Replaces words of the command line in a message by those that a user of Python would write.
pub fn in_python(message: &str) -> String {
    IN_PYTHON.iter().fold(message.to_owned(), |text, (word, here)| text.replace(word, here))
}

/// Exception for an error of the library.
pub fn raised(error: &esker::error::Error) -> PyErr {
    Error::new_err(in_python(&error.to_string()))
}

/// Exception for the mistakes in a scenario.
pub fn wrong(py: Python<'_>, problems: &Problems, origin: Origin) -> PyErr {
    let list = problems.list().iter().map(|problem| Problem::of(problem, origin)).collect();
    scenario_error(py, &in_python(problems.headline()), list)
}

/// Exception for mistakes under a headline.
pub fn scenario_error(py: Python<'_>, headline: &str, problems: Vec<Problem>) -> PyErr {
    let lines: String = problems.iter().map(|problem| format!("\n  {}", problem.__str__())).collect();
    let exception = ScenarioError::new_err(format!("{headline}{lines}"));
    match exception.value(py).setattr("problems", problems) {
        Ok(()) => exception,
        Err(other) => other,
    }
}
