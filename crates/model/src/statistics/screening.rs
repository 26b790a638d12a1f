//! Screening designs of two levels: many factors in few runs.

/// Rows from which the designs of Plackett and Burman (Biometrika 33, 1946) are made by cyclic shifts, one
/// for each number of runs; `+` is the high level.
const GENERATORS: [&str; 9] = [
    "+++-+--",
    "++-+++---+-",
    "++++-+-++--+---",
    "++--++++-+-+----++-",
    "+++++-+-++--++--+-+----",
    "----+-+-+++-++---+++++--++-+--+",
    "-+-+++---+++++-+++--+----+-+-++--+-",
    "++--+-+--+++-+++++---+-+++-----+---++-+-++-",
    "+++++-++++--+-+-+++--+--++-++---+-+-++----+----",
];

/// A two-level screening design: a design of Plackett and Burman and its mirror image.
///
/// The columns of the first half are orthogonal. Alone it has resolution III: main effects are mixed with
/// interactions of two factors. The second half has every level reversed (foldover; Box and Wilson 1951), which
/// makes it resolution IV: main effects are free of interactions of two factors, but those are mixed with each
/// other, and interactions of three factors with main effects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreeningDesign {
    /// Whether each factor is high, `[run][factor]`.
    pub runs: Vec<Vec<bool>>,
}

impl ScreeningDesign {
    /// Most factors of a design.
    pub const MAX_FACTORS: usize = GENERATORS[GENERATORS.len() - 1].len();

    /// The smallest design for `n_factors`; `None` for none, or for more than [`Self::MAX_FACTORS`].
    pub fn new(n_factors: usize) -> Option<Self> {
        let row = GENERATORS.into_iter().find(|row| row.len() >= n_factors)?.as_bytes();
        if n_factors == 0 {
            return None;
        }
        let n = row.len();
        let shifted = |run: usize| {
            let level = |factor: usize| run < n && row[(factor + n - run) % n] == b'+';
            (0..n_factors).map(level).collect::<Vec<_>>()
        };
        let half: Vec<_> = (0..=n).map(shifted).collect();
        let mirrored = half.iter().map(|run| run.iter().map(|high| !high).collect());
        let runs = half.iter().cloned().chain(mirrored).collect();
        Some(Self { runs })
    }

    /// Main effect of `factor` from one result a run: mean of the results with the high level minus that
    /// with the low one.
    pub fn main_effect(&self, factor: usize, results: &[f64]) -> f64 {
        let signed = self.runs.iter().zip(results);
        let signed = signed.map(|(run, result)| if run[factor] { *result } else { -result });
        signed.sum::<f64>() / (self.runs.len() as f64 / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sum over the runs of the product of columns, each -1 or 1.
    fn product(design: &ScreeningDesign, factors: &[usize]) -> i64 {
        let of_run = |run: &Vec<bool>| {
            factors.iter().map(|&factor| if run[factor] { 1 } else { -1 }).product::<i64>()
        };
        design.runs.iter().map(of_run).sum()
    }

    #[test]
    fn columns_are_balanced_and_orthogonal_for_every_number_of_factors() {
        for n in 1..=ScreeningDesign::MAX_FACTORS {
            let design = ScreeningDesign::new(n).expect("there is a design");
            let half = design.runs.len() / 2;
            let first = ScreeningDesign { runs: design.runs[..half].to_vec() };
            assert!(half.is_multiple_of(4) && half > n, "{n} factors in {half} runs");
            for a in 0..n {
                assert_eq!((product(&design, &[a]), product(&first, &[a])), (0, 0), "{n}: {a}");
                for b in a + 1..n {
                    assert_eq!(product(&first, &[a, b]), 0, "{n}: {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn main_effects_are_free_of_interactions_of_two_factors() {
        let design = ScreeningDesign::new(11).expect("there is a design");
        for (a, b, c) in (0..11).flat_map(|a| (0..11).map(move |b| (a, b, (a + b + 1) % 11))) {
            if a != b && b != c && a != c {
                assert_eq!(product(&design, &[a, b, c]), 0);
            }
        }
    }

    /// y = 3 + 2 x0 - x1 + 5 x0 x1 with levels of -1 and 1: the effects are 4 and -2, and none of x2.
    #[test]
    fn main_effects_of_a_model_by_hand_are_found() {
        let design = ScreeningDesign::new(3).expect("there is a design");
        let level = |high: bool| if high { 1.0 } else { -1.0 };
        let result = |run: &Vec<bool>| {
            let [a, b] = [level(run[0]), level(run[1])];
            3.0 + 2.0 * a - b + 5.0 * a * b
        };
        let results: Vec<f64> = design.runs.iter().map(result).collect();
        assert_eq!([0, 1, 2].map(|factor| design.main_effect(factor, &results)), [4.0, -2.0, 0.0]);
    }

    #[test]
    fn no_factors_and_too_many_have_no_design() {
        assert_eq!(ScreeningDesign::new(0), None);
        assert_eq!(ScreeningDesign::new(ScreeningDesign::MAX_FACTORS + 1), None);
    }
}
