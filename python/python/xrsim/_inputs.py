"""Input files as values."""

from __future__ import annotations

import os
from typing import Any, Mapping, TypeVar

from . import _xrsim
from ._arguments import Words

Self = TypeVar("Self", bound="Input")


class Input:
    """An input file as a value: its keys, as a dict. It goes wherever its name or path goes.

    >>> import xrsim
    >>> mine = xrsim.scenario("AR_gaming").to_dict()
    >>> mine["scenario"]["name"] = "slower"
    >>> for model in mine["scenario"]["models"]:
    ...     model["fps"] = 15
    >>> results = xrsim.run(xrsim.Scenario.from_dict(mine), "J", 4096)
    >>> results[0].label["scenario"]
    'slower'
    """

    kind: str = ""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = dict(values)

    @classmethod
    def from_dict(cls: type[Self], values: Mapping[str, Any]) -> Self:
        """Return the input with these keys. They are checked where it is used, or by `xrsim.check`."""
        return cls(values)

    @classmethod
    def named(cls: type[Self], name: str | os.PathLike[str]) -> Self:
        """Read the input of a name or a path."""
        words = Words("show")
        words.add("name", name)
        _, values = _xrsim.contents(words.places[0])
        return cls(values)

    def to_dict(self) -> dict[str, Any]:
        """Return its keys."""
        import copy

        return copy.deepcopy(self._values)

    @property
    def name(self) -> str:
        """Name that the input gives itself."""
        inner = self._values.get(self.kind, {})
        return str(inner.get("name", "")) if isinstance(inner, dict) else ""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values == getattr(other, "_values", None)

    def __hash__(self) -> int:
        return hash(repr(self._values))

    def __repr__(self) -> str:
        return f"<xrsim.{type(self).__name__} {self.name}>"


class Scenario(Input):
    """A scenario: sensors, models and their dependencies.

    >>> import xrsim
    >>> xrsim.scenario("AR_gaming")
    <xrsim.Scenario AR_gaming>
    """

    kind = "scenario"


class System(Input):
    """A system, a style, or another input of hardware.

    >>> import xrsim
    >>> "style" in xrsim.system("J").to_dict() or "system" in xrsim.system("J").to_dict()
    True
    """

    kind = "system"


class Network(Input):
    """A network: its layers.

    >>> import xrsim
    >>> isinstance(xrsim.network("KD"), xrsim.Network)
    True
    """

    kind = "network"


def scenario(name: str | os.PathLike[str]) -> Scenario:
    """Read a scenario.

    >>> import xrsim
    >>> xrsim.scenario("VR_gaming").name
    'VR_gaming'
    """
    return Scenario.named(name)


def system(name: str | os.PathLike[str]) -> System:
    """Read a system or a style.

    >>> import xrsim
    >>> type(xrsim.system("M")).__name__
    'System'
    """
    return System.named(name)


def network(name: str | os.PathLike[str]) -> Network:
    """Read a network.

    >>> import xrsim
    >>> type(xrsim.network("HT")).__name__
    'Network'
    """
    return Network.named(name)
