"""Tables, and the libraries that read them."""

from __future__ import annotations

import gc
import math
from typing import Any

import pytest

import xrsim

CSV = "name,n,x,none,model\na,1,0.5,,7\nb,,1e300,,8\na,3,,,7\n"


def table() -> xrsim.Table:
    return xrsim.Table.from_csv(CSV)


EXPECTED = {
    "name": ["a", "b", "a"],
    "n": [1, None, 3],
    "x": [0.5, 1e300, None],
    "none": ["", "", ""],
    "model": ["7", "8", "7"],
}


def test_columns_have_types_and_absent_numbers_are_none() -> None:
    assert table().to_dict() == EXPECTED
    assert table().n_rows == 3 and len(table()) == 5
    assert list(table().rows())[1] == {"name": "b", "n": None, "x": 1e300, "none": "", "model": "8"}
    with pytest.raises(KeyError, match="there is no column 'y'"):
        table()["y"]


def test_numpy_shares_the_numbers_and_cannot_change_them() -> None:
    numpy = pytest.importorskip("numpy")
    made = table()
    assert made["n"].dtype == numpy.float64 and math.isnan(made["n"][1])
    assert not made["x"].flags.writeable and not made["x"].flags.owndata
    column = made["x"]
    del made
    gc.collect()
    assert column.tolist()[:2] == [0.5, 1e300]
    scores = xrsim.run("AR_gaming", "J", 4096, replications=3).scores
    assert scores["requests"].dtype == numpy.int64


def readers() -> dict[str, Any]:
    def pyarrow(made: xrsim.Table) -> Any:
        import pyarrow

        read = pyarrow.table(made.arrow)
        read.validate(full=True)
        return read.to_pydict()

    def polars(made: xrsim.Table) -> Any:
        import polars

        return polars.DataFrame(made.arrow).to_dict(as_series=False)

    def duckdb(made: xrsim.Table) -> Any:
        import duckdb

        arrow = made.arrow
        relation: Any = duckdb.sql("select * from arrow")
        return relation.fetchall(), arrow

    def pandas_of_arrow(made: xrsim.Table) -> Any:
        import pandas

        return pandas.DataFrame.from_arrow(made)

    def pandas_of_dict(made: xrsim.Table) -> Any:
        import pandas

        return pandas.DataFrame(made)

    def to_pandas(made: xrsim.Table) -> Any:
        return made.to_pandas()

    return dict(
        pyarrow=pyarrow, polars=polars, duckdb=duckdb, pandas_of_arrow=pandas_of_arrow,
        pandas_of_dict=pandas_of_dict, to_pandas=to_pandas,
    )


def plain(read: Any) -> dict[str, list[Any]]:
    if isinstance(read, dict):
        return read
    if isinstance(read, tuple):
        return {name: list(column) for name, column in zip(EXPECTED, zip(*read[0]))}
    columns = {name: read[name].tolist() for name in read.columns}
    return {
        name: [None if isinstance(value, float) and math.isnan(value) else value for value in values]
        for name, values in columns.items()
    }


@pytest.mark.parametrize("name", readers())
def test_every_reader_has_the_values(name: str) -> None:
    pytest.importorskip(name.split("_of_")[0].replace("to_", ""))
    made = table()
    try:
        read = readers()[name](made)
    except AttributeError:
        pytest.skip("this version of the library reads no Arrow stream")
    del made
    gc.collect()
    assert plain(read) == EXPECTED


def test_readers_have_the_values_of_a_run() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    results = xrsim.run(["AR_gaming", "VR_gaming"], "A", 1024, flexibility="none", replications=20)
    expected = results.inferences.to_dict()
    read = pyarrow.table(results.inferences.arrow)
    nulls = {name: sum(value is None for value in values) for name, values in expected.items()}
    assert {name: read[name].null_count for name in read.column_names} == nulls
    assert any(nulls.values())
    del results
    gc.collect()
    assert read.to_pydict() == expected


def test_a_capsule_can_be_taken_once_never_and_late() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for _ in range(10):
        made = table()
        stream = made.__arrow_c_stream__()
        del made
        gc.collect()
        reader = pyarrow.RecordBatchReader._import_from_c_capsule(stream)
        batch = reader.read_next_batch()
        with pytest.raises(StopIteration):
            reader.read_next_batch()
        with pytest.raises(Exception):
            pyarrow.RecordBatchReader._import_from_c_capsule(stream)
        column = batch.column(1)
        del reader, stream, batch
        gc.collect()
        assert column.to_pylist() == EXPECTED["n"]
        unused = (table().__arrow_c_stream__(), table().__arrow_c_schema__())
        del unused
        gc.collect()


def test_a_damaged_file_says_its_line() -> None:
    with pytest.raises(ValueError, match="line 3"):
        xrsim.Table.from_csv("a,b\n1,2\n3\n")


def test_a_table_is_shown_as_text_and_html() -> None:
    long = xrsim.Table.from_csv("a,b\n" + "1,<x>\n" * 20)
    assert repr(long).splitlines()[-1] == "... 10 more rows"
    assert "&lt;x&gt;" in long._repr_html_() and "<x>" not in long._repr_html_()


def test_a_large_seed_is_exact() -> None:
    seed = 2**64 - 1
    results = xrsim.run("AR_gaming", "J", 4096, seed=seed)
    assert str(results.scores.to_dict()["seed"][0]) == str(seed)
