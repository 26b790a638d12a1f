"""Runs and their results."""

from __future__ import annotations

import functools
import json
import os
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence

from . import _xrsim
from ._arguments import Words
from ._table import Table

TABLES = ("scores", "models", "inferences")


class Timeline:
    """Executions of a run on every accelerator over time, and drops. A notebook draws it.

    >>> import xrsim
    >>> timeline = xrsim.run("AR_gaming", "J", 4096)[0].timeline()
    >>> timeline.svg.startswith("<svg")
    True
    """

    def __init__(self, runs: Any, index: int) -> None:
        self._runs, self._index = runs, index

    @functools.cached_property
    def svg(self) -> str:
        """Figure as SVG."""
        return self._drawn("svg").decode()

    def _drawn(self, form: str) -> bytes:
        return self._runs.timeline(self._index, form)  # type: ignore[no-any-return]

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: os.PathLike[str] | str) -> None:
        """Write the figure as SVG, PDF or PNG, by the ending of the name."""
        path = Path(path)
        form = path.suffix[1:]
        if form not in ("svg", "pdf", "png"):
            raise ValueError(f"{path} has no ending of a figure; allowed are .svg, .pdf and .png")
        path.write_bytes(self._drawn(form))


class Results:
    """Runs that were made, in order: scenarios, PEs, systems, schedulers and replications, the last one fastest.

    >>> import xrsim
    >>> results = xrsim.run("AR_gaming", "J", 4096, replications=3)
    >>> results
    <xrsim.Results 3 runs, 0 infeasible>
    >>> results.scores["replication"].tolist()
    [0, 1, 2]
    """

    def __init__(self, words: Sequence[str], runs: Any = None, kept: Sequence[Any] = ()) -> None:
        self._words = list(words)
        # Texts and schedulers that the words name live as long as the results.
        self._kept = list(kept)
        self._made = runs
        self._tables: dict[str, Table] = {}
        self._record: dict[str, Any] | None = None
        self._reasons: list[str | None] | None = None

    @property
    def _runs(self) -> Any:
        # Results that were pickled are made again when more than their tables is asked for.
        if self._made is None:
            if not self._words:
                raise ValueError("these results were read from a folder, which has no runs, but tables only")
            self._made = _xrsim.run(self._words)
        return self._made

    def _table(self, name: str) -> Table:
        if name not in self._tables:
            self._tables[name] = _made(self._runs, name, None)
        return self._tables[name]

    @property
    def scores(self) -> Table:
        """A row for each run, with the columns of `scores.csv`."""
        return self._table("scores")

    @property
    def models(self) -> Table:
        """A row for each model of a run, with the columns of `models.csv`."""
        return self._table("models")

    @property
    def inferences(self) -> Table:
        """A row for each request of a run, with the columns of `inferences.csv`.

        The columns `cause` and `segments`, long texts, are made when they are asked for.
        """
        return self._table("inferences")

    @property
    def record(self) -> dict[str, Any]:
        """What was asked for and read, as in `run.json`."""
        if self._record is None:
            self._record = self._runs.record()
        return self._record

    @property
    def reasons(self) -> list[str | None]:
        """Reason for each run that has no scores; `None` for the others."""
        if self._reasons is None:
            self._reasons = [self._runs.reason(index) for index in range(len(self._runs))]
        return self._reasons

    def __len__(self) -> int:
        return len(self.reasons)

    def __getitem__(self, index: int) -> Run:
        n = len(self)
        if not -n <= index < n:
            raise IndexError(f"run {index} of {n}")
        return Run(self, index % n)

    def __iter__(self) -> Iterator[Run]:
        return (Run(self, index) for index in range(len(self)))

    def __repr__(self) -> str:
        n = len(self)
        infeasible = sum(reason is not None for reason in self.reasons)
        return f"<xrsim.Results {n} run{'' if n == 1 else 's'}, {infeasible} infeasible>"

    def _repr_html_(self) -> str:
        timeline = self[0].timeline().svg if len(self) == 1 and self._made is not None else ""
        return timeline + self.scores._repr_html_()

    def save(self, folder: os.PathLike[str] | str) -> None:
        """Write the files of `xrsim run --out FOLDER`, byte for byte.

        >>> import tempfile, xrsim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     xrsim.run("AR_gaming", "J", 4096).save(folder)
        ...     again = xrsim.load(folder)
        >>> len(again)
        1
        """
        self._runs.save(os.fspath(folder))

    def __reduce__(self) -> Any:
        tables = {name: self._table(name) for name in TABLES}
        can_repeat = not self._kept
        return _restored, (self._words if can_repeat else [], tables, self.record, self.reasons)


def _restored(
    words: Sequence[str],
    tables: Mapping[str, Table],
    record: dict[str, Any],
    reasons: list[str | None],
) -> Results:
    results = Results(words)
    results._tables.update(tables)
    results._record, results._reasons = record, reasons
    return results


class Run:
    """One of the runs of `Results`.

    >>> import xrsim
    >>> run = xrsim.run("AR_gaming", "J", 4096)[0]
    >>> run.label["scenario"], run.reason
    ('AR_gaming', None)
    >>> 0 < run.score < 1
    True
    """

    def __init__(self, results: Results, index: int) -> None:
        self._results, self.index = results, index

    @property
    def label(self) -> dict[str, Any]:
        """Scenario, system, scheduler and so on."""
        return self._results._runs.label(self.index)  # type: ignore[no-any-return]

    @property
    def reason(self) -> str | None:
        """Reason that the run has no scores; `None` if it has."""
        return self._results.reasons[self.index]

    @property
    def score(self) -> float:
        """Score of the run, 0 to 1; NaN without one."""
        column = self.scores["score"]
        return float(column[0]) if len(column) else float("nan")

    @functools.cached_property
    def scores(self) -> Table:
        """Row of the run, with the columns of `scores.csv`."""
        return _made(self._results._runs, "scores", self.index)

    @functools.cached_property
    def models(self) -> Table:
        """A row for each model of the run, with the columns of `models.csv`."""
        return _made(self._results._runs, "models", self.index)

    @functools.cached_property
    def inferences(self) -> Table:
        """A row for each request of the run, with the columns of `inferences.csv`."""
        return _made(self._results._runs, "inferences", self.index)

    def timeline(self) -> Timeline:
        """Return the timeline of the run.

        >>> import xrsim
        >>> "</svg>" in xrsim.run("AR_gaming", "J", 4096)[0].timeline().svg
        True
        """
        return Timeline(self._results._runs, self.index)

    def _repr_html_(self) -> str:
        return self.timeline().svg + self.scores._repr_html_()

    def __repr__(self) -> str:
        label = self.label
        return f"<xrsim.Run {label['scenario']} on {label['system']}@{label['pes']}, {label['scheduler']}>"


def _made(runs: Any, name: str, index: int | None) -> Table:
    table = Table(runs.table(name, index))
    if name == "inferences":
        table._later = lambda: Table(runs.table("inference_texts", index))
    return table


def run_words(words: Words, progress: Any) -> Results:
    """Make runs."""
    runs = _xrsim.run(words.all(), progress)
    runs.raise_if_all_failed()
    return Results(words.all(), runs, words.kept)


def load(folder: os.PathLike[str] | str) -> Results:
    """Read the results in a folder that `xrsim run --out` or `Results.save` wrote.

    >>> import tempfile, xrsim
    >>> results = xrsim.run("AR_gaming", "J", 4096)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results.save(folder)
    ...     again = xrsim.load(folder)
    >>> again.scores.to_dict() == results.scores.to_dict()
    True
    """
    folder = Path(folder)
    record = json.loads((folder / "run.json").read_bytes())
    tables = {name: Table.from_csv((folder / f"{name}.csv").read_text()) for name in TABLES}
    # The record has the reasons of the runs without scores, but not their places.
    reasons: list[str | None] = [entry["reason"] for entry in record["infeasible"]]
    reasons += [None] * (record["n_runs"] - len(reasons))
    return _restored([], tables, record, reasons)
