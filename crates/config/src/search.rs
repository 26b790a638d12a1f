//! `search:` files: questions about the systems of a space, as text with its places. This module does not
//! know the names and numbers that mean something.

mod shares;
mod text;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::document::Document;
use super::form::{self, Form, Key, Words};
use super::quantities::CLOCKS;
use super::settings::{self, settings};
use super::yaml::keys::{keys, mapping};
use super::yaml::read::{At, Problems};
use super::yaml::values::{
    Reader, at, at_most, flag, list, named, number, one_of, proper_name, value,
};
use super::yaml::{Fields, Node, Value};
use super::{ConfigError, Kind, Problem, Source, range, reference};
use shares::{Fractions, shares};
use text::{MAX_ENTRIES, Text, line, lines, text_of};

/// Keys of chips with their values.
type Chips = Vec<(Text, Vec<Text>)>;

/// A search as it was written.
#[derive(Debug, Clone)]
pub struct SearchDraft {
    /// Where it was written.
    pub source: Arc<Source>,
    /// Folder that paths in it are relative to, if it is not the working directory.
    pub folder: Option<PathBuf>,
    /// Its contents, as far as they could be read.
    pub body: SearchBody,
    /// Problems of its form.
    pub problems: Vec<Problem>,
}

/// Contents of a `search:` file.
#[derive(Debug, Clone, Default)]
pub struct SearchBody {
    /// Name.
    pub name: Box<str>,
    /// Scenarios with their weights; empty for those of the suite.
    pub scenarios: Vec<(Text, f64)>,
    /// Objectives.
    pub objective: Option<At<ObjectiveDraft>>,
    /// Limits: the quantity, whether the limit is the largest value, and the limit.
    pub constraints: Vec<(Text, bool, f64)>,
    /// Numbers of accelerators: first and last.
    pub accelerators: Option<(u32, u32)>,
    /// Dataflows.
    pub dataflows: Vec<Text>,
    /// Systems that are given one by one.
    pub systems: Vec<Text>,
    /// PEs of the budget, and whether all must be used.
    pub pes: Option<At<(u32, bool)>>,
    /// Step of PEs.
    pub step: Option<At<u32>>,
    /// Parts of the network, the shared memory and DRAM bandwidth, as fractions; `None` is as the PEs.
    pub shares: [Option<At<Fractions>>; 3],
    /// Keys of chips with their values.
    pub chips: Chips,
    /// Whether memories of PEs and clusters are as large as the networks need.
    pub needed_memory: Option<At<bool>>,
    /// Operating points: clock \[MHz\] and the multiple of the energies of the chip.
    pub operating_points: Vec<At<(f64, f64)>>,
    /// Schedulers.
    pub schedulers: Vec<Text>,
    /// Settings of all runs.
    pub settings: Vec<(Text, Text)>,
    /// Technology.
    pub technology: Option<Text>,
    /// Number of draws.
    pub replications: Option<At<u64>>,
    /// Difference and probability of an error of the confirmation; `Some(None)` is none.
    pub confirm: Option<Option<(f64, f64)>>,
    /// Method.
    pub method: Option<Text>,
    /// Rules that end the search.
    pub stop: StopDraft,
    /// Seed.
    pub seed: Option<u64>,
}

/// Objective of a search.
#[derive(Debug, Clone, Default)]
pub struct ObjectiveDraft {
    /// Quantities, with whether they are to be maximised where that is written.
    pub quantities: Vec<(Text, Option<bool>)>,
    /// Treatments of several scenarios: `mean`, `min`, `each`.
    pub over: Vec<Text>,
}

impl SearchDraft {
    /// Most draws.
    pub const MAX_REPLICATIONS: u64 = 10_000;

    /// The error with these `problems` of the text.
    pub fn invalid(&self, problems: Vec<Problem>) -> ConfigError {
        Document::alone(Arc::clone(&self.source)).invalid(problems)
    }

    /// The draft in `file`.
    ///
    /// # Errors
    ///
    /// If the file is not of this kind at all.
    pub(super) fn read(file: &Document) -> Result<Self, ConfigError> {
        let mut problems = Problems::default();
        let body = file.draft(Kind::Search, search(&Words::default()), &mut problems);
        let problems = problems.into_vec();
        let Some(body) = body else { return Err(file.invalid(problems)) };
        Ok(Self { source: Arc::clone(&file.source), folder: file.folder.clone(), body, problems })
    }

    /// Contents of a text that options beside this draft were turned into. The text becomes a part of the source, so
    /// that places in it can be named.
    ///
    /// # Errors
    ///
    /// If the text is not a search at all.
    pub fn take_options(&mut self, options: &str) -> Result<SearchBody, ConfigError> {
        let own = self.source.text();
        let name = format!("{} with options", self.source.name());
        // Blanks in place of the file give the options the places that they have below it.
        let blank: String = own.bytes().map(|it| if it == b'\n' { '\n' } else { ' ' }).collect();
        let below = Source::new(&*name, format!("{blank}\n{options}"));
        let given = Self::read(&Document::alone(below))?;
        self.source = Source::new(name, format!("{own}\n{options}"));
        self.problems.extend(given.problems);
        Ok(given.body)
    }

    /// The draft in a text that options of a command were turned into.
    ///
    /// # Errors
    ///
    /// If the text is not a search at all.
    pub fn of_options(text: String) -> Result<Self, ConfigError> {
        Self::read(&Document::alone(Source::new("command line", text)))
    }
}

/// Body of a `search:` file.
pub(super) fn search(words: &Words) -> impl Reader<Value = SearchBody> {
    let read = |fields: &mut Fields<'_, '_, '_>| {
        let mut body = SearchBody::default();
        let name = fields.about("Name of the search.").required("name", proper_name());
        body.name = name.unwrap_or_default();
        body.scenarios = fields.optional("scenarios", scenarios()).unwrap_or_default();
        body.objective = fields.optional("objective", at(objective(words)));
        body.constraints = fields.optional("constraints", constraints(words)).unwrap_or_default();
        if let Some((space, chips)) = fields.required("space", space(words)) {
            space.fill(&mut body);
            body.chips = chips;
        }
        let about = "Settings of all runs.";
        let settings = fields.about(about).optional("settings", own_settings(words));
        body.settings = settings.unwrap_or_default();
        let technology = line().shaped(|_| reference::technology());
        let about = "Constants of area and leakage.";
        body.technology = fields.about(about).optional("technology", technology);
        let replications = number(1..=SearchDraft::MAX_REPLICATIONS).with_default(30);
        let about = "Draws that every system is evaluated on.";
        body.replications = fields.about(about).optional("replications", at(replications));
        body.confirm = fields.optional("confirm", confirm());
        let method = line().shaped(|_| form::word(words.methods.iter().copied()).or("auto"));
        body.method = fields.about("Method of the search.").optional("method", method);
        body.stop = fields.optional("stop", stop()).unwrap_or_default();
        let seed = number(0..=u64::MAX).with_default(0);
        body.seed = fields.about("Seed of every random draw.").optional("seed", seed);
        Some(body)
    };
    mapping("a search", read).about("Search: a question about the systems of a space.")
}

/// Settings of all runs; keys for which a search has keys of its own are not among them.
fn own_settings(words: &Words) -> impl Reader<Value = Vec<(Text, Text)>> {
    at_most(MAX_ENTRIES, named("settings", line())).shaped(|_| {
        let known = words.settings.iter();
        settings(known.filter(|(name, _)| !words.not_in_searches.contains(name)), |form| form)
    })
}

/// Names of scenarios, or names with weights.
fn scenarios() -> impl Reader<Value = Vec<(Text, f64)>> {
    let weights = || {
        let weight = number(1e-6..=1e6).says("Weight of this scenario.");
        at_most(MAX_ENTRIES, named("weights", weight)).allowed("weights by name")
    };
    let names = || lines(|| reference::reference(&[Kind::Scenario], "scenario", "scenarios"));
    let read = move |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::Mapping(_) => weights().read(node, problems),
        _ => {
            let names = names().read(node, problems)?;
            Some(names.into_iter().map(|name| (name, 1.0)).collect())
        }
    };
    value(read, move || form::any_of([names().form(), weights().form()]))
        .says("Scenarios of the search. Without it, those of the suite.")
}

/// The objective, which is one of three.
fn objective(words: &Words) -> impl Reader<Value = ObjectiveDraft> {
    raw_objective(words)
        .then(|raw, _, _| {
            let single = raw.maximise.map(|it| (it, Some(true)));
            let single = single.or(raw.minimise.map(|it| (it, Some(false))));
            let several = raw.pareto.into_iter().map(|it| (it, None));
            let quantities = single.into_iter().chain(several).collect();
            Some(ObjectiveDraft { quantities, over: raw.over })
        })
        .shaped(|form| {
            let one = OBJECTIVES.map(|key| json!({"required": [key]}));
            form.with("oneOf", json!(one))
        })
}

/// Keys of which an objective has one.
const OBJECTIVES: [&str; 3] = ["maximise", "minimise", "pareto"];

keys! {
    /// What is searched: `maximise`, `minimise` or `pareto`. Without it, the largest mean score.
    fn raw_objective(words: &Words) -> struct RawObjective: "an objective" {
        /// Quantity that is to be large.
        maximise: Option<Text> = optional(line().shaped(|_| quantity(words)));
        /// Quantity that is to be small.
        minimise: Option<Text> = optional(line().shaped(|_| quantity(words)));
        /// Quantities of which the Pareto-optimal systems are searched.
        pareto: Vec<Text> = or_default(lines(Form::default).shaped(|_| front(words)));
        /// Treatment of several scenarios.
        over: Vec<Text> = or_default(lines(Form::default).shaped(|_| treatments()));
    }
    check(fields) {
        if OBJECTIVES.into_iter().filter(|key| fields.given(key)).count() != 1 {
            let message = "an objective is one of `maximise`, `minimise` and `pareto`";
            fields.problem(Problem::new(fields.span(), message));
        }
    }
}

fn quantity(words: &Words) -> Form {
    form::word(words.quantities.iter().map(|(name, _)| *name)).allowed("a quantity")
}

fn front(words: &Words) -> Form {
    let list = form::list(quantity(words)).with("minItems", 2).at_most(3);
    list.allowed("a list of two or three quantities")
}

fn treatments() -> Form {
    let word = || form::word(["mean", "min", "each"]);
    form::any_of([word(), form::list(word()).allowed("a list of such")]).or("mean")
}

/// Limits of quantities.
fn constraints(words: &Words) -> impl Reader<Value = Vec<(Text, bool, f64)>> {
    at_most(MAX_ENTRIES, named("constraints", limit()))
        .then(|limits, _, _| {
            Some(limits.into_iter().map(|(key, (is_most, limit))| (key, is_most, limit)).collect())
        })
        .shaped(|_| {
            let keys = words.quantities.iter().map(|&(name, unit)| {
                let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
                let form = limit().form().says(format!("Limit of `{name}`{unit}"));
                Key::new(name, form, false)
            });
            form::object(keys).with("minProperties", 1).says("Limits of quantities")
        })
}

/// A limit: `<= X` or `>= X`.
fn limit() -> impl Reader<Value = (bool, f64)> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let limit = line().read(node, problems)?;
        let parts = limit.value.strip_prefix("<=").map(|rest| (true, rest));
        let parts = parts.or(limit.value.strip_prefix(">=").map(|rest| (false, rest)));
        let number = |rest: &str| rest.trim().parse::<f64>().ok().filter(|it| it.is_finite());
        let found = parts.and_then(|(is_most, rest)| Some((is_most, number(rest)?)));
        if found.is_none() {
            let expected = "a limit such as `\"<= 60\"` or `\">= 0.5\"`";
            problems.push(node.mismatch(&expected));
        }
        found
    };
    let form = || {
        let limit = json!({
            "type": "string",
            "pattern": r"^\s*[<>]=\s*[-+]?[0-9.]",
            "patternErrorMessage": "a limit is \"<= 60\" or \">= 0.5\", in quotes",
        });
        Form::new(limit, "`\"<= X\"` or `\">= X\"`")
    };
    value(read, form)
}

/// The space: its own keys, and keys of chips.
fn space(words: &Words) -> impl Reader<Value = (Space, Chips)> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let Value::Mapping(entries) = &node.value else {
            problems.push(node.mismatch(&"the keys of a space"));
            return None;
        };
        // Keys of chips are those of experiments, which have a point.
        let (chips, others): (Vec<_>, Vec<_>) =
            entries.iter().cloned().partition(|entry| entry.key.contains('.'));
        let mut known = Vec::new();
        for entry in &chips {
            let values = values(&entry.value, problems);
            known.extend(values.map(|values| (entry.name(), values)));
        }
        let node = Node { value: Value::Mapping(others), ..node.clone() };
        Some((own_space(words).read(&node, problems)?, known))
    };
    let form = || {
        let of_chips = words.settings.iter().filter(|(name, _)| name.contains('.'));
        let of_chips =
            of_chips.map(|(name, form)| Key::new(*name, settings::values(form.clone()), false));
        let own = own_space(words).described();
        form::object(own.into_iter().chain(of_chips))
            .with("anyOf", json!([{"required": ["dataflows"]}, {"required": ["systems"]}]))
            .says("Systems that are searched: a budget for some dataflows, or a list")
            .remark("Settings whose names have a point vary the chip.")
    };
    value(read, form)
}

keys! {
    fn own_space(words: &Words) -> struct Space: "a space" {
        /// Number of accelerators.
        accelerators: Option<(u32, u32)> = optional(numbers());
        /// Dataflows that accelerators may have.
        dataflows: Vec<Text> = or_default(lines(|| reference::dataflow().form()));
        /// Systems that are given one by one, in place of `dataflows` and a budget.
        systems: Vec<Text> = or_default(lines(|| {
            reference::reference(&[Kind::Style, Kind::System], "system", "systems")
        }));
        pes: Budget = or_default(pes());
        shares: [Option<At<Fractions>>; 3] = or_default(shares());
        /// Sizes of scratchpads and cluster buffers: those of the chip, or the least that the networks need.
        local_memory: Option<At<bool>> =
            optional(at(one_of(&[("declared", false), ("needed", true)])).with_default("declared"));
        /// Schedulers.
        scheduler: Vec<Text> = or_default(lines(|| words.scheduler.clone()));
        operating_points: Vec<At<(f64, f64)>> = or_default(operating_points());
    }
    check(fields) {
        if !fields.given("systems") && !fields.given("dataflows") {
            let message = "a space has `dataflows` with a budget of PEs, or a list of `systems`";
            fields.problem(Problem::new(fields.span(), message));
        }
    }
}

/// PEs of the budget, with whether all must be used, and their step.
#[derive(Default)]
struct Budget {
    total: Option<At<(u32, bool)>>,
    step: Option<At<u32>>,
}

impl Space {
    /// Writes the space into the search.
    fn fill(self, body: &mut SearchBody) {
        body.accelerators = self.accelerators;
        body.dataflows = self.dataflows;
        body.systems = self.systems;
        body.pes = self.pes.total;
        body.step = self.pes.step;
        body.shares = self.shares;
        body.needed_memory = self.local_memory;
        body.schedulers = self.scheduler;
        body.operating_points = self.operating_points;
    }
}

/// Clocks with the multiples of the energies at the voltages that they need.
fn operating_points() -> impl Reader<Value = Vec<At<(f64, f64)>>> {
    let point = mapping("an operating point", |fields| {
        let clock = fields.about("Clock [MHz].").required("clock_mhz", number(CLOCKS));
        let about = "Multiple of the energies of the chip at its voltage.";
        let scale = fields.about(about).required("energy_scale", number(1e-3..=1e3));
        Some((clock?, scale?))
    });
    let point = point.about("A clock with the energy that it takes.");
    at_most(100, list("operating points", at(point)))
        .says("Clocks of the chip, with their energies.")
}

/// Reads values of a key: one, a range, or a list of both.
fn values(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<Text>> {
    let mut all = Vec::new();
    for written in lines(Form::default).read(node, problems)? {
        match range::values(&written.value, MAX_ENTRIES) {
            None => all.push(written),
            Some(Ok(values)) => all.extend(
                values.into_iter().map(|it| At { span: written.span.clone(), value: it.into() }),
            ),
            Some(Err(message)) => {
                problems.push(Problem::new(written.span, message));
                return None;
            }
        }
    }
    Some(all)
}

/// A number, or a range of numbers: first and last.
fn numbers() -> impl Reader<Value = (u32, u32)> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let written = line().read(node, problems)?;
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let found = match written.value.split_once("..") {
            Some((first, last)) => number(first).zip(number(last)),
            None => number(&written.value).map(|it| (it, it)),
        };
        let found =
            found.filter(|(first, last)| (1..=16).contains(first) && (*first..=16).contains(last));
        if found.is_none() {
            problems.push(node.mismatch(&"a number from 1 to 16, or a range such as 1..4"));
        }
        found
    };
    let range = || text_of(r"^\s*\d+\s*\.\.\s*\d+\s*$", "a range such as 1..4");
    value(read, move || form::any_of([form::whole(1_u32..=16), range()]))
}

/// Most PEs of a budget.
const MAX_PES: u32 = 1 << 24;

/// The budget of PEs: a number, or a total with a step.
fn pes() -> impl Reader<Value = Budget> {
    let budget = || {
        mapping("a budget of PEs", |fields| {
            let about = "Number of PEs of all accelerators.";
            let total = fields.about(about).required("total", at(total()));
            let about = "Step of the PEs of an accelerator.";
            let step = fields.about(about).optional("step", at(number(1..=MAX_PES)));
            Some(Budget { total, step })
        })
    };
    let read = move |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::Mapping(_) => budget().read(node, problems),
        _ => Some(Budget { total: at(total()).read(node, problems), step: None }),
    };
    value(read, move || {
        let budget = budget().form().allowed("{total, step}");
        form::any_of([total().form(), budget]).or(4096).says("Budget of PEs")
    })
}

/// A total: `N` or `<= N` for at most `N`, `exactly N`.
fn total() -> impl Reader<Value = (u32, bool)> {
    let read = |node: &Node<'_>, problems: &mut Problems| {
        let written = line().read(node, problems)?;
        let (is_exact, rest) = match written.value.strip_prefix("exactly") {
            Some(rest) => (true, rest),
            None => (false, written.value.strip_prefix("<=").unwrap_or(&written.value)),
        };
        let number = rest.trim().parse::<u32>().ok().filter(|it| (1..=MAX_PES).contains(it));
        if number.is_none() {
            let expected =
                format_args!("a number of PEs from 1 to {MAX_PES}, as `N`, `<= N` or `exactly N`");
            problems.push(node.mismatch(&expected));
        }
        number.map(|number| (number, is_exact))
    };
    let words = || text_of(r"^\s*(?:exactly|<=)?\s*\d+\s*$", "`<= N` or `exactly N`");
    value(read, move || form::any_of([form::whole(1..=MAX_PES), words()]))
}

/// `false`, or the parameters of the confirmation.
fn confirm() -> impl Reader<Value = Option<(f64, f64)>> {
    let parameters = || {
        mapping("a confirmation", |fields| {
            let about = "Least difference that counts.";
            let delta = fields.about(about).or("delta", 0.001, number(1e-9..=1e9));
            let about = "Probability of an error.";
            let alpha = fields.about(about).or("alpha", 0.05, number(1e-4..=0.5));
            Some((delta?, alpha?))
        })
    };
    let read = move |node: &Node<'_>, problems: &mut Problems| match &node.value {
        Value::Mapping(_) => parameters().read(node, problems).map(Some),
        _ => flag().read(node, problems).map(|is_wanted| is_wanted.then_some((0.001, 0.05))),
    };
    value(read, move || {
        let parameters = parameters().form().allowed("{delta, alpha}");
        form::any_of([form::flag(), parameters]).or(true)
    })
    .says("Comparison of the best systems on fresh draws.")
}

/// Rules that end a search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StopDraft {
    /// Gap \[percent\].
    pub gap_percent: Option<f64>,
    /// Time \[min\].
    pub minutes: Option<f64>,
    /// Runs.
    pub runs: Option<u64>,
    /// Systems that are evaluated.
    pub evaluations: Option<u64>,
}

keys! {
    /// Rules that end the search early.
    fn stop() -> StopDraft: "a stop rule" {
        /// Distance from the bound at which the search ends \[percent\].
        gap_percent = optional(number(0.0..=100.0));
        /// Longest time \[min\].
        minutes = optional(number(1e-3..=1e6));
        /// Most runs.
        runs = optional(number(1..=u64::MAX));
        /// Most systems that are evaluated.
        evaluations = optional(number(1..=10_000_000));
    }
}
