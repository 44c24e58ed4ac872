//! Processes that a launcher such as `mpirun` has started together.

use std::env;

use crate::error::Error;

use super::Failure;

/// Variables in which launchers tell a process how many were started together: Open MPI, MPICH and Intel MPI, and Slurm.
const SIZES: [&str; 3] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// Number of processes that were started together with this one, itself included; 1 without a launcher.
pub(super) fn launched() -> usize {
    let size = |name: &str| env::var(name).ok()?.parse().ok();
    SIZES.into_iter().find_map(size).unwrap_or(1)
}

/// Refuses to do the same as every other process that was started with this one.
///
/// # Errors
/// [`Error::ManyProcesses`] where there are others.
pub(super) fn check_alone() -> Result<(), Failure> {
    match launched() {
        1 => Ok(()),
        processes => Err(Error::ManyProcesses { processes }.into()),
    }
}
