//! Laws of kinematic motions \[E19\]: rigid displacements in closed form, as functions of the time for which a motion has been under way.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};

use super::interpolate;

/// One motion of a kinematic boundary: its law, and when it is under way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionPart {
    /// Law over the time under way.
    pub law: MotionLaw,
    /// Times at which the motion begins and ends.
    pub timing: MotionTiming,
}

/// Law of a motion over the time τ \[s\] for which it has been under way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum MotionLaw {
    /// Constant velocity \[m/s\].
    Velocity(DVec3),
    /// Rotation about an axis at a constant rate.
    Rotation {
        /// Point on the axis \[m\].
        point: DVec3,
        /// Angular velocity \[rad/s\].
        rate: DVec3,
    },
    /// Oscillation along a line: displacement `amplitude · (sin(2π frequency τ + phase) − sin(phase))`.
    Oscillation {
        /// Amplitude as a vector \[m\].
        amplitude: DVec3,
        /// Frequency \[Hz\].
        frequency: f64,
        /// Phase \[rad\].
        phase: f64,
    },
    /// Rocking about an axis: rotation by the vector `amplitude · (sin(2π frequency τ + phase) − sin(phase))`.
    Rocking {
        /// Point on the axis \[m\].
        point: DVec3,
        /// Largest angle, as a vector along the axis \[rad\].
        amplitude: DVec3,
        /// Frequency \[Hz\].
        frequency: f64,
        /// Phase \[rad\].
        phase: f64,
    },
    /// Displacements and rotations over τ, constant outside of the table. In between displacements are linear, and rotations have a
    /// constant angular velocity, the shorter way round.
    Table {
        /// Times, ascending \[s\].
        times: Vec<f64>,
        /// Displacement of `point` at each time \[m\].
        displacements: Vec<DVec3>,
        /// Point about which the boundary is rotated, before the displacement \[m\].
        point: DVec3,
        /// Rotation at each time; empty without rotations.
        rotations: Vec<DQuat>,
    },
}

/// When a motion is under way. Without a start it always has been; a boundary that has stopped stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionTiming {
    /// Time before which the boundary rests \[s\].
    pub start: Option<f64>,
    /// Time from which on the boundary rests \[s\].
    pub stop: Option<f64>,
    /// Duration of the linear rise to full speed after the start, and of the fall before the stop \[s\]; 0 for a jump. With a ramp, a
    /// motion without a start begins at 0.
    pub ramp: f64,
}

/// A rigid displacement: a rotation about a point, then a shift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RigidMove {
    point: DVec3,
    turn: DQuat,
    shift: DVec3,
}

impl RigidMove {
    fn shift(shift: DVec3) -> RigidMove {
        RigidMove { point: DVec3::ZERO, turn: DQuat::IDENTITY, shift }
    }

    fn turn(point: DVec3, turn: DQuat) -> RigidMove {
        RigidMove { point, turn, shift: DVec3::ZERO }
    }

    /// Rotation of the displacement.
    pub(super) fn turned(&self) -> DQuat {
        self.turn
    }

    /// Displacement that leads on from an earlier one of the same law.
    #[cfg(feature = "cli")]
    pub(crate) fn since(&self, earlier: &RigidMove) -> RigidMove {
        let turn = self.turn * earlier.turn.conjugate();
        RigidMove { point: self.point, turn, shift: self.shift - earlier.shift }
    }

    /// Position and orientation after the displacement.
    pub(crate) fn carry(&self, (position, orientation): (DVec3, DQuat)) -> (DVec3, DQuat) {
        if self.turn == DQuat::IDENTITY {
            return (position + self.shift, orientation);
        }
        let turned = self.point + self.turn * (position - self.point);
        (turned + self.shift, (self.turn * orientation).normalize())
    }
}

impl MotionPart {
    /// Displacement at `time` \[s\].
    pub(crate) fn displacement(&self, time: f64) -> RigidMove {
        let elapsed = self.timing.elapsed(time);
        match &self.law {
            MotionLaw::Velocity(velocity) => RigidMove::shift(elapsed * *velocity),
            MotionLaw::Rotation { point, rate } => {
                RigidMove::turn(*point, DQuat::from_scaled_axis(elapsed * *rate))
            }
            MotionLaw::Oscillation { amplitude, frequency, phase } => {
                RigidMove::shift(*amplitude * swing(*frequency, *phase, elapsed))
            }
            MotionLaw::Rocking { point, amplitude, frequency, phase } => {
                let angle = *amplitude * swing(*frequency, *phase, elapsed);
                RigidMove::turn(*point, DQuat::from_scaled_axis(angle))
            }
            MotionLaw::Table { times, displacements, point, rotations } => RigidMove {
                point: *point,
                turn: interpolate(times, rotations, elapsed, turn_between),
                shift: interpolate(times, displacements, elapsed, DVec3::lerp),
            },
        }
    }

    /// Whether the motion changes orientations.
    pub fn turns(&self) -> bool {
        match &self.law {
            MotionLaw::Rotation { .. } | MotionLaw::Rocking { .. } => true,
            MotionLaw::Velocity(_) | MotionLaw::Oscillation { .. } => false,
            MotionLaw::Table { rotations, .. } => !rotations.is_empty(),
        }
    }
}

impl MotionLaw {
    /// Bound on the speed \[m/s\]; `reach` is the distance \[m\] of the farthest point from an axis, which is given by a point and a unit
    /// vector.
    pub fn top_speed(&self, reach: impl Fn(DVec3, DVec3) -> f64) -> f64 {
        let turning = |point: DVec3, rate: DVec3| match rate.try_normalize() {
            Some(axis) => rate.length() * reach(point, axis),
            None => 0.0,
        };
        match self {
            MotionLaw::Velocity(velocity) => velocity.length(),
            MotionLaw::Rotation { point, rate } => turning(*point, *rate),
            MotionLaw::Oscillation { amplitude, frequency, .. } => TAU * frequency * amplitude.length(),
            MotionLaw::Rocking { point, amplitude, frequency, .. } => {
                turning(*point, TAU * frequency * *amplitude)
            }
            MotionLaw::Table { times, displacements, point, rotations } => {
                let spans: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let legs = displacements.windows(2).zip(&spans).map(|(x, span)| x[0].distance(x[1]) / span);
                let turns = rotations.windows(2).zip(&spans).map(|(turn, span)| {
                    turning(*point, rotation_vector(turn[1] * turn[0].conjugate()) / *span)
                });
                legs.fold(0.0, f64::max) + turns.fold(0.0, f64::max)
            }
        }
    }
}

impl From<MotionLaw> for MotionPart {
    fn from(law: MotionLaw) -> Self {
        MotionPart { law, timing: MotionTiming::default() }
    }
}

/// Deviation of a sine from its value at τ = 0 \[-\].
fn swing(frequency: f64, phase: f64, elapsed: f64) -> f64 {
    (TAU * frequency * elapsed + phase).sin() - phase.sin()
}

/// Rotation at a share of the way between two, at a constant angular velocity.
fn turn_between(from: DQuat, to: DQuat, share: f64) -> DQuat {
    (DQuat::from_scaled_axis(share * rotation_vector(to * from.conjugate())) * from).normalize()
}

/// Rotation vector of a rotation by at most half a turn \[rad\]: axis times angle. It is precise for the smallest of angles, too.
pub(crate) fn rotation_vector(turn: DQuat) -> DVec3 {
    let turn = if turn.w < 0.0 { -turn } else { turn };
    let sine = turn.xyz().length();
    if sine == 0.0 { DVec3::ZERO } else { turn.xyz() * (2.0 * sine.atan2(turn.w) / sine) }
}

impl MotionTiming {
    /// Time \[s\] for which a motion has been under way at `time` \[s\], where it counts in proportion to the speed during the ramps.
    pub fn elapsed(&self, time: f64) -> f64 {
        let begin = self.start.unwrap_or(0.0);
        let since = if self.has_begin() { (time - begin).max(0.0) } else { time - begin };
        let length = self.stop.map_or(f64::INFINITY, |stop| stop - begin);
        let (mut lost, ramp) = (0.0, self.ramp);
        if ramp > 0.0 {
            let rising = since.min(ramp);
            let falling = (since - (length - ramp)).clamp(0.0, ramp);
            lost = rising - rising * rising / (2.0 * ramp) + falling * falling / (2.0 * ramp);
        }
        since.min(length) - lost
    }

    /// Mean over the `step` before `time` \[s\] of the speed in parts of the full speed \[-\].
    pub(super) fn pace(&self, time: f64, step: f64) -> f64 {
        let full = if self.has_begin() { self.start.unwrap_or(0.0) + self.ramp } else { f64::NEG_INFINITY };
        let end = self.stop.map_or(f64::INFINITY, |stop| stop - self.ramp);
        if time - step >= full && time <= end {
            return 1.0;
        }
        (self.elapsed(time) - self.elapsed(time - step)) / step
    }

    /// Whether the motion has begun by `time` \[s\] and not ended.
    pub(super) fn is_under_way(&self, time: f64) -> bool {
        self.start.is_none_or(|start| time >= start) && self.stop.is_none_or(|stop| time < stop)
    }

    fn has_begin(&self) -> bool {
        self.start.is_some() || self.ramp > 0.0
    }
}
