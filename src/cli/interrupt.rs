//! Signals that ask the program to end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::terminal::note;

/// Whether the user pressed Ctrl-C, or the program was asked to end.
pub(super) static INTERRUPT: AtomicBool = AtomicBool::new(false);

/// Time within which a second signal counts as the same request as the first: batch systems and terminals send a signal to every
/// process of a job, and a shell passes it on.
const SAME_BREATH: Duration = Duration::from_secs(1);

/// Makes Ctrl-C, SIGTERM and SIGHUP end the run after its present step. A second signal ends the program at once, unless it comes
/// within `SAME_BREATH`.
pub(super) fn listen_for_interrupt() {
    let mut first: Option<Instant> = None;
    let on_signal = move || {
        INTERRUPT.store(true, Ordering::Relaxed);
        match first {
            Some(time) if time.elapsed() > SAME_BREATH => std::process::exit(1),
            Some(_) => {}
            None => {
                first = Some(Instant::now());
                note!("ending after this step; Ctrl-C once more ends at once, without a summary");
            }
        }
    };
    if let Err(error) = listen(on_signal) {
        note!("warning: Ctrl-C will end the run without a summary ({error})");
    }
}

/// Makes signals that ask the program to end do nothing.
#[cfg(feature = "mpi")]
pub(super) fn ignore_signals() {
    if let Err(error) = listen(|| {}) {
        note!("warning: Ctrl-C will end the run without a summary ({error})");
    }
}

/// Calls `on_signal` on a thread of its own. A SIGHUP that is already ignored stays ignored, as `nohup` requires.
#[cfg(unix)]
fn listen(mut on_signal: impl FnMut() + Send + 'static) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let heard =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| signal != SIGHUP || !is_ignored(signal));
    let mut signals = signal_hook::iterator::Signals::new(heard)?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        signals.forever().for_each(|_| on_signal());
    })?;
    Ok(())
}

#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: without a new action this reads the present one, into room that any bits are right for.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut present) == 0
            && present.sa_sigaction == libc::SIG_IGN
    }
}

/// Calls `on_signal` on a thread of its own.
#[cfg(not(unix))]
fn listen(on_signal: impl FnMut() + Send + 'static) -> io::Result<()> {
    ctrlc::set_handler(on_signal).map_err(io::Error::other)
}
