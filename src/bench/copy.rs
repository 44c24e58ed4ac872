//! Rate at which the processor copies memory: the reference for the CPU engine.

use std::time::Instant;

use rayon::prelude::*;

/// Bytes of each of the two arrays: more than the caches hold.
const BYTES: usize = 256 << 20;
/// Bytes that a thread copies at a time.
const CHUNK: usize = 1 << 20;

/// Rate at which all threads together copy a large array, bytes read plus bytes written \[bytes/s\]; the best of three.
pub fn rate() -> f64 {
    let from = vec![1u64; BYTES / 8];
    let mut to = vec![0u64; BYTES / 8];
    let mut copy = || {
        let start = Instant::now();
        to.par_chunks_mut(CHUNK / 8).zip(from.par_chunks(CHUNK / 8)).for_each(|(to, from)| {
            to.copy_from_slice(from);
        });
        std::hint::black_box(&to);
        start.elapsed().as_secs_f64()
    };
    let best = (0..3).map(|_| copy()).fold(f64::INFINITY, f64::min);
    2.0 * BYTES as f64 / best
}
