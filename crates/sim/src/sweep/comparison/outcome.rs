//! Outcomes of replications, and their text, by which the parts of a comparison are joined.

use std::fmt::Write as _;
use std::str::Split;

use crate::bounds::{Bounds, Class, ClassBounds};

use super::super::means::{MeanMetrics, Means};
use super::{Replication, Sample, Subject};

/// Results of all policies in one replication of one configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Scores and bounds.
    pub(crate) replication: Replication,
    /// Metrics of every policy.
    pub(crate) metrics: Vec<MeanMetrics>,
}

impl Outcome {
    /// All numbers in one line, from which [`Outcome::of_text`] makes the same bits: lists separated by `;`
    /// of numbers separated by blanks, `-` for none. The lists are the numbers of models and of chains, the samples of all
    /// policies, the bounds of both classes (of a profile an empty one), and for each policy the number of its runs that the device ended, and its means of
    /// the run, of the hardware, of every model and of every chain.
    pub fn to_text(&self) -> String {
        let first = self.metrics.first();
        let (models, chains) = first.map_or((0, 0), |it| (it.models.len(), it.chains.len()));
        let mut text = format!("{models} {chains};");
        let Replication { samples, bounds, .. } = &self.replication;
        let values = samples.iter().flat_map(|sample| sample.values());
        let value = |it: &f64| if it.is_nan() { "-".into() } else { it.to_string() };
        text.push_str(&joined(values.map(value)));
        let bounds = bounds.iter().flat_map(|it| Class::ALL.map(|class| it.of(class).values()));
        let bounds = bounds.flatten();
        text.push(';');
        text.push_str(&joined(bounds.map(|bound| bound.to_string())));
        for MeanMetrics { run, device, models, chains, n_stopped } in &self.metrics {
            text.push_str(&format!(";{n_stopped}"));
            for means in [run, device].into_iter().chain(models).chain(chains) {
                text.push(';');
                text.push_str(&joined(means.sums().iter().map(|sum| mean(*sum))));
            }
        }
        text
    }

    /// The outcome of `n_policies` policies on a `subject` in a text; `None` if it is not the text of one.
    pub fn of_text(text: &str, subject: Subject, n_policies: usize) -> Option<Self> {
        let mut lists = text.split(';');
        let (models, chains) = lists.next()?.split_once(' ')?;
        let (models, chains): (usize, usize) = (models.parse().ok()?, chains.parse().ok()?);
        let value = |cell| if cell == "-" { Some(f64::NAN) } else { number(cell) };
        let values: Vec<f64> = lists.next()?.split(' ').map(value).collect::<Option<_>>()?;
        let n_columns = subject.columns().len();
        if values.len() != n_policies.checked_mul(n_columns)? {
            return None;
        }
        let samples = values.chunks(n_columns).map(|it| Sample::of_values(subject, it));
        let samples = samples.collect::<Option<_>>()?;
        let bounds = bounds(subject, lists.next()?)?;
        // Profiles have no metrics.
        let means = |lists: &mut Split<'_, char>| {
            let list = lists.next()?;
            let cells = list.split(' ').filter(|_| !list.is_empty());
            Some(Means::of_sums(cells.map(sum).collect::<Option<_>>()?))
        };
        let mut metrics = Vec::new();
        for _ in 0..n_policies {
            let lists = &mut lists;
            metrics.push(MeanMetrics {
                n_stopped: lists.next()?.parse().ok()?,
                run: means(lists)?,
                device: means(lists)?,
                models: (0..models).map(|_| means(lists)).collect::<Option<_>>()?,
                chains: (0..chains).map(|_| means(lists)).collect::<Option<_>>()?,
            });
        }
        let is_over = lists.next().is_none();
        // Whoever adds it knows the number of its draw.
        is_over.then_some(Self { replication: Replication { draw: 0, samples, bounds }, metrics })
    }
}

/// The bounds in a list.
fn bounds(subject: Subject, list: &str) -> Option<Option<ClassBounds>> {
    if subject == Subject::Profiles {
        return list.is_empty().then_some(None);
    }
    let all = list.split(' ').map(number).collect::<Option<Vec<f64>>>()?;
    let all: [f64; 6] = all.try_into().ok()?;
    let [any, keeping] = [&all[..3], &all[3..]].map(|of| Bounds {
        isolation: of[0],
        pooled_capacity: of[1],
        linear_program: of[2],
    });
    Some(Some(ClassBounds::new(any, keeping)))
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.enumerate().fold(String::new(), |mut text, (index, cell)| {
        // Writing to a string does not fail.
        let _ = write!(text, "{}{cell}", if index == 0 { "" } else { " " });
        text
    })
}

/// A number that a run can have; a file of rows may have been written by anyone.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|number: &f64| number.is_finite())
}

/// A weighted sum and its weight: the sum alone if the weight is 1, `-` if there is none.
fn mean((sum, weight): (f64, f64)) -> String {
    match weight {
        1.0 => sum.to_string(),
        0.0 if sum == 0.0 => "-".into(),
        _ => format!("{sum}:{weight}"),
    }
}

fn sum(cell: &str) -> Option<(f64, f64)> {
    match cell.split_once(':') {
        None if cell == "-" => Some((0.0, 0.0)),
        None => Some((number(cell)?, 1.0)),
        Some((sum, weight)) => Some((number(sum)?, number(weight)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::day::DayMetrics;
    use super::*;

    fn outcome() -> Outcome {
        let means = |sums: &[(f64, f64)]| Means::of_sums(sums.to_vec());
        let value = |at: usize| (at as f64 + 0.1) / 3.0;
        let samples = (0..2).map(|policy| {
            let values: Vec<_> =
                (0..Sample::N_COLUMNS).map(|it| value(policy * 100 + it)).collect();
            Sample::of_values(Subject::Scenarios, &values).expect("there are enough")
        });
        let metrics = MeanMetrics {
            run: means(&[(0.1 + 0.2, 1.0), (-0.0, 1.0), (0.0, 0.0)]),
            device: means(&[(1e-310, 0.25)]),
            models: vec![means(&[(1e22, 1.0)]), means(&[(f64::MAX, 1.0)])],
            chains: vec![means(&[(5.0, 1.0 / 3.0)])],
            n_stopped: 3,
        };
        let any = Bounds { isolation: 1.0, pooled_capacity: 0.7, linear_program: 1.0 / 3.0 };
        let bounds = Some(ClassBounds::new(any, Bounds { linear_program: 0.3, ..any }));
        let replication = Replication { draw: 0, samples: samples.collect(), bounds };
        Outcome { replication, metrics: vec![metrics.clone(), metrics] }
    }

    #[test]
    fn a_text_gives_the_same_bits_again() {
        let (outcome, text) = (outcome(), outcome().to_text());
        let again = Outcome::of_text(&text, Subject::Scenarios, 2).expect("it is its text");
        assert_eq!(again, outcome);
        assert_eq!(again.to_text(), text);
        // -0.0 equals 0.0, but not in its bits.
        assert!(again.metrics[0].run.sums()[1].0.is_sign_negative());
        assert!(!text.contains([',', '\n', '"']), "{text}");
    }

    /// A charge without a battery has no value, and no number stands for it.
    #[test]
    fn a_text_of_a_profile_gives_the_same_values_and_gaps() {
        let day = DayMetrics { hours: 0.1 + 0.2, energy_j: Some(1e-310), ..DayMetrics::default() };
        let samples = [Sample::of_day(&day)].into();
        let replication = Replication { draw: 0, samples, bounds: None };
        let outcome = Outcome { replication, metrics: vec![MeanMetrics::default()] };
        let text = outcome.to_text();
        let again = Outcome::of_text(&text, Subject::Profiles, 1).expect("it is its text");
        let sample = &again.replication.samples[0];
        assert_eq!(sample.value("hours"), Some(0.1 + 0.2));
        assert_eq!(sample.value("energy_j"), Some(1e-310));
        assert_eq!((sample.value("charge_left"), sample.value("speed")), (None, None));
        assert_eq!((again.replication.bounds, again.to_text()), (None, text.clone()));
        assert!(!text.contains([',', '\n', '"']), "{text}");
        assert_eq!(Outcome::of_text(&text, Subject::Scenarios, 1), None);
        assert_eq!(Outcome::of_text(&text.replace("-", "NaN"), Subject::Profiles, 1), None);
    }

    #[test]
    fn other_texts_are_no_outcomes() {
        let text = outcome().to_text();
        assert_eq!(Outcome::of_text(&text, Subject::Scenarios, 1), None);
        assert_eq!(Outcome::of_text(&text, Subject::Scenarios, 3), None);
        assert_eq!(Outcome::of_text(&format!("{text};1"), Subject::Scenarios, 2), None);
        for other in ["", "failed", "1 1", "1 1;0.5;1 1 1", "99999999999999999999 1;;"] {
            assert_eq!(Outcome::of_text(other, Subject::Scenarios, 2), None, "{other}");
        }
        let last = text.rfind(';').expect("it has lists");
        assert_eq!(Outcome::of_text(&text[..last], Subject::Scenarios, 2), None);
    }
}
