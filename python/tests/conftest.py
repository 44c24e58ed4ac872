"""Scenes and devices of the tests."""

import copy
import os
import subprocess
from pathlib import Path
from typing import Any, Literal

import pytest

Word = Literal["cpu", "software"]

ROOT = Path(__file__).resolve().parents[2]

GLASS = {
    "density": 2500.0,
    "youngs_modulus": 1e7,
    "poisson_ratio": 0.25,
    "restitution": 0.2,
    "friction": 0.4,
}

BED: dict[str, Any] = {
    "title": "A bed of 64 grains in a box",
    "duration": 0.2,
    "solver": {"time_step": 1e-3, "iterations": 30},
    "materials": {"glass": GLASS},
    "boundaries": [
        {
            "name": "box",
            "material": "glass",
            "shape": {"kind": "box", "min": [-0.006, -0.006, 0], "max": [0.0372, 0.0372, 0.1], "open": ["+z"]},
        }
    ],
    "grains": [
        {
            "material": "glass",
            "radius": {"kind": "constant", "value": 0.005},
            "packing": {
                "kind": "lattice",
                "corner": [0, 0, 0.0055],
                "counts": [4, 4, 4],
                "spacing": 0.0104,
                "jitter": 0.0002,
            },
        }
    ],
    "output": {"every": 0.05},
}

BED_FILE = """\
title = "A bed of 64 grains in a box"
duration = 0.2

[solver]
time_step = 1e-3
iterations = 30

[materials.glass]
density = 2500.0
youngs_modulus = 1e7
poisson_ratio = 0.25
restitution = 0.2
friction = 0.4

[[boundaries]]
name = "box"
material = "glass"
shape = { kind = "box", min = [-0.006, -0.006, 0], max = [0.0372, 0.0372, 0.1], open = ["+z"] }

[[grains]]
material = "glass"
radius = { kind = "constant", value = 0.005 }
packing = { kind = "lattice", corner = [0, 0, 0.0055], counts = [4, 4, 4], spacing = 0.0104, jitter = 0.0002 }

[output]
every = 0.05
"""


@pytest.fixture
def bed() -> dict[str, Any]:
    """A bed as a dictionary."""
    return copy.deepcopy(BED)


@pytest.fixture
def bed_file(tmp_path: Path) -> Path:
    """The same bed as a file."""
    path = tmp_path / "bed.toml"
    path.write_text(BED_FILE)
    return path


@pytest.fixture(params=["cpu", "software"])
def device(request: pytest.FixtureRequest) -> Word:
    """Both engines: a test on the second fails where there is no software adapter."""
    word: Word = request.param
    return word


def program(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program `esker`, which the tests compare with."""
    path = Path(os.environ.get("ESKER_PROGRAM", ROOT / "target" / "debug" / "esker"))
    assert path.is_file(), f"{path}: there is no program; build it with `cargo build`, or set ESKER_PROGRAM"
    command = [str(path), *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True)
