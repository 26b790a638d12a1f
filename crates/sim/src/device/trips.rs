//! Trips: limits that the temperature of a node sets.

use xrsim_model::hardware::device::{Points, Trip, TripAction};
use xrsim_model::ids::PointId;

/// Trips of a device, and their state. Temperatures are read at ticks.
#[derive(Debug, Clone, PartialEq)]
pub struct Trips {
    trips: Vec<(Trip, State)>,
    /// Most steps: the number of operating points less one.
    most_steps: usize,
    limit: Limit,
}

/// State of a trip.
#[derive(Debug, Clone, Copy, PartialEq)]
struct State {
    /// Temperature at the last tick, or at time 0 \[C\].
    before_c: f64,
    /// Steps below the highest point; 1 while a trip of another kind acts.
    level: usize,
}

/// What trips allow.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limit {
    /// Operating points less than the highest one.
    pub steps: usize,
    /// Highest clock \[MHz\].
    pub clock_mhz: Option<f64>,
    /// Whether nothing starts.
    pub halt: bool,
}

impl Limit {
    /// The highest point that is allowed of those with these clocks \[MHz\], which ascend: its index. The lowest one
    /// is always allowed.
    pub fn highest(
        &self,
        clocks_mhz: impl IntoIterator<Item = f64, IntoIter: ExactSizeIterator>,
    ) -> usize {
        let clocks = clocks_mhz.into_iter();
        let by_steps = clocks.len().saturating_sub(1).saturating_sub(self.steps);
        let Some(most) = self.clock_mhz else { return by_steps };
        let slow_enough = clocks.take_while(|clock| *clock <= most).count();
        by_steps.min(slow_enough.saturating_sub(1))
    }

    /// The highest of these points that is allowed.
    pub fn highest_of(&self, points: &Points) -> PointId {
        PointId::new(self.highest(points.all().iter().map(|point| point.clock.as_mhz())))
    }

    /// Whether it takes something from an accelerator with these points.
    pub fn takes_from(&self, points: &Points) -> bool {
        self.halt || self.highest_of(points) != points.highest()
    }
}

impl Trips {
    /// None of `trips` acts. Nodes have these temperatures \[C\]; accelerators have up to `n_points` operating points.
    pub fn new(trips: &[Trip], temperatures: &[f64], n_points: usize) -> Self {
        let state = |trip: &Trip| State { before_c: temperatures[trip.node.index()], level: 0 };
        Self {
            trips: trips.iter().map(|trip| (trip.clone(), state(trip))).collect(),
            most_steps: n_points.saturating_sub(1),
            limit: Limit::default(),
        }
    }

    /// Reads the temperatures of nodes \[C\] at a tick.
    pub fn tick(&mut self, temperatures: &[f64]) {
        for (trip, state) in &mut self.trips {
            let now_c = temperatures[trip.node.index()];
            let (is_hot, is_cool) = (now_c >= trip.at_c, now_c < trip.at_c - trip.hysteresis_k);
            let level = match (is_hot, is_cool) {
                (_, true) => state.level.saturating_sub(1),
                (true, _) if trip.action != TripAction::Step => 1,
                (true, _) if now_c >= state.before_c => (state.level + 1).min(self.most_steps),
                _ => state.level,
            };
            *state = State { before_c: now_c, level };
        }
        self.limit = self.trips.iter().fold(Limit::default(), with);
    }

    /// What they allow from the last tick on: the least that any accelerator is allowed.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// What those of these places allow.
    pub fn limit_of(&self, places: &[usize]) -> Limit {
        places.iter().map(|&place| &self.trips[place]).fold(Limit::default(), with)
    }
}

/// `limit` with that of one more trip.
fn with(limit: Limit, (trip, state): &(Trip, State)) -> Limit {
    match trip.action {
        TripAction::Step => Limit { steps: limit.steps.max(state.level), ..limit },
        _ if state.level == 0 => limit,
        TripAction::Cap(mhz) => {
            Limit { clock_mhz: Some(limit.clock_mhz.map_or(mhz, |it| it.min(mhz))), ..limit }
        }
        TripAction::Halt => Limit { halt: true, ..limit },
    }
}
