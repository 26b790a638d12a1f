//! Comparisons with other models and chips, counted by source and quantity.

use xrsim_model::statistics::spearman_rho;

use super::{Agreement, Number, Reason};

/// All numbers of one quantity of one source.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Tool or chip.
    pub source: &'static str,
    /// Quantity.
    pub quantity: &'static str,
    /// Numbers that were compared.
    pub n: usize,
    /// Numbers that are equal.
    pub n_equal: usize,
    /// Further numbers within the tolerance.
    pub n_within: usize,
    /// Allowed relative difference.
    pub tolerance: f64,
    /// Further numbers that a rule of the other side reproduces.
    pub n_by_rule: usize,
    /// Numbers whose difference is stated, and not reproduced.
    pub n_open: usize,
    /// Numbers that differ without a stated reason.
    pub n_different: usize,
    /// Stated reasons with how many numbers each has, in order of first use.
    pub reasons: Vec<(Reason, usize)>,
    /// Ratio to the other side that is farthest from 1; 0 or infinite if one side only is 0.
    pub worst: f64,
    /// Sum of the logarithms of the ratios where both sides are above 0, and their number.
    logarithms: (f64, usize),
    /// Absolute relative differences, without those of numbers where the reference alone is 0.
    errors: Vec<f64>,
    /// Our numbers and those of the other side.
    pairs: Vec<(f64, f64)>,
}

impl Summary {
    /// Summaries of `numbers`, in order of first use.
    pub fn of(numbers: &[Number]) -> Vec<Self> {
        let mut summaries: Vec<Self> = Vec::new();
        for number in numbers {
            let same =
                |it: &&mut Self| it.source == number.source && it.quantity == number.quantity;
            match summaries.iter_mut().find(same) {
                Some(summary) => summary.add(number),
                None => {
                    let mut summary = Self::new(number);
                    summary.add(number);
                    let place = summaries.iter().rposition(|it| it.source == number.source);
                    summaries.insert(place.map_or(summaries.len(), |place| place + 1), summary);
                }
            }
        }
        summaries
    }

    fn new(number: &Number) -> Self {
        Self {
            source: number.source,
            quantity: number.quantity,
            tolerance: number.tolerance,
            worst: 1.0,
            ..Self::default()
        }
    }

    fn add(&mut self, number: &Number) {
        self.n += 1;
        match number.agreement {
            Agreement::Equal => self.n_equal += 1,
            Agreement::Within => self.n_within += 1,
            Agreement::ByRule(_) => self.n_by_rule += 1,
            Agreement::Open(_) => self.n_open += 1,
            Agreement::Differs => self.n_different += 1,
        }
        if let Some(reason) = number.agreement.reason() {
            match self.reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, n)) => *n += 1,
                None => self.reasons.push((reason, 1)),
            }
        }
        let ratio = number.ratio();
        if ratio.ln().abs() > self.worst.ln().abs() {
            self.worst = ratio;
        }
        let is_above_zero = number.found > 0.0 && number.reference > 0.0;
        if is_above_zero && ratio.is_finite() {
            self.logarithms.0 += ratio.ln();
            self.logarithms.1 += 1;
        }
        // Two zeros are equal, and their ratio is 1.
        if number.reference != 0.0 || number.found == 0.0 {
            self.errors.push((ratio - 1.0).abs());
        }
        self.pairs.push((number.found, number.reference));
    }

    /// Geometric mean of the ratios to the other side, without those where one side is 0.
    pub fn geometric_mean(&self) -> Option<f64> {
        let (sum, n) = self.logarithms;
        (n > 0).then(|| (sum / n as f64).exp())
    }

    /// Mean absolute relative difference, without numbers where the reference alone is 0.
    pub fn mean_error(&self) -> Option<f64> {
        let n = self.errors.len();
        (n > 0).then(|| self.errors.iter().sum::<f64>() / n as f64)
    }

    /// Median absolute relative difference, without numbers whose reference is 0.
    pub fn median_error(&self) -> Option<f64> {
        let mut errors = self.errors.clone();
        errors.sort_unstable_by(f64::total_cmp);
        let n = errors.len();
        (n > 0).then(|| f64::midpoint(errors[(n - 1) / 2], errors[n / 2]))
    }

    /// Spearman's rank correlation of our numbers with those of the other side; `None` if those of a side are equal.
    pub fn spearman(&self) -> Option<f64> {
        spearman_rho(self.pairs.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(quantity: &'static str, found: f64, reference: f64, agreement: Agreement) -> Number {
        Number {
            source: "tool",
            quantity,
            file: "file".into(),
            line: 2,
            case: "case".into(),
            column: "column".into(),
            found,
            reference,
            by_rule: None,
            tolerance: 0.0,
            agreement,
        }
    }

    #[test]
    fn numbers_are_counted_by_quantity() {
        let numbers = [
            number("a", 2.0, 1.0, Agreement::ByRule("why")),
            number("b", 1.0, 1.0, Agreement::Equal),
            number("a", 1.0, 8.0, Agreement::Differs),
            number("a", 0.0, 5.0, Agreement::Open("who knows")),
            number("a", 0.0, 0.0, Agreement::Equal),
        ];
        let summaries = Summary::of(&numbers);
        assert_eq!(summaries.len(), 2);
        let first = &summaries[0];
        let counts = [first.n, first.n_equal, first.n_by_rule, first.n_open, first.n_different];
        assert_eq!(counts, [4, 1, 1, 1, 1]);
        assert_eq!(first.reasons, [("why", 1), ("who knows", 1)]);
        // 2 and 1/8, without those where a side is 0; the worst is the 0.
        let mean = first.geometric_mean().expect("there are ratios");
        assert!((mean - 0.5).abs() < 1e-12, "{mean}");
        assert_eq!(first.worst, 0.0);
        // |2 - 1|, |1/8 - 1|, |0 - 1| and 0 of the two zeros.
        assert_eq!(first.mean_error(), Some((1.0 + 0.875 + 1.0) / 4.0));
        // Of 0, 0.875, 1 and 1; and 2, 1, 0, 0 against 1, 8, 5, 0, of ranks 4, 3, 1.5, 1.5 and 2, 4, 3, 1.
        assert_eq!(summaries[0].median_error(), Some(0.9375));
        let rank = summaries[0].spearman().expect("the numbers differ");
        assert!((rank - 1.0 / 22.5f64.sqrt()).abs() < 1e-12, "{rank}");
        assert_eq!((summaries[1].geometric_mean(), summaries[1].worst), (Some(1.0), 1.0));
    }
}
