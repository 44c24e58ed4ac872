//! A scenario file: what a user writes, read into a [`World`], [`Settings`] and a plan of outputs.
//!
//! The file is TOML in SI units; angles end in `_deg`. Tables with a `kind` are choices. Unknown keys are
//! refused. All mistakes are found in one reading, each with its place ([`Problems`]).
//!
#![doc = "```toml"]
#![doc = include_str!("scenario/reference.toml")]
#![doc = "```"]
//!
//! In `[observe]`, grains are numbered from 0 in the order of the file, then in that of the emitters' waves. The forces
//! of a contact are 0 where there is none; those of a boundary with several surfaces are summed. All quantities, with unit and
//! meaning, are in the table [`crate::observe::quantity::table`].
//!
//! Shapes: `plane` (point, normal), `box` (min, max, side, open), `cylinder` (base, axis, length, radius, side,
//! caps), `cone` (base, axis, length, base_radius, top_radius, side, caps), `sphere` (centre, radius, side), `spheres` (from, to, count, radius: a row of them), `mesh` (file,
//! scale, position, turned). `side` is
//! where the grains are: "inside" (default) or "outside"; around a sphere they are always outside. A box seen from inside is up to six half spaces, so
//! the walls next to a face that is `open` (such as `["+z"]`) go on beyond it. One seen from outside may be turned
//! about its centre: `turned = { axis = [0, 1, 0], angle_deg = 30 }`. Caps close the ends; from
//! outside they are the default and make the body solid, from inside they are not.
//!
//! A mesh is a file of triangles, STL (binary or text) or OBJ, with lengths times `scale` in metres. It is turned about the origin of the file,
//! `turned = { axis = [0, 1, 0], angle_deg = 30 }`, and then moved by `position` \[m\]. Grains touch it from both sides, as a sheet: a
//! closed mesh may be a container as well as a solid. Triangles may be as large or as small as they are: where neighbours differ by less than
//! 5° a grain has one contact with all of them, which it keeps while it rolls from one to the next. A mesh that turns needs the `axis` and, unless it
//! is the middle of the box around it, the `point` of its motion. `esker check` counts its triangles and tells what is wrong with it as a solid.
//! At most 10⁷ triangles and 512 MiB.
//!
//! Motions: `fixed`, `velocity` (velocity), `rotation` (point, axis, rate, start), `oscillation` (amplitude, frequency,
//! phase_deg), `table` (times, displacements), `dynamic` (velocity, angular_velocity, locked_axes, density; mass, inertia, centre_of_mass), `slider` (mass, axis,
//! drive, area).
//!
//! A boundary with a `surface_velocity` \[m/s\] is a belt: it stands still while its surface moves in itself and takes grains along; its
//! work counts in `boundary_work`. Planes move along themselves, cylinders without caps along their axis, meshes along a direction that all
//! their triangles share, such as the troughed belt that a profile makes when it is drawn out. Rollers and drums have a `motion`.
//!
//! A boundary may have several shapes, `shapes = [{ ... }, { ... }]`, each in its place. A `capsule` (`from`, `to`, `radius`) is a cylinder with a
//! half ball around each end.
//!
//! A dynamic boundary moves as gravity, contacts and joints make it: solids, which are boxes, cylinders and cones seen from outside, spheres, capsules, and
//! closed meshes whose triangles face outwards, with at most 10 000 vertices. It is homogeneous,
//! of the density of its material unless told otherwise; what several shapes share counts twice. A `mass` \[kg\] scales that;
//! with `mass`, `inertia` (three moments about x, y and z \[kg m²\]) and `centre_of_mass` \[m\] nothing is taken from the shapes, and
//! there need be none. Grains touch its faces, edges and vertices. Other
//! boundaries are touched by its vertices: the eight of a box, all of a mesh, 16 points on each rim of a cylinder or cone, the ball of a
//! sphere, the two of a capsule. So a box stands and slides
//! on planes and on the faces of boxes that are larger; edge against edge two boxes pass through each other. In the
//! laws of contact half the smallest edge (of a mesh: of the box around it) stands for the radius of a vertex. `locked_axes` at the top of
//! the file is for grains alone. Which shapes touch which:
//!
//! | | grain | plane, box or cylinder seen from inside, cone | box or cylinder seen from outside, sphere, capsule | mesh |
//! |---|---|---|---|---|
//! | grain | yes | yes | yes | yes, from both sides |
//! | dynamic box, cylinder, cone | yes | its vertices | its vertices; where both are dynamic, those of both | its vertices, and those of a dynamic mesh |
//! | dynamic sphere | yes | yes | yes | yes |
//! | dynamic capsule | yes | its two balls | its two balls; where both are dynamic, the vertices of both | its two balls |
//! | dynamic mesh | yes | its vertices | its vertices; where both are dynamic, those of both | its vertices; where both are dynamic, those of both |
//!
//! Boundaries that are not dynamic, and sliders, pass through each other.
//!
//! A slider moves along `axis` (default: the normal of its plane), which is x, y or z, and never turns: a plane, a box
//! seen from outside, or a sphere, of `mass` \[kg\]. Contacts push it, gravity has its part along the axis, and so has its
//! `drive`, positive along `axis`: a `force` \[N\], a `pressure` \[Pa\] on its `area`, or a motor that holds a `velocity`
//! \[m/s\] with at most a `force_limit` \[N\] (default: none). Each of the first three is a number, or a table `{ times = [...],
//! values = [...] }`, linear in between. In a list of drives each takes over at its `start` \[s\]. `area` is a number \[m²\], or
//! the one between two pairs of walls as they stand, `{ between = [["left", "right"], ["front", "back"]] }`. Sliders pass through
//! other boundaries, but for the vertices of boxes. What a drive gives, positive along `axis`, is `drive_force:NAME`, what the grains
//! press with `force_z:NAME` and so on.
//!
//! Joints, `[[joints]]`, hold dynamic boundaries to each other, to boundaries that are fixed or move as prescribed, or to the `"ground"`:
//! the two `bodies`, by name. Positions, speeds and forces count as those of the second against the first.
//!
//! | Kind | Holds | Where | Position |
//! |---|---|---|---|
//! | `hinge` | all but turns about its `axis` | `point` | angle, 0 at the start |
//! | `slider` | all but shifts along its `axis` | `point` | shift, 0 at the start |
//! | `ball` | a place | `point` | |
//! | `lock` | everything | `point` | |
//! | `distance` | the distance of two places, as a rod | `points`, one on each body | |
//! | `actuator` | nothing: a cylinder along the line between two places | `points`, one on each body | their distance |
//!
//! Places \[m\] are those at the start. A joint with a position may have a `drive` and a `range` (of a hinge `range_deg`): a lower and a higher
//! end. Drives of sliders and actuators are those above, or a servo that follows a `position` \[m\] with at most a `force_limit` \[N\]; what it is
//! off by goes away within its `response_time` (0.05 s). Drives of hinges are a `torque` \[N m\], a `velocity` \[rad/s\] or a
//! `position_deg`, the last two with a `torque_limit` \[N m\]. A joint gives way with its `compliance` \[m/N\] and `angular_compliance`
//! \[rad/(N m)\] (both 0), and comes back within its `damping_time` (two substeps). Bodies that hang together by joints do not touch each other.
//! Results are `joint_position:NAME`, `joint_speed`, `drive_force`, `drive_power`, `limit_force`, `joint_force_x` and so on
//! ([`quantity::table`](crate::observe::quantity::table)).
//!
//! ```toml
//! [[joints]]
//! name = "elbow"
//! kind = "hinge"
//! bodies = ["upper", "lower"]
//! point = [0.0, 0.0, 1.0]
//! axis = [0, 1, 0]
//! range_deg = [-30, 90]
//! drive = { position_deg = { times = [0, 2], values = [0, 45] }, torque_limit = 200.0 }
//! ```
//!
//! At the start no grain may have its centre behind a plane or in a solid box, cylinder or sphere, whatever `allow_overlap` says;
//! thin walls, such as a hopper's, may have grains on both sides. Any density and modulus will do whose masses, moments of
//! inertia and compliances are numbers in double precision, and in single precision on a GPU (`esker check` says so). A scenario
//! has at most 1000 materials and 64 MiB, a table of grains 8 GiB.
//!
//! Radii: `constant` (value), `uniform` (min, max), `normal` and `log_normal` (mean, deviation, min, max; cut off
//! at three deviations by default, `normal` also below a tenth of the mean), `mixture` (radii, shares by number).
//!
//! Packings: `column` (count, base, axis), `lattice` (structure "cubic" or "hcp", spacing, jitter, count, and
//! one of: `corner` and `counts`; `min` and `max`; `within`, a region), `random` (region, and `count` or `fill`, the solid
//! fraction), `pyramid` (base, rows, lift), `list` (positions; radii, velocities, angular_velocities, each one per
//! position), `csv` (file with columns x, y, z and, if wanted, radius, vx, vy, vz, wx, wy, wz), `frame` (file, the
//! `grains_000012.vtp` of a run of spheres of one material), `dump` (file, a text dump of LAMMPS or LIGGGHTS in SI units with columns x y z, xu yu zu or
//! xs ys zs, and, if wanted, radius or diameter, vx vy vz, omegax omegay omegaz; `timestep`, by default its last; `type`, by default all). A lattice is filled from below. `corner`
//! is the centre of its first grain; `counts = [nx, ny]` goes as high as `count` takes. In a box or region only
//! sites whose grain lies inside are used, whatever its jitter.
//!
//! `[start]` takes the grains that are there at the checkpoint of another scenario, numbered anew from 0 in their order. Their materials
//! and clumps are found here by name. Contacts go on from the impulses they had, as forces: times the ratio of the substeps. Where
//! the law of the pair is another here, or the boundary of that name has no such surface in that place, they start from nothing. Locked
//! axes stay locked. Time starts at 0; how boundaries
//! stand and move is up to the new file.
//!
//! Regions: `box` (min, max), `cylinder` (base, axis, length, radius), `sphere` (centre, radius).
//!
//! A sink counts what it removes: `removed:NAME` \[-\] and `removed_mass:NAME` \[kg\] since the start, `mass_flow:NAME`
//! \[kg/s\] averaged since the output before. With `bins` it sorts them by radius: `size_grains:NAME:0` and `size_mass:NAME:0` are of the grains
//! below the first bound, `size_mass:NAME:1` of those from it to the next, and so on to those from the last bound on. With a
//! `profile` it sorts them by the place at which they were taken: `profile_grains:NAME:0` and `profile_mass:NAME:0` are of what is before `from`, then come
//! the `bins` parts, and last what is from `until` on; `profile_variation:NAME` is the coefficient of variation of their masses (standard deviation over mean) \[-\]. A region that is observed has `count:NAME` \[-\], `mass:NAME` \[kg\] and
//! `centre_x:NAME`, `centre_y:NAME`, `centre_z:NAME` \[m\].
//!
//! Grains that get lost are counted as `grains_lost`, and a run ends with a word of how many there are and where they got out. With a
//! `[domain]` they are those that left it: `"remove"` takes them out like a sink, `"stop"` ends the run as failed when the first
//! one is outside at the end of a substep, `"keep"` lets them fly on. Without one they are the grains below all that is finite
//! (boundaries, sinks, grains that cannot fall) with no plane under them; they fall on, and as a fast grain makes
//! every step search for contacts, a leak costs time. Speed alone never ends a run.
//!
//! `[convergence]` writes `convergence.csv` and `residual_histogram.csv` (see [`crate::engine::convergence`]): at each of
//! its times the contact problem of the coming substep is taken from the state, with contacts searched for afresh, and
//! solved in double precision whichever engine runs, once to the reference and once sweep by sweep. That takes the
//! memory of a second CPU engine, and for every start the sweeps of the reference and as many again as are looked at or as a
//! step has, whichever are more.
//!
//! Periodic axes: what leaves the cell on one side comes in on the other, and grains meet across the faces
//! (see [`Periodic`](crate::model::Periodic)). A period is at least three times the diameter of the largest grain
//! with its margin, 3 · 2 r · (1 + skin), that of emitters included. Grains placed outside are wrapped
//! in. Where a box, or a cylinder along its axis, spans a period, random packings and emitters fill it up to
//! the faces and keep their distance across them; every other packing stays where it is put, and overlaps across
//! a face are mistakes like others: a cubic lattice in such a box leaves at least a diameter across the faces.
//! Boundaries are repeated with the cell and stay where they are; a grain meets the nearest image of each, so none
//! should be longer than the period, and one that is dynamic must not be. A plane across a periodic axis, and so a wall of a box, is refused. Gravity
//! may point along a periodic axis, as it does for flow down a slope. Sinks and observed regions act through their nearest
//! image too. Positions in results are wrapped into the cell: `change` and `rate` of a position jump when the body crosses a
//! face, and so does `potential_energy` where gravity has a part along a periodic axis.

#[cfg(feature = "scenario")]
mod file;
pub mod pace;
mod plans;

#[cfg(feature = "scenario")]
pub use self::file::check_step_count;
#[cfg(feature = "scenario")]
pub use self::file::schema::schema;
#[cfg(feature = "scenario")]
pub use self::file::{Change, MAY_CHANGE, Problem, Problems, Source, changes, expect, study, suite};
pub use self::plans::{CheckpointPlan, ConvergencePlan, Inputs, OutputPlan};
use crate::contact::{Impulse, Key};
use crate::engine::compatible::CompatiblePlan;
use crate::model::World;
use crate::observe::{
    CellPlan, DrumPlan, Expectation, FabricPlan, LayerPlan, RegionPlan, SurfacePlan, Tracked,
};
use crate::output::Formats;
use crate::settings::Settings;
use crate::sources::Emitter;

/// Longest time that anything may take \[s\].
pub(crate) const LONGEST_TIME: f64 = 1e9;

/// Grains of emitters that room is made for where sinks take grains out.
const FIRST_TO_COME: usize = 4096;

/// A scenario, read and checked.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Name of the file without its extension; results go to `out/<name>/`.
    pub name: String,
    /// Title line.
    pub title: String,
    /// Simulated time \[s\].
    pub duration: f64,
    /// Solver settings.
    pub settings: Settings,
    /// The initial state.
    pub world: World,
    /// What friction and rolling resistance of all pairs are times their own \[-\], and from when on \[s\], ascending.
    pub friction_factors: Vec<(f64, f64)>,
    /// Impulses that the first step starts from, of the checkpoint that the scene starts from, by ascending key.
    pub seeds: Vec<(Key, Impulse)>,
    /// Sources of grains during the run.
    pub emitters: Vec<Emitter>,
    /// What to write, and how often.
    pub output: OutputPlan,
    /// When to save checkpoints.
    pub checkpoint: CheckpointPlan,
    /// A rotating drum to be observed, if any.
    pub drum: Option<DrumPlan>,
    /// Walls around the grains whose stresses and strains are observed, if any.
    pub cell: Option<CellPlan>,
    /// The surface that is observed.
    pub surface: Option<SurfacePlan>,
    /// The fabric that is observed.
    pub fabric: Option<FabricPlan>,
    /// The layers that are observed.
    pub layers: Option<LayerPlan>,
    /// Regions whose grains are counted.
    pub regions: Vec<RegionPlan>,
    /// Bodies and contacts to be observed one by one.
    pub tracked: Tracked,
    /// Numbers the run must come to.
    pub expectations: Vec<Expectation>,
    /// Where to look at how the sweeps converge.
    pub convergence: Option<ConvergencePlan>,
    /// Compatible forces that are wanted beside those of the solver.
    pub compatible: Option<CompatiblePlan>,
    /// Files that it was read from: its own, tables of grains, curves.
    pub inputs: Inputs,
    /// The file with all `--set` overrides applied and defaults filled in, as TOML.
    pub resolved: String,
}

impl Scenario {
    /// A world that was built in code, with nothing that happens to it from outside and no outputs.
    pub fn of_world(world: World, settings: Settings) -> Scenario {
        Scenario {
            name: "world".to_owned(),
            title: "a world".to_owned(),
            duration: LONGEST_TIME,
            settings,
            world,
            friction_factors: Vec::new(),
            seeds: Vec::new(),
            emitters: Vec::new(),
            output: OutputPlan { every: LONGEST_TIME, formats: Formats::NONE, pictures: None },
            checkpoint: CheckpointPlan::default(),
            drum: None,
            cell: None,
            surface: None,
            fabric: None,
            layers: None,
            regions: Vec::new(),
            tracked: Tracked::default(),
            expectations: Vec::new(),
            convergence: None,
            compatible: None,
            inputs: Inputs::default(),
            resolved: String::new(),
        }
    }

    /// Grains there will be at most: those of the initial state and those to be emitted.
    pub fn max_grains(&self) -> usize {
        self.world.grain_count() + self.emitters.iter().map(|emitter| emitter.total() as usize).sum::<usize>()
    }

    /// Grains to make room for before a run: all that there will be. Where sinks take grains out, nobody knows how many there are at a
    /// time: then those of the initial state and the first of those to come, and room grows as it must.
    pub fn planned_grains(&self) -> usize {
        match self.world.has_drains() {
            true => self.max_grains().min(self.world.grain_count() + FIRST_TO_COME),
            false => self.max_grains(),
        }
    }

    /// Largest radius of a grain, now or later \[m\]; 0 without grains.
    pub fn largest_radius(&self) -> f64 {
        self.emitters.iter().map(Emitter::largest_radius).fold(self.world.largest_radius(), f64::max)
    }
}
