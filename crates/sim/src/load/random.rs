//! Counter-addressed random numbers: a draw is a function of what it is for, not of the draws
//! before it.
//!
//! ChaCha8 is keyed with (seed, replication, purpose, source) and its stream number is the frame.
//! Equal seeds thus give common random numbers to every system and policy that is compared.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Gamma, LogNormal, StandardNormal};
use sha2::{Digest as _, Sha256};

use xrsim_model::scenario::{Dwell, DwellDistribution, JitterDistribution};
use xrsim_model::units::SimSpan;

use super::LoadSettings;
use super::chacha::{Key, Stream};

/// Purpose of a draw. Draws for different purposes are independent.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Jitter of a sensor frame; the source is the sensor's name.
    Jitter,
    /// Phase of a sensor; the source is the sensor's name.
    Phase,
    /// Trigger of a control dependency; the source is the edge.
    Trigger,
    /// Tokens of the prompt of a sequence; the source is the model.
    Prompt,
    /// Tokens of the answer of a sequence; the source is the model.
    Answer,
    /// Blocks of frames of a recording; the source is the sensor's name.
    Blocks,
    /// Dwells of a gate; the source is its name.
    Gate,
    /// Time in a state of a chain; without a source.
    Stay,
    /// State that follows in a chain; without a source.
    Next,
    /// Latency of a request; the source is the task of the model.
    Latency,
    /// Count of a frame; the source is the task of the model, a zero byte and the name of the count.
    Work,
}

impl Purpose {
    fn tag(self) -> u8 {
        match self {
            Self::Jitter => 1,
            Self::Phase => 2,
            Self::Trigger => 3,
            Self::Prompt => 4,
            Self::Answer => 5,
            Self::Blocks => 6,
            Self::Gate => 7,
            Self::Stay => 8,
            Self::Next => 9,
            Self::Latency => 16,
            Self::Work => 17,
        }
    }
}

/// The draws of one source for one purpose: an independent stream for every frame.
#[derive(Debug, Clone)]
pub(super) struct Draws {
    key: Key,
}

impl Draws {
    /// Draws of `source` under the seed and replication of `settings`. Phases of a profile after the first one append
    /// their number to the source.
    pub(super) fn new(settings: &LoadSettings, purpose: Purpose, source: &[u8]) -> Self {
        let number = settings.phase.to_le_bytes();
        let key = Sha256::new()
            .chain_update(settings.seed.to_le_bytes())
            .chain_update(settings.replication.to_le_bytes())
            .chain_update([purpose.tag()])
            .chain_update(source)
            .chain_update(&number[..if settings.phase > 0 { number.len() } else { 0 }])
            .finalize();
        Self { key: Key::new(key.into()) }
    }

    /// Uniform number in [0, 1) of `frame`.
    pub(super) fn unit(&self, frame: u64) -> f64 {
        self.key.stream(frame).random()
    }

    /// Uniform span in [0, `end`) of `frame`; zero if `end` is.
    pub(super) fn below(&self, frame: u64, end: SimSpan) -> SimSpan {
        match end.ns() {
            0 => SimSpan::ZERO,
            end => SimSpan::from_ns(self.key.stream(frame).random_range(0..end)),
        }
    }

    /// Whole dwell of a gate, the one with this `number`.
    pub(super) fn dwell(
        &self,
        number: u64,
        dwell: Dwell,
        distribution: DwellDistribution,
    ) -> SimSpan {
        span(dwell_ns(&mut self.key.stream(number), dwell, distribution, 0.0))
    }

    /// Rest of the dwell of a gate in which a run begins at a random instant, the one with this `number`. A dwell is met
    /// with a probability in proportion to its length, anywhere within it.
    pub(super) fn rest_of_dwell(
        &self,
        number: u64,
        dwell: Dwell,
        distribution: DwellDistribution,
    ) -> SimSpan {
        let mut stream = self.key.stream(number);
        let share: f64 = stream.random();
        span(share * dwell_ns(&mut stream, dwell, distribution, 1.0))
    }

    /// Offset of `frame` within ±`bound`, rounded to whole nanoseconds.
    ///
    /// [`JitterDistribution::TruncatedNormal`] has σ = `bound`/3 and is redrawn, not clipped, outside
    /// the bound, which happens to one draw in 370.
    pub(super) fn offset_ns(
        &self,
        frame: u64,
        bound: SimSpan,
        distribution: JitterDistribution,
    ) -> i64 {
        let mut stream = self.key.stream(frame);
        let bound_ns = i64::try_from(bound.ns()).unwrap_or(i64::MAX);
        match distribution {
            JitterDistribution::Uniform => stream.random_range(-bound_ns..=bound_ns),
            JitterDistribution::TruncatedNormal => {
                (within_three_sigma(&mut stream) / 3.0 * bound_ns as f64).round() as i64
            }
        }
    }
}

/// A dwell \[ns\] with a density that is weighted by its length to the power of `weight`.
fn dwell_ns(
    stream: &mut Stream,
    Dwell { mean, cv }: Dwell,
    distribution: DwellDistribution,
    weight: f64,
) -> f64 {
    let mean = mean.ns() as f64;
    let drawn = match distribution {
        DwellDistribution::Gamma => {
            let shape = cv.powi(-2) + weight;
            Gamma::new(shape, mean * cv * cv).map(|it| it.sample(stream)).ok()
        }
        DwellDistribution::Lognormal => {
            let variance = (cv * cv).ln_1p();
            let mu = mean.ln() + (weight - 0.5) * variance;
            LogNormal::new(mu, variance.sqrt()).map(|it| it.sample(stream)).ok()
        }
    };
    // Means and coefficients of variation are numbers above 0.
    drawn.unwrap_or(mean)
}

/// A span of whole nanoseconds.
fn span(ns: f64) -> SimSpan {
    SimSpan::from_ns(ns.round() as u64)
}

fn within_three_sigma(stream: &mut Stream) -> f64 {
    loop {
        let z: f64 = StandardNormal.sample(stream);
        if z.abs() <= 3.0 {
            return z;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: SimSpan = SimSpan::from_ns(50_000);

    fn draws(seed: u64, replication: u64, purpose: Purpose, source: &str) -> Draws {
        let settings = LoadSettings { seed, replication, ..LoadSettings::default() };
        Draws::new(&settings, purpose, source.as_bytes())
    }

    fn offsets(draws: &Draws, distribution: JitterDistribution, n: u64) -> Vec<i64> {
        (0..n).map(|frame| draws.offset_ns(frame, BOUND, distribution)).collect()
    }

    /// All but the normal draws were also computed apart from this crate, by SHA-256 and ChaCha8 as
    /// published.
    #[test]
    fn the_streams_of_this_version_are_the_streams_of_every_version() {
        let camera = draws(1, 0, Purpose::Jitter, "camera");
        assert_eq!(
            offsets(&camera, JitterDistribution::TruncatedNormal, 6),
            [14_525, -7_039, 2_016, 27_140, -7_081, 7_097]
        );
        assert_eq!(
            offsets(&camera, JitterDistribution::Uniform, 4),
            [25_162, -37_223, 3_493, 35_030]
        );
        let edge = draws(1, 0, Purpose::Trigger, "edge");
        let coins: Vec<_> = (0..4).map(|frame| edge.unit(frame)).collect();
        assert_eq!(
            coins,
            [
                0.338_052_063_741_718_9,
                0.907_112_856_891_346_7,
                0.590_442_547_969_932_3,
                0.187_555_761_020_268_16
            ]
        );
        let phase = draws(1, 0, Purpose::Phase, "camera");
        assert_eq!(phase.below(0, BOUND).ns(), 11_512);
    }

    #[test]
    fn every_part_of_the_address_matters() {
        let reference = draws(1, 2, Purpose::Jitter, "camera").unit(0);
        for other in [
            draws(2, 2, Purpose::Jitter, "camera").unit(0),
            draws(1, 3, Purpose::Jitter, "camera").unit(0),
            draws(2, 1, Purpose::Jitter, "camera").unit(0),
            draws(1, 2, Purpose::Phase, "camera").unit(0),
            draws(1, 2, Purpose::Jitter, "lidar").unit(0),
            draws(1, 2, Purpose::Jitter, "camera").unit(1),
        ] {
            assert_ne!(reference, other);
        }
    }

    #[test]
    fn draws_do_not_depend_on_the_draws_before_them() {
        let camera = draws(7, 0, Purpose::Jitter, "camera");
        let forwards = offsets(&camera, JitterDistribution::TruncatedNormal, 100);
        let mut backwards: Vec<_> = (0..100)
            .rev()
            .map(|frame| camera.offset_ns(frame, BOUND, JitterDistribution::TruncatedNormal))
            .collect();
        backwards.reverse();
        assert_eq!(forwards, backwards);
    }

    /// 20,000 draws of a normal cut at ±3σ: mean 0, standard deviation 0.9866 σ (1 − 2·3φ(3)/0.9973
    /// = 0.9733 is its variance). Tolerances are four standard errors of mean and deviation.
    #[test]
    fn truncated_normal_offsets_have_the_moments_of_their_distribution() {
        let n = 20_000;
        let camera = draws(3, 0, Purpose::Jitter, "camera");
        let offsets = offsets(&camera, JitterDistribution::TruncatedNormal, n);
        assert!(offsets.iter().all(|offset| offset.abs() <= 50_000));
        let sigma = 50_000.0 / 3.0;
        let mean = offsets.iter().sum::<i64>() as f64 / n as f64;
        let square = offsets.iter().map(|&o| (o as f64).powi(2)).sum::<f64>() / n as f64;
        assert!((mean / sigma).abs() < 0.028, "{mean}");
        assert!((square.sqrt() / sigma - 0.9866).abs() < 0.02, "{square}");
    }

    #[test]
    fn uniform_offsets_reach_both_ends_of_their_range() {
        let lidar = draws(3, 0, Purpose::Jitter, "lidar");
        let bound = SimSpan::from_ns(2);
        let mut seen: Vec<_> = (0..200)
            .map(|frame| lidar.offset_ns(frame, bound, JitterDistribution::Uniform))
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-2, -1, 0, 1, 2]);
    }

    #[test]
    fn no_bound_means_no_offset() {
        let lidar = draws(3, 0, Purpose::Jitter, "lidar");
        for distribution in [JitterDistribution::Uniform, JitterDistribution::TruncatedNormal] {
            assert_eq!(lidar.offset_ns(0, SimSpan::ZERO, distribution), 0);
        }
        assert_eq!(lidar.below(0, SimSpan::ZERO), SimSpan::ZERO);
        let absurd = lidar.offset_ns(0, SimSpan::MAX, JitterDistribution::TruncatedNormal);
        assert_ne!(absurd, i64::MAX);
    }
}
