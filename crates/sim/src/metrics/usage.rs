//! Use of the accelerators of a run, added up request by request.

use xrsim_model::hardware::Accelerator;
use xrsim_model::ids::ModelId;
use xrsim_model::trace::{Entry, Outcome, Record, Trace};
use xrsim_model::units::{Millijoules, SimTime};

use super::{energy, per};

/// Use of the accelerators of a run. All sums are in order of request, so that they are equal to the last bit however
/// the requests come.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usage {
    /// Energy of all executions \[mJ\].
    energy_mj: f64,
    /// The last deadline, or the last end.
    last_instant: SimTime,
    /// Time in which each accelerator was busy, indexed by [`AccelId`](xrsim_model::ids::AccelId) \[ms\].
    busy_ms: Vec<f64>,
    /// The same for every model, `[model][accelerator]`, row by row.
    busy_of_models_ms: Vec<f64>,
    /// End of executions that the end of the run cut off.
    cut_off: CutOff,
}

/// End of executions that the end of the run cut off.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct CutOff {
    /// For the time in which an accelerator was busy: the last instant.
    of_accelerators: SimTime,
    /// For the parts of models: the last end or start of an execution.
    of_models: SimTime,
}

impl Usage {
    /// Nothing was used by `n_models` models on `n_accelerators` accelerators. For runs in which no execution is cut off.
    pub fn new(n_models: usize, n_accelerators: usize) -> Self {
        Self {
            busy_ms: vec![0.0; n_accelerators],
            busy_of_models_ms: vec![0.0; n_models * n_accelerators],
            ..Self::default()
        }
    }

    /// Use in a run of `n_models` models on `n_accelerators` accelerators.
    pub fn from_trace(n_models: usize, n_accelerators: usize, trace: &Trace) -> Self {
        let mut usage = Self::new(n_models, n_accelerators);
        if trace.busy_intervals().any(|it| it.end.is_none()) {
            let ends = trace.busy_intervals().map(|it| it.end.unwrap_or(it.start));
            usage.cut_off = CutOff {
                of_accelerators: trace.records().iter().map(last_instant).max().unwrap_or_default(),
                of_models: ends.max().unwrap_or_default(),
            };
        }
        trace.entries().for_each(|entry| usage.add(&entry));
        usage
    }

    /// Adds the next request.
    pub fn add(&mut self, entry: &Entry<'_>) {
        self.energy_mj += energy(entry.record).get();
        self.last_instant = self.last_instant.max(last_instant(entry.record));
        let row = entry.record.model.index() * self.busy_ms.len();
        for interval in entry.busy_intervals() {
            let at = interval.accelerator.index();
            let until = |end: SimTime| end.saturating_since(interval.start).as_ms();
            let CutOff { of_accelerators, of_models } = self.cut_off;
            let [busy, of_model] = match interval.end {
                Some(end) => [until(end); 2],
                None => [of_accelerators, of_models].map(until),
            };
            self.busy_ms[at] += busy;
            self.busy_of_models_ms[row + at] += of_model;
        }
    }

    /// From time 0 to the last deadline, or to the last end if that is later.
    pub fn span(&self) -> SimTime {
        self.last_instant
    }

    /// Time in which each accelerator was busy, indexed by [`AccelId`](xrsim_model::ids::AccelId) \[ms\].
    pub(super) fn busy_ms(&self) -> &[f64] {
        &self.busy_ms
    }

    /// Time in which each accelerator was busy with `model`, indexed by [`AccelId`](xrsim_model::ids::AccelId) \[ms\].
    pub fn busy_of_ms(&self, model: ModelId) -> &[f64] {
        let n_accelerators = self.busy_ms.len();
        &self.busy_of_models_ms[model.index() * n_accelerators..][..n_accelerators]
    }

    /// Energy of all executions over the span \[mW\]; 0 if that is empty.
    pub fn power_without_leakage_mw(&self) -> f64 {
        per(self.energy_mj * 1e3, self.last_instant.as_ms()).unwrap_or(0.0)
    }

    /// Energy that accelerators use while they idle, from time 0 to the end of the span. It is no part of the energy of
    /// any frame, and no score counts it. `accelerators` are those of the run, indexed by [`AccelId`](xrsim_model::ids::AccelId).
    pub fn idle_energy(&self, accelerators: &[Accelerator]) -> Millijoules {
        if accelerators.iter().all(|accelerator| accelerator.byte_energy.idle == 0.0) {
            return Millijoules::ZERO;
        }
        let idle = |(accelerator, busy): (&Accelerator, &f64)| {
            let idle_ms = (self.last_instant.as_ms() - busy).max(0.0);
            let thousand_cycles = idle_ms * accelerator.clock.as_mhz();
            Millijoules::from_nj(thousand_cycles * accelerator.byte_energy.idle)
        };
        let energies = accelerators.iter().zip(&self.busy_ms).map(idle);
        energies.fold(Millijoules::ZERO, |sum, energy| sum + energy)
    }
}

/// The deadline of a request, or its end if that is later.
fn last_instant(record: &Record) -> SimTime {
    match record.outcome {
        Outcome::Executed { end, .. } => end.max(record.deadline),
        _ => record.deadline,
    }
}
