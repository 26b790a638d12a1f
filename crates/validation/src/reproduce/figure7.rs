//! Figure 7: scores of VR gaming on B and J with 4K PEs against the probability that gaze estimation is
//! triggered, as means of 200 replications with 95 % intervals, and the numbers that XRBench section 4.3
//! quotes.

use std::sync::Arc;

use xrsim_figures::{Caption, Line, LinePanel, LinePoint, Lines, Quantity, Spacing};
use xrsim_model::parallel;
use xrsim_model::scenario::{DependencyKind, Scenario};
use xrsim_model::statistics::{Fraction, Summary};
use xrsim_sim::sweep;

use super::study::{MeanScores, Study};
use super::{Deviation, FigureEntry, ReproduceError, Reproduction};

/// Points of the figure as published: accelerator, PEs, probability, four scores.
const FIGURE_7: &str = include_str!("../../../../tests/reference/figure7_published.csv");

const SCENARIO: &str = "VR_gaming";
const SYSTEMS: [&str; 2] = ["B", "J"];
const PROBABILITIES: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
const REPLICATIONS: usize = 200;

pub(super) const ENTRY: FigureEntry = FigureEntry {
    number: 7,
    depends_on_semantics: true,
    reproduce: |study: &Study| {
        let curves = Curves::make(study)?;
        let semantics = &*study.rules();
        Ok(Reproduction {
            deviations: curves.deviations(semantics),
            drawing: Box::new(curves.draw(study)),
        })
    },
};

/// Scores at each point over the replications, `[system][probability][score]`.
struct Curves(Vec<Vec<[Summary; 4]>>);

/// Half width of the widest 95 % interval of a system.
fn widest(curve: &[[Summary; 4]]) -> f64 {
    let halves = curve.iter().flatten().filter_map(|it| it.half_width(Fraction::P95));
    halves.fold(0.0, f64::max)
}

/// The scenario with every data dependency turned into a control dependency.
fn cascaded(scenario: &Scenario) -> Scenario {
    let mut models = scenario.models().to_vec();
    for dependency in models.iter_mut().flat_map(|model| &mut model.dependencies) {
        dependency.kind = DependencyKind::Control { probability: 1.0 };
    }
    let cascaded = Scenario::new(scenario.name(), scenario.streams().to_vec(), models);
    cascaded.expect("only the kinds of its dependencies changed")
}

/// Published scores of a system at a probability.
fn published(system: &str, probability: f64) -> Option<[f64; 4]> {
    FIGURE_7.lines().skip(1).find_map(|line| {
        let cells: Vec<_> = line.split(',').collect();
        let numbers: Vec<f64> = cells[1..].iter().filter_map(|cell| cell.parse().ok()).collect();
        let [_, at, realtime, energy, qoe, overall] = numbers[..] else { return None };
        (cells[0] == system && at == probability).then_some([realtime, energy, qoe, overall])
    })
}

impl Curves {
    fn make(study: &Study) -> Result<Self, ReproduceError> {
        let of_system = |system: &str| {
            let (mut plan, library) = study.run_of(SCENARIO, system, 4096)?;
            plan.scenario = Arc::new(cascaded(&plan.scenario));
            let at = |probability: f64| {
                let replications = parallel::map_indices(REPLICATIONS, |replication| {
                    let mut plan = plan.clone();
                    plan.load.replication = replication as u64;
                    plan.load.trigger_probability = Some(probability);
                    let result = sweep::run(&plan, &library).ok()?;
                    Some(MeanScores::from_result(&result).values())
                });
                let all: Vec<_> = replications.into_iter().flatten().collect();
                [0, 1, 2, 3].map(|score| Summary::of(all.iter().map(|scores| scores[score])))
            };
            Ok(PROBABILITIES.map(at).to_vec())
        };
        SYSTEMS.into_iter().map(of_system).collect::<Result<_, ReproduceError>>().map(Self)
    }

    /// Draws a panel for each system.
    fn draw(&self, study: &Study) -> Lines {
        let line = |system: usize, score: usize| Line {
            points: PROBABILITIES
                .iter()
                .zip(&self.0[system])
                .map(|(&x, scores)| {
                    let summary = scores[score];
                    let interval = summary.interval(Fraction::P95).map(|it| (it.low, it.high));
                    LinePoint { x, mean: summary.mean, interval }
                })
                .collect(),
            published: PROBABILITIES
                .iter()
                .filter_map(|&x| Some((x, published(SYSTEMS[system], x)?[score])))
                .collect(),
        };
        let panel = |system: usize| LinePanel {
            title: format!("{}, 4K", SYSTEMS[system]),
            lines: (0..MeanScores::NAMES.len()).map(|score| line(system, score)).collect(),
        };
        Lines {
            caption: Caption {
                subtitle: format!("means of {REPLICATIONS} replications with 95 % intervals"),
                note: study.note(std::iter::empty()),
                ..Caption::titled(format!("Figure 7: {SCENARIO}, semantics {}", study.rules()))
            },
            x_axis: Quantity::new("Probability that gaze is triggered", ""),
            x_spacing: Spacing::Linear,
            y_axis: Quantity::share("Score"),
            y_spacing: Spacing::Linear,
            series: MeanScores::NAMES.map(String::from).to_vec(),
            columns: 2,
            panels: (0..SYSTEMS.len()).map(panel).collect(),
            limits: Vec::new(),
            answer: None,
            published: "published (Figure 7)".into(),
        }
    }

    /// Compares every published point, and the changes from 25 % to 100 % that XRBench section 4.3
    /// quotes.
    fn deviations(&self, semantics: &str) -> Vec<Deviation> {
        let mut deviations = Vec::new();
        for (system, curve) in SYSTEMS.iter().zip(&self.0) {
            let points = PROBABILITIES.iter().zip(curve).filter_map(|(&at, found)| {
                let printed = published(system, at)?;
                let distances =
                    found.iter().zip(printed).map(|(score, it)| (score.mean - it).abs());
                Some(distances.fold(0.0, f64::max))
            });
            deviations.push(Deviation {
                figure: "7",
                semantics: semantics.into(),
                what: format!("{system}: largest distance from a published mean"),
                published: "0".into(),
                found: format!("{:.3}", points.fold(0.0, f64::max)),
                remark: format!(
                    "both are means of {REPLICATIONS} draws; half width of the 95 % interval here at most \
                     {:.3}",
                    widest(curve)
                ),
            });
        }
        let change = |system: usize, score: usize| {
            let curve = &self.0[system];
            curve[curve.len() - 1][score].mean - curve[0][score].mean
        };
        let quotes = [
            ("B: real-time score from 25 % to 100 %", 0.23, change(0, 0)),
            ("B: QoE score from 25 % to 100 %", -0.06, change(0, 2)),
            ("J: overall score from 25 % to 100 %", -0.03, change(1, 3)),
        ];
        let quoted =
            |(what, quoted, found)| Deviation::of_numbers("7", semantics, what, quoted, found);
        deviations.extend(quotes.map(quoted));
        deviations
    }
}
