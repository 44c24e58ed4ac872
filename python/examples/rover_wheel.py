"""Drive the wheel of a rover over sand: torque in, slip and drawbar pull out.

The wheel, its hub and its carriage come from `machines/wheel.urdf`, which `esker import` made a scenario of. The carriage goes at a
constant velocity, as in a test rig, and a controller turns the wheel at a constant rate: in every step it reads the speed of the axle and
sets a torque. The faster the wheel turns, the more it slips, and the harder it pulls at the carriage.

    python rover_wheel.py --slip 0.0 0.3 0.6
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import esker
from sand_bed import on_sand

RADIUS = 0.1  # m, of the wheel
RATE = 1.5  # rad/s
GRAIN = 0.01  # m, radius of the largest grains
LOW, HIGH = [-0.28, -0.07, -0.2], [0.22, 0.07, 0.2]  # m, of the bed
START = -0.15  # m, where the wheel stands at first


@dataclass
class Pull:
    """What a wheel does at a slip, as means over the last two thirds of its way."""

    slip: float
    """1 - v / (ω R) [-]."""
    torque: float
    """Torque on the axle [N m]."""
    drawbar: float
    """Force with which the wheel pulls at the carriage [N]."""
    sinkage: float
    """Depth of the lowest point of the rim below the bed at the start [m]."""


def roll(slip: float, time: float, device: Any) -> Pull:
    """Rolls at a slip for some time [s]."""
    scene = on_sand("wheel", LOW, HIGH, GRAIN, 0.09)
    simulation = esker.Simulation.from_dict(scene, device=device)
    # The bed comes to rest while the wheel is held above it, at the end of the rail where it starts.
    simulation.set_drive("rail", position=([0.0, 0.3], [0.0, START]), force_limit=500.0)
    simulation.set_drive("load", position=0.1, force_limit=500.0)
    simulation.set_drive("axle", velocity=0.0)
    simulation.run(until=0.5)
    surface = np.sort(simulation.positions()[:, 2])[-20:].mean() + GRAIN
    simulation.set_drive("rail", position=START, force_limit=500.0)
    simulation.set_drive("load", force=0.0)
    simulation.run(until=0.8)
    simulation.set_drive("rail", velocity=RATE * RADIUS * (1 - slip), force_limit=500.0)
    torques, drawbars, sinkages = [], [], []
    gain, integral = 2.0, 0.0
    while simulation.time < 0.8 + time:
        error = RATE - simulation.quantity("joint_speed:axle")
        integral += error * simulation.time_step
        torque = float(np.clip(gain * (error + integral / 0.05), -20.0, 20.0))
        simulation.set_drive("axle", force=torque)
        simulation.step(1)
        torques.append(torque)
        drawbars.append(-simulation.quantity("drive_force:rail"))
        sinkages.append(surface - (simulation.quantity("joint_position:load") - RADIUS))
    last = slice(len(torques) // 3, None)
    torque, drawbar, sinkage = (float(np.mean(values[last])) for values in (torques, drawbars, sinkages))
    return Pull(slip, torque, drawbar, sinkage)


def main(arguments: list[str] | None = None) -> list[Pull]:
    """Rolls at several slips, and prints what the wheel does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slip", type=float, nargs="+", default=[0.0, 0.3, 0.6], help="1 - v / (ω R)")
    parser.add_argument("--time", type=float, default=1.5, help="[s]")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args(arguments)
    pulls = []
    for slip in given.slip:
        pull = roll(slip, given.time, given.device)
        pulls.append(pull)
        print(f"slip {slip:.2f}: torque {pull.torque:.2f} N m, drawbar pull {pull.drawbar:.1f} N, sinkage {1e3 * pull.sinkage:.1f} mm")
    return pulls


if __name__ == "__main__":
    main()
