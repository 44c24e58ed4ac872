//! The engines, through the library: physics, stages against their twins, bits, balances, broken solvers.
#![allow(missing_docs, reason = "tests say by their names what they claim")]

mod balance;
mod belts;
mod bodies;
mod clumps;
mod coarse;
mod cohesion;
#[path = "../common/mod.rs"]
mod common;
mod compatible;
mod convergence;
mod door;
mod dynamic_boundaries;
mod emitters;
mod energy;
mod ensembles;
mod flush;
mod folding;
mod gates;
mod gpu_stages;
mod gradient;
mod impacts;
mod invariance;
mod joints;
mod loads;
mod lost;
mod meshes;
mod mutations;
mod periodic;
mod physics;
mod plane;
mod pulse;
mod ranks;
mod restart;
mod robustness;
mod search;
mod single;
mod sinks;
mod sizes;
mod sliders;
mod smooth;
mod soak;
mod stress;
mod tiles;
mod uniqueness;
mod what_runs_where;
