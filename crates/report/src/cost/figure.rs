//! Costs as figures: stacked bars and rooflines.

use std::sync::Arc;

use xrsim_figures::{
    Caption, Ceiling, PointSeries, Quantity, Roofline, RooflinePoint, StackPanel, StackedBars,
};
use xrsim_model::cost::Explanation;
use xrsim_model::model::Network;

use super::{Cell, CostReport, Variant, real};

/// Number of layers of a network that a roofline labels: those that take longest.
const N_LABELLED: usize = 4;

/// Part of a bar: its name, and its height for a layer in the unit of the axis.
type Part = (&'static str, fn(&Explanation) -> f64);

/// Energy by component \[uJ\].
const ENERGY: [Part; 9] = [
    ("MAC", |it| microjoules(it, "energy_mac_pJ")),
    ("register", |it| microjoules(it, "energy_reg_pJ")),
    ("scratchpad", |it| microjoules(it, "energy_scratchpad_pJ")),
    ("cluster", |it| microjoules(it, "energy_cluster_pJ")),
    ("shared memory", |it| microjoules(it, "energy_shared_pJ")),
    ("NoC", |it| microjoules(it, "energy_noc_pJ")),
    ("DRAM", |it| microjoules(it, "energy_dram_pJ")),
    ("leakage", |it| microjoules(it, "energy_leak_pJ")),
    ("clock", |it| microjoules(it, "energy_clock_pJ")),
];

/// Cycles by resource.
const CYCLES: [Part; 3] = [
    ("compute", |it| number(it, "compute_cycles")),
    ("NoC", |it| number(it, "chip_cycles") - number(it, "compute_cycles")),
    ("DRAM", |it| number(it, "runtime_cycles") - number(it, "chip_cycles")),
];

fn microjoules(layer: &Explanation, name: &str) -> f64 {
    number(layer, name) * 1e-6
}

fn number(layer: &Explanation, name: &str) -> f64 {
    real(layer, name).unwrap_or(0.0).max(0.0)
}

impl CostReport {
    /// Energy of every layer of one network, or of every network, stacked by component, with a panel for
    /// each variant. Cost models without components have a single part.
    pub fn energy_bars(&self) -> StackedBars {
        let parts: Vec<Part> = if self.reported().contains(&"energy_mac_pJ") {
            ENERGY.to_vec()
        } else {
            vec![("energy", |it| number(it, "energy_nJ") * 1e-3)]
        };
        // As in tables: layers in microjoules, networks in millijoules.
        match self.networks.len() {
            1 => self.bars("Energy", ("Energy [uJ]", 1.0), &parts),
            _ => self.bars("Energy", ("Energy [mJ]", 1e-3), &parts),
        }
    }

    /// Cycles of every layer of one network, or of every network: computation, the cycles that the NoC adds,
    /// and the cycles that DRAM adds, with a panel for each variant.
    pub fn cycle_bars(&self) -> StackedBars {
        let parts: Vec<Part> = if self.reported().contains(&"chip_cycles") {
            CYCLES.to_vec()
        } else {
            vec![("cycles", |it| number(it, "runtime_cycles"))]
        };
        self.bars("Latency", ("Latency [cycle]", 1.0), &parts)
    }

    /// Bars on an axis with this name, whose values are those of the parts times a factor.
    fn bars(&self, what: &str, (name, factor): (&str, f64), parts: &[Part]) -> StackedBars {
        let (of, axis, categories) = match &self.networks[..] {
            [network] => (network.name(), "Layer", self.layer_names(network)),
            networks => ("networks", "Network", short_names(networks)),
        };
        let heights = |variant: usize, part: &Part| {
            let heights = self.heights(variant, part.1).into_iter();
            heights.map(|height| height * factor).collect()
        };
        let panel = |variant: usize| StackPanel {
            title: self.label(&self.variants[variant]),
            values: parts.iter().map(|part| heights(variant, part)).collect(),
        };
        let mut series: Vec<String> = parts.iter().map(|(name, _)| (*name).into()).collect();
        let mut panels: Vec<_> = (0..self.variants.len()).map(panel).collect();
        drop_empty(&mut series, &mut panels);
        StackedBars {
            caption: Caption::titled(format!("{what} of {of}")),
            category_axis: axis.into(),
            value_axis: Quantity::new(name, ""),
            categories,
            series,
            panels,
            shared_scale: true,
            in_rows: false,
        }
    }

    fn layer_names(&self, network: &Network) -> Vec<String> {
        self.shown(network).map(|layer| network.layers()[layer].name.to_string()).collect()
    }

    /// Height of a part for every layer of one network, or its sum over every network.
    fn heights(&self, variant: usize, part: fn(&Explanation) -> f64) -> Vec<f64> {
        let of = |network: usize| {
            let layers = self.cell(network, variant).layers();
            let shown = self.shown(&self.networks[network]);
            shown.map(|layer| layers.get(layer).map_or(0.0, part)).collect::<Vec<_>>()
        };
        match self.networks.len() {
            1 => of(0),
            all => (0..all).map(|network| of(network).iter().sum()).collect(),
        }
    }

    /// Roofline of all layers: MACs per byte of DRAM traffic, and MACs per cycle, under the roofs of their
    /// accelerators. Layers without DRAM traffic are left out.
    pub fn roofline(&self) -> Roofline {
        let mut peaks: Vec<Ceiling> = Vec::new();
        let mut bandwidths: Vec<Ceiling> = Vec::new();
        for Variant { accelerator, .. } in &self.variants {
            let peak =
                u64::from(accelerator.pes) * u64::from(accelerator.datapath.macs_per_pe_cycle);
            add(&mut peaks, "all PEs", peak as f64);
            add(&mut bandwidths, "DRAM", accelerator.memory.dram_bandwidth as f64);
        }
        let series = (0..self.variants.len()).map(|variant| PointSeries {
            name: self.label(&self.variants[variant]),
            points: (0..self.networks.len())
                .flat_map(|network| self.points(network, variant))
                .collect(),
        });
        Roofline {
            caption: Caption {
                subtitle: "area of a mark: share of the time of its network".into(),
                ..Caption::titled("Layers under the roofs of their accelerator")
            },
            intensity_axis: Quantity::new("Arithmetic intensity, DRAM traffic", "MAC/byte"),
            performance_axis: Quantity::new("Performance", "MAC/cycle"),
            peaks,
            bandwidths,
            series: series.collect(),
        }
    }

    fn points(&self, network: usize, variant: usize) -> Vec<RooflinePoint> {
        let Cell { layers: Ok(layers), .. } = self.cell(network, variant) else {
            return Vec::new();
        };
        let network = &self.networks[network];
        let mut longest: Vec<_> =
            self.shown(network).filter(|&layer| layer < layers.len()).collect();
        longest.sort_by(|&a, &b| {
            number(&layers[b], "runtime_cycles").total_cmp(&number(&layers[a], "runtime_cycles"))
        });
        let total: f64 = longest.iter().map(|&it| number(&layers[it], "runtime_cycles")).sum();
        let point = |(rank, layer): (usize, usize)| {
            let found = &layers[layer];
            let bytes =
                ["dram_rd_i_bytes", "dram_rd_w_bytes", "dram_rd_psum_bytes", "dram_wr_o_bytes"];
            let bytes: f64 = bytes.into_iter().map(|name| number(found, name)).sum();
            let macs = network.layers()[layer].operator.macs() as f64;
            let cycles = number(found, "runtime_cycles");
            (macs > 0.0 && bytes > 0.0 && cycles > 0.0).then(|| RooflinePoint {
                name: network.layers()[layer].name.to_string(),
                intensity: macs / bytes,
                performance: macs / cycles,
                share: cycles / total,
                labelled: rank < N_LABELLED && self.networks.len() == 1,
            })
        };
        longest.into_iter().enumerate().filter_map(point).collect()
    }
}

fn add(ceilings: &mut Vec<Ceiling>, name: &str, value: f64) {
    if !ceilings.iter().any(|known| known.value == value) {
        ceilings.push(Ceiling { name: name.into(), value });
    }
}

/// The two letters with which names of networks of the suite begin, unless another one begins with them, too.
fn short_names(networks: &[Arc<Network>]) -> Vec<String> {
    let letters = |network: &Arc<Network>| {
        let (letters, _) = network.name().split_once('_')?;
        let are_two = letters.len() == 2 && letters.bytes().all(|it| it.is_ascii_uppercase());
        are_two.then(|| letters.to_string())
    };
    let known: Vec<_> = networks.iter().map(letters).collect();
    let is_alone = |it: &&String| known.iter().flatten().filter(|known| known == it).count() == 1;
    let name = |(letters, network): (&Option<String>, &Arc<Network>)| {
        let letters = letters.as_ref().filter(is_alone);
        letters.cloned().unwrap_or_else(|| network.name().to_string())
    };
    known.iter().zip(networks).map(name).collect()
}

/// Drops the series that are zero everywhere.
fn drop_empty(series: &mut Vec<String>, panels: &mut [StackPanel]) {
    let is_used = |index: usize| {
        panels.iter().any(|panel| panel.values[index].iter().any(|&height| height > 0.0))
    };
    let used: Vec<_> = (0..series.len()).filter(|&index| is_used(index)).collect();
    if used.is_empty() {
        return;
    }
    *series = used.iter().map(|&index| series[index].clone()).collect();
    for panel in panels {
        panel.values = used.iter().map(|&index| panel.values[index].clone()).collect();
    }
}
