#!/usr/bin/env python3
"""Frictional contact problems in local form, in esker and in Siconos: time to a natural map of 1e-5 |q|.

Needs Debian's python3-siconos and a build of esker. Each file of the folders is solved by the programs in turn, round by round; the least
time of the rounds counts, of the solver alone, without reading. Results are judged here, by a natural map of this script's own.

    python3 benches/peers/siconos_problems.py --data DIR [--data DIR]... --esker target/release/esker --out benches/results/others.md
"""

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

TOLERANCE = 1e-5
ITERATIONS = 100_000


class Problem:
    """A problem in the text of Siconos: W as a list of blocks, q, mu, mu_r."""

    def __init__(self, path):
        self.text = open(path).read()
        lines = self.text.split("\n")
        words = self.text.split()
        self.dimension, self.contacts, self.storage = (int(word) for word in words[:3])
        self.size = self.dimension * self.contacts
        self.rows, self.columns, self.values = [], [], []
        if self.storage == 0:
            start = 7
            matrix = np.array(words[start : start + self.size**2], float).reshape(self.size, self.size).T
            self.rows, self.columns = np.nonzero(matrix)
            self.values = matrix[self.rows, self.columns]
            rest = words[start + self.size**2 :]
        elif self.storage == 1:
            rest = self.read_blocks(words[5:])
        else:
            rest = self.read_sparse(lines)
        numbers = np.array(rest[: self.size + 2 * self.contacts], float)
        self.q = numbers[: self.size]
        self.friction = numbers[self.size : self.size + self.contacts]
        self.rolling = numbers[self.size + self.contacts :] if self.dimension == 5 else np.zeros(self.contacts)
        self.rows, self.columns = np.asarray(self.rows), np.asarray(self.columns)
        self.values = np.asarray(self.values, float)

    def read_blocks(self, words):
        count, rows, columns = (int(word) for word in words[:3])
        at = 3 + rows + columns
        starts, listed = int(words[at]), int(words[at + 1])
        first = [int(word) for word in words[at + 2 : at + 2 + starts]]
        column = [int(word) for word in words[at + 2 + starts : at + 2 + starts + listed]]
        at += 2 + starts + listed
        d = self.dimension
        for row in range(rows):
            for block in range(first[row], first[row + 1]):
                numbers = [float(word) for word in words[at + 1 : at + 1 + d * d]]
                at += 1 + d * d
                for j in range(d):
                    for i in range(d):
                        self.rows.append(row * d + i)
                        self.columns.append(column[block] * d + j)
                        self.values.append(numbers[j * d + i])
        return words[at:]

    def read_sparse(self, lines):
        at = next(i for i, line in enumerate(lines) if "-by-" in line) + 1
        column = 0
        while ":" in lines[at]:
            left, right = lines[at].split(":", 1)
            if left.split()[0] == "col":
                column = int(left.split()[1])
            else:
                self.rows.append(int(left))
                self.columns.append(column)
                self.values.append(float(right))
            at += 1
        return " ".join(lines[at:]).split()

    def as_blocks(self, path):
        """Writes the problem as sparse blocks: Siconos 4.4 refuses other sparse storage in the plane."""
        d, blocks = self.dimension, {}
        for row, column, value in zip(self.rows, self.columns, self.values):
            block = blocks.setdefault((row // d, column // d), np.zeros((d, d)))
            block[row % d, column % d] = value
        keys = sorted(blocks)
        first = np.zeros(self.contacts + 1, int)
        for row, _ in keys:
            first[row + 1] += 1
        ends = "\t".join(str(d * (k + 1)) for k in range(self.contacts))
        with open(path, "w") as out:
            print(d, self.contacts, 1, self.size, self.size, len(keys), self.contacts, self.contacts, sep="\n", file=out)
            print(ends, ends, len(first), len(keys), sep="\n", file=out)
            print("\t".join(map(str, np.cumsum(first))), "\t".join(str(key[1]) for key in keys), sep="\n", file=out)
            for number, key in enumerate(keys):
                print(number, *(f"{value:.24e}" for value in blocks[key].T.ravel()), sep="\n", file=out)
            for numbers in [self.q, self.friction]:
                print(" ".join(f"{value:.24e}" for value in numbers), file=out)

    def residual(self, impulses):
        """Natural map over |q|, contact by contact."""
        d = self.dimension
        velocities = self.q.copy()
        np.add.at(velocities, self.rows, self.values * impulses[self.columns])
        r, u = impulses.reshape(-1, d), velocities.reshape(-1, d)
        total = 0.0
        for impulse, velocity, mu, mu_r in zip(r, u, self.friction, self.rolling):
            trial = impulse - velocity
            trial[0] -= mu * np.linalg.norm(velocity[1:3]) + mu_r * np.linalg.norm(velocity[3:])
            total += np.sum((impulse - nearest(trial, mu, mu_r)) ** 2)
        size = np.linalg.norm(self.q)
        return np.sqrt(total) / (size if size > 2.2e-16 else 1.0)


def nearest(trial, mu, mu_r):
    """Nearest impulse of a cone: the best of the cases in which each part is free or at its bound."""
    slip, spin = np.linalg.norm(trial[1:3]), np.linalg.norm(trial[3:])
    best, least = np.zeros_like(trial), np.sum(trial**2)
    for at_slip in [0, 1]:
        for at_spin in [0, 1]:
            weight = 1 + at_slip * mu**2 + at_spin * mu_r**2
            normal = (trial[0] + at_slip * mu * slip + at_spin * mu_r * spin) / weight
            if normal < 0:
                continue
            found = trial.copy()
            found[0] = normal
            found[1:3] *= min(1.0, mu * normal / slip) if slip > 0 else 1.0
            found[3:] *= min(1.0, mu_r * normal / spin) if spin > 0 else 1.0
            distance = np.sum((found - trial) ** 2)
            if distance < least:
                best, least = found, distance
    return best


def run_siconos(path, solver):
    """Solves a file in this process, and prints what came of it: a crash or a long solve is then no end of the report."""
    import time

    import siconos.numerics as sn

    dimension = int(open(path).readline())
    read = sn.rollingFrictionContact_new_from_filename if dimension == 5 else sn.frictionContact_new_from_filename
    problem = read(path)
    names = {2: "FRICTION_2D", 3: "FRICTION_3D", 5: "ROLLING_FRICTION_3D"}
    drivers = {2: sn.fc2d_driver, 3: sn.fc3d_driver, 5: sn.rolling_fc3d_driver}
    options = sn.SolverOptions(getattr(sn, f"SICONOS_{names[dimension]}_{solver}"))
    options.iparam[0], options.dparam[0] = ITERATIONS, TOLERANCE
    size = problem.numberOfContacts * dimension
    impulses, velocities = np.zeros(size), np.zeros(size)
    start = time.perf_counter()
    info = drivers[dimension](problem, impulses, velocities, options)
    seconds = time.perf_counter() - start
    print("RESULT" + json.dumps({"info": info, "seconds": seconds, "iterations": int(options.iparam[1]), "r": list(impulses)}))


def siconos(path, solver, limit):
    command = [sys.executable, __file__, "--one", path, solver]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"why": f"longer than {limit:.0f} s"}
    result = [line for line in done.stdout.split("\n") if line.startswith("RESULT")]
    if not result:
        if "fatal error" not in done.stdout + done.stderr:
            sys.exit(f"{path}: {done.stderr or done.stdout}")
        words = [line for line in (done.stdout + done.stderr).strip().split("\n") if line]
        return {"why": words[-1][:60] if words else f"exit {done.returncode}"}
    found = json.loads(result[0][len("RESULT") :])
    found["r"] = np.array(found["r"])
    if found["info"] != 0:
        found["why"] = f"not in {found['iterations']} iterations"
    return found


def esker(program, path):
    """Results by (algorithm, order), and the impulses of the best."""
    with tempfile.TemporaryDirectory() as folder:
        command = [program, "solve", path, "--tolerance", str(TOLERANCE), "--iterations", str(ITERATIONS), "--out", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        if not os.path.exists(f"{folder}/course.csv"):
            sys.exit(done.stderr)
        results = {}
        for row in csv.DictReader(open(f"{folder}/course.csv")):
            results[row["algorithm"], row["order"]] = {
                "iterations": int(row["iterations"]),
                "seconds": float(row["seconds"]),
                "residual": float(row["residual"]),
            }
        table = np.loadtxt(f"{folder}/solution.csv", delimiter=",", skiprows=1, ndmin=2)
        components = (table.shape[1] - 1) // 2
        return results, table[:, 1 : 1 + components].ravel()


def milliseconds(result):
    if result is None:
        return "-"
    if "why" in result:
        return result["why"]
    return f"{1e3 * result['seconds']:.3g} ({result['iterations']})"


COLUMNS = [("ngs", "stored"), ("ngs", "coloured"), ("pgs", "stored"), ("apgd", "")]


def measure(path, program, rounds, limit):
    problem = Problem(path)
    with tempfile.TemporaryDirectory() as folder:
        converted = path
        if problem.storage == 2:
            converted = os.path.join(folder, "blocks.dat")
            problem.as_blocks(converted)
        ours, theirs, impulses = {}, {}, None
        solvers = ["NSGS"] if problem.dimension == 2 else ["NSGS", "ADMM"]
        for _ in range(rounds):
            found, impulses = esker(program, path)
            for key, result in found.items():
                if key not in ours or result["seconds"] < ours[key]["seconds"]:
                    ours[key] = result
            for solver in solvers:
                if "why" in theirs.get(solver, {}):
                    continue
                result = siconos(converted, solver, limit)
                if solver not in theirs or "why" in result or result["seconds"] < theirs[solver]["seconds"]:
                    theirs[solver] = result
    for result in ours.values():
        if result["residual"] > TOLERANCE:
            result["why"] = f"{result['residual']:.1e} after {result['iterations']}"
    residuals = {"esker": problem.residual(impulses)}
    for solver, result in theirs.items():
        if "r" in result:
            residuals[solver] = problem.residual(result["r"])
    return problem, ours, theirs, residuals


def verdict(problem, ours, theirs, is_large):
    ngs, nsgs = ours["ngs", "stored"], theirs["NSGS"]
    solved = {key: result for key, result in ours.items() if "why" not in result}
    if not solved:
        return "", "missed: not solved"
    which = "ngs" if "why" not in ngs else "apgd" if ("apgd", "") in solved else next(iter(solved))[0]
    seconds = ngs["seconds"] if "why" not in ngs else min(result["seconds"] for result in solved.values())
    if "why" in nsgs:
        return f"{which}, NSGS does not", "met"
    ratio = nsgs["seconds"] / seconds
    asked = 5.0 if is_large else 1.0 if problem.contacts > 100 else 0.0
    return f"{which} {ratio:.1f}", "met" if ratio >= asked else f"missed: {asked:.0f} asked for"


def report(rows, program, rounds):
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout.strip()
    lines = [
        "# Problems that other people made",
        "",
        f"Made by `benches/peers/siconos_problems.py`, {version}, beside Siconos {siconos_version()} of Debian. Both on one thread but for products and"
        " colours of more than a thousand contacts, which esker shares among its threads; a shared machine, so only times side by side mean something."
        f" Least of {rounds} rounds in turn, of the solver alone \\[ms\\], with the number of iterations. A problem is solved at a natural map of"
        f" {TOLERANCE:g} \\|q\\| \\[E18\\]; Siconos is asked for {TOLERANCE:g} of the largest of \\|q\\|, \\|r\\| and \\|u\\|, as it states its error. Bar: every problem solved or told why not; above 100 contacts `ngs` as stored"
        " at least as fast as nonsmooth Gauss-Seidel of Siconos (NSGS), 5 times on the two with most contacts. Where `ngs` does not solve a problem, what solves it counts.",
        "",
        "| problem | contacts | components | " + " | ".join(" ".join(column).strip() for column in COLUMNS) + " | NSGS | ADMM | NSGS over esker | verdict | residuals here: esker, NSGS, ADMM |",
        "|---|---|---|" + "---|" * (len(COLUMNS) + 5),
    ]
    sizes = sorted((problem.contacts for _, problem, *_ in rows), reverse=True)[:2]
    for name, problem, ours, theirs, residuals in rows:
        ratio, judged = verdict(problem, ours, theirs, problem.contacts in sizes)
        cells = [milliseconds(ours.get(column)) for column in COLUMNS]
        cells += [milliseconds(theirs.get(solver)) for solver in ["NSGS", "ADMM"]]
        shown = ", ".join(f"{residuals[key]:.1e}" if key in residuals else "-" for key in ["esker", "NSGS", "ADMM"])
        lines.append(f"| {name} | {problem.contacts} | {problem.dimension} | " + " | ".join(cells) + f" | {ratio} | {judged} | {shown} |")
    return "\n".join(lines) + "\n"


def siconos_version():
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "python3-siconos"], capture_output=True, text=True)
    return shown.stdout or "(unknown version)"


def main():
    if sys.argv[1:2] == ["--one"]:
        return run_siconos(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", action="append", required=True, help="folder of problems in the text of Siconos (.dat)")
    parser.add_argument("--esker", default="target/release/esker")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120.0, help="longest solve of Siconos, its start and reading included [s]")
    parser.add_argument("--out", help="file of the report; printed without it")
    arguments = parser.parse_args()
    rows = []
    for folder in arguments.data:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".dat"):
                rows.append((name, *measure(os.path.join(folder, name), arguments.esker, arguments.rounds, arguments.limit)))
                print(name, *verdict(*rows[-1][1:4], False), file=sys.stderr, flush=True)
                if arguments.out:
                    # What is measured is kept if a later problem fails.
                    open(arguments.out, "w").write(report(rows, arguments.esker, arguments.rounds))
    if not arguments.out:
        print(report(rows, arguments.esker, arguments.rounds))


if __name__ == "__main__":
    main()
