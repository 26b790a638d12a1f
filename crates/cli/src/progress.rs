//! Progress of a command: on a terminal a bar or a message after a second, elsewhere a line a minute.

use std::cell::{Cell, RefCell};
use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use xrsim_model::text;
use xrsim_report::network::grouped;

use super::colour;
use super::console::{self, Stream};

/// Time before progress is shown.
const DELAY: Duration = Duration::from_secs(1);

/// Time between two updates on a terminal.
const TICK: Duration = Duration::from_millis(200);

/// Time between two lines where there is no terminal.
const MINUTE: Duration = Duration::from_secs(60);

/// Message before the first run: layers are costed, and their mappings are searched.
const COSTS: &str = "costs of layers, mappings included";

/// The current bar; there is at most one. Output hides it for a moment.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Takes the number of things that are done, and of all; 0 if that is not known.
pub type Observer = Arc<dyn Fn(u64, u64) + Send + Sync>;

thread_local! {
    /// Observer of the command of this thread.
    static OBSERVER: RefCell<Option<Observer>> = const { RefCell::new(None) };

    /// Name of the command of this thread.
    static COMMAND: Cell<&'static str> = const { Cell::new("xrsim") };
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

/// Names the command of this thread, with which its lines begin.
pub(super) fn of_command(name: &'static str) {
    COMMAND.set(name);
}

/// What is done of a work.
#[derive(Debug, Clone, Default)]
struct State {
    /// Name of the things that are counted, in the plural; empty where nothing is counted.
    noun: &'static str,
    done: u64,
    /// Number of all things; 0 if that is not known yet.
    total: u64,
    /// Instant and number of done things from which the pace counts; `None` before the first run.
    origin: Option<(Instant, u64)>,
    /// Message, after the numbers if there are any.
    message: String,
}

impl State {
    /// The state in words: `120 of 2,016 points, about 3 min left`.
    fn words(&self, now: Instant) -> String {
        if self.noun.is_empty() {
            return self.message.clone();
        }
        if self.origin.is_none() {
            return COSTS.into();
        }
        let of =
            if self.total > 0 { format!(" of {}", grouped(self.total)) } else { String::new() };
        let counts = format!("{}{of} {}{}", grouped(self.done), self.noun, self.message);
        match self.left(now) {
            Some(seconds) => format!("{counts}, {} left", rounded(seconds)),
            None => counts,
        }
    }

    /// Time to the end at the mean pace since the origin \[s\]; `None` before there is a pace.
    fn left(&self, now: Instant) -> Option<f64> {
        let (begun, before) = self.origin?;
        let made = self.done.checked_sub(before)?;
        let elapsed = now.saturating_duration_since(begun);
        let least = (self.total.saturating_sub(before) / 100).max(2);
        let is_known = made >= least && elapsed >= 2 * DELAY;
        let rest = self.total.checked_sub(self.done)? as f64;
        is_known.then(|| elapsed.as_secs_f64() * rest / made as f64)
    }
}

/// A time as coarse as an estimate is: it changes at most every ten seconds.
fn rounded(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => "a few seconds".into(),
        s if s < 60.0 => format!("about {:.0} s", (s / 10.0).ceil() * 10.0),
        s if s < 5_400.0 => format!("about {:.0} min", (s / 60.0).ceil()),
        s if s < 36_000.0 => format!("about {:.1} h", s / 3_600.0),
        s if s < 172_800.0 => format!("about {:.0} h", s / 3_600.0),
        s => format!("about {:.0} days", s / 86_400.0),
    }
}

/// The state of a work, which a thread shows.
#[derive(Debug)]
struct Shared(Mutex<State>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn words(&self) -> String {
        let state = self.lock().clone();
        state.words(Instant::now())
    }
}

/// Progress of a work, on standard error.
pub(super) struct Progress {
    shared: Arc<Shared>,
    /// Caller in this process that is told of every step.
    observer: Option<Observer>,
    /// The thread that shows the state, and the channel that ends it.
    watch: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Counts `n_runs` runs, whose costs are computed before the first one.
    pub(super) fn new(n_runs: u64) -> Self {
        Self::resumed(n_runs, 0)
    }

    /// Counts `n_runs` runs, `done` of which were made before and do not count for the pace.
    pub(super) fn resumed(n_runs: u64, done: u64) -> Self {
        Self::watched(State { noun: "runs", done, total: n_runs, ..State::default() })
    }

    /// Counts things called `noun`, whose number is set with that of those that are done.
    pub(super) fn counting(noun: &'static str) -> Self {
        Self::counting_on(noun, 0, 0)
    }

    /// Counts `total` things called `noun`, `done` of which were made before. Costs are computed between them.
    pub(super) fn counting_on(noun: &'static str, total: u64, done: u64) -> Self {
        let origin = Some((Instant::now(), done));
        Self::watched(State { noun, done, total, origin, ..State::default() })
    }

    /// Shows a message that may change.
    pub(super) fn of_unknown_length(message: &str) -> Self {
        Self::watched(State { message: message.into(), ..State::default() })
    }

    fn watched(state: State) -> Self {
        let is_counted = !state.noun.is_empty();
        let shared = Arc::new(Shared(Mutex::new(state)));
        let is_watched = !console::is_quiet() && !Stream::Err.is_captured();
        let is_drawn = Stream::Err.is_terminal() && !colour::is_dumb();
        let watch = is_watched.then(|| match is_drawn {
            true => drawn(&shared, is_counted),
            false => lines(&shared),
        });
        let observer = OBSERVER.with_borrow(Clone::clone);
        Self { shared, observer, watch: watch.flatten() }
    }

    /// Changes the message.
    pub(super) fn say(&self, message: String) {
        self.shared.lock().message = message;
    }

    /// Sets the number of things that are done, and of all.
    pub(super) fn set_of(&self, done: usize, total: usize) {
        self.shared.lock().total = total as u64;
        self.set(done as u64);
    }

    /// Adds to the number of things that are done.
    pub(super) fn add(&self, more: u64) {
        self.change(|done| done + more);
    }

    /// Sets the number of things that are done.
    pub(super) fn set(&self, done: u64) {
        self.change(|_| done);
    }

    fn change(&self, done: impl FnOnce(u64) -> u64) {
        let (done, total) = {
            let mut state = self.shared.lock();
            state.done = done(state.done);
            let now = state.done;
            state.origin.get_or_insert_with(|| (Instant::now(), now));
            (state.done, state.total)
        };
        if let Some(observer) = &self.observer {
            observer(done, total);
        }
    }

    /// Ends the display.
    pub(super) fn finish(self) {
        drop(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, watcher)) = self.watch.take() {
            drop(stop);
            let _ = watcher.join();
        }
    }
}

/// Starts `show`, which ends when the channel is closed. `None`, and nothing is shown, if no thread can be started.
fn watch(
    show: impl FnOnce(mpsc::Receiver<()>) + Send + 'static,
) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (stop, stopped) = mpsc::channel();
    Some((stop, thread::Builder::new().spawn(|| show(stopped)).ok()?))
}

/// Whether the work goes on after `time`.
fn goes_on(stopped: &mpsc::Receiver<()>, time: Duration) -> bool {
    stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

/// Draws the state after the delay, as a bar if things are counted.
fn drawn(shared: &Arc<Shared>, is_counted: bool) -> Option<(Sender<()>, JoinHandle<()>)> {
    let mark = if is_counted { "{bar:30}" } else { "{spinner}" };
    let style = ProgressStyle::with_template(&format!("{mark} {{msg}}, {{elapsed}} so far"));
    let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
    bar.set_style(style.expect("the template is valid"));
    let shared = Arc::clone(shared);
    watch(move |stopped| {
        if !goes_on(&stopped, DELAY) {
            return;
        }
        *shown() = Some(bar.clone());
        bar.set_draw_target(ProgressDrawTarget::stderr());
        loop {
            let state = shared.lock().clone();
            bar.set_length(state.total.max(1));
            bar.set_position(state.done);
            bar.set_message(state.words(Instant::now()));
            bar.tick();
            if !goes_on(&stopped, TICK) {
                break;
            }
        }
        bar.finish_and_clear();
        *shown() = None;
    })
}

/// Prints the state every minute.
fn lines(shared: &Arc<Shared>) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (shared, command) = (Arc::clone(shared), COMMAND.get());
    watch(move |stopped| {
        while goes_on(&stopped, MINUTE) {
            let line = text::shown(&format!("{command}: {}", shared.words())).into_owned() + "\n";
            let _ = Stream::Err.write_all(line.as_bytes());
        }
    })
}

fn shown() -> MutexGuard<'static, Option<ProgressBar>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_has_counts_and_an_estimate_from_the_mean_pace() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let points = |done| State {
            noun: "points",
            done,
            total: 2_016,
            origin: Some((begun, 16)),
            message: String::new(),
        };
        // 100 points in 10 s, 1,900 are left: 190 s, which is more than 3 min.
        assert_eq!(points(116).words(at(10)), "116 of 2,016 points, about 4 min left");
        assert_eq!(points(1_816).words(at(10)), "1,816 of 2,016 points, a few seconds left");
        // A hundredth is not done yet; no time has passed; nothing is left.
        assert_eq!(points(30).words(at(10)), "30 of 2,016 points");
        assert_eq!(points(116).words(at(1)), "116 of 2,016 points");
        assert_eq!(points(2_016).words(at(10)), "2,016 of 2,016 points, a few seconds left");
        let unknown = State { total: 0, done: 0, ..points(0) };
        assert_eq!(unknown.words(at(10)), "0 points");
        let before = State { origin: None, ..points(0) };
        assert_eq!(before.words(at(10)), COSTS);
        let message = State { message: "drawing".into(), ..State::default() };
        assert_eq!(message.words(at(10)), "drawing");
    }

    #[test]
    fn estimates_are_coarse() {
        let texts = [
            (3.0, "a few seconds"),
            (12.0, "about 20 s"),
            (61.0, "about 2 min"),
            (9_000.0, "about 2.5 h"),
            (90_000.0, "about 25 h"),
            (400_000.0, "about 5 days"),
        ];
        for (seconds, text) in texts {
            assert_eq!(rounded(seconds), text);
        }
    }
}
