//! Upper bounds of the score of a scenario, which no scheduler exceeds.
//!
//! # What is bounded
//!
//! The column `score_executed_mean` of `scores.csv`, the reading of section 3.7 of the paper. Mean over executed
//! frames times QoE is the sum over all frames divided by the number released,
//!
//! ```text
//! score_executed_mean = 1/|θ| · sum over models i of  sum over frames f of i of  value(f) / N(i)
//! value(f)            = RtScore · EnScore · AccScore, 0 unless executed
//! ```
//!
//! which is linear in the frames. `score`, Definition 15 as printed, has one more factor of at most 1
//! and lies below it. `N(i)` and `|θ|` follow from the triggers and the warm-up, not from the policy.
//! Models that were never triggered enter as [`NeverTriggered`](crate::score::NeverTriggered) says.
//!
//! # Why it holds
//!
//! - No frame ends before its data, its upstream results and the shortest time on any accelerator
//!   have passed, all from the real arrivals; its value is that of its energy and of this lateness,
//!   or less.
//! - An accelerator does one thing at a time. Let the *horizon* end a margin after the last deadline
//!   (7.5/k: 0.5 ms at k = 15). A frame that ends after it is so late that it scores less than 0.06 % of a
//!   frame: that much is granted to every frame for nothing. All else was done within the horizon, for
//!   which each accelerator has a limited time.
//! - A frame within the horizon has its upstream frames within it.
//!
//! Nothing else is used. The bounds hold for every policy, admission and order; with and without
//! preemption, grace, abortion or replacement; and for shared bandwidth, switching and migration
//! costs, which only add time and energy to the cost table. They do not hold for `mlsys2023`
//! semantics, which has arrivals of its own.
//!
//! # The bounds
//!
//! In order of tightness, each named by a [`Bound`]; UB3 is at most the smaller of the others. A fourth
//! is for those who have time, and for runs at model granularity only: the exact optimum of small
//! windows ([`window`]).

mod instance;
mod isolated;
mod program;
pub mod window;
mod work;

use crate::load::RequestStream;
use crate::score::ScoreSettings;
use xrsim_model::column::Column;
use xrsim_model::cost::CostTable;
use xrsim_model::scenario::Scenario;

use instance::Instance;
pub use isolated::IsolatedFrames;

/// Whether one inference may change its accelerator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Migration {
    /// It ends where it started, with or without interruptions.
    #[default]
    None,
    /// Between any two layers.
    LayerBoundary,
}

/// A bound by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// UB1: every frame as if it were alone.
    Isolation,
    /// UB2: a fractional knapsack. Frames at their shortest latency and best value, the accelerators
    /// pooled into one.
    PooledCapacity,
    /// UB3: a linear program. Shares of frames on each accelerator at its latency and value, each
    /// accelerator with its own capacity, and no frame without its upstream frames.
    LinearProgram,
}

impl Bound {
    /// All bounds, in the order of [`Bounds::values`].
    pub const ALL: [Self; 3] = [Self::Isolation, Self::PooledCapacity, Self::LinearProgram];

    /// Meaning in a few words.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Isolation => "every frame as if it were alone",
            Self::PooledCapacity => "the accelerators pooled into one, frames cut at will",
            Self::LinearProgram => "a linear program, frames shared between accelerators",
        }
    }

    /// Short name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Isolation => "UB1",
            Self::PooledCapacity => "UB2",
            Self::LinearProgram => "UB3",
        }
    }
}

/// Upper bounds of the score of every run with the same requests, system and scores.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Bounds {
    /// [`Bound::Isolation`].
    pub isolation: f64,
    /// [`Bound::PooledCapacity`].
    pub pooled_capacity: f64,
    /// [`Bound::LinearProgram`]; at most the other two.
    pub linear_program: f64,
}

impl Bounds {
    /// The bounds as columns, in the order of [`Bound::ALL`].
    pub const COLUMNS: &[Column<Self>] = &[
        Column::share("ub1_isolation", "Bound by isolation", |it: &Self| Some(it.isolation))
            .higher("upper bound: every frame as if it were alone"),
        Column::share("ub2_pooled_capacity", "Bound by pooled capacity", |it: &Self| {
            Some(it.pooled_capacity)
        })
        .higher("upper bound: the accelerators pooled into one"),
        Column::share("ub3_linear_program", "Bound by linear program", |it: &Self| {
            Some(it.linear_program)
        })
        .higher("upper bound: a linear program that shares frames between accelerators"),
    ];

    /// Bounds of the runs of `requests` of `scenario` at `costs`, scored by `settings`.
    ///
    /// UB3 is computed from its dual: any prices of the accelerators' time give an upper bound (weak
    /// duality), and the solver only looks for good ones. The bound therefore holds whatever the
    /// tolerances of the solver, and if it gives up the smaller of UB1 and UB2 takes its place.
    ///
    /// # Panics
    ///
    /// If `costs` or `requests` are not of the scenario.
    pub fn compute(
        scenario: &Scenario,
        costs: &CostTable,
        requests: &RequestStream,
        settings: &ScoreSettings,
        migration: Migration,
    ) -> Self {
        let instance = Instance::new(scenario, costs, requests, settings, migration);
        let isolation = instance.isolation();
        let pooled_capacity = instance.pooled_capacity().min(isolation);
        let linear_program = program::bound(&instance).min(pooled_capacity);
        let outward = |bound| outward(bound, instance.n_frames());
        Self {
            isolation: outward(isolation),
            pooled_capacity: outward(pooled_capacity),
            linear_program: outward(linear_program),
        }
    }

    /// UB1 alone, with the same arguments; cheaper than all bounds.
    ///
    /// # Panics
    ///
    /// If `costs` or `requests` are not of the scenario.
    pub fn isolation_of(
        scenario: &Scenario,
        costs: &CostTable,
        requests: &RequestStream,
        settings: &ScoreSettings,
        migration: Migration,
    ) -> f64 {
        let instance = Instance::new(scenario, costs, requests, settings, migration);
        outward(instance.isolation(), instance.n_frames())
    }

    /// The bounds, in the order of [`Bound::ALL`].
    pub fn values(&self) -> [f64; 3] {
        let Self { isolation, pooled_capacity, linear_program } = *self;
        [isolation, pooled_capacity, linear_program]
    }

    /// Adds `weight` times another run's bounds: an expectation, step by step.
    pub fn add(&mut self, other: &Self, weight: f64) {
        self.isolation += weight * other.isolation;
        self.pooled_capacity += weight * other.pooled_capacity;
        self.linear_program += weight * other.linear_program;
    }

    /// The smallest bound; of equals the simplest.
    pub fn tightest(&self) -> (Bound, f64) {
        let bounds = Bound::ALL.into_iter().zip(self.values());
        bounds.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are three bounds")
    }
}

/// Operations on one frame, of a score and of its bound, whose rounding counts beside their sums.
const FRAME_OPERATIONS: usize = 16;

/// A bound that is a sum over `n_frames` frames, as large as rounding can have made another sum of
/// them: each addition of numbers that are not negative is off by half a unit in the last place of the
/// sum, in the bound and in the score that must not exceed it.
fn outward(bound: f64, n_frames: usize) -> f64 {
    bound + bound * (n_frames + FRAME_OPERATIONS) as f64 * f64::EPSILON
}

/// Gap between a score and its upper `bound`, relative to the bound:
/// `(bound − score) / bound`; 0 where nothing could be reached.
pub fn gap(bound: f64, score: f64) -> f64 {
    if bound > 0.0 { (bound - score) / bound } else { 0.0 }
}
