//! Schedulers as lists and pages show them.

use crate::experiment::schedulers;
use crate::external;
use crate::report::table;
use crate::schedule::{Entry, OPTIONS, Parameter};

use super::table_style;

/// An example of a policy in a process of its own.
const EXAMPLE: &str = include_str!("../../schedulers/edf.py");

/// The scheduler called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    schedulers().find(|entry| entry.name == name)
}

/// The rows of `xrsim list schedulers`.
pub fn list() -> (Vec<&'static str>, Vec<Vec<String>>) {
    let row = |entry: &Entry| {
        let parameters = entry.parameters.iter().map(|it| format!("{}={}", it.name, it.default));
        let options = entry.options.iter().filter(|(name, _)| !entry.fixes.contains(name));
        let options = options.map(|(name, value)| format!("{name}={value}"));
        let defaults: Vec<_> = parameters.chain(options).collect();
        vec![entry.name.into(), entry.help.into(), defaults.join(" "), source(entry)]
    };
    (vec!["scheduler", "what it does", "parameters", "source"], schedulers().map(row).collect())
}

/// Where it is defined, and a mark if not all of it could be checked.
fn source(entry: &Entry) -> String {
    match entry.unverified {
        Some(_) => format!("{} [unverified in part]", entry.source),
        None => entry.source.into(),
    }
}

/// The page of a scheduler: what it does, where it is from, and what it takes.
pub fn describe(entry: &Entry) -> String {
    let mut text = format!("{}: {}\nsource: {}\n", entry.name, entry.help, entry.source);
    if let Some(what) = entry.unverified {
        text += &format!("[unverified] {what}\n");
    }
    if entry.is_clairvoyant {
        text += "It knows every request before the run, which no scheduler on a device does.\n";
    }
    if !entry.work_conserving {
        text += "It may leave an accelerator idle while requests wait.\n";
    }
    if entry.name != external::ENTRY.name && !entry.is_clairvoyant {
        text += "Between requests that it holds equal: the earlier deadline, the earlier release, the model \
                 that the scenario names first, the earlier frame; between accelerators the first.\n";
    }
    if entry.looks_at_all {
        text += "Every decision looks at all requests that wait: where they pile up, time grows with the \
                 square of a run's length.\n";
    }
    text += "\n";
    text += &parameters(entry);
    if entry.name == external::ENTRY.name {
        text += "\nAn example, the same as edf:\n\n";
        text += EXAMPLE;
    }
    text
}

/// The table of its parameters, its own first.
fn parameters(entry: &Entry) -> String {
    let header = ["parameter", "default", "allowed", "what it is"];
    let mut table = table::new_table(table_style(), &header, header.len());
    for parameter in entry.parameters.iter().chain(OPTIONS) {
        table.add_row(cells(entry, parameter));
    }
    table::render(&table)
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
