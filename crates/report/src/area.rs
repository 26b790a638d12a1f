//! Area and power of systems, term by term (docs/explanation/area.md): as table, CSV and JSON.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use xrsim_model::cost::Quantity;
use xrsim_model::hardware::technology::{AcceleratorArea, PeakPower};
use xrsim_model::hardware::{Accelerator, LocalBuffers, System, Technology};
use xrsim_model::units::Bytes;

use super::area_terms::{LargeTerms, Sizes};
use super::cost::{object, write_csv};
use super::table::{Style, new_table, render};

/// Columns: technology; system and accelerator, or `all` for the sum over the accelerators with what is fixed; sizes, of
/// cluster buffers one for each level, outermost first; terms of the area, that of the cluster buffers also by
/// level; leakage and peak power.
const COLUMNS: [&str; 18] = [
    "technology",
    "system",
    "accelerator",
    "pes",
    "idle_pes",
    "scratchpad_bytes",
    "cluster_bytes",
    "shared_memory_bytes",
    "overhead_mm2",
    "pes_mm2",
    "scratchpads_mm2",
    "clusters_mm2",
    "cluster_levels_mm2",
    "shared_memory_mm2",
    "network_mm2",
    "area_mm2",
    "leakage_mw",
    "peak_mw",
];

/// Headers of the table for people, in the order of [`COLUMNS`]; columns without one are left out.
const HEADER: [&str; COLUMNS.len()] = [
    "",
    "system",
    "accelerator",
    "PEs",
    "idle",
    "",
    "",
    "",
    "overhead",
    "PEs mm2",
    "scratchpads",
    "clusters",
    "",
    "shared",
    "NoC",
    "mm2",
    "leakage mW",
    "peak mW",
];

type Row = [Quantity; COLUMNS.len()];

/// Area and power of systems.
pub struct AreaReport {
    rows: Vec<Row>,
    /// Technologies of the systems, and sizes of the memories of their accelerators, in words.
    lines: Vec<String>,
    systems: Vec<String>,
    /// Names of the technologies that come with the program.
    shipped: Vec<String>,
    /// Total area \[mm2\], at `[system][technology]` of those.
    totals: Vec<Vec<f64>>,
    /// Lines on terms that take more than half of an area.
    large_terms: String,
}

impl AreaReport {
    /// The report of `systems`, each in its technology, with their totals under all `shipped` technologies.
    /// Systems without a technology are left out. `sizes` and `needed` are those of [`LargeTerms`].
    pub fn new(
        systems: &[Arc<System>],
        shipped: &[Arc<Technology>],
        sizes: Sizes,
        needed: impl Fn(&Accelerator) -> Option<LocalBuffers>,
    ) -> Self {
        let of_system =
            |system: &Arc<System>| Some((Arc::clone(system), system.technology()?.clone()));
        let systems: Vec<_> = systems.iter().filter_map(of_system).collect();
        let technologies = systems.iter().map(|(_, technology)| in_words(technology));
        let accelerators = systems.iter().flat_map(|(system, _)| system.accelerators());
        let mut lines: Vec<String> = Vec::new();
        for line in technologies.chain(accelerators.map(sizes_in_words)) {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let mut large_terms = LargeTerms::new(sizes);
        systems.iter().for_each(|(system, _)| large_terms.take(&name(system), system, &needed));
        let totals = |system: &System| shipped.iter().map(|it| it.total_mm2(system)).collect();
        Self {
            rows: systems.iter().flat_map(|(system, it)| rows(system, it)).collect(),
            lines,
            systems: systems.iter().map(|(system, _)| name(system)).collect(),
            shipped: shipped.iter().map(|it| it.name().to_string()).collect(),
            totals: systems.iter().map(|(system, _)| totals(system)).collect(),
            large_terms: large_terms.note(),
        }
    }

    /// Tables of the terms and of the totals under all technologies.
    pub fn to_table(&self, style: Style) -> String {
        let shown = |at: &usize| !HEADER[*at].is_empty();
        let columns: Vec<usize> = (0..COLUMNS.len()).filter(shown).collect();
        let header: Vec<_> = columns.iter().map(|&at| HEADER[at]).collect();
        let mut table = new_table(style, &header, 2);
        for row in &self.rows {
            table.add_row(columns.iter().map(|&at| cell(COLUMNS[at], &row[at])));
        }
        let lines = self.lines.concat();
        [&render(&table), PEAK, &lines, &self.large_terms, "\n", &self.totals(style)].concat()
    }

    fn totals(&self, style: Style) -> String {
        let names = self.shipped.iter().map(|it| format!("mm2 in {it}"));
        let header: Vec<String> = std::iter::once("system".to_string()).chain(names).collect();
        let header: Vec<_> = header.iter().map(String::as_str).collect();
        let mut table = new_table(style, &header, 1);
        for (system, totals) in self.systems.iter().zip(&self.totals) {
            let totals = totals.iter().map(|total| format!("{total:.3}"));
            table.add_row(std::iter::once(system.clone()).chain(totals));
        }
        render(&table)
    }

    /// One row per accelerator, and one per system.
    ///
    /// # Errors
    ///
    /// The error of the writer, if writing fails.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_csv(out, &COLUMNS, self.rows.iter())
    }

    /// Object with the rows and with the totals under all technologies.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| object(&COLUMNS, row.to_vec()));
        let totals = self.systems.iter().zip(&self.totals).map(|(system, totals)| {
            let totals = self.shipped.iter().zip(totals);
            let totals = totals.map(|(name, total)| (name.clone(), json!(total)));
            json!({"system": system, "area_mm2": Value::Object(totals.collect())})
        });
        json!({
            "area_uncertainty": Technology::AREA_UNCERTAINTY,
            "areas": rows.collect::<Vec<_>>(),
            "technologies": totals.collect::<Vec<_>>(),
        })
    }
}

/// Line on the peak power.
const PEAK: &str = "peak: every PE, port and memory busy in every cycle, DRAM included\n";

/// Line on a technology and its uncertainty.
fn in_words(technology: &Arc<Technology>) -> String {
    format!(
        "technology {} ({} nm): areas +-{:.0} %, leakage an order of magnitude\n",
        technology.name(),
        technology.node_nm(),
        Technology::AREA_UNCERTAINTY * 100.0
    )
}

/// Name with the PEs, e.g. `J@4096`.
fn name(system: &System) -> String {
    format!("{}@{}", system.name(), system.pes())
}

fn cell(column: &str, value: &Quantity) -> String {
    match value {
        Quantity::Real(power) if column.ends_with("_mw") => format!("{power:.1}"),
        Quantity::Count(count) => count.to_string(),
        Quantity::Real(real) => format!("{real:.3}"),
        Quantity::Text(text) if text.is_empty() => "-".into(),
        Quantity::Text(text) => text.clone(),
    }
}

/// A row of every accelerator, and one of the system if it has several or if an area is fixed.
fn rows(system: &System, technology: &Technology) -> Vec<Row> {
    let name = name(system);
    let mut rows: Vec<Row> =
        system.accelerators().iter().map(|it| row(&name, it, technology)).collect();
    if rows.len() > 1 || technology.fixed_mm2() > 0.0 {
        rows.push(sum(&name, system, technology));
    }
    rows
}

fn row(system: &str, accelerator: &Accelerator, technology: &Technology) -> Row {
    let area = technology.area(accelerator);
    let levels = used_levels(&area.clusters);
    let list = |of: &dyn Fn(usize) -> String| (0..levels).map(of).collect::<Vec<_>>().join(";");
    let size = |level| accelerator.memory.cluster(level).map_or(0, Bytes::get).to_string();
    [
        Quantity::Text(technology.name().into()),
        Quantity::Text(system.into()),
        Quantity::Text(accelerator.name.to_string()),
        count(accelerator.pes.into()),
        count(accelerator.idle_pes().into()),
        count(accelerator.memory.scratchpad.get()),
        Quantity::Text(list(&size)),
        count(accelerator.memory.shared.get()),
        Quantity::Real(area.overhead),
        Quantity::Real(area.pes),
        Quantity::Real(area.scratchpads),
        Quantity::Real(area.clusters.iter().sum()),
        Quantity::Text(list(&|level| area.clusters[level].to_string())),
        Quantity::Real(area.shared_memory),
        Quantity::Real(area.network),
        Quantity::Real(area.total()),
        optional(technology.leakage_mw(accelerator)),
        Quantity::Real(PeakPower::of(accelerator).total()),
    ]
}

/// Sums over the accelerators; sizes have none.
fn sum(system: &str, of: &System, technology: &Technology) -> Row {
    let accelerators = of.accelerators();
    let areas = technology.system_area(of);
    let term = |term: fn(&AcceleratorArea) -> f64| {
        Quantity::Real(areas.accelerators.iter().map(term).sum())
    };
    let none = || Quantity::Text(String::new());
    let idle = accelerators.iter().map(|it| u64::from(it.idle_pes())).sum();
    let peak = accelerators.iter().map(|it| PeakPower::of(it).total()).sum();
    [
        Quantity::Text(technology.name().into()),
        Quantity::Text(system.into()),
        Quantity::Text("all".into()),
        count(of.pes()),
        count(idle),
        none(),
        none(),
        none(),
        term(|it| it.overhead),
        term(|it| it.pes),
        term(|it| it.scratchpads),
        term(|it| it.clusters.iter().sum()),
        none(),
        term(|it| it.shared_memory),
        term(|it| it.network),
        Quantity::Real(areas.total()),
        optional(technology.system_leakage_mw(of)),
        Quantity::Real(peak),
    ]
}

fn count(count: u64) -> Quantity {
    Quantity::Count(i64::try_from(count).unwrap_or(i64::MAX))
}

fn optional(value: Option<f64>) -> Quantity {
    value.map_or_else(|| Quantity::Text(String::new()), Quantity::Real)
}

/// Number of levels up to the innermost one with an area.
fn used_levels(areas: &[f64]) -> usize {
    areas.iter().rposition(|&area| area > 0.0).map_or(0, |last| last + 1)
}

/// Line with the sizes of the memories of an accelerator.
fn sizes_in_words(accelerator: &Accelerator) -> String {
    let memory = &accelerator.memory;
    let clusters: Vec<_> = memory.clusters.iter().map(|size| size.get().to_string()).collect();
    let clusters = if clusters.is_empty() { "none".into() } else { clusters.join(", ") };
    format!(
        "{}: scratchpads {} bytes, cluster buffers {clusters} bytes, shared memory {} bytes\n",
        accelerator.dataflow.name(),
        memory.scratchpad.get(),
        memory.shared.get()
    )
}
