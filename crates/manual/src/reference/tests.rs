//! The pages follow the program.

use clap::Command;

use super::files::{self, File};
use super::{commands, first_difference, settings};

/// The page of `xrsim run` after a change of the command.
fn page_of_run(change: impl FnOnce(Command) -> Command) -> String {
    let program = xrsim::cli::program().mut_subcommand("run", change);
    let mut pages = commands::pages(&program).expect("every option has a sentence").into_iter();
    pages.find(|(name, _)| name == "run").expect("there is a page").1
}

/// The pages differ: the new one has `come` where the old one has `gone`.
fn becomes(old: &str, new: &str, [gone, come]: [&str; 2]) {
    assert!(first_difference(old, new).is_some());
    assert!(old.contains(gone) && !new.contains(gone), "{gone}: {new}");
    assert!(new.contains(come) && !old.contains(come), "{come}: {new}");
}

#[test]
fn a_renamed_option_makes_its_page_stale() {
    let old = page_of_run(|it| it);
    assert_eq!(first_difference(&old, &page_of_run(|it| it)), None);
    let renamed = page_of_run(|it| it.mut_arg("replications", |arg| arg.long("draws")));
    becomes(&old, &renamed, ["| `--replications <N>` |", "| `--draws <N>` |"]);
}

#[test]
fn a_changed_default_makes_its_pages_stale() {
    let old = page_of_run(|it| it);
    let changed = page_of_run(|it| it.mut_arg("format", |arg| arg.default_value("json")));
    becomes(&old, &changed, ["document). | `table` |", "document). | `json` |"]);

    let mut settings = settings::all();
    let old = settings::page(&settings).expect("every setting has a sentence");
    let seed = settings.iter_mut().find(|it| it.name == "seed").expect("there is a seed");
    seed.default = "17".into();
    let new = settings::page(&settings).expect("every setting has a sentence");
    becomes(&old, &new, ["2^64 - 1 | 0 |\n| `replication`", "2^64 - 1 | 17 |\n| `replication`"]);
}

#[test]
fn a_setting_or_an_option_without_a_sentence_is_refused() {
    let mut settings = settings::all();
    settings[0].help = " ".into();
    let name = settings[0].name.clone();
    let error = settings::page(&settings).expect_err("it has no sentence");
    assert_eq!(error.to_string(), format!("setting `{name}` has no sentence"));

    let program = xrsim::cli::program()
        .mut_subcommand("run", |it| it.arg(clap::Arg::new("mute").long("mute")));
    let error = commands::pages(&program).expect_err("it has no sentence");
    assert_eq!(error.to_string(), "`--mute` of `xrsim run` has no sentence");
}

#[test]
fn a_new_column_without_a_sentence_is_refused() {
    let mut files = files::written().expect("every command writes its files");
    assert!(files::page(&files).is_ok());
    files[0].columns.push("novelty".into());
    let error = files::page(&files).expect_err("it has no sentence");
    assert_eq!(
        error.to_string(),
        "columns without a sentence in crates/manual/src/reference/columns.txt: `novelty` of scores.csv"
    );
    // A column that is gone leaves its sentence behind.
    files[0].columns.pop();
    let File { columns, .. } =
        files.iter_mut().find(|it| it.name == "inferences.csv").expect("there is one");
    columns.retain(|it| it != "arrival_ms");
    let error = files::page(&files).expect_err("nothing has the sentence");
    assert!(
        error.to_string().ends_with("no file needs: `arrival_ms` of [inferences.csv]"),
        "{error}"
    );
}

#[test]
fn a_difference_names_its_line() {
    assert_eq!(first_difference("a\nb\n", "a\nb\n"), None);
    assert_eq!(first_difference("a\nb\n", "a\nc\n").as_deref(), Some(":2\n  - b\n  + c"));
    assert_eq!(first_difference("a\n", "").as_deref(), Some(":1\n  - a\n  + (the page ends)"));
}
