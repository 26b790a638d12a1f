//! Replay of the runtime of the published artifact: semantics `mlsys2023`.
//!
//! The artifact departs from the paper in its control flow. It is therefore replayed by a small second
//! engine, and [`crate::engine`] has no switches for it; [`quirks`] lists the departures. The rules R1 to
//! R14 are stated in docs/explanation/artifact-runtime.md: costs and inputs (R1, R2), periods and window (R3), random
//! numbers (R4), the loop of injection, retirement, drop, dispatch and advance (R5 to R9), its end (R10),
//! the schedule file (R11), scores (R12), the summary file (R13), and the means of the figures (R14).
//!
//! The module knows no files and no cost model; the caller passes the costs.

mod engine;
mod expf;
mod lower;
pub mod quirks;
mod rand;
mod score;
mod write;

use std::io::{self, Write};
use std::sync::Arc;

use crate::plan::Plan;
use crate::score::{InferenceScore, Scorecard};
use xrsim_model::cost::CostTable;
use xrsim_model::ids::FrameId;
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::{Attempt, DropReason, Outcome, Record, Trace};
use xrsim_model::units::{Millijoules, SimTime};

use engine::{Execution, Fate, History, Request};
use lower::Inputs;
use score::Tallies;

pub use lower::CompatError;

/// Replays `plan` as the artifact would have run it with `srand(seed)`. The artifact itself takes the time
/// of day as its seed.
///
/// The scenario, the system, the trigger probability and the quirks that are left out come from the
/// plan. The rest of its load, its engine settings, scheduler and score parameters are ignored, because
/// the artifact has its own.
///
/// # Errors
///
/// [`CompatError`] if the artifact cannot express the scenario.
pub fn run(plan: &Plan, costs: &CostTable, seed: u32) -> Result<Replay, CompatError> {
    let inputs = Inputs::lower(plan, costs)?;
    let history = engine::replay(&inputs, seed);
    Ok(Replay {
        scenario: Arc::clone(&plan.scenario),
        tallies: Tallies::from_history(&inputs, &history),
        inputs,
        history,
    })
}

/// A finished replay.
#[derive(Debug, Clone)]
pub struct Replay {
    scenario: Arc<Scenario>,
    inputs: Inputs,
    history: History,
    tallies: Tallies,
}

impl Replay {
    /// Trace with a record of every frame of the window, in order of injection. Times are rounded from
    /// single-precision milliseconds to nanoseconds.
    ///
    /// Deviation: two records can overlap on one accelerator by up to 0.01 ms, see `early-retire` in
    /// [`quirks::ALL`].
    pub fn trace(&self) -> Trace {
        let records = self.history.requests.iter();
        Trace::new(records.map(|request| self.record(request)).collect())
    }

    /// Unit scores of every request of [`Replay::trace`]; `None` for requests that were not executed. Energy
    /// scores are negative above 1500 mJ.
    pub fn inferences(&self) -> Vec<Option<InferenceScore>> {
        let requests = self.history.requests.iter();
        requests.map(|request| score::inference(&self.inputs, request)).collect()
    }

    /// Scores with the denominators of the artifact, as its figures show them (rules R12 to R14): realtime,
    /// energy and qoe are plain means over the models of the scenario; score is the overall score of the
    /// artifact over 100.
    pub fn scorecard(&self) -> Scorecard {
        self.tallies.scorecard(&self.inputs, &self.history)
    }

    /// Writes the schedule file of the artifact (rule R11).
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn write_schedule(&self, out: &mut dyn Write) -> io::Result<()> {
        write::schedule(&self.scenario, &self.inputs, &self.history, out)
    }

    /// Writes the summary file of the artifact (rule R13).
    ///
    /// # Errors
    ///
    /// The error of `out`.
    pub fn write_summary(&self, out: &mut dyn Write) -> io::Result<()> {
        write::summary(&self.scenario, &self.inputs, &self.tallies, out)
    }

    fn record(&self, request: &Request) -> Record {
        Record {
            model: request.model,
            frame: FrameId::new(request.frame as usize),
            arrival: instant(request.injection_ms),
            deadline: instant(request.deadline_ms),
            outcome: self.outcome(request),
        }
    }

    fn outcome(&self, request: &Request) -> Outcome {
        match request.fate {
            Fate::NotTriggered => Outcome::NotTriggered,
            Fate::Waiting => Outcome::Lost { attempt: None },
            Fate::Running(Execution { accelerator, dispatch_ms, .. }) => {
                let start = instant(dispatch_ms);
                Outcome::Lost { attempt: Some(Attempt { accelerator, start }) }
            }
            Fate::Dropped(at_ms) => Outcome::Dropped {
                at: instant(at_ms),
                reason: DropReason::Deadline,
                energy: Millijoules::ZERO,
                attempt: None,
            },
            Fate::Executed(Execution { accelerator, dispatch_ms, completion_ms }) => {
                Outcome::Executed {
                    accelerator,
                    start: instant(dispatch_ms),
                    end: instant(completion_ms),
                    energy: self.inputs.energy(request.model, accelerator),
                }
            }
        }
    }
}

/// The nanosecond nearest to a single-precision time.
fn instant(ms: f32) -> SimTime {
    SimTime::from_ns((f64::from(ms) * 1e6).round() as u64)
}

/// Plans with given latencies for tests, and the outcomes of their requests in words.
#[cfg(test)]
mod fixture {
    use super::*;
    use xrsim_model::cost::{CostTable, NetworkCost};
    use xrsim_model::dataflow::{Axis, ClusterLevel, Dataflow, Directive};
    use xrsim_model::hardware::{Accelerator, Memory, Noc, NocLevel, System};
    use xrsim_model::ids::ModelId;

    use xrsim_model::model::{ConvShape, Layer, Network};

    use xrsim_model::scenario::{ActiveModel, Dependency, DependencyKind, UnitModel};

    use xrsim_model::units::{Bytes, Cycles, FrameRate, SimSpan};

    /// A model with its latency on each accelerator \[ms\].
    pub(super) struct TestModel {
        name: &'static str,
        fps: f64,
        latencies_ms: Vec<f64>,
        energy_mj: f64,
        dependencies: Vec<Dependency>,
    }

    pub(super) fn model(name: &'static str, fps: f64, latencies_ms: &[f64]) -> TestModel {
        TestModel {
            name,
            fps,
            latencies_ms: latencies_ms.to_vec(),
            energy_mj: 1.0,
            dependencies: Vec::new(),
        }
    }

    impl TestModel {
        pub(super) fn after(self, upstream: usize) -> Self {
            self.depending(upstream, DependencyKind::Data)
        }

        pub(super) fn triggered_by(self, upstream: usize, probability: f64) -> Self {
            self.depending(upstream, DependencyKind::Control { probability })
        }

        pub(super) fn energy_mj(mut self, energy_mj: f64) -> Self {
            self.energy_mj = energy_mj;
            self
        }

        fn depending(mut self, upstream: usize, kind: DependencyKind) -> Self {
            let upstream = ModelId::new(upstream);
            self.dependencies.push(Dependency { upstream, kind });
            self
        }

        fn active(&self) -> ActiveModel {
            let unit = UnitModel::new(self.name, Arc::new(network(self.name)));
            let mut active = ActiveModel::new(unit, FrameRate::from_fps(self.fps).unwrap());
            active.dependencies.clone_from(&self.dependencies);
            active
        }

        fn costs(&self) -> impl Iterator<Item = Arc<NetworkCost>> {
            self.latencies_ms.iter().map(|ms| {
                let cycles = (ms * 1e6).round() as u64;
                Arc::new(NetworkCost {
                    layers: Vec::new(),
                    cycles: Cycles::new(cycles),
                    latency: SimSpan::from_ns(cycles),
                    energy_nj: self.energy_mj * 1e6,
                    choices: None,
                    spread: None,
                })
            })
        }
    }

    fn network(name: &str) -> Network {
        let layers = vec![Layer::new("l", ConvShape::UNIT)];
        Network::new(name, layers).unwrap()
    }

    pub(super) fn accelerator(name: &str) -> Accelerator {
        let map = Directive::spatial(1, 1, Axis::C);
        let level = ClusterLevel { units: None, directives: vec![map] };
        let dataflow = Arc::new(Dataflow::new("flow", vec![level]).unwrap());
        let memory = Memory::new(Bytes::new(1 << 20), Bytes::new(1 << 10), 4);
        Accelerator::new(name, dataflow, 4, Noc::uniform(NocLevel::new(4)), memory)
    }

    pub(super) fn plan(models: &[TestModel]) -> (Plan, CostTable) {
        let n_accelerators = models[0].latencies_ms.len();
        let accelerators = (0..n_accelerators).map(|index| accelerator(&format!("acc{index}")));
        let active = models.iter().map(TestModel::active).collect();
        let costs = models.iter().flat_map(TestModel::costs).collect();
        let scenario = Scenario::new("test", Vec::new(), active).unwrap();
        let system = System::new("test", accelerators.collect()).unwrap();
        let costs = CostTable::new(costs, n_accelerators);
        (Plan::new(Arc::new(scenario), Arc::new(system)), costs)
    }

    pub(super) fn replay(models: &[TestModel], seed: u32) -> Replay {
        let (plan, costs) = plan(models);
        run(&plan, &costs, seed).unwrap()
    }

    /// Accelerator, start and end of an executed request.
    pub(super) fn execution(record: &Record) -> Option<(usize, SimTime, SimTime)> {
        match record.outcome {
            Outcome::Executed { accelerator, start, end, .. } => {
                Some((accelerator.index(), start, end))
            }
            _ => None,
        }
    }

    /// One line for each request: name and frame, injection and deadline, outcome; times in ms.
    pub(super) fn story(replay: &Replay) -> Vec<String> {
        let trace = replay.trace();
        let line = |record: &Record| {
            let name = replay.scenario.model(record.model).unit.network.name();
            let frame = record.frame.index();
            let (arrival, deadline) = (record.arrival.as_ms(), record.deadline.as_ms());
            let fate = match record.outcome {
                Outcome::Dropped { at, .. } => format!("dropped at {}", at.as_ms()),
                Outcome::NotTriggered => "not triggered".into(),
                Outcome::NotCaptured(_) => "not captured".into(),
                Outcome::Lost { attempt: Some(_) } => "lost running".into(),
                Outcome::Lost { attempt: None } => "lost waiting".into(),
                Outcome::Executed { accelerator, start, end, .. } => {
                    let (start, end) = (start.as_ms(), end.as_ms());
                    format!("acc {} from {start} to {end}", accelerator.index())
                }
            };
            format!("{name}{frame} {arrival}-{deadline}: {fate}")
        };
        trace.records().iter().map(line).collect()
    }
}
