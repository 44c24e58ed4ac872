//! Lattices: layers of grains from below, optionally cut to a region.

use glam::DVec3;

use super::super::MAX_GRAINS;
use super::super::read::{Node, Table, number, vector, whole, word};
use super::super::region::{corners, region};
use super::{Refusal, grain_count, length};
use crate::model::Random;
use crate::model::Region;
use crate::sources::radii::Radii;

/// Largest number of sites visited in the search for sites inside a region.
const MAX_SITES: f64 = 4e8;

/// Lattice of sites, filled layer by layer along +z.
#[derive(Debug, Clone, PartialEq)]
pub struct Lattice {
    structure: Structure,
    /// Distance of neighbouring sites \[m\].
    spacing: f64,
    /// Largest displacement of a grain from its site along each axis \[m\].
    jitter: f64,
    extent: LatticeExtent,
    /// Number of grains at which filling stops.
    count: Option<u64>,
}

/// Arrangement of the sites.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Structure {
    /// Simple cubic.
    Cubic,
    /// Hexagonal close packing.
    Hexagonal,
}

/// Extent of the lattice.
#[derive(Debug, Clone, PartialEq)]
enum LatticeExtent {
    /// Number of sites per axis from a first site on.
    Counts {
        /// First site \[m\].
        corner: DVec3,
        /// Sites along x, y and z.
        counts: [u64; 3],
    },
    /// All sites whose grain lies inside.
    Within(Region),
}

/// Reads a lattice for grains of the given sizes.
pub fn read(table: &mut Table<'_>, radii: Option<&Radii>) -> Option<Lattice> {
    let structure = match table.or("structure", "cubic", word(&["cubic", "hcp"])) {
        "hcp" => Structure::Hexagonal,
        _ => Structure::Cubic,
    };
    let largest = radii.map_or(1.0, Radii::largest);
    let jitter = table.or("jitter", 0.0, number(length(0.0)));
    // Smallest spacing at which no two grains overlap, whatever their displacements.
    let reach = match structure {
        Structure::Cubic => jitter,
        Structure::Hexagonal => 3f64.sqrt() * jitter,
    };
    let spacing = table.or("spacing", 2.0 * (largest + reach), number(length(1e-9)));
    let (wants_count, count) = (table.has("count"), table.maybe("count", grain_count));
    let extent = extent(table, count);
    if wants_count && count.is_none() {
        return None;
    }
    Some(Lattice { structure, spacing, jitter, extent: extent?, count })
}

fn extent(table: &mut Table<'_>, count: Option<u64>) -> Option<LatticeExtent> {
    let ways = [
        table.has("within"),
        table.has("corner") || table.has("counts"),
        table.has("min") || table.has("max"),
    ];
    if ways.iter().filter(|&&way| way).count() != 1 {
        table.problem(
            format!("`{}` must say how far it goes in one way", table.name()),
            "give one of: `within`, a region; `min` and `max`; `corner` and `counts`",
        );
        return None;
    }
    match ways {
        [true, ..] => table.get("within", region).map(LatticeExtent::Within),
        [_, true, _] => counted(table, count),
        _ => corners(table).map(|(min, max)| LatticeExtent::Within(Region::Box { min, max })),
    }
}

fn counted(table: &mut Table<'_>, count: Option<u64>) -> Option<LatticeExtent> {
    let corner = table.get("corner", vector);
    let counts = table.get("counts", |node| sites_per_axis(node, count));
    Some(LatticeExtent::Counts { corner: corner?, counts: counts? })
}

/// Reads `[nx, ny, nz]`, or `[nx, ny]` for the number of layers that `count` needs.
fn sites_per_axis(node: Node<'_>, count: Option<u64>) -> Option<[u64; 3]> {
    let counts = node.clone().list(whole(1, MAX_GRAINS))?;
    match (counts.as_slice(), count) {
        (&[x, y, z], _) => Some([x, y, z]),
        (&[x, y], Some(count)) => Some([x, y, count.div_ceil(x * y)]),
        (&[_, _], None) => {
            node.problem(
                format!("`{}` has no number of layers", node.name()),
                "give three numbers, or `count`, the number of grains",
            );
            None
        }
        (other, _) => {
            let found = other.len();
            node.problem(
                format!("`{}` has {found} numbers, expected sites along x, y and z", node.name()),
                "give three numbers, or two and `count`",
            );
            None
        }
    }
}

impl Lattice {
    /// Returns the number of grains, if it is known before filling.
    pub fn count(&self) -> Option<u64> {
        match (&self.extent, self.count) {
            (_, Some(count)) => Some(count),
            (LatticeExtent::Counts { counts, .. }, None) => {
                Some(counts.iter().fold(1, |a, b| a.saturating_mul(*b)))
            }
            (LatticeExtent::Within(_), None) => None,
        }
    }

    /// Returns the sites, from below, for grains with a radius of at most `largest`.
    ///
    /// # Errors
    /// When there are fewer sites than the count asks for, none at all, or far too many.
    pub fn sites(&self, largest: f64) -> Result<Vec<DVec3>, Refusal> {
        let (corner, counts) = match &self.extent {
            LatticeExtent::Counts { corner, counts } => (*corner, *counts),
            LatticeExtent::Within(region) => self.cover(region, largest),
        };
        let visited = counts.iter().map(|&count| count as f64).product::<f64>();
        if visited > MAX_SITES {
            return Err((
                format!("the lattice has {visited:e} sites, at most {MAX_SITES:e} are searched"),
                "enlarge `spacing`".to_owned(),
            ));
        }
        let room = self.count.unwrap_or(MAX_GRAINS + 1) as usize;
        let [nx, ny, nz] = counts;
        let index = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
        let sites = index.map(|index| corner + self.offset(index));
        let sites: Vec<DVec3> = match &self.extent {
            LatticeExtent::Counts { .. } => sites.take(room).collect(),
            LatticeExtent::Within(region) => {
                sites.filter(|&site| region.contains(site, largest, self.jitter)).take(room).collect()
            }
        };
        self.judge(sites)
    }

    fn judge(&self, sites: Vec<DVec3>) -> Result<Vec<DVec3>, Refusal> {
        let found = sites.len() as u64;
        match self.count {
            Some(count) if found < count => Err((
                format!("the lattice has room for {found} of {count} grains"),
                "enlarge its extent, or reduce `spacing`, `jitter` or `count`".to_owned(),
            )),
            None if found == 0 => Err((
                "no grain fits into the region of the lattice".to_owned(),
                "enlarge the region, or reduce the radius or `jitter`".to_owned(),
            )),
            None if found > MAX_GRAINS => Err((
                format!("the lattice holds more than {MAX_GRAINS} grains"),
                "enlarge `spacing`, or set `count`".to_owned(),
            )),
            _ => Ok(sites),
        }
    }

    /// Returns the first site and the number of sites per axis that cover a region: from its bottom, centred in x and y.
    fn cover(&self, region: &Region, largest: f64) -> (DVec3, [u64; 3]) {
        let (min, max) = region.bounds();
        let margin = largest + self.jitter;
        let room = (max - min - 2.0 * margin).max(DVec3::ZERO);
        let pitch = self.pitch();
        let steps = (room / pitch + 1e-9).floor();
        let rest = (room - steps * pitch).max(DVec3::ZERO);
        let corner = min + margin + 0.5 * rest.with_z(0.0);
        (corner, steps.to_array().map(|steps| (steps as u64).saturating_add(1)))
    }

    /// Distance of the rows of sites along each axis \[m\].
    fn pitch(&self) -> DVec3 {
        match self.structure {
            Structure::Cubic => DVec3::splat(self.spacing),
            Structure::Hexagonal => self.spacing * DVec3::new(1.0, 0.5 * 3f64.sqrt(), (2.0f64 / 3.0).sqrt()),
        }
    }

    /// Position of a site relative to the first site \[m\].
    fn offset(&self, index: [u64; 3]) -> DVec3 {
        let [i, j, k] = index.map(|index| index as f64);
        let shift = match self.structure {
            Structure::Cubic => DVec3::ZERO,
            Structure::Hexagonal => {
                let odd_layer = (index[2] % 2) as f64;
                DVec3::new(0.5 * ((index[1] + index[2]) % 2) as f64, odd_layer / 3.0, 0.0)
            }
        };
        (DVec3::new(i, j, k) + shift) * self.pitch()
    }

    /// Returns a site after its random displacement.
    pub fn shake(&self, site: DVec3, random: &mut Random) -> DVec3 {
        site + random.in_cube(self.jitter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lattice(structure: Structure, extent: LatticeExtent, count: Option<u64>) -> Lattice {
        Lattice { structure, spacing: 1.0, jitter: 0.0, extent, count }
    }

    #[test]
    fn a_close_packing_has_twelve_neighbours_and_none_nearer() {
        let extent = LatticeExtent::Counts { corner: DVec3::ZERO, counts: [7, 7, 7] };
        let sites = lattice(Structure::Hexagonal, extent, None).sites(0.5).expect("room");
        let middle = sites[(3 * 7 + 3) * 7 + 3];
        let distances: Vec<f64> = sites.iter().map(|site| site.distance(middle)).collect();
        assert_eq!(distances.iter().filter(|&&x| (x - 1.0).abs() < 1e-12).count(), 12);
        assert_eq!(distances.iter().filter(|&&x| x < 1.0 - 1e-12).count(), 1, "itself");
    }

    #[test]
    fn a_lattice_in_a_region_fills_from_below() {
        let drum = Region::Cylinder { base: DVec3::ZERO, axis: DVec3::Y, length: 4.0, radius: 5.0 };
        let all =
            lattice(Structure::Cubic, LatticeExtent::Within(drum.clone()), None).sites(0.5).expect("room");
        assert!(all.iter().all(|&site| drum.contains(site, 0.5, 0.0)));
        let some = lattice(Structure::Cubic, LatticeExtent::Within(drum), Some(60)).sites(0.5).expect("room");
        assert_eq!(some, all[..60]);
        assert!(some.windows(2).all(|pair| pair[0].z <= pair[1].z));
        let mean_y = all.iter().map(|site| site.y).sum::<f64>() / all.len() as f64;
        assert!((mean_y - 2.0).abs() < 1e-12, "centred across the drum: {mean_y}");
    }

    #[test]
    fn a_box_holds_exactly_the_touching_layers_that_fit() {
        let region = Region::Box { min: DVec3::ZERO, max: DVec3::new(4.0, 3.0, 2.0) };
        let sites = lattice(Structure::Cubic, LatticeExtent::Within(region), None).sites(0.5).expect("room");
        assert_eq!(sites.len(), 24);
        assert_eq!(sites[0], DVec3::splat(0.5));
    }
}
