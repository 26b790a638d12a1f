//! Pages of the commands, from the tree of the argument parser.

use std::error::Error;

use clap::{Arg, ArgAction, Command};

use super::markdown::{Page, code, plain, sentence};

/// Start of the examples of a command.
const EXAMPLES: [&str; 2] = ["Examples:", "Example:"];

/// The page with all commands and what they have in common.
pub(super) fn overview(program: &Command) -> String {
    let about = program.get_about().map(ToString::to_string).unwrap_or_default();
    let mut page = Page::new("Commands", &sentence(&about));
    page.paragraph("`xrsim COMMAND --help` prints these pages in a terminal, and `xrsim setup man --out DIR` writes them as manual pages.");
    let rows: Vec<_> = visible(program)
        .map(|it| {
            let name = it.get_name();
            vec![format!("[`xrsim {name}`](commands/{name}.md)"), sentence(&about_of(it))]
        })
        .collect();
    page.table(&["command", "effect"], &rows);
    page.heading(2, "Options of every command");
    options(&mut page, program.get_arguments().filter(|it| it.is_global_set()));
    page.heading(2, "Exit statuses");
    page.paragraph("[Exit statuses](exit-statuses.md) has the meaning of each.");
    page.finish()
}

/// The page of every command: its name and its text.
///
/// # Errors
///
/// An error that names a command or an option without a sentence.
pub(super) fn pages(program: &Command) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let mut program = program.clone().disable_help_subcommand(true);
    program.build();
    let page = |command: &Command| Ok((command.get_name().to_string(), page(command)?));
    visible(&program).map(page).collect()
}

fn page(command: &Command) -> Result<String, Box<dyn Error>> {
    let name = format!("xrsim {}", command.get_name());
    let mut page = Page::new(&format!("`{name}`"), &summary(command, &name)?);
    body(&mut page, command, &name)?;
    for below in visible(command) {
        let name = format!("{name} {}", below.get_name());
        page.heading(2, &format!("`{name}`"));
        page.paragraph(&summary(below, &name)?);
        body(&mut page, below, &name)?;
    }
    Ok(page.finish())
}

fn summary(command: &Command, name: &str) -> Result<String, Box<dyn Error>> {
    match about_of(command) {
        about if about.is_empty() => Err(format!("`{name}` has no sentence").into()),
        about => Ok(sentence(&about)),
    }
}

/// Synopsis, options, notes and examples.
fn body(page: &mut Page, command: &Command, name: &str) -> Result<(), Box<dyn Error>> {
    let usage = command.clone().render_usage().to_string();
    page.verbatim("console", usage.trim_start_matches("Usage:").trim());
    let own = || command.get_arguments().filter(|it| !it.is_global_set() && !it.is_hide_set());
    if let Some(arg) = own().find(|it| help_of(it).is_empty()) {
        return Err(format!("{} of `{name}` has no sentence", name_of(arg)).into());
    }
    options(page, own().filter(|it| it.is_positional()));
    options(page, own().filter(|it| !it.is_positional() && it.get_id() != "help"));
    let after = command.get_after_long_help().or(command.get_after_help());
    let after = after.map(ToString::to_string).unwrap_or_default();
    let at = EXAMPLES.iter().filter_map(|title| after.find(title)).min();
    let (notes, examples) = after.split_at(at.unwrap_or(after.len()));
    for paragraph in notes.split("\n\n").filter(|it| !it.trim().is_empty()) {
        page.paragraph(&plain(paragraph.trim()));
    }
    if let Some((_, lines)) = examples.split_once('\n') {
        let lines: Vec<_> = lines.lines().map(|line| line.trim_start_matches("  ")).collect();
        page.paragraph("Examples:");
        page.verbatim("console", &lines.join("\n"));
    }
    Ok(())
}

fn about_of(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    about.map(ToString::to_string).unwrap_or_default()
}

fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|it| !it.is_hide_set())
}

/// Adds a table of options, unless there are none.
fn options<'a>(page: &mut Page, options: impl Iterator<Item = &'a Arg>) {
    let rows: Vec<_> = options.map(row).collect();
    if let Some(first) = rows.first() {
        let is_positional = !first[0].starts_with("`-");
        let header = if is_positional { "argument" } else { "option" };
        page.table(&[header, "meaning", "default"], &rows);
    }
}

fn row(arg: &Arg) -> Vec<String> {
    let (help, mut default) = without_default(&help_of(arg));
    let values: Vec<_> = arg.get_default_values().iter().map(|it| it.to_string_lossy()).collect();
    if !values.is_empty() && takes_values(arg) {
        default = code(&values.join(","));
    }
    let mut meaning = sentence(&help);
    if arg.is_required_set() {
        meaning += " Required.";
    }
    vec![name_of(arg), meaning + &allowed(arg), default]
}

/// Allowed words with their meanings.
fn allowed(arg: &Arg) -> String {
    let words = arg.get_possible_values();
    let words: Vec<_> = words.iter().filter(|it| !it.is_hide_set()).collect();
    if words.is_empty() || !takes_values(arg) {
        return String::new();
    }
    let described = |it: &&clap::builder::PossibleValue| match it.get_help() {
        Some(help) => format!("{} ({})", code(it.get_name()), plain(&help.to_string())),
        None => code(it.get_name()),
    };
    format!(" Allowed: {}.", words.iter().map(described).collect::<Vec<_>>().join(", "))
}

fn takes_values(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

fn help_of(arg: &Arg) -> String {
    arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default()
}

/// A help text that ends in `[default: ...]`, as its parts.
fn without_default(help: &str) -> (String, String) {
    const MARK: &str = "[default: ";
    let parts = help.trim_end().strip_suffix(']').and_then(|it| it.split_once(MARK));
    match parts {
        Some((text, default)) => (text.trim_end().into(), plain(default)),
        None => (help.into(), String::new()),
    }
}

/// Name with its value, such as `--seed <N>`.
fn name_of(arg: &Arg) -> String {
    let values: Vec<_> =
        arg.get_value_names().unwrap_or_default().iter().map(|it| format!("<{it}>")).collect();
    let values = if takes_values(arg) { values.join(" ") } else { String::new() };
    let name = match (arg.get_long(), arg.get_short()) {
        (Some(long), Some(short)) => format!("--{long}, -{short}"),
        (Some(long), None) => format!("--{long}"),
        (None, Some(short)) => format!("-{short}"),
        (None, None) => String::new(),
    };
    code(format!("{name} {values}").trim())
}
