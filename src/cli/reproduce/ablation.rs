//! What each quirk of the published artifact does to its scores: the study with one of them left out
//! at a time, and with all of them. Triggers are enumerated, so that nothing is random.

use crate::compat::Ablation;
use crate::report::table::{Style, new_table, render};

use super::super::message::Failure;
use super::super::study::{Expected, Study};

/// Change of an overall score that counts \[points of 100\].
const NOTABLE: f64 = 0.5;

/// The study with something left out.
pub(super) struct Row {
    without: String,
    /// Mean overall score \[points of 100\].
    mean: f64,
    /// Mean of the absolute changes against the study as published.
    mean_change: f64,
    /// The largest change: configuration, before and after.
    largest: (String, [f64; 2]),
    /// Configurations that change by more than [`NOTABLE`].
    notable: usize,
}

/// Makes the study once for each quirk, once without any, and once as published, which comes first.
///
/// # Errors
///
/// None for the embedded files that the tests have seen.
pub(super) fn run() -> Result<Vec<Row>, Failure> {
    let published = Study::mlsys2023().expect()?;
    let mut rows = vec![Row::new("nothing", &published, &published)];
    let mut all = Ablation::default();
    for (name, leave_out) in Ablation::ALL {
        let mut without = Ablation::default();
        leave_out(&mut without);
        leave_out(&mut all);
        let changed = Study { without, ..Study::mlsys2023() }.expect()?;
        rows.push(Row::new(name, &published, &changed));
    }
    let changed = Study { without: all, ..Study::mlsys2023() }.expect()?;
    rows.push(Row::new("all of them", &published, &changed));
    Ok(rows)
}

impl Row {
    fn new(without: &str, published: &[Expected], changed: &[Expected]) -> Self {
        let overall = |it: &Expected| 100.0 * it.mean.scores[3];
        let pairs: Vec<_> = published
            .iter()
            .zip(changed)
            .map(|(before, after)| (before, [overall(before), overall(after)]))
            .collect();
        let change = |[before, after]: [f64; 2]| (after - before).abs();
        let n = pairs.len().max(1) as f64;
        let largest = pairs.iter().max_by(|a, b| change(a.1).total_cmp(&change(b.1)));
        let named = |(it, scores): &(&Expected, [f64; 2])| {
            let bars = &it.mean;
            (format!("{} {} {}K", bars.scenario, bars.system, bars.pes / 1024), *scores)
        };
        Self {
            without: without.into(),
            mean: pairs.iter().map(|(_, [_, after])| after).sum::<f64>() / n,
            mean_change: pairs.iter().map(|(_, scores)| change(*scores)).sum::<f64>() / n,
            largest: largest.map(named).unwrap_or_default(),
            notable: pairs.iter().filter(|(_, scores)| change(*scores) > NOTABLE).count(),
        }
    }

    fn cells(&self) -> [String; 7] {
        let (configuration, [before, after]) = &self.largest;
        [
            self.without.clone(),
            format!("{:.2}", self.mean),
            format!("{:.2}", self.mean_change),
            self.notable.to_string(),
            configuration.clone(),
            format!("{before:.1}"),
            format!("{after:.1}"),
        ]
    }
}

/// Header and rows.
pub(super) fn rows(rows: &[Row]) -> (Vec<String>, Vec<Vec<String>>) {
    let header = [
        "without",
        "mean overall",
        "mean change",
        "changed by > 0.5",
        "largest change",
        "from",
        "to",
    ];
    (header.map(String::from).to_vec(), rows.iter().map(|row| row.cells().to_vec()).collect())
}

/// The table for people.
pub(super) fn to_text(all: &[Row], style: Style) -> String {
    let (header, rows) = rows(all);
    let names: Vec<_> = header.iter().map(String::as_str).collect();
    let mut table = new_table(style, &names, 1);
    for row in rows {
        table.add_row(row);
    }
    render(&table)
}
