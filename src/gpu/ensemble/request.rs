//! What an engine asks of a launch, and what the launch leaves of its world.

use crate::engine::Dispatches;
use crate::gpu::features::Features;
use crate::gpu::layout::{Status, Works};
use crate::gpu::step::{Method, Pace};
use crate::settings::Settings;

/// Steps that an engine asks for.
pub(in crate::gpu) struct Request {
    /// Number of steps; a launch may hold more, of which this world takes no part.
    pub(in crate::gpu) steps: u64,
    pub(in crate::gpu) pace: Pace,
    /// Status with which the steps begin.
    pub(in crate::gpu) status: Status,
    pub(in crate::gpu) features: Features,
    pub(in crate::gpu) method: &'static Method,
    pub(in crate::gpu) settings: Settings,
    /// Whether the residuals are measured after the last step.
    pub(in crate::gpu) measures: bool,
    /// Results to be read.
    pub(in crate::gpu) wanted: Wanted,
}

/// Sizes of the results of a submission.
#[derive(Clone, Copy)]
pub(in crate::gpu) struct Wanted {
    /// Number of substeps whose works are read.
    pub(in crate::gpu) booked: u64,
    /// Size of the loads \[bytes\].
    pub(in crate::gpu) loads: u64,
    /// Number of blocks of contacts whose residuals are read.
    pub(in crate::gpu) blocks: u64,
}

/// Results of a submission.
pub(in crate::gpu) struct LaunchResults {
    pub(in crate::gpu) status: Status,
    /// Works of the substeps.
    pub(in crate::gpu) works: Vec<Works>,
    /// Sums of the loads, in integer units.
    pub(in crate::gpu) loads: Vec<u32>,
    /// Residuals of each block of contacts: sums, then maxima.
    pub(in crate::gpu) residuals: Vec<[f32; 8]>,
}

/// What a launch left of a world.
pub(in crate::gpu) struct LaunchAnswer {
    pub(in crate::gpu) results: LaunchResults,
    /// Numbers of dispatches of one step.
    pub(in crate::gpu) dispatches: Dispatches,
    /// Wall time of each stage of the first step \[s\], where it is timed.
    pub(in crate::gpu) stages: Vec<(&'static str, f64)>,
}

impl Request {
    /// Whether another world can be launched with this one: it runs the same kernels in the same order.
    pub(super) fn goes_with(&self, other: &Request) -> bool {
        let order = |request: &Request| {
            let Settings { iterations, substeps, impact_iterations, .. } = request.settings;
            (iterations, substeps, impact_iterations)
        };
        self.features == other.features && order(self) == order(other)
    }
}

impl Wanted {
    /// Returns the buffers of the results, each with the number of bytes to be read.
    pub(super) fn parts(self) -> [(&'static str, u64); 4] {
        [
            ("status", size_of::<Status>() as u64),
            ("balance", self.booked * size_of::<Works>() as u64),
            ("loads", self.loads),
            ("residuals", self.blocks * size_of::<[f32; 8]>() as u64),
        ]
    }

    /// Takes the results from the beginning of what was read.
    pub(super) fn take(self, bytes: &mut &[u8]) -> LaunchResults {
        let [status, works, loads, residuals] = self.parts().map(|(_, size)| {
            let (taken, rest) = bytes.split_at(size as usize);
            *bytes = rest;
            taken
        });
        LaunchResults {
            status: bytemuck::pod_read_unaligned(status),
            works: bytemuck::pod_collect_to_vec(works),
            loads: bytemuck::pod_collect_to_vec(loads),
            residuals: bytemuck::pod_collect_to_vec(residuals),
        }
    }
}
