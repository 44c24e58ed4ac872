"""Steps, callbacks, other threads and Ctrl-C."""

import gc
import io
import signal
import subprocess
import sys
import threading
import time
import traceback
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esker
from conftest import Word
from esker._progress import Line


def test_steps_and_times_are_those_that_were_asked_for(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    simulation.step(7)
    assert simulation.steps == 7 and simulation.time == pytest.approx(7e-3, rel=1e-12)
    simulation.run(until=0.05)
    assert simulation.steps == 50
    simulation.run()
    assert simulation.steps == 200, "the duration of the scenario"
    simulation.run()
    simulation.step(0)
    assert simulation.steps == 200


def test_the_bits_do_not_depend_on_how_steps_are_batched(bed: dict[str, Any], device: Word) -> None:
    at_once, one_by_one = (esker.Simulation.from_dict(bed, device=device) for _ in range(2))
    at_once.step(30)
    for _ in range(30):
        one_by_one.step(1)
    assert np.array_equal(at_once.velocities(), one_by_one.velocities())


def test_an_ensemble_steps_simulations_together_and_each_as_it_is_alone(bed: dict[str, Any]) -> None:
    ensemble = esker.Ensemble(3, device="software")
    assert ensemble.worlds == 4 and repr(ensemble) == "<Ensemble of 4 worlds>"
    frictions = [0.0, 0.3, 0.9]

    def velocities(friction: float, device: Word | esker.Ensemble) -> np.ndarray:
        simulation = esker.Simulation.from_dict(bed, device=device, set={"materials.glass.friction": friction})
        # As many steps at once for each: a thread may be late and still has its own numbers.
        simulation.step(60)
        return simulation.velocities()

    with ThreadPoolExecutor(len(frictions)) as threads:
        together = list(threads.map(lambda friction: velocities(friction, ensemble), frictions))
    alone = [velocities(friction, "software") for friction in frictions]
    assert all(np.array_equal(*pair) for pair in zip(together, alone, strict=True))
    assert not np.array_equal(together[0], together[2])


def test_a_checkpoint_goes_on_in_an_ensemble(bed: dict[str, Any], tmp_path: Path) -> None:
    alone = esker.Simulation.from_dict(bed, device="software")
    alone.step(20)
    alone.save(tmp_path / "half.esker")
    alone.step(20)
    ensemble = esker.Ensemble(2, device="software")
    gone_on = esker.Simulation.resume(tmp_path / "half.esker", device=ensemble)
    beside = esker.Simulation.from_dict(bed, device=ensemble)
    with pytest.raises(esker.Error, match="room"):
        esker.Simulation.from_dict(bed, device=ensemble)
    assert gone_on.steps == 20
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda simulation: simulation.step(20), [gone_on, beside]))
    assert np.array_equal(gone_on.velocities(), alone.velocities())
    assert not np.array_equal(beside.velocities(), alone.velocities())
    processor = esker.Simulation.from_dict(bed, device="cpu")
    processor.save(tmp_path / "processor.esker")
    del beside
    gc.collect()
    with pytest.raises(esker.Error, match="cpu"):
        esker.Simulation.resume(tmp_path / "processor.esker", device=ensemble)


def test_an_ensemble_is_on_a_graphics_card_and_takes_no_more_than_it_has_room_for(bed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="an ensemble is on a graphics card"):
        esker.Ensemble(2, device="cpu")
    ensemble = esker.Ensemble(1, device="software")
    first = esker.Simulation.from_dict(bed, device=ensemble)
    with pytest.raises(esker.Error, match="room"):
        esker.Simulation.from_dict(bed, device=ensemble)
    first.step(2)
    del first
    gc.collect()
    esker.Simulation.from_dict(bed, device=ensemble).step(2)


def test_callbacks_come_at_the_end_of_the_step_that_reaches_their_time(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    simulation.step(3)
    steps: list[int] = []
    simulation.on(every=0.004, do=lambda same: steps.append(same.steps))
    late: list[int] = []

    def begin(same: esker.Simulation) -> None:
        if not late:
            late.append(-1)
            same.on(every=0.01, do=lambda same: late.append(same.steps))

    simulation.on(every=0.0125, do=begin)
    simulation.step(30)
    assert steps == [4, 8, 12, 16, 20, 24, 28, 32]
    assert late == [-1, 20, 30]


def test_a_callback_gets_the_simulation_itself_and_may_change_it(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    seen: list[bool] = []

    def turn_off(same: esker.Simulation) -> None:
        seen.append(same is simulation)
        same.set_gravity([0, 0, 0])

    simulation.on(every=0.005, do=turn_off)
    simulation.run(until=0.005)
    before = simulation.velocities()
    simulation.step(1)
    assert seen == [True] and before[-1, 2] < -0.04
    assert np.array_equal(simulation.velocities()[-1], before[-1]), "nothing pulls at a grain that touches none"


def test_an_exception_of_a_callback_comes_out_unchanged_and_the_state_stays_usable(
    bed: dict[str, Any], tmp_path: Path
) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    mistake = KeyError("own mistake")

    def fails(same: esker.Simulation) -> None:
        if same.steps == 10:
            raise mistake

    simulation.on(every=0.005, do=fails)
    with pytest.raises(KeyError) as caught:
        simulation.step(20)
    assert caught.value is mistake
    assert "fails" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert simulation.steps == 10
    simulation.step(5)
    assert simulation.steps == 15

    simulation = esker.Simulation.from_dict(bed, device="cpu")
    simulation.on(every=0.005, do=fails)
    with pytest.raises(KeyError):
        simulation.run(out=tmp_path)
    results = esker.read(tmp_path)
    assert (results.summary["status"], results.summary["steps"]) == ("interrupted", 10)
    assert esker.Simulation.resume(tmp_path).steps == 10


def test_a_callback_may_not_step(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    simulation.on(every=0.001, do=lambda same: same.step(1))
    with pytest.raises(esker.Error, match="stepping already"):
        simulation.step(3)
    assert simulation.steps == 1


@pytest.mark.parametrize("every", [0.0, -1.0, float("nan"), float("inf")])
def test_an_interval_that_is_no_time_is_refused(bed: dict[str, Any], every: float) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    with pytest.raises(ValueError, match=r"every \[s\]: expected a"):
        simulation.on(every=every, do=print)
    with pytest.raises(TypeError, match="do: expected a function, found 3"):
        simulation.on(every=1.0, do=3)  # type: ignore[arg-type]


def test_an_end_that_is_over_or_no_time_is_refused(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    simulation.step(10)
    with pytest.raises(ValueError, match=r"until \[s\]: expected the present time, 0.01 s, or a later one"):
        simulation.run(until=0.005)
    with pytest.raises(ValueError, match="expected a finite number"):
        simulation.run(until=float("nan"))
    with pytest.raises(TypeError, match=r"until \[s\]: expected a number, found 'soon'"):
        simulation.run(until="soon")  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="expected a whole number from 0"):
        simulation.step(-1)
    with pytest.raises(TypeError):
        simulation.step(1.5)  # type: ignore[arg-type]


def counted_while(work: Any) -> int:
    """How far another thread counts while this one works."""
    count, stop = 0, threading.Event()

    def counts() -> None:
        nonlocal count
        while not stop.is_set():
            count += 1

    thread = threading.Thread(target=counts)
    thread.start()
    before = count
    work()
    found = count - before
    stop.set()
    thread.join()
    return found


def test_other_threads_go_on_while_it_steps(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu", set={"solver.iterations": 200})

    def steps() -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            simulation.step(100)

    # One call that never gives the lock away, and steps for as long: the measure can fail.
    begun = time.monotonic()
    held = counted_while(lambda: sum(range(40_000_000)))
    seconds = time.monotonic() - begun
    assert counted_while(steps) > 5 * held


def test_a_state_is_read_from_another_thread_while_it_steps(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    stepping = threading.Thread(target=simulation.step, args=(5_000,))
    stepping.start()
    steps = []
    while stepping.is_alive():
        steps.append(simulation.steps)
        assert simulation.positions().shape == (64, 3)
    stepping.join()
    assert steps == sorted(steps) and len(set(steps)) > 3, steps
    assert simulation.steps == 5_000


INTERRUPTED = """
import sys, esker
simulation = esker.Simulation.from_file(sys.argv[1], device="cpu", set={"duration": 1e6, "output.every": 1e4})
simulation.on(every=0.5, do=lambda same: print("running", flush=True))
try:
    simulation.run(**eval(sys.argv[2]))
except KeyboardInterrupt:
    done = simulation.steps
    positions = simulation.positions()
    simulation.step(1)
    print("interrupted", simulation.steps - done, positions.shape, flush=True)
"""


@pytest.mark.parametrize("folder", [None, "results"])
def test_ctrl_c_ends_a_run_and_leaves_the_state_usable(bed_file: Path, tmp_path: Path, folder: str | None) -> None:
    place = tmp_path / folder if folder else None
    arguments = repr({"out": str(place)} if place else {})
    command = [sys.executable, "-c", INTERRUPTED, str(bed_file), arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "running\n"
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        *_, last = process.stdout.readlines()
        assert time.monotonic() - begun < 10, "a batch is at most 0.1 s"
    assert (last, process.returncode) == ("interrupted 1 (64, 3)\n", 0)
    if place:
        results = esker.read(place)
        assert results.summary["status"] == "interrupted"
        assert esker.Simulation.resume(place).steps == results.summary["steps"]


def test_progress_is_told_after_every_batch_and_by_a_line(bed: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    told: list[esker.Progress] = []
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    simulation.run(progress=told.append)
    assert [told[-1].step, told[-1].steps, told[-1].end] == [200, 200, 0.2]
    assert [progress.step for progress in told] == sorted({progress.step for progress in told})
    simulation.run(until=0.3, progress=True)
    assert "100 %  0.3 of 0.3 s" in capsys.readouterr().err
    simulation.run(until=0.4, progress=False)
    assert capsys.readouterr().err == ""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    line = Line(terminal)
    for progress in told:
        line(progress)
    text = terminal.getvalue()
    assert text.startswith("\r") and text.count("\n") == 1 and text.endswith("\n") and "100 %" in text


def test_a_simulation_that_its_callback_refers_to_is_freed(bed: dict[str, Any]) -> None:
    class Watch:
        pass

    watch = Watch()
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    watch.simulation = simulation  # type: ignore[attr-defined]
    simulation.on(every=1.0, do=lambda same, watch=watch: None)  # type: ignore[misc]
    there = weakref.ref(watch)
    del watch, simulation
    gc.collect()
    assert there() is None
