//! Sensitivities as tables for people.

use crate::table::{Style, leave_out_lines, new_table, render};
use xrsim_model::text::counted;

use super::{Effect, Levels, Screened, change_text};

/// A row for every level, the factors with the largest effect first, and the base above.
pub fn levels_table(levels: &Levels, style: Style) -> String {
    let Levels { base, n_configurations, n_replications, .. } = levels;
    let sizes: Vec<_> = base.rankings.iter().map(|ranking| ranking.pes).collect();
    let mut text = format!(
        "base: score {:.3}, {:.2} mJ an executed inference, {:.1} % executed, best {}; means of {} in {}\n",
        base.score,
        base.energy_mj,
        100.0 * base.executed,
        bests(base),
        counted(*n_configurations, "configuration"),
        counted(*n_replications as usize, "replication"),
    );
    let taus: Vec<String> = match &sizes[..] {
        [_] => vec!["tau".into()],
        sizes => sizes.iter().map(|pes| format!("tau {pes}")).collect(),
    };
    let mut header = vec![
        "factor",
        "base",
        "level",
        "change of score",
        "realtime",
        "energy",
        "QoE",
        "mJ/exec",
        "executed",
    ];
    header.extend(taus.iter().map(String::as_str));
    header.push("best");
    let mut table = new_table(style, &header, 3);
    for factor in &levels.factors {
        for (index, (level, effect)) in factor.levels.iter().enumerate() {
            let [key, base] = match index {
                0 => [factor.key, &factor.base],
                _ => ["", ""],
            };
            let mut row = vec![key.to_string(), base.to_string(), level.clone()];
            match effect {
                Ok(effect) => row.extend(cells(effect)),
                Err(_) => {
                    row.push("no run".into());
                    row.resize(header.len(), String::new());
                }
            }
            table.add_row(row);
        }
    }
    leave_out_lines(&mut table);
    text += &render(&table);
    text += "change of score: level minus base on equal draws, +- half of its 95 % interval; `no change` where \
             that includes 0; tau: Kendall's rank correlation of the systems with the base\n";
    let effects = levels.factors.iter().flat_map(|factor| &factor.levels);
    let failed = effects.filter_map(|(level, effect)| Some((level, effect.as_ref().err()?)));
    for (level, reason) in failed.take(MAX_REASONS) {
        text += &format!("note: level {level}: {reason}\n");
    }
    text + &skipped(&levels.skipped) + &left_out(levels)
}

/// Most reasons that are printed.
const MAX_REASONS: usize = 3;

fn cells(effect: &Effect) -> Vec<String> {
    let signed = |value: f64| match value.abs() < 0.0005 {
        true => "0".into(),
        false => format!("{value:+.3}"),
    };
    let left_out = if effect.n_left_out > 0 { " *" } else { "" };
    let mut cells = vec![change_text(&effect.change) + left_out];
    cells.extend(effect.parts.map(signed));
    cells.push(format!("x{:.2}", effect.energy_ratio));
    cells.push(format!("{:.1} %", 100.0 * effect.executed));
    let tau = |tau: Option<f64>| tau.map_or("-".into(), |tau| format!("{tau:.2}"));
    cells.extend(effect.rankings.iter().map(|ranking| tau(ranking.tau)));
    cells.push(bests(effect));
    cells
}

/// The best system of every number of PEs.
fn bests(effect: &Effect) -> String {
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
    let header = ["factor", "low", "high", "effect on score", "realtime", "energy", "QoE"];
    let mut table = new_table(style, &header, 3);
    for effect in &screened.effects {
        let [low, high] = effect.levels.clone();
        let mut row = vec![effect.key.to_string(), low, high, change_text(&effect.change)];
        row.extend(effect.parts.map(|part| format!("{part:+.3}")));
        table.add_row(row);
    }
    leave_out_lines(&mut table);
    let mut text = format!(
        "{} factors at two levels in {} settings (a design of Plackett and Burman, 1946, folded over), {} in {}\n{}",
        screened.effects.len(),
        screened.n_points,
        counted(screened.n_configurations, "configuration"),
        counted(screened.n_replications as usize, "replication"),
        render(&table)
    );
    text += "effect: from the low to the high level, in the mean over the levels of all others, +- half of its 95 % \
             interval over draws\n\
             resolution IV: effects are free of interactions of two factors, but mixed with those of three; \
             interactions of two factors are mixed with each other\n";
    if screened.n_left_out > 0 {
        text += &format!(
            "note: {} without a score in some setting count nowhere, such as: {}\n",
            counted(screened.n_left_out, "configuration"),
            screened.reason.as_deref().unwrap_or_default()
        );
    }
    text + &skipped(&screened.skipped)
}
