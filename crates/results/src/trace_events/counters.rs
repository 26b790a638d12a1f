//! Counters: lengths of the queues, power of the accelerators.

use xrsim_model::ids::{AccelId, ModelId};
use xrsim_model::units::SimTime;

use super::layout::{Execution, Layout, Wait};

/// A value that holds from an instant until the next sample.
pub(super) type Sample<V> = (SimTime, V);

/// A value over time that starts at zero; equal neighbours are merged.
struct Steps<V> {
    samples: Vec<Sample<V>>,
}

impl<V: Copy + Default + PartialEq> Steps<V> {
    fn new() -> Self {
        Self { samples: vec![(SimTime::ZERO, V::default())] }
    }

    /// Sets the value at `time`. Times do not decrease; the last value of an instant counts.
    fn set(&mut self, time: SimTime, value: V) {
        if self.samples.last().is_some_and(|last| last.0 == time) {
            self.samples.pop();
        }
        if self.samples.last().is_none_or(|last| last.1 != value) {
            self.samples.push((time, value));
        }
    }
}

/// Requests of `model` whose data have arrived and which have not started.
pub(super) fn queue(layout: &Layout, model: ModelId) -> Vec<Sample<i64>> {
    let waits = layout.waits.iter().filter(|wait| wait.model == model);
    let ends = |wait: &Wait| [(wait.start, 1), (wait.end, -1)];
    let mut changes: Vec<(SimTime, i64)> = waits.flat_map(ends).collect();
    changes.sort_by_key(|change| change.0);
    let mut steps = Steps::new();
    let mut length = 0;
    for (time, change) in changes {
        length += change;
        steps.set(time, length);
    }
    steps.samples
}

/// Power of one accelerator \[W\].
pub(super) fn power(layout: &Layout, accelerator: AccelId) -> Vec<Sample<f64>> {
    let mut steps = Steps::new();
    let is_here = |it: &&Execution| it.accelerator == accelerator;
    for execution in layout.executions.iter().filter(is_here) {
        if let Some(watts) = execution.watts {
            steps.set(execution.start, watts);
            steps.set(execution.drawn_end, 0.0);
        }
    }
    steps.samples
}

/// Power of all accelerators together \[W\].
pub(super) fn total_power(each: &[Vec<Sample<f64>>]) -> Vec<Sample<f64>> {
    let samples = |(index, samples): (usize, &Vec<Sample<f64>>)| {
        samples.iter().map(|&(time, watts)| (time, index, watts)).collect::<Vec<_>>()
    };
    let mut changes: Vec<_> = each.iter().enumerate().flat_map(samples).collect();
    changes.sort_by_key(|&(time, index, _)| (time, index));
    let mut steps = Steps::new();
    let mut now = vec![0.0; each.len()];
    for (time, index, watts) in changes {
        now[index] = watts;
        // Summed from the start, so that the sum is exactly zero if every accelerator is idle.
        steps.set(time, now.iter().sum());
    }
    steps.samples
}
