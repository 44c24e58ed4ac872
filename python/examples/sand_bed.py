"""A machine that `esker import` wrote, on a bed of sand."""

import tomllib
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent / "machines"

SAND = {
    "density": 2600.0,
    "youngs_modulus": 1e7,
    "poisson_ratio": 0.25,
    "restitution": 0.1,
    "friction": 0.6,
    "rolling_resistance": 0.2,
}


def on_sand(machine: str, low: list[float], high: list[float], radius: float, depth: float) -> dict[str, Any]:
    """A machine and a box from `low` to `high` [m] that is open above, with grains of about `radius` up to `depth` [m] in it."""
    scene = tomllib.loads((FOLDER / f"{machine}.toml").read_text(encoding="utf-8"))
    spacing = 2.1 * radius
    counts = [int((end - begin) / spacing) for begin, end in zip(low, high, strict=True)]
    counts[2] = int(depth / spacing)
    corner = [begin + 0.5 * (end - begin - (count - 1) * spacing) for begin, end, count in zip(low, high, counts, strict=True)]
    corner[2] = low[2] + 0.6 * spacing
    scene["solver"] = {"time_step": 2e-3, "iterations": 15}
    scene["materials"]["sand"] = SAND
    scene["boundaries"].append(
        {"name": "bed", "material": "sand", "shape": {"kind": "box", "min": low, "max": high, "open": ["+z"]}}
    )
    scene["grains"] = [
        {
            "material": "sand",
            "radius": {"kind": "uniform", "min": 0.85 * radius, "max": radius},
            "packing": {
                "kind": "lattice",
                "corner": corner,
                "counts": counts,
                "spacing": spacing,
                "jitter": 0.02 * radius,
            },
        }
    ]
    return scene
