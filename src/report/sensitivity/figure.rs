//! Sensitivities as tornado charts.

use crate::figures::{Caption, Quantity, Tornado, TornadoBar, TornadoPanel, TornadoRow};
use crate::statistics::{Fraction, Summary};

use super::{Levels, Screened};

/// Most factors of a chart; those with smaller effects are left out.
const MAX_FACTORS: usize = 40;

fn bar(label: &str, change: &Summary) -> TornadoBar {
    let range = change.interval(Fraction::P95).map(|it| (it.low, it.high));
    TornadoBar { label: label.into(), value: change.mean, range }
}

/// Changes of the score, and of the ranking beside them.
pub(crate) fn level_chart(levels: &Levels) -> Tornado {
    let factors = levels.factors.iter().take(MAX_FACTORS);
    let row = |factor: &super::FactorEffect| {
        let effects =
            factor.levels.iter().filter_map(|(level, it)| Some((level, it.as_ref().ok()?)));
        let effects: Vec<_> = effects.collect();
        let changes = effects.iter().map(|(level, effect)| bar(level, &effect.change));
        let ranks = effects.iter().map(|(level, effect)| TornadoBar {
            label: level.to_string(),
            value: 1.0 - effect.least_tau().unwrap_or(1.0),
            range: None,
        });
        TornadoRow { name: factor.key.into(), bars: vec![changes.collect(), ranks.collect()] }
    };
    let ranks = levels.base.rankings.iter().any(|ranking| ranking.tau.is_some());
    let mut panels = vec![TornadoPanel { axis: Quantity::new("Change of score", "") }];
    panels.extend(ranks.then(|| TornadoPanel { axis: Quantity::new("Ranking: 1 - tau", "") }));
    let mut rows: Vec<_> = factors.map(row).filter(|row| !row.bars[0].is_empty()).collect();
    rows.iter_mut().for_each(|row| row.bars.truncate(panels.len()));
    let subtitle = format!(
        "one factor at a time, base score {:.3}; whiskers: 95 % intervals on equal draws",
        levels.base.score
    );
    let caption = Caption { subtitle, ..Caption::titled("Sensitivity of the mean score") };
    Tornado { caption, panels, rows }
}

/// Main effects of a screening design.
pub(crate) fn screening_chart(screened: &Screened) -> Tornado {
    let row = |effect: &super::MainEffect| {
        let [low, high] = &effect.levels;
        let bar = bar(&format!("{low} to {high}"), &effect.change);
        TornadoRow { name: effect.key.into(), bars: vec![vec![bar]] }
    };
    let subtitle = "from the low to the high level; whiskers: 95 % intervals over draws".into();
    Tornado {
        caption: Caption { subtitle, ..Caption::titled("Main effects on the mean score") },
        panels: vec![TornadoPanel { axis: Quantity::new("Effect on score", "") }],
        rows: screened.effects.iter().take(MAX_FACTORS).map(row).collect(),
    }
}
