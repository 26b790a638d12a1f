//! A comparison for people: tables for a terminal and for LaTeX. Columns have the names of the CSV files.

use crate::latex::tabular;
use crate::table::{Columns, Grid, Style, heading, interval_meaning, or_dash, with_half_width};
use xrsim_model::column::Column;
use xrsim_model::statistics::{ALIKE, PairedDifference};
use xrsim_model::text::counted;
use xrsim_sim::bounds::{Bound, Class};
use xrsim_sim::sweep::comparison::Subject;

use super::p_value::p_text;
use super::{OfScenarios, Pair, Ranking, Ranks, Standing};

const MORE: &str = "more: --explain-columns for the meaning of columns, bounds and rank tests, --pairs for all pairs\n";

/// Columns of the table of profiles beside the measure, with their decimals.
const OF_PROFILES: [(&str, usize); 8] = [
    ("profile_score", 4),
    ("hours", 2),
    ("score", 4),
    ("missed_share", 4),
    ("mean_w", 3),
    ("outside_c", 1),
    ("capped_share", 4),
    ("charge_left", 3),
];

/// The tables of a comparison.
pub struct Tables<'r> {
    overall: &'r Ranking,
    by_scenario: &'r [Ranking],
    ranks: Option<&'r Ranks>,
    /// Pairs of all scenarios together, and of each; with the name of the scenario.
    pairs: &'r [(String, Vec<Pair>)],
}

/// Tables of the rankings of all scenarios together and of each, and of pairs.
pub fn tables<'r>(
    overall: &'r Ranking,
    by_scenario: &'r [Ranking],
    ranks: Option<&'r Ranks>,
    pairs: &'r [(String, Vec<Pair>)],
) -> Tables<'r> {
    Tables { overall, by_scenario, ranks, pairs }
}

impl Tables<'_> {
    /// The tables for a terminal; with an explanation of every column, the bounds and the ranks if it `explains`.
    pub fn text(&self, style: Style, explains: bool) -> String {
        let mut text = self.policies(style).text(style);
        if explains {
            text += &self.legend();
        }
        if !self.by_scenario.is_empty() {
            let what = self.what();
            text += &format!("\nevery {what} by itself; {}\n", corrected(self.n_tests(), what));
            text += &self.scenarios(style).text(style);
        }
        if !self.pairs.is_empty() {
            text += &format!("\nall pairs, first minus second; {}\n", self.pair_notes().join("\n"));
            text += &self.pair_grid(style).text(style);
        }
        text + &self.summary(explains)
    }

    /// Lines below the tables: the bounds, the draws, and what more there is.
    fn summary(&self, explains: bool) -> String {
        if explains {
            return counts(self.overall) + "\n";
        }
        let Ranking { bounds, n_replications, measure, .. } = self.overall;
        let first = match bounds {
            None => format!("by {}\n", measure.meaning()),
            Some(bounds) => {
                let [any, keeping] = Class::ALL.map(|class| bounds.of(class).tightest());
                format!(
                    "upper bounds of score_executed_mean in these draws: {:.4} for any scheduler, {:.4} for schedulers that keep a request where it began ({}, {})\n",
                    any.1,
                    keeping.1,
                    any.0.name(),
                    keeping.0.name(),
                )
            }
        };
        format!(
            "{first}{}; {}; difference: to the best scheduler\n{MORE}",
            counts(self.overall),
            interval_meaning(*n_replications),
        )
    }

    /// The tables for LaTeX, each with its name: `policies`, `scenarios` if there are several, and `pairs` if there are
    /// any.
    pub fn latex(&self) -> Vec<(&'static str, String)> {
        let notes = [self.legend(), counts(self.overall)];
        let tabular = |grid: Grid, notes: &[String]| {
            let header = grid.header.iter().map(|name| head_of(name)).collect();
            tabular(&Grid { header, ..grid }, notes)
        };
        let mut tables = vec![("policies", tabular(self.policies(Style::Plain), &notes))];
        if !self.by_scenario.is_empty() {
            let notes = [corrected(self.n_tests(), self.what())];
            tables.push(("scenarios", tabular(self.scenarios(Style::Plain), &notes)));
        }
        if !self.pairs.is_empty() {
            tables.push(("pairs", tabular(self.pair_grid(Style::Plain), &self.pair_notes())));
        }
        tables
    }

    fn n_tests(&self) -> usize {
        self.overall.standings.len().saturating_sub(1)
    }

    /// What the configurations run.
    fn what(&self) -> &'static str {
        match self.overall.measure.subject {
            Subject::Scenarios => "scenario",
            Subject::Profiles => "profile",
        }
    }

    fn measure(&self) -> &'static str {
        self.overall.measure.name()
    }

    fn policies(&self, style: Style) -> Grid {
        let columns = Columns::<&Standing>::new().text("scheduler", |it| it.policy.clone());
        let columns = self.compared(columns, |it| it, style);
        let columns = match self.overall.measure.subject {
            Subject::Scenarios => beside_scenarios(columns),
            Subject::Profiles => self.beside_profiles(columns),
        };
        columns.of(&self.overall.standings)
    }

    /// Adds the columns of profiles beside the measure.
    fn beside_profiles<'c>(&self, columns: Columns<'c, &'c Standing>) -> Columns<'c, &'c Standing> {
        self.shown_of_profiles().fold(columns, |columns, (at, column, decimals)| {
            let text = move |mean: f64| format!("{mean:.decimals$}");
            columns.number(column.name, move |it| or_dash(it.beside.of_profiles(at), text))
        })
    }

    /// Columns of [`OF_PROFILES`] but the measure and those without values: place, column, decimals.
    fn shown_of_profiles(&self) -> impl Iterator<Item = (usize, Column<()>, usize)> {
        let has_values =
            |at: usize| self.overall.standings.iter().any(|it| it.beside.of_profiles(at).is_some());
        let all = Subject::Profiles.columns();
        let shown = OF_PROFILES.into_iter().filter_map(move |(name, decimals)| {
            let (at, column) = all.iter().enumerate().find(|(_, column)| column.name == name)?;
            Some((at, *column, decimals))
        });
        shown.filter(move |(at, column, _)| column.name != self.measure() && has_values(*at))
    }

    fn scenarios(&self, style: Style) -> Grid {
        let columns = Columns::<(&Ranking, &Standing)>::new()
            .text("scenario", |(ranking, _)| ranking.scenario.clone().unwrap_or_default())
            .text("scheduler", |(_, it)| it.policy.clone());
        let of = |ranking| move |it| (ranking, it);
        let rows = self.by_scenario.iter().flat_map(|it| it.standings.iter().map(of(it)));
        self.compared(columns, |(_, it)| it, style).of(rows)
    }

    /// Adds the columns of a policy beside the best one.
    fn compared<'c, T: 'c>(
        &self,
        columns: Columns<'c, T>,
        standing: fn(&T) -> &Standing,
        style: Style,
    ) -> Columns<'c, T> {
        let columns = columns
            .number(self.measure(), move |it| with_half_width(&standing(it).measure, 4, style));
        let (measure, difference) = (self.overall.measure, move |it: &T| standing(it).difference);
        tested(columns, difference, move |it| standing(it).p_value, style)
            .number("alike", move |it| alike_text(measure.alike(standing(it).difference)))
            .number("wins", move |it| standing(it).wins)
            .number("ties", move |it| standing(it).ties)
    }

    fn pair_grid(&self, style: Style) -> Grid {
        let measure = self.overall.measure;
        let columns = Columns::<(&String, &Pair)>::new()
            .text("scenario", |(scenario, _)| scenario.to_string())
            .text("first", |(_, it)| it.first.clone())
            .text("second", |(_, it)| it.second.clone());
        let of = |scenario| move |it| (scenario, it);
        let rows = self.pairs.iter().flat_map(|(scenario, pairs)| pairs.iter().map(of(scenario)));
        tested(columns, |(_, it)| Some(it.difference), |(_, it)| it.p_value, style)
            .number("alike", move |(_, it)| alike_text(measure.alike(Some(it.difference))))
            .number("won", |(_, it)| unsigned_percent(it.shares.won))
            .number("tied", |(_, it)| unsigned_percent(it.shares.tied))
            .number("lost", |(_, it)| unsigned_percent(it.shares.lost))
            .of(rows)
    }

    /// Schedulers that are as good as the best one, whatever the tests say.
    fn alike(&self) -> String {
        let is_alike = |it: &&Standing| self.overall.measure.alike(it.difference) == Some(true);
        let all = self.overall.standings.iter();
        let names: Vec<_> = all.filter(is_alike).map(|it| &*it.policy).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!(
                "alike (at most {ALIKE} from the best, for any p_holm): {}\n",
                names.join(", ")
            ),
        }
    }

    fn pair_notes(&self) -> Vec<String> {
        let n = self.pairs.first().map_or(0, |(_, pairs)| pairs.len());
        vec![
            corrected(n, if self.pairs.len() > 1 { self.what() } else { "comparison" }),
            "won, tied, lost: shares of runs in which the first is better, equal or worse on the same requests"
                .into(),
        ]
    }

    /// Explanation of the columns, the bounds and the ranks.
    fn legend(&self) -> String {
        let Ranking { measure, best_of_each, .. } = self.overall;
        let ranks = self.ranks.map_or_else(String::new, |ranks| ranks.sentence() + "\n");
        format!(
            "{}\n\
             {}; difference: to the best scheduler\n\
             d_z: effect size, the mean of the paired differences over their standard deviation (Cohen); - where the differences \
             are nearly equal in all draws\n\
             {}\
             {}\n\
             wins, ties: number of configurations in which the scheduler is the only best, and in which it shares the first place\n\
             {}\n\
             {ranks}best scheduler of every configuration: {best_of_each:.4}\n",
            measure.meaning(),
            interval_meaning(self.overall.n_replications),
            self.alike(),
            corrected(self.n_tests(), "comparison"),
            self.of_bounds(),
        )
    }

    /// Explanation of the bounds; of the other columns for profiles, which have no bounds.
    fn of_bounds(&self) -> String {
        let Ranking { bounds, standings, .. } = self.overall;
        let Some(bounds) = bounds else {
            let lines = self.shown_of_profiles().map(|(_, it, _)| match it.unit {
                "" => format!("{}: {}\n", it.name, it.help),
                unit => format!("{}: {} [{unit}]\n", it.name, it.help),
            });
            return lines.collect::<String>()
                + "profiles have no upper bounds: those of scenarios know neither a battery nor hours";
        };
        let [any, keeping] = Class::ALL.map(|class| bounds.of(class).values());
        let bound = Bound::ALL.iter().zip(keeping.iter().zip(any));
        let bound = bound.map(|(it, (keeping, any))| {
            format!("  {}  {keeping:7.4}  {any:.4}  {}", it.name(), it.meaning())
        });
        let of = |class: Class| {
            let bound = bounds.of(class).tightest().0.name();
            let is_of =
                |it: &Standing| it.beside.of_scenarios().is_some_and(|it| it.class == class);
            let names: Vec<_> =
                standings.iter().filter(|it| is_of(it)).map(|it| &*it.policy).collect();
            let used = format!("{bound} {} for {}", class.short(), names.join(", "));
            (!names.is_empty()).then_some(used)
        };
        let used: Vec<_> = [Class::Keeping, Class::Any].into_iter().filter_map(of).collect();
        format!(
            "gap_to_bound: share of the bound of the scheduler's class that score_executed_mean misses: {}\n\
             upper bounds of score_executed_mean, means over configurations:\n       keeping  any\n{}\n\
             keeping: {}; any: {}",
            used.join("; "),
            bound.collect::<Vec<_>>().join("\n"),
            Class::Keeping.name(),
            Class::Any.name(),
        )
    }
}

/// Adds the columns of scenarios.
fn beside_scenarios<'c>(columns: Columns<'c, &'c Standing>) -> Columns<'c, &'c Standing> {
    type Of = fn(&OfScenarios) -> String;
    let columns_of: [(&str, Of); 3] = [
        ("miss_ratio", |it| format!("{:.4}", it.miss_ratio)),
        ("energy_mj", |it| format!("{:.1}", it.energy_mj)),
        ("gap_to_bound", |it| unsigned_percent(it.gap)),
    ];
    columns_of.into_iter().fold(columns, |columns, (name, text)| {
        columns.number(name, move |it| or_dash(it.beside.of_scenarios(), text))
    })
}

/// Head of the column called `name` in a table of a paper: words, and the unit after a comma.
fn head_of(name: &str) -> String {
    match name {
        "d_z" => return "effect size".into(),
        "p_holm" => return "p (Holm)".into(),
        _ => {}
    }
    let words = heading(name);
    let unit = ["mJ", "ms", "mW", "mm2"].iter().find(|unit| words.ends_with(&format!(" {unit}")));
    match unit.and_then(|unit| words.strip_suffix(unit)) {
        Some(quantity) => format!("{}, {}", quantity.trim_end(), &words[quantity.len()..]),
        None => words,
    }
}

/// The test and its correction.
fn corrected(n_tests: usize, of: &str) -> String {
    format!(
        "p_holm: paired t-test, corrected by Holm for the {} of a {of}",
        counted(n_tests, "test")
    )
}

/// Adds the columns of a difference: effect size and p-value beside it.
fn tested<'c, T: 'c>(
    columns: Columns<'c, T>,
    difference: impl Fn(&T) -> Option<PairedDifference> + Copy + 'c,
    p_value: impl Fn(&T) -> Option<f64> + 'c,
    style: Style,
) -> Columns<'c, T> {
    let effect = move |it: &T| difference(it).and_then(|it| it.effect_size());
    columns
        .number("difference", move |it| {
            or_dash(difference(it), |it| with_half_width(&it.difference, 4, style))
        })
        .number("d_z", move |it| or_dash(effect(it), effect_text))
        .number("p_holm", move |it| or_dash(p_value(it), p_text))
}

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

/// A share in percent; a value that rounds to zero has no sign.
fn unsigned_percent(share: f64) -> String {
    let tenths = (1000.0 * share).round() + 0.0;
    format!("{:.1} %", tenths / 10.0)
}

fn alike_text(alike: Option<bool>) -> &'static str {
    match alike {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
}

/// An effect size with two decimals.
fn effect_text(effect: f64) -> String {
    format!("{:.2}", effect + 0.0)
}

#[cfg(test)]
mod tests {
    use super::unsigned_percent as percent;

    #[test]
    fn a_share_that_rounds_to_zero_has_no_sign() {
        assert_eq!(percent(-1e-9), "0.0 %");
        assert_eq!(percent(-0.0006), "-0.1 %");
        assert_eq!(percent(0.1734), "17.3 %");
    }
}
