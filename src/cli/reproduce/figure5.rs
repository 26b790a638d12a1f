//! Figure 5: scores of every scenario on every system at both sizes. What is random is drawn as its
//! exact expectation with the range of what is possible; the published values are single draws.

use crate::figures::{Axis, Bar, Caption, GroupPanel, GroupedBars};

use super::super::study::{Bars, Expected, once, published};
use super::deviations::Deviation;

/// Largest difference that the digits of the published values allow.
const TOLERANCE: f64 = 5e-5;

const SERIES: [&str; 4] = ["real-time", "energy", "QoE", "overall"];

/// The figure: a row of panels for each scenario, 4K and 8K side by side, and the means over the
/// scenarios last (panel h).
pub(super) fn draw(semantics: &str, expected: &[Expected]) -> GroupedBars {
    let published = published();
    let mut scenarios: Vec<&str> = Vec::new();
    let mut groups: Vec<String> = Vec::new();
    for Expected { mean, .. } in expected {
        if !scenarios.contains(&mean.scenario.as_str()) {
            scenarios.push(&mean.scenario);
        }
        if !groups.contains(&mean.system) {
            groups.push(mean.system.clone());
        }
    }
    let mut panels = Vec::new();
    for scenario in &scenarios {
        for pes in [4096, 8192] {
            let bar = |score: usize, system: &str| {
                bar(expected, &published, scenario, pes, system, score)
            };
            panels.push(panel(&format!("{scenario}, {}", size(pes)), &groups, bar));
        }
    }
    for pes in [4096, 8192] {
        let bar = |score: usize, system: &str| mean_bar(expected, &published, pes, system, score);
        panels.push(panel(&format!("mean over scenarios, {}", size(pes)), &groups, bar));
    }
    GroupedBars {
        caption: Caption {
            subtitle: "bars: expectation; whiskers: all possible outcomes of the triggers".into(),
            note: once(expected.iter().map(|it| it.drawn)),
            ..Caption::titled(format!("Figure 5, semantics {semantics}"))
        },
        group_axis: "Accelerator".into(),
        value_axis: Axis::new("Score", ""),
        groups,
        series: SERIES.map(String::from).to_vec(),
        columns: 2,
        panels,
        shared_scale: true,
        published: "published (Figure 5)".into(),
    }
}

fn size(pes: u64) -> String {
    format!("{}K", pes / 1024)
}

fn panel(title: &str, groups: &[String], bar: impl Fn(usize, &str) -> Option<Bar>) -> GroupPanel {
    let series = |score: usize| groups.iter().map(|system| bar(score, system)).collect();
    GroupPanel { title: title.into(), bars: (0..SERIES.len()).map(series).collect() }
}

fn is(bars: &Bars, scenario: &str, pes: u64, system: &str) -> bool {
    bars.scenario == scenario && bars.pes == pes && bars.system == system
}

fn bar(
    expected: &[Expected],
    published: &[Bars],
    scenario: &str,
    pes: u64,
    system: &str,
    score: usize,
) -> Option<Bar> {
    let found = expected.iter().find(|it| is(&it.mean, scenario, pes, system))?;
    let printed = published.iter().find(|it| is(it, scenario, pes, system));
    Some(Bar {
        value: found.mean.scores[score],
        range: (found.possible.len() > 1).then(|| found.range(score)),
        published: printed.map(|it| it.scores[score]),
    })
}

/// The mean over the scenarios of a system that runs all of them.
fn mean_bar(
    expected: &[Expected],
    published: &[Bars],
    pes: u64,
    system: &str,
    score: usize,
) -> Option<Bar> {
    let mean =
        |all: Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    let here = |bars: &&Bars| bars.pes == pes && bars.system == system;
    let found = expected.iter().map(|it| &it.mean).filter(here).map(|bars| bars.scores[score]);
    let printed = published.iter().filter(here).map(|bars| bars.scores[score]);
    let value = mean(found.collect())?;
    Some(Bar { value, range: None, published: mean(printed.collect()) })
}

/// How the published bars compare: equal where nothing is random, one of the possible outcomes
/// elsewhere.
pub(super) fn deviations(semantics: &str, expected: &[Expected]) -> Vec<Deviation> {
    let published = published();
    let mut scenarios: Vec<&str> = published.iter().map(|bars| bars.scenario.as_str()).collect();
    scenarios.dedup();
    scenarios.sort_unstable();
    scenarios.dedup();
    let of_scenario = |scenario: &&str| {
        let printed = published.iter().filter(|bars| bars.scenario == **scenario);
        let pairs: Vec<_> = printed
            .filter_map(|bars| {
                let found =
                    expected.iter().find(|it| is(&it.mean, scenario, bars.pes, &bars.system))?;
                Some((bars, found))
            })
            .collect();
        let random = pairs.iter().any(|(_, found)| found.possible.len() > 1);
        let possible = pairs.iter().filter(|(bars, found)| is_possible(bars, found)).count();
        let distance =
            pairs.iter().map(|(bars, found)| (bars.scores[3] - found.mean.scores[3]).abs());
        Deviation {
            figure: "5",
            semantics: semantics.into(),
            what: format!(
                "{scenario}: points that are {}",
                if random { "possible" } else { "equal" }
            ),
            published: pairs.len().to_string(),
            found: possible.to_string(),
            remark: format!(
                "largest distance of an overall score from its expectation {:.3}",
                distance.fold(0.0, f64::max)
            ),
        }
    };
    scenarios.iter().map(of_scenario).collect()
}

/// Whether all four scores of a point are those of one outcome.
fn is_possible(bars: &Bars, found: &Expected) -> bool {
    found.possible.iter().any(|scores| {
        scores.iter().zip(bars.scores).all(|(found, printed)| (found - printed).abs() <= TOLERANCE)
    })
}
