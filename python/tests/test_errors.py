"""Wrong arguments and wrong input."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import xrsim


class NoDecide:
    pass


class Says:
    def decide(self, view: Any) -> Any:
        return "run it"


class Far:
    def decide(self, view: Any) -> Any:
        return xrsim.dispatch(view.ready[0], 17)


def run(**names: Any) -> xrsim.Results:
    return xrsim.run("AR_gaming", "J", **{"pes": 4096, **names})


@pytest.mark.parametrize(
    "call,kind,words",
    [
        (lambda: run(pes=0), ValueError, "allowed is a whole number from 1"),
        (lambda: run(pes=-1), ValueError, "allowed is a whole number from 1"),
        (lambda: run(pes="x"), TypeError, "allowed is a number"),
        (lambda: run(pes=True), TypeError, "allowed is a number"),
        (lambda: run(duration=float("nan")), ValueError, "allowed is a number"),
        (lambda: run(set={"score.k": 1}), ValueError, "no setting named `score.k`"),
        (lambda: run(scheduler="edff"), xrsim.UnknownNameError, "did you mean `edf`"),
        (lambda: run(scheduler=3), TypeError, "a class with a method `decide`"),
        (lambda: run(scheduler=NoDecide), AttributeError, "has no method `decide`"),
        (lambda: run(scheduler=Says()), TypeError, "each run makes its own"),
        (lambda: run(scheduler=Says), TypeError, "'run it'; allowed are"),
        (lambda: run(scheduler=Far), TypeError, "accelerator 17 is not idle"),
        (lambda: run(matrix=True), TypeError, "matrix"),
        (lambda: xrsim.run("AR_gaming", "J", 4096, scheduler=["edf", "sjf"]), TypeError, "takes one value"),
        (lambda: xrsim.compare([]), ValueError, "--scheduler"),
        (lambda: xrsim.cost("nothing"), xrsim.UnknownNameError, "nothing"),
        (lambda: xrsim.lists("nothing"), xrsim.UnknownNameError, "no list named `nothing`"),
        (lambda: xrsim.sweep("absent.yaml"), xrsim.InputError, "absent.yaml"),
        (lambda: run(progress=lambda done, total: 1 / 0), ZeroDivisionError, "division"),
    ],
)
def test_mistakes_are_exceptions_that_say_what_is_allowed(
    call: Callable[[], Any], kind: type[BaseException], words: str
) -> None:
    with pytest.raises(kind) as raised:
        call()
    assert words in str(raised.value), str(raised.value)


def test_an_unknown_name_has_its_neighbours() -> None:
    with pytest.raises(xrsim.UnknownNameError) as raised:
        xrsim.run("AR_gamin", "J", 4096)
    assert (raised.value.kind, raised.value.name, raised.value.nearest) == ("scenario", "AR_gamin", "AR_gaming")
    assert "VR_gaming" in raised.value.known


def test_every_problem_of_a_file_has_its_place(tmp_path: Any) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("scenario:\n  name: bad\n  modls: []\n  sensors: 3\n")
    with pytest.raises(xrsim.InputError) as raised:
        xrsim.check(path)
    problems = raised.value.problems
    assert len(problems) >= 2
    assert (problems[0]["line"], problems[0]["column"], problems[0]["end_line"]) == (3, 3, 3)
    assert problems[0]["file"] == str(path) and "modls" in problems[0]["message"]
    with pytest.raises(xrsim.InputError, match="dict:"):
        xrsim.check({"scenario": {"name": "bad", "modls": []}})


def test_runs_without_scores_are_rows_with_a_reason_unless_all_are(tmp_path: Any) -> None:
    small = {"hardware.scratchpad_kib": 0.0009765625}
    with pytest.raises(xrsim.InfeasibleError):
        run(flexibility="none", set=small)
    tables = tmp_path / "service.csv"
    some = xrsim.run("AR_gaming", ["J", "A"], 4096, duration=0.001, set={"load.jitter": "false"})
    assert len(some) == 2 and tables.exists() is False


def test_a_progress_function_gets_what_is_done() -> None:
    told: list[tuple[int, int]] = []
    xrsim.run("AR_gaming", "J", 4096, replications=50, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (50, 50)
    assert all(before <= after for (before, _), (after, _) in zip(told, told[1:]))
