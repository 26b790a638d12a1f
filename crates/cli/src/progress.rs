//! Progress of a command on a terminal, shown after one second: a bar, or a message.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::colour;
use super::console::{self, Stream};

/// Time before progress is shown.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two updates.
const TICK: Duration = Duration::from_millis(200);

/// Template before the first run: layers are costed, and their mappings are searched.
const COSTS: &str = "{spinner} costs of layers, mappings included, {elapsed} so far";

/// Template of runs.
const RUNS: &str = "{bar:40} {pos}/{len} runs, {per_sec}, {eta} left, {elapsed} so far";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is valid")
}

/// The current bar; there is at most one. Output hides it for a moment.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Takes the number of things that are done, and of all; 0 if that is not known.
pub type Observer = Arc<dyn Fn(u64, u64) + Send + Sync>;

thread_local! {
    /// Observer of the command of this thread.
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };
}

/// Runs `command`, whose progress `observer` gets.
pub(super) fn observed<T>(observer: Option<Observer>, command: impl FnOnce() -> T) -> T {
    /// Ends the observation, also if the command is cancelled.
    struct Observation;
    impl Drop for Observation {
        fn drop(&mut self) {
            OBSERVER.take();
        }
    }
    OBSERVER.set(observer);
    let _observation = Observation;
    command()
}

/// A bar on standard error with rate and remaining time, shown on terminals only.
pub(super) struct Progress {
    bar: ProgressBar,
    /// Number of runs that are done, where they are added.
    done: AtomicU64,
    /// Template of the bar from the first finished run on.
    of_runs: Mutex<Option<&'static str>>,
    /// Caller in this process that is told of every step.
    observer: Option<Observer>,
    /// The thread that waits before it shows the bar, and the channel that ends its wait.
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Makes a bar for `n_runs` runs, hidden at first.
    pub(super) fn new(n_runs: u64) -> Self {
        Self::resumed(n_runs, 0)
    }

    /// Makes a bar for `n_runs` runs, `done` of which were made before and do not count for the rate.
    pub(super) fn resumed(n_runs: u64, done: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_runs), ProgressDrawTarget::hidden());
        bar.set_position(done);
        bar.reset_eta();
        let progress = Self::watched(bar, COSTS);
        *progress.of_runs.lock().unwrap_or_else(PoisonError::into_inner) = Some(RUNS);
        progress
    }

    /// Makes a bar for things called `noun`, whose number is set with that of those that are done.
    pub(super) fn counting(noun: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let template =
            format!("{{bar:40}} {{pos}}/{{len}} {noun}{{msg}}, {{eta}} left, {{elapsed}} so far");
        Self::watched(bar, &template)
    }

    /// Sets the number of things that are done, and of all.
    pub(super) fn set_of(&self, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.set(done as u64);
    }

    /// Shows messages that change, and the elapsed time.
    pub(super) fn of_messages() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self::watched(bar, "{spinner} {msg}, {elapsed} so far")
    }

    /// Changes the message.
    pub(super) fn say(&self, message: String) {
        if self.watch.is_some() {
            self.bar.set_message(message);
        }
    }

    /// Shows the message `what` and the elapsed time.
    pub(super) fn of_unknown_length(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(what);
        Self::watched(bar, "{spinner} {msg}, {elapsed} so far")
    }

    fn watched(bar: ProgressBar, template: &str) -> Self {
        bar.set_style(style(template));
        let is_shown = Stream::Err.is_terminal() && !colour::is_dumb() && !console::is_quiet();
        let watch = is_shown.then(|| watch(&bar));
        let observer = OBSERVER.with_borrow(Clone::clone);
        let done = AtomicU64::new(bar.position());
        Self { bar, done, of_runs: Mutex::default(), observer, watch: watch.flatten() }
    }

    /// Adds to the number of runs that are done.
    pub(super) fn add(&self, more: u64) {
        self.set(self.done.fetch_add(more, Ordering::Relaxed) + more);
    }

    /// Sets the number of runs that are done.
    pub(super) fn set(&self, done: u64) {
        let template = self.of_runs.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(template) = template {
            self.bar.set_style(style(template));
            self.bar.reset_eta();
        }
        self.bar.set_position(done);
        if let Some(observer) = &self.observer {
            observer(done, self.bar.length().unwrap_or(0));
        }
    }

    /// Removes the bar.
    pub(super) fn finish(self) {
        drop(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, watcher)) = self.watch.take() {
            drop(stop);
            let _ = watcher.join();
            self.bar.finish_and_clear();
            *shown() = None;
        }
    }
}

/// Shows `bar` after the delay. Returns `None`, and shows no bar, if no thread can be started.
fn watch(bar: &ProgressBar) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel::<()>();
    *shown() = Some(bar.clone());
    let bar = bar.clone();
    let reveal = move || {
        if stopped.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    };
    Some((stop, thread::Builder::new().spawn(reveal).ok()?))
}

fn shown() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls `write`, which writes to the terminal, while the bar is hidden.
pub(super) fn out_of_the_way<T>(write: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar.filter(|bar| !bar.is_hidden()) {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}
