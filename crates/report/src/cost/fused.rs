//! Operators that ride along with layers, in tables of costs.

use xrsim_model::cost::CostModel;
use xrsim_model::cost::loop_nest::Role;
use xrsim_model::hardware::{Accelerator, Fusion};
use xrsim_model::model::{Network, TensorRole};

/// How the layers of a network run on an accelerator; empty if every one runs by itself.
pub(super) fn roles(
    model: &dyn CostModel,
    network: &Network,
    accelerator: &Accelerator,
) -> Vec<Role> {
    match accelerator.write_back.fusion {
        Fusion::None => Vec::new(),
        Fusion::InPlace | Fusion::Elementwise => {
            model.roles(network, accelerator).unwrap_or_default()
        }
    }
}

/// Names of the operators that ride along with a layer, or what it rides along with.
pub(super) fn names(network: &Network, roles: &[Role], layer: usize) -> String {
    let name = |layer: usize| &*network.layers()[layer].name;
    match roles.get(layer) {
        None => String::new(),
        Some(Role::InPlace) => "in place".into(),
        Some(Role::Rides(with)) => format!("with {}", name(*with as usize)),
        Some(Role::Step) => {
            let rides = |role: &Role| *role == Role::Rides(layer as u32);
            let riders = roles.iter().enumerate().filter(|(_, role)| rides(role));
            riders.map(|(rider, _)| name(rider)).collect::<Vec<_>>().join(";")
        }
    }
}

/// Line about the operators that ride along, for one network on one accelerator; empty without any.
pub(super) fn line(network: &Network, accelerator: &Accelerator, roles: &[Role]) -> String {
    let n_rides = roles.iter().filter(|role| matches!(role, Role::Rides(_))).count();
    let n_in_place = roles.iter().filter(|role| **role == Role::InPlace).count();
    if n_rides + n_in_place == 0 {
        return String::new();
    }
    let kib = spared_bytes(network, accelerator, roles) as f64 / 1024.0;
    let spared =
        if kib < 1024.0 { format!("{kib:.1} KiB") } else { format!("{:.1} MiB", kib / 1024.0) };
    format!(
        "fusion {}: {n_rides} operators ride along with layers, {n_in_place} concatenations are in place; without \
         them, and with nothing in shared memory, DRAM would move {spared} more\n",
        accelerator.write_back.fusion
    )
}

/// Bytes that DRAM would move for tensors that are not written, or that are not read again.
fn spared_bytes(network: &Network, accelerator: &Accelerator, roles: &[Role]) -> u64 {
    let layers = network.layers();
    let bytes = |layer: usize| {
        let operator = &layers[layer].operator;
        let widths = accelerator.datapath.widths.with_bits(layers[layer].bits, operator);
        accelerator.dram_bytes_at(&widths, TensorRole::Output, operator.outputs())
    };
    let readers = network.readers();
    let mut spared = 0u64;
    let mut before = (0..layers.len()).collect::<Vec<_>>();
    for (at, role) in roles.iter().enumerate() {
        match *role {
            Role::Step => {}
            Role::InPlace => spared = spared.saturating_add(bytes(at).saturating_mul(2)),
            Role::Rides(with) => {
                let from = std::mem::replace(&mut before[with as usize], at);
                // Others read it too, so that it is written.
                let times = if readers[from].len() > 1 { 1 } else { 2 };
                spared = spared.saturating_add(bytes(from).saturating_mul(times));
            }
        }
    }
    spared
}
