//! Latency over rate: a server below and above its peak.

use xrsim_figures::Lines;
use xrsim_mlperf::benchmark::{TestBed, TestError, TestResult};
use xrsim_mlperf::results::{Metric, Performance};
use xrsim_mlperf::settings::EffectiveSettings;
use xrsim_model::parallel;
use xrsim_model::statistics::Fraction;
use xrsim_model::units::SimSpan;
use xrsim_report::mlperf::{CURVE_COLUMNS, LatencyBound, RatePoint, latency_over_rate};

/// Server runs of one system at several rates.
pub(super) struct Curve {
    bound: SimSpan,
    percentile: Fraction,
    /// Rate of the result, if it is valid \[1/s\].
    result_per_s: Option<f64>,
    /// Target rate \[1/s\] with the performance at it.
    points: Vec<(f64, Performance)>,
}

/// Highest rate as multiples of the rate of the result and of the capacity; the larger one counts.
const BEYOND: [f64; 2] = [1.25, 0.95];

impl Curve {
    /// Runs at `n` rates in equal steps, up to the highest one, with the settings of `result`.
    ///
    /// # Errors
    ///
    /// [`TestError`] if a run fails.
    pub(super) fn measure(
        result: &TestResult,
        n: u32,
        bed: &dyn TestBed,
    ) -> Result<Self, TestError> {
        let EffectiveSettings { target_qps, target_latency, percentile, .. } = result.settings;
        let [of_result, of_capacity] = BEYOND;
        let highest = (of_result * target_qps).max(of_capacity * bed.capacity_per_s());
        let point = |index: usize| {
            let rate = highest * (index + 1) as f64 / f64::from(n);
            let measured = bed.measure(&result.settings.with_rate(rate)?)?;
            Ok::<_, TestError>((rate, measured.measurement.performance))
        };
        let points = parallel::map_indices(n as usize, point);
        let points = points.into_iter().collect::<Result<_, _>>()?;
        // The rate of the table of results.
        let result_per_s = match result.metric() {
            Metric::Rate(rate) if result.is_valid() => rate,
            _ => None,
        };
        Ok(Self { bound: target_latency, percentile, result_per_s, points })
    }

    /// Columns, and a row for each rate.
    pub(super) fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let row = |(rate, it): &(f64, Performance)| {
            let [p50, p90, _, p97, p99, p99_9] = it.latency.percentiles.map(SimSpan::as_ms);
            let late = 100.0 * it.overlatency as f64 / it.queries as f64;
            let (scheduled, completed) = (it.scheduled_rate(), it.completed_rate());
            let measured = |value: f64| it.validity.is_finished.then_some(value);
            let rates = [scheduled, completed].map(|it| it.and_then(measured));
            let numbers = [Some(*rate)].into_iter().chain(rates);
            let numbers = numbers.chain([p50, p90, p97, p99, p99_9, late].map(measured));
            let cell = |number: Option<f64>| number.map_or(String::new(), xrsim_model::text::cell);
            let mut cells: Vec<_> = numbers.map(cell).collect();
            let holds = it.validity.performance == Some(true) && it.validity.is_finished;
            cells.push(holds.to_string());
            cells
        };
        (CURVE_COLUMNS.map(String::from).to_vec(), self.points.iter().map(row).collect())
    }

    /// Figure of the percentiles over the rate, with the bound; `None` if the device ended every test.
    pub(super) fn draw(&self, task: &str, system: &str) -> Option<Lines> {
        let point = |(rate, it): &(f64, Performance)| {
            let [p50, p90, _, p97, p99, _] = it.latency.percentiles.map(SimSpan::as_ms);
            RatePoint { rate_per_s: *rate, percentiles_ms: [p50, p90, p97, p99] }
        };
        let finished = self.points.iter().filter(|(_, it)| it.validity.is_finished);
        let points: Vec<_> = finished.map(point).collect();
        let bound =
            LatencyBound { latency_ms: self.bound.as_ms(), percentile: self.percentile.get() };
        let limits = (Some(bound), self.result_per_s);
        (!points.is_empty()).then(|| latency_over_rate((task, system), limits, &points))
    }
}
