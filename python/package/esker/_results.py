"""The results in a folder."""

from __future__ import annotations

import csv
import errno
import json
import os
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from esker import _esker
from esker._errors import InputError, MissingFileError


@dataclass(frozen=True)
class Frame:
    """The spheres of the grains at one time, arrays with one row per sphere: one per grain, of a clump several."""

    time: float
    """Simulated time [s]."""
    ids: NDArray[np.int32]
    """Id of the grain, shape (n,)."""
    positions: NDArray[np.float64]
    """Centre of the sphere, shape (n, 3) [m]."""
    radii: NDArray[np.float32]
    """Radius of the sphere, shape (n,) [m]."""
    velocities: NDArray[np.float32]
    """Velocity of the grain, shape (n, 3) [m/s]."""
    angular_velocities: NDArray[np.float32]
    """Angular velocity of the grain, shape (n, 3) [rad/s]."""
    orientations: NDArray[np.float32]
    """Orientation of the grain as a quaternion (x, y, z, w), shape (n, 4) [-]."""
    materials: NDArray[np.int32]
    """Number of the material in the scenario, shape (n,)."""
    coordination_numbers: NDArray[np.int32]
    """Number of grains and surfaces that the grain touches, shape (n,)."""
    arrays: dict[str, NDArray[Any]]
    """All arrays of the file by their names there, those above included."""


@dataclass(frozen=True)
class ContactFrame:
    """The contacts at one time, arrays with one row per contact."""

    time: float
    """Simulated time [s]."""
    ends: NDArray[np.float64]
    """Centres of the two spheres, for a wall that of the sphere and the contact point, shape (n, 2, 3) [m]."""
    gaps: NDArray[np.float32]
    """Gap, negative where the bodies overlap, shape (n,) [m]."""
    normal_forces: NDArray[np.float32]
    """Normal force, shape (n,) [N]."""
    friction_forces: NDArray[np.float32]
    """Size of the friction force, shape (n,) [N]."""
    sliding: NDArray[np.bool_]
    """Whether friction is at its bound, shape (n,)."""
    bodies: NDArray[np.int32]
    """The two bodies, shape (n, 2): ids of grains, or -1 - i for boundary number i of the scenario."""


T = TypeVar("T")


class Frames(Sequence[T]):
    """Frames of a run, each of which is read when it is asked for."""

    def __init__(self, paths: list[Path], read: Callable[[Path], T]) -> None:
        self._paths, self._read = paths, read

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return Frames(self._paths[index], self._read)
        return self._read(self._paths[index])

    def __iter__(self) -> Iterator[T]:
        return (self[i] for i in range(len(self)))


class Results:
    """The results that a run left in a folder; made by `read`. Files are read when they are asked for."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        """The folder."""
        if not (self.folder / "scenario.toml").is_file():
            raise _missing(
                self.folder, "holds no results (there is no scenario.toml); expected a folder that a run has written"
            )

    def __repr__(self) -> str:
        return f"<Results in {self.folder}>"

    @property
    def summary(self) -> dict[str, Any]:
        """What ran, on what, how fast, and what came out: `summary.json`. A run that goes on has none yet."""
        path = self.folder / "summary.json"
        if not path.is_file():
            raise _missing(path, "there is none yet; a run writes it at its end")
        with _reading(path):
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    @property
    def scenario(self) -> dict[str, Any]:
        """The scenario that ran, with all defaults written out: `scenario.toml`."""
        path = self.folder / "scenario.toml"
        with _reading(path):
            return tomllib.loads(path.read_text(encoding="utf-8"))

    @property
    def units(self) -> dict[str, str]:
        """Unit of each column of `series`; "-" for none."""
        return dict(self._header())

    @property
    def series(self) -> Any:
        """All quantities over time, one row per output: a pandas DataFrame, or without pandas a dictionary of numpy arrays.

        Columns are "time" [s], "step" [-] and the quantities by name; `units` has their units.
        """
        names = [name for name, _ in self._header()]
        path = self.folder / "timeseries.csv"
        with _reading(path):
            with path.open(encoding="utf-8", newline="") as file:
                rows = list(csv.reader(file))[1:]
            table = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
        columns: dict[str, NDArray[Any]] = {name: table[:, i].copy() for i, name in enumerate(names)}
        columns["step"] = columns["step"].astype(np.int64)
        try:
            import pandas
        except ImportError:
            return columns
        return pandas.DataFrame(columns)

    @property
    def times(self) -> NDArray[np.float64]:
        """Times of the frames, shape (n,) [s]."""
        return np.array([time for _, time in _esker.read_index(self.folder, "grains")])

    @property
    def frames(self) -> Frames[Frame]:
        """The grains at each of `times`."""
        return Frames([path for path, _ in _esker.read_index(self.folder, "grains")], _frame)

    @property
    def contacts(self) -> Frames[ContactFrame]:
        """The contacts at each of `times`."""
        return Frames([path for path, _ in _esker.read_index(self.folder, "contacts")], _contact_frame)

    def at(self, time: float) -> Frame:
        """The frame that is nearest to a time [s]. A time before the first or after the last one is warned of."""
        if isinstance(time, bool) or not isinstance(time, (int, float, np.integer, np.floating)):
            raise TypeError(f"time [s]: expected a number, found {time!r}")
        if not np.isfinite(time):
            raise InputError(f"time [s]: expected a finite number, found {time}")
        times = self.times
        first, last = times[0], times[-1]
        rounding = 1e-9 * abs(last)
        if not first - rounding <= time <= last + rounding:
            message = f"{self.folder}: has frames from {first} to {last} s, and the nearest is taken for {time} s"
            warnings.warn(message, stacklevel=2)
        return self.frames[int(np.abs(times - time).argmin())]

    def _header(self) -> list[tuple[str, str]]:
        path = self.folder / "timeseries.csv"
        if not path.is_file():
            raise _missing(path, "there is none; the scenario needs \"csv\" among `output.formats`")
        with _reading(path):
            with path.open(encoding="utf-8", newline="") as file:
                titles = next(csv.reader(file), [])
            if not titles:
                raise ValueError("it has no heading")
            pairs = [title.removesuffix("]").rsplit(" [", 1) for title in titles]
            return [(name, unit) for name, unit in pairs]


def read(folder: str | os.PathLike[str]) -> Results:
    """Open the results that a run left in a folder."""
    return Results(folder)


def _missing(path: Path, message: str) -> MissingFileError:
    error = MissingFileError(f"{path}: {message}")
    error.errno, error.filename = errno.ENOENT, str(path)
    return error


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Names the file where its content is not what a run writes."""
    try:
        yield
    except (ValueError, csv.Error) as error:
        advice = "expected it as a run writes it: run the scenario again"
        raise InputError(f"{path}: cannot be used: {error}; {advice}") from error


def _frame(path: Path) -> Frame:
    arrays = _esker.read_frame(path)
    time, points = arrays.pop("time"), arrays.pop("points")
    return Frame(
        time=time,
        ids=arrays["id"],
        positions=points,
        radii=arrays["radius"],
        velocities=arrays["velocity"],
        angular_velocities=arrays["angular_velocity"],
        orientations=arrays["orientation"],
        materials=arrays["material"],
        coordination_numbers=arrays["coordination_number"],
        arrays=arrays,
    )


def _contact_frame(path: Path) -> ContactFrame:
    arrays = _esker.read_frame(path)
    return ContactFrame(
        time=arrays["time"],
        ends=arrays["points"].reshape(-1, 2, 3),
        gaps=arrays["gap"],
        normal_forces=arrays["normal_force"],
        friction_forces=arrays["tangential_force"],
        sliding=arrays["sliding"].astype(bool),
        bodies=arrays["bodies"],
    )
