//! `xrsim setup completions`: completion scripts for shells.

use clap::builder::{PossibleValuesParser, ValueHint};
use clap::{Arg, Args, Command};
use clap_complete::Shell;

use xrsim_config::{Catalog, Kind};
use xrsim_experiment::{KEYS, scheduler_names};
use xrsim_model::cost;
use xrsim_sim::compat::quirks;

use super::message::Failure;
use super::output;

/// Print a completion script for a shell (commands, options, and the names of
/// scenarios, systems, schedulers, networks, settings and other built-in inputs).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    xrsim setup completions bash > ~/.local/share/bash-completion/completions/xrsim\n  \
    xrsim setup completions zsh > _xrsim\n  \
    xrsim setup completions fish > ~/.config/fish/completions/xrsim.fish")]
pub(super) struct CompletionsArgs {
    /// Shell.
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
///
/// Returns a failure if standard output cannot be written.
pub(super) fn run(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut program = with_names(super::program(), &Catalog::new());
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut program, "xrsim", &mut text);
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if args.shell == Shell::Fish {
        for command in program.get_subcommands() {
            let name = command.get_name();
            text += &fish_positionals(command, name);
            let below = command.get_subcommands();
            text.extend(below.map(|it| {
                let place = format!("{name}; and __fish_seen_subcommand_from {}", it.get_name());
                fish_positionals(it, &place)
            }));
        }
    }
    output::print(&text)
}

/// Lines for fish with the values of arguments without a name, which `clap_complete` leaves out there. `place` is the
/// command in words of fish.
fn fish_positionals(command: &Command, place: &str) -> String {
    let values = command.get_positionals().flat_map(Arg::get_possible_values);
    let names: Vec<_> = values.map(|value| value.get_name().to_string()).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            "complete -c xrsim -n \"__fish_xrsim_using_subcommand {place}\" -a \"{}\"\n",
            names.join(" ")
        ),
    }
}

/// The command and those below it, with names as values of their arguments.
fn with_names(command: Command, catalog: &Catalog) -> Command {
    let name = command.get_name().to_string();
    let command = command.mut_args(|arg| with_values(arg, &name, catalog));
    command.mut_subcommands(|below| with_names(below, catalog))
}

/// The argument with its names, or with a hint where it takes a file.
fn with_values(arg: Arg, command: &str, catalog: &Catalog) -> Arg {
    if !arg.get_possible_values().is_empty() {
        return arg;
    }
    let names = names(arg.get_id().as_str(), command, catalog);
    if !names.is_empty() {
        // The parser wants names that live as long as the process, which prints one script.
        let names = names.into_iter().map(|name| &*name.leak());
        return arg.value_parser(PossibleValuesParser::new(names));
    }
    let placeholder = arg.get_value_names().and_then(|it| it.first()).map(ToString::to_string);
    match placeholder.as_deref().unwrap_or_default() {
        "DIR" => arg.value_hint(ValueHint::DirPath),
        it if it.contains("FILE") || it.contains("DIR") => arg.value_hint(ValueHint::AnyPath),
        it if it.contains(['.', '/']) => arg.value_hint(ValueHint::FilePath),
        _ => arg.value_hint(ValueHint::Other),
    }
}

/// Names that the argument `id` of `command` takes; none if it takes other values.
fn names(id: &str, command: &str, catalog: &Catalog) -> Vec<String> {
    let of = |kinds: &[Kind]| kinds.iter().flat_map(|&kind| catalog.names(kind)).collect();
    let owned = |names: &mut dyn Iterator<Item = &'static str>| names.map(String::from).collect();
    match (id.replace('_', "-").as_str(), command) {
        ("scenario" | "beside", _) => of(&[Kind::Scenario]),
        ("system", _) => of(&[Kind::Style, Kind::System]),
        ("scheduler", _) => owned(&mut scheduler_names()),
        ("network", _) => [of(&[Kind::Network]), catalog.mlperf_networks()].concat(),
        ("platform", _) => of(&[Kind::Platform]),
        ("technology", _) => of(&[Kind::Technology]),
        ("device", _) => of(&[Kind::Device]),
        ("profile", _) => of(&[Kind::Profile]),
        ("constants", _) => of(&[Kind::Uncertainty]),
        ("dataflow", _) => of(&[Kind::Dataflow]),
        ("mapspace", _) => of(&[Kind::Mapspace]),
        ("suite", _) => of(&[Kind::Mlperf]),
        ("task", _) => tasks(),
        ("cost-model", _) => owned(&mut cost::ALL.iter().map(|it| it.name)),
        ("without", _) => owned(&mut quirks::ALL.iter().map(|it| it.name)),
        ("set" | "factor", _) => settings(),
        ("spec", "sweep") => of(&[Kind::Sweep]),
        ("spec", "search") => of(&[Kind::Search]),
        ("name", "show") => {
            let files: Vec<_> = of(&Kind::EVERY);
            let mut names = [files, catalog.mlperf_networks()].concat();
            names.extend(scheduler_names().map(String::from));
            names.sort();
            names.dedup();
            names
        }
        _ => Vec::new(),
    }
}

/// Tasks of the suites of MLPerf that come with the program.
fn tasks() -> Vec<String> {
    let mut catalog = Catalog::new();
    let mut tasks = Vec::new();
    for suite in catalog.names(Kind::Mlperf) {
        // The tests read every suite.
        let Ok(suite) = catalog.mlperf_suite(&suite) else { continue };
        tasks.extend(suite.tests.iter().map(|test| test.task.name.to_string()));
    }
    tasks.sort();
    tasks.dedup();
    tasks
}

/// Settings as `--set` takes them, up to the value.
fn settings() -> Vec<String> {
    let of_set = KEYS.iter().filter(|key| key.option.is_none());
    of_set.map(|key| format!("{}=", key.name)).collect()
}
