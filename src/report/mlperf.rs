//! Figures of load tests, from plain numbers: of a command that measured them and of a page that reads them
//! back.

use thiserror::Error;

use crate::figures::{
    Axis, Bar, Caption, GroupPanel, GroupedBars, Line, LinePanel, LinePoint, Lines, Spacing,
};

/// What a server did at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePoint {
    /// Queries per second that were asked for.
    pub rate_per_s: f64,
    /// 50th, 90th, 97th and 99th percentile of latency \[ms\]; the last two are those that rounds judge
    /// servers by.
    pub percentiles_ms: [f64; 4],
}

/// The constraint of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LatencyBound {
    /// Longest latency that is no violation \[ms\].
    pub latency_ms: f64,
    /// Share of queries that must keep it, in 0 to 1.
    pub percentile: f64,
}

const PERCENTILES: [&str; 4] =
    ["50th percentile", "90th percentile", "97th percentile", "99th percentile"];

/// Percentiles of the latency of `task` over the rate, with the bound where it is known.
pub fn latency_over_rate(
    (task, system): (&str, &str),
    bound: Option<LatencyBound>,
    points: &[RatePoint],
) -> Lines {
    let line = |latency_ms: &dyn Fn(&RatePoint) -> f64| Line {
        points: points
            .iter()
            .map(|it| LinePoint { x: it.rate_per_s, mean: latency_ms(it) / 1e3, interval: None })
            .collect(),
        published: Vec::new(),
    };
    let percentiles = [0, 1, 2, 3].map(|index| line(&move |it| it.percentiles_ms[index]));
    let of_bound = bound.map(|bound| line(&move |_| bound.latency_ms));
    let names = PERCENTILES.into_iter().chain(bound.map(|_| "bound"));
    Lines {
        caption: Caption {
            subtitle: subtitle(system, bound),
            ..Caption::titled(format!("Latency of a server: {task}"))
        },
        x_axis: Axis::new("Queries", "1/s"),
        x_spacing: Spacing::Linear,
        y_axis: Axis::new("Latency", "s"),
        y_spacing: Spacing::Log,
        series: names.map(String::from).collect(),
        columns: 1,
        panels: vec![LinePanel {
            title: String::new(),
            lines: percentiles.into_iter().chain(of_bound).collect(),
        }],
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

/// Result of a test that is a rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateResult {
    /// Samples per second, if there is such a rate.
    pub per_s: Option<f64>,
    /// Whether it counts.
    pub is_valid: bool,
}

/// Why a server is not compared with offline.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum NoShare {
    /// A result that does not count is no result.
    #[error("{0} is INVALID")]
    Invalid(&'static str),
    /// There is nothing to divide.
    #[error("{0} has no rate")]
    NoRate(&'static str),
    /// Offline is what a system does without a bound, so that one of the tests says little.
    #[error(
        "the server's {server:.6} per second exceed the {offline:.6} of offline, so that at least one of the \
         tests is too short"
    )]
    Above {
        /// Queries per second.
        server: f64,
        /// Samples per second.
        offline: f64,
    },
}

/// Server rate over offline rate of a task (ISCA 2020, Figure 6), in 0 to 1.
///
/// # Errors
///
/// [`NoShare`], where the two do not go together.
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

/// Server rate over offline rate of every task (ISCA 2020, Figure 6).
pub fn server_to_offline(shares: &[(&str, f64)], system: &str) -> GroupedBars {
    let bar = |&(_, share): &(&str, f64)| Some(Bar::plain(share));
    GroupedBars {
        caption: Caption {
            subtitle: system.into(),
            ..Caption::titled("Server throughput under its latency bound, relative to offline")
        },
        group_axis: "Task".into(),
        value_axis: Axis::new("Server / offline", ""),
        groups: shares.iter().map(|(task, _)| (*task).into()).collect(),
        series: vec!["server / offline".into()],
        columns: 1,
        panels: vec![GroupPanel {
            title: String::new(),
            bars: vec![shares.iter().map(bar).collect()],
        }],
        shared_scale: true,
        published: String::new(),
    }
}
