"""Exceptions and warnings of the package."""

from __future__ import annotations

from typing import Any


class XrsimError(Exception):
    """Error of the package. Every other one of its own is one of these.

    Wrong types of arguments are a `TypeError`, values that are not allowed a `ValueError`, files that cannot be
    written an `OSError`.

    >>> import xrsim
    >>> issubclass(xrsim.InputError, xrsim.XrsimError)
    True
    """


class InputError(XrsimError):
    """An input file, or a dict in place of one, is wrong.

    >>> import xrsim
    >>> try:
    ...     xrsim.check({"scenario": {"name": "mine", "modls": []}})
    ... except xrsim.InputError as error:
    ...     problem = error.problems[0]
    >>> problem["message"]
    'a scenario has no key `modls`'
    """

    problems: list[dict[str, Any]]
    """Every problem: `file`, `line`, `column`, `end_line`, `end_column`, `message` and `help`."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.problems = []


class UnknownNameError(InputError):
    """There is no scenario, system, network and so on of this name, and no such file.

    >>> import xrsim
    >>> try:
    ...     xrsim.run("AR_gamin", "J", 4096)
    ... except xrsim.UnknownNameError as error:
    ...     print(error.kind, error.name, error.nearest)
    scenario AR_gamin AR_gaming
    """

    kind: str
    """Kind of the name, such as `scenario`."""
    name: str
    """The name."""
    nearest: str | None
    """The most similar name that is known, if one is similar."""
    known: list[str]
    """Every name that is known."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.kind = ""
        self.name = ""
        self.nearest = None
        self.known = []


class InfeasibleError(XrsimError):
    """No run can be made, for example because a network does not fit the memory of an accelerator.

    >>> import xrsim
    >>> small = {"hardware.scratchpad_kib": 0.0009765625}
    >>> xrsim.run("AR_gaming", "J", 4096, flexibility="none", set=small)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    xrsim._errors.InfeasibleError: ...
    """


class SchedulerError(XrsimError):
    """A scheduler in another process failed in every run.

    >>> import xrsim
    >>> issubclass(xrsim.SchedulerError, xrsim.XrsimError)
    True
    """


class BusyError(XrsimError):
    """Another process is writing to the same place. The call may succeed later.

    >>> import xrsim
    >>> issubclass(xrsim.BusyError, xrsim.XrsimError)
    True
    """


class XrsimWarning(UserWarning):
    """Warning of the program, such as a network that an accelerator cannot run.

    >>> import xrsim
    >>> issubclass(xrsim.XrsimWarning, UserWarning)
    True
    """
