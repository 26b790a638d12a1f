//! Load of a profile: the requests of its phases, one after another.

use std::collections::VecDeque;
use std::sync::Arc;

use xrsim_model::ids::{ModelId, RequestId};
use xrsim_model::scenario::{Activity, Chain, Course, Phase, Profile, Scenario};
use xrsim_model::units::{SimSpan, SimTime};

use super::random::{Draws, Purpose};
use super::{Generator, LoadError, LoadSettings, Request};

/// Phases of a run of a profile, and the load of each.
///
/// Phase `i` begins at `T_i`. Its load is that of [`generate`](super::generate) with origin `T_i`: sensors start their
/// grids, and frames of every model count from 0. Draws of phase 0 are those of a run of its scenario. Requests of a
/// phase that has ended keep their deadlines beside those of the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct Phases {
    profile: Arc<Profile>,
    phases: Vec<PlayedPhase>,
    /// Every scenario once, with the place of its first model in the union.
    parts: Vec<(Arc<Scenario>, usize)>,
    union: Arc<Scenario>,
}

/// A phase of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayedPhase {
    /// Activity.
    pub activity: Arc<Activity>,
    /// Begin.
    pub begin: SimTime,
    /// Its load: the duration, and the number of the phase.
    pub load: LoadSettings,
    /// Number of its requests.
    pub n_requests: usize,
    /// Index of its scenario among the distinct ones.
    part: Option<usize>,
}

impl PlayedPhase {
    /// End: the begin of the next one.
    pub fn end(&self) -> SimTime {
        self.begin + self.load.duration
    }
}

impl Phases {
    /// The phases of a run of `profile`, drawn if it is a chain. All of `settings` but the duration holds for each.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if a phase has too many requests, all have, or a recording is too short; or if there are too many
    /// phases.
    ///
    /// # Panics
    ///
    /// If no phase has a scenario.
    pub fn new(profile: &Arc<Profile>, settings: &LoadSettings) -> Result<Self, LoadError> {
        let mut parts: Vec<(Arc<Scenario>, usize)> = Vec::new();
        let mut n_models = 0;
        for scenario in profile.scenarios() {
            let first = n_models;
            n_models += scenario.models().len();
            parts.push((scenario, first));
        }
        let scenarios: Vec<_> = parts.iter().map(|(scenario, _)| Arc::clone(scenario)).collect();
        let drawn = match &profile.course {
            Course::Fixed(phases) => phases.clone(),
            Course::Chain(chain) => draw(chain, settings)?,
        };
        let (mut phases, mut begin, mut total) = (Vec::new(), SimTime::ZERO, 0u64);
        for (number, Phase { activity, duration }) in (0u32..).zip(drawn) {
            let load = LoadSettings { duration, phase: number, ..settings.clone() };
            let place = |of: &Arc<Scenario>| parts.iter().position(|(it, _)| Arc::ptr_eq(it, of));
            let part = activity.scenario.as_ref().and_then(place);
            let n_requests = match part {
                Some(part) => Generator::new(&parts[part].0, &load)?.n_requests(),
                None => 0,
            };
            total += n_requests as u64;
            phases.push(PlayedPhase { activity, begin, load, n_requests, part });
            begin = begin + duration;
        }
        if phases.len() > Profile::MAX_PHASES || total >= u64::from(u32::MAX) {
            return Err(LoadError::ProfileTooLong { phases: phases.len(), requests: total });
        }
        let union = Arc::new(Scenario::union(profile.name.clone(), &scenarios));
        Ok(Self { profile: Arc::clone(profile), phases, parts, union })
    }

    /// Name of the profile.
    pub fn name(&self) -> &str {
        &self.profile.name
    }

    /// The profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// All phases in their order.
    pub fn all(&self) -> &[PlayedPhase] {
        &self.phases
    }

    /// The models of all scenarios as one scenario.
    pub fn union(&self) -> &Arc<Scenario> {
        &self.union
    }

    /// The scenario of a phase, and the place of its first model among those of the union.
    pub fn scenario_of(&self, phase: &PlayedPhase) -> Option<(&Arc<Scenario>, usize)> {
        phase.part.map(|part| (&self.parts[part].0, self.parts[part].1))
    }

    /// Duration of all phases.
    pub fn duration(&self) -> SimSpan {
        self.phases.last().map_or(SimSpan::ZERO, |last| last.end() - SimTime::ZERO)
    }
}

/// Phases of a chain until its duration is over.
fn draw(chain: &Chain, settings: &LoadSettings) -> Result<Vec<Phase>, LoadError> {
    let draws = |purpose| Draws::new(settings, purpose, &[]);
    let (of_dwell, of_next) = (draws(Purpose::Stay), draws(Purpose::Next));
    let (mut phases, mut state, mut left) = (Vec::new(), chain.start, chain.duration);
    for number in 0.. {
        if phases.len() == Profile::MAX_PHASES {
            return Err(LoadError::TooManyPhases);
        }
        let at = &chain.states[state];
        let beyond = match at.beyond.mean {
            SimSpan::ZERO => SimSpan::ZERO,
            _ => of_dwell.dwell(number, at.beyond, at.distribution),
        };
        // A phase of no time would never end the chain.
        let stay = at.least.saturating_add(beyond).max(SimSpan::from_ns(1));
        let duration = stay.min(left);
        phases.push(Phase { activity: Arc::clone(&at.activity), duration });
        left = SimSpan::from_ns(left.ns() - duration.ns());
        if left == SimSpan::ZERO {
            break;
        }
        let mut unit = of_next.unit(number);
        let drawn = at.next.iter().find(|(_, probability)| {
            unit -= probability;
            unit < 0.0
        });
        // Probabilities add up to 1 but for rounding.
        state = drawn.or(at.next.last()).map_or(state, |(next, _)| *next);
    }
    Ok(phases)
}

/// Requests of all phases in order of (arrival, deadline, model, frame), made as they are taken.
pub struct PhasedGenerator<'a> {
    phases: &'a Phases,
    /// Phases that have begun and have requests left, or whose requests wait to be taken.
    open: VecDeque<Source<'a>>,
    /// Number of the first open phase.
    first_open: usize,
    /// Requests that have a number and are not taken.
    merged: VecDeque<Merged>,
    n_merged: usize,
    /// Empty lists.
    spare: Vec<Vec<RequestId>>,
}

/// A request that has its number.
struct Merged {
    request: Request,
    /// Numbers within the phase of the requests that it needs.
    upstream: Vec<RequestId>,
}

/// A phase whose requests are merged.
struct Source<'a> {
    generator: Option<Generator<'a>>,
    /// Place of its first model.
    first_model: usize,
    begin: SimTime,
    /// The next request.
    head: Option<Merged>,
    /// Number of requests that were merged, and of those of which that were taken.
    n_merged: usize,
    n_taken: usize,
    /// From which number within the phase on the number of a request is larger by how much. A phase alone has one entry;
    /// each request of another phase between its own ones adds one.
    shifts: Vec<(usize, usize)>,
}

impl Source<'_> {
    /// Makes sure that the next request is there, if there is one.
    fn fill(&mut self, spare: &mut Vec<Vec<RequestId>>) {
        if self.head.is_some() {
            return;
        }
        let mut upstream = spare.pop().unwrap_or_default();
        let taken = self.generator.as_mut().and_then(|it| it.take(&mut upstream));
        match taken {
            None => spare.push(upstream),
            Some(request) => {
                let since = self.begin.saturating_since(SimTime::ZERO);
                let request = Request {
                    model: ModelId::new(self.first_model + request.model.index()),
                    arrival: request.arrival + since,
                    deadline: request.deadline + since,
                    ..request
                };
                self.head = Some(Merged { request, upstream });
            }
        }
    }

    /// Number of a request of this phase in the run; `None` if it was not merged yet.
    fn number(&self, local: RequestId) -> Option<RequestId> {
        let local = local.index();
        let later = self.shifts.partition_point(|(from, _)| *from <= local);
        let (_, shift) = self.shifts[..later].last().filter(|_| local < self.n_merged)?;
        Some(RequestId::new(local + shift))
    }
}

impl<'a> PhasedGenerator<'a> {
    /// The requests of `phases`, none of which is made.
    pub fn new(phases: &'a Phases) -> Self {
        let (open, merged) = (VecDeque::new(), VecDeque::new());
        Self { phases, open, first_open: 0, merged, n_merged: 0, spare: Vec::new() }
    }

    /// Number of requests in all.
    pub fn n_requests(&self) -> usize {
        self.phases.phases.iter().map(|phase| phase.n_requests).sum()
    }

    /// Takes the next request, as [`Generator::take`].
    pub fn take(&mut self, upstream: &mut Vec<RequestId>) -> Option<Request> {
        if self.merged.is_empty() && !self.merge() {
            return None;
        }
        upstream.clear();
        let place = self.merged[0].request.phase as usize - self.first_open;
        for at in 0..self.merged[0].upstream.len() {
            let local = self.merged[0].upstream[at];
            let number = loop {
                match self.open[place].number(local) {
                    Some(number) => break number,
                    None if self.merge() => {}
                    None => unreachable!("a request that another one needs comes in its phase"),
                }
            };
            upstream.push(number);
        }
        let Merged { request, upstream: mut list } = self.merged.pop_front()?;
        list.clear();
        self.spare.push(list);
        self.open[place].n_taken += 1;
        while let Some(first) = self.open.front_mut().filter(|it| it.n_taken == it.n_merged) {
            first.fill(&mut self.spare);
            if first.head.is_some() {
                break;
            }
            self.open.pop_front();
            self.first_open += 1;
        }
        Some(request)
    }

    /// Gives the next request its number. Returns whether there is one.
    fn merge(&mut self) -> bool {
        let next = loop {
            for source in &mut self.open {
                source.fill(&mut self.spare);
            }
            let key = |it: &Merged| {
                let Request { arrival, deadline, model, frame, .. } = it.request;
                (arrival, deadline, model, frame)
            };
            let heads = self.open.iter().enumerate();
            let heads = heads.filter_map(|(at, it)| Some((key(it.head.as_ref()?), at)));
            let next = heads.min();
            // No request arrives before its phase.
            match self.phases.phases.get(self.first_open + self.open.len()) {
                Some(phase) if next.is_none_or(|((arrival, ..), _)| phase.begin <= arrival) => {
                    self.open(phase);
                }
                _ => break next,
            }
        };
        let Some((_, at)) = next else { return false };
        let shift = self.n_merged - self.open[at].n_merged;
        let source = &mut self.open[at];
        if source.shifts.last().is_none_or(|(_, last)| *last != shift) {
            source.shifts.push((source.n_merged, shift));
        }
        source.n_merged += 1;
        self.n_merged += 1;
        self.merged.extend(source.head.take());
        true
    }

    /// Begins `phase`.
    fn open(&mut self, phase: &'a PlayedPhase) {
        let scenario = self.phases.scenario_of(phase);
        // It was made once before, without an error.
        let generator = scenario.and_then(|(it, _)| Generator::new(it, &phase.load).ok());
        let first_model = scenario.map_or(0, |(_, first)| first);
        let (begin, head, shifts) = (phase.begin, None, Vec::new());
        self.open.push_back(Source {
            generator,
            first_model,
            begin,
            head,
            n_merged: 0,
            n_taken: 0,
            shifts,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{FrameMapping, generate};
    use xrsim_model::scenario::{Dwell, DwellDistribution, State};

    fn ms(ms: f64) -> SimSpan {
        SimSpan::from_ms(ms).expect("it is a span")
    }

    fn activity(name: &str, scenario: Option<&Arc<Scenario>>) -> Arc<Activity> {
        let scenario = scenario.cloned();
        Arc::new(Activity { name: name.into(), scenario, base_mw: None, ambient_c: None })
    }

    fn fixed(phases: Vec<Phase>) -> Arc<Profile> {
        Arc::new(Profile { name: "profile".into(), course: Course::Fixed(phases) })
    }

    fn taken(phases: &Phases) -> Vec<(Request, Vec<RequestId>)> {
        let mut generator = PhasedGenerator::new(phases);
        let (mut all, mut upstream) = (Vec::new(), Vec::new());
        while let Some(request) = generator.take(&mut upstream) {
            all.push((request, upstream.clone()));
            assert!(generator.open.len() <= phases.all().len());
        }
        assert_eq!(all.len(), generator.n_requests());
        all
    }

    /// The same by the plain rule: all requests of all phases are made and sorted, and each gets its place as its number.
    fn sorted(phases: &Phases) -> Vec<(Request, Vec<RequestId>)> {
        let mut all = Vec::new();
        for (number, phase) in phases.all().iter().enumerate() {
            let Some((scenario, first)) = phases.scenario_of(phase) else { continue };
            let stream = generate(scenario, &phase.load).expect("it is small");
            let since = phase.begin - SimTime::ZERO;
            for (id, request) in stream.requests().iter().enumerate() {
                let request = Request {
                    model: ModelId::new(first + request.model.index()),
                    arrival: request.arrival + since,
                    deadline: request.deadline + since,
                    ..*request
                };
                let id = RequestId::new(id);
                all.push((request, (number, id), stream.upstream(id).to_vec()));
            }
        }
        all.sort_by_key(|(it, ..)| (it.arrival, it.deadline, it.model, it.frame));
        let place = |of: (usize, RequestId)| {
            RequestId::new(all.iter().position(|(_, it, _)| *it == of).expect("it is there"))
        };
        let global =
            |(request, (number, _), upstream): &(Request, (usize, RequestId), Vec<RequestId>)| {
                (*request, upstream.iter().map(|it| place((*number, *it))).collect())
            };
        all.iter().map(global).collect()
    }

    /// Data of the slow sensor comes 700 ms late, so that requests of several short phases interleave, and requests need
    /// others that arrive after them.
    #[test]
    fn requests_of_phases_are_merged_in_order_of_arrival() {
        let one = Arc::new(crate::load::generator::tests::scenario());
        let two = Arc::new(Scenario::union("two", &[Arc::clone(&one), Arc::clone(&one)]));
        let (one, two, none) =
            (activity("one", Some(&one)), activity("two", Some(&two)), activity("none", None));
        let phases = [
            (&one, 900.0),
            (&two, 120.0),
            (&two, 50.0),
            (&none, 80.0),
            (&one, 300.0),
            (&none, 900.0),
            (&two, 400.0),
        ];
        let phase = |(activity, duration): (&Arc<Activity>, f64)| Phase {
            activity: Arc::clone(activity),
            duration: ms(duration),
        };
        let profile = fixed(phases.map(phase).into());
        for frame_mapping in [FrameMapping::Floor, FrameMapping::Ceil, FrameMapping::Nominal] {
            let settings = LoadSettings { frame_mapping, seed: 5, ..LoadSettings::default() };
            let phases = Phases::new(&profile, &settings).expect("it is small");
            assert_eq!(phases.union().models().len(), 18);
            assert_eq!(phases.duration(), ms(2750.0));
            let all = taken(&phases);
            assert!(all == sorted(&phases), "{frame_mapping:?}");
            let forward = |(at, (_, upstream)): (usize, &(Request, Vec<RequestId>))| {
                upstream.iter().any(|it| it.index() > at)
            };
            assert!(all.iter().enumerate().any(forward));
            let back = all.windows(2).filter(|it| it[1].0.phase < it[0].0.phase);
            assert!(back.count() > 0);
        }
    }

    #[test]
    fn a_profile_of_one_phase_has_the_requests_of_a_run() {
        let scenario = Arc::new(crate::load::generator::tests::scenario());
        let settings = LoadSettings { duration: ms(1500.0), seed: 3, ..LoadSettings::default() };
        let phase = Phase { activity: activity("one", Some(&scenario)), duration: ms(1500.0) };
        let phases = Phases::new(&fixed(vec![phase]), &settings).expect("it is small");
        let run = generate(&scenario, &settings).expect("it is small");
        let ids = (0..run.requests().len()).map(RequestId::new);
        let expected: Vec<_> =
            ids.map(|id| (*run.request(id), run.upstream(id).to_vec())).collect();
        assert!(taken(&phases) == expected);
        assert_eq!(phases.union().models(), scenario.models());
    }

    /// A model without sensors and dependencies, so that no request is made before it is asked for.
    #[test]
    fn a_phase_lasts_until_its_last_request() {
        let all = crate::load::generator::tests::scenario();
        let mut model = all.models()[0].clone();
        (model.inputs, model.dependencies) = (Vec::new(), Vec::new());
        let scenario =
            Arc::new(Scenario::new("one", Vec::new(), vec![model]).expect("it is valid"));
        let phase = Phase { activity: activity("one", Some(&scenario)), duration: ms(2000.0) };
        let none = Phase { activity: activity("none", None), duration: ms(1000.0) };
        let profile = fixed(vec![phase.clone(), none, phase]);
        let phases = Phases::new(&profile, &LoadSettings::default()).expect("it is small");
        // 29.97 FPS for 2 s.
        let frames: Vec<_> =
            taken(&phases).iter().map(|(it, _)| (it.phase, it.frame.index())).collect();
        let expected =
            [0, 2].into_iter().flat_map(|phase| (0..60).map(move |frame| (phase, frame)));
        assert_eq!(frames, expected.collect::<Vec<_>>());
    }

    /// Two phases alike: sensors jitter, and results trigger, apart.
    #[test]
    fn draws_differ_from_phase_to_phase() {
        let scenario = Arc::new(crate::load::generator::tests::scenario());
        let phase = Phase { activity: activity("one", Some(&scenario)), duration: ms(3000.0) };
        let profile = fixed(vec![phase.clone(), phase]);
        let phases = Phases::new(&profile, &LoadSettings::default()).expect("it is small");
        let of = |number| {
            let all = taken(&phases).into_iter().filter(move |(it, _)| it.phase == number);
            let since = phases.all()[number as usize].begin;
            let mut key: Vec<_> =
                all.map(|(it, _)| (it.model, it.frame, it.arrival - since, it.triggered)).collect();
            key.sort_unstable();
            key
        };
        let (first, second) = (of(0), of(1));
        assert_ne!(first, second);
        let frames = |all: &[(ModelId, _, _, _)]| all.iter().filter(|it| it.0.index() < 5).count();
        assert_eq!(frames(&first), frames(&second));
    }

    /// idle -> 0.6 assistant, 0.1 gaming, 0.3 walk; walk -> idle or assistant 0.5; the others -> idle. Visits are
    /// stationary at pi = (0.5, 0.375, 0.05, 0.15)/1.075; times are pi times the means of 22, 2, 30 and 15 min.
    #[test]
    fn states_of_a_chain_have_their_shares_of_time() {
        let scenario = Arc::new(crate::load::generator::tests::scenario());
        let names = ["idle", "assistant", "gaming", "walk"];
        let (means, shares) =
            ([22.0, 2.0, 30.0, 15.0], [0.709677419, 0.048387097, 0.096774194, 0.145161290]);
        let next: [&[(usize, f64)]; 4] =
            [&[(1, 0.6), (2, 0.1), (3, 0.3)], &[(0, 1.0)], &[(0, 1.0)], &[(0, 0.5), (1, 0.5)]];
        let minutes = |min: f64| ms(min * 60e3);
        for (distribution, cv, least) in [
            (DwellDistribution::Gamma, 1.0, 0.0),
            (DwellDistribution::Lognormal, 1.8, 0.5),
            (DwellDistribution::Gamma, 1.0, 1.0),
        ] {
            // A scenario is asked for in no phase that takes place.
            let mut states: Vec<State> = (0..4)
                .map(|at| State {
                    activity: activity(names[at], None),
                    least: minutes(means[at] * least),
                    beyond: Dwell { mean: minutes(means[at] * (1.0 - least)), cv },
                    distribution,
                    next: next[at].into(),
                })
                .collect();
            states
                .push(State { activity: activity("never", Some(&scenario)), ..states[0].clone() });
            let chain = Chain { start: 0, duration: minutes(43_000.0), states };
            let profile = Arc::new(Profile { name: "day".into(), course: Course::Chain(chain) });
            assert!(profile.course.is_drawn());
            let mut samples = vec![[0.0; 4]; 20];
            for (replication, sample) in (0..).zip(&mut samples) {
                let settings = LoadSettings { replication, ..LoadSettings::default() };
                let phases = Phases::new(&profile, &settings).expect("it is small");
                let total = phases.duration();
                assert_eq!(total, minutes(43_000.0));
                for phase in phases.all() {
                    let state = names.iter().position(|it| *it == &*phase.activity.name);
                    let share = phase.load.duration.ns() as f64 / total.ns() as f64;
                    sample[state.expect("it is a state")] += share;
                }
            }
            for (state, expected) in shares.iter().enumerate() {
                let n = samples.len() as f64;
                let mean = samples.iter().map(|it| it[state]).sum::<f64>() / n;
                let variance = samples.iter().map(|it| (it[state] - mean).powi(2)).sum::<f64>();
                let error = (variance / (n - 1.0) / n).sqrt();
                // The start in the state idle adds about a dwell, 22 of 43,000 min.
                assert!((mean - expected).abs() < 4.0 * error + 6e-4, "{mean} {expected} {error}");
            }
        }
    }

    #[test]
    fn too_many_phases_are_refused() {
        let scenario = Arc::new(crate::load::generator::tests::scenario());
        let (at, beyond) = (activity("one", Some(&scenario)), Dwell { mean: ms(0.0), cv: 1.0 });
        let state = |next| State {
            activity: Arc::clone(&at),
            least: ms(0.0),
            beyond,
            distribution: DwellDistribution::Gamma,
            next: vec![(next, 1.0)],
        };
        let chain = Chain { start: 0, duration: ms(1000.0), states: vec![state(1), state(0)] };
        let profile = Arc::new(Profile { name: "fast".into(), course: Course::Chain(chain) });
        assert!(!profile.course.is_drawn() && !fixed(Vec::new()).course.is_drawn());
        let error = Phases::new(&profile, &LoadSettings::default()).expect_err("they are too many");
        let expected = "more than 10000 phases; give states a longer `mean`, or fewer `hours`";
        assert_eq!(error.to_string(), expected);
    }
}
