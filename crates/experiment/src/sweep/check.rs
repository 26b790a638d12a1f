//! From the draft of a sweep to its grid, every key and value checked.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use xrsim_config::sweep::DraftFactor;
use xrsim_config::{At, Notes, Problem, SweepDraft, printable, unknown_name};
use xrsim_sim::external;
use xrsim_sim::sweep::grid::{Factor, Grid, GridError};

use super::super::keys::{Key, Slip, UNPARTITIONED};
use super::super::settings::GIVEN_AWAY;
use super::super::{ExperimentError, Settings};
use super::inputs::Inputs;

/// A checked sweep.
pub struct Sweep {
    /// Points.
    pub grid: Grid,
    /// Files that the points refer to.
    pub inputs: Inputs,
}

impl Sweep {
    /// The sweep that `draft` describes. Keys that it leaves out have their defaults. Old names of the draft
    /// and of the files that it refers to are added to `notes`, even if the sweep is wrong.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::Config`] with every problem of the draft, or with those of a file that it
    /// refers to.
    pub fn from_draft(draft: &SweepDraft, notes: &Notes) -> Result<Self, ExperimentError> {
        let given_away = given_away(draft);
        let draft = &with_current_names(draft, notes);
        let mut problems =
            [&draft.problems[..], &slips(draft), &given_away, &namesakes(draft), &one_apart(draft)]
                .concat();
        problems.extend(beside_profiles(draft));
        let mut inputs = Inputs::new(draft.folder.as_deref(), notes);
        let full = inputs.full_systems(draft, &mut problems)?;
        let defaults = defaults(draft, &full, &mut inputs)?;
        inputs.read(draft, &defaults, &mut problems)?;
        // What was left out for its form would be missed.
        if draft.problems.is_empty() {
            problems.extend(gaps(draft));
            problems.extend(with_pes_of_others(draft, &full, &defaults));
        }
        let grid = grid(draft, defaults).map_err(|problem| problems.push(problem));
        match grid {
            Ok(grid) if problems.is_empty() => Ok(Self { grid, inputs }),
            _ => Err(draft.invalid(problems).into()),
        }
    }
}

/// The draft with the current names of its keys and values. Old ones are added to `notes`.
fn with_current_names(draft: &SweepDraft, notes: &Notes) -> SweepDraft {
    let mut draft = draft.clone();
    for factor in &mut draft.factors {
        for (column, name) in factor.keys.iter_mut().enumerate() {
            let Ok((key, renamed)) = Key::find(&name.value) else { continue };
            renamed.into_iter().for_each(|renamed| notes.add(renamed));
            name.value = key.name.into();
            for value in factor.rows.iter_mut().filter_map(|row| row[column].as_mut()) {
                if key.name == "scheduler"
                    && let Ok(policy) = external::policy(&value.value)
                {
                    policy.renamed().iter().for_each(|&renamed| notes.add(renamed));
                }
                if let (current, Some(renamed)) = key.current(&value.value) {
                    value.value = current.into();
                    notes.add(renamed);
                }
            }
        }
    }
    draft
}

/// Problems of old names of `dram: shared` without a limit of what all accelerators have together.
fn given_away(draft: &SweepDraft) -> Vec<Problem> {
    let limit = "effects.dram_gb_per_s";
    if draft.gives(limit) && draft.values(limit).iter().all(|it| &*it.value != "unlimited") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for factor in &draft.factors {
        for (column, name) in factor.keys.iter().enumerate() {
            if !Key::find(&name.value).is_ok_and(|(key, _)| key.name == "dram") {
                continue;
            }
            let values = factor.rows.iter().filter_map(|row| row[column].as_ref());
            let old = values.filter(|it| &*it.value == UNPARTITIONED);
            problems.extend(old.map(|it| Problem::new(it.span.clone(), GIVEN_AWAY)));
        }
    }
    problems
}

/// Problems of keys that are unknown and of values that are not allowed.
fn slips(draft: &SweepDraft) -> Vec<Problem> {
    let mut problems = Vec::new();
    let columns = draft.factors.iter().flat_map(|factor| {
        factor.keys.iter().enumerate().map(move |(column, key)| (factor, column, key))
    });
    for (factor, column, key) in columns {
        for value in factor.rows.iter().filter_map(|row| row[column].as_ref()) {
            let found = Key::find(&key.value);
            let made = found.and_then(|(it, _)| it.assign(&mut Settings::default(), &value.value));
            match made {
                Ok(()) => {}
                Err(Slip::Key { nearest }) => {
                    problems.push(unknown_key(key, nearest));
                    break; // whatever its values
                }
                Err(Slip::Name { kind, known }) => {
                    problems.push(unknown_name(kind, value, known.into_iter()));
                }
                Err(Slip::Value(allowed)) => {
                    problems.push(no_value(key, value, &allowed.to_string()));
                }
                Err(Slip::Scheduler(error)) => {
                    problems.push(Problem::new(value.span.clone(), error.to_string()));
                }
            }
        }
    }
    problems
}

/// Problems of schedulers that are called as another one is.
fn namesakes(draft: &SweepDraft) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut first = BTreeMap::new();
    for value in draft.values("scheduler") {
        let Ok(policy) = external::policy(&value.value) else { continue };
        let known = first.entry(Arc::clone(policy.label())).or_insert_with(|| policy.clone());
        if *known != policy {
            let message = format!("two schedulers are called `{}`", policy.label());
            problems.push(Problem::new(value.span.clone(), message).help("rename one of them"));
        }
    }
    problems
}

/// Most sizes of a range without a step.
const MAX_ONE_APART: usize = 64;

/// Problems of ranges of PEs without a step, which have a size for every PE.
fn one_apart(draft: &SweepDraft) -> Vec<Problem> {
    let sizes = draft.values("pes");
    let ranges = sizes.chunk_by(|one, other| one.span == other.span);
    let problem = |range: &[&At<Box<str>>]| {
        let span = range[0].span.clone();
        let text = draft.source.text().get(span.clone())?;
        let (first, last) = text.split_once("..")?;
        let is_long = range.len() > MAX_ONE_APART && !text.contains("step");
        let message = format!("`{text}` has {} sizes, one PE apart", range.len());
        let help = format!(
            "add a step: `{first}..{last} step x2`, `step 256`, or `step 1` if all are meant"
        );
        is_long.then(|| Problem::new(span, message).help(help))
    };
    ranges.filter_map(problem).collect()
}

fn unknown_key(key: &At<Box<str>>, nearest: Option<&str>) -> Problem {
    let message = format!("a sweep has no key `{}`", printable(&key.value));
    let help = match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`xrsim list settings` shows all keys".into(),
    };
    Problem::new(key.span.clone(), message).help(help)
}

fn no_value(key: &At<Box<str>>, value: &At<Box<str>>, allowed: &str) -> Problem {
    let message = format!("`{}` is `{}`", key.value, printable(&value.value));
    Problem::new(value.span.clone(), message).help(format!("allowed is {allowed}"))
}

/// Problems of keys that a sweep of profiles cannot have.
fn beside_profiles(draft: &SweepDraft) -> Vec<Problem> {
    if !draft.gives("profile") {
        return Vec::new();
    }
    let keys = draft.factors.iter().flat_map(|factor| &factor.keys);
    let problem = |key: &At<Box<str>>| {
        let has = match &*key.value {
            "scenario" => "scenarios of its own; make two sweeps",
            "duration_ms" => "durations of its own",
            name if name.starts_with("parameters.") => "the networks of its scenarios as they are",
            _ => return None,
        };
        let message = format!("`{}` beside `profile`", key.value);
        Some(Problem::new(key.span.clone(), message).help(format!("a profile has {has}")))
    };
    keys.filter_map(problem).collect()
}

/// Problems of points without a scenario, profile or system, which others have.
fn gaps(draft: &SweepDraft) -> Vec<Problem> {
    let mut problems = Vec::new();
    for key in ["scenario", "profile", "system"] {
        let Some((factor, column)) = draft.factor_of(key) else { continue };
        for row in factor.rows.iter().filter(|row| row[column].is_none()) {
            let place = row.iter().flatten().next().map_or(0..0, |cell| cell.span.clone());
            let message = format!("this point has no `{key}`, which others have");
            problems.push(Problem::new(place, message));
        }
    }
    problems
}

/// Factors of the keys that the draft leaves out: the scenarios, unless profiles run, PEs and systems of the suite.
/// PEs only if some system is a style, not `full`.
fn defaults(
    draft: &SweepDraft,
    full: &[&At<Box<str>>],
    inputs: &mut Inputs,
) -> Result<Vec<Factor>, ExperimentError> {
    let suite = inputs.catalog().suite()?;
    let mut defaults = Vec::new();
    if !draft.gives("scenario") && !draft.gives("profile") {
        defaults.push(Factor::axis("scenario", suite.scenarios.iter().map(String::as_str)));
    }
    let styles = !draft.gives("system") || full.len() < draft.values("system").len();
    if !draft.gives("pes") && styles {
        defaults.push(Factor::axis("pes", suite.pes.iter().map(u32::to_string)));
    }
    if !draft.gives("system") {
        defaults.push(Factor::axis("system", suite.systems.iter().map(String::as_str)));
    }
    Ok(defaults)
}

/// Problems of `full` systems in a product with PEs, because they fix their own PEs.
fn with_pes_of_others(
    draft: &SweepDraft,
    full: &[&At<Box<str>>],
    defaults: &[Factor],
) -> Vec<Problem> {
    let has_both =
        |factor: &DraftFactor| factor.column("system").is_some() && factor.column("pes").is_some();
    let given = draft.gives("pes") && !draft.factors.iter().any(has_both);
    if !given && !defaults.iter().any(|factor| *factor.keys[0] == *"pes") {
        return Vec::new();
    }
    let problem = |system: &&At<Box<str>>| {
        let message = format!("system `{}` fixes its own PEs", printable(&system.value));
        let help = "give it under `points`, without `pes`, and styles with `pes` beside it";
        Problem::new(system.span.clone(), message).help(help)
    };
    full.iter().map(problem).collect()
}

/// The grid of the defaults, the factors of the draft, and its replications.
fn grid(draft: &SweepDraft, defaults: Vec<Factor>) -> Result<Grid, Problem> {
    let n_defaults = defaults.len();
    let replications = draft
        .replications
        .map(|count| Factor::axis("replication", (0..count).map(|number| number.to_string())));
    let given = draft.factors.iter().map(without_places);
    let factors = defaults.into_iter().chain(given).chain(replications).collect();
    Grid::new(factors).map_err(|error| {
        let given = |factor: usize| draft.factors.get(factor.checked_sub(n_defaults)?);
        Problem::new(place(&error, given).unwrap_or(0..0), error.to_string())
    })
}

fn without_places(factor: &DraftFactor) -> Factor {
    let value = |cell: &Option<At<Box<str>>>| cell.as_ref().map(|at| at.value.clone());
    Factor {
        keys: factor.keys.iter().map(|key| key.value.clone()).collect(),
        rows: factor.rows.iter().map(|row| row.iter().map(value).collect()).collect(),
    }
}

/// Place of an error of the grid in the factors that were `given`.
fn place<'d>(
    error: &GridError,
    given: impl Fn(usize) -> Option<&'d DraftFactor>,
) -> Option<Range<usize>> {
    match error {
        GridError::RepeatedKey { factor, key } => {
            let factor = given(*factor)?;
            Some(factor.keys[factor.column(key)?].span.clone())
        }
        GridError::RepeatedRow { factor, row } => {
            let cell = given(*factor)?.rows[*row].iter().flatten().next()?;
            Some(cell.span.clone())
        }
        _ => None,
    }
}
