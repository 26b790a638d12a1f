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
//! - The same holds of every interval: frames whose windows lie in it, from the earliest start to the margin after
//!   the deadline, take no more time than each accelerator has in it. The window of a frame extends to those of the frames that
//!   need it, so that a frame within its window has its upstream frames within theirs.
//!
//! Tokens of sequences count as perfect and take no time, since no other model needs a token.
//!
//! Nothing else is used. The bounds hold for every policy, admission and order; with and without
//! preemption, grace, abortion or replacement; and for shared bandwidth, switching and migration
//! costs, which only add time and energy to the cost table. With a device they hold for runs that it does not
//! stop, since frames that come later have no outcome. They do not hold for `mlsys2023` semantics, which has
//! arrivals of its own.
//!
//! # The bounds
//!
//! In order of tightness, each named by a [`Bound`]; UB3 is at most the smaller of the others. UB2 and UB3 count the
//! demand of intervals (`intervals.rs`); UB3 tries all choices of a few frames that compete with no
//! others (`groups.rs`). A fourth
//! is for those who have time, and for runs at model granularity only: the exact optimum of small
//! windows ([`window`]).
//!
//! # Two classes of schedulers
//!
//! A bound holds for a [`Class`] of schedulers, whichever are listed. Under any scheduler a request may
//! change its accelerator wherever a step ends on one of them; its time and its energy are still those of one assignment of
//! steps to accelerators. The other class never changes the accelerator of a request. Where a model has one step the
//! classes agree.

mod groups;
mod instance;
mod intervals;
mod isolated;
mod program;
pub mod window;
mod work;

use crate::load::RequestStream;
pub use crate::schedule::Class;
use crate::score::ScoreSettings;
use xrsim_model::column::Column;
use xrsim_model::cost::CostTable;
use xrsim_model::scenario::Scenario;

use instance::Instance;
pub use isolated::IsolatedFrames;

/// A bound by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// UB1: every frame runs as if it were alone.
    Isolation,
    /// UB2: a fractional knapsack. Frames at their shortest latency and best value, all accelerators
    /// in one pool.
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
            Self::Isolation => "every frame runs as if it were alone",
            Self::PooledCapacity => "all accelerators in one pool, frames interrupted at any point",
            Self::LinearProgram => "linear program that divides frames between accelerators",
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
    /// Bounds of the runs of `requests` of `scenario` at `costs`, scored by `settings`, under the schedulers of a
    /// class.
    ///
    /// # Panics
    ///
    /// If `costs` or `requests` are not of the scenario.
    pub fn compute(
        scenario: &Scenario,
        costs: &CostTable,
        requests: &RequestStream,
        settings: &ScoreSettings,
        class: Class,
    ) -> Self {
        Routes::new(scenario, costs, settings, class, requests).bounds(scenario, requests)
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

/// A column of an upper bound.
macro_rules! column {
    ($name:literal, $label:literal, $class:ident.$bound:ident, $help:literal) => {
        Column::share($name, $label, |it: &Self| Some(it.$class.$bound))
            .higher(concat!("upper bound for ", $help))
    };
}

/// Bounds of both classes of schedulers.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ClassBounds {
    any: Bounds,
    keeping: Bounds,
}

impl ClassBounds {
    /// Bounds of [`Class::Any`] and [`Class::Keeping`]. What holds for any scheduler holds for those that keep requests,
    /// too.
    pub fn new(any: Bounds, keeping: Bounds) -> Self {
        let least = |of: fn(&Bounds) -> f64| of(&any).min(of(&keeping));
        let keeping = Bounds {
            isolation: least(|it| it.isolation),
            pooled_capacity: least(|it| it.pooled_capacity),
            linear_program: least(|it| it.linear_program),
        };
        Self { any, keeping }
    }

    /// The bounds as columns: those of [`Class::Any`] in the order of [`Bound::ALL`], then the others.
    pub const COLUMNS: &[Column<Self>] = &[
        column!(
            "ub1_isolation",
            "Bound by isolation",
            any.isolation,
            "any scheduler: every frame runs as if it were alone"
        ),
        column!(
            "ub2_pooled_capacity",
            "Bound by pooled capacity",
            any.pooled_capacity,
            "any scheduler: all accelerators in one pool"
        ),
        column!(
            "ub3_linear_program",
            "Bound by linear program",
            any.linear_program,
            "any scheduler: linear program that divides frames between accelerators"
        ),
        column!(
            "ub1_isolation_keeping",
            "Bound by isolation, requests kept",
            keeping.isolation,
            "schedulers that keep a request where it began: every frame runs as if it were alone"
        ),
        column!(
            "ub2_pooled_capacity_keeping",
            "Bound by pooled capacity, requests kept",
            keeping.pooled_capacity,
            "schedulers that keep a request where it began: all accelerators in one pool"
        ),
        column!(
            "ub3_linear_program_keeping",
            "Bound by linear program, requests kept",
            keeping.linear_program,
            "schedulers that keep a request where it began: linear program that divides frames between accelerators"
        ),
    ];

    /// Bounds of a class.
    pub fn of(&self, class: Class) -> &Bounds {
        match class {
            Class::Any => &self.any,
            Class::Keeping => &self.keeping,
        }
    }

    /// Adds `weight` times another run's bounds: an expectation, step by step.
    pub fn add(&mut self, other: &Self, weight: f64) {
        self.any.add(&other.any, weight);
        self.keeping.add(&other.keeping, weight);
    }
}

/// Everything that bounds know of a scenario at some costs, for all of its draws but those of counts.
pub struct Routes {
    /// Indexed by [`ModelId`](xrsim_model::ids::ModelId).
    models: Vec<Vec<work::Route>>,
    n_accelerators: usize,
    settings: ScoreSettings,
}

impl Routes {
    /// Ways of all models of `scenario` through a system at `costs`, under the schedulers of a class. Where counts differ
    /// from frame to frame, they hold for the counts of `requests`.
    ///
    /// # Panics
    ///
    /// If `costs` are not of the scenario.
    pub fn new(
        scenario: &Scenario,
        costs: &CostTable,
        settings: &ScoreSettings,
        class: Class,
        requests: &RequestStream,
    ) -> Self {
        let models = work::routes(scenario, costs, settings, class, requests);
        Self { models, n_accelerators: costs.n_accelerators(), settings: *settings }
    }

    /// Bounds of the runs of `requests` of the scenario.
    ///
    /// UB2 and UB3 are computed from their duals: any prices of the accelerators' time give an upper bound (weak
    /// duality), and the solver only looks for good ones. The bounds therefore hold whatever the
    /// tolerances of the solver, and if it gives up a looser bound takes its place.
    ///
    /// # Panics
    ///
    /// If `scenario` or `requests` are not those of the routes.
    pub fn bounds(&self, scenario: &Scenario, requests: &RequestStream) -> Bounds {
        let instance = self.instance(scenario, requests);
        let isolation = instance.isolation();
        let pooled_capacity = instance.pooled_capacity().min(intervals::pooled(&instance));
        let pooled_capacity = pooled_capacity.min(isolation);
        let horizon = program::bound(&instance);
        let prices = horizon.as_ref().map(|(_, prices)| prices);
        let apart = intervals::apart(&instance, prices).min(groups::bound(&instance));
        let linear_program = horizon.as_ref().map_or(f64::INFINITY, |(bound, _)| *bound);
        let linear_program = linear_program.min(apart).min(pooled_capacity);
        let outward = |bound| outward(bound, instance.n_frames());
        Bounds {
            isolation: outward(isolation),
            pooled_capacity: outward(pooled_capacity),
            linear_program: outward(linear_program),
        }
    }

    /// UB1 alone, with the same arguments; cheaper than all bounds.
    ///
    /// # Panics
    ///
    /// If `scenario` or `requests` are not those of the routes.
    pub fn isolation(&self, scenario: &Scenario, requests: &RequestStream) -> f64 {
        let instance = self.instance(scenario, requests);
        outward(instance.isolation(), instance.n_frames())
    }

    fn instance<'a>(&'a self, scenario: &Scenario, requests: &'a RequestStream) -> Instance<'a> {
        Instance::new(scenario, &self.models, self.n_accelerators, requests, &self.settings)
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
