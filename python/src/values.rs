//! Conversion of Python values to values of a scenario file, and to numbers of the library.

use glam::DVec3;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use crate::errors::{Problem, refused, scenario_error};

/// Text of a scenario file with the values of a dictionary.
pub fn scenario_text(dictionary: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut reader = Reader::default();
    let entries =
        reader.inside(dictionary, "", |reader| Some(reader.table(dictionary, ""))).unwrap_or_default();
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
    let mut reader = Reader::default();
    let entries = reader.inside(set, "", |reader| Some(reader.table(set, ""))).unwrap_or_default();
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

/// Deepest nesting of dictionaries and lists: no scenario has more than about ten levels.
const DEEPEST: usize = 64;

/// Reader of values, which notes everything that a scenario cannot hold.
#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
    /// Addresses of the dictionaries, lists and arrays that the present value is in.
    around: Vec<usize>,
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

    /// Reads what is in a dictionary, a list or an array, unless that is inside of itself or too deep.
    fn inside<T>(
        &mut self,
        object: &Bound<'_, PyAny>,
        path: &str,
        read: impl FnOnce(&mut Reader) -> Option<T>,
    ) -> Option<T> {
        let address = object.as_ptr() as usize;
        if self.around.contains(&address) {
            return self.refuse(path, "contains itself".to_owned(), "a scenario is finite: put a copy there");
        }
        if self.around.len() >= DEEPEST {
            let message = format!("is nested more than {DEEPEST} levels deep");
            return self.refuse(path, message, "a scenario has dictionaries and lists in a few levels");
        }
        self.around.push(address);
        let found = read(self);
        self.around.pop();
        found
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
            let table =
                |reader: &mut Reader| Some(InlineTable::from_iter(reader.table(dictionary, path)).into());
            return self.inside(object, path, table);
        }
        if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
            return self.inside(object, path, |reader| reader.list(object, path));
        }
        self.inside(object, path, |reader| reader.converted(object, path))
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

    fn refuse<T>(&mut self, path: &str, message: String, help: &str) -> Option<T> {
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
    let number = any_number(object, what)?;
    match number.is_finite() {
        true => Ok(number),
        false => Err(refused(format!("{what}: expected a finite number, found {number}"))),
    }
}

/// Reads a number, which may be infinite. A boolean is none, although Python counts with it.
pub fn any_number(object: &Bound<'_, PyAny>, what: &str) -> PyResult<f64> {
    let wrong = || PyTypeError::new_err(format!("{what}: expected a number, found {}", shown(object)));
    if is_boolean(object) { Err(wrong()) } else { object.extract().map_err(|_| wrong()) }
}

/// Whether an object is a boolean of Python or of numpy.
fn is_boolean(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyBool>()
        || object.get_type().name().is_ok_and(|name| name == "bool" || name == "bool_")
}

/// Reads a number of things, for `from_py_with`.
pub fn whole<T>(object: &Bound<'_, PyAny>) -> PyResult<T>
where
    T: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
{
    if is_boolean(object) {
        return Err(PyTypeError::new_err(format!("expected a whole number, found {}", shown(object))));
    }
    let too_large = |error: PyErr| match error.is_instance_of::<PyOverflowError>(object.py()) {
        true => refused(format!("expected a whole number from 0 to 2**64 - 1, found {}", shown(object))),
        false => error,
    };
    object.extract().map_err(too_large)
}

/// Reads the id of a grain, where the name of a boundary might stand as well.
pub fn grain_id(object: &Bound<'_, PyAny>) -> PyResult<i64> {
    let wrong = || {
        let found = shown(object);
        PyTypeError::new_err(format!(
            "body: expected the id of a grain or the name of a boundary, found {found}"
        ))
    };
    if is_boolean(object) { Err(wrong()) } else { object.extract().map_err(|_| wrong()) }
}

/// Reads ids of grains, each of which may come once.
pub fn grain_ids(object: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let count = object.len().map_err(|_| {
        let found = shown(object);
        PyTypeError::new_err(format!("ids: expected a list or an array of ids, found {found}"))
    })?;
    let numbers = numbers(object, count, "ids [-]")?;
    if let Some(other) = numbers.iter().find(|id| id.fract() != 0.0) {
        return Err(refused(format!("ids [-]: expected whole numbers, found {other}")));
    }
    let ids: Vec<i64> = numbers.into_iter().map(|id| id as i64).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(refused(format!("ids [-]: expected each id once, found {} twice", pair[0]))),
        None => Ok(ids),
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
        return Err(refused(message));
    }
    let (rows, _) = flat.numbers.as_chunks::<N>();
    Ok(rows.to_vec())
}

/// Reads one finite number per item, or one number for all `count` items; `what` names it with its unit.
pub fn numbers(object: &Bound<'_, PyAny>, count: usize, what: &str) -> PyResult<Vec<f64>> {
    if object.is_none() {
        return Err(PyTypeError::new_err(format!(
            "{what}: expected a number or an array of numbers, found None"
        )));
    }
    let flat = flat(object, what, "a number or an array of numbers")?;
    match flat.shape.as_slice() {
        [] => Ok(vec![flat.numbers[0]; count]),
        [found] if *found == count => Ok(flat.numbers),
        shape => Err(refused(format!(
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
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (object,)).map_err(wrong)?;
    if let Some(others) = no_numbers(object, &array)? {
        let found = shown(object);
        let advice = if others == "booleans" { "; `ids()[mask]` has the ids of a mask" } else { "" };
        return Err(PyTypeError::new_err(format!(
            "{what}: expected {expected}, found {others}: {found}{advice}"
        )));
    }
    let array = numpy.call_method1("asarray", (&array, "float64")).map_err(wrong)?;
    let shape = array.getattr("shape")?.extract()?;
    let line = array.call_method0("ravel")?;
    let numbers = line.cast::<PyArray1<f64>>()?.to_vec()?;
    match numbers.iter().find(|number| !number.is_finite()) {
        Some(number) => Err(refused(format!("{what}: expected finite numbers, found {number}"))),
        None => Ok(Flat { shape, numbers }),
    }
}

/// What an array holds that numpy would make numbers of, although it is none: booleans, strings.
fn no_numbers(object: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    match kind.as_str() {
        "b" => Ok(Some("booleans")),
        "U" | "S" => Ok(Some("strings")),
        "O" => no_number_in(&array.call_method0("ravel")?.call_method0("tolist")?),
        // Numbers and booleans in one list are numbers to numpy.
        "i" | "u" | "f" => no_number_in(object),
        _ => Ok(Some("something else")),
    }
}

/// What a number, or a list of numbers or of such lists, holds that is none.
fn no_number_in(object: &Bound<'_, PyAny>) -> PyResult<Option<&'static str>> {
    if object.is_instance_of::<PyFloat>() || object.is_exact_instance_of::<PyInt>() {
        return Ok(None);
    }
    if object.is_instance_of::<PyList>() || object.is_instance_of::<PyTuple>() {
        // As deep as numpy went: it made an array of it.
        for part in object.try_iter()? {
            if let found @ Some(_) = no_number_in(&part?)? {
                return Ok(found);
            }
        }
        return Ok(None);
    }
    let strings = object.is_instance_of::<PyString>().then_some("strings");
    Ok(if is_boolean(object) { Some("booleans") } else { strings })
}

/// A new array with `N` numbers per row.
pub fn table<const N: usize>(py: Python<'_>, rows: Vec<[f64; N]>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = rows.len();
    PyArray1::from_vec(py, rows.into_flattened()).reshape([count, N])
}
