//! Grains and contacts of a state as points and lines.

use glam::DVec3;

use crate::contact::ContactState;
use crate::engine::{Snapshot, planned_contacts};
use crate::observe::contacts::coordination;
use crate::world::World;

use super::vtp::{Array, Cells, PolyData};

/// Bytes of a grain and of a contact in a frame: points, cells and data.
const BYTES_PER_GRAIN: u64 = 120;
const BYTES_PER_CONTACT: u64 = 88;

/// Bytes that the frames of this many grains need, one after the other.
pub fn planned_bytes(grains: usize) -> u64 {
    (grains as u64 * BYTES_PER_GRAIN).max(planned_contacts(grains) as u64 * BYTES_PER_CONTACT)
}

/// Grains that are there as points: radius \[m\], velocity \[m/s\], angular velocity \[rad/s\], orientation (x, y, z, w), id,
/// material (index in the scenario) and coordination number; with them the poses of all boundaries.
pub fn grains(snapshot: &Snapshot) -> PolyData {
    let (world, bodies) = (&snapshot.world, &snapshot.world.bodies);
    let grains = || world.present_grains();
    let spheres = || grains().map(|grain| &world.spheres[grain]);
    let of_body = |values: &'_ [DVec3]| -> Vec<[f64; 3]> {
        grains().map(|grain| values[world.grain_body(grain)].to_array()).collect()
    };
    let orientation = grains().map(|grain| bodies.orientation[world.grain_body(grain)].to_array());
    let coordination = coordination(snapshot);
    PolyData {
        time: snapshot.report.time,
        points: of_body(&bodies.position),
        cells: Cells::Vertices,
        point_data: vec![
            Array::scalars("radius", spheres().map(|sphere| sphere.radius)),
            Array::vectors("velocity", of_body(&bodies.velocity).into_iter()),
            Array::vectors("angular_velocity", of_body(&bodies.angular_velocity).into_iter()),
            Array::vectors("orientation", orientation),
            Array::integers("id", grains().map(|grain| world.ids[grain] as i32)),
            Array::integers("material", spheres().map(|sphere| sphere.material as i32)),
            Array::integers("coordination_number", grains().map(|grain| coordination[grain] as i32)),
        ],
        cell_data: Vec::new(),
        field_data: boundary_poses(world),
    }
}

/// Where the boundaries are, in the order of the scenario: position \[m\] and orientation (x, y, z, w).
fn boundary_poses(world: &World) -> Vec<Array> {
    let count = world.boundaries.len();
    let (position, orientation) = (&world.bodies.position[..count], &world.bodies.orientation[..count]);
    vec![
        Array::precise_vectors("boundary_position", position.iter().map(|place| place.to_array())),
        Array::precise_vectors("boundary_orientation", orientation.iter().map(|turn| turn.to_array())),
    ]
}

/// Contacts as lines between the two centres, for a boundary from the centre to the contact point, across a
/// periodic face to the nearest image: normal and tangential force \[N\], gap \[m\], and whether friction is at
/// its bound (0 or 1).
pub fn contacts(snapshot: &Snapshot) -> PolyData {
    let contacts = || snapshot.contacts.iter();
    let force = |impulse: f64| impulse / snapshot.substep;
    PolyData {
        time: snapshot.report.time,
        points: contacts().flat_map(|contact| ends(snapshot, contact)).collect(),
        cells: Cells::Lines,
        point_data: Vec::new(),
        cell_data: vec![
            Array::scalars("normal_force", contacts().map(|contact| force(contact.impulse.normal))),
            Array::scalars(
                "tangential_force",
                contacts().map(|contact| force(contact.impulse.tangent.length())),
            ),
            Array::scalars("gap", contacts().map(|contact| contact.gap)),
            Array::integers("sliding", contacts().map(|contact| i32::from(contact.is_sliding()))),
        ],
        field_data: Vec::new(),
    }
}

fn ends(snapshot: &Snapshot, contact: &ContactState) -> [[f64; 3]; 2] {
    let centre = |body: u32| snapshot.world.bodies.position[body as usize];
    let near_end = centre(contact.bodies[0]);
    let is_grain = snapshot.world.sphere_of(contact.key.b).is_some();
    let far_end = if is_grain {
        snapshot.world.periodic.image(centre(contact.bodies[1]), near_end)
    } else {
        contact.point
    };
    [near_end.to_array(), far_end.to_array()]
}
