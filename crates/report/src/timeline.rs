//! Timelines of runs: what each accelerator executes and which requests are dropped, as a figure.

use xrsim_figures::{Caption, DroppedRequest, Slice, Timeline, TimelinePanel};
use xrsim_model::ids::RequestId;
use xrsim_model::trace::{DropReason, Outcome};
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::RunResult;

use xrsim_results::model_names;

/// The timeline of runs of one scenario: a panel for each run, with a row for each accelerator and a lane for the
/// drops of each model. It ends with the last execution or drop, rounded up to a tenth of a second.
pub fn timeline(caption: Caption, runs: &[(&Plan, &RunResult)]) -> Timeline {
    let names = runs.first().map(|(plan, _)| model_names(&plan.scenario));
    Timeline {
        caption,
        models: names.into_iter().flatten().map(str::to_string).collect(),
        window_ms: (0.0, end_ms(runs)),
        last_arrival_ms: last_arrival_ms(runs),
        panels: runs.iter().map(|(plan, result)| panel(plan, result)).collect(),
    }
}

/// End of the last execution or drop, rounded up to a tenth of a second \[ms\].
fn end_ms(runs: &[(&Plan, &RunResult)]) -> f64 {
    let records = runs.iter().flat_map(|(_, result)| result.trace.records());
    let ends = records.filter_map(|record| match record.outcome {
        Outcome::Executed { end, .. } => Some(end.as_ms()),
        Outcome::Dropped { at, .. } => Some(at.as_ms()),
        _ => None,
    });
    (ends.fold(1.0, f64::max) / 100.0).ceil() * 100.0
}

/// Time of the last arrival of a request \[ms\].
fn last_arrival_ms(runs: &[(&Plan, &RunResult)]) -> Option<f64> {
    let records = runs.iter().flat_map(|(_, result)| result.trace.records());
    records.map(|record| record.arrival.as_ms()).reduce(f64::max)
}

fn panel(plan: &Plan, result: &RunResult) -> TimelinePanel {
    let accelerators = plan.system.accelerators();
    let rows = accelerators.iter().map(|it| it.name.to_string()).collect();
    let (mut slices, mut drops) = (Vec::new(), Vec::new());
    for (index, record) in result.trace.records().iter().enumerate() {
        let model = record.model.index();
        match record.outcome {
            Outcome::Executed { end, .. } => {
                let late = end > record.deadline;
                let busy_intervals = result.trace.busy_intervals_of(RequestId::new(index));
                slices.extend(busy_intervals.map(|it| Slice {
                    row: it.accelerator.index(),
                    model,
                    start_ms: it.start.as_ms(),
                    end_ms: it.end.unwrap_or(end).as_ms(),
                    late,
                }));
            }
            Outcome::Dropped { at, reason, .. } if reason != DropReason::Upstream => {
                drops.push(DroppedRequest { model, time_ms: at.as_ms() });
            }
            _ => {}
        }
    }
    TimelinePanel { title: format!("{} PEs", plan.system.pes()), rows, slices, drops }
}
