//! Sums of many terms.

/// A compensated sum (Neumaier): its error does not grow with the number of terms.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    /// Adds a term.
    #[inline]
    pub fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        self.lost += match self.sum.abs() >= term.abs() {
            true => (self.sum - sum) + term,
            false => (term - sum) + self.sum,
        };
        self.sum = sum;
    }

    /// The sum.
    pub fn get(&self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_beside_large_ones_are_not_lost() {
        let mut sum = Sum::default();
        for term in [1.0, 1e100, 1.0, -1e100] {
            sum.add(term);
        }
        assert_eq!(sum.get(), 2.0);
    }
}
