"""The code in the guide and the READMEs runs, in shortened runs."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

import esker
from conftest import ROOT

SHORTER = {
    "until=2.0": "until=0.02",
    "until=10.0": "until=0.32",
    '"out/pile")': '"out/pile", until=0.02, set={"output.every": 0.01})',
    'drum.toml"': 'drum.toml", device="cpu"',
    'pile.toml", "out/pile"': 'pile.toml", "out/pile", device="cpu"',
    "range(100)": "range(2)",
    "from_dict(scene)": 'from_dict(scene, device="cpu")',
    "esker.Ensemble(64)": 'esker.Ensemble(2, device="software")',
    "ThreadPoolExecutor(64)": "ThreadPoolExecutor(2)",
    "0.9, 64)": "0.9, 2)",
    "    simulation.run()\n": "    simulation.run(until=0.02)\n",
}
"""What a run of the guide is replaced by, so that it takes seconds."""


@pytest.mark.parametrize("name", ["src/guide/python.md", "python/README.md", "README.md"])
def test_the_code_of_the_guide_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    code = "\n".join(blocks)
    for long, short in SHORTER.items():
        code = code.replace(long, short)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"esker": esker}
    with contextlib.redirect_stderr(io.StringIO()):
        exec(compile(code, name, "exec"), names)
    assert isinstance(names["simulation"], esker.Simulation) and names["simulation"].steps >= 0


def test_every_name_of_the_guide_is_there() -> None:
    text = (ROOT / "src/guide/python.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    table = [name for row in rows for name in re.findall(r"`[.]?([A-Za-z_.]+)", row)]
    assert "positions" in table and "esker.read" in table
    found = {member for thing in (esker, esker.Simulation) for member in dir(thing)}
    scripts = {path.name for path in (ROOT / "python" / "examples").glob("*.py")}
    missing = [name for name in table if name.split(".")[-1] not in found and name not in scripts]
    assert missing == []


def test_all_members_of_a_simulation_are_in_the_guide() -> None:
    text = (ROOT / "src/guide/python.md").read_text(encoding="utf-8")
    hidden = {"title", "memory", "boundaries", "joints", "materials"}
    members = [name for name in dir(esker.Simulation) if not name.startswith("_") and name not in hidden]
    assert [name for name in members if not re.search(rf"[`.]{name}\b", text)] == []
