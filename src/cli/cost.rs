//! `xrsim cost`: what every layer of a network costs on one accelerator.

use crate::config::Catalog;
use crate::hardware::platform::{Instance, Resources};
use crate::hardware::{Accelerator, Memory, Noc, System};
use crate::report::cost::CostReport;

use super::args::{CostArgs, Format};
use super::message::Failure;
use super::{costs, output, table_style};

/// Prints what `args` ask for.
///
/// # Errors
///
/// Bad input, or a layer that cannot run on the accelerator.
pub fn run(args: &CostArgs) -> Result<(), Failure> {
    let mut catalog = Catalog::new();
    let costs = costs::choose(&mut catalog, &args.cost_model)?;
    let network = catalog.network(&args.network)?;
    let accelerator = accelerator(args, &mut catalog)?;
    let report = CostReport::new(&*costs.model, &network, &accelerator).map_err(super::argument)?;
    match args.format {
        Format::Table => output::print(&report.to_table(table_style())),
        Format::Json => {
            let text = serde_json::to_string_pretty(&report.to_json());
            output::print(&(text.expect("strings and numbers serialise") + "\n"))
        }
        Format::Csv => {
            let mut text = Vec::new();
            report.write_csv(&mut text).expect("writing to memory cannot fail");
            output::print(&String::from_utf8(text).expect("cells are UTF-8"))
        }
    }
}

/// The accelerator of `--dataflow`, `--pes` and `--noc-bandwidth` on the chip of `--platform`.
fn accelerator(args: &CostArgs, catalog: &mut Catalog) -> Result<Accelerator, Failure> {
    let platform = catalog.platform(&args.platform)?;
    let dataflow = catalog.dataflow(&args.dataflow)?;
    let (noc, memory) = chip(args, &platform.resources)?;
    let name = format!("{}@{}", dataflow.name(), args.pes).into();
    let instance = Instance { name, pes: args.pes, noc, memory };
    let accelerator =
        instance.with(instance.name.clone(), &dataflow, platform.clock, platform.energy);
    let system = System::new(dataflow.name(), vec![accelerator]).map_err(super::argument)?;
    Ok(system.accelerators()[0].clone())
}

/// Network and memories: of the undivided chip, or of the table with just these PEs.
fn chip(args: &CostArgs, resources: &Resources) -> Result<(Noc, Memory), Failure> {
    let (mut noc, memory) = match resources {
        Resources::Budget { noc, memory } => (noc.clone(), memory.clone()),
        Resources::Tables(tables) => {
            let mut instances = tables.iter().flat_map(|table| &table.instances);
            let found = instances.find(|instance| instance.pes == args.pes).ok_or_else(|| {
                Failure::Argument(format!(
                    "platform `{}` has no accelerator of {} PEs; choose a listed size or --platform paper",
                    args.platform, args.pes
                ))
            })?;
            (found.noc.clone(), found.memory.clone())
        }
    };
    if !args.noc_bandwidth.is_empty() {
        noc.bandwidth.clone_from(&args.noc_bandwidth);
    }
    Ok((noc, memory))
}
