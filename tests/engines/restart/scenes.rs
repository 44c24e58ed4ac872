//! Scenes of the restart tests: the head that all share, and the rest of each.

pub const GLASS: &str = r#"
seed = 3
[solver]
time_step = 2e-3
[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.3
friction = 0.5
rolling_resistance = 0.05
"#;

/// An emitter of grains with random sizes and a hole as their sink; the floor shakes, and the forces on it are averaged.
pub const EMITTER_AND_SINK: &str = r#"
duration = 0.3
[[boundaries]]
name = "box"
material = "glass"
shape = { kind = "box", min = [0, 0, 0], max = [0.06, 0.06, 0.5], open = ["+z", "-z"] }
[[boundaries]]
name = "floor"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
motion = { kind = "oscillation", amplitude = [0, 0, 0.001], frequency = 10.0 }
[[emitters]]
name = "source"
material = "glass"
radius = { kind = "mixture", radii = [0.004, 0.006], shares = [0.7, 0.3] }
region = { kind = "box", min = [0, 0, 0.03], max = [0.06, 0.06, 0.1] }
rate = 400.0
every = 0.03
velocity = [0, 0, -1]
[[sinks]]
name = "hole"
region = { kind = "box", min = [0, 0, -0.1], max = [0.03, 0.06, 0.02] }
[output]
every = 0.02
[output.pictures]
every = 0.05
size = [96, 96]
"#;

const DRUM: &str = r#"
duration = 0.24
[[boundaries]]
name = "drum"
material = "glass"
motion = [
    { kind = "rocking", point = [0, 0, -0.1], axis = [1, 0, 0], amplitude_deg = 3.0, frequency = 4.0 },
    { kind = "rotation", rate = 3.0, stop = 0.2, ramp = 0.05 },
]
shape = { kind = "cylinder", base = [0, -0.02, 0], axis = [0, 1, 0], length = 0.04, radius = 0.05, caps = true }
[[grains]]
material = "glass"
radius = { kind = "uniform", min = 0.004, max = 0.005 }
packing = { kind = "random", count = 120, region = { kind = "cylinder", base = [0, -0.02, 0], axis = [0, 1, 0], length = 0.04, radius = 0.05 } }
[observe.drum]
boundary = "drum"
[output]
every = 0.03
"#;

const SLIDERS: &str = r#"
duration = 0.16
gravity = [0, 0, 0]
[[boundaries]]
name = "sides"
material = "glass"
shape = { kind = "box", min = [0, 0, -1], max = [0.05, 0.05, 1], open = ["+z", "-z"] }
[[boundaries]]
name = "bottom"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
motion = { kind = "slider", mass = 5.0, area = 0.0025, drive = { pressure = 2000.0 } }
[[boundaries]]
name = "top"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0.05], normal = [0, 0, -1] }
motion = { kind = "slider", mass = 5.0, drive = [{ force = 5.0 }, { start = 0.08, velocity = -0.05, force_limit = 40.0 }] }
[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.004 }
packing = { kind = "lattice", structure = "cubic", min = [0, 0, 0], max = [0.05, 0.05, 0.05], spacing = 0.0083, jitter = 1e-4, count = 150 }
[output]
every = 0.02
"#;

/// Clumps on a box that moves freely.
pub const CLUMPS: &str = r#"
duration = 0.2
[[boundaries]]
name = "floor"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[boundaries]]
name = "lid"
material = "glass"
shape = { kind = "box", min = [-0.02, -0.02, 0.05], max = [0.02, 0.02, 0.06], side = "outside" }
motion = { kind = "dynamic", angular_velocity = [1, 0, 2], density = 900 }
[clumps.rod]
spheres = [{ position = [0, 0, 0], radius = 0.004 }, { position = [0.005, 0, 0], radius = 0.003 }]
[[grains]]
material = "glass"
clump = "rod"
packing = { kind = "random", count = 30, region = { kind = "box", min = [-0.03, -0.03, 0], max = [0.03, 0.03, 0.045] } }
[output]
every = 0.05
"#;

pub const GAS: &str = r#"
duration = 0.2
gravity = [0, 0, 0]
[periodic]
x = [0.0, 0.08]
y = [0.0, 0.08]
z = [0.0, 0.08]
[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.005 }
random_velocity = 0.5
packing = { kind = "random", count = 100, region = { kind = "box", min = [0, 0, 0], max = [0.08, 0.08, 0.08] } }
[observe.layers]
region = { kind = "box", min = [0, 0, 0], max = [0.08, 0.08, 0.08] }
axis = "z"
count = 3
[[observe.regions]]
name = "lower"
region = { kind = "box", min = [0, 0, 0], max = [0.08, 0.08, 0.04] }
[output]
every = 0.02
"#;

/// A turning mesh, and grains that touch it from inside, two of them polyhedra; a block made of triangles falls among them.
const MESH: &str = r#"
duration = 0.2
[[boundaries]]
name = "mill"
material = "glass"
motion = { kind = "rotation", axis = [0, 1, 0], point = [0, 0, 0], rate = 5.0 }
shape = { kind = "mesh", file = "scenarios/meshes/mill.stl", scale = 0.4, sheet = true }
[[boundaries]]
name = "block"
material = "glass"
shape = { kind = "mesh", file = "tests/program/block.obj", position = [0, 0, 0.03] }
motion = { kind = "dynamic" }
[shapes.stone]
kind = "box"
size = [0.008, 0.006, 0.004]
[[grains]]
material = "glass"
shape = "stone"
packing = { kind = "list", positions = [[-0.03, 0, -0.01], [0.03, 0, -0.01]] }
[[grains]]
material = "glass"
radius = { kind = "uniform", min = 0.002, max = 0.003 }
packing = { kind = "random", count = 120, region = { kind = "cylinder", base = [0, -0.009, 0], axis = [0, 1, 0], length = 0.018, radius = 0.05 } }
[output]
every = 0.05
"#;

/// A stirrer that turns more than once, with a beater on an actuator, among grains.
pub const MACHINE: &str = r#"
duration = 0.2
[[boundaries]]
name = "pan"
material = "glass"
shape = { kind = "cylinder", base = [0, 0, 0], axis = [0, 0, 1], length = 0.1, radius = 0.05, caps = true }
[[boundaries]]
name = "blade"
material = "glass"
shapes = [
    { kind = "box", min = [-0.03, -0.003, 0.01], max = [0.03, 0.003, 0.02], side = "outside" },
    { kind = "capsule", from = [0, 0, 0.02], to = [0, 0, 0.06], radius = 0.003 },
]
motion = { kind = "dynamic", mass = 0.1 }
[[boundaries]]
name = "beater"
material = "glass"
shape = { kind = "sphere", centre = [0.02, 0, 0.05], radius = 0.006 }
motion = { kind = "dynamic" }
[[joints]]
name = "shaft"
kind = "hinge"
bodies = ["ground", "blade"]
point = [0, 0, 0.06]
axis = [0, 0, 1]
drive = { velocity = 40.0, torque_limit = 2.0 }
[[joints]]
name = "arm"
kind = "hinge"
bodies = ["blade", "beater"]
point = [0.02, 0, 0.03]
axis = [0, 1, 0]
range_deg = [-20, 20]
[[joints]]
name = "spring"
kind = "actuator"
bodies = ["blade", "beater"]
points = [[0, 0, 0.05], [0.02, 0, 0.05]]
drive = { position = { times = [0, 0.1, 0.2], values = [0.02, 0.024, 0.018] }, force_limit = 5.0 }
[[grains]]
material = "glass"
radius = { kind = "uniform", min = 0.003, max = 0.004 }
packing = { kind = "random", count = 40, region = { kind = "cylinder", base = [0, 0, 0.025], axis = [0, 0, 1], length = 0.03, radius = 0.02 } }
allow_overlap = true
[output]
every = 0.05
[expect]
"joint_position:shaft" = { take = "final", at_least = 7.0 }
"#;

/// A convergence analysis solves some steps again beside the run, and the energies at the start are remembered.
pub const CONVERGENCE: &str = r#"
duration = 0.12
[[boundaries]]
name = "floor"
material = "glass"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.005 }
packing = { kind = "pyramid", base = [0, 0, 0], rows = 5 }
[convergence]
times = [0.0, 0.03, 0.07, 0.1]
sweeps = 10
reference = 20
[output]
every = 0.03
[expect]
height = { take = "mean", from = 0.02, at_least = 0.01 }
"#;

pub const SCENES: [(&str, &str); 8] = [
    ("emitter and sink", EMITTER_AND_SINK),
    ("drum", DRUM),
    ("sliders", SLIDERS),
    ("clumps", CLUMPS),
    ("gas", GAS),
    ("mesh", MESH),
    ("machine", MACHINE),
    ("convergence", CONVERGENCE),
];
