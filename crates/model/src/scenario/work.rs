//! Work that depends on the image: counts of a network, such as its regions, that differ from frame to frame
//! (docs/explanation/varying-work.md).

use super::Between;

/// A number of things in an image.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// The same in all frames.
    Fixed(u32),
    /// Numbers, ascending, with their probabilities, which sum to 1.
    Weighted(Box<[(u32, f64)]>),
    /// Geometric on 0 to `most`: the number `k` with a probability in proportion to `q^k`, `q = mean / (1 + mean)`.
    Geometric {
        /// Mean, above 0, if there were no largest number.
        mean: f64,
        /// Largest number.
        most: u32,
    },
}

impl Numbers {
    /// The numbers that can be drawn, ascending.
    pub fn values(&self) -> Vec<u32> {
        match self {
            Self::Fixed(n) => vec![*n],
            Self::Weighted(all) => all.iter().map(|(n, _)| *n).collect(),
            Self::Geometric { most, .. } => (0..=*most).collect(),
        }
    }

    /// Number of numbers that can be drawn.
    fn n_values(&self) -> u64 {
        match self {
            Self::Fixed(_) => 1,
            Self::Weighted(all) => all.len() as u64,
            Self::Geometric { most, .. } => u64::from(*most) + 1,
        }
    }

    /// The number that `unit`, uniform in [0, 1), stands for.
    pub fn at(&self, unit: f64) -> u32 {
        match self {
            Self::Fixed(n) => *n,
            Self::Weighted(all) => {
                let mut below = 0.0;
                let reached = |(_, probability): &&(u32, f64)| {
                    below += probability;
                    unit < below
                };
                all.iter().find(reached).or(all.last()).map_or(0, |(n, _)| *n)
            }
            Self::Geometric { mean, most } => {
                let log = log_ratio(*mean);
                let within = libm::expm1(log * (f64::from(*most) + 1.0));
                let n = libm::log1p(unit * within) / log;
                (n as u32).min(*most)
            }
        }
    }

    /// Mean of the numbers.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(n) => f64::from(*n),
            Self::Weighted(all) => all.iter().map(|(n, share)| f64::from(*n) * share).sum(),
            Self::Geometric { mean, most } => {
                let log = log_ratio(*mean);
                let weight = |n: u32| libm::exp(log * f64::from(n));
                let (sum, of) = (0..=*most).fold((0.0, 0.0), |(sum, of), n| {
                    (sum + f64::from(n) * weight(n), of + weight(n))
                });
                sum / of
            }
        }
    }
}

/// Logarithm of the ratio `q` of a geometric distribution with this mean, which a large mean leaves below 0.
fn log_ratio(mean: f64) -> f64 {
    -libm::log1p(1.0 / mean)
}

/// The count of a network that schedulers see before a frame has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shows {
    /// That of the network.
    #[default]
    Planned,
    /// The mean, rounded.
    Mean,
    /// That of the frame.
    Drawn,
}

/// Counts of the network of a model that differ from frame to frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    counts: Vec<(Box<str>, Numbers)>,
    shows: Shows,
    /// Numbers of each count that can be drawn.
    values: Vec<Vec<u32>>,
    /// Numbers of the count that varies at which it is costed; empty if every combination is.
    knots: Vec<u32>,
}

impl Work {
    /// Most combinations of counts that are costed each.
    pub const MAX_NETWORKS: u64 = 256;
    /// Largest number of a count with more numbers than that.
    pub const MAX_COUNT: u32 = 4095;

    /// Counts by name. `None` if several of them vary and have more than [`Work::MAX_NETWORKS`] combinations, or if
    /// one has numbers above [`Work::MAX_COUNT`] and as many.
    pub fn new(counts: Vec<(Box<str>, Numbers)>, shows: Shows) -> Option<Self> {
        let all = || counts.iter().map(|(_, numbers)| numbers.n_values());
        let n = all().fold(1, u64::saturating_mul);
        let varying = all().filter(|n| *n > 1).count();
        if n > Self::MAX_NETWORKS && (varying > 1 || n > u64::from(Self::MAX_COUNT) + 1) {
            return None;
        }
        let values: Vec<_> = counts.iter().map(|(_, numbers)| numbers.values()).collect();
        let knots = match values.iter().find(|all| all.len() as u64 > Self::MAX_NETWORKS) {
            Some(all) => knots(all[all.len() - 1]),
            None => Vec::new(),
        };
        Some(Self { counts, shows, values, knots })
    }

    /// Names of the counts, with their numbers.
    pub fn counts(&self) -> &[(Box<str>, Numbers)] {
        &self.counts
    }

    /// The counts that schedulers see.
    pub fn shows(&self) -> Shows {
        self.shows
    }

    /// Whether every combination of counts is costed; otherwise those between a few are interpolated.
    pub fn is_exact(&self) -> bool {
        self.knots.is_empty()
    }

    /// Whether frames differ.
    pub fn varies(&self) -> bool {
        self.values.iter().any(|all| all.len() > 1)
    }

    /// Counts of the networks of the variants 1, 2, ... of the model, in the order of [`Work::counts`].
    pub fn networks(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new()];
        for values in &self.values {
            let values =
                if values.len() as u64 > Self::MAX_NETWORKS { &self.knots } else { values };
            let longer = |counts: &Vec<u32>| {
                let counts = counts.clone();
                values.iter().map(move |&value| [&counts[..], &[value]].concat())
            };
            all = all.iter().flat_map(longer).collect();
        }
        if self.shows == Shows::Mean {
            all.push(self.counts.iter().map(|(_, it)| it.mean().round() as u32).collect());
        }
        all
    }

    /// Number of [`Work::networks`] without that of the mean.
    fn n_networks(&self) -> usize {
        let n = |values: &Vec<u32>| match values.len() as u64 > Self::MAX_NETWORKS {
            true => self.knots.len(),
            false => values.len(),
        };
        self.values.iter().map(n).product()
    }

    /// First variant after those with networks.
    fn first_between(&self) -> u32 {
        1 + self.n_networks() as u32 + u32::from(self.shows == Shows::Mean)
    }

    /// Variants of the model after those with networks: one for each number of the count that varies.
    pub fn between(&self) -> impl Iterator<Item = Between> + use<'_> {
        let last = self.knots.last().copied();
        let numbers = last.into_iter().flat_map(|last| 0..=last);
        numbers.map(|number| Between::new(&self.knots, 1, number))
    }

    /// Variant of a frame with these counts, each of which can be drawn.
    pub fn variant(&self, counts: &[u32]) -> u32 {
        let pairs = || self.values.iter().zip(counts);
        if !self.is_exact() {
            let varying = pairs().find(|(values, _)| values.len() > 1);
            return self.first_between() + varying.map_or(0, |(_, number)| *number);
        }
        let place = |values: &[u32], count: &u32| values.partition_point(|it| it < count) as u32;
        let at = |at: u32, (values, count): (&Vec<u32>, &u32)| {
            at * values.len() as u32 + place(values, count)
        };
        1 + pairs().fold(0, at)
    }

    /// Counts of a frame that runs `variant`, in the order of [`Work::counts`]; `None` for the variants of no frame.
    pub fn counts_of(&self, variant: u32) -> Option<Vec<u32>> {
        if self.is_exact() {
            let mut rest = variant.checked_sub(1)? as usize;
            let mut counts: Vec<_> = self
                .values
                .iter()
                .rev()
                .map(|values| {
                    let value = values[rest % values.len()];
                    rest /= values.len();
                    value
                })
                .collect();
            counts.reverse();
            return (rest == 0).then_some(counts);
        }
        let number = variant.checked_sub(self.first_between())?;
        let of = |values: &Vec<u32>| if values.len() > 1 { number } else { values[0] };
        let is_known = self.knots.last().is_some_and(|last| number <= *last);
        is_known.then(|| self.values.iter().map(of).collect())
    }

    /// Variant that schedulers see of all frames; `None` if they see that of each.
    pub fn shown(&self) -> Option<u32> {
        match self.shows {
            Shows::Planned => Some(0),
            Shows::Mean => Some(1 + self.n_networks() as u32),
            Shows::Drawn => None,
        }
    }
}

/// 0, 1, 2, 3, 4, 6, 8, 12, 16, ... as far as they are below `last`, and `last`.
fn knots(last: u32) -> Vec<u32> {
    let steps = (1..31).flat_map(|power| [1 << power, 3 << (power - 1)]);
    let below = [0, 1].into_iter().chain(steps).take_while(|it| *it < last);
    below.chain([last]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn geometric(mean: f64, most: u32) -> Numbers {
        Numbers::Geometric { mean, most }
    }

    fn work(counts: &[(&str, Numbers)], shows: Shows) -> Work {
        let counts = counts.iter().map(|(name, it)| (Box::from(*name), it.clone()));
        Work::new(counts.collect(), shows).expect("the combinations are few")
    }

    /// Weights 0.857142857^k, k from 0 to 30: mean 5.737168245, variance 33.783135066, computed apart from this crate. A
    /// grid of 10^6 units stands for all draws: each number is off by at most one of them.
    #[test]
    fn geometric_counts_have_the_moments_of_their_distribution() {
        let numbers = geometric(6.0, 30);
        assert!((numbers.mean() - 5.737_168_245).abs() < 1e-8, "{}", numbers.mean());
        let n = 1_000_000;
        let drawn = || (0..n).map(|at| f64::from(numbers.at((f64::from(at) + 0.5) / f64::from(n))));
        let mean = drawn().sum::<f64>() / f64::from(n);
        let variance = drawn().map(|it| (it - mean).powi(2)).sum::<f64>() / f64::from(n);
        assert!((mean - 5.737_168_245).abs() < 1e-3, "{mean}");
        assert!((variance - 33.783_135_066).abs() < 1e-2, "{variance}");
        assert_eq!((numbers.at(0.0), numbers.at(1.0 - f64::EPSILON)), (0, 30));
    }

    /// With q near 1, the 31 numbers are as probable as each other.
    #[test]
    fn counts_of_a_large_mean_are_uniform() {
        let numbers = geometric(1e17, 30);
        assert_eq!([0.0, 0.5, 0.999].map(|unit| numbers.at(unit)), [0, 15, 30]);
        assert!((numbers.mean() - 15.0).abs() < 1e-9, "{}", numbers.mean());
    }

    #[test]
    fn weighted_counts_are_drawn_by_their_shares() {
        let numbers = Numbers::Weighted([(3, 0.2), (10, 0.8)].into());
        let drawn = [0.0, 0.199, 0.2, 0.999_999].map(|unit| numbers.at(unit));
        assert_eq!(drawn, [3, 3, 10, 10]);
        assert!((numbers.mean() - 8.6).abs() < 1e-12);
    }

    #[test]
    fn few_combinations_are_costed_each() {
        let weighted = Numbers::Weighted([(3, 0.2), (10, 0.8)].into());
        let it = work(&[("a", geometric(1.0, 2)), ("b", weighted)], Shows::Mean);
        let networks = it.networks();
        // The mean of 0, 1, 2 with weights 1, 1/2, 1/4 is 4/7, that of `b` 8.6.
        let pairs = [[0, 3], [0, 10], [1, 3], [1, 10], [2, 3], [2, 10], [1, 9]];
        assert_eq!(networks, pairs);
        for (variant, counts) in (1..).zip(&pairs[..6]) {
            assert_eq!(it.variant(counts), variant);
            assert_eq!(it.counts_of(variant).as_deref(), Some(&counts[..]));
        }
        assert_eq!((it.counts_of(0), it.counts_of(7), it.shown()), (None, None, Some(7)));
        assert!(it.is_exact() && it.between().next().is_none());
    }

    #[test]
    fn many_numbers_are_costed_at_a_few() {
        let it = work(&[("a", Numbers::Fixed(5)), ("b", geometric(300.0, 1000))], Shows::Planned);
        let numbers: Vec<_> = it.networks().iter().map(|counts| counts[1]).collect();
        let knots = [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768];
        assert_eq!(numbers, [&knots[..], &[1000]].concat());
        assert!(it.networks().iter().all(|counts| counts[0] == 5));
        let between: Vec<_> = it.between().collect();
        assert_eq!(between.len(), 1001);
        // 300 lies between 256, variant 17, and 384.
        assert_eq!(between[300], Between { low: 17, high: 18, part: 44, whole: 128 });
        assert_eq!(between[1000].part, 0);
        assert_eq!(it.variant(&[5, 300]), 22 + 300);
        assert_eq!(it.counts_of(322), Some(vec![5, 300]));
        assert_eq!((it.counts_of(21), it.counts_of(22 + 1001), it.shown()), (None, None, Some(0)));
    }

    #[test]
    fn several_counts_of_many_numbers_are_too_many() {
        let new = |counts| Work::new(counts, Shows::Drawn);
        let count = |most| (Box::from("a"), geometric(3.0, most));
        assert!(new(vec![count(15), count(15)]).is_some());
        assert!(new(vec![count(15), count(16)]).is_none());
        assert!(new(vec![count(4095)]).is_some());
        assert!(new(vec![count(4096)]).is_none());
    }
}
