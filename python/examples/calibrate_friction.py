"""Calibrate the friction of a material against the angle of a heap.

A column of grains stands behind a gate, the gate is pulled away, and the grains come to rest as a slope against the wall. An
experiment tells the angle of that slope; wanted is the coefficient of friction with which the simulation comes to the same angle.

The slope differs from one packing to the next, so each trial is the mean over several packings. An optimiser from SciPy that
needs no derivatives looks for the friction of the least squared deviation.

    python calibrate_friction.py --angle 15
"""

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

import esker

RADIUS = 0.004  # m
DEPTH = 0.027  # m, along y, where the scene repeats itself
WIDTH = 0.1  # m, of the column


def scene(friction: float, seed: int) -> dict[str, Any]:
    """A column between a wall at x = 0 and a gate at x = WIDTH."""
    material = {
        "density": 2500.0,
        "youngs_modulus": 5e6,
        "poisson_ratio": 0.25,
        "restitution": 0.1,
        "friction": friction,
        "rolling_resistance": 0.05,
    }

    def plane(name: str, point: list[float], normal: list[float]) -> dict[str, Any]:
        return {"name": name, "material": "grain", "shape": {"kind": "plane", "point": point, "normal": normal}}

    spacing = 2.1 * RADIUS
    counts = [int(WIDTH / spacing), int(DEPTH / spacing), 12]
    return {
        "title": "Column behind a gate",
        "duration": 1.2,
        "seed": seed,
        "periodic": {"y": [0.0, DEPTH]},
        "solver": {"time_step": 4e-3, "iterations": 30},
        "materials": {"grain": material},
        "boundaries": [
            plane("floor", [0, 0, 0], [0, 0, 1]),
            plane("wall", [0, 0, 0], [1, 0, 0]),
            plane("gate", [WIDTH, 0, 0], [-1, 0, 0]),
        ],
        "grains": [
            {
                "material": "grain",
                "radius": {"kind": "uniform", "min": 0.85 * RADIUS, "max": RADIUS},
                "packing": {
                    "kind": "lattice",
                    "corner": [0.5 * spacing, 0.5 * spacing, 0.5 * spacing],
                    "counts": counts,
                    "spacing": spacing,
                    "jitter": 0.04 * RADIUS,
                },
            }
        ],
    }


def slope(positions: np.ndarray) -> float:
    """Angle of the free surface [deg]: of a line through the highest grains of vertical strips, without the foot of the heap.

    A heap that has flown apart to less than three strips has none left: 0.
    """
    edges = np.arange(0.0, positions[:, 0].max(), 3 * RADIUS)
    strips = np.digitize(positions[:, 0], edges)
    tops = np.array([positions[strips == strip][:, 2].max(initial=0.0) for strip in range(1, len(edges))])
    middles = 0.5 * (edges[:-1] + edges[1:])
    is_slope = (tops > 4 * RADIUS) & (middles > 3 * RADIUS)
    if is_slope.sum() < 3:
        return 0.0
    steepness = np.polyfit(middles[is_slope], tops[is_slope], 1)[0]
    return float(np.degrees(np.arctan(-steepness)))


def angle_of_heap(friction: float, seeds: range, device: str) -> float:
    """Mean angle of the heaps that come of several packings [deg]."""
    angles = []
    for seed in seeds:
        simulation = esker.Simulation.from_dict(scene(friction, seed), device=device)  # type: ignore[arg-type]
        simulation.run(until=0.2)
        simulation.set_velocity("gate", [2.0, 0.0, 0.0])
        simulation.run()
        angles.append(slope(simulation.positions()))
    return float(np.mean(angles))


@dataclass
class Calibration:
    """What the optimiser found."""

    friction: float
    """Coefficient of friction [-]."""
    angle: float
    """Angle of the heap with it [deg]."""
    trials: list[tuple[float, float]]
    """Friction [-] and angle [deg] of all trials."""


def calibrate(target: float, seeds: range, trials: int, device: str) -> Calibration:
    """The friction with which heaps have the target angle [deg]."""
    tried: list[tuple[float, float]] = []

    def deviation(friction: float) -> float:
        angle = angle_of_heap(friction, seeds, device)
        tried.append((float(friction), angle))
        print(f"friction {friction:.3f}: {angle:.2f}°", flush=True)
        return (angle - target) ** 2

    found = minimize_scalar(deviation, bounds=(0.02, 0.4), method="bounded", options={"maxiter": trials, "xatol": 0.01})
    friction, angle = min(tried, key=lambda trial: abs(trial[0] - found.x))
    return Calibration(friction, angle, tried)


def main(arguments: list[str] | None = None) -> Calibration:
    parser = argparse.ArgumentParser(description="Calibrate friction against the angle of a heap.")
    parser.add_argument("--angle", type=float, default=15.0, help="angle that was measured [deg]")
    parser.add_argument("--packings", type=int, default=4, help="number of packings per trial")
    parser.add_argument("--trials", type=int, default=10, help="number of trials at most")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    found = calibrate(options.angle, range(1, options.packings + 1), options.trials, options.device)
    print(f"friction {found.friction:.3f} gives {found.angle:.2f}°, wanted {options.angle:.2f}°")
    return found


if __name__ == "__main__":
    main()
