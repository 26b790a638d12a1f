//! Number of queries for a percentile (Reddi et al., MLPerf Inference Benchmark, ISCA 2020,
//! section III-D).

/// Confidence of the number of queries.
const CONFIDENCE: f64 = 0.99;

/// `NORMSINV((1 − 0.99) / 2)`: the standard normal is below with probability 0.005.
const Z: f64 = -2.575_829_303_548_9;

/// Counts are rounded up to a multiple of this, the next power of two of the paper.
const MULTIPLE: u64 = 1 << 13;

/// Number of queries for a percentile of tail latency: a row of Table IV.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryCount {
    /// Percentile, as a fraction in (0, 1).
    pub percentile: f64,
    /// Confidence that the measured percentile is within the margin.
    pub confidence: f64,
    /// Margin of error (equation 1): a twentieth of the tail.
    pub margin: f64,
    /// Number of queries (equation 2), rounded to the nearest whole number.
    ///
    /// Deviation: the table prints 50,425 for the 95th percentile where equation 2 gives 50,425.21;
    /// rounding to the nearest, not up, reproduces every row.
    pub inferences: u64,
    /// `inferences` rounded up to a multiple of 2^13.
    pub rounded: u64,
}

impl QueryCount {
    /// Number of queries for `percentile`, a fraction in (0, 1):
    ///
    /// ```text
    /// margin     = (1 − p) / 20
    /// inferences = z² · p · (1 − p) / margin²
    /// ```
    pub fn for_percentile(percentile: f64) -> Self {
        let margin = (1.0 - percentile) / 20.0;
        let exact = Z * Z * percentile * (1.0 - percentile) / (margin * margin);
        let inferences = exact.round() as u64;
        let rounded = inferences.div_ceil(MULTIPLE).saturating_mul(MULTIPLE);
        Self { percentile, confidence: CONFIDENCE, margin, inferences, rounded }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table IV of the paper, column by column, and the row of the 97th percentile that the rules add
    /// for translation: 11 · 8192 = 90,112.
    #[test]
    fn table_iv_is_reproduced() {
        let rows = [0.90, 0.95, 0.99].map(QueryCount::for_percentile);
        assert_eq!(rows.map(|row| row.inferences), [23_886, 50_425, 262_742]);
        assert_eq!(rows.map(|row| row.rounded / 8192), [3, 7, 33]);
        assert_eq!(rows.map(|row| row.rounded), [24_576, 57_344, 270_336]);
        for (row, margin) in rows.iter().zip([0.005, 0.0025, 0.0005]) {
            // One unit in the last place of the table.
            assert!((row.margin - margin).abs() < 1e-15, "{row:?}");
            assert_eq!(row.confidence, 0.99);
        }
        let translation = QueryCount::for_percentile(0.97);
        assert_eq!((translation.inferences, translation.rounded), (85_811, 90_112));
    }

    #[test]
    fn no_percentile_overflows() {
        assert_eq!(QueryCount::for_percentile(0.0).rounded, 0);
        assert_eq!(QueryCount::for_percentile(1.0f64.next_down()).rounded, u64::MAX);
    }
}
