//! Bounds of the box of a dump, and positions that are scaled by it.

use std::io::Read;

use glam::{DMat3, DVec3};

use super::DumpLines;
use crate::model::range::{FAR, WITHIN_FAR};

/// Box of a frame, with edges along x and, if it is tilted, as LAMMPS tilts them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DumpBounds {
    /// Corner with the smallest scaled coordinates \[m\].
    low: DVec3,
    /// Edges \[m\].
    edges: DMat3,
    /// Axes along which the box is periodic.
    periodic: [bool; 3],
}

impl DumpBounds {
    /// Reads the three lines after `item`; `unit` is the length of the units in metres.
    pub fn read(lines: &mut DumpLines<'_, impl Read>, item: &str, unit: f64) -> Result<DumpBounds, String> {
        let words: Vec<&str> = item.split_whitespace().skip(3).collect();
        let flags = &words[words.len().saturating_sub(3)..];
        let periodic = [0, 1, 2].map(|axis| flags.get(axis).is_some_and(|flag| *flag == "pp"));
        let is_general = words.first() == Some(&"abc");
        let mut rows: [Vec<f64>; 3] = Default::default();
        for row in &mut rows {
            *row = numbers(lines, if is_general { 4 } else { 2 }, unit)?;
        }
        if is_general {
            let low = DVec3::new(rows[0][3], rows[1][3], rows[2][3]);
            let [a, b, c] = [0, 1, 2].map(|axis| DVec3::from_slice(&rows[axis][..3]));
            let edges = DMat3::from_cols(a, b, c);
            return match edges.determinant() > 0.0 {
                true => Ok(DumpBounds { low, edges, periodic }),
                false => Err(lines.says("three edges without a volume, expected those of a box")),
            };
        }
        let [xy, xz, yz] = [0, 1, 2].map(|axis| rows[axis].get(2).copied().unwrap_or(0.0));
        // The bounds are those of a box along the axes around the tilted one.
        let [mut low, mut high] = [0, 1].map(|end| DVec3::from_array([0, 1, 2].map(|axis| rows[axis][end])));
        low -= DVec3::new(0f64.min(xy).min(xz).min(xy + xz), 0f64.min(yz), 0.0);
        high -= DVec3::new(0f64.max(xy).max(xz).max(xy + xz), 0f64.max(yz), 0.0);
        if let Some(axis) = (0..3).find(|&axis| low[axis] >= high[axis]) {
            return Err(lines.says(&format!(
                "the box goes from {} to {} m along {}, expected a lower and an upper bound",
                low[axis],
                high[axis],
                ["x", "y", "z"][axis]
            )));
        }
        let size = high - low;
        let edges = DMat3::from_cols(
            DVec3::new(size.x, 0.0, 0.0),
            DVec3::new(xy, size.y, 0.0),
            DVec3::new(xz, yz, size.z),
        );
        Ok(DumpBounds { low, edges, periodic })
    }

    /// Position of a point that is given by shares of the edges \[m\].
    pub fn place(&self, shares: DVec3) -> Result<DVec3, String> {
        let position = self.low + self.edges * shares;
        match position.abs().max_element() <= FAR {
            true => Ok(position),
            false => Err(format!("a position of {position} m, expected {WITHIN_FAR}")),
        }
    }

    /// Shortest way between two points that are `apart` \[m\] or any number of periods more.
    pub fn nearest(&self, apart: DVec3) -> DVec3 {
        let mut shares = self.edges.inverse() * apart;
        for axis in (0..3).filter(|&axis| self.periodic[axis]) {
            shares[axis] -= shares[axis].round();
        }
        if shares.is_finite() { self.edges * shares } else { apart }
    }

    /// Names of the axes along which the box is periodic.
    pub fn periodic_axes(&self) -> String {
        let axes = ["x", "y", "z"].into_iter().zip(self.periodic).filter(|(_, is_periodic)| *is_periodic);
        axes.map(|(axis, _)| axis).collect::<Vec<_>>().join(", ")
    }
}

/// Reads the numbers of a line: `least`, or three where the box is tilted.
fn numbers(lines: &mut DumpLines<'_, impl Read>, least: usize, unit: f64) -> Result<Vec<f64>, String> {
    let line = lines.expect("bounds of the box")?;
    let number = |word: &str| word.parse::<f64>().ok().map(|number| unit * number);
    let numbers: Option<Vec<f64>> =
        line.split_whitespace().map(|word| number(word).filter(|number| number.abs() <= FAR)).collect();
    match numbers {
        Some(numbers) if numbers.len() == least || (least == 2 && numbers.len() == 3) => Ok(numbers),
        _ => Err(lines.mistake(line.trim(), "bounds of the box, finite numbers (at most 1e9 m)")),
    }
}
