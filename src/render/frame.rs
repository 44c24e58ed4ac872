//! One state of a run as pictures need it.

use glam::{DQuat, DVec3};

use super::Show;
use crate::engine::Snapshot;
use crate::error::Error;
use crate::model::World;
use crate::output::frames;
use crate::output::vtp::{Array, PolyData};

/// A grain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ball {
    /// Centre \[m\].
    pub centre: DVec3,
    /// Radius \[m\].
    pub radius: f64,
}

/// The normal force of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Force {
    /// Ends of its line \[m\].
    pub ends: [DVec3; 2],
    /// How large it is \[N\].
    pub size: f64,
}

/// A state: the grains with their fields, the forces between them and where the boundaries are.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Simulated time \[s\].
    pub time: f64,
    /// Grains.
    pub balls: Vec<Ball>,
    /// Fields of the grains: those of the file, and where a boundary turns the velocity relative to it.
    pub fields: Vec<Array>,
    /// Forces; empty where nobody asked for them.
    pub forces: Vec<Force>,
    /// Position \[m\] and orientation of every boundary.
    pub poses: Vec<(DVec3, DQuat)>,
}

impl Frame {
    /// Centres and radii of the grains \[m\].
    pub fn spheres(&self) -> impl Iterator<Item = (DVec3, f64)> + '_ {
        self.balls.iter().map(|ball| (ball.centre, ball.radius))
    }

    /// A frame of grains, and of contacts if they are to be shown, between the boundaries of `world`. Gives what
    /// is missing in the grains or contacts otherwise.
    ///
    /// # Errors
    /// The name of an array that a frame needs and does not have.
    pub fn new(
        grains: PolyData,
        contacts: Option<&PolyData>,
        show: Show,
        world: &World,
    ) -> Result<Frame, &'static str> {
        let radius = array(&grains.point_data, "radius")?;
        let ball = |(i, point): (usize, &[f64; 3])| Ball {
            centre: DVec3::from_array(*point),
            radius: radius.component(i, 0),
        };
        Ok(Frame {
            time: grains.time,
            balls: grains.points.iter().enumerate().map(ball).collect(),
            forces: contacts
                .zip(show.array())
                .map_or(Ok(Vec::new()), |(contacts, of)| forces(contacts, of))?,
            poses: poses(&grains, world),
            fields: relative_velocity(&grains, world).into_iter().chain(grains.point_data).collect(),
        })
    }
}

/// Velocities of grains less that of the first boundary that turns, at their places \[m/s\].
fn relative_velocity(grains: &PolyData, world: &World) -> Option<Array> {
    let velocity = array(&grains.point_data, "velocity").ok()?;
    let drum = world.boundaries.iter().find(|boundary| boundary.turns())?;
    let relative = grains.points.iter().enumerate().map(|(i, place)| {
        let own = DVec3::from_array([0, 1, 2].map(|axis| velocity.component(i, axis)));
        let turning = drum.turning_velocity(DVec3::from_array(*place), grains.time);
        (own - turning).to_array()
    });
    Some(Array::vectors("relative_velocity", relative))
}

fn array<'a>(arrays: &'a [Array], name: &'static str) -> Result<&'a Array, &'static str> {
    arrays.iter().find(|array| array.name == name).ok_or(name)
}

/// The normal forces that are not 0, as most of a bed are, by their size.
fn forces(contacts: &PolyData, of: &'static str) -> Result<Vec<Force>, &'static str> {
    let normal = array(&contacts.cell_data, of)?;
    let lines = contacts.points.as_chunks::<2>().0.iter().enumerate();
    let force = |(i, ends): (usize, &[[f64; 3]; 2])| Force {
        ends: ends.map(DVec3::from_array),
        size: normal.component(i, 0).abs(),
    };
    Ok(lines.map(force).filter(|force| force.size > 0.0).collect())
}

/// The poses that the frame holds, or those at its time where it holds none of them.
fn poses(grains: &PolyData, world: &World) -> Vec<(DVec3, DQuat)> {
    let find = |name| array(&grains.field_data, name).ok();
    let is_whole =
        |array: &&Array, components| array.components == components && array.len() == world.boundaries.len();
    let position = find("boundary_position").filter(|array| is_whole(array, 3));
    let orientation = find("boundary_orientation").filter(|array| is_whole(array, 4));
    let boundaries = world.boundaries.iter().enumerate();
    let pose = |(i, boundary): (usize, &crate::model::Boundary)| match (position, orientation) {
        (Some(position), Some(orientation)) => (
            DVec3::from_array([0, 1, 2].map(|axis| position.component(i, axis))),
            DQuat::from_array([0, 1, 2, 3].map(|axis| orientation.component(i, axis))),
        ),
        _ => boundary.pose_at(grains.time),
    };
    boundaries.map(pose).collect()
}

/// The frame of a snapshot, with its forces where they are to be shown.
///
/// # Errors
/// None as long as frames have the arrays that pictures need.
pub fn frame_of(snapshot: &Snapshot, show: Show) -> Result<Frame, Error> {
    let contacts = show.array().map(|_| frames::contacts(snapshot));
    Frame::new(frames::grains(snapshot), contacts.as_ref(), show, &snapshot.world).map_err(|array| {
        Error::Unusable {
            origin: "the state of the scene".to_owned(),
            found: format!("has no array `{array}`"),
            advice: "draw the results of a run that has it".to_owned(),
        }
    })
}
