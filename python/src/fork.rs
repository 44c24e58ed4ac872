//! Processes that are forked from one that has imported the package, as `multiprocessing` makes them on Linux by default up to Python 3.13.
//!
//! A fork copies the memory and one thread. The threads of the pool that the engine computes with are missing in the new process, and work
//! that is given to the pool would wait for them for ever. So all work there goes to a pool of its own. The driver of a graphics card has
//! threads and a connection to the card, and does not survive at all.

use std::mem;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::Error;

/// Process that imported the package.
static HOME: AtomicU32 = AtomicU32::new(0);
/// Process that used a graphics card first; 0 where none did.
static CARDS: AtomicU32 = AtomicU32::new(0);
/// Pool of a forked process, and its process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Notes which process imports the package.
pub fn begin() {
    HOME.store(process::id(), Ordering::SeqCst);
}

/// Calls a function without the interpreter lock, in a forked process on threads of its own.
pub fn detached<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> PyResult<T> {
    Ok(match pool()? {
        None => py.detach(call),
        Some(pool) => py.detach(|| pool.install(call)),
    })
}

/// The pool of this process; `None` where it is the usual one. Only called with the interpreter lock, so that no fork finds `POOL` locked.
fn pool() -> PyResult<Option<Arc<ThreadPool>>> {
    let here = process::id();
    if HOME.load(Ordering::SeqCst) == here {
        return Ok(None);
    }
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((process, pool)) if *process == here => Ok(Some(Arc::clone(pool))),
        _ => {
            let made = ThreadPoolBuilder::new().build();
            let made = made.map_err(|error| {
                Error::new_err(format!(
                    "this process was forked, and gets no threads to compute with: {error}"
                ))
            })?;
            let pool = Arc::new(made);
            // The threads of the pool before are not in this process.
            mem::forget(known.replace((here, Arc::clone(&pool))));
            Ok(Some(pool))
        }
    }
}

/// Notes that this process uses a graphics card.
pub fn note_cards() {
    let _ = CARDS.compare_exchange(0, process::id(), Ordering::SeqCst, Ordering::SeqCst);
}

/// Refuses to use a graphics card in a process that was forked from one that used it.
pub fn check_cards() -> PyResult<()> {
    let first = CARDS.load(Ordering::SeqCst);
    if first == 0 || first == process::id() { Ok(()) } else { Err(no_card()) }
}

/// Exception for a graphics card in a forked process.
pub fn no_card() -> PyErr {
    Error::new_err(
        "this process was forked from one that uses a graphics card, whose driver does not survive that: start processes with \
         multiprocessing.get_context(\"spawn\"), or take device=\"cpu\" here",
    )
}
