//! Figures of a comparison.

use xrsim_figures::{Caption, CriticalDifference, DifferenceRow, Differences, Quantity};
use xrsim_model::statistics::Fraction;

use super::{Measure, Ranking, Ranks, Standing};

/// Differences of all policies to the best one with 95 % intervals, and their parts by scenario; all policies, if only the
/// best is there.
pub fn figure(overall: &Ranking, by_scenario: &[Ranking]) -> Differences {
    let best = &overall.standings[0];
    let mean = |ranking: &Ranking, policy: &str| {
        let standing = ranking.standings.iter().find(|it| *it.policy == *policy)?;
        (ranking.n_configurations > 0).then_some(standing.measure.mean)
    };
    let part = |ranking: &Ranking, policy: &str| {
        let difference = mean(ranking, policy)? - mean(ranking, &best.policy)?;
        Some((ranking.scenario.as_deref().unwrap_or_default().to_string(), difference))
    };
    let row = |standing: &Standing| {
        let difference = standing.difference.as_ref().map(|it| it.difference);
        let interval = difference.and_then(|it| it.interval(Fraction::P95));
        let is_best = standing.difference.is_none();
        let mean = difference.map(|it| it.mean).or(is_best.then_some(0.0));
        DifferenceRow {
            name: standing.policy.to_string(),
            mean: mean.filter(|_| overall.n_configurations > 0),
            interval: interval.map(|it| (it.low, it.high)),
            parts: by_scenario.iter().filter_map(|it| part(it, &standing.policy)).collect(),
        }
    };
    let rows: Vec<_> = match &overall.standings[..] {
        [_] => overall.standings.iter().map(row).collect(),
        [_, others @ ..] => others.iter().map(row).collect(),
        [] => Vec::new(),
    };
    let best = format!("{} ({})", best.policy, overall.measure.shown(best.measure.mean));
    drawn(
        &format!("{best}, paired over {} replications", overall.n_replications),
        overall.measure,
        rows,
    )
}

/// The figure of rows of differences to `best`.
pub fn drawn(best: &str, measure: Measure, rows: Vec<DifferenceRow>) -> Differences {
    let has_parts = rows.iter().any(|row| !row.parts.is_empty());
    let rings = if has_parts { "rings: single scenarios; " } else { "" };
    Differences {
        caption: Caption {
            subtitle: format!("to {best}; {rings}lines: 95 % confidence intervals of the mean"),
            ..Caption::titled("Differences to the best scheduler, on common random numbers")
        },
        value_axis: axis(measure),
        part: "one scenario".into(),
        rows,
    }
}

fn axis(measure: Measure) -> Quantity {
    let (label, (unit, scale)) = (measure.column.label, measure.column.base_unit());
    let label = format!("{label}: difference to the best");
    match scale == 1.0 {
        true => Quantity::new(label, unit),
        false => Quantity::new(format!("{label} [{}]", measure.column.unit), ""),
    }
}

/// Diagram of the critical differences of the mean ranks.
pub fn ranks_figure(ranks: &Ranks, measure: Measure) -> CriticalDifference {
    let Ranks { policies, friedman, critical_difference, blocks } = ranks;
    CriticalDifference {
        caption: Caption {
            subtitle: format!(
                "by {} over {} {blocks}; bars join schedulers that do not differ significantly (Nemenyi test at 5 %)",
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
