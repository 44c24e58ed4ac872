//! The user's guide: first steps, results, checkpoints, pictures, the browser, the scenario file, studies, the method, several processes,
//! speed, the library, Python, known limits. Documentation only.
//!
//! `README.md` of the repository has the first steps: installation, a complete scenario file, the command line with its
//! exit codes, and the accuracy of settled beds. The pages of this guide go on from there, in any order:
//!
//! | Page | Content |
//! |---|---|
//! | [`first_steps`] | a scenario, a run, its results; how to choose the time step and the number of sweeps |
//! | [`coming_from`] | words of LIGGGHTS, YADE and Chrono and ours; one hopper in LIGGGHTS, YADE and esker |
//! | [`results`] | files of a run, the folder of results, ParaView |
//! | [`checkpoints`] | runs that go on after an interruption; scenes that start from a settled state |
//! | [`pictures`] | `esker render`: pictures and animations, pictures during a run |
//! | [`browser`] | `esker view`: results in a browser; simulations in a browser |
//! | [`scenario_file`] | sections of the scenario file; the reference of every key is [`crate::scenario`] |
//! | [`studies`] | `esker validate` (cases with known answers) and `esker study` (one scenario, many settings) |
//! | [`method`] | contact problem, stages of a step, solver, accuracy settings, energy balance |
//! | [`ranks`] | runs on several processes, on one machine or on many |
//! | [`speed`] | `esker bench`, timing of stages, benchmarks, comparison with rapier3d |
//! | [`library`] | [`Simulation`](crate::simulation::Simulation), the interface to the engines from Rust |
//! | [`python`] | the Python package: numpy arrays, callbacks, results, calibration |
//! | [`limits`] | all known limits |
//!
//! Equations, with numbers and sources, are in [`crate::theory`]. Paths such as `scenarios/pile.toml` start at the root of the
//! repository.

#[doc = include_str!("guide/first_steps.md")]
pub mod first_steps {}

#[doc = include_str!("guide/coming_from.md")]
#[doc = include_str!("../scenarios/hopper.toml")]
#[doc = "```"]
pub mod coming_from {}

#[doc = include_str!("guide/results.md")]
pub mod results {}

#[doc = include_str!("guide/checkpoints.md")]
pub mod checkpoints {}

#[doc = include_str!("guide/pictures.md")]
pub mod pictures {}

#[doc = include_str!("guide/browser.md")]
pub mod browser {}

#[doc = include_str!("guide/scenario_file.md")]
pub mod scenario_file {}

#[doc = include_str!("guide/studies.md")]
pub mod studies {}

#[doc = include_str!("guide/method.md")]
#[doc = ""]
#[doc = crate::engine::stages::stage_table!()]
pub mod method {}

#[doc = include_str!("guide/ranks.md")]
pub mod ranks {}

#[doc = include_str!("guide/speed.md")]
pub mod speed {}

#[doc = include_str!("guide/library.md")]
pub mod library {}

#[doc = include_str!("guide/python.md")]
pub mod python {}

#[doc = include_str!("guide/limits.md")]
pub mod limits {}
