// A sweep: the size of a system and the steepness of the real-time score, in 5 replications.
//
//     cargo run --release --example sweep

use xrsim::{Experiment, ExperimentError};

const REPLICATIONS: usize = 5;

fn main() -> Result<(), ExperimentError> {
    let runs = Experiment::new()
        .scenario("social_interactionA")
        .system("J")
        .scheduler("edf")
        .vary("score.k_per_ms", [1, 15])
        .vary("pes", [2048, 4096, 8192])
        .replications(REPLICATIONS as u64)
        .seed(7)
        .run()?;
    println!("k [1/ms]   PEs  score (mean of {REPLICATIONS})  energy [mJ]");
    for replications in runs.chunks(REPLICATIONS) {
        let (mut score, mut energy_mj) = (0.0, 0.0);
        for run in replications {
            let total = &run.scorecard()?.total;
            score += total.score / REPLICATIONS as f64;
            energy_mj += total.counts.energy.get() / REPLICATIONS as f64;
        }
        let plan = &replications[0].plan;
        let (k, pes) = (plan.score.k_per_ms, plan.system.pes());
        println!("{k:>8} {pes:>5}  {score:>17.3}  {energy_mj:>11.0}");
    }
    Ok(())
}
