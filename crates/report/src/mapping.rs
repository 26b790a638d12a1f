//! Mappings of layers: as table, CSV and JSON.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use xrsim_model::mapper::{MappedLayer, MappedNetwork, Objective, Status, Value, Violation};

use super::network::grouped;
use super::table::{Style, new_table, render};

/// Mappings of networks, and what they were searched for.
pub struct MappingReport {
    /// Networks.
    pub networks: Vec<MappedNetwork>,
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
            let found = format!("found {unit}");
            let mut header =
                vec!["layer", &listed, &found, "better", "lower bound", "gap", "energy uJ"];
            header.extend(["status", "mapping"]);
            let mut table = new_table(style, &header, 1);
            for index in [7, 8] {
                if let Some(column) = table.column_mut(index) {
                    column.set_cell_alignment(comfy_table::CellAlignment::Left);
                }
            }
            for layer in &network.layers {
                table.add_row(self.row(layer));
            }
            let heading = match self.networks.len() {
                1 => String::new(),
                _ => format!("{}\n", network.network),
            };
            heading + &render(&table)
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    fn row(&self, layer: &MappedLayer) -> [String; 9] {
        let listed = layer.listed.as_ref();
        let mapping = match &self.file {
            Some(file) => format!("{file}#{}", layer.layer),
            None => layer.mappings.join("; "),
        };
        [
            layer.layer.to_string(),
            listed.map_or("-".into(), |(name, value)| format!("{} ({name})", self.number(value))),
            self.number(&layer.value),
            self.better(layer).map_or("-".into(), percent),
            self.number(&layer.bound),
            self.gap_percent(layer),
            format!("{:.1}", layer.value.energy_pj / 1e6),
            self.status(layer),
            mapping,
        ]
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
        let bound = self.objective.of(&layer.bound);
        let runs = layer.status != Status::NoLegalMapping;
        runs.then(|| match bound > 0.0 {
            true => (self.objective.of(&layer.value) / bound - 1.0).max(0.0),
            false => 0.0,
        })
    }

    fn gap_percent(&self, layer: &MappedLayer) -> String {
        self.gap(layer).map_or_else(|| "-".into(), percent)
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
            _ => format!("gap {}", self.gap_percent(layer)),
        }
    }

    /// Writes a row for every layer.
    ///
    /// # Errors
    ///
    /// The error of the writer, if writing fails.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        table.write_record(COLUMNS)?;
        for (network, layer) in self.layers() {
            let listed = layer.listed.as_ref();
            let of_listed =
                |get: fn(&Value) -> String| listed.map_or(String::new(), |it| get(&it.1));
            table.write_record([
                network.to_string(),
                layer.layer.to_string(),
                listed.map_or(String::new(), |(name, _)| name.to_string()),
                of_listed(|value| value.cycles.to_string()),
                of_listed(|value| value.energy_pj.to_string()),
                layer.value.cycles.to_string(),
                layer.value.energy_pj.to_string(),
                layer.bound.cycles.to_string(),
                layer.bound.energy_pj.to_string(),
                self.gap(layer).map_or(String::new(), |gap| gap.to_string()),
                self.status(layer),
                layer.counts.evaluated.to_string(),
                layer.counts.infeasible.to_string(),
                layer.counts.excluded.to_string(),
                layer.mappings.join("; "),
            ])?;
        }
        table.flush()
    }

    /// One JSON object.
    pub fn to_json(&self) -> Json {
        let layer = |(network, layer): (&str, &MappedLayer)| {
            let value = |it: &Value| json!({"cycles": it.cycles, "energy_pj": it.energy_pj});
            let listed = layer.listed.as_ref();
            json!({
                "network": network,
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
            })
        };
        let layers: Vec<_> = self.layers().map(layer).collect();
        json!({"objective": self.objective.to_string(), "layers": layers})
    }

    fn layers(&self) -> impl Iterator<Item = (&str, &MappedLayer)> {
        self.networks
            .iter()
            .flat_map(|network| network.layers.iter().map(move |layer| (&*network.network, layer)))
    }
}

/// Columns of the CSV.
const COLUMNS: [&str; 15] = [
    "network",
    "layer",
    "listed",
    "listed_cycles",
    "listed_energy_pJ",
    "cycles",
    "energy_pJ",
    "bound_cycles",
    "bound_energy_pJ",
    "gap",
    "status",
    "evaluated",
    "infeasible",
    "excluded",
    "mapping",
];

fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

fn in_words(violation: &Violation) -> String {
    let (needed, available) = (grouped(violation.needed), grouped(violation.available));
    match violation.level {
        Some(level) => format!("unit of level {level} needs {needed} B, has {available}"),
        None => format!("the tiles need {needed} B of shared memory, {available} are free"),
    }
}
