//! Score of a model: its part of the score of a scenario (XRBench Definition 15).
//!
//! ```text
//! Score_scn = 1/|θ| · sum over models μ of  sum over requests of Score_inf / NumFrm(μ) · QoEScore(μ)
//! ```
//!
//! Deviation: the paper prints no sum over the models. Its text (XRBench section 3.7) takes the mean over
//! *processed* frames before the product with QoE, where the print divides by NumFrm and so counts a
//! drop twice. Both are in the table.

use xrsim_model::column::Kind;

use super::ModelScore;

/// Definition 15 as printed.
pub(super) const PRINTED: ModelScore = ModelScore {
    heading: "score",
    label: "Score",
    help: "Definition 15, mean of inference scores over all requests of a model, executed or not, times QoE; of a run the mean over its models",
    kind: Kind::Overall,
    of: |tally, so_far| tally.mean_over_requests(tally.sums.inference) * so_far.qoe,
};

/// The reading of section 3.7 of the paper.
pub(super) const EXECUTED_MEAN: ModelScore = ModelScore {
    heading: "executed mean",
    label: "Score by executed mean",
    help: "section 3.7, mean of inference scores over executed requests, times QoE",
    kind: Kind::Score,
    of: |tally, so_far| tally.mean_over_executed(tally.sums.inference) * so_far.qoe,
};
