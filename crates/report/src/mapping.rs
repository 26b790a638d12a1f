//! Mappings of layers: as table, CSV and JSON.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use xrsim_model::mapper::{MappedLayer, MappedNetwork, Objective, Status, Value, Violation};

use super::network::grouped;
use super::table::{Columns, Style, or_dash, percent};

/// Mappings of networks, and what they were searched for.
pub struct MappingReport {
    /// Networks.
    pub networks: Vec<MappedNetwork>,
    /// Whether the accelerators are those of systems, whose names tell them apart.
    pub names_accelerators: bool,
    /// Objective by which mappings are compared.
    pub objective: Objective,
    /// Names of the dataflows that they are compared with.
    pub dataflows: Vec<Box<str>>,
    /// Words for the mapspace that was decided if one was enumerated, such as the family of sizes.
    pub space: String,
    /// Name of the file that has the mappings, if one was written.
    pub file: Option<String>,
}

impl MappingReport {
    /// A table of every network.
    pub fn to_table(&self, style: Style) -> String {
        let listed = match self.dataflows.is_empty() {
            true => "listed".into(),
            false => format!("best of {}", self.dataflows.join(" ")),
        };
        let unit = match self.objective {
            Objective::Cycles => "cycles",
            Objective::Edp => "uJ Mcycle",
            _ => "uJ",
        };
        let texts = self.networks.iter().map(|network| {
            let table = Columns::<&MappedLayer>::new()
                .text("layer", |it| it.layer.to_string())
                .number(&*listed, |it| or_dash(it.listed.as_ref(), |it| self.listed(it)))
                .number(format!("found {unit}"), |it| self.number(&it.value))
                .number("better", |it| or_dash(self.better(it), percent))
                .number("lower bound", |it| self.number(&it.bound))
                .number("gap", |it| or_dash(self.gap(it), percent))
                .number("energy uJ", |it| format!("{:.1}", it.value.energy_pj / 1e6))
                .text("status", |it| self.status(it))
                .text("mapping", |it| match &self.file {
                    Some(file) => format!("{file}#{}", it.layer),
                    None => it.mappings.join("; "),
                })
                .of(&network.layers);
            let heading = match self.networks.len() {
                1 => String::new(),
                _ if self.names_accelerators => {
                    format!("{} on {}\n", network.network, network.accelerator)
                }
                _ => format!("{}\n", network.network),
            };
            heading + &table.text(style)
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Value and name of the best dataflow.
    fn listed(&self, (name, value): &(Box<str>, Value)) -> String {
        format!("{} ({name})", self.number(value))
    }

    fn number(&self, value: &Value) -> String {
        match self.objective {
            Objective::Cycles => grouped(value.cycles),
            Objective::Edp => format!("{:.3}", value.edp() / 1e12),
            _ => format!("{:.3}", value.energy_pj / 1e6),
        }
    }

    /// Part of the value of the best dataflow that the mapping saves, from 0 to 1.
    fn better(&self, layer: &MappedLayer) -> Option<f64> {
        let (_, listed) = layer.listed.as_ref()?;
        Some(1.0 - self.objective.of(&layer.value) / self.objective.of(listed))
    }

    /// Distance to the bound as a fraction of the bound; `None` if no mapping runs.
    fn gap(&self, layer: &MappedLayer) -> Option<f64> {
        let bound = match self.objective {
            Objective::Edp => layer.bound_edp,
            objective => objective.of(&layer.bound),
        };
        let runs = layer.status != Status::NoLegalMapping;
        runs.then(|| match bound > 0.0 {
            true => (self.objective.of(&layer.value) / bound - 1.0).max(0.0),
            false => 0.0,
        })
    }

    /// Number of layers without a legal mapping.
    pub fn n_illegal(&self) -> usize {
        self.layers().filter(|(_, layer)| layer.status == Status::NoLegalMapping).count()
    }

    fn status(&self, layer: &MappedLayer) -> String {
        match layer.status {
            Status::OptimalByBound => "optimal (bound)".into(),
            Status::OptimalByEnumeration => format!("optimal (enumerated, {})", self.space),
            Status::NoLegalMapping => match layer.violation {
                Some(violation) => format!("no legal mapping: {}", in_words(&violation)),
                None => "no legal mapping".into(),
            },
            _ => format!("gap {}", or_dash(self.gap(layer), percent)),
        }
    }

    /// Writes a row for every layer.
    ///
    /// # Errors
    ///
    /// The error of the writer, if writing fails.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let listed = |it: &MappedLayer, get: fn(&Value) -> String| {
            it.listed.as_ref().map_or(String::new(), |(_, value)| get(value))
        };
        let mut table = Columns::<(&MappedNetwork, &MappedLayer)>::new()
            .text("network", |it| it.0.network.to_string());
        if self.names_accelerators {
            table = table.text("accelerator", |it| it.0.accelerator.to_string());
        }
        let table = table
            .text("layer", |it| it.1.layer.to_string())
            .text("listed", |it| it.1.listed.as_ref().map_or("".into(), |(name, _)| name.clone()))
            .number("listed_cycles", |it| listed(it.1, |value| value.cycles.to_string()))
            .number("listed_energy_pJ", |it| listed(it.1, |value| value.energy_pj.to_string()))
            .number("cycles", |it| it.1.value.cycles)
            .number("energy_pJ", |it| it.1.value.energy_pj)
            .number("bound_cycles", |it| it.1.bound.cycles)
            .number("bound_energy_pJ", |it| it.1.bound.energy_pj)
            .number("gap", |it| self.gap(it.1).map_or(String::new(), |gap| gap.to_string()))
            .text("status", |it| self.status(it.1))
            .number("evaluated", |it| it.1.counts.evaluated)
            .number("infeasible", |it| it.1.counts.infeasible)
            .number("excluded", |it| it.1.counts.excluded)
            .text("mapping", |it| it.1.mappings.join("; "));
        table.of(self.layers()).write_csv(out)
    }

    /// One JSON object.
    pub fn to_json(&self) -> Json {
        let layer = |(network, layer): (&MappedNetwork, &MappedLayer)| {
            let value = |it: &Value| json!({"cycles": it.cycles, "energy_pj": it.energy_pj});
            let listed = layer.listed.as_ref();
            let mut row = json!({
                "network": network.network,
                "layer": layer.layer,
                "listed": listed.map(|(name, it)| json!({"dataflow": name, "value": value(it)})),
                "found": value(&layer.value),
                "bound": value(&layer.bound),
                "gap": self.gap(layer),
                "status": self.status(layer),
                "evaluated": layer.counts.evaluated,
                "infeasible": layer.counts.infeasible,
                "excluded": layer.counts.excluded,
                "mappings": layer.mappings,
            });
            if self.names_accelerators {
                row["accelerator"] = json!(network.accelerator);
            }
            row
        };
        let layers: Vec<_> = self.layers().map(layer).collect();
        json!({"objective": self.objective.to_string(), "layers": layers})
    }

    fn layers(&self) -> impl Iterator<Item = (&MappedNetwork, &MappedLayer)> {
        self.networks
            .iter()
            .flat_map(|network| network.layers.iter().map(move |layer| (network, layer)))
    }
}

fn in_words(violation: &Violation) -> String {
    let (needed, available) = (grouped(violation.needed), grouped(violation.available));
    match violation.level {
        Some(level) => format!("unit of level {level} needs {needed} B, has {available}"),
        None => format!("the tiles need {needed} B of shared memory, {available} are free"),
    }
}
