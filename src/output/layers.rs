//! `layers.csv` and `layers.svg`: averages of the grains in the layers of a bed.

use std::fmt::Write as _;

use crate::observe::LayerPlan;
use crate::observe::layers::Layer;
use crate::observe::short;

/// Adds the layers of a state to the text of `layers.csv`: one row per layer.
pub fn add(text: &mut String, time: f64, layers: &[Layer], plan: &LayerPlan) {
    if text.is_empty() {
        text.push_str("time [s],from [m],until [m],solid_fraction [-]");
        for (name, unit) in [("velocity", "m/s"), ("angular_velocity", "rad/s")] {
            ["x", "y", "z"].iter().for_each(|axis| _ = write!(text, ",{name}_{axis} [{unit}]"));
        }
        text.push_str(",granular_temperature [m2/s2],coordination_number [-]");
        STRESSES.iter().for_each(|(name, ..)| _ = write!(text, ",stress_{name} [Pa]"));
        text.push('\n');
    }
    for (i, layer) in layers.iter().enumerate() {
        let [from, until] = plan.bounds(i);
        _ = write!(text, "{time:?},{from:?},{until:?},{:?}", layer.solid_fraction);
        let motion = layer.velocity.to_array().into_iter().chain(layer.angular_velocity.to_array());
        let stresses = STRESSES.iter().map(|&(_, row, column)| layer.stress.col(column)[row]);
        let numbers = motion.chain([layer.temperature, layer.coordination]).chain(stresses);
        numbers.for_each(|number| _ = write!(text, ",{number:?}"));
        text.push('\n');
    }
}

/// Name, row and column of the components of a stress that are written: all nine, as torques of rolling resistance make the tensor
/// asymmetric.
const STRESSES: [(&str, usize, usize); 9] = [
    ("xx", 0, 0),
    ("xy", 0, 1),
    ("xz", 0, 2),
    ("yx", 1, 0),
    ("yy", 1, 1),
    ("yz", 1, 2),
    ("zx", 2, 0),
    ("zy", 2, 1),
    ("zz", 2, 2),
];

/// Panel of the picture: its title and its lines.
struct Panel {
    title: &'static str,
    lines: &'static [PanelLine],
}

/// Line of a panel: name, colour, and function of its value in a layer.
type PanelLine = (&'static str, &'static str, fn(&Layer) -> f64);

const PANELS: [Panel; 3] = [
    Panel { title: "solid fraction [-]", lines: &[("", BLACK, |layer| layer.solid_fraction)] },
    Panel {
        title: "velocity [m/s]",
        lines: &[
            ("x", RED, |layer| layer.velocity.x),
            ("y", GREEN, |layer| layer.velocity.y),
            ("z", BLUE, |layer| layer.velocity.z),
        ],
    },
    Panel {
        title: "normal stress [Pa]",
        lines: &[
            ("xx", RED, |layer| layer.stress.col(0).x),
            ("yy", GREEN, |layer| layer.stress.col(1).y),
            ("zz", BLUE, |layer| layer.stress.col(2).z),
        ],
    },
];
const BLACK: &str = "#222";
const RED: &str = "#d55e00";
const GREEN: &str = "#009e73";
const BLUE: &str = "#0072b2";

/// Size of the picture; `PART` is the size of each panel, with its scale below.
const SIZE: [f64; 2] = [900.0, 460.0];
const PART: [f64; 2] = [230.0, 320.0];
const TOP: f64 = 80.0;

/// Draws the layers of a state as SVG, with the axis across the layers upwards.
pub fn picture(time: f64, layers: &[Layer], plan: &LayerPlan) -> String {
    let [width, height] = SIZE;
    let mut parts = String::new();
    let left = |part: usize| 80.0 + part as f64 * (PART[0] + 45.0);
    for (i, part) in PANELS.iter().enumerate() {
        parts.push_str(&panel(part, left(i), layers));
    }
    let [from, until] = [plan.bounds(0)[0], plan.bounds(plan.count - 1)[1]];
    let bottom = TOP + PART[1];
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
<text x="{middle}" y="28" text-anchor="middle" font-size="17">Layers at t = {time:.4} s</text>
<text x="72" y="{bottom}" text-anchor="end">{from} m</text>
<text x="72" y="{TOP}" dy="10" text-anchor="end">{until} m</text>
{parts}</svg>
"##,
        middle = 0.5 * width,
        from = short(from),
        until = short(until),
    )
}

/// Draws one panel of the picture.
fn panel(panel: &Panel, left: f64, layers: &[Layer]) -> String {
    let [width, height] = PART;
    let values = panel.lines.iter().flat_map(|(_, _, of)| layers.iter().map(of));
    let (least, most) = values
        .filter(|value| value.is_finite())
        .fold((0.0f64, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
    let span = if most > least { most - least } else { 1.0 };
    let x = |value: f64| left + width * (value - least) / span;
    let y = |layer: usize| TOP + height * (1.0 - (layer as f64 + 0.5) / layers.len() as f64);
    let [middle, right, bottom, zero] = [left + 0.5 * width, left + width, TOP + height, x(0.0)];
    let mut text = format!(
        r##"<text x="{middle}" y="62" text-anchor="middle">{title}</text>
<rect x="{left}" y="{TOP}" width="{width}" height="{height}" fill="none" stroke="#999"/>
<line x1="{zero:.2}" y1="{TOP}" x2="{zero:.2}" y2="{bottom}" stroke="#999" stroke-dasharray="4 3"/>
<text x="{left}" y="{scale}">{from}</text><text x="{right}" y="{scale}" text-anchor="end">{until}</text>
"##,
        title = panel.title,
        scale = bottom + 18.0,
        from = short(least),
        until = short(least + span),
    );
    for (i, (name, colour, of)) in panel.lines.iter().enumerate() {
        // A layer without grains has no velocity and interrupts the line.
        let runs = layers.iter().enumerate().collect::<Vec<_>>();
        for run in runs.split(|(_, layer)| !of(layer).is_finite()).filter(|run| !run.is_empty()) {
            let points: Vec<String> =
                run.iter().map(|&(place, layer)| format!("{:.2},{:.2}", x(of(layer)), y(place))).collect();
            let points = points.join(" ");
            _ = writeln!(
                text,
                r##"<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>"##
            );
        }
        let (at, below) = (left + 30.0 * i as f64, bottom + 38.0);
        _ = writeln!(text, r##"<text x="{at}" y="{below}" fill="{colour}">{name}</text>"##);
    }
    text
}
