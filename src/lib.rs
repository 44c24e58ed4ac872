//! esker simulates the motion and the load transfer of large assemblies of hard grains with the nonsmooth discrete element method, on any
//! graphics card that wgpu supports (Vulkan, Metal, DX12). Every stage is checked against an engine in double precision on the CPU.
//!
//! # Flow
//!
//! ```text
//! scenario.toml ─► scenario ─► model ─┬─► gpu  (f32, WGSL) ─┬─► simulation ─► observe ─► output
//!                       code ───┘     └─► cpu  (f64, Rust) ─┘
//! ```
//!
//! One step of either engine goes through the same [stages](engine::stages) in the same order:
//!
#![doc = engine::stages::stage_table!()]
//!
//! A word in this list names the shader (`shaders/sweep.wgsl`), its twin in Rust ([`cpu::sweep`]), its entry in the list of stages
//! ([`gpu::step::NONSMOOTH`]) and its timer. [`theory`] gives the equations of all stages.
//!
//! # Units and signs
//!
//! SI units throughout: m, kg, s, N, Pa, rad; angles in scenario files end in `_deg`. A contact is between a grain `a` and another grain or
//! a boundary `b`. Its normal points from `b` to `a`. A gap is negative if the two overlap; a normal velocity is positive if they separate;
//! a positive normal impulse pushes `a` along the normal. Forces are impulses divided by the substep.
//!
//! # Modules
//!
//! | Module | Content |
//! |---|---|
//! | [`scenario`] | the scenario file: its reference, reading it, packings, emitters |
//! | [`model`] | bodies, shapes and materials: the problem and its present state |
//! | [`settings`] | settings of the solver, and the constants behind them |
//! | [`shape`] | convex solids and how two of them meet |
//! | [`law`] | the contact law: every formula of a contact between two bodies |
//! | [`contact`] | the contact problem: keys, impulses, constraints, and the seams of solvers and of parts of a scene |
//! | [`engine`] | interface of an engine ([`Engine`](engine::Engine)) and its state ([`Snapshot`](engine::Snapshot)) |
//! | [`cpu`] | the engine in double precision on the CPU |
//! | `local` | contact problems with a matrix in place of bodies: files, solvers, export |
//! | `ranks` | runs on several processes |
//! | [`oracle`] | independent checks of both engines: all pairs, valid colourings |
//! | [`gpu`] | the engine on a graphics card |
//! | [`observe`] | quantities derived from a state: heights, energies, forces on walls, expectations |
//! | [`checkpoint`] | files from which a run is resumed |
//! | [`output`] | results on disk: VTP, CSV, JSON |
//! | [`render`] | pictures of a run |
//! | `import` | scripts of LIGGGHTS and LAMMPS as scenarios |
//! | [`simulation`] | entry point: steps, observes and changes a scene; runs a scenario into a folder |
//! | [`validation`] | a suite of scenarios with known answers, run and judged |
//! | [`study`] | one scenario run with all combinations of some settings, with plots and findings |
//! | [`mod@bench`] | duration of a step, on both engines |
//! | [`cli`] | the program `esker` |
//! | [`sources`] | size distributions, kinds of grain, emitters |
//! | [`guide`] | the user's guide: results, pictures, studies, the method, known limits |
//! | [`theory`] | the equations \[E1\] to \[E18\], with their sources |
//! | [`error`] | the one error type |
//!
//! # Features
//!
//! | Cargo feature | Content | Requires |
//! |---|---|---|
//! | none | bodies, the engine in double precision, [`simulation::Simulation`], quantities | |
//! | `gpu` | the engine on graphics cards ([`gpu`]) | |
//! | `scenario` | scenario files ([`scenario::Scenario::load`]), results on disk ([`output`]) | |
//! | `render` | pictures ([`render`]), runs into a folder ([`simulation::run()`]) | `scenario` |
//! | `lab` | [`validation`], [`study`], [`mod@bench`] | `gpu`, `render` |
//! | `cli` (default) | the program `esker` ([`cli`]) | `lab` |
//!
//! # Example
//!
//! A grain dropped on a floor, half a second later:
//!
//! ```
//! use esker::scenario::Scenario;
//! use esker::simulation::{Device, Simulation};
//!
//! let text = r#"
//! duration = 0.5
//!
//! [solver]
//! time_step = 5e-3
//!
//! [materials.glass]
//! density = 2500.0
//! youngs_modulus = 1e8
//! poisson_ratio = 0.25
//! restitution = 0.2
//! friction = 0.4
//!
//! [[boundaries]]
//! material = "glass"
//! shape = { kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }
//!
//! [[grains]]
//! material = "glass"
//! radius = { kind = "constant", value = 0.01 }
//! packing = { kind = "list", positions = [[0, 0, 0.05]] }
//! "#;
//! let scenario = Scenario::parse("drop", text, std::path::Path::new("."), &[])?;
//! let mut simulation = Simulation::new(&scenario, Device::Cpu)?;
//! simulation.run_until(0.5)?;
//!
//! // At rest, its centre is a radius above the floor, less a tiny overlap.
//! let height = simulation.positions()?[0].z;
//! assert!((height - 0.01).abs() < 1e-5, "height {height} m");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From a shell, `esker run FILE` does the same; see [`cli`]. The folder `examples/` contains more: a drum that is observed, clumps built
//! in code, a plate that a callback drives, two engines side by side.

#[cfg(feature = "lab")]
pub mod bench;
#[cfg(feature = "scenario")]
pub mod checkpoint;
#[cfg(feature = "cli")]
pub mod cli;
pub mod contact;
pub mod cpu;
pub mod engine;
pub mod error;
#[cfg(feature = "scenario")]
pub(crate) mod files;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod guide;
#[cfg(feature = "cli")]
pub mod import;
pub mod law;
#[cfg(feature = "scenario")]
pub mod local;
pub mod model;
pub mod observe;
pub mod oracle;
pub mod output;
#[cfg(feature = "scenario")]
pub mod ranks;
pub mod render;
pub mod scenario;
pub mod settings;
pub mod shape;
pub mod simulation;
pub mod sources;
#[cfg(feature = "lab")]
pub mod study;
pub mod theory;
#[cfg(feature = "lab")]
pub mod validation;

/// The examples of the developers' guide, which are tests.
#[cfg(all(doctest, feature = "lab"))]
#[doc = include_str!("../CONTRIBUTING.md")]
struct Contributing;
