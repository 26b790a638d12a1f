//! Columns and figures of MLPerf results, for the command that measures them and for the page that reads
//! them back.

use thiserror::Error;

use xrsim_figures::{
    Answer, Caption, Limit, Line, LinePanel, LinePoint, Lines, Quantity, Spacing, Tornado,
    TornadoBar, TornadoRow,
};

/// Latency of a server at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// Target rate \[queries/s\].
    pub rate_per_s: f64,
    /// 50th, 90th, 97th and 99th percentile of latency \[ms\]; rounds judge servers by the last two.
    pub percentiles_ms: [f64; 4],
}

/// Latency constraint of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyBound {
    /// Latency bound \[ms\].
    pub latency_ms: f64,
    /// Fraction of queries that must meet the bound, in 0 to 1.
    pub percentile: f64,
}

/// Columns of `suite.csv`: the tests of a suite.
pub const SUITE_COLUMNS: [&str; 16] = [
    "task",
    "load",
    "metric",
    "value",
    "unit",
    "verdict",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "energy_mj_per_sample",
    "energy_mj_per_stream",
    "mean_power_w",
    "queries",
    "trials",
    "beside_score",
    "beside_score_alone",
];

/// Columns of `tenants.csv`: tenants at once.
pub const TENANT_COLUMNS: [&str; 12] = [
    "tenant",
    "task",
    "verdict",
    "scheduled_qps",
    "completed_qps",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "bound_ms",
    "late_percent",
    "energy_mj_per_sample",
    "queries",
];

/// Columns of `curve.csv`: a server at several rates.
pub const CURVE_COLUMNS: [&str; 10] = [
    "target_qps",
    "scheduled_qps",
    "completed_qps",
    "p50_ms",
    "p90_ms",
    "p97_ms",
    "p99_ms",
    "p99_9_ms",
    "late_percent",
    "within_bound",
];

/// Verdict on a result in tables.
pub fn verdict(is_valid: bool) -> &'static str {
    if is_valid { "VALID" } else { "INVALID" }
}

const PERCENTILES: [&str; 4] =
    ["50th percentile", "90th percentile", "97th percentile", "99th percentile"];

/// The percentiles as fractions.
const FRACTIONS: [f64; 4] = [0.5, 0.9, 0.97, 0.99];

/// The point of the line of the percentile that is judged at the rate of the result; `None` if the rate is not within
/// the line.
fn answer(rate_per_s: f64, bound: LatencyBound, points: &[RatePoint]) -> Option<Answer> {
    let judged = FRACTIONS.iter().position(|it| (it - bound.percentile).abs() < 1e-9)?;
    let at = |it: &RatePoint| (it.rate_per_s, it.percentiles_ms[judged]);
    let pair = points
        .windows(2)
        .find(|pair| (pair[0].rate_per_s..=pair[1].rate_per_s).contains(&rate_per_s))?;
    let [(x0, y0), (x1, y1)] = [at(&pair[0]), at(&pair[1])];
    let share = if x1 > x0 { (rate_per_s - x0) / (x1 - x0) } else { 0.0 };
    // The axis of latencies is logarithmic, and lines on it are straight.
    let y = y0 * (y1 / y0).powf(share);
    let name = format!("result: {rate_per_s:.1} 1/s");
    (y.is_finite() && y > 0.0).then_some(Answer { name, x: rate_per_s, y })
}

/// Percentiles of the latency of `task` over the rate, with the bound and the rate of the result \[queries/s\] if they
/// are known.
pub fn latency_over_rate(
    (task, system): (&str, &str),
    (bound, result_per_s): (Option<LatencyBound>, Option<f64>),
    points: &[RatePoint],
) -> Lines {
    let line = |latency_ms: &dyn Fn(&RatePoint) -> f64| Line {
        points: points
            .iter()
            .map(|it| LinePoint { x: it.rate_per_s, mean: latency_ms(it), interval: None })
            .collect(),
        published: Vec::new(),
    };
    let percentiles = [0, 1, 2, 3].map(|index| line(&move |it| it.percentiles_ms[index]));
    let limit = |it: LatencyBound| Limit {
        name: format!("bound: {} ms", it.latency_ms),
        value: it.latency_ms,
    };
    Lines {
        caption: Caption {
            subtitle: subtitle(system, bound),
            ..Caption::titled(format!("Latency of a server: {task}"))
        },
        x_axis: Quantity::new("Queries", "1/s"),
        x_spacing: Spacing::Linear,
        y_axis: Quantity::new("Latency [ms]", ""),
        y_spacing: Spacing::Log,
        series: PERCENTILES.map(String::from).to_vec(),
        columns: 1,
        panels: vec![LinePanel { title: String::new(), lines: percentiles.into() }],
        limits: bound.map(limit).into_iter().collect(),
        answer: bound.zip(result_per_s).and_then(|(bound, rate)| answer(rate, bound, points)),
        published: String::new(),
    }
}

fn subtitle(system: &str, bound: Option<LatencyBound>) -> String {
    match bound {
        None => format!("{system}; one draw of the arrivals at each rate"),
        Some(LatencyBound { latency_ms, percentile }) => format!(
            "{system}; at most {:.0} % of queries may exceed {latency_ms} ms; one draw of the arrivals \
             at each rate",
            100.0 * (1.0 - percentile)
        ),
    }
}

/// Rate as the result of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateResult {
    /// Rate \[samples/s\], if it is defined.
    pub per_s: Option<f64>,
    /// Whether the result is valid.
    pub is_valid: bool,
}

/// Reason why a server result is not compared with offline.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum NoShare {
    /// A result is invalid.
    #[error("{0} is INVALID")]
    Invalid(&'static str),
    /// A rate is undefined.
    #[error("{0} has no rate")]
    NoRate(&'static str),
    /// The server rate exceeds the offline rate, which has no latency bound, so that a test is too short.
    #[error(
        "the server's {server:.6} per second exceed the {offline:.6} of offline, so that at least one of the \
         tests is too short"
    )]
    Above {
        /// Server rate \[1/s\].
        server: f64,
        /// Offline rate \[1/s\].
        offline: f64,
    },
}

/// Server rate over offline rate of a task (ISCA 2020, Figure 6), in 0 to 1.
///
/// # Errors
///
/// [`NoShare`] if a result is invalid or undefined, or the server exceeds offline.
pub fn server_share(server: RateResult, offline: RateResult) -> Result<f64, NoShare> {
    let result = |name, it: RateResult| match it {
        RateResult { is_valid: false, .. } => Err(NoShare::Invalid(name)),
        RateResult { per_s, .. } => {
            per_s.filter(|rate| rate.is_finite() && *rate > 0.0).ok_or(NoShare::NoRate(name))
        }
    };
    let (server, offline) = (result("server", server)?, result("offline", offline)?);
    if server > offline { Err(NoShare::Above { server, offline }) } else { Ok(server / offline) }
}

/// Figure of the server rate over the offline rate of every task (ISCA 2020, Figure 6).
pub fn server_to_offline(shares: &[(&str, f64)], system: &str) -> Tornado {
    let row = |&(task, share): &(&str, f64)| TornadoRow {
        name: task.into(),
        bars: vec![TornadoBar {
            series: 0,
            label: format!("{share:.2}"),
            value: share,
            range: None,
        }],
    };
    Tornado {
        caption: Caption {
            subtitle: system.into(),
            ..Caption::titled("Server throughput under its latency bound, relative to offline")
        },
        axis: Quantity::share("Server / offline"),
        series: vec!["server / offline".into()],
        rows: shares.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_lies_on_the_line_of_the_percentile_that_is_judged() {
        let point = |rate_per_s: f64, p97: f64, p99: f64| RatePoint {
            rate_per_s,
            percentiles_ms: [1.0, 2.0, p97, p99],
        };
        let points = [point(100.0, 3.0, 4.0), point(200.0, 6.0, 16.0)];
        let at = |rate: f64, percentile: f64| {
            let bound = LatencyBound { latency_ms: 15.0, percentile };
            answer(rate, bound, &points).map(|it| it.y)
        };
        // The geometric mean of 4 and 16 half of the way.
        assert!((at(150.0, 0.99).expect("within the line") - 8.0).abs() < 1e-12);
        assert_eq!((at(100.0, 0.97), at(250.0, 0.99), at(150.0, 0.95)), (Some(3.0), None, None));
    }
}
