//! Costs of layers, networks and batches on one or several accelerators and by one or several cost
//! models: as table, CSV, JSON and figures.

mod batch;
mod choices;
mod explain;
mod figure;
mod fused;
mod passes;
mod table;

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::table::Style;
use xrsim_model::cost::loop_nest::Role;
use xrsim_model::cost::{CostModel, Explanation, Infeasible, NetworkCost, PairNames, Quantity};
use xrsim_model::hardware::{Accelerator, Flexibility};
use xrsim_model::model::{Network, Operator};

pub use batch::BatchReport;
use choices::LayerChoice;
pub use explain::explain_layer;

/// A cost model and an accelerator, for which costs are reported.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Name of the cost model.
    pub cost_model: String,
    /// Accelerator.
    pub accelerator: Accelerator,
    /// Whether the cost model lets accelerators choose mappings.
    pub chooses: bool,
}

impl Variant {
    /// Whether dataflow and PEs are the name of the accelerator, as of one without a system.
    fn is_named_by_dataflow(&self) -> bool {
        let Accelerator { name, dataflow, pes, .. } = &self.accelerator;
        **name == *format!("{}@{pes}", dataflow.name())
    }

    /// Flexibility that has an effect.
    fn flexibility(&self) -> Flexibility {
        if self.chooses { self.accelerator.flexibility } else { Flexibility::None }
    }
}

/// A network, a variant that cannot run it, and the reason.
pub(crate) type Pair<'a> = (&'a Network, &'a Variant, &'a Infeasible);

/// The reason for which `network` cannot run by `variant`, with the names of both.
fn in_words(network: &Network, variant: &Variant, reason: &Infeasible) -> String {
    reason.display(&PairNames::new(network.name(), &variant.accelerator)).to_string()
}

/// Costs that can be printed.
pub trait Report {
    /// Pairs of network and variant that cannot run.
    fn infeasible(&self) -> Vec<Pair<'_>>;

    /// Whether no pair can run.
    fn is_infeasible(&self) -> bool;

    /// Table for people.
    fn to_table(&self, style: Style) -> String;

    /// Writes CSV.
    ///
    /// # Errors
    ///
    /// The error of the writer, if writing fails.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()>;

    /// One JSON object.
    fn to_json(&self) -> Value;
}

/// Costs of every network by every variant.
pub struct CostReport {
    networks: Vec<Arc<Network>>,
    variants: Vec<Variant>,
    /// Row-major `[network][variant]`.
    cells: Vec<Cell>,
    /// Name of the only layer to report, if there is one.
    only: Option<String>,
}

/// Cost of one network by one variant.
struct Cell {
    /// Total; it may be impossible even if every layer can be explained.
    total: Result<NetworkCost, Infeasible>,
    /// Explanation of every layer, in execution order; empty if the model knows only whole networks.
    layers: Result<Vec<Explanation>, Infeasible>,
    /// Choice for every layer, in execution order; empty if the accelerator has none.
    choices: Vec<LayerChoice>,
    /// How every layer runs; empty if each does by itself.
    roles: Vec<Role>,
}

impl Cell {
    fn new(model: &dyn CostModel, network: &Network, variant: &Variant) -> Self {
        let layers = model.explain_network(network, &variant.accelerator);
        let total = model.network(network, &variant.accelerator);
        let choices = LayerChoice::of_network(model, network, variant, total.as_ref().ok());
        let roles = fused::roles(model, network, &variant.accelerator);
        Self { total, layers, choices, roles }
    }

    /// Reason for which there is nothing to show.
    fn infeasible(&self) -> Option<&Infeasible> {
        match (&self.layers, &self.total) {
            (Err(reason), _) => Some(reason),
            (Ok(layers), Err(reason)) if layers.is_empty() => Some(reason),
            _ => None,
        }
    }

    fn layers(&self) -> &[Explanation] {
        self.layers.as_deref().unwrap_or_default()
    }
}

impl CostReport {
    /// Evaluates every network by every variant. `models` has the cost model of each variant, in the same
    /// order.
    pub fn new(
        networks: Vec<Arc<Network>>,
        variants: Vec<Variant>,
        models: &[&dyn CostModel],
    ) -> Self {
        let cells = networks
            .iter()
            .flat_map(|network| {
                let cell = |(variant, model): (&Variant, &&dyn CostModel)| {
                    Cell::new(*model, network, variant)
                };
                variants.iter().zip(models).map(cell).collect::<Vec<_>>()
            })
            .collect();
        Self { networks, variants, cells, only: None }
    }

    /// The same report, restricted to the layer called `layer`.
    #[must_use]
    pub fn only(self, layer: &str) -> Self {
        Self { only: Some(layer.into()), ..self }
    }

    fn pairs(&self) -> impl Iterator<Item = (&Arc<Network>, &Variant, &Cell)> {
        let width = self.variants.len();
        self.cells.iter().enumerate().map(move |(index, cell)| {
            (&self.networks[index / width], &self.variants[index % width], cell)
        })
    }

    fn cell(&self, network: usize, variant: usize) -> &Cell {
        &self.cells[network * self.variants.len() + variant]
    }

    /// Indices of the layers to show.
    fn shown<'a>(&'a self, network: &'a Network) -> impl Iterator<Item = usize> + 'a {
        let wanted = move |index: &usize| match &self.only {
            Some(name) => *network.layers()[*index].name == **name,
            None => true,
        };
        (0..network.layers().len()).filter(wanted)
    }

    /// Names of the reported quantities: all of a single model, those in common of several models.
    fn reported(&self) -> Vec<&'static str> {
        let mut explained = self.cells.iter().filter_map(|cell| cell.layers().first());
        let first = explained.next().map(|columns| columns.iter().map(|(name, _)| *name));
        let mut names: Vec<_> = first.into_iter().flatten().collect();
        for other in explained {
            names.retain(|name| other.iter().any(|(known, _)| known == name));
        }
        names
    }

    /// Column names: layer, accelerator, extents, reported quantities, network, cost model, and choices
    /// of mappings where there are any. From `dataflow` to the last reported quantity, the columns of
    /// `maestro` are those of the layer costs of the published artifact.
    /// `shape_id` numbers the distinct operators of the network from 0.
    fn columns(&self) -> Vec<&'static str> {
        let mut columns: Vec<_> = HEAD.iter().map(|(name, _)| *name).collect();
        columns.extend(EXTENTS);
        columns.extend(self.reported());
        columns.extend(["network", "cost_model"]);
        columns.extend(self.names_accelerators().then_some("accelerator"));
        columns.extend(self.has_roles().then_some("fused"));
        columns.extend(self.choice_columns());
        columns
    }

    /// Whether names of accelerators tell more than dataflow and PEs.
    fn names_accelerators(&self) -> bool {
        !self.variants.iter().all(Variant::is_named_by_dataflow)
    }

    /// Whether some layer may ride along with another one.
    fn has_roles(&self) -> bool {
        self.cells.iter().any(|cell| !cell.roles.is_empty())
    }

    /// Columns about choices of mappings; none if no accelerator has a choice.
    fn choice_columns(&self) -> &'static [&'static str] {
        let none = |variant: &Variant| variant.flexibility() == Flexibility::None;
        if self.variants.iter().all(none) { &[] } else { &choices::COLUMNS }
    }

    /// Line about operators that ride along, for one network on one accelerator.
    fn fused_line(&self) -> String {
        match (&self.networks[..], &self.variants[..]) {
            ([network], [variant]) => {
                fused::line(network, &variant.accelerator, &self.cell(0, 0).roles)
            }
            _ => String::new(),
        }
    }

    /// Line about the flexibility of the variants, see [`choices::line`].
    fn choice_line(&self) -> String {
        let shown = self.pairs().flat_map(|(network, _, cell)| {
            self.shown(network).filter_map(|layer| cell.choices.get(layer))
        });
        choices::line(&self.variants, shown)
    }

    /// Cells of every layer, in the order of [`CostReport::columns`].
    fn rows(&self) -> impl Iterator<Item = Vec<Quantity>> + '_ {
        let reported = self.reported();
        self.pairs().flat_map(move |(network, variant, cell)| {
            let reported = reported.clone();
            let layers = self.shown(network).filter(|&layer| layer < cell.layers().len());
            layers.map(move |layer| {
                let mut cells: Vec<_> =
                    HEAD.iter().map(|(_, of)| of(network, variant, layer)).collect();
                cells.extend(extents(&network.layers()[layer].operator));
                let explanation = &cell.layers()[layer];
                cells.extend(reported.iter().map(|name| value(explanation, name)));
                cells.extend([network.name(), &variant.cost_model].map(text));
                let name = self.names_accelerators().then(|| text(&variant.accelerator.name));
                cells.extend(name);
                if self.has_roles() {
                    cells.push(text(&fused::names(network, &cell.roles, layer)));
                }
                if !self.choice_columns().is_empty() {
                    let choice = cell.choices.get(layer).map(|choice| choice.cells(variant));
                    cells.extend(choice.unwrap_or_else(|| LayerChoice::no_cells(variant)));
                }
                cells
            })
        })
    }
}

impl Report for CostReport {
    fn infeasible(&self) -> Vec<Pair<'_>> {
        self.pairs()
            .filter_map(|(network, variant, cell)| Some((&**network, variant, cell.infeasible()?)))
            .collect()
    }

    fn is_infeasible(&self) -> bool {
        self.cells.iter().all(|cell| cell.infeasible().is_some())
    }

    /// Overview. One network by one variant: a row per layer. One network by several variants: a row per
    /// layer, with cycles and energy side by side. Several networks: a row per network and accelerator,
    /// with cost models side by side; the rows of a layer for each network that has it, if one layer is asked for.
    fn to_table(&self, style: Style) -> String {
        let table = match (&self.networks[..], &self.variants[..]) {
            ([_], [variant]) => self.one_variant(0, variant, style),
            ([_], _) => self.side_by_side(0, style),
            _ if self.only.is_some() => self.of_layer(style),
            _ => self.totals(style),
        };
        table + &self.fused_line() + &self.choice_line()
    }

    /// Writes one row per layer.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_csv(out, &self.columns(), self.rows())
    }

    /// Object with layers and totals.
    fn to_json(&self) -> Value {
        let columns = self.columns();
        let layers: Vec<_> = self.rows().map(|row| object(&columns, row)).collect();
        let totals: Vec<_> = self
            .pairs()
            .map(|(network, variant, cell)| {
                let mut total = json!({
                    "network": network.name(),
                    "accelerator": variant.accelerator.name,
                    "cost_model": variant.cost_model,
                    "flexibility": variant.flexibility().name(),
                    "macs": network.macs(),
                });
                match &cell.total {
                    Ok(cost) => {
                        total["cycles"] = json!(cost.cycles.get());
                        total["latency_ms"] = json!(cost.latency.as_ms());
                        total["energy_mj"] = json!(cost.energy().get());
                    }
                    Err(reason) => total["infeasible"] = json!(in_words(network, variant, reason)),
                }
                total
            })
            .collect();
        json!({"layers": layers, "totals": totals})
    }
}

pub(crate) fn write_csv(
    out: &mut dyn Write,
    columns: &[&str],
    rows: impl Iterator<Item: AsRef<[Quantity]>>,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns)?;
    for row in rows {
        writer.write_record(row.as_ref().iter().map(plain))?;
    }
    writer.flush()
}

pub(crate) fn object(columns: &[&str], row: Vec<Quantity>) -> Value {
    let cells = columns.iter().zip(row);
    let named = cells.map(|(name, value)| ((*name).to_string(), number(value)));
    Value::Object(named.collect())
}

/// A column, with its cell for a layer of a network by a variant.
type Column = (&'static str, fn(&Network, &Variant, usize) -> Quantity);

/// Columns that identify a layer.
const HEAD: [Column; 7] = [
    ("layer", |network, _, layer| text(&network.layers()[layer].name)),
    ("dataflow", |_, variant, _| text(variant.accelerator.dataflow.name())),
    ("num_pes", |_, variant, _| count(variant.accelerator.pes.into())),
    ("top_noc_bw", |_, variant, _| count(variant.accelerator.noc.level(0).bandwidth)),
    ("col_noc_bw", |_, variant, _| count(variant.accelerator.noc.level(1).bandwidth)),
    ("shape_id", |network, _, layer| count(network.operator_of()[layer].into())),
    ("type", |network, _, layer| text(network.layers()[layer].operator.name())),
];

/// Columns of the cells of [`extents`].
const EXTENTS: [&str; 7] = ["N", "K", "C", "Y", "X", "R", "S"];

/// A cell of text.
pub(super) fn text(text: &str) -> Quantity {
    Quantity::Text(text.into())
}

/// A cell of a whole number.
pub(super) fn count(count: u64) -> Quantity {
    Quantity::Count(i64::try_from(count).unwrap_or(i64::MAX))
}

/// N, K, C, Y, X, R and S, where Y and X are input rows and columns; empty for operators without extents.
fn extents(operator: &Operator) -> [Quantity; 7] {
    match operator.extents() {
        Some(extents) => extents.map(|extent| Quantity::Count(extent.into())),
        None => [""; 7].map(text),
    }
}

/// The quantity called `name`; empty text if the model does not report it.
fn value(explanation: &Explanation, name: &str) -> Quantity {
    let found = explanation.iter().find(|(known, _)| *known == name);
    found.map_or(text(""), |(_, value)| value.clone())
}

/// The quantity called `name` as a number; `None` if it is absent or text.
fn real(explanation: &Explanation, name: &str) -> Option<f64> {
    match explanation.iter().find(|(known, _)| *known == name)?.1 {
        Quantity::Count(count) => Some(count as f64),
        Quantity::Real(real) => Some(real),
        Quantity::Text(_) => None,
    }
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
