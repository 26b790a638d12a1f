//! What the paper concludes from its Figure 5 (XRBench sections 4.2 to 4.4), and whether it holds of other
//! scores.

use crate::report::table::{Style, new_table, render};

use super::super::study::Bars;

/// Accelerators with one dataflow on one array.
const SINGLE: [&str; 3] = ["A", "B", "C"];

/// Scores of a study: of every scenario on every system at both sizes.
pub(super) struct Scores {
    /// Where they come from.
    pub name: String,
    /// All of them.
    pub bars: Vec<Bars>,
}

/// A conclusion of the paper, and how to look for it.
struct Conclusion {
    section: &'static str,
    statement: &'static str,
    find: fn(&Scores) -> Option<Finding>,
}

/// What was found of a conclusion.
struct Finding {
    text: String,
    holds: bool,
}

impl Finding {
    fn new(holds: bool, text: String) -> Option<Self> {
        Some(Self { text, holds })
    }
}

const CONCLUSIONS: &[Conclusion] = &[
    Conclusion {
        section: "4.2.1",
        statement: "outdoor B, 8K: A is in time (RT over 0.99), yet far from the best overall",
        find: |scores| {
            let a = scores.of("outdoor_activity_B", 8192, "A")?;
            let (best, top) = scores.best("outdoor_activity_B", 8192)?;
            let gap = 100.0 * (1.0 - a[3] / top);
            let text = format!("RT {:.2}, score {:.2}, {gap:.1} % below {best}", a[0], a[3]);
            Finding::new(a[0] > 0.99 && gap > 20.0, text)
        },
    },
    Conclusion {
        section: "4.2.1",
        statement: "AR gaming, 4K: G has the highest QoE, and no score since it is never in time",
        find: |scores| {
            let g = scores.of("AR_gaming", 4096, "G")?;
            let others = scores.column("AR_gaming", 4096).map(|bars| bars.scores[2]);
            let highest = others.fold(0.0, f64::max);
            let text = format!("QoE {:.2} (highest {highest:.2}), score {:.2}", g[2], g[3]);
            Finding::new(g[2] >= highest && g[3] < 0.005, text)
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
                small[2], large[2], small[3], large[3]
            );
            Finding::new(small[2] < 0.6 && large[2] > 0.9 && small[3] < large[3], text)
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
        statement: "4K: every scenario has another best system",
        find: |scores| {
            let best = scores.winners(4096);
            let mut distinct: Vec<_> = best.iter().map(|(_, system)| system).collect();
            distinct.sort();
            distinct.dedup();
            let text = format!("{} best systems for {} scenarios", distinct.len(), best.len());
            Finding::new(distinct.len() == best.len(), text)
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
            let (small, large) = (scores.winners(4096), scores.winners(8192));
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

impl Scores {
    fn column<'a>(&'a self, scenario: &str, pes: u64) -> impl Iterator<Item = &'a Bars> {
        self.bars.iter().filter(move |bars| bars.scenario == scenario && bars.pes == pes)
    }

    /// Real-time, energy, QoE and overall score.
    fn of(&self, scenario: &str, pes: u64, system: &str) -> Option<[f64; 4]> {
        self.column(scenario, pes).find(|bars| bars.system == system).map(|bars| bars.scores)
    }

    /// The best system and its overall score; the first of equal ones.
    fn best<'a>(&'a self, scenario: &str, pes: u64) -> Option<(&'a str, f64)> {
        let scores = self.column(scenario, pes).map(|bars| bars.scores[3]);
        let top = scores.fold(f64::MIN, f64::max);
        let best = self.column(scenario, pes).find(|bars| bars.scores[3] == top)?;
        Some((&best.system, top))
    }

    /// Best overall score of one accelerator and of several.
    fn best_of_kinds(&self, scenario: &str, pes: u64) -> Option<[f64; 2]> {
        let best = |single: bool| {
            let kind = self
                .column(scenario, pes)
                .filter(|bars| SINGLE.contains(&bars.system.as_str()) == single);
            kind.map(|bars| bars.scores[3]).reduce(f64::max)
        };
        Some([best(true)?, best(false)?])
    }

    /// Place of a system by overall score, from 1.
    fn rank(&self, scenario: &str, pes: u64, system: &str) -> Option<usize> {
        let score = self.of(scenario, pes, system)?[3];
        Some(1 + self.column(scenario, pes).filter(|bars| bars.scores[3] > score).count())
    }

    /// Scenarios in order of first use.
    fn scenarios(&self) -> Vec<&str> {
        let mut scenarios: Vec<&str> = Vec::new();
        for bars in &self.bars {
            if !scenarios.contains(&bars.scenario.as_str()) {
                scenarios.push(&bars.scenario);
            }
        }
        scenarios
    }

    /// The best system of every scenario.
    fn winners(&self, pes: u64) -> Vec<(&str, &str)> {
        let best = |scenario| Some((scenario, self.best(scenario, pes)?.0));
        self.scenarios().into_iter().filter_map(best).collect()
    }
}

/// Header and rows: section, statement, and of each study whether it holds and what was found.
pub(super) fn rows(studies: &[Scores]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header = vec!["section".to_string(), "conclusion".into()];
    header.extend(studies.iter().map(|study| study.name.clone()));
    let row = |conclusion: &Conclusion| {
        let mut row = vec![conclusion.section.to_string(), conclusion.statement.into()];
        row.extend(studies.iter().map(|study| match (conclusion.find)(study) {
            Some(Finding { holds, text }) => {
                format!("{}: {text}", if holds { "holds" } else { "NO" })
            }
            None => "not run".into(),
        }));
        row
    };
    (header, CONCLUSIONS.iter().map(row).collect())
}

/// Header and rows: scenario, PEs, and of each study the best system with its score.
pub(super) fn best(studies: &[Scores]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header = vec!["scenario".to_string(), "PEs".into()];
    header.extend(studies.iter().map(|study| study.name.clone()));
    let mut rows = Vec::new();
    for scenario in studies.first().map(Scores::scenarios).unwrap_or_default() {
        for pes in [4096, 8192] {
            let mut row = vec![scenario.to_string(), pes.to_string()];
            row.extend(studies.iter().map(|study| match study.best(scenario, pes) {
                Some((_, 0.0)) => "none scores".into(),
                Some((system, score)) => format!("{system} {score:.3}"),
                None => "not run".into(),
            }));
            rows.push(row);
        }
    }
    (header, rows)
}

/// The two tables for people.
pub(super) fn to_text(studies: &[Scores], style: Style) -> String {
    [rows(studies), best(studies)]
        .map(|(header, rows)| {
            let names: Vec<_> = header.iter().map(String::as_str).collect();
            let mut table = new_table(style, &names, header.len());
            for row in rows {
                table.add_row(row);
            }
            render(&table)
        })
        .join("\n")
        + "scores of Figure 5 are one draw; the others expectations over the triggers, and one draw \
           (seed 0) of jitter where it has an effect\n"
}
