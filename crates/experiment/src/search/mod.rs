//! Searches: from a draft to a space, questions and runs, every name and number checked.

mod alone;
mod space;

pub use alone::ChangedAlone;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use xrsim_config::search::{ObjectiveDraft, SearchBody, StopDraft};
use xrsim_config::{
    At, Catalog, InputFile, Notes, Problem, SearchDraft, nearest, resolve, unknown_name,
};
use xrsim_model::column::Better;
use xrsim_model::cost::loop_nest::Family;
use xrsim_model::hardware::{Accelerator, Technology};
use xrsim_model::model::Network;
use xrsim_model::renamed;
use xrsim_model::scenario::Scenario;
use xrsim_model::sequence::distinct_by;
use xrsim_model::statistics;
use xrsim_search::{
    ConfirmSettings, Constraint, Method, Over, Quantity, Question, Space, StopRules, TypeAreas,
};
use xrsim_sim::plan::{Plan, Semantics};
use xrsim_sim::schedule::Policy;

use super::{ExperimentError, NamedCostModel, Settings, programs, scheduler};

/// Text and where it was written.
type Text = At<Box<str>>;

/// Schedulers of a search that names none.
const SCHEDULERS: [&str; 3] =
    ["latency-greedy", "edf:admission=hopeless", "value:admission=hopeless"];

/// Keys of experiments for which a search has keys of its own.
pub(crate) const OWN_KEYS: [&str; 8] =
    ["scenario", "profile", "system", "pes", "scheduler", "replication", "seed", "device"];

/// Draws of a search that gives no number.
const DRAWS: u64 = 30;

/// Keys of an objective of one quantity.
const MAXIMISE: &str = "maximise";
const MINIMISE: &str = "minimise";

/// Key of the direction in which `quantity` is better.
fn direction(quantity: Quantity) -> &'static str {
    match quantity.better() {
        Better::Higher => MAXIMISE,
        Better::Lower => MINIMISE,
    }
}

/// Key of the direction in which the quantity called `name` is better; that of a score for an unknown name, which
/// is refused when the objective is read.
pub fn direction_of(name: &str) -> &'static str {
    let (current, _) = renamed::current(&Quantity::RENAMED, name);
    Quantity::find(current).map_or(MAXIMISE, direction)
}

/// A search, read and checked.
pub struct PreparedSearch {
    /// Name.
    pub name: Box<str>,
    /// Settings of all runs.
    pub settings: Settings,
    /// Systems.
    pub space: Space,
    /// A run of every scenario, whose system, scheduler and replication do not count.
    pub plans: Vec<Plan>,
    /// Questions, in the order in which they are answered.
    pub questions: Vec<Question>,
    /// Schedulers.
    pub schedulers: Vec<Policy>,
    /// Cost model.
    pub cost_model: NamedCostModel,
    /// Number of draws.
    pub draws: u64,
    /// Parameters of the confirmation; `None` for none.
    pub confirm: Option<ConfirmSettings>,
    /// Method.
    pub method: Method,
    /// Rules that end it.
    pub stop: StopRules,
    /// Most time \[min\].
    pub minutes: Option<f64>,
    /// Technology of areas and leakage.
    pub technology: Arc<Technology>,
    /// The other technologies that come with the program.
    pub other_technologies: Vec<Arc<Technology>>,
    /// Warnings about the search.
    pub warnings: Vec<String>,
    catalog: Catalog,
    programs: Vec<InputFile>,
    /// Names or paths by which files refer to dataflows, by the names of these.
    references: Vec<(Box<str>, String)>,
    /// Names or paths of the scenarios, in the order of the plans.
    scenario_references: Vec<String>,
}

impl PreparedSearch {
    /// The names of the scenarios, or the absolute paths of their files, in the order of the plans.
    pub fn scenario_references(&self) -> &[String] {
        &self.scenario_references
    }

    /// The name or path by which a file refers to the dataflow of an accelerator.
    pub fn reference(&self, accelerator: &Accelerator) -> String {
        let name = accelerator.dataflow.name();
        let known = self.references.iter().find(|(known, _)| **known == *name);
        known.map_or(name.into(), |(_, reference)| reference.clone())
    }

    /// The search that `draft` describes.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Config`] with every problem of the draft, or with those of a file that it refers
    /// to.
    pub fn from_draft(draft: &SearchDraft, notes: &Notes) -> Result<Self, ExperimentError> {
        let mut reader = Reader {
            draft,
            problems: draft.problems.clone(),
            catalog: Catalog::new(),
            settings: Settings::default(),
            references: Vec::new(),
        };
        reader.read_settings();
        let catalog = Catalog::with_networks(reader.settings.networks());
        reader.catalog = catalog.noting(notes.clone()).in_folder(draft.folder.clone());
        reader.finish()
    }

    /// Every file that was read.
    pub fn inputs(&self) -> Vec<InputFile> {
        self.catalog.inputs().into_iter().chain(self.programs.iter().cloned()).collect()
    }

    /// Every file that was read and does not come with the program.
    pub fn opened(&self) -> Vec<PathBuf> {
        let programs = self.programs.iter().map(|it| PathBuf::from(&it.name));
        self.catalog.opened().chain(programs).collect()
    }

    /// The networks of its scenarios, each once.
    pub fn networks(&self) -> Vec<Arc<Network>> {
        networks(self.plans.iter().map(|plan| &plan.scenario))
    }

    /// Areas and leakage of all types in a technology.
    pub fn areas(&self, technology: &Technology) -> TypeAreas {
        let n = self.space.types().len();
        let of = |index: usize| {
            let accelerator = self.space.accelerator(index);
            let leakage = technology.leakage_mw(&accelerator).unwrap_or(0.0);
            (technology.area(&accelerator).total(), leakage)
        };
        let (area, leakage) = (0..n).map(of).unzip();
        TypeAreas::new(area, leakage, technology.fixed_mm2())
    }
}

/// The accelerators of a space, or too many of them to be compared.
fn family(space: &Space) -> Family {
    let mut family = Family::default();
    for index in 0..space.types().len() {
        family.add(&space.accelerator(index));
        if family.is_too_large() {
            break;
        }
    }
    family
}

/// What to do against answers that drop frames.
const MISS_LIMIT: &str =
    "limit what may be missed, such as `constraints: {miss_ratio: \"<= 0.1\"}`";

/// State of the reading of a draft.
struct Reader<'d> {
    draft: &'d SearchDraft,
    problems: Vec<Problem>,
    catalog: Catalog,
    settings: Settings,
    references: Vec<(Box<str>, String)>,
}

impl Reader<'_> {
    fn body(&self) -> &SearchBody {
        &self.draft.body
    }

    fn problem(&mut self, at: &std::ops::Range<usize>, message: impl Into<String>) {
        self.problems.push(Problem::new(at.clone(), message.into()));
    }

    fn problem_with_help(
        &mut self,
        at: &std::ops::Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.problems.push(Problem::new(at.clone(), message.into()).help(help));
    }

    /// Refuses texts that are given twice.
    fn refuse_repeated<'t>(&mut self, texts: impl Iterator<Item = &'t Text>) {
        let mut seen = HashSet::new();
        for text in texts {
            if !seen.insert(&text.value) {
                self.problem(&text.span, format!("`{}` is given twice", text.value));
            }
        }
    }

    fn read_settings(&mut self) {
        let draft = self.draft;
        for (key, value) in &draft.body.settings {
            if OWN_KEYS.contains(&&*key.value) {
                let message = format!("`{}` is no setting of a search", key.value);
                let help = "a search has keys of its own for scenarios, systems, PEs, schedulers, \
                            replications and seed, and knows neither devices nor profiles";
                self.problem_with_help(&key.span, message, help);
                continue;
            }
            self.problems.extend(set(&mut self.settings, key, value).err());
        }
        if let Some(seed) = draft.body.seed {
            self.settings.load.seed = seed;
        }
        if self.problems.is_empty()
            && let Err(error) = self.settings.check()
        {
            let at = draft.body.settings.first().map_or(0..0, |(key, _)| key.span.clone());
            self.problem(&at, error.to_string());
        }
    }

    fn finish(mut self) -> Result<PreparedSearch, ExperimentError> {
        let body = &self.draft.body;
        let cost_model = NamedCostModel::find(&mut self.catalog, self.settings.cost_model())?;
        let scenarios = self.scenarios()?;
        self.settings.refuse_unknown_tasks(scenarios.iter().flatten())?;
        let technology = self.technology()?;
        let other_technologies = self.other_technologies(&technology)?;
        let schedulers = self.schedulers();
        let quantities = self.objective();
        let space = self.space(scenarios.as_deref().unwrap_or_default())?;
        let constraints = self.constraints();
        let method = self.method();
        let over = self.over();
        let Some((mut space, scenarios)) =
            space.zip(scenarios).filter(|_| self.problems.is_empty())
        else {
            return Err(self.draft.invalid(self.problems).into());
        };
        if body.needed_memory.as_ref().is_some_and(|it| it.value) {
            let networks = networks(scenarios.iter());
            space = space.with_needed_buffers(&networks, &*cost_model.model, &|_| {});
        }
        let models = || scenarios.iter().flat_map(|scenario| scenario.models());
        let whole = models().filter(|model| model.sequence.is_none());
        if cost_model.draws(whole.map(|model| model.unit.network.name())) {
            return Err(ExperimentError::Conflict(
                "a search takes no latencies that differ from request to request (latency_p95_ms, samples)".into(),
            ));
        }
        if let Some(it) = models().find(|model| model.work.is_some()) {
            return Err(ExperimentError::Conflict(format!(
                "a search takes no work that differs from frame to frame, as that of {} does; leave out `work`, and give \
                 `parameters` for another constant",
                it.unit.task
            )));
        }
        if let Some(it) = models().find(|model| model.choice.is_some()) {
            return Err(ExperimentError::Conflict(format!(
                "a search takes no model with several networks, as {} has; leave out `variants`",
                it.unit.task
            )));
        }
        let family = family(&space);
        let alone = cost_model.note_alone().filter(|_| family.is_too_large());
        let cost_model = cost_model.among(family);
        let weights: Vec<f64> = match body.scenarios.is_empty() {
            true => vec![1.0; scenarios.len()],
            false => body.scenarios.iter().map(|(_, weight)| *weight).collect(),
        };
        let questions = questions(&scenarios, &weights, &quantities, &over, &constraints);
        let system = space.system(&[0])?;
        let plans: Vec<Plan> = scenarios.iter().map(|it| self.settings.plan(it, &system)).collect();
        let draws = body.replications.as_ref().map_or(DRAWS, |it| it.value);
        let is_drawn = plans.iter().any(|plan| plan.drawn().any());
        let warning = "one draw: winners differ between draws; `replications: 30` is the default";
        let warnings = (draws == 1 && is_drawn).then(|| warning.into());
        let unused = cost_model.unused_keys(&self.catalog, &self.settings);
        let warnings = warnings.into_iter().chain(alone).chain(unused).collect();
        let programs = programs::inputs_of(body.schedulers.iter().map(|it| &*it.value))?;
        Ok(PreparedSearch {
            name: body.name.clone(),
            space,
            plans,
            questions,
            schedulers,
            cost_model,
            draws,
            confirm: confirm_settings(body).filter(|_| is_drawn && draws > 1),
            method,
            stop: stop_rules(body.stop),
            minutes: body.stop.minutes,
            technology,
            other_technologies,
            warnings,
            settings: self.settings,
            catalog: self.catalog,
            programs,
            scenario_references: references_of(self.draft, &scenarios),
            references: self.references,
        })
    }

    fn scenarios(&mut self) -> Result<Option<Vec<Arc<Scenario>>>, ExperimentError> {
        let edition = self.settings.edition();
        let draft = self.draft;
        let suite = draft.body.scenarios.is_empty().then(|| self.catalog.suite()).transpose()?;
        let parameters = &self.settings.parameters;
        let mut lookup = |name: &str| self.catalog.scenario_with(name, edition, parameters);
        if let Some(suite) = suite {
            let scenarios = suite.scenarios.iter().map(|name| lookup(name));
            return Ok(Some(scenarios.collect::<Result<_, _>>()?));
        }
        let names = draft.body.scenarios.iter().map(|(name, _)| name);
        let found = resolve(names, lookup, &mut self.problems)?;
        self.refuse_repeated(draft.body.scenarios.iter().map(|(name, _)| name));
        Ok(found)
    }

    /// The technology of the search, or else of its settings, of its platform, or the default one.
    fn technology(&mut self) -> Result<Arc<Technology>, ExperimentError> {
        let draft = self.draft;
        if let Some(own) = &draft.body.technology {
            match self.settings.technology.is_some() {
                true => self.problem(&own.span, "`technology` is among `settings` too; give one"),
                // Then it is among the words that run the best system.
                false => drop(self.settings.set("technology", &own.value)?),
            }
        }
        let lookup = |name: &str| self.catalog.technology(name);
        let found = resolve(draft.body.technology.iter(), lookup, &mut self.problems)?;
        if let Some(technology) = found.unwrap_or_default().pop() {
            return Ok(technology);
        }
        if let Some(name) = &self.settings.technology {
            return Ok(self.catalog.technology(name)?);
        }
        match &self.catalog.platform(self.settings.platform())?.technology {
            Some(technology) => Ok(Arc::clone(technology)),
            None => Ok(self.catalog.technology(Technology::DEFAULT)?),
        }
    }

    fn other_technologies(
        &mut self,
        chosen: &Arc<Technology>,
    ) -> Result<Vec<Arc<Technology>>, ExperimentError> {
        let names = self.catalog.names(xrsim_config::Kind::Technology);
        let others = names.iter().filter(|name| ***name != *chosen.name());
        let mut catalog = Catalog::new();
        Ok(others.map(|name| catalog.technology(name)).collect::<Result<_, _>>()?)
    }

    fn schedulers(&mut self) -> Vec<Policy> {
        let draft = self.draft;
        if self.settings.semantics == Semantics::Mlsys2023 {
            if let Some(first) = draft.body.schedulers.first() {
                let message = "--semantics mlsys2023 has the dispatch of the artifact only";
                self.problem(&first.span, message);
            }
            return vec![Policy::default()];
        }
        if draft.body.schedulers.is_empty() {
            return SCHEDULERS.iter().filter_map(|name| scheduler(name).ok()).collect();
        }
        let mut policies: Vec<Policy> = Vec::new();
        for name in &draft.body.schedulers {
            match scheduler(&name.value) {
                Ok(policy) if policies.iter().any(|it| it.is_mistaken_for(&policy)) => {
                    let message = format!("scheduler `{}` is given twice", policy.label());
                    self.problem(&name.span, message);
                }
                Ok(policy) => policies.push(policy),
                Err(error) => self.problem(&name.span, error.to_string()),
            }
        }
        policies
    }

    /// The quantity called `name`.
    fn quantity(&mut self, name: &Text) -> Option<Quantity> {
        let (current, renamed) = renamed::current(&Quantity::RENAMED, &name.value);
        renamed.into_iter().for_each(|it| self.catalog.note(it));
        let found = Quantity::find(current);
        if found.is_none() {
            let known = Quantity::all().map(Quantity::name);
            self.problems.push(unknown_name("quantity", name, known));
        }
        found
    }

    fn objective(&mut self) -> Vec<Quantity> {
        let draft = self.draft;
        let Some(At { span, value: ObjectiveDraft { quantities, .. } }) = &draft.body.objective
        else {
            return vec![Quantity::score()];
        };
        let mut found: Vec<Quantity> = Vec::new();
        for (name, is_most) in quantities {
            let Some(quantity) = self.quantity(name) else { continue };
            let right = direction(quantity);
            if is_most.is_some_and(|it| it != (right == MAXIMISE)) {
                let message = format!("of `{}`, {right} is meant", name.value);
                let help = format!("write `{right}: {}`", name.value);
                self.problem_with_help(&name.span, message, help);
            }
            if found.contains(&quantity) {
                let message = format!("`{}` is given twice", name.value);
                self.problem(&name.span, message);
            }
            found.push(quantity);
        }
        let is_front = quantities.iter().any(|(_, is_most)| is_most.is_none());
        if is_front && !(2..=Question::MAX_OBJECTIVES).contains(&found.len()) {
            self.problem(span, "a front has two or three objectives");
        }
        let is_gamed = found.len() == 1 && found[0].needs_miss_limit();
        let has_limit = draft
            .body
            .constraints
            .iter()
            .any(|(name, is_most, _)| *is_most && &*name.value == "miss_ratio");
        if is_gamed && !has_limit {
            let message = "dropped frames take no energy and have no latency";
            self.problem_with_help(span, message, MISS_LIMIT);
        }
        // Otherwise a system that drops nearly all frames keeps the limit, and costs least.
        let is_of_costs = !found.iter().any(|it| it.is_sampled());
        let is_latency = |name: &str| Quantity::find(name).is_some_and(Quantity::is_latency);
        let mut limits = draft.body.constraints.iter().map(|(name, ..)| name);
        if let Some(limit) =
            limits.find(|it| is_latency(&it.value)).filter(|_| is_of_costs && !has_limit)
        {
            let message = format!("dropped frames have no part in `{}`", limit.value);
            self.problem_with_help(&limit.span, message, MISS_LIMIT);
        }
        found
    }

    fn over(&mut self) -> Vec<&'static str> {
        const WORDS: [&str; 3] = ["mean", "min", "each"];
        let draft = self.draft;
        let mut found = Vec::new();
        for word in draft.body.objective.iter().flat_map(|it| &it.value.over) {
            match WORDS.iter().find(|known| **known == &*word.value) {
                Some(known) if found.contains(known) => {}
                Some(known) => found.push(*known),
                None => {
                    let near = nearest(&word.value, WORDS);
                    let help = near.map_or("allowed are mean, min and each".to_string(), |near| {
                        format!("did you mean `{near}`?")
                    });
                    let message = format!("no treatment of scenarios named `{}`", word.value);
                    self.problem_with_help(&word.span, message, help);
                }
            }
        }
        if found.is_empty() {
            found.push("mean");
        }
        found
    }

    fn constraints(&mut self) -> Vec<Constraint> {
        let draft = self.draft;
        let mut found = Vec::new();
        for (name, is_most, limit) in &draft.body.constraints {
            let Some(quantity) = self.quantity(name) else { continue };
            found.push(Constraint { quantity, is_most: *is_most, limit: *limit });
        }
        found
    }

    fn method(&mut self) -> Method {
        let draft = self.draft;
        let Some(word) = &draft.body.method else { return Method::Auto };
        match Method::ALL.iter().find(|(name, _)| *name == &*word.value) {
            Some(&(_, method)) => method,
            None => {
                let names = Method::ALL.iter().map(|(name, _)| *name);
                self.problems.push(unknown_name("method", word, names));
                Method::Auto
            }
        }
    }
}

/// Parameters of the confirmation; `None` for none.
fn confirm_settings(body: &SearchBody) -> Option<ConfirmSettings> {
    let (delta, alpha) = body.confirm.unwrap_or(Some((0.001, 0.05)))?;
    Some(ConfirmSettings::new(delta, statistics::Fraction::new(alpha)?))
}

/// Rules of `draft`, with the defaults of those that it leaves out.
fn stop_rules(draft: StopDraft) -> StopRules {
    let mut rules = StopRules::default();
    rules.gap = draft.gap_percent.map_or(rules.gap, |percent| percent / 100.0);
    rules.runs = draft.runs.unwrap_or(rules.runs);
    rules.evaluations = draft.evaluations.unwrap_or(rules.evaluations);
    rules
}

/// Names of scenarios, or the absolute paths of their files.
fn references_of(draft: &SearchDraft, scenarios: &[Arc<Scenario>]) -> Vec<String> {
    match draft.body.scenarios.is_empty() {
        true => scenarios.iter().map(|it| it.name().to_string()).collect(),
        false => {
            draft.body.scenarios.iter().map(|(text, _)| reference(draft, &text.value)).collect()
        }
    }
}

/// The absolute path of the file that `text` names in a draft, or else the name.
fn reference(draft: &SearchDraft, text: &str) -> String {
    let path = draft.folder.clone().unwrap_or_default().join(text);
    let path = path.is_file().then(|| std::path::absolute(&path).ok()).flatten();
    path.map_or(text.into(), |it| it.display().to_string())
}

/// The networks of scenarios, each once.
fn networks<'a>(scenarios: impl Iterator<Item = &'a Arc<Scenario>>) -> Vec<Arc<Network>> {
    let networks = scenarios.flat_map(|scenario| scenario.variants());
    distinct_by(networks.map(|(_, network)| Arc::clone(network)), Arc::ptr_eq)
}

/// Sets a key, or returns the problem.
fn set(settings: &mut Settings, key: &Text, value: &Text) -> Result<(), Problem> {
    let at = |error: &ExperimentError| match error {
        ExperimentError::Key { .. } => key.span.clone(),
        _ => value.span.clone(),
    };
    let set = settings.set(&key.value, &value.value).map(drop);
    set.map_err(|error| Problem::new(at(&error), error.to_string()))
}

/// The questions of a search: for each treatment of the scenarios, and for `each` one a scenario.
fn questions(
    scenarios: &[Arc<Scenario>],
    weights: &[f64],
    quantities: &[Quantity],
    over: &[&'static str],
    constraints: &[Constraint],
) -> Vec<Question> {
    let mut questions: Vec<Question> = Vec::new();
    let question = |name: &str, weights: &[f64]| {
        let mut question = Question::new(name, quantities.to_vec(), weights);
        question.constraints = constraints.to_vec();
        question
    };
    for word in over {
        match *word {
            "each" => questions.extend(scenarios.iter().enumerate().map(|(index, scenario)| {
                let mut weights = vec![0.0; scenarios.len()];
                weights[index] = 1.0;
                question(scenario.name(), &weights)
            })),
            "min" => {
                let mut question = question("worst", weights);
                question.over = Over::Worst;
                questions.push(question);
            }
            _ => questions.push(match scenarios {
                [only] => question(only.name(), weights),
                _ => question("mean", weights),
            }),
        }
    }
    // Of one scenario, the mean is the scenario.
    let mut seen = HashSet::new();
    questions.retain(|it| seen.insert(it.name.clone()));
    questions
}
