//! Small scenarios, systems and plans for tests of the runtime, built by hand: no files, no cost
//! model. The tests give the latencies.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use xrsim::cost::{CostTable, NetworkCost};
use xrsim::dataflow::{Axis, ClusterLevel, Dataflow, Directive};
use xrsim::engine::{self, Run};
use xrsim::hardware::{Accelerator, Memory, Noc, NocLevel, System};
use xrsim::ids::{AccelId, FrameId, ModelId, StreamId};
use xrsim::load::RequestStream;
use xrsim::model::{ConvShape, Layer, Network};
use xrsim::plan::{Plan, Semantics};
use xrsim::scenario::{ActiveModel, Dependency, DependencyKind, InputStream, Scenario, UnitModel};
use xrsim::schedule::Policy;
use xrsim::trace::{DropReason, Outcome, Record, Trace};
use xrsim::units::{Bytes, Cycles, FrameRate, SimSpan, SimTime};

/// Instant `ms` milliseconds after the start.
pub fn at_ms(ms: f64) -> SimTime {
    SimTime::ZERO + span_ms(ms)
}

/// Span of `ms` milliseconds.
pub fn span_ms(ms: f64) -> SimSpan {
    SimSpan::from_ms(ms).expect("a span of a test is in range")
}

/// Rate of `fps` frames per second.
pub fn rate(fps: f64) -> FrameRate {
    FrameRate::from_fps(fps).expect("a rate of a test is in range")
}

/// A sensor without initial latency and jitter.
pub fn sensor(name: &str, fps: f64) -> InputStream {
    InputStream::new(name, rate(fps))
}

/// Camera and lidar of Table 3, and the microphone: streams 0, 1 and 2.
pub fn table_3() -> Vec<InputStream> {
    [("camera", 60.0, 0.05), ("lidar", 60.0, 0.05), ("microphone", 3.0, 0.1)]
        .map(|(name, fps, jitter_ms)| InputStream {
            max_jitter: span_ms(jitter_ms),
            ..sensor(name, fps)
        })
        .into()
}

/// A model that reads nothing and depends on nothing.
pub fn model(task: &str, fps: f64) -> ActiveModel {
    ActiveModel::new(UnitModel::new(task, network(task)), rate(fps))
}

/// A network of one layer. The tests give its cost.
fn network(name: &str) -> Arc<Network> {
    let layer = Layer::new("layer", ConvShape::UNIT);
    Arc::new(Network::new(name, vec![layer]).expect("one layer is a network"))
}

/// The same model with these input streams, the primary one first.
pub fn reading(streams: &[usize], mut model: ActiveModel) -> ActiveModel {
    model.inputs = streams.iter().copied().map(StreamId::new).collect();
    model
}

/// The same model with one more data dependency.
pub fn after(upstream: usize, model: ActiveModel) -> ActiveModel {
    depending(upstream, DependencyKind::Data, model)
}

/// The same model with one more control dependency.
pub fn triggered_by(upstream: usize, probability: f64, model: ActiveModel) -> ActiveModel {
    depending(upstream, DependencyKind::Control { probability }, model)
}

fn depending(upstream: usize, kind: DependencyKind, mut model: ActiveModel) -> ActiveModel {
    let upstream = ModelId::new(upstream);
    model.dependencies.push(Dependency { upstream, kind });
    model
}

/// A scenario that is valid.
pub fn scenario(streams: Vec<InputStream>, models: Vec<ActiveModel>) -> Scenario {
    Scenario::new("test", streams, models).expect("the scenario of a test is good")
}

/// Latency [ns] and energy [nJ] of a model on an accelerator.
pub type Cost = (u64, f64);

/// A table of costs, `[model][accelerator]`.
pub fn table(costs: &[Vec<Cost>]) -> CostTable {
    let cells = costs.iter().flatten().map(|&(latency_ns, energy_nj)| {
        Arc::new(NetworkCost {
            layers: Vec::new(),
            cycles: Cycles::new(latency_ns),
            latency: SimSpan::from_ns(latency_ns),
            energy_nj,
            choices: None,
            spread: None,
        })
    });
    CostTable::new(cells.collect(), costs[0].len())
}

/// A table of latencies [ms], `[model][accelerator]`; a run takes 1 mJ.
pub fn table_ms<const N: usize>(latencies_ms: &[[f64; N]]) -> CostTable {
    let cost = |ms: f64| (span_ms(ms).ns(), 1e6);
    let rows: Vec<_> = latencies_ms.iter().map(|row| row.map(cost).to_vec()).collect();
    table(&rows)
}

/// A system of `n` accelerators that differ in name only.
pub fn system(n: usize) -> System {
    let accelerators = (0..n).map(|index| accelerator(&format!("accelerator {index}")));
    System::new("test", accelerators.collect()).expect("the system of a test is good")
}

fn accelerator(name: &str) -> Accelerator {
    let spatial = Directive::spatial(1, 1, Axis::K);
    let level = ClusterLevel { units: None, directives: vec![spatial] };
    let dataflow = Dataflow::new("test", vec![level]).expect("a spatial map is enough");
    let memory = Memory::new(Bytes::new(1), Bytes::new(1), 1);
    Accelerator::new(name, Arc::new(dataflow), 1, Noc::uniform(NocLevel::new(1)), memory)
}

/// A plan with the costs of its models on its accelerators.
#[derive(Debug, Clone)]
pub struct Case {
    pub plan: Plan,
    pub costs: Arc<CostTable>,
}

impl Deref for Case {
    type Target = Plan;

    fn deref(&self) -> &Plan {
        &self.plan
    }
}

impl DerefMut for Case {
    fn deref_mut(&mut self) -> &mut Plan {
        &mut self.plan
    }
}

impl Case {
    /// The same run under another scheduler.
    pub fn scheduled(mut self, scheduler: Policy) -> Self {
        self.plan.scheduler = scheduler;
        self
    }
}

/// A run of `scenario` on accelerators of these `costs` with defaults for everything else.
pub fn plan(scenario: Scenario, costs: CostTable) -> Case {
    let system = system(costs.n_accelerators());
    Case { plan: Plan::new(Arc::new(scenario), Arc::new(system)), costs: Arc::new(costs) }
}

/// The same plan under these semantics.
pub fn under(semantics: Semantics, plan: &Plan) -> Plan {
    Plan { semantics, ..plan.clone() }
}

/// The same plan under another policy.
pub fn by(scheduler: &str, plan: Case) -> Case {
    plan.scheduled(Policy::parse(scheduler).expect("a policy of a test exists"))
}

/// The same plan for `ms` milliseconds.
pub fn lasting_ms(ms: f64, mut plan: Case) -> Case {
    plan.load.duration = span_ms(ms);
    plan
}

/// The requests of a plan.
pub fn requests(plan: &Plan) -> RequestStream {
    plan.requests().expect("the load of a test is small")
}

/// Runs a plan.
pub fn run(plan: &Case) -> Run {
    engine::run(plan, &plan.costs, &requests(plan)).expect("policies of this program do not fail")
}

/// The trace of a plan.
pub fn trace(plan: &Case) -> Trace {
    run(plan).trace
}

/// The record of a frame of a model.
pub fn record(trace: &Trace, model: usize, frame: usize) -> &Record {
    let (model, frame) = (ModelId::new(model), FrameId::new(frame));
    let mut records = trace.records().iter();
    let found = records.find(|record| record.model == model && record.frame == frame);
    found.expect("the frame was released")
}

/// Accelerator, start [ms] and end [ms] of a frame that was executed.
pub fn execution(trace: &Trace, model: usize, frame: usize) -> (usize, f64, f64) {
    match record(trace, model, frame).outcome {
        Outcome::Executed { accelerator, start, end, .. } => {
            (accelerator.index(), start.as_ms(), end.as_ms())
        }
        other => panic!("frame {frame} of model {model}: {other:?}"),
    }
}

/// Time [ms] and reason of a frame that was dropped.
pub fn dropped(trace: &Trace, model: usize, frame: usize) -> (f64, DropReason) {
    match record(trace, model, frame).outcome {
        Outcome::Dropped { at, reason, .. } => (at.as_ms(), reason),
        other => panic!("frame {frame} of model {model}: {other:?}"),
    }
}

/// Executions on every accelerator, in order of start: start and end.
pub fn occupancy(trace: &Trace, n_accelerators: usize) -> Vec<Vec<(SimTime, SimTime)>> {
    let mut busy = vec![Vec::new(); n_accelerators];
    for interval in trace.busy_intervals() {
        let end = interval.end.expect("every run of the engine ends");
        busy[interval.accelerator.index()].push((interval.start, end));
    }
    busy.iter_mut().for_each(|executions| executions.sort());
    busy
}

/// SHA-256 of everything in a trace, as hexadecimal digits.
pub fn digest(trace: &Trace) -> String {
    let mut hash = Sha256::new();
    for record in trace.records() {
        for field in fields(record) {
            hash.update(field.to_le_bytes());
        }
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fields(record: &Record) -> [u64; 9] {
    let outcome = match record.outcome {
        Outcome::Executed { accelerator, start, end, energy } => {
            [1, accelerator.index() as u64, start.ns(), end.ns(), energy.get().to_bits()]
        }
        Outcome::Dropped { at, reason, energy, .. } => {
            [2, reason as u64, at.ns(), 0, energy.get().to_bits()]
        }
        Outcome::NotTriggered => [3, 0, 0, 0, 0],
        Outcome::NotCaptured(absence) => [5, absence as u64, 0, 0, 0],
        Outcome::Lost { attempt } => [4, attempt.is_some().into(), 0, 0, 0],
    };
    let request = [
        record.model.index() as u64,
        record.frame.index() as u64,
        record.arrival.ns(),
        record.deadline.ns(),
    ];
    std::array::from_fn(|index| match index {
        0..4 => request[index],
        _ => outcome[index - 4],
    })
}

/// VR gaming of Table 2 (HT 45, ES 60, GE 60 after ES) with three more models of AR gaming and the
/// outdoor activities, so that six models contend: DE 30, KD 3, SR 3 triggered by KD.
pub fn six_models() -> Scenario {
    scenario(
        table_3(),
        vec![
            reading(&[0], model("HT", 45.0)),
            reading(&[0], model("ES", 60.0)),
            after(1, reading(&[0], model("GE", 60.0))),
            reading(&[0], model("DE", 30.0)),
            reading(&[2], model("KD", 3.0)),
            triggered_by(4, 0.5, reading(&[2], model("SR", 3.0))),
        ],
    )
}

/// Costs of [`six_models`] on four accelerators, two fast and two slow; about 90 % busy.
pub fn six_models_table() -> CostTable {
    let latencies_ms = [12.0, 6.0, 5.0, 21.0, 15.0, 180.0];
    let slowness = [1.0, 1.3, 2.6, 3.1];
    let row = |ms: f64| {
        let cost = |slow: f64| (span_ms(ms * slow).ns(), 1e6 * ms * (2.0 - slow / 4.0));
        slowness.map(cost).to_vec()
    };
    table(&latencies_ms.map(row))
}

/// Every accelerator of a plan.
pub fn accelerators(plan: &Plan) -> impl Iterator<Item = AccelId> {
    (0..plan.system.accelerators().len()).map(AccelId::new)
}
