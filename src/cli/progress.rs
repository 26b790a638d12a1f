//! A progress bar for work that lasts longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows nothing.
const QUIET: Duration = Duration::from_secs(1);

/// A bar on standard error, with rate and time left; only where a person watches.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// A bar for `n_runs` runs, hidden at first.
    pub fn new(n_runs: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_runs as u64), ProgressDrawTarget::hidden());
        let template = "{bar:40} {pos}/{len} runs, {per_sec}, {eta} left";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        Self { bar, start: Instant::now() }
    }

    /// `done` runs are done.
    pub fn set(&self, done: usize) {
        if self.bar.is_hidden() && self.start.elapsed() > QUIET {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(done as u64);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
