//! Energy score: the unused share of the allowed energy.

use xrsim_model::column::Kind;
use xrsim_model::units::Millijoules;

use super::{ModelScore, RequestScore};

/// Energy score of one inference (XRBench Definition 11).
///
/// ```text
/// EnScore = (En_max − En) / En_max
/// ```
///
/// `energy` is `En` and `max` is `En_max`, both in mJ. The result lies in [0, 1].
///
/// Deviation: printed, the score is negative above `En_max`; the text constrains every unit score to
/// [0, 1], so it is 0 there. A score of exactly 0 flags this: no smaller energy gives it.
pub fn energy(energy: Millijoules, max: Millijoules) -> f64 {
    if energy >= max {
        return 0.0;
    }
    (max.get() - energy.get()) / max.get()
}

/// The score of an executed request.
pub(super) const OF_REQUEST: RequestScore = RequestScore {
    heading: "energy",
    label: "Energy score",
    help: "Definition 11",
    kind: Kind::Score,
    of: |it, _| energy(it.energy, it.settings.energy_max),
};

/// Mean over the executed requests of a model.
pub(super) const OF_MODEL: ModelScore = ModelScore {
    heading: "energy",
    label: "Energy score",
    help: "Definition 11, mean over the executed requests of a model, 0 without any; of a run the mean over its models",
    kind: Kind::Score,
    of: |tally, _| tally.mean_over_executed(tally.sums.energy),
};

#[cfg(test)]
mod tests {
    use super::*;

    fn of(mj: f64) -> f64 {
        energy(Millijoules::new(mj), Millijoules::new(1500.0))
    }

    #[test]
    fn the_score_falls_linearly_to_zero_at_the_allowed_energy() {
        assert_eq!(of(0.0), 1.0);
        assert_eq!(of(375.0), 0.75);
        assert_eq!(of(1500.0), 0.0);
    }

    #[test]
    fn above_the_allowed_energy_the_score_stays_zero() {
        assert_eq!(of(1500.1), 0.0);
        assert_eq!(energy(Millijoules::ZERO, Millijoules::ZERO), 0.0);
    }
}
