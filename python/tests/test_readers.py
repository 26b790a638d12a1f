"""Tables of a run as other libraries read them, against the text of the CSV files."""

from __future__ import annotations

import csv
import gc
import math
import multiprocessing
import pickle
import threading
from pathlib import Path
from typing import Any, Callable

import pytest

import xrsim

NAMES = ("scores", "models", "inferences")

# Columns of the file that a table makes when they are asked for.
LATER = ("cause", "segments")


@pytest.fixture(scope="module")
def results() -> Any:
    # Late, dropped and lost requests, and such that were not triggered, so that every column has a null that may.
    return xrsim.run(["AR_gaming", "VR_gaming"], "A", 1024, flexibility="none", replications=3)


@pytest.fixture(scope="module")
def texts(results: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("results")
    results.save(folder)
    return {name: Path(folder, f"{name}.csv").read_text() for name in NAMES}


def all_cells(text: str) -> dict[str, list[str]]:
    first, *rows = csv.reader(text.splitlines(keepends=True))
    return {name: [row[at] for row in rows] for at, name in enumerate(first)}


def cells(text: str) -> dict[str, list[str]]:
    return {name: values for name, values in all_cells(text).items() if name not in LATER}


def from_pyarrow(table: Any) -> dict[str, list[Any]]:
    pyarrow = pytest.importorskip("pyarrow")
    read = pyarrow.table(table.arrow)
    read.validate(full=True)
    return read.to_pydict()  # type: ignore[no-any-return]


def from_pyarrow_as_a_dict(table: Any) -> dict[str, list[Any]]:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(table).to_pydict()  # type: ignore[no-any-return]


def from_polars(table: Any) -> dict[str, list[Any]]:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(table.arrow).to_dict(as_series=False)  # type: ignore[no-any-return]


def from_polars_directly(table: Any) -> dict[str, list[Any]]:
    polars = pytest.importorskip("polars")
    return polars.DataFrame(table).to_dict(as_series=False)  # type: ignore[no-any-return]


def from_duckdb(table: Any) -> dict[str, list[Any]]:
    duckdb = pytest.importorskip("duckdb")
    stream = table.arrow  # noqa: F841, DuckDB finds it by its name
    read = duckdb.sql("select * from stream")
    return dict(zip(read.columns, map(list, zip(*read.fetchall()))))


def from_duckdb_as_a_dict(table: Any) -> dict[str, list[Any]]:
    duckdb = pytest.importorskip("duckdb")
    made = table  # noqa: F841
    read = duckdb.sql("select * from made")
    return dict(zip(read.columns, map(list, zip(*read.fetchall()))))


def from_pandas(table: Any) -> dict[str, list[Any]]:
    pandas = pytest.importorskip("pandas")
    return {name: column.tolist() for name, column in pandas.DataFrame(table).items()}


def from_pandas_stream(table: Any) -> dict[str, list[Any]]:
    pandas = pytest.importorskip("pandas")
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip("this pandas reads no Arrow stream")
    return {name: column.tolist() for name, column in pandas.DataFrame.from_arrow(table).items()}


def from_to_pandas(table: Any) -> dict[str, list[Any]]:
    pytest.importorskip("pandas")
    return {name: column.tolist() for name, column in table.to_pandas().items()}


def from_numpy(table: Any) -> dict[str, list[Any]]:
    pytest.importorskip("numpy")
    return {name: column.tolist() for name, column in table.items()}


def from_lists(table: Any) -> dict[str, list[Any]]:
    return table.to_dict()  # type: ignore[no-any-return]


def from_rows(table: Any) -> dict[str, list[Any]]:
    rows = list(table.rows())
    return {name: [row[name] for row in rows] for name in rows[0]}


READERS = [
    from_pyarrow,
    from_pyarrow_as_a_dict,
    from_polars,
    from_polars_directly,
    from_duckdb,
    from_duckdb_as_a_dict,
    from_pandas,
    from_pandas_stream,
    from_to_pandas,
    from_numpy,
    from_lists,
    from_rows,
]


def is_equal(value: Any, cell: str) -> bool:
    """Whether a value is that of a cell, to the last bit."""
    if value is None or isinstance(value, float) and math.isnan(value):
        return cell in ("", "nan", "NaN")
    if isinstance(value, str):
        return value == cell
    return cell != "" and value == type(value)(cell if isinstance(value, float) else int(cell))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("read", READERS, ids=lambda it: it.__name__)
def test_every_cell_of_the_file_is_the_value_of_every_reader(
    results: Any, texts: dict[str, str], read: Callable[[Any], dict[str, list[Any]]], name: str
) -> None:
    expected = cells(texts[name])
    made = read(getattr(results, name))
    assert list(made) == list(expected)
    for column, values in made.items():
        assert len(values) == len(expected[column])
        wrong = [pair for pair in zip(values, expected[column]) if not is_equal(*pair)]
        assert not wrong, (column, wrong[:3])


@pytest.mark.parametrize("name", NAMES)
def test_every_column_has_the_nulls_of_the_file_and_says_whether_it_has_any(
    results: Any, texts: dict[str, str], name: str
) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    read = pyarrow.table(getattr(results, name).arrow)
    for column, values in cells(texts[name]).items():
        is_text = pyarrow.types.is_dictionary(read.schema.field(column).type)
        n = 0 if is_text else values.count("")
        assert read[column].null_count == n, column
        assert read.schema.field(column).nullable == (n > 0), column


@pytest.mark.parametrize("name", NAMES)
def test_tables_of_files_have_the_types_of_tables_of_runs(results: Any, texts: dict[str, str], name: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    made, read = getattr(results, name), xrsim.Table.from_csv(texts[name])
    of_run, of_file = pyarrow.table(made.arrow), pyarrow.table(read.arrow)
    assert of_file.select(of_run.column_names).schema == of_run.schema
    assert of_file.select(of_run.column_names).to_pydict() == of_run.to_pydict()


def test_long_texts_are_those_of_the_file_when_they_are_asked_for(texts: dict[str, str]) -> None:
    table = xrsim.run(["AR_gaming", "VR_gaming"], "A", 1024, flexibility="none", replications=3).inferences
    assert not set(LATER) & set(table)
    expected = all_cells(texts["inferences"])
    for name in LATER:
        assert list(table[name]) == expected[name]
    assert any(expected["cause"])
    again = pickle.loads(pickle.dumps(table))
    assert again.to_dict() == table.to_dict()


def test_a_table_without_rows_keeps_its_columns(texts: dict[str, str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for name in NAMES:
        full, empty = (xrsim.Table.from_csv(text) for text in (texts[name], texts[name].split("\n")[0] + "\n"))
        assert empty.n_rows == 0 and list(empty) == list(full)
        assert pyarrow.table(empty.arrow).schema.types == pyarrow.table(full.arrow).schema.types
        assert len(empty.to_pandas()) == 0
        assert pickle.loads(pickle.dumps(empty)).to_dict() == empty.to_dict()


def test_memory_outlives_its_table_in_every_reader(texts: dict[str, str]) -> None:
    numpy = pytest.importorskip("numpy")
    expected = [float(cell) for cell in cells(texts["inferences"])["deadline_ms"]]
    for read in READERS:
        made = read(xrsim.Table.from_csv(texts["inferences"]))
        gc.collect()
        # Takes the place of memory that was freed.
        filler = [numpy.full(len(expected), index, dtype=float) for index in range(50)]
        assert made["deadline_ms"] == expected, (read.__name__, len(filler))
    column = xrsim.Table.from_csv(texts["inferences"])["deadline_ms"]
    view = column[::2]
    del column
    gc.collect()
    assert view.tolist() == expected[::2]


def test_columns_are_shared_and_read_only(results: Any) -> None:
    numpy = pytest.importorskip("numpy")
    pyarrow = pytest.importorskip("pyarrow")
    table = results.inferences
    address = table["deadline_ms"].__array_interface__["data"][0]
    assert pyarrow.table(table.arrow)["deadline_ms"].chunk(0).buffers()[1].address == address
    assert numpy.shares_memory(table.to_pandas()["deadline_ms"].to_numpy(), table["deadline_ms"])
    with pytest.raises(ValueError, match="read-only"):
        table["deadline_ms"][0] = 1
    copy = table["deadline_ms"].copy()
    copy[0] = 1


def test_tables_move_between_threads(texts: dict[str, str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = xrsim.Table.from_csv(texts["inferences"])
    expected = pyarrow.table(table.arrow).to_pydict()
    capsules, found = [table.__arrow_c_stream__() for _ in range(8)], []
    del table

    def end(at: int) -> None:
        reader = pyarrow.RecordBatchReader._import_from_c_capsule(capsules[at])
        found.append(reader.read_all().to_pydict() == expected)

    threads = [threading.Thread(target=end, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 8


def _sent_back(table: Any) -> tuple[Any, list[str]]:
    return table, [type(column).__name__ for column in table.values()]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_table_goes_to_another_process_and_back(results: Any, method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such processes")
    with multiprocessing.get_context(method).Pool(1) as pool:
        table, kinds = pool.apply_async(_sent_back, (results.inferences,)).get(120)
    assert isinstance(table, xrsim.Table)
    assert table.to_dict() == results.inferences.to_dict()
    assert kinds == [type(column).__name__ for column in results.inferences.values()]


def test_a_table_with_a_column_of_ones_own_can_be_pickled() -> None:
    table = xrsim.Table.from_csv("a\n1\n")
    table["b"] = [2]
    assert pickle.loads(pickle.dumps(table)).to_dict() == {"a": [1]}


def test_what_is_saved_reads_back(results: Any, tmp_path: Path) -> None:
    for name in NAMES:
        table = getattr(results, name)
        table.save(tmp_path / "table.csv")
        assert xrsim.Table.read_csv(tmp_path / "table.csv").to_dict() == table.to_dict()
    table = xrsim.Table.from_csv('a,b\n"x\ny, ""z""",inf\n,-1e-300\n')
    table.save(tmp_path / "table.csv")
    assert xrsim.Table.read_csv(tmp_path / "table.csv").to_dict() == table.to_dict()
    assert table.to_dict() == {"a": ['x\ny, "z"', ""], "b": [math.inf, -1e-300]}
