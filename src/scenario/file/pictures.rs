//! Reader of pictures, `[output] pictures`: their interval and their look.

use super::read::{
    DURATION, FINITE, Need, Node, POSITIVE, Plain, Table, boolean, direction, number, text, vector, whole,
    word,
};
use super::region::corners;
use crate::error::suggest;
use crate::model::{Boundary, World};
use crate::render::{BoundaryStyle, CutPlane, FIELDS, Look, PicturePlan, Projection, SIZES, Show};

/// Reads the plan of pictures of a run with an output every `every` seconds.
pub fn pictures(node: Node<'_>, world: &World, every: f64) -> Option<PicturePlan> {
    node.table(|table| {
        let every = table.or("every", every, number(DURATION));
        Some(PicturePlan { every, look: look(table, world) })
    })
}

fn look(table: &mut Table<'_>, world: &World) -> Look {
    let standard = Look::of_scene(world);
    const ANGLE: Need = Need::new(|x| x.abs() <= 360.0, "an angle from -360 to 360 degrees");
    const TILT: Need = Need::new(|x| x.abs() <= 90.0, "an angle from -90 to 90 degrees");
    let size = table.or("size", standard.size.map(u64::from).to_vec(), size);
    let show = table.or("show", "grains", word(Show::WORDS));
    let show = Show::of(show).unwrap_or(standard.show);
    let colour_by = match show.array() {
        None => table.or("colour_by", standard.colour_by.clone(), |node| field(node, world)),
        Some(_) => standard.colour_by.clone(),
    };
    let rose = table.or("rose", false, boolean);
    if rose
        && show == Show::Grains
        && let Some(node) = table.node("rose")
    {
        let message = format!("`{}` is true, and grains are shown", node.name());
        node.problem(
            message,
            "it tells the directions of the forces that are shown: set `show = \"forces\"`",
        );
    }
    Look {
        size: [size[0] as u32, size[1] as u32],
        azimuth_deg: table.or("azimuth_deg", standard.azimuth_deg, number(ANGLE)),
        elevation_deg: table.or("elevation_deg", standard.elevation_deg, number(TILT)),
        projection: choice(table, "projection", "orthographic", Projection::WORDS, Projection::of)
            .unwrap_or(standard.projection),
        zoom: table.or("zoom", standard.zoom, number(POSITIVE)),
        fit: table.maybe("fit", |node| node.table(corners)).map(|(min, max)| [min, max]),
        cut: table.maybe("cut", |node| node.table(cut)),
        show,
        rose,
        colour_by,
        range: table.maybe("range", range),
        boundaries: choice(table, "boundaries", "glass", BoundaryStyle::WORDS, BoundaryStyle::of)
            .unwrap_or(standard.boundaries),
    }
}

fn choice<T>(
    table: &mut Table<'_>,
    key: &'static str,
    default: &'static str,
    words: &'static [&'static str],
    of: fn(&str) -> Option<T>,
) -> Option<T>
where
    &'static str: Plain,
{
    of(table.or(key, default, word(words)))
}

fn size(node: Node<'_>) -> Option<Vec<u64>> {
    let pixels = whole(u64::from(*SIZES.start()), u64::from(*SIZES.end()));
    let sizes = node.clone().list(pixels)?;
    if sizes.len() != 2 {
        let message = format!("`{}` has {} numbers, expected two", node.name(), sizes.len());
        node.problem(message, "give width and height in pixels, such as [960, 720]");
        return None;
    }
    Some(sizes)
}

fn field(node: Node<'_>, world: &World) -> Option<String> {
    let name = text(node.clone())?;
    if name.starts_with("relative_velocity") && !world.boundaries.iter().any(Boundary::turns) {
        let message = format!("`{}` is \"{name}\", but no boundary turns", node.name());
        node.problem(
            message,
            "it is relative to a boundary with a motion of the kind `rotation`; take `velocity`",
        );
        return None;
    }
    if !FIELDS.contains(&name.as_str()) {
        let message = format!("`{}` is \"{name}\", which is no field of a grain", node.name());
        node.problem(message, suggest(&name, FIELDS.iter().copied()));
        return None;
    }
    Some(name)
}

fn range(node: Node<'_>) -> Option<[f64; 2]> {
    let values = node.clone().list(number(FINITE))?;
    match values[..] {
        [least, greatest] if least < greatest => Some([least, greatest]),
        _ => {
            let message = format!("`{}` is not a range: expected two numbers that ascend", node.name());
            node.problem(message, "give the values at both ends of the colours, such as [0.0, 1.5]");
            None
        }
    }
}

fn cut(table: &mut Table<'_>) -> Option<CutPlane> {
    let (point, normal) = (table.get("point", vector), table.get("normal", direction));
    Some(CutPlane { point: point?, normal: normal? })
}
