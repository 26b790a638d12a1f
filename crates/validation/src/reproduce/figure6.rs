//! Figure 6: execution timelines of AR gaming on J with 4K and 8K PEs, and the numbers that XRBench section 4.2.2
//! quotes of them.

use xrsim_figures::{Caption, Timeline};
use xrsim_report::timeline::timeline;
use xrsim_sim::plan::Plan;
use xrsim_sim::sweep::{self, RunResult};

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
        let semantics = &*study.rules();
        Ok(Reproduction {
            deviations: runs.deviations(semantics),
            drawing: Box::new(runs.draw(study)),
        })
    },
};

/// The runs of both sizes.
struct Runs(Vec<(Plan, RunResult)>);

impl Runs {
    fn make(study: &Study) -> Result<Self, ReproduceError> {
        let make = |(pes, _): (u64, _)| {
            let (plan, library) = study.run_of(SCENARIO, SYSTEM, pes)?;
            let result = sweep::run(&plan, &library)?;
            Ok((plan, result))
        };
        QUOTED.into_iter().map(make).collect::<Result<_, ReproduceError>>().map(Self)
    }

    /// Draws a panel for each size with a row for each accelerator.
    fn draw(&self, study: &Study) -> Timeline {
        let caption = Caption {
            subtitle: "hatched: ended late; ticks below: dropped, with their number".into(),
            note: study.note(self.0.iter().map(|(plan, _)| plan.drawn())),
            ..Caption::titled(format!(
                "Figure 6: {SCENARIO} on {SYSTEM}, semantics {}",
                study.rules()
            ))
        };
        let runs: Vec<_> = self.0.iter().map(|(plan, result)| (plan, result)).collect();
        timeline(caption, &runs)
    }

    /// Compares the numbers that the paper quotes.
    fn deviations(&self, semantics: &str) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        for ((pes, quoted), (plan, result)) in QUOTED.iter().zip(&self.0) {
            let MeanScores { qoe, overall, .. } = MeanScores::from_result(result);
            // The quoted rate is a mean over models, not over frames.
            let names = ["frames not executed, mean over models", "QoE score", "overall score"];
            for ((name, quoted), found) in
                names.into_iter().zip(quoted).zip([1.0 - qoe, qoe, overall])
            {
                let what = format!("{SCENARIO} on {SYSTEM}, {pes} PEs: {name}");
                let found = Deviation::of_numbers("6", semantics, &what, *quoted, found);
                deviations.push(found.with_remark(&draw_note(std::iter::once(plan.drawn()))));
            }
        }
        deviations
    }
}
