//! Costs as tables for people.

use crate::table::{Columns, Style, new_table, or_dash, render};
use xrsim_model::cost::loop_nest::Role;
use xrsim_model::cost::{Explanation, NetworkCost};
use xrsim_model::hardware::Accelerator;
use xrsim_model::model::Network;

use super::{Cell, CostReport, LayerChoice, Variant, extents, fused, in_words, plain, real, value};

impl CostReport {
    /// Rows of the only layer to report, for every network that has it.
    pub(super) fn of_layer(&self, style: Style) -> String {
        let has_it = |at: &usize| self.shown(&self.networks[*at]).next().is_some();
        let tables = (0..self.networks.len()).filter(has_it).map(|at| {
            let table = match &self.variants[..] {
                [variant] => self.one_variant(at, variant, style),
                _ => self.side_by_side(at, style),
            };
            format!("{}\n{table}", self.networks[at].name())
        });
        tables.collect::<Vec<_>>().join("\n")
    }

    /// One row per layer, of one network by one variant.
    pub(super) fn one_variant(&self, at: usize, variant: &Variant, style: Style) -> String {
        let (network, cell) = (&self.networks[at], self.cell(at, 0));
        let bounded =
            cell.layers().first().is_some_and(|layer| real(layer, "dram_rd_i_bytes").is_some());
        let mut header =
            vec!["layer", "type", "K", "C", "Y", "X", "R", "S", "MMAC", "cycles", "MAC/PE/cycle"];
        if bounded {
            header.extend(["bound", "shared KiB", "DRAM KiB", "energy uJ", "DRAM share"]);
        } else {
            header.push("energy uJ");
        }
        let gaps = !cell.choices.is_empty();
        header.extend(gaps.then_some("above bound"));
        let mut table = new_table(style, &header, 2);
        for layer in self.shown(network).filter(|&layer| layer < cell.layers().len()) {
            let explanation = &cell.layers()[layer];
            let operator = &network.layers()[layer].operator;
            let mut row =
                vec![network.layers()[layer].name.to_string(), type_of(network, cell, layer)];
            row.extend(extents(operator).iter().skip(1).map(plain));
            row.extend(work(operator.macs(), cycles_of(explanation), variant));
            row.extend(if bounded { memory(explanation) } else { vec![] });
            row.push(microjoules(real(explanation, "energy_nJ")));
            row.extend(bounded.then(|| dram_share(explanation)));
            let gap = cell.choices.get(layer).and_then(LayerChoice::gap_percent);
            row.extend(gaps.then(|| gap.map_or("-".into(), |gap| format!("{gap:.1} %"))));
            table.add_row(row);
        }
        if self.only.is_none() {
            let mut row = vec!["total".to_string()];
            row.resize(8, String::new());
            match &cell.total {
                Ok(total) => {
                    row.extend(work(network.macs(), total.cycles.get() as f64, variant));
                    let after = usize::from(bounded) + usize::from(gaps);
                    row.resize(header.len() - 1 - after, String::new());
                    row.push(microjoules(Some(total.energy_nj)));
                }
                Err(reason) => {
                    row[1] = format!("infeasible: {}", in_words(network, variant, reason))
                }
            }
            table.add_row(row);
        }
        render(&table)
    }

    /// One row per layer of one network, variants side by side.
    pub(super) fn side_by_side(&self, of: usize, style: Style) -> String {
        let network = &self.networks[of];
        let mut columns = Columns::<Option<usize>>::new()
            .text("layer", |it| it.map_or("total", |it| &network.layers()[it].name).to_string())
            .text("type", |it| it.map_or("", |it| network.layers()[it].operator.name()))
            .number("MMAC", |it| {
                let macs = it.map_or(network.macs(), |it| network.layers()[it].operator.macs());
                millions(macs)
            });
        for (at, variant) in self.variants.iter().enumerate() {
            let (name, cell) = (self.label(variant), self.cell(of, at));
            let cycles = |total: &NetworkCost| total.cycles.get().to_string();
            let energy = |total: &NetworkCost| microjoules(Some(total.energy_nj));
            columns = columns
                .number(format!("{name} cycles"), move |it| {
                    cell.of(*it, cycles, |layer| plain(&value(layer, "runtime_cycles")))
                })
                .number(format!("{name} uJ"), move |it| {
                    cell.of(*it, energy, |layer| microjoules(real(layer, "energy_nJ")))
                });
        }
        let total = self.only.is_none().then_some(None);
        columns.of(self.shown(network).map(Some).chain(total)).text(style)
    }

    /// One row per network and accelerator. Of several cost models, the ratios of the first one to each of
    /// the others follow.
    pub(super) fn totals(&self, style: Style) -> String {
        let models = self.models();
        let mut columns =
            Columns::<Totals<'_>>::new().text("network", |it| it.network.name().to_string());
        if self.names_accelerators() {
            columns = columns.text("accelerator", |it| it.accelerator.name.to_string());
        }
        columns = columns
            .text("dataflow", |it| it.accelerator.dataflow.name().to_string())
            .number("PEs", |it| it.accelerator.pes)
            .number("GMAC", |it| format!("{:.3}", it.network.macs() as f64 / 1e9));
        for (at, model) in models.iter().enumerate() {
            let of = if models.len() > 1 { format!(" {model}") } else { String::new() };
            columns = columns
                .number(format!("cycles{of}"), move |it| {
                    or_dash(it.cost(at), |cost| cost.cycles.get().to_string())
                })
                .number(format!("ms{of}"), move |it| {
                    or_dash(it.cost(at), |cost| format!("{:.3}", cost.latency.as_ms()))
                })
                .number(format!("mJ{of}"), move |it| {
                    or_dash(it.cost(at), |cost| format!("{:.3}", cost.energy().get()))
                });
        }
        if models.len() == 1 {
            columns = columns.number("MAC/PE/cycle", |it| {
                let peak = |cost: &NetworkCost| cycles(cost) * f64::from(it.accelerator.pes);
                let utilisation = |cost| format!("{:.3}", it.network.macs() as f64 / peak(cost));
                or_dash(it.cost(0).filter(|_| it.accelerator.pes > 0), utilisation)
            });
        }
        for (at, model) in models.iter().enumerate().skip(1) {
            columns = columns
                .number(format!("cycles / {model}"), move |it| it.ratio(at, cycles))
                .number(format!("energy / {model}"), move |it| it.ratio(at, |cost| cost.energy_nj));
        }
        let rows = self.networks.iter().enumerate().flat_map(|(index, network)| {
            let firsts = (0..self.variants.len()).step_by(models.len());
            firsts.map(move |first| Totals {
                network,
                accelerator: &self.variants[first].accelerator,
                cells: &self.cells[index * self.variants.len() + first..],
            })
        });
        columns.of(rows).text(style)
    }

    /// Names of the cost models, which are the same for every accelerator.
    fn models(&self) -> Vec<&str> {
        let first = &self.variants[0].accelerator;
        let of_first = self.variants.iter().take_while(|variant| variant.accelerator == *first);
        of_first.map(|variant| variant.cost_model.as_str()).collect()
    }

    /// Label of a variant: the accelerator, with the cost model if variants differ in it.
    pub(super) fn label(&self, variant: &Variant) -> String {
        let name = variant.accelerator.name.to_string();
        let differ = self.variants.iter().any(|other| other.cost_model != variant.cost_model);
        if differ { format!("{name} {}", variant.cost_model) } else { name }
    }
}

impl Cell {
    /// The text of a layer, or of the total; `-` without one.
    fn of(
        &self,
        layer: Option<usize>,
        of_total: impl FnOnce(&NetworkCost) -> String,
        of_layer: impl FnOnce(&Explanation) -> String,
    ) -> String {
        match layer {
            Some(layer) => or_dash(self.layers().get(layer), of_layer),
            None => or_dash(self.total.as_ref().ok(), of_total),
        }
    }
}

/// Costs of a network on an accelerator.
struct Totals<'a> {
    network: &'a Network,
    accelerator: &'a Accelerator,
    /// By cost model; others follow.
    cells: &'a [Cell],
}

impl Totals<'_> {
    fn cost(&self, model: usize) -> Option<&NetworkCost> {
        self.cells[model].total.as_ref().ok()
    }

    /// Ratio of the first cost model to another one.
    fn ratio(&self, model: usize, of: fn(&NetworkCost) -> f64) -> String {
        let both = self.cost(0).zip(self.cost(model)).map(|(a, b)| (of(a), of(b)));
        or_dash(both.filter(|(_, b)| *b > 0.0), |(a, b)| format!("{:.3}", a / b))
    }
}

/// Operator of a layer, and what it rides along with.
fn type_of(network: &Network, cell: &Cell, layer: usize) -> String {
    let name = network.layers()[layer].operator.name();
    match cell.roles.get(layer) {
        None | Some(Role::Step) => name.into(),
        Some(_) => format!("{name}, {}", fused::names(network, &cell.roles, layer)),
    }
}

fn cycles(cost: &NetworkCost) -> f64 {
    cost.cycles.get() as f64
}

fn millions(macs: u64) -> String {
    format!("{:.3}", macs as f64 / 1e6)
}

fn cycles_of(explanation: &Explanation) -> f64 {
    real(explanation, "runtime_cycles").unwrap_or(0.0)
}

/// Millions of MACs, cycles, and MACs per PE and cycle.
fn work(macs: u64, cycles: f64, variant: &Variant) -> [String; 3] {
    let utilisation = macs as f64 / (cycles * f64::from(variant.accelerator.pes));
    let utilisation = if macs == 0 { "-".into() } else { format!("{utilisation:.3}") };
    [millions(macs), format!("{cycles:.0}"), utilisation]
}

/// Limiting resource of a layer, KiB that the shared memory sends, and KiB of DRAM traffic.
fn memory(explanation: &Explanation) -> Vec<String> {
    let first = |name| match value(explanation, name) {
        xrsim_model::cost::Quantity::Text(list) => {
            list.split(';').next().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0)
        }
        _ => 0.0,
    };
    let sent = first("send_i") + first("send_w");
    let dram: f64 = ["dram_rd_i_bytes", "dram_rd_w_bytes", "dram_rd_psum_bytes", "dram_wr_o_bytes"]
        .into_iter()
        .filter_map(|name| real(explanation, name))
        .sum();
    vec![
        plain(&value(explanation, "bound")),
        format!("{:.1}", sent / 1024.0),
        format!("{:.1}", dram / 1024.0),
    ]
}

fn dram_share(explanation: &Explanation) -> String {
    let of = |name| real(explanation, name).unwrap_or(0.0);
    let total = of("energy_nJ") * 1e3;
    if total > 0.0 { format!("{:.0} %", 100.0 * of("energy_dram_pJ") / total) } else { "-".into() }
}

fn microjoules(nj: Option<f64>) -> String {
    or_dash(nj, |nj| format!("{:.1}", nj / 1e3))
}
