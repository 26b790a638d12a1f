//! Searches over small spaces, against the definition.

use std::ops::ControlFlow;
use std::sync::Arc;

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

use xrsim_config::{Catalog, Edition};
use xrsim_model::cost::loop_nest::LoopNest;
use xrsim_model::dataflow::Dataflow;
use xrsim_model::hardware::{Flexibility, MappingSettings};
use xrsim_sim::plan::Plan;
use xrsim_sim::schedule::Policy;

use super::*;

/// A small random space and its question, by a seed.
struct Case {
    space: Space,
    plans: Vec<Plan>,
    schedulers: Vec<Policy>,
    question: Question,
    draws: u64,
    areas: TypeAreas,
}

const SCENARIOS: [&str; 7] = [
    "social_interactionA",
    "social_interactionB",
    "outdoor_activity_A",
    "outdoor_activity_B",
    "AR_Assistant",
    "VR_gaming",
    "AR_gaming",
];

fn dataflows(catalog: &mut Catalog) -> Vec<Arc<Dataflow>> {
    ["WS", "OS", "RS"].map(|name| catalog.dataflow(name).expect("it is there")).to_vec()
}

/// PEs of a step of the searches in budgets.
const BUDGET_STEP: u32 = 256;

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut catalog = Catalog::new();
        let platform = catalog.platform("paper").expect("it is there");
        let mut chip = Chip::new(platform);
        chip.mapping =
            MappingSettings { flexibility: Some(Flexibility::None), ..MappingSettings::default() };
        let mut settings = SpaceSettings::new(chip, dataflows(&mut catalog));
        settings.accelerators = 1..=random.random_range(1..=3);
        settings.step = [512, 1024, 2048][random.random_range(0..3usize)];
        settings.is_exact = random.random();
        if settings.step > 512 && random.random() {
            let half = |n| Fraction::new(n, 2).expect("it is at most 1");
            settings.parts[random.random_range(0..3usize)] =
                Parts::Fractions(vec![half(1), half(2)]);
        }
        let space = Space::new(&settings).expect("it has systems");
        let n = random.random_range(1..=3usize);
        let first = random.random_range(0..SCENARIOS.len());
        let system = space.system(&[0]).expect("it can be built");
        let plans = (0..n).map(|it| SCENARIOS[(first + it) % SCENARIOS.len()]).map(|name| {
            let scenario = catalog.scenario(name, Edition::Reference).expect("it is there");
            Plan::new(scenario, Arc::clone(&system))
        });
        let plans: Vec<_> = plans.collect();
        let schedulers = ["latency-greedy", "value:admission=hopeless", "edf:granularity=layer"];
        let n_schedulers = random.random_range(1..=3usize);
        let schedulers = schedulers[..n_schedulers].iter();
        let schedulers = schedulers.map(|it| Policy::parse(it).expect("it is there")).collect();
        let find = |name| Quantity::find(name).expect("it is there");
        let objectives = match random.random_range(0..4) {
            0 => vec![Quantity::score(), Quantity::Area],
            1 => vec![Quantity::score(), find("energy_mj"), Quantity::Area],
            2 => vec![find("score")],
            _ => vec![Quantity::score()],
        };
        let mut question = Question::new("q", objectives, &vec![1.0; n]);
        if random.random() {
            question.over = Over::Worst;
        }
        if random.random_range(0..3) == 0 {
            let (quantity, limit) = (Quantity::Pes, 3072.0);
            question.constraints.push(Constraint { quantity, is_most: true, limit });
        }
        if random.random_range(0..3) == 0 {
            let (quantity, limit) = (find("miss_ratio"), 0.3);
            question.constraints.push(Constraint { quantity, is_most: true, limit });
        }
        // Any areas will do; equal ones make ties.
        let area = space.types().iter().map(|it| f64::from(it.pes.div_ceil(1024))).collect();
        let areas = TypeAreas::new(area, vec![0.5; space.types().len()], 0.0);
        let draws = random.random_range(1..=6);
        Self { space, plans, schedulers, question, draws, areas }
    }

    /// A search for the best score, the least area or the least power in a budget of `pes` PEs, not all of which need be
    /// used.
    fn of_budget(seed: u64, pes: u32) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut catalog = Catalog::new();
        let platform = ["paper", "headset"][random.random_range(0..2usize)];
        let mut chip = Chip::new(catalog.platform(platform).expect("it is there"));
        chip.mapping =
            MappingSettings { flexibility: Some(Flexibility::None), ..MappingSettings::default() };
        let mut settings = SpaceSettings::new(chip, dataflows(&mut catalog));
        settings.accelerators = 1..=random.random_range(1..=3);
        settings.accelerators =
            random.random_range(1..=*settings.accelerators.end())..=*settings.accelerators.end();
        (settings.step, settings.pes) = (BUDGET_STEP, pes);
        if random.random_range(0..3) == 0 {
            settings.parts[random.random_range(0..3usize)] = Parts::Fractions(
                [1, 2, 4].into_iter().filter_map(|it| Fraction::new(it, 4)).collect(),
            );
        }
        let space = Space::new(&settings).expect("it has systems");
        let name = SCENARIOS[random.random_range(0..SCENARIOS.len())];
        let scenario = catalog.scenario(name, Edition::Reference).expect("it is there");
        let system = space.system(&[0]).expect("it can be built");
        let plans = vec![Plan::new(scenario, system)];
        let find = |name| Quantity::find(name).expect("it is there");
        let objective = [Quantity::score(), Quantity::Area, find("power_with_leakage_mw")]
            [random.random_range(0..3usize)];
        let mut question = Question::new("q", vec![objective], &[1.0]);
        if objective != Quantity::score() {
            let quantity = find("miss_ratio");
            let limit = [0.1, 0.4, 0.8][random.random_range(0..3usize)];
            question.constraints.push(Constraint { quantity, is_most: true, limit });
        }
        let mib = |index| space.accelerator(index).memory.shared.get() as f64 / f64::from(1 << 20);
        let area = (0..space.types().len())
            .map(|index| f64::from(space.types()[index].pes) / 1024.0 + mib(index))
            .collect();
        let areas = TypeAreas::new(area, vec![0.5; space.types().len()], 0.0);
        let schedulers = vec![Policy::parse("latency-greedy").expect("it is there")];
        Self { space, plans, schedulers, question, draws: 2, areas }
    }

    fn answer(&self, method: Method) -> Answer {
        self.answers(method, std::slice::from_ref(&self.question)).remove(0)
    }

    fn answers(&self, method: Method, questions: &[Question]) -> Vec<Answer> {
        self.search(method, |search| {
            let mut observe = |_: &Progress<'_>| ControlFlow::Continue(());
            let solve = |it: &Question| search.solve(it, &mut observe).expect("it can be answered");
            questions.iter().map(solve).collect()
        })
    }

    /// What `work` finds in a search of the space.
    fn search<T>(&self, method: Method, work: impl FnOnce(&mut Search<'_>) -> T) -> T {
        let model = LoopNest;
        let loads = Loads::new(&self.plans, self.draws).expect("the load is small");
        let settings = SearchSettings {
            schedulers: self.schedulers.clone(),
            cost_model: &model,
            areas: Some(self.areas.clone()),
            shard: None,
            method,
            stop: StopRules::default(),
        };
        let mut search = Search::new(&self.space, &loads, &settings, Vec::new(), |_| {})
            .expect("it has systems");
        work(&mut search)
    }
}

fn goods(answer: &Answer) -> Vec<Vec<f64>> {
    let mut goods: Vec<_> = answer.points.iter().map(|point| point.goods.clone()).collect();
    goods.sort_by(|a, b| a.partial_cmp(b).expect("there is no NaN"));
    goods
}

/// Bounds exclude nothing that is part of the answer: 24 random spaces, 4 without optimisation, or as many as
/// `XRSIM_CASES` says.
#[test]
fn bounds_find_what_everything_simulated_finds() {
    let usual = if cfg!(debug_assertions) { 4 } else { 24 };
    let cases = std::env::var("XRSIM_CASES").ok().and_then(|it| it.parse().ok());
    let cases = cases.unwrap_or(usual);
    for seed in 0..cases {
        let case = Case::new(seed);
        let [bound, all] = [Method::Bound, Method::Exhaustive].map(|it| case.answer(it));
        let question = &case.question;
        assert_eq!(bound.stop, StopReason::Proven, "{seed}");
        assert_eq!(goods(&bound), goods(&all), "{seed}: {question:?}");
        if !question.is_front() {
            let point = |answer: &Answer| answer.best().map(|it| (it.system, it.scheduler));
            assert_eq!(point(&bound), point(&all), "{seed}: {question:?}");
        }
        assert!(bound.runs <= all.runs, "{seed}");
        if let (Some(certificate), Some(best)) = (bound.certificates.any, all.best()) {
            assert!(certificate >= best.goods[0], "{seed}: {certificate} {:?}", best.goods);
        }
    }
}

/// A larger budget is never worse: a dozen random searches, or as many as `XRSIM_CASES` says.
#[test]
fn more_budget_is_never_worse() {
    let cases = std::env::var("XRSIM_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(12);
    let (mut compared, mut better) = (0, 0);
    for seed in 0..cases {
        let mut random = ChaCha8Rng::seed_from_u64(1_000_000 + seed);
        // Three accelerators of the smallest dataflow fit into three steps.
        let small = BUDGET_STEP * random.random_range(3..=8);
        let large = small + BUDGET_STEP * random.random_range(1..=8);
        let best = |pes| Case::of_budget(seed, pes).answer(Method::Bound).best().cloned();
        let Some(of_small) = best(small) else { continue };
        let of_large = best(large).expect("what the small budget can pay, the large one can, too");
        // Goods are larger if better.
        assert!(
            of_large.goods[0] >= of_small.goods[0],
            "{seed}, {small} and {large} PEs: {:?} {:?}",
            of_small.goods,
            of_large.goods
        );
        compared += 1;
        better += u64::from(of_large.goods[0] > of_small.goods[0]);
    }
    println!("{compared} of {cases} compared, {better} with a better system in the larger budget");
    assert!(compared * 3 >= cases, "{compared} of {cases}");
}

/// A single accelerator has all of what is divided as the PEs, and several divide all but what is beyond the next power
/// of two.
#[test]
fn unused_pes_of_a_budget_take_nothing_away() {
    let mut catalog = Catalog::new();
    let chip = Chip::new(catalog.platform("paper").expect("it is there"));
    let mut settings = SpaceSettings::new(chip, dataflows(&mut catalog));
    (settings.step, settings.accelerators) = (256, 1..=2);
    let parts = |pes| {
        let mut settings = settings.clone();
        settings.pes = pes;
        let space = Space::new(&settings).expect("it has systems");
        let mut found = std::collections::BTreeMap::new();
        space.visit(&mut |members| {
            let all = members.iter().map(|&it| space.accelerator(it as usize));
            let parts: Vec<_> =
                all.map(|it| (it.memory.dram_bandwidth, it.memory.shared)).collect();
            found.insert(space.name(members), parts);
            true
        });
        found
    };
    let [small, large] = [1024, 4096].map(parts);
    assert!(small.iter().all(|(name, parts)| large.get(name) == Some(parts)));
    let dram = |name: &str| large[name].iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(dram("WS@768"), [128]);
    assert_eq!(dram("WS@256 + WS@256"), [64, 64]);
    assert_eq!(dram("WS@256 + WS@512"), [32, 64]);
    assert_eq!(dram("WS@1024 + WS@3072"), [32, 96]);
}

/// Runs of earlier questions change nothing.
#[test]
fn questions_are_independent_of_each_other() {
    let seeds: &[u64] = if cfg!(debug_assertions) { &[5] } else { &[3, 5, 11] };
    for &seed in seeds {
        let mut case = Case::new(seed);
        case.question.constraints.clear();
        let n = case.plans.len();
        let questions: Vec<_> = (0..n)
            .map(|at| {
                let mut weights = vec![0.0; n];
                weights[at] = 1.0;
                Question::new("one", vec![Quantity::score()], &weights)
            })
            .chain([Question::new("all", vec![Quantity::score()], &vec![1.0; n])])
            .collect();
        let together = case.answers(Method::Bound, &questions);
        for (question, answer) in questions.iter().zip(&together) {
            let alone = case.answers(Method::Bound, std::slice::from_ref(question)).remove(0);
            assert_eq!(alone.points, answer.points, "{seed}");
        }
    }
}

/// The proof stands without the certificate, and the answer without a confirmation.
#[test]
fn certificates_and_confirmations_can_be_stopped() {
    let mut case = Case::new(2);
    case.question = Question::new("q", vec![Quantity::score()], &vec![1.0; case.plans.len()]);
    let solved = |last: Option<usize>| {
        case.search(Method::Exhaustive, |search| {
            let mut n = 0;
            let mut observe = |_: &Progress<'_>| {
                n += 1;
                if last == Some(n) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let answer = search.solve(&case.question, &mut observe).expect("it can be answered");
            let settings = ConfirmSettings::new(
                0.001,
                xrsim_model::statistics::Fraction::new(0.05).expect("a fraction"),
            );
            let confirmed = search.confirm(&answer, &settings, &mut || true);
            assert_eq!(confirmed.expect("no run fails"), None);
            (n, answer)
        })
    };
    let (n, whole) = solved(None);
    assert!(whole.certificates.any.is_some() && whole.certificates.keeping.is_some());
    let (_, stopped) = solved(Some(n));
    assert_eq!((stopped.stop, stopped.certificates.any), (StopReason::Proven, None));
    assert_eq!(stopped.points, whole.points);
}

#[test]
fn depth_first_finds_the_optimum_of_the_list() {
    let seeds = if cfg!(debug_assertions) { 2 } else { 8 };
    for seed in 0..seeds {
        let mut case = Case::new(seed);
        case.question = Question::new("q", vec![Quantity::score()], &vec![1.0; case.plans.len()]);
        let listed = case.answer(Method::Bound);
        case.search(Method::Evolve, |search| {
            let mut hunt = Hunt::new(case.question.clone(), true);
            search.branch(&mut hunt, &mut |_| ControlFlow::Continue(())).expect("nothing stops it");
            assert_eq!(hunt.best[0].goods, listed.points[0].goods, "{seed}");
            let top = search.super_system(&case.question, Class::Keeping);
            assert!(top.is_none_or(|top| top >= hunt.best[0].goods[0]), "{seed}");
        });
    }
}

/// Evolution over a space of a few hundred systems finds its optimum, and never one that is not there.
#[test]
fn evolution_stays_within_the_space() {
    let mut case = Case::new(1);
    case.question = Question::new("q", vec![Quantity::score()], &vec![1.0; case.plans.len()]);
    let [exact, evolved] = [Method::Bound, Method::Evolve].map(|it| case.answer(it));
    let [exact, evolved] = [exact, evolved].map(|it| it.points[0].goods[0]);
    assert!(evolved <= exact && evolved > 0.98 * exact, "{evolved} {exact}");
}

/// The table of the specification of partitions: {WS, OS, RS} with at least 256, 64 and 64 PEs in 4,096.
#[test]
fn spaces_have_the_counted_numbers_of_systems() {
    let mut catalog = Catalog::new();
    let chip = Chip::new(catalog.platform("paper").expect("it is there"));
    let count = |step, n: usize, is_exact| {
        let mut settings = SpaceSettings::new(chip.clone(), dataflows(&mut Catalog::new()));
        (settings.step, settings.accelerators, settings.is_exact) = (step, n..=n, is_exact);
        let space = Space::new(&settings).expect("it has systems");
        let listed = space.systems().expect("it has systems");
        let n_systems = space.count();
        if let Ok(listed) = listed {
            assert_eq!(listed.len() as u64, n_systems);
        }
        n_systems
    };
    let exact = [(512, [3, 33, 108, 189]), (256, [3, 69, 504, 1890]), (128, [3, 138, 2025, 14712])];
    for (step, numbers) in exact {
        for (n, number) in (1..).zip(numbers) {
            assert_eq!(count(step, n, true), number, "{n} accelerators in steps of {step}");
        }
    }
    let most = [(512, [24, 132, 308, 414]), (256, [48, 552, 2777, 7983])];
    for (step, numbers) in most {
        for (n, number) in (1..).zip(numbers) {
            assert_eq!(count(step, n, false), number, "{n} accelerators in steps of {step}");
        }
    }
    assert_eq!(count(64, 4, false), 1_784_579);
}

/// Parts of a resource multiply the systems, each multiset once.
#[test]
fn independent_parts_multiply_the_space() {
    let mut catalog = Catalog::new();
    let chip = Chip::new(catalog.platform("paper").expect("it is there"));
    let mut settings = SpaceSettings::new(chip, dataflows(&mut catalog));
    (settings.step, settings.accelerators, settings.is_exact) = (1024, 2..=2, true);
    let whole = Space::new(&settings).expect("it has systems").count();
    let quarters = (1..4).filter_map(|n| Fraction::new(n, 4)).collect();
    settings.parts = [Parts::Fractions(quarters), Parts::AsPes, Parts::AsPes];
    let space = Space::new(&settings).expect("it has systems");
    let mut seen = std::collections::HashSet::new();
    space.visit(&mut |members| {
        assert!(seen.insert(members.to_vec()), "{members:?} is there twice");
        true
    });
    // 1/4 + 3/4, 2/4 + 2/4 and 3/4 + 1/4. Of 15 systems, 12 have two different types, and 3 have equal ones,
    // of which two of the three choices are one.
    assert_eq!((whole, space.count()), (15, 12 * 3 + 3 * 2));
}

/// Accelerators that differ in memory and DRAM bandwidth share mappings and walks.
#[test]
fn costs_of_neighbours_are_those_of_each_alone() {
    use xrsim_model::units::Bytes;
    let mut catalog = Catalog::new();
    let platform = catalog.platform("paper").expect("it is there");
    let mut chip = Chip::new(platform);
    chip.mapping =
        MappingSettings { flexibility: Some(Flexibility::None), ..MappingSettings::default() };
    let mut settings = SpaceSettings::new(chip, dataflows(&mut catalog));
    (settings.step, settings.accelerators) = (2048, 1..=1);
    let space = Space::new(&settings).expect("it has systems");
    let model = LoopNest;
    for network in ["KD", "HT", "PD", "SR"] {
        let network = catalog.network(network).expect("it is there");
        for index in 0..space.types().len() {
            let of = |(kib, bandwidth): (u64, u64)| {
                let mut accelerator = space.accelerator(index);
                accelerator.memory.shared = Bytes::new(kib * 1024);
                accelerator.memory.dram_bandwidth = bandwidth;
                accelerator
            };
            let all = [(8192, 128), (64, 128), (512, 7), (1, 1), (8192, 1)].map(of);
            let together = model.networks(&network, &all);
            for (accelerator, cost) in all.iter().zip(together) {
                assert_eq!(cost, model.network(&network, accelerator));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// Hypervolume by counting unit cells.
    #[test]
    fn hypervolumes_are_those_of_cells(
        points in proptest::collection::vec([0u8..5, 0u8..5, 0u8..5], 0..12)
    ) {
        let points: Vec<Vec<f64>> =
            points.iter().map(|it| it.map(f64::from).to_vec()).collect();
        let mut cells = 0;
        for x in 0..5 {
            for y in 0..5 {
                for z in 0..5 {
                    let cell = [f64::from(x), f64::from(y), f64::from(z)];
                    let inside = |it: &Vec<f64>| it.iter().zip(cell).all(|(at, low)| *at > low);
                    cells += u32::from(points.iter().any(inside));
                }
            }
        }
        let volume = front::hypervolume(&points, &[0.0, 0.0, 0.0]);
        prop_assert!((volume - f64::from(cells)).abs() < 1e-9);
    }
}
