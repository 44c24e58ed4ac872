from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from esker._results import Results

__all__ = [
    "Boundary",
    "Contacts",
    "Device",
    "Ensemble",
    "Problem",
    "Progress",
    "Simulation",
    "__version__",
    "check",
    "devices",
    "read_frame",
    "read_index",
    "run",
]

__version__: Final[str]

_Path: TypeAlias = str | PathLike[str]
_Word: TypeAlias = Literal["auto", "gpu", "software", "cpu"]
_Device: TypeAlias = "_Word | Ensemble"
_Course: TypeAlias = float | tuple[ArrayLike, ArrayLike]
_Watch: TypeAlias = bool | Callable[[Progress], object] | None

@final
class Problem:
    """One mistake in a scenario."""

    @property
    def message(self) -> str:
        """What is wrong."""
    @property
    def help(self) -> str | None:
        """What to do about it, or None."""
    @property
    def key(self) -> str | None:
        """Path of the value, as for `set`: "grains.0.packing.count"; None where there is none."""
    @property
    def line(self) -> int | None:
        """Line in the file, counted from 1; None without a file."""
    @property
    def column(self) -> int | None:
        """Column in that line, counted from 1; None without a file."""

@final
class Device:
    """A device that simulations run on."""

    @property
    def choice(self) -> str:
        """Word for it: "cpu", "gpu" or "software"."""
    @property
    def name(self) -> str:
        """Name of the processor or graphics card."""
    @property
    def backend(self) -> str:
        """Interface to it: "rayon", "vulkan", "metal" or "dx12"."""
    @property
    def driver(self) -> str:
        """Driver and its version, or the number of threads."""
    @property
    def precision(self) -> str:
        """Precision of its numbers: "single" or "double"."""

@final
class Ensemble:
    """Worlds of many simulations on one graphics card, which are launched together.

    A card that one small scene leaves idle is full with hundreds. `Simulation.from_file(path, device=ensemble)` takes one of its `worlds`
    places, until the simulation is deleted. Each simulation steps in a thread of its own, as with `concurrent.futures`; a launch waits
    for the others, and goes without those that have something else to do. All come to the numbers that they have alone. `device` is
    "auto" or "gpu", a graphics card, or "software".
    """

    def __new__(cls, worlds: int, device: _Word = "auto") -> Ensemble: ...
    @property
    def worlds(self) -> int:
        """Number of simulations for which there is room: the number asked for, rounded up to a power of two."""

@final
class Boundary:
    """A boundary as it is now."""

    @property
    def name(self) -> str:
        """Its name."""
    @property
    def position(self) -> NDArray[np.float64]:
        """Position of its body, array of shape (3,) [m]."""
    @property
    def orientation(self) -> NDArray[np.float64]:
        """Orientation of its body as a quaternion (x, y, z, w), array of shape (4,) [-]."""
    @property
    def velocity(self) -> NDArray[np.float64]:
        """Velocity, array of shape (3,) [m/s]."""
    @property
    def angular_velocity(self) -> NDArray[np.float64]:
        """Angular velocity, array of shape (3,) [rad/s]."""

@final
class Contacts:
    """The contacts of one state: arrays with one row per contact, of pairs that touch or nearly touch.

    A contact is between a body a and a body b. `normals` point from b to a; all forces are those on a, and those on b are the opposite.
    They are means over the last substep.
    """

    @property
    def bodies(self) -> NDArray[np.int64]:
        """Bodies a and b, array of shape (n, 2): ids of grains, or -1 - i for boundary number i of `boundaries`."""
    @property
    def points(self) -> NDArray[np.float64]:
        """Contact points, array of shape (n, 3) [m]."""
    @property
    def normals(self) -> NDArray[np.float64]:
        """Unit vectors from b to a, array of shape (n, 3) [-]."""
    @property
    def gaps(self) -> NDArray[np.float64]:
        """Gaps, negative where the bodies overlap, array of shape (n,) [m]."""
    @property
    def normal_forces(self) -> NDArray[np.float64]:
        """Normal forces, positive where they push apart, array of shape (n,) [N]."""
    @property
    def friction_forces(self) -> NDArray[np.float64]:
        """Friction forces on a, array of shape (n, 3) [N]."""
    @property
    def rolling_torques(self) -> NDArray[np.float64]:
        """Torques of rolling and twisting resistance on a, array of shape (n, 3) [N m]."""
    @property
    def sliding(self) -> NDArray[np.bool_]:
        """Whether friction is at its bound, array of shape (n,)."""
    @property
    def boundaries(self) -> list[str]:
        """Names of the boundaries of the scene."""
    def of(self, body: int | str) -> NDArray[np.bool_]:
        """Which contacts a body takes part in, array of shape (n,). `body` is the id of a grain or the name of a boundary."""
    def __len__(self) -> int: ...

@final
class Progress:
    """How far stepping has come."""

    @property
    def step(self) -> int:
        """Number of time steps done."""
    @property
    def steps(self) -> int:
        """Number of time steps at the end."""
    @property
    def time(self) -> float:
        """Simulated time [s]."""
    @property
    def end(self) -> float:
        """Simulated time at the end [s]."""
    @property
    def contacts(self) -> int:
        """Contacts in the last step."""
    @property
    def steps_per_second(self) -> float:
        """Time steps per second of wall time in the last batch [1/s]."""

@final
class Simulation:
    """A scene on a device, at one time.

    Made by `Simulation.from_file`, `Simulation.from_dict` or `Simulation.resume`. All numbers are in SI units. Arrays have one row per grain that is
    there, in the same order in all of them; `ids()` tells which grains those are. Every array is a new copy of the present state: neither does
    it change later, nor does changing it change the simulation.
    """

    @staticmethod
    def from_file(path: _Path, device: _Device = "auto", set: dict[str, Any] | None = None) -> Simulation:
        """The simulation of a scenario file at its start. `set` changes values of the file, as in `{"solver.iterations": 100}`."""
    @staticmethod
    def from_dict(
        scenario: dict[str, Any],
        device: _Device = "auto",
        set: dict[str, Any] | None = None,
        *,
        name: str = "scenario",
        folder: _Path = "",
    ) -> Simulation:
        """The simulation of a scenario in a dictionary, with the keys of a scenario file."""
    @staticmethod
    def resume(path: _Path, device: _Device = "auto", set: dict[str, Any] | None = None) -> Simulation:
        """The simulation that goes on from a checkpoint, or from the last one in a folder of results."""
    @property
    def time(self) -> float:
        """Simulated time [s]."""
    @property
    def steps(self) -> int:
        """Number of time steps done."""
    @property
    def time_step(self) -> float:
        """Length of a time step [s]."""
    @property
    def duration(self) -> float:
        """Duration of the scenario [s], at which `run` ends unless told otherwise."""
    @property
    def title(self) -> str:
        """Title of the scenario."""
    @property
    def notes(self) -> list[str]:
        """What was taken of each file that the scenario names, and what was left out: a line for each."""
    @property
    def device(self) -> Device:
        """Device that it runs on."""
    @property
    def memory(self) -> int:
        """Memory that the engine holds for the scene [bytes]."""
    @property
    def boundaries(self) -> list[str]:
        """Names of the boundaries, in the order of the scenario."""
    @property
    def joints(self) -> list[str]:
        """Names of the joints."""
    @property
    def materials(self) -> list[str]:
        """Names of the materials."""
    @property
    def quantities(self) -> dict[str, str]:
        """Names of all quantities of this scene, each with its unit ("-" for none)."""
    @property
    def report(self) -> dict[str, Any]:
        """How the last steps went: "contacts", "colours", "overflow" [-], "sweeps" of the last substep [-], "searches" [-], residuals [m/s], "stages" [s]."""
    def quantity(self, name: str) -> float:
        """The value of a quantity now, in its unit; `quantities` has the names."""
    def ids(self) -> NDArray[np.int64]:
        """Ids of the grains that are there, array of shape (n,)."""
    def positions(self) -> NDArray[np.float64]:
        """Positions of the centres of mass, array of shape (n, 3) [m]."""
    def velocities(self) -> NDArray[np.float64]:
        """Velocities of the centres of mass, array of shape (n, 3) [m/s]."""
    def angular_velocities(self) -> NDArray[np.float64]:
        """Angular velocities in the frame of the scene, array of shape (n, 3) [rad/s]."""
    def orientations(self) -> NDArray[np.float64]:
        """Orientations as quaternions (x, y, z, w), array of shape (n, 4) [-]."""
    def radii(self) -> NDArray[np.float64]:
        """Radii, of a clump that of the sphere of the same volume, array of shape (n,) [m]."""
    def temperatures(self) -> NDArray[np.float64]:
        """Temperatures, array of shape (n,) [K]; 0 in a scene without heat."""
    def clumps(self) -> list[str]:
        """Names of the clumps or polyhedra that the grains are, a list of length n; "" for a sphere."""
    @property
    def polyhedra(self) -> dict[str, tuple[NDArray[np.float64], list[list[int]]]]:
        """The polyhedra of the scenario by their names: corners, array of shape (k, 3), and per face the indices of its corners.

        Those of grain i are `positions()[i] + radii()[i] * R.from_quat(orientations()[i]).apply(corners)`.
        """
    def masses(self) -> NDArray[np.float64]:
        """Masses, array of shape (n,) [kg]."""
    def contacts(self) -> Contacts:
        """The contacts of the last step, with their forces."""
    def boundary(self, name: str) -> Boundary:
        """Where a boundary is now, and how it moves."""
    def step(self, steps: int) -> None:
        """Advances by a number of time steps."""
    @overload
    def run(self, until: float | None = None, progress: _Watch = None, *, out: None = None) -> None: ...
    @overload
    def run(self, until: float | None = None, progress: _Watch = None, *, out: _Path) -> Results:
        """Advances to a time, by default the end of the scenario: `until` [s]; with `out`, a folder, the results go there."""
    def on(self, *, every: float, do: Callable[[Simulation], object]) -> None:
        """Calls `do(simulation)` at every multiple of `every` seconds of simulated time from now on."""
    def save(self, path: _Path) -> None:
        """Saves the state into a file, from which `Simulation.resume` goes on bit for bit."""
    def set_gravity(self, gravity: ArrayLike) -> None:
        """Sets gravity, three numbers [m/s²]."""
    def set_velocity(self, boundary: str, velocity: ArrayLike) -> None:
        """Has a boundary that is fixed or moves as prescribed go on at a constant velocity, three numbers [m/s]."""
    def set_angular_velocity(self, boundary: str, angular_velocity: ArrayLike) -> None:
        """Has a boundary that rotates go on from where it is at another angular velocity, three numbers [rad/s]."""
    def set_force(self, body: int | str, force: ArrayLike | None = None, torque: ArrayLike | None = None) -> None:
        """Has a force [N] at the centre of mass and a torque [N m] act on a grain, by its id, or on a boundary, by its name."""
    def set_forces(self, forces: ArrayLike, torques: ArrayLike | None = None, *, ids: ArrayLike | None = None) -> None:
        """Has forces [N] at the centres of mass and torques [N m] act on many grains until they are set again.

        Arrays of shape (n, 3), one row for each grain in the order of `ids()`, or of `ids` where it is given.
        """
    def set_velocities(
        self,
        velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        *,
        ids: ArrayLike | None = None,
    ) -> None:
        """Gives many grains other velocities [m/s] and angular velocities [rad/s]; those that are not given stay as they are.

        Arrays of shape (n, 3), one row for each grain in the order of `ids()`, or of `ids` where it is given.
        """
    def set_drive(
        self,
        joint: str,
        *,
        force: _Course | None = None,
        pressure: _Course | None = None,
        velocity: _Course | None = None,
        position: _Course | None = None,
        force_limit: float | None = None,
        response_time: float = 0.05,
    ) -> None:
        """Sets what drives a joint, in the place of what the scenario says.

        One of force [N, N m], pressure [Pa], velocity [m/s, rad/s] and position [m, rad]; none of them lets the joint go.
        """
    def add_grains(
        self,
        positions: ArrayLike,
        radius: ArrayLike,
        material: str,
        *,
        velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        clump: str | None = None,
        allow_overlap: bool = False,
    ) -> NDArray[np.int64]:
        """Adds grains and returns their ids, array of shape (n,): positions, shape (n, 3) [m], radius [m], velocities [m/s].

        A grain that overlaps another one or a boundary is an error, unless `allow_overlap` is set.
        """
    def remove_grains(self, ids: Sequence[int] | NDArray[np.integer[Any]]) -> None:
        """Takes grains out, by their ids."""

def run(
    scenario: _Path | dict[str, Any],
    out: _Path | None = None,
    *,
    device: _Device = "auto",
    set: dict[str, Any] | None = None,
    until: float | None = None,
    progress: _Watch = None,
    resume: bool = False,
) -> Results:
    """Runs a scenario from its start to its end into a folder, as `esker run` does, and returns its `Results`."""

def check(scenario: _Path | dict[str, Any], set: dict[str, Any] | None = None) -> dict[str, Any]:
    """What a scenario amounts to, in a dictionary."""

def devices() -> list[Device]:
    """The devices that simulations can run on: the processor, graphics cards, software adapters."""

def read_index(folder: _Path, kind: str) -> list[tuple[Path, float]]:
    """Paths of all frames of a kind in a folder of results, each with its time [s]."""

def read_frame(path: _Path) -> dict[str, Any]:
    """Arrays of a frame by their names; "points" has the points [m] and "time" the time [s]."""
