"""esker: nonsmooth discrete element simulation of granular matter, on graphics cards and processors.

    import esker

    simulation = esker.Simulation.from_file("scenarios/drum.toml")
    simulation.run(until=2.0, progress=True)
    print(simulation.quantity("dynamic_angle_deg"), simulation.positions().max(axis=0))

All numbers are in SI units: m, kg, s, N, Pa, rad.

| Name | What it is |
|---|---|
| `Simulation` | a scene on a device, to be stepped, looked at and changed |
| `run` | a scenario from start to end into a folder of results |
| `read`, `Results`, `Frames`, `Frame`, `ContactFrame` | the results in a folder |
| `check`, `Check` | what a scenario amounts to |
| `devices`, `Device` | what simulations can run on |
| `Ensemble` | many simulations that a graphics card steps together |
| `Boundary`, `Contacts`, `Progress` | what a simulation tells |
| `Error`, `ScenarioError`, `Problem` | what goes wrong |
| `InputError`, `UnknownNameError`, `FileError`, `MissingFileError`, `MissingScenarioError` | the same, by kind: also a `ValueError`, `KeyError`, `OSError`, `FileNotFoundError` |
"""

from esker._check import Check, check
from esker._errors import (
    Error,
    FileError,
    InputError,
    MissingFileError,
    MissingScenarioError,
    ScenarioError,
    UnknownNameError,
)
from esker._esker import (
    Boundary,
    Contacts,
    Device,
    Ensemble,
    Problem,
    Progress,
    Simulation,
    __version__,
    devices,
    run,
)
from esker._results import ContactFrame, Frame, Frames, Results, read

__all__ = [
    "Boundary",
    "Check",
    "ContactFrame",
    "Contacts",
    "Device",
    "Ensemble",
    "Error",
    "FileError",
    "Frame",
    "Frames",
    "InputError",
    "MissingFileError",
    "MissingScenarioError",
    "Problem",
    "Progress",
    "Results",
    "ScenarioError",
    "Simulation",
    "UnknownNameError",
    "__version__",
    "check",
    "devices",
    "read",
    "run",
]
