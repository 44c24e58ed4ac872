//! Environment in which the driver of a software adapter has nothing to complain of.

use std::path::Path;

/// Variable with the folder of the sockets of a user's session.
const RUNTIME_FOLDER: &str = "XDG_RUNTIME_DIR";

/// Gives the process a run-time folder where it has none. Vulkan's loader asks for a display in it, and an error of the library that looks
/// for the display would be printed for every instance: "XDG_RUNTIME_DIR is invalid or not set". The folder is one that cannot hold
/// anything, so nothing is made, nothing is left behind, and nobody else can put a socket there. Has to be called before any thread starts.
#[cfg(target_os = "linux")]
pub(super) fn set_runtime_folder() {
    let is_set = std::env::var_os(RUNTIME_FOLDER).is_some_and(|folder| Path::new(&folder).is_absolute());
    let is_alone = std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if !is_set && is_alone {
        // SAFETY: the process has no other thread that could read the environment at the same time.
        unsafe { std::env::set_var(RUNTIME_FOLDER, "/dev/null") };
    }
}

/// Other systems have no such folder.
#[cfg(not(target_os = "linux"))]
pub(super) fn set_runtime_folder() {}
