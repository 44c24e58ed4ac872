//! Motion of a boundary: prescribed as a function of time, or dynamic under contacts, gravity and joints.

use glam::{DQuat, DVec3};

use super::{Boundary, RigidBody};

/// Motion of a boundary.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Motion {
    /// No motion.
    #[default]
    Fixed,
    /// Constant velocity \[m/s\].
    Velocity(DVec3),
    /// A belt: the boundary is fixed, but its surface moves within itself at a constant velocity \[m/s\].
    Belt(DVec3),
    /// Rotation about an axis, at a constant rate after a start time and at rest before.
    Rotation {
        /// Point on the axis \[m\].
        point: DVec3,
        /// Angular velocity \[rad/s\].
        rate: DVec3,
        /// Start time \[s\].
        start: f64,
    },
    /// Oscillation with the displacement `amplitude · sin(2π frequency t + phase) - amplitude · sin(phase)`.
    Oscillation {
        /// Amplitude as a vector \[m\].
        amplitude: DVec3,
        /// Frequency \[Hz\].
        frequency: f64,
        /// Phase \[rad\].
        phase: f64,
    },
    /// Displacement from the initial position as a table over time, linear in between, constant outside.
    Table {
        /// Times, ascending \[s\].
        times: Vec<f64>,
        /// Displacement at each time \[m\].
        displacements: Vec<DVec3>,
    },
    /// Dynamic: moved by contacts, gravity and joints.
    Dynamic(RigidBody),
}

/// Pose and velocity of a boundary; for a belt, the velocity of its surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryState {
    /// Position \[m\].
    pub position: DVec3,
    /// Orientation.
    pub orientation: DQuat,
    /// Velocity \[m/s\].
    pub velocity: DVec3,
    /// Angular velocity \[rad/s\].
    pub angular_velocity: DVec3,
}

impl BoundaryState {
    /// Bound on the speed of points within the distance `reach` of the centre \[m/s\].
    pub fn top_speed(&self, reach: f64) -> f64 {
        top_speed(self.velocity, self.angular_velocity, reach)
    }
}

/// Bound on the speed of points within the distance `reach` of the centre of a body \[m/s\]; `reach` may be infinite without rotation.
pub fn top_speed(linear: DVec3, angular: DVec3, reach: f64) -> f64 {
    linear.length() + if angular == DVec3::ZERO { 0.0 } else { angular.length() * reach }
}

impl Boundary {
    /// Initial mass, inertia and velocity, if the boundary is dynamic.
    pub fn dynamic(&self) -> Option<&RigidBody> {
        match &self.motion {
            Motion::Dynamic(body) => Some(body),
            _ => None,
        }
    }

    /// Whether the boundary ever leaves its initial pose.
    pub fn changes_place(&self) -> bool {
        !matches!(self.motion, Motion::Fixed | Motion::Belt(_))
    }

    /// Whether the boundary has a prescribed rotation about an axis, from its start time on.
    pub fn turns(&self) -> bool {
        matches!(self.motion, Motion::Rotation { .. })
    }

    /// Velocity at `time` \[s\] of a point fixed to the boundary, due to its prescribed rotation \[m/s\].
    pub fn turning_velocity(&self, place: DVec3, time: f64) -> DVec3 {
        match self.motion {
            Motion::Rotation { point, rate, start } if time >= start => rate.cross(place - point),
            _ => DVec3::ZERO,
        }
    }

    /// Pose at `time` \[s\], and the velocity that leads there over the `step` before \[s\].
    pub fn state_at(&self, time: f64, step: f64) -> BoundaryState {
        let (position, orientation) = self.pose_at(time);
        let (before, _) = self.pose_at(time - step);
        let angular_velocity = match self.motion {
            Motion::Rotation { rate, start, .. } => ((time - start) / step).clamp(0.0, 1.0) * rate,
            _ => DVec3::ZERO,
        };
        let velocity = match self.motion {
            Motion::Fixed => DVec3::ZERO,
            Motion::Belt(velocity) => velocity,
            _ => (position - before) / step,
        };
        BoundaryState { position, orientation, velocity, angular_velocity }
    }

    /// Position \[m\] and orientation at `time` \[s\]; for a dynamic boundary, the initial pose.
    pub fn pose_at(&self, time: f64) -> (DVec3, DQuat) {
        match &self.motion {
            Motion::Fixed | Motion::Belt(_) | Motion::Dynamic(_) => (self.position, self.orientation),
            Motion::Velocity(velocity) => (self.position + time * *velocity, self.orientation),
            Motion::Rotation { point, rate, start } => {
                let turn = DQuat::from_scaled_axis((time - start).max(0.0) * *rate);
                (*point + turn * (self.position - *point), (turn * self.orientation).normalize())
            }
            Motion::Oscillation { amplitude, frequency, phase } => {
                let angle = std::f64::consts::TAU * frequency * time + phase;
                (self.position + *amplitude * (angle.sin() - phase.sin()), self.orientation)
            }
            Motion::Table { times, displacements } => {
                let displacement = interpolate(times, displacements, time, DVec3::lerp);
                (self.position + displacement, self.orientation)
            }
        }
    }
}

/// Interpolates `values` at ascending `times` by `lerp`, constant outside.
pub(super) fn interpolate<T: Copy + Default>(
    times: &[f64],
    values: &[T],
    time: f64,
    lerp: impl Fn(T, T, f64) -> T,
) -> T {
    let next = times.partition_point(|&t| t <= time);
    match (next.checked_sub(1), values.get(next)) {
        (None, first) => first.copied().unwrap_or_default(),
        (Some(last), None) => values[last],
        (Some(before), Some(&after)) => {
            let share = (time - times[before]) / (times[next] - times[before]);
            lerp(values[before], after, share)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boundary(motion: Motion) -> Boundary {
        Boundary { name: "wall".into(), position: DVec3::X, orientation: DQuat::IDENTITY, motion }
    }

    #[test]
    fn a_table_is_linear_between_its_times_and_constant_outside() {
        let wall =
            boundary(Motion::Table { times: vec![1.0, 3.0], displacements: vec![DVec3::ZERO, DVec3::Z] });
        let height = |time| wall.pose_at(time).0.z;
        assert_eq!([height(0.0), height(2.0), height(3.0), height(9.0)], [0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn the_velocity_of_a_step_carries_the_boundary_over_it() {
        let wall = boundary(Motion::Oscillation { amplitude: DVec3::Z, frequency: 3.0, phase: 0.4 });
        let (time, step) = (0.7, 0.005);
        let carried = wall.pose_at(time - step).0 + step * wall.state_at(time, step).velocity;
        assert!((carried - wall.pose_at(time).0).length() < 1e-14);
    }

    #[test]
    fn a_belt_stays_where_it_is_and_has_a_velocity() {
        let belt = boundary(Motion::Belt(DVec3::Y));
        let state = belt.state_at(3.0, 0.1);
        assert_eq!((state.position, state.velocity), (DVec3::X, DVec3::Y));
        assert!(!belt.changes_place());
        assert!(boundary(Motion::Velocity(DVec3::Y)).changes_place());
    }

    #[test]
    fn a_quarter_turn_takes_x_to_y() {
        let quarter = DVec3::Z * std::f64::consts::FRAC_PI_2;
        let (position, orientation) =
            boundary(Motion::Rotation { point: DVec3::ZERO, rate: quarter, start: 0.0 }).pose_at(1.0);
        assert!((position - DVec3::Y).length() < 1e-15);
        assert!((orientation * DVec3::X - DVec3::Y).length() < 1e-15);
    }

    #[test]
    fn a_rotation_that_starts_late_rests_before_and_loses_no_angle_to_the_step() {
        let (step, start) = (0.1, 0.25);
        let drum = boundary(Motion::Rotation { point: DVec3::ZERO, rate: DVec3::Z, start });
        let rate_at = |k: u32| drum.state_at(f64::from(k) * step, step).angular_velocity.z;
        assert_eq!((drum.pose_at(start).1, rate_at(2)), (DQuat::IDENTITY, 0.0));
        approx::assert_relative_eq!(rate_at(3), 0.5, max_relative = 1e-12);
        assert_eq!(rate_at(4), 1.0);
        let turned = step * (1..=8).map(rate_at).sum::<f64>();
        approx::assert_relative_eq!(turned, 0.8 - start, max_relative = 1e-12);
        approx::assert_relative_eq!(drum.pose_at(0.8).1.to_scaled_axis().z, turned, max_relative = 1e-12);
    }
}
