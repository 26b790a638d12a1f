//! Costs of networks for several inputs at once: as table, CSV and JSON.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::table::{Style, new_table, render};
use xrsim_model::cost::batch::{BatchCost, BatchCosts};
use xrsim_model::cost::{CostModel, Infeasible, Quantity};
use xrsim_model::model::Network;

use super::{Pair, Report, Variant, count, in_words, object, plain, text, write_csv};

/// A batch of inputs of a network.
struct Batch<'a> {
    network: &'a Network,
    variant: &'a Variant,
    size: u32,
    parts: String,
    cost: BatchCost,
}

/// A column: its name, its heading in the table for people, and its cell.
type Column = (&'static str, &'static str, fn(&Batch<'_>) -> Quantity);

/// Column of accelerators whose names tell more than dataflow and PEs.
const ACCELERATOR: Column = ("accelerator", "accelerator", |it| text(&it.variant.accelerator.name));

/// Columns: network, accelerator and cost model; number of inputs in the batch; the sequence of smaller
/// batches into which it is divided for the lowest latency; latency and energy of the whole; flexibility.
const COLUMNS: [Column; 11] = [
    ("network", "network", |it| text(it.network.name())),
    ("dataflow", "dataflow", |it| text(it.variant.accelerator.dataflow.name())),
    ("num_pes", "PEs", |it| count(it.variant.accelerator.pes.into())),
    ("cost_model", "model", |it| text(&it.variant.cost_model)),
    ("batch", "batch", |it| count(it.size.into())),
    ("parts", "parts", |it| text(&it.parts)),
    ("latency_ms", "ms", |it| Quantity::Real(it.cost.latency.as_ms())),
    ("energy_mj", "mJ", |it| Quantity::Real(it.cost.energy.get())),
    ("inputs_per_s", "1/s", |it| {
        Quantity::Real(1e9 * f64::from(it.size) / it.cost.latency.ns() as f64)
    }),
    ("energy_mj_per_input", "mJ each", |it| {
        Quantity::Real(it.cost.energy.get() / f64::from(it.size))
    }),
    ("flexibility", "flexibility", |it| text(it.variant.flexibility().name())),
];

/// Costs of every network by every variant in batches of several sizes.
pub struct BatchReport {
    columns: Vec<Column>,
    /// Cells of every batch, in the order of the columns.
    rows: Vec<Vec<Quantity>>,
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
        let names_accelerators = !variants.iter().all(Variant::is_named_by_dataflow);
        let columns: Vec<_> =
            COLUMNS.into_iter().chain(names_accelerators.then_some(ACCELERATOR)).collect();
        let (mut rows, mut infeasible) = (Vec::new(), Vec::new());
        for network in networks {
            for (variant, model) in variants.iter().zip(models) {
                match BatchCosts::new(*model, network, &variant.accelerator, largest) {
                    Ok(costs) => {
                        rows.extend(sizes.iter().map(|&size| {
                            let (parts, cost) = (parts(&costs, size), costs.of(size));
                            let batch = Batch { network, variant, size, parts, cost };
                            columns.iter().map(|(.., cell)| cell(&batch)).collect()
                        }));
                    }
                    Err(why) => infeasible.push((Arc::clone(network), variant.clone(), why)),
                }
            }
        }
        Self { columns, rows, infeasible }
    }

    fn of(&self, part: fn(&Column) -> &'static str) -> Vec<&'static str> {
        self.columns.iter().map(part).collect()
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
        let mut table = new_table(style, &self.of(|(_, heading, _)| heading), 2);
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
        write_csv(out, &self.of(|(name, ..)| name), self.rows.iter())
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
        let names = self.of(|(name, ..)| name);
        let batches = self.rows.iter().map(|row| object(&names, row.to_vec()));
        json!({
            "batches": batches.collect::<Vec<_>>(),
            "infeasible": self.infeasible.iter().map(infeasible).collect::<Vec<_>>(),
        })
    }
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
