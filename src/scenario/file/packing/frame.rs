//! Grains from a frame written by a run: `grains_000012.vtp`.

use std::path::Path;

use glam::DVec3;

use super::super::MAX_GRAINS;
use super::super::read::{Table, named, text};
use super::{InitialMotion, Row};
use crate::output::vtp::{Array, PolyData};

const HELP: &str = "expected a frame of grains of one material that are single spheres; [start] takes all kinds from a checkpoint";

/// Reads `file` and the grains in it.
pub fn read(table: &mut Table<'_>, folder: &Path) -> Option<Vec<Row>> {
    let node = table.node("file");
    let name = table.get("file", text);
    let (node, name) = (node?, name?);
    let path = named(&node, folder, &name);
    let rows = PolyData::read(&path).map_err(|error| error.to_string()).and_then(|frame| rows(&frame));
    rows.map_err(|mistake| node.problem(mistake, HELP)).ok()
}

/// Reads the grains of a frame.
fn rows(frame: &PolyData) -> Result<Vec<Row>, String> {
    let of = |name: &str, components: usize| {
        let array =
            frame.point_data.iter().find(|array| array.name == name && array.components == components);
        array.ok_or_else(|| format!("the frame has no field `{name}` of {components} numbers per grain"))
    };
    let (radius, velocity, spin) = (of("radius", 1)?, of("velocity", 3)?, of("angular_velocity", 3)?);
    let vector = |array: &Array, i: usize| DVec3::from_array([0, 1, 2].map(|axis| array.component(i, axis)));
    if of("clump", 1).is_ok_and(|clump| (0..clump.len()).any(|i| clump.component(i, 0) >= 0.0)) {
        return Err("the frame holds clumps".to_owned());
    }
    let material = of("material", 1)?;
    if (1..material.len()).any(|i| material.component(i, 0) != material.component(0, 0)) {
        return Err("the frame holds grains of several materials".to_owned());
    }
    let row = |(i, &place): (usize, &[f64; 3])| Row {
        position: DVec3::from_array(place),
        radius: Some(radius.component(i, 0)),
        motion: InitialMotion {
            velocity: Some(vector(velocity, i)),
            angular_velocity: Some(vector(spin, i)),
        },
    };
    let rows: Vec<Row> = frame.points.iter().enumerate().map(row).collect();
    let is_sound = |row: &Row| {
        let motion = [row.motion.velocity, row.motion.angular_velocity];
        let is_finite = motion.into_iter().flatten().chain([row.position]).all(DVec3::is_finite);
        is_finite && row.radius.is_some_and(|radius| (1e-7..=1e6).contains(&radius))
    };
    match rows.iter().position(|row| !is_sound(row)) {
        _ if rows.is_empty() => Err("the frame holds no grains".to_owned()),
        _ if rows.len() as u64 > MAX_GRAINS => Err(format!("the frame holds more than {MAX_GRAINS} grains")),
        Some(wrong) => Err(format!("grain {wrong} of the frame has no finite place, velocity or radius")),
        None => Ok(rows),
    }
}
