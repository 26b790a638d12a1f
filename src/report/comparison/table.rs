//! A comparison for people.

use crate::figures::counted;
use crate::report::table::{Style, new_table, render};
use crate::statistics::{Fraction, Summary};

use super::{Ranking, Standing};

/// A row a policy, the best first: measure and difference to the best with 95 % intervals, p-value
/// adjusted for the number of policies, miss ratio, energy, gap to the upper bound and wins.
pub fn table(ranking: &Ranking, style: Style) -> String {
    let measure = ranking.measure.name();
    let header =
        ["scheduler", measure, "behind the best", "p", "miss ratio", "energy mJ", "gap", "wins"];
    let mut table = new_table(style, &header, 1);
    for standing in &ranking.standings {
        table.add_row(cells(standing, style));
    }
    let Ranking { n_configurations, n_replications, best_of_each, bound: (bound, limit), .. } =
        ranking;
    format!(
        "{}best scheduler of every configuration {best_of_each:.4}; no scheduler can exceed a \
         score_executed_mean of {limit:.4} ({})\n{}, {}\n",
        render(&table),
        bound.name(),
        counted(*n_configurations, "configuration"),
        counted(*n_replications as usize, "replication"),
    )
}

fn cells(standing: &Standing, style: Style) -> Vec<String> {
    let Standing { policy, measure, behind, p_value, miss_ratio, energy_mj, gap, wins } = standing;
    vec![
        policy.to_string(),
        with_interval(measure, style),
        behind.map_or_else(|| "-".into(), |behind| with_interval(&behind.difference, style)),
        p_value.map_or_else(|| "-".into(), p_text),
        format!("{miss_ratio:.4}"),
        format!("{energy_mj:.1}"),
        format!("{:.1} %", 100.0 * gap),
        wins.to_string(),
    ]
}

fn p_text(p: f64) -> String {
    if p < 1e-4 { "<0.0001".into() } else { format!("{p:.4}") }
}

/// Mean and half the width of its 95 % interval, if there is one.
fn with_interval(summary: &Summary, style: Style) -> String {
    let plus_minus = if style == Style::Terminal { "±" } else { "+-" };
    match summary.half_width(Fraction::P95) {
        Some(half) => format!("{:.4} {plus_minus} {half:.4}", summary.mean),
        None => format!("{:.4}", summary.mean),
    }
}
