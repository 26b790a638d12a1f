//! Latency over rate: what a server does below its peak and beyond.

use rayon::prelude::*;

use crate::figures::{Axis, Caption, Line, LinePanel, LinePoint, Lines, Spacing};
use crate::mlperf::bed::{TestBed, TestError};
use crate::mlperf::benchmark::Outcome;
use crate::mlperf::performance::Performance;
use crate::mlperf::settings::Settings;
use crate::statistics::Fraction;
use crate::units::SimSpan;

/// Server runs of one system at several rates.
pub struct Curve {
    bound: SimSpan,
    percentile: Fraction,
    /// Rate that was asked for \[1/s\], and what came of it.
    points: Vec<(f64, Performance)>,
}

/// The highest rate, as a multiple of that of the result and of what can be served at all; the larger of
/// both.
const BEYOND: [f64; 2] = [1.25, 0.95];

/// Percentiles of the lines: positions in the list that LoadGen prints, and names.
const LINES: [(usize, &str); 3] = [(0, "50th"), (1, "90th"), (4, "99th")];

impl Curve {
    /// `n` rates in equal steps, up to beyond that of `outcome` and close to what can be served at all, with
    /// its settings otherwise.
    ///
    /// # Errors
    ///
    /// [`TestError`].
    pub fn of(outcome: &Outcome, n: u32, bed: &dyn TestBed) -> Result<Self, TestError> {
        let Settings { target_qps, target_latency, percentile, .. } = outcome.settings;
        let [of_result, of_capacity] = BEYOND;
        let highest = (of_result * target_qps).max(of_capacity * bed.capacity_per_s());
        let point = |step: u32| {
            let rate = highest * f64::from(step) / f64::from(n);
            let measured = bed.measure(&outcome.settings.with_rate(rate)?)?;
            Ok::<_, TestError>((rate, measured.measurement.performance))
        };
        let points: Vec<_> = (1..=n).into_par_iter().map(point).collect();
        let points = points.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { bound: target_latency, percentile, points })
    }

    /// A row a rate.
    pub fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let header = [
            "target_qps",
            "scheduled_qps",
            "completed_qps",
            "p50_ms",
            "p90_ms",
            "p99_ms",
            "p99_9_ms",
            "late_percent",
            "within_bound",
        ];
        let row = |(rate, it): &(f64, Performance)| {
            let [p50, p90, _, _, p99, p99_9] = it.latency.percentiles.map(SimSpan::as_ms);
            let late = 100.0 * it.late as f64 / it.queries as f64;
            let numbers =
                [*rate, it.scheduled_rate(), it.completed_rate(), p50, p90, p99, p99_9, late];
            let mut cells = numbers.map(crate::figures::cell).to_vec();
            cells.push((it.validity.performance == Some(true)).to_string());
            cells
        };
        (header.map(String::from).to_vec(), self.points.iter().map(row).collect())
    }

    /// Percentiles over the rate, with the bound.
    pub fn draw(&self, task: &str, system: &str) -> Lines {
        let line = |value: &dyn Fn(&Performance) -> f64| Line {
            points: self
                .points
                .iter()
                .map(|(rate, it)| LinePoint { x: *rate, mean: value(it), interval: None })
                .collect(),
            published: Vec::new(),
        };
        let percentiles = LINES.map(|(index, _)| {
            line(&move |it: &Performance| it.latency.percentiles[index].as_ms() / 1e3)
        });
        let bound = line(&|_| self.bound.as_ms() / 1e3);
        Lines {
            caption: Caption {
                subtitle: format!(
                    "{system}; at most {:.0} % of queries may exceed {} ms",
                    100.0 * (1.0 - self.percentile.get()),
                    self.bound.as_ms()
                ),
                ..Caption::titled(format!("Latency of a server: {task}"))
            },
            x_axis: Axis::new("Queries", "1/s"),
            x_spacing: Spacing::Linear,
            y_axis: Axis::new("Latency", "s"),
            y_spacing: Spacing::Log,
            series: LINES
                .iter()
                .map(|(_, name)| format!("{name} percentile"))
                .chain(["bound".to_string()])
                .collect(),
            columns: 1,
            panels: vec![LinePanel {
                title: String::new(),
                lines: percentiles.into_iter().chain([bound]).collect(),
            }],
            published: String::new(),
        }
    }
}
