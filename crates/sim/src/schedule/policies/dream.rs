//! The MapScore of DREAM, and its smart frame drop.

use crate::schedule::alike::Classes;
use crate::schedule::estimate::{NextSegment, Over, Remaining};
use crate::schedule::limits::Line;
use crate::schedule::paired::largest;
use crate::schedule::tie::tie;
use crate::schedule::{
    Alike, Arguments, Entry, Job, Paired, Parameter, Setup, Since, Utility, Value, View,
};
use xrsim_model::ids::{AccelId, ModelId, RequestId, WorkId};
use xrsim_model::units::SimTime;

/// The lighter variants of supernets, which DREAM runs under load, are the option `quality` of every policy.
pub(super) const ENTRY: Entry = Entry {
    name: "dream",
    help: "largest MapScore over requests and idle accelerators: urgency, fit, starvation, energy; \
           drops frames that would be late if other frames would also be late",
    source: "Kim et al. (DREAM), ASPLOS 2024; see sdrm3 for its first version",
    unverified: Some("all formulae but those of sdrm3; the conditions of the frame drop"),
    parameters: &[
        Parameter::number("alpha", 1.0, [0.0, 2.0]).meaning("weight of starvation"),
        Parameter::number("beta", 1.0, [0.0, 2.0]).meaning("weight of energy"),
        Parameter::number("switch_pj", 118.4, [0.0, 1e6]).meaning(
            "energy of an activation that moves off chip or back (14.8 pJ a bit, LPDDR as in SCAR)",
        ),
        Parameter::choice("drop", &["on", "off"]).meaning("whether frames are given up"),
        Parameter::whole("drops", 2, [1, 64])
            .meaning("most frames given up of a window")
            .only_with("drop", "on"),
        Parameter::whole("window", 10, [1, 64])
            .meaning("length of the window in frames of the model")
            .only_with("drop", "on"),
    ],
    options: &[("granularity", Value::Name("layer"))],
    fixes: &["placement"],
    ..Entry::new(|setup, arguments| Box::new(Paired::new(MapScore::new(setup, arguments), setup)))
};

/// Urgency of a request whose deadline has passed.
const OVERDUE: f64 = 1e3;

struct MapScore {
    remaining: Remaining,
    segment: NextSegment,
    alpha: f64,
    beta: f64,
    /// Energy that moves the live activations off chip or back \[nJ\], `[model][layer]`.
    state_nj: Box<[Box<[f64]>]>,
    /// Energy that moves out what every accelerator was cut at \[nJ\]: the latest job of its resident
    /// model that waits to go on there; 0 without.
    cut_nj: Box<[f64]>,
    drop: Option<FrameDrop>,
}

/// Sums over the accelerators that can run what runs next.
struct Sums {
    ns: f64,
    nj: f64,
    /// Number of accelerators.
    n: f64,
}

impl MapScore {
    fn new(setup: &Setup<'_>, arguments: &Arguments) -> Self {
        let nj = arguments.number("switch_pj") / 1e3;
        let models = setup.scenario.models().iter();
        let state_nj = models.map(|model| {
            let live = model.unit.network.live_activations();
            live.into_iter().map(|elements| elements as f64 * nj).collect()
        });
        Self {
            remaining: Remaining::new(Over::Mean, setup),
            segment: NextSegment::from_options(&setup.options),
            alpha: arguments.number("alpha"),
            beta: arguments.number("beta"),
            state_nj: state_nj.collect(),
            cut_nj: vec![0.0; setup.costs.n_accelerators()].into(),
            drop: arguments.is_on("drop").then(|| FrameDrop::new(setup, arguments)),
        }
    }

    fn sums(&self, job: &Job, view: &View<'_>) -> Sums {
        let all = || view.costs.offers(job.work);
        Sums {
            ns: all().map(|at| self.segment.ns(job, at, view)).sum(),
            nj: all().map(|at| self.segment.nj(job, at, view)).sum(),
            n: all().count() as f64,
        }
    }

    /// Mean time left per time to the deadline.
    fn urgency(&self, job: &Job, view: &View<'_>) -> f64 {
        let slack_ms = view.slack_ms(job);
        match slack_ms > 0.0 {
            true => self.remaining.of(job, view).as_ms() / slack_ms,
            false => OVERDUE,
        }
    }

    /// Energy that changes the model of an accelerator to that of `job` \[nJ\]: what it was cut at
    /// moves out, and what `job` was cut at, or its input, moves in.
    fn switch_nj(&self, job: &Job, accelerator: AccelId, view: &View<'_>) -> f64 {
        let resident = view.accelerators[accelerator.index()].resident;
        if resident == Some(job.model) {
            return 0.0;
        }
        self.cut_nj[accelerator.index()] + self.state(job)
    }

    fn state(&self, job: &Job) -> f64 {
        let layers = &self.state_nj[job.model.index()];
        layers.get(job.next_layer as usize).copied().unwrap_or(0.0)
    }
}

impl Utility for MapScore {
    const ORDERS: &'static [Since] = &[Since::Ready];

    const IS_LIMITED: bool = true;

    fn observe_classes(&mut self, classes: &Classes, view: &View<'_>) {
        for (accelerator, state) in view.accelerators.iter().enumerate() {
            let last =
                state.resident.and_then(|model| classes.last_cut(AccelId::new(accelerator), model));
            let job = last.and_then(|request| view.ready.get(request));
            self.cut_nj[accelerator] = job.map_or(0.0, |job| self.state(job));
        }
    }

    fn observe(&mut self, view: &View<'_>) {
        let mut latest = vec![None; self.cut_nj.len()];
        for job in view.ready.iter() {
            let Some(accelerator) = job.last_accelerator.map(AccelId::index) else { continue };
            let is_resident = view.accelerators[accelerator].resident == Some(job.model);
            if is_resident && latest[accelerator].is_none_or(|since| since <= job.ready_since) {
                latest[accelerator] = Some(job.ready_since);
                self.cut_nj[accelerator] = self.state(job);
            }
        }
        let cuts = self.cut_nj.iter_mut().zip(latest);
        cuts.filter(|(_, latest)| latest.is_none()).for_each(|(nj, _)| *nj = 0.0);
    }

    /// ```text
    /// MapScore(i, a) = Urgency · LatPref + alpha · Starvation + beta · (EnPref − Switch)
    /// ```
    ///
    /// With the time L and energy E of what runs next, on a and on every accelerator b: LatPref = sum
    /// L(b) / L(a); Starvation = time in the queue / mean L(b); EnPref = sum E(b) / E(a); Switch = the
    /// energy of a change of model / E(a).
    fn best(&self, job: &Job, view: &View<'_>) -> Option<(f64, AccelId)> {
        let Sums { ns, nj, n } = self.sums(job, view);
        let queued_ns = view.now.saturating_since(job.ready_since).ns() as f64;
        let starvation = queued_ns / (ns / n);
        let urgency = self.urgency(job, view);
        largest(job, view, |at| {
            let fit = ns / self.segment.ns(job, at, view);
            let energy = (nj - self.switch_nj(job, at, view)) / self.segment.nj(job, at, view);
            urgency * fit + self.alpha * starvation + self.beta * energy
        })
    }

    fn candidates<'c>(&self, class: &'c Alike, view: &View<'_>) -> impl Iterator<Item = &'c Job> {
        class.candidates(view.now, |job| self.most(job, view))
    }

    /// MapScore of a late job with the longest wait without a change of model. No other job has a larger one, until the
    /// time to a deadline is so short that a job is more urgent than a late one.
    fn limit(&self, class: &Alike, at: AccelId, view: &View<'_>) -> Line {
        let Some(longest) = class.by(Since::Ready).next() else { return Line::LOWEST };
        if !view.execution(longest, at).is_offered() {
            return Line::LOWEST;
        }
        let deadline = class.on_time(view.now).next().map_or(SimTime::MAX, |job| job.deadline);
        let short_ns = (self.remaining.of(longest, view).ns() as f64 / OVERDUE) as u64 + 2;
        let until = SimTime::from_ns(deadline.ns().saturating_sub(short_ns));
        if view.now >= until {
            return Line::constant(f64::INFINITY, deadline);
        }
        let Sums { ns, nj, n } = self.sums(longest, view);
        let fit = ns / self.segment.ns(longest, at, view);
        let energy = nj / self.segment.nj(longest, at, view);
        Line {
            at: longest.ready_since,
            value: OVERDUE * fit + self.beta * energy,
            slope: self.alpha / (ns / n),
            until,
        }
    }

    fn victim(&self, classes: Option<&Classes>, view: &View<'_>) -> Option<RequestId> {
        self.drop.as_ref()?.victim(classes, view)
    }
}

/// The rule by which a frame is given up where all of this holds: it would be late even on its fastest
/// accelerator; so would another; few frames of its model were given up lately; and nothing waits for
/// its result. The frame with the most time left per time to its deadline goes first.
struct FrameDrop {
    shortest: Remaining,
    /// Models that need the result of every model.
    dependants: Box<[Box<[ModelId]>]>,
    drops: u32,
    /// The newest frames of a model, as bits of its history.
    window: u64,
}

impl FrameDrop {
    fn new(setup: &Setup<'_>, arguments: &Arguments) -> Self {
        let scenario = setup.scenario;
        let depends_on = |id: ModelId, upstream: ModelId| {
            let dependencies = &scenario.model(id).dependencies;
            dependencies.iter().any(|dependency| dependency.upstream == upstream)
        };
        let dependants =
            |upstream| scenario.model_ids().filter(|&id| depends_on(id, upstream)).collect();
        Self {
            shortest: Remaining::new(Over::Best, setup),
            dependants: scenario.model_ids().map(dependants).collect(),
            drops: arguments.whole("drops"),
            window: u64::MAX >> (64 - arguments.whole("window")),
        }
    }

    /// Shortest time left per time to the deadline; above 1 for a frame that would be late.
    fn overrun(&self, job: &Job, view: &View<'_>) -> f64 {
        let left = self.shortest.of(job, view).as_ms();
        match view.slack_ms(job) {
            slack if slack > 0.0 => left / slack,
            _ => f64::INFINITY,
        }
    }

    fn may_go(&self, model: ModelId, view: &View<'_>) -> bool {
        let dropped = (view.history[model.index()].drops & self.window).count_ones();
        let mut dependants = self.dependants[model.index()].iter();
        dropped < self.drops && dependants.all(|dependant| view.blocked[dependant.index()] == 0)
    }

    fn victim(&self, classes: Option<&Classes>, view: &View<'_>) -> Option<RequestId> {
        let job = match classes {
            // Of a class, the job that is due first is the latest.
            Some(classes) => {
                let works = (0..view.costs.n_works()).map(WorkId::new);
                let may_go = |work: &WorkId| self.may_go(view.costs.model_of(*work), view);
                let of_work = |work| classes.of(work).flat_map(Alike::firsts);
                let two = classes.all().flat_map(|class| class.jobs().take(2));
                self.latest(two, works.filter(may_go).flat_map(of_work), view)
            }
            None => {
                let may_go = |job: &&Job| self.may_go(job.model, view);
                self.latest(view.ready.iter(), view.ready.iter().filter(may_go), view)
            }
        };
        job.map(|job| job.request)
    }

    /// The latest job of `candidates`, if there are two late ones among `all`.
    fn latest<'j>(
        &self,
        all: impl Iterator<Item = &'j Job>,
        candidates: impl Iterator<Item = &'j Job>,
        view: &View<'_>,
    ) -> Option<&'j Job> {
        let is_late = |job: &&Job| self.overrun(job, view) > 1.0;
        let latest = candidates.filter(is_late).max_by(|a, b| {
            let overruns = self.overrun(a, view).total_cmp(&self.overrun(b, view));
            overruns.then_with(|| tie(b).cmp(&tie(a))).then_with(|| a.request.cmp(&b.request))
        })?;
        all.filter(is_late).nth(1).map(|_| latest)
    }
}
