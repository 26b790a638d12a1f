//! The summary of LoadGen, line by line.

use crate::validate::Tally;
use xrsim_config::loadgen_cases::Case;
use xrsim_mlperf::logs::render_summary;
use xrsim_mlperf::results::Performance;
use xrsim_mlperf::settings::EffectiveSettings;

use super::recorded::summary_place;

/// Relative tolerance of numbers that depend on the start of the host.
const TOLERANCE: f64 = 1e-4;

/// Source of the latencies of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Latencies {
    /// The recorded run: every line must be equal.
    Recorded,
    /// The simulated run, because no latencies were recorded: lines with latencies are not compared.
    Simulated,
}

/// Compares the summary of `case` with the summary of `performance`, a run with `settings`.
pub(super) fn compare(
    case: &Case,
    settings: &EffectiveSettings,
    performance: &Performance,
    latencies: Latencies,
    tally: &mut Tally,
) {
    let Some(source) = &case.summary else { return };
    let lines: Vec<_> = source.text().lines().collect();
    let name = lines.iter().find_map(|line| line.strip_prefix("SUT name : ")).unwrap_or_default();
    let errors = case.expected.told.errors.unwrap_or(0) as usize;
    let text = render_summary(settings, performance, name, errors);
    let rendered: Vec<_> = text.lines().collect();
    for index in 0..lines.len().max(rendered.len()) {
        let expected = lines.get(index).copied().unwrap_or("the end");
        let found = rendered.get(index).copied().unwrap_or("the end");
        if latencies == Latencies::Simulated && has_latency(expected) && has_latency(found) {
            continue;
        }
        let name = summary_place(source, index);
        match numbers_from_start(expected, found) {
            Some([expected, found]) => tally.near_if(&name, Some(expected), Some(found), TOLERANCE),
            None => tally.equal(name, format!("`{expected}`"), format!("`{found}`")),
        }
    }
}

/// Whether a line gives a latency, or a rate that depends on one.
fn has_latency(line: &str) -> bool {
    line.contains(" latency (ns) ") || line.starts_with("Completed samples per second")
}

/// Numbers of two lines that depend on the start of the host, which no log gives.
fn numbers_from_start(expected: &str, found: &str) -> Option<[f64; 2]> {
    let number = |line: &str| line.strip_prefix("QPS w/ loadgen overhead         : ")?.parse().ok();
    Some([number(expected)?, number(found)?])
}
