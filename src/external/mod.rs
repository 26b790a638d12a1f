//! Policies of the user's, in processes of their own that speak JSON lines on their standard input and
//! output: `external:COMMAND`. `schedulers/README.md` describes the protocol.
//!
//! This is input and output, so it stands outside of [`schedule`](crate::schedule); to an engine it is
//! a policy like any other. Whatever the process answers, the worst that follows is
//! [`Decision::Fail`].

mod group;
mod message;
mod process;

use std::sync::Arc;
use std::time::Duration;

use crate::schedule::{
    Arguments, Breakdown, Decision, Entry, OPTIONS, Options, Parameter, Policy, PolicyError,
    Scheduler, Setup, View,
};
use crate::text::is_unfit_in_line;

use message::Answer;
use process::Process;

/// What [`policy`] makes, without a command.
pub const ENTRY: Entry = Entry {
    name: "external",
    help: "a program of yours, external:COMMAND, which speaks JSON lines on its standard input and \
           output",
    source: "schedulers/README.md",
    work_conserving: false,
    parameters: &[Parameter::whole(
        "timeout_ms",
        "longest time to an answer, after which the run fails",
        10_000,
        [1, 3_600_000],
    )],
    fixes: &["placement"],
    looks_at_all: true,
    ..Entry::new(|_, _| Box::new(NoCommand))
};

/// What begins the name of an external policy.
const PREFIX: &str = "external:";

/// The policy that `text` names, of this program ([`Policy::parse`]) or of the user's:
/// `external:COMMAND`, with parameters behind it as in `external:python3 edf.py,timeout_ms=500`. The
/// command is split into words like in a shell, which it is not given to.
///
/// # Errors
///
/// [`PolicyError`].
pub fn policy(text: &str) -> Result<Policy, PolicyError> {
    let Some(text) = text.trim().strip_prefix(PREFIX) else {
        return Policy::parse(text);
    };
    if text.contains(is_unfit_in_line) {
        return Err(PolicyError::Together(
            "external: the command has control characters or marks of direction",
        ));
    }
    let (command, assignments) = split(text);
    let arguments = Arguments::parse(&ENTRY, assignments)?;
    let no_words = PolicyError::Together("external: needs a command, with its quotes closed");
    let words = shlex::split(command).filter(|words| !words.is_empty()).ok_or(no_words)?;
    let label = arguments.label(&format!("{PREFIX}{command}"));
    let options = Options::of(&arguments);
    let timeout = Duration::from_millis(arguments.whole("timeout_ms").into());
    let build = {
        let label = label.clone();
        move |setup: &Setup<'_>| match External::start(&words, timeout, setup) {
            Ok(policy) => Ok(Box::new(policy) as Box<dyn Scheduler>),
            Err(breakdown) => Err(breakdown.of(&label)),
        }
    };
    Ok(Policy::new(label, options, ENTRY.work_conserving, Arc::new(build)))
}

/// The words of the command of the external policy that `text` names; `None` for other policies.
pub fn command(text: &str) -> Option<Vec<String>> {
    let (command, _) = split(text.trim().strip_prefix(PREFIX)?);
    shlex::split(command)
}

/// The command, and the parameters behind it.
fn split(text: &str) -> (&str, Vec<&str>) {
    let known = || ENTRY.parameters.iter().chain(OPTIONS).map(|parameter| parameter.name);
    let is_parameter = |piece: &str| {
        let name = piece.split_once('=').map(|(name, _)| name.trim());
        name.is_some_and(|name| name == "accelerator" || known().any(|known| known == name))
    };
    let mut command = text;
    let mut assignments = Vec::new();
    while let Some((head, piece)) = command.rsplit_once(',')
        && is_parameter(piece)
    {
        command = head;
        assignments.insert(0, piece);
    }
    (command.trim(), assignments)
}

/// A policy in another process.
struct External {
    process: Process,
    options: Options,
    /// Decisions asked for so far.
    asked: u64,
}

impl External {
    fn start(words: &[String], timeout: Duration, setup: &Setup<'_>) -> Result<Self, Breakdown> {
        let mut process = Process::start(words, timeout)?;
        process.send(message::setup(setup));
        Ok(Self { process, options: setup.options, asked: 0 })
    }

    fn ask(&mut self, view: &View<'_>) -> Result<Decision, Breakdown> {
        self.asked += 1;
        self.process.send(message::view(self.asked, view));
        let line = self.process.receive()?;
        let answer = Answer::parse(&line, self.asked);
        let decision = answer.and_then(|answer| answer.decision(view, self.options.granularity));
        let wrong = |reason| format!("answered {}: {reason}", message::quoted(&line));
        decision.map_err(|reason| Breakdown::new(wrong(reason)))
    }
}

impl Scheduler for External {
    fn decide(&mut self, view: &View<'_>) -> Decision {
        self.ask(view).unwrap_or_else(Decision::Fail)
    }
}

/// The policy that [`ENTRY`] stands for where no command is given.
struct NoCommand;

impl Scheduler for NoCommand {
    fn decide(&mut self, _: &View<'_>) -> Decision {
        Decision::Fail(Breakdown::new("external: needs a command"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_behind_the_command() {
        let check = |text: &str, label: &str| assert_eq!(&**policy(text).unwrap().label(), label);
        check("external:python3 a.py", "external:python3 a.py");
        check("external: a --k=1,b=2 , timeout_ms=10000", "external:a --k=1,b=2");
        check(
            "external:a,preemption=layer-boundary,timeout_ms=5",
            "external:a,timeout_ms=5,preemption=layer-boundary",
        );
        check("edf:admission=none", "edf");
    }

    #[test]
    fn what_is_wrong_with_an_external_policy_is_said() {
        let refused = |text: &str| policy(text).unwrap_err().to_string();
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
            refused("external:a,timeout_ms=0"),
            "timeout_ms is `0`; allowed is a whole number from 1 to 3600000"
        );
    }
}
