//! Goals of a search: quantities, objectives, constraints, and their means over scenarios.

use std::cmp::Ordering;
use std::fmt;

use xrsim_model::column::Better;
use xrsim_model::renamed::Renamed;
use xrsim_sim::score::Score;
use xrsim_sim::sweep::comparison::Sample;

/// Quantities of a run: the columns of [`Sample`], then the share of requests that missed their deadline.
pub(super) const N_SAMPLED: usize = Sample::N_COLUMNS + 1;

/// Values of the sampled quantities of one run, or their means.
pub(super) type Sampled = [f64; N_SAMPLED];

/// Index of the miss ratio.
pub(super) const MISS_RATIO: usize = N_SAMPLED - 1;

/// The sampled quantities of a run.
pub(super) fn sampled(sample: &Sample) -> Sampled {
    let mut values = [0.0; N_SAMPLED];
    values[..MISS_RATIO].copy_from_slice(sample.values());
    let [requests, missed] =
        ["requests", "missed"].map(|name| sample.value(name).unwrap_or_default());
    values[MISS_RATIO] = if requests > 0.0 { missed / requests } else { 0.0 };
    values
}

/// Relative difference up to which two values are equal. Sums of the same numbers in another order differ by less.
const TIE: f64 = 1e-12;

/// Whether `a` is less than `b` and not equal to it, up to rounding. The only rule of equality of a search: for best systems, fronts and
/// limits.
pub(super) fn is_below(a: f64, b: f64) -> bool {
    a < b && (b - a).partial_cmp(&(TIE * a.abs().max(b.abs()))) != Some(Ordering::Less)
}

/// A property of a system, or of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Quantity {
    /// A quantity of runs, by its index among the sampled ones.
    Sampled(usize),
    /// Mean power of the runs and of leakage \[mW\].
    Power,
    /// Area \[mm2\].
    Area,
    /// Number of PEs.
    Pes,
    /// Number of accelerators.
    Accelerators,
    /// Sum over the models of energy times latency, each on its best accelerator \[mJ·ms\].
    EnergyDelay,
}

impl Quantity {
    /// Quantities that are not sampled, with their names and units.
    const OTHERS: [(Self, &'static str, &'static str); 5] = [
        (Self::Power, "power_with_leakage_mw", "mW"),
        (Self::Area, "area_mm2", "mm2"),
        (Self::Pes, "pes", ""),
        (Self::Accelerators, "accelerators", ""),
        (Self::EnergyDelay, "edp_mj_ms", "mJ ms"),
    ];

    /// The score that ranks systems.
    pub fn score() -> Self {
        Self::find("score_executed_mean").expect("it is a column of samples")
    }

    /// Every quantity.
    pub fn all() -> impl Iterator<Item = Self> + Clone {
        let others = Self::OTHERS.into_iter().map(|(quantity, ..)| quantity);
        (0..N_SAMPLED).map(Self::Sampled).chain(others)
    }

    /// Names of quantities that changed.
    pub const RENAMED: [Renamed; 1] =
        [Renamed { kind: "quantity", old: "power_mw", new: "power_with_leakage_mw" }];

    /// The quantity called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::all().find(|quantity| quantity.name() == name)
    }

    /// Name in files and tables; it ends in the unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sampled(MISS_RATIO) => "miss_ratio",
            Self::Sampled(index) => Sample::columns().nth(index).map_or("", |column| column.name),
            other => Self::OTHERS.iter().find(|(it, ..)| *it == other).map_or("", |it| it.1),
        }
    }

    /// Unit; empty for pure numbers.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Sampled(MISS_RATIO) => "",
            Self::Sampled(index) => Sample::columns().nth(index).map_or("", |column| column.unit),
            other => Self::OTHERS.iter().find(|(it, ..)| *it == other).map_or("", |it| it.2),
        }
    }

    /// Which values are better.
    pub fn better(self) -> Better {
        match self {
            Self::Sampled(index) if index != MISS_RATIO => {
                Sample::columns().nth(index).map_or(Better::Lower, |column| column.better)
            }
            _ => Better::Lower,
        }
    }

    /// Whether only runs show it.
    pub fn is_sampled(self) -> bool {
        matches!(self, Self::Sampled(_) | Self::Power)
    }

    /// Whether dropping every frame would be best, so that it needs a limit of `miss_ratio` beside it.
    pub fn needs_miss_limit(self) -> bool {
        self.is_energy() || self.is_latency()
    }

    /// Whether it tells how late executed frames are; dropped ones have no part in it.
    pub fn is_latency(self) -> bool {
        ["latency_p99_ms", "headroom"].contains(&self.name())
    }

    /// Whether it is energy, or energy over time.
    pub fn is_energy(self) -> bool {
        self == Self::Power || self.name() == "energy_mj"
    }

    /// Whether upper bounds of scores bound it.
    pub(super) fn has_bound(self) -> bool {
        ["score", "score_executed_mean"].contains(&self.name())
    }

    /// Whether its values lie between 0 and 1, and more is better.
    pub(super) fn is_share(self) -> bool {
        match self {
            Self::Sampled(index) => index < Score::SCORES.len(),
            _ => false,
        }
    }
}

/// Treatment of several scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Over {
    /// The mean with the weights of the scenarios.
    #[default]
    Mean,
    /// The worst scenario.
    Worst,
}

/// Limit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraint {
    /// The quantity.
    pub quantity: Quantity,
    /// Whether the limit is the largest allowed value, not the smallest.
    pub is_most: bool,
    /// The limit.
    pub limit: f64,
}

impl Constraint {
    /// Whether `value` keeps the limit, up to rounding.
    pub fn holds(&self, value: f64) -> bool {
        let (low, high) = if self.is_most { (value, self.limit) } else { (self.limit, value) };
        low <= high || (low > high && !is_below(high, low))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_most { "<=" } else { ">=" };
        write!(f, "{} {sign} {}", self.quantity.name(), self.limit)
    }
}

/// A question that a search answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// Name in results: a scenario, `mean` or `worst`.
    pub name: Box<str>,
    /// One objective, or the two or three of a front.
    pub objectives: Vec<Quantity>,
    /// Weight of every scenario, 0 for those that do not count; their sum is 1.
    pub weights: Vec<f64>,
    /// Treatment of several scenarios.
    pub over: Over,
    /// Limits that an answer keeps.
    pub constraints: Vec<Constraint>,
}

impl Question {
    /// The question for the best mean of `objectives` over scenarios with these weights, which are
    /// scaled to a sum of 1.
    pub fn new(name: impl Into<Box<str>>, objectives: Vec<Quantity>, weights: &[f64]) -> Self {
        let sum: f64 = weights.iter().sum();
        Self {
            name: name.into(),
            objectives,
            weights: weights.iter().map(|weight| weight / sum).collect(),
            over: Over::Mean,
            constraints: Vec::new(),
        }
    }

    /// Most objectives.
    pub const MAX_OBJECTIVES: usize = 3;

    /// Whether it asks for a front.
    pub fn is_front(&self) -> bool {
        self.objectives.len() > 1
    }

    /// Whether runs decide it, and with them the schedulers and draws.
    pub fn needs_runs(&self) -> bool {
        let limits = self.constraints.iter().map(|it| it.quantity);
        self.objectives.iter().copied().chain(limits).any(Quantity::is_sampled)
    }

    /// Whether systems that drop frames would keep a limit of latencies and be no worse: costs are the objectives, and
    /// nothing limits `miss_ratio`.
    pub(super) fn rewards_drops(&self) -> bool {
        let mut limits = self.constraints.iter();
        let is_of_costs = !self.objectives.iter().any(|it| it.is_sampled());
        is_of_costs && limits.any(|it| it.quantity.is_latency()) && self.most_missed().is_none()
    }

    /// Indices of the scenarios that count.
    pub(super) fn loads(&self) -> impl Iterator<Item = usize> + Clone {
        let counts = |(index, &weight): (usize, &f64)| (weight > 0.0).then_some(index);
        self.weights.iter().enumerate().filter_map(counts)
    }

    /// Largest miss ratio that the constraints allow, if they limit it.
    pub(super) fn most_missed(&self) -> Option<f64> {
        let limits = self
            .constraints
            .iter()
            .filter(|it| it.is_most && it.quantity == Quantity::Sampled(MISS_RATIO));
        limits.map(|it| it.limit).reduce(f64::min)
    }

    /// The value over all scenarios of a quantity with these values of the scenarios that count.
    pub(super) fn over(&self, quantity: Quantity, value: impl Fn(usize) -> f64) -> f64 {
        match self.over {
            Over::Mean => self.loads().map(|load| self.weights[load] * value(load)).sum(),
            Over::Worst => {
                let values = self.loads().map(value);
                match quantity.better() {
                    Better::Higher => values.fold(f64::INFINITY, f64::min),
                    Better::Lower => values.fold(f64::NEG_INFINITY, f64::max),
                }
            }
        }
    }
}
