//! Tests of choices that accelerators compare, on the styles of the paper (docs/explanation/mapper.md, section 6.3).

use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex};

use xrsim_config::sweep::SweepOptions;
use xrsim_config::{Catalog, Notes};
use xrsim_model::cost::CostModel;
use xrsim_model::cost::loop_nest::{
    ChosenLoopNest, Family, NestReport, evaluate, nests_of_network,
};
use xrsim_model::hardware::{
    Accelerator, AcceleratorChange, Change, Flexibility, MappingObjective,
};
use xrsim_model::mapper::{Chooser, Effort, Limits};
use xrsim_model::model::Network;
use xrsim_model::parallel;
use xrsim_model::units::Bytes;
use xrsim_sim::sweep::Scorer;

use super::sweep::{Candidate, PointResult, Sweep, relate, score_each};
use super::{Experiment, Sensitivity, whole_chip};

/// So few evaluations that searches miss good mappings often.
const EFFORT: Effort = Effort::new(12, 0, 1);

const OBJECTIVES: [MappingObjective; 3] =
    [MappingObjective::Cycles, MappingObjective::Energy, MappingObjective::Edp];

fn chooser() -> Arc<Chooser> {
    Arc::new(Chooser::new(EFFORT, Arc::default()))
}

fn networks() -> Vec<Arc<Network>> {
    let mut catalog = Catalog::new();
    ["KD", "GE"].map(|name| catalog.network(name).expect("it exists")).into()
}

/// An accelerator of a style with some PEs.
fn of_style(style: &str, pes: u32) -> Accelerator {
    let mut catalog = Catalog::new();
    let dataflow = catalog.dataflow(style).expect("it exists");
    let mut chip = whole_chip(&mut catalog, "headset", &dataflow, pes).expect("a chip");
    chip.memory.dram_latency = 200;
    chip
}

type Step = fn(&mut Accelerator, f64);

/// More of each resource, by a factor.
const STEPS: [Step; 7] = [
    |it, by| it.memory.dram_bandwidth = times(it.memory.dram_bandwidth, by),
    |it, by| it.memory.dram_latency = (it.memory.dram_latency as f64 / by) as u64,
    |it, by| it.noc = it.noc.shared(|bandwidth| times(bandwidth, by)),
    |it, by| it.memory.shared = Bytes::new(times(it.memory.shared.get(), by)),
    |it, by| it.memory.scratchpad = Bytes::new(times(it.memory.scratchpad.get(), by)),
    |it, by| it.pes = times(it.pes.into(), by) as u32,
    |it, _| it.flexibility = Flexibility::Any,
];

fn times(value: u64, by: f64) -> u64 {
    (value as f64 * by).ceil() as u64
}

/// A base, it with more of each resource by 1.1 and by 2, and with more of several.
fn family(base: &Accelerator) -> Vec<Accelerator> {
    let mut all = vec![base.clone()];
    let mut mixed = base.clone();
    for (at, step) in STEPS.iter().enumerate() {
        for by in [1.1, 2.0] {
            let mut more = base.clone();
            step(&mut more, by);
            all.push(more);
        }
        step(&mut mixed, if at % 2 == 0 { 1.1 } else { 2.0 });
        all.push(mixed.clone());
    }
    all
}

/// Loop nests of a network on an accelerator.
fn nests(network: &Network, accelerator: &Accelerator, model: &ChosenLoopNest) -> Vec<NestReport> {
    let nests = nests_of_network(network, accelerator, model.chooser());
    nests.expect("it runs").into_iter().flatten().collect()
}

/// The quantity of an objective that is never worse: latency, energy or their product.
fn of(objective: MappingObjective, cycles: u64, energy_pj: f64) -> f64 {
    match objective {
        MappingObjective::Cycles => cycles as f64,
        MappingObjective::Energy => energy_pj,
        _ => cycles as f64 * energy_pj,
    }
}

/// Number of layers of a network for which an accelerator chose something worse than what another one that has at
/// most as much chose for them, and number of those that were compared.
fn worse(network: &Network, all: &[Accelerator], model: &ChosenLoopNest) -> [usize; 2] {
    let chosen = parallel::map(all, |it| nests(network, it, model));
    let (mut n_worse, mut n_compared) = (0, 0);
    for (more, own) in all.iter().zip(&chosen) {
        for (_, others) in all.iter().zip(&chosen).filter(|(less, _)| less.has_less(more)) {
            for (own, other) in own.iter().zip(others) {
                let objective = more.mapping_objective;
                let Some(other) = on(other, &own.machine, more, objective) else { continue };
                let value = of(objective, own.evaluation.cycles, own.evaluation.energy.total());
                n_compared += 1;
                n_worse += usize::from(value > other);
            }
        }
    }
    [n_worse, n_compared]
}

/// What the mapping of another accelerator attains on one; `None` if it does not fit.
fn on(
    other: &NestReport,
    machine: &xrsim_model::cost::loop_nest::Machine,
    accelerator: &Accelerator,
    objective: MappingObjective,
) -> Option<f64> {
    let found = evaluate(&other.nest, &other.mapping, machine).ok()?;
    let Limits { scratchpad, clusters, .. } = Limits::from_accelerator(accelerator);
    let (innermost, outer) = found.levels().split_last()?;
    let fits = |(level, bytes): (usize, u64)| {
        clusters.get(level).or(clusters.last()).is_none_or(|limit| bytes <= *limit)
    };
    let fits = outer.iter().map(|it| it.unit_bytes).enumerate().all(fits)
        && scratchpad.is_none_or(|limit| innermost.unit_bytes <= limit)
        && machine.shared_bytes.is_none_or(|limit| found.memory.shared_bytes <= limit);
    fits.then(|| of(objective, found.cycles, found.energy.total()))
}

#[test]
fn more_of_anything_never_has_a_worse_mapping() {
    let mut worse_alone = 0;
    for (at, style) in ["WS", "OS", "RS"].into_iter().enumerate() {
        // Without optimisation, one objective for each style.
        let all = if cfg!(debug_assertions) { &OBJECTIVES[at..=at] } else { &OBJECTIVES[..] };
        for &mapping_objective in all {
            let base = Accelerator { mapping_objective, ..of_style(style, 1024) };
            let all = family(&base);
            let among = ChosenLoopNest::among(chooser(), Family::new(&all, []));
            let alone = ChosenLoopNest::new(chooser());
            for network in &networks()[..if cfg!(debug_assertions) { 1 } else { 2 }] {
                let [n_worse, n_compared] = worse(network, &all, &among);
                assert_eq!(n_worse, 0, "{style} {mapping_objective} {}", network.name());
                assert!(n_compared > 500, "{n_compared} of {style}");
                worse_alone += worse(network, &all, &alone)[0];
            }
        }
    }
    assert!(worse_alone > 100, "searches alone are worse in {worse_alone} layers only");
}

#[test]
fn costs_depend_on_the_accelerators_and_on_no_order_and_no_part() {
    let all = family(&of_style("WS", 1024));
    let network = &networks()[0];
    let model = |all: &[Accelerator]| ChosenLoopNest::among(chooser(), Family::new(all, []));
    let costs = |model: &ChosenLoopNest, all: &[Accelerator]| -> Vec<_> {
        all.iter().map(|it| model.network(network, it).expect("it runs")).collect()
    };
    let expected = costs(&model(&all), &all);
    let mut backwards = all.clone();
    backwards.reverse();
    let mut found = costs(&model(&backwards), &backwards);
    found.reverse();
    assert_eq!(found, expected);
    let own = model(&all);
    assert_eq!(parallel::map(&all, |it| own.network(network, it).expect("it runs")), expected);
    for part in [3, 11] {
        assert_eq!(costs(&model(&all), &all[part..part + 1]), expected[part..part + 1]);
    }
    // Another set of accelerators is another question.
    let alone = ChosenLoopNest::new(chooser());
    assert_ne!(costs(&alone, &all), expected);
}

#[test]
fn a_change_of_whatever_kind_has_the_mapping_of_the_base_where_it_fits() {
    let base = of_style("RS", 1024);
    let dram = |by| {
        let mut less = base.clone();
        less.memory.dram_bandwidth = times(less.memory.dram_bandwidth, by);
        less
    };
    let mut energies = AcceleratorChange::default();
    energies.energy.dram = Some(Change::Times(5.0));
    let changes = [dram(0.5), dram(0.3), energies.of(&base)];
    let family = Family::new(&changes, [&base]);
    let model = ChosenLoopNest::among(chooser(), family);
    for network in networks() {
        let of_base = nests(&network, &base, &model);
        for change in &changes {
            for (own, other) in nests(&network, change, &model).iter().zip(&of_base) {
                let objective = change.mapping_objective;
                let Some(other) = on(other, &own.machine, change, objective) else { continue };
                let value = of(objective, own.evaluation.cycles, own.evaluation.energy.total());
                assert!(value <= other, "{}", network.name());
            }
        }
    }
}

/// A checked sweep of a style whose accelerators have more PEs and more bandwidth, under two schedulers.
fn small_sweep() -> Sweep {
    let mut options = SweepOptions::default();
    for (key, values) in [
        ("scenario", "VR_gaming"),
        ("system", "A"),
        ("pes", "1024,1280,2048"),
        ("hardware.dram_bandwidth_bytes_per_cycle", "8,16"),
        ("scheduler", "edf,rm"),
        ("mapping_effort", "quick"),
    ] {
        options.add(&format!("--{key}"), key, values);
    }
    Sweep::from_draft(&options.draft(None), &Notes::default()).expect("a sweep")
}

/// Scores of these points of a sweep, made in one block.
fn scores(points: Range<u64>) -> Vec<String> {
    let Sweep { grid, mut inputs } = small_sweep();
    assert_eq!(relate(&grid, &mut inputs).expect("it was read"), None);
    let candidates = points.map(|index| Candidate::from_point(grid.point(index), &mut inputs));
    let candidates: Vec<_> = candidates.collect::<Result<_, _>>().expect("they were read");
    let cost_models = inputs.cost_models();
    let mut scorers: Vec<_> = cost_models.iter().map(|it| Scorer::new(&*it.model)).collect();
    let found = Mutex::new(vec![String::new(); candidates.len()]);
    score_each(&candidates, &mut scorers, &|index, result| {
        let PointResult::Row(Ok(scored)) = result else { panic!("point {index} has no score") };
        found.lock().expect("no panic")[index] = format!("{scored:?}");
        ControlFlow::Continue(())
    });
    found.into_inner().expect("no panic")
}

#[test]
fn a_part_of_a_sweep_has_the_values_of_the_whole() {
    let whole = scores(0..12);
    for part in [0..1, 3..4, 5..9, 11..12] {
        let places = part.start as usize..part.end as usize;
        assert_eq!(scores(part), whole[places]);
    }
}

#[test]
fn a_sweep_of_too_many_accelerators_says_so() {
    let mut options = SweepOptions::default();
    for (key, values) in [("system", "A"), ("pes", "1024..2048 step 1")] {
        options.add(&format!("--{key}"), key, values);
    }
    let draft = options.draft(None);
    let Sweep { grid, mut inputs } = Sweep::from_draft(&draft, &Notes::default()).expect("a sweep");
    let note = relate(&grid, &mut inputs).expect("it was read").expect("1,025 accelerators");
    assert!(note.contains("more than 1024 accelerators"), "{note}");
}

#[test]
fn more_bandwidth_of_the_network_on_chip_lowers_no_score_by_the_mapping() {
    let experiment = Experiment::new().scenario("AR_gaming").system("J").pes(4096);
    let experiment = experiment.set("mapping_effort", "quick");
    let base = experiment.prepare().expect("a run");
    let asked = [
        "hardware.noc_bandwidth_bytes_per_cycle=x2,x4",
        "hardware.dram_bandwidth_bytes_per_cycle=x2,x4",
    ];
    let asked = asked.map(String::from);
    let sensitivity = Sensitivity::new(experiment, &base, 1, &asked, true).expect("factors");
    let levels = sensitivity.levels(&base, &|_| {}).expect("scores");
    let mut changes = Vec::new();
    for factor in &levels.factors {
        for (level, effect) in &factor.levels {
            let effect = effect.as_ref().expect("a score");
            changes.push((factor.key, level.clone(), effect.change.mean));
        }
    }
    assert_eq!(changes.len(), 4);
    // The objective is a product of latency and energy, which the score weighs otherwise: no change beyond what is printed.
    for (key, level, change) in changes {
        assert!(change > -0.001, "{key}={level}: {change}");
    }
}
