//! Requests that are submitted to a run and stand for several samples of a model.

use crate::support::{layers, runs};

use std::sync::Arc;

use layers::{layer, plan, stream};
use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::engine::{RequestEvent, Session, Traced};
use xrsim::ids::{AccelId, FrameId, ModelId, RequestId};
use xrsim::load::Request;
use xrsim::trace::Outcome;
use xrsim::units::SimTime;

fn at(ns: u64) -> SimTime {
    SimTime::from_ns(ns)
}

fn network(layers_ns: &[u64]) -> Arc<NetworkCost> {
    let layers: Vec<LayerCost> = layers_ns.iter().copied().map(layer).collect();
    Arc::new(NetworkCost::of_layers(layers, &runs::system(1).accelerators()[0]))
}

/// Two models on one accelerator. A takes 10 ns. B takes 4 ns, two samples 6 ns, three 7 ns.
fn batches() -> CostTable {
    let singles = vec![network(&[10]), network(&[1, 3])];
    CostTable::new(singles, 1).with_batches(ModelId::new(1), vec![network(&[2, 4]), network(&[7])])
}

fn request(model: usize, frame: usize) -> Request {
    Request::new(ModelId::new(model), FrameId::new(frame), at(0), at(1000))
}

#[test]
fn a_cost_table_has_a_row_for_every_batch() {
    let costs = batches();
    let [a, b] = [0, 1].map(ModelId::new);
    assert_eq!((costs.n_models(), costs.n_works()), (2, 4));
    assert_eq!([costs.n_variants(a), costs.n_variants(b)], [1, 3]);
    assert_eq!(costs.work(a, 2), None);
    assert_eq!([costs.work(b, 0), costs.work(b, 4)], [None, None]);
    let latency = |batch| {
        let work = costs.work(b, batch).expect("it has a row");
        assert_eq!((costs.model_of(work), costs.batch_of(work)), (b, batch));
        (costs.on(work, AccelId::new(0)).latency().ns(), costs.n_layers(work))
    };
    assert_eq!([1, 2, 3].map(latency), [(4, 2), (6, 2), (7, 1)]);
    let slower = costs.with_latency_percent(b, 200);
    let second = slower.work(b, 2).expect("it has a row");
    assert_eq!(slower.on(second, AccelId::new(0)).latency().ns(), 12);
    assert_eq!(slower.on(a, AccelId::new(0)).latency().ns(), 10);
}

/// A runs from 0 to 10. B waits meanwhile with one sample, then with three, and takes 7 ns.
#[test]
fn a_batch_grows_until_it_starts() {
    let plan = plan(batches());
    let load = stream(&[]);
    let mut session = Session::new(&plan, &plan.costs, &load, Traced::All).expect("it starts");
    session.submit(request(0, 0), at(0));
    let batch = session.submit(request(1, 0), at(0));
    let mut events = Vec::new();
    session.play(at(0), &mut events).expect("policies of this program do not fail");
    session.set_batch(batch, 3);
    while let Some(now) = session.next_event() {
        session.play(now, &mut events).expect("policies of this program do not fail");
    }
    assert!(matches!(events[..], [RequestEvent::Executed(id, _)] if id == batch));
    let trace = session.finish().trace;
    let Outcome::Executed { start, end, .. } = trace.record(batch).outcome else {
        panic!("it ran");
    };
    assert_eq!((start, end), (at(10), at(17)));
    assert_eq!([0, 1].map(|id| trace.variant_of(RequestId::new(id)) + 1), [1, 3]);
}

#[test]
#[should_panic(expected = "the costs have all variants of the scenario")]
fn a_batch_without_costs_is_a_bug() {
    let plan = plan(batches());
    let load = stream(&[]);
    let mut session = Session::new(&plan, &plan.costs, &load, Traced::All).expect("it starts");
    session.submit(request(0, 0).with_batch(2), at(0));
    session.play(at(0), &mut Vec::new()).expect("policies of this program do not fail");
}
