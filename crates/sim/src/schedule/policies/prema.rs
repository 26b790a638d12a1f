//! PREMA: tokens decide who is a candidate, remaining time which of them runs.

use crate::schedule::alike::Classes;
use crate::schedule::estimate::{Over, Remaining};
use crate::schedule::{
    Alike, Decision, Dispatch, Entry, Job, Parameter, Rank, Ranked, Scheduler, Setup, Since, Value,
    View,
};
use xrsim_model::units::{SimSpan, SimTime};

use super::priority;

pub(super) const ENTRY: Entry = Entry {
    name: "prema",
    help: "shortest remaining time among requests with tokens of the highest class; tokens grow while a \
           request waits",
    source: "Choi & Rhu, HPCA 2020, as in the published code of DySta; several accelerators have \
             one queue",
    unverified: Some(
        "the original text: whether a token must exceed its threshold or may equal it (here it \
         may), and all of mechanism=dynamic",
    ),
    parameters: &[
        priority::PARAMETER,
        Parameter::choice("mechanism", &["checkpoint", "dynamic"]).meaning("whether an interrupted request always yields, or only if yielding delays it less than waiting would \
             delay the other request, both relative to their own time")
        .only_with("preemption", "layer-boundary"),
    ],
    options: &[("preemption", Value::Name("layer-boundary"))],
    ..Entry::new(|setup, arguments| {
        let tokens = Tokens {
            remaining: Remaining::new(Over::Best, setup),
            priorities: priority::of_models(setup, arguments),
            threshold: 0.0,
        };
        let queue = Ranked::new(tokens, setup);
        match arguments.name("mechanism") {
            "dynamic" => Box::new(Dynamic::new(queue, setup)),
            _ => Box::new(queue),
        }
    })
};

/// Classes of priority, and thresholds of tokens.
const CLASSES: [f64; 3] = [9.0, 3.0, 1.0];

struct Tokens {
    remaining: Remaining,
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    priorities: Box<[f64]>,
    /// Tokens of a candidate.
    threshold: f64,
}

impl Tokens {
    /// The priority, and as much again for each time that the request has waited as long as it takes.
    fn of(&self, job: &Job, view: &View<'_>) -> f64 {
        let whole_ns = self.remaining.whole(job.work).ns().max(1) as f64;
        let waited = view.waited(job).ns() as f64 / whole_ns;
        self.priorities[job.model.index()] * (1.0 + waited)
    }

    /// Sets the threshold: the highest that some of these jobs reach.
    fn reach<'j>(&mut self, jobs: impl Iterator<Item = &'j Job>, view: &View<'_>) {
        let most = jobs.map(|job| self.of(job, view)).fold(0.0, f64::max);
        let reached = CLASSES.into_iter().find(|class| *class <= most);
        self.threshold = reached.unwrap_or(0.0);
    }

    fn is_candidate(&self, job: &Job, view: &View<'_>) -> bool {
        self.of(job, view) >= self.threshold
    }
}

impl Rank for Tokens {
    /// Candidates before others, then shortest remaining time, then first come, first served.
    type Key = (bool, SimSpan, SimTime);

    const ORDERS: &'static [Since] = &[Since::AllWaits, Since::Arrival];

    /// Of jobs with equal costs, the first candidate to arrive. The one that has waited longest has the most tokens.
    fn first_of<'c>(&self, class: &'c Alike, view: &View<'_>) -> Option<&'c Job> {
        let longest = class.by(Since::AllWaits).next()?;
        let are_some = self.is_candidate(longest, view);
        class.by(Since::Arrival).find(|job| !are_some || self.is_candidate(job, view))
    }

    fn observe(&mut self, view: &View<'_>) {
        self.reach(view.ready.iter(), view);
    }

    fn observe_classes(&mut self, classes: &Classes, view: &View<'_>) {
        self.reach(classes.all().filter_map(|class| class.by(Since::AllWaits).next()), view);
    }

    fn key(&self, job: &Job, view: &View<'_>) -> Self::Key {
        (!self.is_candidate(job, view), self.remaining.of(job, view), job.arrival)
    }
}

/// Lets a request that was cut go on where making way for the chosen one would cost it more.
struct Dynamic {
    queue: Ranked<Tokens>,
    remaining: Remaining,
}

impl Dynamic {
    fn new(queue: Ranked<Tokens>, setup: &Setup<'_>) -> Self {
        Self { queue, remaining: Remaining::new(Over::Best, setup) }
    }

    /// How many times its own whole time `job` would wait for `other`.
    fn delay(&self, job: &Job, other: &Job, view: &View<'_>) -> f64 {
        let whole_ns = self.remaining.whole(job.work).ns().max(1) as f64;
        self.remaining.of(other, view).ns() as f64 / whole_ns
    }
}

impl Scheduler for Dynamic {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        let decision = self.queue.decide(view);
        let Decision::Dispatch(dispatch) = decision else {
            return decision;
        };
        let cut = self.queue.cut_at(dispatch.accelerator, view);
        let (Some(cut), Some(chosen)) = (cut, view.ready.get(dispatch.request)) else {
            return decision;
        };
        let drains = self.delay(cut, chosen, view) > self.delay(chosen, cut, view);
        let request = if drains { cut.request } else { dispatch.request };
        Dispatch { request, ..dispatch }.into()
    }
}
