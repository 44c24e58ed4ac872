"""Blow a gas through a bed of grains until it is fluidised.

The gas rises in a column, uniform across it, and goes faster where grains leave it less room: its flux is the same at all heights. It drags
at the grains, and they at it: the sum of both is its loss of pressure. The drag is that of Ergun 1952, and where grains are few that of
Wen & Yu 1966 (after Gidaspow 1994). A bed at rest loses what Ergun's equation says; from the velocity on at which the loss bears the
weight of the bed, the bed expands, and the loss stays the weight over the section.

    python fluidised_bed.py --velocity 0.5 1.0 2.5
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import esker

Array = NDArray[np.float64]

DIAMETER = 0.004  # m
WIDTH = 0.03  # m, of the column
HEIGHT = 0.3  # m, of the gas
CELLS = 60
DENSITY, VISCOSITY = 1.2, 1.8e-5  # of air, kg/m³ and Pa s
VOLUME = np.pi / 6 * DIAMETER**3  # m³, of a grain
GRAVITY = 9.81  # m/s²


def scene(grains: int) -> dict[str, Any]:
    """A column with smooth walls, and grains in it."""
    glass = {"density": 2500.0, "youngs_modulus": 1e7, "poisson_ratio": 0.25, "restitution": 0.5, "friction": 0.3}
    corner = [0.55 * DIAMETER] * 3
    across = int(WIDTH / (1.05 * DIAMETER))
    counts = [across, across, -(-grains // across**2)]
    return {
        "title": "A bed of grains in a gas",
        "duration": 10.0,
        "solver": {"time_step": 1e-3, "iterations": 20},
        "materials": {"glass": glass, "wall": glass | {"friction": 0.0}},
        "boundaries": [
            {
                "name": "column",
                "material": "wall",
                "shape": {"kind": "box", "min": [0, 0, 0], "max": [WIDTH, WIDTH, 1.0], "open": ["+z"]},
            }
        ],
        "grains": [
            {
                "material": "glass",
                "radius": {"kind": "constant", "value": DIAMETER / 2},
                "packing": {
                    "kind": "lattice",
                    "corner": corner,
                    "counts": counts,
                    "spacing": 1.05 * DIAMETER,
                    "jitter": 1e-5,
                },
            }
        ],
    }


def friction(porosity: Array, slip: Array) -> Array:
    """Drag of the gas per volume of the bed and slip velocity [kg/(m³ s)]."""
    solid = 1 - porosity
    ergun = 150 * VISCOSITY * solid**2 / (porosity * DIAMETER**2) + 1.75 * DENSITY * solid * slip / DIAMETER
    reynolds = np.maximum(porosity * DENSITY * slip * DIAMETER / VISCOSITY, 1e-9)
    coefficient = np.where(reynolds < 1000, 24 / reynolds * (1 + 0.15 * reynolds**0.687), 0.44)
    wen_yu = 0.75 * coefficient * DENSITY * solid * porosity * slip / DIAMETER * porosity**-2.65
    return np.where(porosity < 0.8, ergun, wen_yu)


@dataclass
class Gas:
    """The gas in the column, in layers of equal height."""

    flux: float
    """Volume that flows through the section [m/s]: the velocity in the empty column."""

    def layers(self, heights: Array) -> tuple[NDArray[np.int64], Array]:
        """The lower one of the two layers between whose middles each height is, and the share of the upper one."""
        place = np.clip(heights / HEIGHT * CELLS - 0.5, 0, CELLS - 1.001)
        lower = place.astype(np.int64)
        return lower, place - lower

    def drag(self, positions: Array, velocities: Array) -> Array:
        """Forces on the grains [N], shape (n, 3): the drag, and the part of the loss of pressure that acts on their volume."""
        lower, share = self.layers(positions[:, 2])
        volume = np.bincount(lower, VOLUME * (1 - share), CELLS) + np.bincount(lower + 1, VOLUME * share, CELLS)
        porosity = np.clip(1 - volume * CELLS / (WIDTH**2 * HEIGHT), 0.3, 1.0)
        around = (1 - share) * porosity[lower] + share * porosity[lower + 1]
        slip = np.array([0.0, 0.0, self.flux]) / around[:, None] - velocities
        rate = friction(around, np.linalg.norm(slip, axis=1))
        return np.asarray((VOLUME * rate / (around * np.maximum(1 - around, 1e-3)))[:, None] * slip)


@dataclass
class Bed:
    """What a bed does in the gas, as means over the second half of the time."""

    velocity: float
    loss: float
    """Loss of pressure over the weight of the bed on its section [-]."""
    height: float
    """Twice the mean height of the grains [m]."""
    porosity: float


def blow(velocity: float, grains: int, time: float, device: Any) -> Bed:
    """Blows gas through a bed for some time [s]."""
    simulation = esker.Simulation.from_dict(scene(grains), device=device)
    simulation.run(until=0.3)
    start, gas, steps = simulation.steps, Gas(velocity), int(time / simulation.time_step)
    weight = GRAVITY * simulation.masses().sum()
    losses, heights = [], []
    while simulation.steps < start + steps:
        forces = gas.drag(simulation.positions(), simulation.velocities())
        simulation.set_forces(forces)
        simulation.step(1)
        losses.append(forces[:, 2].sum() / weight)
        heights.append(2 * simulation.positions()[:, 2].mean())
    loss, height = (float(np.mean(values[steps // 2 :])) for values in (losses, heights))
    return Bed(velocity, loss, height, 1 - len(simulation.ids()) * VOLUME / (WIDTH**2 * height))


def ergun(velocity: float, porosity: float) -> float:
    """Loss of pressure of a bed at rest over its weight on its section [-], after Ergun 1952."""
    solid = 1 - porosity
    gradient = 150 * VISCOSITY * solid**2 * velocity / (porosity**3 * DIAMETER**2)
    gradient += 1.75 * DENSITY * solid * velocity**2 / (porosity**3 * DIAMETER)
    return gradient / (2500.0 * solid * GRAVITY)


def main(arguments: list[str] | None = None) -> list[Bed]:
    """Blows gas of several velocities through a bed, and prints what it does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--velocity", type=float, nargs="+", default=[0.5, 1.0, 2.5], help="of the gas in the empty column [m/s]")
    parser.add_argument("--grains", type=int, default=490)
    parser.add_argument("--time", type=float, default=1.5, help="[s]")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args(arguments)
    beds = []
    for velocity in given.velocity:
        bed = blow(velocity, given.grains, given.time, given.device)
        beds.append(bed)
        print(f"{velocity:.2f} m/s: loss {bed.loss:.3f} of the weight, Ergun {ergun(velocity, bed.porosity):.3f}, height {1e3 * bed.height:.1f} mm")
    return beds


if __name__ == "__main__":
    main()
