//! Phases of a profile, gates while they are closed, and the trace of a run of a profile.

use std::io::{self, Write};

use serde_json::{Value, json};

use xrsim_model::units::SimTime;
use xrsim_sim::device::Section;
use xrsim_sim::load::{Closed, Phases, closed};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::day::{Day, PhaseResult};

use super::event::{DEVICE, Events, FIRST_TRACK, MAX_SAMPLES, PHASES, Summary};
use crate::RunLabel;

/// Writes the trace of a run of a profile: its phases, the times in which gates are closed, and the counters of the device.
/// It has no requests, so that its size does not depend on their number.
///
/// # Errors
///
/// The error of `out`.
///
/// # Panics
///
/// If the plan is of no profile.
pub fn write_day(
    out: impl Write,
    plan: &Plan,
    label: &RunLabel<'_>,
    day: &Day,
) -> io::Result<Summary> {
    let phases = plan.phases.as_deref().expect("the plan is of a profile");
    let mut events = Events::new(out, label)?;
    events.group(PHASES, NAME)?;
    events.track(PHASES, FIRST_TRACK, "phases")?;
    let sections = day.body.as_ref().map_or(&[][..], |body| body.sections());
    for result in &day.phases {
        events.phase(phases, result, sections.get(result.phase))?;
    }
    events.closed_gates(FIRST_TRACK + 1, &gates(phases, &day.phases))?;
    if let (Some(body), Some(ledger)) = (&day.body, &day.ledger) {
        events.group(DEVICE, "device")?;
        events.device(body, ledger, &plan.supplied().unwrap_or_default())?;
    }
    events.finish()
}

/// Name of the group.
const NAME: &str = "phases and gates";

/// Gates of all phases that took place by their names.
fn gates(phases: &Phases, results: &[PhaseResult]) -> Vec<Closed> {
    let mut gates: Vec<Closed> = Vec::new();
    for result in results {
        let phase = &phases.all()[result.phase];
        let Some((scenario, _)) = phases.scenario_of(phase) else { continue };
        for Closed { name, times } in closed(scenario, &phase.load, MAX_SAMPLES) {
            let at = gates.iter().position(|it| it.name == name).unwrap_or_else(|| {
                gates.push(Closed { name, times: Vec::new() });
                gates.len() - 1
            });
            let since = phase.begin - SimTime::ZERO;
            let times =
                times.into_iter().map(|(from, to)| (from + since, (to + since).min(result.end)));
            let room = MAX_SAMPLES - gates[at].times.len();
            gates[at].times.extend(times.filter(|(from, to)| from < to).take(room));
        }
    }
    gates
}

impl<W: Write> Events<W> {
    /// The group of gates, if there are any, in tracks from `first` on.
    pub(super) fn gates(&mut self, first: u32, gates: &[Closed]) -> io::Result<()> {
        if gates.is_empty() {
            return Ok(());
        }
        self.group(PHASES, NAME)?;
        self.closed_gates(first, gates)
    }

    /// Gates while they are closed, each in a track.
    fn closed_gates(&mut self, first: u32, gates: &[Closed]) -> io::Result<()> {
        for (track, gate) in (first..).zip(gates) {
            self.track(PHASES, track, &format!("gate {}", gate.name))?;
            for &times in &gate.times {
                self.slice("closed", "gate", (PHASES, track), times, Value::Null)?;
            }
        }
        Ok(())
    }

    fn phase(
        &mut self,
        phases: &Phases,
        result: &PhaseResult,
        section: Option<&Section>,
    ) -> io::Result<()> {
        let phase = &phases.all()[result.phase];
        let mut args = json!({ "number": result.phase });
        if let Some((scenario, _)) = phases.scenario_of(phase) {
            args["scenario"] = json!(scenario.name());
        }
        if let Some(scorecard) = &result.scorecard {
            let counts = scorecard.total.counts;
            args["score"] = json!(scorecard.total.score);
            args["requests"] = json!(counts.requests);
            args["dropped"] = json!(counts.dropped);
            args["late"] = json!(counts.late);
        }
        if let Some(section) = section {
            args["energy_j"] = json!(section.joules);
        }
        let times = (result.begin, result.end);
        self.slice(&phase.activity.name, "phase", (PHASES, FIRST_TRACK), times, args)
    }
}
