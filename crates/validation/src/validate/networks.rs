//! Sizes of the reference networks against published sizes.

use xrsim_config::{Catalog, ConfigError, Edition, Kind, Model};
use xrsim_report::network::{Facts, Trace};

use super::{Comparison, Verdict};

/// Size of the network of `model`, computed from its layers and as published.
pub fn facts(model: &Model) -> Facts<'_> {
    let published = model.published.as_ref();
    Facts {
        network: &model.network,
        other_parameters: model.other_parameters,
        batch_norm_channels: model.batch_norm_channels,
        published_parameters: published.and_then(|published| published.parameters),
        published_macs: published.and_then(|published| published.macs),
        trace: model.traced.as_ref().map(|traced| Trace {
            code: &traced.code,
            layers: traced.layers,
            edges: traced.edges,
            remark: &traced.remark,
        }),
    }
}

/// Compares parameters and multiply-accumulates of every reference network with the published numbers.
///
/// # Errors
///
/// [`ConfigError`] if an embedded network is invalid.
pub(super) fn compare() -> Result<Vec<Comparison>, ConfigError> {
    let mut catalog = Catalog::with_networks(Edition::Reference);
    let mut comparisons = Vec::new();
    for name in [catalog.names(Kind::Network), catalog.mlperf_networks()].concat() {
        let model = catalog.model(&name)?;
        let is_published = model.published.is_some();
        comparisons.push(Comparison {
            what: format!("network {name}"),
            with: if is_published { "published size" } else { "nothing published" },
            result: facts(&model).summary(),
            verdict: Verdict::Stated,
        });
    }
    Ok(comparisons)
}
