"""Schedulers written in Python."""

from __future__ import annotations

import sys
import textwrap
import traceback
from pathlib import Path
from typing import Any

import pytest

import xrsim


class Edf:
    """The native `edf`: earliest deadline, then earliest arrival, then order of models."""

    def __init__(self, setup: Any) -> None:
        self.n_models = len(setup.models)

    def decide(self, view: Any) -> Any:
        jobs = [job for job in view.ready if view.fastest_idle(job) is not None]
        if not jobs:
            return None
        job = min(jobs, key=lambda job: job.deadline_ns)
        return xrsim.dispatch(job, view.fastest_idle(job))


def test_native_python_and_external_twins_are_equal_bit_by_bit(tmp_path: Path) -> None:
    path = tmp_path / "edf.py"
    body = Path(__file__).read_text().split("class Edf:")[1].split("\ndef test_native")[0]
    path.write_text("import xrsim\nfrom typing import Any\n\nclass Edf:" + body + "\nxrsim.serve(Edf)\n")
    external = f"external:{sys.executable} {path}"
    for scenario, n in (("AR_gaming", 50), ("VR_gaming", 3)):
        native = xrsim.run(scenario, "J", 4096, scheduler="edf", replications=n)
        python = xrsim.run(scenario, "J", 4096, scheduler=Edf, replications=n)
        served = xrsim.run(scenario, "J", 4096, scheduler=external, replications=n)
        for other in (python, served):
            for name in ("scores", "models", "inferences"):
                expected, made = getattr(native, name).to_dict(), getattr(other, name).to_dict()
                expected.pop("scheduler"), made.pop("scheduler")
                assert made == expected, (scenario, name)
        assert python.scores["scheduler"][0] == "python:Edf"


def test_a_class_goes_wherever_a_scheduler_is_named() -> None:
    compared = xrsim.compare(["edf", Edf], scenario="AR_gaming", system="J", pes=4096, replications=5)
    assert sorted(compared.policies["scheduler"]) == ["edf", "python:Edf"]
    assert compared.policies["score"][0] == compared.policies["score"][1]
    swept = xrsim.sweep(scenario="AR_gaming", system="J", pes=4096, scheduler=["edf", Edf])
    assert swept.points["score"][0] == swept.points["score"][1]
    assert "largest loss" in xrsim.explain("AR_gaming", "J", 4096, scheduler=Edf, flexibility="none")


def test_a_policy_that_owns_another_one_is_given_up_with_it() -> None:
    import functools

    from xrsim._policy import given_policy

    class Owner(Edf):
        def __init__(self, owned: Any) -> None:
            self.owned = owned

    given = given_policy(functools.partial(Owner, given_policy(Edf)))
    assert given.name.startswith("python:")
    del given


def test_an_exception_comes_out_as_itself_with_its_line() -> None:
    class Fails:
        def decide(self, view: Any) -> Any:
            return 1 // (view.now_ns * 0)

    with pytest.raises(ZeroDivisionError) as raised:
        xrsim.run("AR_gaming", "J", 4096, scheduler=Fails, replications=1000)
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (Path(last.filename).name, last.line) == ("test_policies.py", "return 1 // (view.now_ns * 0)")
    if sys.version_info >= (3, 11):
        assert raised.value.__notes__ == ["in a run of AR_gaming at 0 ms, decision 1"]


def test_an_exception_in_the_constructor_comes_out() -> None:
    class Fails:
        def __init__(self, setup: Any) -> None:
            raise KeyError(setup.scenario)

        def decide(self, view: Any) -> Any:
            return None

    with pytest.raises(KeyError, match="AR_gaming"):
        xrsim.run("AR_gaming", "J", 4096, scheduler=Fails)


def test_each_run_makes_its_own_object_and_views_can_be_kept() -> None:
    made: list[Any] = []
    kept: list[Any] = []

    class Keeps:
        def __init__(self) -> None:
            made.append(self)

        def decide(self, view: Any) -> Any:
            kept.append(view)
            return xrsim.dispatch(view.ready[0], view.idle[0])

    xrsim.run("AR_gaming", "A", 4096, scheduler=Keeps, replications=3)
    assert len(made) == 3
    first = kept[0]
    assert first.now_ns == 0 and first.ready[0].arrival_ns == 0 and first.accelerators[0].idle
    assert sum(history.on_time for history in kept[-1].history) > 0


def test_granularities_and_drops() -> None:
    class Layers:
        options = {"preemption": "layer-boundary"}

        def decide(self, view: Any) -> Any:
            job = view.ready[0]
            if job.deadline_ns <= view.now_ns:
                return xrsim.drop(job)
            how = "layer" if job.model == 0 else xrsim.block(0.5)
            return xrsim.dispatch(job, view.idle[0], how)

    results = xrsim.run("VR_gaming", "J", 4096, scheduler=Layers)
    assert any(";" in segments for segments in results.inferences["segments"])

    class Wrong(Layers):
        def decide(self, view: Any) -> Any:
            return xrsim.dispatch(view.ready[0], view.idle[0], "half")

    with pytest.raises(TypeError, match="half; allowed is model, layer or xrsim.block"):
        xrsim.run("VR_gaming", "J", 4096, scheduler=Wrong)


def test_the_text_of_a_class_is_in_the_record() -> None:
    record = xrsim.run("AR_gaming", "J", 4096, scheduler=Edf).record
    assert len(record["inputs_sha256"]["python:Edf"]) == 64


def test_waiting_for_ever_ends_the_run() -> None:
    class Waits:
        def decide(self, view: Any) -> Any:
            return None

    results = xrsim.run("AR_gaming", "J", 4096, scheduler=Waits)
    assert results.scores["score"][0] == 0.0


def test_serve_answers_as_the_protocol_says() -> None:
    import io

    setup = '{"latency_ns": [[5, 9007199254000000]], "layer_latency_ns": [[[2, 3], [9007199254000000]]], "models": [{"task": "A"}]}\n'
    job = '{"request": 4, "model": 0, "next_layer": 1, "deadline_ns": 9}'
    view = '{"id": 1, "now_ns": 0, "ready": [%s], "idle": [0, 1], "accelerators": [], "history": [], "blocked": [0]}\n'
    out = io.StringIO()
    seen: list[Any] = []

    class Looks(Edf):
        def decide(self, view: Any) -> Any:
            seen.append(view.ready[0].remaining_ns)
            return super().decide(view)

    xrsim.serve(Looks, [setup, view % job], out)
    assert out.getvalue() == '{"id": 1, "do": "dispatch", "request": 4, "accelerator": 0}\n'
    assert seen == [[3, None]]
    assert textwrap.dedent("x") == "x"
