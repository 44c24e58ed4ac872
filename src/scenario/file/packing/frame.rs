//! Grains from a frame written by a run: `grains_000012.vtp`.

use std::path::Path;

use glam::DVec3;

use super::super::MAX_GRAINS;
use super::super::heat::TEMPERATURE;
use super::super::read::{Table, named, text, without_folder};
use super::InitialMotion;
use super::rows::{Body, GrainRow, Note, Rows, Weight};
use crate::model::range::{RADII, is_within};
use crate::output::vtp::{Array, PolyData};

const HELP: &str = "expected a frame of grains of one material that are single spheres; [start] takes all kinds from a checkpoint";

/// Fields of a frame that are read.
const TAKEN: [&str; 5] = ["radius", "velocity", "angular_velocity", "density", "temperature"];

/// Reads `file` and the grains in it.
pub fn read(table: &mut Table<'_>, folder: &Path) -> Option<Rows> {
    let node = table.node("file");
    let name = table.get("file", text);
    let (node, name) = (node?, name?);
    let path = named(&node, folder, &name);
    let read = PolyData::read(&path).map_err(|error| error.to_string());
    let rows = read.and_then(|frame| rows(&frame, &name).map_err(|mistake| format!("{name}: {mistake}")));
    rows.map_err(|mistake| node.problem(mistake, HELP)).ok()
}

/// Reads the grains of a frame.
fn rows(frame: &PolyData, name: &str) -> Result<Rows, String> {
    let maybe = |name: &str, components: usize| {
        frame.point_data.iter().find(|array| array.name == name && array.components == components)
    };
    let of = |name: &str, components: usize| {
        let missing = || format!("the frame has no field `{name}` of {components} numbers per grain");
        maybe(name, components).ok_or_else(missing)
    };
    let (radius, velocity, spin) = (of("radius", 1)?, of("velocity", 3)?, of("angular_velocity", 3)?);
    let (density, temperature) = (maybe("density", 1), maybe("temperature", 1));
    let vector = |array: &Array, i: usize| DVec3::from_array([0, 1, 2].map(|axis| array.component(i, axis)));
    if of("clump", 1).is_ok_and(|clump| (0..clump.len()).any(|i| clump.component(i, 0) >= 0.0)) {
        return Err("the frame holds clumps".to_owned());
    }
    let material = of("material", 1)?;
    if (1..material.len()).any(|i| material.component(i, 0) != material.component(0, 0)) {
        return Err("the frame holds grains of several materials".to_owned());
    }
    let row = |(i, &place): (usize, &[f64; 3])| GrainRow {
        position: DVec3::from_array(place),
        radius: Some(radius.component(i, 0)),
        motion: InitialMotion {
            velocity: Some(vector(velocity, i)),
            angular_velocity: Some(vector(spin, i)),
        },
        weight: density.map_or(Weight::OfMaterial, |density| Weight::Density(density.component(i, 0))),
        // A sphere looks the same from all sides.
        orientation: None,
        temperature: temperature.map(|temperature| temperature.component(i, 0)),
        material: None,
        body: Body::Sphere,
    };
    if frame.points.is_empty() {
        return Err("the frame holds no grains".to_owned());
    }
    if frame.points.len() as u64 > MAX_GRAINS {
        return Err(format!("the frame holds more than {MAX_GRAINS} grains"));
    }
    let rows = frame.points.iter().enumerate().map(row).map(sound).enumerate();
    let rows: Result<Vec<GrainRow>, String> =
        rows.map(|(i, row)| row.map_err(|what| format!("grain {i} of the frame has {what}"))).collect();
    let head =
        format!("{}: {} grains of the frame at {} s", without_folder(name), frame.points.len(), frame.time);
    let fields = frame.point_data.iter().map(|array| array.name.to_string());
    let (taken, left_out) = fields.partition(|name| TAKEN.contains(&name.as_str()));
    let note = Note { head, taken, left_out, tail: String::new() };
    Ok(Rows { rows: rows?, clumps: Vec::new(), kinds: Vec::new(), kind_title: String::new(), note })
}

/// Returns the row, or what is wrong with it.
fn sound(row: GrainRow) -> Result<GrainRow, String> {
    let vectors = [("place", Some(row.position)), ("velocity", row.motion.velocity)];
    let vectors = vectors.into_iter().chain([("angular velocity", row.motion.angular_velocity)]);
    for (name, vector) in vectors.filter_map(|(name, vector)| Some((name, vector?))) {
        if let Some(wrong) = vector.to_array().into_iter().find(|component| !is_within(*component)) {
            return Err(format!(
                "a {name} with a component of {wrong:e}, expected a finite number (at most 1e9)"
            ));
        }
    }
    if let Some(radius) = row.radius.filter(|radius| !RADII.contains(radius)) {
        return Err(format!("a radius of {radius:e} m, expected 1e-7 to 1e6"));
    }
    if let Weight::Density(density) = row.weight
        && !(density > 0.0 && density.is_normal())
    {
        return Err(format!("a density of {density:e} kg/m³, expected a positive number"));
    }
    if let Some(temperature) = row.temperature.filter(|temperature| !TEMPERATURE.accepts(*temperature)) {
        return Err(format!("a temperature of {temperature:e} K, expected {}", TEMPERATURE.words()));
    }
    Ok(row)
}
