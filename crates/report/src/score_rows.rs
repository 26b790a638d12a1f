//! Rows of a table of scores: means over the replications of one scenario on one system.

use xrsim_model::hardware::technology::{AreaTerm, SystemArea};
use xrsim_sim::load::Drawn;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::Score;
use xrsim_sim::sweep::{RunError, RunResult};

use super::model_parts::ModelParts;
use xrsim_results::RunLabel;

/// One score of a table of runs, already averaged over replications.
#[derive(Debug, Clone)]
pub struct ScoreRow {
    /// Scenario.
    pub scenario: String,
    /// System.
    pub system: String,
    /// PEs of the system.
    pub pes: u64,
    /// Area of the system \[mm2\]; `None` without a technology.
    pub area_mm2: Option<f64>,
    /// Term that takes more than half of the area, with its share from 0 to 1.
    pub large_term: Option<(AreaTerm, f64)>,
    /// Random parts of the run.
    pub drawn: Drawn,
    /// Means over the replications, in the order of [`Score::columns`].
    pub means: Vec<f64>,
    /// Score of every replication, in their order; `None` where it failed.
    pub draws: Vec<Option<f64>>,
    /// Losses and busy times of the models.
    pub models: ModelParts,
    /// Reason why there is no score.
    pub infeasible: Option<String>,
}

impl ScoreRow {
    /// Whether the run is random, but was drawn at most once.
    pub fn is_drawn_once(&self) -> bool {
        self.drawn.any() && self.draws.len() <= 1
    }

    /// Score of a replication; `None` where it failed. Where nothing is random one run stands for every
    /// replication.
    pub(super) fn draw(&self, replication: usize) -> Option<f64> {
        match &self.draws[..] {
            [only] if !self.drawn.any() => *only,
            draws => draws.get(replication).copied().flatten(),
        }
    }

    /// Mean of the column called `name`; 0 if there is none.
    pub(super) fn mean(&self, name: &str) -> f64 {
        let at = Score::columns().position(|column| column.name == name);
        at.map_or(0.0, |at| self.means[at])
    }
}

/// Rows of runs that are added in order, the replications of a run one after the other.
#[derive(Debug, Default)]
pub struct ScoreRows(Vec<Average>);

impl ScoreRows {
    /// Adds the scores of a run.
    pub fn add(&mut self, plan: &Plan, label: &RunLabel<'_>, result: &RunResult) {
        let row = self.of(plan, label);
        row.add(&result.scorecard.total);
        row.models.add(plan, result);
    }

    /// Adds a run that has no scores.
    pub fn refuse(&mut self, plan: &Plan, label: &RunLabel<'_>, error: &RunError) {
        self.of(plan, label).refuse(error);
    }

    /// The rows, in the order of the runs.
    pub fn rows(&self) -> impl Iterator<Item = ScoreRow> {
        self.0.iter().map(Average::row)
    }

    /// The row of a run, which may be one more replication of the run before it.
    fn of(&mut self, plan: &Plan, label: &RunLabel<'_>) -> &mut Average {
        let is_same = self.0.last().is_some_and(|row| row.is_of(label));
        if !is_same {
            self.0.push(Average::new(plan, label));
        }
        self.0.last_mut().expect("a row was just made sure of")
    }
}

/// Means over the replications of one scenario on one system.
#[derive(Debug)]
struct Average {
    scenario: String,
    system: String,
    pes: u64,
    area: Option<SystemArea>,
    drawn: Drawn,
    /// Sums over the replications, in the order of [`Score::columns`].
    sums: Vec<f64>,
    /// Score of every replication, in their order; `None` where it has none.
    draws: Vec<Option<f64>>,
    models: ModelParts,
    /// Reason for the first replication without a score.
    infeasible: Option<String>,
}

impl Average {
    fn new(plan: &Plan, label: &RunLabel<'_>) -> Self {
        Self {
            scenario: label.scenario.into(),
            system: label.system.into(),
            pes: label.pes,
            area: plan.system.technology().map(|it| it.system_area(&plan.system)),
            drawn: plan.drawn(),
            sums: Score::columns().map(|_| 0.0).collect(),
            draws: Vec::new(),
            models: ModelParts::new(plan),
            infeasible: None,
        }
    }

    fn is_of(&self, label: &RunLabel<'_>) -> bool {
        label.replication > 0
            && self.scenario == label.scenario
            && self.system == label.system
            && self.pes == label.pes
    }

    fn add(&mut self, total: &Score) {
        self.draws.push(Score::primary().of(total));
        for (sum, column) in self.sums.iter_mut().zip(Score::columns()) {
            *sum += column.of(total).unwrap_or(0.0);
        }
    }

    fn refuse(&mut self, error: &RunError) {
        self.draws.push(None);
        self.infeasible.get_or_insert_with(|| error.to_string());
    }

    fn row(&self) -> ScoreRow {
        let n_scores = self.draws.iter().flatten().count();
        ScoreRow {
            scenario: self.scenario.clone(),
            system: self.system.clone(),
            pes: self.pes,
            area_mm2: self.area.as_ref().map(SystemArea::total),
            large_term: self.area.as_ref().and_then(SystemArea::large_term),
            drawn: self.drawn,
            means: self.sums.iter().map(|sum| sum / n_scores.max(1) as f64).collect(),
            draws: self.draws.clone(),
            models: self.models.clone(),
            infeasible: self.infeasible.clone().filter(|_| n_scores == 0),
        }
    }
}
