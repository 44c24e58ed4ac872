"""A study of a drum: angle of the bed and share of it that moves with the drum, over the rate of rotation, as a plot.

The scenario is a file of the repository; `set` changes the rate and, for a quick look, the number of grains. A callback takes samples of
two quantities in the second half of each run; the plot shows their means and standard deviations.

    python drum_study.py --rates 0.25 0.5 1 2 3 --plot drum_study.png
"""

import argparse
from pathlib import Path

import matplotlib
import numpy as np

import esker

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "drum.toml"
QUANTITIES = ["dynamic_angle_deg", "plug_share"]


def sampled(rate: float, grains: int, duration: float, device: str) -> dict[str, np.ndarray]:
    """Samples of the quantities in the second half of a run, ten a second."""
    change = {"boundaries.0.motion.rate": rate, "grains.0.packing.count": grains, "expect.grains.value": grains}
    simulation = esker.Simulation.from_file(SCENARIO, device=device, set=change)  # type: ignore[arg-type]
    samples: dict[str, list[float]] = {name: [] for name in QUANTITIES}

    def sample(simulation: esker.Simulation) -> None:
        if simulation.time >= 0.5 * duration:
            for name in QUANTITIES:
                samples[name].append(simulation.quantity(name))

    simulation.on(every=0.1, do=sample)
    simulation.run(until=duration)
    return {name: np.array(values) for name, values in samples.items()}


def plot(rates: list[float], samples: list[dict[str, np.ndarray]], path: Path) -> None:
    """Draw means and standard deviations of both quantities over the rate."""
    labels = ["angle of the bed [deg]", "share that moves with the drum [-]"]
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(6.0, 6.0), layout="constrained")
    for name, label, axis in zip(QUANTITIES, labels, axes, strict=True):
        means = [sample[name].mean() for sample in samples]
        deviations = [sample[name].std() for sample in samples]
        axis.errorbar(rates, means, yerr=deviations, marker="o", capsize=3)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("rate of rotation [rad/s]")
    axes[0].set_title("Drum: mean and standard deviation in time")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> list[dict[str, np.ndarray]]:
    parser = argparse.ArgumentParser(description="Study a drum over its rate of rotation.")
    parser.add_argument("--rates", type=float, nargs="+", default=[0.25, 0.5, 1.0, 2.0, 3.0], help="rates [rad/s]")
    parser.add_argument("--grains", type=int, default=4864, help="number of grains")
    parser.add_argument("--time", type=float, default=12.0, help="simulated time of each run [s]")
    parser.add_argument("--plot", type=Path, default=Path("drum_study.png"), help="file of the plot")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args(arguments)
    samples = []
    for rate in options.rates:
        samples.append(sampled(rate, options.grains, options.time, options.device))
        angle, plug = (samples[-1][name].mean() for name in QUANTITIES)
        print(f"{rate:g} rad/s: angle {angle:.1f}°, {100 * plug:.0f} % move with the drum", flush=True)
    plot(options.rates, samples, options.plot)
    return samples


if __name__ == "__main__":
    main()
