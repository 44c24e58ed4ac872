//! `fabric.csv`, `force_distribution.csv` and `rose.svg`: directions of the contacts and distribution of their normal forces.

use std::fmt::Write as _;

use crate::model::Plane;
use crate::observe::fabric::{FORCE_BINS, Fabric, FabricPlan};

/// Adds the fabric of a state to the text of `fabric.csv`: one row per class of directions.
pub fn add_directions(text: &mut String, time: f64, fabric: &Fabric, plan: &FabricPlan) {
    if text.is_empty() {
        text.push_str("time [s],from [deg],until [deg],contacts [-],share of the normal forces [-]\n");
    }
    for (bin, (contacts, share)) in fabric.contacts.iter().zip(&fabric.forces).enumerate() {
        let [from, until] = plan.bounds(bin);
        _ = writeln!(text, "{time:?},{from:?},{until:?},{contacts},{share:?}");
    }
}

/// Adds the fabric of a state to the text of `force_distribution.csv`: one row per class of normal forces, in units of the mean normal
/// force of the state.
pub fn add_sizes(text: &mut String, time: f64, fabric: &Fabric) {
    if text.is_empty() {
        text.push_str("time [s],from [mean normal force],until,contacts [-],probability density [-]\n");
    }
    let (bins, most) = FORCE_BINS;
    let width = most / bins as f64;
    let total = fabric.sizes.iter().sum::<u64>().max(1) as f64;
    for (bin, contacts) in fabric.sizes.iter().enumerate() {
        let [from, until] = [bin, bin + 1].map(|edge| edge as f64 * width);
        let density = *contacts as f64 / (total * width);
        _ = writeln!(text, "{time:?},{from:.1},{until:.1},{contacts},{density:?}");
    }
}

/// Draws the rose of a state as SVG: share of the contacts by direction, and in outline share of the normal forces. Both directions of a
/// normal are shown.
pub fn rose(time: f64, fabric: &Fabric, plan: &FabricPlan) -> String {
    const SIZE: f64 = 520.0;
    const RADIUS: f64 = 200.0;
    let total = fabric.contacts.iter().sum::<u64>().max(1) as f64;
    let numbers: Vec<f64> = fabric.contacts.iter().map(|count| *count as f64 / total).collect();
    let largest = numbers.iter().chain(&fabric.forces).fold(1e-12f64, |most, share| most.max(*share));
    let middle = 0.5 * SIZE;
    let point = |share: f64, degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let radius = RADIUS * share / largest;
        format!("{:.2},{:.2}", middle + radius * cos, middle + 20.0 - radius * sin)
    };
    let outline = |shares: &[f64]| {
        let sides = [0.0, 180.0].into_iter().flat_map(|turn| {
            shares
                .iter()
                .enumerate()
                .flat_map(move |(bin, share)| plan.bounds(bin).map(|edge| (*share, edge + turn)))
        });
        sides.map(|(share, degrees)| point(share, degrees)).collect::<Vec<_>>().join(" ")
    };
    let axes = match plan.plane {
        Plane::Xy => ["x", "y"],
        Plane::Xz => ["x", "z"],
        Plane::Yz => ["y", "z"],
    };
    let even = 1.0 / plan.bins as f64;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{SIZE}" height="{SIZE}" font-family="sans-serif" font-size="14">
<rect width="100%" height="100%" fill="white"/>
<text x="{middle}" y="24" text-anchor="middle" font-size="17">Directions of contacts at t = {time:.4} s</text>
<text x="{middle}" y="44" text-anchor="middle" fill="#444">{contacts} contacts: blue number, orange normal force, grey all alike</text>
<circle cx="{middle}" cy="{centre}" r="{radius:.2}" fill="none" stroke="#999" stroke-dasharray="4 3"/>
<polygon points="{by_number}" fill="#0072b2" fill-opacity="0.35" stroke="#0072b2"/>
<polygon points="{by_force}" fill="none" stroke="#d55e00" stroke-width="2"/>
<text x="{right}" y="{centre}" dy="5">{across}</text>
<text x="{middle}" y="66" text-anchor="middle">{up}</text>
</svg>
"##,
        contacts = fabric.contacts.iter().sum::<u64>(),
        centre = middle + 20.0,
        radius = RADIUS * even / largest,
        by_number = outline(&numbers),
        by_force = outline(&fabric.forces),
        right = middle + RADIUS + 14.0,
        across = axes[0],
        up = axes[1],
    )
}
