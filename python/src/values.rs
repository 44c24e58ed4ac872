//! Conversion of Python values to values of a scenario file, and to numbers of the library.

use glam::DVec3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::errors::{Problem, scenario_error};

/// Text of a scenario file with the values of a dictionary.
pub fn scenario_text(dictionary: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut reader = Reader { problems: Vec::new() };
    let entries = reader.table(dictionary, "");
    reader.finish(dictionary.py(), "dictionary")?;
    let mut document = DocumentMut::new();
    for (key, value) in entries {
        document.insert(&key, laid_out(value));
    }
    Ok(document.to_string())
}

/// Overrides in the form of `esker run --set`, from a dictionary of paths and values.
pub fn overrides(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    let mut reader = Reader { problems: Vec::new() };
    let entries = reader.table(set, "");
    reader.finish(set.py(), "set")?;
    Ok(entries.into_iter().map(|(key, value)| format!("{key}={value}")).collect())
}

/// Lays a value out as a person would write it: tables under headings.
fn laid_out(value: Value) -> Item {
    match value {
        Value::InlineTable(table) => {
            let mut laid = Table::new();
            table.into_iter().for_each(|(key, value)| {
                laid.insert(&key, if value.is_inline_table() { laid_out(value) } else { Item::Value(value) });
            });
            Item::Table(laid)
        }
        Value::Array(array) if !array.is_empty() && array.iter().all(Value::is_inline_table) => {
            let tables = array.into_iter().filter_map(|value| match value {
                Value::InlineTable(table) => Some(table.into_table()),
                _ => None,
            });
            Item::ArrayOfTables(tables.collect::<ArrayOfTables>())
        }
        value => Item::Value(value),
    }
}

/// Reader of values, which notes everything that a scenario cannot hold.
struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn finish(self, py: Python<'_>, origin: &str) -> PyResult<()> {
        let count = self.problems.len();
        let plural = if count == 1 { "" } else { "s" };
        match count {
            0 => Ok(()),
            _ => Err(scenario_error(py, &format!("{origin}: {count} problem{plural}"), self.problems)),
        }
    }

    fn table(&mut self, dictionary: &Bound<'_, PyDict>, path: &str) -> Vec<(String, Value)> {
        let mut entries = Vec::new();
        for (key, value) in dictionary {
            let Ok(key) = key.cast::<PyString>().map(|key| key.to_string()) else {
                self.note(path, format!("has the key {}", shown(&key)), "keys are strings");
                continue;
            };
            let value = self.value(&value, &below(path, &key));
            entries.extend(value.map(|value| (key, value)));
        }
        entries
    }

    fn value(&mut self, object: &Bound<'_, PyAny>, path: &str) -> Option<Value> {
        if let Ok(value) = object.cast::<PyBool>() {
            return Some(value.is_true().into());
        }
        if let Ok(text) = object.cast::<PyString>() {
            return Some(text.to_string().into());
        }
        if object.is_instance_of::<PyInt>() {
            return match object.extract::<i64>() {
                Ok(number) => Some(number.into()),
                Err(_) => self.refuse(path, format!("is {}", shown(object)), "whole numbers have 64 bits"),
            };
        }
        if let Ok(number) = object.cast::<PyFloat>() {
            return Some(number.value().into());
        }
        if let Ok(dictionary) = object.cast::<PyDict>() {
            return Some(InlineTable::from_iter(self.table(dictionary, path)).into());
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return self.list(object, path);
        }
        self.converted(object, path)
    }

    fn list(&mut self, object: &Bound<'_, PyAny>, path: &str) -> Option<Value> {
        let mut array = Array::new();
        for (i, item) in object.try_iter().ok()?.flatten().enumerate() {
            array.extend(self.value(&item, &below(path, &i.to_string())));
        }
        Some(array.into())
    }

    /// Converts scalars and arrays of numpy, series of pandas, and paths.
    fn converted(&mut self, object: &Bound<'_, PyAny>, path: &str) -> Option<Value> {
        let plain = ["tolist", "__fspath__"].into_iter().find_map(|method| object.call_method0(method).ok());
        match plain {
            Some(plain) if !plain.is(object) => self.value(&plain, path),
            _ if object.is_none() => self.refuse(path, "is None".to_owned(), "leave the key out"),
            _ => self.refuse(
                path,
                format!("is {}", shown(object)),
                "a scenario has numbers, strings, booleans, lists, arrays and dictionaries",
            ),
        }
    }

    fn refuse(&mut self, path: &str, message: String, help: &str) -> Option<Value> {
        self.note(path, message, help);
        None
    }

    fn note(&mut self, path: &str, message: String, help: &str) {
        let path = if path.is_empty() { "scenario" } else { path };
        self.problems.push(Problem::at_key(path, message, help));
    }
}

fn below(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Text of a value and its type, cut short: `'a' (str)`.
pub fn shown(object: &Bound<'_, PyAny>) -> String {
    let kind = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let text = object.repr().map(|text| text.to_string()).unwrap_or_default();
    let short: String = text.chars().take(60).collect();
    let end = if short.len() < text.len() { "..." } else { "" };
    format!("{short}{end} ({kind})")
}

/// Reads a finite number; `what` names it with its unit.
pub fn number(object: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    let wrong = || format!("{what}: expected a number, found {}", shown(object));
    let number: f64 = object.extract().map_err(|_| PyTypeError::new_err(wrong()))?;
    match number.is_finite() {
        true => Ok(number),
        false => Err(PyValueError::new_err(format!("{what}: expected a finite number, found {number}"))),
    }
}

/// Reads three finite numbers; `what` names them with their unit.
pub fn vector(object: &Bound<'_, PyAny>, what: &str) -> PyResult<DVec3> {
    let wrong = || PyTypeError::new_err(format!("{what}: expected three numbers, found {}", shown(object)));
    let parts = object.try_iter().map_err(|_| wrong())?.collect::<PyResult<Vec<_>>>()?;
    let numbers = parts.iter().map(|part| number(part, what)).collect::<PyResult<Vec<f64>>>()?;
    let numbers: [f64; 3] = numbers.try_into().map_err(|_| wrong())?;
    Ok(numbers.into())
}

/// Reads rows of `N` finite numbers, from anything that numpy makes an array of; `what` names them with their unit.
pub fn rows<const N: usize>(object: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<[f64; N]>> {
    let flat = flat(object, what, &format!("an array of shape (n, {N})"))?;
    let shape: Vec<usize> = flat.shape;
    if shape.len() != 2 || shape[1] != N {
        let message = format!("{what}: expected an array of shape (n, {N}), found one of shape {shape:?}");
        return Err(PyValueError::new_err(message));
    }
    let (rows, _) = flat.numbers.as_chunks::<N>();
    Ok(rows.to_vec())
}

/// Reads one finite number per item, or one number for all `count` items; `what` names it with its unit.
pub fn numbers(object: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<f64>> {
    let flat = flat(object, what, "a number or an array of numbers")?;
    match flat.shape.as_slice() {
        [] => Ok(vec![flat.numbers[0]; count]),
        [found] if *found == count => Ok(flat.numbers),
        shape => Err(PyValueError::new_err(format!(
            "{what}: expected a number or an array of shape ({count},), found one of shape {shape:?}"
        ))),
    }
}

struct Flat {
    shape: Vec<usize>,
    numbers: Vec<f64>,
}

fn flat(object: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyResult<Flat> {
    let py = object.py();
    let wrong = |_| PyTypeError::new_err(format!("{what}: expected {expected}, found {}", shown(object)));
    let array = py.import("numpy")?.call_method1("asarray", (object, "float64")).map_err(wrong)?;
    let shape = array.getattr("shape")?.extract()?;
    let line = array.call_method0("ravel")?;
    let numbers = line.cast::<PyArray1<f64>>()?.to_vec()?;
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => {
            Err(PyValueError::new_err(format!("{what}: expected finite numbers, found {number}")))
        }
        None => Ok(Flat { shape, numbers }),
    }
}

/// A new array with `N` numbers per row.
pub fn table<const N: usize>(py: Python<'_>, rows: Vec<[f64; N]>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = rows.len();
    PyArray1::from_vec(py, rows.into_flattened()).reshape([count, N])
}
