//! A scenario file: what a user writes, read into a [`World`], [`Settings`] and a plan of outputs.
//!
//! The file is TOML in SI units; angles end in `_deg`. Tables with a `kind` are choices. Unknown keys are
//! refused. All mistakes are found in one reading, each with its place ([`Problems`]).
//!
//! ```toml
//! title = "..."                   # default: the name of the file
//! gravity = [0.0, 0.0, -9.81]     # m/s²
//! duration = 7.0                  # s, required
//! seed = 1                        # of everything random
//! locked_axes = ["y", "rx", "rz"] # of all grains: here motion in the x-z plane
//! plane = "xz"                    # instead: grains are discs in that plane, of 1 m of depth; also "xy" and "yz"; default: balls
//! friction_factor = [{ value = 0.0 }, { start = 2.0, value = 1.0 }] # of friction and rolling resistance of all pairs: none up to 2 s
//!
//! [periodic]                      # axes along which the scene repeats itself, each optional
//! x = [0.0, 0.2]                  # m
//!
//! [solver]                        # see crate::settings::Settings
//! method = "nonsmooth"            # "smooth": springs and dampers, explicit steps [E13]
//! algorithm = "pgs"               # projected Gauss-Seidel [E5]; "apgd": projected gradient descent [E15], on the CPU engine
//! order = "coloured"              # of a sweep; on the CPU engine also "sequential", { blocks = 4 }: as 4 threads without colours,
//!                                 # and "at_once": each contact on copies of its bodies
//! time_step = 5e-3                # under the smooth method also "auto": 1/5 of the Rayleigh time or 1/50 of a collision
//! substeps = 1
//! iterations = 20                 # or "auto": at most 200, until the tolerance is met, by default 0.03 |gravity| h,
//!                                 # or without gravity 0.03 impact_threshold (0.0015 m/s if that is 0)
//! tolerance = 0.0                 # ends the sweeps of a substep when one changes less
//! tolerance_kind = "velocity"     # of the row that changes most [m/s]; "impulses": of all impulses over their size [-], on the CPU engine
//! acceleration = "nesterov"       # "none": plain sweeps [E12]
//! coarse_corrections = 0          # of the impulses of whole regions, among the sweeps of a substep [E14]; for deep beds 1, on the CPU engine
//! normal_law = "hertz"            # "hooke"; "rigid", not under the smooth method
//! rigid_correction = 0.2          # share of an overlap that a substep removes under the rigid law
//! damping = "restitution"         # of the smooth method; "viscoelastic": by the `damping` of the pair, whose restitution has no effect
//! rolling_arm = "reduced"         # lever arm of rolling resistance: R*; "radius": 2 R*; "diameter": 4 R*; also at walls, where R* = r
//! cone = "disc"                   # friction and rolling limited by their length; for studies "box": component by component
//! skin = 0.1                      # skin of the neighbour list, in diameters; no part of the law
//! impact_threshold = 0.05         # m/s: faster contacts bounce
//! impact_iterations = 20          # sweeps over the impacts of a substep at most; default as iterations
//! warm_start = { kind = "adaptive", fraction = 0.85, motion = 0.2 }  # "history" { fraction }, "cold", "model";
//!                                 # for studies "normals_only" { fraction } and "no_velocity_update" { fraction }
//!
//! [materials.pellet]              # any number of them
//! density = 3700.0                # kg/m³
//! youngs_modulus = 6e6            # Pa
//! poisson_ratio = 0.25
//! restitution = 0.18
//! friction = 0.91
//! rolling_resistance = 0.32       # default 0
//! damping = 0.0                   # s, default 0
//!
//! [[pairs]]                       # departs from the mixing rule (the smaller value of the two)
//! materials = ["pellet", "steel"]
//! friction = 0.5                  # also restitution, rolling_resistance, damping, and for the smooth method
//!                                 # tangential_stiffness (over the slope of the normal force; default Mindlin's)
//!
//! [[boundaries]]
//! name = "drum"                   # default "boundary-0" and so on
//! material = "pellet"
//! shape = { kind = "cylinder", base = [0, 0, 0], axis = [0, 1, 0], length = 0.1, radius = 0.26, caps = true }
//! motion = { kind = "rotation", axis = [0, 1, 0], rate = 0.25 }
//!
//! [[boundaries]]
//! name = "belt"
//! material = "pellet"
//! shape = { kind = "plane", point = [0, 0, -0.5], normal = [0, 0, 1] }
//! surface_velocity = [0.5, 0, 0]  # m/s: it stands still while its surface moves
//!
//! [[boundaries]]
//! name = "lid"
//! material = "pellet"
//! shape = { kind = "box", min = [-0.1, 0, 0.1], max = [0.1, 0.1, 0.12], side = "outside" }
//! motion = { kind = "dynamic", velocity = [0, 0, 0], locked_axes = ["y"], density = 900 }
//!
//! [[boundaries]]
//! name = "hopper"
//! material = "pellet"
//! shape = { kind = "mesh", file = "hopper.stl", scale = 0.001 }   # a file in millimetres; also .obj
//!
//! [[boundaries]]
//! name = "press"
//! material = "pellet"
//! shape = { kind = "plane", point = [0, 0, 0.2], normal = [0, 0, -1] }
//!
//! [boundaries.motion]
//! kind = "slider"
//! mass = 100.0                    # kg
//! area = 0.04                     # m²
//! drive = [{ pressure = 100.0 }, { start = 2.0, velocity = 0.01, force_limit = 500.0 }]
//!
//! [[grains]]
//! material = "pellet"
//! radius = { kind = "constant", value = 0.0065 }
//! packing = { kind = "column", count = 25, base = [0, 0, 0] }
//! velocity = [0, 0, 0]            # m/s; angular_velocity in rad/s
//! random_velocity = 0.0           # m/s, deviation along each axis, on top; its total momentum is zero
//! locked_axes = []                # of these grains, beside those of all
//! allow_overlap = false           # default true for packings from a file
//!
//! [clumps.trimer]                 # grains of several spheres, which may overlap: mass, centre and moments are those of the union
//! spheres = [{ position = [0, 0, 0], radius = 0.002 }, { position = [0.002, 0, 0], radius = 0.002 }]  # m, in any axes
//! # file = "trimer.csv"           # instead of `spheres`: columns x,y,z,r, as DEM-Engine writes its clumps
//! # mass = 1e-4                   # kg, and
//! # moments = [1e-10, 2e-10, 2e-10]  # kg m²: then spheres stand about the centre of mass and along the principal axes
//!
//! [[grains]]
//! material = "pellet"             # or a list, dealt to the grains in turn
//! clump = "trimer"
//! turned = "random"               # default; or { axis = [0, 0, 1], angle_deg = 30 } from the axes of the clump
//! radius = { kind = "uniform", min = 0.002, max = 0.003 }  # of a sphere of the same volume; default: as listed
//! packing = { kind = "random", count = 100, region = { kind = "box", min = [0, 0, 0], max = [0.1, 0.1, 0.1] } }
//!
//! [[emitters]]
//! name = "source"
//! material = "pellet"
//! radius = { kind = "uniform", min = 0.004, max = 0.006 }   # also `clump` and `turned`
//! region = { kind = "box", min = [0, 0, 1], max = [0.1, 0.1, 1.1] }
//! rate = 500.0                    # 1/s, or mass_rate = 0.8 [kg/s] in the mean; without it all at once
//! total = 3000                    # default: until `stop`
//! start = 0.0
//! stop = 7.0
//! every = 0.05                    # s between waves
//! velocity = [0, 0, -1]
//!
//! [[sinks]]                       # removes grains whose centre comes inside
//! name = "outlet"                 # default "sink-0" and so on
//! region = { kind = "plane", point = [0, 0, -1], normal = [0, 0, 1] }  # all behind it; or a region
//! bins = [0.004, 0.006]           # m: radii at which classes of size end and begin
//! profile = { axis = "y", from = -0.5, until = 0.5, bins = 10 }  # where along an axis grains came in
//!
//! [domain]                        # box that grains are to stay in
//! min = [-1, -1, -0.2]            # m, each optional; -inf and inf: no face there
//! max = [1, 1, inf]
//! outside = "remove"              # what becomes of a grain whose centre leaves it; "keep", "stop"
//!
//! [start]                         # grains of another run, before those of the file: poses, velocities, what contacts carry
//! checkpoint = "../out/pour"      # a checkpoint, or a folder of results with one
//!
//! [checkpoint]                    # states to go on from with `esker run FILE --resume`; the last two are kept
//! every = 600.0                   # s of wall time; and, or instead,
//! every_simulated = 0.5           # s of simulated time
//!
//! [output]
//! every = 0.1                     # s, default a hundredth of the duration
//! formats = ["vtp", "csv"]
//!
//! [output.pictures]               # pictures during the run, in the folder `pictures`; every key has a default
//! every = 0.1                     # s, default that of the output
//! size = [960, 720]               # pixels
//! azimuth_deg = 30.0              # 0 looks along +y with x to the right, 90 along -x; default: along the axis of a drum
//! elevation_deg = 20.0            # 90 looks down
//! projection = "orthographic"     # "perspective"
//! zoom = 1.0                      # over that at which everything fits
//! fit = { min = [0, 0, 0], max = [1, 1, 1] }        # what fits; default: the first state and the emitters
//! cut = { point = [0, 0, 0], normal = [0, 1, 0] }   # cuts away what lies before this plane; default: nothing
//! show = "grains"                 # "forces": normal forces as lines as wide as the force
//! colour_by = "velocity"          # a component (velocity_z), height, relative_velocity (to what turns), radius, id, ...
//! range = [0.0, 1.5]              # values at the ends of the colours; default: of the states drawn so far
//! boundaries = "glass"            # "edges", "hidden"
//!
//! [forces]                        # beside those of the solver
//! compatible = { law = "hertz", tolerance = 1e-8 } # normal forces that belong to overlaps [E16]; or "hooke"
//!
//! [convergence]                   # solves chosen steps again on the side, sweep by sweep; changes no motion
//! times = [1.0, 2.0]              # s, required
//! sweeps = 100                    # looked at one by one
//! reference = 2000                # sweeps of the solution that they are compared with, default 20 times as many
//! starts = ["cold", "history"]    # as solver.warm_start, which is the default
//!
//! [observe.drum]
//! boundary = "drum"
//! plug_speed = 0.15               # over R·Ω
//! region = { kind = "box", min = [-1, -1, -1], max = [1, 1, 1] }  # only grains inside count for angle and plug share; default: all
//!
//! [observe.fabric]                # where contacts point and what they carry: fabric.csv, force_distribution.csv, rose.svg
//! plane = "xz"                    # that directions are counted in; default: the plane of the scene
//! bins = 36                       # from 0° to 180°
//!
//! [observe]
//! grains = [0, 24]                # position_x:grain-0, velocity_x:grain-0, spin_x:grain-0 [rad/s], and so on
//! boundaries = ["drum"]           # position_x:drum and so on
//! contacts = [[0, 1], [0, "drum"]] # normal_force:0-1 [N], friction_force:0-1 [N], overlap:0-1 [m]
//! energy = true                   # account for energies (energy_error and so on); false saves about 5 % of a step
//!
//! [observe.surface]               # a grid over a bed, seen along z: surface_height [m], displaced_volume and piled_volume [m³]; frames `surface.pvd`
//! min = [0, 0]                    # m, x and y
//! max = [0.2, 0.1]
//! cells = [40, 20]
//! floor = 0.0                     # m, height where there are no grains
//! from = 0.0                      # s: volumes count from there
//!
//! [observe.cell]                  # three pairs of planes that face each other: stress_x [Pa], strain_x and so on
//! x = ["left", "right"]
//! y = ["front", "back"]
//! z = ["bottom", "top"]
//! axial = "z"                     # axis whose stress the deviator compares with the others
//! strain_from = 0.0               # s, strains count from the last output up to here
//!
//! [[observe.regions]]             # grains whose centre is inside: number, mass, centre of mass
//! name = "zone"                   # default "region-0" and so on
//! region = { kind = "sphere", centre = [0, 0, 0], radius = 0.1 }
//! material = "pellet"             # default: all materials count
//!
//! [expect]                        # see crate::scenario::expect
//! height = { value = 0.3210, tolerance = 0.0032 }
//! plug_share = { at_least = 0.4, from = 4.0, until = 7.0 }
//! "force_z:drum" = { at_most = -1.0 }
//! "removed:outlet" = { at_least = 100 }
//! top_settles = { of = "velocity_z:grain-24", take = "settled_after", within = 1e-3, at_most = 2.0 }
//! ```
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
//! at three deviations by default), `mixture` (radii, shares by number).
//!
//! Packings: `column` (count, base, axis), `lattice` (structure "cubic" or "hcp", spacing, jitter, count, and
//! one of: `corner` and `counts`; `min` and `max`; `within`, a region), `random` (region, and `count` or `fill`, the solid
//! fraction), `pyramid` (base, rows, lift), `list` (positions; radii, velocities, angular_velocities, each one per
//! position), `csv` (file with columns x, y, z and, if wanted, radius, vx, vy, vz, wx, wy, wz), `frame` (file, the
//! `grains_000012.vtp` of a run of spheres of one material). A lattice is filled from below. `corner`
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
pub use self::file::{Change, MAY_CHANGE, Problem, Problems, Source, changes, expect, study, suite};
pub use self::plans::{CheckpointPlan, ConvergencePlan, Inputs, OutputPlan};
use crate::contact::{Impulse, Key};
use crate::engine::compatible::CompatiblePlan;
use crate::model::World;
use crate::observe::{CellPlan, DrumPlan, Expectation, FabricPlan, RegionPlan, SurfacePlan, Tracked};
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
