#!/usr/bin/env python3
"""Joints as ADAMS has them: decks (.adm) with time series of position, quaternion and reaction, in esker.

Each deck becomes a scenario: parts with mass and tensor of inertia, markers, joints, gravity. esker runs it with each of the steps, and three
things are compared every 10 ms: the time series of ADAMS; an integration of the same equations by this script, of fourth order with steps of
1 ms, for velocities, which the series do not have; and how far ADAMS itself is from that integration. Tolerances are those of Chrono's tests,
which read the same series: RMS of each column.

    python3 benches/peers/adams_joints.py --data DIR --esker target/release/esker --out benches/results/joints-adams.md

Needs Python 3.11 and NumPy. Read are PART, MARKER (QP, REULER), JOINT (revolute, spherical, Hooke, translational, cylindrical, fixed) and
ACCGRAV; whatever else would move a part ends the script.
"""

import argparse
import csv
import datetime
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

TOLERANCE = {"Pos": 1e-3, "Vel": 1e-4, "Quat": 1e-3, "Rforce": 2e-2, "Rtorque": 2e-2, "joint error": 1e-5}
UNITS = {"Pos": "m", "Vel": "m/s", "Quat": "-", "Rforce": "N", "Rtorque": "N m", "joint error": "m"}
KINDS = {
    "REVOLUTE": "hinge",
    "SPHERICAL": "ball",
    "HOOKE": "universal",
    "TRANSLATIONAL": "slider",
    "CYLINDRICAL": "cylindrical",
    "FIXED": "lock",
    "DISTANCE": "distance",
}
READ = {"UNITS", "PART", "MARKER", "JOINT", "ACCGRAV", "GRAPHICS", "REQUEST", "OUTPUT", "RESULTS", "END"}
X, Y, Z = np.eye(3)


def statements(path):
    """Statements of a deck: keyword, number and the words after it. Lines that begin with a comma go on."""
    joined = []
    for line in path.read_text().splitlines()[1:]:
        line = line.split("!")[0].strip()
        if line.startswith(","):
            joined[-1] += line
        elif line:
            joined.append(line)
    for line in joined:
        head, *words = (word.strip() for word in line.split(","))
        keyword, _, number = head.partition("/")
        yield keyword.upper(), number.strip(), words


def values(words):
    """Values by key: `QP = 1, 2, 3` has three; a word without a value is a key of its own."""
    found, key = {}, None
    for word in words:
        name, equals, value = (part.strip() for part in word.partition("="))
        if equals:
            key = name.upper()
            found[key] = [value]
        elif key and re.fullmatch(r"[-+.\dDEde]+", word):
            found[key].append(word)
        else:
            key = None
            found[word.upper()] = []
    return found


def number(text):
    """A number; with a D behind it an angle in degrees."""
    degrees = re.fullmatch(r"(.*\d\.?)[dD]", text)
    return math.radians(float(degrees[1])) if degrees else float(text)


def about(axis, angle):
    """Rotation matrix about an axis."""
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


class Deck:
    """Parts, markers and joints of a deck."""

    def __init__(self, path):
        self.parts, self.markers, self.joints, self.gravity = {}, {}, [], np.zeros(3)
        for keyword, name, words in statements(path):
            if keyword not in READ:
                sys.exit(f"{path}: {keyword} is not read")
            found = values(words)
            if keyword == "PART":
                if unknown := set(found) - {"GROUND", "MASS", "CM", "IP", "QG", "REULER"}:
                    sys.exit(f"{path}: PART/{name}: {', '.join(sorted(unknown))} is not read")
                self.parts[int(name)] = found
            elif keyword == "MARKER":
                place = np.array([number(word) for word in found.get("QP", ["0", "0", "0"])])
                first, second, third = (number(word) for word in found.get("REULER", ["0", "0", "0"]))
                self.markers[int(name)] = (int(found["PART"][0]), place, about(Z, first) @ about(X, second) @ about(Z, third))
            elif keyword == "JOINT":
                kind = next((word for word in found if word in KINDS and word != "DISTANCE"), None)
                if kind is None:
                    sys.exit(f"{path}: JOINT/{name}: {', '.join(found)} is not read")
                self.joints.append((kind, int(found["I"][0]), int(found["J"][0])))
            elif keyword == "ACCGRAV":
                self.gravity = np.array([float(found.get(f"{axis}GRAV", ["0"])[0]) for axis in "IJK"])
        if any("QG" in part or "REULER" in part for part in self.parts.values()):
            sys.exit(f"{path}: a part with a frame of its own is not read")
        self.bodies = [part for part, found in self.parts.items() if "GROUND" not in found]

    def body(self, part):
        """Mass, tensor of inertia, centre and axes of the marker of the centre."""
        found = self.parts[part]
        _, centre, frame = self.markers[int(found["CM"][0])]
        moments = [float(word) for word in found["IP"]] + [0.0] * 6
        tensor = np.diag(moments[:3])
        for value, (i, j) in zip(moments[3:6], [(0, 1), (0, 2), (1, 2)]):
            tensor[i, j] = tensor[j, i] = value
        return float(found["MASS"][0]), frame @ tensor @ frame.T, centre, frame

    def scenario(self, step, every, until, substeps=1):
        """The deck as a scenario of esker, with a step [s]."""
        text = f"duration = {until}\ngravity = {list(self.gravity)}\n\n[solver]\ntime_step = {step}\nsubsteps = {substeps}\n\n"
        text += "[materials.steel]\ndensity = 7800\nyoungs_modulus = 1e9\npoisson_ratio = 0.3\nrestitution = 0\nfriction = 0\n"
        for part in self.bodies:
            mass, tensor, centre, _ = self.body(part)
            motion = f'kind = "dynamic", mass = {mass}, inertia = {list(np.diag(tensor))}, centre_of_mass = {list(centre)}'
            motion += f", products_of_inertia = {[tensor[0, 1], tensor[0, 2], tensor[1, 2]]}"
            text += f'\n[[boundaries]]\nname = "part {part}"\nmaterial = "steel"\nshapes = []\nmotion = {{ {motion} }}\n'
        for index, (kind, i, j) in enumerate(self.joints):
            bodies = [f"part {self.markers[k][0]}" if self.markers[k][0] in self.bodies else "ground" for k in (i, j)]
            (_, point, first), (_, _, second) = self.markers[i], self.markers[j]
            text += f'\n[[joints]]\nname = "joint {index}"\nkind = "{KINDS[kind]}"\nbodies = {json.dumps(bodies)}\n'
            points = f"points = {[list(point), list(self.markers[j][1])]}" if kind == "DISTANCE" else f"point = {list(point)}"
            text += points + "\n"
            if kind == "HOOKE":
                text += f"axes = {[list(first[:, 0]), list(second[:, 1])]}\n"
            elif kind not in ("SPHERICAL", "FIXED", "DISTANCE"):
                text += f"axis = {list(first[:, 2])}\n"
        names = json.dumps([f"part {part}" for part in self.bodies])
        return text.replace("np.float64", "").replace("(", "").replace(")", "") + (
            f'\n[output]\nevery = {every}\nformats = ["csv"]\n\n[observe]\nboundaries = {names}\n'
        )


def turned(quaternion):
    """Rotation matrices of quaternions, w first."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion), -1, 0)
    rows = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)]]
    rows += [[2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


class Equations:
    """Equations of motion of a deck: M a = f + Gᵀ λ with d/dt (G v) = 0. A state is the places and rotations of the bodies, and velocities."""

    def __init__(self, deck):
        self.deck = deck
        self.inertia = [deck.body(part) for part in deck.bodies]
        self.index = {part: index for index, part in enumerate(deck.bodies)}

    def start(self):
        places = np.array([centre for _, _, centre, _ in self.inertia])
        return places, np.array([np.eye(3) for _ in self.inertia]), np.zeros((len(self.inertia), 6))

    def frame(self, places, turns, marker):
        """Place and axes of a marker in the world, and its body (-1: ground)."""
        part, point, axes = self.deck.markers[marker]
        if part not in self.index:
            return -1, point, axes, np.zeros(3)
        body = self.index[part]
        arm = turns[body] @ (point - self.inertia[body][2])
        return body, places[body] + arm, turns[body] @ axes, arm

    def rows(self, places, turns):
        """Matrix G, and for each row its joint and its direction of force (or 0) and of torque at J."""
        rows, meanings = [], []
        for index, (kind, i, j) in enumerate(self.deck.joints):
            a, p, first, arm = self.frame(places, turns, i)
            b, q, second, lever = self.frame(places, turns, j)
            along = {"TRANSLATIONAL": [0, 1], "CYLINDRICAL": [0, 1], "DISTANCE": [2]}.get(kind, [0, 1, 2])
            if kind == "DISTANCE":
                first = ((q - p) / np.linalg.norm(q - p))[:, None] * np.array([0.0, 0.0, 1.0])
                q = p
            around = {"REVOLUTE": [0, 1], "CYLINDRICAL": [0, 1], "SPHERICAL": [], "DISTANCE": [], "HOOKE": None}.get(kind, [0, 1, 2])
            turning = [first[:, k] for k in around] if around is not None else [np.cross(first[:, 0], second[:, 1])]
            for direction in [first[:, k] for k in along]:
                row = np.zeros((len(self.inertia), 6))
                for body, sign, reach in [(a, -1, arm + q - p), (b, 1, lever)]:
                    if body >= 0:
                        row[body] += sign * np.concatenate([direction, np.cross(reach, direction)])
                rows.append(row.ravel())
                meanings.append((index, direction, np.zeros(3)))
            for axis in turning:
                row = np.zeros((len(self.inertia), 6))
                for body, sign in [(a, -1), (b, 1)]:
                    if body >= 0:
                        row[body, 3:] += sign * axis
                rows.append(row.ravel())
                meanings.append((index, np.zeros(3), axis))
        return np.array(rows), meanings

    def moved(self, places, turns, velocities, time):
        """Poses after a short time at given velocities."""
        spun = [about(w / n, n * time) if (n := np.linalg.norm(w)) > 0 else np.eye(3) for w in velocities[:, 3:]]
        return places + time * velocities[:, :3], np.array([spin @ turn for spin, turn in zip(spun, turns)])

    def forces(self, places, turns, velocities):
        """Accelerations, and the multipliers with their meanings."""
        rows, meanings = self.rows(places, turns)
        dt = 1e-5
        ahead = self.rows(*self.moved(places, turns, velocities, dt))[0] @ velocities.ravel()
        behind = self.rows(*self.moved(places, turns, velocities, -dt))[0] @ velocities.ravel()
        size = 6 * len(self.inertia)
        inverse, free = np.zeros((size, size)), np.zeros(size)
        for body, (mass, tensor, _, _) in enumerate(self.inertia):
            now = turns[body] @ tensor @ turns[body].T
            at, spin = 6 * body, velocities[body, 3:]
            inverse[at : at + 3, at : at + 3] = np.eye(3) / mass
            inverse[at + 3 : at + 6, at + 3 : at + 6] = np.linalg.inv(now)
            free[at : at + 3] = self.deck.gravity
            free[at + 3 : at + 6] = -np.linalg.solve(now, np.cross(spin, now @ spin))
        system = rows @ inverse @ rows.T
        aim = -(ahead - behind) / (2 * dt) - rows @ free
        multipliers = np.linalg.lstsq(system, aim, rcond=1e-10)[0]
        return (free + inverse @ rows.T @ multipliers).reshape(-1, 6), multipliers, meanings

    def integrate(self, step, until, every):
        """States at the times of the output, by the Runge-Kutta method of fourth order."""
        places, turns, velocities = self.start()
        found = []
        for count in range(round(until / step) + 1):
            if count % round(every / step) == 0:
                _, multipliers, meanings = self.forces(places, turns, velocities)
                found.append((places.copy(), turns.copy(), velocities.copy(), self.reaction(places, turns, multipliers, meanings)))
            slopes = []
            for share in [0.0, 0.5, 0.5, 1.0]:
                v, a = slopes[-1] if slopes else (velocities, np.zeros_like(velocities))
                w = velocities + share * step * a
                # A rotation over part of a step is taken about the velocity of the stage: its error is of fifth order only in the sum.
                poses = self.moved(places, turns, v, share * step)
                slopes.append((w, self.forces(*poses, w)[0]))
            mean = [sum(weight * slope[k] for weight, slope in zip([1, 2, 2, 1], slopes)) / 6 for k in range(2)]
            places, turns = self.moved(places, turns, mean[0], step)
            velocities = velocities + step * mean[1]
        return found

    def reaction(self, places, turns, multipliers, meanings):
        """Force and torque of the first joint on I, about I."""
        force = sum(value * direction for value, (joint, direction, _) in zip(multipliers, meanings) if joint == 0)
        torque = sum(value * axis for value, (joint, _, axis) in zip(multipliers, meanings) if joint == 0)
        _, i, j = self.deck.joints[0]
        shift = self.frame(places, turns, j)[1] - self.frame(places, turns, i)[1]
        return -force, -torque - np.cross(shift, force)


def series(path):
    """Columns of a series of ADAMS after the time."""
    rows = [line.split() for line in path.read_text().splitlines() if line and not line.startswith(("#", "Time"))]
    return np.array(rows, float)


def run(program, scenario):
    """Time series of a scenario by name."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "made.toml").write_text(scenario)
        subprocess.run([program, "run", folder / "made.toml", "--quiet", "--device", "cpu", "--out", folder / "out"], check=True)
        with open(folder / "out/timeseries.csv") as file:
            names, *rows = list(csv.reader(file))
    names = [re.sub(r" \[.*", "", name) for name in names]
    return {name: np.array([float(row[k] or "nan") for row in rows]) for k, name in enumerate(names)}


def columns(found, quantity, axes, name):
    return np.stack([found[f"{quantity}_{axis}:{name}"] for axis in axes], axis=-1)


def of_esker(deck, found):
    """Signals of the first part and joint, as ADAMS requests them."""
    part = f"part {deck.bodies[0]}"
    place, velocity = (columns(found, quantity, "xyz", part) for quantity in ["position", "velocity"])
    turns = turned(columns(found, "orientation", "wxyz", part))
    turns = turns @ turns[0].T
    force, torque = (columns(found, quantity, "xyz", "joint 0") for quantity in ["joint_force", "joint_torque"])
    _, i, j = deck.joints[0]
    equations = Equations(deck)
    at = [[equations.frame(p[None], t[None], marker)[1] for p, t in zip(place, turns)] for marker in (i, j)]
    shift = np.array(at[1]) - np.array(at[0])
    signals = {"Pos": place, "Vel": velocity, "Quat": turns @ deck.body(deck.bodies[0])[3]}
    return signals | {"Rforce": -force, "Rtorque": -torque - np.cross(shift, force)}


def of_adams(folder, case):
    signals = {kind: series(folder / f"{case}_{kind}.txt")[:, 1:] for kind in ["Pos", "Quat", "Rforce", "Rtorque"]}
    return signals | {"Quat": turned(signals["Quat"])}


def of_equations(deck, states):
    places, turns, velocities = (np.array([state[k][0] for state in states]) for k in range(3))
    force, torque = (np.array([state[3][k] for state in states]) for k in range(2))
    return {"Pos": places, "Vel": velocities[:, :3], "Quat": turns @ deck.body(deck.bodies[0])[3], "Rforce": force, "Rtorque": torque}


def rms(ours, theirs, signal):
    """Largest RMS of the columns; of rotations that of the quaternion of the difference, half an angle."""
    if signal == "Quat":
        trace = np.einsum("nij,nij->n", ours, theirs)
        return np.sqrt(np.mean(np.clip(3 - trace, 0, None) / 4))
    return np.sqrt(np.mean((ours - theirs) ** 2, axis=0)).max()


def report(results, steps, version):
    lines = [
        "# Joints in ADAMS and in esker",
        "",
        f"Made by `benches/peers/adams_joints.py` with {version} on {datetime.date.today()}. Decks and series are those of `data/testing/joints` of Chrono"
        " (7689fbc, BSD-3), made with MSC ADAMS; tolerances are those of Chrono's tests with them: RMS of each column over 5 s, every 10 ms. The series"
        " have no velocities: these are compared with an integration of fourth order, from which ADAMS itself differs as the last column has it.",
        "",
        "| Case | Signal | Tolerance | " + " | ".join(f"h = {1e3 * step:g} ms" for step in steps) + " | Verdict | ADAMS over integration |",
        "|---|---|---|" + "---|" * (len(steps) + 2),
    ]
    for case, of_case in results.items():
        for signal, (found, reference) in of_case.items():
            allowed = TOLERANCE[signal]
            held = [f"{1e3 * step:g} ms" for step, value in zip(steps, found) if value <= allowed]
            verdict = f"met at {', '.join(held)}" if held else "missed"
            shown = "-" if reference is None else f"{reference:.1e}"
            lines.append(f"| {case} | {signal} [{UNITS[signal]}] | {allowed:g} | " + " | ".join(f"{value:.1e}" for value in found) + f" | {verdict} | {shown} |")
    return "\n".join(lines) + "\n"


def keep(text, out):
    """Writes a report to a file, or prints it without one."""
    if out:
        pathlib.Path(out).write_text(text)
    else:
        print(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=pathlib.Path, help="folder of decks (.adm) and series (_Pos.txt and so on)")
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--steps", type=float, nargs="+", default=[1e-3, 5e-4], help="time steps [s]")
    parser.add_argument("--substeps", type=int, default=1)
    parser.add_argument("--out", help="file of the report; printed without it")
    arguments = parser.parse_args()
    results = {}
    for path in sorted(arguments.data.glob("*.adm")):
        deck, case = Deck(path), path.stem
        theirs = of_adams(arguments.data, case)
        exact = of_equations(deck, Equations(deck).integrate(1e-3, 5.0, 0.01))
        runs = [run(arguments.esker, deck.scenario(step, 0.01, 5.0, arguments.substeps)) for step in arguments.steps]
        found = [of_esker(deck, one) for one in runs]
        results[case] = {}
        for signal in ["Pos", "Vel", "Quat", "Rforce", "Rtorque"]:
            judge = exact if signal == "Vel" else theirs
            off = None if signal == "Vel" else rms(theirs[signal], exact[signal], signal)
            results[case][signal] = ([rms(one[signal], judge[signal], signal) for one in found], off)
        errors = [max(one["joint_error:joint 0"]) for one in runs]
        results[case]["joint error"] = (errors, None)
        print(case, {signal: [f"{value:.1e}" for value in of_case[0]] for signal, of_case in results[case].items()}, file=sys.stderr, flush=True)
    version = subprocess.run([arguments.esker, "--version"], capture_output=True, text=True).stdout.strip()
    keep(report(results, arguments.steps, version), arguments.out)


if __name__ == "__main__":
    main()
