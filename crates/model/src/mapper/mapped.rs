//! Results of the search for the mappings of networks (docs/explanation/mapper.md, section 8).

use crate::dataflow::Dataflow;

use super::exact::Counts;
use super::objective::Value;
use super::search::Status;

/// A capacity that the least violating mapping exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Level whose units are too small, counted from 0, outermost first; `None`: the shared memory.
    pub level: Option<usize>,
    /// Bytes that the mapping needs.
    pub needed: u64,
    /// Bytes that there are.
    pub available: u64,
}

/// The mapping that was found for a layer, or one point of the front of a layer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MappedLayer {
    /// Name of the layer.
    pub layer: Box<str>,
    /// The dataflow with the best value for the layer as it is written, and this value; `None` if none
    /// can run it.
    pub listed: Option<(Box<str>, Value)>,
    /// Latency and energy of the mapping, as the cost model computes them.
    pub value: Value,
    /// Latency and energy that no mapping is below.
    pub bound: Value,
    /// Product of latency and energy that no mapping is below; at least that of `bound`.
    pub bound_edp: f64,
    /// Certainty about the mapping.
    pub status: Status,
    /// Numbers of decided mappings; all 0 if the mapping was found for other places of its tensors.
    pub counts: Counts,
    /// Capacity that is exceeded, if no mapping runs.
    pub violation: Option<Violation>,
    /// Text of form and mapping of every loop nest of the layer.
    pub mappings: Vec<String>,
}

/// The mappings of a network.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MappedNetwork {
    /// Name of the network.
    pub network: Box<str>,
    /// Name of the accelerator.
    pub accelerator: Box<str>,
    /// Layers with MACs, in execution order.
    pub layers: Vec<MappedLayer>,
    /// Dataflow with the mappings; `None` for a front, or if a layer has no legal mapping.
    pub dataflow: Option<Dataflow>,
}

/// Largest relative error of a product of sums.
const ROUNDING: f64 = 1e-12;

/// The loop nests of a layer, which run one after another, as one.
pub(super) fn join(a: MappedLayer, b: MappedLayer) -> MappedLayer {
    let sum = |a: Value, b: Value| Value {
        cycles: a.cycles.saturating_add(b.cycles),
        energy_pj: a.energy_pj + b.energy_pj,
    };
    let weight = |status: Status| match status {
        Status::OptimalByBound => 0,
        Status::OptimalByEnumeration => 1,
        Status::Gap => 2,
        Status::NoLegalMapping => 3,
    };
    let listed = match (a.listed, b.listed) {
        (Some((name, a)), Some((other, b))) => {
            let name = if name == other { name } else { format!("{name}, {other}").into() };
            Some((name, sum(a, b)))
        }
        _ => None,
    };
    let bound = sum(a.bound, b.bound);
    MappedLayer {
        layer: a.layer,
        listed,
        value: sum(a.value, b.value),
        bound,
        // By the inequality of Cauchy and Schwarz.
        bound_edp: bound
            .edp()
            .max((a.bound_edp.sqrt() + b.bound_edp.sqrt()).powi(2) * (1.0 - ROUNDING)),
        status: if weight(a.status) >= weight(b.status) { a.status } else { b.status },
        counts: Counts {
            evaluated: a.counts.evaluated + b.counts.evaluated,
            infeasible: a.counts.infeasible + b.counts.infeasible,
            excluded: a.counts.excluded + b.counts.excluded,
            best: a.counts.best.max(b.counts.best),
        },
        violation: a.violation.or(b.violation),
        mappings: [a.mappings, b.mappings].concat(),
    }
}
