//! Drives of joints \[E11\]: forces, pressures, motors that hold a velocity and servos that follow a position, up to a force limit.

use glam::DVec3;

use super::motion::interpolate;
use super::{Form, Surface, World};

/// Drive of a joint, positive along its axis: forces in N and lengths in m, for a hinge torques in N m and angles in rad.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Drive {
    /// A force \[N\]; for a hinge a torque \[N m\].
    Force(Course),
    /// A force per area \[Pa\].
    Pressure(Course),
    /// A motor that holds a velocity.
    Motor {
        /// Velocity to hold \[m/s, rad/s\].
        velocity: Course,
        /// Largest force of the motor in either direction \[N, N m\]; may be infinite.
        force_limit: f64,
    },
    /// A servo that follows a position.
    Servo {
        /// Position to follow \[m, rad\].
        position: Course,
        /// Time constant with which a deviation from the position decays \[s\].
        response_time: f64,
        /// Largest force of the servo in either direction \[N, N m\]; may be infinite.
        force_limit: f64,
    },
}

/// A number as a function of time.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Course {
    /// A constant.
    Constant(f64),
    /// Linear interpolation between ascending times \[s\], constant outside.
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
    /// A constant area \[m²\].
    Fixed(f64),
    /// The product of the present distances between two pairs of walls.
    Between([Span; 2]),
}

/// Two plane walls that face each other along x, y or z.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// The axis: 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// Body of the wall with the smaller coordinate.
    pub low: usize,
    /// Body of the wall with the larger coordinate.
    pub high: usize,
}

impl World {
    /// Returns the walls `low` and `high` as a span, if each is one plane, the normal of `low` is +x, +y or +z, and that of `high`
    /// opposite.
    pub fn span(&self, low: usize, high: usize) -> Option<Span> {
        let normal = |body: usize| {
            let mut own = self.surfaces.iter().filter(|surface| surface.body as usize == body);
            match (own.next(), own.next()) {
                (Some(surface @ Surface { form: Form::Plane, .. }), None) => {
                    Some(self.bodies.orientation[body] * surface.orientation * DVec3::Z)
                }
                _ => None,
            }
        };
        let (low_normal, high_normal) = (normal(low)?, normal(high)?);
        let axis = (0..3).find(|&axis| {
            low_normal.distance(DVec3::AXES[axis]) < 1e-9 && high_normal.distance(-DVec3::AXES[axis]) < 1e-9
        })?;
        Some(Span { axis, low, high })
    }
}

/// Action of a drive in a substep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// A force \[N\], or a torque \[N m\].
    Push(f64),
    /// A force per area \[Pa\]; the area is measured when the force acts.
    Press(f64),
    /// A velocity to hold, `velocity + rate (aim - position)`.
    Hold {
        /// Velocity at the position `aim` \[m/s, rad/s\].
        velocity: f64,
        /// Position aimed at \[m, rad\].
        aim: f64,
        /// Rate at which a deviation from `aim` decays \[1/s\].
        rate: f64,
        /// Largest force in either direction \[N, N m\].
        force_limit: f64,
    },
}

impl Drive {
    /// Command of the drive in the substep of `h` \[s\] that ends at `end` \[s\]. A pressure on a fixed area becomes a force here.
    pub fn command(&self, end: f64, h: f64, area: Option<Area>) -> Command {
        let middle = end - 0.5 * h;
        match self {
            Drive::Force(force) => Command::Push(force.at(middle)),
            Drive::Pressure(pressure) => match area {
                Some(Area::Fixed(area)) => Command::Push(pressure.at(middle) * area),
                _ => Command::Press(pressure.at(middle)),
            },
            Drive::Motor { velocity, force_limit } => {
                let velocity = velocity.at(middle);
                Command::Hold { velocity, aim: 0.0, rate: 0.0, force_limit: *force_limit }
            }
            Drive::Servo { position, response_time, force_limit } => {
                let (before, after) = (position.at(end - h), position.at(end));
                let rate = 1.0 / response_time.max(h);
                Command::Hold { velocity: (after - before) / h, aim: before, rate, force_limit: *force_limit }
            }
        }
    }

    /// Largest speed that a motor holds or a servo follows \[m/s, rad/s\]; 0 for other drives.
    pub fn top_speed(&self) -> f64 {
        match self {
            Drive::Motor { velocity, .. } => velocity.largest(),
            Drive::Servo { position, .. } => position.steepest(),
            _ => 0.0,
        }
    }

    /// Whether the drive is a motor or a servo, which holds a velocity or a position up to its force limit.
    pub fn holds(&self) -> bool {
        matches!(self, Drive::Motor { .. } | Drive::Servo { .. })
    }
}

impl Area {
    /// Present area \[m²\].
    pub fn now(&self, world: &World) -> f64 {
        match self {
            Area::Fixed(area) => *area,
            Area::Between(spans) => spans.iter().map(|span| span.length(world)).product(),
        }
    }
}

impl Span {
    /// Present distance between the walls \[m\].
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

    /// Largest absolute value over all times.
    fn largest(&self) -> f64 {
        match self {
            Course::Constant(value) => value.abs(),
            Course::Table { values, .. } => values.iter().fold(0.0, |most, value| value.abs().max(most)),
        }
    }

    /// Largest rate of change over all times \[1/s\].
    fn steepest(&self) -> f64 {
        let Course::Table { times, values } = self else { return 0.0 };
        let rate =
            |(times, values): (&[f64], &[f64])| ((values[1] - values[0]) / (times[1] - times[0])).abs();
        times.windows(2).zip(values.windows(2)).map(rate).fold(0.0, f64::max)
    }

    /// Returns the course multiplied by a factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Course {
        match self {
            Course::Constant(value) => Course::Constant(factor * value),
            Course::Table { times, values } => {
                Course::Table { times, values: values.into_iter().map(|value| factor * value).collect() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_forces_is_linear_between_its_times_and_constant_outside() {
        let course = Course::Table { times: vec![1.0, 3.0], values: vec![2.0, 6.0] };
        assert_eq!([0.0, 1.0, 2.0, 3.0, 9.0].map(|time| course.at(time)), [2.0, 2.0, 4.0, 6.0, 6.0]);
        assert_eq!((course.largest(), course.steepest()), (6.0, 2.0));
    }

    #[test]
    fn a_servo_goes_along_with_its_table_and_makes_up_for_what_it_is_off() {
        let position = Course::Table { times: vec![0.0, 1.0], values: vec![0.0, 2.0] };
        let servo = Drive::Servo { position, response_time: 0.1, force_limit: 9.0 };
        let Command::Hold { velocity, aim, rate, force_limit } = servo.command(0.6, 0.1, None) else {
            panic!("a servo holds")
        };
        approx::assert_relative_eq!(velocity, 2.0, max_relative = 1e-12);
        approx::assert_relative_eq!(aim, 1.0, max_relative = 1e-12);
        assert_eq!((rate, force_limit), (10.0, 9.0));
    }

    #[test]
    fn a_pressure_on_a_fixed_area_is_a_force() {
        let pressure = Drive::Pressure(Course::Constant(100.0));
        assert_eq!(pressure.command(1.0, 0.1, Some(Area::Fixed(0.1))), Command::Push(10.0));
        assert_eq!(pressure.command(1.0, 0.1, None), Command::Press(100.0));
    }
}
