//! Runs of the published study: every scenario of the suite on every system at both sizes.

use std::convert::Infallible;

use xrsim_config::Edition;
use xrsim_experiment::{BENCHMARK_PLATFORM, Experiment, Prepared};
use xrsim_model::cost::library::CostLibrary;
use xrsim_model::hardware::{Flexibility, MappingObjective};
use xrsim_model::parallel;
use xrsim_sim::load::Drawn;
use xrsim_sim::plan::{Ablation, Plan, Semantics};
use xrsim_sim::score::Score;
use xrsim_sim::sweep::Scored;
use xrsim_sim::sweep::enumeration::{Possibility, possibilities};

use super::ReproduceError;

/// Bars of Figure 5 as published: mean scores and overall score of every scenario on every system.
const FIGURE_5: &str = include_str!("../../../../tests/reference/figure5_published.csv");

/// Scores of a run as Figure 5 shows them, each in [0, 1].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanScores {
    /// Real-time score, mean over the models.
    pub realtime: f64,
    /// Energy score, mean over the models.
    pub energy: f64,
    /// Quality-of-experience score, mean over the models.
    pub qoe: f64,
    /// Overall score of the scenario (Definition 15).
    pub overall: f64,
}

impl MeanScores {
    /// Names of the values for legends, in the order of [`MeanScores::values`].
    pub const NAMES: [&str; 4] = ["real-time", "energy", "QoE", "overall"];

    /// Real-time, energy, QoE and overall score.
    pub fn values(&self) -> [f64; 4] {
        [self.realtime, self.energy, self.qoe, self.overall]
    }

    /// Scores in the order of [`MeanScores::values`].
    pub(super) fn of_values([realtime, energy, qoe, overall]: [f64; 4]) -> Self {
        Self { realtime, energy, qoe, overall }
    }

    /// Scores of `result`.
    pub fn from_result(result: &Scored) -> Self {
        let Score { realtime, energy, qoe, score, .. } = result.scorecard.total;
        Self { realtime, energy, qoe, overall: score }
    }

    /// Largest absolute difference between a score here and in `other`.
    pub fn distance(&self, other: &Self) -> f64 {
        let pairs = self.values().into_iter().zip(other.values());
        pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max)
    }
}

/// Scores of one scenario on one system: a group of bars of Figure 5.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Scenario.
    pub scenario: String,
    /// PEs of the system.
    pub pes: u64,
    /// System, `A` to `M`.
    pub system: String,
    /// Scores.
    pub scores: MeanScores,
}

/// Every point of Figure 5 as published, without the means over scenarios of panel h.
pub fn published() -> Vec<Point> {
    let points = FIGURE_5.lines().skip(1).filter_map(|line| {
        let mut cells = line.split(',');
        let scenario = cells.next()?.to_string();
        let pes = if cells.next()? == "4K" { 4096 } else { 8192 };
        let system = cells.next()?.to_string();
        let mut score = || cells.next()?.parse().ok();
        let scores = MeanScores::of_values([score()?, score()?, score()?, score()?]);
        Some(Point { scenario, pes, system, scores })
    });
    points.filter(|point| point.scenario != "gross_average").collect()
}

impl Point {
    fn new(plan: &Plan, scores: MeanScores) -> Self {
        Self {
            scenario: plan.scenario.name().into(),
            pes: plan.system.pes(),
            system: plan.system.name().into(),
            scores,
        }
    }

    /// Whether this is the point of `scenario` on `system` with `pes` PEs.
    pub fn is_at(&self, scenario: &str, pes: u64, system: &str) -> bool {
        self.scenario == scenario && self.pes == pes && self.system == system
    }
}

/// A point with every outcome that the triggers of its scenario can have.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcomes {
    /// Expected value of every score over the outcomes.
    pub mean: Point,
    /// Scores of every possible outcome.
    pub possible: Vec<MeanScores>,
    /// Other random parts of the run, which were drawn once.
    pub drawn: Drawn,
}

impl Outcomes {
    fn new(plan: &Plan, possibilities: &[Possibility]) -> Self {
        let mut mean = [0.0; 4];
        let mut possible = Vec::with_capacity(possibilities.len());
        for Possibility { probability, result, .. } in possibilities {
            let scores = MeanScores::from_result(result);
            let values = mean.iter_mut().zip(scores.values());
            values.for_each(|(sum, value)| *sum += probability * value);
            possible.push(scores);
        }
        let drawn = Drawn { triggers: false, ..plan.drawn() };
        Self { mean: Point::new(plan, MeanScores::of_values(mean)), possible, drawn }
    }

    /// Least and largest value of the score at `index` of [`MeanScores::values`].
    pub(super) fn range(&self, index: usize) -> (f64, f64) {
        let values = self.possible.iter().map(|scores| scores.values()[index]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            (least.min(value), most.max(value))
        })
    }
}

/// Note on the random parts of runs that were drawn once, for a figure or a table; empty where nothing
/// is random.
pub(super) fn draw_note(drawn: impl Iterator<Item = Drawn>) -> String {
    let drawn = drawn.fold(Drawn::default(), Drawn::or);
    match drawn.any() {
        true => format!("one draw (seed 0) of {}", drawn.names().join(", ")),
        false => String::new(),
    }
}

/// Rules under which the study is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Study {
    /// Rules of a run. They also decide the cost model, the platform and the scenarios.
    pub semantics: Semantics,
    /// Layers of the networks.
    pub networks: Edition,
    /// Quirks of the published artifact that runs with `mlsys2023` semantics leave out.
    pub without: Ablation,
    /// Choices of every accelerator for each layer; none under `mlsys2023` semantics.
    pub flexibility: Flexibility,
}

impl Study {
    /// The study under `semantics`, with the networks that belong to them.
    pub fn with_semantics(semantics: Semantics) -> Self {
        match semantics {
            Semantics::Principled => Self::principled(Edition::Reference),
            Semantics::Mlsys2023 => Self::mlsys2023(),
        }
    }

    /// The study as the published artifact made it.
    pub fn mlsys2023() -> Self {
        Self::new(Semantics::Mlsys2023, Edition::Artifact)
    }

    /// The study as the paper means it, with the layers of `networks`.
    pub fn principled(networks: Edition) -> Self {
        Self::new(Semantics::Principled, networks)
    }

    fn new(semantics: Semantics, networks: Edition) -> Self {
        let (without, flexibility) = (Ablation::default(), Flexibility::None);
        Self { semantics, networks, without, flexibility }
    }

    /// The same study without some quirks of the published artifact.
    #[must_use]
    pub fn leaving_out(self, without: Ablation) -> Self {
        Self { without, ..self }
    }

    /// The same study on accelerators with this flexibility. Without effect under `mlsys2023` semantics.
    #[must_use]
    pub fn with_flexibility(self, flexibility: Flexibility) -> Self {
        match self.semantics {
            Semantics::Mlsys2023 => self,
            Semantics::Principled => Self { flexibility, ..self },
        }
    }

    /// Semantics of the runs and, unless there is none, flexibility, for titles and tables:
    /// `principled, tiles`.
    pub(super) fn rules(&self) -> String {
        match self.flexibility {
            Flexibility::None => self.semantics.to_string(),
            flexibility => format!("{}, {flexibility}", self.semantics),
        }
    }

    /// Note below a figure: what was drawn once, and how accelerators choose their mappings.
    pub(super) fn note(&self, drawn: impl Iterator<Item = Drawn>) -> String {
        let mappings = match (self.semantics, self.flexibility) {
            (Semantics::Mlsys2023, _) => String::new(),
            (Semantics::Principled, Flexibility::None) => {
                "fixed mappings (flexibility none)".into()
            }
            (Semantics::Principled, flexibility) => {
                format!(
                    "mappings: flexibility {flexibility}, objective {}",
                    MappingObjective::DEFAULT
                )
            }
        };
        let parts = [draw_note(drawn), mappings];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }

    /// Makes every run, in order of scenario, PEs and system. A run that cannot be made is left out.
    ///
    /// # Errors
    ///
    /// [`ReproduceError`] if an embedded input file is invalid.
    pub fn points(&self) -> Result<Vec<Point>, ReproduceError> {
        let prepared = self.prepare()?;
        let mut points = Vec::with_capacity(prepared.n_runs());
        let made = prepared.score_each(|_, plan, result| {
            points.extend(
                result.ok().map(|result| Point::new(plan, MeanScores::from_result(&result))),
            );
            Ok::<_, Infallible>(())
        });
        let Ok(()) = made;
        Ok(points)
    }

    /// Makes every run with all outcomes that its triggers can have, in order of scenario, PEs and
    /// system. A run that cannot be made is left out.
    ///
    /// # Errors
    ///
    /// [`ReproduceError`] if an embedded input file is invalid.
    pub fn outcomes(&self) -> Result<Vec<Outcomes>, ReproduceError> {
        let prepared = self.prepare()?;
        let plans: Vec<_> = prepared.plans().collect();
        let library = prepared.library();
        let outcomes = parallel::map(&plans, |plan| {
            let possibilities = possibilities(plan, &library).ok()??;
            Some(Outcomes::new(plan, &possibilities))
        });
        Ok(outcomes.into_iter().flatten().collect())
    }

    /// The run of `scenario` on `system` with `pes` PEs, and the costs of both.
    ///
    /// # Errors
    ///
    /// [`ReproduceError::NoSuchPoint`] if the study has no such run, and any other if an embedded input
    /// file is invalid.
    pub fn run_of(
        &self,
        scenario: &str,
        system: &str,
        pes: u64,
    ) -> Result<(Plan, CostLibrary), ReproduceError> {
        let is_wanted = |plan: &&Plan| {
            plan.scenario.name() == scenario
                && plan.system.name() == system
                && plan.system.pes() == pes
        };
        let prepared = self.prepare()?;
        let plan = prepared.plans().find(is_wanted).cloned();
        let plan = plan.ok_or_else(|| ReproduceError::NoSuchPoint {
            scenario: scenario.into(),
            system: system.into(),
            pes,
        })?;
        let pair = (&*plan.scenario, &*plan.system);
        let library = CostLibrary::evaluate(&*prepared.cost_model().model, [pair]);
        Ok((plan, library))
    }

    /// Every run, in order of scenario, PEs and system.
    fn prepare(&self) -> Result<Prepared, ReproduceError> {
        let experiment = Experiment::new()
            .set("semantics", self.semantics)
            .set("networks", self.networks.name())
            .without(self.without);
        let experiment = match self.semantics {
            Semantics::Mlsys2023 => experiment,
            Semantics::Principled => {
                experiment.set("platform", BENCHMARK_PLATFORM).set("flexibility", self.flexibility)
            }
        };
        Ok(experiment.prepare()?)
    }
}
