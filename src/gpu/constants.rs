//! Constants that host and shaders share, written here once: every shader begins with [`text`], which declares them in WGSL.

/// Declares constants, and the list that their WGSL is written from.
macro_rules! constants {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:expr;)+) => {
        $($(#[doc = $doc])+ pub const $name: u32 = $value;)+

        /// Name and value of each.
        const CONSTANTS: &[(&str, u32)] = &[$((stringify!($name), $name)),+];
    };
}

constants! {
    /// No index.
    NONE = u32::MAX;
    /// Flags of a body: six bits of locked axes.
    LOCKED = 63;
    /// Flag of a body whose inertia is a tensor.
    RIGID = 64;
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
    /// Warm start: from nothing.
    WARM_COLD = 0;
    /// Warm start: a fraction of the last impulses.
    WARM_HISTORY = 1;
    /// Warm start: all of the last impulse at rest, a fraction of it in motion.
    WARM_ADAPTIVE = 2;
    /// Warm start: from the law of the contact.
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
    /// Form of a surface: wall of a cylinder or cone seen from inside; bottom radius, top radius, length.
    FORM_WALL_INSIDE = 2;
    /// The same seen from outside.
    FORM_WALL_OUTSIDE = 3;
    /// Form of a surface: solid cylinder or cone.
    FORM_SOLID = 4;
    /// Form of a surface: box of half edges `size.xyz`.
    FORM_BOX = 5;
    /// Form of a surface: sphere of radius `size.x`.
    FORM_SPHERE = 6;
    /// Form of a surface: a patch of a mesh; its boxes and the surfaces of the mesh as numbers in place of sizes.
    FORM_PATCH = 7;
    /// Form of a surface: cylinder of radius `size.x` and length `size.y` with half balls at its ends.
    FORM_CAPSULE = 8;
    /// Bit of `Contact.previous` from which on the side is that of a sheet to which a sphere belongs.
    SIDE_SHIFT = 30;
    /// Bits below the side; of a seam: there is none.
    BELOW_SIDE = (1 << SIDE_SHIFT) - 1;
    /// Side where the faces of a patch look.
    SIDE_FRONT = 1;
    /// Side behind them.
    SIDE_BACK = 2;
    /// Kind of a joint: turns about its axis.
    JOINT_HINGE = 0;
    /// Kind of a joint: shifts along its axis.
    JOINT_SLIDER = 1;
    /// Kind of a joint: turns.
    JOINT_BALL = 2;
    /// Kind of a joint: does nothing.
    JOINT_LOCK = 3;
    /// Kind of a joint: keeps the distance of its places.
    JOINT_DISTANCE = 4;
    /// Kind of a joint: leaves all free but for its drive and its range.
    JOINT_ACTUATOR = 5;
    /// Drive of a joint: there is none.
    DRIVE_NONE = 0;
    /// Drive of a joint: pushes.
    DRIVE_PUSH = 1;
    /// Drive of a joint: pushes with a force per area.
    DRIVE_PRESS = 2;
    /// Drive of a joint: holds a velocity.
    DRIVE_HOLD = 3;
    /// Role of a row: nothing gives way to it.
    ROW_OFF = 0;
    /// Role of a row: it holds what the joint does not leave free.
    ROW_HELD = 1;
    /// Role of a row: it is the drive.
    ROW_DRIVE = 2;
    /// Role of a row: it is an end of the range.
    ROW_LIMIT = 3;
    /// Where the impulse of a row stands: between its bounds,
    PLACE_FREE = 0;
    /// at the lower one,
    PLACE_LOW = 1;
    /// at the upper one.
    PLACE_HIGH = 2;
    /// Rows of a machine at most.
    MOST_ROWS = 256;
    /// Colours of contacts.
    COLOURS = 8;
    /// Colour of a contact that has none yet.
    UNCOLOURED = 9;
    /// Contacts of a block that the energy balance sums up.
    BOOKED = 512;
    /// Invocations per workgroup.
    GROUP = 64;
    /// Workgroups of a row of a folded dispatch.
    GROUPS_PER_ROW = 32_768;
}

/// Halts after which the run fails.
pub const HALT_FAILED: u32 = HALT_NOT_A_NUMBER | HALT_EXPLODED | HALT_FAR | HALT_OUTSIDE;

/// Declares the sizes of dispatches that the device works out, three words each in the buffer `arguments`, one after the other.
macro_rules! planned {
    ($($(#[doc = $doc:literal])+ $size:ident $name:literal $count:expr;)+) => {
        /// A size of a dispatch, or a row of them, that the device works out.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Planned {
            $($(#[doc = $doc])+ $size,)+
        }

        /// Name in WGSL, and how many sizes stand in the row, of each.
        const PLANNED: &[(&str, u32)] = &[$(($name, $count)),+];
    };
}

planned! {
    /// All contacts of this step.
    Contacts "CONTACTS" 1;
    /// All contacts if something bounces.
    ImpactContacts "IMPACT_CONTACTS" 1;
    /// A sweep: the colours, the overflow contacts, the bodies.
    Sweep "SWEEP" COLOURS + 2;
    /// A sweep over the impacts, likewise.
    ImpactSweep "IMPACT_SWEEP" COLOURS + 2;
    /// In a search, one workgroup; this and all that follow are empty in a step that goes on with the contacts of the last.
    Search "SEARCH" 1;
    /// Contacts of the last list.
    OldContacts "OLD_CONTACTS" 1;
    /// Vertices and spheres that the last list knows of, and one more.
    OldOwners "OLD_OWNERS" 1;
    /// All vertices and spheres, and one more.
    Balls "BALLS" 1;
    /// All bodies.
    SearchBodies "BODIES" 1;
    /// All buckets of the grid.
    Buckets "BUCKETS" 1;
    /// All room for contacts, in blocks of 256.
    ContactBlocks "BLOCKS" 1;
    /// Contacts found.
    Found "FOUND" 1;
    /// Contacts that still need a colour, if they are many.
    Pending "PENDING" 1;
    /// Overflow contacts.
    Overflow "OVERFLOW" 1;
    /// Blocks of a prefix sum over the buckets,
    BucketScan "SCAN_BUCKETS" 1;
    /// over vertices and spheres,
    StartScan "SCAN_STARTS" 1;
    /// over colours and blocks of contacts,
    ColourScan "SCAN_COLOURS" 1;
    /// over bodies.
    SideScan "SCAN_SIDES" 1;
    /// Bodies or overflow contacts, whichever are more.
    Swept "SWEPT" 1;
    /// Overflow contacts, in steps that do not search as well.
    Uncoloured "UNCOLOURED" 1;
    /// Contacts, in blocks that the energy balance sums up.
    Booked "BOOKED" 1;
    /// All contacts if a round of impacts has been solved.
    ImpactRound "IMPACT_ROUND" 1;
    /// All bodies, likewise.
    ImpactBodies "IMPACT_BODIES" 1;
    /// All vertices and spheres if there is room for their contacts.
    Stored "STORED" 1;
    /// All contacts until projected gradient descent is over.
    Descent "DESCENT" 1;
}

impl Planned {
    /// Place in `arguments`; of a row that of its first size.
    pub fn place(self) -> u32 {
        place_of(self as usize)
    }

    /// Bytes of `arguments`.
    pub fn bytes() -> u64 {
        12 * u64::from(place_of(PLANNED.len()))
    }
}

/// Sizes before one of [`PLANNED`].
fn place_of(size: usize) -> u32 {
    PLANNED[..size].iter().map(|(_, count)| count).sum()
}

/// All constants in WGSL: `const COLOURS = 8u;`, and the places of dispatch sizes as `ARGUMENTS_SWEEP` and so on.
pub fn text() -> String {
    let constants = CONSTANTS.iter().map(|&(name, value)| (name.to_owned(), value));
    let places =
        PLANNED.iter().enumerate().map(|(size, (name, _))| (format!("ARGUMENTS_{name}"), place_of(size)));
    constants.chain(places).map(|(name, value)| format!("const {name} = {value}u;\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_one_after_the_other() {
        assert_eq!(Planned::Contacts.place(), 0);
        assert_eq!(Planned::ImpactSweep.place(), 2 + COLOURS + 2);
        assert_eq!(u64::from(Planned::Descent.place() + 1) * 12, Planned::bytes());
        assert!(text().contains("const ARGUMENTS_SEARCH = 22u;"), "{}", text());
    }
}
