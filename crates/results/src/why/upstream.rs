//! Dependencies between the requests of a run.

use std::cmp::Reverse;
use std::collections::HashMap;

use xrsim_model::ids::{FrameId, ModelId, RequestId};
use xrsim_model::scenario::{Dependency, DependencyKind, Scenario};
use xrsim_model::trace::{Outcome, Record, Trace};
use xrsim_model::units::SimTime;
use xrsim_sim::load;
use xrsim_sim::plan::Plan;

use super::room;

/// A dependency of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// Upstream model.
    pub model: ModelId,
    /// Data or control.
    pub kind: DependencyKind,
    /// The completed request that fulfilled the dependency; `None` if there was none.
    pub served_by: Option<RequestId>,
    /// Whether it made room for the cache of a sequence, and has no result that is needed.
    pub makes_room: bool,
    /// The request that explains the wait: the same, or the one that is missing. `None` if the upstream
    /// model has no frames.
    pub decided_by: Option<RequestId>,
}

/// Rule by which a frame waits for frames of an upstream model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaits {
    /// It waits for the newest frame at its own nominal start: `principled`.
    Newest,
    /// It waits for the frame with its own number: `mlsys2023` without the quirk `completion-count`.
    Same,
    /// It waits for as many completions of any frames as its number plus one: `mlsys2023`.
    Completions,
}

/// Finds the dependencies of requests.
pub struct Dependencies<'a> {
    scenario: &'a Scenario,
    awaits: Awaits,
    trace: &'a Trace,
    /// Requests, indexed by [`ModelId`] and [`FrameId`].
    frames: Vec<Vec<Option<RequestId>>>,
    /// Completed requests of every model in order of completion; empty unless they are counted.
    completions: Vec<Vec<RequestId>>,
    /// First frame of every model that never completed; empty unless completions are counted.
    first_missing: Vec<Option<FrameId>>,
    /// Requests that waited for room of a cache, each with the request whose end made it.
    room: HashMap<RequestId, RequestId>,
}

impl<'a> Dependencies<'a> {
    pub(super) fn new(scenario: &'a Scenario, awaits: Awaits, trace: &'a Trace) -> Self {
        let frames = frames(scenario, trace);
        let counted: &[_] = if awaits == Awaits::Completions { &frames } else { &[] };
        let completions = counted.iter().map(|frames| completions(frames, trace)).collect();
        let missing = |frames: &Vec<Option<RequestId>>| {
            let done = |id: &Option<RequestId>| id.is_some_and(|id| end(trace, id).is_some());
            frames.iter().position(|id| !done(id)).map(FrameId::new)
        };
        let first_missing = counted.iter().map(missing).collect();
        Self { scenario, awaits, trace, frames, completions, first_missing, room: HashMap::new() }
    }

    /// The same, with the waits for room of caches of the run of `plan`.
    pub(super) fn with_room(mut self, plan: &Plan) -> Self {
        self.room = room::waits(plan, self.trace, |id| {
            let record = self.trace.record(id);
            let mut ends = self.of(record).map(|need| self.end(need));
            ends.try_fold(record.arrival, |latest, end| Some(latest.max(end?)))
        });
        self
    }

    /// The end that made room for the cache of a request which waited for it.
    fn room_of(&self, record: &Record) -> Option<Need> {
        let id = self.request(record.model, record.frame)?;
        let served_by = self.room.get(&id).copied()?;
        Some(Need {
            model: self.trace.record(served_by).model,
            kind: DependencyKind::Data,
            makes_room: true,
            served_by: Some(served_by),
            decided_by: Some(served_by),
        })
    }

    /// Dependencies of a request, in the order of the scenario file.
    pub(super) fn of(&self, record: &Record) -> impl Iterator<Item = Need> {
        let (model, active) = (record.model, self.scenario.model(record.model));
        let frame = FrameId::new(active.start_of(record.frame) as usize);
        let before = self.before(record);
        let n_own = if before.is_some() { 0 } else { active.dependencies.len() };
        let dependencies = active.dependencies[..n_own].iter();
        let dependencies = dependencies.map(move |dependency| match self.awaits {
            Awaits::Newest => {
                let rate = |id: ModelId| self.scenario.model(id).rate;
                let newest = load::upstream_frame(frame, rate(model), rate(dependency.upstream));
                self.by_frame(newest, dependency)
            }
            Awaits::Same => self.by_frame(frame, dependency),
            Awaits::Completions => self.by_count(frame, dependency),
        });
        before.into_iter().chain(dependencies).chain(self.room_of(record))
    }

    /// The request before a request of a sequence, which needs its result.
    pub(super) fn before(&self, record: &Record) -> Option<Need> {
        let active = self.scenario.model(record.model);
        active.sequence.as_ref()?;
        let before = FrameId::new(record.frame.index().checked_sub(1)?);
        let is_of_start = active.start_of(before) == active.start_of(record.frame);
        self.request(record.model, before).filter(|_| is_of_start)?;
        let dependency = Dependency { upstream: record.model, kind: DependencyKind::Data };
        Some(self.by_frame(before, &dependency))
    }

    /// The dependency that was fulfilled last; if some never were, the one that was dropped first.
    pub fn last(&self, record: &Record) -> Option<Need> {
        self.of(record).max_by_key(|need| match self.end(*need) {
            Some(end) => (false, Some(end), Reverse(SimTime::ZERO)),
            None => (true, None, Reverse(self.given_up(*need))),
        })
    }

    /// Time at which a dependency was fulfilled.
    pub(super) fn end(&self, need: Need) -> Option<SimTime> {
        let id = need.served_by?;
        match self.trace.record(id).outcome {
            // A sequence that was dropped frees its cache, too.
            Outcome::Dropped { at, .. } if need.makes_room => Some(at),
            _ => end(self.trace, id),
        }
    }

    fn given_up(&self, need: Need) -> SimTime {
        match need.decided_by.map(|id| self.trace.record(id).outcome) {
            Some(Outcome::Dropped { at, .. }) => at,
            _ => SimTime::MAX,
        }
    }

    fn by_frame(&self, needed: FrameId, dependency: &Dependency) -> Need {
        let request = self.request(dependency.upstream, needed);
        Need {
            model: dependency.upstream,
            kind: dependency.kind,
            makes_room: false,
            served_by: request.filter(|&id| end(self.trace, id).is_some()),
            decided_by: request,
        }
    }

    /// A dependency by counts: the completion with the number of `frame` fulfils it. If a frame up to
    /// its own never completed, the first such frame explains the wait.
    fn by_count(&self, frame: FrameId, dependency: &Dependency) -> Need {
        let upstream = dependency.upstream;
        let served_by = self.completions[upstream.index()].get(frame.index()).copied();
        let missing = self.first_missing[upstream.index()].filter(|missing| *missing <= frame);
        let missing = missing.and_then(|missing| self.request(upstream, missing));
        let newest = || self.frames[upstream.index()].iter().rev().find_map(|id| *id);
        Need {
            model: upstream,
            kind: dependency.kind,
            makes_room: false,
            served_by,
            decided_by: missing.or(served_by).or_else(newest),
        }
    }

    fn request(&self, model: ModelId, frame: FrameId) -> Option<RequestId> {
        self.frames[model.index()].get(frame.index()).copied().flatten()
    }
}

fn frames(scenario: &Scenario, trace: &Trace) -> Vec<Vec<Option<RequestId>>> {
    let mut frames = vec![Vec::new(); scenario.models().len()];
    for (index, record) in trace.records().iter().enumerate() {
        let (frames, frame) = (&mut frames[record.model.index()], record.frame.index());
        if frames.len() <= frame {
            frames.resize(frame + 1, None);
        }
        frames[frame] = Some(RequestId::new(index));
    }
    frames
}

fn completions(frames: &[Option<RequestId>], trace: &Trace) -> Vec<RequestId> {
    let ended = frames.iter().flatten().filter_map(|&id| Some((end(trace, id)?, id)));
    let mut ended: Vec<_> = ended.collect();
    ended.sort();
    ended.into_iter().map(|(_, id)| id).collect()
}

/// Time at which a request completed.
fn end(trace: &Trace, id: RequestId) -> Option<SimTime> {
    match trace.record(id).outcome {
        Outcome::Executed { end, .. } => Some(end),
        _ => None,
    }
}
