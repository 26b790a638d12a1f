"""Schedulers written in Python."""

from __future__ import annotations

import inspect
import json
import sys
import weakref
from typing import Any, Callable, Iterable, Optional, TextIO

from . import _xrsim
from ._xrsim import Decision


class Block:
    """Length of a block of layers, see `block`."""

    __slots__ = ("ms",)

    def __init__(self, ms: float) -> None:
        self.ms = float(ms)

    def __repr__(self) -> str:
        return f"xrsim.block({self.ms!r})"


def block(ms: float) -> Block:
    """Return a granularity: the smallest number of whole layers that take at least `ms` milliseconds.

    >>> import xrsim
    >>> xrsim.block(1.5)
    xrsim.block(1.5)
    """
    return Block(ms)


def dispatch(job: Any, accelerator: int, granularity: str | Block | None = None) -> Decision:
    """Return the decision to start a ready job on an idle accelerator.

    `granularity` says how much runs before the scheduler is asked again: `"model"` (the rest, the default),
    `"layer"`, or `xrsim.block(ms)`.

    >>> import xrsim
    >>> class Edf:
    ...     def decide(self, view):
    ...         job = min(view.ready, key=lambda job: job.deadline_ns)
    ...         return xrsim.dispatch(job, view.fastest_idle(job))
    >>> len(xrsim.run("AR_gaming", "J", 4096, scheduler=Edf))
    1
    """
    if isinstance(granularity, Block):
        return Decision(job.request, accelerator, "block", granularity.ms, _run_of(job))
    return Decision(job.request, accelerator, granularity, None, _run_of(job))


def drop(job: Any) -> Decision:
    """Return the decision to give up a ready job.

    >>> import xrsim
    >>> class Hopeful:
    ...     def decide(self, view):
    ...         job = view.ready[0]
    ...         if job.deadline_ns < view.now_ns:
    ...             return xrsim.drop(job)
    ...         return xrsim.dispatch(job, view.idle[0])
    >>> len(xrsim.run("AR_gaming", "J", 4096, scheduler=Hopeful))
    1
    """
    return Decision(job.request, of_run=_run_of(job))


def _run_of(job: Any) -> int | None:
    # A job of the JSON protocol has no run: a process sees those of one only.
    return getattr(job, "run", None)


class Setup:
    """Constants of a run: the first line of the JSON protocol, with attributes in place of keys.

    >>> import xrsim
    >>> class First:
    ...     def __init__(self, setup):
    ...         self.tasks = [model.task for model in setup.models]
    ...     def decide(self, view):
    ...         return xrsim.dispatch(view.ready[0], view.idle[0])
    >>> len(xrsim.run("AR_gaming", "J", 4096, scheduler=First))
    1
    """

    def __init__(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            setattr(self, name, _with_attributes(value))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a setup has no `{name}` (it has {', '.join(vars(self))})")

    def __repr__(self) -> str:
        return f"Setup({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _with_attributes(value: Any) -> Any:
    if isinstance(value, dict):
        return Setup(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [Setup(item) for item in value]
    return value


def is_policy(value: Any) -> bool:
    """Whether `value` can be tried as a scheduler: it is a class or a function that makes objects."""
    return isinstance(value, type) or callable(value) or hasattr(value, "decide")


class _Given:
    """A class that is named as a scheduler."""

    def __init__(self, native: Any) -> None:
        self.native = native
        self.name: str = native.name


# A class has one name as long as results or a call need it.
_KNOWN: weakref.WeakKeyDictionary[Any, weakref.ref[_Given]] = weakref.WeakKeyDictionary()


def given_policy(value: Any) -> _Given:
    """Let a class, or a function that makes objects with `decide`, be named as a scheduler."""
    reference = _KNOWN.get(value) if callable(value) else None
    known = reference() if reference is not None else None
    if known is None:
        known = _Given(_native_policy(value))
        _KNOWN[value] = weakref.ref(known)
    return known


def _native_policy(value: Any) -> Any:
    if not callable(value):
        raise TypeError(f"scheduler is {value!r}; allowed is the class and not an object of it: each run makes its own")
    name = getattr(value, "__name__", type(value).__name__)
    if isinstance(value, type) and not callable(getattr(value, "decide", None)):
        raise AttributeError(f"the scheduler {name} has no method `decide`")
    options = [f"{key}={item}" for key, item in getattr(value, "options", {}).items()]
    try:
        text = inspect.getsource(value)
    except (OSError, TypeError):
        text = repr(value)
    takes_setup = _takes_setup(value)
    return _xrsim.GivenPolicy(name.strip("<>"), options, text, _maker(value), takes_setup)


def _maker(policy: Callable[..., Any]) -> Callable[[Optional[str]], Callable[[Any], Any]]:
    def make(line: str | None) -> Callable[[Any], Any]:
        made = policy() if line is None else policy(Setup(json.loads(line)))
        decide = getattr(made, "decide", None)
        if not callable(decide):
            raise AttributeError(f"the scheduler {made!r} has no method `decide`")
        return decide  # type: ignore[no-any-return]

    return make


def _takes_setup(policy: Callable[..., Any]) -> bool:
    if isinstance(policy, type) and policy.__init__ is object.__init__:  # type: ignore[misc]
        return False
    try:
        parameters = inspect.signature(policy).parameters.values()
    except (TypeError, ValueError):
        return False
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return any(it.kind in positional or it.kind is inspect.Parameter.VAR_POSITIONAL for it in parameters)


class _Job(Setup):
    remaining_ns: list[int | None]


class _View:
    """A view of the JSON protocol, with the attributes of `xrsim.View`."""

    def __init__(self, line: dict[str, Any], setup: dict[str, Any]) -> None:
        self.now_ns = line["now_ns"]
        self.ready = [_Job(job) for job in line["ready"]]
        self.idle = line["idle"]
        self.blocked = line["blocked"]
        self.accelerators = [Setup(item) for item in line["accelerators"]]
        self.history = [Setup(item) for item in line["history"]]
        for job in self.ready:
            layers = setup["layer_latency_ns"][job.model]
            whole = setup["latency_ns"][job.model]
            job.remaining_ns = [
                None if total >= _NOT_OFFERED_NS else sum(times[job.next_layer :])
                for times, total in zip(layers, whole)
            ]

    def fastest_idle(self, job: Any) -> int | None:
        idle = [at for at in self.idle if job.remaining_ns[at] is not None]
        return min(idle, key=lambda at: job.remaining_ns[at], default=None)


# Latency in the protocol where an accelerator cannot run a model.
_NOT_OFFERED_NS = 9_007_199_254_000_000


def serve(policy: Callable[..., Any], lines: Iterable[str] | None = None, out: TextIO | None = None) -> None:
    """Answer the questions of the program, so that a class is a scheduler in another process.

    A file `mine.py` that ends in `xrsim.serve(Mine)` is the scheduler `external:python3 mine.py`. Objects decide as in
    `xrsim.run(scheduler=Mine)`. For requests of several samples, `remaining_ns` is that of one sample. Standard output
    belongs to the protocol.

    >>> import io, xrsim
    >>> class Waits:
    ...     def decide(self, view):
    ...         return None
    >>> setup = '{"latency_ns": [[5]], "layer_latency_ns": [[[5]]]}'
    >>> view = '{"id": 1, "now_ns": 0, "ready": [], "idle": [0], "accelerators": [], "history": [], "blocked": [0]}'
    >>> answers = io.StringIO()
    >>> xrsim.serve(Waits, [setup, view], answers)
    >>> answers.getvalue()
    '{"id": 1, "do": "wait"}\\n'
    """
    source = iter(sys.stdin if lines is None else lines)
    sink = sys.stdout if out is None else out
    first = next(source, None)
    if first is None:
        return
    setup = json.loads(first)
    decide = _maker(policy)(first if _takes_setup(policy) else None)
    for line in source:
        question = json.loads(line)
        answer: dict[str, Any] = {"id": question["id"]}
        decision = decide(_View(question, setup))
        if decision is None:
            answer["do"] = "wait"
        elif decision.accelerator is None:
            answer.update(do="drop", request=decision.request)
        else:
            answer.update(do="dispatch", request=decision.request, accelerator=decision.accelerator)
            if decision.granularity is not None:
                answer["granularity"] = decision.granularity
            if decision.block_ms is not None:
                answer["block_ms"] = decision.block_ms
        sink.write(json.dumps(answer) + "\n")
        sink.flush()
