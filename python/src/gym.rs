//! Environments for learning: several games side by side.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict, PyList};
use rayon::prelude::*;
use xrsim::cli::RequestedRuns;
use xrsim::external::GivenScheduler;

use crate::errors;
use crate::game::{ACCELERATOR, Ended, Game, Reward, Rules, SLOT, Step, Unasked};
use crate::worker::{self, How};

/// Games from which on threads help.
const PARALLEL_FROM: usize = 1000;

/// Slots of all games together, which bounds the memory of their observations.
const MOST_SLOTS: usize = 1 << 22;

/// Games that a thread plays together.
const CHUNK: usize = 64;

/// Environments that take a step together, each with a replication of its own.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct NativeEnvs {
    rules: Arc<Rules>,
    state: Arc<Mutex<State>>,
}

struct State {
    games: Vec<Place>,
    observations: Vec<f32>,
    masks: Vec<u8>,
    seed: u64,
}

/// A game with the replications that it plays.
struct Place {
    game: Game,
    /// Replication of the next episode.
    next: u64,
    /// Distance of its replications.
    stride: u64,
    /// Requests that ended in the last step.
    ended: Vec<Ended>,
}

/// Results of a step, one entry for each environment.
struct Steps {
    rewards: Vec<f64>,
    ends: Vec<u8>,
    invalid: Vec<u8>,
    finals: Vec<Final>,
}

/// Memory of an array of numpy, which may write to it.
type Bytes<'py> = Bound<'py, PyByteArray>;

/// What `step` returns: rewards, ends, actions that were not allowed, observations, masks, and environments that ended.
type Stepped<'py> =
    (Bytes<'py>, Bytes<'py>, Bytes<'py>, Bytes<'py>, Bytes<'py>, Bound<'py, PyList>);

/// What `step_one` returns: reward, end, whether the action was not allowed, observation, mask, and scores.
type SteppedOne<'py> = (f64, bool, bool, Bytes<'py>, Bytes<'py>, Option<Bound<'py, PyDict>>);

/// Scores of a run, by the names of their columns.
type Scores = Vec<(&'static str, f64)>;

/// The end of an episode: environment, last observation, and scores of the run.
type Final = (usize, Vec<f32>, Scores);

#[pymethods]
impl NativeEnvs {
    /// `words` are options of `xrsim run` that describe one run, `options` those of a scheduler.
    #[new]
    fn new(
        py: Python<'_>,
        words: Vec<String>,
        options: Vec<String>,
        n: usize,
        slots: usize,
        drops: bool,
        reward: &str,
    ) -> PyResult<Self> {
        let reward = match reward {
            "score" => Reward::Score,
            "deadline" => Reward::Deadline,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "reward is {reward:?}; allowed is score, deadline or a function"
                )));
            }
        };
        if n == 0 || slots == 0 || slots > 4096 || n > 1 << 20 || n * slots > MOST_SLOTS {
            return Err(PyValueError::new_err(
                "allowed are 1 to 1048576 environments with 1 to 4096 slots, 4194304 slots in all",
            ));
        }
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let scheduler = GivenScheduler::new("gym", &options, "", |_| Box::new(Unasked));
        let scheduler = scheduler.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let words: Vec<_> =
            words.into_iter().chain([format!("--scheduler={}", scheduler.name())]).collect();
        let rules = worker::work(py, &How::default(), move |_| {
            Rules::new(&RequestedRuns::parse(&words)?, slots, drops, reward)
        })?;
        let rules = Arc::new(rules.map_err(|failure| errors::of_failure(py, &failure))?);
        let place = |index: usize| Place {
            game: Game::new(Arc::clone(&rules)),
            next: index as u64,
            stride: n as u64,
            ended: Vec::new(),
        };
        let state = State {
            games: (0..n).map(place).collect(),
            observations: vec![0.0; n * rules.n_observed()],
            masks: vec![0; n * rules.n_actions()],
            seed: rules.seed(),
        };
        Ok(Self { rules, state: Arc::new(Mutex::new(state)) })
    }

    /// Sizes: actions, numbers of an observation, slots, numbers of a slot, accelerators, numbers of an accelerator,
    /// models, and the action that waits.
    #[getter]
    fn sizes(&self) -> [usize; 8] {
        let rules = &self.rules;
        let (actions, observed) = (rules.n_actions(), rules.n_observed());
        [
            actions,
            observed,
            rules.n_slots,
            SLOT,
            rules.n_accelerators(),
            ACCELERATOR,
            rules.n_models(),
            rules.wait(),
        ]
    }

    /// Latency of every layer \[ns\], at `[model][accelerator][layer]`.
    #[getter]
    fn layer_latencies(&self) -> Vec<Vec<Vec<u64>>> {
        self.rules.layer_latencies()
    }

    /// Begins an episode everywhere, with the replications that are given. Without, environment `i` begins with
    /// replication `i` if there is a seed, and goes on if there is none.
    #[pyo3(signature = (seed=None, replications=None))]
    fn reset(
        &self,
        py: Python<'_>,
        seed: Option<u64>,
        replications: Option<Vec<u64>>,
    ) -> PyResult<()> {
        py.detach(|| {
            let mut state = lock(&self.state);
            state.seed = seed.unwrap_or(state.seed);
            let begins_anew = seed.is_some();
            let seed = state.seed;
            let n = state.games.len();
            if let Some(given) = replications.as_ref().filter(|it| it.len() != n) {
                return Err(format!("{} replications for {n} environments", given.len()));
            }
            for (index, place) in state.games.iter_mut().enumerate() {
                match &replications {
                    Some(given) => place.next = given[index],
                    None if begins_anew => place.next = index as u64,
                    None => {}
                }
                place.begin(seed)?;
            }
            state.observe(&self.rules);
            Ok(())
        })
        .map_err(|message: String| PyValueError::new_err(message))
    }

    /// Takes an action in each environment; those that end begin their next episode at once. Returns the rewards
    /// (float64), whether episodes ended and whether actions were not allowed (uint8 each), the observations (float32),
    /// the masks of the actions (int8), and a list of the environments that ended, with their last observation and
    /// their scores.
    fn step<'py>(&self, py: Python<'py>, actions: Vec<usize>) -> PyResult<Stepped<'py>> {
        let (rules, state) = (Arc::clone(&self.rules), Arc::clone(&self.state));
        let stepped = match actions.len() < PARALLEL_FROM {
            true => py.detach(|| lock(&state).step(&rules, &actions, false)),
            false => worker::work(py, &How::default(), move |_| {
                lock(&state).step(&rules, &actions, true)
            })?,
        };
        let steps = stepped.map_err(PyRuntimeError::new_err)?;
        let finals = PyList::empty(py);
        for (index, observation, scores) in &steps.finals {
            finals.append((index, floats(py, observation)?, named(py, scores)?))?;
        }
        let rewards = array(py, &steps.rewards, f64::to_ne_bytes)?;
        let (ends, invalid) =
            (PyByteArray::new(py, &steps.ends), PyByteArray::new(py, &steps.invalid));
        let (observations, masks) = self.observed(py)?;
        Ok((rewards, ends, invalid, observations, masks, finals))
    }

    /// Takes an action in the first environment. Returns the reward, whether the episode ended and whether the action
    /// was not allowed, the observation (float32), the mask of the actions (int8), and the scores of a run that ended.
    fn step_one<'py>(&self, py: Python<'py>, action: usize) -> PyResult<SteppedOne<'py>> {
        // A step takes less time than to let go of the interpreter.
        let mut state = lock(&self.state);
        let State { games, observations, masks, seed } = &mut *state;
        let (rules, seed) = (&*self.rules, *seed);
        let (observation, mask) =
            (&mut observations[..rules.n_observed()], &mut masks[..rules.n_actions()]);
        let stepped = games[0].step((action, false, seed), observation, mask);
        let (step, ended) = stepped.map_err(PyRuntimeError::new_err)?;
        let scores = ended.map(|(_, _, scores)| named(py, &scores)).transpose()?;
        let (observation, mask) = (floats(py, observation)?, PyByteArray::new(py, mask));
        Ok((step.reward, step.is_over, step.is_invalid, observation, mask, scores))
    }

    /// Observations (float32) and masks of the actions (int8), one environment after another.
    fn observed<'py>(&self, py: Python<'py>) -> PyResult<(Bytes<'py>, Bytes<'py>)> {
        let state = lock(&self.state);
        Ok((floats(py, &state.observations)?, PyByteArray::new(py, &state.masks)))
    }

    /// Requests that ended in the last step of an environment: model, frame, outcome, deadline and end \[ns\], and
    /// inference score.
    #[allow(clippy::type_complexity)]
    fn ended(&self, index: usize) -> Vec<(usize, usize, &'static str, u64, Option<u64>, f64)> {
        let state = lock(&self.state);
        let ended = state.games.get(index).map_or(&[][..], |place| &place.ended[..]);
        ended
            .iter()
            .map(|it| (it.model, it.frame, it.outcome, it.deadline_ns, it.end_ns, it.score))
            .collect()
    }

    /// Time of the question of an environment \[ms\]; `None` at the end.
    fn now_ms(&self, index: usize) -> Option<f64> {
        lock(&self.state).games.get(index).and_then(|place| place.game.now_ms())
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Numbers as the memory of an array.
fn array<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
) -> PyResult<Bytes<'py>> {
    PyByteArray::new_with(py, N * values.len(), |bytes| {
        let (places, _) = bytes.as_chunks_mut::<N>();
        places.iter_mut().zip(values).for_each(|(place, &value)| *place = bytes_of(value));
        Ok(())
    })
}

fn floats<'py>(py: Python<'py>, values: &[f32]) -> PyResult<Bytes<'py>> {
    array(py, values, f32::to_ne_bytes)
}

fn named<'py>(py: Python<'py>, scores: &Scores) -> PyResult<Bound<'py, PyDict>> {
    let named = PyDict::new(py);
    scores.iter().try_for_each(|(name, value)| named.set_item(name, value))?;
    Ok(named)
}

impl Place {
    fn begin(&mut self, seed: u64) -> Result<(), String> {
        let replication = self.next;
        self.next = self.next.wrapping_add(self.stride);
        self.game.reset(seed, replication)
    }

    /// Takes a step. After the end of an episode, the next one begins if `begins`.
    fn step(
        &mut self,
        (action, begins, seed): (usize, bool, u64),
        observation: &mut [f32],
        mask: &mut [u8],
    ) -> Result<(Step, Option<Final>), String> {
        let step = self.game.step(action)?;
        self.ended.clear();
        self.ended.extend_from_slice(self.game.ended());
        self.game.observe(observation, mask);
        if !step.is_over {
            return Ok((step, None));
        }
        let ended = (0, observation.to_vec(), self.game.scores());
        if begins {
            self.begin(seed)?;
            self.game.observe(observation, mask);
        }
        Ok((step, Some(ended)))
    }
}

impl State {
    fn observe(&mut self, rules: &Rules) {
        let Self { games, observations, masks, .. } = self;
        let rows = observations.chunks_exact_mut(rules.n_observed());
        let rows = rows.zip(masks.chunks_exact_mut(rules.n_actions()));
        for (place, (observation, mask)) in games.iter().zip(rows) {
            place.game.observe(observation, mask);
        }
    }

    fn step(
        &mut self,
        rules: &Rules,
        actions: &[usize],
        is_parallel: bool,
    ) -> Result<Steps, String> {
        let Self { games, observations, masks, seed } = self;
        let n = games.len();
        if actions.len() != n {
            return Err(format!("{} actions for {n} environments", actions.len()));
        }
        let (seed, n_observed, n_actions) = (*seed, rules.n_observed(), rules.n_actions());
        let stepped: Vec<Result<_, String>> = if is_parallel {
            games
                .par_iter_mut()
                .with_min_len(CHUNK)
                .zip(observations.par_chunks_exact_mut(n_observed))
                .zip(masks.par_chunks_exact_mut(n_actions))
                .zip(actions)
                .map(|(((place, observation), mask), &action)| {
                    place.step((action, true, seed), observation, mask)
                })
                .collect()
        } else {
            let rows =
                observations.chunks_exact_mut(n_observed).zip(masks.chunks_exact_mut(n_actions));
            let places = games.iter_mut().zip(rows).zip(actions);
            places
                .map(|((place, (observation, mask)), &action)| {
                    place.step((action, true, seed), observation, mask)
                })
                .collect()
        };
        let (mut rewards, mut ends, mut invalid) =
            (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
        let mut finals = Vec::new();
        for (index, stepped) in stepped.into_iter().enumerate() {
            let (step, ended) = stepped?;
            rewards.push(step.reward);
            ends.push(u8::from(step.is_over));
            invalid.push(u8::from(step.is_invalid));
            finals.extend(ended.map(|(_, observation, scores)| (index, observation, scores)));
        }
        Ok(Steps { rewards, ends, invalid, finals })
    }
}
