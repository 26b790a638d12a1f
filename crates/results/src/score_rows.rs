//! Rows of a table of scores: means over the replications of one scenario on one system.

use xrsim_model::hardware::technology::{AreaTerm, SystemArea};
use xrsim_sim::load::Drawn;
use xrsim_sim::plan::Plan;
use xrsim_sim::score::Score;
use xrsim_sim::sweep::Scored;

use super::model_parts::ModelParts;
use crate::RunLabel;

/// Scores of one scenario on one system, over the replications.
#[derive(Debug)]
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
    /// Sum over the replications of the mean power without leakage \[mW\].
    power_mw: f64,
    /// Sums over the replications, in the order of [`Score::all_columns`].
    sums: Vec<f64>,
    /// Score of every replication, in their order; `None` where it failed.
    pub draws: Vec<Option<f64>>,
    /// Losses and busy times of the models.
    pub models: ModelParts,
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

    /// Whether no replication has a score.
    pub fn is_infeasible(&self) -> bool {
        self.draws.iter().all(Option::is_none)
    }

    /// Mean of a column by its place in [`Score::all_columns`].
    pub fn mean_at(&self, at: usize) -> f64 {
        self.sums[at] / self.draws.iter().flatten().count().max(1) as f64
    }

    /// Mean of the column called `name`; 0 if there is none.
    pub fn mean(&self, name: &str) -> f64 {
        let at = Score::all_columns().position(|column| column.name == name);
        at.map_or(0.0, |at| self.mean_at(at))
    }

    /// Mean over the replications of the mean power without leakage \[mW\]; `None` where nothing has an energy.
    pub fn power_without_leakage_mw(&self) -> Option<f64> {
        let power = self.power_mw / self.draws.iter().flatten().count().max(1) as f64;
        let is_known = power > 0.0 || self.mean("executed") == 0.0;
        (is_known && power.is_finite() && !self.is_infeasible()).then_some(power)
    }

    fn new(plan: &Plan, label: &RunLabel<'_>) -> Self {
        let area = plan.system.technology().map(|it| it.system_area(&plan.system));
        Self {
            scenario: label.scenario.into(),
            system: label.system.into(),
            pes: label.pes,
            area_mm2: area.as_ref().map(SystemArea::total),
            large_term: area.as_ref().and_then(SystemArea::large_term),
            drawn: plan.drawn(),
            power_mw: 0.0,
            sums: Score::all_columns().map(|_| 0.0).collect(),
            draws: Vec::new(),
            models: ModelParts::new(plan),
        }
    }

    fn is_of(&self, (scenario, system, pes, replication): (&str, &str, u64, u64)) -> bool {
        replication > 0 && self.scenario == scenario && self.system == system && self.pes == pes
    }

    /// Adds the scores of one more replication.
    fn add(&mut self, total: &Score, power_mw: f64) {
        self.draws.push(Score::primary().of(total));
        for (sum, column) in self.sums.iter_mut().zip(Score::all_columns()) {
            *sum += column.of(total).unwrap_or(0.0);
        }
        self.power_mw += power_mw;
    }
}

/// A run as its files have it.
#[derive(Debug, Clone)]
pub struct ReadRun<'a> {
    /// Scenario.
    pub scenario: &'a str,
    /// System.
    pub system: &'a str,
    /// PEs of the system.
    pub pes: u64,
    /// Replication.
    pub replication: u64,
    /// Area of the system \[mm2\], where the files have it.
    pub area_mm2: Option<f64>,
    /// Mean power without leakage \[mW\].
    pub power_mw: f64,
    /// Random parts of the run.
    pub drawn: Drawn,
    /// Scores of the run.
    pub total: Score,
    /// Names and scores of its models.
    pub models: Vec<(&'a str, Score)>,
    /// Whether models without requests count.
    pub counts_all: bool,
}

/// Rows of runs that are added in order, the replications of a run one after the other.
#[derive(Debug, Default)]
pub struct ScoreRows(Vec<ScoreRow>);

impl ScoreRows {
    /// Adds the scores of a run.
    pub fn add(&mut self, plan: &Plan, label: &RunLabel<'_>, result: &Scored) {
        let row = self.of(plan, label);
        row.add(&result.scorecard.total, result.usage.power_without_leakage_mw());
        row.models.add(plan, result);
    }

    /// Adds the scores of a run that was read from files.
    pub fn add_read(&mut self, run: &ReadRun<'_>) {
        let &ReadRun { scenario, system, pes, replication, .. } = run;
        let names = run.models.iter().map(|(name, _)| *name);
        let row = self.last_or((scenario, system, pes, replication), || ScoreRow {
            scenario: scenario.into(),
            system: system.into(),
            pes,
            area_mm2: run.area_mm2,
            large_term: None,
            drawn: run.drawn,
            power_mw: 0.0,
            sums: Score::all_columns().map(|_| 0.0).collect(),
            draws: Vec::new(),
            models: ModelParts::named(names),
        });
        row.add(&run.total, run.power_mw);
        let scores: Vec<Score> = run.models.iter().map(|(_, score)| *score).collect();
        row.models.add_scores(&scores, run.counts_all);
    }

    /// Adds a run that has no scores.
    pub fn refuse(&mut self, plan: &Plan, label: &RunLabel<'_>) {
        self.of(plan, label).draws.push(None);
    }

    /// The rows, in the order of the runs.
    pub fn rows(&self) -> &[ScoreRow] {
        &self.0
    }

    /// The row of a run, which may be one more replication of the run before it.
    fn of(&mut self, plan: &Plan, label: &RunLabel<'_>) -> &mut ScoreRow {
        let &RunLabel { scenario, system, pes, replication, .. } = label;
        self.last_or((scenario, system, pes, replication), || ScoreRow::new(plan, label))
    }

    /// The last row, if it is of this scenario, system and number of PEs and not of the first replication; else a new one.
    fn last_or(
        &mut self,
        run: (&str, &str, u64, u64),
        make: impl FnOnce() -> ScoreRow,
    ) -> &mut ScoreRow {
        let is_same = self.0.last().is_some_and(|row| row.is_of(run));
        if !is_same {
            self.0.push(make());
        }
        self.0.last_mut().expect("a row was just made sure of")
    }
}
