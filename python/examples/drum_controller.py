"""A controller that turns a drum so that its bed keeps an angle.

The faster a drum turns, the steeper is the bed in it. A proportional-integral controller reads the angle of the centre of mass of the
bed at every tenth of a second of simulated time and sets the rate of the drum: a gain times the error and the sum of all errors. The
controller is a callback: the simulation calls it, as a clock would on a machine.

    python drum_controller.py --angle 46
"""

import argparse
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import esker

RADIUS = 0.1  # m
LENGTH = 0.04  # m

SCENE: dict[str, Any] = {
    "title": "Drum under control",
    "duration": 12.0,
    "solver": {"time_step": 4e-3, "iterations": 20},
    "materials": {
        "pellet": {
            "density": 2500.0,
            "youngs_modulus": 5e6,
            "poisson_ratio": 0.25,
            "restitution": 0.2,
            "friction": 0.6,
            "rolling_resistance": 0.05,
        }
    },
    "boundaries": [
        {
            "name": "drum",
            "material": "pellet",
            "shape": {
                "kind": "cylinder",
                "base": [0, -LENGTH / 2, 0],
                "axis": [0, 1, 0],
                "length": LENGTH,
                "radius": RADIUS,
                "caps": True,
            },
            "motion": {"kind": "rotation", "rate": 0.0},
        }
    ],
    "grains": [
        {
            "material": "pellet",
            "radius": {"kind": "uniform", "min": 0.0045, "max": 0.0055},
            "packing": {
                "kind": "lattice",
                "structure": "hcp",
                "within": {
                    "kind": "cylinder",
                    "base": [0, -LENGTH / 2, 0],
                    "axis": [0, 1, 0],
                    "length": LENGTH,
                    "radius": RADIUS,
                },
                "spacing": 0.0113,
                "count": 400,
            },
        }
    ],
}


@dataclass
class Controller:
    """A proportional-integral controller of the angle of the bed."""

    target: float
    """Angle that the bed is to keep [deg]."""
    gain: float = 0.15
    """Rate per error [rad/s per degree]."""
    integral_time: float = 0.5
    """Time in which a lasting error counts once more [s]."""
    limit: float = 6.0
    """Largest rate of the drum [rad/s]."""
    every: float = 0.1
    """Time between two looks at the bed [s]."""
    integral: float = 0.0
    """Sum of the errors [deg s]."""
    times: list[float] = field(default_factory=list)
    angles: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    def __call__(self, simulation: esker.Simulation) -> None:
        angle = angle_of_bed(simulation)
        error = self.target - angle
        wanted = self.gain * (error + self.integral / self.integral_time)
        rate = float(np.clip(wanted, 0.0, self.limit))
        if rate == wanted:  # At its limits the sum of errors would grow without end.
            self.integral += error * self.every
        simulation.set_angular_velocity("drum", [0.0, rate, 0.0])
        self.times.append(simulation.time)
        self.angles.append(angle)
        self.rates.append(rate)


def angle_of_bed(simulation: esker.Simulation) -> float:
    """Angle of the centre of mass of the bed about the axis of the drum, from straight down [deg]."""
    x, _, z = np.average(simulation.positions(), axis=0, weights=simulation.masses())
    return float(np.degrees(np.arctan2(-x, -z)))


def main(arguments: list[str] | None = None) -> Controller:
    parser = argparse.ArgumentParser(description="Turn a drum so that its bed keeps an angle.")
    parser.add_argument("--angle", type=float, default=46.0, help="angle to keep [deg]")
    parser.add_argument("--time", type=float, default=12.0, help="simulated time [s]")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    simulation = esker.Simulation.from_dict(SCENE, device=options.device)
    simulation.run(until=0.4)  # The bed comes to rest.
    controller = Controller(options.angle)
    simulation.on(every=controller.every, do=controller)
    simulation.run(until=options.time, progress=True)
    last = slice(len(controller.angles) // 2, None)
    print(
        f"wanted {options.angle:.1f}°, second half of the run: {np.mean(controller.angles[last]):.1f}° "
        f"± {np.std(controller.angles[last]):.1f}° at {np.mean(controller.rates[last]):.2f} rad/s"
    )
    return controller


if __name__ == "__main__":
    main()
