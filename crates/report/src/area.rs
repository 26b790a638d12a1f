//! Area and power of systems, term by term (docs/explanation/area.md): as table, CSV and JSON.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use xrsim_figures::{Caption, StackPanel, StackedBars};
use xrsim_model::cost::Quantity;
use xrsim_model::hardware::technology::{AcceleratorArea, PeakPower};
use xrsim_model::hardware::{Accelerator, LocalBuffers, Memory, System, Technology};
use xrsim_model::units::Bytes;

use super::area_terms::{LargeTerms, Sizes};
use super::cost::{count, object, text, write_csv};
use super::table::{Columns, Style};

/// A column: its name, its heading in the table for people, which leaves it out if that is empty, and its cell.
type Column = (&'static str, &'static str, fn(&Row<'_>) -> Quantity);

/// Columns: technology; system and accelerator, or `all` for the sum over the accelerators with what is fixed; sizes, of
/// cluster buffers one for each level, outermost first; terms of the area, that of the cluster buffers also by
/// level; leakage, and the power that a supply has to deliver at most.
const COLUMNS: [Column; 18] = [
    ("technology", "", |it| text(it.technology.name())),
    ("system", "system", |it| text(&it.system)),
    ("accelerator", "accelerator", |it| text(it.accelerator)),
    ("pes", "PEs", |it| count(it.pes)),
    ("idle_pes", "idle", |it| count(it.idle_pes)),
    ("scratchpad_bytes", "", |it| it.size(|memory| count(memory.scratchpad.get()))),
    ("cluster_bytes", "", |it| it.size(|memory| it.levels(|at| cluster_bytes(memory, at)))),
    ("shared_memory_bytes", "", |it| it.size(|memory| count(memory.shared.get()))),
    ("overhead_mm2", "overhead", |it| it.term(|area| area.overhead)),
    ("pes_mm2", "PEs mm2", |it| it.term(|area| area.pes)),
    ("scratchpads_mm2", "scratchpads", |it| it.term(|area| area.scratchpads)),
    ("clusters_mm2", "clusters", |it| it.term(|area| area.clusters.iter().sum())),
    ("cluster_levels_mm2", "", |it| {
        it.size(|_| it.levels(|at| it.areas[0].clusters[at].to_string()))
    }),
    ("shared_memory_mm2", "shared", |it| it.term(|area| area.shared_memory)),
    ("network_mm2", "NoC", |it| it.term(|area| area.network)),
    ("area_mm2", "mm2", |it| Quantity::Real(it.area_mm2)),
    ("leakage_mw", "leakage mW", |it| it.leakage_mw.map_or(text(""), Quantity::Real)),
    ("supply_bound_mw", "supply bound mW", |it| Quantity::Real(it.supply_bound_mw)),
];

/// Terms of the area in a chart, from the foot up, each with its column.
const TERMS: [(&str, &str); 6] = [
    ("PEs", "pes_mm2"),
    ("scratchpads", "scratchpads_mm2"),
    ("cluster buffers", "clusters_mm2"),
    ("shared memory", "shared_memory_mm2"),
    ("NoC", "network_mm2"),
    ("overhead", "overhead_mm2"),
];

/// Name of the sum over the accelerators of a system.
const ALL: &str = "all";

/// Names of the columns.
fn names() -> [&'static str; COLUMNS.len()] {
    COLUMNS.map(|(name, ..)| name)
}

/// Area and power of systems.
pub struct AreaReport {
    /// Cells of [`COLUMNS`].
    rows: Vec<[Quantity; COLUMNS.len()]>,
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
        let mut columns = Columns::new();
        for (at, (_, heading, _)) in COLUMNS.into_iter().enumerate() {
            let cell = move |row: &&[Quantity; COLUMNS.len()]| cell(&row[at]);
            columns = match heading {
                "" => columns,
                "system" | "accelerator" => columns.text(heading, cell),
                _ => columns.number(heading, cell),
            };
        }
        let (table, lines) = (columns.of(&self.rows).text(style), self.lines.concat());
        [&table, SUPPLY_BOUND, &lines, &self.large_terms, "\n", &self.totals(style)].concat()
    }

    /// Areas of accelerators by their terms, as stacked bars.
    pub fn bars(&self) -> StackedBars {
        let names = names();
        let at = |name: &str| names.iter().position(|known| *known == name).unwrap_or_default();
        let text = |cell: &Quantity| match cell {
            Quantity::Text(text) => text.clone(),
            _ => String::new(),
        };
        // The sum over accelerators repeats them.
        let is_one = |row: &&[Quantity; COLUMNS.len()]| text(&row[at("accelerator")]) != ALL;
        let rows: Vec<_> = self.rows.iter().filter(is_one).collect();
        let name = |row: &&[Quantity; COLUMNS.len()]| {
            let [system, own] = ["system", "accelerator"].map(|name| text(&row[at(name)]));
            let n_own = rows.iter().filter(|it| text(&it[at("system")]) == system).count();
            if n_own > 1 { format!("{system} {own}") } else { system }
        };
        let heights = |(_, name): &(&str, &str)| {
            let height = |row: &&[Quantity; COLUMNS.len()]| match row[at(name)] {
                Quantity::Real(area) => area,
                _ => 0.0,
            };
            rows.iter().map(height).collect()
        };
        StackedBars {
            caption: Caption {
                subtitle: self.lines.first().map_or("", |it| it.trim()).into(),
                ..Caption::titled("Area of accelerators")
            },
            category_axis: "Accelerator".into(),
            value_axis: xrsim_figures::Quantity::new("Area [mm2]", ""),
            categories: rows.iter().map(name).collect(),
            series: TERMS.map(|(term, _)| term.into()).to_vec(),
            panels: vec![StackPanel {
                title: String::new(),
                values: TERMS.iter().map(heights).collect(),
            }],
            shared_scale: true,
            in_rows: false,
        }
    }

    fn totals(&self, style: Style) -> String {
        let systems = Columns::<(&String, &Vec<f64>)>::new().text("system", |it| it.0.clone());
        let technologies = self.shipped.iter().enumerate().fold(systems, |columns, (at, name)| {
            columns.number(format!("mm2 in {name}"), move |it| three_digits(it.1[at]))
        });
        technologies.of(self.systems.iter().zip(&self.totals)).text(style)
    }

    /// One row per accelerator, and one per system.
    ///
    /// # Errors
    ///
    /// The error of the writer, if writing fails.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_csv(out, &names(), self.rows.iter())
    }

    /// Object with the rows and with the totals under all technologies.
    pub fn to_json(&self) -> Value {
        let rows = self.rows.iter().map(|row| object(&names(), row.to_vec()));
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

/// Line on the power that bounds what a supply has to deliver.
const SUPPLY_BOUND: &str = "supply bound: power with every PE, port and memory busy in every cycle, DRAM included; no run reaches \
                            it (mW of `xrsim run`: the mean)\n";

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

/// A number with three digits: more would be false under the uncertainty of areas.
fn three_digits(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let unit = 10f64.powi(magnitude - 2);
    let decimals = (2 - magnitude).clamp(0, 3) as usize;
    format!("{:.decimals$}", (value / unit).round() * unit)
}

fn cell(value: &Quantity) -> String {
    match value {
        Quantity::Count(count) => count.to_string(),
        Quantity::Real(real) => three_digits(*real),
        Quantity::Text(text) if text.is_empty() => "-".into(),
        Quantity::Text(text) => text.clone(),
    }
}

/// An accelerator, or a system.
struct Row<'a> {
    technology: &'a Technology,
    system: String,
    accelerator: &'a str,
    pes: u64,
    idle_pes: u64,
    /// Sizes of the memories; `None` for a system.
    memory: Option<&'a Memory>,
    /// Areas of the accelerator, or of all of the system.
    areas: Vec<AcceleratorArea>,
    area_mm2: f64,
    leakage_mw: Option<f64>,
    supply_bound_mw: f64,
}

/// A row of every accelerator, and one of the system if it has several or if an area is fixed.
fn rows(system: &System, technology: &Technology) -> Vec<[Quantity; COLUMNS.len()]> {
    let mut rows: Vec<_> =
        system.accelerators().iter().map(|it| Row::of(system, it, technology)).collect();
    if rows.len() > 1 || technology.fixed_mm2() > 0.0 {
        rows.push(Row::sum(system, technology));
    }
    rows.iter().map(|row| COLUMNS.map(|(.., cell)| cell(row))).collect()
}

impl<'a> Row<'a> {
    fn of(system: &System, accelerator: &'a Accelerator, technology: &'a Technology) -> Self {
        let area = technology.area(accelerator);
        Self {
            technology,
            system: name(system),
            accelerator: &accelerator.name,
            pes: accelerator.pes.into(),
            idle_pes: accelerator.idle_pes().into(),
            memory: Some(&accelerator.memory),
            area_mm2: area.total(),
            areas: vec![area],
            leakage_mw: technology.leakage_mw(accelerator),
            supply_bound_mw: PeakPower::compute(accelerator).total(),
        }
    }

    /// Sums over the accelerators; sizes have none.
    fn sum(system: &'a System, technology: &'a Technology) -> Self {
        let accelerators = system.accelerators();
        let areas = technology.system_area(system);
        Self {
            technology,
            system: name(system),
            accelerator: ALL,
            pes: system.pes(),
            idle_pes: accelerators.iter().map(|it| u64::from(it.idle_pes())).sum(),
            memory: None,
            area_mm2: areas.total(),
            areas: areas.accelerators,
            leakage_mw: technology.system_leakage_mw(system),
            supply_bound_mw: accelerators.iter().map(|it| PeakPower::compute(it).total()).sum(),
        }
    }

    fn term(&self, term: fn(&AcceleratorArea) -> f64) -> Quantity {
        Quantity::Real(self.areas.iter().map(term).sum())
    }

    fn size(&self, size: impl Fn(&Memory) -> Quantity) -> Quantity {
        self.memory.map_or(text(""), size)
    }

    /// A text for each level of cluster buffers, up to the innermost one with an area.
    fn levels(&self, of: impl Fn(usize) -> String) -> Quantity {
        let clusters = &self.areas[0].clusters;
        let n_levels = clusters.iter().rposition(|&area| area > 0.0).map_or(0, |last| last + 1);
        text(&(0..n_levels).map(of).collect::<Vec<_>>().join(";"))
    }
}

fn cluster_bytes(memory: &Memory, level: usize) -> String {
    memory.cluster(level).map_or(0, Bytes::get).to_string()
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
