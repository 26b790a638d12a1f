//! Sensitivities as tables for people.

use crate::table::{Columns, Style, or_dash, percent};
use xrsim_model::text::counted;

use super::{Effect, FactorEffect, Levels, MainEffect, Screened, change_text};

/// A row for every level, the factors with the largest effect first, and the base above.
pub fn levels_table(levels: &Levels, style: Style) -> String {
    let Levels { base, n_configurations, n_replications, .. } = levels;
    let mut text = format!(
        "base: score {:.3}, {:.2} mJ an executed inference, {} executed, best {}; means of {} in {}\n",
        base.score,
        base.energy_mj,
        percent(base.executed),
        bests(base),
        counted(*n_configurations, "configuration"),
        counted(*n_replications as usize, "replication"),
    );
    let mut columns = Columns::<Row<'_>>::new()
        .text("factor", |it| if it.is_first { it.factor.key } else { "" })
        .text("base", |it| if it.is_first { it.factor.base.clone() } else { String::new() })
        .text("level", |it| it.level.to_string())
        .number("change of score", |it| it.effect.map_or("no run".into(), change));
    for (at, name) in PART_NAMES.into_iter().enumerate() {
        columns = columns.number(name, move |it| it.cell(|effect| signed(effect.parts[at])));
    }
    columns = columns
        .number("mJ/exec", |it| {
            it.cell(|effect| match effect.energy_ratio.is_finite() {
                true => format!("x{:.2}", effect.energy_ratio),
                false => "-".into(),
            })
        })
        .number("executed", |it| it.cell(|effect| percent(effect.executed)));
    for (at, ranking) in base.rankings.iter().enumerate() {
        let name = match base.rankings.len() {
            1 => "tau".into(),
            _ => format!("tau {}", ranking.pes),
        };
        let tau = move |it: &Effect| or_dash(it.rankings[at].tau, |tau| format!("{tau:.2}"));
        columns = columns.number(name, move |it| it.cell(tau));
    }
    let rows = levels.factors.iter().flat_map(|factor| {
        let levels = factor.levels.iter().enumerate();
        levels.map(move |(at, (level, effect))| Row {
            factor,
            level,
            effect: effect.as_ref().ok(),
            is_first: at == 0,
        })
    });
    text += &columns.number("best", |it| it.cell(bests)).of(rows).text(style);
    text += "change of score: level minus base on equal draws, +- half of its 95 % interval; `no change` where \
             that includes 0, `none` where no draw changes; tau: Kendall's rank correlation of the systems with the base\n";
    let effects = levels.factors.iter().flat_map(|factor| &factor.levels);
    let failed = effects.filter_map(|(level, effect)| Some((level, effect.as_ref().err()?)));
    for (level, reason) in failed.take(MAX_REASONS) {
        text += &format!("note: level {level}: {reason}\n");
    }
    text + &skipped(&levels.skipped) + &left_out(levels)
}

/// Most reasons that are printed.
const MAX_REASONS: usize = 3;

/// Headings of the changes of [`super::PARTS`].
const PART_NAMES: [&str; 3] = ["realtime", "energy", "QoE"];

/// A level of a factor.
struct Row<'a> {
    factor: &'a FactorEffect,
    level: &'a str,
    effect: Option<&'a Effect>,
    is_first: bool,
}

impl Row<'_> {
    /// A cell about the effect; empty without one.
    fn cell(&self, text: impl Fn(&Effect) -> String) -> String {
        self.effect.map_or_else(String::new, text)
    }
}

fn change(effect: &Effect) -> String {
    change_text(&effect.change) + if effect.n_left_out > 0 { " *" } else { "" }
}

fn signed(value: f64) -> String {
    if value.abs() < 0.0005 { "0".into() } else { format!("{value:+.3}") }
}

/// The best system of every number of PEs.
pub(super) fn bests(effect: &Effect) -> String {
    let bests: Vec<_> = effect.rankings.iter().map(|ranking| &*ranking.best).collect();
    bests.join(" / ")
}

fn skipped(skipped: &[(&'static str, String)]) -> String {
    skipped.iter().map(|(key, reason)| format!("note: {key} is left out: {reason}\n")).collect()
}

/// A line about configurations that count nowhere, marked by a star.
fn left_out(levels: &Levels) -> String {
    let effects = levels.factors.iter().flat_map(|factor| &factor.levels);
    let mut effects = effects.filter_map(|(_, effect)| effect.as_ref().ok());
    let Some(effect) = effects.find(|effect| effect.n_left_out > 0) else { return String::new() };
    format!(
        "* without configurations that have no score under the level or the base, such as: {}\n",
        effect.reason.as_deref().unwrap_or_default()
    )
}

/// A row for every factor, that with the largest effect first.
pub fn screening_table(screened: &Screened, style: Style) -> String {
    let mut columns = Columns::<&MainEffect>::new()
        .text("factor", |it| it.key)
        .text("low", |it| it.levels[0].clone())
        .text("high", |it| it.levels[1].clone())
        .number("effect on score", |it| change_text(&it.change));
    for (at, name) in PART_NAMES.into_iter().enumerate() {
        columns = columns.number(name, move |it| format!("{:+.3}", it.parts[at]));
    }
    let table = columns.of(&screened.effects).text(style);
    let mut text = format!(
        "{} factors at two levels in {} settings (a design of Plackett and Burman, 1946, folded over), {} in {}\n{}",
        screened.effects.len(),
        screened.n_points,
        counted(screened.n_configurations, "configuration"),
        counted(screened.n_replications as usize, "replication"),
        table
    );
    text += "effect: change of the score from the low to the high level, averaged over the levels of all other factors, +- half of its 95 % \
             interval over draws\n\
             resolution IV: effects are free of interactions of two factors, but mixed with those of three; \
             interactions of two factors are mixed with each other\n";
    if screened.n_left_out > 0 {
        text += &format!(
            "note: {} without a score in some setting are left out, such as: {}\n",
            counted(screened.n_left_out, "configuration"),
            screened.reason.as_deref().unwrap_or_default()
        );
    }
    text + &skipped(&screened.skipped)
}
