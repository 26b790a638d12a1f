//! Requests that run another network than that of their model.

use std::sync::Arc;

use xrsim::bounds::Bounds;
use xrsim::cost::library::CostLibrary;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::ids::{AccelId, ModelId, RequestId, WorkId};
use xrsim::load::RequestStream;
use xrsim::schedule::Class;
use xrsim::trace::Outcome;
use xrsim::units::SimTime;
use xrsim::{Experiment, Plan, Scenario, engine};

/// A run whose first model has a second variant: two images at once.
fn plan() -> Plan {
    let experiment = Experiment::new().scenario("VR_gaming").system("A").pes(4096);
    let prepared = experiment.prepare().expect("it is embedded");
    let plan = prepared.plans().next().expect("it is one run").clone();
    let mut models = plan.scenario.models().to_vec();
    let twice = models[0].unit.network.batched(2).expect("it has batches");
    models[0].variants = vec![Arc::new(twice)];
    let streams = plan.scenario.streams().to_vec();
    let scenario = Scenario::new("twice", streams, models).expect("it is valid");
    Plan { scenario: Arc::new(scenario), ..plan }
}

/// Of two requests of the first model at 0, the second one runs the second variant.
#[test]
fn a_request_takes_the_time_of_its_variant() {
    let plan = plan();
    let (scenario, system) = (&*plan.scenario, &*plan.system);
    let library = CostLibrary::evaluate(&LoopNest, [(scenario, system)]);
    let costs = library.offers(scenario, system).expect("all of it runs");
    let (model, place) = (ModelId::new(0), AccelId::new(0));
    let second = costs.variant(model, 1).expect("it has a row");
    assert_eq!(
        (costs.n_works(), costs.n_models()),
        (scenario.models().len() + 1, costs.n_models())
    );
    assert_eq!((costs.model_of(second), costs.batch_of(second)), (model, 1));
    assert_eq!([costs.variant(model, 2), costs.work(model, 2)], [None, None]);
    let latency = |work: WorkId, place| costs.on(work, place).latency();
    assert!(latency(model.into(), place) < latency(second, place));

    let mut requests = plan.requests().expect("they are few").requests().to_vec();
    requests.retain(|it| it.model == model);
    requests.truncate(2);
    for (index, request) in requests.iter_mut().enumerate() {
        *request = request.with_variant(index as u32);
        request.arrival = SimTime::ZERO;
    }
    let stream = RequestStream::new(requests, &[]);
    let trace = engine::run(&plan, &costs, &stream).expect("it runs").trace;
    for (id, work) in [(0, model.into()), (1, second)] {
        match trace.record(RequestId::new(id)).outcome {
            Outcome::Executed { accelerator, start, end, .. } => {
                assert_eq!(end - start, latency(work, accelerator));
            }
            _ => panic!("it ran"),
        }
    }
    assert_eq!([0, 1].map(|id| trace.variant_of(RequestId::new(id))), [0, 1]);
    let score = plan.score(&trace).models[0].score_executed_mean;
    for class in [Class::Any, Class::Keeping] {
        let bounds = Bounds::compute(scenario, &costs, &stream, &plan.score, class);
        assert!(bounds.values().iter().all(|bound| *bound >= score));
    }
}
