"""Type stubs and documentation of the package."""

import inspect
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import esker

FOLDER = Path(__file__).resolve().parents[1]


def stubtest(cwd: Path) -> subprocess.CompletedProcess[str]:
    """Compare the stubs of the package with what it is."""
    command = [sys.executable, "-m", "mypy.stubtest", "esker", "--mypy-config-file", str(FOLDER / "pyproject.toml")]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={"PYTHONPATH": str(cwd)})


def test_the_stubs_agree_with_the_module_and_a_wrong_one_would_show(tmp_path: Path) -> None:
    package = Path(esker.__file__).parent
    shutil.copytree(package, tmp_path / "esker")
    found = stubtest(tmp_path)
    assert found.returncode == 0, found.stdout
    stub = tmp_path / "esker" / "_esker.pyi"
    text = stub.read_text()
    stub.write_text(text.replace("def step(self, steps: int)", "def step(self, count: int)"))
    found = stubtest(tmp_path)
    assert found.returncode != 0 and "esker._esker.Simulation.step" in found.stdout


def test_package_tests_and_examples_are_typed() -> None:
    command = [sys.executable, "-m", "mypy", "package/esker", "tests", "examples"]
    found = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def public(thing: object) -> list[tuple[str, object]]:
    return [(name, value) for name, value in inspect.getmembers(thing) if not name.startswith("_")]


def test_everything_public_is_documented() -> None:
    bare = []
    for name, thing in public(esker):
        if name not in esker.__all__:
            continue
        assert (thing.__doc__ or "").strip(), name
        if inspect.isclass(thing) and not issubclass(thing, Exception) and thing.__module__ == "esker":
            bare += [f"{name}.{member}" for member, value in public(thing) if not (value.__doc__ or "").strip()]
    assert bare == []


def test_what_has_a_dimension_has_its_unit_in_the_documentation() -> None:
    simulation = esker.Simulation
    for name in ["time", "time_step", "positions", "velocities", "angular_velocities", "radii", "masses", "set_gravity"]:
        assert "[" in (getattr(simulation, name).__doc__ or ""), name
    for name, value in public(esker.Contacts):
        if name not in ("bodies", "boundaries", "sliding", "of"):
            assert "[" in (value.__doc__ or ""), name


def test_the_documentation_of_the_stub_is_that_of_the_module() -> None:
    """An editor shows the docs of the stub, `help` those of the module: the first sentences are the same."""
    text = " ".join((Path(esker.__file__).parent / "_esker.pyi").read_text().split())
    for kind in (esker.Simulation, esker.Contacts, esker.Boundary, esker.Progress, esker.Device):
        for name, value in public(kind):
            doc = " ".join((value.__doc__ or "").split())
            head = doc.split(". ")[0].removesuffix(".")[:40]
            assert head in text, f"{kind.__name__}.{name}: {head}"


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    library = tomllib.loads((FOLDER.parent / "Cargo.toml").read_text())["package"]
    assert esker.__version__ == project["version"] == library["version"]
