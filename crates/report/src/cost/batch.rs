//! Costs of networks for several inputs at once: as table, CSV and JSON.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::table::{Style, new_table, render};
use xrsim_model::cost::batch::{BatchCost, BatchCosts};
use xrsim_model::cost::{CostModel, Infeasible, Quantity};
use xrsim_model::model::Network;

use super::{Pair, Report, Variant, in_words, object, plain, write_csv};

/// Columns: network, accelerator and cost model; number of inputs in the batch; the sequence of smaller
/// batches into which it is divided for the lowest latency; latency and energy of the whole; flexibility.
const COLUMNS: [&str; 11] = [
    "network",
    "dataflow",
    "num_pes",
    "cost_model",
    "batch",
    "parts",
    "latency_ms",
    "energy_mj",
    "inputs_per_s",
    "energy_mj_per_input",
    "flexibility",
];

/// Headers of the table for people. The first two columns are text.
const HEADER: [&str; 11] = [
    "network",
    "dataflow",
    "PEs",
    "model",
    "batch",
    "parts",
    "ms",
    "mJ",
    "1/s",
    "mJ each",
    "flexibility",
];

/// Costs of every network by every variant in batches of several sizes.
pub struct BatchReport {
    /// Cells of every batch, in the order of [`COLUMNS`].
    rows: Vec<[Quantity; COLUMNS.len()]>,
    infeasible: Vec<(Arc<Network>, Variant, Infeasible)>,
}

impl BatchReport {
    /// Evaluates every network by every variant in batches of these `sizes`. `models` has the cost model of
    /// each variant, in the same order.
    ///
    /// # Panics
    ///
    /// If a size is 0 or larger than [`BatchCosts::MAX_BATCH`].
    pub fn new(
        networks: &[Arc<Network>],
        variants: &[Variant],
        models: &[&dyn CostModel],
        sizes: &[u32],
    ) -> Self {
        let largest = sizes.iter().copied().max().unwrap_or(1);
        let (mut rows, mut infeasible) = (Vec::new(), Vec::new());
        for network in networks {
            for (variant, model) in variants.iter().zip(models) {
                match BatchCosts::new(*model, network, &variant.accelerator, largest) {
                    Ok(costs) => {
                        rows.extend(sizes.iter().map(|&size| row(network, variant, &costs, size)));
                    }
                    Err(why) => infeasible.push((Arc::clone(network), variant.clone(), why)),
                }
            }
        }
        Self { rows, infeasible }
    }
}

impl Report for BatchReport {
    fn infeasible(&self) -> Vec<Pair<'_>> {
        self.infeasible.iter().map(|(network, variant, why)| (&**network, variant, why)).collect()
    }

    fn is_infeasible(&self) -> bool {
        self.rows.is_empty()
    }

    /// One row per batch.
    fn to_table(&self, style: Style) -> String {
        let mut table = new_table(style, &HEADER, 2);
        for row in &self.rows {
            table.add_row(row.iter().map(|cell| match cell {
                Quantity::Real(real) => format!("{real:.3}"),
                other => plain(other),
            }));
        }
        render(&table)
    }

    /// One row per batch.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_csv(out, &COLUMNS, self.rows.iter())
    }

    /// Object with batches and with pairs that cannot run.
    fn to_json(&self) -> Value {
        let infeasible = |(network, variant, reason): &(Arc<Network>, Variant, Infeasible)| {
            json!({
                "network": network.name(),
                "accelerator": variant.accelerator.name,
                "cost_model": variant.cost_model,
                "infeasible": in_words(network, variant, reason),
            })
        };
        let batches = self.rows.iter().map(|row| object(&COLUMNS, row.to_vec()));
        json!({
            "batches": batches.collect::<Vec<_>>(),
            "infeasible": self.infeasible.iter().map(infeasible).collect::<Vec<_>>(),
        })
    }
}

/// Cells of one batch, in the order of [`COLUMNS`].
fn row(
    network: &Network,
    variant: &Variant,
    costs: &BatchCosts,
    size: u32,
) -> [Quantity; COLUMNS.len()] {
    let BatchCost { latency, energy, .. } = costs.of(size);
    let accelerator = &variant.accelerator;
    let inputs = f64::from(size);
    [
        Quantity::Text(network.name().into()),
        Quantity::Text(accelerator.dataflow.name().into()),
        Quantity::Count(accelerator.pes.into()),
        Quantity::Text(variant.cost_model.clone()),
        Quantity::Count(size.into()),
        Quantity::Text(parts(costs, size)),
        Quantity::Real(latency.as_ms()),
        Quantity::Real(energy.get()),
        Quantity::Real(1e9 * inputs / latency.ns() as f64),
        Quantity::Real(energy.get() / inputs),
        Quantity::Text(variant.flexibility().to_string()),
    ]
}

/// Division of a batch into smaller ones, e.g. `8`, or `2x8+4` for 20 inputs.
fn parts(costs: &BatchCosts, size: u32) -> String {
    let parts: Vec<_> = costs.parts(size).collect();
    let run = |run: &[u32]| match run {
        [part] => part.to_string(),
        _ => format!("{}x{}", run.len(), run[0]),
    };
    parts.chunk_by(u32::eq).map(run).collect::<Vec<_>>().join("+")
}
