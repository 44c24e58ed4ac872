//! Scenario file: a user's TOML file, read into a [`World`], [`Settings`] and a plan of outputs.
//!
//! All values are in SI units; angles end in `_deg`. Tables with a `kind` are choices. Unknown keys are refused. One reading finds all
//! mistakes, each with its place in the file ([`Problems`]).
//!
#![doc = "```toml"]
#![doc = include_str!("scenario/reference.toml")]
#![doc = "```"]
//!
//! In `[observe]`, grains are numbered from 0 in the order of the file, followed by the grains of the emitters in the order of their waves.
//! The forces of a contact are 0 where there is no contact; the forces of a boundary with several surfaces are summed. The table
//! [`crate::observe::quantity::table`] lists all quantities with unit and meaning.
//!
//! Shapes: `plane` (point, normal), `box` (min, max, side, open), `cylinder` (base, axis, length, radius, side, caps), `cone` (base, axis,
//! length, base_radius, top_radius, side, caps), `sphere` (centre, radius, side), `spheres` (from, to, count, radius: a row of spheres),
//! `mesh` (file, scale, position, turned, sheet). `side` says where the grains are: "inside" (default) or "outside"; grains are always
//! outside of a sphere. A box seen from inside is up to six half spaces, so the walls next to a face that is `open` (such as `["+z"]`)
//! extend beyond that face. A box seen from outside may be turned about its centre: `turned = { axis = [0, 1, 0], angle_deg = 30 }`. Caps
//! close the ends of cylinders and cones; seen from outside they are the default and make the body solid, seen from inside they are not the
//! default.
//!
//! A mesh is a file of triangles, STL (binary or text) or OBJ, with lengths times `scale` in metres. The mesh is turned about the origin of
//! the file, `turned = { axis = [0, 1, 0], angle_deg = 30 }`, and then moved by `position` \[m\]. A closed mesh is a solid that
//! pushes outwards, whichever way its triangles face. An open mesh is a sheet that grains touch from both sides, and so is a closed one
//! with `sheet = true`: a vessel that is drawn as one closed surface. Triangles may have any size: where neighbouring triangles differ by
//! less than 5° a grain has one contact with all of them, and keeps it while it rolls from one to the next. The motion of a mesh that turns
//! needs an `axis` and a `point`; the default of `point` is the middle of the box around the mesh. `esker check` counts the triangles and
//! reports what keeps the mesh from being a solid. Normals, colours, lines and points of the file are not used. Faces of an OBJ file with
//! more than three corners are cut into triangles; concave ones must be plane. A mesh has at most 10⁷ triangles and 512 MiB.
//!
//! Motions: `fixed`, `velocity` (velocity), `rotation` (point, axis, rate), `oscillation` (amplitude, frequency or period, phase_deg),
//! `rocking` (point, axis, amplitude_deg, frequency or period, phase_deg), `table` (times, displacements, rotations, point; or file),
//! `dynamic` (velocity, angular_velocity, locked_axes, density; mass, inertia, products_of_inertia, centre_of_mass), `slider` (mass, axis,
//! drive, area). All but the last two and `fixed` have `start`, `stop` and (but for tables) `ramp`, and may be in a list:
//! `motion = [{ ... }, { ... }]`, of which each moves in the frame that those before it move
//! ([`guide::scenario_file`](crate::guide::scenario_file)).
//!
//! A boundary with a `surface_velocity` \[m/s\] is a belt: the boundary stands still while its surface moves in itself and takes grains
//! along; the work of the belt counts in `boundary_work`. Planes move along themselves, cylinders without caps along their axis, meshes
//! along a direction that all their triangles share, such as a troughed belt made by extruding a profile. Rollers and drums have a
//! `motion`.
//!
//! A boundary with `felt_by = ["coarse"]` is touched by grains and bodies of these materials alone, and others pass through it: a membrane,
//! or a sieve whose openings are too small to be drawn. Packings and emitters place no grain in it, whatever its material.
//!
//! A boundary may have several shapes, `shapes = [{ ... }, { ... }]`, each with a place of its own. A `capsule` (`from`, `to`, `radius`) is
//! a cylinder with a half ball around each end.
//!
//! A flush joint is no edge: where shapes, boundaries or meshes that do not move against each other meet flush, within a thousandth of the
//! radius of a grain, the grain has one contact with all of them, and rolls from one to the next as over one surface. A point on an edge
//! counts only if it does not lie in a face that the grain touches.
//!
//! A dynamic boundary moves as gravity, contacts and joints make it. Its shapes are solids: boxes, cylinders and cones seen from outside,
//! spheres, capsules, and closed meshes, with at most 10 000 vertices. A dynamic boundary is homogeneous, with the density of its material
//! unless `density` is given; the part that several shapes share counts twice. A `mass` \[kg\] scales mass and inertia; with `mass`,
//! `inertia` (three moments about x, y and z \[kg m²\], beside them `products_of_inertia`, the elements xy, xz and yz of the tensor, such
//! as -∫ x y dm, in the order of URDF and MuJoCo) and `centre_of_mass` \[m\] nothing is taken from the shapes, and the boundary may have no
//! shapes. Grains and dynamic boundaries touch each other, and everything else, with faces, edges and vertices of both. A box,
//! cylinder, cone, capsule or closed convex mesh (of at most 512 vertices) is a convex solid, whose rims are circles. Other meshes are met
//! triangle by triangle, cylinders and cones seen from inside and discs as polygons of 128 sides whose faces are corrected to the curve.
//! The contact laws take half the smallest edge of a dynamic boundary (of a mesh: of the box around it) as its radius. Where convex solids
//! that are not dynamic stand flush, what slides over the joint does not feel it. `locked_axes` at the top of the file is for grains alone.
//!
//! Boundaries that are not dynamic pass through each other, and so do sliders.
//!
//! A slider moves along `axis` (default: the normal of its plane), which is x, y or z, and never turns. Its shape is a plane, a box seen
//! from outside, or a sphere, with a `mass` \[kg\]. The forces on it are those of contacts, the part of gravity along the axis, and its
//! `drive`, positive along `axis`: a `force` \[N\], a `pressure` \[Pa\] on its `area`, or a motor that holds a `velocity` \[m/s\] with at
//! most a `force_limit` \[N\] (default: no limit). `force`, `pressure` and `velocity` are each a number, or a table `{ times = [...],
//! values = [...] }`, linear in between. In a list of drives each takes over at its `start` \[s\]. `area` is a number \[m²\], or the
//! current area between two pairs of walls, `{ between = [["left", "right"], ["front", "back"]] }`. Sliders pass through other boundaries,
//! except for the vertices of boxes. The force of the drive, positive along `axis`, is `drive_force:NAME`; the force of the grains on the
//! slider is `force_z:NAME` and so on.
//!
//! Joints, `[[joints]]`, connect dynamic boundaries to each other, to boundaries that are fixed or move as prescribed, or to the
//! `"ground"`. `bodies` names the two bodies. Positions, speeds and forces of a joint are those of the second body relative to the first.
//!
//! | Kind | Holds | Where | Position |
//! |---|---|---|---|
//! | `hinge` | all but rotation about its `axis` | `point` | angle, 0 at the start |
//! | `slider` | all but translation along its `axis` | `point` | displacement, 0 at the start |
//! | `cylindrical` | all but translation along its `axis` and rotation about it | `point` | displacement, 0 at the start |
//! | `universal` | a point, and two `axes` perpendicular to each other, the first on the first body, the second on the second | `point` | |
//! | `ball` | a point | `point` | |
//! | `lock` | everything | `point` | |
//! | `distance` | the distance of two points, as a rod | `points`, one on each body | |
//! | `actuator` | nothing: a cylinder along the line between two places | `points`, one on each body | their distance |
//!
//! Points \[m\] are given as they are at the start. A hinge, slider or cylindrical joint may start at another position than 0: at its
//! `initial_position` \[m\], of a hinge `initial_position_deg`. A joint with a position may have a `drive` and a `range` (of a hinge
//! `range_deg`): a lower and an upper limit, at whose ends it stops, or rebounds with a `restitution` (0 by default, to 1). Drives of
//! sliders, cylindrical joints and actuators are the drives above, or a servo that follows a `position` \[m\] with at most a
//! `force_limit` \[N\]; the servo removes its position error within its `response_time` (0.05 s). Drives of hinges are a `torque`
//! \[N m\], a `velocity` \[rad/s\] or a `position_deg`, the last two with a `torque_limit` \[N m\]. `compliance` \[m/N\] and
//! `angular_compliance` \[rad/(N m)\] (both 0) let a joint give way; its error decays within its `damping_time` (two substeps). Bodies
//! that are connected by joints do not touch each other. Results are
//! `joint_position:NAME`, `joint_speed`, `drive_force`, `drive_power`, `limit_force`, `joint_force_x` and so on
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
//! At the start no grain may have its centre behind a plane, in a solid box, cylinder, capsule or sphere, or in a closed mesh that is no
//! sheet, whatever `allow_overlap` says; thin walls, such as those of a hopper, and sheets may have grains on both
//! sides. No dynamic boundary may overlap the solids of other boundaries.
//!
//! Random packings and emitters place grains where they overlap neither grains nor boundaries, at their present places, and are inside
//! no solid. A closed mesh with `sheet = true` is an obstacle or a vessel, by the side on which most of the region is. If walls
//! surround the centre of the region, they bound it: a box region as wide as a round bin is filled inside the bin alone. More exactly,
//! where walls stand on both sides of the centre along some of eight horizontal lines, a place needs walls on both sides along one of
//! these lines, too. An emitter without room for a grain tries again in its next wave; waves are `every` seconds apart, and the last
//! ones are at `stop` and at the end of the run. Grains that found no room are told at the end.
//!
//! Density and modulus may have any values for which masses, moments of inertia and compliances are numbers in double precision, and in
//! single precision on a GPU (`esker check` tells). A scenario has at most 1000 materials and 64 MiB, a table of grains 8 GiB.
//!
//! Sizes of grains are given as `radius` or as `diameter`, and all lengths of a distribution are that: `constant` (value), `uniform` (min,
//! max), `normal` and `log_normal` (mean, deviation, min, max; cut off at three deviations by default, `normal` also below a tenth of the
//! mean), `weibull` (scale, shape, min, max), `rosin_rammler` (size, exponent, min, max), `sieve` (sizes, passing, between, min, max),
//! `mixture` (radii or diameters, shares). `by` says whether fractions are those of the `"mass"` of the grains or of their `"number"`: by
//! default the mass for a sieve curve and for Rosin and Rammler, and the number for all others. Weibull's law, and that of Rosin and
//! Rammler, is F(d) = 1 − exp(−(d/d')ⁿ) with the scale or size d' and the shape or exponent n; by default `max` is the size above which
//! there is a thousandth. A sieve curve is linear between its sizes, or with `between = "logarithmic"` linear in their logarithm. Bounds
//! cut a law off: what is left of it is all of the grains.
//!
//! The numbers of grains of a mixture, and of narrow classes of a law by mass, a Weibull law or a sieve curve (at most 1/64 of the grains,
//! and 5 % in size) are dealt out, so a few thousand grains already have the stated curve. The mass of the grains is that of one density:
//! with several materials each of them has the curve. In a plane scene it is that of discs.
//!
//! Packings: `column` (count, base, axis), `lattice` (structure "cubic" or "hcp", spacing, jitter, count, and one of: `corner` and
//! `counts`; `min` and `max`; `within`, a region), `random` (region, and one of `count`, `mass` \[kg\], `solid_fraction`, `porosity`,
//! and `fill`), `dense` (region, a box; one of the same; overlap), `pyramid` (base, rows, lift), `list` (positions; radii, velocities,
//! angular_velocities, each one per position), `csv`, `dump` and `frame` (files, see below).
//!
//! A mass is met to within half of a grain, and so is a solid fraction or a porosity: the volume of the grains over that of the region.
//! With `fill` there are as many grains as have this solid fraction on the mean of their sizes.
//! So is the `total_mass` of an emitter, which takes the place of its `total`.
//!
//! Spheres of a `dense` packing begin small at random places of a box and grow together, moved apart wherever they overlap, until they
//! have their size; overlaps of at most `overlap` (0.001) of the smaller radius are left. Where the box spans a period they go through its
//! faces. Equal spheres without walls reach a porosity of 0.37. Other grains and walls in the box are not looked at, and overlaps with them
//! are mistakes like others. What cannot be reached is a mistake that tells the porosity that was.
//!
//! A lattice is filled from below. `corner` is the centre of its first grain; with `counts = [nx, ny]` it has as many layers as `count`
//! grains need. In a box or region only those sites are used whose grain lies inside, whatever its jitter.
//!
//! `csv` is a table with the columns x, y, z and optionally radius (or r, diameter), vx, vy, vz, wx, wy, wz, density or mass, material, qw,
//! qx, qy, qz, separated by commas, semicolons, tabs or blanks. `dump` is a text dump of LAMMPS or LIGGGHTS with x y z, xu yu zu, xs ys zs
//! or xsu ysu zsu, and optionally radius or diameter, vx vy vz, omegax omegay omegaz, density or mass, type, quaternions; boxes may be
//! tilted. `timestep` takes one frame (default: the last), `type` the grains of one type (default: all). Its numbers are in SI units,
//! unless `ITEM: UNITS` names cgs, micro or nano. `frame` is the `grains_000012.vtp` of a run of spheres of one material. What a file says
//! about a grain (radius, velocities, mass or density, material, orientation) goes before what its block says. `materials = { 1 = "glass",
//! 2 = "steel" }` in the packing names the materials of the types; a column `material` has their names. A file whose grains are of several
//! types is refused without it, and so are columns that make a grain another body (`shapex`, ...). With a column `id_multisphere`, as
//! LIGGGHTS writes it, all spheres of one positive number become a clump (-1 and 0 are spheres of their own): inertia is that of the union,
//! mass follows from the density of the spheres or the material, and a `mass` beside a sphere is that of its whole body. Everything else is
//! left out, and `esker check` and `esker run` tell in a line per file what was taken and what was not. No coordinate or velocity exceeds
//! 10⁹.
//!
//! `[start]` takes the grains that are present at the checkpoint of another scenario, numbered anew from 0 in their order. Their materials
//! and clumps are found by name in the new scenario. Contacts start from the impulses of the checkpoint, converted as forces: times the
//! ratio of the substeps. A contact starts from zero if the law of its pair differs in the new scenario, or if the boundary of that name
//! has no such surface in that place. Locked axes stay locked. Time starts at 0; the new file alone says how boundaries stand and move.
//!
//! Regions: `box` (min, max), `cylinder` (base, axis, length, radius), `sphere` (centre, radius).
//!
//! A sink removes the grains whose centre comes inside on its path in a substep, however thin the sink is. A sink counts the grains
//! that it removes: `removed:NAME` \[-\] and `removed_mass:NAME` \[kg\] since the start, `mass_flow:NAME` \[kg/s\] averaged since the
//! previous output. With `bins` a sink sorts these grains by radius: `size_grains:NAME:0` and `size_mass:NAME:0` count the grains below
//! the first bound, `size_mass:NAME:1` those from the first bound to the second, and so on; the last class holds the grains from the
//! last bound on. With a `profile` a sink sorts the grains by the place where they were removed: `profile_grains:NAME:0` and
//! `profile_mass:NAME:0` count the grains before `from`, then follow the `bins` parts, and last the grains from `until` on;
//! `profile_variation:NAME` is the coefficient of variation of the masses of the parts (standard deviation over mean) \[-\]. An
//! observed region has `count:NAME` \[-\], `mass:NAME` \[kg\] and `centre_x:NAME`, `centre_y:NAME`, `centre_z:NAME` \[m\]: of the
//! grains that are inside at the time of the output. What passes between two outputs is counted too: `entered:NAME` \[-\] and
//! `entered_mass:NAME` \[kg\] are the grains that came in since the start, `entered_mass_flow:NAME` \[kg/s\] is averaged since the
//! previous output. In every substep a grain comes in whose centre begins outside, and ends inside or passes through on its straight
//! path, however thin the region is: a thin box across a stream is a counter that takes nothing away. A grain that comes back counts
//! again, in either direction; one that was placed or emitted inside does not count. A region also has the stress
//! `bulk_stress_xx:NAME` and so on \[Pa\]: of the contacts the mean since the previous output, bounces included, so that the output at
//! the start has none of it ([`crate::theory::stress`]).
//!
//! A gate of `[[observe.gates]]` counts without removing, and both ways: in every substep a grain goes through whose centre is behind the
//! plane at one end of its straight path and in front or on it at the other, and through a disc if the path meets the plane within the
//! radius. `passed_forwards:NAME` \[-\] and `passed_mass_forwards:NAME` \[kg\] count those along the normal since the start,
//! `passed_backwards:NAME` and `passed_mass_backwards:NAME` those against it, a grain as often as it goes through; `net_flow:NAME` \[1/s\]
//! and `net_mass_flow:NAME` \[kg/s\] are forwards less backwards, averaged since the previous output. Through a plane the difference is
//! what the space in front has gained. With `residence` an observed region times its grains: `left:NAME` \[-\] and `left_mass:NAME`
//! \[kg\] are those that left since the start, `mean_residence_time:NAME` and `residence_time_deviation:NAME` \[s\] mean and standard
//! deviation of their residence times, and `residence_grains:NAME:0` \[-\] the number below the first of the `bins`, `:1` from the first to
//! the second, and so on. A stay begins and ends where the straight path crosses the surface of the region, within the substep; it begins
//! with the first substep for a grain that was placed or emitted inside, and ends with the substep in which a sink takes a grain. Grains
//! that are still inside do not count. Gates and residence times are counted on the CPU engine, alone or on ranks.
//!
//! `[[observe.mixing]]` cuts the box around a region into cubes and compares the concentration of the traced grains in them:
//! `lacey_index:NAME` and `concentration_deviation:NAME` \[-\], over the cells with `least_grains` or more, of which there are
//! `mixing_cells:NAME`; `mixing_sampled:NAME` is the share of the grains in them. The tracer is a material, the grains `below` a radius, or
//! the grains that are in a region at the start. Formulas and their source: [`crate::observe::mixing`].
//!
//! Lost grains are counted as `grains_lost`, and the message at the end of a run says how many there are and where they got out. With a
//! `[domain]` the lost grains are those that left it: `"remove"` takes them out like a sink, `"stop"` ends the run as failed when the first
//! one is outside at the end of a substep, `"keep"` lets them fly on. Without a domain they are the grains below everything that is finite
//! (boundaries, sinks, grains that cannot fall) with no plane under them. They keep falling, and since a fast grain makes every step search
//! for contacts, a leak costs time. Speed alone never ends a run.
//!
//! `[convergence]` writes `convergence.csv` and `residual_histogram.csv` (see [`crate::engine::convergence`]). At each of its times it
//! takes the contact problem of the coming substep from the state, with a fresh contact search, and solves it in double precision whichever
//! engine runs: once to the reference and once sweep by sweep. This takes the memory of a second CPU engine and, for every start, the
//! sweeps of the reference plus as many as are looked at or as a step has, whichever are more.
//!
//! Periodic axes: a grain that leaves the cell on one side comes in on the other, and grains touch across the faces (see
//! [`Periodic`](crate::model::Periodic)). A period is at least three times the diameter of the largest grain with its margin, 3 · 2 r ·
//! (1 + skin), grains of emitters included. Grains placed outside are wrapped into the cell. Where a box, or a cylinder along its axis,
//! spans a period, random packings and emitters fill it up to the faces and keep their distance across them. Every other packing stays
//! where it is put, and overlaps across a face are mistakes like others: a cubic lattice in such a box leaves at least a diameter across
//! the faces. Boundaries are repeated with the cell and stay where they are; a grain touches the nearest image of each, so no boundary
//! should be longer than the period, and a dynamic one must not be. A plane across a periodic axis, and so a wall of a box, is refused.
//! Gravity may point along a periodic axis, as it does for flow down a slope. Sinks and observed regions, too, act through their nearest
//! image. Positions in results are wrapped into the cell: `change` and `rate` of a position jump when the body crosses a face, and so does
//! `potential_energy` where gravity has a part along a periodic axis.

#[cfg(feature = "scenario")]
mod file;
pub mod pace;
mod plans;

#[cfg(feature = "scenario")]
pub use self::file::check_step_count;
#[cfg(feature = "scenario")]
pub use self::file::schema::schema;
#[cfg(feature = "scenario")]
pub use self::file::{Change, MAY_CHANGE, Problem, Problems, SourceText, changes, expect, study, suite};
#[cfg(feature = "cli")]
pub(crate) use self::file::{Units, mesh_triangles};
pub use self::plans::{CheckpointPlan, ConvergencePlan, Inputs, OnWarning, OutputPlan, Portable};
use crate::contact::{Impulse, Key};
use crate::engine::compatible::CompatiblePlan;
use crate::model::World;
use crate::observe::{
    CellPlan, DrumPlan, Expectation, FabricPlan, FieldPlan, LayerPlan, MixingPlan, RegionPlan, SurfacePlan,
    Tracked,
};
use crate::output::Formats;
use crate::settings::Settings;
use crate::sources::Emitter;

/// Longest time or duration that a scenario may contain \[s\].
pub(crate) const LONGEST_TIME: f64 = 1e9;

/// Number of emitted grains that buffers are first allocated for where sinks remove grains \[-\].
const FIRST_TO_COME: usize = 4096;

/// A scenario that was read and checked: initial state, settings, sources, outputs and expectations.
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
    /// Factors on friction and rolling resistance of all pairs: the time \[s\] from which on a factor holds, and the factor \[-\], by
    /// ascending time.
    pub friction_factors: Vec<(f64, f64)>,
    /// Warm-start impulses of the first step, taken from the checkpoint named in `[start]`, by ascending key.
    pub seeds: Vec<(Key, Impulse)>,
    /// Sources of grains during the run.
    pub emitters: Vec<Emitter>,
    /// Outputs: formats, pictures and the time between them.
    pub output: OutputPlan,
    /// Times at which checkpoints are saved.
    pub checkpoint: CheckpointPlan,
    /// What the run does at its first warning.
    pub on_warning: OnWarning,
    /// Observation of a rotating drum, if any.
    pub drum: Option<DrumPlan>,
    /// Observation of stresses and strains by the walls around the grains, if any.
    pub cell: Option<CellPlan>,
    /// Observation of the free surface, if any.
    pub surface: Option<SurfacePlan>,
    /// Observation of the fabric, if any.
    pub fabric: Option<FabricPlan>,
    /// Observation of fields on a grid, if any.
    pub fields: Option<FieldPlan>,
    /// Observation of layers, if any.
    pub layers: Option<LayerPlan>,
    /// Regions whose grains are counted.
    pub regions: Vec<RegionPlan>,
    /// Mixtures of grains of two kinds.
    pub mixing: Vec<MixingPlan>,
    /// Bodies and contacts that are observed one by one.
    pub tracked: Tracked,
    /// Expectations: numbers that the results of the run must match.
    pub expectations: Vec<Expectation>,
    /// Times at which the convergence of the sweeps is examined, and how; if any.
    pub convergence: Option<ConvergencePlan>,
    /// Computation of compatible forces beside those of the solver, if any.
    pub compatible: Option<CompatiblePlan>,
    /// What was taken of each table, dump, frame and mesh, and what was left out, a line for each file.
    pub notes: Vec<String>,
    /// Files that the scenario was read from: the scenario itself, tables of grains, curves.
    pub inputs: Inputs,
    /// What the folder of its results keeps of the scenario.
    pub portable: Portable,
    /// The file with all `--set` overrides applied and defaults filled in, as TOML.
    pub resolved: String,
}

impl Scenario {
    /// Scenario of a world that was built in code: no emitters and no outputs.
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
            on_warning: OnWarning::default(),
            drum: None,
            cell: None,
            surface: None,
            fabric: None,
            fields: None,
            layers: None,
            regions: Vec::new(),
            mixing: Vec::new(),
            tracked: Tracked::default(),
            expectations: Vec::new(),
            convergence: None,
            compatible: None,
            notes: Vec::new(),
            inputs: Inputs::default(),
            portable: Portable::default(),
            resolved: String::new(),
        }
    }

    /// Largest number of grains during the run: those of the initial state and all that emitters will add.
    pub fn max_grains(&self) -> usize {
        self.world.grain_count() + self.emitters.iter().map(|emitter| emitter.total() as usize).sum::<usize>()
    }

    /// Number of grains to allocate buffers for before a run: the largest number during the run. Where sinks remove grains, the number at a
    /// time is unknown: then the grains of the initial state and the first emitted ones, and buffers grow as needed.
    pub fn planned_grains(&self) -> usize {
        match self.world.has_drains() {
            true => self.max_grains().min(self.world.grain_count() + FIRST_TO_COME),
            false => self.max_grains(),
        }
    }

    /// Largest radius of a grain, initial or emitted \[m\]; 0 without grains.
    pub fn largest_radius(&self) -> f64 {
        self.emitters.iter().map(Emitter::largest_radius).fold(self.world.largest_radius(), f64::max)
    }
}
