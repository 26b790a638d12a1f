// A cost model of one's own, compared with the closed form of loop nests.
//
//     cargo run --release --example own_cost_model

use xrsim::{
    Accelerator, CostModel, Experiment, ExperimentError, Infeasible, LayerCost, Operator, Runs,
};

/// Every PE does one multiply-accumulate in every cycle, and memory is free.
struct PeakCompute;

impl CostModel for PeakCompute {
    fn layer(&self, operator: &Operator, at: &Accelerator) -> Result<LayerCost, Infeasible> {
        let macs = operator.macs();
        let cycles = macs.div_ceil(at.pes.into()).max(1);
        let energy_nj = macs as f64 * at.energy.mac_nj;
        Ok(LayerCost { cycles, energy_nj, ..LayerCost::default() })
    }
}

fn print(name: &str, runs: &Runs) -> Result<(), ExperimentError> {
    for run in runs {
        let score = run.scorecard()?.total.score;
        println!("{name:>12}: {:>4} PEs score {score:.3}", run.label().pes);
    }
    Ok(())
}

fn main() -> Result<(), ExperimentError> {
    let experiment = Experiment::new().scenario("AR_gaming").system("J").pes(4096).pes(8192);
    print("loop-nest", &experiment.run()?)?;
    print("peak compute", &experiment.cost_model(PeakCompute).run()?)
}
