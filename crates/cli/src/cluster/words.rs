//! Words of a command line, again from its arguments.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use xrsim_config::GivenText;
use xrsim_sim::external::GivenScheduler;

use super::super::message::Failure;

thread_local! {
    /// Arguments of the command that runs on this thread.
    static GIVEN: RefCell<Option<ArgMatches>> = const { RefCell::new(None) };
}

/// Words that start this program; empty for those of the process.
static STARTED_AS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Says which words start this program, where the name of the process does not: `python -m xrsim`. The scripts of
/// jobs begin with them.
pub fn start_with(words: Vec<String>) {
    *STARTED_AS.lock().unwrap_or_else(PoisonError::into_inner) = words;
}

/// Words that start this program.
///
/// # Errors
///
/// Returns a failure for a path that is not text.
pub(super) fn start() -> Result<Vec<String>, Failure> {
    let words = STARTED_AS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if !words.is_empty() {
        return Ok(words);
    }
    let own = std::env::args_os().next().unwrap_or_else(|| "xrsim".into());
    let own = own
        .into_string()
        .map_err(|own| Failure::Argument(format!("`{}` is not text", own.to_string_lossy())))?;
    Ok(vec![own])
}

/// Refuses a word that names what exists in this process only.
///
/// # Errors
///
/// Returns a failure that says what a job can have in its place.
pub(super) fn refuse_given(word: &str) -> Result<(), Failure> {
    let named = |prefix: &str| word.split([',', '=']).find(|it| it.trim().starts_with(prefix));
    if let Some(found) = named(GivenScheduler::PREFIX) {
        refuse!(
            "a job cannot have `{found}`, a class of this Python program; write it into a file that ends in \
             xrsim.serve(CLASS), for `external:python3 FILE.py`"
        );
    }
    if let Some(found) = named(GivenText::PREFIX) {
        refuse!(
            "a job cannot have `{found}`, a dict of this Python program; write it into a file and give its path"
        );
    }
    Ok(())
}

/// Notes the arguments of the command that is about to run on this thread: parts repeat them.
pub(in super::super) fn note(matches: &ArgMatches) {
    GIVEN.set(Some(matches.clone()));
}

/// Words of the arguments that were given to `command`, without those that `leaves_out` names. Paths and
/// names stand as they were given.
///
/// # Errors
///
/// Returns a failure for a word that is not text.
pub(super) fn words(
    command: &Command,
    leaves_out: impl Fn(&Arg) -> bool,
) -> Result<Vec<String>, Failure> {
    let matches = GIVEN.with_borrow(|it| it.clone().expect("the command runs on this thread"));
    words_of(&matches, command, leaves_out)
}

/// The command called `name` that runs on this thread, in words of a shell; `None` if it has words that a shell cannot
/// have. The folder of results is called `results`: where they lie changes no result.
pub(in super::super) fn line(name: &str) -> Option<String> {
    let mut matches = GIVEN.with_borrow(Clone::clone)?;
    let program = super::super::program_with(|command| command.name == name);
    let mut command = program.find_subcommand(name)?;
    let mut all = vec!["xrsim".to_string(), name.into()];
    loop {
        all.extend(words_of(&matches, command, |it| it.get_id() == "out").ok()?);
        let Some((below, its)) = matches.subcommand() else { break };
        command = command.find_subcommand(below)?;
        all.push(below.into());
        matches = its.clone();
    }
    all.iter().try_for_each(|word| refuse_given(word)).ok()?;
    all.extend(["--out", "results"].map(String::from));
    super::super::again::line(&all)
}

fn words_of(
    matches: &ArgMatches,
    command: &Command,
    leaves_out: impl Fn(&Arg) -> bool,
) -> Result<Vec<String>, Failure> {
    let mut given: Vec<(usize, Vec<String>)> = Vec::new();
    for argument in command.get_arguments().filter(|it| !leaves_out(it)) {
        let id = argument.get_id().as_str();
        if !matches!(matches.try_contains_id(id), Ok(true))
            || matches.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let option = argument.get_long().map(|name| format!("--{name}"));
        let indices = matches.indices_of(id).into_iter().flatten();
        if let ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Count = argument.get_action() {
            given.extend(indices.zip(option).map(|(index, word)| (index, vec![word])));
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        for (index, value) in indices.zip(values) {
            let value = value.to_str().ok_or_else(|| {
                Failure::Argument(format!("`{}` is not text", value.to_string_lossy()))
            })?;
            // In one word, as a value may begin with a dash.
            let word =
                option.as_ref().map_or_else(|| value.into(), |name| format!("{name}={value}"));
            given.push((index, vec![word]));
        }
    }
    given.sort_by_key(|(index, _)| *index);
    Ok(given.into_iter().flat_map(|(_, words)| words).collect())
}
