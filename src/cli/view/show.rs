//! Folder of results in the form that the page shows: an index, and frames as bytes.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::files::{LARGEST_TEXT, read_result};
use crate::model::World;
use crate::output::outline::{DrawnRoom, boundaries_move};
use crate::render::packed::pack;
use crate::render::{self, Look, Results};

use super::super::{Failure, render as pictures};

/// Largest number of frames from which the room of the scene is taken.
const LOOKED_AT: usize = 20;
/// Longest time series that is shown \[bytes\].
const LARGEST_SERIES: u64 = 256 << 20;

/// Results of a run.
pub(super) struct ShownResults {
    folder: PathBuf,
    world: World,
    /// Look of pictures, from the scenario.
    look: Look,
    results: Results,
    room: DrawnRoom,
}

/// Part of the results that the page loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PagePart {
    /// The index of all frames.
    Index,
    /// A frame, by its number.
    Frame(usize),
}

/// Time of change and size \[bytes\] of files; `None` for one that is not there.
pub(super) type Stamp = Vec<Option<(SystemTime, u64)>>;

/// Index of the results, for the page.
#[derive(Serialize)]
struct PageIndex {
    title: String,
    /// Engine and device of the run.
    engine: Option<String>,
    /// Status of a run that did not complete.
    note: Option<String>,
    /// Times of the frames \[s\].
    frames: Vec<f64>,
    /// Corners of the room of the scene \[m\].
    room: [[f64; 3]; 2],
    /// Azimuth and elevation of the camera \[degrees\].
    camera: [f64; 2],
    series: Option<Series>,
    expectations: Vec<Expected>,
}

/// Time series, column by column; a value that does not exist is `null`.
#[derive(Serialize, Default)]
struct Series {
    times: Vec<f64>,
    columns: Vec<ShownColumn>,
}

#[derive(Serialize)]
struct ShownColumn {
    name: String,
    unit: String,
    values: Vec<Option<f64>>,
}

/// Expectation of the scenario, and its verdict.
#[derive(Serialize)]
struct Expected {
    quantity: String,
    text: String,
    verdict: String,
    band: Option<Band>,
}

/// Allowed range of a quantity, the same at all times.
#[derive(Serialize)]
struct Band {
    low: Option<f64>,
    high: Option<f64>,
}

impl ShownResults {
    /// Opens the results in a folder, with forces if the run wrote contacts.
    ///
    /// # Errors
    /// When there are no frames, or some cannot be read.
    pub(super) fn open(folder: &Path) -> Result<ShownResults, Failure> {
        let (world, look) = pictures::surroundings(folder)?;
        let has_contacts = folder.join("contacts.vtp.series").exists();
        let shown = if has_contacts { render::Show::Forces } else { render::Show::Grains };
        let results = Results::open(folder, shown).map_err(pictures::input)?;
        let mut show =
            ShownResults { folder: folder.to_owned(), world, look, results, room: DrawnRoom::EMPTY };
        show.survey()?;
        Ok(show)
    }

    /// Takes the room of the scene from some frames, the first and the last among them.
    fn survey(&mut self) -> Result<(), Error> {
        let last = self.results.len() - 1;
        let looked_at = LOOKED_AT.min(last + 1);
        for i in 0..looked_at {
            let frame = self.results.load(i * last / (looked_at - 1).max(1), &self.world)?;
            self.room = self.room.with_balls(frame.spheres()).with_boundaries(&self.world, &frame.poses);
        }
        Ok(())
    }

    /// Number of frames, at least one.
    pub(super) fn frame_count(&self) -> usize {
        self.results.len()
    }

    /// A part as bytes.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(super) fn content(&self, part: PagePart) -> Result<Vec<u8>, Error> {
        match part {
            PagePart::Index => {
                self.index(&(0..self.frame_count()).collect::<Vec<_>>()).map(String::into_bytes)
            }
            PagePart::Frame(i) => self.frame(i),
        }
    }

    /// Stamp of the files that a part is made of.
    pub(super) fn stamp(&self, part: PagePart) -> Stamp {
        let files = match part {
            PagePart::Index => ["summary.json", "timeseries.csv"].map(|name| self.folder.join(name)).to_vec(),
            PagePart::Frame(i) => self.results.files(i),
        };
        let stamp = |file: &PathBuf| {
            let found = file.metadata().ok()?;
            Some((found.modified().ok()?, found.len()))
        };
        files.iter().map(stamp).collect()
    }

    /// Frame as bytes. Boundaries that stand still are in the first frame only.
    ///
    /// # Errors
    /// When the frame cannot be read.
    pub(super) fn frame(&self, i: usize) -> Result<Vec<u8>, Error> {
        let frame = self.results.load(i, &self.world)?;
        let outline =
            (i == 0 || boundaries_move(&self.world)).then(|| self.room.outline(&self.world, &frame.poses));
        Ok(pack(&frame, &self.world, outline.as_ref()))
    }

    /// Index of some of the frames, as JSON.
    ///
    /// # Errors
    /// When a file of the folder is damaged.
    pub(super) fn index(&self, chosen: &[usize]) -> Result<String, Error> {
        let summary = self.summary();
        let times = self.results.times();
        let word = |path: &str| summary.pointer(path).and_then(Value::as_str);
        let name =
            || self.folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let engine = word("/engine/engine").zip(word("/engine/device"));
        let status = word("/status").unwrap_or("there is no summary: the run goes on, or was cut off");
        let index = PageIndex {
            title: word("/scenario/title").map_or_else(name, str::to_owned),
            engine: engine.map(|(engine, device)| format!("{engine} engine: {device}")),
            note: (status != "completed").then(|| status.to_owned()),
            frames: chosen.iter().filter_map(|&i| times.get(i).copied()).collect(),
            room: self.room.corners().map(|corner| corner.to_array()),
            camera: [self.look.azimuth_deg, self.look.elevation_deg],
            series: self.series()?,
            expectations: expectations(&summary),
        };
        serde_json::to_string(&index).map_err(|error| unusable(&self.folder, error.to_string()))
    }

    /// Summary of the run; `null` for a run that did not end.
    fn summary(&self) -> Value {
        let text = read_result(&self.folder.join("summary.json"), LARGEST_TEXT).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Time series, if the run wrote one.
    fn series(&self) -> Result<Option<Series>, Error> {
        let path = self.folder.join("timeseries.csv");
        if !path.exists() {
            return Ok(None);
        }
        let text = read_result(&path, LARGEST_SERIES).map_err(Error::file(&path))?;
        read_series(&text).map(Some).map_err(|found| unusable(&path, found))
    }
}

fn unusable(path: &Path, found: String) -> Error {
    let advice = "expected it as `esker run` writes it: run the scenario again".to_owned();
    Error::Unusable { origin: path.display().to_string(), found, advice }
}

/// Reads the columns after time and step. An incomplete last line is left out.
fn read_series(text: &str) -> Result<Series, String> {
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    let mut rows = csv::Reader::from_reader(whole.as_bytes());
    let headers = rows.headers().map_err(|error| error.to_string())?.clone();
    let column = |header: &str| {
        let (name, unit) = header.trim_end_matches(']').rsplit_once(" [").unwrap_or((header, "-"));
        ShownColumn { name: name.to_owned(), unit: unit.to_owned(), values: Vec::new() }
    };
    let mut series = Series { columns: headers.iter().skip(2).map(column).collect(), ..Series::default() };
    for row in rows.records() {
        let row = row.map_err(|error| error.to_string())?;
        let mut numbers =
            row.iter().map(|field| field.parse::<f64>().map_err(|_| format!("has the number \"{field}\"")));
        series.times.push(numbers.next().unwrap_or_else(|| Err("has an empty row".to_owned()))?);
        for (column, value) in series.columns.iter_mut().zip(numbers.skip(1)) {
            column.values.push(Some(value?).filter(|value| value.is_finite()));
        }
    }
    Ok(series)
}

/// Expectations in the summary.
fn expectations(summary: &Value) -> Vec<Expected> {
    let list = summary.pointer("/expectations").and_then(Value::as_array);
    list.into_iter().flatten().map(expected).collect()
}

fn expected(verdict: &Value) -> Expected {
    let word = |key: &str| verdict.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let number = |key: &str| verdict.get(key).and_then(Value::as_f64);
    let found = number("found").map_or_else(|| "nothing".to_owned(), crate::observe::short);
    let tolerance = number("tolerance").filter(|&tolerance| tolerance > 0.0);
    let tolerance =
        tolerance.map(|tolerance| format!(" ± {}", crate::observe::short(tolerance))).unwrap_or_default();
    let quantity = word("quantity");
    let spread = number("value").zip(number("tolerance"));
    let low = spread.map(|(value, tolerance)| value - tolerance).or(number("at_least"));
    let high = spread.map(|(value, tolerance)| value + tolerance).or(number("at_most"));
    Expected {
        text: format!("{quantity} {found}, expected {}{tolerance}", word("expected")),
        verdict: word("verdict"),
        // A statistic over time has no band.
        band: (low.or(high).is_some() && !quantity.contains(' ')).then_some(Band { low, high }),
        quantity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_series_is_read_column_by_column_up_to_its_last_whole_line() {
        let text = "time [s],step [-],height [m],force_z:a [b] [N]\n0.0,0,NaN,1\n0.5,1,2e-3,2\n0.7,2,0.0";
        let series = read_series(text).expect("a series");
        assert_eq!(series.times, [0.0, 0.5]);
        let [height, force] = series.columns.as_slice() else { panic!("two columns") };
        assert_eq!((height.name.as_str(), height.unit.as_str()), ("height", "m"));
        assert_eq!(height.values, [None, Some(2e-3)]);
        assert_eq!(force.name, "force_z:a [b]");
        assert!(read_series("time [s],step [-],height [m]\n0.0,0,high\n").is_err());
    }

    #[test]
    fn an_expectation_of_a_value_has_a_band_and_one_over_time_has_none() {
        let verdict = |quantity: &str| serde_json::json!({ "quantity": quantity, "expected": "0.3", "value": 0.3, "tolerance": 0.1, "found": 0.25, "verdict": "met" });
        let height = expected(&verdict("height"));
        assert_eq!(height.text, "height 0.25, expected 0.3 ± 0.1");
        let band = height.band.expect("a band");
        assert!((band.low.unwrap_or_default() - 0.2).abs() < 1e-12 && band.high.is_some());
        assert!(expected(&verdict("height over 2 to 4 s")).band.is_none());
    }
}
