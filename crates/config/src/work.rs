//! `work:` of a model of a scenario: counts of its network that differ from frame to frame.

use xrsim_model::scenario::{Numbers, Shows, Work};

use super::network::Model;
use super::parameters;
use super::quantities::{drawn, wrong_sum};
use super::yaml::Node;
use super::yaml::keys::keys;
use super::yaml::read::{At, Problems, printable};
use super::yaml::tree::Entry;
use super::yaml::values::{Reader, entries, number};
use super::{Problem, form, nearest};

/// Words of `shows`.
pub(super) const SHOWS: [(&str, Shows); 3] =
    [("planned", Shows::Planned), ("mean", Shows::Mean), ("drawn", Shows::Drawn)];

/// Counts of a model by name, each with its place.
pub(super) type RawWork = Vec<(At<Box<str>>, Numbers)>;

/// Counts by name, with the numbers of each.
pub(super) fn work() -> impl Reader<Value = RawWork> {
    let read = |entry: &Entry<'_>, problems: &mut Problems| {
        Some((entry.name(), numbers().read(&entry.value, problems)?))
    };
    entries("counts", read).shaped(|_| {
        form::named(numbers().form())
            .says("Counts of the network that differ from frame to frame, such as `{regions: {mean: 300, most: 1000}}`")
            .remark("Without it, every frame has the planned counts of the network.")
    })
}

/// A number, `{mean, most}` or `{values: {3: 0.2, 10: 0.8}}`.
fn numbers() -> impl Reader<Value = Numbers> {
    const WORDS: &str = "{mean: M, most: N} or {values: {N: P, ...}}";
    drawn(
        number(0..=xrsim_model::model::Parameter::MAX).then(|it, _, _| Some(Numbers::Fixed(it))),
        weighted().then(|it, _, _| Some(Numbers::Weighted(it.values.into()))),
        geometric()
            .then(|it, _, _| Some(Numbers::Geometric { mean: it.mean, most: it.most }))
            .allowed(WORDS),
    )
}

keys! {
    fn geometric() -> struct Geometric: "a count" {
        /// Mean of the geometric distribution that each frame draws from, if there were no largest number.
        mean: f64 = required(number(1e-6..=1e6));
        /// Largest number.
        most: u32 = required(number(1..=Work::MAX_COUNT));
    }
}

keys! {
    fn weighted() -> struct Weighted: "a count" {
        /// Numbers with their probabilities, which sum to 1.
        values: Vec<(u32, f64)> = required(shares());
    }
}

/// Numbers with their probabilities, ascending.
fn shares() -> impl Reader<Value = Vec<(u32, f64)>> {
    let share = || number(0.0..=1.0);
    let read = move |entry: &Entry<'_>, problems: &mut Problems| {
        let Ok(n) = entry.key.parse::<u32>() else {
            let message = format!("`{}` is no count", printable(&entry.key));
            let help = format!("a whole number from 0 to {}", xrsim_model::model::Parameter::MAX);
            problems.push(Problem::new(entry.key_span.clone(), message).help(help));
            return None;
        };
        Some((n, share().read(&entry.value, problems)?))
    };
    let check = |mut shares: Vec<(u32, f64)>, node: &Node<'_>, problems: &mut Problems| {
        shares.sort_by_key(|(n, _)| *n);
        let n_most = Work::MAX_NETWORKS as usize;
        let message = match shares.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => format!("{} is there twice", pair[0].0),
            None if shares.len() > n_most => {
                format!("{} numbers; at most {n_most} are allowed", shares.len())
            }
            None => match wrong_sum(shares.iter().map(|(_, share)| *share)) {
                Some(sum) => format!("the probabilities sum to {sum}, not to 1"),
                None => return Some(shares),
            },
        };
        problems.push(Problem::new(node.span.clone(), message));
        None
    };
    entries("numbers", read).then(check).shaped(move |_| {
        form::named(share().form()).with("maxProperties", Work::MAX_NETWORKS).allowed("{N: P, ...}")
    })
}

/// The work of a model whose network is `model`, and the references to the networks of its further variants.
pub(super) fn resolve(
    raw: &At<RawWork>,
    shows: Shows,
    model: &Model,
    reference: &At<Box<str>>,
    problems: &mut Problems,
) -> Option<(Work, Vec<At<Box<str>>>)> {
    let n_problems = problems.len();
    for (name, numbers) in &raw.value {
        if let Some(fault) = fault(name, numbers, model) {
            problems.push(Problem::new(name.span.clone(), fault));
        }
    }
    if problems.len() > n_problems {
        return None;
    }
    let counts = raw.value.iter().map(|(name, numbers)| (name.value.clone(), numbers.clone()));
    let Some(work) = Work::new(counts.collect(), shows) else {
        let message = format!(
            "these counts have too many combinations; at most {} are allowed, or one count from 0 to at most {}",
            Work::MAX_NETWORKS,
            Work::MAX_COUNT
        );
        problems.push(Problem::new(raw.span.clone(), message));
        return None;
    };
    let (base, values) = parameters::split(&reference.value).ok()?;
    let of_counts = |counts: Vec<u32>| {
        let names = work.counts().iter().map(|(name, _)| name);
        let mut values = values.clone();
        for (name, count) in names.zip(counts) {
            values = values.with(name, count);
        }
        At { span: raw.span.clone(), value: values.of(base).into() }
    };
    let references = work.networks().into_iter().map(of_counts).collect();
    Some((work, references))
}

/// The reason why the network cannot have these numbers of a count, if it cannot.
fn fault(name: &At<Box<str>>, numbers: &Numbers, model: &Model) -> Option<String> {
    let network = &model.network;
    let counts = || network.parameters().iter().filter(|it| it.is_count);
    let Some(count) = counts().find(|it| it.name == name.value) else {
        let names = || counts().map(|it| &*it.name);
        let known = match (names().next(), nearest(&name.value, names())) {
            (None, _) => "it has none".into(),
            (_, Some(near)) => format!("did you mean `{near}`?"),
            _ => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
        };
        let shown = printable(&name.value);
        return Some(format!("`{}` has no count `{shown}`; {known}", network.name()));
    };
    let largest = numbers.values().last().copied().unwrap_or(0);
    (largest > *count.allowed.end()).then(|| {
        format!(
            "up to {largest}; `{}` has at most {} {}",
            network.name(),
            count.allowed.end(),
            count.name
        )
    })
}
