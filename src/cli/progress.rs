//! A progress bar for work that lasts longer than a second.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::colour;

/// Work shorter than this shows nothing.
const QUIET: Duration = Duration::from_secs(1);

/// A bar on standard error, with rate and time left; only where a person watches.
pub struct Progress {
    bar: ProgressBar,
    start: Instant,
}

impl Progress {
    /// A bar for `n_runs` runs, hidden at first.
    pub fn new(n_runs: u64) -> Self {
        Self::resumed(n_runs, 0)
    }

    /// A bar for `n_runs` runs of which `done` were done before, which says nothing of the rate.
    pub fn resumed(n_runs: u64, done: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_runs), ProgressDrawTarget::hidden());
        let template = "{bar:40} {pos}/{len} runs, {per_sec}, {eta} left";
        bar.set_style(ProgressStyle::with_template(template).expect("the template is valid"));
        bar.set_position(done);
        bar.reset_eta();
        Self { bar, start: Instant::now() }
    }

    /// `done` runs are done.
    pub fn set(&self, done: u64) {
        if self.bar.is_hidden() && self.start.elapsed() > QUIET && !colour::is_dumb() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(done);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
