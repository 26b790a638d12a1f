"""Arguments of functions as words of the command line.

Options exist once, in the program. A function takes those of the command of its name, with `_` for `-`.
"""

from __future__ import annotations

import difflib
import functools
import json
import os
from typing import Any

from . import _xrsim
from ._policy import given_policy, is_policy


@functools.lru_cache(maxsize=None)
def options(command: str) -> dict[str, dict[str, Any]]:
    """Options of a command by the name of their argument."""
    return {option["name"].replace("-", "_"): option for option in _xrsim.options(command)}


# Arguments of which none means none: settings and conditions.
_MAY_BE_EMPTY = ("set", "where")


def _is_empty(value: Any) -> bool:
    several = isinstance(value, (list, tuple, range, dict)) or _is_array(value)
    return several and len(value) == 0


class Words:
    """Words of a command, and what has to live until it ends."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.options = options(command)
        self.words: list[str] = []
        self.places: list[str] = []
        self.last: list[str] = []
        self.kept: list[Any] = []

    def add(self, name: str, value: Any) -> None:
        """Add an argument."""
        if value is None:
            return
        option = self.options.get(name)
        if option is None:
            near = difflib.get_close_matches(name, self.options, n=1)
            hint = f"; did you mean `{near[0]}`?" if near else ""
            raise TypeError(f"{self.command}() has no argument `{name}`{hint}")
        if option["value"] is None:
            if not isinstance(value, bool):
                raise TypeError(f"{name} is {value!r}; allowed is True or False")
            if value:
                self.words.append(f"--{option['name']}")
            return
        if _is_empty(value) and name not in _MAY_BE_EMPTY:
            raise ValueError(f"{name} is empty (--{option['name']}); leave it out, or give None, for what holds without it")
        for text in self._texts(name, option, value):
            if option["last"]:
                self.last.append(text)
            elif option["positional"]:
                # A word that begins with a dash would be an option.
                self.places.append(f"./{text}" if text.startswith("-") else text)
            else:
                self.words.append(f"--{option['name']}={text}")

    def all(self) -> list[str]:
        """All words, those without a name first."""
        return self.places + self.words + (["--", *self.last] if self.last else [])

    def _texts(self, name: str, option: dict[str, Any], value: Any) -> list[str]:
        if name in ("set", "where") and isinstance(value, dict):
            return [f"{key}={self._joined(name, item)}" for key, item in value.items()]
        several = isinstance(value, (list, tuple, range)) or _is_array(value)
        if several and not (option["repeated"] or option["positional"]):
            raise TypeError(f"{name} takes one value, not {len(value)}")
        return [self._text(name, option, item) for item in (value if several else [value])]

    def _joined(self, name: str, value: Any) -> str:
        several = isinstance(value, (list, tuple, range)) or _is_array(value)
        return ",".join(self._text(name, None, item) for item in (value if several else [value]))

    def _text(self, name: str, option: dict[str, Any] | None, value: Any) -> str:
        if hasattr(value, "item") and not isinstance(value, (str, bytes)) and _is_scalar(value):
            value = value.item()
        if isinstance(value, bool):
            if option is not None and option["number"]:
                raise TypeError(f"{name} is {value}; allowed is a number")
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            if name == "scheduler":
                raise TypeError(f"scheduler is {value!r}; {_allowed(name)}")
            return repr(value)
        if isinstance(value, str):
            if option is not None and option["number"]:
                raise TypeError(f"{name} is {value!r}; allowed is a number")
            return value
        if isinstance(value, os.PathLike):
            return _path(value)
        if isinstance(value, dict):
            return self._given(value)
        if hasattr(value, "to_dict") and not isinstance(value, type):
            return self._given(value.to_dict())
        if name == "scheduler" and is_policy(value):
            policy = given_policy(value)
            self.kept.append(policy)
            return policy.name
        raise TypeError(f"{name} is {value!r}, of type {type(value).__name__}; {_allowed(name)}")

    def _given(self, value: dict[str, Any]) -> str:
        given = _xrsim.Given(json.dumps(value, indent=1, default=_plain) + "\n")
        self.kept.append(given)
        return given.name


def _allowed(name: str) -> str:
    if name == "scheduler":
        return "allowed is a name, or a class with a method `decide`"
    return "allowed is text, a number, a path, or a dict in place of a file"


def _path(value: os.PathLike[Any]) -> str:
    path = os.fsdecode(value)
    # A bare word would be looked up among the names of the program first.
    is_bare = os.sep not in path and "." not in path
    return os.path.join(os.curdir, path) if is_bare else path


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r}, of type {type(value).__name__}, cannot stand in a file")


def _is_array(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 1 and hasattr(value, "tolist")


def _is_scalar(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 0
