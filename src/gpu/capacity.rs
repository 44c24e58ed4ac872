//! Sizes of the buffers on the device, and which contents share one.

use encase::ShaderType as _;

use crate::engine::{is_guarded, planned_contacts};
use crate::error::Error;
use crate::model::World;
use crate::settings::{Bookkeeping, Settings};

use super::constants::{BINS, BOOKED, MOST_CUBE_BITS, Planned, SCAN_BLOCK, TILE};
use super::features::Features;
use super::layout::{self, ContactRoom};
use super::{Room, STEPS_PER_SUBMISSION};

/// Smallest size of a buffer \[bytes\]: an empty list still has to hold one element of any type.
pub(super) const SMALLEST: u64 = size_of::<layout::JointRow>() as u64;

/// Bytes that projected gradient descent stores per contact: two impulses and three slopes.
const DESCENT_BYTES: u64 = 5 * 24;

/// Capacity of the buffers: numbers of elements for which there is room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "scenario", derive(serde::Serialize, serde::Deserialize))]
pub struct Capacity {
    /// Grains.
    pub grains: u32,
    /// Spheres of grains.
    pub spheres: u32,
    /// Boundaries.
    pub boundaries: u32,
    /// Entries of `rigids`: bodies up to the last that is rigid and no sphere, has locked axes, or is under an applied force; all bodies
    /// in worlds with such grains or with clumps.
    pub rigids: u32,
    /// Vertices of dynamic boundaries.
    pub vertices: u32,
    /// Surfaces of boundaries.
    pub surfaces: u32,
    /// Blocks of 16 bytes of meshes and convex solids.
    pub mesh_blocks: u32,
    /// Joints.
    pub joints: u32,
    /// Machines: groups of joints that are connected through dynamic bodies.
    pub machines: u32,
    /// Rows of all joints.
    pub joint_rows: u32,
    /// Bodies of all machines.
    pub machine_bodies: u32,
    /// Numbers in the matrices of all machines.
    pub machine_matrix: u32,
    /// Materials.
    pub materials: u32,
    /// Sinks.
    pub sinks: u32,
    /// Meters of stress.
    pub meters: u32,
    /// Bins of all meters.
    pub meter_bins: u32,
    /// Whether the stress of every grain is summed.
    pub measures_grains: bool,
    /// Contacts.
    pub contacts: u32,
    /// Overflow contacts: contacts without a colour.
    pub overflow: u32,
    /// Buckets of the grid, a power of two.
    pub buckets: u32,
    /// Substeps of one submission; the schedule of the boundaries and the balance cover them.
    pub substeps: u32,
    /// Whether the works of the substeps are summed, for the energy balance or for the guard against energy made by friction \[E12\].
    pub keeps_balance: bool,
    /// Whether sweeps are accelerated: impulses and velocities before the last sweep are then stored.
    pub accelerates: bool,
    /// Pairs of numbers that a contact has in `impulses`.
    pub impulse_pairs: u32,
    /// Blocks of 16 bytes that a contact has in `constraint_arms`.
    pub arm_blocks: u32,
    /// Whether contacts are solved by projected gradient descent: its impulses and slopes are then stored.
    pub descends: bool,
}

impl Capacity {
    /// Returns the capacity for the boundaries and grains of a world, later grains included.
    pub fn for_world(world: &World, settings: &Settings, room: Room) -> Capacity {
        let grains = match room {
            Room::Grains(grains) => grains.max(world.grain_count()),
            Room::Estimated | Room::Contacts(_) => world.grain_count(),
        };
        let spheres = world.planned_spheres(grains);
        let contacts = match room {
            Room::Contacts(contacts) => contacts,
            Room::Estimated | Room::Grains(_) => index(planned_contacts(spheres)),
        };
        let (grains, spheres) = (index(grains), index(spheres));
        let features = Features::of(world, settings);
        let capacity = Capacity {
            grains,
            spheres,
            joints: 0,
            machines: 0,
            joint_rows: 0,
            machine_bodies: 0,
            machine_matrix: 0,
            boundaries: world.boundaries.len() as u32,
            rigids: rigids_of(world, grains),
            vertices: world.vertices.len() as u32,
            surfaces: world.surfaces.len() as u32,
            mesh_blocks: layout::mesh_blocks(world),
            materials: world.materials.list.len() as u32,
            sinks: world.drains().len() as u32,
            meters: world.meters.len() as u32,
            meter_bins: world.meter_bins() as u32,
            measures_grains: world.measures_grains,
            contacts: contacts.max(1),
            overflow: overflow_of(contacts),
            buckets: buckets_for(spheres),
            substeps: STEPS_PER_SUBMISSION as u32 * settings.substeps,
            keeps_balance: settings.bookkeeping == Bookkeeping::On || is_guarded(settings, world),
            accelerates: features.momentum,
            impulse_pairs: features.impulse_pairs(),
            arm_blocks: features.arm_blocks(),
            descends: features.descends,
        };
        capacity.with_machines(world)
    }

    /// Room for contacts and for the search that finds them.
    pub(super) fn for_contacts(&self) -> ContactRoom {
        ContactRoom { contacts: self.contacts, overflow: self.overflow, buckets: self.buckets }
    }

    /// Returns the capacity with room for the joints and machines of a world.
    fn with_machines(self, world: &World) -> Capacity {
        let machines = layout::Machines::of(world);
        Capacity {
            joints: world.joints.len() as u32,
            machines: machines.list.len() as u32,
            joint_rows: machines.rows,
            machine_bodies: machines.bodies.len() as u32,
            machine_matrix: machines.matrix,
            ..self
        }
    }

    /// Returns a capacity of at least this size, with room for a world that has changed and has these features.
    pub(super) fn enough_for(&self, world: &World, features: Features) -> Capacity {
        let rigids = self.rigids.max(rigids_of(world, self.grains));
        let arm_blocks = self.arm_blocks.max(features.arm_blocks());
        let keeps_balance = self.keeps_balance || features.guard;
        let known = Capacity { keeps_balance, rigids, arm_blocks, ..*self };
        let known = known.with_machines(world);
        let (grains, spheres) = (world.grain_count() as u32, world.spheres.len() as u32);
        if grains <= self.grains && spheres <= self.spheres {
            return known;
        }
        let grains = grains + grains / 2;
        let spheres = index(world.planned_spheres(grains as usize));
        let contacts = self.contacts.max(index(planned_contacts(spheres as usize)));
        Capacity {
            grains,
            spheres,
            rigids: rigids.max(rigids_of(world, grains)),
            contacts,
            overflow: self.overflow.max(overflow_of(contacts)),
            buckets: buckets_for(spheres),
            ..known
        }
    }

    /// Returns the capacity that is enough for this one and another.
    #[must_use]
    pub fn union(&self, other: &Capacity) -> Capacity {
        Capacity {
            grains: self.grains.max(other.grains),
            spheres: self.spheres.max(other.spheres),
            boundaries: self.boundaries.max(other.boundaries),
            rigids: self.rigids.max(other.rigids),
            vertices: self.vertices.max(other.vertices),
            surfaces: self.surfaces.max(other.surfaces),
            mesh_blocks: self.mesh_blocks.max(other.mesh_blocks),
            joints: self.joints.max(other.joints),
            machines: self.machines.max(other.machines),
            joint_rows: self.joint_rows.max(other.joint_rows),
            machine_bodies: self.machine_bodies.max(other.machine_bodies),
            machine_matrix: self.machine_matrix.max(other.machine_matrix),
            materials: self.materials.max(other.materials),
            sinks: self.sinks.max(other.sinks),
            meters: self.meters.max(other.meters),
            meter_bins: self.meter_bins.max(other.meter_bins),
            measures_grains: self.measures_grains || other.measures_grains,
            contacts: self.contacts.max(other.contacts),
            overflow: self.overflow.max(other.overflow),
            buckets: self.buckets.max(other.buckets),
            substeps: self.substeps.max(other.substeps),
            keeps_balance: self.keeps_balance || other.keeps_balance,
            accelerates: self.accelerates || other.accelerates,
            impulse_pairs: self.impulse_pairs.max(other.impulse_pairs),
            arm_blocks: self.arm_blocks.max(other.arm_blocks),
            descends: self.descends || other.descends,
        }
    }

    /// Returns this capacity under other settings, which come to these features: the parts that depend on the settings are taken from
    /// `own`.
    #[cfg(feature = "scenario")]
    pub(super) fn under(&self, own: &Capacity, features: Features) -> Capacity {
        let Capacity { substeps, keeps_balance, accelerates, impulse_pairs, descends, .. } = *own;
        let keeps_balance = keeps_balance || features.guard;
        let arm_blocks = self.arm_blocks.max(features.arm_blocks());
        Capacity { substeps, accelerates, impulse_pairs, arm_blocks, descends, keeps_balance, ..*self }
    }

    /// Returns the capacity with room for `needed` overflow contacts and some to spare.
    pub(super) fn with_overflow(&self, needed: u32) -> Capacity {
        Capacity { overflow: needed.saturating_add(needed / 8 + 64), ..*self }
    }

    /// Returns the capacity with room for slightly more contacts than needed, so that a scene that settles grows its buffers only a few
    /// times. The capacity is exactly `needed` if the surplus would not fit a binding of `limit` bytes.
    pub(super) fn with_contacts(&self, needed: u32, limit: u64) -> Capacity {
        let roomy = Capacity { contacts: needed + needed / 32 + 16, ..*self };
        if roomy.largest().1 <= limit { roomy } else { Capacity { contacts: needed, ..*self } }
    }

    /// Refuses a capacity with a buffer that does not fit a binding of `limit` bytes.
    ///
    /// # Errors
    /// With the name of the buffer, its size \[bytes\], and the number of grains that would fit.
    pub fn check(&self, limit: u64) -> Result<(), Error> {
        let (buffer, needed) = self.largest();
        if needed <= limit {
            return Ok(());
        }
        let grains = u64::from(self.grains);
        let fitting = u128::from(grains) * u128::from(limit) / u128::from(needed);
        Err(Error::BufferTooLarge { buffer, needed, limit, grains, fitting: fitting as u64 })
    }

    /// Returns name and size \[bytes\] of every buffer.
    pub(super) fn sizes(&self) -> Vec<(&'static str, u64)> {
        let bodies = u64::from(self.boundaries) + u64::from(self.grains);
        let contacts = u64::from(self.contacts);
        let spheres = u64::from(self.spheres);
        let balls = u64::from(self.vertices) + spheres;
        // The positions of the spheres on their bodies take as much room again.
        let halves = if self.rigids > 0 { 2 } else { 1 };
        let overflow = u64::from(self.overflow);
        let buckets = u64::from(self.buckets);
        let tiles = bodies.div_ceil(u64::from(TILE));
        let (cubes, bins) = (2 * cubes_for(bodies), u64::from(BINS) * tiles);
        let block = u64::from(SCAN_BLOCK);
        let law_bytes = size_of::<layout::Law>() as u64;
        let schedule = u64::from(self.substeps) * u64::from(self.boundaries);
        // The buffers of the constraints also hold the sphere entries of the search, the cubes of the tiles, and the marks of the bodies
        // for the colouring.
        let entries = (spheres * size_of::<layout::Entry>() as u64).max(4 * cubes);
        let marks = bodies * size_of::<layout::Mark>() as u64;
        let booked = |bytes: u64| if self.keeps_balance { bytes } else { 0 };
        // The buffer of the old impulses, which a rebuild reads, also holds impulses and velocities before the last sweep.
        let last = if self.accelerates { 24 * (contacts + bodies) } else { 0 };
        let of_impulses = 8 * u64::from(self.impulse_pairs) * contacts;
        // Sums of works: contacts, impacts of contacts, joints, impacts of joints, bodies.
        let works = 2 * contacts.div_ceil(u64::from(BOOKED)) + 2 + bodies.div_ceil(64);
        let of_grains = u64::from(self.grains) * 4 * layout::STRESS_WORDS as u64;
        let [joints, rows, machines] = [self.joints, self.joint_rows, self.machines].map(u64::from);
        vec![
            ("params", layout::Params::min_size().get()),
            ("status", size_of::<layout::Status>() as u64),
            ("arguments", Planned::bytes()),
            ("poses", bodies * size_of::<layout::Pose>() as u64),
            // The bodies, then the slots of the overflow contacts.
            ("velocities", (bodies + 2 * overflow) * size_of::<layout::Velocity>() as u64),
            ("spheres", halves * balls * size_of::<layout::Sphere>() as u64),
            (
                "surfaces",
                u64::from(self.surfaces) * size_of::<layout::Surface>() as u64
                    + 16 * u64::from(self.mesh_blocks),
            ),
            ("sinks", u64::from(self.sinks) * size_of::<layout::Sink>() as u64),
            ("laws", u64::from(self.materials) * u64::from(self.materials) * law_bytes),
            ("schedule", schedule * size_of::<layout::BoundaryState>() as u64),
            ("bucket_ends", 4 * buckets.max(bodies)),
            ("contact_starts", 4 * (balls + 1)),
            ("old_starts", 4 * (balls + 1)),
            ("bucket_sums", 4 * buckets.div_ceil(block)),
            ("contact_sums", 4 * (balls + 1).div_ceil(block)),
            ("cube_sums", 4 * cubes.div_ceil(block)),
            ("pending_sums", 4 * (2 * tiles).div_ceil(block)),
            ("bin_sums", 4 * bins.div_ceil(block)),
            ("side_sums", 4 * bodies.div_ceil(block)),
            ("pending_ends", 4 * 2 * tiles),
            ("tile_lists", 4 * (bins.next_multiple_of(block) + 2 * tiles + 3 * bodies)),
            ("overflow", overflow * size_of::<layout::Overflow>() as u64),
            ("travel", 4 * (u64::from(self.boundaries) + spheres)),
            ("contacts", contacts * size_of::<layout::Contact>() as u64),
            ("constraint_heads", marks.max(contacts * size_of::<layout::ConstraintHead>() as u64)),
            ("constraint_arms", entries.max(16 * u64::from(self.arm_blocks) * contacts)),
            ("impulses", of_impulses),
            ("old_contacts", 8 * contacts),
            ("old_impulses", of_impulses.max(last)),
            ("descent", if self.descends { DESCENT_BYTES * contacts } else { 0 }),
            ("rigids", u64::from(self.rigids) * size_of::<layout::Rigid>() as u64),
            ("joints", joints * size_of::<layout::Joint>() as u64),
            ("joint_rows", rows * size_of::<layout::JointRow>() as u64),
            ("joint_drives", u64::from(self.substeps) * joints * size_of::<layout::JointDrive>() as u64),
            ("machines", machines * size_of::<layout::Machine>() as u64),
            ("machine_bodies", 4 * u64::from(self.machine_bodies)),
            ("machine_matrix", 4 * u64::from(self.machine_matrix)),
            ("loads", self.load_bytes()),
            ("meters", u64::from(self.meters) * size_of::<layout::Meter>() as u64),
            ("grain_loads", if self.measures_grains { of_grains } else { 0 }),
            ("residuals", 32 * contacts.div_ceil(64)),
            ("velocities_before", bodies * size_of::<layout::Velocity>() as u64),
            ("work_sums", booked(works * size_of::<layout::Works>() as u64)),
            ("balance", u64::from(self.substeps) * size_of::<layout::Works>() as u64),
            ("totals", size_of::<layout::Totals>() as u64),
        ]
    }

    /// Returns the size of the sums of the loads on boundaries, and of the meters behind them \[bytes\].
    fn load_bytes(&self) -> u64 {
        let of_boundaries = u64::from(self.boundaries) * layout::LOAD_WORDS as u64;
        4 * (of_boundaries + u64::from(self.meter_bins) * layout::BIN_WORDS as u64)
    }

    /// Returns the size of a buffer for one world \[bytes\].
    #[cfg(feature = "scenario")]
    pub(super) fn size_of(&self, buffer: &str) -> u64 {
        self.sizes().into_iter().find(|(name, _)| *name == buffer).map_or(0, |(_, bytes)| bytes.max(SMALLEST))
    }

    /// Returns name and size \[bytes\] of the largest buffer.
    pub fn largest(&self) -> (&'static str, u64) {
        self.sizes().into_iter().max_by_key(|(_, bytes)| *bytes).unwrap_or_default()
    }

    /// Returns the total size of all buffers \[bytes\].
    pub fn bytes(&self) -> u64 {
        self.sizes().into_iter().map(|(_, bytes)| bytes.max(SMALLEST)).sum()
    }
}

/// Contents that share a buffer of another name, as pairs of content and buffer. Each content is needed in a part of the step only:
/// all but the last three during a rebuild of the neighbour list, before constraints are made. A test of the step list checks that no
/// use of a buffer falls between two uses of it under another name. What a rebuild that is repeated with more room still needs (the old
/// list, which is copied once) has buffers of its own until then.
pub const LODGERS: [(&str, &str); 14] = [
    ("entries", "constraint_arms"),
    ("found", "constraint_heads"),
    ("cube_ends", "constraint_arms"),
    ("pending", "constraint_arms"),
    ("binned", "constraint_arms"),
    ("marks", "constraint_heads"),
    ("colours", "impulses"),
    ("overflow_bodies", "constraint_arms"),
    ("copies", "constraint_heads"),
    ("side_ends", "bucket_ends"),
    ("unordered", "impulses"),
    ("last_values", "old_impulses"),
    ("changes", "old_impulses"),
    ("step_sums", "residuals"),
];

/// Returns the name of the buffer that holds a content: that of [`LODGERS`], or its own.
pub fn room_of(name: &str) -> &str {
    LODGERS.iter().find(|(lodger, _)| *lodger == name).map_or(name, |(_, buffer)| buffer)
}

/// Returns the initial capacity for overflow contacts: twice their share in a bed of equal spheres. Scenes with more enlarge it.
fn overflow_of(contacts: u32) -> u32 {
    contacts / 12 + 1024
}

/// Returns the number of entries of `rigids`: one for every body as soon as a grain needs one or the world has clumps.
fn rigids_of(world: &World, grains: u32) -> u32 {
    let needed = layout::rigid_count(world) as u32;
    let has_rigid_grains = needed > world.boundaries.len() as u32 || !world.clumps.is_empty();
    if has_rigid_grains { world.bodies_with(grains as usize) as u32 } else { needed }
}

/// Returns a count as an index of the device. A larger count becomes `u32::MAX`, whose buffer no binding holds, so it is refused later.
fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the number of buckets of the grid for a number of spheres, a power of two.
fn buckets_for(grains: u32) -> u32 {
    grains.max(64).checked_next_power_of_two().unwrap_or(1 << 31)
}

/// Returns the number of cubes of cells by which a number of bodies are sorted into tiles; WGSL `cubes`.
pub(super) fn cubes_for(bodies: u64) -> u64 {
    let bits = u64::BITS - (2 * bodies).leading_zeros();
    1 << (3 * bits.div_ceil(3).min(MOST_CUBE_BITS))
}
