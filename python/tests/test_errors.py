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


class Before:
    def decide(self, view: Any) -> Any:
        return xrsim.dispatch(view.ready[0], -1)


class Hoards:
    jobs: dict[int, Any] = {}

    def decide(self, view: Any) -> Any:
        job = view.ready[0]
        return xrsim.dispatch(self.jobs.setdefault(job.request, job), view.idle[0])


class Nests:
    def decide(self, view: Any) -> Any:
        return run(scheduler=Nests, replications=1)


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
        (lambda: run(scheduler=Before), TypeError, "accelerators are counted from 0, and -1 is none"),
        (lambda: run(scheduler=Hoards, replications=2), TypeError, "the job is of another run"),
        (lambda: run(scheduler=Nests, replications=1), RecursionError, "more than 64 deep"),
        (lambda: run(pes=[]), ValueError, "pes is empty"),
        (lambda: xrsim.run([], "J", 4096), ValueError, "scenario is empty"),
        (lambda: xrsim.Table.from_csv("a,a\n1,2\n"), ValueError, "two columns are called `a`"),
        (lambda: xrsim.Table.from_csv(""), ValueError, "there are no columns"),
        (lambda: xrsim.Table.from_csv("a\n\0\n"), ValueError, "a NUL character"),
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


def test_no_setting_is_no_setting() -> None:
    assert run(set=[]).scores.to_dict() == run(set={}).scores.to_dict() == run().scores.to_dict()
