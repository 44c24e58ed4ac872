//! Arrays of the grains that are in the scene.

use std::collections::HashMap;

use esker::model::{Clump, World};
use glam::DVec3;
use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use crate::errors::UnknownNameError;
use crate::handle::Simulation;
use crate::values::table;

/// A vector of the body of each grain, one row per grain.
pub fn vectors<'py>(
    own: &Simulation,
    py: Python<'py>,
    of: fn(&World) -> &[DVec3],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = own.with(py, move |engine| {
        engine.look(|world| {
            let row = |grain| of(world)[world.grain_body(grain)].to_array();
            world.present_grains().map(row).collect::<Vec<[f64; 3]>>()
        })
    })?;
    table(py, rows)
}

/// Orientations of the grains. The orientation of a clump refers to the axes in which its spheres are listed.
pub fn orientations<'py>(own: &Simulation, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows = own.with(py, |engine| {
        engine.look(|world| {
            let row = |grain: usize| {
                let axes = world.grains[grain].clump.map(|clump| world.clumps[clump as usize].axes);
                (world.bodies.orientation[world.grain_body(grain)] * axes.unwrap_or_default().inverse())
                    .to_array()
            };
            world.present_grains().map(row).collect::<Vec<[f64; 4]>>()
        })
    })?;
    table(py, rows)
}

/// Name of the clump or polyhedron that each grain is; empty for a sphere.
pub fn clumps(own: &Simulation, py: Python<'_>) -> PyResult<Vec<String>> {
    own.with(py, |engine| {
        engine.look(|world| {
            let name = |clump: u32| world.clumps[clump as usize].name.clone();
            let of = |grain: usize| world.grains[grain].clump.map_or_else(String::new, name);
            world.present_grains().map(of).collect()
        })
    })
}

/// Corners of a polyhedron, and per face the indices of its corners.
pub type Corners<'py> = (Bound<'py, PyArray2<f64>>, Vec<Vec<u32>>);

/// Corners and faces of the polyhedra of the scene, by their names.
pub fn polyhedra<'py>(own: &Simulation, py: Python<'py>) -> PyResult<HashMap<String, Corners<'py>>> {
    let solids = own.with(py, |engine| {
        let of = |clump: &Clump| {
            let hull = clump.hull.as_ref()?;
            let corner = |corner: &DVec3| (clump.axes * *corner / clump.equivalent_radius()).to_array();
            let corners: Vec<[f64; 3]> = hull.corners.iter().map(corner).collect();
            let faces = hull.faces.iter().map(|face| hull.face_loop(face).to_vec()).collect();
            Some((clump.name.clone(), corners, faces))
        };
        engine.look(|world| world.clumps.iter().filter_map(of).collect::<Vec<(_, _, Vec<Vec<u32>>)>>())
    })?;
    solids.into_iter().map(|(name, corners, faces)| Ok((name, (table(py, corners)?, faces)))).collect()
}

/// A number of each grain, given by `of`.
pub fn scalars<'py>(
    own: &Simulation,
    py: Python<'py>,
    of: fn(&World, usize) -> f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let numbers = own.with(py, move |engine| {
        engine.look(|world| world.present_grains().map(|grain| of(world, grain)).collect::<Vec<f64>>())
    })?;
    Ok(PyArray1::from_vec(py, numbers))
}

/// Ids of the grains.
pub fn ids<'py>(own: &Simulation, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let ids = own.with(py, |engine| {
        engine.look(|world| {
            world.present_grains().map(|grain| i64::from(world.ids[grain])).collect::<Vec<i64>>()
        })
    })?;
    Ok(PyArray1::from_vec(py, ids))
}

/// Index of a name among those of the scenario.
pub fn position<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone, what: &str) -> PyResult<usize> {
    known.clone().position(|other| other == name).ok_or_else(|| {
        let known: Vec<String> = known.map(|known| format!("\"{known}\"")).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        UnknownNameError::new_err(format!("there is no {what} \"{name}\"; the scene has {known}"))
    })
}
