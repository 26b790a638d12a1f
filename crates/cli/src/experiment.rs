//! Options for the keys of experiments, made from the table of keys, and the experiment that they
//! describe.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value, json};

use xrsim_experiment::{Allowed, Experiment, KEYS, Key, KeyOption, Prepared, Settings, Several};
use xrsim_model::hardware::MappingSettings;
use xrsim_model::mapper::Effort;
use xrsim_model::text::listed;

use super::message::{Failure, say, warn, with_hints};
use super::record;

/// Memory above which a user is told before it is taken \[byte\].
const MUCH_MEMORY: u64 = 1 << 30;

/// Options that describe runs.
pub(super) type RunOptions = Described<OfRuns>;

/// Options that describe a run of a profile.
pub(super) type DayOptions = Described<OfDays>;

/// Options that describe runs whose schedulers are compared.
pub(super) type CompareOptions = Described<OfComparisons>;

/// Options that describe runs, with those of the keys of a selection.
#[derive(Debug, Clone, Args)]
pub(super) struct Described<S: Selection> {
    #[command(flatten)]
    keys: KeyOptions<S>,
    /// Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
    #[arg(long, value_name = "D|FILE", value_delimiter = ',')]
    dataflow: Vec<String>,
    /// Any other setting (see `xrsim list settings`); repeat for several.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl<S: Selection> Described<S> {
    /// The experiment that the options describe, under one scheduler or more.
    ///
    /// # Errors
    ///
    /// [`Failure::Argument`] if `--set` has no `=`, or a key with an option of its own.
    pub(super) fn experiment<'a>(
        &self,
        schedulers: impl IntoIterator<Item = &'a String>,
    ) -> Result<Experiment, Failure> {
        let mut experiment = set_keys(Experiment::new(), &self.keys.given);
        for dataflow in &self.dataflow {
            experiment = experiment.dataflow(dataflow);
        }
        Ok(assign(experiment, &self.set, S::HAS_PROFILE)?.schedulers(schedulers))
    }

    /// Values of the key called `name`, as given.
    pub(super) fn values(&self, name: &str) -> &[String] {
        let found = self.keys.given.iter().find(|(key, ..)| key.name == name);
        found.map_or(&[], |(.., values)| values)
    }

    /// Words of the option of the key called `name` with its values, without those that are the default.
    pub(super) fn words(&self, name: &str) -> Vec<String> {
        let Some((_, option, values)) = self.keys.given.iter().find(|(key, ..)| key.name == name)
        else {
            return Vec::new();
        };
        let is_default = |value: &&String| option.default == Some(&***value);
        let given = values.iter().filter(|value| !is_default(value));
        given.flat_map(|value| [format!("--{}", option.long), value.clone()]).collect()
    }

    /// Assignments of `--set`, as given.
    pub(super) fn assignments(&self) -> &[String] {
        &self.set
    }

    /// Dataflows of a hardware file, as given.
    pub(super) fn dataflows(&self) -> &[String] {
        &self.dataflow
    }

    /// The same options with other values of the key called `name`, which has an option.
    pub(super) fn with(mut self, name: &str, values: Vec<String>) -> Self {
        self.keys.given.retain(|(key, ..)| key.name != name);
        let found = with_option().find(|(key, _)| key.name == name);
        self.keys.given.extend(found.map(|(key, option)| (key, option, values)));
        self
    }

    /// The same options after these settings, which they may set again.
    pub(super) fn after(mut self, settings: &[&str]) -> Self {
        let before = settings.iter().map(|it| it.to_string());
        self.set = before.chain(self.set).collect();
        self
    }

    /// Values by option, for a record. Options that were left out have none.
    pub(super) fn requested(&self) -> Map<String, Value> {
        let mut requested = Map::new();
        for (key, option, values) in &self.keys.given {
            let mut values = values.iter().map(|value| key.allowed.json(value));
            let value = match option.several {
                Several::No if values.len() == 1 => values.next_back().unwrap_or_default(),
                Several::No | Several::Runs | Several::Parts => values.collect(),
            };
            requested.insert(key.name.into(), value);
        }
        for (name, values) in [("dataflow", &self.dataflow), ("set", &self.set)] {
            if !values.is_empty() {
                requested.insert(name.into(), json!(values));
            }
        }
        requested
    }
}

/// The experiment with the values of keys with an option.
fn set_keys(experiment: Experiment, given: &Given) -> Experiment {
    given.iter().fold(experiment, |it, (key, option, values)| match option.several {
        Several::Parts => it.set(key.name, values.join("+")),
        Several::No if values.len() > 1 => it.vary(key.name, values),
        Several::No | Several::Runs => values.iter().fold(it, |it, value| it.set(key.name, value)),
    })
}

/// The experiment with the assignments of `--set` of a command that may have the option `--profile`.
fn assign(
    experiment: Experiment,
    assignments: &[String],
    has_profile: bool,
) -> Result<Experiment, Failure> {
    assignments.iter().try_fold(experiment, |it, assignment| {
        let (key, value) = split(assignment, has_profile)?;
        Ok(it.set(key, value))
    })
}

/// The key and the value of an assignment of `--set`.
fn split(assignment: &str, has_profile: bool) -> Result<(&str, &str), Failure> {
    let Some((name, value)) = assignment.split_once('=') else {
        refuse!("--set takes key=value, found `{assignment}`");
    };
    let name = name.trim();
    // The experiment says where a profile runs.
    let is_open = |key: &Key| key.name == PROFILE && !has_profile;
    match with_option().find(|(key, _)| key.name == name && !is_open(key)) {
        Some((_, option)) => {
            let message = format!("`{name}` has an option of its own: --{}", option.long);
            Err(Failure::Argument(message))
        }
        None => Ok((name, value.trim())),
    }
}

/// Reads and checks an experiment. Prints hints and warnings.
///
/// # Errors
///
/// The mistake of the experiment.
pub(super) fn prepare(experiment: &Experiment) -> Result<Prepared, Failure> {
    Ok(told(with_hints(|notes| experiment.prepare_noting(notes))?))
}

/// Reads and checks an experiment of a comparison as [`prepare`] does.
///
/// # Errors
///
/// The mistake of the experiment.
pub(super) fn prepare_compared(experiment: &Experiment) -> Result<Prepared, Failure> {
    Ok(told(with_hints(|notes| experiment.prepare_compared(notes))?))
}

/// Prints the warnings of `prepared`.
fn told(prepared: Prepared) -> Prepared {
    prepared.warnings.iter().for_each(|warning| warn(format_args!("{warning}")));
    record::warn_of_changed(prepared.opened());
    prepared
}

/// Prints a note if runs whose requests are kept take much memory.
pub(super) fn note_memory(prepared: &Prepared) {
    let memory = prepared.memory();
    if memory > MUCH_MEMORY {
        say(format_args!(
            "note: the runs take about {:.1} GB of memory, by the number of their requests; a \
             shorter --duration takes less",
            memory as f64 / 1e9
        ));
    }
}

/// Every key with an option.
fn with_option() -> impl Iterator<Item = (&'static Key, KeyOption)> {
    KEYS.iter().filter_map(|key| Some((key, key.option?)))
}

/// Options for keys with their values as given.
type Given = Vec<(&'static Key, KeyOption, Vec<String>)>;

/// Meaning of a key as help text, with a remark and the default.
fn help(key: &Key, option: KeyOption, remark: &str) -> String {
    let (first, rest) = key.help.split_at(1);
    let unit = if key.unit.is_empty() { String::new() } else { format!(" [{}]", key.unit) };
    let default = match option.default {
        Some(_) => String::new(),
        None => format!(" [default: {}]", key.default_text()),
    };
    format!("{}{rest}{unit}{remark}{default}", first.to_uppercase())
}

/// The option of a key for commands that make the runs of one set of settings.
fn one(key: &Key, option: KeyOption) -> Arg {
    let remark = match option.several {
        Several::No => "",
        Several::Runs | Several::Parts => "; repeat for several, or separate them by commas",
    };
    let arg = Arg::new(option.long)
        .long(option.long)
        .value_name(option.placeholder)
        .help(help(key, option, remark))
        .allow_negative_numbers(key.allowed.is_number());
    let arg = match option.several {
        Several::No => arg.action(ArgAction::Set),
        Several::Runs | Several::Parts => arg.action(ArgAction::Append).value_delimiter(','),
    };
    let arg = match key.allowed {
        Allowed::Word(words) => arg.value_parser(possible(key, words)),
        _ if key.name == SCHEDULER => arg.value_parser(one_scheduler),
        _ => arg,
    };
    match option.default {
        Some(default) => arg.default_value(default),
        None => arg,
    }
}

/// The option of a key for commands that make one run, of which the user chooses what others make several runs of.
fn only(key: &Key, option: KeyOption) -> Arg {
    match option.several {
        Several::No => one(key, option),
        Several::Runs | Several::Parts => {
            let meaning = help(key, KeyOption { default: Some(""), ..option }, "");
            one(key, option).help(meaning).action(ArgAction::Set).value_delimiter(None)
        }
    }
}

/// Parser of the option of a command that takes one scheduler.
pub(super) fn one_scheduler(text: &str) -> Result<String, String> {
    match listed(&[text.to_string()]).len() {
        1 => Ok(text.into()),
        _ => Err(format!("this command takes one scheduler; {}", several_schedulers(text))),
    }
}

/// How to compare the schedulers in `text`.
pub(super) fn several_schedulers(text: &str) -> String {
    format!("`xrsim compare --scheduler {text}` compares several")
}

/// The words of a key, and hidden those up to version 0.1.
fn possible(key: &Key, words: &'static [&'static str]) -> PossibleValuesParser {
    let old = key.old_values().map(|old| PossibleValue::new(old).hide(true));
    PossibleValuesParser::new(words.iter().map(PossibleValue::new).chain(old))
}

/// The option of a key for commands that vary it.
fn axis(key: &Key, option: KeyOption) -> Arg {
    Arg::new(option.long)
        .long(option.long)
        .value_name(option.placeholder)
        .help(help(key, option, ""))
        .allow_negative_numbers(key.allowed.is_number())
        .action(ArgAction::Append)
}

/// Keys of runs of profiles, which have scenarios and durations of their own.
#[derive(Debug, Clone)]
pub(super) struct OfDays;

impl Selection for OfDays {
    const OPTION: fn(&Key, KeyOption) -> Arg = only;
    const HAS_PROFILE: bool = true;

    fn has(key: &Key) -> bool {
        OfRuns::has(key) && !["scenario", "duration_ms", "semantics", "without"].contains(&key.name)
    }
}

/// Keys of which a command has options.
pub(super) trait Selection {
    /// The option of a key.
    const OPTION: fn(&Key, KeyOption) -> Arg = one;

    /// Whether the command has the option of profiles.
    const HAS_PROFILE: bool = false;

    /// Whether the command has an option of `key`.
    fn has(key: &Key) -> bool;
}

/// Options of the keys of a selection, with their values as given.
#[derive(Debug, Clone)]
pub(super) struct KeyOptions<S> {
    given: Given,
    selection: PhantomData<S>,
}

impl<S: Selection> FromArgMatches for KeyOptions<S> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let values = |option: &KeyOption| {
            let values = matches.get_many::<String>(option.long)?;
            Some(values.cloned().collect())
        };
        let keys = with_option().filter(|(key, _)| S::has(key));
        let given = keys.filter_map(|(key, option)| Some((key, option, values(&option)?)));
        Ok(Self { given: given.collect(), selection: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<S: Selection> Args for KeyOptions<S> {
    fn augment_args(command: Command) -> Command {
        let keys = with_option().filter(|(key, _)| S::has(key));
        command.args(keys.map(|(key, option)| S::OPTION(key, option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// All keys but the scheduler, which some commands take several of, and the profile, which only sweeps vary.
#[derive(Debug, Clone)]
pub(super) struct OfRuns;

impl Selection for OfRuns {
    fn has(key: &Key) -> bool {
        ![SCHEDULER, PROFILE].contains(&key.name)
    }
}

/// Keys of comparisons: those of runs, and profiles in place of scenarios.
#[derive(Debug, Clone)]
pub(super) struct OfComparisons;

impl Selection for OfComparisons {
    const OPTION: fn(&Key, KeyOption) -> Arg = |key, option| match key.name {
        PROFILE | "device" => one(key, KeyOption { several: Several::Runs, ..option }),
        _ => one(key, option),
    };
    const HAS_PROFILE: bool = true;

    fn has(key: &Key) -> bool {
        OfRuns::has(key) || key.name == PROFILE
    }
}

const SCHEDULER: &str = "scheduler";
const PROFILE: &str = "profile";

/// The key of the scheduler.
#[derive(Debug, Clone)]
pub(super) struct OfScheduler;

impl Selection for OfScheduler {
    fn has(key: &Key) -> bool {
        key.name == SCHEDULER
    }
}

/// The option of one scheduler.
pub(super) type SchedulerOption = KeyOptions<OfScheduler>;

impl SchedulerOption {
    /// The scheduler with its parameters, if one is given.
    pub(super) fn text(&self) -> Option<&String> {
        self.given.first().and_then(|(.., values)| values.last())
    }
}

/// Keys of the choice of mappings.
#[derive(Debug, Clone)]
pub(super) struct OfMappings;

impl Selection for OfMappings {
    fn has(key: &Key) -> bool {
        ["flexibility", "mapping_objective", "mapping_effort"].contains(&key.name)
    }
}

/// Options of the choice of mappings.
pub(super) type MappingOptions = KeyOptions<OfMappings>;

impl MappingOptions {
    /// The choice of mappings that the options ask for.
    pub(super) fn settings(&self) -> MappingSettings {
        self.all().mapping
    }

    /// The work of the search for these choices.
    pub(super) fn effort(&self) -> Effort {
        self.all().effort
    }

    /// The experiment with these choices.
    pub(super) fn add_to(&self, experiment: Experiment) -> Experiment {
        set_keys(experiment, &self.given)
    }

    fn all(&self) -> Settings {
        let mut settings = Settings::default();
        for (key, _, values) in &self.given {
            let set = values.last().map(|value| settings.set(key.name, value));
            set.transpose().expect("the parser takes words of the key only");
        }
        settings
    }
}

/// Options that describe systems, without what runs on them.
#[derive(Debug, Clone, Args)]
pub(super) struct HardwareOptions {
    #[command(flatten)]
    keys: KeyOptions<OfHardware>,
    /// Dataflow of a hardware file (.m); repeat for each accelerator, or separate them by commas.
    #[arg(long, value_name = "D|FILE", value_delimiter = ',')]
    dataflow: Vec<String>,
    /// Any other setting of the hardware, such as hardware.shared_memory_kib; repeat for several.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl HardwareOptions {
    /// The experiment on the systems of the options.
    ///
    /// # Errors
    ///
    /// [`Failure::Argument`] if `--set` has no `=`, or a key that is not of the hardware.
    pub(super) fn experiment(&self, experiment: Experiment) -> Result<Experiment, Failure> {
        let experiment = set_keys(experiment, &self.keys.given);
        let experiment = self.dataflow.iter().fold(experiment, Experiment::dataflow);
        assign_hardware(experiment, &self.set)
    }
}

/// The experiment with assignments of `--set` that change hardware.
fn assign_hardware(experiment: Experiment, set: &[String]) -> Result<Experiment, Failure> {
    if let Some(other) = set.iter().find(|it| !it.trim_start().starts_with("hardware.")) {
        refuse!("--set takes keys that begin with `hardware.` here, found `{other}`");
    }
    assign(experiment, set, false)
}

/// Keys of systems.
#[derive(Debug, Clone)]
struct OfHardware;

impl Selection for OfHardware {
    fn has(key: &Key) -> bool {
        let keys = ["system", "pes", "platform", "technology", "flexibility", "mapping_objective"];
        keys.contains(&key.name)
    }
}

/// Options of systems whose accelerators stand in the place of dataflows on a platform.
#[derive(Debug, Clone, Args)]
pub(super) struct SystemOptions {
    #[command(flatten)]
    keys: KeyOptions<OfAccelerators>,
    /// Change of the hardware of --system, such as hardware.dram_bandwidth_bytes_per_cycle=x2; repeat for several.
    #[arg(long, value_name = "KEY=VALUE", requires = "system")]
    set: Vec<String>,
}

impl SystemOptions {
    /// Whether a system is given.
    pub(super) fn is_given(&self) -> bool {
        self.keys.given.iter().any(|(key, ..)| key.name == "system")
    }

    /// The systems and their changes as given; empty without any.
    pub(super) fn requested(&self) -> Map<String, Value> {
        let keys = self.keys.given.iter().map(|(key, _, values)| (key.name, values));
        let all = keys.chain([("set", &self.set)]).filter(|(_, values)| !values.is_empty());
        all.map(|(name, values)| (name.into(), json!(values))).collect()
    }

    /// The experiment on the systems; `None` without any.
    ///
    /// # Errors
    ///
    /// [`Failure::Argument`] for options that go with a system, and for wrong assignments of `--set`.
    pub(super) fn experiment(&self) -> Result<Option<Experiment>, Failure> {
        let given = &self.keys.given;
        if self.is_given() {
            let experiment = set_keys(Experiment::new(), given);
            return assign_hardware(experiment, &self.set).map(Some);
        }
        match given.first() {
            Some((_, option, _)) => refuse!("--{} goes with --system", option.long),
            None => Ok(None),
        }
    }
}

/// Keys of systems that have no option of their own beside dataflows.
#[derive(Debug, Clone)]
struct OfAccelerators;

impl Selection for OfAccelerators {
    fn has(key: &Key) -> bool {
        ["system", "dram"].contains(&key.name)
    }
}

/// All keys, each with several values.
#[derive(Debug, Clone)]
pub(super) struct OfSweeps;

impl Selection for OfSweeps {
    const OPTION: fn(&Key, KeyOption) -> Arg = axis;

    fn has(_: &Key) -> bool {
        true
    }
}

/// Options of keys that a sweep varies.
pub(super) type AxisOptions = KeyOptions<OfSweeps>;

impl AxisOptions {
    /// Names of the options.
    pub(super) fn names() -> Vec<&'static str> {
        with_option().map(|(_, option)| option.long).collect()
    }

    /// Every option that was given: its name with dashes, its key, and its values.
    pub(super) fn axes(&self) -> impl Iterator<Item = (String, &'static str, &[String])> {
        let axes = self.given.iter();
        axes.map(|(key, option, values)| (format!("--{}", option.long), key.name, &values[..]))
    }
}

/// Name, default, unit, range and meaning of every key, for `xrsim list settings`.
pub(super) fn list() -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |key: &Key| {
        let unit = if key.unit.is_empty() { "-" } else { key.unit };
        let option = match key.option {
            Some(option) => format!(" (--{})", option.long),
            None => String::new(),
        };
        vec![
            key.name.into(),
            key.default_text(),
            unit.into(),
            key.allowed.to_string(),
            format!("{}{option}", key.help),
        ]
    };
    (vec!["key", "default", "unit", "allowed", "what it is"], KEYS.iter().map(row).collect())
}
