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
import leg_on_sand  # noqa: E402
import loader_bucket  # noqa: E402
import rover_wheel  # noqa: E402


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


def test_a_wheel_that_slips_more_pulls_harder() -> None:
    slow, fast = rover_wheel.main(["--slip", "0.0", "0.5", "--time", "0.6", "--device", "cpu"])
    assert fast.drawbar > slow.drawbar + 3.0 and fast.torque > slow.torque > 0.0
    # No wheel pulls harder than its torque pushes at its rim, nor than its friction on the sand allows: 0.5 times a weight of 39 N.
    assert fast.drawbar < fast.torque / rover_wheel.RADIUS
    assert 0.0 < slow.sinkage < fast.sinkage < 0.06


def test_a_leg_stands_on_sand_with_the_torque_of_its_weight() -> None:
    found = leg_on_sand.main(["--time", "0.6", "--device", "cpu"])
    assert found.force == pytest.approx(leg_on_sand.MASS * 9.81, rel=0.03)
    # The knee carries the moment of the force of the ground; what is left is the inertia of a shank that still moves.
    assert found.knee == pytest.approx(found.moment, rel=0.05) and abs(found.knee) > 1.0
    assert 0.0 < found.sinkage < 0.07


def test_a_loader_lifts_what_its_bucket_holds() -> None:
    cycle = loader_bucket.main(["--device", "cpu"])
    # The bucket holds 0.16 x 0.18 x 0.1 m, half of it solid: 3.7 kg, heaped some more.
    assert 1.0 < cycle.mass < 6.0
    assert cycle.positions["lift"] == pytest.approx(0.4, abs=0.1)
    assert cycle.effort["lift"] > 9.81 * (0.2 * 2 + 0.45 * 1.5), "more than it takes to lift the empty bucket"


@pytest.mark.parametrize(
    "name",
    [
        "calibrate_friction",
        "drum_controller",
        "drum_study",
        "fluidised_bed",
        "leg_on_sand",
        "loader_bucket",
        "rover_wheel",
    ],
)
def test_the_examples_are_scripts_that_say_what_they_take(name: str) -> None:
    found = subprocess.run([sys.executable, EXAMPLES / f"{name}.py", "--help"], capture_output=True, text=True)
    assert found.returncode == 0 and "--device" in found.stdout, found.stderr
