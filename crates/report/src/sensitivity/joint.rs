//! Order of systems under joint draws of all uncertain constants.

use serde_json::{Value, json};

use xrsim_figures::{Caption, Quantity, Tornado, TornadoBar, TornadoRow};
use xrsim_model::statistics::{
    ALIKE, Fraction, Interval, Summary, normal_quantile, percentile, share_interval, spearman_rho,
};
use xrsim_model::text::{cell, counted};

use crate::table::{Columns, Rows, Style, cell_if_any, or_dash};

/// Scores closer than this share a place: they differ by rounding.
const SAME: f64 = 1e-12;

/// A constant that was drawn.
#[derive(Debug, Clone)]
pub struct JointConstant {
    /// Name.
    pub name: String,
    /// Range in words.
    pub range: String,
    /// Source of the range.
    pub source: String,
}

/// One draw of all constants.
#[derive(Debug, Clone)]
pub struct JointDraw {
    /// Number of the draw, from 0.
    pub draw: u64,
    /// Values of the constants.
    pub values: Vec<f64>,
    /// Mean score of every system over the scenarios.
    pub scores: Vec<f64>,
}

/// Systems under joint draws of constants.
#[derive(Debug, Clone)]
pub struct Joined {
    /// Name of the ranges.
    pub uncertainty: String,
    /// Names of the scenarios.
    pub scenarios: Vec<String>,
    /// Names of the systems.
    pub systems: Vec<String>,
    /// The constants.
    pub constants: Vec<JointConstant>,
    /// Draws that were asked for.
    pub n_asked: u64,
    /// Draws in which all systems have a score.
    pub draws: Vec<JointDraw>,
    /// Reason of the first of the other draws.
    pub reason: Option<String>,
    /// Systems that do not run all scenarios, with the reason.
    pub left_out: Vec<(String, String)>,
    /// Constants that cannot vary, with the reason.
    pub skipped: Vec<(&'static str, String)>,
}

/// Rank correlation of a constant with the lead of a system.
#[derive(Debug, Clone, PartialEq)]
pub struct Decisive {
    /// Index of the constant.
    pub constant: usize,
    /// Spearman's rank correlation.
    pub rho: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

/// A system over all draws.
#[derive(Debug, Clone, PartialEq)]
pub struct JointStanding {
    /// Index of the system.
    pub system: usize,
    /// Draws in which no other system has a higher score.
    pub n_first: u64,
    /// Draws in which its score is at most 0.01 below the best.
    pub n_alike: u64,
    /// Its worst place.
    pub worst: usize,
    /// Mean of its places.
    pub mean_place: f64,
    /// Mean score.
    pub score: f64,
    /// Ends of the middle 90 % of its scores.
    pub spread: [f64; 2],
    /// The constant that decides most on its lead over the best of the others; `None` if none is told apart from chance.
    pub decisive: Option<Decisive>,
}

impl Joined {
    /// The systems, those that are first most often before the others.
    pub fn standings(&self) -> Vec<JointStanding> {
        let all = 0..self.systems.len();
        let mut standings: Vec<_> = all.map(|system| self.standing(system)).collect();
        standings
            .sort_by(|a, b| b.n_first.cmp(&a.n_first).then(a.mean_place.total_cmp(&b.mean_place)));
        standings
    }

    fn standing(&self, system: usize) -> JointStanding {
        let n = self.draws.len();
        let own = |draw: &JointDraw| draw.scores[system];
        let places = self
            .draws
            .iter()
            .map(|draw| 1 + draw.scores.iter().filter(|score| **score > own(draw) + SAME).count());
        let places: Vec<usize> = places.collect();
        let leads: Vec<f64> = self.draws.iter().map(|draw| lead(draw, system)).collect();
        let mut scores: Vec<f64> = self.draws.iter().map(own).collect();
        let score = Summary::of(scores.iter().copied()).mean;
        scores.sort_by(f64::total_cmp);
        let at =
            |share| Fraction::new(share).and_then(|it| percentile(&scores, it)).unwrap_or(score);
        JointStanding {
            system,
            n_first: places.iter().filter(|place| **place == 1).count() as u64,
            n_alike: leads.iter().filter(|lead| **lead >= -ALIKE).count() as u64,
            worst: places.iter().copied().max().unwrap_or(0),
            mean_place: places.iter().sum::<usize>() as f64 / n.max(1) as f64,
            score,
            spread: [at(0.05), at(0.95)],
            decisive: self.decisive(&leads),
        }
    }

    /// The constant whose rank correlation with `leads` is farthest from 0, if chance does not explain it: with an error of
    /// 5 % for all constants together.
    fn decisive(&self, leads: &[f64]) -> Option<Decisive> {
        let n = leads.len() as f64;
        if n < 4.0 {
            return None;
        }
        let rho = |constant: usize| {
            let values = self.draws.iter().map(|draw| draw.values[constant]);
            Some((constant, spearman_rho(values.zip(leads.iter().copied()))?))
        };
        let all = (0..self.constants.len()).filter_map(rho);
        let (constant, rho) = all.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
        let chance = normal_quantile(1.0 - 0.025 / self.constants.len() as f64) / (n - 1.0).sqrt();
        if rho.abs() < chance {
            return None;
        }
        // Fisher's transformation with the variance of Fieller, Hartley and Pearson (Biometrika 44, 1957) for ranks.
        let half = normal_quantile(0.975) * (1.06 / (n - 3.0)).sqrt();
        let z = rho.clamp(-1.0 + 1e-15, 1.0 - 1e-15).atanh();
        let interval = Interval { low: (z - half).tanh(), high: (z + half).tanh() };
        Some(Decisive { constant, rho, interval })
    }

    fn share(&self, hits: u64) -> (f64, Interval) {
        let n = self.draws.len() as u64;
        let none = Interval { low: 0.0, high: 1.0 };
        let interval = share_interval(hits, n, Fraction::P95).unwrap_or(none);
        (hits as f64 / n.max(1) as f64, interval)
    }

    /// `83 % (79 to 86 %)`.
    fn share_text(&self, hits: u64) -> String {
        let (share, Interval { low, high }) = self.share(hits);
        let percent = |share: f64| format!("{:.0}", 100.0 * share);
        format!("{} % ({} to {} %)", percent(share), percent(low), percent(high))
    }
}

/// Lead of a system over the best of the others; below 0 if one is better.
fn lead(draw: &JointDraw, system: usize) -> f64 {
    let others = draw.scores.iter().enumerate().filter(|(at, _)| *at != system);
    draw.scores[system] - others.map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max)
}

/// `1st`, `2nd`, `13th`.
fn ordinal(place: usize) -> String {
    let ending = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{place}{ending}")
}

/// The standings for people, with a sentence about the first one and the ranges below.
pub fn joint_table(joined: &Joined, style: Style) -> String {
    let standings = joined.standings();
    let name = |it: &&JointStanding| joined.systems[it.system].clone();
    let constant = |it: &Decisive| {
        let Interval { low, high } = it.interval;
        format!("{} {:+.2} ({low:+.2} to {high:+.2})", joined.constants[it.constant].name, it.rho)
    };
    let columns = Columns::<&JointStanding>::new()
        .text("system", name)
        .number("first", |it| joined.share_text(it.n_first))
        .number("alike", |it| joined.share_text(it.n_alike))
        .number("worst place", |it| ordinal(it.worst))
        .number("mean place", |it| format!("{:.1}", it.mean_place))
        .number("score", |it| format!("{:.3}", it.score))
        .number("90 % of scores", |it| format!("{:.3} to {:.3}", it.spread[0], it.spread[1]))
        .text("decides most (rank correlation)", |it| or_dash(it.decisive.as_ref(), constant));
    let mut text = format!(
        "{} of {} in {}; ranges `{}`\n",
        counted(joined.draws.len(), "joint draw"),
        counted(joined.constants.len(), "constant"),
        counted(joined.scenarios.len(), "scenario"),
        joined.uncertainty,
    );
    text += &columns.of(&standings).text(style);
    for it in standings.iter().filter(|it| it.n_first > 0).take(MAX_SENTENCES) {
        text += &(sentence(joined, it) + "\n");
    }
    text += "first: draws in which no other system scores more, with the 95 % interval of the share; alike: at most 0.01 \
             below the best; decides most: Spearman's correlation of a constant with the lead over the best of the \
             others, - if chance explains all of them\n\
             mappings stay those of the base: costs of a draw follow from its counts, without a new search\n";
    for (name, reason) in &joined.left_out {
        text += &format!("note: {name} is left out: {reason}\n");
    }
    for (name, reason) in &joined.skipped {
        text += &format!("note: {name} does not vary: {reason}\n");
    }
    let missing = joined.n_asked - joined.draws.len() as u64;
    if let Some(reason) = joined.reason.as_ref().filter(|_| missing > 0) {
        text += &format!(
            "note: {} without a score on some system, such as: {reason}\n",
            counted(missing as usize, "draw")
        );
    }
    text
}

/// Most systems with a sentence of their own.
const MAX_SENTENCES: usize = 3;

fn sentence(joined: &Joined, it: &JointStanding) -> String {
    let worst = match it.worst {
        1 => "always".into(),
        worst => format!("never worse than {}", ordinal(worst)),
    };
    let decisive = it.decisive.as_ref().map_or(String::new(), |found| {
        let name = &joined.constants[found.constant].name;
        format!("; {name} decides most ({:+.2})", found.rho)
    });
    format!(
        "{}: first in {} of {}, {worst}{decisive}",
        joined.systems[it.system],
        joined.share_text(it.n_first),
        counted(joined.draws.len(), "draw"),
    )
}

/// A row for every system.
pub fn joint_csv(joined: &Joined) -> Rows {
    let standings = joined.standings();
    let rho =
        |it: &&JointStanding, of: fn(&Decisive) -> f64| cell_if_any(it.decisive.as_ref().map(of));
    Columns::<&JointStanding>::new()
        .text("system", |it| joined.systems[it.system].clone())
        .number("draws", |_| joined.draws.len())
        .number("first", |it| cell(joined.share(it.n_first).0))
        .number("first_low", |it| cell(joined.share(it.n_first).1.low))
        .number("first_high", |it| cell(joined.share(it.n_first).1.high))
        .number("alike", |it| cell(joined.share(it.n_alike).0))
        .number("alike_low", |it| cell(joined.share(it.n_alike).1.low))
        .number("alike_high", |it| cell(joined.share(it.n_alike).1.high))
        .number("worst_place", |it| it.worst)
        .number("mean_place", |it| cell(it.mean_place))
        .number("score", |it| cell(it.score))
        .number("score_p5", |it| cell(it.spread[0]))
        .number("score_p95", |it| cell(it.spread[1]))
        .text("decisive_constant", |it| {
            it.decisive
                .as_ref()
                .map_or(String::new(), |it| joined.constants[it.constant].name.clone())
        })
        .number("rank_correlation", move |it| rho(it, |it| it.rho))
        .number("rank_correlation_low", move |it| rho(it, |it| it.interval.low))
        .number("rank_correlation_high", move |it| rho(it, |it| it.interval.high))
        .of(&standings)
        .into_rows()
}

/// A row for every draw: values of the constants and scores of the systems.
pub fn joint_draws_csv(joined: &Joined) -> Rows {
    let mut header = vec!["draw".to_string()];
    header.extend(joined.constants.iter().map(|it| it.name.clone()));
    header.extend(joined.systems.iter().map(|it| format!("score {it}")));
    let row = |draw: &JointDraw| {
        let values = draw.values.iter().chain(&draw.scores).map(|value| cell(*value));
        std::iter::once(draw.draw.to_string()).chain(values).collect()
    };
    (header, joined.draws.iter().map(row).collect())
}

/// The same numbers as one document.
pub fn joint_json(joined: &Joined) -> Value {
    let standing = |it: &JointStanding| {
        let [first, alike] = [it.n_first, it.n_alike].map(|hits| {
            let (share, Interval { low, high }) = joined.share(hits);
            json!({ "share": share, "low": low, "high": high })
        });
        let decisive = it.decisive.as_ref().map(|found| {
            let Interval { low, high } = found.interval;
            let name = &joined.constants[found.constant].name;
            json!({ "constant": name, "rank_correlation": found.rho, "low": low, "high": high })
        });
        json!({
            "system": joined.systems[it.system], "first": first, "alike": alike, "worst_place": it.worst,
            "mean_place": it.mean_place, "score": it.score, "score_p5": it.spread[0], "score_p95": it.spread[1],
            "decisive": decisive,
        })
    };
    let constant =
        |it: &JointConstant| json!({ "name": it.name, "range": it.range, "source": it.source });
    let pairs = |all: &mut dyn Iterator<Item = (String, String)>| -> Value {
        all.map(|(name, reason)| json!({ "name": name, "reason": reason })).collect()
    };
    json!({
        "uncertainty": joined.uncertainty, "scenarios": joined.scenarios, "draws": joined.draws.len(),
        "draws_without_a_score": joined.n_asked - joined.draws.len() as u64, "reason": joined.reason,
        "mappings": "those of the base",
        "constants": joined.constants.iter().map(constant).collect::<Vec<_>>(),
        "systems": joined.standings().iter().map(standing).collect::<Vec<_>>(),
        "left_out": pairs(&mut joined.left_out.iter().cloned()),
        "skipped": pairs(&mut joined.skipped.iter().map(|(name, reason)| (name.to_string(), reason.clone()))),
    })
}

/// Shares of draws in which systems are first, and what decides most.
pub fn joint_chart(joined: &Joined) -> Tornado {
    let row = |it: &JointStanding| {
        let (share, interval) = joined.share(it.n_first);
        let by = it.decisive.as_ref().map_or(String::new(), |found| {
            let constant = joined.constants[found.constant].name.replace('_', " ");
            format!("; most by {constant} ({:+.2})", found.rho)
        });
        let bar = TornadoBar {
            series: 0,
            label: format!("at worst {}{by}", ordinal(it.worst)),
            value: 100.0 * share,
            range: Some((100.0 * interval.low, 100.0 * interval.high)),
        };
        TornadoRow { name: joined.systems[it.system].clone(), bars: vec![bar] }
    };
    let subtitle = format!(
        "{} of {}, mappings of the base; whiskers: 95 % intervals; most by: the constant that decides most, with its \
         rank correlation",
        counted(joined.draws.len(), "joint draw"),
        counted(joined.constants.len(), "constant"),
    );
    let title = "Which system is best while constants are uncertain";
    let axis = Quantity::new("First in draws [%]", "");
    Tornado {
        caption: Caption { subtitle, ..Caption::titled(title) },
        series: vec![axis.label.clone()],
        axis,
        rows: joined.standings().iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws with one constant that alone decides, and one that does nothing: A leads B by the first constant less 0.5, and
    /// C trails both.
    fn joined(n: usize) -> Joined {
        let constant = |name: &str| JointConstant {
            name: name.into(),
            range: String::new(),
            source: String::new(),
        };
        let draw = |at: usize| {
            let first = at as f64 / n as f64;
            let second = ((at * 7919) % n) as f64;
            JointDraw {
                draw: at as u64,
                values: vec![first, second],
                scores: vec![first, 0.5, -1.0],
            }
        };
        Joined {
            uncertainty: "test".into(),
            scenarios: vec!["S".into()],
            systems: ["A", "B", "C"].map(String::from).to_vec(),
            constants: ["first", "second"].map(constant).to_vec(),
            n_asked: n as u64,
            draws: (0..n).map(draw).collect(),
            reason: None,
            left_out: Vec::new(),
            skipped: Vec::new(),
        }
    }

    #[test]
    fn a_constant_that_alone_decides_is_named() {
        let joined = joined(400);
        let standings = joined.standings();
        let of = |system| standings.iter().find(|it| it.system == system).expect("a system");
        // A ties with B at 0.5 and leads above it.
        assert_eq!([of(0).n_first, of(1).n_first, of(2).n_first], [200, 201, 0]);
        assert_eq!([of(0).worst, of(1).worst, of(2).worst], [2, 2, 3]);
        for (system, rho) in [(0, 1.0), (1, -1.0)] {
            let found = of(system).decisive.as_ref().expect("a constant decides");
            assert_eq!(found.constant, 0);
            assert!((found.rho - rho).abs() < 1e-9, "{found:?}");
        }
        let text = joint_table(&joined, Style::Plain);
        assert!(
            text.contains("B: first in 50 % (45 to 55 %) of 400 draws, never worse than 2nd"),
            "{text}"
        );
        assert!(text.contains("mappings stay those of the base"), "{text}");
    }

    #[test]
    fn a_system_that_is_always_best_is_first_in_all_draws() {
        let mut joined = joined(400);
        joined.draws.iter_mut().for_each(|draw| draw.scores[2] = 2.0 + 0.01 * draw.scores[0]);
        let best = &joined.standings()[0];
        assert_eq!((best.system, best.n_first, best.worst, best.n_alike), (2, 400, 1, 400));
        let text = joint_table(&joined, Style::Plain);
        assert!(text.contains("C: first in 100 % (99 to 100 %) of 400 draws, always"), "{text}");
    }

    #[test]
    fn a_constant_without_an_effect_is_not_named() {
        let mut joined = joined(400);
        for draw in &mut joined.draws {
            draw.values.remove(0);
        }
        joined.constants.remove(0);
        assert!(joined.standings().iter().all(|it| it.decisive.is_none()));
    }

    #[test]
    fn places_have_their_endings() {
        let places = [1, 2, 3, 4, 11, 12, 13, 21].map(ordinal);
        assert_eq!(places, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st"]);
    }
}
