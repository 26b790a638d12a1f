//! Costs as tables for people.

use crate::table::{Style, new_table, render};
use xrsim_model::cost::{Explanation, Infeasible, NetworkCost};
use xrsim_model::model::Network;

use super::{CostReport, LayerChoice, Variant, extents, in_words, plain, real, value};

impl CostReport {
    /// One row per layer, of one network by one variant.
    pub(super) fn one_variant(&self, network: &Network, variant: &Variant, style: Style) -> String {
        let cell = self.cell(0, 0);
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
                vec![network.layers()[layer].name.to_string(), operator.name().to_string()];
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
    pub(super) fn side_by_side(&self, network: &Network, style: Style) -> String {
        let mut header = vec!["layer".to_string(), "type".into(), "MMAC".into()];
        for variant in &self.variants {
            let name = self.label(variant);
            header.extend([format!("{name} cycles"), format!("{name} uJ")]);
        }
        let names: Vec<_> = header.iter().map(String::as_str).collect();
        let mut table = new_table(style, &names, 2);
        for layer in self.shown(network) {
            let operator = &network.layers()[layer].operator;
            let mut row = vec![
                network.layers()[layer].name.to_string(),
                operator.name().to_string(),
                format!("{:.3}", operator.macs() as f64 / 1e6),
            ];
            for variant in 0..self.variants.len() {
                row.extend(match self.cell(0, variant).layers().get(layer) {
                    Some(found) => [
                        plain(&value(found, "runtime_cycles")),
                        microjoules(real(found, "energy_nJ")),
                    ],
                    None => ["-".into(), "-".into()],
                });
            }
            table.add_row(row);
        }
        if self.only.is_none() {
            let macs = format!("{:.3}", network.macs() as f64 / 1e6);
            let mut row = vec!["total".to_string(), String::new(), macs];
            for variant in 0..self.variants.len() {
                row.extend(match &self.cell(0, variant).total {
                    Ok(total) => {
                        [total.cycles.get().to_string(), microjoules(Some(total.energy_nj))]
                    }
                    Err(_) => ["-".into(), "-".into()],
                });
            }
            table.add_row(row);
        }
        render(&table)
    }

    /// One row per network and accelerator. Of several cost models, the ratios of the first one to each of
    /// the others follow.
    pub(super) fn totals(&self, style: Style) -> String {
        let models = self.models();
        let mut header =
            vec!["network".to_string(), "dataflow".into(), "PEs".into(), "GMAC".into()];
        for model in &models {
            let of = if models.len() > 1 { format!(" {model}") } else { String::new() };
            header.extend([format!("cycles{of}"), format!("ms{of}"), format!("mJ{of}")]);
        }
        header.extend((models.len() == 1).then(|| "MAC/PE/cycle".to_string()));
        for model in models.iter().skip(1) {
            header.extend([format!("cycles / {model}"), format!("energy / {model}")]);
        }
        let names: Vec<_> = header.iter().map(String::as_str).collect();
        let mut table = new_table(style, &names, 2);
        for (index, network) in self.networks.iter().enumerate() {
            for first in (0..self.variants.len()).step_by(models.len()) {
                let costs: Vec<_> = (first..first + models.len())
                    .map(|variant| &self.cell(index, variant).total)
                    .collect();
                table.add_row(total_row(network, &self.variants[first], &costs));
            }
        }
        render(&table)
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

fn total_row(
    network: &Network,
    variant: &Variant,
    costs: &[&Result<NetworkCost, Infeasible>],
) -> Vec<String> {
    let accelerator = &variant.accelerator;
    let mut row = vec![
        network.name().to_string(),
        accelerator.dataflow.name().to_string(),
        accelerator.pes.to_string(),
        format!("{:.3}", network.macs() as f64 / 1e9),
    ];
    for cost in costs {
        row.extend(match cost {
            Ok(cost) => [
                cost.cycles.get().to_string(),
                format!("{:.3}", cost.latency.as_ms()),
                format!("{:.3}", cost.energy().get()),
            ],
            Err(_) => ["-", "-", "-"].map(String::from),
        });
    }
    if let [cost] = costs {
        let peak = |cost: &NetworkCost| cost.cycles.get() as f64 * f64::from(accelerator.pes);
        let utilisation = cost.as_ref().ok().map(|cost| network.macs() as f64 / peak(cost));
        row.push(utilisation.map_or("-".into(), |utilisation| format!("{utilisation:.3}")));
    }
    for other in costs.iter().skip(1) {
        row.extend(match (costs[0], other) {
            (Ok(first), Ok(other)) => [
                ratio(first.cycles.get() as f64, other.cycles.get() as f64),
                ratio(first.energy_nj, other.energy_nj),
            ],
            _ => ["-".into(), "-".into()],
        });
    }
    row
}

fn ratio(a: f64, b: f64) -> String {
    if b > 0.0 { format!("{:.3}", a / b) } else { "-".into() }
}

fn cycles_of(explanation: &Explanation) -> f64 {
    real(explanation, "runtime_cycles").unwrap_or(0.0)
}

/// Millions of MACs, cycles, and MACs per PE and cycle.
fn work(macs: u64, cycles: f64, variant: &Variant) -> [String; 3] {
    let utilisation = macs as f64 / (cycles * f64::from(variant.accelerator.pes));
    let utilisation = if macs == 0 { "-".into() } else { format!("{utilisation:.3}") };
    [format!("{:.3}", macs as f64 / 1e6), format!("{cycles:.0}"), utilisation]
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
    nj.map_or("-".into(), |nj| format!("{:.1}", nj / 1e3))
}
