#!/usr/bin/env python3
"""Write `python/xrsim/_commands.py`, the functions of the package, from the options of the program.

    python generate.py [--check]

It needs the built package. With `--check` it only says whether the file is up to date.
"""

from __future__ import annotations

import keyword
import re
import sys
import textwrap
from pathlib import Path
from typing import Any, Iterable

from xrsim import _xrsim

TARGET = Path(__file__).parent / "python" / "xrsim" / "_commands.py"

# Options of the command line only: how it prints.
PRINTED = {"format", "detail", "matrix", "explain-columns"}

HEAD = '''"""Functions of the package: the commands of the program, with their options.

Written by `generate.py` from the options of the program. Do not edit.
"""

from __future__ import annotations

from typing import Any, Sequence

from . import _calls
from ._calls import Given, Number, Progress, Report
from ._results import Results, run_words

'''


class Function:
    """A function: its command, places of its first arguments, what it calls, and an example."""

    def __init__(
        self, command: str, first: str, returns: str, body: str, example: str, *,
        name: str | None = None, without: str = "", result: str,
    ) -> None:
        self.command, self.first, self.returns, self.body = command, first.split(), returns, body
        self.example, self.name, self.without = example, name or command.split()[-1], set(without.split())
        self.result = result


FUNCTIONS = [
    Function(
        "run", "scenario system pes", "Results",
        'words = _calls.words_of("run", locals())\n    return run_words(words, _calls.observer(progress, "run"))',
        '>>> xrsim.run("AR_gaming", "J", 4096, scheduler=["edf"][0], seed=1)\n<xrsim.Results 1 run, 0 infeasible>',
        without="out trace arrivals", result="Every scenario runs on every system. Without `scenario`, `system` and `pes`, the whole suite runs.",
    ),
    Function(
        "compare", "scheduler", "Report", 'return _calls.of_folder("compare", locals())',
        '>>> compared = xrsim.compare(["edf", "sjf"], scenario="AR_gaming", system="J", pes=4096, replications=5)\n'
        '>>> compared.policies.n_rows\n2',
        result="Tables: `policies`, `pairs`, `configurations` and `metrics`.",
    ),
    Function(
        "sweep", "spec", "Report", 'return _calls.of_rows("sweep", locals())',
        '>>> swept = xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096])\n'
        '>>> swept.points["pes"].tolist()\n[1024, 4096]',
        result="The table `points` has a row for each point. With `out`, an interrupted sweep goes on after its last row.",
    ),
    Function(
        "day", "profile device system pes", "Report", 'return _calls.of_folder("day", locals())',
        '>>> phases = [{"name": "play", "scenario": "AR_gaming", "minutes": 1}]\n'
        '>>> day = xrsim.day({"profile": {"name": "errand", "phases": phases}}, "headset", "J", 4096, flexibility="none",\n'
        '...     no_changes=True)\n'
        '>>> sorted(day.tables), day.phases["name"].tolist()\n([\'course\', \'device\', \'phases\'], [\'play\'])',
        without="plot width no-title",
        result="Tables: `phases`; with a device also `device`, a row, and `course`; with several replications `replications`. "
        "Without\n    `no_changes`, `text` has the change that helps most, for which about ten more runs are made.",
    ),
    Function(
        "search", "spec", "Report", 'return _calls.of_folder("search", locals())',
        '>>> found = xrsim.search(scenario="AR_gaming", dataflow=["WS", "OS"], accelerators=2, max_pes=1024, step=256,\n'
        '...     replications=2, set={"flexibility": "none"})\n'
        '>>> "evaluated" in found.tables\nTrue',
        result="Tables: `evaluated`, and further ones that depend on the question.",
    ),
    Function(
        "map", "network", "Report", 'return _calls.printed("map", "mappings", locals())',
        '>>> xrsim.map("KD", layer="conv2", dataflow="WS", pes=1024, effort="quick").mappings.n_rows\n1',
        result="The table `mappings` has a row for each layer and dataflow.",
    ),
    Function(
        "cost", "network", "Report", 'return _calls.printed("cost", "layers", locals())',
        '>>> cost = xrsim.cost("KD", dataflow="WS", pes=1024)\n>>> bool(cost.layers["runtime_cycles"].sum() > 0)\nTrue',
        without="plot plot-cycles roofline explain width no-title",
        result="The table `layers` has a row for each layer.",
    ),
    Function(
        "area", "system", "Report", 'return _calls.printed("area", "areas", locals())',
        '>>> xrsim.area("J", pes=4096).areas.n_rows > 0\nTrue',
        result="The table `areas` has the area and the leakage of each system.",
    ),
    Function(
        "mlperf", "benchmark", "Report", 'return _calls.of_folder("mlperf", locals())',
        '>>> tested = xrsim.mlperf("inference", task="image_classification_heavy", system="A", load="offline",\n'
        '...     pes=4096, flexibility="none")\n'
        '>>> tested.suite.n_rows\n1',
        without="trace", result="The table `suite` has a row for each test.",
    ),
    Function(
        "sensitivity", "scenario system pes", "Report", 'return _calls.of_folder("sensitivity", locals())',
        '>>> moved = xrsim.sensitivity("AR_gaming", "J", 4096, flexibility="none", factor=["score.k_per_ms"])\n'
        '>>> moved.sensitivity.n_rows > 0\nTrue',
        result="The table `sensitivity` has a row for each factor.",
    ),
    Function(
        "reproduce", "figure", "Report", 'return _calls.of_folder("reproduce", locals())',
        '>>> study = xrsim.reproduce(6, semantics="mlsys2023")\n>>> len(study.figures()) > 0\nTrue',
        result="Tables and figures of the published study.",
    ),
    Function(
        "explain", "scenario system pes", "str", 'return _calls.text("explain", locals())',
        '>>> "largest loss" in xrsim.explain("AR_gaming", "J", 1024, flexibility="none")\nTrue',
        result="The text says which models, frames and causes lose most.",
    ),
    Function(
        "parts status", "folder", "str", 'return _calls.text("parts status", locals())',
        '>>> import tempfile\n>>> with tempfile.TemporaryDirectory() as folder:\n...     part = f"{folder}/mine.1-of-2.csv"\n'
        '...     xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096], shard="1/2", out=part).points.n_rows\n'
        '...     "done" in xrsim.status(folder)\n1\nTrue',
        result="The text says which parts are done, under way and missing.",
    ),
    Function(
        "parts merge", "files", "bytes", 'return _calls.of_file("parts merge", locals(), ".csv")',
        '>>> import tempfile\n>>> with tempfile.TemporaryDirectory() as folder:\n'
        '...     parts = [f"{folder}/{i}.csv" for i in (1, 2)]\n'
        '...     for i, part in enumerate(parts):\n'
        '...         points = xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096], shard=f"{i + 1}/2", out=part)\n'
        '...     xrsim.merge(parts).count(b"\\n")\n3',
        result="Returns the joined rows as CSV.",
    ),
    Function(
        "import", "file", "str", 'return _calls.text("import", locals())',
        '>>> import pathlib\n>>> xrsim.import_network(pathlib.Path("mine.onnx"))  # doctest: +ELLIPSIS\n'
        'Traceback (most recent call last):\n...\nxrsim._errors.InputError: ...',
        name="import_network", without="", result="Returns the YAML of the network. `json`-like values go by `xrsim.Network`.",
    ),
    Function(
        "report", "folder", "bytes", 'return _calls.of_file("report", locals(), ".html")',
        '>>> import tempfile\n>>> with tempfile.TemporaryDirectory() as folder:\n'
        '...     xrsim.run("AR_gaming", "J", 4096).save(folder)\n'
        '...     xrsim.report(folder).lower().startswith(b"<!doctype html>")\nTrue',
        result="Returns the page as HTML. With `out` it is also written.",
    ),
    Function(
        "plot", "file", "bytes", 'return _calls.of_file("plot", locals(), ".svg")',
        '>>> import tempfile\n>>> with tempfile.TemporaryDirectory() as folder:\n'
        '...     rows = xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096], out=f"{folder}/a.csv")\n'
        '...     xrsim.plot(f"{folder}/a.csv", kind="pareto").startswith(b"<svg")\nTrue',
        result="Returns the figure as SVG. With `out` it is also written, in the format of its ending.",
    ),
    Function(
        "validate", "", "str", 'return _calls.text("validate", locals())',
        '>>> xrsim.validate  # doctest: +ELLIPSIS\n<function validate at ...>',
        result="The text has the comparisons with reference data.",
    ),
]


def argument(option: dict[str, Any]) -> str:
    name = option["name"].replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def kind(option: dict[str, Any]) -> str:
    if option["value"] is None:
        return "bool"
    if option["name"] in ("set", "where"):
        return "dict[str, Any] | None"
    one = "Number" if option["number"] else "Given"
    several = option["repeated"] or option["positional"]
    return f"{one} | Sequence[{one}] | None" if several else f"{one} | None"


def described(option: dict[str, Any], names: Iterable[str]) -> str:
    text = " ".join(option["help"].split())
    # Words of the command line as they are called here.
    text = text.replace("follow after `--`", "are `sbatch_options`").replace("`-- --", "`--")
    for name in names:
        text = re.sub(rf"(?<![\w`-])--{name.replace('_', '-')}(?![\w=-])", f"`{name}`", text)
    text = text[0].upper() + text[1:] if text else ""
    words = f" One of {', '.join(option['words'])}." if option["words"] else ""
    text = text if text.endswith(".") else text + "."
    lines = textwrap.wrap(f"{text}{words}", 100)
    return f"        {argument(option)}: " + "\n            ".join(lines)


def written(function: Function) -> str:
    options = {argument(option): option for option in _xrsim.options(function.command)}
    left_out = PRINTED | function.without | {"replay"}
    options = {name: it for name, it in options.items() if it["name"] not in left_out}
    first = [name for name in function.first if name in options]
    rest = [name for name in options if name not in first]
    lines = [f"    {name}: {kind(options[name])} = {default(options[name])}," for name in first]
    lines.append("    *,")
    lines += [f"    {name}: {kind(options[name])} = {default(options[name])}," for name in rest]
    lines.append("    progress: Progress = None,")
    about = (_xrsim.about(function.command) or "").rstrip(".")
    arguments = "\n".join(described(options[name], options) for name in [*first, *rest])
    example = "\n    ".join([">>> import xrsim", *function.example.split("\n")])
    escaped = arguments.replace("\\", "\\\\")
    doc = (
        f'    """{about}.\n\n    {function.result}\n\n    Arguments:\n{escaped}\n'
        f"        progress: True shows a bar of tqdm; a function gets what is done and how much there is.\n\n"
        f'    {example}\n    """'
    )
    example_escaped = doc.replace('b"\\n"', 'b"\\\\n"')
    return (
        f"def {function.name}(\n" + "\n".join(lines) + f"\n) -> {function.returns}:\n{example_escaped}\n"
        f"    {function.body}\n"
    )


def default(option: dict[str, Any]) -> str:
    return "False" if option["value"] is None else "None"


def main() -> int:
    text = HEAD + "\n\n".join(written(function) for function in FUNCTIONS)
    if sys.argv[1:] == ["--check"]:
        if TARGET.read_text() == text:
            return 0
        print(f"{TARGET.name} is not what the options of the program say: run generate.py")
        return 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
