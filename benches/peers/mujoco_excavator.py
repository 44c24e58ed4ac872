"""The arm of scenarios/excavator.toml without grains, in MuJoCo and in esker: forces of the three cylinders.

    pip install mujoco
    cargo build --release
    python3 benches/peers/mujoco_excavator.py

Both are told the same masses, moments, pins and tables. MuJoCo holds the loop of the bucket by an equality constraint and has a servo of
3e7 N s/m for each cylinder (with ten times that it is unstable), where esker holds the velocity exactly.
"""

import csv
import math
import pathlib
import re
import subprocess
import tempfile
import tomllib

import mujoco
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
CYLINDERS = ["boom cylinder", "stick cylinder", "bucket cylinder"]
SERVO = 3e7
UNTIL = 10.9


def run_esker(folder):
    """Runs the scenario without grains in steps of 0.5 ms; its time series."""
    text = (ROOT / "scenarios/excavator.toml").read_text()
    for start, end in [("\n[[grains]]", "\n[domain]"), ("\n[observe.surface]", "\n[expect]"), ("\n[expect]", None)]:
        first = text.index(start)
        text = text[:first] + (text[text.index(end):] if end else "")
    for old, new in [("duration = 14.0", "duration = 11.0"), ("time_step = 2.5e-3", "time_step = 5e-4"),
                     ("every = 0.1", "every = 0.05"), ('"vtp", ', ""), ("meshes/", f"{ROOT}/scenarios/meshes/")]:
        assert old in text, old
        text = text.replace(old, new)
    (folder / "arm.toml").write_text(text)
    esker = ROOT / "target/release/esker"
    subprocess.run([esker, "run", folder / "arm.toml", "--quiet", "--device", "cpu", "--out", folder / "out"], check=True)
    with open(folder / "out/timeseries.csv") as file:
        rows = list(csv.reader(file))
    names = [re.sub(r" \[.*", "", name) for name in rows[0]]
    return {name: np.array([float(row[i] or "nan") for row in rows[1:]]) for i, name in enumerate(names)}


def inertia(boundary):
    """Mass, centre (x, z) and moment about y of a body of boxes, or as it is told."""
    motion = boundary["motion"]
    if "inertia" in motion:
        x, _, z = motion["centre_of_mass"]
        return motion["mass"], np.array([x, z]), motion["inertia"][1]
    parts = []
    for box in boundary["shapes"]:
        low, high = np.array(box["min"], float), np.array(box["max"], float)
        edges, centre = high - low, 0.5 * (low + high)
        volume = edges.prod()
        parts.append((volume, centre[[0, 2]], volume * (edges[0] ** 2 + edges[2] ** 2) / 12))
    whole = sum(part[0] for part in parts)
    centre = sum(part[0] * part[1] for part in parts) / whole
    moment = sum(part[2] + part[0] * np.sum((part[1] - centre) ** 2) for part in parts)
    return motion["mass"], centre, moment * motion["mass"] / whole


def model(scenario):
    """The arm as a tree of hinges on the house, with the loop closed."""
    bodies = {boundary["name"]: boundary for boundary in scenario["boundaries"]}
    joints = {joint["name"]: joint for joint in scenario["joints"]}
    at = lambda name: np.array(joints[name]["point"], float)[[0, 2]]
    place = lambda p: f"{p[0]:.9f} 0 {p[1]:.9f}"
    ends = {name: [np.array(p, float)[[0, 2]] for p in joints[name]["points"]] for name in CYLINDERS}
    sites = {"house": [], "boom": [], "stick": [], "rocker": []}
    for name in CYLINDERS:
        for body, point, end in zip(joints[name]["bodies"], ends[name], "ab"):
            sites[body].append((f"{name} {end}", point))

    def body(name, pin, parent, inner=""):
        mass, centre, moment = inertia(bodies[name])
        own = "".join(f'<site name="{site}" pos="{place(p - pin)}"/>' for site, p in sites.get(name, []))
        return (f'<body name="{name}" pos="{place(pin - parent)}"><joint type="hinge" axis="0 -1 0"/>'
                f'<inertial pos="{place(centre - pin)}" mass="{mass}" diaginertia="{moment} {moment} {moment}"/>{own}{inner}</body>')

    origin = np.zeros(2)
    foot, elbow, wrist, rocker, link = map(at, ["boom foot", "stick pin", "bucket pin", "rocker pin", "rocker link"])
    tip = body("bucket", wrist, elbow) + body("rocker", rocker, elbow, body("link", link, rocker))
    arm = body("boom", foot, origin, body("stick", elbow, foot, tip))
    fixed = "".join(f'<site name="{site}" pos="{place(p)}"/>' for site, p in sites["house"])
    tendons = "".join(f'<spatial name="{n}"><site site="{n} a"/><site site="{n} b"/></spatial>' for n in CYLINDERS)
    servos = "".join(f'<general tendon="{n}" gainprm="1" biastype="affine" biasprm="0 0 {-SERVO}"/>' for n in CYLINDERS)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="1e-4" integrator="implicitfast" gravity="0 0 -9.81" solver="Newton" tolerance="1e-14" '
        f'iterations="200"><flag contact="disable"/></option><worldbody>{fixed}{arm}</worldbody><equality>'
        f'<connect body1="link" body2="bucket" anchor="{place(at("link pin") - link)}" solref="0.0005 1" solimp="0.9999 0.9999 0.001"/>'
        f"</equality><tendon>{tendons}</tendon><actuator>{servos}</actuator></mujoco>"), joints


def main():
    scenario = tomllib.loads((ROOT / "scenarios/excavator.toml").read_text())
    with tempfile.TemporaryDirectory() as folder:
        ours = run_esker(pathlib.Path(folder))
    arm, joints = model(scenario)
    state = mujoco.MjData(arm)
    mujoco.mj_forward(arm, state)
    drives = [joints[name]["drive"] for name in CYLINDERS]
    tables = [(drive["position"]["times"], drive["position"]["values"]) for drive in drives]
    step, found = arm.opt.timestep, []
    while state.time < UNTIL:
        for i, (times, values) in enumerate(tables):
            before, after = np.interp([state.time, state.time + step], times, values)
            state.ctrl[i] = SERVO * ((after - before) / step + (before - state.ten_length[i]) / drives[i]["response_time"])
        mujoco.mj_step(arm, state)
        # Velocities jump where tables have their kinks, every half second: forces are compared between these.
        if 0.24 < state.time % 0.5 < 0.46 and math.isclose(state.time / 0.05, round(state.time / 0.05), abs_tol=1e-6):
            row = int(np.argmin(np.abs(ours["time"] - state.time)))
            found.append([state.time, *state.actuator_force, *(ours[f"drive_force:{name}"][row] for name in CYLINDERS)])
    found = np.array(found)
    print("| cylinder | largest force [kN] | rms difference, over that | largest difference, over that |")
    print("|---|---|---|---|")
    for i, name in enumerate(CYLINDERS):
        theirs, own = found[:, 1 + i], found[:, 4 + i]
        most, apart = np.abs(theirs).max(), np.abs(theirs - own)
        print(f"| {name} | {most / 1e3:.1f} | {np.sqrt(np.mean(apart**2)) / most:.2%} | {apart.max() / most:.2%} |")
    print(f"\n{len(found)} times between 0 and {UNTIL} s; MuJoCo {mujoco.__version__}")


if __name__ == "__main__":
    main()
