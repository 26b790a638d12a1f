//! Policies in processes of the user, which exchange lines of JSON over standard input and output:
//! `external:COMMAND`, or `NAME=external:COMMAND`, which results call `NAME`. `examples/schedulers/README.md` describes
//! the protocol.
//!
//! This module does input and output and is therefore not part of [`schedule`](crate::schedule). To an
//! engine it is a policy like any other. The worst effect of an answer is [`Decision::Fail`].

mod given;
mod group;
mod message;
mod process;

use std::sync::Arc;
use std::time::Duration;

use crate::schedule::{
    Arguments, Breakdown, Decision, Entry, OPTIONS, Options, Parameter, Policy, PolicyError,
    RENAMED, Scheduler, Setup, View, find,
};
use xrsim_model::renamed;
use xrsim_model::text::{EXTERNAL, is_name, is_unfit_in_line};

pub use given::GivenScheduler;
pub use given::text_of;
use message::Answer;
pub use message::{dispatch_of, drop_of, setup_line};
use process::Process;

/// Entry of policies in other processes, without a command.
pub const ENTRY: Entry = Entry {
    name: "external",
    help: "your own program, external:COMMAND, which reads and writes lines of JSON on its standard \
           input and output",
    source: "examples/schedulers/README.md",
    work_conserving: false,
    parameters: &[Parameter::whole("timeout_ms", 10_000, [1, 3_600_000])
        .meaning("longest time to an answer; the run fails after it")],
    fixes: &["placement"],
    looks_at_all: true,
    ..Entry::new(|_, _| Box::new(NoCommand))
};

/// The name that `text` gives to an external policy, and what follows [`EXTERNAL`]; `None` for other policies.
fn external(text: &str) -> Option<(Option<&str>, &str)> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix(EXTERNAL) {
        return Some((None, rest));
    }
    let (name, rest) = text.split_once('=')?;
    // After a comma begins another one of a list.
    let name = Some(name.trim()).filter(|name| !name.contains(','))?;
    Some((Some(name), rest.trim_start().strip_prefix(EXTERNAL)?))
}

/// The policy that `text` describes: a built-in one ([`Policy::parse`]), `external:COMMAND` or `NAME=external:COMMAND`,
/// with parameters after the command as in `external:python3 edf.py,timeout_ms=500`. The command is split
/// into words as in a shell, but no shell runs it.
///
/// # Errors
///
/// [`PolicyError`] as for [`Policy::parse`]; also if the command is empty, has a quote that is not
/// closed, or contains control characters, and if the name is that of a built-in policy.
pub fn policy(text: &str) -> Result<Policy, PolicyError> {
    let text = text.trim();
    if let Some(name) = text.strip_prefix(GivenScheduler::PREFIX) {
        return given::policy(name);
    }
    if text.rsplit('=').next().map(str::trim) == Some(ENTRY.name) {
        return Err(PolicyError::Together(
            "external: needs a command: external:COMMAND, such as `external:python3 edf.py`",
        ));
    }
    match external(text) {
        None => Policy::parse(text),
        Some((None, rest)) => unnamed(rest),
        Some((Some(name), rest)) => Ok(unnamed(rest)?.named(free(name)?)),
    }
}

/// `name`, if an external policy can have it.
fn free(name: &str) -> Result<&str, PolicyError> {
    if !is_name(name) || name.contains(':') {
        return Err(PolicyError::OwnName(name.into()));
    }
    match name == ENTRY.name || find(name).is_some() {
        true => Err(PolicyError::Taken(name.into())),
        false => Ok(name),
    }
}

/// The policy of the command and the parameters in `text`.
fn unnamed(text: &str) -> Result<Policy, PolicyError> {
    if text.contains(is_unfit_in_line) {
        return Err(PolicyError::Together(
            "external: the command has control characters or marks of direction",
        ));
    }
    let (command, assignments) = split(text);
    let (inputs, assignments) = apart(&assignments);
    if inputs.iter().any(|path| path.is_empty()) {
        return Err(PolicyError::Together("external: inputs= takes the path of a file or folder"));
    }
    let arguments = Arguments::parse(&ENTRY, assignments)?;
    let no_words = PolicyError::Together("external: needs a command, with its quotes closed");
    let words = shlex::split(command).filter(|words| !words.is_empty()).ok_or(no_words)?;
    let inputs: String = inputs.iter().map(|path| format!(",{INPUTS}={path}")).collect();
    let label = arguments.label(&format!("{EXTERNAL}{command}{inputs}"));
    let options = Options::from_arguments(&arguments);
    let timeout = Duration::from_millis(arguments.whole("timeout_ms").into());
    let build = {
        let label = label.clone();
        move |setup: &Setup<'_>| match External::start(&words, timeout, setup) {
            Ok(policy) => Ok(Box::new(policy) as Box<dyn Scheduler>),
            Err(breakdown) => Err(breakdown.of(&label)),
        }
    };
    let policy = Policy::new(label, options, ENTRY.work_conserving, Arc::new(build));
    Ok(policy.with_renamed(arguments.renamed()))
}

/// Words of the command of the external policy that `text` describes; `None` for other policies.
pub fn command(text: &str) -> Option<Vec<String>> {
    let (command, _) = split(external(text)?.1);
    shlex::split(command)
}

/// Paths of files and folders that the external policy of `text` needs besides those that its command names; empty for
/// other policies.
pub fn inputs(text: &str) -> Vec<String> {
    let Some((_, text)) = external(text) else { return Vec::new() };
    let (_, assignments) = split(text);
    apart(&assignments).0.into_iter().map(str::to_string).collect()
}

/// Name of the parameter that adds a path to the inputs of a policy. It may be given several times.
const INPUTS: &str = "inputs";

/// Values of the parameters that add inputs, and all other assignments.
fn apart<'t>(assignments: &[&'t str]) -> (Vec<&'t str>, Vec<&'t str>) {
    let input = |part: &'t str| {
        let (name, value) = part.split_once('=')?;
        (name.trim() == INPUTS).then(|| value.trim())
    };
    let paths = assignments.iter().filter_map(|part| input(part)).collect();
    (paths, assignments.iter().filter(|part| input(part).is_none()).copied().collect())
}

/// The command, and the parameters after it.
fn split(text: &str) -> (&str, Vec<&str>) {
    let known = || ENTRY.parameters.iter().chain(OPTIONS).map(|parameter| parameter.name);
    let is_parameter = |part: &str| {
        let name = part.split_once('=').map(|(name, _)| name.trim());
        name.map(|name| renamed::current(&RENAMED, name).0)
            .is_some_and(|name| name == INPUTS || known().any(|known| known == name))
    };
    let mut command = text;
    let mut assignments = Vec::new();
    while let Some((head, part)) = command.rsplit_once(',')
        && is_parameter(part)
    {
        command = head;
        assignments.insert(0, part);
    }
    (command.trim(), assignments)
}

/// A policy in another process.
struct External {
    process: Process,
    options: Options,
    /// Number of decisions asked for so far.
    asked: u64,
    /// Number of networks of every model of which each request runs one; 0 without a choice.
    choices: Vec<u32>,
}

impl External {
    fn start(words: &[String], timeout: Duration, setup: &Setup<'_>) -> Result<Self, Breakdown> {
        let mut process = Process::start(words, timeout)?;
        process.send(message::setup_line(setup));
        let choices = message::choices(setup);
        Ok(Self { process, options: setup.options, asked: 0, choices })
    }

    fn ask(&mut self, view: &View<'_>) -> Result<Decision, Breakdown> {
        self.asked += 1;
        self.process.send(message::view(self.asked, view, &self.choices));
        let line = self.process.receive()?;
        let answer = Answer::parse(&line, self.asked);
        let decision = answer
            .and_then(|answer| answer.decision(view, &self.choices, self.options.granularity));
        let wrong = |reason| format!("answered {}: {reason}", message::quoted(&line));
        decision.map_err(|reason| Breakdown::new(wrong(reason)))
    }
}

impl Scheduler for External {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.ask(view).unwrap_or_else(Decision::Fail)
    }
}

/// Policy of [`ENTRY`], which has no command.
struct NoCommand;

impl Scheduler for NoCommand {
    fn decide(&mut self, _: &View<'_>) -> Decision {
        Decision::Fail(Breakdown::new("external: needs a command"))
    }
}

#[cfg(test)]
mod tests {
    use xrsim_model::text::NAME_RULE;

    use super::*;

    #[test]
    fn parameters_follow_the_command() {
        let check = |text: &str, label: &str| assert_eq!(&**policy(text).unwrap().label(), label);
        check("external:python3 a.py", "external:python3 a.py");
        check("external: a --k=1,b=2 , timeout_ms=10000", "external:a --k=1,b=2");
        check(
            "external:a,preemption=layer-boundary,timeout_ms=5",
            "external:a,timeout_ms=5,preemption=layer-boundary",
        );
        check("edf:admission=none", "edf");
        check(
            "external:a b,inputs= lib/c.py ,timeout_ms=5,inputs=d",
            "external:a b,inputs=lib/c.py,inputs=d,timeout_ms=5",
        );
        assert_eq!(
            inputs("external:a b,inputs= lib/c.py ,timeout_ms=5,inputs=d"),
            ["lib/c.py", "d"]
        );
        assert!(inputs("edf:admission=none").is_empty());
    }

    #[test]
    fn a_name_is_shown_and_the_command_is_the_identity() {
        let named = policy("mine = external:python3 a.py,timeout_ms=5").unwrap();
        assert_eq!(&**named.label(), "mine");
        assert_eq!(named.text(), "mine=external:python3 a.py,timeout_ms=5");
        assert_eq!(policy(&named.text()).unwrap().text(), named.text());
        assert_eq!(named, policy("external:python3 a.py,timeout_ms=5").unwrap());
        assert_ne!(named, policy("mine=external:python3 b.py").unwrap());
        assert_eq!(policy("edf:admission=hopeless").unwrap().text(), "edf:admission=hopeless");
        let all = "mine=external:python3 a.py,inputs=b";
        assert_eq!(command(all).unwrap(), ["python3", "a.py"]);
        assert_eq!(inputs(all), ["b"]);
        // The `=` belongs to the command.
        assert_eq!(
            &**policy("external:a b=external:c").unwrap().label(),
            "external:a b=external:c"
        );
    }

    #[test]
    fn mistakes_in_an_external_policy_are_explained() {
        let refused = |text: &str| policy(text).unwrap_err().to_string();
        assert_eq!(
            refused("edf=external:a"),
            "`edf` is a scheduler of the program; give external:COMMAND another name"
        );
        assert_eq!(
            refused("a:b=external:a"),
            format!(
                "`a:b` cannot be the name of a scheduler: it has no comma and no colon, and {NAME_RULE}"
            )
        );
        for text in ["external", "mine=external"] {
            let message =
                "external: needs a command: external:COMMAND, such as `external:python3 edf.py`";
            assert_eq!(refused(text), message);
        }
        assert_eq!(refused("external:"), "external: needs a command, with its quotes closed");
        assert_eq!(refused("external:a 'b"), "external: needs a command, with its quotes closed");
        for text in ["external:a \u{1b}[31m", "external:a '\u{202e}b'", "external:a\nb"] {
            assert_eq!(
                refused(text),
                "external: the command has control characters or marks of direction"
            );
        }
        assert_eq!(
            refused("external:a,placement=edp"),
            "external decides `placement` itself; leave it out"
        );
        assert_eq!(
            refused("external:a,inputs="),
            "external: inputs= takes the path of a file or folder"
        );
        assert_eq!(
            refused("external:a,timeout_ms=0"),
            "timeout_ms is `0`; allowed is a whole number from 1 to 3600000"
        );
    }
}
