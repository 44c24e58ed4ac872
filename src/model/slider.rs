//! Sliders: boundaries with a mass that move along one axis, pushed by contacts and by a drive.
//!
//! A drive gives a force, holds a pressure, or is a motor: it holds a velocity as far as its force reaches \[E11\].
//! Drives follow each other, each from its start until that of the next.

use glam::DVec3;

use super::motion::interpolate;
use super::{Axes, RigidBody, World};

/// A boundary on a rail along x, y or z.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Slider {
    /// Its mass, with all axes locked but the one it moves along.
    pub body: RigidBody,
    /// The axis: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// 1 where drives push towards larger coordinates, -1 where towards smaller ones.
    pub sign: f64,
    /// What drives it and from when on \[s\], in the order of their starts. Before the first nothing does.
    pub drives: Vec<(f64, Drive)>,
    /// Area that a pressure acts on.
    pub area: Option<Area>,
}

/// What drives a slider; positive along its axis.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Drive {
    /// A force \[N\].
    Force(Course),
    /// A force per area \[Pa\].
    Pressure(Course),
    /// A motor.
    Motor {
        /// The velocity that it holds \[m/s\].
        velocity: Course,
        /// The largest force it has for that, either way \[N\]; may be infinite.
        force_limit: f64,
    },
}

/// A number over time.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Course {
    /// Always the same.
    Constant(f64),
    /// Linear between these times \[s\], which ascend, and constant outside.
    Table {
        /// Times \[s\].
        times: Vec<f64>,
        /// The number at each of them.
        values: Vec<f64>,
    },
}

/// The area that a pressure acts on.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Area {
    /// Always the same \[m²\].
    Fixed(f64),
    /// The product of the present distances between two pairs of walls.
    Between([Span; 2]),
}

/// Two planes that face each other along x, y or z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// The axis: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Body of the wall with the smaller coordinate.
    pub low: usize,
    /// Body of the other.
    pub high: usize,
}

/// What a drive does in a substep, towards larger coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// It pushes \[N\].
    Push(f64),
    /// It pushes with a force per area that is measured when it acts \[Pa\].
    Press(f64),
    /// It holds a velocity \[m/s\].
    Hold {
        /// The velocity \[m/s\].
        velocity: f64,
        /// With this force at most \[N\].
        force_limit: f64,
    },
}

impl Slider {
    /// What drives it at `time` \[s\]. A fixed area is in it already.
    pub fn command_at(&self, time: f64) -> Command {
        let begun = self.drives.partition_point(|(start, _)| *start <= time);
        let Some((_, drive)) = begun.checked_sub(1).map(|last| &self.drives[last]) else {
            return Command::Push(0.0);
        };
        match drive {
            Drive::Force(force) => Command::Push(self.sign * force.at(time)),
            Drive::Pressure(pressure) => match self.area {
                Some(Area::Fixed(area)) => Command::Push(self.sign * pressure.at(time) * area),
                _ => Command::Press(self.sign * pressure.at(time)),
            },
            Drive::Motor { velocity, force_limit } => {
                Command::Hold { velocity: self.sign * velocity.at(time), force_limit: *force_limit }
            }
        }
    }

    /// The largest speed that one of its motors holds \[m/s\].
    pub fn top_speed(&self) -> f64 {
        let speed = |(_, drive): &(f64, Drive)| match drive {
            Drive::Motor { velocity, .. } => velocity.largest(),
            _ => 0.0,
        };
        self.drives.iter().map(speed).fold(0.0, f64::max)
    }

    /// Area that a pressure acts on now \[m²\]; 0 where none was given.
    pub fn area(&self, world: &World) -> f64 {
        match &self.area {
            Some(Area::Fixed(area)) => *area,
            Some(Area::Between(spans)) => spans.iter().map(|span| span.length(world)).product(),
            None => 0.0,
        }
    }
}

impl Span {
    /// Present distance of the walls \[m\].
    pub fn length(&self, world: &World) -> f64 {
        let coordinate = |body: usize| world.bodies.position[body][self.axis];
        coordinate(self.high) - coordinate(self.low)
    }
}

impl Course {
    /// The number at `time` \[s\].
    pub fn at(&self, time: f64) -> f64 {
        match self {
            Course::Constant(value) => *value,
            Course::Table { times, values } => {
                interpolate(times, values, time, |before, after, share| before + share * (after - before))
            }
        }
    }

    /// The largest size it ever has.
    fn largest(&self) -> f64 {
        match self {
            Course::Constant(value) => value.abs(),
            Course::Table { values, .. } => values.iter().fold(0.0, |most, value| value.abs().max(most)),
        }
    }
}

impl RigidBody {
    /// A body at rest that moves along one axis (0, 1, 2 for x, y, z) and never turns.
    pub fn on_rail(mass: f64, axis: usize) -> RigidBody {
        let across = (0..3).filter(|other| *other != axis).map(|other| Axes::TRANSLATION[other]);
        let locked = across.chain(Axes::ROTATION).fold(Axes::NONE, Axes::and);
        let (velocity, angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        // What it would take to turn it does not matter.
        RigidBody { mass, moments: DVec3::ONE, velocity, angular_velocity, locked }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slider(drives: Vec<(f64, Drive)>, area: Option<Area>) -> Slider {
        Slider { body: RigidBody::on_rail(2.0, 2), axis: 2, sign: -1.0, drives, area }
    }

    #[test]
    fn drives_follow_each_other_and_push_along_their_axis() {
        let motor = Drive::Motor { velocity: Course::Constant(0.5), force_limit: 9.0 };
        let pressure = Drive::Pressure(Course::Constant(100.0));
        let slider = slider(vec![(1.0, pressure), (2.0, motor)], Some(Area::Fixed(0.1)));
        assert_eq!(slider.command_at(0.5), Command::Push(0.0));
        assert_eq!(slider.command_at(1.5), Command::Push(-10.0));
        assert_eq!(slider.command_at(2.5), Command::Hold { velocity: -0.5, force_limit: 9.0 });
        assert_eq!(slider.top_speed(), 0.5);
    }

    #[test]
    fn a_table_of_forces_is_linear_between_its_times_and_constant_outside() {
        let course = Course::Table { times: vec![1.0, 3.0], values: vec![2.0, 6.0] };
        assert_eq!([0.0, 1.0, 2.0, 3.0, 9.0].map(|time| course.at(time)), [2.0, 2.0, 4.0, 6.0, 6.0]);
    }

    #[test]
    fn a_body_on_a_rail_moves_along_it_and_never_turns() {
        let body = RigidBody::on_rail(3.0, 1);
        assert_eq!(body.locked.free_translation(), DVec3::Y);
        assert_eq!(body.locked.free_rotation(), DVec3::ZERO);
        assert_eq!(body.largest_inverse_moment(), 0.0);
        assert_eq!(body.inverse_inertia(glam::DQuat::IDENTITY), glam::DMat3::ZERO);
    }
}
