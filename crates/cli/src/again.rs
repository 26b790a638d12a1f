//! Commands that notes print: they make a run again, or cost one of its networks, and run when they are pasted.

use xrsim_config::Catalog;
use xrsim_experiment::{GivenRun, Prepared, SystemKind, whole_chip};
use xrsim_model::hardware::{Accelerator, Flexibility, MappingObjective};
use xrsim_report::dominant::LayerCosted;

use super::experiment::RunOptions;

/// Keys with options on which the costs of a run depend, but for its scenario and its system.
const OPTIONS: [(&str, &str); 5] = [
    ("platform", "platform"),
    ("networks", "networks"),
    ("cost_model", "cost-model"),
    ("flexibility", "flexibility"),
    ("mapping_objective", "mapping-objective"),
];

/// Options of a command that others need for the same costs.
#[derive(Debug)]
pub(super) struct Again {
    /// Words of the options that have an effect on costs.
    options: Vec<String>,
    dataflows: Vec<String>,
    /// Platform, if one is given.
    platform: Option<String>,
}

impl Again {
    /// The options of a command of runs.
    pub(super) fn new(options: &RunOptions) -> Self {
        let last = |key: &str| options.values(key).last().cloned();
        let mut words = Vec::new();
        for (key, option) in OPTIONS {
            words.extend(last(key).into_iter().flat_map(|value| [format!("--{option}"), value]));
        }
        for assignment in options.assignments() {
            words.extend(["--set".into(), assignment.clone()]);
        }
        let dataflows = options.dataflows().to_vec();
        Self { options: words, dataflows, platform: last("platform") }
    }

    /// The command that makes the run of a plan; `None` for a plan of values that have no words.
    pub(super) fn run(&self, prepared: &Prepared, plan: &xrsim_sim::plan::Plan) -> Option<String> {
        let GivenRun { scenario, system: (system, kind), pes } = prepared.given(plan)?;
        let mut words = ["xrsim", "run", "--scenario", scenario, "--system", system];
        let mut all: Vec<String> = words.iter_mut().map(|it| it.to_string()).collect();
        match kind {
            SystemKind::Style => all.extend(["--pes".into(), pes.to_string()]),
            SystemKind::System => {}
            SystemKind::Hardware => {
                let dataflows = self.dataflows.iter();
                all.extend(dataflows.flat_map(|it| ["--dataflow".to_string(), it.clone()]));
            }
        }
        all.extend(self.options.iter().cloned());
        line(&all)
    }

    /// The command that costs a network on an accelerator; `None` if `xrsim cost` has no such accelerator, such as
    /// those that share a chip, or does not find the network by its task.
    pub(super) fn cost(&self, prepared: &Prepared, it: &LayerCosted) -> Option<String> {
        let LayerCosted { task, network, accelerator } = it;
        let mut catalog = Catalog::with_networks(prepared.settings.networks());
        let found = catalog.network(task).ok()?;
        let dataflow = catalog.dataflow(accelerator.dataflow.name()).ok()?;
        let platform = self.platform.as_deref().unwrap_or(prepared.settings.platform());
        let chip = whole_chip(&mut catalog, platform, &dataflow, accelerator.pes).ok()?;
        let Accelerator { flexibility, mapping_objective: objective, pes, .. } = accelerator;
        let chip = Accelerator { flexibility: *flexibility, mapping_objective: *objective, ..chip };
        if found.layers() != network.layers() || !chip.costs_as(accelerator) {
            return None;
        }
        let (name, pes) = (accelerator.dataflow.name(), pes.to_string());
        let words = ["xrsim", "cost", "--network", task, "--dataflow", name, "--pes", &pes];
        let mut all: Vec<String> = words.map(String::from).to_vec();
        let mut add = |option: &str, value: &str| all.extend([option.into(), value.into()]);
        add("--platform", platform);
        if *flexibility != Flexibility::DEFAULT {
            add("--flexibility", flexibility.name());
        }
        if *objective != MappingObjective::DEFAULT {
            add("--mapping-objective", objective.name());
        }
        line(&all)
    }
}

/// Words as a shell reads them; `None` for words that it cannot have.
pub(super) fn line(words: &[String]) -> Option<String> {
    shlex::try_join(words.iter().map(String::as_str)).ok()
}
