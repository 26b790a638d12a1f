//! Gates of sensors and models: when they are on.

use std::collections::VecDeque;

use xrsim_model::scenario::{Dwells, Gate, Scenario};
use xrsim_model::units::{SimSpan, SimTime};

use super::LoadSettings;
use super::random::{Draws, Purpose};

/// The gate of sensors and models that a run reads, and when it is off.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// Name of the gate.
    pub name: Box<str>,
    /// Begin and end of each time in which it is off, within the run.
    pub times: Vec<(SimTime, SimTime)>,
}

/// When the gates of `scenario` are off in a run of `settings`, each gate once: the first `most` times of each.
pub fn closed(scenario: &Scenario, settings: &LoadSettings, most: usize) -> Vec<Closed> {
    let read = scenario.models().iter().flat_map(|model| &model.inputs);
    let of_sensors = read.filter_map(|id| scenario.streams()[id.index()].gate.as_ref());
    let of_models = scenario.models().iter().filter_map(|model| model.gate.as_ref());
    let mut gates: Vec<&Gate> = Vec::new();
    for gate in of_sensors.chain(of_models) {
        if !gates.contains(&gate) {
            gates.push(gate);
        }
    }
    let end = SimTime::ZERO + settings.duration;
    let of_gate = |gate: &Gate| {
        let mut course = Course::new(gate, settings);
        let (mut times, mut begin) = (Vec::new(), SimTime::ZERO);
        while begin < end && times.len() < most {
            let is_on = course.is_on(begin);
            course.dwells.retain(|(end, _)| *end > begin);
            let until = course.dwells[0].0.min(end);
            if !is_on {
                times.push((begin, until));
            }
            begin = until;
        }
        Closed { name: gate.name.clone(), times }
    };
    gates.into_iter().map(of_gate).collect()
}

/// Course of a gate over a run, made as far as it is asked for.
pub(super) struct Course<'a> {
    of: &'a Dwells,
    draws: Draws,
    /// Number of the next dwell of the gate.
    next: u64,
    /// Dwells with their ends, in order.
    dwells: VecDeque<(SimTime, bool)>,
    /// End of the last dwell.
    end: SimTime,
}

impl<'a> Course<'a> {
    /// The course of `gate`: the same for all that it gates.
    pub(super) fn new(gate: &'a Gate, settings: &LoadSettings) -> Self {
        let Gate { name, dwells: of } = gate;
        let draws = Draws::new(settings, Purpose::Gate, name.as_bytes());
        let (next, dwells, end) = (0, VecDeque::new(), SimTime::ZERO);
        let mut course = Self { of, draws, next, dwells, end };
        match of {
            Dwells::Drawn { distribution, on, off } => {
                let [of_on, of_off] = [on, off].map(|it| it.mean.ns() as f64);
                let is_on = course.draws.unit(0) * (of_on + of_off) < of_on;
                let dwell = if is_on { on } else { off };
                let rest = course.draws.rest_of_dwell(1, *dwell, *distribution);
                course.add(rest, is_on);
                // Dwells with even numbers are on.
                course.next = if is_on { 3 } else { 2 };
            }
            Dwells::Recorded(pairs) => {
                let both = pairs.iter().map(|&(on, off)| on + off);
                let total = both.fold(SimSpan::ZERO, SimSpan::saturating_add).ns().max(1);
                let begin = settings.replication.saturating_mul(settings.duration.ns()) % total;
                let mut before = SimSpan::from_ns(begin);
                while course.end == SimTime::ZERO {
                    let (dwell, is_on) = course.dwell();
                    match dwell.ns().checked_sub(before.ns()).filter(|rest| *rest > 0) {
                        Some(rest) => course.add(SimSpan::from_ns(rest), is_on),
                        None => before = before - dwell,
                    }
                }
            }
        }
        course
    }

    /// The next dwell, and whether the gate is on in it.
    fn dwell(&mut self) -> (SimSpan, bool) {
        let number = self.next;
        self.next += 1;
        let is_on = number.is_multiple_of(2);
        let dwell = match self.of {
            Dwells::Drawn { distribution, on, off } => {
                self.draws.dwell(number, if is_on { *on } else { *off }, *distribution)
            }
            Dwells::Recorded(pairs) => {
                let (on, off) = pairs[(number / 2 % pairs.len() as u64) as usize];
                if is_on { on } else { off }
            }
        };
        (dwell, is_on)
    }

    fn add(&mut self, dwell: SimSpan, is_on: bool) {
        self.end = SimTime::from_ns(self.end.ns().saturating_add(dwell.ns()));
        self.dwells.push_back((self.end, is_on));
    }

    /// Whether the gate is on at an instant that is not forgotten.
    pub(super) fn is_on(&mut self, at: SimTime) -> bool {
        while self.end <= at {
            let (dwell, is_on) = self.dwell();
            self.add(dwell, is_on);
        }
        self.dwells[self.dwells.partition_point(|(end, _)| *end <= at)].1
    }

    /// Forgets the dwells that end before an instant.
    pub(super) fn forget(&mut self, before: SimTime) {
        while self.dwells.len() > 1 && self.dwells[0].0 < before {
            self.dwells.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On for 3 s and off for 2 s, again and again.
    #[test]
    fn closed_gates_are_those_that_a_run_reads() {
        let ns = |seconds: u64| SimSpan::from_ns(seconds * 1_000_000_000);
        let dwells = Dwells::Recorded([(ns(3), ns(2))].into());
        let gate = Gate { name: "hands".into(), dwells };
        let all = crate::load::generator::tests::scenario();
        let (mut streams, mut models) = (all.streams().to_vec(), all.models().to_vec());
        streams[0].gate = Some(gate.clone());
        models[1].gate = Some(gate);
        let scenario = Scenario::new("test", streams, models).expect("it is valid");
        let settings = LoadSettings { duration: ns(9), ..LoadSettings::default() };
        let found = closed(&scenario, &settings, 10);
        let at = |seconds| SimTime::ZERO + ns(seconds);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].times, [(at(3), at(5)), (at(8), at(9))]);
        assert_eq!(closed(&scenario, &settings, 1)[0].times, [(at(3), at(5))]);
    }
}
