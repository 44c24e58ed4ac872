"""Processes that are forked from one that computes, as `multiprocessing` makes them on Linux."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
ENVIRONMENT = dict(os.environ, RAYON_NUM_THREADS="2")

START = """
import multiprocessing, os, signal, sys
import numpy as np
import esker

def bed():
    glass = dict(density=2500.0, youngs_modulus=1e7, poisson_ratio=0.25, restitution=0.2, friction=0.4)
    box = dict(kind="box", min=[-0.006, -0.006, 0], max=[0.2, 0.2, 0.3], open=["+z"])
    packing = dict(kind="lattice", corner=[0, 0, 0.0055], counts=[18, 18, 4], spacing=0.0104)
    grains = dict(material="glass", radius=dict(kind="constant", value=0.005), packing=packing)
    return dict(
        duration=1.0, solver=dict(time_step=1e-3, iterations=5), materials=dict(glass=glass),
        boundaries=[dict(name="box", material="glass", shape=box)], grains=[grains],
    )

def heights(simulation, steps=5):
    simulation.step(steps)
    return simulation.positions()[:, 2].tolist()

def child(work):
    # What `work` returns in a forked process; an error comes back as its text.
    out, into = os.pipe()
    process = os.fork()
    if process == 0:
        signal.alarm(30)
        try:
            told = repr(work())
        except esker.Error as error:
            told = repr(str(error))
        os.write(into, told.encode())
        os._exit(0)
    os.close(into)
    told = b""
    while part := os.read(out, 65536):
        told += part
    assert os.waitpid(process, 0)[1] == 0, "it hangs"
    return eval(told)

simulation = esker.Simulation.from_dict(bed(), device="cpu")
heights(simulation)
"""


def run(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START + script], capture_output=True, text=True, timeout=100, env=ENVIRONMENT
    )
    assert done.returncode == 0, done.stderr


def test_a_forked_process_steps_a_simulation_of_its_parent_and_new_ones_to_the_same_bits() -> None:
    run(
        """
there = child(lambda: heights(simulation))
assert there == heights(simulation), "both went on from the same state"
assert len(there) == 18 * 18 * 4
anew = child(lambda: heights(esker.Simulation.from_dict(bed(), device="cpu"), 10))
assert anew == there, "ten steps from the start"
# A child of a child has lost its threads once more.
assert child(lambda: child(lambda: heights(esker.Simulation.from_dict(bed(), device="cpu"), 10))) == there
"""
    )


def test_a_pool_of_multiprocessing_works_with_forked_processes() -> None:
    run(
        """
def mean(iterations):
    simulation = esker.Simulation.from_dict(bed(), device="cpu", set={"solver.iterations": iterations})
    return float(np.mean(heights(simulation)))

with multiprocessing.get_context("fork").Pool(2) as pool:
    found = pool.map_async(mean, [5, 20]).get(60)
assert found[0] == mean(5) and found[1] == mean(20)
"""
    )


def test_a_process_that_is_forked_in_the_middle_of_a_step_says_so() -> None:
    run(
        """
import threading, time
thread = threading.Thread(target=lambda: simulation.step(2000), daemon=True)
thread.start()
told = ""
for _ in range(20):
    time.sleep(0.02)
    told = child(lambda: simulation.time)
    if isinstance(told, str):
        break
assert "was forked while another thread stepped" in told, told
os._exit(0)
"""
    )


def test_a_graphics_card_in_a_forked_process_is_refused_with_what_to_do() -> None:
    run(
        """
card = esker.Simulation.from_dict(bed(), device="software")
card.step(1)
def forget():
    global card
    del card
    return "gone"
for work in (
    lambda: card.step(1),
    lambda: esker.Simulation.from_dict(bed(), device="software"),
    lambda: esker.Ensemble(2, device="software"),
    lambda: esker.devices(),
):
    told = child(work)
    assert "forked from one that uses a graphics card" in told and "spawn" in told, told
assert child(lambda: heights(esker.Simulation.from_dict(bed(), device="cpu"), 10)) == heights(simulation)
assert child(forget) == "gone"
card.step(1)
"""
    )
