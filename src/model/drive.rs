//! Drives of joints \[E11\]: forces, pressures, and motors that hold a velocity or follow a position as far as their force reaches.

use super::World;
use super::motion::interpolate;

/// What drives a joint, positive along its axis: forces in N and metres, of a hinge torques in N m and radians.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub enum Drive {
    /// A force \[N\], of a hinge a torque \[N m\].
    Force(Course),
    /// A force per area \[Pa\].
    Pressure(Course),
    /// A motor that holds a velocity.
    Motor {
        /// The velocity that it holds \[m/s, rad/s\].
        velocity: Course,
        /// The largest force it has for that, either way \[N, N m\]; may be infinite.
        force_limit: f64,
    },
    /// A servo that follows a position.
    Servo {
        /// The position that it is to have \[m, rad\].
        position: Course,
        /// What it is off by goes away within about this time \[s\].
        response_time: f64,
        /// The largest force it has for that, either way \[N, N m\]; may be infinite.
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

/// What a drive does in a substep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Command {
    /// It pushes \[N, N m\].
    Push(f64),
    /// It pushes with a force per area that is measured when it acts \[Pa\].
    Press(f64),
    /// It holds the velocity `velocity + rate (aim - position)`.
    Hold {
        /// Velocity \[m/s, rad/s\].
        velocity: f64,
        /// Position that it goes for \[m, rad\].
        aim: f64,
        /// How fast \[1/s\].
        rate: f64,
        /// With this force at most \[N, N m\].
        force_limit: f64,
    },
}

impl Drive {
    /// What it does in the substep of `h` \[s\] that ends at `end` \[s\]. A fixed area is in it already.
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

    /// The largest speed that it holds or follows \[m/s, rad/s\].
    pub fn top_speed(&self) -> f64 {
        match self {
            Drive::Motor { velocity, .. } => velocity.largest(),
            Drive::Servo { position, .. } => position.steepest(),
            _ => 0.0,
        }
    }

    /// Whether it holds a velocity or a position, as far as its force reaches.
    pub fn holds(&self) -> bool {
        matches!(self, Drive::Motor { .. } | Drive::Servo { .. })
    }
}

impl Area {
    /// The area now \[m²\].
    pub fn now(&self, world: &World) -> f64 {
        match self {
            Area::Fixed(area) => *area,
            Area::Between(spans) => spans.iter().map(|span| span.length(world)).product(),
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

    /// The largest rate at which it changes \[1/s\].
    fn steepest(&self) -> f64 {
        let Course::Table { times, values } = self else { return 0.0 };
        let rate =
            |(times, values): (&[f64], &[f64])| ((values[1] - values[0]) / (times[1] - times[0])).abs();
        times.windows(2).zip(values.windows(2)).map(rate).fold(0.0, f64::max)
    }

    /// The same course times a factor.
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
