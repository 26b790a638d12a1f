"""Ctrl-C, forks, threads and copies."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import xrsim

# What is interrupted, and the arguments that make it long enough.
CALLS = {
    "many runs": "xrsim.run('AR_gaming', 'J', 4096, replications=900_000, duration=20_000, flexibility='none')",
    "one long run": "xrsim.run('VR_gaming', 'A', 4096, duration=20_000_000, flexibility='none')",
    "preparing": "xrsim.run(replications=5000)",
    "costing": "xrsim.cost(flexibility='any', effort='full', dataflow=['WS', 'OS', 'RS'], pes=16384)",
    "a Python policy": "xrsim.run('AR_gaming', 'J', 4096, scheduler=First, replications=100_000)",
    "a policy that does not come back": "xrsim.run('AR_gaming', 'J', 4096, scheduler=Loops)",
    "sweep": "xrsim.sweep(scenario='AR_gaming', system='J', seed=list(range(200_000)), duration=20_000)",
    "compare": "xrsim.compare(['edf', 'sjf'], replications=10_000)",
    "search": "xrsim.search('two_way')",
    "mlperf": "xrsim.mlperf('inference', min_duration=36_000, system='A')",
}

SCRIPT = """
import os, signal, sys, threading, time
import xrsim
# A process in the background of a shell begins with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
class First:
    def decide(self, view):
        return xrsim.dispatch(view.ready[0], view.idle[0])
class Loops:
    def decide(self, view):
        while True:
            pass
def interrupt():
    time.sleep(0.6)
    global sent
    sent = time.process_time()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
    {call}
    print("ended")
except KeyboardInterrupt:
    print(time.process_time() - sent)
xrsim.run("AR_gaming", "J", 4096)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_every_kind_of_work(name: str, tmp_path: Path) -> None:
    script = SCRIPT.replace("{call}", CALLS[name])
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=dict(os.environ, RAYON_NUM_THREADS="2"),
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
        text=True,
    )
    assert done.stdout != "ended\n", f"{name} is too short to be interrupted"
    # CPU time of both threads, which other programs do not change much: at most 0.2 s.
    assert float(done.stdout) < 2.0


def score() -> float:
    return float(xrsim.run("AR_gaming", "J", 4096).scores["score"][0])


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_other_processes_run_after_a_first_run(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system has no {method}")
    expected = score()
    with multiprocessing.get_context(method).Pool(2) as pool:
        made = [pool.apply_async(score) for _ in range(4)]
        assert [it.get(timeout=60) for it in made] == [expected] * 4


def test_threads_run_at_once_and_others_go_on() -> None:
    expected = xrsim.run("AR_gaming", "J", 4096, replications=20).scores.to_dict()
    made: list[Any] = []
    ticks = 0

    def run() -> None:
        made.append(xrsim.run("AR_gaming", "J", 4096, replications=20).scores.to_dict())

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        ticks += 1
        time.sleep(0.0005)
    assert made == [expected] * 4


def test_another_thread_goes_on_during_a_run() -> None:
    stop = threading.Event()
    ticks: list[float] = []

    def tick() -> None:
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    xrsim.run("AR_gaming", "J", 4096, replications=5000)
    stop.set()
    thread.join()
    assert len(ticks) > 3


def test_results_and_tables_are_copied_by_pickle() -> None:
    results = xrsim.run("AR_gaming", "J", 4096, replications=2)
    again = pickle.loads(pickle.dumps(results))
    for name in ("scores", "models", "inferences"):
        assert getattr(again, name).to_dict() == getattr(results, name).to_dict()
    assert again.record == results.record and len(again) == 2
    # More than tables is made again by the same request.
    assert again[1].timeline().svg == results[1].timeline().svg


def test_import_is_light() -> None:
    script = "import sys, xrsim; print(sorted(set(sys.modules) & {'numpy', 'pandas', 'gymnasium', 'pyarrow', 'logging'}))"
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True, text=True)
    assert done.stdout == "[]\n"


def test_the_command_line_comes_with_the_package() -> None:
    done = subprocess.run([sys.executable, "-m", "xrsim", "--version"], stdout=subprocess.PIPE, check=True, text=True)
    assert done.stdout.startswith(f"xrsim {xrsim.__version__}")
    wrong = subprocess.run([sys.executable, "-m", "xrsim", "run", "--pes", "0"], stderr=subprocess.PIPE, text=True)
    assert wrong.returncode == 2 and "pes is `0`" in wrong.stderr
    assert os.environ["XRSIM_CACHE"] == ""
