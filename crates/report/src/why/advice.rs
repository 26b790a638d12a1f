//! Changes of a run that were tried, and the best of them.

use crate::sensitivity::{change_text, is_told_apart};
use crate::table::{Columns, Rows, cell_if_any};
use xrsim_model::statistics::{Fraction, Summary};
use xrsim_model::text::cell;

use super::told::{CHANGES, TableFile, Told};

/// A change of a run that was tried, by running again on the same draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Change that was made, e.g. `scheduler: edf`.
    pub what: String,
    /// Option of a command that makes it; `None` if none does.
    pub option: Option<String>,
    /// Effect on the frame that is explained; `None` without one.
    pub frame: Option<FrameEffect>,
    /// Mean score over replications.
    pub score: f64,
    /// Change of the score over replications.
    pub change: Summary,
}

/// Effect of a change on a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrameEffect {
    /// End of the frame after the change.
    pub fate: Fate,
    /// Whether requests start in another order or on other accelerators.
    pub reschedules: bool,
}

/// End of a request after a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate {
    /// It met its deadline, with a margin \[ms\].
    InTime(f64),
    /// It missed its deadline.
    Missed,
    /// It missed its deadline under every change of a series.
    MissedByAll,
}

impl Change {
    /// Mean score of the run without the change, beside the changed ones.
    fn before(&self) -> f64 {
        self.score - self.change.mean
    }

    /// Whether it raises the score, and by more than the draws do.
    fn helps(&self) -> bool {
        self.change.mean > 0.0 && is_told_apart(&self.change)
    }

    fn verdict(&self) -> &'static str {
        match (is_told_apart(&self.change), self.change.mean > 0.0) {
            (false, _) => "no change",
            (true, true) => "better",
            (true, false) => "worse, not recommended",
        }
    }
}

/// The change with the largest mean score of those that can be asked for and that raise the score by more than
/// the draws do; `None` if no change does.
fn best(changes: &[Change]) -> Option<&Change> {
    let helpful = changes.iter().rev().filter(|change| change.helps() && change.option.is_some());
    helpful.max_by(|a, b| a.change.mean.total_cmp(&b.change.mean))
}

/// The changes of runs that score `score` in the mean over `n_replications`, the best first, and the best one
/// of them in words. Empty without changes.
pub fn advice(score: f64, n_replications: usize, changes: &[Change]) -> Told {
    let mut told = Told::default();
    if changes.is_empty() {
        return told;
    }
    let mut order: Vec<&Change> = changes.iter().collect();
    order.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut columns = Columns::<&Change>::new().text("change", |it| it.what.clone());
    if changes.iter().any(|change| change.frame.is_some()) {
        columns = columns
            .text("this frame", |it| it.frame.map_or(String::new(), |it| fate_text(it.fate)))
            .text("schedule", |it| match it.frame {
                None => "",
                Some(FrameEffect { reschedules: true, .. }) => "changes",
                Some(FrameEffect { reschedules: false, .. }) => "same",
            });
    }
    let table = columns
        .text("score of the run", |it| format!("{:.3} -> {:.3}", it.before(), it.score))
        .text("change of score", |it| change_text(&it.change))
        .text("", |it| it.verdict())
        .of(order.iter().copied());
    let best = match best(changes) {
        Some(change) => format!(
            "best single change: {}: {:.3} -> {:.3} ({})\n",
            change.option.as_deref().unwrap_or(&change.what),
            change.before(),
            change.score,
            change_text(&change.change)
        ),
        None => "no single change of this table raises the score\n".into(),
    };
    let beside = changes.iter().map(Change::before).find(|it| (it - score).abs() >= 0.000_5);
    let beside = beside.map_or(String::new(), |it| {
        format!(
            "the run scores {it:.3} in place of {score:.3} here: mappings of the changed systems are candidates for it, \
             too\n"
        )
    });
    let draws = if n_replications == 1 { "draw" } else { "draws" };
    let title = format!(
        "Single changes, each simulated on the same {n_replications} {draws}, best score first; +- is half of \
         the 95 % interval of the mean difference"
    );
    told.table(&title, table, TableFile { name: CHANGES, rows: file(order), top: None });
    told.answer(best);
    told.lines(beside);
    told
}

/// The changes as a file has them.
fn file(changes: Vec<&Change>) -> Rows {
    let low_and_high = |it: &Change| it.change.interval(Fraction::P95);
    let mut columns = Columns::<&Change>::new()
        .text("change", |it| it.what.clone())
        .text("option", |it| it.option.clone().unwrap_or_default());
    if changes.iter().any(|it| it.frame.is_some()) {
        columns = columns
            .text("frame", |it| match it.frame.map(|it| it.fate) {
                None => "",
                Some(Fate::InTime(_)) => "in time",
                Some(Fate::Missed | Fate::MissedByAll) => "missed",
            })
            .number("margin_ms", |it| match it.frame.map(|it| it.fate) {
                Some(Fate::InTime(margin_ms)) => cell(margin_ms),
                _ => String::new(),
            })
            .text("reschedules", |it| {
                it.frame.map_or(String::new(), |it| it.reschedules.to_string())
            });
    }
    columns
        .number("score_before", |it| cell(it.before()))
        .number("score", |it| cell(it.score))
        .number("score_change", |it| cell(it.change.mean))
        .number("low", |it| cell_if_any(low_and_high(it).map(|it| it.low)))
        .number("high", |it| cell_if_any(low_and_high(it).map(|it| it.high)))
        .text("verdict", |it| it.verdict())
        .of(changes)
        .into_rows()
}

fn fate_text(fate: Fate) -> String {
    match fate {
        Fate::InTime(margin_ms) => format!("in time, {margin_ms:.3} ms to spare"),
        Fate::Missed => "missed".into(),
        Fate::MissedByAll => "missed by all".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Style;

    fn change(what: &str, differences: [f64; 2], option: bool) -> Change {
        let change = Summary::of(differences);
        Change {
            what: what.into(),
            option: option.then(|| format!("--{what}")),
            frame: None,
            score: 0.5 + change.mean,
            change,
        }
    }

    #[test]
    fn advice_is_the_largest_gain_that_is_told_apart_and_can_be_asked_for() {
        let changes = [
            change("small", [0.1, 0.100_1], true),
            change("noisy", [-0.2, 0.9], true),
            change("wished", [0.4, 0.4], false),
            change("large", [0.2, 0.2], true),
            change("worse", [-0.3, -0.3], true),
        ];
        let text = advice(0.5, 2, &changes).text(Style::Plain);
        assert!(text.contains("best single change: --large: 0.500 -> 0.700 (+0.200)"), "{text}");
        let verdict = |what: &str| text.lines().find(|line| line.starts_with(what)).expect(what);
        assert!(verdict("noisy").ends_with("no change"), "{text}");
        assert!(verdict("worse").ends_with("worse, not recommended"), "{text}");
        assert!(verdict("small").ends_with("better"), "{text}");
        let none = advice(0.5, 2, &changes[4..]).text(Style::Plain);
        assert!(none.contains("no single change of this table raises the score"), "{none}");
    }
}
