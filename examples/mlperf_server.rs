// The highest rate of a simulated system that passes the server test of MLPerf Inference.
//
//     cargo run --release --example mlperf_server

use std::error::Error;

use xrsim::Catalog;
use xrsim::cost::loop_nest::LoopNest;
use xrsim::experiment::system;
use xrsim::mlperf::LoadScenario;
use xrsim::mlperf::benchmark::{AcceleratorBed, TestOptions, run_test};
use xrsim::mlperf::rules::Round;
use xrsim::mlperf::sut::{Batching, Tenant};
use xrsim::units::SimSpan;

fn main() -> Result<(), Box<dyn Error>> {
    let suite = Catalog::new().mlperf_suite("inference_v0.5")?;
    let test = suite.test("image_classification_light", LoadScenario::Server);
    let test = test.ok_or("the suite has the test")?;
    let mut options = TestOptions::new(Round::find("v0.5").ok_or("the round is known")?);
    // Shorter than the rules demand, for a quick answer.
    options.min_queries = Some(2_000);
    options.min_duration = SimSpan::from_ms(1_000.0);
    let on = system("A", 4096)?;
    for max in [1, 8] {
        let tenant = Tenant::of_test(test, Batching { max, wait: SimSpan::ZERO });
        let bed = AcceleratorBed::builder(on.clone(), &LoopNest).tenant(tenant).build()?;
        let result = run_test(test, &options, &bed)?;
        println!(
            "batches of up to {max}: {:.1} queries/s, 99th percentile {:.2} ms",
            result.settings.target_qps,
            result.performance().latency.target.as_ms(),
        );
    }
    Ok(())
}
