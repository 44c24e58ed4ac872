//! Error of a step that the device halted because of a bad state.

use glam::DVec3;

use crate::engine::blame::TooFast;
use crate::error::Error;

use super::GpuEngine;
use super::layout::{self, ConstraintHead, Status};

impl GpuEngine {
    /// Returns the error of a halt: a bad velocity, a position beyond the cells of the grid, a grain outside of the domain, or one with
    /// too many triangles near it.
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
        if halted(layout::HALT_TRIANGLES) {
            let body =
                name.map_or_else(|| format!("the polyhedron {grain}"), |name| format!("boundary \"{name}\""));
            return Error::TooManyTriangles { body, time };
        }
        if !speed.is_finite() || halted(layout::HALT_NOT_A_NUMBER) {
            return match name {
                Some(name) => Error::BoundaryNotANumber { name, time, time_step },
                None => Error::NotANumber { grain, time, time_step },
            };
        }
        let diameters = speed * h / self.world.largest_diameter();
        match name {
            Some(_) if halted(layout::HALT_EXPLODED) => {
                let touched = match self.touched_bodies().await {
                    Ok(touched) => touched,
                    Err(error) => return error,
                };
                let diameter = self.world.largest_diameter();
                let too_fast = TooFast { body, speed, h, diameter, warning: self.warning.as_deref() };
                too_fast.error(&self.world, |body| touched.contains(&(body as u32)))
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

    /// Reads the bodies of the contacts that carry an impulse.
    async fn touched_bodies(&self) -> Result<Vec<u32>, Error> {
        let count = self.contact_count().await?;
        let heads: Vec<ConstraintHead> = self.read_list("constraint_heads", count).await?;
        let numbers = self.numbers_per_impulse();
        let values: Vec<f32> = self.read_list("impulses", numbers * count).await?;
        let acting = heads.iter().zip(values.chunks_exact(numbers));
        let acting = acting.filter(|(head, values)| layout::impulse(head, values).normal != 0.0);
        Ok(acting.flat_map(|(head, _)| head.bodies).collect())
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
