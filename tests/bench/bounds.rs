//! Speed of the upper bounds, and how tight they are: the 182 configurations of the study with the
//! layer costs of the published artifact, 30 replications of each.
//!
//! ```text
//! cargo bench --bench bounds
//! ```

use std::sync::Arc;
use std::time::{Duration, Instant};

use xrsim::bounds::window::Windows;
use xrsim::bounds::{Bounds, Class, gap};
use xrsim::config::{Catalog, Edition, Hardware};
use xrsim::cost::library::CostLibrary;
use xrsim::cost::{self, CostTable};
use xrsim::engine;
use xrsim::load::LoadSettings;
use xrsim::plan::Plan;
use xrsim::schedule::{self, Policy};
use xrsim::units::SimSpan;

const REPLICATIONS: u64 = 30;

fn main() {
    let plans = plans();
    for class in [Class::Keeping, Class::Any] {
        let mut sums = [0.0; 3];
        let mut time = Duration::ZERO;
        for (plan, costs) in &plans {
            let requests = plan.requests().expect("the load is small");
            let start = Instant::now();
            let of = Bounds::compute(&plan.scenario, costs, &requests, &plan.score, class);
            time += start.elapsed();
            sums.iter_mut().zip(of.values()).for_each(|(sum, bound)| *sum += bound);
        }
        let n = plans.len() as f64;
        let [isolation, pooled, program] = sums.map(|sum| 100.0 * sum / n);
        println!(
            "{class:?}: {n} bounds in {:.2} s, {:.0} us each; means UB1 {isolation:.2}, \
             UB2 {pooled:.2}, UB3 {program:.2}",
            time.as_secs_f64(),
            time.as_secs_f64() * 1e6 / n,
        );
    }
    let firsts: Vec<_> = plans.iter().step_by(REPLICATIONS as usize).collect();
    for n_frames in [4, 6] {
        print_windows(&firsts, n_frames);
    }
    for entry in schedule::ALL {
        let mut total = 0.0;
        let mut gaps = 0.0;
        for (plan, costs) in firsts.iter().copied() {
            let plan = Plan { scheduler: Policy::from_entry(entry), ..plan.clone() };
            let requests = plan.requests().expect("the load is small");
            let run = engine::run(&plan, costs, &requests).expect("the policy does not fail");
            let score = plan.score(&run.trace).total.score_executed_mean;
            let bounds =
                Bounds::compute(&plan.scenario, costs, &requests, &plan.score, Class::Keeping);
            total += 100.0 * score / firsts.len() as f64;
            gaps += 100.0 * gap(bounds.linear_program, score) / firsts.len() as f64;
        }
        println!("{:>16}: mean score {total:.2}, mean gap {gaps:.2} %", entry.name);
    }
}

/// Mean over the first replications of the optima of windows of `n_frames`, and of what is smaller, they
/// or UB3.
fn print_windows(plans: &[&(Plan, Arc<CostTable>)], n_frames: usize) {
    let start = Instant::now();
    let (mut windows, mut both) = (0.0, 0.0);
    for (plan, costs) in plans {
        let requests = plan.requests().expect("the load is small");
        let of = Windows::new(&plan.scenario, costs, &requests, &plan.score, SimSpan::ZERO);
        let optima = of.bound(n_frames).expect("the windows are small");
        let bounds = Bounds::compute(&plan.scenario, costs, &requests, &plan.score, Class::Keeping);
        windows += 100.0 * optima / plans.len() as f64;
        both += 100.0 * optima.min(bounds.linear_program) / plans.len() as f64;
    }
    let time = start.elapsed().as_secs_f64();
    println!("windows of {n_frames}: mean {windows:.2}, or UB3 if smaller {both:.2}, {time:.1} s");
}

/// Every configuration, replication by replication.
fn plans() -> Vec<(Plan, Arc<CostTable>)> {
    let mut catalog = Catalog::with_networks(Edition::Artifact);
    let suite = catalog.suite().expect("the suite is embedded");
    let platform = catalog.platform("artifact").expect("the platform is embedded");
    let entry = cost::ALL.iter().find(|entry| entry.name == "maestro").expect("it exists");
    let model = (entry.build.expect("it needs no data"))();
    let mut plans = Vec::new();
    for name in &suite.scenarios {
        let scenario = catalog.scenario(name, Edition::Reference).expect("it is embedded");
        for &pes in &suite.pes {
            for name in &suite.systems {
                let Ok(Hardware::Style(style)) = catalog.hardware(name) else { continue };
                let system = Arc::new(style.instantiate(pes, &platform).expect("it is legal"));
                let library = CostLibrary::evaluate(&*model, [(&*scenario, &*system)]);
                let costs = library.table(&scenario, &system).expect("everything can run");
                let costs = Arc::new(costs);
                let plan = Plan::new(Arc::clone(&scenario), system);
                plans.extend((0..REPLICATIONS).map(|replication| {
                    let load = LoadSettings { replication, ..LoadSettings::default() };
                    (Plan { load, ..plan.clone() }, Arc::clone(&costs))
                }));
            }
        }
    }
    plans
}
