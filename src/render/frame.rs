//! One state of a run in the form that pictures are drawn from.

use glam::{DQuat, DVec3};

use super::Show;
use crate::engine::Snapshot;
use crate::error::Error;
use crate::model::World;
use crate::output::frames;
use crate::output::outline::HalfSpace;
use crate::output::vtp::{Array, PolyData};

/// Sphere of a grain, or a grain that is a polyhedron within it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnBall {
    /// Centre \[m\].
    pub centre: DVec3,
    /// Radius; of a polyhedron that of the sphere around it \[m\].
    pub radius: f64,
    /// Index of the clump of a polyhedron, and its orientation; `None` for a sphere.
    pub polyhedron: Option<(usize, DQuat)>,
}

impl DrawnBall {
    /// Faces of a polyhedron about its centre, in world axes; none for a sphere.
    pub fn faces<'a>(&self, world: &'a World) -> impl Iterator<Item = HalfSpace> + use<'a> {
        let hull = |(clump, turn): (usize, DQuat)| Some((world.clumps.get(clump)?.hull.as_ref()?, turn));
        let (hull, radius) = (self.polyhedron.and_then(hull), self.radius);
        hull.into_iter().flat_map(move |(hull, turn)| {
            let scale = radius / hull.radius;
            hull.faces
                .iter()
                .map(move |face| HalfSpace { normal: turn * face.normal, offset: scale * face.offset })
        })
    }
}

/// Normal force of a contact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Force {
    /// Ends of the line that is drawn for the force \[m\].
    pub ends: [DVec3; 2],
    /// Magnitude of the force \[N\].
    pub size: f64,
}

/// State: the grains with their fields, the contact forces, and the poses of the boundaries.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Simulated time \[s\].
    pub time: f64,
    /// Grains.
    pub balls: Vec<DrawnBall>,
    /// Fields of the grains: those of the file, and the velocity relative to the first boundary that turns, if there is one.
    pub fields: Vec<Array>,
    /// Contact forces; empty when they are not to be shown.
    pub forces: Vec<Force>,
    /// Position \[m\] and orientation of every boundary.
    pub poses: Vec<(DVec3, DQuat)>,
}

impl Frame {
    /// Centres and radii of the grains \[m\].
    pub fn spheres(&self) -> impl Iterator<Item = (DVec3, f64)> + '_ {
        self.balls.iter().map(|ball| (ball.centre, ball.radius))
    }

    /// A frame of grains between the boundaries of `world`, and of contacts if they are to be shown. Returns the name of a
    /// missing array otherwise.
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
        let [clump, orientation] = ["clump", "orientation"].map(|name| array(&grains.point_data, name).ok());
        let polyhedron = |i: usize| {
            // A sphere has the clump -1.
            let clump = Some(clump?.component(i, 0)).filter(|&clump| clump >= 0.0)? as usize;
            world.clumps.get(clump)?.hull.as_ref()?;
            let turn = DQuat::from_array(
                [0, 1, 2, 3].map(|axis| orientation.map_or(0.0, |of| of.component(i, axis))),
            );
            Some((clump, turn))
        };
        let ball = |(i, point): (usize, &[f64; 3])| DrawnBall {
            centre: DVec3::from_array(*point),
            radius: radius.component(i, 0),
            polyhedron: polyhedron(i),
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

/// Velocities of the grains relative to the first boundary that turns \[m/s\]: its velocity at the place of the grain is subtracted.
fn relative_velocity(grains: &PolyData, world: &World) -> Option<Array> {
    let velocity = array(&grains.point_data, "velocity").ok()?;
    let drum = world.boundaries.iter().find_map(|boundary| boundary.turning_at(grains.time))?;
    let relative = grains.points.iter().enumerate().map(|(i, place)| {
        let own = DVec3::from_array([0, 1, 2].map(|axis| velocity.component(i, axis)));
        (own - drum.velocity(DVec3::from_array(*place))).to_array()
    });
    Some(Array::vectors("relative_velocity", relative))
}

fn array<'a>(arrays: &'a [Array], name: &'static str) -> Result<&'a Array, &'static str> {
    arrays.iter().find(|array| array.name == name).ok_or(name)
}

/// Normal forces of the contacts, by magnitude. Contacts without force are left out.
fn forces(contacts: &PolyData, of: &'static str) -> Result<Vec<Force>, &'static str> {
    let normal = array(&contacts.cell_data, of)?;
    let lines = contacts.points.as_chunks::<2>().0.iter().enumerate();
    let force = |(i, ends): (usize, &[[f64; 3]; 2])| Force {
        ends: ends.map(DVec3::from_array),
        size: normal.component(i, 0).abs(),
    };
    Ok(lines.map(force).filter(|force| force.size > 0.0).collect())
}

/// Poses in the frame; without them, the poses that the motion of the boundaries gives at its time.
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

/// Frame of a snapshot, with the contact forces if they are to be shown.
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
