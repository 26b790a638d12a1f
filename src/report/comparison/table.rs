//! A comparison for people.

use crate::report::table::{Style, new_table, render, with_half_width};
use crate::text::counted;

use super::{Ranking, Standing};

/// A row for each policy, the best first: measure and difference to the best with 95 % intervals,
/// p-value adjusted for the number of policies, miss ratio, energy, gap to the upper bound and wins.
pub fn table(ranking: &Ranking, style: Style) -> String {
    let measure = ranking.measure.name();
    let header =
        ["scheduler", measure, "difference", "p (Holm)", "miss ratio", "energy mJ", "gap", "wins"];
    let mut table = new_table(style, &header, 1);
    for standing in &ranking.standings {
        table.add_row(cells(standing, style));
    }
    let Ranking { best_of_each, bound: (bound, limit), .. } = ranking;
    format!(
        "{}{LEGEND}best scheduler of every configuration {best_of_each:.4}; no scheduler can exceed a \
         score_executed_mean of {limit:.4} ({}: {})\n{}\n",
        render(&table),
        bound.name(),
        bound.meaning(),
        counts(ranking),
    )
}

/// Explanation of the columns.
const LEGEND: &str = "\
    +- half of the 95 % interval over replications; difference: to the best scheduler\n\
    p: paired t-test against the best scheduler, adjusted by Holm\n\
    gap: share of the bound that is missing; wins: configurations with the highest mean, ties included\n";

/// Numbers of configurations and replications; a single random draw is named.
fn counts(ranking: &Ranking) -> String {
    let Ranking { n_configurations, n_replications, drawn, .. } = ranking;
    let text = format!(
        "{}, {}",
        counted(*n_configurations, "configuration"),
        counted(*n_replications as usize, "replication"),
    );
    match drawn.any() && *n_replications == 1 {
        true => format!("{text}: one draw of {}, without intervals", drawn.names().join(", ")),
        false => text,
    }
}

fn cells(standing: &Standing, style: Style) -> Vec<String> {
    let Standing { policy, measure, difference, p_value, miss_ratio, energy_mj, gap, wins } =
        standing;
    vec![
        policy.to_string(),
        with_half_width(measure, 4, style),
        difference.map_or_else(|| "-".into(), |it| with_half_width(&it.difference, 4, style)),
        p_value.map_or_else(|| "-".into(), p_text),
        format!("{miss_ratio:.4}"),
        format!("{energy_mj:.1}"),
        percent(*gap),
        wins.to_string(),
    ]
}

/// A share in percent; a value that rounds to zero has no sign.
fn percent(share: f64) -> String {
    let tenths = (1000.0 * share).round() + 0.0;
    format!("{:.1} %", tenths / 10.0)
}

fn p_text(p: f64) -> String {
    if p < 1e-4 { "<0.0001".into() } else { format!("{p:.4}") }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_share_that_rounds_to_zero_has_no_sign() {
        assert_eq!(percent(-1e-9), "0.0 %");
        assert_eq!(percent(-0.0006), "-0.1 %");
        assert_eq!(percent(0.1734), "17.3 %");
    }
}
