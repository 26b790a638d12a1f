//! Sequences of a run: `sequences.csv`, a row for each start.

use std::collections::BTreeMap;

use xrsim_model::ids::{ModelId, RequestId};
use xrsim_model::scenario::Sequence;
use xrsim_model::trace::{Outcome, Trace};
use xrsim_model::units::{SimSpan, SimTime};
use xrsim_sim::load::sequence_lengths;
use xrsim_sim::plan::Plan;

use super::model_names;

/// Row of a start of a sequence.
pub(super) struct SequenceRow<'r> {
    pub(super) model: &'r str,
    pub(super) network: &'r str,
    pub(super) start: u64,
    pub(super) arrival: SimTime,
    pub(super) outcome: &'static str,
    pub(super) prompt: u32,
    pub(super) asked: u32,
    /// Ends of the tokens that were made, in order.
    pub(super) tokens: Vec<SimTime>,
    pub(super) cache_bytes: u64,
    pub(super) energy_mj: f64,
}

impl SequenceRow<'_> {
    /// From the start to the end of the first token.
    pub(super) fn ttft(&self) -> Option<SimSpan> {
        self.tokens.first().map(|end| end.saturating_since(self.arrival))
    }

    /// Mean of the times from the end of a token to that of the next one.
    pub(super) fn tpot_mean_ms(&self) -> Option<f64> {
        let (first, last) = (self.tokens.first()?, self.tokens.last()?);
        let n = self.tokens.len().checked_sub(1).filter(|n| *n > 0)?;
        Some(last.saturating_since(*first).as_ms() / n as f64)
    }

    /// Percentile, by the nearest rank, of the times from the end of a token to that of the next one.
    pub(super) fn gap(&self, percent: usize) -> Option<SimSpan> {
        let gaps = self.tokens.windows(2).map(|pair| pair[1].saturating_since(pair[0]));
        let mut gaps: Vec<_> = gaps.collect();
        gaps.sort_unstable();
        gaps.get((gaps.len() * percent).div_ceil(100).checked_sub(1)?).copied()
    }

    /// Cache of a start that ran; `None` for others.
    pub(super) fn cache_mib(&self) -> Option<f64> {
        (self.energy_mj > 0.0).then(|| self.cache_bytes as f64 / 1_048_576.0)
    }

    pub(super) fn energy_per_token_mj(&self) -> Option<f64> {
        let n = self.tokens.len();
        (n > 0).then(|| self.energy_mj / n as f64)
    }
}

/// The starts of all sequences of a run, in order of model and start.
pub(super) fn rows<'p>(plan: &'p Plan, trace: &Trace) -> Vec<SequenceRow<'p>> {
    let names = model_names(&plan.scenario);
    let mut starts = BTreeMap::<(ModelId, u64), Vec<RequestId>>::new();
    for (index, record) in trace.records().iter().enumerate() {
        let model = plan.scenario.model(record.model);
        if model.sequence.is_some() {
            let start = (record.model, model.start_of(record.frame));
            starts.entry(start).or_default().push(RequestId::new(index));
        }
    }
    let row = |((id, start), mut requests): ((ModelId, u64), Vec<RequestId>)| {
        let model = plan.scenario.model(id);
        let sequence = model.sequence.as_ref()?;
        requests.sort_by_key(|id| trace.record(*id).frame);
        let (prompt, asked) = sequence_lengths(&plan.load, id, sequence, start);
        let records = || requests.iter().map(|id| trace.record(*id));
        let token_end = |record: &xrsim_model::trace::Record| match record.outcome {
            Outcome::Executed { end, .. } => {
                sequence.place(record.frame).1.is_some().then_some(end)
            }
            _ => None,
        };
        let tokens: Vec<_> = records().filter_map(token_end).collect();
        let energy = records().map(|record| match record.outcome {
            Outcome::Executed { energy, .. } | Outcome::Dropped { energy, .. } => energy.get(),
            Outcome::NotTriggered | Outcome::NotCaptured(_) | Outcome::Lost { .. } => 0.0,
        });
        Some(SequenceRow {
            model: names[id.index()],
            network: model.unit.network.name(),
            start,
            arrival: records().map(|record| record.arrival).min()?,
            outcome: match records().next()?.outcome {
                Outcome::NotTriggered => "not_triggered",
                Outcome::NotCaptured(_) => "not_captured",
                _ if tokens.len() == asked as usize => "complete",
                _ if tokens.is_empty() => "dropped",
                _ => "truncated",
            },
            prompt,
            asked,
            tokens,
            cache_bytes: Sequence::cache(sequence),
            energy_mj: energy.sum(),
        })
    };
    starts.into_iter().filter_map(row).collect()
}
