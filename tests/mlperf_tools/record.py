"""Records one run of the real LoadGen: `python record.py CASE.json DIR [--table]`.

CASE.json is an entry of a file of cases as `xrsim validate loadgen --cases` reads them: scenario, mode, settings,
number of samples and the system (`sut`). DIR gets `detail/ID.txt` and `summary/ID.txt`, LoadGen's own logs, and
`queries/ID.csv`, with a row for each sample. The results of Offline, whose rows are thinned, are printed as JSON.

With `--table`, a table of the keys of the detailed log, `detail/ID.csv`, takes the place of both logs; keys of
LoadGen's own build, clock and threads are omitted.

Requires the package `mlcommons-loadgen`. Every run needs a process of its own, because LoadGen keeps its state in the process.
"""

import csv
import heapq
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import threading
import time

import mlperf_loadgen as loadgen

THINNED = 32
PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p97": 0.97, "p99": 0.99, "p99_9": 0.999}


class System:
    """A system under test that answers after known service times, without drift."""

    def __init__(self, sut):
        self.sut = sut
        self.mode = sut.get("mode", "fifo")
        self.speed = sut.get("speed", [1.0] * sut.get("servers", 1))
        self.free = [0] * len(self.speed)
        self.due = []
        self.queued = []
        self.count = 0
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def service(self, index, size):
        sut = self.sut
        if sut["kind"] == "const":
            return sut["ns"]
        if sut["kind"] == "bimodal":
            return sut["slow_ns"] if index % sut["mod"] == 0 else sut["fast_ns"]
        if sut["kind"] == "table":
            return sut["base_ns"] + index * sut["mul"] % sut["mod"] * sut["step_ns"]
        return sut["a_ns"] + sut["b_ns"] * size

    def push(self, due, ids, is_batch=False):
        self.count += 1
        heapq.heappush(self.due, (due, self.count, ids, is_batch))

    def job(self, now, samples):
        """One job on the server that is free first."""
        server = min(range(len(self.free)), key=self.free.__getitem__)
        service = self.service(samples[0].index, len(samples)) * self.speed[server]
        self.free[server] = max(now, self.free[server]) + int(service)
        self.push(self.free[server], [sample.id for sample in samples])

    def issue(self, samples):
        now = time.monotonic_ns()
        if self.mode == "block":
            time.sleep(self.service(samples[0].index, len(samples)) / 1e9)
            complete([sample.id for sample in samples])
            return
        with self.changed:
            if self.mode == "query":
                self.job(now, samples)
            elif self.mode == "dyn":
                self.queued += samples
                if self.free[0] <= now and not self.due:
                    self.batch(now)
            elif self.mode == "offbatch":
                size = self.sut["max_batch"]
                for first in range(0, len(samples), size):
                    self.job(now, samples[first : first + size])
            else:
                for sample in samples:
                    self.job(now, [sample])
            self.changed.notify()

    def batch(self, now):
        """The next batch of the queue."""
        size = self.sut["max_batch"]
        samples, self.queued = self.queued[:size], self.queued[size:]
        if samples:
            self.free[0] = now + self.service(samples[0].index, len(samples))
            self.push(self.free[0], [sample.id for sample in samples], True)

    def work(self):
        while True:
            with self.changed:
                while not self.due or self.due[0][0] > time.monotonic_ns():
                    wait = (self.due[0][0] - time.monotonic_ns()) / 1e9 if self.due else None
                    self.changed.wait(None if wait is None else max(wait, 1e-6))
                due, _, ids, is_batch = heapq.heappop(self.due)
                if is_batch:
                    self.batch(due)
            complete(ids)


def complete(ids):
    loadgen.QuerySamplesComplete([loadgen.QuerySampleResponse(id, 0, 0) for id in ids])


def run(case, folder):
    """Runs LoadGen, which writes its logs to `folder`."""
    settings = loadgen.TestSettings()
    settings.scenario = getattr(loadgen.TestScenario, case["scenario"])
    settings.mode = getattr(loadgen.TestMode, case.get("mode", "PerformanceOnly"))
    for name, value in case["settings"].items():
        setattr(settings, name, value)
    system = System(case["sut"])
    sut = loadgen.ConstructSUT(system.issue, lambda: None)
    library = loadgen.ConstructQSL(
        case["qsl_total_count"], case["qsl_perf_count"], lambda _: None, lambda _: None
    )
    output = loadgen.LogOutputSettings()
    output.outdir = str(folder)
    logs = loadgen.LogSettings()
    logs.log_output = output
    logs.enable_trace = True
    # The last argument would be a file of settings that replace these.
    loadgen.StartTestWithLogSettings(sut, library, settings, logs, "")


# The trace is not JSON where it quotes other text; its lines of samples are JSON.
SAMPLE = re.compile(
    r'"name":"Sample".*"ph":"b".*"ts":(\d+)\.(\d{3}),"args":\{"sample_seq":(\d+),"query_seq":(\d+),'
    r'"sample_idx":(\d+),"issue_start_ns":(-?\d+),"complete_ns":(\d+)\}'
)


def samples(trace):
    """Rows of the samples: number, query, index, when due [ns], issue delay and latency."""
    rows = []
    with open(trace, encoding="utf-8", errors="replace") as lines:
        for match in filter(None, map(SAMPLE.search, lines)):
            us, ns, *numbers = map(int, match.groups())
            number, query, index, delay, latency = numbers
            rows.append([number, query, index, 1000 * us + ns, delay, latency])
    rows.sort()
    first = rows[0][3]
    return [[*row[:3], row[3] - first, *row[4:]] for row in rows]


def measured(latencies):
    """Statistics as LoadGen computes them."""
    latencies = sorted(latencies)
    n = len(latencies)
    found = {name: latencies[int(n * p)] for name, p in PERCENTILES.items()}
    ends = {"min": latencies[0], "max": latencies[-1], "mean": sum(latencies) // n, "n": n}
    return found | ends


OWN = re.compile(r"loadgen_|logger_|power_|test_datetime|get_sut_name_duration_ns|sut_name|qsl_name")


def messages(log):
    """Lines of a detailed log as LoadGen writes it."""
    marker = ":::MLLOG "
    with open(log, encoding="utf-8") as lines:
        return [json.loads(line[len(marker) :]) for line in lines if line.startswith(marker)]


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_table(log, path):
    """A table of the keys that are not LoadGen's own, with their values as JSON."""
    rows = [["key", "is_error", "value"]]
    for it in messages(log):
        if not OWN.match(it["key"]):
            is_error = str(it["metadata"]["is_error"]).lower()
            rows.append([it["key"], is_error, json.dumps(it["value"])])
    write_rows(path, rows)


def real_time():
    """Raises the priority of the process if the host allows it, so that there are fewer stalls."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    except (AttributeError, PermissionError):
        pass


def main():
    case = json.loads(pathlib.Path(sys.argv[1]).read_text())
    out = pathlib.Path(sys.argv[2])
    found = {}
    real_time()
    with tempfile.TemporaryDirectory() as folder:
        logs = pathlib.Path(folder)
        run(case, logs)
        errors = [it["value"] for it in messages(logs / "mlperf_log_detail.txt") if it["key"] == "num_errors"]
        found |= {"num_errors": errors[0]} if errors else {}
        if "--table" in sys.argv[3:]:
            write_table(logs / "mlperf_log_detail.txt", out / "detail" / f"{case['id']}.csv")
        else:
            for name in ("detail", "summary"):
                (out / name).mkdir(parents=True, exist_ok=True)
                shutil.copy(logs / f"mlperf_log_{name}.txt", out / name / f"{case['id']}.txt")
        if case.get("mode", "PerformanceOnly") == "PerformanceOnly":
            rows = samples(logs / "mlperf_log_trace.json")
            header = "sample_seq,query_seq,sample_idx,scheduled_ns,issue_delay_ns,latency_ns".split(",")
            if case["scenario"] == "Offline":
                found["measured"] = measured(row[5] for row in rows)
                header = ["sample_seq", "complete_ns"]
                rows = [[row[0], row[5]] for row in rows if row[0] % THINNED == 0 or row is rows[-1]]
            write_rows(out / "queries" / f"{case['id']}.csv", [header, *rows])
    print(json.dumps(found))


if __name__ == "__main__":
    main()
