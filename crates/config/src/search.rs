//! `search:` files: questions about the systems of a space, as text with its places. This module does not
//! know the names and numbers that mean something.

use std::path::PathBuf;
use std::sync::Arc;

use super::document::Document;
use super::yaml::read::{
    At, Problems, at, at_most, flag, list, named, number, one_of, printable, proper_name, text,
};
use super::yaml::tree::Entry;
use super::yaml::{Fields, Node, Value};
use super::{ConfigError, Kind, Problem, Source, range};

/// Text and where it was written.
type Text = At<Box<str>>;

/// Fractions as written: numerators and denominators.
type Fractions = Vec<(u16, u16)>;

/// Most entries of a list.
pub(super) const MAX_ENTRIES: usize = 1000;

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
    pub chips: Vec<(Text, Vec<Text>)>,
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
        let body = file.draft(Kind::Search, read, &mut problems);
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

fn read(node: &Node<'_>, problems: &mut Problems) -> Option<SearchBody> {
    let mut body = SearchBody::default();
    let mut fields = Fields::of(node, "a search", problems)?;
    body.name = fields.required("name", proper_name).unwrap_or_default();
    body.scenarios = fields.optional("scenarios", scenarios).unwrap_or_default();
    body.objective = fields.optional("objective", at(objective));
    let limits = at_most(MAX_ENTRIES, named("constraints", constraint));
    body.constraints = fields.optional("constraints", limits).unwrap_or_default();
    fields.required("space", |node, problems| space(node, &mut body, problems));
    let setting = |entry: &Entry<'_>, problems: &mut Problems| {
        Some((key(entry), line(&entry.value, problems)?))
    };
    let settings = at_most(MAX_ENTRIES, named("settings", setting));
    body.settings = fields.optional("settings", settings).unwrap_or_default();
    body.technology = fields.optional("technology", line);
    body.replications =
        fields.optional("replications", at(number(1..=SearchDraft::MAX_REPLICATIONS)));
    body.confirm = fields.optional("confirm", confirm);
    body.method = fields.optional("method", line);
    body.stop = fields.optional("stop", stop).unwrap_or_default();
    body.seed = fields.optional("seed", number(0..=u64::MAX));
    fields.finish();
    Some(body)
}

fn key(entry: &Entry<'_>) -> Text {
    At { span: entry.key_span.clone(), value: (&*entry.key).into() }
}

/// Reads a line of text.
fn line(node: &Node<'_>, problems: &mut Problems) -> Option<Text> {
    let value = text(node, problems)?;
    Some(At { span: node.span.clone(), value: value.trim().into() })
}

/// Reads one line or a list of them.
fn lines(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<Text>> {
    match &node.value {
        Value::List(_) => at_most(MAX_ENTRIES, list("names", line))(node, problems),
        _ => line(node, problems).map(|it| vec![it]),
    }
}

/// Reads names of scenarios, or names with weights.
fn scenarios(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<(Text, f64)>> {
    match &node.value {
        Value::Mapping(_) => {
            let weight = |entry: &Entry<'_>, problems: &mut Problems| {
                let weight = number(1e-6..=1e6)(&entry.value, problems)?;
                Some((key(entry), weight))
            };
            at_most(MAX_ENTRIES, named("weights", weight))(node, problems)
        }
        _ => Some(lines(node, problems)?.into_iter().map(|name| (name, 1.0)).collect()),
    }
}

fn objective(node: &Node<'_>, problems: &mut Problems) -> Option<ObjectiveDraft> {
    let mut fields = Fields::of(node, "an objective", problems)?;
    let most = fields.optional("maximise", line);
    let least = fields.optional("minimise", line);
    let front = fields.optional("pareto", lines);
    let given = ["maximise", "minimise", "pareto"].map(|key| fields.given(key));
    let over = fields.optional("over", lines).unwrap_or_default();
    if given.into_iter().filter(|it| *it).count() != 1 {
        let message = "an objective is one of `maximise`, `minimise` and `pareto`";
        fields.problem(Problem::new(node.span.clone(), message));
    }
    fields.finish();
    let single = most.map(|it| (it, Some(true))).or(least.map(|it| (it, Some(false))));
    let several = front.unwrap_or_default().into_iter().map(|it| (it, None));
    Some(ObjectiveDraft { quantities: single.into_iter().chain(several).collect(), over })
}

/// Reads a limit: `<= X` or `>= X`.
fn constraint(entry: &Entry<'_>, problems: &mut Problems) -> Option<(Text, bool, f64)> {
    let limit = line(&entry.value, problems)?;
    let parts = limit.value.strip_prefix("<=").map(|rest| (true, rest));
    let parts = parts.or(limit.value.strip_prefix(">=").map(|rest| (false, rest)));
    let number = |rest: &str| rest.trim().parse::<f64>().ok().filter(|it| it.is_finite());
    let found = parts.and_then(|(is_most, rest)| Some((is_most, number(rest)?)));
    if found.is_none() {
        let expected = "a limit such as `\"<= 60\"` or `\">= 0.5\"`";
        problems.push(entry.value.mismatch(&expected));
    }
    found.map(|(is_most, number)| (key(entry), is_most, number))
}

fn space(node: &Node<'_>, body: &mut SearchBody, problems: &mut Problems) -> Option<()> {
    let Value::Mapping(entries) = &node.value else {
        problems.push(node.mismatch(&"the keys of a space"));
        return None;
    };
    // Keys of chips are those of experiments, which have a point.
    let (chips, others): (Vec<_>, Vec<_>) =
        entries.iter().cloned().partition(|entry| entry.key.contains('.'));
    for entry in &chips {
        let values = values(&entry.value, problems);
        body.chips.extend(values.map(|values| (key(entry), values)));
    }
    let node = Node { value: Value::Mapping(others), ..node.clone() };
    let mut fields = Fields::of(&node, "a space", problems)?;
    body.accelerators = fields.optional("accelerators", numbers);
    body.dataflows = fields.optional("dataflows", lines).unwrap_or_default();
    body.systems = fields.optional("systems", lines).unwrap_or_default();
    fields.optional("pes", |node, problems| pes(node, body, problems));
    fields.optional("shares", |node, problems| shares(node, body, problems));
    body.needed_memory =
        fields.optional("local_memory", at(one_of(&[("declared", false), ("needed", true)])));
    body.schedulers = fields.optional("scheduler", lines).unwrap_or_default();
    let points = at_most(100, list("operating points", at(operating_point)));
    body.operating_points = fields.optional("operating_points", points).unwrap_or_default();
    let is_given = fields.given("systems") || fields.given("dataflows");
    if !is_given {
        let message = "a space has `dataflows` with a budget of PEs, or a list of `systems`";
        fields.problem(Problem::new(node.span.clone(), message));
    }
    fields.finish();
    Some(())
}

/// Reads a clock with the multiple of the energies at the voltage that it needs.
fn operating_point(node: &Node<'_>, problems: &mut Problems) -> Option<(f64, f64)> {
    let mut fields = Fields::of(node, "an operating point", problems)?;
    let clock = fields.required("clock_mhz", number(1e-6..=1e6));
    let scale = fields.required("energy_scale", number(1e-3..=1e3));
    fields.finish();
    Some((clock?, scale?))
}

/// Reads values of a key: one, a range, or a list of both.
fn values(node: &Node<'_>, problems: &mut Problems) -> Option<Vec<Text>> {
    let mut all = Vec::new();
    for written in lines(node, problems)? {
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

/// Reads a number, or a range of numbers: first and last.
fn numbers(node: &Node<'_>, problems: &mut Problems) -> Option<(u32, u32)> {
    let written = line(node, problems)?;
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
}

/// Reads the budget of PEs: a number, or a total with a step.
fn pes(node: &Node<'_>, body: &mut SearchBody, problems: &mut Problems) -> Option<()> {
    let Value::Mapping(_) = &node.value else {
        body.pes = at(total)(node, problems);
        return Some(());
    };
    let mut fields = Fields::of(node, "a budget of PEs", problems)?;
    body.pes = fields.required("total", at(total));
    body.step = fields.optional("step", at(number(1..=1 << 24)));
    fields.finish();
    Some(())
}

/// Reads a total: `N` or `<= N` for at most `N`, `exactly N`.
fn total(node: &Node<'_>, problems: &mut Problems) -> Option<(u32, bool)> {
    let written = line(node, problems)?;
    let (is_exact, rest) = match written.value.strip_prefix("exactly") {
        Some(rest) => (true, rest),
        None => (false, written.value.strip_prefix("<=").unwrap_or(&written.value)),
    };
    let number = rest.trim().parse::<u32>().ok().filter(|it| (1..=1 << 24).contains(it));
    if number.is_none() {
        let expected = "a number of PEs from 1 to 16777216, as `N`, `<= N` or `exactly N`";
        problems.push(node.mismatch(&expected));
    }
    number.map(|number| (number, is_exact))
}

fn shares(node: &Node<'_>, body: &mut SearchBody, problems: &mut Problems) -> Option<()> {
    let mut fields = Fields::of(node, "shares", problems)?;
    for (share, key) in body.shares.iter_mut().zip(["noc", "shared_memory", "dram"]) {
        *share = fields.optional(key, at(fractions)).filter(|it| !it.value.is_empty());
    }
    fields.finish();
    Some(())
}

/// Reads fractions, a step from it to the whole (`step 1/16`), or `as-pes`, which is none.
fn fractions(node: &Node<'_>, problems: &mut Problems) -> Option<Fractions> {
    let mut all = Vec::new();
    for written in lines(node, problems)? {
        if &*written.value == "as-pes" {
            continue;
        }
        let (is_step, rest) = match written.value.strip_prefix("step") {
            Some(rest) => (true, rest.trim()),
            None => (false, &*written.value),
        };
        let number = |text: &str| text.trim().parse::<u16>().ok();
        let found = match rest.split_once('/') {
            Some((above, below)) => number(above).zip(number(below)),
            None => number(rest).map(|it| (it, 1)),
        };
        let found = found.filter(|(above, below)| *above > 0 && above <= below && *below <= 1024);
        match found {
            Some((above, below)) if is_step => {
                all.extend((1..).map(|n| n * above).take_while(|n| *n < below).map(|n| (n, below)));
            }
            Some(fraction) => all.push(fraction),
            None => {
                let message = format!(
                    "expected a fraction above 0 and at most 1 such as 1/4, `step 1/16` or `as-pes`, found `{}`",
                    printable(&written.value)
                );
                problems.push(Problem::new(written.span, message));
                return None;
            }
        }
    }
    Some(all)
}

/// Reads `false`, or the parameters of the confirmation.
fn confirm(node: &Node<'_>, problems: &mut Problems) -> Option<Option<(f64, f64)>> {
    let Value::Mapping(_) = &node.value else {
        return match flag(node, problems)? {
            true => Some(Some((0.001, 0.05))),
            false => Some(None),
        };
    };
    let mut fields = Fields::of(node, "a confirmation", problems)?;
    let delta = fields.or("delta", Some(0.001), number(1e-9..=1e9));
    let alpha = fields.or("alpha", Some(0.05), number(1e-4..=0.5));
    fields.finish();
    Some(Some((delta?, alpha?)))
}

fn stop(node: &Node<'_>, problems: &mut Problems) -> Option<StopDraft> {
    let mut fields = Fields::of(node, "a stop rule", problems)?;
    let stop = StopDraft {
        gap_percent: fields.optional("gap_percent", number(0.0..=100.0)),
        minutes: fields.optional("minutes", number(1e-3..=1e6)),
        runs: fields.optional("runs", number(1..=u64::MAX)),
        evaluations: fields.optional("evaluations", number(1..=10_000_000)),
    };
    fields.finish();
    Some(stop)
}
