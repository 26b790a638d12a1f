//! Figures of a comparison.

use xrsim_figures::{Caption, CriticalDifference, IntervalPanel, Intervals, Mean, Quantity};
use xrsim_model::statistics::Fraction;

use super::{Measure, Ranking, Ranks};

/// Means of all policies with 95 % intervals, the best on top: a panel for all scenarios, and one for each if there are
/// several.
pub fn figure(overall: &Ranking, by_scenario: &[Ranking]) -> Intervals {
    let names: Vec<String> = overall.standings.iter().map(|it| it.policy.to_string()).collect();
    let panel = |ranking: &Ranking| IntervalPanel {
        title: match &ranking.scenario {
            Some(scenario) => scenario.to_string(),
            None if by_scenario.is_empty() => String::new(),
            None => "all scenarios".into(),
        },
        means: names.iter().map(|name| mean(ranking, name)).collect(),
    };
    let panels: Vec<_> = std::iter::once(overall).chain(by_scenario).map(panel).collect();
    Intervals {
        caption: Caption {
            subtitle: format!(
                "means over {} and {} replications; lines: 95 % confidence intervals over replications",
                if overall.n_configurations == 1 { "one system" } else { "systems" },
                overall.n_replications
            ),
            ..Caption::titled("Schedulers on common random numbers")
        },
        value_axis: axis(overall.measure),
        names,
        columns: if panels.len() > 1 { 2 } else { 1 },
        panels,
    }
}

fn mean(ranking: &Ranking, name: &str) -> Option<Mean> {
    let standing = ranking.standings.iter().find(|it| *it.policy == *name)?;
    let interval = standing.measure.interval(Fraction::P95).map(|it| (it.low, it.high));
    (ranking.n_configurations > 0).then_some(Mean { value: standing.measure.mean, interval })
}

fn axis(measure: Measure) -> Quantity {
    let (unit, scale) = measure.column.base_unit();
    match scale == 1.0 {
        true => Quantity::new(measure.column.label, unit),
        false => Quantity::new(format!("{} [{}]", measure.column.label, measure.column.unit), ""),
    }
}

/// Diagram of the critical differences of the mean ranks.
pub fn ranks_figure(ranks: &Ranks, measure: Measure) -> CriticalDifference {
    let Ranks { policies, friedman, critical_difference, blocks } = ranks;
    CriticalDifference {
        caption: Caption {
            subtitle: format!(
                "by {} over {} {blocks}; bars join schedulers that the Nemenyi test does not tell apart at 5 %",
                measure.name(),
                friedman.n_blocks
            ),
            note: format!(
                "Friedman test: chi2 = {:.2}, p {}; the tests take the {blocks} for independent.",
                friedman.chi_square,
                super::p_value::p_relation(friedman.p_value),
            ),
            ..Caption::titled("Mean ranks of schedulers")
        },
        names: policies.iter().map(ToString::to_string).collect(),
        mean_ranks: friedman.mean_ranks.clone(),
        difference: *critical_difference,
        groups: friedman.groups(*critical_difference),
    }
}
