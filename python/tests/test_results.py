"""Runs into folders, their results, and checkpoints."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esker
from conftest import Word, program


def files(folder: Path) -> dict[str, bytes]:
    """What a run wrote, but for the summary, which has wall times."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in (".csv", ".vtp", ".pvd")}


def test_a_run_writes_what_the_program_writes(bed_file: Path, tmp_path: Path, device: Word) -> None:
    program("run", bed_file, "--device", device, "--out", "there", cwd=tmp_path)
    simulation = esker.Simulation.from_file(bed_file, device=device)
    calls: list[float] = []
    simulation.on(every=0.033, do=lambda same: calls.append(same.time))
    results = simulation.run(out=tmp_path / "here")
    here, there = files(tmp_path / "here"), files(tmp_path / "there")
    # The series and its columns, frames of grains and contacts, one of walls, and an index of each.
    assert len(here) == 2 + 2 * 5 + 1 + 3 and here == there
    assert len(calls) == 6, "callbacks are called in a run into a folder"
    summaries = [results.summary, json.loads((tmp_path / "there" / "summary.json").read_text())]
    assert summaries[0]["observables"] == summaries[1]["observables"]
    assert simulation.quantity("height") == results.summary["observables"]["height"]


def test_a_whole_run_writes_what_a_simulation_writes(bed_file: Path, tmp_path: Path) -> None:
    there = files(esker.Simulation.from_file(bed_file, device="cpu").run(out=tmp_path / "there").folder)
    whole = esker.run(bed_file, tmp_path / "whole", device="cpu")
    assert files(whole.folder) == there
    other = esker.run(bed_file, tmp_path / "other", device="cpu", set={"solver.iterations": 29})
    assert files(other.folder) != there, "the comparison can fail"


def test_a_run_goes_on_from_its_folder_to_the_same_files(bed_file: Path, tmp_path: Path) -> None:
    there = files(esker.run(bed_file, tmp_path / "at once", device="cpu").folder)

    def stop(progress: esker.Progress) -> None:
        if progress.step >= 70:
            raise StopIteration

    with pytest.raises(StopIteration):
        esker.run(bed_file, tmp_path / "twice", device="cpu", progress=stop)
    assert esker.read(tmp_path / "twice").summary["status"] == "interrupted"
    results = esker.run(bed_file, tmp_path / "twice", resume=True)
    assert (results.summary["status"], files(results.folder)) == ("completed", there)


def test_a_dictionary_runs_into_a_folder_of_its_name(bed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bed["duration"] = bed["output"]["every"] = 0.01
    results = esker.run(bed, device="cpu")
    assert results.folder == Path("out/scenario") and results.summary["status"] == "completed"
    assert results.scenario["boundaries"][0]["name"] == "box"


def test_results_are_read_as_arrays_and_series(bed: dict[str, Any], tmp_path: Path) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    results = simulation.run(out=tmp_path)
    assert results.times == pytest.approx([0, 0.05, 0.1, 0.15, 0.2])
    assert len(results.frames) == len(results.contacts) == 5
    last, first = results.frames[-1], results.frames[0]
    assert np.array_equal(last.positions, simulation.positions())
    assert np.array_equal(last.velocities, simulation.velocities().astype(np.float32))
    assert np.array_equal(last.ids, simulation.ids()) and np.array_equal(last.radii, np.full(64, 0.005, np.float32))
    assert np.array_equal(last.orientations, simulation.orientations().astype(np.float32))
    assert first.time == 0.0 and first.positions[:, 2].max() > last.positions[:, 2].max()
    assert last.arrays["boundary_position"].shape == (1, 3) and set(last.materials) == {0}
    assert results.at(0.11).time == pytest.approx(0.1)
    assert [frame.time for frame in results.frames[1:3]] == pytest.approx([0.05, 0.1])
    contacts, now = results.contacts[-1], simulation.contacts()
    assert np.array_equal(contacts.normal_forces, now.normal_forces.astype(np.float32))
    assert np.array_equal(contacts.sliding, now.sliding) and contacts.ends.shape == (len(now), 2, 3)
    assert np.array_equal(contacts.bodies, now.bodies)
    touching = now.bodies[(now.normal_forces > 0) | (now.gaps <= 0)]
    expected = [(touching == grain).sum() for grain in last.ids]
    assert last.coordination_numbers.tolist() == expected and max(expected) >= 4

    series = results.series
    assert series["height"].iloc[-1] == simulation.quantity("height") and series["step"].tolist() == [0, 50, 100, 150, 200]
    assert results.units["height"] == "m" and set(results.units) == {"time", "step", *simulation.quantities}
    last.positions[...] = 0
    assert np.array_equal(results.frames[-1].positions, simulation.positions()), "each frame is read anew"


def test_without_pandas_series_are_arrays(bed: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = esker.Simulation.from_dict(bed, device="cpu").run(until=0.1, out=tmp_path)
    frame = results.series
    monkeypatch.setitem(sys.modules, "pandas", None)
    arrays = results.series
    assert isinstance(arrays, dict) and list(arrays) == list(frame.columns)
    for name, array in arrays.items():
        assert np.array_equal(array, frame[name].to_numpy(), equal_nan=True)


def test_results_that_are_not_there_are_errors_that_say_what_is_missing(bed: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(esker.Error, match="holds no results"):
        esker.read(tmp_path)
    bed["output"]["formats"] = []
    results = esker.Simulation.from_dict(bed, device="cpu").run(out=tmp_path / "bare")
    with pytest.raises(esker.Error, match='the scenario needs "csv"'):
        results.series  # noqa: B018
    with pytest.raises(esker.Error, match="holds no frames"):
        results.frames  # noqa: B018
    (tmp_path / "bare" / "summary.json").unlink()
    with pytest.raises(esker.Error, match="a run writes it at its end"):
        results.summary  # noqa: B018


def test_a_damaged_file_of_results_is_an_error_that_names_it(bed: dict[str, Any], tmp_path: Path) -> None:
    bed["duration"] = 0.002
    bed["output"] = {"every": 0.001}
    results = esker.run(bed, device="cpu", out=tmp_path / "out")
    reads: dict[str, Callable[[], object]] = {
        "summary.json": lambda: results.summary,
        "scenario.toml": lambda: results.scenario,
        "timeseries.csv": lambda: results.series,
        "grains_000001.vtp": lambda: results.frames[1],
    }
    for name, read in reads.items():
        path = results.folder / name
        whole = path.read_text()
        read()
        for text in ("x", "\0\xff"):
            path.write_text(text)
            with pytest.raises(esker.InputError, match=name):
                read()
        path.write_text(whole)
        read()
    with pytest.raises(esker.InputError, match=r"time \[s\]: expected a finite number, found nan"):
        results.at(float("nan"))
    with pytest.raises(TypeError, match=r"time \[s\]: expected a number, found '0.1'"):
        results.at("0.1")  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_is_refused_in_the_words_of_python(bed: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    with pytest.raises(esker.Error, match="is a file, expected a folder: choose another out=") as caught:
        simulation.run(out=tmp_path / "file")
    assert "--" not in str(caught.value) and (tmp_path / "file").read_text() == "mine"
    with pytest.raises(esker.FileError, match="is a file, expected a folder: choose another out="):
        esker.run(bed, device="cpu", out=tmp_path / "file")
    with pytest.raises(esker.FileError, match="it is a folder, expected the name of a file"):
        simulation.save(tmp_path)
    with pytest.raises(esker.MissingFileError, match="there is no folder") as caught:
        simulation.save(tmp_path / "none" / "bed.checkpoint")
    assert ".part" not in str(caught.value), "no word of a temporary file"
    simulation.step(1)
    assert simulation.steps == 1, "the state is usable"


def test_a_simulation_saved_and_resumed_goes_on_to_the_bit(bed: dict[str, Any], tmp_path: Path, device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    simulation.step(40)
    simulation.save(tmp_path / "bed.checkpoint")
    resumed = esker.Simulation.resume(tmp_path / "bed.checkpoint", device=device)
    assert (resumed.steps, resumed.time, resumed.title) == (40, simulation.time, simulation.title)
    for same in (simulation, resumed):
        same.step(60)
    assert np.array_equal(simulation.positions(), resumed.positions())
    assert np.array_equal(simulation.contacts().normal_forces, resumed.contacts().normal_forces)
    anew = esker.Simulation.from_dict(bed, device=device)
    anew.step(60)
    assert not np.array_equal(simulation.positions(), anew.positions()), "the comparison can fail"
    changed = esker.Simulation.resume(tmp_path / "bed.checkpoint", device=device, set={"solver.iterations": 5})
    changed.step(60)
    assert not np.array_equal(simulation.positions(), changed.positions())


def test_a_checkpoint_is_kept_to_its_engine_and_its_scenario(bed: dict[str, Any], tmp_path: Path) -> None:
    place = tmp_path / "bed.checkpoint"
    esker.Simulation.from_dict(bed, device="cpu").save(place)
    assert esker.Simulation.resume(place).device.choice == "cpu", "auto is the engine that saved it"
    with pytest.raises(esker.Error, match='choose device="cpu"|was saved by the cpu engine'):
        esker.Simulation.resume(place, device="software")
    with pytest.raises(esker.Error, match="solver.time_step"):
        esker.Simulation.resume(place, set={"solver.time_step": 2e-3})
    place.write_bytes(b"nonsense")
    with pytest.raises(esker.Error, match="is no checkpoint of esker"):
        esker.Simulation.resume(place)
    with pytest.raises(esker.Error, match="holds no checkpoint"):
        esker.Simulation.resume(tmp_path)


def test_results_do_not_replace_the_checkpoint_that_they_go_on_from(bed: dict[str, Any], tmp_path: Path) -> None:
    bed["checkpoint"] = {"every_simulated": 0.1}
    esker.Simulation.from_dict(bed, device="cpu").run(until=0.15, out=tmp_path)
    before = files(tmp_path)
    resumed = esker.Simulation.resume(tmp_path)
    with pytest.raises(esker.Error, match="would replace it"):
        resumed.run(out=tmp_path)
    assert files(tmp_path) == before
    results = resumed.run(out=tmp_path / "next")
    assert results.times[0] == pytest.approx(resumed.time - (resumed.steps - results.series["step"][0]) * 1e-3)
    assert results.times[-1] == pytest.approx(0.2)
