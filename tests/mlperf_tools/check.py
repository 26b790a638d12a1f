#!/usr/bin/env python3
"""Checks the logs of `xrsim mlperf --out` with MLPerf's own tools.

    python3 tests/mlperf_tools/check.py --xrsim target/release/xrsim --inference DIR --python PYTHON ...

--inference DIR   a clone of github.com/mlcommons/inference, with its tags and branches. For every round and load, at the counts
                  and durations of the round, the newest `tools/submission/log_parser.py` has to load the log, and the
                  submission checker of the round (of its tag or branch) must accept the result; every key that its source
                  requires has to be in the log, and the keys have to be those in the source of that LoadGen.
--python PYTHON   an interpreter that has the package `mlcommons-loadgen`; repeat for several versions. Of LoadGen 6
                  every case of `--cases` is run for real and compared key by key by `xrsim validate loadgen`. Of
                  LoadGen 4.1 to 5.1 every load is run for real with the settings that xrsim logged for that round;
                  keys, their order, settings, samples and counts of queries have to be equal.
--cases FILE      cases for that, as `xrsim validate loadgen` reads them; by default those that come with the program.
--case ID         only this case; repeat for several.

Nothing is installed, and no file of LoadGen is kept. Checks without their option are skipped with a message.
"""

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import logging
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = HERE.parents[1] / "validation" / "loadgen_logs" / "cases.json"
LOADS = ["single-stream", "multi-stream", "server", "offline"]
TASK = "image_classification_heavy"
MODEL = "resnet"

# Rounds, and the tags or branches of their checkers. A checker reads older rounds, too. The checker of v0.7
# stops at single-stream logs of its own round, so that the checker of v1.0 replaces it.
ROUNDS = {
    "v0.5": "v0.7", "v0.7": "v1.0.1", "v1.0": "v1.0.1", "v1.1": "r1.1", "v2.0": "v2.0", "v2.1": "v2.1",
    "v3.0": "v3.0", "v3.1": "v3.1", "v4.0": "v4.0", "v4.1": "v4.1", "v5.0": "v5.0.1", "v5.1": "v5.1",
}  # fmt: skip

# Keys that checkers require of kinds of runs that xrsim does not make.
OF_OTHER_RUNS = {
    "accuracy_score": "accuracy runs",
    "effective_accuracy_sample_count": "accuracy runs of LoadGen 6",
    "requested_use_token_latencies": "language models with token latencies",
    "result_first_token_99.00_percentile_latency_ns": "language models with token latencies",
    "result_time_per_output_token_99.00_percentile_ns": "language models with token latencies",
    "result_tokens_per_second": "language models with token latencies",
    "result_completed_tokens_per_second": "language models with token latencies",
    "result_inferred_tokens_per_second": "language models with token latencies",
    "result_inferred_completed_tokens_per_second": "language models with token latencies",
    "result_token_throughput_with_loadgen_overhead": "language models with token latencies",
}

# Keys that only some loads have.
OF_LOADS = {
    "result_qps_without_loadgen_overhead": ["single-stream"],
    "result_qps_with_loadgen_overhead": ["single-stream"],
    "early_stopping_latency_ss": ["single-stream"],
    "early_stopping_latency_ms": ["single-stream", "multi-stream"],
    "result_99.00_percentile_per_query_latency_ns": ["multi-stream"],
    "result_mean_query_latency_ns": ["multi-stream"],
    "result_scheduled_samples_per_sec": ["server"],
    "result_completed_samples_per_sec": ["server"],
    "result_samples_per_second": ["offline"],
}

# Keys of LoadGen's own build, clock and threads, and names that its user gives.
OWN = re.compile(r"loadgen_|logger_|power_|test_datetime|get_sut_name_duration_ns|sut_name|qsl_name")


class Tally:
    """Comparisons; the first differences are printed."""

    def __init__(self):
        self.compared = 0
        self.differing = []

    def check(self, holds, what):
        self.compared += 1
        if not holds:
            self.differing.append(what)

    def report(self, title):
        equal = self.compared - len(self.differing)
        print(f"{title}: {equal} of {self.compared}")
        for what in self.differing[:20]:
            print(f"  {what}")
        return not self.differing


def run_round(xrsim, folder, round_name, *more):
    """Runs the tests of one round; returns the folder of its loads."""
    out = folder / round_name
    command = [xrsim, "mlperf", "inference", "--round", round_name, "--task", TASK, "--out", out, *more]
    subprocess.run([str(it) for it in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return out / TASK


def messages(path):
    marker = ":::MLLOG "
    return [json.loads(line.removeprefix(marker)) for line in path.read_text().splitlines()]


class Tools:
    """`tools/submission` of a clone at a tag or on a branch."""

    def __init__(self, clone, tag, folder):
        self.folder = folder / tag
        tag = ref(clone, tag)
        self.folder.mkdir(parents=True, exist_ok=True)
        listing = git(clone, "ls-tree", "-r", "--name-only", tag, "tools/submission/").splitlines()
        for name in listing:
            path = pathlib.PurePosixPath(name)
            if path.suffix == ".py" and "directory_structure" not in name:
                target = self.folder / path.relative_to("tools/submission")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(git(clone, "show", f"{tag}:{name}"))

    def module(self, *names):
        """The first module of these names that exists."""
        path = next(path for path in (self.folder / f"{name}.py" for name in names) if path.exists())
        sys.path.insert(0, str(self.folder))
        sys.modules.pop("log_parser", None)
        try:
            spec = importlib.util.spec_from_file_location(f"tools_{path.stem}_{len(sys.modules)}", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(self.folder))
        return module, path.read_text()


def git(clone, *arguments):
    command = ["git", "-C", str(clone), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def ref(clone, name):
    """A tag or branch; in a fresh clone a branch is one of `origin`."""
    known = subprocess.run(["git", "-C", str(clone), "rev-parse", "-q", "--verify", name], capture_output=True)
    return name if known.returncode == 0 else f"origin/{name}"


def asked_keys(source, version, load):
    """Keys that a checker requires of a log, from its source: those in brackets, and that of the result."""
    keys = set(re.findall(r"(?:mlperf_log|perf_log)\[\s*\"([a-z_0-9.]+)\"\s*\]", source))
    keys |= set(re.findall(r"\"([a-z_0-9.]+)\" in mlperf_log", source))
    table = re.search(r"^RESULT_FIELD_NEW = (\{.*?^\})", source, re.MULTILINE | re.DOTALL)
    if table:
        fields = ast.literal_eval(table.group(1))
        fields = fields.get(version, fields)
        scenario = {"single-stream": "SingleStream", "multi-stream": "MultiStream"}.get(load, load.title())
        if scenario == "MultiStream" and version < "v2.0" and "MultiStreamLegacy" in fields:
            scenario = "MultiStreamLegacy"
        keys.add(fields[scenario])
    since = {"result_query_count": "v2.0", "early_stopping_met": "v2.0", "early_stopping_result": "v2.0"}
    is_of = lambda key: (
        key not in OF_OTHER_RUNS
        and load in OF_LOADS.get(key, [load])
        and version >= since.get(key, "v0")
        and not (key == "result_mean_query_latency_ns" and version < "v2.0")
    )
    return {key for key in keys if is_of(key)}


# A key of invalid runs, with the reason.
INVALID = ["--load", "server", "--service", "constant:ms=2", "--qps", "600", "--min-duration", "1"]

# Keys of errors, and of kinds of runs that xrsim does not make.
OF_OTHER_LOGS = re.compile(r"error_|warning_|.*token|.*_ttft_|.*_tpot_|.*_time_per_output")


def loadgen_keys(clone, tag):
    """Every key in the source of LoadGen; composed keys have `*` for the parts that are not text."""
    files = git(clone, "ls-tree", "--name-only", ref(clone, tag), "loadgen/").split()
    source = "".join(git(clone, "show", f"{ref(clone, tag)}:{name}") for name in files if name.endswith(".cc"))
    call = r"MLPERF_LOG(?:_[A-Z]+)*\(\s*(?:detail|GlobalLogger\(\)),\s*((?:\"[^\"]*\"|[^,\"])+),"
    keys = set()
    for key in re.findall(call, source):
        parts = re.findall(r"\"([^\"]*)\"", key)
        keys.add("*".join(parts))
    return keys


def check_keys(options, round_name, tag, logs, tally):
    """Compares the keys of a round with those in the source of its LoadGen."""
    ours = {re.sub(r"\d+\.\d+", "*", it["key"]) for log in logs for it in log}
    expected = {key for key in loadgen_keys(options.inference, tag) if not OF_OTHER_LOGS.match(key)}
    for key in sorted(ours | expected):
        where = "only here" if key in ours else "missing"
        tally.check(key in ours and key in expected, f"{round_name}: {key} {where}")


def verdict(checker, version, place, load):
    """Verdict of the checker of a round on a folder: whether it is valid, and the result."""
    # Before v1.0 there was no map of names of models.
    takes_models = "extra_model_benchmark_map" in checker.Config.__init__.__code__.co_varnames
    config = checker.Config(version, {}) if takes_models else checker.Config(version)
    config.set_type("edge")
    scenario = {"single-stream": "SingleStream", "multi-stream": "MultiStream"}.get(load, load.title())
    code = checker.check_performance_dir.__code__
    given = {
        "config": config, "model": MODEL, "path": str(place), "scenario_fixed": scenario, "division": "closed",
        "system_json": {"system_type": "edge"}, "has_power": False,
    }  # fmt: skip
    found = checker.check_performance_dir(*(given[name] for name in code.co_varnames[: code.co_argcount]))
    return found[0], found[1]


def check_rounds(options, folder):
    """Checks every load of every round with the log parser and with the round's own checker."""
    loads, keys, verdicts, of_source = Tally(), Tally(), Tally(), Tally()
    newest, _ = Tools(options.inference, "HEAD", folder / "tools").module("log_parser")
    for version, tag in ROUNDS.items():
        tools = Tools(options.inference, tag, folder / "tools")
        checker, source = tools.module("submission_checker", "submission-checker")
        place = run_round(options.xrsim, folder, version, "--service", "constant:ms=2")
        for load in LOADS:
            name = f"{version} {load}"
            log = newest.MLPerfLog(str(place / load / "mlperf_log_detail.txt"))
            loads.check(log.num_messages() > 60 and not log.has_error() and not log.has_warning(), name)
            accuracy = json.loads((place / load / "mlperf_log_accuracy.json").read_text())
            loads.check(accuracy == [], f"{name}: accuracy log")
            for key in sorted(asked_keys(source, version, load)):
                keys.check(log[key] is not None, f"{name}: no {key}")
            said = io.StringIO()
            handler = logging.StreamHandler(said)
            handler.setLevel(logging.ERROR)
            logging.getLogger().addHandler(handler)
            try:
                valid, result = verdict(checker, version, place / load, load)
                # Of the five runs of a server the least one counts; all but the first have seeds of their own.
                of_five = load == "server" and version < "v1.0" and "schedule_rng_seed is wrong" in said.getvalue()
                good = valid and result > 0 and (of_five or not said.getvalue())
                verdicts.check(good, f"{name}: {valid}, {result}; {said.getvalue().strip()}")
            except Exception as error:  # whatever another program may raise
                verdicts.check(False, f"{name}: {error!r}")
            logging.getLogger().removeHandler(handler)
        # Before v1.0 there were no keys; those rounds have the keys of v1.0.
        of_keys = "v1.0.1" if version < "v1.0" else tag
        logs = [messages(place / load / "mlperf_log_detail.txt") for load in LOADS]
        place = run_round(options.xrsim, folder / "invalid", version, *INVALID)
        logs.append(messages(place / "server" / "mlperf_log_detail.txt"))
        check_keys(options, version, of_keys, logs, of_source)
    rounds = len(ROUNDS)
    good = loads.report(f"logs of {rounds} rounds and {len(LOADS)} loads that log_parser.py loads, and accuracy logs")
    good &= keys.report("keys that the submission checkers ask for and that are there")
    good &= of_source.report("keys of the rounds and of the source of their LoadGen")
    return verdicts.report("results that the submission checker of the round accepts") & good


def version_of(python):
    program = "import importlib.metadata as it; print(it.version('mlcommons-loadgen'))"
    found = subprocess.run([python, "-c", program], capture_output=True, text=True)
    return found.stdout.strip() if found.returncode == 0 else None


def record(python, case, folder):
    """Runs the real LoadGen; returns its results of the case."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "case.json"
    path.write_text(json.dumps(case))
    command = [python, str(HERE / "record.py"), str(path), str(folder)]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode:
        raise RuntimeError(f"{case['id']}: {found.stderr[-500:]}")
    return json.loads(found.stdout.splitlines()[-1])


SETTINGS = ["id", "scenario", "mode", "sut", "settings", "qsl_perf_count", "qsl_total_count"]


def check_cases(options, python, version, folder):
    """Runs cases with the real LoadGen and compares them by xrsim."""
    out = folder / f"cases_{version}"
    cases = json.loads(pathlib.Path(options.cases).read_text())
    chosen = [case for case in cases if not options.case or case["id"] in options.case]
    recorded = []
    for case in chosen:
        case = {key: case[key] for key in SETTINGS if key in case}
        recorded.append(case | record(python, case, out))
    (out / "cases.json").write_text(json.dumps(recorded))
    command = [options.xrsim, "validate", "loadgen", "--cases", str(out)]
    found = subprocess.run(command, capture_output=True, text=True)
    print(f"LoadGen {version}, run now:\n{found.stdout}{found.stderr}", end="")
    logs = [messages(path) for path in sorted((out / "detail").glob("*.txt"))]
    keys = sum(len({it["key"] for it in log}) for log in logs)
    own = sum(len({it["key"] for it in log if OWN.match(it["key"])}) for log in logs)
    print(f"  {len(logs)} cases, {keys} keys, of which {own} LoadGen's own")
    return found.returncode == 0


def case_of(log, load):
    """A case with the requested settings of a log."""
    asked = {it["key"]: it["value"] for it in log}
    # What is 0 or false is so by default, and not every version lets Python set it.
    settings = {
        key.removeprefix("requested_"): value
        for key, value in asked.items()
        if key.startswith("requested_") and value and not isinstance(value, str)
    }
    return {
        "id": load, "scenario": asked["requested_scenario"], "mode": asked["requested_test_mode"],
        "sut": {"kind": "const", "ns": 4_000_000, "mode": "seqsamples"}, "settings": settings,
        "qsl_perf_count": asked["qsl_reported_performance_count"],
        "qsl_total_count": asked["qsl_reported_total_count"],
    }  # fmt: skip


def check_round_live(options, python, version, folder):
    """Compares short tests of a round with the LoadGen of that round and the same settings.

    The package 4.1 was built with a compiler before GCC 11, whose library permutes samples otherwise: of those that
    are loaded only the set is compared. The package 5.0 counts errors, which LoadGen at the tag of v5.0 did not.
    """
    round_name = f"v{version[:3]}"
    more = ["--service", "constant:ms=4", "--min-duration", "1", "--min-queries", "150", "--qps", "50"]
    place = run_round(options.xrsim, folder / "live", round_name, *more)
    tally, own = Tally(), 0
    for load in LOADS:
        ours = messages(place / load / "mlperf_log_detail.txt")
        record(python, case_of(ours, load), folder / f"live_{version}")
        of_loadgen = messages(folder / f"live_{version}" / "detail" / f"{load}.txt")
        keys = [it["key"] for it in of_loadgen if it["key"] != "num_errors" or round_name != "v5.0"]
        tally.check([it["key"] for it in ours] == keys, f"{load}: keys {set(keys) ^ {it['key'] for it in ours}}")
        for one, other in zip(ours, [it for it in of_loadgen if it["key"] in keys]):
            if OWN.match(one["key"]):
                own += 1
            elif not one["key"].startswith(("result_", "early_stopping_")):
                name = f"{load}: {one['key']}: {one['value']} for {other['value']}"
                found, expected = one["value"], other["value"]
                if one["key"] == "loaded_qsl_set" and version < "5":
                    found, expected = set(found), set(expected)
                tally.check(found == expected, name)
                of = "is_error", "is_warning"
                tally.check(all(one["metadata"][it] == other["metadata"][it] for it in of), name)
    title = f"LoadGen {version} with the settings of round {round_name}: sequences, values and flags ({own} own)"
    return tally.report(title)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--xrsim", default="target/release/xrsim")
    parser.add_argument("--inference")
    parser.add_argument("--python", action="append", default=[])
    parser.add_argument("--cases", default=CASES)
    parser.add_argument("--case", action="append")
    options = parser.parse_args()
    options.xrsim = str(pathlib.Path(options.xrsim).resolve())
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.inference:
            with contextlib.redirect_stderr(io.StringIO()):
                good &= check_rounds(options, folder)
        else:
            print("skipped: log parser and submission checkers (no --inference)")
        if not options.python:
            print("skipped: LoadGen itself (no --python with the package mlcommons-loadgen)")
        for python in options.python:
            version = version_of(python)
            if version is None:
                print(f"skipped: {python} has no package mlcommons-loadgen")
            elif version.startswith("6."):
                good &= check_cases(options, python, version, folder)
            else:
                good &= check_round_live(options, python, version, folder)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
