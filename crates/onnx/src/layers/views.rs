//! Views of sources: how a layer reads what another wrote, where shapes alone do not tell.

use xrsim_model::model::{Layer, Misfit, ModelError, Network, View};

/// Most rounds in which views are looked for; each mends at least one source of every layer that is left.
const MAX_ROUNDS: usize = 8;

/// The network of `layers`, whose views are proposals: those that are needless go, and those that do not fit
/// are replaced by such that do.
pub(super) fn network(name: &str, mut layers: Vec<Layer>) -> Result<Network, ModelError> {
    let proposed: Vec<Vec<View>> =
        layers.iter_mut().map(|layer| std::mem::take(&mut layer.views)).collect();
    let mut network = Network::new(name, layers)?;
    for round in 0..MAX_ROUNDS {
        let check = network.check_shapes();
        if check.misfits.is_empty() && check.needless.is_empty() {
            break;
        }
        let mut layers = network.layers().to_vec();
        for &(layer, source) in &check.needless {
            let views = &mut layers[layer].views;
            views[source] = View::Whole;
            if views.iter().all(|view| *view == View::Whole) {
                views.clear();
            }
        }
        for misfit in &check.misfits {
            let fitting = network.explain(misfit).views;
            let layer = &mut layers[misfit.layer];
            let n_sources = layer.sources.len();
            layer.views.resize(n_sources, View::Whole);
            for &source in &misfit.sources {
                let wanted = proposed[misfit.layer].get(source).copied().unwrap_or_default();
                layer.views[source] = chosen(misfit, &fitting, wanted, round);
            }
        }
        network = Network::new(name, layers)?;
    }
    Ok(network)
}

/// The view that the graph tells if it fits, else the first that does, else one that is not checked.
fn chosen(misfit: &Misfit, fitting: &[View], wanted: View, round: usize) -> View {
    let is_alone = misfit.sources.len() == 1;
    match fitting {
        _ if round + 2 >= MAX_ROUNDS => View::Gather,
        _ if wanted != View::Whole && (fitting.contains(&wanted) || (round == 0 && !is_alone)) => {
            wanted
        }
        [first, ..] => *first,
        [] => View::Gather,
    }
}
