//! Compute pass that counts its dispatches, and the numbers of dispatches in a submission.

use crate::engine::Dispatches;
use crate::settings::Settings;

use super::step::SWEEP;

/// Compute pass that records commands like [`wgpu::ComputePass`] and counts the dispatches. An indirect dispatch counts even if it
/// turns out to have no workgroups: the card processes its command all the same.
pub struct CountedPass<'a> {
    pass: wgpu::ComputePass<'a>,
    dispatches: u32,
}

impl<'a> CountedPass<'a> {
    pub(super) fn new(pass: wgpu::ComputePass<'a>) -> CountedPass<'a> {
        CountedPass { pass, dispatches: 0 }
    }

    pub(super) fn begin(encoder: &'a mut wgpu::CommandEncoder) -> CountedPass<'a> {
        CountedPass::new(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()))
    }

    /// Returns the number of dispatches so far.
    pub(super) fn dispatches(&self) -> u32 {
        self.dispatches
    }

    pub(super) fn set_pipeline(&mut self, pipeline: &wgpu::ComputePipeline) {
        self.pass.set_pipeline(pipeline);
    }

    pub(super) fn set_bind_group(&mut self, index: u32, group: &wgpu::BindGroup, offsets: &[u32]) {
        self.pass.set_bind_group(index, group, offsets);
    }

    pub(super) fn dispatch_workgroups(&mut self, x: u32, y: u32, z: u32) {
        self.pass.dispatch_workgroups(x, y, z);
        self.dispatches += 1;
    }

    pub(super) fn dispatch_workgroups_indirect(&mut self, arguments: &wgpu::Buffer, offset: u64) {
        self.pass.dispatch_workgroups_indirect(arguments, offset);
        self.dispatches += 1;
    }
}

/// Number of dispatches in a submission, by stage.
#[derive(Debug, Default)]
pub(super) struct DispatchTally(Vec<(&'static str, u32)>);

impl DispatchTally {
    pub(super) fn add(&mut self, stage: &'static str, dispatches: u32) {
        match self.0.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, count)) => *count += dispatches,
            None => self.0.push((stage, dispatches)),
        }
    }

    /// Returns the numbers of dispatches of one step, if the submission had `steps` equal steps.
    pub(super) fn of_one_step(&self, steps: u64, settings: &Settings) -> Dispatches {
        let stages: Vec<_> =
            self.0.iter().map(|&(stage, count)| (stage, count / steps.max(1) as u32)).collect();
        let sweeping = stages.iter().find(|(stage, _)| *stage == SWEEP).map_or(0, |&(_, count)| count);
        Dispatches {
            per_step: stages.iter().map(|(_, count)| count).sum(),
            per_sweep: sweeping / (settings.iterations * settings.substeps),
            stages,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dispatches_of_equal_steps_are_shared_out() {
        let mut tally = DispatchTally::default();
        for _ in 0..3 {
            tally.add("predict", 4);
            tally.add(SWEEP, 341);
        }
        let settings = Settings { iterations: 20, ..Settings::default() };
        let found = tally.of_one_step(3, &settings);
        assert_eq!((found.per_step, found.per_sweep), (345, 17));
        assert_eq!(found.stages, [("predict", 4), (SWEEP, 341)]);
        assert_eq!(DispatchTally::default().of_one_step(0, &settings), Dispatches::default());
    }
}
