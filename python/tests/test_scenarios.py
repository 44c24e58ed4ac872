"""Scenarios from files and dictionaries, and what is wrong with them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esker
from conftest import Word


def heights(simulation: esker.Simulation) -> np.ndarray:
    simulation.step(50)
    return simulation.positions()[:, 2]


def test_a_dictionary_and_a_file_with_the_same_keys_come_to_the_same_bits(
    bed: dict[str, Any], bed_file: Path, device: Word
) -> None:
    of_file = esker.Simulation.from_file(bed_file, device=device)
    of_dict = esker.Simulation.from_dict(bed, device=device)
    found = heights(of_dict)
    assert np.array_equal(heights(of_file), found)
    bed["solver"]["iterations"] = 29
    other = heights(esker.Simulation.from_dict(bed, device=device))
    assert not np.array_equal(other, found), "the comparison can fail"


def test_numbers_and_arrays_of_numpy_are_values(bed: dict[str, Any]) -> None:
    expected = heights(esker.Simulation.from_dict(bed, device="cpu"))
    bed["solver"] = {"time_step": np.float64(1e-3), "iterations": np.int32(30)}
    shape = bed["boundaries"][0]["shape"]
    shape.update(min=np.array(shape["min"]), max=tuple(np.array(shape["max"])))
    bed["grains"][0]["packing"]["counts"] = (np.int64(4), 4, 4)
    bed["observe"] = {"energy": np.bool_(True)}
    found = esker.Simulation.from_dict(bed, device="cpu")
    assert np.array_equal(heights(found), expected)


def test_set_changes_values_of_a_file(bed_file: Path) -> None:
    change = {"solver.time_step": np.float64(2e-3), "grains.0.packing.counts": [2, 2, 1], "title": "Few"}
    found = esker.check(bed_file, set=change)
    assert (found.time_step, found.grains, found.title) == (2e-3, 4, "Few")
    simulation = esker.Simulation.from_file(str(bed_file), device="cpu", set=change)
    assert simulation.positions().shape == (4, 3)
    assert (simulation.title, simulation.time_step, simulation.duration) == ("Few", 2e-3, 0.2)


def test_mistakes_in_a_file_have_lines_and_columns_and_all_come_at_once(bed_file: Path) -> None:
    text = bed_file.read_text().replace("iterations = 30", "iteration = 30").replace("friction = 0.4", "friction = -1")
    bed_file.write_text(text)
    with pytest.raises(esker.ScenarioError) as caught:
        esker.Simulation.from_file(bed_file)
    key, value = caught.value.problems
    assert (key.line, key.column, key.key) == (6, 1, "solver.iteration")
    assert key.message == "unknown key `iteration` in `solver`" and key.help == "did you mean `iterations`?"
    assert (value.line, value.column, value.key) == (13, 12, "materials.glass.friction")
    text = str(caught.value)
    assert text.startswith(f"{bed_file}: 2 problems") and "6:1: unknown key" in text and "13:12: " in text
    assert isinstance(caught.value, esker.Error)


def test_mistakes_in_a_dictionary_have_the_path_of_the_key_and_no_line(bed: dict[str, Any]) -> None:
    bed["grains"][0]["packing"]["count"] = "many"
    bed["materials"]["glass"]["friction"] = np.float32(-1.0)
    del bed["duration"]
    with pytest.raises(esker.ScenarioError) as caught:
        esker.Simulation.from_dict(bed)
    problems = caught.value.problems
    assert {problem.line for problem in problems} == {None}
    keys = [problem.key for problem in problems]
    assert keys[0] is None and "missing key `duration`" in problems[0].message
    assert set(keys[1:]) == {"materials.glass.friction", "grains.0.packing.count"}


@pytest.mark.parametrize(
    ("value", "found"),
    [({1, 2}, "is {1, 2} (set)"), (None, "is None"), (2**70, "is 1180591620717411303424 (int)"), (1j, "is 1j (complex)")],
)
def test_a_value_that_no_scenario_has_is_refused_with_its_key(bed: dict[str, Any], value: Any, found: str) -> None:
    bed["grains"][0]["packing"]["counts"] = [4, value, 4]
    with pytest.raises(esker.ScenarioError) as caught:
        esker.Simulation.from_dict(bed)
    (problem,) = caught.value.problems
    assert problem.key == "grains.0.packing.counts.1" and problem.message == found
    with pytest.raises(esker.ScenarioError, match="set: 1 problem\n  solver.iterations: is "):
        esker.check("bed.toml", set={"solver.iterations": value})


def test_a_path_that_set_does_not_find_is_refused_in_the_words_of_python(bed_file: Path) -> None:
    with pytest.raises(esker.ScenarioError, match="the list has 1") as caught:
        esker.check(bed_file, set={"grains.7.material": "glass"})
    assert "--" not in str(caught.value)


def test_a_file_that_is_not_there_is_a_scenario_error_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(esker.ScenarioError, match="nowhere.toml"):
        esker.Simulation.from_file(tmp_path / "nowhere.toml")


def test_a_wrong_device_is_refused_with_the_words_there_are(bed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match='expected "auto", "gpu", "software", "cpu" or an Ensemble, found \'cup\''):
        esker.Simulation.from_dict(bed, device="cup")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="device: expected"):
        esker.Simulation.from_dict(bed, device=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        esker.Simulation.from_dict("bed.toml")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected the path of a file or a dictionary, found 3"):
        esker.check(3)  # type: ignore[arg-type]


def test_the_check_tells_what_a_scenario_amounts_to(bed: dict[str, Any]) -> None:
    found = esker.check(bed)
    assert (found.name, found.grains, found.most_grains, found.duration) == ("scenario", 64, 64, 0.2)
    assert (found.boundaries, found.materials, found.joints) == (["box"], ["glass"], [])
    assert found.notes == [] and found.not_on_gpu is None
    assert found.resolved["solver"]["warm_start"]["kind"] == "adaptive"
    bed["solver"]["coarse_corrections"] = 1
    refused = esker.check(bed).not_on_gpu
    assert refused is not None and "the GPU engine has no" in refused and "--" not in refused


def test_the_devices_are_listed_and_the_simulation_knows_its_own(bed: dict[str, Any], device: Word) -> None:
    found = {found.choice: found for found in esker.devices()}
    own = esker.Simulation.from_dict(bed, device=device).device
    assert own.choice == device and own.name == found[device].name
    assert own.precision == {"cpu": "double", "software": "single"}[device]
