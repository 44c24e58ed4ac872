//! Scenes that several tests share.
#![allow(dead_code, missing_docs, reason = "each test file uses its own part of this module")]

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use esker::contact::{Impulse, Key};
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::gpu::GpuEngine;
use esker::gpu::device::{Device, DeviceChoice};
use esker::law::pair::Material;
use esker::model::{Boundary, Form, Materials, Motion, Surface, World};
use esker::scenario::Scenario;
use esker::settings::Settings;
use glam::{DQuat, DVec3};
use serde_json::Value;

/// Diameter of the pellets \[m\].
pub const D: f64 = 0.013;

/// Opens a device that no other test uses, for tests that change or lose it. Panics without an adapter: a test that did not run must not
/// look green.
pub fn own_device() -> Device {
    Device::open(DeviceChoice::Any).expect("a wgpu adapter: install mesa-vulkan-drivers for lavapipe")
}

/// Device on loan to a test thread. It returns to [`IDLE`] when the thread ends, and the next test finds its kernels compiled.
struct Loan(Device);

impl Drop for Loan {
    fn drop(&mut self) {
        IDLE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0.clone());
    }
}

/// Devices that no test uses at the moment. They are never closed.
static IDLE: Mutex<Vec<Device>> = Mutex::new(Vec::new());

/// Device that the engines of a test share, so that it compiles kernels once for each kind of scene. Tests that run side by side have one
/// device each: on a shared one each test would wait for the work of the others, too.
pub fn device() -> Device {
    thread_local! {
        static LOAN: OnceCell<Loan> = const { OnceCell::new() };
    }
    let lend = || {
        let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Loan(idle.unwrap_or_else(own_device))
    };
    LOAN.with(|loan| loan.get_or_init(lend).0.clone())
}

pub fn gpu(world: &World, settings: &Settings) -> GpuEngine {
    GpuEngine::new(device(), world.clone(), *settings).expect("the scene fits the device")
}

pub fn cpu(world: &World, settings: &Settings) -> CpuEngine {
    CpuEngine::new(world.clone(), *settings)
}

/// The CPU engine and the GPU engine at the same state, for tests that make the same claim of each.
pub fn both(world: &World, settings: &Settings) -> [Box<dyn Engine>; 2] {
    [Box::new(cpu(world, settings)), Box::new(gpu(world, settings))]
}

/// Impulses of the contacts of a state, for an engine that continues from it.
pub fn forces(state: &Snapshot) -> Vec<(Key, Impulse)> {
    state.contacts.iter().map(|contact| (contact.key, contact.impulse)).collect()
}

/// A single material, stone, with these coefficients of friction and restitution \[-\].
pub fn stone(friction: f64, restitution: f64) -> Materials {
    Materials::new(vec![Material {
        name: "stone".into(),
        density: 2500.0,
        youngs_modulus: 1e8,
        poisson_ratio: 0.25,
        restitution,
        friction,
        rolling_resistance: 0.0,
        damping: 0.0,
        pull_off_force: 0.0,
        work_of_adhesion: 0.0,
        conductivity: 0.0,
        heat_capacity: 0.0,
    }])
}

/// A world with a floor at z = 0.
pub fn with_floor(gravity: DVec3, materials: Materials) -> World {
    let mut world = World::new(gravity, materials);
    world.add_boundary(fixed("floor"), [Surface::new(DVec3::ZERO, DQuat::IDENTITY, Form::Plane, 0)]);
    world
}

/// A boundary that stays where it is.
pub fn fixed(name: &str) -> Boundary {
    Boundary { name: name.into(), position: DVec3::ZERO, orientation: DQuat::IDENTITY, motion: Motion::Fixed }
}

/// A scenario of the repository, with overrides.
pub fn scenario(name: &str, overrides: &[&str]) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name);
    let overrides: Vec<String> = overrides.iter().map(|&text| text.into()).collect();
    Scenario::load(&path, &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Scenario with the material `pellet` and the text of `body`.
pub fn pellets(body: &str) -> Scenario {
    pellets_with(body, &[])
}

/// As [`pellets`], with overrides as for `--set`.
pub fn pellets_with(body: &str, overrides: &[&str]) -> Scenario {
    let text = format!(
        r#"duration = 1.0
[materials.pellet]
density = 3700.0
youngs_modulus = 6e6
poisson_ratio = 0.25
restitution = 0.18
friction = 0.91
rolling_resistance = 0.32

{body}
"#
    );
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    Scenario::parse("test", &text, Path::new("."), &overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A floor in the plane z = 0.
pub const FLOOR: &str = r#"
[[boundaries]]
name = "floor"
material = "pellet"
shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
"#;

/// Column of `count` pellets, the lowest `gap` above the floor \[m\].
pub fn column(count: u32, gap: f64) -> Scenario {
    pellets(&format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "column", count = {count}, base = [0.0, 0.0, {gap:?}] }}
"#
    ))
}

/// Floor without grains; an emitter adds grains from 0.5 s on.
pub fn no_grains() -> Scenario {
    pellets(&format!(
        r#"{FLOOR}
[[emitters]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
region = {{ kind = "box", min = [-0.05, -0.05, 0.1], max = [0.05, 0.05, 0.2] }}
rate = 100.0
start = 0.5
"#
    ))
}

/// One grain in overlap with the floor, falling.
pub fn one_grain() -> Scenario {
    pellets(&format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
velocity = [0.1, 0.0, -0.3]
allow_overlap = true
packing = {{ kind = "list", positions = [[0.0, 0.0, 0.0064]] }}
"#
    ))
}

/// Two grains with the same centre, a third that touches both.
pub fn coincident_centres() -> Scenario {
    pellets(&format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
allow_overlap = true
packing = {{ kind = "list", positions = [[0, 0, 0.0065], [0, 0, 0.0065], [0.0127, 0, 0.0065]] }}
"#
    ))
}

/// Two thousand grains in one layer on one boundary.
pub fn many_on_one_boundary() -> Scenario {
    pellets(&format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
velocity = [0.02, 0.01, -0.06]
allow_overlap = true
packing = {{ kind = "lattice", structure = "cubic", corner = [-0.3, -0.3, 0.00648], counts = [50, 40], count = 2000, spacing = 0.0131, jitter = 0.00002 }}
"#
    ))
}

/// Turning drum with caps, in it a cone, a box and an oscillating sphere, and grains of sizes 1:4 among them.
pub fn mixed_sizes_in_a_drum() -> Scenario {
    pellets(
        r#"
[[boundaries]]
name = "drum"
material = "pellet"
motion = { kind = "rotation", rate = 2.0 }
shape = { kind = "cylinder", base = [0.0, -0.1, 0.0], axis = [0, 1, 0], length = 0.2, radius = 0.12, caps = true }

[[boundaries]]
name = "block"
material = "pellet"
shape = { kind = "box", min = [-0.02, -0.02, -0.115], max = [0.02, 0.02, -0.08], side = "outside" }

[[boundaries]]
name = "ball"
material = "pellet"
motion = { kind = "oscillation", amplitude = [0.0, 0.002, 0.0], frequency = 5.0 }
shape = { kind = "sphere", centre = [0.05, 0.05, -0.06], radius = 0.02 }

[[boundaries]]
name = "cone"
material = "pellet"
shape = { kind = "cone", base = [-0.04, 0.0, -0.11], axis = [0, 0, 1], length = 0.06, base_radius = 0.02, top_radius = 0.005, side = "outside", caps = true }

[[grains]]
material = "pellet"
radius = { kind = "uniform", min = 0.003, max = 0.012 }
packing = { kind = "random", region = { kind = "cylinder", base = [0.0, -0.1, 0.0], axis = [0, 1, 0], length = 0.2, radius = 0.118 }, count = 300 }
"#,
    )
}

/// `count` grains of one size that fall in a box.
pub fn box_of(count: u32) -> Scenario {
    let text = format!("grains.0.packing.count={count}");
    scenario("settle_1000.toml", &[&text, "materials.pellet.rolling_resistance=0.1"])
}

/// Grains that fly into each other, without any boundary or gravity.
pub fn collision_in_space() -> Scenario {
    let text = pellets(
        r#"
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
velocity = [0.5, 0.0, 0.0]
allow_overlap = true
packing = { kind = "list", positions = [[0, 0, 0], [0, 0.05, 0]] }
[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
velocity = [-0.5, 0.1, 0.0]
allow_overlap = true
packing = { kind = "list", positions = [[0.0128, 0.001, 0], [0.0135, 0.051, 0]] }
"#,
    )
    .resolved;
    let weightless = ["gravity=[0, 0, 0]".to_string()];
    Scenario::parse("space", &text, Path::new("."), &weightless)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// Position `i` of 150 around a grain of radius 30 mm at height 30 mm, as text \[m\]: balls of radius 3 mm there overlap the grain.
fn around_a_grain(i: u32) -> String {
    let golden_angle = std::f64::consts::PI * (3.0 - 5f64.sqrt());
    let z = 1.0 - 1.6 * (f64::from(i) + 0.5) / 150.0;
    let (ring, turn) = ((1.0 - z * z).sqrt(), golden_angle * f64::from(i));
    let reach = 0.0329;
    format!("[{}, {}, {}]", reach * ring * turn.cos(), reach * ring * turn.sin(), 0.03 + reach * z)
}

/// A large grain on the floor, covered by 150 small ones that press into it.
pub fn one_grain_with_many_contacts() -> Scenario {
    covered_grain("")
}

/// As [`one_grain_with_many_contacts`], with a dynamic boundary in place of every fifth small grain.
pub fn one_grain_with_many_contacts_among_free_balls() -> Scenario {
    let ball = |i: u32| {
        let centre = around_a_grain(5 * i);
        format!(
            r#"
[[boundaries]]
material = "pellet"
shape = {{ kind = "sphere", centre = {centre}, radius = 0.003 }}
motion = {{ kind = "dynamic" }}
"#
        )
    };
    covered_grain(&(0..30).map(ball).collect::<String>())
}

fn covered_grain(free_balls: &str) -> Scenario {
    let is_grain = |i: &u32| free_balls.is_empty() || !i.is_multiple_of(5);
    let places: Vec<String> = (0..150).filter(is_grain).map(around_a_grain).collect();
    pellets(&format!(
        r#"{FLOOR}{free_balls}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.03 }}
allow_overlap = true
packing = {{ kind = "list", positions = [[0, 0, 0.03]] }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.003 }}
allow_overlap = true
packing = {{ kind = "list", positions = [{}] }}
"#,
        places.join(", ")
    ))
}

/// Heap in two dimensions: axes are locked so that nothing moves along y or turns about x and z.
pub fn flat() -> Scenario {
    let text = format!(
        r#"{FLOOR}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
velocity = [0.1, 0.0, -0.2]
allow_overlap = true
packing = {{ kind = "list", positions = [[0, 0, 0.0064], [0.0129, 0.001, 0.0065], [0.006, -0.001, 0.0175], [0.019, 0.0005, 0.0176]] }}
"#
    );
    let locked = ["locked_axes=[\"y\", \"rx\", \"rz\"]".to_string()];
    Scenario::parse("flat", &pellets(&text).resolved, Path::new("."), &locked)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// A box dropped on a few hundred grains in an open box.
pub fn box_on_a_bed() -> Scenario {
    pellets(
        r#"
[[boundaries]]
name = "walls"
material = "pellet"
shape = { kind = "box", min = [-0.06, -0.06, 0.0], max = [0.06, 0.06, 1.0], open = ["+z"] }

[[boundaries]]
name = "box"
material = "pellet"
shape = { kind = "box", min = [-0.045, -0.04, 0.06], max = [0.045, 0.04, 0.09], side = "outside" }
motion = { kind = "dynamic", velocity = [0.0, 0.0, -0.2] }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
packing = { kind = "lattice", corner = [-0.0525, -0.0525, 0.0067], counts = [8, 8, 4], count = 256, spacing = 0.0135, jitter = 0.0002 }
"#,
    )
}

/// Free boxes and spheres that fall on a turning plate, on each other and on grains, one of them with locked axes.
pub fn dynamic_boundaries_among_grains() -> Scenario {
    pellets(
        r#"
[[boundaries]]
name = "plate"
material = "pellet"
shape = { kind = "box", min = [-0.1, -0.1, -0.02], max = [0.1, 0.1, 0.0], side = "outside" }
motion = { kind = "rotation", axis = [0, 0, 1], rate = 1.0 }

[[boundaries]]
name = "slab"
material = "pellet"
shape = { kind = "box", min = [-0.05, -0.04, 0.0], max = [0.05, 0.04, 0.015], side = "outside" }
motion = { kind = "dynamic", velocity = [0.05, 0.0, -0.1] }

[[boundaries]]
name = "ball"
material = "pellet"
shape = { kind = "sphere", centre = [0.01, 0.01, 0.0349], radius = 0.02 }
motion = { kind = "dynamic", velocity = [0.0, 0.0, -0.2], angular_velocity = [3.0, 0.0, 0.0] }

[[boundaries]]
name = "cube"
material = "pellet"
shape = { kind = "box", min = [-0.045, -0.025, 0.0238], max = [-0.015, 0.005, 0.0538], side = "outside", turned = { axis = [1, 2, 0], angle_deg = 35 } }
motion = { kind = "dynamic", velocity = [0.0, 0.0, -0.3], locked_axes = ["y", "rz"] }

[[grains]]
material = "pellet"
radius = { kind = "constant", value = 0.0065 }
velocity = [0.0, 0.0, -0.3]
packing = { kind = "lattice", corner = [-0.06, -0.06, 0.0678], counts = [9, 9, 2], count = 162, spacing = 0.0134, jitter = 0.0001 }
"#,
    )
}

/// Cell of six plates on rails around grains: four are driven by a constant pressure, one by a force, and one by a motor that is at its
/// force limit at first.
pub fn cell_of_sliders() -> Scenario {
    let wall = |name: &str, point: &str, normal: &str, mass: f64, drive: &str| {
        format!(
            r#"
[[boundaries]]
name = "{name}"
material = "pellet"
shape = {{ kind = "plane", point = {point}, normal = {normal} }}
motion = {{ kind = "slider", mass = {mass}, {drive} }}
"#
        )
    };
    let x =
        "drive = { pressure = 300.0 }, area = { between = [[\"front\", \"back\"], [\"bottom\", \"top\"]] }";
    let y =
        "drive = { pressure = 300.0 }, area = { between = [[\"bottom\", \"top\"], [\"left\", \"right\"]] }";
    let walls = [
        wall("left", "[0, 0, 0]", "[1, 0, 0]", 1.0, x),
        wall("right", "[0.08, 0, 0]", "[-1, 0, 0]", 1.0, x),
        wall("front", "[0, 0, 0]", "[0, 1, 0]", 2.0, y),
        wall("back", "[0, 0.08, 0]", "[0, -1, 0]", 0.5, y),
        wall("bottom", "[0, 0, 0]", "[0, 0, 1]", 1.0, "drive = { force = 3.0 }"),
        wall("top", "[0, 0, 0.08]", "[0, 0, -1]", 1.0, "drive = { velocity = 0.05, force_limit = 3.0 }"),
    ];
    pellets(&format!(
        r#"{}
[[grains]]
material = "pellet"
radius = {{ kind = "uniform", min = 0.005, max = 0.0065 }}
packing = {{ kind = "lattice", corner = [0.0067, 0.0067, 0.0067], counts = [6, 6, 6], count = 216, spacing = 0.0133, jitter = 0.0001 }}
"#,
        walls.concat()
    ))
}

/// Box about to bounce off the floor on one corner. Its restitution is so high that with friction the impact would gain energy without a
/// limit.
pub fn box_on_a_corner() -> Scenario {
    let text = format!(
        r#"{FLOOR}
[[boundaries]]
name = "box"
material = "pellet"
shape = {{ kind = "box", min = [-0.05, -0.03, 0.0290], max = [0.05, 0.03, 0.0690], side = "outside", turned = {{ axis = [1, 2, 0], angle_deg = 33 }} }}
motion = {{ kind = "dynamic", velocity = [1.0, 0.2, -4.0] }}
"#
    );
    let elastic = ["materials.pellet.restitution=0.98".to_string()];
    Scenario::parse("corner", &pellets(&text).resolved, Path::new("."), &elastic)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// Clumps of two kinds and single spheres that fall on each other, in a box or along periodic axes.
pub fn clumps_among_spheres(periodic: &str) -> Scenario {
    let walls = match periodic {
        "" => "shape = { kind = \"box\", min = [0, 0, 0], max = [0.08, 0.08, 1.0] }",
        _ => "shape = { kind = \"plane\", point = [0, 0, 0], normal = [0, 0, 1] }",
    };
    pellets(&format!(
        r#"{periodic}
[[boundaries]]
name = "walls"
material = "pellet"
{walls}

[clumps.bent]
spheres = [
    {{ position = [0, 0, 0], radius = 0.006 }},
    {{ position = [0.006, 0, 0], radius = 0.005 }},
    {{ position = [0.006, 0.005, 0.001], radius = 0.004 }},
]

[clumps.dumbbell]
spheres = [{{ position = [-0.005, 0, 0], radius = 0.005 }}, {{ position = [0.005, 0, 0], radius = 0.005 }}]

[[grains]]
material = "pellet"
clump = "bent"
packing = {{ kind = "lattice", corner = [0.012, 0.012, 0.012], counts = [4, 4, 2], spacing = 0.0185 }}

[[grains]]
material = "pellet"
clump = "dumbbell"
radius = {{ kind = "uniform", min = 0.005, max = 0.006 }}
packing = {{ kind = "lattice", corner = [0.012, 0.012, 0.052], counts = [4, 4, 1], spacing = 0.0185 }}

[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
packing = {{ kind = "lattice", corner = [0.012, 0.012, 0.07], counts = [4, 4, 1], spacing = 0.0185 }}
"#
    ))
}

/// Moving grains in a cell that is periodic along `axes`, on a floor unless z is one of them. The cell is three cells of the contact search
/// long along y and z, four along x. The first layer of grains in each direction lies on the faces. A fixed ball stands two periods away
/// along x, its image between grains on both sides of a face.
pub fn periodic(axes: &str) -> Scenario {
    let period = |axis: char, length: f64| match axes.contains(axis) {
        true => format!("{axis} = [0.0, {length}]\n"),
        false => String::new(),
    };
    let cell = [period('x', 0.0655), period('y', 0.0524), period('z', 0.0524)].concat();
    let floor = if axes.contains('z') { "" } else { FLOOR };
    pellets(&format!(
        r#"
[periodic]
{cell}
{floor}
[[boundaries]]
name = "ball"
material = "pellet"
shape = {{ kind = "sphere", centre = [0.12445, 0.00655, 0.01295], radius = 0.0045 }}
[[grains]]
material = "pellet"
radius = {{ kind = "constant", value = 0.0065 }}
velocity = [0.5, 0.3, -0.2]
angular_velocity = [0.0, 3.0, 0.0]
allow_overlap = true
packing = {{ kind = "lattice", corner = [0.0, 0.0, 0.0064], counts = [5, 4, 4], spacing = 0.0131, jitter = 0.0002 }}
"#
    ))
}

/// Reads all files of a run, pictures included, except checkpoints. Wall times are removed from the summary, and `change` may remove more
/// of its fields.
pub fn files_of_run(folder: &Path, change: &dyn Fn(&mut Value)) -> BTreeMap<String, Vec<u8>> {
    let pictures = fs::read_dir(folder.join("pictures")).into_iter().flatten();
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").chain(pictures).flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() || name.ends_with(".esker") {
            continue;
        }
        let mut bytes = fs::read(entry.path()).expect("a file");
        if name == "summary.json" {
            let mut summary: Value = serde_json::from_slice(&bytes).expect("JSON");
            let fields = summary.as_object_mut().expect("fields");
            for own in [
                "provenance",
                "wall_seconds",
                "steps_per_second",
                "wall_seconds_by_task",
                "wall_seconds_by_stage",
            ] {
                fields.remove(own).expect("a field of every run");
            }
            change(&mut summary);
            bytes = summary.to_string().into_bytes();
        }
        found.insert(name, bytes);
    }
    found
}

/// Asserts that two runs left the same files.
pub fn assert_same(found: &BTreeMap<String, Vec<u8>>, expected: &BTreeMap<String, Vec<u8>>, of: &str) {
    let names = |files: &BTreeMap<String, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{of}");
    let differ: Vec<&String> = found.keys().filter(|name| found[*name] != expected[*name]).collect();
    if let Some(name) = differ.first() {
        let text = |files: &BTreeMap<String, Vec<u8>>| String::from_utf8_lossy(&files[*name]).into_owned();
        let (found, expected) = (text(found), text(expected));
        let place = found.bytes().zip(expected.bytes()).position(|(a, b)| a != b).unwrap_or(0);
        let near = |text: &str| text.chars().skip(place.saturating_sub(60)).take(100).collect::<String>();
        panic!(
            "{of}: these differ: {differ:?}, {name} first at {:?} for {:?}",
            near(&found),
            near(&expected)
        );
    }
}
