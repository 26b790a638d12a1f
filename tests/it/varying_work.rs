//! Work that depends on the image: counts of networks that are drawn from frame to frame.

use crate::support::{n_cases, runs};

use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use runs::*;
use xrsim::bounds::Bounds;
use xrsim::config::{Catalog, Edition, Source};
use xrsim::cost::{LayerCost, NetworkCost};
use xrsim::ids::{AccelId, ModelId, RequestId};
use xrsim::scenario::{ActiveModel, Numbers, Scenario, Shows, Work};
use xrsim::schedule::{self, Class, Policy};
use xrsim::trace::Outcome;
use xrsim::units::Cycles;
use xrsim::{Experiment, RunResult};

/// GMACs of PlaneRCNN: 9.752 + 0.01717 for each region + 0.798 for each detection. The coefficients are rounded.
#[test]
fn plane_detection_grows_with_regions_and_detections() {
    for (regions, detections) in
        [(1000, 10), (1000, 100), (100, 10), (1, 1), (1000, 0), (0, 10), (6, 0)]
    {
        let reference = format!("regions: {regions}, detections: {detections}");
        let line = format!("    - {{network: PD, fps: 15, work: {{{reference}}}}}\n");
        let scenario = of_file(&line).unwrap_or_else(|error| panic!("{error}"));
        let network = &scenario.models()[0].variants[0];
        let found = network.macs() as f64 / 1e9;
        let (regions, detections) = (f64::from(regions), f64::from(detections));
        let expected = 9.752 + 0.01717 * regions + 0.798 * detections;
        let rounding = 5e-4 + 5e-6 * regions + 5e-4 * detections;
        assert!((found - expected).abs() < rounding, "{reference}: {found} GMACs, not {expected}");
        assert_eq!(network.layers().len(), 252, "{reference}");
    }
}

fn of_file(models: &str) -> Result<Arc<Scenario>, String> {
    let mut catalog = Catalog::new();
    let text = format!("scenario:\n  name: mine\n  models:\n{models}");
    catalog.provide(Source::new("mine.yaml", text));
    catalog.scenario("mine.yaml", Edition::default()).map_err(|error| error.to_string())
}

fn runs_of(models: &str, scheduler: &str, replications: u64) -> Vec<RunResult> {
    let scenario = of_file(models).unwrap_or_else(|error| panic!("{error}"));
    let experiment = Experiment::new().scenario(scenario).system("J").pes(4096);
    let experiment = experiment.scheduler(scheduler).replications(replications);
    let runs = experiment.run().expect("it runs");
    runs.iter().map(|run| run.result.clone().expect("it runs")).collect()
}

const PLAIN: &str = "    - {network: HT, fps: 45}\n    - {network: OD, fps: 30}\n";

/// The planned counts as a constant that is drawn: the same networks.
#[test]
fn planned_counts_make_the_runs_without_counts() {
    let constant =
        "    - {network: HT, fps: 45}\n    - {network: OD, fps: 30, work: {regions: 30}}\n";
    let [without, with] = [PLAIN, constant].map(|models| runs_of(models, "edf", 1).remove(0));
    assert_eq!(without.trace.records(), with.trace.records());
    assert_eq!(without.scorecard, with.scorecard);
}

/// Counts of the frames of OD.
fn counts(run: &RunResult, scenario: &Scenario) -> Vec<u32> {
    let work = scenario.model(ModelId::new(1)).work.as_ref().expect("it draws");
    let records = run.trace.records().iter().enumerate();
    let own = records.filter(|(_, record)| record.model == ModelId::new(1));
    let variant = |(index, _)| run.trace.variant_of(RequestId::new(index));
    own.map(|it| work.counts_of(variant(it)).expect("it has counts")[0]).collect()
}

const DRAWN: &str = "    - {network: HT, fps: 45}\n    - {network: OD, fps: 30, work: {regions: {mean: 6, most: 30}}}\n";

/// 30 frames in each of 40 replications. The mean of a geometric number with mean 6 that is cut at 30 is 5.737168245, its
/// variance 33.783135066.
#[test]
fn drawn_counts_have_the_mean_of_their_distribution_under_every_policy() {
    let scenario = of_file(DRAWN).expect("it is right");
    let of = |scheduler: &str| -> Vec<u32> {
        runs_of(DRAWN, scheduler, 40).iter().flat_map(|run| counts(run, &scenario)).collect()
    };
    let drawn = of("latency-greedy");
    assert_eq!(drawn.len(), 1200);
    let mean = drawn.iter().map(|it| f64::from(*it)).sum::<f64>() / 1200.0;
    let error = (33.783_135_066f64 / 1200.0).sqrt();
    assert!((mean - 5.737_168_245).abs() < 4.0 * error, "{mean} +- {error}");
    for scheduler in ["edf:granularity=layer,preemption=layer-boundary", "herald", "prema"] {
        assert_eq!(of(scheduler), drawn, "{scheduler}");
    }
}

/// A frame without regions costs less than one with a region, and as many layers.
#[test]
fn layers_without_work_take_no_cycles() {
    let models = "    - {network: HT, fps: 45}\n    - {network: OD, fps: 30, work: {regions: {values: {0: 0.5, 1: 0.5}}}}\n";
    let run = runs_of(models, "edf", 1).remove(0);
    let cost = |variant, at| {
        let work = run.costs.variant(ModelId::new(1), variant).expect("it has a row");
        run.costs.on(work, AccelId::new(at))
    };
    for at in 0..2 {
        let (none, one) = (cost(1, at), cost(2, at));
        assert_eq!((none.n_layers(), one.n_layers()), (209, 209));
        let absent = (0..209).filter(|&layer| none.layer_time(layer).ns() == 0).count();
        // 50 layers follow the proposals, and the suppression itself.
        assert!(absent >= 50, "{absent}");
        assert!(none.latency() < one.latency() && none.energy() < one.energy());
    }
}

#[test]
fn mistakes_of_counts_are_found() {
    let none = Catalog::new().network("PD:detections=0").expect_err("no frame").to_string();
    let of_scenario =
        of_file("    - {network: \"PD:detections=0\", fps: 15}\n").expect_err("no frame");
    assert!(of_scenario.contains("mine.yaml:4:"), "{of_scenario}");
    let of_choice =
        "    - {network: PD, fps: 15, variants: [{network: PD}, {network: \"PD:detections=0\"}]}\n";
    let of_choice = of_file(of_choice).expect_err("no frame");
    for message in [none, of_scenario, of_choice] {
        assert!(message.contains("a count of 0 is that of a frame of a scenario"), "{message}");
    }
    let refused =
        |work: &str| of_file(&format!("    - {{network: OD, fps: 30, {work}}}\n")).unwrap_err();
    let cases = [
        ("work: {region: 3}", "has no count `region`; did you mean `regions`?"),
        (
            "work: {regions: {mean: 3, most: 2000}}",
            "up to 2000; `OD_d2go_fbnetv3a_224x299` has at most 1000 regions",
        ),
        (
            "work: {regions: {values: {3: 0.2, 4: 0.7}}}",
            "the probabilities sum to 0.8999999999999999, not to 1",
        ),
        (
            "work: {regions: {mean: 0, most: 3}}",
            "expected a number from 0.000001 to 1000000, found `0`",
        ),
        ("shows: drawn", "`shows` is of counts of `work`; there are none"),
    ];
    for (work, expected) in cases {
        let message = refused(work);
        assert!(message.contains(expected) && message.contains("mine.yaml:4:"), "{message}");
    }
    let no_counts = of_file("    - {network: KD, fps: 3, work: {regions: 3}}\n").unwrap_err();
    assert!(no_counts.contains("has no count `regions`; it has none"), "{no_counts}");
}

fn network(layers: &[(u64, f64)]) -> Arc<NetworkCost> {
    let layer =
        |&(cycles, energy_nj): &(u64, f64)| LayerCost { cycles, energy_nj, ..LayerCost::default() };
    let layers: Vec<_> = layers.iter().map(layer).collect();
    let cycles: u64 = layers.iter().map(|it| it.cycles).sum();
    Arc::new(NetworkCost {
        latency: xrsim::units::SimSpan::from_ns(cycles),
        cycles: Cycles::new(cycles),
        energy_nj: layers.iter().map(|it| it.energy_nj).sum(),
        layers,
        ..NetworkCost::default()
    })
}

/// A random case: two or three models, of which the first draws counts 0, 1 and 2, on one or two accelerators.
fn random_case(random: &mut ChaCha8Rng) -> Case {
    let n_accelerators = random.random_range(1..=2);
    let n_models = random.random_range(2..=3);
    let layers = |random: &mut ChaCha8Rng| -> Vec<(u64, f64)> {
        let layer = |random: &mut ChaCha8Rng| {
            (random.random_range(0..8_000_000u64), random.random_range(0.0..2e8))
        };
        (0..3).map(|_| layer(random)).collect()
    };
    let mut rows = |n: usize| -> Vec<Arc<NetworkCost>> {
        (0..n * n_accelerators).map(|_| network(&layers(random))).collect()
    };
    let (own, further) = (rows(n_models), rows(4));
    let shows = [Shows::Planned, Shows::Mean, Shows::Drawn][random.random_range(0..3)];
    let numbers = Numbers::Geometric { mean: 1.5, most: 2 };
    let mut models: Vec<ActiveModel> = (0..n_models)
        .map(|at| model(["a", "b", "c"][at], [30.0, 45.0, 60.0][random.random_range(0..3)]))
        .collect();
    models[0].work = Work::new(vec![("n".into(), numbers)], shows);
    // Rows of batches stand for those of the counts, and of the mean.
    let n_further = if shows == Shows::Mean { 4 } else { 3 };
    let networks = further[..n_further * n_accelerators].to_vec();
    models[0].variants = vec![Arc::clone(&models[0].unit.network); n_further];
    if random.random() {
        models[1] = after(0, models[1].clone());
    }
    let costs = xrsim::cost::CostTable::new(own, n_accelerators);
    let costs = costs.with_batches(ModelId::new(0), networks);
    let mut case = lasting_ms(150.0, plan(scenario(vec![], models), costs));
    case.load.seed = random.random();
    case
}

/// The time of a frame that ran in one piece is that of its own counts, whatever schedulers see. No run exceeds a bound.
#[test]
fn frames_take_the_time_of_their_counts_and_no_policy_exceeds_a_bound() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let cases = n_cases(60, 2000);
    let (mut n_runs, mut n_whole) = (0, 0);
    for _ in 0..cases {
        let case = random_case(&mut random);
        let requests = requests(&case);
        let bounds = Class::ALL.map(|class| {
            Bounds::compute(&case.scenario, &case.costs, &requests, &case.score, class)
        });
        for entry in schedule::ALL {
            for options in ["", "granularity=layer,preemption=layer-boundary"] {
                let text = match options {
                    "" => entry.name.to_string(),
                    _ => format!("{}:{options}", entry.name),
                };
                let Ok(policy) = Policy::parse(&text) else { continue };
                let class = policy.class();
                let case = case.clone().scheduled(policy);
                let run = xrsim::engine::run(&case, &case.costs, &requests).expect("it runs");
                for (index, record) in run.trace.records().iter().enumerate() {
                    let id = RequestId::new(index);
                    let Outcome::Executed { accelerator, start, end, .. } = record.outcome else {
                        continue;
                    };
                    let request = requests.request(id);
                    assert_eq!(run.trace.variant_of(id), request.variant);
                    if run.trace.segments_of(id).is_empty() {
                        let work =
                            case.costs.variant(record.model, request.variant).expect("it is a row");
                        assert_eq!(
                            end - start,
                            case.costs.on(work, accelerator).latency(),
                            "{text}"
                        );
                        n_whole += 1;
                    }
                }
                let score = case.score(&run.trace).total.score_executed_mean;
                let own = if class == Class::Any { 0 } else { 1 };
                for bound in [bounds[0].values(), bounds[own].values()].concat() {
                    assert!(score <= bound, "{text}: {score} above {bound}");
                }
                n_runs += 1;
            }
        }
    }
    assert!(n_runs > cases * 10 && n_whole > n_runs, "{n_runs} {n_whole}");
}
