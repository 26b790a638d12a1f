//! Metrics of many runs of one configuration, averaged as they come.

use crate::metrics::{Drops, Metrics, ModelMetrics, RunMetrics, Service};

/// Weighted means of quantities that not every run has: of each over the runs that have it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Means {
    /// Weighted sum and weight of each.
    sums: Vec<(f64, f64)>,
}

impl Means {
    fn add(&mut self, values: impl Iterator<Item = Option<f64>>, weight: f64) {
        for (index, value) in values.enumerate() {
            if self.sums.len() == index {
                self.sums.push((0.0, 0.0));
            }
            if let Some(value) = value {
                let (sum, weights) = &mut self.sums[index];
                *sum += weight * value;
                *weights += weight;
            }
        }
    }

    /// The means; `None` where no run had a value.
    pub fn values(&self) -> impl Iterator<Item = Option<f64>> {
        self.sums.iter().map(|&(sum, weight)| (weight > 0.0).then(|| sum / weight))
    }
}

/// Mean metrics of the runs of one policy on one configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeanMetrics {
    /// Of the run, in the order of [`RunMetrics::COLUMNS`].
    pub run: Means,
    /// Of every model, in the order of [`MeanMetrics::model_columns`].
    pub models: Vec<Means>,
    /// Of every chain, in the order of [`Service::COLUMNS`].
    pub chains: Vec<Means>,
}

impl MeanMetrics {
    /// Names of the means of a model.
    pub fn model_columns() -> impl Iterator<Item = &'static str> {
        Service::COLUMNS.into_iter().chain(Drops::COLUMNS).chain(ModelMetrics::COLUMNS)
    }

    /// Names of the means of a run.
    pub fn run_columns() -> impl Iterator<Item = &'static str> {
        RunMetrics::COLUMNS.into_iter()
    }

    /// Adds a run with a weight.
    pub(super) fn add(&mut self, metrics: &Metrics, weight: f64) {
        self.models.resize_with(metrics.models.len(), Means::default);
        self.chains.resize_with(metrics.chains.len(), Means::default);
        self.run.add(metrics.run.values().into_iter(), weight);
        for (means, model) in self.models.iter_mut().zip(&metrics.models) {
            let drops = model.drops.values().into_iter().map(|count| Some(count as f64));
            let service = model.service.values().into_iter();
            means.add(service.chain(drops).chain(model.values()), weight);
        }
        for (means, chain) in self.chains.iter_mut().zip(&metrics.chains) {
            means.add(chain.service.values().into_iter(), weight);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (0.25·4 + 0.75·8)/1 = 7; the second quantity is there once, the third never.
    #[test]
    fn a_mean_is_over_the_runs_that_have_the_quantity() {
        let mut means = Means::default();
        means.add([Some(4.0), None, None].into_iter(), 0.25);
        means.add([Some(8.0), Some(3.0), None].into_iter(), 0.75);
        assert_eq!(means.values().collect::<Vec<_>>(), [Some(7.0), Some(3.0), None]);
    }
}
