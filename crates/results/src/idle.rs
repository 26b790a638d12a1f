//! Energy of accelerators while they idle, in words.

use xrsim_model::units::Millijoules;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::Scored;

use super::span::Span;

/// Energy that the accelerators of a run use while they idle; `None` if their files give none.
pub fn idle_energy_of(plan: &Plan, result: &Scored) -> Option<Millijoules> {
    let energy = result.usage.idle_energy(plan.system.accelerators());
    (energy > Millijoules::ZERO).then_some(energy)
}

/// Least and largest energy of idle accelerators in the runs of a table \[mJ\].
#[derive(Debug, Default)]
pub struct IdleEnergies(Span<f64>);

impl IdleEnergies {
    /// Adds a run.
    pub fn take(&mut self, plan: &Plan, result: &Scored) {
        idle_energy_of(plan, result).into_iter().for_each(|energy| self.0.hold(energy.get()));
    }

    /// A line; empty if no accelerator has an energy for idling.
    pub fn note(&self) -> String {
        if self.0.is_empty() {
            return String::new();
        }
        let range = self.0.words(|it| format!("{it:.1}"));
        format!(
            "note: idle accelerators use {range} mJ in a run (idle_per_cycle); no score counts this energy\n"
        )
    }
}
