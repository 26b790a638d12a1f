//! Sequences: models that answer a prompt token by token (docs/explanation/sequences.md).
//!
//! Every frame of such a model is a *start*. It becomes a chain of requests: the prompt in chunks, the last of which
//! makes the first token, then one request for each further token. A request needs the one before it.

use std::ops::RangeInclusive;

use crate::ids::FrameId;
use crate::model::{Network, Operator, Source};
use crate::units::SimSpan;

/// A number of tokens, which may differ from start to start.
#[derive(Debug, Clone, PartialEq)]
pub enum Tokens {
    /// The same for all starts.
    Fixed(u32),
    /// One of these, each as likely as the others.
    Values(Box<[u32]>),
    /// Geometric with this mean, above 1; larger numbers than `most` become `most`.
    Geometric {
        /// Mean before numbers are cut.
        mean: f64,
        /// Largest number.
        most: u32,
    },
}

impl Tokens {
    /// The least and the most tokens.
    pub fn range(&self) -> RangeInclusive<u32> {
        match self {
            Self::Fixed(n) => *n..=*n,
            Self::Values(values) => {
                let least = values.iter().min().copied().unwrap_or(1);
                least..=values.iter().max().copied().unwrap_or(1)
            }
            Self::Geometric { most, .. } => 1..=*most,
        }
    }

    /// Whether starts differ.
    pub fn are_drawn(&self) -> bool {
        let range = self.range();
        range.start() < range.end()
    }

    /// The number that `unit`, uniform in [0, 1), stands for.
    pub fn at(&self, unit: f64) -> u32 {
        match self {
            Self::Fixed(n) => *n,
            Self::Values(values) => {
                let place = (unit * values.len() as f64) as usize;
                values.get(place).or(values.last()).copied().unwrap_or(1)
            }
            Self::Geometric { mean, most } => {
                let n = (1.0 + ((1.0 - unit).ln() / (1.0 - 1.0 / mean).ln()).floor()) as u32;
                n.clamp(1, *most)
            }
        }
    }
}

/// From when the deadline of a token counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// From the end of the token before it.
    #[default]
    Chained,
    /// From the start of the sequence: token `i`, from 0, is due at start + TTFT + `i` · TPOT.
    Absolute,
}

/// A variant of a model whose costs lie between those of two others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// Variant with the shorter cache, or less work.
    pub low: u32,
    /// Variant with the longer cache, or more work.
    pub high: u32,
    /// Tokens of the cache, or things in the image, beyond those of `low`.
    pub part: u32,
    /// The same from `low` to `high`, at least 1.
    pub whole: u32,
}

impl Between {
    /// The place of `number` between those of `knots`, ascending, which are the variants from `first` on. It is at most
    /// the last one.
    pub(super) fn new(knots: &[u32], first: u32, number: u32) -> Self {
        let high = knots.partition_point(|&it| it < number).min(knots.len() - 1);
        let low = if knots[high] > number { high - 1 } else { high };
        Self {
            low: first + low as u32,
            high: first + high as u32,
            part: number - knots[low],
            whole: (knots[high] - knots[low]).max(1),
        }
    }
}

/// How a model answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sequence {
    /// Tokens of the prompt.
    pub prompt: Tokens,
    /// Tokens of the answer.
    pub answer: Tokens,
    /// From the start to the deadline of the first token.
    pub ttft: SimSpan,
    /// Time of each further token.
    pub tpot: SimSpan,
    /// From when the deadline of a token counts.
    pub pace: Pace,
    /// Tokens of the prompt that a request computes; the last one of a prompt is padded.
    pub chunk: u32,
    /// Cache of a token \[byte\].
    pub cache_bytes: u64,
    /// Tokens that a start has a cache for, from its first request to its last one.
    pub context: u32,
    /// Whether every length of the cache is costed; otherwise lengths between a few are interpolated.
    pub exact: bool,
}

/// One request of a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Its place among the steps of a start ([`Sequence::most_steps`]).
    pub index: u64,
    /// Variant of the model that it runs.
    pub variant: u32,
}

impl Sequence {
    /// Most tokens of prompt and answer.
    pub const MAX_CONTEXT: u32 = 1 << 17;
    /// Most chunks of a prompt.
    pub const MAX_CHUNKS: u32 = 1024;
    /// Most lengths of the cache at which tokens are made.
    pub const MAX_LENGTHS: u32 = 4096;

    /// A sequence with chunks of 128 tokens and no cache. Fields that differ are set afterwards.
    pub fn new(prompt: Tokens, answer: Tokens, ttft: SimSpan, tpot: SimSpan) -> Self {
        let context = prompt.range().end().saturating_add(*answer.range().end());
        Self {
            prompt,
            answer,
            ttft,
            tpot,
            pace: Pace::default(),
            chunk: 128,
            cache_bytes: 0,
            context,
            exact: false,
        }
    }

    /// Chunks of a prompt.
    pub fn chunks(&self, prompt: u32) -> u32 {
        prompt.div_ceil(self.chunk)
    }

    fn most_chunks(&self) -> u32 {
        self.chunks(*self.prompt.range().end())
    }

    /// Tokens in the cache when tokens after the first one are made; empty if there are none.
    pub fn lengths(&self) -> RangeInclusive<u32> {
        let (prompt, answer) = (self.prompt.range(), self.answer.range());
        let end = u64::from(*prompt.end()) + u64::from(*answer.end());
        match end.checked_sub(2) {
            Some(last) if *answer.end() > 1 => {
                *prompt.start()..=u32::try_from(last).unwrap_or(u32::MAX)
            }
            _ => RangeInclusive::new(1, 0),
        }
    }

    /// Lengths of the cache at which tokens are costed, ascending: all of them, or 0, 64, 128, 256, ... as far as they are
    /// around those that are asked for.
    fn knots(&self) -> Vec<u32> {
        let lengths = self.lengths();
        if self.exact || lengths.is_empty() {
            return lengths.collect();
        }
        let (first, last) = lengths.into_inner();
        let grid = || std::iter::once(0).chain((6..31).map(|power| 1 << power));
        let below = grid().take_while(|&it| it <= first).last().unwrap_or(0);
        let inside = grid().skip_while(|&it| it <= first).take_while(|&it| it < last);
        let mut knots: Vec<_> = std::iter::once(below).chain(inside).collect();
        if below < last {
            knots.push(last);
        }
        knots
    }

    /// Parameters (new, past) of the networks of the variants 1, 2, ... of the model.
    pub fn networks(&self) -> impl Iterator<Item = (u32, u32)> + use<> {
        let chunk = self.chunk;
        let prompt = (0..self.most_chunks()).map(move |at| (chunk, at * chunk));
        prompt.chain(self.knots().into_iter().map(|past| (1, past)))
    }

    /// Variants of the model after those with networks.
    pub fn between(&self) -> impl Iterator<Item = Between> + use<> {
        let first = 1 + self.most_chunks();
        let knots = self.knots();
        let lengths = if self.exact { RangeInclusive::new(1, 0) } else { self.lengths() };
        lengths.map(move |length| Between::new(&knots, first, length))
    }

    /// Most requests of a start.
    pub fn most_steps(&self) -> u64 {
        u64::from(self.most_chunks()) + u64::from(*self.answer.range().end()) - 1
    }

    /// Requests of a start with this prompt and answer.
    pub fn n_steps(&self, prompt: u32, answer: u32) -> u64 {
        u64::from(self.chunks(prompt)) + u64::from(answer) - 1
    }

    /// Requests of a start with this prompt and answer, in order. Token 0 of all starts has the same index.
    pub fn steps(&self, prompt: u32, answer: u32) -> impl Iterator<Item = Step> {
        let (most, n) = (self.most_chunks(), self.chunks(prompt));
        let chunk = move |at: u32| Step { index: u64::from(most - n + at), variant: 1 + at };
        let knots = if self.exact { 0 } else { self.knots().len() as u32 };
        let first = 1 + most + knots;
        let before = prompt - self.prompt.range().start();
        let token = move |at: u32| Step {
            index: u64::from(most - 1) + u64::from(at),
            variant: first + before + at - 1,
        };
        (0..n).map(chunk).chain((1..answer).map(token))
    }

    /// The start of a frame, and its token, from 0; no token for chunks of the prompt before the last one.
    pub fn place(&self, frame: FrameId) -> (u64, Option<u64>) {
        let frame = frame.index() as u64;
        let (start, step) = (frame / self.most_steps(), frame % self.most_steps());
        (start, step.checked_sub(u64::from(self.most_chunks()) - 1))
    }

    /// Upper bound of the tokens a second with `past` tokens in the cache, where DRAM sends `gb_per_s`: a step reads the
    /// weights of `network` once, and the cache.
    pub fn most_tokens_per_s(&self, network: &Network, past: u32, gb_per_s: f64) -> f64 {
        let bytes = weight_bytes(network) as f64 + f64::from(past) * self.cache_bytes as f64;
        gb_per_s * 1e9 / bytes.max(1.0)
    }

    /// Cache of a start \[byte\].
    pub fn cache(&self) -> u64 {
        u64::from(self.context).saturating_mul(self.cache_bytes)
    }
}

/// Bytes of the weights of a network, which a step of a sequence reads once. Their width is 8 bits unless the layer has
/// another one.
pub fn weight_bytes(network: &Network) -> u64 {
    let bits = network.layers().iter().map(|layer| {
        let bits = layer.bits.weights.unwrap_or(8);
        layer.operator.weights().saturating_mul(u64::from(bits))
    });
    bits.fold(0, u64::saturating_add).div_ceil(8)
}

/// Bytes of the cache that a step of `network` reads: operands from outside of products of activations. Their width is
/// 8 bits unless the layer has another one.
pub fn cache_bytes(network: &Network) -> u64 {
    let layers = network.layers().iter();
    let bits = layers.map(|layer| match &layer.operator {
        Operator::Matmul(shape)
            if shape.activations && layer.sources.get(1) == Some(&Source::Outside) =>
        {
            let elements = u64::from(shape.c) * u64::from(shape.k);
            let bits = layer.bits.activations.unwrap_or(8);
            elements.saturating_mul(u64::from(shape.instances)).saturating_mul(u64::from(bits))
        }
        _ => 0,
    });
    bits.fold(0, u64::saturating_add).div_ceil(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(prompt: Tokens, answer: Tokens) -> Sequence {
        let span = SimSpan::from_ns(1);
        Sequence::new(prompt, answer, span, span)
    }

    /// Prompts of 100 and 300 tokens are 1 and 3 chunks; 3 tokens follow. The cache has 100 to 301 tokens.
    #[test]
    fn a_start_is_a_chain_of_chunks_and_tokens() {
        let it = sequence(Tokens::Values([100, 300].into()), Tokens::Fixed(3));
        assert_eq!((it.most_steps(), it.lengths()), (5, 100..=301));
        let networks: Vec<_> = it.networks().collect();
        let knots = [(1, 64), (1, 128), (1, 256), (1, 301)];
        assert_eq!(networks, [&[(128, 0), (128, 128), (128, 256)][..], &knots].concat());
        let steps = |prompt| it.steps(prompt, 3).map(|it| (it.index, it.variant)).collect();
        // Variants 1 to 3 are chunks, 4 to 7 the lengths above, and 8 is a cache of 100 tokens.
        let (short, long): (Vec<_>, Vec<_>) = (steps(100), steps(300));
        assert_eq!(short, [(2, 1), (3, 8), (4, 9)]);
        assert_eq!(long, [(0, 1), (1, 2), (2, 3), (3, 208), (4, 209)]);
        assert_eq!(it.n_steps(300, 3), 5);
        let between: Vec<_> = it.between().collect();
        assert_eq!(between.len(), 202);
        assert_eq!(between[0], Between { low: 4, high: 5, part: 36, whole: 64 });
        assert_eq!(between[28], Between { low: 5, high: 5, part: 0, whole: 1 });
        assert_eq!(between[201], Between { low: 7, high: 7, part: 0, whole: 1 });
        assert_eq!(it.place(FrameId::new(5 + 1)), (1, None));
        assert_eq!(it.place(FrameId::new(5 + 2)), (1, Some(0)));
        assert_eq!(it.place(FrameId::new(4)), (0, Some(2)));
    }

    #[test]
    fn an_exact_sequence_is_costed_at_every_length() {
        let it = Sequence { exact: true, ..sequence(Tokens::Fixed(10), Tokens::Fixed(4)) };
        let networks: Vec<_> = it.networks().collect();
        assert_eq!(networks, [(128, 0), (1, 10), (1, 11), (1, 12)]);
        assert_eq!(it.between().count(), 0);
        let steps: Vec<_> = it.steps(10, 4).map(|it| it.variant).collect();
        assert_eq!(steps, [1, 2, 3, 4]);
    }

    #[test]
    fn an_answer_of_one_token_is_its_prompt() {
        let it = sequence(Tokens::Fixed(10), Tokens::Fixed(1));
        assert!(it.lengths().is_empty() && it.between().count() == 0);
        assert_eq!((it.networks().count(), it.most_steps()), (1, 1));
    }

    /// The mean of 1, 2, 3, ... with probabilities (1/4)(3/4)^(n-1) is 4.
    #[test]
    fn geometric_answers_have_their_mean() {
        let tokens = Tokens::Geometric { mean: 4.0, most: 1000 };
        let n = 100_000;
        let sum: f64 = (0..n).map(|at| f64::from(tokens.at((at as f64 + 0.5) / n as f64))).sum();
        assert!((sum / n as f64 - 4.0).abs() < 0.001, "{sum}");
        assert_eq!(tokens.at(0.0), 1);
        assert_eq!(Tokens::Geometric { mean: 4.0, most: 7 }.at(0.999_999), 7);
    }
}
