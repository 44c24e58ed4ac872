//! Constants that host and shaders share, written here once: every shader begins with [`text`], which declares them in WGSL.

/// Declares the constants, and the list from which their WGSL declarations are written.
macro_rules! constants {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr;)+) => {
        $($(#[doc = $doc])+ pub const $name: u32 = $value;)+

        /// Name and value of each constant.
        const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name)),+];
    };
}

constants! {
    /// Value of an index that points to nothing.
    NONE = u32::MAX;
    /// Flags of a body: six bits of locked axes.
    LOCKED = 63;
    /// Flag of a body whose inertia is a tensor.
    RIGID = 64;
    /// Flag of a body of a machine that nothing else touches, which moves by the midpoint rule \[E1\].
    UNDISTURBED = 128;
    /// Halt: more contacts than room.
    HALT_CONTACTS = 1;
    /// Halt: a velocity is not a number.
    HALT_NOT_A_NUMBER = 2;
    /// Halt: contacts added more than the limit to the speed of a body.
    HALT_EXPLODED = 4;
    /// Halt: more overflow contacts than room.
    HALT_OVERFLOW = 8;
    /// Halt: a calm step needs a rebuild of the neighbour list, or a contact bounces in it.
    HALT_BUSY = 16;
    /// Halt: a body is beyond what cells can address.
    HALT_FAR = 32;
    /// Halt: a grain has left a domain that ends the run.
    HALT_OUTSIDE = 64;
    /// Halt: friction and rolling made energy in a substep, which is to be solved again \[E12\].
    HALT_GAIN = 128;
    /// Halt: all steps are done that the host wants of this submission.
    HALT_DONE = 256;
    /// Halt: the impacts of a substep settle, but need more sweeps than this submission holds \[E6\].
    HALT_IMPACTS = 512;
    /// Halt: more triangles are near a polyhedron than one invocation meets.
    HALT_TRIANGLES = 1024;
    /// Warm start: zero impulses.
    WARM_COLD = 0;
    /// Warm start: a fraction of the last impulses.
    WARM_HISTORY = 1;
    /// Warm start: all of the last impulse at rest, a fraction of it in motion.
    WARM_ADAPTIVE = 2;
    /// Warm start: impulses from the model of the contact law.
    WARM_MODEL = 3;
    /// Warm start: a fraction of the last normal impulses.
    WARM_NORMALS = 4;
    /// Normal law of Hertz.
    LAW_HERTZ = 0;
    /// Normal law of Hooke.
    LAW_HOOKE = 1;
    /// Rigid normal law.
    LAW_RIGID = 2;
    /// Form of a surface: half-space.
    FORM_PLANE = 0;
    /// Form of a surface: disc of radius `size.x`.
    FORM_DISC = 1;
    /// Form of a surface: wall of a cylinder or cone seen from inside; `size`: bottom radius, top radius, length.
    FORM_WALL_INSIDE = 2;
    /// Form of a surface: wall of a cylinder or cone seen from outside; `size` as for the inside.
    FORM_WALL_OUTSIDE = 3;
    /// Form of a surface: solid cylinder or cone.
    FORM_SOLID = 4;
    /// Form of a surface: box of half edges `size.xyz`.
    FORM_BOX = 5;
    /// Form of a surface: sphere of radius `size.x`.
    FORM_SPHERE = 6;
    /// Form of a surface: patch of a mesh; `size` holds the places of its boxes and the surfaces of its mesh.
    FORM_PATCH = 7;
    /// Form of a surface: cylinder of radius `size.x` and length `size.y` with half balls at its ends.
    FORM_CAPSULE = 8;
    /// Lowest bit of the class of the motion of a surface, in the word of its form.
    CLASS_SHIFT = 8;
    /// Bits of that word that hold the form.
    BELOW_CLASS = (1 << CLASS_SHIFT) - 1;
    /// Bits of a shape in `Contact.b`; the number of a point of a manifold stands in the bits above them, from 1 on.
    SHAPE_BITS = crate::model::solids::SHAPE_BITS;
    /// Mask of these bits.
    SHAPE_MASK = (1 << SHAPE_BITS) - 1;
    /// Largest number of points of a manifold.
    MOST_POINTS = crate::shape::MOST_POINTS as u32;
    /// Number of bits of a block of a convex solid in the tag of a grain.
    PART_BITS = 28;
    /// Mask of these bits.
    BELOW_PART = (1 << PART_BITS) - 1;
    /// Tag of a sphere of a grain among polyhedra, to which the block of the ball of radius 1 is added. Lower tags are those of sinks.
    OF_BALL = 1 << PART_BITS;
    /// Tag of a grain that is a convex polyhedron, to which the block of its solid is added.
    OF_HULL = 2 << PART_BITS;
    /// Lowest bit of the side in `Contact.previous`: the side of the sheet to which the sphere of the contact belongs.
    SIDE_SHIFT = 30;
    /// Bits of `Contact.previous` below the side, which hold the seam; all set: no seam.
    BELOW_SIDE = (1 << SIDE_SHIFT) - 1;
    /// Side of a sheet: the one to which the faces of the patch look. At a solid: the sphere was in front of the patch.
    SIDE_FRONT = 1;
    /// Side of a sheet: the one behind the faces of the patch. At a solid: the sphere was not in front of it.
    SIDE_BACK = 2;
    /// Kind of a joint: hinge, free to turn about its axis.
    JOINT_HINGE = 0;
    /// Kind of a joint: slider, free to shift along its axis.
    JOINT_SLIDER = 1;
    /// Kind of a joint: ball, free to turn about all axes.
    JOINT_BALL = 2;
    /// Kind of a joint: lock, which leaves nothing free.
    JOINT_LOCK = 3;
    /// Kind of a joint: rod, which keeps the distance of its two places.
    JOINT_DISTANCE = 4;
    /// Kind of a joint: actuator, which acts by its drive and its range only.
    JOINT_ACTUATOR = 5;
    /// Kind of a joint: cylindrical, free to shift along its axis and to turn about it.
    JOINT_CYLINDRICAL = 6;
    /// Kind of a joint: universal, free to turn about an axis on each body, which stay perpendicular.
    JOINT_UNIVERSAL = 7;
    /// Drive of a joint: none.
    DRIVE_NONE = 0;
    /// Drive of a joint: prescribed force or torque.
    DRIVE_PUSH = 1;
    /// Drive of a joint: prescribed force per area.
    DRIVE_PRESS = 2;
    /// Drive of a joint: prescribed velocity, of a motor or servo.
    DRIVE_HOLD = 3;
    /// Role of a joint row: none, as no body gives way to its impulse.
    ROW_OFF = 0;
    /// Role of a joint row: constraint on a motion that the joint does not leave free.
    ROW_HELD = 1;
    /// Role of a joint row: drive.
    ROW_DRIVE = 2;
    /// Role of a joint row: limit, at an end of the range.
    ROW_LIMIT = 3;
    /// Place of the impulse of a joint row: between its bounds.
    PLACE_FREE = 0;
    /// Place of the impulse of a joint row: at its lower bound.
    PLACE_LOW = 1;
    /// Place of the impulse of a joint row: at its upper bound.
    PLACE_HIGH = 2;
    /// Largest number of rows of a machine.
    MOST_ROWS = 256;
    /// Number of colours of the contacts within the tiles of each of the two tilings.
    COLOURS = 8;
    /// Colour of the overflow contacts: none, they are solved by mass splitting.
    SPLIT = 2 * COLOURS;
    /// Colour of a contact that has none yet.
    UNCOLOURED = SPLIT + 1;
    /// Number of bins per tile in which contacts are sorted: one for each colour of each tiling, and one for overflow contacts.
    BINS = 2 * COLOURS + 1;
    /// Number of values in a block of a prefix sum.
    SCAN_BLOCK = 1024;
    /// Number of bodies of a tile; it may have more by those of a cube of cells.
    TILE = 256;
    /// Number of bits of the index of a cube along an axis, at most.
    MOST_CUBE_BITS = 8;
    /// Number of dispatches of a pass over all contacts: tiles of the first and of the second tiling, overflow contacts.
    PASS = 3;
    /// Number of contacts in a block whose works the energy balance sums in one workgroup.
    BOOKED = 512;
    /// Number of invocations per workgroup.
    GROUP = 64;
    /// Number of workgroups in a row of a folded dispatch.
    GROUPS_PER_ROW = 32_768;
}

/// Halts after which the run fails.
pub const HALT_FAILED: u32 = HALT_NOT_A_NUMBER | HALT_EXPLODED | HALT_FAR | HALT_OUTSIDE | HALT_TRIANGLES;

/// Declares the dispatch sizes that the device computes: three words each, one after the other in the buffer `arguments`.
macro_rules! planned {
    ($($(#[doc = $doc:literal])+ $size:ident $name:literal $count:expr;)+) => {
        /// Dispatch size that the device computes, or several in a row.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Planned {
            $($(#[doc = $doc])+ $size,)+
        }

        /// Name in WGSL and number of dispatch sizes of each [`Planned`].
        const PLANNED: &[(&str, u32)] = &[$(($name, $count)),+];
    };
}

planned! {
    /// All contacts of this step.
    Contacts "CONTACTS" 1;
    /// All contacts if one of them bounces.
    ImpactContacts "IMPACT_CONTACTS" 1;
    /// Dispatches of a sweep: the tiles of both tilings, the overflow contacts.
    Sweep "SWEEP" PASS;
    /// Tiles whose bodies take what the overflow contacts left in their slots. Comes right after the size of its sweep.
    Gather "GATHER" 1;
    /// Dispatches of a sweep over the impacts: the tiles of both tilings, the overflow contacts.
    ImpactSweep "IMPACT_SWEEP" PASS;
    /// Tiles whose bodies take what a sweep over the impacts left in their slots. Comes right after the size of its sweep.
    ImpactGather "IMPACT_GATHER" 1;
    /// One workgroup in a rebuild of the neighbour list. This size and the following ones, up to the scan over bodies, are empty in a
    /// step without a rebuild.
    Search "SEARCH" 1;
    /// Contacts of the previous neighbour list.
    OldContacts "OLD_CONTACTS" 1;
    /// Vertices and spheres in the previous neighbour list, and one more.
    OldOwners "OLD_OWNERS" 1;
    /// All vertices and spheres, and one more.
    Balls "BALLS" 1;
    /// All bodies.
    SearchBodies "BODIES" 1;
    /// All buckets of the grid.
    Buckets "BUCKETS" 1;
    /// Cubes of cells, by which bodies are sorted into tiles.
    Cubes "CUBES" 1;
    /// Contacts that the rebuild found.
    Found "FOUND" 1;
    /// A workgroup per tile of both tilings.
    Tiles "TILES" 1;
    /// Overflow contacts.
    Overflow "OVERFLOW" 1;
    /// Bodies or overflow contacts, whichever are more.
    Sides "SIDES" 1;
    /// Blocks of the prefix sum over the buckets.
    BucketScan "SCAN_BUCKETS" 1;
    /// Blocks of the prefix sum over vertices and spheres.
    StartScan "SCAN_STARTS" 1;
    /// Blocks of the prefix sum over cubes of cells.
    CubeScan "SCAN_CUBES" 1;
    /// Blocks of the prefix sum over the tiles of both tilings.
    PendingScan "SCAN_PENDING" 1;
    /// Blocks of the prefix sum over the bins of contacts.
    BinScan "SCAN_BINS" 1;
    /// Blocks of the prefix sum over bodies.
    SideScan "SCAN_SIDES" 1;
    /// Overflow contacts, also in steps without a rebuild.
    Uncoloured "UNCOLOURED" 1;
    /// Blocks of contacts whose works the energy balance sums.
    Booked "BOOKED" 1;
    /// All contacts if a round of impacts has just been solved.
    ImpactRound "IMPACT_ROUND" 1;
    /// Bodies or contacts, whichever are more, if a round of impacts has just been solved.
    ImpactAim "IMPACT_AIM" 1;
    /// All vertices and spheres if there is room for their contacts.
    Stored "STORED" 1;
    /// All contacts until projected gradient descent ends.
    Descent "DESCENT" 1;
    /// A workgroup per contact of a part of a dynamic boundary.
    Parts "PARTS" 1;
    /// The same if a contact bounces.
    ImpactParts "IMPACT_PARTS" 1;
}

impl Planned {
    /// Returns the place in `arguments` of this size, or of the first one of several in a row.
    pub fn place(self) -> u32 {
        place_of(self as usize)
    }

    /// Returns the number of dispatch sizes.
    pub fn count() -> u32 {
        place_of(PLANNED.len())
    }

    /// Returns the size of `arguments` \[bytes\].
    pub fn bytes() -> u64 {
        12 * u64::from(Planned::count())
    }
}

/// Returns the number of dispatch sizes before entry `size` of [`PLANNED`].
fn place_of(size: usize) -> u32 {
    PLANNED[..size].iter().map(|(_, count)| count).sum()
}

/// Returns the WGSL declarations of all constants, `const COLOURS = 8u;`, of the places of dispatch sizes, `ARGUMENTS_SWEEP`
/// etc., and of their number `PLACES`.
pub fn text() -> String {
    let constants = CONSTANTS.iter().map(|&(name, value)| (name.to_owned(), value));
    let places =
        PLANNED.iter().enumerate().map(|(size, (name, _))| (format!("ARGUMENTS_{name}"), place_of(size)));
    let all = constants.chain(places).chain([("PLACES".to_owned(), Planned::count())]);
    all.map(|(name, value)| format!("const {name} = {value}u;\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_one_after_the_other() {
        assert_eq!(Planned::Contacts.place(), 0);
        assert_eq!(Planned::ImpactSweep.place(), 3 + PASS);
        assert_eq!(u64::from(Planned::ImpactParts.place() + 1) * 12, Planned::bytes());
        assert!(text().contains("const ARGUMENTS_SEARCH = 10u;"), "{}", text());
    }
}
