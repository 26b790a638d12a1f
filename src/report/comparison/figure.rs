//! Figure of a comparison.

use crate::figures::{Bar, Caption, GroupPanel, GroupedBars, Quantity};
use crate::plan::Plan;
use crate::statistics::{Fraction, Summary};
use crate::sweep::comparison::{Comparison, Replication};

use super::Measure;

/// A panel for each scenario, and one for all: a bar for each policy, with the 95 % interval of its
/// mean over the systems.
pub fn figure(comparison: &Comparison, measure: Measure) -> GroupedBars {
    let mut scenarios: Vec<&str> = Vec::new();
    for (plan, _) in comparison.feasible() {
        if !scenarios.contains(&plan.scenario.name()) {
            scenarios.push(plan.scenario.name());
        }
    }
    let panel = |title: &str, belongs: &dyn Fn(&Plan) -> bool| GroupPanel {
        title: title.into(),
        bars: vec![bars(comparison, measure, belongs)],
    };
    let mut panels: Vec<_> = scenarios
        .iter()
        .map(|scenario| panel(scenario, &|plan| plan.scenario.name() == *scenario))
        .collect();
    if scenarios.len() > 1 {
        panels.push(panel("all scenarios", &|_| true));
    }
    let label = |policy: &crate::schedule::Policy| policy.label().to_string();
    GroupedBars {
        caption: Caption {
            subtitle: format!(
                "means over systems and {} replications; whiskers: 95 % intervals",
                comparison.n_replications()
            ),
            ..Caption::titled("Schedulers on equal draws")
        },
        group_axis: "Scheduler".into(),
        value_axis: Quantity::new(measure.name(), ""),
        groups: comparison.policies().iter().map(label).collect(),
        series: vec![measure.name().into()],
        columns: if panels.len() > 1 { 2 } else { 1 },
        panels,
        shared_scale: false,
        published: String::new(),
    }
}

fn bars(
    comparison: &Comparison,
    measure: Measure,
    belongs: &dyn Fn(&Plan) -> bool,
) -> Vec<Option<Bar>> {
    let here = comparison.feasible().filter(|(plan, _)| belongs(plan)).map(|(_, runs)| runs);
    let here: Vec<&[Replication]> = here.collect();
    let bar = |policy: usize| {
        let series = super::series(&here, comparison.n_replications(), policy, measure);
        let summary = Summary::of(series);
        let range = summary.interval(Fraction::P95).map(|it| (it.low, it.high));
        (!here.is_empty()).then_some(Bar { value: summary.mean, range, published: None })
    };
    (0..comparison.policies().len()).map(bar).collect()
}
