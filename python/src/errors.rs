//! Exceptions, and the mistakes of a scenario as Python objects.

use std::io::ErrorKind;
use std::path::Path;

use esker::scenario::Problems;
use pyo3::import_exception;
use pyo3::prelude::*;

import_exception!(esker._errors, Error);
import_exception!(esker._errors, FileError);
import_exception!(esker._errors, InputError);
import_exception!(esker._errors, MissingFileError);
import_exception!(esker._errors, MissingScenarioError);
import_exception!(esker._errors, ScenarioError);
import_exception!(esker._errors, UnknownNameError);

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
    use esker::error::Error as Found;
    let message = in_python(&error.to_string());
    match error {
        Found::Unknown { .. } | Found::NoGrain { .. } => UnknownNameError::new_err(message),
        Found::InvalidSetting { .. }
        | Found::RigidSprings
        | Found::Clash { .. }
        | Found::NotDriven { .. }
        | Found::NotPrescribed { .. }
        | Found::NotRotating { .. }
        | Found::NotDynamic { .. }
        | Found::OutOfRange { .. }
        | Found::Unusable { .. }
        | Found::Changed { .. }
        | Found::InputAtRisk { .. } => InputError::new_err(message),
        Found::File { path, source } => {
            let is_missing = source.kind() == ErrorKind::NotFound;
            let code = source.raw_os_error().or(is_missing.then_some(MISSING));
            let exception = match is_missing {
                true => MissingFileError::new_err(message),
                false => FileError::new_err(message),
            };
            of_file(exception, code, path)
        }
        _ => Error::new_err(message),
    }
}

/// Number of the system for a file that is not there (ENOENT).
const MISSING: i32 = 2;

/// Exception with the number that the system has for it, and the file.
fn of_file(exception: PyErr, code: Option<i32>, path: &Path) -> PyErr {
    Python::attach(|py| {
        let value = exception.value(py);
        let told = value.setattr("errno", code).and_then(|()| value.setattr("filename", path));
        told.err().unwrap_or(exception)
    })
}

/// Exception for a value that was refused.
pub fn refused(message: impl Into<String>) -> PyErr {
    InputError::new_err(message.into())
}

/// Exception for the mistakes in a scenario.
pub fn wrong(py: Python<'_>, problems: &Problems, origin: Origin) -> PyErr {
    scenario_error(py, &in_python(problems.headline()), listed(problems, origin))
}

/// Exception for the mistakes in a scenario that is at a path.
pub fn wrong_at(py: Python<'_>, problems: &Problems, path: &Path) -> PyErr {
    let list = listed(problems, Origin::File);
    match path.exists() {
        true => scenario_error(py, &in_python(problems.headline()), list),
        false => {
            let message = told(&in_python(problems.headline()), &list);
            of_file(with_problems(py, MissingScenarioError::new_err(message), list), Some(MISSING), path)
        }
    }
}

fn listed(problems: &Problems, origin: Origin) -> Vec<Problem> {
    problems.list().iter().map(|problem| Problem::of(problem, origin)).collect()
}

/// Exception for mistakes under a headline.
pub fn scenario_error(py: Python<'_>, headline: &str, problems: Vec<Problem>) -> PyErr {
    with_problems(py, ScenarioError::new_err(told(headline, &problems)), problems)
}

fn told(headline: &str, problems: &[Problem]) -> String {
    let lines: String = problems.iter().map(|problem| format!("\n  {}", problem.__str__())).collect();
    format!("{headline}{lines}")
}

fn with_problems(py: Python<'_>, exception: PyErr, problems: Vec<Problem>) -> PyErr {
    match exception.value(py).setattr("problems", problems) {
        Ok(()) => exception,
        Err(other) => other,
    }
}
