//! Schedulers in lists and on pages.

use xrsim_experiment::{programs, schedulers};
use xrsim_sim::external;
use xrsim_sim::schedule::{Entry, OPTIONS, Parameter};

use super::message::say;
use super::output;

/// Example of an external scheduler.
const EXAMPLE: &str = include_str!("../../../examples/schedulers/edf.py");

/// The scheduler called `name`.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    schedulers().find(|entry| entry.name == name)
}

/// Online schedulers, which do not know later requests, of the program itself.
pub(super) fn online() -> impl Iterator<Item = &'static Entry> {
    schedulers().filter(|it| !it.is_clairvoyant && it.name != external::ENTRY.name)
}

/// Says which external schedulers have files that no record names.
pub(super) fn note_untracked<'a>(texts: impl IntoIterator<Item = &'a str>) {
    let mut noted = Vec::new();
    for text in texts {
        let Some(reason) = programs::untracked(text).filter(|_| !noted.contains(&text)) else {
            continue;
        };
        noted.push(text);
        say(format_args!(
            "note: the record does not show if {text} changes: {reason}; {text},inputs=PATH names files and folders \
             that it needs"
        ));
    }
}

/// Header and rows of `xrsim list schedulers`.
pub(super) fn list() -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |entry: &Entry| {
        let parameters = entry.parameters.iter().map(|it| format!("{}={}", it.name, it.default));
        let options = entry.options.iter().filter(|(name, _)| !entry.fixes.contains(name));
        let options = options.map(|(name, value)| format!("{name}={value}"));
        let defaults: Vec<_> = parameters.chain(options).collect();
        vec![entry.name.into(), entry.help.into(), defaults.join(" "), source(entry)]
    };
    (vec!["scheduler", "what it does", "parameters", "source"], schedulers().map(row).collect())
}

/// Source of the scheduler, with a mark if parts of it are unverified.
fn source(entry: &Entry) -> String {
    match entry.unverified {
        Some(_) => format!("{} [unverified in part]", entry.source),
        None => entry.source.into(),
    }
}

/// Page of a scheduler: meaning, source and parameters.
pub(super) fn describe(entry: &Entry) -> String {
    let mut text = format!("{}: {}\nsource: {}\n", entry.name, entry.help, entry.source);
    if let Some(part) = entry.unverified {
        text += &format!("[unverified] {part}\n");
    }
    if entry.is_clairvoyant {
        text += "It is clairvoyant: it knows every request before the run, which no scheduler on a device does.\n";
    }
    if !entry.work_conserving {
        text += "It may leave an accelerator idle while requests wait.\n";
    }
    if entry.name != external::ENTRY.name && !entry.is_clairvoyant {
        text += "Ties between requests are decided by the earlier deadline, then the earlier arrival, the model \
                 that the scenario names first, and the earlier frame; ties between accelerators by the first one.\n";
    }
    if entry.looks_at_all {
        text += "Every decision looks at all waiting requests. Where requests pile up, the time of a run grows with \
                 the square of its duration.\n";
    }
    text += "\n";
    text += &parameters(entry);
    if entry.name == external::ENTRY.name {
        text += "\ninputs=PATH, as often as needed, names files and folders that the program imports or reads. Records have \
                 their SHA-256, and those of the files that the command names: a sweep does not go on if one has changed.\n";
        text += "\nAn example, the same as edf:\n\n";
        text += EXAMPLE;
    }
    text
}

/// Table of its parameters, its own first.
fn parameters(entry: &Entry) -> String {
    let header = ["parameter", "default", "allowed", "what it is"];
    let rows = entry.parameters.iter().chain(OPTIONS).map(|it| cells(entry, it));
    output::table_text(&header, rows, header.len())
}

fn cells(entry: &Entry, parameter: &Parameter) -> [String; 4] {
    let Parameter { name, help, allowed, .. } = *parameter;
    if entry.fixes.contains(&name) {
        return [name.into(), "-".into(), "-".into(), format!("{} decides it itself", entry.name)];
    }
    let own = entry.options.iter().find(|(option, _)| *option == name);
    let default = own.map_or(parameter.default, |(_, value)| *value);
    let help = match parameter.only_with {
        Some((other, value)) => format!("{help} (with {other}={value})"),
        None => help.into(),
    };
    [name.into(), default.to_string(), allowed.to_string(), help]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn online_schedulers_are_neither_offline_nor_external() {
        let names: Vec<_> = online().map(|it| it.name).collect();
        assert!(
            names.contains(&"edf") && !names.contains(&"magma") && !names.contains(&"external")
        );
    }
}
