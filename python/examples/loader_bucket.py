"""Fill the bucket of a loader: forces and torques in, positions and the mass in the bucket out.

The loader comes from `machines/loader.urdf`, which `esker import` made a scenario of. A controller follows a cycle of its three joints: it
drives into the sand, curls the bucket and lifts it. In every step it reads positions and speeds and sets one force and two torques, which the
limits of the file bound.

    python loader_bucket.py
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import esker
from sand_bed import on_sand

LOW, HIGH = [0.25, -0.13, -0.26], [1.0, 0.13, 0.3]  # m, of the bed
TIMES = [0.0, 0.4, 1.2, 1.6, 2.2]  # s
CYCLE = {
    # Stiffness, damping, largest effort, positions at the times.
    "drive": (4000.0, 400.0, 400.0, [0.0, 0.0, 0.3, 0.36, 0.2]),
    "lift": (600.0, 30.0, 150.0, [0.0, -0.1, -0.22, -0.15, 0.4]),
    "tilt": (200.0, 8.0, 80.0, [0.0, -0.35, -0.2, 0.8, 0.5]),
}


@dataclass
class Cycle:
    """What a cycle came to."""

    mass: float
    """Mass of the grains above the bed at the end, in the bucket [kg]."""
    effort: dict[str, float]
    """Largest effort of each joint [N, N m]."""
    positions: dict[str, float]
    """Positions of the joints at the end [m, rad]."""


def dig(device: Any) -> Cycle:
    """Goes through the cycle once."""
    simulation = esker.Simulation.from_dict(on_sand("loader", LOW, HIGH, 0.015, 0.13), device=device)
    efforts: dict[str, list[float]] = {joint: [] for joint in CYCLE}
    while simulation.time < TIMES[-1]:
        for joint, (stiffness, damping, most, positions) in CYCLE.items():
            off = np.interp(simulation.time, TIMES, positions) - simulation.quantity(f"joint_position:{joint}")
            effort = stiffness * off - damping * simulation.quantity(f"joint_speed:{joint}")
            efforts[joint].append(float(np.clip(effort, -most, most)))
            simulation.set_drive(joint, force=efforts[joint][-1])
        simulation.step(1)
    heights = simulation.positions()[:, 2]
    mass = float(simulation.masses()[heights > -0.02].sum())
    ends = {joint: simulation.quantity(f"joint_position:{joint}") for joint in CYCLE}
    return Cycle(mass, {joint: max(map(abs, all_of)) for joint, all_of in efforts.items()}, ends)


def main(arguments: list[str] | None = None) -> Cycle:
    """Digs once, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    given = parser.parse_args(arguments)
    cycle = dig(given.device)
    efforts = ", ".join(f"{joint} {effort:.0f}" for joint, effort in cycle.effort.items())
    print(f"{cycle.mass:.2f} kg in the bucket; largest efforts [N, N m]: {efforts}")
    return cycle


if __name__ == "__main__":
    main()
