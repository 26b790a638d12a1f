//! Energy of accelerators while they idle, in words.

use xrsim_model::units::Millijoules;
use xrsim_sim::metrics::idle_energy;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

/// Energy that the accelerators of a run use while they idle; `None` if their files give none.
pub fn idle_energy_of(plan: &Plan, result: &RunResult) -> Option<Millijoules> {
    let energy = idle_energy(&result.trace, plan.system.accelerators());
    (energy > Millijoules::ZERO).then_some(energy)
}

/// Least and largest energy of idle accelerators in the runs of a table.
#[derive(Debug, Default)]
pub struct IdleEnergies(Option<[Millijoules; 2]>);

impl IdleEnergies {
    /// Adds a run.
    pub fn take(&mut self, plan: &Plan, result: &RunResult) {
        let Some(energy) = idle_energy_of(plan, result) else { return };
        let [least, largest] = self.0.unwrap_or([energy; 2]);
        let wider = [
            if energy < least { energy } else { least },
            if energy > largest { energy } else { largest },
        ];
        self.0 = Some(wider);
    }

    /// A line; empty if no accelerator has an energy for idling.
    pub fn note(&self) -> String {
        let Some(ends) = self.0 else { return String::new() };
        let [least, largest] = ends.map(|it| format!("{:.1}", it.get()));
        let range = if least == largest { least } else { format!("{least} to {largest}") };
        format!(
            "note: idle accelerators use {range} mJ in a run (idle_per_cycle); no score counts this energy\n"
        )
    }
}
