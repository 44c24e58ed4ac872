//! Packings: initial positions of the grains of a block.

mod amount;
mod csv;
mod dense;
mod dump;
mod frame;
mod lattice;
mod multisphere;
mod random;
mod rows;
mod units;

use std::ops::Range;
use std::path::Path;

use glam::DVec3;

pub use self::lattice::Lattice;
use self::rows::Rows;
pub use self::rows::{Body, GrainRow, Weight};
#[cfg(feature = "cli")]
pub(crate) use self::units::Units;
use super::MAX_GRAINS;
use super::materials::material_id;
use super::read::{Need, Node, RADIUS, Table, direction, number, vector, whole};
use crate::error::suggest;
use crate::model::{Clump, MaterialId, Materials, Periodic, Plane, Random, Region};
use crate::sources::dense::Vessel;
use crate::sources::radii::{Amount, Radii};

/// Packing: initial positions of the grains of a block.
#[derive(Debug, Clone, PartialEq)]
pub enum Packing {
    /// Column of touching grains.
    Column {
        /// Number of grains.
        count: u64,
        /// Point where the first grain touches the ground \[m\].
        base: DVec3,
        /// Unit vector from the first grain to the second.
        axis: DVec3,
    },
    /// Sites of a lattice.
    Lattice(Lattice),
    /// Random positions without overlaps.
    Random {
        /// Region that is filled.
        region: Region,
        /// How much comes into it.
        amount: Amount,
        /// Plane of the centres in a plane scene.
        plane: Option<Plane>,
    },
    /// Spheres that fill a box up to a porosity.
    Dense {
        /// Corners of the box \[m\].
        corners: [DVec3; 2],
        /// How much comes into it.
        amount: Amount,
        /// Largest overlap that may be left, over the smaller radius \[-\].
        overlap: f64,
        /// Plane of the centres in a plane scene.
        plane: Option<Plane>,
    },
    /// A square pyramid of equal, touching grains.
    Pyramid {
        /// Centre of the base on the ground \[m\].
        base: DVec3,
        /// Number of grains along an edge of the lowest layer.
        rows: u64,
        /// Distance by which each layer is raised above contact with the layer below \[radius\].
        lift: f64,
    },
    /// List of positions.
    List {
        /// Centres \[m\].
        positions: Vec<DVec3>,
        /// Radii \[m\]; if `None`, from the distribution of the block.
        radii: Option<Vec<f64>>,
        /// Velocities \[m/s\]; if `None`, the velocity of the block.
        velocities: Option<Vec<DVec3>>,
        /// Angular velocities \[rad/s\]; if `None`, the angular velocity of the block.
        angular_velocities: Option<Vec<DVec3>>,
    },
    /// Rows of a file: a table, a dump of another program, or a frame of a run; and the clumps that some of them are.
    Rows(Vec<GrainRow>, Vec<Clump>),
}

/// Grain with its position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlacedGrain {
    /// Centre \[m\].
    pub position: DVec3,
    /// Radius \[m\].
    pub radius: f64,
    /// Velocity and angular velocity at the start.
    pub motion: InitialMotion,
}

/// Initial motion of a grain, as far as its packing gives it; otherwise the block gives it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct InitialMotion {
    /// Velocity \[m/s\].
    pub velocity: Option<DVec3>,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: Option<DVec3>,
}

/// Reason why a packing is refused, and advice.
pub type Refusal = (String, String);

const KINDS: &[&str] = &["column", "lattice", "random", "dense", "pyramid", "list", "csv", "dump", "frame"];

/// Reads a number of grains, from 1 to the largest number.
fn grain_count(node: Node<'_>) -> Option<u64> {
    whole(1, MAX_GRAINS)(node)
}

/// Grains that are to be packed.
pub struct GrainsToPack<'a> {
    /// Their sizes, unless these are faulty.
    pub radii: Option<&'a Radii>,
    /// Radius of the bounding sphere of a grain over the radius of the sphere of its volume \[-\].
    pub reach: f64,
    /// Mean mass over the volume of that sphere \[kg/m³\], if the material is known.
    pub density: Option<f64>,
    /// Plane of a plane scene.
    pub plane: Option<Plane>,
    /// Whether grains have temperatures.
    pub has_heat: bool,
}

/// Reads a packing. Paths of files start at `folder`.
pub fn packing(
    node: Node<'_>,
    grains: &GrainsToPack<'_>,
    materials: &Materials,
    folder: &Path,
) -> Option<Packing> {
    let radii = grains.radii;
    let balls = radii.map(|radii| radii.scaled(grains.reach));
    node.table(|table| match table.kind(KINDS)? {
        "column" => column(table),
        "lattice" => lattice::read(table, balls.as_ref()).map(Packing::Lattice),
        "random" => random::read(table, grains),
        "dense" => dense::read(table, grains),
        "pyramid" => pyramid(table, radii),
        "list" => list(table),
        "csv" => of_several(table, materials, grains.has_heat, |table| csv::read(table, folder)),
        "dump" => of_several(table, materials, grains.has_heat, |table| dump::read(table, folder)),
        _ => frame::read(table, folder).map(|rows| told(table, rows, grains.has_heat)),
    })
}

/// Returns whether a packing is that of a file, in which anything may be.
pub fn is_of_a_file(node: &Node<'_>) -> bool {
    node.child("kind").is_some_and(|kind| matches!(kind.text(), Some("csv" | "dump" | "frame")))
}

/// Notes what was taken of a file, and returns its grains.
fn told(table: &Table<'_>, mut rows: Rows, has_heat: bool) -> Packing {
    if !has_heat {
        rows.note.leave_out_temperatures();
    }
    table.report.note(rows.note.text());
    Packing::Rows(rows.rows, rows.clumps)
}

/// Reads grains of a file, which may be of several materials: `materials` gives that of each type.
fn of_several<'a>(
    table: &mut Table<'a>,
    materials: &Materials,
    has_heat: bool,
    read: impl FnOnce(&mut Table<'a>) -> Option<Rows>,
) -> Option<Packing> {
    let given = table.maybe("materials", |node| {
        node.table(|table| {
            let named = table.named();
            let count = named.len();
            let one = |(kind, span, node): (String, Range<usize>, Node<'_>)| {
                Some((kind, span, material_id(materials)(node)?))
            };
            let given: Vec<_> = named.into_iter().filter_map(one).collect();
            (given.len() == count).then_some(given)
        })
    });
    let is_faulty = given.is_none() && table.has("materials");
    let mut rows = read(table)?;
    if is_faulty {
        return None;
    }
    let ids = match given {
        Some(given) => by_type(table, &rows, &given)?,
        None => by_name(table, &mut rows, materials)?,
    };
    for row in &mut rows.rows {
        row.material = row.material.and_then(|kind| ids[kind as usize]);
    }
    Some(told(table, rows, has_heat))
}

/// Returns the material of each type of a file, which `given` names.
fn by_type(
    table: &Table<'_>,
    rows: &Rows,
    given: &[(String, Range<usize>, MaterialId)],
) -> Option<Vec<Option<MaterialId>>> {
    if rows.kinds.is_empty() {
        table.problem("the file has no column of types", "leave out `materials`");
        return None;
    }
    let material =
        |kind: &String| given.iter().find(|(name, ..)| name == kind).map(|(.., material)| Some(*material));
    let help = |kind: &str| format!("add \"{kind}\" = \"...\" to `materials`");
    all_of(table, rows, material, "no material is given for", help)
}

/// Returns the materials of all words in the column of types or materials, or reports those that have none.
fn all_of(
    table: &Table<'_>,
    rows: &Rows,
    material: impl Fn(&String) -> Option<Option<MaterialId>>,
    wrong: &str,
    help: impl Fn(&str) -> String,
) -> Option<Vec<Option<MaterialId>>> {
    let missing: Vec<&str> =
        rows.kinds.iter().filter(|kind| material(kind).is_none()).map(String::as_str).collect();
    if let Some(first) = missing.first() {
        let shown = missing.iter().take(5).map(|kind| format!("\"{kind}\"")).collect::<Vec<_>>().join(", ");
        let more = missing.len().saturating_sub(5);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        table.problem(
            format!("{wrong} {shown}{more} in column `{}` of the file", rows.kind_title),
            help(first),
        );
        return None;
    }
    rows.kinds.iter().map(material).collect()
}

/// Returns the material of each word in the column of types or materials. Numbers of types say nothing as long as there is one alone.
fn by_name(table: &Table<'_>, rows: &mut Rows, materials: &Materials) -> Option<Vec<Option<MaterialId>>> {
    let kinds = &rows.kinds;
    if !rows.kind_title.eq_ignore_ascii_case("material") {
        if kinds.len() < 2 {
            rows.note.leave_out(&rows.kind_title);
            return Some(vec![None; kinds.len()]);
        }
        let several = kinds.iter().map(|kind| format!("\"{kind}\" = \"...\"")).collect::<Vec<_>>().join(", ");
        let message = format!("the file holds grains of {} types ({})", kinds.len(), kinds.join(", "));
        table.problem(
            message,
            format!("say what they are of: materials = {{ {several} }}; or take one `type`"),
        );
        return None;
    }
    let known = || materials.list.iter().map(|material| material.name.as_str()).collect::<Vec<_>>();
    let help = |kind: &str| suggest(kind, known());
    all_of(table, rows, |kind| materials.find(kind).map(Some), "no material is called", help)
}

fn column(table: &mut Table<'_>) -> Option<Packing> {
    let (count, base) = (table.get("count", grain_count), table.get("base", vector));
    let axis = table.or("axis", DVec3::Z, direction);
    Some(Packing::Column { count: count?, base: base?, axis })
}

/// Distance by which the layers of a pyramid are raised \[radius\].
const LIFT: Need = Need::new(|x| (0.0..=10.0).contains(&x), "0 to 10 radii");

fn pyramid(table: &mut Table<'_>, radii: Option<&Radii>) -> Option<Packing> {
    // 390 rows hold 19.8 million grains.
    let (base, rows) = (table.get("base", vector), table.get("rows", whole(1, 390)));
    let lift = table.or("lift", 0.0, number(LIFT));
    if !matches!(radii, None | Some(Radii::Constant(_))) {
        table.problem(
            format!("`{}` is a pyramid, whose grains must be equal", table.name()),
            "use radius = { kind = \"constant\", value = ... }",
        );
        return None;
    }
    Some(Packing::Pyramid { base: base?, rows: rows?, lift })
}

fn list(table: &mut Table<'_>) -> Option<Packing> {
    let positions = table.get("positions", |node| node.list(vector));
    let count = positions.as_ref().map(Vec::len);
    let radii = per_position(table, "radii", count, number(RADIUS));
    let velocities = per_position(table, "velocities", count, vector);
    let angular_velocities = per_position(table, "angular_velocities", count, vector);
    let positions = positions?;
    if positions.is_empty() {
        table.problem(format!("`{}` has no positions", table.name()), "add one, or remove the block");
        return None;
    }
    Some(Packing::List {
        positions,
        radii: radii?,
        velocities: velocities?,
        angular_velocities: angular_velocities?,
    })
}

/// Reads an optional list with one value for each of `count` positions; returns `None` if it is faulty, `Some(None)` if it is left out.
fn per_position<T>(
    table: &mut Table<'_>,
    key: &'static str,
    count: Option<usize>,
    read: impl Fn(Node<'_>) -> Option<T>,
) -> Option<Option<Vec<T>>> {
    let Some(node) = table.node(key) else { return Some(None) };
    let values = node.list(read)?;
    if let Some(count) = count.filter(|&count| count != values.len()) {
        table.problem(
            format!("`{}` has {count} positions and {} {key}", table.name(), values.len()),
            "make the lists equally long",
        );
        return None;
    }
    Some(Some(values))
}

/// Reads the spacing of a lattice or the displacement of its sites.
fn length(least: f64) -> Need {
    if least > 0.0 {
        Need::new(|x| (1e-9..=1e9).contains(&x), "a positive length in metres (1e-9 to 1e9)")
    } else {
        Need::new(|x| (0.0..=1e9).contains(&x), "zero or a positive length in metres")
    }
}

impl Packing {
    /// Number of grains, if it is known; that of a lattice in a region, and of a volume of grains, is known only after filling.
    pub fn count(&self) -> Option<u64> {
        match self {
            Packing::Column { count, .. } => Some(*count),
            Packing::Random { amount, .. } | Packing::Dense { amount, .. } => match amount {
                Amount::Count(count) => Some(*count),
                Amount::Volume(_) => None,
            },
            Packing::Lattice(lattice) => lattice.count(),
            Packing::Pyramid { rows, .. } => Some(rows * (rows + 1) * (2 * rows + 1) / 6),
            Packing::List { positions, .. } => Some(positions.len() as u64),
            Packing::Rows(rows, _) => Some(rows.len() as u64),
        }
    }

    /// Returns whether a grain needs a material from the block.
    pub fn needs_material(&self) -> bool {
        match self {
            Packing::Rows(rows, _) => rows.iter().any(|row| row.material.is_none()),
            _ => true,
        }
    }

    /// Returns whether a grain has a density or mass of its own.
    pub fn weighs(&self) -> bool {
        matches!(self, Packing::Rows(rows, _) if rows.iter().any(|row| row.weight != Weight::OfMaterial))
    }

    /// Returns the row of a grain, if it is from a file.
    pub fn row(&self, grain: usize) -> Option<&GrainRow> {
        match self {
            Packing::Rows(rows, _) => rows.get(grain),
            _ => None,
        }
    }

    /// Takes the clumps out that bodies of several spheres of a file are.
    pub fn take_clumps(&mut self) -> Vec<Clump> {
        match self {
            Packing::Rows(_, clumps) => std::mem::take(clumps),
            _ => Vec::new(),
        }
    }

    /// Whether a file gives grains temperatures.
    pub fn has_temperatures(&self) -> bool {
        matches!(self, Packing::Rows(rows, _) if rows.iter().any(|row| row.temperature.is_some()))
    }

    /// Returns whether a grain needs a radius from the distribution of the block.
    pub fn needs_radii(&self) -> bool {
        match self {
            Packing::List { radii, .. } => radii.is_none(),
            Packing::Rows(rows, _) => rows.iter().any(|row| row.radius.is_none()),
            _ => true,
        }
    }

    /// Places grains of these radii, each in a bounding sphere that is larger by the factor `reach`. `is_blocked` tells whether a sphere
    /// overlaps something that is already there.
    ///
    /// # Errors
    /// When the grains do not fit, with the number that would.
    pub fn place(
        &self,
        radii: &Radii,
        reach: f64,
        periodic: &Periodic,
        random: &mut Random,
        is_blocked: &dyn Fn(DVec3, f64) -> bool,
    ) -> Result<Vec<PlacedGrain>, Refusal> {
        let mut placed = self.place_balls((radii, reach), periodic, random, is_blocked)?;
        let of_its_own = |i: usize| match self {
            Packing::List { radii, .. } => radii.is_some(),
            Packing::Rows(rows, _) => rows[i].radius.is_some(),
            _ => false,
        };
        for (_, grain) in placed.iter_mut().enumerate().filter(|(i, _)| !of_its_own(*i)) {
            grain.radius /= reach;
        }
        Ok(placed)
    }

    fn place_balls(
        &self,
        (radii, reach): (&Radii, f64),
        periodic: &Periodic,
        random: &mut Random,
        is_blocked: &dyn Fn(DVec3, f64) -> bool,
    ) -> Result<Vec<PlacedGrain>, Refusal> {
        let largest = reach * radii.largest();
        let balls = |amount: Amount, plane: Option<Plane>, random: &mut Random| {
            let radii = radii.draw_all(amount, plane, MAX_GRAINS + 1, random);
            radii.into_iter().map(|radius| reach * radius).collect::<Vec<f64>>()
        };
        let draws = |count: u64, random: &mut Random| balls(Amount::Count(count), None, random);
        match self {
            Packing::Column { count, base, axis } => Ok(stack(*base, *axis, &draws(*count, random))),
            Packing::Lattice(lattice) => {
                let sites = lattice.sites(largest)?;
                let sizes = draws(sites.len() as u64, random);
                Ok(zip(sites.into_iter().map(|site| lattice.shake(site, random)), sizes))
            }
            Packing::Random { region, amount, plane } => {
                let balls = balls(*amount, *plane, random);
                random::fill(region, (periodic, *plane), balls, random, is_blocked)
            }
            Packing::Dense { corners, amount, overlap, plane } => {
                let balls = balls(*amount, *plane, random);
                let [min, max] = *corners;
                dense::fill(&Vessel { min, max, periodic: *periodic, plane: *plane }, balls, *overlap, random)
            }
            Packing::Pyramid { base, rows, lift } => Ok(pile_up(*base, *rows, *lift, largest)),
            Packing::List { positions, radii: given, velocities, angular_velocities } => {
                let sizes = given.clone().unwrap_or_else(|| draws(positions.len() as u64, random));
                let of = |values: &Option<Vec<DVec3>>, i| values.as_ref().map(|values| values[i]);
                let mut placed = zip(positions.iter().copied(), sizes);
                for (i, grain) in placed.iter_mut().enumerate() {
                    grain.motion.velocity = of(velocities, i);
                    grain.motion.angular_velocity = of(angular_velocities, i);
                }
                Ok(placed)
            }
            Packing::Rows(rows, _) => {
                let sizes = draws(rows.len() as u64, random);
                Ok(rows.iter().zip(sizes).map(|(row, size)| row.placed(size)).collect())
            }
        }
    }
}

fn zip(positions: impl Iterator<Item = DVec3>, sizes: Vec<f64>) -> Vec<PlacedGrain> {
    let placed = |(position, radius)| PlacedGrain { position, radius, motion: InitialMotion::default() };
    positions.zip(sizes).map(placed).collect()
}

/// Stacks grains on top of each other.
fn stack(base: DVec3, axis: DVec3, sizes: &[f64]) -> Vec<PlacedGrain> {
    let mut height = 0.0;
    let place = |&radius: &f64| {
        let centre = height + radius;
        height += 2.0 * radius;
        PlacedGrain { position: base + centre * axis, radius, motion: InitialMotion::default() }
    };
    sizes.iter().map(place).collect()
}

/// Builds a square pyramid: each layer sits in the hollows of the layer below, √2 r above it, raised by `lift` radii.
fn pile_up(base: DVec3, rows: u64, lift: f64, radius: f64) -> Vec<PlacedGrain> {
    let layer = |level: u64| {
        let edge = rows - level;
        let height = radius * (1.0 + level as f64 * (2f64.sqrt() + lift));
        let along = move |i: u64| (2.0 * i as f64 - (edge - 1) as f64) * radius;
        (0..edge * edge).map(move |i| base + DVec3::new(along(i % edge), along(i / edge), height))
    };
    let place = |position| PlacedGrain { position, radius, motion: InitialMotion::default() };
    (0..rows).flat_map(layer).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::random::Stream;

    fn place(packing: &Packing, radii: &Radii) -> Vec<PlacedGrain> {
        let mut random = Random::new(1, Stream::Grains(0));
        packing.place(radii, 1.0, &Periodic::default(), &mut random, &|_, _| false).expect("room")
    }

    fn least_gap(grains: &[PlacedGrain]) -> f64 {
        let gap = |a: &PlacedGrain, b: &PlacedGrain| a.position.distance(b.position) - a.radius - b.radius;
        let pairs = grains.iter().enumerate().flat_map(|(i, a)| grains[..i].iter().map(move |b| gap(a, b)));
        pairs.fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn grains_of_a_column_touch_each_other_and_the_ground() {
        let packing = Packing::Column { count: 5, base: DVec3::Z, axis: DVec3::Z };
        let grains = place(&packing, &Radii::Uniform { min: 0.5, max: 1.0 });
        assert_eq!(grains[0].position.z, 1.0 + grains[0].radius);
        for pair in grains.windows(2) {
            let gap = pair[0].position.distance(pair[1].position) - pair[0].radius - pair[1].radius;
            assert!(gap.abs() < 1e-14, "{gap}");
        }
    }

    #[test]
    fn a_pyramid_touches_and_does_not_overlap() {
        let packing = Packing::Pyramid { base: DVec3::ZERO, rows: 4, lift: 0.0 };
        let grains = place(&packing, &Radii::Constant(0.5));
        assert_eq!(grains.len() as u64, packing.count().expect("known"));
        assert!(least_gap(&grains).abs() < 1e-14);
        let top = grains.last().expect("grains").position;
        assert!((top - DVec3::Z * (0.5 + 3.0 * 0.5 * 2f64.sqrt())).length() < 1e-14);
    }

    #[test]
    fn a_random_packing_has_no_overlaps_and_stays_in_its_region() {
        let region = Region::Cylinder { base: DVec3::ZERO, axis: DVec3::Y, length: 3.0, radius: 1.0 };
        let packing = Packing::Random { region: region.clone(), amount: Amount::Count(300), plane: None };
        let sizes = Radii::Mixture { radii: vec![0.05, 0.15], shares: vec![0.5, 0.5] };
        let grains = place(&packing, &sizes);
        assert_eq!(grains.len(), 300);
        assert!(least_gap(&grains) >= 0.0);
        assert!(grains.iter().all(|grain| region.contains(grain.position, grain.radius, 0.0)));
    }

    #[test]
    fn a_region_that_is_too_small_says_how_many_fit() {
        let region = Region::Box { min: DVec3::ZERO, max: DVec3::ONE };
        let packing = Packing::Random { region, amount: Amount::Count(16), plane: None };
        let mut random = Random::new(1, Stream::Grains(0));
        let none = Periodic::default();
        let refusal =
            packing.place(&Radii::Constant(0.2), 1.0, &none, &mut random, &|_, _| false).expect_err("full");
        assert!(refusal.0.contains("of 16 grains"), "{}", refusal.0);
    }
}
