"""The examples, with small settings."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import esker

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

import calibrate_friction  # noqa: E402
import drum_controller  # noqa: E402
import drum_study  # noqa: E402
import fluidised_bed  # noqa: E402


def test_friction_is_calibrated_against_the_angle_of_a_heap() -> None:
    found = calibrate_friction.main(["--angle", "12", "--packings", "2", "--trials", "5", "--device", "cpu"])
    # The optimiser ends 0.01 from the optimum, about 0.6°; the mean of two packings is uncertain by about 1°.
    assert found.angle == pytest.approx(12.0, abs=1.6)
    assert 0.1 < found.friction < 0.3 and len(found.trials) == 5
    slippery, rough = (angle for _, angle in (min(found.trials), max(found.trials)))
    assert rough > slippery + 3.0, "the angle depends on friction, or there was nothing to calibrate"


def test_the_slope_of_a_made_up_heap_is_found() -> None:
    x, z = np.meshgrid(np.arange(0.0, 0.2, 0.002), np.arange(0.004, 0.2, 0.002))
    inside = z < 0.08 - x * np.tan(np.radians(20.0))
    heap = np.column_stack([x[inside], np.zeros(inside.sum()), z[inside]])
    assert calibrate_friction.slope(heap) == pytest.approx(20.0, abs=1.0)
    assert calibrate_friction.slope(np.array([[0.01, 0, 0.004], [0.2, 0, 0.004]])) == 0.0


def test_the_controller_keeps_the_angle_of_the_bed() -> None:
    controller = drum_controller.main(["--angle", "46", "--time", "5", "--device", "cpu"])
    # The bed is of 400 grains: single avalanches move its angle by 1°.
    settled = np.array(controller.angles[len(controller.angles) // 2 :])
    assert settled.mean() == pytest.approx(46.0, abs=1.0)
    assert 0.1 < np.mean(controller.rates) < controller.limit

    simulation = esker.Simulation.from_dict(drum_controller.SCENE, device="cpu")
    idle = drum_controller.Controller(46.0, gain=0.0)
    simulation.on(every=idle.every, do=idle)
    simulation.run(until=1.0)
    assert abs(idle.angles[-1]) < 5.0 and set(idle.rates) == {0.0}, "without a gain nothing turns"


def test_the_study_draws_a_plot_of_a_bed_that_steepens(tmp_path: Path) -> None:
    plot = tmp_path / "drum.png"
    arguments = ["--rates", "0.5", "4", "--grains", "600", "--time", "2", "--device", "cpu", "--plot", str(plot)]
    slow, fast = drum_study.main(arguments)
    assert fast["dynamic_angle_deg"].mean() > slow["dynamic_angle_deg"].mean()
    assert fast["plug_share"].mean() < slow["plug_share"].mean() <= 1.0
    assert plot.read_bytes().startswith(b"\x89PNG") and plot.stat().st_size > 10_000


def test_a_gas_fluidises_a_bed_where_its_loss_of_pressure_bears_the_weight() -> None:
    slow, fast = fluidised_bed.main(["--velocity", "1", "2.5", "--grains", "294", "--time", "0.8", "--device", "cpu"])
    # Layers of a grain and a quarter smear the ends of a bed of eight layers of grains.
    assert slow.loss == pytest.approx(fluidised_bed.ergun(1.0, slow.porosity), rel=0.12)
    # What is missing is borne by the floor, which grains hit.
    assert 0.9 < fast.loss < 1.05 and fast.height > 1.2 * slow.height
    assert fluidised_bed.ergun(2.5, slow.porosity) > 1.2, "at rest the bed would be blown away"


@pytest.mark.parametrize("name", ["calibrate_friction", "drum_controller", "drum_study", "fluidised_bed"])
def test_the_examples_are_scripts_that_say_what_they_take(name: str) -> None:
    found = subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--help"], capture_output=True, text=True)
    assert found.returncode == 0 and "--device" in found.stdout, found.stderr
