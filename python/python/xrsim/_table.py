"""Tables of results."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterator, Sequence

from . import _xrsim

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped,unused-ignore]

# Columns of inferences with long texts.
LATER = ("cause", "segments")

# Rows of a table that is shown.
SHOWN = 10


class Arrow:
    """A table as an Arrow stream alone, for readers that would take a `Table` for a dict. Texts stay categories.

    >>> import xrsim
    >>> arrow = xrsim.run("AR_gaming", "J", 4096).scores.arrow
    >>> hasattr(arrow, "__arrow_c_stream__")
    True
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()


class Table(Dict[str, Any]):
    """A table: a dict with an array for each column, by name.

    Arrays of numbers share the memory of the results and are read-only: `array.copy()` is one's own. Texts are arrays
    of objects. An absent number is NaN. Without numpy, columns are lists, and an absent number is `None`.
    `pandas.DataFrame(table)`, `polars.DataFrame(table)`, `pyarrow.table(table)` and DuckDB read it.

    >>> import xrsim
    >>> table = xrsim.run("AR_gaming", "J", 4096, replications=2).scores
    >>> table.n_rows, table["scheduler"][0]
    (2, 'latency-greedy')
    >>> table["score"].flags.writeable
    False
    """

    def __init__(self, native: Any, later: Callable[[], Table] | None = None) -> None:
        self._native = native
        self._later = later
        names = native.names
        super().__init__((name, _column(native, index)) for index, name in enumerate(names))

    def __missing__(self, name: str) -> Any:
        # Columns that are made when they are asked for: `cause` and `segments` of inferences.
        if self._later is not None and name in LATER:
            self.update(self._later())
            self._later = None
            return self[name]
        raise KeyError(f"there is no column {name!r} (there are {', '.join(self)})")

    @classmethod
    def from_csv(cls, text: str) -> Table:
        """Read the text of a CSV file of results.

        >>> import xrsim
        >>> xrsim.Table.from_csv("a,b\\n1,x\\n2,y\\n")["a"].tolist()
        [1, 2]
        """
        return cls(_xrsim.NativeTable.from_csv(text))

    @classmethod
    def read_csv(cls, path: os.PathLike[str] | str) -> Table:
        """Read a CSV file of results.

        >>> import pathlib, tempfile, xrsim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.csv")
        ...     xrsim.Table.from_csv("a\\n1\\n").save(path)
        ...     xrsim.Table.read_csv(path).to_dict()
        {'a': [1]}
        """
        with open(path, encoding="utf-8", newline="") as file:
            return cls.from_csv(file.read())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._native.n_rows)

    @property
    def arrow(self) -> Arrow:
        """The table as an Arrow stream alone."""
        return Arrow(self._native)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, with `None` for an absent number.

        >>> import xrsim
        >>> xrsim.Table.from_csv("a,b\\n1,\\n,2\\n").to_dict()
        {'a': [1, None], 'b': [None, 2]}
        """
        return {name: self._native.values(index) for index, name in enumerate(self._native.names)}

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return the rows, each as a dict.

        >>> import xrsim
        >>> list(xrsim.Table.from_csv("a,b\\n1,x\\n").rows())
        [{'a': 1, 'b': 'x'}]
        """
        columns = self.to_dict()
        return (dict(zip(columns, row)) for row in zip(*columns.values()))

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame that shares the numbers; texts are categories.

        >>> import xrsim
        >>> xrsim.Table.from_csv("a,b\\n1,x\\n2,x\\n").to_pandas()["b"].cat.categories.tolist()
        ['x']
        """
        import pandas

        columns = {}
        for index, name in enumerate(self._native.names):
            if self._native.kind(index) == "text":
                codes = _shared(self._native, index)
                columns[name] = pandas.Categorical.from_codes(codes, self._native.words(index))
            else:
                columns[name] = self[name]
        return pandas.DataFrame(columns, copy=False)

    def save(self, path: os.PathLike[str] | str) -> None:
        """Write the table as CSV.

        >>> import io, pathlib, tempfile, xrsim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.csv")
        ...     xrsim.Table.from_csv("a,b\\n1,x\\n").save(path)
        ...     path.read_text()
        'a,b\\n1,x\\n'
        """
        import csv

        columns = self.to_dict()
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*columns.values()))

    def __repr__(self) -> str:
        return _drawn(self._native.names, *self._shown())

    def _repr_html_(self) -> str:
        head, more = self._shown()
        cells = "".join(f"<th>{html.escape(name)}</th>" for name in self._native.names)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_text(value))}</td>" for value in row) + "</tr>" for row in head
        )
        below = f"<p>{self.n_rows} rows</p>" if more else ""
        return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>{below}"

    def _shown(self) -> tuple[list[tuple[Any, ...]], int]:
        n = min(self.n_rows, SHOWN)
        columns = [[self[name][row] for row in range(n)] for name in self._native.names]
        return list(zip(*columns)), self.n_rows - n

    def __reduce__(self) -> Any:
        # A column that was added to the dict is no part of the results.
        names = self._native.names
        return _unpickled, (names, [_packed(self._native, at) for at in range(len(names))])


def of_rows(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of texts."""
    return Table(_xrsim.NativeTable.of_rows(list(names), [list(row) for row in rows]))


def _column(native: Any, index: int) -> Any:
    try:
        import numpy
    except ImportError:
        return native.values(index)
    values = _shared(native, index)
    if native.kind(index) != "text":
        return values
    words = native.words(index)
    column = numpy.empty(len(words), dtype=object)
    column[:] = words
    return column[values] if len(values) else numpy.empty(0, dtype=object)


def _shared(native: Any, index: int) -> Any:
    import numpy

    return numpy.asarray(native.array(index))


def _packed(native: Any, index: int) -> tuple[str, Any, Any]:
    return native.packed(index)  # type: ignore[no-any-return]


def _unpickled(names: Sequence[str], columns: Sequence[Any]) -> Table:
    return Table(_xrsim.NativeTable.of_packed(list(names), list(columns)))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return str(value)


def _drawn(names: Sequence[str], rows: Sequence[Sequence[Any]], more: int) -> str:
    cells = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in [list(names), *cells]]
    if more:
        lines.append(f"... {more} more rows")
    return "\n".join(lines)
