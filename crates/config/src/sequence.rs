//! `sequence:` of a model of a scenario: it answers prompts token by token.

use xrsim_model::model::Network;
use xrsim_model::scenario::{Pace, Sequence, Tokens, cache_bytes};
use xrsim_model::units::SimSpan;

use super::Problem;
use super::network::Model;
use super::parameters::{self, ParameterValues};
use super::quantities::{drawn, positive_ms};
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems};
use super::yaml::values::{Reader, at_most, flag, list, number, one_of};

/// Most values of a number of tokens.
const MAX_VALUES: usize = 10_000;

/// Parameters of the network of a step.
pub(super) const NEW: &str = "new";
pub(super) const PAST: &str = "past";

const PACES: [(&str, Pace); 2] = [("chained", Pace::Chained), ("absolute", Pace::Absolute)];

keys! {
    /// How the model answers prompts. Its network has the parameters `new`, tokens that a step computes, and `past`,
    /// tokens in the cache before it; every frame is the start of a sequence.
    pub(super) fn sequence() -> struct RawSequence: "a sequence" {
        /// Tokens of the prompt.
        prompt_tokens: Tokens = required(tokens());
        /// Tokens of the answer.
        new_tokens: Tokens = required(tokens());
        /// Time from the start to the deadline of the first token \[ms\].
        ttft_deadline_ms: SimSpan = required(positive_ms());
        /// Time to the deadline of each further token \[ms\].
        tpot_deadline_ms: SimSpan = required(positive_ms());
        /// Whether the deadline of a token counts from the end of the one before, or from the start.
        pace: Pace = or("chained", one_of(&PACES));
        /// Tokens that a sequence has a cache for from its start to its end. Without it, those of the longest prompt and
        /// the longest answer.
        context: Option<u32> = optional(number(1..=Sequence::MAX_CONTEXT));
        /// Tokens of the prompt that a request computes. The last ones of a prompt are padded.
        prefill_chunk: u32 = or(128, number(1..=Sequence::MAX_CONTEXT));
        /// Whether the costs of every length of the cache are computed, in place of interpolation between 0, 64, 128, 256
        /// tokens and so on.
        exact: bool = or(false, flag());
    }
}

/// A number, `{values: [..]}` or `{mean, most}`.
fn tokens() -> impl Reader<Value = Tokens> {
    const WORDS: &str = "{values: [N, ...]} or {mean: M, most: N}";
    drawn(
        number(1..=Sequence::MAX_CONTEXT).then(|it, _, _| Some(Tokens::Fixed(it))),
        values().then(|it, _, _| Some(Tokens::Values(it.values.into()))),
        geometric()
            .then(|it, _, _| Some(Tokens::Geometric { mean: it.mean, most: it.most }))
            .allowed(WORDS),
    )
}

keys! {
    fn values() -> struct Values: "a number of tokens" {
        /// Numbers of tokens, of which each start draws one.
        values: Vec<u32> = required(at_most(MAX_VALUES, list("numbers", number(1..=Sequence::MAX_CONTEXT))));
    }
}

keys! {
    fn geometric() -> struct Geometric: "a number of tokens" {
        /// Mean of the geometric distribution that each start draws from, before numbers above `most` are cut.
        mean: f64 = required(number(1.001..=131_072.0));
        /// Largest number.
        most: u32 = required(number(1..=Sequence::MAX_CONTEXT));
    }
}

/// The sequence of a model whose network is `model`, and the references to the networks of its further variants.
pub(super) fn resolve(
    raw: &At<RawSequence>,
    model: &Model,
    reference: &At<Box<str>>,
    problems: &mut Problems,
) -> Option<(Sequence, Vec<At<Box<str>>>)> {
    let RawSequence { prompt_tokens, new_tokens, ttft_deadline_ms, tpot_deadline_ms, .. } =
        &raw.value;
    let mut sequence = Sequence::new(
        prompt_tokens.clone(),
        new_tokens.clone(),
        *ttft_deadline_ms,
        *tpot_deadline_ms,
    );
    sequence.pace = raw.value.pace;
    sequence.chunk = raw.value.prefill_chunk;
    sequence.exact = raw.value.exact;
    sequence.cache_bytes = cache_bytes(&model.network);
    sequence.context = raw.value.context.unwrap_or(sequence.context);
    if let Some(problem) = fault(&sequence, &model.network) {
        problems.push(Problem::new(raw.span.clone(), problem));
        return None;
    }
    let (base, values) = parameters::split(&reference.value).ok()?;
    let of_step = |(new, past): (u32, u32)| {
        let values: ParameterValues = values.clone().with(NEW, new).with(PAST, past);
        At { span: raw.span.clone(), value: values.of(base).into() }
    };
    let references = sequence.networks().map(of_step).collect();
    Some((sequence, references))
}

/// What is wrong with a sequence of steps of `network`.
fn fault(sequence: &Sequence, network: &Network) -> Option<String> {
    let parameter = |name: &str| network.parameters().iter().find(|it| *it.name == *name);
    let (Some(new), Some(past)) = (parameter(NEW), parameter(PAST)) else {
        return Some(format!(
            "`{}` has no parameters `{NEW}` and `{PAST}`, on which a step of a sequence depends",
            network.name()
        ));
    };
    if (new.value, past.value) != (1, 0) {
        return Some(format!(
            "`{NEW}` and `{PAST}` follow from the sequence; leave them at 1 and 0"
        ));
    }
    let tokens =
        u64::from(*sequence.prompt.range().end()) + u64::from(*sequence.answer.range().end());
    if tokens > u64::from(sequence.context) {
        return Some(format!(
            "prompt and answer have up to {tokens} tokens; `context` is {}",
            sequence.context
        ));
    }
    if sequence.context > Sequence::MAX_CONTEXT {
        return Some(format!("more than {} tokens", Sequence::MAX_CONTEXT));
    }
    if sequence.chunks(*sequence.prompt.range().end()) > Sequence::MAX_CHUNKS {
        return Some(format!("prompts of more than {} chunks", Sequence::MAX_CHUNKS));
    }
    let lengths = sequence.lengths().count();
    if lengths > Sequence::MAX_LENGTHS as usize {
        return Some(format!(
            "tokens are made at {lengths} lengths of the cache; at most {} are allowed",
            Sequence::MAX_LENGTHS
        ));
    }
    let fits = |name: &str, value: u32| parameters::fault(network.parameters(), name, value);
    sequence.networks().find_map(|(new, past)| fits(NEW, new).or_else(|| fits(PAST, past)))
}
