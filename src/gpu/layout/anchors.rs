//! Grid to which positions are anchored: a position is a cell and an offset from its centre.

use glam::{DQuat, DVec3, I64Vec3};

use crate::error::Error;
use crate::model::{Levels, World, contact_reach};
use crate::settings::Settings;

use super::{FAREST, Pose, double, quaternion, single};

/// Grid to which positions are anchored.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Anchors {
    /// Middle of cell 0 \[m\]: the least coordinate of a periodic axis, else 0.
    pub origin: DVec3,
    /// Edges of a cell \[m\]: diameter of the largest grain of level 0 with its margin, rounded up to five bits, so that whole numbers of
    /// cells are exact in single and double precision. Along a periodic axis the edge is a whole part of the period, exact to one
    /// rounding.
    pub cell_size: DVec3,
    /// Cells per period along each axis, 0 where it is not periodic.
    pub periods: I64Vec3,
    /// Levels of the contact search; the cells of levels 1, 2, 3 ... are 2, 4, 8 ... of these cells wide.
    pub levels: Levels,
}

impl Anchors {
    /// Returns the grid for the sizes of the grains of a world.
    pub fn for_world(world: &World, settings: &Settings) -> Anchors {
        let corners_alone = Levels { radius: 0.5 * world.largest_diameter(), used: 1 };
        let levels = Levels::for_world(world).unwrap_or(corners_alone);
        let reach = if levels.radius > 0.0 { contact_reach(levels.radius, settings.reach()) } else { 1.0 };
        let unit = (reach.log2().floor() - 4.0).exp2();
        let rounded = DVec3::splat((reach / unit).ceil() * unit);
        let periodic = &world.periodic;
        // Before the first grain comes, even a period shorter than a cell is one cell.
        let periods = periodic
            .cells_of_levels(reach, levels.count())
            .max(periodic.select(DVec3::ONE, DVec3::ZERO).as_i64vec3());
        Anchors {
            origin: periodic.select(periodic.min, DVec3::ZERO),
            cell_size: periodic.select(periodic.length / periods.as_dvec3(), rounded),
            periods,
            levels,
        }
    }

    /// Returns the strides of the cell hash along y and z. They follow the present extent of the grains, so that cells map to buckets
    /// without collisions, and are not less than those of a cube of all buckets, as grains may spread.
    pub(super) fn strides(&self, world: &World, buckets: u32) -> [i32; 2] {
        let centres = world.present_grains().map(|grain| world.bodies.position[world.grain_body(grain)]);
        let (low, high) =
            centres.fold((DVec3::MAX, DVec3::MIN), |(low, high), centre| (low.min(centre), high.max(centre)));
        let cube = f64::from(buckets).cbrt().ceil();
        let [x, y, _] = ((high - low) / self.cell_size)
            .to_array()
            .map(|cells| (cells.ceil() + 3.0).clamp(cube, f64::from(buckets).max(cube)) as i32);
        [x, x.wrapping_mul(y)]
    }

    /// Refuses a position whose cell index does not fit an integer, with room for further motion.
    pub(in crate::gpu) fn check_reach(&self, position: DVec3) -> Result<(), Error> {
        let cells = ((position - self.origin) / self.cell_size).abs().max_element();
        if cells <= FAREST { Ok(()) } else { Err(self.too_far(position)) }
    }

    /// Returns the error of a position beyond the cells.
    pub(in crate::gpu) fn too_far(&self, position: DVec3) -> Error {
        let cell = self.cell_size.min_element();
        Error::TooFar { x: position.x, y: position.y, z: position.z, cell, limit: FAREST * cell }
    }

    /// Returns the cell whose centre is nearest to a position, and the offset from that centre \[m\].
    pub fn anchor(&self, position: DVec3) -> ([i32; 3], [f32; 3]) {
        let from_origin = position - self.origin;
        let cell = (from_origin / self.cell_size).round();
        let offset = from_origin - cell * self.cell_size;
        (cell.to_array().map(|x| x as i32), single(offset))
    }

    /// Returns the position of an anchored point \[m\].
    pub fn position(&self, cell: [i32; 3], offset: [f32; 3]) -> DVec3 {
        self.origin + (DVec3::from(cell.map(f64::from)) * self.cell_size + double(offset))
    }

    /// Returns the cell inside the period that is equivalent to a cell, whole periods away.
    pub(super) fn wrap(&self, cell: [i32; 3]) -> [i32; 3] {
        let periods = self.periods.as_ivec3();
        [0, 1, 2]
            .map(|axis| if periods[axis] > 0 { cell[axis].rem_euclid(periods[axis]) } else { cell[axis] })
    }

    pub(super) fn pose(&self, position: DVec3, orientation: DQuat) -> Pose {
        let (cell, offset) = self.anchor(position);
        Pose { cell, machine: 0, offset, free_speed: 0.0, orientation: quaternion(orientation) }
    }
}
