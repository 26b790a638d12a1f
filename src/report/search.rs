//! Answers of a search: text for a terminal, tables, a figure of a front, and the record.

use serde_json::{Map, Value, json};

use crate::column::Better;
use crate::figures::{Caption, Scatter, ScatterPoint, ScatterSeries, Spacing};
use crate::plan::Semantics;
use crate::schedule::Policy;
use crate::search::{
    Answer, ConfirmSettings, Confirmation, Evaluated, Quantity, Question, Search, Space, Status,
    StopReason,
};
use crate::text::{cell, counted};

use super::table::{self, Style};

/// A system of an answer under a scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Name of the system.
    pub system: String,
    /// Scheduler.
    pub scheduler: String,
    /// Types of the system.
    pub members: Vec<u32>,
    /// PEs that its dataflows cannot use.
    pub idle_pes: u64,
    /// Memories of PEs and clusters, where they are as large as needed.
    pub memories: Option<String>,
    /// Values of all quantities, in the order of [`Quantity::all`].
    pub values: Vec<Option<f64>>,
    /// Half of the 95 % interval of the first objective.
    pub half_width: Option<f64>,
}

impl Found {
    fn of(
        search: &Search<'_>,
        names: &Names<'_>,
        question: &Question,
        (system, scheduler): (u32, usize),
    ) -> Self {
        let members = search.members(system);
        Self {
            system: names.space.name(members),
            scheduler: names.scheduler(scheduler),
            idle_pes: names.space.idle_pes(members),
            memories: memories(names.space, members),
            members: members.to_vec(),
            values: Quantity::all()
                .map(|quantity| search.value(question, system, scheduler, quantity))
                .collect(),
            half_width: search.half_width(question, system, scheduler),
        }
    }

    /// Value of a quantity.
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        let at = Quantity::all().position(|known| known == quantity)?;
        self.values[at]
    }
}

/// Names of systems and schedulers.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The space.
    pub space: &'a Space,
    /// Schedulers.
    pub schedulers: &'a [Policy],
    /// Rules of the runs.
    pub semantics: Semantics,
}

impl Names<'_> {
    fn scheduler(&self, index: usize) -> String {
        self.semantics.scheduler_name(&self.schedulers[index]).to_string()
    }
}

/// A candidate of a confirmation: system, scheduler, mean and half width over the fresh draws, draws, and
/// whether it was eliminated.
type Confirmed = (String, String, f64, Option<f64>, u64, bool);

/// An answer with the names of its systems.
#[derive(Debug, Clone)]
pub struct AnswerReport {
    /// The answer.
    pub answer: Answer,
    /// Systems of the answer, the best first.
    pub found: Vec<Found>,
    /// Every system that was simulated, as cells of [`AnswerReport::header`].
    pub evaluated: Vec<Vec<String>>,
    /// Candidates of the confirmation, and the number of fresh draws.
    pub confirmed: Option<(Vec<Confirmed>, u64)>,
    /// Parameters of the confirmation.
    pub confirm_settings: Option<ConfirmSettings>,
    /// Whether candidates of the confirmation were left out.
    pub is_cut: bool,
    /// Part of the systems that was searched, such as `2/5`, unless it was all.
    pub part: Option<String>,
    /// Meaning of the numbers in names of systems, where they are not PEs.
    pub units: Option<String>,
    /// Whether the best system is the same in other technologies: their names with it, if it differs.
    pub technologies: Vec<(String, Option<String>)>,
}

impl AnswerReport {
    /// First columns of the table of evaluated systems.
    const HEADER: [&'static str; 8] = [
        "question",
        "system",
        "scheduler",
        "excluded_by",
        "draws",
        "idle_pes",
        "ub1_isolation",
        "ub3_linear_program",
    ];

    /// The report of an answer of `search`.
    pub fn new(
        search: &Search<'_>,
        names: Names<'_>,
        answer: Answer,
        confirmation: Option<&Confirmation>,
    ) -> Self {
        let question = &answer.question;
        let found = answer
            .points
            .iter()
            .map(|point| Found::of(search, &names, question, (point.system, point.scheduler)));
        let found = found.collect();
        let evaluated = search.evaluated(&answer);
        let evaluated = evaluated.iter().map(|it| row(search, &names, question, it)).collect();
        let confirmed = confirmation.map(|it| {
            let candidate = |of: &crate::search::Candidate| {
                (
                    names.space.name(search.members(of.system)),
                    names.scheduler(of.scheduler),
                    of.fresh.mean,
                    of.fresh.half_width(crate::statistics::Fraction::P95),
                    of.fresh.n,
                    of.is_eliminated,
                )
            };
            (it.candidates.iter().map(candidate).collect(), it.draws)
        });
        let units = units(names.space, answer.points.first().map(|it| search.members(it.system)));
        Self {
            found,
            evaluated,
            confirmed,
            confirm_settings: confirmation.map(|it| it.settings),
            is_cut: confirmation.is_some_and(|it| it.is_cut),
            part: None,
            units,
            technologies: Vec::new(),
            answer,
        }
    }

    /// Header of the table of evaluated systems.
    pub fn header() -> Vec<String> {
        let quantities = Quantity::all().map(Quantity::name);
        let all = Self::HEADER.into_iter().chain(quantities).chain(["half_width"]);
        all.map(String::from).collect()
    }

    /// Header and rows of the answer: a row for the best system, or for each of the front.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut header: Vec<String> =
            ["question", "system", "scheduler", "idle_pes"].map(String::from).to_vec();
        header.extend(Quantity::all().map(|it| it.name().to_string()));
        header.push("half_width".into());
        let row = |found: &Found| {
            let mut row = vec![
                self.answer.question.name.to_string(),
                found.system.clone(),
                found.scheduler.clone(),
                found.idle_pes.to_string(),
            ];
            row.extend(found.values.iter().map(|value| value.map_or(String::new(), cell)));
            row.push(found.half_width.map_or(String::new(), cell));
            row
        };
        (header, self.found.iter().map(row).collect())
    }

    /// The answer as JSON.
    pub fn to_json(&self) -> Value {
        let answer = &self.answer;
        let counts = answer.counts;
        let found = self.found.iter().map(|found| {
            let mut values = Map::new();
            for (quantity, value) in Quantity::all().zip(&found.values) {
                values.insert(quantity.name().into(), json!(value));
            }
            json!({
                "system": found.system,
                "scheduler": found.scheduler,
                "idle_pes": found.idle_pes,
                "values": values,
                "half_width": found.half_width,
            })
        });
        let confirmed = self.confirmed.as_ref().map(|(candidates, draws)| {
            let of = |(system, scheduler, mean, half, n, out): &Confirmed| {
                json!({
                    "system": system, "scheduler": scheduler, "mean": mean, "half_width": half,
                    "draws": n, "is_eliminated": out,
                })
            };
            json!({"draws": draws, "candidates": candidates.iter().map(of).collect::<Vec<_>>()})
        });
        let technologies: Map<String, Value> = self
            .technologies
            .iter()
            .map(|(name, other)| (name.clone(), json!(other.as_deref().unwrap_or("the same"))))
            .collect();
        json!({
            "question": answer.question.name,
            "objectives": answer.question.objectives.iter().map(|it| it.name()).collect::<Vec<_>>(),
            "constraints": answer.question.constraints.iter().map(|it| it.to_string()).collect::<Vec<_>>(),
            "part": self.part,
            "stop": answer.stop.name(),
            "is_exact": answer.is_exact,
            "gap": answer.gap(),
            "open_bound": answer.upper,
            "certificate": answer.certificate,
            "counts": {
                "systems": counts.systems,
                "constrained": counts.constrained,
                "infeasible": counts.infeasible,
                "bounded": counts.bounded,
                "partly_simulated": counts.partly,
                "simulated": counts.complete,
            },
            "text": self.text(),
            "runs": answer.runs,
            "found": found.collect::<Vec<_>>(),
            "confirmation": confirmed,
            "other_technologies": technologies,
        })
    }

    /// The answer in words, several lines.
    pub fn text(&self) -> String {
        let mut lines = match self.answer.question.is_front() {
            true => self.front_lines(),
            false => self.best_lines(),
        };
        lines.extend(self.units.iter().cloned());
        lines.push(self.work());
        lines.extend(self.confirmation());
        lines.extend(self.technology_lines());
        lines.join("\n") + "\n"
    }

    fn objective(&self) -> Quantity {
        self.answer.question.objectives[0]
    }

    fn best_lines(&self) -> Vec<String> {
        let Some(best) = self.found.first() else { return vec![self.nothing()] };
        let quantity = self.objective();
        let mut parts = vec![best.system.clone()];
        let value = best.value(quantity).map_or("none".into(), |value| number(quantity, value));
        let half = best.half_width.map_or(String::new(), |half| format!(" +- {}", short(half)));
        parts.push(format!("{} {value}{half}", quantity.name()));
        if quantity != Quantity::Area
            && let Some(area) = best.value(Quantity::Area)
        {
            parts.push(format!("area {area:.1} mm2 (+-30 %)"));
        }
        if quantity.is_sampled() {
            parts.push(best.scheduler.clone());
        }
        let mut lines = vec![format!("best   {}", parts.join("   "))];
        lines.extend(best.memories.iter().map(|it| format!("       {it}")));
        if best.idle_pes > 0 {
            lines.push(format!(
                "       {} cannot be used by its dataflows",
                counted(best.idle_pes as usize, "PE")
            ));
        }
        lines.push(self.proof(quantity));
        lines
    }

    fn proof(&self, quantity: Quantity) -> String {
        let answer = &self.answer;
        let gap = answer.gap().map_or(String::new(), |gap| format!("{} %", short(100.0 * gap)));
        let certificate =
            answer.certificate.zip(self.found[0].value(quantity)).map(|(bound, value)| {
                let gap = 100.0 * (bound - value).max(0.0) / bound.max(f64::MIN_POSITIVE);
                format!(
                    "under any scheduler no system exceeds {} ({} % above the best)",
                    number(quantity, bound),
                    short(gap)
                )
            });
        let certificate = certificate.map_or(String::new(), |text| format!("; {text}"));
        if let Some(part) = &self.part {
            return format!(
                "best of part {part} only: nothing is said of the whole space before all parts are joined"
            );
        }
        match (answer.stop, answer.is_exact) {
            (StopReason::Proven, true) if !quantity.is_sampled() => {
                "proven: the optimum of the space, from costs without runs".into()
            }
            (StopReason::Proven, true) => format!(
                "proven: the optimum of the space under these schedulers, in these draws{certificate}"
            ),
            (_, true) => format!(
                "not proven ({}): what is open can reach {}, a gap of {gap}{certificate}",
                answer.stop.name(),
                answer.upper.map_or("anything".into(), |upper| number(quantity, upper.abs())),
            ),
            (_, false) => format!("found by evolution, without proof{certificate}"),
        }
    }

    fn nothing(&self) -> String {
        let answer = &self.answer;
        if let Some(part) = &self.part {
            return format!("part {part} has no system that can be the answer");
        }
        match answer.stop {
            StopReason::Proven if answer.question.constraints.is_empty() => {
                "no system of the space can run".into()
            }
            StopReason::Proven => {
                let limits: Vec<_> =
                    answer.question.constraints.iter().map(|it| it.to_string()).collect();
                format!("no system of the space keeps {}", limits.join(" and "))
            }
            _ => "no system was simulated completely before the search was stopped".into(),
        }
    }

    fn front_lines(&self) -> Vec<String> {
        if self.found.is_empty() {
            return vec![self.nothing()];
        }
        let names: Vec<_> = self.answer.question.objectives.iter().map(|it| it.name()).collect();
        let exact = match (self.answer.is_exact, self.answer.stop) {
            _ if self.part.is_some() => "of one part only; join all parts",
            (true, StopReason::Proven) => {
                "exact: every other system of the space is worse in one and better in none"
            }
            (true, _) => "the search was stopped: others may be better",
            _ => "found by evolution, without proof",
        };
        let mut lines = vec![format!(
            "front of {} in {} ({exact})",
            counted(self.found.len(), "system"),
            names.join(", ")
        )];
        if self.found.len() > 1 {
            let (volume, reference) = self.hypervolume();
            let reference: Vec<_> = reference.iter().map(|&value| short(value)).collect();
            lines.push(format!("hypervolume {} above ({})", short(volume), reference.join(", ")));
        }
        lines
    }

    /// Hypervolume of the front, and its reference point: the worst corner of the evaluated systems, a
    /// tenth of their range further.
    pub fn hypervolume(&self) -> (f64, Vec<f64>) {
        let objectives = &self.answer.question.objectives;
        let sign = |quantity: Quantity| match quantity.better() {
            Better::Higher => 1.0,
            Better::Lower => -1.0,
        };
        let good = |found: &Found| {
            let of = |&it: &Quantity| sign(it) * found.value(it).unwrap_or(f64::NAN);
            objectives.iter().map(of).collect::<Vec<f64>>()
        };
        let points: Vec<_> = self.found.iter().map(good).collect();
        let reference = (0..objectives.len()).map(|at| {
            let values = points.iter().map(|point| point[at]);
            let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| {
                (low.min(it), high.max(it))
            });
            low - 0.1 * (high - low).max(1e-9 * low.abs())
        });
        let reference: Vec<f64> = reference.collect();
        let volume = crate::search::front::hypervolume(&points, &reference);
        let signed = reference.iter().zip(objectives).map(|(value, &it)| sign(it) * value);
        (volume, signed.collect())
    }

    fn work(&self) -> String {
        let counts = self.answer.counts;
        let simulated = counts.partly + counts.complete;
        let mut parts = vec![format!(
            "simulated {simulated} of {}, {} in all draws, {} runs",
            counted(counts.systems as usize, "system"),
            counts.complete,
            self.answer.runs
        )];
        for (n, what) in [
            (counts.bounded, "excluded by bounds"),
            (counts.constrained, "by constraints"),
            (counts.infeasible, "cannot run a model"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {what}"));
            }
        }
        parts.join("; ")
    }

    fn confirmation(&self) -> Option<String> {
        let (candidates, draws) = self.confirmed.as_ref()?;
        let settings = self.confirm_settings?;
        let quantity = self.objective();
        let mut left: Vec<_> = candidates.iter().filter(|it| !it.5).collect();
        left.sort_by(|a, b| match quantity.better() {
            Better::Higher => b.2.total_cmp(&a.2),
            Better::Lower => a.2.total_cmp(&b.2),
        });
        let best = *left.first()?;
        let half = best.3.map_or(String::new(), |half| format!(" +- {}", short(half)));
        let mean = number(quantity, best.2) + &half;
        let found = self.found.first()?;
        let is_same = best.0 == found.system;
        let procedure = format!(
            "Kim and Nelson, {} %, difference {}",
            short(100.0 * (1.0 - settings.alpha.get())),
            short(settings.delta)
        );
        let others = candidates.len() - left.len();
        let cut = if self.is_cut { "; others within the difference were left out" } else { "" };
        Some(match left.len() {
            1 if others == 0 => format!(
                "on {draws} fresh draws: {mean}; no other system that was simulated in all draws is within {}",
                short(settings.delta)
            ),
            _ if is_same && left.iter().all(|it| it.0 == best.0) => {
                let schedulers: Vec<_> = left.iter().map(|it| &*it.1).collect();
                let which = match schedulers[..] {
                    [_] => String::new(),
                    _ => format!("; its schedulers {} are not separated", schedulers.join(", ")),
                };
                format!(
                    "confirmed on {draws} fresh draws: {mean}, ahead of {} ({procedure}){which}{cut}",
                    counted(others, "other")
                )
            }
            1 => format!(
                "not confirmed: on {draws} fresh draws {} ({}) is selected with {mean}; it is better, or the two \
                 differ by less than the difference ({procedure}){cut}",
                best.0, best.1
            ),
            n => {
                let mut names: Vec<&str> = Vec::new();
                for it in &left {
                    if names.len() < 4 && !names.contains(&&*it.0) {
                        names.push(&it.0);
                    }
                }
                let more = if left.iter().any(|it| !names.contains(&&*it.0)) { ", .." } else { "" };
                format!(
                    "not separated on {draws} fresh draws: {n} candidates, the best with {mean}: {}{more} ({procedure}){cut}",
                    names.join(", ")
                )
            }
        })
    }

    fn technology_lines(&self) -> Vec<String> {
        if self.technologies.is_empty() {
            return Vec::new();
        }
        let same = self.technologies.iter().all(|(_, other)| other.is_none());
        let names: Vec<_> = self.technologies.iter().map(|(name, _)| &**name).collect();
        match same {
            true => vec![format!("the same system is best in {}", names.join(" and "))],
            false => {
                let differs = self.technologies.iter().filter_map(|(name, other)| {
                    Some(format!("in {name} {} is best", other.as_deref()?))
                });
                vec![format!(
                    "depends on the technology: {}",
                    differs.collect::<Vec<_>>().join("; ")
                )]
            }
        }
    }

    /// Header and rows of a front: systems, schedulers and objectives.
    pub fn front_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let objectives = &self.answer.question.objectives;
        let mut header: Vec<String> = ["system", "scheduler"].map(String::from).to_vec();
        header.extend(objectives.iter().map(|it| it.name().to_string()));
        let row = |found: &Found| {
            let values = objectives.iter().map(|&it| found.value(it).map_or(String::new(), cell));
            [found.system.clone(), found.scheduler.clone()].into_iter().chain(values).collect()
        };
        (header, self.found.iter().map(row).collect())
    }

    /// Figure of a front in its first two objectives; `None` for a single objective.
    pub fn figure(&self) -> Option<Scatter> {
        let [x, y, ..] = self.answer.question.objectives[..] else { return None };
        // The score goes upwards where there is one.
        let (x, y) = if x.better() == Better::Higher { (y, x) } else { (x, y) };
        let columns = Self::header();
        let at = |name: &str| columns.iter().position(|known| known == name);
        let (at_x, at_y) = (at(x.name())?, at(y.name())?);
        let is_found = |row: &[String]| {
            self.found.iter().any(|found| found.system == row[1] && found.scheduler == row[2])
        };
        let complete = self.evaluated.iter().filter(|row| row[3].is_empty());
        let points = complete.filter_map(|row| {
            let (x, y) = (row[at_x].parse().ok()?, row[at_y].parse().ok()?);
            Some(ScatterPoint { name: row[1].clone(), x, y, front: is_found(row) })
        });
        let mut points: Vec<ScatterPoint> = points.take(MAX_POINTS).collect();
        // Schedulers that do equally well on a system are one point.
        let mut seen = std::collections::HashSet::new();
        points
            .retain(|it| seen.insert((it.name.clone(), it.x.to_bits(), it.y.to_bits(), it.front)));
        let exact = match (self.answer.is_exact, self.answer.stop) {
            (true, StopReason::Proven) if self.part.is_none() => "exact front",
            _ => "best systems found",
        };
        let title = format!("{}: {exact}", self.answer.question.name);
        Some(Scatter {
            caption: Caption::titled(title),
            x_axis: quantity(x),
            x_spacing: Spacing::Linear,
            y_axis: quantity(y),
            y_spacing: Spacing::Linear,
            less_x_is_better: x.better() == Better::Lower,
            series: vec![ScatterSeries { name: "systems".into(), points }],
        })
    }
}

/// Most points of a figure.
const MAX_POINTS: usize = 20_000;

fn row(search: &Search<'_>, names: &Names<'_>, question: &Question, it: &Evaluated) -> Vec<String> {
    let members = search.members(it.system);
    let excluded = match &it.status {
        Status::Complete => String::new(),
        Status::Bounded => "bound".into(),
        Status::Constrained => "constraint".into(),
        Status::Open => "open".into(),
        Status::Infeasible(reason) => reason.to_string(),
    };
    let optional = |value: Option<f64>| value.map_or(String::new(), cell);
    let mut row = vec![
        question.name.to_string(),
        names.space.name(members),
        names.scheduler(it.scheduler),
        excluded,
        it.draws.to_string(),
        names.space.idle_pes(members).to_string(),
        optional(it.bounds[0]),
        optional(it.bounds[1]),
    ];
    row.extend(it.values.iter().copied().map(optional));
    row.push(optional(it.half_width));
    row
}

/// Memories of PEs and clusters of a system in words; `None` if they are the declared ones.
fn memories(space: &Space, members: &[u32]) -> Option<String> {
    let of = |&member: &u32| {
        let buffers = space.buffers(member as usize)?;
        let clusters: Vec<_> = buffers.clusters.iter().map(|it| it.get().to_string()).collect();
        let clusters = match clusters.is_empty() {
            true => String::new(),
            false => format!(", clusters {} B", clusters.join(" and ")),
        };
        Some(format!("scratchpads {} B{clusters}", buffers.scratchpad.get()))
    };
    let all: Vec<String> = members.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| format!("memories as needed: {}", all.join("; ")))
}

/// Meaning of the PEs of the best system, and of its parts of the budget.
fn units(space: &Space, best: Option<&[u32]>) -> Option<String> {
    let budget = space.pes();
    if space.chips().is_empty() {
        return None;
    }
    if space.is_exact() {
        let step = space.step();
        return (step > 1).then(|| {
            format!(
                "numbers after dataflows are PEs in units of {step}; `xrsim run --pes {budget} --system` takes the names"
            )
        });
    }
    let types = space.types();
    let used: u32 = best?.iter().map(|&it| types[it as usize].pes).sum();
    (used < budget).then(|| {
        format!(
            "the best has {used} of {budget} PEs, and as large a part of what is divided as the PEs"
        )
    })
}

/// A table of several answers: a row a question.
pub(crate) fn answers_table(answers: &[AnswerReport], style: Style) -> String {
    let header = [
        "question",
        "best system",
        "scheduler",
        "value",
        "any scheduler",
        "mm2",
        "simulated",
        "runs",
        "",
    ];
    let mut table = table::new_table(style, &header, 3);
    for report in answers {
        let answer = &report.answer;
        let quantity = report.objective();
        let counts = answer.counts;
        let simulated = format!("{} of {}", counts.partly + counts.complete, counts.systems);
        let proof = match (answer.stop, answer.is_exact) {
            _ if report.part.is_some() => "one part",
            (StopReason::Proven, true) => "proven",
            (stop, true) => stop.name(),
            _ => "found",
        };
        let mut row: Vec<String> = vec![answer.question.name.to_string()];
        match report.found.first() {
            Some(best) => {
                let half = best.half_width.map_or(String::new(), |half| format!(" +- {half:.4}"));
                let value = best.value(quantity).map_or(String::new(), |it| number(quantity, it));
                let area =
                    best.value(Quantity::Area).map_or(String::new(), |it| format!("{it:.1}"));
                row.extend([best.system.clone(), best.scheduler.clone(), value + &half]);
                row.push(answer.certificate.map_or(String::new(), |it| format!("<= {it:.6}")));
                row.push(area);
            }
            None => row.extend(["none", "", "", "", ""].map(String::from)),
        }
        row.extend([simulated, answer.runs.to_string(), proof.into()]);
        table.add_row(row);
    }
    table::render(&table)
}

/// The systems of a front as a table.
pub(crate) fn front_text(report: &AnswerReport, style: Style) -> String {
    let (header, _) = report.front_table();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = table::new_table(style, &header, 2);
    for found in &report.found {
        let objectives = report.answer.question.objectives.iter();
        let values =
            objectives.map(|&it| found.value(it).map_or(String::new(), |value| number(it, value)));
        let names = [found.system.clone(), found.scheduler.clone()].into_iter();
        table.add_row(names.chain(values).collect::<Vec<String>>());
    }
    table::render(&table)
}

/// A value of a quantity as it is printed.
fn number(quantity: Quantity, value: f64) -> String {
    let unit = quantity.unit();
    let digits = if unit.is_empty() { format!("{value:.6}") } else { short(value) };
    if unit.is_empty() { digits } else { format!("{digits} {unit}") }
}

/// About three digits.
fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        large if large >= 1000.0 => format!("{value:.0}"),
        large if large >= 10.0 => format!("{value:.1}"),
        large if large >= 0.1 => format!("{value:.2}"),
        large if large >= 0.001 => format!("{value:.4}"),
        _ => format!("{value:.1e}"),
    }
}

fn quantity(of: Quantity) -> crate::figures::Quantity {
    let label = of.name().trim_end_matches("_mm2").trim_end_matches("_mj").trim_end_matches("_mw");
    crate::figures::Quantity::new(label.replace('_', " "), of.unit())
}
