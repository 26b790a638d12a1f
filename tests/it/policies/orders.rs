//! Order and placement in runs of a few requests.

use std::sync::Arc;

use super::layered;
use crate::support::runs::*;
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::scenario::Scenario;
use xrsim::schedule::{self, Policy};
use xrsim::trace::{DropReason, Outcome, Trace};
use xrsim::units::{Cycles, SimSpan};

/// Requests of a case: one of every model, released and due at these times [ms].
struct Tasks {
    scenario: Scenario,
}

/// Name, rate, release [ms], deadline [ms] and upstream model of a task.
type Task = (&'static str, f64, f64, f64, Option<usize>);

fn tasks(tasks: &[Task]) -> Tasks {
    let mut streams = Vec::new();
    let mut models = Vec::new();
    for &(name, fps, release_ms, deadline_ms, upstream) in tasks {
        let mut stream = sensor(name, fps);
        stream.initial_latency = span_ms(release_ms);
        let read = reading(&[streams.len()], model(name, fps));
        let read = read.with_relative_deadline(span_ms(deadline_ms - release_ms));
        streams.push(stream);
        models.push(match upstream {
            Some(upstream) => after(upstream, read),
            None => read,
        });
    }
    Tasks { scenario: scenario(streams, models) }
}

impl Tasks {
    /// The trace under `scheduler`. No model has a second frame within 10 ms.
    fn run(&self, scheduler: &str, costs: CostTable) -> Trace {
        let plan = lasting_ms(10.0, plan(self.scenario.clone(), costs));
        trace(&by(scheduler, plan))
    }

    /// Executed requests, in order of start: `A0` is A on accelerator 0.
    fn order(&self, scheduler: &str, costs: CostTable) -> String {
        let trace = self.run(scheduler, costs);
        let mut ran: Vec<_> = trace
            .records()
            .iter()
            .filter_map(|record| match record.outcome {
                Outcome::Executed { start, accelerator, .. } => {
                    let task = &self.scenario.model(record.model).unit.task;
                    Some((start, format!("{task}{}", accelerator.index())))
                }
                _ => None,
            })
            .collect();
        ran.sort();
        ran.into_iter().map(|(_, name)| name).collect::<Vec<_>>().join(" ")
    }
}

/// One accelerator. X, 5 ms, is alone at 0; when it ends at 5, four more wait. Times in ms:
///
/// ```text
///    FPS  release  deadline  time  latest start
/// A   60     1        160      9       151
/// B   10     2        130     12       118
/// C   30     3        140     20       120
/// D   20     4        126      5       121
/// ```
#[test]
fn every_order_of_requests_is_its_own() {
    let tasks = tasks(&[
        ("X", 10.0, 0.0, 100.0, None),
        ("D", 20.0, 4.0, 126.0, None),
        ("C", 30.0, 3.0, 140.0, None),
        ("B", 10.0, 2.0, 130.0, None),
        ("A", 60.0, 1.0, 160.0, None),
    ]);
    let costs = || table_ms(&[[5.0], [5.0], [20.0], [12.0], [9.0]]);
    let check = |scheduler: &str, expected: &str| {
        let order = tasks.order(scheduler, costs()).replace('0', "");
        assert_eq!(order, format!("X {expected}"), "{scheduler}");
    };
    check("latency-greedy", "A B C D");
    check("fcfs", "A B C D");
    check("energy-greedy", "A B C D");
    // The pointer moves past X, then in the order of the scenario.
    check("round-robin", "D C B A");
    check("edf", "D B C A");
    check("deadline-energy", "D B C A");
    check("llf", "B C D A");
    check("rm", "A C D B");
    check("sjf", "D A B C");
    check("srpt", "D A B C");
    // Longest first: no model has dependants.
    check("heft", "C B A D");
    check("heft:order=deadline", "D B C A");
    // 1 / (time · FPS): D 1/100, B 1/120, A 1/540, C 1/600; all are far from their deadlines.
    check("value", "D B A C");
    // No misses yet: A must have 9 of 10, 2 misses from failure; the others 8 of 10, 3 from it. Then
    // by deadline.
    check("mk-firm", "A D B C");
    // Slack / priority at 5: A 155/9, C 135/3, D 121, B 125.
    check("planaria", "A C D B");
    check("planaria:priority=equal", "D B C A");
    // Tokens at 5: A 9 · (1 + 4/9) = 13, above 9, the others far below. At 14: C 3 · (1 + 11/20) =
    // 4.65 and D 1 + 10/5 = 3 are in class 3, of which D is shorter; B 1 + 12/12 = 2 is not.
    check("prema", "A D C B");
    // At 5, min(1, time/slack) + waited/time: A 9/155 + 4/9 = 0.50, B 12/125 + 3/12 = 0.35, C 20/135
    // + 2/20 = 0.25, D 5/121 + 1/5 = 0.24. At 14: B 1.10, C 0.71, D 5/112 + 10/5 = 2.04. At 19: B
    // 12/111 + 17/12, C 20/121 + 16/20.
    check("sdrm3:granularity=model", "A D B C");
    // Urgency alone. At 5: C 0.148. At 25: A 9/135, B 12/105, D 5/101. At 37: A 9/123, D 5/89.
    check("sdrm3:granularity=model,alpha=0", "C B A D");
    // One accelerator fits all alike, and energies are equal: as sdrm3.
    check("dream:granularity=model", "A D B C");
    // T_rem + 0.01 · (slack − T_rem + ...): A 9 + 1.46, B 12 + 1.13, C 20 + 1.15, D 5 + 1.16.
    check("dysta:granularity=model", "D A B C");
    // Little but slack: A 155.1, B 125.1, C 135.0, D 121.1.
    check("dysta:granularity=model,beta=1", "D B C A");
    // Priority + waited/time at 14, after A: C 3 + 11/20, D 1 + 10/5, B 1 + 12/12. At 34: D 1 + 30/5,
    // B 1 + 32/12.
    check("moca", "A C D B");
    // Without priority at 5: A 4/9, B 3/12, C 2/20, D 1/5. At 14: D 2, B 1, C 11/20. At 19: B 17/12,
    // C 16/20.
    check("moca:priority=equal", "A D B C");
    check("herald:granularity=model", "A B C D");
    check("herald-list", "A B C D");
    check("veltair", "A B C D");
    check("veltair:order=edf", "D B C A");
}

/// ```text
///              time  energy  E·L  E·L²  sum of e·l
/// accelerator 0  10     1     10   100   5·0.5 + 5·0.5 = 5
/// accelerator 1   4     5     20    80   2·2.5 + 2·2.5 = 10
/// accelerator 2   6     2     12    72   5.9·0.1 + 0.1·1.9 = 0.78
/// ```
#[test]
fn every_rule_for_the_accelerator_is_its_own() {
    let costs = || {
        let cells: [&[(f64, f64)]; 3] =
            [&[(5.0, 0.5), (5.0, 0.5)], &[(2.0, 2.5), (2.0, 2.5)], &[(5.9, 0.1), (0.1, 1.9)]];
        layered(&[&cells])
    };
    let check = |deadline_ms: f64, scheduler: &str, expected: &str| {
        let task = tasks(&[("A", 10.0, 0.0, deadline_ms, None)]);
        assert_eq!(task.order(scheduler, costs()), expected, "{scheduler}");
    };
    check(50.0, "edf", "A1");
    check(50.0, "round-robin", "A0");
    check(50.0, "energy-greedy", "A0");
    check(50.0, "edp-greedy", "A0");
    check(50.0, "edp-greedy:placement=edp-by-layer", "A2");
    check(50.0, "ed2p-greedy", "A2");
    check(50.0, "heft", "A1");
    check(50.0, "heft:placement=energy", "A0");
    // 1 and 2 are in time for 8; with 3 ms to spare only 1 is; nothing is in time for 3.
    check(8.0, "deadline-energy", "A2");
    check(8.0, "deadline-energy:guard_ms=3", "A1");
    check(3.0, "deadline-energy", "A1");
    // Energy scores of up to 5 of 1500 mJ are all near 1: the shortest time is worth most.
    check(50.0, "value", "A1");
}

/// X keeps accelerator 0 until 3. There A would end at 3 + 5, elsewhere at 20: it waits. B would end
/// at 3 + 10 there and at 1 + 6 elsewhere, so it starts at once, though A is before it.
#[test]
fn heft_waits_for_a_busy_accelerator_and_lets_others_pass() {
    let tasks = tasks(&[
        ("X", 10.0, 0.0, 100.0, None),
        ("A", 10.0, 1.0, 100.0, None),
        ("B", 10.0, 1.0, 100.0, None),
    ]);
    let costs = || table_ms(&[[3.0, 9.0], [5.0, 20.0], [10.0, 6.0]]);
    assert_eq!(tasks.order("heft", costs()), "X0 B1 A0");
    let heft = tasks.run("heft", costs());
    assert_eq!(execution(&heft, 1, 0), (0, 3.0, 8.0));
    assert_eq!(execution(&heft, 2, 0), (1, 1.0, 7.0));
    let greedy = tasks.run("latency-greedy", costs());
    assert_eq!(execution(&greedy, 1, 0), (1, 1.0, 21.0));
    assert!(Policy::parse("edf").unwrap().is_work_conserving());
    assert!(!Policy::parse("edf:placement=earliest-finish").unwrap().is_work_conserving());
}

/// S is due at 30 and G, 10 ms, needs its result: S must end by 20, before C by 25. Then G is due after
/// C.
#[test]
fn heft_can_leave_time_for_what_depends_on_a_request() {
    let tasks = tasks(&[
        ("X", 10.0, 0.0, 100.0, None),
        ("S", 10.0, 1.0, 30.0, None),
        ("G", 10.0, 1.0, 30.0, Some(1)),
        ("C", 10.0, 1.0, 25.0, None),
    ]);
    let costs = || table_ms(&[[5.0], [4.0], [10.0], [11.0]]);
    assert_eq!(tasks.order("edf", costs()), "X0 C0 S0 G0");
    assert_eq!(tasks.order("heft:order=deadline", costs()), "X0 S0 C0 G0");
}

/// B is first and runs equally well anywhere; A runs ten times as fast on 0. LatPref of A on 0: 11/1.
/// Value of A there: 1/1.
#[test]
fn policies_of_pairs_keep_an_accelerator_for_whom_it_fits() {
    let tasks = tasks(&[("B", 10.0, 0.0, 100.0, None), ("A", 10.0, 0.0, 100.0, None)]);
    let costs = || table_ms(&[[5.0, 5.0], [1.0, 10.0]]);
    let check = |scheduler: &str, expected: &str| {
        assert_eq!(tasks.order(scheduler, costs()), expected, "{scheduler}");
    };
    check("fcfs", "A1 B0");
    check("dream:granularity=model", "A0 B1");
    check("value", "A0 B1");
}

/// Energy decides where nothing else does: L is equal everywhere, E is not. EnPref on 0: (1 + 3)/1.
#[test]
fn dream_weighs_energy_by_beta() {
    let tasks = tasks(&[("A", 10.0, 0.0, 100.0, None)]);
    let cells: [&[(f64, f64)]; 2] = [&[(5.0, 3.0)], &[(5.0, 1.0)]];
    let costs = || layered(&[&cells]);
    assert_eq!(tasks.order("dream", costs()), "A1");
    assert_eq!(tasks.order("dream:beta=0", costs()), "A0");
}

/// When X ends at 10, A (10 ms, due at 15) and B (10 ms, due at 18) would both be late. Time left per
/// slack is 10/5 for A and 10/8 for B: A goes. Then B is alone in being late, and stays.
#[test]
fn dream_gives_up_one_frame_if_two_would_be_late() {
    let release = |upstream| {
        tasks(&[
            ("X", 10.0, 0.0, 100.0, None),
            ("A", 10.0, 1.0, 15.0, None),
            ("B", 10.0, 1.0, 18.0, None),
            ("C", 10.0, 1.0, 100.0, upstream),
        ])
    };
    let costs = || table_ms(&[[10.0], [10.0], [10.0], [10.0]]);
    let trace = release(None).run("dream:granularity=model", costs());
    assert_eq!(dropped(&trace, 1, 0), (10.0, DropReason::Scheduler));
    assert_eq!(execution(&trace, 2, 0).2, 20.0);
    // C waits for A: B goes.
    let trace = release(Some(1)).run("dream:granularity=model", costs());
    assert_eq!(dropped(&trace, 2, 0), (10.0, DropReason::Scheduler));
    let trace = release(None).run("dream:granularity=model,drop=off", costs());
    let by_scheduler =
        |outcome| matches!(outcome, Outcome::Dropped { reason: DropReason::Scheduler, .. });
    assert!(!trace.records().iter().any(|record| by_scheduler(record.outcome)));
}

/// 10 ms from 0: 0.2 ms late if due at 9.8, 0.4 ms if due at 9.6.
#[test]
fn admission_lets_frames_be_late_by_epsilon() {
    let ends = |deadline_ms: f64, scheduler: &str| {
        let task = tasks(&[("A", 10.0, 0.0, deadline_ms, None)]);
        task.order(scheduler, table_ms(&[[10.0, 12.0]]))
    };
    assert_eq!(ends(9.8, "edf:admission=hopeless"), "A0");
    assert_eq!(ends(9.6, "edf:admission=hopeless"), "");
    assert_eq!(ends(9.6, "edf:admission=hopeless,epsilon_ms=0.4"), "A0");
    assert_eq!(ends(9.6, "edf"), "A0");
}

/// 1 ms and 1 mJ on accelerator 0, 1.5 ms on 1. The first is assigned to 0. Of the second 1 is the
/// least loaded, and EDP 1.5 < 2 · 1 is not much worse. With loads of 1 and 1.5 the third is
/// assigned to 0, and the fourth, at 2 and 1.5, to 1.
#[test]
fn herald_balances_load_unless_it_costs_too_much() {
    let names = ["A", "B", "C", "D"];
    let tasks = tasks(&names.map(|name| (name, 10.0, 0.0, 100.0, None)));
    let costs = || table_ms(&[[1.0, 1.5]; 4]);
    let spans = |scheduler: &str| {
        let trace = tasks.run(scheduler, costs());
        [0, 1, 2, 3].map(|model| execution(&trace, model, 0))
    };
    let balanced = [(0, 0.0, 1.0), (1, 0.0, 1.5), (0, 1.0, 2.0), (1, 1.5, 3.0)];
    assert_eq!(spans("herald:granularity=model"), balanced);
    let unbalanced = [(0, 0.0, 1.0), (0, 1.0, 2.0), (0, 2.0, 3.0), (0, 3.0, 4.0)];
    assert_eq!(spans("herald:granularity=model,balance=1"), unbalanced);
}

/// A could start at 0, but B, 5 ms, comes at 2 and is due at 8: only who knows that waits for it.
#[test]
fn magma_leaves_an_accelerator_idle_for_what_it_knows_will_come() {
    let tasks = tasks(&[("A", 10.0, 0.0, 30.0, None), ("B", 10.0, 2.0, 8.0, None)]);
    let costs = || table_ms(&[[10.0], [5.0]]);
    let edf = tasks.run("edf", costs());
    assert_eq!(dropped(&edf, 1, 0), (8.0, DropReason::Deadline));
    let magma = tasks.run("magma", costs());
    assert_eq!(execution(&magma, 1, 0), (0, 2.0, 7.0));
    assert_eq!(execution(&magma, 0, 0), (0, 7.0, 17.0));
}

/// Its lists are followed to the nanosecond: nothing that they do not leave out is dropped or late.
/// It maximises the mean of the scores over executed frames times QoE.
#[test]
fn magma_keeps_to_its_plan_and_finds_more_than_any_other_policy() {
    let plan = plan(six_models(), six_models_table());
    let score = |scheduler: &str| {
        let plan = by(scheduler, plan.clone());
        plan.score(&trace(&plan)).total.score_executed_mean
    };
    let magma = by("magma:evaluations=10000", plan.clone());
    for record in trace(&magma).records() {
        if let Outcome::Executed { end, .. } = record.outcome {
            assert!(end <= record.deadline + span_ms(0.3), "{record:?}");
        }
    }
    let found = score("magma:evaluations=10000");
    for entry in schedule::ALL.iter().filter(|entry| entry.name != "magma") {
        for admission in ["none", "hopeless"] {
            let other = score(&format!("{}:admission={admission}", entry.name));
            assert!(found > other, "{found} {}:admission={admission} {other}", entry.name);
        }
    }
}

#[test]
fn the_search_of_magma_is_repeatable_and_never_gets_worse() {
    let plan = lasting_ms(200.0, plan(six_models(), six_models_table()));
    let run = |scheduler: &str| {
        let plan = by(scheduler, plan.clone());
        let trace = trace(&plan);
        (plan.score(&trace).total.score_executed_mean, trace)
    };
    let short = run("magma:evaluations=100");
    assert_eq!(run("magma:evaluations=100"), short);
    assert!(run("magma:evaluations=2000").0 > short.0);
    assert_ne!(run("magma:evaluations=2000,seed=1").1, run("magma:evaluations=2000").1);
}

/// Both models want 10 byte/ns for 10 ms, of which there are 10. Max-min fair, both take 20 ms. MoCA
/// at 0, when both slacks are 100 ms and all 10 ms are left: scores A (1 + 9)/4 + 1 = 3.5 and B (1 +
/// 1)/4 + 1 = 1.5, so A gets 10 - 10 · 1.5/5 = 7 and B 3. Nothing starts or ends before A does.
#[test]
fn moca_lets_the_model_of_higher_priority_have_more_of_shared_bandwidth() {
    let tasks = tasks(&[("A", 60.0, 0.0, 100.0, None), ("B", 10.0, 0.0, 100.0, None)]);
    let ends = |scheduler: &str| {
        let layer = LayerCost {
            cycles: span_ms(10.0).ns(),
            dram_bytes: 10 * span_ms(10.0).ns(),
            ..LayerCost::default()
        };
        let mut plan = lasting_ms(10.0, plan(tasks.scenario.clone(), table_of(layer)));
        plan.engine.effects.bandwidth.dram = Some(10.0);
        let trace = trace(&by(scheduler, plan));
        [0, 1].map(|model| execution(&trace, model, 0).2)
    };
    assert_eq!(ends("fcfs"), [20.0, 20.0]);
    let [a, b] = ends("moca:placement=first-idle");
    // 10 ms at 7/10 of full speed; then B has 10 · (1 - 3/7) ms left.
    assert!((a - 100.0 / 7.0).abs() < 1e-5 && (b - 20.0).abs() < 1e-5, "{a} {b}");
}

/// Two models on two accelerators, all of one `layer`.
fn table_of(layer: LayerCost) -> CostTable {
    let cost = NetworkCost {
        cycles: Cycles::new(layer.cycles),
        latency: SimSpan::from_ns(layer.cycles),
        energy_nj: 1.0,
        layers: vec![layer],
        choices: None,
        spread: None,
    };
    CostTable::new(std::iter::repeat_n(Arc::new(cost), 4).collect(), 2)
}

/// A has two layers: the first is best on accelerator 0, where it takes 10 ms, the second on 1. B's
/// are best on 1 both. Level by level the list of 1 is B's first layer, A's second, B's second, and A's
/// second waits until 10. Looking ahead, B's second goes before it.
#[test]
fn herald_lists_fill_gaps_by_looking_ahead() {
    let tasks = tasks(&[("A", 10.0, 0.0, 100.0, None), ("B", 10.0, 0.0, 100.0, None)]);
    let costs = || {
        layered(&[
            &[&[(10.0, 1.0), (90.0, 1.0)], &[(90.0, 1.0), (1.0, 1.0)]],
            &[&[(90.0, 1.0), (90.0, 1.0)], &[(2.0, 1.0), (3.0, 1.0)]],
        ])
    };
    let ends = |scheduler: &str| {
        let trace = tasks.run(scheduler, costs());
        [0, 1].map(|model| execution(&trace, model, 0).2)
    };
    assert_eq!(ends("herald-list:look_ahead=0"), [11.0, 14.0]);
    assert_eq!(ends("herald-list"), [11.0, 5.0]);
}
