//! Figure 5: scores of every scenario on every system at both sizes. A random score is drawn as its
//! exact expectation with the range of possible values; the published values are single draws.

use xrsim_figures::{Bar, Caption, GroupPanel, GroupedBars, Quantity};
use xrsim_model::sequence::distinct;

use super::study::{MeanScores, Outcomes, Point, Study, published};
use super::{Deviation, FigureEntry, Reproduction};

/// Largest difference that the digits of the published values allow.
const TOLERANCE: f64 = 5e-5;

pub(super) const ENTRY: FigureEntry = FigureEntry {
    number: 5,
    depends_on_semantics: true,
    reproduce: |study: &Study| {
        let outcomes = study.outcomes()?;
        let semantics = &*study.rules();
        Ok(Reproduction {
            deviations: deviations(semantics, &outcomes),
            drawing: Box::new(draw(study, &outcomes)),
        })
    },
};

/// Draws a row of panels for each scenario, 4K and 8K side by side, and the means over the scenarios
/// last (panel h).
fn draw(study: &Study, outcomes: &[Outcomes]) -> GroupedBars {
    let published = published();
    let scenarios = distinct(outcomes.iter().map(|it| &*it.mean.scenario));
    let groups = distinct(outcomes.iter().map(|it| it.mean.system.clone()));
    let mut panels = Vec::new();
    for scenario in &scenarios {
        for pes in [4096, 8192] {
            let bar = |score: usize, system: &str| {
                bar(outcomes, &published, scenario, pes, system, score)
            };
            panels.push(panel(&format!("{scenario}, {}", size(pes)), &groups, bar));
        }
    }
    for pes in [4096, 8192] {
        let bar = |score: usize, system: &str| mean_bar(outcomes, &published, pes, system, score);
        panels.push(panel(&format!("mean of all, {}", size(pes)), &groups, bar));
    }
    GroupedBars {
        caption: Caption {
            subtitle: "bars: expectation; whiskers: all possible outcomes of the triggers".into(),
            note: study.note(outcomes.iter().map(|it| it.drawn)),
            ..Caption::titled(format!("Figure 5, semantics {}", study.rules()))
        },
        group_axis: "Accelerator".into(),
        value_axis: Quantity::share("Score"),
        groups,
        series: MeanScores::NAMES.map(String::from).to_vec(),
        columns: 2,
        panels,
        shared_scale: true,
        published: "published (Figure 5)".into(),
        ranges: "all possible outcomes".into(),
        alone: MeanScores::NAMES.iter().position(|name| *name == "overall"),
    }
}

fn size(pes: u64) -> String {
    format!("{}K", pes / 1024)
}

fn panel(title: &str, groups: &[String], bar: impl Fn(usize, &str) -> Option<Bar>) -> GroupPanel {
    let series = |score: usize| groups.iter().map(|system| bar(score, system)).collect();
    GroupPanel { title: title.into(), bars: (0..MeanScores::NAMES.len()).map(series).collect() }
}

fn bar(
    outcomes: &[Outcomes],
    published: &[Point],
    scenario: &str,
    pes: u64,
    system: &str,
    score: usize,
) -> Option<Bar> {
    let found = outcomes.iter().find(|it| it.mean.is_at(scenario, pes, system))?;
    let printed = published.iter().find(|it| it.is_at(scenario, pes, system));
    Some(Bar {
        value: found.mean.scores.values()[score],
        range: (found.possible.len() > 1).then(|| found.range(score)),
        published: printed.map(|it| it.scores.values()[score]),
    })
}

/// Mean over the scenarios of a system.
fn mean_bar(
    outcomes: &[Outcomes],
    published: &[Point],
    pes: u64,
    system: &str,
    score: usize,
) -> Option<Bar> {
    let mean =
        |all: Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    let here = |point: &&Point| point.pes == pes && point.system == system;
    let found =
        outcomes.iter().map(|it| &it.mean).filter(here).map(|point| point.scores.values()[score]);
    let printed = published.iter().filter(here).map(|point| point.scores.values()[score]);
    let value = mean(found.collect())?;
    Some(Bar { value, range: None, published: mean(printed.collect()) })
}

/// Compares the published bars, scenario by scenario: equal where nothing is random, one of the possible
/// outcomes elsewhere.
fn deviations(semantics: &str, outcomes: &[Outcomes]) -> Vec<Deviation> {
    let published = published();
    let mut scenarios: Vec<&str> = published.iter().map(|it| it.scenario.as_str()).collect();
    scenarios.sort_unstable();
    scenarios.dedup();
    let of_scenario = |scenario: &str| {
        let printed = published.iter().filter(|point| point.scenario == scenario);
        let found_at = |point: &Point| {
            outcomes.iter().find(|it| it.mean.is_at(scenario, point.pes, &point.system))
        };
        let pairs: Vec<_> = printed.filter_map(|it| Some((it, found_at(it)?))).collect();
        let is_random = pairs.iter().any(|(_, found)| found.possible.len() > 1);
        let n_possible = pairs.iter().filter(|(point, found)| is_possible(point, found)).count();
        let distance = pairs
            .iter()
            .map(|(point, found)| (point.scores.overall - found.mean.scores.overall).abs());
        let kind = if is_random { "possible" } else { "equal" };
        Deviation {
            figure: "5",
            semantics: semantics.into(),
            what: format!("{scenario}: points that are {kind}"),
            published: pairs.len().to_string(),
            found: n_possible.to_string(),
            remark: format!(
                "largest distance of an overall score from its expectation {:.3}",
                distance.fold(0.0, f64::max)
            ),
        }
    };
    scenarios.into_iter().map(of_scenario).collect()
}

/// Whether all four scores of a published point are those of one outcome.
fn is_possible(point: &Point, found: &Outcomes) -> bool {
    found.possible.iter().any(|scores| scores.distance(&point.scores) <= TOLERANCE)
}
