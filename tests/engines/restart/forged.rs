//! Checkpoints with a right checksum and wrong content: refused, or gone on from, never a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::scenes::MACHINE;
use super::*;

/// Forged copies of the checkpoint of a scene.
const COPIES: u64 = 150;

/// Bytes with some of those behind the header changed, and the checksum of the whole.
fn forged(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes[..bytes.len() - 4].to_vec();
    let lines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let first = lines.take(2).last().unwrap();
    for _ in 0..1 + random.below(3) {
        let at = first + random.below((bytes.len() - first) as u64) as usize;
        // A byte of any value, or one bit: of a large number, an index or a sign.
        bytes[at] =
            if random.below(2) == 0 { random.below(256) as u8 } else { bytes[at] ^ 1 << random.below(8) };
    }
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// Restores forged checkpoints of a scene and goes on for two steps; returns how many were refused, and how many went on.
fn tried(kind: Kind, body: &str, copies: u64, seed: u64) -> [u64; 2] {
    let scene = scene(body, &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("checkpoint_000000000030.esker");
    let mut whole = simulation(kind, &scene);
    whole.step(30).unwrap();
    whole.save(&file).unwrap();
    let bytes = fs::read(&file).unwrap();
    let mut random = Random::new(seed, Stream::Grains(0));
    let mut counts = [0, 0];
    for copy in 0..copies {
        let forged = forged(&bytes, &mut random);
        fs::write(&file, &forged).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let mut simulation = Simulation::restore_on(&scene, engine(kind, &scene), &file)?;
            simulation.step(2)?;
            simulation.state().map(drop)
        }));
        match outcome {
            Ok(Err(Error::Unusable { .. } | Error::Changed { .. })) => counts[0] += 1,
            Ok(_) => counts[1] += 1,
            Err(_) => panic!("copy {copy} of seed {seed} made the {kind:?} engine panic"),
        }
    }
    counts
}

#[test]
fn a_forged_checkpoint_of_the_cpu_engine_is_refused_or_gone_on_from() {
    for (body, seed) in [(EMITTER_AND_SINK, 1), (CLUMPS, 2), (MACHINE, 3)] {
        let [refused, went_on] = tried(Kind::Cpu, body, COPIES, seed);
        // Most bytes are digits of numbers that may be others.
        assert!(refused > COPIES / 10 && went_on > COPIES / 10, "{refused} refused, {went_on} went on");
    }
}

#[test]
fn a_forged_checkpoint_of_the_gpu_engine_is_refused_or_gone_on_from() {
    let [refused, went_on] = tried(Kind::Gpu, MACHINE, 20, 4);
    assert!(refused > 0, "{refused} refused, {went_on} went on");
}
