//! Results of real-time scheduling theory, on one accelerator and thousands of random sets of tasks:
//! fixed priorities (rate monotonic) and earliest deadline first, without preemption and with
//! preemption at the ends of layers.
//!
//! Time is discrete, a unit is 1 ns: what blocks a request has started at least one unit before it. A
//! task set is schedulable if every release pattern with at least its periods between releases is. A
//! condition that is sufficient is held against synchronous and random releases, one that is necessary
//! against the pattern of its proof.

use crate::support::layers;
use crate::support::runs;

use layers::{fixed_priorities, plan, stream, table_ns};
use runs::{Case, by};
use xrsim::engine;
use xrsim::schedule::{Granularity, Options, Placement, Preemption};
use xrsim::trace::{Outcome, Trace};

/// A sporadic task; all times in ns.
#[derive(Debug, Clone)]
struct Task {
    /// Least time between releases.
    period: u64,
    deadline: u64,
    /// Times of its layers.
    layers: Vec<u64>,
}

impl Task {
    fn cost(&self) -> u64 {
        self.layers.iter().sum()
    }

    /// Longest part of it that cannot be interrupted.
    fn longest_layer(&self) -> u64 {
        self.layers.iter().copied().max().unwrap_or(0)
    }

    fn last_layer(&self) -> u64 {
        self.layers.last().copied().unwrap_or(0)
    }

    /// The same task in one piece.
    fn whole(&self) -> Self {
        Self { layers: vec![self.cost()], ..self.clone() }
    }
}

fn utilisation(tasks: &[Task]) -> f64 {
    tasks.iter().map(|task| task.cost() as f64 / task.period as f64).sum()
}

/// A generator of test data (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// From `least` to `most`.
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// From 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Shares of `total` for `n` tasks, uniform over all such (Bini & Buttazzo 2005, UUniFast).
    fn shares(&mut self, n: usize, total: f64) -> Vec<f64> {
        let mut left = total;
        let mut shares = Vec::new();
        for index in 1..n {
            let next = left * self.unit().powf(1.0 / (n - index) as f64);
            shares.push(left - next);
            left = next;
        }
        shares.push(left);
        shares
    }

    /// Cuts `cost` into up to `most` layers.
    fn layers(&mut self, cost: u64, most: u64) -> Vec<u64> {
        let mut left = cost;
        let mut layers = Vec::new();
        for _ in 1..self.between(1, most) {
            if left > 1 {
                layers.push(self.between(1, left - 1));
                left -= layers[layers.len() - 1];
            }
        }
        layers.push(left);
        layers
    }

    /// Tasks in order of period, of about this utilisation, with up to this many layers; deadlines are
    /// periods, or shorter where `constrained`.
    fn tasks(&mut self, total: f64, most_layers: u64, constrained: bool) -> Vec<Task> {
        let n = self.between(2, 5) as usize;
        let shares = self.shares(n, total);
        let mut tasks: Vec<_> = shares
            .into_iter()
            .map(|share| {
                let period =
                    [10, 12, 15, 20, 24, 30, 40, 50, 60, 75, 100][self.next() as usize % 11];
                let cost = ((share * period as f64).round() as u64).clamp(1, period);
                let slack = if constrained { self.between(0, (period - cost) / 2) } else { 0 };
                Task { period, deadline: period - slack, layers: self.layers(cost, most_layers) }
            })
            .collect();
        tasks.sort_by_key(|task| task.period);
        tasks
    }
}

fn options(granularity: Granularity, preemption: Preemption) -> Options {
    Options { placement: Placement::FirstIdle, granularity, preemption, ..Options::default() }
}

/// Who goes first.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    /// Fixed priorities, the first task first.
    Fixed,
    EarliestDeadline,
}

fn plan_of(tasks: &[Task], order: Order, granularity: Granularity, preemption: Preemption) -> Case {
    let costs: Vec<_> = tasks.iter().map(|task| vec![task.layers.clone()]).collect();
    let plan = plan(table_ns(&costs));
    match order {
        Order::Fixed => plan.scheduled(fixed_priorities(options(granularity, preemption))),
        Order::EarliestDeadline => {
            let granularity = if granularity == Granularity::Layer { "layer" } else { "model" };
            let preemption = if preemption == Preemption::None { "none" } else { "layer-boundary" };
            by(&format!("edf:granularity={granularity},preemption={preemption}"), plan)
        }
    }
}

/// Requests of every task from its first release until `end`.
fn releases(tasks: &[Task], first: &[u64], end: u64) -> Vec<(usize, u64, u64)> {
    let mut requests = Vec::new();
    for (index, (task, &first)) in tasks.iter().zip(first).enumerate() {
        let times = (0..).map(|count| first + count * task.period).take_while(|time| *time < end);
        requests.extend(times.map(|time| (index, time, time + task.deadline)));
    }
    requests
}

fn play(plan: &Case, requests: &[(usize, u64, u64)]) -> Trace {
    engine::run(plan, &plan.costs, &stream(requests))
        .expect("policies of this program do not fail")
        .trace
}

/// Whether every request ended by its deadline.
fn meets_all(plan: &Case, requests: &[(usize, u64, u64)]) -> bool {
    play(plan, requests).records().iter().all(
        |record| matches!(record.outcome, Outcome::Executed { end, .. } if end <= record.deadline),
    )
}

/// Longest time from release to end of the requests of a task, all of them executed.
fn worst_response(trace: &Trace, task: usize) -> u64 {
    let records = trace.records().iter().filter(|record| record.model.index() == task);
    let response = records.map(|record| match record.outcome {
        Outcome::Executed { end, .. } => (end - record.arrival).ns(),
        other => panic!("{other:?}"),
    });
    response.max().expect("the task was released")
}

/// The least w >= `start` with w = `next`(w); `None` beyond `most`.
fn fixed_point(start: u64, most: u64, next: impl Fn(u64) -> u64) -> Option<u64> {
    let mut now = start;
    while now <= most {
        match next(now) {
            same if same == now => return Some(now),
            further => now = further,
        }
    }
    None
}

/// Exact worst response of a task under fixed priorities with preemption between layers, whole tasks
/// being without preemption (George, Rivierre & Spuri 1996 for these; Bril, Lukkien & Verhaegh 2009 for
/// deferred preemption). With B the longest layer of lower priority less one unit, l the last layer,
/// and the requests q of its own before in the busy period L = B + sum over j <= i of
/// ceil(L/T_j)·C_j:
///
/// ```text
/// w(q) = B + (q + 1)·C_i - l_i + sum over higher j of (floor(w/T_j) + 1)·C_j
/// R_i = max over q of w(q) + l_i - q·T_i
/// ```
fn exact_response(tasks: &[Task], index: usize) -> Option<u64> {
    const MOST: u64 = 100_000;
    let blocking = blocking(&tasks[index + 1..]);
    let (task, higher) = (&tasks[index], &tasks[..index]);
    let busy = fixed_point(1, MOST, |length| {
        let work = |it: &Task| length.div_ceil(it.period) * it.cost();
        blocking + tasks[..=index].iter().map(work).sum::<u64>()
    })?;
    let response = |count: u64| {
        let own = blocking + (count + 1) * task.cost() - task.last_layer();
        let start = fixed_point(own, MOST, |wait| {
            own + higher.iter().map(|it| (wait / it.period + 1) * it.cost()).sum::<u64>()
        });
        start.map(|start| start + task.last_layer() - count * task.period)
    };
    (0..busy.div_ceil(task.period)).map(response).try_fold(0, |most, it| Some(most.max(it?)))
}

/// Longest time that one of these tasks, begun a unit before, keeps the accelerator.
fn blocking(tasks: &[Task]) -> u64 {
    tasks.iter().map(|task| task.longest_layer() - 1).max().unwrap_or(0)
}

/// The critical instant of a task: everything of higher priority is released with it, one unit after
/// the layer of lower priority that takes longest has begun.
fn critical_releases(tasks: &[Task], index: usize, end: u64) -> Vec<(usize, u64, u64)> {
    let lower = (index + 1..tasks.len()).max_by_key(|&it| tasks[it].longest_layer());
    let before = lower.map_or(0, |lower| {
        let layers = &tasks[lower].layers;
        let longest = tasks[lower].longest_layer();
        layers.iter().take_while(|layer| **layer < longest).sum::<u64>()
    });
    // Its releases have no deadline: nothing is dropped, whatever the response.
    let begin = before + u64::from(lower.is_some());
    let far = 10_000_000;
    let mut requests = releases(&tasks[..=index], &vec![begin; index + 1], begin + end);
    requests.extend(lower.map(|lower| (lower, 0, far)));
    requests.iter().map(|&(task, release, _)| (task, release, far)).collect()
}

/// Checks a set of tasks in order of priority: the response at the critical instant is the one of the
/// analysis, and none is longer under synchronous and random releases.
fn check_fixed_priorities(random: &mut Random, tasks: &[Task], plan: &Case) -> usize {
    let mut n_exact = 0;
    let bounds: Vec<_> = (0..tasks.len()).map(|index| exact_response(tasks, index)).collect();
    for (index, bound) in bounds.iter().enumerate() {
        let Some(bound) = bound else { continue };
        let busy = 4 * tasks.iter().map(|task| task.period).sum::<u64>() + bound;
        let trace = play(plan, &critical_releases(tasks, index, busy));
        assert_eq!(worst_response(&trace, index), *bound, "task {index} of {tasks:?}");
        n_exact += 1;
    }
    let is_schedulable = bounds
        .iter()
        .zip(tasks)
        .all(|(bound, task)| bound.is_some_and(|bound| bound <= task.deadline));
    if is_schedulable {
        check_no_miss(random, tasks, plan);
    }
    n_exact
}

/// Checks that nothing is late under synchronous releases and two patterns of random first releases.
fn check_no_miss(random: &mut Random, tasks: &[Task], plan: &Case) {
    assert!(meets_all(plan, &releases(tasks, &vec![0; tasks.len()], 600)), "{tasks:?}");
    for _ in 0..2 {
        let first: Vec<_> = tasks.iter().map(|task| random.between(0, task.period)).collect();
        assert!(meets_all(plan, &releases(tasks, &first, 600)), "{tasks:?} from {first:?}");
    }
}

#[test]
fn rate_monotonic_responses_without_preemption_are_those_of_the_analysis() {
    let mut random = Random(1);
    let mut n_exact = 0;
    for _ in 0..2_000 {
        let total = 0.3 + 0.7 * random.unit();
        let tasks: Vec<_> = random.tasks(total, 1, true).iter().map(Task::whole).collect();
        let plan = plan_of(&tasks, Order::Fixed, Granularity::Model, Preemption::None);
        n_exact += check_fixed_priorities(&mut random, &tasks, &plan);
    }
    assert!(n_exact > 5_000, "{n_exact}");
}

/// The same whether the policy is asked after every layer or when something becomes ready.
#[test]
fn rate_monotonic_responses_with_preemption_between_layers_are_those_of_the_analysis() {
    let mut random = Random(2);
    let mut n_exact = 0;
    for round in 0..2_000 {
        let total = 0.3 + 0.7 * random.unit();
        let tasks = random.tasks(total, 6, true);
        let (granularity, preemption) = match round % 2 {
            0 => (Granularity::Layer, Preemption::None),
            _ => (Granularity::Model, Preemption::LayerBoundary),
        };
        let plan = plan_of(&tasks, Order::Fixed, granularity, preemption);
        n_exact += check_fixed_priorities(&mut random, &tasks, &plan);
    }
    assert!(n_exact > 5_000, "{n_exact}");
}

/// Exact condition of earliest deadline first for sporadic tasks (Jeffay, Stanat & Martel 1991 without
/// preemption and with deadlines that are periods; George, Rivierre & Spuri 1996 for all): utilisation
/// at most 1, and for all t from the shortest deadline to the end of the busy period
///
/// ```text
/// max over D_j > t of (longest layer_j - 1) + sum over D_j <= t of (floor((t - D_j)/T_j) + 1)·C_j <= t
/// ```
///
/// Gives the first t that it does not hold for.
fn violation(tasks: &[Task]) -> Option<u64> {
    const MOST: u64 = 20_000;
    let busy = fixed_point(1, MOST, |length| {
        let work = |it: &Task| length.div_ceil(it.period) * it.cost();
        tasks.iter().map(work).sum::<u64>()
    });
    let deadlines = || tasks.iter().map(|task| task.deadline);
    let most = busy.unwrap_or(MOST) + deadlines().max().unwrap_or(0);
    (deadlines().min().unwrap_or(0)..=most).find(|&time| demand(tasks, time) > time)
}

fn demand(tasks: &[Task], time: u64) -> u64 {
    let (due, later): (Vec<_>, Vec<_>) =
        tasks.iter().cloned().partition(|task| task.deadline <= time);
    let work = |it: &Task| ((time - it.deadline) / it.period + 1) * it.cost();
    blocking(&later) + due.iter().map(work).sum::<u64>()
}

/// The pattern that misses a deadline where the condition is violated at `time`: the task whose
/// deadline is later and which blocks longest begins its longest layer one unit before all others.
fn violating_releases(tasks: &[Task], time: u64) -> Vec<(usize, u64, u64)> {
    let later = (0..tasks.len()).filter(|&index| tasks[index].deadline > time);
    let blocker = later.max_by_key(|&index| tasks[index].longest_layer());
    let before = blocker.map_or(0, |blocker| {
        let longest = tasks[blocker].longest_layer();
        tasks[blocker].layers.iter().take_while(|layer| **layer < longest).sum::<u64>()
    });
    let begin = before + u64::from(blocker.is_some());
    let due = |index: &(usize, u64, u64)| tasks[index.0].deadline <= time;
    let mut requests = releases(tasks, &vec![begin; tasks.len()], begin + time);
    requests.retain(|request| due(request) && request.2 <= begin + time);
    requests.extend(blocker.map(|blocker| (blocker, 0, tasks[blocker].deadline)));
    requests
}

/// Checks both directions of the condition; whether the set is schedulable.
fn check_earliest_deadline(random: &mut Random, tasks: &[Task], plan: &Case) -> bool {
    match violation(tasks) {
        None => check_no_miss(random, tasks, plan),
        Some(time) => {
            let requests = violating_releases(tasks, time);
            assert!(!meets_all(plan, &requests), "{tasks:?} at {time}: {requests:?}");
        }
    }
    violation(tasks).is_none()
}

#[test]
fn earliest_deadline_first_without_preemption_meets_all_deadlines_exactly_if_the_theorem_says_so() {
    let mut random = Random(3);
    let mut n_schedulable = 0;
    for round in 0..3_000 {
        let total = 0.4 + 0.65 * random.unit();
        let tasks = random.tasks(total, 1, round % 2 == 0);
        let plan = plan_of(&tasks, Order::EarliestDeadline, Granularity::Model, Preemption::None);
        n_schedulable += usize::from(check_earliest_deadline(&mut random, &tasks, &plan));
    }
    assert!((500..2_500).contains(&n_schedulable), "{n_schedulable}");
}

#[test]
fn earliest_deadline_first_with_preemption_between_layers_is_blocked_by_the_longest_layer() {
    let mut random = Random(4);
    let (mut n_schedulable, mut n_gained) = (0, 0);
    for round in 0..3_000 {
        let total = 0.5 + 0.55 * random.unit();
        let tasks = random.tasks(total, 6, round % 2 == 0);
        let preemption = Preemption::LayerBoundary;
        let plan = plan_of(&tasks, Order::EarliestDeadline, Granularity::Model, preemption);
        let schedulable = check_earliest_deadline(&mut random, &tasks, &plan);
        let whole: Vec<_> = tasks.iter().map(Task::whole).collect();
        let whole_is = violation(&whole).is_none();
        assert!(schedulable || !whole_is, "preemption never hurts in this condition: {tasks:?}");
        n_schedulable += usize::from(schedulable);
        n_gained += usize::from(schedulable && !whole_is);
    }
    assert!((500..2_500).contains(&n_schedulable), "{n_schedulable}");
    assert!(n_gained > 100, "{n_gained}");
}

/// Layers of one unit block nobody: preemption at any time (Liu & Layland 1973).
fn unit_layers(tasks: &[Task]) -> Vec<Task> {
    let cut = |task: &Task| Task { layers: vec![1; task.cost() as usize], ..task.clone() };
    tasks.iter().map(cut).collect()
}

/// U <= 1 is sufficient, and U > 1 overloads some interval.
#[test]
fn earliest_deadline_first_with_tiny_layers_uses_all_of_the_accelerator() {
    let mut random = Random(5);
    let mut n_full = 0;
    for _ in 0..2_000 {
        let total = 0.8 + 0.3 * random.unit();
        let tasks = unit_layers(&random.tasks(total, 1, false));
        let preemption = Preemption::LayerBoundary;
        let plan = plan_of(&tasks, Order::EarliestDeadline, Granularity::Model, preemption);
        // Exact: a hyperperiod of all periods is 600.
        let work: u64 = tasks.iter().map(|task| 600 / task.period * task.cost()).sum();
        let schedulable = check_earliest_deadline(&mut random, &tasks, &plan);
        assert_eq!(schedulable, work <= 600, "{tasks:?}");
        n_full += usize::from(schedulable && utilisation(&tasks) > 0.95);
    }
    assert!(n_full > 100, "{n_full}");
}

/// U <= n·(2^(1/n) - 1) is sufficient; the analysis says exactly what else is schedulable.
#[test]
fn rate_monotonic_with_tiny_layers_keeps_the_bound_of_liu_and_layland() {
    let mut random = Random(6);
    let (mut n_below, mut n_missed) = (0, 0);
    for _ in 0..2_000 {
        let total = 0.6 + 0.4 * random.unit();
        let tasks = unit_layers(&random.tasks(total, 1, false));
        let plan = plan_of(&tasks, Order::Fixed, Granularity::Model, Preemption::LayerBoundary);
        let n = tasks.len() as f64;
        let bound = n * (2f64.powf(1.0 / n) - 1.0);
        let synchronous = releases(&tasks, &vec![0; tasks.len()], 600);
        let responses: Vec<_> = (0..tasks.len()).map(|it| exact_response(&tasks, it)).collect();
        let fits = responses
            .iter()
            .zip(&tasks)
            .all(|(response, task)| response.is_some_and(|it| it <= task.deadline));
        // Nothing blocks, so synchronous releases are the critical instant.
        assert_eq!(meets_all(&plan, &synchronous), fits, "{tasks:?}");
        if utilisation(&tasks) <= bound {
            assert!(fits, "{tasks:?}");
            check_no_miss(&mut random, &tasks, &plan);
            n_below += 1;
        }
        n_missed += usize::from(!fits);
    }
    assert!(n_below > 300 && n_missed > 100, "{n_below} {n_missed}");
}

/// Liu & Layland's worst case: C_i = T_(i+1) - T_i and T_n = 2·T_1 less all. Exactly schedulable at
/// U = 0.8285 for T = (1000, 1414), and not with one unit more.
#[test]
fn the_bound_of_liu_and_layland_is_tight() {
    let tasks = |extra: u64| {
        let task = |period, cost| Task { period, deadline: period, layers: vec![cost] };
        unit_layers(&[task(1000, 414 + extra), task(1414, 586)])
    };
    let meets = |tasks: &[Task]| {
        let plan = plan_of(tasks, Order::Fixed, Granularity::Model, Preemption::LayerBoundary);
        meets_all(&plan, &releases(tasks, &[0, 0], 20_000))
    };
    assert!((utilisation(&tasks(0)) - 2.0 * (2f64.sqrt() - 1.0)).abs() < 1e-3);
    assert!(meets(&tasks(0)));
    assert!(!meets(&tasks(1)));
}

/// As equal layers become shorter, what is schedulable grows towards what preemption at any time
/// allows, and the longest response of the most urgent task falls by the length of a layer.
#[test]
fn shorter_layers_approach_preemption_at_any_time() {
    let task = |period, cost, layer: u64| Task {
        period,
        deadline: period,
        layers: vec![layer; (cost / layer) as usize],
    };
    let tasks = |layer| [task(20, 8, 8.min(layer)), task(100, 48, layer)];
    for layer in [48, 24, 16, 12, 8, 6, 4, 3, 2, 1] {
        let tasks = tasks(layer);
        if 8 % tasks[0].layers[0] != 0 {
            continue;
        }
        let plan = plan_of(&tasks, Order::Fixed, Granularity::Model, Preemption::LayerBoundary);
        let trace = play(&plan, &critical_releases(&tasks, 0, 200));
        assert_eq!(worst_response(&trace, 0), 8 + layer - 1);
        let schedulable = violation(&tasks).is_none();
        assert_eq!(schedulable, layer <= 12, "20 ns for 8 and a layer less one: {layer}");
    }
}
