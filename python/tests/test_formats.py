"""Files that other programs read: VTKHDF by VTK and h5py, the release workflow by its schema."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkPolyData
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

import esker
from conftest import ROOT, program

SURFACE = {"min": [0, 0], "max": [0.03, 0.02], "cells": [6, 4], "floor": 0.0}


@pytest.fixture
def results(bed: dict[str, Any], tmp_path: Path) -> Path:
    """A run with frames of grains, contacts and a surface, in one file as well."""
    bed["output"]["formats"] = ["vtp", "vtkhdf"]
    bed["observe"] = {"surface": SURFACE}
    return esker.run(bed, tmp_path / "bed", device="cpu").folder


class File:
    """A file of VTKHDF as VTK reads it."""

    def __init__(self, path: Path) -> None:
        self.reader = vtkHDFReader()
        self.reader.SetFileName(str(path))
        self.reader.UpdateInformation()
        information = self.reader.GetOutputInformation(0)
        # VTK tells no times of a single one.
        self.times: list[float] = list(information.Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS()) or [0.0])

    def at(self, time: float) -> vtkPolyData:
        """What it holds at a time."""
        self.reader.UpdateTimeStep(time)
        data: vtkPolyData = self.reader.GetOutput()
        return data


def frame(folder: Path, kind: str, number: int) -> vtkPolyData:
    """A frame as VTK reads it."""
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(folder / f"{kind}_{number:06}.vtp"))
    reader.Update()
    data: vtkPolyData = reader.GetOutput()
    return data


def content(data: vtkPolyData) -> dict[str, NDArray[Any]]:
    """Points, cells and arrays."""
    found = {}
    if data.GetNumberOfPoints():
        found["points"] = vtk_to_numpy(data.GetPoints().GetData())
    for name in ("Verts", "Lines", "Polys"):
        cells = getattr(data, f"Get{name}")()
        if cells.GetNumberOfCells():
            found[name] = vtk_to_numpy(cells.GetConnectivityArray())
    for arrays in (data.GetPointData(), data.GetCellData()):
        for i in range(arrays.GetNumberOfArrays()):
            found[arrays.GetArrayName(i)] = vtk_to_numpy(arrays.GetArray(i))
    return found


def same(a: vtkPolyData, b: vtkPolyData) -> bool:
    one, other = content(a), content(b)
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


def test_vtk_reads_from_one_file_what_it_reads_from_the_frames(results: Path) -> None:
    for kind in ("grains", "contacts", "surface", "walls"):
        file = File(results / f"{kind}.vtkhdf")
        # Walls that do not move have one frame.
        assert file.times == pytest.approx([0] if kind == "walls" else [0, 0.05, 0.1, 0.15, 0.2])
        for number, time in enumerate(file.times):
            assert same(file.at(time), frame(results, kind, number)), f"{kind} at {time} s"
    assert content(File(results / "contacts.vtkhdf").at(0.2))["Lines"].size > 0
    last = File(results / "grains.vtkhdf").at(0.2)
    assert not same(last, frame(results, "grains", 0)), "the comparison can fail"
    assert vtk_to_numpy(last.GetFieldData().GetArray("boundary_position")).shape == (1, 3)


def test_the_guide_reads_the_last_frame_with_h5py(results: Path) -> None:
    guide = (ROOT / "src" / "guide" / "results.md").read_text()
    code = guide.split("```python\n")[1].split("```")[0].replace("out/pile/grains.vtkhdf", str(results / "grains.vtkhdf"))
    found: dict[str, Any] = {}
    exec(code, {"h5py": h5py}, found)
    last = esker.read(results).frames[-1]
    assert np.array_equal(found["centres"], last.positions) and np.array_equal(found["speeds"], last.velocities)


def test_a_finished_run_is_exported(bed_file: Path, tmp_path: Path) -> None:
    program("run", bed_file, "--device", "cpu", "--out", "bed", cwd=tmp_path)
    assert "grains.vtkhdf: 5 frames" in program("export", "bed", "--out", ".", cwd=tmp_path).stdout
    assert same(File(tmp_path / "grains.vtkhdf").at(0.2), frame(tmp_path / "bed", "grains", 4))


def test_the_release_workflow_fits_the_schema_of_workflows(tmp_path: Path) -> None:
    def check(file: Path) -> int:
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(file)]
        return subprocess.run(command, capture_output=True, text=True).returncode

    workflow = ROOT / ".github" / "workflows" / "release.yml"
    assert check(workflow) == 0
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(workflow.read_text().replace("runs-on:", "runs_on:"))
    assert check(wrong) != 0, "the check can fail"
