"""Mistakes: each is an `esker.Error`, and where Python has an exception for its kind, that one as well."""

import errno
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import esker


def test_every_exception_is_one_of_the_package_and_one_of_python() -> None:
    kinds: list[tuple[type[Exception], type[Exception]]] = [
        (esker.InputError, ValueError),
        (esker.ScenarioError, ValueError),
        (esker.UnknownNameError, KeyError),
        (esker.FileError, OSError),
        (esker.MissingFileError, FileNotFoundError),
        (esker.MissingScenarioError, FileNotFoundError),
    ]
    for kind, of_python in kinds:
        assert issubclass(kind, esker.Error) and issubclass(kind, of_python), kind
        assert kind.__module__ == "esker" and getattr(esker, kind.__name__) is kind
        assert str(kind("what to do")) == "what to do", "without the quotes of KeyError"
    assert issubclass(esker.MissingScenarioError, esker.ScenarioError)


def test_a_name_or_an_id_that_is_not_there_is_a_key_error(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    for call in (
        lambda: simulation.quantity("hieght"),
        lambda: simulation.boundary("wall"),
        lambda: simulation.set_velocity("wall", [0, 0, 1]),
        lambda: simulation.set_drive("hinge"),
        lambda: simulation.contacts().of("wall"),
        lambda: simulation.set_force(64, force=[1, 0, 0]),
        lambda: simulation.remove_grains([-1]),
        lambda: simulation.add_grains([[0, 0, 1]], 0.005, "gold"),
    ):
        with pytest.raises(KeyError) as caught:
            call()
        assert isinstance(caught.value, esker.UnknownNameError) and str(caught.value).startswith("there is no ")


def test_a_file_that_is_not_there_is_a_file_not_found_error(bed: dict[str, Any], tmp_path: Path) -> None:
    lost = tmp_path / "nowhere"
    for call in (
        lambda: esker.Simulation.from_file(lost),
        lambda: esker.check(lost),
        lambda: esker.run(lost),
        lambda: esker.Simulation.resume(lost),
        lambda: esker.read(lost),
    ):
        with pytest.raises(FileNotFoundError) as caught:
            call()
        error = caught.value
        assert isinstance(error, esker.Error) and error.errno == errno.ENOENT
        assert str(error.filename).startswith(str(lost)) and str(lost) in str(error)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OSError) as other:
        esker.Simulation.from_dict(bed, device="cpu").run(out=tmp_path / "file")
    assert isinstance(other.value, esker.FileError) and not isinstance(other.value, FileNotFoundError)


def test_a_value_that_cannot_be_is_a_value_error(bed: dict[str, Any], bed_file: Path) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    for call in (
        lambda: simulation.run(until=-1.0),
        lambda: simulation.set_gravity([0, 0, np.inf]),
        lambda: simulation.set_angular_velocity("box", [0, 0, 1]),
        lambda: simulation.set_force("box", force=[1, 0, 0]),
        lambda: simulation.add_grains([[0, 0, 1]], -1.0, "glass"),
        lambda: esker.Simulation.from_dict({"duration": -1.0}),
        lambda: esker.check(bed_file, set={"solver.iterations": 0}),
    ):
        with pytest.raises(ValueError) as caught:
            call()
        assert isinstance(caught.value, esker.Error)


def test_booleans_and_strings_are_no_numbers(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    mask: Any = simulation.positions()[:, 2] > 0.02
    strings: Any = ["1", "2"]
    with pytest.raises(TypeError, match=r"found booleans.*`ids\(\)\[mask\]` has the ids of a mask"):
        simulation.remove_grains(mask)
    with pytest.raises(TypeError, match="found strings"):
        simulation.remove_grains(strings)
    with pytest.raises(TypeError, match=r"radius \[m\]: expected .* found booleans: True \(bool\)"):
        simulation.add_grains([[0, 0, 1]], True, "glass")
    for positions, found in (
        ([[True, False, True]], "booleans"),
        ([[0.0, 0.0, 1.0], (0.5, 0, True)], "booleans"),
        ([["0", "0", "1"]], "strings"),
        (np.array([["0", 1, True]], dtype=object), "strings"),
        (np.array([[0j, 0, 1]]), "something else"),
    ):
        with pytest.raises(TypeError, match=f"found {found}"):
            simulation.add_grains(positions, 0.005, "glass")
    truths: list[Any] = [True, np.True_]
    for truth in truths:
        for call in (
            lambda: simulation.step(truth),
            lambda: simulation.run(until=truth),
            lambda: simulation.on(every=truth, do=print),
            lambda: simulation.set_gravity([0, 0, truth]),
            lambda: simulation.set_force(truth, force=[1, 0, 0]),
            lambda: simulation.set_drive("hinge", force=1.0, force_limit=truth),
            lambda: simulation.set_drive("hinge", force=1.0, response_time=truth),
            lambda: simulation.contacts().of(truth),
            lambda: simulation.add_grains([[0, 0, 1]], [truth], "glass"),
            lambda: simulation.remove_grains([0, truth]),
            lambda: esker.Ensemble(truth, device="software"),
        ):
            with pytest.raises(TypeError, match="True"):
                call()
    assert len(simulation.ids()) == 64 and simulation.steps == 0
    simulation.add_grains(np.array([[Decimal("0.0"), 0, 1]], dtype=object), np.float32(0.005), "glass")
    simulation.remove_grains(simulation.ids()[np.append(mask, False)])
    assert len(simulation.ids()) == 65 - mask.sum()


def test_an_id_that_comes_twice_is_refused(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    with pytest.raises(esker.InputError, match="expected each id once, found 7 twice"):
        simulation.remove_grains([7, 3, 7])
    assert len(simulation.ids()) == 64


def test_a_dictionary_that_contains_itself_or_has_no_bottom_is_refused(bed: dict[str, Any]) -> None:
    bed["grains"][0]["packing"]["self"] = bed["grains"]
    with pytest.raises(esker.ScenarioError, match="grains.0.packing.self: contains itself"):
        esker.check(bed)
    del bed["grains"][0]["packing"]["self"]
    deep: Any = 1
    for _ in range(20_000):
        deep = {"a": deep}
    listed: Any = 1
    for _ in range(20_000):
        listed = [listed]
    for bottomless in (deep, listed):
        with pytest.raises(ValueError, match="is nested more than 64 levels deep"):
            esker.check(bed | {"title": bottomless})
        with pytest.raises(ValueError, match="is nested more than 64 levels deep"):
            esker.check(bed, set={"title": bottomless})
    shared = [0, 0, 0.0055]
    bed["grains"][0]["packing"]["corner"] = shared
    bed["grains"].append(bed["grains"][0] | {"packing": bed["grains"][0]["packing"] | {"corner": [0, 0, 0.07]}})
    assert esker.check(bed).grains == 128, "what is there twice does not contain itself"


def test_a_number_of_steps_or_a_time_that_cannot_be_is_a_value_error(bed: dict[str, Any], tmp_path: Path) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    for steps in (-1, 2**64):
        with pytest.raises(esker.InputError, match=r"expected a whole number from 0 to 2\*\*64 - 1, found"):
            simulation.step(steps)
    for until in (-1.0, -1e-9):
        with pytest.raises(esker.InputError, match=r"until \[s\]: expected a time from 0 on, found -"):
            esker.run(bed, device="cpu", out=tmp_path / "out", until=until)
    with pytest.raises(esker.InputError, match="steps"):
        esker.run(bed, device="cpu", out=tmp_path / "out", until=1e300)
    assert not (tmp_path / "out").exists(), "nothing has begun"
    with pytest.raises(TypeError, match=r"radius \[m\]: expected a number or an array of numbers, found None"):
        simulation.add_grains([[0, 0, 1]], None, "glass")  # type: ignore[arg-type]
