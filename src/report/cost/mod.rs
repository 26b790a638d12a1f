//! Layer costs of one network on one accelerator, as table, CSV and JSON.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::cost::{CostModel, Explanation, Infeasible, NetworkCost, Quantity};
use crate::hardware::Accelerator;
use crate::model::{LayerShape, Network};

use super::table::{self, Style};

/// Costs of all layers of a network, gathered for printing.
pub struct CostReport<'a> {
    network: &'a Network,
    accelerator: &'a Accelerator,
    /// Cost of the network; a total may be impossible where every layer can be explained.
    total: Result<NetworkCost, Infeasible>,
    /// What the model says of every layer, in execution order; empty if it only knows networks.
    layers: Vec<Explanation>,
}

impl<'a> CostReport<'a> {
    /// Evaluates `network`.
    ///
    /// # Errors
    ///
    /// The first layer that cannot run on `accelerator`.
    pub fn new(
        model: &dyn CostModel,
        network: &'a Network,
        accelerator: &'a Accelerator,
    ) -> Result<Self, Infeasible> {
        let total = model.network(network, accelerator);
        let layers = model.explain_network(network, accelerator)?;
        if layers.is_empty() {
            total.clone()?;
        }
        Ok(Self { network, accelerator, total, layers })
    }

    /// Column names: the layer, what it runs on, its shape, and what the model reports. From the
    /// second on they are those of the published artifact's layer costs; `shape_id` counts the
    /// distinct shapes of the network from 0.
    fn columns(&self) -> Vec<&'static str> {
        let mut columns = vec![
            "layer",
            "dataflow",
            "num_pes",
            "top_noc_bw",
            "col_noc_bw",
            "shape_id",
            "type",
            "N",
            "K",
            "C",
            "Y",
            "X",
            "R",
            "S",
        ];
        columns.extend(self.layers.iter().take(1).flatten().map(|(name, _)| *name));
        columns
    }

    /// Cells of every layer in execution order, in the order of [`CostReport::columns`].
    fn rows(&self) -> impl Iterator<Item = Vec<Quantity>> + '_ {
        let bandwidth = &self.accelerator.noc.bandwidth;
        let top = bandwidth.first().copied().unwrap_or(0);
        let column = bandwidth.get(1).copied().unwrap_or(top);
        let layers = self.network.layers().iter().zip(self.network.shape_of());
        layers.zip(&self.layers).map(move |((layer, &id), explanation)| {
            let LayerShape { kind, n, k, c, y, x, r, s, .. } = layer.shape;
            let mut cells = vec![
                Quantity::Text(layer.name.to_string()),
                Quantity::Text(self.accelerator.dataflow.name().to_string()),
                Quantity::Count(self.accelerator.pes.into()),
                Quantity::Count(i64::try_from(top).unwrap_or(i64::MAX)),
                Quantity::Count(i64::try_from(column).unwrap_or(i64::MAX)),
                Quantity::Count(id.into()),
                Quantity::Text(kind.artifact_name().to_string()),
            ];
            cells.extend([n, k, c, y, x, r, s].map(|extent| Quantity::Count(extent.into())));
            cells.extend(explanation.iter().map(|(_, value)| value.clone()));
            cells
        })
    }

    /// One row a layer.
    ///
    /// # Errors
    ///
    /// What the writer says.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(self.columns())?;
        for row in self.rows() {
            writer.write_record(row.iter().map(plain))?;
        }
        writer.flush()
    }

    /// Layers and total as one JSON object.
    pub fn to_json(&self) -> Value {
        let columns = self.columns();
        let layers: Vec<Value> = self
            .rows()
            .map(|row| {
                let cells = columns.iter().zip(row);
                Value::Object(
                    cells
                        .map(|(name, value)| ((*name).to_string(), number(value)))
                        .collect::<Map<_, _>>(),
                )
            })
            .collect();
        let total = match &self.total {
            Ok(total) => json!({
                "cycles": total.cycles.get(),
                "latency_ms": total.latency.as_ms(),
                "energy_mj": total.energy().get(),
                "macs": self.network.macs(),
            }),
            Err(reason) => json!({"infeasible": reason.to_string()}),
        };
        json!({
            "network": self.network.name(),
            "accelerator": self.accelerator.name,
            "layers": layers,
            "total": total,
        })
    }

    /// The columns that an architect looks at first: extents, multiply-accumulates, cycles,
    /// utilisation, energy; then the total.
    pub fn to_table(&self, style: Style) -> String {
        let header = [
            "layer",
            "type",
            "K",
            "C",
            "Y",
            "X",
            "R",
            "S",
            "MMAC",
            "cycles",
            "MAC/PE/cycle",
            "energy uJ",
        ];
        let mut table = table::new_table(style, &header, 2);
        for (layer, explanation) in self.network.layers().iter().zip(&self.layers) {
            let LayerShape { kind, k, c, y, x, r, s, .. } = layer.shape;
            let mut row = vec![layer.name.to_string(), kind.artifact_name().to_string()];
            row.extend([k, c, y, x, r, s].map(|extent| extent.to_string()));
            let (cycles, energy_nj) = cost_of(explanation);
            row.extend(self.cells(layer.shape.macs(), cycles, energy_nj));
            table.add_row(row);
        }
        let mut row = vec!["total".to_string()];
        row.resize(8, String::new());
        match &self.total {
            Ok(total) => {
                let cycles = i64::try_from(total.cycles.get()).unwrap_or(i64::MAX);
                row.extend(self.cells(self.network.macs(), cycles, total.energy_nj));
            }
            Err(reason) => row[1] = format!("infeasible: {reason}"),
        }
        table.add_row(row);
        table::render(&table)
    }

    fn cells(&self, macs: u64, cycles: i64, energy_nj: f64) -> [String; 4] {
        let utilisation = macs as f64 / (cycles as f64 * f64::from(self.accelerator.pes));
        [
            format!("{:.3}", macs as f64 / 1e6),
            cycles.to_string(),
            format!("{utilisation:.3}"),
            format!("{:.1}", energy_nj / 1e3),
        ]
    }
}

/// Cycles and energy \[nJ\] among the columns of a layer.
fn cost_of(explanation: &Explanation) -> (i64, f64) {
    let find = |wanted| explanation.iter().find(|(name, _)| *name == wanted).map(|(_, v)| v);
    let cycles = match find("runtime_cycles") {
        Some(Quantity::Count(cycles)) => *cycles,
        _ => 0,
    };
    let energy_nj = match find("energy_nJ") {
        Some(Quantity::Real(energy)) => *energy,
        _ => 0.0,
    };
    (cycles, energy_nj)
}

fn plain(value: &Quantity) -> String {
    match value {
        Quantity::Count(count) => count.to_string(),
        Quantity::Real(real) => real.to_string(),
        Quantity::Text(text) => text.clone(),
    }
}

fn number(value: Quantity) -> Value {
    match value {
        Quantity::Count(count) => json!(count),
        Quantity::Real(real) => json!(real),
        Quantity::Text(text) => json!(text),
    }
}
