"""Functions of the package: the commands of the program, with their options.

Written by `generate.py` from the options of the program. Do not edit.
"""

from __future__ import annotations

from typing import Any, Sequence

from . import _calls
from ._calls import Given, Number, Progress, Report
from ._results import Results, run_words

def run(
    scenario: Given | Sequence[Given] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | Sequence[Number] | None = None,
    *,
    networks: Given | None = None,
    semantics: Given | None = None,
    without: Given | Sequence[Given] | None = None,
    scheduler: Given | None = None,
    replications: Number | None = None,
    duration: Number | None = None,
    seed: Number | None = None,
    set: dict[str, Any] | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    technology: Given | None = None,
    device: Given | None = None,
    cost_model: Given | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    progress: Progress = None,
) -> Results:
    """Run scenarios on systems and print their scores.

    Every scenario runs on every system. Without `scenario`, `system` and `pes`, the whole suite runs.

    Arguments:
        scenario: Usage scenario: a name or a file; repeat for several, or separate them by commas [default: the seven
            of the suite].
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        pes: PEs of the whole system, for styles; repeat for several, or separate them by commas [default: 4096,
            8192].
        networks: Layers of the networks: their true operators (strides, padding, groups, attention), or the dense
            convolutions of the published artifact [default: reference; artifact with mlsys2023 semantics]. One
            of reference, artifact.
        semantics: Rules of the run: by the intent of the paper, or as the published artifact ran them, to the last
            digit. One of principled, mlsys2023.
        without: Quirks that are left out: rules of the published artifact, with mlsys2023 semantics; repeat for
            several, or separate them by commas [default: none].
        scheduler: Scheduler, with its parameters (`edf`, `dream:alpha=0.5`) [default: latency-greedy].
        replications: Independent replications of every run [default: 30 of each run with random draws; 1 with --out,
            --trace, `--format csv`, `--format json` or `--semantics mlsys2023`].
        duration: Span in which requests arrive [ms] [default: 1000.0].
        seed: Seed of every random draw.
        set: Any other setting (see `xrsim list settings`); repeat for several.
        dataflow: Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        device: Supply of the accelerators: operating points, leakage, gates, and the power around them [default:
            none].
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest; maestro with mlsys2023 semantics].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> xrsim.run("AR_gaming", "J", 4096, scheduler=["edf"][0], seed=1)
    <xrsim.Results 1 run, 0 infeasible>
    """
    words = _calls.words_of("run", locals())
    return run_words(words, _calls.observer(progress, "run"))


def compare(
    scheduler: Given | Sequence[Given] | None = None,
    *,
    scenario: Given | Sequence[Given] | None = None,
    profile: Given | Sequence[Given] | None = None,
    networks: Given | None = None,
    semantics: Given | None = None,
    without: Given | Sequence[Given] | None = None,
    replications: Number | None = None,
    half_width: Given | None = None,
    duration: Number | None = None,
    seed: Number | None = None,
    enumerate: bool = False,
    steady: bool = False,
    set: dict[str, Any] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | Sequence[Number] | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    technology: Given | None = None,
    device: Given | Sequence[Given] | None = None,
    cost_model: Given | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    by: Given | None = None,
    pairs: bool = False,
    window: Number | None = None,
    tune: bool = False,
    out: Given | None = None,
    width: Given | None = None,
    no_title: bool = False,
    dry_run: bool = False,
    restart: bool = False,
    shard: Given | None = None,
    join: Given | Sequence[Given] | None = None,
    sbatch: Given | None = None,
    submit: bool = False,
    sbatch_options: Given | Sequence[Given] | None = None,
    progress: Progress = None,
) -> Report:
    """Compare schedulers on common random numbers, with 95 % confidence intervals.

    Tables: `policies`, `pairs`, `configurations` and `metrics`.

    Arguments:
        scheduler: Scheduler, with its parameters; repeat for each, or separate them by commas: KEY=VALUE after a comma
            is one more parameter of the scheduler before it, and an external command goes to the end of its
            option [default: all online schedulers].
        scenario: Usage scenario: a name or a file; repeat for several, or separate them by commas [default: the seven
            of the suite].
        profile: Profile in place of scenarios, hours of use: a name or a file; repeat for several, or separate them
            by commas [default: none].
        networks: Layers of the networks: their true operators (strides, padding, groups, attention), or the dense
            convolutions of the published artifact [default: reference; artifact with mlsys2023 semantics]. One
            of reference, artifact.
        semantics: Rules of the run: by the intent of the paper, or as the published artifact ran them, to the last
            digit. One of principled, mlsys2023.
        without: Quirks that are left out: rules of the published artifact, with mlsys2023 semantics; repeat for
            several, or separate them by commas [default: none].
        replications: Independent replications, of every configuration.
        half_width: Replicate to a precision: until half of the 95 % interval of the mean of every scheduler is at most
            X (30 replications at least, 1000 at most).
        duration: Span in which requests arrive [ms] [default: 1000.0].
        seed: Seed of every random draw.
        enumerate: Use every pattern of triggers, with its probability, instead of draws, where there are few patterns.
        steady: Steady state instead of a cold start: ten seconds at random sensor phases, with one second of warm-
            up.
        set: Any other setting (see `xrsim list settings`); repeat for several.
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        pes: PEs of the whole system, for styles; repeat for several, or separate them by commas [default: 4096,
            8192].
        dataflow: Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        device: Supply of the accelerators: operating points, leakage, gates, and the power around them; repeat for
            several, or separate them by commas [default: none].
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest; maestro with mlsys2023 semantics].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        by: Column of the ranking (a score, `missed` or `energy_mj`; of profiles `missed_share`, `hours` or
            `mean_w`) [default: score, the primary metric, by which `run` also ranks; profile_score for
            profiles].
        pairs: Compare all pairs of schedulers, not only each with the best.
        window: Also bound the score by windows: by exact optima of windows of N frames of the first replication,
            which take up to seconds each; for schedulers with model granularity.
        tune: Search alpha and beta of every `dream` given, as its authors do, for the least UXCost of the first
            replication.
        out: Folder of the results (policies.csv, pairs.csv, configurations.csv, metrics.csv of models and
            chains, LaTeX tables, and the figures of differences and of critical differences).
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        dry_run: Print points, time and parts, and write nothing: some points are timed on this machine.
        restart: Begin the part again, and discard what is in the folder.
        shard: Make the I-th of N equal parts of the replications only, into the folder of `out`.
        join: Folder of a part (`shard`) whose replications are taken; repeat for each. The result is that of a
            comparison without parts.
        sbatch: Print a job script of N parts for Slurm, which continues after kills, power cuts, preemption and
            time limits; `auto` makes parts of about half an hour. Options for sbatch are `sbatch_options`.
        submit: Submit the script of `sbatch`, and a job that joins the parts.
        sbatch_options: Options for sbatch, such as `--partition=long --mem=2G`.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> compared = xrsim.compare(["edf", "sjf"], scenario="AR_gaming", system="J", pes=4096, replications=5)
    >>> compared.policies.n_rows
    2
    """
    return _calls.of_folder("compare", locals())


def sweep(
    spec: Given | Sequence[Given] | None = None,
    *,
    scenario: Given | Sequence[Given] | None = None,
    profile: Given | Sequence[Given] | None = None,
    networks: Given | Sequence[Given] | None = None,
    semantics: Given | Sequence[Given] | None = None,
    without: Given | Sequence[Given] | None = None,
    scheduler: Given | Sequence[Given] | None = None,
    replications: Number | None = None,
    duration: Number | Sequence[Number] | None = None,
    seed: Number | Sequence[Number] | None = None,
    set: dict[str, Any] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | Sequence[Number] | None = None,
    platform: Given | Sequence[Given] | None = None,
    dram: Given | Sequence[Given] | None = None,
    technology: Given | Sequence[Given] | None = None,
    device: Given | Sequence[Given] | None = None,
    cost_model: Given | Sequence[Given] | None = None,
    flexibility: Given | Sequence[Given] | None = None,
    mapping_objective: Given | Sequence[Given] | None = None,
    effort: Given | Sequence[Given] | None = None,
    out: Given | None = None,
    dry_run: bool = False,
    restart: bool = False,
    shard: Given | None = None,
    sbatch: Given | None = None,
    submit: bool = False,
    sbatch_options: Given | Sequence[Given] | None = None,
    progress: Progress = None,
) -> Report:
    """Make many runs and write a row for each; an interrupted sweep continues.

    The table `points` has a row for each point. With `out`, an interrupted sweep goes on after its last row.

    Arguments:
        spec: Sweep file, or the name of a built-in sweep.
        scenario: Usage scenario: a name or a file [default: the seven of the suite].
        profile: Profile in place of scenarios, hours of use: a name or a file [default: none].
        networks: Layers of the networks: their true operators (strides, padding, groups, attention), or the dense
            convolutions of the published artifact [default: reference; artifact with mlsys2023 semantics].
        semantics: Rules of the run: by the intent of the paper, or as the published artifact ran them, to the last
            digit.
        without: Quirks that are left out: rules of the published artifact, with mlsys2023 semantics [default: none].
        scheduler: Scheduler, with its parameters (`edf`, `dream:alpha=0.5`) [default: latency-greedy].
        replications: Independent replications of every point.
        duration: Span in which requests arrive [ms] [default: 1000.0].
        seed: Seed of every random draw.
        set: Values of any other setting (see `xrsim list settings`); repeat for several settings.
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file) [default: A to M].
        pes: PEs of the whole system, for styles [default: 4096, 8192].
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split].
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        device: Supply of the accelerators: operating points, leakage, gates, and the power around them [default:
            none].
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest; maestro with mlsys2023 semantics].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles].
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp].
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default].
        out: File of the rows. A record of the inputs is written beside it as FILE.csv.json [default: the name of
            the sweep's file, ending in .csv, in the working directory].
        dry_run: Print points, time and parts, and write nothing: some points are timed on this machine.
        restart: Begin the file again and discard its rows.
        shard: Make the I-th of N equal parts only.
        sbatch: Print a job script of N parts for Slurm, which continues after kills, power cuts, preemption and
            time limits; `auto` makes parts of about half an hour. Options for sbatch are `sbatch_options`.
        submit: Submit the script of `sbatch`, and a job that joins the parts.
        sbatch_options: Options for sbatch, such as `--partition=long --mem=2G`.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> swept = xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096])
    >>> swept.points["pes"].tolist()
    [1024, 4096]
    """
    return _calls.of_rows("sweep", locals())


def day(
    profile: Given | None = None,
    device: Given | None = None,
    system: Given | None = None,
    pes: Number | None = None,
    *,
    networks: Given | None = None,
    scheduler: Given | None = None,
    replications: Number | None = None,
    seed: Number | None = None,
    set: dict[str, Any] | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    technology: Given | None = None,
    cost_model: Given | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    out: Given | None = None,
    trace: Given | None = None,
    no_changes: bool = False,
    progress: Progress = None,
) -> Report:
    """Run a profile, hours of use, on a device: battery, heat, throttling and score.

    Tables: `phases`; with a device also `device`, a row, and `course`; with several replications `replications`. Without
    `no_changes`, `text` has the change that helps most, for which about ten more runs are made.

    Arguments:
        profile: Profile: a name (`xrsim list profiles`) or a file.
        device: Supply of the accelerators: operating points, leakage, gates, and the power around them [default:
            none].
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file).
        pes: PEs of the whole system, for styles.
        networks: Layers of the networks: their true operators (strides, padding, groups, attention), or the dense
            convolutions of the published artifact [default: reference; artifact with mlsys2023 semantics]. One
            of reference, artifact.
        scheduler: Scheduler, with its parameters (`edf`, `dream:alpha=0.5`) [default: latency-greedy].
        replications: Independent replications, whose means are printed with 95 % intervals.
        seed: Seed of every random draw.
        set: Any other setting (see `xrsim list settings`); repeat for several.
        dataflow: Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest; maestro with mlsys2023 semantics].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        out: Folder of files: phases.csv and day.json; with a device device.csv and course.csv; with several
            replications replications.csv.
        trace: Write the whole day as a trace for Perfetto (ui.perfetto.dev) or chrome://tracing: phases, times in
            which gates are closed, and temperatures, power by item, charge and the limit of the clock of the
            device. It has at most about 2,000 values of each, and no requests: `xrsim run `trace`` has those of
            a scenario.
        no_changes: Do not look for the change that helps most, which takes about ten runs.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> phases = [{"name": "play", "scenario": "AR_gaming", "minutes": 1}]
    >>> day = xrsim.day({"profile": {"name": "errand", "phases": phases}}, "headset", "J", 4096, flexibility="none",
    ...     no_changes=True)
    >>> sorted(day.tables), day.phases["name"].tolist()
    (['course', 'device', 'phases'], ['play'])
    """
    return _calls.of_folder("day", locals())


def search(
    spec: Given | Sequence[Given] | None = None,
    *,
    scenario: Given | Sequence[Given] | None = None,
    scheduler: Given | Sequence[Given] | None = None,
    replications: Number | None = None,
    set: dict[str, Any] | None = None,
    accelerators: Given | None = None,
    max_pes: Given | None = None,
    exactly: bool = False,
    step: Given | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    technology: Given | None = None,
    flexibility: Given | None = None,
    effort: Given | None = None,
    objective: Given | Sequence[Given] | None = None,
    over: Given | Sequence[Given] | None = None,
    constraint: Given | Sequence[Given] | None = None,
    method: Given | None = None,
    stop: Given | Sequence[Given] | None = None,
    require_proof: bool = False,
    proof_for: Given | None = None,
    out: Given | None = None,
    audit: bool = False,
    width: Given | None = None,
    no_title: bool = False,
    dry_run: bool = False,
    restart: bool = False,
    shard: Given | None = None,
    join: Given | Sequence[Given] | None = None,
    sbatch: Given | None = None,
    submit: bool = False,
    sbatch_options: Given | Sequence[Given] | None = None,
    progress: Progress = None,
) -> Report:
    """Find the best system of a space, with a proof or with a stated gap.

    Tables: `evaluated`, and further ones that depend on the question.

    Arguments:
        spec: Search file, or the name of a built-in search. Options replace its keys.
        scenario: Usage scenario: a name or a file; repeat for several, or separate them by commas [default: those of
            the suite].
        scheduler: Scheduler, with its parameters; repeat for each, or separate them by commas: KEY=VALUE after a comma
            is one more parameter of the scheduler before it, and an external command goes to the end of its
            option [default: latency-greedy, edf:admission=hopeless, value:admission=hopeless].
        replications: Draws of every scenario with random inputs [default: 30].
        set: Any other setting of the runs (see `xrsim list settings`); repeat for several.
        accelerators: Number of accelerators, or a range such as 1..3 [default: 1..2].
        max_pes: Most PEs of a system [default: 4096].
        exactly: Take no smaller systems: all have exactly `max_pes` PEs. A larger budget can then be worse.
        step: PEs of an accelerator are multiples of N [default: 128].
        dataflow: Dataflow of accelerators: a name or a file; repeat for several, or separate them by commas [default:
            WS, OS, RS].
        platform: Platform of the systems: clock, bandwidth and memory [default: headset].
        technology: Technology of areas and leakage.
        flexibility: Choices of every accelerator for each layer [default: tiles].
        effort: Work of the search for these choices in one layer [default: default].
        objective: Quantity to optimise (two or three, separated by commas, for their front) [default:
            score_executed_mean].
        over: Treatment of several scenarios (mean, min for the worst, or each by itself); several are separated
            by commas.
        constraint: Limit of a quantity, such as 'area_mm2<=60'; repeat for several, or separate them by commas.
        method: Method: auto, bound, exhaustive or evolve.
        stop: Rule that ends the search early, such as gap_percent=0.5, minutes=10 or runs=1000000; repeat for
            several, or separate them by commas.
        require_proof: Fail unless the answer is proven: the optimum of the space under the schedulers of `proof_for`.
        proof_for: Schedulers that `require_proof` covers (listed: those of the search; keeping: all that keep a
            request where it began; any); for keeping and any, no system may be more than gap_percent (`stop`)
            better. One of listed, keeping, any.
        out: Folder of the results (evaluated.csv, the front, the best system as a file, and a journal with which
            the same command continues).
        audit: Also write the bounds of excluded systems, so that a script can check the proof.
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        dry_run: Print points, time and parts, and write nothing: some points are timed on this machine.
        restart: Begin again and discard the journal in the folder.
        shard: Search the I-th of N parts of the systems only.
        join: Folder of a part (`shard`) whose runs are taken; repeat for each. The result is that of a search
            without parts.
        sbatch: Print a job script of N parts for Slurm, which continues after kills, power cuts, preemption and
            time limits; `auto` makes parts of about half an hour. Options for sbatch are `sbatch_options`.
        submit: Submit the script of `sbatch`, and a job that joins the parts.
        sbatch_options: Options for sbatch, such as `--partition=long --mem=2G`.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> found = xrsim.search(scenario="AR_gaming", dataflow=["WS", "OS"], accelerators=2, max_pes=1024, step=256,
    ...     replications=2, set={"flexibility": "none"})
    >>> "evaluated" in found.tables
    True
    """
    return _calls.of_folder("search", locals())


def map(
    network: Given | Sequence[Given] | None = None,
    *,
    networks: Given | None = None,
    layer: Given | None = None,
    set: dict[str, Any] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    flexibility: Given | None = None,
    objective: Given | None = None,
    effort: Given | None = None,
    mapspace: Given | None = None,
    levels: Given | None = None,
    sizes: Given | None = None,
    gap: Number | None = None,
    no_rule: Given | Sequence[Given] | None = None,
    out: Given | None = None,
    table: Given | None = None,
    dry_run: bool = False,
    restart: bool = False,
    shard: Given | None = None,
    join: Given | Sequence[Given] | None = None,
    sbatch: Given | None = None,
    submit: bool = False,
    sbatch_options: Given | Sequence[Given] | None = None,
    progress: Progress = None,
) -> Report:
    """Find the best mapping of every layer of networks, and its largest distance to the optimum.

    The table `mappings` has a row for each layer and dataflow.

    Arguments:
        network: Network (task or file); with values of its parameters (`PD:regions=100`) if it has some; repeat for
            more, or separate them by commas [default: all of the suite].
        networks: Layers of the networks: the true operators, or those of the published artifact. One of reference,
            artifact.
        layer: This layer of the networks only.
        set: Change of the hardware of `system`, such as hardware.dram_bandwidth_bytes_per_cycle=x2; repeat for
            several.
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        pes: Number of PEs (processing elements) [default: 4096].
        dataflow: Dataflow: a name or a file; repeat for more, or separate them by commas [default: WS, OS, RS].
        platform: Platform (its clock, memories and energies) [default: headset].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        flexibility: Choices that are open (`any`: all of a mapping; `tiles`: what one `dataflow` leaves open, its sizes
            and orders; `axes`: also the axes that are spread). One of tiles, axes, any.
        objective: Objective of the search (least `cycles`, `energy` or product of both, `edp`; `cycles,energy`: least
            energy among mappings within 1 % of the least cycles; `pareto`: all Pareto-optimal mappings). One of
            cycles, energy, edp, cycles,energy, pareto.
        effort: Work of the search for one layer (`default` as in runs, `quick` less, `full` more and with exact
            search). One of quick, default, full.
        mapspace: Mapspace to search: a name or a file.
        levels: Least and largest number of levels of a mapping, with `--flexibility any` [default: 1..3].
        sizes: Sizes of chunks [default: all, as in runs]. One of divisors, powers, balanced, all.
        gap: Distance to the bound [percent], at which the search of a layer ends.
        no_rule: Leave out a rule of exact search; repeat for more, or separate them by commas. One of order-classes,
            skeleton-bounds, tile-bounds, level-bounds.
        out: Write the mappings of one network, as a dataflow that `cost` and systems take; with `shard`, the
            folder of the part.
        table: Write the table of mappings, as it comes with the program, into this folder: all networks, or those
            of `network`, on the accelerators of the styles A to M at 4,096 and 8,192 PEs, on the platforms
            `paper` and `headset`.
        dry_run: Print points, time and parts, and write nothing: some points are timed on this machine.
        restart: Begin the part again, and discard what is in the folder.
        shard: Make the I-th of N equal parts of the searches only, into the folder of `out`.
        join: Folder of a part (`shard`) whose results are taken; repeat for each. The result is that of a command
            without parts.
        sbatch: Print a job script of N parts for Slurm, which continues after kills, power cuts, preemption and
            time limits; `auto` makes parts of about half an hour. Options for sbatch are `sbatch_options`.
        submit: Submit the script of `sbatch`, and a job that joins the parts.
        sbatch_options: Options for sbatch, such as `--partition=long --mem=2G`.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> xrsim.map("KD", layer="conv2", dataflow="WS", pes=1024, effort="quick").mappings.n_rows
    1
    """
    return _calls.printed("map", "mappings", locals())


def cost(
    network: Given | Sequence[Given] | None = None,
    *,
    networks: Given | None = None,
    layer: Given | None = None,
    batch: Given | Sequence[Given] | None = None,
    set: dict[str, Any] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | Sequence[Number] | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    noc_bandwidth: Given | Sequence[Given] | None = None,
    cost_model: Given | Sequence[Given] | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    progress: Progress = None,
) -> Report:
    """Compute cycles and energy of every layer of networks.

    The table `layers` has a row for each layer.

    Arguments:
        network: Network (task or file); with values of its parameters (`PD:regions=100`) if it has some; repeat for
            more, or separate them by commas [default: all of the suite].
        networks: Layers of the networks: the true operators, or those of the published artifact. One of reference,
            artifact.
        layer: This layer of the networks only.
        batch: Batch size: print time and energy of the batch, and the split into smaller batches that is fastest;
            repeat for more, or separate them by commas.
        set: Change of the hardware of `system`, such as hardware.dram_bandwidth_bytes_per_cycle=x2; repeat for
            several.
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        pes: Number of PEs (processing elements); repeat for more, or separate them by commas [default: 4096].
        dataflow: Dataflow: a name or a file; repeat for more, or separate them by commas [default: WS, OS, RS].
        platform: Platform (its clock, memories and energies) [default: headset].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        noc_bandwidth: Bandwidth of every NoC level, outermost first [byte/cycle; default: that of the platform].
        cost_model: Cost model, or a CSV file of measurements; repeat for more, or separate them by commas [default:
            loop-nest].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> cost = xrsim.cost("KD", dataflow="WS", pes=1024)
    >>> bool(cost.layers["runtime_cycles"].sum() > 0)
    True
    """
    return _calls.printed("cost", "layers", locals())


def area(
    system: Given | Sequence[Given] | None = None,
    *,
    network: Given | Sequence[Given] | None = None,
    networks: Given | None = None,
    set: dict[str, Any] | None = None,
    pes: Number | Sequence[Number] | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    technology: Given | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    sizes: Given | None = None,
    plot: Given | None = None,
    width: Given | None = None,
    no_title: bool = False,
    progress: Progress = None,
) -> Report:
    """Compute the area and power of systems, term by term.

    The table `areas` has the area and the leakage of each system.

    Arguments:
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        network: Network (task or file); with values of its parameters (`PD:regions=100`) if it has some; repeat for
            more, or separate them by commas [default: all of the suite].
        networks: Layers of the networks: the true operators, or those of the published artifact. One of reference,
            artifact.
        set: Any other setting of the hardware, such as hardware.shared_memory_kib; repeat for several.
        pes: PEs of the whole system, for styles; repeat for several, or separate them by commas [default: 4096,
            8192].
        dataflow: Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        sizes: Sizes of scratchpads and cluster buffers: those that the platform or system declares, or the least
            that the networks need. A note names the need in any case where memories take most of an area. One
            of declared, needed.
        plot: Draw where the area goes, a bar for each accelerator, as .svg, .pdf or .png, with the data beside it
            as .csv.
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> xrsim.area("J", pes=4096).areas.n_rows > 0
    True
    """
    return _calls.printed("area", "areas", locals())


def mlperf(
    benchmark: Given | Sequence[Given] | None = None,
    *,
    task: Given | Sequence[Given] | None = None,
    load: Given | Sequence[Given] | None = None,
    round: Given | None = None,
    suite: Given | None = None,
    beside: Given | None = None,
    tenant: Given | Sequence[Given] | None = None,
    scheduler: Given | None = None,
    seed: Given | None = None,
    set: dict[str, Any] | None = None,
    system: Given | None = None,
    pes: Number | None = None,
    platform: Given | None = None,
    device: Given | None = None,
    cost_model: Given | None = None,
    service: Given | None = None,
    servers: Number | None = None,
    max_batch: Number | None = None,
    batch_wait: Number | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    qps: Number | None = None,
    streams: Number | None = None,
    find_peak: bool = False,
    min_duration: Number | None = None,
    min_queries: Given | None = None,
    curve: Number | None = None,
    out: Given | None = None,
    width: Given | None = None,
    no_title: bool = False,
    progress: Progress = None,
) -> Report:
    """Predict results of MLPerf load tests on simulated systems.

    The table `suite` has a row for each test.

    Arguments:
        benchmark: Benchmark. One of inference, mobile.
        task: Task; repeat for several, or separate them by commas.
        load: Load of LoadGen (single-stream, multi-stream, server or offline); repeat for several, or separate
            them by commas.
        round: Round of the benchmark (its LoadGen version, counts, durations and seeds) [default: v0.5 of
            inference, v3.0 of mobile].
        suite: Suite of tasks and tests, in place of the suite of the round (scenarios/mlperf/README.md); by
            default the round is that of the suite.
        beside: Usage scenario in the background: its frames run on the same system during the test.
        tenant: Task with a load of its own, at the same time as all other tenants; repeat for each. Keys: qps,
            arrivals (poisson or periodic), burst_qps, burst_ms, period_ms, group, bound_ms, percentile,
            max_batch, batch_wait_ms.
        scheduler: Scheduling policy, with its parameters [default: fcfs].
        seed: Seed of the frames of `beside`.
        set: Parameter of the network of a task, or of a model of `beside`; repeat for several.
        system: Style A..M, or a system file.
        pes: PEs of the whole system, for styles.
        platform: Bandwidth and memory of styles [default: headset].
        device: Supply of the accelerators: operating points, leakage, gates, heat, battery, and the power around
            them (a name or a file; `xrsim list devices`). Energy and power are then those of the whole device.
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest].
        service: Servers of known latency, in place of a system: constant:ms=L, batch:ms=A,sample_ms=B (A + B n for n
            samples), or a table with the columns latency_ms, batch or sample, and task.
        servers: Number of servers of a `service`.
        max_batch: Largest number of samples of a batch.
        batch_wait: Longest wait of a sample for a full batch [ms].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        qps: Rate of a server, in place of a search for the highest valid rate.
        streams: Number of streams of multi-stream, in place of a search for the largest valid number; from v2.0 on
            samples of a query in place of 8.
        find_peak: Search from `qps` or `streams` upwards, as LoadGen does; with tenants, for the largest factor of all
            rates.
        min_duration: Minimum duration of a test, in place of the minimum of the round (s).
        min_queries: Minimum number of queries of a test, or of samples in offline, in place of the minimum of the round.
        curve: Measure the latency at N rates, below and above the peak of every server test; `out` has it as
            curve.csv and a figure.
        out: Folder of the results (LoadGen's logs and queries.csv of every test, suite.csv, and figures as SVG
            and PDF).
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> tested = xrsim.mlperf("inference", task="image_classification_heavy", system="A", load="offline",
    ...     pes=4096, flexibility="none")
    >>> tested.suite.n_rows
    1
    """
    return _calls.of_folder("mlperf", locals())


def sensitivity(
    scenario: Given | Sequence[Given] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | Sequence[Number] | None = None,
    *,
    networks: Given | None = None,
    semantics: Given | None = None,
    without: Given | Sequence[Given] | None = None,
    scheduler: Given | None = None,
    replications: Number | None = None,
    duration: Number | None = None,
    seed: Number | None = None,
    set: dict[str, Any] | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    technology: Given | None = None,
    device: Given | None = None,
    cost_model: Given | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    factor: Given | Sequence[Given] | None = None,
    only: bool = False,
    screening: bool = False,
    joint: Number | None = None,
    constants: Given | None = None,
    out: Given | None = None,
    width: Given | None = None,
    no_title: bool = False,
    progress: Progress = None,
) -> Report:
    """Vary the settings of runs, and measure how much scores and rankings depend on each.

    The table `sensitivity` has a row for each factor.

    Arguments:
        scenario: Usage scenario: a name or a file; repeat for several, or separate them by commas [default: the seven
            of the suite].
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        pes: PEs of the whole system, for styles; repeat for several, or separate them by commas [default: 4096,
            8192].
        networks: Layers of the networks: their true operators (strides, padding, groups, attention), or the dense
            convolutions of the published artifact [default: reference; artifact with mlsys2023 semantics]. One
            of reference, artifact.
        semantics: Rules of the run: by the intent of the paper, or as the published artifact ran them, to the last
            digit. One of principled, mlsys2023.
        without: Quirks that are left out: rules of the published artifact, with mlsys2023 semantics; repeat for
            several, or separate them by commas [default: none].
        scheduler: Scheduler, with its parameters (`edf`, `dream:alpha=0.5`) [default: latency-greedy].
        replications: Independent replications of every run.
        duration: Span in which requests arrive [ms] [default: 1000.0].
        seed: Seed of every random draw.
        set: Any other setting (see `xrsim list settings`); repeat for several.
        dataflow: Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        device: Supply of the accelerators: operating points, leakage, gates, and the power around them [default:
            none].
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest; maestro with mlsys2023 semantics].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        factor: Factor with its levels, in place of the default levels or in addition to the default factors: any
            setting (`xrsim list settings`), with values or multiples such as `x0.5`; repeat for more.
        only: Vary the factors of `factor` only.
        screening: Vary all factors at once, each between two levels, in a screening design of Plackett and Burman, and
            print main effects.
        joint: Draw all uncertain constants at once, N times, with a draw of the load each, and say how often every
            system is the best, how far it falls, and which constant decides.
        constants: Ranges of the constants for `joint`: a name (`xrsim list uncertainties`) or a file.
        out: Folder for sensitivity.csv, the chart tornado as pictures and data, and sensitivity.json; with
            `joint` for joint.csv, draws.csv, the chart places, and joint.json.
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> moved = xrsim.sensitivity("AR_gaming", "J", 4096, flexibility="none", factor=["score.k_per_ms"])
    >>> moved.sensitivity.n_rows > 0
    True
    """
    return _calls.of_folder("sensitivity", locals())


def reproduce(
    figure: Given | Sequence[Given] | None = None,
    *,
    semantics: Given | Sequence[Given] | None = None,
    flexibility: Given | None = None,
    out: Given | None = None,
    width: Given | None = None,
    no_title: bool = False,
    progress: Progress = None,
) -> Report:
    """Reproduce the figures and quotes of the paper, and compare its conclusions under each semantics.

    Tables and figures of the published study.

    Arguments:
        figure: Figure of the paper, or `scaling`; repeat for more, or separate them by commas. One of 5, 6, 7, 8,
            scaling.
        semantics: Rules of the runs; repeat for both, or separate them by commas. One of principled, mlsys2023.
        flexibility: Choices of every accelerator for each layer, in figures with principled semantics, and in the last
            column of the conclusions [default: tiles, as `xrsim run` has it]. One of none, forms, tiles, axes,
            any.
        out: Folder for the tables, and for each figure as SVG, PDF and PNG with its data as CSV.
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> study = xrsim.reproduce(6, semantics="mlsys2023")
    >>> len(study.figures()) > 0
    True
    """
    return _calls.of_folder("reproduce", locals())


def explain(
    scenario: Given | Sequence[Given] | None = None,
    system: Given | Sequence[Given] | None = None,
    pes: Number | Sequence[Number] | None = None,
    *,
    frame: Given | Sequence[Given] | None = None,
    networks: Given | None = None,
    semantics: Given | None = None,
    without: Given | Sequence[Given] | None = None,
    scheduler: Given | None = None,
    replication: Number | None = None,
    replications: Number | None = None,
    duration: Number | None = None,
    seed: Number | None = None,
    set: dict[str, Any] | None = None,
    against: Given | None = None,
    dataflow: Given | Sequence[Given] | None = None,
    platform: Given | None = None,
    dram: Given | None = None,
    technology: Given | None = None,
    device: Given | None = None,
    cost_model: Given | None = None,
    flexibility: Given | None = None,
    mapping_objective: Given | None = None,
    effort: Given | None = None,
    out: Given | None = None,
    progress: Progress = None,
) -> str:
    """Explain where a run loses its score, or why a frame was late or dropped, and which single change helps most.

    The text says which models, frames and causes lose most.

    Arguments:
        scenario: Usage scenario: a name or a file; repeat for several, or separate them by commas [default: the seven
            of the suite].
        system: System (a style A..M, a mix such as `WS:3 + OS:1`, or a file); repeat for several, or separate them
            by commas [default: A to M].
        pes: PEs of the whole system, for styles; repeat for several, or separate them by commas [default: 4096,
            8192].
        frame: Model of the scenario and number of its frame, from 0.
        networks: Layers of the networks: their true operators (strides, padding, groups, attention), or the dense
            convolutions of the published artifact [default: reference; artifact with mlsys2023 semantics]. One
            of reference, artifact.
        semantics: Rules of the run: by the intent of the paper, or as the published artifact ran them, to the last
            digit. One of principled, mlsys2023.
        without: Quirks that are left out: rules of the published artifact, with mlsys2023 semantics; repeat for
            several, or separate them by commas [default: none].
        scheduler: Scheduler, with its parameters (`edf`, `dream:alpha=0.5`) [default: latency-greedy].
        replication: Replication of the frame, counted from 0.
        replications: Number of replications; scores are their means.
        duration: Span in which requests arrive [ms] [default: 1000.0].
        seed: Seed of every random draw.
        set: Any other setting (see `xrsim list settings`); repeat for several.
        against: Compare with this system, on equal draws.
        dataflow: Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
        platform: Clock, bandwidth and memory of styles [default: headset; artifact with mlsys2023 semantics].
        dram: Bandwidth of DRAM: each accelerator has its part, or the accelerators that run share all of it
            [default: that of the system or platform, or else split]. One of split, shared.
        technology: Constants of area and leakage, on which no score depends [default: that of the system or platform,
            or else nvdla_28nm].
        device: Supply of the accelerators: operating points, leakage, gates, and the power around them [default:
            none].
        cost_model: Cost model, or a CSV file of measurements [default: loop-nest; maestro with mlsys2023 semantics].
        flexibility: Choices of every accelerator for each layer: forms, sizes and orders of loops, spread axes, clusters
            [default: that of the accelerator, system, style or dataflow, or else tiles]. One of none, forms,
            tiles, axes, any.
        mapping_objective: Objective of these choices: least latency and then energy among mappings within 1 %, least energy,
            least product of both, or least energy of networks that keep the rates of their models
            (`hardware.mapping_deadline_share`) [default: that of the accelerator, system or style, or else
            edp]. One of cycles, energy, edp, deadline.
        effort: Work of the search for these choices in one layer: `quick` takes an eighth of the time of `default`,
            and `full` takes ten times as long and proves small mapspaces [default: default]. One of quick,
            default, full.
        out: Folder for the tables (what limits, what each change gives) and explain.json; `xrsim report DIR`
            makes a page of it.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> "largest loss" in xrsim.explain("AR_gaming", "J", 1024, flexibility="none")
    True
    """
    return _calls.text("explain", locals())


def status(
    folder: Given | Sequence[Given] | None = None,
    *,
    progress: Progress = None,
) -> str:
    """Show the progress of parts, of a sweep, search, comparison or mapping, by their files.

    The text says which parts are done, under way and missing.

    Arguments:
        folder: Folder of the parts, or the file of one part, or of a sweep without parts.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     part = f"{folder}/mine.1-of-2.csv"
    ...     xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096], shard="1/2", out=part).points.n_rows
    ...     "done" in xrsim.status(folder)
    1
    True
    """
    return _calls.text("parts status", locals())


def merge(
    files: Given | Sequence[Given] | None = None,
    *,
    out: Given | None = None,
    progress: Progress = None,
) -> bytes:
    """Join the parts of a sweep into the file of the whole sweep.

    Returns the joined rows as CSV.

    Arguments:
        files: Files that `xrsim sweep --shard` wrote, in any order, each with its .json beside it.
        out: The file of all points.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     parts = [f"{folder}/{i}.csv" for i in (1, 2)]
    ...     for i, part in enumerate(parts):
    ...         points = xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096], shard=f"{i + 1}/2", out=part)
    ...     xrsim.merge(parts).count(b"\\n")
    3
    """
    return _calls.of_file("parts merge", locals(), ".csv")


def import_network(
    file: Given | Sequence[Given] | None = None,
    *,
    dim: Given | Sequence[Given] | None = None,
    shape: Given | Sequence[Given] | None = None,
    value: Given | Sequence[Given] | None = None,
    trips: Given | Sequence[Given] | None = None,
    branch: Given | Sequence[Given] | None = None,
    bound: Given | Sequence[Given] | None = None,
    input: Given | Sequence[Given] | None = None,
    state: Given | Sequence[Given] | None = None,
    name: Given | None = None,
    task: Given | None = None,
    device: Given | None = None,
    out: Given | None = None,
    progress: Progress = None,
) -> str:
    """Convert files of other tools to YAML (ONNX, SCALE-Sim, .m, AI Hub).

    Returns the YAML of the network. `json`-like values go by `xrsim.Network`.

    Arguments:
        file: File to convert; with the word `aihub` before it a `perf.yaml` of Qualcomm AI Hub, or a folder of
            them.
        dim: Extent of an open axis, e.g. `batch=1`; several are separated by commas. Of a decoder, `new` is the
            number of tokens that a step computes, and `past` that of the tokens in its cache.
        shape: Shape of an input, e.g. `x=1x3x224x224`.
        value: Elements of an integer input, on which shapes depend, e.g. `lengths=4,6`.
        trips: Trips of a loop; several are separated by commas.
        branch: Branch that an `If` takes, `then` or `else`; several are separated by commas.
        bound: Extent that depends on data, such as the number of boxes; `*` for every node without a bound of its
            own; several are separated by commas.
        input: Sensor of an input, e.g. `image=camera`; several are separated by commas.
        state: Output that is an input of the next frame; several are separated by commas.
        name: Name of the network [default: the name of the file without its extension].
        task: Task of the network [default: its name].
        device: Device of AI Hub whose times are imported.
        out: Folder to write to, one file per network, scenario or dataflow [default: standard output].
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> import pathlib
    >>> xrsim.import_network(pathlib.Path("mine.onnx"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    xrsim._errors.InputError: ...
    """
    return _calls.text("import", locals())


def report(
    folder: Given | Sequence[Given] | None = None,
    *,
    out: Given | None = None,
    progress: Progress = None,
) -> bytes:
    """Write results as one HTML page that needs no internet connection (runs, load tests, comparisons, searches, sensitivities, explanations, a day or a sweep).

    Returns the page as HTML. With `out` it is also written.

    Arguments:
        folder: Folder that a command wrote with `out`, or the file of a sweep. Commands: run, compare, search,
            sensitivity, explain, day, mlperf.
        out: Page to write.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     xrsim.run("AR_gaming", "J", 4096).save(folder)
    ...     xrsim.report(folder).lower().startswith(b"<!doctype html>")
    True
    """
    return _calls.of_file("report", locals(), ".html")


def plot(
    file: Given | Sequence[Given] | None = None,
    *,
    kind: Given | None = None,
    x: Given | None = None,
    y: Given | None = None,
    z: Given | None = None,
    columns: Given | Sequence[Given] | None = None,
    where: dict[str, Any] | None = None,
    out: Given | None = None,
    width: Given | None = None,
    no_title: bool = False,
    progress: Progress = None,
) -> bytes:
    """Draw fronts, heat maps and energies by item, or print best designs or means.

    Returns the figure as SVG. With `out` it is also written, in the format of its ending.

    Arguments:
        file: Rows of a sweep, or the scores.csv of a run; for energy, folders or device.csv of `xrsim day` or
            `xrsim run --device`.
        kind: Kind of plot. One of pareto, best, heatmap, means, energy.
        x: First objective, columns of a heat map, or for energy mean_w or energy_j [default:
            energy_per_frame_mj, of profiles and energy mean_w, of heat maps pes].
        y: Second objective, or rows of a heat map [default: score, of profiles profile_score, or system].
        z: Third objective, objective of the best designs, or colours of a heat map [default: score, of
            profiles profile_score].
        columns: Columns of the table of means; repeat for several, or separate them by commas [default: score and
            energy; of profiles hours, scores, misses, power and temperature].
        where: Use only rows with this value in this column; repeat for more conditions.
        out: File to write (a picture as .svg, .pdf or .png with its data beside it as .csv, or a table as .csv).
        width: Width of figures for print, such as 3.35in, 85mm, 8.5cm or 241pt: type of 7.2 pt, PNG of 300 dots
            per inch, and the title in FIGURE.txt instead of the picture.
        no_title: Leave title and notes out of figures; FIGURE.txt beside them has these texts.
        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rows = xrsim.sweep(scenario="AR_gaming", system="J", pes=[1024, 4096], out=f"{folder}/a.csv")
    ...     xrsim.plot(f"{folder}/a.csv", kind="pareto").startswith(b"<svg")
    True
    """
    return _calls.of_file("plot", locals(), ".svg")


def validate(
    *,
    progress: Progress = None,
) -> str:
    """Compare the simulator with reference data (built-in or your own).

    The text has the comparisons with reference data.

    Arguments:

        progress: True shows a bar of tqdm; a function gets what is done and how much there is.

    >>> import xrsim
    >>> xrsim.validate  # doctest: +ELLIPSIS
    <function validate at ...>
    """
    return _calls.text("validate", locals())
