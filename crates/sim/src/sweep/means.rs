//! Means of the metrics of many runs of one configuration, accumulated run by run.

use crate::metrics::{DeviceMetrics, Metrics, RunMetrics};

/// Weighted means of quantities, each over the runs that have it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Means {
    /// Weighted sum and weight of each quantity.
    sums: Vec<(f64, f64)>,
}

impl Means {
    /// Means of these weighted sums, each with its weight.
    pub(super) fn of_sums(sums: Vec<(f64, f64)>) -> Self {
        Self { sums }
    }

    /// Weighted sum and weight of each quantity.
    pub(super) fn sums(&self) -> &[(f64, f64)] {
        &self.sums
    }

    /// Adds the sums and weights of further runs.
    fn merge(&mut self, other: &Self) {
        self.sums.resize(self.sums.len().max(other.sums.len()), (0.0, 0.0));
        for ((sum, weights), (more, weight)) in self.sums.iter_mut().zip(&other.sums) {
            *sum += more;
            *weights += weight;
        }
    }

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
    /// Means of the run, in the order of [`RunMetrics::COLUMNS`].
    pub run: Means,
    /// Means of the hardware, in the order of [`DeviceMetrics::COLUMNS`].
    pub device: Means,
    /// Means of every model, in the order of [`ModelMetrics::names`](crate::metrics::ModelMetrics::names).
    pub models: Vec<Means>,
    /// Means of every chain, in the order of [`ChainMetrics::values`](crate::metrics::ChainMetrics::values).
    pub chains: Vec<Means>,
    /// Number of runs that the device ended before their duration.
    pub n_stopped: u64,
}

impl MeanMetrics {
    /// Adds a run with a weight.
    pub(super) fn add(&mut self, metrics: &Metrics, device: &DeviceMetrics, weight: f64) {
        self.device.add(DeviceMetrics::COLUMNS.iter().map(|column| column.of(device)), weight);
        self.models.resize_with(metrics.models.len(), Means::default);
        self.chains.resize_with(metrics.chains.len(), Means::default);
        self.run.add(RunMetrics::COLUMNS.iter().map(|column| column.of(&metrics.run)), weight);
        for (means, model) in self.models.iter_mut().zip(&metrics.models) {
            means.add(model.values(), weight);
        }
        for (means, chain) in self.chains.iter_mut().zip(&metrics.chains) {
            means.add(chain.values(), weight);
        }
    }

    /// Adds further runs.
    pub(super) fn merge(&mut self, other: &Self) {
        // Parts of a comparison are read from files.
        self.n_stopped = self.n_stopped.saturating_add(other.n_stopped);
        self.run.merge(&other.run);
        self.device.merge(&other.device);
        self.models.resize_with(other.models.len(), Means::default);
        self.chains.resize_with(other.chains.len(), Means::default);
        let means = self.models.iter_mut().chain(&mut self.chains);
        means.zip(other.models.iter().chain(&other.chains)).for_each(|(own, it)| own.merge(it));
    }

    /// Mean of the metric of the run called `name`; `None` without such a metric or value.
    pub fn of_run(&self, name: &str) -> Option<f64> {
        let at = RunMetrics::COLUMNS.iter().position(|column| column.name == name)?;
        self.run.values().nth(at)?
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
