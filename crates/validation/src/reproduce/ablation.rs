//! Effect of each quirk of the published artifact on its scores: the study without one quirk at a time,
//! and without all of them. The triggers are enumerated, so that nothing is random.

use xrsim_sim::plan::Ablation;

use super::study::{Outcomes, Study};
use super::{Column, ReproduceError, Table};

/// Change of an overall score above which a configuration counts as changed \[points of 100\].
const NOTABLE: f64 = 0.5;

/// The study without a quirk, beside the study as published.
#[derive(Debug, Clone, PartialEq)]
pub struct QuirkEffect {
    /// Name of the quirk that is left out, `nothing` or `all of them`.
    pub without: String,
    /// Mean overall score over the configurations \[points of 100\].
    pub mean: f64,
    /// Mean absolute change of the overall score \[points of 100\].
    pub mean_change: f64,
    /// Configurations whose overall score changes by more than 0.5 points of 100.
    pub n_changed: usize,
    /// Configuration with the largest change.
    pub most_changed: String,
    /// Overall score of that configuration with and without the quirk \[points of 100\].
    pub most_changed_scores: [f64; 2],
}

/// Makes the study as published, without each quirk, and without all quirks, in this order.
///
/// # Errors
///
/// [`ReproduceError`] if an embedded input file is invalid.
pub fn quirk_effects() -> Result<Vec<QuirkEffect>, ReproduceError> {
    let study = Study::mlsys2023();
    let published = study.outcomes()?;
    let mut effects = vec![QuirkEffect::new("nothing", &published, &published)];
    let mut all = Ablation::default();
    for (name, leave_out) in Ablation::ALL {
        let mut without = Ablation::default();
        leave_out(&mut without);
        leave_out(&mut all);
        let changed = study.leaving_out(without).outcomes()?;
        effects.push(QuirkEffect::new(name, &published, &changed));
    }
    let changed = study.leaving_out(all).outcomes()?;
    effects.push(QuirkEffect::new("all of them", &published, &changed));
    Ok(effects)
}

impl QuirkEffect {
    fn new(without: &str, published: &[Outcomes], changed: &[Outcomes]) -> Self {
        let overall = |it: &Outcomes| 100.0 * it.mean.scores.overall;
        let pairs: Vec<_> = published
            .iter()
            .zip(changed)
            .map(|(before, after)| (before, [overall(before), overall(after)]))
            .collect();
        let change = |[before, after]: [f64; 2]| (after - before).abs();
        let n = pairs.len().max(1) as f64;
        let largest = pairs.iter().max_by(|a, b| change(a.1).total_cmp(&change(b.1)));
        let named = |(it, scores): &(&Outcomes, [f64; 2])| {
            let point = &it.mean;
            (format!("{} {} {}K", point.scenario, point.system, point.pes / 1024), *scores)
        };
        let (most_changed, most_changed_scores) = largest.map(named).unwrap_or_default();
        Self {
            without: without.into(),
            mean: pairs.iter().map(|(_, [_, after])| after).sum::<f64>() / n,
            mean_change: pairs.iter().map(|(_, scores)| change(*scores)).sum::<f64>() / n,
            n_changed: pairs.iter().filter(|(_, scores)| change(*scores) > NOTABLE).count(),
            most_changed,
            most_changed_scores,
        }
    }

    /// The effects as a table, one row each.
    pub fn table(effects: &[Self]) -> Table {
        let columns: [Column<Self>; 7] = [
            ("without", |it| it.without.clone()),
            ("mean overall", |it| format!("{:.2}", it.mean)),
            ("mean change", |it| format!("{:.2}", it.mean_change)),
            ("changed by > 0.5", |it| it.n_changed.to_string()),
            ("largest change", |it| it.most_changed.clone()),
            ("from", |it| format!("{:.1}", it.most_changed_scores[0])),
            ("to", |it| format!("{:.1}", it.most_changed_scores[1])),
        ];
        Table::of_items(&columns, effects)
    }
}
