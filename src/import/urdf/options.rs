//! What is told of a robot beside its file.

use std::path::PathBuf;

use glam::DVec3;

/// How the root of a robot is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobotBase {
    /// It does not move.
    Fixed,
    /// It moves freely.
    Free,
}

/// Drives of all joints at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RobotDrive {
    /// A torque or force of 0.
    #[default]
    Torque,
    /// A motor that holds the velocity 0 with at most the effort.
    Velocity,
    /// A servo that holds the position of the start with at most the effort.
    Position,
}

/// What is told of a robot beside its file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RobotOptions {
    /// How the root is held; by default it is fixed if it is called `world`.
    pub base: Option<RobotBase>,
    /// Position of the frame of the root \[m\].
    pub position: DVec3,
    /// Positions of joints at the start, by name \[m, rad\].
    pub at: Vec<(String, f64)>,
    /// Drives of all joints at the start.
    pub drive: RobotDrive,
    /// Folders of packages, by name.
    pub packages: Vec<(String, PathBuf)>,
}
