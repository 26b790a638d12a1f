//! Help texts: options under headings, commands under purposes, and the short form of `-h`.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::sync::LazyLock;

use clap::builder::StyledStr;
use clap::{Arg, Command};

/// Headings of options in the order of help texts, each with its options in order. `COMMAND/OPTION` is an option of
/// one command.
const HEADINGS: &[(&str, &[&str])] = &[
    (
        "What to run",
        &[
            "task",
            "load",
            "round",
            "suite",
            "beside",
            "tenant",
            "figure",
            "scenario",
            "profile",
            "network",
            "networks",
            "layer",
            "batch",
            "semantics",
            "without",
            "scheduler",
            "replication",
            "replications",
            "half-width",
            "duration",
            "seed",
            "enumerate",
            "steady",
            "set",
            "against",
        ],
    ),
    (
        "Hardware",
        &[
            "system",
            "pes",
            "accelerators",
            "max-pes",
            "exactly",
            "step",
            "dataflow",
            "platform",
            "dram",
            "noc-bandwidth",
            "technology",
            "device",
            "cost-model",
            "service",
            "servers",
            "max-batch",
            "batch-wait",
        ],
    ),
    (
        "Mapping",
        &[
            "flexibility",
            "mapping-objective",
            "map/objective",
            "effort",
            "mapspace",
            "levels",
            "sizes",
            "gap",
            "no-rule",
        ],
    ),
    ("Goal", &["objective", "over", "constraint", "method", "stop", "require-proof", "proof-for"]),
    ("Rates", &["qps", "streams", "find-peak", "min-duration", "min-queries", "curve"]),
    ("Comparison", &["by", "pairs", "window", "tune"]),
    ("Factors", &["factor", "only", "screening", "joint", "constants"]),
    (
        "Output",
        &[
            "out",
            "format",
            "detail",
            "matrix",
            "explain-columns",
            "explain",
            "trace",
            "arrivals",
            "no-changes",
            "audit",
            "table",
            "plot",
            "plot-cycles",
            "roofline",
            "width",
            "no-title",
        ],
    ),
    (PARTS, &["dry-run", "restart", "shard", "join", "sbatch", "submit", "sbatch-options"]),
];

/// Heading of options that the short help leaves out.
const PARTS: &str = "Parts of a long command";

/// Heading of the options that every command has. They come last, as the parser adds them after those of a command.
pub(super) const OF_ALL: &str = "Every command";

/// Purposes of commands in the order of the help text, each with its commands.
const PURPOSES: &[(&str, &[&str])] = &[
    ("Simulate", &["run", "day", "compare", "cost", "map", "area", "mlperf", "replay"]),
    ("Explore", &["search", "sweep", "sensitivity", "plot", "parts"]),
    ("Explain and report", &["explain", "report", "reproduce", "validate"]),
    ("Files and names", &["list", "show", "check", "schema", "import", "setup"]),
];

/// Width of the lines of a short help text.
const WIDTH: usize = 80;

/// Place and heading of every entry of [`HEADINGS`].
static PLACES: LazyLock<HashMap<&str, (usize, &str)>> = LazyLock::new(|| {
    let of = |(heading, ids): &(&'static str, &'static [&'static str])| {
        let heading = *heading;
        ids.iter().map(move |id| (*id, heading))
    };
    let all = HEADINGS.iter().flat_map(of).enumerate();
    all.map(|(place, (id, heading))| (id, (place, heading))).collect()
});

/// The command with its options under headings.
pub(super) fn under_headings(command: Command) -> Command {
    let name = command.get_name().to_string();
    let mut found = Vec::new();
    for argument in command.get_arguments().filter(|it| it.get_help_heading() != Some(OF_ALL)) {
        let id = argument.get_id().to_string();
        let of_text = id.replace('_', "-");
        // The entry of one command goes before that of all.
        let place = PLACES.get(&*format!("{name}/{of_text}")).or_else(|| PLACES.get(&*of_text));
        if let Some((place, heading)) = place {
            found.push((*place, *heading, id));
        }
    }
    found.sort_by_key(|(place, ..)| *place);
    // Headings stand in the order of the options, and a changed option becomes the last one.
    found.into_iter().fold(command, |command, (place, heading, id)| {
        command.mut_arg(id, |it| it.help_heading(heading).display_order(place))
    })
}

/// The program with its commands under purposes.
pub(super) fn by_purpose(program: Command) -> Command {
    let header = program.get_styles().get_header();
    let title = |text: &str| format!("{header}{text}:{header:#}");
    let literal = program.get_styles().get_literal();
    let mut commands = String::new();
    for (purpose, names) in PURPOSES {
        let _ = writeln!(commands, "\n{}", title(purpose));
        for name in *names {
            let command = program.find_subcommand(name);
            let about = command.and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_default();
            let about = brief(&about, WIDTH - 16);
            let _ = writeln!(commands, "  {literal}{name:12}{literal:#}  {about}");
        }
    }
    let global = title(OF_ALL);
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{commands}\n{global}\n{{options}}{{after-help}}"
    ))
}

/// Whether `words` ask for the short help text.
pub(super) fn is_short(words: &[OsString]) -> bool {
    words.iter().any(|word| word == "-h") && !words.iter().any(|word| word == "--help")
}

/// The program with help texts of one line for each option.
pub(super) fn short(program: Command) -> Command {
    // Those of every command.
    let program = program.mut_args(|arg| brief_arg(arg, GLOBAL_COLUMN));
    program.mut_subcommands(|command| short_command(command, "xrsim"))
}

/// Width of the left column of the options of every command.
const GLOBAL_COLUMN: usize = "      --color <WHEN>".len();

fn short_command(command: Command, parent: &str) -> Command {
    let name = format!("{parent} {}", command.get_name());
    let shown = |arg: &Arg| !arg.is_hide_set();
    let column = command.get_arguments().filter(|it| shown(it)).map(width).max().unwrap_or(0);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_parts =
        command.get_arguments().any(|it| it.get_help_heading() == Some(PARTS) && shown(it));
    let parts = if has_parts { ", and the options of parts and job scripts" } else { "" };
    let n_lines =
        command.get_arguments().filter(|it| it.get_help_heading() != Some(PARTS) && shown(it));
    let n_examples = if n_lines.count() > MANY { MAX_EXAMPLES - 1 } else { MAX_EXAMPLES };
    let examples = examples_of(&examples, n_examples);
    let end = format!("{examples}`{name} --help` has all texts{parts}.");
    let command = command.about(brief(&about, WIDTH).to_string()).after_help(end);
    let command = command.mut_args(|arg| {
        let is_part = arg.get_help_heading() == Some(PARTS);
        brief_arg(arg, column).hide_short_help(is_part)
    });
    command.mut_subcommands(|command| short_command(command, &name))
}

/// An option whose help text is one line beside a left column of this width.
fn brief_arg(arg: Arg, column: usize) -> Arg {
    let text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let takes_value = arg.get_action().takes_values();
    let defaults = arg.get_default_values().iter().map(|it| it.to_string_lossy());
    let default = defaults.collect::<Vec<_>>().join(" ");
    let text = match takes_value && !default.is_empty() && !arg.is_hide_default_value_set() {
        true => format!("{}{MARK}{default}]", text.trim_end_matches('.')),
        false => text,
    };
    let text = one_line(&text, WIDTH.saturating_sub(column + 2));
    arg.help(StyledStr::from(text))
        .hide_possible_values(takes_value)
        .hide_default_value(takes_value)
}

/// Begin of the default in the help text of an option.
const MARK: &str = " [default: ";

/// Examples of a longer text, at most this number of lines.
const MAX_EXAMPLES: usize = 3;

/// Number of options above which there is a line of examples less, so that the text has at most 60 lines.
const MANY: usize = 32;

/// The first examples of a text below the options that fit in a line, with their explanations where these fit too, and a
/// blank line: at most `most` lines of examples.
fn examples_of(text: &str, most: usize) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("Example"));
    let Some(title) = lines.next() else { return String::new() };
    let mut examples: Vec<Vec<&str>> = Vec::new();
    for line in lines.take_while(|line| !line.is_empty()) {
        // Lines of one example belong together.
        match examples.last_mut().filter(|it| it.last().is_some_and(|it| it.ends_with('\\'))) {
            Some(example) => example.push(line),
            None => examples.push(vec![line]),
        }
    }
    let fits = |example: &Vec<&str>| example.iter().all(|line| line.len() <= WIDTH);
    let fitting = examples.into_iter().map(|it| it.into_iter().map(without_rest).collect());
    let mut shown: Vec<&str> = Vec::new();
    for example in fitting.filter(fits) {
        if shown.len() + example.len() <= most {
            shown.extend(example);
        }
    }
    format!("{title}\n{}\n\n", shown.join("\n"))
}

/// A line of an example without the explanation after it, if the line is too long with it.
fn without_rest(line: &str) -> &str {
    let start = line.len() - line.trim_start().len();
    match line[start..].find("   ") {
        Some(end) if line.len() > WIDTH => &line[..start + end],
        _ => line,
    }
}

/// Width of an option in the left column, with what is before and after it.
fn width(arg: &Arg) -> usize {
    let value = arg.get_value_names().and_then(|it| it.first()).map_or(0, |it| it.len() + 3);
    let value = if arg.get_action().takes_values() { value } else { 0 };
    match arg.get_long() {
        Some(long) => "      --".len() + long.len() + value,
        None => 2 + value,
    }
}

/// The first clauses of the meaning of an option, and its default where the line has room for it.
fn one_line(text: &str, width: usize) -> String {
    let (meaning, default) = match text.trim_end().trim_end_matches('.').rsplit_once(MARK) {
        Some((meaning, default)) => (meaning, format!("{MARK}{default}")),
        None => (text, String::new()),
    };
    let with_default = brief(meaning, width.saturating_sub(default.len()));
    match with_default.len() + default.len() <= width {
        true => format!("{with_default}{default}"),
        false => brief(meaning, width).into(),
    }
}

/// The longest start of `text` that ends with a clause and has at most `width` bytes; its first clause otherwise.
fn brief(text: &str, width: usize) -> &str {
    let text = text.trim_end().trim_end_matches('.');
    if text.len() <= width {
        return text;
    }
    let ends = text.match_indices(['.', ';', ':', ',', '(']).filter_map(|(at, mark)| {
        let (before, after) = (&text[..at], &text[at + 1..]);
        let is_end = if mark == "(" { before.ends_with(' ') } else { after.starts_with(' ') };
        let is_whole = before.matches('(').count() == before.matches(')').count()
            && before.matches('`').count().is_multiple_of(2);
        (is_end && is_whole).then(|| before.trim_end())
    });
    let ends: Vec<_> = ends.collect();
    let fitting = ends.iter().rev().find(|it| it.len() <= width).or(ends.first());
    fitting.copied().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_fit() {
        let text = "Usage scenario: a name or a file; repeat for several";
        assert_eq!(brief(text, 80), text);
        assert_eq!(brief(text, 40), "Usage scenario: a name or a file");
        assert_eq!(brief(text, 5), "Usage scenario");
        assert_eq!(
            brief("Layers (strides, padding) of a network, or more.", 44),
            "Layers (strides, padding) of a network"
        );
        assert_eq!(brief("Layers (strides, padding) of a network", 20), "Layers");
        assert_eq!(one_line("Seed of a draw; other [default: 0]", 26), "Seed of a draw; other");
        assert_eq!(
            one_line("Seed of a draw; other [default: 0]", 27),
            "Seed of a draw [default: 0]"
        );
    }

    #[test]
    fn examples_end_where_one_ends() {
        let text = "Text.\n\nExamples:\n  a\n  b \\\n    c\n  d\n  e \\\n    f\n\nMore";
        assert_eq!(examples_of(text, 3), "Examples:\n  a\n  b \\\n    c\n\n");
        let long = format!("Examples:\n  a{}why\n  {}\n  b   why", " ".repeat(90), "c".repeat(90));
        assert_eq!(examples_of(&long, 3), "Examples:\n  a\n  b   why\n\n");
        assert_eq!(examples_of("Text.", 3), "");
    }

    /// Every command below `program`, nested ones too.
    fn all(program: Command) -> Vec<Command> {
        let mut program = program;
        program.build();
        fn below(command: &Command) -> Vec<Command> {
            let is_shown = |it: &&Command| !it.is_hide_set() && it.get_name() != "help";
            let each = command.get_subcommands().filter(is_shown);
            each.flat_map(|it| std::iter::once(it.clone()).chain(below(it))).collect()
        }
        below(&program)
    }

    /// `-h` of every command: at most 60 lines, one for each option, and every option of a long list under a heading.
    #[test]
    fn short_help_has_one_line_for_each_option() {
        let commands = all(short(crate::program()));
        assert!(commands.iter().any(|it| it.get_display_name() == Some("xrsim-parts-merge")));
        for mut command in commands {
            let n_bare = command
                .get_opts()
                .filter(|it| !it.is_hide_set() && it.get_help_heading().is_none())
                .count();
            assert!(n_bare <= 12, "{}: {n_bare} options without a heading", command.get_name());
            let text = command.render_help().to_string();
            let lines: Vec<_> = text.lines().collect();
            assert!(lines.len() <= 60, "{} lines:\n{text}", lines.len());
            assert!(!text.contains("[possible values"), "{text}");
            let options = lines.iter().take_while(|line| !line.starts_with("Example"));
            for line in options {
                let indent = line.len() - line.trim_start().len();
                assert!(indent < 12, "a second line of an option: {line}");
            }
            let widest = lines.iter().filter(|line| !line.starts_with("Usage"));
            widest.for_each(|line| assert!(line.chars().count() <= WIDTH, "{line}"));
            let end = text.rfind(&format!("{OF_ALL}:")).expect("it has global options");
            assert!(text[end..].contains("--color"), "{text}");
        }
    }

    /// Options that may be repeated and take no list by commas: their values are paths, or have commas themselves.
    const REPEATED: [&str; 10] = [
        "set",
        "factor",
        "tenant",
        "conditions",
        "join",
        "cases",
        "against",
        "sbatch_options",
        "shape",
        "value",
    ];

    #[test]
    fn one_meaning_has_one_option_in_every_command() {
        let mut placeholders = HashMap::new();
        for command in all(crate::program()) {
            let name = command.get_display_name().unwrap_or_default().to_string();
            for arg in command.get_opts().filter(|it| !it.is_hide_set()) {
                let id = arg.get_id().to_string();
                let short = arg.get_short();
                assert_ne!(id, "output", "{name} calls --out --output");
                assert_eq!(short == Some('o'), id == "out", "{name} --{id} has {short:?}");
                if ["platform", "effort", "technology", "flexibility", "mapping-objective", "seed"]
                    .contains(&&*id)
                {
                    let placeholder = arg.get_value_names().map(|it| it.join(" "));
                    let known = placeholders.entry(id.clone()).or_insert(placeholder.clone());
                    assert_eq!(*known, placeholder, "{name} --{id}");
                }
                let is_repeated = matches!(arg.get_action(), clap::ArgAction::Append);
                let is_list = arg.get_value_delimiter() == Some(',');
                if is_repeated && !is_list && !REPEATED.contains(&&*id) {
                    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                    let about =
                        command.get_after_help().map(ToString::to_string).unwrap_or_default();
                    assert!(
                        help.contains("commas") || about.contains("commas"),
                        "{name} --{id}: {help}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_list_of_commands_fits_80_columns() {
        let text = short(crate::program()).render_help().to_string();
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
    }

    #[test]
    fn every_command_has_a_purpose() {
        let program = crate::program();
        let shown = program.get_subcommands().filter(|it| !it.is_hide_set());
        let mut names: Vec<_> = shown.map(Command::get_name).collect();
        let mut listed: Vec<_> = PURPOSES.iter().flat_map(|it| it.1.iter().copied()).collect();
        names.sort_unstable();
        listed.sort_unstable();
        assert_eq!(names, listed);
    }
}
