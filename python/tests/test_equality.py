"""Results of the package are those of the command line, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import pytest

import xrsim

Program = Callable[..., bytes]

RUNS: list[tuple[tuple[Any, ...], dict[str, Any], list[str]]] = [
    (("AR_gaming", "J", 4096), {}, ["--scenario=AR_gaming", "--system=J", "--pes=4096"]),
    (
        (["VR_gaming", "social_interactionA"], ["A", "M"], [4096, 8192]),
        {"scheduler": "edf:admission=hopeless", "replications": 3, "seed": 7, "set": {"score.k_per_ms": 5}},
        [
            "--scenario=VR_gaming,social_interactionA", "--system=A,M", "--pes=4096,8192", "--seed=7",
            "--scheduler=edf:admission=hopeless", "--replications=3", "--set=score.k_per_ms=5",
        ],
    ),
    (
        (),
        {"semantics": "mlsys2023", "without": ["name-order"]},
        ["--semantics=mlsys2023", "--without=name-order"],
    ),
    (
        ("AR_gaming", "WS:3 + OS:1", 4096),
        {"platform": "headset", "flexibility": "none", "duration": 250.0},
        [
            "--scenario=AR_gaming", "--system=WS:3 + OS:1", "--pes=4096", "--platform=headset",
            "--flexibility=none", "--duration=250.0",
        ],
    ),
]


@pytest.mark.parametrize("places,names,words", RUNS)
def test_files_of_runs_are_those_of_out(
    places: tuple[Any, ...], names: dict[str, Any], words: list[str], program: Program, tmp_path: Path
) -> None:
    results = xrsim.run(*places, **names)
    results.save(tmp_path / "python")
    program("run", *words, "--out", tmp_path / "program")
    for file in ("scores.csv", "models.csv", "inferences.csv", "run.json"):
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "program" / file).read_bytes(), file


def test_tables_have_the_values_of_the_files(tmp_path: Path) -> None:
    results = xrsim.run(["AR_gaming", "VR_gaming"], ["J", "A"], 4096, replications=4, scheduler="llf")
    results.save(tmp_path)
    for name, table in (("scores", results.scores), ("models", results.models), ("inferences", results.inferences)):
        written = xrsim.Table.read_csv(tmp_path / f"{name}.csv")
        columns = table.to_dict()
        for column, values in written.to_dict().items():
            if column in ("cause", "segments"):
                made = table[column].tolist()
            else:
                made = columns[column]
            # A column of texts that look like numbers, or without a value, has no type in a file.
            if made != values:
                assert [str(value or "") for value in made] == [str(value or "") for value in values], column
    assert [name for name in written if name not in ("cause", "segments")] == [
        name for name in results.inferences if name not in ("cause", "segments")
    ]
    again = xrsim.load(tmp_path)
    assert len(again) == len(results) and results.record.items() <= again.record.items()


def test_a_comparison_writes_the_files_of_the_command(program: Program, tmp_path: Path) -> None:
    compared = xrsim.compare(
        ["edf", "sjf"], scenario="AR_gaming", system="J", pes=4096, replications=5, out=tmp_path / "python"
    )
    words = ["--scenario=AR_gaming", "--system=J", "--pes=4096", "--replications=5"]
    printed = program(
        "compare", "--scheduler=edf", "--scheduler=sjf", *words, "--quiet", "--out", tmp_path / "program"
    )
    names = sorted(path.name for path in (tmp_path / "program").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "python").iterdir()) and len(names) > 4
    for name in names:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
    assert compared.text == printed.decode()
    in_memory = xrsim.compare(["edf", "sjf"], scenario="AR_gaming", system="J", pes=4096, replications=5)
    assert in_memory.policies.to_dict() == compared.policies.to_dict()


def test_a_day_writes_the_files_of_the_command(program: Program, tmp_path: Path) -> None:
    profile = {"profile": {"name": "errand", "phases": [{"name": "play", "scenario": "AR_gaming", "minutes": 0.5}]}}
    (tmp_path / "errand.yaml").write_text(json.dumps(profile))
    words = ["--device=headset", "--system=J", "--pes=4096", "--flexibility=none", "--replications=2", "--no-changes"]
    printed = program(
        "day", "--profile", tmp_path / "errand.yaml", *words, "--quiet", "--out", tmp_path / "program"
    )
    day = xrsim.day(profile, "headset", "J", 4096, flexibility="none", replications=2, no_changes=True)
    assert day.text == printed.decode()
    tables = ["course", "device", "phases", "replications"]
    assert sorted(day.tables) == tables
    for name in tables:
        assert day.files[f"{name}.csv"] == (tmp_path / "program" / f"{name}.csv").read_bytes(), name
    # The files of one run are of the first replication.
    assert day.phases["score"].tolist() == day.replications["score"].tolist()[:1]


def test_a_sweep_writes_the_rows_of_the_command_and_goes_on(program: Program, tmp_path: Path) -> None:
    spec = tmp_path / "mine.yaml"
    spec.write_text(
        "sweep:\n  name: mine\n  grid:\n    scenario: [AR_gaming]\n    flexibility: [none]\n"
        "    system: [J]\n    pes: [1024, 2048, 4096]\n    scheduler: [edf, sjf]\n"
    )
    program("sweep", spec, "--out", tmp_path / "program.csv")
    rows = (tmp_path / "program.csv").read_bytes()
    made = xrsim.sweep(spec, out=tmp_path / "python.csv")
    assert (tmp_path / "python.csv").read_bytes() == rows
    assert (tmp_path / "python.csv.json").read_bytes() == (tmp_path / "program.csv.json").read_bytes()
    assert made.points.n_rows == 6 and made.points["pes"].tolist() == [1024, 1024, 2048, 2048, 4096, 4096]
    # The file of an interrupted sweep lacks its last rows.
    lines = rows.splitlines(keepends=True)
    (tmp_path / "python.csv").write_bytes(b"".join(lines[:4]))
    told: list[tuple[int, int]] = []
    xrsim.sweep(spec, out=tmp_path / "python.csv", progress=lambda done, total: told.append((done, total)))
    assert (tmp_path / "python.csv").read_bytes() == rows
    assert told[-1] == (6, 6)


def test_printed_tables_are_those_of_the_command(program: Program) -> None:
    cost = xrsim.cost("KD", dataflow="WS", pes=1024)
    words = ["--network=KD", "--dataflow=WS", "--pes=1024"]
    assert cost.files["layers.csv"] == program("cost", *words, "--format=csv")
    assert cost.text == program("cost", *words).decode()
    # Dataflows as they are written take no search.
    assert xrsim.explain("AR_gaming", "J", 4096, flexibility="none") == program(
        "explain", "--scenario=AR_gaming", "--system=J", "--pes=4096", "--flexibility=none"
    ).decode()
    assert xrsim.show("AR_gaming") == program("show", "AR_gaming").decode()


def test_a_search_and_a_load_test_write_the_files_of_the_command(program: Program, tmp_path: Path) -> None:
    options = ["--scenario=AR_gaming", "--dataflow=WS,OS", "--accelerators=2", "--max-pes=1024", "--step=256"]
    options += ["--replications=2", "--set=flexibility=none"]
    program("search", *options, "--out", tmp_path / "program")
    found = xrsim.search(
        scenario="AR_gaming", dataflow=["WS", "OS"], accelerators=2, max_pes=1024, step=256, replications=2,
        set={"flexibility": "none"}, out=tmp_path / "python",
    )
    assert found.evaluated.n_rows > 0
    for path in (tmp_path / "program").iterdir():
        if path.suffix in (".csv", ".yaml"):
            assert (tmp_path / "python" / path.name).read_bytes() == path.read_bytes(), path.name
    test = ["--task=image_classification_heavy", "--system=A", "--pes=4096", "--load=offline", "--flexibility=none"]
    program("mlperf", "inference", *test, "--out", tmp_path / "mlperf")
    tested = xrsim.mlperf(
        "inference", task="image_classification_heavy", system="A", pes=4096, load="offline", flexibility="none"
    )
    assert tested.files["suite.csv"] == (tmp_path / "mlperf" / "suite.csv").read_bytes()


def test_a_dict_is_the_file_with_its_contents(tmp_path: Path, program: Program) -> None:
    mine = xrsim.scenario("AR_gaming").to_dict()
    mine["scenario"]["name"] = "mine"
    for model in mine["scenario"]["models"]:
        model["fps"] = 20
    by_dict = xrsim.run(mine, "J", 4096)
    import json

    path = tmp_path / "mine.yaml"
    path.write_text(json.dumps(mine))
    by_path = xrsim.run(path, "J", 4096)
    assert by_dict.scores.to_dict() == by_path.scores.to_dict()
    assert by_dict[0].label["scenario"] == "mine"
    assert xrsim.Scenario.from_dict(mine) == xrsim.Scenario.named(path)
    assert xrsim.check(mine, path) == ["scenario", "scenario"]


def test_every_shipped_input_comes_back_as_a_dict() -> None:
    for name in xrsim.lists("scenarios")["scenario"]:
        scenario = xrsim.scenario(name)
        assert xrsim.run(scenario, "J", 4096, flexibility="none").scores.to_dict() == xrsim.run(
            name, "J", 4096, flexibility="none"
        ).scores.to_dict()
