//! HEFT, asked online.

use std::cmp::Reverse;

use crate::schedule::estimate::{Over, Remaining};
use crate::schedule::{Entry, Job, Parameter, Rank, Ranked, Setup, Value, View};
use xrsim_model::scenario::Scenario;
use xrsim_model::units::{SimSpan, SimTime};

/// Moving results between accelerators takes no time here, so the mean costs of communication are 0.
pub(super) const ENTRY: Entry = Entry {
    name: "heft",
    help: "longest chain of work ahead first, onto the accelerator where it ends first, even a busy \
           one, for which it waits",
    source: "Topcuoglu, Hariri & Wu, IEEE TPDS 2002; without insertion into gaps, which an online \
             policy does not know",
    parameters: &[Parameter::choice("order", &["rank", "deadline"]).meaning(
        "by the longest chain of work ahead, or by the deadline less the chain after the request",
    )],
    options: &[("placement", Value::Name("earliest-finish"))],
    ..Entry::new(|setup, arguments| {
        let chains = Chains::new(setup);
        match arguments.name("order") {
            "deadline" => Box::new(Ranked::new(SubDeadline(chains), setup)),
            _ => Box::new(Ranked::new(UpwardRank(chains), setup)),
        }
    })
};

/// Mean times of requests and of what depends on them.
struct Chains {
    remaining: Remaining,
    /// Longest chain of what depends on every model, without the model itself.
    downstream: Box<[SimSpan]>,
}

impl Chains {
    fn new(setup: &Setup<'_>) -> Self {
        let remaining = Remaining::new(Over::Mean, setup);
        let downstream = downstream(setup.scenario, &remaining);
        Self { remaining, downstream }
    }

    fn downstream(&self, job: &Job) -> SimSpan {
        self.downstream[job.model.index()]
    }
}

/// Largest upward rank of the dependants of every model; rank_u(i) = mean time of i + that of i.
fn downstream(scenario: &Scenario, remaining: &Remaining) -> Box<[SimSpan]> {
    let mut downstream = vec![SimSpan::ZERO; scenario.models().len()];
    for &id in scenario.topological().iter().rev() {
        let rank = remaining.whole(id) + downstream[id.index()];
        for dependency in &scenario.model(id).dependencies {
            let upstream = &mut downstream[dependency.upstream.index()];
            *upstream = rank.max(*upstream);
        }
    }
    downstream.into()
}

struct UpwardRank(Chains);

impl Rank for UpwardRank {
    const IS_FIXED: bool = true;

    type Key = (Reverse<SimSpan>, SimTime);

    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key {
        let Self(chains) = self;
        (Reverse(chains.remaining.of(job, view) + chains.downstream(job)), job.arrival)
    }
}

struct SubDeadline(Chains);

impl Rank for SubDeadline {
    const IS_FIXED: bool = true;

    /// When the request must end so that what depends on it can \[ns\].
    type Key = i128;

    fn key(&self, job: &Job, _: &View<'_>) -> i128 {
        i128::from(job.deadline.ns()) - i128::from(self.0.downstream(job).ns())
    }
}
