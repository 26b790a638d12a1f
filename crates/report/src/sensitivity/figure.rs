//! Sensitivities as tornado charts.

use xrsim_figures::{Caption, Quantity, Tornado, TornadoBar, TornadoRow};
use xrsim_model::statistics::{Fraction, Summary};

use super::table::bests;
use super::{FactorEffect, Levels, Screened};
use crate::words::named;

fn bar(label: String, series: usize, change: &Summary) -> TornadoBar {
    let range = change.interval(Fraction::P95).map(|it| (it.low, it.high));
    TornadoBar { series, label, value: change.mean, range }
}

/// Sides of the base on which a level is.
const SIDES: [&str; 3] = ["below the base", "above the base", "another value"];

/// Index of the side of the level of a factor.
fn side(level: &str, factor: &FactorEffect) -> usize {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let pair = match level.strip_prefix('x').and_then(number) {
        Some(factor) => Some((factor, 1.0)),
        None => number(level).zip(number(&factor.base)),
    };
    pair.map_or(2, |(level, base)| usize::from(level > base))
}

/// Changes of the score by factor. A level under which another system is the best has this system beside its bar.
pub fn level_chart(levels: &Levels) -> Tornado {
    let before = bests(&levels.base);
    let mut has_new = false;
    let mut row = |factor: &FactorEffect| {
        let effects =
            factor.levels.iter().filter_map(|(level, it)| Some((level, it.as_ref().ok()?)));
        let bars = effects.map(|(level, effect)| {
            let best = bests(effect);
            let is_new = best != before;
            has_new |= is_new;
            let label = if is_new { format!("{level} → {best}") } else { level.clone() };
            bar(label, side(level, factor), &effect.change)
        });
        TornadoRow { name: named(factor.key).0, bars: bars.collect() }
    };
    let mut rows: Vec<_> = levels.factors.iter().map(&mut row).collect();
    rows.retain(|row| !row.bars.is_empty());
    let used = |side: &usize| rows.iter().flat_map(|row| &row.bars).any(|it| it.series == *side);
    let used: Vec<usize> = (0..SIDES.len()).filter(used).collect();
    for bar in rows.iter_mut().flat_map(|row| &mut row.bars) {
        bar.series = used.iter().position(|it| *it == bar.series).unwrap_or_default();
    }
    let subtitle = format!(
        "one factor at a time, base score {:.3}; whiskers: 95 % intervals on equal draws",
        levels.base.score
    );
    let axis = match has_new {
        true => format!("Change of score; → and the best system if it is not {before}"),
        false => "Change of score".into(),
    };
    Tornado {
        caption: Caption { subtitle, ..Caption::titled("Sensitivity of the mean score") },
        axis: Quantity::new(axis, ""),
        series: used.into_iter().map(|it| SIDES[it].into()).collect(),
        rows,
    }
}

/// Main effects of a screening design.
pub fn screening_chart(screened: &Screened) -> Tornado {
    let row = |effect: &super::MainEffect| {
        let [low, high] = &effect.levels;
        let bar = bar(format!("{low} to {high}"), 0, &effect.change);
        TornadoRow { name: named(effect.key).0, bars: vec![bar] }
    };
    let subtitle = "from the low to the high level; whiskers: 95 % intervals over draws".into();
    Tornado {
        caption: Caption { subtitle, ..Caption::titled("Main effects on the mean score") },
        axis: Quantity::new("Effect on score", ""),
        series: vec!["effect".into()],
        rows: screened.effects.iter().map(row).collect(),
    }
}
