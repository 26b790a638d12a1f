//! Schedulers that are classes of Python.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use xrsim::cancel;
use xrsim::external::{self, GivenScheduler};
use xrsim::schedule::{self, AcceleratorState, Activity, Breakdown, Decision};
use xrsim::{AccelId, Granularity, Scheduler, Setup, SimSpan};

/// Start of the names of such schedulers.
const PREFIX: &str = "python:";

/// Number of runs so far in this process.
static RUNS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// Exception of a scheduler on this thread, which does all work of its call.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether arguments name a scheduler of Python.
pub(crate) fn is_named(words: &[String]) -> bool {
    words.iter().any(|word| word.contains(PREFIX))
}

/// The exception of a scheduler in the work of this thread.
pub(crate) fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

/// Notes an exception and ends the work of this thread.
fn raise(error: PyErr) -> Breakdown {
    let message = error.to_string();
    RAISED.with_borrow_mut(|raised| {
        raised.get_or_insert(error);
    });
    cancel::ask();
    Breakdown::new(message)
}

/// A class of Python that can be named as a scheduler as long as this object lives.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct GivenPolicy(GivenScheduler);

#[pymethods]
impl GivenPolicy {
    /// `make` takes the first line of the protocol, or `None` if it takes no setup, and returns a function that
    /// decides.
    #[new]
    fn new(
        name: &str,
        options: Vec<String>,
        text: &str,
        make: Py<PyAny>,
        takes_setup: bool,
    ) -> PyResult<Self> {
        let build = move |setup: &Setup<'_>| -> Box<dyn Scheduler> {
            let scenario = setup.scenario.name().to_string();
            let line = takes_setup.then(|| external::setup_line(setup));
            match Python::attach(|py| make.call1(py, (line,))) {
                Ok(decide) => Box::new(Running {
                    decide,
                    granularity: setup.options.granularity,
                    scenario,
                    n_decisions: 0,
                    run: RUNS.fetch_add(1, Ordering::Relaxed),
                }),
                Err(error) => Box::new(Broken(raise(error))),
            }
        };
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let given = GivenScheduler::new(name, &options, text, build);
        let given = given.map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Ok(Self(given))
    }

    /// Name for options that take a scheduler.
    #[getter]
    fn name(&self) -> String {
        self.0.name()
    }
}

/// A scheduler that could not be made.
struct Broken(Breakdown);

impl Scheduler for Broken {
    fn decide(&mut self, _: &schedule::View<'_>) -> Decision {
        Decision::Fail(self.0.clone())
    }
}

/// A scheduler of one run.
struct Running {
    decide: Py<PyAny>,
    granularity: Granularity,
    scenario: String,
    n_decisions: u64,
    /// Number of the run in this process.
    run: u64,
}

impl Scheduler for Running {
    fn decide(&mut self, view: &schedule::View<'_>) -> Decision {
        self.n_decisions += 1;
        Python::attach(|py| {
            let asked = self.ask(py, view).map_err(|error| self.noted(py, view, error));
            asked.unwrap_or_else(|error| Decision::Fail(raise(error)))
        })
    }
}

impl Running {
    fn ask(&self, py: Python<'_>, view: &schedule::View<'_>) -> PyResult<Decision> {
        let copy = Bound::new(py, View::from_view(py, view, self.run)?)?;
        let answer = self.decide.bind(py).call1((copy,))?;
        if answer.is_none() {
            return Ok(Decision::Wait);
        }
        let Ok(answer) = answer.cast::<Answer>() else {
            let message = format!(
                "decide answered {}; allowed are xrsim.dispatch(job, accelerator), xrsim.drop(job) and None, \
                 which waits",
                answer.repr()?
            );
            return Err(PyTypeError::new_err(message));
        };
        let answer = answer.get();
        let decision = answer.decision(view, self.granularity, self.run);
        decision.map_err(|reason| {
            PyTypeError::new_err(format!("decide answered {}: {reason}", answer.text()))
        })
    }

    /// The exception with a note that names the run, the time and the decision.
    fn noted(&self, py: Python<'_>, view: &schedule::View<'_>, error: PyErr) -> PyErr {
        let note = format!(
            "in a run of {} at {} ms, decision {}",
            self.scenario,
            view.now.as_ms(),
            self.n_decisions
        );
        // Before Python 3.11, exceptions have no notes.
        let _ = error.value(py).call_method1("add_note", (note,));
        error
    }
}

/// An answer to a view: see `xrsim.dispatch` and `xrsim.drop`.
#[pyclass(frozen, name = "Decision", module = "xrsim._xrsim")]
pub(crate) struct Answer {
    /// Request, by its number.
    #[pyo3(get)]
    request: usize,
    /// Accelerator, by its number; `None` gives the request up.
    #[pyo3(get)]
    accelerator: Option<i64>,
    /// How much of the request runs: `model`, `layer` or `block`; `None` as the scheduler's options say.
    #[pyo3(get)]
    granularity: Option<String>,
    /// Length of a block \[ms\].
    #[pyo3(get)]
    block_ms: Option<f64>,
    /// Run of the job, by its number in this process; `None` where it is not known.
    #[pyo3(get)]
    of_run: Option<u64>,
}

#[pymethods]
impl Answer {
    #[new]
    #[pyo3(signature = (request, accelerator=None, granularity=None, block_ms=None, of_run=None))]
    fn new(
        request: usize,
        accelerator: Option<i64>,
        granularity: Option<String>,
        block_ms: Option<f64>,
        of_run: Option<u64>,
    ) -> Self {
        Self { request, accelerator, granularity, block_ms, of_run }
    }

    fn __repr__(&self) -> String {
        self.text()
    }
}

impl Answer {
    fn text(&self) -> String {
        match self.accelerator {
            Some(accelerator) => {
                format!("dispatch of request {} on accelerator {accelerator}", self.request)
            }
            None => format!("drop of request {}", self.request),
        }
    }

    fn decision(
        &self,
        view: &schedule::View<'_>,
        default: Granularity,
        run: u64,
    ) -> Result<Decision, String> {
        if self.of_run.is_some_and(|of_run| of_run != run) {
            return Err("the job is of another run".into());
        }
        let Some(accelerator) = self.accelerator else {
            return external::drop_of(view, self.request);
        };
        let accelerator = usize::try_from(accelerator)
            .map_err(|_| format!("accelerators are counted from 0, and {accelerator} is none"))?;
        let granularity = match (self.granularity.as_deref(), self.block_ms) {
            (None, None) => default,
            (Some("model"), None) => Granularity::Model,
            (Some("layer"), None) => Granularity::Layer,
            (Some("block"), Some(ms)) => {
                let span = SimSpan::from_ms(ms).filter(|span| *span > SimSpan::ZERO);
                Granularity::Block(span.ok_or_else(|| format!("a block of {ms} ms"))?)
            }
            (other, _) => {
                let other = other.unwrap_or("block");
                return Err(format!(
                    "granularity is {other}; allowed is model, layer or xrsim.block(ms)"
                ));
            }
        };
        external::dispatch_of(view, self.request, accelerator, granularity)
    }
}

/// A ready request.
#[pyclass(frozen, get_all, module = "xrsim._xrsim")]
pub(crate) struct Job {
    /// Number of the run in this process.
    run: u64,
    /// Number of the request.
    request: usize,
    /// Index of its model.
    model: usize,
    /// Number of its frame.
    frame: usize,
    /// Number of samples.
    batch: u32,
    /// Next layer to run; 0 unless it has run before.
    next_layer: u32,
    /// Arrival \[ns\].
    arrival_ns: u64,
    /// Deadline \[ns\].
    deadline_ns: u64,
    /// Start of its current wait \[ns\].
    ready_since_ns: u64,
    /// Waits before its earlier segments \[ns\].
    waited_ns: u64,
    /// Accelerator of its last segment.
    last_accelerator: Option<usize>,
    /// Time of its rest on every accelerator, alone \[ns\]; `None` where it cannot run.
    remaining_ns: Vec<Option<u64>>,
}

#[pymethods]
impl Job {
    fn __repr__(&self) -> String {
        format!(
            "Job(request={}, model={}, deadline_ns={})",
            self.request, self.model, self.deadline_ns
        )
    }
}

/// An accelerator.
#[pyclass(frozen, get_all, module = "xrsim._xrsim")]
pub(crate) struct Accelerator {
    /// Whether it runs nothing.
    idle: bool,
    /// Start of the idle time, or of the segment \[ns\].
    since_ns: u64,
    /// Number of the request that runs.
    request: Option<usize>,
    /// Model of that request.
    model: Option<usize>,
    /// End of the segment if nothing interferes \[ns\].
    predicted_end_ns: Option<u64>,
    /// Model that it ran last.
    resident: Option<usize>,
}

/// Outcomes of the requests of a model so far.
#[pyclass(frozen, get_all, module = "xrsim._xrsim")]
pub(crate) struct History {
    /// Requests that ended by their deadline.
    on_time: u32,
    /// Requests that ended after it.
    late: u32,
    /// Dropped requests.
    dropped: u32,
    /// Misses of the last 64 requests, the newest in bit 0.
    misses: u64,
    /// Drops of the last 64 requests, the newest in bit 0.
    drops: u64,
    /// Start of the last segment \[ns\].
    last_start_ns: Option<u64>,
    /// Energy of these requests \[mJ\].
    energy_mj: f64,
}

/// State of a run at a decision: a copy, which may be kept.
#[pyclass(frozen, module = "xrsim._xrsim")]
pub(crate) struct View {
    #[pyo3(get)]
    now_ns: u64,
    #[pyo3(get)]
    ready: Py<PyList>,
    #[pyo3(get)]
    idle: Vec<usize>,
    #[pyo3(get)]
    blocked: Vec<u32>,
    accelerators: Vec<AcceleratorState>,
    history: Vec<schedule::History>,
}

impl View {
    fn from_view(py: Python<'_>, view: &schedule::View<'_>, run: u64) -> PyResult<Self> {
        let job = |it: &schedule::Job| {
            let remaining = |at: AccelId| {
                let is_offered = view.execution(it, at).is_offered();
                is_offered.then(|| view.remaining(it, at).ns())
            };
            Job {
                run,
                request: it.request.index(),
                model: it.model.index(),
                frame: it.frame.index(),
                batch: view.batch(it),
                next_layer: it.next_layer,
                arrival_ns: it.arrival.ns(),
                deadline_ns: it.deadline.ns(),
                ready_since_ns: it.ready_since.ns(),
                waited_ns: it.waited.ns(),
                last_accelerator: it.last_accelerator.map(AccelId::index),
                remaining_ns: view.accelerator_ids().map(remaining).collect(),
            }
        };
        let jobs = view.ready.iter().map(|it| Bound::new(py, job(it)));
        let jobs = jobs.collect::<PyResult<Vec<_>>>()?;
        Ok(Self {
            now_ns: view.now.ns(),
            ready: PyList::new(py, jobs)?.unbind(),
            idle: view.idle.iter().map(|at| at.index()).collect(),
            blocked: view.blocked.to_vec(),
            accelerators: view.accelerators.to_vec(),
            history: view.history.to_vec(),
        })
    }
}

#[pymethods]
impl View {
    /// Every accelerator.
    #[getter]
    fn accelerators(&self) -> Vec<Accelerator> {
        let of = |state: &AcceleratorState| {
            let resident = state.resident.map(|model| model.index());
            match state.activity {
                Activity::Idle { since } => Accelerator {
                    idle: true,
                    since_ns: since.ns(),
                    request: None,
                    model: None,
                    predicted_end_ns: None,
                    resident,
                },
                Activity::Running { request, model, since, predicted_end } => Accelerator {
                    idle: false,
                    since_ns: since.ns(),
                    request: Some(request.index()),
                    model: Some(model.index()),
                    predicted_end_ns: Some(predicted_end.ns()),
                    resident,
                },
            }
        };
        self.accelerators.iter().map(of).collect()
    }

    /// Outcomes of the requests of every model.
    #[getter]
    fn history(&self) -> Vec<History> {
        let of = |it: &schedule::History| History {
            on_time: it.on_time,
            late: it.late,
            dropped: it.dropped,
            misses: it.misses,
            drops: it.drops,
            last_start_ns: it.last_start.map(|time| time.ns()),
            energy_mj: it.energy.get(),
        };
        self.history.iter().map(of).collect()
    }

    /// The idle accelerator that runs the rest of a job in the shortest time; `None` if none can run it.
    fn fastest_idle(&self, job: &Job) -> Option<usize> {
        let time = |at: &usize| job.remaining_ns.get(*at).copied().flatten();
        let idle = self.idle.iter().copied().filter(|at| time(at).is_some());
        idle.min_by_key(time)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let n = self.ready.bind(py).len();
        format!("View(now_ns={}, {n} ready, idle={:?})", self.now_ns, self.idle)
    }
}
