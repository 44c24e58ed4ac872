//! Sizes of the tasks into which a pass over contacts or bodies is divided. They do not depend on the number of threads, nor do the sums
//! that are made task by task.

/// Constraints handled by one task.
pub(crate) const CHUNK: usize = 1024;
/// Constraints that one task of a sweep solves; a colour with no more of them is solved on the calling thread.
pub(crate) const SWEEP_CHUNK: usize = 256;
