//! From the draft of a sweep to its grid, every key and value checked.

use std::ops::Range;
use std::path::Path;

use crate::config::sweep::DraftFactor;
use crate::config::{At, Catalog, Problem, SweepDraft, printable, unknown_name};
use crate::sweep::grid::{Factor, Grid, GridError};

use super::super::message::{Failure, input_hint};
use super::inputs::Inputs;
use super::keys::{Choice, Slip};

/// A checked sweep.
pub struct Sweep {
    /// Its points.
    pub grid: Grid,
    /// What its points refer to.
    pub inputs: Inputs,
}

impl Sweep {
    /// The sweep that `draft` describes; keys that it leaves out are as in `xrsim run`.
    ///
    /// # Errors
    ///
    /// Every problem of the draft, or the error of a file that it refers to.
    pub fn of(draft: &SweepDraft) -> Result<Self, Failure> {
        let mut problems = [&draft.problems[..], &slips(draft)].concat();
        let mut inputs = Inputs::new(draft.folder.clone());
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

/// Checks the sweep in the file at `path`, with everything that it refers to.
///
/// # Errors
///
/// What is wrong with it.
pub fn check(path: &Path) -> Result<(), Failure> {
    let draft = Catalog::new().on_old_name(input_hint).sweep(&path.display().to_string())?;
    Sweep::of(&draft).map(drop)
}

/// Keys that are unknown and values that are none.
fn slips(draft: &SweepDraft) -> Vec<Problem> {
    let mut problems = Vec::new();
    let columns = draft.factors.iter().flat_map(|factor| {
        factor.keys.iter().enumerate().map(move |(column, key)| (factor, column, key))
    });
    for (factor, column, key) in columns {
        for value in factor.rows.iter().filter_map(|row| row[column].as_ref()) {
            match Choice::default().take(&key.value, &value.value) {
                Ok(()) => {}
                Err(Slip::Key(nearest)) => {
                    problems.push(unknown_key(key, nearest));
                    break; // whatever its values
                }
                Err(Slip::Name { kind, known }) => {
                    problems.push(unknown_name(kind, value, known.into_iter()));
                }
                Err(Slip::Value(allowed)) => problems.push(no_value(key, value, &allowed)),
                Err(Slip::Policy(error)) => {
                    problems.push(Problem::new(value.span.clone(), error.to_string()));
                }
            }
        }
    }
    problems
}

fn unknown_key(key: &At<Box<str>>, nearest: Option<&str>) -> Problem {
    let message = format!("a sweep has no key `{}`", printable(&key.value));
    let help = match nearest {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`xrsim sweep --help` names its own, `xrsim list settings` all others".into(),
    };
    Problem::new(key.span.clone(), message).help(help)
}

fn no_value(key: &At<Box<str>>, value: &At<Box<str>>, allowed: &str) -> Problem {
    let message = format!("`{}` is `{}`", key.value, printable(&value.value));
    Problem::new(value.span.clone(), message).help(format!("allowed is {allowed}"))
}

/// Points that lack what every run needs.
fn gaps(draft: &SweepDraft) -> Vec<Problem> {
    let mut problems = Vec::new();
    for key in ["scenario", "system"] {
        let Some((factor, column)) = draft.factor_of(key) else { continue };
        for row in factor.rows.iter().filter(|row| row[column].is_none()) {
            let place = row.iter().flatten().next().map_or(0..0, |cell| cell.span.clone());
            let message = format!("this point has no `{key}`, which others have");
            problems.push(Problem::new(place, message));
        }
    }
    problems
}

/// Factors of what the draft leaves out: the scenarios, PEs and systems of the suite. PEs only if
/// not all systems are `full`.
fn defaults(
    draft: &SweepDraft,
    full: &[&At<Box<str>>],
    inputs: &mut Inputs,
) -> Result<Vec<Factor>, Failure> {
    let suite = inputs.suite()?;
    let mut defaults = Vec::new();
    if !draft.gives("scenario") {
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

/// Refuses `full` systems in a product with PEs, which they have of their own.
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

/// The grid of defaults, what the draft gives, and replications.
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

/// Where in the factors that were `given` the grid has an error.
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
