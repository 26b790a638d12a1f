"""Fixtures of the tests of the package."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest

# Results must not depend on choices of mappings that another test has found.
os.environ["XRSIM_CACHE"] = ""


@pytest.fixture(scope="session")
def program() -> Callable[..., bytes]:
    """The program of the same build: `XRSIM_PROGRAM`, or else that of the package."""
    words = [os.environ["XRSIM_PROGRAM"]] if "XRSIM_PROGRAM" in os.environ else [sys.executable, "-m", "xrsim"]

    def run(*arguments: str | Path) -> bytes:
        return subprocess.run([*words, *map(str, arguments)], check=True, stdout=subprocess.PIPE).stdout

    return run
