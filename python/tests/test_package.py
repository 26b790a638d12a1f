"""The package as a whole: its names, their documentation, and what is written from the program."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import xrsim

PACKAGE = Path(__file__).parent.parent


def test_functions_are_those_of_the_program() -> None:
    done = subprocess.run([sys.executable, PACKAGE / "generate.py", "--check"], stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout


def test_every_public_name_has_an_example() -> None:
    native = {"Decision", "Job", "View", "__version__"}
    for name in set(xrsim.__all__) - native:
        documentation = inspect.getdoc(getattr(xrsim, name)) or ""
        assert ">>> " in documentation, name


def test_a_view_of_another_process_has_the_fields_of_this_one() -> None:
    from xrsim._policy import _View

    line = {"now_ns": 0, "ready": [], "idle": [0], "accelerators": [], "history": [], "blocked": []}
    served = _View(line, {"latency_ns": [], "layer_latency_ns": []})
    public = {name for name in dir(served) if not name.startswith("_")}
    assert public == {name for name in dir(xrsim.View) if not name.startswith("_")}


def test_jobs_of_a_cluster_start_the_package(tmp_path: Path) -> None:
    out = tmp_path / "points.csv"
    script = xrsim.sweep(scenario="AR_gaming", system="J", pes=4096, seed=[1, 2], out=out, sbatch=2, sbatch_options="--mem=2G").text
    assert "#SBATCH --mem=2G" in script
    assert f"{sys.executable} -m xrsim sweep" in script
    assert f"{sys.executable} -m xrsim parts merge" in script
    known = subprocess.run([sys.executable, "-m", "xrsim", "--version"], stdout=subprocess.PIPE, text=True, check=True)
    assert known.stdout.startswith("xrsim ")


def test_jobs_of_a_cluster_cannot_have_classes_and_dicts(tmp_path: Path) -> None:
    class Waits:
        def decide(self, view: Any) -> None:
            return None

    with pytest.raises(ValueError, match="external:python3"):
        xrsim.sweep(scenario="AR_gaming", scheduler=["edf", Waits], out=tmp_path / "points.csv", sbatch=2)
    with pytest.raises(ValueError, match="give its path"):
        xrsim.sweep(scenario=xrsim.scenario("AR_gaming"), out=tmp_path / "points.csv", sbatch=2)
