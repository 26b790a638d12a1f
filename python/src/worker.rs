//! Work apart from the interpreter: threads of the package's own, signals, and progress.
//!
//! The calling thread lets go of the interpreter and looks at signals, so that Ctrl-C ends the work
//! ([`xrsim::cancel`]) and other threads of Python go on. Every call has its own pool of threads, which is
//! kept for later calls. A forked process has none of its parent's threads and makes its own pools.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyKeyboardInterrupt, PyRecursionError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use xrsim::cancel::{self, Cancelled, Token};

use crate::{errors, policy};

/// Time between two looks at signals.
const LOOK: Duration = Duration::from_millis(20);

/// Most calls within each other: a scheduler may make runs, whose schedulers may make runs. Each takes threads.
const MAX_DEPTH: u32 = 64;

thread_local! {
    /// Number of calls that the work of this thread is part of.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Time between two calls of a function that is told of the progress.
const TELL: Duration = Duration::from_millis(50);

/// Threads of a call, with the token that ends its work.
struct Worker {
    pool: ThreadPool,
    token: Token,
    is_alone: bool,
}

/// Workers of this process without a call.
static IDLE: Mutex<(u32, Vec<Worker>)> = Mutex::new((0, Vec::new()));

impl Worker {
    /// A worker; with `is_alone` it has a single thread.
    fn take(is_alone: bool) -> PyResult<Self> {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.0 != process::id() {
            // Their threads are those of the parent; ending them would wait for ever.
            idle.1.drain(..).for_each(std::mem::forget);
            idle.0 = process::id();
        }
        let found = idle.1.iter().position(|it| it.is_alone == is_alone);
        if let Some(at) = found {
            let worker = idle.1.swap_remove(at);
            worker.token.reset();
            return Ok(worker);
        }
        drop(idle);
        let token = Token::default();
        let own = token.clone();
        let builder = ThreadPoolBuilder::new()
            .num_threads(usize::from(is_alone))
            .thread_name(|index| format!("xrsim-{index}"))
            .stack_size(xrsim::cli::STACK)
            .start_handler(move |_| own.clone().adopt());
        let pool = builder.build().map_err(|error| errors::system(&error))?;
        Ok(Self { pool, token, is_alone })
    }

    fn give_back(self) {
        let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.0 == process::id() {
            idle.1.push(self);
        }
    }
}

/// Number of things that are done, and of all, as the work tells them.
#[derive(Default)]
pub(crate) struct Counter {
    done: AtomicU64,
    total: AtomicU64,
}

impl Counter {
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    fn get(&self) -> (u64, u64) {
        (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed))
    }
}

/// Result of the work, which the calling thread waits for.
struct Outcome<T>(Mutex<Option<T>>, Condvar);

impl<T> Outcome<T> {
    const fn pending() -> Self {
        Self(Mutex::new(None), Condvar::new())
    }

    fn set(&self, result: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        self.1.notify_one();
    }

    fn take_within(&self, time: Duration) -> Option<T> {
        let result = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.1.wait_timeout_while(result, time, |result| result.is_none());
        let (mut result, _) = waited.unwrap_or_else(PoisonError::into_inner);
        result.take()
    }
}

/// How a call works.
#[derive(Default)]
pub(crate) struct How<'py> {
    /// Whether a single thread does the work, because it calls functions of Python all the time.
    pub is_alone: bool,
    /// Function of Python that is told of the progress.
    pub progress: Option<Bound<'py, PyAny>>,
}

/// Does `work` on threads of the package, and returns what it returns.
///
/// # Errors
///
/// The exception of a signal, of a scheduler, or of the function that is told of the progress.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    how: &How<'_>,
    work: impl FnOnce(&Arc<Counter>) -> T + Send + 'static,
) -> PyResult<T> {
    let depth = DEPTH.get();
    if depth >= MAX_DEPTH {
        let message = format!(
            "a scheduler makes runs with schedulers that make runs, more than {MAX_DEPTH} deep"
        );
        return Err(PyRecursionError::new_err(message));
    }
    let worker = Worker::take(how.is_alone)?;
    let counter = Arc::new(Counter::default());
    let outcome = Arc::new(Outcome::pending());
    let thread_of_python = Arc::new(AtomicU64::new(0));
    let on_worker = {
        let (counter, outcome) = (Arc::clone(&counter), Arc::clone(&outcome));
        let (thread_of_python, is_alone) = (Arc::clone(&thread_of_python), worker.is_alone);
        move || {
            // The threads of a call are others than those of the call around it.
            DEPTH.set(depth + 1);
            // Panics of the library reach the calling thread as such.
            let work = || cancel::catch(|| work(&counter));
            let made = panic::catch_unwind(AssertUnwindSafe(|| match is_alone {
                // A thread that calls Python often keeps its state of the interpreter between calls.
                true => Python::attach(|py| {
                    thread_of_python.store(ident(py).unwrap_or(0), Ordering::Relaxed);
                    py.detach(work)
                }),
                false => work(),
            }));
            outcome.set((made, policy::take_raised()));
        }
    };
    worker.pool.spawn(on_worker);
    let ((made, by_scheduler), raised) = watch(py, &outcome, how, &counter, || {
        worker.token.cancel();
        let ident = thread_of_python.load(Ordering::Relaxed);
        // Without `ctypes`, the work ends when the scheduler comes back.
        if ident != 0 {
            let _ = interrupt(py, ident);
        }
    });
    worker.give_back();
    let result = made.unwrap_or_else(|panic| panic::resume_unwind(panic));
    match (raised.or(by_scheduler), result) {
        (Some(raised), _) => Err(raised),
        (None, Ok(result)) => {
            tell(how, &counter, &mut None)?;
            Ok(result)
        }
        (None, Err(Cancelled)) => Err(PyKeyboardInterrupt::new_err("interrupted")),
    }
}

/// Waits for the outcome of the work. Returns it with the exception that asked for it early; every one calls `ask`.
fn watch<T: Send>(
    py: Python<'_>,
    outcome: &Outcome<T>,
    how: &How<'_>,
    counter: &Counter,
    ask: impl Fn(),
) -> (T, Option<PyErr>) {
    let (mut told, mut next) = (None, Instant::now() + TELL);
    let mut first = None;
    loop {
        if let Some(result) = py.detach(|| outcome.take_within(LOOK)) {
            return (result, first);
        }
        let mut raised = py.check_signals().err();
        if raised.is_none() && first.is_none() && Instant::now() >= next {
            next = Instant::now() + TELL;
            raised = tell(how, counter, &mut told).err();
        }
        if let Some(raised) = raised {
            ask();
            first.get_or_insert(raised);
        }
    }
}

/// Number of the calling thread in Python.
fn ident(py: Python<'_>) -> PyResult<u64> {
    py.import("threading")?.call_method0("get_ident")?.extract()
}

/// Raises `KeyboardInterrupt` in the Python code that a thread runs: a scheduler that does not come back.
fn interrupt(py: Python<'_>, ident: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let ident = ctypes.call_method1("c_ulong", (ident,))?;
    let class = py.get_type::<PyKeyboardInterrupt>();
    let class = ctypes.call_method1("py_object", (class,))?;
    let api = ctypes.getattr("pythonapi")?;
    api.call_method1("PyThreadState_SetAsyncExc", (ident, class)).map(drop)
}

/// Tells the function of the progress, unless it knows.
fn tell(how: &How<'_>, counter: &Counter, told: &mut Option<(u64, u64)>) -> PyResult<()> {
    let now = counter.get();
    if let Some(progress) = &how.progress
        && *told != Some(now)
        && now.1 > 0
    {
        *told = Some(now);
        progress.call1(now)?;
    }
    Ok(())
}
