"""Simulator of real-time multi-network XR workloads on DNN accelerators.

Functions are the commands of the program `xrsim`, with their options as arguments. A name, a path or a dict goes
wherever the command line takes a name or a file, and a class with a method `decide` wherever it takes a scheduler.

>>> import xrsim
>>> results = xrsim.run("AR_gaming", "J", 4096, scheduler="edf")
>>> results.scores["scheduler"].tolist()
['edf']
"""

from __future__ import annotations

import os
from typing import Any, Mapping

from . import _xrsim
from ._arguments import Words as _Words
from ._calls import Report
from ._commands import (
    area,
    compare,
    cost,
    day,
    explain,
    import_network,
    map,
    merge,
    mlperf,
    plot,
    report,
    reproduce,
    run,
    search,
    sensitivity,
    status,
    sweep,
    validate,
)
from ._errors import BusyError, InfeasibleError, InputError, SchedulerError, UnknownNameError, XrsimError, XrsimWarning
from ._inputs import Network, Scenario, System, network, scenario, system
from ._policy import Setup, block, dispatch, drop, serve
from ._results import Results, Run, Timeline, load
from ._table import Table, of_rows
from ._xrsim import Decision, Job, View, __version__

__all__ = [
    "BusyError",
    "Decision",
    "InfeasibleError",
    "InputError",
    "Job",
    "Network",
    "Report",
    "Results",
    "Run",
    "Scenario",
    "SchedulerError",
    "Setup",
    "System",
    "Table",
    "Timeline",
    "UnknownNameError",
    "View",
    "XrsimError",
    "XrsimWarning",
    "__version__",
    "area",
    "block",
    "check",
    "compare",
    "cost",
    "day",
    "dispatch",
    "drop",
    "explain",
    "import_network",
    "lists",
    "load",
    "map",
    "merge",
    "mlperf",
    "network",
    "plot",
    "quirks",
    "report",
    "reproduce",
    "run",
    "scenario",
    "schedulers",
    "search",
    "sensitivity",
    "serve",
    "settings",
    "show",
    "status",
    "sweep",
    "system",
    "validate",
]


def check(*inputs: str | os.PathLike[str] | Mapping[str, Any] | Any) -> list[str]:
    """Check input files, or dicts in place of files. Return the kind of each.

    The first one with problems raises an `InputError` that has all of its problems.

    >>> import xrsim
    >>> xrsim.check(xrsim.scenario("AR_gaming"))
    ['scenario']
    """
    words = _Words("check")
    for item in inputs:
        words.add("files", item)
    return [_xrsim.check(path)[0] for path in words.places]


def show(name: str | os.PathLike[str]) -> str:
    """Return the text of an input file, or the description of a scheduler.

    >>> import xrsim
    >>> xrsim.show("AR_gaming").splitlines()[0].startswith(("#", "scenario"))
    True
    """
    words = _Words("show")
    words.add("name", name)
    return str(_xrsim.call(["show", *words.all()])[1].decode())


def lists(name: str) -> Table:
    """Return the list of `xrsim list NAME` as a table; of several tables the first one.

    >>> import xrsim
    >>> "AR_gaming" in xrsim.lists("scenarios")["scenario"]
    True
    """
    names, rows = _xrsim.lists(name)[0]
    return of_rows(names, rows)


def schedulers() -> Table:
    """Return every scheduler with its parameters.

    >>> import xrsim
    >>> "edf" in xrsim.schedulers()["scheduler"]
    True
    """
    return lists("schedulers")


def settings() -> Table:
    """Return every key of experiments with its default, unit, allowed values and meaning.

    >>> import xrsim
    >>> "score.k_per_ms" in xrsim.settings()["key"]
    True
    """
    return lists("settings")


def quirks() -> Table:
    """Return every quirk of the published artifact that `semantics="mlsys2023"` reproduces.

    >>> import xrsim
    >>> xrsim.quirks().n_rows > 0
    True
    """
    return lists("quirks")


def __getattr__(name: str) -> Any:
    # Gymnasium and numpy are imported when they are asked for.
    if name == "gym":
        import importlib

        return importlib.import_module("xrsim.gym")
    raise AttributeError(f"module 'xrsim' has no attribute {name!r}")
