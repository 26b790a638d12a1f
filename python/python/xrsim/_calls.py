"""Calls of commands, and what they return."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Dict, Mapping, Sequence, Union

from . import _xrsim
from ._arguments import Words
from ._errors import XrsimError
from ._table import Table

Number = Union[int, float]
Given = Union[str, Number, "os.PathLike[str]", Dict[str, Any], Any]
Progress = Union[bool, Callable[[int, int], Any], None]

# Options with which a command plans jobs of a cluster, or submits them, and makes no results.
_PLANS = ("sbatch", "dry_run", "submit")


@functools.lru_cache(maxsize=None)
def _opened_cache() -> None:
    # As on the command line, choices of mappings are kept in the folder of the user (XRSIM_CACHE).
    _xrsim.open_cache()


def words_of(command: str, arguments: Mapping[str, Any], *but: str) -> Words:
    """Words for the arguments of a function, without those named in `but`."""
    words = Words(command)
    for name, value in arguments.items():
        if name not in ("progress", "options", *but):
            words.add(name, value)
    for name, value in arguments.get("options", {}).items():
        words.add(name, value)
    return words


def observer(progress: Progress, command: str) -> Callable[[int, int], Any] | None:
    """The function that is told of the progress: `progress` itself, or a bar of tqdm if there is tqdm."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None
    bar = tqdm(desc=command, leave=False)

    def tell(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return tell


def call(
    words: Words, first: Sequence[str], progress: Progress = None, may_fail: bool = False
) -> tuple[bytes, str]:
    """Run a command with its words after `first`. Return its standard output and its notes.

    A check that fails is an exception, unless `may_fail` says that the output tells of it.
    """
    _opened_cache()
    tell = observer(progress, words.command)
    try:
        status, out, notes = _xrsim.call([*words.command.split(), *first, "--quiet", *words.all()], tell)
    finally:
        _xrsim.save_cache()
    if status != 0 and not may_fail:
        raise XrsimError(notes.strip().rpartition("\n")[2].removeprefix("error: "))
    return out, notes


class Report:
    """Result of a command: its text, tables, record and files.

    Tables are attributes: that of `policies.csv` is `policies`. A notebook shows the text and the figures.

    >>> import xrsim
    >>> compared = xrsim.compare(["edf", "sjf"], scenario="AR_gaming", system="J", pes=4096, replications=5)
    >>> compared.policies["scheduler"].tolist()
    ['edf', 'sjf']
    """

    text: str
    """Printed result."""
    tables: dict[str, Table]
    """Every table, by its name without ending."""
    record: dict[str, Any]
    """Record of the command, with the digests of its inputs."""
    files: dict[str, bytes]
    """Every file, by its name."""

    def __init__(self, text: str, files: Mapping[str, bytes], record: Mapping[str, Any] | None = None) -> None:
        self.text = text
        self.files = dict(files)
        self.tables = {
            name[: -len(".csv")]: Table.from_csv(content.decode())
            for name, content in self.files.items()
            # The journal of a search is no table.
            if name.endswith(".csv") and name != "journal.csv"
        }
        self.record = dict(record or {})

    def __getattr__(self, name: str) -> Table:
        tables = self.__dict__.get("tables", {})
        if name in tables:
            return tables[name]  # type: ignore[no-any-return]
        raise AttributeError(f"there is no table `{name}` (there are {', '.join(tables) or 'none'})")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.tables]

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def figures(self) -> dict[str, str]:
        """Return the figures as SVG, by their names."""
        ending = ".svg"
        return {
            name[: -len(ending)]: content.decode() for name, content in self.files.items() if name.endswith(ending)
        }

    def _repr_html_(self) -> str:
        from html import escape

        text = f"<pre>{escape(self.text)}</pre>" if self.text else ""
        return text + "".join(f"<div>{figure}</div>" for figure in self.figures().values())

    def save(self, folder: os.PathLike[str] | str) -> None:
        """Write the files into a folder, which is made if it is not there. Existing files are kept."""
        for name, content in self.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "xb") as file:
                file.write(content)


class Printed(Report):
    """Result of a command that prints: one table, and the text for people, which is made when it is asked for.

    >>> import xrsim
    >>> cost = xrsim.cost("KD", dataflow="WS", pes=1024)
    >>> cost.layers["layer"][0]
    'conv1'
    """

    def __init__(self, name: str, content: bytes, text: Callable[[], str]) -> None:
        super().__init__("", {f"{name}.csv": content})
        self._text = text
        del self.__dict__["text"]

    @functools.cached_property
    def text(self) -> str:  # type: ignore[override]
        """Printed result."""
        return self._text()


def _plan(words: Words, out: Given) -> Report:
    # A plan of jobs is printed, and `out` is the place of their results.
    if out is not None:
        words.add("out", out)
    return Report(call(words, [])[0].decode(), {})


def of_folder(command: str, arguments: Mapping[str, Any]) -> Report:
    """Call a command that writes into the folder of its option `--out`; without one, into memory."""
    arguments = dict(arguments)
    progress = arguments.get("progress")
    out = arguments.pop("out", None)
    words = words_of(command, arguments)
    if any(arguments.get(name) for name in _PLANS):
        return _plan(words, out)
    if out is not None:
        text, _ = call(words, [f"--out={os.fsdecode(out)}"], progress)
        return _read(Path(out), text.decode())
    with tempfile.TemporaryDirectory(prefix="xrsim-") as folder:
        text, _ = call(words, [f"--out={folder}"], progress)
        return _read(Path(folder), text.decode())


def _read(folder: Path, text: str) -> Report:
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in (".csv", ".svg", ".tex", ".json", ".yaml"):
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
    records = [name for name in files if name.endswith(".json") and "/" not in name]
    record = json.loads(files[records[0]]) if len(records) == 1 else {}
    return Report(text, files, record)


def of_rows(command: str, arguments: Mapping[str, Any]) -> Report:
    """Call a command that writes rows into the file of its option `--out`; without one, into memory."""
    arguments = dict(arguments)
    out = arguments.pop("out", None)
    words = words_of(command, arguments)
    if any(arguments.get(name) for name in _PLANS):
        return _plan(words, out)
    with tempfile.TemporaryDirectory(prefix="xrsim-") as folder:
        path = Path(folder, "points.csv") if out is None else Path(out)
        call(words, [f"--out={path}"], arguments.get("progress"))
        record = path.with_name(path.name + ".json")
        known = json.loads(record.read_bytes()) if record.exists() else {}
        return Report("", {"points.csv": path.read_bytes()}, known)


def printed(command: str, table: str, arguments: Mapping[str, Any]) -> Report:
    """Call a command that prints a table."""
    words = words_of(command, arguments)
    rows, _ = call(words, ["--format=csv"], arguments.get("progress"))
    return Printed(table, rows, lambda: call(words, [])[0].decode())


def text(command: str, arguments: Mapping[str, Any]) -> str:
    """Call a command that prints text."""
    return call(words_of(command, arguments), [], arguments.get("progress"), may_fail=True)[0].decode()


def of_file(command: str, arguments: Mapping[str, Any], ending: str) -> bytes:
    """Call a command that writes one file, with its option `--out`, and return the content."""
    arguments = dict(arguments)
    out = arguments.pop("out", None)
    words = words_of(command, arguments)
    with tempfile.TemporaryDirectory(prefix="xrsim-") as folder:
        path = Path(folder, f"made{ending}") if out is None else Path(out)
        call(words, [f"--out={path}"], arguments.get("progress"))
        return path.read_bytes()
