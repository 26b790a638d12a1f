//! Answers of a search: text for a terminal, tables, a figure of a front, and the record.

mod words;

use serde_json::{Map, Value, json};

use xrsim_figures::{Caption, Scatter, ScatterPoint, ScatterSeries, Spacing};
use xrsim_model::column::Better;
use xrsim_model::text::{cell, counted};
use xrsim_search::{
    Answer, ConfirmSettings, Confirmation, Evaluated, Quantity, Question, Search, Space, Status,
    StopReason,
};
use xrsim_sim::bounds::Class;
use xrsim_sim::plan::Semantics;
use xrsim_sim::schedule::Policy;

use super::table::{Columns, Grid, Style, cell_if_any};
use crate::words::lowered;
use words::number;

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
    fn new(
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
    /// How the best system costs alone, if otherwise than in the search.
    pub alone: Option<String>,
    /// Whether the best system is the same in other technologies: their names with it, if it differs.
    pub technologies: Vec<(String, Option<String>)>,
}

impl AnswerReport {
    /// First columns of the table of evaluated systems.
    const HEADER: [&'static str; 9] = [
        "question",
        "system",
        "scheduler",
        "excluded_by",
        "draws",
        "idle_pes",
        "ub1_isolation",
        "ub3_linear_program",
        "bound_for",
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
            .map(|point| Found::new(search, &names, question, (point.system, point.scheduler)));
        let found = found.collect();
        let evaluated = search.evaluated(&answer);
        let evaluated = evaluated.iter().map(|it| row(search, &names, question, it)).collect();
        let confirmed = confirmation.map(|it| {
            let candidate = |of: &xrsim_search::Candidate| {
                (
                    names.space.name(search.members(of.system)),
                    names.scheduler(of.scheduler),
                    of.fresh.mean,
                    of.fresh.half_width(xrsim_model::statistics::Fraction::P95),
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
            alone: None,
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
        let question = &self.answer.question.name;
        let mut columns = Columns::<&Found>::new()
            .text("question", |_| question.to_string())
            .text("system", |it| it.system.clone())
            .text("scheduler", |it| it.scheduler.clone())
            .number("idle_pes", |it| it.idle_pes);
        for (at, quantity) in Quantity::all().enumerate() {
            columns = columns.number(quantity.name(), move |it| cell_if_any(it.values[at]));
        }
        columns.number("half_width", |it| cell_if_any(it.half_width)).of(&self.found).into_rows()
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
            "certificate": answer.certificates.any,
            "certificate_keeping": answer.certificates.keeping,
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

    fn objective(&self) -> Quantity {
        self.answer.question.objectives[0]
    }

    /// Header and rows of a front: systems, schedulers and objectives.
    pub fn front_table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        self.front(|_, value| cell(value)).into_rows()
    }

    /// Systems, schedulers and objectives of a front, with numbers as `text` writes them.
    fn front(&self, text: impl Fn(Quantity, f64) -> String) -> Grid {
        let text = &text;
        let mut columns = Columns::<&Found>::new()
            .text("system", |it| it.system.clone())
            .text("scheduler", |it| it.scheduler.clone());
        for &quantity in &self.answer.question.objectives {
            columns = columns.number(quantity.name(), move |it| {
                it.value(quantity).map_or(String::new(), |value| text(quantity, value))
            });
        }
        columns.of(&self.found)
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
        let kind = match (self.answer.is_exact, self.answer.stop) {
            (true, StopReason::Proven) if self.part.is_none() => "the exact Pareto front",
            _ => "the best systems found, not proven",
        };
        let [x_axis, y_axis] = [x, y].map(quantity);
        let n_front = points.iter().filter(|point| point.front).count();
        let caption = Caption {
            title: format!("{} over {}: {kind}", y_axis.label, lowered(&x_axis.label)),
            subtitle: format!(
                "{n_front} of {} on the front, a system with a scheduler each; scenarios: {}",
                counted(points.len(), "point"),
                self.answer.question.name
            ),
            note: String::new(),
        };
        Some(Scatter {
            caption,
            x_axis,
            x_spacing: Spacing::Linear,
            y_axis,
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
    let mut row = vec![
        question.name.to_string(),
        names.space.name(members),
        names.scheduler(it.scheduler),
        excluded,
        it.draws.to_string(),
        names.space.idle_pes(members).to_string(),
        cell_if_any(it.bounds[0]),
        cell_if_any(it.bounds[1]),
        names.schedulers[it.scheduler].class().short().into(),
    ];
    row.extend(it.values.iter().copied().map(cell_if_any));
    row.push(cell_if_any(it.half_width));
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
    let members = best?;
    let used: u32 = members.iter().map(|&it| types[it as usize].pes).sum();
    let first = &types[*members.first()? as usize];
    if used == budget && (first.of == budget || members.len() == 1) {
        return None;
    }
    let is_divided = first.parts.iter().any(Option::is_none);
    let parts = match (members.len(), is_divided) {
        (_, false) => "",
        (1, true) => ", and the whole of each resource that is divided in proportion to PEs",
        (_, true) => {
            return Some(format!(
                "the best has {used} of {budget} PEs; resources in proportion to PEs are for {} PEs",
                first.of
            ));
        }
    };
    Some(format!("the best has {used} of {budget} PEs{parts}"))
}

/// A table of several answers: a row a question.
pub fn answers_table(answers: &[AnswerReport], style: Style) -> String {
    let of_best = |it: &AnswerReport, text: fn(&AnswerReport, &Found) -> String| {
        it.found.first().map_or(String::new(), |best| text(it, best))
    };
    Columns::<&AnswerReport>::new()
        .text("question", |it| it.answer.question.name.to_string())
        .text("best system", |it| it.found.first().map_or("none".into(), |it| it.system.clone()))
        .text("scheduler", |it| of_best(it, |_, best| best.scheduler.clone()))
        .number("value", |it| of_best(it, AnswerReport::value_text))
        .number("keeping schedulers", |it| certificate_text(it, Class::Keeping))
        .number("any scheduler", |it| certificate_text(it, Class::Any))
        .number("mm2", |it| {
            of_best(it, |_, best| {
                best.value(Quantity::Area).map_or(String::new(), |it| format!("{it:.1}"))
            })
        })
        .number("simulated", |it| {
            let counts = it.answer.counts;
            format!("{} of {}", counts.partly + counts.complete, counts.systems)
        })
        .number("runs", |it| it.answer.runs)
        .number("", |it| match (it.answer.stop, it.answer.is_exact) {
            _ if it.part.is_some() => "one part",
            (StopReason::Proven, true) => "proven",
            (stop, true) => stop.name(),
            _ => "found",
        })
        .of(answers)
        .text(style)
}

/// The largest value of any system under the schedulers of a class.
fn certificate_text(report: &AnswerReport, class: Class) -> String {
    let bound = report.found.first().and(report.answer.certificates.of(class));
    bound.map_or(String::new(), |it| format!("<= {it:.6}"))
}

impl AnswerReport {
    /// Value of a system, with half of its interval.
    fn value_text(&self, found: &Found) -> String {
        let quantity = self.objective();
        let half = found.half_width.map_or(String::new(), |half| format!(" +- {half:.4}"));
        found.value(quantity).map_or(String::new(), |it| number(quantity, it)) + &half
    }
}

/// The systems of a front as a table.
pub fn front_text(report: &AnswerReport, style: Style) -> String {
    report.front(number).text(style)
}

fn quantity(of: Quantity) -> xrsim_figures::Quantity {
    let label = of.name().trim_end_matches("_mm2").trim_end_matches("_mj").trim_end_matches("_mw");
    let label = label.replace('_', " ");
    let (first, rest) = label.split_at(label.len().min(1));
    xrsim_figures::Quantity::new(first.to_uppercase() + rest, of.unit())
}
