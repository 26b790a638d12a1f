//! Pages of schedulers, cost models and quirks.

use xrsim::compat::quirks;
use xrsim::cost;
use xrsim::experiment;
use xrsim::schedule::{Entry, OPTIONS, Parameter};

use super::markdown::{Page, code, plain, sentence};

/// The page of the schedulers.
pub(super) fn schedulers() -> String {
    let mut page = Page::new(
        "Schedulers",
        "A scheduler decides which request runs on which accelerator. `--scheduler NAME:PARAMETER=VALUE,...` chooses \
         one; the default is the first scheduler of this page.",
    );
    let of_all: Vec<_> = OPTIONS.iter().map(|it| parameter(None, it)).collect();
    for entry in experiment::schedulers() {
        page.heading(2, &format!("`{}`", entry.name));
        page.paragraph(&sentence(&capital(entry.help)));
        page.paragraph(&facts(entry).join(" "));
        let own: Vec<_> = entry.parameters.iter().map(|it| parameter(None, it)).collect();
        let is_other = |it: &&Parameter| entry.options.iter().any(|(name, _)| *name == it.name);
        let other = OPTIONS.iter().filter(|it| !entry.fixes.contains(&it.name)).filter(is_other);
        let rows: Vec<_> =
            own.into_iter().chain(other.map(|it| parameter(Some(entry), it))).collect();
        if !rows.is_empty() {
            page.table(&["parameter", "meaning", "allowed", "default"], &rows);
        }
    }
    page.heading(2, "Parameters of all schedulers");
    page.paragraph("A scheduler above lists a parameter of this table if its default differs, and says which of these parameters it decides itself.");
    page.table(&["parameter", "meaning", "allowed", "default"], &of_all);
    page.finish()
}

/// What holds for a scheduler, a sentence each.
fn facts(entry: &Entry) -> Vec<String> {
    let mut facts = vec![format!("Source: {}", sentence(entry.source))];
    if let Some(part) = entry.unverified {
        facts.push(format!("Unverified: {}", sentence(part)));
    }
    if entry.is_clairvoyant {
        facts.push("It is clairvoyant: it knows every request before the run, which no scheduler on a device does.".into());
    }
    if !entry.work_conserving {
        facts.push("It may leave an accelerator idle while requests wait.".into());
    }
    if entry.looks_at_all {
        facts.push("Every decision looks at all requests that wait.".into());
    }
    if !entry.fixes.is_empty() {
        let names: Vec<_> = entry.fixes.iter().map(|it| code(it)).collect();
        facts.push(format!("It decides {} itself.", names.join(", ")));
    }
    facts
}

/// A row, with the default of `entry` where it has its own.
fn parameter(entry: Option<&Entry>, it: &Parameter) -> Vec<String> {
    let own = entry.and_then(|entry| entry.options.iter().find(|(name, _)| *name == it.name));
    let default = own.map_or(it.default, |(_, value)| *value);
    let only = it
        .only_with
        .map_or(String::new(), |(other, value)| format!(" With `{other}={value}` only."));
    vec![
        code(it.name),
        format!("{}{only}", sentence(&capital(it.help))),
        plain(&it.allowed.to_string()),
        code(&default.to_string()),
    ]
}

/// The page of the cost models.
pub(super) fn cost_models() -> String {
    let mut page = Page::new(
        "Cost models",
        "A cost model gives cycles, energy and traffic of a layer on an accelerator. `--cost-model NAME` chooses one.",
    );
    let row = |it: &cost::Entry| vec![code(it.name), sentence(&capital(it.help)), plain(it.source)];
    page.table(
        &["cost model", "meaning", "source"],
        &cost::ALL.iter().map(row).collect::<Vec<_>>(),
    );
    page.finish()
}

/// The page of the quirks of the artifact.
pub(super) fn quirks() -> String {
    let mut page = Page::new(
        "Quirks of the published artifact",
        "A quirk is a rule of the artifact that departs from the paper, or that is unexpected. `--semantics \
         mlsys2023` reproduces all quirks, and `--without NAME` leaves out one quirk. Rules R1 to R14 are in \
         [Runtime of the artifact](../explanation/artifact-runtime.md).",
    );
    let row = |it: &quirks::Quirk| {
        vec![code(it.name), it.rule.into(), plain(it.clause), sentence(&capital(it.effect))]
    };
    page.table(
        &["quirk", "rule", "paper", "effect"],
        &quirks::ALL.iter().map(row).collect::<Vec<_>>(),
    );
    page.finish()
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}
