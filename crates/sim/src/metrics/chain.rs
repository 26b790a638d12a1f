//! Chains of models that depend on each other, from sensor data to the last result.

use crate::load::upstream_frame;
use xrsim_model::ids::{FrameId, ModelId};
use xrsim_model::scenario::Scenario;
use xrsim_model::trace::{Outcome, Record};

use super::service::{Firm, Served, Service};
use super::{Frames, Freshness};

/// Most chains of a scenario that are looked at; a dense graph has more paths than anyone can read.
pub const MAX_CHAINS: usize = 256;

/// A path of dependencies from a model without upstream to one without dependants.
#[derive(Debug, Clone, PartialEq)]
pub struct ChainMetrics {
    /// Its models, upstream first.
    pub models: Vec<ModelId>,
    /// How its frames were served: a frame of the last model with those that it depends on, from the
    /// arrival of the first model's data to the end of the last model, due when that is. At different
    /// rates the first is the newest at the start of the last.
    pub service: Service,
    /// How fresh its results are: from the generation of the first model's data to the end of the last model.
    pub freshness: Freshness,
}

impl ChainMetrics {
    pub(super) fn compute(
        scenario: &Scenario,
        frames: &Frames<'_>,
        (models, freshness): (Vec<ModelId>, Freshness),
        firm: Firm,
    ) -> Self {
        let last = models[models.len() - 1];
        // Of a sequence, the first token.
        let answers = |record: &&&Record| match &scenario.model(last).sequence {
            None => true,
            Some(sequence) => sequence.place(record.frame).1 == Some(0),
        };
        let records: Vec<_> = frames.counted(last).iter().filter(answers).collect();
        let served = records.iter().filter_map(|record| {
            let first = first_of(scenario, frames, &models, record)?;
            match record.outcome {
                Outcome::Executed { end, .. } => {
                    Some(Served::at(end, first.arrival, record.deadline))
                }
                Outcome::Dropped { .. } | Outcome::Lost { .. } => Some(Served::Not),
                Outcome::NotTriggered | Outcome::NotCaptured(_) => None,
            }
        });
        let served: Vec<_> = served.collect();
        let rate = scenario.model(last).rate;
        let service = Service::from_frames(&served, records.len() as u64, rate, firm);
        Self { models, service, freshness }
    }
}

/// The record of the first model that `record` of the last one goes back to.
pub(super) fn first_of<'a>(
    scenario: &Scenario,
    frames: &Frames<'a>,
    models: &[ModelId],
    record: &Record,
) -> Option<&'a Record> {
    let rate = |model: ModelId| scenario.model(model).rate;
    let pairs = models.windows(2).rev();
    let start = FrameId::new(scenario.model(record.model).start_of(record.frame) as usize);
    let frame =
        pairs.fold(start, |frame, pair| upstream_frame(frame, rate(pair[1]), rate(pair[0])));
    frames.record(models[0], frame)
}

impl ChainMetrics {
    /// Values of all columns of a chain: those of [`Service`] and [`Freshness`], and what a display shows. `None` where there is none.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> {
        let service = Service::COLUMNS.iter().map(|column| column.of(&self.service));
        service.chain(self.freshness.values()).chain(self.freshness.shown())
    }
}

/// Every chain of at least two models, in scenario order of first, second, ... model; the first
/// [`MAX_CHAINS`] of them.
pub fn chains(scenario: &Scenario) -> Vec<Vec<ModelId>> {
    let mut dependants = vec![Vec::new(); scenario.models().len()];
    for id in scenario.model_ids() {
        for dependency in &scenario.model(id).dependencies {
            dependants[dependency.upstream.index()].push(id);
        }
    }
    let is_first = |id: &ModelId| scenario.model(*id).dependencies.is_empty();
    // Depth-first: what is to be visited, the next one last, and at which place of the path.
    let mut open: Vec<_> = scenario.model_ids().filter(is_first).map(|id| (0, id)).collect();
    open.reverse();
    let (mut path, mut chains) = (Vec::new(), Vec::new());
    while let Some((place, id)) = open.pop()
        && chains.len() < MAX_CHAINS
    {
        path.truncate(place);
        path.push(id);
        let next = &dependants[id.index()];
        open.extend(next.iter().rev().map(|&id| (place + 1, id)));
        if next.is_empty() && path.len() > 1 {
            chains.push(path.clone());
        }
    }
    chains
}
