//! What a script has said so far: a scene that commands change in their order, and the runs in between.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};

use super::forms::RegionForm;
use super::grain_kinds::GrainTemplate;
use crate::model::MotionLaw;
use crate::scenario::Units;

/// Scene of a script at one of its commands. All numbers are in SI units.
#[derive(Debug, Clone)]
pub struct ScriptScene {
    /// Units of the numbers that follow.
    pub units: Units,
    /// Whether motion is in the plane of x and y.
    pub is_flat: bool,
    /// Faces of the box: lower and upper, along x, y and z.
    pub faces: [[BoxFace; 2]; 3],
    /// Corners of the box \[m\], once it is made.
    pub bounds: Option<[DVec3; 2]>,
    /// Number of types of atoms, once the box is made.
    pub types: usize,
    /// Regions by name.
    pub regions: BTreeMap<String, RegionForm>,
    /// Contact model of grains.
    pub pair: Option<ContactModel>,
    /// Coefficients of `pair_style granular`, by the two types.
    pub granular: BTreeMap<(usize, usize), GranularLaw>,
    /// All fixes, in the order of the script.
    pub fixes: Vec<ScriptFix>,
    /// Groups by name.
    pub groups: BTreeMap<String, AtomGroup>,
    /// Spacing of a simple cubic lattice \[m\].
    pub lattice: Option<f64>,
    /// Atoms that were made one by one.
    pub atoms: Vec<ScriptAtom>,
    /// Steps between frames of atoms, by the id of their dump; `None`: of meshes.
    pub dumps: BTreeMap<String, Option<u64>>,
    /// Time step \[s\].
    pub time_step: Option<f64>,
    /// Number of steps done, as the script counts them.
    pub steps: u64,
    /// Time since the start of the script \[s\].
    pub time: f64,
}

impl Default for ScriptScene {
    fn default() -> ScriptScene {
        ScriptScene {
            units: Units::SI,
            is_flat: false,
            faces: [[BoxFace::Periodic; 2]; 3],
            bounds: None,
            types: 0,
            regions: BTreeMap::new(),
            pair: None,
            granular: BTreeMap::new(),
            fixes: Vec::new(),
            groups: BTreeMap::from([("all".to_owned(), AtomGroup::All)]),
            lattice: None,
            atoms: Vec::new(),
            dumps: BTreeMap::new(),
            time_step: None,
            steps: 0,
            time: 0.0,
        }
    }
}

/// Face of the box of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoxFace {
    /// What leaves comes in on the other side.
    Periodic,
    /// What leaves is lost.
    Fixed,
    /// The face gives way.
    Open,
}

/// Fix of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptFix {
    /// Its id.
    pub id: String,
    /// File and line.
    pub place: String,
    /// Group of atoms it acts on.
    pub group: String,
    /// Time of the script at which it began \[s\].
    pub since: f64,
    /// What it does.
    pub kind: FixKind,
}

/// What a fix does.
#[derive(Debug, Clone, PartialEq)]
pub enum FixKind {
    /// Property of materials.
    Property(String, PropertyValues),
    /// Gravity \[m/s²\].
    Gravity(DVec3),
    /// Triangles from a file.
    Mesh(ScriptMesh),
    /// Wall that grains touch.
    Wall(ScriptWall),
    /// Motion of a mesh.
    Motion(MeshMotion),
    /// Kind of grain.
    Template(GrainTemplate),
    /// Mixture of kinds of grain.
    Distribution(Vec<(String, f64)>),
    /// Source of grains.
    Insertion(Insertion),
    /// Counter at a mesh.
    MassFlow(MassFlow),
    /// Grains that do not move.
    Freeze,
    /// Integration of motion, or anything else without a part in the scenario.
    Nothing,
}

/// Values of `fix property/global`.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyValues {
    /// One number.
    Scalar(f64),
    /// A number for each type.
    PerType(Vec<f64>),
    /// A number for each pair of types, row by row.
    PerPair(usize, Vec<f64>),
}

/// Contact model of grains or of a wall.
#[derive(Debug, Clone, PartialEq)]
pub enum ContactModel {
    /// Of LIGGGHTS, with coefficients of materials.
    OfMaterials {
        /// Whether the normal force is that of Hertz; otherwise it is linear.
        is_hertz: bool,
        /// Whether there is friction.
        has_friction: bool,
        /// Whether there is rolling resistance.
        has_rolling: bool,
    },
    /// Of LAMMPS, with coefficients of its own, the same for all types.
    Coefficients(GranularLaw),
    /// `pair_style granular`, whose coefficients are those of `pair_coeff`.
    PerPair,
}

/// Coefficients of a contact law of LAMMPS.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GranularLaw {
    /// Normal force.
    pub stiffness: ContactStiffness,
    /// Loss in the normal direction.
    pub loss: NormalLoss,
    /// Coefficient of friction \[-\].
    pub friction: f64,
    /// Coefficient of rolling resistance, over R* \[-\].
    pub rolling: f64,
    /// Work of adhesion W of a pull-off force 3/2 π R* W \[J/m²\].
    pub adhesion: f64,
}

/// Normal stiffness of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ContactStiffness {
    /// Young's modulus \[Pa\] and Poisson's ratio of both bodies.
    Material(f64, f64),
    /// Force over √(R* δ) δ \[Pa\]: 4/3 E*.
    Hertz(f64),
    /// Force over δ \[N/m\].
    Hooke(f64),
}

/// Loss of a bounce.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NormalLoss {
    /// Coefficient of restitution at any speed \[-\].
    Restitution(f64),
    /// Damper of force γ m* v \[1/s\].
    PerMass(f64),
    /// Damper of force γ a m* v, with a = √(R* δ) \[1/(m s)\].
    PerMassAndRadius(f64),
    /// Damper of force γ v \[kg/s\].
    Plain(f64),
}

/// Mesh of a script: x ↦ scale · (turn x) + shift, of the corners in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptMesh {
    /// File as the script names it.
    pub file: String,
    /// Type of atom whose material it has, from 1.
    pub material: usize,
    /// Factor on lengths \[m\].
    pub scale: f64,
    /// Rotation.
    pub turn: DQuat,
    /// Shift \[m\].
    pub shift: DVec3,
    /// Velocity of its surface \[m/s\].
    pub belt: Option<DVec3>,
    /// Axis through a point \[m\], and rate \[rad/s\], of a surface that turns in itself.
    pub spin: Option<(DVec3, DVec3)>,
    /// Controller of its force.
    pub servo: Option<MeshServo>,
}

/// Controller of `mesh/surface/stress/servo` that pushes along an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshServo {
    /// Direction of the push.
    pub axis: DVec3,
    /// Force \[N\].
    pub force: f64,
    /// Largest speed \[m/s\].
    pub top_speed: f64,
}

/// Wall of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptWall {
    /// Type of atom whose material it has, from 1; of meshes and of LAMMPS none.
    pub material: Option<usize>,
    /// Contact model.
    pub model: ContactModel,
    /// Surfaces.
    pub forms: Vec<WallForm>,
}

/// Surface of a wall.
#[derive(Debug, Clone, PartialEq)]
pub enum WallForm {
    /// Plane across an axis.
    Plane {
        /// Axis, 0 to 2.
        axis: usize,
        /// Its coordinate \[m\].
        at: f64,
        /// Whether grains are above it; `None`: on both sides.
        grains_above: Option<bool>,
        /// Velocity of its surface \[m/s\].
        belt: Option<DVec3>,
        /// Amplitude \[m\] and period \[s\] of an oscillation.
        wiggle: Option<(DVec3, f64)>,
    },
    /// Cylinder along an axis, around the grains.
    Cylinder {
        /// Axis, 0 to 2.
        axis: usize,
        /// Centre on the other two axes \[m\].
        centre: [f64; 2],
        /// Radius \[m\].
        radius: f64,
        /// Rate of its rotation \[rad/s\].
        rate: f64,
    },
    /// Surface of a region.
    Region(String, RegionForm),
    /// A mesh, by its id.
    Mesh(String),
}

/// Motion of a mesh from the time of its fix on.
#[derive(Debug, Clone, PartialEq)]
pub struct MeshMotion {
    /// Id of the mesh.
    pub mesh: String,
    /// Laws over the time since the fix, which add up.
    pub laws: Vec<MotionLaw>,
}

/// Source of grains.
#[derive(Debug, Clone, PartialEq)]
pub struct Insertion {
    /// Kinds of grain with their shares by number, which sum to 1.
    pub kinds: Vec<(GrainTemplate, f64)>,
    /// Where grains appear.
    pub room: InsertionRoom,
    /// How many.
    pub amount: InsertionAmount,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Deviation of the velocity along each axis \[m/s\].
    pub random_velocity: f64,
    /// When.
    pub pace: InsertionPace,
}

/// Where grains appear.
#[derive(Debug, Clone, PartialEq)]
pub enum InsertionRoom {
    /// Region.
    Region(RegionForm),
    /// Behind a face of triangles, and how far \[m\].
    Face {
        /// Id of the mesh.
        mesh: String,
        /// Mesh as it stood.
        face: Box<ScriptMesh>,
        /// Length against the stream, if it is told \[m\].
        length: Option<f64>,
    },
}

/// Number of grains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InsertionAmount {
    /// Number.
    Count(u64),
    /// Mass \[kg\].
    Mass(f64),
    /// Solid fraction of the region.
    Fraction(f64),
    /// No end.
    Endless,
}

/// Times at which grains appear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InsertionPace {
    /// All at once.
    Once,
    /// As many as are missing, again and again: interval \[s\].
    Refill(f64),
    /// Grains per second, and the interval if it is told \[s\].
    Rate(f64, Option<f64>),
    /// Kilograms per second, and the interval if it is told \[s\].
    MassRate(f64, Option<f64>),
    /// As LAMMPS' `pour`: a layer of this solid fraction whenever the last one has fallen out of the region.
    Pour(f64),
}

/// Counter of what passes a mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct MassFlow {
    /// Mesh as it stands.
    pub mesh: ScriptMesh,
    /// Id of the mesh.
    pub id: String,
    /// Direction of the flow.
    pub direction: DVec3,
    /// Whether grains are taken away.
    pub removes: bool,
}

/// Group of atoms.
#[derive(Debug, Clone, PartialEq)]
pub enum AtomGroup {
    /// All atoms.
    All,
    /// Those of some types.
    Types(Vec<usize>),
    /// Those with some ids.
    Ids(Vec<usize>),
    /// Those in a region when the group was made.
    Region(RegionForm),
    /// A style that is not taken.
    Other(String),
}

/// Atom of `create_atoms`.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptAtom {
    /// Type, from 1.
    pub material: usize,
    /// Centre \[m\].
    pub position: DVec3,
    /// Diameter \[m\].
    pub diameter: f64,
    /// Density \[kg/m³\].
    pub density: f64,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub spin: DVec3,
    /// Time of the script at which it was made \[s\].
    pub since: f64,
}

/// A run of a script: the scene during it.
#[derive(Debug, Clone)]
pub struct ScriptRun {
    /// File and line.
    pub place: String,
    /// Scene as it was when the run began.
    pub scene: ScriptScene,
    /// Time at its begin \[s\].
    pub start: f64,
    /// Time at its end \[s\].
    pub end: f64,
    /// Why it does not go on from the scene of the run before it in the same file, if a command said so.
    pub breaks: Option<String>,
}

impl ScriptScene {
    /// Fix of this id.
    pub fn fix(&self, id: &str) -> Option<&ScriptFix> {
        self.fixes.iter().find(|fix| fix.id == id)
    }

    /// Ids of all fixes of a kind.
    pub fn ids<'a>(
        &'a self,
        is_one: impl Fn(&FixKind) -> bool + Clone + 'a,
    ) -> impl Iterator<Item = &'a str> + Clone {
        self.fixes.iter().filter(move |fix| is_one(&fix.kind)).map(|fix| fix.id.as_str())
    }

    /// Mesh of this id.
    pub fn mesh(&self, id: &str) -> Option<&ScriptMesh> {
        match &self.fix(id)?.kind {
            FixKind::Mesh(mesh) => Some(mesh),
            _ => None,
        }
    }

    /// Values of a property.
    pub fn property(&self, name: &str) -> Option<&PropertyValues> {
        self.fixes.iter().find_map(|fix| match &fix.kind {
            FixKind::Property(known, values) if known == name => Some(values),
            _ => None,
        })
    }

    /// Gravity \[m/s²\].
    pub fn gravity(&self) -> DVec3 {
        let all = self.fixes.iter().filter_map(|fix| match fix.kind {
            FixKind::Gravity(gravity) => Some(gravity),
            _ => None,
        });
        all.sum()
    }

    /// Region cut to the box; `None` without a box.
    pub fn within_box(&self, form: &RegionForm) -> RegionForm {
        let Some([low, high]) = self.bounds else { return form.clone() };
        match form.clone() {
            RegionForm::Block { min, max } => {
                RegionForm::Block { min: finite_or(min, low), max: finite_or(max, high) }
            }
            RegionForm::Cylinder { axis, centre, radii, ends } => {
                let end = |end: f64, face: f64| if end.is_finite() { end } else { face };
                let ends = [end(ends[0], low[axis]), end(ends[1], high[axis])];
                RegionForm::Cylinder { axis, centre, radii, ends }
            }
            other => other,
        }
    }

    /// Whether an atom is in a group.
    pub fn is_in(&self, group: &str, index: usize) -> bool {
        let Some(atom) = self.atoms.get(index) else { return false };
        match self.groups.get(group) {
            Some(AtomGroup::All) => true,
            Some(AtomGroup::Types(types)) => types.contains(&atom.material),
            Some(AtomGroup::Ids(ids)) => ids.contains(&(index + 1)),
            Some(AtomGroup::Region(form)) => form.contains(atom.position),
            Some(AtomGroup::Other(_)) | None => false,
        }
    }
}

fn finite_or(vector: DVec3, other: DVec3) -> DVec3 {
    DVec3::select(vector.is_finite_mask(), vector, other)
}
