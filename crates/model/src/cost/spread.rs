//! Latencies that differ from request to request.

use std::sync::Arc;

use statrs::distribution::{ContinuousCDF as _, Normal};

/// Quantile of the standard normal distribution at 0.95.
pub const Z95: f64 = 1.644_853_626_951_472_2;

/// Quantile of the standard normal distribution at 0.99.
const Z99: f64 = 2.326_347_874_040_841;

/// Distribution of the latency of a network on an accelerator, over its median.
#[derive(Debug, Clone, PartialEq)]
pub enum Spread {
    /// Log-normal: the logarithm of the latency over its median has this standard deviation.
    LogNormal(f64),
    /// Latencies that were measured, over their median, in ascending order; at least one.
    Samples(Arc<[f64]>),
}

impl Spread {
    /// The log-normal distribution with this quantile at 0.95 over the median, which is at least 1.
    pub fn log_normal(p95: f64) -> Self {
        Self::LogNormal(p95.max(1.0).ln() / Z95)
    }

    /// The latency over the median that a share `u` of requests does not exceed, above 0 and below 1.
    pub fn factor(&self, u: f64) -> f64 {
        match self {
            Self::LogNormal(sigma) => (sigma * Normal::standard().inverse_cdf(u)).exp(),
            Self::Samples(samples) => {
                let place = (u * samples.len() as f64) as usize;
                samples[place.min(samples.len() - 1)]
            }
        }
    }

    /// The quantile at 0.99 over the median.
    pub fn p99(&self) -> f64 {
        match self {
            Self::LogNormal(sigma) => (sigma * Z99).exp(),
            Self::Samples(_) => self.factor(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// exp(σ z) with σ = ln(2) / z95 at 0.5, 0.95 and 0.99: 1, 2 and 2^(z99 / z95) = 2.6651.
    #[test]
    fn a_log_normal_distribution_goes_through_its_quantiles() {
        let spread = Spread::log_normal(2.0);
        for (u, factor) in [(0.5, 1.0), (0.95, 2.0), (0.05, 0.5)] {
            assert!((spread.factor(u) - factor).abs() < 1e-9, "{u}");
        }
        assert!((spread.p99() - 2.0f64.powf(Z99 / Z95)).abs() < 1e-12);
        assert_eq!(Spread::log_normal(1.0).factor(0.99), 1.0);
    }

    #[test]
    fn samples_are_drawn_equally_often() {
        let spread = Spread::Samples([0.5, 1.0, 4.0].into());
        let drawn = [0.0, 0.33, 0.34, 0.66, 0.67, 0.999].map(|u| spread.factor(u));
        assert_eq!(drawn, [0.5, 0.5, 1.0, 1.0, 4.0, 4.0]);
    }
}
