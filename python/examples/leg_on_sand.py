"""Have a leg stand on sand: torques of its hip and knee in, angles and the force of the ground out.

The leg comes from `machines/leg.urdf`, which `esker import` made a scenario of. Its trunk slides up and down a rail. In every step a controller
reads the angles and rates of both joints and sets torques that draw them to the angles of a crouch. It stands when the ground carries its weight.

    python leg_on_sand.py
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

import esker
from sand_bed import on_sand

LOW, HIGH = [-0.1, -0.1, -0.5], [0.1, 0.1, -0.2]  # m, of the bed
MASS = 3.0 + 0.5 + 0.3 + 0.2  # kg, of the leg
LINK = 0.2  # m, from joint to joint
GRAIN = 0.008  # m, radius of the largest grains
STIFFNESS, DAMPING = 60.0, 1.5  # N m/rad, N m s/rad


@dataclass
class Stand:
    """How a leg stands."""

    force: float
    """Force of the ground on the foot, upwards [N]."""
    knee: float
    """Torque of the knee [N m]."""
    moment: float
    """Torque that balances the force of the ground and the weight of shank and foot about the knee [N m]."""
    sinkage: float
    """Depth of the sole below the bed at the start [m]."""


def stand(crouch: float, time: float, device: Any) -> Stand:
    """Stands for some time [s] with the thigh turned by an angle [rad] and the shank back by twice that."""
    simulation = esker.Simulation.from_dict(on_sand("leg", LOW, HIGH, GRAIN, 0.08), device=device)
    wanted = {"hip": crouch, "knee": -2 * crouch}
    # The leg bends while it hangs above the bed, which comes to rest.
    simulation.set_drive("rail", position=0.1, force_limit=500.0)
    for joint, angle in wanted.items():
        simulation.set_drive(joint, position=([0.0, 0.3], [0.0, angle]), force_limit=30.0)
    simulation.run(until=0.5)
    surface = np.sort(simulation.positions()[:, 2])[-20:].mean() + GRAIN
    reach = 2 * LINK * np.cos(crouch) + 0.03
    # It comes down slowly until it touches, and is let go.
    low = surface + reach - 0.002
    simulation.set_drive("rail", position=([0.5, 0.8], [0.1, low]), force_limit=500.0)
    simulation.run(until=0.85)
    simulation.set_drive("rail")
    forces, knees, moments, soles = [], [], [], []
    while simulation.time < 0.85 + time:
        for joint, angle in wanted.items():
            off = angle - simulation.quantity(f"joint_position:{joint}")
            torque = STIFFNESS * off - DAMPING * simulation.quantity(f"joint_speed:{joint}")
            simulation.set_drive(joint, force=float(np.clip(torque, -30.0, 30.0)))
        simulation.step(1)
        hip, knee = simulation.quantity("joint_position:hip"), simulation.quantity("joint_position:knee")
        # A turn by an angle about y takes the downward link to (-sin, 0, -cos).
        foot = -LINK * np.sin(hip + knee)
        ground = [simulation.quantity(f"force_{axis}:shank") for axis in "xz"]
        down = LINK * np.cos(hip + knee)
        # About y the force (fx, fz) at (foot, -down) has the moment -down fx - foot fz.
        weight = 9.81 * (0.3 * 0.5 + 0.2)
        forces.append(ground[1])
        knees.append(simulation.quantity("drive_force:knee"))
        moments.append(down * ground[0] + foot * ground[1] - foot * weight)
        soles.append(simulation.quantity("joint_position:rail") - LINK * (np.cos(hip) + np.cos(hip + knee)) - 0.03)
    last = slice(len(forces) // 2, None)
    force, knee, moment, sole = (float(np.mean(values[last])) for values in (forces, knees, moments, soles))
    return Stand(force, knee, moment, surface - sole)


def main(arguments: list[str] | None = None) -> Stand:
    """Stands on sand, and prints how."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crouch", type=float, default=0.5, help="angle of the thigh [rad]")
    parser.add_argument("--time", type=float, default=1.0, help="[s]")
    parser.add_argument("--device", default="auto")
    given = parser.parse_args(arguments)
    found = stand(given.crouch, given.time, given.device)
    print(f"the ground carries {found.force:.1f} N of a weight of {MASS * 9.81:.1f} N, the foot sinks {1e3 * found.sinkage:.1f} mm")
    print(f"torque of the knee {found.knee:.2f} N m, its balance with the forces on the shank {found.moment:.2f} N m")
    return found


if __name__ == "__main__":
    main()
