//! Motion of a boundary: kinematic, as a function of time, or dynamic under contacts, gravity and joints.

mod law;

use glam::{DQuat, DVec3};

use super::{Boundary, RigidBody};

pub(crate) use law::rotation_vector;
pub use law::{MotionLaw, MotionPart, MotionTiming};

/// Motion of a boundary.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Motion {
    /// No motion.
    #[default]
    Fixed,
    /// A belt: the boundary is fixed, but its surface moves within itself at a constant velocity \[m/s\].
    Belt(DVec3),
    /// Kinematic: motions as functions of time, each in the frame that those before it move, with its axis. The pose at a time is the
    /// first displacement of the second one of the third one, and so on, of the initial pose; straight motions add up.
    Kinematic(Vec<MotionPart>),
    /// Dynamic: moved by contacts, gravity and joints.
    Dynamic(RigidBody),
}

impl Motion {
    /// Motion by one law, always under way.
    pub fn of(law: MotionLaw) -> Motion {
        Motion::Kinematic(vec![law.into()])
    }

    /// Constant velocity \[m/s\].
    pub fn velocity(velocity: DVec3) -> Motion {
        Motion::of(MotionLaw::Velocity(velocity))
    }

    /// Rotation about an axis through `point` \[m\] at a constant rate \[rad/s\].
    pub fn rotation(point: DVec3, rate: DVec3) -> Motion {
        Motion::of(MotionLaw::Rotation { point, rate })
    }

    /// Motions of which a kinematic motion consists; none for other ones.
    pub fn parts(&self) -> &[MotionPart] {
        match self {
            Motion::Kinematic(parts) => parts,
            _ => &[],
        }
    }
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

/// Rotation of a boundary about an axis at a constant rate, where the axis is at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundaryRotation {
    /// Point on the axis \[m\].
    pub point: DVec3,
    /// Angular velocity in the frame in which the boundary rotates \[rad/s\].
    pub rate: DVec3,
    /// Velocity of the point with that frame \[m/s\].
    pub frame_velocity: DVec3,
    /// Angular velocity of that frame \[rad/s\].
    pub frame_rate: DVec3,
}

impl BoundaryRotation {
    /// Velocity of a point of the boundary \[m/s\].
    pub fn velocity(&self, place: DVec3) -> DVec3 {
        self.frame_velocity + (self.frame_rate + self.rate).cross(place - self.point)
    }
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

    /// Whether any of the motions changes the orientation.
    pub fn changes_orientation(&self) -> bool {
        self.motion.parts().iter().any(MotionPart::turns)
    }

    /// Whether the last of the motions is a rotation at a constant rate.
    pub fn turns(&self) -> bool {
        matches!(self.motion.parts().last(), Some(MotionPart { law: MotionLaw::Rotation { .. }, .. }))
    }

    /// The last of the motions, if that is a rotation at a constant rate, with its axis where the motions before it have brought it at
    /// `time` \[s\]. The rate is that at full speed, also before the start.
    pub fn rotation_at(&self, time: f64) -> Option<BoundaryRotation> {
        let (MotionPart { law: MotionLaw::Rotation { point, rate }, .. }, before) =
            self.motion.parts().split_last()?
        else {
            return None;
        };
        /// Time over which the velocity of the frame is measured, long against the rounding of poses \[s\].
        const MOMENT: f64 = 1e-6;
        let frame = Boundary { position: *point, motion: Motion::Kinematic(before.to_vec()), ..self.clone() };
        let state = frame.state_at(time + 0.5 * MOMENT, MOMENT);
        let turn = before.iter().fold(DQuat::IDENTITY, |turn, part| turn * part.displacement(time).turned());
        Some(BoundaryRotation {
            point: frame.pose_at(time).0,
            rate: turn * *rate,
            frame_velocity: state.velocity,
            frame_rate: state.angular_velocity,
        })
    }

    /// As [`Boundary::rotation_at`], with a rate of zero while the rotation is not under way.
    pub fn turning_at(&self, time: f64) -> Option<BoundaryRotation> {
        let is_under_way = self.motion.parts().last()?.timing.is_under_way(time);
        let rotation = self.rotation_at(time)?;
        Some(if is_under_way { rotation } else { BoundaryRotation { rate: DVec3::ZERO, ..rotation } })
    }

    /// Gives the rotation that is the last of the motions another rate \[rad/s\] from `time` \[s\] on, at once and without an end. Returns
    /// whether there is such a rotation.
    pub fn set_rotation(&mut self, angular_velocity: DVec3, time: f64) -> bool {
        let pose = (self.position, self.orientation);
        let Motion::Kinematic(parts) = &mut self.motion else { return false };
        let Some(last) = parts.last_mut() else { return false };
        let pose = last.displacement(time).carry(pose);
        let MotionLaw::Rotation { rate, .. } = &mut last.law else { return false };
        *rate = angular_velocity;
        last.timing = MotionTiming { start: Some(time), ..MotionTiming::default() };
        (self.position, self.orientation) = pose;
        true
    }

    /// Pose at `time` \[s\], and the velocity that leads there over the `step` before \[s\].
    pub fn state_at(&self, time: f64, step: f64) -> BoundaryState {
        let (position, orientation) = self.pose_at(time);
        let (velocity, angular_velocity) = match &self.motion {
            Motion::Fixed | Motion::Dynamic(_) => (DVec3::ZERO, DVec3::ZERO),
            Motion::Belt(velocity) => (*velocity, DVec3::ZERO),
            Motion::Kinematic(parts) => {
                let (before, turned_before) = self.pose_at(time - step);
                let mut turning = parts.iter().filter(|part| part.turns());
                let angular_velocity = match (turning.next(), turning.next()) {
                    (None, _) => DVec3::ZERO,
                    // The rate itself, without errors of rounding.
                    (Some(MotionPart { law: MotionLaw::Rotation { rate, .. }, timing }), None) => {
                        timing.pace(time, step) * *rate
                    }
                    _ => rotation_vector(orientation * turned_before.conjugate()) / step,
                };
                ((position - before) / step, angular_velocity)
            }
        };
        BoundaryState { position, orientation, velocity, angular_velocity }
    }

    /// Position \[m\] and orientation at `time` \[s\]; for a dynamic boundary, the initial pose.
    pub fn pose_at(&self, time: f64) -> (DVec3, DQuat) {
        let moves = self.motion.parts().iter().rev().map(|part| part.displacement(time));
        moves.fold((self.position, self.orientation), |pose, moved| moved.carry(pose))
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
        (Some(last), None) => values.get(last).copied().unwrap_or_default(),
        (Some(before), Some(&after)) => {
            let share = (time - times[before]) / (times[next] - times[before]);
            lerp(values[before], after, share)
        }
    }
}

#[cfg(test)]
mod tests;
