//! Loop of the artifact: events at the ticks of the fastest model and at completions (rules R5 to R10).
//!
//! Every time is in single-precision milliseconds, rounded after each operation.

use std::borrow::Cow;
use std::collections::VecDeque;

use xrsim_model::cancel::Steps;
use xrsim_model::ids::{AccelId, ModelId, RequestId};

use super::lower::{Inputs, Model};
use super::rand::Rand;

/// A running job is complete if it ends within this span after the event \[ms\] (rule R6).
const RETIRE_MARGIN_MS: f32 = 0.01;

/// Result of the loop.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    /// Every frame of the window in order of injection, also frames that were not triggered; indexed by
    /// [`RequestId`].
    pub requests: Vec<Request>,
    /// Executed and dropped requests in the order in which they were logged.
    pub log: Vec<RequestId>,
}

/// A frame of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Request {
    pub model: ModelId,
    pub frame: u32,
    /// Time of the event that injected the frame, which is not its nominal time \[ms\].
    pub injection_ms: f32,
    /// Nominal start of the next frame \[ms\].
    pub deadline_ms: f32,
    pub fate: Fate,
}

/// State of a request during the loop, and its outcome after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fate {
    /// The draw of the trigger failed.
    NotTriggered,
    /// In the queue of its model.
    Waiting,
    /// On an accelerator, and not retired.
    Running(Execution),
    /// Retired.
    Executed(Execution),
    /// Dropped from its queue at this time \[ms\].
    Dropped(f32),
}

/// An execution of a request on an accelerator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Execution {
    pub accelerator: AccelId,
    pub dispatch_ms: f32,
    pub completion_ms: f32,
}

/// Replays `inputs` with the draws of `srand(seed)`.
pub(super) fn replay(inputs: &Inputs, seed: u32) -> History {
    let mut run = Run::new(inputs, seed);
    let mut steps = Steps::default();
    while run.frames_remain() || (inputs.without.early_end && run.is_busy()) {
        run.inject();
        run.retire();
        run.drop_expired();
        run.dispatch_ready();
        run.advance();
        steps.step();
    }
    run.history
}

/// State of the loop.
struct Run<'a> {
    inputs: &'a Inputs,
    rand: Rand,
    now_ms: f32,
    /// Number of ticks that have passed.
    ticks: u32,
    /// State of every model, indexed by [`ModelId`].
    states: Vec<ModelState>,
    /// Request that runs on each accelerator, with its completion time \[ms\]; indexed by [`AccelId`].
    running: Vec<Option<(RequestId, f32)>>,
    history: History,
}

/// State of a model in the loop.
#[derive(Default)]
struct ModelState {
    /// Number of frames that were considered for injection, which is the number of the next frame.
    n_injected: u32,
    /// Number of completed frames, which the artifact compares with frame numbers (rule R8).
    n_completed: u32,
    /// Numbers of the completed frames, for runs without the quirk `completion-count`.
    completed: Vec<u32>,
    waiting: VecDeque<RequestId>,
}

impl<'a> Run<'a> {
    fn new(inputs: &'a Inputs, seed: u32) -> Self {
        let n_requests: u32 = inputs.models.iter().map(|model| model.n_frames).sum();
        Self {
            inputs,
            rand: Rand::new(seed),
            now_ms: 0.0,
            ticks: 0,
            states: inputs.models.iter().map(|_| ModelState::default()).collect(),
            running: vec![None; inputs.n_accelerators],
            history: History {
                requests: Vec::with_capacity(n_requests as usize),
                log: Vec::with_capacity(n_requests as usize),
            },
        }
    }

    fn frames_remain(&self) -> bool {
        let mut models = self.inputs.models.iter().zip(&self.states);
        models.any(|(model, state)| state.n_injected < model.n_frames)
    }

    /// Whether any request runs or waits.
    fn is_busy(&self) -> bool {
        let waits = |state: &ModelState| !state.waiting.is_empty();
        self.running.iter().any(Option::is_some) || self.states.iter().any(waits)
    }

    /// Injects at most one frame of each model (rule R5).
    fn inject(&mut self) {
        for (index, model) in self.inputs.models.iter().enumerate() {
            // The draw of the jitter is never used.
            self.rand.unit();
            let frame = self.states[index].n_injected;
            if frame < model.n_frames && model.frame_start_ms(frame) <= self.now_ms {
                self.states[index].n_injected += 1;
                let drawn = model.probability > self.rand.unit();
                let triggered = model.triggers(frame).unwrap_or(drawn);
                self.admit(ModelId::new(index), frame, triggered);
            }
        }
    }

    fn admit(&mut self, model: ModelId, frame: u32, triggered: bool) {
        let id = RequestId::new(self.history.requests.len());
        let fate = if triggered {
            self.states[model.index()].waiting.push_back(id);
            Fate::Waiting
        } else {
            Fate::NotTriggered
        };
        self.history.requests.push(Request {
            model,
            frame,
            injection_ms: self.now_ms,
            deadline_ms: self.inputs.models[model.index()].frame_start_ms(frame + 1),
            fate,
        });
    }

    /// Retires completed jobs, accelerators in file order (rule R6).
    fn retire(&mut self) {
        let margin_ms = if self.inputs.without.early_retire { 0.0 } else { RETIRE_MARGIN_MS };
        for slot in &mut self.running {
            if let Some((id, completion_ms)) = *slot
                && self.now_ms + margin_ms >= completion_ms
            {
                *slot = None;
                let request = &mut self.history.requests[id.index()];
                if let Fate::Running(execution) = request.fate {
                    request.fate = Fate::Executed(execution);
                }
                let state = &mut self.states[request.model.index()];
                state.n_completed += 1;
                state.completed.push(request.frame);
                self.history.log.push(id);
            }
        }
    }

    /// Drops expired frames: passes over the models in name order, the first frame of each queue, until a
    /// pass drops nothing (rule R7).
    fn drop_expired(&mut self) {
        let inputs = self.inputs;
        let mut changed = true;
        while changed {
            changed = false;
            for &model in &*self.served(&inputs.by_name) {
                changed |= self.drop_head_if_expired(model);
            }
        }
    }

    /// Models in the order in which they are served: by name, or without the quirk `name-order` by the
    /// deadline of the first waiting frame.
    fn served<'m>(&self, by_name: &'m [ModelId]) -> Cow<'m, [ModelId]> {
        if !self.inputs.without.name_order {
            return Cow::Borrowed(by_name);
        }
        let deadline_ms = |model: &ModelId| {
            let head = self.states[model.index()].waiting.front();
            head.map_or(f32::INFINITY, |id| self.history.requests[id.index()].deadline_ms)
        };
        let mut models = by_name.to_vec();
        models.sort_by(|a, b| deadline_ms(a).total_cmp(&deadline_ms(b)));
        Cow::Owned(models)
    }

    fn drop_head_if_expired(&mut self, model: ModelId) -> bool {
        let queue = &mut self.states[model.index()].waiting;
        let Some(&id) = queue.front() else {
            return false;
        };
        let request = &mut self.history.requests[id.index()];
        let in_time = if self.inputs.without.late_drop {
            request.deadline_ms > self.now_ms
        } else {
            request.deadline_ms >= self.now_ms
        };
        if in_time {
            return false;
        }
        request.fate = Fate::Dropped(self.now_ms);
        queue.pop_front();
        self.history.log.push(id);
        true
    }

    /// Starts frames: passes over the models in name order, one frame of each, until a pass starts nothing
    /// (rule R8).
    fn dispatch_ready(&mut self) {
        let inputs = self.inputs;
        let mut changed = true;
        while changed {
            changed = false;
            for &model in &*self.served(&inputs.by_name) {
                changed |= self.dispatch_head_if_ready(model);
            }
        }
    }

    fn dispatch_head_if_ready(&mut self, model: ModelId) -> bool {
        let Some(&id) = self.states[model.index()].waiting.front() else {
            return false;
        };
        if !self.dependencies_met(id) {
            return false;
        }
        let Some(accelerator) = self.fastest_idle(model) else {
            return false;
        };
        let completion_ms = self.now_ms + self.inputs.cost(model, accelerator).latency_ms;
        self.states[model.index()].waiting.pop_front();
        self.running[accelerator.index()] = Some((id, completion_ms));
        self.history.requests[id.index()].fate =
            Fate::Running(Execution { accelerator, dispatch_ms: self.now_ms, completion_ms });
        true
    }

    /// Whether every upstream model has completed often enough, whichever frames it completed (rule R8);
    /// without the quirk `completion-count`, whether it has completed the same frame.
    fn dependencies_met(&self, id: RequestId) -> bool {
        let request = &self.history.requests[id.index()];
        let model = &self.inputs.models[request.model.index()];
        let mut dependencies = model.dependencies.iter();
        let by_frame = self.inputs.without.completion_count;
        dependencies.all(|upstream| {
            let state = &self.states[upstream.index()];
            match by_frame {
                true => state.completed.contains(&request.frame),
                false => state.n_completed > request.frame,
            }
        })
    }

    /// The idle accelerator with the fewest cycles for `model`; the first of equals.
    fn fastest_idle(&self, model: ModelId) -> Option<AccelId> {
        (0..self.running.len())
            .filter(|&index| self.running[index].is_none())
            .map(AccelId::new)
            .min_by_key(|&accelerator| self.inputs.cost(model, accelerator).cycles)
    }

    /// Advances time to the next tick, or to a completion before it (rule R9).
    fn advance(&mut self) {
        let tick_ms = self.inputs.tick.times(self.ticks + 1);
        let completions = self.running.iter().flatten().map(|&(_, end_ms)| end_ms);
        let mut next_ms = completions.fold(tick_ms, f32::min);
        if self.inputs.without.injection_at_events {
            next_ms = self.frame_starts().fold(next_ms, f32::min);
        }
        if self.inputs.without.late_drop {
            next_ms = self.deadlines().fold(next_ms, f32::min);
        }
        debug_assert!(self.now_ms < next_ms, "time runs forward");
        if next_ms == tick_ms {
            self.ticks += 1;
        }
        self.now_ms = next_ms;
    }
}

/// Events of runs without some quirks, which the artifact does not have.
impl Run<'_> {
    /// Nominal starts of the next frames after now \[ms\].
    fn frame_starts(&self) -> impl Iterator<Item = f32> {
        let models = self.inputs.models.iter().zip(&self.states);
        let next = models.filter(|(model, state)| state.n_injected < model.n_frames);
        let starts = next.map(|(model, state)| model.frame_start_ms(state.n_injected));
        starts.filter(|&start_ms| start_ms > self.now_ms)
    }

    /// Deadlines of waiting frames after now \[ms\].
    fn deadlines(&self) -> impl Iterator<Item = f32> {
        let waiting = self.states.iter().flat_map(|state| &state.waiting);
        let deadlines = waiting.map(|id| self.history.requests[id.index()].deadline_ms);
        deadlines.filter(|&deadline_ms| deadline_ms > self.now_ms)
    }
}

impl Model {
    /// Whether `frame` is triggered, if that is fixed and not drawn.
    fn triggers(&self, frame: u32) -> Option<bool> {
        self.fixed.map(|bits| frame < 64 && bits >> frame & 1 == 1)
    }

    /// Nominal start of `frame` \[ms\].
    fn frame_start_ms(&self, frame: u32) -> f32 {
        self.period.times(frame)
    }
}

#[cfg(test)]
mod tests {
    use crate::compat::fixture::{model, replay, story};

    #[test]
    fn the_fastest_idle_accelerator_wins_and_the_first_of_equals() {
        let models = [model("a", 60.0, &[5.0, 3.0, 3.0]), model("b", 60.0, &[1.0, 2.0, 9.0])];
        let story = story(&replay(&models, 1));
        assert_eq!(story[0], "a0 0-16: acc 1 from 0 to 3");
        assert_eq!(story[1], "b0 0-16: acc 0 from 0 to 1");
    }

    #[test]
    fn a_dependant_starts_when_its_upstream_is_retired() {
        let models = [model("b", 60.0, &[2.0, 9.0]).after(1), model("u", 60.0, &[4.0, 3.0])];
        let story = story(&replay(&models, 1));
        assert_eq!(story[0], "b0 0-16: acc 0 from 3 to 5");
        assert_eq!(story[1], "u0 0-16: acc 1 from 0 to 3");
    }

    #[test]
    fn late_jobs_run_to_their_end() {
        let story = story(&replay(&[model("a", 60.0, &[20.0])], 1));
        assert_eq!(story[0], "a0 0-16: acc 0 from 0 to 20");
        assert_eq!(story[1], "a1 16-32: acc 0 from 20 to 40");
        // a2 starts at 40 ms and a3 at 60 ms.
        assert_eq!(story[3], "a3 48-64: acc 0 from 60 to 80");
        // At 80 ms frame 4 has waited since 64 ms, and its deadline is now.
        assert_eq!(story[4], "a4 64-80: acc 0 from 80 to 100");
        assert_eq!(story[5], "a5 80-96: dropped at 100");
    }

    #[test]
    fn the_window_ends_with_the_slowest_model() {
        // 45 FPS: 31 frames of 22 ms; the last one is due and injected at 660 ms.
        let story = story(&replay(&[model("a", 45.0, &[1.0])], 1));
        assert_eq!(story.len(), 31);
        assert_eq!(story[30], "a30 660-682: lost running");
    }

    #[test]
    fn a_model_below_2_fps_never_runs() {
        assert_eq!(story(&replay(&[model("a", 1.0, &[1.0])], 1)), [""; 0]);
    }

    #[test]
    fn the_seed_decides_what_is_triggered() {
        // The fourth draw decides b0: 0.80 with seed 1, 0.42 with seed 42.
        let first = |seed| {
            let models = [model("a", 60.0, &[1.0]), model("b", 60.0, &[1.0]).triggered_by(0, 0.5)];
            story(&replay(&models, seed))[1].clone()
        };
        assert_eq!(first(1), "b0 0-16: not triggered");
        assert_eq!(first(42), "b0 0-16: acc 0 from 1 to 2");
    }
}
