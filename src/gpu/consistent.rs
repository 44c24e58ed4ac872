//! Check of a saved state of the device: sizes of its buffers, and indices in them, which kernels follow without a check of their own.

use std::collections::BTreeMap;

use bytemuck::Pod;

use crate::contact::Key;
use crate::engine::consistent::check_keys;
use crate::model::World;
use crate::model::consistent::{Fault, claim, claim_below, claim_length};
use crate::settings::Settings;

use super::Room;
use super::capacity::Capacity;
use super::constants::{BINS, SCAN_BLOCK};
use super::layout::{self, Anchors, ConstraintHead, Contact, NONE, Overflow, Pose, Status, Velocity};

/// Largest number of workgroups along an axis of a dispatch that every device takes.
const MOST_GROUPS: u32 = 65_535;

/// Largest number of substeps of a submission, and of blocks of a contact.
const MOST_FACTOR: u32 = 1 << 24;

/// Contents of the buffers of a saved state, by name.
pub type Lists<'a> = BTreeMap<&'static str, &'a [u8]>;

/// Saved state of a device, to be checked.
pub struct SavedGpu<'a> {
    /// World of the host.
    pub world: &'a World,
    /// Grid of the positions.
    pub anchors: &'a Anchors,
    /// Room of the buffers.
    pub capacity: &'a Capacity,
    /// Status after the last submission.
    pub status: &'a Status,
    /// Contents of the buffers.
    pub lists: &'a Lists<'a>,
}

/// Returns the elements in the bytes of a buffer.
pub fn list<T: Pod>(lists: &Lists<'_>, name: &str) -> Vec<T> {
    lists.get(name).map(|bytes| bytemuck::pod_collect_to_vec(bytes)).unwrap_or_default()
}

impl SavedGpu<'_> {
    /// Checks that the room is enough for the world.
    ///
    /// # Errors
    /// The first fault, in words.
    pub fn check_room(&self, settings: &Settings) -> Fault {
        let capacity = self.capacity;
        let least = Capacity::for_world(self.world, settings, Room::Contacts(1));
        let rooms = |of: &Capacity| {
            [
                (of.grains, "grains"),
                (of.spheres, "spheres"),
                (of.rigids, "rigid bodies"),
                (of.boundaries, "boundaries"),
                (of.vertices, "vertices"),
                (of.surfaces, "surfaces"),
                (of.mesh_blocks, "meshes"),
                (of.joints, "joints"),
                (of.machines, "machines"),
                (of.joint_rows, "rows"),
                (of.machine_bodies, "bodies of machines"),
                (of.machine_matrix, "matrices"),
                (of.materials, "materials"),
                (of.sinks, "sinks"),
                (of.contacts, "contacts"),
            ]
        };
        for ((found, what), (needed, _)) in rooms(capacity).into_iter().zip(rooms(&least)) {
            claim(found >= needed, || format!("room for {found} {what}, and there are {needed}"))?;
        }
        claim(capacity.buckets.is_power_of_two(), || "a number of buckets that is no power of two".into())?;
        let anchors = self.anchors;
        let is_grid = anchors.cell_size.is_finite()
            && anchors.cell_size.min_element() > 0.0
            && anchors.origin.is_finite()
            && anchors.periods.min_element() >= 0
            && anchors.levels.radius.is_finite();
        claim(is_grid, || "a grid that is none".into())
    }

    /// Checks that all that the status counts fits the world and its room.
    ///
    /// # Errors
    /// The first fault, in words.
    pub fn check_counts(&self) -> Fault {
        let (capacity, status) = (self.capacity, self.status);
        // Products of these are sizes of buffers.
        let factors = [
            (capacity.materials, self.world.materials.list.len() as u32, "materials"),
            (capacity.boundaries, self.world.boundaries.len() as u32, "boundaries"),
            (capacity.substeps, MOST_FACTOR, "substeps"),
            (capacity.impulse_pairs, MOST_FACTOR, "pairs of numbers"),
            (capacity.arm_blocks, MOST_FACTOR, "blocks of arms"),
        ];
        for (found, most, what) in factors {
            claim(found <= most, || format!("room for {found} {what} of {most}"))?;
        }
        let bodies = self.world.bodies.len() as u32;
        let balls = (self.world.vertices.len() + self.world.spheres.len()) as u32;
        let counts = [
            (status.contacts, capacity.contacts, "contacts"),
            (status.overflow, capacity.overflow, "overflow contacts"),
            (status.coloured, status.contacts, "coloured contacts"),
            (status.tiled, status.coloured, "tiled contacts"),
            (status.sides, capacity.overflow.saturating_mul(2), "slots"),
            (status.listed, balls, "listed spheres"),
            (status.remembered, balls, "remembered spheres"),
            (status.tiles, bodies, "tiles"),
        ];
        for (found, most, what) in counts {
            claim(found <= most, || format!("{found} {what} of {most}"))?;
        }
        Ok(())
    }

    /// Checks the contents of the buffers, whose sizes are right.
    ///
    /// # Errors
    /// The first fault, in words.
    pub fn check_contents(&self) -> Fault {
        let groups = list::<u32>(self.lists, "arguments");
        claim(groups.into_iter().all(|groups| groups <= MOST_GROUPS), || {
            "a dispatch that is too large".into()
        })?;
        self.check_bodies()?;
        self.check_contacts()?;
        self.check_tiles()?;
        self.check_joints()
    }

    fn check_bodies(&self) -> Fault {
        let finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        let poses: Vec<Pose> = list(self.lists, "poses");
        let is_pose = |pose: &Pose| finite(&pose.offset) && finite(&pose.orientation);
        claim(poses.iter().all(is_pose), || "a position that is not a number".into())?;
        let velocities: Vec<Velocity> = list(self.lists, "velocities");
        let is_velocity = |velocity: &Velocity| {
            finite(&velocity.linear)
                && finite(&velocity.angular)
                && velocity.inverse_mass >= 0.0
                && finite(&[velocity.inverse_mass, velocity.inverse_inertia])
        };
        claim(velocities.iter().all(is_velocity), || "a velocity that is not a number".into())?;
        let spheres: Vec<layout::Sphere> = list(self.lists, "spheres");
        for (saved, own) in spheres.iter().zip(self.world.vertices.iter().chain(&self.world.spheres)) {
            let expected = (own.body, own.material, own.radius as f32);
            claim((saved.body, saved.material, saved.radius) == expected, || {
                "a sphere of another body".into()
            })?;
        }
        // Tags name places behind the meshes.
        if self.world.meshes.are_known() { self.check_tags(&spheres) } else { Ok(()) }
    }

    fn check_tags(&self, spheres: &[layout::Sphere]) -> Fault {
        let own = layout::spheres(self.world);
        let (of_vertices, of_grains) = spheres.split_at(self.world.vertices.len().min(spheres.len()));
        let is_same = of_vertices.iter().zip(&own).all(|(saved, own)| saved.tag == own.tag);
        claim(is_same, || "a vertex of another surface".into())?;
        let solids = layout::tags_of_grains(self.world);
        for (saved, own) in of_grains.iter().zip(solids) {
            let is_tag = saved.tag == own || (saved.tag as usize) < self.world.sinks.len() + 2;
            claim(is_tag, || format!("sink {} of {}", saved.tag, self.world.sinks.len()))?;
        }
        Ok(())
    }

    fn check_contacts(&self) -> Fault {
        let (count, bodies) = (self.status.contacts as usize, self.world.bodies.len());
        let contacts: Vec<Contact> = list(self.lists, "contacts");
        check_keys(self.world, contacts.iter().map(|contact| Key { a: contact.a, b: contact.b }))?;
        claim_below(contacts.iter().map(|contact| contact.place), count, "a contact at place")?;
        let heads: Vec<ConstraintHead> = list(self.lists, "constraint_heads");
        claim_below(heads.iter().flat_map(|head| head.bodies), bodies, "a contact of body")?;
        let impulses: Vec<f32> = list(self.lists, "impulses");
        claim(impulses.iter().all(|part| part.is_finite()), || "an impulse that is not a number".into())?;
        let starts: Vec<u32> = list(self.lists, "contact_starts");
        let used = if self.status.listed > 0 { starts.len().min(self.status.listed as usize + 1) } else { 0 };
        let used = &starts[..used];
        claim(used.is_sorted(), || "contacts out of order".into())?;
        claim_below(used.iter().copied(), count + 1, "a sphere from contact")?;
        let overflow: Vec<Overflow> = list(self.lists, "overflow");
        let slots = overflow.iter().flat_map(|contact| contact.slots).filter(|&slot| slot != NONE);
        claim_below(slots, self.status.sides as usize, "a slot")
    }

    /// Checks the ends of the bins, and the bodies of the tiles.
    fn check_tiles(&self) -> Fault {
        let (contacts, bodies) = (self.status.contacts as usize, self.world.bodies.len());
        let (tiles, sides) = (self.status.tiles as usize, self.status.sides as usize);
        let lists: Vec<u32> = list(self.lists, "tile_lists");
        let bins = BINS as usize * tiles;
        let first = bins.next_multiple_of(SCAN_BLOCK as usize);
        claim(first + 2 * tiles + 3 * bodies <= lists.len() || tiles == 0, || "tiles without bodies".into())?;
        claim(lists[..bins].is_sorted(), || "tiles out of order".into())?;
        claim_below(lists[..bins].iter().copied(), contacts + 1, "a tile up to contact")?;
        let mut members = 0usize;
        for tile in lists[first..][..2 * tiles].chunks_exact(2) {
            let end = tile[0] as usize + tile[1] as usize;
            claim(end <= bodies, || format!("{end} bodies of {bodies} in tiles"))?;
            members = members.max(end);
        }
        for member in lists[first + 2 * tiles..][..3 * members].chunks_exact(3) {
            claim_below([member[0]], bodies, "a tile with body")?;
            claim(member[1] <= member[2] && member[2] as usize <= sides, || "a body without slots".into())?;
        }
        Ok(())
    }

    /// Checks that the joints are those of the world, but for their positions, which count turns.
    fn check_joints(&self) -> Fault {
        let saved: Vec<layout::Joint> = list(self.lists, "joints");
        let machines = layout::Machines::of(self.world);
        let own = machines.joints(self.world, self.anchors, 1.0);
        claim_length(saved.len(), own.len(), "joints for")?;
        for (saved, own) in saved.iter().zip(&own) {
            let parts = |joint: &layout::Joint| {
                (
                    joint.body_a,
                    joint.body_b,
                    joint.kind,
                    joint.walls,
                    joint.wall_axes,
                    joint.first_row,
                    joint.rows,
                )
            };
            claim(parts(saved) == parts(own) && saved.position.is_finite(), || "another joint".into())?;
        }
        let rows: Vec<layout::JointRow> = list(self.lists, "joint_rows");
        let of_rows = rows.iter().flat_map(|row| [row.body_a, row.body_b]).filter(|&body| body != NONE);
        claim_below(of_rows, self.world.boundaries.len(), "a row of boundary")
    }
}
