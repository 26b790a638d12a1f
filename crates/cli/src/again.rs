//! Commands that notes print: they make a run again, or cost one of its networks, and run when they are pasted.

use xrsim_experiment::{GivenRun, Prepared, SystemKind};
use xrsim_model::model::Network;
use xrsim_sim::plan::{Plan, Semantics};

use super::experiment::RunOptions;

/// Keys with options on which runs depend, but for their scenarios and systems, and whether costs of networks depend on
/// them, too.
const OPTIONS: [(&str, bool); 11] = [
    ("semantics", false),
    ("networks", true),
    ("cost_model", true),
    ("technology", false),
    ("device", false),
    ("dram", true),
    ("flexibility", true),
    ("mapping_objective", true),
    ("without", false),
    ("duration_ms", false),
    ("seed", false),
];

/// Options of a command that others need for the same runs and costs.
#[derive(Debug)]
pub(super) struct Again {
    /// Words of the options that have an effect on runs.
    of_runs: Vec<String>,
    /// Words of those that have an effect on costs.
    of_costs: Vec<String>,
    dataflows: Vec<String>,
    /// Platform, if one is given.
    platform: Option<String>,
}

impl Again {
    /// The options of a command of runs under `scheduler`.
    pub(super) fn new(options: &RunOptions, scheduler: Option<&String>) -> Self {
        let (mut of_runs, mut of_costs) = (Vec::new(), Vec::new());
        for (key, is_of_costs) in OPTIONS {
            let words = options.words(key);
            of_costs.extend(words.iter().filter(|_| is_of_costs).cloned());
            of_runs.extend(words);
        }
        of_costs.extend(options.words("mapping_effort"));
        of_runs.extend(scheduler.into_iter().flat_map(|it| ["--scheduler".into(), it.clone()]));
        for assignment in options.assignments() {
            let words = ["--set".into(), assignment.clone()];
            if assignment.trim_start().starts_with("hardware.") {
                of_costs.extend(words.clone());
            }
            of_runs.extend(words);
        }
        let platform = options.values("platform").last().cloned();
        Self { of_runs, of_costs, dataflows: options.dataflows().to_vec(), platform }
    }

    /// The command that makes the run of a plan; `None` for a plan of values that have no words.
    pub(super) fn run(&self, prepared: &Prepared, plan: &Plan) -> Option<String> {
        let GivenRun { scenario, .. } = prepared.given(plan)?;
        let words = ["xrsim", "run", "--scenario", scenario].map(String::from);
        line(&[words.to_vec(), self.system(prepared, plan)?, self.of_runs.clone()].concat())
    }

    /// The command that costs the network of a task on the accelerators of the system of a plan; `None` if none does.
    pub(super) fn cost(
        &self,
        prepared: &Prepared,
        plan: &Plan,
        task: &str,
        network: &Network,
    ) -> Option<String> {
        let by_period = plan.system.accelerators().iter().any(|it| it.chooses_by_period());
        if plan.semantics != Semantics::Principled || by_period {
            return None;
        }
        let network = prepared.given_network(task, network)?;
        let words = ["xrsim", "cost", "--network", &network].map(String::from);
        line(&[words.to_vec(), self.system(prepared, plan)?, self.of_costs.clone()].concat())
    }

    /// Options that name the system of a plan.
    fn system(&self, prepared: &Prepared, plan: &Plan) -> Option<Vec<String>> {
        let GivenRun { system: (system, kind), pes, .. } = prepared.given(plan)?;
        let mut words = vec!["--system".to_string(), system.into()];
        match kind {
            SystemKind::Style => words.extend(["--pes".into(), pes.to_string()]),
            SystemKind::System => return Some(words),
            SystemKind::Hardware => {
                let dataflows = self.dataflows.iter();
                words.extend(dataflows.flat_map(|it| ["--dataflow".to_string(), it.clone()]));
            }
        }
        let platform = self.platform.iter();
        words.extend(platform.flat_map(|it| ["--platform".to_string(), it.clone()]));
        Some(words)
    }
}

/// Words as a shell reads them; `None` for words that it cannot have.
pub(super) fn line(words: &[String]) -> Option<String> {
    shlex::try_join(words.iter().map(String::as_str)).ok()
}
