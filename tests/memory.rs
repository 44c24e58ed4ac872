//! Memory plans: the memory planned before a run is the memory that the run takes.
#![allow(missing_docs, clippy::unwrap_used, reason = "a failed unwrap fails the test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

mod common;

use common::*;
use esker::cpu::CpuEngine;
use esker::engine::{Engine, Snapshot};
use esker::gpu::{Capacity, GpuEngine, Room};
use esker::model::Grain;
use esker::settings::{Bookkeeping, Settings};
use glam::DVec3;

/// Allocator that counts the bytes held, and the most there ever were.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
/// Lock that every test holds: while one counts, no other may allocate.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

// SAFETY: every call is handed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory allocated at once during `work`, beyond what was held before \[bytes\].
fn most_allocated<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = work();
    ((MOST.load(Relaxed) - before) as u64, result)
}

/// Whether the memory found is within the plan and at least two thirds of it. With more than the plan a run fails on its way; with much
/// less it is refused for nothing.
fn is_honest(found: u64, planned: u64) -> bool {
    found <= planned && planned <= 3 * found / 2
}

/// The plan holds for a settled bed, which has about as many contacts as are planned for, and for a snapshot of it.
#[test]
fn the_cpu_engine_takes_what_was_planned() {
    let _alone = alone();
    let bed = scenario("settle.toml", &[]);
    let grains = bed.world.grain_count();
    let settle = Settings { bookkeeping: Bookkeeping::Off, iterations: 3, ..bed.settings };
    let mut engine = cpu(&bed.world, &settle);
    engine.advance(60).unwrap();
    let settled = engine.snapshot().unwrap().world;
    for bookkeeping in [Bookkeeping::Off, Bookkeeping::On] {
        let settings = Settings { bookkeeping, ..settle };
        let planned = CpuEngine::planned_memory(&settled, grains, &settings);
        let (found, mut engine) = most_allocated(|| {
            let mut engine = cpu(&settled, &settings);
            engine.advance(3).unwrap();
            engine
        });
        assert!(is_honest(found, planned), "{found} bytes, {planned} planned, {bookkeeping:?}");
        assert!(!is_honest(2 * found, planned) && !is_honest(found / 2, planned));
        assert!(engine.memory() <= planned, "{} bytes, {planned} planned", engine.memory());

        let (found, _) = most_allocated(|| engine.snapshot().unwrap());
        let planned = Snapshot::planned_bytes(&settled, grains);
        assert!(is_honest(found, planned), "snapshot: {found} bytes, {planned} planned");
    }
}

/// Plan of the GPU engine for this many grains in the box of `settle_1000.toml`.
fn plan(grains: usize) -> Capacity {
    let bed = scenario("settle_1000.toml", &[]);
    Capacity::for_world(&bed.world, &bed.settings, Room::Grains(grains))
}

const SMALL_BINDING: u64 = 128 << 20;
const LARGE_BINDING: u64 = 2 << 30;

#[test]
fn a_million_grains_fit_the_bindings_of_every_device() {
    let _alone = alone();
    assert!(plan(1_000_000).check(SMALL_BINDING).is_ok(), "{:?}", plan(1_000_000).largest());
    assert!(plan(1_100_000).check(SMALL_BINDING).is_err());
}

#[test]
fn ten_million_grains_fit_a_card_of_80_gb() {
    let _alone = alone();
    let plan = plan(10_000_000);
    assert!(plan.check(LARGE_BINDING).is_ok(), "{:?}", plan.largest());
    assert!(plan.bytes() < 80_000_000_000, "{} bytes", plan.bytes());
}

/// The share of a grain in the energy balance: the velocities before each solve are kept.
#[test]
fn a_grain_takes_at_most_700_bytes_on_the_device_and_32_with_its_share_of_the_balance() {
    let _alone = alone();
    for grains in [100_000, 1_000_000, 10_000_000] {
        let booked = plan(grains);
        assert!(booked.keeps_balance);
        let [with, without] = [booked, Capacity { keeps_balance: false, ..booked }].map(|plan| plan.bytes());
        assert!(without <= 700 * grains as u64, "{without} bytes for {grains} grains");
        // 35 bytes: with the grain's share of the sums over blocks of 64 contacts or bodies.
        assert!(with <= without + 35 * grains as u64, "{with} bytes for {grains} grains");
    }
}

#[test]
fn a_billion_grains_are_refused_with_the_numbers() {
    let _alone = alone();
    let message = plan(1_000_000_000).check(LARGE_BINDING).unwrap_err().to_string();
    for number in ["1000000000 grains", "128.00 GB in buffer constraint_", "at most 2.15 GB"] {
        assert!(message.contains(number), "{message}");
    }
    assert!(plan(16_000_000).check(LARGE_BINDING).is_ok(), "about so many are said to fit: {message}");
}

/// A run that a device cannot bind is refused before anything is allocated.
#[test]
fn what_a_device_cannot_bind_is_refused_before_the_run() {
    let _alone = alone();
    let bed = scenario("settle_1000.toml", &[]);
    let device = device();
    let grains = (device.largest_binding() / 32) as usize;
    let (found, refused) = most_allocated(|| {
        GpuEngine::with_room(device, bed.world.clone(), bed.settings, Room::Grains(grains))
    });
    let message = refused.err().unwrap().to_string();
    assert!(message.starts_with(&format!("{grains} grains need ")), "{message}");
    assert!(found < 10 << 20, "{found} bytes were allocated for a run that was refused");
}

/// The buffers of a device that was told how many grains will come never grow.
#[test]
fn grains_that_come_later_have_their_room_from_the_start() {
    let _alone = alone();
    let bed = scenario("settle_1000.toml", &[]);
    let all = bed.world.grain_count();
    let mut engine = GpuEngine::with_room(device(), bed.world, bed.settings, Room::Grains(3 * all)).unwrap();
    let planned = engine.memory();
    let above = |i: usize| Grain::at(DVec3::new(0.0, 0.0, 1.0 + 0.014 * i as f64), 0.0065, 0);
    engine.add_grains(&Vec::from_iter((0..2 * all).map(above))).unwrap();
    assert_eq!(engine.memory(), planned);
    engine.add_grains(&[above(2 * all)]).unwrap();
    assert!(engine.memory() > planned);
}

/// The most memory that the program had at once in a run, and the memory that `check` planned for it \[bytes\].
#[cfg(target_os = "linux")]
fn taken_and_planned(changes: &[&str]) -> (f64, f64) {
    use std::process::{Command, Stdio};

    let folder = tempfile::tempdir().unwrap();
    let scene = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/settle.toml");
    let command = |name: &str, more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_esker"));
        command.arg(name).arg(&scene).args(changes.iter().flat_map(|change| ["--set", change])).args(more);
        command.current_dir(folder.path());
        command
    };
    let checked = String::from_utf8(command("check", &[]).output().unwrap().stdout).unwrap();
    let planned =
        checked.lines().find_map(|line| line.trim().strip_prefix("CPU memory")?.split(" MB").next());
    let run = command("run", &["--device", "cpu", "--quiet"]).stderr(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", run.id());
    let mut run = run;
    let mut most = 0.0_f64;
    while run.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        most = most.max(peak.map_or(0.0, |peak| 1024.0 * peak.trim().parse::<f64>().unwrap()));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (most, 1e6 * planned.unwrap().trim().parse::<f64>().unwrap())
}

/// Grains touch from the start, so there are as many contacts as in a bed. The plan and the memory of the program agree within 25 %.
#[cfg(target_os = "linux")]
#[test]
fn a_run_of_the_program_takes_what_check_says() {
    let _alone = alone();
    let (taken, planned) = taken_and_planned(&[
        "duration=0.06",
        "output.every=0.02",
        "solver.iterations=2",
        "grains.0.packing={ kind = \"lattice\", structure = \"cubic\", corner = [-0.162, -0.162, 0.00645], \
         counts = [26, 26], spacing = 0.01296, count = 20000 }",
    ]);
    assert!((taken / planned - 1.0).abs() < 0.25, "{taken} bytes taken, {planned} planned");
}
