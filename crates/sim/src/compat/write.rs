//! The two CSV files of the artifact, byte for byte (rules R11 and R13).

use std::io::{self, Write};

use xrsim_model::ids::AccelId;
use xrsim_model::scenario::Scenario;

use super::engine::{Fate, History};
use super::lower::Inputs;
use super::score::Tallies;

const SCHEDULE_HEADER: &str = "AcceleratorID,Model Name,Frame ID,Injection Time (ms),\
    Dispatch Time (ms),Deadline Time (ms),Completion Time (ms),Violated Deadline Amount (ms),\
    Energy (mJ)";
const SUMMARY_HEADER: &str = "Model Name,Real-time Score,Energy Score,User-Experience Score";

/// Writes executed requests by accelerator, and for each accelerator in order of the log. Dropped
/// requests are not in the file.
pub(super) fn schedule(
    scenario: &Scenario,
    inputs: &Inputs,
    history: &History,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{SCHEDULE_HEADER}")?;
    for accelerator in (0..inputs.n_accelerators).map(AccelId::new) {
        for id in &history.log {
            let request = &history.requests[id.index()];
            match request.fate {
                Fate::Executed(execution) if execution.accelerator == accelerator => writeln!(
                    out,
                    "{},{},{},{:.6},{:.6},{:.6},{:.6},{:.6},{:.6}",
                    accelerator.index(),
                    scenario.model(request.model).unit.network.name(),
                    request.frame,
                    request.injection_ms,
                    execution.dispatch_ms,
                    request.deadline_ms,
                    execution.completion_ms,
                    execution.completion_ms - request.deadline_ms,
                    inputs.cost(request.model, accelerator).energy_mj,
                )?,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Writes the scores of the listed models in order of name, then the overall score.
pub(super) fn summary(
    scenario: &Scenario,
    inputs: &Inputs,
    tallies: &Tallies,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{SUMMARY_HEADER}")?;
    for &model in &inputs.by_name {
        let tally = &tallies.models[model.index()];
        if tally.is_listed() {
            writeln!(
                out,
                "{},{:.6},{:.6},{:.6}",
                scenario.model(model).unit.network.name(),
                tally.mean_realtime(),
                tally.mean_energy(),
                tally.qoe(),
            )?;
        }
    }
    writeln!(out, "Overall Score,{:.6}", tallies.overall)
}

#[cfg(test)]
mod tests {
    use crate::compat::fixture::{model, replay};

    #[test]
    fn the_schedule_lists_executed_requests_by_accelerator() {
        let models =
            [model("a", 3.0, &[400.0, 400.0]), model("b", 3.0, &[1.5, 2.5]).energy_mj(0.25)];
        let mut schedule = Vec::new();
        replay(&models, 1).write_schedule(&mut schedule).unwrap();
        // a0 occupies the first accelerator and ends too late to be logged, so b0 and b1 run on the second.
        let expected = "AcceleratorID,Model Name,Frame ID,Injection Time (ms),Dispatch Time (ms),\
                        Deadline Time (ms),Completion Time (ms),Violated Deadline Amount (ms),\
                        Energy (mJ)\n\
                        1,b,0,0.000000,0.000000,333.000000,2.500000,-330.500000,0.250000\n";
        assert_eq!(String::from_utf8(schedule).unwrap(), expected);
    }
}
