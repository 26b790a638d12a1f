//! Confirmation on fresh draws: the best of systems that the search found close to each other.
//!
//! The procedure is the fully sequential one of Kim and Nelson (ACM TOMACS 11, 2001) with common random
//! numbers and c = 1. If the best candidate leads by `delta` or more and scores are normal, it selects that
//! candidate with a probability of at least `1 - alpha`. The draws are not those of the search, so that a
//! candidate that was lucky there has no advantage.

use xrsim_model::statistics::{Fraction, Summary};

use super::exact::Hunt;
use super::goal::{Question, Sampled};
use super::{Answer, Quantity, Search, SearchError};

/// Parameters of a confirmation.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ConfirmSettings {
    /// Difference of the objective that matters, above 0.
    pub delta: f64,
    /// Probability of a wrong selection.
    pub alpha: Fraction,
    /// Draws before the first elimination.
    pub first: u64,
    /// Most draws.
    pub cap: u64,
}

impl ConfirmSettings {
    /// A difference of `delta` at `alpha`, from 10 to 1,000 draws.
    pub fn new(delta: f64, alpha: Fraction) -> Self {
        Self { delta, alpha, first: 10, cap: 1000 }
    }

    /// h² of the procedure for `k` candidates.
    pub fn h_squared(&self, k: usize) -> f64 {
        let degrees = self.first.max(2) as f64 - 1.0;
        let base = 2.0 * self.alpha.get() / (k.max(2) as f64 - 1.0);
        degrees * (base.powf(-2.0 / degrees) - 1.0)
    }
}

/// A candidate of a confirmation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Candidate {
    /// Index of the system.
    pub system: u32,
    /// Index of the scheduler.
    pub scheduler: usize,
    /// Mean of the objective over the fresh draws until its elimination.
    pub fresh: Summary,
    /// Whether it was eliminated.
    pub is_eliminated: bool,
}

/// Result of a confirmation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Confirmation {
    /// Candidates, the one with the best mean of the search first.
    pub candidates: Vec<Candidate>,
    /// Fresh draws that were made.
    pub draws: u64,
    /// Whether candidates within `delta` were left out because there were too many.
    pub is_cut: bool,
    /// Its parameters.
    pub settings: ConfirmSettings,
}

impl Confirmation {
    /// Candidates that were not eliminated, the best mean of the fresh draws first.
    pub fn left(&self) -> Vec<&Candidate> {
        let mut left: Vec<_> = self.candidates.iter().filter(|it| !it.is_eliminated).collect();
        left.sort_by(|a, b| b.fresh.mean.total_cmp(&a.fresh.mean));
        left
    }

    /// The candidate that is the best, if all others were eliminated.
    pub fn winner(&self) -> Option<&Candidate> {
        match self.left()[..] {
            [winner] => Some(winner),
            _ => None,
        }
    }
}

/// Most candidates.
const MAX_CANDIDATES: usize = 64;

/// Draws that two candidates whose difference had no spread at first have in common before one is given up: scores
/// that take few values can be equal in ten draws and differ in the next one.
const WITHOUT_SPREAD: u64 = 30;

/// Draws that are made at a time.
const STEP: u64 = 10;

impl Search<'_> {
    /// Compares the systems of an answer that were simulated in all draws and are within `delta` of the best
    /// one, on draws that the search did not see. `None` if nothing is drawn, if the question asks for a front, or
    /// for the worst of several scenarios, or if `is_stopped`, which is asked before every step, ends it.
    ///
    /// # Errors
    ///
    /// [`SearchError::Run`] if a run fails.
    pub fn confirm(
        &mut self,
        answer: &Answer,
        settings: &ConfirmSettings,
        is_stopped: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Confirmation>, SearchError> {
        let question = &answer.question;
        let [quantity @ (Quantity::Sampled(_) | Quantity::Power)] = question.objectives[..] else {
            return Ok(None);
        };
        let is_drawn = |load: usize| self.evaluation.loads[load].n_draws() > 1;
        // The worst of several means is no mean of draws.
        let is_mean = question.over == super::Over::Mean || question.loads().count() == 1;
        if !is_mean || !question.loads().any(is_drawn) || answer.points.is_empty() {
            return Ok(None);
        }
        let mut pairs = self.within(question, answer.points[0].goods[0] - settings.delta);
        let is_cut = pairs.len() > MAX_CANDIDATES;
        pairs.truncate(MAX_CANDIDATES);
        let mut race = Race::new(pairs.len(), *settings);
        let loads: Vec<usize> = question.loads().collect();
        let n_before =
            self.evaluation.loads.iter().map(|it| it.n_draws()).max().unwrap_or(0) as u64;
        while let Some(n_more) = race.wants() {
            if is_stopped() {
                return Ok(None);
            }
            let left: Vec<_> = race.left().map(|at| pairs[at]).collect();
            let from = n_before + race.n_draws;
            let leakages = self.leakages(&left);
            let combine =
                |samples: &[Sampled]| good(question, quantity, &loads, &self.seconds, samples);
            let systems = &self.systems;
            let values = self.evaluation.fresh_draws(
                &left,
                &loads,
                from..from + n_more,
                |system| systems.members(system as usize),
                combine,
            )?;
            let is_power = quantity == Quantity::Power;
            let with_leakage = values.into_iter().zip(leakages).map(|(values, leakage)| {
                let add = if is_power { -leakage } else { 0.0 };
                values.into_iter().map(|value| value + add).collect()
            });
            race.add(with_leakage.collect());
        }
        let sign = match quantity.better() {
            xrsim_model::column::Better::Higher => 1.0,
            xrsim_model::column::Better::Lower => -1.0,
        };
        let candidate = |(at, &(system, scheduler)): (usize, &(u32, usize))| Candidate {
            system,
            scheduler,
            fresh: Summary::of(race.values[at].iter().map(|value| sign * value)),
            is_eliminated: !race.is_in[at],
        };
        let candidates = pairs.iter().enumerate().map(candidate).collect();
        Ok(Some(Confirmation { candidates, draws: race.n_draws, is_cut, settings: *settings }))
    }

    fn leakages(&self, pairs: &[(u32, usize)]) -> Vec<f64> {
        let of = |&(system, _): &(u32, usize)| {
            let members = self.systems.members(system as usize);
            self.areas.as_ref().map_or(0.0, |areas| areas.leakage(members))
        };
        pairs.iter().map(of).collect()
    }

    /// Systems with schedulers whose objective is at least `good` in the draws of the search, the best
    /// first.
    fn within(&self, question: &Question, good: f64) -> Vec<(u32, usize)> {
        let hunt = Hunt::new(question.clone(), false);
        let mut found = Vec::new();
        for (system, state) in self.evaluation.states() {
            if state.failure.is_some() {
                continue;
            }
            for scheduler in 0..self.schedulers.len() {
                let is_known = self.is_complete(&hunt, system, scheduler)
                    && self.may_keep_limits(&hunt, system, Some(scheduler));
                if is_known {
                    let value = self.best_goods(&hunt, system, Some(scheduler))[0];
                    if value >= good {
                        found.push((value, system, scheduler));
                    }
                }
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        found.into_iter().map(|(_, system, scheduler)| (system, scheduler)).collect()
    }
}

/// Objective of one draw, larger is better; of the power without leakage.
fn good(
    question: &Question,
    quantity: Quantity,
    loads: &[usize],
    seconds: &[f64],
    samples: &[Sampled],
) -> f64 {
    let energy = Quantity::find("energy_mj");
    let value = |load: usize| {
        let at = loads.iter().position(|it| *it == load).expect("it is one of the loads");
        match (quantity, energy) {
            (Quantity::Sampled(column), _) => samples[at][column],
            (_, Some(Quantity::Sampled(column))) => samples[at][column] / seconds[load],
            _ => f64::NAN,
        }
    };
    let over = question.over(quantity, value);
    match quantity.better() {
        xrsim_model::column::Better::Higher => over,
        xrsim_model::column::Better::Lower => -over,
    }
}

/// State of the procedure of Kim and Nelson. Larger values are better.
struct Race {
    settings: ConfirmSettings,
    /// Values of every candidate until its elimination.
    values: Vec<Vec<f64>>,
    is_in: Vec<bool>,
    /// Variances of the differences of all pairs in the first draws, row-major; empty before these.
    variances: Vec<f64>,
    n_draws: u64,
}

impl Race {
    fn new(k: usize, settings: ConfirmSettings) -> Self {
        Self {
            settings,
            values: vec![Vec::new(); k],
            is_in: vec![true; k],
            variances: Vec::new(),
            n_draws: 0,
        }
    }

    fn left(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.is_in.len()).filter(|&at| self.is_in[at])
    }

    /// Number of draws that are needed next; `None` at the end. A single candidate gets draws for its
    /// interval.
    fn wants(&self) -> Option<u64> {
        const FOR_INTERVAL: u64 = 40;
        let cap = self.settings.cap.max(self.settings.first);
        let end = match self.left().count() {
            0 => return None,
            1 => FOR_INTERVAL.min(cap),
            _ => cap,
        };
        match self.n_draws {
            0 => Some(self.settings.first.max(2)),
            n if n >= end => None,
            n => Some(STEP.min(end - n)),
        }
    }

    /// Adds draws of the candidates that are left, and eliminates.
    fn add(&mut self, values: Vec<Vec<f64>>) {
        let left: Vec<usize> = self.left().collect();
        let n_new = values.first().map_or(0, Vec::len);
        for draw in 0..n_new {
            for (&at, values) in left.iter().zip(&values) {
                if self.is_in[at] {
                    self.values[at].push(values[draw]);
                }
            }
            self.n_draws += 1;
            if self.n_draws == self.settings.first.max(2) || self.n_draws == WITHOUT_SPREAD {
                self.estimate();
            }
            if !self.variances.is_empty() {
                self.eliminate();
            }
        }
    }

    /// Estimates the variances of the differences that have none yet.
    fn estimate(&mut self) {
        let k = self.values.len();
        self.variances.resize(k * k, 0.0);
        for i in 0..k {
            for l in (0..k).filter(|&l| self.is_in[i] && self.is_in[l]) {
                if self.variances[i * k + l] > 0.0 {
                    continue;
                }
                let pairs = self.values[i].iter().zip(&self.values[l]);
                let sd = Summary::of(pairs.map(|(a, b)| a - b)).sd;
                self.variances[i * k + l] = sd * sd;
            }
        }
    }

    fn eliminate(&mut self) {
        let k = self.values.len();
        let (delta, h_squared) = (self.settings.delta, self.settings.h_squared(k));
        let sums: Vec<f64> = self.values.iter().map(|values| values.iter().sum()).collect();
        let left: Vec<usize> = self.left().collect();
        let loses = |i: usize| {
            left.iter().any(|&l| {
                let variance = self.variances[i * k + l];
                if variance == 0.0 && self.n_draws < WITHOUT_SPREAD {
                    return false;
                }
                let width =
                    delta / 2.0 * (h_squared * variance / (delta * delta) - self.n_draws as f64);
                sums[i] - sums[l] < -width.max(0.0)
            })
        };
        let out: Vec<usize> = left.iter().copied().filter(|&i| loses(i)).collect();
        out.into_iter().for_each(|i| self.is_in[i] = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ConfirmSettings {
        ConfirmSettings::new(0.001, Fraction::new(0.05).expect("it is between 0 and 1"))
    }

    /// The worked value of k = 22, n0 = 10 and alpha = 0.05: 20.532.
    #[test]
    fn h_squared_is_that_of_the_formula() {
        assert!((settings().h_squared(22) - 20.532).abs() < 5e-4, "{}", settings().h_squared(22));
    }

    #[test]
    fn a_candidate_that_is_always_worse_by_the_same_is_eliminated_after_thirty_draws() {
        let mut race = Race::new(2, settings());
        race.add(vec![vec![0.9; 29], vec![0.8; 29]]);
        assert_eq!(race.is_in, [true, true]);
        race.add(vec![vec![0.9], vec![0.8]]);
        assert_eq!(race.is_in, [true, false]);
        assert_eq!(race.wants(), Some(10));
    }

    #[test]
    fn equal_candidates_are_never_separated() {
        let mut race = Race::new(2, ConfirmSettings { cap: 50, ..settings() });
        while let Some(n) = race.wants() {
            race.add(vec![vec![0.5; n as usize]; 2]);
        }
        assert_eq!((race.n_draws, &race.is_in[..]), (50, &[true, true][..]));
    }

    /// Differences of +-0.1 around 0.02: 10 draws are not enough, hundreds are.
    #[test]
    fn a_small_lead_in_much_noise_takes_more_draws() {
        let rule = ConfirmSettings { delta: 0.01, ..settings() };
        let mut race = Race::new(2, rule);
        let mut draw = 0u32;
        while let Some(n) = race.wants() {
            let noise = |at: u32| if at.is_multiple_of(2) { 0.1 } else { -0.1 };
            let values = (draw..draw + n as u32).map(|at| 0.5 + 0.02 + noise(at)).collect();
            race.add(vec![vec![0.5; n as usize], values][..race.left().count()].to_vec());
            draw += n as u32;
            assert!(race.n_draws < 1000);
        }
        assert_eq!(race.is_in, [false, true]);
        assert!(race.values[0].len() > 20);
    }
}
