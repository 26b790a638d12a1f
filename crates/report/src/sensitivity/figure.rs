//! Sensitivities as tornado charts.

use xrsim_figures::{Caption, Quantity, Tornado, TornadoBar, TornadoPanel, TornadoRow};
use xrsim_model::statistics::{Fraction, Summary};

use super::{Levels, Screened};

/// Most factors of a chart; those with smaller effects are left out.
const MAX_FACTORS: usize = 20;

/// Endings of keys with their words in a chart.
const ENDINGS: [(&str, &str); 9] = [
    ("_bytes_per_cycle", ""),
    ("_pj_per_byte", " energy"),
    ("_pj_per_cycle", " energy"),
    ("_per_ms", ""),
    ("_cycles", ""),
    ("_kib", ""),
    ("_mhz", ""),
    ("_mj", ""),
    ("_pj", " energy"),
];

/// Name of a factor in a chart: its key without group and unit.
fn name(key: &str) -> String {
    let name = key.rsplit_once('.').map_or(key, |(_, name)| name);
    let ending = ENDINGS.iter().find_map(|(end, words)| Some((name.strip_suffix(end)?, words)));
    let (name, words) = ending.unwrap_or((name, &""));
    let name = format!("{}{words}", name.replace('_', " "));
    // Abbreviations are in capitals.
    name.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    match word {
        "dram" | "pe" => word.to_uppercase(),
        "noc" => "NoC".into(),
        "pes" => "PEs".into(),
        "macs" => "MACs".into(),
        "mac" => "MAC".into(),
        _ => word.into(),
    }
}

fn bar(label: &str, change: &Summary) -> TornadoBar {
    let range = change.interval(Fraction::P95).map(|it| (it.low, it.high));
    TornadoBar { label: label.into(), value: change.mean, range }
}

/// Changes of the score, and of the ranking beside them.
pub fn level_chart(levels: &Levels) -> Tornado {
    let (shown, others) = levels.factors.split_at(levels.factors.len().min(MAX_FACTORS));
    let factors = shown.iter();
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
        TornadoRow { name: name(factor.key), bars: vec![changes.collect(), ranks.collect()] }
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
    let largest = others.first().map(super::FactorEffect::size);
    let note = largest.map_or(String::new(), |size| {
        format!("{} more factors change the score by {size:.4} at most", others.len())
    });
    let caption = Caption { subtitle, note, ..Caption::titled("Sensitivity of the mean score") };
    Tornado { caption, panels, rows }
}

/// Main effects of a screening design.
pub fn screening_chart(screened: &Screened) -> Tornado {
    let row = |effect: &super::MainEffect| {
        let [low, high] = &effect.levels;
        let bar = bar(&format!("{low} to {high}"), &effect.change);
        TornadoRow { name: name(effect.key), bars: vec![vec![bar]] }
    };
    let subtitle = "from the low to the high level; whiskers: 95 % intervals over draws".into();
    Tornado {
        caption: Caption { subtitle, ..Caption::titled("Main effects on the mean score") },
        panels: vec![TornadoPanel { axis: Quantity::new("Effect on score", "") }],
        rows: screened.effects.iter().take(MAX_FACTORS).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_have_neither_group_nor_unit() {
        assert_eq!(name("hardware.dram_bandwidth_bytes_per_cycle"), "DRAM bandwidth");
        assert_eq!(name("hardware.noc_pj_per_byte"), "NoC energy");
        assert_eq!(name("hardware.mac_pj"), "MAC energy");
        assert_eq!(name("score.k_per_ms"), "k");
        assert_eq!(name("pes"), "PEs");
    }
}
