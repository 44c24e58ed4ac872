//! Grains in the rows of a file, a table or a dump: which column is what, and what is not read.

use glam::{DQuat, DVec3};

use super::super::heat;
use super::units::Units;
use super::{InitialMotion, PlacedGrain};
use crate::model::range::{FAR, RADII, WITHIN_FAR, WITHIN_RADII};
use crate::model::{Clump, MaterialId};

/// A grain in a row of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainRow {
    /// Centre \[m\].
    pub position: DVec3,
    /// Radius \[m\], if the file has one.
    pub radius: Option<f64>,
    /// Velocity and angular velocity, if the file has them.
    pub motion: InitialMotion,
    /// Density or mass, if the file has one.
    pub weight: Weight,
    /// Orientation, if the file has one.
    pub orientation: Option<DQuat>,
    /// Temperature \[K\], if the file has one.
    pub temperature: Option<f64>,
    /// Material, if the file has one: first the index of its word in [`Rows::kinds`].
    pub material: Option<MaterialId>,
    /// Body of the row.
    pub body: Body,
}

/// What a row of a file stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// A grain that is a sphere, or the clump of its block.
    Sphere,
    /// One of the spheres with this id, which are a body together.
    Part(u64),
    /// A body of several spheres: the clump of this index in [`Rows::clumps`].
    Clump(u32),
}

impl GrainRow {
    /// Returns the grain with the given radius, unless the row has its own radius.
    pub fn placed(&self, radius: f64) -> PlacedGrain {
        PlacedGrain { position: self.position, radius: self.radius.unwrap_or(radius), motion: self.motion }
    }
}

/// Density or mass of a grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weight {
    /// As the material says.
    OfMaterial,
    /// A density of its own \[kg/m³\].
    Density(f64),
    /// A mass of its own \[kg\].
    Mass(f64),
}

/// Grains of a file, and how they were read.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    /// The grains.
    pub rows: Vec<GrainRow>,
    /// Clumps of those grains that are bodies of several spheres.
    pub clumps: Vec<Clump>,
    /// Words in the column of types or materials, each once.
    pub kinds: Vec<String>,
    /// Title of that column.
    pub kind_title: String,
    /// What the file is, what was taken of it, and what was not.
    pub note: Note,
}

/// Quantity of a column, and its names: the first is that of messages.
const NAMES: [(&str, &[&str]); 22] = [
    ("x", &["x"]),
    ("y", &["y"]),
    ("z", &["z"]),
    ("radius", &["radius", "r", "rad", "c_radius"]),
    ("diameter", &["diameter", "d", "c_diameter"]),
    ("vx", &["vx"]),
    ("vy", &["vy"]),
    ("vz", &["vz"]),
    ("wx", &["wx", "omegax"]),
    ("wy", &["wy", "omegay"]),
    ("wz", &["wz", "omegaz"]),
    ("density", &["density", "rho", "c_density"]),
    ("mass", &["mass", "m", "c_mass"]),
    ("material", &["material", "type", "typelabel", "matid"]),
    ("qw", &["qw", "quatw", "quat1"]),
    ("qx", &["qx", "quati", "quat2"]),
    ("qy", &["qy", "quatj", "quat3"]),
    ("qz", &["qz", "quatk", "quat4"]),
    ("id_multisphere", &["id_multisphere"]),
    ("id", &["id"]),
    ("angmomx", &["angmomx"]),
    ("temperature", &["temperature", "temp", "f_temp", "f_temp[0]"]),
];

/// Columns that make a grain another body than a sphere.
const SHAPES: [&str; 8] =
    ["shapex", "shapey", "shapez", "blockiness1", "blockiness2", "n1", "n2", "n_vertices"];

/// Coordinates that a dump may have in place of x, y and z, in the order in which they are taken.
const PLACES: [[&str; 3]; 4] =
    [["x", "y", "z"], ["xu", "yu", "zu"], ["xs", "ys", "zs"], ["xsu", "ysu", "zsu"]];

/// Which column is what.
#[derive(Debug, Clone)]
pub struct Layout {
    titles: Vec<String>,
    place: [usize; 3],
    /// Whether positions are shares of the edges of a box.
    pub is_scaled: bool,
    /// Whether positions go on beyond a periodic box, so that no body is cut by its faces.
    pub is_unwrapped: bool,
    columns: [Option<usize>; NAMES.len()],
    units: Units,
}

const RADIUS: usize = 3;
const DIAMETER: usize = 4;
const VELOCITY: usize = 5;
const SPIN: usize = 8;
const DENSITY: usize = 11;
const MASS: usize = 12;
const KIND: usize = 13;
const QUATERNION: usize = 14;
const MULTISPHERE: usize = 18;
const ID: usize = 19;
const ANGULAR_MOMENTUM: usize = 20;
const TEMPERATURE: usize = 21;

/// Numbers and words of a line.
pub trait Fields {
    /// Number in a column; `what` is its name in messages.
    ///
    /// # Errors
    /// When it is no finite number.
    fn number(&self, column: usize, what: &str) -> Result<f64, String>;
    /// Text of a column.
    fn text(&self, column: usize) -> &str;
}

impl Layout {
    /// Finds the columns of a file with these titles.
    ///
    /// # Errors
    /// When a column is there twice, missing or cannot be used.
    pub fn of(titles: &[String], units: Units) -> Result<Layout, String> {
        let lower: Vec<String> = titles.iter().map(|title| bare(title)).collect::<Result<_, String>>()?;
        if let Some(i) = (1..lower.len()).find(|&i| !lower[i].is_empty() && lower[..i].contains(&lower[i])) {
            return Err(format!("two columns are called `{}`", titles[i]));
        }
        let find = |name: &str| lower.iter().position(|title| title == name);
        let mut columns = [None; NAMES.len()];
        for (found, (_, names)) in columns.iter_mut().zip(NAMES) {
            let mut places = names.iter().filter_map(|name| find(name));
            *found = places.next();
            if let (Some(one), Some(other)) = (*found, places.next()) {
                return Err(format!(
                    "columns `{}` and `{}` are the same quantity: leave out one",
                    titles[one], titles[other]
                ));
            }
        }
        let three = |names: [&str; 3]| {
            let [x, y, z] = names.map(find);
            Some([x?, y?, z?])
        };
        let found = PLACES.iter().find_map(|&names| Some((three(names)?, names[0])));
        let Some((place, first)) = found else {
            let missing = ["x", "y", "z"].into_iter().find(|name| find(name).is_none()).unwrap_or("x");
            return Err(format!("missing column `{missing}` (or xu yu zu, or xs ys zs)"));
        };
        let (is_scaled, is_unwrapped) = (first.starts_with("xs"), first.ends_with('u'));
        let layout = Layout { titles: titles.to_vec(), place, is_scaled, is_unwrapped, columns, units };
        layout.check().map(|()| layout)
    }

    fn check(&self) -> Result<(), String> {
        let shape = self.titles.iter().find(|title| SHAPES.contains(&title.to_ascii_lowercase().as_str()));
        if let Some(shape) = shape {
            return Err(format!(
                "column `{shape}`: grains of this shape are no spheres; make them clumps, or take out the column"
            ));
        }
        if self.columns[ANGULAR_MOMENTUM].is_some() && self.columns[SPIN].is_none() {
            return Err(
                "column `angmomx`: angular momenta are not read; write omegax omegay omegaz".to_owned()
            );
        }
        let quaternion = &self.columns[QUATERNION..QUATERNION + 4];
        if quaternion.iter().any(Option::is_some) && quaternion.iter().any(Option::is_none) {
            return Err("a quaternion has four columns: qw, qx, qy and qz".to_owned());
        }
        match self.titles.iter().find_map(|title| Some((title, misspelt(title)?))) {
            Some((title, name)) => Err(format!("unknown column `{title}`; did you mean `{name}`?")),
            None => Ok(()),
        }
    }

    /// Number of columns.
    pub fn count(&self) -> usize {
        self.titles.len()
    }

    /// Column of an identifier, if there is one.
    pub fn id(&self) -> Option<usize> {
        self.columns[ID]
    }

    /// Column of the type or material, if there is one, with its title.
    pub fn kind(&self) -> Option<(usize, &str)> {
        self.columns[KIND].map(|at| (at, self.titles[at].as_str()))
    }

    /// Titles of the columns that are read, and of those that are left out.
    pub fn taken(&self) -> [Vec<String>; 2] {
        let left_out = [ID, ANGULAR_MOMENTUM];
        let both = self.columns[RADIUS].is_some();
        let is_used = |at: usize| {
            let of = self.columns.iter().position(|column| *column == Some(at));
            let is_other_place = of.is_some_and(|of| of < 3) && !self.place.contains(&at);
            let is_used = of.is_some_and(|of| !(left_out.contains(&of) || of == DIAMETER && both));
            self.place.contains(&at) || (is_used && !is_other_place)
        };
        let (used, unused): (Vec<usize>, Vec<usize>) = (0..self.titles.len()).partition(|&at| is_used(at));
        // A separator at the end of all lines makes a column without a title.
        let titled = |places: Vec<usize>| {
            places.into_iter().map(|at| self.titles[at].clone()).filter(|title| !title.is_empty())
        };
        [titled(used).collect(), titled(unused).collect()]
    }

    /// Reads the grain of a line; `kind` is the number of its type or material.
    ///
    /// # Errors
    /// What is wrong with which column.
    pub fn row(&self, fields: &impl Fields, kind: Option<u32>) -> Result<GrainRow, String> {
        let units = &self.units;
        let plain = |at: usize, unit: f64| {
            let number = unit * fields.number(at, &self.titles[at])?;
            match number.abs() <= FAR {
                true => Ok(number),
                false => Err(format!("{} is {number:e} in SI units, expected {WITHIN_FAR}", self.titles[at])),
            }
        };
        let of = |column: usize, unit: f64| self.columns[column].map(|at| plain(at, unit)).transpose();
        let vector = |first: usize, unit: f64| -> Result<Option<DVec3>, String> {
            let components = [of(first, unit)?, of(first + 1, unit)?, of(first + 2, unit)?];
            let is_given = components.iter().any(Option::is_some);
            Ok(is_given.then(|| DVec3::from_array(components.map(Option::unwrap_or_default))))
        };
        let length = if self.is_scaled { 1.0 } else { units.length };
        let [x, y, z] = self.place;
        Ok(GrainRow {
            position: DVec3::new(plain(x, length)?, plain(y, length)?, plain(z, length)?),
            radius: self.radius(of(RADIUS, units.length)?, of(DIAMETER, units.length)?)?,
            motion: InitialMotion {
                velocity: vector(VELOCITY, units.velocity())?,
                angular_velocity: vector(SPIN, units.rate())?,
            },
            weight: self.weight(fields)?,
            orientation: self.orientation(fields)?,
            temperature: self.temperature(fields)?,
            material: kind,
            body: self.body(fields)?,
        })
    }

    /// Reads the body that a sphere belongs to.
    ///
    /// # Errors
    /// When its number is none.
    pub fn body(&self, fields: &impl Fields) -> Result<Body, String> {
        let Some(at) = self.columns[MULTISPHERE] else { return Ok(Body::Sphere) };
        let number = fields.number(at, &self.titles[at])?;
        match number {
            // LIGGGHTS writes -1 for a sphere of its own.
            -1.0 | 0.0 => Ok(Body::Sphere),
            id if id > 0.0 && id.fract() == 0.0 && id <= LARGEST_ID => Ok(Body::Part(id as u64)),
            _ => Err(format!(
                "{} is \"{}\", expected the number of a body, or -1 for a sphere of its own",
                self.titles[at],
                fields.text(at)
            )),
        }
    }

    fn radius(&self, radius: Option<f64>, diameter: Option<f64>) -> Result<Option<f64>, String> {
        let found = match (radius, diameter) {
            (Some(radius), Some(diameter)) if (0.5 * diameter - radius).abs() > AGREE * radius.abs() => {
                return Err(format!("radius is {radius} m and diameter {diameter} m: leave out one"));
            }
            (radius, diameter) => radius.or(diameter.map(|diameter| 0.5 * diameter)),
        };
        match found {
            Some(radius) if !RADII.contains(&radius) => {
                Err(format!("radius is {radius} m, expected {WITHIN_RADII}"))
            }
            found => Ok(found),
        }
    }

    fn temperature(&self, fields: &impl Fields) -> Result<Option<f64>, String> {
        let Some(at) = self.columns[TEMPERATURE] else { return Ok(None) };
        let found = fields.number(at, &self.titles[at])?;
        match heat::TEMPERATURE.accepts(found) {
            true => Ok(Some(found)),
            false => Err(format!("{} is {found}, expected {}", self.titles[at], heat::TEMPERATURE.words())),
        }
    }

    fn weight(&self, fields: &impl Fields) -> Result<Weight, String> {
        let positive = |column: usize, unit: f64, in_words: &str| {
            let Some(at) = self.columns[column] else { return Ok(None) };
            let number = unit * fields.number(at, &self.titles[at])?;
            match number > 0.0 && number.is_normal() {
                true => Ok(Some(number)),
                false => Err(format!(
                    "{} is \"{}\", expected a positive {in_words}",
                    self.titles[at],
                    fields.text(at)
                )),
            }
        };
        let density = positive(DENSITY, self.units.density(), "density")?;
        let mass = positive(MASS, self.units.mass, "mass")?;
        Ok(match (density, mass) {
            (_, Some(mass)) => Weight::Mass(mass),
            (Some(density), None) => Weight::Density(density),
            (None, None) => Weight::OfMaterial,
        })
    }

    fn orientation(&self, fields: &impl Fields) -> Result<Option<DQuat>, String> {
        let Some(first) = self.columns[QUATERNION] else { return Ok(None) };
        let number = |i: usize| {
            let at = self.columns[QUATERNION + i].unwrap_or(first);
            fields.number(at, &self.titles[at])
        };
        let turn = DQuat::from_xyzw(number(1)?, number(2)?, number(3)?, number(0)?);
        match (turn.length() - 1.0).abs() < UNIT {
            true => Ok(Some(turn.normalize())),
            false => Err(format!("the quaternion has a length of {:.4}, expected 1", turn.length())),
        }
    }
}

/// Name in a title in small letters, without an SI unit behind it in brackets (`x [m]`, `vx (m/s)`).
///
/// # Errors
/// When a column that is read has another unit.
fn bare(title: &str) -> Result<String, String> {
    let lower = title.to_ascii_lowercase();
    let within = |open: char, close: char| lower.strip_suffix(close).and_then(|rest| rest.split_once(open));
    let Some((name, unit)) = within('[', ']').or_else(|| within('(', ')')) else { return Ok(lower) };
    let (name, unit) = (name.trim(), unit.trim());
    let known = NAMES.iter().position(|(_, names)| names.contains(&name));
    // LAMMPS writes the numbers of components so: `c_stress[1]`.
    let Some(known) = known.filter(|_| unit.parse::<u32>().is_err()) else { return Ok(lower) };
    let units: &[&str] = match known {
        0..=DIAMETER => &["m"],
        VELOCITY..SPIN => &["m/s", "m s-1", "m s^-1"],
        SPIN..DENSITY => &["rad/s", "1/s", "s-1", "rad s-1"],
        DENSITY => &["kg/m3", "kg/m^3", "kg/m³", "kg m-3"],
        MASS => &["kg"],
        TEMPERATURE => &["k"],
        _ => &["-", "1"],
    };
    match units.contains(&unit) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "column `{title}` is in {unit}, expected SI units ({}): convert its numbers",
            units[0]
        )),
    }
}

/// Name of a known column that a title is likely to stand for, if it is misspelt. Short titles, and those that LAMMPS gives to computes,
/// fixes and variables (`c_...`), are too near to too much.
fn misspelt(title: &str) -> Option<&'static str> {
    let title = title.to_ascii_lowercase();
    let known = || NAMES.iter().flat_map(|(_, names)| names.iter().copied()).filter(|name| name.len() > 3);
    let others = ["angmomy", "angmomz"];
    if title.len() < 4 || title.get(1..2) == Some("_") || known().chain(others).any(|name| name == title) {
        return None;
    }
    let limit = if title.len() > 4 { 2 } else { 1 };
    known().find(|name| strsim::damerau_levenshtein(&title, name) <= limit)
}

/// Largest relative difference of a radius and half the diameter beside it \[-\]: files have six digits.
const AGREE: f64 = 1e-4;
/// Largest deviation of the length of a quaternion from 1 \[-\].
const UNIT: f64 = 1e-2;

/// Largest number of a body: that of an integer of LIGGGHTS.
const LARGEST_ID: f64 = i32::MAX as f64;

/// Words in a column, each with a number.
#[derive(Debug, Default)]
pub struct Words(pub Vec<String>);

impl Words {
    /// Number of a word.
    pub fn number(&mut self, word: &str) -> u32 {
        let known = self.0.iter().position(|known| known == word);
        known.unwrap_or_else(|| {
            self.0.push(word.to_owned());
            self.0.len() - 1
        }) as u32
    }
}

/// What was taken of a file, for the user.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// Name of the file and what is in it.
    pub head: String,
    /// Titles of the columns that are read.
    pub taken: Vec<String>,
    /// Titles of those that are not.
    pub left_out: Vec<String>,
    /// What else is to be known; may be empty.
    pub tail: String,
}

impl Note {
    /// Moves a column to those that are not read.
    pub fn leave_out(&mut self, title: &str) {
        let taken = self.taken.len();
        self.taken.retain(|other| other != title);
        if self.taken.len() < taken {
            self.left_out.push(title.to_owned());
        }
    }

    /// Moves temperatures to what is not read.
    pub fn leave_out_temperatures(&mut self) {
        NAMES[TEMPERATURE].1.iter().for_each(|title| self.leave_out(title));
    }

    /// The note in one line.
    pub fn text(&self) -> String {
        let left_out = match self.left_out.as_slice() {
            [] => "nothing is left out".to_owned(),
            all => format!("left out: {}", all.join(", ")),
        };
        format!("{} with {}; {left_out}{}", self.head, self.taken.join(" "), self.tail)
    }
}
