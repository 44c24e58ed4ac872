#!/usr/bin/env python3
"""Four mechanisms of the IFToMM library of benchmarks, and the rolling test of SimBenchmark (ETH), in esker.

    python3 benches/peers/mechanisms.py --esker target/release/esker --out benches/results/mechanisms.md

Pendulum (A01): 1 kg at 1 m, let go level, 10 s. Double four-bar (A02): five bars of 1 kg and 1 m, 1 m/s at the top, 4 s; it passes a pose in
which it has more freedom than it moves with. Bricard (A04): five bars of 1 kg and 1 m on six hinges, one constraint too many, 10 s. Spatial
slider-crank: crank 0.08 m from (0, 0.1, 0.12) m at 6 rad/s, rod 0.3 m, 5 s; its data are those that EXUDYN (e44aca1) keeps. What is judged is
the energy, as the library does, and the place of a body beside an integration of fourth order by `adams_joints.py`, which this script uses.

Rolling: 25 balls of 1 kg on a box of 10 kg that 150 N push along the diagonal, friction 0.8 and 0.4, 4 s in steps of 1 ms. The mean squared
error of the velocities of balls and box, beside the exact solution; the site has 7.5e-6 for the best of six engines.
"""

import argparse
import datetime
import json
import subprocess
import sys

import numpy as np
from adams_joints import Deck, Equations, keep, run

STEPS = [1e-3, 5e-4, 1e-4]
GRAVITY = 9.81
X, Y, Z = np.eye(3)


class Mechanism(Deck):
    """Bodies and joints made here, in the form of a deck."""

    def __init__(self, gravity):
        self.parts, self.markers, self.joints, self.gravity = {}, {}, [], np.asarray(gravity, float)
        self.bodies, self.given = [], {}

    def add(self, mass, tensor, centre):
        part = len(self.bodies) + 1
        self.bodies.append(part)
        self.given[part] = (mass, np.asarray(tensor, float), np.asarray(centre, float), np.eye(3))
        return part

    def bar(self, start, end, mass=1.0, across=None, width=0.0):
        """Bar with a square section; `across`: moments along and across it in place of its own."""
        start, end = np.asarray(start, float), np.asarray(end, float)
        line = (end - start) / np.linalg.norm(end - start)
        own = [mass * width**2 / 6, mass * ((end - start) @ (end - start) + width**2) / 12]
        along, side = own if across is None else across
        # The section of a bar in a plane mechanism does not turn about the bar.
        along = max(along, 1e-3 * side)
        tensor = side * np.eye(3) + (along - side) * np.outer(line, line)
        return self.add(mass, tensor, 0.5 * (start + end))

    def join(self, kind, first, second, point, axis=Z, other=None, end=None):
        """Joint between two bodies (0: ground) with its axis, of a Hooke joint its axes, of a rod its end on the second."""
        side = X if abs(axis[0]) < 0.9 else Y
        if kind == "HOOKE":
            frame = np.stack([axis, other, np.cross(axis, other)], axis=1)
        else:
            side = np.cross(axis, side) / np.linalg.norm(np.cross(axis, side))
            frame = np.stack([side, np.cross(axis, side), axis], axis=1)
        names = []
        for body, place in [(first, point), (second, point if end is None else end)]:
            names.append(len(self.markers) + 1)
            self.markers[names[-1]] = (body, np.asarray(place, float), frame)
        self.joints.append((kind, *names))

    def body(self, part):
        return self.given[part]

    def start_with(self, part, column, value):
        """Velocities that the joints allow with one of them given: the smallest."""
        equations = Equations(self)
        places, turns, velocities = equations.start()
        row = np.zeros_like(velocities)
        row[self.bodies.index(part), column] = 1.0
        rows = np.vstack([equations.rows(places, turns)[0], row.ravel()])
        aim = np.zeros(len(rows))
        aim[-1] = value
        self.velocities = np.linalg.lstsq(rows, aim, rcond=1e-10)[0].reshape(velocities.shape)

    def scenario(self, step, every, until, substeps=1):
        text = super().scenario(step, every, until, substeps)
        for part, velocity in zip(self.bodies, getattr(self, "velocities", np.zeros((len(self.bodies), 6)))):
            told = f"velocity = {velocity[:3].tolist()}, angular_velocity = {velocity[3:].tolist()}"
            old = f'name = "part {part}"\nmaterial = "steel"\nshapes = []\nmotion = {{ kind = "dynamic", '
            assert old in text, old
            text = text.replace(old, old + told + ", ")
        return text


class Started(Equations):
    """The equations with the velocities of the mechanism at the start."""

    def start(self):
        places, turns, velocities = super().start()
        return places, turns, getattr(self.deck, "velocities", velocities)


def pendulum():
    made = Mechanism([0, -GRAVITY, 0])
    # A point on a bar without mass, which is a rod: moments of the point have no effect.
    made.add(1.0, 1e-3 * np.eye(3), [-1, 0, 0])
    made.join("DISTANCE", 0, 1, [0, 0, 0], end=[-1, 0, 0])
    return made, 10.0


def double_four_bar():
    made = Mechanism([0, -GRAVITY, 0])
    posts = [made.bar([x, 0, 0], [x, 1, 0]) for x in range(3)]
    tops = [made.bar([x, 1, 0], [x + 1, 1, 0]) for x in range(2)]
    for x, post in enumerate(posts):
        made.join("REVOLUTE", 0, post, [x, 0, 0])
    for x, top in enumerate(tops):
        made.join("REVOLUTE", posts[x], top, [x, 1, 0])
        made.join("REVOLUTE", top, posts[x + 1], [x + 1, 1, 0])
    made.start_with(tops[0], 0, 1.0)
    return made, 4.0


def bricard():
    made = Mechanism([0, -GRAVITY, 0])
    points = [[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]]
    bodies = [0] + [made.bar(a, b, width=0.1) for a, b in zip(points, points[1:])] + [0]
    for k, axis in enumerate([Y, Z, X, Y, Z, X]):
        made.join("REVOLUTE", bodies[k], bodies[k + 1], points[k], axis)
    return made, 10.0


def slider_crank():
    made = Mechanism([0, 0, -GRAVITY])
    pivot, pin, slider = np.array([0, 0.1, 0.12]), np.array([0, 0.1, 0.2]), np.array([0.2, 0, 0])
    crank = made.add(0.12, np.diag([1e-4, 1e-5, 1e-4]), pivot)
    rod = made.bar(pin, slider, 0.5, across=[4e-4, 4e-3])
    block = made.add(2.0, 1e-4 * np.eye(3), slider)
    made.join("REVOLUTE", 0, crank, pivot, X)
    made.join("SPHERICAL", crank, rod, pin)
    across = np.cross(X, slider - pin)
    made.join("HOOKE", block, rod, slider, X, across / np.linalg.norm(across))
    made.join("TRANSLATIONAL", 0, block, slider, X)
    made.start_with(crank, 3, 6.0)
    return made, 5.0


# Name, what makes it, body whose place is compared, bar of the energy error [J] and where that is from.
CASES = [
    ("pendulum", pendulum, 1, 5e-5, "A01"),
    ("double four-bar", double_four_bar, 4, 1.8e-5, "EXUDYN, refined"),
    ("Bricard", bricard, 3, None, ""),
    ("spatial slider-crank", slider_crank, 3, None, ""),
]


def mechanisms(program):
    lines = [
        "| Mechanism | Time | Quantity | " + " | ".join(f"h = {1e3 * step:g} ms" for step in STEPS) + " | Bar | Verdict |",
        "|---|---|---|" + "---|" * (len(STEPS) + 2),
    ]
    for name, make, body, bar, source in CASES:
        made, until = make()
        states = Started(made).integrate(1e-3, until, 0.01)
        exact = np.array([state[0][made.bodies.index(body)] for state in states])
        energies, places = [], []
        for step in STEPS:
            found = run(program, made.scenario(step, 0.01, until))
            energy = found["kinetic_energy"] + found["rotational_energy"] + found["potential_energy"]
            energies.append(np.abs(energy - energy[0]).max())
            place = np.stack([found[f"position_{axis}:part {body}"] for axis in "xyz"], axis=-1)
            places.append(np.abs(place - exact).max())
        met = [f"{1e3 * step:g} ms" for step, value in zip(STEPS, energies) if bar and value <= bar]
        verdict = "" if bar is None else f"met at {', '.join(met)}" if met else "missed"
        shown = "" if bar is None else f"{bar:g} ({source})"
        lines.append(f"| {name} | {until:g} s | energy error, largest [J] | " + " | ".join(f"{x:.1e}" for x in energies) + f" | {shown} | {verdict} |")
        lines.append(f"| {name} | {until:g} s | place beside the integration, largest [m] | " + " | ".join(f"{x:.1e}" for x in places) + " | | |")
        print(name, energies, places, file=sys.stderr, flush=True)
    return lines


BOX, BALL, FRICTION = 10.0, 1.0, {"balls": 0.8, "ground": 0.4}
PUSH, STEP, UNTIL, COUNT = 150.0, 1e-3, 4.0, 25


def rolling(program, solver):
    """Mean squared error of the velocities [m²/s²]."""
    radius = 0.5
    density = BALL / (4 / 3 * np.pi * radius**3)
    places = [[3.0 * (i - 2), 3.0 * (j - 2), 1 + radius] for i in range(5) for j in range(5)]
    far = 1e3
    text = f"""duration = {UNTIL}
gravity = [0, 0, -{GRAVITY}]

[solver]
time_step = {STEP}
{solver}

[materials.ground]
density = 1000
youngs_modulus = 1e9
poisson_ratio = 0.3
restitution = 0
friction = {FRICTION["ground"]}

[materials.box]
density = 1000
youngs_modulus = 1e9
poisson_ratio = 0.3
restitution = 0
friction = 1

[materials.ball]
density = {density}
youngs_modulus = 1e9
poisson_ratio = 0.3
restitution = 0
friction = {FRICTION["balls"]}

[[boundaries]]
name = "floor"
material = "ground"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}

[[boundaries]]
name = "box"
material = "box"
shape = {{ kind = "box", min = [-10, -10, 0], max = [10, 10, 1], side = "outside" }}
motion = {{ kind = "dynamic", mass = {BOX} }}

[[joints]]
name = "push"
kind = "actuator"
bodies = ["ground", "box"]
points = [[-{far}, -{far}, 0.5], [0, 0, 0.5]]
drive = {{ force = {PUSH} }}

[[grains]]
material = "ball"
radius = {{ kind = "constant", value = {radius} }}
packing = {{ kind = "list", positions = {json.dumps(places)} }}

[output]
every = 0.01
formats = ["csv"]

[observe]
grains = {list(range(COUNT))}
boundaries = ["box"]
"""
    found = run(program, text)
    slide = (PUSH - FRICTION["ground"] * (BOX + COUNT * BALL) * GRAVITY) / (BOX + COUNT * BALL / 3.5)
    # A ball under the force f at its lowest point gains f/m at the centre and 7/2 f/m at that point, which moves with the box.
    accelerations = {"box": slide} | {f"grain-{k}": slide / 3.5 for k in range(COUNT)}
    squares = []
    for name, acceleration in accelerations.items():
        velocity = np.stack([found[f"velocity_{axis}:{name}"] for axis in "xyz"], axis=-1)
        exact = acceleration * found["time"][:, None] * np.array([1, 1, 0]) / np.sqrt(2)
        squares.append(np.sum((velocity - exact) ** 2, axis=1))
    return np.mean(squares)


SOLVERS = {
    "default": "",
    "40 sweeps": "iterations = 40",
    "rigid, 40 sweeps": 'iterations = 40\nnormal_law = "rigid"',
    "until 1e-7 m/s": "iterations = 2000\ntolerance = 1e-7",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--only", choices=["mechanisms", "rolling"])
    parser.add_argument("--out", help="file of the report; printed without it")
    arguments = parser.parse_args()
    version = subprocess.run([arguments.esker, "--version"], capture_output=True, text=True).stdout.strip()
    lines = ["# Mechanisms and rolling that other people posed", "", f"Made by `benches/peers/mechanisms.py` with {version} on {datetime.date.today()}.", ""]
    if arguments.only != "rolling":
        lines += mechanisms(arguments.esker) + [""]
    if arguments.only != "mechanisms":
        lines += ["| Rolling, h = 1 ms, 4 s | Mean squared velocity error [m²/s²] | Bar | Verdict |", "|---|---|---|---|"]
        for name, solver in SOLVERS.items():
            error = rolling(arguments.esker, solver)
            print(name, error, file=sys.stderr, flush=True)
            lines.append(f"| {name} | {error:.1e} | 1e-6 (best published 7.5e-6) | {'met' if error < 1e-6 else 'missed'} |")
    keep("\n".join(lines) + "\n", arguments.out)


if __name__ == "__main__":
    main()
