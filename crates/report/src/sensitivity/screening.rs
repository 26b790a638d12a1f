//! Main effects of a screening design.

use xrsim_model::statistics::{ScreeningDesign, Summary};
use xrsim_sim::score::Score;

use super::{PARTS, Scores};

/// Effect of one factor of a screening design, in the mean over all levels of the others.
#[derive(Debug, Clone)]
pub struct MainEffect {
    /// Key.
    pub key: &'static str,
    /// Low and high level.
    pub levels: [String; 2],
    /// Change of the mean score from the low to the high level, over replications.
    pub change: Summary,
    /// Changes of the means of `PARTS`.
    pub parts: [f64; PARTS.len()],
}

/// Results of a screening design.
#[derive(Debug, Clone)]
pub struct Screened {
    /// Effects, the largest change of the score first.
    pub effects: Vec<MainEffect>,
    /// Number of runs of the design.
    pub n_points: usize,
    /// Number of configurations that have a score in every run of the design; only they count.
    pub n_configurations: usize,
    /// Number of those that do not.
    pub n_left_out: usize,
    /// Reason of the first of them.
    pub reason: Option<String>,
    /// Number of replications.
    pub n_replications: u64,
    /// Factors that were left out, with the reason.
    pub skipped: Vec<(&'static str, String)>,
}

impl Screened {
    /// Main effects of factors with these keys and levels from the scores of every run of `design`. `None` if
    /// no configuration has a score in all of them.
    pub fn from_scores(
        design: &ScreeningDesign,
        factors: Vec<(&'static str, [String; 2])>,
        scores: &[Scores],
        skipped: Vec<(&'static str, String)>,
    ) -> Option<Self> {
        let n = scores.first()?.configurations.len();
        let is_whole = |&at: &usize| scores.iter().all(|it| it.is_whole(at));
        let whole: Vec<usize> = (0..n).filter(is_whole).collect();
        if whole.is_empty() || scores.iter().any(|it| it.configurations.len() != n) {
            return None;
        }
        let effects_of = |value: fn(&Score) -> f64| {
            let results: Vec<_> =
                scores.iter().map(|it| it.per_replication(&whole, value)).collect();
            let n_replications = results.first().map_or(0, Vec::len);
            move |factor: usize| {
                let of_replication = |replication: usize| {
                    let own: Vec<f64> = results.iter().map(|run| run[replication]).collect();
                    design.main_effect(factor, &own)
                };
                Summary::of((0..n_replications).map(of_replication))
            }
        };
        let score = effects_of(|score| score.score);
        let parts = PARTS.map(|(_, part)| effects_of(part));
        let effect = |(at, (key, levels))| MainEffect {
            key,
            levels,
            change: score(at),
            parts: parts.each_ref().map(|part| part(at).mean),
        };
        let mut effects: Vec<_> = factors.into_iter().enumerate().map(effect).collect();
        effects.sort_by(|a, b| b.change.mean.abs().total_cmp(&a.change.mean.abs()));
        Some(Self {
            effects,
            n_points: design.runs.len(),
            n_configurations: whole.len(),
            n_left_out: n - whole.len(),
            reason: scores.iter().find_map(|it| it.reason.clone()),
            n_replications: scores.first()?.totals.first().map_or(0, |all| all.len() as u64),
            skipped,
        })
    }
}
