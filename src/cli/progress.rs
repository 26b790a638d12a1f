//! Progress that a person who waits sees after a second: a bar, or that work goes on.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::colour;
use super::console::Stream;

/// Work shorter than this shows nothing.
const QUIET: Duration = Duration::from_secs(1);

/// Between two looks at the time.
const TICK: Duration = Duration::from_millis(200);

/// The bar that is there; one is at a time. Output makes room for itself.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A bar on standard error, with rate and time left; only where a person watches.
pub struct Progress {
    bar: ProgressBar,
    /// Ends the wait for the first second, and who waits.
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// A bar for `n_runs` runs, hidden at first.
    pub fn new(n_runs: u64) -> Self {
        Self::resumed(n_runs, 0)
    }

    /// A bar for `n_runs` runs of which `done` were done before, which says nothing of the rate.
    pub fn resumed(n_runs: u64, done: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_runs), ProgressDrawTarget::hidden());
        bar.set_position(done);
        bar.reset_eta();
        Self::watched(bar, "{bar:40} {pos}/{len} runs, {per_sec}, {eta} left, {elapsed} so far")
    }

    /// Says that `what` goes on, and for how long it has.
    pub fn of_unknown_length(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_message(what);
        Self::watched(bar, "{spinner} {msg}, {elapsed} so far")
    }

    fn watched(bar: ProgressBar, template: &str) -> Self {
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        let watch = (Stream::Err.is_terminal() && !colour::is_dumb()).then(|| watch(&bar));
        Self { bar, watch: watch.flatten() }
    }

    /// `done` runs are done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Removes the bar.
    pub fn finish(self) {
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

/// Shows `bar` once it is time; `None` where no thread can be had, and then there is no bar.
fn watch(bar: &ProgressBar) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel::<()>();
    *shown() = Some(bar.clone());
    let bar = bar.clone();
    let reveal = move || {
        if stopped.recv_timeout(QUIET) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    };
    Some((stop, thread::Builder::new().spawn(reveal).ok()?))
}

fn shown() -> std::sync::MutexGuard<'static, Option<ProgressBar>> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does what writes to the terminal with the bar out of the way.
pub fn out_of_the_way<T>(write: impl FnOnce() -> T) -> T {
    let bar = shown().clone();
    match bar.filter(|bar| !bar.is_hidden()) {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}
