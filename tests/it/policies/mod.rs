//! Small cases in which policies must differ in a known way: which request is next, and where.

mod decisions;
mod orders;
use crate::support::runs;

use std::sync::Arc;

use xrsim::cost::{CostTable, LayerCost, NetworkCost};
use xrsim::units::{Cycles, SimSpan};

/// Two layers a model, each [ms] and [mJ], `[model][accelerator]`.
fn layered(cells: &[&[&[(f64, f64)]]]) -> CostTable {
    let cost = |layers: &[(f64, f64)]| {
        let layer = |&(ms, mj): &(f64, f64)| LayerCost {
            cycles: runs::span_ms(ms).ns(),
            energy_nj: mj * 1e6,
            ..LayerCost::default()
        };
        let layers: Vec<_> = layers.iter().map(layer).collect();
        let cycles = layers.iter().map(|layer| layer.cycles).sum();
        Arc::new(NetworkCost {
            cycles: Cycles::new(cycles),
            latency: SimSpan::from_ns(cycles),
            energy_nj: layers.iter().map(|layer| layer.energy_nj).sum(),
            layers,
            choices: None,
            spread: None,
        })
    };
    let n_accelerators = cells[0].len();
    CostTable::new(
        cells.iter().flat_map(|row| row.iter().map(|cell| cost(cell))).collect(),
        n_accelerators,
    )
}
