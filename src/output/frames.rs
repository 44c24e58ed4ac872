//! Frames of a state: grains as points, contacts as lines, boundaries as triangles, and the surface of a bed as a grid.

use glam::{DMat3, DQuat, DVec3};

use crate::contact::{ContactState, Key};
use crate::engine::{Snapshot, planned_contacts};
use crate::law::bond::BeamLoad;
use crate::model::bond::BondPose;
use crate::model::{Boundary, Liquid, Motion, World};
use crate::observe::contacts::coordination;
use crate::observe::loads::reactions;
use crate::observe::stress::of_grains;
use crate::observe::surface::heights;
use crate::observe::{Base, SurfacePlan};

use super::outline::DrawnRoom;
use super::vtp::{Array, PolyData, VtpCells};

/// Bytes of a sphere in a frame, then of a contact: points, cells and data.
const BYTES_PER_SPHERE: u64 = 136;
const BYTES_PER_CONTACT: u64 = 96;
/// Bytes of a cell of the surface in a frame: its height, point and data, and the corners of a quadrangle.
const BYTES_PER_CELL: u64 = 84;

/// Bytes that the frames of this many spheres and of a surface need. Frames are made one after the other, so the largest counts.
pub fn planned_bytes(spheres: usize, surface: Option<&SurfacePlan>) -> u64 {
    let cells: usize = surface.map_or(0, |plan| plan.cells.iter().product());
    let of_grains = spheres as u64 * BYTES_PER_SPHERE;
    let of_contacts = planned_contacts(spheres) as u64 * BYTES_PER_CONTACT;
    of_grains.max(of_contacts).max(cells as u64 * BYTES_PER_CELL)
}

/// Frame of the grains: the spheres of present grains as points. Data of a sphere: radius \[m\] and material (index in the scenario). Data
/// of its grain: velocity \[m/s\], angular velocity \[rad/s\], orientation (x, y, z, w), id, coordination number, sum of the contact forces
/// \[N\], pressure \[Pa\], in a scene with clumps the clump (index in the scenario, -1 for a single sphere), where grains have a density of
/// their own the density \[kg/m³\], and in a scene with heat the temperature \[K\]. The poses of all boundaries are added.
pub fn grains(snapshot: &Snapshot) -> PolyData {
    let (world, bodies) = (&snapshot.world, &snapshot.world.bodies);
    let spheres = || {
        snapshot.present_grains().flat_map(|grain| {
            world.grains[grain].spheres().map(move |sphere| (grain, &world.spheres[sphere]))
        })
    };
    let of_body = |values: &'_ [DVec3]| -> Vec<[f64; 3]> {
        spheres().map(|(_, sphere)| values[sphere.body as usize].to_array()).collect()
    };
    let orientation = spheres().map(|(_, sphere)| bodies.orientation[sphere.body as usize].to_array());
    let coordination = coordination(snapshot);
    let mut point_data = vec![
        Array::scalars("radius", spheres().map(|(_, sphere)| sphere.radius)),
        Array::vectors("velocity", of_body(&bodies.velocity).into_iter()),
        Array::vectors("angular_velocity", of_body(&bodies.angular_velocity).into_iter()),
        Array::vectors("orientation", orientation),
        Array::integers("id", spheres().map(|(grain, _)| world.ids[grain] as i32)),
        Array::integers("material", spheres().map(|(_, sphere)| sphere.material as i32)),
        Array::integers("coordination_number", spheres().map(|(grain, _)| coordination[grain] as i32)),
    ];
    let reactions = reactions(snapshot);
    let of_sphere = || spheres().map(|(grain, sphere)| (grain, &reactions[sphere.body as usize]));
    point_data.push(Array::vectors("contact_force", of_sphere().map(|(_, of)| of.force.to_array())));
    point_data.push(Array::scalars("pressure", of_sphere().map(|(grain, of)| of.pressure(world, grain))));
    if !world.clumps.is_empty() {
        let clump = |grain: usize| world.grains[grain].clump.map_or(-1, |clump| clump as i32);
        point_data.push(Array::integers("clump", spheres().map(|(grain, _)| clump(grain))));
    }
    if snapshot.present_grains().any(|grain| world.grains[grain].density.is_some()) {
        let densities = spheres().map(|(grain, _)| [world.grain_density(grain)]);
        point_data.push(Array::precise_vectors("density", densities));
    }
    if world.heat.is_some() {
        let temperatures = spheres().map(|(grain, _)| [world.grain_temperature(grain)]);
        point_data.push(Array::precise_vectors("temperature", temperatures));
    }
    PolyData {
        time: snapshot.report.time,
        points: spheres().map(|(_, sphere)| world.sphere_centre(sphere).to_array()).collect(),
        cells: VtpCells::Vertices,
        point_data,
        cell_data: Vec::new(),
        field_data: boundary_poses(world),
    }
}

/// As [`grains`], with the mean stress of every grain since the base, row by row, and a third of its trace, for discs half of it \[Pa\],
/// where the world measures them.
pub fn measured_grains(snapshot: &Snapshot, base: Option<&Base>) -> PolyData {
    let mut frame = grains(snapshot);
    let Some(stresses) = of_grains(snapshot, base) else { return frame };
    let world = &snapshot.world;
    let of_sphere = || {
        let spheres = |grain: usize| world.grains[grain].spheres().map(move |_| grain);
        snapshot.present_grains().flat_map(spheres).map(|grain| &stresses[grain])
    };
    let ways = if world.plane.is_some() { 2.0 } else { 3.0 };
    let trace = |stress: &DMat3| (0..3).map(|axis| stress.col(axis)[axis]).sum::<f64>();
    let rows = |stress: &DMat3| stress.transpose().to_cols_array();
    frame.point_data.push(Array::vectors("mean_stress", of_sphere().map(rows)));
    frame.point_data.push(Array::scalars("mean_pressure", of_sphere().map(|stress| trace(stress) / ways)));
    frame
}

/// Poses of the boundaries, in the order of the scenario: position \[m\] and orientation.
fn poses(world: &World) -> Vec<(DVec3, DQuat)> {
    let (position, orientation) = (world.bodies.position.iter(), world.bodies.orientation.iter());
    position.copied().zip(orientation.copied()).take(world.boundaries.len()).collect()
}

/// Poses of the boundaries as arrays; the orientation as x, y, z, w.
fn boundary_poses(world: &World) -> Vec<Array> {
    let poses = poses(world);
    vec![
        Array::precise_vectors("boundary_position", poses.iter().map(|(place, _)| place.to_array())),
        Array::precise_vectors("boundary_orientation", poses.iter().map(|(_, turn)| turn.to_array())),
    ]
}

/// Frame of the boundaries: triangles in their present poses, planes as far as the room. Data of a triangle: index of the boundary and of
/// the material in the scenario, and velocity over the last substep \[m/s\].
pub fn walls(snapshot: &Snapshot, room: &DrawnRoom) -> PolyData {
    let (world, bodies) = (&snapshot.world, &snapshot.world.bodies);
    let outline = room.outline(world, &poses(world));
    // At the start kinematic bodies have no velocity yet.
    let motion = |(body, boundary): (usize, &Boundary)| match boundary.motion {
        Motion::Dynamic(_) => (bodies.velocity[body], bodies.angular_velocity[body]),
        _ => {
            let state = boundary.state_at(snapshot.report.time, snapshot.substep);
            (state.velocity, state.angular_velocity)
        }
    };
    let triangles: Vec<([DVec3; 3], usize)> = outline.triangles().collect();
    let surfaces = || triangles.iter().map(|&(_, surface)| &world.surfaces[surface]);
    let motions: Vec<(DVec3, DVec3)> = world.boundaries.iter().enumerate().map(motion).collect();
    let velocity = triangles.iter().map(|&(corners, surface)| {
        let body = world.surfaces[surface].body as usize;
        let arm = corners.iter().sum::<DVec3>() / 3.0 - bodies.position[body];
        (motions[body].0 + motions[body].1.cross(arm)).to_array()
    });
    PolyData {
        time: snapshot.report.time,
        points: triangles.iter().flat_map(|(corners, _)| corners.map(|corner| corner.to_array())).collect(),
        cells: VtpCells::Triangles,
        point_data: Vec::new(),
        cell_data: vec![
            Array::integers("boundary", surfaces().map(|surface| surface.body as i32)),
            Array::integers("material", surfaces().map(|surface| surface.material as i32)),
            Array::vectors("velocity", velocity),
        ],
        field_data: Vec::new(),
    }
}

/// Frame of the grains that are polyhedra: the triangles of their faces in their present poses. Data of a triangle: id of the grain, index
/// of its material in the scenario, and velocity of the grain \[m/s\].
pub fn polyhedra(snapshot: &Snapshot) -> PolyData {
    let (world, bodies) = (&snapshot.world, &snapshot.world.bodies);
    let (mut points, mut grains) = (Vec::new(), Vec::new());
    for grain in snapshot.present_grains() {
        let sphere = &world.spheres[world.grains[grain].first as usize];
        let hull = world.grains[grain].clump.and_then(|clump| world.clumps[clump as usize].hull.as_ref());
        let Some(hull) = hull else { continue };
        let (centre, turn, scale) = (
            world.sphere_centre(sphere),
            bodies.orientation[sphere.body as usize],
            sphere.radius / hull.radius,
        );
        for corners in hull.triangles() {
            points.extend(corners.map(|corner| (centre + turn * (scale * corner)).to_array()));
            grains.push(grain);
        }
    }
    let body = |grain: usize| world.grain_body(grain);
    let material = |grain: usize| world.spheres[world.grains[grain].first as usize].material as i32;
    PolyData {
        time: snapshot.report.time,
        points,
        cells: VtpCells::Triangles,
        point_data: Vec::new(),
        cell_data: vec![
            Array::integers("id", grains.iter().map(|&grain| world.ids[grain] as i32)),
            Array::integers("material", grains.iter().map(|&grain| material(grain))),
            Array::vectors("velocity", grains.iter().map(|&grain| bodies.velocity[body(grain)].to_array())),
        ],
        field_data: Vec::new(),
    }
}

/// Frame of the surface of a bed: quadrangles between the centres of the cells of its grid. Data of a point: height \[m\].
pub fn surface(snapshot: &Snapshot, plan: &SurfacePlan) -> PolyData {
    let [columns, _] = plan.cells;
    let heights = heights(snapshot, plan);
    let point = |(cell, &height): (usize, &f64)| {
        plan.middle(cell % columns, cell / columns).extend(height).to_array()
    };
    PolyData {
        time: snapshot.report.time,
        points: heights.iter().enumerate().map(point).collect(),
        cells: VtpCells::Grid(columns),
        point_data: vec![Array::scalars("height", heights.into_iter())],
        cell_data: Vec::new(),
        field_data: Vec::new(),
    }
}

/// Frame of the bonds that hold: lines along their beams, across a periodic face to the nearest image. Data of a bond: force along the beam
/// \[N\], positive under pressure, force across it \[N\], bending and twisting moment \[N m\], all means over the last substep, its stress
/// over its strength \[-\], the larger of tension on the outer fibre and shear, and the two bodies as of contacts.
pub fn bonds(snapshot: &Snapshot) -> PolyData {
    let world = &snapshot.world;
    let bonds: Vec<usize> = world.bonds.intact().collect();
    let of = |value: fn(&BeamLoad) -> f64| {
        let loads = bonds.iter().map(move |&bond| value(&world.bonds.states[bond].load));
        loads.collect::<Vec<f64>>().into_iter()
    };
    let points = bonds.iter().flat_map(|&bond| {
        let bond = &world.bonds.list[bond];
        let BondPose { axes, arms, .. } = world.placed_bond(bond);
        let middle = world.bodies.position[bond.bodies[0] as usize] + arms[0];
        let half = 0.5 * bond.beam.length * axes.x_axis;
        [(middle - half).to_array(), (middle + half).to_array()]
    });
    let labels = |&bond: &usize| world.bonds.list[bond].bodies.map(|body| world.label(body) as i32);
    PolyData {
        time: snapshot.report.time,
        points: points.collect(),
        cells: VtpCells::Lines,
        point_data: Vec::new(),
        cell_data: vec![
            Array::scalars("normal_force", of(|load| load.force.x)),
            Array::scalars("shear_force", of(|load| load.force.y.hypot(load.force.z))),
            Array::scalars("bending_moment", of(|load| load.moment.y.hypot(load.moment.z))),
            Array::scalars("twisting_moment", of(|load| load.moment.x.abs())),
            Array::scalars("utilisation", bonds.iter().map(|&bond| world.utilisation(bond))),
            Array::integer_vectors("bodies", bonds.iter().map(labels)),
        ],
        field_data: Vec::new(),
    }
}

/// Frame of the contacts: lines between the centres of the two spheres, for a boundary from the centre to the contact point, across a
/// periodic face to the nearest image. Data of a contact: normal and tangential force \[N\], gap \[m\], whether friction is at its bound (0
/// or 1), the two bodies (id of a grain, -1 - i for boundary number i of the scenario), in a scene with liquid the capillary force of its
/// bridge \[N\], 0 without one, and the compatible normal force \[N\] where the scenario asks for it.
pub fn contacts(snapshot: &Snapshot) -> PolyData {
    let contacts = || snapshot.counted_contacts();
    let force = |impulse: f64| impulse / snapshot.substep;
    let world = &snapshot.world;
    let bodies = |contact: &ContactState| contact.bodies.map(|body| world.label(body) as i32);
    let compatible = snapshot.compatible().into_iter();
    let compatible =
        compatible.map(|forces| Array::scalars("compatible_normal_force", forces.normal.iter().copied()));
    let bridge = |liquid: &Liquid| {
        let force = |contact: &ContactState| {
            let Key { a, b } = contact.key;
            let bridge = world.meniscus(a, b).filter(|_| liquid.joins(a, b));
            bridge.map_or(0.0, |bridge| bridge.force(contact.gap))
        };
        Array::scalars("bridge_force", contacts().map(force))
    };
    let bridges = world.liquid.as_ref().map(bridge);
    PolyData {
        time: snapshot.report.time,
        points: contacts().flat_map(|contact| ends(snapshot, contact)).collect(),
        cells: VtpCells::Lines,
        point_data: Vec::new(),
        cell_data: vec![
            Array::scalars("normal_force", contacts().map(|contact| force(contact.impulse.normal))),
            Array::scalars(
                "tangential_force",
                contacts().map(|contact| force(contact.impulse.tangent.length())),
            ),
            Array::scalars("gap", contacts().map(|contact| contact.gap)),
            Array::integers("sliding", contacts().map(|contact| i32::from(contact.is_sliding()))),
            Array::integer_vectors("bodies", contacts().map(bodies)),
        ]
        .into_iter()
        .chain(bridges)
        .chain(compatible)
        .collect(),
        field_data: Vec::new(),
    }
}

fn ends(snapshot: &Snapshot, contact: &ContactState) -> [[f64; 3]; 2] {
    let world = &snapshot.world;
    let near_end = world.centre(contact.key.a);
    let is_grain = world.sphere_of(contact.key.b).is_some();
    let far_end =
        if is_grain { world.periodic.image(world.centre(contact.key.b), near_end) } else { contact.point };
    [near_end.to_array(), far_end.to_array()]
}
