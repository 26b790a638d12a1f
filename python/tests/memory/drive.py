"""Consumes Arrow streams of tables in every order of release; run by `run` under valgrind.

`drive.py LIBRARY` runs every case, `drive.py LIBRARY late` reads memory that was released, `drive.py LIBRARY lost`
never releases a batch. The last two show that valgrind sees such errors.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import random
import sys
import threading
from typing import Any, Callable

from xrsim import _xrsim

POINTER, INT, LONG, U64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_uint64

# Texts with line breaks, quotes and letters beyond ASCII, absent numbers in the first and last rows, rows beyond a
# multiple of 8, an empty column, a column of one word; and a table without rows.
TABLES = [
    "name,n,x,none,model\n" + "a,1,,,7\n" + '"b,\nc",,1e300,,8\n' * 9 + "ü,-3,inf,,7\n",
    "name,n,x\n",
    "n\n1\n2\n",
]


def library(path: str) -> Any:
    consumer = ctypes.CDLL(path)
    signatures: dict[str, tuple[list[Any], Any]] = {
        "take": ([POINTER], POINTER),
        "move_stream": ([POINTER], POINTER),
        "release_stream": ([POINTER, INT], INT),
        "ask_released": ([POINTER], INT),
        "read_all": ([POINTER], U64),
        "read_child": ([POINTER], U64),
        "has_dictionary": ([POINTER], INT),
        "move_child": ([POINTER, LONG], POINTER),
        "move_dictionary": ([POINTER], POINTER),
        "n_children": ([POINTER], LONG),
        "release_taken": ([POINTER, INT, INT], INT),
        "read_late": ([POINTER], U64),
    }
    for name, (arguments, result) in signatures.items():
        function = getattr(consumer, name)
        function.argtypes, function.restype = arguments, result
    return consumer


def pointer(capsule: object) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.argtypes, get.restype = [ctypes.py_object, ctypes.c_char_p], POINTER
    return int(get(capsule, b"arrow_array_stream"))


def table(text: str) -> Any:
    return _xrsim.NativeTable.from_csv(text)


def taken_out(c: Any, text: str) -> tuple[int, int]:
    """A stream that was moved out of its capsule, and its batch; the table and the capsule are gone."""
    capsule = table(text).__arrow_c_stream__()
    stream = c.move_stream(pointer(capsule))
    del capsule
    gc.collect()
    taken = c.take(stream)
    assert taken, "the stream breaks a rule of the interface"
    return stream, taken


def never(c: Any, text: str) -> None:
    """Capsules that nobody takes, and a stream of which a batch was taken, but which stays in its capsule."""
    made = table(text)
    unused = [made.__arrow_c_stream__(), made.__arrow_c_schema__()]
    capsule = made.__arrow_c_stream__()
    del made
    taken = c.take(pointer(capsule))
    del unused, capsule
    gc.collect()
    c.read_all(taken)
    assert c.release_taken(taken, 1, 0)


def once_or_twice(c: Any, text: str) -> None:
    """Stream and batch, released once or twice, in either order, before and after reading."""
    for times, stream_first, schema_first in itertools.product((1, 2), (0, 1), (0, 1)):
        stream, taken = taken_out(c, text)
        total = c.read_all(taken)
        if stream_first:
            assert c.release_stream(stream, times)
            assert c.read_all(taken) == total
        assert c.release_taken(taken, times, schema_first)
        if not stream_first:
            assert c.release_stream(stream, times)


def after_release(c: Any, text: str) -> None:
    """A stream that is released answers with an error."""
    stream = c.move_stream(pointer(capsule := table(text).__arrow_c_stream__()))
    assert c.ask_released(stream)
    del capsule


def partly_moved(c: Any, text: str) -> None:
    """Some children are moved out, some with their dictionaries; all is released in a random order."""
    choose = random.Random(1)
    for _ in range(40):
        stream, taken = taken_out(c, text)
        left: list[tuple[Callable[[int], int], int]] = []
        for index in range(c.n_children(taken)):
            if choose.random() < 0.5:
                continue
            child = c.move_child(taken, index)
            total = c.read_child(child)
            left.append((c.read_child, child))
            if c.has_dictionary(child) and choose.random() < 0.5:
                # A child without its dictionary is not read any more.
                left[-1] = (lambda _: 0, child)
                left.append((c.read_child, c.move_dictionary(child)))
            else:
                assert c.read_child(child) == total
        left.append((lambda _: 0, taken))
        choose.shuffle(left)
        is_open = choose.random() < 0.5
        if is_open:
            assert c.release_stream(stream, 1)
        while left:
            for read, part in left:
                read(part)
            assert c.release_taken(left.pop()[1], choose.choice((1, 2)), choose.choice((0, 1)))
        if not is_open:
            assert c.release_stream(stream, 1)


def between_threads(c: Any, text: str) -> None:
    """Batches are read and released by other threads than the one that made them."""
    parts = [taken_out(c, text) for _ in range(8)]

    def end(stream: int, taken: int) -> None:
        c.read_all(taken)
        c.release_stream(stream, 1)
        c.read_all(taken)
        c.release_taken(taken, 1, 1)

    threads = [threading.Thread(target=end, args=part) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def arrays(c: Any, text: str) -> None:
    """Memory for numpy, read after its table is gone."""
    made = table(text)
    columns = [made.array(index) for index in range(len(made.names))]
    del made
    gc.collect()
    for column in columns:
        interface = column.__array_interface__
        (n,), (address, is_read_only) = interface["shape"], interface["data"]
        assert is_read_only
        size = n * int(interface["typestr"][2:])
        assert len(ctypes.string_at(address, size) if size else b"") == size


CASES = [never, once_or_twice, after_release, partly_moved, between_threads, arrays]


def main() -> None:
    c = library(sys.argv[1])
    fault = sys.argv[2] if len(sys.argv) > 2 else None
    if fault == "late":
        stream, taken = taken_out(c, TABLES[0])
        c.release_stream(stream, 1)
        c.read_late(taken)
    elif fault == "lost":
        c.release_stream(taken_out(c, TABLES[0])[0], 1)
    else:
        for case, text in itertools.product(CASES, TABLES):
            case(c, text)
        print(f"{len(CASES)} cases of {len(TABLES)} tables")


if __name__ == "__main__":
    main()
