//! Conclusions that the paper draws from its Figure 5 (XRBench sections 4.2 to 4.4), checked on any scores of
//! the study.

use xrsim_model::sequence::distinct;
use xrsim_model::statistics::kendall_tau;

use super::Table;
use super::study::{MeanScores, Point};

/// Accelerators with one dataflow on one array.
const SINGLE: [&str; 3] = ["A", "B", "C"];

/// Sizes of the study \[PE\].
const SIZES: [u64; 2] = [4096, 8192];

/// Scores of the study: of every scenario on every system at both sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyScores {
    /// Source of the scores, for the header of a table.
    pub name: String,
    /// Every point.
    pub points: Vec<Point>,
}

/// A conclusion of the paper and the check of it.
pub struct Conclusion {
    /// Section of the paper.
    pub section: &'static str,
    /// The conclusion.
    pub statement: &'static str,
    find: fn(&StudyScores) -> Option<Finding>,
}

/// Result of the check of a conclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether the conclusion holds.
    pub holds: bool,
    /// Numbers that decide it.
    pub text: String,
}

impl Finding {
    fn new(holds: bool, text: String) -> Option<Self> {
        Some(Self { holds, text })
    }
}

impl Conclusion {
    /// Checks the conclusion on `scores`. Returns `None` if they lack a point that it is about.
    pub fn check(&self, scores: &StudyScores) -> Option<Finding> {
        (self.find)(scores)
    }
}

/// Every conclusion that is checked, in the order of the paper.
pub const CONCLUSIONS: &[Conclusion] = &[
    Conclusion {
        section: "4.2.1",
        statement: "outdoor B, 8K: A is in time (RT over 0.99), but far below the best overall score",
        find: |scores| {
            let a = scores.of("outdoor_activity_B", 8192, "A")?;
            let (best, top) = scores.best("outdoor_activity_B", 8192)?;
            let gap = 100.0 * (1.0 - a.overall / top);
            let text =
                format!("RT {:.2}, score {:.2}, {gap:.1} % below {best}", a.realtime, a.overall);
            Finding::new(a.realtime > 0.99 && gap > 20.0, text)
        },
    },
    Conclusion {
        section: "4.2.1",
        statement: "AR gaming, 4K: G has the highest QoE but scores 0, because it is never in time",
        find: |scores| {
            let g = scores.of("AR_gaming", 4096, "G")?;
            let others = scores.column("AR_gaming", 4096).map(|point| point.scores.qoe);
            let highest = others.fold(0.0, f64::max);
            let text = format!("QoE {:.2} (highest {highest:.2}), score {:.2}", g.qoe, g.overall);
            Finding::new(g.qoe >= highest && g.overall < 0.005, text)
        },
    },
    Conclusion {
        section: "4.2.2",
        statement: "AR gaming on J: 4K drops about half of the frames, 8K hardly any",
        find: |scores| {
            let [small, large] =
                [scores.of("AR_gaming", 4096, "J")?, scores.of("AR_gaming", 8192, "J")?];
            let text = format!(
                "QoE {:.2} and {:.2}, score {:.2} and {:.2}",
                small.qoe, large.qoe, small.overall, large.overall
            );
            Finding::new(small.qoe < 0.6 && large.qoe > 0.9 && small.overall < large.overall, text)
        },
    },
    Conclusion {
        section: "4.3",
        statement: "4K: social A prefers A, outdoor A prefers H",
        find: |scores| {
            let social = scores.best("social_interactionA", 4096)?.0;
            let outdoor = scores.best("outdoor_activity_A", 4096)?.0;
            Finding::new(social == "A" && outdoor == "H", format!("{social}, {outdoor}"))
        },
    },
    Conclusion {
        section: "4.4, 1",
        statement: "4K: every scenario has a different best system",
        find: |scores| {
            let best = scores.best_systems(4096);
            let n_best = distinct(best.iter().map(|(_, system)| system)).len();
            let text = format!("{n_best} best systems for {} scenarios", best.len());
            Finding::new(n_best == best.len(), text)
        },
    },
    Conclusion {
        section: "4.4, 1",
        statement: "4K: A is best for social A, F for outdoor B",
        find: |scores| {
            let social = scores.best("social_interactionA", 4096)?.0;
            let outdoor = scores.best("outdoor_activity_B", 4096)?.0;
            Finding::new(social == "A" && outdoor == "F", format!("{social}, {outdoor}"))
        },
    },
    Conclusion {
        section: "4.4, 2",
        statement: "AR assistant: H is best with 4K, M with 8K",
        find: |scores| {
            let small = scores.best("AR_Assistant", 4096)?.0;
            let large = scores.best("AR_Assistant", 8192)?.0;
            Finding::new(small == "H" && large == "M", format!("{small}, {large}"))
        },
    },
    Conclusion {
        section: "4.4, 2",
        statement: "the best system depends on the size of the chip",
        find: |scores| {
            let (small, large) = (scores.best_systems(4096), scores.best_systems(8192));
            let changed = small.iter().zip(&large).filter(|(small, large)| small.1 != large.1);
            let changed = changed.count();
            let text = format!("changes in {changed} of {} scenarios", small.len());
            Finding::new(changed > 0, text)
        },
    },
    Conclusion {
        section: "4.4, 3",
        statement: "AR assistant (six models): several accelerators beat one, at both sizes",
        find: |scores| {
            let gap = |pes| {
                let [single, several] = scores.best_of_kinds("AR_Assistant", pes)?;
                Some(several - single)
            };
            let [small, large] = [gap(4096)?, gap(8192)?];
            let text = format!("by {small:+.3} with 4K, {large:+.3} with 8K");
            Finding::new(small > 0.0 && large > 0.0, text)
        },
    },
    Conclusion {
        section: "4.4, 3",
        statement: "VR gaming (three models): A beats most others, at both sizes",
        find: |scores| {
            let [small, large] = [4096, 8192].map(|pes| scores.rank("VR_gaming", pes, "A"));
            let (small, large) = (small?, large?);
            let text = format!("number {small} with 4K, {large} with 8K");
            Finding::new(small <= 4 && large <= 4, text)
        },
    },
    Conclusion {
        section: "4.4, 3",
        statement: "8K: M is best for AR assistant, but not for VR gaming",
        find: |scores| {
            let assistant = scores.rank("AR_Assistant", 8192, "M")?;
            let gaming = scores.rank("VR_gaming", 8192, "M")?;
            let text = format!("number {assistant} and number {gaming}");
            Finding::new(assistant == 1 && gaming > 4, text)
        },
    },
];

impl StudyScores {
    fn column<'a>(&'a self, scenario: &str, pes: u64) -> impl Iterator<Item = &'a Point> {
        self.points.iter().filter(move |point| point.scenario == scenario && point.pes == pes)
    }

    fn of(&self, scenario: &str, pes: u64, system: &str) -> Option<MeanScores> {
        self.points.iter().find(|it| it.is_at(scenario, pes, system)).map(|it| it.scores)
    }

    /// Returns the best system and its overall score; of equal systems the first.
    pub fn best<'a>(&'a self, scenario: &str, pes: u64) -> Option<(&'a str, f64)> {
        let scores = self.column(scenario, pes).map(|point| point.scores.overall);
        let top = scores.fold(f64::MIN, f64::max);
        let best = self.column(scenario, pes).find(|point| point.scores.overall == top)?;
        Some((&best.system, top))
    }

    /// Returns the best overall score of systems with one accelerator, and with several.
    fn best_of_kinds(&self, scenario: &str, pes: u64) -> Option<[f64; 2]> {
        let best = |single: bool| {
            let of_kind = self
                .column(scenario, pes)
                .filter(|point| SINGLE.contains(&point.system.as_str()) == single);
            of_kind.map(|point| point.scores.overall).reduce(f64::max)
        };
        Some([best(true)?, best(false)?])
    }

    /// Returns the rank of a system by overall score, from 1.
    fn rank(&self, scenario: &str, pes: u64, system: &str) -> Option<usize> {
        let score = self.of(scenario, pes, system)?.overall;
        let better = self.column(scenario, pes).filter(|point| point.scores.overall > score);
        Some(1 + better.count())
    }

    /// Agreement of two rankings of the systems by overall score on `scenario`: Kendall's tau over the
    /// systems that both have. `None` if there are less than two, or one ranking ties all.
    pub fn agreement(&self, other: &Self, scenario: &str, pes: u64) -> Option<f64> {
        let pairs = self.column(scenario, pes).filter_map(|point| {
            let there = other.of(scenario, pes, &point.system)?;
            Some((point.scores.overall, there.overall))
        });
        kendall_tau(pairs)
    }

    /// Returns the scenarios in order of first use.
    fn scenarios(&self) -> Vec<&str> {
        distinct(self.points.iter().map(|point| &*point.scenario))
    }

    /// Returns every scenario with its best system.
    fn best_systems(&self, pes: u64) -> Vec<(&str, &str)> {
        let best = |scenario| Some((scenario, self.best(scenario, pes)?.0));
        self.scenarios().into_iter().filter_map(best).collect()
    }
}

/// Returns a table with a row for every conclusion and a column for each of `studies`: whether it holds,
/// with the numbers that decide it.
pub fn findings(studies: &[StudyScores]) -> Table {
    let row = |conclusion: &Conclusion| {
        let mut row = vec![conclusion.section.to_string(), conclusion.statement.into()];
        row.extend(studies.iter().map(|study| match conclusion.check(study) {
            Some(Finding { holds, text }) => {
                format!("{}: {text}", if holds { "holds" } else { "NO" })
            }
            None => "not run".into(),
        }));
        row
    };
    let header = header(["section", "conclusion"], studies);
    Table { header, rows: CONCLUSIONS.iter().map(row).collect() }
}

/// Returns a table with a row for every scenario at each size and a column for each of `studies`: the
/// best system with its overall score. The last column has the agreement of the rankings of the last
/// two studies ([`StudyScores::agreement`]).
pub fn best_systems(studies: &[StudyScores]) -> Table {
    let mut rows = Vec::new();
    for scenario in studies.first().map(StudyScores::scenarios).unwrap_or_default() {
        for pes in SIZES {
            let mut row = vec![scenario.to_string(), pes.to_string()];
            row.extend(studies.iter().map(|study| match study.best(scenario, pes) {
                Some((_, 0.0)) => "none scores".into(),
                Some((system, score)) => format!("{system} {score:.3}"),
                None => "not run".into(),
            }));
            if let [.., before, last] = studies {
                let tau = before.agreement(last, scenario, pes);
                row.push(tau.map_or("-".into(), |tau| format!("{tau:.2}")));
            }
            rows.push(row);
        }
    }
    let mut header = header(["scenario", "PEs"], studies);
    if studies.len() > 1 {
        header.push("Kendall's tau of the last two".into());
    }
    Table { header, rows }
}

fn header(first: [&str; 2], studies: &[StudyScores]) -> Vec<String> {
    let names = studies.iter().map(|study| study.name.clone());
    first.map(String::from).into_iter().chain(names).collect()
}
