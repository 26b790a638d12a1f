//! One run as a game: a decision of the scheduler is a step.

use std::sync::Arc;

use self_cell::self_cell;
use xrsim::cli::RequestedRuns;
use xrsim::engine::Stepwise;
use xrsim::load::RequestStream;
use xrsim::schedule::{Activity, Decision, Job, Scheduler, View};
use xrsim::score::{self, Counted, Score};
use xrsim::trace::{Outcome, Record};
use xrsim::{AccelId, CostTable, Dispatch, Granularity, Plan, SimSpan};

/// Numbers of a slot in an observation.
pub(crate) const SLOT: usize = 8;

/// Numbers of an accelerator in an observation.
pub(crate) const ACCELERATOR: usize = 3;

/// Largest relative time or energy in an observation.
const MOST: f32 = 4.0;

/// Largest backlog in an observation.
const MOST_BACKLOG: f32 = 64.0;

/// A scheduler that is not asked.
pub(crate) struct Unasked;

impl Scheduler for Unasked {
    fn decide(&mut self, _: &View<'_>) -> Decision {
        Decision::Wait
    }
}

/// What is rewarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reward {
    /// The part of the executed mean that a frame adds.
    Score,
    /// 1 for a frame that ends in time and -1 for another one, over the number of frames.
    Deadline,
}

/// Constants of all episodes of a game.
pub(crate) struct Rules {
    plan: Plan,
    costs: Arc<CostTable>,
    pub n_slots: usize,
    /// Whether requests can be given up.
    pub drops: bool,
    pub reward: Reward,
    granularity: Granularity,
    /// Unit of times in an observation: the longest relative deadline \[ns\].
    unit_ns: f32,
}

impl Rules {
    /// The rules of the only run of `request`.
    pub(crate) fn new(
        request: &RequestedRuns,
        n_slots: usize,
        drops: bool,
        reward: Reward,
    ) -> Result<Self, xrsim::cli::Failure> {
        let (plan, costs) = request.only()?;
        let longest = plan.scenario.models().iter().map(|model| {
            let period_ns = || 1e9 / model.rate.as_fps();
            model.relative_deadline.map_or_else(period_ns, |it| it.ns() as f64)
        });
        let unit_ns = longest.fold(1.0, f64::max) as f32;
        let options = plan.scheduler.options();
        let is_governed = options.governor != xrsim::schedule::Governor::default();
        if is_governed {
            let message = "a governor is asked by a scheduler, and no scheduler decides here; leave out `governor`";
            return Err(xrsim::cli::Failure::Argument(message.into()));
        }
        let granularity = options.granularity;
        Ok(Self { plan, costs, n_slots, drops, reward, granularity, unit_ns })
    }

    pub(crate) fn n_accelerators(&self) -> usize {
        self.plan.system.accelerators().len()
    }

    pub(crate) fn n_models(&self) -> usize {
        self.plan.scenario.models().len()
    }

    /// Seed of the run as it was asked for.
    pub(crate) fn seed(&self) -> u64 {
        self.plan.load.seed
    }

    /// The action that waits.
    pub(crate) fn wait(&self) -> usize {
        self.n_slots * self.n_accelerators()
    }

    /// Number of actions.
    pub(crate) fn n_actions(&self) -> usize {
        self.wait() + 1 + if self.drops { self.n_slots } else { 0 }
    }

    /// Length of an observation.
    pub(crate) fn n_observed(&self) -> usize {
        self.n_slots * SLOT + self.n_accelerators() * ACCELERATOR + 1
    }

    /// Latency of every layer of every model on every accelerator, for one sample \[ns\], at
    /// `[model][accelerator][layer]`; empty where an accelerator cannot run the model.
    pub(crate) fn layer_latencies(&self) -> Vec<Vec<Vec<u64>>> {
        let accelerators = || (0..self.n_accelerators()).map(AccelId::new);
        let of = |model: xrsim::ModelId, at: AccelId| {
            let execution = self.costs.on(model, at);
            let n_layers = if execution.is_offered() { self.costs.n_layers(model) } else { 0 };
            (0..n_layers).map(|layer| execution.layer_time(layer).ns()).collect()
        };
        let models = self.plan.scenario.model_ids();
        models.map(|model| accelerators().map(|at| of(model, at)).collect()).collect()
    }
}

/// What an episode borrows from.
struct Ground {
    rules: Arc<Rules>,
    plan: Plan,
    requests: RequestStream,
}

self_cell!(
    struct Played {
        owner: Ground,
        #[not_covariant]
        dependent: Stepwise,
    }
);

/// A game: episodes of a run, one replication each.
pub(crate) struct Game {
    rules: Arc<Rules>,
    episode: Option<Episode>,
}

/// A replication that is played.
struct Episode {
    played: Played,
    counted: Counted,
    /// Reward of the inference score 1 of a frame of each model.
    weights: Vec<f64>,
    /// Reward that no decision changes: the score of models that were never triggered.
    constant: f64,
    n_frames: f64,
    /// Reward of what has ended since the last step.
    reward: f64,
    ended: Vec<Ended>,
    /// Whether what ended before the first step is still to be told with that step.
    is_fresh: bool,
    is_over: bool,
}

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub model: usize,
    pub frame: usize,
    pub outcome: &'static str,
    pub deadline_ns: u64,
    pub end_ns: Option<u64>,
    pub score: f64,
}

/// Result of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub reward: f64,
    pub is_over: bool,
    /// Whether the action was not allowed, and counted as waiting.
    pub is_invalid: bool,
}

impl Game {
    pub(crate) fn new(rules: Arc<Rules>) -> Self {
        Self { rules, episode: None }
    }

    /// Begins a replication.
    pub(crate) fn reset(&mut self, seed: u64, replication: u64) -> Result<(), String> {
        let mut plan = self.rules.plan.clone();
        plan.load.seed = seed;
        plan.load.replication = replication;
        let requests = plan.requests().map_err(|error| error.to_string())?;
        let counted = Counted::new(&plan.scenario, plan.warm_up());
        let mut n_counted = vec![0u64; plan.scenario.models().len()];
        for request in requests.requests() {
            let is_counted = counted.counts(&Record {
                model: request.model,
                frame: request.frame,
                arrival: request.arrival,
                deadline: request.deadline,
                outcome: Outcome::Lost { attempt: None },
            });
            n_counted[request.model.index()] += u64::from(is_counted && request.triggered);
        }
        let never = plan.score.never_triggered.score();
        let n_absent = n_counted.iter().filter(|n| **n == 0).count();
        let n_models = if never.is_some() { n_counted.len() } else { n_counted.len() - n_absent };
        let weight = |n: &u64| if *n == 0 { 0.0 } else { 1.0 / (*n as f64 * n_models as f64) };
        let constant = never.map_or(0.0, |score| score * n_absent as f64 / n_models.max(1) as f64);
        let weights = n_counted.iter().map(weight).collect();
        let n_frames = n_counted.iter().sum::<u64>().max(1) as f64;
        let ground = Ground { rules: Arc::clone(&self.rules), plan, requests };
        let played = Played::try_new(ground, |ground| {
            let run = Stepwise::new(&ground.plan, &ground.rules.costs, &ground.requests);
            run.map_err(|error| error.to_string())
        })?;
        let mut episode = Episode {
            played,
            counted,
            weights,
            constant,
            n_frames,
            reward: 0.0,
            ended: Vec::new(),
            is_fresh: true,
            is_over: false,
        };
        episode.advance(self.rules.reward);
        self.episode = Some(episode);
        Ok(())
    }

    /// Takes an action.
    pub(crate) fn step(&mut self, action: usize) -> Result<Step, String> {
        let rules = &*self.rules;
        let episode = self.episode.as_mut().filter(|it| !it.is_over);
        let episode = episode.ok_or("the episode has ended: call reset")?;
        if !std::mem::take(&mut episode.is_fresh) {
            episode.ended.clear();
        }
        let is_invalid = episode.played.with_dependent_mut(|_, run| {
            let decision = run.view().and_then(|view| decided(rules, &view, action));
            let is_invalid = decision.is_none();
            let answered = run.answer(decision.unwrap_or(Decision::Wait));
            answered.map_err(|refused| refused.to_string())?;
            Ok::<_, String>(is_invalid)
        })?;
        episode.advance(rules.reward);
        let reward = std::mem::take(&mut episode.reward);
        Ok(Step { reward, is_over: episode.is_over, is_invalid })
    }

    /// Requests that ended in the last step.
    pub(crate) fn ended(&self) -> &[Ended] {
        self.episode.as_ref().map_or(&[], |episode| &episode.ended)
    }

    /// Writes the observation and the mask of the actions.
    pub(crate) fn observe(&self, observation: &mut [f32], mask: &mut [u8]) {
        observation.fill(0.0);
        mask.fill(0);
        mask[self.rules.wait()] = 1;
        if let Some(episode) = &self.episode {
            episode.played.with_dependent(|_, run| {
                if let Some(view) = run.view() {
                    observe(&self.rules, &view, observation, mask);
                }
            });
        }
    }

    /// Time of the question \[ms\]; `None` at the end.
    pub(crate) fn now_ms(&self) -> Option<f64> {
        let episode = self.episode.as_ref()?;
        episode.played.with_dependent(|_, run| run.view().map(|view| view.now.as_ms()))
    }

    /// Scores of the run so far, as a run with these decisions prints them at its end.
    pub(crate) fn scores(&self) -> Vec<(&'static str, f64)> {
        let Some(episode) = &self.episode else { return Vec::new() };
        episode.played.with_dependent(|ground, run| {
            let total = ground.plan.score(&run.trace()).total;
            let columns = Score::columns();
            columns.filter_map(|column| Some((column.name, column.of(&total)?))).collect()
        })
    }
}

impl Episode {
    /// Plays to the next question, and adds up the reward of what ends.
    fn advance(&mut self, reward: Reward) {
        let Self { played, counted, weights, ended, n_frames, .. } = self;
        let (mut sum, mut is_over) = (0.0, false);
        played.with_dependent_mut(|ground, run| {
            is_over = run.advance().is_none();
            let Plan { scenario, score: settings, .. } = &ground.plan;
            run.ended(|_, record, variant| {
                let model = scenario.model(record.model);
                let scores = score::inference(model, record, variant, settings);
                let value = scores.map_or(0.0, |it| it.inference);
                let (outcome, end) = match record.outcome {
                    Outcome::Executed { end, .. } if end > record.deadline => ("late", Some(end)),
                    Outcome::Executed { end, .. } => ("on_time", Some(end)),
                    Outcome::Dropped { at, .. } => ("dropped", Some(at)),
                    Outcome::NotTriggered => ("not_triggered", None),
                    Outcome::NotCaptured(_) => ("not_captured", None),
                    Outcome::Lost { .. } => ("lost", None),
                };
                if counted.counts(record) {
                    sum += match (reward, outcome) {
                        (Reward::Score, _) => value * weights[record.model.index()],
                        (Reward::Deadline, "on_time") => 1.0 / *n_frames,
                        (Reward::Deadline, "not_triggered" | "not_captured") => 0.0,
                        (Reward::Deadline, _) => -1.0 / *n_frames,
                    };
                }
                ended.push(Ended {
                    model: record.model.index(),
                    frame: record.frame.index(),
                    outcome,
                    deadline_ns: record.deadline.ns(),
                    end_ns: end.map(|it| it.ns()),
                    score: value,
                });
            });
        });
        self.is_over = is_over;
        self.reward += sum;
        if is_over && reward == Reward::Score {
            self.reward += self.constant;
        }
    }
}

/// The decision of an action; `None` if the view does not allow it.
fn decided(rules: &Rules, view: &View<'_>, action: usize) -> Option<Decision> {
    let (wait, n_accelerators) = (rules.wait(), rules.n_accelerators());
    let job = |slot: usize| view.ready.iter().nth(slot).filter(|_| slot < rules.n_slots);
    if action == wait {
        return Some(Decision::Wait);
    }
    if action > wait {
        let job = job(action - wait - 1).filter(|_| rules.drops)?;
        return Some(Decision::Drop(job.request));
    }
    let job = job(action / n_accelerators)?;
    let at = AccelId::new(action % n_accelerators);
    let is_free = view.is_idle(at) && view.execution(job, at).is_offered();
    let dispatch = Dispatch::new(job.request, at).with_granularity(rules.granularity);
    is_free.then(|| dispatch.into())
}

fn observe(rules: &Rules, view: &View<'_>, observation: &mut [f32], mask: &mut [u8]) {
    let (n_slots, n_accelerators) = (rules.n_slots, rules.n_accelerators());
    let (slots, rest) = observation.split_at_mut(n_slots * SLOT);
    for (slot, job) in view.ready.iter().take(n_slots).enumerate() {
        fill_slot(rules, view, job, &mut slots[slot * SLOT..(slot + 1) * SLOT]);
        for &at in view.idle {
            let is_offered = view.execution(job, at).is_offered();
            mask[slot * n_accelerators + at.index()] = u8::from(is_offered);
        }
        if rules.drops {
            mask[rules.wait() + 1 + slot] = 1;
        }
    }
    let (accelerators, backlog) = rest.split_at_mut(n_accelerators * ACCELERATOR);
    let n_models = rules.n_models() as f32;
    for (state, row) in view.accelerators.iter().zip(accelerators.chunks_exact_mut(ACCELERATOR)) {
        match state.activity {
            Activity::Idle { .. } => row[0] = 1.0,
            Activity::Running { predicted_end, .. } => {
                let left = predicted_end.saturating_since(view.now).ns() as f32;
                row[1] = (left / rules.unit_ns).min(MOST);
            }
        }
        row[2] = state.resident.map_or(0.0, |model| (model.index() + 1) as f32 / n_models);
    }
    let waiting = view.ready.len().saturating_sub(n_slots) as f32;
    backlog[0] = waiting.min(MOST_BACKLOG) / MOST_BACKLOG;
}

fn fill_slot(rules: &Rules, view: &View<'_>, job: &Job, row: &mut [f32]) {
    let unit = rules.unit_ns;
    let relative =
        |span: Option<SimSpan>| span.map_or(MOST, |it| (it.ns() as f32 / unit).min(MOST));
    let fastest = view.fastest_idle(job);
    let best = view.accelerator_ids().filter(|&at| view.execution(job, at).is_offered());
    let best = best.map(|at| view.remaining(job, at)).min();
    let energy = fastest.map_or(0.0, |at| view.remaining_energy(job, at).get());
    let energy_max = rules.plan.score.energy_max.get();
    let misses = view.history[job.model.index()].misses.count_ones();
    row.copy_from_slice(&[
        1.0,
        (view.slack_ms(job) as f32 * 1e6 / unit).clamp(-MOST, MOST),
        relative(fastest.map(|at| view.remaining(job, at))),
        relative(best),
        ((energy / energy_max) as f32).clamp(0.0, MOST),
        relative(Some(view.waited(job))),
        misses as f32 / 64.0,
        job.model.index() as f32 / rules.n_models() as f32,
    ]);
}
