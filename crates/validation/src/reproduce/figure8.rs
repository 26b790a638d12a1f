//! Figure 8: the real-time score against latency, for several sensitivities k (Definition 10).

use xrsim_figures::{Caption, Line, LinePanel, LinePoint, Lines, Quantity, Spacing};
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_sim::score::realtime::realtime;

use super::{FigureEntry, Reproduction};

/// Slack \[ms\]: one second from request to deadline, as in the example of the paper.
const SLACK_MS: f64 = 1000.0;
const POINTS: u32 = 400;

/// Sensitivity k \[1/s\]. The figure uses seconds, so that the curves can be distinguished; the 15 of
/// the benchmark is per millisecond.
const SENSITIVITIES_PER_S: [f64; 6] = [0.0, 1.0, 5.0, 15.0, 50.0, f64::INFINITY];

pub(super) const ENTRY: FigureEntry = FigureEntry {
    number: 8,
    depends_on_semantics: false,
    reproduce: |_| Ok(Reproduction { drawing: Box::new(draw()), deviations: Vec::new() }),
};

fn draw() -> Lines {
    let line = |&k: &f64| Line { points: points(k), published: Vec::new() };
    let name = |&k: &f64| if k.is_infinite() { "k = ∞".into() } else { format!("k = {k}") };
    Lines {
        caption: Caption {
            subtitle: "one second from request to deadline; k in 1/s".into(),
            ..Caption::titled("Figure 8: real-time score (Definition 10)")
        },
        x_axis: Quantity::new("Latency", "s"),
        x_spacing: Spacing::Linear,
        y_axis: Quantity::share("Real-time score"),
        y_spacing: Spacing::Linear,
        series: SENSITIVITIES_PER_S.iter().map(name).collect(),
        columns: 1,
        panels: vec![LinePanel {
            title: String::new(),
            lines: SENSITIVITIES_PER_S.iter().map(line).collect(),
        }],
        limits: Vec::new(),
        answer: None,
        published: String::new(),
    }
}

/// Points of the curve of `k_per_s`. An infinite k makes a step at the deadline: two more points are a
/// nanosecond before and after it, so that the step is upright.
fn points(k_per_s: f64) -> Vec<LinePoint> {
    let even = (0..=POINTS).map(|index| 2.0 * SLACK_MS * f64::from(index) / f64::from(POINTS));
    let mut latencies_ms: Vec<f64> = even.collect();
    if k_per_s.is_infinite() {
        latencies_ms.extend([SLACK_MS - 1e-6, SLACK_MS + 1e-6]);
        latencies_ms.sort_by(f64::total_cmp);
    }
    latencies_ms.into_iter().map(|latency_ms| point(latency_ms, k_per_s)).collect()
}

fn point(latency_ms: f64, k_per_s: f64) -> LinePoint {
    let at = |ms: f64| SimTime::ZERO + SimSpan::from_ms(ms).unwrap_or(SimSpan::ZERO);
    let mean = realtime(at(latency_ms), at(SLACK_MS), k_per_s / 1e3);
    LinePoint { x: latency_ms / 1e3, mean, interval: None }
}
