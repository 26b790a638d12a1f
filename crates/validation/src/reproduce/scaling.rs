//! Scaling with the number of PEs: cycles of the networks on single accelerators under each flexibility,
//! beside a bound that no accelerator of this size is below (docs/explanation/mapper.md, section 9).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use xrsim_config::{Catalog, Kind};
use xrsim_experiment::{BENCHMARK_PLATFORM, whole_chip};
use xrsim_figures::{Caption, Line, LinePanel, LinePoint, Lines, Quantity, Spacing};
use xrsim_model::cost::loop_nest::lower::lower;
use xrsim_model::cost::loop_nest::{Choose, LayerBound, LayerReport, Machine};
use xrsim_model::hardware::{Accelerator, Flexibility, MappingObjective};
use xrsim_model::model::{Network, Source, TensorRole};
use xrsim_model::parallel;
use xrsim_model::sequence::distinct;

use super::{Column, ReproduceError, Table};

/// Networks, accelerators and flexibilities of the study. The default is the whole study: the networks of
/// the suite on WS, OS and RS with 1,024 to 16,384 PEs under every flexibility.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scaling {
    /// Tasks of the networks.
    pub networks: Vec<String>,
    /// Dataflows.
    pub dataflows: Vec<String>,
    /// Sizes, the smallest first \[PE\].
    pub pes: Vec<u32>,
    /// Flexibilities.
    pub flexibilities: Vec<Flexibility>,
}

impl Default for Scaling {
    fn default() -> Self {
        Self {
            networks: Catalog::new().names(Kind::Network),
            dataflows: ["WS", "OS", "RS"].map(String::from).to_vec(),
            pes: vec![1024, 2048, 4096, 8192, 16384],
            flexibilities: Flexibility::ALL.map(|(_, it)| it).to_vec(),
        }
    }
}

/// A network on an accelerator under each flexibility.
struct Case {
    network: Arc<Network>,
    task: String,
    accelerator: Accelerator,
}

impl Scaling {
    /// Computes the costs; accelerators choose by `rule` within their flexibility. `progress` is told the
    /// numbers of pairs of network and accelerator that are done, and of all.
    ///
    /// # Errors
    ///
    /// [`ReproduceError`] if a name is unknown or an accelerator cannot be built.
    pub fn measure(
        &self,
        rule: &dyn Choose,
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<ScalingPoints, ReproduceError> {
        let cases = self.cases()?;
        let done = AtomicUsize::new(0);
        progress(0, cases.len());
        let points = parallel::map(&cases, |case| {
            let points: Vec<_> =
                self.flexibilities.iter().map(|&it| case.point(it, rule)).collect();
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, cases.len());
            points
        });
        Ok(ScalingPoints { points: points.concat() })
    }

    /// Every network on every accelerator, in order of network, dataflow and size.
    fn cases(&self) -> Result<Vec<Case>, ReproduceError> {
        let mut catalog = Catalog::new();
        let mut accelerators = Vec::new();
        for dataflow in &self.dataflows {
            let dataflow = catalog.dataflow(dataflow)?;
            for &pes in &self.pes {
                accelerators.push(whole_chip(&mut catalog, BENCHMARK_PLATFORM, &dataflow, pes)?);
            }
        }
        let mut cases = Vec::new();
        for task in &self.networks {
            let network = catalog.network(task)?;
            cases.extend(accelerators.iter().cloned().map(|accelerator| Case {
                network: network.clone(),
                task: task.clone(),
                accelerator,
            }));
        }
        Ok(cases)
    }
}

impl Case {
    fn point(&self, flexibility: Flexibility, rule: &dyn Choose) -> ScalingPoint {
        // Scaling is a question of latency.
        let mapping_objective = MappingObjective::Cycles;
        let accelerator =
            Accelerator { flexibility, mapping_objective, ..self.accelerator.clone() };
        let reports = LayerReport::of_network_by(&self.network, &accelerator, rule).ok();
        ScalingPoint {
            network: self.task.clone(),
            dataflow: accelerator.dataflow.name().into(),
            flexibility,
            pes: accelerator.pes,
            least: Least::compute(&self.network, &accelerator),
            found: reports
                .map(|reports| Measured::from_reports(&self.network, &reports, &accelerator)),
        }
    }
}

/// Bound of the cycles of a network on any accelerator with these PEs and this DRAM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Least {
    /// MACs over those that all PEs execute in a cycle \[cycle\].
    pub compute: u64,
    /// Compulsory bytes over the bandwidth of DRAM \[cycle\]: weights, inputs that come from outside of the
    /// network, and outputs that no layer reads, each once.
    pub dram: u64,
}

impl Least {
    fn compute(network: &Network, accelerator: &Accelerator) -> Self {
        let machine = Machine::from_accelerator(accelerator);
        let (mut macs, mut bytes) = (0u64, 0u64);
        for layer in network.layers() {
            let operator = &layer.operator;
            macs = macs.saturating_add(operator.macs());
            if !layer.shares_weights {
                bytes = bytes
                    .saturating_add(machine.dram_bytes(TensorRole::Weight, operator.weights()));
            }
            if layer.sources.iter().all(|source| *source == Source::Outside) {
                let nests = lower(operator).unwrap_or_default();
                let touched: u64 = nests.iter().map(|nest| nest.touched_inputs()).sum();
                bytes = bytes.saturating_add(machine.dram_bytes(TensorRole::Input, touched));
            }
        }
        let readers = network.readers();
        let last = network.layers().iter().zip(readers).filter(|(_, readers)| readers.is_empty());
        let outputs: u64 = last.map(|(layer, _)| layer.operator.outputs()).sum();
        bytes = bytes.saturating_add(machine.dram_bytes(TensorRole::Output, outputs));
        let rate = u64::from(accelerator.pes) * u64::from(accelerator.datapath.macs_per_pe_cycle);
        Self {
            compute: macs.div_ceil(rate),
            dram: bytes.div_ceil(accelerator.memory.dram_bandwidth),
        }
    }

    /// The bound \[cycle\].
    pub fn cycles(&self) -> u64 {
        self.compute.max(self.dram)
    }

    /// Resource that decides it.
    pub fn bound(&self) -> LayerBound {
        if self.dram > self.compute { LayerBound::Dram } else { LayerBound::Compute }
    }
}

/// Cost of a network as its layers make it up.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Latency \[cycle\].
    pub cycles: u64,
    /// Cycles of the layers that each resource limits: PEs, NoC, DRAM.
    pub by_bound: [u64; 3],
    /// Executed MACs over those that all PEs could execute in the latency, from 0 to 1.
    pub utilisation: f64,
    /// The longest layer.
    pub longest: Box<str>,
    /// Its cycles.
    pub longest_cycles: u64,
}

/// Resources in the order of [`Measured::by_bound`].
const BOUNDS: [LayerBound; 3] = [LayerBound::Compute, LayerBound::Noc, LayerBound::Dram];

impl Measured {
    fn from_reports(network: &Network, reports: &[LayerReport], accelerator: &Accelerator) -> Self {
        let total = |of: &dyn Fn(&LayerReport) -> u64| {
            reports.iter().fold(0u64, |sum, report| sum.saturating_add(of(report)))
        };
        let cycles = total(&|report| report.cycles);
        let limited_by = |bound| total(&|it| if it.bound == bound { it.cycles } else { 0 });
        let peak = f64::from(accelerator.pes) * f64::from(accelerator.datapath.macs_per_pe_cycle);
        let layers = network.layers().iter().zip(reports);
        // The first of several equal layers.
        let longest = layers.rev().max_by_key(|(_, report)| report.cycles);
        Self {
            cycles,
            by_bound: BOUNDS.map(limited_by),
            utilisation: total(&|report| report.macs) as f64 / (cycles.max(1) as f64 * peak),
            longest: longest.map_or("".into(), |(layer, _)| layer.name.clone()),
            longest_cycles: longest.map_or(0, |(_, report)| report.cycles),
        }
    }

    /// `part` of the latency, from 0 to 1.
    fn share(&self, part: u64) -> f64 {
        part as f64 / self.cycles.max(1) as f64
    }

    /// Resource that limits most of the latency with its share, and the longest layer with its share.
    fn limit(&self) -> String {
        let shares = self.by_bound.map(|part| self.share(part));
        let most = (0..BOUNDS.len()).rev().max_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        let most = most.unwrap_or_default();
        let busy = match BOUNDS[most] {
            LayerBound::Compute => format!(" ({:.0} % of the PEs busy)", 100.0 * self.utilisation),
            LayerBound::Noc | LayerBound::Dram => String::new(),
        };
        let longest = 100.0 * self.share(self.longest_cycles);
        let resource = format!("{} {:.0} %", BOUNDS[most], 100.0 * shares[most]);
        format!("{resource}{busy}; {} {longest:.0} %", self.longest)
    }
}

/// A network on an accelerator.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingPoint {
    /// Task of the network.
    pub network: String,
    /// Dataflow.
    pub dataflow: String,
    /// Flexibility.
    pub flexibility: Flexibility,
    /// Size \[PE\].
    pub pes: u32,
    /// Bound of the cycles.
    pub least: Least,
    /// Measured cost; `None` if the accelerator cannot run the network.
    pub found: Option<Measured>,
}

impl ScalingPoint {
    /// `text` of the measured cost; empty without one.
    fn of_found(&self, text: impl FnOnce(&Measured) -> String) -> String {
        self.found.as_ref().map_or(String::new(), text)
    }
}

/// Every point of the study, in order of network, dataflow, size and flexibility.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingPoints {
    /// The points.
    pub points: Vec<ScalingPoint>,
}

/// Distance to the bound up to which it counts as reached.
const AT_BOUND: f64 = 1.1;

impl ScalingPoints {
    /// Every point as a row, with shares of the latency by limiting resource.
    pub fn table(&self) -> Table {
        let columns: [Column<ScalingPoint>; 14] = [
            ("network", |it| it.network.clone()),
            ("dataflow", |it| it.dataflow.clone()),
            ("flexibility", |it| it.flexibility.to_string()),
            ("pes", |it| it.pes.to_string()),
            ("cycles", |it| it.of_found(|found| found.cycles.to_string())),
            ("bound_cycles", |it| it.least.cycles().to_string()),
            ("bound_by", |it| it.least.bound().to_string()),
            ("cycles_over_bound", |it| {
                let bound = it.least.cycles().max(1) as f64;
                it.of_found(|found| share(found.cycles as f64 / bound))
            }),
            ("utilisation", |it| it.of_found(|found| share(found.utilisation))),
            ("compute_share", |it| it.of_found(|found| share(found.share(found.by_bound[0])))),
            ("noc_share", |it| it.of_found(|found| share(found.share(found.by_bound[1])))),
            ("dram_share", |it| it.of_found(|found| share(found.share(found.by_bound[2])))),
            ("longest_layer", |it| it.of_found(|found| found.longest.to_string())),
            ("longest_share", |it| it.of_found(|found| share(found.share(found.longest_cycles)))),
        ];
        Table::of_items(&columns, &self.points)
    }

    /// A row for the bound of every network, and one for each of its dataflows and flexibilities: Mcycles by
    /// size, how many times faster the largest size is than the smallest one, and what limits the largest
    /// one where that is less than half of the growth in PEs.
    pub fn summary(&self) -> Table {
        let sizes = distinct(self.points.iter().map(|point| point.pes));
        let mut header = ["network", "dataflow", "flexibility"].map(String::from).to_vec();
        header.extend(sizes.iter().map(|pes| format!("{pes} PEs")));
        header.extend(["speedup".into(), "limited by".into()]);
        let mut rows = Vec::new();
        for network in distinct(self.points.iter().map(|point| &*point.network)) {
            let of_network = || self.points.iter().filter(move |point| point.network == network);
            let bounds = |pes| {
                let point = of_network().find(|point| point.pes == pes)?;
                Some(point.least.cycles())
            };
            let bounds: Vec<_> = sizes.iter().map(|&pes| bounds(pes)).collect();
            let largest = of_network().next_back();
            let by = largest.map_or(String::new(), |point| point.least.bound().to_string());
            rows.push(row([network, "bound", ""], &bounds, by));
            let kinds = of_network().map(|point| (&*point.dataflow, point.flexibility));
            for (dataflow, flexibility) in distinct(kinds) {
                let line: Vec<_> = of_network()
                    .filter(|it| it.dataflow == dataflow && it.flexibility == flexibility)
                    .collect();
                let cycles: Vec<_> =
                    line.iter().map(|point| Some(point.found.as_ref()?.cycles)).collect();
                let names = [network, dataflow, &flexibility.to_string()];
                rows.push(row(names, &cycles, limit(&line)));
            }
        }
        Table { header, rows }
    }

    /// A figure for every dataflow, with its name: a panel for each network and a line for each flexibility
    /// and the bound, all over the bound of the smallest size.
    pub fn figures(&self) -> Vec<(String, Lines)> {
        let dataflows = distinct(self.points.iter().map(|point| &*point.dataflow));
        dataflows.into_iter().map(|dataflow| (dataflow.into(), self.figure(dataflow))).collect()
    }

    fn figure(&self, dataflow: &str) -> Lines {
        let points: Vec<_> = self.points.iter().filter(|it| it.dataflow == dataflow).collect();
        let flexibilities = distinct(points.iter().map(|point| point.flexibility));
        let mut series = vec!["bound".to_string()];
        series.extend(flexibilities.iter().map(|it| it.to_string()));
        let panel = |network: &str| {
            let of_network = || points.iter().filter(move |point| point.network == network);
            let unit = of_network().next().map_or(1, |point| point.least.cycles().max(1)) as f64;
            let at = |point: &ScalingPoint, cycles: u64| LinePoint {
                x: point.pes.into(),
                mean: cycles as f64 / unit,
                interval: None,
            };
            let of = |flexibility| of_network().filter(move |it| it.flexibility == flexibility);
            let line = |points| Line { points, published: Vec::new() };
            let first = flexibilities.first().copied().unwrap_or_default();
            let bound = of(first).map(|point| at(point, point.least.cycles()));
            let mut lines = vec![line(bound.collect())];
            lines.extend(flexibilities.iter().map(|&flexibility| {
                let found = of(flexibility);
                line(found.filter_map(|it| Some(at(it, it.found.as_ref()?.cycles))).collect())
            }));
            LinePanel { title: network.into(), lines }
        };
        let networks = distinct(points.iter().map(|point| &*point.network));
        Lines {
            caption: Caption {
                subtitle:
                    "over the bound of the smallest size; bound: the larger of MACs / PEs and \
                           compulsory bytes / DRAM bandwidth"
                        .into(),
                note: format!("platform {BENCHMARK_PLATFORM}"),
                ..Caption::titled(format!("Cycles of the networks on {dataflow}"))
            },
            x_axis: Quantity::new("PEs", ""),
            x_spacing: Spacing::Log,
            y_axis: Quantity::new("Cycles over bound", ""),
            y_spacing: Spacing::Log,
            series,
            columns: networks.len().clamp(1, 3),
            panels: networks.into_iter().map(panel).collect(),
            limits: Vec::new(),
            answer: None,
            published: String::new(),
        }
    }
}

fn share(value: f64) -> String {
    format!("{value:.4}")
}

/// A row of the summary: names, Mcycles by size, speed-up, and what limits.
fn row(names: [&str; 3], cycles: &[Option<u64>], limit: String) -> Vec<String> {
    let mut row = names.map(String::from).to_vec();
    let mcycles = |cycles: &Option<u64>| cycles.map_or("-".into(), mcycles);
    row.extend(cycles.iter().map(mcycles));
    let speedup = speedup(cycles).map_or("-".into(), |speedup| format!("{speedup:.1}"));
    row.extend([speedup, limit]);
    row
}

/// Mcycles with three digits or more, at most six of them behind the point.
fn mcycles(cycles: u64) -> String {
    let mcycles = cycles as f64 / 1e6;
    let decimals = (2.0 - mcycles.max(1e-6).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{mcycles:.decimals$}")
}

/// Times by which the last one is faster than the first one.
fn speedup(cycles: &[Option<u64>]) -> Option<f64> {
    let [first, last] = [(*cycles.first()?)?, (*cycles.last()?)?];
    Some(first as f64 / last.max(1) as f64)
}

/// Limit of the largest size of a line that gains less than half of the growth in PEs; empty otherwise.
fn limit(line: &[&ScalingPoint]) -> String {
    let [Some(first), Some(last)] = [line.first(), line.last()] else { return String::new() };
    let [Some(before), Some(after)] = [&first.found, &last.found] else {
        return "infeasible".into();
    };
    let growth = f64::from(last.pes) / f64::from(first.pes.max(1));
    if before.cycles as f64 / after.cycles.max(1) as f64 >= growth / 2.0 {
        return String::new();
    }
    if after.cycles as f64 <= AT_BOUND * last.least.cycles() as f64 {
        return format!("bound: {}", last.least.bound());
    }
    after.limit()
}
