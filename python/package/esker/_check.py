"""The check of a scenario."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from esker import _esker


@dataclass(frozen=True)
class Check:
    """What a scenario amounts to."""

    name: str
    """Name: that of the file without its extension."""
    title: str
    """Title line."""
    duration: float
    """Simulated time [s]."""
    time_step: float
    """Length of a time step [s]."""
    grains: int
    """Number of grains at the start."""
    most_grains: int
    """Number of grains with all that emitters will bring."""
    boundaries: list[str]
    """Names of the boundaries."""
    joints: list[str]
    """Names of the joints."""
    materials: list[str]
    """Names of the materials."""
    notes: list[str]
    """What was taken of each table, dump, frame and mesh, and what was left out: a line for each file."""
    not_on_gpu: str | None
    """Why the scenario does not run on a GPU, or None where it does."""
    resolved: dict[str, Any]
    """The scenario with all defaults written out."""


def check(
    scenario: str | os.PathLike[str] | dict[str, Any], set: Mapping[str, Any] | None = None
) -> Check:
    """Check a scenario without running it.

    `scenario` is the path of a file or a dictionary; `set` changes values, as in `{"solver.iterations": 100}`. Raises
    `ScenarioError` with all mistakes.
    """
    found = _esker.check(scenario, None if set is None else dict(set))
    resolved = tomllib.loads(found.pop("resolved"))
    return Check(resolved=resolved, **found)
