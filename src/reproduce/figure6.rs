//! Figure 6: execution timelines of AR gaming on J with 4K and 8K PEs, and the numbers that XRBench section 4.2.2
//! quotes of them.

use crate::figures::{Caption, Instant, InstantKind, Slice, Timeline, TimelinePanel};
use crate::ids::RequestId;
use crate::sweep::{self, RunResult, RunSpec};
use crate::trace::{DropReason, Outcome};

use super::study::{MeanScores, Study, draw_note};
use super::{Deviation, FigureEntry, ReproduceError, Reproduction};

const SCENARIO: &str = "AR_gaming";
const SYSTEM: &str = "J";

/// Drop rate, QoE score and overall score that the paper quotes, for 4K and 8K PEs.
const QUOTED: [(u64, [f64; 3]); 2] = [(4096, [0.471, 0.53, 0.0]), (8192, [0.023, 0.97, 0.51])];

pub(super) const ENTRY: FigureEntry = FigureEntry {
    number: 6,
    depends_on_semantics: true,
    reproduce: |study: &Study| {
        let runs = Runs::make(study)?;
        let semantics = study.semantics.name();
        Ok(Reproduction {
            deviations: runs.deviations(semantics),
            drawing: Box::new(runs.draw(semantics)),
        })
    },
};

/// The runs of both sizes.
struct Runs(Vec<(RunSpec, RunResult)>);

impl Runs {
    fn make(study: &Study) -> Result<Self, ReproduceError> {
        let make = |(pes, _): (u64, _)| {
            let (spec, library) = study.run_of(SCENARIO, SYSTEM, pes)?;
            let result = sweep::run(&spec, &library)?;
            Ok((spec, result))
        };
        QUOTED.into_iter().map(make).collect::<Result<_, ReproduceError>>().map(Self)
    }

    /// Draws a panel for each size with a row for each accelerator.
    fn draw(&self, semantics: &str) -> Timeline {
        let models = self.0[0].0.plan.scenario.models();
        Timeline {
            caption: Caption {
                subtitle: "hatched: ended late; crosses: dropped".into(),
                note: draw_note(self.0.iter().map(|(spec, _)| spec.drawn())),
                ..Caption::titled(format!(
                    "Figure 6: {SCENARIO} on {SYSTEM}, semantics {semantics}"
                ))
            },
            models: models.iter().map(|model| model.unit.task.to_string()).collect(),
            window_ms: (0.0, self.end_ms()),
            panels: self.0.iter().map(|(spec, result)| panel(spec, result)).collect(),
        }
    }

    /// End of the last execution of both runs, rounded up to a tenth of a second \[ms\].
    fn end_ms(&self) -> f64 {
        let records = self.0.iter().flat_map(|(_, result)| result.trace.records());
        let ends = records.filter_map(|record| match record.outcome {
            Outcome::Executed { end, .. } => Some(end.as_ms()),
            _ => None,
        });
        (ends.fold(1.0, f64::max) / 100.0).ceil() * 100.0
    }

    /// Compares the numbers that the paper quotes.
    fn deviations(&self, semantics: &str) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        for ((pes, quoted), (spec, result)) in QUOTED.iter().zip(&self.0) {
            let MeanScores { qoe, overall, .. } = MeanScores::of(result);
            // The quoted rate is a mean over models, not over frames.
            let names = ["frames not executed, mean over models", "QoE score", "overall score"];
            for ((name, quoted), found) in
                names.into_iter().zip(quoted).zip([1.0 - qoe, qoe, overall])
            {
                let what = format!("{SCENARIO} on {SYSTEM}, {pes} PEs: {name}");
                let found = Deviation::of_numbers("6", semantics, &what, *quoted, found);
                deviations.push(found.with_remark(&draw_note(std::iter::once(spec.drawn()))));
            }
        }
        deviations
    }
}

fn panel(spec: &RunSpec, result: &RunResult) -> TimelinePanel {
    let accelerators = spec.plan.system.accelerators();
    let mut rows: Vec<String> = accelerators.iter().map(|it| it.name.to_string()).collect();
    rows.push("dropped".into());
    let (mut slices, mut instants) = (Vec::new(), Vec::new());
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
                let row = accelerators.len();
                let kind = InstantKind::Drop;
                instants.push(Instant { row, model, time_ms: at.as_ms(), kind });
            }
            _ => {}
        }
    }
    TimelinePanel { title: format!("{} PEs", spec.plan.system.pes()), rows, slices, instants }
}
