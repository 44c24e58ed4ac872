//! Error of a step that the device halted because of a bad state.

use glam::DVec3;

use crate::error::Error;

use super::GpuEngine;
use super::layout::{self, Status};

impl GpuEngine {
    /// Returns the error of a halt: a bad velocity, a position beyond the cells of the grid, or a grain outside of the domain.
    pub(super) async fn failure(&self, status: &Status) -> Error {
        let (grain, time) = (status.bad_grain, self.world.time);
        let (time_step, h) = (self.settings.time_step, self.settings.substep());
        let boundary = self.world.boundaries.get(status.bad_boundary as usize);
        let name = boundary.filter(|_| grain == layout::NONE).map(|boundary| boundary.name.clone());
        let body = match &name {
            Some(_) => status.bad_boundary as usize,
            None => self.world.grain_body(grain as usize),
        };
        let grain = self.world.ids.get(grain as usize).copied().unwrap_or(grain);
        let (position, velocity) = match self.state_of(body).await {
            Ok(state) => state,
            Err(error) => return error,
        };
        let speed = velocity.length();
        let halted = |why: u32| status.halted & why != 0;
        if !speed.is_finite() || halted(layout::HALT_NOT_A_NUMBER) {
            return match name {
                Some(name) => Error::BoundaryNotANumber { name, time, time_step },
                None => Error::NotANumber { grain, time, time_step },
            };
        }
        let diameters = speed * h / self.world.largest_diameter();
        match name {
            Some(name) if halted(layout::HALT_EXPLODED) => {
                Error::BoundaryExploded { name, time, speed, diameters, time_step: h }
            }
            _ if halted(layout::HALT_EXPLODED) => {
                Error::Exploded { grain, time, speed, diameters, time_step: h }
            }
            // The grain has moved already: the time is that of the end of the substep.
            _ if halted(layout::HALT_OUTSIDE) => {
                let DVec3 { x, y, z } = position;
                Error::LeftDomain { grain, time: time + h, x, y, z }
            }
            _ => self.anchors.too_far(position + h * velocity),
        }
    }

    /// Reads position \[m\] and velocity \[m/s\] of a body from the device.
    async fn state_of(&self, body: usize) -> Result<(DVec3, DVec3), Error> {
        let poses: Vec<layout::Pose> = self.read_list("poses", body + 1).await?;
        let velocities: Vec<layout::Velocity> = self.read_list("velocities", body + 1).await?;
        let (pose, velocity) = (&poses[body], &velocities[body]);
        let position = self.anchors.position(pose.cell, pose.offset);
        Ok((position, DVec3::from(velocity.linear.map(f64::from))))
    }
}
